"""The fit of a searcher: one query or several, given or learned from labels, and the search for each.

What a searcher tells of every candidate: profiles, and the distance of the best one at each time point.

QuerySearcher: find the occurrences of a query in long recordings.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import delayed
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..utils._jobs import in_jobs, parts_for_jobs, progress
from ..utils._names import names_of
from ..utils._sampling import interval
from ..utils._sklearn import Estimator, Interval, StrOptions, names_out
from ..utils._times import time_name, times_of
from ..utils.validation import as_weight, plain_count
from ._channels import ChannelPlan, as_given, by_channels, counts_of, in_range, points_of
from ._dask import DaskSequence, is_dask
from ._engines import sharing
from ._far_groups import warn_of_look_alikes
from ._learning.background import learn_threshold
from ._learning.choice import HeldOut, elastic_candidates, evidence_of_matches, rigid_candidates
from ._learning.dialogue import AnsweredSearcher
from ._learning.templates import EXAMPLES
from ._limits import NORMALIZE, Normalization, limits_of, normalization_of
from ._parts import PiecewiseSearcher, checked, goes_by_parts, jobs_within, profile_ranges, search_ranges
from ._plan import (
    CANDIDATES,
    Subsequences,
    Windows,
    mode_of,
    resolve_mode,
    scaled_lengths,
    scales_of,
    subsequences_of,
    warn_of_query,
    warn_of_sequences,
    with_metric,
)
from ._profile import Choice
from ._query import QueryEstimator, event_score, is_borrowed, one_query, refuse_sample_weight, with_background
from ._several import entry, matches_of, one_each, refuse_several, several, within
from ._sources import ChunkedSequence, HeldSequence, is_long, n_samples
from ._thresholds import (
    THRESHOLD,
    Calibration,
    Conformal,
    FalseDiscoveryRate,
    Percentile,
    ThresholdFitting,
    center_of,
    conformal_thresholds,
    found_at,
    recorded_hours,
    rule_of,
)


class Call(NamedTuple):
    """Work on one sequence."""

    work: tuple  # as joblib's delayed makes it
    jobs: int  # of its own
    has_bar: bool  # whether it shows how far it has come


class FittedSearcher(ThresholdFitting, QueryEstimator):
    """Base class of `QuerySearcher`: all but its parameters and its public methods."""

    def _check_parameters(self):
        super()._check_parameters()
        held = self.candidates, self.normalize, self.channels
        for one in held:
            if isinstance(one, Estimator):
                one._validate()
        self._channel_plan = self.channels
        if self.channels is not None and mode_of(self.candidates) == "subsequence":
            raise ValueError(
                "The 'candidates' parameter must be 'windows' or 'auto' where channels are compared by themselves, for "
                f"ranges of any length have no common lags. Got {self.candidates!r}. Set channels=None to compare them "
                "together."
            )
        if self.channels is not None and scales_of(self.candidates) is not None:
            raise ValueError(
                "The 'scales' parameter of Windows must be None where channels are compared by themselves, for lags do "
                f"not scale. Got {self.candidates.scales!r}. Set channels=None to compare them together."
            )

    @property
    def _may_miss(self):
        return self._channel_plan is not None or super()._may_miss

    def _given_queries(self, X, name, like):
        return by_channels(X, name, None if self.query is None else like, self._channel_plan is not None)

    def _validated_query(self, x, weight, times, name="times"):
        plan = super()._validated_query(x, weight, times, name)
        if self._channel_plan is None:
            return plan
        return self._by_channel(plan, *points_of(x, whole=self.nan_policy == "raise"))

    def _by_channel(self, plan, first, length):
        return self._limited(self._channel_plan.with_channels(plan, first, length, self._channel_names))

    def _of_recording(self, marked, times):
        """Return the plan of a recording as if it were the query."""
        ty = self._as_times(times, marked.data.shape[1])
        return self._compared(marked.data, None, ty, times, interval(ty))

    def _choose(self, marked, weight, times):
        if self._channel_plan is not None:  # comparing metrics knows times as numbers alone
            of_recording = self._of_recording(marked, times)
            self._channel_plan = self._channel_plan.in_samples(of_recording, self._channel_names)
        super()._choose(marked, weight, times)

    @property
    def _queries_in_range(self):
        """The queries over the range of a match, for pictures."""
        return self._of_each([in_range(plan) for plan in self._queries])

    def _compared(self, x, w, tx, times, step=None):
        lengths = scaled_lengths(scales_of(self.candidates), x.shape[1])
        plan = super()._compared(x, w, tx, times, step)._replace(normalize=self.normalize_, lengths=lengths)
        return plan if self._channel_plan is not None else self._limited(plan)

    def _limited(self, plan):
        """Return the plan of a query with the limits of scale and offset."""
        warn_of_query(plan)
        return plan._replace(scale_limits=limits_of(normalization_of(self.normalize), plan, self._channel_names))

    def _fit_queries(self, queries, names=None):
        """Store validated queries, and the names by which they were given."""
        self._forget_threshold()
        if names is not None:
            self.classes_ = names
        self._queries, self._n_features_out = self._with_signs(with_metric(self.metric_, queries)), len(queries)
        self.metric_ = self._queries[0].metric
        self._learned_thresholds = [None] * len(queries)
        given = zip(*map(as_given, queries), strict=True)
        self.query_, self.weight_ = (self._of_each(list(each)) for each in given)
        self.alternatives_ = [[as_given(one) for one in plan.versions[1:]] for plan in queries]
        return self

    def _resolve(self):
        """Resolve what candidates metric, mode and normalization mean together."""
        chosen = getattr(self, "_candidate", None)
        normalization = normalization_of(self.normalize)
        self.normalize_ = normalization.method if chosen is None else chosen.normalize
        rigid = self._channel_plan is not None or normalization._has_limits
        mode = mode_of(self.candidates)
        mode = "windows" if mode == "auto" and rigid else mode
        self._mode = resolve_mode(self.metric_, mode, self.normalize_)

    def _candidates(self):
        method = normalization_of(self.normalize).method
        rigid = [] if mode_of(self.candidates) == "subsequence" else rigid_candidates(method)
        return [*elastic_candidates(method), *rigid]

    def _evidence(self, *rest):
        return evidence_of_matches(copy(self), *rest)

    def _fit_learned(self, marked, weight, times):
        """Learn the queries of the classes that are marked."""
        queries, learned = self._learn(marked, weight, times)
        self._fit_queries(queries)
        self._keep_weights(learned)
        return learned

    def _learn(self, marked, weight, times):
        by_channel = self._channel_plan is not None
        if by_channel:
            marked = self._channel_plan.aligned(marked, counts_of(self._of_recording(marked, times)))
        queries, learned = super()._learn(marked, weight, times)
        if len(queries) > 1:  # weights are relative to those of all queries, and to be so within a query
            queries = [
                plan if plan.w is None else plan._replace(w=as_weight(plan.w.T, plan.m, len(plan.x)))
                for plan in queries
            ]
        if by_channel:
            whole = [(np.zeros(len(plan.x), int), np.full(len(plan.x), plan.m)) for plan in queries]
            queries = [self._by_channel(plan, *points) for plan, points in zip(queries, whole, strict=True)]
        return queries, learned

    def _all_that_fit(self, k):
        """Return the plan of the k-th learned query, with its limits to learn, and a choice of all matches that fit."""
        plan = self._searches[k][0]
        return plan._replace(limits=self._limits_to_learn(plan)), Choice(max_overlap=float(self.max_overlap))

    def _limits_to_learn(self, plan, one=None):
        shortest, longest = self._limits_of(plan)
        # Between occurrences there may be no room but for short matches.
        is_auto = subsequences_of(self.candidates).min_length == "auto"
        return (None if is_auto and not plan.by_range else shortest), longest

    def _fit_labels(self, marked, X, weight, times):
        """Learn a query and a threshold of each class that is marked."""
        learned = self._fit_learned(marked, weight, times_of(X, times))
        self.classes_ = marked.labels.classes[[one.number for one in learned]]  # some may have no whole occurrence
        self._background_label = marked.labels.background
        self._counts = [min(int((marked.code == one.number + 1).sum()), EXAMPLES) for one in learned]
        rule, source = rule_of(self.threshold), self._held(X, times)
        if isinstance(rule, Conformal):
            found, held = conformal_thresholds(rule, marked, partial(self._found_at, source=source, weight=weight))
            self.report_ = held.report(marked)
            self._conformal = rule.alpha, [found[one.number + 1] for one in learned]
            return self
        with progress(len(learned), self.verbose, "learn thresholds", "query") as count:
            for k, one in enumerate(learned):
                (found,) = search_ranges(source, [self._all_that_fit(k)])
                self._learned_thresholds[k] = learn_threshold(found, marked.ranges[marked.code == one.number + 1])
                count()
        return self

    def _found_at(self, others, ranges, code, source, weight):
        """Return the distances at which ranges are found by queries learned from other occurrences, and all finds."""
        queries, learned = self._learn(others, weight, source.times)
        queries = self._with_signs(with_metric(self.metric_, queries))
        out, every = np.full(len(code), np.inf), []
        for plan, one in zip(queries, learned, strict=True):
            plan = plan._replace(limits=self._limits_of(plan))
            (found,) = search_ranges(source, [(plan, Choice(max_overlap=float(self.max_overlap)))])
            own = code == one.number + 1
            out[own] = found_at(ranges[own], found.start, found.end, found.distance)
            numbers = np.full(len(found.start), one.number + 1)
            every.append(HeldOut(np.column_stack([found.start, found.end]), numbers, found.distance))
        return out, HeldOut.together(every)

    def _of_each(self, values):
        """Return the only value where there is one query, or the list of values of several queries."""
        return values if len(self._queries) > 1 else values[0]

    @property
    def threshold_(self) -> float | list[float | None] | None:
        """The largest distance of an occurrence: set, or learned from labels; None where there is none.

        None too with a `Percentile`, and with a false discovery rate before `fit_threshold`, for it then is another in
        each sequence. Of several queries a list.
        """
        check_is_fitted(self)
        return self._of_each(self._thresholds)

    @property
    def _is_learned(self):
        """Whether the queries were learned from labels."""
        return hasattr(self, "_background_label")

    @property
    def _classes(self):
        """Names of the queries; None for queries that were neither learned from labels nor given by names."""
        return getattr(self, "classes_", None)

    @property
    def _thresholds(self):
        """Threshold of each query: the one that is set, else the one that was learned, if any.

        It is None where a percentile or a rate decides it in each sequence.
        """
        return self._learned_thresholds if self.threshold is None else self._set_thresholds(len(self._queries))

    @property
    def _searches(self):
        """The plan of each query and the choice of its matches, in numbers as compiled code takes them.

        Numbers of small types overflow, and so do large numbers.
        """
        rule = rule_of(self.threshold)
        rest = float(self.max_overlap), float(rule.q) if isinstance(rule, Percentile) else None
        thresholds = [None if threshold is None else float(threshold) for threshold in self._thresholds]
        queries = [plan._replace(limits=self._limits_of(plan)) for plan in self._queries]
        most = None if self._is_awaited else self._most  # those that keep the rate are counted first
        choices = [Choice(most, threshold, *rest) for threshold in thresholds]
        return list(zip(queries, choices, strict=True))

    def _searched(self, X, times):
        """Return what each query finds in each sequence, the sources of these, and the calibrations or None."""
        sequences = several(X)
        each = [X] if sequences is None else sequences
        every = [times] if sequences is None else one_each(times, len(each), "times", "sequences")
        searches, decoys = self._searches, None
        if self._is_awaited:
            self._check_rate(self._rate)
            decoys = self._rate._decoys(len(searches))
        calls, numbers, readers, sources, count = [], [], [], [], len(searches)
        for k, (sequence, t) in enumerate(zip(each, every, strict=True)):
            place = None if sequences is None else k
            with entry("X", place):
                source = self._source(sequence, t)
                own = searches if decoys is None else self._with_decoys(decoys, searches, source, sequence)
                own = checked(source, own)
            # Of decoys each has a whole profile.
            groups = [[n] for n in range(len(own))] if decoys is not None else self._groups([plan for plan, _ in own])
            jobs = self._jobs_within(source, len(each) * (len(groups) if source.in_memory else 1))
            by_parts = jobs > 1 or not source.in_memory
            if by_parts and decoys is None:  # what is read by chunks is read once for all queries
                groups = [list(range(len(own)))]
            for group in groups:
                some = [own[n] for n in group]
                work = delayed(self._found_in)(some, source, place, jobs)
                calls.append(Call(work, jobs, goes_by_parts(source, some, jobs)))
                numbers += [len(readers) + n for n in group]
            sources.append(source)
            readers += [source.reader(plan) for plan, _ in own]
        found = self._in_order(self._in_jobs(calls, "search"), numbers)
        found = [one._replace(reader=reader) for one, reader in zip(found, readers, strict=True)]
        if decoys is None:
            return found, sources, self._calibrations
        found = [found[k : k + 1 + decoys.count] for k in range(0, len(found), 1 + decoys.count)]
        hours = [recorded_hours(len(source), source.times) for source in sources]
        calibrations = [
            Calibration.of(one.distance, [decoy.distance for decoy in rest], hours[k // count])
            for k, (one, *rest) in enumerate(found)
        ]
        return [one for one, *_ in found], sources, calibrations

    def _with_decoys(self, decoys, searches, source, X):
        """Return the search of each query, followed by those of its decoys, in a sequence."""
        center = center_of(source)
        if len(center) != self.n_features_in_:
            self._validated(X, None)  # says what is wrong
        made = decoys.of(self, [plan for plan, _ in searches], center)
        return [(plan, choice) for (own, choice), rest in zip(searches, made, strict=True) for plan in (own, *rest)]

    def _calibrated(self, X, times):
        """Return the calibrations of the queries in each of some sequences."""
        calibrations, count = self._searched(X, times)[2], len(self._searches)
        return [calibrations[k : k + count] for k in range(0, len(calibrations), count)]

    @property
    def _most(self):
        """The largest number of matches of a query; None for as many as fit."""
        if self.n_matches != "auto":
            return plain_count(self.n_matches)
        limited = self.threshold is not None or self._is_learned or hasattr(self, "_answers")
        return None if limited else 1

    def _limits_of(self, plan):
        """Return the least and the largest length of a query's matches."""
        return subsequences_of(self.candidates)._bounds(plan)

    @staticmethod
    def _warn_of(found):
        """Warn of sequences that cannot be meant for the queries, once for all that were searched."""
        readers = [one.reader for one in found if one.reader.source.in_memory]
        if readers:
            warn_of_sequences([reader.plan for reader in readers], [reader.source.y for reader in readers])

    def _warn_of_look_alikes(self, matches):
        """Warn where the matches within a false discovery rate fall into groups, for each query in each sequence."""
        if self._rate is None or not len(matches):
            return
        scale, names = matches.scale, self._classes
        queries, sequences = (
            np.zeros(len(matches), int) if k is None else k for k in (matches.query, matches.sequence)
        )
        for query, sequence in sorted(set(zip(queries.tolist(), sequences.tolist(), strict=True))):
            own = (queries == query) & (sequences == sequence)
            of = "" if matches.query is None else f" of query {query if names is None else names.tolist()[query]!r}"
            of += "" if matches.sequence is None else f" in X[{sequence}]"
            each = None if scale is None else scale[own]
            warn_of_look_alikes(self._rate.alpha, matches.distance[own], each, f"matches{of}")

    def _notice_times(self, X, source):
        """Warn of a sequence in memory whose times are uneven or unlike the query's.

        Sequences that are read by chunks are checked as they are read.
        """
        if source.in_memory:
            self._notice(X, source.times, source.ty)

    def _found_in(self, searches, source, place, jobs):
        """Search a sequence in a number of jobs; what is found has no readers, which the caller has."""
        with entry("X", place):
            return [one._replace(reader=None) for one in search_ranges(source, searches, jobs, self.verbose)]

    def _source(self, X, times):
        """Return the source of a sequence: in memory, or read by chunks."""
        if is_long(X):
            return (DaskSequence if is_dask(X) else ChunkedSequence)(self, X, times)
        return self._held(X, times)

    def _held(self, X, times):
        """Return the source of a sequence in memory."""
        y, ty, given = self._validated(X, times)
        return HeldSequence(y, ty, given, is_borrowed(y, X))

    def _in_jobs(self, calls, name):
        """Return the results of calls, in jobs unless they have jobs of their own.

        A bar counts the calls, unless the only one shows its own.
        """
        inner = max(call.jobs for call in calls)
        verbose = self.verbose if len(calls) > 1 or not calls[0].has_bar else 0
        return in_jobs([call.work for call in calls], 1 if inner > 1 else self.n_jobs, verbose, name, "search")

    def _jobs_within(self, source, calls):
        """Return the number of jobs of a sequence among a number of calls; infinite where dask has the jobs.

        It is infinite for an engine such as dask, whose work is no call's own.
        """
        return np.inf if source.has_engine else jobs_within(self.n_jobs, len(source), calls)

    def _profiles(self, queries, source):
        """Return the profile of each of some queries."""
        groups = self._groups(queries)
        jobs = self._jobs_within(source, len(groups) if source.in_memory else 1)
        by_parts = jobs > 1 or not source.in_memory
        if by_parts:  # what is read by chunks is read once for all
            groups = [list(range(len(queries)))]
        work = [delayed(self._profile)([queries[n] for n in group], source, jobs) for group in groups]
        found = self._in_jobs([Call(one, jobs, by_parts) for one in work], "profile")
        return self._in_order(found, [n for group in groups for n in group])

    def _groups(self, queries):
        """Return groups of the numbers of queries, each searched for in one call.

        Queries whose profiles are found together are in one group, unless they are divided among jobs.
        """
        return [part.tolist() for group in sharing(queries) for part in parts_for_jobs(group, self.n_jobs)]

    @staticmethod
    def _in_order(several, numbers):
        """Return the results of calls in the order of their numbers."""
        found = [one for some in several for one in some]
        return [found[n] for n in np.argsort(numbers)]

    def _profile(self, queries, source, jobs):
        """Return the profile of each query, by `jobs` jobs."""
        if source.in_memory:
            warn_of_sequences(queries, [source.y])
        return profile_ranges(source, queries, jobs, self.verbose)

    def _ending(self, plan, source, jobs):
        """Return the distance of the best candidate that ends at each time point.

        Time points at which no candidate ends have the largest finite distance, or 0 without any.
        """
        # Of several windows that end at a sample not each is the best at its start.
        lengths = [None] if plan.lengths is None else [np.array([length]) for length in plan.lengths]
        out = None
        for length in lengths:
            if out is None or length[0] <= len(out):  # the shortest must fit
                profile = self._profile([plan._replace(lengths=length)], source, jobs)[0]
                if out is None:
                    out = np.full(len(profile) + (0 if plan.mode == "subsequence" else plan.shortest - 1), np.inf)
                ending = out[len(out) - len(profile) :]
                np.minimum(ending, profile.distance, out=ending)
        finite = np.isfinite(out)
        out[~finite] = out[finite].max() if finite.any() else 0.0
        return out


if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from ..utils._times import Queries, Sequences, Times
    from ._selection import Profile


class ProfilingSearcher(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Mixin of `QuerySearcher` for the distances of all candidates, also of those that are no matches."""

    def profile(self, X: Sequences, times: Times | None = None) -> Profile:
        """Return distance and range of every candidate.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        Profile
            One candidate per window, or per end of a subsequence. Of several queries a list.
        """
        check_is_fitted(self)
        refuse_several(X)
        source = self._source(X, times)
        profiles = self._profiles([plan for plan, _ in self._searches], source)
        self._notice_times(X, source)
        return self._of_each(profiles)

    def transform(self, X: Sequences, times: Times | None = None) -> NDArray[np.float64]:
        """Return the distance of the best occurrence that ends at each time point.

        Row t depends on samples up to t alone, unless a subsequence search compares slopes or shapes, which reach over
        the next sample or half a shape, or lags are tolerated (`ChannelPlan`), which reach so much further. Rows at
        which no candidate ends hold the largest finite value of the call, or 0 where there is none.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        ndarray of shape (n, n_queries)
        """
        check_is_fitted(self)
        refuse_several(X)
        source = self._source(X, times)
        jobs, by_parts = self._jobs_within(source, len(self._queries)), not source.in_memory
        work = [delayed(self._ending)(plan, source, jobs) for plan, _ in self._searches]
        columns = self._in_jobs([Call(one, jobs, by_parts or jobs > 1) for one in work], "transform")
        self._notice_times(X, source)
        return np.column_stack(columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str of shape (n_queries,)
            ``querysearcher_`` and the query's name in `classes_`; without names ``querysearcher`` and its number.
        """
        names = super().get_feature_names_out(input_features)
        return names if self._classes is None else names_out(self, self._classes)

    def fit_transform(
        self, X: Queries, y: ArrayLike | None = None, weight: ArrayLike | None = None, times: Times | None = None
    ) -> NDArray[np.float64]:
        """Fit the query, and return the distance of the best occurrence that ends at each time point of `X`.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            As for `fit`.
        y : array-like of shape (n,), optional
            As for `fit`.
        weight : array-like of shape (m,) or (m, channels), optional
            As for `fit`.
        times : array-like of shape (n,), optional
            Sample times of `X`. A query given as a parameter has its own, those of its DatetimeIndex.

        Returns
        -------
        ndarray of shape (n, n_queries)
        """
        of_query = times if self.query is None else None
        return self.fit(X, y, weight=weight, times=of_query).transform(X, times=times)


if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

    from ..utils._times import MetricLike, Queries, Sequences, Times
    from ._results import Matches


class QuerySearcher(ProfilingSearcher, PiecewiseSearcher, AnsweredSearcher, FittedSearcher):
    """Find where a short pattern, the query, occurs in long sequences.

    Time points are samples and channels are features: `fit` takes the query (m, channels), the other methods take
    sequences (n, channels). One-dimensional input is one channel.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
        "auto": with labels the one that tells the occurrences from all else best, amerced or plain dynamic time
        warping or windows by Euclidean distance, see :doc:`/definitions`; without them ``ADTW(omega="auto")``.
    metric_params : dict, optional
        Parameters of the metric.
    query : array-like of shape (m,) or (m, channels), or list or dict of arrays, optional
        The query, or several, as `fit` takes them; then `fit` takes from `X` the number of channels only, so that a
        searcher with a fixed query can stand in a pipeline.
    weight : array-like of shape (m,) or (m, channels), or MetricWeights, optional
        Relative weights of the query's points, unless `fit` is given some. :class:`~sktslib.neighbors.MetricWeights`:
        `fit` takes a recording and labels, also of a given `query`, and learns them so that what is labeled is nearer
        than what else is found. Of several given queries `y` holds the names, or their numbers from 1.
    candidates : {"auto", "windows", "subsequence"}, Windows or Subsequences, default="auto"
        Which parts of a sequence may match: all windows of the query's length, or of multiples of it, see `Windows`; or
        subsequences of any length, open at start and end, see `Subsequences` (elastic metrics with a path only).
        "auto" takes windows for lockstep metrics, for those without a path (soft_dtw, gak, sbd), and where `normalize`
        or `channels` is set.
    normalize : {None, "zscore", "mean", "minmax", "robust"} or Normalization, default=None
        How query and each window are normalized, per channel and by weighted moments; in a subsequence search each
        range by itself, all by plain moments. With ``metric="auto"`` and labels None leaves the choice to them. See
        `Normalization` for limits of scale and offset.
    n_matches : int, None or "auto", default="auto"
        How many occurrences at most; None: as many as fit. "auto": None in streams, with a `threshold`, and where
        queries are learned from labels, else 1.
    threshold : float, FalseDiscoveryRate, Conformal, Percentile or str, optional
        The largest distance of an occurrence, inclusive, or the rule that finds it: `FalseDiscoveryRate`, or the text
        ``"fdr:0.05"``, and `Percentile`, or ``"percentile:1"``, for each sequence and query by itself; `Conformal`, or
        ``"conformal:0.1"``, by labels. None: with labels, the one learned for each class: midway between the last match
        and the next, where F1 in the labeled recording is best; else no bound.
    max_overlap : float in [0, 1], default=0.0
        Share of the shorter of two occurrences that they may have in common.
    channels : ChannelPlan, optional
        Compares each channel by itself, with its own lag and weight, see `ChannelPlan`. None: all channels together.
    polarity : {"same", "any", "channels"}, default="same"
        Signs of the query: as it is given; also mirrored as a whole, times -1, which takes twice as long; or each
        channel with a sign of its own, of at most 8 channels, which takes 2^channels times as long, for all
        combinations are tried. A candidate counts with the signs that it
        fits best, and is found once; see `Matches.polarity`. Compared by channel "channels" takes twice as long, with
        any number of them.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": missing query points count nothing; windows are compared by what
        is observed of them, at least half of the weight; matches of a subsequence search do not cross a missing point.
    max_gap : float or timedelta, optional
        The longest step of a sequence's times that is not a gap: a number in their unit (of datetimes, seconds), or a
        duration. No match spans a longer one. Every sequence needs times then.
    n_jobs : int, optional
        Jobs of joblib, threads unless it is told otherwise, that share several queries and sequences among them, or
        parts of a long sequence where there are fewer of these than jobs. No result depends on it, but distances of a
        profile by Fourier transforms, in their last digits.
    verbose : int, default=0
        Above 0: bars on stderr show how far long work has come: the searches of several queries and sequences, the
        chunks of a sequence that is read by chunks, and learning from labels. Streams show none.

    Attributes
    ----------
    query_ : ndarray of shape (m, channels)
        The query; compared by channel, with NaN where a channel has no points, and in channels of weight 0.
    weight_ : ndarray of shape (m, channels) or None
        Relative weights; None where all are equal.
    alternatives_ : list of lists of tuples
        Of each query its further templates, which `relearn` learns where occurrences have several shapes: arrays
        (m, channels) and their weights or None. Each candidate counts by the template that it is nearest to.
    classes_ : ndarray of shape (n_classes,)
        The classes that were learned, in the order of the queries, or the names they were given by; else there is none.
    metric_weights_ : MetricWeights or list of them
        What learned the weights, with `weight_`; only where they are learned so. Of several queries a list.
    metric_ : Metric
        The metric object.
    normalize_ : str or None
        How windows are normalized: `normalize`, or what ``metric="auto"`` chose.
    cv_results_, best_index_ : dict of arrays and int, or None
        What ``metric="auto"`` compared, as GridSearchCV has it, and the row that was taken, see `QuerySegmenter`.
    report_ : EventReport or None
        With labels: what was found in blocks that ``metric="auto"`` or a `Conformal` held out, each by what was learned
        from the others, thresholds too; `by_class` and `confusion` say how good it is. Of matches of several classes
        that overlap the nearest counts. None where no block was held out.
    n_features_in_ : int
        Number of channels.

    References
    ----------
    Sakurai Y, Faloutsos C, Yamamuro M. Stream monitoring under the time warping distance. ICDE 2007.

    Examples
    --------
    >>> from sktslib import QuerySearcher, load_ecg_example
    >>> ecg = load_ecg_example()
    >>> searcher = QuerySearcher("dtw", n_matches=12).fit(ecg["query"], weight=ecg["weight"])
    >>> matches = searcher.search(ecg["sequence"], times=ecg["ts"])
    >>> len(matches), matches.to_frame().columns.tolist()
    (12, ['start', 'end', 'distance', 'start_time', 'end_time'])
    """

    _parameter_constraints = {
        **QueryEstimator._parameter_constraints,
        "candidates": CANDIDATES,
        "normalize": NORMALIZE,
        "n_matches": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "threshold": [*THRESHOLD, Percentile],
        "max_overlap": [Interval(Real, 0, 1, closed="both")],
        "channels": [ChannelPlan, None],
    }

    _parameter_objects = {
        "candidates": (Windows, Subsequences),
        "normalize": (Normalization,),
        "threshold": (FalseDiscoveryRate, Conformal, Percentile),
        "channels": (ChannelPlan,),
    }

    def __init__(
        self,
        metric: MetricLike = "dtw",
        *,
        metric_params: dict[str, Any] | None = None,
        query: Queries | None = None,
        weight: ArrayLike | None = None,
        candidates: str | Windows | Subsequences = "auto",
        normalize: str | Normalization | None = None,
        n_matches: int | str | None = "auto",
        threshold: float | str | FalseDiscoveryRate | Conformal | Percentile | None = None,
        max_overlap: float = 0.0,
        channels: ChannelPlan | None = None,
        polarity: str = "same",
        nan_policy: str = "raise",
        max_gap: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.metric_params = metric_params
        self.query = query
        self.weight = weight
        self.candidates = candidates
        self.normalize = normalize
        self.n_matches = n_matches
        self.threshold = threshold
        self.max_overlap = max_overlap
        self.channels = channels
        self.polarity = polarity
        self.nan_policy = nan_policy
        self.max_gap = max_gap
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Queries, y: ArrayLike | None = None, weight: ArrayLike | None = None, times: Times | None = None
    ) -> Self:
        """Fit the query, or queries, or learn them from labels.

        Parameters
        ----------
        X : array-like of shape (m,) or (m, channels), or list or dict of arrays
            The query, or several, in a dict by their names, which are the labels of matches; with the parameter `query`
            set, any series of the same channels; with `y`, a recording.
        y : array-like of shape (n,), optional
            Labels of a recording's time points, as `QuerySegmenter.fit` takes them: each run of one label is an
            occurrence, so that those without background between them are a single long one; make labels of ranges by
            :func:`sktslib.metrics.labels_from_events`, which leaves a sample of it. Each class has a query then, the
            barycenter of its occurrences, weighted by the inverse variance about each point, and a threshold.
        weight : array-like of shape (m,) or (m, channels), optional
            Relative weights of the query's points; replaces the parameter, or with MetricWeights what the weights
            begin at and are drawn to. Of several queries a list, as are `times`;
            of queries with names a list or a dict.
        times : array-like of shape (m,), optional
            Strictly increasing sample times of the query, numbers or datetimes, for metrics that use them.

        Returns
        -------
        QuerySearcher
            Itself.
        """
        self._check_parameters()
        self._resolve()
        for name in ("classes_", "_background_label", "_counts", "_answers"):  # of an earlier fit
            vars(self).pop(name, None)
        marked = self._annotation(X, y, times)
        self._check_threshold(marked is not None)
        if marked is not None:
            self._read_fixed(X, weight)
            self._choose(marked, weight, times_of(X, times))
            return self._fit_labels(marked, one_query(X, "X"), weight, times)
        return self._fit_queries(*self._read_queries(X, y, weight, times))

    def search(self, X: Sequences, times: Times | None = None) -> Matches:
        """Find the occurrences.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels), or list of arrays
            The sequence, or several. What can be sliced and is not in memory (numpy.memmap, zarr, h5py) is read by
            chunks; those of an array of dask are searched where they lie, by dask's current scheduler.
        times : array-like of shape (n,), optional
            Strictly increasing sample times: numbers, datetimes, durations, periods or text of ISO 8601; of several
            sequences a list. Without them the index of a pandas object, if it holds any of these but integers.

        Returns
        -------
        Matches
            Best first. Each of several queries is searched for by itself: `n_matches` is how many of each there are in
            all sequences together.
        """
        check_is_fitted(self)
        found, sources, calibrations = self._searched(X, times)
        self._warn_of(found)
        listed, count, limits = several(X) is not None, len(self._queries), self._limits_of_distance
        if self._is_awaited:
            thresholds = self._rate._thresholds(calibrations)
            found = [within(one, threshold) for one, threshold in zip(found, thresholds, strict=True)]
            limits = limits if listed else np.array(thresholds)  # in several sequences they differ
        given = []
        for k, (sequence, source) in enumerate(zip(X if listed else [X], sources, strict=True)):
            given.append(source.times_of_found(found[k * count : (k + 1) * count]))
            self._notice_times(sequence, source)
            if source.in_memory:  # not before: a whole profile and a copy of the sequence are never held at once
                source.own()
        given = None if all(t is None for t in given) else given if listed else given[0]
        rest = self._most, given, self._classes, names_of(X), limits
        name = time_name(X[0] if listed else X, times)
        matches = matches_of(found, count, *rest, calibrations=calibrations, listed=listed, name=name)
        self._warn_of_look_alikes(matches)
        return matches

    def predict(self, X: Sequences, times: Times | None = None) -> NDArray[Any]:
        """Label each time point: 0 outside of occurrences, else the rank of the best one over it, from 1.

        Learned from labels: the class of the best one over it, and for background the label that was used for it.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        ndarray of shape (n,)
        """
        refuse_several(X)
        matches = self.search(X, times)
        labels = np.zeros(n_samples(X), np.int64)
        for rank in range(len(matches), 0, -1):
            labels[matches.start[rank - 1] : matches.end[rank - 1]] = rank
        if not self._is_learned:
            return labels
        return with_background(self._background_label, matches.label)[labels]

    def score(
        self, X: Sequences, y: ArrayLike, times: Times | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the event F1 of the occurrences against labels, see :func:`sktslib.metrics.event_f1_score`.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        y : array-like of shape (n,)
            True labels of the time points, 0 for background; each run of one label is an event.
        times : array-like of shape (n,), optional
            Its sample times.
        sample_weight : None
            Time points of an event have no weights of their own; here because ``Pipeline.score`` names it.

        Returns
        -------
        float
            In [0, 1].
        """
        refuse_sample_weight(sample_weight)
        refuse_several(X)
        return event_score(y, self.search(X, times), n_samples(X))

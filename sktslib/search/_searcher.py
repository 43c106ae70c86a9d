"""QuerySearcher: find the occurrences of a query in long recordings."""

from __future__ import annotations

from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ..io._objects import unwrapped
from ..utils._jobs import progress
from ..utils._names import names_of
from ..utils._parameters import Interval, StrOptions
from ..utils._sampling import interval
from ..utils._sklearn import check_fitted, names_out
from ..utils._times import MetricLike, Queries, Sequences, Times, given_times, time_name
from ..utils.validation import as_weight, plain_count
from . import _plan as plans
from . import _thresholds as rules
from ._channels import ChannelPlan, as_given, counts_of, points_of, with_polarity
from ._chunks import located, notice, one_each, one_sequence, several, validated
from ._learning import choice as metric_choice
from ._learning.dialogue import relearned
from ._learning.labels import EXAMPLES, learn_threshold
from ._limits import NORMALIZE, Normalization, limits_of, normalization_of
from ._plan import CANDIDATES, Subsequences, Windows, mode_of, with_lengths
from ._pruning import Choice
from ._query import QueryEstimator, annotation, with_background
from ._results import Matches, matches_of, within
from ._run import DaskSource, PartialSearch, Stream, is_dask, run_endings, run_profiles, run_searches, search_ranges
from ._selection import Profile
from ._sources import ArraySource, ChunkedSource, is_long, n_samples, owned
from ._thresholds import Conformal, FalseDiscoveryRate, Percentile, rule_of


@dataclass(eq=False, repr=False)
class QuerySearcher(ClassNamePrefixFeaturesOutMixin, TransformerMixin, QueryEstimator):
    """Find where a short pattern, the query, occurs in long sequences.

    Time points are samples and channels are features: `fit` takes the query (m, channels), the other methods take
    sequences (n, channels). One-dimensional input is one channel.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series. "auto": with
        labels, the metric that separates the occurrences best from other matches, among ADTW, DTW and Euclidean windows
        (see :doc:`/definitions_learning`); without labels ``ADTW(omega="auto")``.
    metric_params : dict, optional
        Parameters of the metric.
    query : array-like of shape (m,) or (m, channels), or list or dict of arrays, optional
        One query or several, as in `fit`. `fit` then reads only the number of channels from `X`, so that a searcher
        with a fixed query can be a step of a pipeline.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points, unless `fit` is given some. For several queries a list.
    candidates : {"auto", "windows", "subsequence"}, Windows or Subsequences, default="auto"
        Which ranges of a sequence may match. `Windows`: all windows of the query's length, or of multiples of it.
        `Subsequences`: ranges of any length, with open start and end (only for elastic metrics with a path). "auto":
        windows for lockstep metrics, for metrics without a path (soft_dtw, gak, sbd), and if `normalize` or `channels`
        is set.
    normalize : {None, "zscore", "mean", "minmax", "robust"} or Normalization, default=None
        How the query and each window are normalized, per channel and with weighted moments; in a subsequence search
        each range by itself, with unweighted moments. With ``metric="auto"`` and labels, None means that the labels
        decide. `Normalization` has limits of scale and offset.
    n_matches : int, None or "auto", default="auto"
        Largest number of matches per query; None: all that fit. "auto": None in streams, with a `threshold`, and if
        queries are learned from labels; otherwise 1.
    threshold : float, FalseDiscoveryRate, Conformal, Percentile or str, optional
        The largest distance of a match, inclusive, or a rule: `FalseDiscoveryRate` (``"fdr:0.05"``) or `Percentile`
        (``"percentile:1"``) for each sequence and query; `Conformal` (``"conformal:0.1"``) by labels. None: with
        labels, the threshold of the best F1 in the labeled recording, for each class; otherwise no bound.
    max_overlap : float in [0, 1], default=0.0
        Share of the shorter of two matches by which they may overlap.
    channels : ChannelPlan, optional
        Compares each channel by itself, with its own lag and weight. None: all channels together.
    polarity : {"same", "any", "channels"}, default="same"
        "any" also tries the query times -1, which takes twice as long. "channels" tries all combinations of signs of at
        most 8 channels, which takes 2^channels times as long; with a `ChannelPlan`, of any number of channels, twice as
        long. A candidate counts once, with the signs that fit best, see `Matches.polarity`.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": missing query points have weight 0; lockstep windows are compared
        by their observed points, at least half of the weight; matches of a subsequence search do not cross a missing
        point.
    max_gap : float or timedelta, optional
        Largest time step that does not count as a gap: a number in the unit of the times (seconds for datetimes), or a
        duration. No match spans a gap. Every sequence then needs times.
    n_jobs : int, optional
        Number of joblib jobs (threads by default) that share queries and sequences, or parts of a long sequence.
        Results do not depend on it, except for the last digits of distances in a profile by Fourier transforms.
    verbose : int, default=0
        Above 0: progress bars on stderr, for searches of several queries and sequences, the chunks of a long sequence,
        and learning from labels. Streams show none.

    Attributes
    ----------
    query_ : ndarray of shape (m, channels)
        The query; with a `ChannelPlan`, NaN where a channel has no points, and in channels of weight 0.
    weight_ : ndarray of shape (m, channels) or None
        Relative weights; None if all are equal.
    alternatives_ : list of lists of tuples
        Further templates of each query, which `learn_from_answers` learns if occurrences have several shapes: arrays
        (m, channels) with their weights or None. A candidate's distance is that from the nearest template.
    classes_ : ndarray of shape (n_classes,)
        The learned classes, in the order of the queries, or the names of given queries; otherwise absent.
    metric_ : Metric
        The metric object.
    normalize_ : str or None
        The normalization: `normalize`, or the choice of ``metric="auto"``.
    cv_results_, best_index_ : dict of arrays and int, or None
        The candidates of ``metric="auto"`` in the format of GridSearchCV, and the chosen row; see `QuerySegmenter`.
    report_ : EventReport or None
        Matches and misses in the blocks that ``metric="auto"`` or a `Conformal` held out, with queries and thresholds
        learned from the other blocks; see `by_class` and `confusion`. Of overlapping matches of several classes the
        nearest counts. None if no block was held out.
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
        "candidates": CANDIDATES,
        "normalize": NORMALIZE,
        "n_matches": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "threshold": rules.THRESHOLD,
        "max_overlap": [Interval(Real, 0, 1, closed="both")],
        "channels": [ChannelPlan, None],
    }

    _parameter_objects = {
        "candidates": (Windows, Subsequences),
        "normalize": (Normalization,),
        "threshold": (FalseDiscoveryRate, Conformal, Percentile),
        "channels": (ChannelPlan,),
    }

    metric: MetricLike = "dtw"
    _: KW_ONLY
    candidates: str | Windows | Subsequences = "auto"
    normalize: str | Normalization | None = None
    n_matches: int | str | None = "auto"
    threshold: float | str | FalseDiscoveryRate | Conformal | Percentile | None = None
    max_overlap: float = 0.0
    channels: ChannelPlan | None = None

    def fit(
        self, X: Queries, y: ArrayLike | None = None, weight: ArrayLike | None = None, times: Times | None = None
    ) -> Self:
        """Set the query or queries, or learn them from labels.

        Parameters
        ----------
        X : array-like of shape (m,) or (m, channels), or list or dict of arrays
            One query or several; a dict has their names, which are the labels of matches. With the parameter `query`,
            any series with as many channels; with `y`, a recording.
        y : array-like of shape (n,), optional
            Labels of a recording's time points, as in `QuerySegmenter.fit`. Each run of one label is an occurrence, so
            touching occurrences of one class are a single long one: :func:`sktslib.metrics.labels_from_events` leaves a
            sample of background between them. The query of a class is the barycenter of its occurrences, weighted by
            the inverse variance around each point, and has its own threshold.
        weight : array-like of shape (m,) or (m, channels), optional
            Relative weights of the query's points; replaces the parameter. For several queries a list, like `times`;
            for queries with names a list or a dict.
        times : array-like of shape (m,), optional
            Strictly increasing sample times of the query, numbers or datetimes, for metrics that use them.

        Returns
        -------
        QuerySearcher
            Itself.
        """
        self._check_parameters()
        X, times = self._taken_apart(X, times)
        self._resolve()
        marked = annotation(self, X, y, times)
        rules.check_threshold(self, marked is not None)
        if marked is None:
            return self._fit_queries(*self._read_queries(X, y, weight, times))
        if self.channels is not None:
            whole = self._compared(marked.data, None, marked.ty, marked.datetimes, interval(marked.ty))
            self._channel_plan = self.channels._in_samples(whole, self._channel_names)
        method = normalization_of(self.normalize).method
        rigid = [] if mode_of(self.candidates) == "subsequence" else metric_choice.rigid_candidates(method)
        self.report_ = None
        if metric_choice.is_auto(self.metric):
            tried = [*metric_choice.elastic_candidates(method), *rigid]
            metric_choice.choose_metric(self, marked, weight, tried, metric_choice.evidence_of_matches)
        return self._fit_labels(marked, weight)

    def search(self, X: Sequences, times: Times | None = None) -> Matches:
        """Find the occurrences.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels), or list of arrays
            One sequence or several. Objects that can be sliced and are not in memory (numpy.memmap, zarr, h5py) are
            read in chunks; the chunks of a dask array are searched by dask's current scheduler.
        times : array-like of shape (n,), optional
            Strictly increasing sample times: numbers, datetimes, durations, periods or ISO 8601 text; for several
            sequences a list. Default: the index of a pandas object, if it holds any of these but integers.

        Returns
        -------
        Matches
            The matches, best first. Each query is searched for separately: `n_matches` limits the matches of each in
            all sequences together.
        """
        check_fitted(self)
        X, times = unwrapped(X, times)
        listed, count, classes = several(X) is not None, len(self._queries), getattr(self, "classes_", None)
        found, sources, calibrations = self._searched(X, times)
        held = [one.reader for one in found if one.reader.source.in_memory]
        if held:  # one warning for all recordings
            plans.warn_of_sequences([reader.plan for reader in held], [reader.source.y for reader in held])
        limits = np.array(self._thresholds, float)  # None becomes NaN
        if calibrations is not None and rules.is_awaited(self):
            thresholds = rules.rate_of(self)._thresholds(calibrations)
            found = [within(one, threshold) for one, threshold in zip(found, thresholds, strict=True)]
            limits = limits if listed else np.array(thresholds)  # several sequences have different ones
        given = []
        for sequence, source in zip(X if listed else [X], sources, strict=True):
            is_read = source.in_memory or source.times is None
            given.append(source.times if is_read else given_times(source.times, "times"))
            if source.in_memory:
                if source.times is not None or type(sequence) is not np.ndarray:
                    notice(self, sequence, source.times, source.ty)
                # Only now, so that a whole profile and a copy of the sequence are never in memory together.
                source.y = owned(source.y, sequence)
        given = None if all(t is None for t in given) else given if listed else given[0]
        named = times is not None or type(X) is not np.ndarray  # a plain array has no names
        names, name = (names_of(X), time_name(X[0] if listed else X, times)) if named else (None, None)
        rest = self._most, given, classes, names, limits
        matches = matches_of(found, count, *rest, calibrations=calibrations, listed=listed, name=name)
        if calibrations is not None:
            rules.warn_of_groups(rules.rate_of(self).alpha, matches, classes)
        return matches

    def search_all(self, X: Sequences, times: Times | None = None) -> Matches:
        """Find all matches, without `threshold` and `n_matches`.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels), or list of arrays
            One sequence or several, as in `search`.
        times : array-like of shape (n,), optional
            Sample times of the sequence; for several sequences a list.

        Returns
        -------
        Matches
            The matches, best first, as many as fit. Their `threshold` is that of this searcher; `Matches.uncertain`
            finds the matches nearest to it.
        """
        check_fitted(self)
        every = copy(self)
        every.n_matches = every.threshold = None
        every._learned_thresholds = [None] * len(self._queries)
        return replace(every.search(X, times), threshold=np.array(self._thresholds, float))

    def predict(self, X: Sequences, times: Times | None = None) -> NDArray[Any]:
        """Label each time point: 0 outside of matches, otherwise the rank of the best match there, from 1.

        If learned from labels: the class of the best match there; background has the label that it had in the labels.

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
        X, times = one_sequence(X, times)
        matches = self.search(X, times)
        labels = np.zeros(n_samples(X), np.int64)
        for rank in range(len(matches), 0, -1):
            labels[matches.start[rank - 1] : matches.end[rank - 1]] = rank
        if not hasattr(self, "_background_label"):  # the query was not learned from labels
            return labels
        return with_background(self._background_label, matches.label)[labels]

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
            The profile, with one candidate per window, or per end of a subsequence. For several queries a list.
        """
        return self._of_each(self._each_profile(X, times, run_profiles))

    def transform(self, X: Sequences, times: Times | None = None) -> NDArray[np.float64]:
        """Return the distance of the best candidate that ends at each time point.

        Row t depends only on samples up to t, with these exceptions: a subsequence search that compares slopes or
        shapes reads the next sample or half a shape, and a `ChannelPlan` with a tolerance reads that much further. Rows
        at which no candidate ends have the largest finite value of the call, or 0 without one.

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
        return np.column_stack(self._each_profile(X, times, run_endings))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str of shape (n_queries,)
            ``querysearcher_`` and the query's name in `classes_`; without names ``querysearcher`` and the query's
            number.
        """
        names = super().get_feature_names_out(input_features)
        return names_out(self, self.classes_) if hasattr(self, "classes_") else names

    def fit_transform(
        self, X: Queries, y: ArrayLike | None = None, weight: ArrayLike | None = None, times: Times | None = None
    ) -> NDArray[np.float64]:
        """Fit the query, and return the distance of the best candidate that ends at each time point of `X`.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            As for `fit`.
        y : array-like of shape (n,), optional
            As for `fit`.
        weight : array-like of shape (m,) or (m, channels), optional
            As for `fit`.
        times : array-like of shape (n,), optional
            Sample times of `X`. A query given as a parameter has its own times, those of its DatetimeIndex.

        Returns
        -------
        ndarray of shape (n, n_queries)
        """
        of_query = times if self.query is None else None
        return self.fit(X, y, weight=weight, times=of_query).transform(X, times=times)

    def learn_from_answers(self, matches: Matches, good: ArrayLike = (), bad: ArrayLike = ()) -> Self:
        """Return a searcher that has learned which of some matches are occurrences.

        Parameters
        ----------
        matches : Matches
            Matches of this searcher, or of one learned from its answers, in any sequence, by `search`, `search_all` or
            a stream.
        good, bad : array-like of int or of bool
            Numbers of the matches that are occurrences and of those that are not, or masks.

        Returns
        -------
        QuerySearcher
            A new searcher; this one does not change. It remembers the answers, and its own `learn_from_answers` adds to
            them. Its `threshold` is None, because the threshold is learned; see Notes. Without `n_matches` it finds all
            matches within the threshold.

        Raises
        ------
        TypeError
            If `matches` is not a `Matches`, or a number is not an integer.
        ValueError
            If there are no answers, a match is both good and bad, `matches` have another number of queries or channels,
            or channels have lags or several lengths.
        IndexError
            If a number is not that of a match.

        Notes
        -----
        Each query learns from the answers about its own matches. With two or more good ones it becomes the barycenter
        of itself, counted as one occurrence (or as many as it was learned from), and of the good ones. If these form
        clear groups, only the group nearest to the query counts, and the barycenter of each further group becomes an
        alternative of the query, see `alternatives_`. The query's length does not change. With `normalize` all are
        normalized before. Weights that were not given become the inverse variance around each point, shrunk like those
        learned from labels.

        The threshold has the largest expected F1, by distances from the new query: the share of occurrences never rises
        with the distance, is 1 at 0 and 0 beyond all matches, and is linear between answers (isotonic regression;
        contradictory answers are averaged). So it is between good and bad ones or, without bad ones, among the matches
        beyond the good ones, closer to them. If all n matches are occurrences, it is the largest distance d plus d / n,
        the largest to expect if distances are spread evenly.

        A query without answers keeps its threshold, with a false discovery rate that of `matches`; with a `Percentile`
        it gets the one with the largest expected F1, too.
        """
        check_fitted(self)
        return relearned(self, matches, good, bad)

    def stream(self, max_delay: float | None = None) -> Stream:
        """Start a search that receives the sequence chunk by chunk; `threshold` must be set.

        Parameters
        ----------
        max_delay : int, optional
            Largest number of samples between the end of an occurrence and its report, at the end of a chunk; at least
            the length of the query. The best matches until then are reported, later ones that overlap them are dropped,
            and no match is longer than `max_delay`. The stream then holds at most about twice as many samples. None: a
            match is reported when no later candidate can overlap it, and the matches are those of `search`.

        Returns
        -------
        Stream
            The stream: ``update(X)`` returns the matches that are final, ``flush()`` those left at the end.
        """
        check_fitted(self)
        return Stream(copy(self), max_delay)

    def partial_search(self, at: int = 0, start_time: Any = None) -> PartialSearch:
        """Start the search of one part of a recording, for your own distribution of work; see `PartialSearch`.

        Parameters
        ----------
        at : int, default=0
            Sample of the recording at which the part starts.
        start_time : datetime, optional
            Time of the recording's first sample, if the metric or `max_gap` needs datetimes and `at` is not 0.

        Returns
        -------
        PartialSearch
            The part: ``feed(X)`` takes samples from its `first` on; `merge_parts` gives the matches of all parts.
        """
        check_fitted(self)
        return PartialSearch(self, at, start_time)

    def _check_parameters(self):
        super()._check_parameters()
        self._channel_plan = self.channels
        scaled = getattr(self.candidates, "scales", None) is not None
        if self.channels is not None and (scaled or mode_of(self.candidates) == "subsequence"):
            raise ValueError(
                "The 'candidates' parameter must be 'windows' or 'auto' without 'scales' where channels are compared "
                f"by themselves: ranges of other lengths have no common lags. Got {self.candidates!r}. Set "
                "channels=None to compare them together."
            )

    def _resolve(self):
        """Resolve what metric, kind of candidates and normalization mean together."""
        chosen, normalization = getattr(self, "_candidate", None), normalization_of(self.normalize)
        self.normalize_ = normalization.method if chosen is None else chosen.normalize
        mode = mode_of(self.candidates)
        by_windows = self.channels, normalization.scale_limits, normalization.offset_limit
        if mode == "auto" and any(one is not None for one in by_windows):
            mode = "windows"
        self._mode = plans.resolve_mode(self.metric_, mode, self.normalize_)

    def _validated_query(self, x, weight, times, name="times"):
        plan = super()._validated_query(x, weight, times, name)
        if self.channels is None:
            return plan
        return self._limited(plan, points_of(x, whole=self.nan_policy == "raise"))

    def _compared(self, x, w, tx, datetimes, step):
        lengths = plans.scaled_lengths(getattr(self.candidates, "scales", None), x.shape[1])
        plan = super()._compared(x, w, tx, datetimes, step)._replace(normalize=self.normalize_, lengths=lengths)
        return plan if self.channels is not None else self._limited(plan)

    def _limited(self, plan, points=None):
        """Return the plan of a query with its limits of scale and offset; with `points`, compared by channel.

        `points` are the first point and the number of points of each channel.
        """
        if points is not None:
            plan = self._channel_plan._with_channels(plan, *points, self._channel_names)
        plans.warn_of_query(plan)
        return plan._replace(scale_limits=limits_of(normalization_of(self.normalize), plan, self._channel_names))

    def _fit_queries(self, queries, names=None):
        """Store validated queries, and their names if they were given with names."""
        rules.forget_threshold(self)
        if names is not None:
            self.classes_ = names
        queries = plans.with_metric(self.metric_, queries)
        self._queries = [with_polarity(plan, self.polarity) for plan in queries]
        self._n_features_out, self.metric_ = len(queries), queries[0].metric
        self._learned_thresholds = [None] * len(queries)
        given = zip(*map(as_given, queries), strict=True)
        self.query_, self.weight_ = (self._of_each(list(each)) for each in given)
        self.alternatives_ = [[as_given(one) for one in plan.versions[1:]] for plan in queries]
        return self

    def _learn(self, marked, weight):
        if self.channels is not None:
            marked = self._channel_plan._aligned(marked, counts_of(self.metric_, len(marked.data)))
        queries, learned = super()._learn(marked, weight)
        if len(queries) > 1:  # learned weights compare all queries, but should compare the points of one
            queries = [
                plan if plan.w is None else plan._replace(w=as_weight(plan.w.T, plan.m, len(plan.x)))
                for plan in queries
            ]
        if self.channels is not None:
            whole = [(np.zeros(len(plan.x), int), np.full(len(plan.x), plan.m)) for plan in queries]
            queries = [self._limited(plan, points) for plan, points in zip(queries, whole, strict=True)]
        return queries, learned

    def _all_that_fit(self, k):
        """Return the plan of the k-th learned query with limits for learning, and a `Choice` of all matches."""
        plan = self._searches[k][0]
        if getattr(self.candidates, "min_length", "auto") == "auto" and not plan.by_range:
            plan = plan._replace(limits=(None, plan.limits[1]))  # between occurrences only short ones may have room
        return plan, Choice(max_overlap=float(self.max_overlap))

    def _fit_labels(self, marked, weight):
        """Learn a query and a threshold for each marked class."""
        queries, learned = self._learn(marked, weight)
        self._fit_queries(queries)
        self._check_domain(marked.data, "'X'")
        self.classes_ = marked.labels.classes[[one.number for one in learned]]  # a class may have no whole occurrence
        self._background_label = marked.labels.background
        self._counts = [min(int((marked.code == one.number + 1).sum()), EXAMPLES) for one in learned]
        source = marked.source
        if isinstance(rule_of(self.threshold), Conformal):
            found_by = partial(self._found_by, source=source, weight=weight)
            rules.fit_conformal(self, marked, [one.number for one in learned], found_by)
            return self
        with progress(len(learned), self.verbose, "learn thresholds", "query") as count:
            for k, one in enumerate(learned):
                (found,) = search_ranges(source, [self._all_that_fit(k)])
                self._learned_thresholds[k] = learn_threshold(found, marked.ranges[marked.code == one.number + 1])
                count()
        return self

    def _found_by(self, others, source, weight):
        """Return everything that is found by queries learned from some of the occurrences."""
        queries, learned = self._learn(others, weight)
        queries = [with_polarity(plan, self.polarity) for plan in plans.with_metric(self.metric_, queries)]
        every = []
        for plan, one in zip(queries, learned, strict=True):
            plan = with_lengths(plan, self.candidates)
            (found,) = search_ranges(source, [(plan, Choice(max_overlap=float(self.max_overlap)))])
            numbers = np.full(len(found.start), one.number + 1)
            every.append(metric_choice.HeldOut(np.column_stack([found.start, found.end]), numbers, found.distance))
        return metric_choice.HeldOut.together(every)

    def _each_profile(self, X, times, run):
        """Return the results of `run` for each query in a sequence."""
        check_fitted(self)
        X, times = one_sequence(X, times)
        source = self._source(X, times)
        found = run(source, [plan for plan, _ in self._searches], self.n_jobs, self.verbose)
        if source.in_memory:
            notice(self, X, source.times, source.ty)
        return found

    @property
    def _thresholds(self):
        """Threshold of each query: the parameter, or else the learned one.

        It is None if a percentile or a false discovery rate gives it in each sequence.
        """
        return self._learned_thresholds if self.threshold is None else rules.set_thresholds(self)

    @property
    def _most(self):
        """The largest number of matches per query; None for no limit."""
        if self.n_matches != "auto":
            return plain_count(self.n_matches)
        known = self.threshold is not None or hasattr(self, "_background_label") or hasattr(self, "_answers")
        return None if known else 1

    @property
    def _searches(self):
        """The plan of each query and the `Choice` of its matches."""
        rule = rule_of(self.threshold)
        rest = float(self.max_overlap), float(rule.q) if isinstance(rule, Percentile) else None
        awaited = rule is not None and rules.is_awaited(self)
        most = None if awaited else self._most  # a rate is applied before the matches are counted
        return [
            (with_lengths(plan, self.candidates), Choice(most, threshold, *rest))
            for plan, threshold in zip(self._queries, self._thresholds, strict=True)
        ]

    def _source(self, X, times):
        """Return the source of a sequence in memory, or of one that is read by chunks."""
        if is_long(X):
            return (DaskSource if is_dask(X) else ChunkedSource)(self, X, times)
        return ArraySource(*validated(self, X, times))

    def _searched(self, X, times):
        """Return the `Found` of each query in each sequence, their sources, and the calibrations or None."""
        listed = several(X) is not None
        every = one_each(times, len(X), "times", "sequences") if listed else [times]
        searches, sources = self._searches, []
        for k, (sequence, t) in enumerate(zip(X if listed else [X], every, strict=True)):
            with located(f"X[{k}]" if listed else None):
                sources.append(self._source(sequence, t))
        rate = rules.rate_of(self)
        known = None if rate is None else rules.calibrations_of(self)
        if rate is None or known is not None:
            found = run_searches(sources, [searches] * len(sources), self.n_jobs, self.verbose, listed=listed)
            return found, sources, known
        rules.check_rate(self, rate)
        decoys, made = rules.Decoys(rate, len(searches)), []
        for k, source in enumerate(sources):
            with located(f"X[{k}]" if listed else None):
                made.append(decoys.searches(self, searches, source))
        found = run_searches(sources, made, self.n_jobs, self.verbose, listed=listed, apart=True)
        groups = [found[k : k + 1 + decoys.count] for k in range(0, len(found), 1 + decoys.count)]
        hours = [rules.recorded_hours(len(source), source.times) for source in sources]
        calibrations = [
            rules.Calibration.of(one.distance, [decoy.distance for decoy in rest], hours[k // len(searches)])
            for k, (one, *rest) in enumerate(groups)
        ]
        return [one for one, *_ in groups], sources, calibrations

    def _calibrated(self, X, times):
        """Return a list with the calibrations of all queries, for each sequence."""
        calibrations, count = self._searched(*unwrapped(X, times))[2], len(self._queries)
        return [calibrations[k : k + count] for k in range(0, len(calibrations), count)]

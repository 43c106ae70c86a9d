"""What a searcher is fitted to: one query or several, given or learned from labels, and how each is searched for."""

from copy import copy
from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import delayed
from sklearn.utils.validation import check_is_fitted

from ..utils._given_times import times_of
from ..utils._jobs import in_jobs, parts_for_jobs, progress
from ..utils.validation import as_weight, plain_count
from ._channels.by_channel import as_given
from ._channels.channel_queries import ChannelQueries
from ._comparison import resolve_mode, scaled_lengths, warn_of_query, warn_of_sequences, with_metric
from ._error_rates.calibration import Calibration
from ._error_rates.conformal import Conformal, conformal_thresholds, found_at
from ._error_rates.decoys import center_of
from ._error_rates.far_groups import warn_of_look_alikes
from ._error_rates.hours import recorded_hours
from ._error_rates.threshold_parameter import ThresholdFitting, rule_of
from ._learning.chosen_metric import elastic_candidates, rigid_candidates
from ._learning.held_out import evidence_of_matches
from ._learning.held_out_report import HeldOut
from ._learning.learned_queries import EXAMPLES
from ._learning.learned_threshold import learn_threshold
from ._profile import Choice
from ._profiles.scale_limits import limits_of
from ._profiles.window_profile import sharing
from ._query import QueryEstimator, is_borrowed
from ._several import entry, one_each, several
from ._streaming.chunked_sequence import ChunkedSequence, HeldSequence, is_long
from ._streaming.dask_arrays import DaskSequence, is_dask
from ._streaming.ranges import checked, goes_by_parts, jobs_within, profile_ranges, search_ranges


class Call(NamedTuple):
    """Work on one sequence."""

    work: tuple  # as joblib's delayed makes it
    jobs: int  # of its own
    has_bar: bool  # whether it shows how far it has come


class FittedSearcher(ThresholdFitting, ChannelQueries, QueryEstimator):
    """Base of `QuerySearcher`: all but its parameters and what its users call."""

    def _compared(self, x, w, tx, times, step=None):
        lengths = scaled_lengths(self.scales, x.shape[1])
        if lengths is not None:
            self._check_scales()
        how = super()._compared(x, w, tx, times, step)._replace(normalize=self.normalize_, lengths=lengths)
        return how if self._is_by_channel else self._limited(how)

    def _limited(self, how):
        """The query with the limits of scale and offset."""
        warn_of_query(how)
        limits = limits_of(self.scale_limits, self.offset_limit, how, self._channel_names)
        return how._replace(scale_limits=limits)

    def _check_choice(self):
        """One limit of the distance is enough."""
        if self.threshold is not None and self.percentile is not None:
            raise ValueError(
                "Of 'threshold' and 'percentile' at least one must be None: both say how far a match may be. Got "
                f"{self.threshold!r} and {self.percentile!r}."
            )

    def _check_scales(self):
        """Scales are about windows, and one length limit is enough."""
        if self._mode == "subsequence":
            raise ValueError(
                "The 'scales' parameter must be None in a subsequence search, which stretches the query anyway. Got "
                f"{self.scales!r}. Take mode='windows', or bound the matches by 'min_length' and 'max_length'."
            )
        if self.min_length not in (None, "auto") or self.max_length is not None:
            raise ValueError(
                "'min_length' must be None or 'auto', and 'max_length' None, where 'scales' says how long matches are. "
                f"Got {self.min_length!r} and {self.max_length!r}."
            )

    def _fit_queries(self, queries, names=None):
        """Take queries that are validated, and the names they were given by."""
        self._forget_threshold()
        if names is not None:
            self.classes_ = names
        self._queries, self._n_features_out = self._with_signs(with_metric(self.metric_, queries)), len(queries)
        self.metric_ = self._queries[0].metric
        self._learned_thresholds = [None] * len(queries)
        given = zip(*map(as_given, queries), strict=True)
        self.query_, self.weight_ = (self._of_each(list(each)) for each in given)
        self.alternatives_ = [[as_given(one) for one in how.versions[1:]] for how in queries]
        return self

    def _resolve(self):
        """See what candidates metric, mode and normalization mean together."""
        chosen = getattr(self, "_candidate", None)
        self.normalize_ = self.normalize if chosen is None else chosen.normalize
        of_windows = self.scales, self.scale_limits, self.offset_limit
        rigid = self._is_by_channel or any(one is not None for one in of_windows)
        mode = "windows" if self.mode == "auto" and rigid else self.mode
        self._mode = resolve_mode(self.metric_, mode, self.normalize_)

    def _candidates(self):
        rigid = [] if self.mode == "subsequence" else rigid_candidates(self.normalize)
        return [*elastic_candidates(self.normalize), *rigid]

    def _evidence(self, *rest):
        return evidence_of_matches(copy(self), *rest)

    def _fit_learned(self, marked, weight, times):
        """Learn the queries of the classes that are marked."""
        queries, learned = self._learn(marked, weight, times)
        self._fit_queries(queries)
        self._keep_weights(learned)
        return learned

    def _learn(self, marked, weight, times):
        queries, learned = super()._learn(marked, weight, times)
        if len(queries) > 1:  # weights are relative to those of all queries, and to be so within a query
            queries = [
                how if how.w is None else how._replace(w=as_weight(how.w.T, how.m, len(how.x))) for how in queries
            ]
        return [self._learned_by_channel(how) for how in queries], learned

    def _all_that_fit(self, k):
        """How a learned query is compared, and a choice of matches, to see which of them are occurrences."""
        how = self._searches[k][0]
        return how._replace(limits=self._limits_to_learn(how)), Choice(max_overlap=float(self.max_overlap))

    def _limits_to_learn(self, how, one=None):
        shortest, longest = self._limits_of(how)
        # Between occurrences there may be no room but for short matches.
        return (None if self.min_length == "auto" and not how.by_range else shortest), longest

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
        """At what distances ranges are found by queries that are learned from other occurrences, and all that is."""
        queries, learned = self._learn(others, weight, source.times)
        queries = self._with_signs(with_metric(self.metric_, queries))
        out, every = np.full(len(code), np.inf), []
        for how, one in zip(queries, learned, strict=True):
            how = how._replace(limits=self._limits_of(how))
            (found,) = search_ranges(source, [(how, Choice(max_overlap=float(self.max_overlap)))])
            own = code == one.number + 1
            out[own] = found_at(ranges[own], found.start, found.end, found.distance)
            numbers = np.full(len(found.start), one.number + 1)
            every.append(HeldOut(np.column_stack([found.start, found.end]), numbers, found.distance))
        return out, HeldOut.together(every)

    def _of_each(self, values):
        """What there is of each query: of the only one, or of several a list."""
        return values if len(self._queries) > 1 else values[0]

    @property
    def threshold_(self) -> float | list[float | None] | None:
        """The largest distance of an occurrence: set, or learned from labels; None where there is none.

        None too with `percentile`, and with a false discovery rate before `fit_threshold`, for it then is another in
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
        """Names of the queries; None where they were neither learned from labels nor given by names."""
        return getattr(self, "classes_", None)

    @property
    def _thresholds(self):
        """The threshold that counts for each query: the one that is set, else the one that was learned, if any.

        None where a `percentile` or a rate says what it is in each sequence.
        """
        if self.percentile is None and self.threshold is None:
            return self._learned_thresholds
        known = self._set_thresholds(len(self._queries))
        return known if self.percentile is None else [None] * len(known)

    @property
    def _searches(self):
        """How each query is compared and how its matches are chosen, in numbers as compiled code takes them.

        Small types of numbers overflow, and so do large numbers.
        """
        percentile = None if self.percentile is None else float(self.percentile)
        rest = float(self.max_overlap), percentile
        thresholds = [None if threshold is None else float(threshold) for threshold in self._thresholds]
        queries = [how._replace(limits=self._limits_of(how)) for how in self._queries]
        most = None if self._is_awaited else self._most  # those that keep the rate are counted first
        choices = [Choice(most, threshold, *rest) for threshold in thresholds]
        return list(zip(queries, choices, strict=True))

    def _searched(self, X, times):
        """What each query finds in each of some sequences, these, and the calibrations that go with it, or None."""
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
            groups = [[n] for n in range(len(own))] if decoys is not None else self._groups([how for how, _ in own])
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
            readers += [source.reader(how) for how, _ in own]
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
        """Each query's search and those of its decoys in a sequence."""
        center = center_of(source)
        if len(center) != self.n_features_in_:
            self._validated(X, None)  # says what is wrong
        made = decoys.of(self, [how for how, _ in searches], center)
        return [(how, choice) for (own, choice), rest in zip(searches, made, strict=True) for how in (own, *rest)]

    def _calibrated(self, X, times):
        """The calibrations of the queries in each of some sequences."""
        calibrations, count = self._searched(X, times)[2], len(self._searches)
        return [calibrations[k : k + count] for k in range(0, len(calibrations), count)]

    @property
    def _most(self):
        """How many matches of a query at most; None: as many as fit."""
        if self.n_matches != "auto":
            return plain_count(self.n_matches)
        limited = self.threshold is not None or self.percentile is not None
        return None if limited or self._is_learned or hasattr(self, "_answers") else 1

    def _limits_of(self, how):
        """The least and the largest length of a query's matches."""
        longest = plain_count(self.max_length)
        if self.min_length != "auto":
            return plain_count(self.min_length), longest
        if how.mode == "windows":
            return None, longest
        return min(max(1, how.m // 2), longest or how.m), longest

    @staticmethod
    def _warn_of(found):
        """Warn of sequences that cannot be meant for the queries, once for all that were searched for."""
        readers = [one.reader for one in found if one.reader.source.in_memory]
        if readers:
            warn_of_sequences([reader.how for reader in readers], [reader.source.y for reader in readers])

    def _warn_of_look_alikes(self, matches):
        """Warn where what a false discovery rate lets through falls into groups, of each query in each sequence."""
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
        """Warn of a sequence whose times are uneven or other than the query's; by chunks these are looked at."""
        if source.in_memory:
            self._notice(X, source.times, source.ty)

    def _found_in(self, searches, source, place, jobs):
        """What each of some searches finds in a sequence, by so many jobs; the caller has the readers."""
        with entry("X", place):
            return [one._replace(reader=None) for one in search_ranges(source, searches, jobs, self.verbose)]

    def _source(self, X, times):
        """A sequence as it is searched: in memory, or read by chunks."""
        if is_long(X):
            return (DaskSequence if is_dask(X) else ChunkedSequence)(self, X, times)
        return self._held(X, times)

    def _held(self, X, times):
        """A sequence in memory."""
        y, ty, given = self._validated(X, times)
        return HeldSequence(y, ty, given, is_borrowed(y, X))

    def _in_jobs(self, calls, name):
        """The results of calls, in jobs unless they have jobs of their own; a bar counts them, or one shows its own."""
        inner = max(call.jobs for call in calls)
        verbose = self.verbose if len(calls) > 1 or not calls[0].has_bar else 0
        return in_jobs([call.work for call in calls], 1 if inner > 1 else self.n_jobs, verbose, name, "search")

    def _jobs_within(self, source, calls):
        """How many jobs a sequence is cut for where there are so many calls; what dask does is no call's own work."""
        return np.inf if source.has_engine else jobs_within(self.n_jobs, len(source), calls)

    def _profiles(self, queries, source):
        """The profile of each of some queries."""
        groups = self._groups(queries)
        jobs = self._jobs_within(source, len(groups) if source.in_memory else 1)
        by_parts = jobs > 1 or not source.in_memory
        if by_parts:  # what is read by chunks is read once for all
            groups = [list(range(len(queries)))]
        work = [delayed(self._profile)([queries[n] for n in group], source, jobs) for group in groups]
        found = self._in_jobs([Call(one, jobs, by_parts) for one in work], "profile")
        return self._in_order(found, [n for group in groups for n in group])

    def _groups(self, queries):
        """The numbers of the queries that are searched for in one call: profiles are found together, but for jobs."""
        return [part.tolist() for group in sharing(queries) for part in parts_for_jobs(group, self.n_jobs)]

    @staticmethod
    def _in_order(several, numbers):
        """The results of calls in the order of their numbers."""
        found = [one for some in several for one in some]
        return [found[n] for n in np.argsort(numbers)]

    def _profile(self, queries, source, jobs):
        """The profile of each query, by so many jobs."""
        if source.in_memory:
            warn_of_sequences(queries, [source.y])
        return profile_ranges(source, queries, jobs, self.verbose)

    def _ending(self, how, source, jobs):
        """Distance of the best candidate that ends at each time point, or the largest where none does."""
        # Of several windows that end at a sample not each is the best at its start.
        lengths = [None] if how.lengths is None else [np.array([length]) for length in how.lengths]
        out = None
        for length in lengths:
            if out is None or length[0] <= len(out):  # the shortest must fit
                profile = self._profile([how._replace(lengths=length)], source, jobs)[0]
                if out is None:
                    out = np.full(len(profile) + (0 if how.mode == "subsequence" else how.shortest - 1), np.inf)
                ending = out[len(out) - len(profile) :]
                np.minimum(ending, profile.distance, out=ending)
        finite = np.isfinite(out)
        out[~finite] = out[finite].max() if finite.any() else 0.0
        return out

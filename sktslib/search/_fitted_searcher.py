"""What a searcher is fitted to: one query or several, given or learned from labels, and how each is searched for."""

from contextlib import nullcontext
from functools import partial

import numpy as np
from joblib import delayed
from sklearn.utils.validation import check_is_fitted

from ..utils._given_times import times_of
from ..utils._jobs import in_jobs, progress
from ..utils.validation import as_weight, plain_count
from ._comparison import scaled_lengths, warn_of_query, warn_of_sequences, with_metric
from ._error_rates.calibration import Calibration
from ._error_rates.conformal import Conformal, conformal_thresholds, found_at
from ._error_rates.decoys import center_of
from ._error_rates.hours import recorded_hours
from ._error_rates.threshold_parameter import ThresholdFitting, rule_of
from ._learning.learned_threshold import learn_threshold
from ._profile import Choice, Search
from ._query import QueryEstimator, owned
from ._several import chosen, entry, one_each, refuse_several, several
from ._sources import CandidateReader, Whole
from ._streaming.chunked_sequence import ChunkedSequence, HeldSequence, is_long, n_samples
from ._streaming.dask_arrays import DaskSequence, is_dask
from ._streaming.ranges import jobs_within, profile_ranges, search_ranges


class FittedSearcher(ThresholdFitting, QueryEstimator):
    """Base of `QuerySearcher`: all but its parameters and what its users call."""

    def _compared(self, x, w, tx, times, step=None):
        lengths = scaled_lengths(self.scales, x.shape[1])
        if lengths is not None:
            self._check_scales()
        how = super()._compared(x, w, tx, times, step)._replace(normalize=self.normalize, lengths=lengths)
        warn_of_query(how)
        return how

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
        self._queries, self._n_features_out = with_metric(self.metric_, queries), len(queries)
        self.metric_ = self._queries[0].metric
        self._learned_thresholds = [None] * len(queries)
        self.query_ = self._of_each([how.x.T for how in queries])
        self.weight_ = self._of_each([None if how.w is None else how.w.T for how in queries])
        return self

    def _fit_labels(self, marked, X, weight, times):
        """Learn a query and a threshold of each class that is marked."""
        queries, learned = self._learn(marked, weight, times_of(X, times))
        if len(queries) > 1:  # theirs are relative to each other, and to be so within a query
            queries = [
                how if how.w is None else how._replace(w=as_weight(how.w.T, how.m, len(how.x))) for how in queries
            ]
        self._fit_queries(queries)
        self.classes_ = marked.labels.classes[[one.number for one in learned]]  # some may have no whole occurrence
        self._background_label = marked.labels.background
        rule = rule_of(self.threshold)
        if isinstance(rule, Conformal):
            found = conformal_thresholds(rule, marked, partial(self._found_at, X=X, weight=weight, times=times))
            self._conformal = rule.alpha, [found[one.number + 1] for one in learned]
            return self
        with progress(len(learned), self.verbose, "learn thresholds", "query") as count:
            for k, one in enumerate(learned):
                how = self._searches[k][0]
                if self.min_length == "auto":  # between occurrences there may be no room but for short matches
                    how = how._replace(limits=(None, how.limits[1]))
                found = self._found(how, Choice(max_overlap=float(self.max_overlap)), X, times)
                self._learned_thresholds[k] = learn_threshold(found, marked.ranges[marked.code == one.number + 1])
                count()
        return self

    def _found_at(self, others, ranges, code, X, weight, times):
        """At what distances ranges are found by queries that are learned from other occurrences."""
        queries, learned = self._learn(others, weight, times_of(X, times))
        out = np.full(len(code), np.inf)
        for how, one in zip(with_metric(self.metric_, queries), learned, strict=True):
            how = how._replace(limits=self._limits_of(how))
            found, own = self._found(how, Choice(max_overlap=float(self.max_overlap)), X, times), code == one.number + 1
            out[own] = found_at(ranges[own], found.start, found.end, found.distance)
        return out

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
        rule = rule_of(self.threshold)
        if self.percentile is None and self.threshold is None:
            return self._learned_thresholds
        if isinstance(rule, Conformal):
            return self._conformal_thresholds
        if self._calibrations is not None:
            return [one.threshold(float(rule.alpha)) for one in self._calibrations]
        return [self.threshold if self.percentile is None and rule is None else None] * len(self._queries)

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

    @property
    def _is_awaited(self):
        """Whether thresholds are found in each sequence, by decoys."""
        return self._rate is not None and self._calibrations is None

    def _searched(self, X, times):
        """What each query finds in each of some sequences, and the calibrations that go with it, or None."""
        sequences = several(X)
        each = [X] if sequences is None else sequences
        every = [times] if sequences is None else one_each(times, len(each), "times", "sequences")
        searches, decoys = self._searches, None
        if self._is_awaited:
            self._rate._check()
            decoys = self._rate._decoys(len(searches))
        calls, count = [], len(searches)
        for k, (sequence, t) in enumerate(zip(each, every, strict=True)):
            number = None if sequences is None else k
            asked = searches if decoys is None else self._with_decoys(decoys, searches, sequence, number)
            # What is read by chunks is read once for all queries; of decoys each has a whole profile.
            jobs = self._jobs_within(sequence, len(each) * (1 if is_long(sequence) else len(asked)))
            at_once = decoys is None and (is_long(sequence) or jobs > 1)
            together = [asked] if at_once else [[search] for search in asked]
            calls += [(self._found_in, some, sequence, t, number, jobs) for some in together]
        found = [one for some in self._in_jobs(calls, "search", X) for one in some]
        if decoys is None:
            return found, each, every, self._calibrations
        found = [found[k : k + 1 + decoys.count] for k in range(0, len(found), 1 + decoys.count)]
        hours = [recorded_hours(sequence, t) for sequence, t in zip(each, every, strict=True)]
        calibrations = [
            Calibration.of(one.distance, [decoy.distance for decoy in rest], hours[k // count])
            for k, (one, *rest) in enumerate(found)
        ]
        return [one for one, *_ in found], each, every, calibrations

    def _with_decoys(self, decoys, searches, X, k):
        """Each query's search and those of its decoys in a sequence."""
        with nullcontext() if k is None else entry("X", k):
            center = center_of(X, missing=self.nan_policy == "omit")
            if len(center) != self.n_features_in_:
                self._validated(X, None)  # says what is wrong
            made = decoys.of(self, [how for how, _ in searches], center)
        return [(how, choice) for (own, choice), rest in zip(searches, made, strict=True) for how in (own, *rest)]

    def _calibrated(self, X, times):
        """The calibrations of the queries in each of some sequences."""
        calibrations, count = self._searched(X, times)[3], len(self._searches)
        return [calibrations[k : k + count] for k in range(0, len(calibrations), count)]

    @property
    def _most(self):
        """How many matches of a query at most; None: as many as fit."""
        if self.n_matches != "auto":
            return plain_count(self.n_matches)
        limited = self.threshold is not None or self.percentile is not None
        return None if limited or self._is_learned else 1

    def _limits_of(self, how):
        """The least and the largest length of a query's matches."""
        longest = plain_count(self.max_length)
        if self.min_length != "auto":
            return plain_count(self.min_length), longest
        if how.mode == "windows":
            return None, longest
        return min(max(1, how.m // 2), longest or how.m), longest

    def _notice(self, X, times):
        if not is_long(X):  # the chunks of which are looked at
            super()._notice(X, times)

    def _found(self, how, choice, X, times):
        """What one query matches in one sequence."""
        y, ty, _ = self._validated(X, times)
        search = Search(how, y, ty)
        found = chosen(search, search.profile(choice.rule), choice)
        # The profile is gone by now, so that it and a copy of the sequence are never held at once.
        return found._replace(reader=CandidateReader(search.how, Whole(owned(y, X), ty)))

    @staticmethod
    def _warn_of(found):
        """Warn of sequences that cannot be meant for the queries, once for all that were searched for."""
        readers = [one.reader for one in found if isinstance(one.reader.source, Whole)]
        if readers:
            warn_of_sequences([reader.how for reader in readers], [reader.source.y for reader in readers])

    def _found_in(self, searches, X, times, k, jobs):
        """What each of some searches finds in the k-th sequence, by so many jobs."""
        with nullcontext() if k is None else entry("X", k):
            if is_long(X) or jobs > 1:
                source = self._source(X, times)
                found = search_ranges(source, searches, jobs, self.verbose)
                if isinstance(source, HeldSequence):
                    source.y = owned(source.y, X)
                return found
            return [self._found(*search, X, times) for search in searches]

    def _source(self, X, times):
        """A sequence as it is read by chunks."""
        if is_long(X):
            return (DaskSequence if is_dask(X) else ChunkedSequence)(self, X, times)
        y, ty, _ = self._validated(X, times)
        return HeldSequence(y, ty)

    def _in_jobs(self, calls, name, X):
        """The results of each function with its arguments, which are run here if they have jobs of their own.

        The last argument says how many. A bar counts them, but not one that has a bar of its own.
        """
        inner = max(call[-1] for call in calls)
        verbose = self.verbose if len(calls) > 1 or not (is_long(X) or inner > 1) else 0
        calls = [delayed(call)(*rest) for call, *rest in calls]
        return in_jobs(calls, 1 if inner > 1 else self.n_jobs, verbose, name, "search")

    def _jobs_within(self, X, calls):
        """How many jobs a sequence is cut for where there are so many calls; what dask does is no call's own work."""
        if is_dask(X):
            return np.inf
        return jobs_within(self.n_jobs, n_samples(X), calls) if hasattr(X, "__len__") or hasattr(X, "shape") else 1

    def _profiles(self, queries, X, times):
        """The profile of each of some queries."""
        long = is_long(X)  # then it is read once for all
        jobs = self._jobs_within(X, 1 if long else len(queries))
        if long or jobs > 1:
            return self._profile(queries, X, times, jobs)
        calls = [(self._profile, [how], X, times, 1) for how in queries]
        return [one for some in self._in_jobs(calls, "profile", X) for one in some]

    def _profile(self, queries, X, times, jobs):
        """The profile of each query, by so many jobs."""
        refuse_several(X)
        if is_long(X) or jobs > 1:
            source = self._source(X, times)
            if isinstance(source, HeldSequence):
                warn_of_sequences(queries, [source.y])
            return profile_ranges(source, queries, jobs, self.verbose)
        y, ty, _ = self._validated(X, times)
        warn_of_sequences(queries, [y])
        return [Search(how, y, ty).profile() for how in queries]

    def _ending(self, how, X, times, jobs):
        """Distance of the best candidate that ends at each time point, or the largest where none does."""
        # Of several windows that end at a sample not each is the best at its start.
        lengths = [None] if how.lengths is None else [np.array([length]) for length in how.lengths]
        out = None
        for length in lengths:
            if out is None or length[0] <= len(out):  # the shortest must fit
                profile = self._profile([how._replace(lengths=length)], X, times, jobs)[0]
                if out is None:
                    out = np.full(len(profile) + (0 if how.mode == "subsequence" else how.shortest - 1), np.inf)
                ending = out[len(out) - len(profile) :]
                np.minimum(ending, profile.distance, out=ending)
        finite = np.isfinite(out)
        out[~finite] = out[finite].max() if finite.any() else 0.0
        return out

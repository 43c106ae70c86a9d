"""What a searcher is fitted to: one query or several, given or learned from labels, and how each is searched for."""

from contextlib import nullcontext

import numpy as np
from joblib import delayed
from sklearn.utils.validation import check_is_fitted

from ..utils._given_times import times_of
from ..utils._jobs import in_jobs, progress
from ..utils.validation import as_weight, plain_count
from ._comparison import scaled_lengths, warn_of_query, warn_of_sequences, with_metric
from ._learning.learned_queries import EXAMPLES
from ._learning.learned_threshold import learn_threshold
from ._profile import Choice, Search
from ._query import QueryEstimator, owned
from ._several import chosen, entry, refuse_several
from ._sources import CandidateReader, Whole
from ._streaming.chunked_sequence import ChunkedSequence, HeldSequence, is_long, n_samples
from ._streaming.dask_arrays import DaskSequence, is_dask
from ._streaming.ranges import jobs_within, profile_ranges, search_ranges


class FittedSearcher(QueryEstimator):
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
        self._counts = [min(int((marked.code == one.number + 1).sum()), EXAMPLES) for one in learned]
        with progress(len(learned), self.verbose, "learn thresholds", "query") as count:
            for k, one in enumerate(learned):
                how = self._searches[k][0]
                if self.min_length == "auto":  # between occurrences there may be no room but for short matches
                    how = how._replace(limits=(None, how.limits[1]))
                found = self._found(how, Choice(max_overlap=float(self.max_overlap)), X, times)
                self._learned_thresholds[k] = learn_threshold(found, marked.ranges[marked.code == one.number + 1])
                count()
        return self

    def _of_each(self, values):
        """What there is of each query: of the only one, or of several a list."""
        return values if len(self._queries) > 1 else values[0]

    @property
    def threshold_(self) -> float | list[float | None] | None:
        """The largest distance of an occurrence: set, or learned from labels; None where there is none.

        None too with `percentile`, for it then is another in each sequence. Of several queries a list.
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

        None where a `percentile` says what it is in each sequence.
        """
        if self.percentile is None and self.threshold is None:
            return self._learned_thresholds
        return [self.threshold if self.percentile is None else None] * len(self._queries)

    @property
    def _searches(self):
        """How each query is compared and how its matches are chosen, in numbers as compiled code takes them.

        Small types of numbers overflow, and so do large numbers.
        """
        percentile = None if self.percentile is None else float(self.percentile)
        rest = float(self.max_overlap), percentile
        thresholds = [None if threshold is None else float(threshold) for threshold in self._thresholds]
        queries = [how._replace(limits=self._limits_of(how)) for how in self._queries]
        choices = [Choice(self._most, threshold, *rest) for threshold in thresholds]
        return list(zip(queries, choices, strict=True))

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

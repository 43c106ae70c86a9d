"""What a searcher is fitted to: one query or several, given or learned from labels, and how it is compared."""

from contextlib import nullcontext
from copy import copy

import numpy as np
from sklearn.base import clone

from ..utils.validation import plain_count
from ._chunked_sequence import is_long, search_long
from ._near_windows import Rule
from ._profile import Search, choose
from ._query import QueryEstimator, keep_times, same_channels, times_of
from ._results import Matches
from ._several import entry, in_jobs, merge, one_each, several
from ._sources import Comparison, Whole
from ._threshold import learn_threshold
from ._windows import scaled_lengths


class FittedSearcher(QueryEstimator):
    """Base of `QuerySearcher`: all but its parameters and what its users call."""

    def _fit_template(self, template):
        """Take a query validated."""
        self._x, self._w, self._tx = template
        self.query_ = self._x.T
        self.weight_ = None if self._w is None else self._w.T
        self._lengths = scaled_lengths(self.scales, self._x.shape[1])
        if self._lengths is not None:
            self._check_scales()
        self._n_features_out = 1
        return self

    def _fit_labels(self, marked, X, weight, times):
        """Learn a query and a threshold of each kind that is marked."""
        learned = self._learn(marked, weight, times_of(X, times))
        self.classes_ = marked.labels.kinds[[one.kind for one in learned]]  # some may have no whole occurrence
        if len(learned) == 1:
            self._fit_template(learned[0].template)
            parts = [self]
        else:
            x, w, t = zip(*(one.template for one in learned), strict=True)
            parts = self._fit_parts([a.T for a in x], [None if a is None else a.T for a in w], t)._parts
        for part, one in zip(parts, learned, strict=True):
            part._datetimes = self._datetimes
            found = matches_of(*part._search(X, times, keep=False)[:2], None, None, self.max_overlap, None)
            part._learned_threshold = learn_threshold(found, marked.ranges[marked.code == one.kind + 1])
        return self

    def _plain(self):
        """A copy with parameters as compiled code takes them: small kinds of numbers overflow, and so do large ones."""
        made = copy(self)
        for name in ("n_matches", "min_length", "max_length"):
            setattr(made, name, plain_count(getattr(self, name)))
        for name in ("threshold", "percentile", "max_overlap"):
            value = getattr(self, name)
            setattr(made, name, None if value is None else float(value))
        return made

    @property
    def _limit(self):
        """The threshold that counts: the one that is set, else the one that was learned, if any.

        None where a `percentile` says what it is in each sequence.
        """
        if self.percentile is not None:
            return None
        return self._learned_threshold if self.threshold is None else self.threshold

    @property
    def _query_times(self):
        return self._tx

    @property
    def _how(self):
        """How the query is compared with ranges of a sequence."""
        how = self.metric_, self._x, self._w, self._tx if self.metric_.uses_times else None
        return Comparison(*how, self._mode, self.normalize, self._lengths)

    @property
    def _rule(self):
        """What the choice is known to leave out; None where it needs the whole profile."""
        return Rule(self.n_matches, self._limit, self.max_overlap) if self.percentile is None else None

    @property
    def _kinds(self):
        """Names of the queries; None where they were not learned from labels."""
        return getattr(self, "classes_", None)

    def _check_scales(self):
        """Scales are about windows, and one length limit is enough."""
        if self._mode == "subsequence":
            raise ValueError(
                "The 'scales' parameter must be None in a subsequence search, which stretches the query anyway. Got "
                f"{self.scales!r}. Take mode='windows', or bound the matches by 'min_length' and 'max_length'."
            )
        if self.min_length is not None or self.max_length is not None:
            raise ValueError("'min_length' and 'max_length' must be None where 'scales' says how long matches are.")

    def _fit_several(self, queries, X, y, weight, times):
        """A searcher for each query."""
        given = self.query is not None  # `X` then says what the channels are, and a classifier may stand behind
        self._fit_parts(queries, *self._each(queries, y, weight, times), X if given else None)
        vars(self).pop("feature_names_in_", None)
        if hasattr(self._parts[0], "feature_names_in_"):
            self.feature_names_in_ = self._parts[0].feature_names_in_
        return self

    def _fit_parts(self, queries, weights, times, X=None):
        self._parts, name = [], "X" if X is None else "query"
        for k, (query, w, t) in enumerate(zip(queries, weights, times, strict=True)):
            part = clone(self).set_params(query=None if X is None else query, weight=None)
            with entry(name, k):
                self._parts.append(part.fit(query if X is None else X, weight=w, times=t))
        same_channels([part.n_features_in_ for part in self._parts], name)
        first = self._parts[0]
        self.metric_, self._mode, self.n_features_in_ = first.metric_, first._mode, first.n_features_in_
        self.query_, self.weight_ = [part.query_ for part in self._parts], [part.weight_ for part in self._parts]
        self._n_features_out = len(queries)
        return self

    def _search_several(self, X, times):
        """All queries in all sequences."""
        sequences = several(X)
        parts = self._parts or [self]
        each = [X] if sequences is None else sequences
        every = [times] if sequences is None else one_each(times, len(each), "times", "sequences")
        calls = []
        for s, (sequence, t) in enumerate(zip(each, every, strict=True)):
            # What is read by chunks is read once for all queries.
            together = [parts] if is_long(sequence) else [[part] for part in parts]
            calls += [(_search_one, some, sequence, t, None if sequences is None else s) for some in together]
        found = [matches for some in in_jobs(self.n_jobs, calls) for matches in some]
        names = [(q, s) for s in range(len(each)) for q in range(len(parts))]
        given = [keep_times(times_of(sequence, t)) for sequence, t in zip(each, every, strict=True)]
        given = None if any(t is None for t in given) else given if sequences is not None else given[0]
        return merge(found, names, self._parts is not None, sequences is not None, self.n_matches, given)

    def _search(self, X, times, keep=True, rule=None):
        y, ty, given = self._checked(X, times, keep)
        search = Search.of(
            self.metric_, self._x, self._w, y, self._tx, ty, self._mode, self.normalize, self._lengths, checked=True
        )
        return search, search.profile(self.min_length, self.max_length, rule), given

    def _each_length(self, X, times):
        """Profiles of the windows of each length: of those that end at a sample not each is the best at its start."""
        longest = self._lengths[0]  # that fits, and without this one the search is refused
        for length in self._lengths:
            if length <= longest:
                part = copy(self)
                part._lengths = np.array([length])
                profile = part.profile(X, times)
                longest = len(profile) + length - 1
                yield profile


def _search_one(parts, X, times, k):
    """The matches of one query, or of several in a sequence that is read by chunks, in the k-th sequence."""
    with nullcontext() if k is None else entry("X", k):
        if is_long(X):
            return search_long([part._plain() for part in parts], X, times)
        return [part.search(X, times) for part in parts]


def matches_of(search, profile, n_matches, threshold, max_overlap, times, percentile=None):
    """Choose from a profile and list by reported distance."""
    start, end, _, distance = choose(
        search, profile.distance, *profile._edges, profile._slack, n_matches, threshold, max_overlap, percentile
    )
    order = np.argsort(distance, kind="stable")
    return Matches(start[order], end[order], distance[order], times=times, _source=Whole.of(search))

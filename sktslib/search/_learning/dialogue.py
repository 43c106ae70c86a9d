"""A searcher that learns from answers about its matches."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...utils._positions import as_positions
from ...utils.validation import shown
from .._channels.by_channel import as_given, at_lags, have_lags_of, with_lags, without_lags
from .._profile import Search
from .._results import Matches
from .answers import Answers, relearned, threshold_of_answers

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike

    from ...utils._types import Sequences, Times

MOST_OTHERS = 1000  # matches nobody was asked about, the distances of which are looked at


class AnsweredSearcher:
    """What `QuerySearcher` has for a dialogue: candidates to ask about, and a searcher that knows the answers."""

    def candidates(self, X: Sequences, times: Times | None = None) -> Matches:
        """Find what may be an occurrence: the matches there would be without `threshold`, `percentile` and `n_matches`.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels), or list of arrays
            The sequence, or several, as for `search`.
        times : array-like of shape (n,), optional
            Their times.

        Returns
        -------
        Matches
            Best first, as many as fit. Their `threshold` is that of this searcher, about which `Matches.uncertain`
            finds those to ask about.
        """
        check_is_fitted(self)
        every = copy(self)
        every.n_matches = every.threshold = every.percentile = None
        every._learned_thresholds = [None] * len(self._queries)
        return replace(every.search(X, times), threshold=self._limits_of_distance)

    def relearn(self, matches: Matches, good: ArrayLike = (), bad: ArrayLike = ()) -> Self:
        """Make a searcher that knows of some matches whether they are occurrences.

        Parameters
        ----------
        matches : Matches
            What this searcher, or one relearned from it, found in any sequence, by `search` or `candidates` or in a
            stream.
        good, bad : array-like of int or of bool
            Numbers of the matches that are occurrences and of those that are none, or masks.

        Returns
        -------
        QuerySearcher
            A new one; this one stays as it is. It remembers the answers, and its own `relearn` adds to them. Its
            `threshold` and `percentile` are None, for the threshold is learned; see Notes. Without `n_matches` it finds
            all that are within it.

        Raises
        ------
        TypeError
            If `matches` are none, or their numbers no integers.
        ValueError
            If nothing is answered, a match is both good and bad, `matches` are of another number of queries or
            channels or of other lags, or channels with lags have several lengths or are compared by times.
        IndexError
            If there is no match of a number.

        Notes
        -----
        Each query is learned from the answers about its own matches, from the samples on which they lie. With two good
        ones or more it becomes the barycenter of itself, as one occurrence (learned from labels, as many as it was
        learned from), and of the good ones; where these fall into clear groups, of the group that it is nearest to. Of
        each further group the barycenter is an alternative of the query, see `alternatives_`: a match counts by the one
        it is nearest to, and is found once. The query's length stays. With `normalize` all of them are normalized
        before. Weights that were not given become the inverse variance about each point, shrunk as those that are
        learned from labels.

        The threshold is that of the largest expected F1, by distances from the new query: the share of occurrences
        never rises with the distance, is 1 at 0 and 0 beyond all matches, and lies on a line between answers (isotonic
        regression; answers that contradict each other are averaged). So it lies between good and bad ones, and where
        none is bad, among the matches beyond the good ones, closer to them. Where all matches are occurrences, it is
        the largest distance d of n and d / n more, the largest to expect if distances are spread evenly.

        A query about whose matches nothing is answered stays as it is, with its threshold; with a false discovery rate
        that of `matches`, with `percentile` one of the largest expected F1, too.

        Compared by channel with lags the samples of a match are those of each channel at the lag, and times the sign,
        with which it was found; all channels must have as many points.
        """
        check_is_fitted(self)
        self._check_matches(matches)
        self._check_one_length()
        numbers = {name: _numbers(value, matches, name) for name, value in (("good", good), ("bad", bad))}
        both = np.intersect1d(*numbers.values())
        if len(both):
            raise ValueError(f"'good' and 'bad' must have no match in common. Got {shown(both.tolist())} in both.")
        if not any(len(some) for some in numbers.values()):
            raise ValueError("'good' or 'bad' must hold the number of a match. Got none in either.")
        query = np.zeros(len(matches), int) if matches.query is None else matches.query
        new = copy(self)
        new._answers, queries, thresholds = [], [], []
        for k, before in enumerate(self._answered):
            own = {name: some[query[some] == k] for name, some in numbers.items()}
            mine = self._queries[k]
            read = {name: tuple(_turned(matches, i, mine.by_channel) for i in some) for name, some in own.items()}
            answers = before._replace(good=before.good + read["good"], bad=before.bad + read["bad"])
            new._answers.append(answers)
            is_new, known = any(map(len, own.values())), self._threshold_beside(matches, k)
            how = relearned(answers, self._searches[k][0].limits) if is_new else without_lags(mine)
            queries.append(with_lags(how, mine)._replace(limits=mine.limits) if is_new else mine)
            if not is_new and (known is not None or self.percentile is None):
                thresholds.append(known)
                continue
            rest = np.setdiff1d(np.flatnonzero(query == k), np.concatenate([*own.values()]))
            rest = rest[np.linspace(0, len(rest) - 1, min(len(rest), MOST_OTHERS)).round().astype(int)]
            pieces = answers.good, answers.bad, (_turned(matches, i, mine.by_channel) for i in rest)
            far = (np.array([Search(how, *piece).nearest() for piece in some]) for some in pieces)
            thresholds.append(threshold_of_answers(*far))
        new.threshold = new.percentile = None
        new._fit_queries(queries)
        new._learned_thresholds = thresholds
        return new

    def _threshold_beside(self, matches, k):
        """The threshold of a query that is not answered about: its own, or that of its matches; None without both."""
        found = np.nan if matches.threshold is None else matches.threshold[k]
        return self._thresholds[k] if self._thresholds[k] is not None or np.isnan(found) else float(found)

    @property
    def _limits_of_distance(self):
        """The threshold of each query, NaN where there is none."""
        return np.array([np.nan if limit is None else limit for limit in self._thresholds], float)

    @property
    def _answered(self):
        """What was answered about each query so far."""
        if hasattr(self, "_answers"):
            return self._answers
        counts = getattr(self, "_counts", [1] * len(self._queries))
        return [
            Answers(without_lags(how.unsigned), count, as_given(how)[1] is not None)
            for how, count in zip(self._queries, counts, strict=True)
        ]

    def _check_matches(self, matches):
        if not isinstance(matches, Matches):
            raise TypeError(
                f"The 'matches' parameter of relearn must be Matches of a search. Got {shown(matches)}. What "
                "'good' and 'bad' hold are numbers of them."
            )
        readers = matches._source.readers
        channels, count = {len(one.how.x) for one in readers}, len(readers) // (max(matches._source.sequences) + 1)
        if channels != {self.n_features_in_} or count != len(self._queries):
            raise ValueError(
                "The 'matches' parameter of relearn must be those of this searcher, or of one relearned from it, by "
                f"number of channels ({self.n_features_in_}) and of queries ({len(self._queries)}). Got matches of "
                f"{channels.pop()} and {count}. Search with this one, searcher.candidates(X)."
            )
        for reader, how in zip(readers, self._queries * (len(readers) // count), strict=True):
            if not have_lags_of(reader.how, how):
                raise ValueError(
                    "The 'matches' parameter of relearn must be those of this searcher, or of one relearned from it, "
                    "whose channels have the same lags and lengths. Got matches by others. Search with this one, "
                    "searcher.candidates(X)."
                )


def _turned(matches, i, by):
    """The samples (channels, n) of a match and their times, with the signs that the query was given with.

    Of a query with lags those of each channel are where it was found.
    """
    y, ty = matches._source.piece(matches, i)
    if by is not None and not by.is_joint:
        start, lag = int(matches.start[i]), by.lag if matches.lag is None else matches.lag[i]
        search = matches._source.search(i, start, int(matches.end[i]))
        y = at_lags(search.y, by, start - search.first + lag + by.first)
    return (y, ty) if matches.polarity is None else (y * np.reshape(matches.polarity[i], (-1, 1)), ty)


def _numbers(value, matches, name):
    """Numbers of matches, ascending; a single one or a tuple of them will do."""
    if isinstance(value, Integral | tuple) and not isinstance(value, bool):
        value = list(value) if isinstance(value, tuple) else [value]
    try:
        return np.unique(as_positions(value, len(matches), matches._what))
    except (TypeError, IndexError) as error:
        raise type(error)(
            f"In {name!r}: {error} It holds numbers of 'matches', as matches.uncertain gives them, or a mask."
        ) from error

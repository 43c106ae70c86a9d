"""Searches of sequences that come in chunks: a match is reported when it is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...utils._sampling import edges
from .._buffer import SparseTimes
from .._profile import choose
from .._selection import Candidates
from .._several import Found, matches_of
from .._sources import CandidateReader, Stretches
from .chunks import ChunkStream, check_delay
from .groups import Groups, Reported
from .incremental_profile import RangeProfile, SubsequenceProfile, WindowProfile, candidates_of, share_samples

if TYPE_CHECKING:
    from typing import Any

    from ...utils._types import Sequences, Times
    from .._results import Matches


def make_profile(how, rule=None, first=0):
    """The profile chunk by chunk from the `first` sample on; what a `rule` cannot choose need not be in it."""
    if how.mode == "subsequence" and not how.by_range:
        return SubsequenceProfile(how, first)
    return (RangeProfile if how.by_range else WindowProfile)(how, rule, first)


class PendingMatches:
    """The candidates of one query until they are decided.

    What is decided are rows (chosen by, distance, start, end, piece, times, version of the query).
    """

    def __init__(self, how, choice, max_delay=None):
        self.how, self.choice, self.max_delay = how, choice, max_delay
        self.feed = make_profile(how, choice._replace(n_matches=None).rule)
        self._groups, self._reported = Groups(by_end=how.mode == "subsequence"), Reported(choice.max_overlap)
        self._best, self._slack = None, 0.0
        self._due = 0  # samples before which nothing can be decided

    def is_due(self, gaps):
        """Whether something may be decided by the samples so far; what lies before a gap is complete."""
        return gaps or self.feed.seen >= self._due

    def decide(self, found, times=None, last=False):
        """The rows that are decided by the next candidates, at the end of the sequence the rest.

        The `times` are those of the samples that are held.
        """
        feed, groups = self.feed, self._groups
        self._enter(found)
        rows = []
        if groups.groups:
            horizon = feed.seen if last else feed.horizon(self.choice.threshold)
            if times is not None and not last:  # the time of an end is that of the sample there
                horizon = min(horizon, feed.seen - 1)
            for group in groups.close(horizon):
                rows += self._chosen(group, times)
        if self.max_delay is not None and not last:
            rows += self._decided_early(feed.seen - self.max_delay, times)
        end, first_end = groups.first
        self._due = feed.due(end)
        if self.max_delay is not None:
            self._due = min(self._due, first_end + self.max_delay)
        if self.choice.n_matches is None:
            return rows
        # Only the best of the whole stream count. Ties: the earliest, and a stable order keeps it first.
        self._best = sorted([*(self._best or []), *rows], key=lambda row: row[0])[: self.choice.n_matches]
        return self._best if last else []

    def _enter(self, found):
        """Put candidates that may be matches into groups."""
        distance, start, end, slack = found
        limit = self.choice.threshold
        if slack:
            self._slack = max(self._slack, slack)
            near = np.flatnonzero(distance * (1.0 - slack) <= limit)
        elif len(distance) == 1:  # arrays of one number are slow
            near = [] if distance[0] > limit else [0]
        else:
            near = np.flatnonzero(distance <= limit)
        if len(near):
            self._add_free(distance[near], start[near], end[near])

    def _add_free(self, distance, start, end):
        """Put candidates into groups, unless matches that were decided early overlap them."""
        free = self._reported.free(start, end)
        self._groups.add(distance[free], start[free], end[free])

    def _chosen(self, group, times):
        reader, choice = CandidateReader(self.how, self.feed), self.choice._replace(n_matches=None)
        start, end, by, distance, version = choose(reader, Candidates(*group, self._slack), choice)
        start, end = reader.centered(start, end, version)
        known = [None] * len(start)
        if times is not None:
            at = edges(start, end, self.how.max_gap)
            known = list(times.at(at.ravel()).reshape(at.shape).T)
        rows = []
        columns = (column.tolist() for column in (by, distance, start, end, version))
        for b, d, s, e, v, some in zip(*columns, known, strict=True):
            first, y, ty = reader.read(s, e)
            rows.append((b, d, s, e, (first, y.copy(), None if ty is None else ty.copy()), some, v))
        return rows

    def _decided_early(self, late, times):
        """Rows of the matches that end at or before a sample, by the candidates so far; what overlaps them is none."""
        rows = []
        for group in self._groups.late(late):
            now = [row for row in self._chosen(group, times) if row[3] <= late]
            rows += now
            if now:
                start, end = np.array([row[2:4] for row in now], np.int64).T
                self._reported.add(start, end, self.feed.first)
            self._add_free(*(column[group[2] > late] for column in group))
        self.feed.drop(late)
        return rows

    def needed(self, timed):
        """The first sample that something undecided depends on."""
        feed, begin = self.feed, self._groups.begin
        horizon = feed.horizon(self.choice.threshold)
        kept = self.how.reach + timed  # the last step of time needs two samples
        return min((horizon if begin is None else min(begin, horizon)) - kept, feed.needed)


def found_in(rows, reader):
    """The matches that rows list."""
    columns = ((2, np.int64), (3, np.int64), (1, float), (6, np.int64))
    start, end, distance, version = (np.array([row[k] for row in rows], dtype) for k, dtype in columns)
    return Found(start, end, distance, reader, version)


class Stream(ChunkStream):
    """A search that goes on with every chunk of a sequence; made by `QuerySearcher.stream`.

    Matches are reported as soon as no later one can overlap them, and are those that a search of the whole sequence
    would give (Sakurai, Faloutsos & Yamamuro 2007), unless `max_delay` asks for them sooner. They come in order of
    time, by their starts; of several queries one that is decided later may start earlier. Memory: the samples of
    candidates that are not decided yet. A stream can be pickled and goes on where it was.

    Attributes
    ----------
    n_samples_seen : int
        Samples so far.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> stream = QuerySearcher("dtw", threshold=0.1).fit([0, 2, 0]).stream()
    >>> len(stream.update([5, 0, 2])), list(stream.update([2, 0, 5, 0])), len(stream.flush())
    (0, [Match(start=1, end=5, distance=0.0)], 0)
    """

    def __init__(self, searcher: Any, max_delay: float | None = None) -> None:
        searcher._check_fixed("a stream")
        searches = searcher._searches
        percentile = searches[0][1].percentile
        if percentile is not None:
            raise ValueError(
                "The 'percentile' parameter of QuerySearcher must be None for a stream: it is one of all distances, "
                f"which are known at the end of the sequence only. Got {percentile!r}. Set 'threshold' "
                "instead, for example to that percentile of the finite profile(X).distance of a recording X like it."
            )
        if any(choice.threshold is None for _, choice in searches):
            raise ValueError(
                "The 'threshold' parameter of QuerySearcher must be set for a stream: without it the best places are "
                "known at the end of the sequence only. Got None."
            )
        for how, _ in searches:
            least, what = (
                how.longest,
                "the length of the query" if how.lengths is None else "that of the longest window",
            )
            if how.mode == "subsequence":
                low, high = how.limits
                least, what = max(min(how.m, high or how.m), low or 1), f"{what}, or what 'min_length' asks for"
            check_delay(max_delay, least, what, how.reach, "an occurrence would be given up")
        super().__init__(searcher)
        self.max_delay, self._classes = max_delay, searcher._classes
        self._calibrations = searcher._calibrations
        self._searches = searches
        self._begin()

    def _begin(self):
        self._pending = [PendingMatches(how, choice, self.max_delay) for how, choice in self._searches]
        self._groups = share_samples([pending.feed for pending in self._pending])

    def _count_samples(self):
        self._searches = [(how.untimed, choice) for how, choice in self._searches]
        self._begin()

    def update(self, X: Sequences, times: Times | None = None) -> Matches:
        """Take the next samples.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            Samples that follow those before; there may be none.
        times : array-like of shape (n,), optional
            Their times; with every chunk or with none.

        Returns
        -------
        Matches
            The occurrences that are decided now, in order of time; ranges count from the stream's first sample. With
            `n_matches` set the best can be told at the end only: then there are none before `flush`.
        """
        return self._update(X, times)

    def flush(self) -> Matches:
        """End the stream and return the occurrences that were not decided yet.

        Returns
        -------
        Matches
            In order of time; with `n_matches` set, the best ones of the whole stream.
        """
        return self._flush()

    def _take(self, y, ty, gaps):
        for first, *_ in self._groups:
            self._pending[first].feed.append(y, ty)
        found = self._decided(gaps)
        return found if any(found) else None

    def _decided(self, gaps, last=False):
        """The rows of each query that are decided by the samples so far; profiles of a group are found together."""
        found, timed = [[] for _ in self._pending], self._times is not None
        for group in self._groups:
            due = [k for k in group if last or self._pending[k].is_due(gaps)]
            for k, candidates in zip(due, candidates_of([self._pending[k].feed for k in due], last), strict=True):
                found[k] = self._pending[k].decide(candidates, self._times, last)
            if due and self._pending[due[0]].feed.is_full:
                needed = min(self._pending[k].needed(timed) for k in group)
                for k in group:
                    self._pending[k].feed.forget(needed)
        return found

    def _forget(self):
        return min(pending.feed.first for pending in self._pending)

    def _end(self):
        return self._decided(gaps=True, last=True)

    def _result(self, found):
        found, times = found or [[] for _ in self._pending], None
        if self._times is not None:
            rows = [row for rows in found for row in rows]
            start, end = np.array([row[2:4] for row in rows], np.int64).reshape(-1, 2).T
            samples = edges(start, end, self._pending[0].how.max_gap).T.ravel()
            given = np.concatenate([self._times.at([]), *(row[5] for row in rows)])
            times = SparseTimes(samples, self._times.as_given(given))
        listed = [
            found_in(rows, CandidateReader(pending.how, Stretches([row[4] for row in rows])))
            for rows, pending in zip(found, self._pending, strict=True)
        ]
        limits = np.array([pending.choice.threshold for pending in self._pending], float)
        rest = {"calibrations": self._calibrations, "by_time": True}
        return matches_of(listed, len(listed), None, times, self._classes, None, limits, **rest)

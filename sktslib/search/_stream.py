"""Searches of sequences that come in chunks: a match is reported when it is decided."""

import numpy as np

from ..utils.validation import check_count
from ._buffer import SparseTimes
from ._chunks import Entrance, is_nothing
from ._groups import Groups, Reported
from ._incremental_profile import SubsequenceProfile, WindowProfile
from ._near_windows import Rule
from ._profile import check_lengths, choose
from ._results import Matches
from ._sources import CandidateReader, Held, Stretches

LEAST_HELD = 1024  # samples that are held before any is forgotten


def make_profile(searcher, rule=None):
    """The feed of a fitted searcher; a `rule` says that other windows than it may choose do not matter."""
    x, w, metric = searcher._x, searcher._w, searcher.metric_
    tx = searcher._tx if metric.uses_times else None
    if searcher._mode == "subsequence":
        limits = searcher.min_length, searcher.max_length
        return SubsequenceProfile(metric, x, w, tx, *limits, missing=searcher.nan_policy == "omit")
    if searcher._lengths is None:
        check_lengths(x.shape[1], searcher.min_length, searcher.max_length)
    return WindowProfile(metric, x, w, tx, searcher.normalize, searcher._lengths, rule)


def check_delay(searcher, max_delay):
    """The longest delay of a decision: a whole candidate must be seen by then."""
    check_count(max_delay, "max_delay", none=True, owner="stream")
    how, low, high = searcher._how, searcher.min_length, searcher.max_length
    m, ahead = how.x.shape[1], how.reach
    if how.mode == "subsequence":
        least, what = max(min(m, high or m), low or 1), "the length of the query, or what 'min_length' asks for"
    else:
        least = m if how.lengths is None else how.lengths[-1]
        what = "the length of the query" if how.lengths is None else "that of the longest window"
    if max_delay is not None and max_delay < least + ahead:
        more = f" and the {ahead} that the metric looks ahead" if ahead else ""
        raise ValueError(
            f"The 'max_delay' parameter of stream must be at least {what}, {least} samples{more}: an occurrence would "
            f"be given up before its end has come. Got {max_delay}."
        )
    return max_delay


class Stream:
    """A search that goes on with every chunk of a sequence; made by `QuerySearcher.stream`.

    Matches are reported as soon as no later one can overlap them, and are those that a search of the whole sequence
    would give (Sakurai, Faloutsos & Yamamuro 2007), unless `max_delay` asks for them sooner. Memory: the samples of
    candidates that are not decided yet. A stream can be pickled and goes on where it was.

    Attributes
    ----------
    n_samples_seen : int
        Samples so far.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> stream = QuerySearcher("dtw", threshold=0.1, n_matches=None).fit([0, 2, 0]).stream()
    >>> len(stream.update([5, 0, 2])), list(stream.update([2, 0, 5, 0])), len(stream.flush())
    (0, [Match(start=1, end=5, distance=0.0)], 0)
    """

    def __init__(self, searcher, max_delay=None):
        if searcher.percentile is not None:
            raise ValueError(
                "The 'percentile' parameter of QuerySearcher must be None for a stream: it is one of all distances, "
                f"which are known at the end of the sequence only. Got {searcher.percentile!r}. Set 'threshold' "
                "instead, for example to that percentile of the finite profile(X).distance of a recording X like it."
            )
        if searcher._limit is None:
            raise ValueError(
                "The 'threshold' parameter of QuerySearcher must be set for a stream: without it the best places are "
                "known at the end of the sequence only. Got None."
            )
        self.max_delay = check_delay(searcher, max_delay)
        self._searcher, self._how, self._limit = searcher, searcher._how, float(searcher._limit)
        self._feed = make_profile(searcher, Rule(None, searcher._limit))
        self._groups, self._reported = Groups(by_end=self._how.mode == "subsequence"), Reported(searcher.max_overlap)
        self._entrance = Entrance(searcher)
        self._best, self._slack, self._flushed = None, 0.0, False
        self._due, self._full = 0, LEAST_HELD  # samples before which nothing can be decided, nothing is forgotten
        self._nothing = None

    @property
    def n_samples_seen(self):
        return self._feed.seen

    @property
    def _times(self):
        """As they were given, of the samples that are held."""
        return self._entrance.times

    def update(self, X, times=None):
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
            The occurrences that are decided now, best first; ranges count from the stream's first sample. With
            `n_matches` set the best can be told at the end only: then there are none before `flush`.
        """
        self._check_open()
        y, ty = self._entrance.plain(X) if times is None else None, None
        if y is None:
            if is_nothing(X):
                return self._no_matches()
            y, ty = self._entrance(X, times, self._feed.seen)
            if self._feed.missing and np.isnan(y).any():  # what lies before a gap is complete
                self._due = 0
        return self._take(y, ty)

    def _take(self, y, ty):
        """The same of a chunk that is valid."""
        feed = self._feed
        feed.append(y, ty)
        if feed.seen < self._due:
            return self._no_matches()
        rows = self._advance()
        return self._matches(rows) if rows else self._no_matches()

    def flush(self):
        """End the stream and return the occurrences that were not decided yet.

        Returns
        -------
        Matches
            Best first; with `n_matches` set, the best ones of the whole stream.
        """
        self._check_open()
        rows = self._advance(last=True)
        self._flushed = True
        return self._matches(rows)

    def _check_open(self):
        if self._flushed:
            raise ValueError("The stream has been flushed, and its sequence has ended. Begin a new one by 'stream()'.")

    def _advance(self, last=False):
        """Rows (chosen by, distance, start, end, piece, times) of the occurrences that are decided now."""
        feed, groups = self._feed, self._groups
        self._enter(feed.candidates(last))
        rows = []
        if groups.groups:
            horizon = feed.seen if last else feed.horizon(self._limit)
            if self._times is not None and not last:  # the time of an end is that of the sample there
                horizon = min(horizon, feed.seen - 1)
            for group in groups.close(horizon):
                rows += self._chosen(group)
        if self.max_delay is not None and not last:
            rows += self._decided_early(feed.seen - self.max_delay)
        end, first_end = groups.first
        self._due = feed.due(end)
        if self.max_delay is not None:
            self._due = min(self._due, first_end + self.max_delay)
        if feed.seen - feed.first >= self._full:
            self._forget()
        if self._searcher.n_matches is None:
            return rows
        # Only the best of the whole stream count. Ties: the earliest, and a stable order keeps it first.
        self._best = sorted([*(self._best or []), *rows], key=lambda row: row[0])[: self._searcher.n_matches]
        return self._best if last else []

    def _enter(self, found):
        """Put candidates that may be matches into groups."""
        distance, start, end, slack = found
        if slack:
            self._slack = max(self._slack, slack)
            near = np.flatnonzero(distance * (1.0 - slack) <= self._limit)
        elif len(distance) == 1:  # arrays of one number are slow
            near = [] if distance[0] > self._limit else [0]
        else:
            near = np.flatnonzero(distance <= self._limit)
        if len(near):
            distance, start, end = distance[near], start[near], end[near]
            free = self._reported.free(start, end)
            self._groups.add(distance[free], start[free], end[free])

    def _chosen(self, group):
        pieces, rule = Buffered(self._how, self._feed), (None, self._limit, self._searcher.max_overlap)
        start, end, by, distance = choose(pieces, *group, self._slack, *rule)
        edges = [None] * len(start)
        if self._times is not None:
            edges = self._edges(start, end)
        rows = zip(by.tolist(), distance.tolist(), start.tolist(), end.tolist(), edges, strict=True)
        return [(b, d, s, e, pieces.read(s, e), edge) for b, d, s, e, edge in rows]

    def _decided_early(self, late):
        """Rows of the matches that end at or before a sample, by the candidates so far; what overlaps them is none."""
        rows = []
        for group in self._groups.late(late):
            now = [row for row in self._chosen(group) if row[3] <= late]
            rows += now
            if now:
                start, end = np.array([row[2:4] for row in now], np.int64).T
                self._reported.add(start, end, self._feed.first)
            distance, start, end = (column[group[2] > late] for column in group)
            free = self._reported.free(start, end)
            self._groups.add(distance[free], start[free], end[free])
        self._feed.drop(late)
        return rows

    def _forget(self):
        """Drop the samples that nothing undecided depends on."""
        feed, begin = self._feed, self._groups.begin
        horizon = feed.horizon(self._limit)
        kept = self._how.reach + (self._times is not None)  # the last step of time needs two samples
        feed.forget((horizon if begin is None else min(begin, horizon)) - kept)
        if self._times is not None:
            self._times.forget(feed.first)
        self._full = 2 * (feed.seen - feed.first) + LEAST_HELD

    def _edges(self, start, end):
        """Times of starts and ends, a pair for each match."""
        return list(self._times.at(np.concatenate([start, end])).reshape(2, -1).T)

    def _matches(self, rows):
        rows = sorted(rows, key=lambda row: row[1])
        pieces = Held(self._how, Stretches([row[4] for row in rows]))
        columns = [np.array([row[k] for row in rows], dtype) for k, dtype in ((2, np.int64), (3, np.int64), (1, float))]
        times = None
        if self._times is not None:
            samples = np.array([row[2:4] for row in rows], np.int64).reshape(-1)
            given = np.concatenate([self._times.at([]), *(row[5] for row in rows)])
            times = SparseTimes(samples, self._times.as_given(given))
        return Matches(*columns, times=times, _source=pieces)._named(self._searcher._kinds)

    def _no_matches(self):
        """Made once: it is the answer to most chunks."""
        if self._nothing is None or (self._nothing.times is None) != (self._times is None):
            self._nothing = self._matches([])
        return self._nothing


class Buffered(CandidateReader):
    """Candidates that lie within a feed's buffer."""

    def __init__(self, how, feed):
        super().__init__(how)
        self.feed = feed

    def extent(self, start):
        return self.feed.first, self.feed.seen

    def cut(self, start, end):
        y, ty = self.feed.cut(start, end)  # in memory that is used again
        return y.copy(), None if ty is None else ty.copy()

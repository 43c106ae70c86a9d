"""Searches of sequences that are not held in memory: streams, and files that are read by chunks."""

from functools import reduce

import numpy as np

from ._cascade import Rule
from ._feed import Clock, WarpedFeed, WindowFeed, chunk_at, is_nothing
from ._profile import check_lengths, choose
from ._results import Matches
from ._sources import Held, Pieces, Stretches
from ._times import SparseTimes, followed, joined, times_at


def make_feed(searcher, rule=None):
    """The feed of a fitted searcher; a `rule` says that other windows than it may choose do not matter."""
    x, w, tx, metric = searcher._x, searcher._w, searcher._tx, searcher.metric_
    if searcher._mode == "warped":
        return WarpedFeed(metric, x, w, tx if metric.uses_times else None, searcher.min_length, searcher.max_length)
    if searcher._lengths is None:
        check_lengths(x.shape[1], searcher.min_length, searcher.max_length)
    return WindowFeed(metric, x, w, tx if metric.uses_times else None, searcher.normalize, searcher._lengths, rule)


class Groups:
    """Candidates until nothing that comes can overlap them, in groups that overlap each other."""

    def __init__(self):
        self.groups = []  # [start, end, parts], ascending and apart

    def add(self, found):
        """Take candidates; `found` has rows distance, start, end."""
        if not len(found[0]):
            return
        order = np.argsort(found[1], kind="stable")
        start, end = found[1][order], found[2][order]
        reach = np.maximum.accumulate(end)
        cuts = np.flatnonzero(start[1:] >= reach[:-1]) + 1
        for which in np.split(order, cuts):
            self._merge([int(found[1][which].min()), int(found[2][which].max()), [tuple(a[which] for a in found)]])

    def _merge(self, new):
        after = []
        while self.groups and self.groups[-1][0] >= new[1]:
            after.append(self.groups.pop())
        while self.groups and self.groups[-1][1] > new[0]:
            start, end, parts = self.groups.pop()
            new = [min(start, new[0]), max(end, new[1]), parts + new[2]]
        self.groups += [new, *after[::-1]]

    def close(self, horizon):
        """Give up the groups that end at or before a sample, each as (distance, start, end)."""
        count = sum(1 for _, end, _ in self.groups if end <= horizon)  # they are apart, so the first ones
        closed, self.groups = self.groups[:count], self.groups[count:]
        return [tuple(np.concatenate(part) for part in zip(*parts, strict=True)) for _, _, parts in closed]

    @property
    def begin(self):
        """The first sample of an open group, None where there is none."""
        return self.groups[0][0] if self.groups else None


class Stream:
    """A search that goes on with every chunk of a sequence; made by `QuerySearcher.stream`.

    Matches are reported as soon as no later one can overlap them, and are those that a search of the whole sequence
    would give (Sakurai, Faloutsos & Yamamuro 2007). Memory: the samples of candidates that are not decided yet. A
    stream can be pickled and goes on where it was.

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

    def __init__(self, searcher):
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
        self._searcher, self._groups = searcher, Groups()
        self._feed = make_feed(searcher, Rule(None, searcher._limit))
        self._clock = Clock(searcher.metric_, searcher._tx)
        self._times = None  # as they were given, of the samples in the feed's buffer
        self._best, self._slack, self._flushed = None, 0.0, False

    @property
    def n_samples_seen(self):
        return self._feed.seen

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
        if is_nothing(X):
            return self._matches([])
        with chunk_at(self.n_samples_seen):
            y, _, given = self._searcher._door(X, times)
        return self._take(y, given)

    def _take(self, y, times):
        """The same behind the door."""
        if (times is None) != (self._times is None) and self.n_samples_seen:
            given = "without them, those before with" if times is None else "with them, those before without"
            raise ValueError(f"'times' must be given with every chunk or with none. Got a chunk {given}.")
        ty = self._clock(times)
        if times is not None:
            self._times = followed(self._times, times, self.n_samples_seen)
        return self._matches(self._advance(y, ty))

    def flush(self):
        """End the stream and return the occurrences that were not decided yet.

        Returns
        -------
        Matches
            Best first; with `n_matches` set, the best ones of the whole stream.
        """
        self._check_open()
        rows = self._advance(np.empty((self._searcher.n_features_in_, 0)), None, last=True)
        self._flushed = True
        return self._matches(rows)

    def _check_open(self):
        if self._flushed:
            raise ValueError("The stream has been flushed, and its sequence has ended. Begin a new one by 'stream()'.")

    def _advance(self, y, ty, last=False):
        """Rows (chosen by, distance, start, end, piece) of the occurrences that are decided now."""
        searcher, feed = self._searcher, self._feed
        found = feed.feed(y, ty, last)
        self._slack = max(self._slack, found.slack)
        near = found.distance * (1.0 - found.slack) <= searcher._limit
        self._groups.add([a[near] for a in found[:3]])
        horizon = feed.seen if last else feed.horizon(searcher._limit)
        if self._times is not None and not last:  # the time of an end is that of the sample there
            horizon = min(horizon, feed.seen - 1)
        rows = []
        for group in self._groups.close(horizon):
            pieces = Buffered(searcher._how, feed)
            start, end, by, distance = choose(pieces, *group, self._slack, None, searcher._limit, searcher.max_overlap)
            rows += [
                (b, d, s, e, pieces.read(s, e), times_at(self._times, [s - feed.first, e - feed.first]))
                for b, d, s, e in zip(by.tolist(), distance.tolist(), start.tolist(), end.tolist(), strict=True)
            ]
        begin, first = self._groups.begin, feed.first
        kept = searcher._how.reach + (self._times is not None)  # the last step of time needs two samples
        feed.forget((horizon if begin is None else min(begin, horizon)) - kept)
        if self._times is not None:
            self._times = self._times[feed.first - first :]
        if searcher.n_matches is None:
            return rows
        # Only the best of the whole stream count. Ties: the earliest, and a stable order keeps it first.
        self._best = sorted([*(self._best or []), *rows], key=lambda row: row[0])[: searcher.n_matches]
        return self._best if last else []

    def _matches(self, rows):
        rows = sorted(rows, key=lambda row: row[1])
        pieces = Held(self._searcher._how, Stretches([row[4] for row in rows]))
        columns = [np.array([row[k] for row in rows], dtype) for k, dtype in ((2, np.int64), (3, np.int64), (1, float))]
        times = self._times
        if times is not None:
            samples = np.array([row[2:4] for row in rows], np.int64).reshape(-1)
            times = SparseTimes(samples, reduce(joined, (row[5] for row in rows), times[:0]))
        return Matches(*columns, times=times, _source=pieces)._named(self._searcher._kinds)


class Buffered(Pieces):
    """Candidates that lie within a feed's buffer."""

    def __init__(self, how, feed):
        super().__init__(how)
        self.feed = feed

    def extent(self, start):
        return self.feed.first, self.feed.seen

    def cut(self, start, end):
        return self.feed.cut(start, end)

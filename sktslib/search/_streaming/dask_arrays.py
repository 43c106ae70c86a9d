"""Dask arrays, searched where their chunks lie: what travels is the searcher, what parts overlap, and what they found.

Each range of chunks is a task of dask's current scheduler. It takes the chunks and the last samples of those before,
which are tasks of the array, computed once, and gives a small `QueryPart` of each search. The client joins these, and
reads samples of the array only where parts do not agree, and for the distances of what lies across borders.
"""

import sys
from copy import copy
from typing import NamedTuple

import numpy as np

from ...utils._given_times import as_dates, given_times
from ...utils._jobs import losses_explained, progress
from ...utils.validation import as_points, as_series, as_times
from .._buffer import SparseTimes, times_at
from . import chunked_sequence, ranges
from .chunked_sequence import ChunkedSequence, n_samples
from .chunks import Clock
from .parts import first_of

MOST = 2**22  # samples of a range, unless a chunk has more: enough that the scheduler's time for it does not count
EACH = 64  # ranges of an array that is not long: enough for many workers


def is_dask(X):
    """Whether something is an array of dask, which is not imported for that."""
    array = sys.modules.get("dask.array")
    return array is not None and isinstance(X, array.Array)


def cut(chunks, lead):
    """Half-open ranges of the numbers of chunks that make a task each."""
    least = max(min(sum(chunks) // EACH, MOST), ranges.LEAST, 2 * lead)
    found, first, held = [], 0, 0
    for k, size in enumerate(chunks):
        held += size
        if held >= least:
            found.append((first, k + 1))
            first, held = k + 1, 0
    if held or not found:
        found.append((first, len(chunks)))
    return found


def times_of_ranges(times, found):
    """Times of the samples that what was found begins and ends at, read there alone if dask has them."""
    if not is_dask(times):
        return None if times is None else given_times(times, "times")
    start, end = (np.concatenate([one[k] for one in found]) for k in range(2))
    n = n_samples(times)
    samples = np.unique(np.concatenate([start, end, end - 1, end - 2, [n - 2, n - 1]]))
    samples = samples[(samples >= 0) & (samples < n)]
    read = np.asarray(times[samples])
    return SparseTimes([*samples, n], times_at(read, np.arange(len(samples) + 1)))


class Work(NamedTuple):
    """What all tasks of a call are given."""

    searcher: object
    clock: Clock
    searches: list
    whole: bool  # whether the whole profile is asked for
    n: int  # samples of the recording


class Pieces:
    """Arrays one after the other, the first of which begins at a sample, sliced by numbers of samples."""

    def __init__(self, arrays, first):
        self.arrays = [as_points(a, "X") if np.ma.isMaskedArray(a) else np.asarray(a) for a in arrays if len(a)]
        self.edges = first + np.cumsum([0, *map(len, self.arrays)])

    def __getitem__(self, part):
        within = zip(self.arrays, self.edges[:-1], strict=True)
        found = [
            a[max(part.start - e, 0) : part.stop - e] for a, e in within if part.start < e + len(a) and e < part.stop
        ]
        return found[0] if len(found) == 1 else np.concatenate(found)


class Block(ChunkedSequence):
    """The samples of a range and some before, in the memory of the process that searches them."""

    notices = False

    def __init__(self, work, X, times):
        self.searcher, self._clock, self._n = work.searcher, work.clock, work.n
        self._X, self._times, self.size = X, times, chunked_sequence.CHUNK

    def __len__(self):
        return self._n

    def extent(self, start):
        return int(self.X.edges[0]), int(self.X.edges[-1])


def search_range(work, first, begin, end, arrays, times):
    """The part of each search that samples [begin, end) give, from the arrays that hold [first, end)."""
    source = Block(work, Pieces(arrays, first), None if times is None else Pieces(times, first))
    parts = ranges.run(source, work.searches, begin, end, work.whole)
    for part in parts:  # what can be decided here needs no samples in the client
        part.pool.decide(part.feed, source.reader(part.how))
    return parts


def last_of(chunk, count):
    """A copy of the last samples of a chunk, which need not be kept for them."""
    return np.array(chunk[len(chunk) - count :], subok=True)


class DaskSequence(ChunkedSequence):
    """An array of dask, read by chunks where samples of it are asked for."""

    has_engine, notices = True, False

    def __init__(self, searcher, X, times):
        super().__init__(searcher, X, times)
        if times is not None and len(self) != n_samples(self.times):
            raise ValueError(
                f"'times' must have one time per point, shape ({len(self)},). Got shape ({n_samples(self.times)},)."
            )

    def cuts(self, start, end):
        """The same, all computed in one go."""
        import dask

        found = dask.compute(*(self.X[s:e] for s, e in zip(start.tolist(), end.tolist(), strict=True)))
        return [as_series(np.asarray(y), "X", missing=True) for y in found]

    def times_of_found(self, found):
        """Times of the samples that what was found begins and ends at, or None."""
        return times_of_ranges(self.times, found)

    def parts(self, searches, verbose, name, whole):
        """The parts of the searches that ranges of the array give."""
        import dask

        self.searcher._check_columns(self.X)
        tasks = self._tasks(searches, whole)
        with progress(len(tasks), verbose, name, "part") as count, losses_explained(name):
            found = dask.compute(*tasks)
            count(len(tasks))
        if self.timed and len(self) > 1:
            given = as_dates(self.times[: self.size])
            self.searcher._notice_sampling(given, as_times(given, len(given), "times"))
        return list(found)

    def _tasks(self, searches, whole):
        import dask.array

        searcher = copy(self.searcher)
        vars(searcher).pop("feature_names_in_", None)  # tables are none here, which is told once
        work = dask.delayed(Work(searcher, self._clock, searches, whole, len(self)), traverse=False)
        arrays, times = self._chunks(self.X), None
        sizes = self.X.chunks[0]
        if self.timed:
            given = self.times if is_dask(self.times) else dask.array.from_array(as_dates(self.times), name=False)
            times = self._chunks(given.rechunk((sizes,)))
        edges, tasks = np.cumsum([0, *sizes]), []
        search, last = dask.delayed(search_range, pure=False), dask.delayed(last_of, pure=False)
        for a, b in cut(sizes, len(self) - first_of(searches, len(self))):
            begin, end = int(edges[a]), int(edges[b])
            first = first_of(searches, begin)
            k = int(np.searchsorted(edges, first, "right")) - 1  # the chunk that holds it
            held = [
                None
                if one is None
                else [*([last(one[k], int(edges[k + 1]) - first)] if k < a else []), *one[min(k + 1, a) : b]]
                for one in (arrays, times)
            ]
            tasks.append(search(work, first, begin, end, *held))
        return tasks

    @staticmethod
    def _chunks(X):
        """The chunks along time as tasks."""
        if X.ndim == 2:
            X = X.rechunk({1: -1})
        return X.to_delayed().ravel().tolist()

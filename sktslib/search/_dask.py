"""Search of dask arrays where their chunks are stored: only the searcher, the overlaps and what is found are sent.

Each range of chunks is a task of dask's current scheduler. The task searches all of the range but its first samples,
which needs nothing of the ranges before. It therefore runs where its chunks are read, in one go with reading them. Each
border is a small task with the last samples before it and the first ones behind it. The client joins these parts. It
reads samples of the array only where the parts do not agree, and for the distances of matches across borders.
"""

import sys
from copy import copy
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..utils._jobs import losses_explained, progress
from ..utils._times import as_dates, given_times
from ..utils.validation import as_points, as_series, as_times
from . import _partial_search, _sources
from ._chunks import Clock, SparseTimes, check_table, notice, times_at
from ._partial_search import first_of, run_part
from ._sources import ChunkedSource, n_samples

MOST = 2**22  # samples of a range, unless a chunk has more: enough that the scheduler's time for it does not count
EACH = 64  # ranges of an array that is not long: enough for many workers


def is_dask(X):
    """Return whether something is an array of dask, without importing dask."""
    array = sys.modules.get("dask.array")
    return array is not None and isinstance(X, array.Array)


def cut(chunks, lead):
    """Return half-open ranges of chunk numbers, one for each task.

    Each of several ranges holds at least two leads.
    """
    least = max(min(sum(chunks) // EACH, MOST), _partial_search.LEAST, 2 * lead)
    found, first, held = [], 0, 0
    for k, size in enumerate(chunks):
        held += size
        if held >= least:
            found.append((first, k + 1))
            first, held = k + 1, 0
    if held >= 2 * lead or not found:
        found.append((first, len(chunks)))
    found[-1] = found[-1][0], len(chunks)
    return found


def times_of_ranges(times, found):
    """Return the times of the samples at which the found ranges start and end; a dask array is read there alone."""
    if not is_dask(times):
        return None if times is None else given_times(times, "times")
    start, end = (np.concatenate([one[k] for one in found]) for k in range(2))
    n = n_samples(times)
    samples = np.unique(np.concatenate([start, end, end - 1, end - 2, [n - 2, n - 1]]))
    samples = samples[(samples >= 0) & (samples < n)]
    read = np.asarray(times[samples])
    return SparseTimes([*samples, n], times_at(read, np.arange(len(samples) + 1)))


class Work(NamedTuple):
    """Input that is common to all tasks of a call."""

    searcher: object
    clock: Clock
    searches: list
    whole: bool  # whether the whole profile is asked for
    lead: int  # samples before it that a part takes
    edges: np.ndarray  # where ranges begin, and the end of the recording


class Block(ChunkedSource):
    """Samples of a range and some before it, in the memory of the process that searches them."""

    notices = False

    def __init__(self, work, X, times, first):
        self.searcher, self._clock, self._n = work.searcher, work.clock, int(work.edges[-1])
        self._X, self._times, self.first, self.size = X, times, first, _sources.CHUNK

    def read(self, start, end):
        return super().read(start - self.first, end - self.first)

    def __len__(self):
        return self._n

    def extent(self, start):
        return self.first, self.first + len(self.X)


class Found(NamedTuple):
    """Parts that the samples of a range give, with copies of the samples that its borders need."""

    parts: list
    head: tuple  # the first samples and their times, or None
    tail: tuple  # the last ones


def search_range(work, first, begin, y, times, known=None):
    """Return the part of each search that the samples from `begin` on give; the samples held start at `first`.

    The limits of parts that are `known` hold for these too.
    """
    source = Block(work, y, times, first)
    parts = run_part(source, work.searches, begin, first + len(y), work.whole)
    for k, part in enumerate(parts):  # what can be decided here needs no samples in the client
        if known is not None:
            part.pool.lower(known[k].pool.limit)
        part.pool.decide(part.feed, source.reader(part.plan))
    return parts


def search_alone(y, times=None, *, work, block_id=None):
    """Return what a range gives: that of all but its first samples, or of all if it is the first range."""
    first, lead = int(work.edges[block_id[0]]), work.lead
    y = as_points(y, "X") if np.ma.isMaskedArray(y) else np.asarray(y)
    times = None if times is None else times.ravel()
    parts = search_range(work, first, first and first + lead, y, times)
    held = [(None, None) if a is None else (a[:lead].copy(), a[len(a) - lead :].copy()) for a in (y, times)]
    return Found(parts, *zip(*held, strict=True))


def search_border(work, at, before, behind):
    """Return the parts of the first samples of a range, and those of the rest of it."""
    held = zip(before.tail, behind.head, strict=True)
    y, times = (None if tail is None else np.concatenate([tail, head]) for tail, head in held)
    return search_range(work, at - work.lead, at, y, times, behind.parts), behind.parts


class DaskSource(ChunkedSource):
    """An array of dask, read by chunks where samples of it are asked for."""

    has_engine, notices = True, False

    def cuts(self, start, end):
        """Return the samples of several ranges, all computed in one go."""
        import dask

        found = dask.compute(*(self.X[s:e] for s, e in zip(start.tolist(), end.tolist(), strict=True)))
        return [as_series(np.asarray(y), "X", missing=True) for y in found]

    def times_of_found(self, found):
        """Return the times of the samples at which the found ranges start and end, or None."""
        return times_of_ranges(self.times, found)

    def parts(self, searches, verbose, name, whole):
        """Return the parts of the searches that the ranges of the array give."""
        import dask

        check_table(self.searcher, self.X)
        tasks = self._tasks(searches, whole)
        with progress(len(tasks), verbose, name, "part") as count, losses_explained(name):
            first, *others = dask.compute(*tasks)
            count(len(tasks))
        if self.timed and len(self) > 1:
            given = as_dates(self.times[: self.size])
            notice(self.searcher, None, given, as_times(given, len(given), "times"))
        return [first.parts, *(parts for two in others for parts in two)]

    def _tasks(self, searches, whole):
        import dask.array

        searcher, X = copy(self.searcher), self.X
        vars(searcher).pop("feature_names_in_", None)  # the parts are arrays, not tables; of that is warned once
        lead, edges = len(self) - first_of(searches, len(self)), np.cumsum([0, *X.chunks[0]])
        edges = np.array([0, *(edges[end] for _, end in cut(X.chunks[0], lead))])
        work = dask.delayed(Work(searcher, self._clock, searches, whole, lead, edges), traverse=False)
        sizes = tuple(np.diff(edges).tolist())
        held = [X.rechunk((sizes, *[-1] * (X.ndim - 1)))]
        if self.timed:
            times = self.times if is_dask(self.times) else dask.array.from_array(as_dates(self.times), name=False)
            times = times.rechunk((sizes,))
            held.append(times[:, np.newaxis] if X.ndim == 2 else times)
        one = (1,) * (X.ndim - 1)
        shape = {"chunks": ((1,) * len(sizes), *((k,) for k in one)), "meta": np.empty((0, *one), object)}
        found = dask.array.map_blocks(search_alone, *held, work=work, dtype=object, **shape).to_delayed().ravel()
        border = dask.delayed(search_border, pure=False)
        borders = zip(edges[1:-1].tolist(), pairwise(found), strict=True)
        return [found[0], *(border(work, at, *two) for at, two in borders)]

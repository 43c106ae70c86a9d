"""Sequences that are read by chunks and never whole: memory maps, zarr, h5py, dask, anything that can be sliced."""

import numpy as np

from ..utils.validation import as_series
from ._feed import Clock
from ._profile import check_room, choose
from ._query import keep_times
from ._results import Matches, Profile
from ._stream import Pieces, Stream, make_feed

CHUNK = 2**17  # samples read at a time, unless the sequence says how it is stored
IN_MEMORY = (np.ndarray, list, tuple, str, bytes, dict)


def is_long(X):
    """Whether a sequence can be sliced and is not in memory already."""
    if isinstance(X, np.memmap):
        return True
    if isinstance(X, IN_MEMORY) or not hasattr(X, "__getitem__") or hasattr(X, "iloc") or hasattr(X, "columns"):
        return False
    if hasattr(X, "tocsr"):  # sparse; the door refuses it
        return False
    return hasattr(X, "__len__") and len(getattr(X, "shape", (1,))) in (1, 2)


class Long:
    """A long sequence, read by chunks."""

    def __init__(self, searcher, X, times=None):
        self.searcher, self.X, self.times = searcher, X, times
        stored = getattr(X, "chunks", None)  # of zarr and h5py a number per axis, of dask the sizes of all
        size = stored[0] if stored else CHUNK
        size = int(max(size)) if np.ndim(size) else int(size)
        self.size = max(size, CHUNK // max(size, 1) * size)
        if searcher._mode == "windows":
            check_room(shortest(searcher), len(self))

    def __len__(self):
        return len(self.X)

    @property
    def sequence(self):
        """The whole of it, for plots."""
        return np.asarray(self.X[:])

    def read(self, start, end):
        """Samples [start, end) as an array, and their times as given."""
        times = None if self.times is None else np.asarray(self.times[start:end])
        return np.asarray(self.X[start:end]), times

    def checked(self):
        """All chunks in turn as kernels take them, and their times; a bar of progress if the searcher is verbose."""
        starts = range(0, len(self), self.size)
        if self.searcher.verbose:
            from tqdm.auto import tqdm

            starts = tqdm(starts, desc="search", unit="chunk")
        for start in starts:
            y, times = self.read(start, min(start + self.size, len(self)))
            try:
                y, _, times = self.searcher._door(y, times, keep=False)
            except ValueError as error:
                raise ValueError(f"In the chunk that begins at sample {start}: {error}") from None
            yield y, times


class _Read(Pieces):
    """Candidates of a long sequence, read again when they are asked for."""

    def __init__(self, long, clock):
        super().__init__(long.searcher)
        self.long, self.clock = long, clock

    @property
    def sequence(self):
        return self.long.sequence

    def read(self, start, end):
        first, last = max(start - self.reach, 0), min(end + self.reach, len(self.long))
        y, times = self.long.read(first, last)
        y = as_series(y, "X", missing=True)
        gaps = np.flatnonzero(np.isnan(y).any(axis=0)) if self.mode == "warped" else np.empty(0, int)
        low = int(max([g + 1 for g in gaps if g + first < start], default=0))
        high = int(min([g for g in gaps if g + first >= end], default=y.shape[1]))
        ty = None if times is None else self.clock(times)
        return first + low, np.ascontiguousarray(y[:, low:high]), None if ty is None else ty[low:high]


def search_long(searcher, X, times=None):
    """The matches of a sequence that is read by chunks; equal to those of the same sequence in memory."""
    long = Long(searcher, X, times)
    if searcher._limit is not None:
        stream = Stream(searcher)
        parts = [stream._take(*chunk) for chunk in long.checked()] + [stream.flush()]
        start, end, distance = (np.concatenate([getattr(p, a) for p in parts]) for a in ("start", "end", "distance"))
        pieces = _Read(long, stream._clock)
    else:
        profile, clock = _profile(searcher, long)
        pieces, rule = _Read(long, clock), (searcher.n_matches, None, searcher.max_overlap)
        start, end, _, distance = choose(pieces, profile.distance, profile.start, profile.end, profile._slack, *rule)
    order = np.argsort(distance, kind="stable")
    return Matches(start[order], end[order], distance[order], times=keep_times(times), _source=pieces)


def profile_long(searcher, X, times=None):
    """The profile of a sequence that is read by chunks."""
    return _profile(searcher, Long(searcher, X, times))[0]


def _profile(searcher, long):
    """The whole profile, and the clock of the sequence's times."""
    feed, clock, n = make_feed(searcher), Clock(searcher.metric_, searcher._tx), len(long)
    warped, m, slack = searcher._mode == "warped", shortest(searcher), 0.0
    distance = np.full(n if warped else n - m + 1, np.inf)
    start = np.full(n, -1, np.int64) if warped else None
    length = m if warped or searcher._lengths is None else np.full(len(distance), m)
    for y, times in long.checked():
        slack = max(slack, _put(feed.feed(y, clock(times)), distance, start, length))
        feed.forget(feed.seen)
    _put(feed.feed(np.empty((len(searcher._x), 0)), None, last=True), distance, start, length)
    return Profile(distance, start, None if warped else length, slack), clock


def shortest(searcher):
    """The length of the shortest window."""
    return searcher._x.shape[1] if searcher._lengths is None else int(searcher._lengths[0])


def _put(found, distance, start, length):
    if start is None:
        distance[found.start] = found.distance
        if np.ndim(length):
            length[found.start] = found.end - found.start
    else:
        distance[found.end - 1], start[found.end - 1] = found.distance, found.start
    return found.slack

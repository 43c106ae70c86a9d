"""Sequences that are read by chunks and never whole: memory maps, zarr, h5py, dask, anything that can be sliced."""

import numpy as np

from ..utils.validation import as_series
from ._chunks import Clock, chunk_at
from ._profile import ALONE, APART, check_room, choose
from ._query import keep_times
from ._results import Matches, Profile
from ._sources import CandidateReader
from ._stream import Stream, make_profile

CHUNK = 2**17  # samples read at a time, unless the sequence says how it is stored
IN_MEMORY = (np.ndarray, list, tuple, str, bytes, dict)


def is_long(X):
    """Whether a sequence can be sliced and is not in memory already."""
    if isinstance(X, np.memmap):
        return True
    if isinstance(X, IN_MEMORY) or not hasattr(X, "__getitem__") or hasattr(X, "iloc") or hasattr(X, "columns"):
        return False
    if hasattr(X, "tocsr"):  # sparse; validation refuses it
        return False
    return (hasattr(X, "__len__") or hasattr(X, "shape")) and len(getattr(X, "shape", (1,))) in (1, 2)


def n_samples(X):
    """How long a sequence is; arrays of zarr have a shape and no len."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


class ChunkedSequence:
    """A long sequence, read by chunks."""

    def __init__(self, searchers, X, times=None):
        self.searcher, self.X, self.times = searchers[0], X, times
        stored = getattr(X, "chunks", None)  # of zarr and h5py a number per axis, of dask the sizes of all
        size = stored[0] if stored else CHUNK
        size = int(max(size)) if np.ndim(size) else int(size)
        self.size = max(size, CHUNK // max(size, 1) * size)
        for searcher in searchers:
            if searcher._mode == "windows":
                check_room(shortest(searcher), len(self))

    def __len__(self):
        return n_samples(self.X)

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
            with chunk_at(start):
                y, _, times = self.searcher._checked(y, times, keep=False)
            yield y, times


class _Read(CandidateReader):
    """Candidates of a long sequence, read again when they are asked for."""

    def __init__(self, searcher, long, clock):
        super().__init__(searcher._how)
        self.long, self.clock = long, clock
        self.apart = APART if self.mode == "windows" and self.how.lengths is None else ALONE

    @property
    def sequence(self):
        return self.long.sequence

    def extent(self, start):
        return 0, len(self.long)

    def cut(self, start, end):
        y, times = self.long.read(start, end)
        return as_series(y, "X", missing=True), None if times is None else self.clock(times)


class _ByThreshold:
    """Matches below a threshold: those of a stream."""

    def __init__(self, searcher, long):
        self.long, self.stream, self.parts = long, Stream(searcher), []

    def take(self, y, times):
        self.parts.append(self.stream._take(y, self.stream._entrance.take(times)))

    def end(self):
        parts = [*self.parts, self.stream.flush()]
        start, end, distance = (np.concatenate([getattr(p, a) for p in parts]) for a in ("start", "end", "distance"))
        return start, end, distance, _Read(self.stream._searcher, self.long, self.stream._entrance.clock)


class _ByProfile:
    """The whole profile, or as much of it as a rule needs, and the best of it."""

    def __init__(self, searcher, long, rule=None):
        self.searcher, self.long = searcher, long
        self.feed, self.clock = make_profile(searcher, rule), Clock(searcher.metric_, searcher._tx)
        subsequence, m, n = searcher._mode == "subsequence", shortest(searcher), len(long)
        self.slack, self.distance = 0.0, np.full(n if subsequence else n - m + 1, np.inf)
        self.start = np.full(n, -1, np.int64) if subsequence else None
        self.length = m if subsequence or searcher._lengths is None else np.full(len(self.distance), m)

    def take(self, y, times):
        self._put(self.feed.feed(y, self.clock(times)))
        self.feed.forget(self.feed.seen)

    def _put(self, found):
        self.slack = max(self.slack, found.slack)
        if self.start is not None:
            self.distance[found.end - 1], self.start[found.end - 1] = found.distance, found.start
            return
        self.distance[found.start] = found.distance
        if np.ndim(self.length):
            self.length[found.start] = found.end - found.start

    def profile(self):
        self._put(self.feed.candidates(last=True))
        return Profile(self.distance, self.start, None if self.start is not None else self.length, self.slack)

    def end(self):
        searcher, profile = self.searcher, self.profile()
        pieces, rule = _Read(searcher, self.long, self.clock), (searcher.n_matches, None, searcher.max_overlap)
        start, end, _, distance = choose(
            pieces, profile.distance, *profile._edges, profile._slack, *rule, searcher.percentile
        )
        return start, end, distance, pieces


def _read_once(searchers, kind, X, times):
    """A run of each searcher over a sequence, which is read once for all of them."""
    long = ChunkedSequence(searchers, X, times)
    runs = [kind(searcher, long) for searcher in searchers]
    for chunk in long.checked():
        for run in runs:
            run.take(*chunk)
    return runs


def search_long(searchers, X, times=None):
    """The matches of each searcher in a sequence that is read by chunks: those of the same sequence in memory."""

    def kind(searcher, long):
        if searcher._limit is not None:
            return _ByThreshold(searcher, long)
        return _ByProfile(searcher, long, searcher._rule)

    found = []
    for run in _read_once(searchers, kind, X, times):
        start, end, distance, pieces = run.end()
        order = np.argsort(distance, kind="stable")
        found.append(Matches(start[order], end[order], distance[order], times=keep_times(times), _source=pieces))
    return found


def profile_long(searchers, X, times=None):
    """The profile of each searcher of a sequence that is read by chunks."""
    return [run.profile() for run in _read_once(searchers, _ByProfile, X, times)]


def shortest(searcher):
    """The length of the shortest window."""
    return searcher._x.shape[1] if searcher._lengths is None else int(searcher._lengths[0])

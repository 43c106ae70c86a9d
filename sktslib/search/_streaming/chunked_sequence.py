"""Sequences that are read by chunks and never whole: memory maps, zarr, h5py, dask, anything that can be sliced."""

import numpy as np

from ...utils._given_times import given_times
from ...utils._jobs import progress
from ...utils.validation import as_series
from .._comparison import check_room
from .._profile import Choice, choose
from .._selection import Profile
from .._several import Found
from .._sources import CandidateReader
from .chunks import Entrance
from .stream import PendingMatches, found_in, make_profile

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
    """A long sequence, read by chunks, and again where samples of it are asked for."""

    def __init__(self, searcher, X, times):
        self.X, self.entrance, self.verbose = X, Entrance(searcher), searcher.verbose
        self.times = times if times is None or is_long(times) else given_times(times, "times")
        stored = getattr(X, "chunks", None)  # of zarr and h5py a number per axis, of dask the sizes of all
        size = stored[0] if stored else CHUNK
        size = int(max(size)) if np.ndim(size) else int(size)
        self.size = max(size, CHUNK // max(size, 1) * size)

    def __len__(self):
        return n_samples(self.X)

    @property
    def sequence(self):
        """The whole of it, for plots."""
        return np.asarray(self.X[:])

    def read(self, start, end):
        """Samples [start, end) as an array, and their times as given."""
        return np.asarray(self.X[start:end]), None if self.times is None else self.times[start:end]

    def extent(self, start):
        return 0, len(self)

    def cut(self, start, end):
        y, times = self.read(start, end)
        return as_series(y, "X", missing=True), None if times is None else self.entrance.clock(times)

    def chunks(self):
        """What the entrance makes of each chunk in turn; a bar of progress if the searcher is verbose."""
        starts = range(0, len(self), self.size)
        with progress(len(starts), self.verbose, "search", "chunk") as count:
            for start in starts:
                yield self.entrance(*self.read(start, min(start + self.size, len(self))))
                if self.entrance.times is not None:
                    self.entrance.times.forget(self.entrance.seen - 1)  # the next one must be later than the last
                count()


class _ByThreshold:
    """Matches below a threshold: those of a stream."""

    def __init__(self, how, choice, long):
        self.how, self.long, self.pending, self.rows = how, long, PendingMatches(how, choice), []

    def take(self, y, ty, gaps):
        self.rows += self.pending.take(y, ty, gaps)

    def found(self):
        return found_in(self.rows + self.pending.decide(last=True), CandidateReader(self.how, self.long))


class _ByProfile:
    """The whole profile, or as much of it as a choice needs, and the best of it."""

    def __init__(self, how, choice, long):
        self.how, self.choice, self.long, self.feed = how, choice, long, make_profile(how, choice.rule)
        n, m, subsequence = len(long), how.shortest, how.mode == "subsequence"
        self.slack, self.distance = 0.0, np.full(n if subsequence else n - m + 1, np.inf)
        self.start = np.full(n, -1, np.int64) if subsequence else None
        self.length = m if subsequence or how.lengths is None else np.full(len(self.distance), m)

    def take(self, y, ty, gaps):
        self.feed.append(y, ty)
        self._put(self.feed.candidates())
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

    def found(self):
        reader = CandidateReader(self.how, self.long)
        start, end, _, distance = choose(reader, self.profile()._candidates, self.choice)
        return Found(start, end, distance, reader)


def _read_once(searcher, searches, X, times):
    """A run of each search, how and choice, over a sequence that is read once for all of them.

    What runs have `found` is what they would in the same sequence in memory.
    """
    long = ChunkedSequence(searcher, X, times)
    if times is None:
        searches = [(how.untimed, choice) for how, choice in searches]
    for how, _ in searches:
        if how.mode == "windows":
            check_room(how.shortest, len(long))
    runs = [(_ByProfile if choice.threshold is None else _ByThreshold)(how, choice, long) for how, choice in searches]
    for chunk in long.chunks():
        for run in runs:
            run.take(*chunk)
    return runs


def search_long(searcher, searches, X, times):
    """What each search finds in a sequence that is read by chunks."""
    return [run.found() for run in _read_once(searcher, searches, X, times)]


def profile_long(searcher, queries, X, times):
    """The profile of each query over a sequence that is read by chunks."""
    searches = [(how, Choice()) for how in queries]
    return [run.profile() for run in _read_once(searcher, searches, X, times)]

"""Sequences that are read by chunks and never whole: memory maps, zarr, h5py, dask, anything that can be sliced."""

import numpy as np

from ...utils._given_times import EvenTimes, Sampling, as_dates, given_times, index_of, index_times
from ...utils._stored import is_stored, n_samples, opened, rows_of_chunk, stored
from ...utils.validation import as_series, check_one_time_per_point
from .._sources import CandidateReader, Source, Whole
from .chunks import Clock, Entrance

CHUNK = 2**19  # samples read at a time, unless the sequence says how it is stored: few, so that threads wait less
# A sequence in memory is searched by chunks where its profile would take 64 MB or more: below, the whole profile is as
# fast. And where the best matches, of a query's length each, are so small a share of it that few candidates wait.
LONG = 2**22
RARE = 32


def is_long(X):
    """Whether a sequence can be sliced and is not in memory already."""
    # A memory map of more dimensions is refused as it is read.
    return is_stored(X) and (isinstance(X, np.memmap) or len(getattr(X, "shape", (1,))) in (1, 2))


class ChunkedSequence(Source):
    """A long sequence, read by chunks, and again where samples of it are asked for."""

    in_memory = False
    has_engine = False  # whether its `parts` are another one's work
    notices = True  # whether the times of its first chunk are looked at for uneven steps

    def __init__(self, searcher, X, times):
        n, shape = n_samples(X), getattr(X, "shape", ())
        if len(shape) == 2:
            searcher._refuse_channels(shape)
        self._X, self.searcher = X, searcher
        times = index_times(index_of(X)) if times is None else times
        if isinstance(times, Sampling):
            times = EvenTimes(times, n)
        self._times = times if times is None or is_long(times) else given_times(times, "times")
        if times is not None:
            check_one_time_per_point((n_samples(self._times),), n, "times")
        self._clock = Clock(searcher._queries)
        if times is not None and n:
            self._clock.begin(as_dates(self.times[:1]))
        together = rows_of_chunk(X)
        size = together or CHUNK
        self.size = max(size, CHUNK // size * size)
        self.piece = together or 1  # parts of a search begin at multiples of it

    def __len__(self):
        return n_samples(self.X)

    def __getstate__(self):
        return {**vars(self), "_X": stored(self._X), "_times": stored(self._times)}

    # Another process opens what lies in files when it reads it: an error then is the caller's, while one that hinders
    # it from knowing its work at all would end it.
    @property
    def X(self):
        """The sequence as it was given."""
        self._X = opened(self._X)
        return self._X

    @property
    def times(self):
        """Its times as they were given, or None."""
        self._times = opened(self._times)
        return self._times

    @property
    def sequence(self):
        """The whole of it, for plots."""
        return np.asarray(self.X[:])

    def read(self, start, end):
        """Samples [start, end) as an array, and their times as given."""
        return np.asarray(self.X[start:end]), None if self.times is None else self.times[start:end]

    def extent(self, start):
        return 0, len(self)

    def sample(self, count):
        """Evenly spaced samples (channels, k): all, or at least so many."""
        step = max(len(self) // count, 1)
        return as_series(np.asarray(self.X[::step]), "X", missing=self.searcher.nan_policy == "omit")

    def cut(self, start, end):
        y, times = self.read(start, end)
        return as_series(y, "X", missing=True), None if times is None else self._clock(times)

    @property
    def timed(self):
        """Whether it has times."""
        return self.times is not None

    def goes_by_chunks(self, how, choice):
        """Whether one job searches it by chunks, not by its whole profile."""
        return True

    def times_of_found(self, found):
        """Times of what was found, or None."""
        return None if self.times is None else given_times(self.times, "times")

    def reader(self, how):
        return CandidateReader(how, self)

    def chunks(self, first, end):
        """What the entrance makes of each chunk of [first, end) in turn; they end at multiples of their size."""
        entrance = Entrance(self.searcher, self._clock, first, notices=self.notices)
        for start in range(first - first % self.size, end, self.size):
            yield entrance(*self.read(max(start, first), min(start + self.size, end)))
            if entrance.times is not None:
                entrance.times.forget(entrance.seen - 1)  # the next one must be later than the last


class HeldSequence(Whole):
    """A sequence in memory, and its times as kernels count them and as they were given; it can be read by chunks."""

    in_memory, has_engine = True, False
    piece = 1  # parts may begin anywhere

    def __init__(self, y, ty, times, is_borrowed):
        super().__init__(y, ty)
        self.times, self.is_borrowed = times, is_borrowed

    def own(self):
        """Take a copy of samples that are the caller's."""
        if self.is_borrowed:
            self.y, self.is_borrowed = self.y.copy(), False

    @property
    def size(self):
        """Samples of a chunk."""
        return CHUNK

    @property
    def timed(self):
        """Whether it has times."""
        return self.ty is not None

    def __len__(self):
        return self.y.shape[1]

    def goes_by_chunks(self, how, choice):
        """Whether one job searches it by chunks, not by its whole profile: for the best few subsequences of many."""
        n, few = len(self), choice.percentile is None and choice.n_matches is not None
        return how.mode == "subsequence" and few and n >= max(LONG, RARE * choice.n_matches * how.m)

    def times_of_found(self, found):
        """Times of what was found, or None."""
        return self.times

    def reader(self, how):
        return CandidateReader(how, self)

    def chunks(self, first, end):
        """Samples and times of each chunk of [first, end) in turn."""
        for start in range(first, end, CHUNK):
            part = slice(start, min(start + CHUNK, end))
            yield self.y[:, part], None if self.ty is None else self.ty[part], False

"""Sources of samples for results: distances, alignments and explanations of ranges, from as few samples as possible.

Sequences may be read by chunks and never as a whole: memory maps, zarr, h5py, dask, and anything that can be sliced.
"""

from bisect import bisect_right
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from ..distances._kernels.compile import stop_if_unwanted
from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.lockstep import LockstepMetric
from ..distances._series import places, resample
from ..utils._conversion import is_stored, n_samples, opened, rows_of_chunk, stored
from ..utils._times import EvenTimes, Sampling, as_dates, given_times, index_of, index_times
from ..utils.validation import as_points, as_series, check_one_time_per_point, refused
from ._channels import Shares
from ._chunks import Clock, Entrance, one_each, refuse_channels
from ._limits import beside, blocks, limited
from ._plan import QueryPlan
from ._profile import MOST_TERMS, Search, neighbors

APART = 64  # windows whose starts differ by more samples are not computed in one profile, but as copies if few
FEW = 16  # largest number of neighboring windows that are computed from copies
COPIED = 2**15  # points of windows that are copied at a time


@dataclass(frozen=True, eq=False)
class CandidateReader:
    """Reader of exact distances, paths and costs of ranges of a sequence, each from the samples that it depends on.

    The source of the samples has three methods or attributes: `extent` (the samples available around a given one),
    `cut` (samples and times of a range, in memory that may be reused), and `sequence`, if it is held as a whole.
    """

    plan: QueryPlan
    source: object

    def read(self, start, end):
        """Return the first sample, the samples (channels, n) and the times of [start, end) and what it depends on."""
        (low, high), reach = self.source.extent(start), self.plan.reach
        first, last = max(start - reach, low), min(end + reach, high)
        y, ty = self.source.cut(first, last)
        if reach and self.plan.mode == "subsequence":  # features do not reach across a missing value or a time gap
            pieces = self.plan.runs(y, ty)
            part = slice(*pieces[np.searchsorted(pieces[:, 0], start - first, "right") - 1])
            first, y, ty = first + int(part.start), np.ascontiguousarray(y[:, part]), None if ty is None else ty[part]
        return first, y, ty

    def search(self, start, end, version=0):
        """Return the search for a version of the query in the samples that [start, end) depends on.

        It can compute the path and the explanation of the range.
        """
        return self._search(version, *self.read(start, end), end - start)

    def _search(self, version, first, y, ty, length):
        plan = self.plan.version(version)
        return Search(plan if plan.lengths is None else plan._replace(lengths=np.array([length])), y, ty, first)

    def distances(self, start, end):
        """Return the exact distances of candidates to the nearest version of the query."""
        return self._by_version(start, end).min(axis=0)

    def versions(self, start, end):
        """Return the version of the query that each range is nearest to (ties: the first)."""
        plan, out = self.plan, np.zeros(len(start), np.int64)
        if not (plan.alternatives and len(out)):
            return out
        left = np.ones(len(start), bool)
        if self._has_plain_windows and isinstance(plan.metric, ElasticMetric):
            for some, distances in self._of_copies(np.arange(len(start)), start, end, MOST_TERMS):
                out[some], left[some] = distances.argmin(axis=0), False
        out[left] = self._by_version(start[left], end[left]).argmin(axis=0)
        return out

    def centered(self, start, end, version):
        """Return ranges moved such that lags of channels are as given, where this does not change the distance.

        With a tolerance of lags, neighboring ranges have the same distance by other lags; the best one at the given
        lags is returned.
        """
        if self.plan.by_channel is None or not self.plan.by_channel.tolerance:
            return start, end
        ranges = zip(start.tolist(), end.tolist(), version.tolist(), strict=True)
        later = np.array([self.search(s, e, v).centered(s) for s, e, v in ranges], np.int64)
        return later, end + (later - start)

    @property
    def _has_plain_windows(self):
        """Whether candidates are windows of the query's length with all channels compared together."""
        return self.plan.mode == "windows" and self.plan.lengths is None and self.plan.by_channel is None

    def _of_copies(self, which, start, end, terms):
        """Yield indices of some of the ranges `which` at a time, and the distances (versions, n) of copies of them.

        Each time about `terms` points are copied. Ranges with missing values are left out.
        """
        plan = self.plan
        for part in np.array_split(which, min(-(-len(which) * plan.x.size // terms), len(which))):
            stop_if_unwanted()
            windows, times = np.empty((len(part), *plan.x.shape)), np.empty((len(part), plan.m))
            for k, (s, e) in enumerate(zip(start[part].tolist(), end[part].tolist(), strict=True)):
                _, windows[k], ty = self.read(s, e)
                ty = plan.compared(ty)
                if ty is not None:
                    times[k] = ty - ty[0]
            seen = ~np.isnan(windows).any(axis=(1, 2))
            rest = windows[seen], None if ty is None else times[seen]
            if seen.any():
                yield part[seen], np.array([limited(one, *rest) for one in plan.versions])

    def _by_version(self, start, end):
        """Return the exact distances (versions, n) of candidates; neighboring windows are computed together."""
        plan, out = self.plan, np.empty((self.plan.n_versions, len(start)))
        apart = APART if plan.mode == "windows" and plan.lengths is None else -1  # -1: each one alone
        groups = list(neighbors(start, plan.m, apart))
        plain = self._has_plain_windows and plan.max_gap is None and isinstance(plan.metric, LockstepMetric)
        if plain and plan.metric._compares_copies(plan.normalize):
            few = [which for which in groups if len(which) <= FEW]
            if len(few) > 1:
                done = np.zeros(len(start), bool)
                for some, distances in self._of_copies(np.concatenate(few), start, end, COPIED):
                    out[:, some], done[some] = distances, True
                groups = [which for which in groups if not done[which].all()]
        for which in groups:
            first, last = int(start[which[0]]), int(end[which[-1]])
            stretch = self.read(first, last)
            for row, k in zip(out, range(self.plan.n_versions), strict=True):
                row[which] = self._search(k, *stretch, last - first).distances(start[which], end[which])
        return out


class Source:
    """Base class of sources from which ranges of samples are cut."""

    in_memory = has_engine = False  # has_engine: whether another scheduler runs its `parts`
    sequence = None

    def cuts(self, start, end):
        """Yield the samples (channels, n) of each range, in memory that the next range may reuse."""
        return (self.cut(int(s), int(e))[0] for s, e in zip(start, end, strict=True))


def owned(y, X):
    """Return the array `y` made from `X`; a copy, if the caller could change its memory."""
    is_borrowed = np.may_share_memory(y, X) if isinstance(X, np.ndarray) else hasattr(X, "__array__")
    return y.copy() if is_borrowed else y


@dataclass(eq=False)
class ArraySource(Source):
    """Source of a sequence in memory, with its times as kernels count them and as given."""

    y: np.ndarray
    ty: np.ndarray | None = None
    times: object = None
    in_memory, first = True, 0
    piece = 1  # parts may start at any sample

    def __len__(self):
        return self.y.shape[1]

    seen = property(__len__, doc="The number of samples.")

    @property
    def sequence(self):
        return self.y[0] if len(self.y) == 1 else self.y.T

    size = property(lambda self: CHUNK, doc="The number of samples of a chunk.")

    @property
    def timed(self):
        """Whether the sequence has times."""
        return self.ty is not None

    def runs(self, plan, begin=0):
        """Return the ranges without a missing value and without a time gap.

        Missing values count even if the plan excludes them, because learning marks unlabeled samples as missing.
        """
        return plan.runs(self.y, self.ty)

    def chunks(self, first, end):
        """Yield samples and times of each chunk of [first, end)."""
        for start in range(first, end, CHUNK):
            part = slice(start, min(start + CHUNK, end))
            yield self.y[:, part], None if self.ty is None else self.ty[part], False

    def extent(self, start):
        return 0, self.y.shape[1]

    def sample(self, count):
        """Return evenly spaced samples (channels, k): at least `count`, or all."""
        return self.y[:, :: max(self.y.shape[1] // count, 1)]

    def cut(self, start, end):
        part = slice(start, end)
        return np.ascontiguousarray(self.y[:, part]), None if self.ty is None else self.ty[part]


class HeldRanges(Source):
    """Source of stored pieces of a sequence that is otherwise gone; adjacent and overlapping pieces are joined."""

    def __init__(self, pieces):
        """Join pieces, each a tuple (first sample, samples, times)."""
        self.first, parts, end = [], [], 0
        for first, y, ty in sorted(pieces, key=lambda piece: piece[0]):
            if not parts or first > end:
                self.first.append(first)
                parts.append([])
                end = first
            if first + y.shape[1] > end or not parts[-1]:
                parts[-1].append((y[:, end - first :], None if ty is None else ty[end - first :]))
                end = first + y.shape[1]
        self.y = [np.concatenate([y for y, _ in some], axis=1) for some in parts]
        self.ty = [None if some[0][1] is None else np.concatenate([ty for _, ty in some]) for some in parts]

    def extent(self, start):
        k = bisect_right(self.first, start) - 1
        return (self.first[k], self.first[k] + self.y[k].shape[1]) if self.first else (0, 0)

    def cut(self, start, end):
        k = bisect_right(self.first, start) - 1
        part = slice(start - self.first[k], end - self.first[k])
        return np.ascontiguousarray(self.y[k][:, part]), None if self.ty[k] is None else self.ty[k][part]

    def chunks(self, first, end):
        """Refuse to read on where parts do not agree."""
        raise ValueError(
            "The 'sequence' parameter of merge_parts must be given where parts do not agree: the one that starts at "
            f"or before sample {first} must be continued to sample {end} at least. Got None. Pass the recording, or "
            "feed this part the samples up to the end of the next part, and leave that one out."
        )


class MatchOrigins:
    """Readers for the ranges found: one for each query in each sequence."""

    def __init__(self, readers, which, sequences=None, version=None, names=None):
        self.readers = tuple(readers)
        self.which = which.astype(np.min_scalar_type(len(readers)))  # reader of each range; a small type for pickles
        self.sequences = sequences or [0] * len(readers)  # index of each reader's sequence
        self.names = names  # of all queries, including those that found nothing; None without names
        most = max((1 + len(one.plan.alternatives) for one in readers), default=1)
        version = np.zeros(len(which)) if version is None else version  # version of the query nearest to each range
        self.version = version.astype(np.min_scalar_type(most))

    @property
    def sequence(self):
        return self.readers[0].source.sequence

    @property
    def max_gap(self):
        """Largest time step that does not count as a gap, as kernels count times; None without such a limit."""
        return self.readers[0].plan.max_gap if self.readers else None

    def search(self, k, start, end):
        """Return the search of the k-th range with its query."""
        return self.readers[self.which[k]].search(int(start), int(end), int(self.version[k]))

    def shares(self, start, end):
        """Return the `Shares` of channels in the distances of ranges."""
        out = Shares.empty(len(start), self.readers[0].plan.by_channel)
        # One by one, because the samples between two ranges may not be held.
        for k, (s, e) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
            for column, values in zip(out, self.search(k, s, e).shares(start[k : k + 1]), strict=True):
                column[k] = values[0]
        return out

    @property
    def signs(self):
        """Sign of the query for each range, or signs of its channels; None if all are as given."""
        signs = self.readers[0].plan.signs if self.readers else None
        if signs is None:
            return None
        out = np.empty((len(self.which), *signs.shape[1:]), np.int64)
        for k, reader in enumerate(self.readers):
            out[self.which == k] = reader.plan.signs_of(self.version[self.which == k])
        return out

    def beside(self, start, end):
        """Return scale and offset (2, k, channels) of ranges relative to their queries, or None if not normalized.

        Each range is compared with its nearest version of the query.
        """
        plan = self.readers[0].plan if self.readers else None
        if plan is None or (plan.normalize is None and plan.scale_limits is None):
            return None
        if plan.by_channel is not None:
            return self._beside_channels(start, end)
        alike = np.array([self.which, self.version, end - start])
        out = np.full((2, len(self.which), len(plan.x)), np.nan)
        for kind in np.unique(alike, axis=1).T:
            reader = self.readers[kind[0]]
            for which in blocks(np.flatnonzero((alike == kind[:, np.newaxis]).all(axis=0)), kind[2] * len(plan.x)):
                windows = np.array([np.array(y) for y in reader.source.cuts(start[which], end[which])])
                out[:, which] = beside(reader.plan.version(kind[1]), windows)
        return out

    def _beside_channels(self, start, end):
        """Return scale and offset as `beside` does, for the windows of channels that are compared alone.

        The windows have the lags and signs that were found. Channels that do not take part have NaN.
        """
        out = np.full((2, len(start), len(self.readers[0].plan.x)), np.nan)
        for k, (s, e) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
            for part, own, at, *_ in self.search(k, s, e).channel_windows(s):
                window = own.y[np.newaxis, :, at - own.first : at - own.first + own.plan.m]
                out[:, k, part.channel] = beside(own.plan, window)[:, 0, 0]
        return out

    def piece(self, start, end, k):
        """Return the samples (channels, n) of the k-th range, and their times."""
        y, ty = self.readers[self.which[k]].source.cut(int(start), int(end))
        return y.copy(), ty

    def compared(self, ranges, *, costs=False):
        """Return the distance (k, n_queries) of the best candidate of each query in each range.

        With `costs` it is the cost of the whole range. Up to half of a window may be outside of the range. The distance
        is NaN if the samples are not held.
        """
        out = np.full((len(ranges), len(self.readers)), np.nan)
        for q, reader in enumerate(self.readers):
            plan = reader.plan
            windows = plan.mode == "windows"
            for k, (start, end) in enumerate(np.asarray(ranges).tolist()):
                low, high = reader.source.extent(start)
                if not low <= start < end <= high or (costs and windows):
                    continue
                if windows:
                    start, end = max(start - plan.shortest // 2, low), min(end + plan.shortest // 2, high)
                if windows and end - start < plan.shortest:
                    continue
                whole = costs or plan.by_channel is not None  # then with samples next to the range
                first, y, ty = reader.read(start, end) if whole else (start, *reader.source.cut(start, end))
                search = Search(plan, y, ty, first)
                if plan.by_channel is not None:
                    starts = np.arange(start, end - plan.m + 1)
                    out[k, q] = reader.distances(starts, starts + plan.m).min()
                elif not costs:
                    out[k, q] = search.nearest()
                elif len(search.runs) == 1:
                    out[k, q] = search.cost(start, end)
        return out

    def of(self, rows):
        """Return the origins of selected ranges."""
        return MatchOrigins(self.readers, self.which[rows], self.sequences, self.version[rows], self.names)

    def alone(self, sequence):
        """Return the origins of ranges that are all in one of several sequences."""
        own = [k for k, s in enumerate(self.sequences) if s == sequence]
        which = np.searchsorted(own, self.which)
        return MatchOrigins([self.readers[k] for k in own], which, version=self.version, names=self.names)

    def cut(self, ranges, sequence, length, *, listed):
        """Return the samples of each range, or those at the same position in another `sequence`.

        With `listed`, `sequence` is a list with an entry for each sequence.
        """
        own = [self.sequences[k] for k in self.which]
        if sequence is None:
            every = (self.piece(*one, k)[0] for k, one in enumerate(ranges))
            pieces = [y[0] if len(y) == 1 else y.T for y in every]
            return pieces if length is None else stacked(pieces, length, len(self.readers[0].plan.x))
        named = {own[0] if own and not listed else 0: ("sequence", sequence)}
        if listed:
            each = one_each(sequence, max(self.sequences) + 1, "sequence", "sequences that were searched")
            named = {k: (f"sequence[{k}]", one) for k, one in enumerate(each)}
        pieces = [part_of(*named[k], int(s), int(e)) for k, (s, e) in zip(own, ranges, strict=True)]
        if length is None:
            return pieces
        few = part_of(*named[0], 0, 1)  # gives the number of channels if there is no range
        return stacked(pieces, length, 1 if few.ndim == 1 else few.shape[1])

    def kept(self, start, end):
        """Return origins that hold only the samples that the ranges depend on.

        Ranges of one sequence share their samples.
        """
        pieces = {sequence: [] for sequence in self.sequences}
        for k, s, e in zip(self.which.tolist(), start.tolist(), end.tolist(), strict=True):
            pieces[self.sequences[k]].append(self.readers[k].read(s, e))
        held = {sequence: HeldRanges(some) for sequence, some in pieces.items()}
        readers = [CandidateReader(one.plan, held[s]) for one, s in zip(self.readers, self.sequences, strict=True)]
        return MatchOrigins(readers, self.which, self.sequences, self.version, self.names)

    def query(self, number):
        """Return the index of a query after a check; each reader belongs to another query."""
        count = len(self.readers)
        if number is None and count == 1:
            return 0
        if number is None or not isinstance(number, Integral) or not 0 <= number < count:
            rule = f"be the number of a query, from 0 to {count - 1}, as in 'query' of the segments, not a label"
            raise refused("query", rule, repr(number), "Repetitions of several queries have time bases of their own.")
        return number


# --------------------------------------------------------------------------------------------------- cutting out ranges
def part_of(name, sequence, start, end):
    """Return a copy of the samples [start, end) of a sequence, without reading others."""
    sized = hasattr(sequence, "shape") or hasattr(sequence, "__len__")
    if not sized or not hasattr(sequence, "__getitem__") or isinstance(sequence, dict | str | bytes):
        as_points(sequence, name)  # raises an error that says what it must be
    n = next(iter(sequence.shape), 0) if hasattr(sequence, "shape") else len(sequence)
    if n < end:
        rule, got = "have a sample for each one that was searched", f"{n} samples, and a range ends at {end}"
        out = "Pass the sequence that was searched, or what was recorded with it at the same rate."
        raise refused(repr(name), rule, got, out)
    rows = getattr(sequence, "iloc", sequence)  # plain slices of a table may use labels
    return np.array(as_points(rows[start:end], name))


def stacked(pieces, length, channels):
    """Return pieces resampled to one length, as an array (k, length, channels)."""
    whole, pieces = [piece.reshape(len(piece), -1).T for piece in pieces], []
    for piece in whole:
        (left, share), out = places(piece.shape[1], length), resample(piece, length)
        out[:, share == 0] = piece[:, left[share == 0]]  # at a sample its own value, even if the next one is missing
        pieces.append(out.T)
    counts = sorted({piece.shape[1] for piece in pieces})
    if len(counts) > 1:
        rule = "have the same number of channels, because the pieces form one array"
        got, out = counts, "Select the same columns of each, or leave 'length' out."
        raise refused("With 'length' all sequences", rule, got, out)
    return np.array(pieces) if pieces else np.empty((0, length, channels))


CHUNK = 2**19  # samples read at a time, unless the sequence has chunks of its own; small, so that threads wait less
VALUES = 2**21  # most values of all channels read at a time


def is_long(X):
    """Return whether a sequence can be sliced and is not in memory."""
    # A memory map of more dimensions is refused when it is read.
    return is_stored(X) and (isinstance(X, np.memmap) or len(getattr(X, "shape", (1,))) in (1, 2))


class ChunkedSource(Source):
    """Source of a long sequence that is read by chunks, and again where samples are needed later."""

    notices = True  # whether the times of the first chunk are checked for uneven steps

    def __init__(self, searcher, X, times):
        n, shape = n_samples(X), getattr(X, "shape", ())
        if len(shape) == 2:
            refuse_channels(searcher, shape)
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
        channels = shape[1] if len(shape) == 2 else 1
        most = min(CHUNK, -(-VALUES // max(channels, 1)))
        size = together or most
        self.size = max(size, most // size * size)
        self.piece = together or 1  # parts of a search start at multiples of it

    def __len__(self):
        return n_samples(self.X)

    def __getstate__(self):
        return {**vars(self), "_X": stored(self._X), "_times": stored(self._times)}

    # Another process opens files only when it reads them, so that the caller gets an error; an error while unpickling
    # the task would end the process.
    @property
    def X(self):
        """The sequence as given."""
        self._X = opened(self._X)
        return self._X

    @property
    def times(self):
        """The times of the sequence as given, or None."""
        self._times = opened(self._times)
        return self._times

    @property
    def sequence(self):
        """The whole sequence as an array, for plots."""
        return np.asarray(self.X[:])

    def read(self, start, end):
        """Return the samples [start, end) as an array, and their times as given."""
        y, times = self.X[start:end], None if self.times is None else self.times[start:end]
        return y if hasattr(self.X, "channel_names") else np.asarray(y), times

    def extent(self, start):
        return 0, len(self)

    def sample(self, count):
        """Return evenly spaced samples (channels, k): at least `count`, or all."""
        step = max(len(self) // count, 1)
        return as_series(np.asarray(self.X[::step]), "X", missing=self.searcher.nan_policy == "omit")

    def cut(self, start, end):
        y, times = self.read(start, end)
        return as_series(y, "X", missing=True), None if times is None else self._clock(times)

    @property
    def timed(self):
        """Whether the sequence has times."""
        return self.times is not None

    def chunks(self, first, end):
        """Yield the validated chunks of [first, end); chunks end at multiples of their size."""
        entrance = Entrance(self.searcher, self._clock, first, notices=self.notices)
        for start in range(first - first % self.size, end, self.size):
            yield entrance(*self.read(max(start, first), min(start + self.size, end)))
            if entrance.times is not None:
                entrance.times.forget(entrance.seen - 1)  # keep the last one, because the next must be later

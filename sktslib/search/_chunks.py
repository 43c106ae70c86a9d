"""Buffers that grow at one end and forget at the other, for samples, costs and times; and the chunks of a stream.

Sequences and chunks are validated here for both estimators, whose streams share a base class.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC
from typing import Any

import numpy as np

from ..io._objects import unwrapped
from ..utils import validation
from ..utils._sampling import check_gap, holes, notice_sampling, numbers_of
from ..utils._sklearn import check_columns, warn_of_names
from ..utils._times import Sampling, Times, as_dates, is_datetime, name_of, notice_index, times_of

ROOM = 64  # smallest number of entries that a buffer has room for


class Buffer:
    """Last entries of an array that grows along its first axis, with spare room so that entries are rarely moved.

    Attributes
    ----------
    first, end : int
        Half-open range of the entries that are held, counted from the first entry ever appended.
    """

    def __init__(self, shape=(), dtype=np.float64, first=0):
        self._array = np.empty((ROOM, *shape), dtype)
        self.first = self.end = self._offset = first  # entry k is at k - offset

    @classmethod
    def of(cls, values, first=0):
        """Return a buffer that holds these entries and takes over their array."""
        buffer = cls(first=first)
        buffer._array, buffer.end = values, first + len(values)
        return buffer

    def __len__(self):
        return self.end - self.first

    @property
    def values(self):
        """The entries that are held; the memory is reused, so copy what has to last."""
        return self.cut(self.first, self.end)

    def cut(self, start, end):
        """Return the entries [start, end), in memory that is reused."""
        return self._array[start - self._offset : end - self._offset]

    def append(self, values):
        """Append entries."""
        end = self.end + len(values)
        if end - self._offset > len(self._array):
            self._make_room(len(values))
        self._array[self.end - self._offset : end - self._offset] = values
        self.end = end

    def forget(self, before):
        """Drop the entries before index `before`."""
        self.first = min(max(self.first, before), self.end)

    def shrink(self):
        """Release the spare memory; the next append allocates room again."""
        self._array, self._offset = self.values.copy(), self.first

    def _make_room(self, count):
        held, size = self.values, len(self) + count
        # Double the room, unless few entries are held and many come: moving few entries costs less than more memory.
        least = min(2 * size, size + 2 * len(self))
        # The room also shrinks once few entries are left in it.
        if not least <= len(self._array) <= 16 * (size + ROOM):
            self._array = np.empty((least + ROOM, *held.shape[1:]), held.dtype)
        self._array[: len(held)] = held
        self._offset = self.first

    def __getstate__(self):
        return {**vars(self), "_array": self.values.copy(), "_offset": self.first}


class TimeBuffer:
    """Times of the last samples in the form the caller gave them, from sample `first` on."""

    def __init__(self, first=0):
        self._buffer, self.zone, self._begin = None, None, first

    def append(self, times):
        """Append the times of the next samples, which must be later."""
        given, zone = as_dates(times), getattr(times, "tz", None)
        if self._buffer is None:
            self._buffer, self.zone = Buffer(dtype=given.dtype, first=self._begin), zone
        dtype = self.kind_with(given, zone)
        if dtype != self._buffer.values.dtype:  # convert to finer dates, or from integers to floats
            held = self._buffer
            self._buffer = Buffer(dtype=dtype, first=held.first)
            self._buffer.append(held.values)
        self._buffer.append(given)

    def kind_with(self, given, zone):
        """Return the common type of these times and those before, or raise an error if they do not continue them."""
        held = self._buffer
        try:
            dtype = np.result_type(held.values, given)
        except TypeError:
            got = f"{given.dtype} after {held.values.dtype}, at sample {held.end}"
            raise validation.refused("'times'", "be of one kind in all chunks, numbers or dates", got) from None
        if (zone is None) != (self.zone is None):
            got = "none after some with one" if zone is None else f"{zone} after some with none"
            raise ValueError(
                f"'times' must have a time zone in all chunks or in none. Got {got}, at sample {held.end}. Name the "
                "zone with tz_localize."
            )
        if len(held) and not given[0] > held.cut(held.end - 1, held.end)[0]:
            late, last = self.as_given(np.array([given[0], held.values[-1]]))
            raise ValueError(f"'times' must be strictly increasing. Got {late} after {last}, at sample {held.end}.")
        return dtype

    def at(self, samples):
        """Return the times of samples as numpy arrays; the end of the last sample is one time step after it."""
        return times_at(self._buffer.values, np.asarray(samples, np.int64) - self._buffer.first)

    def as_given(self, times):
        """Convert times from `at` back to the form in which the caller gave them."""
        if self.zone is None:
            return times
        import pandas as pd

        return pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(self.zone)

    def forget(self, before):
        """Drop the times of the samples before sample `before`."""
        self._buffer.forget(before)


# -------------------------------------------------------------------------------------------- times as they were given
class SparseTimes:
    """Times of selected samples of a sequence; numpy can read it as an array of these times.

    Attributes
    ----------
    samples : ndarray of int of shape (n,)
        Sample indices, ascending. The end of a range counts as the sample after it.
    times : ndarray or pandas.DatetimeIndex of shape (n,)
        Their times.
    """

    def __init__(self, samples: Any, times: Times) -> None:
        self.samples, first = np.unique(np.asarray(samples, np.int64), return_index=True)
        self.times = times[first]

    def __len__(self) -> int:
        return len(self.times)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.times, dtype)

    def at(self, index: Any) -> Any:
        """Return the times of samples, all of which must be among the known ones."""
        return self.times[np.searchsorted(self.samples, index)]


def times_at(times, index):
    """Return the times of sample indices; the end of the last sample is one time step after it."""
    if times is None:
        return None
    index = np.asarray(index)
    if isinstance(times, SparseTimes):
        return times.at(index)
    n = len(times)
    inside = index < n
    if inside.all():
        return times[index]
    after = times[-1:] + (times[-1:] - times[-2:-1]) if n > 1 else times[-1:]
    return joined(times[index[inside]], after)[np.where(inside, np.cumsum(inside) - 1, inside.sum())]


def kept_times(times, index):
    """Return the times of the given samples only; None without times."""
    return None if times is None else SparseTimes(index, times_at(times, index))


def joined(first, *others):
    """Concatenate times of one kind; a pandas index keeps its time zone."""
    return first.append(list(others)) if hasattr(first, "append") else np.concatenate([first, *others])


def times_in(times, sequence, index):
    """Return the times of sample indices in several sequences; `sequence` holds the sequence number of each index.

    Some sequences may have no times.
    """
    timed = [k for k, one in enumerate(times) if one is not None]
    used = [k for k in timed if (sequence == k).any()] or timed
    column = merged([times_at(times[k], index[sequence == k]) for k in used])
    place = np.full(len(index), -1)  # position of each index in the column
    place[np.concatenate([np.flatnonzero(sequence == k) for k in used])] = np.arange(len(column))
    if len(column) == len(index):
        return column[place]
    import pandas as pd

    missing = pd.NaT if column.dtype.kind in "mM" else np.nan
    return pd.api.extensions.take(column, place, allow_fill=True, fill_value=missing)


def merged(parts):
    """Return the times of several sequences as one column.

    The column is in the time zone that all share, else in UTC. If kinds differ (numbers and datetimes, or datetimes
    with and without a zone), it holds objects.
    """
    aware = [getattr(part, "tz", None) is not None for part in parts]
    if all(aware):
        # Compare zones by name, because the same zone may come from different packages.
        zone = parts[0].tz if len({str(part.tz) for part in parts}) == 1 else "UTC"
        return joined(*(part.tz_convert(zone) for part in parts))
    if not any(aware) and len({"number" if part.dtype.kind in "iuf" else part.dtype.kind for part in parts}) == 1:
        return joined(*parts)
    import pandas as pd

    return np.concatenate([np.array(pd.Index(part).astype(object)) for part in parts])


def elapsed(start, end):
    """Return the time from each start to its end as floats, in seconds for datetimes; NaN where a time is missing."""
    start, end = as_dates(start), as_dates(end)
    if "O" in (start.dtype.kind, end.dtype.kind):
        start, end = _instants(start), _instants(end)
    return numbers_of(end - start)


def _instants(times):
    # Convert to UTC: Python subtracts wall clocks of datetimes in one zone, even across a clock change.
    out = np.empty(len(times), object)
    out[:] = [t.astimezone(UTC) if getattr(t, "tzinfo", None) is not None else t for t in times]
    return out


def taken_apart(X, times):
    """Return the samples and times of a chunk; a `Sampling` in the chunk counts from the chunk, not from the stream."""
    given, (X, times) = times, unwrapped(X, times, whole=True)
    return X, times.at(np.arange(len(X))) if given is None and isinstance(times, Sampling) else times


def check_delay(max_delay, least, what, ahead, otherwise):
    """Refuse a `max_delay` that is too short to see the samples that a decision depends on."""
    validation.check_count(max_delay, "max_delay", none=True, owner="stream")
    if max_delay is not None and max_delay < least + ahead:
        more = f" and the {ahead} that the metric looks ahead" if ahead else ""
        rule, got = f"be at least {what}, {least} samples{more}: {otherwise} before its end has come", max_delay
        raise validation.refused("The 'max_delay' parameter of stream", rule, got)


def several(X):
    """Return the series of a list that holds an array, which is a list of series; None for anything else."""
    if not isinstance(X, list | tuple):
        return None
    arrays = [len(getattr(part, "shape", ())) > 0 for part in X]
    # Other entries stay in the list, so that the error for an invalid series can name its place.
    mixed = any(arrays) and not any(isinstance(part, tuple) for part in X)
    return list(X) if mixed else None


@contextmanager
def located(where):
    """Prefix errors raised within the block with their place, a chunk or an entry of a list; None changes nothing."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if where is None:
            raise
        own = TypeError if isinstance(error, TypeError) else ValueError
        raise own(f"In {where}: {error}") from error


def one_sequence(X, times, *, whole=False):
    """Return a single sequence, as `unwrapped` does, and its times; refuse a list of several."""
    X, times = unwrapped(X, times, whole=whole)
    if several(X) is not None:
        raise ValueError(
            f"'X' must be one sequence here. Got a list of {len(X)} arrays, which is a list of sequences: call with "
            "each of them, or pass numpy.asarray of it if its arrays are the time points of one sequence."
        )
    return X, times


def one_each(values, count, name, what):
    """Return `values` as a list with one entry for each of several series."""
    if values is None:
        return [None] * count
    if isinstance(values, Sampling):
        return [values] * count
    if not isinstance(values, list | tuple) or len(values) != count:
        got = f"{len(values)} entries" if isinstance(values, list | tuple) else type(values).__name__
        raise ValueError(f"{name!r} must be a list with one entry for each of the {count} {what}. Got {got}.")
    return list(values)


def kernel_times(estimator, times, n, name="times"):
    """Return times, given as `given_times` returns them, as the numbers that kernels use; None stays None."""
    check_gap(estimator.max_gap, times, is_datetime(times), name, type(estimator).__name__)
    return validation.as_times(times, n, name)


def check_table(estimator, X):
    """Refuse a table whose columns differ from the fitted ones, and warn if columns have no names."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:  # a query without names accepts named channels
        return
    if hasattr(X, "columns"):
        check_columns(estimator, X, reset=False)
    elif names.tolist() != [getattr(X, "name", None)]:  # a single column of a table has the right name
        warn_of_names(estimator, names)


def refuse_channels(estimator, shape, whose="query"):
    """Refuse a sequence of this shape if its number of channels is not the fitted one."""
    channels = shape[1] if len(shape) == 2 else 1
    if channels == estimator.n_features_in_:
        return
    hint = "Time runs along the first axis"
    if len(shape) == 1:
        hint = "Reshape your data to (length, channels)"
    elif shape[0] == estimator.n_features_in_:
        hint += ", so pass X.T"
    raise ValueError(
        f"X has {channels} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features "
        f"as input: the channels of the {whose}. {hint}."
    )


def validated(estimator, X, times):
    """Return the array of a sequence, its times as kernels use them, and its times as given."""
    y = validation.as_series(X, "X", missing=estimator.nan_policy == "omit")
    check_table(estimator, X)
    if y.shape[0] != estimator.n_features_in_:
        refuse_channels(estimator, np.asarray(X).shape)
    if estimator.metric_._has_domain:
        estimator._check_domain(y, "'X'")
    if times is None and type(X) is np.ndarray and estimator.max_gap is None:  # fast path for most calls
        return y, None, None
    name = name_of(times)
    times = times_of(X, times)
    if estimator.metric_.uses_times and times is not None:
        dated = is_datetime(times)
        if any(plan.datetimes == (not dated) for plan in estimator._queries):
            classes = ("numbers", "dates")
            raise ValueError(
                f"{name!r} must be of one kind with the query's, dates or numbers. Got {classes[dated]} where the "
                f"query's are {classes[not dated]}; turn dates into numbers by subtraction and division."
            )
    return y, kernel_times(estimator, times, y.shape[1], name), times


def notice(estimator, X, times, ty):
    """Warn of a sequence whose times, `ty` as kernels use them, are uneven or have another step than the query's.

    No warning is needed if the metric compares times.
    """
    notice_index(X, times)
    queries = [plan for plan in estimator._queries if plan.tx is None]
    if times is not None and queries:
        dated = is_datetime(times)
        alike = [plan for plan in queries if plan.datetimes == dated and plan.lengths is None]
        intervals = [plan.interval for plan in alike if plan.interval is not None]
        notice_sampling(ty, intervals, estimator._max_gap)


class Clock:
    """Conversion of the caller's times to numbers for kernels: datetimes become seconds since the first one."""

    def __init__(self, queries):
        self.origin, self.reads = None, any(plan.reads_times for plan in queries)

    def __call__(self, times):
        if not self.reads or times is None:
            return None
        given = as_dates(times)
        self.begin(given)
        return validation.as_times(times, len(given), "times", self.origin)

    def begin(self, given):
        """Set the origin to the first of these datetimes, unless there is one."""
        if self.reads and self.origin is None and validation.are_counted(given):
            self.origin = given[0]


class Entrance:
    """Input validation of the chunks of one stream, and their times.

    Attributes
    ----------
    seen : int
        Number of samples received.
    times : TimeBuffer or None
        Times of the last samples as given.
    """

    def __init__(self, estimator, clock=None, first=0, *, notices=True):
        self._estimator, self._channels = estimator, estimator.n_features_in_
        self.clock = clock or Clock(estimator._queries)
        self.times, self.seen, self.first = None, first, first  # first: the sample at which the stream starts
        self._last = None  # time of the last sample, as kernels use it
        # Whether a chunk of several samples was already checked for uneven times and for another step than the query's.
        self._noticed = first > 0 or not notices

    def __call__(self, X, times):
        """Return the samples (channels, n) of the next chunk, its times for kernels, and whether it is incomplete.

        It is incomplete if a value is missing or if there is a time gap in it or in front of it. For an empty chunk,
        None is returned. Times are kept as given.
        """
        y, ty, gaps = self._plain(X) if times is None else None, None, False
        if y is not None and self.seen == self.first:
            check_table(self._estimator, X)
        if y is None:
            if hasattr(X, "__len__") and len(X) == 0:  # nothing arrived in time
                return None
            with located(f"the chunk that begins at sample {self.seen}"):
                times = times if times is None else times_of(X, times, self.seen)
                y, own, given = validated(self._estimator, X, times)
            if self.seen > self.first and (given is None) != (self.times is None):
                got = "without them, those before with" if given is None else "with them, those before without"
                raise ValueError(f"'times' must be given with every chunk or with none. Got a chunk {got}.")
            ty, plan = self.clock(given), self._estimator._queries[0]
            if given is not None:
                times = self.times or TimeBuffer(self.first)
                times.append(given)
                self.times = times
            gaps = plan.gaps and bool(np.isnan(y).any())
            if ty is not None and plan.max_gap is not None:
                last, self._last = self._last, ty[-1:]
                gaps = gaps or len(holes(ty if last is None else np.concatenate([last, ty]), plan.max_gap)) > 0
            if not self._noticed and len(X) > 1:
                self._noticed = True
                notice(self._estimator, X, given, own)
        self.seen += y.shape[1]
        return y, ty, gaps

    def _plain(self, X):
        """Return the samples (channels, n) of an array that is valid as it is; None if it needs a full check."""
        if type(X) is not np.ndarray or X.dtype is not validation.FLOAT or not X.size or self.times or self.clock.reads:
            return None
        if self._estimator.metric_._has_domain:
            return None
        if X.ndim == 1 and self._channels == 1:
            y = X[np.newaxis]
        elif X.ndim == 2 and X.shape[1] == self._channels:
            y = X.T
        else:
            return None
        if not validation.sum_of_squares(X) < validation.LARGEST_SQUARE:  # also true for NaN
            return None
        return y


class ChunkStream:
    """Base class of streams: chunks of a sequence go in, and results come out as soon as they are decided.

    A subclass implements five methods. `_take` returns the results that the next samples decide (false for nothing),
    and `_decided` those that the end decides. `_result` makes a table of either, and an empty table of None. `_forget`
    drops the samples that no open decision needs, and returns the first sample kept. `_count_samples` restarts the
    stream without times if the chunks have no times to compare with the queries'.
    """

    def __init__(self, estimator: Any, entrance: Any = None) -> None:
        self._entrance = entrance or Entrance(estimator)
        self._nothing, self._flushed = None, False

    @property
    def n_samples_seen(self) -> int:
        return self._entrance.seen

    @property
    def _times(self):
        """Times of the samples that are held, as given."""
        return self._entrance.times

    def _update(self, X, times):
        """Process a chunk and return the results that it decides."""
        self._check_open()
        X, times = taken_apart(X, times)
        first = self._entrance.seen == self._entrance.first
        chunk = self._entrance(X, times)
        if chunk is not None and first and chunk[1] is None and self._entrance.clock.reads:
            self._count_samples()
        found = None if chunk is None else self._take(*chunk)
        result = self._result(found) if found else self._no_result()
        first = self._forget()
        if self._times is not None:
            self._times.forget(first)
        return result

    def _no_result(self):
        """Return the empty result, which is cached because most chunks decide nothing."""
        if self._nothing is None or (self._nothing.times is None) != (self._times is None):
            self._nothing = self._result(None)
        return self._nothing

    def _flush(self):
        """End the stream and return the results that the end decides."""
        self._check_open()
        found = self._decided(gaps=True, last=True)
        self._flushed = True
        return self._result(found)

    def _check_open(self):
        if self._flushed:
            raise ValueError("The stream has been flushed, which ends it. Start a new one by 'stream()'.")

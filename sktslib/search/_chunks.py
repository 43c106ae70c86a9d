"""Buffers for samples, costs and times that grow at one end and are forgotten at the other, and the chunks of a stream.

Sequences and chunks are validated here for both estimators, which have a base class of streams, too.
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

ROOM = 64  # entries that a buffer has room for, at least


class Buffer:
    """Last entries of an array that grows along its first axis, with room enough to move each entry only a few times.

    Attributes
    ----------
    first, end : int
        The entries held are the half-open range of these among all that ever came.
    """

    def __init__(self, shape=(), dtype=np.float64, first=0):
        self._array = np.empty((ROOM, *shape), dtype)
        self.first = self.end = self._offset = first  # entry k is at k - offset

    @classmethod
    def of(cls, values, first=0):
        """Return a buffer of entries, which owns their array from then on."""
        buffer = cls(first=first)
        buffer._array, buffer.end = values, first + len(values)
        return buffer

    def __len__(self):
        return self.end - self.first

    @property
    def values(self):
        """Entries that are held; their memory is used again, so copy what is to stay."""
        return self.cut(self.first, self.end)

    def cut(self, start, end):
        """Return the entries [start, end), in memory that is used again."""
        return self._array[start - self._offset : end - self._offset]

    def append(self, values):
        """Add the entries that follow."""
        end = self.end + len(values)
        if end - self._offset > len(self._array):
            self._make_room(len(values))
        self._array[self.end - self._offset : end - self._offset] = values
        self.end = end

    def forget(self, before):
        """Drop the entries before one."""
        self.first = min(max(self.first, before), self.end)

    def shrink(self):
        """Hold no more memory than the entries take; the next append makes room again."""
        self._array, self._offset = self.values.copy(), self.first

    def _make_room(self, count):
        held, size = self.values, len(self) + count
        # It doubles, unless few are held and many come: to move those few each time takes less than memory for more.
        least = min(2 * size, size + 2 * len(self))
        # Where little is left of much the room shrinks again.
        if not least <= len(self._array) <= 16 * (size + ROOM):
            self._array = np.empty((least + ROOM, *held.shape[1:]), held.dtype)
        self._array[: len(held)] = held
        self._offset = self.first

    def __getstate__(self):
        return {**vars(self), "_array": self.values.copy(), "_offset": self.first}


class TimeBuffer:
    """Times of the last samples, as the caller gave them, from the `first` sample on."""

    def __init__(self, first=0):
        self._buffer, self.zone, self._begin = None, None, first

    def append(self, times):
        """Add the times that follow, which must be later."""
        given, zone = as_dates(times), getattr(times, "tz", None)
        if self._buffer is None:
            self._buffer, self.zone = Buffer(dtype=given.dtype, first=self._begin), zone
        dtype = self.kind_with(given, zone)
        if dtype != self._buffer.values.dtype:  # room for finer dates, or for floats after integers
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
        """Return the times of samples as numpy arrays; the end of the last sample is one last step behind it."""
        return times_at(self._buffer.values, np.asarray(samples, np.int64) - self._buffer.first)

    def as_given(self, times):
        """Return times from `at` in the form in which the caller gave them."""
        if self.zone is None:
            return times
        import pandas as pd

        return pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(self.zone)

    def forget(self, before):
        """Drop the times of the samples before one."""
        self._buffer.forget(before)


# -------------------------------------------------------------------------------------------- times as they were given
class SparseTimes:
    """Times of some samples of a sequence; an array of them where one is asked for.

    Attributes
    ----------
    samples : ndarray of int of shape (n,)
        Sample indices, ascending. The end of a range counts as the sample behind it.
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
        """Return the times of samples that are among those known."""
        return self.times[np.searchsorted(self.samples, index)]


def times_at(times, index):
    """Return the times of sample indices; the end of the last sample is one last step behind it."""
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
    """Return the times of some samples alone, or None for no times."""
    return None if times is None else SparseTimes(index, times_at(times, index))


def joined(first, *others):
    """Return pieces of times of one kind, one after the other; only a pandas index knows time zones."""
    return first.append(list(others)) if hasattr(first, "append") else np.concatenate([first, *others])


def times_in(times, sequence, index):
    """Return the times of sample indices in several sequences; `sequence` has the number of each one's sequence.

    Some sequences may have no times.
    """
    timed = [k for k, one in enumerate(times) if one is not None]
    used = [k for k in timed if (sequence == k).any()] or timed
    column = merged([times_at(times[k], index[sequence == k]) for k in used])
    place = np.full(len(index), -1)  # of each index in the column
    place[np.concatenate([np.flatnonzero(sequence == k) for k in used])] = np.arange(len(column))
    if len(column) == len(index):
        return column[place]
    import pandas as pd

    missing = pd.NaT if column.dtype.kind in "mM" else np.nan
    return pd.api.extensions.take(column, place, allow_fill=True, fill_value=missing)


def merged(parts):
    """Return the times of several sequences as one column.

    They are in the time zone that all have, else in UTC; of several kinds (numbers and datetimes, datetimes with a zone
    and without) they are objects.
    """
    aware = [getattr(part, "tz", None) is not None for part in parts]
    if all(aware):
        # The same zone may come from several packages.
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
    # Python subtracts the wall clocks of datetimes of one zone, which may have changed in between.
    out = np.empty(len(times), object)
    out[:] = [t.astimezone(UTC) if getattr(t, "tzinfo", None) is not None else t for t in times]
    return out


def taken_apart(X, times):
    """Return the samples and times of a chunk; its own `Sampling` begins with it, and not with the stream."""
    given, (X, times) = times, unwrapped(X, times, whole=True)
    return X, times.at(np.arange(len(X))) if given is None and isinstance(times, Sampling) else times


def check_delay(max_delay, least, what, ahead, otherwise):
    """Refuse a longest delay of a decision that is too short to see what has to be decided."""
    validation.check_count(max_delay, "max_delay", none=True, owner="stream")
    if max_delay is not None and max_delay < least + ahead:
        more = f" and the {ahead} that the metric looks ahead" if ahead else ""
        rule, got = f"be at least {what}, {least} samples{more}: {otherwise} before its end has come", max_delay
        raise validation.refused("The 'max_delay' parameter of stream", rule, got)


def several(X):
    """Return the series of a list with an array in it, which is a list of series; None for anything else."""
    if not isinstance(X, list | tuple):
        return None
    arrays = [len(getattr(part, "shape", ())) > 0 for part in X]
    # What is neither array nor list is refused as the series that it should be, by its place.
    mixed = any(arrays) and not any(isinstance(part, tuple) for part in X)
    return list(X) if mixed else None


@contextmanager
def located(where):
    """Add to an error where it is, in a chunk or an entry of a list of series; None leaves it as it is."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if where is None:
            raise
        own = TypeError if isinstance(error, TypeError) else ValueError
        raise own(f"In {where}: {error}") from error


def one_sequence(X, times, *, whole=False):
    """Return a sequence as `unwrapped` does, and its times; refuse several, as profiles and segments belong to one."""
    X, times = unwrapped(X, times, whole=whole)
    if several(X) is not None:
        raise ValueError(
            f"'X' must be one sequence here. Got a list of {len(X)} arrays, which is a list of sequences: call with "
            "each of them, or pass numpy.asarray of it if its arrays are the time points of one sequence."
        )
    return X, times


def one_each(values, count, name, what):
    """Return a list with an entry for each of several series."""
    if values is None:
        return [None] * count
    if isinstance(values, Sampling):
        return [values] * count
    if not isinstance(values, list | tuple) or len(values) != count:
        got = f"{len(values)} entries" if isinstance(values, list | tuple) else type(values).__name__
        raise ValueError(f"{name!r} must be a list with one entry for each of the {count} {what}. Got {got}.")
    return list(values)


def kernel_times(estimator, times, n, name="times"):
    """Return times of a recording, as `given_times` returns them, as kernels count them; None stays None."""
    check_gap(estimator.max_gap, times, is_datetime(times), name, type(estimator).__name__)
    return validation.as_times(times, n, name)


def check_table(estimator, X):
    """Refuse a table with other columns than the fitted one, and warn of columns without names."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:  # a nameless query fits named channels
        return
    if hasattr(X, "columns"):
        check_columns(estimator, X, reset=False)
    elif names.tolist() != [getattr(X, "name", None)]:  # a column of a table has a name
        warn_of_names(estimator, names)


def refuse_channels(estimator, shape, whose="query"):
    """Refuse a sequence of this shape with other channels than the fitted ones."""
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
    """Return the array of a sequence, its times for the kernels, and its times as they were given."""
    y = validation.as_series(X, "X", missing=estimator.nan_policy == "omit")
    check_table(estimator, X)
    if y.shape[0] != estimator.n_features_in_:
        refuse_channels(estimator, np.asarray(X).shape)
    if estimator.metric_._has_domain:
        estimator._check_domain(y, "'X'")
    if times is None and type(X) is np.ndarray and estimator.max_gap is None:  # in short, for most are of this kind
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
    """Warn of a valid sequence whose times, `ty` as kernels count them, are uneven or unlike the query's.

    They do not matter to a query that is compared with them.
    """
    notice_index(X, times)
    queries = [plan for plan in estimator._queries if plan.tx is None]
    if times is not None and queries:
        dated = is_datetime(times)
        alike = [plan for plan in queries if plan.datetimes == dated and plan.lengths is None]
        intervals = [plan.interval for plan in alike if plan.interval is not None]
        notice_sampling(ty, intervals, estimator._max_gap)


class Clock:
    """Conversion of the caller's times to those of kernels: datetimes in seconds from the first one of the sequence."""

    def __init__(self, queries):
        self.origin, self.reads = None, any(plan.reads_times for plan in queries)

    def __call__(self, times):
        if not self.reads or times is None:
            return None
        given = as_dates(times)
        self.begin(given)
        return validation.as_times(times, len(given), "times", self.origin)

    def begin(self, given):
        """Count datetimes from the first of these, unless an origin is known."""
        if self.reads and self.origin is None and validation.are_counted(given):
            self.origin = given[0]


class Entrance:
    """Input validation of the chunks of one stream, and their times.

    Attributes
    ----------
    seen : int
        Number of samples that came.
    times : TimeBuffer or None
        Times of the last samples as they were given.
    """

    def __init__(self, estimator, clock=None, first=0, *, notices=True):
        self._estimator, self._channels = estimator, estimator.n_features_in_
        self.clock = clock or Clock(estimator._queries)
        self.times, self.seen, self.first = None, first, first  # first: the sample at which it begins
        self._last = None  # the time of the last sample for the kernels
        # Whether a chunk of several samples was looked at for times that are uneven or unlike the query's.
        self._noticed = first > 0 or not notices

    def __call__(self, X, times):
        """Return the samples (channels, n) of the next chunk, its times for the kernels, and whether it is incomplete.

        It is incomplete if a value is missing or if there is a gap before or in it. None is returned for an empty
        chunk. Times are kept as they were given.
        """
        y, ty, gaps = self._plain(X) if times is None else None, None, False
        if y is not None and self.seen == self.first:
            check_table(self._estimator, X)
        if y is None:
            if hasattr(X, "__len__") and len(X) == 0:  # as when nothing came in time
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
        """Return the samples (channels, n) of an array that is valid as it is; None where a closer look is needed."""
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
        if not validation.sum_of_squares(X) < validation.LARGEST_SQUARE:  # also where it is NaN
            return None
        return y


class ChunkStream:
    """Base class of streams: chunks of a sequence go in, and results come out as soon as they are decided.

    A subclass says what the next samples decide (`_take`; false for nothing) and what the end decides (`_decided`). It
    makes a table of that, an empty one of None (`_result`), and drops the samples that nothing undecided depends on
    (`_forget`, which returns the first sample that is left). Where no times come to be compared with the queries', the
    stream starts again without these (`_count_samples`).
    """

    def __init__(self, estimator: Any, entrance: Any = None) -> None:
        self._entrance = entrance or Entrance(estimator)
        self._nothing, self._flushed = None, False

    @property
    def n_samples_seen(self) -> int:
        return self._entrance.seen

    @property
    def _times(self):
        """Times of the samples that are held, as they were given."""
        return self._entrance.times

    def _update(self, X, times):
        """Return the result of the next samples."""
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
        """Return an empty result, which is made once because it is the answer to most chunks."""
        if self._nothing is None or (self._nothing.times is None) != (self._times is None):
            self._nothing = self._result(None)
        return self._nothing

    def _flush(self):
        """Return the result of the end."""
        self._check_open()
        found = self._decided(gaps=True, last=True)
        self._flushed = True
        return self._result(found)

    def _check_open(self):
        if self._flushed:
            raise ValueError("The stream has been flushed, and its end has come. Begin a new one by 'stream()'.")

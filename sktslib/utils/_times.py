"""Conversion of times: datetimes with and without a zone, durations, text, periods, and the index of a table.

The module also holds types for annotations, and selects the entries of a result by a number, a slice, a mask or a list
of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ._conversion import n_samples, ragged, refused, shown
from ._names import warn

ISO = re.compile(r"\s*\d{4}-\d\d")
# Dates and clock times in other formats: 27.10.2024, 10/27/24, 00:01:40, 27-Oct-2024, Oct 27, 2024, 20241027 10:00.
MONTH = "(jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*"
OTHER = re.compile(
    r"(?i)\s*(\d{1,2}([./-])\d{1,2}\2(\d{4}|\d\d)|\d{4}([./])\d{1,2}\4\d{1,2}|\d+:\d\d(:\d\d)?|\d{8}(?=[ T]\d\d)"
    rf"|\d{{1,2}}\.?[ -]?{MONTH}[ -]?,?\s*\d{{2,4}}|{MONTH}[ -]\d{{1,2}},?[ -]\d{{4}})(?=$|[\sT,.])"
)
ZONE = re.compile(r"[T ]\d.*?([Zz]|[+-]\d\d(?::?\d\d)?)\s*$")
NAME = re.compile(r"(?i)(time.*|t|date.*|.*timestamp|zeit.*|uhrzeit|datum|seconds?|secs?|elapsed.*)(\s*[(\[].*)?")
EVEN = 0.5  # largest distance, in steps, of rounded times from evenly spaced ones
STRAIGHT = 0.0025  # the same as a share of their range, because a short piece of a smooth curve is nearly straight
FEW = 30  # fewer samples may increase evenly by chance
HEAD = 1000  # number of samples that exclude nearly every channel without times


@dataclass(frozen=True)
class Sampling:
    """Times of a recording with a constant rate, for ``times=`` in place of an array.

    Sample k is at ``start + k / rate``. In a stream k counts from its first sample, in a part of a recording from the
    recording's first one. Several sequences may share one `Sampling`.

    Parameters
    ----------
    rate : float
        Samples per second, or per unit of a numeric `start`; above 0.
    start : float or datetime-like, default=0
        Time of the first sample, a number or a datetime, which may have a time zone.

    Examples
    --------
    >>> from sktslib import QuerySearcher, Sampling
    >>> matches = QuerySearcher("dtw").fit([0, 2, 0]).search([5, 5, 0, 2, 0, 5], times=Sampling(rate=100, start=60))
    >>> float(matches.start_time[0])
    60.02
    """

    rate: float
    start: Any = 0.0

    def __post_init__(self) -> None:
        valid = isinstance(self.rate, Real) and not isinstance(self.rate, bool)
        if not valid or not 0.0 < self.rate < np.inf:
            got = f"{shown(self.rate)}; for an interval of 4 ms it is 250"
            raise refused("The 'rate' parameter of Sampling", "be a number above 0, samples per second", got)
        first = given_times([self.start], "start")
        dated = first.dtype.kind == "M" or (first.dtype.kind == "O" and isinstance(first.flat[0], date))
        if first.shape != (1,) or not (dated or first.dtype.kind in "iuf"):
            got, out = shown(self.start), "Pass 0, or a datetime such as pandas.Timestamp('2024-03-01 12:00')."
            raise refused("The 'start' parameter of Sampling", "be a number or a datetime", got, out)

    def at(self, samples: ArrayLike) -> Any:
        """Return times of samples by their numbers: floats, numpy datetimes, or, with a zone, a DatetimeIndex."""
        samples, rate, first = np.atleast_1d(samples), float(self.rate), given_times([self.start], "start")
        if first.dtype.kind in "iuf":
            return float(first[0]) + samples / rate
        if first.dtype.kind == "O":  # datetime objects of Python
            first = np.array(first, "datetime64[ns]")
        seconds, rest = np.divmod(samples, rate)  # separately, so that no nanosecond is lost after days
        steps = seconds.astype("timedelta64[s]") + np.rint(rest / rate * 1e9).astype("timedelta64[ns]")
        return first[0] + steps if isinstance(first, np.ndarray) else first[:1].as_unit("ns").repeat(len(steps)) + steps


class EvenTimes:
    """Times of `n` samples by a `Sampling`, computed when they are sliced."""

    ndim = 1

    def __init__(self, sampling: Sampling, n: int) -> None:
        self.sampling, self.shape = sampling, (n,)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        return np.array(as_dates(self[:]), dtype)

    def __getitem__(self, part: Any) -> Any:
        return self.sampling.at(np.arange(*part.indices(len(self))) if isinstance(part, slice) else part)


class ColumnOfTimes(UserWarning):
    """Warning that times are probably compared as a channel."""


def given_times(times, name):
    """Return the times as an array, or as a pandas DatetimeIndex if they have a zone, which numpy does not support.

    Text in ISO 8601 and periods become datetimes; a period becomes its start.
    """
    if isinstance(times, EvenTimes):
        return times
    dtype = getattr(times, "dtype", None)
    zone = getattr(dtype, "time_zone", None)  # polars
    if zone is not None:
        import pandas as pd

        return pd.DatetimeIndex(np.asarray(times)).tz_localize("UTC").tz_convert(zone)
    kind = getattr(dtype, "kind", None)
    if kind in ("M", "m") and not isinstance(dtype, np.dtype):  # pandas with a zone, or pyarrow
        import pandas as pd

        index = (pd.DatetimeIndex if kind == "M" else pd.TimedeltaIndex)(times)
        return np.asarray(index) if getattr(index, "tz", None) is None else index
    try:
        given = np.asarray(times)
    except ValueError:
        raise ragged(name) from None
    if given.dtype.kind in "Mm" and np.datetime_data(given.dtype)[0] in ("Y", "M"):
        return _of_months(given, name)
    if given.dtype.kind not in "OSUT":
        return given
    first = _first(given)
    if isinstance(first, str | bytes):
        return _of_text(given.astype(str) if given.dtype.kind == "S" else given, name)
    if getattr(first, "tzinfo", None) is not None:
        return _of_aware(given)
    return _of_periods(given, name) if type(first).__name__ == "Period" else given


def _of_months(given, name):
    """Return datetimes given in months or years; refuse durations in these units, whose lengths vary."""
    if given.dtype.kind == "M":
        return given.astype("datetime64[s]")
    rule, out = "be durations of a fixed length", f"Give datetimes, for example numpy.datetime64('2024-01') + {name}."
    raise refused(repr(name), rule, f"{given.dtype}, and months and years differ in length", out, error=TypeError)


def _first(given):
    """Return the first entry that is not missing, or None."""
    return next((v for v in given.flat if v is not None and v == v), None)


def _as_index(dates):
    return np.asarray(dates) if dates.tz is None else dates


def _of_aware(given):
    """Return datetime objects with a zone as an index, in UTC if they have several zones.

    Python compares and subtracts wall clocks of objects in one zone, even if the clock was set back in between.
    """
    import pandas as pd

    known = [v for v in given.flat if v is not None and v == v]
    if given.ndim != 1 or any(getattr(v, "tzinfo", None) is None for v in known):
        return given  # as_times raises an error that says what is wrong
    zone = known[0].tzinfo if len({str(v.tzinfo) for v in known}) == 1 else "UTC"
    return pd.to_datetime(given, utc=True).tz_convert(zone)


def _of_periods(given, name):
    import pandas as pd

    try:
        return _as_index(pd.PeriodIndex(given).to_timestamp())
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name!r} must be of one type: periods of one frequency. Got others, too: {error}.") from None


def _of_text(given, name):
    """Return texts as datetimes in the zone that they name, or in UTC if they name several."""
    import pandas as pd

    found, zones = None, set()
    if given.ndim == 1 and ISO.match(str(_first(given))):
        marks = [ZONE.search(v) if isinstance(v, str) else None for v in given.tolist()]
        zones = {None if mark is None else mark[1] for mark, v in zip(marks, given, strict=True) if isinstance(v, str)}
        found = pd.to_datetime(given, format="ISO8601", utc=len(zones) > 1, errors="coerce")
    wrong = np.ones(given.shape, bool) if found is None else found.isna() & ~pd.isna(given)
    if wrong.any():
        at = np.flatnonzero(wrong)[0]
        got = f"text, dtype {given.dtype}, that is not of ISO 8601: {shown(str(given.flat[at]))} at index {at}"
        dates = f"Convert it, for example with pandas.to_datetime({name}, format=...)"
        out = f"{dates}, or numbers with numpy.asarray({name}, dtype=float)."
        raise refused(repr(name), "hold numbers or datetimes", got, out, error=TypeError)
    if len(zones) > 1 and None in zones:
        rule = "be of one type: datetimes that all have a time zone or all have none"
        got, out = f"text of both, such as {shown(str(_first(given)))}", "Name the zone of all, or of none."
        raise refused(repr(name), rule, got, out, error=TypeError)
    return _as_index(found)


def as_dates(times):
    """Return the times as an array; datetimes with a zone lose it, as numpy does not support zones."""
    dtype = getattr(times, "dtype", None)
    if getattr(dtype, "tz", None) is not None:
        return np.asarray(times, f"datetime64[{dtype.unit}]")
    return np.asarray(times)


def is_datetime(times):
    """Return whether times, as `given_times` returns them, are dates or durations, not numbers; False for None."""
    if times is None:
        return False
    kind = times.dtype.kind
    return kind in "Mm" or (kind == "O" and isinstance(_first(times), date | timedelta))


# ------------------------------------------------------------------------------------------------- index of a table
def times_of(X, times, first=0):
    """Return the given times, or those in the index of a pandas object; None if it holds no times.

    A `Sampling` counts from sample `first`. Times are datetimes, durations, periods, text in ISO 8601, or increasing
    floats. Integers count as row numbers.
    """
    if isinstance(times, Sampling):
        return times.at(np.arange(first, first + n_samples(X)))
    if times is not None:
        return given_times(times, "times")
    index = index_of(X)
    numbered = getattr(getattr(index, "dtype", None), "kind", None) in ("i", "u")
    # Unique row numbers out of order are not a recording. Repeated numbers come from concatenated tables.
    if numbered and not index.is_monotonic_increasing and index.is_unique:
        rows = np.asarray(index)
        k = int(np.argmin(rows[1:] > rows[:-1]))
        split = "as after train_test_split, which shuffles unless shuffle=False is set"
        got = f"{rows[k]} at row {k} and then {rows[k + 1]}, {split}"
        out = "Sort the rows with X.sort_index(), or, if they are in order, pass X.reset_index(drop=True)."
        raise refused("'X.index'", "increase, for the rows are time points", got, out)
    return index_times(index)


def index_of(X):
    """Return the index of a pandas object, or of the first dimension of an xarray object; else None."""
    dims = getattr(X, "dims", None)
    if isinstance(dims, tuple) and dims and hasattr(X, "indexes"):
        return X.indexes.get(dims[0])
    return getattr(X, "index", None)


def index_times(index, name="X.index"):
    """Return the times in the index of a pandas object; None if it holds others, such as integers."""
    kind = getattr(getattr(index, "dtype", None), "kind", None)
    if kind in ("M", "m"):
        return given_times(index, name)
    if kind == "f":
        return np.asarray(index, float) if _increases(index) else None
    if kind == "O" and getattr(index, "nlevels", 1) == 1:
        first = _first(np.asarray(index[:1]))
        text = isinstance(first, str) and (ISO.match(first) or OTHER.match(first))
        if text or isinstance(first, date | timedelta) or type(first).__name__ == "Period":
            return given_times(index, name)
    return None


def time_name(X, times):
    """Return the name of the times, from a Series or from the index of a table; None without a name."""
    name = getattr(index_of(X) if times is None else times, "name", None)
    return name if isinstance(name, str) and name else None


def name_of(times):
    """Return the name that messages use for the times that `times_of` returns."""
    return "X.index" if times is None else "times"


def _increases(index):
    return index.is_monotonic_increasing and index.is_unique and not index.hasnans


def notice_index(X, times, name="X"):
    """Warn of an index of floats that are not times, and of an index whose levels may number recordings."""
    index = index_of(X)
    if times is not None:
        return
    if getattr(index, "nlevels", 1) > 1 and index[0][0] != index[-1][0]:
        warn(
            f"The index of {name!r} has {index.nlevels} levels, and its rows are taken for one recording, without "
            "times. If the first level tells recordings apart, search each by itself, or pass a list of them where one "
            f"is taken: [part.droplevel(0) for _, part in {name}.groupby(level=0)]. Else pass "
            f"{name}.reset_index(drop=True)."
        )
    if getattr(getattr(index, "dtype", None), "kind", None) == "f" and not _increases(index):
        warn(
            f"The index of {name!r} holds floats that do not increase, so it is not taken for times. If it holds "
            f"times, sort the rows with {name}.sort_index() and drop those that repeat; else pass "
            f"{name}.reset_index(drop=True)."
        )


# --------------------------------------------------------------------------------------------- times among the channels
def column_of_times(a, names):
    """Return the number of a column of `a` (n, channels) that probably holds times; else None.

    Such a column either has a name of times and never falls, or it always increases, and evenly at first. If all
    channels do so, they are not times.
    """
    if a.ndim != 2 or a.shape[1] < 2 or len(a) < 2:
        return None
    head = a[:HEAD].T
    named = [isinstance(name, str) and NAME.fullmatch(name) is not None for name in names]
    found = [k for k in np.flatnonzero(named) if (a[1:, k] >= a[:-1, k]).all() and a[-1, k] > a[0, k]]
    even = [k for k, column in enumerate(head) if _is_even(column)]
    found += [k for k in even if (a[1:, k] > a[:-1, k]).all()] if len(even) < len(head) else []
    return found[0] if found else None


def _is_even(column):
    """Return whether a column follows an increasing straight line, apart from rounding."""
    line, step = np.linspace(column[0], column[-1], len(column), retstep=True)
    return len(column) >= FEW and bool(
        step > 0 and (np.abs(column - line) <= min(EVEN, STRAIGHT * len(column)) * step).all()
    )


def notice_column(X, a, name="X", times="times"):
    """Warn if times are probably compared as a channel of `X`, given as the array `a`."""
    columns = getattr(X, "columns", None)
    k = column_of_times(a, () if columns is None else columns)
    if k is None:
        return
    if columns is None:
        column, own, rest = f"Column {k} of {name!r}", f"{name}[:, {k}]", f"numpy.delete({name}, {k}, axis=1)"
    else:
        column, own = f"The column {columns[k]!r} of {name!r}", f"{name}[{columns[k]!r}]"
        rest = f"{name}.drop({'columns=' if hasattr(X, 'iloc') else ''}{columns[k]!r})"
    warn(
        f"{column} increases like times, and is compared as a channel. If it holds times, take it out, {rest}, and "
        f"give it as {times}={own} where times are wanted; if it does not, ignore this warning.",
        ColumnOfTimes,
    )


# One recording or a collection: an array or a table, or a list of these with any lengths.
Sequences: TypeAlias = ArrayLike | Sequence[ArrayLike]
# One query, or several, which may have names.
Queries: TypeAlias = ArrayLike | Sequence[ArrayLike] | Mapping[Any, ArrayLike]
# Times of samples, numbers or datetimes; for several series a list.
Times: TypeAlias = ArrayLike | Sampling | Sequence[ArrayLike | None] | Mapping[Any, ArrayLike]
# A distance: its name, a metric object or a function of two series.
MetricLike: TypeAlias = str | Callable[..., Any]


def as_position(k, n, what, name="'k'"):
    """Return the index of one of n entries from 0; negative indices count from the end.

    `what` holds the singular and plural names of an entry, `name` the name of the argument, for messages.
    """
    one, several = what
    if not isinstance(k, Integral) or isinstance(k, bool):
        raise TypeError(f"{name} must be an integer, the number of a {one} from 0. Got {shown(k)}.")
    if not -n <= k < n:
        rule = f"from 0 to {n - 1} (or from -1 to {-n}, counted from the end)" if n else f"and there are no {several}"
        raise IndexError(
            f"{name} must be the number of a {one}, {rule}. Got {shown(k)}; len() says how many there are."
        )
    return int(k) % n


def as_positions(key, n, what):
    """Return the indices of entries that a slice, a mask or a list of numbers selects from n, as an array of int."""
    several = what[1]
    if isinstance(key, slice):
        return np.arange(n)[key]
    index = None if isinstance(key, str | bytes | tuple) else np.asarray(key)
    if index is None or index.ndim != 1 or (index.dtype.kind not in "biu" and index.size):
        rule = f"be an integer, a slice, a mask of {n} truth values or a list of integers"
        got, out = shown(key), f"Columns are attributes, such as {several}.start, or those of {several}.to_frame()."
        raise refused(f"The index of {several}", rule, got, out, error=TypeError)
    if index.dtype.kind != "b":
        wrong = (index < -n) | (index >= n)
        if wrong.any():
            as_position(int(index[np.argmax(wrong)]), n, what, "The index")
        return np.where(index < 0, index + n, index).astype(np.int64)
    if len(index) != n:
        raise IndexError(f"A mask of {several} must have one truth value for each of the {n}. Got {len(index)}.")
    if hasattr(key, "iloc") and key.index.tolist() != list(range(n)):
        rule, got = f"have the index 0 to {n - 1}, in the order of the {several}", shown(key.index[:5].tolist())
        out = "Pass the mask's index, mask.index[mask], if those are numbers of rows in to_frame(), or mask.to_numpy()."
        raise refused(f"A mask of {several} that is a pandas Series", rule, got, out, error=IndexError)
    return np.flatnonzero(index)


def order(keys, reverse):
    """Return the indices that sort entries by several keys; the last key is the primary one.

    In reverse order, equal entries keep their order, too.
    """
    if reverse:
        return len(keys[0]) - 1 - np.lexsort([key[::-1] for key in keys])[::-1]
    return np.lexsort(keys)


def distinct(values):
    """Return the distinct values, ascending: numbers, then texts; values that cannot be compared count as texts."""
    every = {*values}
    try:
        return sorted(every, key=lambda value: (isinstance(value, str), value))
    except TypeError:
        return sorted(every, key=str)

"""Resampling of a recording, with its labels and times, to another sampling rate.

The sampling rate is found from the times of a recording, or is given and checked against them. A grid places the new
samples between the old ones, and converts ranges of one to ranges of the other.
"""

from __future__ import annotations

from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import signal

from ..distances._series import fill
from ..io._objects import unwrapped
from ..metrics import labels_from_events
from ..metrics._events import runs_of
from ..search._query import check_labels, read_labels
from ..utils._names import warn
from ..utils._parameters import Interval, StrOptions, validate_parameter_constraints
from ..utils._sampling import APART, FEW, interval, unevenness
from ..utils._times import Times, is_datetime, name_of, times_of
from ..utils.validation import as_dates, as_points, as_times, refuse_missing, refused, shown

WRONG = {"holes": "has holes", "uneven": "is sampled unevenly"}


class Rate(NamedTuple):
    """Samples a unit of time, and whether it is known of which kind of times that unit is.

    Attributes
    ----------
    value : float
    dated : bool or None
        Whether the unit is a second of datetimes, else that of the times that the rate was taken from; None where the
        rate was given, which times in numbers cannot contradict, for nobody knows their unit.
    """

    value: float
    dated: bool | None = None

    def compares(self, given):
        """Return whether the steps of times can be compared with the rate."""
        return is_datetime(given) if self.dated is None else self.dated == is_datetime(given)


def rate_of(sampling_rate, t, given, owner):
    """Return the rate that is set, or the one of the times (n,)."""
    if sampling_rate is not None:
        return Rate(float(sampling_rate))
    if t is None or len(t) < 2:
        got = "no times" if t is None else "a single time"
        raise ValueError(
            f"The 'sampling_rate' parameter of {owner} must be a number, the samples a unit of time, where 'X' has no "
            f"times that tell it. Got {shown(sampling_rate)} and {got}. Pass times=..., a table whose index holds "
            "times, or the rate; sampling_rate=1 counts frequencies in cycles a sample."
        )
    return Rate(1.0 / interval(t), is_datetime(given))


def steps_are_even(t):
    """Return whether no step of times (n,) is a gap, and few are half as long again as usual, or half as long."""
    return t is None or len(t) <= FEW or unevenness(np.diff(t)) is None


def notice_steps(t, given, rate, owner):
    """Warn of times whose steps are uneven, or are not those that a transformer was fitted for."""
    if t is None or len(t) < 2:
        return
    way_out = "bring it to even steps of time first, with sktslib.preprocessing.resample."
    if rate is not None and rate.compares(given) and not 1 / APART <= interval(t) * rate.value <= APART:
        warn(
            f"{owner} was fitted for {rate.value:.6g} samples a unit of time (of datetimes, a second), and the times "
            f"of 'X' say {1 / interval(t):.6g}. Samples are taken as if they came at the former rate: set "
            "'sampling_rate' and fit again, or resample 'X' with sktslib.preprocessing.resample."
        )
    elif not steps_are_even(t):
        step = np.diff(t)
        warn(
            f"'X' {WRONG[unevenness(step)]}: its times step by {step.min():.6g} to {step.max():.6g} (of datetimes, in "
            f"seconds). {owner} takes samples as if they were evenly spaced: {way_out}"
        )


TERMS = 1000  # numerator and denominator of the ratio of two rates, at most
MOST = 2**31  # new samples


class SampleGrid:
    """New samples at a rate, from a recording of n samples.

    Attributes
    ----------
    at : ndarray of shape (n_new,)
        Place of each, in samples of the recording, fractions included.
    old_rate, rate : float
        Samples a unit of time of the recording, and the new ones: the nearest to what was asked for in a ratio of small
        integers.
    """

    def __init__(self, n, t, given, rate, sampling_rate):
        old = rate_of(sampling_rate, t, given, "resample").value
        if not 1 / TERMS <= rate / old <= TERMS:
            rule = f"be within a factor of {TERMS} of the sampling rate, {old:g}"
            got, out = shown(rate), "Resample in two steps, or check 'sampling_rate' or the unit of the times."
            raise refused("The 'rate' parameter of resample", rule, got, out)
        self.n, self.old_rate, ratio = n, old, Fraction(rate / old).limit_denominator(TERMS)
        # A step of uneven times counts as many even ones as it lasts.
        self._even = None
        length, even = n, steps_are_even(t)
        if not even:
            step = interval(t)
            length = int((t[-1] - t[0]) / step + 1e-9) + 1
        self._up, self._down = ratio.numerator, ratio.denominator
        self.rate = old * self._up / self._down
        count = (length - 1) * self._up // self._down + 1
        if max(length, count) > MOST:
            rule = f"give at most {MOST} samples, holes of the times filled"
            got, out = f"{shown(rate)}, which makes {count} of {n}", "Lower it, or resample parts of the recording."
            raise refused("The 'rate' parameter of resample", rule, got, out)
        self.at = np.arange(count) * self._down / self._up
        if not even:
            self._even = np.interp(t[0] + step * np.arange(length), t, np.arange(n))
            self.at = np.interp(t[0] + step * self.at, t, np.arange(n))

    def __len__(self):
        return len(self.at)

    def values(self, y):
        """Return the new samples of a recording (channels, n); NaN where one of the two samples about it is missing."""
        missing = np.isnan(y)
        whole = fill(y)
        if self._even is not None:
            whole = np.array([np.interp(self._even, np.arange(self.n), row) for row in whole])
        # A line through both ends is taken off, for beyond them scipy's filter sees zeros.
        if whole.shape[1] == 1:
            out = np.repeat(whole, len(self), axis=1)
        else:
            out = signal.resample_poly(whole, self._up, self._down, axis=1, padtype="line")[:, : len(self)]
        if missing.any():
            left, right = np.floor(self.at).astype(int), np.ceil(self.at).astype(int)
            out[missing[:, left] | missing[:, right]] = np.nan
        return out

    def to_new(self, ranges):
        """Convert half-open ranges (k, 2) of samples of the recording to ranges of new samples."""
        # Borders between new samples, halfway, in the recording's own borders: sample k lies from k to k + 1.
        borders = np.concatenate([[0.0], (self.at[1:] + self.at[:-1]) / 2 + 0.5, [float(self.n)]])
        found = np.rint(np.interp(np.asarray(ranges, float), borders, np.arange(len(borders))))
        start, end = found.astype(np.int64).reshape(-1, 2).T
        start = np.minimum(start, len(self) - 1)
        return np.column_stack([start, np.maximum(end, start + 1)])  # none is empty


def resample(
    X: ArrayLike,
    y: ArrayLike | None = None,
    times: Times | None = None,
    *,
    rate: float,
    sampling_rate: float | None = None,
    nan_policy: str = "raise",
) -> Any:
    """Resample a recording to another sampling rate, with its labels and times.

    A low-pass filter (``scipy.signal.resample_poly``) prevents aliasing at lower rates. Uneven times become even steps.

    Parameters
    ----------
    X : array-like of shape (n,) or (n, channels)
        The recording. A pandas object, whose index may hold the times, returns one with the new times as its index.
    y : array-like of shape (n,), optional
        Labels of the time points, 0 or an empty text for background. Each event remains one event, of at least one
        sample, and events of one class stay apart.
    times : array-like of shape (n,), optional
        Strictly increasing sample times, numbers or datetimes.
    rate : float
        New samples per unit of time; for datetimes the unit is a second. The nearest ratio to the old rate with a
        numerator and a denominator up to 1000 is used; the returned times have the exact rate.
    sampling_rate : float, optional
        The old rate. Default: one over the usual step of the times.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": a new sample is missing if one of the two old samples around it
        is.

    Returns
    -------
    X : ndarray of shape (m,) or (m, channels), Series or DataFrame
        The resampled recording.
    y : ndarray of shape (m,)
        The labels, if `y` is given.
    times : ndarray or DatetimeIndex of shape (m,)
        The times, if `times` is given. Without `y` and `times` only the recording is returned, not a tuple.

    Raises
    ------
    ValueError
        If neither times nor `sampling_rate` give the old rate, or there are too few new samples for the events.

    Examples
    --------
    >>> import numpy as np
    >>> from sktslib.preprocessing import resample
    >>> resample([0.0, 1.0, 2.0, 3.0], rate=2, sampling_rate=1).round(2)
    array([0. , 0.5, 1. , 1.5, 2. , 2.5, 3. ])
    >>> X, y, times = resample(np.ones(6), [0, 0, 1, 1, 0, 0], times=np.arange(6) / 4, rate=2)
    >>> X.shape, y, times
    ((3,), array([0, 1, 0]), array([0. , 0.5, 1. ]))
    """
    rates = {"rate": rate, "sampling_rate": sampling_rate, "nan_policy": nan_policy}
    validate_parameter_constraints(RATES, rates, "resample")
    X, times = unwrapped(X, times, whole=True)
    a = as_points(X, "X")
    refuse_missing(a, "X", missing=nan_policy == "omit")
    given = times_of(X, times)
    grid = SampleGrid(len(a), as_times(given, len(a), name_of(times)), given, float(rate), sampling_rate)
    values = grid.values(a.reshape(len(a), -1).T)
    new_times = None if given is None else times_between(given, grid.at)
    results = [like_table(X, values[0] if a.ndim == 1 else np.ascontiguousarray(values.T), new_times)]
    if y is not None:
        results.append(new_labels(y, grid))
    if times is not None:
        results.append(new_times)
    return results[0] if len(results) == 1 else tuple(results)


RATES = {
    "rate": [Interval(Real, 0, np.inf, closed="neither")],
    "sampling_rate": [Interval(Real, 0, np.inf, closed="neither"), None],
    "nan_policy": [StrOptions({"raise", "omit"})],
}


def new_labels(y, grid):
    """Return the labels of the new samples, with the same events."""
    y = check_labels(y, grid.n)
    ranges = runs_of(read_labels(y).code)
    if not len(ranges):
        return np.full(len(grid), y[0], dtype=y.dtype)
    new = grid.to_new(ranges), y[ranges[:, 0]]
    try:  # rounded to new samples they may overlap
        out = labels_from_events(*new, n_samples=len(grid), on_overlap="cut")
    except ValueError:  # there is no room for all
        out = labels_from_events(*new, n_samples=len(grid), on_overlap="first")
    count = len(runs_of(read_labels(out).code))
    if count != len(ranges):
        rule, out = "leave a sample of each event, and one of background between events of one class", "Raise it."
        got = f"{grid.rate:g}, with which {len(ranges)} events in {grid.n} samples become {count} in {len(grid)}"
        raise refused("rate", rule, got, out)
    return out


def times_between(given, at):
    """Return the times of samples, fractions included: datetimes stay datetimes, to the nanosecond, with their zone."""
    left = np.minimum(np.floor(at).astype(int), len(given) - 1)
    right = np.minimum(left + 1, len(given) - 1)
    share = at - left
    if not is_datetime(given):
        t = np.asarray(given, float)
        return t[left] + share * (t[right] - t[left])
    import pandas as pd

    index = pd.Index(given)
    if index.dtype.kind == "O":
        index = pd.to_timedelta(index) if hasattr(index[0], "total_seconds") else pd.to_datetime(index)
    dates = as_dates(index).astype(f"{index.dtype.kind}8[ns]")
    out = dates[left] + np.rint(share * (dates[right] - dates[left]).astype(float)).astype("m8[ns]")
    zone = getattr(index, "tz", None)
    return out if zone is None else pd.DatetimeIndex(out).tz_localize("UTC").tz_convert(zone)


def like_table(X, values, times):
    """Return the values as a pandas object where `X` is one, with the new times as the index, if there are any."""
    if not hasattr(X, "iloc"):
        return values
    import pandas as pd

    index = None if times is None else pd.Index(times, name=X.index.name)
    if hasattr(X, "columns"):
        return pd.DataFrame(values, index, X.columns)
    return pd.Series(values, index, name=X.name)

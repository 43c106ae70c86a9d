"""Resampling of a recording, with its labels and times, to another sampling rate.

The sampling rate comes from the times of a recording, or is given and checked against them. New samples are
interpolated, and labels are converted to labels of the new samples.
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
    """Samples per unit of time, and the kind of times that the unit belongs to, if it is known.

    Attributes
    ----------
    value : float
    dated : bool or None
        True: the unit is a second of datetimes; False: that of numeric times. None: the rate was given; numeric times
        cannot contradict it, because their unit is unknown.
    """

    value: float
    dated: bool | None = None

    def compares(self, given):
        """Return whether the steps of given times can be compared with the rate."""
        return is_datetime(given) if self.dated is None else self.dated == is_datetime(given)


def rate_of(sampling_rate, t, given, owner):
    """Return the given rate, or the one of the times (n,)."""
    if sampling_rate is not None:
        return Rate(float(sampling_rate))
    if t is None or len(t) < 2:
        got = f"{shown(sampling_rate)} and {'no times' if t is None else 'a single time'}"
        rule = "be a number, the samples per unit of time, if 'X' has no times that give it"
        cycles = "sampling_rate=1 counts frequencies in cycles per sample"
        out = f"Pass times=..., a table whose index holds times, or the rate; {cycles}."
        raise refused(f"The 'sampling_rate' parameter of {owner}", rule, got, out)
    return Rate(1.0 / interval(t), is_datetime(given))


def steps_are_even(t):
    """Return whether times (n,) have no gap and few steps that differ from the usual one by more than half of it."""
    return t is None or len(t) <= FEW or unevenness(np.diff(t)) is None


def notice_steps(t, given, rate, owner):
    """Warn of times whose steps are uneven, or are not those for which a transformer was fitted."""
    if t is None or len(t) < 2:
        return
    way_out = "bring it to even steps of time first, with sktslib.preprocessing.resample."
    if rate is not None and rate.compares(given) and not 1 / APART <= interval(t) * rate.value <= APART:
        warn(
            f"{owner} was fitted for {rate.value:.6g} samples per unit of time (of datetimes, a second), and the times "
            f"of 'X' say {1 / interval(t):.6g}. Samples are taken as if they came at the former rate: set "
            "'sampling_rate' and fit again, or resample 'X' with sktslib.preprocessing.resample."
        )
    elif not steps_are_even(t):
        step = np.diff(t)
        warn(
            f"'X' {WRONG[unevenness(step)]}: its times step by {step.min():.6g} to {step.max():.6g} (of datetimes, in "
            f"seconds). {owner} takes samples as if they were evenly spaced: {way_out}"
        )


TERMS = 1000  # largest numerator and denominator of the ratio of two rates
MOST = 2**31  # most new samples


def new_samples(y, t, given, rate, sampling_rate):
    """Return the samples of a recording (channels, n) at another rate, their positions, and the resulting rate.

    This rate is the nearest to the wanted one with a ratio of small integers. Positions are in samples of the
    recording, including fractions. A new sample is NaN if one of its two neighbors is missing.
    """
    n, old, even = y.shape[1], rate_of(sampling_rate, t, given, "resample").value, steps_are_even(t)
    if not 1 / TERMS <= rate / old <= TERMS:
        rule = f"be within a factor of {TERMS} of the sampling rate, {old:g}"
        got, out = shown(rate), "Resample in two steps, or check 'sampling_rate' or the unit of the times."
        raise refused("The 'rate' parameter of resample", rule, got, out)
    up, down = Fraction(rate / old).limit_denominator(TERMS).as_integer_ratio()
    # A step of uneven times counts as the number of even steps that it lasts.
    step = None if even else interval(t)
    length = n if even else int((t[-1] - t[0]) / step + 1e-9) + 1
    count = (length - 1) * up // down + 1
    if max(length, count) > MOST:
        rule = f"give at most {MOST} samples, holes of the times filled"
        got, out = f"{shown(rate)}, which makes {count} of {n}", "Lower it, or resample parts of the recording."
        raise refused("The 'rate' parameter of resample", rule, got, out)
    at, whole, missing = np.arange(count) * down / up, fill(y), np.isnan(y)
    if not even:
        places = np.interp(t[0] + step * np.arange(length), t, np.arange(n))
        whole = np.array([np.interp(places, np.arange(n), row) for row in whole])
        at = np.interp(t[0] + step * at, t, np.arange(n))
    # A line through both ends is subtracted, because scipy's filter assumes zeros beyond the ends.
    if whole.shape[1] == 1:
        out = np.repeat(whole, count, axis=1)
    else:
        out = signal.resample_poly(whole, up, down, axis=1, padtype="line")[:, :count]
    if missing.any():
        out[missing[:, np.floor(at).astype(int)] | missing[:, np.ceil(at).astype(int)]] = np.nan
    return out, at, old * up / down


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
    given, n = times_of(X, times), len(a)
    t = as_times(given, n, name_of(times))
    values, at, new_rate = new_samples(a.reshape(n, -1).T, t, given, float(rate), sampling_rate)
    new_times = None if given is None else times_between(given, at)
    results = [like_table(X, values[0] if a.ndim == 1 else np.ascontiguousarray(values.T), new_times)]
    if y is not None:
        results.append(new_labels(check_labels(y, n), at, new_rate))
    if times is not None:
        results.append(new_times)
    return results[0] if len(results) == 1 else tuple(results)


RATES = {
    "rate": [Interval(Real, 0, np.inf, closed="neither")],
    "sampling_rate": [Interval(Real, 0, np.inf, closed="neither"), None],
    "nan_policy": [StrOptions({"raise", "omit"})],
}


def new_labels(y, at, rate):
    """Return the labels of new samples at given positions, with the events of labels `y` (n,)."""
    ranges, n, count = runs_of(read_labels(y).code), len(y), len(at)
    if not len(ranges):
        return np.full(count, y[0], dtype=y.dtype)
    # Borders between new samples, at their midpoints, in units where sample k of the recording spans [k, k + 1).
    borders = np.concatenate([[0.0], (at[1:] + at[:-1]) / 2 + 0.5, [float(n)]])
    start, end = np.rint(np.interp(ranges.T, borders, np.arange(count + 1))).astype(np.int64)
    start = np.minimum(start, count - 1)
    new = np.column_stack([start, np.maximum(end, start + 1)]), y[ranges[:, 0]]  # at least one sample each
    try:  # rounding to new samples may make events overlap
        out = labels_from_events(*new, n_samples=count, on_overlap="cut")
    except ValueError:  # there is not enough room for all events
        out = labels_from_events(*new, n_samples=count, on_overlap="first")
    found = len(runs_of(read_labels(out).code))
    if found != len(ranges):
        rule, out = "leave a sample of each event, and one of background between events of one class", "Raise it."
        got = f"{rate:g}, with which {len(ranges)} events in {n} samples become {found} in {count}"
        raise refused("rate", rule, got, out)
    return out


def times_between(given, at):
    """Return the times of positions with fractions; datetimes are exact to the nanosecond and keep their zone."""
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
    """Return the values as a pandas object if `X` is one, indexed by the new times if there are any."""
    if not hasattr(X, "iloc"):
        return values
    import pandas as pd

    index = None if times is None else pd.Index(times, name=X.index.name)
    if hasattr(X, "columns"):
        return pd.DataFrame(values, index, X.columns)
    return pd.Series(values, index, name=X.name)

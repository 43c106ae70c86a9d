"""resample: another sampling rate of a recording, with its labels and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..metrics import labels_from_events
from ..metrics._events import change_points
from ..search._learning.time_labels import read_labels
from ..search._query import check_labels
from ..utils._given_times import is_datetime, name_of, times_of
from ..utils._names import did_you_mean
from ..utils.validation import as_dates, as_points, as_times, check_number, refuse_missing, shown
from ._sample_grid import SampleGrid

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ..utils._types import Times


def resample(
    X: ArrayLike,
    y: ArrayLike | None = None,
    times: Times | None = None,
    *,
    rate: float,
    sampling_rate: float | None = None,
    nan_policy: str = "raise",
) -> Any:
    """Bring a recording to another sampling rate, and its labels and times with it.

    Fewer samples are made behind a low-pass filter (``scipy.signal.resample_poly``), so that no fast change comes out
    as a slow one. Uneven times become even steps.

    Parameters
    ----------
    X : array-like of shape (n,) or (n, channels)
        The recording. With a pandas object, whose index may hold the times, one with the new times as its index is
        returned.
    y : array-like of shape (n,), optional
        Labels of its time points, 0 or an empty text for background. Each event of them stays one, of a sample at
        least, and those of one class stay apart.
    times : array-like of shape (n,), optional
        Strictly increasing sample times, numbers or datetimes.
    rate : float
        New samples a unit of time; of datetimes a second is the unit. The nearest ratio to the old rate with a
        numerator and a denominator up to 1000 is taken, and times tell what it is.
    sampling_rate : float, optional
        The old rate. Default: that of the times, one over the mean of their usual steps.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": a new sample between two of which one is missing is missing.

    Returns
    -------
    X : ndarray of shape (m,) or (m, channels), Series or DataFrame
        The resampled recording.
    y : ndarray of shape (m,)
        Its labels, where `y` is given.
    times : ndarray or DatetimeIndex of shape (m,)
        Its times, where `times` is given. Without `y` and `times` the recording alone is returned, and no tuple.

    Raises
    ------
    ValueError
        If neither times nor `sampling_rate` tell the old rate, or there are too few new samples for the events.

    See Also
    --------
    Resampled : An estimator at another rate, whose matches and segments are those of the original samples.

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
    a, given, grid = read_grid(X, times, rate, sampling_rate, nan_policy, "resample")
    values = grid.values(a.reshape(len(a), -1).T)
    new_times = None if given is None else times_between(given, grid.at)
    out = values[0] if a.ndim == 1 else np.ascontiguousarray(values.T)
    results = [like_table(X, out, new_times)]
    if y is not None:
        results.append(new_labels(y, grid))
    if times is not None:
        results.append(new_times)
    return results[0] if len(results) == 1 else tuple(results)


def read_grid(X, times, rate, sampling_rate, nan_policy, owner):
    """A recording validated, its times as they were given, and where its new samples lie."""
    rate = check_number(rate, "rate", low=0.0, open_low=True, owner=owner)
    if sampling_rate is not None:
        sampling_rate = check_number(sampling_rate, "sampling_rate", low=0.0, open_low=True, owner=owner)
    if nan_policy not in ("raise", "omit"):
        raise ValueError(
            f"The 'nan_policy' parameter of {owner} must be 'raise' or 'omit'. Got {shown(nan_policy)}."
            f"{did_you_mean(nan_policy, ['raise', 'omit'])}"
        )
    a = as_points(X, "X")
    refuse_missing(a, "X", missing=nan_policy == "omit")
    given = times_of(X, times)
    t = as_times(given, len(a), name_of(times))
    return a, given, SampleGrid(len(a), t, given, rate, sampling_rate, owner)


def new_labels(y, grid):
    """Labels of the new samples, with the same events."""
    y = check_labels(y, grid.n)
    code = read_labels(y).code
    edges = change_points(code)
    ranges = np.column_stack([edges[:-1], edges[1:]])[code[edges[:-1]] != 0]
    if not len(ranges):
        return np.full(len(grid), y[0], dtype=y.dtype)
    new = grid.to_new(ranges), y[ranges[:, 0]]
    try:  # rounded to new samples they may overlap
        out = labels_from_events(*new, n_samples=len(grid), on_overlap="cut")
    except ValueError:  # there is no room for all
        out = labels_from_events(*new, n_samples=len(grid), on_overlap="first")
    found = read_labels(out).code
    count = int((found[change_points(found)[:-1]] != 0).sum())
    if count != len(ranges):
        raise ValueError(
            "The 'rate' parameter must leave a sample of each event, and one of background between events of one "
            f"class. Got {grid.rate:g}, with which {len(ranges)} events in {grid.n} samples become {count} in "
            f"{len(grid)}. Raise it."
        )
    return out


def times_between(given, at):
    """Times of samples, fractions included: datetimes stay datetimes, to the nanosecond, with their zone."""
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
    """The values as a pandas object where `X` is one, with the new times as the index, if there are any."""
    if not hasattr(X, "iloc"):
        return values
    import pandas as pd

    index = None if times is None else pd.Index(times, name=X.index.name)
    if hasattr(X, "columns"):
        return pd.DataFrame(values, index, X.columns)
    return pd.Series(values, index, name=X.name)

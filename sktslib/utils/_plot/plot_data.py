"""What a picture needs of its data: checks, times, and fewer points. Nothing here imports matplotlib."""

from collections.abc import Mapping
from datetime import UTC
from typing import NamedTuple

import numpy as np

from .. import validation

LONG = 20_000  # samples from which a line is drawn by its extremes in each pixel column


class Times(NamedTuple):
    """Times of a series: numbers, or ``datetime64`` when `dates` is set; `label` names the axis."""

    values: np.ndarray
    label: str
    dates: bool = False


def as_series(values, name):
    """Return `values` as floats of shape (n, channels); what is not finite becomes NaN, a gap in the line."""
    array = validation.as_points(values, name)
    return np.where(np.isfinite(array), array, np.nan).reshape(len(array), -1)


def as_times(times, n, name, series=None):
    """Return the times of `n` samples; without times, those of the index of `series`, or the sample indices."""
    index = getattr(series, "index", None)
    if hasattr(times, "samples"):  # those of some samples, which the result of a stream knows
        if not hasattr(index, "tz"):
            raise ValueError(
                f"The '{name}' parameter must be given: the result holds the times of its own starts and ends, and no "
                f"others. Got None. Pass the times of the whole sequence, or numpy.arange({n}) to draw it by samples."
            )
        times = None
    if times is None and hasattr(index, "tz"):
        times = index
    if times is None:
        return Times(np.arange(n, dtype=np.float64), "sample")
    label = "time"
    if getattr(times, "tz", None) is not None:
        times, label = times.tz_convert(None), "time (UTC)"
    array = np.asarray(times)
    if array.dtype == object and array.size and getattr(array.flat[0], "tzinfo", None) is not None:
        # numpy's datetimes know no time zones.
        array, label = np.array([t.astimezone(UTC).replace(tzinfo=None) for t in array.flat]), "time (UTC)"
    if array.dtype == object and array.size and hasattr(array.flat[0], "isoformat"):
        array = array.astype("datetime64[ns]")
    numbers = validation.as_times(array, n, name)
    if array.dtype.kind == "M":
        return Times(array, label, dates=True)
    return Times(numbers, "time (s)" if array.dtype.kind == "m" else label)


def names_of(series):
    """Names of the channels, all texts: the columns of a table, or the name of one of them; None without."""
    names = list(getattr(series, "columns", ()))
    if not names and hasattr(series, "index") and hasattr(series, "name"):
        names = [series.name]
    return names if names and all(isinstance(name, str) for name in names) else None


def channel_names(n, *given):
    """Names of n channels, of the first that has them: a table, or a result that knows the `channels` of one."""
    for one in given:
        names = names_of(one) or field(one, "channels")
        if names is not None and len(names) == n:
            return names
    return None


def as_path(path, n_query, n_sequence, out="Pass indices of the whole series."):
    """Return a warping path as integers of shape (2, K) within the lengths of both series."""
    array = validation.as_indices(path, "path")
    if array.ndim != 2 or len(array) != 2:
        raise ValueError(
            f"The 'path' parameter must have shape (2, K): query indices, then sequence indices. "
            f"Got shape {array.shape}. Pass path.T, or numpy.transpose of a list of pairs."
        )
    for row, length, what in ((0, n_query, "query"), (1, n_sequence, "sequence")):
        if array.shape[1] and not (array[row].min() >= 0 and array[row].max() < length):
            raise ValueError(
                f"The 'path' parameter must index the {length} {what} samples in row {row}. "
                f"Got {array[row].min()} to {array[row].max()}. {out}"
            )
    return array


def as_ranges(start, end, n, name):
    """Return half-open ranges within n samples as two integer arrays."""
    start, end = validation.as_indices(start, name), validation.as_indices(end, name)
    if start.ndim != 1 or start.shape != end.shape:
        raise ValueError(
            f"The '{name}' parameter must have a start and an end for each occurrence. "
            f"Got shapes {start.shape} and {end.shape}. Pass the result of the search as it is."
        )
    wrong = np.flatnonzero((start < 0) | (end <= start) | (end > n))
    if len(wrong):
        k = wrong[0]
        raise ValueError(
            f"The '{name}' parameter must hold ranges with 0 <= start < end <= {n}, the length of the sequence. "
            f"Got [{start[k]}, {end[k]}). Pass the sequence that was searched."
        )
    return start, end


def as_boundaries(boundaries, n):
    """Return sorted boundaries within n samples as an integer array."""
    array = validation.as_indices(boundaries, "segments")
    if array.ndim != 1 or (array.size and not (array.min() >= 0 and array.max() <= n and (np.diff(array) >= 0).all())):
        raise ValueError(
            f"The 'segments' parameter must hold sorted boundaries from 0 to {n}, the length of the sequence. "
            f"Got {validation.shown(boundaries)}. Pass the sequence that was segmented and sample indices, not times."
        )
    return array


def field(result, name):
    """Return an attribute of a result or an entry of a dict; None if it has neither."""
    return result.get(name) if isinstance(result, Mapping) else getattr(result, name, None)


def thin(x, y, width):
    """Reduce a line to its lowest and highest value in each column of the given width."""
    columns = np.floor((x - x[0]) / width)
    first = np.concatenate([[0], np.flatnonzero(np.diff(columns)) + 1])
    # fmin and fmax pass over NaN, so a gap shorter than a column does not hide its neighbours.
    extremes = np.column_stack([np.fmin.reduceat(y, first), np.fmax.reduceat(y, first)])
    return np.repeat(x[first], 2), extremes.ravel()


def edges(x):
    """Return the position of every border 0..n: that of the sample after it, and one step after the last."""
    step = x[-1] - x[-2] if len(x) > 1 else 1.0
    return np.append(x, x[-1] + step)

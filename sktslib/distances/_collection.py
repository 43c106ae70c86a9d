"""Collections of series validated, and what estimators that hold a metric share."""

import numpy as np

from ..utils.validation import as_floats, as_series, refuse_empty, refuse_missing, shown


# -------------------------------------------------------------------------------------------------------- collections
def as_collection(values, name, channels=None, *, missing=None):
    """A collection as a list of series `(channels, length)`.

    An array is (n_series, length) or (n_series, length, channels); a list holds series of any lengths; a table has one
    row a series: its points in columns, or one cell a channel. `missing` as in `as_series`.
    """
    if hasattr(values, "tocsr") or np.ma.isMaskedArray(values):
        values = as_floats(values, name)  # says why not, or takes a mask off that hides nothing
    if hasattr(values, "columns") and hasattr(values, "to_numpy"):
        values = values.to_numpy()
    elif hasattr(values, "__array__"):
        values = np.asarray(values)
    if isinstance(values, np.ndarray):
        if values.dtype != object or (values.ndim > 1 and values.size and np.ndim(values.flat[0]) == 0):
            return _rows(as_floats(values, name), name, channels, missing)
        values = _cells(values, name)
    if not isinstance(values, list | tuple) or not len(values):
        raise TypeError(f"{name!r} must be an array or a list of series, at least one. Got {shown(values)}.")
    if np.ndim(values[0]) == 0 and not hasattr(values[0], "__array__"):
        raise ValueError(
            f"{name!r} must be a collection of series. Got one series; pass [{name}]. Reshape your data: an array of "
            "one series has shape (1, length)."
        )
    first = as_series(values[0], f"{name}[0]", channels=channels, like="the other collection", missing=missing)
    rest = (
        as_series(v, f"{name}[{k}]", channels=len(first), like=f"{name}[0]", missing=missing)
        for k, v in enumerate(values)
        if k
    )
    return [first, *rest]


def _rows(a, name, channels, missing):
    """The series of an array."""
    if a.ndim not in (2, 3):
        raise ValueError(
            f"{name!r} must be a collection of series: an array (n_series, length) or (n_series, length, channels), or "
            f"a list of series. Got shape {a.shape}. Reshape your data: an array of one series has shape (1, length)."
        )
    refuse_empty(a, name)
    found = 1 if a.ndim == 2 else a.shape[2]
    if channels is not None and found != channels:
        as_series(a[0], f"{name}[0]", channels=channels, like="the other collection")  # says so
    refuse_missing(a, name, "Axis 0 counts the series.", missing)
    return list(a[:, np.newaxis] if a.ndim == 2 else np.ascontiguousarray(a.transpose(0, 2, 1)))


def _cells(table, name):
    """The series of an array of objects: one cell a series, or, of several columns, one cell a channel."""
    if table.ndim == 1 or table.shape[1] == 1:
        return list(table.ravel())
    series = []
    for r, row in enumerate(table):
        lengths = [np.size(cell) for cell in row]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"{name!r} must have channels of one length in each row. Got lengths {lengths} in row {r}: each "
                "column is a channel, each row a series."
            )
        series.append(np.column_stack([as_floats(cell, f"{name}[{r}]") for cell in row]))
    return series


# --------------------------------------------------------------------------------------------------------- estimators

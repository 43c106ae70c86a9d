"""What a picture needs of its data: checks of series, paths and ranges. Nothing here imports matplotlib."""

from collections.abc import Mapping

import numpy as np

from .. import validation


def as_series(values, name):
    """Return `values` as floats of shape (n, channels); what is not finite becomes NaN, a gap in the line."""
    array = validation.as_points(values, name, strided=True)  # a copy of a long table takes longer than its picture
    if not np.isfinite([np.fmin.reduce(array, axis=None), np.fmax.reduce(array, axis=None)]).all():
        array = np.where(np.isfinite(array), array, np.nan)
    return array.reshape(len(array), -1)


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


def of_estimator(estimator, method, *arguments, **keywords):
    """What a method of a fitted estimator returns."""
    call = getattr(estimator, method, None)
    if call is None:
        raise TypeError(
            f"The 'estimator' parameter must have the method {method!r}. Got {type(estimator).__name__}. Pass a fitted "
            "estimator of this package; of a pipeline its last step, with the sequence transformed by the others."
        )
    return call(*arguments, **keywords)


def found_in(estimator, X, times):
    """Matches or segments that a fitted estimator finds in a sequence."""
    return of_estimator(estimator, "segment" if hasattr(estimator, "segment") else "search", X, times=times)


def query_of(estimator, found, k):
    """The query of the k-th match or segment, with the signs that it fits."""
    queries = estimator.queries_ if hasattr(estimator, "queries_") else estimator._queries_in_range
    query = numbered(queries, 0 if found.query is None else found.query[k])
    return query if found.polarity is None else query * found.polarity[k]


def numbered(values, number):
    """The entry of one of several queries, or the value of the only one."""
    return values[number] if isinstance(values, list) else values

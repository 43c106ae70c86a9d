"""What both estimators share: learning the query, and the way of a sequence to the search."""

from copy import copy
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..distances._collection import MetricParameter
from ..distances._metrics import get_metric
from ..distances._normalise import fill, full_weight
from ..utils._sklearn import validate_parameter_constraints
from ..utils.validation import as_series, as_times, as_weight, check_count
from ._learning import medoid, occurrences
from ._several import several


def one_query(X, name):
    """A list of arrays is a list of queries; take the only one."""
    queries = several(X)
    if queries is None:
        return X
    if len(queries) > 1:
        raise ValueError(
            f"{name!r} must be one query. Got a list of {len(queries)} arrays, which is a list of queries. Search for "
            "each on its own, or pass numpy.asarray of it if its arrays are the time points of one query."
        )
    return queries[0]


def times_of(X, times):
    """The caller's times: given, or the DatetimeIndex of a pandas object; None where there are none."""
    if times is not None:
        return times
    index = getattr(X, "index", None)
    is_time = getattr(getattr(index, "dtype", None), "kind", "") == "M"
    return index if is_time else None


def keep_times(times):
    """The caller's times as results are indexed with: an array, or a pandas index where they have a time zone."""
    if times is None:
        return None
    if getattr(getattr(times, "dtype", None), "tz", None) is not None:
        import pandas as pd

        return pd.DatetimeIndex(times)
    return np.asarray(times)


def check_labels(y, n):
    """Labels of n time points as an array (n,)."""
    y = np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"'y' must have one label per time point, shape ({n},). Got shape {y.shape}.")
    return y


class Template(NamedTuple):
    """A query behind the door."""

    x: np.ndarray  # (channels, m)
    w: np.ndarray | None
    tx: np.ndarray | None


class QueryEstimator(MetricParameter, BaseEstimator):
    """Base of the estimators that are fitted on a query."""

    def _check_parameters(self):
        validate_parameter_constraints(self._parameter_constraints, self.get_params(deep=False), type(self).__name__)
        self.metric_ = copy(get_metric(self.metric, self.metric_params))  # a caller may go on to change theirs

    def _check_limits(self, shortest, longest):
        """Bounds of a length, as integers or None."""
        shortest = check_count(shortest, "min_length", none=True, owner=type(self).__name__)
        longest = check_count(longest, "max_length", none=True, owner=type(self).__name__)
        if shortest is not None and longest is not None and shortest > longest:
            raise ValueError(f"'min_length' must not exceed 'max_length'. Got {shortest} and {longest}.")
        return shortest, longest

    def _fit_query(self, X, y, weight, times):
        self._check_parameters()
        self._check_limits(self.min_length, self.max_length)
        self._x, self._w, self._tx = self._read(one_query(X, "X"), y, self.query, weight, times)
        self.query_ = self._x.T
        self.weight_ = None if self._w is None else self._w.T
        return self

    def _read(self, X, y, query, weight, times):
        """The query: `query`, whose channels must be those of `X`, or `X` or a part of it."""
        omit = self.nan_policy == "omit"
        data = as_series(X, "X", missing=omit)
        validate_data(self, X if hasattr(X, "columns") else data.T, skip_check_array=True, reset=True)
        if query is not None:
            query = one_query(query, "query")
            x = as_series(query, "query", channels=data.shape[0], missing=omit)
            times = times_of(query, times)
        else:
            start, end = self._marked(X, y, data)
            x, times = data[:, start:end], times_of(X, times)
            times = None if times is None else times[start:end]
        return self._template(x, self.weight if weight is None else weight, times)

    def _template(self, x, weight, times):
        """A query `x` (channels, m) with weights and times as they were given."""
        x = x.copy()  # a caller's later edits must not reach the fitted query
        channels, m = x.shape
        w = as_weight(weight, m, channels)
        if np.isnan(x).any():  # a missing point of the query counts nothing
            seen = np.where(np.isnan(x), 0.0, full_weight(w, x))
            if not seen.any():
                raise ValueError("The query must have at least one value that is not NaN and whose weight is above 0.")
            x, w = fill(x), as_weight(seen.T, m, channels)
        return Template(x, w, as_times(times, m, "times"))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.nan_policy == "omit"
        return tags

    def _marked(self, X, y, data):
        """The range of the data that is the query: all of it, or the most typical occurrence that `y` marks."""
        whole = 0, data.shape[1]
        if y is None:
            return whole
        if np.asarray(X).ndim == 1:
            raise ValueError(
                "'X' must have shape (length, channels) where 'y' is given. Got one dimension. Reshape your data with "
                "numpy.reshape(X, (-1, 1)) if it has a single channel."
            )
        labels = check_labels(y, data.shape[1])
        if len(set(labels.tolist())) < 2:
            return whole
        found = [(s, e) for s, e in occurrences(labels).tolist() if not np.isnan(data[:, s:e]).any()]
        return found[medoid([data[:, s:e] for s, e in found], self.metric_)] if found else whole

    def _door(self, X, times, keep=True):
        """A sequence through the door: its array, its times for the kernels, and its times as they were given.

        With `keep` the array is the estimator's own, so that paths asked for later are those of the sequence as it is
        now.
        """
        check_is_fitted(self)
        y = as_series(X, "X", missing=self.nan_policy == "omit")
        if hasattr(X, "columns") and hasattr(self, "feature_names_in_"):  # a nameless query fits named channels
            validate_data(self, X, skip_check_array=True, reset=False)
        if y.shape[0] != self.n_features_in_:
            hint = (
                "Reshape your data to (length, channels)"
                if np.asarray(X).ndim == 1
                else "Time runs along the first axis"
            )
            raise ValueError(
                f"X has {y.shape[0]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                f"as input: the channels of the query. {hint}."
            )
        name = "times" if times is not None else "X.index"
        times = times_of(X, times)
        if keep and hasattr(X, "__array__"):
            y = y.copy()
        return y, as_times(times, y.shape[1], name), keep_times(times)

"""What both estimators share: learning the query, and the way of a sequence to the search."""

from datetime import date, timedelta
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from ..distances._metric_parameter import MetricParameter
from ..metrics import event_f1_score
from ..utils._sizes import check_query, check_size
from ..utils._sklearn import Estimator, validate_parameter_constraints
from ..utils.validation import as_floats, as_series, as_times, as_weight, check_count, shown, sized_series
from ._comparison import Comparison, check_reach
from ._learning import Labels, learn_queries, occurrences, read_labels
from ._missing import observed_query
from ._several import entry, one_each, several


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


def owned(y, X):
    """The array `y` made of `X`; a copy where it may be the caller's memory, who is free to write into it."""
    borrowed = np.may_share_memory(y, X) if isinstance(X, np.ndarray) else hasattr(X, "__array__")
    return y.copy() if borrowed else y


def times_of(X, times):
    """The caller's times: given, or the index of a pandas object if it holds dates or durations; else None."""
    if times is not None:
        return times
    index = getattr(X, "index", None)
    return index if getattr(getattr(index, "dtype", None), "kind", "") in ("M", "m") else None


def is_datetime(times):
    """Whether times are dates or durations, and not numbers."""
    if times is None:
        return False
    dtype = getattr(times, "dtype", None)
    if getattr(dtype, "kind", None) not in (None, "O"):
        return dtype.kind in "Mm"
    given = np.asarray(times)
    first = next((v for v in given.flat if v is not None and v == v), None)
    return given.dtype.kind in "Mm" or isinstance(first, date | timedelta)


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


def refuse_sample_weight(sample_weight):
    """Scores of events know no weights of time points."""
    if sample_weight is not None:
        raise ValueError(
            "The 'sample_weight' parameter must be None: an event is found or not, whatever its time points weigh. Got "
            f"{shown(sample_weight)}. Weights of the query's points are the 'weight' of fit."
        )


def event_score(y, found, n):
    """Event F1 of ranges found among n time points against labels."""
    return event_f1_score(read_labels(check_labels(y, n)).code, np.column_stack([found.start, found.end]))


def same_channels(counts, name):
    """Several queries are searched for in the same sequences."""
    counts = list(counts)
    other = next((k for k, count in enumerate(counts) if count != counts[0]), None)
    if other is not None:
        raise ValueError(
            f"The queries must have the same number of channels. Got {counts[0]} in {name}[0] and {counts[other]} in "
            f"{name}[{other}]. Select the same columns of both."
        )


class Annotation(NamedTuple):
    """A recording and what is marked in it."""

    data: np.ndarray  # (channels, n)
    labels: Labels
    ranges: np.ndarray  # (k, 2), the occurrences
    code: np.ndarray  # (k,), their labels


class QueryEstimator(MetricParameter, Estimator):
    """Base of the estimators that are fitted on a query, or on several: `_queries` says how each is compared."""

    def _check_parameters(self):
        validate_parameter_constraints(self._parameter_constraints, self.get_params(deep=False), type(self).__name__)
        self.metric_ = self._made_metric()

    def _check_size(self, a, what, check=check_size, total=None):
        """Refuse a series with values too large for what is computed."""
        check_reach(self.metric_, a, what, self.normalize, check, total)

    def _check_limits(self, shortest, longest):
        """Bounds of a length, as integers or None."""
        shortest = check_count(shortest, "min_length", none=True, owner=type(self).__name__)
        longest = check_count(longest, "max_length", none=True, owner=type(self).__name__)
        if shortest is not None and longest is not None and shortest > longest:
            raise ValueError(f"'min_length' must not exceed 'max_length'. Got {shortest} and {longest}.")
        return shortest, longest

    def _read_queries(self, X, y, weight, times):
        """The queries that are given, as they are compared."""
        name, given = ("X", X) if self.query is None else ("query", self.query)
        weight = self.weight if weight is None else weight
        queries = several(given)
        if queries is None or len(queries) == 1:
            return [self._read(one_query(X, "X"), self.query, weight, times)]
        if y is not None and self.query is None:
            raise ValueError(
                "'y' must be None where 'X' is a list of queries: they are given, not learned from labels."
            )
        for k, query in enumerate(queries):
            if query is None:  # which elsewhere means that `X` is the query
                as_floats(query, f"{name}[{k}]")
        weights = one_each(weight, len(queries), "weight", "queries")
        every, found = one_each(times, len(queries), "times", "queries"), []
        for k, (query, w, t) in enumerate(zip(queries, weights, every, strict=True)):
            with entry(name, k):
                found.append(self._read(*((query, None) if self.query is None else (X, query)), w, t))
        same_channels([len(how.x) for how in found], name)
        if self.query is None:
            self._read_recording(queries[0])  # the channels' names are those of the first
        return found

    def _read(self, X, query, weight, times):
        """The query: `query`, whose channels must be those of `X`, or `X`."""
        x = self._read_recording(X)
        if isinstance(query, str):
            raise ValueError(
                f"The 'query' parameter of {type(self).__name__} must be an array or None. Got {shown(query)}; "
                "query='auto' of QuerySegmenter takes one period of the recording."
            )
        if query is not None:
            X = one_query(query, "query")
            x = as_series(X, "query", channels=x.shape[0], missing=self.nan_policy == "omit")
        return self._validated_query(x, weight, times_of(X, times))

    def _read_recording(self, X):
        """The array (channels, n) that decides the number of channels."""
        data = as_series(X, "X", missing=self.nan_policy == "omit")
        validate_data(self, X if hasattr(X, "columns") else data.T, skip_check_array=True, reset=True)
        return data

    def _validated_query(self, x, weight, times):
        """How a query `x` (channels, m) is compared, with weights and times as they were given."""
        x = x.copy()  # a caller's later edits must not reach the fitted query
        channels, m = x.shape
        x, w = observed_query(x, as_weight(weight, m, channels))
        self._check_size(x, "The query", check_query)
        return self._compared(x, w, as_times(times, m, "times"), times)

    def _compared(self, x, w, tx, times):
        """How a validated query is compared; `times` are those that came with it."""
        return Comparison(
            self.metric_,
            x,
            w,
            tx if self.metric_.uses_times else None,
            self._mode,
            gaps=self.nan_policy == "omit",
            datetimes=None if times is None else is_datetime(times),
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.nan_policy == "omit"
        return tags

    def _annotation(self, X, y):
        """What `y` marks in the recording `X`, or None where it marks nothing or queries are given."""
        listed = several(X)
        if y is None or not (self.query is None or isinstance(self.query, str)) or (listed and len(listed) > 1):
            return None
        X = one_query(X, "X")
        if np.asarray(X).ndim == 1:
            raise ValueError(
                "'X' must have shape (length, channels) where 'y' is given. Got one dimension. Reshape your data with "
                "numpy.reshape(X, (-1, 1)) if it has a single channel."
            )
        data = self._read_recording(X)
        labels = read_labels(check_labels(y, data.shape[1]))
        ranges, code = occurrences(labels.code)
        whole = np.array([not np.isnan(data[:, s:e]).any() for s, e in ranges], dtype=bool)
        if len(labels.classes) + (labels.code == 0).any() < 2 or not whole.any():
            return None
        return Annotation(data, labels, ranges[whole], code[whole])

    def _learn(self, marked, weight, times, n_templates=1):
        """Queries of the classes that are marked in a recording, as they are compared and as they were learned."""
        check_query(marked.data, "'X'", 2.0, "Learning from labels")
        ty = as_times(times, marked.data.shape[1], "times")
        metric = self.metric_._fitted_to([marked.data[:, s:e] for s, e in marked.ranges])
        learned = learn_queries(marked.data, ty, marked.ranges, marked.code, metric, n_templates)
        weight = self.weight if weight is None else weight
        if weight is not None:
            learned = [one._replace(w=as_weight(weight, *one.x.shape[::-1])) for one in learned]
        return [self._compared(one.x, one.w, one.tx, times) for one in learned], learned

    def _validated(self, X, times):
        """The array of a sequence, its times for the kernels, and its times as they were given."""
        y, total = sized_series(X, "X", missing=self.nan_policy == "omit")
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
        if self.metric_.uses_times and times is not None:
            dated = is_datetime(times)
            if any(how.datetimes == (not dated) for how in self._queries):
                classes = ("numbers", "dates")
                raise ValueError(
                    f"{name!r} must be of one kind with the query's, dates or numbers. Got {classes[dated]} where the "
                    f"query's are {classes[not dated]}; turn dates into numbers by subtraction and division."
                )
        self._check_size(y, "'X'", total=total)
        return y, as_times(times, y.shape[1], name), keep_times(times)

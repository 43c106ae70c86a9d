"""Labels of time points, and the base class of both estimators.

Labels consist of classes, background, and the occurrences that they mark. The base class learns queries and validates
sequences.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from ..distances._metrics.registry import get_metric
from ..distances._names import MetricParameter
from ..io._objects import unwrapped
from ..metrics import event_f1_score
from ..metrics._events import is_background, runs_of
from ..utils._conversion import n_samples
from ..utils._names import warn
from ..utils._parameters import JOBS, Interval, ParameterHolder, StrOptions
from ..utils._sampling import gap_of, holes, interval
from ..utils._sklearn import Estimator, check_fitted
from ..utils._times import Queries, Sequences, Times, distinct, is_datetime, name_of, notice_column, times_of
from ..utils.validation import as_floats, as_series, as_times, as_weight, check_names, refused, shown
from ._channels import POLARITIES, signs_of
from ._chunks import kernel_times, located, one_each, one_sequence, several
from ._learning.choice import is_auto
from ._learning.labels import UNLABELED, learn_queries
from ._limits import observed_query
from ._plan import QueryPlan, check_domain
from ._sources import ArraySource
from ._thresholds import Calibration, check_rate, forget_threshold, rate_of, warn_of_look_alikes

# Attributes of an earlier fit that have to go, because the names of channels must not be those of another metric's fit.
LEARNED = "_candidate", "cv_results_", "best_index_", "self_training_", "report_", "periods_", "classes_"
LEARNED += "_background_label", "_counts", "_answers", "feature_names_in_"


class Labels(NamedTuple):
    """Labels of time points as numbers: 0 is background, the classes count from 1."""

    code: np.ndarray  # (n,)
    classes: np.ndarray  # (k,), sorted
    background: object  # the original label of background


def read_labels(y):
    """Convert labels of any type, an array (n,), to numbers."""
    values = y.tolist()
    missing = sum(v is None or v != v for v in values)
    if missing:
        rule, got = "have a label for each time point", f"{missing} NaN or None; background is 0 or an empty text"
        raise refused("'y'", rule, got)
    every = dict.fromkeys(values, 0)
    classes = distinct(v for v in every if not is_background(v))
    number = every | {label: k + 1 for k, label in enumerate(classes)}
    background = next((v for v in every if is_background(v)), y.dtype.type() if y.dtype.kind != "O" else 0)
    code = np.array([number[v] for v in values], dtype=np.int64)
    return Labels(code, np.array(classes, dtype=y.dtype), background)


def with_background(background, labels):
    """Return labels of one type with the label of background in front."""
    return np.concatenate([np.array([background], dtype=labels.dtype), labels])


def occurrences(code):
    """Return the half-open ranges (k, 2) and labels (k,) of runs of at least 2 equal labels other than 0."""
    ranges = runs_of(code)
    ranges = ranges[ranges[:, 1] - ranges[:, 0] > 1]
    return ranges, code[ranges[:, 0]]


def one_query(X, name):
    """Return the query if a list of arrays, which is a list of queries, holds only one."""
    queries = several(X)
    if queries is None:
        return X
    if len(queries) > 1:
        out = "Search for each on its own, or pass numpy.asarray of it if its arrays are the time points of one query."
        raise refused(repr(name), "be one query", f"a list of {len(queries)} arrays, which is a list of queries", out)
    return queries[0]


def are_named(X):
    """Return whether queries are given with names, in a dictionary.

    Old sparse arrays of scipy are dictionaries, too, and do not count.
    """
    return isinstance(X, dict) and not hasattr(X, "tocsr")


def named(X, name):
    """Return the names and the queries of a dictionary, as an array and a list; None and `X` for anything else."""
    if not are_named(X):
        return None, X
    names = list(X)
    texts = all(isinstance(key, str) for key in names)
    numbers = all(isinstance(key, Integral) and not isinstance(key, bool) for key in names)
    if not names or not (texts or numbers) or any(map(is_background, names)):
        raise ValueError(
            f"{name!r} as a dictionary must hold queries by their names, all of them texts or all integers, none of "
            f"which means background (0, '0' or an empty text). Got {shown(names)}."
        )
    # A list of numbers is a query here.
    return np.array(names), [x if hasattr(x, "shape") else as_floats(x, f"{name}[{k!r}]") for k, x in X.items()]


def of_names(values, names, name):
    """Return values per query as a list in the order of `names`, if they are given in a dictionary."""
    if names is None or not isinstance(values, dict):
        return values
    check_names(values, names.tolist(), "query", repr(name))
    return [values.get(key) for key in names.tolist()]


def check_labels(y, n):
    """Return labels of n time points as an array (n,)."""
    y = np.asarray(y)
    if y.shape != (n,):
        if y.shape == (n, 1):
            raise refused("'y'", f"have one label per time point, shape ({n},)", f"shape {y.shape}; pass y.ravel()")
        out = f"Convert ranges to labels by sktslib.metrics.labels_from_events(ranges, n_samples={n})."
        raise refused("'y'", f"have one label per time point, shape ({n},)", f"shape {y.shape}", out)
    return y


def known_labels(y, self_train):
    """Return labels with background in place of unlabeled time points, and a mask of these.

    Only self-training estimators have unlabeled time points, and only numbers can mark them, not texts or booleans.
    """
    some = self_train and y.dtype.kind not in "USTb"
    unlabeled = np.asarray(y == UNLABELED, bool) if some else np.zeros(len(y), bool)
    if unlabeled.any():
        y = y.copy()
        y[unlabeled] = 0
    return y, unlabeled


class Annotation(NamedTuple):
    """Recording with the occurrences that labels mark in it."""

    data: np.ndarray  # (channels, n)
    labels: Labels
    ranges: np.ndarray  # (k, 2), occurrences
    code: np.ndarray  # (k,), their labels
    unlabeled: np.ndarray | None = None  # (n,), mask of unlabeled samples; None if there are no such samples
    offset: np.ndarray | None = None  # (channels, 1), offset of background; None: the median of its labeled samples
    ty: np.ndarray | None = None  # (n,), times as kernels count them
    datetimes: bool | None = None  # whether the times were datetimes; None without times

    @property
    def source(self):
        """Source of the recording's samples."""
        return ArraySource(self.data, self.ty)


def annotation(estimator, X, y, times):
    """Return the occurrences that `y` marks in the recording `X`; None if it marks nothing or queries are given."""
    listed, is_given = several(X), not isinstance(estimator.query, str | None)
    if y is None or is_given or are_named(X) or (listed and len(listed) > 1):
        return None
    X = one_query(X, "X")
    if np.asarray(X).ndim == 1:
        rule, got = "have shape (length, channels) where 'y' is given", "one dimension"
        raise refused("'X'", rule, got, "Reshape your data with numpy.reshape(X, (-1, 1)) if it has a single channel.")
    data = estimator._read_recording(X)
    y = check_labels(y, data.shape[1])
    known, unlabeled = known_labels(y, estimator._self_train)
    labels = read_labels(known)
    ranges, code = occurrences(labels.code)
    given = times_of(X, times)
    ty = kernel_times(estimator, given, data.shape[1], name_of(times))
    cut = holes(ty, estimator._max_gap)
    whole = np.array([not (np.isnan(data[:, s:e]).any() or ((s < cut) & (cut < e)).any()) for s, e in ranges], bool)
    if len(labels.classes) + (labels.code == 0).any() < 2:
        if estimator.query is None and len(labels.code) > 1:
            raise ValueError(
                "'y' must have at least two distinct labels: background (0 or an empty text), and a class for each "
                f"occurrence. Got {shown(y.tolist()[0])} for all {len(labels.code)} time points, with which the whole "
                "recording would be the query. Label the occurrences alone; or leave out 'y' if 'X' is the query, or "
                "give the query as the parameter 'query'."
            )
        return None
    if not whole.any():
        warn(
            "'y' should mark occurrences from their first sample to their last, of 2 samples at least, without a "
            f"missing value or a hole in time. Got none in {int((labels.code != 0).sum())} label(s) of a class, so "
            f"they are ignored{' and all of X is the query' if estimator.query is None else ''}. Widen marks of "
            "points, for example with labels_from_events."
        )
        return None
    dated = None if given is None else is_datetime(given)
    unlabeled = unlabeled if unlabeled.any() else None
    return Annotation(data, labels, ranges[whole], code[whole], unlabeled, ty=ty, datetimes=dated)


@dataclass(eq=False, repr=False, kw_only=True)
class QueryEstimator(MetricParameter, Estimator):
    """Base class of the estimators that are fitted on one or several queries; `_queries` holds the plan of each.

    A subclass implements `_resolve`, which combines metric and parameters, and `_calibrated`, which finds the matches
    of decoys.
    """

    _parameter_constraints = {
        "metric": [object],  # checked by the registry, whose error lists the names
        "metric_params": [dict, None],
        "query": [object],  # checked when it is read as a series
        "weight": ["array-like", None],
        "polarity": [StrOptions(set(POLARITIES))],
        "nan_policy": [StrOptions({"raise", "omit"})],
        "max_gap": [timedelta, np.timedelta64, Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": JOBS,
        "verbose": ["verbose"],
    }
    _self_train = 0  # estimators without self-training

    metric_params: dict[str, Any] | None = None
    query: Queries | None = None
    weight: ArrayLike | None = None
    polarity: str = "same"
    nan_policy: str = "raise"
    max_gap: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def _check_parameters(self):
        self._max_gap = gap_of(self.max_gap, type(self).__name__)
        self._validate()
        for name in LEARNED:
            vars(self).pop(name, None)
        self.metric_ = self._made_metric()
        if self.polarity != "same" and self.metric_._has_domain:
            name = self.metric_.full_name
            rule = f"be 'same' with the {name}, which is not defined for all values of a mirrored query"
            raise refused("polarity", rule, repr(self.polarity))
        for name in self._parameter_objects:
            held = getattr(self, name)
            if name != "threshold" and isinstance(held, ParameterHolder):  # thresholds are checked once labels are read
                held._validate()

    def _get_metric(self, metric, params):
        if not is_auto(metric):
            return super()._get_metric(metric, params)
        if params:
            rule, got = "be None where metric='auto', which chooses them", shown(params)
            raise refused("'metric_params'", rule, got, "Name a metric, for example 'adtw', to set its parameters.")
        return get_metric("adtw", {"omega": "auto"})

    def _made_metric(self):
        """Return a new metric object, of the chosen candidate if there is one, with "auto" parameters still open."""
        return self._candidate.metric if hasattr(self, "_candidate") else super()._made_metric()

    def _check_domain(self, a, what):
        """Refuse a series with values for which the metric is not defined."""
        check_domain(self.metric_, a, what, getattr(self, "normalize_", None))

    def _taken_apart(self, X, times):
        """Return the input of `fit` as arrays or tables, and its times: those of given queries, or else of `X`."""
        if not isinstance(self.query, str | None):
            return unwrapped(X, None, whole=True)[0], times
        return unwrapped(X, times, whole=True)

    def _read_queries(self, X, y, weight, times):
        """Return the plans of the given queries, and their names or None."""
        if isinstance(self.query, str):
            rule = "be an array, a list of arrays or None"
            got = f"{shown(self.query)}; QuerySegmenter(query='auto') uses one period of a recording"
            raise refused(f"The 'query' parameter of {type(self).__name__}", rule, got)
        name, given = ("X", X) if self.query is None else ("query", self.query)
        weight = self.weight if weight is None else weight
        if self.query is not None:
            given, times = unwrapped(given, times, "query", whole=True)
        names, given = named(given, name)
        weight, times = of_names(weight, names, "weight"), of_names(times, names, "times")
        queries = several(given) if names is None else given
        if y is not None and self.query is None and (names is not None or (queries and len(queries) > 1)):
            raise ValueError(
                f"'X' must be one recording where 'y' is given. Got {len(queries)} series. If they are labeled "
                "recordings, join them, numpy.concatenate(X) and numpy.concatenate(y), where each begins and ends with "
                "background; if they are queries, which are not learned from labels, leave 'y' out."
            )
        may_miss = self.nan_policy == "omit" or getattr(self, "channels", None) is not None

        if self.query is not None:  # the channels of `X` must be the same
            channels = len(self._read_recording(one_query(X, "X"), may_miss))

        def read(query, weight, times):
            if self.query is None:
                x = self._read_recording(query, may_miss)
            else:
                x = as_series(query, "query", channels=channels, missing=may_miss)
            return self._validated_query(x, weight, times_of(query, times), name_of(times))

        if names is None and (queries is None or len(queries) == 1):
            return [read(one_query(given, name), weight, times)], None
        weights = one_each(weight, len(queries), "weight", "queries")
        every, found = one_each(times, len(queries), "times", "queries"), []
        keys = range(len(queries)) if names is None else map(repr, names.tolist())
        for k, query, w, t in zip(keys, queries, weights, every, strict=True):
            with located(f"{name}[{k}]"):
                found.append(read(query, w, t))
        counts = [len(plan.x) for plan in found]
        other = next((k for k, count in enumerate(counts) if count != counts[0]), None)
        if other is not None:  # all queries are searched for in the same sequences
            got = f"{counts[0]} in {name}[0] and {counts[other]} in {name}[{other}]"
            raise refused("The queries", "have the same number of channels", got, "Select the same columns of both.")
        if self.query is None:
            self._read_recording(queries[0], may_miss)  # takes the names of channels from the first query
        return found, names

    def _read_recording(self, X, missing=None):
        """Return the array (channels, n) of a recording, whose channels are those of the fit."""
        data = as_series(X, "X", missing=self.nan_policy == "omit" if missing is None else missing)
        validate_data(self, X if hasattr(X, "columns") else data.T, skip_check_array=True, reset=True)
        self.metric_ = self.metric_._named(self._channel_names)
        notice_column(X, data.T)
        return data

    @property
    def _channel_names(self):
        """Names of the fitted channels, or None."""
        return getattr(self, "feature_names_in_", None)

    def _validated_query(self, x, weight, times, name="times"):
        """Validate a query `x` (channels, m), its weights and times as given; return its plan."""
        x = x.copy()  # so that later changes by the caller do not reach the fitted query
        channels, m = x.shape
        x, w = observed_query(x, as_weight(weight, m, channels))
        self._check_domain(x, "The query")
        tx = as_times(times, m, name)
        known = is_datetime(times) or isinstance(self.max_gap, Real)  # a duration needs datetimes
        cut = holes(tx, self._max_gap if known else None)
        if len(cut):
            rule = f"not step by more than 'max_gap', {shown(self.max_gap)}"
            got = f"a step of {tx[cut[0]] - tx[cut[0] - 1]:g} at index {cut[0]}"
            raise refused(f"{name!r} of the query", rule, got, "Pass one side of the hole as the query.")
        return self._compared(x, w, tx, None if times is None else is_datetime(times), interval(tx))

    def _compared(self, x, w, tx, datetimes, step):
        """Return the plan of a validated query; `step` is the usual interval of its times, if it has any."""
        rest = {"datetimes": datetimes, "interval": step, "max_gap": self._max_gap}
        tx = tx if self.metric_.uses_times else None
        return QueryPlan(self.metric_, x, w, tx, self._mode, gaps=self.nan_policy == "omit", **rest)

    def _learn(self, marked, weight, n_templates=1):
        """Return the queries of the classes marked in a recording, as plans and as `Learned`."""
        metric = self.metric_._fitted_to([marked.data[:, s:e] for s, e in marked.ranges])
        signs = signs_of(self.polarity, len(marked.data))
        learned = learn_queries(marked, metric, n_templates, self.verbose, signs)
        weight = self.weight if weight is None else weight
        if weight is not None:
            learned = [one._replace(w=as_weight(weight, *one.x.shape[::-1])) for one in learned]
        step = interval(marked.ty)
        return [self._compared(one.x, one.w, one.tx, marked.datetimes, step) for one in learned], learned

    @property
    def threshold_(self) -> float | list[float | None] | None:
        """The largest distance of a match, or cost per query point of a repetition, set or learned; None without one.

        For several queries a list. None also with a `Percentile`, and with a false discovery rate before
        `fit_threshold`, because each sequence then has its own threshold.
        """
        check_fitted(self)
        return self._of_each(self._thresholds)

    def _of_each(self, values):
        """Return the only value for one query, or the list of values for several queries."""
        return values if len(self._queries) > 1 else values[0]

    def score(
        self, X: Sequences, y: ArrayLike, times: Times | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the event F1 of what is found against labels, see :func:`sktslib.metrics.event_f1_score`.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        y : array-like of shape (n,)
            True labels of the time points, 0 for background. Each run of one label is an event, so touching events need
            different labels. Found ranges that reach into unlabeled time points do not count.
        times : array-like of shape (n,), optional
            Its sample times.
        sample_weight : None
            Must be None: time points of an event have no weights. It exists because ``Pipeline.score`` passes it.

        Returns
        -------
        float
            The score, in [0, 1].
        """
        if sample_weight is not None:
            rule, got = "be None: an event is found or not, whatever its time points weigh", shown(sample_weight)
            raise refused("sample_weight", rule, got, "Weights of the query's points are the 'weight' of fit.")
        X, times = one_sequence(X, times)
        found = (self.segment if hasattr(self, "segment") else self.search)(X, times)
        y, unlabeled = known_labels(check_labels(y, n_samples(X)), self._self_train)
        known = [not unlabeled[s:e].any() for s, e in zip(found.start, found.end, strict=True)]
        return event_f1_score(read_labels(y).code, np.column_stack([found.start, found.end])[np.array(known, bool)])

    def fit_threshold(self, X: Sequences, times: Times | None = None) -> Self:
        """Fix the threshold of a false discovery rate by a recording that is like later ones.

        The threshold, `threshold_`, then applies to every recording, and streams are possible; q-values, p-values and
        false matches per hour are those of this recording at the same distance. Without it each recording has its own
        threshold.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels), or list of arrays
            The recording; for a searcher several are allowed, which count as one.
        times : array-like of shape (n,), optional
            Sample times of the recording; for several recordings a list.

        Returns
        -------
        QuerySearcher or QuerySegmenter
            Itself.
        """
        check_fitted(self)
        if rate_of(self) is None:
            rule, got = "be a FalseDiscoveryRate for fit_threshold, which finds no other", repr(self.threshold)
            raise refused(f"The 'threshold' parameter of {type(self).__name__}", rule, got)
        check_rate(self, rate_of(self))
        forget_threshold(self)
        rate, each = rate_of(self), self._calibrated(X, times)  # calibrations of each query in each recording
        self._fitted_calibrations = [Calibration.together(some) for some in zip(*each, strict=True)]
        thresholds = rate._thresholds(self._fitted_calibrations)
        for some in each:  # as streams do not know all matches
            for one, threshold in zip(some, thresholds, strict=True):
                warn_of_look_alikes(rate.alpha, one.matches[one.matches <= threshold])
        return self

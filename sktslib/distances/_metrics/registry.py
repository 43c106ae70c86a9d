"""Registry of the distances: the one list from which names, dictionaries, docs and tests derive.

Any function of two series becomes a metric object here.
"""

from __future__ import annotations

import inspect
from copy import copy
from functools import lru_cache
from multiprocessing import parent_process
from typing import TYPE_CHECKING

import numpy as np
from numba.core.dispatcher import Dispatcher

from ...utils.validation import check_names, refused, shown, unknown_name
from .._kernels.compile import kernel, pieces, stop_if_unwanted
from .base import Metric

__all__ = ["get_metric", "metric_names"]

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class CallableMetric(Metric):
    """A distance of your own: any function of two series.

    Parameters
    ----------
    function : callable
        Called as ``function(x, y, **parameters)``, with the given arrays (length,) or (length, channels), and with
        ``weight=`` if there are weights.
    parameters : dict, optional
        Further keyword arguments.
    timed : bool, default=False
        Whether the function takes the times: ``function(x, y, tx, ty, **parameters)``.

    Examples
    --------
    >>> from sktslib.distances import CallableMetric
    >>> CallableMetric(lambda x, y: abs(x - y).max())([0.0, 1.0], [0.0, 3.0])
    2.0
    """

    name = full_name = "callable"
    family = "lockstep"
    _may_be_negative = True
    _is_symmetric = False

    def __init__(self, function: Callable[..., Any], parameters: Any = None, timed: bool = False) -> None:
        self.function = function
        self.parameters = parameters
        self.timed = timed

    @property
    def uses_times(self) -> bool:
        """Whether the times are handed on."""
        return self.timed

    def _validate(self):
        if not callable(self.function):
            raise TypeError(f"The 'function' parameter of CallableMetric must be callable. Got {self.function!r}.")
        if self.parameters is not None and not isinstance(self.parameters, dict):
            rule, got = "be a dictionary of keyword arguments or None", shown(self.parameters)
            raise refused("The 'parameters' parameter of CallableMetric", rule, got, error=TypeError)
        known = self._arguments if self.parameters else None
        if known is not None:
            check_names(self.parameters, known, "parameter", f"the function {self.function!r}")

    @property
    def _arguments(self):
        """Names of the function's arguments behind the series; None where it takes any, or nobody can tell."""
        try:
            arguments = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):
            return None
        if any(a.kind is a.VAR_KEYWORD for a in arguments):
            return None
        places = [a for a in arguments if a.kind in (a.POSITIONAL_ONLY, a.POSITIONAL_OR_KEYWORD)]
        free = [a for a in places[4 if self.timed else 2 :] if a.kind is a.POSITIONAL_OR_KEYWORD]
        return [a.name for a in [*free, *(a for a in arguments if a.kind is a.KEYWORD_ONLY)]]

    @property
    def _takes_weights(self):
        try:
            inspect.signature(self.function).bind_partial(weight=None)
        except (TypeError, ValueError):
            return False
        return True

    def _distance(self, x, w, y, tx, ty):
        stop_if_unwanted()
        x, y = _as_given(x), _as_given(y)
        arguments = dict(self.parameters or {})
        if w is not None:
            if not self._takes_weights:
                raise ValueError(
                    f"'weight' was given, but the function {self.function!r} takes no argument 'weight'. Leave the "
                    "weights out or give the function such an argument."
                )
            arguments["weight"] = _as_given(w)
        if self.timed:
            tx = np.arange(x.shape[0], dtype=float) if tx is None else tx
            ty = np.arange(y.shape[0], dtype=float) if ty is None else ty
            return self._number(self.function(x, y, tx, ty, **arguments))
        return self._number(self.function(x, y, **arguments))

    @property
    def _is_compiled(self):
        """Whether a block of windows can be left to compiled code."""
        return isinstance(self.function, Dispatcher) and not self.timed

    def _windows(self, x, w, y, tx, ty):
        if not self._is_compiled or not len(y):
            return super()._windows(x, w, y, tx, ty)
        self._distance(x, w, y[0], None, None)  # what is wrong with the function is said in words
        series = y[:, 0] if y.shape[1] == 1 else np.ascontiguousarray(y.transpose(0, 2, 1))
        arguments = {**(self.parameters or {}), **({} if w is None else {"weight": _as_given(w)})}
        bound = inspect.signature(self.function.py_func).bind(_as_given(x), series[0], **arguments)
        bound.apply_defaults()
        out = np.empty(len(y))
        query, series, rest = bound.args[0], np.ascontiguousarray(series), bound.args[2:]
        for begin, end in pieces(len(y), x.size**2):
            _each(self.function, query, series[begin:end], rest, out[begin:end])
        if np.isnan(out).any():
            self._number(np.nan)
        return out

    def _number(self, result):
        try:
            if isinstance(result, str) or np.ndim(result):
                raise TypeError
            number = float(result)
        except (TypeError, ValueError):
            rule, got = "return the distance as one real number", shown(result)
            raise refused(f"The function {self.function!r}", rule, got, error=TypeError) from None
        if np.isnan(number):
            rule, got = "return a number", "NaN; return infinity where two series have no distance"
            raise refused(f"The function {self.function!r}", rule, got)
        return number


@kernel(keep=False)
def _each(function, x, series, rest, out):
    """out[k] = function of x and series k, on copies that it may change."""
    for k in range(out.shape[0]):
        out[k] = function(x.copy(), series[k].copy(), *rest)


def _as_given(a):
    """Return a kernel's (channels, length) as a user's array, a copy that the user's function may change."""
    return a[0].copy() if a.shape[0] == 1 else a.T.copy()


if TYPE_CHECKING:
    from typing import Any

    from ...utils._times import MetricLike


FAMILIES = ("elastic", "lockstep", "time")
_REGISTRY = {}  # function name -> class
_ALIASES = {}  # every other name, in lower case -> function name


def register(cls):
    """Add a metric class to the registry (decorator)."""
    _REGISTRY[cls.name] = cls
    for alias in (cls.name, cls.full_name, f"{cls.name}_distance", cls.__name__, *cls.aliases):
        _ALIASES[alias.lower()] = cls.name
    return cls


def metric_names(
    family: str | None = None,
    *,
    multivariate: bool | None = None,
    metric: MetricLike | None = None,
    symmetric: bool | None = None,
) -> list[str]:
    """Return the names of the registered distances, sorted.

    Parameters
    ----------
    family : {"elastic", "lockstep", "time"}, optional
        Only the distances of this family, a group of a dictionary of distances.
    multivariate : bool, optional
        Only those that take several channels, or that do not.
    metric, symmetric : bool, optional
        Only those that are, or are not, metrics or symmetric with their default parameters.

    Returns
    -------
    list of str

    Raises
    ------
    TypeError
        If `multivariate`, `metric` or `symmetric` is not True, False or None.
    ValueError
        If there is no such family.

    Examples
    --------
    >>> from sktslib.distances import metric_names
    >>> metric_names("time")
    ['tam']
    >>> metric_names(family="elastic", metric=True)
    ['msm', 'twed']
    """
    if family is not None:
        check_names([family], FAMILIES, "family")
    facts = {"multivariate": multivariate, "is_metric": metric, "is_symmetric": symmetric}  # as metrics call them
    asked = {fact: value for fact, value in facts.items() if value is not None}
    for fact, value in asked.items():
        if not isinstance(value, bool | np.bool_):
            name = fact.removeprefix("is_")
            raise TypeError(f"The {name!r} parameter must be True, False or None. Got {shown(value)}.")
    found = (name for name, cls in _REGISTRY.items() if family in (None, cls.family))
    return sorted(n for n in found if all(getattr(_REGISTRY[n](), fact) == value for fact, value in asked.items()))


def metric_class(name, what="metric", owner=""):
    """Return the class registered under a name, full name or alias."""
    found = _ALIASES.get(str(name).lower()) if isinstance(name, str) else None
    if found is None:
        error = unknown_name(what, name, _REGISTRY, owner, _ALIASES)
        if parent_process() is not None:
            error.args = (
                f"{error} This process knows no names that were registered in the one that started it: give the metric "
                "object or the function instead of its name, or call register_metric in a module that is imported.",
            )
        raise error
    return _REGISTRY[found]


def class_of_function(function):
    """Return the metric class behind a function of this package; None for any other function."""
    own = str(getattr(function, "__module__", "")).startswith("sktslib.")
    return _REGISTRY.get(_ALIASES.get(getattr(function, "__name__", "").lower())) if own else None


def get_metric(metric: MetricLike, params: Any = None) -> Metric:
    """Return the metric object for a name, a class, an object or a function.

    Parameters
    ----------
    metric : str, Metric, type or callable
        A registered name ("dtw", "Dynamic Time Warping", "euclidean"), a metric class or object, or a function of two
        series.
    params : dict, optional
        Parameters of the metric; those of an object are replaced in a copy.

    Returns
    -------
    Metric

    Raises
    ------
    TypeError
        If `metric` is not one of these, or `params` is not a dictionary.
    ValueError
        If the name or a parameter is unknown (the message lists the valid ones), or a value is out of its range.

    Examples
    --------
    >>> from sktslib.distances import get_metric
    >>> get_metric("lcss", {"eps": 0.2})
    LCSS(eps=0.2)
    """
    if params is not None and not isinstance(params, dict):
        raise TypeError(f"The 'params' parameter must be a dictionary of the metric's parameters. Got {shown(params)}.")
    params = dict(params or {})
    if isinstance(metric, str) and metric == "precomputed":
        raise ValueError(
            "The 'metric' parameter must be a distance of series. Got 'precomputed'. Give a matrix of distances to "
            "scikit-learn's own estimators with metric='precomputed': KNeighborsClassifier, KNeighborsRegressor, "
            "KNeighborsTransformer, RadiusNeighborsTransformer or DBSCAN."
        )
    if isinstance(metric, Metric):
        if params:
            check_names(params, metric.get_params(), "parameter", type(metric).__name__)
        made = copy(metric).set_params(**params) if params else metric
        made._validate()
        return made
    if isinstance(metric, str):
        cls = _REGISTRY.get(metric) or metric_class(metric)
    elif isinstance(metric, type) and issubclass(metric, Metric):
        cls = metric
    elif callable(metric):
        cls = class_of_function(metric)
        if cls is None:
            made = CallableMetric(metric, params or None)
            made._validate()
            return made
        params = {**cls.function_defaults, **params}
    else:
        rule, got = "be a name, a metric object or a callable", shown(metric)
        raise refused("metric", rule, got, f"Names: {', '.join(metric_names())}.", error=TypeError)
    try:
        return copy(_checked(cls, **params))
    except TypeError as error:  # of a list or an array
        if "unhashable" not in str(error):
            raise
        return _checked.__wrapped__(cls, **params)


@lru_cache(maxsize=128, typed=True)
def _checked(cls, /, **params):
    """Return a metric object with valid parameters; it is kept, for checking takes longer than a short distance."""
    check_names(params, cls._get_param_names(), "parameter", cls.__name__)
    made = cls(**params)
    made._validate()
    return made

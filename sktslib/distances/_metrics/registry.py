"""The registry: the one list of distances from which names, dictionaries, docs and tests derive."""

from __future__ import annotations

from copy import copy
from multiprocessing import parent_process
from typing import TYPE_CHECKING

import numpy as np

from ...utils.validation import check_names, shown, unknown_name
from .base import Metric
from .callable import CallableMetric

if TYPE_CHECKING:
    from typing import Any

    from ...utils._types import MetricLike

__all__ = ["get_metric", "metric_names"]

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
    """Names of the registered distances, sorted.

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
    """The class registered under a name, full name or alias."""
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
    """The metric class behind a function of this package; None for any other function."""
    own = str(getattr(function, "__module__", "")).startswith("sktslib.")
    return _REGISTRY.get(_ALIASES.get(getattr(function, "__name__", "").lower())) if own else None


def check_parameters(cls, parameters, owner):
    """Refuse parameters that a metric class does not have, naming the nearest."""
    check_names(parameters, cls._get_param_names(), "parameter", owner)


def get_metric(metric: MetricLike, params: Any = None) -> Metric:
    """Return the metric object that a name, a class, an object or a callable stands for.

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
        If `metric` is none of these, or `params` no dictionary.
    ValueError
        If the name or a parameter is unknown, which the message lists, or a value is out of its range.

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
        cls = metric_class(metric)
    elif isinstance(metric, type) and issubclass(metric, Metric):
        cls = metric
    elif callable(metric):
        cls = class_of_function(metric)
        if cls is None:
            cls, params = CallableMetric, {"function": metric, "parameters": params or None}
        params = {**cls.function_defaults, **params}
    else:
        raise TypeError(
            f"The 'metric' parameter must be a name, a metric object or a callable. Got {shown(metric)}. "
            f"Names: {', '.join(metric_names())}."
        )
    check_parameters(cls, params, cls.__name__)
    made = cls(**params)
    made._validate()
    return made

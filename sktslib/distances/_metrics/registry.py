"""Registry of the distances: names, dictionaries, docs and tests derive from this list.

Any function of two series can be a metric object. Metrics that users register, from a function or a recurrence, have
the same rights as the package's own. Compiled code of users' recurrences is not stored on disk, because its key is the
type, which does not tell which functions belong to it.
"""

from __future__ import annotations

import inspect
from collections import namedtuple
from copy import copy
from functools import cache
from inspect import Parameter, Signature
from itertools import count
from multiprocessing import parent_process
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numba.core.dispatcher import Dispatcher

from ...utils.validation import as_floats, check_names, refuse_missing, refused, shown, unknown_name
from .._kernels import dispatch, scalar
from .._kernels.compile import kernel, pieces, stop_if_unwanted
from .base import BAND_CONSTRAINTS, Metric, checked_metric
from .elastic import ElasticMetric, Query

__all__ = ["get_metric", "metric_names", "register_metric"]

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...utils._times import MetricLike


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
        """Whether times are passed to the function."""
        return self.timed

    def _validate(self):
        if not callable(self.function):
            raise TypeError(f"The 'function' parameter of CallableMetric must be callable. Got {self.function!r}.")
        if self.parameters is not None and not isinstance(self.parameters, dict):
            rule, got = "be a dictionary of keyword arguments or None", shown(self.parameters)
            raise refused("The 'parameters' parameter of CallableMetric", rule, got, error=TypeError)

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
        """Whether compiled code can call the function for a block of windows."""
        return isinstance(self.function, Dispatcher) and not self.timed

    def _windows(self, x, w, y, tx, ty):
        if not self._is_compiled or not len(y):
            return super()._windows(x, w, y, tx, ty)
        self._distance(x, w, y[0], None, None)  # raises a readable error if something is wrong with the function
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
    """Fill in out[k], the result of the function for x and series k; it gets copies, which it may change."""
    for k in range(out.shape[0]):
        out[k] = function(x.copy(), series[k].copy(), *rest)


def _as_given(a):
    """Return a series (channels, length) in the form users have it, as a copy that their function may change."""
    return a[0].copy() if a.shape[0] == 1 else a.T.copy()


FAMILIES = ("elastic", "lockstep", "time")
_REGISTRY = {}  # function name -> class
_ALIASES = {}  # any other name, in lower case -> function name


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
    facts = {"multivariate": multivariate, "is_metric": metric, "is_symmetric": symmetric}  # names in metric classes
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
    """Return the metric class of a function of this package; None for any other function."""
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
    return copy(checked_metric(cls, params, cls.__name__))


# --------------------------------------------------------------------------------------------------- users' own metrics
def register_metric(
    name: str,
    made_of: Any,
    *,
    full_name: str | None = None,
    aliases: Sequence[str] = (),
    description: str = "",
    symmetric: bool | None = False,
    metric: MetricLike = False,
    multivariate: bool | None = True,
    uses_times: bool = False,
) -> Any:
    """Register a distance of your own under a name that can be passed as a metric everywhere.

    Parameters
    ----------
    name : str
        The name, as in ``get_metric(name)``: an identifier that no distance of the package has. A name of your own is
        replaced.
    made_of : callable or NamedTuple class
        Either a function of two series, plain or compiled by numba, called as ``function(x, y, **parameters)`` with
        arrays (length,) or (length, channels). Further arguments need defaults and are the metric's parameters; an
        argument ``weight`` gets the query's weights, arguments ``tx`` and ``ty`` the times. It is a lockstep distance:
        searches compare windows. Or a NamedTuple class decorated with :func:`recurrence`, an elastic distance whose
        fields, numbers or arrays with defaults, are the metric's parameters. The functions of a recurrence take numbers
        and vectors of numbers: use `sktslib.distances.elementwise` instead of ``if``.
    full_name : str, optional
        Name in dictionaries of distances; by default made from `name`.
    aliases : tuple of str, optional
        Further names.
    description : str, optional
        One line for dictionaries of distances; by default the first line of the docstring.
    symmetric, metric : bool or callable, default=False
        Whether d(x, y) = d(y, x), and whether it is a metric on series of one length; a callable gets the metric object
        and decides by its parameters. For a symmetric distance only half of a collection's matrix is computed.
    multivariate : bool, default=True
        Whether it takes several channels.
    uses_times : bool, default=False
        Whether lags and steps of the recurrence are in times, if times are given.

    Returns
    -------
    type
        The metric class.

    Raises
    ------
    TypeError
        If `made_of` is neither a function nor such a class, or a function of the recurrence has other arguments.
    ValueError
        If `name` is not an identifier, or is the name of a distance of the package.

    Notes
    -----
    Each process compiles the kernels of a recurrence of your own, which are not kept on disk. Other processes, such as
    joblib's, know the name once they import the module that registers it; a metric object, and an estimator with the
    name as its `metric`, bring the distance with them.

    Examples
    --------
    A function:

    >>> import numpy as np
    >>> from sktslib.distances import get_metric, recurrence, register_metric
    >>> def within(x, y, eps=0.5):
    ...     return np.mean(np.abs(x - y) > eps)
    >>> Within = register_metric("within", within, symmetric=True)
    >>> get_metric("within", {"eps": 0.1})([0, 1, 2, 3], [0, 1, 2, 4])
    0.25

    A recurrence, dynamic time warping of absolute differences with a penalty for each move that stretches:

    >>> from typing import NamedTuple
    >>> def terms(p, row, y, y_before):
    ...     x, x_before, w, w_before = row
    ...     return w * abs(x - y), 0.0, 0.0
    >>> def moves(p, point_costs, lag_cost, a, b, c, gap):
    ...     return a, a + p.price, a + p.price
    >>> @recurrence(terms=terms, moves=moves)
    ... class Priced(NamedTuple):
    ...     price: float = 0.1
    >>> Priced = register_metric("priced", Priced, symmetric=True)
    >>> Priced(price=0.5)([0, 1, 2, 0], [0, 0, 1, 2])
    3.0
    """
    if not (isinstance(name, str) and name.isidentifier()):
        raise ValueError(f"'name' must be an identifier such as 'my_distance'. Got {shown(name)}.")
    facts = {
        "name": name,
        "full_name": full_name or name.replace("_", " ").title(),
        "aliases": tuple(aliases),
        "description": description,
        "multivariate": bool(multivariate),
    }
    computed = {"_is_symmetric": symmetric, "_is_metric": metric}
    for word in (name, facts["full_name"], f"{name}_distance", *facts["aliases"]):
        taken = _ALIASES.get(word.lower())
        if taken is not None and not issubclass(_REGISTRY[taken], _Registered):
            rule, got = "not be names of the package's own", f"{word!r}, which is {_REGISTRY[taken].__name__}"
            raise refused("'name', 'full_name' and 'aliases'", rule, got)
    is_class = isinstance(made_of, type)
    parts = vars(made_of).get("_parts", {}) if is_class else {}  # those of a base class belong to another recurrence
    if not ("moves" in parts and hasattr(made_of, "_fields") if is_class else callable(made_of)):
        rule = "be a function of two series, or a NamedTuple class decorated with sktslib.distances.recurrence"
        raise refused("'made_of'", rule, shown(made_of), error=TypeError)
    if is_class:
        _check_arguments(name, parts)
    return register(_made((facts, computed, bool(uses_times), made_of)))


def _check_arguments(name, parts):
    """Refuse a function with a wrong number of arguments, for which numba's own message is a page long."""
    for part, arguments in dispatch.ARGUMENTS.items():
        found = inspect.signature(parts[part])
        try:
            found.bind(*arguments.split(", "))
        except TypeError:
            raise TypeError(f"The function {part!r} of {name!r} must take ({arguments}). Got {found}.") from None


# ---------------------------------------------------------------------------------------------------------- the classes
class _Registered:
    """Base of all metrics that a user registers."""

    _recipe = None  # arguments from which the class was made, for processes that do not have it

    def _check_channels(self, channels):
        if channels > 1 and not self.multivariate:
            raise ValueError(
                f"{self.full_name} takes one channel. Got {channels}; pass one, or register it with multivariate=True."
            )

    def __copy__(self):
        made = type(self).__new__(type(self))
        vars(made).update(vars(self))
        return made

    def __reduce__(self):
        return _revived, (self._recipe, vars(self))


class _FunctionMetric(_Registered, CallableMetric):
    """A metric made from a user's function with parameters."""

    @property
    def parameters(self):
        """Further arguments of the function."""
        return self.get_params(deep=False)

    def _distance(self, x, w, y, tx, ty):
        self._check_channels(len(x))
        return super()._distance(x, w, y, tx, ty)


class _RecurrenceMetric(_Registered, ElasticMetric):
    """A metric made from a user's recurrence, with a band."""

    _depends_on_start = True  # because lags may matter; if not, exact distances of matches equal those of the profile

    def _query(self, x, w, n, tx=None, *, search=False):
        self._check_channels(len(x))
        record = self._record(*(_value(getattr(self, field), field) for field in self._record._fields))
        points = np.zeros((3, x.shape[1]))
        if not dispatch.closed_boundary(record):  # a skipped query point costs as much as a skipped series point
            points[0] = scalar.series_gaps(record, x, tx) * (1.0 if w is None else w.max(axis=0))
        return Query(record, x, w, points)


def _value(value, name):
    """Return a parameter in the form compiled code reads: a float or an array of floats."""
    if isinstance(value, Real):
        return float(value)
    array = as_floats(value, name)
    refuse_missing(array, name, "Parameters are finite.")
    return array


_numbers = count()  # number in the name of each record


@cache
def _record_of(made_of):
    """Return a record type for a user's class with a name of its own, because the compiler knows types by name only."""
    record = namedtuple(f"{made_of.__name__}_{next(_numbers)}", made_of._fields, module=made_of.__module__)
    record._parts = made_of._parts
    return record


def _made(recipe):
    """Return the metric class made from a recipe."""
    facts, computed, uses_times, made_of = recipe
    parameters = list(inspect.signature(made_of).parameters.values())
    if isinstance(made_of, type):
        parts = made_of._parts
        base, own = _RecurrenceMetric, {"_record": _record_of(made_of), "uses_times": uses_times}
        own |= {"_is_monotone": parts["monotone"], "_may_be_negative": not parts["monotone"]}
        constraints = {**{field: [Real, "array-like"] for field in made_of._fields}, **BAND_CONSTRAINTS}
        further = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in BAND_CONSTRAINTS]
        called = made_of.__name__
    else:
        timed = {"tx", "ty"} <= {p.name for p in parameters}
        named = [p for p in parameters[2:] if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        parameters = [p for p in named if p.name not in ("weight", "tx", "ty")]
        base, own = _FunctionMetric, {"function": staticmethod(made_of), "timed": timed}
        constraints, further = {}, []
        called = "".join(word.capitalize() for word in facts["name"].split("_"))
    for p in parameters:
        if p.default is p.empty:
            raise TypeError(f"The parameter {p.name!r} of {facts['name']!r} must have a default.")
        if hasattr(base, p.name) or p.name in {q.name for q in further}:
            raise ValueError(f"The parameter {p.name!r} of {facts['name']!r} must have another name: metrics use it.")
    lines = (made_of.__doc__ or "").strip().splitlines()
    if isinstance(made_of, type) and lines and lines[0].startswith(f"{called}("):  # docstring of namedtuple
        lines = []
    namespace = {
        **facts,
        **own,
        "description": facts["description"] or (lines[0] if lines else "A distance of the user's own."),
        "entry_parameters": {p.name: p.default for p in parameters} or "",
        "__init__": _initializer(parameters, further),
        "__doc__": made_of.__doc__,
        "__module__": made_of.__module__,
        "_parameter_constraints": constraints,
        "_recipe": recipe,
        **{name: property(fact) if callable(fact) else bool(fact) for name, fact in computed.items()},
    }
    return type(called, (base,), namespace)


def _initializer(parameters, further):
    """Return an `__init__` with the signature from which scikit-learn reads parameters."""
    plain = Parameter.POSITIONAL_OR_KEYWORD
    parameters = [*(p.replace(kind=plain, annotation=p.empty) for p in parameters), *further]
    signature = Signature([Parameter("self", plain), *parameters])

    def __init__(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for parameter in parameters:
            setattr(self, parameter.name, bound.arguments[parameter.name])

    __init__.__signature__ = signature
    return __init__


# ------------------------------------------------------------------------------------------------------------ processes
def own_metric(name):
    """Return a user's metric with default parameters, by its name; None for anything else."""
    cls = _REGISTRY.get(_ALIASES.get(name.lower())) if isinstance(name, str) else None
    return cls() if cls is not None and issubclass(cls, _Registered) else None


def _revived(recipe, state):
    """Return a metric object from another process, of the class that is registered here if that is the same."""
    cls = _REGISTRY.get(recipe[0]["name"])
    if cls is None or cls._recipe[3] is not recipe[3]:
        made = _made(recipe)
        cls = register(made) if cls is None else made
    metric = cls.__new__(cls)
    vars(metric).update(state)
    return metric

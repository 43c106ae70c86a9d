"""Metrics that users register under a name, a function or a recurrence each, equal in rights to the package's.

Compiled code of a recurrence of theirs is not kept on disk: a type says nothing of the functions behind it.
"""

from __future__ import annotations

import inspect
from collections import namedtuple
from inspect import Parameter, Signature
from itertools import count
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from ...utils.validation import as_floats, refuse_missing, refused, shown
from .._kernels import dispatch, scalar
from .base import BAND_CONSTRAINTS
from .elastic import ElasticMetric, Query
from .registry import _ALIASES, _REGISTRY, CallableMetric, register

__all__ = ["register_metric"]

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...utils._times import MetricLike


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
    >>> from sktslib.distances import get_metric, pairwise_distances, recurrence, register_metric
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
    >>> pairwise_distances([[0, 1, 2, 0], [0, 0, 1, 2]], metric=Priced(price=0.5))
    array([[0., 3.],
           [3., 0.]])
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
    parts = dispatch._PARTS.get(made_of) if is_class else None
    if not (parts and hasattr(made_of, "_fields") if is_class else callable(made_of)):
        rule = "be a function of two series, or a NamedTuple class decorated with sktslib.distances.recurrence"
        raise refused("'made_of'", rule, shown(made_of), error=TypeError)
    if is_class:
        _check_arguments(name, parts)
    cls = _made((facts, computed, bool(uses_times), made_of, _packed(made_of, parts)))
    return register(cls)


def _check_arguments(name, parts):
    """Numba says of a wrong number of arguments in a page of its own."""
    for part, arguments in dispatch.ARGUMENTS.items():
        found = inspect.signature(parts[part])
        try:
            found.bind(*arguments.split(", "))
        except TypeError:
            raise TypeError(f"The function {part!r} of {name!r} must take ({arguments}). Got {found}.") from None


# ---------------------------------------------------------------------------------------------------------- the classes
class _Registered:
    """Base of all metrics that a user registers."""

    _recipe = None  # what made the class, for processes that do not know it

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
    """A function of the user's with its parameters."""

    family = "lockstep"

    @property
    def parameters(self):
        """The function's further arguments."""
        return self.get_params(deep=False)

    def _distance(self, x, w, y, tx, ty):
        self._check_channels(len(x))
        return super()._distance(x, w, y, tx, ty)


class _RecurrenceMetric(_Registered, ElasticMetric):
    """A recurrence of the user's: its record, and a band."""

    _depends_on_start = True  # lags may count; where they do not, the exact distance of a match is its profile's

    def __new__(cls, *args, **kwargs):
        if cls._record not in dispatch._PARTS:  # the class has come from another process, without its functions
            dispatch._PARTS[cls._record] = dispatch._PARTS[_made(cls._recipe)._record]
        return super().__new__(cls)

    def _query(self, x, w, n, tx=None, *, search=False):
        self._check_channels(len(x))
        record = self._record(*(_value(getattr(self, field), field) for field in self._record._fields))
        points = np.zeros((3, x.shape[1]))
        if not dispatch.closed_boundary(record):  # a query point left out costs what one of the series does
            points[0] = scalar.series_gaps(record, x, tx) * (1.0 if w is None else w.max(axis=0))
        return Query(record, x, w, points)


def _value(value, name):
    """Return a parameter as compiled code takes it: a float or an array of floats."""
    if isinstance(value, Real):
        return float(value)
    array = as_floats(value, name)
    refuse_missing(array, name, "Parameters are finite.")
    return array


_numbers = count()  # of the records


def _made(recipe):
    """Return the metric class of a recipe."""
    facts, computed, uses_times, made_of, packed = recipe
    parameters = list(inspect.signature(made_of).parameters.values())
    if isinstance(made_of, type):
        if made_of not in dispatch._PARTS:
            dispatch.recurrence(**packed)(made_of)
        parts = dispatch._PARTS[made_of]
        # The compiler knows records by their names.
        record = namedtuple(f"{made_of.__name__}_{next(_numbers)}", made_of._fields, module=made_of.__module__)
        dispatch._PARTS[record] = parts
        base, own = _RecurrenceMetric, {"_record": record, "uses_times": uses_times}
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
    if isinstance(made_of, type) and lines and lines[0].startswith(f"{called}("):  # namedtuple's own
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
    """Return an `__init__` with the signature that scikit-learn looks at."""
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
def _packed(made_of, parts):
    """Return the functions of a recurrence for processes that cannot import its module; None where they can."""
    if parts is None or made_of.__module__ != "__main__":
        return None
    return {name: part for name, part in parts.items() if name not in dispatch.DERIVED}


def own_metric(name):
    """Return the user's metric, with its defaults, behind a name; None for everything else."""
    cls = _REGISTRY.get(_ALIASES.get(name.lower())) if isinstance(name, str) else None
    return cls() if cls is not None and issubclass(cls, _Registered) else None


def _revived(recipe, state):
    """Return a metric object from another process, of the class registered here where that is the same."""
    cls = _REGISTRY.get(recipe[0]["name"])
    if cls is None or cls._recipe[3] is not recipe[3]:
        made = _made(recipe)
        cls = register(made) if cls is None else made
    metric = cls.__new__(cls)
    vars(metric).update(state)
    return metric

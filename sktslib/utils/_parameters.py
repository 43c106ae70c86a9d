"""Parameters of objects: their names, valid values, and how they are read, set, copied and shown.

Objects that only hold parameters, such as metrics, need no scikit-learn, whose import takes longer than everything else
that a distance needs. They follow its contract: `get_params`, `set_params`, `clone`, nested keys such as
``metric__alpha``.
"""

from __future__ import annotations

import functools
import sys
from copy import deepcopy
from dataclasses import dataclass
from inspect import signature
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from ._names import NOTHING, did_you_mean
from .validation import shown


class InvalidParameterError(ValueError, TypeError):
    """Error for a parameter of the wrong type or out of range."""


class RealNotInt(Real):
    """Real numbers that are not integers, as the type of an `Interval`."""


RealNotInt.register(float)


@dataclass(frozen=True, eq=False)
class Interval:
    """Numbers of a type between two bounds; None means no bound."""

    type: type  # Integral, Real or RealNotInt
    left: float | None
    right: float | None
    closed: str  # "left", "right", "both" or "neither": which bounds are included

    def allows(self, value):
        """Return whether a value is valid."""
        if not isinstance(value, self.type) or value != value:
            return False
        left, right = -np.inf if self.left is None else self.left, np.inf if self.right is None else self.right
        above = value >= left if self.closed in ("left", "both") else value > left
        return above and (value <= right if self.closed in ("right", "both") else value < right)

    def __str__(self):
        bounds = ["-inf" if self.left is None else self.left, "inf" if self.right is None else self.right]
        if self.type is not Integral:
            bounds = [bound if isinstance(bound, str) else float(bound) for bound in bounds]
        brackets = "[" if self.closed in ("left", "both") else "(", "]" if self.closed in ("right", "both") else ")"
        kind = "an int" if self.type is Integral else "a float"
        return f"{kind} in the range {brackets[0]}{bounds[0]}, {bounds[1]}{brackets[1]}"


@dataclass(frozen=True, eq=False)
class StrOptions:
    """A set of valid texts."""

    options: set

    def allows(self, value):
        """Return whether a value is valid."""
        return isinstance(value, str) and value in self.options

    def __str__(self):
        return f"a str among {{{', '.join(map(repr, sorted(self.options)))}}}"


def _is_array(value):
    return not isinstance(value, str | bytes) and (
        len(value.shape) > 0 if hasattr(value, "shape") else hasattr(value, "__len__")
    )


BOOL = bool | np.bool_
# Rules with names: each stands for several rules, with a text for messages.
NAMED = {
    "array-like": (_is_array, "an array-like"),
    "boolean": (lambda value: isinstance(value, BOOL), "an instance of 'bool' or an instance of 'numpy.bool'"),
    "verbose": (
        lambda value: isinstance(value, BOOL) or Interval(Integral, 0, None, "left").allows(value),
        "an int in the range [0, inf), an instance of 'bool' or an instance of 'numpy.bool'",
    ),
    callable: (callable, "a callable"),
    None: (lambda value: value is None, "None"),
}


def _allows(rule, value):
    if isinstance(rule, type):
        return isinstance(value, rule)
    return NAMED[rule][0](value) if rule in NAMED else rule.allows(value)


def _text_of(rule):
    if isinstance(rule, type):
        name = {Integral: "int", Real: "float"}.get(rule, rule.__name__)
        return f"an instance of {name}" if rule.__module__.startswith("sktslib") else f"an instance of {name!r}"
    return NAMED[rule][1] if rule in NAMED else str(rule)


JOBS = [Interval(Integral, None, -1, closed="right"), Interval(Integral, 1, None, closed="left"), None]
SEED = [Interval(Integral, 0, 2**32 - 1, closed="both"), np.random.RandomState, None]
# Meaning of None for parameters that may be None, for messages about other values.
NONE = {
    "beta": "2 (1 - r)",
    "dist": "the cost of the metric",
    "factor": "half the shorter length",
    "max_length": "no bound",
    "metric_params": "the metric's own defaults",
    "min_length": "no bound",
    "n_jobs": "one",
    "n_matches": "as many as fit",
    "normalize": "values as they are",
    "query": "'fit' takes it. QuerySegmenter(query='auto') uses one period of a recording",
    "sigma": "1, or what 'fit' has estimated",
    "threshold": "the one that a search learned from labels, else no bound",
    "triangular": "no band",
    "window": "no band",
}


class Parameters:
    """Base class of objects whose parameters are the arguments of their `__init__`."""

    @classmethod
    @functools.cache
    def _get_param_names(cls):
        parameters = list(signature(cls.__init__).parameters.values())[1:]
        return sorted(p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by their names.

        Parameters
        ----------
        deep : bool, default=True
            Whether parameters of objects that are parameters come with them, behind their name and ``__``.

        Returns
        -------
        dict
        """
        found = {}
        for name in self._get_param_names():
            value = found[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{key}": own for key, own in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and refuse unknown ones with the nearest name.

        Parameters
        ----------
        **params
            Parameters of the object and, behind their name and ``__``, of objects that it holds. Where a parameter is a
            short form, such as a name, and one class of objects alone has the key, it becomes an object of that class.

        Returns
        -------
        object
            The object itself.
        """
        names = self._get_param_names()
        for key in params:
            name = key.partition("__")[0]
            if name not in names:
                hint = did_you_mean(name, names)
                held = [other for other in self.get_params() if other.endswith(f"__{name}")]
                for holder, classes in self._parameter_objects.items():
                    held += [f"{holder}__{name}" for cls in classes if name in cls._get_param_names()]
                hint = f" Did you mean {held[0]!r}?" if held else hint
                if "metric" in names and not held and name == key:
                    hint += f" A parameter of the metric would be 'metric__{name}'."
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}.{hint} Valid parameters are: {names!r}."
                )
        for name in self._parameter_objects:
            keys = {key.partition("__")[2]: key for key in params if key.startswith(f"{name}__")}
            short = params.get(name, getattr(self, name))
            if keys and not hasattr(short, "get_params"):
                params[name] = self._object_of(name, short, {own: params.pop(key) for own, key in keys.items()})
        nested = {}
        for key, value in params.items():
            name, _, own = key.partition("__")
            if own:
                nested.setdefault(name, {})[own] = value
            else:
                setattr(self, name, value)
        for name, keys in nested.items():
            getattr(self, name).set_params(**keys)
        return self

    # Classes of objects that a parameter may be, by its name; short forms stand for one of them.
    _parameter_objects = {}

    def _object_of(self, name, short, keys):
        """Return the object that replaces a short form when its parameters are set by nested keys."""
        owners = [cls for cls in self._parameter_objects[name] if set(keys) <= set(cls._get_param_names())]
        made = [cls._of_short_form(short, **keys) for cls in owners]
        made = [one for one in made if one is not None]
        if len(made) == 1:
            return made[0]
        given = ", ".join(f"{key}={shown(value)}" for key, value in keys.items())
        if owners:
            lines = " or ".join(f"{name}={cls.__name__}({given})" for cls in owners)
            way_out = f"Set {lines}."
        else:
            way_out = " ".join(
                f"{cls.__name__} has {cls._get_param_names()!r}." for cls in self._parameter_objects[name]
            )
        raise ValueError(
            f"{name + '__' + next(iter(keys))!r} of {type(self).__name__} must be a parameter of one class that "
            f"{name}={shown(short)} can mean. {way_out}"
        )

    def _validate(self):
        """Refuse parameters that are out of range."""
        validate_parameter_constraints(self._parameter_constraints, self.get_params(deep=False), type(self).__name__)


class ParameterHolder(Parameters):
    """Base class of objects that hold parameters and are not estimators."""

    _short_forms = (None,)  # values of a parameter that stand for an object of this class

    @classmethod
    def _of_short_form(cls, short, **params):
        """Return the object for a short form (a name or None) with further parameters; None if of another class.

        Parameters that are not given have their defaults.
        """
        return cls(**params) if isinstance(short, str | None) and short in cls._short_forms else None

    def __sklearn_clone__(self):
        return type(self)(**{name: _cloned(getattr(self, name)) for name in self._get_param_names()})

    def __repr__(self):
        defaults = {name: p.default for name, p in signature(type(self).__init__).parameters.items()}
        given = {name: getattr(self, name) for name in self._get_param_names()}
        changed = [f"{name}={value!r}" for name, value in given.items() if repr(value) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(changed)})"


def _cloned(value):
    if isinstance(value, list | tuple | set):
        return type(value)(map(_cloned, value))
    if hasattr(value, "__sklearn_clone__") and not isinstance(value, type):
        return value.__sklearn_clone__()
    return deepcopy(value)


PLAIN = str, int, float, bool
_valid = {}


def validate_parameter_constraints(constraints, params, caller):
    """Refuse invalid parameters, including booleans in place of numbers; fractions are valid numbers.

    Integers must fit into the types of compiled code. Values that were valid before are not checked again, because in a
    loop that would take as long as a short search.
    """
    keys = {name: (id(constraints), name, type(v), v) for name, v in params.items() if v is None or type(v) in PLAIN}
    params = {name: value for name, value in params.items() if name not in keys or keys[name] not in _valid}
    if not params:
        return
    for name, value in params.items():
        rules = constraints.get(name, "no_validation")
        if rules == "no_validation" or _is_valid(value, rules):
            continue
        *texts, last = map(_text_of, rules)
        rule = f"{', '.join(texts)} or {last}" if texts else last
        raise InvalidParameterError(
            f"The {name!r} parameter of {caller} must be {rule}. Got {value!r} instead.{_way_out(name, value, rules)}"
        )
    for name, value in params.items():
        if isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64) and abs(int(value)) >= 2**63:
            whole = any(getattr(rule, "type", None) is Integral for rule in constraints.get(name, ()))
            if whole or abs(int(value)) > sys.float_info.max:
                limit = "64 bits" if whole else "float64, up to 1.8e308"
                raise InvalidParameterError(
                    f"The {name!r} parameter of {caller} must fit into {limit}. Got {shown(value)} instead."
                )
    if len(_valid) >= 1000:
        _valid.clear()
    _valid.update((keys[name], constraints) for name in params if name in keys)  # references keep the ids unique


def _way_out(name, value, rules):
    """Return sentences for the end of a message: the nearest valid value, and what None means."""
    none = isinstance(rules, list) and any(rule is None for rule in rules)
    means = f" None means: {NONE[name]}." if none and name in NONE else ""
    if none and isinstance(value, str) and value.lower() in NOTHING:
        return f" Did you mean None?{means}"
    options = [rule for rule in rules if isinstance(rule, StrOptions)]
    return did_you_mean(value, [text for rule in options for text in rule.options]) + means


def _is_valid(value, rules):
    """Return whether any of the rules allows a value."""
    numeric = any(isinstance(rule, Interval) or rule in (Integral, Real) for rule in rules)
    if isinstance(value, bool | np.bool_) and numeric and "boolean" not in rules:
        return False  # although True is an integer in Python
    if isinstance(value, Real) and not isinstance(value, int | float | np.integer):
        try:
            value = float(value)  # numpy cannot check whether a fraction is NaN
        except OverflowError:
            return False
    return any(_allows(rule, value) for rule in rules)

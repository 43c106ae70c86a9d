"""scikit-learn's private helpers: this module alone imports them, so an upgrade is mended in one place."""

from __future__ import annotations

import functools
import re
import sys
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _param_validation
from sklearn.utils._param_validation import HasMethods, Interval, InvalidParameterError, RealNotInt, StrOptions
from sklearn.utils._set_output import _get_output_config, _wrap_data_with_container
from sklearn.utils.validation import check_is_fitted, validate_data

from ._names import NOTHING, did_you_mean, warn
from .validation import shown

if TYPE_CHECKING:
    from typing import Any, Self

__all__ = [
    "JOBS",
    "Estimator",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "RealNotInt",
    "StrOptions",
    "check_columns",
    "check_fitted",
    "in_container",
    "names_out",
    "validate_parameter_constraints",
    "warn_of_names",
]


JOBS = [
    Interval(Integral, None, -1, closed="right"),
    Interval(Integral, 1, None, closed="left"),
    None,
]
# What None means where a parameter may be None, for messages about other values.
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
    "query": "'fit' takes it. QuerySegmenter(query='auto') takes one period of a recording",
    "sigma": "1, or what 'fit' has estimated",
    "threshold": "the one that a search learned from labels, else no bound",
    "triangular": "no band",
    "window": "no band",
}


class Estimator(BaseEstimator):
    """scikit-learn's base class, but a class's parameters are looked up once: every call would take longer for that."""

    @classmethod
    def _get_param_names(cls):
        return _param_names(cls)

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
        return super().set_params(**params)

    # Classes of objects that a parameter may be, by its name; a short form stands for one of them.
    _parameter_objects = {}

    def _object_of(self, name, short, keys):
        """Return the object that a short form becomes where parameters of it are set."""
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
            f"{name}={shown(short)} can stand for. {way_out}"
        )

    @classmethod
    def _of_short_form(cls, short, **params):
        """Return the object that a short form, a name or None, becomes with a parameter set; None if it is of another.

        Parameters that the short form does not say have their defaults.
        """
        return cls(**params) if short is None else None

    def _validate(self):
        """Refuse parameters that are out of their range."""
        validate_parameter_constraints(self._parameter_constraints, self.get_params(deep=False), type(self).__name__)


@functools.cache
def _param_names(cls):
    return super(Estimator, cls)._get_param_names()


def check_fitted(estimator):
    """Refuse an estimator that is not fitted; scikit-learn's check takes as long as a short search."""
    if "metric_" not in vars(estimator):
        check_is_fitted(estimator)


def check_columns(estimator, X, *, reset):
    """Take the names of the columns, or refuse others than the fitted ones, with the nearest of those that miss."""
    try:
        validate_data(estimator, X, skip_check_array=True, reset=reset)
    except ValueError as error:
        given, fitted = list(getattr(X, "columns", ())), list(getattr(estimator, "feature_names_in_", ()))
        unseen = [name for name in given if name not in fitted]
        hint = did_you_mean(unseen[0], [name for name in fitted if name not in given]) if unseen else ""
        if fitted and set(fitted) <= set(given):
            hint = f"\nTake the fitted ones in their order, X[list(estimator.feature_names_in_)].{hint}"
        raise ValueError(f"{str(error).rstrip()}{hint}") from None


def warn_of_names(estimator, names):
    """Warn, in scikit-learn's words, of nameless columns where the fitted ones had names."""
    warn(
        f"X does not have valid feature names, but {type(estimator).__name__} was fitted with feature names. Its "
        f"columns are taken for {shown(list(names))}, in this order; pass a table with these columns to be sure."
    )


def in_container(estimator, values, X):
    """Return a transformer's values for `X` in the container that its `set_output` asks for, without a `transform`."""
    return _wrap_data_with_container("transform", values, X, estimator)


def with_index(estimator, values, index):
    """Return a transformer's values as a table with its own index, if there is one and `set_output` asks for pandas."""
    if index is None or _get_output_config("transform", estimator)["dense"] != "pandas":
        return values
    import pandas as pd

    return pd.DataFrame(np.asarray(values), index=index, columns=estimator.get_feature_names_out())


def names_out(estimator, names):
    """Return the names of columns that have names of their own, where scikit-learn would make them of numbers."""
    return np.array([f"{type(estimator).__name__.lower()}_{name}" for name in names], dtype=object)


PLAIN = str, int, float, bool
_valid = {}


def validate_parameter_constraints(constraints, params, caller):
    """Check parameters as scikit-learn does, but refuse truth values where numbers are meant, and take fractions.

    Integers must fit into the types of compiled code. What was valid before, as in every call of a loop, is not looked
    at again, which would take as long as a short search.
    """
    keys = {name: (id(constraints), name, type(v), v) for name, v in params.items() if v is None or type(v) in PLAIN}
    params = {name: value for name, value in params.items() if name not in keys or keys[name] not in _valid}
    if not params:
        return
    readable = {name: _readable(value, constraints.get(name, ())) for name, value in params.items()}
    for name, value in readable.items():
        try:
            _param_validation.validate_parameter_constraints(constraints, {name: value}, caller)
        except InvalidParameterError as error:
            rule = re.sub(r"(an instance of )'sktslib[\w.]*\.(\w+)'", r"\1\2", str(error))  # without where it is kept
            rule = rule.replace("an object implementing '_learned_of_query'", "MetricWeights")
            raise InvalidParameterError(f"{rule}{_way_out(name, params[name], constraints[name])}") from None
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
    _valid.update((keys[name], constraints) for name in params if name in keys)  # kept, so that no other has its id


def _way_out(name, value, rules):
    """Return the nearest valid value, and what None means; sentences for the end of a message."""
    none = isinstance(rules, list) and any(rule is None for rule in rules)
    means = f" None means: {NONE[name]}." if none and name in NONE else ""
    if none and isinstance(value, str) and value.lower() in NOTHING:
        return f" Did you mean None?{means}"
    options = [rule for rule in rules if isinstance(rule, StrOptions)]
    return did_you_mean(value, [text for rule in options for text in rule.options - rule.deprecated]) + means


class _Refused:
    """A stand-in for a value that no constraint accepts, shown as that value."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return repr(self.value)


def _readable(value, rules):
    """Return a parameter as scikit-learn's constraints can check whether it is in their range."""
    if value is None or type(value) in (str, int, float):
        return value
    numeric = any(isinstance(rule, Interval) or rule in (Integral, Real) for rule in rules)
    if isinstance(value, bool | np.bool_) and numeric and "boolean" not in rules:
        return _Refused(value)  # True is an integer to Python
    if isinstance(value, Real) and not isinstance(value, int | float | np.integer):
        try:
            return float(value)  # numpy cannot tell of a fraction whether it is NaN
        except OverflowError:
            return _Refused(value)
    return value

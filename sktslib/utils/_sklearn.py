"""scikit-learn's private helpers: this module alone imports them, so an upgrade is mended in one place."""

import functools
import sys
from numbers import Integral

from sklearn.base import BaseEstimator
from sklearn.utils import _param_validation
from sklearn.utils._param_validation import Interval, InvalidParameterError, RealNotInt, StrOptions

from .validation import shown

__all__ = [
    "Estimator",
    "Interval",
    "InvalidParameterError",
    "RealNotInt",
    "StrOptions",
    "validate_parameter_constraints",
]


class Estimator(BaseEstimator):
    """scikit-learn's base class, but a class's parameters are looked up once: every call would take longer for that."""

    @classmethod
    def _get_param_names(cls):
        return _param_names(cls)


@functools.cache
def _param_names(cls):
    return super(Estimator, cls)._get_param_names()


def validate_parameter_constraints(constraints, params, caller):
    """Check parameters as scikit-learn does, and that integers fit into the types of compiled code."""
    _param_validation.validate_parameter_constraints(constraints, params, caller)
    for name, value in params.items():
        if isinstance(value, int) and abs(value) >= 2**63:
            whole = any(getattr(rule, "type", None) is Integral for rule in constraints.get(name, ()))
            if whole or abs(value) > sys.float_info.max:
                limit = "64 bits" if whole else "float64, up to 1.8e308"
                raise InvalidParameterError(
                    f"The {name!r} parameter of {caller} must fit into {limit}. Got {shown(value)} instead."
                )

"""scikit-learn's private helpers: this module alone imports them, so an upgrade is mended in one place."""

from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)

__all__ = ["Interval", "InvalidParameterError", "RealNotInt", "StrOptions", "validate_parameter_constraints"]

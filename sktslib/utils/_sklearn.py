"""scikit-learn's private helpers: no other module imports them, so that an upgrade affects one place."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._set_output import _get_output_config, _wrap_data_with_container
from sklearn.utils.validation import check_is_fitted, validate_data

from ._names import did_you_mean, warn
from ._parameters import Parameters
from .validation import shown

__all__ = ["Estimator", "check_columns", "check_fitted", "in_container", "names_out", "warn_of_names", "with_index"]


class Estimator(Parameters, BaseEstimator):
    """scikit-learn's base class with cached parameter names, because looking them up would slow down every call.

    Constraints of parameters are merged with those of the base classes; None removes the constraint of a parameter that
    a class does not have.
    """

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        listed = [vars(one).get("_parameter_constraints", {}) for one in reversed(cls.__mro__)]
        rules = {name: rule for rules in listed for name, rule in rules.items()}
        cls._parameter_constraints = {name: rule for name, rule in rules.items() if rule is not None}

    _needs_y = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_y
        tags.input_tags.allow_nan = getattr(self, "nan_policy", None) == "omit"
        return tags


def check_fitted(estimator):
    """Refuse an estimator that is not fitted; scikit-learn's own check takes as long as a short search."""
    if "metric_" not in vars(estimator):
        check_is_fitted(estimator)


def check_columns(estimator, X, *, reset):
    """Store the names of the columns (`reset`), or refuse names other than the fitted ones, with a suggestion."""
    try:
        validate_data(estimator, X, skip_check_array=True, reset=reset)
    except ValueError as error:
        given, fitted = list(getattr(X, "columns", ())), list(getattr(estimator, "feature_names_in_", ()))
        unseen = [name for name in given if name not in fitted]
        hint = did_you_mean(unseen[0], [name for name in fitted if name not in given]) if unseen else ""
        if fitted and set(fitted) <= set(given):
            hint = f"\nSelect the fitted ones in their order, X[list(estimator.feature_names_in_)].{hint}"
        raise ValueError(f"{str(error).rstrip()}{hint}") from None


def warn_of_names(estimator, names):
    """Warn, in scikit-learn's words, of columns without names if the fitted ones had names."""
    warn(
        f"X does not have valid feature names, but {type(estimator).__name__} was fitted with feature names. Its "
        f"columns are taken for {shown(list(names))}, in this order; pass a table with these columns to be sure."
    )


def in_container(estimator, values, X):
    """Return values in the container that the estimator's `set_output` asks for, if it has no `transform`."""
    return _wrap_data_with_container("transform", values, X, estimator)


def with_index(estimator, values, index):
    """Return values as a table with this index, if there is one and `set_output` asks for pandas."""
    if index is None or _get_output_config("transform", estimator)["dense"] != "pandas":
        return values
    import pandas as pd

    return pd.DataFrame(np.asarray(values), index=index, columns=estimator.get_feature_names_out())


def names_out(estimator, names):
    """Return names of output columns that contain the given names, in place of scikit-learn's numbers."""
    return np.array([f"{type(estimator).__name__.lower()}_{name}" for name in names], dtype=object)

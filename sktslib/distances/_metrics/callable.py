"""Distances of the caller's: any function of two series as a metric object."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import numpy as np
from numba.core.dispatcher import Dispatcher

from ...utils.validation import check_names, shown
from .._kernels.compilation import kernel, pieces, stop_if_unwanted
from .base import Metric

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["CallableMetric"]


class CallableMetric(Metric):
    """A distance of the caller's: any function of two series.

    Parameters
    ----------
    function : callable
        Called as ``function(x, y, **parameters)``, with arrays (length,) or (length, channels) as they were given,
        and with ``weight=`` where the caller gives weights.
    parameters : dict, optional
        Further keyword arguments.
    timed : bool, default=False
        Whether the times are handed on: ``function(x, y, tx, ty, **parameters)``.

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
            raise TypeError(
                "The 'parameters' parameter of CallableMetric must be a dictionary of keyword arguments or None. Got "
                f"{shown(self.parameters)}."
            )
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
            raise TypeError(
                f"The function {self.function!r} must return the distance as one real number. Got {shown(result)}."
            ) from None
        if np.isnan(number):
            raise ValueError(
                f"The function {self.function!r} must return a number. Got NaN; return infinity where two series have "
                "no distance."
            )
        return number


@kernel(keep=False)
def _each(function, x, series, rest, out):
    """out[k] = function of x and series k, on copies that it may change."""
    for k in range(out.shape[0]):
        out[k] = function(x.copy(), series[k].copy(), *rest)


def _as_given(a):
    """A kernel's (channels, length) as a user's array, a copy that the user's function may change."""
    return a[0].copy() if a.shape[0] == 1 else a.T.copy()

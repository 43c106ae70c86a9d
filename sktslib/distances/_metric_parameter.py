"""The parameters `metric` and `metric_params` of estimators."""

from __future__ import annotations

from copy import copy
from inspect import signature
from typing import TYPE_CHECKING

from ..utils._names import did_you_mean
from ..utils.validation import shown
from ._metrics.base import Metric
from ._metrics.custom import own_metric
from ._metrics.registry import get_metric, metric_class

if TYPE_CHECKING:
    from typing import Any, Self


# What other packages call these parameters.
ELSEWHERE = {"distance": "metric", "distance_params": "metric_params", "dist_params": "metric_params"}
ELSEWHERE |= {"metric_kwargs": "metric_params", "cost_func": "metric"}


def refuse_unknown(unknown, function):
    """Refuse arguments that a function of collections does not take."""
    names = [name for name, of in signature(function).parameters.items() if of.kind != of.VAR_KEYWORD]
    for name, value in unknown.items():
        raise TypeError(_unexpected(function, name, value, names))


def _unexpected(of, name, value, names):
    """What is said of an unknown parameter of a function or class."""
    meant = f" Here it is {ELSEWHERE.get(name)}={shown(value)}."
    if ELSEWHERE.get(name) not in names:
        way_out = f"A parameter of the metric would be given as metric_params={{{name!r}: {shown(value)}}}."
        meant = f"{did_you_mean(name, names)} {way_out}"
    return f"{of.__name__}() got an unexpected keyword argument {name!r}.{meant} Valid parameters are: {names!r}."


class MetricParameter:
    """Mixin of estimators with the parameters `metric` and `metric_params`."""

    _channel_names = None  # of the data that the estimator is fitted on, if these have any
    _named_defaults = {}  # parameters that go with a metric's name: in this estimator it stands for them, too

    def __new__(cls, *_args: Any, **params: Any) -> Self:
        """Refuse unknown parameters by the name of the class that is called, which Python's message may not have."""
        names = cls._get_param_names()
        unknown = next((name for name in params if name not in names), None)
        if unknown is not None and all(p.kind != p.VAR_KEYWORD for p in signature(cls.__init__).parameters.values()):
            raise TypeError(_unexpected(cls, unknown, params[unknown], names))
        return super().__new__(cls)

    def _made_metric(self):
        """A metric object of its own: a caller may go on to change theirs."""
        return copy(self._get_metric(self.metric, self.metric_params))._named(self._channel_names)

    def _get_metric(self, metric, params):
        """The metric object that the parameters stand for."""
        if isinstance(metric, str) and self._named_defaults and isinstance(params, dict | None):
            params = {**self._named_defaults.get(metric_class(metric).name, {}), **(params or {})}
        return get_metric(metric, params)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``metric__alpha=...`` works where the metric is a name, which then becomes its object.

        Parameters
        ----------
        **params
            Parameters of the estimator and, behind ``metric__``, of its metric.

        Returns
        -------
        object
            The estimator itself.
        """
        if any(key.startswith("metric__") for key in params):
            metric = params.pop("metric", self.metric)
            metric_params = params.pop("metric_params", self.metric_params)
            if metric_params is not None or not isinstance(metric, Metric):
                metric = self._get_metric(metric, metric_params)
            self.metric, self.metric_params = metric, None
        return super().set_params(**params)

    def __getstate__(self):
        """Take along the user's own metric where it is given by name, which another process may not know."""
        own = own_metric(self.metric)
        return super().__getstate__() if own is None else {**super().__getstate__(), "_own_metric": own}

    def __setstate__(self, state):
        super().__setstate__({name: value for name, value in state.items() if name != "_own_metric"})

"""Dictionaries of distances for the functional API, and the parameters `metric` and `metric_params` of estimators.

The dictionaries are made from the registry, and converted to metric objects.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy, deepcopy
from inspect import signature
from typing import TYPE_CHECKING, NamedTuple

from ..utils._names import did_you_mean
from ..utils.validation import check_names, refused, shown, unknown_name
from ._metrics.base import Metric
from ._metrics.registry import (
    _REGISTRY,
    FAMILIES,
    CallableMetric,
    class_of_function,
    get_metric,
    metric_class,
    metric_names,
    own_metric,
)

if TYPE_CHECKING:
    from typing import Any, Self

ENTRY_KEYS = ("multivariate", "description", "function", "parameters", "use")


class Entry(NamedTuple):
    """An active entry of a dictionary of distances."""

    family: str
    key: str  # its key in the caller's dictionary
    metric: Metric
    timed: bool  # whether the caller's times are compared


def get_distance_dict(names: Any = None) -> dict[str, Any]:
    """Return a dictionary of distances for `time_series_search`, `time_series_segmentation` and `time_series_distance`.

    Parameters
    ----------
    names : list of str, optional
        Full names ("Dynamic Time Warping"), function names ("dtw") or aliases, in any case. None: every distance.

    Returns
    -------
    dict
        Family ("elastic", "lockstep", "time") -> full name -> entry with the keys ``multivariate``, ``description``,
        ``function``, ``parameters`` and ``use``. It is the caller's own: edit the parameters at will. Among all
        distances those that are not defined for all values have ``use="no"``.

    Raises
    ------
    ValueError
        For a name that is not registered; the message lists the valid ones.

    Examples
    --------
    >>> from sktslib import get_distance_dict
    >>> get_distance_dict(["Dynamic Time Warping"])["elastic"]["Dynamic Time Warping"]["parameters"]
    {'dtw_type': 'dtw', 'alpha': 1}
    """
    if isinstance(names, str):
        raise TypeError(f"'names' must be a list of names. Got the string {names!r}; pass [{names!r}].")
    if names is not None and not isinstance(names, Iterable):
        raise TypeError(f"'names' must be a list of names, or None for all distances. Got {shown(names)}.")
    classes = _REGISTRY.values() if names is None else [metric_class(name, "distance") for name in names]
    made = {}
    for cls in classes:
        made.setdefault(cls.family, {})[cls.full_name] = {
            "multivariate": "yes" if cls.multivariate else "no",
            "description": cls.description or cls.__doc__.strip().splitlines()[0],
            "function": cls.name,
            "parameters": deepcopy(cls.entry_parameters),
            "use": "no" if names is None and cls._has_domain else "yes",
        }
    return made


def _check_dictionary(value, what, rule):
    if not isinstance(value, dict):
        raise TypeError(f"{what} must be a dictionary{rule}. Got {shown(value)}.")


def read_entries(dict_distances):
    """Return the active entries of a dictionary of distances as a list of `Entry`; does not change the dictionary."""
    _check_dictionary(dict_distances, "'dict_distances'", " of distances, as get_distance_dict makes it")
    entries = []
    for family, members in dict_distances.items():
        if family not in FAMILIES:
            raise ValueError(
                f"{unknown_name('family', family, FAMILIES, repr('dict_distances'))} A dictionary of distances holds "
                "family -> name -> entry, as get_distance_dict makes it."
            )
        _check_dictionary(members, f"The family {family!r} of 'dict_distances'", " of entries")
        for key, entry in members.items():
            if is_active(key, entry):
                entries.append(read_entry(family, key, entry))
    return entries


def is_active(key, entry):
    """Return whether an entry is in use, after checking its form."""
    _check_dictionary(entry, f"The entry {key!r}", f" with the keys {', '.join(ENTRY_KEYS)}")
    check_names(entry, ENTRY_KEYS, "key", f"the entry {key!r}")
    for word in ("use", "multivariate"):
        if entry.get(word, "yes") not in ("yes", "no"):
            raise ValueError(f"{word!r} of the entry {key!r} must be 'yes' or 'no'. Got {shown(entry[word])}.")
    return entry.get("use", "yes") == "yes"


def read_entry(family, key, entry):
    """Return the `Entry` for one entry of the dictionary."""
    parameters = entry.get("parameters")
    parameters = {} if parameters is None or (isinstance(parameters, str) and not parameters) else parameters
    _check_dictionary(parameters, f"'parameters' of the entry {key!r}", ", or '' for none")
    given, parameters = parameters, dict(parameters)
    timed = str(parameters.pop("time", "true")).lower() == "true"
    report = parameters.pop("report", "distance")
    if not isinstance(report, str) or report != "distance":
        got = f"{shown(report)}; call the function itself for other reports"
        raise refused(f"'report' of the entry {key!r}", "be 'distance': a search and a table need numbers", got)
    function = _function(key, entry)
    cls = type(function) if isinstance(function, Metric) else function
    if not isinstance(cls, type):
        return Entry(family, key, CallableMetric(function, parameters or None, timed=timed and "time" in given), timed)
    if cls.family != family:
        rule, got = f"be in the family {cls.family!r}", repr(family)
        raise refused(f"The function {cls.name!r} of the entry {key!r}", rule, got)
    if "time" in given and not cls.uses_times:
        raise unknown_name("parameter", "time", cls._get_param_names(), f"the entry {key!r}")
    check_names(parameters, cls._get_param_names(), "parameter", f"the entry {key!r}")
    # A copy keeps what was fitted.
    made = copy(function) if isinstance(function, Metric) else cls
    defaults = {} if isinstance(function, Metric) else cls.function_defaults
    return Entry(family, key, get_metric(made, {**defaults, **parameters}), timed)


def _function(key, entry):
    """Return the metric object, metric class or function that is given in the entry."""
    function = entry.get("function", key)
    if isinstance(function, Metric) or (isinstance(function, type) and issubclass(function, Metric)):
        return function
    if callable(function) and not isinstance(function, type):
        return class_of_function(function) or function
    try:
        return metric_class(function, "function", f"the entry {key!r}")
    except ValueError:
        if "function" in entry:
            raise
        got = ", ".join(map(repr, entry)) or "an empty entry"
        raise refused(f"The entry {key!r}", "have the key 'function', a registered name or a callable", got) from None


def check_channels(key, entry, channels):
    """Refuse several channels if the entry says that its function takes only one."""
    if channels > 1 and entry.get("multivariate", "yes") == "no":
        raise ValueError(
            f"The entry {key!r} has multivariate 'no', but the series have {channels} channels. Pass one channel, "
            "or set multivariate to 'yes' if the function takes several."
        )


# Names of these parameters in other packages.
ELSEWHERE = {"distance": "metric", "distance_params": "metric_params", "dist_params": "metric_params"}
ELSEWHERE |= {"metric_kwargs": "metric_params", "cost_func": "metric"}


def refuse_misplaced(function, Y, unknown):
    """Refuse arguments that a function of two collections does not have, and a metric's name as the second one."""
    names = [name for name, of in signature(function).parameters.items() if of.kind != of.VAR_KEYWORD]
    for name, value in unknown.items():
        raise TypeError(_unexpected(function, name, value, names))
    hint = "" if Y in _REGISTRY else did_you_mean(Y, metric_names())
    raise TypeError(
        f"'Y' must be a collection of series. Got the text {shown(Y)}; a distance is given by its keyword, "
        f"metric={shown(Y)}.{hint}"
    )


def _unexpected(of, name, value, names):
    """Return the error message for an unknown parameter of a function or class."""
    meant = f" Here it is {ELSEWHERE.get(name)}={shown(value)}."
    held = getattr(of, "_parameter_objects", {}).items()
    owner = next(
        (f"{key}={cls.__name__}" for key, classes in held for cls in classes if name in cls._get_param_names()), None
    )
    if owner is not None:
        meant = f" Here it is {owner}({name}={shown(value)})."
    elif ELSEWHERE.get(name) not in names:
        way_out = f"A parameter of the metric would be given as metric_params={{{name!r}: {shown(value)}}}."
        meant = f"{did_you_mean(name, names)} {way_out}"
    return f"{of.__name__}() got an unexpected keyword argument {name!r}.{meant} Valid parameters are: {names!r}."


class _SignatureOfInit:
    """Signature of a class that inherits both `__new__` and `__init__`: Python 3.11.2 would use that of `__new__`."""

    def __get__(self, instance, owner):
        of_method = signature(owner.__init__)
        return of_method.replace(parameters=list(of_method.parameters.values())[1:])


class MetricParameter:
    """Mixin of estimators with the parameters `metric` and `metric_params`."""

    _channel_names = None  # names of the fitted channels, if they have any
    _named_defaults = {}  # parameters that a metric's name implies in this estimator
    __signature__ = _SignatureOfInit()

    def __new__(cls, *_args: Any, **params: Any) -> Self:
        """Refuse unknown parameters with the name of the class, which Python's message may lack."""
        names = cls._get_param_names()
        unknown = next((name for name in params if name not in names), None)
        if unknown is not None and all(p.kind != p.VAR_KEYWORD for p in signature(cls.__init__).parameters.values()):
            raise TypeError(_unexpected(cls, unknown, params[unknown], names))
        return super().__new__(cls)

    def _made_metric(self):
        """Return a copy of the metric object, because the caller may change theirs later."""
        return copy(self._get_metric(self.metric, self.metric_params))._named(self._channel_names)

    def _get_metric(self, metric, params):
        """Return the metric object for the values of both parameters."""
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
        """Include a user's own metric that is given by name, because another process may not know it."""
        own = own_metric(self.metric)
        return super().__getstate__() if own is None else {**super().__getstate__(), "_own_metric": own}

    def __setstate__(self, state):
        super().__setstate__({name: value for name, value in state.items() if name != "_own_metric"})

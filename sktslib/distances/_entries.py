"""Dictionaries of distances, as the functional API takes them: made from the registry, and read into metric objects."""

from copy import deepcopy
from typing import NamedTuple

from ..utils.validation import unknown_name
from ._metrics import _REGISTRY, GROUPS, CallableMetric, Metric, check_parameters, metric_class

ENTRY_KEYS = ("multivariate", "description", "function", "parameters", "use")


class Entry(NamedTuple):
    """One active entry of a dictionary of distances."""

    group: str
    key: str  # the caller's name for it
    metric: Metric
    timed: bool  # whether the caller's times count


def get_distance_dict(names=None):
    """Return a dictionary of distances for `time_series_search`, `time_series_segmentation` and `time_series_distance`.

    Parameters
    ----------
    names : list of str, optional
        Full names ("Dynamic Time Warping"), function names ("dtw") or aliases, in any case. None: every distance.

    Returns
    -------
    dict
        Group ("elastic", "lockstep", "time") -> full name -> entry with the keys ``multivariate``, ``description``,
        ``function``, ``parameters`` and ``use``. It is the caller's own: edit the parameters at will.

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
    classes = list(_REGISTRY.values()) if names is None else [_named(name) for name in names]
    made = {}
    for cls in classes:
        made.setdefault(cls.group, {})[cls.full_name] = {
            "multivariate": "yes" if cls.multivariate else "no",
            "description": cls.description or cls.__doc__.strip().splitlines()[0],
            "function": cls.name,
            "parameters": deepcopy(cls.entry_parameters),
            "use": "yes",
        }
    return made


def _named(name):
    try:
        return metric_class(name)
    except ValueError:
        raise unknown_name("distance", name, [cls.full_name for cls in _REGISTRY.values()]) from None


def read_entries(dict_distances, groups=GROUPS):
    """Return the active entries of a dictionary of distances as a list of `Entry`; the dictionary is not changed."""
    if not isinstance(dict_distances, dict):
        raise TypeError(
            "'dict_distances' must be a dictionary of distances, as get_distance_dict makes it. Got "
            f"{type(dict_distances).__name__}."
        )
    entries = []
    for group, members in dict_distances.items():
        if group not in GROUPS:
            raise unknown_name("group of distances", group, GROUPS)
        if not isinstance(members, dict):
            raise TypeError(
                f"The group {group!r} of 'dict_distances' must be a dictionary of entries. Got {members!r}."
            )
        for key, entry in members.items():
            if _active(key, entry):
                if group not in groups:
                    raise ValueError(
                        f"{key!r} is a {group!r} distance, which has no search. Take it out, set its 'use' to 'no', or "
                        "compute it "
                        "with time_series_distance."
                    )
                entries.append(read_entry(group, key, entry))
    return entries


def _active(key, entry):
    if not isinstance(entry, dict):
        raise TypeError(f"The entry {key!r} must be a dictionary with the keys {', '.join(ENTRY_KEYS)}. Got {entry!r}.")
    for word in entry:
        if word not in ENTRY_KEYS:
            raise unknown_name(f"key of the entry {key!r}", word, ENTRY_KEYS)
    for word in ("use", "multivariate"):
        if entry.get(word, "yes") not in ("yes", "no"):
            raise ValueError(f"{word!r} of the entry {key!r} must be 'yes' or 'no'. Got {entry[word]!r}.")
    return entry.get("use", "yes") == "yes"


def read_entry(group, key, entry):
    """Return the `Entry` that one entry stands for."""
    function, parameters = entry.get("function", key), entry.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise TypeError(f"'parameters' of the entry {key!r} must be a dictionary or ''. Got {parameters!r}.")
    parameters = dict(parameters)
    timed = str(parameters.pop("time", "true")).lower() == "true"
    if parameters.pop("report", "distance") != "distance":
        raise ValueError(
            f"'report' of the entry {key!r} must be 'distance': a search and a table need numbers. Got "
            f"{entry['parameters']['report']!r}; call the function itself for other reports."
        )
    if callable(function) and not (isinstance(function, type) or isinstance(function, Metric)):
        name = getattr(function, "__name__", "")
        if not getattr(function, "__module__", "").startswith("sktslib."):
            timed = timed and "time" in (entry.get("parameters") or {})
            return Entry(group, key, CallableMetric(function, parameters or None, timed=timed), timed)
        function = name
    cls = type(function) if isinstance(function, Metric) else function
    cls = (
        cls
        if isinstance(cls, type) and issubclass(cls, Metric)
        else metric_class(function, f"function of the entry {key!r}:")
    )
    if cls.group != group:
        raise ValueError(
            f"The function {cls.name!r} of the entry {key!r} must stand in the group {cls.group!r}. Got {group!r}."
        )
    check_parameters(cls, parameters, f"the entry {key!r}")
    base = function.get_params(deep=False) if isinstance(function, Metric) else cls.function_defaults
    metric = cls(**{**base, **parameters})
    metric._validate()
    return Entry(group, key, metric, timed)


def check_channels(key, entry, channels):
    """Refuse several channels where the caller's entry says it takes one only."""
    if channels > 1 and entry.get("multivariate", "yes") == "no":
        raise ValueError(
            f"The entry {key!r} has multivariate 'no', but the series have {channels} channels. Pass one channel, "
            "or set "
            "multivariate to 'yes' if the function takes several."
        )

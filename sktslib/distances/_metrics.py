"""Metric objects and the registry: the one list from which names, dictionaries, docs and tests derive."""

import inspect
from copy import copy, deepcopy
from multiprocessing import parent_process
from numbers import Real

import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher
from numpy.lib.stride_tricks import sliding_window_view

from ..utils._sklearn import Estimator, validate_parameter_constraints
from ..utils.validation import as_series, as_times, as_weight, shown, unknown_name
from ._normalise import full_weight, normalise
from ._resample import places

GROUPS = ("elastic", "lockstep", "time")
_REGISTRY = {}  # function name -> class
_ALIASES = {}  # every other name, in lower case -> function name


class Metric(Estimator):
    """A distance and its parameters.

    A metric object is a parameter holder in scikit-learn's manner (``get_params``, ``set_params``, ``clone``) and is
    callable on two series, so that it can be handed to every function that takes a metric.
    """

    # Facts of the registry entry, set by every class.
    name = None  # as in get_metric("dtw")
    full_name = None  # as in get_distance_dict(["Dynamic Time Warping"])
    aliases = ()
    group = None
    description = ""
    multivariate = True
    uses_times = False
    _has_path = True  # whether it says which points of two series meet
    entry_parameters = ""  # what get_distance_dict offers to edit
    function_defaults = {}
    _parameter_constraints = {}

    def __eq__(self, other):
        return type(self) is type(other) and _equal(self._values(), other._values())

    def __hash__(self):
        return hash(type(self))  # parameters may change while the object is a key

    def __sklearn_clone__(self):
        """Clone the parameters, and keep what `fit` estimated.

        A search clones its estimators and grids, and fits the clones; but nobody fits the metric within again.
        """
        made = super().__sklearn_clone__()
        fitted = {name: value for name, value in self._values().items() if name not in self._get_param_names()}
        vars(made).update(deepcopy(fitted))
        return made

    @property
    def symmetric(self):
        """Whether d(x, y) = d(y, x) for all unweighted series."""
        return True

    @property
    def metric(self):
        """Whether it is a metric on series of one length, unweighted."""
        return False

    def __call__(self, x, y, *, weight=None, tx=None, ty=None, cutoff=None):
        """The distance as a plain float; see `distance`."""
        return float(self.distance(x, y, weight=weight, tx=tx, ty=ty, cutoff=cutoff))

    def distance(self, x, y, *, weight=None, tx=None, ty=None, cutoff=None):
        """Distance of two series.

        Parameters
        ----------
        x : array-like of shape (m,) or (m, channels)
            The first series, the query.
        y : array-like of shape (n,) or (n, channels)
            The second series.
        weight : array-like of shape (m,) or (m, channels), optional
            Relative weights of the query's points.
        tx, ty : array-like of shape (m,) and (n,), optional
            Sample times, for distances that use them; sample indices by default.
        cutoff : float, optional
            A distance above it comes out as infinity; elastic distances then skip most of the work.

        Returns
        -------
        float
            The distance; for elastic distances an `Alignment`, a float with a path.

        Examples
        --------
        >>> from sktslib.distances import DTW
        >>> DTW()([0, 1, 2, 3], [3, 2, 1, 0], cutoff=20), DTW()([0, 1, 2, 3], [3, 2, 1, 0], cutoff=19)
        (20.0, inf)
        """
        self._check()
        x, y, w = check_pair(x, y, weight)
        tx, ty = as_times(tx, x.shape[1], "tx"), as_times(ty, y.shape[1], "ty")
        if cutoff is None:
            return self._distance(x, w, y, tx, ty)
        return self._within(x, w, y, tx, ty, as_cutoff(cutoff))

    def _values(self):
        """What the object holds: its parameters and what it was fitted to."""
        return {name: value for name, value in vars(self).items() if name != "_checked"}

    def _check(self):
        """Validate the parameters, unless these very ones were found valid before: a call takes a few microseconds."""
        values = list(self._values().values())
        known = vars(self).get("_checked", ())
        if len(known) != len(values) or any(a is not b for a, b in zip(known, values, strict=True)):
            self._validate()
            self._checked = values

    def _validate(self):
        validate_parameter_constraints(self._parameter_constraints, self.get_params(deep=False), type(self).__name__)

    def _check_search(self, mode):
        """Refuse parameters that mean nothing in a search by "windows" or "warped", or in a "tiling"."""

    # What a metric class defines for the rest of the package; all arguments have passed the door.
    def _distance(self, x, w, y, tx, ty):
        raise NotImplementedError

    def _within(self, x, w, y, tx, ty, cutoff):
        """The distance if it is at most the cutoff, else infinity."""
        d = self._distance(x, w, y, tx, ty)
        return d if d <= cutoff else np.inf

    def _windows(self, x, w, y, tx, ty):
        """Distances of the query to a block of windows `y` of shape (windows, channels, m), times `ty` (windows, m)."""
        out = np.empty(len(y))
        for k in range(len(y)):
            out[k] = self._distance(x, w, y[k], tx, None if ty is None else ty[k])
        return out

    def _profile(self, x, w, y, tx, ty, normalize):
        """Distances of the query to all windows of its length, block by block; a window's times begin at 0."""
        m = x.shape[1]
        out = np.empty(y.shape[1] - m + 1)
        full = full_weight(w, x)
        x = normalise(x, full, normalize)
        block = max(1, 2**19 // x.size)
        for first in range(0, len(out), block):
            last = min(first + block, len(out))
            windows = sliding_window_view(y[:, first : last + m - 1], m, axis=1).transpose(1, 0, 2)
            windows = normalise(np.ascontiguousarray(windows), full, normalize)
            times = None
            if ty is not None:
                times = sliding_window_view(ty[first : last + m - 1], m)
                times = times - times[:, :1]
            out[first:last] = self._windows(x, w, windows, None if tx is None else tx - tx[0], times)
        return out

    def _scaled_profile(self, x, w, y, tx, ty, normalize, length):
        """Distances of the query to all windows of another length, each resampled to the query's length."""
        m = x.shape[1]
        left, share = places(length, m)
        right = np.minimum(left + 1, length - 1)
        full = full_weight(w, x)
        x = normalise(x, full, normalize)
        out = np.empty(y.shape[1] - length + 1)
        block = max(1, 2**19 // x.size)
        for first in range(0, len(out), block):
            start = np.arange(first, min(first + block, len(out)))[:, np.newaxis]
            windows = y[:, start + left] * (1.0 - share) + y[:, start + right] * share
            windows = normalise(np.ascontiguousarray(windows.transpose(1, 0, 2)), full, normalize)
            times = None
            if ty is not None:
                times = ty[start + left] * (1.0 - share) + ty[start + right] * share
                times = times - times[:, :1]
            out[first : first + len(start)] = self._windows(x, w, windows, None if tx is None else tx - tx[0], times)
        return out

    def _slack(self, x, w, n_windows, normalize):
        """The largest relative error of the distances of such a profile; those of a single window have none."""
        return 0.0

    # So many times what the query costs against a flat line, per sample, a sample of background costs by default.
    # Squared differences grow faster than likeness fades, and a poor repetition should be one all the same.
    _flat = 1.0
    # The average of points that a cost is least for: "mean" for squared differences, "median" for absolute ones.
    _centre = "mean"

    def _tile_cost(self, distance, m):
        """The un-rooted sum behind a distance of m points; distances that are no sums count m times themselves."""
        return m * distance


def _equal(a, b):
    """Whether two values of parameters are equal, arrays element by element."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a is b or bool(a == b)


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
    group = "lockstep"

    def __init__(self, function, parameters=None, timed=False):
        self.function = function
        self.parameters = parameters
        self.timed = timed

    @property
    def uses_times(self):
        """Whether the times are handed on."""
        return self.timed

    @property
    def symmetric(self):
        return False

    def _validate(self):
        if not callable(self.function):
            raise TypeError(f"The 'function' parameter of CallableMetric must be callable. Got {self.function!r}.")
        if self.parameters is not None and not isinstance(self.parameters, dict):
            raise TypeError(
                "The 'parameters' parameter of CallableMetric must be a dictionary of keyword arguments or None. Got "
                f"{shown(self.parameters)}."
            )

    def _distance(self, x, w, y, tx, ty):
        x, y = _as_given(x), _as_given(y)
        arguments = dict(self.parameters or {})
        if w is not None:
            try:
                inspect.signature(self.function).bind_partial(weight=None)
            except (TypeError, ValueError):
                raise ValueError(
                    f"'weight' was given, but the function {self.function!r} takes no argument 'weight'. Leave the "
                    "weights out or give the function such an argument."
                ) from None
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
        _each(self.function, bound.args[0], np.ascontiguousarray(series), bound.args[2:], out)
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


@njit(nogil=True)
def _each(function, x, series, rest, out):
    """out[k] = function of x and series k, on copies that it may change."""
    for k in range(out.shape[0]):
        out[k] = function(x.copy(), series[k].copy(), *rest)


def _as_given(a):
    """A kernel's (channels, length) as a user's array, a copy that the user's function may change."""
    return a[0].copy() if a.shape[0] == 1 else a.T.copy()


def check_pair(x, y, weight, names=("x", "y")):
    """Both series and the relative weights, through the door."""
    x = as_series(x, names[0])
    y = as_series(y, names[1], channels=x.shape[0], like=repr(names[0]))
    return x, y, as_weight(weight, x.shape[1], x.shape[0])


def as_cutoff(cutoff):
    """A cutoff through the door."""
    if not isinstance(cutoff, Real) or isinstance(cutoff, bool) or not cutoff >= 0:
        raise ValueError(
            "The 'cutoff' parameter must be None or a number of at least 0, the largest distance of interest. Got "
            f"{shown(cutoff)}."
        )
    return float(cutoff)


def register(cls):
    """Add a metric class to the registry (decorator)."""
    _REGISTRY[cls.name] = cls
    for alias in (cls.name, cls.full_name, f"{cls.name}_distance", cls.__name__, *cls.aliases):
        _ALIASES[alias.lower()] = cls.name
    return cls


def metric_names(family=None, *, multivariate=None, metric=None, symmetric=None):
    """Names of the registered distances, sorted.

    Parameters
    ----------
    family : {"elastic", "lockstep", "time"}, optional
        Only the distances of this family, a group of a dictionary of distances.
    multivariate : bool, optional
        Only those that take several channels, or that do not.
    metric, symmetric : bool, optional
        Only those that are, or are not, metrics or symmetric with their default parameters.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from sktslib.distances import metric_names
    >>> metric_names("time")
    ['tam']
    >>> metric_names(family="elastic", metric=True)
    ['msm', 'twed']
    """
    if family not in (None, *GROUPS):
        raise unknown_name("family", family, GROUPS)
    facts = {"multivariate": multivariate, "metric": metric, "symmetric": symmetric}
    asked = {fact: value for fact, value in facts.items() if value is not None}
    for fact, value in asked.items():
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"The {fact!r} parameter must be True, False or None. Got {shown(value)}.")
    found = (name for name, cls in _REGISTRY.items() if family in (None, cls.group))
    return sorted(n for n in found if all(getattr(_REGISTRY[n](), fact) == value for fact, value in asked.items()))


def metric_class(name, what="metric", owner=""):
    """The class registered under a name, full name or alias."""
    found = _ALIASES.get(str(name).lower()) if isinstance(name, str) else None
    if found is None:
        error = unknown_name(what, name, _REGISTRY, owner)
        if parent_process() is not None:
            error.args = (
                f"{error} This process knows no names that were registered in the one that started it: give the metric "
                "object or the function instead of its name, or call register_metric in a module that is imported.",
            )
        raise error
    return _REGISTRY[found]


def class_of_function(function):
    """The metric class behind a function of this package; None for any other function."""
    own = str(getattr(function, "__module__", "")).startswith("sktslib.")
    return _REGISTRY.get(_ALIASES.get(getattr(function, "__name__", "").lower())) if own else None


def check_parameters(cls, parameters, owner):
    """Refuse parameters that a metric class does not have, naming the nearest."""
    valid = cls._get_param_names()
    for key in parameters:
        if key not in valid:
            raise unknown_name("parameter", key, valid, owner)


def get_metric(metric, params=None):
    """Return the metric object that a name, a class, an object or a callable stands for.

    Parameters
    ----------
    metric : str, Metric, type or callable
        A registered name ("dtw", "Dynamic Time Warping", "euclidean"), a metric class or object, or a function of two
        series.
    params : dict, optional
        Parameters of the metric; those of an object are replaced in a copy.

    Returns
    -------
    Metric

    Examples
    --------
    >>> from sktslib.distances import get_metric
    >>> get_metric("lcss", {"eps": 0.2})
    LCSS(eps=0.2)
    """
    if params is not None and not isinstance(params, dict):
        raise TypeError(f"The 'params' parameter must be a dictionary of the metric's parameters. Got {shown(params)}.")
    params = dict(params or {})
    if isinstance(metric, Metric):
        if params:
            check_parameters(type(metric), params, type(metric).__name__)
        made = copy(metric).set_params(**params) if params else metric
        made._check()
        return made
    if isinstance(metric, str):
        cls = metric_class(metric)
    elif isinstance(metric, type) and issubclass(metric, Metric):
        cls = metric
    elif callable(metric):
        cls = class_of_function(metric)
        if cls is None:
            return CallableMetric(metric, params or None)
        params = {**cls.function_defaults, **params}
    else:
        raise TypeError(
            f"The 'metric' parameter must be a name, a metric object or a callable. Got {shown(metric)}. "
            f"Names: {', '.join(metric_names())}."
        )
    check_parameters(cls, params, cls.__name__)
    made = cls(**params)
    made._validate()
    return made

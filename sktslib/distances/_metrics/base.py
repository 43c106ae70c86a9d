"""Base of the metric objects: parameters, distances and profiles.

The module also holds the return value of the elastic functions, a number that can compute its path, and warping bands:
the cells of the cost matrix as ranges of query points per series point.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, lru_cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ...utils._names import warn
from ...utils._parameters import Interval, ParameterHolder, RealNotInt, StrOptions, validate_parameter_constraints
from ...utils._times import Sampling, given_times, index_of, index_times, is_datetime, notice_index
from ...utils.validation import as_series, as_times, as_weight, check_names, refused
from .._series import alike, base_of, between, full_weight, normalize_values, places

__all__ = ["Metric"]


class Alignment(float):
    """A distance that holds the alignment it comes from.

    It is a float in every respect, also to numpy, pandas and scikit-learn. It also unpacks:
    ``distance, cost_matrix, path = dtw(x, y)``, and ``dtw(x, y)[2]`` is the path. Cost matrix and path are computed
    when first needed.

    Attributes
    ----------
    path : ndarray of shape (2, K)
        Query indices and sequence indices of the alignment.
    cost_matrix : ndarray of shape (m, n)
        Accumulated costs.

    Examples
    --------
    >>> from sktslib.distances import dtw
    >>> d, cost_matrix, path = dtw([0, 1, 2], [0, 0, 1, 2])
    >>> d == 0, cost_matrix.shape
    (True, (3, 4))
    >>> path
    array([[0, 0, 1, 2],
           [0, 1, 2, 3]])
    """

    ndim = 0  # otherwise pandas would read it as a list, because it can be unpacked

    def __new__(cls, value, metric=None, problem=None):
        self = super().__new__(cls, value)
        self._metric, self._problem = metric, problem
        return self

    @cached_property
    def path(self):
        return self._metric._path(self._problem)

    @cached_property
    def cost_matrix(self):
        return self._metric._cost_matrix(self._problem)

    def __iter__(self) -> Iterator[Any]:
        yield float(self)
        yield self.cost_matrix
        yield self.path

    def __getitem__(self, k: Any) -> Any:
        names = ("real", "cost_matrix", "path")[k]
        return getattr(self, names) if isinstance(names, str) else tuple(getattr(self, name) for name in names)

    def __reduce__(self):
        return Alignment, (float(self), self._metric, self._problem)


if TYPE_CHECKING:
    from numpy.typing import ArrayLike


BLOCK = 2**19  # points of windows that are normalized at a time


class Metric(ParameterHolder):
    """A distance and its parameters.

    A metric object is a parameter holder in scikit-learn's manner (``get_params``, ``set_params``, ``clone``) and is
    callable on two series, so that it can be handed to every function that takes a metric.
    """

    # Facts of the registry entry, which every class sets.
    name = None  # as in get_metric("dtw")
    full_name = None  # as in get_distance_dict(["Dynamic Time Warping"])
    aliases = ()
    family = None
    description = ""
    multivariate = True
    uses_times = False
    _may_be_negative = False
    _has_path = True  # whether it aligns the points of two series
    _takes_weights = True
    _leaves_parameters = False  # whether some parameters are fixed by series, see `_fitted_to`
    _has_domain = False  # whether it is undefined for some values, which `_check_values` refuses
    _replaces = None  # if it counts points: whether an unmatched pair counts as one point or as two; else None
    _is_additive = False  # whether kernels can compute it as a sum of terms
    _is_symmetric, _is_metric = True, False  # values of the properties, unless they depend on parameters
    # The power of the distance that is a sum of weighted terms, one per point, as long as the alignment is fixed.
    # None if there is no such power.
    _weighted_power = None
    entry_parameters = ""  # the parameters that get_distance_dict shows
    function_defaults = {}
    _parameter_constraints = {}

    def __eq__(self, other):
        return type(self) is type(other) and equal(vars(self), vars(other))

    def __hash__(self):
        return hash(type(self))  # because parameters may change while the object is a key

    def __sklearn_clone__(self):
        """Clone the parameters and keep what `fit` estimated.

        A grid search clones and fits estimators, but it does not fit the metric inside them again.
        """
        made = super().__sklearn_clone__()
        fitted = {name: value for name, value in vars(self).items() if name not in self._get_param_names()}
        vars(made).update(deepcopy(fitted))
        return made

    @property
    def is_symmetric(self) -> bool:
        """Whether d(x, y) = d(y, x) for all unweighted series."""
        return bool(self._is_symmetric)

    def _is_symmetric_with(self, w):
        """Return whether the metric is also symmetric with weights for the points of the first series.

        It is not, if the weights belong to one of the two series.
        """
        return self.is_symmetric and (w is None or bool((np.asarray(w) == 1.0).all()))

    @property
    def is_metric(self) -> bool:
        """Whether it is a metric on series of one length, unweighted."""
        return bool(self._is_metric)

    def __call__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        *,
        weight: ArrayLike | None = None,
        tx: ArrayLike | None = None,
        ty: ArrayLike | None = None,
        cutoff: float | None = None,
    ) -> float:
        """Return the distance as a plain float; see `distance`."""
        return float(self.distance(x, y, weight=weight, tx=tx, ty=ty, cutoff=cutoff))

    def distance(
        self,
        x: ArrayLike,
        y: ArrayLike,
        *,
        weight: ArrayLike | None = None,
        tx: ArrayLike | None = None,
        ty: ArrayLike | None = None,
        cutoff: float | None = None,
    ) -> Alignment:
        """Compute the distance of two series.

        Parameters
        ----------
        x : array-like of shape (m,) or (m, channels)
            The first series, the query.
        y : array-like of shape (n,) or (n, channels)
            The second series.
        weight : array-like of shape (m,) or (m, channels), optional
            Relative weights of the query's points.
        tx, ty : array-like of shape (m,) and (n,), optional
            Sample times, for distances that use them; by default the index of both series where it holds times (of
            pandas, or the coordinates of xarray), else sample indices.
        cutoff : float, optional
            A distance above it comes out as infinity. It may be negative only where distances may be: `soft_dtw`,
            `gak`, functions, and recurrences that are not `monotone`.

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
        self._validate()
        metric = self._named(*(getattr(a, "columns", None) for a in (x, y)))
        given = x, y
        x, y, w = check_pair(x, y, weight, metric=metric)
        if self.uses_times or tx is not None or ty is not None:
            tx, ty = pair_times(self, given, (tx, ty), (x, y))
        if cutoff is None:
            d = metric._distance(x, w, y, tx, ty)
            if metric._warn_of_pair is not None:
                metric._warn_of_pair(d, x, y)
            return d
        rules = SIGNED_CUTOFF if metric._may_be_negative else CUTOFF
        validate_parameter_constraints(rules, {"cutoff": cutoff}, "distance")
        return metric._within(x, w, y, tx, ty, float(cutoff))

    def _check_values(self, a, what):
        """Refuse a series (channels, length) with values for which the distance is not defined; NaN do not count."""

    def _check_collection(self, series, name):
        """Refuse a collection with values for which the distance is not defined."""
        for k, a in enumerate(series) if self._has_domain else ():
            self._check_values(a, f"{name!r}" if len(series) == 1 else f"'{name}[{k}]'")

    def _warn_of_scale(self, X, Y):
        """Warn of a parameter that does not fit the scale of two collections of series (channels, length)."""

    _warn_of_pair = None  # a method (distance, x, y) that does so for two series after computing their distance

    def _check_search(self, mode):
        """Refuse parameters that have no meaning in a search by "windows" or "subsequence", or in a "segmentation"."""

    def _fitted_to(self, series, weights=None):
        """Return the metric with its "auto" parameters fixed by series (channels, m) and their weights."""
        return self

    def _by_channel(self, channels):
        """Return a pair (metric, factor) for each channel compared alone; (None, 0) if it is not compared."""
        return [(self, 1.0)] * channels

    def _fitted_by_channel(self, channels, series, weights):
        """Return the metric fitted to series (1, m), each of one channel; `channels` holds their numbers."""
        return self._fitted_to(series, weights)

    def _named(self, *names):
        """Return the metric for data whose channels have these names; None stands for data without names."""
        return self

    # Methods that a metric class implements for the package; all arguments have passed input validation.
    def _distance(self, x, w, y, tx, ty):
        raise NotImplementedError

    def _within(self, x, w, y, tx, ty, cutoff):
        """Return the distance if it is at most the cutoff, else infinity; the path remains available."""
        d = self._distance(x, w, y, tx, ty)
        return d if d <= cutoff else Alignment(np.inf, d._metric, d._problem) if isinstance(d, Alignment) else np.inf

    def _windows(self, x, w, y, tx, ty):
        """Return the distances of the query to windows `y` (windows, channels, m) with times `ty` (windows, m)."""
        out = np.empty(len(y))
        for k in range(len(y)):
            out[k] = self._distance(x, w, y[k], tx, None if ty is None else ty[k])
        return out

    def _profile(self, x, w, y, tx, ty, normalize, exactly=False):
        """Return the distances of the query to all windows of its length; the times of a window start at 0.

        With `exactly`, they have none of the errors that `_relative_error` reports.
        """
        m = x.shape[1]

        def cut(first, last):
            windows = sliding_window_view(y[:, first : last + m - 1], m, axis=1)
            return windows, 0.0, None if ty is None else sliding_window_view(ty[first : last + m - 1], m)

        return self._by_blocks(x, w, tx, normalize, y.shape[1] - m + 1, cut)

    def _scaled_profile(self, x, w, y, tx, ty, normalize, length):
        """Return the distances of the query to all windows of another length, each resampled to the query's length."""
        m = x.shape[1]
        left, share = places(length, m)
        right = np.minimum(left + 1, length - 1)
        near = 0.0 if normalize is None else alike(length, m)

        def cut(first, last):
            start = np.arange(first, last)[:, np.newaxis]
            base = base_of(y, start, left, full_weight(w, x)) if near else np.zeros((len(y), 1, 1))
            windows = between(y[:, start + left], y[:, start + right], share, base)
            times = None if ty is None else between(ty[start + left], ty[start + right], share)
            return windows, base.transpose(1, 0, 2), times

        return self._by_blocks(x, w, tx, normalize, y.shape[1] - length + 1, cut, near)

    def _by_blocks(self, x, w, tx, normalize, count, cut, near=0.0):
        """Return the distances of the query to windows, block by block.

        `cut` returns for a range of windows their points (channels, windows, m), the base that was subtracted from
        these, and their times (windows, m) or None. `near` is the relative difference up to which the points of a
        window count as constant.
        """
        out, full = np.empty(count), full_weight(w, x)
        query, tx = normalize_values(x, full, normalize), None if tx is None else tx - tx[0]
        block = max(1, BLOCK // x.size)
        for first in range(0, count, block):
            last = min(first + block, count)
            windows, base, times = cut(first, last)
            windows = np.ascontiguousarray(windows.transpose(1, 0, 2))
            windows = normalize_values(windows, full, normalize, near, base)
            times = None if times is None else times - times[:, :1]
            out[first:last] = self._windows(query, w, windows, tx, times)
        return out

    def _relative_error(self, x, w, n_windows, normalize):
        """Return the largest relative error of the distances in a profile; single windows have no such error."""
        return 0.0

    def _weighted_terms(self, x, w, y):
        """Return what the weights `w` (channels, m) multiply in the cost of the best alignment, (channels, m)."""
        raise NotImplementedError

    # Default cost of a background sample, as a multiple of the query's cost per sample against a constant signal. For
    # squared differences it is larger than 1, because they grow fast, and a poor repetition should still be found.
    _background_share = 1.0
    _background_by_sample = False  # whether by default the cost of background depends on the sample
    # The average that minimizes costs: "mean" for squared differences, "median" for absolute ones.
    _center = "mean"

    def _segment_cost(self, distance, m):
        """Return the sum behind a distance, without its root; a distance that is not a sum is multiplied by m."""
        return m * distance


def equal(a, b):
    """Return whether two values of parameters are equal; arrays are compared by element."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a is b or bool(a == b)


def checked_metric(cls, params, owner, further=()):
    """Return a metric object with validated parameters; equal parameters return the same object.

    The `owner` is named in errors, and may have `further` parameters.
    """
    try:
        return _checked(cls, owner, further, **params)
    except TypeError as error:  # lists and arrays cannot be hashed
        if "unhashable" not in str(error):
            raise
        return _checked.__wrapped__(cls, owner, further, **params)


@lru_cache(maxsize=128, typed=True)  # because validation takes longer than a short distance
def _checked(cls, owner, further, /, **params):
    check_names(params, [*cls._get_param_names(), *further], "parameter", owner)
    made = cls(**params)
    made._validate()
    return made


def check_pair(x, y, weight, metric=None):
    """Validate two series that the metric can compare; return them with the relative weights."""
    x = as_series(x, "x")
    y = as_series(y, "y", channels=x.shape[0], like="'x'")
    if x.shape[0] > 1 and x.shape[1] == y.shape[1] == 1:
        warn(
            f"'x' and 'y' hold one point of {x.shape[0]} channels each, shape (1, {x.shape[0]}). If time runs along "
            "the second axis, pass x[0] and y[0]; if not, ignore this warning."
        )
    if metric is not None and metric._has_domain:
        metric._check_values(x, "'x'")
        metric._check_values(y, "'y'")
    return x, y, None if weight is None else as_weight(weight, x.shape[1], x.shape[0])


def pair_times(metric, given, times, series):
    """Return the times of two series (channels, length) as kernels count them: given ones, their indices, or None.

    None if the metric uses no times.
    """
    if metric.uses_times and times[0] is None and times[1] is None:
        for a, name in zip(given, "xy", strict=True):
            notice_index(a, None, name)
        times = tuple(index_times(index_of(a), f"{name}.index") for a, name in zip(given, "xy", strict=True))
        times = (None, None) if any(t is None for t in times) else times
    known = tuple(as_times(t, a.shape[1], name) for t, a, name in zip(times, series, ("tx", "ty"), strict=True))
    one_by_one = [(t, name) for t, name in zip(times, ("tx", "ty"), strict=True) if not isinstance(t, Sampling | None)]
    if len({is_datetime(given_times(t, name)) for t, name in one_by_one}) > 1:
        rule, got = "be of one kind, numbers or dates", "both"
        raise refused("'tx' and 'ty'", rule, got, "Turn dates into numbers by subtraction and division.")
    return known


CUTOFF = {"cutoff": [Interval(Real, 0, None, closed="both"), None]}
SIGNED_CUTOFF = {"cutoff": [Interval(Real, None, None, closed="both"), None]}  # for distances that may be negative
BAND_CONSTRAINTS = {
    "window": [None, StrOptions({"sakoe-chiba", "itakura"}), Interval(RealNotInt, 0, 1, closed="right")],
    "factor": [None, Interval(Integral, 0, None, closed="left")],
}


def radius_of(window, factor, m, n):
    """Return the radius of a Sakoe-Chiba band in samples; None for another or no band."""
    shorter = min(m, n)
    if window == "sakoe-chiba":
        return shorter // 2 if factor is None else min(int(factor), 2**40)  # wider than any series, without overflow
    if window is None or window == "itakura":
        return None
    # 0.29 of 100 points is 29, in spite of rounding of the share and of the product.
    rounding = float(np.finfo(window).eps) if isinstance(window, np.floating) else 0.0
    return int(np.floor(float(window) * shorter * (1.0 + rounding) + 1e-9))


def plain_band(radius, m, n):
    """Return the cells with |i - j| <= radius (None: all) as ranges like those of `band`; ranges may be empty."""
    if radius is None:
        return np.zeros(n, np.int64), np.full(n, m, np.int64)
    j = np.arange(n)
    return np.clip(j - radius, 0, m), np.clip(j + radius + 1, 0, m)


def band(window, factor, m, n):
    """Return ranges `lo[j] <= i < hi[j]` of query points i for each series point j, as two integer arrays (n,)."""
    if window is None or min(m, n) == 1:
        return np.zeros(n, np.int64), np.full(n, m, np.int64)
    long, short = max(m, n) - 1, min(m, n) - 1
    # For each point k of the shorter series, the first and last point of the longer one; exact, because in integers.
    k = np.arange(short + 1)
    if window == "itakura":
        # Slopes between half and twice the diagonal's; positions in the longer series are multiplied by 2 * short.
        low = np.maximum(k * long, 2 * short * long - 4 * long * (short - k))
        high = np.minimum(4 * long * k, 2 * short * long - long * (short - k))
        first, last = -(-low // (2 * short)), high // (2 * short)
        last = np.maximum(first, last)
        for i in range(short):
            first[i + 1] = min(first[i + 1], last[i] + 1)
    else:
        reach = radius_of(window, factor, m, n)
        if long > short:  # otherwise a slanted band of radius 0 would have gaps
            reach = max(reach, -(-long // (2 * short)))
        reach *= short
        first, last = -((reach - k * long) // short), (k * long + reach) // short
    first, last = np.maximum(first, 0), np.minimum(last, long)
    if n <= m:  # if the series is the shorter one, these are its ranges
        return first, last + 1
    j = np.arange(n)
    return np.searchsorted(last, j, "left"), np.searchsorted(first, j, "right")


@dataclass(eq=False, repr=False)
class BandedMetric(Metric):
    """A distance that aligns only points within a band."""

    _: KW_ONLY
    window: float | str | None = None
    factor: int | None = None

    _parameter_constraints = BAND_CONSTRAINTS

    def _validate(self):
        """Refuse a `factor` without its band, and a band whose width is given twice."""
        name, window = type(self).__name__, self.window
        if isinstance(window, Real) and not isinstance(window, bool) and 1 <= window < 2**40:
            if window > 1 or isinstance(window, Integral):
                rule = "be None, 'sakoe-chiba', 'itakura' or a float in the range (0, 1], a share of the shorter length"
                got, out = repr(window), f"For a radius in samples set window='sakoe-chiba' and factor={int(window)}."
                raise refused(f"The 'window' parameter of {name}", rule, got, out)
        if self.factor is not None and window != "sakoe-chiba":
            rule = "be None unless window='sakoe-chiba', whose radius it is"
            raise refused(f"The 'factor' parameter of {name}", rule, f"{self.factor!r} with window={window!r}")
        super()._validate()

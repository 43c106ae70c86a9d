"""Dynamic time warping and its variants: a point may be aligned with several points, each at a cost.

The variants have penalties, weights, a factor for complexity, or the maximum instead of the sum. Some compare the
surroundings of each point: slopes and neighborhoods.
"""

from __future__ import annotations

from copy import copy
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from numba.core.dispatcher import Dispatcher

from ...utils._parameters import Interval, StrOptions
from ...utils.validation import refused, shown
from .._collection import as_collection
from .._kernels import recurrence, scalar
from .._kernels.compile import pieces
from .._series import ALIKE, deviation, full_weight, normalize_values, standardize
from .base import BAND_CONSTRAINTS
from .elastic import INF, NOTHING_FREE, ElasticMetric, PreparedPair, Query, norm_of
from .registry import register

__all__ = ["ADTW", "CIDDTW", "DDTW", "DTW", "WDDTW", "WDTW", "Frechet", "ShapeDTW"]

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from numpy.typing import ArrayLike

    from ...utils._times import Sequences


def gradient(a):
    return np.gradient(a, axis=-1) if a.shape[-1] > 1 else np.zeros_like(a)


def slope_scale(x, slope):
    """Return a factor per channel that gives the slopes the deviation of the values; 1 if either does not vary."""
    spread, steep = deviation(x), deviation(slope)
    # The slopes of a ramp differ by the rounding of its points, a few units in the last place.
    varies = (spread > 0) & (steep > ALIKE * np.abs(x).max(axis=1, keepdims=True))
    return np.divide(spread, steep, out=np.ones_like(spread), where=varies)


def local_costs(dist, x, y):
    """Return the costs (n, m) of all pairs of points by the caller's function, compiled or plain."""
    x, y = (x[0], y[0]) if x.shape[0] == 1 else (np.ascontiguousarray(x.T), np.ascontiguousarray(y.T))
    first = dist(x[0], y[0])
    if isinstance(first, str | complex | np.complexfloating | None) or np.ndim(first):
        raise TypeError(f"The 'dist' parameter must return one real number for two points. Got {shown(first)}.")
    out = np.empty((len(y), len(x)))
    fill = scalar.fill_costs
    if not isinstance(dist, Dispatcher):
        fill = getattr(fill, "py_func", fill)
    for begin, end in pieces(len(y), len(x)):
        fill(dist, x, y, begin, end, out)
    if not np.isfinite(out).all() or (out < 0).any():
        bad = out[~np.isfinite(out) | (out < 0)]
        raise refused("dist", "return finite costs of at least 0", f"{float(bad[0])} for a pair of points")
    return out


class WarpingMetric(ElasticMetric):
    """Dynamic time warping of squared differences, of the values themselves or of features."""

    _background_share = 1.5

    def _weighted_terms(self, x, w, y):
        problem = self._problem(x, w, y, None, None)
        (i, j), counts = self._partners(problem)
        terms = self._query(x, np.ones_like(x), problem.shape[1]).w[:, i] * (problem.x[:, i] - problem.y[:, j]) ** 2
        if counts is not None:
            terms *= counts
        out = np.array([np.bincount(i, row, x.shape[1]) for row in terms])
        terms = out.reshape(-1, *x.shape).sum(axis=0)  # with derivatives, these follow the values
        return self._distance_of_cost(terms, problem.points, y.shape[1])

    def _record(self, m, n, search):
        """Return the parameter record for a query of m points and a series of n points."""
        return recurrence.DTWRecord()

    def _query(self, x, w, n, tx=None, *, search=False):
        m = x.shape[1]
        return Query(self._record(m, n, search), self._features(x), w, np.zeros((3, m)))


@register
@dataclass(eq=False, repr=False)
class DTW(WarpingMetric):
    """Dynamic time warping (Sakoe & Chiba 1978): the lowest sum of squared differences over all alignments.

    Parameters
    ----------
    alpha : float in [0, 1], default=1.0
        Local cost ``alpha * d(values) + (1 - alpha) * d(derivatives)``; the derivatives are scaled to the first series'
        values.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.
    dtw_type : {"dtw", "oe-dtw", "obe-dtw", "sub-dtw", "psi-dtw"}, default="dtw"
        Which ends are free: none, the series' end, both of the series' ends (two names), or `tolerance` points at
        either end of both series. In a search the sequence's ends are always free.
    tolerance : int, default=0
        Free points of "psi-dtw", fewer than the shorter length.
    dist : callable, optional
        Local cost of two points instead of the squared difference, compiled or plain Python; it takes two floats, or
        two arrays of channels.
    do_sign_norm : bool, default=False
        z-normalize each series first.
    do_dist_norm : bool, default=False
        Divide by the length of the first series.

    Examples
    --------
    >>> from sktslib.distances import DTW
    >>> DTW()([0, 1, 2, 0], [0, 0, 1, 2, 0])
    0.0
    >>> DTW(window=0.25)([0, 1, 2, 3], [3, 2, 1, 0])
    20.0
    """

    alpha: float = 1.0
    _: KW_ONLY
    dtw_type: str = "dtw"
    tolerance: Any = 0
    dist: Callable[..., Any] | None = None
    do_sign_norm: bool = False
    do_dist_norm: bool = False

    name, full_name = "dtw", "Dynamic Time Warping"
    entry_parameters = {"dtw_type": "dtw", "alpha": 1}
    function_defaults = {"do_dist_norm": True}
    _parameter_constraints = {
        "alpha": [Interval(Real, 0, 1, closed="both")],
        **BAND_CONSTRAINTS,
        "dtw_type": [StrOptions({"dtw", "oe-dtw", "obe-dtw", "sub-dtw", "psi-dtw"})],
        "tolerance": [Interval(Integral, 0, None, closed="left")],
        "dist": [callable, None],
        "do_sign_norm": ["boolean"],
        "do_dist_norm": ["boolean"],
    }

    @property
    def is_symmetric(self) -> bool:
        return self.alpha == 1 and self.dtw_type in ("dtw", "psi-dtw") and self.dist is None and not self.do_dist_norm

    @property
    def _weighted_power(self):
        return 1.0 if self.dist is None else None

    @property
    def _context(self):
        return int(self.alpha < 1)

    @property
    def _has_lanes(self):
        return self.dist is None and self.dtw_type == "dtw"

    @property
    def _reports_cost(self):
        return not self.do_dist_norm

    def _validate(self):
        super()._validate()
        if self.tolerance and self.dtw_type != "psi-dtw":
            rule = "be 0 unless dtw_type='psi-dtw', which it belongs to"
            got = f"{self.tolerance!r} with dtw_type={self.dtw_type!r}"
            raise refused("The 'tolerance' parameter of DTW", rule, got)

    def _check_search(self, mode):
        super()._check_search(mode)
        if self.do_sign_norm:
            rule = "be False in a search: it normalizes whole series"
            got, out = "True", "Use normalize='zscore' of QuerySearcher, which normalizes each window."
            raise refused("The 'do_sign_norm' parameter of DTW", rule, got, out)

    def _free(self, m, n):
        if self.dtw_type == "psi-dtw":
            if self.tolerance >= min(m, n):
                rule, got = f"be smaller than the shorter length, {min(m, n)}", self.tolerance
                raise refused("The 'tolerance' parameter of DTW", rule, got)
            return (int(self.tolerance),) * 4
        if self.dtw_type == "dtw":
            return NOTHING_FREE
        free = n - 1
        return 0, 0, free if self.dtw_type != "oe-dtw" else 0, free

    def _features(self, a):
        a = standardize(a) if self.do_sign_norm else a
        return a if self.alpha == 1 else np.concatenate([a, gradient(a)], axis=-2)

    def _query(self, x, w, n, tx=None, *, search=False):
        query = Query(recurrence.DTWRecord(), self._features(x), w, np.zeros((3, x.shape[1])))
        if self.alpha == 1:
            return query
        # The scale of derivatives goes into the weights, so that the other series does not depend on the query.
        w = np.ones_like(x) if w is None else w
        scale, alpha = slope_scale(*np.split(query.x, 2)), float(self.alpha)
        return query._replace(w=np.concatenate([alpha * w, (1 - alpha) * scale**2 * w]))

    def _problem(self, x, w, y, tx, ty, *, search=False):
        if self.dist is None:
            if self.alpha == 1 and not self.do_sign_norm:  # fast path for most calls
                return PreparedPair(recurrence.DTWRecord(), x, w, y, None, None, np.zeros((3, x.shape[1])))
            return super()._problem(x, w, y, tx, ty, search=search)
        x, y = self._features(x), self._features(y)
        if self.alpha == 1:
            costs = local_costs(self.dist, x, y)
        else:
            (x, dx), (y, dy) = np.split(x, 2), np.split(y, 2)
            scale, alpha = slope_scale(x, dx), float(self.alpha)
            costs = (1 - alpha) * local_costs(self.dist, scale * dx, scale * dy)
            if alpha > 0:
                costs += alpha * local_costs(self.dist, x, y)
        if w is not None:  # the caller's function gets whole points, so a point has a single weight
            costs *= w.max(axis=0)
        return PreparedPair(recurrence.DTWRecord(), None, None, costs, None, None, np.zeros((3, x.shape[1])))

    def _distance_of_cost(self, cost, points, n):
        return cost / points.shape[1] if self.do_dist_norm else cost

    def _cost_of_distance(self, distance, problem):
        return distance * problem.shape[0] * (1.0 + 1e-12) if self.do_dist_norm else distance


# Multiple of the weighted variance, see benchmarks/adtw_omega.py. Above 1.5, the cost of a constant background sample,
# a repetition does not stretch over background; a larger value prevents wanted stretching, too.
OMEGA = 1.6


@register
@dataclass(eq=False, repr=False)
class ADTW(WarpingMetric):
    """Amerced dynamic time warping (Herrmann & Webb 2023): every move that stretches pays a penalty.

    Parameters
    ----------
    omega : float or "auto", default=1.0
        The penalty, at least 0; 0 is dynamic time warping. "auto": 1.6 times the weighted variance of the series given
        to `fit`, see Notes.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Attributes
    ----------
    omega_ : float
        The value of "auto"; only after `fit`.

    Notes
    -----
    The weighted variance is the mean of ``w (x - mean)^2`` over the points of positive weight, summed over the
    channels, averaged over the series: the cost of a point against a constant signal at the mean. Missing points have
    no weight. For constant series the variance and `omega` are 0, which is dynamic time warping.

    "auto" is determined once, and never by the compared pair. Estimators determine it in `fit`, by their queries as
    they are compared, or by the fitted collection; functions of collections by `X`; the metric object alone needs
    `fit`. A fitted metric and its clones keep `omega_`, also in an estimator or a grid search. In `QuerySegmenter` the
    name ``"adtw"`` means ``ADTW(omega="auto")``.

    Examples
    --------
    >>> from sktslib.distances import ADTW
    >>> ADTW(omega=0.5)([0, 1, 2, 0], [0, 0, 1, 2, 0])
    0.5
    >>> ADTW(omega="auto").fit([[0, 1, 2, 1], [0, 2, 4, 2]]).omega_
    2.0
    """

    omega: float | str = 1.0

    name, full_name = "adtw", "Amerced Dynamic Time Warping"
    _background_by_sample = property(lambda self: self.omega == "auto")  # fixed by the queries, like omega
    _leaves_parameters = True
    entry_parameters = {"omega": 1.0}
    _parameter_constraints = {
        "omega": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        **BAND_CONSTRAINTS,
    }

    def fit(self, X: Sequences, y: ArrayLike | None = None, *, channels_first: bool | None = None) -> Self:
        """Set what ``omega="auto"`` stands for.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), or list of series
            The series, of any lengths; of one query ``[query]``.
        y : ignored
        channels_first : bool, optional
            True for series of shape (channels, length), as in (n_series, channels, length).

        Returns
        -------
        ADTW
            Itself.
        """
        self.omega_ = self._omega_of(as_collection(X, "X", channels_first=channels_first))
        return self

    def _fitted_to(self, series, weights=None):
        if not isinstance(self.omega, str) or hasattr(self, "omega_"):
            return self
        made = copy(self)
        made.omega_ = self._omega_of(series, weights)
        return made

    def _omega_of(self, series, weights=None):
        variances = []
        for x, w in zip(series, [None] * len(series) if weights is None else weights, strict=True):
            missing = np.isnan(x)
            w = np.where(missing, 0.0, full_weight(w, x))
            apart = normalize_values(np.where(missing, 0.0, x), w, "mean")
            of_channels = (w * apart * apart).sum(axis=1) / np.maximum((w > 0).sum(axis=1), 1)
            variances.append(float(of_channels.sum()))
        return OMEGA * float(np.mean(variances))

    def _record(self, m, n, search):
        omega = getattr(self, "omega_", None) if isinstance(self.omega, str) else self.omega
        if omega is None:
            raise ValueError(
                "The 'omega' parameter of ADTW must be a number, or be fixed by 'fit', before two series are compared: "
                "'auto' depends on more than a pair. Got 'auto'. Call fit([x]) with the query, or with a collection, "
                "or give a number such as 1.0."
            )
        return recurrence.ADTWRecord(float(omega))


BLOCK = 2**10  # values whose sum is computed once


def _sums_of_ranges(values, start, end):
    """Return the sums of values[start:end]; without running sums, whose differences would lose digits."""
    blocks = np.append(values, np.zeros(-len(values) % BLOCK + BLOCK)).reshape(-1, BLOCK)
    total = np.append(blocks.sum(axis=1), 0.0)
    to, rest = np.cumsum(blocks, axis=1), np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1]
    (first, at), (last, until) = np.divmod(start, BLOCK), np.divmod(end, BLOCK)
    out = rest[first, at] + np.where(until > 0, to[last, until - 1], 0.0)
    far, near = np.flatnonzero(last > first + 1), np.flatnonzero(last == first)
    out[far] += _sums(total, first[far] + 1, last[far])  # the sums of whole blocks in between
    out[near] = _sums(blocks.ravel(), start[near], end[near])
    return out


def _sums(values, start, end):
    """Return the sums of values[start:end], by adding all values."""
    if not len(start):
        return np.empty(0)
    sums = np.add.reduceat(values, np.stack([start, end], axis=1).ravel())[::2]
    return np.where(end > start, sums, 0.0)  # numpy returns an element for an empty range


@register
class CIDDTW(WarpingMetric):
    """Complexity-invariant dynamic time warping (Batista et al. 2014): series of unlike complexity are farther apart.

    The root of the DTW distance times ``max(C(x), C(y)) / min(C(x), C(y))``, the complexity C of a series being the
    Euclidean length of its differences from point to point. A series that is constant, and no other, has a complexity
    of 0: two such have a factor of 1, and one such is infinitely far from all others.

    Parameters
    ----------
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import CIDDTW
    >>> CIDDTW()([0, 1, 0, 1], [0, 2, 0, 2])
    2.8284271247461903
    """

    name, full_name = "cid_dtw", "Complexity-Invariant Dynamic Time Warping"
    _reports_cost = False
    _has_factor = True
    _looks_back = True
    _no_segmentation = "its factor is known only for whole segments, and costs must add up"

    def _trait(self, a):
        steps = np.diff(a, axis=-1)
        return np.sqrt((steps * steps).sum(axis=(-2, -1)))

    def _trait_of_ranges(self, a, start, end):
        return np.sqrt(_sums_of_ranges((np.diff(a, axis=1) ** 2).sum(axis=0), start, end - 1))

    @np.errstate(over="ignore")  # infinite if too large for float64
    def _factor(self, of_x, of_y):
        low, high = np.minimum(of_x, of_y), np.maximum(of_x, of_y)
        factor = np.divide(high, low, out=np.full(np.shape(high), INF), where=low > 0)
        return np.where(high > 0, factor * factor, 1.0)  # squared, because costs are squares

    def _distance_of_cost(self, cost, points, n):
        return np.sqrt(cost)

    @np.errstate(over="ignore")  # an infinite limit does not limit
    def _cost_of_distance(self, distance, problem):
        return distance * distance * (1.0 + 1e-12)


@register
@dataclass(eq=False, repr=False)
class WDTW(WarpingMetric):
    """Weighted dynamic time warping (Jeong, Jeong & Omitaomu 2011): costs grow with the lag of the points.

    The cost of two points whose indices differ by a is multiplied by ``1 / (1 + exp(-g (a - L / 2)))``, L being the
    longer length (in a search, the query's).

    Parameters
    ----------
    g : float, default=0.05
        Steepness of the logistic factor, at least 0.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import WDTW
    >>> WDTW(g=0.0)([0, 1, 2], [0, 1, 4])
    2.0
    """

    g: float | str = 0.05

    name, full_name = "wdtw", "Weighted Dynamic Time Warping"
    _weighted_power = 1.0
    entry_parameters = {"g": 0.05}
    _depends_on_start = True
    _needs_equal_lengths = True
    _looks_back = True
    _parameter_constraints = {"g": [Interval(Real, 0, None, closed="left")], **BAND_CONSTRAINTS}

    def _record(self, m, n, search):
        longest = max(m, n)
        with np.errstate(over="ignore"):  # an overflow makes the factor 0
            factors = 1.0 / (1.0 + np.exp(-float(self.g) * (np.arange(longest + 1) - (m if search else longest) / 2)))
        return recurrence.WDTWRecord(factors)

    def _partners(self, problem):
        path = self._path(problem)
        return path, problem.record.factors[np.abs(path[0] - path[1])]


@register
class Frechet(ElasticMetric):
    """Discrete Frechet distance (Eiter & Mannila 1994): the longest of the pairs' distances, not their sum.

    Parameters
    ----------
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import Frechet
    >>> Frechet()([0, 1, 2], [0, 1, 4])
    2.0
    """

    name, full_name = "frechet", "Frechet Distance"
    _no_segmentation = "its costs of segments are maxima and do not add up"

    def _query(self, x, w, n, tx=None, *, search=False):
        return Query(recurrence.FrechetRecord(norm_of(x, 2.0)), x, w, np.zeros((3, x.shape[1])))


def keogh_slope(a):
    """Return the derivative estimate of Keogh & Pazzani (2001); first and last point copy their neighbors' values."""
    n = a.shape[-1]
    if n < 3:
        return np.repeat(np.diff(a), n, axis=-1) if n == 2 else np.zeros_like(a)
    inner = ((a[..., 1:-1] - a[..., :-2]) + (a[..., 2:] - a[..., :-2]) / 2) / 2
    return np.concatenate([inner[..., :1], inner, inner[..., -1:]], axis=-1)


class SlopesMixin:
    """Mixin of the metrics that compare slopes."""

    _context = 2  # first and last sample copy their neighbors' slopes

    def _features(self, a):
        return keogh_slope(a)


@register
class DDTW(SlopesMixin, WarpingMetric):
    """Derivative dynamic time warping (Keogh & Pazzani 2001): DTW of the series' slopes.

    Parameters
    ----------
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import DDTW
    >>> DDTW()([0, 1, 2, 3], [5, 6, 7, 8])
    0.0
    """

    name, full_name = "ddtw", "Derivative Dynamic Time Warping"
    _weighted_power = 1.0


@register
class WDDTW(SlopesMixin, WDTW):
    """Weighted derivative dynamic time warping (Jeong, Jeong & Omitaomu 2011): WDTW of the series' slopes.

    Parameters
    ----------
    g : float, default=0.05
        Steepness of the logistic factor, at least 0.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import WDDTW
    >>> WDDTW()([0, 1, 2, 3], [5, 6, 7, 8])
    0.0
    """

    name, full_name = "wddtw", "Weighted Derivative Dynamic Time Warping"


@register
@dataclass(eq=False, repr=False)
class ShapeDTW(WarpingMetric):
    """Shape dynamic time warping (Zhao & Itti 2018): DTW of the neighborhoods of the points.

    Parameters
    ----------
    reach : int, default=5
        Points to either side that belong to a point's neighborhood, at most 10,000; the series' ends are repeated.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import ShapeDTW
    >>> ShapeDTW(reach=1)([0, 1, 2], [0, 1, 4])
    12.0
    """

    reach: int = 5

    name, full_name = "shape_dtw", "Shape Dynamic Time Warping"
    entry_parameters = {"reach": 5}
    _parameter_constraints = {"reach": [Interval(Integral, 0, 10_000, closed="both")], **BAND_CONSTRAINTS}

    @property
    def _context(self):
        return int(self.reach)

    def _features(self, a):
        n = a.shape[-1]
        at = np.clip(np.arange(n) + np.arange(-self._context, self._context + 1)[:, np.newaxis], 0, n - 1)
        return np.ascontiguousarray(a[..., at].reshape(*a.shape[:-2], -1, n))

    def _query(self, x, w, n, tx=None, *, search=False):
        if w is not None:  # the weight of a point counts for its whole neighborhood
            w = np.repeat(w, 2 * self._context + 1, axis=0)
        return super()._query(x, w, n, tx, search=search)

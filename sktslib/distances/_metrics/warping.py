"""Dynamic time warping: a point may meet several points of the other series, each at a cost."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from numba.core.dispatcher import Dispatcher

from ...utils._sklearn import Interval, StrOptions
from ...utils.validation import shown
from .._kernels import columns, recurrences
from .._kernels.compilation import pieces
from .._series import ALIKE, deviation, standardize
from .bands import BAND_CONSTRAINTS
from .elastic import ElasticMetric, PreparedPair, Query, free_points
from .registry import register

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["DTW"]


def gradient(a):
    return np.gradient(a, axis=1) if a.shape[1] > 1 else np.zeros_like(a)


def slope_scale(x, slope):
    """The factor per channel that gives the slopes the spread of the values; 1 where either does not vary."""
    spread, steep = deviation(x), deviation(slope)
    # A ramp's slopes differ by what its points were rounded by, which is no more than a few units of the last place.
    varies = (spread > 0) & (steep > ALIKE * np.abs(x).max(axis=1, keepdims=True))
    return np.divide(spread, steep, out=np.ones_like(spread), where=varies)


def local_costs(dist, x, y):
    """Costs (n, m) of all pairs of points by the caller's function, compiled or plain."""
    x, y = (x[0], y[0]) if x.shape[0] == 1 else (np.ascontiguousarray(x.T), np.ascontiguousarray(y.T))
    first = dist(x[0], y[0])
    if isinstance(first, str | complex | np.complexfloating | None) or np.ndim(first):
        raise TypeError(f"The 'dist' parameter must return one real number for two points. Got {shown(first)}.")
    out = np.empty((len(y), len(x)))
    fill = columns.fill_costs
    if not isinstance(dist, Dispatcher):
        fill = getattr(fill, "py_func", fill)
    for begin, end in pieces(len(y), len(x)):
        fill(dist, x, y, begin, end, out)
    if not np.isfinite(out).all() or (out < 0).any():
        bad = out[~np.isfinite(out) | (out < 0)]
        raise ValueError(
            f"The 'dist' parameter must return finite costs of at least 0. Got {float(bad[0])} for a pair of points."
        )
    return out


class WarpingMetric(ElasticMetric):
    """Dynamic time warping of squared differences, of the values or of what is made of them."""

    _background_share = 1.5
    _costs_by_values = False

    def _weighted_terms(self, x, w, y):
        problem = self._problem(x, w, y, None, None)
        return self._report(self._terms_along(self._alignment(0.0, problem), x), problem)

    def _piece_terms(self, x, problem):
        alignment = self._alignment(0.0, problem)
        alignment.path = self._path(problem, whole=True)
        return self._report_search(self._terms_along(alignment, x), problem)

    def _terms_along(self, alignment, x):
        """What the weights of the query `x` are multiplied by along a path."""
        (i, j), counts = self._partners(alignment)
        problem = alignment._problem
        terms = self._query(x, np.ones_like(x), problem.shape[1]).w[:, i] * (problem.x[:, i] - problem.y[:, j]) ** 2
        if counts is not None:
            terms *= counts
        out = np.array([np.bincount(i, row, x.shape[1]) for row in terms])
        return out.reshape(-1, *x.shape).sum(axis=0)  # derivatives follow the values

    def _record(self, m, n, search):
        """The parameters of a query of m points, compared with a series of n."""
        return recurrences.DTWRecord()

    def _query(self, x, w, n, tx=None, *, search=False):
        m = x.shape[1]
        return Query(self._record(m, n, search), self._features(x), w, free_points(m))


@register
class DTW(WarpingMetric):
    """Dynamic time warping (Sakoe & Chiba 1978): the least sum of squared differences over all alignments.

    Parameters
    ----------
    alpha : float in [0, 1], default=1.0
        Local cost ``alpha * d(values) + (1 - alpha) * d(derivatives)``; the derivatives are brought to the scale of
        the first series' values.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.
    dtw_type : {"dtw", "oe-dtw", "obe-dtw", "sub-dtw", "psi-dtw"}, default="dtw"
        Which ends are free: none, the series' end, both of the series' ends (two names), or `tolerance` points at
        either end of both. In a search the sequence's ends are free in any case.
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

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        window: float | str | None = None,
        factor: int | None = None,
        dtw_type: str = "dtw",
        tolerance: Any = 0,
        dist: Callable[..., Any] | None = None,
        do_sign_norm: bool = False,
        do_dist_norm: bool = False,
    ) -> None:
        super().__init__(window=window, factor=factor)
        self.alpha = alpha
        self.dtw_type = dtw_type
        self.tolerance = tolerance
        self.dist = dist
        self.do_sign_norm = do_sign_norm
        self.do_dist_norm = do_dist_norm

    @property
    def is_symmetric(self) -> bool:
        return self.alpha == 1 and self.dtw_type in ("dtw", "psi-dtw") and self.dist is None and not self.do_dist_norm

    @property
    def _weighted_power(self):
        return 1.0 if self.dist is None else None

    @property
    def _reach(self):
        return int(self.alpha < 1)

    @property
    def _costs_by_values(self):
        return self.alpha < 1

    @property
    def _has_lanes(self):
        return self.dist is None and self.dtw_type == "dtw"

    @property
    def _reports_cost(self):
        return not self.do_dist_norm

    def _validate(self):
        super()._validate()
        if self.tolerance and self.dtw_type != "psi-dtw":
            raise ValueError(
                "The 'tolerance' parameter of DTW must be 0 unless dtw_type='psi-dtw', which it belongs to. Got "
                f"{self.tolerance!r} with dtw_type={self.dtw_type!r}."
            )

    def _check_search(self, mode):
        super()._check_search(mode)
        if self.do_sign_norm:
            raise ValueError(
                "The 'do_sign_norm' parameter of DTW must be False in a search: it normalizes whole series. Got "
                "True. Take normalize='zscore' of QuerySearcher, which normalizes each window."
            )

    def _free(self, m, n):
        if self.dtw_type == "psi-dtw":
            if self.tolerance >= min(m, n):
                raise ValueError(
                    f"The 'tolerance' parameter of DTW must be smaller than the shorter length, {min(m, n)}. Got "
                    f"{self.tolerance}."
                )
            return (int(self.tolerance),) * 4
        free = n - 1
        return 0, 0, free if self.dtw_type in ("obe-dtw", "sub-dtw") else 0, free if self.dtw_type != "dtw" else 0

    def _exponent(self, channels):
        return 1.0 if self.do_sign_norm or self.dist is not None else 2.0

    def _features(self, a):
        a = standardize(a) if self.do_sign_norm else a
        return a if self.alpha == 1 else np.concatenate([a, gradient(a)])

    def _query(self, x, w, n, tx=None, *, search=False):
        query = super()._query(x, w, n, tx, search=search)
        if self.alpha == 1:
            return query
        # The derivatives' scale goes into the weights, so that the other series knows nothing of this one.
        w = np.ones_like(x) if w is None else w
        scale, alpha = slope_scale(*np.split(query.x, 2)), float(self.alpha)
        return query._replace(w=np.concatenate([alpha * w, (1 - alpha) * scale**2 * w]))

    def _problem(self, x, w, y, tx, ty, *, search=False):
        if self.dist is None:
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
        if w is not None:  # the caller's function sees whole points, so a point has one weight
            costs *= w.max(axis=0)
        return PreparedPair(recurrences.DTWRecord(), None, None, costs, None, None, free_points(x.shape[1]))

    def _report(self, cost, problem):
        return cost / problem.shape[0] if self.do_dist_norm else cost

    _report_search = _report

    def _limit(self, distance, problem):
        return distance * problem.shape[0] * (1.0 + 1e-12) if self.do_dist_norm else distance

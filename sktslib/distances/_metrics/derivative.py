"""Warping metric classes that compare what lies about each point: slopes and neighborhoods."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from ...utils._sklearn import Interval
from .bands import BAND_CONSTRAINTS
from .registry import register
from .warping import WarpingMetric
from .warping_variants import WDTW

__all__ = ["DDTW", "WDDTW", "ShapeDTW"]


def keogh_slope(a):
    """Derivative estimate of Keogh & Pazzani (2001); the first and the last point copy their neighbors."""
    n = a.shape[1]
    if n < 3:
        return np.repeat(np.diff(a, axis=1), n, axis=1) if n == 2 else np.zeros_like(a)
    inner = ((a[:, 1:-1] - a[:, :-2]) + (a[:, 2:] - a[:, :-2]) / 2) / 2
    return np.concatenate([inner[:, :1], inner, inner[:, -1:]], axis=1)


class SlopesMixin:
    """What is compared are the slopes."""

    _reach = 2  # the first and the last sample copy their neighbors

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

    name, full_name = "shape_dtw", "Shape Dynamic Time Warping"
    entry_parameters = {"reach": 5}
    _parameter_constraints = {"reach": [Interval(Integral, 0, 10_000, closed="both")], **BAND_CONSTRAINTS}

    def __init__(self, reach: int = 5, *, window: float | str | None = None, factor: int | None = None) -> None:
        super().__init__(window=window, factor=factor)
        self.reach = reach

    @property
    def _reach(self):
        return int(self.reach)

    def _features(self, a):
        n = a.shape[1]
        at = np.clip(np.arange(n) + np.arange(-self._reach, self._reach + 1)[:, np.newaxis], 0, n - 1)
        return np.ascontiguousarray(a[:, at].reshape(-1, n))

    def _query(self, x, w, n, tx=None, *, search=False):
        if w is not None:  # a point's weight is its whole neighborhood's
            w = np.repeat(w, 2 * self._reach + 1, axis=0)
        return super()._query(x, w, n, tx, search=search)

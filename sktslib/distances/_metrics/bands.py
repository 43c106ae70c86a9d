"""Which cells of the cost matrix exist: warping bands as ranges of query points per series point."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from ...utils._sklearn import Interval, RealNotInt, StrOptions
from .base import Metric

BAND_CONSTRAINTS = {
    "window": [None, StrOptions({"sakoe-chiba", "itakura"}), Interval(RealNotInt, 0, 1, closed="right")],
    "factor": [None, Interval(Integral, 0, None, closed="left")],
}


def radius_of(window, factor, m, n):
    """Radius in samples of a Sakoe-Chiba window, or None where the window is no such band."""
    shorter = min(m, n)
    if window == "sakoe-chiba":
        return shorter // 2 if factor is None else min(int(factor), 2**40)  # wider than any series, yet no overflow
    if window is None or window == "itakura":
        return None
    # 0.29 of 100 points is 29, whatever the rounding of the share and of the product.
    rounding = float(np.finfo(window).eps) if isinstance(window, np.floating) else 0.0
    return int(np.floor(float(window) * shorter * (1.0 + rounding) + 1e-9))


def plain_band(radius, m, n):
    """The ranges of the cells with |i - j| <= radius (None: all), as `band` gives its own; they may be empty."""
    if radius is None:
        return np.zeros(n, np.int64), np.full(n, m, np.int64)
    j = np.arange(n)
    return np.clip(j - radius, 0, m), np.clip(j + radius + 1, 0, m)


def band(window, factor, m, n):
    """Ranges `lo[j] <= i < hi[j]` of query points i for each series point j, as two integer arrays (n,)."""
    if window is None or min(m, n) == 1:
        return np.zeros(n, np.int64), np.full(n, m, np.int64)
    long, short = max(m, n) - 1, min(m, n) - 1
    # For each point k of the shorter series the first and the last point of the longer one; integers, so exact.
    k = np.arange(short + 1)
    if window == "itakura":
        # Slopes between 1/2 and 2 of the diagonal's; positions of the longer series are held times 2 * short.
        low = np.maximum(k * long, 2 * short * long - 4 * long * (short - k))
        high = np.minimum(4 * long * k, 2 * short * long - long * (short - k))
        first, last = -(-low // (2 * short)), high // (2 * short)
        last = np.maximum(first, last)
        for i in range(short):
            first[i + 1] = min(first[i + 1], last[i] + 1)
    else:
        reach = radius_of(window, factor, m, n)
        if long > short:  # a slanted band of radius 0 would have gaps
            reach = max(reach, -(-long // (2 * short)))
        reach *= short
        first, last = -((reach - k * long) // short), (k * long + reach) // short
    first, last = np.maximum(first, 0), np.minimum(last, long)
    if n <= m:  # the series is the shorter one: these are its ranges
        return first, last + 1
    j = np.arange(n)
    return np.searchsorted(last, j, "left"), np.searchsorted(first, j, "right")


class BandedMetric(Metric):
    """A distance of which only points within a band meet."""

    _parameter_constraints = BAND_CONSTRAINTS

    def __init__(self, *, window: float | str | None = None, factor: int | None = None) -> None:
        self.window = window
        self.factor = factor

    def _validate(self):
        """Refuse a width in samples where a share is meant, too, and a radius without the band it belongs to."""
        name, window = type(self).__name__, self.window
        if isinstance(window, Real) and not isinstance(window, bool) and 1 <= window < 2**40:
            if window > 1 or isinstance(window, Integral):
                raise ValueError(
                    f"The 'window' parameter of {name} must be None, 'sakoe-chiba', 'itakura' or a float in the range "
                    f"(0, 1], a share of the shorter length. Got {window!r}. For a radius in samples set "
                    f"window='sakoe-chiba' and factor={int(window)}."
                )
        if self.factor is not None and window != "sakoe-chiba":
            raise ValueError(
                f"The 'factor' parameter of {name} must be None unless window='sakoe-chiba', whose radius it is. Got "
                f"{self.factor!r} with window={window!r}."
            )
        super()._validate()

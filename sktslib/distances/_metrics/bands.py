"""Which cells of the cost matrix exist: warping bands as ranges of query points per series point."""

import numpy as np


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

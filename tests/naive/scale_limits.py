"""Limits of scale and offset: what each channel of a window is beside the query, and which windows may be matches."""

import math

import numpy as np

from .series import INF, filled, interpolate, points, relative


def moments(v, w):
    """Weighted mean and standard deviation of one channel; the mean twice, as an offset costs it digits."""
    total = math.fsum(w)
    center = math.fsum(b * a for a, b in zip(v, w, strict=True)) / total
    center += math.fsum(b * (a - center) for a, b in zip(v, w, strict=True)) / total
    return center, math.sqrt(math.fsum(b * (a - center) ** 2 for a, b in zip(v, w, strict=True)) / total)


def ratio_and_difference(query, window):
    """The standard deviation over that of the query, and the mean less that of the query."""
    (of_query, deviation), (mean, other) = query, window
    return (other / deviation if deviation > 0 else math.nan), mean - of_query


def beside_range(x, window, weight=None):
    """The same of a range of any length, by plain moments; channels in which no point has a weight do not count."""
    X, Y = points(x), points(window)
    counts = relative(weight, *X.shape).any(axis=0)
    plain = [[moments(v, np.ones(len(v))) for v in series.T] for series in (X, Y)]
    both = zip(*plain, counts, strict=True)
    return [ratio_and_difference(a, b) if counted else (math.nan, math.nan) for a, b, counted in both]


def beside(x, window, weight=None):
    """Of each channel the standard deviation over that of the query, and the mean less that of the query.

    The window is resampled to the query's length. Points that are missing have no weight.
    """
    X, Y = points(x), points(window)
    W = relative(weight, *X.shape)
    if len(Y) != len(X):
        Y = interpolate(Y, len(X))
    W = np.where(np.isnan(Y), 0.0, W)
    Y = filled(Y)
    return [
        ratio_and_difference(moments(a, w), moments(b, w)) if w.any() else (math.nan, math.nan)
        for a, b, w in zip(X.T, Y.T, W.T, strict=True)
    ]


def margin(x, window, weight=None, *, scale_limits=None, offset_limit=None, beside=beside):
    """How far within the limits a window is, in the unit of the limits; negative where it is beyond one.

    With ``beside=beside_range`` so of a range of any length.
    """
    least = INF
    for k, (scale, offset) in enumerate(beside(x, window, weight)):
        if math.isnan(offset):
            continue
        if scale_limits is not None:
            low, high = scale_limits
            least = min(least, -INF if math.isnan(scale) else min(scale - low, high - scale))
        if offset_limit is not None:
            least = min(least, (offset_limit if np.ndim(offset_limit) == 0 else offset_limit[k]) - abs(offset))
    return least

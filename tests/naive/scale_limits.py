"""Limits of scale and offset: what each channel of a window is beside the query, and which windows may be matches."""

import math

import numpy as np

from .series import INF, filled, interpolate, points, relative


def beside_range(x, window, weight=None):
    """The same of a range of any length, by plain moments; channels in which no point has a weight do not count."""
    X, Y = points(x), points(window)
    counts = relative(weight, *X.shape).any(axis=0)
    out = []
    for k in range(X.shape[1]):
        mean, deviation = ([f(series[:, k]) for series in (X, Y)] for f in (np.mean, np.std))
        scale = deviation[1] / deviation[0] if deviation[0] > 0 else math.nan
        out.append((scale, mean[1] - mean[0]) if counts[k] else (math.nan, math.nan))
    return out


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
    out = []
    for k in range(X.shape[1]):
        total = math.fsum(W[:, k])
        if total == 0:
            out.append((math.nan, math.nan))
            continue
        mean, deviation = [], []
        for series in (X, Y):
            center = math.fsum(w * v for w, v in zip(W[:, k], series[:, k], strict=True)) / total
            rest = math.fsum(w * (v - center) for w, v in zip(W[:, k], series[:, k], strict=True)) / total
            squares = (w * (v - center - rest) ** 2 for w, v in zip(W[:, k], series[:, k], strict=True))
            mean.append(center + rest)
            deviation.append(math.sqrt(math.fsum(squares) / total))
        out.append((deviation[1] / deviation[0] if deviation[0] > 0 else math.nan, mean[1] - mean[0]))
    return out


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

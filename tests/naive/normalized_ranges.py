"""Subsequences that are normalised each by itself: every range is compared with the query as a whole series."""

import numpy as np

from .series import INF, normalise
from .warping import elastic


def normalized_ranges(
    name, x, y, shortest, longest, weight=None, *, normalize, tq=None, ts=None, limits=(None, None), **params
):
    """For each end the least distance of all ranges of these lengths, and the start of the shortest that is as near.

    Ranges with a missing value are none, nor are those beyond limits of scale and offset.
    """
    n, query = len(y), normalise(x, None, normalize)
    distance, start = np.full(n, INF), np.full(n, -1)
    for end in range(1, n + 1):
        for begin in range(end - shortest, max(end - longest, 0) - 1, -1):
            if begin < 0 or np.isnan(y[begin:end]).any():
                continue
            if not _within(x, y[begin:end], *limits):
                continue
            piece = normalise(y[begin:end], None, normalize)
            tx = None if tq is None else [a - tq[0] for a in tq]
            ty = None if ts is None else [a - ts[begin] for a in ts[begin:end]]
            value = elastic(name, query, piece, weight, tx=tx, ty=ty, **params).distance
            if value < distance[end - 1]:
                distance[end - 1], start[end - 1] = value, begin
    return distance, start


def beside_range(x, y):
    """Of each channel the standard deviation of a range over that of the query, and the mean less that of the query."""
    x, y = np.atleast_2d(np.transpose(x)), np.atleast_2d(np.transpose(y))
    return y.std(axis=1) / x.std(axis=1), y.mean(axis=1) - x.mean(axis=1)


def _within(x, y, scale_limits, offset_limit):
    if scale_limits is None and offset_limit is None:
        return True
    scale, offset = beside_range(x, y)
    low, high = scale_limits or (0.0, INF)
    most = INF if offset_limit is None else offset_limit
    return bool(((low <= scale) & (scale <= high) & (np.abs(offset) <= most)).all())

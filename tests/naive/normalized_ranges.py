"""Subsequences that are normalized each by itself: every range is compared with the query as a whole series."""

import numpy as np

from .series import INF, normalize_values
from .warping import elastic


def normalized_ranges(
    name, x, y, shortest, longest, weight=None, *, normalize, allowed=None, tq=None, ts=None, **params
):
    """For each end the least distance of all ranges of these lengths, and the start of the shortest that is as near.

    Ranges with a missing value are none, nor are those that are not `allowed`, a function of their samples.
    """
    n, query = len(y), normalize_values(x, None, normalize)
    distance, start = np.full(n, INF), np.full(n, -1)
    for end in range(1, n + 1):
        for begin in range(end - shortest, max(end - longest, 0) - 1, -1):
            if begin < 0 or np.isnan(y[begin:end]).any() or (allowed is not None and not allowed(y[begin:end])):
                continue
            piece = normalize_values(y[begin:end], None, normalize)
            tx = None if tq is None else [a - tq[0] for a in tq]
            ty = None if ts is None else [a - ts[begin] for a in ts[begin:end]]
            value = elastic(name, query, piece, weight, tx=tx, ty=ty, **params).distance
            if value < distance[end - 1]:
                distance[end - 1], start[end - 1] = value, begin
    return distance, start

"""What the points of one series meet in others along the best paths: how many points each, and the sum of them.

Averages along paths need no path but these sums. Strips go along each series as in `diagonals`, with the moves into all
cells kept, so that a path is followed back at once; it is the path that `diagonals.path` gives, and each series' sums
are added up from its last point on.
"""

import numpy as np

from .columns import cells_of
from .compilation import block_size, inner, kernel, pieces
from .diagonals import _begin, _pass, _room
from .dispatch import weighting
from .strips import LANES, lane_of

MOVES = block_size(2**24, 2**12)  # of a pair: more are not kept, so that memory stays small


def fits(m, n):
    """Whether the moves of a pair of series are few enough to be kept."""
    return -(-m // LANES) * (n + 2 * LANES) * LANES <= MOVES


@inner
def _follow_back(codes, first, i, j, values, count, total):
    """Add the points of one series to the sums of the query points that they meet, from the last pair back."""
    while i >= 0 and j >= 0:
        s = i // LANES
        row = i - s * LANES
        count[i] += 1.0
        for c in range(values.shape[0]):
            total[c, i] += values[c, j]
        move = codes[s, (row + j - first[s]) * LANES + lane_of(row)]
        if move != 2:
            i -= 1
        if move != 1:
            j -= 1


@kernel
def _add(p, x, w, points, Y, values, ends, cells, start, free, begin, end, edge, work, codes, first, count, total):
    """Fill counts and sums of the series [begin, end)."""
    m, weighted = x.shape[1], weighting(p, w)
    _, rows, places, lo, hi, _, side, yr, gaps = work
    for k in range(begin, end):
        n = ends[k]
        _begin(p, x, w, points, Y[k, :, :n], cells, start, edge, work)
        for s in range(codes.shape[0]):
            first[s] = _pass(p, rows, weighted, places, yr, gaps, lo, hi, side, m, n, s * LANES, edge, codes[s])
        j = n - 1 - free
        for at in range(n - 1 - free, n):
            if edge[LANES - 1 + at] < edge[LANES - 1 + j]:
                j = at
        _follow_back(codes, first, m - 1, j, values[k], count[k], total[k])


def partner_sums(p, x, w, points, Y, values, ends, lo, hi, start, free):
    """For each series of `Y` how many of its points each query point meets (k, m), and their sum (k, channels, m).

    `Y` (k, features, n) are what is compared of the `values` (k, channels, n); series k has the first ends[k] points.
    Where they differ, there is neither a band nor a free point. For the rest see `diagonals.cost`.
    """
    m, cells, (count, channels, n) = x.shape[1], cells_of(p, lo, hi), values.shape
    strips = -(-m // LANES)
    edge, work = _room(p, x, Y[0])
    codes, first = np.empty((strips, (n + 2 * LANES) * LANES), np.uint8), np.empty(strips, np.int64)
    met, total = np.zeros((count, m)), np.zeros((count, channels, m))
    for begin, end in pieces(count, m * n):
        _add(p, x, w, points, Y, values, ends, cells, start, free, begin, end, edge, work, codes, first, met, total)
    return met, total

"""One pair at a time along anti-diagonals, whose cells do not wait for each other: vector code for long series.

The recurrences are those of `_recurrences`; borders are infinite as in `_elastic`, and no sum is reordered, so that the
numbers are the same to the bit. Strips of the query go along the series one after the other, see `_strips`. Kernels are
made by a function that is given the hash of the files they take functions from, because numba's disk cache looks at
this file alone.
"""

import math

import numpy as np
from numba import njit

from . import _strips
from ._compiled import inner, version_of
from ._elastic import borders, cells_and_borders, fill_rows
from ._recurrence import closed_border, even, join, late, least, moves, weighting
from ._strips import (
    LANES,
    ROWS,
    SHIFT,
    deal,
    dealt,
    lane_of,
    leave,
    load,
    place_of,
    places_at,
    price_at,
    query_in_lanes,
    room_for,
    row_at,
    splat,
    terms_at,
)
from ._vector import larger, smaller, where
from ._vector_memory import copy, entering, fill, shifted, store_codes

INF = np.inf
# Paths keep the edges between strips; beyond so many numbers, those of some strips only.
KEPT = 2**23


@inner
def _strip(p, rows, weighted, points, yr, prices, first, final, side, i, begin, end, edge, bottom, codes):
    """Accumulated costs of the rows from i on; steps [begin, end). `codes`, if any, records the moves.

    The row above hands down two costs, of the diagonal way and of the query's; where all moves cost the same the
    better one of them (`over`), found before it moves on.
    """
    rows_at, size, lane, behind = load(ROWS, 0), yr.shape[1] >> SHIFT, lane_of(bottom), LANES - 1 - bottom
    here = load(points[0], i), load(points[1], i), load(points[2], i)
    border, row = load(side, i), row_at(rows, weighted, 0, i)
    shut = INF if i == 0 and closed_border(p) else -INF  # above the first row there is the diagonal way only
    old = where(begin == 0, border, splat(INF))
    at_corner = edge[begin + LANES - 2]
    over, diag = old, shifted(old, at_corner)
    at = places_at(begin, size)
    for t in range(begin, end):
        at_edge = edge[t + LANES - 1]
        a, b, c = terms_at(p, row, rows, weighted, yr, i, at)
        lag = abs((i - t) + 2.0 * rows_at)
        d, u, v = moves(p, here, late(p, lag, lag), a, b, c, price_at(p, prices, at))
        if codes is None and even(p):  # a sum's rounding keeps the order, so that this is the same to the bit
            best = join(p, least(p, old, shifted(over, smaller(at_corner, larger(at_edge, shut)))), d)
        else:
            up = shifted(old, larger(at_edge, shut))
            if codes is None:
                best = least(p, least(p, join(p, diag, d), join(p, up, u)), join(p, old, v))
            else:
                best, other, third = diag, up, old
                if not even(p):
                    best, other, third = join(p, diag, d), join(p, up, u), join(p, old, v)
                by_query = other < best
                best = least(p, other, best)
                store_codes(codes, (t - begin) * LANES, by_query, third < best)
                best = least(p, third, best)
                if even(p):
                    best = join(p, best, d)
            diag = entering(up, at_edge)
        if first is not None:
            column = t - rows_at
            best = where((column >= load(first, i)) & (column < load(final, i)), best, INF)
        if not closed_border(p):
            best = where(t - rows_at >= 0.0, best, border)
        over, old, at_corner = smaller(old, best), best, at_edge
        at = place_of(t + 1, size), at[0], at[1], at[2], at[3]
        leave(edge, t + behind, lane, old)


@inner
def _begun(p, x, w, points, y, lo, hi, start):
    """What the strips need of two whole series: query, points, ranges of the band, border, edge, series and prices."""
    n, m, channels = y.shape[1], x.shape[1], y.shape[0]
    rows = np.empty((channels, 4, m))
    fill_rows(p, x, w, rows)
    top, side = borders(p, points, y, None, n, 0, start)
    if lo.shape[0] > 0:
        lo, hi, side, top = cells_and_borders(p, lo, hi, side, top)
    rows, points = query_in_lanes(rows, points)
    size = points.shape[1]
    first, final = np.zeros(size), np.full(size, float(n))
    if lo.shape[0] > 0:
        first, final = dealt(lo, size), dealt(hi, size)
    edge = np.empty(n + 3 * LANES)
    fill(edge, 0, edge.shape[0], INF)
    copy(top, 0, n + 1, edge, LANES - 2)
    yr, prices = room_for(p, channels, n)
    deal(p, y, 0, n, yr, prices)
    return rows, points, first, final, dealt(side[1:], size), edge, yr, prices


@inner
def _pass(p, rows, weighted, points, yr, prices, lo, hi, side, m, n, i, edge, codes):
    """One strip from edge to edge within its band; the first step is given back."""
    height = min(LANES, m - i)
    bottom = i + lane_of(height - 1)
    below, beyond = int(lo[bottom]), int(hi[bottom])
    if codes is None and below == 0 and int(hi[i]) >= n:
        _strip(p, rows, weighted, points, yr, prices, None, None, side, i, 0, n + height - 1, edge, height - 1, None)
        return 0
    begin, end = int(lo[i]), min(beyond, n) + height - 1
    _strip(p, rows, weighted, points, yr, prices, lo, hi, side, i, begin, end, edge, height - 1, codes)
    # Beside the band the edge still holds what earlier strips left.
    fill(edge, LANES - 1 + beyond, edge.shape[0], INF)
    if below > 0:
        fill(edge, 0, LANES - 1 + below, INF)
    return begin


@inner
def _follow(p, rows, weighted, points, yr, prices, lo, hi, side, edge, kept, apart, i, j):
    """The path that ends in query point i and series point j, strip by strip from the edges `kept` between them.

    Every `apart`-th edge was kept; the others are computed again where the path comes by.
    """
    path, steps = np.empty((2, i + j + 1), np.intp), np.empty(i + j + 1, np.uint8)
    m, strips = i + 1, -(-(i + 1) // LANES)
    between = np.empty((apart, edge.shape[0]))
    codes = np.empty((j + 1 + LANES) * LANES, np.uint8)
    k = path.shape[1]
    for group in range(kept.shape[0] - 1, -1, -1):
        first, until = group * apart, min(strips, (group + 1) * apart)
        copy(kept[group], 0, edge.shape[0], between[0], 0)
        # Down to the group's last strip, keeping the edges, then up along the path.
        for turn in range(2 * (until - first) - 1):
            down = turn < until - first - 1
            s = turn if down else 2 * (until - first - 1) - turn
            if j < 0:
                break
            above = (first + s) * LANES
            copy(between[s], 0, edge.shape[0], edge, 0)
            if down:
                _pass(p, rows, weighted, points, yr, prices, lo, hi, side, m, j + 1, above, edge, None)
                copy(edge, 0, edge.shape[0], between[s + 1], 0)
                continue
            begin = _pass(p, rows, weighted, points, yr, prices, lo, hi, side, m, j + 1, above, edge, codes)
            while i >= above and j >= 0:
                k -= 1
                path[0, k], path[1, k] = i, j
                move = codes[(i - above + j - begin) * LANES + lane_of(i - above)]
                steps[k] = move
                if move != 2:
                    i -= 1
                if move != 1:
                    j -= 1
    return path, steps, k


def _make(version):
    """Compile lazily, once per version of the files that functions are taken from."""

    @njit(cache=True, nogil=True)
    def cost(p, x, w, points, y, lo, hi, start, free):
        """Cost of the best path of two whole series; without weights (None) they are all 1.

        Query point i may meet the points lo[i] <= j < hi[i] of the series, or all of them if those are empty. The path
        begins at one of the first `start` + 1 points of the series, and ends at one of the last `free` + 1.
        """
        m, n, weighted = x.shape[1], y.shape[1], weighting(p, w)
        rows, points, lo, hi, side, edge, yr, prices = _begun(p, x, w, points, y, lo, hi, start)
        for i in range(0, m, LANES):
            _pass(p, rows, weighted, points, yr, prices, lo, hi, side, m, n, i, edge, None)
        best = INF if version else 0.0  # what the closure holds is a part of the cache's key
        for j in range(n - 1 - free, n):
            best = min(best, edge[LANES - 1 + j])
        return best

    @njit(cache=True, nogil=True)
    def path(p, x, w, points, y, lo, hi, start, free):
        """The best path (2, K) and its moves (K,), as `_elastic.backtrack` gives them, and where in both they begin.

        Memory: the edges between strips, or some of them.
        """
        m, n, weighted = x.shape[1], y.shape[1] - (0 if version else 1), weighting(p, w)
        rows, points, lo, hi, side, edge, yr, prices = _begun(p, x, w, points, y, lo, hi, start)
        strips = -(-m // LANES)
        apart = 1 if strips * n <= KEPT else math.ceil(math.sqrt(strips))
        kept = np.empty((-(-strips // apart), edge.shape[0]))
        for s in range(strips):
            if s % apart == 0:
                copy(edge, 0, edge.shape[0], kept[s // apart], 0)
            _pass(p, rows, weighted, points, yr, prices, lo, hi, side, m, n, s * LANES, edge, None)
        j = n - 1 - free
        for t in range(j + 1, n):
            if edge[LANES - 1 + t] < edge[LANES - 1 + j]:
                j = t
        return _follow(p, rows, weighted, points, yr, prices, lo, hi, side, edge, kept, apart, m - 1, j)

    return cost, path


cost, path = _make(version_of(_strips))

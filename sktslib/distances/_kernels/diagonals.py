"""One pair at a time: along anti-diagonals, whose cells do not wait for each other.

Anti-diagonals are vector code for long series. The recurrences are those of `recurrences`; the boundary is infinite as
in `columns`, and no sum is reordered, so that the numbers are the same to the bit. Strips of the query go along the
series one after the other, see `strips`.
"""

import math

import numpy as np

from .columns import cells_of, fill_boundary, fill_rows
from .compilation import inner, kernel, pieces, step
from .dispatch import accumulate, closed_boundary, equal_moves, lag_cost, minimum_cost, moves, weighting
from .simd import maximum, minimum, where
from .simd_memory import copy, entering, fill, number_at, shifted, store_codes
from .strips import (
    LANES,
    ROWS,
    SHIFT,
    deal,
    gap_cost_at,
    index_of,
    indices_at,
    lane_of,
    leave,
    load,
    room_for,
    row_at,
    splat,
    stripe,
    stripe_query,
    terms_at,
)

INF = np.inf
# Paths keep the edges between strips; beyond so many numbers, those of some strips only.
KEPT = 2**23
NO_EDGES = np.empty((0, 0))


@step
def best_move(p, diag, up, left, d, u, v):
    """The cost of a cell, whether the query's move is cheaper than the diagonal one, and the series' than both."""
    best, other, third = diag, up, left
    if not equal_moves(p):
        best, other, third = accumulate(p, diag, d), accumulate(p, up, u), accumulate(p, left, v)
    by_query = other < best
    best = minimum_cost(p, other, best)
    by_series = third < best
    best = minimum_cost(p, third, best)
    return accumulate(p, best, d) if equal_moves(p) else best, by_query, by_series


@inner
def _strip(p, rows, weighted, points, yr, gap_costs, band, side, i, begin, end, edge, bottom, codes):
    """Accumulated costs of the rows from i on; steps [begin, end). `codes`, if any, records the moves.

    `band` tells whether it leaves out any of these cells, and its first and final column by rows.

    The row above hands down two costs, of the diagonal way and of the query's; where all moves cost the same the
    better one of them (`over`), found before it moves on.
    """
    rows_at, size, lane, behind = load(ROWS, 0), len(yr[0]) >> SHIFT, lane_of(bottom), LANES - 1 - bottom
    here = load(points[0], i), load(points[1], i), load(points[2], i)
    boundary, row = load(side, i), row_at(rows[0], weighted, i)
    shut = INF if i == 0 and closed_boundary(p) else -INF  # above the first row there is the diagonal way only
    old = where(begin == 0, boundary, splat(INF))
    at_corner = edge[begin + LANES - 2]
    banded, first, final = band
    over, diag = old, shifted(old, at_corner)
    at = indices_at(begin, size)
    for t in range(begin, end):
        at_edge = number_at(edge, t + LANES - 1)
        a, b, c = terms_at(p, row, rows, weighted, yr, i, at)
        lag = abs((i - t) + 2.0 * rows_at)
        d, u, v = moves(p, here, lag_cost(p, lag, lag), a, b, c, gap_cost_at(p, gap_costs, at))
        if codes is None and equal_moves(p):  # a sum's rounding keeps the order, so that this is the same to the bit
            best = accumulate(p, minimum_cost(p, old, shifted(over, minimum(at_corner, maximum(at_edge, shut)))), d)
        else:
            up = shifted(old, maximum(at_edge, shut))
            if codes is None:
                best = minimum_cost(
                    p, minimum_cost(p, accumulate(p, diag, d), accumulate(p, up, u)), accumulate(p, old, v)
                )
            else:
                best, by_query, by_series = best_move(p, diag, up, old, d, u, v)
                store_codes(codes, (t - begin) * LANES, by_query, by_series)
            diag = entering(up, at_edge)
        if banded:  # always or never: of two strips, one with a band, one would be compiled for nothing
            column = t - rows_at
            best = where((column >= load(first, i)) & (column < load(final, i)), best, INF)
        if not closed_boundary(p):
            best = where(t - rows_at >= 0.0, best, boundary)
        over, old, at_corner = minimum(old, best), best, at_edge
        at = index_of(t + 1, size), at[0], at[1], at[2], at[3]
        leave(edge, t + behind, lane, old)


@inner
def _begin(p, x, w, points, y, cells, start, edge, work):
    """Fill what the strips need of two whole series: query, points, band, boundary, edge, series and gap costs."""
    rows, in_lanes, costs, first, final, side, sides, yr, gaps = work
    n, (lo, hi, side_end, top_end) = y.shape[1], cells
    fill_rows(p, x, w, rows)
    stripe_query(rows, points, in_lanes, costs)
    fill(edge, 0, edge.shape[0], INF)
    fill_boundary(p, points, y, None, 0, start, edge, LANES - 2, n, side)
    fill(edge, LANES - 2 + min(top_end, n + 1), LANES - 2 + n + 1, INF)
    fill(side, min(side_end, side.shape[0]), side.shape[0], INF)
    stripe(side[1:], sides)
    if lo.shape[0] > 0:
        stripe(lo, first)
        stripe(hi, final)
    else:
        fill(first, 0, first.shape[0], 0.0)
        fill(final, 0, final.shape[0], float(n))
    deal(p, y, 0, n, yr, gaps)


@inner
def _pass(p, rows, weighted, points, yr, gap_costs, lo, hi, side, m, n, i, edge, codes):
    """One strip from edge to edge within its band; the first step is given back."""
    height = min(LANES, m - i)
    bottom = i + lane_of(height - 1)
    begin, below, beyond = int(lo[i]), int(lo[bottom]), int(hi[bottom])
    band = below > 0 or int(hi[i]) < n, lo, hi
    end = min(beyond, n) + height - 1
    _strip(p, rows, weighted, points, yr, gap_costs, band, side, i, begin, end, edge, height - 1, codes)
    # Beside the band the edge still holds what earlier strips left.
    fill(edge, LANES - 1 + beyond, edge.shape[0], INF)
    if below > 0:
        fill(edge, 0, LANES - 1 + below, INF)
    return begin


@kernel
def _go_on(p, x, w, points, y, cells, start, free, begin, end, edge, work, kept, apart):
    """Strips [begin, end) of two whole series; the cost of the best path once all are done.

    Every `apart`-th edge between two strips is kept, none with 0.
    """
    m, n, weighted = x.shape[1], y.shape[1], weighting(p, w)
    if begin == 0:
        _begin(p, x, w, points, y, cells, start, edge, work)
    _, rows, points, lo, hi, _, side, yr, gaps = work
    for s in range(begin, end):
        if apart > 0 and s % apart == 0:
            copy(edge, 0, edge.shape[0], kept[s // apart], 0)
        _pass(p, rows, weighted, points, yr, gaps, lo, hi, side, m, n, s * LANES, edge, None)
    best = INF
    if end * LANES >= m:
        for j in range(n - 1 - free, n):
            best = min(best, edge[LANES - 1 + j])
    return best


@kernel
def _follow(p, w, begin, end, edge, work, kept, apart, between, codes, path, steps, at):
    """The path that goes through query point at[0] and series point at[1], back through groups of strips.

    Every `apart`-th edge was kept; the others are computed again where the path comes by. It is written from
    position at[2] down.
    """
    _, rows, points, lo, hi, _, side, yr, gaps = work
    weighted = weighting(p, w)
    i, j, k, m = at[0], at[1], at[2], work[0].shape[2]
    strips = -(-m // LANES)
    for group in range(kept.shape[0] - 1 - begin, kept.shape[0] - 1 - end, -1):
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
                _pass(p, rows, weighted, points, yr, gaps, lo, hi, side, m, j + 1, above, edge, None)
                copy(edge, 0, edge.shape[0], between[s + 1], 0)
                continue
            last = _pass(p, rows, weighted, points, yr, gaps, lo, hi, side, m, j + 1, above, edge, codes)
            while i >= above and j >= 0:
                k -= 1
                path[0, k], path[1, k] = i, j
                move = codes[(i - above + j - last) * LANES + lane_of(i - above)]
                steps[k] = move
                if move != 2:
                    i -= 1
                if move != 1:
                    j -= 1
    at[0], at[1], at[2] = i, j, k


def _room(p, x, y):
    """The edge between strips, and what they work in besides."""
    (channels, m), n = x.shape, y.shape[1]
    size = m + -m % LANES
    points = np.empty((6, size))  # in one piece: each array takes time
    work = np.empty((channels, 4, m)), np.empty((channels, 4, size)), points[:3], points[3], points[4]
    return np.empty(n + 3 * LANES), (*work, np.empty(m + 1), points[5], *room_for(p, channels, n))


def cost(p, x, w, points, y, lo, hi, start, free):
    """Cost of the best path of two whole series; without weights (None) they are all 1.

    Query point i may meet the points lo[i] <= j < hi[i] of the series, or all of them if those are empty. The path
    begins at one of the first `start` + 1 points of the series, and ends at one of the last `free` + 1.
    """
    pair, room = (p, x, w, points, y, cells_of(p, lo, hi), start, free), _room(p, x, y)
    for begin, end in pieces(-(-x.shape[1] // LANES), LANES * y.shape[1]):
        best = _go_on(*pair, begin, end, *room, NO_EDGES, 0)
    return best


def path(p, x, w, points, y, lo, hi, start, free):
    """The best path (2, K) and its moves (K,), as `columns.backtrack` gives them.

    Memory: the edges between strips, or some of them.
    """
    m, n = x.shape[1], y.shape[1]
    strips = -(-m // LANES)
    apart = 1 if strips * n <= KEPT else math.ceil(math.sqrt(strips))
    pair, (edge, work) = (p, x, w, points, y, cells_of(p, lo, hi), start, free), _room(p, x, y)
    kept = np.empty((-(-strips // apart), edge.shape[0]))
    for begin, end in pieces(strips, LANES * n):
        _go_on(*pair, begin, end, edge, work, kept, apart)
    j = n - 1 - free + int(np.argmin(edge[LANES - 1 + n - 1 - free : LANES - 1 + n]))
    at, found = np.array([m - 1, j, m + j]), (np.empty((2, m + j), np.intp), np.empty(m + j, np.uint8))
    between, codes = np.empty((apart, edge.shape[0])), np.empty((j + 1 + LANES) * LANES, np.uint8)
    for begin, end in pieces(len(kept), 4 * apart * LANES * n):
        _follow(p, w, begin, end, edge, work, kept, apart, between, codes, *found, at)
    path, steps = found
    return path[:, at[2] :].copy(), steps[at[2] :]

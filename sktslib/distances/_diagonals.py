"""One pair at a time along anti-diagonals, whose cells do not wait for each other: vector code for long series.

The recurrences are those of `_elastic`; borders are infinite as there, and no sum is reordered, so that the numbers are
the same to the bit.

A strip is LANES query points. Its lanes walk along the series one point behind each other: at step t, lane k stands at
point t - k, so that every predecessor of a cell was computed one or two steps before. What the last lane leaves is the
`edge` that the next strip meets, in one array: ``edge[LANES - 1 + j]`` belongs to point j of the series.

Layout: the query ``(channels, 4, m)`` is padded to whole strips, so are the borders; the series is reversed, point j at
``n + LANES - 1 - j``, so that lanes are neighbours in memory. Kernels are made by a function that is given the hash of
the files they take functions from, because numba's disk cache looks at this file alone.
"""

import math

import numpy as np
from numba import njit

from . import _elastic, _vector
from ._elastic import closed_border, even, even_in_search, gap, gap_terms, join, late, matched_pair, moves, terms
from ._vector import REGISTER, copy, entering, fill, last, makers, shifted, smaller, store, store_codes, where
from ._versions import version_of

INF = np.inf
LANES = 4 * REGISTER
# Paths keep the edges between strips; beyond so many numbers, those of some strips only.
KEPT = 2**23
# Searches go along the series in blocks, so that what the strips hand to each other stays in the cache.
BLOCK = 4096

load, splat, ramp = makers(LANES, fused=False)


@njit(nogil=True)
def _prices(p, yr):
    """Prices of leaving the points of the series unmatched, reversed as the series is."""
    prices = np.zeros(yr.shape[1])
    for j in range(yr.shape[1] - 1):
        total = 0.0
        for k in range(yr.shape[0]):
            total += gap_terms(p, yr[k, j], yr[k, j + 1])
        prices[j] = gap(p, total, 1.0)
    return prices


@njit(nogil=True)
def _row(rows, k, i):
    r = rows[k]
    return load(r[0], i), load(r[1], i), load(r[2], i), load(r[3], i)


@njit(nogil=True)
def _terms(p, row, rows, yr, i, t):
    """The terms of the cells of a step, summed over the channels; `row` is that of the first one."""
    a, b, c = terms(p, row, load(yr[0], t), load(yr[0], t + 1))
    for k in range(1, rows.shape[0]):
        e, f, g = terms(p, _row(rows, k, i), load(yr[k], t), load(yr[k], t + 1))
        a, b, c = a + e, b + f, c + g
    return a, b, c


@njit(nogil=True)
def _leave(edge, t, lane, old, held):
    """Keep the cost of a strip's last row, which need not be its last lane."""
    if lane == LANES - 1:
        edge[t] = last(old)
    else:
        store(held, 0, old)
        edge[t + LANES - 1 - lane] = held[lane]


@njit(nogil=True)
def _strip(p, rows, points, yr, prices, first, final, side, i, begin, end, edge, lane, codes):
    """Accumulated costs of the rows from i on; steps [begin, end). `codes`, if any, records the moves."""
    lane_at, n_points = ramp(), yr.shape[1] - 2 * LANES
    offset = n_points + LANES - 1
    here, held = (load(points[0], i), load(points[1], i), load(points[2], i)), np.empty(LANES)
    border, row = load(side, i + 1), _row(rows, 0, i)
    old = where(begin == 0, border, splat(INF))
    diag = shifted(old, edge[begin + LANES - 2])
    for t in range(begin, end):
        at_edge = edge[t + LANES - 1]
        up = shifted(old, INF if i == 0 and closed_border(p) else at_edge)
        a, b, c = _terms(p, row, rows, yr, i, offset - t)
        lag = abs((i - t) + 2.0 * lane_at)
        d, u, v = moves(p, here, late(p, lag, lag), a, b, c, load(prices, offset - t))
        if codes is None and even(p):  # a sum's rounding keeps the order, so that this is the same to the bit
            best = join(p, smaller(smaller(diag, old), up), d)  # `up` comes last
        elif codes is None:
            best = smaller(smaller(join(p, diag, d), join(p, up, u)), join(p, old, v))
        else:
            best, other, third = diag, up, old
            if not even(p):
                best, other, third = join(p, diag, d), join(p, up, u), join(p, old, v)
            by_query = other < best
            best = smaller(other, best)
            store_codes(codes, (t - begin) * LANES, by_query, third < best)
            best = smaller(third, best)
            if even(p):
                best = join(p, best, d)
        if first is not None:
            column = t - lane_at
            best = where((column >= load(first, i)) & (column < load(final, i)), best, INF)
        if not closed_border(p):
            best = where(t - lane_at >= 0.0, best, border)
        diag = entering(up, at_edge)
        old = best
        _leave(edge, t, lane, old, held)


@njit(nogil=True)
def _search_strip(p, rows, points, yr, prices, radius, side, i, begin, end, edge, origin, lane, state):
    """The same for a search: each cell carries the start of its path, and lags count from there.

    It goes on from `state`, and leaves there what the next steps need. A start of -1 - sample says that the path has no
    matched pair yet.
    """
    lane_at, n_points = ramp(), yr.shape[1] - 2 * LANES
    offset = n_points + LANES - 1
    here, held = (load(points[0], i), load(points[1], i), load(points[2], i)), np.empty(LANES)
    border = load(side, i + 1)
    old, diag, s_old, s_diag = load(state[0], 0), load(state[1], 0), load(state[2], 0), load(state[3], 0)
    for t in range(begin, end):
        at_edge, from_edge = edge[t + LANES - 1], origin[t + LANES - 1]
        up, s_up = shifted(old, INF if i == 0 and closed_border(p) else at_edge), shifted(s_old, from_edge)
        a, b, c = _terms(p, _row(rows, 0, i), rows, yr, i, offset - t)
        price = load(prices, offset - t)
        if closed_border(p):
            e, f, g = s_diag, s_up, s_old
        else:
            e = where(s_diag >= 0.0, s_diag, -1.0 - s_diag)
            f = where(s_up >= 0.0, s_up, -1.0 - s_up)
            g = where(s_old >= 0.0, s_old, -1.0 - s_old)
        distance = (i - t) + 2.0 * lane_at
        lag_e, lag_f, lag_g = abs(distance + e), abs(distance + f), abs(distance + g)
        d = moves(p, here, late(p, lag_e, lag_e), a, b, c, price)[0]
        best, other, third = diag, up, old
        if not even_in_search(p):
            best = join(p, diag, d)
            other = join(p, up, moves(p, here, late(p, lag_f, lag_f), a, b, c, price)[1])
            third = join(p, old, moves(p, here, late(p, lag_g, lag_g), a, b, c, price)[2])
        if radius is not None:
            best = where(lag_e > radius, INF, best)
            other = where(lag_f > radius, INF, other)
            third = where(lag_g > radius, INF, third)
        start = s_diag if closed_border(p) else where(matched_pair(p, a), e, s_diag)
        start, best = where(other < best, s_up, start), smaller(other, best)
        start, best = where(third < best, s_old, start), smaller(third, best)
        if even_in_search(p):
            best = join(p, best, d)
        if not closed_border(p):
            inside = t - lane_at >= 0.0
            start, best = where(inside, start, -1.0), where(inside, best, border)
        diag, s_diag = entering(up, at_edge), s_up
        old, s_old = best, start
        _leave(edge, t, lane, old, held)
        _leave(origin, t, lane, s_old, held)
    store(state[0], 0, old)
    store(state[1], 0, diag)
    store(state[2], 0, s_old)
    store(state[3], 0, s_diag)


@njit(nogil=True)
def _edge(n, top):
    """What the first strip meets: costs along the series before the query's first point, and the corner."""
    edge = np.empty(n + 2 * LANES)
    fill(edge, 0, edge.shape[0], INF)
    copy(top, 0, n + 1, edge, LANES - 2)
    return edge


@njit(nogil=True)
def _pass(p, rows, points, yr, prices, lo, hi, side, m, n, i, edge, codes):
    """One strip from edge to edge within its band; the first step is given back."""
    height = min(LANES, m - i)
    below, beyond = int(lo[i + height - 1]), int(hi[i + height - 1])
    if codes is None and below == 0 and int(hi[i]) >= n:
        _strip(p, rows, points, yr, prices, None, None, side, i, 0, n + height - 1, edge, height - 1, None)
        return 0
    begin, end = int(lo[i]), min(beyond, n) + height - 1
    _strip(p, rows, points, yr, prices, lo, hi, side, i, begin, end, edge, height - 1, codes)
    # Beside the band the edge still holds what earlier strips left.
    fill(edge, LANES - 1 + beyond, edge.shape[0], INF)
    if below > 0:
        fill(edge, 0, LANES - 1 + below, INF)
    return begin


@njit(nogil=True)
def _follow(p, rows, points, yr, prices, lo, hi, side, edge, kept, apart, i, j):
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
                _pass(p, rows, points, yr, prices, lo, hi, side, m, j + 1, above, edge, None)
                copy(edge, 0, edge.shape[0], between[s + 1], 0)
                continue
            begin = _pass(p, rows, points, yr, prices, lo, hi, side, m, j + 1, above, edge, codes)
            while i >= above and j >= 0:
                k -= 1
                path[0, k], path[1, k] = i, j
                move = codes[(i - above + j - begin) * LANES + i - above]
                steps[k] = move
                if move != 2:
                    i -= 1
                if move != 1:
                    j -= 1
    return path, steps, k


def _make(version):
    """Compile lazily, once per version of the files that functions are taken from."""

    @njit(cache=True, nogil=True)
    def accumulate(p, rows, points, yr, lo, hi, top, side, m, free):
        """Last row (n) of the accumulated costs, as `_elastic.accumulate` gives it; best path (2, K), its moves (K,).

        Query point i meets the points lo[i] <= j < hi[i] of the series. The path ends in one of the last `free` + 1
        points of the series; below 0 there is none. Memory for a path: the edges between strips, or some of them. The
        path begins at the number that comes last.
        """
        n = top.shape[0] - (1 if version else 0)  # what the closure holds is a part of the cache's key
        prices, edge = _prices(p, yr), _edge(n, top)
        strips = -(-m // LANES)
        apart = 1 if strips * n <= KEPT else math.ceil(math.sqrt(strips))
        kept = np.empty((-(-strips // apart) if free >= 0 else 0, edge.shape[0]))
        for s in range(strips):
            if free >= 0 and s % apart == 0:
                copy(edge, 0, edge.shape[0], kept[s // apart], 0)
            _pass(p, rows, points, yr, prices, lo, hi, side, m, n, s * LANES, edge, None)
        bottom = np.empty(n)
        copy(edge, LANES - 1, LANES - 1 + n, bottom, 0)
        if free < 0:
            return bottom, np.empty((2, 0), np.intp), np.empty(0, np.uint8), 0
        j = n - 1 - free
        for t in range(j + 1, n):
            if bottom[t] < bottom[j]:
                j = t
        path, steps, k = _follow(p, rows, points, yr, prices, lo, hi, side, edge, kept, apart, m - 1, j)
        return bottom, path, steps, k

    @njit(cache=True, nogil=True)
    def warped(p, rows, points, yr, radius, shortest, longest, side, m, distance, begin):
        """Warped profile of a whole series, as `_elastic.warped` gives it."""
        n = distance.shape[0]
        prices = _prices(p, yr)
        edge, origin = np.empty(n + 2 * LANES), np.zeros(n + 2 * LANES)
        fill(edge, 0, edge.shape[0], INF)
        for j in range(-1, n):
            edge[LANES - 1 + j] = 0.0
            origin[LANES - 1 + j] = j + 1.0 if closed_border(p) else -2.0 - j
        strips = -(-m // LANES)
        state = np.zeros((strips, 4, LANES if version else 1))
        for s in range(strips):
            copy(side, s * LANES + 1, (s + 1) * LANES + 1, state[s, 0], 0)
            copy(side, s * LANES, (s + 1) * LANES, state[s, 1], 0)
            if not closed_border(p):
                fill(state[s, 2], 0, LANES, -1.0)
                fill(state[s, 3], 0, LANES, -1.0)
        for at in range(0, n + m + LANES * strips, BLOCK):
            for s in range(strips):
                # A strip stands behind the one above it by what its lanes stand apart.
                height = min(LANES, m - s * LANES)
                a, b = max(0, at - s * (LANES - 1)), min(n + height - 1, at + BLOCK - s * (LANES - 1))
                if a < b:
                    _search_strip(
                        p, rows, points, yr, prices, radius, side, s * LANES, a, b, edge, origin, height - 1, state[s]
                    )
        for j in range(n):
            cost, start = edge[LANES - 1 + j], int(origin[LANES - 1 + j])
            length = j + 1 - start
            if cost < INF and start >= 0 and length >= shortest and length <= longest:
                distance[j], begin[j] = cost, start
            else:
                distance[j], begin[j] = INF, -1

    return accumulate, warped


accumulate, warped = _make(version_of(_elastic, _vector))


def padded(rows, points, y):
    """Query, costs of its points, and series as the kernels take them."""
    (channels, n), m = y.shape, points.shape[1]
    yr = np.zeros((channels, n + 2 * LANES))
    yr[:, LANES : LANES + n] = y[:, ::-1]
    return lengthened(rows, m), lengthened(points, m), yr


def lengthened(values, m):
    """Values that belong to m query points (and to one before, or not), as floats, to the end of the last strip."""
    if m % LANES == 0:
        return np.ascontiguousarray(values, dtype=float)
    out = np.empty((*values.shape[:-1], values.shape[-1] + -m % LANES))
    out[..., : values.shape[-1]] = values
    out[..., values.shape[-1] :] = values[..., -1:]
    return out

"""Subsequence searches along anti-diagonals: strips as in `pair`, whose cells carry the starts of their paths.

The numbers are those of `scalar.subsequence_profile` to the bit, and so is the state: a column of costs and starts.
"""

import numpy as np

from .compile import block_size, inner, kernel, pieces, step
from .dispatch import (
    accumulate,
    by_fact,
    closed_boundary,
    equal_moves_in_search,
    lag_cost,
    matched_pair,
    moves,
    weighting,
)
from .pair import (
    ROWS,
    SHIFT,
    STRIP,
    deal,
    gap_cost_at,
    gap_cost_of_register,
    index_of,
    indices_at,
    lane_of,
    leave,
    leave_last,
    load,
    load_register,
    load_strip,
    of_register,
    place_of,
    room_for,
    row_at,
    store_strip,
    stripe_query,
    terms_at,
    terms_of_register,
)
from .simd import REGISTER, entering, maximum, minimum, number_at, shifted, shifted_lanes, store, unlikely, where

INF = np.inf
# Searches go along the series in blocks of points, so that what the strips hand to each other stays in the cache.
BLOCK = block_size(4096, 8)


@inner
def _meet(edges, count, shut, met):
    """Fill in the better of the cell above the first row and the one before that, with its start, for each step."""
    (edge, origin), (over, s_over) = edges, met
    for t in range(0, count, STRIP):
        corner, above = load(edge, t + STRIP - 2), maximum(load(edge, t + STRIP - 1), shut)
        store(over, t, minimum(above, corner))
        store(s_over, t, where(above < corner, load(origin, t + STRIP - 1), load(origin, t + STRIP - 2)))


@step
def _active(t, count, i):
    """Return a mask of the rows of the register from i on that are at one of the block's points at step t."""
    at = t - load_register(ROWS, i & (STRIP - 1))
    return (at >= 0.0) & (at < float(count))


@step
def _even_cells(p, rows, weighted, yr, gap_costs, count, here, i, y_at, before, t, waiting, cost, start, met, s_met):
    """Return the cells of the register of rows from i on at step t, and the better of them and of those before."""
    row, point_costs = here
    a, b, c = terms_of_register(p, row, rows, weighted, yr, i, y_at, before)
    gap_cost = gap_cost_of_register(p, gap_costs, y_at)
    d = moves(p, point_costs, lag_cost(p, 0.0, 0.0), a, b, c, gap_cost)[0]
    best, s_best = accumulate(p, minimum(cost, met), d), where(cost < met, start, s_met)
    if waiting:
        active = _active(t, count, i)
        best, s_best = where(active, best, cost), where(active, s_best, start)
    # Costs grow along a path: what costs less than the cell before did not come from there, but from what it met.
    return best, s_best, minimum(best, cost), where(best < cost, s_met, start)


@step
def _even_step(p, rows, weighted, series, here, strip, t, waiting, edges, carried):
    """Compute step t of `_search_evenly`; return the state for the next. `waiting`: rows may be outside the block.

    One register after the other, so that few values are needed at once.
    """
    (i, lane, behind), (yr, gaps, n), (edge, origin, met, s_met), (h0, h1, h2, h3) = strip, series, edges, here
    (c0, c1, c2, c3), (s0, s1, s2, s3), (v0, v1, v2, v3), (u0, u1, u2, u3), (j0, j1, j2, j3, j4) = carried
    i1, i2, i3 = i + REGISTER, i + 2 * REGISTER, i + 3 * REGISTER
    v, u = shifted_lanes(v3, number_at(met, t)), shifted_lanes(u3, number_at(s_met, t))
    c3, s3, v3, u3 = _even_cells(p, rows, weighted, yr, gaps, n, h3, i3, j3, j4, t, waiting, c3, s3, v2, u2)
    c2, s2, v2, u2 = _even_cells(p, rows, weighted, yr, gaps, n, h2, i2, j2, j3, t, waiting, c2, s2, v1, u1)
    c1, s1, v1, u1 = _even_cells(p, rows, weighted, yr, gaps, n, h1, i1, j1, j2, t, waiting, c1, s1, v0, u0)
    c0, s0, v0, u0 = _even_cells(p, rows, weighted, yr, gaps, n, h0, i, j0, j1, t, waiting, c0, s0, v, u)
    cost, start = (c0, c1, c2, c3), (s0, s1, s2, s3)
    # Not both in one call: a branch that writes to two arrays leaves their reference counts to be changed in the loop,
    # and a search that takes 11 ms takes 33 to 60.
    leave_last(edge, t + behind, lane, cost)
    leave_last(origin, t + behind, lane, start)
    at = index_of(t + 1 + STRIP, len(yr[0]) >> SHIFT), j0, j1, j2, j3
    return cost, start, (v0, v1, v2, v3), (u0, u1, u2, u3), at


def _search_evenly(p, query, series, radius, at, strip, edges, state):
    """Search a block of the series with a strip, from row i to `bottom` after it; each cell has its path's start.

    All moves cost the same, whatever the start. `series` holds the block's points, the first of which is sample `at`,
    and LANES points before. It goes on from the `state`, the column before the block, and leaves there its last one.
    """
    (rows, weighted, points), (i, bottom), (yr, _, count), (costs, starts) = query, strip, series, state
    lanes = i, lane_of(bottom), STRIP - 1 - bottom
    first, second = of_register(rows[0], weighted, points, i), of_register(rows[0], weighted, points, i + REGISTER)
    third = of_register(rows[0], weighted, points, i + 2 * REGISTER)
    here = first, second, third, of_register(rows[0], weighted, points, i + 3 * REGISTER)
    _meet(edges[:2], count + bottom + 1, INF if i == 0 else -INF, edges[2:])
    cost, start, t = load_strip(costs, i), load_strip(starts, i), 0
    carried = cost, start, cost, start, indices_at(STRIP, len(yr[0]) >> SHIFT)
    while t < count + bottom:
        carried = _even_step(p, rows, weighted, series, here, lanes, t, True, edges, carried)
        t += 1
        while t >= STRIP and t + 1 < count:  # two at a time, because then fewer values change their registers
            carried = _even_step(p, rows, weighted, series, here, lanes, t, False, edges, carried)
            carried = _even_step(p, rows, weighted, series, here, lanes, t + 1, False, edges, carried)
            t += 2
    store_strip(costs, i, carried[0])
    store_strip(starts, i, carried[1])


def _search_strip(p, query, series, radius, at, strip, edges, state):
    """Search a block of the series with a strip, for every recurrence and band.

    Each cell has its path's start, and lags count from there. The arguments are those of `_search_evenly`.

    A start of -1 - sample says that the path has no matched pair yet.
    """
    (rows, weighted, points), (i, bottom), (edge, origin, _, _), (costs, starts) = query, strip, edges, state
    yr, gap_costs, count = series
    rows_at, size, lane, behind = load(ROWS, 0), len(yr[0]) >> SHIFT, lane_of(bottom), STRIP - 1 - bottom
    here, row = (load(points[0], i), load(points[1], i), load(points[2], i)), row_at(rows[0], weighted, i)
    shut = INF if i == 0 and closed_boundary(p) else -INF
    old, s_old = load(costs, i), load(starts, i)
    diag, s_diag = shifted(old, edge[STRIP - 2]), shifted(s_old, origin[STRIP - 2])
    indices = indices_at(STRIP, size)
    for t in range(count + bottom):
        at_edge, from_edge = number_at(edge, t + STRIP - 1), number_at(origin, t + STRIP - 1)
        a, b, c = terms_at(p, row, rows, weighted, yr, i, indices)
        gap_cost, by_edge = gap_cost_at(p, gap_costs, indices), maximum(at_edge, shut)
        up, s_up = shifted(old, by_edge), shifted(s_old, from_edge)
        if closed_boundary(p):
            e, f, g = s_diag, s_up, s_old
        else:
            e = where(s_diag >= 0.0, s_diag, -1.0 - s_diag)
            f = where(s_up >= 0.0, s_up, -1.0 - s_up)
            g = where(s_old >= 0.0, s_old, -1.0 - s_old)
        distance = (i - t - at) + 2.0 * rows_at
        lag_e, lag_f, lag_g = abs(distance + e), abs(distance + f), abs(distance + g)
        d = moves(p, here, lag_cost(p, lag_e, lag_e), a, b, c, gap_cost)[0]
        best, other, third = diag, up, old
        if not equal_moves_in_search(p):
            best = accumulate(p, diag, d)
            other = accumulate(p, up, moves(p, here, lag_cost(p, lag_f, lag_f), a, b, c, gap_cost)[1])
            third = accumulate(p, old, moves(p, here, lag_cost(p, lag_g, lag_g), a, b, c, gap_cost)[2])
        if radius is not None:
            best = where(lag_e > radius, INF, best)
            other = where(lag_f > radius, INF, other)
            third = where(lag_g > radius, INF, third)
        start = s_diag if closed_boundary(p) else where(matched_pair(p, a), e, s_diag)
        start, best = where(other < best, s_up, start), minimum(other, best)
        start, best = where(third < best, s_old, start), minimum(third, best)
        if equal_moves_in_search(p):
            best = accumulate(p, best, d)
        if unlikely(t < STRIP or t >= count):
            active = (t - rows_at >= 0.0) & (t - rows_at < float(count))
            best, start = where(active, best, old), where(active, start, s_old)
        diag, s_diag = entering(up, at_edge), s_up
        old, s_old = best, start
        indices = index_of(t + 1 + STRIP, size), indices[0], indices[1], indices[2], indices[3]
        leave(edge, t + behind, lane, old)
        leave(origin, t + behind, lane, s_old)
    store(costs, i, old)
    store(starts, i, s_old)


search_without_band = by_fact("even_search", {True: _search_evenly, False: _search_strip})
search_in_band = inner(_search_strip)  # where lags count, so that no search is even


@inner
def search(p, query, series, radius, at, strip, edges, state):
    """Search a block of the series with a strip; see `_search_evenly`."""
    if radius is None:  # of an argument the compiler sees that, and leaves out the other way
        search_without_band(p, query, series, radius, at, strip, edges, state)
    else:
        search_in_band(p, query, series, radius, at, strip, edges, state)


@inner
def _list(ends, shortest, longest, edge, origin, distance, begin):
    """Fill in the candidates that are long enough and not too long; a start of -1 without one."""
    low, high = float(shortest), float(longest)
    for j in range(distance.shape[0]):  # vector code: floats, no jumps, no index that may be negative
        length = float(ends + j) - origin[j]
        found = (origin[j] >= 0.0) & (length >= low) & (length <= high)
        distance[j] = edge[j] if found else INF
    for j in range(distance.shape[0]):
        begin[j] = np.int64(origin[j]) if distance[j] < INF else -1


@kernel
def _go_on(query, y, first, offset, limits, work, state, distance, begin):
    """Compute blocks of the series with all strips of the query; see `subsequence_profile`."""
    (p, x, w, points), (radius, shortest, longest) = query, limits
    in_lanes, point_costs, held, size, edges, yr, gaps = work
    col, start = state
    n, m = distance.shape[0], points.shape[1]
    stripe_query(p, x, w, points, in_lanes, point_costs)
    for i in range(held.shape[1]):
        s, at = 1 + minimum(i, m - 1), place_of(i)
        held[0, at], held[1, at] = col[s], float(start[s])
    query_in_lanes, (edge, origin, _, _) = (in_lanes, weighting(p, w), point_costs), edges
    for begun in range(0, n, size):
        count, at = minimum(size, n - begun), offset + begun
        deal(p, y, first + begun - STRIP, count + 2 * STRIP + 2, yr, gaps)
        for j in range(-1, count + STRIP):  # behind the block for rows that wait, whose lags are counted all the same
            edge[STRIP - 1 + j] = 0.0
            origin[STRIP - 1 + j] = float(at + j + 1 if closed_boundary(p) else ~(at + j + 1))
        for i in range(0, m, STRIP):
            strip = i, minimum(STRIP, m - i) - 1
            series, column = (yr, gaps, count), (held[0], held[1])
            search(p, query_in_lanes, series, radius, at, strip, edges, column)
        found = slice(begun, begun + count)
        _list(at + 1, shortest, longest, edge[STRIP - 1 :], origin[STRIP - 1 :], distance[found], begin[found])
    for i in range(m):
        col[1 + i], start[1 + i] = held[0, place_of(i)], np.int64(held[1, place_of(i)])
    start[0] = offset + n if closed_boundary(p) else ~(offset + n)


def subsequence_profile(query, y, first, offset, limits, state, distance, begin):
    """Compute the subsequence profile of a series `y` with a `query` (p, x, w, points) along anti-diagonals.

    The results are those of `scalar.subsequence_profile`.

    The `state` are costs and starts of a column, the same as there.
    """
    channels, m = len(y), query[3].shape[1]
    rows = -(-m // STRIP) * STRIP
    size = min(BLOCK, max(len(distance), 1))
    work = (
        np.empty((channels, 4, rows)),
        np.empty((3, rows)),
        np.empty((2, rows)),
        size,
        tuple(np.empty((4, size + 3 * STRIP))),
        *room_for(channels, size + 2 * STRIP + 2),
    )
    for a, b in pieces(len(distance), m):
        _go_on(query, y, first + a, offset + a, limits, work, state, distance[a:b], begin[a:b])

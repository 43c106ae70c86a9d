"""Subsequence searches along anti-diagonals: strips as in `diagonals`, whose cells carry the starts of their paths.

The numbers are those of `columns.subsequence_profile` to the bit, and so is the state: a column of costs and starts.
"""

import numpy as np

from .compilation import block_size, inner, kernel, pieces, step
from .dispatch import (
    accumulate,
    by_fact,
    closed_boundary,
    equal_moves_in_search,
    lag_cost,
    matched_pair,
    minimum_cost,
    moves,
)
from .simd import maximum, minimum, where
from .simd_memory import entering, shifted, store
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
    place_of,
    room_for,
    row_at,
    stripe,
    stripe_query,
    terms_at,
)

INF = np.inf
# Searches go along the series in blocks of points, so that what the strips hand to each other stays in the cache.
BLOCK = block_size(4096, 8)


@step
def _active(t, count):
    """The rows of a strip that stand at one of the block's points at step t."""
    at = t - load(ROWS, 0)
    return (at >= 0.0) & (at < float(count))


@step
def _even_step(p, rows, weighted, series, i, t, first, edges, lane, behind, carried):
    """Step t of `_search_evenly`; what the next one needs."""
    here, row, shut = first
    (yr, gap_costs, count), (edge, origin) = series, edges
    old, over, s_old, s_over, at_corner, from_corner, at = carried
    at_edge, from_edge = edge[t + LANES - 1], origin[t + LANES - 1]
    by_edge = maximum(at_edge, shut)
    over = shifted(over, minimum(by_edge, at_corner))
    s_over = shifted(s_over, from_edge if by_edge < at_corner else from_corner)
    a, b, c = terms_at(p, row, rows, weighted, yr, i, at)
    d = moves(p, here, lag_cost(p, 0.0, 0.0), a, b, c, gap_cost_at(p, gap_costs, at))[0]
    best, start = accumulate(p, minimum(old, over), d), where(old < over, s_old, s_over)
    if t < LANES or t >= count:
        active = _active(t, count)
        best, start = where(active, best, old), where(active, start, s_old)
    # Costs grow along a path: what costs less than the cell before did not come from there.
    over, s_over = minimum(best, old), where(best < old, start, s_old)
    leave(edge, t + behind, lane, best)
    leave(origin, t + behind, lane, start)
    at = index_of(t + 1 + LANES, len(yr[0]) >> SHIFT), at[0], at[1], at[2], at[3]
    return best, over, start, s_over, at_edge, from_edge, at


def _search_evenly(p, query, series, radius, at, strip, edges, state):
    """A block of the series against the rows of a strip, from i to `bottom` after it; each cell has its path's start.

    All moves cost the same, whatever the start. `series` holds the block's points, the first of which is sample `at`,
    and LANES points before. It goes on from the `state`, the column before the block, and leaves there its last one.
    """
    (rows, weighted, points), (i, bottom), (edge, origin), (costs, starts) = query, strip, edges, state
    yr, _, count = series
    here = load(points[0], i), load(points[1], i), load(points[2], i)
    first = here, row_at(rows[0], weighted, i), INF if i == 0 else -INF
    lane, behind = lane_of(bottom), LANES - 1 - bottom
    old, s_old = load(costs, i), load(starts, i)
    carried = old, old, s_old, s_old, edge[LANES - 2], origin[LANES - 2], indices_at(LANES, len(yr[0]) >> SHIFT)
    for t in range(0, count + bottom, 2):  # two at a time, because then fewer values change their registers
        carried = _even_step(p, rows, weighted, series, i, t, first, edges, lane, behind, carried)
        carried = _even_step(p, rows, weighted, series, i, t + 1, first, edges, lane, behind, carried)
    store(costs, i, carried[0])
    store(starts, i, carried[2])


def _search_strip(p, query, series, radius, at, strip, edges, state):
    """The same for every recurrence and band: lags count from the start of each path.

    A start of -1 - sample says that the path has no matched pair yet.
    """
    (rows, weighted, points), (i, bottom), (edge, origin), (costs, starts) = query, strip, edges, state
    yr, gap_costs, count = series
    rows_at, size, lane, behind = load(ROWS, 0), len(yr[0]) >> SHIFT, lane_of(bottom), LANES - 1 - bottom
    here, row = (load(points[0], i), load(points[1], i), load(points[2], i)), row_at(rows[0], weighted, i)
    shut = INF if i == 0 and closed_boundary(p) else -INF
    old, s_old = load(costs, i), load(starts, i)
    diag, s_diag = shifted(old, edge[LANES - 2]), shifted(s_old, origin[LANES - 2])
    indices = indices_at(LANES, size)
    for t in range(count + bottom):
        at_edge, from_edge = edge[t + LANES - 1], origin[t + LANES - 1]
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
        start, best = where(other < best, s_up, start), minimum_cost(p, other, best)
        start, best = where(third < best, s_old, start), minimum_cost(p, third, best)
        if equal_moves_in_search(p):
            best = accumulate(p, best, d)
        if t < LANES or t >= count:
            active = _active(t, count)
            best, start = where(active, best, old), where(active, start, s_old)
        diag, s_diag = entering(up, at_edge), s_up
        old, s_old = best, start
        indices = index_of(t + 1 + LANES, size), indices[0], indices[1], indices[2], indices[3]
        leave(edge, t + behind, lane, old)
        leave(origin, t + behind, lane, s_old)
    store(costs, i, old)
    store(starts, i, s_old)


# In a band lags count, so that no search is even.
search = by_fact("even_search", {True: _search_evenly, False: _search_strip})
search_in_band = inner(_search_strip)


@inner
def _list(ends, shortest, longest, edge, origin, distance, begin):
    """The candidates that are long enough and not too long; a start of -1 where there is none."""
    low, high = float(shortest), float(longest)
    for j in range(distance.shape[0]):  # vector code: floats, no jumps, no index that may be negative
        length = float(ends + j) - origin[j]
        found = (origin[j] >= 0.0) & (length >= low) & (length <= high)
        distance[j] = edge[j] if found else INF
    for j in range(distance.shape[0]):
        begin[j] = int(origin[j]) if distance[j] < INF else -1


@kernel
def _go_on(query, y, first, offset, limits, work, state, distance, begin):
    """Blocks of the series against all strips of the query, see `subsequence_profile`."""
    (p, rows, weighted, points), (radius, shortest, longest) = query, limits
    in_lanes, point_costs, held, size, edge, origin, yr, gaps = work
    col, start = state
    n, m = distance.shape[0], points.shape[1]
    stripe_query(rows, points, in_lanes, point_costs)
    stripe(col[1:], held[0])
    stripe(start[1:], held[1])
    query_in_lanes = in_lanes, weighted, point_costs
    for begun in range(0, n, size):
        count, at = min(size, n - begun), offset + begun
        deal(p, y, first + begun - LANES, count + 2 * LANES + 2, yr, gaps)
        for j in range(-1, count + LANES):  # behind the block for rows that wait, whose lags are counted all the same
            edge[LANES - 1 + j] = 0.0
            origin[LANES - 1 + j] = float(at + j + 1 if closed_boundary(p) else ~(at + j + 1))
        for i in range(0, m, LANES):
            strip = i, min(LANES, m - i) - 1
            series, column = (yr, gaps, count), (held[0], held[1])
            if radius is None:
                search(p, query_in_lanes, series, radius, at, strip, (edge, origin), column)
            else:
                search_in_band(p, query_in_lanes, series, radius, at, strip, (edge, origin), column)
        found = slice(begun, begun + count)
        _list(at + 1, shortest, longest, edge[LANES - 1 :], origin[LANES - 1 :], distance[found], begin[found])
    for i in range(m):
        col[1 + i], start[1 + i] = held[0, place_of(i)], int(held[1, place_of(i)])
    start[0] = offset + n if closed_boundary(p) else ~(offset + n)


def subsequence_profile(query, y, first, offset, limits, state, distance, begin):
    """What `columns.subsequence_profile` does with the series `y` of a `query` (p, rows, weighted, points).

    The `state` are costs and starts of a column, the same as there.
    """
    p, _, _, points = query
    channels, m = len(y), points.shape[1]
    rows = -(-m // LANES) * LANES
    size = min(BLOCK, max(len(distance), 1))
    work = (
        np.empty((channels, 4, rows)),
        np.empty((3, rows)),
        np.empty((2, rows)),
        size,
        np.empty(size + 3 * LANES),
        np.empty(size + 3 * LANES),
        *room_for(p, channels, size + 2 * LANES + 2),
    )
    for a, b in pieces(len(distance), m):
        _go_on(query, y, first + a, offset + a, limits, work, state, distance[a:b], begin[a:b])

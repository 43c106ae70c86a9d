"""Subsequence searches along anti-diagonals: strips as in `diagonals`, whose cells carry the starts of their paths.

The numbers are those of `columns.subsequence_profile` to the bit.
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
from .simd_memory import REGISTERS, copy, entering, fill, shifted, store
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
    stripe,
    stripe_query,
    terms_at,
)

INF = np.inf
# Searches go along the series in blocks of points, so that what the strips hand to each other stays in the cache.
FEW = 2**14  # starts for which memory is at hand
BLOCK = block_size(4096, 8)


@step
def _even_step(p, rows, weighted, series, i, t, first, edges, lane, behind, carried):
    """Step t of `_search_evenly`; what the next one needs."""
    here, row, shut = first
    (yr, gap_costs, begun), (edge, origin) = series, edges
    old, over, s_old, s_over, at_corner, from_corner, at = carried
    at_edge, from_edge = edge[t + LANES - 1], origin[t + LANES - 1]
    by_edge = maximum(at_edge, shut)
    over = shifted(over, minimum(by_edge, at_corner))
    s_over = shifted(s_over, from_edge if by_edge < at_corner else from_corner)
    a, b, c = terms_at(p, row, rows, weighted, yr, i, at)
    d = moves(p, here, lag_cost(p, 0.0, 0.0), a, b, c, gap_cost_at(p, gap_costs, at))[0]
    best, start = accumulate(p, minimum(old, over), d), where(old < over, s_old, s_over)
    # Costs grow along a path: what costs less than the cell before did not come from there.
    over, s_over = minimum(best, old), where(best < old, s_over, s_old)
    leave(edge, t + behind, lane, best)
    leave(origin, t + behind, lane, start)
    at = index_of(t + 1 - begun, len(yr[0]) >> SHIFT), at[0], at[1], at[2], at[3]
    return best, over, start, s_over, at_edge, from_edge, at


def _search_evenly(p, query, series, radius, side, strip, edges, state):
    """Steps [begin, end) of a strip, the rows from i to `bottom` after it: each cell carries the start of its path.

    All moves cost the same, whatever the start. `series` holds the points from some point on. It goes on from `state`,
    and leaves there what the next steps need. There may be one step more than asked for.
    """
    (rows, weighted, points), (i, begin, end, bottom), (edge, origin) = query, strip, edges
    here = load(points[0], i), load(points[1], i), load(points[2], i)
    first = here, row_at(rows[0], weighted, i), INF if i == 0 else -INF
    lane, behind = lane_of(bottom), LANES - 1 - bottom
    # The edge holds its corner at the begin only: a strip of one row has written its own costs over it by now.
    corner = (edge[LANES - 2], origin[LANES - 2]) if begin == 0 else (state[4, 0], state[4, 1])
    values = load(state[0], 0), load(state[1], 0), load(state[2], 0), load(state[3], 0)
    at = indices_at(begin - series[2], len(series[0][0]) >> SHIFT)
    carried = values[0], values[1], values[2], values[3], corner[0], corner[1], at
    for t in range(begin, end, 2):  # two at a time, because then fewer values change their registers
        carried = _even_step(p, rows, weighted, series, i, t, first, edges, lane, behind, carried)
        carried = _even_step(p, rows, weighted, series, i, t + 1, first, edges, lane, behind, carried)
    store(state[0], 0, carried[0])
    store(state[1], 0, carried[1])
    store(state[2], 0, carried[2])
    store(state[3], 0, carried[3])
    state[4, 0], state[4, 1] = carried[4], carried[5]


def _search_strip(p, query, series, radius, side, strip, edges, state):
    """The same for every recurrence and band: lags count from the start of each path.

    A start of -1 - sample says that the path has no matched pair yet.
    """
    (rows, weighted, points), (i, begin, end, bottom), (edge, origin) = query, strip, edges
    yr, gap_costs, begun = series
    rows_at, size, lane, behind = load(ROWS, 0), len(yr[0]) >> SHIFT, lane_of(bottom), LANES - 1 - bottom
    here = load(points[0], i), load(points[1], i), load(points[2], i)
    boundary, row = load(side, i), row_at(rows[0], weighted, i)
    shut = INF if i == 0 and closed_boundary(p) else -INF
    old, diag, s_old, s_diag = load(state[0], 0), load(state[1], 0), load(state[2], 0), load(state[3], 0)
    if begin == 0:
        diag, s_diag = shifted(old, edge[LANES - 2]), shifted(s_old, origin[LANES - 2])
    at = indices_at(begin - begun, size)
    for t in range(begin, end):
        at_edge, from_edge = edge[t + LANES - 1], origin[t + LANES - 1]
        a, b, c = terms_at(p, row, rows, weighted, yr, i, at)
        gap_cost, by_edge = gap_cost_at(p, gap_costs, at), maximum(at_edge, shut)
        up, s_up = shifted(old, by_edge), shifted(s_old, from_edge)
        if closed_boundary(p):
            e, f, g = s_diag, s_up, s_old
        else:
            e = where(s_diag >= 0.0, s_diag, -1.0 - s_diag)
            f = where(s_up >= 0.0, s_up, -1.0 - s_up)
            g = where(s_old >= 0.0, s_old, -1.0 - s_old)
        distance = (i - t) + 2.0 * rows_at
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
        if not closed_boundary(p):
            inside = t - rows_at >= 0.0
            start, best = where(inside, start, -1.0), where(inside, best, boundary)
        diag, s_diag = entering(up, at_edge), s_up
        old, s_old = best, start
        at = index_of(t + 1 - begun, size), at[0], at[1], at[2], at[3]
        leave(edge, t + behind, lane, old)
        leave(origin, t + behind, lane, s_old)
    store(state[0], 0, old)
    store(state[1], 0, diag)
    store(state[2], 0, s_old)
    store(state[3], 0, s_diag)


# In a band lags count, so that no search is even.
search = by_fact("even_search", {True: _search_evenly, False: _search_strip})
search_in_band = inner(_search_strip)


@kernel
def _go_on(query, y, radius, side, block, begin, end, work):
    """Blocks [begin, end) of the series against all strips of the query, see `subsequence_profile`."""
    p, rows, weighted, points = query
    n, m = y.shape[1], points.shape[1]
    in_lanes, costs, sides, edge, origin, state, yr, gaps = work
    if begin == 0:
        stripe_query(rows, points, in_lanes, costs)
        stripe(side[1:], sides)
        fill(edge, 0, LANES - 2, INF)
        fill(edge, n + LANES - 1, edge.shape[0], INF)
        fill(origin, n + LANES - 1, origin.shape[0], -1.0)  # of no path, but lags are counted from it
        edge[LANES - 2], origin[LANES - 2] = 0.0, 0.0 if closed_boundary(p) else -1.0
        for s in range(state.shape[0]):
            copy(sides, s * LANES, (s + 1) * LANES, state[s, 0], 0)
            copy(sides, s * LANES, (s + 1) * LANES, state[s, 1], 0)
            for r in range(2, 5):
                fill(state[s, r], 0, LANES, 0.0 if closed_boundary(p) else -1.0)
    query_in_lanes, edges = (in_lanes, weighted, costs), (edge, origin)
    # A strip stands behind the one above it by what its lanes stand apart.
    behind = state.shape[0] * LANES + REGISTERS
    for at in range(begin * block, end * block, block):
        deal(p, y, at - behind, block + behind + 2, yr, gaps)
        series = yr, gaps, at - behind
        for j in range(at, min(at + block, n)):
            edge[LANES - 1 + j] = 0.0
            origin[LANES - 1 + j] = j + 1.0 if closed_boundary(p) else -2.0 - j
        for s in range(state.shape[0]):
            height = min(LANES, m - s * LANES)
            a, b = max(0, at - s * LANES), min(n + height - 1, at + block - s * LANES)
            if a < b:
                strip = s * LANES, a, b, height - 1
                if radius is None:
                    search(p, query_in_lanes, series, radius, sides, strip, edges, state[s])
                else:
                    search_in_band(p, query_in_lanes, series, radius, sides, strip, edges, state[s])


@kernel
def _list(first, last, shortest, longest, distance, starts, begin):
    """The candidates that are long enough and not too long, in place of all; `begin` may be the memory of `starts`."""
    cost, since, out = distance[first:last], starts[first:last], begin[first:last]
    low, high = float(shortest), float(longest)
    for j in range(cost.shape[0]):  # vector code: floats, no jumps, no index that may be negative
        length = float(first + j + 1) - since[j]
        found = (since[j] >= 0.0) & (length >= low) & (length <= high)
        cost[j] = cost[j] if found else INF
    for j in range(cost.shape[0]):
        out[j] = int(since[j]) if cost[j] < INF else -1


def subsequence_profile(query, y, limits, side):
    """Subsequence profile of a whole series, as `columns.subsequence_profile` fills it: costs and starts.

    `query` is (p, rows, weighted, points), and `limits` (radius, shortest, longest). What is returned stands in the
    memory that the strips have worked in: new memory would take as long as a tenth of the search.
    """
    (p, _, _, points), (radius, shortest, longest) = query, limits
    (channels, n), m = y.shape, points.shape[1]
    strips, block = -(-m // LANES), BLOCK + BLOCK % 2  # even, since costs are moved on by two steps at a time
    size = strips * LANES
    edge, origin = np.empty(n + 3 * LANES), np.empty(n + 3 * LANES)
    in_lanes = np.empty((channels, 4, size)), np.empty((3, size)), np.empty(size)
    work = *in_lanes, edge, origin, np.empty((strips, 5, LANES)), *room_for(p, channels, block + size + REGISTERS + 2)
    for begin, end in pieces(-(-(n + m + size) // block), block * m):
        _go_on(query, y, radius, side, block, begin, end, work)
    distance, starts = edge[LANES - 1 : LANES - 1 + n], origin[LANES - 1 : LANES - 1 + n]
    start = np.empty(n, np.int64) if n <= FEW else starts.view(np.int64)  # of other memory the compiler makes vectors
    for begin, end in pieces(n, 1):
        _list(begin, end, shortest, longest, distance, starts, start)
    return distance, start

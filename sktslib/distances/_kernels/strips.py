"""Elastic costs along anti-diagonals, in strips of the query: of one pair of whole series, and of subsequence searches.

Cells of an anti-diagonal do not depend on each other, so vectors compute them even for a single pair. The functions of
`recurrence` give the costs, the boundary is that of `scalar`, and no sum is reordered. So costs agree with `scalar` bit
for bit, and in a search so do the starts of paths and the state (a column of costs and starts).

A strip is STRIP query points, one row each. Strips are computed one after another, each along the whole series or a
block of it. At step t, row r is at series point t - r, so every predecessor of a cell was computed one or two steps
earlier. The costs of the last row are the `edge`, which the next strip starts from: ``edge[STRIP - 1 + j]`` belongs to
series point j, and the last STRIP numbers are a buffer.

Row r is in register r % REGISTERS (`shifted` says why), so neighboring lanes of a register are REGISTERS rows apart.
The data of the query points are stored in this order, padded to whole strips. The series is stored in REGISTERS
interleaved parts, each reversed, so that the points that a register needs are neighbors in memory: see `index_of`.
"""

import math

import numpy as np

from .compile import block_size, inner, kernel, pieces, step
from .dispatch import (
    accumulate,
    add_terms,
    by_fact,
    closed_boundary,
    equal_moves,
    equal_moves_in_search,
    gap,
    gap_terms,
    has_gap_cost,
    lag_cost,
    matched_pair,
    moves,
    row,
    terms,
    weighting,
)
from .scalar import ENDLESS, Cells, cells_of
from .simd import (
    REGISTER,
    REGISTERS,
    copy,
    entering,
    fill,
    last,
    makers,
    maximum,
    minimum,
    number_at,
    shifted,
    shifted_lanes,
    store,
    store_codes,
    unlikely,
    where,
)

STRIP = REGISTERS * REGISTER
SHIFT = REGISTERS.bit_length() - 1  # a shift, because numba's division includes checks
ROWS = np.arange(float(STRIP)).reshape(REGISTER, REGISTERS).T.ravel()  # the row in each lane

load, splat, load_striped = makers(STRIP, fused=False)


@step
def lane_of(row):
    """Return the lane of a row of a strip."""
    return (row & (REGISTERS - 1)) * REGISTER + (row >> SHIFT)


@step
def place_of(i):
    """Return the position of query point i in arrays that are in the order of the lanes."""
    row = i & (STRIP - 1)
    return i - row + lane_of(row)


@inner
def stripe_query(p, x, w, points, rows, costs):
    """Fill `rows` and `costs` with the recurrence's numbers and costs of the query points, in the order of the lanes.

    The last point is repeated to the end of the last strip. Without weights (None) all weights are 1.
    """
    for i in range(rows.shape[2]):
        s, at = minimum(i, x.shape[1] - 1), place_of(i)
        for r in range(3):
            costs[r, at] = points[r, s]
        for k in range(x.shape[0]):
            x_before, weight, before = x[k, s - 1] if s > 0 else 0.0, 1.0, 1.0 if s > 0 else 0.0
            if w is not None:
                weight, before = w[k, s], w[k, s - 1] if s > 0 else 0.0
            rows[k, 0, at], rows[k, 1, at], rows[k, 2, at], rows[k, 3, at] = row(p, x[k, s], x_before, weight, before)


@step
def index_of(j, size):
    """Return the index of series point j in the array of interleaved parts, each of `size` numbers.

    A few indices before the first point and after the last one are valid, too, and hold zeros.
    """
    return (j & (REGISTERS - 1)) * size + size - REGISTER - 2 - (j >> SHIFT)


def _room_for_points(channels, count):
    """Return a buffer for `count` points of a series, as interleaved parts; a tuple if there is one channel."""
    length = (((count + STRIP) >> SHIFT) + REGISTER + 3) * REGISTERS
    return (np.zeros(length),) if channels == 1 else np.zeros((channels, length))


def room_for(channels, count):
    """Return buffers for `count` points of a series and for their gap costs, as interleaved parts."""
    values = _room_for_points(channels, count)
    return values, np.zeros(len(values[0]))


@inner
def deal(p, y, first, count, yr, gap_costs):
    """Fill the buffers of a series with `count` points from `first` on, zeros outside it, and with their gap costs."""
    size = len(yr[0]) >> SHIFT
    for k in range(len(yr)):
        for j in range(count):
            yr[k][index_of(j, size)] = y[k, first + j] if 0 <= first + j < y.shape[1] else 0.0
    fill_gap_costs(p, count, size, yr, gap_costs)


def _fill_gap_costs(p, count, size, yr, gap_costs):
    for j in range(count):
        total = 0.0
        for k in range(len(yr)):
            total += gap_terms(p, yr[k][index_of(j, size)], yr[k][index_of(j - 1, size)])
        gap_costs[index_of(j, size)] = gap(p, total, 1.0)


def _no_gap_costs(p, count, size, yr, gap_costs):
    pass


fill_gap_costs = by_fact("has_gap_cost", {True: _fill_gap_costs, False: _no_gap_costs})


def _functions_of_rows(load, splat, load_points):
    """Return `row_at`, `terms_at` and `gap_cost_at` for the vectors that these three functions create."""

    @step
    def row_at(r, weighted, i):
        """Return the recurrence's four numbers of the query points from i on."""
        return load(r[0], i), load(r[1], i), splat(1.0) if weighted is None else load(r[2], i), load(r[3], i)

    @step
    def terms_at(p, row, rows, weighted, yr, i, at, before):
        """Return the terms of the query points from i on, summed over the channels; `row` is that of channel 0.

        The series points are loaded from the index `at`, the preceding points from `before`.
        """
        a, b, c = terms(p, row, load_points(yr[0], at), load_points(yr[0], before))
        for k in range(1, len(yr)):
            y, y_before = load_points(yr[k], at), load_points(yr[k], before)
            a, b, c = add_terms(p, (a, b, c), row_at(rows[k], weighted, i), y, y_before)
        return a, b, c

    @step
    def gap_cost_at(p, gap_costs, at):
        """Return the gap costs of the series points at an index."""
        return load_points(gap_costs, at) if has_gap_cost(p) else splat(0.0)

    return row_at, terms_at, gap_cost_at


row_at, terms_at, gap_cost_at = _functions_of_rows(load, splat, load_striped)


@step
def indices_at(t, size):
    """Return the indices of the series points of each register at step t, and of the point before the last one."""
    return index_of(t, size), index_of(t - 1, size), index_of(t - 2, size), index_of(t - 3, size), index_of(t - 4, size)


@step
def leave(edge, at, lane, old):
    """Store the cost of a strip's last row in edge[at]; the row need not be in the last lane."""
    if unlikely(lane != STRIP - 1):
        room = edge.shape[0] - STRIP
        store(edge, room, old)
        store(edge, at, number_at(edge, room + lane))
    else:
        store(edge, at, last(old))


# ----------------------------------------------------------------------------------------- one register after the other
load_register, splat_register, _ = makers(REGISTER, fused=False)
row_of_register, terms_of_register, gap_cost_of_register = _functions_of_rows(
    load_register, splat_register, load_register
)


@step
def of_register(r, weighted, points, i):
    """Return the recurrence's numbers and the point costs of one register of query points from i on."""
    costs = load_register(points[0], i), load_register(points[1], i), load_register(points[2], i)
    return row_of_register(r, weighted, i), costs


@step
def load_strip(values, i):
    """Return the four registers of a strip whose values start at i."""
    first, second = load_register(values, i), load_register(values, i + REGISTER)
    return first, second, load_register(values, i + 2 * REGISTER), load_register(values, i + 3 * REGISTER)


@step
def store_strip(values, i, registers):
    """Store the four registers of a strip in `values`, from i on."""
    store(values, i, registers[0])
    store(values, i + REGISTER, registers[1])
    store(values, i + 2 * REGISTER, registers[2])
    store(values, i + 3 * REGISTER, registers[3])


@step
def leave_last(edge, at, lane, registers):
    """Store the cost of a strip's last row, given the four registers of the strip; see `leave`."""
    if unlikely(lane != STRIP - 1):
        room = edge.shape[0] - STRIP
        store_strip(edge, room, registers)
        store(edge, at, number_at(edge, room + lane))
    else:
        store(edge, at, last(registers[3]))


INF = np.inf
# Most numbers of the edges that are kept for a path; beyond, only some of the edges are kept.
KEPT = 2**23
NO_EDGES = np.empty((0, 0))
NO_BAND = np.empty(0, np.int64)
EVERY_CELL = Cells(NO_BAND, NO_BAND, ENDLESS, ENDLESS)


@step
def best_move(p, diag, up, left, d, u, v):
    """Return a cell's cost, whether the query's move beats the diagonal one, and whether the series' one beats both."""
    best, other, third = diag, up, left
    if not equal_moves(p):
        best, other, third = accumulate(p, diag, d), accumulate(p, up, u), accumulate(p, left, v)
    by_query = other < best
    best = minimum(other, best)
    by_series = third < best
    best = minimum(third, best)
    return accumulate(p, best, d) if equal_moves(p) else best, by_query, by_series


@inner
def _strip(p, rows, weighted, points, yr, gap_costs, band, side, i, begin, end, edge, bottom, codes):
    """Accumulate the costs of the rows from i on over the steps [begin, end); `codes`, unless None, records the moves.

    `band` is (whether it excludes any of these cells, first column of each row, end of the columns of each row).

    Each row takes two costs from the row above, for the diagonal and the query's move. Where all moves cost the same,
    it takes only the smaller one (`over`), which is computed before it is shifted to the next row.
    """
    rows_at, size, lane, behind = load(ROWS, 0), len(yr[0]) >> SHIFT, lane_of(bottom), STRIP - 1 - bottom
    here = load(points[0], i), load(points[1], i), load(points[2], i)
    boundary, row = load(side, i), row_at(rows[0], weighted, i)
    shut = INF if i == 0 and closed_boundary(p) else -INF  # above the first row only the diagonal move is possible
    old = where(begin == 0, boundary, splat(INF))
    at_corner = edge[begin + STRIP - 2]
    banded, first, final = band
    over, diag = old, shifted(old, at_corner)
    at = indices_at(begin, size)
    for t in range(begin, end):
        at_edge = number_at(edge, t + STRIP - 1)
        a, b, c = terms_at(p, row, rows, weighted, yr, i, at[:REGISTERS], at[1:])
        lag = abs((i - t) + 2.0 * rows_at)
        d, u, v = moves(p, here, lag_cost(p, lag, lag), a, b, c, gap_cost_at(p, gap_costs, at[:REGISTERS]))
        if codes is None and equal_moves(p):  # rounding keeps the order of sums, so the result is identical
            best = accumulate(p, minimum(old, shifted(over, minimum(at_corner, maximum(at_edge, shut)))), d)
        else:
            up = shifted(old, maximum(at_edge, shut))
            if codes is None:
                best = minimum(minimum(accumulate(p, diag, d), accumulate(p, up, u)), accumulate(p, old, v))
            else:
                best, by_query, by_series = best_move(p, diag, up, old, d, u, v)
                store_codes(codes, (t - begin) * STRIP, by_query, by_series)
            diag = entering(up, at_edge)
        if banded:  # a constant of the strip, but checked at run time: a second compiled version would not pay off
            column = t - rows_at
            best = where((column >= load(first, i)) & (column < load(final, i)), best, INF)
        if not closed_boundary(p):
            best = where(t - rows_at >= 0.0, best, boundary)
        over, old, at_corner = minimum(old, best), best, at_edge
        at = index_of(t + 1, size), at[0], at[1], at[2], at[3]
        leave(edge, t + behind, lane, old)


@inner
def _begin(p, x, w, points, y, cells, start, edge, lanes, yr, gaps):
    """Fill the buffers of two whole series: query, point costs, boundary, band, edge, series and gap costs."""
    m, n, (lo, hi, side_end, top_end) = x.shape[1], y.shape[1], cells
    costs, band = lanes[x.shape[0]], lanes[x.shape[0] + 1]
    stripe_query(p, x, w, points, lanes, costs)
    deal(p, y, 0, n, yr, gaps)
    fill(edge, 0, edge.shape[0], INF)
    fill(edge, STRIP - 2, STRIP - 1 + start, 0.0)
    side = top = 0.0
    for i in range(lanes.shape[2]):
        s, at = minimum(i, m - 1), place_of(i)
        side += points[0, s]
        costs[3, at] = INF if closed_boundary(p) or i + 1 >= side_end else side
        band[0, at] = float(lo[s]) if lo.shape[0] > 0 else 0.0
        band[1, at] = float(hi[s]) if lo.shape[0] > 0 else float(n)
    if not closed_boundary(p):
        for j in range(minimum(top_end - 1, n)):
            top += gaps[index_of(j, len(yr[0]) >> SHIFT)] if has_gap_cost(p) else 0.0
            edge[STRIP - 1 + j] = top


@inner
def _pass(p, weighted, lanes, yr, gaps, m, n, i, edge, codes):
    """Compute one strip within its band, from the `edge` above it to that below; return its first step."""
    costs, band = lanes[len(yr)], lanes[len(yr) + 1]
    lo, hi = band[0], band[1]
    height = minimum(STRIP, m - i)
    bottom = i + lane_of(height - 1)
    begin, below, beyond = np.int64(lo[i]), np.int64(lo[bottom]), np.int64(hi[bottom])
    cells = below > 0 or np.int64(hi[i]) < n, lo, hi
    end = minimum(beyond, n) + height - 1
    _strip(p, lanes, weighted, costs, yr, gaps, cells, costs[3], i, begin, end, edge, height - 1, codes)
    # Outside of the band the edge still holds the costs of earlier strips.
    fill(edge, STRIP - 1 + beyond, edge.shape[0], INF)
    if below > 0:
        fill(edge, 0, STRIP - 1 + below, INF)
    return begin


@inner
def _least_end(edge, n, free):
    """Return the lowest cost of a path that ends at one of the last `free` + 1 series points."""
    best = INF
    for j in range(n - 1 - free, n):
        best = minimum(edge[STRIP - 1 + j], best)
    return best


@kernel
def _at_once(p, x, w, points, y, cells, start, free, room, lanes, yr):
    """Return the cost of the best path of two whole series that are small enough for one piece.

    The caller allocates the buffers, because creating arrays would take a sixth of the compilation time. Edge and gap
    costs share one buffer, because each array argument costs as much time as some hundred cells.
    """
    m, n = x.shape[1], y.shape[1]
    # Rows that have not reached the first point read gap costs as well, and add them to infinite costs.
    edge, gaps = room[: n + 3 * STRIP], room[n + 3 * STRIP :]
    _begin(p, x, w, points, y, cells, start, edge, lanes, yr, gaps)
    for i in range(0, m, STRIP):
        _pass(p, weighting(p, w), lanes, yr, gaps, m, n, i, edge, None)
    return _least_end(edge, n, free)


@kernel
def _go_on(p, x, w, points, y, cells, start, free, begin, end, edge, lanes, yr, gaps, kept, apart):
    """Compute strips [begin, end) of two whole series; return the cost of the best path once all are done.

    Every `apart`-th edge between two strips is stored in `kept`; with 0 none is.
    """
    m, n = x.shape[1], y.shape[1]
    if begin == 0:
        _begin(p, x, w, points, y, cells, start, edge, lanes, yr, gaps)
    for s in range(begin, end):
        if apart > 0 and s % apart == 0:
            copy(edge, 0, edge.shape[0], kept[s // apart], 0)
        _pass(p, weighting(p, w), lanes, yr, gaps, m, n, s * STRIP, edge, None)
    return _least_end(edge, n, free) if end * STRIP >= m else INF


@kernel
def _follow(
    p, x, w, points, y, cells, start, begin, end, edge, lanes, yr, gaps, kept, apart, between, codes, path, steps, at
):
    """Trace the path back from query point at[0] and series point at[1] through the groups [begin, end) of strips.

    Every `apart`-th edge is in `kept`; the others are computed again for the groups that the path passes. A single
    group is computed here from its start. The path is written backward from position at[2].
    """
    if kept.shape[0] == 1:
        _begin(p, x, w, points, y, cells, start, edge, lanes, yr, gaps)
        copy(edge, 0, edge.shape[0], kept[0], 0)
    i, j, k, m = at[0], at[1], at[2], x.shape[1]
    strips = -(-m // STRIP)
    for group in range(kept.shape[0] - 1 - begin, kept.shape[0] - 1 - end, -1):
        first, until = group * apart, minimum(strips, (group + 1) * apart)
        copy(kept[group], 0, edge.shape[0], between[0], 0)
        # Down to the group's last strip while edges are stored, then up along the path.
        for turn in range(2 * (until - first) - 1):
            down = turn < until - first - 1
            s = turn if down else 2 * (until - first - 1) - turn
            if j < 0:
                break
            above = (first + s) * STRIP
            copy(between[s], 0, edge.shape[0], edge, 0)
            if down:
                _pass(p, weighting(p, w), lanes, yr, gaps, m, j + 1, above, edge, None)
                copy(edge, 0, edge.shape[0], between[s + 1], 0)
                continue
            last = _pass(p, weighting(p, w), lanes, yr, gaps, m, j + 1, above, edge, codes)
            while i >= above and j >= 0:
                k -= 1
                path[0, k], path[1, k] = i, j
                move = codes[(i - above + j - last) * STRIP + lane_of(i - above)]
                steps[k] = move
                if move != 2:
                    i -= 1
                if move != 1:
                    j -= 1
    at[0], at[1], at[2] = i, j, k


def cost(p, x, w, points, y, lo, hi, start, free):
    """Return the cost of the best path of two whole series; without weights (None) they are all 1.

    Query point i may be paired with the series points lo[i] <= j < hi[i], or with all of them if `lo` and `hi` are
    empty. The path starts at one of the first `start` + 1 series points and ends at one of the last `free` + 1.
    """
    (channels, m), n = x.shape, y.shape[1]
    pair = p, x, w, points, y, cells_of(p, lo, hi) if len(lo) else EVERY_CELL, start, free
    parts = pieces(-(-m // STRIP), STRIP * n)
    if isinstance(parts, tuple):  # a single piece
        yr = _room_for_points(channels, n)
        return _at_once(*pair, np.zeros(n + 3 * STRIP + len(yr[0])), np.empty((channels + 2, 4, m + -m % STRIP)), yr)
    room = np.empty(n + 3 * STRIP), np.empty((channels + 2, 4, m + -m % STRIP)), *room_for(channels, n)
    for begin, end in parts:
        best = _go_on(*pair, begin, end, *room, NO_EDGES, 0)
    return best


def path(p, x, w, points, y, lo, hi, start, free):
    """Return the best path (2, K) and its moves (K,), as `scalar.backtrack` returns them.

    Memory: the edges between strips, or some of them, never the cost matrix.
    """
    (channels, m), n = x.shape, y.shape[1]
    strips = -(-m // STRIP)
    parts = pieces(strips, STRIP * n)
    at_once = isinstance(parts, tuple) and not free  # one group of strips, which end in the corner
    apart = strips if at_once else 1 if strips * n <= KEPT else math.ceil(math.sqrt(strips))
    pair, edge = (p, x, w, points, y, cells_of(p, lo, hi), start), np.empty(n + 3 * STRIP)
    room = edge, np.empty((channels + 2, 4, m + -m % STRIP)), *room_for(channels, n)
    kept, j = np.empty((-(-strips // apart), edge.shape[0])), n - 1
    if not at_once:
        for begin, end in parts:
            _go_on(*pair, free, begin, end, *room, kept, apart)
        j = n - 1 - free + int(np.argmin(edge[STRIP - 1 + n - 1 - free : STRIP - 1 + n]))
    at, found = np.array([m - 1, j, m + j]), (np.empty((2, m + j), np.intp), np.empty(m + j, np.uint8))
    between, codes = np.empty((apart, edge.shape[0])), np.empty((j + 1 + STRIP) * STRIP, np.uint8)
    for begin, end in pieces(len(kept), 4 * apart * STRIP * n):
        _follow(*pair, begin, end, *room, kept, apart, between, codes, *found, at)
    path, steps = found
    return path[:, at[2] :].copy(), steps[at[2] :]


# ----------------------------------------------------------------------------------------------------------- searches
# Searches process the series in blocks of points, so that the edges between strips stay in the cache.
BLOCK = block_size(4096, 8)


@inner
def _meet(edges, count, shut, met):
    """Fill `met` with the smaller of the costs above and diagonal to the first row, and its start, for each step."""
    (edge, origin), (over, s_over) = edges, met
    for t in range(0, count, STRIP):
        corner, above = load(edge, t + STRIP - 2), maximum(load(edge, t + STRIP - 1), shut)
        store(over, t, minimum(above, corner))
        store(s_over, t, where(above < corner, load(origin, t + STRIP - 1), load(origin, t + STRIP - 2)))


@step
def _active(t, count, i):
    """Return a mask of the rows in the register from i on that are within the block of `count` points at step t."""
    at = t - load_register(ROWS, i & (STRIP - 1))
    return (at >= 0.0) & (at < float(count))


@step
def _even_cells(p, rows, weighted, yr, gap_costs, count, here, i, y_at, before, t, waiting, cost, start, met, s_met):
    """Return costs and starts of the rows in the register from i on at step t, then those of the better predecessor.

    The latter are for the next row: the smaller of the new cost and the previous one, and its start.
    """
    row, point_costs = here
    a, b, c = terms_of_register(p, row, rows, weighted, yr, i, y_at, before)
    gap_cost = gap_cost_of_register(p, gap_costs, y_at)
    d = moves(p, point_costs, lag_cost(p, 0.0, 0.0), a, b, c, gap_cost)[0]
    best, s_best = accumulate(p, minimum(cost, met), d), where(cost < met, start, s_met)
    if waiting:
        active = _active(t, count, i)
        best, s_best = where(active, best, cost), where(active, s_best, start)
    # Costs never fall along a path: a cell that costs less than the previous one has its start from `met`.
    return best, s_best, minimum(best, cost), where(best < cost, s_met, start)


@step
def _even_step(p, rows, weighted, series, here, strip, t, waiting, edges, carried):
    """Compute step t of `_search_evenly`; return the state for the next step.

    `waiting` says that rows may be outside the block. The registers are computed one after another, so that few values
    are needed at once.
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
    # Two calls: a branch that writes to two arrays would keep their reference counting in the loop, and a search of
    # 11 ms would take 33 to 60.
    leave_last(edge, t + behind, lane, cost)
    leave_last(origin, t + behind, lane, start)
    at = index_of(t + 1 + STRIP, len(yr[0]) >> SHIFT), j0, j1, j2, j3
    return cost, start, (v0, v1, v2, v3), (u0, u1, u2, u3), at


def _search_evenly(p, query, series, radius, at, strip, edges, state):
    """Search a block of the series with one strip, where all moves cost the same whatever the start of the path.

    The strip has the rows i to i + `bottom`. `series` holds the points of the block, the first of which is sample `at`,
    and STRIP points before it. `state` holds costs and starts of the column before the block, and then its last column.
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
        while t >= STRIP and t + 1 < count:  # two at a time, because then fewer values move between registers
            carried = _even_step(p, rows, weighted, series, here, lanes, t, False, edges, carried)
            carried = _even_step(p, rows, weighted, series, here, lanes, t + 1, False, edges, carried)
            t += 2
    store_strip(costs, i, carried[0])
    store_strip(starts, i, carried[1])


def _search_strip(p, query, series, radius, at, strip, edges, state):
    """Search a block of the series with one strip, for every recurrence and band.

    The arguments are those of `_search_evenly`. Lags count from the start of the path of each cell. A start of
    -1 - sample means that the path has no matched pair yet.
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
        a, b, c = terms_at(p, row, rows, weighted, yr, i, indices[:REGISTERS], indices[1:])
        gap_cost, by_edge = gap_cost_at(p, gap_costs, indices[:REGISTERS]), maximum(at_edge, shut)
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
search_in_band = inner(_search_strip)  # a band depends on lags, so `_search_evenly` does not apply


@inner
def search(p, query, series, radius, at, strip, edges, state):
    """Search a block of the series with one strip; `radius` is that of a band, or None. See `_search_evenly`."""
    if radius is None:  # the compiler knows the type of an argument, and drops the other branch
        search_without_band(p, query, series, radius, at, strip, edges, state)
    else:
        search_in_band(p, query, series, radius, at, strip, edges, state)


@inner
def _list(ends, shortest, longest, edge, origin, distance, begin):
    """Fill in distances and starts of the candidates whose length is within the limits; others get inf and -1."""
    low, high = float(shortest), float(longest)
    for j in range(distance.shape[0]):  # vectorized: floats, no branches, no index that may be negative
        length = float(ends + j) - origin[j]
        found = (origin[j] >= 0.0) & (length >= low) & (length <= high)
        distance[j] = edge[j] if found else INF
    for j in range(distance.shape[0]):
        begin[j] = np.int64(origin[j]) if distance[j] < INF else -1


@kernel
def _search_on(query, y, first, offset, limits, work, state, distance, begin):
    """Search a series block by block with all strips of the query; see `subsequence_profile`."""
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
        for j in range(-1, count + STRIP):  # also after the block, where rows that are done still read it
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
    """Compute the subsequence profile of a `query` (p, x, w, points) in a series `y` along anti-diagonals.

    Results, parameters and the first two parts of the `state` are those of `scalar.subsequence_profile`.
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
        _search_on(query, y, first + a, offset + a, limits, work, state, distance[a:b], begin[a:b])

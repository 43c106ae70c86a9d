"""Many series at once: LANES series side by side in vectors, four query points per sweep held in registers.

The recurrences are those of `recurrence`.

Layout: a block of series is ``(channels, (length + 1) * LANES)``, its first LANES numbers the pad before the first
point, as `channels_of` gives it; a query is ``(channels, 4, m)``, padded to whole sweeps.

What the points of one series meet in others along the best paths: how many points each, and the sum of them.

Averages along paths need no path but these sums. Of each cell the moves into it are kept, a bit a lane; then
each lane is followed back from its last pair on. It is the path that `strips.path` gives: vectors that round as plain
floats do, and the same choice among equal costs.

Where a center moves little, the cost of each series is nearly known. Of each query point only the cells between the
first and the last one at or below such a limit in some lane matter to the next, where costs never fall along a path.
Others then hold any number above their lane's limit, so that no path at or below it comes from there: what is found at
or below the limit is the same to the bit, and what is found above it is computed again without one. So a limit may be
a guess.
"""

import numpy as np

from .compile import block_size, budgets, inner, kernel, pieces, step
from .dispatch import (
    accumulate,
    add_terms,
    by_fact,
    closed_boundary,
    equal_moves,
    equal_stretches,
    gap,
    gap_terms,
    lag_cost,
    moves,
    rows_of,
    terms,
    weighting,
)
from .scalar import ENDLESS, Cells, cells_of
from .simd import BATCH, aligned, aligned_zeros, bits, channels_of, copy, fill, makers, maximum, minimum, some, store
from .strips import best_move

ROWS = 4
BIG = np.inf  # a cost that no path has
ABOVE, DONE, UNFINISHED = 0, 1, 2
AHEAD = block_size(8, 2)  # points computed at a time where it is not known how many will be needed

load, splat, _ = makers(BATCH, fused=False)


@step
def _meet(p, diag, left):
    """Return the cheaper of these predecessors of a cell where all moves cost the same; else the diagonal one."""
    return minimum(diag, left) if equal_moves(p) else diag


@step
def _cell(p, here, by_lag, met, up, left, a, b, c, gap_cost):
    """Return the accumulated cost of a query point with a point of the series."""
    d, u, v = moves(p, here, by_lag, a, b, c, gap_cost)
    if equal_moves(p):
        return accumulate(p, minimum(met, up), d)
    if equal_stretches(p):
        return minimum(accumulate(p, met, d), accumulate(p, minimum(up, left), u))
    return minimum(accumulate(p, up, u), minimum(accumulate(p, met, d), accumulate(p, left, v)))


@step
def _late(p, i, j):
    """Return the lag cost of query point i and point j of the series for the moves, in all lanes."""
    lag = float(np.int32(abs(i - j)))  # the compiler sees through that and back, but not with 64 bits
    return splat(lag_cost(p, lag, lag))


@step
def _row(rows, weighted, k, i):
    return rows[k, 0, i], rows[k, 1, i], 1.0 if weighted is None else rows[k, 2, i], rows[k, 3, i]


@step
def _first(lo, i):
    """Return the first point that query point i may meet; without a band `lo` is None, and `hi` one number for all."""
    return 0 if lo is None else lo[i]


@step
def _last(lo, hi, i):
    return hi[0] if lo is None else hi[i]


@step
def _limit(lo, hi, i, j):
    return -BIG if _first(lo, i) <= j < _last(lo, hi, i) else BIG


@step
def _in_band(v, limit, inside):
    return v if inside else maximum(v, limit)


@step  # with a constant `inside` no cell asks
def _sweep(p, i, m, rows, weighted, points, Y, gap_costs, lo, hi, begin, end, inside, row, registers):
    """Compute four query points from i on over the series' points [begin, end); rows after point m - 1 do not matter.

    `inside`: whether the band holds all of these points for each of the query points.
    """
    i0, i1, i2, i3 = i, minimum(i + 1, m - 1), minimum(i + 2, m - 1), minimum(i + 3, m - 1)
    h0, h1 = (points[0, i0], points[1, i0], points[2, i0]), (points[0, i1], points[1, i1], points[2, i1])
    h2, h3 = (points[0, i2], points[1, i2], points[2, i2]), (points[0, i3], points[1, i3], points[2, i3])
    r0, r1, r2 = load(registers[0], 0), load(registers[1], 0), load(registers[2], 0)
    r3, corner = load(registers[3], 0), load(registers[4], 0)
    q0, q1 = _row(rows, weighted, 0, i), _row(rows, weighted, 0, i + 1)
    q2, q3 = _row(rows, weighted, 0, i + 2), _row(rows, weighted, 0, i + 3)
    l1, l2, l3 = _late(p, i1, begin), _late(p, i2, begin), _late(p, i3, begin)
    for j in range(begin, end):
        at = (j + 1) * BATCH
        limit0, limit1 = _limit(lo, hi, i0, j), _limit(lo, hi, i1, j)
        limit2, limit3 = _limit(lo, hi, i2, j), _limit(lo, hi, i3, j)
        above, gap_cost, l0 = load(row, at), load(gap_costs, at), _late(p, i0, j)
        y, yb = load(Y[0], at), load(Y[0], at - BATCH)
        a0, b0, c0 = terms(p, q0, y, yb)
        a1, b1, c1 = terms(p, q1, y, yb)
        a2, b2, c2 = terms(p, q2, y, yb)
        a3, b3, c3 = terms(p, q3, y, yb)
        for k in range(1, len(Y)):
            y, yb = load(Y[k], at), load(Y[k], at - BATCH)
            a0, b0, c0 = add_terms(p, (a0, b0, c0), _row(rows, weighted, k, i), y, yb)
            a1, b1, c1 = add_terms(p, (a1, b1, c1), _row(rows, weighted, k, i + 1), y, yb)
            a2, b2, c2 = add_terms(p, (a2, b2, c2), _row(rows, weighted, k, i + 2), y, yb)
            a3, b3, c3 = add_terms(p, (a3, b3, c3), _row(rows, weighted, k, i + 3), y, yb)
        # All that needs the costs of the column before comes first, so that new ones can take their registers.
        m0, m1, m2, m3 = _meet(p, corner, r0), _meet(p, r0, r1), _meet(p, r1, r2), _meet(p, r2, r3)
        v0 = _in_band(_cell(p, h0, l0, m0, above, r0, a0, b0, c0, gap_cost), limit0, inside)
        v1 = _in_band(_cell(p, h1, l1, m1, v0, r1, a1, b1, c1, gap_cost), limit1, inside)
        v2 = _in_band(_cell(p, h2, l2, m2, v1, r2, a2, b2, c2, gap_cost), limit2, inside)
        v3 = _in_band(_cell(p, h3, l3, m3, v2, r3, a3, b3, c3, gap_cost), limit3, inside)
        corner, r0, r1, r2, r3 = above, v0, v1, v2, v3
        l1, l2, l3 = l0, l1, l2  # a query point later and a series point later the lag is the same
        if i + 3 < m:
            store(row, at, v3)
        else:
            store(row, at, v0 if i + 1 == m else (v1 if i + 2 == m else v2))
    store(registers[0], 0, r0)
    store(registers[1], 0, r1)
    store(registers[2], 0, r2)
    store(registers[3], 0, r3)
    store(registers[4], 0, corner)


@inner
def _sweep_cut(p, i, m, rows, weighted, points, Y, gap_costs, lo, hi, begin, end, row, registers):
    _sweep(p, i, m, rows, weighted, points, Y, gap_costs, lo, hi, begin, end, False, row, registers)


@inner
def _span(p, i, m, rows, weighted, points, Y, gap_costs, lo, hi, begin, end, row, registers):
    """Compute four query points over the series points [begin, end), some of which may be outside their bands."""
    a, b = begin, end
    if lo is not None:  # else half of the code need not be compiled
        a = maximum(begin, minimum(lo[minimum(i + ROWS, m) - 1], end))
        b = maximum(a, minimum(hi[i], end))
        if begin < a:
            _sweep_cut(p, i, m, rows, weighted, points, Y, gap_costs, lo, hi, begin, a, row, registers)
    _sweep(p, i, m, rows, weighted, points, Y, gap_costs, lo, hi, a, b, True, row, registers)
    if lo is not None:
        if b < end:
            _sweep_cut(p, i, m, rows, weighted, points, Y, gap_costs, lo, hi, b, end, row, registers)


@inner
def _within(row, j, limit):
    """Return whether the cost in column j is at or below a limit, or that of its lane, in some lane."""
    return some(load(row, j * BATCH) <= limit)


@inner
def _fill_top(p, end, top_end, gap_costs, row):
    """Fill in the boundary before the first query point, up to column `end`."""
    fill(row, 0, BATCH, 0.0)
    for at in range(BATCH, (end + 1) * BATCH):
        row[at] = BIG if closed_boundary(p) or at >= top_end * BATCH else row[at - BATCH] + gap_costs[at]


@inner
def _accumulate(p, m, rows, weighted, points, Y, gap_costs, cells, cutoff, room):
    """Compute the costs of query point m - 1 with each point of each series, in `row`; return DONE at the end.

    ABOVE if all exceed the cutoff before that. UNFINISHED if it takes more cells than are left: called with the same
    room it resumes. See `room_for`.

    Cells above the cutoff in all lanes are skipped where no cell at or below it leads to them: of the row before,
    whose boundary is its column 0, those outside start_column to end_column are above it, and hold any such number.
    `weighted` is None where all weights are 1, and nothing is multiplied by them.
    """
    row, registers, state, left = room
    lo, hi, side_end, top_end = cells
    begun, start_column, end_column, side = state[0], state[1], state[2], left[1]
    if begun == 0:
        start_column, end_column, side = 0, _last(lo, hi, minimum(ROWS, m) - 1), 0.0
        _fill_top(p, end_column, top_end, gap_costs, row)
    for i in range(begun, m, ROWS):
        if i > begun and left[0] <= 0.0:
            state[0], state[1], state[2], left[1] = i, start_column, end_column, side
            return UNFINISHED
        state[0] = 0
        height = minimum(ROWS, m - i)
        if i > 0:  # points that enter the band still hold the boundary
            fill(row, (_last(lo, hi, i - 1) + 1) * BATCH, (_last(lo, hi, i + height - 1) + 1) * BATCH, BIG)
        if cutoff < BIG:
            while end_column > start_column and not _within(row, end_column, cutoff):
                end_column -= 1
            while start_column < end_column and not _within(row, start_column, cutoff):
                start_column += 1
            if end_column < _first(lo, i) or not _within(row, start_column, cutoff):
                return ABOVE
        first, last = maximum(_first(lo, i), start_column - 1), _last(lo, hi, i + height - 1)
        # The column before the first point: the boundary before point 0, else nothing.
        copy(row, first * BATCH, (first + 1) * BATCH, registers[4], 0)
        for r in range(height):
            side = BIG if closed_boundary(p) or i + r + 1 >= side_end else side + points[0, i + r]
            fill(registers[r], 0, BATCH, side if first == 0 else BIG)
        copy(registers[height - 1], 0, BATCH, row, first * BATCH)
        begin, end = first, (end_column + 1 if cutoff < BIG else last)
        while begin < last:
            end = last if end + AHEAD >= last else end  # a few points more cost less than asking
            _span(p, i, m, rows, weighted, points, Y, gap_costs, lo, hi, begin, end, row, registers)
            begin, end = end, end + AHEAD
            done = True
            for r in range(ROWS):
                done = done and not _within(registers[r], 0, cutoff)
            if done:
                break
        left[0] -= (begin - first) * ROWS * BATCH
        start_column, end_column = first, begin
    return DONE


def _fill_gap_costs(p, Y, gap_costs):
    for j in range(BATCH, gap_costs.shape[0]):
        total = 0.0
        for k in range(len(Y)):
            total += gap_terms(p, Y[k][j], Y[k][j - BATCH])
        gap_costs[j] = gap(p, total, 1.0)


def _no_gap_costs(p, Y, gap_costs):
    pass


fill_gap_costs = by_fact("has_gap_cost", {False: _no_gap_costs, True: _fill_gap_costs})


def room_for(n):
    """Return the memory of `_accumulate`: a row of costs, registers, its state; the cells left and a cost."""
    return aligned((n + 1) * BATCH), aligned(5, BATCH), aligned_zeros(3, dtype=np.int64), aligned(2)


@inner
def _beside(values, begins, lengths, block, size, lanes):
    """Put the first `size` series of the block side by side, each after a pad; the last one fills the other lanes.

    `block` holds their positions, and room for as many numbers.
    """
    shortest = lanes[0].shape[0]
    for k in range(len(lanes)):
        side_by_side = lanes[k]
        for s in range(BATCH):
            b = block[minimum(s, size - 1)]
            block[BATCH + s], shortest = begins[b] + k * lengths[b], minimum(shortest, lengths[b])
        for j in range(shortest):
            for s in range(BATCH):
                side_by_side[(j + 1) * BATCH + s] = values[block[BATCH + s] + j]
        for s in range(BATCH):
            b = block[minimum(s, size - 1)]
            for j in range(shortest, lengths[b]):
                side_by_side[(j + 1) * BATCH + s] = values[block[BATCH + s] + j]
            for to in range((lengths[b] + 1) * BATCH + s, side_by_side.shape[0], BATCH):
                side_by_side[to] = 0.0


@kernel
def _accumulate_table(queries, collection, borders, until, cells, place, work, out):
    """Compute blocks of series and their queries from `place` on; return whether all are done. See `table_of_costs`."""
    p, sizes, rows, weighted, points = queries
    values, begins, lengths = collection
    Y, gap_costs, block, room = work
    row = room[0]
    for b in range(place[0], until.shape[0]):
        begin, size = borders[b], borders[b + 1] - borders[b]
        n = lengths[begin + size - 1]
        if place[1] == 0 and room[2][0] == 0:  # else in the middle of a block
            for s in range(size):
                block[s] = begin + s
            _beside(values, begins, lengths, block, size, Y)
            fill_gap_costs(p, Y, gap_costs)
            if cells.first is None:
                cells.last[0] = n
        for q in range(place[1], until[b]):
            reached = _accumulate(p, sizes[q], rows[q], weighted, points[q], Y, gap_costs, cells, BIG, room)
            if reached == UNFINISHED:
                place[0], place[1] = b, q
                return False
            for s in range(size):
                out[q, begin + s] = row[lengths[begin + s] * BATCH + s]
        place[1] = 0
    return True


def _cells(record, lo, hi, n):
    """Return the cells of a band, or, without one (None), of all series of up to n points."""
    return Cells(None, np.array([n]), ENDLESS, ENDLESS) if lo is None else cells_of(record, lo, hi)


def table_of_costs(queries, collection, borders, until, lo, hi, out):
    """Fill in the accumulated costs of queries with whole series, some of which are left out.

    Parameters
    ----------
    queries : tuple
        Record, sizes (n_queries,), rows (n_queries, channels, 4, m) padded to whole sweeps, whether they have weights,
        and costs of their points. Only so many points of a query count as its size says.
    collection : tuple
        Values, begins and lengths of series that ascend in length, one after the other.
    borders : ndarray of shape (n_blocks + 1,)
        Where blocks of at most BATCH series begin.
    until : ndarray of shape (n_blocks,) or None
        How many of the queries are compared with each block, from the first on; None: all.
    lo, hi : ndarray of shape (m,) or None
        The points of a series lo[i] <= j < hi[i] meet query point i; None: all do, whatever its length.
    out : ndarray of shape (n_queries, n_series)
        Filled where queries and series are compared.
    """
    n, place = int(collection[2][-1]), np.zeros(2, np.int64)
    size, channels, cells = (n + 1) * BATCH, queries[2].shape[1], _cells(queries[0], lo, hi, n)
    room, until = room_for(n), np.full(len(borders) - 1, len(out)) if until is None else until
    work = channels_of(aligned_zeros(channels, size)), aligned_zeros(size), np.empty(2 * BATCH, np.int64), room
    for room[-1][0] in budgets():
        if _accumulate_table(queries, collection, borders, until, cells, place, work, out):
            return


def window_costs(p, rows, weighted, points, windows, lo, hi):
    """Return accumulated costs (k,) of a query (channels, 4, m) with whole windows (k, channels, n), band as above."""
    count, channels, n = windows.shape
    queries = p, np.array([points.shape[1]]), rows[np.newaxis], weighted, points[np.newaxis]
    collection = windows.ravel(), np.arange(count) * (channels * n), np.full(count, n)
    borders, out = np.append(np.arange(0, count, BATCH), count), np.empty((1, count))
    table_of_costs(queries, collection, borders, None, lo, hi, out)
    return out[0]


def padded(record, x, w):
    """Rows (count, channels, 4, m) of queries as the kernels take them, and whether they are weighted."""
    m = x.shape[2]
    return rows_of(record, x, w, m + -m % ROWS), weighting(record, w)


def one_after_another(series, lengths):
    """Return the series as kernels take a collection: their values, where each begins, and how long it is."""
    sizes = len(series[0]) * lengths
    return np.concatenate([y.ravel() for y in series]), np.cumsum(sizes) - sizes, lengths


# ------------------------------------------------- queries against many series, under the cutoff of the nearest ones
@inner
def _insert(best, cost):
    """Insert a cost into the smallest ones, ascending, in place of the largest."""
    k = best.shape[0] - 1
    while k > 0 and best[k - 1] > cost:
        best[k] = best[k - 1]
        k -= 1
    best[k] = cost


@kernel
def _scan(queries, collection, candidates, cells, limits, slack, work, costs):
    """Scan queries from counts[0] on; return whether all are done. See `scan`."""
    p, rows, weighted, points = queries
    (values, begins, lengths), (order, itself, bounds), (share, more) = collection, candidates, slack
    room, lanes, gap_costs, best, block, counts = work
    row, k = room[0], best.shape[0]
    goes_on = room[2][0] > 0  # in the middle of a block
    for q in range(counts[0], order.shape[0]):
        if not goes_on:
            fill(best, 0, k, BIG)
            counts[1] = 0
        while goes_on or counts[1] < order.shape[1]:
            cutoff = minimum(best[k - 1] * (1.0 + share) + more, limits[q])
            if not goes_on:
                size, at = 0, counts[1]
                while at < order.shape[1] and size < BATCH:
                    candidate = order[q, at]
                    at += 1
                    if candidate == itself[q]:
                        continue
                    if bounds[q, candidate] <= cutoff:
                        block[size] = candidate
                        size += 1
                    else:
                        counts[3] += 1
                counts[1], counts[2] = at, size
                if size == 0:
                    break
                _beside(values, begins, lengths, block, size, lanes)
                fill_gap_costs(p, lanes, gap_costs)
            m = points.shape[2]
            reached = _accumulate(p, m, rows[q], weighted, points[q], lanes, gap_costs, cells, cutoff, room)
            if reached == UNFINISHED:
                counts[0] = q
                return False
            goes_on = False
            for s in range(counts[2]):
                cost = row[lengths[block[s]] * BATCH + s]
                if reached == DONE and cost <= cutoff:
                    costs[q, block[s]] = cost
                    counts[5] += 1
                    if cost < best[k - 1]:
                        _insert(best, cost)
                else:
                    counts[4] += 1
    return True


def scan(queries, collection, candidates, n, lo, hi, k, limits, slack, costs):
    """Fill in the accumulated costs of queries with the series order[query], in that order, infinite if irrelevant.

    `queries` are (p, rows, weighted, points), the `collection` (values, begins, lengths) are series of up to n points,
    one after the other, `candidates` (order, itself, bounds) which of them are compared, which one is the query's own,
    if any, and their bounds. What matters is at most the query's limit, and at most its k-th smallest cost, with a
    `slack` (share, more) for rounding: a share of it and more. Returns how many were skipped for their bounds,
    abandoned, and computed.
    """
    p, rows, _, _ = queries
    room, size = room_for(n), (n + 1) * BATCH
    # The query, its next candidate and the size of its block; then the numbers of candidates that are returned.
    counts = np.zeros(6, np.int64)
    lanes = channels_of(aligned_zeros(rows.shape[1], size))
    work = room, lanes, aligned_zeros(size), np.empty(k), np.empty(2 * BATCH, np.int64), counts
    cells = _cells(p, lo, hi, n)
    for room[-1][0] in budgets():
        if _scan(queries, collection, candidates, cells, limits, slack, work, costs):
            return counts[3:]


# ------------------------------------------------------------------------------------- sums of partners along the paths
MOVES = block_size(2**22, 2**10)  # cells of a pair: of more they are not kept, so that memory stays small


def fits(m, n):
    """Return whether the moves of pairs of series are few enough to be kept."""
    return m * n <= MOVES


@inner
def _line(p, i, rows, weighted, points, Y, gap_costs, begin, known, end, limit, boundary, row, codes, first):
    """Accumulate costs of query point i with the points from `begin` on; their moves go to codes from `first`.

    Points up to `known` are computed, and those up to `end` as long as there are costs at or below the limit of their
    lane; the end is given back. `row` holds the costs of the query point before, from column `begin` on, the one before
    the first point; it holds those of this one behind, with `boundary` in front.
    """
    here, weights = (points[0, i], points[1, i], points[2, i]), _row(rows, weighted, 0, i)
    diag, left, most = load(row, begin * BATCH), splat(boundary), load(limit, 0)
    store(row, begin * BATCH, left)
    while True:
        for j in range(begin, known):
            at = (j + 1) * BATCH
            above, y, before = load(row, at), load(Y[0], at), load(Y[0], at - BATCH)
            a, b, c = terms(p, weights, y, before)
            for k in range(1, len(Y)):
                y, before = load(Y[k], at), load(Y[k], at - BATCH)
                a, b, c = add_terms(p, (a, b, c), _row(rows, weighted, k, i), y, before)
            lag = float(np.int32(abs(i - j)))
            d, u, v = moves(p, here, splat(lag_cost(p, lag, lag)), a, b, c, load(gap_costs, at))
            best, by_query, by_series = best_move(p, diag, above, left, d, u, v)
            codes[2 * (first + j)], codes[2 * (first + j) + 1] = bits(by_query), bits(by_series)
            store(row, at, best)
            diag, left = above, best
        if known >= end or not some(left <= most):
            return known
        begin, known = known, minimum(known + AHEAD, end)


@inner
def _follow_back(codes, n, lane, i, j, values, begin, length, count, total):
    """Add the points of one series to the sums of the query points that they meet, from the last pair back."""
    while i >= 0 and j >= 0:
        count[i] += 1.0
        for c in range(total.shape[0]):
            total[c, i] += values[begin + c * length + j]
        by_query = int(codes[2 * (i * n + j)] >> lane) & 1
        by_series = int(codes[2 * (i * n + j) + 1] >> lane) & 1
        i -= 1 - by_series
        j -= by_series | (1 - by_query)


@kernel
def _add(p, x, w, points, compared, summed, order, cells, limits, begin, end, work, cost, count, total):
    """Fill costs, counts and sums of the series in the blocks [begin, end); sums where costs are within limits."""
    m, weighted, (values, begins, lengths), (lo, hi, side_end, top_end) = x.shape[1], weighting(p, w), compared, cells
    rows, lanes, gap_costs, row, codes, limit, block = work
    for first in range(begin * BATCH, minimum(end * BATCH, order.shape[0]), BATCH):
        size = minimum(BATCH, order.shape[0] - first)
        copy(order, first, first + size, block, 0)
        n = lengths[block[size - 1]]  # the longest of them
        for s in range(BATCH):
            limit[s] = limits[block[minimum(s, size - 1)]]
        _beside(values, begins, lengths, block, size, lanes)
        fill_gap_costs(p, lanes, gap_costs)
        _fill_top(p, row.shape[0] // BATCH - 1, top_end, gap_costs, row)
        side, start_column, end_column = 0.0, 0, 0 if closed_boundary(p) else n
        for i in range(m):
            a, b = maximum(lo[i], start_column), minimum(hi[i], n)
            if i > 0:  # points that enter the band still hold the boundary
                fill(row, (minimum(hi[i - 1], n) + 1) * BATCH, (b + 1) * BATCH, BIG)
            side = BIG if closed_boundary(p) or i + 1 >= side_end else side + points[0, i]
            boundary = side if a == 0 else BIG
            known = minimum(maximum(end_column, a) + 1, b)  # the last column leads to the one behind it
            known = _line(
                p, i, rows, weighted, points, lanes, gap_costs, a, known, b, limit, boundary, row, codes, i * n
            )
            if closed_boundary(p):
                start_column, end_column, most = a, known, load(limit, 0)
                while end_column > a and not _within(row, end_column, most):
                    end_column -= 1
                while start_column < end_column and not _within(row, start_column + 1, most):
                    start_column += 1
        for s in range(size):
            k = block[s]
            cost[k] = row[lengths[k] * BATCH + s]
            if cost[k] < BIG and cost[k] <= limits[k]:
                _follow_back(
                    codes, n, s, m - 1, lengths[k] - 1, summed[0], summed[1][k], lengths[k], count[k], total[k]
                )


def partner_sums(p, x, w, points, compared, summed, lo, hi, limits):
    """Sum the points of each series of a collection that a query's points meet along its best path.

    Parameters
    ----------
    p, x, w, points : NamedTuple, ndarray (features, m), ndarray or None, ndarray (3, m)
        The query; without weights (None) they are all 1.
    compared, summed : tuple
        Features and channels of the series as `scan` takes a collection, or some of it: (values, begins, lengths) and
        (values, begins, number of channels).
    lo, hi : ndarray of shape (m,)
        Query point i may meet the points lo[i] <= j < hi[i] of the series; within a band all have one length.
    limits : ndarray of shape (k,)
        What the series may cost at most; guesses, on which no result depends. Infinite where costs may fall along
        paths.

    Returns
    -------
    cost (k,), count (k, m), total (k, channels, m)
        Accumulated costs, how many of its points each query point meets, and their sum.
    """
    (features, m), lengths = x.shape, compared[2]
    k, n, order = len(lengths), int(lengths.max()), np.argsort(lengths, kind="stable")  # so that little is padded
    size, channels, summed = (n + 1) * BATCH, summed[2], summed[:2]
    rows = rows_of(p, x[np.newaxis], None if w is None else w[np.newaxis], m)[0]
    work = rows, channels_of(aligned_zeros(features, size)), aligned_zeros(size), aligned(size)
    work = *work, np.empty(2 * m * n, np.uint16), np.empty(BATCH), np.empty(2 * BATCH, np.int64)
    found, cells = (np.empty(k), np.zeros((k, m)), np.zeros((k, channels, m))), cells_of(p, lo, hi)
    for most in (limits, np.full(k, BIG)):
        for begin, end in pieces(-(-len(order) // BATCH), m * n * BATCH):
            _add(p, x, w, points, compared, summed, order, cells, most, begin, end, work, *found)
        order = order[~(found[0][order] <= most[order])]
        if not len(order):
            break
    return found

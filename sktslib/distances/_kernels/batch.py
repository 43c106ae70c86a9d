"""Elastic distances of a query to many series: BATCH series per vector, four query points per sweep in registers.

The functions of `recurrence` give the cost of each cell. `table_of_costs` computes all costs, `scan` those of the
nearest series, and `partner_sums` the sums that averages along warping paths need.

Layout: a block of series is ``(channels, (length + 1) * BATCH)`` as `channels_of` gives it. Its first BATCH numbers are
padding before the first point. A query is ``(channels, 4, m)``, padded to whole sweeps.

An average along warping paths needs two numbers per query point: how many series points it is aligned with, and their
sum. For each cell and lane one bit per move is kept, and each lane is traced back from its last pair. The path equals
that of `strips.path`: vectors round as floats do, and ties are broken the same way.

In barycenters and k-means, the cost of each series hardly changes from one iteration to the next, so a limit for it is
known. Where costs never fall along a path, only the cells between the first and the last one at or below the limit in
some lane matter for the next query point. All others may hold any number above the limit of their lane, because no path
at or below the limit passes through them. Costs at or below the limit are exact bit for bit; series with a higher cost
are computed again without a limit. So a limit may be a guess.
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
BIG = np.inf  # higher than the cost of any path
ABOVE, DONE, UNFINISHED = 0, 1, 2
AHEAD = block_size(8, 2)  # points computed at a time when the number of points needed is unknown

load, splat, _ = makers(BATCH, fused=False)


@step
def _meet(p, diag, left):
    """Return the lower cost of the diagonal and the left predecessor if all moves cost the same, else the diagonal."""
    return minimum(diag, left) if equal_moves(p) else diag


@step
def _cell(p, here, by_lag, met, up, left, a, b, c, gap_cost):
    """Return the accumulated cost of the cell of a query point and a series point."""
    d, u, v = moves(p, here, by_lag, a, b, c, gap_cost)
    if equal_moves(p):
        return accumulate(p, minimum(met, up), d)
    if equal_stretches(p):
        return minimum(accumulate(p, met, d), accumulate(p, minimum(up, left), u))
    return minimum(accumulate(p, up, u), minimum(accumulate(p, met, d), accumulate(p, left, v)))


@step
def _late(p, i, j):
    """Return the lag cost of query point i and series point j, as a vector with one value in all lanes."""
    lag = float(np.int32(abs(i - j)))  # LLVM removes this conversion and the one back, but not those of 64 bits
    return splat(lag_cost(p, lag, lag))


@step
def _row(rows, weighted, k, i):
    return rows[k, 0, i], rows[k, 1, i], 1.0 if weighted is None else rows[k, 2, i], rows[k, 3, i]


@step
def _first(lo, i):
    """Return the first series point that query point i may be aligned with; without a band (`lo` is None) it is 0.

    Then `hi` of `_last` and `_limit` holds only the number of series points.
    """
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


@step  # `inside` is a constant, so that no cell has to check the band at run time
def _sweep(p, i, m, rows, weighted, points, Y, gap_costs, lo, hi, begin, end, inside, row, registers):
    """Compute query points i to i + 3 over the series points [begin, end); rows after query point m - 1 are ignored.

    `inside` says whether all these cells are within the band.
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
        # Everything that reads the previous column comes first, so that its registers can be reused.
        m0, m1, m2, m3 = _meet(p, corner, r0), _meet(p, r0, r1), _meet(p, r1, r2), _meet(p, r2, r3)
        v0 = _in_band(_cell(p, h0, l0, m0, above, r0, a0, b0, c0, gap_cost), limit0, inside)
        v1 = _in_band(_cell(p, h1, l1, m1, v0, r1, a1, b1, c1, gap_cost), limit1, inside)
        v2 = _in_band(_cell(p, h2, l2, m2, v1, r2, a2, b2, c2, gap_cost), limit2, inside)
        v3 = _in_band(_cell(p, h3, l3, m3, v2, r3, a3, b3, c3, gap_cost), limit3, inside)
        corner, r0, r1, r2, r3 = above, v0, v1, v2, v3
        l1, l2, l3 = l0, l1, l2  # (i + 1, j + 1) has the lag of (i, j)
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
    """Compute four query points over the series points [begin, end), with cells outside the band excluded."""
    a, b = begin, end
    if lo is not None:  # a constant for the compiler: without a band it drops these branches
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
    """Return whether some lane has a cost in column j at or below the limit, a number or a vector with one per lane."""
    return some(load(row, j * BATCH) <= limit)


@inner
def _fill_top(p, end, top_end, gap_costs, row):
    """Fill `row` with the boundary before the first query point, up to column `end`."""
    fill(row, 0, BATCH, 0.0)
    for at in range(BATCH, (end + 1) * BATCH):
        row[at] = BIG if closed_boundary(p) or at >= top_end * BATCH else row[at - BATCH] + gap_costs[at]


@inner
def _accumulate(p, m, rows, weighted, points, Y, gap_costs, cells, cutoff, room):
    """Fill the `row` of `room` with the accumulated costs of the last query point and each point of each series.

    Return DONE at the end, ABOVE as soon as all costs exceed the cutoff, and UNFINISHED if the budget of cells is used
    up. A further call with the same `room` (see `room_for`) then resumes.

    Cells above the cutoff in all lanes are skipped unless a cell at or below it leads to them. In the previous row
    (column 0 is its boundary) the cells outside [start_column, end_column] are above the cutoff, and may hold any such
    number. `weighted` is None if all weights are 1; the multiplications are then left out.
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
        if i > 0:  # cells that enter the band still hold the boundary
            fill(row, (_last(lo, hi, i - 1) + 1) * BATCH, (_last(lo, hi, i + height - 1) + 1) * BATCH, BIG)
        if cutoff < BIG:
            while end_column > start_column and not _within(row, end_column, cutoff):
                end_column -= 1
            while start_column < end_column and not _within(row, start_column, cutoff):
                start_column += 1
            if end_column < _first(lo, i) or not _within(row, start_column, cutoff):
                return ABOVE
        first, last = maximum(_first(lo, i), start_column - 1), _last(lo, hi, i + height - 1)
        # The column before the first point: the boundary if that is point 0, else infinity.
        copy(row, first * BATCH, (first + 1) * BATCH, registers[4], 0)
        for r in range(height):
            side = BIG if closed_boundary(p) or i + r + 1 >= side_end else side + points[0, i + r]
            fill(registers[r], 0, BATCH, side if first == 0 else BIG)
        copy(registers[height - 1], 0, BATCH, row, first * BATCH)
        begin, end = first, (end_column + 1 if cutoff < BIG else last)
        while begin < last:
            end = last if end + AHEAD >= last else end  # a few more points cost less than another check
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
    """Return the buffers of `_accumulate`: row of costs, registers, state, and (cells left, last boundary cost)."""
    return aligned((n + 1) * BATCH), aligned(5, BATCH), aligned_zeros(3, dtype=np.int64), aligned(2)


@inner
def _beside(values, begins, lengths, block, size, lanes):
    """Interleave `size` series of a block in `lanes`, after padding of one vector; free lanes repeat the last series.

    The first half of `block` holds the positions of the series, the second half is a buffer.
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
    """Compute blocks of series and their queries, resuming at `place`; return whether all are done.

    See `table_of_costs`.
    """
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
    """Return the cells of a band; without one (None), all cells of series of up to n points."""
    return Cells(None, np.array([n]), ENDLESS, ENDLESS) if lo is None else cells_of(record, lo, hi)


def table_of_costs(queries, collection, borders, until, lo, hi, out):
    """Fill `out` with the accumulated costs of queries and whole series, for some or all of the pairs.

    Parameters
    ----------
    queries : tuple
        Record, sizes (n_queries,), rows (n_queries, channels, 4, m) padded to whole sweeps, whether they have weights
        (True or None), and the costs of their points. The size of a query is the number of its points that count.
    collection : tuple
        Concatenated values, starts and lengths of the series, sorted by length.
    borders : ndarray of shape (n_blocks + 1,)
        Number of the first series of each block of at most BATCH series.
    until : ndarray of shape (n_blocks,) or None
        Number of queries that are compared with each block, counted from the first; None: all.
    lo, hi : ndarray of shape (m,) or None
        The band: query point i may be aligned with the series points lo[i] <= j < hi[i]. None: with all of them.
    out : ndarray of shape (n_queries, n_series)
        Accumulated costs. Pairs that are not compared keep their entries.
    """
    n, place = int(collection[2][-1]), np.zeros(2, np.int64)
    size, channels, cells = (n + 1) * BATCH, queries[2].shape[1], _cells(queries[0], lo, hi, n)
    room, until = room_for(n), np.full(len(borders) - 1, len(out)) if until is None else until
    work = channels_of(aligned_zeros(channels, size)), aligned_zeros(size), np.empty(2 * BATCH, np.int64), room
    for room[-1][0] in budgets():
        if _accumulate_table(queries, collection, borders, until, cells, place, work, out):
            return


def window_costs(p, rows, weighted, points, windows, lo, hi):
    """Return the accumulated costs (k,) of a query (channels, 4, m) and whole windows (k, channels, n).

    The band `lo`, `hi` is that of `table_of_costs`.
    """
    count, channels, n = windows.shape
    queries = p, np.array([points.shape[1]]), rows[np.newaxis], weighted, points[np.newaxis]
    collection = windows.ravel(), np.arange(count) * (channels * n), np.full(count, n)
    borders, out = np.append(np.arange(0, count, BATCH), count), np.empty((1, count))
    table_of_costs(queries, collection, borders, None, lo, hi, out)
    return out[0]


def padded(record, x, w):
    """Return the rows (count, channels, 4, m) of queries, padded to whole sweeps, and whether they are weighted."""
    m = x.shape[2]
    return rows_of(record, x, w, m + -m % ROWS), weighting(record, w)


def one_after_another(series, lengths):
    """Return a collection as the kernels take it: the concatenated values, the start and the length of each series."""
    sizes = len(series[0]) * lengths
    return np.concatenate([y.ravel() for y in series]), np.cumsum(sizes) - sizes, lengths


# ---------------------------------------------------- nearest series of queries: the k-th smallest cost is the cutoff
@inner
def _insert(best, cost):
    """Insert a cost into the ascending list of the smallest costs; the largest one is dropped."""
    k = best.shape[0] - 1
    while k > 0 and best[k - 1] > cost:
        best[k] = best[k - 1]
        k -= 1
    best[k] = cost


@kernel
def _scan(queries, collection, candidates, cells, limits, slack, work, costs):
    """Continue a scan with query counts[0]; return whether all queries are done. See `scan`."""
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
    """Fill `costs` with the accumulated costs of queries and their k nearest series; others may stay as they are.

    A cost is filled in if it is at most the limit of the query, and at most `(1 + share) * c + more` with its k-th
    smallest cost c until then. Return the numbers of series that were skipped by their bounds, that were abandoned,
    and that were computed.

    Parameters
    ----------
    queries : tuple
        Record, rows (n_queries, channels, 4, m), whether they have weights, and costs of their points.
    collection : tuple
        Concatenated values, starts and lengths of series of up to `n` points.
    candidates : tuple
        The series to compare each query with, in this order; the number of the series that is the query itself, which
        is skipped, or one that does not occur; and lower bounds of the costs.
    lo, hi : ndarray of shape (m,) or None
        The band of `table_of_costs`.
    limits : ndarray of shape (n_queries,)
    slack : tuple
        `share` and `more`, the allowance for rounding.
    """
    p, rows, _, _ = queries
    room, size = room_for(n), (n + 1) * BATCH
    # The query, its next candidate, the size of its block, and the three numbers of series that are returned.
    counts = np.zeros(6, np.int64)
    lanes = channels_of(aligned_zeros(rows.shape[1], size))
    work = room, lanes, aligned_zeros(size), np.empty(k), np.empty(2 * BATCH, np.int64), counts
    cells = _cells(p, lo, hi, n)
    for room[-1][0] in budgets():
        if _scan(queries, collection, candidates, cells, limits, slack, work, costs):
            return counts[3:]


# ------------------------------------------------------------------------------------- sums of partners along the paths
MOVES = block_size(2**22, 2**10)  # most cells of a pair whose moves are kept, to bound memory


@inner
def _line(p, i, rows, weighted, points, Y, gap_costs, begin, known, end, limit, boundary, row, codes, first):
    """Accumulate the costs of query point i and series points from `begin` on; return the end of the computed points.

    Points before `known` are always computed; those from `known` to `end` only while some lane has a cost at or below
    its limit. `row` holds the costs of the previous query point and is overwritten; its column `begin`, in front of the
    first computed point, becomes `boundary`. The move of series point j is stored in `codes`, as that of pair `first +
    j`.
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
    """Trace one lane back from the pair (i, j), and add each series point to the sums of its query points."""
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
    """Fill in costs, and for costs within the limits counts and sums, of the series in the blocks [begin, end)."""
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
            if i > 0:  # cells that enter the band still hold the boundary
                fill(row, (minimum(hi[i - 1], n) + 1) * BATCH, (b + 1) * BATCH, BIG)
            side = BIG if closed_boundary(p) or i + 1 >= side_end else side + points[0, i]
            boundary = side if a == 0 else BIG
            known = minimum(maximum(end_column, a) + 1, b)  # the last column leads to the one after it
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
    """For each series and query point, sum the series points aligned with it along the best warping path.

    Parameters
    ----------
    p, x, w, points : NamedTuple, ndarray (features, m), ndarray or None, ndarray (3, m)
        Record of the query, its features, its weights (None: all are 1), and the costs of its points.
    compared, summed : tuple
        Features of the series, which are compared: (values, starts, lengths); and their channels, which are summed:
        (values, starts, number of channels).
    lo, hi : ndarray of shape (m,)
        Query point i may be aligned with the series points lo[i] <= j < hi[i]. With a band, all series have one length.
    limits : ndarray of shape (k,)
        Guessed upper limits of the costs. They affect the speed alone. Infinite where costs may fall along paths.

    Returns
    -------
    cost (k,), count (k, m), total (k, channels, m)
        Accumulated costs, number of series points aligned with each query point, and their sums.
    """
    (features, m), lengths = x.shape, compared[2]
    k, n, order = len(lengths), int(lengths.max()), np.argsort(lengths, kind="stable")  # for little padding
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

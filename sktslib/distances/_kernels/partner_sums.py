"""What the points of one series meet in others along the best paths: how many points each, and the sum of them.

Averages along paths need no path but these sums. LANES series stand side by side as in `lanes`, and of each cell the
moves into it are kept, a bit a lane; then each lane is followed back from its last pair on. It is the path that
`diagonals.path` gives: vectors that round as plain floats do, and the same choice among equal costs.

Where a center moves little, the cost of each series is nearly known. Of each query point only the cells between the
first and the last one at or below such a limit in some lane matter to the next, where costs never fall along a path.
Others then hold any number above their lane's limit, so that no path at or below it comes from there: what is found at
or below the limit is the same to the bit, and what is found above it is computed again without one. So a limit may be
a guess.
"""

import numpy as np

from .columns import cells_of, fill_rows
from .compilation import block_size, inner, kernel, pieces
from .diagonals import best_move
from .dispatch import add_terms, closed_boundary, has_gap_cost, lag_cost, moves, terms, weighting
from .lanes import AHEAD, LANES, _beside, _fill_gap_costs, _row
from .scratch import aligned, aligned_zeros
from .simd_memory import bits, channels_of, copy, fill, makers, some, store

BIG = np.inf
MOVES = block_size(2**22, 2**10)  # cells of a pair: of more they are not kept, so that memory stays small

load, splat, _ = makers(LANES, fused=False)


def fits(m, n):
    """Whether the moves of pairs of series are few enough to be kept."""
    return m * n <= MOVES


@inner
def _line(p, i, rows, weighted, points, Y, gap_costs, begin, known, end, limit, boundary, row, codes, first):
    """Accumulated costs of query point i with the points from `begin` on; the moves into them go to codes from `first`.

    Points up to `known` are computed, and those up to `end` as long as there are costs at or below the limit of their
    lane; the end is given back. `row` holds the costs of the query point before, from column `begin` on, the one before
    the first point; it holds those of this one behind, with `boundary` in front.
    """
    here, weights = (points[0, i], points[1, i], points[2, i]), _row(rows, weighted, 0, i)
    diag, left, most = load(row, begin * LANES), splat(boundary), load(limit, 0)
    store(row, begin * LANES, left)
    while True:
        for j in range(begin, known):
            at = (j + 1) * LANES
            above, y, before = load(row, at), load(Y[0], at), load(Y[0], at - LANES)
            a, b, c = terms(p, weights, y, before)
            for k in range(1, len(Y)):
                y, before = load(Y[k], at), load(Y[k], at - LANES)
                a, b, c = add_terms(p, (a, b, c), _row(rows, weighted, k, i), y, before)
            lag = float(np.int32(abs(i - j)))
            d, u, v = moves(p, here, splat(lag_cost(p, lag, lag)), a, b, c, load(gap_costs, at))
            best, by_query, by_series = best_move(p, diag, above, left, d, u, v)
            codes[2 * (first + j)], codes[2 * (first + j) + 1] = bits(by_query), bits(by_series)
            store(row, at, best)
            diag, left = above, best
        if known >= end or not some(left <= most):
            return known
        begin, known = known, min(known + AHEAD, end)


@inner
def _within(row, j, limit):
    """Whether the cost of point j of the series is at or below the limit in some lane."""
    return some(load(row, (j + 1) * LANES) <= load(limit, 0))


@inner
def _fill_top(p, start, top_end, gap_costs, row):
    """The boundary before the first query point, of which up to `start` points cost nothing.

    There no path leads from above to the first query point, for the diagonal way costs no more.
    """
    fill(row, 0, LANES, 0.0)
    for at in range(LANES, row.shape[0]):
        if closed_boundary(p):
            row[at] = 0.0 if at < (start + 1) * LANES else BIG
        else:
            row[at] = row[at - LANES] + gap_costs[at] if at < top_end * LANES else BIG


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
def _add(p, x, w, points, compared, summed, order, cells, start, free, limits, begin, end, work, cost, count, total):
    """Fill costs, counts and sums of the series in the blocks [begin, end); sums where costs are within limits."""
    m, weighted, (values, begins, lengths), (lo, hi, side_end, top_end) = x.shape[1], weighting(p, w), compared, cells
    rows, lanes, gap_costs, row, codes, limit, block = work
    if begin == 0:
        fill_rows(p, x, w, rows)
    for first in range(begin * LANES, min(end * LANES, order.shape[0]), LANES):
        size = min(LANES, order.shape[0] - first)
        copy(order, first, first + size, block, 0)
        n = lengths[block[size - 1]]  # the longest of them
        for s in range(LANES):
            limit[s] = limits[block[min(s, size - 1)]]
        _beside(values, begins, lengths, block, size, lanes)
        if has_gap_cost(p):
            _fill_gap_costs(p, lanes, gap_costs)
        _fill_top(p, start, top_end, gap_costs, row)
        side, start_column, end_column = 0.0, 0, start if closed_boundary(p) else n
        for i in range(m):
            a, b = max(lo[i], start_column), min(hi[i], n)
            if i > 0:  # points that enter the band still hold the boundary
                fill(row, (min(hi[i - 1], n) + 1) * LANES, (b + 1) * LANES, BIG)
            side = BIG if closed_boundary(p) or i + 1 >= side_end else side + points[0, i]
            boundary = side if a == 0 else BIG
            known = min(max(end_column, a) + 1, b)  # the last column leads to the one behind it
            known = _line(
                p, i, rows, weighted, points, lanes, gap_costs, a, known, b, limit, boundary, row, codes, i * n
            )
            if closed_boundary(p):
                start_column, end_column = a, known
                while end_column > a and not _within(row, end_column - 1, limit):
                    end_column -= 1
                while start_column < end_column and not _within(row, start_column, limit):
                    start_column += 1
        for s in range(size):
            k = block[s]
            j = lengths[k] - 1 - free
            for at in range(j + 1, lengths[k]):
                if row[(at + 1) * LANES + s] < row[(j + 1) * LANES + s]:
                    j = at
            cost[k] = row[(j + 1) * LANES + s]
            if cost[k] < BIG and cost[k] <= limits[k]:
                _follow_back(codes, n, s, m - 1, j, summed[0], summed[1][k], lengths[k], count[k], total[k])


def partner_sums(p, x, w, points, compared, summed, lo, hi, start, free, limits):
    """What the points of a query meet in each series of a collection along its best path.

    Parameters
    ----------
    p, x, w, points : NamedTuple, ndarray (features, m), ndarray or None, ndarray (3, m)
        The query; without weights (None) they are all 1.
    compared, summed : tuple
        Features and channels of the series as `scan` takes a collection, or some of it: (values, begins, lengths) and
        (values, begins, number of channels).
    lo, hi : ndarray of shape (m,)
        Query point i may meet the points lo[i] <= j < hi[i] of the series.
    start, free : int
        A path begins at one of the first `start` + 1 points of the series, and ends at one of the last `free` + 1.
        Where there are free points, or a band, all series must have one length.
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
    size, channels, summed = (n + 1) * LANES, summed[2], summed[:2]
    work = np.empty((features, 4, m)), channels_of(aligned_zeros(features, size)), aligned_zeros(size), aligned(size)
    work = *work, np.empty(2 * m * n, np.uint16), np.empty(LANES), np.empty(LANES, np.int64)
    found, cells = (np.empty(k), np.zeros((k, m)), np.zeros((k, channels, m))), cells_of(p, lo, hi)
    for most in (limits, np.full(k, BIG)):
        for begin, end in pieces(-(-len(order) // LANES), m * n * LANES):
            _add(p, x, w, points, compared, summed, order, cells, start, free, most, begin, end, work, *found)
        order = order[~(found[0][order] <= most[order])]
        if not len(order):
            break
    return found

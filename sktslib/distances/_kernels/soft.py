"""Soft minima over all alignments for numba: soft-DTW and the global alignment kernel are one recurrence.

Both sum a product of local kernels over all alignments of two series,

    K_ij = exp(-c_ij) (K_{i-1,j-1} + K_{i-1,j} + K_{i,j-1}),    R_ij = -log K_ij

and what is asked for is the accumulated cost R, for which soft-DTW divides its costs by gamma (its value is gamma R).
K would under- and overflow, and R would take three exponentials and a logarithm per cell. So K is kept as share times
2^power, the power a float of its own: then a cell is a few products, and any R is within reach.

Layout as in `scalar`: series ``(channels, length)``, the query inside and the series outside, matrices ``(n, m)``.

What the points of one series meet in others along the best paths: how many points each, and the sum of them.

Averages along paths need no path but these sums. LANES series stand side by side as in `batch`, and of each cell the
moves into it are kept, a bit a lane; then each lane is followed back from its last pair on. It is the path that
`pair.path` gives: vectors that round as plain floats do, and the same choice among equal costs.

Where a center moves little, the cost of each series is nearly known. Of each query point only the cells between the
first and the last one at or below such a limit in some lane matter to the next, where costs never fall along a path.
Others then hold any number above their lane's limit, so that no path at or below it comes from there: what is found at
or below the limit is the same to the bit, and what is found above it is computed again without one. So a limit may be
a guess.
"""

from typing import NamedTuple

import numpy as np

from .batch import AHEAD, BATCH, _beside, _row, fill_gap_costs
from .compile import block_size, inner, kernel, pieces
from .dispatch import add_terms, closed_boundary, lag_cost, moves, rows_of, terms, weighting
from .pair import best_move
from .scalar import cells_of
from .simd import aligned, aligned_zeros, bits, channels_of, copy, fill, makers, maximum, minimum, some, store

INF = np.inf
NO_COSTS = np.empty((0, 0))
LOG2 = 0.6931471805599453
HALF_LOG2 = 0.5 * LOG2
ROOT_HALF = 0.7071067811865476
HALVES = np.append(0.5 ** np.arange(128), 0.0)  # what lies 128 powers of two below another term is lost beside it
COST = 8  # so many times what a cell of a recurrence without exponentials takes
LARGE, SMALL = 2.0**20, 2.0**-20  # shares beyond are brought back, by 20 powers


class Soft(NamedTuple):
    """The local costs c_ij, made from the weighted squared difference d_ij of two points."""

    scale: float  # c = scale * d, or the Gaussian kernel k = exp(-scale * d)
    geometric: bool  # c = -log(k / (2 - k)), which makes the sum over alignments positive definite (Cuturi 2011)
    triangle: float  # k is multiplied by 1 - lag / triangle, and is 0 from that lag on; infinity: by 1


@inner
def _local_kernels(p, x, w, y, j, lo, hi, cost, share, power):
    """Compute the local kernels exp(-c) = share * 2^power of the query's points lo..hi with point j of the series."""
    cost[lo:hi] = 0.0
    for k in range(x.shape[0]):
        v = y[k, j]
        for i in range(lo, hi):
            d = x[k, i] - v
            cost[i] += w[k, i] * d * d
    costs, shares, powers = cost[lo:hi], share[lo:hi], power[lo:hi]
    for s in range(costs.shape[0]):
        u = p.scale * costs[s]
        whole = np.floor(u * (1.0 / LOG2))
        # exp(-rest) by its series about the middle of [0, log 2), where 13 terms are exact to rounding. Of costs so
        # large that they have no digits for it, the rest may be anything.
        t = HALF_LOG2 - min(max(u - whole * LOG2, 0.0), LOG2)
        e = 1.0 + t * (1.0 / 12.0)
        e = 1.0 + t * (1.0 / 11.0) * e
        e = 1.0 + t * (1.0 / 10.0) * e
        e = 1.0 + t * (1.0 / 9.0) * e
        e = 1.0 + t * (1.0 / 8.0) * e
        e = 1.0 + t * (1.0 / 7.0) * e
        e = 1.0 + t * (1.0 / 6.0) * e
        e = 1.0 + t * (1.0 / 5.0) * e
        e = 1.0 + t * (1.0 / 4.0) * e
        e = 1.0 + t * (1.0 / 3.0) * e
        e = 1.0 + t * (1.0 / 2.0) * e
        e = ROOT_HALF * (1.0 + t * e)
        shares[s] = e if u < INF else 0.0
        powers[s] = -whole
    if p.geometric:
        for i in range(lo, hi):
            near = max(1.0 - abs(i - j) / p.triangle, 0.0)
            share[i] *= near / (2.0 - near * share[i] * HALVES[int(min(-power[i], 128.0))])
    for i in range(lo, hi):
        if share[i] == 0.0:
            power[i] = -INF


@kernel
def _accumulate(p, x, w, y, lo, hi, begin, end, work, matrix):
    """Compute the columns [begin, end) of two whole series; return R of the last cell done. See `accumulated_costs`."""
    m, (col, powers, cost, share, power) = x.shape[1], work
    for j in range(begin, end):
        _local_kernels(p, x, w, y, j, lo[j], hi[j], cost, share, power)
        diag, p_diag = col[lo[j]], powers[lo[j]]
        above, p_above = 0.0, -INF
        col[lo[j]], powers[lo[j]] = 0.0, -INF  # the boundary, or a cell that has left the band
        for i in range(lo[j], hi[j]):
            left, p_left = col[i + 1], powers[i + 1]
            top = max(p_diag, max(p_above, p_left))
            if top > -INF:
                # The diagonal way comes last: so that exchanging the two series changes no digit.
                above = above * HALVES[int(min(top - p_above, 128.0))]
                above += left * HALVES[int(min(top - p_left, 128.0))]
                above += diag * HALVES[int(min(top - p_diag, 128.0))]
                above *= share[i]
                p_above = top + power[i]
                if above > LARGE:
                    above, p_above = above * SMALL, p_above + 20.0
                elif above < SMALL:
                    above, p_above = above * LARGE, p_above - 20.0
            diag, p_diag = left, p_left
            col[i + 1], powers[i + 1] = above, p_above
        if matrix.size:
            for i in range(lo[j], hi[j]):
                matrix[j, i] = _cost(col[i + 1], powers[i + 1])
    return _cost(col[m], powers[m])


def accumulated_costs(p, x, w, y, lo, hi, matrix):
    """Return the last accumulated cost R of two whole series, and fill `matrix` (n, m) unless it is empty.

    Without the matrix O(m) memory is needed.

    The cell (i, j) of query and series exists for lo[j] <= i < hi[j].
    """
    m, n = x.shape[1], y.shape[1]
    work = np.zeros(m + 1), np.full(m + 1, -INF), np.empty(m), np.empty(m), np.empty(m)
    work[0][0], work[1][0] = 1.0, 0.0
    for begin, end in pieces(n, COST * m):
        cost = _accumulate(p, x, w, y, lo, hi, begin, end, work, matrix)
    return cost


@kernel
def _cost(share, power):
    return -np.log(share) - power * LOG2 if share > 0.0 else INF


@kernel
def _expect(matrix, begin, end, expected):
    """Compute the columns [begin, end) of the expected alignment, counted from the last; see `expected_alignment`."""
    n, m = matrix.shape
    for j in range(n - 1 - begin, n - 1 - end, -1):
        for i in range(m - 1, -1, -1):
            if expected[j, i] == 0.0:
                continue
            diag = matrix[j - 1, i - 1] if i > 0 and j > 0 else INF
            above = matrix[j, i - 1] if i > 0 else INF
            left = matrix[j - 1, i] if j > 0 else INF
            least = min(diag, min(above, left))
            if least == INF:
                continue
            a, b, c = np.exp(least - diag), np.exp(least - above), np.exp(least - left)
            share = expected[j, i] / (a + b + c)
            if a > 0.0:
                expected[j - 1, i - 1] += share * a
            if b > 0.0:
                expected[j, i - 1] += share * b
            if c > 0.0:
                expected[j - 1, i] += share * c


def expected_alignment(matrix):
    """Return the probability that an alignment passes each cell (n, m), from its accumulated costs.

    It is the gradient of R_mn by the c_ij.

    From the last cell back, each hands what it has to its three predecessors, by their shares in its soft minimum.
    """
    n, m = matrix.shape
    expected = np.zeros((n, m))
    expected[n - 1, m - 1] = 1.0
    for begin, end in pieces(n, COST * m):
        _expect(matrix, begin, end, expected)
    return expected


BIG = np.inf
MOVES = block_size(2**22, 2**10)  # cells of a pair: of more they are not kept, so that memory stays small

load, splat, _ = makers(BATCH, fused=False)


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
def _within(row, j, limit):
    """Return whether the cost of point j of the series is at or below the limit in some lane."""
    return some(load(row, (j + 1) * BATCH) <= load(limit, 0))


@inner
def _fill_top(p, start, top_end, gap_costs, row):
    """Fill in the boundary before the first query point, of which up to `start` points cost nothing.

    There no path leads from above to the first query point, for the diagonal way costs no more.
    """
    fill(row, 0, BATCH, 0.0)
    for at in range(BATCH, row.shape[0]):
        if closed_boundary(p):
            row[at] = 0.0 if at < (start + 1) * BATCH else BIG
        else:
            row[at] = row[at - BATCH] + gap_costs[at] if at < top_end * BATCH else BIG


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
    for first in range(begin * BATCH, minimum(end * BATCH, order.shape[0]), BATCH):
        size = minimum(BATCH, order.shape[0] - first)
        copy(order, first, first + size, block, 0)
        n = lengths[block[size - 1]]  # the longest of them
        for s in range(BATCH):
            limit[s] = limits[block[minimum(s, size - 1)]]
        _beside(values, begins, lengths, block, size, lanes)
        fill_gap_costs(p, lanes, gap_costs)
        _fill_top(p, start, top_end, gap_costs, row)
        side, start_column, end_column = 0.0, 0, start if closed_boundary(p) else n
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
                start_column, end_column = a, known
                while end_column > a and not _within(row, end_column - 1, limit):
                    end_column -= 1
                while start_column < end_column and not _within(row, start_column, limit):
                    start_column += 1
        for s in range(size):
            k = block[s]
            j = lengths[k] - 1 - free
            for at in range(j + 1, lengths[k]):
                if row[(at + 1) * BATCH + s] < row[(j + 1) * BATCH + s]:
                    j = at
            cost[k] = row[(j + 1) * BATCH + s]
            if cost[k] < BIG and cost[k] <= limits[k]:
                _follow_back(codes, n, s, m - 1, j, summed[0], summed[1][k], lengths[k], count[k], total[k])


def partner_sums(p, x, w, points, compared, summed, lo, hi, start, free, limits):
    """Sum the points of each series of a collection that a query's points meet along its best path.

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
    size, channels, summed = (n + 1) * BATCH, summed[2], summed[:2]
    rows = rows_of(p, x[np.newaxis], None if w is None else w[np.newaxis], m)[0]
    work = rows, channels_of(aligned_zeros(features, size)), aligned_zeros(size), aligned(size)
    work = *work, np.empty(2 * m * n, np.uint16), np.empty(BATCH), np.empty(2 * BATCH, np.int64)
    found, cells = (np.empty(k), np.zeros((k, m)), np.zeros((k, channels, m))), cells_of(p, lo, hi)
    for most in (limits, np.full(k, BIG)):
        for begin, end in pieces(-(-len(order) // BATCH), m * n * BATCH):
            _add(p, x, w, points, compared, summed, order, cells, start, free, most, begin, end, work, *found)
        order = order[~(found[0][order] <= most[order])]
        if not len(order):
            break
    return found

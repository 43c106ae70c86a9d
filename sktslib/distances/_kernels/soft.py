"""Soft minima over all alignments for numba: soft-DTW and the global alignment kernel are one recurrence.

Both sum a product of local kernels over all alignments of two series,

    K_ij = exp(-c_ij) (K_{i-1,j-1} + K_{i-1,j} + K_{i,j-1}),    R_ij = -log K_ij

and what is asked for is the accumulated cost R, for which soft-DTW divides its costs by gamma (its value is gamma R).
K would under- and overflow, and R would take three exponentials and a logarithm per cell. So K is kept as share times
2^power, the power a float of its own: then a cell is a few products, and any R is within reach.

Layout as in `scalar`: series ``(channels, length)``, the query inside and the series outside, matrices ``(n, m)``.
"""

from typing import NamedTuple

import numpy as np

from .compile import inner, kernel, pieces

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

"""Soft minima over all alignments: one recurrence for soft-DTW and the global alignment kernel.

Both sum products of local kernels over all alignments of two series,

    K_ij = exp(-c_ij) (K_{i-1,j-1} + K_{i-1,j} + K_{i,j-1}),    R_ij = -log K_ij

The result is the accumulated cost R. Soft-DTW divides its costs by gamma, and its value is gamma R. K would under- and
overflow, and R would take three exponentials and a logarithm per cell. So K is stored as share * 2^power, where power
is a separate float. Then a cell takes a few products, and R has no limits.

Layout as in `scalar`: series ``(channels, length)``, inner loop over the query, outer loop over the series, matrices
``(n, m)``.
"""

from typing import NamedTuple

import numpy as np

from .compile import inner, kernel, pieces

INF = np.inf
NO_COSTS = np.empty((0, 0))
LOG2 = 0.6931471805599453
HALF_LOG2 = 0.5 * LOG2
ROOT_HALF = 0.7071067811865476
HALVES = np.append(0.5 ** np.arange(128), 0.0)  # a term 2^128 times smaller adds nothing
COST = 8  # time of a cell relative to one of a recurrence without exponentials
LARGE, SMALL = 2.0**20, 2.0**-20  # shares beyond these limits are scaled by 2^20


class Soft(NamedTuple):
    """Parameters of the local costs c_ij, as functions of the weighted squared difference d_ij of two points."""

    scale: float  # c = scale * d, or the Gaussian kernel k = exp(-scale * d)
    geometric: bool  # c = -log(k / (2 - k)), which makes the sum over alignments positive definite (Cuturi 2011)
    triangle: float  # k is multiplied by max(1 - lag / triangle, 0); infinity: by 1


@inner
def _local_kernels(p, x, w, y, j, lo, hi, cost, share, power):
    """Fill in the local kernels exp(-c) = share * 2^power of the query points [lo, hi) and series point j."""
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
        # exp(-rest) by its series about the middle of [0, log 2), where 13 terms are exact up to rounding. For costs
        # that are too large to have a fractional part, the rest is arbitrary.
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
    """Compute the columns [begin, end) of two whole series; return R of the last cell.

    See `accumulated_costs`.
    """
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
                # The diagonal term is added last, so that exchanging the two series changes no digit.
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
    """Return the accumulated cost R of two whole series, and fill `matrix` (n, m) with those of all cells.

    An empty matrix is not filled; memory is then O(m). Query point i and series point j may be paired for
    lo[j] <= i < hi[j].
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
    """Compute the columns [begin, end), counted from the last one, of `expected_alignment`."""
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
    """Return the probability (n, m) that an alignment passes each cell, from the matrix of accumulated costs.

    This is the gradient of R_mn with respect to the c_ij. From the last cell back, each cell distributes its
    probability to its three predecessors in proportion to their shares of its soft minimum.
    """
    n, m = matrix.shape
    expected = np.zeros((n, m))
    expected[n - 1, m - 1] = 1.0
    for begin, end in pieces(n, COST * m):
        _expect(matrix, begin, end, expected)
    return expected

"""Soft minima over all alignments for numba: soft-DTW and the global alignment kernel are one recurrence.

Both sum a product of local kernels over all alignments of two series. Here that sum is kept as its negative logarithm,
the accumulated cost R, so that it neither under- nor overflows::

    R_ij = c_ij + softmin(R_{i-1,j-1}, R_{i-1,j}, R_{i,j-1}),    softmin(a) = -log sum exp(-a)

Soft-DTW divides its costs by gamma, and its value is gamma R. Layout as in `_elastic`: series ``(channels, length)``,
the query inside and the series outside, matrices ``(n, m)``.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

INF = np.inf
NO_COSTS = np.empty((0, 0))
NEGLIGIBLE = 40.0  # exp(-40) is lost beside 1


class Soft(NamedTuple):
    """The local costs c_ij, made from the weighted squared difference d_ij of two points."""

    scale: float  # c = scale * d, or the Gaussian kernel k = exp(-scale * d)
    geometric: bool  # c = -log(k / (2 - k)), which makes the sum over alignments positive definite (Cuturi 2011)
    triangle: float  # k is multiplied by 1 - lag / triangle, and is 0 from that lag on; infinity: by 1


@njit(cache=True)
def _softmin(a, b, c):
    least = min(a, min(b, c))
    if least == INF:
        return INF
    # The least of the three adds 1 to the sum.
    if a == least:
        b, c = b - least, c - least
    elif b == least:
        b, c = a - least, c - least
    else:
        b, c = a - least, b - least
    rest = (np.exp(-b) if b < NEGLIGIBLE else 0.0) + (np.exp(-c) if c < NEGLIGIBLE else 0.0)
    return least - np.log(1.0 + rest)


@njit(cache=True)
def _local_costs(p, x, w, y, j, lo, hi, cost):
    """cost[lo:hi] = the local costs of the query's points with point j of the series."""
    cost[lo:hi] = 0.0
    for k in range(x.shape[0]):
        v = y[k, j]
        for i in range(lo, hi):
            d = x[k, i] - v
            cost[i] += w[k, i] * d * d
    for i in range(lo, hi):
        u = p.scale * cost[i]
        if p.geometric:
            share = 1.0 - abs(i - j) / p.triangle
            u = u - np.log(share) + np.log1p(1.0 - share * np.exp(-u)) if share > 0.0 else INF
        cost[i] = u


@njit(cache=True, nogil=True)
def accumulate(p, x, w, y, lo, hi, matrix):
    """The last accumulated cost of two whole series; fills `matrix` (n, m) unless it is empty. Memory without: O(m).

    The cell (i, j) of query and series exists for lo[j] <= i < hi[j].
    """
    m, n = x.shape[1], y.shape[1]
    col, cost = np.full(m + 1, INF), np.empty(m)
    col[0] = 0.0
    for j in range(n):
        _local_costs(p, x, w, y, j, lo[j], hi[j], cost)
        diag, above = col[lo[j]], INF
        col[lo[j]] = INF  # the border, or a cell that has left the band
        for i in range(lo[j], hi[j]):
            left = col[i + 1]
            above = cost[i] + _softmin(diag, above, left)
            diag = left
            col[i + 1] = above
        if matrix.size:
            for i in range(lo[j], hi[j]):
                matrix[j, i] = col[i + 1]
    return col[m]


@njit(cache=True, nogil=True)
def expected_alignment(matrix):
    """How probable each cell (n, m) is on an alignment, by its accumulated costs; the gradient of R_mn by the c_ij.

    From the last cell back, each hands what it has to its three predecessors, by their shares in its soft minimum.
    """
    n, m = matrix.shape
    expected = np.zeros((n, m))
    expected[n - 1, m - 1] = 1.0
    for j in range(n - 1, -1, -1):
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
    return expected

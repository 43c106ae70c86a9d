"""Soft minima over all alignments: one recurrence for soft-DTW and the global alignment kernel.

Both sum products of local kernels over all alignments of two series,

    K_ij = exp(-c_ij) (K_{i-1,j-1} + K_{i-1,j} + K_{i,j-1}),    R_ij = -log K_ij

The result is the accumulated cost R. Soft-DTW divides its costs by gamma, and its value is gamma R. K would under- and
overflow, and R would take three exponentials and a logarithm per cell. So K is stored as share * 2^power, where power
is a separate float. Then a cell takes a few products, and R has no limits.

REGISTER pairs of series are computed side by side, one per lane. Each cell waits for the one before it, so one pair
takes about as long as all. Series are ``(channels, length * REGISTER)``, the inner loop goes over the points of the
first ones, the outer loop over those of the second ones; matrices are ``(n, m)``.
"""

import math
from typing import NamedTuple

import numpy as np

from .compile import inner, kernel, pieces, step
from .simd import REGISTER, channels_of, makers, maximum, minimum, multiply_add, power_of_two, store, where

INF = np.inf
NO_COSTS = np.empty((0, 0))
LOG2 = 0.6931471805599453
SERIES = tuple(1.0 / math.factorial(k) for k in range(12, -1, -1))  # of the exponential, from the last term on
WHOLE = 1.5 * 2.0**52  # a number that loses its fractional part when this is added
COST = 8 * REGISTER  # time of a cell relative to one of a recurrence without exponentials
LARGE, SMALL = 2.0**20, 2.0**-20  # shares beyond these limits are scaled by 2^20

load, splat, _ = makers(REGISTER, fused=False)


class Soft(NamedTuple):
    """Parameters of the local costs c_ij, as functions of the weighted squared difference d_ij of two points."""

    scale: float  # c = scale * d, or the Gaussian kernel k = exp(-scale * d)
    geometric: bool  # c = -log(k / (2 - k)), which makes the sum over alignments positive definite (Cuturi 2011)
    triangle: float  # k is multiplied by max(1 - lag / triangle, 0); infinity: by 1


@step
def _local_kernel(p, x, w, y, i, j):
    """Return the local kernels exp(-c) = share * 2^power of the points i and j of each pair, as share and power."""
    u = splat(0.0)
    for k in range(len(x)):
        d = load(x[k], i * REGISTER) - load(y[k], j * REGISTER)
        u = multiply_add(w[k, i] * d, d, u)
    whole = multiply_add(u, 1.0 / LOG2, WHOLE) - WHOLE
    # exp(t) by its series, of which 13 terms are exact up to rounding for |t| <= log(2) / 2. Of costs that are too
    # large to have a fractional part, t is arbitrary.
    t = minimum(maximum(multiply_add(whole, LOG2, -u), -0.35), 0.35)
    e = splat(SERIES[0])
    for term in SERIES[1:]:
        e = multiply_add(e, t, term)
    if not p.geometric:
        return e, -whole
    near = max(1.0 - abs(i - j) / p.triangle, 0.0)
    return near * e / (2.0 - near * e * power_of_two(-whole)), where(near > 0.0, -whole, -INF)


@kernel
def _accumulate(p, x, w, y, lo, hi, begin, end, work, matrix, costs):
    """Compute the columns [begin, end) of pairs of whole series, and fill in R of the last cells.

    See `accumulated_costs`.
    """
    m, (shares, powers) = w.shape[1], work
    for j in range(begin, end):
        at = lo[j] * REGISTER
        diag, p_diag = load(shares, at), load(powers, at)
        above, p_above = splat(0.0), splat(-INF)  # the boundary, or a cell that has left the band
        scale, shift = splat(1.0), splat(0.0)
        store(shares, at, above)
        store(powers, at, p_above)
        for i in range(lo[j], hi[j]):
            at = (i + 1) * REGISTER
            left, p_left = load(shares, at), load(powers, at)
            here, p_here = _local_kernel(p, x, w, y, i, j)
            top = maximum(p_above, maximum(p_diag, p_left))
            # The diagonal term is added last, so that exchanging the two series changes no digit.
            above = multiply_add(left, power_of_two(p_left - top), above * power_of_two(p_above - top))
            above = multiply_add(diag, power_of_two(p_diag - top), above) * (here * scale)
            p_above = top + (p_here + shift)
            # The next cell scales its own sum by this, so that it need not wait for a scaled one.
            scale = where(above > LARGE, SMALL, where(above < SMALL, LARGE, 1.0))
            shift = where(above > LARGE, 20.0, where(above < SMALL, -20.0, 0.0))
            store(shares, at, above * scale)
            store(powers, at, p_above + shift)
            diag, p_diag = left, p_left
        if matrix.size:
            for i in range(lo[j], hi[j]):
                matrix[j, i] = _cost(shares[(i + 1) * REGISTER], powers[(i + 1) * REGISTER])
    for k in range(costs.shape[0]):
        costs[k] = _cost(shares[m * REGISTER + k], powers[m * REGISTER + k])


def accumulated_costs(p, X, w, Y, lo, hi, matrix=NO_COSTS):
    """Return the accumulated costs R (k,) of at most REGISTER pairs of series.

    The series are `X` (k, channels, m), whose weights are `w` (channels, m), and `Y` (k, channels, n). Points i of X
    and j of Y may be paired for lo[j] <= i < hi[j]. `matrix` (n, m) is filled with the costs of all cells of the first
    pair, unless it is empty.
    """
    m, n, costs = X.shape[2], Y.shape[2], np.empty(len(X))
    work = np.zeros((m + 1) * REGISTER), np.full((m + 1) * REGISTER, -INF)
    work[0][:REGISTER], work[1][:REGISTER] = 1.0, 0.0
    x, y, w = channels_of(_side_by_side(X)), channels_of(_side_by_side(Y)), p.scale * w
    with np.errstate(invalid="ignore"):  # expected, but plain Python would warn
        for begin, end in pieces(n, COST * m):
            _accumulate(p, x, w, y, lo, hi, begin, end, work, matrix, costs)
    return costs


def _side_by_side(series):
    """Return series (k, channels, length) with one in each lane; free lanes repeat the last one."""
    count, channels, length = series.shape
    out = np.empty((channels, length, REGISTER))
    out[..., :count], out[..., count:] = series.transpose(1, 2, 0), series[-1, :, :, np.newaxis]
    return out.reshape(channels, -1)


@inner
def _cost(share, power):
    if share == 0.0:
        return INF
    share, more = math.frexp(share)  # so that equal products, scaled at different cells, have equal logarithms
    return -math.log(share) - (power + more) * LOG2


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

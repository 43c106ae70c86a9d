"""Soft minima over all alignments: one recurrence for soft-DTW and the global alignment kernel.

Both sum products of local kernels over all alignments of two series,

    K_ij = exp(-c_ij) (K_{i-1,j-1} + K_{i-1,j} + K_{i,j-1}),    R_ij = -log K_ij

The result is the accumulated cost R. Soft-DTW divides its costs by gamma, and its value is gamma R. K would under- and
overflow, and R would take three exponentials and a logarithm per cell. So K is stored as share * 2^power, where power
is a separate float. Then a cell takes a few products, and R has no limits.

REGISTER pairs of series are computed side by side, one per lane. Each cell waits for the one before it, so one pair
takes about as long as REGISTER pairs. Series are ``(channels, length * REGISTER)``. The inner loop goes over the points
of the first series of the pairs, the outer loop over those of the second. Matrices are ``(n, m)``.
"""

import math
from typing import NamedTuple

import numpy as np

from .compile import block_size, kernel, pieces, step, stop_if_unwanted
from .simd import REGISTER, channels_of, copy, makers, maximum, minimum, multiply_add, power_of_two, store, where

NONE, NO_COSTS = np.empty((2, 0, 0)), np.empty(0)
ROOM = block_size(2**22, 1)  # most floats that all columns may hold to be kept at once, as one block
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
    # exp(t) by its series, of which 13 terms are exact up to rounding for |t| <= log(2) / 2. For costs that are too
    # large to have a fractional part, t is arbitrary; for infinite ones, the minimum keeps it from being NaN.
    t = minimum(maximum(multiply_add(minimum(whole, 1e308), LOG2, -u), -0.35), 0.35)
    e = splat(SERIES[0])
    for term in SERIES[1:]:
        e = multiply_add(e, t, term)
    if not p.geometric:
        return e, -whole
    near = max(1.0 - abs(i - j) / p.triangle, 0.0)
    return near * e / (2.0 - near * e * power_of_two(-whole)), where(near > 0.0, -whole, -np.inf)


@kernel
def _accumulate(p, x, w, y, lengths, lo, hi, begin, end, work, kept, costs):
    """Compute the columns [begin, end) of pairs of whole series, and fill in R of the last cells among them.

    `kept` is empty, or gets shares and powers of the columns from its second row on. See `accumulated_costs`.
    """
    shares, powers = work
    for j in range(begin, end):
        at = lo[j] * REGISTER
        diag, p_diag = load(shares, at), load(powers, at)
        above, p_above = splat(0.0), splat(-np.inf)  # the boundary, or a cell that has left the band
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
        if kept.size:
            copy(shares, lo[j] * REGISTER, (hi[j] + 1) * REGISTER, kept[0, j - begin + 1], lo[j] * REGISTER)
            copy(powers, lo[j] * REGISTER, (hi[j] + 1) * REGISTER, kept[1, j - begin + 1], lo[j] * REGISTER)
        for k in range(costs.shape[0]):
            if lengths[1, k] == j + 1:
                at = lengths[0, k] * REGISTER + k
                share, more = math.frexp(shares[at])  # so that products scaled at other cells have equal logarithms
                costs[k] = -math.log(share) - (powers[at] + more) * LOG2 if share > 0.0 else np.inf


def accumulated_costs(p, X, w, Y, lo, hi):
    """Return the accumulated costs R (k,) of pairs of series.

    The series are `X` (k, channels, m), whose weights are `w` (channels, m), and `Y` (k, channels, n). Points i of X
    and j of Y may be paired for lo[j] <= i < hi[j]. Series may be shorter than m and n if all of their points may be.
    """
    costs = np.empty(len(X))
    with np.errstate(over="ignore", invalid="ignore"):  # expected, but plain Python would warn
        for some in (slice(at, at + REGISTER) for at in range(0, len(X), REGISTER)):
            pairs, work = _start(p, X[some], w, Y[some])
            m, n = pairs[-1].max(axis=1).tolist()
            for begin, end in pieces(n, COST * m):
                _accumulate(*pairs, lo, np.minimum(hi, m), begin, end, work, NONE, costs[some])
    return costs


def _start(p, X, w, Y):
    """Return pairs of series as kernels read them, and shares and powers (2, ...) of the column before all others."""
    lengths = np.array([[series.shape[1] for series in Z] for Z in (X, Y)])
    work = np.zeros((2, (w.shape[1] + 1) * REGISTER))
    work[0, :REGISTER], work[1, REGISTER:] = 1.0, -np.inf
    x, y = (_side_by_side(Z, of.max()) for Z, of in zip((X, Y), lengths, strict=True))
    return (p, x, p.scale * w, y, lengths), work


def _side_by_side(series, longest):
    """Return series (channels, length) with one in each lane, padded; free lanes hold zeros."""
    out = np.zeros((len(series[0]), longest, REGISTER))
    for k, values in enumerate(series):
        out[:, : values.shape[1], k] = values
    return channels_of(out.reshape(len(out), -1))


def _columns(pairs, cells, begin, end, work, costs=NO_COSTS):
    """Compute the columns [begin, end); return shares and powers (2, columns, ...) of them, after those in `work`."""
    stop_if_unwanted()
    kept = np.zeros((2, 1 + end - begin, work.shape[1]))
    kept[1], kept[:, 0] = -np.inf, work
    _accumulate(*pairs, *cells, begin, end, work, kept, costs)
    return kept


def _blocks(n, work):
    """Return one block of columns, or several of about sqrt(n), so that few columns are kept at a time."""
    size = n if n * work.size <= ROOM else math.isqrt(n)
    return [(begin, min(begin + size, n)) for begin in range(0, n, size)]


def cost_matrix(p, X, w, Y, *cells):
    """Return R of all cells (n, m) of one pair of series; see `accumulated_costs`."""
    (pairs, work), n = _start(p, X, w, Y), Y[0].shape[1]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        blocks = (_columns(pairs, cells, *block, work)[:, 1:, REGISTER::REGISTER] for block in _blocks(n, work))
        return np.concatenate([-np.log(share) - power * LOG2 for share, power in blocks])


@kernel
def _expect(kept, lo, hi, begin, expected):
    """Replace the shares of a block of columns by `expected_alignments`, from the last one back."""
    for b in range(kept.shape[1] - 2, -1, -1):
        j, to_above, to_diag = begin + b, splat(0.0), splat(0.0)
        for i in range(hi[j] - 1, lo[j] - 1, -1):
            at, here = i * REGISTER, (i + 1) * REGISTER
            p_diag, p_above, p_left = load(kept[1, b], at), load(kept[1, b + 1], at), load(kept[1, b], here)
            top = maximum(p_above, maximum(p_diag, p_left))
            diag = load(kept[0, b], at) * power_of_two(p_diag - top)
            above = load(kept[0, b + 1], at) * power_of_two(p_above - top)
            left = load(kept[0, b], here) * power_of_two(p_left - top)
            e, total = load(expected, here) + to_above, (above + left) + diag
            store(kept[0, b + 1], here, e)
            e = where(total > 0.0, e / total, 0.0)
            store(expected, here, e * left + to_diag)
            to_above, to_diag = e * above, e * diag
        store(expected, lo[j] * REGISTER, to_diag)


def expected_alignments(p, X, w, Y, *cells):
    """Return R (k,) of at most REGISTER pairs, and the probabilities (k, n, m) that an alignment passes each cell.

    They are the gradient of R_mn with respect to the c_ij. From the last cell back, each cell distributes its
    probability to its three predecessors in proportion to their K.
    """
    (pairs, work), n, m = _start(p, X, w, Y), Y[0].shape[1], w.shape[1]
    blocks, before, expected = _blocks(n, work), [], np.zeros(work.shape[1])
    expected[m * REGISTER :], costs, out = 1.0, np.empty(len(X)), np.empty((len(X), n, m))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        for block in blocks[:-1]:
            stop_if_unwanted()
            before.append(work.copy())
            _accumulate(*pairs, *cells, *block, work, NONE, NO_COSTS)
        for (begin, end), state in zip(reversed(blocks), [work, *reversed(before)], strict=True):
            kept = _columns(pairs, cells, begin, end, state, costs if end == n else NO_COSTS)
            _expect(kept, *cells, begin, expected)
            out[:, begin:end] = kept[0, 1:, REGISTER:].reshape(-1, m, REGISTER)[..., : len(X)].transpose(2, 0, 1)
    return costs, out

"""The elastic distances of the package: a parameter record and the functions of its recurrence for each.

LCSS and EDR with unit costs also have bit-parallel kernels. Neighboring cells of their cost matrices differ by at most
one, so bits hold the differences, 64 cells of a row per word, and a few word operations advance a row: Hyyro (2004) for
common subsequences, Myers (1999) for edit distances. Vector code finds matching points, 64 at a time, by the rule of
the recurrence.
"""

from operator import attrgetter
from typing import NamedTuple

import numpy as np

from .compile import inner, kernel, pieces
from .dispatch import BoundFacts, by_type, matched_pair, recurrence, terms
from .simd import aligned_zeros, bits, channels_of, makers, maximum, minimum, multiply_add, sqrt, take, where, with_cost


# ------------------------------------------------------------------------------------------------------------- norms
class L1(NamedTuple):
    """Sum of absolute differences; also any norm if there is one channel."""


class L2(NamedTuple):
    """Euclidean norm."""


class Lp(NamedTuple):
    """The p-norm."""

    p: float


_POWERS = {L1: lambda norm, v: v, L2: lambda norm, v: v * v, Lp: lambda norm, v: v**norm.p}
_ROOTS = {L1: lambda norm, s: s, L2: lambda norm, s: sqrt(s), Lp: lambda norm, s: s ** (1.0 / norm.p)}


power = by_type(lambda name, norm: _POWERS.get(norm), "power")
root = by_type(lambda name, norm: _ROOTS.get(norm), "root")


def _unit(p, total, step):
    return 1.0


def _within(p, a):
    return root(p.norm, a) <= p.eps


def _maximum(p, total, cost):
    return maximum(total, cost)


def _squares(p, row, y, y_before):
    x, _, w, _ = row
    d = x - y
    return w * d * d, 0.0, 0.0


def _add_squares(p, sums, row, y, y_before):
    x, _, w, _ = row
    d = x - y
    return multiply_add(w * d, d, sums[0]), 0.0, 0.0


def _norms(p, row, y, y_before):
    x, _, w, _ = row
    return power(p.norm, abs(w * (x - y))), 0.0, 0.0


# --------------------------------------------------------------------------------------------------- the recurrences
def _dtw(p, point_costs, lag_cost, a, b, c, gap):
    return a, a, a


@recurrence(
    terms=_squares,
    add_terms=_add_squares,
    moves=_dtw,
    equal_moves=True,
    monotone=True,
    bounds=BoundFacts(squares=True),
)
class DTWRecord(NamedTuple):
    """Dynamic time warping (Sakoe & Chiba 1978): every move costs the ground cost of the cell it enters."""


def _adtw(p, point_costs, lag_cost, a, b, c, gap):
    return a, a + p.omega, a + p.omega


@recurrence(
    terms=_squares,
    add_terms=_add_squares,
    moves=_adtw,
    equal_stretches=True,
    monotone=True,
    bounds=BoundFacts(stretch=attrgetter("omega"), squares=True),
)
class ADTWRecord(NamedTuple):
    """Amerced dynamic time warping (Herrmann & Webb 2023): moves that are not diagonal cost `omega` more."""

    omega: float


def _wdtw_lag_cost(p, lag, lag_before):
    return take(p.factors, lag)


def _wdtw(p, point_costs, lag_cost, a, b, c, gap):
    cost = lag_cost, a
    return cost, cost, cost


def _add_product(p, total, cost):
    return with_cost(total, cost)


@recurrence(
    terms=_squares,
    add_terms=_add_squares,
    moves=_wdtw,
    lag_cost=_wdtw_lag_cost,
    accumulate=_add_product,
    equal_moves=True,
    monotone=True,
    bounds=True,
)
class WDTWRecord(NamedTuple):
    """Weighted dynamic time warping (Jeong et al. 2011); `factors[lag]` multiplies the cost, for a lag in samples."""

    factors: np.ndarray


def _frechet(p, point_costs, lag_cost, a, b, c, gap):
    d = root(p.norm, a)
    return d, d, d


@recurrence(terms=_norms, moves=_frechet, accumulate=_maximum, monotone=True, bounds=True)
class FrechetRecord(NamedTuple):
    """Discrete Frechet distance (Eiter & Mannila 1994): maximum, not sum, of the distances along a path."""

    norm: NamedTuple


def _edit(p, point_costs, lag_cost, a, b, c, gap):
    return where(root(p.norm, a) <= p.eps, point_costs[1], point_costs[2]), point_costs[0], gap


@recurrence(
    terms=_norms,
    moves=_edit,
    gap=_unit,
    closed_boundary=False,
    pairs=_within,
    monotone=True,
    bounds=BoundFacts(skips=True),
)
class EditRecord(NamedTuple):
    """Edit distances with a threshold `eps` for matches: LCSS (Vlachos et al. 2002) and EDR (Chen et al. 2005).

    A query point has three costs: if it is skipped, if it matches, and if it is paired with another point.
    """

    norm: NamedTuple
    eps: float


def _erp(p, point_costs, lag_cost, a, b, c, gap):
    return root(p.norm, a), point_costs[0], gap


def _erp_gap_terms(p, y, y_before):
    return power(p.norm, abs(y - p.g))


def _erp_gap(p, total, step):
    return root(p.norm, total)


@recurrence(
    terms=_norms,
    moves=_erp,
    gap_terms=_erp_gap_terms,
    gap=_erp_gap,
    closed_boundary=False,
    monotone=True,
    bounds=BoundFacts(skips=True, gap_value=attrgetter("g")),
)
class ERPRecord(NamedTuple):
    """Edit distance with real penalty (Chen & Ng 2004): a skipped point costs its distance from `g`."""

    norm: NamedTuple
    g: float


def _msm_row(p, x, x_before, w, w_before):
    step = x - x_before
    return x, minimum(w, w_before) * abs(step), w, where(step < 0.0, -1.0, 1.0)


def _msm_terms(p, row, y, y_before):
    # A split or merge costs c if the point is between its neighbor and its partner. Otherwise both are on one side of
    # it, and the distance to the nearer one is added.
    x, step, w, direction = row
    d, y_step = w * (x - y), y - y_before
    # The maximum of the sum with c, because that of the rest with zero takes two instructions for small registers.
    up = maximum(p.c + minimum(step, direction * d), p.c)
    left = maximum(p.c + minimum(abs(y_step), where(y_step < 0.0, 1.0, -1.0) * d), p.c)
    return abs(d), up, left


def _msm(p, point_costs, lag_cost, a, b, c, gap):
    return a, b, c


@recurrence(
    terms=_msm_terms,
    moves=_msm,
    row=_msm_row,
    size=3,
    monotone=True,
    bounds=BoundFacts(skips=True, minimum_gap=attrgetter("c")),
)
class MSMRecord(NamedTuple):
    """Move-split-merge (Stefan, Athitsos & Das 2013); a row holds value, weighted step, weight, and step direction."""

    c: float


def _twed_terms(p, row, y, y_before):
    x, x_before, w, w_before = row
    before = power(p.norm, abs(w_before * (x_before - y_before)))
    return power(p.norm, abs(w * (x - y))), before, 0.0


def _twed_lag_cost(p, lag, lag_before):
    return p.nu * (lag + lag_before)


def _twed(p, point_costs, lag_cost, a, b, c, gap):
    return root(p.norm, a) + root(p.norm, b) + lag_cost, point_costs[0], gap


def _twed_gap_terms(p, y, y_before):
    return power(p.norm, abs(y - y_before))


def _twed_gap(p, total, step):
    return root(p.norm, total) + p.nu * step + p.lmbda


@recurrence(
    terms=_twed_terms,
    moves=_twed,
    lag_cost=_twed_lag_cost,
    size=2,
    gap_terms=_twed_gap_terms,
    gap=_twed_gap,
    monotone=True,
    bounds=BoundFacts(skips=True),
)
class TWEDRecord(NamedTuple):
    """Time warp edit distance (Marteau 2009)."""

    norm: NamedTuple
    nu: float
    lmbda: float


WORD = 64
COST = 16  # time of a word relative to a cell of another recurrence
ONE, NONE, ALL = np.uint64(1), np.uint64(0), np.uint64(2**64 - 1)
TOP = np.uint64(WORD - 1)

load, _, _ = makers(WORD, fused=False)


@inner
def _matches(p, rows, i, y, j):
    """Return a word whose bits say which of the 64 series points from j on match query point i."""
    row = rows[0, 0, i], rows[0, 1, i], rows[0, 2, i], rows[0, 3, i]
    a = terms(p, row, load(y[0], j), 0.0)[0]
    for k in range(1, len(y)):
        row = rows[k, 0, i], rows[k, 1, i], rows[k, 2, i], rows[k, 3, i]
        a = a + terms(p, row, load(y[k], j), 0.0)[0]
    return bits(matched_pair(p, a))


@inner
def _indels(p, rows, m, y, start, n, begin, end, words, before):
    """Process query points [begin, end) of a longest common subsequence; return the LCSS cost if `end` is m.

    The cost is the number of points of both series that are not in the subsequence.
    """
    size = -(-n // WORD)
    if begin == 0:
        for k in range(size):
            words[0, k] = ALL
    for i in range(begin, end):
        carry = NONE
        for k in range(size):
            old = words[0, k]
            both = old & _matches(p, rows, i, y, start + k * WORD)
            total = old + both
            over = ONE if total < old else NONE
            total += carry
            carry = over | (ONE if total < carry else NONE)
            words[0, k] = total | (old & ~both)
    common = 0
    for j in range(n if end == m else 0):
        if (words[0, j // WORD] >> np.uint64(j % WORD)) & ONE == NONE:
            common += 1
    return m + n - 2 * common


@inner
def _edits(p, rows, m, y, start, n, begin, end, words, before):
    """Process query points [begin, end) of an edit distance; return the cost of the first `end` query points.

    The cost is the number of points to insert, delete or replace. `before` is that of the first `begin` query points.
    """
    size = -(-n // WORD)
    if begin == 0:
        for k in range(size):
            words[0, k], words[1, k] = ALL, NONE  # whether cells rise, and whether they fall, along the series
    count, last = n if begin == 0 else int(before), np.uint64((n - 1) % WORD)
    for i in range(begin, end):
        rises, falls = ONE, NONE  # from the row before, left of the word
        for k in range(size):
            up, down = words[0, k], words[1, k]
            equal = _matches(p, rows, i, y, start + k * WORD)
            vertical = equal | down
            equal |= falls
            horizontal = (((equal & up) + up) ^ up) | equal
            more, less = down | ~(horizontal | up), up & horizontal
            at = last if k == size - 1 else TOP
            more_out, less_out = (more >> at) & ONE, (less >> at) & ONE
            more, less = (more << ONE) | rises, (less << ONE) | falls
            words[0, k], words[1, k] = less | ~(vertical | more), more & vertical
            rises, falls = more_out, less_out
        if rises != NONE:
            count += 1
        elif falls != NONE:
            count -= 1
    return count


@kernel
def _accumulate(p, rows, m, series, from_on, replaces, begin, end, words, out):
    """Process query points [begin, end), which are numbered over all pairs of a query and a series."""
    y, begins, lengths = series
    for pair in range(begin // m, -(-end // m)):
        q, b = pair // len(lengths), pair % len(lengths)
        if b < from_on[q]:
            continue
        first, last = max(begin - pair * m, 0), min(end - pair * m, m)
        if replaces:
            out[q, b] = _edits(p, rows[q], m, y, begins[b], lengths[b], first, last, words, out[q, b])
        else:
            out[q, b] = _indels(p, rows[q], m, y, begins[b], lengths[b], first, last, words, out[q, b])


def accumulated_costs(p, rows, m, series, from_on, replaces, out):
    """Fill `out` (n_queries, n_series) with the costs of queries (n_queries, channels, 4, >= m) and series.

    The series are those of `padded`. Query q is compared with the series from `from_on[q]` on. `replaces`: whether
    replacing a point costs 1, as in EDR, or 2, as in LCSS.
    """
    words = np.empty((2, -(-int(series[2].max()) // WORD)), np.uint64)
    with np.errstate(over="ignore"):  # words overflow on purpose, and plain Python says so
        for begin, end in pieces(out.size * m, COST * words.shape[1]):
            _accumulate(p, rows, m, series, from_on, replaces, begin, end, words, out)


def padded(series):
    """Concatenate series (channels, n), each padded to whole words; return them with their starts and lengths.

    The layout is that of `channels_of`.
    """
    lengths = np.array([y.shape[1] for y in series])
    sizes = lengths + -lengths % WORD
    begins, out = np.cumsum(sizes) - sizes, aligned_zeros(len(series[0]), sizes.sum())
    for y, begin in zip(series, begins, strict=True):
        out[:, begin : begin + y.shape[1]] = y
    return channels_of(out), begins, lengths

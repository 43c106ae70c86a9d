"""The elastic distances of the package: for each a parameter record and the functions of its recurrence."""

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from .dispatch import recurrence
from .simd import larger, root2, smaller, take, where


# ------------------------------------------------------------------------------------------------------------- norms
class L1(NamedTuple):
    """Sum of absolute differences; also every norm of one channel."""


class L2(NamedTuple):
    """Euclidean norm."""


class Lp(NamedTuple):
    """The norm of exponent p."""

    p: float


_POWERS = {L1: lambda norm, v: v, L2: lambda norm, v: v * v, Lp: lambda norm, v: v**norm.p}
_ROOTS = {L1: lambda norm, s: s, L2: lambda norm, s: root2(s), Lp: lambda norm, s: s ** (1.0 / norm.p)}


def power(norm, v):
    return _POWERS[type(norm)](norm, v)


@overload(power)
def _overload_power(norm, v):
    return _POWERS.get(getattr(norm, "instance_class", None))


def root(norm, s):
    return _ROOTS[type(norm)](norm, s)


@overload(root)
def _overload_root(norm, s):
    return _ROOTS.get(getattr(norm, "instance_class", None))


def _unit(p, total, step):
    return 1.0


def _within(p, a):
    return root(p.norm, a) <= p.eps


def _larger(p, total, cost):
    return larger(total, cost)


def _squares(p, row, y, y_before):
    x, _, w, _ = row
    d = x - y
    return w * d * d, 0.0, 0.0


def _norms(p, row, y, y_before):
    x, _, w, _ = row
    return power(p.norm, abs(w * (x - y))), 0.0, 0.0


# --------------------------------------------------------------------------------------------------- the recurrences
def _dtw(p, at, late, a, b, c, gap):
    return a, a, a


@recurrence(terms=_squares, moves=_dtw, even=True, monotone=True)
class DTWRecord(NamedTuple):
    """Dynamic time warping (Sakoe & Chiba 1978): every move costs the ground cost of the cell it enters."""


def _adtw(p, at, late, a, b, c, gap):
    return a, a + p.omega, a + p.omega


@recurrence(terms=_squares, moves=_adtw, monotone=True)
class ADTWRecord(NamedTuple):
    """Amerced dynamic time warping (Herrmann & Webb 2023): `omega` for every move that stretches."""

    omega: float


def _wdtw_by_lag(p, lag, lag_before):
    return take(p.factors, lag)


def _wdtw(p, at, late, a, b, c, gap):
    cost = late * a
    return cost, cost, cost


@recurrence(terms=_squares, moves=_wdtw, by_lag=_wdtw_by_lag, even=True, monotone=True)
class WDTWRecord(NamedTuple):
    """Weighted dynamic time warping (Jeong et al. 2011); `factors` by the lag of the points in samples."""

    factors: np.ndarray


def _frechet(p, at, late, a, b, c, gap):
    d = root(p.norm, a)
    return d, d, d


@recurrence(terms=_norms, moves=_frechet, join=_larger, monotone=True)
class FrechetRecord(NamedTuple):
    """Discrete Frechet distance (Eiter & Mannila 1994): the longest leash, not the sum."""

    norm: NamedTuple


def _edit(p, at, late, a, b, c, gap):
    return where(root(p.norm, a) <= p.eps, at[1], at[2]), at[0], gap


@recurrence(terms=_norms, moves=_edit, gap=_unit, closed=False, pairs=_within, monotone=True)
class EditRecord(NamedTuple):
    """Edit distances by a threshold: LCSS (Vlachos et al. 2002) and EDR (Chen et al. 2005).

    A query point costs something if it is left out, if it is matched and if it meets a point that does not match.
    """

    norm: NamedTuple
    eps: float


def _erp(p, at, late, a, b, c, gap):
    return root(p.norm, a), at[0], gap


def _erp_gap_terms(p, y, y_before):
    return power(p.norm, abs(y - p.g))


def _erp_gap(p, total, step):
    return root(p.norm, total)


@recurrence(terms=_norms, moves=_erp, gap_terms=_erp_gap_terms, gap=_erp_gap, closed=False, monotone=True)
class ERPRecord(NamedTuple):
    """Edit distance with real penalty (Chen & Ng 2004): a point left out costs its distance from `g`."""

    norm: NamedTuple
    g: float


def _msm_row(p, x, x_before, w, w_before):
    step = x - x_before
    return x, smaller(w, w_before) * abs(step), w, where(step < 0.0, -1.0, 1.0)


def _msm_terms(p, row, y, y_before):
    # A point split off or merged costs c, and more where it does not lie between its neighbour and its partner: then
    # both are on one side of it, and the nearer one counts.
    x, step, w, direction = row
    d, y_step = w * (x - y), y - y_before
    up = p.c + larger(smaller(step, direction * d), 0.0)
    left = p.c + larger(smaller(abs(y_step), where(y_step < 0.0, 1.0, -1.0) * d), 0.0)
    return abs(d), up, left


def _msm(p, at, late, a, b, c, gap):
    return a, b, c


@recurrence(terms=_msm_terms, moves=_msm, row=_msm_row, size=3, monotone=True)
class MSMRecord(NamedTuple):
    """Move-split-merge (Stefan, Athitsos & Das 2013); rows hold value, weighted step, weight, and direction."""

    c: float


def _twed_terms(p, row, y, y_before):
    x, x_before, w, w_before = row
    before = power(p.norm, abs(w_before * (x_before - y_before)))
    return power(p.norm, abs(w * (x - y))), before, 0.0


def _twed_by_lag(p, lag, lag_before):
    return p.nu * (lag + lag_before)


def _twed(p, at, late, a, b, c, gap):
    return root(p.norm, a) + root(p.norm, b) + late, at[0], gap


def _twed_gap_terms(p, y, y_before):
    return power(p.norm, abs(y - y_before))


def _twed_gap(p, total, step):
    return root(p.norm, total) + p.nu * step + p.lmbda


@recurrence(
    terms=_twed_terms,
    moves=_twed,
    by_lag=_twed_by_lag,
    size=2,
    gap_terms=_twed_gap_terms,
    gap=_twed_gap,
    monotone=True,
)
class TWEDRecord(NamedTuple):
    """Time warp edit distance (Marteau 2009)."""

    norm: NamedTuple
    nu: float
    lmbda: float

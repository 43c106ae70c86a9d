"""Elastic distances for numba: every recurrence once, every driver once.

A distance is a parameter record (a NamedTuple) with small functions: what a pair of points adds per channel (`terms`),
the costs of the three moves made from the sums (`moves`), and the price of leaving a series point unmatched (`gap`).
``numba.extending.overload`` picks them by the record's type while compiling, so they are inlined and the compiled
driver stays in numba's disk cache.

Recurrences and drivers share this file on purpose: the cache is keyed on the bytes of the file that holds the
driver, so a recurrence kept elsewhere could change without the cached drivers noticing.

Layout: a series is ``(channels, length)``, accumulated costs run over the query inside and over the series outside,
so that a driver keeps one column of ``m + 1`` costs whatever the length of the series.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload

from ._vector import cheaper, copy, fill, larger, root2, smaller, take, where

INF = np.inf
# Stand-ins where nothing is to be recorded: of the same type as what would be, so that a driver is compiled once.
NO_MOVES = np.empty((0, 0), np.uint8)
NO_COSTS = np.empty((0, 0))

# ------------------------------------------------------------------------------------------------ dispatch by type
_PARTS = {}


def recurrence(
    *,
    terms,
    moves,
    row=None,
    size=1,
    by_lag=None,
    gap_terms=None,
    gap=None,
    closed=True,
    pairs=None,
    join=None,
    even=False,
    monotone=False,
):
    """Give a NamedTuple of parameters the functions that make it an elastic distance (class decorator).

    All take floats and vectors of floats alike: they are made of the operators, `abs` and the functions of
    `sktslib.distances.elementwise`, without ``if``. Their arguments have the names below; `p` is the record.

    Parameters
    ----------
    terms : callable ``(p, row, y, y_before) -> (a, b, c)``
        What one channel adds to up to `size` sums. `row` holds four numbers of the query point: its value, that of the
        point before, its weight and that of the point before; before the first point all are 0.
    moves : callable ``(p, at, late, a, b, c, gap) -> (diagonal, query, series)``
        Costs of the three moves into a cell. `at` holds the three costs of the query point: if it is left out, if it is
        matched, if it meets a point that does not match. `late` is what `by_lag` gave, `gap` what `gap` gave.
    row : callable ``(p, x, x_before, w, w_before) -> (four numbers)``, optional
        What stands in that row instead, made once for all cells of a query point; the third must be the weight.
    size : int, default=1
        How many of the three sums are used.
    by_lag : callable ``(p, lag, lag_before) -> float``, optional
        What the moves need of the time lags of a pair of points and of the points before them; for closed borders.
    gap_terms, gap : callables ``(p, y, y_before) -> float`` and ``(p, total, step) -> float``, optional
        The price of leaving a series point unmatched: what a channel adds, and what becomes of the sum, `step` being
        the time since the point before.
    closed : bool, default=True
        Whether a path begins with a diagonal move, the border being infinite.
    pairs : callable ``(p, a) -> bool``, optional
        Whether two points match, for distances with an open border: they may skip points, so that a candidate of a
        search could be made of skipped points alone.
    join : callable ``(p, total, cost) -> float``, optional
        How a cost joins what was accumulated; a sum by default.
    even : bool, default=False
        Whether the three moves cost the same, so that the best way into a cell can be chosen before the cost joins: it
        comes from the cell that costs least.
    monotone : bool, default=False
        Whether costs never fall along a path: none is negative, and `join` gives no less than was accumulated. Then
        searches and neighbours leave out what cannot matter, and kernels compare costs in a faster way. Where it does
        not hold, results are wrong.

    Returns
    -------
    callable
        The decorator; it returns the class as it is. Pass that to `register_metric`.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from sktslib.distances import recurrence, register_metric
    >>> def terms(p, row, y, y_before):
    ...     x, x_before, w, w_before = row
    ...     return w * abs(x - y), 0.0, 0.0
    >>> def moves(p, at, late, a, b, c, gap):
    ...     return a, a, a
    >>> @recurrence(terms=terms, moves=moves, even=True)
    ... class Absolute(NamedTuple):
    ...     pass
    >>> register_metric("absolute", Absolute, symmetric=True)()([0, 1, 2], [0, 0, 4])
    3.0
    """
    with_lags = by_lag not in (None, _timeless)
    if with_lags and not closed:
        raise ValueError(
            "The 'by_lag' parameter must be None where 'closed' is False: the points before the first have no lag. Got "
            f"{by_lag!r}. Leave it out, or close the border."
        )

    def register(record):
        _PARTS[record] = {
            "terms": terms,
            "moves": moves,
            "row": row or _as_they_are,
            "by_lag": by_lag or _timeless,
            "gap_terms": gap_terms or _nothing,
            "gap": gap or _free,
            "pairs": pairs or _always,
            "join": join or _add,
            "least": cheaper if monotone else smaller,
            "size": size,
            "closed": closed,
            "even": even,
            "even_in_search": even and not with_lags,  # in a search each way in brings lags of its own
            "lagged": with_lags,
            "charged": gap not in (None, _free),
            "monotone": monotone,
        }
        return record

    return register


def _part(name, record):
    entry = _PARTS.get(record)
    return None if entry is None else entry[name]


def _fact(name):
    """A function of the record that gives what was said of its recurrence; compiled code knows it beforehand."""

    def fact(p):
        return _part(name, type(p))

    @overload(fact)
    def build(p):
        value = _part(name, p.instance_class)
        return lambda p: value

    return fact


closed_border, n_sums, even = _fact("closed"), _fact("size"), _fact("even")
even_in_search, lagged, charged = _fact("even_in_search"), _fact("lagged"), _fact("charged")


def terms(p, row, y, y_before):
    return _part("terms", type(p))(p, row, y, y_before)


@overload(terms)
def _overload_terms(p, row, y, y_before):
    return _part("terms", p.instance_class)


def late(p, lag, lag_before):
    return _part("by_lag", type(p))(p, lag, lag_before)


@overload(late)
def _overload_late(p, lag, lag_before):
    return _part("by_lag", p.instance_class)


def row(p, x, x_before, w, w_before):
    return _part("row", type(p))(p, x, x_before, w, w_before)


@overload(row)
def _overload_row(p, x, x_before, w, w_before):
    return _part("row", p.instance_class)


def moves(p, at, late, a, b, c, gap):
    return _part("moves", type(p))(p, at, late, a, b, c, gap)


@overload(moves)
def _overload_moves(p, at, late, a, b, c, gap):
    return _part("moves", p.instance_class)


def gap_terms(p, y, y_before):
    return _part("gap_terms", type(p))(p, y, y_before)


@overload(gap_terms)
def _overload_gap_terms(p, y, y_before):
    return _part("gap_terms", p.instance_class)


def gap(p, total, step):
    return _part("gap", type(p))(p, total, step)


@overload(gap)
def _overload_gap(p, total, step):
    return _part("gap", p.instance_class)


def matched_pair(p, a):
    return _part("pairs", type(p))(p, a)


@overload(matched_pair)
def _overload_pairs(p, a):
    return _part("pairs", p.instance_class)


def join(p, total, cost):
    return _part("join", type(p))(p, total, cost)


@overload(join)
def _overload_join(p, total, cost):
    return _part("join", p.instance_class)


def least(p, a, b):
    """The smaller of two accumulated costs."""
    return _part("least", type(p))(a, b)


@overload(least, jit_options={"forceinline": True})
def _overload_least(p, a, b):
    smaller_one = _part("least", p.instance_class)
    return lambda p, a, b: smaller_one(a, b)


# ----------------------------------------------------------------------------------------------------- shared parts
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


def _as_they_are(p, x, x_before, w, w_before):
    return x, x_before, w, w_before


def _timeless(p, lag, lag_before):
    return 0.0


def _nothing(p, y, y_before):
    return 0.0


def _free(p, total, step):
    return 0.0


def _unit(p, total, step):
    return 1.0


def _always(p, a):
    return True


def _within(p, a):
    return root(p.norm, a) <= p.eps


def _add(p, total, cost):
    return total + cost


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


@recurrence(terms=_norms, moves=_frechet, join=_larger, even=True, monotone=True)
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


# ---------------------------------------------------------------------------------------------------------- the query
@njit
def fill_rows(p, x, w, out):
    """What the recurrence takes of each query point, (channels, 4, m); without weights (None) they are all 1."""
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            x_before = x[k, i - 1] if i > 0 else 0.0
            weight, before = 1.0, 1.0 if i > 0 else 0.0
            if w is not None:
                weight, before = w[k, i], w[k, i - 1] if i > 0 else 0.0
            out[k, 0, i], out[k, 1, i], out[k, 2, i], out[k, 3, i] = row(p, x[k, i], x_before, weight, before)


@njit(cache=True)
def rows_of(p, x, w):
    """The same of weighted queries (count, channels, m)."""
    out = np.empty((x.shape[0], x.shape[1], 4, x.shape[2]))
    for q in range(x.shape[0]):
        fill_rows(p, x[q], w[q], out[q])
    return out


def has_weights(record, rows):
    """None where all weights of the query's `rows` (..., 4, m) are 1 and kernels need not multiply by them, else True.

    Only where a cell takes few steps else is that worth a second compilation.
    """
    return None if even(record) and (rows[..., 2, :] == 1.0).all() else True


def weighting(p, w):
    """The same where missing weights are None."""
    return None if even(p) and w is None else True


@overload(weighting)
def _overload_weighting(p, w):
    value = None if _part("even", p.instance_class) and w == types.none else True
    return lambda p, w: value


# --------------------------------------------------------------------------------------------------------- one column
@njit(cache=True)
def series_gap(p, y, ty, j):
    """The price of leaving point j of the series unmatched."""
    total = 0.0
    for k in range(y.shape[0]):
        total += gap_terms(p, y[k, j], y[k, j - 1] if j > 0 else 0.0)
    step = 1.0 if ty is None or j == 0 else ty[j] - ty[j - 1]
    return gap(p, total, step)


@njit(cache=True)
def _ground_column(p, rows, y, j, lo, hi, ground):
    """ground[:, lo:hi] = the sums over channels of the terms of the query's points with point j of the series."""
    a, b, c = ground[0], ground[1], ground[2]
    if rows is None:  # y holds local costs already, (n, m)
        for i in range(lo, hi):
            a[i] = y[j, i]
        return
    for k in range(rows.shape[0]):
        v, v_before = y[k, j], (y[k, j - 1] if j > 0 else 0.0)
        r0, r1, r2, r3 = rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3]
        for i in range(lo, hi):
            t = terms(p, (r0[i], r1[i], r2[i], r3[i]), v, v_before)
            a[i] = t[0] if k == 0 else a[i] + t[0]
            if n_sums(p) > 1:
                b[i] = t[1] if k == 0 else b[i] + t[1]
            if n_sums(p) > 2:
                c[i] = t[2] if k == 0 else c[i] + t[2]


@njit(cache=True)
def _begin(start):
    """The sample at which a path begins; a carried start of ~sample says that the path has no matched pair yet."""
    return start if start >= 0 else ~start


@njit(cache=True)
def _lags(tx, ty, i, j, begin):
    """Time lag of query point i and series point j of a candidate that starts at `begin`, and of the points before."""
    begin = min(begin, j)  # a path of skipped query points alone begins behind j; it has no lag
    if tx is None:
        lag = float(abs(i - (j - begin)))
        return lag, (lag if i > 0 else 0.0)
    lag = abs(tx[i] - (ty[j] - ty[begin]))
    return lag, (abs(tx[i - 1] - (ty[j - 1] - ty[begin])) if i > 0 else 0.0)


@njit(cache=True)
def _lags_fixed(tx, ty, i, j):
    """The same for two whole series; the point before the first lies at time 0."""
    if tx is None:
        lag = float(abs(i - j))
        return lag, (lag if i > 0 and j > 0 else 0.0)
    before = abs((tx[i - 1] if i > 0 else 0.0) - (ty[j - 1] if j > 0 else 0.0))
    return abs(tx[i] - ty[j]), before


@njit(cache=True)
def _advance(p, rows, points, y, tx, ty, j, at, lo, hi, radius, top, col, start, ground, taken):
    """Move the column of accumulated costs from point j - 1 to point j of `y` (sample `at` of the whole series).

    `col[0]` is the border of the old column and becomes `top`. With `start` (not None) each cell carries the sample
    at which its path began, and lags count from there. `taken[j, i]` records the move: 0 diagonal, 1 query, 2 series;
    an empty one does not.
    """
    _ground_column(p, rows, y, j, lo, hi, ground)
    price = 0.0 if rows is None else series_gap(p, y, ty, j)
    diag = col[lo]
    above = INF if (lo > 0 or closed_border(p)) else top
    col[lo] = top if lo == 0 else INF
    s_diag = s_left = s_above = 0
    if start is not None:
        s_diag = start[lo]
        s_above = at + 1 if closed_border(p) else ~(at + 1)
        start[0] = s_above
    for i in range(lo, hi):
        left = col[i + 1]
        a, b, c = ground[0, i], ground[1, i], ground[2, i]
        here = points[0, i], points[1, i], points[2, i]
        by_both, by_query, by_series = diag, above, left
        if start is None:
            lag, lag_before = _lags_fixed(tx, ty, i, j)
            d, u, v = moves(p, here, late(p, lag, lag_before), a, b, c, price)
        else:
            # Each predecessor brings the start of its own path, and with it its own lag.
            s_left = start[i + 1]
            b_diag, b_above, b_left = _begin(s_diag), _begin(s_above), _begin(s_left)
            lag, lag_before = _lags(tx, ty, i, j, b_diag - at + j)
            d = moves(p, here, late(p, lag, lag_before), a, b, c, price)[0]
            lag, lag_before = _lags(tx, ty, i, j, b_above - at + j)
            u = moves(p, here, late(p, lag, lag_before), a, b, c, price)[1]
            lag, lag_before = _lags(tx, ty, i, j, b_left - at + j)
            v = moves(p, here, late(p, lag, lag_before), a, b, c, price)[2]
            if radius is not None:  # infinite costs stay so under a sum and under a maximum
                if abs(i - (at - b_diag)) > radius:
                    by_both = INF
                if abs(i - (at - b_above)) > radius:
                    by_query = INF
                if abs(i - (at - b_left)) > radius:
                    by_series = INF
            if not closed_border(p) and matched_pair(p, a):
                s_diag = b_diag
        alike = even(p) if start is None else even_in_search(p)
        if not alike:
            by_both, by_query, by_series = join(p, by_both, d), join(p, by_query, u), join(p, by_series, v)
        best, move, s = by_both, 0, s_diag
        if by_query < best:
            best, move, s = by_query, 1, s_above
        if by_series < best:
            best, move, s = by_series, 2, s_left
        best = join(p, best, d) if alike else best
        diag, above = left, best
        col[i + 1] = best
        if start is not None:
            s_diag, s_above = s_left, s
            start[i + 1] = s
        if taken.size:
            taken[j, i] = move


# ------------------------------------------------------------------------------------------------------------ drivers
@njit(cache=True)
def series_gaps(p, y, ty):
    """The prices of leaving the points of the series unmatched (n,)."""
    out = np.empty(y.shape[1])
    for j in range(out.shape[0]):
        out[j] = series_gap(p, y, ty, j)
    return out


@njit(cache=True)
def borders(p, points, y, ty, n, begin, start):
    """Costs (n + 1) along the series and (m + 1) along the query before any pair of points.

    So many points may be left out at the query's begin and at the series' begin.
    """
    top, side = np.full(n + 1, INF), np.full(points.shape[1] + 1, INF)
    fill(top, 0, start + 1, 0.0)
    fill(side, 0, begin + 1, 0.0)
    if not closed_border(p):
        for i in range(points.shape[1]):
            side[i + 1] = side[i] + points[0, i]
        for j in range(n):
            top[j + 1] = top[j] + series_gap(p, y, ty, j)
    return top, side


@njit(cache=True, nogil=True)
def accumulate(p, rows, points, y, tx, ty, lo, hi, top, side, matrix, taken):
    """Accumulated costs of two whole series; the cell (i, j) of query and series exists for lo[j] <= i < hi[j].

    `top` (n + 1) and `side` (m + 1) are the borders. Returns the last row (n) and the last column (m + 1); fills
    `matrix` and `taken` (n, m) unless they are empty. Memory without them: O(m + n).
    """
    n, m = top.shape[0] - 1, side.shape[0] - 1
    col, bottom = side.copy(), np.full(n, INF)
    ground = np.zeros((3, m))
    for j in range(n):
        if j > 0:
            fill(col, hi[j - 1] + 1, hi[j] + 1, INF)  # cells that enter the band now still hold the border of column 0
        _advance(p, rows, points, y, tx, ty, j, j, lo[j], hi[j], None, top[j + 1], col, None, ground, taken)
        if matrix.size:
            for i in range(lo[j], hi[j]):
                matrix[j, i] = col[i + 1]
        if hi[j] == m:
            bottom[j] = col[m]
    fill(col, 1, lo[n - 1] + 1, INF)  # cells that left the band still hold older columns
    return bottom, col


@njit(cache=True)
def backtrack(taken, i, j):
    """The path that ends in the cell of query point i and series point j, as an array (2, K), and its moves (K,)."""
    path, steps = np.empty((2, i + j + 1), np.intp), np.empty(i + j + 1, np.uint8)
    k = path.shape[1]
    while i >= 0 and j >= 0:
        k -= 1
        path[0, k], path[1, k] = i, j
        move = taken[j, i]
        steps[k] = move
        if move != 2:
            i -= 1
        if move != 1:
            j -= 1
    return path[:, k:].copy(), steps[k:]


@njit(cache=True, nogil=True)
def warped(
    p, rows, points, y, tx, ty, first, offset, radius, shortest, longest, col, start, ground, distance, begin, matrix
):
    """Warped profile: the cost of the best candidate that ends at each point of the series, and where it starts.

    Goes on from the state `col, start` and leaves it ready for the next chunk: column `first` of `y` is sample
    `offset` of the sequence. Candidates shorter than `shortest` or longer than `longest` are none (inf, -1).
    """
    m = col.shape[0] - 1
    n = distance.shape[0]
    nothing = np.empty((0, 0), np.uint8)
    for k in range(n):
        at = offset + k
        _advance(p, rows, points, y, tx, ty, first + k, at, 0, m, radius, 0.0, col, start, ground, nothing)
        length = at + 1 - start[m]
        if col[m] < INF and start[m] >= 0 and length >= shortest and length <= longest:
            distance[k], begin[k] = col[m], start[m]
        else:
            distance[k], begin[k] = INF, -1
        if matrix.size:
            copy(col, 1, m + 1, matrix[k], 0)


@njit
def fill_costs(dist, x, y, out):
    """out[j, i] = dist(x[i], y[j])."""
    for j in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[j, i] = dist(x[i], y[j])

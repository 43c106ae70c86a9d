"""Elastic distances for numba: every recurrence once, every driver once.

A distance is a parameter record (a NamedTuple) with three small functions: the ground cost of two points, the
cost of the three moves, and the price of leaving a series point unmatched. ``numba.extending.overload`` picks
them by the record's type while compiling, so they are inlined and the compiled driver stays in numba's disk cache.

Recurrences and drivers share this file on purpose: the cache is keyed on the bytes of the file that holds the
driver, so a recurrence kept elsewhere could change without the cached drivers noticing.

Layout: a series is ``(channels, length)``, accumulated costs run over the query inside and over the series outside,
so that a driver keeps one column of ``m + 1`` costs whatever the length of the series.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload

INF = np.inf

# ------------------------------------------------------------------------------------------------ dispatch by type
_RECURRENCES = {}


def recurrence(*, term, finish, moves, gap, pairs=None):
    """Register the functions of a parameter record; see the records below for their signatures.

    `pairs` says which ground costs make a matched pair, for distances whose border is open: they may skip points, so
    that a candidate of a search could be made of skipped points alone. Without it the border is closed.
    """
    closed = pairs is None

    def register(record):
        def is_closed(p):
            return closed

        parts = {"term": term, "finish": finish, "moves": moves, "gap": gap, "closed": is_closed}
        _RECURRENCES[record] = parts | {"pairs": pairs or _always}
        return record

    return register


def _part(name, p):
    entry = _RECURRENCES.get(p)
    return None if entry is None else entry[name]


def term(p, delta, weight):
    return _part("term", type(p))(p, delta, weight)


@overload(term)
def _overload_term(p, delta, weight):
    return _part("term", p.instance_class)


def finish(p, total):
    return _part("finish", type(p))(p, total)


@overload(finish)
def _overload_finish(p, total):
    return _part("finish", p.instance_class)


def moves(p, i, c, c_before, lag, lag_before, gap):
    return _part("moves", type(p))(p, i, c, c_before, lag, lag_before, gap)


@overload(moves)
def _overload_moves(p, i, c, c_before, lag, lag_before, gap):
    return _part("moves", p.instance_class)


def series_gap(p, y, ty, j):
    return _part("gap", type(p))(p, y, ty, j)


@overload(series_gap)
def _overload_gap(p, y, ty, j):
    return _part("gap", p.instance_class)


def closed_border(p):
    return _part("closed", type(p))(p)


@overload(closed_border)
def _overload_closed(p):
    return _part("closed", p.instance_class)


def matched_pair(p, c):
    return _part("pairs", type(p))(p, c)


@overload(matched_pair)
def _overload_pairs(p, c):
    return _part("pairs", p.instance_class)


# ---------------------------------------------------------------------------------------- ground costs, shared parts
def _always(p, c):
    return True


def _square(p, delta, weight):
    return weight * delta * delta


def _same(p, total):
    return total


def _power(p, delta, weight):
    a = abs(weight * delta)
    return a * a if p.p == 2.0 else a**p.p


def _root(p, total):
    return np.sqrt(total) if p.p == 2.0 else total ** (1.0 / p.p)


def _no_gap(p, y, ty, j):
    return 0.0


def _unit_gap(p, y, ty, j):
    return 1.0


# --------------------------------------------------------------------------------------------------- the recurrences
def _dtw(p, i, c, c_before, lag, lag_before, gap):
    return c, c, c


@recurrence(term=_square, finish=_same, moves=_dtw, gap=_no_gap)
class DTWRecord(NamedTuple):
    """Dynamic time warping (Sakoe & Chiba 1978): every move costs the ground cost of the cell it enters."""


def _lcss(p, i, c, c_before, lag, lag_before, gap):
    return (p.matched[i] if c <= p.eps else p.unmatched[i]), p.up[i], gap


def _within(p, c):
    return c <= p.eps


@recurrence(term=_power, finish=_root, moves=_lcss, gap=_unit_gap, pairs=_within)
class LCSSRecord(NamedTuple):
    """Longest common subsequence (Vlachos 2002) as an edit distance; costs of a query point in `matched`, ..., `up`."""

    p: float
    eps: float
    matched: np.ndarray
    unmatched: np.ndarray
    up: np.ndarray


def _twed(p, i, c, c_before, lag, lag_before, gap):
    return c + c_before + p.nu * (lag + lag_before), p.up[i], gap


def _twed_gap(p, y, ty, j):
    # The first point's own step is never priced: the border is closed.
    if j == 0:
        return 0.0
    total = 0.0
    for k in range(y.shape[0]):
        total += term(p, y[k, j] - y[k, j - 1], 1.0)
    step = 1.0 if ty is None else ty[j] - ty[j - 1]
    return finish(p, total) + p.nu * step + p.lmbda


@recurrence(term=_power, finish=_root, moves=_twed, gap=_twed_gap)
class TWEDRecord(NamedTuple):
    """Time warp edit distance (Marteau 2009); `up` holds the price of leaving each query point unmatched."""

    p: float
    nu: float
    lmbda: float
    up: np.ndarray


# --------------------------------------------------------------------------------------------------------- one column
@njit(cache=True)
def _ground_column(p, x, w, y, j, lo, hi, out):
    """out[lo:hi] = ground costs of the query's points with point j of the series."""
    if x is None:  # y holds local costs already, (n, m)
        for i in range(lo, hi):
            out[i] = y[j, i]
        return
    if x.shape[0] == 1:
        xk, v = x[0], y[0, j]
        if w is None:
            for i in range(lo, hi):
                out[i] = finish(p, term(p, xk[i] - v, 1.0))
        else:
            wk = w[0]
            for i in range(lo, hi):
                out[i] = finish(p, term(p, xk[i] - v, wk[i]))
        return
    for i in range(lo, hi):
        out[i] = 0.0
    for k in range(x.shape[0]):
        xk, v = x[k], y[k, j]
        if w is None:
            for i in range(lo, hi):
                out[i] += term(p, xk[i] - v, 1.0)
        else:
            wk = w[k]
            for i in range(lo, hi):
                out[i] += term(p, xk[i] - v, wk[i])
    for i in range(lo, hi):
        out[i] = finish(p, out[i])


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
def _advance(p, x, w, y, tx, ty, j, at, lo, hi, radius, top, col, start, cost, before, taken):
    """Move the column of accumulated costs from point j - 1 to point j of `y` (sample `at` of the whole series).

    `col[0]` is the border of the old column and becomes `top`. With `start` (not None) each cell carries the sample at
    which its path began, and lags count from there. `taken[j, i]` records the move: 0 diagonal, 1 query, 2 series.
    """
    _ground_column(p, x, w, y, j, lo, hi, cost)
    gap = series_gap(p, y, ty, j)
    diag = col[lo]
    above = INF if (lo > 0 or closed_border(p)) else top
    col[lo] = top if lo == 0 else INF
    s_diag = s_left = s_above = 0
    if start is not None:
        s_diag = start[lo]
        s_above = at + 1 if closed_border(p) else ~(at + 1)
        start[0] = s_above
    for i in range(lo, hi):
        left, c = col[i + 1], cost[i]
        c_before = before[i - 1] if i > 0 else 0.0
        if start is None:
            lag, lag_before = _lags_fixed(tx, ty, i, j)
            d, u, v = moves(p, i, c, c_before, lag, lag_before, gap)
        else:
            # Each predecessor brings the start of its own path, and with it its own lag.
            s_left = start[i + 1]
            b_diag, b_above, b_left = _begin(s_diag), _begin(s_above), _begin(s_left)
            lag, lag_before = _lags(tx, ty, i, j, b_diag - at + j)
            d = moves(p, i, c, c_before, lag, lag_before, gap)[0]
            lag, lag_before = _lags(tx, ty, i, j, b_above - at + j)
            u = moves(p, i, c, c_before, lag, lag_before, gap)[1]
            lag, lag_before = _lags(tx, ty, i, j, b_left - at + j)
            v = moves(p, i, c, c_before, lag, lag_before, gap)[2]
            if radius is not None:
                if abs(i - (at - b_diag)) > radius:
                    d = INF
                if abs(i - (at - b_above)) > radius:
                    u = INF
                if abs(i - (at - b_left)) > radius:
                    v = INF
            if not closed_border(p) and matched_pair(p, c):
                s_diag = b_diag
        best, move, s = diag + d, 0, s_diag
        t = above + u
        if t < best:
            best, move, s = t, 1, s_above
        t = left + v
        if t < best:
            best, move, s = t, 2, s_left
        diag, above = left, best
        col[i + 1] = best
        if start is not None:
            s_diag, s_above = s_left, s
            start[i + 1] = s
        if taken is not None:
            taken[j, i] = move


# ------------------------------------------------------------------------------------------------------------ drivers
@njit(cache=True, nogil=True)
def accumulate(p, x, w, y, tx, ty, lo, hi, top, side, matrix, taken):
    """Accumulated costs of two whole series; the cell (i, j) of query and series exists for lo[j] <= i < hi[j].

    `top` (n + 1) and `side` (m + 1) are the borders. Returns the last row (n) and the last column (m + 1); fills
    `matrix` and `taken` (n, m) unless None. Memory without them: O(m + n).
    """
    n, m = top.shape[0] - 1, side.shape[0] - 1
    col, bottom = side.copy(), np.full(n, INF)
    cost, before = np.zeros(m), np.zeros(m)
    for j in range(n):
        if j > 0:
            col[hi[j - 1] + 1 : hi[j] + 1] = INF  # cells that enter the band now still hold the border of column 0
        _advance(p, x, w, y, tx, ty, j, j, lo[j], hi[j], None, top[j + 1], col, None, cost, before, taken)
        if matrix is not None:
            for i in range(lo[j], hi[j]):
                matrix[j, i] = col[i + 1]
        if hi[j] == m:
            bottom[j] = col[m]
        cost, before = before, cost
    col[1 : lo[n - 1] + 1] = INF  # cells that left the band still hold older columns
    return bottom, col


@njit(cache=True)
def backtrack(taken, i, j):
    """The path that ends in the cell of query point i and series point j, as an array (2, K)."""
    path = np.empty((2, i + j + 1), np.intp)
    k = path.shape[1]
    while i >= 0 and j >= 0:
        k -= 1
        path[0, k], path[1, k] = i, j
        move = taken[j, i]
        if move != 2:
            i -= 1
        if move != 1:
            j -= 1
    return path[:, k:].copy()


@njit(cache=True, nogil=True)
def warped(
    p, x, w, y, tx, ty, first, offset, radius, shortest, longest, col, start, cost, before, distance, begin, matrix
):
    """Warped profile: the cost of the best candidate that ends at each point of the series, and where it starts.

    Goes on from the state `col, start, before` and leaves it ready for the next chunk: column `first` of `y` is sample
    `offset` of the sequence. Candidates shorter than `shortest` or longer than `longest` are none (inf, -1).
    """
    m = col.shape[0] - 1
    n = distance.shape[0]
    for k in range(n):
        at = offset + k
        _advance(p, x, w, y, tx, ty, first + k, at, 0, m, radius, 0.0, col, start, cost, before, None)
        before[:] = cost
        length = at + 1 - start[m]
        if col[m] < INF and start[m] >= 0 and length >= shortest and length <= longest:
            distance[k], begin[k] = col[m], start[m]
        else:
            distance[k], begin[k] = INF, -1
        if matrix is not None:
            matrix[k] = col[1:]


@njit(cache=True, nogil=True)
def tiling(p, x, w, y, tx, ty, up, background, shortest, longest, side):
    """Cheapest tiling of every prefix of the series (one-pass dynamic programming, Ney 1984).

    A path may enter the query wherever a tiling of the samples before ends, at that tiling's cost. Returns the costs of
    the prefixes (n + 1), for each the start of the tile that ends it (-1: a background sample), and that tile's cost.
    """
    m, n = side.shape[0] - 1, y.shape[1] if x is not None else y.shape[0]
    total, tile = np.zeros(n + 1), np.full(n + 1, -1, np.int64)
    col, start = side.copy(), np.zeros(m + 1, np.int64)
    if not closed_border(p):
        start[:] = -1
    cost, before = np.zeros(m), np.zeros(m)
    for j in range(n):
        _advance(p, x, w, y, tx, ty, j, j, 0, m, None, INF, col, start, cost, before, None)
        before[:] = cost
        begin = _begin(start[m])
        length = j + 1 - begin
        best = total[j] + background
        if col[m] <= best and col[m] < INF and length >= shortest and length <= longest:
            best, tile[j + 1] = col[m], begin
        total[j + 1] = col[0] = best
        # Where leading query points may be skipped, a tile can begin with them; its price is known only now.
        if not closed_border(p):
            ahead = best
            for i in range(m):
                ahead += up[i]
                if ahead >= col[i + 1]:
                    break
                col[i + 1], start[i + 1] = ahead, ~(j + 1)
    return total, tile


@njit
def fill_costs(dist, x, y, out):
    """out[j, i] = dist(x[i], y[j])."""
    for j in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[j, i] = dist(x[i], y[j])

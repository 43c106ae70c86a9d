"""The plain drivers of all recurrences: point by point of the series, with times, starts and what is to be recorded.

Layout: a series is ``(channels, length)``, accumulated costs run over the query inside and over the series outside,
so that a driver keeps one column of ``m + 1`` costs whatever the length of the series. Kernels that are kept on disk
are made by a function that is given the hash of the files they take functions from, because numba's disk cache looks at
this file alone.
"""

import numpy as np
from numba import njit

from ._compiled import inner, version_of
from ._recurrence import (
    closed_border,
    even,
    even_in_search,
    gap,
    gap_terms,
    join,
    late,
    matched_pair,
    moves,
    n_sums,
    row,
    terms,
)
from ._vector_memory import copy, fill

INF = np.inf
# Stand-ins where nothing is to be recorded: of the same type as what would be, so that a driver is compiled once.
NO_MOVES = np.empty((0, 0), np.uint8)
NO_COSTS = np.empty((0, 0))


# ---------------------------------------------------------------------------------------------------------- the query
@inner
def fill_rows(p, x, w, out):
    """What the recurrence takes of each query point, (channels, 4, m); without weights (None) they are all 1."""
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            x_before = x[k, i - 1] if i > 0 else 0.0
            weight, before = 1.0, 1.0 if i > 0 else 0.0
            if w is not None:
                weight, before = w[k, i], w[k, i - 1] if i > 0 else 0.0
            out[k, 0, i], out[k, 1, i], out[k, 2, i], out[k, 3, i] = row(p, x[k, i], x_before, weight, before)


@inner
def series_gap(p, y, ty, j):
    """The price of leaving point j of the series unmatched."""
    total = 0.0
    for k in range(y.shape[0]):
        total += gap_terms(p, y[k, j], y[k, j - 1] if j > 0 else 0.0)
    step = 1.0 if ty is None or j == 0 else ty[j] - ty[j - 1]
    return gap(p, total, step)


@inner
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


@inner
def _begin(start):
    """The sample at which a path begins; a carried start of ~sample says that the path has no matched pair yet."""
    return start if start >= 0 else ~start


@inner
def _lags(tx, ty, i, j, begin):
    """Time lag of query point i and series point j of a candidate that starts at `begin`, and of the points before."""
    begin = min(begin, j)  # a path of skipped query points alone begins behind j; it has no lag
    if tx is None:
        lag = float(abs(i - (j - begin)))
        return lag, (lag if i > 0 else 0.0)
    lag = abs(tx[i] - (ty[j] - ty[begin]))
    return lag, (abs(tx[i - 1] - (ty[j - 1] - ty[begin])) if i > 0 else 0.0)


@inner
def _lags_fixed(tx, ty, i, j):
    """The same for two whole series; the point before the first lies at time 0."""
    if tx is None:
        lag = float(abs(i - j))
        return lag, (lag if i > 0 and j > 0 else 0.0)
    before = abs((tx[i - 1] if i > 0 else 0.0) - (ty[j - 1] if j > 0 else 0.0))
    return abs(tx[i] - ty[j]), before


@inner
def with_skips(p, lo, hi):
    """The ranges of a band and, where points may be left out anywhere, of the cells that lead into it diagonally.

    A path gets to those cells by leaving points out, and by no diagonal move: their diagonal predecessors are left out
    of the band, and of the border by `border_end`.
    """
    first, last = lo.copy(), hi.copy()
    if not closed_border(p):
        for j in range(lo.shape[0] - 1):
            first[j], last[j] = max(min(lo[j], lo[j + 1] - 1), 0), max(hi[j], hi[j + 1] - 1)
    return first, last


@inner
def border_end(lo, first):
    """Where the border along the ranges ends: with the band, if it is followed by cells that lead into it."""
    inside = within = 0
    while inside < lo.shape[0] and lo[inside] == 0:
        inside += 1
    while within < lo.shape[0] and first[within] == 0:
        within += 1
    return inside if inside < within else lo.shape[0] + 1


@inner
def cells_and_borders(p, lo, hi, along, across):
    """The same ranges, and copies of the borders along the ranges and across them, which are infinite behind their end.

    Leaving out the points behind it is no matter of the border: a path does so in the cells of the first point.
    """
    first, last = with_skips(p, lo, hi)
    along, across = along.copy(), across.copy()
    fill(along, border_end(lo, first), along.shape[0], INF)
    if last[0] > hi[0]:
        fill(across, hi[0], across.shape[0], INF)
    return first, last, along, across


@inner
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
def _make(version):
    """Compile lazily, once per version of the files that functions are taken from."""

    @njit(cache=True, nogil=True)
    def rows_of(p, x, w):
        """What the recurrence takes of each point of weighted queries (count, channels, m): (count, channels, 4, m)."""
        out = np.empty((x.shape[0], x.shape[1], 4 if version else 0, x.shape[2]))
        for q in range(x.shape[0]):
            fill_rows(p, x[q], w[q], out[q])
        return out

    @njit(cache=True, nogil=True)
    def series_gaps(p, y, ty):
        """The prices of leaving the points of the series unmatched (n,)."""
        out = np.empty(y.shape[1] if version else 0)
        for j in range(out.shape[0]):
            out[j] = series_gap(p, y, ty, j)
        return out

    @njit(cache=True, nogil=True)
    def borders(p, points, y, ty, n, begin, start):
        """Costs (n + 1) along the series and (m + 1) along the query before any pair of points.

        So many points may be left out at the query's begin and at the series' begin.
        """
        top, side = np.full(n + 1 if version else 0, INF), np.full(points.shape[1] + 1, INF)
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
        """Accumulated costs of two whole series; query point i and series point j may meet for lo[j] <= i < hi[j].

        `top` (n + 1) and `side` (m + 1) are the borders. Returns the last row (n) and the last column (m + 1); fills
        `matrix` and `taken` (n, m) unless they are empty. Memory without them: O(m + n).
        """
        n, m = top.shape[0] - 1, side.shape[0] - 1
        bottom, ground = np.full(n, INF), np.zeros((3, m if version else 0))
        lo, hi, top, col = cells_and_borders(p, lo, hi, top, side)
        for j in range(n):
            if j > 0:  # cells that enter the band now still hold the border of column 0
                fill(col, hi[j - 1] + 1, hi[j] + 1, INF)
            _advance(p, rows, points, y, tx, ty, j, j, lo[j], hi[j], None, top[j + 1], col, None, ground, taken)
            if matrix.size:
                for i in range(lo[j], hi[j]):
                    matrix[j, i] = col[i + 1]
            if hi[j] == m:
                bottom[j] = col[m]
        fill(col, 1, lo[n - 1] + 1, INF)  # cells that left the band still hold older columns
        return bottom, col

    @njit(cache=True, nogil=True)
    def warped(
        p,
        rows,
        points,
        y,
        tx,
        ty,
        first,
        offset,
        radius,
        shortest,
        longest,
        col,
        start,
        ground,
        distance,
        begin,
        matrix,
    ):
        """Warped profile: the cost of the best candidate that ends at each point of the series, and where it starts.

        Goes on from the state `col, start` and leaves it ready for the next chunk: column `first` of `y` is sample
        `offset` of the sequence. Candidates shorter than `shortest` or longer than `longest` are none (inf, -1).
        """
        m = col.shape[0] - 1
        n = distance.shape[0]
        nothing = np.empty((0, 0 if version else 1), np.uint8)  # what the closure holds is a part of the cache's key
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

    return rows_of, series_gaps, borders, accumulate, warped


rows_of, series_gaps, borders, accumulate, warped = _make(version_of())


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


@njit
def fill_costs(dist, x, y, out):
    """out[j, i] = dist(x[i], y[j])."""
    for j in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[j, i] = dist(x[i], y[j])

"""One pair at a time along anti-diagonals, whose cells do not wait for each other: vector code for long series.

The recurrences are those of `_elastic`; borders are infinite as there, and no sum is reordered, so that the numbers are
the same to the bit. Rows are query points 0..m (0 the border), a cell of diagonal d in row r has column d - r.

Layout: the query ``(channels, m + 1)`` begins with a pad; the series ``(channels, n + 1)`` is reversed and ends with
it, so that along a diagonal both run upwards. Kernels are made by a function that is given the hash of `_elastic`,
because numba's disk cache looks at this file alone.
"""

import hashlib
from pathlib import Path

import numpy as np
from numba import njit

from . import _elastic
from ._elastic import closed_border, join, matched_pair, moves, n_sums, point, series_gaps, terms

INF = np.inf


@njit(nogil=True)
def _prices(p, yr):
    """Prices of leaving the points of the series unmatched, reversed as the series is."""
    prices = np.zeros(yr.shape[1])
    prices[:-1] = series_gaps(p, yr[:, :-1][:, ::-1], None)[::-1]
    return prices


@njit(nogil=True)
def _sum_channels(p, x, w, yr, lo, hi, shift, sums):
    """The terms of the cells in rows [lo, hi) of a diagonal, summed over the channels."""
    a, b, c = sums[0, lo:hi], sums[1, lo:hi], sums[2, lo:hi]
    for k in range(x.shape[0]):
        xs, xb = x[k, lo:hi], x[k, lo - 1 : hi - 1]
        ws, wb = w[k, lo:hi], w[k, lo - 1 : hi - 1]
        ys, yb = yr[k, shift + lo : shift + hi], yr[k, shift + lo + 1 : shift + hi + 1]
        for t in range(a.shape[0]):
            s = terms(p, xs[t], xb[t], ys[t], yb[t], ws[t], wb[t])
            a[t] = s[0] if k == 0 else a[t] + s[0]
            if n_sums(p) > 1:
                b[t] = s[1] if k == 0 else b[t] + s[1]
            if n_sums(p) > 2:
                c[t] = s[2] if k == 0 else c[t] + s[2]


@njit(nogil=True)
def _costs(p, prices, lo, hi, d, shift, sums, before2, before1, out):
    """Accumulated costs of the rows [lo, hi) of diagonal d of two whole series."""
    a, b, c = sums[0, lo:hi], sums[1, lo:hi], sums[2, lo:hi]
    diag, up, left = before2[lo - 1 : hi - 1], before1[lo - 1 : hi - 1], before1[lo:hi]
    price, cell = prices[shift + lo : shift + hi], out[lo:hi]
    for t in range(cell.shape[0]):
        r = lo + t
        lag = float(abs(2 * r - d))
        q, u, v = moves(p, point(p, r - 1, lag, lag), a[t], b[t], c[t], price[t])
        best, other = join(p, diag[t], q), join(p, up[t], u)
        best = other if other < best else best
        other = join(p, left[t], v)
        cell[t] = other if other < best else best


@njit(nogil=True)
def _carry(p, radius, prices, lo, hi, d, shift, sums, before2, before1, out, starts2, starts1, starts):
    """The same for a search: each cell carries the start of its path, and lags count from there."""
    a, b, c = sums[0, lo:hi], sums[1, lo:hi], sums[2, lo:hi]
    diag, up, left = before2[lo - 1 : hi - 1], before1[lo - 1 : hi - 1], before1[lo:hi]
    s_diag, s_up, s_left = starts2[lo - 1 : hi - 1], starts1[lo - 1 : hi - 1], starts1[lo:hi]
    price, cell, start = prices[shift + lo : shift + hi], out[lo:hi], starts[lo:hi]
    for t in range(cell.shape[0]):
        r = lo + t
        j = d - r
        e, f, g = s_diag[t], s_up[t], s_left[t]
        # A start of ~sample says that the path has no matched pair yet.
        eb, fb, gb = (e if e >= 0 else ~e), (f if f >= 0 else ~f), (g if g >= 0 else ~g)
        lag_e, lag_f, lag_g = abs(r - (j - eb)), abs(r - (j - fb)), abs(r - (j - gb))
        q = moves(p, point(p, r - 1, float(lag_e), float(lag_e)), a[t], b[t], c[t], price[t])[0]
        u = moves(p, point(p, r - 1, float(lag_f), float(lag_f)), a[t], b[t], c[t], price[t])[1]
        v = moves(p, point(p, r - 1, float(lag_g), float(lag_g)), a[t], b[t], c[t], price[t])[2]
        best, other, last = join(p, diag[t], q), join(p, up[t], u), join(p, left[t], v)
        if radius is not None:
            best = INF if lag_e > radius else best
            other = INF if lag_f > radius else other
            last = INF if lag_g > radius else last
        if not closed_border(p):
            e = eb if matched_pair(p, a[t]) else e
        e = f if other < best else e
        best = other if other < best else best
        start[t] = g if last < best else e
        cell[t] = last if last < best else best


def _make(recurrences):
    """Compile lazily, once per version of the recurrences."""

    @njit(cache=True, nogil=True)
    def accumulate(p, x, w, yr, lo, hi, top, side):
        """Last row (n) and last column (m + 1) of the accumulated costs, as `_elastic.accumulate` gives them."""
        version = recurrences  # a part of the cache's key
        m, n = side.shape[0] - 1, top.shape[0] - 1
        prices = _prices(p, yr if version != 0 else yr[:, :1])
        sums = np.zeros((3, m + 1))
        before2, before1, out = np.full(m + 2, INF), np.full(m + 2, INF), np.full(m + 2, INF)
        bottom, last = np.full(n, INF), np.full(m + 1, INF)
        last[0] = top[n]
        before2[0] = top[0]
        first, end = 1, 1
        for d in range(2, m + n + 1):
            # What diagonal d - 1 holds beside its cells: its ends at the borders.
            if closed_border(p):
                before2[0] = top[d - 2] if d - 2 <= n else INF
                before1[0] = INF
            else:
                before1[0] = top[d - 1] if d - 1 <= n else INF
            if d - 1 <= m:
                before1[d - 1] = side[d - 1]
            first = max(first, d - n)
            while first < min(m + 1, d) and first - 1 < lo[d - first - 1]:
                first += 1
            end = max(end, first)
            while end < min(m + 1, d) and end - 1 < hi[d - end - 1]:
                end += 1
            if end > first:
                _sum_channels(p, x, w, yr, first, end, n - d, sums)
                _costs(p, prices, first, end, d, n - d, sums, before2, before1, out)
                if end == m + 1:
                    bottom[d - m - 1] = out[m]
                if first == d - n:
                    last[first] = out[first]
            out[first - 1] = INF
            out[end] = INF
            before2, before1, out = before1, out, before2
        return bottom, last

    @njit(cache=True, nogil=True)
    def warped(p, x, w, yr, radius, shortest, longest, side, distance, begin):
        """Warped profile of a whole series, as `_elastic.warped` gives it."""
        version = recurrences
        m, n = side.shape[0] - 1, distance.shape[0]
        prices = _prices(p, yr if version != 0 else yr[:, :1])
        sums = np.zeros((3, m + 1))
        before2, before1, out = np.full(m + 1, INF), np.full(m + 1, INF), np.full(m + 1, INF)
        starts2, starts1, starts = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
        distance[:] = INF
        begin[:] = -1
        before2[0], starts2[0] = 0.0, (0 if closed_border(p) else ~0)
        for d in range(2, m + n + 1):
            if closed_border(p):
                before2[0], starts2[0] = 0.0, d - 2
                before1[0] = INF
            else:
                before1[0], starts1[0] = 0.0, ~(d - 1)
            if d - 1 <= m:
                before1[d - 1], starts1[d - 1] = side[d - 1], (0 if closed_border(p) else ~0)
            lo, hi = max(1, d - n), min(m + 1, d)
            _sum_channels(p, x, w, yr, lo, hi, n - d, sums)
            _carry(p, radius, prices, lo, hi, d, n - d, sums, before2, before1, out, starts2, starts1, starts)
            j = d - m
            if j >= 1:
                length = j - starts[m]
                if out[m] < INF and starts[m] >= 0 and length >= shortest and length <= longest:
                    distance[j - 1], begin[j - 1] = out[m], starts[m]
            before2, before1, out = before1, out, before2
            starts2, starts1, starts = starts1, starts, starts2

    return accumulate, warped


accumulate, warped = _make(int(hashlib.sha256(Path(_elastic.__file__).read_bytes()).hexdigest()[:15], 16) | 1)


def padded(x, w, y):
    """Query, weights and series as the kernels take them."""
    pad = np.zeros((len(x), 1))
    return np.hstack([pad, x]), np.hstack([pad, w]), np.ascontiguousarray(np.hstack([pad, y])[:, ::-1])

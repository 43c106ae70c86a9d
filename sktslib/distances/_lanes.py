"""Many series at once: LANES series side by side, four query points per sweep held in registers.

The recurrences are those of `_elastic`; a cell sees scalars only, and the loop over lanes becomes vector code. Borders
are large finite numbers here, so that the compiler may assume there is no infinity and no NaN.

Layout: a block of series is ``(channels, length + 1, LANES)``, its first column the pad before the first point. Kernels
are made by a function that is given the hash of `_elastic`, because numba's disk cache looks at this file alone.
"""

import hashlib
from pathlib import Path

import numpy as np
from numba import config, njit

from . import _elastic
from ._elastic import closed_border, gap, gap_terms, join, moves, n_sums, point, terms

LANES = 4 if config.DISABLE_JIT else 32  # plain loops gain nothing from lanes
BIG = 1e300
# With finite borders every order of a sum is as good as another; division is left alone.
FLAGS = {"nnan", "nsz", "contract", "reassoc"}


@njit(fastmath=FLAGS, error_model="numpy", nogil=True)
def cell(p, at, diag, up, left, a, b, c, price):
    """Accumulated cost of a cell."""
    d, u, v = moves(p, at, a, b, c, price)
    return min(join(p, diag, d), min(join(p, up, u), join(p, left, v)))


def _make_sweep(masked):
    """A sweep of four query points over the series' points [begin, end); `masked` where some cells lie out of band."""

    @njit(fastmath=FLAGS, error_model="numpy", nogil=True)
    def sweep(p, i, x, w, Y, prices, lo, hi, begin, end, row, held, sums):
        r0, r1, r2, r3, corner = held[0], held[1], held[2], held[3], held[4]
        n_channels = x.shape[0]
        o0 = o1 = o2 = o3 = 0.0
        for j in range(begin, end):
            above, price = row[j + 1], prices[j + 1]
            l0, l1, l2, l3 = abs(i - 1 - j), abs(i - j), abs(i + 1 - j), abs(i + 2 - j)
            k0, k1, k2, k3 = (l0, l1, l2, l3) if j > 0 else (0, 0, 0, 0)
            if i == 1:
                k0 = 0
            if masked:
                o0 = BIG if j < lo[i - 1] or j >= hi[i - 1] else 0.0
                o1 = BIG if j < lo[i] or j >= hi[i] else 0.0
                o2 = BIG if j < lo[i + 1] or j >= hi[i + 1] else 0.0
                o3 = BIG if j < lo[i + 2] or j >= hi[i + 2] else 0.0
            t0, t1 = point(p, i - 1, l0, k0), point(p, i, l1, k1)
            t2, t3 = point(p, i + 1, l2, k2), point(p, i + 2, l3, k3)
            if n_channels > 1:
                _sum_channels(p, i, j, x, w, Y, sums)
                for s in range(LANES):
                    top, q, e0, e1, e2 = above[s], price[s], r0[s], r1[s], r2[s]
                    v0 = cell(p, t0, corner[s], top, e0, sums[0, 0, s], sums[0, 1, s], sums[0, 2, s], q)
                    if masked:
                        v0 = max(v0, o0)
                    v1 = cell(p, t1, e0, v0, e1, sums[1, 0, s], sums[1, 1, s], sums[1, 2, s], q)
                    if masked:
                        v1 = max(v1, o1)
                    v2 = cell(p, t2, e1, v1, e2, sums[2, 0, s], sums[2, 1, s], sums[2, 2, s], q)
                    if masked:
                        v2 = max(v2, o2)
                    v3 = cell(p, t3, e2, v2, r3[s], sums[3, 0, s], sums[3, 1, s], sums[3, 2, s], q)
                    if masked:
                        v3 = max(v3, o3)
                    corner[s], r0[s], r1[s], r2[s], r3[s], above[s] = top, v0, v1, v2, v3, v3
                continue
            now, before = Y[0, j + 1], Y[0, j]
            xa, xb, xc, xd, xe = x[0, i - 1], x[0, i], x[0, i + 1], x[0, i + 2], x[0, i + 3]
            wa, wb, wc, wd, we = w[0, i - 1], w[0, i], w[0, i + 1], w[0, i + 2], w[0, i + 3]
            for s in range(LANES):
                y, yb, top, q = now[s], before[s], above[s], price[s]
                e0, e1, e2 = r0[s], r1[s], r2[s]
                a, b, c = terms(p, xb, xa, y, yb, wb, wa)
                v0 = cell(p, t0, corner[s], top, e0, a, b, c, q)
                if masked:
                    v0 = max(v0, o0)
                a, b, c = terms(p, xc, xb, y, yb, wc, wb)
                v1 = cell(p, t1, e0, v0, e1, a, b, c, q)
                if masked:
                    v1 = max(v1, o1)
                a, b, c = terms(p, xd, xc, y, yb, wd, wc)
                v2 = cell(p, t2, e1, v1, e2, a, b, c, q)
                if masked:
                    v2 = max(v2, o2)
                a, b, c = terms(p, xe, xd, y, yb, we, wd)
                v3 = cell(p, t3, e2, v2, r3[s], a, b, c, q)
                if masked:
                    v3 = max(v3, o3)
                corner[s], r0[s], r1[s], r2[s], r3[s], above[s] = top, v0, v1, v2, v3, v3

    return sweep


@njit(fastmath=FLAGS, error_model="numpy", nogil=True)
def _sum_channels(p, i, j, x, w, Y, sums):
    """sums[r, :, s] = the terms of query point i + r (1-based) and point j of series s, summed over the channels."""
    for k in range(x.shape[0]):
        now, before = Y[k, j + 1], Y[k, j]
        for r in range(sums.shape[0]):
            a, b, c = sums[r, 0], sums[r, 1], sums[r, 2]
            xi, xb, wi, wb = x[k, i + r], x[k, i + r - 1], w[k, i + r], w[k, i + r - 1]
            for s in range(LANES):
                t = terms(p, xi, xb, now[s], before[s], wi, wb)
                a[s] = t[0] if k == 0 else a[s] + t[0]
                if n_sums(p) > 1:
                    b[s] = t[1] if k == 0 else b[s] + t[1]
                if n_sums(p) > 2:
                    c[s] = t[2] if k == 0 else c[s] + t[2]


@njit(fastmath=FLAGS, error_model="numpy", nogil=True)
def _price(p, Y, prices):
    for j in range(1, Y.shape[1]):
        for s in range(LANES):
            total = 0.0
            for k in range(Y.shape[0]):
                total += gap_terms(p, Y[k, j, s], Y[k, j - 1, s])
            prices[j, s] = gap(p, total, 1.0)


_whole, _edge = _make_sweep(False), _make_sweep(True)


@njit(fastmath=FLAGS, error_model="numpy", nogil=True)
def _span(p, i, x, w, Y, prices, lo, hi, begin, end, row, held, sums):
    """A sweep of four query points over the points [begin, end), of which the first and last lie partly out of band."""
    a, b = max(begin, min(lo[i + 2], end)), min(end, max(hi[i - 1], begin))
    if a >= b:
        _edge(p, i, x, w, Y, prices, lo, hi, begin, end, row, held, sums)
    else:
        _edge(p, i, x, w, Y, prices, lo, hi, begin, a, row, held, sums)
        _whole(p, i, x, w, Y, prices, lo, hi, a, b, row, held, sums)
        _edge(p, i, x, w, Y, prices, lo, hi, b, end, row, held, sums)


@njit(fastmath=FLAGS, error_model="numpy", nogil=True)
def _above(costs, cutoff):
    """Whether all lanes are above the cutoff."""
    least = costs[0]
    for s in range(LANES):
        least = min(least, costs[s])
    return least > cutoff


def _make(recurrences):
    """Compile lazily, once per version of the recurrences."""

    @njit(cache=True, nogil=True)
    def prices_of(p, Y, prices):
        """Prices (length + 1, LANES) of leaving each point of each series unmatched."""
        version = recurrences  # a part of the cache's key
        if version != 0:
            _price(p, Y, prices)

    @njit(cache=True, fastmath=FLAGS, error_model="numpy", nogil=True)
    def accumulate(p, x, w, up, Y, prices, lo, hi, row, cutoff):
        """Accumulated costs of the last query point with each point of each series, (length + 1, LANES) in `row`.

        `x` and `w` (channels, m + 1) begin with a pad; query point i meets the points lo[i] <= j < hi[i]. Costs above
        `cutoff` (BIG: none) may come out as any number above it: a cell that is above it in all lanes is passed over
        where its neighbours are so too.
        """
        version = recurrences
        m, n = x.shape[1] - 1, Y.shape[1] - 1
        held, sums = np.empty((5, LANES)), np.zeros((4, 3, LANES))
        row[0] = 0.0
        for j in range(1, n + 1):
            for s in range(LANES):
                row[j, s] = BIG if closed_border(p) else row[j - 1, s] + prices[j, s]
        cut = cutoff < BIG
        # Cells of the row above outside [alive, dead) are above the cutoff, or out of band.
        alive, dead = 0, (0 if closed_border(p) else n) if cut else n
        if cut:
            while dead > 0 and _above(row[dead], cutoff):
                dead -= 1
        side = 0.0
        i = 1
        while i <= m and version != 0:
            rows = 4 if i + 3 <= m else 1
            first, last = lo[i - 1], hi[i + rows - 2]
            if i > 1:
                row[hi[i - 2] + 1 : last + 1] = BIG  # points that enter the band still hold the border of row 0
            first = max(first, alive)
            # The column before the band's first point: the border before point 0, else nothing.
            held[4] = row[first]
            for r in range(rows):
                side = BIG if closed_border(p) else side + up[i + r - 1]
                held[r] = side if first == 0 else BIG
            row[first] = held[rows - 1]
            if rows == 4:
                begin, end = first, min(last, dead + 1)
                while begin < end:
                    _span(p, i, x, w, Y, prices, lo, hi, begin, end, row, held, sums)
                    begin, end = end, min(end + 16, last)
                    if _above(held[0], cutoff) and _above(held[1], cutoff) and _above(held[2], cutoff):
                        if _above(held[3], cutoff):
                            break
            else:
                begin = last
                r0, corner = held[0], held[4]
                for j in range(first, last):
                    above, price = row[j + 1], prices[j + 1]
                    lag = abs(i - 1 - j)
                    at = point(p, i - 1, lag, lag if i > 1 and j > 0 else 0)
                    _sum_channels(p, i, j, x, w, Y, sums[:1])
                    for s in range(LANES):
                        top = above[s]
                        v = cell(p, at, corner[s], top, r0[s], sums[0, 0, s], sums[0, 1, s], sums[0, 2, s], price[s])
                        corner[s], r0[s], above[s] = top, v, v
            if cut:
                alive, dead = first, begin
                while dead > alive and _above(row[dead], cutoff):
                    dead -= 1
                if dead == alive and (alive > 0 or side > cutoff):
                    row[:] = BIG
                    return
                if alive > 0 or side > cutoff:
                    while alive < dead and _above(row[alive + 1], cutoff):
                        alive += 1
            i += rows

    return accumulate, prices_of


accumulate, prices_of = _make(int(hashlib.sha256(Path(_elastic.__file__).read_bytes()).hexdigest()[:15], 16) | 1)

"""Many series at once: LANES series side by side, four query points per sweep held in registers.

The recurrences are those of `_elastic`; a cell sees scalars only, and the loop over lanes becomes vector code. Borders
are large finite numbers here, so that the compiler may assume there is no infinity and no NaN.

Layout: a block of series is ``(channels, length + 1, LANES)``, its first column the pad before the first point. Kernels
are made by a function that is given the hash of `_elastic`, because numba's disk cache looks at this file alone.
"""

import hashlib
from pathlib import Path

from numba import njit

from . import _elastic
from ._elastic import closed_border, join, moves, point, terms

LANES = 32
BIG = 1e300
# With finite borders every order of a sum is as good as another; division is left alone.
FLAGS = {"nnan", "nsz", "contract", "reassoc"}


def _make_sweep(masked):
    """A sweep of four query points over the series' points [begin, end); `masked` where some cells lie out of band."""

    @njit(fastmath=FLAGS, error_model="numpy", nogil=True)
    def sweep(p, i, x, w, Y, prices, lo, hi, begin, end, row, held):
        r0, r1, r2, r3, corner = held[0], held[1], held[2], held[3], held[4]
        xa, xb, xc, xd, xe = x[i - 1], x[i], x[i + 1], x[i + 2], x[i + 3]
        wa, wb, wc, wd, we = w[i - 1], w[i], w[i + 1], w[i + 2], w[i + 3]
        o0 = o1 = o2 = o3 = 0.0
        for j in range(begin, end):
            above, now, before, price = row[j + 1], Y[j + 1], Y[j], prices[j + 1]
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
def cell(p, at, diag, up, left, a, b, c, price):
    """Accumulated cost of a cell."""
    d, u, v = moves(p, at, a, b, c, price)
    return min(join(p, diag, d), min(join(p, up, u), join(p, left, v)))


_whole, _edge = _make_sweep(False), _make_sweep(True)


def _make(recurrences):
    """Compile lazily, once per version of the recurrences."""

    @njit(cache=True, fastmath=FLAGS, error_model="numpy", nogil=True)
    def one_channel(p, x, w, up, Y, prices, lo, hi, row, held):
        """Accumulated costs of the last query point, (length + 1, LANES) in `row`.

        `x` and `w` (m + 1,) begin with a pad; query point i meets the points lo[i] <= j < hi[i].
        """
        version = recurrences  # a part of the cache's key
        m, n = x.shape[0] - 1, Y.shape[0] - 1
        for s in range(LANES):
            row[0, s] = 0.0
        for j in range(1, n + 1):
            for s in range(LANES):
                row[j, s] = BIG if closed_border(p) else row[j - 1, s] + prices[j, s]
        side = 0.0
        i = 1
        while i <= m and version != 0:
            rows = 4 if i + 3 <= m else 1
            first, last = lo[i - 1], hi[i + rows - 2]
            # The column before the first point of the band: its border at point 0, else nothing.
            held[4] = row[first]
            for r in range(rows):
                side = BIG if closed_border(p) else side + up[i + r - 1]
                held[r] = side if first == 0 else BIG
            row[first] = held[rows - 1]
            if rows == 4:
                a, b = min(lo[i + 2], last), max(hi[i - 1], first)
                if a >= b:
                    _edge(p, i, x, w, Y, prices, lo, hi, first, last, row, held)
                else:
                    _edge(p, i, x, w, Y, prices, lo, hi, first, a, row, held)
                    _whole(p, i, x, w, Y, prices, lo, hi, a, b, row, held)
                    _edge(p, i, x, w, Y, prices, lo, hi, b, last, row, held)
            else:
                r0, corner = held[0], held[4]
                for j in range(first, last):
                    above, now, before, price = row[j + 1], Y[j + 1], Y[j], prices[j + 1]
                    lag = abs(i - 1 - j)
                    at = point(p, i - 1, lag, lag if i > 1 and j > 0 else 0)
                    for s in range(LANES):
                        top = above[s]
                        a, b, c = terms(p, x[i], x[i - 1], now[s], before[s], w[i], w[i - 1])
                        v = cell(p, at, corner[s], top, r0[s], a, b, c, price[s])
                        corner[s], r0[s], above[s] = top, v, v
            i += rows
        return row

    return one_channel


one_channel = _make(int(hashlib.sha256(Path(_elastic.__file__).read_bytes()).hexdigest()[:15], 16) | 1)

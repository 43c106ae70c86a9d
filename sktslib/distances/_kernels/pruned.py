"""One pair under a cutoff: cells that no path at or below the cutoff can use are never computed.

Early abandoning and pruning (EAP, Herrmann & Webb 2021): costs never fall along a path, so of each column only the
cells between the first and the last one at or below the cutoff matter to the next, and with none of them left the
distance is above. The recurrences are those of `recurrences`, in the same order of operations, so that what is at or
below the cutoff is the same to the bit.
"""

import numpy as np

from .columns import _ground_column, _lags_fixed, cells_and_boundary, series_gap
from .compilation import block_size, kernel, pieces
from .dispatch import accumulate, lag_cost, moves
from .simd_memory import fill

INF = np.inf
AHEAD = block_size(16, 3)  # query points computed at a time where it is not known how many will be needed


@kernel
def _accumulate(p, rows, points, y, tx, ty, lo, hi, top, first_j, last_j, cutoff, start, stop, col, bottom, ground):
    """Columns [first_j, last_j); see `accumulate`.

    Rows of `col` count from the boundary; those outside [start, stop) are above the cutoff in the last column. They are
    given back for the columns that follow.
    """
    m = col.shape[0] - 1
    while first_j == 0 and stop > 0 and col[stop - 1] > cutoff:
        stop -= 1
    for j in range(first_j, last_j):
        if stop == 0:
            break
        if j > 0:
            fill(col, hi[j - 1] + 1, hi[j] + 1, INF)  # they still hold the boundary
        gap_cost = 0.0 if rows is None else series_gap(p, y, ty, j)
        begin, end = max(lo[j] + 1, max(start, 1)), hi[j] + 1
        diag = col[begin - 1]
        above = top[j + 1] if begin == 1 else INF
        col[begin - 1] = above
        first, last = (0, 1) if above <= cutoff else (m + 1, 0)
        r = known = begin
        while r < end and (r <= stop or above <= cutoff):
            if r == known:
                known = min(max(r + AHEAD, stop + 1), end)
                _ground_column(p, rows, y, j, r - 1, known - 1, ground)
            left = col[r]
            a, b, c = ground[0, r - 1], ground[1, r - 1], ground[2, r - 1]
            lag, lag_before = _lags_fixed(tx, ty, r - 1, j)
            at = points[0, r - 1], points[1, r - 1], points[2, r - 1]
            d, u, v = moves(p, at, lag_cost(p, lag, lag_before), a, b, c, gap_cost)
            best = accumulate(p, diag, d)
            t = accumulate(p, above, u)
            best = t if t < best else best
            t = accumulate(p, left, v)
            best = t if t < best else best
            diag, above = left, best
            col[r] = best
            if best <= cutoff:
                first = min(first, r)
                last = r + 1
            r += 1
        start, stop = first, last
        if hi[j] == m and stop == m + 1:
            bottom[j] = col[m]
    return start, stop


def accumulated_costs(p, rows, points, y, tx, ty, lo, hi, top, side, cutoff):
    """Last row (n) and last column (m + 1) as `columns.accumulated_costs` gives them, infinite above the cutoff."""
    n, m = len(top) - 1, len(side) - 1
    lo, hi, top, col = cells_and_boundary(p, lo, hi, top, side)
    bottom, ground = np.full(n, INF), np.zeros((3, m))
    start, stop = 0, m + 1
    for begin, end in pieces(n, m):
        state = start, stop, col, bottom, ground
        start, stop = _accumulate(p, rows, points, y, tx, ty, lo, hi, top, begin, end, cutoff, *state)
        if stop == 0:
            return bottom, np.full(m + 1, INF)
    col[1 : lo[n - 1] + 1] = INF  # cells that left the band still hold older columns
    col[:start] = INF
    col[stop:] = INF
    return bottom, col

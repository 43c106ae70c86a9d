"""Matrix profile: bounds of the largest correlation of each window with all others.

The dot product of two windows, each minus its mean, changes by two products along a diagonal of the matrix of all pairs
(Zimmerman et al., "Matrix Profile XIV", 2019):

    product[i, j] = product[i - 1, j - 1] + half[i] * whole[j] + half[j] * whole[i]

where half[i] = (y[i + m - 1] - y[i - 1]) / 2 and whole[i] = (y[i + m - 1] - mean[i]) + (y[i - 1] - mean[i - 1]). The
matrix is processed in tiles of `TILE` rows and `DIAGONALS` diagonals. The products of the first row of a tile are
summed directly, so that rounding errors accumulate over one tile only. Their bound is added to the products, so the
correlations are bounds as well.
"""

import numpy as np

from .compile import block_size, budgets, inner, kernel
from .simd import BATCH, makers, maximum, store

EPS = 2.0**-52
TILE = block_size(2048, 5)  # rows until products are summed directly again

# Diagonals at a time, a multiple of the lanes: their data stay in the first-level cache.
DIAGONALS = block_size(256, 2 * BATCH)
ROOM = DIAGONALS + BATCH  # padding after the last window, because whole vectors are read
load, splat, _ = makers(BATCH, fused=True)


@inner
def _largest(values):
    """Return the largest absolute value."""
    out = 0.0
    for v in values:
        out = max(out, abs(v))
    return out


@inner
def _begin(x, i, y, j, m, product):
    """Fill in the dot products of window i of x and the windows of y from j on, each minus its mean."""
    for k in range(0, DIAGONALS, BATCH):
        total, mean = splat(0.0), load(y[1], j + k)
        for t in range(m):
            total = total + (x[0][i + t] - x[1][i]) * (load(y[0], j + k + t) - mean)
        store(product, k, total)


@inner
def _step(x, y, i, j, fresh, products, rows, best):
    """Compute row i of DIAGONALS diagonals, from column j on; `fresh` products already belong to this row."""
    share = 0.0 if fresh else 1.0
    own, lack, row = x[5][i], y[5], load(rows, 0)
    product, h, w, inverse = products[0], share * x[2][0, i], share * x[3][0, i], x[4][0, i]
    half, whole, others = y[2][0], y[3][0], y[4][0]
    for k in range(0, DIAGONALS, BATCH):
        a = load(product, k) + (h * load(whole, j + k) + w * load(half, j + k))
        store(product, k, a)
        total = (a * inverse) * load(others, j + k)
        for c in range(1, products.shape[0]):
            a = load(products[c], k) + share * (x[2][c, i] * load(y[3][c], j + k) + x[3][c, i] * load(y[2][c], j + k))
            store(products[c], k, a)
            total = total + (a * x[4][c, i]) * load(y[4][c], j + k)
        row = maximum(row, total - load(lack, j + k))
        store(best, j + k, maximum(load(best, j + k), total - own))
    store(rows, 0, row)


@kernel
def _sweep(x, y, m, sign, first, last, place, left, products, rows, best_x, best_y):
    """Resume at the tile and the diagonal of `place` until no cells are left; return whether all are done."""
    channels, n_x, n_y = x[0].shape[0], best_x.shape[0] - ROOM, best_y.shape[0] - ROOM
    for i0 in range(place[0], n_x, TILE):
        i1, begin = min(i0 + TILE, n_x), i0 + first
        if place[1] > begin:
            begin = place[1]
        else:
            rows[:] = -np.inf
        for j0 in range(begin, min(i0 + last, n_y), DIAGONALS):
            if left[0] <= 0.0:
                place[0], place[1] = i0, j0
                return False
            left[0] -= DIAGONALS * channels * (i1 - i0 + m)
            for c in range(channels):
                _begin((x[0][c], x[1][c]), i0, (y[0][c], y[1][c]), j0, m, products[c])
                own = _largest(x[0][c, i0 : i1 + m - 1])
                other = _largest(y[0][c, j0 : min(j0 + i1 - i0 + DIAGONALS, n_y) + m - 1])
                wrong = sign * EPS * (16.0 * (i1 - i0 + 2.0) * (m + 2.0) + 4.0 * m * (m + 8.0)) * own * other
                for k in range(DIAGONALS):  # an array assigned to a row would compile numba's strings, for seconds
                    products[c, k] += wrong
            for i in range(i0, min(i1, i0 + n_y - j0)):
                _step(x, y, i, j0 + i - i0, i == i0, products, rows[i - i0], best_y)
        for i in range(i0, i1):
            for k in range(BATCH):
                best_x[i] = max(best_x[i], rows[i - i0, k])
        place[1] = 0
    return True


def sweep(x, y, m, sign, first, last, best_x, best_y):
    """Update the largest sums of correlations with the pairs of windows (i, i + d), for first <= d < last.

    The sum of a pair is over the channels.

    Parameters
    ----------
    x, y : tuple
        The samples (channels, n); the means, `half`, `whole` and inverse norms of all windows (channels, n - m + 1);
        and a number per window that is subtracted from its sums (n - m + 1,).
    sign : float
        1.0: the sums are upper bounds; -1.0: lower bounds.
    best_x, best_y : ndarray of shape (n - m + 1 + ROOM,)
        Largest sum of each window until now, minus the number of the *other* window of the pair. If x and y are the
        same sequence, one array.
    """
    products, rows = np.empty((len(x[0]), DIAGONALS)), np.empty((TILE, BATCH))
    place, left = np.zeros(2, np.int64), np.empty(1)
    for left[0] in budgets():
        if _sweep(x, y, m, sign, first, last, place, left, products, rows, best_x, best_y):
            return

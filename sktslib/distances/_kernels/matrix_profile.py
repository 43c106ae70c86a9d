"""Matrix profile: the largest correlation of each window with all others, without a distance for any pair.

Along a diagonal of the matrix of all pairs the product of two windows, each less its mean, changes by two products
(Zimmerman et al., "Matrix Profile XIV", 2019):

    product[i, j] = product[i - 1, j - 1] + half[i] * whole[j] + half[j] * whole[i]

where half[i] = (y[i + m - 1] - y[i - 1]) / 2 and whole[i] = (y[i + m - 1] - mean[i]) + (y[i - 1] - mean[i - 1]). Rows
are processed a `TILE` at a time, `DIAGONALS` at a time. They start with a product that is summed directly, so that
rounding has little way to run. The largest rounding is added to the product: the correlations found are bounds.
"""

import numpy as np

from .compile import block_size, budgets, inner, kernel
from .simd import BATCH, makers, maximum, store

EPS = 2.0**-52
TILE = block_size(2048, 5)  # rows that are gone along before products are added up again

# Side by side: what is read of them stays in the first-level cache. A multiple of the lanes.
DIAGONALS = block_size(256, 2 * BATCH)
ROOM = DIAGONALS + BATCH  # behind the last window: vectors are read whole
load, splat, _ = makers(BATCH, fused=True)


@inner
def _largest(values):
    """Return the largest size of some values."""
    out = 0.0
    for v in values:
        out = max(out, abs(v))
    return out


@inner
def _begin(x, i, y, j, m, product):
    """Fill in the products of the window of x at i and the windows of y from j on, each less its mean."""
    for k in range(0, DIAGONALS, BATCH):
        total, mean = splat(0.0), load(y[1], j + k)
        for t in range(m):
            total = total + (x[0][i + t] - x[1][i]) * (load(y[0], j + k + t) - mean)
        store(product, k, total)


@inner
def _step(x, y, i, j, fresh, products, rows, best):
    """Compute row i of the diagonals side by side, from column j on; `fresh` products are of this row."""
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
    """Go on at the tile and the diagonal of `place` while cells are left; return whether all are done."""
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
    """Raise the largest sums of correlations by the pairs of windows (i, i + d) for d from `first` to before `last`.

    Parameters
    ----------
    x, y : tuple
        The samples (channels, n), and of all windows mean, half, whole and inverse norm (channels, n - m + 1), and
        what each window takes off the sum (n - m + 1,).
    sign : float
        1.0: sums are at least what they are; -1.0: at most.
    best_x, best_y : ndarray of shape (n - m + 1,)
        Of the sums less what the *other* window takes off, the largest up to now; one array, if x and y are one.
    """
    products, rows = np.empty((len(x[0]), DIAGONALS)), np.empty((TILE, BATCH))
    place, left = np.zeros(2, np.int64), np.empty(1)
    for left[0] in budgets():
        if _sweep(x, y, m, sign, first, last, place, left, products, rows, best_x, best_y):
            return

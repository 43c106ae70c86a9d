"""Lockstep distances for numba: one term per distance, a few drivers.

A distance is a parameter record with `terms` (what one pair of points adds to up to three accumulators), `combine`
(sum or maximum) and `finish` (accumulators -> distance). As in `_recurrence`, `overload` picks them by the record's
type; they share a file with their drivers for the sake of numba's cache.

Layout: series `(channels, length)`; weights `(channels, length)` of the query.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from ._compiled import inner, kernel

INF = np.inf
BLOCK = 512  # positions per block: the accumulators and the block's samples stay in the first-level cache

# ------------------------------------------------------------------------------------------------ dispatch by type
_FOLDS = {}


def fold(*, terms, finish, size=1, combine=None):
    """Register the functions of a parameter record."""

    def register(record):
        def n_accumulators(p):
            return size

        _FOLDS[record] = {"terms": terms, "finish": finish, "combine": combine or _add, "size": n_accumulators}
        return record

    return register


def _part(name, p):
    entry = _FOLDS.get(p)
    return None if entry is None else entry[name]


def terms(p, w, x, y):
    return _part("terms", type(p))(p, w, x, y)


@overload(terms)
def _overload_terms(p, w, x, y):
    return _part("terms", p.instance_class)


def combine(p, total, new):
    return _part("combine", type(p))(p, total, new)


@overload(combine)
def _overload_combine(p, total, new):
    return _part("combine", p.instance_class)


def finish(p, a, b, c):
    return _part("finish", type(p))(p, a, b, c)


@overload(finish)
def _overload_finish(p, a, b, c):
    return _part("finish", p.instance_class)


def size(p):
    return _part("size", type(p))(p)


@overload(size)
def _overload_size(p):
    return _part("size", p.instance_class)


def _add(p, total, new):
    return total + new


def _largest(p, total, new):
    return max(total, new)


def _as_is(p, a, b, c):
    return a


# ----------------------------------------------------------------------------------------------------- the distances
def _minkowski(p, w, x, y):
    d = abs(x - y)
    if p.p == 1.0:
        return w * d, 0.0, 0.0
    if p.p == 2.0:
        return w * d * d, 0.0, 0.0
    if p.p == 3.0:
        return w * d * d * d, 0.0, 0.0
    return w * d**p.p, 0.0, 0.0


def _minkowski_root(p, a, b, c):
    if p.p == 1.0:
        return a
    return np.sqrt(a) if p.p == 2.0 else a ** (1.0 / p.p)


@fold(terms=_minkowski, finish=_minkowski_root)
class MinkowskiRecord(NamedTuple):
    p: float


def _squares(p, w, x, y):
    return w * (x - y) * (x - y), 0.0, 0.0


@fold(terms=_squares, finish=_as_is)
class SquaredRecord(NamedTuple):
    pass


def _square_root(p, a, b, c):
    return np.sqrt(a)


@fold(terms=_squares, finish=_square_root)
class EuclideanRecord(NamedTuple):
    pass


def _absolute(p, w, x, y):
    return w * abs(x - y), 0.0, 0.0


@fold(terms=_absolute, finish=_as_is)
class ManhattanRecord(NamedTuple):
    pass


@fold(terms=_absolute, finish=_as_is, combine=_largest)
class ChebyshevRecord(NamedTuple):
    pass


def _canberra(p, w, x, y):
    scale = abs(x) + abs(y)
    return (w * abs(x - y) / scale if scale > 0.0 else 0.0), 0.0, 0.0


@fold(terms=_canberra, finish=_as_is)
class CanberraRecord(NamedTuple):
    pass


def _braycurtis(p, w, x, y):
    return w * abs(x - y), w * abs(x + y), 0.0


def _ratio(p, a, b, c):
    if b > 0.0:
        return a / b
    return INF if a > 0.0 else 0.0


@fold(terms=_braycurtis, finish=_ratio, size=2)
class BraycurtisRecord(NamedTuple):
    pass


def _hamming(p, w, x, y):
    return (w if x != y else 0.0), w, 0.0


@fold(terms=_hamming, finish=_ratio, size=2)
class HammingRecord(NamedTuple):
    pass


def _products(p, w, x, y):
    return w * x * y, w * x * x, w * y * y


@kernel
def _cosine(a, b, c):
    """A / sqrt(b c); the product's root is exact for b = c, the roots' product neither over- nor underflows."""
    if b > 0.0 and c > 0.0:
        square = b * c
        norm = np.sqrt(square) if 1e-290 < square < INF else np.sqrt(b) * np.sqrt(c)
        return max(-1.0, min(1.0, a / norm))
    return 1.0 if b == c else 0.0


def _one_minus_cosine(p, a, b, c):
    return 1.0 - _cosine(a, b, c)


@fold(terms=_products, finish=_one_minus_cosine, size=3)
class CosineRecord(NamedTuple):
    pass


def _pearson(p, a, b, c):
    r = _cosine(a, b, c)
    if p.beta < 0.0:
        return 2.0 * (1.0 - r)
    return INF if r == -1.0 else ((1.0 - r) / (1.0 + r)) ** p.beta


@fold(terms=_products, finish=_pearson, size=3)
class PearsonRecord(NamedTuple):
    """Pearson correlation distance; a negative `beta` stands for the form 2 (1 - r)."""

    beta: float


# ------------------------------------------------------------------------------------------------------------ drivers
@kernel
def distance(p, x, y, w):
    """Distance of two series of one length."""
    a = b = c = 0.0
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            s, t, u = terms(p, w[k, i], x[k, i], y[k, i])
            a, b, c = combine(p, a, s), combine(p, b, t), combine(p, c, u)
    return finish(p, a, b, c)


@kernel
def first_terms(p, x, y, w, out):
    """out[k, i] = what the pair i of channel k adds to the first accumulator."""
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            out[k, i] = terms(p, w[k, i], x[k, i], y[k, i])[0]


@kernel
def one_to_many(p, x, w, series, out):
    """out[s] = distance of x (channels, m) to each of many series of its length, `series` (channels, m, n_series)."""
    acc = np.empty((3, min(BLOCK, out.shape[0])))
    for first in range(0, out.shape[0], BLOCK):
        last = min(first + BLOCK, out.shape[0])
        acc[:] = 0.0
        a, b, c = acc[0, : last - first], acc[1, : last - first], acc[2, : last - first]
        for k in range(x.shape[0]):
            for i in range(x.shape[1]):
                _accumulate(p, w[k, i], x[k, i], series[k, i, first:last], a, b, c)
        for s in range(last - first):
            out[first + s] = finish(p, a[s], b[s], c[s])


@kernel
def finish_all(p, a, b, c, out):
    """out[j] = the distance behind the accumulators a[j], b (one for all) and c[j]."""
    for j in range(out.shape[0]):
        out[j] = finish(p, a[j], b, c[j])


@inner
def _accumulate(p, w, x, v, a, b, c):
    """Add the terms of one query point with a row of points."""
    if size(p) == 1:
        for s in range(a.shape[0]):
            a[s] = combine(p, a[s], terms(p, w, x, v[s])[0])
    else:
        for s in range(a.shape[0]):
            t = terms(p, w, x, v[s])
            a[s] = combine(p, a[s], t[0])
            b[s] = combine(p, b[s], t[1])
            c[s] = combine(p, c[s], t[2])


@inner
def _accumulate_four(p, w, x, y, first, left, a):
    """The same for four query points in one pass, in their order: the sums are loaded and stored once."""
    v0, v1 = y[first + left[0] : first + left[0] + a.shape[0]], y[first + left[1] : first + left[1] + a.shape[0]]
    v2, v3 = y[first + left[2] : first + left[2] + a.shape[0]], y[first + left[3] : first + left[3] + a.shape[0]]
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    for s in range(a.shape[0]):
        t = combine(p, a[s], terms(p, w0, x0, v0[s])[0])
        t = combine(p, t, terms(p, w1, x1, v1[s])[0])
        t = combine(p, t, terms(p, w2, x2, v2[s])[0])
        a[s] = combine(p, t, terms(p, w3, x3, v3[s])[0])


@kernel
def _row(y, at, share, row):
    """The samples at `at` and after, or the points that lie a share of a step behind them."""
    v = y[at : at + row.shape[0]]
    if share == 0.0:
        return v
    after = y[at + 1 : at + 1 + row.shape[0]]
    for s in range(row.shape[0]):
        row[s] = v[s] + (after[s] - v[s]) * share  # a constant stays one, to the bit
    return row


@kernel
def _moments(y, w, k, first, left, share, scaling, shift, scale, low, high, row):
    """Shift and scale that normalise channel k of each window of a block; one pass per moment keeps them exact."""
    m, size = w.shape[1], shift.shape[0]
    low[:] = INF
    high[:] = -INF
    total = 0.0
    shift[:] = 0.0
    for i in range(m):
        wi = w[k, i]
        if wi > 0.0:
            total += wi
            v = _row(y[k], first + left[i], share[i], row)
            for s in range(size):
                low[s] = min(low[s], v[s])
                high[s] = max(high[s], v[s])
                shift[s] += wi * v[s]
    for s in range(size):
        shift[s] = low[s] if scaling == 3 else shift[s] / max(total, 1e-300)
        scale[s] = 0.0
    if scaling == 2:
        for i in range(m):
            wi = w[k, i]
            if wi > 0.0:
                v = _row(y[k], first + left[i], share[i], row)
                for s in range(size):
                    scale[s] += wi * (v[s] - shift[s]) * (v[s] - shift[s])
    for s in range(size):
        if not low[s] < high[s]:
            scale[s] = 0.0  # a constant window: its points become zeros
        elif scaling == 1:
            scale[s] = 1.0
        elif scaling == 2:
            scale[s] = 1.0 / np.sqrt(scale[s] / total)
        else:
            scale[s] = high[s] - low[s]


@kernel
def _normalised(v, shift, scale, scaling, out):
    # Not a product with zero: a constant window beside a huge offset must give exact zeros.
    if scaling > 2:  # a quotient, because a product with the inverse would not make the largest value 1
        for s in range(out.shape[0]):
            out[s] = (v[s] - shift[s]) / scale[s] if scale[s] > 0.0 else 0.0
        return
    for s in range(out.shape[0]):
        out[s] = (v[s] - shift[s]) * scale[s] if scale[s] > 0.0 else 0.0


@kernel
def normalise_one(x, w, scaling, out):
    """Normalise one series as `profile` does its windows: a copy of it in a sequence is the same to the bit."""
    shift, scale, low, high, row = np.empty(1), np.empty(1), np.empty(1), np.empty(1), np.empty(1)
    left, share = np.arange(x.shape[1]), np.zeros(x.shape[1])
    for k in range(x.shape[0]):
        _moments(x, w, k, 0, left, share, scaling, shift, scale, low, high, row)
        for i in range(x.shape[1]):
            _normalised(x[k, i : i + 1], shift, scale, scaling, out[k, i : i + 1])


def profile(p, x, y, w, scaling, out):
    """out[j] = distance of the query to the window of its length that starts at j, see `stretched`."""
    stretched(p, x, y, w, scaling, np.arange(x.shape[1]), np.zeros(x.shape[1]), out)


@kernel
def stretched(p, x, y, w, scaling, left, share, out):
    """out[j] = distance of the query to the window that starts at j.

    Its point i lies a share of a step behind sample j + left[i]. `scaling` of each window: 0 none, 1 mean, 2 zscore,
    3 minmax, 4 minmax and then mean.

    The query point is outside and a block of positions inside, so that the inner loops are vector code without leave
    to reorder sums.
    """
    n_channels, m = x.shape
    acc = np.empty((3, BLOCK))
    shift, scale, low, high, row = (np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK))
    between, plain = np.empty(BLOCK), scaling == 0 and not share.any()
    for first in range(0, out.shape[0], BLOCK):
        size_ = min(BLOCK, out.shape[0] - first)
        a, b, c = acc[0, :size_], acc[1, :size_], acc[2, :size_]
        acc[:] = 0.0
        for k in range(n_channels):
            if scaling > 0:
                _moments(
                    y, w, k, first, left, share, scaling,
                    shift[:size_], scale[:size_], low[:size_], high[:size_], between[:size_],
                )  # fmt: skip
            done = 0
            if plain and size(p) == 1:
                for i in range(0, m - 3, 4):
                    _accumulate_four(p, w[k, i : i + 4], x[k, i : i + 4], y[k], first, left[i : i + 4], a)
                done = m - m % 4
            for i in range(done, m):
                v = _row(y[k], first + left[i], share[i], between[:size_])
                if scaling > 0:
                    _normalised(v, shift[:size_], scale[:size_], scaling, row[:size_])
                    v = row[:size_]
                _accumulate(p, w[k, i], x[k, i], v, a, b, c)
        for s in range(size_):
            out[first + s] = finish(p, a[s], b[s], c[s])

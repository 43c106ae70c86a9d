"""Lockstep distances for numba: one term per distance, a few drivers.

A distance is a parameter record with `terms` (what one pair of points adds to up to three accumulators), `combine`
(sum or maximum) and `finish` (accumulators -> distance). As in `_recurrence`, `overload` picks them by the record's
type; they share a file with their drivers for the sake of numba's cache.

Layout: series `(channels, length)`; weights `(channels, length)` of the query.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import overload

from ._compiled import block_size, inner, kernel
from ._pieces import pieces

INF = np.inf
BLOCK = block_size(512, 8)  # positions together: sums and samples stay in the first-level cache
COST = 4  # so many times what a cell of a recurrence takes a term may take, for division
LEAST, MOST = 1e-250, 1e300  # a sum between them lost nothing to underflow, and none of its terms overflowed
NARROW, WIDE = 1e-140, 1e140  # ranges between them can be squared and added up

# ------------------------------------------------------------------------------------------------ dispatch by type
_FOLDS = {}


def fold(*, terms, finish, size=1, combine=None, degree=-1):
    """Register the functions of a parameter record.

    `degree` says how sums that over- or underflow are mended: 1 or 2 for powers of differences, by which power the
    distance grows with them; 0 for products, where the size of either series does not count; -1 where none can.
    """

    def register(record):
        def n_accumulators(p):
            return size

        def growth(p):
            return degree

        functions = {"terms": terms, "finish": finish, "combine": combine or _add}
        _FOLDS[record] = {**functions, "size": n_accumulators, "degree": growth}
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


def degree(p):
    return _part("degree", type(p))(p)


@overload(degree)
def _overload_degree(p):
    return _part("degree", p.instance_class)


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


@fold(terms=_minkowski, finish=_minkowski_root, degree=1)
class MinkowskiRecord(NamedTuple):
    p: float


def _squares(p, w, x, y):
    return w * (x - y) * (x - y), 0.0, 0.0


@fold(terms=_squares, finish=_as_is, degree=2)
class SquaredRecord(NamedTuple):
    pass


def _square_root(p, a, b, c):
    return np.sqrt(a)


@fold(terms=_squares, finish=_square_root, degree=1)
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


@fold(terms=_products, finish=_one_minus_cosine, size=3, degree=0)
class CosineRecord(NamedTuple):
    pass


def _pearson(p, a, b, c):
    r = _cosine(a, b, c)
    if p.beta < 0.0:
        return 2.0 * (1.0 - r)
    return INF if r == -1.0 else ((1.0 - r) / (1.0 + r)) ** p.beta


@fold(terms=_products, finish=_pearson, size=3, degree=0)
class PearsonRecord(NamedTuple):
    """Pearson correlation distance; a negative `beta` stands for the form 2 (1 - r)."""

    beta: float


# ------------------------------------------------------------------------------------------- numbers large and small
@kernel
def _power(size):
    """A power of two by which a size above 0 comes near 1, or as near as factors reach."""
    return math.ldexp(1.0, min(-math.frexp(size)[1], 1000))


@inner
def _within(total):
    return (total > LEAST) & (total < MOST)


@inner
def _is_sure(p, a, b, c):
    """Whether nothing that counts over- or underflowed; sums of 0 are not sure."""
    if degree(p) < 0:
        return True
    return _within(a) if degree(p) > 0 else _within(b) & _within(c)


@kernel
def _of_differences(p, x, y, w, by, unit):
    a = 0.0
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            a = combine(p, a, terms(p, w[k, i], (x[k, i] - y[k, i]) * by / unit, 0.0)[0])
    return a


@kernel
def _rescaled(p, x, y, w):
    """Distance of two series whose sums over- or underflow: by powers of two, which are exact."""
    larger = larger_x = larger_y = 0.0
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            if w[k, i] > 0.0:
                larger_x, larger_y = max(larger_x, abs(x[k, i])), max(larger_y, abs(y[k, i]))
                larger = max(larger, abs(x[k, i] - y[k, i]))
    if degree(p) > 0:
        if larger == 0.0:
            return 0.0
        by, unit = _power(larger), 1.0
        total = _of_differences(p, x, y, w, by, unit)
        if not _within(total):  # a high power of less than 1
            unit = larger * by
            total = _of_differences(p, x, y, w, by, unit)
        total = finish(p, total, 0.0, 0.0) * unit / by
        return total if degree(p) == 1 else total * unit / by
    a = b = c = 0.0
    by_x, by_y = _power(larger_x) if larger_x > 0.0 else 1.0, _power(larger_y) if larger_y > 0.0 else 1.0
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            s, t, u = terms(p, w[k, i], x[k, i] * by_x, y[k, i] * by_y)
            a, b, c = combine(p, a, s), combine(p, b, t), combine(p, c, u)
    return finish(p, a, b, c)


# ------------------------------------------------------------------------------------------------------------ drivers
@kernel
def distance(p, x, y, w):
    """Distance of two series of one length."""
    a = b = c = 0.0
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            s, t, u = terms(p, w[k, i], x[k, i], y[k, i])
            a, b, c = combine(p, a, s), combine(p, b, t), combine(p, c, u)
    return finish(p, a, b, c) if _is_sure(p, a, b, c) else _rescaled(p, x, y, w)


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
    idle, odd = np.zeros(acc.shape[1], np.bool_), np.empty(acc.shape[1], np.bool_)
    for first in range(0, out.shape[0], BLOCK):
        last = min(first + BLOCK, out.shape[0])
        acc[:] = 0.0
        a, b, c = acc[0, : last - first], acc[1, : last - first], acc[2, : last - first]
        for k in range(x.shape[0]):
            for i in range(x.shape[1]):
                _accumulate(p, w[k, i], x[k, i], series[k, i, first:last], a, b, c)
        for s in range(last - first):
            out[first + s] = finish(p, a[s], b[s], c[s])
        odd[:] = False
        if _doubt(p, a, b, c, idle, odd[: last - first]):
            for s in range(last - first):
                if odd[s]:
                    out[first + s] = distance(p, x, np.ascontiguousarray(series[:, :, first + s]), w)


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


@inner
def _brought(v, scale, by_range):
    """A value above its mean or its window's least, normalised."""
    if by_range:  # a quotient, because a product with the inverse would not make the largest value 1
        return v / scale if scale > 0.0 else 0.0
    return v * scale


@inner
def _normalised_four(p, w, x, y, first, left, shift, rest, scale, by_range, a, b, c):
    """The same for windows that are normalised by their shift, rest and scale."""
    v0, v1, v2, v3 = _four(y, first, left, a.shape[0])
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    if size(p) == 1:
        for s in range(a.shape[0]):
            t = combine(p, a[s], terms(p, w0, x0, _brought(v0[s] - shift[s] - rest[s], scale[s], by_range))[0])
            t = combine(p, t, terms(p, w1, x1, _brought(v1[s] - shift[s] - rest[s], scale[s], by_range))[0])
            t = combine(p, t, terms(p, w2, x2, _brought(v2[s] - shift[s] - rest[s], scale[s], by_range))[0])
            a[s] = combine(p, t, terms(p, w3, x3, _brought(v3[s] - shift[s] - rest[s], scale[s], by_range))[0])
    else:
        for s in range(a.shape[0]):
            t0 = terms(p, w0, x0, _brought(v0[s] - shift[s] - rest[s], scale[s], by_range))
            t1 = terms(p, w1, x1, _brought(v1[s] - shift[s] - rest[s], scale[s], by_range))
            t2 = terms(p, w2, x2, _brought(v2[s] - shift[s] - rest[s], scale[s], by_range))
            t3 = terms(p, w3, x3, _brought(v3[s] - shift[s] - rest[s], scale[s], by_range))
            a[s] = combine(p, combine(p, combine(p, combine(p, a[s], t0[0]), t1[0]), t2[0]), t3[0])
            b[s] = combine(p, combine(p, combine(p, combine(p, b[s], t0[1]), t1[1]), t2[1]), t3[1])
            c[s] = combine(p, combine(p, combine(p, combine(p, c[s], t0[2]), t1[2]), t2[2]), t3[2])


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
def _above(y, at, share, base, row):
    """Row = the same less a `base` for each, which is taken off first, so that an offset costs no digits."""
    v = y[at : at + row.shape[0]]
    if share == 0.0:
        for s in range(row.shape[0]):
            row[s] = v[s] - base[s]
        return
    after = y[at + 1 : at + 1 + row.shape[0]]
    for s in range(row.shape[0]):
        row[s] = (v[s] - base[s]) + (after[s] - v[s]) * share


@inner
def _four(y, first, left, size):
    """The samples of four points of each window."""
    a, b, c, d = first + left[0], first + left[1], first + left[2], first + left[3]
    return y[a : a + size], y[b : b + size], y[c : c + size], y[d : d + size]


@kernel(error_model="numpy")
def _moments(y, w, k, first, left, share, scaling, alike, shift, rest, scale, low, high, row, idle, odd):
    """Shift, rest and scale that normalise channel k of each window of a block.

    Samples are added up less one of the window, so that an offset costs no digits; and as the mean lies between two
    numbers, it is kept as two, `shift` and `rest`. A window is constant if its range is not above the share `alike` of
    its largest size. `odd` marks windows whose squares over- or underflow, `idle` those that were constant in all
    channels so far. Leaves their ranges in `high`.
    """
    m, size, even = w.shape[1], shift.shape[0], not share.any()
    low[:] = INF
    high[:] = -INF
    shift[:] = 0.0
    base, total, i = rest, 0.0, 0
    while i < m - 1 and w[k, i] == 0.0:
        i += 1
    for s in range(size):
        base[s] = y[k, first + left[i] + s]
    while i < m:
        wi = w[k, i]
        if even and i + 4 <= m and w[k, i : i + 4].min() > 0.0:
            w1, w2, w3 = w[k, i + 1], w[k, i + 2], w[k, i + 3]
            v0, v1, v2, v3 = _four(y[k], first, left[i : i + 4], size)
            for s in range(size):
                low[s] = min(min(min(low[s], v0[s]), min(v1[s], v2[s])), v3[s])
                high[s] = max(max(max(high[s], v0[s]), max(v1[s], v2[s])), v3[s])
                t = shift[s] + wi * (v0[s] - base[s]) + w1 * (v1[s] - base[s])
                shift[s] = t + w2 * (v2[s] - base[s]) + w3 * (v3[s] - base[s])
            total = total + wi + w1 + w2 + w3
            i += 4
            continue
        if wi > 0.0:
            _above(y[k], first + left[i], share[i], base, row)
            v = y[k, first + left[i] : first + left[i] + size] if even else row
            for s in range(size):
                low[s] = min(low[s], v[s])
                high[s] = max(high[s], v[s])
                shift[s] += wi * row[s]
            total += wi
        i += 1
    total = total if total > 0.0 else 1.0
    for s in range(size):
        width, lift = high[s] - low[s], 0.0 if even else base[s]  # the range of points between samples is less the base
        varies = width > 0.0 and width > alike * max(abs(low[s] + lift), abs(high[s] + lift))
        scale[s] = width if varies else 0.0  # a constant window: its points become zeros
        idle[s] &= not varies
        odd[s] |= varies & ((width < NARROW) | (width > WIDE)) & (scaling == 2)
        high[s] = width
    if scaling == 3:
        for s in range(size):
            shift[s] = low[s] if even else base[s]
            rest[s] = 0.0 if even else low[s]
        return
    for s in range(size):
        one, mean = base[s], shift[s] / total
        shift[s] = one + mean
        part = shift[s] - one
        rest[s] = (one - (shift[s] - part)) + (mean - part)  # what that sum lost to rounding
    if scaling == 1:
        for s in range(size):
            scale[s] = 1.0 if scale[s] > 0.0 else 0.0
    elif scaling == 2:
        spread = low
        _deviations(y, w, k, first, left, share, shift, rest, spread, row)
        for s in range(size):
            rest[s] /= total
            spread[s] = spread[s] / total - rest[s] * rest[s]
            scale[s] = 1.0 / np.sqrt(spread[s]) if scale[s] > 0.0 and spread[s] > 0.0 else 0.0


@kernel
def _deviations(y, w, k, first, left, share, shift, rest, spread, row):
    """Weighted sums, as `rest` and `spread`, of what the windows' points are above their shift, and of its square."""
    m, size, even, i = w.shape[1], shift.shape[0], not share.any(), 0
    rest[:] = 0.0
    spread[:] = 0.0
    while i < m:
        wi = w[k, i]
        if even and i + 4 <= m:
            w1, w2, w3 = w[k, i + 1], w[k, i + 2], w[k, i + 3]
            v0, v1, v2, v3 = _four(y[k], first, left[i : i + 4], size)
            for s in range(size):
                d0, d1, d2, d3 = v0[s] - shift[s], v1[s] - shift[s], v2[s] - shift[s], v3[s] - shift[s]
                rest[s] = rest[s] + wi * d0 + w1 * d1 + w2 * d2 + w3 * d3
                spread[s] = spread[s] + wi * d0 * d0 + w1 * d1 * d1 + w2 * d2 * d2 + w3 * d3 * d3
            i += 4
            continue
        _above(y[k], first + left[i], share[i], shift, row)
        for s in range(size):
            rest[s] += wi * row[s]
            spread[s] += wi * row[s] * row[s]
        i += 1


@kernel
def _normalised(y, at, share, shift, rest, scale, scaling, out):
    """A point of each window, normalised."""
    _above(y, at, share, shift, out)
    for s in range(out.shape[0]):
        out[s] = _brought(out[s] - rest[s], scale[s], scaling > 2)


@kernel
def normalise_one(x, w, scaling, out):
    """Normalise one series as `profile` does its windows: a copy of it in a sequence is the same to the bit."""
    _normalise_window(x, 0, np.arange(x.shape[1]), np.zeros(x.shape[1]), w, scaling, 0.0, out)


@kernel
def _normalise_window(y, first, left, share, w, scaling, alike, out):
    """Normalise one window, as in `stretched`; by a power of two where its squares over- or underflow."""
    shift, rest, scale = np.empty(1), np.empty(1), np.empty(1)
    low, high, row = np.empty(1), np.empty(1), np.empty(1)
    idle, odd = np.ones(1, np.bool_), np.zeros(1, np.bool_)
    for k in range(y.shape[0]):
        odd[0], v = False, y
        _moments(v, w, k, first, left, share, scaling, alike, shift, rest, scale, low, high, row, idle, odd)
        if odd[0]:
            v = y * _power(high[0])
            _moments(v, w, k, first, left, share, scaling, alike, shift, rest, scale, low, high, row, idle, odd)
        for i in range(out.shape[1]):
            _normalised(v[k], first + left[i], share[i], shift, rest, scale, scaling, out[k, i : i + 1])


@kernel
def _alone(p, x, y, w, scaling, alike, first, left, share):
    """Distance of the query to one window whose sums over- or underflow."""
    window = np.empty_like(x)
    if scaling > 0:
        piece = np.ascontiguousarray(y[:, first : first + left[-1] + 1 + (share[-1] > 0.0)])
        _normalise_window(piece, 0, left, share, w, scaling, alike, window)
    else:
        for k in range(x.shape[0]):
            for i in range(x.shape[1]):
                window[k, i] = _row(y[k], first + left[i], share[i], window[k, i : i + 1])[0]
    return distance(p, x, window, w)


def profile(p, x, y, w, scaling, out):
    """out[j] = distance of the query to the window of its length that starts at j, see `stretched`."""
    stretched(p, x, y, w, scaling, 0.0, np.arange(x.shape[1]), np.zeros(x.shape[1]), out)


def stretched(p, x, y, w, scaling, alike, left, share, out):
    """out[j] = distance of the query to the window that starts at j.

    Its point i lies a share of a step behind sample j + left[i]. `scaling` of each window: 0 none, 1 mean, 2 zscore,
    3 minmax, 4 minmax and then mean; `alike` as in `_moments`.
    """
    for begin, end in pieces(len(out), COST * x.size):
        _stretched(p, x, y, w, scaling, alike, left, share, begin, end, out)


@kernel
def _stretched(p, x, y, w, scaling, alike, left, share, begin, end, out):
    """Windows [begin, end), see `stretched`.

    The query point is outside and a block of positions inside, so that the inner loops are vector code without leave
    to reorder sums.
    """
    n_channels, m = x.shape
    acc = np.empty((3, BLOCK))
    shift, rest, scale = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    low, high, row = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    idle, odd = np.empty(BLOCK, np.bool_), np.empty(BLOCK, np.bool_)
    even = not share.any()
    for first in range(begin, end, BLOCK):
        size_ = min(BLOCK, end - first)
        a, b, c = acc[0, :size_], acc[1, :size_], acc[2, :size_]
        acc[:] = 0.0
        idle[:] = scaling > 0
        odd[:] = False
        for k in range(n_channels):
            if scaling > 0:
                _moments(
                    y, w, k, first, left, share, scaling, alike, shift[:size_], rest[:size_], scale[:size_],
                    low[:size_], high[:size_], row[:size_], idle[:size_], odd[:size_],
                )  # fmt: skip
            done = 0
            if even and scaling == 0 and size(p) == 1:
                for i in range(0, m - 3, 4):
                    _accumulate_four(p, w[k, i : i + 4], x[k, i : i + 4], y[k], first, left[i : i + 4], a)
                done = m - m % 4
            elif even and scaling > 0:
                for i in range(0, m - 3, 4):
                    _normalised_four(
                        p, w[k, i : i + 4], x[k, i : i + 4], y[k], first, left[i : i + 4],
                        shift[:size_], rest[:size_], scale[:size_], scaling > 2, a, b, c,
                    )  # fmt: skip
                done = m - m % 4
            for i in range(done, m):
                if scaling > 0:
                    _normalised(
                        y[k], first + left[i], share[i], shift[:size_], rest[:size_], scale[:size_], scaling,
                        row[:size_],
                    )  # fmt: skip
                    _accumulate(p, w[k, i], x[k, i], row[:size_], a, b, c)
                else:
                    _accumulate(p, w[k, i], x[k, i], _row(y[k], first + left[i], share[i], row[:size_]), a, b, c)
        for s in range(size_):
            out[first + s] = finish(p, a[s], b[s], c[s])
        if degree(p) == 0 and scaling == 0:
            _find_blank(y, first, left[-1] + 1 + (share[-1] > 0.0), c, idle)
        if _doubt(p, a, b, c, idle, odd):
            for s in range(size_):
                if odd[s]:
                    out[first + s] = _alone(p, x, y, w, scaling, alike, first + s, left, share)


@kernel
def _find_blank(y, first, span, squares, idle):
    """Mark as idle the windows of `span` samples that are all 0, where any square of a window is."""
    zeros = 0
    for s in range(squares.shape[0]):
        zeros += squares[s] == 0.0
    at = first  # no sample of the window before that is other than 0
    for s in range(squares.shape[0] if zeros else 0):
        at = max(at, first + s)
        while at < first + s + span and not y[:, at].any():
            at += 1
        idle[s] = at == first + s + span


@inner
def _doubt(p, a, b, c, idle, odd):
    """Mark as `odd` what is not sure, too; how many there are. An idle window's sum of squares is 0 indeed."""
    count = 0
    if degree(p) > 0:
        for s in range(a.shape[0]):
            odd[s] |= not _within(a[s])
    elif degree(p) == 0:
        for s in range(a.shape[0]):
            odd[s] |= not (_within(b[s]) & (_within(c[s]) | idle[s]))
    for s in range(a.shape[0]):
        count += odd[s]
    return count

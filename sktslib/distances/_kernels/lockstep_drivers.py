"""Lockstep distances for numba: one term per distance, a few drivers.

A distance is a parameter record with `terms` (what one pair of points adds to up to three accumulators), `combine`
(sum or maximum) and `finish` (accumulators -> distance). As in `_recurrence`, `overload` picks them by the record's
type; they share a file with their drivers for the sake of numba's cache.

Layout: series `(channels, length)`; weights `(channels, length)` of the query.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from .compilation import block_size, inner, kernel
from .pieces import pieces

INF = np.inf
BLOCK = block_size(512, 8)  # positions together: sums and samples stay in the first-level cache
COST = 4  # so many times what a cell of a recurrence takes a term may take, for division
LEAST, MOST = 1e-250, 1e300  # a sum between them lost nothing to underflow, and none of its terms overflowed
NARROW, WIDE = 1e-140, 1e140  # ranges between them can be squared and added up
FEW = 16  # windows that are computed again each for itself

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
@inner
def _within(total):
    return (total > LEAST) & (total < MOST)


@inner
def _is_sure(p, a, b, c):
    """Whether nothing that counts over- or underflowed; sums of 0 are not sure."""
    if degree(p) < 0:
        return True
    return _within(a) if degree(p) > 0 else _within(b) & _within(c)


@inner
def _differs(x, y, w):
    """Whether any points of positive weight differ."""
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            if w[k, i] > 0.0 and x[k, i] != y[k, i]:
                return True
    return False


def power_of_two(size):
    """A factor by which a size above 0 comes near 1, or as near as factors reach; products with it are exact."""
    return np.ldexp(1.0, np.minimum(-np.frexp(size)[1], 1000))


def _rescaled(p, x, y, w):
    """Distance of two series whose sums over- or underflow."""
    seen, none = w > 0.0, np.zeros_like(x)
    with np.errstate(over="ignore", under="ignore"):  # a distance may be beyond float64
        if degree(p) == 0:
            sizes = np.abs(x[seen]).max(initial=0.0), np.abs(y[seen]).max(initial=0.0)
            x, y = (a * (power_of_two(size) if size > 0.0 else 1.0) for a, size in zip((x, y), sizes, strict=True))
            return _distance(p, x, y, w, True)
        d = np.where(seen, x - y, 0.0)
        size = np.abs(d).max(initial=0.0)
        if size == 0.0:
            return 0.0
        by = power_of_two(size)
        found = _distance(p, d * by, none, w, False)
        if found != found:  # a high power of less than 1
            d, size = d * by, size * by
            return np.float64(_distance(p, d / size, none, w, True)) * size / by
        return np.float64(found) / by / (by if degree(p) == 2 else 1.0)


# ------------------------------------------------------------------------------------------------------------ drivers
def distance(p, x, y, w):
    """Distance of two series of one length."""
    found = _distance(p, x, y, w, False)
    return found if found == found else _rescaled(p, x, y, w)


@kernel
def _distance(p, x, y, w, anyway):
    """The same; NaN where sums are not sure, unless it is asked for `anyway`."""
    a = b = c = 0.0
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            s, t, u = terms(p, w[k, i], x[k, i], y[k, i])
            a, b, c = combine(p, a, s), combine(p, b, t), combine(p, c, u)
    return finish(p, a, b, c) if anyway or _is_sure(p, a, b, c) else np.nan


@kernel
def first_terms(p, x, y, w, out):
    """out[k, i] = what the pair i of channel k adds to the first accumulator."""
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            out[k, i] = terms(p, w[k, i], x[k, i], y[k, i])[0]


def one_to_many(p, x, w, series, out):
    """out[s] = distance of x (channels, m) to each of many series of its length, `series` (channels, m, n_series)."""
    if _one_to_many(p, x, w, series, out):
        for s in np.flatnonzero(np.isnan(out)):
            out[s] = distance(p, x, np.ascontiguousarray(series[:, :, s]), w)


@kernel
def _one_to_many(p, x, w, series, out):
    """The same, NaN where sums are not sure; how many those are."""
    acc = np.empty((3, min(BLOCK, out.shape[0])))
    idle, odd, nothing = np.empty(acc.shape[1], np.bool_), np.empty(acc.shape[1], np.bool_), np.zeros_like(x)
    blank, count = degree(p) == 0 and not _differs(x, nothing, w), 0
    for first in range(0, out.shape[0], BLOCK):
        last = min(first + BLOCK, out.shape[0])
        acc[:] = 0.0
        a, b, c = acc[0, : last - first], acc[1, : last - first], acc[2, : last - first]
        for k in range(x.shape[0]):
            for i in range(x.shape[1]):
                _accumulate(p, w[k, i], x[k, i], series[k, i, first:last], a, b, c)
        for s in range(last - first):
            out[first + s] = finish(p, a[s], b[s], c[s])
            odd[s] = False
        if _doubt(p, a, b, c, blank, odd[: last - first]):
            for s in range(last - first):
                if odd[s]:
                    zero = c[s] == 0.0 if degree(p) == 0 else a[s] == 0.0
                    idle[s] = zero and not _differs(nothing if degree(p) == 0 else x, series[:, :, first + s], w)
            count += _refuse(p, b, blank, idle, odd, out[first:last])
    return count


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
def _accumulate_four(p, w, x, y, first, a):
    """The same for four query points in a row in one pass, in their order: the sums are loaded and stored once."""
    v = y[first : first + a.shape[0] + 3]
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    for s in range(a.shape[0]):
        t = combine(p, a[s], terms(p, w0, x0, v[s])[0])
        t = combine(p, t, terms(p, w1, x1, v[s + 1])[0])
        t = combine(p, t, terms(p, w2, x2, v[s + 2])[0])
        a[s] = combine(p, t, terms(p, w3, x3, v[s + 3])[0])


@inner
def _brought(v, scale, by_range):
    """A value above its mean or its window's least, normalised."""
    if by_range:  # a quotient, because a product with the inverse would not make the largest value 1
        return v / scale if scale > 0.0 else 0.0
    return v * scale


@inner
def _normalised_four(p, w, x, y, first, shift, rest, scale, by_range, a, b, c):
    """The same for windows that are normalised by their shift, rest and scale, and points in a row."""
    v = y[first : first + a.shape[0] + 3]
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    for s in range(a.shape[0]):
        t0 = terms(p, w0, x0, _brought(v[s] - shift[s] - rest[s], scale[s], by_range))
        t1 = terms(p, w1, x1, _brought(v[s + 1] - shift[s] - rest[s], scale[s], by_range))
        t2 = terms(p, w2, x2, _brought(v[s + 2] - shift[s] - rest[s], scale[s], by_range))
        t3 = terms(p, w3, x3, _brought(v[s + 3] - shift[s] - rest[s], scale[s], by_range))
        a[s] = _four(p, a[s], t0[0], t1[0], t2[0], t3[0])
        if size(p) > 1:
            b[s] = _four(p, b[s], t0[1], t1[1], t2[1], t3[1])
            c[s] = _four(p, c[s], t0[2], t1[2], t2[2], t3[2])


@inner
def _four(p, total, first, second, third, fourth):
    return combine(p, combine(p, combine(p, combine(p, total, first), second), third), fourth)


@inner
def _row(y, at, share, row):
    """The samples at `at` and after, or the points that lie a share of a step behind them."""
    v = y[at : at + row.shape[0]]
    if share == 0.0:
        return v
    after = y[at + 1 : at + 1 + row.shape[0]]
    for s in range(row.shape[0]):
        row[s] = v[s] + (after[s] - v[s]) * share  # a constant stays one, to the bit
    return row


@inner
def _above(y, at, share, base, row):
    """The same, in `row`, less a `base` for each, which is taken off first, so that an offset costs no digits."""
    v = y[at : at + row.shape[0]]
    if share == 0.0:
        for s in range(row.shape[0]):
            row[s] = v[s] - base[s]
        return
    after = y[at + 1 : at + 1 + row.shape[0]]
    for s in range(row.shape[0]):
        row[s] = (v[s] - base[s]) + (after[s] - v[s]) * share


@kernel(error_model="numpy")
def _moments(y, w, first, left, share, plain, scaling, alike, shift, rest, scale, low, high, row, idle, odd):
    """Shift, rest and scale that normalise each window of a block, in one channel.

    Samples are added up less one of the window, so that an offset costs no digits; and as the mean lies between two
    numbers, it is kept as two, `shift` and `rest`. A window is constant if its range is not above the share `alike` of
    its largest size. `odd` marks windows whose squares over- or underflow, `idle` those that were constant in all
    channels so far. Leaves their ranges in `high`. `plain`: the points are the samples in a row.
    """
    m, size, even = w.shape[0], shift.shape[0], plain or alike == 0.0
    base, total, heavy = rest, 0.0, 0
    while heavy < m - 1 and w[heavy] == 0.0:
        heavy += 1
    for s in range(size):
        low[s], high[s], shift[s] = INF, -INF, 0.0
        base[s] = y[first + left[heavy] + s]
    for i in range(heavy, m):
        wi = w[i]
        if wi > 0.0:
            total += wi
            v = y[first + left[i] : first + left[i] + size]
            if even:
                for s in range(size):
                    low[s] = min(low[s], v[s])
                    high[s] = max(high[s], v[s])
                    shift[s] += wi * (v[s] - base[s])
            else:
                _above(y, first + left[i], share[i], base, row)
                for s in range(size):
                    low[s] = min(low[s], row[s])
                    high[s] = max(high[s], row[s])
                    shift[s] += wi * row[s]
    total = total if total > 0.0 else 1.0
    for s in range(size):
        width, lift = high[s] - low[s], 0.0 if even else base[s]  # the range of points between samples is less the base
        varies = width > 0.0 and width > alike * max(abs(low[s] + lift), abs(high[s] + lift))
        scale[s] = width if varies else 0.0  # a constant window: its points become zeros
        idle[s] &= not varies
        odd[s] |= varies & ((width < NARROW) | (width > WIDE)) & (scaling == 2)
        high[s] = width
    for s in range(size):
        one, mean = base[s], shift[s] / total
        shift[s] = one + mean
        part = shift[s] - one
        rest[s] = (one - (shift[s] - part)) + (mean - part)  # what that sum lost to rounding
        if scaling == 3:
            shift[s], rest[s] = (low[s], 0.0) if even else (one, low[s])
        elif scaling == 1:
            scale[s] = 1.0 if scale[s] > 0.0 else 0.0
    if scaling == 2:
        _deviations(y, w, first, left, share, plain, total, shift, rest, scale, low, row)


@inner
def _deviations(y, w, first, left, share, plain, total, shift, rest, scale, spread, row):
    """Make `rest` the mean of what the windows' points are above their shift, and `scale` their inverse deviation."""
    m, size = w.shape[0], shift.shape[0]
    for s in range(size):
        rest[s] = spread[s] = 0.0
    for i in range(m):
        wi = w[i]
        _above(y, first + left[i], share[i], shift, row)
        for s in range(size):
            rest[s] += wi * row[s]
            spread[s] += wi * row[s] * row[s]
    for s in range(size):
        rest[s] /= total
        variance = spread[s] / total - rest[s] * rest[s]
        scale[s] = 1.0 / np.sqrt(variance) if scale[s] > 0.0 and variance > 0.0 else 0.0


@inner
def _normalised_row(y, at, share, shift, rest, scale, by_range, out):
    """A point of each window, normalised."""
    v = y[at : at + out.shape[0]]
    if share == 0.0:
        for s in range(out.shape[0]):
            out[s] = _brought(v[s] - shift[s] - rest[s], scale[s], by_range)
        return
    _above(y, at, share, shift, out)
    for s in range(out.shape[0]):
        out[s] = _brought(out[s] - rest[s], scale[s], by_range)


def normalise_one(x, w, scaling, out):
    """Normalise one series as `profile` does its windows: a copy of it in a sequence is the same to the bit."""
    normalise_window(x, np.arange(x.shape[1]), np.zeros(x.shape[1]), w, scaling, 0.0, out)


def normalise_window(y, left, share, w, scaling, alike, out):
    """Normalise a series as the window that it is, see `stretched`; by a power of two where squares leave float64."""
    plain = y.shape[1] == w.shape[1]
    for row, weight, to in zip(y, w, out, strict=True):
        width = _normalise_channel(row, left, share, plain, weight, scaling, alike, to)
        if width > 0.0:
            _normalise_channel(row * power_of_two(width), left, share, plain, weight, scaling, alike, to)


@kernel
def _normalise_channel(y, left, share, plain, w, scaling, alike, out):
    """The same for one channel; its range if its squares over- or underflow, else 0."""
    shift, rest, scale = np.empty(1), np.empty(1), np.empty(1)
    low, high, row = np.empty(1), np.empty(1), np.empty(1)
    idle, odd = np.zeros(1, np.bool_), np.zeros(1, np.bool_)
    # The place is 0, but as a number of the same kind as in profiles, for which nothing is compiled anew.
    _moments(y, w, left[0], left, share, plain, scaling, alike, shift, rest, scale, low, high, row, idle, odd)
    for i in range(out.shape[0]):
        _normalised_row(y, left[i], share[i], shift, rest, scale, scaling > 2, out[i : i + 1])
    return high[0] if odd[0] else 0.0


# ------------------------------------------------------------------------------------------------------------ profiles
def profile(p, x, y, w, scaling, out):
    """out[j] = distance of the query to the window of its length that starts at j, see `stretched`."""
    stretched(p, x, y, w, scaling, 0.0, np.arange(x.shape[1]), np.zeros(x.shape[1]), out)


def stretched(p, x, y, w, scaling, alike, left, share, out):
    """out[j] = distance of the query to the window that starts at j.

    Its point i lies a share of a step behind sample j + left[i]. `scaling` of each window: 0 none, 1 mean, 2 zscore,
    3 minmax, 4 minmax and then mean; `alike` as in `_moments`.
    """
    windows = left, share, y.shape[1] - len(out) + 1 == x.shape[1]
    if _stretched(p, x, y, w, scaling, alike, windows, out):
        _stretch_again(p, x, y, w, scaling, alike, windows, out)


def _stretched(p, x, y, w, scaling, alike, windows, out):
    """The same, NaN where sums are not sure; how many those are."""
    count = 0
    for begin, end in pieces(len(out), COST * x.size):
        if scaling:
            count += _normalised(p, x, y, w, scaling, alike, *windows, begin, end, out)
        else:
            count += _as_they_are(p, x, y, w, *windows, begin, end, out)
    return count


def _stretch_again(p, x, y, w, scaling, alike, windows, out):
    """Find the distances that are NaN, by powers of two: each of some, and with it those of all that need the same."""
    left, share, _ = windows
    span = y.shape[1] - len(out) + 1
    todo, other = np.flatnonzero(np.isnan(out)), np.empty(len(out))
    while len(todo):
        piece, window = np.ascontiguousarray(y[:, todo[0] : todo[0] + span]), np.empty_like(x)
        if scaling:
            normalise_window(piece, left, share, w, scaling, alike, window)
        else:
            window = piece[:, left] + (piece[:, np.minimum(left + 1, span - 1)] - piece[:, left]) * share
        out[todo[0]] = distance(p, x, window, w)
        todo = todo[1:]
        if len(todo) < FEW:
            continue
        of_x = of_y = back = 1.0
        if scaling == 2:
            of_y = power_of_two(np.maximum(np.ptp(piece, axis=1, keepdims=True), 5e-324))
        elif degree(p) == 0:
            of_x, of_y = (power_of_two(max(np.abs(a).max(), 5e-324)) for a in (x, window))
        else:
            of_x = of_y = power_of_two(max(np.abs(x - window).max(), 5e-324))
            back = of_x if degree(p) == 2 else 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            _stretched(p, x * of_x, y * of_y, w, scaling, alike, windows, other)
            found = todo[np.isfinite(other[todo])]
            out[found] = other[found] if scaling == 2 or degree(p) == 0 else other[found] / of_x / back
        todo = todo[~np.isfinite(other[todo])]


@kernel
def _as_they_are(p, x, y, w, left, share, plain, begin, end, out):
    """The same without normalisation, NaN where sums are not sure; how many those are.

    The query point is outside and a block of positions inside, so that the inner loops are vector code without leave
    to reorder sums. `plain`: a window's points are its samples.
    """
    n_channels, m = x.shape
    acc, row = np.empty((3, BLOCK)), np.empty(BLOCK)
    idle, odd = np.empty(BLOCK, np.bool_), np.empty(BLOCK, np.bool_)
    blank, count = degree(p) == 0 and not _differs(x, np.zeros_like(x), w), 0
    for first in range(begin, end, BLOCK):
        size_ = min(BLOCK, end - first)
        a, b, c = acc[0, :size_], acc[1, :size_], acc[2, :size_]
        acc[:] = 0.0
        for k in range(n_channels):
            done = 0
            if plain and size(p) == 1:
                done = m - m % 4
                for i in range(0, done, 4):
                    _accumulate_four(p, w[k, i : i + 4], x[k, i : i + 4], y[k], first + i, a)
            for i in range(done, m):
                _accumulate(p, w[k, i], x[k, i], _row(y[k], first + left[i], share[i], row[:size_]), a, b, c)
        for s in range(size_):
            out[first + s] = finish(p, a[s], b[s], c[s])
            odd[s] = False
        if _doubt(p, a, b, c, blank, odd[:size_]):
            if degree(p) == 0:
                _find_blank(y, first, left[-1] + 1 + (share[-1] > 0.0), idle[:size_])
            else:
                for s in range(size_):
                    same = odd[s] and plain and a[s] == 0.0
                    idle[s] = same and not _differs(x, y[:, first + s : first + s + m], w)
            count += _refuse(p, b, blank, idle, odd, out[first : first + size_])
    return count


@kernel
def _normalised(p, x, y, w, scaling, alike, left, share, plain, begin, end, out):
    """The same for windows that are normalised."""
    n_channels, m = x.shape
    acc = np.empty((3, BLOCK))
    shift, rest, scale = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    low, high, row = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    idle, odd = np.empty(BLOCK, np.bool_), np.empty(BLOCK, np.bool_)
    blank, narrow, count = degree(p) == 0 and not _differs(x, np.zeros_like(x), w), True, 0
    for k in range(n_channels):
        for i in range(m):
            narrow &= not abs(x[k, i]) > NARROW
    for first in range(begin, end, BLOCK):
        size_ = min(BLOCK, end - first)
        a, b, c = acc[0, :size_], acc[1, :size_], acc[2, :size_]
        shift_, rest_, scale_, row_ = shift[:size_], rest[:size_], scale[:size_], row[:size_]
        idle_, odd_ = idle[:size_], odd[:size_]
        acc[:] = 0.0
        for s in range(size_):
            idle[s], odd[s] = True, False
        for k in range(n_channels):
            _moments(
                y[k], w[k], first, left, share, plain, scaling, alike, shift_, rest_, scale_, low[:size_],
                high[:size_], row_, idle_, odd_,
            )  # fmt: skip
            done = 0
            if plain:
                done = m - m % 4
                for i in range(0, done, 4):
                    _normalised_four(
                        p, w[k, i : i + 4], x[k, i : i + 4], y[k], first + i, shift_, rest_, scale_, scaling > 2,
                        a, b, c,
                    )  # fmt: skip
            for i in range(done, m):
                _normalised_row(y[k], first + left[i], share[i], shift_, rest_, scale_, scaling > 2, row_)
                _accumulate(p, w[k, i], x[k, i], row_, a, b, c)
        for s in range(size_):
            out[first + s] = finish(p, a[s], b[s], c[s])
            if degree(p) > 0:  # values that are normalised differ by more than what underflows, or not at all
                idle[s] = a[s] == 0.0 and not (narrow or odd[s])
        if _doubt(p, a, b, c, blank, odd_):
            count += _refuse(p, b, blank, idle, odd, out[first : first + size_])
    return count


@inner
def _is_blank(y, at):
    for k in range(y.shape[0]):
        if y[k, at] != 0.0:
            return False
    return True


@inner
def _find_blank(y, first, span, idle):
    """Which windows of `span` samples, one after the other, are all 0."""
    at = first  # no sample of the window before that is other than 0
    for s in range(idle.shape[0]):
        at = max(at, first + s)
        while at < first + s + span and _is_blank(y, at):
            at += 1
        idle[s] = at == first + s + span


@inner
def _doubt(p, a, b, c, blank, odd):
    """Mark as `odd` what is not sure; how many there are. All is marked whose sums are 0."""
    count = 0
    for s in range(a.shape[0]):
        if degree(p) > 0:
            odd[s] |= not _within(a[s])
        elif degree(p) == 0:
            odd[s] |= not ((_within(b[s]) | blank) & _within(c[s]))
        count += odd[s]
    return count


@inner
def _refuse(p, b, blank, idle, odd, out):
    """NaN for the distances that are `odd`, but for those of `idle` windows, whose sums are 0 indeed; how many."""
    count = 0
    for s in range(out.shape[0]):
        if odd[s] and not (idle[s] and (degree(p) > 0 or blank or _within(b[s]))):
            out[s] = np.nan
            count += 1
    return count

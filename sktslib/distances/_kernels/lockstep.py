"""Lockstep distances: their records of parameters, and the drivers for two series, one and many, and windows.

A distance is `terms` (the numbers that a pair of points adds to up to three accumulators), `combine` (sum or maximum)
and `finish` (accumulators -> distance). As in `dispatch`, they are selected by the record's type.

Layout: series `(channels, length)`; weights `(channels, length)` of the query.
"""

from typing import NamedTuple

import numpy as np

from .compile import block_size, inner, kernel, pieces, step
from .dispatch import by_type
from .moments import (
    NARROW,
    exact_moments,
    normalize_window,
    normalized,
    normalized_row,
    points_at,
    power_of_two,
    room_for,
    share_of,
    total_of,
)

INF = np.inf

_TERMS = {}


def additive(*, terms, finish, size=1, combine=None, degree=-1):
    """Give a NamedTuple of parameters the functions that make it a lockstep distance (class decorator).

    `degree` says how sums that over- or underflow are mended: 1 or 2 for powers of differences, by which power the
    distance grows with them; 0 for products, where the size of either series does not count; -1 where none can.
    """

    def register(record):
        functions = {"terms": terms, "finish": finish, "combine": combine or _add}
        _TERMS[record] = {**functions, "size": lambda p: size, "degree": lambda p: degree}
        return record

    return register


def _part(name, record):
    entry = _TERMS.get(record)
    return None if entry is None else entry[name]


terms, combine, finish = (by_type(_part, name) for name in ("terms", "combine", "finish"))
size, degree = by_type(_part, "size"), by_type(_part, "degree")


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


@additive(terms=_minkowski, finish=_minkowski_root, degree=1)
class MinkowskiRecord(NamedTuple):
    p: float


def _squares(p, w, x, y):
    return w * (x - y) * (x - y), 0.0, 0.0


@additive(terms=_squares, finish=_as_is, degree=2)
class SquaredRecord(NamedTuple):
    pass


def _square_root(p, a, b, c):
    return np.sqrt(a)


@additive(terms=_squares, finish=_square_root, degree=1)
class EuclideanRecord(NamedTuple):
    pass


def _absolute(p, w, x, y):
    return w * abs(x - y), 0.0, 0.0


@additive(terms=_absolute, finish=_as_is)
class ManhattanRecord(NamedTuple):
    pass


@additive(terms=_absolute, finish=_as_is, combine=_largest)
class ChebyshevRecord(NamedTuple):
    pass


def _canberra(p, w, x, y):
    scale = abs(x) + abs(y)
    return (w * abs(x - y) / scale if scale > 0.0 else 0.0), 0.0, 0.0


@additive(terms=_canberra, finish=_as_is)
class CanberraRecord(NamedTuple):
    pass


def _kullback_leibler(p, w, x, y):
    if not w > 0.0:
        return 0.0, 0.0, 0.0
    ratio = (y - x) / x  # a difference of logarithms would lose the digits of points that are nearly alike
    return w * max(x * (ratio - np.log1p(ratio)), 0.0), 0.0, 0.0


@additive(terms=_kullback_leibler, finish=_as_is)
class KullbackLeiblerRecord(NamedTuple):
    pass


def _braycurtis(p, w, x, y):
    return w * abs(x - y), w * abs(x + y), 0.0


def _ratio(p, a, b, c):
    if b > 0.0:
        return a / b
    return INF if a > 0.0 else 0.0


@additive(terms=_braycurtis, finish=_ratio, size=2)
class BraycurtisRecord(NamedTuple):
    pass


def _hamming(p, w, x, y):
    return (w if x != y else 0.0), w, 0.0


@additive(terms=_hamming, finish=_ratio, size=2)
class HammingRecord(NamedTuple):
    pass


def _products(p, w, x, y):
    return w * x * y, w * x * x, w * y * y


def _cosine_of(p, a, b, c):
    """Return a / sqrt(b c); the product's root is exact for b = c, the roots' product neither over- nor underflows."""
    if b > 0.0 and c > 0.0:
        square = b * c
        norm = np.sqrt(square) if 1e-290 < square < INF else np.sqrt(b) * np.sqrt(c)
        return max(-1.0, min(1.0, a / norm))
    return 1.0 if b == c else 0.0


_cosine = by_type(lambda name, record: _cosine_of if record in _TERMS else None, "cosine")


def _one_minus_cosine(p, a, b, c):
    return 1.0 - _cosine(p, a, b, c)


@additive(terms=_products, finish=_one_minus_cosine, size=3, degree=0)
class CosineRecord(NamedTuple):
    pass


def _pearson(p, a, b, c):
    r = _cosine(p, a, b, c)
    if p.beta < 0.0:
        return 2.0 * (1.0 - r)
    return INF if r == -1.0 else ((1.0 - r) / (1.0 + r)) ** p.beta


@additive(terms=_products, finish=_pearson, size=3, degree=0)
class PearsonRecord(NamedTuple):
    """Pearson correlation distance; a negative `beta` stands for the form 2 (1 - r)."""

    beta: float


SQUARES, PRODUCTS = (SquaredRecord, EuclideanRecord), (CosineRecord, PearsonRecord)
BLOCK = block_size(512, 8)  # positions together: sums and samples stay in the first-level cache
COST = 4  # so many times what a cell of a recurrence takes a term may take, for division
LEAST, MOST = 1e-250, 1e300  # a sum between them lost nothing to underflow, and none of its terms overflowed
FEW = 16  # windows that are computed without kernels, or computed again each for itself
TOGETHER = block_size(2**14, 24)  # windows whose moments are known at a time


# ------------------------------------------------------------------------------------------- numbers large and small
@step
def _within(total):
    return (total > LEAST) & (total < MOST)


@inner
def _is_sure(p, a, b, c, blank, odd, zero, narrow):
    """Return whether nothing that counts over- or underflowed; sums of 0 are sure only where it is known why they are.

    `blank`: the query is 0, and that of products. Of a normalized window, else False, False, True: whether its moments
    are `odd`, whether it is `zero`, and whether squares may underflow, values of a `narrow` query being small.
    """
    if degree(p) < 0:
        return not odd
    if degree(p) > 0:  # values that are normalized differ by more than what underflows, or not at all
        return (_within(a) | ((a == 0.0) & (not narrow))) & (not odd)
    return (_within(b) | blank) & ((_within(c) & (not odd)) | zero)


def _rescaled(p, x, y, w):
    """Return the distance of two series whose sums over- or underflow."""
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
    """Compute the distance of two series of one length."""
    found = _distance(p, x, y, w, False)
    return found if found == found else _rescaled(p, x, y, w)


@kernel
def _distance(p, x, y, w, anyway):
    """Return the distance of two series of one length; NaN if its sums are not reliable, unless `anyway` is set."""
    a = b = c = 0.0
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            s, t, u = terms(p, w[k, i], x[k, i], y[k, i])
            a, b, c = combine(p, a, s), combine(p, b, t), combine(p, c, u)
    return finish(p, a, b, c) if anyway or _is_sure(p, a, b, c, False, False, False, True) else np.nan


@kernel
def first_terms(p, x, y, w, out):
    """out[k, i] = what the pair i of channel k adds to the first accumulator."""
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            out[k, i] = terms(p, w[k, i], x[k, i], y[k, i])[0]


def one_to_many(p, x, w, series, out):
    """out[s] = distance of x (channels, m) to each of many series of its length, `series` (channels, m, n_series)."""
    if _one_to_many(p, x, w, series, degree(p) == 0 and not x[w > 0.0].any(), out):
        for s in np.flatnonzero(np.isnan(out)):
            out[s] = distance(p, x, np.ascontiguousarray(series[:, :, s]), w)


@kernel
def _one_to_many(p, x, w, series, blank, out):
    """Fill in the distances of x to many series, NaN where sums are not reliable; return the number of those."""
    acc, count = np.empty((3, min(BLOCK, out.shape[0]))), 0
    for first in range(0, out.shape[0], BLOCK):
        last = min(first + BLOCK, out.shape[0])
        acc[:] = 0.0
        a, b, c = acc[0, : last - first], acc[1, : last - first], acc[2, : last - first]
        for k in range(x.shape[0]):
            for i in range(x.shape[1]):
                _accumulate(p, w[k, i], x[k, i], series[k, i, first:last], a, b, c)
        for s in range(last - first):
            sure = _is_sure(p, a[s], b[s], c[s], blank, False, False, True)
            out[first + s] = finish(p, a[s], b[s], c[s]) if sure else np.nan
            count += not sure
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
def _accumulate_four(p, w, x, v, a):
    """Add the terms of four query points in a row, in their order, loading and storing each sum once."""
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    for s in range(a.shape[0]):
        t = combine(p, a[s], terms(p, w0, x0, v[s])[0])
        t = combine(p, t, terms(p, w1, x1, v[s + 1])[0])
        t = combine(p, t, terms(p, w2, x2, v[s + 2])[0])
        a[s] = combine(p, t, terms(p, w3, x3, v[s + 3])[0])


@inner
def _normalized_four(p, w, x, v, shift, rest, scale, by_range, a, b, c):
    """Add the terms of four query points in a row with windows that are normalized by their shift, rest and scale."""
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    for s in range(a.shape[0]):
        t0 = terms(p, w0, x0, normalized(v[s] - shift[s] - rest[s], scale[s], by_range))
        t1 = terms(p, w1, x1, normalized(v[s + 1] - shift[s] - rest[s], scale[s], by_range))
        t2 = terms(p, w2, x2, normalized(v[s + 2] - shift[s] - rest[s], scale[s], by_range))
        t3 = terms(p, w3, x3, normalized(v[s + 3] - shift[s] - rest[s], scale[s], by_range))
        a[s] = _four(p, a[s], t0[0], t1[0], t2[0], t3[0])
        if size(p) > 1:
            b[s] = _four(p, b[s], t0[1], t1[1], t2[1], t3[1])
            c[s] = _four(p, c[s], t0[2], t1[2], t2[2], t3[2])


@step
def _four(p, total, first, second, third, fourth):
    return combine(p, combine(p, combine(p, combine(p, total, first), second), third), fourth)


@inner
def _row(y, at, share, row):
    """Return the samples at `at` and after, or the points that are a share of a step behind them."""
    v = y[at : at + row.shape[0]]
    if share is None or share == 0.0:
        return v
    after = y[at + 1 : at + 1 + row.shape[0]]
    for s in range(row.shape[0]):
        row[s] = v[s] + (after[s] - v[s]) * share  # a constant stays one, to the bit
    return row


# ------------------------------------------------------------------------------------------------------------ profiles
def profile(p, x, y, w, scaling, out):
    """out[j] = distance of the query to the window of its length that starts at j, see `stretched`."""
    stretched(p, x, y, w, scaling, 0.0, np.arange(x.shape[1]), None, out)


def stretched(p, x, y, w, scaling, alike, left, share, out):
    """out[j] = distance of the query to the window that starts at j.

    Its point i is a share of a step behind sample j + left[i]; without a `share` (None) it is that sample. `scaling`
    of each window: 0 none, 1 mean, 2 zscore, 3 minmax, 4 minmax and then mean; `alike` as in `exact_moments`.
    """
    if _stretched(p, x, y, w, scaling, alike, left, share, out):
        _stretch_again(p, x, y, w, scaling, alike, left, share, out)


def _stretched(p, x, y, w, scaling, alike, left, share, out):
    """Fill in the distances of the query to windows, NaN where sums are not reliable; return the number of those."""
    if x.size and len(out) <= FEW and isinstance(p, SQUARES + PRODUCTS):
        windows = y[:, np.arange(len(out))[:, np.newaxis] + np.arange(y.shape[1] - len(out) + 1)].transpose(1, 0, 2)
        few(p, x, windows, w, scaling, alike, left, share, out)
        return 0
    largest, count = np.abs(x[w > 0.0]).max(initial=0.0), 0
    blank, narrow = degree(p) == 0 and largest == 0.0, not scaling or np.abs(x).max(initial=0.0) <= NARROW
    options, room = (True if scaling > 2 else None, left, share, blank, narrow), (np.empty((3, BLOCK)), np.empty(BLOCK))
    for begin, end in pieces(len(out), COST * x.size):
        if not scaling:
            count += _sums(p, x, y, w, *options, begin, None, None, None, out[begin:end], *room)
            continue
        for first in range(begin, end, TOGETHER):
            some = out[first : min(first + TOGETHER, end)]
            moments, row, constant, odd = room_for(len(y), len(some))
            for k in range(len(y)):
                exact_moments(y[k], w[k], first, left, share, scaling, alike, moments[k], row, constant, odd)
            count += _sums(p, x, y, w, *options, first, moments, constant, odd, some, *room)
    return count


@np.errstate(all="ignore")  # as in kernels
def few(p, x, windows, w, scaling, alike, left, share, out):
    """Fill in the distances to windows (n, channels, span) as `stretched` does to those of a sequence, to the bit.

    It needs no kernel, whose compiling takes seconds, and is for records of SQUARES and PRODUCTS.
    """
    if scaling:
        normalize_window(windows, left, share, w, scaling, alike, points := np.empty((len(out), *x.shape)))
    else:
        points = points_at(windows, left, share)
    sums = np.zeros((3, len(out)))
    for total, values in zip(sums[: size(p)], terms(p, w, x, points), strict=False):
        total[:] = total_of(values.reshape(*values.shape[:-2], -1))[..., 0]
    counted = sums[1:] if degree(p) == 0 else sums[:1]
    sure = ((counted > LEAST) & (counted < MOST)).all(axis=0)
    for j in range(len(out)):
        if sure[j]:
            out[j] = finish(p, *sums[:, j])
        elif degree(p) > 0 and (points[j] == x)[w > 0.0].all():
            out[j] = 0.0
        else:
            out[j] = distance(p, x, np.ascontiguousarray(points[j]), w)


def _stretch_again(p, x, y, w, scaling, alike, left, share, out):
    """Find the distances that are NaN, by powers of two: each of some, and with it those of all that need the same."""
    span = y.shape[1] - len(out) + 1
    todo, other = np.flatnonzero(np.isnan(out)), np.empty(len(out))
    if not scaling:  # sums of 0 may be of many windows
        if degree(p) == 0:
            seen = np.concatenate([[0], np.cumsum((y != 0.0).any(axis=0))])
            same, like = todo[seen[todo] == seen[todo + span]], np.zeros_like(x)
        else:
            same, like = todo, x
            for k, i in np.argwhere(w > 0.0):
                same = same[points_at(y[k], same + left[i], None if share is None else share[i]) == x[k, i]]
                if not len(same):
                    break
        if len(same):
            out[same] = distance(p, x, like, w)
            todo = np.setdiff1d(todo, same, assume_unique=True)
    while len(todo):
        piece, window = np.ascontiguousarray(y[:, todo[0] : todo[0] + span]), np.empty_like(x)
        if scaling:
            normalize_window(piece, left, share, w, scaling, alike, window)
        else:
            window = points_at(piece, left, share)
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
            _stretched(p, x * of_x, y * of_y, w, scaling, alike, left, share, other)
            found = todo[np.isfinite(other[todo])]
            out[found] = other[found] if scaling == 2 or degree(p) == 0 else other[found] / of_x / back
        todo = todo[~np.isfinite(other[todo])]


@kernel
def _sums(p, x, y, w, by_range, left, share, blank, narrow, first, moments, zeros, odd, out, acc, row):
    """Fill in the distances to the windows from `first` on, NaN where sums are not reliable; return their number.

    Windows are normalized by their moments, or compared as they are where `moments`, `zeros` and `odd` are None. The
    query point is outside and a block of positions inside, so that the inner loops are vector code without leave to
    reorder sums.
    """
    n_channels, m = x.shape
    count = 0
    for at in range(0, out.shape[0], BLOCK):
        to, here = at + BLOCK, out[at : at + BLOCK]  # or the end, as slices are
        size_ = here.shape[0]
        a, b, c, some = acc[0, :size_], acc[1, :size_], acc[2, :size_], row[:size_]
        acc[:] = 0.0
        for k in range(n_channels):
            done = 0
            if moments is not None:
                shift, rest, scale = moments[k, 0, at:to], moments[k, 1, at:to], moments[k, 2, at:to]
            if share is None and (moments is not None or size(p) == 1):
                done = m - m % 4
                for i in range(0, done, 4):
                    four = w[k, i : i + 4], x[k, i : i + 4], y[k, first + at + i : first + at + i + size_ + 3]
                    if moments is None:
                        _accumulate_four(p, *four, a)
                    else:
                        _normalized_four(p, *four, shift, rest, scale, by_range, a, b, c)
            for i in range(done, m):
                if moments is None:
                    _accumulate(
                        p, w[k, i], x[k, i], _row(y[k], first + at + left[i], share_of(share, i), some), a, b, c
                    )
                else:
                    normalized_row(y[k], first + at + left[i], share_of(share, i), shift, rest, scale, by_range, some)
                    _accumulate(p, w[k, i], x[k, i], some, a, b, c)
        for s in range(size_):
            is_odd, is_zero = False, False
            if moments is not None:
                is_odd, is_zero = odd[at + s], zeros[at + s]
            sure = _is_sure(p, a[s], b[s], c[s], blank, is_odd, is_zero, narrow)
            here[s] = finish(p, a[s], b[s], c[s]) if sure else np.nan
            count += not sure
    return count

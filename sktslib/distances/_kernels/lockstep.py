"""Lockstep distances: parameter records, and drivers for two series, for one series and many, and for windows.

A distance consists of three functions: `terms` (the numbers that a pair of points adds to up to three accumulators),
`combine` (sum or maximum) and `finish` (accumulators -> distance). The type of the record selects them, as in
`dispatch`.

Layout: series `(channels, length)`; weights `(channels, length)` of the query.
"""

from typing import NamedTuple

import numpy as np

from .compile import block_size, inner, kernel, pieces, step
from .dispatch import by_type, part_of
from .moments import (
    PIECE_OF_WINDOWS,
    exact_moments,
    normalize_window,
    normalized,
    normalized_row,
    points_at,
    share_of,
    total_of,
)

INF = np.inf


def additive(*, terms, finish, size=1, combine=None, steep=lambda p: False):
    """Make a lockstep distance of a NamedTuple of parameters and functions (class decorator).

    `size` is the number of accumulators. `steep` returns whether the parameters make terms such high powers that sums
    may over- or underflow. Such sums are computed again from the differences divided by the largest of them; the
    distance is then multiplied by it.
    """

    def register(record):
        functions = {"terms": terms, "finish": finish, "combine": combine or _add, "steep": steep}
        record._parts = {**functions, "size": lambda p: size}
        return record

    return register


terms, combine, finish = (by_type(part_of, name) for name in ("terms", "combine", "finish"))
size, steep = by_type(part_of, "size"), by_type(part_of, "steep")


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


@additive(terms=_minkowski, finish=_minkowski_root, steep=lambda p: p.p > 2.0)
class MinkowskiRecord(NamedTuple):
    p: float


def _squares(p, w, x, y):
    return w * (x - y) * (x - y), 0.0, 0.0


@additive(terms=_squares, finish=_as_is)
class SquaredRecord(NamedTuple):
    pass


def _square_root(p, a, b, c):
    return np.sqrt(a)


@additive(terms=_squares, finish=_square_root)
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
    ratio = (y - x) / x  # a difference of logarithms would lose digits where x and y are nearly equal
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
    """Return a / sqrt(b c), at most 1 in size.

    The root of b c is exact for b = c; where b c over- or underflows, the product of the roots does not.
    """
    if b > 0.0 and c > 0.0:
        square = b * c
        norm = np.sqrt(square) if 1e-290 < square < INF else np.sqrt(b) * np.sqrt(c)
        return max(-1.0, min(1.0, a / norm))
    return 1.0 if b == c else 0.0


_cosine = by_type(lambda name, record: _cosine_of, "cosine")


def _one_minus_cosine(p, a, b, c):
    return 1.0 - _cosine(p, a, b, c)


@additive(terms=_products, finish=_one_minus_cosine, size=3)
class CosineRecord(NamedTuple):
    pass


def _pearson(p, a, b, c):
    r = _cosine(p, a, b, c)
    if p.beta < 0.0:
        return 2.0 * (1.0 - r)
    return INF if r == -1.0 else ((1.0 - r) / (1.0 + r)) ** p.beta


@additive(terms=_products, finish=_pearson, size=3)
class PearsonRecord(NamedTuple):
    """Pearson correlation distance ((1 - r) / (1 + r))^beta; a negative `beta` selects the form 2 (1 - r)."""

    beta: float


SQUARES, PRODUCTS = (SquaredRecord, EuclideanRecord), (CosineRecord, PearsonRecord)
BLOCK = block_size(512, 8)  # windows at a time: sums and samples stay in the first-level cache
COST = 4  # time of a term relative to a cell of a recurrence, because it may contain a division
LEAST, MOST = 1e-250, 1e300  # sums between them lost nothing to underflow, and none of their terms overflowed
FEW = 16  # up to this number of windows, numpy computes and no kernel is compiled
TOGETHER = block_size(2**14, 24)  # windows whose moments are kept at a time


# ------------------------------------------------------------------------------------------------------------ drivers
@step
def _finished(p, a, b, c):
    """Return the distance for the accumulators; NaN where a sum of high powers may have over- or underflowed."""
    return finish(p, a, b, c) if not steep(p) or LEAST < a < MOST else np.nan


def distance(p, x, y, w):
    """Return the distance of two series of equal length, (channels, n)."""
    found = _distance(p, x, y, w)
    if found == found:
        return found
    d = np.where(w > 0.0, x - y, 0.0)
    largest = np.abs(d).max(initial=0.0)
    return largest * _distance(p, d / largest, np.zeros_like(x), w) if largest > 0.0 else 0.0


@kernel
def _distance(p, x, y, w):
    a = b = c = 0.0
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            s, t, u = terms(p, w[k, i], x[k, i], y[k, i])
            a, b, c = combine(p, a, s), combine(p, b, t), combine(p, c, u)
    return _finished(p, a, b, c)


@kernel
def first_terms(p, x, y, w, out):
    """Fill in out[k, i], the term of the pair x[k, i], y[k, i] in the first accumulator."""
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            out[k, i] = terms(p, w[k, i], x[k, i], y[k, i])[0]


def one_to_many(p, x, w, series, out):
    """Fill in out[s], the distance of x (channels, m) to series s of `series` (channels, m, n_series)."""
    _one_to_many(p, x, w, series, out)
    for s in np.flatnonzero(np.isnan(out)) if steep(p) else ():
        out[s] = distance(p, x, np.ascontiguousarray(series[:, :, s]), w)


@kernel
def _one_to_many(p, x, w, series, out):
    acc = np.empty((3, min(BLOCK, out.shape[0])))
    for first in range(0, out.shape[0], BLOCK):
        last = min(first + BLOCK, out.shape[0])
        acc[:] = 0.0
        a, b, c = acc[0, : last - first], acc[1, : last - first], acc[2, : last - first]
        for k in range(x.shape[0]):
            for i in range(x.shape[1]):
                _accumulate(p, w[k, i], x[k, i], series[k, i, first:last], a, b, c)
        for s in range(last - first):
            out[first + s] = _finished(p, a[s], b[s], c[s])


@kernel
def finish_all(p, a, b, c, out):
    """Fill in out[j], the distance for the accumulators a[j], b (one number for all) and c[j]."""
    for j in range(out.shape[0]):
        out[j] = finish(p, a[j], b, c[j])


@inner
def _accumulate(p, w, x, v, a, b, c):
    """Add the terms of one query point and each point of a row to the accumulators a, b and c."""
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
    """Add the terms of four consecutive query points, in their order; each sum is loaded and stored once."""
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    for s in range(a.shape[0]):
        t = combine(p, a[s], terms(p, w0, x0, v[s])[0])
        t = combine(p, t, terms(p, w1, x1, v[s + 1])[0])
        t = combine(p, t, terms(p, w2, x2, v[s + 2])[0])
        a[s] = combine(p, t, terms(p, w3, x3, v[s + 3])[0])


@inner
def _normalized_four(p, w, x, v, shift, rest, scale, by_range, a, b, c):
    """Add the terms of four consecutive query points with windows, normalized by their shift, rest and scale."""
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
    """Return the samples from `at` on, or with a `share` the points interpolated at that share of the step after each.

    Interpolated points are written to `row`, whose length is the number of points.
    """
    v = y[at : at + row.shape[0]]
    if share is None or share == 0.0:
        return v
    after = y[at + 1 : at + 1 + row.shape[0]]
    for s in range(row.shape[0]):
        row[s] = v[s] + (after[s] - v[s]) * share  # a constant stays one, to the bit
    return row


# ------------------------------------------------------------------------------------------------------------ profiles
def stretched(p, x, y, w, scaling, alike, left, share, out):
    """Fill in out[j], the distance of the query to the window that starts at sample j.

    Point i of the window is sample j + left[i], or with a `share` the point interpolated at share[i] of the step after
    that sample. `scaling` says how each window is normalized: 0 none, 1 mean, 2 zscore, 3 minmax, 4 minmax and then
    mean. `alike` is the tolerance for constant windows of `_exact_moments`.
    """
    span = y.shape[1] - len(out) + 1
    if x.size and len(out) <= FEW and isinstance(p, SQUARES + PRODUCTS):
        windows = y[:, np.arange(len(out))[:, np.newaxis] + np.arange(span)].transpose(1, 0, 2)
        few(p, x, windows, w, scaling, alike, left, share, out)
        return
    options, rooms = (True if scaling > 2 else None, left, share), (np.empty((3, BLOCK)), np.empty(BLOCK))
    for begin, end in pieces(len(out), COST * x.size):
        if not scaling:
            _sums(p, x, y, w, *options, begin, None, out[begin:end], *rooms)
            continue
        for first in range(begin, end, TOGETHER):
            some = out[first : min(first + TOGETHER, end)]
            moments, room = np.empty((len(y), 3, len(some))), np.empty((3, PIECE_OF_WINDOWS))
            for k in range(len(y)):
                exact_moments(y[k], w[k], first, left, share, scaling, alike, moments[k], room)
            _sums(p, x, y, w, *options, first, moments, some, *rooms)
    for j in np.flatnonzero(np.isnan(out)) if steep(p) else ():
        window = _normalized(y[:, j : j + span], w, scaling, alike, left, share)
        out[j] = distance(p, x, np.ascontiguousarray(window), w)


def _normalized(windows, w, scaling, alike, left, share):
    """Return the normalized points (..., channels, m) of windows (..., channels, span)."""
    if not scaling:
        return points_at(windows, left, share)
    return normalize_window(windows, left, share, w, scaling, alike)


@np.errstate(all="ignore")  # as in kernels
def few(p, x, windows, w, scaling, alike, left, share, out):
    """Fill in the distances to windows (n, channels, span), bit for bit as `stretched` computes them.

    This numpy code avoids compiling a kernel, which would take seconds. It supports the records of SQUARES and
    PRODUCTS.
    """
    points, sums = _normalized(windows, w, scaling, alike, left, share), np.zeros((3, len(out)))
    for total, values in zip(sums[: size(p)], terms(p, w, x, points), strict=False):
        total[:] = total_of(values.reshape(*values.shape[:-2], -1))[..., 0]
    for j in range(len(out)):
        out[j] = finish(p, *sums[:, j])


@kernel
def _sums(p, x, y, w, by_range, left, share, first, moments, out, acc, row):
    """Fill in the distances to the windows from `first` on.

    Windows are normalized by their `moments`; without these (None) they are compared as they are. The outer loop runs
    over query points and the inner one over a block of windows, so that the compiler can vectorize it without
    reordering sums.
    """
    n_channels, m = x.shape
    for at in range(0, out.shape[0], BLOCK):
        to, here = at + BLOCK, out[at : at + BLOCK]  # slices stop at the end
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
            here[s] = _finished(p, a[s], b[s], c[s])

"""Lockstep distances: a record of parameters each, and what a pair of points adds.

A distance is `terms` (what a pair of points adds to up to three accumulators), `combine` (sum or maximum) and `finish`
(accumulators -> distance). As in `dispatch`, they are picked by the record's type.
"""

from typing import NamedTuple

import numpy as np

from ..compilation import kernel
from ..dispatch import by_type

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


@additive(terms=_products, finish=_one_minus_cosine, size=3, degree=0)
class CosineRecord(NamedTuple):
    pass


def _pearson(p, a, b, c):
    r = _cosine(a, b, c)
    if p.beta < 0.0:
        return 2.0 * (1.0 - r)
    return INF if r == -1.0 else ((1.0 - r) / (1.0 + r)) ** p.beta


@additive(terms=_products, finish=_pearson, size=3, degree=0)
class PearsonRecord(NamedTuple):
    """Pearson correlation distance; a negative `beta` stands for the form 2 (1 - r)."""

    beta: float

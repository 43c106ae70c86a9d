"""Lockstep distances, by their formulas."""

import math

import numpy as np

from .series import INF, is_constant, points, relative, resample, weighted_mean
from .table import SUMS, power


def lockstep(name, x, y, weight=None, *, p=3, VI=None, beta=None, tx=None, ty=None):
    """Lockstep distance by its formula: the i-th point meets the i-th, points and channels summed together."""
    if name == "short_time_series":
        return short_time_series(x, y, weight, tx, ty)
    x, y, W = resample(x, y, weight)
    terms = [(W[i, c], x[i, c], y[i, c]) for i in range(len(x)) for c in range(x.shape[1])]
    if name == "minkowski":
        return sum(w * abs(a - b) ** p for w, a, b in terms) ** (1 / p)
    if name == "manhattan":
        return sum(w * abs(a - b) for w, a, b in terms)
    if name == "euclidean":
        return math.sqrt(sum(w * (a - b) ** 2 for w, a, b in terms))
    if name == "sqeuclidean":
        return sum(w * (a - b) ** 2 for w, a, b in terms)
    if name == "chebyshev":
        return max(w * abs(a - b) for w, a, b in terms)
    if name == "canberra":
        return sum(w * abs(a - b) / (abs(a) + abs(b)) for w, a, b in terms if abs(a) + abs(b) > 0)
    if name == "kullback_leibler":
        return sum(w * (a * math.log(a / b) - a + b) for w, a, b in terms)
    if name == "braycurtis":
        above = sum(w * abs(a - b) for w, a, b in terms)
        below = sum(w * abs(a + b) for w, a, b in terms)
        if below == 0:
            return 0.0 if above == 0 else INF
        return above / below
    if name == "hamming":
        return sum(w for w, a, b in terms if a != b) / sum(w for w, a, b in terms)
    if name == "mahalanobis":
        delta = [math.sqrt(w) * (a - b) for w, a, b in terms]
        VI = np.eye(len(delta)) if VI is None else VI
        return math.sqrt(sum(delta[k] * VI[k][q] * delta[q] for k in range(len(delta)) for q in range(len(delta))))
    if name == "cosine":
        zero_x = all(a == 0 for w, a, b in terms if w > 0)
        zero_y = all(b == 0 for w, a, b in terms if w > 0)
        return cosine_distance(terms, zero_x, zero_y)
    if name in ("correlation", "pearson_correlation"):
        constant_x, constant_y = True, True
        terms = []
        for c in range(x.shape[1]):
            w, a, b = W[:, c], x[:, c], y[:, c]
            flat_a, flat_b = is_constant(a, w), is_constant(b, w)
            constant_x, constant_y = constant_x and flat_a, constant_y and flat_b
            for i in range(len(x)):
                centered_a = 0.0 if flat_a else a[i] - weighted_mean(a, w)
                centered_b = 0.0 if flat_b else b[i] - weighted_mean(b, w)
                terms.append((w[i], centered_a, centered_b))
        if name == "correlation":
            return cosine_distance(terms, constant_x, constant_y)
        if constant_x and constant_y:
            return 0.0
        r = 0.0 if constant_x or constant_y else 1 - cosine_distance(terms, False, False)
        if beta is None:
            return 2 * (1 - r)
        return INF if r == -1 else ((1 - r) / (1 + r)) ** beta
    raise ValueError(name)


def cosine_distance(terms, degenerate_x, degenerate_y):
    """1 - sum w a b / sqrt(sum w a a * sum w b b), the ratio clipped to [-1, 1]; both degenerate: 0, one: 1."""
    if degenerate_x and degenerate_y:
        return 0.0
    if degenerate_x or degenerate_y:
        return 1.0
    above = sum(w * a * b for w, a, b in terms)
    below = math.sqrt(sum(w * a * a for w, a, b in terms)) * math.sqrt(sum(w * b * b for w, a, b in terms))
    return 1 - min(1.0, max(-1.0, above / below))


def short_time_series(x, y, weight=None, tx=None, ty=None):
    """Short time series distance: the difference of the slopes (Moeller-Levet et al. 2003)."""
    x, y = points(x), points(y)
    if len(x) != len(y):
        raise ValueError("unequal lengths")
    W = relative(weight, *x.shape)
    tx = range(len(x)) if tx is None else tx
    ty = range(len(y)) if ty is None else ty
    total = 0.0
    for k in range(len(x) - 1):
        for c in range(x.shape[1]):
            lasts_x, lasts_y = tx[k + 1] - tx[k], ty[k + 1] - ty[k]
            slope_x = (x[k + 1, c] - x[k, c]) / lasts_x
            slope_y = (y[k + 1, c] - y[k, c]) / lasts_y if lasts_y else 0.0  # one sample that was resampled
            total += min(W[k, c], W[k + 1, c]) * (slope_y - slope_x) ** 2
    return math.sqrt(total)


def observed(name, x, y, W, seen, tx=None, ty=None, **params):
    """Lockstep distance of two series of one length where only `seen` (m, C) is observed; W are the full weights."""
    w = np.where(seen, W, 0.0)
    whole, part = W, w
    if name == "short_time_series":
        whole, part = np.minimum(W[1:], W[:-1]), np.minimum(w[1:], w[:-1])
    if 2 * math.fsum(w.flat) < math.fsum(W.flat) or w.sum() == 0 or (name in SUMS and part.sum() == 0):
        return INF
    largest = w.max()  # `lockstep` divides by it
    value = lockstep(name, x, y, w, tx=tx, ty=ty, **params)
    if name in SUMS:
        return value * (largest * whole.sum() / part.sum()) ** (1 / power(name, **params))
    return value * largest if name == "chebyshev" else value

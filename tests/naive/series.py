"""Series as arrays of points, their weights, lengths and normalizations."""

import math
from collections import namedtuple
from fractions import Fraction

import numpy as np

INF = math.inf
Divided = namedtuple("Divided", "weights")  # weights (m, C) that are relative already


def points(v):
    """A series as an array of points, shape (length, channels)."""
    v = np.array(v, dtype=float)
    return v.reshape(len(v), 1) if v.ndim == 1 else v


def relative(weight, m, C):
    """Weights of shape (m, C), divided by their largest value; ones for None."""
    if weight is None:
        return np.ones((m, C))
    if isinstance(weight, Divided):
        return weight.weights
    weight = np.array(weight, dtype=float)
    full = np.zeros((m, C))
    for i in range(m):
        for c in range(C):
            full[i, c] = weight[i] if weight.ndim == 1 else weight[i, c]
    if not full.max() > 0:
        raise ValueError("all weights are zero")
    return full / full.max()


def interpolate(v, length):
    """The series v sampled at `length` equidistant places, both ends kept, linear between its points.

    Each is rounded once, so that points that are equal come out equal.
    """
    out = np.zeros((length, v.shape[1]))
    for k in range(length):
        place = Fraction(k * (len(v) - 1), length - 1) if length > 1 else Fraction(0)
        before = math.floor(place)
        part = place - before
        for c in range(v.shape[1]):
            out[k, c] = v[before, c]
            if part > 0:
                low, high = Fraction(float(v[before, c])), Fraction(float(v[before + 1, c]))
                out[k, c] = float(low + part * (high - low))
    return out


def resample(x, y, weight=None):
    """Lockstep length rule: the longer series is interpolated to the length of the shorter, with its weights."""
    x, y = points(x), points(y)
    W = relative(weight, *x.shape)
    if len(x) > len(y):
        x = interpolate(x, len(y))
        W = relative(interpolate(W, len(y)), *x.shape)
    elif len(y) > len(x):
        y = interpolate(y, len(x))
    return x, y, W


def positive(v, w):
    """The values of one channel whose weight is positive."""
    return [v[i] for i in range(len(v)) if w[i] > 0]


def is_constant(v, w):
    """Whether all points of positive weight are equal (one channel)."""
    return len(set(positive(v, w))) <= 1


def weighted_mean(v, w):
    """Weighted mean of one channel; the plain mean where no weight is positive."""
    if sum(w) == 0:
        return sum(v) / len(v)
    return sum(w[i] * v[i] for i in range(len(v))) / sum(w)


def weighted_median(v, w):
    """The smallest value with half of the weight at or below it; the middle to the next if it is exactly half."""
    rows = sorted((v[i], w[i]) for i in range(len(v)) if w[i] > 0)
    total, below = sum(b for _, b in rows), 0.0
    for k, (value, share) in enumerate(rows):
        below += share
        if math.isclose(below, total / 2, rel_tol=1e-12):
            return 0.5 * value + 0.5 * rows[k + 1][0]
        if below > total / 2:
            return value


def normalize_values(v, weight=None, how=None):
    """A window or the query per channel: None, "zscore", "mean", "minmax" or "robust"; constant: zeros."""
    v = np.array(v, dtype=float)
    if how is None:
        return v
    a = points(v)
    W = relative(weight, *a.shape)
    out = np.zeros(a.shape)
    for c in range(a.shape[1]):
        channel, w = a[:, c], W[:, c]
        if is_constant(channel, w):
            continue
        channel = channel - positive(channel, w)[0]  # an offset would cost the mean its digits
        if how == "robust":
            shift = weighted_median(channel, w)
            scale = weighted_median(abs(channel - shift), w)
            if scale == 0:
                continue
        elif how == "minmax":
            shift = min(positive(channel, w))
            scale = max(positive(channel, w)) - shift
        else:
            shift = weighted_mean(channel, w)
            variance = sum(w[i] * (channel[i] - shift) ** 2 for i in range(len(a))) / sum(w)
            scale = {"zscore": math.sqrt(variance), "mean": 1.0}[how]
        for i in range(len(a)):
            out[i, c] = (channel[i] - shift) / scale
    return out.reshape(v.shape)


def filled(v):
    """A series whose missing values are interpolated between their neighbors, per channel."""
    out = points(v).copy()
    for c in range(out.shape[1]):
        seen = [i for i in range(len(out)) if not math.isnan(out[i, c])]
        out[:, c] = np.interp(range(len(out)), seen, out[seen, c]) if seen else 0.0
    return out.reshape(np.shape(v))

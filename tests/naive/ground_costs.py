"""Costs of two points, and what elastic distances make of a series before."""

import math
from itertools import pairwise

import numpy as np

from .series import points


def squared(w, a, b):
    """Weighted squared Euclidean cost of two points."""
    return sum(w[c] * (a[c] - b[c]) ** 2 for c in range(len(a)))


def complexity(v):
    """The Euclidean length of the steps from point to point (Batista et al. 2014)."""
    v = points(v)
    return math.sqrt(math.fsum((b - a) ** 2 for k in range(v.shape[1]) for a, b in pairwise(v[:, k])))


def complexity_factor(x, y):
    """How much more complex one series is than the other; infinite where one of them alone is constant."""
    low, high = sorted([complexity(x), complexity(y)])
    return high / low if low > 0 else (math.inf if high > 0 else 1.0)


def norm(w, a, b, p=2):
    """Lp norm of the weighted difference of two points."""
    if len(a) == 1:
        return w[0] * abs(a[0] - b[0])
    return sum((w[c] * abs(a[c] - b[c])) ** p for c in range(len(a))) ** (1 / p)


def within(w, a, b, eps):
    """Whether two points match (LCSS, EDR): channels weighted relative to the point's largest weight."""
    ratio = [1.0 if max(w) == 0 else w[c] / max(w) for c in range(len(a))]
    return norm(ratio, a, b) <= eps


def spread(v):
    """Population standard deviation of one channel, exactly 0 when all values are equal."""
    if len(set(v)) == 1:
        return 0.0
    mean = sum(v) / len(v)
    return math.sqrt(sum((a - mean) ** 2 for a in v) / len(v))


def standardize(v):
    """Each channel to mean 0 and population standard deviation 1; a constant channel becomes zeros."""
    out = np.zeros(v.shape)
    for c in range(v.shape[1]):
        if spread(v[:, c]) > 0:
            mean = sum(v[:, c]) / len(v)
            for i in range(len(v)):
                out[i, c] = (v[i, c] - mean) / spread(v[:, c])
    return out


def gradient(v):
    """Derivative in samples as numpy.gradient: central differences, one-sided at the ends; length 1: 0."""
    last = len(v) - 1
    out = np.zeros(v.shape)
    for i in range(len(v)):
        if last > 0:
            before, after = max(i - 1, 0), min(i + 1, last)
            out[i] = (v[after] - v[before]) / (after - before)
    return out


def keogh_derivative(v):
    """Derivative estimate of Keogh & Pazzani 2001; the first and the last copy their neighbors."""
    last = len(v) - 1
    out = np.zeros(v.shape)
    if last == 1:
        out[0] = out[1] = v[1] - v[0]
    elif last > 1:
        for i in range(1, last):
            out[i] = ((v[i] - v[i - 1]) + (v[i + 1] - v[i - 1]) / 2) / 2
        out[0], out[last] = out[1], out[last - 1]
    return out


def descriptor(v, reach):
    """Shape descriptor of Zhao & Itti 2018: each point's edge-padded neighborhood, as channels."""
    last = len(v) - 1
    rows = [[a for k in range(i - reach, i + reach + 1) for a in v[min(max(k, 0), last)]] for i in range(len(v))]
    return np.array(rows)


def scales(x, slope):
    """The factor per channel that gives the derivative the query's scale (a spread that is only rounding is 0)."""
    out = []
    for c in range(x.shape[1]):
        value, derivative = spread(x[:, c]), spread(slope[:, c])
        if derivative <= 2.0**-50 * max(abs(x[:, c])):
            derivative = 0.0
        out.append(value / derivative if value > 0 and derivative > 0 else 1.0)
    return np.array(out)

"""Elastic distances without a warping path."""

import math

import numpy as np

from .ground_costs import squared
from .series import INF, points, relative


def soft_dtw_matrix(x, y, W, gamma, allowed):
    """Soft-DTW (Cuturi & Blondel 2017): DTW with -gamma log sum exp(-./gamma) for the minimum; D with its border."""
    x, y = points(x), points(y)
    D = np.full((len(x) + 1, len(y) + 1), INF)
    D[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            before = [a for a in (D[i - 1, j - 1], D[i - 1, j], D[i, j - 1]) if a < INF]
            if allowed[i - 1, j - 1] and before:
                least = min(before)
                soft = least - gamma * math.log(sum(math.exp(-(a - least) / gamma) for a in before))
                D[i, j] = squared(W[i - 1], x[i - 1], y[j - 1]) + soft
    return D


def gak_matrix(x, y, W, sigma, allowed, triangular=None):
    """Global alignment kernel (Cuturi 2011): the sum over all alignments of the products of local kernels."""
    x, y = points(x), points(y)
    K = np.zeros((len(x) + 1, len(y) + 1))
    K[0, 0] = 1.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            if allowed[i - 1, j - 1]:
                k = math.exp(-squared(W[i - 1], x[i - 1], y[j - 1]) / (2 * sigma**2))
                if triangular is not None:
                    k *= max(0.0, 1 - abs(i - j) / triangular)
                K[i, j] = k / (2 - k) * (K[i - 1, j - 1] + K[i - 1, j] + K[i, j - 1])
    return K


def alignments(m, n):
    """All alignments of m and n points, as lists of index pairs."""
    if m == n == 1:
        return [[(0, 0)]]
    before = [(a, b) for a, b in ((m - 1, n - 1), (m - 1, n), (m, n - 1)) if a > 0 and b > 0]
    return [[*path, (m - 1, n - 1)] for a, b in before for path in alignments(a, b)]


def expected_alignment(x, y, weight=None, *, gamma=None, sigma=None, triangular=None):
    """The share of each cell in all alignments, each counted by its probability; the cells of `soft_dtw` or `gak`."""
    x, y = points(x), points(y)
    W = relative(weight, *x.shape)
    share, total = np.zeros((len(x), len(y))), 0.0
    found = []
    for path in alignments(len(x), len(y)):
        logarithm = 0.0
        for i, j in path:
            d = squared(W[i], x[i], y[j])
            if gamma is not None:
                logarithm -= d / gamma
            else:
                near = 1.0 if triangular is None else max(0.0, 1 - abs(i - j) / triangular)
                of_g = -d / (2 * sigma**2) + (math.log(near) if near > 0 else -INF)
                logarithm += of_g - math.log(2 - math.exp(of_g))
        found.append((logarithm, path))
    most = max(logarithm for logarithm, _ in found)
    for logarithm, path in found:
        odds = math.exp(logarithm - most)
        total += odds
        for i, j in path:
            share[i, j] += odds
    return share / total


def sbd(x, y, weight=None):
    """
    Shape-based distance (Paparrizos & Gravano 2015): 1 - the largest normalized cross-correlation over all shifts.

    Weighted: products and squares at a query point count w_i, also the squares of the series points it meets at this
    shift; series points that meet no query point count fully. So d(x, x) = 0 and the ratio stays within [-1, 1].
    """
    x, y = points(x), points(y)
    W = relative(weight, *x.shape)
    best = -INF
    for shift in range(-(len(x) - 1), len(y)):
        cross, square_x, square_y = 0.0, 0.0, 0.0
        for c in range(x.shape[1]):
            for i in range(len(x)):
                square_x += W[i, c] * x[i, c] ** 2
                if 0 <= i + shift < len(y):
                    cross += W[i, c] * x[i, c] * y[i + shift, c]
            for j in range(len(y)):
                square_y += (W[j - shift, c] if 0 <= j - shift < len(x) else 1.0) * y[j, c] ** 2
        if square_x == 0 or square_y == 0:
            ratio = 1.0 if square_x == square_y else 0.0
        else:
            ratio = cross / (math.sqrt(square_x) * math.sqrt(square_y))
        best = max(best, ratio)
    return 1 - best

"""Elastic distances of two series: bands, cost matrices and paths by the recurrence of the papers."""

import math
from collections import namedtuple
from fractions import Fraction
from itertools import pairwise

import numpy as np

from .ground_costs import complexity_factor, standardize
from .moves import steps
from .series import INF, interpolate, points, relative
from .soft_alignments import gak_matrix, sbd, soft_dtw_matrix

DIAG, UP, LEFT = 0, 1, 2
Elastic = namedtuple("Elastic", "distance D path")


def band(m, n, kind=None, r=None):
    """The cells a warping path may use, boolean (m, n): Sakoe & Chiba 1978 (r samples) or Itakura 1975 (slope 2)."""
    if m > n:
        return band(n, m, kind, r).T.copy()
    if kind is None or m == 1:
        return np.ones((m, n), dtype=bool)
    allowed = np.zeros((m, n), dtype=bool)
    s = Fraction(n - 1, m - 1)
    if kind == "sakoe-chiba":
        radius = r if m == n else max(r, math.ceil(s / 2))
        for i in range(m):
            for j in range(n):
                allowed[i, j] = abs(j - i * s) <= radius
    elif kind == "itakura":
        low = [math.ceil(max(i * s / 2, (n - 1) - 2 * s * (m - 1 - i))) for i in range(m)]
        high = [math.floor(min(2 * s * i, (n - 1) - s * (m - 1 - i) / 2)) for i in range(m)]
        high = [max(high[i], low[i]) for i in range(m)]
        for i in range(m - 1):
            low[i + 1] = min(low[i + 1], high[i] + 1)
        for i in range(m):
            for j in range(low[i], high[i] + 1):
                allowed[i, j] = True
    else:
        raise ValueError(kind)
    return allowed


def with_skips(allowed):
    """
    A band and the cells from which a diagonal move leads into it: distances that leave points out anywhere do so there.
    """
    out = allowed.copy()
    for i in range(allowed.shape[0] - 1):
        for j in range(allowed.shape[1] - 1):
            if allowed[i + 1, j + 1]:
                out[i, j] = True
    return out


def fill(f, s, e, free_row=0, free_column=0, allowed=None, r=None):
    """
    The recurrence for y[s:e], borders included: D (m+1, e-s+1) and the move taken into each cell.

    `free_row`, `free_column`: how many cells of a closed boundary after the corner are 0 instead of infinite.
    `allowed`: the cells of a band; `r`: the largest lag |i - p| of a search's band. Where the border is open, the
    band is that of the diagonal moves; points are left out in the cells beside it.
    """
    m, n = f.m, e - s
    exists = allowed if allowed is None or f.closed_boundary else with_skips(allowed)
    D = np.full((m + 1, n + 1), INF)
    move = np.full((m + 1, n + 1), -1)
    D[0, 0] = 0.0
    for i in range(1, m + 1):
        if f.closed_boundary:
            D[i, 0] = 0.0 if i <= free_column else INF
        else:
            D[i, 0] = D[i - 1, 0] + f.up(i, 0, s)
    for p in range(1, n + 1):
        if f.closed_boundary:
            D[0, p] = 0.0 if p <= free_row else INF
        else:
            D[0, p] = D[0, p - 1] + f.left(0, s + p, s)
    if exists is not None:  # cells beside the band at the border: it ends with the band, and no path meets in them
        if exists[0].sum() > allowed[0].sum():
            D[0, allowed[0].sum() :] = INF
        if exists[:, 0].sum() > allowed[:, 0].sum():
            D[allowed[:, 0].sum() :, 0] = INF
    for i in range(1, m + 1):
        for p in range(1, n + 1):
            least = INF
            if exists is not None and not exists[i - 1, p - 1]:
                continue
            if r is not None and abs(i - p) > r:
                continue
            for k, before, cost in (
                (DIAG, D[i - 1, p - 1], f.diag),
                (UP, D[i - 1, p], f.up),
                (LEFT, D[i, p - 1], f.left),
            ):
                if before < INF:
                    total = f.accumulate(before, cost(i, s + p, s))
                    if (before if f.equal_moves else total) < least:
                        least = before if f.equal_moves else total
                        D[i, p], move[i, p] = total, k
    return D, move


def trace(f, move, i, j, matched_only=False):
    """The path that ends in cell (i, j), 1-based, as 0-based index pairs in two rows."""
    path = []
    while i > 0 and j > 0 and move[i, j] >= 0:  # a cost that is too large for a float has no move
        if not matched_only or (move[i, j] == DIAG and f.pairs(i, j)):
            path.append((i - 1, j - 1))
        i, j = {DIAG: (i - 1, j - 1), UP: (i - 1, j), LEFT: (i, j - 1)}[move[i, j]]
    return np.array(path[::-1], dtype=int).reshape(-1, 2).T


def cost_along(f, path, s=0, free_row=0, free_column=0):
    """What the moves along a path cost: cells (0-based, the series counted from its sample s), entered from the border.

    The first cell is entered by the cheapest of the moves that come from the border.
    """
    cells = [(int(i) + 1, int(j) + 1) for i, j in np.transpose(path)]

    def border(i, p):
        if f.closed_boundary:
            return 0.0 if (i == 0 and p <= free_row) or (p == 0 and i <= free_column) else INF
        before = [f.up(a, 0, s) for a in range(1, i + 1)] + [f.left(0, s + a, s) for a in range(1, p + 1)]
        return sum(before)

    i, p = cells[0]
    entries = [(border(i - 1, p - 1), f.diag)] if i == 1 or p == 1 else []
    entries += [(border(0, p), f.up)] if i == 1 else []
    entries += [(border(i, 0), f.left)] if p == 1 else []
    total = min((f.accumulate(before, move(i, s + p, s)) for before, move in entries if before < INF), default=INF)
    for (a, b), (i, p) in pairwise(cells):
        move = {(1, 1): f.diag, (1, 0): f.up, (0, 1): f.left}[i - a, p - b]
        total = f.accumulate(total, move(i, s + p, s))
    return total


def elastic(
    name,
    x,
    y,
    weight=None,
    *,
    tx=None,
    ty=None,
    band_kind=None,
    r=None,
    dtw_type="dtw",
    tolerance=0,
    do_sign_norm=False,
    do_dist_norm=False,
    gamma=1.0,
    divergence=True,
    sigma=1.0,
    triangular=None,
    **params,
):
    """
    Elastic distance of two whole series: (distance, D, path); the path is None for soft_dtw, gak and sbd.

    The radius `r` of a band in samples may be a function of both lengths.
    """
    if do_sign_norm:
        x, y = standardize(points(x)).reshape(np.shape(x)), standardize(points(y)).reshape(np.shape(y))
    m, n = len(x), len(y)
    r = r(m, n) if callable(r) else r
    if name == "sbd":
        return Elastic(sbd(x, y, weight), None, None)
    if name in ("soft_dtw", "gak"):
        Wx = relative(weight, *points(x).shape)
        Wy = interpolate(Wx, n)

        def matrix(a, b, W):
            if band_kind == "sakoe-chiba":  # one radius for all three terms, from the lengths of the pair
                allowed = np.array([[abs(i - j) <= r for j in range(len(b))] for i in range(len(a))])
            else:
                allowed = band(len(a), len(b), band_kind)
            if name == "gak":
                return gak_matrix(a, b, W, sigma, allowed, triangular)
            return soft_dtw_matrix(a, b, W, gamma, allowed)

        D = matrix(x, y, Wx)
        xx, yy = matrix(x, x, Wx)[m, m], matrix(y, y, Wy)[n, n]
        if name == "gak":
            return Elastic(1 - D[m, n] / math.sqrt(xx * yy), D[1:, 1:], None)
        return Elastic(D[m, n] - (xx + yy) / 2 if divergence else D[m, n], D[1:, 1:], None)

    allowed = band(m, n, band_kind, r)
    f = steps(name, x, y, weight, tx, ty, **params)
    free_row = {"dtw": 0, "oe-dtw": 0, "obe-dtw": n, "sub-dtw": n, "psi-dtw": tolerance}[dtw_type]
    free_column = tolerance if dtw_type == "psi-dtw" else 0
    D, move = fill(f, 0, n, free_row, free_column, allowed)
    ends = [(m, n)]
    if dtw_type in ("oe-dtw", "obe-dtw", "sub-dtw"):
        ends = [(m, j) for j in range(1, n + 1)]
    if dtw_type == "psi-dtw":
        ends = [(m, j) for j in range(max(1, n - tolerance), n + 1)] + [
            (i, n) for i in range(max(1, m - tolerance), m + 1)
        ]
    end = ends[0]
    for other in ends:
        if D[other] < D[end]:
            end = other
    distance = D[end]
    if do_dist_norm:
        distance = distance / m
    if name == "lcss":
        largest = sorted(f.w, reverse=True)[: min(m, n)]
        distance = 1 - (m + n - D[m, n]) / 2 / sum(largest)
    if name == "edr":
        distance = D[m, n] / max(m, n)
    if name == "cid_dtw":
        factor = complexity_factor(x, y)
        distance = math.sqrt(distance) * factor if factor < INF else INF
    path = trace(f, move, *end, matched_only=name == "lcss")
    return Elastic(distance, D[1:, 1:], path)


def tam(x, y, report="distance", weight=None):
    """Time alignment measurement (Folgado et al. 2018) on the DTW path: advance, delay, phase."""
    path = elastic("dtw", x, y, weight).path
    advance, delay, phase = [], [], []
    for k in range(path.shape[1] - 1):
        query, series = path[0, k + 1] - path[0, k], path[1, k + 1] - path[1, k]
        {(1, 0): advance, (0, 1): delay, (1, 1): phase}[query, series].append(k)
    if report == "instants":
        return advance, delay, phase
    m, n = len(x), len(y)
    ratios = (
        len(advance) / (m - 1) if m > 1 else 0.0,
        len(delay) / (n - 1) if n > 1 else 0.0,
        len(phase) / (min(m, n) - 1) if min(m, n) > 1 else 1.0,
    )
    return ratios if report == "ratios" else ratios[0] + ratios[1] + (1 - ratios[2])

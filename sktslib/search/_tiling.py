"""Optimal tiling of a recording by repetitions of one query and background."""

import numpy as np
from numba import njit

from ._missing import touched


@njit(cache=True)
def tile_windows(cost, m, n, background):
    """Cheapest tiling of every prefix by tiles of m samples: its cost (n + 1), and the start of its last tile or -1."""
    total, tile = np.zeros(n + 1), np.full(n + 1, -1, np.int64)
    for j in range(1, n + 1):
        total[j] = total[j - 1] + background
        if j >= m and total[j - m] + cost[j - m] <= total[j]:
            total[j], tile[j] = total[j - m] + cost[j - m], j - m
    return total, tile


def background_cost(search_of, x, w):
    """Default cost of a background sample: the query against a flat line at its own weighted mean, per sample.

    A stretch is then background when the query explains it worse than a flat line does.
    """
    weight = np.ones_like(x) if w is None else w
    total = weight.sum(axis=1, keepdims=True)
    mean = np.where(total > 0, (weight * x).sum(axis=1, keepdims=True), x.mean(axis=1, keepdims=True))
    mean /= np.where(total > 0, total, 1.0)
    flat = np.repeat(mean, x.shape[1], axis=1)
    return float(whole_cost(search_of(flat))) / x.shape[1]


def whole_cost(search):
    """Tile cost of the whole sequence of a search."""
    metric = search.metric
    if search.mode == "warped":
        problem = search.runs[0][1]
        bottom, side, _ = metric._accumulate(problem, whole=True)
        return metric._ending(bottom, side, problem, whole=True)[0]
    return metric._tile_cost(search.profile().distance[0], search.x.shape[1])


def tile(search, background, min_length, max_length):
    """Starts, ends and costs of the tiles of the cheapest tiling, in temporal order; no tile crosses a gap."""
    n, m = search.y.shape[1], search.x.shape[1]
    found = []
    if search.mode == "warped":
        for first, problem in search.runs:
            total, begin = search.metric._tile(
                problem, background, min(min_length or 1, n + 1), min(max_length or n, n)
            )
            found += [(s + first, e + first, c) for s, e, c in _trace(total, begin)]
    else:
        cost = search.metric._tile_cost(search.profile(min_length, max_length).distance, m)
        cost[touched(search.y, m)] = np.inf
        found = _trace(*tile_windows(cost, m, n, background))
    start, end, cost = np.array(found, dtype=float).reshape(-1, 3).T
    return start.astype(np.int64), end.astype(np.int64), cost


def _trace(total, begin):
    """The tiles (start, end, cost) behind the last of the prefixes' tilings."""
    tiles = []
    j = len(total) - 1
    while j > 0:
        if begin[j] < 0:
            j -= 1
            continue
        tiles.append((begin[j], j, total[j] - total[begin[j]]))
        j = begin[j]
    return tiles[::-1]

"""Lower bounds of distances, from a few numbers per point.

A path enters every query point once, by a match or by leaving the point out. The match costs at least the match with
the nearest value of the envelope, the range of the series within the band (LB_Keogh, Keogh & Ratanamahatana 2005); the
recurrence's own terms and moves give its cost, so that one kernel serves the family. The same holds with the series'
points and the query's envelope. The first and the last pair are known where a path must have them (LB_Kim, Kim et al.
2001).

A path through m query points and n series points that leaves u query points out leaves n - m + u series points out: a
point left out of the shorter series implies the gap cost of a point of the longer one.

Layout: points lie in one dimension behind a pad, and are followed by zeros up to whole vectors.
"""

import numpy as np

from .compilation import inner, kernel, pieces
from .dispatch import accumulate, lag_cost, moves, terms
from .simd import REGISTER, maximum, minimum
from .simd_memory import makers, store

INF = np.inf
LANES = 2 * REGISTER
load, splat, _ = makers(LANES, fused=True)


@kernel
def envelopes(a, first, last, lower, upper):
    """Minimum and maximum of `a` (channels, n) over the points [first[i], last[i]), per channel and range i.

    Ranges of doubling width, each made from two of half the width: vector code, unlike a queue of candidates.
    """
    n = a.shape[1]
    widest = 1
    for i in range(first.shape[0]):
        widest = max(widest, last[i] - first[i])
    levels = 1
    while 1 << levels <= widest:
        levels += 1
    low, high = np.empty((levels, n)), np.empty((levels, n))
    for k in range(a.shape[0]):
        for j in range(n):
            low[0, j] = high[0, j] = a[k, j]
        for level in range(1, levels):
            half = 1 << (level - 1)
            size = n - 2 * half + 1
            l0, l1, l2 = low[level, :size], low[level - 1, :size], low[level - 1, half : half + size]
            h0, h1, h2 = high[level, :size], high[level - 1, :size], high[level - 1, half : half + size]
            for j in range(size):
                l0[j] = l1[j] if l1[j] < l2[j] else l2[j]
                h0[j] = h1[j] if h1[j] > h2[j] else h2[j]
        level, i = levels - 1, 0
        while i < first.shape[0]:
            width, at = last[i] - first[i], first[i]
            while 1 << level > width:
                level -= 1
            while 1 << (level + 1) <= width:
                level += 1
            other = at + width - (1 << level)
            size = 1  # of a run of ranges of one width, each a point further
            while i + size < first.shape[0] and first[i + size] == at + size and last[i + size] == at + size + width:
                size += 1
            if size == 1:
                lower[k, i] = min(low[level, at], low[level, other])
                upper[k, i] = max(high[level, at], high[level, other])
                i += 1
                continue
            to, l1, l2 = lower[k, i : i + size], low[level, at : at + size], low[level, other : other + size]
            for j in range(size):
                to[j] = l1[j] if l1[j] < l2[j] else l2[j]
            to, h1, h2 = upper[k, i : i + size], high[level, at : at + size], high[level, other : other + size]
            for j in range(size):
                to[j] = h1[j] if h1[j] > h2[j] else h2[j]
            i += size


@inner
def _pair(p, x, w, lower, upper, i):
    """The terms of the points from i on with the nearest values of the envelope, and of the points before."""
    value, low, high = load(x, i + 1), load(lower, i + 1), load(upper, i + 1)
    before, low_before, high_before = load(x, i), load(lower, i), load(upper, i)
    row = value, before, load(w[0], i), load(w[1], i)
    return terms(p, row, minimum(maximum(value, low), high), minimum(maximum(before, low_before), high_before))


@inner
def _one_way(p, x, w, points, lower, upper, lags, skip, minimum_gap_cost, lanes):
    """Minimum costs of the points of `x` (channels, size), accumulated as the recurrence does.

    `w` (channels, 2, size) are the weights of the points and of the points before; `skip` + `minimum_gap_cost` is the
    gap cost of a point left out.
    """
    total = splat(0.0)
    for i in range(0, x.shape[1] - 1, LANES):
        a, b, _ = _pair(p, x[0], w[0], lower[0], upper[0], i)
        for k in range(1, x.shape[0]):
            e, f, _ = _pair(p, x[k], w[k], lower[k], upper[k], i)
            a, b = a + e, b + f
        here = load(points[0], i + 1), load(points[1], i + 1), load(points[2], i + 1)
        lag = load(lags, i + 1)
        cost = moves(p, here, lag_cost(p, lag, lag), a, b, 0.0, 0.0)[0]
        total = accumulate(p, total, minimum(cost, load(skip, i + 1) + minimum_gap_cost))
    store(lanes, 0, total)
    out = 0.0
    for s in range(LANES):
        out = accumulate(p, out, lanes[s])
    return out


@kernel
def _both_ways(p, queries, series, lags, y_lags, more, begin, end, out):
    """Queries [begin, end), see `both_ways`."""
    x, w, points, up, minimum_gap_cost, light, least, low, high = queries
    Y, lower, upper, gaps, minimum_gap_costs = series
    lanes = np.empty(LANES)
    for q in range(begin, end):
        of = min(q, w.shape[0] - 1)
        at = min(q, points.shape[0] - 1)
        for s in range(Y.shape[0]):
            rows = _one_way(p, x[q], w[of], points[at], lower[s], upper[s], lags, up[q], minimum_gap_costs[s], lanes)
            gap = gaps[min(s, gaps.shape[0] - 1)]
            columns = _one_way(p, Y[s], light[of], least[at], low[q], high[q], y_lags, gap, minimum_gap_cost[q], lanes)
            out[q, s] = max(rows + more * minimum_gap_costs[s], columns + more * minimum_gap_cost[q])


def both_ways(p, queries, series, lags, y_lags, more, out):
    """The larger bound of the two ways for each of the queries (q, channels, size) and each of the series.

    `queries` are the points, weights, point costs, gap costs and the minimum gap cost; then the minimum weights and
    point costs and the envelope over the points that each point of the series meets. `series` are the points, the
    envelope, the gap costs and their minimum. Arrays of one element serve all. `more` is the difference of the lengths.
    """
    x, Y = queries[0], series[0]
    for begin, end in pieces(len(x), (x[0].size + Y[0].size) * len(Y)):
        _both_ways(p, queries, series, lags, y_lags, more, begin, end, out)

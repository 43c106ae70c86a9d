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

from .compilation import inner, kernel, pieces, step
from .dispatch import accumulate, lag_cost, moves, terms
from .simd import REGISTER, maximum, minimum, rounded
from .simd_memory import copy, makers, store

INF = np.inf
LANES = 2 * REGISTER
load, splat, _ = makers(LANES, fused=True)


# ------------------------------------------------------------------------------------------------- minimum and maximum
@inner
def _extremes(one, other, low, high):
    """The lower and the higher of two pairs of rows."""
    whole = low.shape[0] - low.shape[0] % LANES
    for j in range(0, whole, LANES):
        store(low, j, minimum(load(one[0], j), load(other[0], j)))
        store(high, j, maximum(load(one[1], j), load(other[1], j)))
    for j in range(whole, low.shape[0]):
        low[j] = minimum(one[0][j], other[0][j])
        high[j] = maximum(one[1][j], other[1][j])


@inner
def slide_row(a, width, low, high):
    """Minimum and maximum of `width` neighbors, from each position on; what comes behind them in the rows is lost.

    Of up to four times the width at once, in place: vector code, unlike a queue of candidates, and few passes.
    """
    below, above, done = a, a, 1  # so many neighbors are included
    if width == 1:
        copy(a, 0, a.shape[0], low, 0)
        copy(a, 0, a.shape[0], high, 0)
    while done < width:
        wider = min(4 * done, width)
        last = wider - done
        one, two, size = min(done, last), min(2 * done, last), a.shape[0] - wider + 1
        whole = size - size % LANES
        for j in range(0, whole, LANES):
            v = minimum(load(below, j), load(below, j + one)), minimum(load(below, j + two), load(below, j + last))
            u = maximum(load(above, j), load(above, j + one)), maximum(load(above, j + two), load(above, j + last))
            store(low, j, minimum(v[0], v[1]))
            store(high, j, maximum(u[0], u[1]))
        for j in range(whole, size):
            low[j] = min(min(below[j], below[j + one]), min(below[j + two], below[j + last]))
            high[j] = max(max(above[j], above[j + one]), max(above[j + two], above[j + last]))
        below, above, done = low, high, wider


@kernel
def slide(a, width, low, high):
    """The same in each row, of results that may be as short as there are ranges."""
    below, above = np.empty(a.shape[1]), np.empty(a.shape[1])
    for k in range(a.shape[0]):
        slide_row(a[k], width, below, above)
        copy(below, 0, a.shape[1] - width + 1, low[k], 0)
        copy(above, 0, a.shape[1] - width + 1, high[k], 0)


@kernel
def envelopes(a, first, last, lower, upper):
    """The same of the points [first[i], last[i]) of each row, laid out, by the ranges of doubling width."""
    n = a.shape[1]
    widest = 1
    for i in range(first.shape[0]):
        widest = max(widest, last[i] - first[i])
    levels = 1
    while 1 << levels <= widest:
        levels += 1
    low, high = np.empty((levels, n)), np.empty((levels, n))
    for k in range(a.shape[0]):
        copy(a[k], 0, n, low[0], 0)
        copy(a[k], 0, n, high[0], 0)
        for level in range(1, levels):
            half = 1 << (level - 1)
            size = n - 2 * half + 1
            one = low[level - 1, :size], high[level - 1, :size]
            other = low[level - 1, half : half + size], high[level - 1, half : half + size]
            _extremes(one, other, low[level, :size], high[level, :size])
        level, i = levels - 1, 0
        while i < first.shape[0]:
            width, at = last[i] - first[i], first[i]
            while 1 << level > width:
                level -= 1
            while 1 << (level + 1) <= width:
                level += 1
            end = at + width - (1 << level)
            size = 1  # of a run of ranges of one width, each a point further
            while i + size < first.shape[0] and first[i + size] == at + size and last[i + size] == at + size + width:
                size += 1
            one, other = low[level, at : at + size], high[level, at : at + size]
            ends = low[level, end : end + size], high[level, end : end + size]
            i += size
            _extremes((one, other), ends, lower[k, i + 1 - size : i + 1], upper[k, i + 1 - size : i + 1])


# -------------------------------------------------------------------------------------------------------------- bounds
@step
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
        cost = rounded(moves(p, here, lag_cost(p, lag, lag), a, b, 0.0, 0.0)[0])
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

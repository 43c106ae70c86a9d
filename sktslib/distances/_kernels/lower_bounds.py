"""Lower bounds: what a distance costs at least, from a few numbers per point.

A path enters every query point once, by a match or by leaving the point out. The match costs at least the match with
the nearest value of the envelope, the range of the series within the band (LB_Keogh, Keogh & Ratanamahatana 2005); the
recurrence's own terms and moves price it, so that one kernel serves the family. The same holds with the series' points
and the query's envelope. The first and the last pair are known where a path must have them (LB_Kim, Kim et al. 2001).

A path through m query points and n series points that leaves u query points out leaves n - m + u series points out:
each point left out brings the price of another one.

Layout: points lie in one dimension behind a pad, and are followed by zeros up to whole vectors.
"""

import numpy as np

from .._metrics.bands import band
from . import columns as columns_kernels
from . import dispatch, recurrences
from .compilation import inner, kernel
from .dispatch import join, late, moves, terms
from .pieces import pieces
from .simd import REGISTER, larger, smaller
from .simd_memory import makers, store

INF = np.inf
LANES = 2 * REGISTER
# Every cell of a path costs its pair, whichever move enters it.
CELLS = (recurrences.DTWRecord, recurrences.ADTWRecord, recurrences.WDTWRecord, recurrences.FrechetRecord)
# A point may be left out, at a price.
EDITS = (recurrences.EditRecord, recurrences.ERPRecord, recurrences.MSMRecord, recurrences.TWEDRecord)

load, splat, _ = makers(LANES, fused=True)


@kernel
def envelopes(a, first, last, lower, upper):
    """Least and largest value of `a` (channels, n) over the points [first[i], last[i]), per channel and range i.

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
    return terms(p, row, smaller(larger(value, low), high), smaller(larger(before, low_before), high_before))


@inner
def _one_way(p, x, w, points, lower, upper, lags, skip, spare, lanes):
    """Least cost of entering each point of `x` (channels, size), folded as the recurrence folds them.

    `w` (channels, 2, size) are the weights of the points and of the points before; `skip` + `spare` is the price of a
    point left out.
    """
    total = splat(0.0)
    for i in range(0, x.shape[1] - 1, LANES):
        a, b, _ = _pair(p, x[0], w[0], lower[0], upper[0], i)
        for k in range(1, x.shape[0]):
            e, f, _ = _pair(p, x[k], w[k], lower[k], upper[k], i)
            a, b = a + e, b + f
        here = load(points[0], i + 1), load(points[1], i + 1), load(points[2], i + 1)
        lag = load(lags, i + 1)
        cost = moves(p, here, late(p, lag, lag), a, b, 0.0, 0.0)[0]
        total = join(p, total, smaller(cost, load(skip, i + 1) + spare))
    store(lanes, 0, total)
    out = 0.0
    for s in range(LANES):
        out = join(p, out, lanes[s])
    return out


@kernel
def _both_ways(p, queries, series, lags, y_lags, more, begin, end, out):
    """Queries [begin, end), see `both_ways`."""
    x, w, points, up, spare, light, least, low, high = queries
    Y, lower, upper, gaps, spares = series
    lanes = np.empty(LANES)
    for q in range(begin, end):
        of = min(q, w.shape[0] - 1)
        at = min(q, points.shape[0] - 1)
        for s in range(Y.shape[0]):
            rows = _one_way(p, x[q], w[of], points[at], lower[s], upper[s], lags, up[q], spares[s], lanes)
            gap = gaps[min(s, gaps.shape[0] - 1)]
            columns = _one_way(p, Y[s], light[of], least[at], low[q], high[q], y_lags, gap, spare[q], lanes)
            out[q, s] = max(rows + more * spares[s], columns + more * spare[q])


def both_ways(p, queries, series, lags, y_lags, more, out):
    """The larger bound of the two ways for each of the queries (q, channels, size) and each of the series.

    Of the queries come the points, weights, costs, prices of points left out and the least of them; then the least
    weights and costs and the envelope of the points that each point of the series meets. Of the series come the
    points, the envelope and the prices. Arrays of one element serve all. `more` is the difference of the lengths.
    """
    x, Y = queries[0], series[0]
    for begin, end in pieces(len(x), (x[0].size + Y[0].size) * len(Y)):
        _both_ways(p, queries, series, lags, y_lags, more, begin, end, out)


def _laid_out(a):
    """Points (..., n) behind a pad, followed by zeros up to whole vectors."""
    n = a.shape[-1]
    out = np.zeros((*a.shape[:-1], 1 + n + -n % LANES))
    out[..., 1 : n + 1] = a
    return out


def _envelopes(a, first, last):
    lower, upper = np.empty((2, *a.shape[:-1], len(first)))
    envelopes(a.reshape(-1, a.shape[-1]), first, last, *(v.reshape(-1, len(first)) for v in (lower, upper)))
    return lower, upper


def _weights(w):
    """Weights (..., 2, size) of the points and of the points before."""
    n = w.shape[-1]
    out = np.zeros((*w.shape[:-1], 2, n + -n % LANES))
    out[..., 0, :n] = w
    out[..., 1, 1:n] = w[..., :-1]
    return out


def _least_lags(first, last):
    """The least lag of each point to the points [first, last) of the other series."""
    i = np.arange(len(first))
    return np.maximum(0, np.maximum(first - i, i - last + 1)).astype(float)


def _pin(record, lower, upper, a):
    """Put the ends of the envelopes (..., channels, n) where it is known what the end points meet: the ends of `a`."""
    if isinstance(record, (*CELLS, recurrences.MSMRecord)):
        lower[..., 0] = upper[..., 0] = a[..., 0]
    if isinstance(record, CELLS):
        lower[..., -1] = upper[..., -1] = a[..., -1]


def _prices(record, prices):
    """The prices of points left out (..., n), infinite where a path cannot, and the least of them."""
    if not isinstance(record, EDITS):
        return np.full_like(prices, INF), np.zeros(prices.shape[:-1])
    prices = prices.copy()
    if dispatch.closed_border(record):
        prices[..., 0] = INF
    least = prices.min(axis=-1)
    return prices, np.where(least < INF, least, 0.0)


def has_bounds(record):
    """Whether anything is known about the distances of a recurrence."""
    return isinstance(record, CELLS + EDITS)


class _Group:
    """Series of one length n, to be bounded against queries of one length m."""

    def __init__(self, metric, record, members, series, m):
        self.members = members  # their positions in the collection
        self.series, self.m = series, m
        n = self.n = series.shape[2]
        self.first, self.last = band(metric.window, metric.factor, m, n)  # query points that each series point meets
        reach = band(metric.window, metric.factor, n, m)
        self.lags, self.y_lags = _laid_out(_least_lags(*reach)), _laid_out(_least_lags(self.first, self.last))
        lower, upper = _envelopes(series, *reach)
        _pin(record, lower, upper, series)
        gaps = np.zeros((1, n))
        if isinstance(record, recurrences.MSMRecord):
            gaps[:] = series.shape[1] * record.c
        elif isinstance(record, EDITS):
            gaps = np.array([columns_kernels.series_gaps(record, y, None) for y in series])
        gaps, spares = _prices(record, gaps)
        # A point left out brings the price of another one only if it is not the shorter series that has them.
        spares = np.broadcast_to(spares * (n >= m), len(series)).copy()
        self.prepared = *(_laid_out(a) for a in (series, lower, upper, gaps)), spares

    def bounds(self, record, x, w, points):
        """Lower bounds (n_queries, n_series) of the accumulated costs of queries (n_queries, channels, m)."""
        m, n = self.m, self.n
        low, high = _envelopes(x, self.first, self.last)
        _pin(record, low, high, x)
        w = w[:1] if (w == w[:1]).all() else w
        light = _envelopes(w, self.first, self.last)[0]
        price = x.shape[1] * record.c if isinstance(record, recurrences.MSMRecord) else points[:, 0]
        up, spare = _prices(record, np.zeros((len(x), m)) + price)
        points = points[:1] if (points == points[:1]).all() else points
        least = _envelopes(points, self.first, self.last)[0]
        queries = _laid_out(x), _weights(w), _laid_out(points), _laid_out(up), spare * (m >= n)
        queries += _weights(light), *(_laid_out(a) for a in (least, low, high))
        out = np.empty((len(x), len(self.series)))
        both_ways(record, queries, self.prepared, self.lags, self.y_lags, float(abs(m - n)), out)
        if isinstance(record, recurrences.ADTWRecord):  # as many moves at least stretch
            out += record.omega * abs(m - n)
        if isinstance(record, recurrences.ERPRecord) and (w == 1).all():
            out = np.maximum(out, self._sums_apart(record.g, x))
        return out

    def _sums_apart(self, g, x):
        """Chen & Ng (2004): sums of two series from `g` differ by no more than their ERP, whatever the channels."""
        apart = (x - g).sum(axis=2)[:, np.newaxis] - (self.series - g).sum(axis=2)
        size = np.abs(x - g).sum(axis=(1, 2))[:, np.newaxis] + np.abs(self.series - g).sum(axis=(1, 2))
        rounding = (self.m + self.n) * x.shape[1] * np.finfo(float).eps * size
        return np.maximum(0.0, np.sqrt((apart**2).sum(axis=2)) - rounding)


class Bounds:
    """Lower bounds of the accumulated costs of queries of m points with a collection of series.

    Parameters
    ----------
    metric : ElasticMetric
        The distance.
    features : list of ndarray of shape (channels, n)
        The series, as the metric compares them.
    query : callable
        Gives for n a `Query` as it is compared with series of n points: one of those of m points, or all as a stack.
    """

    def __init__(self, metric, features, query):
        lengths = np.array([f.shape[1] for f in features])
        self.groups, self.size = [], len(features)
        for n in sorted(set(lengths.tolist())):
            record, points = query(n).record, query(n).points
            if has_bounds(record):
                members = np.flatnonzero(lengths == n)
                series = np.array([features[b] for b in members])
                self.groups.append(_Group(metric, record, members, series, points.shape[-1]))

    def of(self, queries, size):
        """Bounds (size, n_series) for the queries that a function gives for n, stacked (see `_queries`)."""
        out = np.zeros((size, self.size))
        for group in self.groups:
            out[:, group.members] = group.bounds(*queries(group.n))
        return out

"""Lower bounds of the distances of queries with the series of a collection, by the kernels of `lower_bounds`."""

import numpy as np

from .._kernels import columns
from .._kernels.dispatch import bounds_of, closed_boundary
from .._kernels.lower_bounds import INF, LANES, both_ways, envelopes
from .._metrics.bands import band


def room(*shape):
    """Zeros for points (..., n) behind a pad, up to whole vectors."""
    n = shape[-1]
    return np.zeros((*shape[:-1], 1 + n + -n % LANES))


def inside(a, n):
    """The points of what is laid out."""
    return a[..., 1 : n + 1]


def laid_out(a):
    """Points (..., n) after a pad, followed by zeros up to whole vectors."""
    out = room(*a.shape)
    inside(out, a.shape[-1])[...] = a
    return out


def envelopes_of(a, first, last):
    """The lower and the upper envelope of points (..., n), of the points [first[i], last[i]) each, laid out."""
    size = len(first)
    out = room(2, *a.shape[:-1], size)
    if not first.any() and (last == a.shape[-1]).all():  # without a band each point meets all of them
        inside(out, size)[...] = a.min(axis=-1, keepdims=True), a.max(axis=-1, keepdims=True)
    else:
        envelopes(a.reshape(-1, a.shape[-1]), first, last, *out.reshape(2, -1, out.shape[-1]))
    return out


def weight_rows(w):
    """Weights (..., 2, size) of the points and of the points before."""
    n = w.shape[-1]
    out = np.zeros((*w.shape[:-1], 2, n + -n % LANES))
    out[..., 0, :n] = w
    out[..., 1, 1:n] = w[..., :-1]
    return out


def minimum_lags(first, last):
    """The minimum lag of each point to the points [first, last) of the other series."""
    i = np.arange(len(first))
    return np.maximum(0, np.maximum(first - i, i - last + 1)).astype(float)


def pinned(record):
    """Whether the first points of two series always meet, and whether the last ones do."""
    first = closed_boundary(record)
    return first, first and not bounds_of(record).skips


def pin(record, lower, upper, a):
    """Set the ends of the envelopes (..., channels, n) to the ends of `a` where these are what the end points meet."""
    first, last = pinned(record)
    if first:
        lower[..., 0] = upper[..., 0] = a[..., 0]
    if last:
        lower[..., -1] = upper[..., -1] = a[..., -1]


def gap_costs_of(record, costs):
    """The gap costs of points (..., n), infinite where a path cannot leave them out, and their minimum."""
    if not bounds_of(record).skips:
        return np.full_like(costs, INF), np.zeros(costs.shape[:-1])
    costs = costs.copy()
    if closed_boundary(record):
        costs[..., 0] = INF
    minimum = costs.min(axis=-1)
    return costs, np.where(minimum < INF, minimum, 0.0)


class _Group:
    """Series of one length n, to be bounded against queries of one length m."""

    def __init__(self, metric, record, members, series, m):
        self.members = members  # their positions in the collection
        self.series, self.m = series, m
        n = self.n = series.shape[2]
        self.first, self.last = band(metric.window, metric.factor, m, n)  # query points that each series point meets
        reach = band(metric.window, metric.factor, n, m)
        self.lags, self.y_lags = laid_out(minimum_lags(*reach)), laid_out(minimum_lags(self.first, self.last))
        envelope = envelopes_of(series, *reach)
        pin(record, *inside(envelope, m), series)
        gaps = np.zeros((1, n))
        facts = bounds_of(record)
        if facts.minimum_gap is not None:
            gaps[:] = series.shape[1] * facts.minimum_gap(record)
        elif facts.skips:
            gaps = np.array([columns.series_gaps(record, y, None) for y in series])
        gaps, minimum_gap_costs = gap_costs_of(record, gaps)
        # A point left out implies the gap cost of a point of the other series only if that one is not the shorter.
        minimum_gap_costs = np.broadcast_to(minimum_gap_costs * (n >= m), len(series)).copy()
        self.prepared = laid_out(series), *envelope, laid_out(gaps), minimum_gap_costs

    def bounds(self, record, x, w, points):
        """Lower bounds (n_queries, n_series) of the accumulated costs of queries (n_queries, channels, m)."""
        m, n = self.m, self.n
        envelope = envelopes_of(x, self.first, self.last)
        pin(record, *inside(envelope, n), x)
        w = w[:1] if (w == w[:1]).all() else w
        light = inside(envelopes_of(w, self.first, self.last)[0], n)
        facts = bounds_of(record)
        gap_cost = points[:, 0] if facts.minimum_gap is None else x.shape[1] * facts.minimum_gap(record)
        up, minimum_gap_cost = gap_costs_of(record, np.zeros((len(x), m)) + gap_cost)
        points = points[:1] if (points == points[:1]).all() else points
        least = envelopes_of(points, self.first, self.last)[0]
        queries = laid_out(x), weight_rows(w), laid_out(points), laid_out(up), minimum_gap_cost * (m >= n)
        queries += weight_rows(light), least, *envelope
        out = np.empty((len(x), len(self.series)))
        both_ways(record, queries, self.prepared, self.lags, self.y_lags, float(abs(m - n)), out)
        if facts.stretch is not None:  # at least so many moves are not diagonal
            out += facts.stretch(record) * abs(m - n)
        if facts.gap_value is not None and (w == 1).all():
            out = np.maximum(out, self._sums_apart(facts.gap_value(record), x))
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
            if bounds_of(record) is not None:
                members = np.flatnonzero(lengths == n)
                series = np.array([features[b] for b in members])
                self.groups.append(_Group(metric, record, members, series, points.shape[-1]))

    def of(self, queries, size):
        """Bounds (size, n_series) for the queries that a function gives for n, stacked (see `_queries`)."""
        out = np.zeros((size, self.size))
        for group in self.groups:
            out[:, group.members] = group.bounds(*queries(group.n))
        return out

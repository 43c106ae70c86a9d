"""Nearest neighbors in a collection, exact, with as little computed as that needs.

Candidates are prepared where and when they are needed. Lower bounds of their distances from the queries come from the
kernels of `bounds`. Candidates are compared block by block, LANES at a time, the most promising first. A candidate is
skipped if its lower bound is above the k-th best distance found before, and a block ends as soon as all its lanes are
above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from numbers import Integral
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import delayed

from ..utils._jobs import as_plain, check_jobs, count_jobs, counted, each_in_jobs
from ..utils.validation import check_memory, check_verbose, refused, shown
from ._collection import StoredCollection, Timed, lengths_of
from ._kernels import batch, scalar
from ._kernels.batch import BATCH
from ._kernels.bounds import BOUND_LANES, INF, both_ways, envelopes
from ._kernels.dispatch import bounds_of, closed_boundary
from ._metrics.base import Metric, band
from ._metrics.elastic import ElasticMetric, PreparedPair
from ._metrics.registry import get_metric
from ._names import refuse_misplaced
from ._pairwise import (
    by_length,
    compared,
    counts_alone,
    distances_between,
    driver_of,
    observed_distance,
    queries_of,
)
from ._series import spread


def room(*shape):
    """Return zeros for points (..., n) behind a pad, up to whole vectors."""
    n = shape[-1]
    return np.zeros((*shape[:-1], 1 + n + -n % BOUND_LANES))


def inside(a, n):
    """Return the points of what is laid out."""
    return a[..., 1 : n + 1]


def laid_out(a):
    """Return points (..., n) after a pad, followed by zeros up to whole vectors."""
    out = room(*a.shape)
    inside(out, a.shape[-1])[...] = a
    return out


def envelopes_of(a, first, last):
    """Return the lower and the upper envelope of points (..., n), of the points [first[i], last[i]) each, laid out."""
    size = len(first)
    out = room(2, *a.shape[:-1], size)
    if not first.any() and (last == a.shape[-1]).all():  # without a band each point meets all of them
        inside(out, size)[...] = a.min(axis=-1, keepdims=True), a.max(axis=-1, keepdims=True)
    else:
        envelopes(a.reshape(-1, a.shape[-1]), first, last, *out.reshape(2, -1, out.shape[-1]))
    return out


def weight_rows(w):
    """Return the weights (..., 2, size) of the points and of the points before."""
    n = w.shape[-1]
    out = np.zeros((*w.shape[:-1], 2, n + -n % BOUND_LANES))
    out[..., 0, :n] = w
    out[..., 1, 1:n] = w[..., :-1]
    return out


def minimum_lags(first, last):
    """Return the minimum lag of each point to the points [first, last) of the other series."""
    i = np.arange(len(first))
    return np.maximum(0, np.maximum(first - i, i - last + 1)).astype(float)


def pinned(record):
    """Return whether the first points of two series always meet, and whether the last ones do."""
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
    """Return the gap costs of points (..., n), infinite where a path cannot leave them out, and their minimum."""
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
            gaps = np.array([scalar.series_gaps(record, y, None) for y in series])
        gaps, minimum_gap_costs = gap_costs_of(record, gaps)
        # A point left out implies the gap cost of a point of the other series only if that one is not the shorter.
        minimum_gap_costs = np.broadcast_to(minimum_gap_costs * (n >= m), len(series)).copy()
        self.prepared = laid_out(series), *envelope, laid_out(gaps), minimum_gap_costs

    def bounds(self, record, x, w, points):
        """Return lower bounds (n_queries, n_series) of the accumulated costs of queries (n_queries, channels, m)."""
        m, n = self.m, self.n
        envelope = envelopes_of(x, self.first, self.last)
        pin(record, *inside(envelope, n), x)
        w = np.ones_like(x[:1]) if w is None else w[:1] if (w == w[:1]).all() else w
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
        """Return bounds (size, n_series) for the queries that a function gives for n, stacked (see `queries_of`)."""
        out = np.zeros((size, self.size))
        for group in self.groups:
            out[:, group.members] = group.bounds(*queries(group.n))
        return out


# Fewer cells than this for a query and all its candidates: bounds and sorting cost as much as computing them, and more
# where bit-parallel words compute them.
FEW_CELLS = 200_000
FEW_BITS = 10
NO_OFFSETS = np.empty((0, 0))
KEPT = 2  # prepared parts, for calls at once that are at the border of two


class Task(NamedTuple):
    """Metric and number of neighbors of a search, and how much of it is computed at once."""

    metric: Metric
    w: np.ndarray | None
    k: int  # neighbors
    rows: int  # series whose neighbors are searched for at once
    columns: int  # candidates that are prepared at once


class Candidates:
    """A collection that is searched. What is prepared of it is shared by threads, and made again in other processes.

    It reports its size, since dask sends what is large to each worker once.
    """

    def __init__(self, task, Y):
        self.task, self.Y = task, Y
        self.points = sum(lengths_of(Y))
        self._flat, self._prepared, self._lock = None, {}, Lock()

    def __sizeof__(self):
        return 0 if isinstance(self.Y, StoredCollection) else 8 * self.points * len(self.Y[0])

    def __reduce__(self):
        if isinstance(self.Y, StoredCollection):
            return Candidates, (self.task, self.Y)
        with self._lock:  # one array, which other processes of this machine read from one file
            if self._flat is None:
                self._flat = np.concatenate([y.ravel() for y in self.Y])
        return _unpacked, (self.task, self._flat, [y.shape[1] for y in self.Y], len(self.Y[0]))

    def nearest(self, X, itself):
        """Return the distances and indices of the nearest ones of series of one length, and what became of the pairs.

        `itself` are the candidates that are no candidate for each series, or -1.
        """
        distances, indices = np.full((len(X), self.task.k), np.nan), np.full((len(X), self.task.k), -1)
        counts = np.zeros(3, int)
        for begin in range(0, len(self.Y), self.task.columns):
            search, size = self._search(begin, X[0])
            for first in range(0, len(X), self.task.rows):
                part = slice(first, first + self.task.rows)
                own = itself[part] - begin
                own[(own < 0) | (own >= size)] = -1
                counts += self._update(search(X[part], own, distances[part]), own, begin, (distances, indices), part)
        return distances, indices, counts

    def _update(self, found, own, begin, nearest, part):
        """Put what is near of some candidates among the nearest found before; NaN are behind everything."""
        found, counts = found
        which = np.flatnonzero(own >= 0)
        found[which, own[which]] = np.nan
        distances, indices = (a[part] for a in nearest)
        numbers = np.broadcast_to(np.arange(begin, begin + found.shape[1]), found.shape)
        if begin:
            found, numbers = np.hstack([distances, found]), np.hstack([indices, numbers])
        order = np.argsort(found, axis=1, kind="stable")[:, : self.task.k]
        size = order.shape[1]
        distances[:, :size] = np.take_along_axis(found, order, axis=1)
        indices[:, :size] = np.take_along_axis(numbers, order, axis=1)
        return counts

    def _search(self, begin, x):
        """Return a function that finds distances to the candidates from `begin` on, and the number of those candidates.

        The function takes series of the length of `x`. It is kept for later calls.
        """
        key = begin, x.shape[1]
        with self._lock:
            if key not in self._prepared:
                while len(self._prepared) >= KEPT:
                    del self._prepared[next(iter(self._prepared))]
                Y = self.Y[begin : begin + self.task.columns]
                self._prepared[key] = self._made(Y, x), len(Y)
            return self._prepared[key]

    def _made(self, Y, x):
        metric, k, w = self.task.metric, self.task.k, spread(self.task.w, x.shape[1])
        few = FEW_CELLS * (FEW_BITS if counts_alone(metric, w) else 1)
        if x.shape[1] * self.points >= few and is_prunable(metric):
            return Pruned(metric, Y, x, w, k).distances
        return partial(_all, metric, Y, w)


def _unpacked(task, flat, lengths, channels):
    ends = np.cumsum(lengths[:-1]) * channels
    parts = np.split(as_plain(flat), ends)
    return Candidates(task, [part.reshape(channels, -1) for part in parts])


def is_prunable(metric):
    """Return whether candidates may be left out for their bounds, and the others given up."""
    return isinstance(metric, ElasticMetric) and metric._has_lanes and metric._is_monotone and not metric._has_factor


def _kinds(lengths, exact):
    """Return candidates by their lengths, or by about these, so that little is padded."""
    kind = lengths if exact else np.floor(4 * np.log2(lengths)).astype(int)
    return [np.flatnonzero(kind == value) for value in np.unique(kind)]


def _all(metric, Y, w, X, itself, known=None):
    """Return all distances of series of one length, and what became of the pairs."""
    out = distances_between(driver_of(metric, X, Y, w), metric, w, X, Y, False)
    return out, (0, 0, out.size - int((itself >= 0).sum()))


class Pruned:
    """Candidates prepared for series of one length under an elastic distance; `x` is one of those."""

    def __init__(self, metric, Y, x, w, k):
        self.metric, self.w, self.k, self.m = metric, w, k, x.shape[1]
        self.features = [metric._features(y) for y in Y]
        self.lengths = np.array([f.shape[1] for f in self.features])
        self.series = batch.one_after_another(self.features, self.lengths)
        self.bounds = Bounds(metric, self.features, lambda n: metric._query(x, w, n))
        self.share = 1.0 - 1e-12 - (self.m + self.lengths) * np.finfo(float).eps  # sums of as many terms round
        # Lanes of a block share a band and a way from costs to distances, or are at least of about one length.
        self.alike = metric.window is not None or metric._needs_equal_lengths
        self.kinds = _kinds(self.lengths, self.alike or not metric._reports_cost)

    def distances(self, X, itself, known):
        """Return distances, infinite where they are surely above the k-th best, and what became of the pairs.

        `itself` are the candidates that are no candidate for each series, or -1. Those `known` are the k best ones of
        other candidates, or NaN.
        """
        of_length, bounds = self.prepared(X)
        out, counts, known = np.full(bounds.shape, np.inf), np.zeros(3, int), np.where(np.isnan(known), np.inf, known)
        for members in sorted(self.kinds, key=lambda members: bounds[:, members].min(axis=1).sum()):
            order = members[np.argsort(bounds[:, members], axis=1, kind="stable")]
            best = np.partition(np.hstack([known, out]), self.k - 1, axis=1)
            cutoff = best[:, self.k - 1].copy()  # a strided array would be compiled for again
            n = int(self.lengths[members].max())
            queries, limits, slack = of_length(n), cutoff, (0.0, 0.0)
            if not self.metric._reports_cost:  # distances may be equal where costs differ by rounding
                record, x, _, points = queries
                problem = PreparedPair(record, x[0], None, self.features[order[0, 0]], None, None, points[0])
                limits = np.where(cutoff < np.inf, self.metric._cost_of_distance(cutoff, problem), np.inf)
                slack = 1e-12, 1e-12 * (self.m + n)
            found = self._scan(queries, n, (order, itself, bounds, NO_OFFSETS), self.k, limits, slack, counts)
            out[:, members] = found[:, members]
        return out, counts

    def queries(self, X):
        """Return a function that gives the queries as they are compared with series of n points."""
        queries = cache(lambda n: queries_of(self.metric, X, self.w, n))
        # Only a few metrics' parameters depend on the candidates' length.
        return queries if self.alike else lambda n: queries(0)

    def prepared(self, X):
        """Return a function that gives the queries for series of n points, and the bounds of accumulated costs."""
        of_length = self.queries(X)
        return of_length, self.bounds.of(of_length, len(X)) * self.share

    def _scan(self, queries, n, candidates, k, limits, slack, counts):
        """Return the distances of candidates of one kind, of up to n points, infinite if surely above the limits."""
        record, x, w, points = queries
        prepared = record, *batch.padded(record, x, w), points
        window, factor = self.metric.window, self.metric.factor
        cells = (None, None) if window is None else band(window, factor, n, self.m)
        costs = np.full(candidates[2].shape, np.inf)
        counts += batch.scan(prepared, self.series, candidates, n, *cells, k, limits, slack, costs)
        return self.metric._distance_of_cost(costs, points[0], n)


if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from ..utils._times import MetricLike, Sequences

# Of no influence on any result: series whose neighbors are searched for at once, more where searches take so little
# that threads would often wait for each other in between; points of them and the collection in all pairs, and numbers
# of the collection that one of theirs counts for; pairs; series of a call at most, and at least for the sake of jobs.
QUERIES, MANY_QUERIES = 64, 256
POINTS, EACH = 2**24, 2**7
ENTRIES = 2**20
ROWS, FEW_ROWS = 1024, 16
# Bytes of a pair, and sizes of a candidate, in all arrays that are made for them.
PAIR = 100
COPIES = 12
# Bytes for each job where the collection that is searched is not in memory, unless more or less may be taken.
MEMORY = 2**28


@dataclass(frozen=True)
class Pruning:
    """Counts of the pairs that a neighbor search skipped, abandoned and computed.

    Attributes
    ----------
    pairs : int
        Pairs of a query and a candidate.
    bounded : int
        Pairs skipped because their lower bound was above the k-th best distance.
    abandoned : int
        Pairs abandoned because their distance exceeded the k-th best.
    computed : int
        Pairs whose distance was computed.

    Examples
    --------
    >>> from sktslib.distances import nearest_neighbors
    >>> nearest_neighbors([[0, 1, 2]], [[0, 1, 1], [5, 5, 5]], metric="euclidean").report.pairs
    2
    """

    pairs: int
    bounded: int
    abandoned: int
    computed: int


@dataclass(frozen=True)
class Neighbors:
    """Nearest neighbors; unpacks into distances and indices, which also have the positions 0 and 1.

    Attributes
    ----------
    distances : ndarray of shape (n_series, n_neighbors)
        Distances to the nearest series, ascending.
    indices : ndarray of shape (n_series, n_neighbors)
        Positions of these series in the collection; of equally near ones the first.
    report : Pruning
        Counts of the computed and skipped pairs.

    Examples
    --------
    >>> from sktslib.distances import nearest_neighbors
    >>> distances, indices = nearest_neighbors([[0, 1, 2]], [[0, 1, 1], [5, 5, 5]], metric="euclidean")
    >>> distances, indices
    (array([[1.]]), array([[0]]))
    """

    distances: np.ndarray
    indices: np.ndarray
    report: Pruning

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.distances, self.indices))

    def __getitem__(self, k: Any) -> Any:
        return (self.distances, self.indices)[k]


def nearest_neighbors(
    X: Sequences,
    Y: Sequences | None = None,
    metric: MetricLike = "dtw",
    n_neighbors: int = 1,
    *,
    metric_params: dict[str, Any] | None = None,
    weight: ArrayLike | None = None,
    times: Sequence[Any] | None = None,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    verbose: int = 0,
    channels_first: bool | None = None,
    **unknown: Any,
) -> Neighbors:
    """Find the nearest neighbors of each series in a collection; exact for every metric.

    Elastic distances are not computed for candidates that a lower bound excludes, and are abandoned early for the
    others. Other distances, `CIDDTW` and `Mixed` are computed for all pairs.

    Parameters
    ----------
    X : array-like of shape (n_series, length) or (n_series, length, channels), or list of series
        The series whose neighbors are searched for; a list may hold series of different lengths. An array that is not
        in memory (memory map, zarr, h5py, dask) is read by parts.
    Y : like X, optional
        The collection to search; None: `X`, each series without itself.
    metric : str, metric object or callable, default="dtw"
        The distance, from a series of `X` to one of `Y`.
    n_neighbors : int, default=1
        Number of neighbors, at most the number of series to choose from.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,), (length, channels) or (1, channels), optional
        Relative weights of the points of every series of `X`, which must then have one length, or only of their
        channels.
    times : list, optional
        Sample times of each series, see :func:`pairwise_distances`. Then all distances are computed.
    n_jobs : int, optional
        Number of threads, as in joblib; results do not depend on it.
    max_memory : int or str, optional
        Memory that all threads or processes together may use besides the collections and the result: bytes, or text
        such as "2GB". Less takes longer; neighbors do not depend on it. None: a few copies of `Y`, and about 80 MB per
        job; 270 MB per job if `Y` is not in memory.
    verbose : int, default=0
        Above 0: a progress bar on stderr.
    channels_first : bool, optional
        Whether the channels come before time, see :func:`pairwise_distances`.
    **unknown
        Not accepted: the error says to pass parameters of the metric by `metric_params`.

    Returns
    -------
    Neighbors
        Arrays `distances` and `indices` of shape (n_series, n_neighbors), nearest first, ties by the lower index, and
        a `report` of what was computed. It unpacks into the two arrays.

    Raises
    ------
    ValueError
        If a series or a weight is not finite or has the wrong shape, or a parameter is out of its range;
        the message names it.
    TypeError
        If something has the wrong type, such as text instead of numbers.

    References
    ----------
    Keogh & Ratanamahatana (2005), Exact indexing of dynamic time warping; Herrmann & Webb (2021), Early abandoning and
    pruning for elastic distances including dynamic time warping.

    Examples
    --------
    >>> from sktslib.distances import nearest_neighbors
    >>> distances, indices = nearest_neighbors([[0, 1, 2], [5, 5, 5]], [[5, 5, 6], [0, 0, 1, 2], [9, 9, 9]])
    >>> distances
    array([[0.],
           [1.]])
    >>> indices
    array([[1],
           [0]])
    """
    if unknown or isinstance(Y, str):
        refuse_misplaced(nearest_neighbors, Y, unknown)
    metric = get_metric(metric, metric_params)
    n_jobs, verbose, max_memory = check_jobs(n_jobs), check_verbose(verbose), check_memory(max_memory)
    same = Y is None
    metric, X, Y, w = compared(metric, X, Y, weight, times, channels_first, max_memory)
    available = len(Y) - same
    whole = isinstance(n_neighbors, Integral) and not isinstance(n_neighbors, bool)
    if not whole or not 1 <= n_neighbors <= available:
        rule, got = f"be an integer from 1 to the number of series to choose from, {available}", shown(n_neighbors)
        raise refused("n_neighbors", rule, got)
    k = int(n_neighbors)
    if isinstance(X[0], Timed):
        return _of_all_distances(metric, w, X, Y, same, k)
    jobs = count_jobs(n_jobs)
    rows, columns = _sizes(X, Y, k, jobs, max_memory)
    candidates = Candidates(Task(metric, w, k, rows, columns), Y)
    places = []
    for members in map(np.array, by_length(X).values()):
        size = min(ROWS, len(members) // (4 * jobs), getattr(X, "rows", ROWS))
        size = max(rows, size - size % rows)
        count = -(-len(members) // size)
        # Jobs end together; but each part has its cost. Series that lie side by side often take about as long: they are
        # dealt out, unless they are read side by side.
        count = max(count, min(count + -count % jobs, len(members) // min(FEW_ROWS, max(1, rows // 4))))
        stored = isinstance(X, StoredCollection)
        places += np.array_split(members, count) if stored else [members[k::count] for k in range(count)]
    calls = (
        delayed(_nearest)(candidates, [X[a] for a in part], part if same else np.full(len(part), -1)) for part in places
    )
    distances, indices, counts = np.empty((len(X), k)), np.empty((len(X), k), np.intp), np.zeros(3, int)
    found = each_in_jobs(calls, len(places), n_jobs, verbose, "nearest neighbors", "block")
    for part, (some, their_indices, their_counts) in zip(places, found, strict=True):
        distances[part], indices[part] = some, their_indices
        counts += their_counts
    return Neighbors(distances, indices, Pruning(len(X) * available, *counts.tolist()))


def _of_all_distances(metric, w, X, Y, same, k):
    """Return the nearest of all pairs, whose series have times."""
    found = np.array([[observed_distance(metric, x, spread(w, x.shape[1]), y) for y in Y] for x in X], float)
    order = np.argsort(np.where(np.eye(len(X), dtype=bool), np.inf, found) if same else found, axis=1, kind="stable")
    if same:  # no series is its own neighbor, not even where all others are infinitely far
        order = order[order != np.arange(len(X))[:, np.newaxis]].reshape(len(X), -1)
    order, pairs = order[:, :k], len(X) * (len(Y) - same)
    return Neighbors(np.take_along_axis(found, order, axis=1), order, Pruning(pairs, 0, 0, pairs))


def _sizes(X, Y, k, jobs, max_memory):
    """Return the number of series to find the neighbors of at once, and the number of candidates at once."""
    if max_memory is None and isinstance(Y, StoredCollection):
        max_memory = MEMORY * jobs
    if max_memory is None:
        many = POINTS // (len(Y[0]) * max(sum(lengths_of(Y)), EACH * max(lengths_of(X))))
        rows = max(QUERIES, min(MANY_QUERIES, many, getattr(X, "rows", MANY_QUERIES)))
        return max(1, min(rows, ENTRIES // len(Y))), len(Y)
    # One half is for what is prepared of the candidates, the other one for the pairs.
    of_series = COPIES * 8 * len(Y[0]) * max(lengths_of(Y))
    columns = min(len(Y), max_memory // (2 * (KEPT + jobs) * of_series))
    rows = min(QUERIES, max_memory // (2 * jobs * PAIR * max(columns + k, 1)))
    if columns < min(len(Y), BATCH) or not rows:
        least = max(2 * (KEPT + jobs) * of_series * BATCH, 2 * jobs * PAIR * (BATCH + k))
        rule, got = f"leave room for {BATCH} candidates and {counted(jobs)}, {least} bytes", max_memory
        raise refused("max_memory", rule, got, "Raise it, or lower 'n_jobs'.")
    return rows, columns


def _nearest(candidates, X, itself):
    return candidates.nearest(X, itself)

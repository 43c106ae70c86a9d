"""Exact nearest neighbors in a collection, with as little computation as possible.

Candidates are prepared for each length of series. The kernels of `bounds` compute lower bounds of their distances to
the queries. Candidates are compared in blocks of LANES, the most promising first. A candidate is skipped if its lower
bound is above the k-th smallest distance so far, and a block is abandoned as soon as all its lanes are above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..utils._jobs import as_plain, check_jobs, count_jobs, delayed, each_in_jobs
from ..utils.validation import check_number, check_verbose
from ._collection import Timed, lengths_of
from ._kernels import batch, scalar
from ._kernels.bounds import BOUND_LANES, INF, envelopes, series_bounds
from ._kernels.dispatch import bounds_of, closed_boundary
from ._metrics.base import band
from ._metrics.elastic import ElasticMetric, PreparedPair
from ._metrics.registry import get_metric
from ._names import refuse_misplaced
from ._pairwise import by_length, compared, counts_alone, distances_between, driver_of, queries_of
from ._series import spread


def laid_out(a):
    """Return points (..., n) after one number of padding, followed by zeros up to whole vectors."""
    n = a.shape[-1]
    out = np.zeros((*a.shape[:-1], 1 + n + -n % BOUND_LANES))
    out[..., 1 : n + 1] = a
    return out


def weight_rows(w):
    """Return the weights (..., 2, size) of the points and of the preceding points."""
    n = w.shape[-1]
    out = np.zeros((*w.shape[:-1], 2, n + -n % BOUND_LANES))
    out[..., 0, :n] = w
    out[..., 1, 1:n] = w[..., :-1]
    return out


def minimum_lags(first, last):
    """Return the minimum lag between each point and the points [first, last) of the other series."""
    i = np.arange(len(first))
    return np.maximum(0, np.maximum(first - i, i - last + 1)).astype(float)


def pinned(record):
    """Return whether the first points of two series are always paired, and whether the last ones are."""
    first = closed_boundary(record)
    return first, first and not bounds_of(record).skips


def gap_costs_of(record, costs, channels):
    """Return lower bounds of the gap costs of points (..., n); infinite if points cannot be skipped."""
    facts = bounds_of(record)
    if not facts.skips:
        return np.full_like(costs, INF)
    costs = costs.copy() if facts.minimum_gap is None else np.full_like(costs, channels * facts.minimum_gap(record))
    if closed_boundary(record):
        costs[..., 0] = INF
    return costs


class _Group:
    """Series of one length n, for bounds against queries of one length m."""

    def __init__(self, metric, record, members, series, m):
        self.members = members  # positions in the collection
        self.series, self.m = series, m
        n = self.n = series.shape[2]
        reach = band(metric.window, metric.factor, n, m)  # series points that each query point may be paired with
        self.lags, envelope, facts = laid_out(minimum_lags(*reach)), envelopes(series, *reach), bounds_of(record)
        for end, is_pinned in zip((0, -1), pinned(record), strict=True):
            if is_pinned:
                envelope[..., end] = series[..., end]
        gaps = np.zeros((1, n))
        if facts.skips and facts.minimum_gap is None:
            gaps = np.array([scalar.series_gaps(record, y, None) for y in series])
        least = gap_costs_of(record, gaps, series.shape[1]).min(axis=-1)
        # A skipped point implies the gap cost of a point in the other series only if that series is not shorter.
        minimum_gap_costs = np.where(least < INF, least, 0.0) * (n >= m)
        self.prepared = *laid_out(envelope), np.broadcast_to(minimum_gap_costs, len(series)).copy()

    def bounds(self, record, x, w, points):
        """Return lower bounds (n_queries, n_series) of the accumulated costs of queries (n_queries, channels, m)."""
        m, n = self.m, self.n
        w = np.ones_like(x[:1]) if w is None else w[:1] if (w == w[:1]).all() else w
        facts = bounds_of(record)
        gap_costs = gap_costs_of(record, points[:, 0], x.shape[1])
        points = points[:1] if (points == points[:1]).all() else points
        out = np.empty((len(x), len(self.series)))
        queries = laid_out(x), weight_rows(w), laid_out(points), laid_out(gap_costs)
        series_bounds(record, queries, self.prepared, self.lags, out)
        out += abs(m - n) * self.prepared[2]
        if facts.stretch is not None:  # at least n - m moves are not diagonal
            out += facts.stretch(record) * abs(m - n)
        if facts.gap_value is not None and (w == 1).all():
            out = np.maximum(out, self._sums_apart(facts.gap_value(record), x))
        return out

    def _sums_apart(self, g, x):
        """Return lower bounds of ERP: differences between the sums of series minus `g` (Chen & Ng 2004)."""
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
        """Return bounds (size, n_series) for queries; `queries(n)` returns them stacked, as compared with length n."""
        out = np.zeros((size, self.size))
        for group in self.groups:
            out[:, group.members] = group.bounds(*queries(group.n))
        return out


# With fewer cells for a query and all its candidates, bounds and sorting take as long as computing them. Bit-parallel
# words need more cells than that.
FEW_CELLS = 200_000
FEW_BITS = 10


class Candidates:
    """A collection prepared for k-nearest-neighbor searches of series with one length; `x` is such a series."""

    def __init__(self, metric, Y, x, w, k):
        self.metric, self.Y, self.x, self.k, self.m = metric, Y, x, k, x.shape[1]
        self.weight, self.w = w, spread(w, self.m)
        self.lengths = np.array(lengths_of(Y))
        few = FEW_CELLS * (FEW_BITS if counts_alone(metric, self.w) else 1)
        self.pruned, self._flat = self.m * self.lengths.sum() >= few and not isinstance(x, Timed), None
        bounded = isinstance(metric, ElasticMetric) and metric._has_lanes and metric._is_monotone
        self.pruned &= bounded and not metric._has_factor
        if not self.pruned:
            return
        self.features = [metric._features(y) for y in Y]
        self.series = batch.one_after_another(self.features, self.lengths)
        self.bounds = Bounds(metric, self.features, lambda n: metric._query(x, self.w, n))
        self.share = 1.0 - 1e-12 - (self.m + self.lengths) * np.finfo(float).eps  # rounding of sums of as many terms
        # Lanes of a block must share a band and the conversion of costs to distances. Otherwise they have about equal
        # lengths, to keep the padding small.
        self.alike = metric.window is not None or metric._needs_equal_lengths
        exact = self.alike or not metric._reports_cost
        kind = self.lengths if exact else np.floor(4 * np.log2(self.lengths)).astype(int)
        self.kinds = [np.flatnonzero(kind == value) for value in np.unique(kind)]

    def __sizeof__(self):
        """Return the size in bytes; dask sends large objects to each worker only once."""
        return int(8 * self.lengths.sum() * len(self.Y[0]))

    def __reduce__(self):
        if isinstance(self.x, Timed):
            return Candidates, (self.metric, self.Y, self.x, self.weight, self.k)
        if self._flat is None:  # one array, which other processes on this machine can map from one file
            self._flat = np.concatenate([y.ravel() for y in self.Y])
        return _unpacked, (self.metric, self._flat, self.lengths, len(self.Y[0]), self.x, self.weight, self.k)

    def nearest(self, X, itself, rows):
        """Return distances and indices of the nearest candidates of series, and counts of how pairs were handled.

        `itself` is the index of the candidate that each series itself is, or -1; `rows` is the number of series at a
        time.
        """
        distances, indices = np.empty((len(X), self.k)), np.empty((len(X), self.k), np.intp)
        counts = np.zeros(3, int)
        for first in range(0, len(X), rows):
            part = slice(first, first + rows)
            own, found = itself[part], self._distances(X[part], itself[part], counts)
            which = np.flatnonzero(own >= 0)
            found[which, own[which]] = np.nan  # sorts after everything else
            indices[part] = np.argsort(found, axis=1, kind="stable")[:, : self.k]
            distances[part] = np.take_along_axis(found, indices[part], axis=1)
        return distances, indices, counts

    def _distances(self, X, itself, counts):
        """Return distances, infinite where they are certainly above the k-th smallest; update the counts of pairs."""
        if not self.pruned:
            out = distances_between(driver_of(self.metric, X, self.Y, self.w), self.metric, self.w, X, self.Y, False)
            counts[2] += out.size - (itself >= 0).sum()
            return out
        metric, of_any = self.metric, cache(lambda n: queries_of(self.metric, X, self.w, n))
        # Only for some metrics, parameters depend on the candidates' length.
        of_length = of_any if self.alike else lambda n: of_any(0)
        bounds = self.bounds.of(of_length, len(X)) * self.share
        out = np.full(bounds.shape, np.inf)
        for members in sorted(self.kinds, key=lambda members: bounds[:, members].min(axis=1).sum()):
            order = members[np.argsort(bounds[:, members], axis=1, kind="stable")]
            limits = np.partition(out, self.k - 1, axis=1)[:, self.k - 1].copy()  # a strided array is another type
            n = int(self.lengths[members].max())
            (record, x, w, points), slack = of_length(n), (0.0, 0.0)
            if not metric._reports_cost:  # distances may be equal although costs differ by rounding
                problem = PreparedPair(record, x[0], None, self.features[order[0, 0]], None, None, points[0])
                limits = np.where(limits < np.inf, metric._cost_of_distance(limits, problem), np.inf)
                slack = 1e-12, 1e-12 * (self.m + n)
            queries = record, *batch.padded(record, x, w), points
            cells = (None, None) if metric.window is None else band(metric.window, metric.factor, n, self.m)
            costs, candidates = np.full(bounds.shape, np.inf), (order, itself, bounds)
            counts += batch.scan(queries, self.series, candidates, n, *cells, self.k, limits, slack, costs)
            out[:, members] = metric._distance_of_cost(costs[:, members], points[0], n)
        return out


if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from ..utils._times import MetricLike, Sequences

# These numbers affect no result. Series per call, more where searches are so fast that threads would often wait;
# points in all pairs of them and the collection, and how many of the collection's numbers one of theirs equals; pairs;
# the largest number of series per call, and the smallest one with jobs.
QUERIES, MANY_QUERIES = 64, 256
POINTS, EACH = 2**24, 2**7
ENTRIES = 2**20
ROWS, FEW_ROWS = 1024, 16


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
        The series whose neighbors are searched for; a list may hold series of different lengths.
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
    n_jobs, verbose = check_jobs(n_jobs), check_verbose(verbose)
    same = Y is None
    metric, X, Y, w = compared(metric, X, Y, weight, times, channels_first)
    available = len(Y) - same
    k = check_number(n_neighbors, "n_neighbors", low=1, high=available, owner="nearest_neighbors", integer=True)
    jobs = count_jobs(n_jobs)
    many = POINTS // (len(Y[0]) * max(sum(lengths_of(Y)), EACH * max(lengths_of(X))))
    rows = max(1, min(max(QUERIES, min(MANY_QUERIES, many)), ENTRIES // len(Y)))
    parts = [part for members in by_length(X).values() for part in _parts(np.array(members), rows, jobs)]

    def calls():
        search = None
        for part in parts:  # calls for one length follow each other
            if search is None or search.m != X[part[0]].shape[1]:
                search = Candidates(metric, Y, X[part[0]], w, k)
            yield delayed(Candidates.nearest)(
                search, [X[a] for a in part], part if same else np.full(len(part), -1), rows
            )

    distances, indices, counts = np.empty((len(X), k)), np.empty((len(X), k), np.intp), np.zeros(3, int)
    found = each_in_jobs(calls(), len(parts), n_jobs, verbose, "nearest neighbors", "block")
    for part, (some, their_indices, their_counts) in zip(parts, found, strict=True):
        distances[part], indices[part] = some, their_indices
        counts += their_counts
    return Neighbors(distances, indices, Pruning(len(X) * available, *counts.tolist()))


def _parts(members, rows, jobs):
    """Return series of one length in parts for jobs, each of several blocks of `rows`.

    Parts should end together, but each has overhead. Neighboring series often take similar time, so they are
    distributed in turn.
    """
    size = min(ROWS, len(members) // (4 * jobs))
    size = max(rows, size - size % rows)
    count = -(-len(members) // size)
    count = max(count, min(count + -count % jobs, len(members) // min(FEW_ROWS, max(1, rows // 4))))
    return [members[k::count] for k in range(count)]


def _unpacked(metric, flat, lengths, channels, *rest):
    parts = np.split(as_plain(flat), np.cumsum(lengths[:-1]) * channels)
    return Candidates(metric, [part.reshape(channels, -1) for part in parts], *rest)

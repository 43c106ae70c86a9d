"""Nearest neighbours in a collection, exact, with as little computed as that needs.

Candidates come block by block, LANES at a time, the most promising first. A candidate whose lower bound is above the
k-th best distance so far is skipped, and a block ends as soon as all its lanes are above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed

from ..utils._jobs import in_jobs
from ..utils.validation import check_jobs, check_verbose, shown
from ._collection import as_collection
from ._collection_bounds import Bounds
from ._kernels import lanes
from ._metrics.bands import band
from ._metrics.elastic import ElasticMetric, PreparedPair, times_factor
from ._metrics.registry import get_metric
from ._pairwise import by_length, collection_weight, counts_alone, distance_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from ..utils._types import MetricLike, Sequences

# Series a task, and pairs that a task may hold; of no influence on any result.
QUERIES = 64
ENTRIES = 2**20
# Fewer cells than this for a query and all its candidates: bounds and sorting cost as much as computing them, and more
# where bit-parallel words compute them.
FEW_CELLS = 200_000
FEW_BITS = 10
# Points that are averaged to one for a first look at series that may warp without limit.
COARSE = 8


@dataclass(frozen=True)
class Pruning:
    """What became of the pairs of a neighbour search.

    Attributes
    ----------
    pairs : int
        Pairs of a query and a candidate.
    bounded : int
        Pairs skipped because their lower bound was above the k-th best distance.
    abandoned : int
        Pairs that were begun and found to be above it.
    computed : int
        Pairs whose distance was computed.
    """

    pairs: int
    bounded: int
    abandoned: int
    computed: int


@dataclass(frozen=True)
class Neighbors:
    """Nearest neighbours; unpacks into distances and indices.

    Attributes
    ----------
    distances : ndarray of shape (n_series, n_neighbors)
        Distances to the nearest series, ascending.
    indices : ndarray of shape (n_series, n_neighbors)
        Their positions in the collection; of equally near ones the first.
    report : Pruning
        What was computed and what was not.
    """

    distances: np.ndarray
    indices: np.ndarray
    report: Pruning

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.distances, self.indices))


def nearest_neighbors(
    X: Sequences,
    Y: Sequences | None = None,
    metric: MetricLike = "dtw",
    n_neighbors: int = 1,
    *,
    metric_params: dict[str, Any] | None = None,
    weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    channels_first: bool | None = None,
) -> Neighbors:
    """Find the nearest neighbours of each series in a collection; exact for every metric.

    Elastic distances are not computed for candidates that a lower bound excludes, and no further than needed for the
    others. All other distances are computed.

    Parameters
    ----------
    X : array-like of shape (n_series, length) or (n_series, length, channels), or list of series
        The series whose neighbours are searched for; a list may hold series of different lengths.
    Y : like X, optional
        The collection to search; None: `X`, each series without itself.
    metric : str, metric object or callable, default="dtw"
        The distance, from a series of `X` to one of `Y`.
    n_neighbors : int, default=1
        Number of neighbours, at most the number of series to choose from.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,) or (length, channels), optional
        Relative weights of the points of every series of `X`, which must have one length then.
    n_jobs : int, optional
        Number of threads, as in joblib; no result depends on it.
    verbose : int, default=0
        Above 0: a bar on stderr shows how far the work has come.
    channels_first : bool, optional
        Whether the channels come before time, see :func:`pairwise_distances`.

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
        If something is of the wrong kind, such as text where numbers are meant.

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
    metric = get_metric(metric, metric_params)
    n_jobs, verbose = check_jobs(n_jobs), check_verbose(verbose)
    same = Y is None
    X = as_collection(X, "X", channels_first=channels_first)
    Y = X if same else as_collection(Y, "Y", channels=len(X[0]), channels_first=bool(channels_first))
    metric._check_sizes(X, Y, ("X", "X" if same else "Y"))
    metric._warn_of_scale(X, Y)
    available = len(Y) - same
    whole = isinstance(n_neighbors, Integral) and not isinstance(n_neighbors, bool)
    if not whole or not 1 <= n_neighbors <= available:
        raise ValueError(
            f"The 'n_neighbors' parameter must be an integer from 1 to the number of series to choose from, "
            f"{available}. Got {shown(n_neighbors)}."
        )
    w = collection_weight(weight, X)
    metric = metric._fitted_to(X, None if w is None else [w] * len(X))
    k, points = int(n_neighbors), sum(y.shape[1] for y in Y)
    distances, indices = np.empty((len(X), k)), np.empty((len(X), k), np.intp)

    def task(search, rows):
        found, counts = search([X[a] for a in rows], np.array(rows) if same else np.full(len(rows), -1))
        if same:
            found[np.arange(len(rows)), rows] = np.nan  # sorted behind everything
        order = np.argsort(found, axis=1, kind="stable")[:, :k]
        indices[rows], distances[rows] = order, np.take_along_axis(found, order, axis=1)
        return counts

    tasks = []
    for m, members in by_length(X).items():
        few = FEW_CELLS * (FEW_BITS if counts_alone(metric, w) else 1)
        if _is_prunable(metric) and m * points >= few:
            search = _Pruned(metric, Y, X[members[0]], w, k).distances
        else:
            search = partial(_all, metric, Y, w)
        size = max(1, min(QUERIES, ENTRIES // len(Y)))
        tasks += [delayed(task)(search, members[begin : begin + size]) for begin in range(0, len(members), size)]
    counts = in_jobs(tasks, n_jobs, verbose, "nearest neighbors", "block")
    bounded, abandoned, computed = np.sum(counts, axis=0).tolist()
    return Neighbors(distances, indices, Pruning(len(X) * available, bounded, abandoned, computed))


def _is_prunable(metric):
    return isinstance(metric, ElasticMetric) and metric._has_lanes and metric._is_monotone


def _all(metric, Y, w, X, itself):
    """All distances of series of one length, and what became of the pairs."""
    out = np.empty((len(X), len(Y)))
    for function, arguments, keywords in distance_tasks(metric, X, Y, w, False, out):
        function(*arguments, **keywords)
    return out, (0, 0, out.size - int((itself >= 0).sum()))


class _Pruned:
    """Candidates prepared for series of one length under an elastic distance; `x` is one of those."""

    def __init__(self, metric, Y, x, w, k):
        self.metric, self.w, self.k, self.m = metric, w, k, x.shape[1]
        self.features = [metric._features(y) for y in Y]
        self.lengths = np.array([f.shape[1] for f in self.features])
        begins = np.cumsum([0, *[f.size for f in self.features[:-1]]])
        self.series = np.concatenate([f.ravel() for f in self.features]), begins, self.lengths
        self.bounds = Bounds(metric, self.features, lambda n: metric._query(x, w, n))
        self.share = 1.0 - 1e-12 - (self.m + self.lengths) * np.finfo(float).eps  # sums of as many terms round
        # Lanes of a block share a band and a way from costs to distances, or are at least of about one length, so that
        # little is padded.
        exact = metric._needs_equal_lengths or not metric._reports_cost
        kind = self.lengths if exact else np.floor(4 * np.log2(self.lengths)).astype(int)
        self.kinds = [np.flatnonzero(kind == value) for value in np.unique(kind)]
        self.coarse_w = None if w is None else _coarse(w)
        self.traits = metric._traits(self.features) if metric._has_factor else None
        # A band makes bounds tight. Without one they tell little, and a look at the averaged series tells more.
        self.coarse = None
        if metric.window is None and (w is None or self.coarse_w.any()):
            self.coarse = [_coarse(y) for y in Y]

    def distances(self, X, itself):
        """Distances, infinite where they are surely above the k-th best, and what became of the pairs.

        `itself` are the candidates that are no candidate for each series, or -1.
        """
        queries = cache(lambda n: self.metric._queries(X, self.w, n))
        # Only a few metrics' parameters depend on the candidates' length.
        of_length = queries if self.metric._needs_equal_lengths else lambda n: queries(0)
        bounds = self.bounds.of(of_length, len(X)) * self.share
        factors = None
        if self.metric._has_factor:
            of_x = self.metric._traits(map(self.metric._features, X))
            factors = self.metric._factor(of_x[:, np.newaxis], self.traits)
            bounds = times_factor(bounds, factors * self.share)
        look = bounds
        if self.coarse is not None:
            look = _all(self.metric, self.coarse, self.coarse_w, [_coarse(x) for x in X], itself)[0]
        out, counts = np.full(look.shape, np.inf), np.zeros(3, int)
        for members in sorted(self.kinds, key=lambda members: look[:, members].min(axis=1).sum()):
            order = members[np.argsort(look[:, members], axis=1, kind="stable")]
            cutoff = np.partition(out, self.k - 1, axis=1)[:, self.k - 1].copy()  # a strided one is compiled for anew
            n = int(self.lengths[members].max())
            out[:, members] = self._scan(of_length(n), n, order, itself, bounds, factors, cutoff, counts)[:, members]
        return out, counts

    def _scan(self, queries, n, order, itself, bounds, factors, cutoff, counts):
        """Distances of candidates of one kind, of up to n points, infinite where they are surely above the cutoff."""
        record, x, w, points = queries
        problem = PreparedPair(record, x[0], None, self.features[order[0, 0]], None, None, points[0])
        limits, slack = cutoff, (0.0, 0.0)
        if not self.metric._reports_cost:  # distances may be equal where costs differ by rounding
            slack = 1e-12, 1e-12 * (self.m + n)
            limits = np.where(cutoff < np.inf, self.metric._limit(cutoff, problem), np.inf)
        prepared, candidates = (record, *lanes.padded(record, x, w), points), (order, itself, bounds)
        cells = band(self.metric.window, self.metric.factor, n, self.m)
        costs = np.full(bounds.shape, np.inf)
        counts += lanes.scan(prepared, self.series, candidates, factors, n, *cells, self.k, limits, slack, costs)
        return costs if self.metric._reports_cost else self.metric._report(costs, problem)


def _coarse(a):
    """Means of a few neighbouring points each."""
    ends = np.arange(0, a.shape[1], COARSE)
    return np.add.reduceat(a, ends, axis=1) / np.minimum(COARSE, a.shape[1] - ends)

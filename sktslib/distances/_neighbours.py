"""Nearest neighbours in a collection, exact, with as little computed as that needs.

Candidates come block by block, LANES at a time, the most promising first. A candidate whose lower bound is above the
k-th best distance so far is passed over, and a block ends as soon as all its lanes are above it.
"""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from joblib import Parallel, delayed

from ..utils.validation import shown
from . import _lanes
from ._bands import band
from ._bounds import Bounds
from ._collection import as_collection
from ._elastic_metric import ElasticMetric, Problem
from ._metrics import get_metric
from ._normalise import full_weight
from ._pairwise import check_jobs, collection_weight, distance_tasks
from ._scan import scan

# Queries a task; of no influence on any result.
QUERIES = 64
# Fewer cells than this for a query and all its candidates: bounds and sorting cost as much as computing them.
FEW_CELLS = 200_000
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
        Pairs passed over because their lower bound was above the k-th best distance.
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

    def __iter__(self):
        return iter((self.distances, self.indices))


def nearest_neighbors(X, Y=None, metric="dtw", n_neighbors=1, *, metric_params=None, weight=None, n_jobs=None):
    """Find the nearest neighbours of each series in a collection; exact for every metric.

    Elastic distances are not computed for candidates that a lower bound excludes, and no further than needed for the
    others. All other distances are computed.

    Parameters
    ----------
    X : array-like of shape (n_series, length) or (n_series, length, channels), or list of series
        The series whose neighbours are sought; a list may hold series of different lengths.
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

    Returns
    -------
    Neighbors
        Arrays `distances` and `indices` of shape (n_series, n_neighbors), nearest first, ties by the lower index, and
        a `report` of what was computed. It unpacks into the two arrays.

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
    check_jobs(n_jobs)
    same = Y is None
    X = as_collection(X, "X")
    Y = X if same else as_collection(Y, "Y", channels=len(X[0]))
    available = len(Y) - same
    whole = isinstance(n_neighbors, Integral) and not isinstance(n_neighbors, bool)
    if not whole or not 1 <= n_neighbors <= available:
        raise ValueError(
            f"The 'n_neighbors' parameter must be an integer from 1 to the number of series to choose from, "
            f"{available}. Got {shown(n_neighbors)}."
        )
    w = collection_weight(weight, X)
    k, points = int(n_neighbors), sum(y.shape[1] for y in Y)
    distances, indices = np.full((len(X), k), np.inf), np.zeros((len(X), k), np.intp)

    def task(rows):
        few = X[rows[0]].shape[1] * points < FEW_CELLS
        search = _Pruned if _is_prunable(metric) and not few else _Plain
        part = search(metric, [X[a] for a in rows], Y, w, k)
        for at, a in enumerate(rows):
            distances[a], indices[a] = part.nearest(at, a if same else None)
        return part.counts

    counts = Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(delayed(task)(r) for r in _tasks(X))
    bounded, abandoned, computed = np.sum(counts, axis=0).tolist()
    return Neighbors(distances, indices, Pruning(len(X) * available, bounded, abandoned, computed))


def _is_prunable(metric):
    return isinstance(metric, ElasticMetric) and metric._has_lanes and metric._is_monotone


def _tasks(X):
    """Positions of series of one length, a few at a time."""
    lengths = np.array([x.shape[1] for x in X])
    for m in np.unique(lengths):
        members = np.flatnonzero(lengths == m)
        for begin in range(0, len(members), QUERIES):
            yield members[begin : begin + QUERIES].tolist()


class _Best:
    """The k best candidates so far, by distance, then by position."""

    def __init__(self, k):
        self.k = k
        self.distances, self.indices = np.empty(0), np.empty(0, np.intp)
        self.cutoff = np.inf  # a distance above which a candidate is none of the k best

    def add(self, distances, indices):
        distances = np.concatenate([self.distances, distances])
        indices = np.concatenate([self.indices, indices])
        order = np.lexsort((indices, distances))[: self.k]
        self.distances, self.indices = distances[order], indices[order]
        if len(order) == self.k:
            self.cutoff = float(self.distances[-1])


class _Plain:
    """Neighbours of a few series from all their distances."""

    def __init__(self, metric, X, Y, w, k):
        self.k = k
        self.all = np.zeros((len(X), len(Y)))
        self.counts = np.zeros(3, int)
        for function, arguments, keywords in distance_tasks(metric, X, Y, w, False, self.all):
            function(*arguments, **keywords)

    def nearest(self, at, itself):
        candidates = _others(self.all.shape[1], itself)
        self.counts[2] += len(candidates)
        best = _Best(self.k)
        best.add(self.all[at, candidates], candidates)
        return best.distances, best.indices


def _others(n, itself):
    return np.arange(n) if itself is None else np.delete(np.arange(n), itself)


class _Pruned:
    """Neighbours of a few series of one length under an elastic distance."""

    def __init__(self, metric, X, Y, w, k):
        self.metric, self.X, self.w, self.k = metric, X, w, k
        self.counts = np.zeros(3, int)
        self.features = [metric._features(y) for y in Y]
        self.lengths = np.array([f.shape[1] for f in self.features])
        self.values = np.concatenate([f.ravel() for f in self.features])
        self.begins = np.cumsum([0, *[f.size for f in self.features[:-1]]])
        self.m = X[0].shape[1]
        self.bounds = Bounds(metric, self.features, self.m)
        self.slack = 1e-12 + (self.m + self.lengths) * np.finfo(float).eps  # sums of as many terms round
        # Lanes of a block share a band and a way from costs to distances, or are at least of about one length, so that
        # little is padded.
        exact = metric._needs_equal_lengths or not metric._reports_cost
        self.kind = self.lengths if exact else np.floor(4 * np.log2(self.lengths)).astype(int)
        self.bands = {}
        self.one_kind = len(set(self.kind.tolist())) == 1
        self.first_look = None
        if metric.window is None:
            self.first_look = np.zeros((len(X), len(Y)))
            coarse = [_coarse(x) for x in X], [_coarse(y) for y in Y], None if w is None else _coarse(w)
            if w is None or coarse[2].any():
                for function, arguments, keywords in distance_tasks(metric, *coarse, False, self.first_look):
                    function(*arguments, **keywords)

    def nearest(self, at, itself):
        queries = {}

        def query(n):
            """The query against series of n points; its parameters depend on that for few metrics."""
            key = n if self.metric._needs_equal_lengths else None
            if key not in queries:
                made = self.metric._query(self.X[at], self.w, n)
                queries[key] = made._replace(w=full_weight(made.w, made.x))
            return queries[key]

        bounds = self.bounds.of(query) * (1.0 - self.slack)
        # A band makes bounds tight. Without one they tell little, and a look at the averaged series tells more.
        order = np.argsort(bounds if self.first_look is None else self.first_look[at], kind="stable")
        order = order if itself is None else order[order != itself]
        kinds = self.kind[order]
        best = _Best(self.k)
        for kind in dict.fromkeys(kinds.tolist()):
            members = order if self.one_kind else order[kinds == kind]
            distances = self._distances(query, members, bounds, best.cutoff)
            near = np.flatnonzero(distances <= best.cutoff)
            best.add(distances[near], members[near])
        return best.distances, best.indices

    def _distances(self, query, members, bounds, cutoff):
        """Distances of candidates of one kind, infinite where they are surely above the cutoff or the k-th best."""
        n = int(self.lengths[members].max())
        made = query(n)
        problem = Problem(made.record, made.x, None, None, self.features[members[0]], None, None, made.points)
        limit, share, more = cutoff, 0.0, 0.0
        if not self.metric._reports_cost:  # distances may be equal where costs differ by rounding
            share, more = 1e-12, 1e-12 * (self.m + n)
            limit = self.metric._limit(cutoff, problem) if cutoff < np.inf else cutoff
        rows = _lanes.padded([self.metric._rows(made.x, made.w)])[0]
        if n not in self.bands:
            self.bands[n] = band(self.metric.window, self.metric.factor, n, self.m)
        lo, hi = self.bands[n]
        series, costs = (self.values, self.begins, self.lengths), np.full(len(self.features), np.inf)
        self.counts += scan(
            made.record, rows, made.points, *series, members, bounds, n, lo, hi, limit, self.k, share, more, costs
        )
        return costs[members] if self.metric._reports_cost else self.metric._report(costs[members], problem)


def _coarse(a):
    """Means of a few neighbouring points each."""
    ends = np.arange(0, a.shape[1], COARSE)
    return np.add.reduceat(a, ends, axis=1) / np.minimum(COARSE, a.shape[1] - ends)

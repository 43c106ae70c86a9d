"""Collections: all distances between two lists of series."""

from numbers import Integral

import numpy as np
from joblib import Parallel, delayed

from ..utils.validation import as_floats, as_series, as_weight, shown
from . import _lanes, _lockstep
from ._bands import band
from ._elastic_metric import ElasticMetric, Problem
from ._metrics import get_metric
from ._metrics_lockstep import LockstepMetric
from ._normalise import full_weight


def as_collection(values, name, channels=None):
    """A collection as a list of series `(channels, length)`.

    An array is (n_series, length) or (n_series, length, channels); a list holds series of any lengths.
    """
    if isinstance(values, np.ndarray) and values.dtype != object:
        a = as_floats(values, name)
        if a.ndim not in (2, 3) or not a.size:
            raise ValueError(
                f"{name!r} must be a collection of series: an array (n_series, length) or (n_series, length, "
                f"channels), or a list of series. Got shape {a.shape}."
            )
        values = list(a)
    elif hasattr(values, "to_numpy") and getattr(values, "ndim", 0) == 2:  # a DataFrame, one row a series
        values = list(as_floats(values.to_numpy(), name))
    if not isinstance(values, list | tuple | np.ndarray) or not len(values):
        raise TypeError(f"{name!r} must be an array or a list of series, at least one. Got {shown(values)}.")
    if np.ndim(values[0]) == 0:
        raise ValueError(f"{name!r} must be a collection of series. Got one series; pass [{name}].")
    first = as_series(values[0], f"{name}[0]", channels=channels, like="the other collection")
    rest = [as_series(v, f"{name}[{k}]", channels=len(first), like=f"{name}[0]") for k, v in enumerate(values) if k]
    return [first, *rest]


def pairwise_distances(X, Y=None, metric="dtw", *, metric_params=None, weight=None, n_jobs=None):
    """Distances between all series of two collections.

    Parameters
    ----------
    X : array-like of shape (n_series, length) or (n_series, length, channels), or list of series
        The first collection; a list may hold series of different lengths.
    Y : like X, optional
        The second collection; None: `X` with itself.
    metric : str, metric object or callable, default="dtw"
        The distance.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,) or (length, channels), optional
        Relative weights of the points of every series of `X`, which must have one length then.
    n_jobs : int, optional
        Number of threads, as in joblib; no result depends on it.

    Returns
    -------
    ndarray of shape (n_series_X, n_series_Y)

    Examples
    --------
    >>> from sktslib.distances import pairwise_distances
    >>> pairwise_distances([[0, 1, 2], [0, 1, 4]], [[0, 0, 1, 2]], metric="dtw")
    array([[0.],
           [4.]])
    """
    metric = get_metric(metric, metric_params)
    check_n_jobs(n_jobs)
    same = Y is None or Y is X
    X = as_collection(X, "X")
    Y = X if same else as_collection(Y, "Y", channels=len(X[0]))
    w = collection_weight(weight, X)
    mirrored = same and w is None and metric.symmetric
    out = np.zeros((len(X), len(Y)))
    Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(distance_tasks(metric, X, Y, w, mirrored, out))
    return out


def check_n_jobs(n_jobs):
    """Refuse what is no number of threads."""
    if not (n_jobs is None or (isinstance(n_jobs, Integral) and n_jobs != 0)):
        raise ValueError(f"The 'n_jobs' parameter must be None or an integer other than 0. Got {shown(n_jobs)}.")


def collection_weight(weight, X):
    """Relative weights of the points of all series of a collection (channels, length), or None."""
    if weight is None:
        return None
    lengths = {x.shape[1] for x in X}
    if len(lengths) > 1:
        raise ValueError(f"'weight' needs series of one length in 'X'. Got lengths {min(lengths)} to {max(lengths)}.")
    return as_weight(weight, X[0].shape[1], len(X[0]))


def distance_tasks(metric, X, Y, w, mirrored, out):
    """Delayed calls that together fill `out` with the distances of the series of X and of Y."""
    return _driver(metric, X, Y)(metric, X, Y, w, mirrored, out)


def _driver(metric, X, Y):
    if isinstance(metric, ElasticMetric) and metric._has_lanes:
        return _by_lanes
    one_length = len({a.shape[1] for a in (*X, *Y)}) == 1
    if isinstance(metric, LockstepMetric) and metric._is_fold and one_length:
        return _by_terms
    return _by_pairs


# -------------------------------------------------------------------------------------------------------- any metric
def _by_pairs(metric, X, Y, w, mirrored, out):
    def row(a):
        for b in range(a if mirrored else 0, len(Y)):
            out[a, b] = metric._distance(X[a], w, Y[b], None, None)
            if mirrored:
                out[b, a] = out[a, b]

    return [delayed(row)(a) for a in range(len(X))]


# --------------------------------------------------------------------------------------------------- lockstep metrics
def _by_terms(metric, X, Y, w, mirrored, out):
    w = full_weight(w, X[0])
    X = [metric._prepare(x, w) for x in X]
    series = np.ascontiguousarray(np.moveaxis(np.array([metric._prepare(y, w) for y in Y]), 0, -1))

    def row(a):
        _lockstep.one_to_many(metric._record(), X[a], w, series, out[a])

    return [delayed(row)(a) for a in range(len(X))]


# ---------------------------------------------------------------------------------------------------- elastic metrics
def _by_lanes(metric, X, Y, w, mirrored, out):
    features = [metric._features(y) for y in Y]
    lengths = np.array([f.shape[1] for f in features])
    order = np.argsort(lengths, kind="stable")  # a block's series have about one length, so that little is padded
    blocks, begin = [], 0
    while begin < len(order):
        end = min(begin + _lanes.LANES, len(order))
        if metric._needs_equal_lengths:
            end = begin + int((lengths[order[begin:end]] == lengths[order[begin]]).sum())
        blocks.append((order[begin:end], order[:end] if mirrored else range(len(X))))
        begin = end
    groups = {}  # the queries of one length are compared together
    for a, x in enumerate(X):
        groups.setdefault(x.shape[1], []).append(a)
    if metric._needs_equal_lengths:
        made = {n: _stacked(metric, X, w, groups, n) for n in set(lengths)}
    else:
        made = dict.fromkeys(lengths, _stacked(metric, X, w, groups, 1))

    def block(members, others):
        n = int(lengths[members].max())
        Yb, prices = _lanes.packed([features[b] for b in members], n), None
        for m, of in groups.items():
            record, rows, points = made[n][m]
            if len(others) < len(X):
                chosen = np.isin(of, others)
                if not chosen.any():
                    continue
                of, rows, points = np.array(of)[chosen], rows[chosen], points[chosen]
            if prices is None:  # the series' own, the same against every query
                prices = np.zeros(Yb.shape[1])
                _lanes.prices_of(record, Yb, prices)
            lo, hi = band(metric.window, metric.factor, n, m)
            costs = np.empty((len(of), len(members)))
            _lanes.accumulate(record, rows, points, Yb, prices, lo, hi, _lanes.BIG, lengths[members], costs)
            costs[costs >= 0.5 * _lanes.BIG] = np.inf
            if not metric._reports_cost:
                costs = _reported(metric, X[of[0]], record, points[0], costs, [features[b] for b in members])
            out[np.ix_(of, members)] = costs
            if mirrored:
                out[np.ix_(members, of)] = costs.T

    return [delayed(block)(*task) for task in blocks]


def _stacked(metric, X, w, groups, n):
    """For each length of queries: the record, the queries and the costs of their points, against n points."""
    made = {}
    for m, of in groups.items():
        queries = [metric._query(X[a], w, n) for a in of]
        rows = [metric._rows(q.x, full_weight(q.w, q.x)) for q in queries]
        points = np.array([q.points for q in queries])
        made[m] = queries[0].record, _lanes.padded(rows), points
    return made


def _reported(metric, x, record, points, costs, series):
    """Distances behind accumulated costs (n_queries, n_series), which may depend on the series' lengths."""
    out = np.empty_like(costs)
    lengths = np.array([y.shape[1] for y in series])
    for n in set(lengths):
        of = lengths == n
        y = series[int(np.argmax(of))]
        out[:, of] = metric._report(costs[:, of], Problem(record, x, None, None, y, None, None, points))
    return out

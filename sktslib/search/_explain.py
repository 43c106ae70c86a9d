"""Where a match fits its query, and where it does not."""

from dataclasses import dataclass

import numpy as np

from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.time import ratios
from ..distances._series import full_weight
from ..utils._sizes import check_size
from ._profiles.window_profile import scaled_path


@dataclass(frozen=True, eq=False)
class Explanation:
    """What a match costs, point by point, and how it lies in time; see `Matches.explain`.

    Attributes
    ----------
    path : ndarray of shape (2, K)
        Alignment: query indices and indices of the whole sequence. Point by point where channels are aligned by
        themselves.
    cost : ndarray of shape (m, channels)
        What each query point costs in each channel. Elastic distances: the rise of the accumulated cost at the point,
        shared out among the channels by their weighted squared differences; adds up to the accumulated cost. Lockstep
        sums: the terms, which add up to the sum before its root. Other distances: the weighted squared differences.
        Compared by channel: each channel's own costs times its weight, at its lag; 0 of those without a vote. Windows
        under `Mixed`: each part's own costs times its weight.
    lag : ndarray of shape (m,)
        How many samples later than at an even pace each query point is met, on average; NaN for one without a partner.
    advance, delay, phase : float
        Shares of the path's steps where only the query moves, where only the sequence moves, and where both do, as in
        the time alignment measurement (Folgado et al. 2018).
    """

    path: np.ndarray
    cost: np.ndarray
    lag: np.ndarray
    advance: float
    delay: float
    phase: float


def explain(search, start, end):
    """The explanation of the candidate [start, end) of a search."""
    m = search.how.m
    alone = search.aligns_parts
    path = scaled_path(np.tile(np.arange(m), (2, 1)), m, start, end) if alone else search.path(start, end)
    cost = _costs(search, start, end)
    first = search.first  # small numbers have more digits behind the point
    pace = start - first + path[0] * ((end - start - 1) / max(m - 1, 1))
    met = np.bincount(path[0], minlength=m)
    late = np.bincount(path[0], path[1] - first - pace, minlength=m)
    lag = np.divide(late, met, out=np.full(m, np.nan), where=met > 0)
    return Explanation(path, cost, lag, *ratios(path, m, end - start))


def _costs(search, start, end):
    if search.how.by_channel is not None:
        return _by_channel(search, start)
    if search.aligns_parts:
        return _by_part(search, start, end)
    return (_elastic if isinstance(search.how.metric, ElasticMetric) else _lockstep)(search, start, end)


def _by_part(search, start, end):
    """The costs of the parts of a metric times their weights, each along its own alignment."""
    cost = np.zeros(search.how.x.shape)
    for part, own in search.parts:
        cost[part.channels] = part.weight * _costs(own, start, end).T
    return cost.T


def _by_channel(search, start):
    """Each channel's costs times its weight, where its points lie in the query; 0 of those without a vote."""
    cost = np.zeros(search.how.x.shape)
    for (c, lead, weight, how), own, first, _, votes in search.channel_windows(start):
        if votes:
            cost[c, lead : lead + how.m] = weight * _costs(own, first, first + how.m)[:, 0]
    return cost.T


def _lockstep(search, start, end):
    metric = search.how.metric
    w = metric._channel_weights(full_weight(search.how.w, search.how.x))
    x, y, *_ = search.window(start, end)
    power = metric.power if metric._is_additive else None
    for a, what in ((x, "The query"), (y, "The match")):
        check_size(a, what, power or 2.0, "An explanation")
    if power is None:
        return (w * (x - y) ** 2).T
    return metric._term_costs(x, y, w).T


def _elastic(search, start, end):
    metric, whole = search.how.metric, search.whole
    w = metric._channel_weights(full_weight(search.how.w, search.how.x))
    x, y, *times = search.window(start, end)
    problem = search.piece(start, end) if whole else metric._problem(x, search.how.w, y, *times)
    path = metric._path(problem, whole=whole)
    costs = metric._accumulate(problem, keep="costs", whole=whole)[2]
    # What lies between two listed pairs counts at the second of them, what lies behind the last at the last.
    total = costs[path[1], path[0]] if path.size else np.empty(0)
    rise = np.diff(total, prepend=0.0)
    if path.size:
        rise[-1] += costs[-1, -1] - total[-1]
    apart = x[:, path[0]] - y[:, path[1]]
    apart = w[:, path[0]] * np.ldexp(apart, -np.frexp(np.abs(apart).max(initial=0.0))[1]) ** 2  # no square overflows
    summed = apart.sum(axis=0)
    share = np.divide(apart, summed, out=np.full_like(apart, 1.0 / len(x)), where=summed > 0)
    cost = np.zeros(x.shape)
    np.add.at(cost, (slice(None), path[0]), share * rise)
    return cost.T

"""How a barycenter is improved: averages over warping paths, steps along them, and the gradient of a soft minimum.

All start from a series and return the best one found, and the objective at the beginning and after each iteration,
which never rises.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import minimize

from ..utils._jobs import parts_for_jobs
from ._metrics.base import Metric
from ._series import full_weight

FIRST_STEP, LAST_STEP = 0.05, 0.005  # of the subgradient method, as in the experiments of Schultz & Jain
PATIENCE = 10  # epochs without an improvement after which it stops
NUMBERS = 2**20  # that are held of each point of some series; sums are rounded block by block


class Task(NamedTuple):
    """What a barycenter is searched for of."""

    metric: Metric
    series: Sequence  # (channels, n) each
    share: np.ndarray  # of each series in the objective; they add up to 1
    w: np.ndarray | None  # weights of the barycenter's points (channels, m)
    parallel: Parallel
    max_iter: int
    tol: float
    count: Callable  # of the iterations

    def each(self, function, series):
        """The function's results for each series, in threads."""
        return list(self.parallel(delayed(function)(y) for y in series))

    def alignments(self, z):
        return self.each(lambda y: self.metric._distance(z, self.w, y, None, None), self.series)

    def distances(self, z):
        """The same without what they align, which would be held."""
        return self.each(lambda y: float(self.metric._distance(z, self.w, y, None, None)), self.series)

    def tell(self, costs):
        """Count an iteration and say what the mean distance is; at the beginning there is none to count."""
        self.count(int(len(costs) > 1), f"mean distance {costs[-1]:.8g}")


# ----------------------------------------------------------------------------------------------- averages along paths
def dba(task, z):
    """DTW barycenter averaging (Petitjean et al. 2011): align, then move each point among its partners."""
    costs, best = [], z
    distances = task.alignments if task.metric._centre == "median" else task.distances
    while True:
        found = distances(z)
        cost = float(task.share @ found)
        if costs and not cost < costs[-1]:  # the averages need not be better where a cost is no sum of squares
            return best, costs
        best = z
        costs.append(cost)
        task.tell(costs)
        if len(costs) > task.max_iter or cost == 0 or (len(costs) > 1 and costs[-2] - cost <= task.tol * costs[-2]):
            return best, costs
        z, _ = centres(task, z, found, task.series, task.share)


def subgradient(task, z, rng):
    """Stochastic subgradient method (Schultz & Jain 2018): a small step towards one series at a time."""
    best, costs, waited, step = z, [float(task.share @ task.distances(z))], 0, FIRST_STEP
    task.tell(costs)
    n = len(task.series)
    weight = full_weight(task.w, z)
    while len(costs) <= task.max_iter and waited < PATIENCE and costs[-1] > 0:
        for k in rng.permutation(n):
            found = task.metric._distance(z, task.w, task.series[k], None, None)
            target, count = centres(task, z, [found], [task.series[k]], np.ones(1))
            # A point with many partners must not be thrown beyond them.
            z = z + np.minimum(2 * step * n * task.share[k] * count * weight, 1.0) * (target - z)
            step = max(step - (FIRST_STEP - LAST_STEP) / n, LAST_STEP)
        cost = float(task.share @ task.distances(z))
        waited = 0 if cost < costs[-1] * (1 - task.tol) else waited + 1
        if cost < costs[-1]:
            best = z
        costs.append(min(cost, costs[-1]))
        task.tell(costs)
    return best, costs


def centres(task, z, alignments, series, share):
    """Where each point of `z` would lie among its partners (channels, m), and their total weight (m,)."""
    if task.metric._centre == "median":
        return among_medians(z, task.parallel(delayed(task.metric._partners)(a) for a in alignments), series, share)
    sums = []
    for some, v in in_blocks(series, share, z.size):
        parts = ([some[k] for k in part] for part in parts_for_jobs(range(len(some)), task.parallel.n_jobs))
        found = task.parallel(delayed(task.metric._partner_sums)(z, task.w, part) for part in parts)
        sums.append(added(*(np.concatenate(of) for of in list(zip(*found, strict=True))[1:]), v))
    return placed(z, *map(sum, zip(*sums, strict=True)))


def in_blocks(series, share, numbers):
    """Yield some series after the other and their shares, so many that little is held of that many numbers of each."""
    size = max(1, NUMBERS // numbers)
    for begin in range(0, len(series), size):
        yield series[begin : begin + size], share[begin : begin + size]


def among_means(z, counts, totals, share):
    """Where each point of `z` lies at best among its partners (channels, m), and their total weight (m,).

    Of each series there are the counts (m,) and the sums (channels, m) of the partners. A point without partners stays.
    """
    return placed(z, *added(counts, totals, share))


def added(counts, totals, share):
    """The weighted sums over series of the counts (n_series, m) and of the sums (n_series, channels, m)."""
    return share @ counts, (share @ totals.reshape(len(share), -1)).reshape(totals.shape[1:])


def placed(z, total, totals):
    """The points of `z` among their partners (channels, m), and the total weight of these (m,)."""
    met = total > 0
    out = z.copy()
    out[:, met] = totals[:, met] / total[met]
    return out, total


def among_medians(z, partners, series, share):
    """The same where costs are absolute differences; of each series `partners` holds the path and what pairs count."""
    m = z.shape[1]
    at, values, weights = [], [], []
    for ((i, j), counts), y, v in zip(partners, series, share, strict=True):
        at.append(i)
        values.append(y[:, j])
        weights.append(np.full(len(i), v) if counts is None else v * counts)
    at, values, weights = np.concatenate(at), np.concatenate(values, axis=1), np.concatenate(weights)
    total = np.bincount(at, weights, m)
    met = total > 0
    out = z.copy()
    for row, v in zip(out, values, strict=True):
        row[met] = medians(at, v, weights, m)[met]
    return out, total


def medians(at, values, weights, m):
    """Weighted (lower) medians (m,) of the values of each group `at`; NaN where there are none."""
    order = np.lexsort((values, at))
    at, values, weights = at[order], values[order], weights[order]
    out = np.full(m, np.nan)
    first = np.flatnonzero(np.diff(at, prepend=-1))
    for a, b in pairwise(np.append(first, len(at))):
        sums = np.cumsum(weights[a:b])
        half = 0.5 * sums[-1] * (1 - 1e-12)  # two equal halves: the lower value, whatever the rounding
        out[at[a]] = values[a + np.searchsorted(sums, half)]
    return out


# ------------------------------------------------------------------------------------------------------ soft minimum
def soft(task, z):
    """Soft-DTW barycenter (Cuturi & Blondel 2017): quasi-Newton steps along the gradient by expected alignments."""
    metric, w, shape = task.metric, full_weight(task.w, z), z.shape

    def pair(x, y):
        """Soft-DTW of both series, its gradient by x, and the mean cost of their alignments."""
        matrix, E = metric._expected(x, task.w, y)
        count, partners = E.sum(axis=0), y @ E
        cost = (w * (x * x * count - 2 * x * partners + (y * y) @ E)).sum()
        return metric._unit * matrix[-1, -1], 2 * w * (x * count - partners), cost

    def objective(flat):
        x, total = flat.reshape(shape), [0, 0, 0]
        for series, share in in_blocks(task.series, task.share, x.size):
            for v, part in zip(share, task.each(lambda y: pair(x, y), series), strict=True):
                total = [before + v * of for before, of in zip(total, part, strict=True)]
        return total

    start, _, scale = objective(z.ravel())
    costs, scale = [float(start)], scale or 1.0
    task.tell(costs)

    def scaled(flat):  # from 0 downwards, so that `tol` is relative, whatever the series' unit and however soft
        value, gradient, _ = objective(flat)
        return (value - start) / scale, gradient.ravel() / scale

    def note(intermediate_result):
        costs.append(float(start + intermediate_result.fun * scale))
        task.tell(costs)

    options = {"maxiter": task.max_iter, "ftol": min(task.tol, 1.0), "gtol": 1e-10}
    found = minimize(scaled, z.ravel(), jac=True, method="L-BFGS-B", callback=note, options=options)
    return found.x.reshape(shape), costs

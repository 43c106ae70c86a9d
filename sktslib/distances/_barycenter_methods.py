"""How a barycenter is improved: averages over warping paths, steps along them, and the gradient of a soft minimum.

All start from a series and return the best one found, and the objective at the beginning and after each iteration,
which never rises.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import minimize

from ..utils._jobs import parts_for_jobs
from ._metrics.base import Metric
from ._metrics.partners import Partners
from ._series import full_weight

FIRST_STEP, LAST_STEP = 0.05, 0.005  # of the subgradient method, as in the experiments of Schultz & Jain
PATIENCE = 10  # epochs without an improvement after which it stops


class Task(NamedTuple):
    """What a barycenter is searched for of."""

    metric: Metric
    series: list  # (channels, n) each
    share: np.ndarray  # of each series in the objective; they add up to 1
    w: np.ndarray | None  # weights of the barycenter's points (channels, m)
    parallel: Parallel
    max_iter: int
    tol: float
    count: Callable  # of the iterations
    partners: Partners | None = None  # of averages along paths

    def each(self, function, members=None):
        """The function's results for each series, or for each of some, in threads."""
        some = self.series if members is None else [self.series[k] for k in members]
        return list(self.parallel(delayed(function)(y) for y in some))

    def aligned(self, z, members, limits=None):
        """Distances of some series, about as large as `limits` at most, and what `centres` needs besides."""
        if self.partners is None:
            return (self.each(lambda y: self.metric._distance(z, self.w, y, None, None), members),)
        parts = parts_for_jobs(np.arange(len(members)), self.parallel.n_jobs)
        given = ((members[part], None if limits is None else limits[part]) for part in parts)
        found = self.parallel(delayed(self.partners.sums)(z, self.w, *one) for one in given)
        return [np.concatenate(of) for of in zip(*found, strict=True)]

    def tell(self, costs):
        """Count an iteration and say what the mean distance is; at the beginning there is none to count."""
        self.count(int(len(costs) > 1), f"mean distance {costs[-1]:.8g}")


# ----------------------------------------------------------------------------------------------- averages along paths
def dba(task, z):
    """DTW barycenter averaging (Petitjean et al. 2011): align, then move each point among its partners."""
    costs, best, limits, members = [], z, None, np.arange(len(task.series))
    while True:
        found = task.aligned(z, members, limits)
        cost = float(task.share @ found[0])
        if costs and not cost < costs[-1]:  # the averages need not be better where a cost is no sum of squares
            return best, costs
        best = z
        costs.append(cost)
        task.tell(costs)
        if len(costs) > task.max_iter or cost == 0 or (len(costs) > 1 and costs[-2] - cost <= task.tol * costs[-2]):
            return best, costs
        z, _ = centres(task, z, found, members, task.share)
        limits = None if task.partners is None else task.partners.limits_after(best, task.w, found, z)


def subgradient(task, z, rng):
    """Stochastic subgradient method (Schultz & Jain 2018): a small step towards one series at a time."""
    n = len(task.series)
    best, costs, waited, step = z, [float(task.share @ task.aligned(z, np.arange(n))[0])], 0, FIRST_STEP
    task.tell(costs)
    weight = full_weight(task.w, z)
    while len(costs) <= task.max_iter and waited < PATIENCE and costs[-1] > 0:
        for k in rng.permutation(n):
            target, count = centres(task, z, task.aligned(z, np.array([k])), [k], np.ones(1))
            # A point with many partners must not be thrown beyond them.
            z = z + np.minimum(2 * step * n * task.share[k] * count * weight, 1.0) * (target - z)
            step = max(step - (FIRST_STEP - LAST_STEP) / n, LAST_STEP)
        cost = float(task.share @ task.aligned(z, np.arange(n))[0])
        waited = 0 if cost < costs[-1] * (1 - task.tol) else waited + 1
        if cost < costs[-1]:
            best = z
        costs.append(min(cost, costs[-1]))
        task.tell(costs)
    return best, costs


def centres(task, z, found, members, share):
    """Where each point of `z` would lie among its partners (channels, m), and their total weight (m,).

    `found` is what `aligned` gives of the members, and `share` what each of them counts.
    """
    if task.partners is not None:
        return among_means(z, *found[1:], share)
    partners = task.parallel(delayed(task.metric._partners)(a) for a in found[0])
    return among_medians(z, partners, [task.series[k] for k in members], share)


def among_means(z, counts, totals, share):
    """Where each point of `z` lies at best among its partners (channels, m), and their total weight (m,).

    Of each series there are the counts (m,) and the sums (channels, m) of the partners. A point without partners stays.
    """
    total = share @ counts
    sums = (share @ totals.reshape(len(share), -1)).reshape(z.shape)
    return np.divide(sums, total, out=z.copy(), where=total > 0), total


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
        x = flat.reshape(shape)
        parts = task.each(lambda y: pair(x, y))
        return [sum(v * part[k] for v, part in zip(task.share, parts, strict=True)) for k in range(3)]

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

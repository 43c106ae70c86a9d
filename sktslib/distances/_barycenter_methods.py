"""How a barycenter is improved: averages over warping paths, steps along them, and the gradient of a soft minimum.

All start from a series and return the best one found, and the objective at the beginning and after each iteration,
which never rises.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..utils._jobs import parts_for_jobs
from ._collection import StoredCollection
from ._metrics.base import Metric
from ._metrics.partners import Partners
from ._series import full_weight

FIRST_STEP, LAST_STEP = 0.05, 0.005  # of the subgradient method, as in the experiments of Schultz & Jain
NOISE = 1e-12  # of a difference of sums, relative to them
PATIENCE = 10  # epochs without an improvement after which it stops
NUMBERS = 2**20  # that are held of each point of some series; sums are rounded block by block


class Blocks:
    """Collections of partners, one block of series after the other; what is not in memory is read for each turn."""

    def __init__(self, metric, series, numbers):
        self._metric, self._series = metric, series
        self.in_memory = not isinstance(series, StoredCollection)
        self._slices = [*slices_of(len(series), numbers)]
        self._held = [self._read(of) for of in self._slices] if self.in_memory else None

    def _read(self, of):
        return Partners(self._metric, self._series[of])

    def __iter__(self):
        """Yield slices of the series, and their partners."""
        return zip(self._slices, self._held or map(self._read, self._slices), strict=True)

    def with_series(self, k):
        """Partners that hold a series, and its index among them."""
        number, k = divmod(k, self._slices[0].stop)
        return self._held[number], k


class Task(NamedTuple):
    """What a barycenter is searched for of."""

    metric: Metric
    series: Sequence  # (channels, n) each
    share: np.ndarray  # of each series in the objective; they add up to 1
    w: np.ndarray | None  # weights of the barycenter's points (channels, m)
    jobs: int
    for_each: Callable  # a function's results for each item, by so many jobs
    max_iter: int
    tol: float
    count: Callable  # of the iterations
    blocks: Blocks | None = None  # where points move to means of their partners

    def aligned(self, z, limits=None):
        """Distances of the series, about as large as `limits` at most, and what `moved` and `limits_after` need."""
        if self.blocks is None:
            return self.for_each(lambda y: self.metric._distance(z, self.w, y, None, None), self.series), None, None
        far, sums, found = np.empty(len(self.series)), [], []
        for of, partners in self.blocks:
            parts = parts_for_jobs(np.arange(of.stop - of.start), self.jobs)
            given = [(part, None if limits is None else limits[of][part]) for part in parts]
            some = self.for_each(lambda one, partners=partners: partners.sums(z, self.w, *one), given)
            some = [np.concatenate(one) for one in zip(*some, strict=True)]
            far[of] = some[0]
            sums.append(added(*some[1:], self.share[of]))
            if self.blocks.in_memory:
                found.append(some)
        return far, [sum(of) for of in zip(*sums, strict=True)], found

    def moved(self, z, far, sums):
        """Where each point of `z` lies at best among its partners in all series (channels, m)."""
        if sums is not None:
            return placed(z, *sums)[0]
        return among_medians(z, self.for_each(self.metric._partners, far), self.series, self.share)[0]

    def limits_after(self, x, found, after):
        """About what the series cost at most with `after` in place of `x`; None where nobody knows."""
        if not found:
            return None
        limits = [p.limits_after(x, self.w, one, after) for (_, p), one in zip(self.blocks, found, strict=True)]
        return None if any(of is None for of in limits) else np.concatenate(limits)

    def moved_to(self, z, k):
        """Where each point of `z` lies at best among its partners in one series, and their total weight (m,)."""
        if self.blocks is not None:
            partners, at = self.blocks.with_series(k)
            return among_means(z, *partners.sums(z, self.w, np.array([at]))[1:], np.ones(1))
        alignment = self.metric._distance(z, self.w, self.series[k], None, None)
        return among_medians(z, [self.metric._partners(alignment)], [self.series[k]], np.ones(1))

    def tell(self, costs):
        """Count an iteration and say what the mean distance is; at the beginning there is none to count."""
        self.count(int(len(costs) > 1), f"mean distance {costs[-1]:.8g}")


# ----------------------------------------------------------------------------------------------- averages along paths
def dba(task, z):
    """DTW barycenter averaging (Petitjean et al. 2011): align, then move each point among its partners."""
    costs, best, limits = [], z, None
    while True:
        far, sums, found = task.aligned(z, limits)
        cost = float(task.share @ far)
        if costs and not cost < costs[-1]:  # the averages need not be better where a cost is no sum of squares
            return best, costs
        best = z
        costs.append(cost)
        task.tell(costs)
        if len(costs) > task.max_iter or cost == 0 or (len(costs) > 1 and costs[-2] - cost <= task.tol * costs[-2]):
            return best, costs
        z = task.moved(z, far, sums)
        limits = task.limits_after(best, found, z)


def subgradient(task, z, rng):
    """Stochastic subgradient method (Schultz & Jain 2018): a small step towards one series at a time."""
    best, costs, waited, step = z, [float(task.share @ task.aligned(z)[0])], 0, FIRST_STEP
    task.tell(costs)
    n = len(task.series)
    weight = full_weight(task.w, z)
    while len(costs) <= task.max_iter and waited < PATIENCE and costs[-1] > 0:
        for k in rng.permutation(n):
            target, count = task.moved_to(z, k)
            # A point with many partners must not be thrown beyond them.
            z = z + np.minimum(2 * step * n * task.share[k] * count * weight, 1.0) * (target - z)
            step = max(step - (FIRST_STEP - LAST_STEP) / n, LAST_STEP)
        cost = float(task.share @ task.aligned(z)[0])
        waited = 0 if cost < costs[-1] * (1 - task.tol) else waited + 1
        if cost < costs[-1]:
            best = z
        costs.append(min(cost, costs[-1]))
        task.tell(costs)
    return best, costs


def slices_of(count, numbers):
    """Slices of so many series that little is held of that many numbers of each."""
    size = max(1, NUMBERS // numbers)
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


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
    return np.divide(totals, total, out=z.copy(), where=total > 0), total


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
        center = x.mean(axis=1, keepdims=True)  # less it, what is common to both costs no digits
        x, y = x - center, y - center
        count, partners = E.sum(axis=0), y @ E
        own = w * (x * x * count + (y * y) @ E)
        cost = (own - 2 * w * x * partners).sum()
        return metric._unit * matrix[-1, -1], 2 * w * (x * count - partners), max(cost - NOISE * own.sum(), 0.0)

    def objective(flat):
        x, total = flat.reshape(shape), [0, 0, 0]
        for some in slices_of(len(task.series), x.size):
            for v, part in zip(task.share[some], task.for_each(lambda y: pair(x, y), task.series[some]), strict=True):
                total = [before + v * of for before, of in zip(total, part, strict=True)]
        return total

    start, _, scale = objective(z.ravel())
    costs, scale = [float(start)], scale or 1.0
    task.tell(costs)
    if task.max_iter == 0:  # of which scipy makes one
        return z, costs

    def scaled(flat):  # from 0 downwards, so that `tol` is relative, whatever the series' unit and however soft
        value, gradient, _ = objective(flat)
        return (value - start) / scale, gradient.ravel() / scale

    def note(intermediate_result):
        costs.append(float(start + intermediate_result.fun * scale))
        task.tell(costs)

    options = {"maxiter": task.max_iter, "ftol": min(task.tol, 1.0), "gtol": 1e-10}
    found = minimize(scaled, z.ravel(), jac=True, method="L-BFGS-B", callback=note, options=options)
    return found.x.reshape(shape), costs

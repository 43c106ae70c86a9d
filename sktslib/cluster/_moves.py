"""How the centers of k-means move: steps towards the series assigned to them, taken only where these come nearer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from ..distances._barycenter_methods import Task, among_means, among_medians, soft
from ..distances._barycenters import CANDIDATES
from ..distances._metrics.base import Metric
from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.soft import SoftDTW
from ..distances._pairwise import distances_between, driver_of
from ..distances._series import resample
from ..utils._jobs import in_jobs, parts_of
from ._collection_clusters import assigned

ROUGH = 1e-3  # share that a step must gain while beginnings are compared; what is better is then followed further
SOFT_STEPS = 10  # of a quasi-Newton descent, which needs a few to learn how curved its objective is


class Run(NamedTuple):
    """What comes of one start."""

    centers: list  # (channels, m) each, or indices of series
    labels: np.ndarray
    inertia: float
    n_iter: int


class Problem(NamedTuple):
    """What is divided among centers."""

    metric: Metric
    series: list  # (channels, n) each
    w: np.ndarray | None  # weights of the centers' points
    n_jobs: int | None

    def each(self, function, members, *given):
        """The results of a function of some series, in parts as many as jobs, joined in their order."""
        parts = ([self.series[k] for k in part] for part in parts_of(members, self.n_jobs))
        calls = [delayed(function)(self.metric, self.w, part, *given) for part in parts]
        return [one for part in in_jobs(calls, self.n_jobs, 0, "clusters", "part") for one in part]

    def costs(self, centers, members=None):
        """What each series, or each of some, adds to the inertia with each of some centers, (n_series, n_centers)."""
        members = range(len(self.series)) if members is None else members
        return np.array(self.each(_costs, members, centers))

    def moved(self, z, members):
        """A center after one step towards its members."""
        if isinstance(self.metric, SoftDTW):
            series, share = [self.series[k] for k in members], np.full(len(members), 1.0 / len(members))
            with Parallel(n_jobs=self.n_jobs, prefer="threads", require="sharedmem") as parallel:
                return soft(Task(self.metric, series, share, self.w, parallel, SOFT_STEPS, 0.0, _uncounted), z)[0]
        share = np.ones(len(members))
        if self.metric._centre == "mean" and isinstance(self.metric, ElasticMetric):
            return among_means(z, *(np.array(of) for of in list(zip(*self.each(_partner_sums, members, z), strict=True))[1:]), share)[0]
        series = [self.series[k] for k in members]
        if isinstance(self.metric, ElasticMetric):
            return among_medians(z, self.each(_partners, members, z), series, share)[0]
        series = np.array([at_length(y, z) for y in series])
        return series.mean(axis=0) if self.metric._centre == "mean" else lower_median(series)

    def lowered(self, centers, max_iter, tol, count):
        """Assign and move by turns until the inertia falls no more, and begin anew in each cluster: it never rises."""
        run, tried = self._descended(centers, max_iter, tol, count), {}
        while isinstance(self.metric, ElasticMetric) and run.n_iter < max_iter:
            centers = list(run.centers)
            for c, z in enumerate(centers):
                members = np.flatnonzero(run.labels == c)
                if len(members) > 1 and not np.array_equal(tried.get(c, ()), members):
                    tried[c], centers[c] = members, self._anew(z, members, tol)
            if all(z is before for z, before in zip(centers, run.centers, strict=True)):
                break
            further = self._descended(centers, max_iter - run.n_iter, tol, count)
            run = further._replace(n_iter=run.n_iter + further.n_iter)
        return run

    def _descended(self, centers, max_iter, tol, count):
        centers = list(centers)
        costs = self.costs(centers)
        labels, settled, inertia = assigned(costs), {}, np.inf
        n_iter = 0
        while n_iter < max_iter:
            n_iter += 1
            labels = self._filled(centers, costs, labels)
            before, inertia = inertia, total(costs, labels)
            count(1, f"inertia {inertia:.8g}")
            if before - inertia <= tol * abs(inertia):
                break
            trial = {}
            for c in range(len(centers)):
                members = np.flatnonzero(labels == c)
                if len(members) and not np.array_equal(settled.get(c, ()), members):
                    trial[c] = members, self.moved(centers[c], members)
            if not trial:
                break
            found = self.costs([z for _, z in trial.values()])
            for (c, (members, z)), column in zip(trial.items(), found.T, strict=True):
                if column[members].sum() < costs[members, c].sum():
                    centers[c], costs[:, c] = z, column
                else:  # it would not move at the next turn, either
                    settled[c] = members
            labels = assigned(costs)
        return Run(centers, labels, total(costs, labels), n_iter)

    def _anew(self, z, members, tol):
        """A better center of some series than `z`, found from other beginnings, or `z` itself.

        Averages along paths end in the minimum next to where they begin. Others often lie lower: those next to the mean
        point by point, to the medoid, and to the series that is nearest.
        """
        own = self.costs([z], members)[:, 0]
        least, best = own.sum() * (1.0 - tol), z
        some = members[np.linspace(0, len(members) - 1, min(len(members), CANDIDATES)).astype(int)]
        medoid = some[self.costs([self.series[k] for k in some], members).sum(axis=0).argmin()]
        mean = np.mean([at_length(self.series[k], z) for k in members], axis=0)
        for y in (mean, self.series[medoid], self.series[members[own.argmin()]]):
            cost = self.costs([y], members).sum()
            while True:
                moved = self.moved(y, members)
                before, cost = cost, self.costs([moved], members).sum()
                if not cost < before:
                    break
                y = moved
                if cost < least:
                    least, best = cost, y
                if before - cost <= ROUGH * cost:
                    break
        return best

    def _filled(self, centers, costs, labels):
        """Make the farthest series the center of each cluster without members, one after the other."""
        for c in range(len(centers)):
            if (labels == c).any():
                continue
            own = costs[np.arange(len(labels)), labels]
            farthest = int(np.argmax(own))
            # A weight fixes the length of centers, and has that of all series.
            column = self.costs([self.series[farthest]])[:, 0]
            if column[farthest] < own[farthest]:
                centers[c], costs[:, c] = self.series[farthest], column
                labels = assigned(costs)
        return labels


def total(costs, labels):
    """The sum of what the series cost with their own centers."""
    return float(costs[np.arange(len(labels)), labels].sum())


def at_length(y, z):
    """A series interpolated at the length of another one."""
    return y if y.shape == z.shape else resample(y, z.shape[1])


def lower_median(series):
    """The median of each point; of an even number of values the lower one in the middle."""
    return np.quantile(series, 0.5, axis=0, method="lower")


def cost_power(metric):
    """The power of distances that inertia adds up: sums are added without their root."""
    return getattr(metric, "power", None) or 1.0


def _costs(metric, w, series, centers):
    driver = driver_of(metric, centers, series, w)
    return list(distances_between(driver, metric, w, centers, series, False).T ** cost_power(metric))


def _uncounted(steps=1, word=""):
    """Steps within an iteration are not told of."""


def _partner_sums(metric, w, series, z):
    """For each series how many of its points each point of a center meets, and their sums."""
    return list(zip(*metric._partner_sums(z, w, series), strict=True))


def _partners(metric, w, series, z):
    """For each series the pairs of points (2, K) that should be alike, and how much each counts (K,) or None."""
    # A path needs no distance.
    return [metric._partners(metric._alignment(0.0, metric._problem(z, w, y, None, None))) for y in series]

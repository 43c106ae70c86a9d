"""How the centers of k-means move: steps towards the series assigned to them, taken only where these come nearer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from ..distances._barycenter_methods import Task, placed, soft
from ..distances._metrics.base import Metric
from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.soft import SoftDTW
from ..distances._pairwise import distances_between, driver_of
from ..distances._series import resample
from ..utils._jobs import count_jobs, in_jobs
from ._collection_clusters import assigned

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
        parts = [part for part in np.array_split(members, count_jobs(self.n_jobs)) if len(part)]
        calls = [delayed(function)(self.metric, self.w, [self.series[k] for k in part], *given) for part in parts]
        return [one for part in in_jobs(calls, self.n_jobs, 0, "clusters", "part") for one in part]

    def costs(self, centers):
        """What each series adds to the inertia with each of some centers, (n_series, n_centers)."""
        return np.array(self.each(_costs, range(len(self.series)), centers))

    def moved(self, z, members):
        """A center after one step towards its members."""
        if isinstance(self.metric, SoftDTW):
            series, share = [self.series[k] for k in members], np.full(len(members), 1.0 / len(members))
            with Parallel(n_jobs=self.n_jobs, prefer="threads", require="sharedmem") as parallel:
                return soft(Task(self.metric, series, share, self.w, parallel, SOFT_STEPS, 0.0, _uncounted), z)[0]
        series = [self.series[k] for k in members]
        if isinstance(self.metric, ElasticMetric):
            partners = self.each(_partners, members, z)
        else:  # point by point
            series = [y if y.shape == z.shape else resample(y, z.shape[1]) for y in series]
            partners = [(np.tile(np.arange(z.shape[1]), (2, 1)), None)] * len(series)
        return placed(z, partners, series, np.ones(len(series)), self.metric._centre)[0]

    def lowered(self, centers, max_iter, tol, count):
        """Assign and move by turns until the inertia falls no more: it never rises."""
        centers = list(centers)
        costs = self.costs(centers)
        labels, settled, inertia = assigned(costs), {}, np.inf
        for n_iter in range(1, max_iter + 1):
            labels = self._filled(centers, costs, labels)
            before, inertia = inertia, float(costs[np.arange(len(labels)), labels].sum())
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
        return Run(centers, labels, float(costs[np.arange(len(labels)), labels].sum()), n_iter)

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


def cost_power(metric):
    """The power of distances that inertia adds up: sums are added without their root."""
    return getattr(metric, "power", None) or 1.0


def _costs(metric, w, series, centers):
    driver = driver_of(metric, centers, series, w)
    return list(distances_between(driver, metric, w, centers, series, False).T ** cost_power(metric))


def _uncounted(steps=1, word=""):
    """Steps within an iteration are not told of."""


def _partners(metric, w, series, z):
    """For each series the pairs of points (2, K) that should be alike, and how much each counts (K,) or None."""
    # A path needs no distance.
    return [metric._partners(metric._alignment(0.0, metric._problem(z, w, y, None, None))) for y in series]

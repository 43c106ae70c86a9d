"""How the centers of k-means move: steps towards the series assigned to them, taken only where these come nearer."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import delayed

from ..distances._barycenter_methods import Task, among_means, among_medians, soft
from ..distances._barycenters import CANDIDATES
from ..distances._metrics.base import Metric
from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.partners import Partners, partners_of
from ..distances._metrics.soft import SoftDTW
from ..distances._series import resample
from ..utils._jobs import count_jobs, in_jobs, parts_for_jobs, shared
from ._costs import Compared, Costs, Parts, costs_between

ROUGH = 1e-2  # share that steps must gain while beginnings are compared; what is best is then followed further
FEWER = 10.0  # gains like the last one, which those of all further steps hardly add up to
SWAPS = 3  # centers that are moved elsewhere, one at a time, before a start ends
SOFT_STEPS = 10  # of a quasi-Newton descent, which needs a few to learn how curved its objective is


class Run(NamedTuple):
    """What comes of one start."""

    centers: list  # (channels, m) each, or indices of series
    labels: np.ndarray
    inertia: float
    n_iter: int
    costs: Costs | None = None  # of each series with each center


class Followed(NamedTuple):
    """Where steps from a center led."""

    cost: float
    center: np.ndarray
    costs: np.ndarray | None  # of each member


class Tried(NamedTuple):
    """What was found of a cluster when its center was sought anew."""

    members: np.ndarray
    gain: float  # what the members would gain by a second center, if that were the best of them
    second: int  # which one that is
    rival: Followed | None  # the best beginning, followed roughly, of those that the center does not come from


class Problem(NamedTuple):
    """What is divided among centers."""

    metric: Metric
    series: list  # (channels, n) each
    w: np.ndarray | None  # weights of the centers' points
    power: float  # of the distances that inertia adds up
    partners: Partners | None  # of averages along paths
    n_jobs: int | None
    compared: Parts

    @classmethod
    def of(cls, metric, series, w, power, n_jobs):
        """The problem, with all that is prepared of its series."""
        parts = parts_for_jobs(np.arange(len(series)), count_jobs(n_jobs))
        parts = [(part, Compared(metric, w, [series[k] for k in part], power)) for part in parts]
        return cls(metric, series, w, power, partners_of(metric, series), n_jobs, Parts(parts, n_jobs))

    def costs_with(self, centers, limits):
        """What all series cost (n_centers, n_series) with some centers, infinite above their limits."""
        costs = Costs(self.compared, centers)
        costs.ask(limits, costs.values < limits[:, np.newaxis])
        return np.ascontiguousarray(np.where(costs.known, costs.values, np.inf).T)  # so that sums of rows round alike

    def each(self, function, *given):
        """The results of a function of some series in parts, as many as jobs; what is given has one item a series."""
        if len(self.compared.parts) == 1:
            return [function(*given)]
        parts = parts_for_jobs(np.arange(len(given[0])), len(self.compared.parts))
        calls = [delayed(function)(*(_some(of, part) for of in given)) for part in parts]
        return in_jobs(calls, self.n_jobs, 0, "clusters", "part")

    def costs(self, centers, members):
        """What each of some series adds to the inertia with each of some centers, (n_members, n_centers)."""
        some = [self.series[k] for k in members]
        return np.concatenate(self.each(partial(costs_between, self.metric, self.w, centers, power=self.power), some))

    def moved(self, z, members, own, tol):
        """A center after a step towards its members; along paths after as many as gain such a share, and one more.

        `own` is what the members cost with it.
        """
        if isinstance(self.metric, ElasticMetric):
            return self.followed(z, members, tol, most=own).center
        series = [self.series[k] for k in members]
        if isinstance(self.metric, SoftDTW):
            share = np.full(len(members), 1.0 / len(members))
            jobs = count_jobs(self.n_jobs)
            with shared(jobs) as for_each:
                task = Task(self.metric, series, share, self.w, jobs, for_each, SOFT_STEPS, 0.0, _uncounted)
                return soft(task, z)[0]
        series = np.array([at_length(y, z) for y in series])
        return series.mean(axis=0) if self.metric._center == "mean" else lower_median(series)

    def stepped(self, z, members, most):
        """What each member costs with a center, where a step along their paths leads, and what they cost there at most.

        `most` is about what they cost at most with the center; None: nobody knows.
        """
        share = np.ones(len(members))
        if self.partners is not None:
            parts = self.each(partial(self.partners.sums, z, self.w), members, most)
            found = parts[0] if len(parts) == 1 else [np.concatenate(of) for of in zip(*parts, strict=True)]
            after, _ = among_means(z, *found[1:], share)
            return found[0], after, self.partners.limits_after(z, self.w, found, after)
        series = [self.series[k] for k in members]
        parts = self.each(partial(_partners, self.metric, self.w, z), series)
        partners = [one for part in parts for one in part]
        return self.costs([z], members)[:, 0], among_medians(z, partners, series, share)[0], None

    def followed(self, z, members, tol, limit=np.inf, most=None):
        """The best center on the way from one along the paths of its members; `most` is what `stepped` takes.

        No further where ten more gains like the last would not lead below the limit.
        """
        best, before = Followed(np.inf, z, most), np.inf
        while True:
            far, after, most = self.stepped(z, members, most)
            cost = float(far.sum())
            if cost < best.cost:
                best = Followed(cost, z, far)
            if not before - cost > tol * abs(cost) or cost - FEWER * (before - cost) > limit:
                return best
            before, z = cost, after

    def lowered(self, centers, max_iter, tol, count):
        """Assign and move by turns until the inertia falls no more, and go on from elsewhere: it never rises."""
        if not isinstance(self.metric, ElasticMetric):
            return self._descended(centers, Run([], None, np.inf, 0), max_iter, tol, count)
        run, tried, swapped = Run([], None, np.inf, 0), {}, set()
        for least in dict.fromkeys((max(tol, ROUGH), tol)):
            before = run._replace(inertia=np.inf)
            further = self._descended(run.centers or centers, before, max_iter - run.n_iter, least, count)
            run, gained = further._replace(n_iter=run.n_iter + further.n_iter), True
            while gained:
                run, gained = self._moved_elsewhere(run, tried, swapped, (max_iter, least, tol), count)
        return run

    def _moved_elsewhere(self, run, tried, swapped, limits, count):
        """The first run from elsewhere that has less inertia, and whether there is one; all iterations count."""
        max_iter, least, tol = limits
        for centers in self._elsewhere(run, tried, swapped, least):
            if run.n_iter >= max_iter:
                break
            further = self._descended(centers, run, max_iter - run.n_iter, least, count)
            n_iter = run.n_iter + further.n_iter
            if further.inertia < run.inertia * (1.0 - tol):
                return further._replace(n_iter=n_iter), True
            run = run._replace(n_iter=n_iter)
        return run, False

    def _descended(self, centers, run, max_iter, tol, count):
        """Assign and move by turns; no further where one more gain like the last would not lead below another run."""
        costs, limit = self._costs_after(run, centers), run.inertia
        labels, settled, inertia = costs.labels(), {}, np.inf
        n_iter = 0
        while n_iter < max_iter:
            n_iter += 1
            labels = self._filled(costs, labels)
            before, inertia = inertia, total(costs, labels)
            count(1, f"inertia {min(inertia, limit):.8g}")
            if before - inertia <= tol * abs(inertia) or inertia - (before - inertia) > limit:
                break
            trial = {}
            for c, center in enumerate(costs.centers):
                members = np.flatnonzero(labels == c)
                if len(members) and not np.array_equal(settled.get(c, ()), members):
                    trial[c] = members, self.moved(center, members, costs.of(members, c), tol)
            if not trial:
                break
            moved = [z for _, z in trial.values()]
            found = self.compared.costs(moved, np.full(len(labels), np.inf), labels[:, np.newaxis] == list(trial))
            for (c, (members, z)), column, known in zip(trial.items(), *(of.T for of in found), strict=True):
                if column[members].sum() < costs.of(members, c).sum():
                    costs.put(c, z, column, known)
                else:  # it would not move at the next turn, either
                    settled[c] = members
            labels = costs.labels()
        return Run(costs.centers, labels, total(costs, labels), n_iter, costs)

    def _costs_after(self, run, centers):
        """What each series costs with each of some centers, of which a run may have had some in their places."""
        if run.costs is None:
            costs = Costs(self.compared, centers)
            costs.ask_own()
            return costs
        costs = run.costs.copy()
        for c, z in enumerate(centers):
            if run.centers[c] is not z:
                costs.put(c, z)
        costs.ask_own(run.labels)
        return costs

    def _elsewhere(self, run, tried, swapped, tol):
        """Yield centers from which the inertia may fall further.

        First those that are better for the series they have, see `_anew`. Then, one after the other, those with a
        center less where its series lose least by taking the next one, and one more among series that gain most by it.
        """
        centers = list(run.centers)
        for c, z in enumerate(centers):
            members = np.flatnonzero(run.labels == c)
            if len(members) < 2:
                tried.pop(c, None)
                continue
            if c not in tried or not np.array_equal(tried[c].members, members):
                centers[c], tried[c] = self._anew(z, members, run.costs.of(members, c), tol)
            if tol < ROUGH and tried[c].rival is not None:
                limit = run.costs.of(members, c).sum() * (1.0 - tol)
                rival = self.followed(tried[c].rival.center, members, tol, limit, tried[c].rival.costs)
                centers[c], tried[c] = rival.center if rival.cost < limit else z, tried[c]._replace(rival=None)
        if any(z is not before for z, before in zip(centers, run.centers, strict=True)):
            yield centers
        if len(centers) == 1 or tol < ROUGH:
            return
        first, second = np.partition(run.costs.nearest(2), 1, axis=1)[:, :2].T
        loss = np.bincount(run.labels, second - first, len(centers))
        gains, seconds = (np.array([getattr(of, name) for of in tried.values()]) for name in ("gain", "second"))
        change = loss[:, np.newaxis] - gains
        change[list(tried), np.arange(len(tried))] = np.inf  # a center that is moved to its own series
        members = [np.flatnonzero(run.labels == c).tobytes() for c in range(len(centers))]
        like = dict(zip(members, range(len(centers)), strict=True))  # those without series are alike
        places, tries = [of.ravel() for of in np.indices(change.shape)], 0
        for at in np.lexsort((seconds[places[1]], places[0], change.ravel())):
            c, a = (of[at] for of in places)
            # A series is a poor center before it moves, so a swap may pay that seems to cost something, yet not all.
            if tries == SWAPS or not change[c, a] < run.inertia:
                return
            k, of = int(seconds[a]), members[c]
            if (k, of) not in swapped:
                swapped.add((k, of))
                tries += 1
                moved = at_length(self.series[k], run.centers[like[of]])
                yield [*run.centers[: like[of]], moved, *run.centers[like[of] + 1 :]]

    def _anew(self, z, members, own, tol):
        """A better center of some series than `z`, found from other beginnings, or `z` itself; what else was found.

        Averages along paths end in the minimum next to where they begin. Others often lie lower: those next to the mean
        point by point, to the medoid, and to the series that is nearest. `own` is what the members cost with `z`. They
        are followed roughly; where `tol` is less, the best of them is for the caller to follow.
        """
        some = members[np.linspace(0, len(members) - 1, min(len(members), CANDIDATES)).astype(int)]
        candidates = {k: at_length(self.series[k], z) for k in some.tolist()}
        costs = self.costs([*candidates.values()], members)
        gains = np.maximum(own[:, np.newaxis] - costs, 0.0).sum(axis=0)
        likely = dict.fromkeys([int(some[costs.sum(axis=0).argmin()]), int(members[own.argmin()])])
        mean = np.mean([at_length(self.series[k], z) for k in members], axis=0)
        known = dict(zip(candidates, costs.T, strict=True))
        beginnings = (mean, None), *((at_length(self.series[k], z), known.get(k)) for k in likely)
        limit = float(own.sum())
        found = [self.followed(y, members, max(tol, ROUGH), limit, most) for y, most in beginnings]
        found.sort(key=lambda one: one.cost)
        better = tol >= ROUGH and found[0].cost < float(own.sum()) * (1.0 - tol)
        rival = found[better] if len(found) > better else None
        tried = Tried(members, float(gains.max()), int(some[gains.argmax()]), rival)
        return found[0].center if better else z, tried

    def _filled(self, costs, labels):
        """Make the farthest series the center of each cluster without members, one after the other."""
        for c in range(len(costs.centers)):
            if (labels == c).any():
                continue
            own = costs.of(np.arange(len(labels)), labels)
            farthest = int(np.argmax(own))
            center = at_length(self.series[farthest], costs.centers[c])
            column = self.costs_with([center], own)[0]
            if column[farthest] < own[farthest]:
                costs.put(c, center, column, column <= own)
                labels = costs.labels()
        return labels


def total(costs, labels):
    """The sum of what the series cost with their own centers."""
    return float(costs.of(np.arange(len(labels)), labels).sum())


def at_length(y, z):
    """A series interpolated at the length of another one."""
    return y if y.shape == z.shape else resample(y, z.shape[1])


def lower_median(series):
    """The median of each point; of an even number of values the lower one in the middle."""
    return np.quantile(series, 0.5, axis=0, method="lower")


def _some(of, part):
    """Some items of an array, a list, or of nothing."""
    return [of[k] for k in part] if isinstance(of, list) else None if of is None else of[part]


def _uncounted(steps=1, word=""):
    """Steps within an iteration are not told of."""


def _partners(metric, w, z, series):
    """For each series the pairs of points (2, K) that should be alike, and how much each counts (K,) or None."""
    # A path needs no distance.
    return [metric._partners(metric._alignment(0.0, metric._problem(z, w, y, None, None))) for y in series]

"""K-means of series, whose centers are barycenters.

A center moves by steps towards the series assigned to it. A step is kept only where it brings the center nearer to
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import ClassVar, NamedTuple

import numpy as np
from joblib import delayed

from ..distances._barycenters import CANDIDATES, Partners, Task, among_means, among_medians, partners_of, soft
from ..distances._collection import as_collection
from ..distances._metrics.base import Alignment, Metric
from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.soft import SoftDTW
from ..distances._pairwise import collection_weight
from ..distances._series import resample
from ..utils._jobs import count_jobs, in_jobs, parts_for_jobs, shared
from ..utils._parameters import Interval
from ..utils.validation import refused
from ._costs import CollectionClusters, assigned, costs_between, drawn, own

ROUGH = 1e-2  # share that steps must gain while beginnings are compared; what is best is then followed further
FEWER = 10.0  # gains like the last one, which those of all further steps hardly add up to
SWAPS = 3  # centers that are moved elsewhere, one at a time, before a start ends
SOFT_STEPS = 10  # of a quasi-Newton descent, which needs a few to learn how curved its objective is


class Run(NamedTuple):
    """The clustering that one start led to."""

    centers: list  # (channels, m) each
    labels: np.ndarray
    inertia: float
    n_iter: int
    costs: np.ndarray | None = None  # of each series with each center
    indices: list | None = None  # of the centers, where these are series


class Followed(NamedTuple):
    """The best center that steps from a starting center led to, and its costs."""

    cost: float
    center: np.ndarray
    costs: np.ndarray | None  # of each member


class Tried(NamedTuple):
    """Results of the last search for a better center of a cluster."""

    members: np.ndarray
    gain: float  # what the members would gain by a second center, if that were the best of them
    second: int  # which one that is
    rival: Followed | None  # the best beginning, followed roughly, of those that the center does not come from


class Problem(NamedTuple):
    """Series to be divided among centers, and the metric that compares them."""

    metric: Metric
    series: list  # (channels, n) each
    w: np.ndarray | None  # weights of the centers' points
    power: float  # of the distances that inertia adds up
    partners: Partners | None  # of averages along paths
    n_jobs: int | None

    def each(self, function, *given):
        """Call a function of some series for parts of them, one a job; all that is given has one item a series."""
        parts = parts_for_jobs(np.arange(len(given[0])), self.n_jobs)
        calls = [delayed(function)(*(_some(of, part) for of in given)) for part in parts]
        return in_jobs(calls, self.n_jobs, 0, "clusters", "part")

    def costs(self, centers, members=None):
        """Return what each member, or all, would add to the inertia with some centers, (n_members, n_centers)."""
        some = self.series if members is None else [self.series[k] for k in members]
        return np.concatenate(self.each(partial(costs_between, self.metric, self.w, centers, power=self.power), some))

    def moved(self, z, members, own, tol):
        """Return a center after steps towards its members.

        Along paths, steps are made as long as they gain the share `tol`, and one more.

        `own` is what the members cost with it.
        """
        if isinstance(self.metric, ElasticMetric):
            return self.followed(z, members, tol, most=own).center
        series = [self.series[k] for k in members]
        if isinstance(self.metric, SoftDTW):
            share = np.full(len(members), 1.0 / len(members))
            jobs = count_jobs(self.n_jobs)
            with shared(jobs) as for_each:
                task = Task(self.metric, series, share, self.w, jobs, for_each, SOFT_STEPS, 0.0, lambda *_: None)
                return soft(task, z)[0]
        series = np.array([at_length(y, z) for y in series])
        if self.metric._center == "mean":
            return series.mean(axis=0)
        return np.quantile(series, 0.5, axis=0, method="lower")  # of two values in the middle the lower one

    def stepped(self, z, members, most):
        """Return the members' costs with a center, the center after a step, and limits of their costs with that one.

        The step leads along the members' paths. `most` are about the highest costs of the members with the center; None
        if they are not known. The limits are None as well if they are not known.
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
        """Return the best center on the way from one along the paths of its members; `most` is what `stepped` takes.

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
        """Return the first run from elsewhere that has less inertia, and whether there is one; all iterations count."""
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
        centers, costs, limit = list(centers), self._costs_after(run, centers), run.inertia
        labels, settled, inertia, n_iter = assigned(costs), {}, np.inf, 0
        while n_iter < max_iter:
            n_iter += 1
            labels = self._filled(centers, costs, labels)
            before, inertia = inertia, float(own(costs, labels).sum())
            count(1, f"inertia {min(inertia, limit):.8g}")
            if before - inertia <= tol * abs(inertia) or inertia - (before - inertia) > limit:
                break
            trial = {}
            for c, center in enumerate(centers):
                members = np.flatnonzero(labels == c)
                if len(members) and not np.array_equal(settled.get(c, ()), members):
                    trial[c] = members, self.moved(center, members, costs[members, c], tol)
            if not trial:
                break
            found = self.costs([z for _, z in trial.values()])
            for (c, (members, z)), column in zip(trial.items(), found.T, strict=True):
                if column[members].sum() < costs[members, c].sum():
                    centers[c], costs[:, c] = z, column
                else:  # it would not move at the next turn, either
                    settled[c] = members
            labels = assigned(costs)
        return Run(centers, labels, float(own(costs, labels).sum()), n_iter, costs)

    def _costs_after(self, run, centers):
        """Return the costs of the series with some centers, reusing those of centers that a run already had."""
        if run.costs is None:
            return self.costs(centers)
        costs, new = run.costs.copy(), [c for c, z in enumerate(centers) if run.centers[c] is not z]
        if new:
            costs[:, new] = self.costs([centers[c] for c in new])
        return costs

    def _elsewhere(self, run, tried, swapped, tol):
        """Yield centers from which the inertia may fall further.

        First those that are better for the series they have, see `_averaged`. Then, one after the other, those with a
        center less where its series lose least by taking the next one, and one more among series that gain most by it.
        """
        centers = list(run.centers)
        for c, z in enumerate(centers):
            members = np.flatnonzero(run.labels == c)
            if len(members) < 2:
                tried.pop(c, None)
                continue
            if c not in tried or not np.array_equal(tried[c].members, members):
                centers[c], tried[c] = self._averaged(z, members, run.costs[members, c], tol)
            if tol < ROUGH and tried[c].rival is not None:
                limit = run.costs[members, c].sum() * (1.0 - tol)
                rival = self.followed(tried[c].rival.center, members, tol, limit, tried[c].rival.costs)
                centers[c], tried[c] = rival.center if rival.cost < limit else z, tried[c]._replace(rival=None)
        if any(z is not before for z, before in zip(centers, run.centers, strict=True)):
            yield centers
        if len(centers) == 1 or tol < ROUGH:
            return
        first, second = np.partition(run.costs, 1, axis=1)[:, :2].T
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

    def _averaged(self, z, members, own, tol):
        """Find a better center of some series than `z`, from other starts; return it or `z`, and a `Tried`.

        Averages along paths end in the minimum next to where they begin. Others are often lower: those next to the mean
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

    def _filled(self, centers, costs, labels):
        """Make the farthest series the center of each cluster without members, one after the other."""
        for c in range(len(centers)):
            if (labels == c).any():
                continue
            now = own(costs, labels)
            farthest = int(np.argmax(now))
            center = at_length(self.series[farthest], centers[c])
            column = self.costs([center])[:, 0]
            if column[farthest] < now[farthest]:
                centers[c], costs[:, c] = center, column
                labels = assigned(costs)
        return labels


def at_length(y, z):
    """Return a series interpolated at the length of another one."""
    return y if y.shape == z.shape else resample(y, z.shape[1])


def _some(of, part):
    """Return some items of an array, a list, or of nothing."""
    return [of[k] for k in part] if isinstance(of, list) else None if of is None else of[part]


def _partners(metric, w, z, series):
    """Return for each series the pairs of points (2, K) that should be alike, and the count of each (K,) or None."""
    # A path needs no distance.
    return [metric._partners(Alignment(0.0, metric, metric._problem(z, w, y, None, None))) for y in series]


@dataclass(eq=False, repr=False, kw_only=True)
class TimeSeriesKMeans(CollectionClusters):
    """K-means of series: each belongs to the nearest center, and centers are the barycenters of their series.

    Two steps alternate: series are assigned to the cheapest center, and each center moves to the barycenter of its
    series. The barycenter follows the warping paths for elastic distances (Petitjean et al. 2011), the gradient for
    `soft_dtw` (Cuturi & Blondel 2017), and is the pointwise mean for all others. For elastic distances other averages
    of the same series, and moving single centers to other clusters (Franti 2018), are tried afterwards. Steps that do
    not lower the inertia are rejected.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most that of the series.
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(window=0.1)``, or a function of two series.
    init : {"k-means++", "random"} or array-like or list of series, default="k-means++"
        Initial centers. "k-means++": series drawn with a probability proportional to their cost with the centers before
        (Arthur & Vassilvitskii 2007); "random": any series; or the centers themselves. Centers keep their lengths: one
        that moves onto a series becomes that series, interpolated.
    n_init : int, default=1
        Number of starts; the one with the lowest inertia is kept. Given centers are one start.
    max_iter : int, default=300
        Largest number of iterations of a start.
    tol : float, default=1e-6
        A start ends when its inertia falls by at most this share; steps towards barycenters likewise.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,) or (length, channels), optional
        Relative weights of the centers' points; the series must then have one length.
    random_state : int, RandomState or None
        Draws the initial centers.
    n_jobs : int, optional
        Number of threads; results do not depend on it.
    channels_first : bool, optional
        Whether the channels come before time: arrays (n_series, channels, length), the layout of aeon and of the UCR
        archive, and lists of series (channels, length). None: they do not; an error or a warning appears if the series
        have one point, or all have more channels than points.
    verbose : int, default=0
        Above 0: a progress bar on stderr with the iterations and the inertia.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, length) or (n_clusters, length, channels), or list of ndarray
        The centers, in the layout of the collection; a list if their lengths differ.
    labels_ : ndarray of int of shape (n_series,)
        The cluster of each series.
    inertia_ : float
        Sum over the series of the distance from their center, squared for the Euclidean, Mahalanobis and short time
        series distances, and to the power p for Minkowski's. DTW is a sum of squares already.
    n_iter_ : int
        Iterations of the start that was kept, including those without a gain.
    metric_ : Metric
        The metric object; for `soft_dtw` with ``divergence=False``, the objective of its barycenters.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only if the collection was a matrix with one row per series.

    See Also
    --------
    TimeSeriesKMedoids : Centers are series of the collection.
    sktslib.distances.barycenter : One center, by other methods, too.

    Notes
    -----
    An empty cluster gets the series farthest from its own center as its new center, as in scikit-learn. If the
    collection has fewer different series than `n_clusters`, clusters stay empty. With `soft_dtw` they may stay empty
    anyway: a series may cost less with a smoother center than with itself, so a cluster of its own would raise the
    inertia.

    Elastic distances are computed only until the nearest center is certain, if series have about 30 points or more;
    results do not depend on it.

    References
    ----------
    Petitjean F, Ketterlin A, Gancarski P. A global averaging method for dynamic time warping, with applications to
    clustering. Pattern Recognition 44(3), 2011.

    Arthur D, Vassilvitskii S. k-means++: the advantages of careful seeding. SODA 2007.

    Franti P. Efficiency of random swap clustering. Journal of Big Data 5(13), 2018.

    Cuturi M, Blondel M. Soft-DTW: a differentiable loss function for time-series. ICML 2017.

    Examples
    --------
    >>> from sktslib.cluster import TimeSeriesKMeans
    >>> X = [[0, 0, 2, 0], [5, 5, 5], [0, 1, 0, 0, 0], [5, 6, 5]]
    >>> model = TimeSeriesKMeans(2, random_state=0).fit(X)
    >>> model.labels_, model.inertia_
    (array([0, 1, 0, 1]), 1.0)
    >>> model.predict([[0, 0, 0, 0, 3, 0]])
    array([0])
    """

    nan_policy: ClassVar[str] = "raise"  # no parameter: barycenters are of whole series
    tol: float = 1e-6

    _reads_times = False  # a mean of series has none
    _parameter_constraints = {"nan_policy": None, "tol": [Interval(Real, 0, None, closed="left")]}

    def _starts(self, series, rng):
        """Return a function that runs one start, and the number of starts."""
        if isinstance(self.metric_, SoftDTW):
            self.metric_ = SoftDTW(**{**self.metric_.get_params(), "divergence": False})
        w, partners = collection_weight(self.weight, series), partners_of(self.metric_, series)
        problem = Problem(self.metric_, series, w, self._power, partners, self.n_jobs)
        given = None if isinstance(self.init, str) else self._given_centers(series)

        def run(count):
            if given is not None:
                return problem.lowered(given, self.max_iter, self.tol, count)

            def costs_with(chosen):  # in such an order that sums of rows round alike
                return np.ascontiguousarray(problem.costs([series[k] for k in chosen]).T)

            chosen = drawn(self.init, costs_with, (len(series), self.n_clusters), rng)
            return problem.lowered([series[k] for k in chosen], self.max_iter, self.tol, count)

        return run, self.n_init if given is None else 1

    def _given_centers(self, series):
        given = as_collection(self.init, "init", self.n_channels_, channels_first=bool(self.channels_first))
        if len(given) != self.n_clusters:
            got = f"{len(given)}; set n_clusters={len(given)}, or give others"
            raise refused("init", f"hold one center a cluster, {self.n_clusters}", got)
        collection_weight(self.weight, given)
        self.metric_._check_collection(given, "init")
        return [z.copy() for z in given]

    @property
    def _power(self):
        """Sums are added up without their root."""
        return getattr(self.metric_, "power", None) or 1.0

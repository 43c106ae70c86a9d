"""Clusters of series: k-means, whose centers are barycenters, and k-medoids, whose centers are series.

Costs are powers of distances. Centers are compared as queries, in batches as in the distance matrix, so results are the
same to the bit. All distances are computed. Bounds that exclude some of them would save a tenth of the time of a fit
with 5 centers and a quarter with 20, but they would need three classes instead of a matrix.

A center of k-means moves by steps towards the series assigned to it. A step is kept only if it brings the center nearer
to them. Medoids are found on a distance matrix by FasterPAM, which swaps a medoid for another series as soon as that
pays off.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..distances._barycenters import CANDIDATES, Partners, Task, added, among_medians, partners_of, placed, soft
from ..distances._collection import as_collection, has_gaps, is_matrix
from ..distances._metrics.base import Metric
from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.soft import SoftDTW
from ..distances._pairwise import collection_weight, distances_between, driver_of
from ..distances._series import resample
from ..neighbors._collection_estimator import COUNT, CollectionEstimator
from ..utils._jobs import count_jobs, delayed, each_in_jobs, in_jobs, nothing, parts_for_jobs, progress, shared
from ..utils._names import warn
from ..utils._parameters import SEED, Interval, StrOptions
from ..utils._times import MetricLike, Sequences
from ..utils.validation import refused, shown


def own(costs, labels):
    """Return the cost of each series with its own center."""
    return costs[np.arange(len(labels)), labels]


def assigned(costs):
    """Return the index of the cheapest center of each series, given costs (n_series, n_clusters); ties: the first."""
    labels = costs.argmin(axis=1)
    far = np.flatnonzero(own(costs, labels) == np.inf)
    if len(far):
        rule, out = "have a finite distance from some center", "Widen the band, or use more clusters."
        got = f"none for series {shown(far.tolist())}, as it is where a band is narrower than lengths differ"
        raise refused("Each series", rule, got, out)
    return labels


def costs_between(metric, w, centers, series, power, gaps=False):
    """Return the costs of series and centers, (n_series, n_centers)."""
    driver = driver_of(metric, centers, series, w, gaps)
    return distances_between(driver, metric, w, centers, series, False).T ** power


STARTS = ["k-means++", "random"]
ROWS = 2**11  # series whose nearest centers are computed at a time; does not affect results


@dataclass(eq=False, repr=False)
class CollectionClusters(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, CollectionEstimator):
    """Base of the estimators that assign the series of a collection to centers.

    A subclass implements `_starts`, which returns a function that runs one start.
    """

    n_clusters: int = 8
    metric: MetricLike = "dtw"
    _: KW_ONLY
    init: Any = "k-means++"
    n_init: int = 1
    max_iter: int = 300
    random_state: Any = None

    _progress = "clusters", "iteration"  # name and unit of the progress bar
    _power = 1.0  # power of the distances that are summed in the inertia
    _parameter_constraints = {
        "n_clusters": COUNT,
        "init": [StrOptions(set(STARTS)), "array-like"],
        "n_init": COUNT,
        "max_iter": COUNT,
        "random_state": SEED,
    }

    def fit(self, X: Sequences, y: Any = None) -> Self:
        """Divide a collection.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The collection.
        y : ignored

        Returns
        -------
        object
            The clusterer itself.
        """
        self._fit_collection(X)
        series = vars(self).pop("_series")
        collection_weight(self.weight, series, one_length=True)  # for all centers, each of which starts as a series
        self.metric_._check_collection(series, "X")
        rng = check_random_state(self.random_state)
        if len(series) < self.n_clusters:
            got = f"n_samples={len(series)} should be >= n_clusters={self.n_clusters}"
            raise refused("'X'", "hold at least 'n_clusters' series", got, "Lower 'n_clusters'.")
        one_channel = self.n_channels_ == 1 and getattr(X, "ndim", 2) < 3
        self._flat = one_channel and (hasattr(X, "columns") or is_matrix(X) or np.ndim(X[0]) == 1)
        run, n_init = self._starts(series, rng), self.n_init if isinstance(self.init, str) else 1
        name, unit = self._progress
        with progress(n_init if unit == "start" else None, self.verbose, name, unit) as count:
            runs = [run(count) for _ in range(n_init)]
        best = min(runs, key=lambda run: run.inertia)  # ties: the first
        self.labels_, self.inertia_, self.n_iter_ = best.labels, best.inertia, best.n_iter
        self._centers = best.centers
        if best.indices is not None:
            self.medoid_indices_ = np.array(best.indices)
        self._n_features_out = self.n_clusters
        found = len(np.unique(best.labels))
        if found < self.n_clusters:
            warn(
                f"Number of distinct clusters ({found}) found smaller than n_clusters ({self.n_clusters}). Lower "
                "'n_clusters', or try another 'init' or 'random_state'; 'X' may hold equal series.",
                ConvergenceWarning,
            )
        centers = [np.asarray(z) for z in best.centers]  # without their times
        made = [z[0].copy() if self._flat else (z if self.channels_first else z.T).copy() for z in centers]
        self.cluster_centers_ = np.array(made) if len({z.shape for z in made}) == 1 else made
        return self

    def _nearest(self, X):
        """Return the nearest center of each series, and the contribution of each series to the inertia."""
        X, centers, jobs = self._checked(X), self._centers, count_jobs(self.n_jobs)
        self.metric_._check_collection(X, "X")
        self.metric_._warn_of_scale(centers, X)
        w, gaps = collection_weight(self._used_weight, centers), has_gaps(X) or has_gaps(centers)
        size = min(ROWS, getattr(X, "rows", ROWS), -(-len(X) // jobs))
        places = [slice(begin, begin + size) for begin in range(0, len(X), size)]
        calls = (delayed(costs_between)(self.metric_, w, centers, X[part], self._power, gaps) for part in places)
        found = each_in_jobs(calls, len(places), self.n_jobs, self.verbose, "nearest centers", "block")
        costs = np.concatenate(list(found))
        labels = assigned(costs)
        return labels, own(costs, labels)

    def predict(self, X: Sequences) -> NDArray[np.intp]:
        """Return the nearest center of each series.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.

        Returns
        -------
        ndarray of int of shape (n_series,)
            Of equally near centers the first.
        """
        return self._nearest(X)[0]

    def transform(self, X: Sequences) -> NDArray[np.float64]:
        """Return the distances of each series from all centers.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.

        Returns
        -------
        ndarray of shape (n_series, n_clusters)
        """
        series = self._checked(X)
        return self._labeled(np.ascontiguousarray(self._distances(self._centers, series).T), X)

    def score(self, X: Sequences, y: Any = None) -> float:
        """Return the negative inertia of series: what they add up to with their nearest centers.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.
        y : ignored

        Returns
        -------
        float
            At most 0, where distances are not negative.
        """
        return -float(self._nearest(X)[1].sum())


def drawn(init, costs_from, sizes, rng):
    """Return the indices of k of n series to start from.

    Parameters
    ----------
    init : {"k-means++", "random"}
        "k-means++": each center is drawn with a probability proportional to the cost of a series with the centers
        before.
    costs_from : callable
        Returns the costs (n_indices, n) of all series if the series with given indices are the centers.
    sizes : pair of int
        n and k.
    rng : RandomState
        Source of the draws; of several drawn series the one that lowers the sum most is chosen, as in scikit-learn.
    """
    n, k = sizes
    if init == "random":
        return rng.choice(n, k, replace=False).tolist()
    chosen = [int(rng.randint(n))]
    least = costs_from(chosen)[0]
    trials = 2 + int(np.log(k))
    while len(chosen) < k:
        share = least - min(least.min(), 0.0)  # because soft distances may be negative
        share[chosen] = 0.0
        if np.isinf(share).any():
            share = np.isinf(share).astype(float)
        if not share.any():  # all other series equal chosen ones
            share = np.ones(n)
            share[chosen] = 0.0
        trial = rng.choice(n, trials, p=share / share.sum())
        costs = np.minimum(costs_from(trial), least)
        best = int(np.argmin(costs.sum(axis=1)))
        chosen.append(int(trial[best]))
        least = costs[best]
    return chosen


# ------------------------------------------------------------------------------------------------------------ k-means
ROUGH = 1e-2  # minimum relative gain of a step while starts are compared; the best start is then followed further
FEWER = 10.0  # multiple of the last gain that all further steps together are assumed not to exceed
SWAPS = 3  # centers that are moved elsewhere, one at a time, before a start ends
SOFT_STEPS = 10  # steps of a quasi-Newton descent, which needs a few to estimate curvature


class Run(NamedTuple):
    """The result of one start."""

    centers: list  # (channels, m) each
    labels: np.ndarray
    inertia: float
    n_iter: int
    costs: np.ndarray | None = None  # of all series with all centers
    indices: list | None = None  # indices of the centers, if they are series


class Followed(NamedTuple):
    """The best center on the way from a starting center, and its costs."""

    cost: float
    center: np.ndarray
    costs: np.ndarray | None  # cost of each member


class Tried(NamedTuple):
    """Results of the last search for a better center of a cluster."""

    members: np.ndarray
    gain: float  # gain of the members if they got the best second center
    second: int  # index of this center
    rival: Followed | None  # the best alternative start, followed roughly, that is not the center's own


class Problem(NamedTuple):
    """The series to be clustered, and the metric."""

    metric: Metric
    series: list  # (channels, n) each
    w: np.ndarray | None  # weights of the centers' points
    power: float  # power of the distances that are summed in the inertia
    partners: Partners | None  # for averages along paths
    n_jobs: int | None

    def each(self, function, *given):
        """Call a function for parts of the series, one part per job; each argument has one item per series."""
        if count_jobs(self.n_jobs) == 1:
            return [function(*given)]
        parts = parts_for_jobs(np.arange(len(given[0])), self.n_jobs)

        def some(of, part):
            return [of[k] for k in part] if isinstance(of, list) else None if of is None else of[part]

        calls = [delayed(function)(*(some(of, part) for of in given)) for part in parts]
        return in_jobs(calls, self.n_jobs, 0, "clusters", "part")

    def costs(self, centers, members=None):
        """Return the costs of the members, or of all series, with centers, (n_members, n_centers)."""
        some = self.series if members is None else [self.series[k] for k in members]
        return np.concatenate(self.each(partial(costs_between, self.metric, self.w, centers, power=self.power), some))

    def moved(self, z, members, own, tol):
        """Return a center after steps towards its members.

        Averages along paths continue as long as a step gains at least the share `tol`, plus one more step. `own` holds
        the costs of the members with the center.
        """
        if isinstance(self.metric, ElasticMetric):
            return self.followed(z, members, tol, most=own).center
        series = [self.series[k] for k in members]
        if isinstance(self.metric, SoftDTW):
            share = np.full(len(members), 1.0 / len(members))
            jobs = count_jobs(self.n_jobs)
            with shared(jobs) as for_each:
                task = Task(self.metric, series, share, self.w, jobs, for_each, SOFT_STEPS, 0.0, nothing)
                return soft(task, z)[0]
        series = np.array([at_length(y, z) for y in series])
        if self.metric._center == "mean":
            return series.mean(axis=0)
        return np.quantile(series, 0.5, axis=0, method="lower")  # the lower one of two middle values

    def stepped(self, z, members, most):
        """Return the members' costs with a center, the center after a step, and guesses of the costs with that one.

        The step averages along the members' paths. `most` are guesses of their costs with the center, or None. The
        guesses that are returned may be None as well.
        """
        share = np.ones(len(members))
        if self.partners is not None:
            parts = self.each(partial(self.partners.sums, z, self.w), members, most)
            found = parts[0] if len(parts) == 1 else [np.concatenate(of) for of in zip(*parts, strict=True)]
            after = placed(z, *added(*found[1:], share))
            return found[0], after, self.partners.limits_after(z, self.w, found, after)
        series = [self.series[k] for k in members]
        parts = self.each(partial(_partners, self.metric, self.w, z), series)
        partners = [one for part in parts for one in part]
        return self.costs([z], members)[:, 0], among_medians(z, partners, series, share), None

    def followed(self, z, members, tol, limit=np.inf, most=None):
        """Return the best center on the way from one along the paths of its members; for `most` see `stepped`.

        It stops early if ten more gains like the last one would not bring the cost below the limit.
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
        """Assign series and move centers in turn until the inertia stops falling, then retry with centers elsewhere.

        The inertia never rises.
        """
        if not isinstance(self.metric, ElasticMetric):
            return self._descended(centers, Run([], None, np.inf, 0), max_iter, tol, count)
        run, tried, swapped = Run([], None, np.inf, 0), {}, set()
        for least in dict.fromkeys((max(tol, ROUGH), tol)):
            before = run._replace(inertia=np.inf)
            further = self._descended(run.centers or centers, before, max_iter - run.n_iter, least, count)
            run, gained = further._replace(n_iter=run.n_iter + further.n_iter), True
            while gained:  # continue with the first retry that lowers the inertia; all iterations count
                gained = False
                for elsewhere in self._elsewhere(run, tried, swapped, least):
                    if run.n_iter >= max_iter:
                        break
                    further = self._descended(elsewhere, run, max_iter - run.n_iter, least, count)
                    gained = further.inertia < run.inertia * (1.0 - tol)
                    run = (further if gained else run)._replace(n_iter=run.n_iter + further.n_iter)
                    if gained:
                        break
        return run

    def _descended(self, centers, run, max_iter, tol, count):
        """Alternately assign series and move centers, until that cannot beat the inertia of `run` any more.

        It stops early if one more gain like the last one would not bring the inertia below that of `run`.
        """
        centers, limit = list(centers), run.inertia
        new = [c for c, z in enumerate(centers) if run.costs is None or run.centers[c] is not z]
        costs = np.empty((len(self.series), len(centers))) if run.costs is None else run.costs.copy()
        if new:
            costs[:, new] = self.costs([centers[c] for c in new])
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
                else:  # the center would not move in the next iteration, either
                    settled[c] = members
            labels = assigned(costs)
        return Run(centers, labels, float(own(costs, labels).sum()), n_iter, costs)

    def _elsewhere(self, run, tried, swapped, tol):
        """Yield sets of centers from which the inertia may fall further.

        The first set has better centers for the present clusters, see `_averaged`. Each further set drops a center
        whose series lose least by moving to the next one, and adds one to a cluster that gains most by a second center.
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
        change[list(tried), np.arange(len(tried))] = np.inf  # a center must not be moved into its own cluster
        members = [np.flatnonzero(run.labels == c).tobytes() for c in range(len(centers))]
        like = dict(zip(members, range(len(centers)), strict=True))  # empty clusters are interchangeable
        places, tries = [of.ravel() for of in np.indices(change.shape)], 0
        for at in np.lexsort((seconds[places[1]], places[0], change.ravel())):
            c, a = (of[at] for of in places)
            # A new center improves when it moves, so a swap with an estimated loss may pay off, but not a large loss.
            if tries == SWAPS or not change[c, a] < run.inertia:
                return
            k, of = int(seconds[a]), members[c]
            if (k, of) not in swapped:
                swapped.add((k, of))
                tries += 1
                moved = at_length(self.series[k], run.centers[like[of]])
                yield [*run.centers[: like[of]], moved, *run.centers[like[of] + 1 :]]

    def _averaged(self, z, members, own, tol):
        """Search for a better center of some series than `z` from other starts; return it or `z`, and a `Tried`.

        Averages along paths end in the nearest minimum. The minima near other starts are often lower: near the
        pointwise mean, the medoid, and the nearest series. `own` holds the costs of the members with `z`. Starts are
        followed roughly; with a smaller `tol` the caller has to continue from the best one.
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
        """Give each cluster without members the farthest series as its center, one after the other."""
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
    """Return a series interpolated to the length of another one."""
    return y if y.shape == z.shape else resample(y, z.shape[1])


def _partners(metric, w, z, series):
    """Return for each series the pairs of points (2, K) that should be alike, and their weights (K,) or None."""
    # Paths are needed without distances.
    return [metric._partners(metric._problem(z, w, y, None, None)) for y in series]


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

    nan_policy: ClassVar[str] = "raise"  # not a parameter, because barycenters need complete series
    tol: float = 1e-6

    _reads_times = False  # because a mean of series has no times
    _parameter_constraints = {"nan_policy": None, "tol": [Interval(Real, 0, None, closed="left")]}

    def _starts(self, series, rng):
        """Return a function that runs one start."""
        if isinstance(self.metric_, SoftDTW):
            self.metric_ = SoftDTW(**{**self.metric_.get_params(), "divergence": False})
        w, partners = collection_weight(self.weight, series), partners_of(self.metric_, series)
        problem = Problem(self.metric_, series, w, self._power, partners, self.n_jobs)
        if not isinstance(self.init, str):
            given = as_collection(self.init, "init", self.n_channels_, channels_first=bool(self.channels_first))
            if len(given) != self.n_clusters:
                got = f"{len(given)}; set n_clusters={len(given)}, or give others"
                raise refused("init", f"hold one center per cluster, {self.n_clusters}", got)
            collection_weight(self.weight, given)
            self.metric_._check_collection(given, "init")
            return lambda count: problem.lowered([z.copy() for z in given], self.max_iter, self.tol, count)

        def run(count):
            def costs_with(chosen):  # in an order in which sums over rows are rounded equally
                return np.ascontiguousarray(problem.costs([series[k] for k in chosen]).T)

            chosen = drawn(self.init, costs_with, (len(series), self.n_clusters), rng)
            return problem.lowered([series[k] for k in chosen], self.max_iter, self.tol, count)

        return run

    @property
    def _power(self):
        """The power that turns distances into sums, without their root."""
        return getattr(self.metric_, "power", None) or 1.0


# ---------------------------------------------------------------------------------------------------------- k-medoids
def swapped(D, medoids, max_iter):
    """Return medoids that no single swap makes better, and how often all series were tried.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Finite distances from each series, as a medoid, to all.
    medoids : list of int
        The initial medoids.
    max_iter : int
        Largest number of rounds.

    Notes
    -----
    A swap changes the sum of distances in two ways: series that are nearer to the new medoid move to it, whichever
    medoid is removed; the other series of the removed medoid move to their second nearest medoid or to the new one
    (Schubert & Rousseeuw 2021, Algorithm 3).
    """
    medoids, n, waited = list(medoids), len(D), 0
    if len(medoids) == 1:
        return [int(D.sum(axis=1).argmin())], 1
    nearest, first, second = _nearest_two(D, medoids)
    for step in range(max_iter * n):
        candidate = step % n
        waited += 1
        if candidate not in medoids:
            d = D[candidate]
            closer, between = d < first, (d >= first) & (d < second)
            change = np.bincount(nearest, second - first, len(medoids))
            change += np.bincount(nearest[closer], (first - second)[closer], len(medoids))
            change += np.bincount(nearest[between], (d - second)[between], len(medoids))
            change += (d - first)[closer].sum()
            worst = int(change.argmin())
            total = first.sum()
            if change[worst] < 0:
                trial = [*medoids[:worst], candidate, *medoids[worst + 1 :]]
                found = _nearest_two(D, trial)
                if found[1].sum() < total:  # the gain must exceed rounding
                    medoids, (nearest, first, second), waited = trial, found, 0
        if waited >= n:
            break
    return medoids, step // n + 1


def _nearest_two(D, medoids):
    """Return the index and distance of each series' nearest medoid, and the distance of its second nearest one."""
    to = D[medoids]
    nearest = to.argmin(axis=0)
    first, second = np.partition(to, 1, axis=0)[:2]
    return nearest, first, second


class TimeSeriesKMedoids(CollectionClusters):
    """K-medoids of series: each belongs to the nearest medoid, and medoids are series of the collection.

    All distances are computed. FasterPAM (Schubert & Rousseeuw 2021) swaps a medoid for another series as soon as that
    lowers the sum of distances, until no swap does.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most that of the series.
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(window=0.1)``, or a function of two series.
    init : {"k-means++", "random"} or array-like of int of shape (n_clusters,), default="k-means++"
        Initial medoids. "k-means++": series drawn with a probability proportional to their distance from those before;
        "random": any series; or their indices.
    n_init : int, default=1
        Number of starts; the one with the lowest inertia is kept. Given medoids are one start.
    max_iter : int, default=300
        Largest number of passes over all series as new medoids.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,) or (length, channels), optional
        Relative weights of the medoids' points; the series must then have one length.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN), see :func:`sktslib.distances.pairwise_distances`.
    random_state : int, RandomState or None
        Draws the initial medoids.
    n_jobs : int, optional
        Number of threads; results do not depend on it.
    channels_first : bool, optional
        Whether the channels come before time: arrays (n_series, channels, length), the layout of aeon and of the UCR
        archive, and lists of series (channels, length). None: they do not; an error or a warning appears if the series
        have one point, or all have more channels than points.
    verbose : int, default=0
        Above 0: a progress bar on stderr for the distances, and one with the starts and the inertia.

    Attributes
    ----------
    medoid_indices_ : ndarray of int of shape (n_clusters,)
        Indices of the medoids in the fitted collection.
    cluster_centers_ : ndarray of shape (n_clusters, length) or (n_clusters, length, channels), or list of ndarray
        The medoids, in the layout of the collection; a list if their lengths differ.
    labels_ : ndarray of int of shape (n_series,)
        The cluster of each series.
    inertia_ : float
        Sum over the series of the distance from their medoid.
    n_iter_ : int
        Number of passes over all series in the start that was kept.
    metric_ : Metric
        The metric object.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only if the collection was a matrix with one row per series.

    See Also
    --------
    TimeSeriesKMeans : Centers are barycenters.

    References
    ----------
    Schubert E, Rousseeuw PJ. Fast and eager k-medoids clustering: O(k) runtime improvement of the PAM, CLARA, and
    CLARANS algorithms. Information Systems 101, 2021.

    Examples
    --------
    >>> from sktslib.cluster import TimeSeriesKMedoids
    >>> X = [[0, 0, 2, 0], [5, 5, 5], [0, 1, 0, 0, 0], [5, 6, 5]]
    >>> model = TimeSeriesKMedoids(2, random_state=0).fit(X)
    >>> model.inertia_, sorted(model.medoid_indices_.tolist())
    (2.0, [0, 3])
    """

    _progress = "medoids", "start"

    def _starts(self, series, rng):
        """Return a function that runs one start."""
        n, k, given = len(series), self.n_clusters, None
        if not isinstance(self.init, str):
            rule = f"The 'init' parameter must hold {k} different indices of the {n} series, one per cluster. "
            given = np.asarray(self.init)
            if given.shape != (k,) or given.dtype.kind not in "iu":
                out = "to start from series of your own use TimeSeriesKMeans."
                raise ValueError(f"{rule}Got {shown(self.init)}; {out}")
            given = given.tolist()
            if min(given) < 0 or max(given) >= n or len(set(given)) < k:
                raise ValueError(f"{rule}Got {shown(given)}.")
        D = self._distances(series, series)
        far = D == np.inf
        # A large finite number, so that any finite distance is better than an infinite one.
        finite = np.where(far, 1.0 + 2.0 * n * np.abs(D, where=~far, out=np.zeros_like(D)).max(), D)

        def run(count):
            begin = drawn(self.init, lambda rows: D[rows], (n, k), rng) if given is None else given
            medoids, n_iter = swapped(finite, begin, self.max_iter)
            costs = D[medoids].T
            labels = assigned(costs)
            # A medoid belongs to itself, even if another medoid is equally near.
            tied = costs[medoids, range(k)] <= costs[medoids].min(axis=1)
            labels[np.array(medoids)[tied]] = np.flatnonzero(tied)
            inertia = float(own(costs, labels).sum())
            count(1, f"inertia {inertia:.8g}")
            return Run([series[k] for k in medoids], labels, inertia, n_iter, indices=medoids)

        return run

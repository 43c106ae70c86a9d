"""Base of the clusterers: costs of series with centers, assignment of series to them, and the best of several starts.

Costs are computed only as far as they decide which centers are nearest. Centers are queries, and series are computed
side by side as in the matrix of all distances, so the results are the same to the bit. A series whose bound is above
its limit is left out. Series side by side are given up together as soon as all are above their limits. The triangle
inequality is not used: few elastic distances obey it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..distances._collection import has_gaps, is_matrix
from ..distances._kernels.compile import block_size
from ..distances._metrics.elastic import ElasticMetric
from ..distances._nearest import Pruned
from ..distances._pairwise import by_length, collection_weight, counts_alone, distances_between, driver_of
from ..distances._series import spread
from ..neighbors._collection_estimator import COUNT, SEED, CollectionEstimator
from ..utils._jobs import count_jobs, each_in_jobs, in_jobs, progress
from ..utils._names import warn
from ..utils._parameters import StrOptions
from ..utils.validation import shown

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import NDArray

    from ..utils._times import MetricLike, Sequences


# Measured with DTW and MSM, with and without a band: below these, bounds cost as much as computing what they exclude.
PAIR_CELLS = block_size(2**10, 1)  # of a center with a series
FEW_CELLS = block_size(2**22, 1)  # of a center with all series, divided by the number of their lengths
ONCE = 5  # times as many of all centers together, where what is prepared serves only once
MOST = np.finfo(float).max  # a limit that excludes infinite costs alone


class Compared:
    """A collection that centers are compared with: costs are distances to a power. With `gaps` NaN are left out."""

    def __init__(self, metric, w, series, power, gaps=False, few=1.0):
        self.metric, self.w, self.series, self.power, self.gaps, self.few = metric, w, series, power, gaps, few
        self._prepared = {}  # of each length of centers
        lengths = [y.shape[1] for y in series]
        self._pair_cells, self._cells = max(lengths) ** 2, sum(lengths) * max(lengths) / len(set(lengths))
        self._prunes = (
            isinstance(metric, ElasticMetric)
            and metric._has_lanes
            and metric._is_monotone
            and not metric._has_factor
            and not counts_alone(metric, w)
            and not gaps
        )

    def __reduce__(self):
        return Compared, (self.metric, self.w, self.series, self.power, self.gaps, self.few)

    def _pruned(self, center):
        m = center.shape[1]
        if m not in self._prepared:
            self._prepared[m] = Pruned(self.metric, self.series, center, spread(self.w, m), 1)
        return self._prepared[m]

    def prunes(self):
        """Return whether limits save anything."""
        return self._prunes and self._pair_cells >= PAIR_CELLS and self._cells >= FEW_CELLS * self.few

    def bounds(self, centers):
        """Return numbers (n_series, n_centers) that costs are above."""
        least = np.full((len(self.series), len(centers)), -np.inf)
        if self.prunes():
            for of in by_length(centers).values():
                some = [centers[c] for c in of]
                least[:, of] = np.nextafter(self._pruned(some[0]).at_least(some)[1].T, -np.inf)
        return least

    def costs(self, centers, limits, asked):
        """Return the costs of the series with centers (n_series, n_centers), and a mask of those that are known.

        A cost is known where it is `asked` for and not above the limit of its series, and where knowing it is free.
        """
        if not self.prunes():
            found = costs_between(self.metric, self.w, centers, self.series, self.power, self.gaps)
            return found, np.ones(found.shape, bool)
        found = np.full(asked.shape, np.inf)
        for of in by_length(centers).values():
            found[:, of] = self._within([centers[c] for c in of], limits, asked[:, of].T).T
        return found, asked & ((found < np.inf) | (limits == np.inf)[:, np.newaxis])

    def _within(self, centers, limits, asked):
        """Return the costs of centers of one length, infinite where they are not asked for or above the limits."""
        pruned, limits = self._pruned(centers[0]), np.minimum(limits, MOST)
        found, itself = np.full(asked.shape, np.inf), np.full(len(centers), -1)
        of_length, bounds = pruned.queries(centers), np.where(asked, -limits, np.inf)  # `Costs` knows of others
        offsets, counts = np.repeat(-limits[np.newaxis], len(centers), axis=0), np.zeros(3, int)
        for members in pruned.kinds:
            members = members[asked[:, members].any(axis=0)]
            if len(members):
                n, order = int(pruned.lengths[members].max()), np.repeat(members[np.newaxis], len(centers), axis=0)
                given = order, itself, bounds, offsets, np.zeros(len(centers)), counts
                found[:, members] = pruned.below(of_length(n), n, *given)[:, members]
        return found


class Parts:
    """A collection in parts, one for each job, with the interface of `Compared`; joblib distributes the calls."""

    def __init__(self, parts, n_jobs):
        self.parts, self.n_jobs = parts, n_jobs  # positions of series, and these as they are compared

    def bounds(self, centers):
        """See `Compared`."""
        return np.concatenate(self._each("bounds", lambda _: (centers,)))

    def costs(self, centers, limits, asked):
        """See `Compared`."""
        found = self._each("costs", lambda of: (centers, limits[of], asked[of]))
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]

    def _each(self, name, given_of):
        calls = [(getattr(part, name), given_of(of)) for of, part in self.parts]
        if len(calls) == 1:  # what jobs take besides is longer than a small comparison
            return [function(*given) for function, given in calls]
        calls = [delayed(function)(*given) for function, given in calls]
        return in_jobs(calls, self.n_jobs, 0, "clusters", "part")


class Costs:
    """Costs of series with centers; `values` holds a cost where it is `known`, elsewhere a number below it.

    Parameters
    ----------
    compared : Compared or Parts
        The series.
    centers : list of ndarray of shape (channels, m)
        The centers.
    """

    def __init__(self, compared, centers):
        self.compared, self.centers = compared, list(centers)
        self.values = compared.bounds(self.centers)
        self.known = np.zeros(self.values.shape, bool)

    def copy(self):
        """Return a copy whose centers and costs may be changed."""
        other = copy(self)
        other.centers, other.values, other.known = list(self.centers), self.values.copy(), self.known.copy()
        return other

    def put(self, c, center, values=0.0, known=False):
        """Take another center in place of one, of which some costs may be known."""
        self.centers[c] = center
        self.values[:, c] = np.where(known, values, self.compared.bounds([center])[:, 0])
        self.known[:, c] = known

    def ask(self, limits, asked):
        """Find out costs, as far as they are not above the limits of the series."""
        columns = np.flatnonzero(asked.any(axis=0))
        if not len(columns):
            return
        asked = asked[:, columns]
        found, known = self.compared.costs([self.centers[c] for c in columns], limits, asked)
        least = np.where(asked, limits[:, np.newaxis], self.values[:, columns])
        known_before = self.known[:, columns]
        self.values[:, columns] = np.where(known_before, self.values[:, columns], np.where(known, found, least))
        self.known[:, columns] = known | known_before

    def ask_own(self, labels=None):
        """Find out what the series cost with one center each, which seems to be near if none is given."""
        if labels is None:
            if self.values.max() == -np.inf:
                return
            labels = self.values.argmin(axis=1)
        own = np.zeros_like(self.known)
        own[np.arange(len(labels)), labels] = True
        self.ask(np.full(len(labels), np.inf), own & ~self.known)

    def nearest(self, count=1):
        """Return the known costs, infinite elsewhere, once the `count` least costs of each series are among them."""
        while True:
            seen = np.where(self.known, self.values, np.inf)
            limits = seen.min(axis=1) if count == 1 else np.partition(seen, count - 1, axis=1)[:, count - 1]
            doubtful = ~self.known & (self.values < limits[:, np.newaxis])
            if not doubtful.any():
                return seen
            self.ask(limits, doubtful)

    def own(self, labels):
        """Return the known costs of the series with one center each."""
        return self.values[np.arange(len(labels)), labels]

    def labels(self):
        """Return the cheapest center of each series, of equally cheap ones the first."""
        return assigned(self.nearest())


def nearest_centers(metric, w, centers, series, power, gaps):
    """Return the cheapest center of each series, of equally cheap ones the first, and what it costs."""
    costs = Costs(Compared(metric, w, series, power, gaps, ONCE / len(centers)), centers)
    costs.ask_own()
    labels = costs.labels()
    return labels, costs.own(labels)


def assigned(costs):
    """Return the cheapest center of each series (n_series, n_clusters), of equally cheap ones the first."""
    labels = costs.argmin(axis=1)
    far = np.flatnonzero(costs[np.arange(len(costs)), labels] == np.inf)
    if len(far):
        raise ValueError(
            f"Each series must have a finite distance from some center. Got none for series {shown(far.tolist())}, as "
            "it is where a band is narrower than lengths differ. Widen the band, or take more clusters."
        )
    return labels


def costs_between(metric, w, centers, series, power, gaps=False):
    """Return the cost of each series with each center, (n_series, n_centers)."""
    driver = driver_of(metric, centers, series, w, gaps)
    return distances_between(driver, metric, w, centers, series, False).T ** power


STARTS = ["k-means++", "random"]
ROWS = 2**11  # series whose centers are searched for at once; of no influence on any result


@dataclass(eq=False, repr=False)
class CollectionClusters(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, CollectionEstimator):
    """Base of the estimators that divide a collection among centers.

    A subclass has `_starts`, which gives a function that runs one start, and the number of starts.
    """

    n_clusters: int = 8
    metric: MetricLike = "dtw"
    _: KW_ONLY
    init: Any = "k-means++"
    n_init: int = 1
    max_iter: int = 300
    random_state: Any = None

    _progress = "clusters", "iteration"  # what a bar on stderr shows, and counts
    _power = 1.0  # of the distances that inertia adds up
    _parameter_constraints = {
        **CollectionEstimator._parameter_constraints,
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
        collection_weight(self.weight, series, one_length=True)  # that of every center, which begins as a series
        self.metric_._check_collection(series, "X")
        rng = check_random_state(self.random_state)
        if len(series) < self.n_clusters:
            raise ValueError(
                f"'X' must hold at least 'n_clusters' series. Got n_samples={len(series)} should be >= n_clusters="
                f"{self.n_clusters}. Lower 'n_clusters'."
            )
        one_channel = self.n_channels_ == 1 and getattr(X, "ndim", 2) < 3
        self._flat = one_channel and (hasattr(X, "columns") or is_matrix(X) or np.ndim(X[0]) == 1)
        run, n_init = self._starts(series, rng)
        name, unit = self._progress
        with progress(n_init if unit == "start" else None, self.verbose, name, unit) as count:
            runs = [run(count) for _ in range(n_init)]
        best = min(runs, key=lambda run: run.inertia)  # of equal ones the first
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
        """Return the nearest center of each series, and what it adds to the inertia."""
        X, centers, jobs = self._checked(X), self._centers, count_jobs(self.n_jobs)
        self.metric_._check_collection(X, "X")
        self.metric_._warn_of_scale(centers, X)
        w, gaps = collection_weight(self._used_weight, centers), has_gaps(X) or has_gaps(centers)
        size = min(ROWS, getattr(X, "rows", ROWS), -(-len(X) // jobs))
        places = [slice(begin, begin + size) for begin in range(0, len(X), size)]
        calls = (delayed(nearest_centers)(self.metric_, w, centers, X[part], self._power, gaps) for part in places)
        found = each_in_jobs(calls, len(places), self.n_jobs, self.verbose, "nearest centers", "block")
        return [np.concatenate(of) for of in zip(*found, strict=True)]

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
    """Return the indices of k of n series to begin with.

    Parameters
    ----------
    init : {"k-means++", "random"}
        "k-means++": each is drawn in proportion to what it costs with those before.
    costs_from : callable
        Gives for indices of series the costs (n_indices, n) of all series with these as centers; of those above
        limits (n,) as much as it likes, if that is above them.
    sizes : pair of int
        n and k.
    rng : RandomState
        Of several draws that one is taken which lowers the sum most, as in scikit-learn.
    """
    n, k = sizes
    if init == "random":
        return rng.choice(n, k, replace=False).tolist()
    chosen = [int(rng.randint(n))]
    least = costs_from(chosen, np.full(n, np.inf))[0]
    trials = 2 + int(np.log(k))
    while len(chosen) < k:
        share = least - min(least.min(), 0.0)  # soft distances may be negative
        share[chosen] = 0.0
        if np.isinf(share).any():
            share = np.isinf(share).astype(float)
        if not share.any():  # copies of the chosen ones alone
            share = np.ones(n)
            share[chosen] = 0.0
        trial = rng.choice(n, trials, p=share / share.sum())
        costs = np.minimum(costs_from(trial, least), least)
        best = int(np.argmin(costs.sum(axis=1)))
        chosen.append(int(trial[best]))
        least = costs[best]
    return chosen

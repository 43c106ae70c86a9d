"""Base of the clusterers: costs of series with centers, assignment of series to them, and the best of several starts.

Costs are distances to a power. Centers are queries, and series are computed side by side as in the matrix of all
distances, so the results are the same to the bit. All are computed. Bounds that tell which ones cannot be the least
save a tenth of the time of a fit with 5 centers and a quarter with 20; they need three classes in place of a matrix.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..distances._collection import has_gaps, is_matrix
from ..distances._pairwise import collection_weight, distances_between, driver_of
from ..neighbors._collection_estimator import COUNT, SEED, CollectionEstimator
from ..utils._jobs import count_jobs, each_in_jobs, progress
from ..utils._names import warn
from ..utils._parameters import StrOptions
from ..utils._times import MetricLike, Sequences
from ..utils.validation import refused, shown


def nearest_centers(metric, w, centers, series, power, gaps):
    """Return the cheapest center of each series, of equally cheap ones the first, and what it costs."""
    costs = costs_between(metric, w, centers, series, power, gaps)
    labels = assigned(costs)
    return labels, own(costs, labels)


def own(costs, labels):
    """Return the costs of the series with one center each."""
    return costs[np.arange(len(labels)), labels]


def assigned(costs):
    """Return the cheapest center of each series (n_series, n_clusters), of equally cheap ones the first."""
    labels = costs.argmin(axis=1)
    far = np.flatnonzero(own(costs, labels) == np.inf)
    if len(far):
        rule, out = "have a finite distance from some center", "Widen the band, or take more clusters."
        got = f"none for series {shown(far.tolist())}, as it is where a band is narrower than lengths differ"
        raise refused("Each series", rule, got, out)
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
            got = f"n_samples={len(series)} should be >= n_clusters={self.n_clusters}"
            raise refused("'X'", "hold at least 'n_clusters' series", got, "Lower 'n_clusters'.")
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
        Gives for indices of series the costs (n_indices, n) of all series with these as centers.
    sizes : pair of int
        n and k.
    rng : RandomState
        Of several draws that one is taken which lowers the sum most, as in scikit-learn.
    """
    n, k = sizes
    if init == "random":
        return rng.choice(n, k, replace=False).tolist()
    chosen = [int(rng.randint(n))]
    least = costs_from(chosen)[0]
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
        costs = np.minimum(costs_from(trial), least)
        best = int(np.argmin(costs.sum(axis=1)))
        chosen.append(int(trial[best]))
        least = costs[best]
    return chosen

"""What both estimators share: centers that series are assigned to, and the best of several starts."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from ..distances._barycenters import random_numbers
from ..distances._collection import has_gaps, is_matrix
from ..distances._pairwise import collection_weight
from ..neighbors._collection_estimator import CollectionEstimator
from ..utils._jobs import count_jobs, each_in_jobs, progress
from ..utils._sklearn import Interval
from ..utils._warnings import warn
from ._costs import nearest_centers

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from ..utils._types import Sequences


STARTS = ["k-means++", "random"]
ROWS = 2**11  # series whose centers are searched for at once; of no influence on any result


class CollectionClusters(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, CollectionEstimator):
    """Base of the estimators that divide a collection among centers."""

    _power = 1.0  # of the distances that inertia adds up
    _parameter_constraints = {
        **CollectionEstimator._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": "no_validation",
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": "no_validation",
    }

    def _fit_clusters(self, X, name, unit):
        """The series and the best of the starts; `_starts` gives what runs one, and their number."""
        self._fit_collection(X)
        series = vars(self).pop("_series")
        collection_weight(self.weight, series, one_length=True)  # that of every center, which begins as a series
        self.metric_._check_sizes(series, series, ("X", "X"))
        rng = random_numbers(self.random_state)
        if len(series) < self.n_clusters:
            raise ValueError(
                f"'X' must hold at least 'n_clusters' series. Got n_samples={len(series)} should be >= n_clusters="
                f"{self.n_clusters}. Lower 'n_clusters'."
            )
        one_channel = self.n_channels_ == 1 and getattr(X, "ndim", 2) < 3
        self._flat = one_channel and (hasattr(X, "columns") or is_matrix(X) or np.ndim(X[0]) == 1)
        run, n_init = self._starts(series, rng)
        with progress(n_init if unit == "start" else None, self.verbose, name, unit) as count:
            runs = [run(count) for _ in range(n_init)]
        best = min(runs, key=lambda run: run.inertia)  # of equal ones the first
        self.labels_, self.inertia_, self.n_iter_ = best.labels, best.inertia, best.n_iter
        self._n_features_out = self.n_clusters
        found = len(np.unique(best.labels))
        if found < self.n_clusters:
            warn(
                f"Number of distinct clusters ({found}) found smaller than n_clusters ({self.n_clusters}). Lower "
                "'n_clusters', or try another 'init' or 'random_state'; 'X' may hold equal series.",
                ConvergenceWarning,
            )
        return series, best

    def _shown_centers(self, centers):
        """Centers (channels, m) in the layout of the collection."""
        centers = [np.asarray(z) for z in centers]  # without their times
        made = [z[0].copy() if self._flat else (z if self.channels_first else z.T).copy() for z in centers]
        return np.array(made) if len({z.shape for z in made}) == 1 else made

    def _nearest(self, X):
        """The nearest center of each series, and what it adds to the inertia."""
        X, centers, jobs = self._checked(X), self._centers, count_jobs(self.n_jobs)
        self.metric_._check_sizes(centers, X, ("X", "Y"))
        self.metric_._warn_of_scale(centers, X)
        w, gaps = collection_weight(self._used_weight, centers), has_gaps(X) or has_gaps(centers)
        size = min(ROWS, getattr(X, "rows", ROWS), -(-len(X) // jobs))
        places = [slice(begin, begin + size) for begin in range(0, len(X), size)]
        calls = (delayed(nearest_centers)(self.metric_, w, centers, X[part], self._power, gaps) for part in places)
        found = each_in_jobs(calls, len(places), self.n_jobs, self.verbose, "nearest centers", "block")
        return [np.concatenate(of) for of in zip(*found, strict=True)]

    def predict(self, X: Sequences) -> NDArray[np.intp]:
        """The nearest center of each series.

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
        """Distances of each series from all centers.

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
        """The negative inertia of series: what they add up to with their nearest centers.

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

    def fit_predict(self, X: Sequences, y: Any = None) -> NDArray[np.intp]:
        """Divide a collection, and give the label of each series.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The collection.
        y : ignored

        Returns
        -------
        ndarray of int of shape (n_series,)
            The same as `labels_`.
        """
        return self.fit(X).labels_


def drawn(init, costs_from, sizes, rng):
    """Indices of k of n series to begin with.

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

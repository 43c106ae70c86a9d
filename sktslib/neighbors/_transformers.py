"""Distances to a fitted collection, and sparse graphs of nearest neighbors, for estimators that take "precomputed"."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from ..distances._nearest import nearest_neighbors
from ..distances._pairwise import pairwise_blocks
from ..utils._names import warn
from ..utils._parameters import StrOptions
from ..utils._times import MetricLike, Sequences
from ..utils.validation import check_count, check_flag, refused
from ._collection_estimator import COUNT, MEMORY, CollectionEstimator, CollectionTransformer

SYMMETRIZE = {"mean": lambda a, b: 0.5 * a + 0.5 * b, "min": np.minimum, "max": np.maximum}


@dataclass(eq=False, repr=False, kw_only=True)
class PairwiseDistances(CollectionTransformer):
    """Distances of series to the series of the fitted collection.

    In a pipeline they are the input of an estimator with ``metric="precomputed"``, or features of any other.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
    symmetrize : {"mean", "min", "max"}, optional
        How to combine ``d(x, y)`` and ``d(y, x)``, for estimators that read one triangle of the matrix. None: rows hold
        the distances from a series to the fitted ones, and a warning appears if those among the fitted series are not
        symmetric, as with ``DTW(alpha=0.5)`` or weights of points.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,), (length, channels) or (1, channels), optional
        Relative weights of the points of the series to be transformed, which must then have one length, or only of
        their channels.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN), see :func:`sktslib.distances.pairwise_distances`.
    n_jobs : int, optional
        Number of threads; results do not depend on it.
    max_memory : int or str, optional
        Memory for the distances, in bytes or as text such as "500 MB", see
        :func:`sktslib.distances.pairwise_distances`. Results do not depend on it.
    channels_first : bool, optional
        Whether the channels come before time: arrays (n_series, channels, length), the layout of aeon and of the UCR
        archive, and lists of series (channels, length). None: they do not; an error or a warning appears if the series
        have one point, or all have more channels than points.
    verbose : int, default=0
        Above 0: a progress bar on stderr.

    Attributes
    ----------
    metric_ : Metric
        The metric object.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only if the collection was a matrix with one row per series.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sktslib.neighbors import PairwiseDistances
    >>> model = make_pipeline(PairwiseDistances("dtw"), KNeighborsClassifier(1, metric="precomputed"))
    >>> model.fit([[0, 1, 0], [0, 0, 1, 0], [2, 2, 2]], ["bump", "bump", "flat"]).predict([[0, 0, 0, 1, 0, 0]])
    array(['bump'], dtype='<U4')
    """

    symmetrize: str | None = None
    max_memory: int | str | None = None

    _parameter_constraints = {"symmetrize": [StrOptions({*SYMMETRIZE}), None], "max_memory": MEMORY}

    def _compared(self, X):
        """Return the distances of series to the fitted ones, as `symmetrize` says."""
        found = self._distances(X, self._series)
        itself = X is self._series
        if self.symmetrize is None and len(X) == len(self._series):
            size = np.abs(found[np.isfinite(found)]).max(initial=0.0)
            symmetric = np.allclose(found, found.T, 1e-9, 1e-12 * size, equal_nan=True)
            if not symmetric and (itself or all(map(np.array_equal, X, self._series))):
                warn(
                    "The distances are not symmetric, and estimators that take a matrix ('precomputed') may read one "
                    "triangle of it. Set symmetrize='mean', 'min' or 'max'; for nearest neighbors, which read rows, "
                    "filter this warning."
                )
        if self.symmetrize is None or (not itself and self.metric_._is_symmetric_with(self._used_weight)):
            return found
        return SYMMETRIZE[self.symmetrize](found, (found if itself else self._distances(self._series, X)).T)


def _nearest_observed(X, Y, metric, n_neighbors, *, n_jobs, max_memory, verbose, **rest):
    """Find nearest neighbors of series with missing values, from all distances; otherwise as `nearest_neighbors`."""
    (size, _), blocks = pairwise_blocks(X, Y, metric, (n_jobs, verbose, max_memory), nan_policy="omit", **rest)
    distances, indices = np.full((size, n_neighbors), np.nan), np.full((size, n_neighbors), -1)
    for rows, columns, found in blocks:
        found = np.hstack([distances[rows], found])  # NaN are behind everything
        numbers = np.hstack([indices[rows], np.tile(columns, (len(rows), 1))])
        order = np.lexsort((numbers, found), axis=1)[:, :n_neighbors]
        distances[rows], indices[rows] = (np.take_along_axis(a, order, axis=1) for a in (found, numbers))
    return distances, indices


def sparse_graph(distances, indices, counts, mode, n_fitted):
    """Return neighbors, equally many a row, as a sparse matrix whose rows keep their order, the nearest first."""
    data = np.ones(len(distances)) if mode == "connectivity" else distances
    return csr_matrix((data, indices, np.cumsum([0, *counts])), shape=(len(counts), n_fitted))


@dataclass(eq=False, repr=False)
class Neighbors(CollectionEstimator):
    """Base of the estimators with a number of neighbors."""

    metric: MetricLike = "dtw"
    _: KW_ONLY
    n_neighbors: int = 5
    max_memory: int | str | None = None

    _parameter_constraints = {"n_neighbors": COUNT, "max_memory": MEMORY}

    def kneighbors(
        self, X: Sequences | None = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the nearest fitted series.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series. None: the fitted ones, none of which is its own neighbor.
        n_neighbors : int, optional
            How many; None: the parameter.
        return_distance : bool, default=True
            Whether to return the distances as well.

        Returns
        -------
        distances : ndarray of shape (n_series, n_neighbors)
            Ascending along rows; only with `return_distance`.
        indices : ndarray of int of shape (n_series, n_neighbors)
            Indices of the fitted series; ties by index.
        """
        check_is_fitted(self)
        count = check_count(self.n_neighbors if n_neighbors is None else n_neighbors, "n_neighbors")
        found = self._without_self(count) if X is None else self._nearest(self._checked(X), count)
        return found if check_flag(return_distance, "return_distance") else found[1]

    def _nearest(self, series, count):
        if count > len(self._series):
            rule = f"not exceed the {len(self._series)} fitted series, each itself counted where it is among them"
            raise refused("'n_neighbors'", rule, f"{count}; lower it")
        nearest = nearest_neighbors if self.nan_policy == "raise" else _nearest_observed
        return tuple(nearest(series, self._series, self.metric_, count, **self._options))

    def _without_self(self, count):
        distances, indices = self._nearest(self._series, count + 1)
        own = indices == np.arange(len(indices))[:, np.newaxis]
        own[~own.any(axis=1), -1] = True  # among copies of itself a series may not be listed
        return distances[~own].reshape(-1, count), indices[~own].reshape(-1, count)


@dataclass(eq=False, repr=False, kw_only=True)
class KNeighborsTimeSeriesTransformer(CollectionTransformer, Neighbors):
    """The graph of nearest neighbors in the fitted collection, after scikit-learn's ``KNeighborsTransformer``.

    The graph is the input of estimators with ``metric="precomputed"``, such as Isomap, DBSCAN or t-SNE.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
    mode : {"distance", "connectivity"}, default="distance"
        The entries of the graph. With "distance" a row has ``n_neighbors + 1`` entries, since each fitted series counts
        as its own first neighbor, which the following estimators ignore.
    n_neighbors : int, default=5
        Number of neighbors.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,), (length, channels) or (1, channels), optional
        Relative weights of the points of the series to be transformed, which must then have one length, or only of
        their channels.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN), see :func:`sktslib.distances.pairwise_distances`.
    n_jobs : int, optional
        Number of threads; results do not depend on it.
    max_memory : int or str, optional
        Memory for a search for neighbors, in bytes or as text such as "2GB", see
        :func:`sktslib.distances.nearest_neighbors`. Neighbors do not depend on it.
    channels_first : bool, optional
        Whether the channels come before time: arrays (n_series, channels, length), the layout of aeon and of the UCR
        archive, and lists of series (channels, length). None: they do not; an error or a warning appears if the series
        have one point, or all have more channels than points.
    verbose : int, default=0
        Above 0: a progress bar on stderr.

    Attributes
    ----------
    metric_ : Metric
        The metric object.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only if the collection was a matrix with one row per series.

    Examples
    --------
    >>> from sktslib.neighbors import KNeighborsTimeSeriesTransformer
    >>> graph = KNeighborsTimeSeriesTransformer(n_neighbors=1).fit_transform([[0, 1, 0], [0, 0, 1, 0], [2, 2, 2]])
    >>> graph.toarray()
    array([[0., 0., 0.],
           [0., 0., 0.],
           [9., 0., 0.]])
    """

    mode: str = "distance"

    _parameter_constraints = {"mode": [StrOptions({"distance", "connectivity"})]}

    def _compared(self, X):
        """Return the graph of the fitted series nearest to each series, rows with the nearest first."""
        count = int(self.n_neighbors) + (self.mode == "distance")
        distances, indices = self._nearest(X, count)
        return sparse_graph(distances.ravel(), indices.ravel(), [count] * len(X), self.mode, len(self._series))

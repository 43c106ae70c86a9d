"""Nearest neighbors in a fitted collection: distances and graphs for estimators that take "precomputed"; predictions.

Classification uses the vote of the neighbors, regression their mean.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from ..distances._nearest import nearest_neighbors
from ..distances._pairwise import pairwise_blocks
from ..utils._names import warn
from ..utils._parameters import StrOptions
from ..utils._times import MetricLike, Sequences
from ..utils.validation import check_count, check_flag, refused, shown
from ._collection_estimator import COUNT, CollectionEstimator, CollectionTransformer, read_classes
from ._metric_weights import MetricWeights

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

    _parameter_constraints = {"symmetrize": [StrOptions({*SYMMETRIZE}), None]}

    def _compared(self, X):
        """Return the distances of series to the fitted ones, made symmetric as `symmetrize` says."""
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


def _nearest_observed(X, Y, metric, n_neighbors, *, n_jobs, verbose, **rest):
    """Find nearest neighbors of series with missing values from all distances; otherwise like `nearest_neighbors`."""
    (size, _), blocks = pairwise_blocks(X, Y, metric, (n_jobs, verbose), nan_policy="omit", **rest)
    distances, indices = np.full((size, n_neighbors), np.nan), np.full((size, n_neighbors), -1)
    for rows, columns, found in blocks:
        found = np.hstack([distances[rows], found])  # NaN sorts last
        numbers = np.hstack([indices[rows], np.tile(columns, (len(rows), 1))])
        order = np.lexsort((numbers, found), axis=1)[:, :n_neighbors]
        distances[rows], indices[rows] = (np.take_along_axis(a, order, axis=1) for a in (found, numbers))
    return distances, indices


@dataclass(eq=False, repr=False)
class Neighbors(CollectionEstimator):
    """Base of the estimators with a number of neighbors."""

    metric: MetricLike = "dtw"
    _: KW_ONLY
    n_neighbors: int = 5

    _parameter_constraints = {"n_neighbors": COUNT}

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
        own[~own.any(axis=1), -1] = True  # a series with many copies may not be among its own neighbors
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
        data = np.ones(distances.size) if self.mode == "connectivity" else distances.ravel()
        # Entries of a row keep their order, the nearest first.
        return csr_matrix((data, indices.ravel(), count * np.arange(len(X) + 1)), (len(X), len(self._series)))


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedNeighbors(Neighbors):
    """Base of the estimators that predict from the targets of the nearest neighbors."""

    n_neighbors: int = 1
    weights: str = "uniform"

    _parameter_constraints = {"weights": [StrOptions({"uniform", "distance"})]}

    def _weighed(self, X):
        """Return the nearest neighbors of each series, their weights (n_series, n_neighbors), and the sums of these."""
        distances, indices = self._nearest(self._checked(X), self.n_neighbors)
        far = np.isinf(distances)
        nobody = np.flatnonzero(far.all(axis=1))
        if len(nobody):
            got = f"none for series {shown(nobody.tolist())} by {self.metric_}: too few points are observed in both"
            got += ", no path fits the band, or the metric is infinite for constant series"
            out = "Leave these series out, or use a metric or a band that reaches others."
            raise refused("The series to predict", "be at a finite distance from some fitted series", got, out)
        weights = np.ones_like(distances)
        if self.weights == "distance":
            with np.errstate(divide="ignore", over="ignore"):
                weights = 1.0 / distances
            same = np.isinf(weights)  # from distances that are 0 or too small to invert
            weights = np.where(same.any(axis=1, keepdims=True), same, weights)
        weights = np.where(far, 0.0, weights)  # infinitely far neighbors have no vote
        return indices, weights, weights.sum(axis=1)


class KNeighborsTimeSeriesClassifier(ClassifierMixin, WeightedNeighbors):
    """Classification of series of any length by the vote of the nearest neighbors.

    Results equal those of a pipeline of `PairwiseDistances` and ``KNeighborsClassifier(metric="precomputed")``, without
    the distances among the training series, which that pipeline computes without need.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
    n_neighbors : int, default=1
        Number of neighbors.
    weights : {"uniform", "distance"}, default="uniform"
        Weight of the neighbors' votes, as in ``KNeighborsClassifier``; equal votes go to the first class.
    metric_params : dict, optional
        Parameters of the metric.
    weight : MetricWeights or array-like of shape (length,), (length, channels) or (1, channels), optional
        Relative weights of the points of the series to be classified, which must then have one length, or only of their
        channels. With a :class:`MetricWeights` `fit` learns them from the training series.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN), see :func:`sktslib.distances.pairwise_distances`.
    n_jobs : int, optional
        Number of threads; results do not depend on it.
    channels_first : bool, optional
        Whether the channels come before time: arrays (n_series, channels, length), the layout of aeon and of the UCR
        archive, and lists of series (channels, length). None: they do not; an error or a warning appears if the series
        have one point, or all have more channels than points.
    verbose : int, default=0
        Above 0: a progress bar on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    metric_ : Metric
        The metric object.
    metric_weights_ : MetricWeights
        The fitted `MetricWeights`; only if they learn the weights.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only if the collection was a matrix with one row per series.

    Examples
    --------
    >>> from sktslib.neighbors import KNeighborsTimeSeriesClassifier
    >>> classifier = KNeighborsTimeSeriesClassifier("dtw").fit([[0, 1, 0], [2, 2, 2, 2]], ["bump", "flat"])
    >>> classifier.predict([[0, 0, 0, 1, 0, 0]])
    array(['bump'], dtype='<U4')
    """

    _parameter_constraints = {"weight": [MetricWeights, "array-like", None]}

    def fit(self, X: Sequences, y: ArrayLike) -> Self:
        """Keep the collection and its classes.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The collection.
        y : array-like of shape (n_series,)
            The class of each series.

        Returns
        -------
        KNeighborsTimeSeriesClassifier
            Itself.
        """
        self._fit_collection(X)
        self.classes_, self._labels = read_classes(y, self._series)
        if isinstance(self.weight, MetricWeights):
            self.metric_weights_ = self.weight._learned_within(self, self._series, self._labels)
        return self

    def _votes(self, X):
        """Return votes for each class, (n_series, n_classes)."""
        indices, weights, _ = self._weighed(X)
        votes = np.zeros((len(indices), len(self.classes_)))
        np.add.at(votes, (np.arange(len(votes))[:, np.newaxis], self._labels[indices]), weights)
        return votes

    def predict(self, X: Sequences) -> NDArray[Any]:
        """Predict the class of each series.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.

        Returns
        -------
        ndarray of shape (n_series,)
        """
        votes = self._votes(X)
        return self.classes_[votes.argmax(axis=1)]

    def predict_proba(self, X: Sequences) -> NDArray[np.float64]:
        """Return the share of the votes of each class.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.

        Returns
        -------
        ndarray of shape (n_series, n_classes)
        """
        votes = self._votes(X)
        return votes / votes.sum(axis=1, keepdims=True)

    def score(self, X: Sequences, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of series whose class is predicted.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.
        y : array-like of shape (n_series,)
            Their classes.
        sample_weight : array-like of shape (n_series,), optional
            How much each series counts.

        Returns
        -------
        float
            In [0, 1].
        """
        return super().score(X, y, sample_weight)


class KNeighborsTimeSeriesRegressor(MultiOutputMixin, RegressorMixin, WeightedNeighbors):
    """Regression for series of any length by the mean of the nearest neighbors' targets.

    Results equal those of a pipeline of `PairwiseDistances` and ``KNeighborsRegressor(metric="precomputed")``, without
    the distances among the training series, which that pipeline computes without need.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
    n_neighbors : int, default=1
        Number of neighbors.
    weights : {"uniform", "distance"}, default="uniform"
        Weight of the neighbors in the mean, as in ``KNeighborsRegressor``.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,), (length, channels) or (1, channels), optional
        Relative weights of the points of the series to be predicted for, which must then have one length, or only of
        their channels.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN), see :func:`sktslib.distances.pairwise_distances`.
    n_jobs : int, optional
        Number of threads; results do not depend on it.
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
    >>> from sktslib.neighbors import KNeighborsTimeSeriesRegressor
    >>> regressor = KNeighborsTimeSeriesRegressor("dtw", n_neighbors=2).fit([[0, 1, 0], [0, 2, 0], [9, 9]], [1, 2, 9])
    >>> regressor.predict([[0, 0, 0, 1, 0, 0]])
    array([1.5])
    """

    def fit(self, X: Sequences, y: ArrayLike) -> Self:
        """Keep the collection and its targets.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The collection.
        y : array-like of shape (n_series,) or (n_series, n_outputs)
            The target of each series, or several.

        Returns
        -------
        KNeighborsTimeSeriesRegressor
            Itself.

        Raises
        ------
        TypeError
            If `y` holds text.
        ValueError
            If `y` is missing, not finite, or does not have one target per series.
        """
        self._fit_collection(X)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Pass one number or one row "
                "per series."
            )
        if any(isinstance(value, str) for value in np.asarray(y).flat):
            raise TypeError(
                "'y' must hold real numbers, the targets. Got text. For classes use KNeighborsTimeSeriesClassifier; "
                "if it spells numbers, pass numpy.asarray(y, dtype=float)."
            )
        y = check_array(y, ensure_2d=False, dtype=float, input_name="y")
        check_consistent_length(self._series, y)
        self._targets = y.copy()
        return self

    def predict(self, X: Sequences) -> NDArray[np.float64]:
        """Predict the target of each series.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.

        Returns
        -------
        ndarray of shape (n_series,) or (n_series, n_outputs)
        """
        indices, weights, total = self._weighed(X)
        targets = self._targets.reshape(len(self._targets), -1)
        means = (weights[..., np.newaxis] * targets[indices]).sum(axis=1) / total[:, np.newaxis]
        return means.reshape(-1, *self._targets.shape[1:])

    def score(self, X: Sequences, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the coefficient of determination of the predictions.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.
        y : array-like of shape (n_series,) or (n_series, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_series,), optional
            How much each series counts.

        Returns
        -------
        float
            At most 1.
        """
        return super().score(X, y, sample_weight)

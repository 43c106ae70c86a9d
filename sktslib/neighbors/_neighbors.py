"""Predictions from nearest neighbors: classification by their vote and regression by their mean.

Both estimators share the number of neighbors and their weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length

from ..utils._parameters import StrOptions
from ..utils._times import Sequences
from ..utils.validation import shown
from ._collection_estimator import read_classes
from ._metric_weights import MetricWeights
from ._transformers import Neighbors


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedNeighbors(Neighbors):
    """Base of the estimators whose predictions are made of the nearest neighbors' targets."""

    n_neighbors: int = 1
    weights: str = "uniform"

    _parameter_constraints = {"weights": [StrOptions({"uniform", "distance"})]}

    def _weighed(self, X):
        """Return each series' nearest neighbors, their weights (n_series, n_neighbors) and the sums of these."""
        distances, indices = self._nearest(self._checked(X), self.n_neighbors)
        far = np.isinf(distances)
        nobody = np.flatnonzero(far.all(axis=1))
        if len(nobody):
            raise ValueError(
                f"The series to predict must be at a finite distance from some fitted series. Got none for series "
                f"{shown(nobody.tolist())} by {self.metric_}: too few points are observed in both, no path fits the "
                "band, or the metric is infinite for constant series. Leave these series out, or take a metric or a "
                "band that reaches others."
            )
        weights = np.where(far, 0.0, self._of_neighbors(distances))  # what is infinitely far has no vote
        return indices, weights, weights.sum(axis=1)

    def _of_neighbors(self, distances):
        """Return the weights of neighbors at these distances."""
        if self.weights == "uniform":
            return 1.0
        with np.errstate(divide="ignore", over="ignore"):
            near = 1.0 / distances
        same = np.isinf(near)  # of distances that are 0, or too small for this
        return np.where(same.any(axis=1, keepdims=True), same, near)


class KNeighborsTimeSeriesClassifier(ClassifierMixin, WeightedNeighbors):
    """Classification of series of any length by the vote of the nearest neighbors.

    Results equal those of a pipeline of `PairwiseDistances` and ``KNeighborsClassifier(metric="precomputed")``, without
    the distances among the training series, which that pipeline computes in vain.

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
    the distances among the training series, which that pipeline computes in vain.

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
            If `y` is missing, not finite, or has not one target a series.
        """
        self._fit_collection(X)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Pass one number or one row "
                "a series."
            )
        if any(isinstance(value, str) for value in np.asarray(y).flat):
            raise TypeError(
                "'y' must hold real numbers, the targets. Got text. For classes take KNeighborsTimeSeriesClassifier; "
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

"""Classification by the vote of nearest neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import ClassifierMixin

from ._collection_estimator import read_classes
from ._metric_weights import MetricWeights
from ._weighted_neighbors import WeightedNeighbors

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

    from ..utils._types import Sequences


class KNeighborsTimeSeriesClassifier(ClassifierMixin, WeightedNeighbors):
    """Classification by the vote of the nearest neighbors, scikit-learn's over series of any length.

    The same as a pipeline of `PairwiseDistances` and ``KNeighborsClassifier(metric="precomputed")``, without the
    distances among the training series, which that pipeline computes for nothing.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
    n_neighbors : int, default=1
        Number of neighbors.
    weights : {"uniform", "distance"} or callable, default="uniform"
        Weight of the neighbors' votes, as in ``KNeighborsClassifier``; equal votes go to the first class.
    metric_params : dict, optional
        Parameters of the metric.
    weight : MetricWeights or array-like of shape (length,), (length, channels) or (1, channels), optional
        Relative weights of the points of the series to be classified, which must have one length then, or of their
        channels alone. :class:`MetricWeights`: they are learned from what the classifier is fitted on.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN), see :func:`sktslib.distances.pairwise_distances`.
    n_jobs : int, optional
        Number of threads; no result depends on it.
    max_memory : int or str, optional
        Bytes that a search for neighbors may take beside the collections and its result, or text such as "2GB", see
        :func:`sktslib.distances.nearest_neighbors`. No neighbor depends on it.
    channels_first : bool, optional
        Whether the channels come before time: arrays (n_series, channels, length), the layout of aeon and of the UCR
        archive, and lists of series (channels, length). None: they do not, but an error or a warning says so where
        series have one point, or all have more channels than points.
    verbose : int, default=0
        Above 0: a bar on stderr shows how far the work has come.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    metric_ : Metric
        The metric object.
    metric_weights_ : MetricWeights
        The fitted weights, with `weight_`; only where they are learned.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only where the collection came as a matrix, one row a series.

    Examples
    --------
    >>> from sktslib.neighbors import KNeighborsTimeSeriesClassifier
    >>> classifier = KNeighborsTimeSeriesClassifier("dtw").fit([[0, 1, 0], [2, 2, 2, 2]], ["bump", "flat"])
    >>> classifier.predict([[0, 0, 0, 1, 0, 0]])
    array(['bump'], dtype='<U4')
    """

    _learns_weights = True

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
        """Votes for each class, (n_series, n_classes)."""
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
        """Share of the votes of each class.

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
        """Share of series whose class is predicted.

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

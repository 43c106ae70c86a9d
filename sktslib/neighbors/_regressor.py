"""Regression by the mean of nearest neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length

from ._weighted_neighbors import WeightedNeighbors

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from ..utils._types import Sequences


class KNeighborsTimeSeriesRegressor(MultiOutputMixin, RegressorMixin, WeightedNeighbors):
    """Regression by the mean of the nearest neighbors' targets, scikit-learn's over series of any length.

    The same as a pipeline of `PairwiseDistances` and ``KNeighborsRegressor(metric="precomputed")``, without the
    distances among the training series, which that pipeline computes for nothing.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
    n_neighbors : int, default=1
        Number of neighbors.
    weights : {"uniform", "distance"} or callable, default="uniform"
        Weight of the neighbors in the mean, as in ``KNeighborsRegressor``.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,), (length, channels) or (1, channels), optional
        Relative weights of the points of the series to be predicted for, which must have one length then, or of their
        channels alone.
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
    metric_ : Metric
        The metric object.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only where the collection came as a matrix, one row a series.

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
        """Coefficient of determination of the predictions.

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

"""Distances to the fitted collection, for estimators that take "precomputed"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..utils._names import warn
from ..utils._parameters import StrOptions
from ._collection_estimator import MEMORY, CollectionTransformer

SYMMETRIZE = {"mean": lambda a, b: 0.5 * a + 0.5 * b, "min": np.minimum, "max": np.maximum}


@dataclass(eq=False, repr=False, kw_only=True)
class PairwiseDistances(CollectionTransformer):
    """Distances of series to the series of the fitted collection.

    In a pipeline it feeds every estimator that takes ``metric="precomputed"``, or any other as features.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
    symmetrize : {"mean", "min", "max"}, optional
        Combine ``d(x, y)`` and ``d(y, x)``, for estimators that read one triangle of the matrix. None: rows hold the
        distances from a series to the fitted ones, and a warning says where those of the fitted series among
        themselves are not symmetric, as with ``DTW(alpha=0.5)`` or weights of points.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,), (length, channels) or (1, channels), optional
        Relative weights of the points of the series to be transformed, which must have one length then, or of their
        channels alone.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN), see :func:`sktslib.distances.pairwise_distances`.
    n_jobs : int, optional
        Number of threads; no result depends on it.
    max_memory : int or str, optional
        Bytes that the distances may use besides the collections and the result, or text such as "500 MB", see
        :func:`sktslib.distances.pairwise_distances`. No result depends on it.
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

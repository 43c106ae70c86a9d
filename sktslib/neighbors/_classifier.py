"""Classification by the vote of nearest neighbours."""

from scipy.sparse import identity
from sklearn.base import ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier

from ..utils._sklearn import StrOptions
from ._neighbors import Neighbors


class KNeighborsTimeSeriesClassifier(ClassifierMixin, Neighbors):
    """Classification by the vote of the nearest neighbours, scikit-learn's over series of any length.

    The same as a pipeline of `PairwiseDistances` and ``KNeighborsClassifier(metric="precomputed")``, without the
    distances among the training series, which that pipeline computes for nothing.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
    n_neighbors : int, default=1
        Number of neighbours.
    weights : {"uniform", "distance"} or callable, default="uniform"
        Weight of the neighbours' votes, as in ``KNeighborsClassifier``.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,) or (length, channels), optional
        Relative weights of the points of the series to be classified, which must have one length then.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN), see :func:`sktslib.distances.pairwise_distances`.
    n_jobs : int, optional
        Number of threads; no result depends on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    metric_ : Metric
        The metric object.
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

    _parameter_constraints = {
        **Neighbors._parameter_constraints,
        "weights": [StrOptions({"uniform", "distance"}), callable],
    }

    def __init__(
        self,
        metric="dtw",
        *,
        n_neighbors=1,
        weights="uniform",
        metric_params=None,
        weight=None,
        nan_policy="raise",
        n_jobs=None,
    ):
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric_params = metric_params
        self.weight = weight
        self.nan_policy = nan_policy
        self.n_jobs = n_jobs

    def fit(self, X, y):
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
        n = len(self._series)
        # scikit-learn counts the votes; the training graph itself is never looked at.
        votes = KNeighborsClassifier(self.n_neighbors, weights=self.weights, metric="precomputed", algorithm="brute")
        self._votes = votes.fit(identity(n, format="csr"), y)
        self.classes_ = votes.classes_
        return self

    def _neighbor_graph(self, X):
        return self._graph(*self._nearest(self._door(X), self.n_neighbors), "distance")

    def predict(self, X):
        """Predict the class of each series.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.

        Returns
        -------
        ndarray of shape (n_series,)
        """
        graph = self._neighbor_graph(X)
        return self._votes.predict(graph)

    def predict_proba(self, X):
        """Share of the votes of each class.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.

        Returns
        -------
        ndarray of shape (n_series, n_classes)
        """
        graph = self._neighbor_graph(X)
        return self._votes.predict_proba(graph)

    def score(self, X, y, sample_weight=None):
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

"""Distances of series to several queries, wherever these lie in them: the shapelet transform."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import delayed
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ..distances._collection import as_collection
from ..distances._series import NORMALIZATIONS
from ..search._comparison import MODES, Comparison, resolve_mode, warn_of_query, warn_of_sequences, with_metric
from ..search._missing import observed_query
from ..search._profile import Choice, Search
from ..search._query import named
from ..search._several import chosen
from ..utils._jobs import in_jobs
from ..utils._sklearn import Interval, StrOptions, names_out
from ..utils.validation import as_weight, plain_count
from ._collection_estimator import CollectionEstimator

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

    from ..utils._types import MetricLike, Sequences


class QueryMatches(NamedTuple):
    """Where each query lies best in each series, and how far it is: three arrays (n_series, n_queries).

    Ranges are half-open ``[start, end)`` in samples; without a candidate they are -1 and the distance infinite.
    """

    start: np.ndarray
    end: np.ndarray
    distance: np.ndarray


class QueryDistances(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CollectionEstimator):
    """Distance of each series to its best match with each of several queries (Lines et al. 2012).

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
    queries : array-like of shape (n_queries, m) or (n_queries, m, channels), or list or dict of series, optional
        The queries; a list, or a dict by their names, may hold queries of different lengths. None: the series given to
        `fit`.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the points of every query, which must have one length then.
    mode : {"auto", "windows", "subsequence"}, default="auto"
        Candidates: all windows of the query's length, or subsequences of any length, open at begin and end (elastic
        metrics only). "auto" takes windows for lockstep metrics and where `normalize` is set.
    normalize : {None, "zscore", "mean", "minmax", "robust"}, default=None
        How query and each window are normalised, per channel and by weighted moments.
    min_length, max_length : int, optional
        Bounds of the length of matches of a subsequence search, in samples.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": missing query points count nothing; windows are compared by what
        is observed of them, at least half of the weight; matches of a subsequence search do not cross a missing point.
    n_jobs : int, optional
        Number of threads; no result depends on it.
    channels_first : bool, optional
        Whether the channels come before time: arrays (n_series, channels, length), the layout of aeon and of the UCR
        archive, and lists of series (channels, length). None: they do not, but an error or a warning says so where
        series have one point, or all have more channels than points.
    verbose : int, default=0
        Above 0: a bar on stderr shows how far the work has come.

    Attributes
    ----------
    queries_ : list of ndarray of shape (m, channels)
        The queries.
    metric_ : Metric
        The metric object.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only where the collection came as a matrix, one row a series.

    References
    ----------
    Lines J, Davis LM, Hills J, Bagnall A. A shapelet transform for time series classification. KDD 2012.

    Examples
    --------
    >>> from sktslib.neighbors import QueryDistances
    >>> distances = QueryDistances("euclidean", queries=[[0, 1, 0], [2, 2]]).fit([[0, 0, 1, 0, 2], [2, 2, 2, 3, 2]])
    >>> distances.transform([[0, 0, 1, 0, 2], [2, 2, 2, 3, 2]]).round(2)
    array([[0., 2.],
           [3., 0.]])
    >>> distances.locate([[0, 0, 1, 0, 2]]).start
    array([[1, 3]])
    """

    _parameter_constraints = {
        **CollectionEstimator._parameter_constraints,
        "queries": "no_validation",
        "mode": [StrOptions({*MODES, "warped"}, deprecated={"warped"})],
        "normalize": [StrOptions(set(NORMALIZATIONS) - {None}), None],
        "min_length": [Interval(Integral, 1, None, closed="left"), None],
        "max_length": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        metric: MetricLike = "dtw",
        *,
        queries: Any = None,
        metric_params: dict[str, Any] | None = None,
        weight: ArrayLike | None = None,
        mode: str = "auto",
        normalize: str | None = None,
        min_length: int | str | None = None,
        max_length: int | None = None,
        nan_policy: str = "raise",
        n_jobs: int | None = None,
        channels_first: bool | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            metric,
            metric_params=metric_params,
            weight=weight,
            nan_policy=nan_policy,
            n_jobs=n_jobs,
            channels_first=channels_first,
            verbose=verbose,
        )
        self.queries = queries
        self.mode = mode
        self.normalize = normalize
        self.min_length = min_length
        self.max_length = max_length

    def fit(self, X: Sequences, y: ArrayLike | None = None) -> Self:
        """Take the queries.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            A collection; its series are the queries unless the parameter `queries` is set.
        y : ignored

        Returns
        -------
        QueryDistances
            Itself.
        """
        self._fit_collection(X)
        mode = resolve_mode(self.metric_, self.mode, self.normalize)
        given, self._query_names = vars(self).pop("_series"), None
        if self.queries is not None:
            missing = self.nan_policy == "omit"
            self._query_names, queries = named(self.queries, "queries")
            rest = {"missing": missing, "channels_first": bool(self.channels_first)}
            given = [x.copy() for x in as_collection(queries, "queries", self.n_channels_, **rest)]
        read = [observed_query(x, as_weight(self.weight, x.shape[1], len(x))) for x in given]
        queries = [Comparison(self.metric_, x, w, None, mode, self.normalize) for x, w in read]
        for how in queries:
            warn_of_query(how)
        self._queries = with_metric(self._made_metric(), queries)
        self.metric_ = self._queries[0].metric
        self.queries_ = [how.x.T for how in self._queries]
        self._n_features_out = len(self._queries)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of `transform`.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str of shape (n_queries,)
            ``querydistances_`` and the query's name, where `queries` is a dict; else ``querydistances`` and its number.
        """
        names = super().get_feature_names_out(input_features)
        return names if self._query_names is None else names_out(self, self._query_names)

    def transform(self, X: Sequences) -> NDArray[np.float64]:
        """Distance of the best match of each query in each series.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.

        Returns
        -------
        ndarray of shape (n_series, n_queries)
            A series without a candidate has the query's largest finite value of the call, or 0 where there is none.
        """
        distance = self.locate(X).distance
        finite = np.isfinite(distance)
        largest = np.max(distance, axis=0, where=finite, initial=0.0)
        return np.where(finite, distance, largest)

    def locate(self, X: Sequences) -> QueryMatches:
        """Where the best match of each query lies in each series.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            The series.

        Returns
        -------
        QueryMatches
            Named arrays ``start``, ``end`` and ``distance`` of shape (n_series, n_queries).
        """
        series = self._checked(X)
        limits = plain_count(self.min_length), plain_count(self.max_length)
        warn_of_sequences(self._queries, series)

        def best(y, how):
            search = Search.of(how._replace(limits=limits), y)
            found = chosen(search, search.profile(), Choice(n_matches=1))
            return [column[0] for column in found[:3]] if len(found.start) else (-1, -1, np.inf)

        calls = [delayed(best)(y, how) for y in series for how in self._queries]
        found = in_jobs(calls, self.n_jobs, self.verbose, "query distances", "search")
        start, end, distance = np.array(found, dtype=float).reshape(len(series), -1, 3).transpose(2, 0, 1)
        return QueryMatches(start.astype(np.int64), end.astype(np.int64), np.ascontiguousarray(distance))

"""Distances of series to several queries, wherever these lie in them: the shapelet transform."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import delayed
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ..distances._barycenters import random_numbers
from ..distances._collection import as_collection
from ..distances._series import NORMALIZATIONS
from ..search._comparison import MODES, Comparison, resolve_mode, warn_of_query, warn_of_sequences, with_metric
from ..search._profiles.missing import observed_query
from ..search._query import named
from ..utils._jobs import each_in_jobs
from ..utils._sklearn import Interval, StrOptions, names_out
from ..utils._warnings import warn
from ..utils.validation import as_weight, plain_count, shown
from ._collection_estimator import CollectionEstimator, read_classes
from ._shapelets import CRITERIA, SHORTEST, Shapelet, Task, best_match, select

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

    from ..utils._types import MetricLike, Sequences


class QueryMatches(NamedTuple):
    """Where each query lies best in each series, and how far it is: three arrays (n_series, n_queries).

    Attributes
    ----------
    start, end : ndarray of int of shape (n_series, n_queries)
        Half-open ranges ``[start, end)`` in samples; -1 without a candidate.
    distance : ndarray of shape (n_series, n_queries)
        The distances; infinite without a candidate.

    Examples
    --------
    >>> from sktslib.neighbors import QueryDistances
    >>> query_distances = QueryDistances("euclidean", queries=[[1, 2]]).fit([[0, 1, 2, 0], [1, 2, 0, 0]])
    >>> query_distances.locate([[0, 0, 1, 2]]).start
    array([[2]])
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
        `fit`, or what is learned from them.
    n_queries : int, optional
        Number of queries to learn from labeled series: pieces of them (shapelets) whose distances tell the classes
        apart, as many of each class. None: nothing is learned.
    n_candidates : int, default=1000
        Pieces that are drawn and compared with all series to learn; all of them where there are no more.
    query_lengths : pair of int, optional
        The shortest and the longest piece that is drawn, in samples. None: 3, and half of the shortest series.
    criterion : {"information_gain", "f_statistic"}, default="information_gain"
        What pieces are ranked by: the bits that one threshold on their distances tells of their own class against the
        others (Bostrom & Bagnall 2017), or the variance of distances between all classes over that within.
    random_state : int, RandomState or None
        Draws the pieces.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the points of every query, which must have one length then.
    mode : {"auto", "windows", "subsequence"}, default="auto"
        Candidates: all windows of the query's length, or subsequences of any length, open at begin and end (elastic
        metrics only). "auto" takes windows for lockstep metrics and where `normalize` is set.
    normalize : {None, "zscore", "mean", "minmax", "robust"}, default=None
        How query and each window are normalized, per channel and by weighted moments.
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
    shapelets_ : list of Shapelet
        Where learned queries come from: ``series``, ``start``, ``length``, ``score`` and ``label``, the class it stands
        for; only with `n_queries`.
    metric_ : Metric
        The metric object.
    n_channels_ : int
        Number of channels.
    n_features_in_ : int
        Length of the series; only where the collection came as a matrix, one row a series.

    References
    ----------
    Lines J, Davis LM, Hills J, Bagnall A. A shapelet transform for time series classification. KDD 2012.

    Ye L, Keogh E. Time series shapelets: a new primitive for data mining. KDD 2009.

    Bostrom A, Bagnall A. Binary shapelet transform for multiclass time series classification. Transactions on
    Large-Scale Data- and Knowledge-Centered Systems XXXII, 2017.

    Examples
    --------
    >>> from sktslib.neighbors import QueryDistances
    >>> distances = QueryDistances("euclidean", queries=[[0, 1, 0], [2, 2]]).fit([[0, 0, 1, 0, 2], [2, 2, 2, 3, 2]])
    >>> distances.transform([[0, 0, 1, 0, 2], [2, 2, 2, 3, 2]]).round(2)
    array([[0., 2.],
           [3., 0.]])
    >>> distances.locate([[0, 0, 1, 0, 2]]).start
    array([[1, 3]])

    Learned queries:

    >>> X = [[0, 0, 5, 0, 0, 0], [0, 0, 0, 5, 0, 0], [0, 0, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]]
    >>> learned = QueryDistances("euclidean", n_queries=2, random_state=0).fit(X, ["peak", "peak", "step", "step"])
    >>> [(shapelet.label, shapelet.length, shapelet.score) for shapelet in learned.shapelets_]
    [('peak', 3, 1.0), ('step', 3, 1.0)]
    """

    _compares_pairs = False
    _parameter_constraints = {
        **CollectionEstimator._parameter_constraints,
        "queries": "no_validation",
        "n_queries": [Interval(Integral, 1, None, closed="left"), None],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "query_lengths": "no_validation",
        "criterion": [StrOptions(set(CRITERIA))],
        "random_state": "no_validation",
        "mode": [StrOptions({*MODES})],
        "normalize": [StrOptions(set(NORMALIZATIONS) - {None}), None],
        "min_length": [Interval(Integral, 1, None, closed="left"), None],
        "max_length": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        metric: MetricLike = "dtw",
        *,
        queries: Any = None,
        n_queries: int | None = None,
        n_candidates: int = 1000,
        query_lengths: tuple[int, int] | None = None,
        criterion: str = "information_gain",
        random_state: Any = None,
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
        self.n_queries = n_queries
        self.n_candidates = n_candidates
        self.query_lengths = query_lengths
        self.criterion = criterion
        self.random_state = random_state
        self.mode = mode
        self.normalize = normalize
        self.min_length = min_length
        self.max_length = max_length

    def fit(self, X: Sequences, y: ArrayLike | None = None) -> Self:
        """Take the queries, or learn them.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
            A collection; its series are the queries unless one of the parameters `queries` and `n_queries` is set.
        y : array-like of shape (n_series,), optional
            The class of each series; only `n_queries` reads it.

        Returns
        -------
        QueryDistances
            Itself.

        Raises
        ------
        TypeError
            If the first parameter, `metric`, was given queries.
        ValueError
            If parameters exclude each other, such as `queries` and `n_queries`, or if queries are to be learned and
            `y` is missing or holds one class, or a series has missing values.
        """
        self._fit_collection(X)
        mode = resolve_mode(self.metric_, self.mode, self.normalize)
        given, self._query_names = vars(self).pop("_series"), None
        for name in ("queries", "weight"):
            if self.n_queries is not None and getattr(self, name) is not None:
                raise ValueError(
                    f"'n_queries' learns queries of several lengths and takes no {name!r}. Got both; set one of them."
                )
        if self.queries is not None:
            missing = self.nan_policy == "omit"
            self._query_names, queries = named(self.queries, "queries")
            rest = {"missing": missing, "channels_first": bool(self.channels_first)}
            given = [x.copy() for x in as_collection(queries, "queries", self.n_channels_, **rest)]
            given = self._timed(queries, given)
        vars(self).pop("shapelets_", None)
        lengths = self._lengths_of_queries(min(x.shape[1] for x in given))
        rng = random_numbers(self.random_state)
        if self.n_queries is not None:
            given = self._learned(given, y, mode, lengths, rng)
        times = [getattr(x, "times", None) for x in given]
        read = [observed_query(np.array(x), as_weight(self.weight, x.shape[1], len(x))) for x in given]
        queries = [
            Comparison(self.metric_, x, w, tx, mode, self.normalize) for (x, w), tx in zip(read, times, strict=True)
        ]
        for how in queries:
            warn_of_query(how)
        self._queries = with_metric(self._made_metric(), queries)
        self.metric_ = self._queries[0].metric
        self.queries_ = [how.x.T for how in self._queries]
        self._n_features_out = len(self._queries)
        return self

    def _made_metric(self):
        if isinstance(self.metric, list | tuple | dict) or hasattr(self.metric, "__array__"):
            raise TypeError(
                "The 'metric' parameter, the first one, must be a name, a metric object or a callable. Got "
                f"{shown(self.metric)}. To compare series with queries, name them: QueryDistances(queries=...)."
            )
        return super()._made_metric()

    def _learned(self, series, y, mode, lengths, rng):
        """The pieces of labeled series that tell their classes apart."""
        if y is None:
            raise ValueError("'n_queries' learns from labels, one a series. Got y=None; call fit(X, y).")
        classes, labels = read_classes(y, series)
        if len(classes) < 2:
            raise ValueError("'y' must hold two classes or more, which queries are to tell apart. Got one class.")
        for k, x in enumerate(series):
            if np.isnan(x).any():
                raise ValueError(
                    f"'n_queries' learns from series without missing values. Got some in 'X[{k}]'; fill them, or give "
                    "'queries'."
                )
        if hasattr(series[0], "times"):
            warn(
                "Learned queries count samples, and the times in the index of the series are not used. Give 'queries' "
                "with times, or pass arrays to end this warning."
            )
            series = [np.array(x) for x in series]
        task = Task(
            Comparison(self.metric_._in_mode(mode), series[0], None, None, mode, self.normalize),
            series,
            labels,
            self.criterion,
        )
        sizes, work = (self.n_queries, self.n_candidates), (self.n_jobs, self.verbose)
        found = select(task, sizes, lengths, rng, work)
        if len(found) < self.n_queries:
            warn(
                f"'n_queries' asks for {self.n_queries} pieces that are not alike. {len(found)} were found: raise "
                "'n_candidates', or ask for fewer."
            )
        self.shapelets_ = [Shapelet(*c[:4], classes.tolist()[labels[c.series]]) for c in found]
        return [np.ascontiguousarray(series[c.series][:, c.start : c.start + c.length]) for c in found]

    def _lengths_of_queries(self, longest):
        """The shortest and the longest piece, of series of at least so many samples."""
        if self.query_lengths is None:
            return min(SHORTEST, longest), max(min(SHORTEST, longest), longest // 2)
        given = np.asarray(self.query_lengths)
        if given.shape != (2,) or given.dtype.kind not in "iu" or not 1 <= given[0] <= given[1]:
            raise ValueError(
                "The 'query_lengths' parameter must be None or two integers, the shortest and the longest, at least 1. "
                f"Got {shown(self.query_lengths)}."
            )
        if self.n_queries is not None and given[1] > longest:
            raise ValueError(
                "The 'query_lengths' parameter must not exceed the length of the shortest series, "
                f"{longest}. Got {shown(self.query_lengths)}."
            )
        return int(given[0]), int(given[1])

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
        return self._labeled(np.where(finite, distance, largest), X)

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
        longest = max((how.m for how in self._queries if how.mode == "windows" and how.lengths is None), default=0)
        short = [k for k, x in enumerate(series) if x.shape[1] < longest]
        if short:
            n = series[short[0]].shape[1]
            learned = (
                f"fit with query_lengths=({min(2, n)}, {n})" if self.n_queries is not None else "give shorter queries"
            )
            raise ValueError(
                f"'X' must hold series of at least as many points as the longest query, {longest}. Got {n} in "
                f"'X[{short[0]}]'. Leave such series out, or {learned}."
            )
        limits = plain_count(self.min_length), plain_count(self.max_length)
        warn_of_sequences(self._queries, series, elsewhere=True)  # their distances tell the level, which is a feature

        queries = [how._replace(limits=limits) for how in self._queries]
        calls = (delayed(best_match)(how, y) for y in series for how in queries)
        count = len(series) * len(queries)
        found = list(each_in_jobs(calls, count, self.n_jobs, self.verbose, "query distances", "search"))
        start, end, distance = np.array(found, dtype=float).reshape(len(series), -1, 3).transpose(2, 0, 1)
        return QueryMatches(start.astype(np.int64), end.astype(np.int64), np.ascontiguousarray(distance))

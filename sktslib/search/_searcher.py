"""QuerySearcher: find the occurrences of a query in long recordings."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..distances._series import NORMALIZATIONS
from ..utils._given_times import times_of
from ..utils._plot.plot_data import names_of
from ..utils._sklearn import JOBS, Interval, StrOptions, names_out
from ._comparison import MODES, resolve_mode
from ._fitted_searcher import FittedSearcher
from ._learning.dialogue import AnsweredSearcher
from ._learning.time_labels import with_background
from ._query import event_score, refuse_sample_weight
from ._several import matches_of, one_each, refuse_several, several
from ._streaming.chunked_sequence import is_long, n_samples
from ._streaming.dask_arrays import is_dask, times_of_ranges
from ._streaming.piecewise import PiecewiseSearcher

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

    from ..utils._types import MetricLike, Queries, Sequences, Times
    from ._results import Matches
    from ._selection import Profile


class QuerySearcher(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, PiecewiseSearcher, AnsweredSearcher, FittedSearcher
):
    """Find where a short pattern, the query, occurs in long sequences.

    Time points are samples and channels are features: `fit` takes the query (m, channels), the other methods take
    sequences (n, channels). One-dimensional input is one channel.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
    metric_params : dict, optional
        Parameters of the metric.
    query : array-like of shape (m,) or (m, channels), or list or dict of arrays, optional
        The query, or several, as `fit` takes them; then `fit` takes from `X` the number of channels only, so that a
        searcher with a fixed query can stand in a pipeline.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points, unless `fit` is given some.
    mode : {"auto", "windows", "subsequence"}, default="auto"
        Candidates: all windows of the query's length, or subsequences of any length, open at begin and end (elastic
        metrics with a path only). "auto" takes windows for lockstep metrics, for those without a path (soft_dtw, gak,
        sbd), and where `normalize` or `scales` is set.
    normalize : {None, "zscore", "mean", "minmax", "robust"}, default=None
        How query and each window are normalised, per channel and by weighted moments.
    n_matches : int, None or "auto", default="auto"
        How many occurrences at most; None: as many as fit. "auto": None in streams, with a `threshold` or a
        `percentile`, and where queries are learned from labels, else 1.
    threshold : float, optional
        The largest distance of an occurrence, inclusive. None: with labels, the one learned for each class: midway
        between the last match and the next, where F1 in the labelled recording is best; else no bound.
    percentile : float in [0, 100], optional
        Instead of `threshold`, a learned one too: the threshold is this percentile of the finite distances of the
        profile, in each sequence and for each query anew. With 0 what is as near as the best, with 100 all that fit.
        Not for streams.
    max_overlap : float in [0, 1], default=0.0
        Share of the shorter of two occurrences that they may have in common.
    min_length : int, None or "auto", default="auto"
        The shortest match of a subsequence search, in samples; None: no bound. "auto": half of the query's length,
        rounded down, at least 1 and at most `max_length`. A search by windows has no bound.
    max_length : int, optional
        The longest match of a subsequence search, in samples.
    scales : tuple (least, largest) or list of float, optional
        Uniform scaling: windows of these multiples of the query's length, all in the range or those of the list, are
        resampled to its length, and each start counts at the one that fits best.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": missing query points count nothing; windows are compared by what
        is observed of them, at least half of the weight; matches of a subsequence search do not cross a missing point.
    max_gap : float or timedelta, optional
        The longest step of a sequence's times that is no hole: a number in their unit (of datetimes, seconds), or a
        duration. No match spans a longer one. Every sequence needs times then.
    n_jobs : int, optional
        Jobs of joblib, threads unless it is told otherwise, that share several queries and sequences among them, or
        parts of a long sequence where there are fewer of these than jobs. No result depends on it, but distances of a
        profile by Fourier transforms, in their last digits.
    verbose : int, default=0
        Above 0: bars on stderr show how far long work has come: the searches of several queries and sequences, the
        chunks of a sequence that is read by chunks, and learning from labels. Streams show none.

    Attributes
    ----------
    query_ : ndarray of shape (m, channels)
        The query.
    weight_ : ndarray of shape (m, channels) or None
        Relative weights; None where all are equal.
    classes_ : ndarray of shape (n_classes,)
        The classes that were learned, in the order of the queries, or the names they were given by; else there is none.
    metric_ : Metric
        The metric object.
    n_features_in_ : int
        Number of channels.

    References
    ----------
    Sakurai Y, Faloutsos C, Yamamuro M. Stream monitoring under the time warping distance. ICDE 2007.

    Examples
    --------
    >>> from sktslib import QuerySearcher, load_ecg_example
    >>> ecg = load_ecg_example()
    >>> searcher = QuerySearcher("dtw", n_matches=12).fit(ecg["query"], weight=ecg["weight"])
    >>> matches = searcher.search(ecg["sequence"], times=ecg["ts"])
    >>> len(matches), matches.to_frame().columns.tolist()
    (12, ['start', 'end', 'distance', 'start_time', 'end_time'])
    """

    _parameter_constraints = {
        "metric": "no_validation",
        "metric_params": [dict, None],
        "query": "no_validation",
        "weight": "no_validation",
        "mode": [StrOptions({*MODES, "warped"}, deprecated={"warped"})],
        "normalize": [StrOptions(set(NORMALIZATIONS) - {None}), None],
        "n_matches": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "threshold": [Interval(Real, 0, None, closed="left"), None],
        "percentile": [Interval(Real, 0, 100, closed="both"), None],
        "max_overlap": [Interval(Real, 0, 1, closed="both")],
        "min_length": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "max_length": "no_validation",
        "scales": "no_validation",
        "nan_policy": [StrOptions({"raise", "omit"})],
        "max_gap": "no_validation",
        "n_jobs": JOBS,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        metric: MetricLike = "dtw",
        *,
        metric_params: dict[str, Any] | None = None,
        query: Queries | None = None,
        weight: ArrayLike | None = None,
        mode: str = "auto",
        normalize: str | None = None,
        n_matches: int | str | None = "auto",
        threshold: float | None = None,
        percentile: float | None = None,
        max_overlap: float = 0.0,
        min_length: int | str | None = "auto",
        max_length: int | None = None,
        scales: Sequence[float] | None = None,
        nan_policy: str = "raise",
        max_gap: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.metric_params = metric_params
        self.query = query
        self.weight = weight
        self.mode = mode
        self.normalize = normalize
        self.n_matches = n_matches
        self.threshold = threshold
        self.percentile = percentile
        self.max_overlap = max_overlap
        self.min_length = min_length
        self.max_length = max_length
        self.scales = scales
        self.nan_policy = nan_policy
        self.max_gap = max_gap
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Queries, y: ArrayLike | None = None, weight: ArrayLike | None = None, times: Times | None = None
    ) -> Self:
        """Take the query.

        Parameters
        ----------
        X : array-like of shape (m,) or (m, channels), or list or dict of arrays
            The query, or several, in a dict by their names, which are the labels of matches; with the parameter `query`
            set, any series of the same channels; with `y`, a recording.
        y : array-like of shape (n,), optional
            Labels of a recording's time points, as `QuerySegmenter.fit` takes them. Each class has a query then, the
            barycenter of its occurrences, weighted by the inverse variance about each point, and a threshold.
        weight : array-like of shape (m,) or (m, channels), optional
            Relative weights of the query's points; replaces the parameter. Of several queries a list, as are `times`;
            of queries with names a list or a dict.
        times : array-like of shape (m,), optional
            Strictly increasing sample times of the query, numbers or datetimes, for metrics that use them.

        Returns
        -------
        QuerySearcher
            Itself.
        """
        self._check_parameters()
        self._check_limits(None if self.min_length == "auto" else self.min_length, self.max_length)
        self._check_choice()
        mode = "windows" if self.mode == "auto" and self.scales is not None else self.mode
        self._mode = resolve_mode(self.metric_, mode, self.normalize)
        for name in ("classes_", "_background_label", "_counts", "_answers"):  # of an earlier fit
            vars(self).pop(name, None)
        marked = self._annotation(X, y, times)
        if marked is not None:
            return self._fit_labels(marked, X, weight, times)
        return self._fit_queries(*self._read_queries(X, y, weight, times))

    def profile(self, X: Sequences, times: Times | None = None) -> Profile:
        """Distance and range of every candidate.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        Profile
            One candidate per window, or per end of a subsequence. Of several queries a list.
        """
        check_is_fitted(self)
        profiles = self._profiles([how for how, _ in self._searches], X, times)
        self._notice(X, times)
        return self._of_each(profiles)

    def search(self, X: Sequences, times: Times | None = None) -> Matches:
        """Find the occurrences.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels), or list of arrays
            The sequence, or several. What can be sliced and is not in memory (numpy.memmap, zarr, h5py) is read by
            chunks; those of an array of dask are searched where they lie, by dask's current scheduler.
        times : array-like of shape (n,), optional
            Strictly increasing sample times: numbers, datetimes, durations, periods or text of ISO 8601; of several
            sequences a list. Without them the index of a pandas object, if it holds any of these but integers.

        Returns
        -------
        Matches
            Best first. Each of several queries is searched for by itself: `n_matches` is how many of each there are in
            all sequences together.
        """
        check_is_fitted(self)
        sequences = several(X)
        each = [X] if sequences is None else sequences
        every = [times] if sequences is None else one_each(times, len(each), "times", "sequences")
        calls, searches = [], self._searches
        for k, (sequence, t) in enumerate(zip(each, every, strict=True)):
            # What is read by chunks is read once for all queries.
            jobs = self._jobs_within(sequence, len(each) * (1 if is_long(sequence) else len(searches)))
            together = [searches] if is_long(sequence) or jobs > 1 else [[search] for search in searches]
            calls += [(self._found_in, some, sequence, t, None if sequences is None else k, jobs) for some in together]
        found = [one for some in self._in_jobs(calls, "search", X) for one in some]
        self._warn_of(found)
        given = [
            times_of_ranges(t, found[k * len(searches) : (k + 1) * len(searches)]) if is_dask(x) else times_of(x, t)
            for k, (x, t) in enumerate(zip(each, every, strict=True))
        ]
        for sequence, t in zip(each, given, strict=True):
            self._notice(sequence, t)
        given = None if all(t is None for t in given) else given if sequences is not None else given[0]
        rest = searches[0][1].n_matches, given, self._classes, names_of(X), self._limits_of_distance
        return matches_of(found, len(searches), *rest, listed=sequences is not None)

    def transform(self, X: Sequences, times: Times | None = None) -> NDArray[np.float64]:
        """Distance of the best occurrence that ends at each time point.

        Row t depends on samples up to t alone, unless a subsequence search compares slopes or shapes, which reach over
        the next sample or half a shape. Rows at which no candidate ends hold the largest finite value of the call, or 0
        where there is none.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        ndarray of shape (n, n_queries)
        """
        check_is_fitted(self)
        jobs, queries = self._jobs_within(X, len(self._queries)), [how for how, _ in self._searches]
        columns = self._in_jobs([(self._ending, how, X, times, jobs) for how in queries], "transform", X)
        self._notice(X, times)
        return np.column_stack(columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of `transform`.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str of shape (n_queries,)
            ``querysearcher_`` and the query's name in `classes_`; without names ``querysearcher`` and its number.
        """
        names = super().get_feature_names_out(input_features)
        return names if self._classes is None else names_out(self, self._classes)

    def fit_transform(
        self, X: Queries, y: ArrayLike | None = None, weight: ArrayLike | None = None, times: Times | None = None
    ) -> NDArray[np.float64]:
        """Take the query, and give the distance of the best occurrence that ends at each time point of `X`.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            As for `fit`.
        y : array-like of shape (n,), optional
            As for `fit`.
        weight : array-like of shape (m,) or (m, channels), optional
            As for `fit`.
        times : array-like of shape (n,), optional
            Sample times of `X`. A query given as a parameter has its own, those of its DatetimeIndex.

        Returns
        -------
        ndarray of shape (n, n_queries)
        """
        of_query = times if self.query is None else None
        return self.fit(X, y, weight=weight, times=of_query).transform(X, times=times)

    def predict(self, X: Sequences, times: Times | None = None) -> NDArray[Any]:
        """Label each time point: 0 outside of occurrences, else the rank of the best one over it, from 1.

        Learned from labels: the class of the best one over it, and for background the label that was used for it.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        ndarray of shape (n,)
        """
        refuse_several(X)
        matches = self.search(X, times)
        labels = np.zeros(n_samples(X), np.int64)
        for rank in range(len(matches), 0, -1):
            labels[matches.start[rank - 1] : matches.end[rank - 1]] = rank
        if not self._is_learned:
            return labels
        return with_background(self._background_label, matches.label)[labels]

    def score(
        self, X: Sequences, y: ArrayLike, times: Times | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Event F1 of the occurrences against labels, see :func:`sktslib.metrics.event_f1_score`.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        y : array-like of shape (n,)
            True labels of the time points, 0 for background; each run of one label is an event.
        times : array-like of shape (n,), optional
            Its sample times.
        sample_weight : None
            Time points of an event have no weights of their own; here because ``Pipeline.score`` names it.

        Returns
        -------
        float
            In [0, 1].
        """
        refuse_sample_weight(sample_weight)
        refuse_several(X)
        return event_score(y, self.search(X, times), n_samples(X))

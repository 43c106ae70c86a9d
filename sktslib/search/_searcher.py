"""QuerySearcher: find the occurrences of a query in long recordings."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..distances._series import NORMALIZATIONS
from ..utils._given_times import time_name, times_of
from ..utils._plot.plot_data import names_of
from ..utils._sklearn import JOBS, Interval, StrOptions
from ._channels.polarity import POLARITIES
from ._comparison import MODES
from ._error_rates.threshold_parameter import THRESHOLD
from ._fitted_searcher import FittedSearcher
from ._learning.dialogue import AnsweredSearcher
from ._learning.time_labels import with_background
from ._profiling_searcher import ProfilingSearcher
from ._query import event_score, one_query, refuse_sample_weight
from ._several import matches_of, refuse_several, several, within
from ._streaming.chunked_sequence import n_samples
from ._streaming.piecewise import PiecewiseSearcher

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

    from ..utils._types import MetricLike, Queries, Sequences, Times
    from ._error_rates.conformal import Conformal
    from ._error_rates.false_discovery_rate import FalseDiscoveryRate
    from ._results import Matches


class QuerySearcher(ProfilingSearcher, PiecewiseSearcher, AnsweredSearcher, FittedSearcher):
    """Find where a short pattern, the query, occurs in long sequences.

    Time points are samples and channels are features: `fit` takes the query (m, channels), the other methods take
    sequences (n, channels). One-dimensional input is one channel.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance: a registered name, an object such as ``DTW(alpha=0.7)``, or a function of two series.
        "auto": with labels the one that tells the occurrences from all else best, amerced or plain dynamic time
        warping or windows by Euclidean distance, see :doc:`/definitions`; without them ``ADTW(omega="auto")``.
    metric_params : dict, optional
        Parameters of the metric.
    query : array-like of shape (m,) or (m, channels), or list or dict of arrays, optional
        The query, or several, as `fit` takes them; then `fit` takes from `X` the number of channels only, so that a
        searcher with a fixed query can stand in a pipeline.
    weight : array-like of shape (m,) or (m, channels), or MetricWeights, optional
        Relative weights of the query's points, unless `fit` is given some. :class:`~sktslib.neighbors.MetricWeights`:
        `fit` takes a recording and labels, also of a given `query`, and learns them so that what is labeled is nearer
        than what else is found. Of several given queries `y` holds the names, or their numbers from 1.
    mode : {"auto", "windows", "subsequence"}, default="auto"
        Candidates: all windows of the query's length, or subsequences of any length, open at begin and end (elastic
        metrics with a path only). "auto" takes windows for lockstep metrics, for those without a path (soft_dtw, gak,
        sbd), and where `normalize`, `scales` or a limit of scale or offset is set.
    normalize : {None, "zscore", "mean", "minmax", "robust"}, default=None
        How query and each window are normalized, per channel and by weighted moments; in a subsequence search each
        range by itself, all by plain moments. With ``metric="auto"`` and labels None leaves the choice to them.
    n_matches : int, None or "auto", default="auto"
        How many occurrences at most; None: as many as fit. "auto": None in streams, with a `threshold` or a
        `percentile`, and where queries are learned from labels, else 1.
    threshold : float, FalseDiscoveryRate, Conformal or str, optional
        The largest distance of an occurrence, inclusive, or the rule that finds it: `FalseDiscoveryRate`, or the text
        ``"fdr:0.05"``, in each sequence and for each query anew; `Conformal`, or ``"conformal:0.1"``, by labels. None:
        with labels, the one learned for each class: midway between the last match and the next, where F1 in the
        labeled recording is best; else no bound.
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
        The longest match of a subsequence search, in samples. None: no bound, but with `normalize` twice the query's
        length.
    scales : tuple (least, largest) or list of float, optional
        Uniform scaling: windows of these multiples of the query's length, all in the range or those of the list, are
        resampled to its length, and each start counts at the one that fits best.
    scale_limits : tuple (least, largest), optional
        Constrained normalization: a window, or a range with `normalize`, is a candidate only if its standard deviation,
        over that of the query, lies between these two, inclusive, in every channel; ``(0.7, 1.4)``, for example. So
        flat noise, which normalization makes as large as the query, is none. Compared by channel each channel keeps
        them by itself. See `Matches.scale`.
    offset_limit : float, list or dict of float, optional
        The same of the mean: how far it may be from that of the query, in the unit of the data; a number, or one for
        each channel in a list, or in a dict by names or numbers (no limit for those left out). See `Matches.offset`.
    polarity : {"same", "any", "channels"}, default="same"
        Signs of the query: as it is given; also mirrored as a whole, times -1, which takes twice as long; or each
        channel with a sign of its own, of at most 8 channels, which takes 2^channels times as long, for all
        combinations are tried. A candidate counts with the signs that it
        fits best, and is found once; see `Matches.polarity`. Compared by channel "channels" takes twice as long, with
        any number of them.
    channel_lag : int, timedelta, list or dict, optional
        Compared by channel: how many samples, or what time, behind the match's start the query of each channel begins;
        of each channel in a list, or in a dict by names or numbers (0 for those left out). Labels mark what a match
        is then, from the start of the first channel to the end of the last. See Notes.
    lag_tolerance : int or timedelta, default=0
        Compared by channel: how much earlier or later a channel may begin; it counts at the lag that it fits best. Less
        than half of a match's length.
    channel_weight : list or dict of float, optional
        Compared by channel: what the distance of each channel is multiplied by (1 for those left out of a dict).
    min_channels : int, optional
        Compared by channel: the distance is the sum of so many of the channels' distances, the smallest ones. These
        channels vote, see `Matches.votes`.
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
        The query; compared by channel, with NaN where a channel has no points, and in channels of weight 0.
    weight_ : ndarray of shape (m, channels) or None
        Relative weights; None where all are equal.
    alternatives_ : list of lists of tuples
        Of each query its further templates, which `relearn` learns where occurrences have several shapes: arrays
        (m, channels) and their weights or None. Each candidate counts by the template that it is nearest to.
    classes_ : ndarray of shape (n_classes,)
        The classes that were learned, in the order of the queries, or the names they were given by; else there is none.
    metric_weights_ : MetricWeights or list of them
        What learned the weights, with `weight_`; only where they are learned so. Of several queries a list.
    metric_ : Metric
        The metric object.
    normalize_ : str or None
        How windows are normalized: `normalize`, or what ``metric="auto"`` chose.
    cv_results_, best_index_ : dict of arrays and int, or None
        What ``metric="auto"`` compared, as GridSearchCV has it, and the row that was taken, see `QuerySegmenter`.
    report_ : EventReport or None
        With labels: what was found in blocks that ``metric="auto"`` or a `Conformal` held out, each by what was learned
        from the others, thresholds too; `by_class` and `confusion` say how good it is. Of matches of several classes
        that overlap the nearest counts. None where no block was held out.
    n_features_in_ : int
        Number of channels.

    Notes
    -----
    If `channel_lag`, `lag_tolerance`, `channel_weight` or `min_channels` is set, each channel of a query is a query of
    its own: normalized and weighted by itself, at its own length, lag and sign, and the distance of a candidate is the
    weighted sum of the channels' distances. A channel has no points where the query begins or ends with NaN in it; a
    query in a list or dict of queries may be a dict of one-dimensional arrays by channel. Candidates are windows.

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
        "mode": [StrOptions({*MODES})],
        "normalize": [StrOptions(set(NORMALIZATIONS) - {None}), None],
        "n_matches": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "threshold": THRESHOLD,
        "percentile": [Interval(Real, 0, 100, closed="both"), None],
        "max_overlap": [Interval(Real, 0, 1, closed="both")],
        "min_length": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "max_length": "no_validation",
        "scales": "no_validation",
        "scale_limits": "no_validation",
        "offset_limit": "no_validation",
        "polarity": [StrOptions(set(POLARITIES))],
        "channel_lag": "no_validation",
        "lag_tolerance": "no_validation",
        "channel_weight": "no_validation",
        "min_channels": [Interval(Integral, 1, None, closed="left"), None],
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
        threshold: float | str | FalseDiscoveryRate | Conformal | None = None,
        percentile: float | None = None,
        max_overlap: float = 0.0,
        min_length: int | str | None = "auto",
        max_length: int | None = None,
        scales: Sequence[float] | None = None,
        scale_limits: tuple[float, float] | None = None,
        offset_limit: float | Sequence[float] | dict[Any, float] | None = None,
        polarity: str = "same",
        channel_lag: Any = None,
        lag_tolerance: Any = 0,
        channel_weight: Any = None,
        min_channels: int | None = None,
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
        self.scale_limits = scale_limits
        self.offset_limit = offset_limit
        self.polarity = polarity
        self.channel_lag = channel_lag
        self.lag_tolerance = lag_tolerance
        self.channel_weight = channel_weight
        self.min_channels = min_channels
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
            Labels of a recording's time points, as `QuerySegmenter.fit` takes them: each run of one label is an
            occurrence, so that those without background between them are a single long one; make labels of ranges by
            :func:`sktslib.metrics.labels_from_events`, which leaves a sample of it. Each class has a query then, the
            barycenter of its occurrences, weighted by the inverse variance about each point, and a threshold.
        weight : array-like of shape (m,) or (m, channels), optional
            Relative weights of the query's points; replaces the parameter, or with MetricWeights what the weights
            begin at and are drawn to. Of several queries a list, as are `times`;
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
        self._check_channels()
        self._resolve()
        for name in ("classes_", "_background_label", "_counts", "_answers"):  # of an earlier fit
            vars(self).pop(name, None)
        marked = self._annotation(X, y, times)
        self._check_threshold(marked is not None)
        if marked is not None:
            self._read_fixed(X, weight)
            self._choose(marked, weight, times_of(X, times))
            return self._fit_labels(marked, one_query(X, "X"), weight, times)
        return self._fit_queries(*self._read_queries(X, y, weight, times))

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
        found, sources, calibrations = self._searched(X, times)
        self._warn_of(found)
        listed, count, limits = several(X) is not None, len(self._queries), self._limits_of_distance
        if self._is_awaited:
            thresholds = self._rate._thresholds(calibrations)
            found = [within(one, threshold) for one, threshold in zip(found, thresholds, strict=True)]
            limits = limits if listed else np.array(thresholds)  # in several sequences they differ
        given = []
        for k, (sequence, source) in enumerate(zip(X if listed else [X], sources, strict=True)):
            given.append(source.times_of_found(found[k * count : (k + 1) * count]))
            self._notice_times(sequence, source)
            if source.in_memory:  # not before: a whole profile and a copy of the sequence are never held at once
                source.own()
        given = None if all(t is None for t in given) else given if listed else given[0]
        rest = self._most, given, self._classes, names_of(X), limits
        name = time_name(X[0] if listed else X, times)
        matches = matches_of(found, count, *rest, calibrations=calibrations, listed=listed, name=name)
        self._warn_of_look_alikes(matches)
        return matches

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

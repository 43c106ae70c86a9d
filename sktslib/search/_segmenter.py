"""QuerySegmenter: cut a recording at each repetition of a query."""

from numbers import Real

import numpy as np

from ..metrics import event_f1_score
from ..utils._sklearn import Interval, StrOptions
from ._profile import Search, resolve_mode
from ._query import QueryEstimator, check_labels, refuse_sample_weight
from ._results import Segments
from ._tiling import background_cost, tile


class QuerySegmenter(QueryEstimator):
    """Cut a recording into repetitions of a query and background.

    The cut is the one of least cost among all: the costs of the repetitions plus a cost per background sample, found
    by one-pass dynamic programming (Ney 1984). (Where a cost depends on where its repetition starts, as in TWED with
    nu > 0 and WDTW, and with `min_length` or `max_length`, each end keeps the start of its cheapest path alone.)
    Repetitions under an elastic metric may have any length, under a lockstep metric they have the query's.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance; tiles count its un-rooted, un-normalised cost.
    metric_params : dict, optional
        Parameters of the metric.
    query : array-like of shape (m,) or (m, channels), optional
        The query; then `fit` takes from `X` the number of channels only.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points, unless `fit` is given some.
    background : "auto" or float, default="auto"
        Cost of a background sample. "auto": the cost of the query against a flat line at its own mean, per sample, so
        that a stretch is background when the query explains it worse than a flat line.
    min_length, max_length : int, optional
        Bounds of the length of a repetition under an elastic metric, in samples.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": missing query points count nothing; no repetition crosses a
        missing point.

    Attributes
    ----------
    query_ : ndarray of shape (m, channels)
        The query.
    weight_ : ndarray of shape (m, channels) or None
        Relative weights; None where all are equal.
    background_ : float
        Cost of a background sample.
    metric_ : Metric
        The metric object.
    n_features_in_ : int
        Number of channels.

    References
    ----------
    Ney H. The use of a one-stage dynamic programming algorithm for connected word recognition. IEEE Transactions on
    Acoustics, Speech, and Signal Processing 32(2), 1984.

    Examples
    --------
    >>> from sktslib import QuerySegmenter
    >>> segments = QuerySegmenter().fit([0, 1, 3, 1]).segment([5, 5, 0, 1, 3, 1, 5, 0, 1, 1, 3, 1, 5])
    >>> segments.boundaries
    array([ 2,  6,  7, 12])
    """

    _parameter_constraints = {
        "metric": "no_validation",
        "metric_params": [dict, None],
        "query": "no_validation",
        "weight": "no_validation",
        "background": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "min_length": "no_validation",
        "max_length": "no_validation",
        "nan_policy": [StrOptions({"raise", "omit"})],
    }

    def __init__(
        self,
        metric="dtw",
        *,
        metric_params=None,
        query=None,
        weight=None,
        background="auto",
        min_length=None,
        max_length=None,
        nan_policy="raise",
    ):
        self.metric = metric
        self.metric_params = metric_params
        self.query = query
        self.weight = weight
        self.background = background
        self.min_length = min_length
        self.max_length = max_length
        self.nan_policy = nan_policy

    def fit(self, X, y=None, weight=None, times=None):
        """Take the query.

        Parameters
        ----------
        X : array-like of shape (m,) or (m, channels)
            The query; with the parameter `query` set, any series of the same channels; with `y`, a recording.
        y : array-like of shape (m,), optional
            Labels of the time points, 0 for background; runs of one label of at least 2 samples are occurrences. The
            query is then the most typical occurrence of the commonest kind: the one whose distances from the others
            add up to the least. Labels without a second value or without an occurrence count nothing.
        weight : array-like of shape (m,) or (m, channels), optional
            Relative weights of the query's points; replaces the parameter.
        times : array-like of shape (m,), optional
            Strictly increasing sample times of the query, for metrics that use them.

        Returns
        -------
        QuerySegmenter
            Itself.
        """
        self._fit_query(X, y, weight, times)
        self._mode = resolve_mode(self.metric_, "auto", None)
        self.metric_._check_search("tiling")
        if self.background == "auto":
            self.background_ = background_cost(lambda flat: self._compare(flat, self._tx), self._x, self._w)
        else:
            self.background_ = float(self.background)
        return self

    def _compare(self, y, ty):
        return Search.of(self.metric_, self._x, self._w, y, self._tx, ty, self._mode)

    def segment(self, X, times=None):
        """Cut a recording.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording. A pandas object's DatetimeIndex counts as its times.
        times : array-like of shape (n,), optional
            Strictly increasing sample times, numbers or datetimes.

        Returns
        -------
        Segments
            The repetitions in temporal order; samples between them are background.
        """
        y, ty, given = self._door(X, times)
        search = self._compare(y, ty)
        start, end, cost = tile(search, self.background_, self.min_length, self.max_length)
        return Segments(start, end, np.ones(len(start), np.int64), cost, given, search)

    def predict(self, X, times=None):
        """Label each time point: 0 background, 1 within a repetition.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        ndarray of int of shape (n,)
        """
        segments = self.segment(X, times)
        labels = np.zeros(len(segments._source.sequence), np.int64)
        for s, e, label, _ in segments:
            labels[s:e] = label
        return labels

    def score(self, X, y, times=None, sample_weight=None):
        """Event F1 of the repetitions against labels, see :func:`sktslib.metrics.event_f1_score`.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        y : array-like of shape (n,)
            True labels of the time points, 0 for background; each run of one label is an event, so repetitions end to
            end need labels that differ.
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
        segments = self.segment(X, times)
        y = check_labels(y, len(segments._source.sequence))
        return event_f1_score(y, np.column_stack([segments.start, segments.end]))

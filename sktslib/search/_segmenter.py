"""QuerySegmenter: cut a recording at each repetition of one or several queries."""

from copy import copy
from numbers import Integral, Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..metrics import event_f1_score
from ..utils._sklearn import Interval, StrOptions
from ..utils.validation import as_times
from ._background import Background
from ._fitting import check_partial, check_transitions, fit_background, limits_of, refined
from ._learning import read_labels
from ._period import ROUNDS, SHRINK, typical_period
from ._profile import Search, resolve_mode
from ._query import QueryEstimator, check_labels, one_query, refuse_sample_weight, times_of
from ._segment_stream import SegmentStream
from ._segments import Segments
from ._several import one_each, several
from ._sources import Sources
from ._tiling import Rules, background_cost, tile


def _per_query(value, k, name):
    """A bound of each of k queries: one for all, or a list."""
    if np.ndim(value) == 0:
        return [value] * k
    if len(value) != k:
        raise ValueError(f"{name!r} must be one number, or one for each of the {k} queries. Got {len(value)}.")
    return list(value)


class QuerySegmenter(QueryEstimator):
    """Cut a recording into repetitions of one or several queries and background.

    The cut is the one of least cost among all: the costs of the repetitions plus a cost per background sample, found
    by one-pass dynamic programming (Ney 1984). (Where a cost depends on where its repetition starts, as in TWED with
    nu > 0 and WDTW, and with `min_length` or `max_length`, each end keeps the start of its cheapest path alone.)
    Repetitions under an elastic metric may have any length, under a lockstep metric they have their query's.

    Parameters
    ----------
    metric : str, metric object or callable, default="dtw"
        The distance; tiles count its un-rooted, un-normalised cost.
    metric_params : dict, optional
        Parameters of the metric.
    query : array-like of shape (m,) or (m, channels), or list of arrays, optional
        The query, or several; then `fit` takes from `X` the number of channels only.
    weight : array-like of shape (m,) or (m, channels), or list of them, optional
        Relative weights of the query's points, unless `fit` is given some.
    background : "auto" or float, default="auto"
        Cost of a background sample. "auto": the cost of the query against a flat line at its own mean, per sample (of
        several queries the mean over them), 1.5 times for dynamic time warping and its variants. So a stretch is
        background when the query explains it worse than a flat line would explain the query.
    transitions : array-like of shape (k + 1, k + 1), optional
        What it costs that one thing follows another: entry (a, b) is added where b follows a, 0 being a stretch of
        background and 1..k the queries. Infinite costs forbid. The first thing follows nothing, and behind a gap the
        recording begins anew.
    min_length, max_length : int or list of int, optional
        Bounds of the length of a repetition under an elastic metric, in samples: one for all, or one for each query.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": missing query points count nothing; no repetition crosses a
        missing point.

    Attributes
    ----------
    queries_ : list of ndarray of shape (m, channels)
        The queries; a repetition of the first has label 1.
    weights_ : list of ndarray of shape (m, channels) or None
        Their relative weights; None where all are equal.
    query_, weight_ : ndarray of shape (m, channels)
        Those of the first query.
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
        "transitions": "no_validation",
        "n_templates": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "refine": [Interval(Integral, 0, None, closed="left")],
        "partial": ["boolean"],
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
        transitions=None,
        n_templates="auto",
        refine=0,
        partial=False,
        min_length=None,
        max_length=None,
        nan_policy="raise",
    ):
        self.metric = metric
        self.metric_params = metric_params
        self.query = query
        self.weight = weight
        self.background = background
        self.transitions = transitions
        self.n_templates = n_templates
        self.refine = refine
        self.partial = partial
        self.min_length = min_length
        self.max_length = max_length
        self.nan_policy = nan_policy

    def fit(self, X, y=None, weight=None, times=None):
        """Take the query.

        Parameters
        ----------
        X : array-like of shape (m,) or (m, channels), or list of arrays
            The query, or several; with the parameter `query` set, any series of the same channels; with `y`, a
            recording.
        y : array-like of shape (m,), optional
            Labels of the time points, 0 for background; runs of one label of at least 2 samples are occurrences. The
            query is then the most typical occurrence of the commonest kind: the one whose distances from the others
            add up to the least. Labels without a second value or without an occurrence count nothing.
        weight : array-like of shape (m,) or (m, channels), optional
            Relative weights of the query's points; replaces the parameter. Of several queries a list, as are `times`.
        times : array-like of shape (m,), optional
            Strictly increasing sample times of the query, for metrics that use them.

        Returns
        -------
        QuerySegmenter
            Itself.
        """
        self._check_parameters()
        self._mode = resolve_mode(self.metric_, "auto", None)
        self.metric_._check_search("tiling")
        if self.partial:
            check_partial(self.metric_, self._mode)
        by_itself = isinstance(self.query, str)
        queries = None if by_itself else several(X if self.query is None else self.query)
        if queries is not None and len(queries) > 1:
            return self._fit_templates(self._read_several(X, queries, y, weight, times))
        marked = self._annotation(X, y)
        if marked is not None:
            return self._fit_labels(marked, weight, times_of(X, times))
        if by_itself:
            return self._fit_recording(self._read_recording(one_query(X, "X")), times_of(X, times))
        return self._fit_templates([self._read(one_query(X, "X"), self.query, weight, times)])

    def _read_several(self, X, queries, y, weight, times):
        """Several queries with a weight and times each."""
        if y is not None and self.query is None:
            raise ValueError(
                "'y' must be None where 'X' is a list of queries: they are given, not learned from labels."
            )
        weights = one_each(self.weight if weight is None else weight, len(queries), "weight", "queries")
        every = one_each(times, len(queries), "times", "queries")
        found = [
            self._read(query if self.query is None else X, None if self.query is None else query, w, t)
            for query, w, t in zip(queries, weights, every, strict=True)
        ]
        channels = {len(template.x) for template in found}
        if len(channels) > 1:
            raise ValueError(f"The queries must have the same number of channels. Got {sorted(channels)}.")
        return found

    def _fit_labels(self, marked, weight, times):
        """Learn the queries of the kinds that are marked, and the background."""
        learned = self._learn(marked, weight, times, self.n_templates)
        kinds, limits = [one.kind for one in learned], [one.limits for one in learned]
        return self._fit_templates([one.template for one in learned], kinds, limits, marked, times)

    def _fit_recording(self, data, times):
        """Take one period of the recording as the query."""
        if self.weight is not None:
            raise ValueError(
                "'weight' must be None where query='auto': how many points there will be is not known yet."
            )
        start, end = typical_period(data)
        self._fit_templates([self._template(data[:, start:end], None, None if times is None else times[start:end])])
        ty = as_times(times, data.shape[1], "times")
        limits = ((end - start) // SHRINK or 1, (end - start) * SHRINK)
        for _ in range(ROUNDS):
            self._fit_templates(self._segmented(data, ty, self._rules._replace(limits=(limits,)), 1)[0])
        return self._fit_templates(self._templates, limits=[limits])

    def _fit_templates(self, templates, kinds=None, limits=None, marked=None, times=None):
        """Take queries behind the door, with the background and the bounds that go with them."""
        k = len(templates)
        self._templates = templates
        self.queries_ = [t.x.T for t in templates]
        self.weights_ = [None if t.w is None else t.w.T for t in templates]
        self.query_, self.weight_ = self.queries_[0], self.weights_[0]
        self.classes_ = np.arange(1, k + 1) if marked is None else marked.labels.kinds
        self._idle = 0 if marked is None else marked.labels.idle
        self._kinds = np.arange(k) if kinds is None else np.array(kinds)
        given = zip(
            _per_query(self.min_length, k, "min_length"), _per_query(self.max_length, k, "max_length"), strict=True
        )
        given = tuple(self._check_limits(*pair) for pair in given)
        if limits is not None and self._mode == "warped":
            given = limits_of(given, limits)
        rules = Rules(None, check_transitions(self.transitions, k), given, self.partial)
        if self.background != "auto":
            background = Background(float(self.background))
        elif marked is None:
            background = Background(background_cost(self.metric_, self._mode, templates))
        else:
            ty = as_times(times, marked.data.shape[1], "times")
            background = fit_background(marked, templates, rules, self.metric_, self._mode, ty)
        self.background_ = background.limit
        self._rules = rules._replace(background=background)
        return self

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
        _, searches, tiles = self._segmented(y, ty, self._rules, self.refine)
        start, end, query, cost, shown = tiles
        label = self.classes_[self._kinds[query]]
        partial = np.diff(shown, axis=1)[:, 0] < np.array([t.x.shape[1] for t in self._templates])[query]
        return Segments(start, end, label, cost, query, partial, given, Sources(tuple(searches), shown))

    def _compare(self, template, y, ty):
        return Search.of(self.metric_, template.x, template.w, y, template.tx, ty, self._mode)

    def _segmented(self, y, ty, rules, refine):
        """Queries, searches and tiles of a series; before that, `refine` times, average the repetitions."""
        templates = self._templates
        for left in range(refine, -1, -1):
            searches = [self._compare(template, y, ty) for template in templates]
            tiles = tile(searches, rules)
            if left:
                templates = refined(templates, searches, tiles)
        return templates, searches, tiles

    def stream(self, max_delay=None):
        """Begin a segmentation that takes the recording chunk by chunk.

        Parameters
        ----------
        max_delay : int, optional
            After how many samples at most the end of a repetition must be decided, at the end of a chunk. Without it a
            repetition waits until no tiling that may still turn out the cheapest disagrees, so that the answer is that
            of `segment`; with it the tiling that is the cheapest by then decides, and the answer may be another.

        Returns
        -------
        SegmentStream
            Its ``update(X)`` returns the repetitions that are decided, ``flush()`` those left at the end.
        """
        check_is_fitted(self)
        if self.refine or self.partial:
            raise ValueError(
                "'refine' must be 0 and 'partial' False in a stream, which does not know the whole recording. Got "
                f"{self.refine} and {self.partial}."
            )
        return SegmentStream(copy(self), max_delay)

    def predict(self, X, times=None):
        """Label each time point: 0 background, else the number of the query that is repeated, from 1.

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
        names = np.concatenate([np.array([self._idle], dtype=self.classes_.dtype), self.classes_])
        labels = np.zeros(len(segments._source.sequence), np.int64)
        for s, e, query in zip(segments.start, segments.end, segments.query, strict=True):
            labels[s:e] = self._kinds[query] + 1
        return names[labels]

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
        y = read_labels(check_labels(y, len(segments._source.sequence))).code
        return event_f1_score(y, np.column_stack([segments.start, segments.end]))

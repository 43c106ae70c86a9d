"""QuerySegmenter: segment a recording into repetitions of one or several queries.

Results are the repetitions with their alignment to the query. A stream segments chunk by chunk: it decides the part
that all segmentations that may still be cheapest have in common.
"""

from __future__ import annotations

from copy import copy
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...utils._jobs import progress
from ...utils._names import names_of, warn
from ...utils._parameters import Interval, ParameterHolder, StrOptions
from ...utils._sampling import edges, interval, seconds_of
from ...utils._sklearn import check_fitted
from ...utils._times import MetricLike, Queries, Sequences, Times, distinct, time_name, times_of
from ...utils.validation import as_floats, as_times, check_count, refused, shown
from .. import _chunks, _sources, _thresholds
from .._channels import with_polarity
from .._chunks import ChunkStream, SparseTimes, one_sequence
from .._learning import choice, labels
from .._plan import check_domain, check_room, resolve_mode, warn_of_lengths, warn_of_sequences, with_metric
from .._profile import LastSamples
from .._query import QueryEstimator, annotation, one_query, with_background
from .._results import RATES, RangeTable
from .._thresholds import Conformal, FalseDiscoveryRate, Margin, Percentile
from .optimal import Background, Classes, Rules, Segmentation, SegmentTable, Versions, background_cost, segment
from .repetitions import by_phases, fit_recording, looser, refined_segments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from ..._plots.found import RepetitionsDisplay, SegmentationDisplay


class Segment(NamedTuple):
    """Repetition of a query: the half-open range ``[start, end)`` in samples, its label and the cost of its segment."""

    start: int
    end: int
    label: object
    cost: float


@dataclass(frozen=True, eq=False, repr=False)
class Segments(RangeTable):
    """Repetitions of queries in temporal order; the samples between them are background.

    Index them like an array: a number gives a `Segment`, as does iteration; a slice, a mask or a list of numbers gives
    `Segments`, in that order. A selection does not segment again: costs, alignments and `partial` do not change, the
    sum of the costs is that of the selected ones, and unselected repetitions may be between them. A pickle holds only
    the samples of the recording on which the repetitions depend.

    Attributes
    ----------
    start, end : ndarray of shape (n_segments,)
        Half-open ranges in samples of the recording.
    label : ndarray of shape (n_segments,)
        The learned class, or the name or the number, from 1, of the given query.
    cost : ndarray of shape (n_segments,)
        Undivided cost of each repetition, that of the cheapest path in its range.
    query : ndarray of int of shape (n_segments,)
        The number of the query in `queries_`, from 0; a class may have several.
    partial : ndarray of bool of shape (n_segments,)
        Whether an end of the recording cuts the repetition off.
    times : ndarray of shape (n_timepoints,), SparseTimes or None
        The recording's times, as given. For a stream, and after unpickling, only those of the starts and ends:
        ``times.times`` of the samples ``times.samples``.
    channels : list of str or None
        Names of the channels: the columns of a recording that was a table.
    polarity : ndarray of int of shape (n_segments,) or (n_segments, channels), or None
        The sign (1 or -1) of the query that fits each repetition, or of each of its channels; None with
        ``polarity="same"``.
    qvalue : ndarray of shape (n_segments,) or None
        With a `FalseDiscoveryRate`: the lowest rate at which the repetition is kept.
    pvalue : ndarray of shape (n_segments,) or None
        With a `FalseDiscoveryRate`: the share of the repetitions of decoys that are at least as near, with one added to
        both counts.
    false_per_hour : ndarray of shape (n_segments,) or None
        With a `FalseDiscoveryRate`: how many repetitions of one decoy are at least as near, per hour of recording.
        Numeric times count as seconds, and so do samples without times.
    threshold : ndarray of shape (n_queries,) or None
        The largest cost per query point of each query's repetitions, set or learned; NaN without one.
    count_interval : tuple of (int, int) or None
        The smallest and the largest number of repetitions that the whole recording may have, whatever is selected. For
        ``query="auto"`` with ``partial="auto"`` and no threshold; otherwise None.
    margin : ndarray of shape (n_segments,) or None
        Certainty of the class: 1 minus the cost of the range as its own class over the cost as the next one, 0 for a
        tie and 1 for a copy. If learned from labels, costs include the factors of rare classes, see `class_weight` of
        `Learning`. NaN for partial repetitions and if no other class can have the range; None with a single class.

    Examples
    --------
    >>> from sktslib import QuerySegmenter
    >>> segments = QuerySegmenter().fit([0, 1, 3, 1]).segment([0, 0, 0, 1, 3, 1, 0, 0, 1, 1, 3, 1, 0])
    >>> segments.stretch
    array([1., 1.])
    >>> segments.warped()[:, :, 0]
    array([[0., 1., 3., 1.],
           [1., 1., 3., 1.]])
    """

    label: np.ndarray
    cost: np.ndarray
    query: np.ndarray
    partial: np.ndarray
    _shown: np.ndarray  # (n_segments, 2), half-open ranges of query points
    count_interval: tuple[int, int] | None = None
    margin: np.ndarray | None = None
    _columns = ("start", "end", "label", "cost", "margin", "stretch", "polarity", *RATES)
    _each = ("start", "end", "label", "cost", "margin", "query", "partial", "_shown", "polarity", *RATES)
    _measure, _counted = "cost", {"label": "labels"}
    _what = "repetition", "segments"

    def __iter__(self) -> Iterator[Segment]:
        for s, e, k, c in zip(self.start, self.end, self.label.tolist(), self.cost, strict=True):
            yield Segment(int(s), int(e), k, float(c))

    @property
    def _limits(self):
        """The largest cost that a repetition of each whole query may have; None without thresholds."""
        return None if self.threshold is None else self.threshold * [reader.plan.m for reader in self._source.readers]

    @property
    def boundaries(self) -> NDArray[np.int64]:
        """Sorted union of starts and ends, in samples."""
        return np.union1d(self.start, self.end)

    @property
    def stretch(self) -> NDArray[np.float64]:
        """Length of each repetition as a multiple of its query's, or of the part of the query that it covers."""
        return (self.end - self.start) / np.diff(self._shown, axis=1)[:, 0]

    def path(self, k: int) -> NDArray[np.intp]:
        """Return the alignment of the k-th repetition: query indices and sequence indices, an array (2, K)."""
        search, start, end = self._found(k)
        return search.path(start, end, tuple(self._shown[k].tolist()) if self.partial[k] else None)

    def warped(self, query: Queries | None = None) -> NDArray[np.float64]:
        """Return every repetition on the time base of its query, times its `polarity`.

        Each point is the mean of the samples aligned with the query's point; a point without such samples (as in LCSS)
        is interpolated. So point i of each repetition is the same phase, and repetitions can be compared and averaged
        point by point.

        Parameters
        ----------
        query : int, optional
            Number of the fitted query, from 0. Optional if there is only one.

        Returns
        -------
        ndarray of shape (n_repetitions, m, channels)
            The repetitions of that query; NaN where a partial one lacks points.
        """
        query = self._source.query(query)
        chosen = np.flatnonzero(self.query == query)
        channels, m = self._source.readers[query].plan.x.shape
        return np.array([self._warped(k) for k in chosen]).reshape(-1, m, channels)

    def _warped(self, k):
        """Return the k-th repetition on the time base of its query (m, channels)."""
        search = self._found(k)[0]
        i, j = self.path(k)
        first, last = self._shown[k]
        met = np.bincount(i, minlength=search.plan.m)
        points = np.flatnonzero(met)
        out = np.full(search.plan.x.shape, np.nan)
        for row, y in zip(out, search.y, strict=True):
            mean = np.bincount(i, y[j - search.first], minlength=len(row))[points] / met[points]
            row[first:last] = np.interp(np.arange(first, last), points, mean) if len(points) else np.nan
        return out.T if self.polarity is None else out.T * self.polarity[k]

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame, one row per repetition, with times where the recording has them."""
        table = super().to_frame()
        if len(self._source.readers) > 1:
            table["query"] = self.query
        if self.partial.any():
            table["partial"] = self.partial
        return table.assign(duration=self.duration)

    def summary(self) -> DataFrame:
        """Return the number of repetitions of each label, and statistics of how regular they are.

        Returns
        -------
        pandas.DataFrame
            Indexed by label: `count`; mean, standard deviation and coefficient of variation (`_cv`, the deviation over
            the mean) of `duration` and of `interval`, the time from one start to the next of the same label (of those
            that were selected); `cost`, its mean per repetition. Durations are in the unit of the times, see
            `duration`; partial repetitions count in `partial` alone. An interval counts the time of a gap in it.
        """
        import pandas as pd

        if (np.diff(self.start) < 0).any():
            return self.sorted().summary()
        starts, duration, rows = self.start.astype(float), self.duration, {}
        if self.times is not None and len(self):
            times = self.start_time
            starts = _chunks.elapsed(times[np.zeros(len(self), int)], times)
        for label in distinct(self.label.tolist()):
            own = (self.label == label) & ~self.partial
            row = {"count": int(own.sum()), "partial": int((self.label == label).sum() - own.sum())}
            for name, values in (("duration", duration[own]), ("interval", np.diff(starts[own]))):
                mean = values.mean() if values.size else np.nan
                spread = values.std(ddof=1) if values.size > 1 else np.nan
                row |= {f"{name}_mean": mean, f"{name}_sd": spread, f"{name}_cv": spread / mean if mean else np.nan}
            rows[label] = row | {"cost": self.cost[own].mean() if own.any() else np.nan}
        times = [f"{name}_{what}" for name in ("duration", "interval") for what in ("mean", "sd", "cv")]
        columns = ["count", "partial", *times, "cost"]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("label")

    def plot(
        self, ax: Axes | None = None, *, sequence: Sequences | None = None, ts: ArrayLike | None = None, **style: Any
    ) -> SegmentationDisplay:
        """Draw the recording with its segments.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        sequence : array-like of shape (n,) or (n, channels), optional
            The recording. It must be given where the segments do not hold it: those of a stream, and those that were
            pickled.
        ts : array-like of shape (n,), optional
            Its times. Default: those of the segmentation, or of a pandas index.
        **style
            Passed on to `SegmentationDisplay.plot`, such as `title` and `time_range`.

        Returns
        -------
        SegmentationDisplay
        """
        from ...utils.visualisation import SegmentationDisplay

        return SegmentationDisplay.from_predictions(self, self._to_draw(sequence), times=ts, ax=ax, **style)

    def plot_repetitions(
        self, query: Queries | None = None, ax: Axes | None = None, *, title: str | None = None
    ) -> RepetitionsDisplay:
        """Draw the repetitions superimposed on the query's time base; returns the Display."""
        from ...utils.visualisation import plot_repetitions

        query = self._source.query(query)
        x = self._source.readers[query].plan.x.T
        if self.channels is not None:
            import pandas as pd

            x = pd.DataFrame(x, columns=self.channels)
        return plot_repetitions(self.warped(query), x, ax=ax, title=title)


@dataclass(eq=False, repr=False)
class Learning(ParameterHolder):
    """Parameters for learning the queries of a segmenter, from labels and from the repetitions that it finds.

    Pass it as the parameter `learning` of `QuerySegmenter`.

    Parameters
    ----------
    n_templates : int or "auto", default="auto"
        Number of queries per class. "auto": the number of clear groups of at least three occurrences, up to 4.
    refine : int, default=0
        Number of times that `segment` averages the repetitions that it found, and segments again by these averages.
        They belong to the recording and to this call; the fitted queries do not change. Not for streams.
    self_train : int, default=0
        Largest number of times that `fit` learns again from its own certain repetitions. Above 0 the label -1 in `y`
        means unlabeled (with 0 it is a class): repetitions found there that are as near as labeled occurrences count as
        labeled.
    class_weight : {None, "balanced"}, default=None
        None: a repetition gets a rare class only if the difference is clear. Its cost counts more, the rarer the class
        is among the labels, and even more if it exceeds that of labeled occurrences, relative to background.
        "balanced": all classes count alike; each repetition has the class with which the segmentation is the cheapest.
        With `transitions` the segmentation decides, too.

    Examples
    --------
    >>> from sktslib import QuerySegmenter
    >>> from sktslib.search import Learning
    >>> segmenter = QuerySegmenter(learning=Learning(refine=2)).fit([0, 1, 3, 1])
    >>> segmenter.segment([0, 0, 0, 1, 3, 1, 0, 0, 1, 1, 3, 1, 0]).boundaries
    array([ 2,  6,  8, 12])
    """

    _parameter_constraints = {
        "n_templates": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "refine": [Interval(Integral, 0, None, closed="left")],
        "self_train": [Interval(Integral, 0, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), None],
    }

    n_templates: int | str = "auto"
    refine: int = 0
    self_train: int = 0
    class_weight: str | None = None


LEARNING = Learning()  # if the parameter is None
UNLIKE = 3.0  # default threshold, as a multiple of a query's cost against a constant: allows 3 times its amplitude


@dataclass(eq=False, repr=False)
class QuerySegmenter(QueryEstimator):
    """Segment a recording into repetitions of one or several queries and background.

    The segmentation minimizes the sum of the costs of the repetitions and of a cost per background sample, by one-pass
    dynamic programming (Ney 1984). If costs depend on the start of a repetition (TWED with nu > 0, WDTW), and with
    `lengths`, only the start of the cheapest path to each end is kept, so the minimum may be missed. Repetitions have
    any length under an elastic metric, and their query's length under a lockstep metric.

    Parameters
    ----------
    metric : str, metric object or callable, default="adtw"
        The distance; segments have its cost without root and division. The name "adtw" stands for
        ``ADTW(omega="auto")``: a step that stretches costs a share of the variance of the queries. "auto": with labels,
        the penalty (or none) that separates the occurrences best from other ranges, see :doc:`/definitions_learning`;
        without labels ``ADTW(omega="auto")``.
    metric_params : dict, optional
        Parameters of the metric.
    query : array-like of shape (m,) or (m, channels), list of arrays or "auto", optional
        One query or several; `fit` then reads only the number of channels from `X`. "auto": `X` is a recording, and the
        query is its average repetition, with weights of the channels. The period is the shortest one with nearly the
        highest self-similarity.
    weight : array-like of shape (m,) or (m, channels), or list of them, optional
        Relative weights of the query's points, unless `fit` is given some.
    background : "auto" or float, default="auto"
        Cost of a background sample. "auto": for ``ADTW(omega="auto")`` twice its weighted squared distance from the
        mean of the first and last points of the queries, at most that of their farthest point; a range as strong as the
        query is then a repetition if it correlates with it. For other metrics the cost per sample of the query against
        a constant signal at its mean (the mean over several queries), times 1.5 for dynamic time warping and most
        variants. Learned from labels the cost depends on the signal, see Notes. With ``query="auto"`` it grows with the
        distance from the recording's median, up to this constant. Metrics that count points (lcss, edr) round a
        constant cost to a multiple of 2**-30, so that batches and streams resolve ties alike.
    transitions : array-like of shape (k + 1, k + 1), optional
        Costs of one label following another: entry (a, b) is added when b follows a, where 0 is background and 1 to k
        are the queries. Infinity forbids a transition. Nothing is added for the first label, or the first after a gap.
    learning : Learning, optional
        How queries are learned: number of templates per class, averaging by `segment`, self-training, rare classes; see
        `Learning`.
    partial : bool or "auto", default="auto"
        Whether the ends of a recording may cut a repetition off. At least half of the query's points must then be
        observed; the others cost nothing. Only for elastic metrics without times, except "msm", and not for streams.
        "auto": with ``query="auto"``, if the metric allows it; `segment` then chooses the phase whose number of
        repetitions is the mean over all phases, and `Segments.count_interval` gives the range. Rests of at least a
        period, and missing samples, then cut repetitions off, too.
    threshold : float, FalseDiscoveryRate, Conformal, Margin or str, optional
        The largest cost of a repetition per point of its query, inclusive, or a rule as in `QuerySearcher`. Repetitions
        that cost more become background. For a false discovery rate, decoys are segmented separately. `Margin` leaves
        out repetitions of uncertain class. None: no limit, but for given queries under ``ADTW(omega="auto")`` and
        ``background="auto"`` three times the cost per point of the query against a constant signal, times 1.5.
    lengths : tuple (shortest, longest), or list of tuples, optional
        Bounds of the length of a repetition under an elastic metric, in samples; either may be None. One pair for all
        queries, or a list with one pair each. Durations are converted by the usual time step of the recording that
        `fit` gets; numeric times count as seconds. Default for learned queries: 2/3 of the shortest and 3/2 of the
        longest occurrence, where an occurrence counts as at least 4/7 of the median length. With ``query="auto"``:
        1/1.6 and 1.6 times the period, within the given bounds.
    polarity : {"same", "any", "channels"}, default="same"
        "any" also tries the query times -1, which takes twice as long. "channels" tries all combinations of signs of at
        most 8 channels, which takes 2^channels times as long. Each repetition has the signs of the lowest cost, see
        `Segments.polarity`.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": missing query points have weight 0; no repetition crosses a
        missing point.
    max_gap : float or timedelta, optional
        Largest time step that does not count as a gap: a number in the unit of the times (seconds for datetimes), or a
        duration. No repetition spans a gap, and the segmentation starts again after it. Every recording then needs
        times.
    n_jobs : int, optional
        Number of joblib jobs that share a long recording. None: 1, unless in a `joblib.parallel_config` context; -1:
        all processors. Results do not depend on it.
    verbose : int, default=0
        Above 0: progress bars on stderr, for the samples of a segmentation, the rounds of ``Learning(refine=...)`` and
        of ``query="auto"``, and learning from labels. Streams show none.

    Attributes
    ----------
    queries_ : list of ndarray of shape (m, channels)
        The queries; a repetition of the first has label 1.
    weights_ : list of ndarray of shape (m, channels) or None
        Relative weights of `queries_`; None if all are equal.
    query_, weight_ : ndarray of shape (m, channels)
        The first query and its weights.
    classes_ : ndarray of shape (n_classes,)
        The learned classes, sorted; for given queries their numbers, from 1.
    background_ : float
        Maximum cost of a background sample.
    metric_ : Metric
        The metric object; ``metric_.omega_`` is the value of "auto".
    cv_results_, best_index_ : dict of arrays and int, or None
        The candidates of ``metric="auto"``, and the chosen row: `params`, `metric`, `omega` (in variances of the
        queries), `mean_test_score` (event F1), `mean_margin`, and `rank_test_score`; None with fewer than six labeled
        occurrences.
    report_ : EventReport or None
        Matches and misses in held-out blocks, if ``metric="auto"`` or a `Conformal` uses such blocks.
    self_training_ : ndarray of int of shape (n_rounds, n_classes)
        Number of unlabeled occurrences of each class that each round accepted; only with ``Learning(self_train=...)``.
    periods_ : ndarray of shape (n_lags, 2)
        With ``query="auto"``, lags in samples, and how well the recording repeats itself at each: 1 exactly, 0 not. The
        first peak of at least .7 of the highest is the period, the length of `query_`.
    n_features_in_ : int
        Number of channels.

    Notes
    -----
    The learned query of a class is the barycenter of at most 50 of its occurrences (of fewer than three: the first).
    Occurrences more than 1.75 times as long as is usual for their class count as two that touch, and are not examples.
    The weight of a point is the inverse of the variance around it (of the spread, for metrics of absolute differences),
    shrunk towards the mean of all points; the geometric mean is equal for all queries.

    A learned background costs a multiple of the (squared) distance from the median of the labeled background, and at
    most what the strongest sample of an occurrence would. So a range is a repetition if it fits the query better than
    it fits the background. The multiple is the one with the best F1, from the middle of those that do as well. It is
    closer to 1 with few labels, or if many occurrences are unlabeled. If errors remain, a constant is tried too. An
    unlabeled range that resembles an occurrence does not count as an error.

    References
    ----------
    Ney H. The use of a one-stage dynamic programming algorithm for connected word recognition. IEEE Transactions on
    Acoustics, Speech, and Signal Processing 32(2), 1984.

    Examples
    --------
    >>> from sktslib import QuerySegmenter
    >>> segments = QuerySegmenter().fit([0, 1, 3, 1]).segment([0, 0, 0, 1, 3, 1, 0, 0, 1, 1, 3, 1, 0])
    >>> segments.boundaries
    array([ 2,  6,  8, 12])
    """

    _parameter_constraints = {
        "background": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "transitions": ["array-like", None],
        "learning": [Learning, None],
        "partial": ["boolean", StrOptions({"auto"})],
        "threshold": [Margin if rule is Percentile else rule for rule in _thresholds.THRESHOLD],
        "lengths": ["array-like", None],
    }
    _parameter_objects = {"learning": (Learning,), "threshold": (FalseDiscoveryRate, Conformal, Margin)}

    metric: MetricLike = "adtw"
    _: KW_ONLY
    background: Any = "auto"
    transitions: Any = None
    learning: Learning | None = None
    partial: bool | str = "auto"
    threshold: float | str | FalseDiscoveryRate | Conformal | Margin | None = None
    lengths: Any = None

    def fit(
        self, X: Queries, y: ArrayLike | None = None, weight: ArrayLike | None = None, times: Times | None = None
    ) -> Self:
        """Fit the query, or queries, or learn them from labels.

        Parameters
        ----------
        X : array-like of shape (m,) or (m, channels), or list or dict of arrays
            The query, or several, in a dict by their names, which are the labels of segments; with the parameter
            `query` set, any series with as many channels; with `y` or ``query="auto"``, a recording.
        y : array-like of shape (n,), optional
            Labels of the recording's time points: 0, False, an empty text or "0" for background, other values, numbers
            or texts, for the class of repetition; with `self_train` of `Learning` -1 for unlabeled samples. A run of
            one label of at least 2 samples is an occurrence, so occurrences of one class need background between them:
            see :func:`sktslib.metrics.labels_from_events`. Mark every occurrence, and the same part of each: unmarked
            samples count as background, unless they look like an occurrence. Labels that are all alike are an error,
            unless `query` is set. Without an occurrence labels are ignored, and `X` is the query.
        weight : array-like of shape (m,) or (m, channels), optional
            Relative weights of the query's points; replaces the parameter. For several queries a list, like `times`.
        times : array-like of shape (m,), optional
            Strictly increasing sample times of the query, for metrics that use them.

        Returns
        -------
        QuerySegmenter
            Itself.
        """
        self._check_parameters()
        X, times = self._taken_apart(X, times)
        self._resolve()
        self._lengths = None if self.lengths is None else lengths_in_samples(self.lengths, X, times)
        marked = annotation(self, X, y, times)
        _thresholds.check_threshold(self, marked is not None)
        if marked is not None:
            return self._fit_marked(marked, weight)
        if self._self_train:
            got, out = self._self_train, "Label an occurrence, or set 'refine', which averages the repetitions found."
            raise refused("'self_train' of Learning", "be 0 where no occurrence is labeled in 'y'", got, out)
        if isinstance(self.query, str) and self.query == "auto":
            bounds = check_lengths_of(self._lengths, 1)[0]
            fit_recording(self, self._read_recording(one_query(X, "X")), times_of(X, times), bounds)
            return self
        queries, names = self._read_queries(X, y, weight, times)
        return self._fit_queries(queries, names=names)

    def segment(self, X: Sequences, times: Times | None = None) -> Segments:
        """Segment a recording.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        times : array-like of shape (n,), optional
            Strictly increasing sample times: numbers, datetimes, durations, periods or ISO 8601 text. Default: the
            index of a pandas object, if it holds any of these but integers.

        Returns
        -------
        Segments
            The repetitions in temporal order; samples between them are background.
        """
        check_fitted(self)
        X, times = one_sequence(X, times)
        segmentation = source, found, queries, ranges_of = self._segmentation(X, times)
        interval = None
        if self._counts_phases and self.threshold is None:
            plan, found, interval = by_phases(queries[0], found, ranges_of, source, self._rules)
            queries = [plan]
        calibrations, thresholds = _thresholds.calibrations_of(self), self._thresholds
        if _thresholds.is_awaited(self):
            calibrations = calibrations_in(self, segmentation)
            thresholds = _thresholds.rate_of(self)._thresholds(calibrations)
        found, rates = rated(found, calibrations, thresholds, _thresholds.rule_of(self.threshold))
        rest = {"channels": names_of(X), "_time_name": time_name(X, times), "count_interval": interval}
        return self._listed(found, queries, source, source.times, rates, **rest)

    def _listed(self, found, queries, source, times, rates, **rest):
        """Return `Segments` from a table; `source` holds the samples that the queries were compared with."""
        names, query = self.classes_[self._numbers], found.query
        partial = np.diff(found.shown, axis=1)[:, 0] < np.array([plan.m for plan in self._queries])[query]
        readers = [_sources.CandidateReader(plan, source) for plan in queries]
        sources = _sources.MatchOrigins(readers, query, version=found.version, names=names)
        rest |= dict(zip((*RATES, "threshold"), rates, strict=True), times=times, polarity=sources.signs)
        each = found.start, found.end, names[query], found.cost, query, partial, found.shown
        margin = None if self._rules.classes is None else found.margin
        return Segments(*each, margin=margin, _source=sources, **rest)

    def stream(self, max_delay: float | None = None) -> SegmentStream:
        """Start a segmentation that receives the recording chunk by chunk.

        Parameters
        ----------
        max_delay : int, optional
            Largest number of samples between the end of a repetition and its report, at the end of a chunk; at least
            the length of the longest query. The segmentation that is the cheapest by then decides, so the result may
            differ from that of `segment`. None: a repetition is reported when every segmentation that may still be the
            cheapest contains it, and the result is that of `segment`.

        Returns
        -------
        SegmentStream
            Its ``update(X)`` returns the repetitions that are decided, ``flush()`` those left at the end.
        """
        check_fitted(self)
        if self._learning.refine or self._is_partial:
            rule = "be 0 and 'partial' not True in a stream, which does not know the whole recording"
            raise refused("'refine' of Learning", rule, f"{self._learning.refine} and {self.partial}")
        _thresholds.check_fixed(self, "a stream")
        prompt = copy(self)
        prompt._rules = self._rules._replace(partial=False)
        return SegmentStream(prompt, max_delay)

    def predict(self, X: Sequences, times: Times | None = None) -> NDArray[Any]:
        """Label each time point: 0 for background, otherwise the number of the query, from 1.

        If learned from labels: the classes of `classes_`; background has the label that it had in the labels.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        times : array-like of shape (n,), optional
            Its sample times.

        Returns
        -------
        ndarray of shape (n,)
        """
        segments = self.segment(X, times)
        names = with_background(self._background_label, self.classes_)
        code = np.zeros(segments._source.readers[0].source.extent(0)[1], np.int64)
        for s, e, query in zip(segments.start, segments.end, segments.query, strict=True):
            code[s:e] = self._numbers[query] + 1
        return names[code]

    @property
    def _thresholds(self):
        """The threshold of each query, or None.

        If background costs more the louder it is, a default threshold excludes loud ranges that are unlike their query.
        """
        if self.threshold is None and self._unlike is not None:
            return [self._unlike] * len(self._queries)
        return _thresholds.set_thresholds(self)

    # Without a penalty, repetitions would stretch over the background; and a fixed penalty would depend on the unit.
    _named_defaults = {"adtw": {"omega": "auto"}}

    @property
    def _is_partial(self):
        """Whether `partial` is set regardless of the query."""
        return self.partial != "auto" and bool(self.partial)

    @property
    def _learning(self):
        return LEARNING if self.learning is None else self.learning

    @property
    def _self_train(self):
        return int(self._learning.self_train)

    def _resolve(self):
        """Set the kind of candidates, and refuse a metric that cannot segment."""
        self._mode = resolve_mode(self.metric_, "auto", None)
        self.metric_._check_search("segmentation")
        if self._is_partial and not self._may_be_partial:
            raise ValueError(
                "partial=True needs an elastic metric with a warping path that compares no times and has no move "
                f"cheaper than the diagonal one, such as 'dtw' or 'adtw'. Got {self.metric_.full_name}."
            )

    @property
    def _may_be_partial(self):
        """Whether paths through a part of a query are possible."""
        return self._mode == "subsequence" and not self.metric_.uses_times and self.metric_._can_be_cut

    def _fit_marked(self, marked, weight):
        """Learn from a marked recording: metric, queries and background, then self-training, then the threshold."""
        known, self.report_ = marked if marked.unlabeled is None else labels.learnable(marked), None
        if choice.is_auto(self.metric):
            choice.choose_metric(self, known, weight, choice.elastic_candidates(), choice.evidence_of_segments)
        self._fit_labels(known, weight)
        if self._self_train:
            train_itself(self, marked, known, weight)
        if self._rules.classes is not None:
            warn_of_alike_classes(self, known, weight)
        if isinstance(_thresholds.rule_of(self.threshold), Conformal):
            fit_conformal(self, known, weight)
        return self

    def _fit_labels(self, marked, weight, examples=None):
        """Learn the queries of the marked classes and the background; queries from `examples`, if given."""
        examples = marked if examples is None else examples
        queries, learned = self._learn(examples, weight, self._learning.n_templates)
        numbers, limits = [one.number for one in learned], [one.limits for one in learned]
        self._fit_queries(queries, numbers, limits, marked)
        if self._rules.classes is not None:
            self._rules = self._rules._replace(classes=classes_of(self, examples))

    def _fit_queries(self, queries, numbers=None, limits=None, marked=None, names=None, offset=None):
        """Store validated queries with their background and limits of length.

        A query taken from a recording comes with the `offset` of this recording.
        """
        _thresholds.forget_threshold(self)
        k = len(queries)
        if any(plan.tx is None for plan in queries):  # count samples, unless all queries have times
            queries = [plan.untimed for plan in queries]
        queries = [with_polarity(plan, self.polarity) for plan in with_metric(self._made_metric(), queries)]
        if offset is not None and isinstance(self.metric, str):
            queries = looser(queries)
        self._queries, self.metric_ = queries, queries[0].metric
        self.queries_ = [plan.x.T for plan in queries]
        self.weights_ = [None if plan.w is None else plan.w.T for plan in queries]
        self.query_, self.weight_ = self.queries_[0], self.weights_[0]
        if marked is not None:
            self.classes_, self._background_label = marked.labels.classes, marked.labels.background
        else:
            self.classes_ = np.arange(1, k + 1) if names is None else names
            self._background_label = self.classes_.dtype.type()
        self._numbers = np.arange(k) if numbers is None else np.array(numbers)  # class of each query, from 0
        given = check_lengths_of(self._lengths, k)
        if limits is not None and self._mode == "subsequence":  # limits that are not given are learned
            both = zip(given, limits, strict=True)
            given = tuple(tuple(b if a is None else a for a, b in zip(*pair, strict=True)) for pair in both)
        self._counts_phases = self.partial == "auto" and offset is not None and self._may_be_partial
        partial = self._is_partial or self._counts_phases
        classes = Classes(self._numbers) if np.ptp(self._numbers) else None
        rules = Rules(None, check_transitions(self.transitions, k), given, partial, classes)
        self._background_of_queries = self.background == "auto" and marked is None and offset is None
        if self.background != "auto":
            background = Background(float(self.background))
        elif marked is None:
            background = labels.background_of(queries) if offset is None else Background(background_cost(queries))
            if offset is not None and self.metric_._replaces is None:
                background = labels.plain_background(queries, offset)._replace(limit=background.limit)
        else:
            check_searched(queries, marked.data)

            def found(background):
                return segment(queries, rules._replace(background=background), marked.source, self.n_jobs)

            background = labels.learn_background(marked, queries, background_cost(queries), found, self.verbose)
        by_sample = self._background_of_queries and background.slope is not None
        self._unlike = UNLIKE * background_cost(queries) if by_sample else None
        background = background.exact_for(self.metric_)
        self.background_, self._rules = background.limit, rules._replace(background=background)
        return self

    def _counting(self, timed):
        """Return queries and rules for a series; if it has no times, samples are counted instead.

        A learned or given cost of background stays.
        """
        if timed or self._queries[0].tx is None:
            return self._queries, self._rules
        queries, rules = [plan.untimed for plan in self._queries], self._rules
        if self._background_of_queries:
            background = labels.background_of(queries).exact_for(self.metric_)
            rules = rules._replace(background=background)
        return queries, rules

    def _segmentation(self, X, times):
        """Return the segmentation of a recording, and what is needed to segment it again by other queries.

        The results are the source of the samples, the segments, the queries, and a function that segments by given
        queries. A long recording is read by chunks, once per segmentation.
        """
        if _sources.is_long(X):
            source = _sources.ChunkedSource(self, X, times)
        else:
            source = _sources.ArraySource(*_chunks.validated(self, X, times))
            source.y = _sources.owned(source.y, X)
        queries, rules = self._counting(source.timed)
        if source.in_memory:
            warn_of_sequences(queries, [source.y], shorter=rules.partial)
            warn_of_lengths([low for low, _ in rules.limits], len(source), "the shortest of 'lengths'")
        elif queries[0].mode == "windows":
            check_room(min(plan.shortest for plan in queries), len(source), WAY_OUT)

        def ranges_of(queries, part=None):
            if source.in_memory and part is None:
                check_searched(queries, source.y)
            return segment(queries, rules, source, self.n_jobs, self.verbose, listed=True, part=part)

        queries, found = refined_segments(queries, source, ranges_of, int(self._learning.refine), self.verbose)
        if source.in_memory:
            _chunks.notice(self, X, source.times, source.ty)
        return source, found, queries, ranges_of

    def _calibrated(self, X, times):
        """Return a list with one entry, the calibrations of the queries in a recording."""
        X, times = one_sequence(X, times)
        return [calibrations_in(self, self._segmentation(X, times))]


# ---------------------------------------------------------------------------------------------------- given parameters
def check_transitions(transitions, k):
    """Return the costs of the transitions between labels as an array (k + 1, k + 1)."""
    if transitions is None:
        return np.zeros((k + 1, k + 1))
    T = np.array(as_floats(transitions, "transitions"))
    if T.shape != (k + 1, k + 1):
        rule = f"have shape ({k + 1}, {k + 1}): a row and a column for background and each of the {k} queries"
        raise refused("'transitions'", rule, f"shape {T.shape}")
    T[0, 0] = 0.0  # consecutive background samples are one stretch
    if not (T >= 0).all():
        raise ValueError(f"'transitions' must not be negative or NaN. Got {np.min(T):g}.")
    return T


def check_searched(queries, y):
    """Refuse values for which the metric is not defined, and windows that do not fit into the sequence."""
    for plan in queries:
        check_domain(plan.metric, plan.x, "The query", plan.normalize)
    if queries[0].mode == "windows":  # with several queries it is enough that the shortest one fits
        check_room(min(plan.shortest for plan in queries), y.shape[1], WAY_OUT)
    check_domain(queries[0].metric, y, "The sequence", queries[0].normalize)


WAY_OUT = "use an elastic metric such as 'dtw', which cuts segments of any length"


def lengths_in_samples(lengths, X, times):
    """Return limits of length with durations converted to samples, by the usual step of the times of `X`."""
    if isinstance(lengths, list | tuple | np.ndarray):
        found = [lengths_in_samples(one, X, times) for one in lengths]
        return tuple(found) if isinstance(lengths, tuple) else found
    if not isinstance(lengths, timedelta | np.timedelta64):
        return lengths
    given = None if _chunks.several(X) else times_of(X, times)
    step = None if given is None else interval(as_times(given, len(given), "times"))
    if step is None:
        raise ValueError(
            "The 'lengths' parameter of QuerySegmenter may be durations if fit gets a recording with 'times', which "
            f"convert them to samples. Got {shown(lengths)} without times. Pass times, or numbers of samples."
        )
    samples = seconds_of(lengths) / step
    if not samples > 0:
        rule = "hold durations above 0, or None for no bound"
        raise refused("The 'lengths' parameter of QuerySegmenter", rule, shown(lengths))
    return max(round(samples), 1)


def check_lengths_of(lengths, k):
    """Return the limits (shortest, longest) of the length of repetitions, for each of k queries."""
    rule = (
        "The 'lengths' parameter of QuerySegmenter must be None, a pair (shortest, longest) of numbers of samples, "
        "either of which may be None, or a list of such pairs, one for each query."
    )
    if lengths is None:
        return ((None, None),) * k
    lengths = [lengths] if np.ndim(lengths) == 0 else list(lengths)
    is_pair = len(lengths) == 2 and all(value is None or np.ndim(value) == 0 for value in lengths)
    pairs = [lengths] * k if is_pair else [(None, None) if pair is None else pair for pair in lengths]
    if len(pairs) != k or any(np.ndim(pair) != 1 or len(pair) != 2 for pair in pairs):
        raise ValueError(f"{rule} Got {shown(lengths)} for {k} {'query' if k == 1 else 'queries'}.")
    bounds = tuple(tuple(check_count(v, "lengths", none=True, owner="QuerySegmenter") for v in pair) for pair in pairs)
    for shortest, longest in bounds:
        if shortest is not None and longest is not None and shortest > longest:
            raise ValueError(f"{rule} The shortest must not exceed the longest. Got {shortest} and {longest}.")
    return bounds


# ------------------------------------------------------------------------------------------------ learned from labels
def classes_of(segmenter, marked):
    """Return the `Classes` of queries that were learned from a marked recording."""
    numbers, queries, source = segmenter._numbers, segmenter._queries, marked.source
    classes = Classes(numbers, plain=labels.plain_background(queries, labels.offset_of(marked)))
    if segmenter._learning.class_weight == "balanced" or segmenter.transitions is not None:
        return classes
    versions = Versions(queries)
    count = np.maximum(np.bincount(marked.code - 1, minlength=numbers.max() + 1), 1)
    share, of_versions = np.full(len(count), labels.USUAL), classes._replace(of_query=numbers[versions.query])
    for k in np.unique(numbers).tolist():
        start, end = labels.examples(marked.ranges[marked.code == k + 1]).T
        cost = of_versions.costs(versions.readers(source), start, end)[1][:, k]
        share[k] = labels.of_another(np.median(cost / classes.background_costs(source, start, end)), len(start))
    return classes._replace(rarity=count.max() / count, share=share)


FOLDS = 3  # number of folds that hold out occurrences, to see whether their class is recognized


def queries_of_others(segmenter, marked, weight):
    """Return queries learned from a part of the labels, compared like the final ones, and the class of each, from 0."""
    queries, learned = segmenter._learn(marked, weight, segmenter._learning.n_templates)
    if segmenter._queries[0].tx is None:
        queries = [plan.untimed for plan in queries]
    queries = [with_polarity(plan._replace(metric=segmenter.metric_), segmenter.polarity) for plan in queries]
    return queries, np.array([one.number for one in learned])


def warn_of_alike_classes(segmenter, marked, weight):
    """Warn of classes most of whose held-out occurrences are assigned to another class."""
    classes, names, source = segmenter._rules.classes, segmenter.classes_.tolist(), marked.source
    fold = np.where(np.bincount(marked.code)[marked.code] >= FOLDS, _thresholds.blocks_of(marked.code, FOLDS), -1)
    called = np.zeros((len(names),) * 2, int)
    for k in range(FOLDS if (fold >= 0).any() else 0):
        rest = marked._replace(ranges=marked.ranges[fold != k], code=marked.code[fold != k])
        queries, numbers = queries_of_others(segmenter, rest, weight)
        versions = Versions(queries)
        of_versions = classes._replace(of_query=numbers[versions.query])
        for code in np.unique(marked.code[fold == k]):
            start, end = labels.examples(marked.ranges[(fold == k) & (marked.code == code)]).T
            counted = of_versions.costs(versions.readers(source), start, end)[1]
            np.add.at(called[code - 1], counted[np.isfinite(counted[:, code - 1])].argmin(axis=1), 1)
    for k, row in enumerate(called):
        if 2 * row[k] < row.sum():
            other = names[int(np.argmax(np.where(np.arange(len(row)) == k, -1, row)))]
            balance = ", or set class_weight='balanced' in Learning, which gives more repetitions this class."
            warn(
                f"The class {names[k]!r} cannot be told from {other!r} reliably: of {row.sum()} labeled occurrences "
                f"that were held out {row[k]} would be called {names[k]!r}. Label more of them, or mark more of what "
                f"makes them different{'.' if classes.rarity is None or classes.rarity[k] == 1 else balance}"
            )


def train_itself(segmenter, marked, known, weight):
    """Learn repeatedly, with certain repetitions of the unlabeled part as occurrences, until these recur."""
    rounds, met, k, counts = segmenter._self_train, [labels.NOTHING], len(segmenter.classes_), []
    if marked.unlabeled is None:
        warn(
            "'y' should have labels -1 where self_train is above 0, for the samples that are unlabeled. Got none, so "
            "nothing was learned from unlabeled samples. Set self_train to 0 if all samples are labeled."
        )
        rounds = 0
    with progress(rounds, segmenter.verbose if rounds else 0, "self-train", "round") as count:
        for _ in range(rounds):
            queries, rules = segmenter._queries, segmenter._rules
            found = segment(queries, rules, marked.source, segmenter.n_jobs, listed=rules.classes is not None)
            taken = labels.sure_ones(marked, queries, segmenter._numbers + 1, found)
            counts.append(np.bincount(taken.code - 1, minlength=k))
            count(word=f"{len(taken.code)} taken")
            if any(np.array_equal(taken.ranges, one.ranges) and np.array_equal(taken.code, one.code) for one in met):
                break  # learning again would return an earlier result
            met.append(taken)
            segmenter.metric_ = segmenter._made_metric()
            offset = known._replace(offset=taken.offset)
            segmenter._fit_labels(offset, weight, labels.learnable(marked, taken))
    segmenter.self_training_ = np.array(counts, np.int64).reshape(-1, k)


def fit_conformal(segmenter, marked, weight):
    """Find the threshold of each class from what is found in held-out blocks of the labels."""
    bounds = dict(zip(segmenter._numbers.tolist(), segmenter._rules.limits, strict=True))

    def found_by(others):
        # Limits of length and the cost of background stay, because what they exclude is excluded in the end, too.
        (queries, numbers), rules = queries_of_others(segmenter, others, weight), segmenter._rules
        classes = rules.classes and rules.classes._replace(of_query=numbers)
        rules = rules._replace(classes=classes, limits=tuple(bounds[number] for number in numbers.tolist()))
        if len(rules.transitions) != len(numbers) + 1:  # the number of templates has changed
            rules = rules._replace(transitions=np.zeros((len(numbers) + 1,) * 2))
        found = segment(queries, rules, marked.source, segmenter.n_jobs, listed=rules.classes is not None)
        return choice.HeldOut(np.column_stack([found.start, found.end]), numbers[found.query] + 1, found.per_point)

    _thresholds.fit_conformal(segmenter, marked, segmenter._numbers, found_by)


# -------------------------------------------------------------------------------------------------------- thresholds
def rated(found, calibrations, thresholds, rule=None):
    """Return the segments within the thresholds and `rule`, their three rates (or None), and the thresholds."""
    if isinstance(rule, Margin) and found.margin is not None:
        found = found.take(~(found.margin < rule.least))
    if calibrations is None and thresholds[0] is None:
        return found, [None] * 4
    limits = np.array(thresholds, float)  # None becomes NaN
    found = found.take(~(found.per_point > limits[found.query]))
    if calibrations is None:
        return found, [*[None] * 3, limits]
    rates, costs = np.empty((3, len(found.cost))), found.per_point
    for q, one in enumerate(calibrations):
        rates[:, found.query == q] = one.rates(costs[found.query == q])
    return found, [*rates, limits]


def calibrations_in(segmenter, segmentation):
    """Return the calibration of each query in a recording; decoys are segmented as well."""
    source, found, queries, ranges_of = segmentation
    rate = _thresholds.rate_of(segmenter)
    _thresholds.check_rate(segmenter, rate)
    made = _thresholds.Decoys(rate, len(queries)).of(segmenter, queries, _thresholds.center_of(source))
    tables = [found, *(ranges_of(list(some)) for some in zip(*made, strict=True))]
    hours = _thresholds.recorded_hours(len(source), source.times)
    each = ([table.per_point[table.query == q] for table in tables] for q in range(len(queries)))
    return [_thresholds.Calibration.of(own, others, hours) for own, *others in each]


class SegmentStream(ChunkStream):
    """A segmentation that continues with every chunk of a recording; made by `QuerySegmenter.stream`.

    A repetition is reported as soon as it belongs to every segmentation that may still be the cheapest. All reported
    ones together are those that `segment` finds in the whole recording. Memory: undecided samples. A stream can be
    pickled and continued.

    Attributes
    ----------
    n_samples_seen : int
        Number of samples received.

    Examples
    --------
    >>> from sktslib import QuerySegmenter
    >>> stream = QuerySegmenter().fit([0, 1, 3, 1]).stream()
    >>> found = [stream.update(chunk) for chunk in ([0, 0, 0, 1, 3], [1, 0, 0, 0, 0, 1], [1, 3, 1, 0])]
    >>> [segments.boundaries.tolist() for segments in [*found, stream.flush()]]
    [[], [2, 6], [], [10, 14]]
    """

    def __init__(self, segmenter: Any, max_delay: float | None = None) -> None:
        super().__init__(segmenter)
        self._segmenter, self.max_delay = segmenter, max_delay
        self._begin()
        longest = max(plan.m for plan in segmenter._queries)
        what, otherwise = "the length of the longest query", "the start of a repetition would be background"
        _chunks.check_delay(max_delay, longest, what, self._segmentation._paths.reach, otherwise)

    def _begin(self):
        queries, rules = self._segmenter._queries, self._segmenter._rules
        self._feed, self._due = LastSamples(queries[0]), 0
        self._segmentation = Segmentation(queries, rules, self._feed, prompt=True, max_delay=self.max_delay)

    def _count_samples(self):
        self._segmenter._queries, self._segmenter._rules = self._segmenter._counting(timed=False)
        self._begin()

    def update(self, X: Sequences, times: Times | None = None) -> Segments:
        """Add the next samples, and return what they decide.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            Samples that follow those before; there may be none.
        times : array-like of shape (n,), optional
            Their times: with every chunk, or with none.

        Returns
        -------
        Segments
            The repetitions that are decided now, in temporal order; ranges count from the stream's first sample.
        """
        return self._update(X, times)

    def flush(self) -> Segments:
        """End the stream and return the repetitions that were not decided yet.

        Returns
        -------
        Segments
            In temporal order.
        """
        return self._flush()

    def _take(self, y, ty, gaps):
        self._feed.append(y, ty)
        return self._decided(gaps)

    def _decided(self, gaps, last=False):
        """Return the segments that are decided by now, or None."""
        if not gaps and self._feed.seen < self._due:
            return None
        found = self._segmentation.take(last, timed=self._times is not None)
        self._due = self._segmentation.due
        return found if len(found.start) else None

    def _forget(self):
        if self._feed.is_full:
            self._feed.forget(self._segmentation.needed)
        return self._feed.first

    def _result(self, found):
        segmenter, times = self._segmenter, None
        found = SegmentTable.together([]) if found is None else found
        readers = [_sources.CandidateReader(plan, self._feed) for plan in segmenter._queries]
        ranges = zip(found.query, found.start, found.end, strict=True)
        held = _sources.HeldRanges([readers[q].read(int(s), int(e)) for q, s, e in ranges])
        rates = _thresholds.calibrations_of(segmenter), segmenter._thresholds
        found, rates = rated(found, *rates, _thresholds.rule_of(segmenter.threshold))
        if self._times is not None:
            known = edges(found.start, found.end, segmenter._max_gap).ravel()
            times = SparseTimes(known, self._times.as_given(self._times.at(known)))
        return segmenter._listed(found, segmenter._queries, held, times, rates)

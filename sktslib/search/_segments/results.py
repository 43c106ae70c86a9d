"""Results of a segmentation: the repetitions, their alignment to the query, and tables of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...utils._times import distinct
from .._chunks import elapsed
from .._results import RATES, RangeTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray
    from pandas import DataFrame

    from ..._plots.events import RepetitionsDisplay
    from ..._plots.segmentation import SegmentationDisplay
    from ...utils._times import Queries, Sequences


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
    >>> segments = QuerySegmenter().fit([0, 1, 3, 1]).segment([5, 5, 0, 1, 3, 1, 5, 0, 1, 1, 3, 1, 5])
    >>> segments.stretch
    array([1.  , 1.25])
    >>> segments.warped()[:, :, 0]
    array([[0., 1., 3., 1.],
           [0., 1., 3., 1.]])
    """

    start: np.ndarray
    end: np.ndarray
    label: np.ndarray
    cost: np.ndarray
    query: np.ndarray
    partial: np.ndarray
    times: np.ndarray | None = None
    _source: object = None
    channels: list[str] | None = None
    _shown: np.ndarray | None = None  # (n_segments, 2): half-open ranges of query points
    polarity: np.ndarray | None = None
    qvalue: np.ndarray | None = None
    pvalue: np.ndarray | None = None
    false_per_hour: np.ndarray | None = None
    threshold: np.ndarray | None = None
    _time_name: str | None = None  # of the axis of pictures
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
        """Return the k-th repetition on its query's time base (m, channels)."""
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
            starts = elapsed(times[np.zeros(len(self), int)], times)
        for label in distinct(self.label):
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

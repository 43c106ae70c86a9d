"""Displays of found events next to the true ones, of repetitions on the time base of their query, and of event reports.

Events are drawn as hits, misses and false ones. A report is drawn as distances and errors along time.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from .base import (
    COLORS,
    GRAY,
    Display,
    add_legend,
    add_title,
    are_narrow,
    areas,
    as_series,
    as_times,
    channel_names,
    column_borders,
    coverage,
    draw_series,
    draw_stack,
    field,
    found_in,
    inside,
    is_dense,
    label_channels,
    label_rows,
    label_times,
    make_axes,
    make_room,
    numbered,
    of_estimator,
)

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ..utils._times import Sequences, Times

EVENT_COLORS = {"hit": "#0072B2", "missed": "#E69F00", "false": "#CC79A7"}  # Okabe & Ito's
LANE, GAP = 0.07, 0.02  # heights of the two lanes below a sequence, and between them


class EventsDisplay(Display):
    """Found events next to the true ones, in two lanes below the sequence: hits, misses and false ones.

    A true and a found event agree as in `sktslib.metrics.event_f1_score`, whose value the legend gives. More events
    than one for four pixels of width are strips: each column is divided among what covers it, and is the paler the less
    of it is covered.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n_events, 2), or Matches or Segments
        Labels of time points or events as half-open ranges of samples.
    sequence : array-like of shape (n,) or (n, channels), optional
        The recording; without it the lanes fill the axes.
    times : array-like of shape (n,), optional
        Its times, numbers or datetimes. Default: those of `y_pred` or of a pandas index.
    min_iou : float, default=0.5
        Least intersection over union of events that agree.
    tolerance : float, optional
        Largest difference of starts, and of ends, of events that agree, in samples.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        A row a channel.
    figure_ : matplotlib Figure
        The figure of the axes.
    sequence_lines_ : list of matplotlib Line2D
        The sequence in each row.
    true_areas_, found_areas_ : list of dict of str -> matplotlib PolyCollection
        The two lanes of each row, by what the events are: "hit" and "missed"; "hit" and "false".
    n_hit_, n_missed_, n_false_ : int
        How many there are.
    score_ : float
        The F1 score of the events.
    legend_ : matplotlib Legend
        What the colors mean, and the numbers.

    See Also
    --------
    sktslib.metrics.event_f1_score : The score.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sktslib.utils.visualisation import EventsDisplay
    >>> display = EventsDisplay.from_predictions([[2, 5], [7, 9]], [[2, 5], [10, 12]], range(12))
    >>> display.n_hit_, display.n_missed_, display.n_false_
    (1, 1, 1)
    """

    def __init__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        sequence: Sequences | None = None,
        times: Times | None = None,
        *,
        min_iou: float = 0.5,
        tolerance: Any = None,
    ) -> None:
        # Only here: scores of events stand beside this folder, and are made of its checks.
        from ..metrics._events import agreement

        given, max_gap = field(y_pred, "times") if times is None else times, field(y_pred, "_max_gap")
        y_true, y_pred = _events(y_true), _events(y_pred)
        self.true, self.found, _, pairs, n = agreement(y_true, y_pred, min_iou, tolerance)
        self.hit_true, self.hit_found = (
            np.isin(np.arange(len(self.true)), pairs[0]),
            np.isin(np.arange(len(self.found)), pairs[1]),
        )
        self.sequence = None if sequence is None else as_series(sequence, "sequence")
        last = max((int(e[:, 1].max()) for e in (self.true, self.found) if len(e)), default=1)
        n = len(self.sequence) if sequence is not None else n or last
        if last > n:
            raise ValueError(
                f"The 'y_true' and 'y_pred' parameters must hold events within the sequence of {n} samples. Got one "
                f"that ends at {last}. Pass the sequence that they belong to."
            )
        if sequence is None and given is not None and not hasattr(given, "samples"):
            n = max(n, len(given))
        self.times = as_times(given, n, "times", sequence, max_gap)
        self.channels = None if sequence is None else channel_names(self.sequence.shape[1], sequence)
        self.n_hit_, self.n_missed_ = len(pairs[0]), len(self.true) - len(pairs[0])
        self.n_false_ = len(self.found) - len(pairs[1])
        total = len(self.true) + len(self.found)
        self.score_ = 2 * self.n_hit_ / total if total else 1.0

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Sequences,
        y: ArrayLike,
        *,
        times: Times | None = None,
        ax: Axes | None = None,
        min_iou: float = 0.5,
        tolerance: Any = None,
        **style: Any,
    ) -> Self:
        """Search or segment a recording and draw what is found next to its annotation.

        Parameters
        ----------
        estimator : QuerySearcher or QuerySegmenter
            A fitted estimator.
        X : array-like of shape (n,) or (n, channels)
            The recording.
        y : array-like of shape (n,) or (n_events, 2)
            The annotation.
        times : array-like of shape (n,), optional
            Times of the recording.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        min_iou, tolerance : float, optional
            When events agree.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : EventsDisplay
        """
        found = found_in(estimator, X, times)
        return cls(y, found, X, times, min_iou=min_iou, tolerance=tolerance).plot(ax, **style)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        sequence: Sequences | None = None,
        *,
        times: Times | None = None,
        ax: Axes | None = None,
        min_iou: float = 0.5,
        tolerance: Any = None,
        **style: Any,
    ) -> Self:
        """Draw found events next to the true ones.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,) or (n_events, 2), or Matches or Segments
            Labels of time points or events.
        sequence : array-like of shape (n,) or (n, channels), optional
            The recording.
        times : array-like of shape (n,), optional
            Its times.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        min_iou, tolerance : float, optional
            When events agree.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : EventsDisplay
        """
        return cls(y_true, y_pred, sequence, times, min_iou=min_iou, tolerance=tolerance).plot(ax, **style)

    def plot(self, ax: Axes | None = None, *, title: str | None = None, time_range: Any = None) -> Self:
        """Draw the events.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels. Default: a new figure, one row a channel, at most 8.
        title : str, optional
            Written above.
        time_range : tuple (start, end), optional
            The part that is shown, in times or else samples; None on one side: up to there.

        Returns
        -------
        display : EventsDisplay
            This display.
        """
        view = self.times.view(time_range)
        n_channels = 1 if self.sequence is None else self.sequence.shape[1]
        self.axes_, self.figure_ = make_axes(ax, n_channels)
        self.ax_ = self.axes_[0]
        self.sequence_lines_, self.true_areas_, self.found_areas_ = [], [], []
        if self.sequence is not None:
            style = {"color": GRAY, "linewidth": 0.8}
            self.sequence_lines_ = draw_series(self.axes_, self.times, self.sequence.T, view, **style)
        for row in self.axes_:
            if self.sequence is None:
                lanes = (0.56, 0.94), (0.06, 0.44)
            else:
                make_room(row, 2 * LANE + 3 * GAP)
                lanes = (2 * GAP + LANE, 2 * (GAP + LANE)), (GAP, GAP + LANE)
            true, found = ("hit", self.hit_true), ("hit", self.hit_found)
            self.true_areas_.append(self._draw_lane(row, view, self.true, (*true, "missed"), lanes[0]))
            self.found_areas_.append(self._draw_lane(row, view, self.found, (*found, "false"), lanes[1]))
            self._name_lanes(row, lanes)
        if self.sequence is None:
            label_times(self.axes_, self.times, view)
            self.ax_.set(ylim=(0, 1), yticks=[])
            if view.limits is None:
                low, high = self.times.at([view.first, view.end])
                self.ax_.set_xlim(low - 0.01 * (high - low), high + 0.01 * (high - low))
        else:
            label_rows(self.axes_, self.times, view, n_channels, self.channels)
        self.legend_ = self._add_legend()
        add_title(self.ax_, title)
        return self

    def _draw_lane(self, ax, view, events, names, lane):
        """Draw the events of a lane, by what they are."""
        name, is_hit, other = names
        places = [np.stack(self.times.edges(*events[chosen].T), axis=1) for chosen in (is_hit, ~is_hit)]
        if is_dense(ax, inside(view, *events.T).sum()):
            borders = column_borders(ax, self.times, view)
            shares = np.array([coverage(borders, *at.T) for at in places])
            drawn = draw_stack(ax, borders, shares, [EVENT_COLORS[name], EVENT_COLORS[other]], *lane)
            return dict(zip((name, other), drawn, strict=True))
        # A white rim parts neighbors; one of its own color shows an event that is thinner than a pixel.
        narrow = are_narrow(ax, view, *events.T)
        style = {"linewidths": 0.8, "zorder": 3}
        return {
            kind: areas(
                ax,
                *at.T,
                *lane,
                facecolors=EVENT_COLORS[kind],
                edgecolors=EVENT_COLORS[kind] if narrow else "white",
                **style,
            )
            for kind, at in zip((name, other), places, strict=True)
        }

    def _name_lanes(self, ax, lanes):
        for (low, high), name in zip(lanes, ("true", "found"), strict=True):
            style = {"transform": ax.transAxes, "va": "center", "fontsize": "x-small"}
            ax.text(1.005, (low + high) / 2, name, **style)

    def _add_legend(self):
        from matplotlib.patches import Patch

        counts = {"hit": self.n_hit_, "missed": self.n_missed_, "false": self.n_false_}
        handles = [Patch(color=EVENT_COLORS[kind], label=f"{kind} ({count})") for kind, count in counts.items()]
        return add_legend(self.ax_, [*handles, Patch(alpha=0, label=f"F1 = {self.score_:.2f}")])


def _events(y):
    """Return labels or events; those of matches or segments as ranges, in order of time."""
    if hasattr(y, "start") and hasattr(y, "end"):
        events = np.column_stack([y.start, y.end])
        return events[np.argsort(events[:, 0], kind="stable")]
    return y


if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes

    from ..utils._times import Queries, Sequences, Times

MOST_LINES = 300  # repetitions that are drawn one by one; of more the density is
CELLS = 400, 200  # columns and rows of the density, at most


class RepetitionsDisplay(Display):
    """Repetitions of a query, their mean and their spread.

    More than 300 repetitions are drawn as their density: how many pass through each cell of an image.

    Parameters
    ----------
    repetitions : array-like of shape (n_repetitions, m) or (n_repetitions, m, channels)
        Repetitions on the query's time base; NaN where one is incomplete.
    query : array-like of shape (m,) or (m, channels), optional
        The query.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        A row a channel.
    figure_ : matplotlib Figure
        The figure of the axes.
    repetition_lines_ : list of matplotlib LineCollection
        The repetitions in each row; empty where their density is drawn.
    density_images_ : list of matplotlib AxesImage
        The density in each row, of many repetitions.
    mean_lines_, query_lines_ : list of matplotlib Line2D
        Their mean, and the query, in each row.
    spread_areas_ : list of matplotlib PolyCollection
        One standard deviation to either side of the mean.

    See Also
    --------
    sktslib.utils.visualisation.plot_repetitions : Makes and draws it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sktslib import QuerySegmenter
    >>> from sktslib.utils.visualisation import RepetitionsDisplay
    >>> segmenter = QuerySegmenter().fit([0, 1, 3, 1])
    >>> display = RepetitionsDisplay.from_estimator(segmenter, [5, 5, 0, 1, 3, 1, 5, 0, 1, 1, 3, 1, 5])
    >>> display.mean_lines_[0].get_ydata().tolist()
    [0.0, 1.0, 3.0, 1.0]
    """

    def __init__(self, repetitions: Any, query: Queries | None = None) -> None:
        self.repetitions = np.asarray(repetitions, dtype=float)
        if self.repetitions.ndim == 2:
            self.repetitions = self.repetitions[:, :, np.newaxis]
        if self.repetitions.ndim != 3 or 0 in self.repetitions.shape[1:]:
            raise ValueError(
                "The 'repetitions' parameter must have shape (n_repetitions, m) or (n_repetitions, m, channels). Got "
                f"shape {np.shape(repetitions)}. Pass what Segments.warped() returns."
            )
        self.query = None if query is None else as_series(query, "query")
        self.channels = channel_names(self.repetitions.shape[2], query)
        if self.query is not None and self.query.shape != self.repetitions.shape[1:]:
            raise ValueError(
                f"The 'query' parameter must have the repetitions' shape {self.repetitions.shape[1:]}. Got shape "
                f"{self.query.shape}. Pass the query that the repetitions are aligned to."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Sequences,
        *,
        query: Queries | None = None,
        times: Times | None = None,
        ax: Axes | None = None,
        **style: Any,
    ) -> Self:
        """Segment a recording and draw the repetitions of a query.

        Parameters
        ----------
        estimator : QuerySegmenter
            A fitted segmenter.
        X : array-like of shape (n,) or (n, channels)
            The recording.
        query : int, optional
            Which of several queries, from 0.
        times : array-like of shape (n,), optional
            Times of the recording.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : RepetitionsDisplay
        """
        repetitions = of_estimator(estimator, "segment", X, times=times).warped(query)
        display = cls(repetitions, numbered(estimator.queries_, query or 0))
        display.channels = channel_names(repetitions.shape[2], X)
        return display.plot(ax, **style)

    @classmethod
    def from_predictions(
        cls, repetitions: Any, query: Queries | None = None, *, ax: Axes | None = None, **style: Any
    ) -> Self:
        """Draw repetitions.

        Parameters
        ----------
        repetitions : array-like of shape (n_repetitions, m) or (n_repetitions, m, channels)
            What ``Segments.warped`` returns.
        query : array-like of shape (m,) or (m, channels), optional
            The query.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : RepetitionsDisplay
        """
        return cls(repetitions, query).plot(ax, **style)

    def plot(self, ax: Axes | None = None, *, title: str | None = None) -> Self:
        """Draw the repetitions.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels. Default: a new figure.
        title : str, optional
            Written above.

        Returns
        -------
        display : RepetitionsDisplay
            This display.
        """
        count, m, n_channels = self.repetitions.shape
        self.axes_, self.figure_ = make_axes(ax, n_channels)
        self.ax_ = self.axes_[0]
        x = np.arange(m)
        self.repetition_lines_, self.mean_lines_, self.query_lines_, self.spread_areas_ = [], [], [], []
        self.density_images_ = []
        if not count:
            self.ax_.set_title("no repetitions", loc="left", fontsize="medium")
            self.ax_.set_xlim(0, max(m - 1, 1))
        for c, row in enumerate(self.axes_):
            if count:
                self._draw_repetitions(row, x, self.repetitions[:, :, c])
            if self.query is not None:
                style = {"color": "black", "linewidth": 1.2, "linestyle": "dashed"}
                self.query_lines_ += row.plot(x, self.query[:, c], label="query", **style)
            row.autoscale_view()
            row.margins(x=0)
        label_channels(self.axes_, n_channels, self.channels)
        self.axes_[-1].set_xlabel("point of the query")
        add_legend(self.ax_)
        add_title(self.ax_, title)
        return self

    def _draw_repetitions(self, row, x, repetitions):
        from matplotlib.collections import LineCollection

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a point that no repetition has
            mean, spread = np.nanmean(repetitions, axis=0), np.nanstd(repetitions, axis=0)
        many = len(repetitions) > MOST_LINES
        if many:
            self.density_images_.append(_draw_density(row, repetitions))
        lines = [] if many else [np.column_stack([x, one]) for one in repetitions]
        style = {"colors": "0.35", "linewidths": 0.7, "alpha": max(0.08, min(0.6, 12 / len(repetitions)))}
        style |= {"label": "repetitions"}
        if many:  # the key of the image in the legend
            style |= {"label": "density of repetitions", "linewidths": 6, "alpha": 0.4}
        self.repetition_lines_.append(row.add_collection(LineCollection(lines, **style)))
        style = {"color": COLORS[0], "alpha": 0.25, "linewidth": 0, "label": "±1 sd"}
        self.spread_areas_.append(row.fill_between(x, mean - spread, mean + spread, **style))
        self.mean_lines_ += row.plot(x, mean, color=COLORS[0], linewidth=2, label="mean")


def _draw_density(row, repetitions):
    """Draw an image of how many repetitions pass through each cell, the darker the more, on a logarithmic scale."""
    count, m = repetitions.shape
    low, high = np.fmin.reduce(repetitions, axis=None), np.fmax.reduce(repetitions, axis=None)
    columns, rows = min(m, CELLS[0]), CELLS[1]
    height = (high - low) / (rows - 1) or 1.0
    cells = np.zeros((rows, columns))
    where = np.arange(m) * columns // m
    for k in range(0, count, 1000):  # a few repetitions at a time need little memory
        part = repetitions[k : k + 1000]
        level = np.nan_to_num(np.rint((part - low) / height), nan=rows).astype(np.intp)  # the cell around it
        flat = np.bincount((level * columns + where).ravel(), minlength=(rows + 1) * columns)
        cells += flat[: rows * columns].reshape(rows, columns)
    extent = (-0.5, m - 0.5, low - height / 2, high + height / 2)
    shown = np.ma.masked_equal(np.log1p(cells), 0)
    style = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "extent": extent, "cmap": "Greys"}
    return row.imshow(shown, vmin=-0.2 * shown.max(), vmax=1.8 * shown.max(), **style)


if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ..metrics import EventReport
    from ..utils._times import Sequences, Times

MANY = 500  # events in view from which on their markers are small
MARKERS = {"hit": "o", "missed": "X", "false": "D"}


class EventReportDisplay(Display):
    """Distances of hits, misses and false ones along time, and how far the borders of the hits are off.

    Parameters
    ----------
    report : EventReport
        What `sktslib.metrics.event_report` returns.
    times : array-like of shape (n,), optional
        Times of the recording, numbers or datetimes. Default: samples.
    threshold : float, optional
        The largest distance of a match, a line among the distances.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        A row for the distances, if the report has some, and one each for the errors of starts and ends.
    figure_ : matplotlib Figure
        The figure of the axes.
    distance_points_ : dict of str -> matplotlib Line2D
        The distances of what is "hit", "missed" and "false"; empty without distances.
    error_points_ : list of matplotlib Line2D
        The errors of the starts and of the ends of the hits.
    rug_lines_ : list of dict of str -> matplotlib LineCollection
        In each row of errors ticks at what is "missed" and "false".
    legend_ : matplotlib Legend
        What the colors mean, and the numbers.

    See Also
    --------
    EventsDisplay : The events themselves next to the recording.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sktslib.utils.visualisation import EventReportDisplay
    >>> display = EventReportDisplay.from_predictions([[2, 5], [7, 9]], [[3, 5], [10, 12]])
    >>> display.error_points_[0].get_ydata().tolist()
    [1.0]
    """

    def __init__(self, report: EventReport, times: Times | None = None, *, threshold: Any = None) -> None:
        self.report, self.threshold = report, threshold
        last = max((int(end.max()) for end in (report.true_end, report.found_end) if len(end)), default=1)
        n = last if times is None or hasattr(times, "samples") else len(times)
        if last > n:
            raise ValueError(
                f"The 'times' parameter must have a time for each sample. Got {n}, and an event of the report ends at "
                f"{last}. Pass the times of the whole recording."
            )
        self.times = as_times(times, n, "times")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Sequences,
        y: ArrayLike,
        *,
        times: Times | None = None,
        ax: Axes | None = None,
        min_iou: float = 0.5,
        tolerance: Any = None,
        **style: Any,
    ) -> Self:
        """Search or segment a recording and draw the report of what is found.

        Parameters
        ----------
        estimator : QuerySearcher or QuerySegmenter
            A fitted estimator.
        X : array-like of shape (n,) or (n, channels)
            The recording.
        y : array-like of shape (n,) or (n_events, 2)
            The annotation.
        times : array-like of shape (n,), optional
            Times of the recording. Default: those of a pandas index.
        ax : list of matplotlib Axes, optional
            One for each row. Default: a new figure.
        min_iou, tolerance : float, optional
            When events agree.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : EventReportDisplay
        """
        found = found_in(estimator, X, times)
        return cls.from_predictions(y, found, times=times, ax=ax, min_iou=min_iou, tolerance=tolerance, **style)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        found: Any,
        *,
        kinds: ArrayLike | None = None,
        times: Times | None = None,
        ax: Axes | None = None,
        min_iou: float = 0.5,
        tolerance: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the report of found events.

        Parameters
        ----------
        y_true : array-like of shape (n,) or (n_events, 2)
            Labels of time points or events.
        found : Matches, Segments, or array-like of shape (n,) or (n_events, 2)
            What was found.
        kinds : array-like of shape (n_events,), optional
            The classes of the true events, where these are ranges.
        times : array-like of shape (n,), optional
            Times of the recording. Default: those of `found`, if it has those of all samples.
        ax : list of matplotlib Axes, optional
            One for each row. Default: a new figure.
        min_iou, tolerance : float, optional
            When events agree.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : EventReportDisplay
        """
        # Only here: scores of events stand beside this folder, and are made of its checks.
        from ..metrics import event_report

        report = event_report(y_true, found, kinds=kinds, times=times, min_iou=min_iou, tolerance=tolerance)
        given, limit = field(found, "times") if times is None else times, field(found, "threshold")
        limit = limit[0] if limit is not None and len(limit) == 1 and not np.isnan(limit[0]) else None
        return cls(report, None if hasattr(given, "samples") else given, threshold=limit).plot(ax, **style)

    def plot(self, ax: Axes | None = None, *, title: str | None = None, time_range: Any = None) -> Self:
        """Draw the report.

        Parameters
        ----------
        ax : list of matplotlib Axes, optional
            One for each row. Default: a new figure.
        title : str, optional
            Written above.
        time_range : tuple (start, end), optional
            The part that is shown, in times or else samples; None on one side: up to there.

        Returns
        -------
        display : EventReportDisplay
            This display.
        """
        report, view = self.report, self.times.view(time_range)
        has_distance = report.distance is not None
        names = [*(["distance"] if has_distance else []), "start error", "end error"]
        self.axes_, self.figure_ = make_axes(ax, len(names), what="rows", height=1.9)
        self.ax_ = self.axes_[0]
        start = np.where(report.true >= 0, report.true_start, report.found_start)
        self._at = self.times.at(start)
        shown = (start >= view.first) & (start < view.end)
        self._style = {"linestyle": "", "markersize": 2 if shown.sum() > MANY else 5, "zorder": 3}
        self.distance_points_ = self._draw_distances(self.ax_) if has_distance else {}
        self.error_points_, self.rug_lines_ = [], []
        for row, name in zip(self.axes_[-2:], ("start_error", "end_error"), strict=True):
            self._draw_errors(row, name)
        unit = self._unit()
        for row, name in zip(self.axes_, names, strict=True):
            row.set_ylabel(name if name == "distance" else f"{name}{unit}")
            row.margins(x=0.01)
        label_times(self.axes_, self.times, view)
        if view.limits is None:
            low, high = self.times.at([view.first, view.end])
            self.ax_.set_xlim(low - 0.01 * (high - low), high + 0.01 * (high - low))
        self.legend_ = self._add_legend()
        add_title(self.ax_, title)
        return self

    def _unit(self):
        """Return the unit of the errors."""
        if self.report.start_error_time is None:
            return "\n(samples)"
        return "\n(s)" if self.times.dates or self.times.label.endswith("(s)") else "\n(time)"

    def _draw_distances(self, ax):
        drawn = {}
        for kind, marker in MARKERS.items():
            own = (self.report.kind == kind) & np.isfinite(self.report.distance)
            style = self._style | {"marker": marker, "color": EVENT_COLORS[kind]}
            drawn[kind] = ax.plot(self._at[own], self.report.distance[own], **style)[0]
        if self.threshold is not None:
            ax.axhline(self.threshold, color=GRAY, linewidth=0.8, linestyle="--")
        ax.set_ylim(bottom=0)
        return drawn

    def _draw_errors(self, ax, name):
        timed = getattr(self.report, f"{name}_time")
        errors = getattr(self.report, name) if timed is None else timed
        hit = self.report.kind == "hit"
        ax.axhline(0, color=GRAY, linewidth=0.8)
        style = self._style | {"marker": MARKERS["hit"], "color": EVENT_COLORS["hit"]}
        self.error_points_ += ax.plot(self._at[hit], errors[hit], **style)
        largest = np.abs(errors[hit]).max(initial=0.0) or 1.0
        ax.set_ylim(-1.35 * largest, 1.15 * largest)
        rug = {}
        for kind in ("missed", "false"):
            at = self._at[self.report.kind == kind]
            transform = ax.get_xaxis_transform()
            rug[kind] = ax.vlines(at, 0.0, 0.08, color=EVENT_COLORS[kind], linewidth=1.2, transform=transform, zorder=3)
        self.rug_lines_.append(rug)

    def _add_legend(self):
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        report, handles = self.report, []
        for kind, count in (("hit", report.n_hit), ("missed", report.n_missed), ("false", report.n_false)):
            causes = report.cause[(report.kind == kind) & (report.cause != "")]
            said = [f"{name} ({number})" for name, number in zip(*np.unique(causes, return_counts=True), strict=True)]
            text = f"{kind} ({count})" + (f": {', '.join(said)}" if said else "")
            handles.append(Line2D([], [], linestyle="", marker=MARKERS[kind], color=EVENT_COLORS[kind], label=text))
        return add_legend(self.ax_, [*handles, Patch(alpha=0, label=f"F1 = {report.f1:.2f}")])

"""Display of a report of events: distances and errors along time, by what the events are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .axes import GRAY, Display, add_legend, add_title, label_times, make_axes
from .plot_data import field, found_in
from .plot_events import COLORS
from .time_axis import as_times

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ...metrics import EventReport
    from .._types import Sequences, Times

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
    EventsDisplay : The events themselves beside the recording.

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
        from ...metrics import event_report

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
        """The unit of the errors."""
        if self.report.start_error_time is None:
            return "\n(samples)"
        return "\n(s)" if self.times.dates or self.times.label.endswith("(s)") else "\n(time)"

    def _draw_distances(self, ax):
        drawn = {}
        for kind, marker in MARKERS.items():
            own = (self.report.kind == kind) & np.isfinite(self.report.distance)
            style = self._style | {"marker": marker, "color": COLORS[kind]}
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
        style = self._style | {"marker": MARKERS["hit"], "color": COLORS["hit"]}
        self.error_points_ += ax.plot(self._at[hit], errors[hit], **style)
        largest = np.abs(errors[hit]).max(initial=0.0) or 1.0
        ax.set_ylim(-1.35 * largest, 1.15 * largest)
        rug = {}
        for kind in ("missed", "false"):
            at = self._at[self.report.kind == kind]
            transform = ax.get_xaxis_transform()
            rug[kind] = ax.vlines(at, 0.0, 0.08, color=COLORS[kind], linewidth=1.2, transform=transform, zorder=3)
        self.rug_lines_.append(rug)

    def _add_legend(self):
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        report, handles = self.report, []
        for kind, count in (("hit", report.n_hit), ("missed", report.n_missed), ("false", report.n_false)):
            causes = report.cause[(report.kind == kind) & (report.cause != "")]
            said = [f"{name} ({number})" for name, number in zip(*np.unique(causes, return_counts=True), strict=True)]
            text = f"{kind} ({count})" + (f": {', '.join(said)}" if said else "")
            handles.append(Line2D([], [], linestyle="", marker=MARKERS[kind], color=COLORS[kind], label=text))
        return add_legend(self.ax_, [*handles, Patch(alpha=0, label=f"F1 = {report.f1:.2f}")])

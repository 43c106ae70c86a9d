"""Displays of found events next to the true ones, as hits, misses and false ones, and of repetitions of a query."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..utils._times import Queries, Sequences, Times
from . import base
from .base import COLORS, GRAY, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
        One row per channel.
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

        self.true, self.found, _, pairs, n = agreement(_events(y_true), _events(y_pred), min_iou, tolerance)
        self.hit_true, self.hit_found = np.zeros(len(self.true), bool), np.zeros(len(self.found), bool)
        self.hit_true[pairs[0]] = self.hit_found[pairs[1]] = True
        total, self.n_hit_ = len(self.true) + len(self.found), len(pairs[0])
        self.n_missed_, self.n_false_ = len(self.true) - self.n_hit_, len(self.found) - self.n_hit_
        self.score_ = 2 * self.n_hit_ / total if total else 1.0
        self.sequence = None if sequence is None else base.as_series(sequence, "sequence")
        last = int(np.vstack([self.true, self.found])[:, 1].max(initial=1))
        n = (n or last) if sequence is None else len(self.sequence)
        if last > n:
            rule, got = f"hold, as 'y_true' must, events within the sequence of {n} samples", f"one that ends at {last}"
            raise base.refused("y_pred", rule, got, "Pass the sequence that they belong to.")
        n = base.n_samples(n, self.sequence, base.field(y_pred, "times") if times is None else times)
        self.times = base.as_times(times, n, "times", sequence, y_pred)
        self.channels = [""] if sequence is None else base.channel_names(self.sequence.shape[1], sequence)

    def plot(self, ax: Axes | None = None, *, title: str | None = None, time_range: Any = None) -> Self:
        """Draw the events.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels. Default: a new figure, one row per channel, at most 8.
        title : str, optional
            Written above.
        time_range : tuple (start, end), optional
            The part that is shown, in times or else samples; None on one side: up to there.

        Returns
        -------
        display : EventsDisplay
            This display.
        """
        from matplotlib.patches import Patch

        view = self.times.view(time_range)
        self._make_axes(ax, len(self.channels))
        if self.sequence is None:
            self.sequence_lines_, lanes = [], ((0.56, 0.94), (0.06, 0.44))
            self.ax_.set(ylim=(0, 1), yticks=[])
        else:
            self.sequence_lines_ = base.draw_series(self.axes_, view, self.sequence.T, color=GRAY, linewidth=0.8)
            lanes = (2 * GAP + LANE, 2 * (GAP + LANE)), (GAP, GAP + LANE)
        self.true_areas_, self.found_areas_ = [], []
        for row in self.axes_:
            if self.sequence is not None:
                base.make_room(row, 2 * LANE + 3 * GAP)
            self.true_areas_.append(self._draw_lane(row, view, self.true, self.hit_true, "missed", *lanes[0]))
            self.found_areas_.append(self._draw_lane(row, view, self.found, self.hit_found, "false", *lanes[1]))
            for lane, name in zip(lanes, ("true", "found"), strict=True):
                row.text(1.005, sum(lane) / 2, name, transform=row.transAxes, va="center", fontsize="x-small")
        self._label(self.channels, view)
        counts = {"hit": self.n_hit_, "missed": self.n_missed_, "false": self.n_false_}
        keys = [Patch(color=EVENT_COLORS[kind], label=f"{kind} ({count})") for kind, count in counts.items()]
        self.legend_ = self._write_above(title, [*keys, Patch(alpha=0, label=f"F1 = {self.score_:.2f}")])
        return self

    def _draw_lane(self, ax, view, events, is_hit, other, low, high):
        """Draw the events of a lane, the hits and the others."""
        parts = {"hit": events[is_hit].T, other: events[~is_hit].T}
        if view.is_dense(ax, *events.T) or view.are_crowded(ax, *events.T):
            shares, colors = [view.shares(ax, *part) for part in parts.values()], [EVENT_COLORS[kind] for kind in parts]
            return dict(zip(parts, base.draw_strip(ax, view, shares, colors, low, high), strict=True))
        # A white rim parts neighbors; one of its own color shows an event that is thinner than a pixel.
        narrow = view.are_narrow(ax, *events.T)
        drawn = {}
        for kind, part in parts.items():
            color, places = EVENT_COLORS[kind], self.times.edges(*part)
            style = {"facecolors": color, "edgecolors": color if narrow else "white", "linewidths": 0.8, "zorder": 3}
            drawn[kind] = base.areas(ax, *places, low, high, **style)
        return drawn


def _events(y):
    """Return labels or events; those of matches or segments as ranges, in order of time."""
    if hasattr(y, "start") and hasattr(y, "end"):
        events = np.column_stack([y.start, y.end])
        return events[np.argsort(events[:, 0], kind="stable")]
    return y


MOST_LINES = 300  # repetitions that are drawn


class RepetitionsDisplay(Display):
    """Repetitions of a query, their mean and their spread.

    Of more than 300 repetitions as many are drawn, evenly chosen; mean and spread are those of all.

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
        One row per channel.
    figure_ : matplotlib Figure
        The figure of the axes.
    repetition_lines_ : list of matplotlib LineCollection
        The repetitions in each row.
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
    >>> display = RepetitionsDisplay.from_estimator(segmenter, [0, 0, 0, 1, 3, 1, 0, 0, 1, 1, 3, 1, 0])
    >>> display.mean_lines_[0].get_ydata().tolist()
    [0.5, 1.0, 3.0, 1.0]
    """

    def __init__(self, repetitions: Any, query: Queries | None = None) -> None:
        self.repetitions = np.atleast_3d(np.asarray(repetitions, dtype=float))
        if np.ndim(repetitions) not in (2, 3) or 0 in self.repetitions.shape[1:]:
            rule = "have shape (n_repetitions, m) or (n_repetitions, m, channels)"
            got = f"shape {np.shape(repetitions)}"
            raise base.refused("repetitions", rule, got, "Pass what Segments.warped() returns.")
        self.query = None if query is None else base.as_series(query, "query")
        self.channels = base.channel_names(self.repetitions.shape[2], query)
        if self.query is not None and self.query.shape != self.repetitions.shape[1:]:
            rule, got = f"have the repetitions' shape {self.repetitions.shape[1:]}", f"shape {self.query.shape}"
            raise base.refused("query", rule, got, "Pass the query that the repetitions are aligned to.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Sequences, *, query: Queries | None = None, times: Times | None = None, **style: Any
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
        **style
            Passed on to `plot`, such as `ax` and `title`.

        Returns
        -------
        display : RepetitionsDisplay
        """
        repetitions = base.of_estimator(estimator, "segment", X, times=times).warped(query)
        display = cls(repetitions, base.numbered(estimator.queries_, query or 0))
        display.channels = base.channel_names(repetitions.shape[2], X)
        return display._drawn(style)

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
        self._make_axes(ax, n_channels)
        self.repetition_lines_, self.mean_lines_, self.query_lines_, self.spread_areas_ = [], [], [], []
        if not count:
            self.ax_.set_title("no repetitions", loc="left", fontsize="medium")
            self.ax_.set_xlim(0, max(m - 1, 1))
        for c, row in enumerate(self.axes_):
            if count:
                self._draw_repetitions(row, self.repetitions[:, :, c])
            if self.query is not None:
                style = {"color": "black", "linewidth": 1.2, "linestyle": "dashed", "label": "query"}
                self.query_lines_ += row.plot(np.arange(m), self.query[:, c], **style)
            row.autoscale_view()
            row.margins(x=0)
        self._label(self.channels)
        self.axes_[-1].set_xlabel("point of the query")
        self._write_above(title, self.ax_.get_legend_handles_labels()[0])
        return self

    def _draw_repetitions(self, row, repetitions):
        """Draw the repetitions of a channel, their mean and their spread."""
        from matplotlib.collections import LineCollection

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a point that no repetition has
            mean, spread = np.nanmean(repetitions, axis=0), np.nanstd(repetitions, axis=0)
        x, n = np.arange(repetitions.shape[1]), len(repetitions)
        some = repetitions[np.linspace(0, n - 1, min(n, MOST_LINES)).astype(int)]
        style = {"colors": "0.35", "linewidths": 0.7, "alpha": max(0.08, min(0.6, 12 / len(some)))}
        lines = LineCollection([np.column_stack([x, one]) for one in some], label="repetitions", **style)
        self.repetition_lines_.append(row.add_collection(lines))
        style = {"color": COLORS[0], "alpha": 0.25, "linewidth": 0, "label": "±1 sd"}
        self.spread_areas_.append(row.fill_between(x, mean - spread, mean + spread, **style))
        self.mean_lines_ += row.plot(x, mean, color=COLORS[0], linewidth=2, label="mean")

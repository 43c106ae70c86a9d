"""Display of found events beside the true ones: hits, misses and false ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .axes import GRAY, Display, add_legend, add_title, label_rows, label_times, make_axes
from .envelope import are_narrow, areas, column_borders, coverage, draw_series, draw_stack, inside, is_dense, make_room
from .plot_data import as_series, channel_names, field, found_in
from .time_axis import as_times

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._types import Sequences, Times

COLORS = {"hit": "#0072B2", "missed": "#E69F00", "false": "#CC79A7"}  # Okabe & Ito's
LANE, GAP = 0.07, 0.02  # heights of the two lanes below a sequence, and between them


class EventsDisplay(Display):
    """Found events beside the true ones, in two lanes below the sequence: what was hit, what was missed, what is false.

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
        from ...metrics._events import agreement

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
        """Search or segment a recording and draw what is found beside its annotation.

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
        """Draw found events beside the true ones.

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
            drawn = draw_stack(ax, borders, shares, [COLORS[name], COLORS[other]], *lane)
            return dict(zip((name, other), drawn, strict=True))
        # A white rim parts neighbors; one of its own color shows an event that is thinner than a pixel.
        narrow = are_narrow(ax, view, *events.T)
        style = {"linewidths": 0.8, "zorder": 3}
        return {
            kind: areas(
                ax, *at.T, *lane, facecolors=COLORS[kind], edgecolors=COLORS[kind] if narrow else "white", **style
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
        handles = [Patch(color=COLORS[kind], label=f"{kind} ({count})") for kind, count in counts.items()]
        return add_legend(self.ax_, [*handles, Patch(alpha=0, label=f"F1 = {self.score_:.2f}")])


def _events(y):
    """Labels or events; those of matches or segments as ranges, in order of time."""
    if hasattr(y, "start") and hasattr(y, "end"):
        events = np.column_stack([y.start, y.end])
        return events[np.argsort(events[:, 0], kind="stable")]
    return y

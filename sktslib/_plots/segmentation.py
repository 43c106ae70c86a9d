"""Display of a segmentation: the sequence, its boundaries and its repetitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .base import (
    GRAY,
    LONG_LINE,
    Display,
    add_legend,
    add_title,
    are_narrow,
    areas,
    as_boundaries,
    as_ranges,
    as_series,
    as_times,
    channel_names,
    class_colors,
    column_borders,
    coverage,
    draw_series,
    draw_stack,
    field,
    found_in,
    inside,
    is_dense,
    label_rows,
    make_axes,
    make_room,
)

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ..utils._times import Sequences, Times

DARK, LIGHT = 0.42, 0.2  # opacity of the areas of neighbors


class SegmentationDisplay(Display):
    """A sequence cut into repetitions of patterns.

    Boundaries are dashed lines; repetitions are shaded, neighbors in turn light and dark, each class in its color.
    Repetitions that are narrower than two pixels are lines in the color of their class, without boundaries.
    Where there is more than one boundary for four pixels of width, a strip below the sequence stands for both: each
    column is divided among what covers it, and is the paler the less is covered.

    Parameters
    ----------
    segments : object, array-like of int or dict of name -> array-like of int
        With `start`, `end` and `label`, or boundaries.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence that was segmented.
    ts : array-like of shape (n,), optional
        Times of the sequence, numbers or datetimes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        All rows: one a channel, or one a distance.
    figure_ : matplotlib Figure
        The figure of the axes.
    sequence_lines_ : list of matplotlib Line2D
        The sequence in each row.
    boundary_lines_ : list of matplotlib LineCollection
        The boundaries in each row.
    repetition_areas_ : list of list of matplotlib PolyCollection
        The shaded repetitions in each row: those of one class and shade together.
    partial_areas_ : list of matplotlib PolyCollection
        What hatches the partial repetitions in each row; empty where there are none.
    strips_ : list of list of matplotlib PolyCollection
        What stands for too many boundaries in each row: the columns of one class and shade together. There are no
        boundary lines then and no shaded repetitions.
    legend_ : matplotlib Legend or None
        The classes of repetitions, when there are several, and what is hatched.

    See Also
    --------
    sktslib.utils.visualisation.plot_segmentation : Makes and draws it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sktslib import QuerySegmenter
    >>> from sktslib.utils.visualisation import SegmentationDisplay
    >>> segmenter = QuerySegmenter().fit([0, 1, 3, 1])
    >>> display = SegmentationDisplay.from_estimator(segmenter, [5, 5, 0, 1, 3, 1, 5, 0, 1, 1, 3, 1, 5])
    >>> len(display.boundary_lines_[0].get_segments())
    4
    """

    def __init__(self, segments: Any, sequence: Sequences, ts: ArrayLike | None = None) -> None:
        self.sequence = as_series(sequence, "sequence")
        n = len(self.sequence)
        given, called = (ts, None) if ts is not None else (field(segments, "times"), field(segments, "_time_name"))
        self.times = as_times(given, n, "ts", sequence, field(segments, "_max_gap"), called)
        self.channels = channel_names(self.sequence.shape[1], sequence, segments)
        self.start = self.end = self.label = np.empty(0, int)  # boundaries alone say nothing of repetitions
        self.partial, self.names = np.empty(0, bool), None
        start, end = field(segments, "start"), field(segments, "end")
        if start is not None and end is not None:
            self.start, self.end = as_ranges(start, end, n, "segments")
            label = field(segments, "label")
            self.label = np.zeros(len(self.start), dtype=int) if label is None else np.asarray(label)
            if self.label.shape != self.start.shape:
                raise ValueError(
                    f"The 'segments' parameter must have one label for each of its {len(self.start)} segments. "
                    f"Got shape {self.label.shape}. Pass the result of the segmentation as it is."
                )
            partial = field(segments, "partial")
            self.partial = np.zeros(len(self.start), dtype=bool) if partial is None else np.asarray(partial, dtype=bool)
            self.boundaries = [np.union1d(self.start, self.end)]
        elif isinstance(segments, Mapping):
            if not segments:
                raise ValueError(
                    "The 'segments' parameter must hold the boundaries of at least one distance. Got an empty dict. "
                    "Pass an array of boundaries or the result of time_series_segmentation."
                )
            self.names = [str(name) for name in segments]
            self.boundaries = [as_boundaries(value, n) for value in segments.values()]
        else:
            self.boundaries = [as_boundaries(segments, n)]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Sequences, *, times: Times | None = None, ax: Axes | None = None, **style: Any
    ) -> Self:
        """Segment a recording and draw it.

        Parameters
        ----------
        estimator : QuerySegmenter
            A fitted segmenter.
        X : array-like of shape (n,) or (n, channels)
            The recording.
        times : array-like of shape (n,), optional
            Its times, numbers or datetimes.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : SegmentationDisplay
        """
        return cls.from_predictions(found_in(estimator, X, times), X, times=times, ax=ax, **style)

    @classmethod
    def from_predictions(
        cls, segments: Any, sequence: Sequences, *, times: Times | None = None, ax: Axes | None = None, **style: Any
    ) -> Self:
        """Draw a segmentation.

        Parameters
        ----------
        segments : Segments, array-like of int or dict of name -> array-like of int
            What a segmentation returned.
        sequence : array-like of shape (n,) or (n, channels)
            The recording.
        times : array-like of shape (n,), optional
            Its times. Default: those of the segments or of a pandas index.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : SegmentationDisplay
        """
        return cls(segments, sequence, times).plot(ax, **style)

    def plot(self, ax: Axes | None = None, *, title: str | None = None, time_range: Any = None) -> Self:
        """Draw the sequence and its segments.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels, or one for each distance. Default: a new figure.
        title : str, optional
            Written above.
        time_range : tuple (start, end), optional
            The part that is shown, in times or else samples; None on one side: up to there. Datetimes without a zone
            are local.

        Returns
        -------
        display : SegmentationDisplay
            This display.
        """
        view = self.times.view(time_range)
        n_channels = self.sequence.shape[1]
        if self.names is None:
            self.axes_, self.figure_ = make_axes(ax, n_channels)
            rows, boundaries = self.sequence.T, self.boundaries * len(self.axes_)
        else:
            self.axes_, self.figure_ = make_axes(ax, len(self.names), what="distances")
            rows = np.broadcast_to(self.sequence[:, 0], (len(self.names), len(self.sequence)))
            boundaries = self.boundaries
        self.ax_ = self.axes_[0]
        style = {"color": GRAY if view.end - view.first > LONG_LINE else "0.25", "linewidth": 0.9, "label": "sequence"}
        self.sequence_lines_ = draw_series(self.axes_, self.times, rows, view, **style)
        self.boundary_lines_, self.repetition_areas_, self.partial_areas_, self.strips_ = [], [], [], []
        shades, narrow = self._shades(), are_narrow(self.ax_, view, self.start, self.end)
        for ax, line, cuts in zip(self.axes_, self.sequence_lines_, boundaries, strict=True):
            dense = is_dense(ax, inside(view, cuts, cuts + 1).sum())
            if dense:
                line.set_color(GRAY)
                make_room(ax)
                self.strips_.append(self._draw_strip(ax, cuts, view, shades))
            lines = ax.vlines(
                [] if dense or narrow else self._positions(cuts),
                0,
                1,
                transform=ax.get_xaxis_transform(),
                colors="black",
                linewidths=0.9,
                linestyles="dashed",
                zorder=2.5,
                label="boundaries",
            )
            self.boundary_lines_.append(lines)
            self.repetition_areas_.append([] if dense else [self._shade(ax, *shade, narrow) for shade in shades])
            if self.partial.any():
                self.partial_areas_.append(self._hatch(ax))
        if self.names is None:
            label_rows(self.axes_, self.times, view, n_channels, self.channels)
        else:
            label_rows(self.axes_, self.times, view, 1, self.channels and self.channels[:1])
            for ax, name in zip(self.axes_, self.names, strict=True):
                ax.set_title(name, loc="left", fontsize="medium")
        self.legend_ = self._add_legend(shades)
        add_title(self.ax_, title)
        return self

    def _shades(self):
        """Return class, color, opacity and repetitions of each class and shade, with neighbors light and dark."""
        turn = np.empty(len(self.start), dtype=int)
        turn[np.argsort(self.start, kind="stable")] = np.arange(len(self.start)) % 2
        classes = np.unique(self.label)
        return [
            (label, color, alpha, np.flatnonzero((self.label == label) & (turn == dark)))
            for label, color in zip(classes, class_colors(classes), strict=True)
            for dark, alpha in enumerate((LIGHT, DARK))
        ]

    def _positions(self, cuts):
        """Return the times of the boundaries to draw: the edges of repetitions if they are known, else the cuts."""
        return np.union1d(*self.times.edges(self.start, self.end)) if len(self.start) else self.times.at(cuts)

    def _shade(self, ax, label, color, alpha, chosen, narrow):
        """Shade the repetitions of a class and shade; narrow ones are lines."""
        left, right = self.times.edges(self.start[chosen], self.end[chosen])
        style = {"facecolors": color, "alpha": alpha, "label": f"class {label}", "zorder": 0.5, "linewidths": 0}
        if narrow:
            style |= {"edgecolors": color, "alpha": 1.0, "zorder": 2.5, "linewidths": 1.5}
        return areas(ax, left, right, **style)

    def _hatch(self, ax):
        """Hatch the repetitions that an end of the recording cuts off."""
        left, right = self.times.edges(self.start[self.partial], self.end[self.partial])
        style = {"facecolors": "none", "edgecolors": "0.45", "hatch": "///", "label": "partial"}
        return areas(ax, left, right, zorder=0.6, linewidths=0, **style)

    def _draw_strip(self, ax, cuts, view, shades):
        """Draw a strip of what covers each column; for boundaries alone, of their number."""
        from matplotlib.colors import to_rgb

        borders = column_borders(ax, self.times, view)
        if not shades:
            count = np.histogram(self.times.at(cuts), borders)[0]
            return draw_stack(ax, borders, count[np.newaxis] / max(count.max(), 1), ["black"])
        ranges = [self.times.edges(self.start[chosen], self.end[chosen]) for *_, chosen in shades]
        shares = np.array([coverage(borders, left, right) for left, right in ranges])
        # The dark one is the class's color itself, the light one is mixed with white.
        narrow = are_narrow(ax, view, self.start, self.end)
        strength = [1.0 if narrow else alpha / DARK for _, _, alpha, _ in shades]
        colors = [s * np.array(to_rgb(color)) + 1 - s for s, (_, color, *_) in zip(strength, shades, strict=True)]
        return draw_stack(ax, borders, shares, colors)

    def _add_legend(self, shades):
        from matplotlib.patches import Patch

        narrow = are_narrow(self.ax_, self.times.view(None), self.start, self.end)
        strong = 1.0 if self.strips_ or narrow else DARK
        classes = [Patch(facecolor=c, alpha=strong, label=f"class {label}") for label, c, a, _ in shades if a == DARK]
        return add_legend(self.ax_, (classes if len(classes) > 1 else []) + self.partial_areas_[:1])

"""Display of a segmentation: the sequence, its boundaries and its repetitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..utils import validation
from ..utils._times import Sequences, Times
from . import base
from .base import GRAY, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DARK, LIGHT = 0.42, 0.2  # opacity of the areas of neighbors


class SegmentationDisplay(Display):
    """A sequence cut into repetitions of patterns.

    Boundaries are dashed lines; repetitions are shaded, neighbors in turn light and dark, each class in its color.
    Repetitions that are narrower than two pixels are lines in the color of their class, without boundaries.
    Where there is more than one boundary for four pixels of width, or such lines would run into blocks, a strip below
    the sequence stands for both: each column is divided among what covers it, and is the paler the less is covered.

    Parameters
    ----------
    segments : object, array-like of int or dict of name -> array-like of int
        With `start`, `end` and `label`, or boundaries.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence that was segmented.
    times : array-like of shape (n,), optional
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
        What hatches the partial repetitions in each row; empty without any.
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
    >>> display = SegmentationDisplay.from_estimator(segmenter, [0, 0, 0, 1, 3, 1, 0, 0, 1, 1, 3, 1, 0])
    >>> len(display.boundary_lines_[0].get_segments())
    4
    """

    def __init__(self, segments: Any, sequence: Sequences, times: Times | None = None) -> None:
        self.sequence = base.as_series(sequence, "sequence")
        n = len(self.sequence)
        self.times = base.as_times(times, n, "ts", sequence, segments)
        self.channels = base.channel_names(self.sequence.shape[1], sequence, segments)
        self.start = self.end = self.label = np.empty(0, int)  # boundaries alone say nothing of repetitions
        self.partial, self.names = np.empty(0, bool), None
        if base.field(segments, "start") is not None and base.field(segments, "end") is not None:
            self.start, self.end = base.as_ranges(segments, n, "segments")
            label, partial = base.field(segments, "label"), base.field(segments, "partial")
            self.label = np.zeros(len(self.start), dtype=int) if label is None else np.asarray(label)
            if self.label.shape != self.start.shape:
                rule, got = f"have one label for each of its {len(self.start)} segments", f"shape {self.label.shape}"
                raise base.refused("segments", rule, got, "Pass the result of the segmentation as it is.")
            self.partial = np.zeros(len(self.start), dtype=bool) if partial is None else np.asarray(partial, dtype=bool)
            self.boundaries = [np.union1d(self.start, self.end)]
        elif isinstance(segments, Mapping):
            if not segments:
                out = "Pass an array of boundaries or the result of time_series_segmentation."
                raise base.refused("segments", "hold the boundaries of at least one distance", "an empty dict", out)
            self.names = [str(name) for name in segments]
            self.boundaries = [_as_boundaries(value, n) for value in segments.values()]
        else:
            self.boundaries = [_as_boundaries(segments, n)]

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
        if self.names is None:
            self._make_axes(ax, len(self.channels))
            rows, boundaries = self.sequence.T, self.boundaries * len(self.axes_)
        else:
            self._make_axes(ax, len(self.names), what="distances")
            rows = np.broadcast_to(self.sequence[:, 0], (len(self.names), len(self.sequence)))
            boundaries = self.boundaries
        gray = GRAY if view.end - view.first > base.LONG_LINE else "0.25"
        self.sequence_lines_ = base.draw_series(self.axes_, view, rows, color=gray, linewidth=0.9, label="sequence")
        self.boundary_lines_, self.repetition_areas_, self.partial_areas_, self.strips_ = [], [], [], []
        shades, narrow = self._shades(), view.are_narrow(self.ax_, self.start, self.end)
        style = {"colors": "black", "linewidths": 0.9, "linestyles": "dashed", "zorder": 2.5, "label": "boundaries"}
        for ax, line, cuts in zip(self.axes_, self.sequence_lines_, boundaries, strict=True):
            dense = view.is_dense(ax, cuts, cuts + 1) or view.are_crowded(ax, self.start, self.end)
            if dense:
                line.set_color(GRAY)
                base.make_room(ax)
                self.strips_.append(self._draw_strip(ax, cuts, view, shades, narrow))
            # The edges of repetitions if they are known: before a gap an end is not where the next sample is.
            places = np.union1d(*self.times.edges(self.start, self.end)) if len(self.start) else self.times.at(cuts)
            places = [] if dense or narrow else places
            self.boundary_lines_.append(ax.vlines(places, 0, 1, transform=ax.get_xaxis_transform(), **style))
            self.repetition_areas_.append([] if dense else [self._shade(ax, *shade, narrow) for shade in shades])
            if self.partial.any():  # an end of the recording cuts them off
                hatch = {"facecolors": "none", "edgecolors": "0.45", "hatch": "///", "label": "partial"}
                ends = self.times.edges(self.start[self.partial], self.end[self.partial])
                self.partial_areas_.append(base.areas(ax, *ends, zorder=0.6, linewidths=0, **hatch))
        self._label(self.channels if self.names is None else self.channels[:1] * len(self.names), view)
        for ax, name in zip(self.axes_, self.names or [], strict=False):
            ax.set_title(name, loc="left", fontsize="medium")
        self.legend_ = self._write_above(title, self._keys(shades, narrow))
        return self

    def _shades(self):
        """Return class, color, opacity and repetitions of each class and shade, with neighbors light and dark."""
        turn = np.empty(len(self.start), dtype=int)
        turn[np.argsort(self.start, kind="stable")] = np.arange(len(self.start)) % 2
        classes = np.unique(self.label)
        return [
            (label, color[:3], alpha, np.flatnonzero((self.label == label) & (turn == dark)))
            for label, color in zip(classes, base.class_colors(classes), strict=True)
            for dark, alpha in enumerate((LIGHT, DARK))
        ]

    def _shade(self, ax, label, color, alpha, chosen, narrow):
        """Shade the repetitions of a class and shade; narrow ones are lines."""
        style = {"facecolors": color, "alpha": alpha, "label": f"class {label}", "zorder": 0.5, "linewidths": 0}
        if narrow:
            style |= {"edgecolors": color, "alpha": 1.0, "zorder": 2.5, "linewidths": 1.5}
        return base.areas(ax, *self.times.edges(self.start[chosen], self.end[chosen]), **style)

    def _draw_strip(self, ax, cuts, view, shades, narrow):
        """Draw a strip of what covers each column; for boundaries alone, of their number."""
        if not shades:
            count = np.histogram(self.times.at(cuts), view.borders(ax))[0]
            return base.draw_strip(ax, view, [count / max(count.max(), 1)], ["black"])
        shares = [view.shares(ax, self.start[chosen], self.end[chosen]) for *_, chosen in shades]
        # The dark one is the class's color itself, the light one is mixed with white.
        strength = [1.0 if narrow else alpha / DARK for _, _, alpha, _ in shades]
        colors = [s * color + 1 - s for s, (_, color, *_) in zip(strength, shades, strict=True)]
        return base.draw_strip(ax, view, shares, colors)

    def _keys(self, shades, narrow):
        """Return the keys of the legend: the classes where there are several, and what is hatched."""
        from matplotlib.patches import Patch

        strong = 1.0 if self.strips_ or narrow else DARK
        classes = [Patch(facecolor=c, alpha=strong, label=f"class {label}") for label, c, a, _ in shades if a == DARK]
        return (classes if len(classes) > 1 else []) + self.partial_areas_[:1]


def _as_boundaries(boundaries, n):
    """Return sorted boundaries within n samples as an integer array."""
    array = validation.as_indices(boundaries, "segments")
    if array.ndim != 1 or (array.size and not (array.min() >= 0 and array.max() <= n and (np.diff(array) >= 0).all())):
        rule = f"hold sorted boundaries from 0 to {n}, the length of the sequence"
        out = "Pass the sequence that was segmented and sample indices, not times."
        raise base.refused("segments", rule, validation.shown(boundaries), out)
    return array

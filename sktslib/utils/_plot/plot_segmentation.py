"""Display of a segmentation: the sequence, its boundaries and its repetitions."""

from collections.abc import Mapping

import numpy as np

from .axes import COLOURS, draw_series, label_rows, make_axes, positions
from .plot_data import as_boundaries, as_ranges, as_series, as_times, channel_names, edges, field


class SegmentationDisplay:
    """A sequence cut into repetitions of patterns.

    It is made by `plot_segmentation`, which describes the picture.

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
    legend_ : matplotlib Legend or None
        The classes of repetitions, when there are several, and what is hatched.

    See Also
    --------
    sktslib.utils.visualisation.plot_segmentation : Makes and draws it.
    """

    def __init__(self, segments, sequence, ts=None):
        self.sequence = as_series(sequence, "sequence")
        n = len(self.sequence)
        self.times = as_times(field(segments, "times") if ts is None else ts, n, "ts", sequence)
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

    def plot(self, ax=None):
        """Draw the sequence and its segments.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels, or one for each distance. Default: a new figure.

        Returns
        -------
        display : SegmentationDisplay
            This display.
        """
        x = positions(self.times)
        n_channels = self.sequence.shape[1]
        if self.names is None:
            self.axes_, self.figure_ = make_axes(ax, n_channels)
            rows, boundaries = self.sequence.T[: len(self.axes_)], self.boundaries * len(self.axes_)
        else:
            self.axes_, self.figure_ = make_axes(ax, len(self.names), what="distances")
            rows, boundaries = [self.sequence[:, 0]] * len(self.names), self.boundaries
        self.ax_ = self.axes_[0]
        borders = edges(x)
        self.sequence_lines_, self.boundary_lines_, self.repetition_areas_, self.partial_areas_ = [], [], [], []
        for ax, y, cuts in zip(self.axes_, rows, boundaries, strict=True):
            self.sequence_lines_.append(draw_series(ax, x, y, color="0.25", linewidth=0.9, label="sequence"))
            lines = ax.vlines(
                borders[cuts],
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
            self.repetition_areas_.append(self._shade(ax, borders))
            if self.partial.any():
                self.partial_areas_.append(self._hatch(ax, borders))
        if self.names is None:
            label_rows(self.axes_, self.times, n_channels, self.channels)
        else:
            label_rows(self.axes_, self.times, 1, self.channels and self.channels[:1])
            for ax, name in zip(self.axes_, self.names, strict=True):
                ax.set_title(name, loc="left", fontsize="medium")
        self.legend_ = self._add_legend()
        return self

    def _shade(self, ax, borders):
        """Shade the repetitions, each class in its colour, neighbours in turn light and dark."""
        areas = []
        turn = np.empty(len(self.start), dtype=int)
        turn[np.argsort(self.start, kind="stable")] = np.arange(len(self.start)) % 2
        for k, label in enumerate(np.unique(self.label)):
            for dark in (0, 1):
                chosen = (self.label == label) & (turn == dark)
                style = {"alpha": 0.42 if dark else 0.2, "label": f"class {label}", "zorder": 0.5, "linewidths": 0}
                areas.append(self._cover(ax, borders, chosen, facecolors=COLOURS[k % len(COLOURS)], **style))
        return areas

    def _hatch(self, ax, borders):
        """Hatch the repetitions that an end of the recording cuts off."""
        style = {"facecolors": "none", "edgecolors": "0.45", "hatch": "///", "label": "partial"}
        return self._cover(ax, borders, self.partial, zorder=0.6, linewidths=0, **style)

    def _cover(self, ax, borders, chosen, **style):
        """Areas over some repetitions, from the bottom of the axes to the top."""
        from matplotlib.collections import PolyCollection

        left, right = borders[self.start[chosen]], borders[self.end[chosen]]
        corners = np.stack([left, left, right, right], axis=1)[:, :, np.newaxis]
        heights = np.broadcast_to(np.array([0, 1, 1, 0])[:, np.newaxis], corners.shape)
        area = PolyCollection(np.concatenate([corners, heights], axis=2), transform=ax.get_xaxis_transform(), **style)
        # The height is the axes' own, whatever the data: it must not move the limits.
        return ax.add_collection(area, autolim=False)

    def _add_legend(self):
        several = len(np.unique(self.label)) > 1
        handles = (self.repetition_areas_[0][1::2] if several else []) + self.partial_areas_[:1]
        if not handles:
            return None
        place = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": 7, "frameon": False, "borderaxespad": 0.2}
        return self.ax_.legend(handles=handles, **place)

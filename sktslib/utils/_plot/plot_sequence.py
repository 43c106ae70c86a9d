"""Displays of a search: the weighted query, and its occurrences in a sequence."""

from collections.abc import Mapping

import numpy as np

from .axes import (
    GREY,
    add_colorbar,
    column_width,
    draw_series,
    label_rows,
    make_axes,
    make_cmap,
    make_norm,
    positions,
    write,
)
from .plot_data import as_ranges, as_series, as_times, channel_names, field, thin

MAX_RANKS = 30  # ranks written; more of them hide the picture
RANK_SIZE = 8.0  # points


class SearchDisplay:
    """A sequence and the occurrences found in it.

    It is made by `plot_search_distance_result`, which describes the picture.

    Parameters
    ----------
    res : dict or object
        With `start`, `end` and `path_dist` or `distance`.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence that was searched.
    ts : array-like of shape (n,), optional
        Times of the sequence, numbers or datetimes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        All rows, one a channel.
    figure_ : matplotlib Figure
        The figure of the axes.
    sequence_lines_ : list of matplotlib Line2D
        The sequence in each row.
    occurrence_lines_ : list of matplotlib LineCollection
        The occurrences in each row, in order of rank; their array holds the distances.
    rank_texts_ : list of matplotlib Annotation
        The ranks, in the first row.
    colorbar_ : matplotlib Colorbar or None
        The scale of the distances; None without an occurrence.

    See Also
    --------
    sktslib.utils.visualisation.plot_search_distance_result : Makes and draws it.
    """

    def __init__(self, res, sequence, ts=None):
        self.sequence = as_series(sequence, "sequence")
        self.times = as_times(field(res, "times") if ts is None else ts, len(self.sequence), "ts", sequence)
        self.channels = channel_names(self.sequence.shape[1], sequence, res)
        start, end = field(res, "start"), field(res, "end")
        # A functional result keeps the whole profile under "distance".
        distance = field(res, "path_dist") if field(res, "path_dist") is not None else field(res, "distance")
        if start is None or end is None or distance is None:
            got = f"a dict with the keys {list(res)[:6]}" if isinstance(res, Mapping) else type(res).__name__
            raise ValueError(
                "The 'res' parameter must be the result of one distance, with 'start', 'end' and 'path_dist' (or "
                f"'distance'). Got {got}. Pass the entry of one distance, result[name]."
            )
        self.start, self.end = as_ranges(start, end, len(self.sequence), "res")
        self.distance = np.array(distance, dtype=np.float64)
        if self.distance.shape != self.start.shape:
            raise ValueError(
                f"The 'res' parameter must have one distance for each of its {len(self.start)} occurrences. "
                f"Got shape {self.distance.shape}. Pass the result of the search as it is."
            )

    def plot(self, ax=None, *, cmap=None):
        """Draw the sequence and its occurrences.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels. Default: a new figure, one row a channel, at most 8.
        cmap : str or matplotlib Colormap, optional
            Colours of the distances. Default: viridis without its yellow end.

        Returns
        -------
        display : SearchDisplay
            This display.
        """
        from matplotlib.collections import LineCollection

        x = positions(self.times)
        n_channels = self.sequence.shape[1]
        self.axes_, self.figure_ = make_axes(ax, n_channels)
        self.ax_ = self.axes_[0]
        style = {"cmap": make_cmap(cmap).with_extremes(bad="black"), "norm": make_norm(self.distance)}
        self.sequence_lines_, self.occurrence_lines_, self.rank_texts_, self.colorbar_ = [], [], [], None
        for ax, y in zip(self.axes_, self.sequence.T, strict=False):
            self.sequence_lines_.append(draw_series(ax, x, y, color=GREY, linewidth=0.8, label="sequence"))
            width = column_width(ax, x)
            pieces = [(x[a:b], y[a:b]) for a, b in zip(self.start, self.end, strict=True)]
            if width is not None:
                pieces = [thin(*piece, width) for piece in pieces]
            lines = LineCollection(
                [np.column_stack(p) for p in pieces], linewidths=1.8, zorder=3, label="occurrences", **style
            )
            lines.set_array(np.ma.masked_invalid(self.distance))
            self.occurrence_lines_.append(ax.add_collection(lines))
        label_rows(self.axes_, self.times, n_channels, self.channels)
        if len(self.start):
            self.colorbar_ = add_colorbar(self.figure_, self.occurrence_lines_[0], self.axes_, "distance")
        if 0 < len(self.start) <= MAX_RANKS:
            self._write_ranks(x, self.sequence[:, 0])
        return self

    def _write_ranks(self, x, y):
        """Write each rank above the peak of its occurrence, higher where another rank is in the way."""
        ax = self.ax_
        # Only now are the axes as wide as they will be: the colour bar has taken its share.
        self.figure_.canvas.figure.draw_without_rendering()
        filled = np.where(np.isnan(y), -np.inf, y)
        peaks = np.array([a + np.argmax(filled[a:b]) for a, b in zip(self.start, self.end, strict=True)])
        points = self.figure_.dpi / 72
        height = 1.35 * RANK_SIZE * points
        halves = np.array([(0.33 * len(str(k + 1)) + 0.15) * RANK_SIZE * points for k in range(len(peaks))])
        # Room for the topmost rank squeezes the scale, which moves the ranks: a few rounds settle it.
        for _ in range(4):
            to_pixels = ax.transData.transform
            columns = to_pixels(np.column_stack([x[peaks], np.zeros(len(peaks))]))[:, 0]
            ground = [_highest(x, filled, ax, *pair) for pair in zip(columns - halves, columns + halves, strict=True)]
            ground = to_pixels(np.column_stack([x[peaks], ground]))[:, 1]
            lows = _stack(columns, halves, ground + 2 * points, height)
            need = (lows.max() + height - ax.bbox.y1) / ax.bbox.height
            if need <= 0:
                break
            bottom, top = ax.get_ylim()
            ax.set_ylim(bottom, top + (top - bottom) * need / max(0.3, 1 - need))
        feet = ax.transData.inverted().transform(np.column_stack([columns, ground]))
        for k, foot in enumerate(feet):
            place, offset = (x[peaks[k]], foot[1]), (0, (lows[k] - ground[k]) / points)
            self.rank_texts_.append(write(ax, str(k + 1), place, offset, va="bottom", fontsize=RANK_SIZE, zorder=4))


def _highest(x, y, ax, left, right):
    """Return the highest value between two pixel columns."""
    (left, _), (right, _) = ax.transData.inverted().transform([(left, 0.0), (right, 0.0)])
    part = y[np.searchsorted(x, left) : np.searchsorted(x, right, side="right")]
    top = part.max(initial=-np.inf)
    return top if np.isfinite(top) else ax.get_ylim()[0]


def _stack(columns, halves, lows, height):
    """Return the lower edges of labels, from left to right raised until none covers another."""
    lows = lows.copy()
    order = np.argsort(columns, kind="stable")
    for n, k in enumerate(order):
        beside = [i for i in order[:n] if abs(columns[i] - columns[k]) < halves[i] + halves[k]]
        for i in sorted(beside, key=lambda i: lows[i]):
            if abs(lows[i] - lows[k]) < height:
                lows[k] = lows[i] + height
    return lows


class WeightedQueryDisplay:
    """A query coloured by the weights of its points.

    It is made by `plot_weight_query`, which describes the picture.

    Parameters
    ----------
    x : array-like of shape (m,) or None
        Times of the query, numbers or datetimes.
    query : array-like of shape (m,) or (m, channels)
        The query.
    weight : array-like of shape (m,) or (m, channels)
        The weights.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        All rows, one a channel.
    figure_ : matplotlib Figure
        The figure of the axes.
    query_lines_ : list of matplotlib LineCollection
        The query in each row, one piece a point; their array holds the weights.
    query_points_ : list of matplotlib PathCollection
        The points themselves.
    colorbar_ : matplotlib Colorbar
        The scale of the weights.

    See Also
    --------
    sktslib.utils.visualisation.plot_weight_query : Makes and draws it.
    """

    def __init__(self, x, query, weight):
        self.query = as_series(query, "query")
        self.times = as_times(x, len(self.query), "x", query)
        self.channels = channel_names(self.query.shape[1], query)
        self.weight = as_series(weight, "weight")
        m, n_channels = self.query.shape
        if len(self.weight) != m or self.weight.shape[1] not in (1, n_channels):
            raise ValueError(
                f"The 'weight' parameter must have shape ({m},) or {self.query.shape}, as the query. "
                f"Got shape {np.shape(weight)}. Pass one weight for each point of the query."
            )
        if not (self.weight >= 0).all():
            where = int(np.flatnonzero(~(self.weight >= 0).all(axis=1))[0])
            raise ValueError(
                "The 'weight' parameter must hold finite numbers in the range [0, inf). "
                f"Got {np.asarray(weight)[where]} at index {where}. Use 0 for points that do not count."
            )
        self.weight = np.broadcast_to(self.weight, self.query.shape)

    def plot(self, ax=None, *, cmap=None):
        """Draw the query.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels. Default: a new figure, one row a channel, at most 8.
        cmap : str or matplotlib Colormap, optional
            Colours of the weights. Default: viridis without its yellow end, the largest weight darkest.

        Returns
        -------
        display : WeightedQueryDisplay
            This display.
        """
        from matplotlib.collections import LineCollection

        x = positions(self.times)
        n_channels = self.query.shape[1]
        self.axes_, self.figure_ = make_axes(ax, n_channels)
        self.ax_ = self.axes_[0]
        # From 0, which is "don't care", so equal weights look like weights that count.
        style = {"cmap": make_cmap(cmap, reverse=True), "norm": make_norm(self.weight, low=0.0)}
        self.query_lines_, self.query_points_ = [], []
        for ax, y, weight in zip(self.axes_, self.query.T, self.weight.T, strict=False):
            # Each point colours the line halfway to its neighbours.
            knots = np.column_stack([x, y])
            halves = (knots[1:] + knots[:-1]) / 2
            left, right = np.vstack([knots[:1], halves]), np.vstack([halves, knots[-1:]])
            pieces = np.stack([left, knots, right], axis=1)
            lines = LineCollection(pieces, linewidths=2.5, label="query", **style)
            lines.set_array(weight)
            self.query_lines_.append(ax.add_collection(lines))
            # As wide as the line: they close its joints, and show a point that has no neighbour.
            self.query_points_.append(ax.scatter(x, y, s=2.5**2, c=weight, linewidths=0, **style))
        label_rows(self.axes_, self.times, n_channels, self.channels)
        self.colorbar_ = add_colorbar(self.figure_, self.query_lines_[0], self.axes_, "weight")
        return self

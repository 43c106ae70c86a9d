"""Display of a search: its occurrences in a sequence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .axes import (
    GRAY,
    Display,
    add_colorbar,
    add_legend,
    add_title,
    class_colors,
    label_rows,
    make_axes,
    make_cmap,
    make_norm,
    write,
)
from .envelope import (
    LONG,
    column_borders,
    draw_columns,
    draw_series,
    follow,
    inside,
    is_dense,
    make_room,
    n_columns,
    reduced,
)
from .plot_data import as_ranges, as_series, channel_names, field, found_in
from .time_axis import as_times

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._types import Sequences, Times

MAX_RANKS = 30  # ranks written; more of them hide the picture
RANK_SIZE = 8.0  # points
COLOR_BY = "auto", "distance", "query", "label"


class SearchDisplay(Display):
    """A sequence and the occurrences found in it.

    The sequence is gray, each occurrence colored by its distance, or by its query or class, the best one on top. Where
    there are more than one for four pixels of width, a strip below the sequence shows them instead: in each column the
    color of the best one. Up to 30 occurrences carry their rank.

    Parameters
    ----------
    res : dict or object
        With `start`, `end` and `path_dist` or `distance`, and perhaps `query` and `label`, such as `Matches`.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence that was searched.
    ts : array-like of shape (n,), optional
        Times of the sequence, numbers or datetimes; those with a time zone are drawn in it.

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
        The occurrences in each row, the best one last, so that it lies on top; empty where there are strips.
    strips_ : list of matplotlib PolyCollection
        The strips that stand for too many occurrences.
    rank_texts_ : list of matplotlib Annotation
        The ranks, in the first row, in order of the result.
    colorbar_ : matplotlib Colorbar or None
        The scale of the distances; None without an occurrence, and where colors are those of queries or classes.
    legend_ : matplotlib Legend or None
        The queries or classes.

    See Also
    --------
    sktslib.utils.visualisation.plot_search_distance_result : Makes and draws it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sktslib import QuerySearcher
    >>> from sktslib.utils.visualisation import SearchDisplay
    >>> searcher = QuerySearcher("euclidean", n_matches=2).fit([0, 1, 0])
    >>> display = SearchDisplay.from_estimator(searcher, [0, 0, 1, 0, 0, 2, 0], title="spikes")
    >>> display.occurrence_lines_[0].get_array().tolist()
    [1.0, 0.0]
    """

    def __init__(self, res: Any, sequence: Sequences, ts: ArrayLike | None = None) -> None:
        self.sequence = as_series(sequence, "sequence")
        given, called = (ts, None) if ts is not None else (field(res, "times"), field(res, "_time_name"))
        self.times = as_times(given, len(self.sequence), "ts", sequence, field(res, "_max_gap"), called)
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
        groups = {name: field(res, name) for name in ("label", "query")}
        self.groups = {k: np.asarray(v) for k, v in groups.items() if np.shape(v) == self.start.shape}

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Sequences, *, times: Times | None = None, ax: Axes | None = None, **style: Any
    ) -> Self:
        """Search a sequence and draw what is found.

        Parameters
        ----------
        estimator : QuerySearcher
            A fitted searcher.
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        times : array-like of shape (n,), optional
            Its times, numbers or datetimes.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : SearchDisplay
        """
        return cls.from_predictions(found_in(estimator, X, times), X, times=times, ax=ax, **style)

    @classmethod
    def from_predictions(
        cls, matches: Any, sequence: Sequences, *, times: Times | None = None, ax: Axes | None = None, **style: Any
    ) -> Self:
        """Draw the occurrences of a search.

        Parameters
        ----------
        matches : Matches or dict
            What a search returned.
        sequence : array-like of shape (n,) or (n, channels)
            The sequence that was searched.
        times : array-like of shape (n,), optional
            Its times. Default: those of the matches or of a pandas index.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : SearchDisplay
        """
        return cls(matches, sequence, times).plot(ax, **style)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        cmap: Any = None,
        color_by: str | None = "auto",
        title: str | None = None,
        time_range: Any = None,
    ) -> Self:
        """Draw the sequence and its occurrences.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels. Default: a new figure, one row a channel, at most 8.
        cmap : str or matplotlib Colormap, optional
            Colors of the distances. Default: viridis without its yellow end.
        color_by : {"auto", "distance", "query", "label"}, default="auto"
            What colors mean. "auto": classes or queries where there are several, else distances.
        title : str, optional
            Written above.
        time_range : tuple (start, end), optional
            The part that is shown, in times or else samples; None on one side: up to there. Datetimes without a zone
            are local.

        Returns
        -------
        display : SearchDisplay
            This display.
        """
        by = self._colored_by(color_by)
        view = self.times.view(time_range)
        n_channels = self.sequence.shape[1]
        self.axes_, self.figure_ = make_axes(ax, n_channels)
        self.ax_ = self.axes_[0]
        scale, colors, handles = self._colors(by, cmap)
        seen = inside(view, self.start, self.end)
        dense = is_dense(self.ax_, seen.sum())
        # The best one comes last, on top; of equal ones the first.
        order = np.argsort(np.where(np.isnan(self.distance), np.inf, self.distance), kind="stable")[::-1]
        style = {"color": GRAY, "linewidth": 0.8, "label": "sequence"}
        self.sequence_lines_ = draw_series(self.axes_, self.times, self.sequence.T, view, **style)
        self.occurrence_lines_, self.rank_texts_, self.strips_ = [], [], []
        for ax, y in zip(self.axes_, self.sequence.T, strict=False):
            lines = self._draw_lines(ax, y, order[:0] if dense else order, view, scale, colors)
            self.occurrence_lines_.append(lines)
            if dense:
                make_room(ax)
                each = scale.to_rgba(scale.get_array()) if colors is None else colors
                self.strips_.append(self._draw_strip(ax, order[seen[order]], view, each))
        label_rows(self.axes_, self.times, view, n_channels, self.channels)
        bar = by == "distance" and len(self.start) > 0
        self.colorbar_ = add_colorbar(self.figure_, scale, self.axes_, self._scale_name()) if bar else None
        self.legend_ = add_legend(self.ax_, handles)
        if 0 < seen.sum() <= MAX_RANKS and not dense:
            self._write_ranks(np.flatnonzero(seen), view)
        add_title(self.ax_, title)
        return self

    def _colored_by(self, color_by):
        if color_by not in COLOR_BY:
            raise ValueError(f"The 'color_by' parameter must be one of {', '.join(COLOR_BY)}. Got {color_by!r}.")
        if color_by in ("query", "label") and color_by not in self.groups:
            raise ValueError(
                f"The 'color_by' parameter must be 'distance' or 'auto' here: the result has no {color_by!r}. Got "
                f"{color_by!r}. Searches of several queries have queries, those learned from labels have labels."
            )
        if color_by == "auto":
            several = [name for name, values in self.groups.items() if len(np.unique(values)) > 1]
            return several[0] if several else "distance"
        return color_by

    def _scale_name(self):
        """What distances are of, where there is one query and it has a name."""
        names = np.unique(self.groups.get("label", []))
        return f"distance from {names[0]}" if len(names) == 1 and names.dtype.kind == "U" else "distance"

    def _colors(self, by, cmap):
        """The scale of the distances; or the color of each occurrence, and handles of a legend."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import to_rgba_array
        from matplotlib.lines import Line2D

        scale = ScalarMappable(make_norm(self.distance), make_cmap(cmap).with_extremes(bad="black"))
        scale.set_array(np.ma.masked_invalid(self.distance))
        if by == "distance":
            return scale, None, []
        classes, which = np.unique(self.groups[by], return_inverse=True)
        palette = to_rgba_array(class_colors(classes))
        names = [f"query {k}" for k in classes] if by == "query" else [f"{k}" for k in classes]
        handles = [Line2D([], [], color=c, linewidth=2.5, label=n) for c, n in zip(palette, names, strict=True)]
        return scale, palette[which], handles

    def _draw_lines(self, ax, y, order, view, scale, colors):
        from matplotlib.collections import LineCollection

        style = {"linewidths": 1.8, "zorder": 3, "label": "occurrences"}
        if colors is None:
            style |= {"array": scale.get_array()[order], "cmap": scale.cmap, "norm": scale.norm}
        else:
            style["colors"] = colors[order]
        lines = LineCollection(self._pieces(ax, y, order, view), **style)
        if len(order):
            follow(ax, self.times, view, lambda seen: lines.set_segments(self._pieces(ax, y, order, seen)))
        return ax.add_collection(lines, autolim=False)  # the sequence's line has set the limits

    def _pieces(self, ax, y, order, view):
        """The lines of occurrences; long ones are as coarse as the sequence's line."""
        count = view.end - view.first
        columns = n_columns(ax) / count if count > LONG else 1.0
        return [
            np.column_stack(reduced(self.times, y, a, b, max(1, int((b - a) * columns))))
            for a, b in zip(self.start[order].tolist(), self.end[order].tolist(), strict=True)
        ]

    def _draw_strip(self, ax, order, view, colors):
        """A strip of the best occurrence in each column."""
        borders = column_borders(ax, self.times, view)
        left, right = self.times.edges(self.start[order], self.end[order])
        n = len(borders) - 1
        first = np.clip(np.searchsorted(borders, left, "right") - 1, 0, n - 1)
        end = np.clip(np.searchsorted(borders, right), first + 1, n)
        best = np.full(n, -1)
        for a, b, k in zip(first.tolist(), end.tolist(), order.tolist(), strict=True):
            best[a:b] = k
        some = np.flatnonzero(best >= 0)
        return draw_columns(ax, borders[some], borders[some + 1], colors[best[some]], label="occurrences")

    def _write_ranks(self, ranks, view):
        """Write ranks above the peaks of their occurrences, higher where another rank is in the way."""
        ax, y = self.ax_, self.sequence[:, 0]
        # Only then are the axes as wide as they will be: the color bar takes its share.
        root = self.figure_.canvas.figure
        if root.get_layout_engine() is not None:
            root.get_layout_engine().execute(root)
        start, end = np.maximum(self.start[ranks], view.first), np.minimum(self.end[ranks], view.end)
        peaks = np.array([a + _peak(y[a:b]) for a, b in zip(start, end, strict=True)])
        x = self.times.at(peaks)
        points = self.figure_.dpi / 72
        height = 1.35 * RANK_SIZE * points
        halves = np.array([(0.33 * len(str(k + 1)) + 0.15) * RANK_SIZE * points for k in ranks])
        # Room for the topmost rank squeezes the scale, which moves the ranks: a few rounds settle it.
        for _ in range(4):
            to_pixels = ax.transData.transform
            columns = to_pixels(np.column_stack([x, np.zeros(len(peaks))]))[:, 0]
            ground = [self._highest(y, *pair) for pair in zip(columns - halves, columns + halves, strict=True)]
            ground = to_pixels(np.column_stack([x, ground]))[:, 1]
            lows = _stack(columns, halves, ground + 2 * points, height)
            need = (lows.max() + height - ax.bbox.y1) / ax.bbox.height
            if need <= 0:
                break
            bottom, top = ax.get_ylim()
            ax.set_ylim(bottom, top + (top - bottom) * need / max(0.3, 1 - need))
        feet = ax.transData.inverted().transform(np.column_stack([columns, ground]))
        for k, foot in enumerate(feet):
            place, offset = (x[k], foot[1]), (0, (lows[k] - ground[k]) / points)
            text = str(ranks[k] + 1)
            self.rank_texts_.append(write(ax, text, place, offset, va="bottom", fontsize=RANK_SIZE, zorder=4))

    def _highest(self, y, left, right):
        """Return the highest value between two pixel columns."""
        (left, _), (right, _) = self.ax_.transData.inverted().transform([(left, 0.0), (right, 0.0)])
        part = y[self.times.find(left) : self.times.find(right, "right")]
        top = np.fmax.reduce(part, initial=-np.inf)
        return top if np.isfinite(top) else self.ax_.get_ylim()[0]


def _peak(y):
    return int(np.nanargmax(y)) if np.isfinite(y).any() else 0


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

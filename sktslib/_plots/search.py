"""Displays of a search: its distance profile, its occurrences, the explanation of a match, and the weights of a query.

A profile is drawn with its threshold and matches. An explanation shows the cost of each point of the query, and where
the match is early or late.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .base import (
    BLUE,
    GRAY,
    LONG_LINE,
    VERMILION,
    Display,
    add_colorbar,
    add_legend,
    add_title,
    areas,
    as_path,
    as_ranges,
    as_series,
    as_times,
    channel_names,
    class_colors,
    column_borders,
    coverage,
    draw_columns,
    draw_series,
    draw_stack,
    field,
    follow,
    found_in,
    inside,
    is_dense,
    label_channels,
    label_rows,
    label_times,
    make_axes,
    make_cmap,
    make_norm,
    make_room,
    n_columns,
    numbered,
    of_estimator,
    pieces_around,
    query_of,
    reduced,
    write,
)

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes

    from ..utils._times import Sequences, Times


class ProfileDisplay(Display):
    """The distance of every candidate of a search, the threshold, and where the matches are.

    The distance of a window stands at its start, that of a subsequence at its end; with a sequence, its first channel
    is drawn above, the matches shaded. More matches than one for four pixels of width are a strip below the profile.

    Parameters
    ----------
    profile : Profile, array-like of shape (n_candidates,), or list of them
        Distances of all candidates; of several queries a list, which get one row each.
    matches : Matches, optional
        What was chosen of them.
    threshold : float or list of float, optional
        The largest distance of a match.
    sequence : array-like of shape (n,) or (n, channels), optional
        The sequence.
    times : array-like of shape (n,), optional
        Times of the sequence, numbers or datetimes. Default: those of the matches or of a pandas index.
    names : list of str, optional
        Names of several queries, such as `classes_` of the searcher.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        The row of the sequence, if there is one, and one row for each profile.
    figure_ : matplotlib Figure
        The figure of the axes.
    sequence_line_ : matplotlib Line2D or None
        The sequence.
    profile_lines_ : list of matplotlib Line2D
        The profiles.
    threshold_lines_ : list of matplotlib Line2D
        The thresholds; empty without any.
    match_points_ : list of matplotlib Line2D
        The matches on each profile; without points where strips stand for them.
    match_areas_ : matplotlib PolyCollection or None
        What shades them in the sequence.
    strips_ : list of matplotlib PolyCollection
        The strips that stand for too many matches.
    legend_ : matplotlib Legend or None
        What the lines and points are.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sktslib import QuerySearcher
    >>> from sktslib.utils.visualisation import ProfileDisplay
    >>> searcher = QuerySearcher("euclidean", threshold=0.5, n_matches=None).fit([0, 1, 0])
    >>> display = ProfileDisplay.from_estimator(searcher, [0, 0, 1, 0, 0, 2, 0])
    >>> display.match_points_[0].get_xdata().tolist()
    [1.0]
    """

    def __init__(
        self,
        profile: Any,
        matches: Any = None,
        threshold: float | None = None,
        sequence: Sequences | None = None,
        times: Times | None = None,
        names: Any = None,
    ) -> None:
        profiles = profile if _are_several(profile) else [profile]
        self.profiles = [as_series(getattr(p, "distance", p), "profile")[:, 0] for p in profiles]
        thresholds = threshold if isinstance(threshold, list) else [threshold] * len(profiles)
        if len(thresholds) != len(profiles):
            raise ValueError(
                f"The 'threshold' parameter must be one number, or one for each of the {len(profiles)} profiles. Got "
                f"{len(thresholds)}. Pass that of the searcher, threshold_."
            )
        self.thresholds = [None if t is None else float(t) for t in thresholds]
        self.sequence = None if sequence is None else as_series(sequence, "sequence")
        given, called = (times, None) if times is not None else (field(matches, "times"), field(matches, "_time_name"))
        longest = max(map(len, self.profiles))
        n = max(longest, _size(given), 0 if self.sequence is None else len(self.sequence))
        if self.sequence is None and given is None and matches is not None and len(matches.end):
            n = max(n, int(np.max(matches.end)))  # of windows there are fewer than of samples
        self.times = as_times(given, n, "times", sequence, field(matches, "_max_gap"), called)
        self.channels = channel_names(1 if self.sequence is None else self.sequence.shape[1], sequence, matches)
        several = len(profiles) > 1
        default = [f"query {k}" for k in range(len(profiles))] if several else ["distance"]
        self.names = default if names is None or not several else [str(name) for name in names]
        self.at_end = [_stands_at_end(p) for p in profiles]
        self.start = self.end = self.query = np.empty(0, int)
        if matches is not None:
            self.start, self.end = as_ranges(matches.start, matches.end, n, "matches")
            query = field(matches, "query")
            self.query = np.zeros(len(self.start), int) if query is None else np.asarray(query)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Sequences, *, times: Times | None = None, ax: Axes | None = None, **style: Any
    ) -> Self:
        """Search a sequence and draw the profile.

        Parameters
        ----------
        estimator : QuerySearcher
            A fitted searcher.
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        times : array-like of shape (n,), optional
            Its times.
        ax : list of matplotlib Axes, optional
            One for the sequence and one for each query. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : ProfileDisplay
        """
        profile = of_estimator(estimator, "profile", X, times=times)
        matches = of_estimator(estimator, "search", X, times=times)
        names = getattr(estimator, "classes_", None)
        return cls(profile, matches, estimator.threshold_, X, times, names).plot(ax, **style)

    @classmethod
    def from_predictions(
        cls,
        profile: Any,
        matches: Any = None,
        *,
        threshold: float | None = None,
        sequence: Sequences | None = None,
        times: Times | None = None,
        names: Any = None,
        ax: Axes | None = None,
        **style: Any,
    ) -> Self:
        """Draw a profile.

        Parameters
        ----------
        profile : Profile, array-like of shape (n_candidates,), or list of them
            The distances.
        matches : Matches, optional
            What was chosen of them.
        threshold : float or list of float, optional
            The largest distance of a match.
        sequence : array-like of shape (n,) or (n, channels), optional
            The sequence.
        times : array-like of shape (n,), optional
            Its times.
        names : list of str, optional
            Names of several queries.
        ax : list of matplotlib Axes, optional
            One for the sequence, if there is one, and one for each profile. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : ProfileDisplay
        """
        return cls(profile, matches, threshold, sequence, times, names).plot(ax, **style)

    def plot(self, ax: Axes | None = None, *, title: str | None = None, time_range: Any = None) -> Self:
        """Draw the profiles.

        Parameters
        ----------
        ax : list of matplotlib Axes, optional
            One for the sequence, if there is one, and one for each profile. Default: a new figure.
        title : str, optional
            Written above.
        time_range : tuple (start, end), optional
            The part that is shown, in times or else samples; None on one side: up to there.

        Returns
        -------
        display : ProfileDisplay
            This display.
        """
        view = self.times.view(time_range)
        above = self.sequence is not None
        self.axes_, self.figure_ = make_axes(ax, above + len(self.profiles), what="rows")
        self.ax_ = self.axes_[0]
        self.profile_lines_, self.threshold_lines_, self.match_points_, self.strips_ = [], [], [], []
        self.sequence_line_ = self.match_areas_ = None
        if above:
            self._draw_sequence(view)
        rows = self.axes_[above:]
        for number, row in enumerate(rows):
            self._draw_profile(row, number, view)
        label_times(self.axes_, self.times, view)
        if above:
            label_channels(self.axes_[:1], 1, self.channels and self.channels[:1])
        label_channels(rows, len(rows), self.names)
        drawn = [line for row in rows for line in row.lines[1:] if len(line.get_xdata())]
        self.legend_ = add_legend(rows[0], list({line.get_label(): line for line in drawn}.values()))
        add_title(self.ax_, title)
        return self

    def _draw_sequence(self, view):
        ax = self.ax_
        self.sequence_line_ = draw_series([ax], self.times, self.sequence.T, view, color=GRAY, linewidth=0.8)[0]
        seen = inside(view, self.start, self.end)
        if not is_dense(ax, seen.sum()):
            left, right = self.times.edges(self.start, self.end)
            self.match_areas_ = areas(ax, left, right, facecolors=BLUE, edgecolors=BLUE, alpha=0.3, linewidths=0.8)

    def _draw_profile(self, ax, number, view):
        distance = np.full(len(self.times), np.nan)
        distance[: len(self.profiles[number])] = self.profiles[number]
        gray = GRAY if view.end - view.first > LONG_LINE else "0.35"
        style = {"color": gray, "linewidth": 0.8, "label": "distance"}
        self.profile_lines_ += draw_series([ax], self.times, distance[np.newaxis], view, **style)
        own = self.query == number
        start, end = self.start[own], self.end[own]
        at = np.clip(end - 1 if self.at_end[number] else start, 0, len(distance) - 1)
        dense = is_dense(ax, inside(view, start, end).sum())
        places = at[:0] if dense else at
        style = {"color": BLUE, "marker": "o", "markersize": 4.5, "linestyle": "", "zorder": 3, "label": "match"}
        points = ax.plot(self.times.at(places), distance[places], **style)[0]
        self.match_points_.append(points)
        threshold = self.thresholds[number]
        if threshold is not None:
            style = {"color": VERMILION, "linewidth": 1.2, "linestyle": "dashed", "label": "threshold"}
            self.threshold_lines_.append(ax.axhline(threshold, **style))
        if dense:
            make_room(ax)
            borders = column_borders(ax, self.times, view)
            share = coverage(borders, *self.times.edges(start, end))
            self.strips_ += draw_stack(ax, borders, share[np.newaxis], [BLUE])


def _are_several(profile):
    return isinstance(profile, list) and bool(profile) and not np.isscalar(profile[0])


def _stands_at_end(profile):
    """Return whether candidates are numbered by their ends, as those of a subsequence search are."""
    return hasattr(profile, "end") and np.array_equal(profile.end, np.arange(1, len(profile.end) + 1))


def _size(times):
    return 0 if times is None or hasattr(times, "samples") else len(times)


if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ..utils._times import Sequences, Times

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
        The occurrences in each row, the best one last, so that it is on top; empty where there are strips.
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
        """Return the label of the axis of distances, which names the query if there is one and it has a name."""
        names = np.unique(self.groups.get("label", []))
        return f"distance from {names[0]}" if len(names) == 1 and names.dtype.kind == "U" else "distance"

    def _colors(self, by, cmap):
        """Return the scale of the distances; or the color of each occurrence, and handles of a legend."""
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
        """Return the lines of occurrences; long ones are as coarse as the sequence's line."""
        count = view.end - view.first
        columns = n_columns(ax) / count if count > LONG_LINE else 1.0
        return [
            np.column_stack(reduced(self.times, y, a, b, max(1, int((b - a) * columns))))
            for a, b in zip(self.start[order].tolist(), self.end[order].tolist(), strict=True)
        ]

    def _draw_strip(self, ax, order, view, colors):
        """Draw a strip of the best occurrence in each column."""
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


if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes

    from ..utils._times import Queries, Sequences, Times


class ExplanationDisplay(Display):
    """The query colored by what its points cost, the match on the query's time base, and its lag.

    Parameters
    ----------
    explanation : Explanation
        What ``Matches.explain`` returns.
    query : array-like of shape (m,) or (m, channels)
        The query.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence, whole.
    rescale : bool, default=False
        Whether to bring the match to the mean and the spread of the query, for searches that normalize.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        A row a channel, and one for the lag.
    figure_ : matplotlib Figure
        The figure of the axes.
    query_lines_ : list of matplotlib LineCollection
        The query in each row, one piece a point; their array holds the costs. Black, without an array,
        where a channel adds nothing to the costs that others have: without a vote, weight or metric.
    match_lines_ : list of matplotlib Line2D
        The match: the mean of the samples that meet each query point.
    lag_line_ : matplotlib Line2D
        How many samples later than at an even pace each query point is met.
    colorbar_ : matplotlib Colorbar
        The scale of the costs.
    legend_ : matplotlib Legend
        What the lines are.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sktslib import QuerySearcher
    >>> from sktslib.utils.visualisation import ExplanationDisplay
    >>> searcher = QuerySearcher("dtw").fit([0, 2, 0])
    >>> display = ExplanationDisplay.from_estimator(searcher, [5, 0, 3, 3, 0, 5])
    >>> display.query_lines_[0].get_array().tolist()
    [0.0, 2.0, 0.0]
    """

    def __init__(self, explanation: Any, query: Queries, sequence: Sequences, *, rescale: bool = False) -> None:
        self.explanation = explanation
        self.query, sequence_ = as_series(query, "query"), as_series(sequence, "sequence")
        if self.query.shape != np.shape(explanation.cost) or sequence_.shape[1] != self.query.shape[1]:
            raise ValueError(
                f"The 'query' parameter must have the shape of the explained costs, {np.shape(explanation.cost)}, and "
                f"'sequence' as many channels. Got shapes {self.query.shape} and {sequence_.shape}. Pass the query and "
                "the sequence of the search; a query that is compared by channel is searcher.query_, with its lags."
            )
        m = len(self.query)
        i, j = as_path(explanation.path, m, len(sequence_))
        self.channels = channel_names(self.query.shape[1], sequence, query)
        met = np.bincount(i, minlength=m)
        self.match = np.full(self.query.shape, np.nan)
        for k, y in enumerate(sequence_.T):
            np.divide(np.bincount(i, y[j], minlength=m), met, out=self.match[:, k], where=met > 0)
        self.rescaled = rescale
        if rescale and len(j):
            part = sequence_[j.min() : j.max() + 1]
            spread = np.nanstd(part, axis=0)
            scale = np.divide(np.nanstd(self.query, axis=0), spread, out=np.ones(len(spread)), where=spread > 0)
            self.match = (self.match - np.nanmean(part, axis=0)) * scale + np.nanmean(self.query, axis=0)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Sequences,
        *,
        match: Any = 0,
        times: Times | None = None,
        ax: Axes | None = None,
        **style: Any,
    ) -> Self:
        """Search a sequence and explain one match.

        Parameters
        ----------
        estimator : QuerySearcher
            A fitted searcher.
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        match : int, default=0
            Which of the matches, from 0.
        times : array-like of shape (n,), optional
            Times of the sequence, for metrics that use them.
        ax : list of matplotlib Axes, optional
            One for each channel, and one for the lag. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : ExplanationDisplay
        """
        matches = found_in(estimator, X, times)
        query = query_of(estimator, matches, match)
        rescale = getattr(estimator, "normalize_", None) is not None
        return cls(matches.explain(match), query, X, rescale=rescale).plot(ax, **style)

    @classmethod
    def from_predictions(
        cls,
        explanation: Any,
        query: Queries,
        sequence: Sequences,
        *,
        ax: Axes | None = None,
        rescale: bool = False,
        **style: Any,
    ) -> Self:
        """Draw an explanation.

        Parameters
        ----------
        explanation : Explanation
            What ``Matches.explain`` returns.
        query : array-like of shape (m,) or (m, channels)
            The query.
        sequence : array-like of shape (n,) or (n, channels)
            The sequence, whole.
        ax : list of matplotlib Axes, optional
            One for each channel, and one for the lag. Default: a new figure.
        rescale : bool, default=False
            Whether to bring the match to the mean and the spread of the query.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : ExplanationDisplay
        """
        return cls(explanation, query, sequence, rescale=rescale).plot(ax, **style)

    def plot(self, ax: Axes | None = None, *, cmap: Any = None, title: str | None = None) -> Self:
        """Draw the explanation.

        Parameters
        ----------
        ax : list of matplotlib Axes, optional
            One for each channel, and one for the lag. Default: a new figure.
        cmap : str or matplotlib Colormap, optional
            Colors of the costs. Default: viridis without its yellow end, the largest cost darkest.
        title : str, optional
            Written above.

        Returns
        -------
        display : ExplanationDisplay
            This display.
        """
        from matplotlib.collections import LineCollection
        from matplotlib.lines import Line2D

        m, n_channels = self.query.shape
        self.axes_, self.figure_ = make_axes(ax, n_channels + 1, what="channels and the lag", height=2.0)
        self.ax_ = self.axes_[0]
        x, cost = np.arange(m, dtype=float), np.asarray(self.explanation.cost)
        style = {"cmap": make_cmap(cmap, reverse=True), "norm": make_norm(cost, low=min(0.0, float(cost.min())))}
        self.query_lines_, self.match_lines_ = [], []
        costless = ~cost.any(axis=0) & cost.any()
        for k, row in enumerate(self.axes_[:-1]):
            name = "match, rescaled" if self.rescaled else "match"
            self.match_lines_ += row.plot(x, self.match[:, k], color=GRAY, linewidth=1.5, label=name)
            pieces = pieces_around(x, self.query[:, k])
            lines = LineCollection(pieces, linewidths=3, label="query", zorder=3, **style)
            lines.set_array(cost[:, k])
            if costless[k]:  # the color of no cost would say that it fits
                lines.set(array=None, color="black", linewidth=1.5)
            self.query_lines_.append(row.add_collection(lines))
            row.autoscale_view()
        last = self.axes_[-1]
        last.axhline(0, color=GRAY, linewidth=0.8)
        self.lag_line_ = last.plot(x, self.explanation.lag, color=VERMILION, marker="." if m < 60 else "")[0]
        label_channels(self.axes_, n_channels + 1, [*self._names(n_channels), "lag (samples)"])
        last.set_xlabel("point of the query")
        colored = self.query_lines_[int(np.argmin(costless))]
        self.colorbar_ = add_colorbar(self.figure_, colored, self.axes_, "cost")
        keys = [Line2D([], [], color=colored.cmap(0.6), linewidth=3, label="query, colored by cost")]
        if costless.any():
            keys.append(Line2D([], [], color="black", linewidth=1.5, label="query, without cost"))
        self.legend_ = add_legend(self.ax_, [self.match_lines_[0], *keys])
        shares = ", ".join(f"{name} {getattr(self.explanation, name):.2f}" for name in ("advance", "delay", "phase"))
        last.set_title(shares, loc="left", fontsize="medium")
        add_title(self.ax_, title)
        return self

    def _names(self, n_channels):
        return self.channels or (["value"] if n_channels == 1 else [f"channel {k}" for k in range(n_channels)])


if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ..utils._times import Queries, Times


class WeightedQueryDisplay(Display):
    """A query colored by the weights of its points.

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

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sktslib.utils.visualisation import WeightedQueryDisplay
    >>> display = WeightedQueryDisplay.from_predictions([0, 1, 2], [1.0, 0.5, 1.0])
    >>> display.query_lines_[0].get_array().tolist()
    [1.0, 0.5, 1.0]
    """

    def __init__(self, x: ArrayLike, query: Queries, weight: ArrayLike | None) -> None:
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

    @classmethod
    def from_estimator(cls, estimator: Any, *, query: Queries = 0, ax: Axes | None = None, **style: Any) -> Self:
        """Draw the query of a fitted estimator by its weights; without weights all are 1.

        Parameters
        ----------
        estimator : QuerySearcher
            A fitted searcher.
        query : int, default=0
            Which of several queries, from 0.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : WeightedQueryDisplay
        """
        x, weight = (numbered(getattr(estimator, name), query) for name in ("query_", "weight_"))
        return cls.from_predictions(x, weight, ax=ax, **style)

    @classmethod
    def from_predictions(
        cls,
        query: Queries,
        weight: ArrayLike | None = None,
        *,
        times: Times | None = None,
        ax: Axes | None = None,
        **style: Any,
    ) -> Self:
        """Draw a query by the weights of its points.

        Parameters
        ----------
        query : array-like of shape (m,) or (m, channels)
            The query.
        weight : array-like of shape (m,) or (m, channels), optional
            The weights. Default: 1.
        times : array-like of shape (m,), optional
            Times of the query, numbers or datetimes.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : WeightedQueryDisplay
        """
        return cls(times, query, np.ones(len(query)) if weight is None else weight).plot(ax, **style)

    def plot(
        self, ax: Axes | None = None, *, cmap: Any = None, title: str | None = None, time_range: Any = None
    ) -> Self:
        """Draw the query.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels. Default: a new figure, one row a channel, at most 8.
        cmap : str or matplotlib Colormap, optional
            Colors of the weights. Default: viridis without its yellow end, the largest weight darkest.
        title : str, optional
            Written above.
        time_range : tuple (start, end), optional
            The part that is shown, in times or else samples; None on one side: up to there.

        Returns
        -------
        display : WeightedQueryDisplay
            This display.
        """
        from matplotlib.collections import LineCollection

        view = self.times.view(time_range)
        x = self.times.between()
        n_channels = self.query.shape[1]
        self.axes_, self.figure_ = make_axes(ax, n_channels)
        self.ax_ = self.axes_[0]
        # From 0, which is "don't care", so equal weights look like weights that count.
        style = {"cmap": make_cmap(cmap, reverse=True), "norm": make_norm(self.weight, low=0.0)}
        self.query_lines_, self.query_points_ = [], []
        for ax, y, weight in zip(self.axes_, self.query.T, self.weight.T, strict=False):
            lines = LineCollection(pieces_around(x, y), linewidths=2.5, label="query", **style)
            lines.set_array(weight)
            self.query_lines_.append(ax.add_collection(lines))
            # As wide as the line: they close its joints, and show a point that has no neighbor.
            self.query_points_.append(ax.scatter(x, y, s=2.5**2, c=weight, linewidths=0, **style))
        label_rows(self.axes_, self.times, view, n_channels, self.channels)
        self.colorbar_ = add_colorbar(self.figure_, self.query_lines_[0], self.axes_, "weight")
        add_title(self.ax_, title)
        return self

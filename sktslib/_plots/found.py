"""Displays of results: profile and matches of a search, segments, events and repetitions; and weights of a query.

A profile is drawn with its threshold and matches. Events are hits, misses and false ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..search._selection import select
from ..utils import validation
from ..utils._times import Queries, Sequences, Times
from . import base
from .base import BLUE, GRAY, VERMILION, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# ------------------------------------------------------------------------------------------------------------- searches
class ProfileDisplay(Display):
    """The distance of every candidate of a search, the threshold, and where the matches are.

    The distance of a window stands at its start, that of a subsequence at its end; with a sequence, its first channel
    is drawn above, the matches shaded. More matches than one for four pixels of width are a strip below the profile.

    Parameters
    ----------
    profile : Profile, array-like of shape (n_candidates,), or list of them
        Distances of all candidates; for several queries a list, with one row each.
    matches : Matches, optional
        The matches that were selected from them.
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
        The matches on each profile; without points where strips replace them.
    match_areas_ : matplotlib PolyCollection or None
        The shaded matches in the sequence.
    strips_ : list of matplotlib PolyCollection
        The strips that replace the points of too many matches.
    legend_ : matplotlib Legend or None
        The meaning of lines and points.

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
        several = isinstance(profile, list) and bool(profile) and not np.isscalar(profile[0])
        profiles = profile if several else [profile]
        self.profiles = [base.as_series(getattr(p, "distance", p), "profile")[:, 0] for p in profiles]
        thresholds = threshold if isinstance(threshold, list) else [threshold] * len(profiles)
        if len(thresholds) != len(profiles):
            rule = f"be one number, or one for each of the {len(profiles)} profiles"
            raise base.refused("threshold", rule, len(thresholds), "Pass that of the searcher, threshold_.")
        self.thresholds = [None if t is None else float(t) for t in thresholds]
        self.sequence = None if sequence is None else base.as_series(sequence, "sequence")
        given = base.field(matches, "times") if times is None else times
        n = max(map(len, self.profiles))
        if sequence is None and given is None and matches is not None and len(matches.end):
            n = max(n, int(np.max(matches.end)))  # because there are fewer windows than samples
        n = base.n_samples(n, self.sequence, given)
        self.times = base.as_times(times, n, "times", sequence, matches)
        self.channels = base.channel_names(1 if sequence is None else self.sequence.shape[1], sequence, matches)
        numbers = [f"query {k}" for k in range(len(profiles))] if names is None else map(str, names)
        self.names = list(numbers) if len(profiles) > 1 else ["distance"]
        # Candidates of a subsequence search are identified by their ends.
        self.at_end = [hasattr(p, "end") and np.array_equal(p.end, np.arange(1, len(p.end) + 1)) for p in profiles]
        nothing = {"start": (), "end": ()}
        self.start, self.end = base.as_ranges(nothing if matches is None else matches, n, "matches")
        query = base.field(matches, "query")
        self.query = np.zeros(len(self.start), int) if query is None else np.asarray(query)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Sequences, *, times: Times | None = None, **style: Any) -> Self:
        """Search a sequence and draw the profile.

        Parameters
        ----------
        estimator : QuerySearcher
            A fitted searcher.
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        times : array-like of shape (n,), optional
            Its times.
        **style
            Passed on to `plot`, such as `ax` and `title`.

        Returns
        -------
        display : ProfileDisplay
        """
        profile, matches = (base.of_estimator(estimator, name, X, times=times) for name in ("profile", "search"))
        names = getattr(estimator, "classes_", None)
        return cls.from_predictions(profile, matches, estimator.threshold_, X, times, names, **style)

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
        view, above = self.times.view(time_range), self.sequence is not None
        self._make_axes(ax, above + len(self.profiles), what="rows")
        self.profile_lines_, self.threshold_lines_, self.match_points_, self.strips_ = [], [], [], []
        self.sequence_line_ = self.match_areas_ = None
        if above:
            (self.sequence_line_,) = base.draw_series(self.axes_[:1], view, self.sequence.T, color=GRAY, linewidth=0.8)
            if not view.is_dense(self.ax_, self.start, self.end):
                style = {"facecolors": BLUE, "edgecolors": BLUE, "alpha": 0.3, "linewidths": 0.8}
                self.match_areas_ = base.areas(self.ax_, *self.times.edges(self.start, self.end), **style)
        rows = self.axes_[above:]
        for number, row in enumerate(rows):
            self._draw_profile(row, number, view)
        self._label(self.channels[:above] + self.names, view)
        keys = {line.get_label(): line for row in rows for line in row.lines[1:] if len(line.get_xdata())}
        self.legend_ = self._write_above(None if above else title, list(keys.values()), rows[0])
        if above:
            self._write_above(title)
        return self

    def _draw_profile(self, ax, number, view):
        distance = np.full(len(self.times), np.nan)
        distance[: len(self.profiles[number])] = self.profiles[number]
        gray = GRAY if view.end - view.first > base.LONG_LINE else "0.35"
        style = {"color": gray, "linewidth": 0.8, "label": "distance"}
        self.profile_lines_ += base.draw_series([ax], view, distance[np.newaxis], **style)
        own = self.query == number
        start, end = self.start[own], self.end[own]
        dense = view.is_dense(ax, start, end)
        at = np.clip(end - 1 if self.at_end[number] else start, 0, len(distance) - 1)[: 0 if dense else None]
        style = {"color": BLUE, "marker": "o", "markersize": 4.5, "linestyle": "", "zorder": 3, "label": "match"}
        self.match_points_ += ax.plot(self.times.at(at), distance[at], **style)
        if self.thresholds[number] is not None:
            style = {"color": VERMILION, "linewidth": 1.2, "linestyle": "dashed", "label": "threshold"}
            self.threshold_lines_.append(ax.axhline(self.thresholds[number], **style))
        if dense:
            base.make_room(ax)
            self.strips_ += base.draw_strip(ax, view, [view.shares(ax, start, end)], [BLUE])


MAX_RANKS = 30  # most ranks that are written; more of them would hide the picture
RANK_SIZE = 8.0  # points


class SearchDisplay(Display):
    """A sequence and the occurrences found in it.

    The sequence is gray, each occurrence colored by its distance, or by its query or class, the best one on top. Where
    there are more than one for four pixels of width, a strip below the sequence shows them instead: in each column the
    color of the best one. Up to 30 occurrences carry their rank, as far as there is room for it.

    Parameters
    ----------
    matches : dict or object
        With `start`, `end` and `path_dist` or `distance`, and perhaps `query` and `label`, such as `Matches`.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence that was searched.
    times : array-like of shape (n,), optional
        Times of the sequence, numbers or datetimes; those with a time zone are drawn in it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        All rows, one per channel.
    figure_ : matplotlib Figure
        The figure of the axes.
    sequence_lines_ : list of matplotlib Line2D
        The sequence in each row.
    occurrence_lines_ : list of matplotlib LineCollection
        The occurrences in each row, the best one last, so that it is on top; empty where there are strips.
    strips_ : list of matplotlib PolyCollection
        The strips that replace too many occurrences.
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

    def __init__(self, matches: Any, sequence: Sequences, times: Times | None = None) -> None:
        self.sequence = base.as_series(sequence, "sequence")
        self.times = base.as_times(times, len(self.sequence), "ts", sequence, matches)
        self.channels = base.channel_names(self.sequence.shape[1], sequence, matches)
        start, end, distance, own = (base.field(matches, name) for name in ("start", "end", "distance", "path_dist"))
        distance = distance if own is None else own  # a functional result has the whole profile under "distance"
        if start is None or end is None or distance is None:
            is_dict = isinstance(matches, Mapping)
            got = f"a dict with the keys {list(matches)[:6]}" if is_dict else type(matches).__name__
            rule = "be the result of one distance, with 'start', 'end' and 'path_dist' (or 'distance')"
            raise base.refused("res", rule, got, "Pass the entry of one distance, result[name].")
        self.start, self.end = base.as_ranges(matches, len(self.sequence), "res")
        self.distance = np.array(distance, dtype=np.float64)
        if self.distance.shape != self.start.shape:
            rule, got = f"have one distance for each of its {len(self.start)} occurrences", self.distance.shape
            raise base.refused("res", rule, f"shape {got}", "Pass the result of the search as it is.")
        groups = {name: base.field(matches, name) for name in ("label", "query")}
        self.groups = {k: np.asarray(v) for k, v in groups.items() if np.shape(v) == self.start.shape}

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
            One for each of the first channels. Default: a new figure, one row per channel, at most 8.
        cmap : str or matplotlib Colormap, optional
            Colors of the distances. Default: viridis without its yellow end.
        color_by : {"auto", "distance", "query", "label"}, default="auto"
            The meaning of the colors. "auto": classes or queries where there are several, else distances.
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
        several = [name for name, values in self.groups.items() if len(np.unique(values)) > 1]
        by, valid = color_by, ["auto", "distance", *sorted(self.groups)]
        if by not in valid:
            out = "Results of several queries have a 'query', those of labeled ones a 'label'."
            raise base.refused("color_by", f"be one of {', '.join(valid)} here", repr(by), out)
        if by == "auto":
            by = several[0] if several else "distance"
        view = self.times.view(time_range)
        self._make_axes(ax, len(self.channels))
        scale, colors, keys = self._colors(by, cmap)
        dense = view.is_dense(self.ax_, self.start, self.end)
        # The best one is drawn last, on top of the others; ties: the first.
        order = np.argsort(np.where(np.isnan(self.distance), np.inf, self.distance), kind="stable")[::-1]
        style = {"color": GRAY, "linewidth": 0.8, "label": "sequence"}
        self.sequence_lines_ = base.draw_series(self.axes_, view, self.sequence.T, **style)
        self.occurrence_lines_, self.rank_texts_, self.strips_ = [], [], []
        for ax, y in zip(self.axes_, self.sequence.T, strict=False):
            lines = self._draw_lines(ax, y, order[: 0 if dense else None], view, scale, colors)
            self.occurrence_lines_.append(lines)
            if dense:
                base.make_room(ax)
                each = scale.to_rgba(scale.get_array()) if colors is None else colors
                self.strips_.append(self._draw_strip(ax, order, view, each))
        self._label(self.channels, view)
        names = np.unique(self.groups.get("label", []))
        text = f"distance from {names[0]}" if len(names) == 1 and names.dtype.kind == "U" else "distance"
        self.colorbar_ = self._add_colorbar(scale, text) if by == "distance" and len(self.start) else None
        self.legend_ = self._write_above(title, keys)
        seen = np.flatnonzero(view.inside(self.start, self.end))
        if 0 < len(seen) <= MAX_RANKS and not dense:
            self._write_ranks(seen, view)
        return self

    def _colors(self, by, cmap):
        """Return the color scale of the distances, or the color of each occurrence with handles for a legend."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.lines import Line2D

        scale = ScalarMappable(base.make_norm(self.distance), base.make_cmap(cmap).with_extremes(bad="black"))
        scale.set_array(np.ma.masked_invalid(self.distance))
        if by == "distance":
            return scale, None, []
        classes, which = np.unique(self.groups[by], return_inverse=True)
        palette = base.class_colors(classes)
        names = [f"query {k}" for k in classes] if by == "query" else [f"{k}" for k in classes]
        keys = [Line2D([], [], color=c, linewidth=2.5, label=n) for c, n in zip(palette, names, strict=True)]
        return scale, palette[which], keys

    def _draw_lines(self, ax, y, order, view, scale, colors):
        """Draw a line for each occurrence, at the resolution of the sequence's line."""
        from matplotlib.collections import LineCollection

        def pieces(view):
            share = view.columns(ax) / (view.end - view.first)
            ranges = zip(self.start[order].tolist(), self.end[order].tolist(), strict=True)
            lines = (base.reduced(self.times, y, a, b, max(1, int((b - a) * share))) for a, b in ranges)
            return [np.column_stack(line) for line in lines]

        style = {"array": scale.get_array()[order], "cmap": scale.cmap, "norm": scale.norm}
        style = style if colors is None else {"colors": colors[order]}
        lines = LineCollection(pieces(view), linewidths=1.8, zorder=3, label="occurrences", **style)
        if len(order):
            view.follow(ax, lambda seen: lines.set_segments(pieces(seen)))
        return ax.add_collection(lines, autolim=False)  # the sequence's line has already set the limits

    def _draw_strip(self, ax, order, view, colors):
        """Draw a strip with the color of the best occurrence in each column."""
        order = order[view.inside(self.start[order], self.end[order])]
        borders, (left, right) = view.borders(ax), self.times.edges(self.start[order], self.end[order])
        n = len(borders) - 1
        first = np.clip(np.searchsorted(borders, left, "right") - 1, 0, n - 1)
        end = np.clip(np.searchsorted(borders, right), first + 1, n)
        best = np.full(n, -1)
        for a, b, k in zip(first.tolist(), end.tolist(), order.tolist(), strict=True):
            best[a:b] = k
        some = np.flatnonzero(best >= 0)
        return base.draw_columns(ax, borders[some], borders[some + 1], colors[best[some]], label="occurrences")

    def _write_ranks(self, ranks, view):
        """Write ranks above the peaks of their occurrences; where ranks would overlap, only the best."""
        from matplotlib.patheffects import withStroke

        ax, y, (bottom, top) = self.ax_, self.sequence[:, 0], self.ax_.get_ylim()
        width, height = np.array(ax.bbox.size) * 72 / self.figure_.dpi  # points
        starts, ends = np.maximum(self.start[ranks], view.first), np.minimum(self.end[ranks], view.end)
        peaks = [a + np.argmax(np.nan_to_num(y[a:b], nan=-np.inf)) for a, b in zip(starts, ends, strict=True)]
        place, rank = self.times.at(peaks), np.argsort(np.argsort(self.distance[ranks], kind="stable"))
        # In tenths of a point. A digit is half as wide as high; some reserve, in case the axes become narrower.
        half = np.array([0.4 * len(str(k + 1)) + 0.2 for k in ranks]) * 10 * RANK_SIZE
        left, right = (place / np.ptp(ax.get_xlim()) * 10 * width + side * half for side in (-1, 1))
        ax.set_ylim(bottom, top + (top - bottom) * 2 * RANK_SIZE / height)  # room for the highest rank
        style = {"ha": "center", "va": "bottom", "fontsize": RANK_SIZE, "zorder": 4, "textcoords": "offset points"}
        style["path_effects"] = [withStroke(linewidth=2, foreground="white")]  # to be readable on any line
        for k in np.sort(select(rank.astype(float), left.astype(int), right.astype(int))):
            at = place[k], np.fmax(y[peaks[k]], bottom)
            self.rank_texts_.append(ax.annotate(str(ranks[k] + 1), at, (0, 2), **style))


class WeightedQueryDisplay(Display):
    """A query colored by the weights of its points.

    It is made by `plot_weight_query`, which describes the picture.

    Parameters
    ----------
    query : array-like of shape (m,) or (m, channels)
        The query.
    weight : array-like of shape (m,) or (m, channels), optional
        The weights. Default: 1.
    times : array-like of shape (m,), optional
        Times of the query, numbers or datetimes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        All rows, one per channel.
    figure_ : matplotlib Figure
        The figure of the axes.
    query_lines_ : list of matplotlib LineCollection
        The query in each row, with one piece per point; their array holds the weights.
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

    def __init__(self, query: Queries, weight: ArrayLike | None = None, times: Times | None = None) -> None:
        self.query = base.as_series(query, "query")
        self.weight = base.as_series(np.ones(len(self.query)) if weight is None else weight, "weight")
        m, n_channels = self.query.shape
        self.times = base.as_times(times, m, "x", query)
        self.channels = base.channel_names(n_channels, query)
        if len(self.weight) != m or self.weight.shape[1] not in (1, n_channels):
            rule, got = f"have shape ({m},) or {self.query.shape}, as the query", f"shape {np.shape(weight)}"
            raise base.refused("weight", rule, got, "Pass one weight for each point of the query.")
        if not (self.weight >= 0).all():
            where = int(np.flatnonzero(~(self.weight >= 0).all(axis=1))[0])
            rule, got = "hold finite numbers in the range [0, inf)", f"{np.asarray(weight)[where]} at index {where}"
            raise base.refused("weight", rule, got, "Use 0 for points that do not count.")
        self.weight = np.broadcast_to(self.weight, self.query.shape)

    @classmethod
    def from_estimator(cls, estimator: Any, *, query: Queries = 0, **style: Any) -> Self:
        """Draw the query of a fitted estimator by its weights; without weights all are 1.

        Parameters
        ----------
        estimator : QuerySearcher
            A fitted searcher.
        query : int, default=0
            Which of several queries, from 0.
        **style
            Passed on to `plot`, such as `ax` and `title`.

        Returns
        -------
        display : WeightedQueryDisplay
        """
        x, weight = (base.numbered(getattr(estimator, name), query) for name in ("query_", "weight_"))
        return cls.from_predictions(x, weight, **style)

    def plot(
        self, ax: Axes | None = None, *, cmap: Any = None, title: str | None = None, time_range: Any = None
    ) -> Self:
        """Draw the query.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels. Default: a new figure, one row per channel, at most 8.
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
        view, x = self.times.view(time_range), self.times.values[:]
        self._make_axes(ax, len(self.channels))
        # The scale starts at 0, "don't care", so that equal weights are drawn as weights that count.
        style = {"cmap": base.make_cmap(cmap, reverse=True), "norm": base.make_norm(self.weight, low=0.0)}
        self.query_lines_, self.query_points_ = [], []
        for ax, y, weight in zip(self.axes_, self.query.T, self.weight.T, strict=False):
            self.query_lines_.append(base.draw_pieces(ax, x, y, weight, linewidths=2.5, **style))
            # As wide as the line: they close its joints, and show points without neighbors.
            self.query_points_.append(ax.scatter(x, y, s=2.5**2, c=weight, linewidths=0, **style))
        self._label(self.channels, view)
        self.colorbar_ = self._add_colorbar(self.query_lines_[0], "weight")
        self._write_above(title)
        return self


# -------------------------------------------------------------------------------------------------------- segmentations
DARK, LIGHT = 0.42, 0.2  # opacity of the areas of neighbors


class SegmentationDisplay(Display):
    """A sequence cut into repetitions of patterns.

    Boundaries are dashed lines; repetitions are shaded, alternately light and dark, each class in its color.
    Repetitions that are narrower than two pixels are lines in the color of their class, without boundaries. Where there
    is more than one boundary for four pixels of width, or such lines would run into blocks, a strip below the sequence
    replaces both: each column is divided among the repetitions that cover it, and is the paler the less of it is
    covered.

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
        All rows: one per channel, or one per distance.
    figure_ : matplotlib Figure
        The figure of the axes.
    sequence_lines_ : list of matplotlib Line2D
        The sequence in each row.
    boundary_lines_ : list of matplotlib LineCollection
        The boundaries in each row.
    repetition_areas_ : list of list of matplotlib PolyCollection
        The shaded repetitions in each row, grouped by class and shade.
    partial_areas_ : list of matplotlib PolyCollection
        The hatched partial repetitions in each row; empty without any.
    strips_ : list of list of matplotlib PolyCollection
        The strips that replace too many boundaries in each row, grouped by class and shade. There are then no boundary
        lines and no shaded repetitions.
    legend_ : matplotlib Legend or None
        The classes of repetitions, if there are several, and the meaning of the hatches.

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
        self.start = self.end = self.label = np.empty(0, int)  # boundaries alone do not define repetitions
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
        rows, names = self.sequence.T, self.channels
        if self.names is not None:  # one row per distance
            rows, names = np.broadcast_to(rows[0], (len(self.names), rows.shape[1])), names[:1] * len(self.names)
        self._make_axes(ax, len(names), what="channels" if self.names is None else "distances")
        boundaries = self.boundaries * (len(self.axes_) if self.names is None else 1)
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
            # Use the edges of repetitions if known, because before a gap the end is not at the next sample.
            places = np.union1d(*self.times.edges(self.start, self.end)) if len(self.start) else self.times.at(cuts)
            places = [] if dense or narrow else places
            self.boundary_lines_.append(ax.vlines(places, 0, 1, transform=ax.get_xaxis_transform(), **style))
            self.repetition_areas_.append([] if dense else [self._shade(ax, *shade, narrow) for shade in shades])
            if self.partial.any():  # repetitions that an end of the recording cuts off
                hatch = {"facecolors": "none", "edgecolors": "0.45", "hatch": "///", "label": "partial"}
                ends = self.times.edges(self.start[self.partial], self.end[self.partial])
                self.partial_areas_.append(base.areas(ax, *ends, zorder=0.6, linewidths=0, **hatch))
        self._label(names, view)
        for ax, name in zip(self.axes_, self.names or [], strict=False):
            ax.set_title(name, loc="left", fontsize="medium")
        self.legend_ = self._write_above(title, self._keys(shades, narrow))
        return self

    def _shades(self):
        """Return (class, color, opacity, repetitions) for each class and shade; neighbors are light and dark."""
        turn = np.empty(len(self.start), dtype=int)
        turn[np.argsort(self.start, kind="stable")] = np.arange(len(self.start)) % 2
        classes = np.unique(self.label)
        return [
            (label, color[:3], alpha, np.flatnonzero((self.label == label) & (turn == dark)))
            for label, color in zip(classes, base.class_colors(classes), strict=True)
            for dark, alpha in enumerate((LIGHT, DARK))
        ]

    def _shade(self, ax, label, color, alpha, chosen, narrow):
        """Draw the areas of the repetitions with one class and shade; narrow ones as lines."""
        line = {"edgecolors": color, "alpha": 1.0, "zorder": 2.5, "linewidths": 1.5}
        style = line if narrow else {"alpha": alpha, "zorder": 0.5, "linewidths": 0}
        edges = self.times.edges(self.start[chosen], self.end[chosen])
        return base.areas(ax, *edges, facecolors=color, label=f"class {label}", **style)

    def _draw_strip(self, ax, cuts, view, shades, narrow):
        """Draw a strip with the colors that cover each column; boundaries alone are drawn by their number."""
        if not shades:
            count = np.histogram(self.times.at(cuts), view.borders(ax))[0]
            return base.draw_strip(ax, view, [count / max(count.max(), 1)], ["black"])
        shares = [view.shares(ax, self.start[chosen], self.end[chosen]) for *_, chosen in shades]
        # The dark shade is the class's own color, the light one is mixed with white.
        strength = [1.0 if narrow else alpha / DARK for _, _, alpha, _ in shades]
        colors = [s * color + 1 - s for s, (_, color, *_) in zip(strength, shades, strict=True)]
        return base.draw_strip(ax, view, shares, colors)

    def _keys(self, shades, narrow):
        """Return the handles of the legend: the classes, if there are several, and partial repetitions."""
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


# -------------------------------------------------------------------------------------------------- events, repetitions
EVENT_COLORS = {"hit": "#0072B2", "missed": "#E69F00", "false": "#CC79A7"}  # from the palette of Okabe & Ito
LANE, GAP = 0.07, 0.02  # height of each of the two lanes below a sequence, and of the gap between them


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
        The meaning of the colors, and the numbers of events.

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
        """Draw the events of one lane: the hits, and the others (missed or false)."""
        parts = {"hit": events[is_hit].T, other: events[~is_hit].T}
        if view.is_dense(ax, *events.T) or view.are_crowded(ax, *events.T):
            shares, colors = [view.shares(ax, *part) for part in parts.values()], [EVENT_COLORS[kind] for kind in parts]
            return dict(zip(parts, base.draw_strip(ax, view, shares, colors, low, high), strict=True))
        # A white rim separates neighbors; a rim in the event's color shows one that is thinner than a pixel.
        narrow = view.are_narrow(ax, *events.T)
        drawn = {}
        for kind, part in parts.items():
            color, places = EVENT_COLORS[kind], self.times.edges(*part)
            style = {"facecolors": color, "edgecolors": color if narrow else "white", "linewidths": 0.8, "zorder": 3}
            drawn[kind] = base.areas(ax, *places, low, high, **style)
        return drawn


def _events(y):
    """Return labels or events unchanged; matches and segments as ranges sorted by time."""
    events = np.column_stack([y.start, y.end]) if hasattr(y, "start") and hasattr(y, "end") else None
    return y if events is None else events[np.argsort(events[:, 0], kind="stable")]


MOST_LINES = 300  # most repetitions that are drawn


class RepetitionsDisplay(Display):
    """Repetitions of a query, their mean and their spread.

    Of more than 300 repetitions, 300 evenly chosen ones are drawn; mean and spread are those of all.

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
        """Draw the repetitions of a channel with their mean and spread."""
        from matplotlib.collections import LineCollection

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # for points that are missing in all repetitions
            mean, spread = np.nanmean(repetitions, axis=0), np.nanstd(repetitions, axis=0)
        x, n = np.arange(repetitions.shape[1]), len(repetitions)
        some = repetitions[np.linspace(0, n - 1, min(n, MOST_LINES)).astype(int)]
        style = {"colors": "0.35", "linewidths": 0.7, "alpha": max(0.08, min(0.6, 12 / len(some)))}
        lines = LineCollection([np.column_stack([x, one]) for one in some], label="repetitions", **style)
        self.repetition_lines_.append(row.add_collection(lines))
        style = {"color": BLUE, "alpha": 0.25, "linewidth": 0, "label": "±1 sd"}
        self.spread_areas_.append(row.fill_between(x, mean - spread, mean + spread, **style))
        self.mean_lines_ += row.plot(x, mean, color=BLUE, linewidth=2, label="mean")

"""Display of the distance profile of a search, with its threshold and matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .axes import BLUE, GRAY, VERMILION, Display, add_legend, add_title, label_channels, label_times, make_axes
from .envelope import LONG, areas, column_borders, coverage, draw_series, draw_stack, inside, is_dense, make_room
from .plot_data import as_ranges, as_series, channel_names, field, of_estimator
from .time_axis import as_times

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes

    from .._types import Sequences, Times


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
        gray = GRAY if view.end - view.first > LONG else "0.35"
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
    """Whether candidates are numbered by their ends, as those of a subsequence search are."""
    return hasattr(profile, "end") and np.array_equal(profile.end, np.arange(1, len(profile.end) + 1))


def _size(times):
    return 0 if times is None or hasattr(times, "samples") else len(times)

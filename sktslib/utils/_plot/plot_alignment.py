"""Display of an alignment: two series and the pairs between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..validation import check_count, check_number
from .axes import BLUE, VERMILION, Display, add_title, label_rows, make_axes
from .envelope import draw_series
from .plot_data import as_path, as_series, channel_names, found_in, query_of
from .time_axis import Times, View, as_times

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._types import Queries, Sequences

N_PAIRS = 100  # joining lines drawn when nothing else is asked for
SECONDS_PER_DAY = 86_400.0


class AlignmentDisplay(Display):
    """Two series, one above the other, and the pairs of a warping path between them.

    It is made by `plot_alignment`, which describes the picture.

    Parameters
    ----------
    ts1 : array-like of shape (m,) or (m, channels)
        The query.
    ts2 : array-like of shape (n,) or (n, channels)
        The sequence.
    path : array-like of shape (2, K)
        Indices into `ts1` and `ts2`.
    tx, ty : array-like of shape (m,) and (n,), optional
        Times of the two series, numbers or datetimes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        All rows, one a channel.
    figure_ : matplotlib Figure
        The figure of the axes.
    query_lines_, sequence_lines_ : list of matplotlib Line2D
        The two series in each row; the query is raised by `offsets_`.
    pair_lines_ : list of matplotlib LineCollection
        The joining lines of each row.
    query_axis_ : matplotlib SecondaryAxis or None
        The query's own axis above the first row, when the query is moved to where it was found.
    offsets_ : list of float
        What was added to the query in each row.
    shift_ : float
        What was added to the query's positions on the horizontal axis.

    See Also
    --------
    sktslib.utils.visualisation.plot_alignment : Makes and draws it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sktslib.distances import dtw
    >>> from sktslib.utils.visualisation import AlignmentDisplay
    >>> display = AlignmentDisplay.from_predictions([0, 2], [0, 0, 2], dtw([0, 2], [0, 0, 2]).path)
    >>> len(display.pair_lines_[0].get_segments())
    3
    """

    def __init__(
        self, ts1: ArrayLike, ts2: ArrayLike, path: Any, *, tx: ArrayLike | None = None, ty: ArrayLike | None = None
    ) -> None:
        self.query, self.sequence = as_series(ts1, "ts1"), as_series(ts2, "ts2")
        if self.query.shape[1] != self.sequence.shape[1]:
            raise ValueError(
                "The 'ts2' parameter must have as many channels as 'ts1'. "
                f"Got {self.sequence.shape[1]} and {self.query.shape[1]}. Select the same columns of both."
            )
        self.path = as_path(path, len(self.query), len(self.sequence))
        self.query_times = as_times(tx, len(self.query), "tx", ts1)
        self.sequence_times = as_times(ty, len(self.sequence), "ty", ts2)
        self.channels = channel_names(self.sequence.shape[1], ts2, ts1)

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
        """Search or segment a sequence and draw the alignment of one match with its query.

        Parameters
        ----------
        estimator : QuerySearcher or QuerySegmenter
            A fitted estimator.
        X : array-like of shape (n,) or (n, channels)
            The sequence.
        match : int, default=0
            Which of the matches, from 0.
        times : array-like of shape (n,), optional
            Times of the sequence.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : AlignmentDisplay
        """
        found = found_in(estimator, X, times)
        path = found.path(match)
        query = query_of(estimator, found, match)
        given = found.times if times is None else times
        return cls(query, X, path, ty=given).plot(ax, **style)

    @classmethod
    def from_predictions(
        cls,
        query: Queries,
        sequence: Sequences,
        path: Any,
        *,
        tx: ArrayLike | None = None,
        ty: ArrayLike | None = None,
        ax: Axes | None = None,
        **style: Any,
    ) -> Self:
        """Draw two series and the pairs of a warping path.

        Parameters
        ----------
        query : array-like of shape (m,) or (m, channels)
            The query.
        sequence : array-like of shape (n,) or (n, channels)
            The sequence.
        path : array-like of shape (2, K)
            Indices into both.
        tx, ty : array-like of shape (m,) and (n,), optional
            Times of the query and of the sequence.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : AlignmentDisplay
        """
        return cls(query, sequence, path, tx=tx, ty=ty).plot(ax, **style)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        offset: float | None = None,
        every: Any = None,
        title: str | None = None,
        time_range: Any = None,
    ) -> Self:
        """Draw the alignment.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels. Default: a new figure, one row a channel, at most 8.
        offset : float, optional
            What to add to the query. Default: just enough to keep the two apart.
        every : int, optional
            Draw every k-th pair. Default: about 100 pairs.
        title : str, optional
            Written above.
        time_range : tuple (start, end), optional
            The part of the sequence that is shown, in its times or else samples; None on one side: up to there.
            Default: the part around the path.

        Returns
        -------
        display : AlignmentDisplay
            This display.
        """
        if offset is not None:
            offset = check_number(offset, "offset", low=-1e300, high=1e300)
        every = check_count(every, "every", none=True) or max(1, round(self.path.shape[1] / N_PAIRS))
        from matplotlib.collections import LineCollection

        n_channels = self.query.shape[1]
        self.axes_, self.figure_ = make_axes(ax, n_channels, height=3.0)
        self.ax_ = self.axes_[0]
        view = self._shown() if time_range is None else self.sequence_times.view(time_range)
        x1, own_axis = self._positions()
        query = Times(x1, "")
        self.query_lines_, self.sequence_lines_, self.pair_lines_, self.offsets_ = [], [], [], []
        shown = slice(view.first, view.end)
        i, j = self.path[:, ::every]
        x2 = self.sequence_times.at(j)
        for ax, y1, y2 in zip(self.axes_, self.query.T, self.sequence.T, strict=False):
            raised = _offset(y1, y2[shown]) if offset is None else offset
            pairs = np.stack([np.column_stack([x1[i], y1[i] + raised]), np.column_stack([x2, y2[j]])], axis=1)
            lines = LineCollection(pairs, colors="0.6", linewidths=0.6, zorder=1, label="pairs")
            self.pair_lines_.append(ax.add_collection(lines))
            above = (y1 + raised)[np.newaxis]
            self.query_lines_ += draw_series([ax], query, above, View(0, len(x1)), color=VERMILION, label="query")
            below = y2[np.newaxis]
            self.sequence_lines_ += draw_series([ax], self.sequence_times, below, view, color=BLUE, label="sequence")
            self.offsets_.append(raised)
            _label_stack(ax, ((y1, raised, "query", VERMILION), (y2[shown], 0.0, "sequence", BLUE)))
        label_rows(self.axes_, self.sequence_times, view, n_channels, self.channels)
        self.query_axis_ = None if own_axis is None else self._add_query_axis(x1[0], *own_axis)
        add_title(self.ax_, title)
        return self

    def _add_query_axis(self, first, label, scale):
        """Put the query's own samples or times above the first row."""
        own = 0.0 if self.query_times.dates else self.query_times.values[0]
        there, back = lambda x: (np.asarray(x) - first) * scale + own, lambda x: (np.asarray(x) - own) / scale + first
        axis = self.ax_.secondary_xaxis("top", functions=(there, back))
        # The axis ends where the query ends.
        last = there(self.query_lines_[0].get_xdata()[-1])
        axis.set_xticks(_ticks(own, last, _step_of_ticks(last - own, 6)))
        axis.set_xlabel(label)
        return axis

    def _shown(self):
        """Return the part of the sequence around the path, one query length to both sides."""
        if self.path.shape[1] == 0:
            return View(0, len(self.sequence))
        m = len(self.query)
        first, end = int(self.path[1].min()) - m, int(self.path[1].max()) + 1 + m
        return View(max(0, first), min(end, len(self.sequence)))

    def _positions(self):
        """Return the query's places on the sequence's axis, and name and scale of its own axis, if any.

        The query stays where its times put it when two whole series are compared on one clock. It is moved over the
        path when the path covers less than half of the sequence, so an occurrence within it, or when its clock is
        another.
        """
        query, sequence = self.query_times, self.sequence_times
        x1, low, high = query.between(), *sequence.at([0, len(sequence) - 1])
        one_clock = query.dates == sequence.dates and (query.label == "sample") == (sequence.label == "sample")
        elapsed = (x1 - x1[0]) * (SECONDS_PER_DAY if query.dates else 1.0)
        scale = SECONDS_PER_DAY if sequence.dates else 1.0
        if not one_clock and sequence.label == "sample":
            scale = _step(elapsed)
        elif not one_clock and query.label == "sample":
            scale = 1 / _step(sequence.between(*self._shown()[:2]))
        i, j = self.path
        whole = i.size == 0 or 2 * (j.max() - j.min() + 1) > len(self.sequence)
        if one_clock and whole and x1[0] <= high and x1[-1] >= low:
            self.shift_ = 0.0
            return x1, None
        if not one_clock:
            x1 = elapsed / scale
        # The median makes the joining lines shortest.
        self.shift_ = float(np.median(sequence.at(j) - x1[i])) if i.size else float(low - x1[0])
        label = "query time (s)" if query.dates else f"query {query.label}"
        return x1 + self.shift_, (label, scale)


def _step(x):
    return float(np.median(np.diff(x))) if len(x) > 1 else 1.0


def _offset(y1, y2):
    """Return what to add to y1 so that it lies above y2 with a gap for the joining lines."""
    (low1, high1), (low2, high2) = _range(y1), _range(y2)
    return high2 - low1 + (0.2 * (high1 - low1 + high2 - low2) or 1.0)


def _label_stack(ax, stack):
    """Write both series' own values on the left axis and their names on the right."""
    # One step for both: the two share a scale, though not its zero.
    step = _step_of_ticks(sum(np.ptp(_range(y)) for y, *_ in stack), 10)
    ticks, labels = [], []
    for y, raised, name, color in stack:
        low, high = _range(y)
        values = _ticks(low, high, step)
        ticks.extend(values + raised)
        labels.extend(f"{v:g}".replace("-", "\N{MINUS SIGN}") for v in values)
        ax.text(
            1.01,
            (low + high) / 2 + raised,
            name,
            color=color,
            transform=ax.get_yaxis_transform(),
            va="center",
            rotation=90,
        )
    ax.set_yticks(ticks, labels)
    ax.margins(y=0.08)


def _step_of_ticks(length, n):
    """Return a round step of about n ticks along a length."""
    from matplotlib.ticker import MaxNLocator

    return float(np.diff(MaxNLocator(n, steps=[1, 2, 5, 10]).tick_values(0.0, length)[:2])[0]) if length > 0 else 1.0


def _ticks(low, high, step):
    """Return the multiples of a step within a range, or the only value of a range too short for any."""
    # Adding 0 makes 0 of -0.
    values = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step + 0.0
    return values if values.size else np.array([(low + high) / 2])


def _range(y):
    """The least and the largest value; 0 where there is none."""
    return (float(np.nanmin(y)), float(np.nanmax(y))) if np.isfinite(y).any() else (0.0, 0.0)


def plot_alignment(
    ts1: ArrayLike,
    ts2: ArrayLike,
    path: Any,
    *,
    ax: Axes | None = None,
    offset: float | None = None,
    every: Any = None,
    tx: ArrayLike | None = None,
    ty: ArrayLike | None = None,
    title: str | None = None,
    time_range: Any = None,
) -> AlignmentDisplay:
    """Draw two series, one above the other, and join the points that a warping path pairs.

    Of `ts2` the part around the path is shown, with one query length to both sides. When the path covers less than
    half of `ts2`, as that of a search result does, `ts1` is moved above that part and gets its own axis there; the axis
    below keeps the samples or times of `ts2`. The scale on the left gives each series' own values.

    Parameters
    ----------
    ts1 : array-like of shape (m,) or (m, channels)
        The query.
    ts2 : array-like of shape (n,) or (n, channels)
        The sequence, whole.
    path : array-like of int, shape (2, K)
        Indices into `ts1` (first row) and into the whole of `ts2` (second row).
    ax : matplotlib Axes or sequence of them, optional
        One for each of the first channels. Default: a new figure, one row a channel, at most 8.
    offset : float, optional
        What to add to `ts1` so that it lies above `ts2`, in the units of the series. Default: just enough.
    every : int, optional
        Draw every k-th pair of the path. Default: about 100 pairs.
    tx : array-like of shape (m,), optional
        Times of `ts1`: increasing numbers or datetimes. Default: sample indices. Next to datetimes in `ty`, numbers are
        seconds.
    ty : array-like of shape (n,), optional
        Times of `ts2`.
    title : str, optional
        Written above.
    time_range : tuple (start, end), optional
        The part of `ts2` that is shown, in its times or else samples. Default: the part around the path.

    Returns
    -------
    display : AlignmentDisplay
        What was drawn: `ax_`, `figure_`, `query_lines_`, `sequence_lines_`, `pair_lines_`, `query_axis_`.

    Raises
    ------
    ValueError
        If a series, the path or the times have a wrong shape, the path leaves a series, times do not increase, or there
        are more axes than channels.
    TypeError
        If a series holds no numbers, or `offset` or `every` is none.

    See Also
    --------
    plot_costmatrix : The same path within the accumulated costs.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> from sktslib.utils.visualisation import plot_alignment
    >>> display = plot_alignment([0, 1, 0], [0, 0, 1, 1, 0], [[0, 0, 1, 1, 2], [0, 1, 2, 3, 4]])
    >>> display.ax_.get_xlabel()
    'sample'
    >>> len(display.pair_lines_[0].get_segments())
    5
    >>> plt.close(display.figure_)
    """
    return AlignmentDisplay(ts1, ts2, path, tx=tx, ty=ty).plot(
        ax, offset=offset, every=every, title=title, time_range=time_range
    )

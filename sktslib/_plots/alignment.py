"""Displays of an alignment and of the distances of a collection.

An alignment is drawn as two series with the pairs between them, or as a path through its cost matrix. Distances are
drawn as a heat map in the order of a dendrogram.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..utils.validation import check_count, check_number
from .base import (
    BLUE,
    VERMILION,
    Display,
    Times,
    View,
    add_colorbar,
    add_legend,
    add_title,
    as_path,
    as_series,
    as_times,
    channel_names,
    class_colors,
    draw_columns,
    draw_series,
    found_in,
    label_rows,
    make_axes,
    make_cmap,
    make_norm,
    of_estimator,
    query_of,
)

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ..utils._times import Queries, Sequences

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
    """Return what to add to y1 so that it is above y2 with a gap for the joining lines."""
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
    """Return the least and the largest value; 0 where there is none."""
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
        What to add to `ts1` so that it is above `ts2`, in the units of the series. Default: just enough.
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


if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes

    from ..utils._times import Queries, Sequences

BESIDE = 0.22  # height of the panels with the series, of that of the matrix
MOST_CELLS = 2000  # rows and columns of the image; a larger matrix is drawn by every k-th


class CostMatrixDisplay(Display):
    """Accumulated costs of an alignment as an image, with its path and the two series next to it.

    Parameters
    ----------
    matrix : array-like of shape (m, n)
        Accumulated costs.
    path : array-like of shape (2, K), optional
        Indices of rows and columns.
    query, sequence : array-like of shape (m,) or (m, channels) and (n,) or (n, channels), optional
        The two series, drawn on the left and above.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the matrix.
    figure_ : matplotlib Figure
        The figure of the axes.
    image_ : matplotlib AxesImage
        The costs; those that are not finite are masked.
    path_line_ : matplotlib Line2D or None
        The path.
    colorbar_ : matplotlib Colorbar
        The scale of the costs.
    query_ax_, sequence_ax_ : matplotlib Axes or None
        The panels next to the matrix.
    query_lines_, sequence_lines_ : list of matplotlib Line2D
        The two series there, a line a channel.

    See Also
    --------
    sktslib.utils.visualisation.plot_costmatrix : Makes and draws it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sktslib.distances import DTW
    >>> from sktslib.utils.visualisation import CostMatrixDisplay
    >>> display = CostMatrixDisplay.from_estimator(DTW(), [0, 1, 2], [0, 0, 1, 2])
    >>> display.path_line_.get_xdata().tolist()
    [0, 1, 2, 3]
    >>> display.sequence_lines_[0].get_ydata().tolist()
    [0.0, 0.0, 1.0, 2.0]
    """

    def __init__(
        self, matrix: Any, path: Any = None, query: Queries | None = None, sequence: Sequences | None = None
    ) -> None:
        if np.ndim(matrix) != 2:
            raise ValueError(
                f"The 'matrix' parameter must have shape (m, n). Got shape {np.shape(matrix)}. "
                'Pass the cost matrix of one alignment, for example dtw(x, y, report="cost_matrix").'
            )
        self.matrix = as_series(matrix, "matrix")
        way_out = "Subtract the start from the sequence indices of a path found in a search."
        self.path = None if path is None else as_path(path, *self.matrix.shape, way_out)
        self.query = self._beside(query, "query", 0)
        self.sequence = self._beside(sequence, "sequence", 1)

    def _beside(self, series, name, axis):
        if series is None:
            return None
        series = as_series(series, name)
        if len(series) != self.matrix.shape[axis]:
            what = "columns" if axis else "rows"
            raise ValueError(
                f"The {name!r} parameter must have a point for each of the {self.matrix.shape[axis]} {what} of the "
                f"matrix. Got {len(series)}. Pass the two series of the alignment."
            )
        return series

    @classmethod
    def from_estimator(
        cls, estimator: Any, query: Queries, sequence: Sequences, *, ax: Axes | None = None, **style: Any
    ) -> Self:
        """Align two series and draw the costs.

        Parameters
        ----------
        estimator : Metric, or estimator with a `metric_`
            What aligns them: a metric object such as ``DTW()``, or that of a fitted estimator. Both series are
            normalized as `normalize` of a QuerySearcher says, and drawn so; its weights and times do not count here.
        query : array-like of shape (m,) or (m, channels)
            The query.
        sequence : array-like of shape (n,) or (n, channels)
            The sequence, or the part of it where the query was found.
        ax : matplotlib Axes, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : CostMatrixDisplay
        """
        metric = getattr(estimator, "metric_", estimator)
        if hasattr(estimator, "_normalized"):
            query, sequence = estimator._normalized(query, "query"), estimator._normalized(sequence, "sequence")
        return cls.from_predictions(metric.distance(query, sequence), query, sequence, ax=ax, **style)

    @classmethod
    def from_predictions(
        cls,
        alignment: Any,
        query: Queries | None = None,
        sequence: Sequences | None = None,
        *,
        ax: Axes | None = None,
        **style: Any,
    ) -> Self:
        """Draw the costs of an alignment.

        Parameters
        ----------
        alignment : Alignment
            What an elastic distance returned, such as ``dtw(query, sequence)``.
        query : array-like of shape (m,) or (m, channels), optional
            The query, drawn on the left.
        sequence : array-like of shape (n,) or (n, channels), optional
            The sequence, drawn above.
        ax : matplotlib Axes, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : CostMatrixDisplay

        Raises
        ------
        TypeError
            If `alignment` has no cost matrix.
        """
        if not hasattr(alignment, "cost_matrix"):
            raise TypeError(
                "The 'alignment' parameter must have a cost matrix and a path. Got "
                f"{type(alignment).__name__}. Pass what an elastic distance returns, for example dtw(query, sequence)."
            )
        return cls(alignment.cost_matrix, alignment.path, query, sequence).plot(ax, **style)

    def plot(self, ax: Axes | None = None, *, cmap: Any = None, title: str | None = None) -> Self:
        """Draw the costs.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. Default: a new figure.
        cmap : str or matplotlib Colormap, optional
            Default: viridis without its yellow end.
        title : str, optional
            Written above.

        Returns
        -------
        display : CostMatrixDisplay
            This display.
        """
        axes, self.figure_ = make_axes(ax, 1, height=4.5, width=8.0, what="matrix")
        self.ax_ = ax = axes[0]
        m, n = self.matrix.shape
        some = self.matrix[:: -(-m // MOST_CELLS), :: -(-n // MOST_CELLS)]
        # Gray is no color of the map: cells outside a band cannot be taken for cheap or dear ones.
        self.image_ = ax.imshow(
            np.ma.masked_invalid(some),
            origin="lower",
            aspect="auto",
            interpolation="nearest",
            extent=(-0.5, n - 0.5, -0.5, m - 0.5),
            cmap=make_cmap(cmap).with_extremes(bad="0.85"),
            norm=make_norm(some),
        )
        self.path_line_ = None if self.path is None else self._draw_path()
        ax.set(xlabel="sequence sample", ylabel="query sample")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(_whole_numbers("auto"))
        self.colorbar_ = add_colorbar(self.figure_, self.image_, axes, "accumulated cost")
        self.query_ax_ = self.sequence_ax_ = None
        self.query_lines_, self.sequence_lines_ = [], []
        if self.sequence is not None:
            self.sequence_ax_ = ax.inset_axes([0, 1.02, 1, BESIDE], sharex=ax)
            self.sequence_lines_ = self.sequence_ax_.plot(np.arange(n), self.sequence, color=BLUE, linewidth=1)
            self.sequence_ax_.tick_params(labelbottom=False)
            self.sequence_ax_.set_ylabel("sequence")
        if self.query is not None:
            self._draw_query(np.arange(m))
        add_title(self.sequence_ax_ or ax, title)
        return self

    def _draw_path(self):
        from matplotlib.patheffects import withStroke

        # A dark rim keeps a white line visible on every color, whatever the eye.
        rim = [withStroke(linewidth=3.5, foreground="black")]
        style = {"color": "white", "linewidth": 1.8, "path_effects": rim, "label": "path"}
        # A path of one pair is no line.
        style["marker"] = "o" if self.path.shape[1] == 1 else ""
        return self.ax_.plot(self.path[1], self.path[0], scalex=False, scaley=False, **style)[0]

    def _draw_query(self, y):
        """Draw the query on the left, its values growing away from the matrix."""
        width = BESIDE * 0.75
        self.query_ax_ = ax = self.ax_.inset_axes([-0.015 - width, 0, width, 1], sharey=self.ax_)
        self.query_lines_ = ax.plot(self.query, y, color=VERMILION, linewidth=1)
        ax.invert_xaxis()
        ax.xaxis.set_major_locator(_whole_numbers(3, integer=False, prune="lower"))
        ax.set(ylabel="query sample", xlabel="query")
        self.ax_.set_ylabel("")
        self.ax_.tick_params(labelleft=False)


def _whole_numbers(count, integer=True, prune=None):
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(count, integer=integer, prune=prune, steps=[1, 2, 5, 10])


if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes

    from ..utils._times import Sequences

TREE, CLASSES = 0.2, 0.03  # heights of the dendrogram and of the strip of classes, of that of the map
MOST_NAMES = 40  # rows that are named


class PairwiseDisplay(Display):
    """Distances of a collection as a heat map, series that are alike side by side, with the dendrogram that orders it.

    Series are joined by hierarchical clustering (`scipy.cluster.hierarchy`); of asymmetric distances the mean of both
    directions counts, and infinite ones count as the largest finite one.

    Parameters
    ----------
    distances : array-like of shape (n_series, n_series) or (n_series, n_others)
        All distances; of two collections there is no dendrogram, and the order is theirs.
    labels : array-like of shape (n_series,), optional
        Names of the series, or their classes where they are fewer: then a strip shows them by color.
    linkage : str, default="average"
        How clusters are joined, as in ``scipy.cluster.hierarchy.linkage``; None: no dendrogram, and the order as given.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the map.
    figure_ : matplotlib Figure
        The figure of the axes.
    image_ : matplotlib AxesImage
        The distances in their order; those that are not finite are masked.
    order_ : ndarray of int of shape (n_series,)
        The series in the order of the rows and columns.
    linkage_ : ndarray of shape (n_series - 1, 4) or None
        The clustering, as scipy gives it.
    tree_ax_ : matplotlib Axes or None
        The panel of the dendrogram.
    tree_lines_ : matplotlib LineCollection or None
        The dendrogram, one line a join.
    class_strip_ : matplotlib PolyCollection or None
        The classes.
    colorbar_ : matplotlib Colorbar
        The scale of the distances.
    legend_ : matplotlib Legend or None
        The classes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sktslib.neighbors import PairwiseDistances
    >>> from sktslib.utils.visualisation import PairwiseDisplay
    >>> X = [[0, 1, 0], [5, 6, 5], [0, 1, 1], [5, 5, 5]]
    >>> display = PairwiseDisplay.from_estimator(PairwiseDistances().fit(X), X)
    >>> sorted(display.order_[:2].tolist())
    [0, 2]
    """

    def __init__(self, distances: Any, labels: Any = None, *, linkage: Any = "average") -> None:
        if np.ndim(distances) != 2:
            raise ValueError(
                f"The 'distances' parameter must have shape (n_series, n_others). Got shape {np.shape(distances)}. "
                "Pass what pairwise_distances returns."
            )
        self.distances = as_series(distances, "distances")
        n, others = self.distances.shape
        self.labels = None if labels is None else np.asarray(labels)
        if labels is not None and self.labels.shape != (n,):
            raise ValueError(
                f"The 'labels' parameter must have one entry for each of the {n} series. Got shape {self.labels.shape}."
            )
        self.order_, self.linkage_ = np.arange(n), None
        if n == others and n > 1 and linkage is not None:
            self._cluster(linkage)

    def _cluster(self, linkage):
        from scipy.cluster import hierarchy
        from scipy.spatial.distance import squareform

        both = (self.distances + self.distances.T) / 2
        finite = both[np.isfinite(both)]
        both = np.where(np.isfinite(both), both, finite.max() if finite.size else 1.0)
        np.fill_diagonal(both, 0.0)
        self.linkage_ = hierarchy.linkage(squareform(both, checks=False), linkage)
        self.order_ = hierarchy.leaves_list(self.linkage_)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Sequences,
        *,
        labels: Any = None,
        linkage: Any = "average",
        ax: Axes | None = None,
        **style: Any,
    ) -> Self:
        """Compute the distances of a collection and draw them.

        Parameters
        ----------
        estimator : PairwiseDistances
            A fitted estimator whose `transform` gives the distances to the collection that it was fitted to.
        X : collection of n_series series
            The same collection for a dendrogram; another one for a map alone.
        labels : array-like of shape (n_series,), optional
            Names or classes of the series.
        linkage : str or None, default="average"
            How clusters are joined.
        ax : matplotlib Axes, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : PairwiseDisplay
        """
        distances = of_estimator(estimator, "transform", X)
        return cls.from_predictions(distances, labels=labels, linkage=linkage, ax=ax, **style)

    @classmethod
    def from_predictions(
        cls, distances: Any, *, labels: Any = None, linkage: Any = "average", ax: Axes | None = None, **style: Any
    ) -> Self:
        """Draw distances.

        Parameters
        ----------
        distances : array-like of shape (n_series, n_series) or (n_series, n_others)
            The distances.
        labels : array-like of shape (n_series,), optional
            Names or classes of the series.
        linkage : str or None, default="average"
            How clusters are joined.
        ax : matplotlib Axes, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : PairwiseDisplay
        """
        return cls(distances, labels, linkage=linkage).plot(ax, **style)

    def plot(self, ax: Axes | None = None, *, cmap: Any = None, title: str | None = None) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. Default: a new figure.
        cmap : str or matplotlib Colormap, optional
            Default: viridis without its yellow end.
        title : str, optional
            Written above.

        Returns
        -------
        display : PairwiseDisplay
            This display.
        """
        axes, self.figure_ = make_axes(ax, 1, height=5.5, width=7.5, what="map")
        self.ax_ = ax = axes[0]
        n, others = self.distances.shape
        columns = self.order_ if self.linkage_ is not None else np.arange(others)
        rows, columns = self.order_[:: -(-n // MOST_CELLS)], columns[:: -(-others // MOST_CELLS)]
        some = self.distances[np.ix_(rows, columns)]
        self.image_ = ax.imshow(
            np.ma.masked_invalid(some),
            aspect="auto",
            interpolation="nearest",
            extent=(-0.5, others - 0.5, n - 0.5, -0.5),
            cmap=make_cmap(cmap).with_extremes(bad="0.85"),
            norm=make_norm(some),
        )
        self.colorbar_ = add_colorbar(self.figure_, self.image_, axes, "distance")
        classes = [] if self.labels is None else np.unique(self.labels)
        grouped = 0 < len(classes) < n
        self._name_rows(names=self.labels if len(classes) and not grouped else None)
        self.tree_ax_ = self.tree_lines_ = self.class_strip_ = self.legend_ = None
        above = 1.01
        handles = []
        if grouped:
            handles = self._draw_classes(classes, above)
            above += CLASSES + 0.01
        if self.linkage_ is not None:
            self._draw_tree(above)
        highest = self.tree_ax_ or ax
        self.legend_ = add_legend(highest, handles) if handles else None
        add_title(highest, title)
        return self

    def _name_rows(self, names):
        """Name series in their order: by their names, or by their numbers; where they are too many, not at all."""
        from matplotlib.ticker import MaxNLocator

        ax, n = self.ax_, len(self.order_)
        texts = [str(name) for name in (self.order_ if names is None else names[self.order_])]
        few = n <= MOST_NAMES
        ax.set_yticks(range(n) if few else [], texts if few else [])
        ax.set_ylabel("" if few and names is not None else "series" if few else f"{n} series")
        if self.linkage_ is None:
            ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
            ax.set_xlabel("other series")
            return
        ax.set_xticks(range(n) if few else [], texts if few else [])
        ax.tick_params(labelsize="x-small" if n > MOST_NAMES // 2 else "medium")
        if n > MOST_NAMES // 2 or max(map(len, texts)) > 2:
            ax.tick_params(axis="x", rotation=90)

    def _draw_classes(self, classes, bottom):
        from matplotlib.colors import to_rgba_array
        from matplotlib.patches import Patch

        palette = to_rgba_array(class_colors(classes))
        which = np.searchsorted(classes, self.labels[self.order_])
        handles = [Patch(color=c, label=f"{name}") for c, name in zip(palette, classes, strict=True)]
        square = self.linkage_ is not None
        if square:
            borders = np.arange(len(which) + 1) - 0.5
            top = bottom + CLASSES
            style = {"clip_on": False}
            self.class_strip_ = draw_columns(self.ax_, borders[:-1], borders[1:], palette[which], bottom, top, **style)
        return handles if square else []

    def _draw_tree(self, bottom):
        """Draw the dendrogram: each join is a line up from its two parts, as high as the distance between them."""
        from matplotlib.collections import LineCollection

        n = len(self.order_)
        places, heights = np.empty(2 * n - 1), np.zeros(2 * n - 1)
        places[self.order_] = np.arange(n)
        parts = self.linkage_[:, :2].astype(int)
        for k, (a, b) in enumerate(parts):  # not scipy's dendrogram, which recurses as deep as the tree
            places[n + k], heights[n + k] = (places[a] + places[b]) / 2, self.linkage_[k, 2]
        a, b = parts.T
        up = heights[n:]
        x, y = [places[a], places[a], places[b], places[b]], [heights[a], up, up, heights[b]]
        joins = np.stack([np.stack(x, axis=1), np.stack(y, axis=1)], axis=2)
        self.tree_ax_ = ax = self.ax_.inset_axes([0, bottom, 1, TREE], sharex=self.ax_)
        self.tree_lines_ = ax.add_collection(LineCollection(joins, colors="0.25", linewidths=0.9))
        ax.set_ylim(0, max(float(up.max()), 1e-300) * 1.05)
        ax.tick_params(axis="x", bottom=False, labelbottom=False)
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        ax.set_ylabel("joined at")

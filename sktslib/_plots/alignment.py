"""Displays of an alignment: two series with the pairs between them, or a path through its cost matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..distances._series import normalize_values
from ..search._channels import in_range
from ..utils._times import Queries, Sequences, Times
from ..utils.validation import as_series, check_count, check_number, refused
from . import base
from .base import BLUE, VERMILION, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_PAIRS = 100  # number of joining lines by default
SECONDS_PER_DAY = 86_400.0


class AlignmentDisplay(Display):
    """Two series, one above the other, and the pairs of a warping path between them.

    It is made by `plot_alignment`, which describes the picture.

    Parameters
    ----------
    query : array-like of shape (m,) or (m, channels)
        The query.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence.
    path : array-like of shape (2, K)
        Indices into both.
    tx, ty : array-like of shape (m,) and (n,), optional
        Times of the two series, numbers or datetimes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first row.
    axes_ : ndarray of matplotlib Axes
        All rows, one per channel.
    figure_ : matplotlib Figure
        The figure of the axes.
    query_lines_, sequence_lines_ : list of matplotlib Line2D
        The two series in each row; the query is raised by `offsets_`.
    pair_lines_ : list of matplotlib LineCollection
        The joining lines of each row.
    query_axis_ : matplotlib SecondaryAxis or None
        The query's own axis above the first row, when the query is moved to where it was found.
    offsets_ : list of float
        The vertical shift of the query in each row.
    shift_ : float
        The horizontal shift of the query.

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
        self, query: Queries, sequence: Sequences, path: Any, *, tx: Times | None = None, ty: Times | None = None
    ) -> None:
        self.query, self.sequence = base.as_series(query, "ts1"), base.as_series(sequence, "ts2")
        if self.query.shape[1] != self.sequence.shape[1]:
            got = f"{self.sequence.shape[1]} and {self.query.shape[1]}"
            raise base.refused("ts2", "have as many channels as 'ts1'", got, "Select the same columns of both.")
        self.path = base.as_path(path, len(self.query), len(self.sequence))
        self.query_times = base.as_times(tx, len(self.query), "tx", query)
        self.sequence_times = base.as_times(ty, len(self.sequence), "ty", sequence)
        self.channels = base.channel_names(self.sequence.shape[1], sequence, query)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Sequences, *, match: Any = 0, times: Times | None = None, **style: Any
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
        **style
            Passed on to `plot`, such as `ax` and `title`.

        Returns
        -------
        display : AlignmentDisplay
        """
        found, k = base.found_in(estimator, X, times), match
        given = found.times if times is None else times
        query = in_range(estimator._queries[0 if found.query is None else found.query[k]])
        query = query if found.polarity is None else query * found.polarity[k]
        return cls.from_predictions(query, X, found.path(k), ty=given, **style)

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
            One for each of the first channels. Default: a new figure, one row per channel, at most 8.
        offset : float, optional
            The vertical shift of the query. Default: just enough to keep the two apart.
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
        offset = None if offset is None else check_number(offset, "offset", low=-1e300, high=1e300)
        every = check_count(every, "every", none=True) or max(1, round(self.path.shape[1] / N_PAIRS))
        from matplotlib.collections import LineCollection

        self._make_axes(ax, len(self.channels), height=3.0)
        view = self._around() if time_range is None else self.sequence_times.view(time_range)
        x1, own_axis = self._positions()
        whole = base.Times(x1, "").view(None)
        self.query_lines_, self.sequence_lines_, self.pair_lines_, self.offsets_ = [], [], [], []
        shown = slice(view.first, view.end)
        i, j = self.path[:, ::every]
        x2 = self.sequence_times.at(j)
        for ax, y1, y2 in zip(self.axes_, self.query.T, self.sequence.T, strict=False):
            # The gap leaves room for the joining lines.
            (low1, high1), (low2, high2) = _range(y1), _range(y2[shown])
            apart = high2 - low1 + (0.2 * (high1 - low1 + high2 - low2) or 1.0)
            raised = apart if offset is None else offset
            pairs = np.stack([np.column_stack([x1[i], y1[i] + raised]), np.column_stack([x2, y2[j]])], axis=1)
            lines = LineCollection(pairs, colors="0.6", linewidths=0.6, zorder=1, label="pairs")
            self.pair_lines_.append(ax.add_collection(lines))
            above, below = (y1 + raised)[np.newaxis], y2[np.newaxis]
            self.query_lines_ += base.draw_series([ax], whole, above, color=VERMILION, label="query")
            self.sequence_lines_ += base.draw_series([ax], view, below, color=BLUE, label="sequence")
            self.offsets_.append(raised)
            _label_stack(ax, ((y1, raised, "query", VERMILION), (y2[shown], 0.0, "sequence", BLUE)))
        self._label(self.channels, view)
        self.query_axis_ = None if own_axis is None else self._add_query_axis(x1[0], *own_axis)
        self._write_above(title)
        return self

    def _add_query_axis(self, first, label, scale):
        """Draw an axis with the query's own samples or times above the first row."""
        own = 0.0 if self.query_times.dates else self.query_times.values[0]
        there, back = lambda x: (np.asarray(x) - first) * scale + own, lambda x: (np.asarray(x) - own) / scale + first
        axis = self.ax_.secondary_xaxis("top", functions=(there, back))
        # The axis ends at the end of the query.
        last = there(self.query_lines_[0].get_xdata()[-1])
        axis.set_xticks(_ticks(own, last, _step_of_ticks(last - own, 6)))
        axis.set_xlabel(label)
        return axis

    def _around(self):
        """Return the view of the sequence around the path, extended by one query length on both sides."""
        m, n, j = len(self.query), len(self.sequence), self.path[1]
        first, end = (max(0, int(j.min()) - m), min(int(j.max()) + 1 + m, n)) if len(j) else (0, n)
        return base.View(self.sequence_times, first, end)

    def _positions(self):
        """Return the positions of the query on the sequence's axis, and the label and scale of its own axis, if any.

        If two whole series with the same kind of times are compared, the query stays at its times. It is moved over the
        path if the path covers less than half of the sequence, as for an occurrence, or if its times are of another
        kind.
        """
        query, sequence = self.query_times, self.sequence_times
        x1, low, high = query.values[:], *sequence.at([0, len(sequence) - 1])
        one_clock = query.dates == sequence.dates and (query.label == "sample") == (sequence.label == "sample")
        i, j = self.path
        whole = i.size == 0 or 2 * (j.max() - j.min() + 1) > len(self.sequence)
        if one_clock and whole and x1[0] <= high and x1[-1] >= low:
            self.shift_ = 0.0
            return x1, None
        scale = SECONDS_PER_DAY if sequence.dates else 1.0
        if not one_clock:
            x1 = (x1 - x1[0]) * (SECONDS_PER_DAY if query.dates else 1.0)
            if sequence.label == "sample":
                scale = _step(x1)
            elif query.label == "sample":
                view = self._around()
                scale = 1 / _step(sequence.values[view.first : view.end])
            x1 = x1 / scale
        # Shifting by the median makes the joining lines shortest.
        self.shift_ = float(np.median(sequence.at(j) - x1[i])) if i.size else float(low - x1[0])
        label = "query time (s)" if query.dates else f"query {query.label}"
        return x1 + self.shift_, (label, scale)


def _step(x):
    return float(np.median(np.diff(x))) if len(x) > 1 else 1.0


def _label_stack(ax, stack):
    """Label the left axis with the values of both series, and the right side with their names."""
    # One step for both, because they share a scale, although not its zero.
    step = _step_of_ticks(sum(np.ptp(_range(y)) for y, *_ in stack), 10)
    ticks, labels = [], []
    style = {"transform": ax.get_yaxis_transform(), "va": "center", "rotation": 90}
    for y, raised, name, color in stack:
        values = _ticks(*_range(y), step)
        ticks.extend(values + raised)
        labels.extend(f"{v:g}".replace("-", "\N{MINUS SIGN}") for v in values)
        ax.text(1.01, np.mean(_range(y)) + raised, name, color=color, **style)
    ax.set_yticks(ticks, labels)
    ax.margins(y=0.08)


def _step_of_ticks(length, n):
    """Return a round step that gives about n ticks over a length."""
    from matplotlib.ticker import MaxNLocator

    return float(np.diff(MaxNLocator(n, steps=[1, 2, 5, 10]).tick_values(0.0, length)[:2])[0]) if length > 0 else 1.0


def _ticks(low, high, step):
    """Return the multiples of a step within a range; if it contains no multiple, its middle."""
    # Adding 0 turns -0 into 0.
    values = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step + 0.0
    return values if values.size else np.array([(low + high) / 2])


def _range(y):
    """Return the minimum and the maximum; 0 without values."""
    return (float(np.nanmin(y)), float(np.nanmax(y))) if np.isfinite(y).any() else (0.0, 0.0)


BESIDE = 0.22  # height of the panels with the series, relative to that of the matrix
MOST_CELLS = 2000  # most rows and columns of the image; of a larger matrix every k-th is drawn


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
        The two series in these panels, one line per channel.

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
            out = 'Pass the cost matrix of one alignment, for example dtw(x, y, report="cost_matrix").'
            raise base.refused("matrix", "have shape (m, n)", f"shape {np.shape(matrix)}", out)
        self.matrix = base.as_series(matrix, "matrix")
        way_out = "Subtract the start from the sequence indices of a path found in a search."
        self.path = None if path is None else base.as_path(path, *self.matrix.shape, way_out)
        self.query = None if query is None else base.as_series(query, "query")
        self.sequence = None if sequence is None else base.as_series(sequence, "sequence")
        beside = ("query", self.query, "rows"), ("sequence", self.sequence, "columns")
        for n, (name, series, what) in zip(self.matrix.shape, beside, strict=True):
            if series is not None and len(series) != n:
                rule = f"have a point for each of the {n} {what} of the matrix"
                raise base.refused(name, rule, len(series), "Pass the two series of the alignment.")

    @classmethod
    def from_estimator(cls, estimator: Any, query: Queries, sequence: Sequences, **style: Any) -> Self:
        """Align two series and draw the costs.

        Parameters
        ----------
        estimator : Metric, or estimator with a `metric_`
            The metric that aligns them: a metric object such as ``DTW()``, or that of a fitted estimator. Both series
            are normalized as `normalize` of a QuerySearcher says, and drawn so; its weights and times do not count
            here.
        query : array-like of shape (m,) or (m, channels)
            The query.
        sequence : array-like of shape (n,) or (n, channels)
            The sequence, or the part of it where the query was found.
        **style
            Passed on to `plot`, such as `ax` and `title`.

        Returns
        -------
        display : CostMatrixDisplay
        """
        metric, normalize = getattr(estimator, "metric_", estimator), getattr(estimator, "normalize_", None)
        if normalize is not None:
            both = (as_series(query, "query"), as_series(sequence, "sequence"))
            query, sequence = (normalize_values(a, np.ones_like(a), normalize).T for a in both)
        return cls.from_predictions(metric.distance(query, sequence), query, sequence, **style)

    @classmethod
    def from_predictions(
        cls, alignment: Any, query: Queries | None = None, sequence: Sequences | None = None, **style: Any
    ) -> Self:
        """Draw the costs of an alignment.

        Parameters
        ----------
        alignment : Alignment
            The result of an elastic distance, such as ``dtw(query, sequence)``.
        query : array-like of shape (m,) or (m, channels), optional
            The query, drawn on the left.
        sequence : array-like of shape (n,) or (n, channels), optional
            The sequence, drawn above.
        **style
            Passed on to `plot`, such as `ax` and `title`.

        Returns
        -------
        display : CostMatrixDisplay

        Raises
        ------
        TypeError
            If `alignment` has no cost matrix.
        """
        if not hasattr(alignment, "cost_matrix"):
            out = "Pass what an elastic distance returns, for example dtw(query, sequence)."
            raise refused("alignment", "have a cost matrix and a path", type(alignment).__name__, out, error=TypeError)
        return super().from_predictions(alignment.cost_matrix, alignment.path, query, sequence, **style)

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
        from matplotlib.patheffects import withStroke

        self._make_axes(ax, 1, height=4.5, width=8.0, what="matrix")
        ax, x, y = self.ax_, *map(np.arange, self.matrix.shape[::-1])
        rows, columns = (slice(None, None, -(-n // MOST_CELLS)) for n in self.matrix.shape)
        some, (m, n) = self.matrix[rows, columns], self.matrix.shape
        # Gray is not a color of the map, so cells outside the band cannot be mistaken for costs.
        style = {"cmap": base.make_cmap(cmap).with_extremes(bad="0.85"), "norm": base.make_norm(some)}
        style |= {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
        self.image_ = ax.imshow(np.ma.masked_invalid(some), extent=(-0.5, n - 0.5, -0.5, m - 0.5), **style)
        self.path_line_ = None
        if self.path is not None:
            # A dark rim keeps the white line visible on every color; a path with a single pair is a point.
            rim = [withStroke(linewidth=3.5, foreground="black")]
            style = {"color": "white", "linewidth": 1.8, "path_effects": rim, "label": "path"}
            marker = "o" if self.path.shape[1] == 1 else ""
            self.path_line_ = ax.plot(*self.path[::-1], marker=marker, scalex=False, scaley=False, **style)[0]
        ax.set(xlabel="sequence sample", ylabel="query sample")
        ax.locator_params(integer=True)
        self.colorbar_ = self._add_colorbar(self.image_, "accumulated cost")
        self.query_ax_ = self.sequence_ax_ = None
        self.query_lines_, self.sequence_lines_ = [], []
        if self.sequence is not None:
            self.sequence_ax_ = ax.inset_axes([0, 1.02, 1, BESIDE], sharex=ax)
            self.sequence_lines_ = self.sequence_ax_.plot(x, self.sequence, color=BLUE, linewidth=1)
            self.sequence_ax_.tick_params(labelbottom=False)
            self.sequence_ax_.set_ylabel("sequence")
        if self.query is not None:  # to the left, with values increasing away from the matrix
            width = BESIDE * 0.75
            self.query_ax_ = ax.inset_axes([-0.015 - width, 0, width, 1], sharey=ax)
            self.query_lines_ = self.query_ax_.plot(self.query, y, color=VERMILION, linewidth=1)
            self.query_ax_.invert_xaxis()
            self.query_ax_.locator_params("x", nbins=3, prune="lower")
            self.query_ax_.set(ylabel="query sample", xlabel="query")
            ax.set_ylabel("")
            ax.tick_params(labelleft=False)
        self._write_above(title, ax=self.sequence_ax_)
        return self

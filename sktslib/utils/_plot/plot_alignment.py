"""Displays of one alignment: its pairs between two series, and its way through the cost matrix."""

import numpy as np

from ..validation import check_count, check_number
from .axes import BLUE, VERMILION, add_colorbar, draw_series, label_rows, make_axes, make_cmap, make_norm, positions
from .plot_data import as_path, as_series, as_times, channel_names

N_PAIRS = 100  # joining lines drawn when nothing else is asked for
SECONDS_PER_DAY = 86_400.0


class AlignmentDisplay:
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
    """

    def __init__(self, ts1, ts2, path, *, tx=None, ty=None):
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

    def plot(self, ax=None, *, offset=None, every=None):
        """Draw the alignment.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels. Default: a new figure, one row a channel, at most 8.
        offset : float, optional
            What to add to the query. Default: just enough to keep the two apart.
        every : int, optional
            Draw every k-th pair. Default: about 100 pairs.

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
        x1, x2, own_axis = self._positions()
        self.query_lines_, self.sequence_lines_, self.pair_lines_, self.offsets_ = [], [], [], []
        shown = self._shown()
        i, j = self.path[:, ::every]
        for ax, y1, y2 in zip(self.axes_, self.query.T, self.sequence.T, strict=False):
            raised = _offset(y1, y2[shown]) if offset is None else offset
            pairs = np.stack([np.column_stack([x1[i], y1[i] + raised]), np.column_stack([x2[j], y2[j]])], axis=1)
            lines = LineCollection(pairs, colors="0.6", linewidths=0.6, zorder=1, label="pairs")
            self.pair_lines_.append(ax.add_collection(lines))
            self.query_lines_.append(draw_series(ax, x1, y1 + raised, color=VERMILION, label="query"))
            self.sequence_lines_.append(draw_series(ax, x2[shown], y2[shown], color=BLUE, label="sequence"))
            self.offsets_.append(raised)
            _label_stack(ax, ((y1, raised, "query", VERMILION), (y2[shown], 0.0, "sequence", BLUE)))
        label_rows(self.axes_, self.sequence_times, n_channels, self.channels)
        self.query_axis_ = None if own_axis is None else self._add_query_axis(x1[0], *own_axis)
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
            return slice(0, len(self.sequence))
        m = len(self.query)
        return slice(max(0, self.path[1].min() - m), self.path[1].max() + 1 + m)

    def _positions(self):
        """Return both series' positions on the sequence's axis, and name and scale of the query's own axis, if any.

        The query stays where its times put it when two whole series are compared on one clock. It is moved over the
        path when the path covers less than half of the sequence, so an occurrence within it, or when its clock is
        another.
        """
        query, sequence = self.query_times, self.sequence_times
        x1, x2 = positions(query), positions(sequence)
        one_clock = query.dates == sequence.dates and (query.label == "sample") == (sequence.label == "sample")
        elapsed = (x1 - x1[0]) * (SECONDS_PER_DAY if query.dates else 1.0)
        scale = SECONDS_PER_DAY if sequence.dates else 1.0
        if not one_clock and sequence.label == "sample":
            scale = _step(elapsed)
        elif not one_clock and query.label == "sample":
            scale = 1 / _step(x2)
        i, j = self.path
        whole = i.size == 0 or 2 * (j.max() - j.min() + 1) > len(self.sequence)
        if one_clock and whole and x1[0] <= x2[-1] and x1[-1] >= x2[0]:
            self.shift_ = 0.0
            return x1, x2, None
        if not one_clock:
            x1 = elapsed / scale
        # The median makes the joining lines shortest.
        self.shift_ = float(np.median(x2[j] - x1[i])) if i.size else float(x2[0] - x1[0])
        label = "query time (s)" if query.dates else f"query {query.label}"
        return x1 + self.shift_, x2, (label, scale)


class CostMatrixDisplay:
    """Accumulated costs of an alignment as an image, with its path.

    It is made by `plot_costmatrix`, which describes the picture.

    Parameters
    ----------
    matrix : array-like of shape (m, n)
        Accumulated costs.
    path : array-like of shape (2, K), optional
        Indices of rows and columns.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure of the axes.
    image_ : matplotlib AxesImage
        The costs; those that are not finite are masked.
    path_line_ : matplotlib Line2D or None
        The path.
    colorbar_ : matplotlib Colorbar
        The scale of the costs.

    See Also
    --------
    sktslib.utils.visualisation.plot_costmatrix : Makes and draws it.
    """

    def __init__(self, matrix, path=None):
        if np.ndim(matrix) != 2:
            raise ValueError(
                f"The 'matrix' parameter must have shape (m, n). Got shape {np.shape(matrix)}. "
                'Pass the cost matrix of one alignment, for example dtw(x, y, report="cost_matrix").'
            )
        self.matrix = as_series(matrix, "matrix")
        way_out = "Subtract the start from the sequence indices of a path found in a search."
        self.path = None if path is None else as_path(path, *self.matrix.shape, way_out)

    def plot(self, ax=None, *, cmap=None):
        """Draw the costs.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. Default: a new figure.
        cmap : str or matplotlib Colormap, optional
            Default: viridis without its yellow end.

        Returns
        -------
        display : CostMatrixDisplay
            This display.
        """
        from matplotlib.patheffects import withStroke
        from matplotlib.ticker import MaxNLocator

        axes, self.figure_ = make_axes(ax, 1, height=4.5, what="matrix")
        self.ax_ = ax = axes[0]
        # Grey is no colour of the map: cells outside a band cannot be taken for cheap or dear ones.
        colours = make_cmap(cmap).with_extremes(bad="0.85")
        self.image_ = ax.imshow(
            np.ma.masked_invalid(self.matrix),
            origin="lower",
            aspect="auto",
            interpolation="nearest",
            cmap=colours,
            norm=make_norm(self.matrix),
        )
        self.path_line_ = None
        if self.path is not None:
            # A dark rim keeps a white line visible on every colour, whatever the eye.
            rim = [withStroke(linewidth=3.5, foreground="black")]
            style = {"color": "white", "linewidth": 1.8, "path_effects": rim, "label": "path"}
            # A path of one pair is no line.
            style["marker"] = "o" if self.path.shape[1] == 1 else ""
            self.path_line_ = ax.plot(self.path[1], self.path[0], scalex=False, scaley=False, **style)[0]
        ax.set(xlabel="sequence sample", ylabel="query sample")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
        self.colorbar_ = add_colorbar(self.figure_, self.image_, axes, "accumulated cost")
        return self


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

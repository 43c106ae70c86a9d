"""Display of the way of an alignment through its cost matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .axes import BLUE, VERMILION, Display, add_colorbar, add_title, make_axes, make_cmap, make_norm
from .plot_data import as_path, as_series

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes

    from .._types import Queries, Sequences

BESIDE = 0.22  # height of the panels with the series, of that of the matrix
MOST_CELLS = 2000  # rows and columns of the image; a larger matrix is drawn by every k-th


class CostMatrixDisplay(Display):
    """Accumulated costs of an alignment as an image, with its path and the two series beside it.

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
        The panels beside the matrix.
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

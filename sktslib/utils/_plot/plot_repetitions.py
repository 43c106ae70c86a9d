"""Display of repetitions one over the other, on the time base of their query."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from .axes import COLORS, Display, add_legend, add_title, label_channels, make_axes
from .plot_data import as_series, channel_names, numbered, of_estimator

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes

    from .._types import Queries, Sequences, Times

MOST_LINES = 300  # repetitions that are drawn one by one; of more the density is
CELLS = 400, 200  # columns and rows of the density, at most


class RepetitionsDisplay(Display):
    """Repetitions of a query, their mean and their spread.

    More than 300 repetitions are drawn as their density: how many pass through each cell of an image.

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
        A row a channel.
    figure_ : matplotlib Figure
        The figure of the axes.
    repetition_lines_ : list of matplotlib LineCollection
        The repetitions in each row; empty where their density is drawn.
    density_images_ : list of matplotlib AxesImage
        The density in each row, of many repetitions.
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
    >>> display = RepetitionsDisplay.from_estimator(segmenter, [5, 5, 0, 1, 3, 1, 5, 0, 1, 1, 3, 1, 5])
    >>> display.mean_lines_[0].get_ydata().tolist()
    [0.0, 1.0, 3.0, 1.0]
    """

    def __init__(self, repetitions: Any, query: Queries | None = None) -> None:
        self.repetitions = np.asarray(repetitions, dtype=float)
        if self.repetitions.ndim == 2:
            self.repetitions = self.repetitions[:, :, np.newaxis]
        if self.repetitions.ndim != 3 or 0 in self.repetitions.shape[1:]:
            raise ValueError(
                "The 'repetitions' parameter must have shape (n_repetitions, m) or (n_repetitions, m, channels). Got "
                f"shape {np.shape(repetitions)}. Pass what Segments.warped() returns."
            )
        self.query = None if query is None else as_series(query, "query")
        self.channels = channel_names(self.repetitions.shape[2], query)
        if self.query is not None and self.query.shape != self.repetitions.shape[1:]:
            raise ValueError(
                f"The 'query' parameter must have the repetitions' shape {self.repetitions.shape[1:]}. Got shape "
                f"{self.query.shape}. Pass the query that the repetitions are aligned to."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Sequences,
        *,
        query: Queries | None = None,
        times: Times | None = None,
        ax: Axes | None = None,
        **style: Any,
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
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : RepetitionsDisplay
        """
        repetitions = of_estimator(estimator, "segment", X, times=times).warped(query)
        display = cls(repetitions, numbered(estimator.queries_, query or 0))
        display.channels = channel_names(repetitions.shape[2], X)
        return display.plot(ax, **style)

    @classmethod
    def from_predictions(
        cls, repetitions: Any, query: Queries | None = None, *, ax: Axes | None = None, **style: Any
    ) -> Self:
        """Draw repetitions.

        Parameters
        ----------
        repetitions : array-like of shape (n_repetitions, m) or (n_repetitions, m, channels)
            What ``Segments.warped`` returns.
        query : array-like of shape (m,) or (m, channels), optional
            The query.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        **style
            Passed on to `plot`.

        Returns
        -------
        display : RepetitionsDisplay
        """
        return cls(repetitions, query).plot(ax, **style)

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
        self.axes_, self.figure_ = make_axes(ax, n_channels)
        self.ax_ = self.axes_[0]
        x = np.arange(m)
        self.repetition_lines_, self.mean_lines_, self.query_lines_, self.spread_areas_ = [], [], [], []
        self.density_images_ = []
        if not count:
            self.ax_.set_title("no repetitions", loc="left", fontsize="medium")
            self.ax_.set_xlim(0, max(m - 1, 1))
        for c, row in enumerate(self.axes_):
            if count:
                self._draw_repetitions(row, x, self.repetitions[:, :, c])
            if self.query is not None:
                style = {"color": "black", "linewidth": 1.2, "linestyle": "dashed"}
                self.query_lines_ += row.plot(x, self.query[:, c], label="query", **style)
            row.autoscale_view()
            row.margins(x=0)
        label_channels(self.axes_, n_channels, self.channels)
        self.axes_[-1].set_xlabel("point of the query")
        add_legend(self.ax_)
        add_title(self.ax_, title)
        return self

    def _draw_repetitions(self, row, x, repetitions):
        from matplotlib.collections import LineCollection

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a point that no repetition has
            mean, spread = np.nanmean(repetitions, axis=0), np.nanstd(repetitions, axis=0)
        many = len(repetitions) > MOST_LINES
        if many:
            self.density_images_.append(_draw_density(row, repetitions))
        lines = [] if many else [np.column_stack([x, one]) for one in repetitions]
        style = {"colors": "0.35", "linewidths": 0.7, "alpha": max(0.08, min(0.6, 12 / len(repetitions)))}
        style |= {"label": "repetitions"}
        if many:  # the key of the image in the legend
            style |= {"label": "density of repetitions", "linewidths": 6, "alpha": 0.4}
        self.repetition_lines_.append(row.add_collection(LineCollection(lines, **style)))
        style = {"color": COLORS[0], "alpha": 0.25, "linewidth": 0, "label": "±1 sd"}
        self.spread_areas_.append(row.fill_between(x, mean - spread, mean + spread, **style))
        self.mean_lines_ += row.plot(x, mean, color=COLORS[0], linewidth=2, label="mean")


def _draw_density(row, repetitions):
    """An image of how many repetitions pass through each cell, the darker the more, on a logarithmic scale."""
    count, m = repetitions.shape
    low, high = np.fmin.reduce(repetitions, axis=None), np.fmax.reduce(repetitions, axis=None)
    columns, rows = min(m, CELLS[0]), CELLS[1]
    height = (high - low) / (rows - 1) or 1.0
    cells = np.zeros((rows, columns))
    where = np.arange(m) * columns // m
    for k in range(0, count, 1000):  # a few repetitions at a time need little memory
        part = repetitions[k : k + 1000]
        level = np.nan_to_num(np.rint((part - low) / height), nan=rows).astype(np.intp)  # the cell around it
        flat = np.bincount((level * columns + where).ravel(), minlength=(rows + 1) * columns)
        cells += flat[: rows * columns].reshape(rows, columns)
    extent = (-0.5, m - 0.5, low - height / 2, high + height / 2)
    shown = np.ma.masked_equal(np.log1p(cells), 0)
    style = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "extent": extent, "cmap": "Greys"}
    return row.imshow(shown, vmin=-0.2 * shown.max(), vmax=1.8 * shown.max(), **style)

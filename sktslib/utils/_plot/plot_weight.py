"""Display of a query by the weights of its points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .axes import Display, add_colorbar, add_title, label_rows, make_axes, make_cmap, make_norm, pieces_around
from .plot_data import as_series, channel_names, numbered
from .time_axis import as_times

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._types import Queries, Times


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

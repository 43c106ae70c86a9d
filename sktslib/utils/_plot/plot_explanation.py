"""Display of an explanation: what each point of the query costs, and where the match is early or late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .axes import (
    GRAY,
    VERMILION,
    Display,
    add_colorbar,
    add_legend,
    add_title,
    label_channels,
    make_axes,
    make_cmap,
    make_norm,
    pieces_around,
)
from .plot_data import as_path, as_series, channel_names, found_in, query_of

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes

    from .._types import Queries, Sequences, Times


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

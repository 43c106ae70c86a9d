"""Display of repetitions one over the other, on the time base of their query."""

import warnings

import numpy as np

from .axes import COLOURS, label_channels, make_axes
from .plot_data import as_series, channel_names


class RepetitionsDisplay:
    """Repetitions of a query, their mean and their spread.

    It is made by `plot_repetitions`, which describes the picture.

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
        The repetitions in each row.
    mean_lines_, query_lines_ : list of matplotlib Line2D
        Their mean, and the query, in each row.
    spread_areas_ : list of matplotlib PolyCollection
        One standard deviation to either side of the mean.

    See Also
    --------
    sktslib.utils.visualisation.plot_repetitions : Makes and draws it.
    """

    def __init__(self, repetitions, query=None):
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

    def plot(self, ax=None):
        """Draw the repetitions.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each of the first channels. Default: a new figure.

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
        if self.ax_.get_legend_handles_labels()[0]:
            self.ax_.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, frameon=False, borderaxespad=0.2)
        return self

    def _draw_repetitions(self, row, x, repetitions):
        from matplotlib.collections import LineCollection

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a point that no repetition has
            mean, spread = np.nanmean(repetitions, axis=0), np.nanstd(repetitions, axis=0)
        lines, alpha = [np.column_stack([x, one]) for one in repetitions], max(0.08, min(0.6, 12 / len(repetitions)))
        each = LineCollection(lines, colors="0.35", linewidths=0.7, alpha=alpha, label="repetitions")
        self.repetition_lines_.append(row.add_collection(each))
        style = {"color": COLOURS[0], "alpha": 0.25, "linewidth": 0, "label": "±1 sd"}
        self.spread_areas_.append(row.fill_between(x, mean - spread, mean + spread, **style))
        self.mean_lines_ += row.plot(x, mean, color=COLOURS[0], linewidth=2, label="mean")

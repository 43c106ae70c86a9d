"""Display of the distances of a collection: a heat map in the order of a dendrogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .axes import Display, add_colorbar, add_legend, add_title, class_colors, make_axes, make_cmap, make_norm
from .envelope import draw_columns
from .plot_data import as_series, of_estimator

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes

    from .._types import Sequences

TREE, CLASSES = 0.2, 0.03  # heights of the dendrogram and of the strip of classes, of that of the map
MOST_NAMES = 40  # rows that are named
MOST_CELLS = 2000  # rows and columns of the image; a larger map is drawn by every k-th


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

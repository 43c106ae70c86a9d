"""What the estimators share that predict from nearest neighbors: how many count, and how much each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..utils._sklearn import StrOptions
from ..utils.validation import shown
from ._graphs import Neighbors

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import ArrayLike

    from ..utils._types import MetricLike


class WeightedNeighbors(Neighbors):
    """Base of the estimators whose predictions are made of the nearest neighbors' targets."""

    _parameter_constraints = {
        **Neighbors._parameter_constraints,
        "weights": [StrOptions({"uniform", "distance"}), callable],
    }

    def __init__(
        self,
        metric: MetricLike = "dtw",
        *,
        n_neighbors: int = 1,
        weights: str | Callable[..., Any] = "uniform",
        metric_params: dict[str, Any] | None = None,
        weight: ArrayLike | None = None,
        nan_policy: str = "raise",
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
        channels_first: bool | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            metric,
            metric_params=metric_params,
            weight=weight,
            nan_policy=nan_policy,
            n_jobs=n_jobs,
            channels_first=channels_first,
            verbose=verbose,
        )
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.max_memory = max_memory

    def _weighed(self, X):
        """The nearest neighbors of each series and their weights (n_series, n_neighbors), and the sums of these."""
        distances, indices = self._nearest(self._checked(X), self.n_neighbors)
        far = np.isinf(distances)
        nobody = np.flatnonzero(far.all(axis=1))
        if len(nobody):
            raise ValueError(
                f"The series to predict must be at a finite distance from some fitted series. Got none for series "
                f"{shown(nobody.tolist())} by {self.metric_}: too few points are observed in both, no path fits the "
                "band, or the metric is infinite for constant series. Leave these series out, or take a metric or a "
                "band that reaches others."
            )
        weights = np.where(far, 0.0, self._of_neighbors(distances))  # what is infinitely far has no vote
        total = weights.sum(axis=1)
        none = np.flatnonzero(total == 0.0)
        if len(none):
            raise ValueError(
                f"The neighbors of each series must have some weight. Got none for series {shown(none.tolist())}: "
                f"weights={self.weights!r} gives all their neighbors 0. Take weights='uniform', or weights that are "
                "not 0."
            )
        return indices, weights, total

    def _of_neighbors(self, distances):
        """Weights of neighbors at these distances."""
        if self.weights == "uniform":
            return 1.0
        if self.weights == "distance":
            with np.errstate(divide="ignore", over="ignore"):
                near = 1.0 / distances
            same = np.isinf(near)  # of distances that are 0, or too small for this
            return np.where(same.any(axis=1, keepdims=True), same, near)
        # What is infinitely far, whose weight will not count, is handed on as far as the farthest of the rest.
        farthest = np.max(distances, axis=1, where=np.isfinite(distances), initial=0.0, keepdims=True)
        distances = np.where(np.isinf(distances), farthest, distances)
        weights = np.asarray(self.weights(distances.copy()))  # it may work in place
        if weights.shape != distances.shape:
            raise ValueError(
                "The function 'weights' must return one weight per distance: as in scikit-learn it is given all rows "
                f"at once, shape {distances.shape}. Got shape {weights.shape}. Write it along axis=1, or pass lambda "
                "d: numpy.apply_along_axis(function, 1, d)."
            )
        if not _by_rows(self.weights, distances, weights):
            raise ValueError(
                "The function 'weights' must weigh each row of distances by itself: as in scikit-learn it is given "
                "all rows at once, shape (n_queries, n_neighbors). Got other weights for a row alone. Write it along "
                "axis=1, or pass lambda d: numpy.apply_along_axis(function, 1, d)."
            )
        return weights


def _by_rows(function, distances, weights):
    """Whether a function gives rows the same weights as the matrix of them, as far as it takes rows."""
    for row, expected in zip(distances, weights, strict=True):
        try:
            with np.errstate(all="ignore"):  # of which the matrix has told
                alone = np.asarray(function(row.copy()), dtype=float)
        except Exception:  # one that takes matrices alone
            return True
        if alone.shape == row.shape and not np.allclose(alone, expected, rtol=1e-9, equal_nan=True):
            return False
    return True

"""Metrics from soft minima over all alignments, and the base class of metrics without a warping path."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cache, lru_cache
from itertools import product
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from ...utils._parameters import Interval
from ...utils.validation import refused
from .._collection import as_collection, by_length, lengths_of
from .._kernels import soft
from .._series import full_weight, resample
from .base import BAND_CONSTRAINTS, Alignment, BandedMetric, Metric, band, check_pair, plain_band, radius_of
from .registry import register

__all__ = ["GAK", "SoftDTW"]

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from ...utils._times import Sequences


_cells, _plain_cells = lru_cache(maxsize=256)(band), lru_cache(maxsize=256)(plain_band)


class PathlessMetric(Metric):
    """An elastic distance that is not a sum along one path."""

    family = "elastic"
    _has_path = False

    def _path(self, pair):
        raise ValueError(f"{self.full_name} has no warping path: {self._why}")

    def _cost_matrix(self, pair):
        raise ValueError(f"{self.full_name} has no cost matrix: {self._why}")

    def _alignment(self, value, x, w, y):
        # Copies, because details may be computed later, after the caller has changed the series.
        return Alignment(value, self, (x.copy(), w, y.copy()))


# ------------------------------------------------------------------------------------------------------- soft minima
class SoftMetric(PathlessMetric, BandedMetric):
    """A distance computed from the accumulated cost R of two series, and the R of each with itself."""

    description = "Soft elastic distance: all alignments count, the better the more."
    _why = (
        "it counts all alignments of the two series. Their mean is expected_alignment(x, y); for the best one alone "
        "use 'dtw'."
    )
    _compares_with_itself = True
    _may_be_negative = True  # without the divergence, within a band, and by rounding

    def _reported(self, cross, own):
        """Return the distance for R of the pair and the mean R of both series with themselves."""

    def _radius(self, m, n):
        """Return the radius of a Sakoe-Chiba band, shared by all three terms of a pair; None for other bands."""
        return radius_of(self.window, self.factor, m, n)

    def _costs(self, X, w, Y, radius, function=soft.accumulated_costs):
        """Return R of each pair of series of X and Y; with weights or a band each of them of one length."""
        x, m, n = max(X, key=np.size), max(lengths_of(X)), max(lengths_of(Y))
        cells = _cells("itakura", None, m, n) if self.window == "itakura" else _plain_cells(radius, m, n)
        return function(self._record(), X, full_weight(w, x), Y, *cells)

    def _own(self, X, w, radius):
        """Return R of each of several series of one length with itself, with the weights resampled to it."""
        if not self._compares_with_itself:
            return np.zeros(len(X))
        n = X[0].shape[1]
        return self._costs(X, w if w is None or w.shape[1] == n else resample(w, n), X, radius)

    def _distance(self, x, w, y, tx, ty):
        radius = self._radius(x.shape[1], y.shape[1])
        together = x.shape == y.shape or (w is None and self.window is None)
        if together and self._compares_with_itself:  # which takes as long as one of the three
            cross, *own = self._costs([x, x, y], w, [y, x, y], radius)
        else:
            (cross,), own = self._costs([x], w, [y], radius), [self._own([a], w, radius)[0] for a in (x, y)]
        return self._alignment(self._reported(cross, sum(own) / 2), x, w, y)

    def _windows(self, x, w, y, tx, ty):
        radius = self._radius(x.shape[1], y.shape[2])
        own = (self._own([x], w, radius) + self._own(y, w, radius)) / 2
        return self._reported(self._costs(np.broadcast_to(x, (len(y), *x.shape)), w, y, radius), own)

    def _pairwise(self, X, Y, w, mirrored, out):
        """Fill in a table of distances; R of a series with itself is computed once per radius."""

        @cache
        def own(second, radius, *of):
            return self._own([(Y if second else X)[k] for k in of], w, radius)

        groups = (by_length(Z) for Z in (X, Y))
        if w is None and self.window is None:  # all together, those of similar lengths side by side
            groups = ({max(lengths_of(Z)): np.argsort(lengths_of(Z), kind="stable").tolist()} for Z in (X, Y))
        for (m, rows), (n, columns) in product(*(group.items() for group in groups)):
            radius = self._radius(m, n)
            a, b = np.nonzero(np.less_equal.outer(rows, columns) | (not mirrored))
            if len(a):
                both = (own(False, radius, *rows)[a] + own(not mirrored, radius, *columns)[b]) / 2
                costs = self._costs([X[rows[k]] for k in a], w, [Y[columns[k]] for k in b], radius)
                out[np.array(rows)[a], np.array(columns)[b]] = self._reported(costs, both)

    def _expected(self, X, w, Y):
        """Return R of pairs of series, those of X and of Y of one length each, and the probability of each cell."""
        m, n = X[0].shape[1], Y[0].shape[1]
        costs, expected = self._costs(X, w, Y, self._radius(m, n), soft.expected_alignments)
        if (costs == np.inf).any():
            raise ValueError(
                f"The series must have an alignment within the band of {type(self).__name__}. Got lengths {m} and {n} "
                f"with {self!r}, under which no path leads from the first pair of points to the last one. Widen the "
                "band, or bring the series to one length."
            )
        return costs, expected

    def expected_alignment(self, x: ArrayLike, y: ArrayLike, *, weight: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the probability that each two points meet, where an alignment is as probable as it is good.

        Parameters
        ----------
        x : array-like of shape (m,) or (m, channels)
            The first series, the query.
        y : array-like of shape (n,) or (n, channels)
            The second series.
        weight : array-like of shape (m,) or (m, channels), optional
            Relative weights of the query's points.

        Returns
        -------
        ndarray of shape (m, n)
            In [0, 1]; the first and the last cell are 1. It is the gradient of the un-normalized value by the local
            costs (Cuturi & Blondel 2017).

        Raises
        ------
        ValueError
            If the band holds no alignment, because the lengths differ by more than its radius.

        Examples
        --------
        >>> from sktslib.distances import SoftDTW
        >>> SoftDTW(gamma=0.1).expected_alignment([0, 1, 3], [0, 3]).round(2)
        array([[1., 0.],
               [1., 0.],
               [0., 1.]])
        """
        self._validate()
        x, y, w = check_pair(x, y, weight, metric=self)
        return np.ascontiguousarray(self._expected([x], w, [y])[1][0].T)


@register
@dataclass(eq=False, repr=False)
class SoftDTW(SoftMetric):
    """Soft dynamic time warping (Cuturi & Blondel 2017): a soft minimum over all alignments, made a divergence.

    The soft minimum s(x, y) = -gamma log(sum over alignments of exp(-cost / gamma)) is below 0 for equal series. Its
    divergence s(x, y) - (s(x, x) + s(y, y)) / 2 (Blondel, Mensch & Vert 2021) is 0 there.

    Parameters
    ----------
    gamma : float, default=1.0
        How soft the minimum is, above 0, in units of the squared differences; towards 0 it is dynamic time warping.
    divergence : bool, default=True
        Whether to report the divergence; False: s(x, y) itself, which may be negative.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the alignments. A float is the radius r of a Sakoe-Chiba band as a share of the shorter length: points
        with ``|i - j| <= r`` meet, in all three terms. Series whose lengths differ by more are infinitely far. The
        divergence of a band may be negative.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    References
    ----------
    Cuturi M, Blondel M. Soft-DTW: a differentiable loss function for time-series. ICML 2017.

    Blondel M, Mensch A, Vert J-P. Differentiable divergences between time series. AISTATS 2021.

    Examples
    --------
    >>> from sktslib.distances import SoftDTW
    >>> SoftDTW()([0, 1, 2], [0, 1, 2])
    0.0
    >>> round(SoftDTW()([0, 1, 2, 0], [0, 0, 1, 4]), 4)
    17.0254
    >>> round(SoftDTW(divergence=False)([0, 1, 2, 0], [0, 0, 1, 4]), 4)
    15.493
    """

    gamma: float | str = 1.0
    _: KW_ONLY
    divergence: bool = True

    name, full_name = "soft_dtw", "Soft Dynamic Time Warping"
    aliases = ("soft-dtw",)
    entry_parameters = {"gamma": 1.0}
    _parameter_constraints = {
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "divergence": ["boolean"],
        **BAND_CONSTRAINTS,
    }

    @property
    def _compares_with_itself(self):
        return self.divergence

    @property
    def _unit(self):
        return max(float(self.gamma), 1e-300)  # the inverse of a smaller number would be infinite

    def _record(self):
        return soft.Soft(1.0 / self._unit, False, np.inf)

    def _reported(self, cross, own):
        return self._unit * (cross - own)

    def _cost_matrix(self, pair):
        x, w, y = pair
        matrix = self._costs([x], w, [y], self._radius(x.shape[1], y.shape[1]), soft.cost_matrix)
        return np.ascontiguousarray(self._unit * matrix.T)

    def _check_search(self, mode):
        if mode == "segmentation" and not self.divergence:
            rule, got = "be True in a segmentation: the values themselves may be negative: they are not costs", "False"
            raise refused("The 'divergence' parameter of SoftDTW", rule, got)

    def _segment_cost(self, distance, m):
        return distance


@register
@dataclass(eq=False, repr=False)
class GAK(SoftMetric):
    """Distance of the global alignment kernel (Cuturi 2011), 1 - k(x, y) / sqrt(k(x, x) k(y, y)).

    k(x, y) is the sum over all alignments of the products of local kernels g / (2 - g), g being the Gaussian kernel of
    two points. Without weights and `window` it is positive definite, and so is 1 minus the matrix of distances, for
    ``SVC(kernel="precomputed")``.

    Parameters
    ----------
    sigma : float, optional
        Width of the Gaussian, above 0, in units of the series. None: what `fit` has estimated, else 1. Series are all
        far apart (1) where it is much smaller than their points' distances times the root of their length.
    triangular : int, optional
        Points whose indices differ by t meet with the weight ``1 - t / triangular``, and from `triangular` on not at
        all: the paper's band, which keeps the kernel positive definite. Series whose lengths differ by as much have
        distance 1.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the alignments. A float is the radius r of a Sakoe-Chiba band as a share of the shorter length: points
        with ``|i - j| <= r`` meet, in all three kernels. Series whose lengths differ by more have distance 1. With a
        band the kernel need not be positive definite, and the distance may be negative; `triangular` prevents both.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Attributes
    ----------
    sigma_ : float
        The width that `fit` estimated; only after `fit`.

    References
    ----------
    Cuturi M. Fast global alignment kernels. ICML 2011.

    Examples
    --------
    >>> from sktslib.distances import GAK
    >>> round(GAK(sigma=2.0)([0, 1, 2], [0, 1, 4]), 4)
    0.532
    """

    sigma: float | None = None
    _: KW_ONLY
    triangular: int | None = None

    name, full_name = "gak", "Global Alignment Kernel"
    entry_parameters = {"sigma": 1.0}
    _parameter_constraints = {
        "sigma": [Interval(Real, 0, None, closed="neither"), None],
        "triangular": [Interval(Integral, 1, None, closed="left"), None],
        **BAND_CONSTRAINTS,
    }

    def fit(self, X: Sequences, y: ArrayLike | None = None, *, channels_first: bool | None = None) -> Self:
        """Estimate `sigma` from a collection as the paper does: its points' median distance times sqrt(median length).

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), or list of series
            The collection.
        y : ignored
        channels_first : bool, optional
            Whether the channels come before time, see :func:`sktslib.distances.pairwise_distances`.

        Returns
        -------
        GAK
            Itself.

        Raises
        ------
        ValueError
            If all points are equal, so that nothing can be estimated.
        """
        X = as_collection(X, "X", channels_first=channels_first)
        self._check_collection(X, "X")
        from scipy.spatial.distance import pdist  # takes longer to import than the distances

        points = np.concatenate(X, axis=1)
        n = points.shape[1]
        apart = pdist(points[:, np.linspace(0, n - 1, min(n, 1000)).astype(int)].T)
        apart = apart[apart > 0]
        if not apart.size:
            raise ValueError("'X' must have points that differ. Got one value throughout; give 'sigma' instead.")
        self.sigma_ = float(np.median(apart) * np.sqrt(np.median(lengths_of(X))))
        return self

    def _record(self):
        sigma = getattr(self, "sigma_", 1.0) if self.sigma is None else float(self.sigma)
        triangle = np.inf if self.triangular is None else float(self.triangular)
        return soft.Soft(1.0 / max(2.0 * sigma * sigma, 1e-300), True, triangle)

    def _reported(self, cross, own):
        return 0.0 - np.expm1(own - cross)

"""Lockstep metric classes that judge the points together: by direction, by covariance, by slope."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from ...utils._sizes import check_query
from ...utils._sklearn import Interval
from ...utils.validation import as_floats, refuse_missing
from .._collection import as_collection
from .._kernels.lockstep import lockstep_drivers, lockstep_terms
from .._series import full_weight
from .base import Metric
from .lockstep import Euclidean, LockstepMetric, equal_lengths
from .registry import register

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike

    from ...utils._types import Sequences

__all__ = ["Correlation", "Cosine", "Mahalanobis", "PearsonCorrelation", "ShortTimeSeries"]


@register
class Cosine(LockstepMetric):
    """Cosine distance, one minus the cosine of the angle; both all zero: 0, one of them: 1.

    Examples
    --------
    >>> from sktslib.distances import Cosine
    >>> Cosine()([1, 0], [0, 1])
    1.0
    """

    name, full_name = "cosine", "Cosine Distance"
    _terms = lockstep_terms.CosineRecord


@register
class Correlation(LockstepMetric):
    """Correlation distance: cosine distance of the centered series; both constant: 0, one of them: 1.

    Examples
    --------
    >>> from sktslib.distances import Correlation
    >>> round(Correlation()([1, 2, 3], [2, 4, 6]), 12)
    0.0
    """

    name, full_name, centered = "correlation", "Correlation Distance", True
    aliases = ("Cross Correlation Distance",)
    _terms = lockstep_terms.CosineRecord


@register
class PearsonCorrelation(LockstepMetric):
    """Distance from Pearson's correlation r: ``2 (1 - r)``, or ``((1 - r) / (1 + r))^beta`` (Golay et al. 1998).

    Parameters
    ----------
    beta : float, optional
        Exponent of the second form, above 0; None for the first.

    Examples
    --------
    >>> from sktslib.distances import PearsonCorrelation
    >>> round(PearsonCorrelation()([1, 2, 3], [3, 2, 1]), 12)
    4.0
    """

    name, full_name, centered = "pearson_correlation", "Pearson Correlation Distance", True
    aliases = ("Pearson Correlation", "pearson")
    _parameter_constraints = {"beta": [Interval(Real, 0, None, closed="neither"), None]}

    def __init__(self, beta: float | None = None) -> None:
        self.beta = beta

    def _record(self):
        return lockstep_terms.PearsonRecord(-1.0 if self.beta is None else float(self.beta))


@register
class Mahalanobis(LockstepMetric):
    """Mahalanobis distance, ``sqrt((x - y)' VI (x - y))``.

    Parameters
    ----------
    VI : array-like of shape (length * channels, length * channels), optional
        Inverse covariance of the points, time outside and channels inside. None: the identity, which makes the
        distance Euclidean. `fit` estimates it from a collection.

    Attributes
    ----------
    VI_ : ndarray
        What `fit` estimated; only after `fit`.

    Examples
    --------
    >>> from sktslib.distances import Mahalanobis
    >>> Mahalanobis(VI=[[4, 0], [0, 1]])([0, 0], [3, 4])
    7.211102550927978
    """

    _is_additive = False
    name, full_name, power = "mahalanobis", "Mahalanobis Distance", 2.0
    _weighted_power = None  # a term has the weights of two points, or of two channels
    _terms = lockstep_terms.EuclideanRecord

    def __init__(self, VI: ArrayLike | None = None) -> None:
        self.VI = VI

    @property
    def is_symmetric(self) -> bool:
        VI = self._inverse()
        return VI is None or np.array_equal(VI, VI.T)

    @property
    def is_metric(self) -> bool:
        VI = self._inverse()
        return VI is None or (self.is_symmetric and bool((np.linalg.eigvalsh(VI) > 0).all()))

    def fit(self, X: Sequences, y: ArrayLike | None = None, *, channels_first: bool | None = None) -> Self:
        """Estimate `VI` from a collection by the shrunk covariance of Ledoit and Wolf (2004).

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels)
            Series of one length.
        y : ignored
        channels_first : bool, optional
            Whether the channels come before time, see :func:`sktslib.distances.pairwise_distances`.

        Returns
        -------
        Mahalanobis
            Itself.

        Raises
        ------
        ValueError
            If `X` is no collection of at least two series of one length, or holds missing values.
        """
        from sklearn.covariance import LedoitWolf

        X = as_floats(X, "X")
        if X.ndim not in (2, 3) or len(X) < 2:
            raise ValueError(
                "'X' must be a collection of at least two series, shape (n_series, length) or (n_series, length, "
                f"channels). Got shape {X.shape}."
            )
        refuse_missing(X, "X")
        if X.ndim == 3:
            X = np.array(as_collection(X, "X", channels_first=channels_first)).transpose(0, 2, 1)
        check_query(X, "'X'", 2.0, "A covariance")
        self.VI_ = LedoitWolf().fit(X.reshape(len(X), -1)).precision_
        return self

    def _inverse(self):
        if self.VI is None:
            return getattr(self, "VI_", None)
        return as_floats(self.VI, "VI")

    def _validate(self):
        VI = self._inverse()
        if VI is not None:
            if VI.ndim != 2 or VI.shape[0] != VI.shape[1]:
                raise ValueError(
                    "The 'VI' parameter of Mahalanobis must be a square matrix of side length * channels. Got shape "
                    f"{VI.shape}."
                )
            refuse_missing(VI, "VI", "Invert a covariance of full rank.")

    def _distance(self, x, w, y, tx, ty):
        if self._inverse() is None:
            return super()._distance(x, w, y, tx, ty)
        x, w, y = equal_lengths(x, w, y)
        return float(self._windows(x, w, y[np.newaxis], None, None)[0])

    def _profile(self, x, w, y, tx, ty, normalize, exactly=False):
        if self._inverse() is None:
            return Euclidean()._profile(x, w, y, tx, ty, normalize, exactly)
        return Metric._profile(self, x, w, y, tx, ty, normalize, exactly)

    def _slack(self, x, w, n_windows, normalize):
        return Euclidean()._slack(x, w, n_windows, normalize) if self._inverse() is None else 0.0

    def _scaled_profile(self, x, w, y, tx, ty, normalize, length):
        plain = Euclidean() if self._inverse() is None else super()
        return plain._scaled_profile(x, w, y, tx, ty, normalize, length)

    def _windows(self, x, w, y, tx, ty):
        VI = self._inverse()
        if VI.shape[0] != x.size:
            raise ValueError(
                "The 'VI' parameter of Mahalanobis must have the side length * channels of the series compared, "
                f"{x.shape[1]} * {x.shape[0]} = {x.size}. Got {VI.shape[0]}."
            )
        d = (y - x) * np.sqrt(full_weight(w, x))
        d = d.transpose(0, 2, 1).reshape(len(y), -1)
        size = np.frexp(np.abs(d).max(axis=1, keepdims=True))[1]
        d = np.ldexp(d, -size)  # no square over- or underflows
        image = d @ VI
        total = (image * d).sum(axis=1)
        if (total < -1e-9 * np.abs(image * d).sum(axis=1)).any():
            least = np.ldexp(total, 2 * size[:, 0]).min()
            raise ValueError(
                "The 'VI' parameter of Mahalanobis must be positive semi-definite, as the inverse of a covariance "
                f"is. Got a matrix by which a difference has the squared length {least:g}."
            )
        return np.ldexp(np.sqrt(np.maximum(total, 0.0)), size[:, 0])


@register
class ShortTimeSeries(LockstepMetric):
    """Short time series distance: Euclidean distance of the slopes (Moeller-Levet et al. 2003).

    Examples
    --------
    >>> from sktslib.distances import ShortTimeSeries
    >>> ShortTimeSeries()([0, 1, 2], [5, 6, 7])
    0.0
    """

    _is_additive = False
    name, full_name, power = "short_time_series", "Short Time Series Distance", 2.0
    _weighted_power = None  # a term has the weights of two points, or of two channels
    _terms = lockstep_terms.EuclideanRecord
    uses_times = True

    def _distance(self, x, w, y, tx, ty):
        if x.shape[1] != y.shape[1]:
            raise ValueError(
                f"The short time series distance needs two series of equal length. Got {x.shape[1]} and {y.shape[1]} "
                "points; interpolate one of them to the other's times."
            )
        w = full_weight(w, x)
        return float(lockstep_drivers.distance(self._record(), slopes(x, tx), slopes(y, ty), slope_weight(w)))

    def _term_weight(self, w):
        return slope_weight(w).sum()

    def _profile(self, x, w, y, tx, ty, normalize, exactly=False):
        if normalize is not None:  # each window has slopes of its own then
            return Metric._profile(self, x, w, y, tx, ty, normalize)
        w = full_weight(w, x)
        return super()._profile(slopes(x, tx), slope_weight(w), slopes(y, ty), None, None, None, exactly)


def slope_weight(w):
    """A slope counts as the lesser one of its two points."""
    return np.minimum(w[:, 1:], w[:, :-1])


def slopes(a, t):
    """Slopes of a series; those of one sample that was resampled to several points are 0, with times as without."""
    steps = np.ascontiguousarray(np.diff(a, axis=-1))
    if t is None:
        return steps
    times = np.broadcast_to(np.diff(t), steps.shape)
    with np.errstate(over="ignore"):
        out = np.divide(steps, times, out=np.zeros_like(steps), where=times != 0)
    if not np.isfinite(out).all():
        raise ValueError(
            f"The slopes of a series must fit into float64. Got steps of up to {np.abs(steps).max():g} within times of "
            f"down to {np.diff(t).min():g}; choose a larger unit of time."
        )
    return out

"""Lockstep metrics, which compare points in pairs; the shape-based distance; and time metrics.

A lockstep metric pairs the i-th points of both series. Each pair adds a term, or the points are compared together: by
direction, covariance or slope. Time metrics measure how far a series is ahead, delayed or in phase.

The shape-based distance allows shifts but no warping. It compares a series with many others by cross-correlations at
all shifts, by FFT. At shift s, query point i is paired with series point i + s. For series of m and n points the shifts
are -(m - 1) to n - 1. A circular correlation of at least m + n - 1 points holds them without overlap, the negative ones
at its end.
"""

from __future__ import annotations

from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...utils._parameters import Interval
from ...utils.validation import as_floats, refuse_missing, refused
from .._collection import as_collection
from .._kernels import lockstep, mass, moments
from .._series import SCALINGS, alike, full_weight, places, resample
from .base import Metric
from .dtw import DTW
from .registry import register
from .soft import PathlessMetric

__all__ = [
    "SBD",
    "TAM",
    "Braycurtis",
    "Canberra",
    "Chebyshev",
    "Correlation",
    "Cosine",
    "Euclidean",
    "Hamming",
    "KullbackLeibler",
    "Mahalanobis",
    "Manhattan",
    "Minkowski",
    "PearsonCorrelation",
    "ShortTimeSeries",
    "SquaredEuclidean",
]


def common_weight(x, w, y):
    """Return the weights (channels, length) of paired points, at the length of the shorter series."""
    m, n = x.shape[1], y.shape[1]
    if w is None:
        return np.ones((len(x), min(m, n)))
    if m <= n:
        return w
    w = resample(w, n)
    if not w.any():
        raise ValueError(
            f"'weight' must leave at least one point: the query of {m} points is interpolated to {n}, and none of "
            "them falls on a weight above 0."
        )
    return w / w.max()


def equal_lengths(x, w, y):
    """Return two series at the length of the shorter one, and the weights; None without weights."""
    w, length = None if w is None else common_weight(x, w, y), min(x.shape[1], y.shape[1])
    x, y = (a if a.shape[1] == length else resample(a, length) for a in (x, y))
    return x, w, y


class LockstepMetric(Metric):
    """A lockstep distance with one term per point."""

    family = "lockstep"
    _is_additive = True
    centered = False  # whether the weighted mean of each channel is subtracted first
    power = None  # the power of the distance that is a sum of terms; None if there is no such sum
    _terms = None  # class of its parameter record

    def _record(self):
        return self._terms()

    def _is_symmetric_with(self, w):
        return self.is_symmetric  # weights belong to pairs, not to one of the series

    def _prepare(self, a, w):
        """Return a series in the form that is compared, at the length of the weights."""
        n, m = a.shape[1], w.shape[1]
        if not self.centered:
            return a if n == m else resample(a, m)
        left, share = places(n, m)
        return moments.normalize_window(a, left, None if n == m else share, w, 1, alike(n, m))

    def _distance(self, x, w, y, tx, ty):
        if self.centered or x.shape[1] != y.shape[1]:
            return self._prepared_distance(x, common_weight(x, w, y), y)
        return float(lockstep.distance(self._record(), x, y, full_weight(w, x)))

    def _prepared_distance(self, x, w, y):
        return float(lockstep.distance(self._record(), self._prepare(x, w), self._prepare(y, w), w))

    def _finite(self, distance):
        """Return distances; a subclass may refuse those that float64 cannot hold."""
        return distance

    def _profile(self, x, w, y, tx, ty, normalize, exactly=False):
        if not self._is_additive or normalize not in SCALINGS:
            return super()._profile(x, w, y, tx, ty, normalize, exactly)
        if not exactly and self._relative_error(x, w, y.shape[1] - x.shape[1] + 1, normalize):
            return self._fast_profile(x, w, y, normalize)
        return self._scaled_profile(x, w, y, tx, ty, normalize, x.shape[1])

    def _fast_profile(self, x, w, y, normalize, room=None):
        """Return a profile by Fourier transforms, whose distances have slack.

        It is written to `room`, if given, because allocating large memory takes as long as writing to it.
        """
        scaling = self._scaling(normalize)
        out = np.empty(y.shape[1] - x.shape[1] + 1) if room is None else room
        mass.profile(self._record(), self._normalized(x, full_weight(w, x), scaling), w, y, scaling, out)
        return self._finite(out)

    def _compares_copies(self, normalize):
        """Return whether `_of_copies` can compute the distances."""
        known = isinstance(self._record(), lockstep.SQUARES + lockstep.PRODUCTS)
        return known and self._is_additive and normalize in SCALINGS

    def _of_copies(self, x, w, windows, normalize):
        """Return the exact distances of copies (n, channels, m) of windows from any place."""
        full, scaling, out = full_weight(w, x), self._scaling(normalize), np.empty(len(windows))
        x, left = self._normalized(x, full, scaling), np.arange(x.shape[1])
        lockstep.few(self._record(), x, windows, full, scaling, 0.0, left, None, out)
        return self._finite(out)

    def _scaled_profile(self, x, w, y, tx, ty, normalize, length):
        if not self._is_additive or normalize not in SCALINGS:
            return super()._scaled_profile(x, w, y, tx, ty, normalize, length)
        full, scaling = full_weight(w, x), self._scaling(normalize)
        out = np.empty(y.shape[1] - length + 1)
        (left, share), near = places(length, x.shape[1]), alike(length, x.shape[1])
        points = left, None if length == x.shape[1] else share  # without resampling there is no share
        lockstep.stretched(self._record(), self._normalized(x, full, scaling), y, full, scaling, near, *points, out)
        return self._finite(out)

    @staticmethod
    def _normalized(x, w, scaling):
        return moments.normalize_one(x, w, scaling) if scaling else x

    def _scaling(self, normalize):
        scaling = SCALINGS[normalize]
        if self.centered:
            scaling = 4 if scaling == 3 else max(scaling, 1)
        return scaling

    def _relative_error(self, x, w, n_windows, normalize):
        if normalize not in SCALINGS:
            return 0.0
        return mass.slack(self._record(), x, w, n_windows, self._scaling(normalize)) if self._is_additive else 0.0

    def _segment_cost(self, distance, m):
        return m * distance if self.power is None else distance**self.power

    def _observed(self, x, full, seen, y, tx, ty):
        """Return the distance from points with positive weight `seen`; a sum is rescaled to the `full` weight."""
        if self.centered:  # computed as for series of any lengths, where interpolated points are not rounded first
            return self._prepared_distance(x, seen, y)
        distance = self._distance(x, seen, y, tx, ty)
        if self.power is None:
            return distance
        of_terms = self._term_weight(seen)
        return distance * (self._term_weight(full) / of_terms) ** (1.0 / self.power) if of_terms > 0 else np.inf

    def _term_costs(self, x, y, w):
        """Return the terms (channels, m), whose sum is the distance to the power `power`."""
        out = np.empty_like(x)
        lockstep.first_terms(self._record(), x, np.ascontiguousarray(y), w, out)
        return out

    @property
    def _weighted_power(self):
        return None if self.centered else self.power

    def _weighted_terms(self, x, w, y):
        return self._term_costs(x, y, np.ones_like(x))

    def _term_weight(self, w):
        return w.sum()


@register
class Euclidean(LockstepMetric):
    """Euclidean distance, ``sqrt(sum w (x - y)^2)``.

    Examples
    --------
    >>> from sktslib.distances import Euclidean
    >>> Euclidean()([0, 0], [3, 4])
    5.0
    """

    name, full_name, power = "euclidean", "Euclidean Distance", 2.0
    _terms = lockstep.EuclideanRecord
    _is_metric = True


@register
class SquaredEuclidean(LockstepMetric):
    """Squared Euclidean distance, ``sum w (x - y)^2``.

    Examples
    --------
    >>> from sktslib.distances import SquaredEuclidean
    >>> SquaredEuclidean()([0, 0], [3, 4])
    25.0
    """

    name, full_name, power = "sqeuclidean", "Squared Euclidean Distance", 1.0
    _terms = lockstep.SquaredRecord


@register
class Manhattan(LockstepMetric):
    """Manhattan distance, ``sum w |x - y|``.

    Examples
    --------
    >>> from sktslib.distances import Manhattan
    >>> Manhattan()([0, 0], [3, 4])
    7.0
    """

    _center = "median"
    name, full_name, power = "manhattan", "Manhattan Distance", 1.0
    aliases = ("cityblock",)
    _terms = lockstep.ManhattanRecord
    _is_metric = True


@register
class Minkowski(LockstepMetric):
    """Minkowski distance, ``(sum w |x - y|^p)^(1/p)``.

    Parameters
    ----------
    p : float, default=3
        The exponent, above 0.

    Examples
    --------
    >>> from sktslib.distances import Minkowski
    >>> Minkowski(p=1)([0, 0], [3, 4])
    7.0
    """

    name, full_name = "minkowski", "Minkowski Distance"
    entry_parameters = {"p": 3}
    _parameter_constraints = {"p": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, p: float = 3) -> None:
        self.p = p

    @property
    def is_metric(self) -> bool:
        return self.p >= 1

    @property
    def power(self) -> float:
        return float(self.p)

    def _distance(self, x, w, y, tx, ty):
        distance = super()._distance(x, w, y, tx, ty)
        return distance if distance < np.inf else self._finite(distance)

    def _finite(self, distance):
        if not np.isfinite(distance).all():
            rule, out = "not be so small that distances leave float64", "Use a larger p, or shorter series."
            got = f"{self.p}: the sum over the points, to the power 1 / p, is above 1.8e308"
            raise refused("The 'p' parameter of Minkowski", rule, got, out)
        return distance

    def _record(self):
        return lockstep.MinkowskiRecord(float(self.p))


@register
class Chebyshev(LockstepMetric):
    """Chebyshev distance, ``max w |x - y|``.

    Examples
    --------
    >>> from sktslib.distances import Chebyshev
    >>> Chebyshev()([0, 0], [3, 4])
    4.0
    """

    name, full_name = "chebyshev", "Chebyshev Distance"
    _terms = lockstep.ChebyshevRecord
    _is_metric = True


@register
class Canberra(LockstepMetric):
    """Canberra distance, ``sum w |x - y| / (|x| + |y|)``; a term 0/0 counts 0.

    Examples
    --------
    >>> from sktslib.distances import Canberra
    >>> Canberra()([0, 1], [0, 3])
    0.5
    """

    _center = "median"
    name, full_name, power = "canberra", "Canberra Distance", 1.0
    _terms = lockstep.CanberraRecord
    _is_metric = True


@register
class KullbackLeibler(LockstepMetric):
    """Kullback-Leibler divergence of positive values, ``sum w (x log(x / y) - x + y)`` (Kullback & Leibler 1951).

    Of series with equal sums it is ``sum w x log(x / y)``. It is not symmetric: the query is `x`.

    Examples
    --------
    >>> from sktslib.distances import KullbackLeibler
    >>> round(KullbackLeibler()([0.5, 0.5], [0.25, 0.75]), 6)
    0.143841
    """

    name, full_name, power = "kullback_leibler", "Kullback-Leibler Divergence", 1.0
    aliases = ("kl",)
    _terms = lockstep.KullbackLeiblerRecord
    _has_domain = True
    _is_symmetric = False

    def _check_values(self, a, what):
        low = np.fmin.reduce(a, axis=None)
        if low <= 0.0:
            rule, got = f"hold positive values: the {self.full_name} takes their logarithms", f"{low:g} as the smallest"
            raise refused(what, rule, got, "Add a constant to all series, or use another distance.")


@register
class Braycurtis(LockstepMetric):
    """Bray-Curtis distance, ``sum w |x - y| / sum w |x + y|``; 0/0 is 0, and ``x = -y`` is infinitely far.

    Examples
    --------
    >>> from sktslib.distances import Braycurtis
    >>> Braycurtis()([1, 1], [1, 3])
    0.3333333333333333
    """

    name, full_name = "braycurtis", "Braycurtis Distance"
    _terms = lockstep.BraycurtisRecord


@register
class Hamming(LockstepMetric):
    """Hamming distance: the weighted share of points that differ.

    Examples
    --------
    >>> from sktslib.distances import Hamming
    >>> Hamming()([1, 2, 3, 4], [1, 2, 0, 4])
    0.25
    """

    name, full_name = "hamming", "Hamming Distance"
    _terms = lockstep.HammingRecord
    _is_metric = True


if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike

    from ...utils._times import Sequences


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
    _terms = lockstep.CosineRecord


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
    _terms = lockstep.CosineRecord


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
        return lockstep.PearsonRecord(-1.0 if self.beta is None else float(self.beta))


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
        The inverse covariance that `fit` estimated; only after `fit`.

    Examples
    --------
    >>> from sktslib.distances import Mahalanobis
    >>> Mahalanobis(VI=[[4, 0], [0, 1]])([0, 0], [3, 4])
    7.211102550927978
    """

    _is_additive = property(lambda self: self._inverse() is None)
    name, full_name, power = "mahalanobis", "Mahalanobis Distance", 2.0
    _weighted_power = None  # a term depends on the weights of two points, or of two channels
    _terms = lockstep.EuclideanRecord

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
            If `X` is not a collection of at least two series of one length, or holds missing values.
        """
        from sklearn.covariance import LedoitWolf

        X = as_floats(X, "X")
        if X.ndim not in (2, 3) or len(X) < 2:
            rule = "be a collection of at least two series, shape (n_series, length) or (n_series, length, channels)"
            raise refused("'X'", rule, f"shape {X.shape}")
        refuse_missing(X, "X")
        if X.ndim == 3:
            X = np.array(as_collection(X, "X", channels_first=channels_first)).transpose(0, 2, 1)
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
                rule, got = "be a square matrix of side length * channels", f"shape {VI.shape}"
                raise refused("The 'VI' parameter of Mahalanobis", rule, got)
            refuse_missing(VI, "VI", "Invert a covariance of full rank.")

    def _distance(self, x, w, y, tx, ty):
        if self._inverse() is None:
            return super()._distance(x, w, y, tx, ty)
        x, w, y = equal_lengths(x, w, y)
        return float(self._windows(x, w, y[np.newaxis], None, None)[0])

    def _windows(self, x, w, y, tx, ty):
        VI = self._inverse()
        if VI is None:
            return super()._windows(x, w, y, tx, ty)
        if VI.shape[0] != x.size:
            rule = f"have the side length * channels of the series compared, {x.shape[1]} * {x.shape[0]} = {x.size}"
            raise refused("The 'VI' parameter of Mahalanobis", rule, VI.shape[0])
        d = (y - x) * np.sqrt(full_weight(w, x))
        d = d.transpose(0, 2, 1).reshape(len(y), -1)
        image = d @ VI
        total = (image * d).sum(axis=1)
        if (total < -1e-9 * np.abs(image * d).sum(axis=1)).any():
            rule = "be positive semi-definite, as the inverse of a covariance is"
            got = f"a matrix by which a difference has the squared length {total.min():g}"
            raise refused("The 'VI' parameter of Mahalanobis", rule, got)
        return np.sqrt(np.maximum(total, 0.0))


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
    _weighted_power = None  # a term depends on the weights of two points
    _terms = lockstep.EuclideanRecord
    uses_times = True

    def _distance(self, x, w, y, tx, ty):
        if x.shape[1] != y.shape[1]:
            raise ValueError(
                f"The short time series distance needs two series of equal length. Got {x.shape[1]} and {y.shape[1]} "
                "points; interpolate one of them to the other's times."
            )
        w = full_weight(w, x)
        return float(lockstep.distance(self._record(), slopes(x, tx), slopes(y, ty), slope_weight(w)))

    def _term_weight(self, w):
        return slope_weight(w).sum()

    def _profile(self, x, w, y, tx, ty, normalize, exactly=False):
        if normalize is not None:  # then each window has its own slopes
            return super()._profile(x, w, y, tx, ty, normalize)
        w = full_weight(w, x)
        return Euclidean()._profile(slopes(x, tx), slope_weight(w), slopes(y, ty), None, None, None, True)


def slope_weight(w):
    """Return the weights of slopes: each gets the smaller weight of its two points."""
    return np.minimum(w[:, 1:], w[:, :-1])


def slopes(a, t):
    """Return the slopes of a series; those of a single sample resampled to several points are 0, even with times."""
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


WEAK = 1e-3  # sums of squares below this share of the whole would be differences with too large an error


def _fft():
    from scipy import fft  # takes as long to import as the distances

    return fft


def transform_length(m, n):
    """Return the length of transforms for series of up to m and n points."""
    return _fft().next_fast_len(m + n - 1, real=True)


def scaled(a):
    """Return series (..., channels, length) divided by their largest value, so that squares do not overflow."""
    peak = np.abs(a).max(axis=(-2, -1), keepdims=True)
    return a / np.where(peak > 0, peak, 1.0)


class Prepared(NamedTuple):
    """A query, or several series of one length, as `shape_distances` reads them."""

    scaled: np.ndarray  # (channels, m) or (k, channels, n)
    transform: np.ndarray  # (..., channels, frequencies)
    norm: np.ndarray
    length: int
    weighted: bool


def transform_query(x, w, size):
    """Return the weighted query (channels, m) for transforms of this size."""
    x, m = scaled(x), x.shape[1]
    if w is None:
        return Prepared(x, _fft().rfft(x, size), norms(x[np.newaxis], None, size)[0, 0], m, False)
    return Prepared(x, _fft().rfft(w * x, size), np.sqrt((w * x * x).sum()), m, True)


def transform_series(y, w, size):
    """Return series (k, channels, n) for transforms of this size; `w` are the query's weights."""
    y = scaled(y)
    return Prepared(y, _fft().rfft(y, size), norms(y, w, size), y.shape[2], w is not None)


def _shifts(m, n, size):
    """Return the positions of all shifts in a circular correlation, those that are not negative first."""
    return np.concatenate([np.arange(n), np.arange(size - m + 1, size)])


def norms(y, w, size):
    """Return the norms of series (k, channels, n): (k, 1), or with the query's weights one per shift (k, shifts).

    A point that is paired with a query point has the weight of that point, others have weight 1.
    """
    total = (y * y).reshape(len(y), -1).sum(axis=1, keepdims=True)
    if w is None:
        return np.sqrt(total)
    at = _shifts(w.shape[1], y.shape[2], size)
    left_out = _fft().irfft((np.conj(_fft().rfft(1.0 - w, size)) * _fft().rfft(y * y, size)).sum(axis=1), size)[:, at]
    squares = total - left_out
    for k, s in np.argwhere(squares <= WEAK * total):
        squares[k, s] = _seen(y[k], w, at[s] if s < y.shape[2] else at[s] - size)
    return np.sqrt(squares)


def _seen(y, w, shift):
    """Return the sum of squares of a series at one shift, with the weights of the query points paired with it."""
    weight = np.ones_like(y)
    first, last = max(shift, 0), min(y.shape[1], w.shape[1] + shift)
    weight[:, first:last] = w[:, first - shift : last - shift]
    return (weight * y * y).sum()


def _is_later(x, series):
    """Return whether a series has the larger value where it first differs from each of the others (k, channels, n)."""
    x, series = x.ravel(), series.reshape(len(series), -1)
    first = np.argmax(series != x, axis=1)
    return x[first] > series[np.arange(len(series)), first]


def shape_distances(query, series, size):
    """Return the distances (k,) between a query and series, both `Prepared`."""
    both = query.norm * series.norm
    if query.weighted:
        circular = _fft().irfft((np.conj(query.transform) * series.transform).sum(axis=1), size)
        cross = circular[:, _shifts(query.length, series.length, size)]
    else:
        cross = _largest(query, series, size)[:, np.newaxis]
    ratio = np.divide(cross, both, out=np.zeros_like(cross), where=both > 0)
    if query.norm == 0.0:
        ratio[np.broadcast_to(series.norm == 0, ratio.shape)] = 1.0  # two series of zeros are equal
    distance = 1.0 - np.minimum(ratio.max(axis=1), 1.0)
    if query.length == series.length:  # equal series get exactly 0, in spite of rounding
        distance[(series.scaled == query.scaled).all(axis=(1, 2))] = 0.0
    return distance


def _largest(query, series, size):
    """Return the largest cross-correlation (k,) over all shifts.

    So that d(x, y) = d(y, x) to the digit, the series that is first in a fixed order is always the query.
    """
    x, first, _, m, _ = query
    others, second, _, n, _ = series
    if m > n:
        product, m, n = np.conj(second) * first, n, m
    else:
        product = np.conj(first) * second
        if m == n:
            later = _is_later(x, others)
            product[later] = np.conj(second[later]) * first
    circular = _fft().irfft(product.sum(axis=1) if len(x) > 1 else product[:, 0], size)
    largest = circular[:, :n].max(axis=1)
    return np.maximum(largest, circular[:, size - m + 1 :].max(axis=1)) if m > 1 else largest


@register
class SBD(PathlessMetric):
    """Shape-based distance (Paparrizos & Gravano 2015): 1 - the largest normalized cross-correlation over all shifts.

    In [0, 2]. It knows shifts and no warping. The paper compares z-normalized series: normalize them beforehand, or
    search with ``normalize="zscore"``. Both all zero: 0; one of them: 1.

    References
    ----------
    Paparrizos J, Gravano L. k-Shape: efficient and accurate clustering of time series. SIGMOD 2015.

    Examples
    --------
    >>> from sktslib.distances import SBD
    >>> round(SBD()([0, 1, 2, 0, 0], [0, 0, 0, 2, 4]), 12)
    0.0
    """

    name, full_name = "sbd", "Shape-Based Distance"
    description = "One minus the largest normalized cross-correlation over all shifts."
    _pairs_by_length = True  # tables of distances are computed by length
    _why = "it compares the series at their best shift, point by point."

    def _distance(self, x, w, y, tx, ty):
        return self._alignment(float(self._windows(x, w, y[np.newaxis], tx, ty)[0]), x, w, y)

    def _windows(self, x, w, y, tx, ty):
        size = transform_length(x.shape[1], y.shape[2])
        query, series = transform_query(x, w, size), transform_series(y, w, size)
        return shape_distances(query, series, size)

    def _pairwise(self, X, Y, w, mirrored, out):
        """Fill in a table of distances by blocks of series of one length; no distance depends on the other series."""
        lengths = np.array([y.shape[1] for y in Y])
        sizes = {transform_length(m, n) for m in {x.shape[1] for x in X} for n in set(lengths.tolist())}
        # One transform for each size; series of similar lengths follow each other.
        query = lru_cache(4 * len(X))(lambda a, size: transform_query(X[a], w, size))
        order = np.argsort(lengths, kind="stable")
        block, begin = max(1, 2**18 // max(sizes)), 0
        while begin < len(order):
            end = min(begin + block, int(np.searchsorted(lengths[order], lengths[order[begin]], "right")))
            members = order[begin:end]
            y, series = np.array([Y[b] for b in members]), {}
            for a in order[:end] if mirrored else range(len(X)):
                size = transform_length(X[a].shape[1], y.shape[2])
                if size not in series:
                    series[size] = transform_series(y, w, size)
                out[a, members] = shape_distances(query(a, size), series[size], size)
            begin = end


def instants(path):
    """Count the steps of a path that move only the query, only the series, and both."""
    dx, dy = path[:, 1:] - path[:, :-1]
    return int((dy == 0).sum()), int((dx == 0).sum()), int(((dx > 0) & (dy > 0)).sum())


def ratios(path, m, n):
    """Return advance, delay and phase as shares of the possible steps, for a query of m and a series of n points."""
    advance, delay, phase = instants(path)
    m, n = m - 1, n - 1
    return (advance / m if m else 0.0), (delay / n if n else 0.0), (phase / min(m, n) if min(m, n) else 1.0)


@register
class TAM(Metric):
    """Time alignment measurement (Folgado et al. 2018), in [0, 3].

    It looks at time alone: on the path of dynamic time warping, the share of steps in which only one series moves,
    plus the share that is not in phase.

    Examples
    --------
    >>> from sktslib.distances import TAM
    >>> TAM()([0, 1, 2], [0, 1, 2])
    0.0
    """

    name, full_name, family = "tam", "Time Alignment Measurement", "time"
    description = "Advance, delay and phase of the optimal alignment."
    _is_symmetric = False  # ties between paths are resolved in favor of the query

    def _distance(self, x, w, y, tx, ty):
        advance, delay, phase = ratios(DTW()._distance(x, w, y, None, None).path, x.shape[1], y.shape[1])
        return advance + delay + (1.0 - phase)

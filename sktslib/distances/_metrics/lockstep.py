"""Lockstep metric classes: the i-th point of one series meets the i-th of the other, and each pair adds a term."""

from __future__ import annotations

from numbers import Real

import numpy as np

from ...utils._sklearn import Interval
from .._kernels import moments
from .._kernels.lockstep import lockstep_drivers, lockstep_terms, sliding
from .._series import SCALINGS, alike, full_weight, places, resample
from .base import Metric
from .registry import register

__all__ = [
    "Braycurtis",
    "Canberra",
    "Chebyshev",
    "Euclidean",
    "Hamming",
    "KullbackLeibler",
    "Manhattan",
    "Minkowski",
    "SquaredEuclidean",
]


def common_weight(x, w, y):
    """The weights (channels, length) of the points that meet, at the length of the shorter series."""
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
    """Both series at the length of the shorter, and the weights; None where there are none."""
    w, length = None if w is None else common_weight(x, w, y), min(x.shape[1], y.shape[1])
    x, y = (a if a.shape[1] == length else resample(a, length) for a in (x, y))
    return x, w, y


class LockstepMetric(Metric):
    """A lockstep distance made of one term per point."""

    family = "lockstep"
    _is_additive = True
    centered = False  # whether each series' weighted mean per channel is taken off first
    power = None  # sum behind the distance = distance ** power; None: no sum
    _terms = None  # the class of its record

    def _record(self):
        return self._terms()

    def _is_symmetric_with(self, w):
        return self.is_symmetric  # the weight of a pair is that of its place

    def _prepare(self, a, w):
        """A series as its points are compared, at the length of the weights."""
        n, m = a.shape[1], w.shape[1]
        if not self.centered:
            return a if n == m else resample(a, m)
        left, share = places(n, m)
        out = np.empty((len(a), m))
        moments.normalize_window(a, left, None if n == m else share, w, 1, alike(n, m), out)
        return out

    def _distance(self, x, w, y, tx, ty):
        if self.centered or x.shape[1] != y.shape[1]:
            return self._prepared_distance(x, common_weight(x, w, y), y)
        return float(lockstep_drivers.distance(self._record(), x, y, full_weight(w, x)))

    def _prepared_distance(self, x, w, y):
        return float(lockstep_drivers.distance(self._record(), self._prepare(x, w), self._prepare(y, w), w))

    def _finite(self, distance):
        """Distances, which float64 must hold."""
        return distance

    def _profile(self, x, w, y, tx, ty, normalize, exactly=False):
        if normalize not in SCALINGS:
            return super()._profile(x, w, y, tx, ty, normalize, exactly)
        if not exactly and self._slack(x, w, y.shape[1] - x.shape[1] + 1, normalize):
            return self._profiles(x[np.newaxis], None if w is None else w[np.newaxis], y, normalize)[0]
        full, scaling = full_weight(w, x), self._scaling(normalize)
        out = np.empty(y.shape[1] - x.shape[1] + 1)
        lockstep_drivers.profile(self._record(), self._normalized(x, full, scaling), y, full, scaling, out)
        return self._finite(out)

    def _profiles(self, X, W, y, normalize, room=None):
        """Profiles (n_queries, n_windows) of queries of one length, where they have slack; `W` are of all, or None.

        They lie in the `room` where it is given: large memory that is new costs as much as what is written there.
        """
        scaling, weights = self._scaling(normalize), [None] * len(X) if W is None else W
        queries = [self._normalized(x, full_weight(w, x), scaling) for x, w in zip(X, weights, strict=True)]
        shape = len(X), y.shape[1] - X.shape[2] + 1
        out = np.empty(shape) if room is None else room[: shape[0] * shape[1]].reshape(shape)
        sliding.profiles(self._record(), np.stack(queries), W, y, scaling, out)
        return self._finite(out)

    def _scaled_profile(self, x, w, y, tx, ty, normalize, length):
        if not self._is_additive or normalize not in SCALINGS:
            return super()._scaled_profile(x, w, y, tx, ty, normalize, length)
        full, scaling = full_weight(w, x), self._scaling(normalize)
        out = np.empty(y.shape[1] - length + 1)
        left, share = places(length, x.shape[1])
        near, x = alike(length, x.shape[1]), self._normalized(x, full, scaling)
        lockstep_drivers.stretched(self._record(), x, y, full, scaling, near, left, share, out)
        return self._finite(out)

    @staticmethod
    def _normalized(x, w, scaling):
        if not scaling:
            return x
        query = np.empty_like(x)
        moments.normalize_one(x, w, scaling, query)
        return query

    def _scaling(self, normalize):
        scaling = SCALINGS[normalize]
        if self.centered:
            scaling = 4 if scaling == 3 else max(scaling, 1)
        return scaling

    def _slack(self, x, w, n_windows, normalize):
        if normalize not in SCALINGS:
            return 0.0
        return sliding.slack(self._record(), x, w, n_windows, self._scaling(normalize)) if self._is_additive else 0.0

    def _cost_exponent(self, channels):
        return self.power or 1.0

    def _segment_cost(self, distance, m):
        return m * distance if self.power is None else distance**self.power

    def _observed(self, x, full, seen, y, tx, ty):
        """Distance from the points of positive weight `seen` alone; a sum is rescaled to the `full` weight."""
        if self.centered:  # series of any lengths, whose interpolated points are not rounded before
            return self._prepared_distance(x, seen, y)
        distance = self._distance(x, seen, y, tx, ty)
        if self.power is None:
            return distance
        of_terms = self._term_weight(seen)
        return distance * (self._term_weight(full) / of_terms) ** (1.0 / self.power) if of_terms > 0 else np.inf

    def _term_costs(self, x, y, w):
        """The terms (channels, m) whose sum is the distance to the power `power`."""
        out = np.empty_like(x)
        lockstep_drivers.first_terms(self._record(), x, np.ascontiguousarray(y), w, out)
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
    _terms = lockstep_terms.EuclideanRecord
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
    _terms = lockstep_terms.SquaredRecord

    def _exponent(self, channels):
        return 2.0


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
    _terms = lockstep_terms.ManhattanRecord
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
            raise ValueError(
                f"The 'p' parameter of Minkowski must not be so small that distances leave float64. Got {self.p}: the "
                "sum over the points, to the power 1 / p, is above 1.8e308. Take a larger p, or shorter series."
            )
        return distance

    def _record(self):
        return lockstep_terms.MinkowskiRecord(float(self.p))


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
    _terms = lockstep_terms.ChebyshevRecord
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
    _terms = lockstep_terms.CanberraRecord
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
    _terms = lockstep_terms.KullbackLeiblerRecord
    _has_domain = True
    _is_symmetric = False

    def _check_values(self, a, what):
        low = np.fmin.reduce(a, axis=None)
        if low <= 0.0:
            raise ValueError(
                f"{what} must hold positive values: the {self.full_name} takes their logarithms. Got {low:g} as the "
                "smallest. Add a constant to all series, or take another distance."
            )


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
    _terms = lockstep_terms.BraycurtisRecord


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
    _terms = lockstep_terms.HammingRecord
    _is_metric = True

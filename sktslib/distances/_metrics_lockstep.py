"""Lockstep metric classes: the i-th point of one series meets the i-th of the other."""

from numbers import Real

import numpy as np

from ..utils._sklearn import Interval
from ..utils.validation import as_floats, refuse_missing
from . import _lockstep as kernels
from ._metrics import Metric, register
from ._normalise import full_weight, normalise

SCALINGS = {None: 0, "mean": 1, "zscore": 2, "minmax": 3}


def resample(a, length):
    """Interpolate `(channels, n)` linearly at `length` even places, both ends kept."""
    steps = max(length - 1, 1)
    left, rest = np.divmod(np.arange(length) * (a.shape[1] - 1), steps)  # integers: a place that is a sample is exact
    right = np.minimum(left + 1, a.shape[1] - 1)
    share = rest / steps
    return np.ascontiguousarray(a[:, left] * (1.0 - share) + a[:, right] * share)


def equal_lengths(x, w, y):
    """Both series at the length of the shorter; the weights of a longer query go with it."""
    m, n = x.shape[1], y.shape[1]
    if m <= n:
        return x, w, resample(y, m) if m < n else y
    if w is not None:
        w = resample(w, n)
        if not w.any():
            raise ValueError(
                f"'weight' must leave at least one point: the query of {m} points is interpolated to {n}, and none of "
                "them falls on a weight above 0."
            )
        w = w / w.max()
    return resample(x, n), w, y


class LockstepMetric(Metric):
    """A lockstep distance made of one term per point."""

    group = "lockstep"
    centred = False  # whether each series' weighted mean per channel is taken off first
    power = None  # sum behind the distance = distance ** power; None: no sum

    def _record(self):
        raise NotImplementedError

    def _prepare(self, x, w):
        return normalise(x, w, "mean") if self.centred else x

    def _distance(self, x, w, y, tx, ty):
        x, w, y = equal_lengths(x, w, y)
        w = full_weight(w, x)
        return float(kernels.distance(self._record(), self._prepare(x, w), self._prepare(y, w), w))

    def _profile(self, x, w, y, tx, ty, normalize):
        w, scaling = full_weight(w, x), SCALINGS[normalize]
        if self.centred:
            scaling = 4 if scaling == 3 else max(scaling, 1)
        if scaling:
            query = np.empty_like(x)
            kernels.normalise_one(x, w, scaling, query)
            x = query
        out = np.empty(y.shape[1] - x.shape[1] + 1)
        kernels.profile(self._record(), x, y, w, scaling, out)
        return out

    def _tile_cost(self, distance, m):
        return m * distance if self.power is None else distance**self.power

    def _observed(self, x, full, seen, y, tx, ty):
        """Distance from the points of positive weight `seen` alone; a sum is rescaled to the `full` weight."""
        distance = self._distance(x, seen, y, tx, ty)
        if self.power is None:
            return distance
        of_terms = self._term_weight(seen)
        return distance * (self._term_weight(full) / of_terms) ** (1.0 / self.power) if of_terms > 0 else np.inf

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

    @property
    def metric(self):
        return True

    def _record(self):
        return kernels.EuclideanRecord()


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

    def _record(self):
        return kernels.SquaredRecord()


@register
class Manhattan(LockstepMetric):
    """Manhattan distance, ``sum w |x - y|``.

    Examples
    --------
    >>> from sktslib.distances import Manhattan
    >>> Manhattan()([0, 0], [3, 4])
    7.0
    """

    name, full_name, power = "manhattan", "Manhattan Distance", 1.0
    aliases = ("cityblock",)

    @property
    def metric(self):
        return True

    def _record(self):
        return kernels.ManhattanRecord()


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

    def __init__(self, p=3):
        self.p = p

    @property
    def metric(self):
        return self.p >= 1

    @property
    def power(self):
        return float(self.p)

    def _record(self):
        return kernels.MinkowskiRecord(float(self.p))


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

    @property
    def metric(self):
        return True

    def _record(self):
        return kernels.ChebyshevRecord()


@register
class Canberra(LockstepMetric):
    """Canberra distance, ``sum w |x - y| / (|x| + |y|)``; a term 0/0 counts 0.

    Examples
    --------
    >>> from sktslib.distances import Canberra
    >>> Canberra()([0, 1], [0, 3])
    0.5
    """

    name, full_name, power = "canberra", "Canberra Distance", 1.0

    @property
    def metric(self):
        return True

    def _record(self):
        return kernels.CanberraRecord()


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

    def _record(self):
        return kernels.BraycurtisRecord()


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

    @property
    def metric(self):
        return True

    def _record(self):
        return kernels.HammingRecord()


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

    def _record(self):
        return kernels.CosineRecord()


@register
class Correlation(LockstepMetric):
    """Correlation distance: cosine distance of the centred series; both constant: 0, one of them: 1.

    Examples
    --------
    >>> from sktslib.distances import Correlation
    >>> round(Correlation()([1, 2, 3], [2, 4, 6]), 12)
    0.0
    """

    name, full_name, centred = "correlation", "Correlation Distance", True
    aliases = ("Cross Correlation Distance",)

    def _record(self):
        return kernels.CosineRecord()


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

    name, full_name, centred = "pearson_correlation", "Pearson Correlation Distance", True
    aliases = ("Pearson Correlation", "pearson")
    _parameter_constraints = {"beta": [Interval(Real, 0, None, closed="neither"), None]}

    def __init__(self, beta=None):
        self.beta = beta

    def _record(self):
        return kernels.PearsonRecord(-1.0 if self.beta is None else float(self.beta))


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

    name, full_name, power = "mahalanobis", "Mahalanobis Distance", 2.0

    def __init__(self, VI=None):
        self.VI = VI

    @property
    def symmetric(self):
        VI = self._inverse()
        return VI is None or np.array_equal(VI, VI.T)

    @property
    def metric(self):
        VI = self._inverse()
        return VI is None or (self.symmetric and bool((np.linalg.eigvalsh(VI) > 0).all()))

    def fit(self, X, y=None):
        """Estimate `VI` from a collection by the shrunk covariance of Ledoit and Wolf (2004).

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels)
            Series of one length.
        y : ignored

        Returns
        -------
        Mahalanobis
            Itself.
        """
        from sklearn.covariance import LedoitWolf

        X = as_floats(X, "X")
        if X.ndim not in (2, 3) or len(X) < 2:
            raise ValueError(
                "'X' must be a collection of at least two series, shape (n_series, length) or (n_series, length, "
                f"channels). Got shape {X.shape}."
            )
        refuse_missing(X, "X")
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

    def _record(self):
        return kernels.EuclideanRecord()

    def _distance(self, x, w, y, tx, ty):
        if self._inverse() is None:
            return super()._distance(x, w, y, tx, ty)
        x, w, y = equal_lengths(x, w, y)
        return float(self._windows(x, w, y[np.newaxis], None, None)[0])

    def _profile(self, x, w, y, tx, ty, normalize):
        plain = self._inverse() is None
        return (super() if plain else super(LockstepMetric, self))._profile(x, w, y, tx, ty, normalize)

    def _windows(self, x, w, y, tx, ty):
        VI = self._inverse()
        if VI.shape[0] != x.size:
            raise ValueError(
                "The 'VI' parameter of Mahalanobis must have the side length * channels of the series compared, "
                f"{x.shape[1]} * {x.shape[0]} = {x.size}. Got {VI.shape[0]}."
            )
        d = (y - x) * np.sqrt(full_weight(w, x))
        d = d.transpose(0, 2, 1).reshape(len(y), -1)
        image = d @ VI
        total = (image * d).sum(axis=1)
        if (total < -1e-9 * np.abs(image * d).sum(axis=1)).any():
            raise ValueError(
                "The 'VI' parameter of Mahalanobis must be positive semi-definite, as the inverse of a covariance "
                f"is. Got a matrix by which a difference has the squared length {total.min():g}."
            )
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

    name, full_name, power = "short_time_series", "Short Time Series Distance", 2.0
    uses_times = True

    def _record(self):
        return kernels.EuclideanRecord()

    def _distance(self, x, w, y, tx, ty):
        if x.shape[1] != y.shape[1]:
            raise ValueError(
                f"The short time series distance needs two series of equal length. Got {x.shape[1]} and {y.shape[1]} "
                "points; interpolate one of them to the other's times."
            )
        w = full_weight(w, x)
        return float(kernels.distance(self._record(), slopes(x, tx), slopes(y, ty), slope_weight(w)))

    def _term_weight(self, w):
        return slope_weight(w).sum()

    def _profile(self, x, w, y, tx, ty, normalize):
        if normalize is not None:  # each window has slopes of its own then
            return Metric._profile(self, x, w, y, tx, ty, normalize)
        w = full_weight(w, x)
        return super()._profile(slopes(x, tx), slope_weight(w), slopes(y, ty), None, None, None)


def slope_weight(w):
    """A slope counts as the lesser one of its two points."""
    return np.minimum(w[:, 1:], w[:, :-1])


def slopes(a, t):
    step = 1.0 if t is None else np.diff(t)
    return np.ascontiguousarray(np.diff(a, axis=-1) / step)

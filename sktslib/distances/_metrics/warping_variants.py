"""Variants of dynamic time warping: penalties, weights, a factor for complexity, the maximum in place of the sum."""

from __future__ import annotations

from copy import copy
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from ...utils._sizes import check_size
from ...utils._sklearn import Interval, StrOptions
from .._collection import as_collection, part_size
from .._kernels import recurrences
from .._series import full_weight, normalize_values
from .bands import BAND_CONSTRAINTS
from .elastic import INF, ElasticMetric, Query, free_points, norm_exponent, norm_of
from .registry import register
from .warping import WarpingMetric

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike

    from ...utils._types import Sequences

__all__ = ["ADTW", "CIDDTW", "WDTW", "Frechet"]


# Of the weighted variance, by benchmarks/adtw_omega.py. Above the 1.5 that a sample of background costs by default a
# repetition does not stretch over background; the further above, the less it stretches where it should.
OMEGA = 1.6


def observed(x, w):
    """A series and its weights, where what is missing has a weight and a value of 0."""
    missing = np.isnan(x)
    return np.where(missing, 0.0, x), np.where(missing, 0.0, full_weight(w, x))


def weighted_variance(x, w):
    """Mean of ``w (x - mean)^2`` over a channel's points of positive weight, summed over the channels (channels, m)."""
    apart = normalize_values(x, w, "mean")
    return float(((w * apart * apart).sum(axis=1) / np.maximum((w > 0).sum(axis=1), 1)).sum())


@register
class ADTW(WarpingMetric):
    """Amerced dynamic time warping (Herrmann & Webb 2023): every move that stretches pays a penalty.

    Parameters
    ----------
    omega : float or "auto", default=1.0
        The penalty, at least 0; 0 is dynamic time warping. "auto": 1.6 times the weighted variance of the series that
        `fit` is given, see Notes.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Attributes
    ----------
    omega_ : float
        What "auto" stands for; only after `fit`.

    Notes
    -----
    The weighted variance is the mean of ``w (x - mean)^2`` over the points of positive weight, summed over the
    channels, averaged over the series: what a point costs against a constant signal at the mean. Missing points have no
    weight. Constant series have a variance of 0, and so is `omega` then: dynamic time warping.

    "auto" is fixed once, and never by the pair that is compared. Estimators fix it when they are fitted: by their
    queries, as they are compared, or by the fitted collection. Functions of collections fix it by `X`. By itself the
    metric object needs `fit`. A fitted one keeps its `omega_`, and so do its clones: an estimator that is given one, in
    a grid search, too, does not fix it anew. `QuerySegmenter` takes the name ``"adtw"`` for ``ADTW(omega="auto")``.

    Examples
    --------
    >>> from sktslib.distances import ADTW
    >>> ADTW(omega=0.5)([0, 1, 2, 0], [0, 0, 1, 2, 0])
    0.5
    >>> ADTW(omega="auto").fit([[0, 1, 2, 1], [0, 2, 4, 2]]).omega_
    2.0
    """

    name, full_name = "adtw", "Amerced Dynamic Time Warping"
    entry_parameters = {"omega": 1.0}
    _parameter_constraints = {
        "omega": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        **BAND_CONSTRAINTS,
    }

    def __init__(
        self, omega: float | str = 1.0, *, window: float | str | None = None, factor: int | None = None
    ) -> None:
        super().__init__(window=window, factor=factor)
        self.omega = omega

    def fit(self, X: Sequences, y: ArrayLike | None = None, *, channels_first: bool | None = None) -> Self:
        """Set what ``omega="auto"`` stands for.

        Parameters
        ----------
        X : array-like of shape (n_series, length) or (n_series, length, channels), or list of series
            The series, of any lengths; of one query ``[query]``.
        y : ignored
        channels_first : bool, optional
            True for series of shape (channels, length), as in (n_series, channels, length).

        Returns
        -------
        ADTW
            Itself.
        """
        self.omega_ = self._omega_of(as_collection(X, "X", channels_first=channels_first, part=part_size(None)))
        return self

    def _fitted_to(self, series, weights=None):
        if not isinstance(self.omega, str) or hasattr(self, "omega_"):
            return self
        made = copy(self)
        made.omega_ = self._omega_of(series, weights)
        return made

    def _omega_of(self, series, weights=None):
        weights = [None] * len(series) if weights is None else weights
        variances = []
        for x, w in zip(series, weights, strict=True):
            x, w = observed(x, w)
            check_size(x, "'X'", 2.0, self.full_name)
            variances.append(weighted_variance(x, w))
        return OMEGA * float(np.mean(variances))

    def _record(self, m, n, search):
        omega = getattr(self, "omega_", None) if isinstance(self.omega, str) else self.omega
        if omega is None:
            raise ValueError(
                "The 'omega' parameter of ADTW must be a number, or be fixed by 'fit', before two series are compared: "
                "'auto' depends on more than a pair. Got 'auto'. Call fit([x]) with the query, or with a collection, "
                "or give a number such as 1.0."
            )
        return recurrences.ADTWRecord(float(omega))


def _exponent_of(a, axis):
    """The power of two that brings the largest size near 1; 0 where there is none."""
    return np.frexp(np.abs(a).max(axis=axis, initial=0.0, keepdims=axis is not None))[1]


BLOCK = 2**10  # numbers whose sums are found once


def _sums_of_ranges(values, start, end):
    """Sums of values[start:end], which are not negative, without differences of running sums."""
    blocks = np.append(values, np.zeros(-len(values) % BLOCK + BLOCK)).reshape(-1, BLOCK)
    total = np.append(blocks.sum(axis=1), 0.0)
    to, rest = np.cumsum(blocks, axis=1), np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1]
    (first, at), (last, until) = np.divmod(start, BLOCK), np.divmod(end, BLOCK)
    out = rest[first, at] + np.where(until > 0, to[last, until - 1], 0.0)
    far, near = np.flatnonzero(last > first + 1), np.flatnonzero(last == first)
    out[far] += _sums(total, first[far] + 1, last[far])  # of whole blocks between
    out[near] = _sums(blocks.ravel(), start[near], end[near])
    return out


def _sums(values, start, end):
    """The same, each number by number."""
    if not len(start):
        return np.empty(0)
    sums = np.add.reduceat(values, np.stack([start, end], axis=1).ravel())[::2]
    return np.where(end > start, sums, 0.0)  # of an empty range numpy gives an element


@register
class CIDDTW(WarpingMetric):
    """Complexity-invariant dynamic time warping (Batista et al. 2014): series of unlike complexity are farther apart.

    The root of the DTW distance times ``max(C(x), C(y)) / min(C(x), C(y))``, the complexity C of a series being the
    Euclidean length of its differences from point to point. A series that is constant, and no other, has a complexity
    of 0: two such have a factor of 1, and one such is infinitely far from all others.

    Parameters
    ----------
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import CIDDTW
    >>> CIDDTW()([0, 1, 0, 1], [0, 2, 0, 2])
    2.8284271247461903
    """

    name, full_name = "cid_dtw", "Complexity-Invariant Dynamic Time Warping"
    _reports_cost = False
    _has_factor = True
    _looks_back = True

    def _check_search(self, mode):
        super()._check_search(mode)
        if mode == "segmentation":
            raise ValueError(
                "Complexity-invariant dynamic time warping has no segmentation: its factor is known of whole segments "
                "only, and costs must add up. Take another elastic metric, such as 'dtw'."
            )

    def _exponent(self, channels):
        return 4.0  # squared differences, times a ratio of sums of squares

    def _trait(self, a):
        steps = np.diff(a, axis=-1)
        exponent = _exponent_of(steps, (-2, -1))
        scaled = np.ldexp(steps, -exponent)  # no square over- or underflows
        return np.ldexp(np.sqrt((scaled * scaled).sum(axis=(-2, -1))), exponent[..., 0, 0])

    def _trait_of_ranges(self, a, start, end):
        steps = np.diff(a, axis=1)
        exponent = _exponent_of(steps, None)
        squares = (np.ldexp(steps, -exponent) ** 2).sum(axis=0)
        return np.ldexp(np.sqrt(_sums_of_ranges(squares, start, end - 1)), exponent)

    @np.errstate(over="ignore")  # as far apart as numbers can tell
    def _factor(self, of_x, of_y):
        low, high = np.minimum(of_x, of_y), np.maximum(of_x, of_y)
        factor = np.divide(high, low, out=np.full(np.shape(high), INF), where=low > 0)
        return np.where(high > 0, factor * factor, 1.0)  # of costs, which are squares

    def _report(self, cost, problem):
        return np.sqrt(cost)

    _report_search = _report

    @np.errstate(over="ignore")  # a limit that none is
    def _limit(self, distance, problem):
        return distance * distance * (1.0 + 1e-12)


@register
class WDTW(WarpingMetric):
    """Weighted dynamic time warping (Jeong, Jeong & Omitaomu 2011): costs grow with the lag of the points.

    The cost of two points whose indices differ by a is multiplied by ``1 / (1 + exp(-g (a - L / 2)))``, L being the
    longer length (in a search, the query's).

    Parameters
    ----------
    g : float, default=0.05
        Steepness of the logistic factor, at least 0.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import WDTW
    >>> WDTW(g=0.0)([0, 1, 2], [0, 1, 4])
    2.0
    """

    name, full_name = "wdtw", "Weighted Dynamic Time Warping"
    _weighted_power = 1.0
    entry_parameters = {"g": 0.05}
    _depends_on_start = True
    _needs_equal_lengths = True
    _looks_back = True
    _parameter_constraints = {"g": [Interval(Real, 0, None, closed="left")], **BAND_CONSTRAINTS}

    def __init__(self, g: float | str = 0.05, *, window: float | str | None = None, factor: int | None = None) -> None:
        super().__init__(window=window, factor=factor)
        self.g = g

    def _record(self, m, n, search):
        longest = max(m, n)
        with np.errstate(over="ignore"):  # an infinite exponential makes the factor 0
            factors = 1.0 / (1.0 + np.exp(-float(self.g) * (np.arange(longest + 1) - (m if search else longest) / 2)))
        return recurrences.WDTWRecord(factors)

    def _partners(self, alignment):
        path = alignment.path
        return path, alignment._problem.record.factors[np.abs(path[0] - path[1])]


@register
class Frechet(ElasticMetric):
    """Discrete Frechet distance (Eiter & Mannila 1994): the longest of the pairs' distances, not their sum.

    Parameters
    ----------
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import Frechet
    >>> Frechet()([0, 1, 2], [0, 1, 4])
    2.0
    """

    _costs_by_values = False
    name, full_name = "frechet", "Frechet Distance"

    def _check_search(self, mode):
        super()._check_search(mode)
        if mode == "segmentation":
            raise ValueError(
                "The Frechet distance has no segmentation: its costs of segments are maxima and do not add up. Take "
                "another elastic metric, such as 'dtw'."
            )

    def _exponent(self, channels):
        return norm_exponent(channels)

    def _query(self, x, w, n, tx=None, *, search=False):
        return Query(recurrences.FrechetRecord(norm_of(x, 2.0)), x, w, free_points(x.shape[1]))

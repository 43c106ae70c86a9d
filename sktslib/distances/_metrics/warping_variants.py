"""Variants of dynamic time warping: penalties, weights, a factor for complexity, the maximum in place of the sum."""

from numbers import Real

import numpy as np

from ...utils._sklearn import Interval
from .._kernels import recurrences
from .bands import BAND_CONSTRAINTS
from .elastic import INF, ElasticMetric, Query, free_points, norm_exponent, norm_of
from .registry import register
from .warping import WarpingMetric

__all__ = ["ADTW", "CIDDTW", "WDTW", "Frechet"]


@register
class ADTW(WarpingMetric):
    """Amerced dynamic time warping (Herrmann & Webb 2023): every move that stretches pays a penalty.

    Parameters
    ----------
    omega : float, default=1.0
        The penalty, at least 0; 0 is dynamic time warping.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import ADTW
    >>> ADTW(omega=0.5)([0, 1, 2, 0], [0, 0, 1, 2, 0])
    0.5
    """

    name, full_name = "adtw", "Amerced Dynamic Time Warping"
    entry_parameters = {"omega": 1.0}
    _parameter_constraints = {"omega": [Interval(Real, 0, None, closed="left")], **BAND_CONSTRAINTS}

    def __init__(self, omega=1.0, *, window=None, factor=None):
        super().__init__(window=window, factor=factor)
        self.omega = omega

    def _record(self, m, n, search):
        return recurrences.ADTWRecord(float(self.omega))


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
    entry_parameters = {"g": 0.05}
    _depends_on_start = True
    _needs_equal_lengths = True
    _looks_back = True
    _parameter_constraints = {"g": [Interval(Real, 0, None, closed="left")], **BAND_CONSTRAINTS}

    def __init__(self, g=0.05, *, window=None, factor=None):
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

"""Edit metrics: a point is aligned with one point of the other series, or left out at a gap cost."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ...utils._names import warn
from ...utils._parameters import Interval
from ...utils.validation import refused
from .._kernels import recurrence, scalar
from .base import BAND_CONSTRAINTS
from .elastic import ElasticMetric, Query, norm_of
from .registry import register

__all__ = ["EDR", "ERP", "LCSS", "MSM", "TWED"]


SMALL = 0.02  # of the standard deviation: with a smaller `eps` hardly any points match unless they are equal
USUAL = 0.25  # of the standard deviation, the choice of Chen, Ozsu & Oria (2005)
FAR = 0.9  # share of unmatched points from which `eps` may be too small
CATEGORIES = 64  # data with at most as many distinct values, which recur, may be categories that match if equal


def _range(a):
    """Return the norm over channels of the ranges of values (channels, n); empty channels count as 0."""
    return float(np.hypot.reduce(np.nan_to_num(np.fmax.reduce(a, axis=1) - np.fmin.reduce(a, axis=1))))


def _deviation(a):
    """Return the norm over channels of the deviations of values (channels, n); empty channels count as 0."""
    return float(np.hypot.reduce([row[~np.isnan(row)].std() if not np.isnan(row).all() else 0.0 for row in a]))


def _are_categories(a):
    """Return whether the values may be categories: few distinct ones that recur."""
    count = len(np.unique(a))
    return count <= CATEGORIES and 2 * count <= a.size


def point_weights(x, w):
    """Return one weight per point, and the ratios between its channels (None if they are equal).

    The weight of a point scales its costs; only the ratios between channels affect what matches.
    """
    if w is None:
        return np.ones(x.shape[1]), None
    point = w.max(axis=0)
    ratio = np.divide(w, point, out=np.ones_like(w), where=point > 0)
    return point, None if (ratio == 1).all() else ratio


def matched(path, problem, eps):
    """Return the pairs of a path whose points are within `eps`."""
    x, y = problem.x[:, path[0]], problem.y[:, path[1]]
    differences = np.abs(problem.w[:, path[0]] * (x - y))
    norm = differences[0] if len(x) == 1 else np.sqrt((differences**2).sum(axis=0))  # computed as in the recurrence
    return path[:, norm <= eps]


@dataclass(eq=False, repr=False)
class MatchingMetric(ElasticMetric):
    """An edit distance that counts points: two points match or not."""

    eps: float = 1.0

    _parameter_constraints = {"eps": [Interval(Real, 0, None, closed="left")], **BAND_CONSTRAINTS}

    def _warn_of_pair(self, distance, x, y):
        m, n = x.shape[1], y.shape[1]
        least = abs(m - n) / max(m, n) if self._replaces else 0.0  # the distance if all points match
        if not least + 1e-9 < distance < FAR:  # otherwise the distance is informative
            self._warn_of_scale([x], [y])

    def _warn_of_scale(self, X, Y):
        """Warn if `eps` is so large that all points match, or so small that only equal ones do.

        It is too large if it is at least the largest possible distance of two points: the norm over channels of the
        ranges of values. It is too small below SMALL times the standard deviation of either collection, unless it is 0,
        or the values are few and recur, as categories do.
        """
        both = [np.concatenate(of, axis=1) for of in ([X] if Y is X else [X, Y])]
        values = np.concatenate(both, axis=1)
        eps, largest, name = float(self.eps), _range(values), type(self).__name__
        if eps >= largest > 0.0:
            warn(
                f"The 'eps' parameter of {name} should be smaller than the distance of the points furthest apart, "
                f"{largest:.3g}. Got {eps:g}: every point matches every other, and the values do not matter. "
                f"Lower it, for example to {USUAL} of the values' standard deviation."
            )
        elif 0.0 < eps < SMALL * largest:
            deviation = min(map(_deviation, both))
            if eps < SMALL * deviation and not _are_categories(values):
                warn(
                    f"The 'eps' parameter of {name} should be at least {SMALL:g} of the values' standard deviation, "
                    f"{deviation:.3g}. Got {eps:g}: hardly any points match but equal ones. Raise it, for example to "
                    f"{USUAL * deviation:.3g}, or normalize the series; set eps=0 if equal values alone should match."
                )


@register
class LCSS(MatchingMetric):
    """Longest common subsequence (Vlachos et al. 2002): the share of points that find no partner within `eps`.

    Parameters
    ----------
    eps : float, default=1.0
        Two points match if they are at most this far apart (Euclidean norm over the channels). A quarter of the values'
        standard deviation is usual. A warning appears if all points match, because `eps` reaches the range of the
        values, or hardly any, because it is above 0 and below 2 % of their standard deviation (unless the values are at
        most 64 recurring ones, like categories).
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the points that may match. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import LCSS
    >>> LCSS(eps=0.1)([0, 1, 2, 3], [0, 1, 9, 3])
    0.25
    """

    _reports_cost = False
    _replaces = False
    name, full_name = "lcss", "Longest Common Subsequence"
    entry_parameters = {"eps": 1, "report": "distance"}

    def _query(self, x, w, n, tx=None, *, search=False):
        m, (point, w) = x.shape[1], point_weights(x, w)
        if search:
            costs = point, np.zeros(m), point + 1.0
        else:
            costs = np.ones(m), 2.0 - 2.0 * point, np.full(m, 2.0)
        return Query(recurrence.EditRecord(norm_of(x, 2.0), float(self.eps)), x, w, np.array(costs))

    def _similarity(self, cost, points, n):
        """Return the matched weight as a share of the largest possible one; see `_distance_of_cost`."""
        m = points.shape[1]
        matched = np.minimum(m, n).astype(float)
        if points[1].any():  # with weights, the largest weights may match
            weights = np.sort(1.0 - points[1] / 2.0)[::-1]
            matched = np.array([weights[:k].sum() for k in np.atleast_1d(np.minimum(m, n))]).reshape(np.shape(n))
        return (m + n - cost) / 2.0 / matched

    def _distance_of_cost(self, cost, points, n):
        distance = np.maximum(0.0, 1.0 - self._similarity(cost, points, n))
        # For equal series the cost is summed along their path, so that rounding cannot keep them apart.
        equal = (n == points.shape[1]) & (cost <= np.cumsum(points[1])[-1])
        return np.where(equal, 0.0, distance)

    def _cost_of_distance(self, distance, problem):
        distance = np.minimum(distance, 1.0)  # the largest possible distance
        # The similarity falls linearly with the cost, so the costs 0 and 1 determine it.
        similarity = self._similarity(np.arange(2.0), problem.points, problem.shape[1])
        return (distance - 1.0 + similarity[0]) / (similarity[0] - similarity[1]) + 1e-12 * sum(problem.shape)

    def _match_distance_of_cost(self, cost, problem):
        return cost / (problem.points[0].sum() + problem.shape[0])

    def _listed(self, path, steps, problem):
        """Return the diagonal moves of a path whose points match."""
        return matched(path[:, steps == 0], problem, self.eps)


@register
class EDR(MatchingMetric):
    """Edit distance on real sequences (Chen, Ozsu & Oria 2005): the share of points to insert, delete or replace.

    Parameters
    ----------
    eps : float, default=1.0
        Two points match if they are at most this far apart (Euclidean norm over the channels). A quarter of the values'
        standard deviation is usual. A warning appears if all points match, because `eps` reaches the range of the
        values, or hardly any, because it is above 0 and below 2 % of their standard deviation (unless the values are at
        most 64 recurring ones, like categories).
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the points that may match. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import EDR
    >>> EDR(eps=0.1)([0, 1, 2, 3], [0, 1, 9, 3])
    0.25
    """

    _reports_cost = False
    _replaces = True
    name, full_name = "edr", "Edit Distance on Real Sequences"
    entry_parameters = {"eps": 1.0}

    def _query(self, x, w, n, tx=None, *, search=False):
        point, w = point_weights(x, w)
        record = recurrence.EditRecord(norm_of(x, 2.0), float(self.eps))
        return Query(record, x, w, np.array([point, np.zeros(len(point)), point]))

    def _partners(self, problem):
        path, steps = self._cells_and_moves(problem)
        return matched(path[:, steps == 0], problem, self.eps), None

    def _distance_of_cost(self, cost, points, n):
        return cost / np.maximum(points.shape[1], n)

    def _cost_of_distance(self, distance, problem):
        return distance * max(problem.shape) * (1.0 + 1e-12)


class GapCostMetric(ElasticMetric):
    """An edit distance whose costs are absolute differences instead of counts."""

    _center = "median"

    def _partners(self, problem):
        path, steps = self._cells_and_moves(problem)
        return path[:, steps == 0], None


@register
@dataclass(eq=False, repr=False)
class ERP(GapCostMetric):
    """Edit distance with real penalty (Chen & Ng 2004): a point left out costs its distance from `g`.

    It obeys the triangle inequality, but series that differ by points of the value `g` alone are at distance 0.

    Parameters
    ----------
    g : float, default=0.0
        The value against which points left out are measured.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the points that may match. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import ERP
    >>> ERP()([1, 2, 3], [1, 3])
    2.0
    """

    g: float | str = 0.0

    name, full_name = "erp", "Edit Distance with Real Penalty"
    entry_parameters = {"g": 0.0}
    _parameter_constraints = {"g": [Interval(Real, None, None, closed="neither")], **BAND_CONSTRAINTS}

    def _query(self, x, w, n, tx=None, *, search=False):
        out = np.abs(x - float(self.g)) * (1.0 if w is None else w)
        points = np.zeros((3, x.shape[1]))
        points[0] = out[0] if len(x) == 1 else np.sqrt((out**2).sum(axis=0))
        return Query(recurrence.ERPRecord(norm_of(x, 2.0), float(self.g)), x, w, points)


@register
@dataclass(eq=False, repr=False)
class MSM(GapCostMetric):
    """Move-split-merge (Stefan, Athitsos & Das 2013), a metric; channels share one path and add their costs.

    Parameters
    ----------
    c : float, default=1.0
        The cost of a split or merge, at least 0.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import MSM
    >>> MSM(c=0.5)([0, 1, 2, 0], [0, 0, 1, 2, 0])
    0.5
    """

    c: float = 1.0

    name, full_name = "msm", "Move-Split-Merge"
    entry_parameters = {"c": 1.0}
    _parameter_constraints = {"c": [Interval(Real, 0, None, closed="left")], **BAND_CONSTRAINTS}
    _can_be_cut = False  # a move that leaves out a point may be cheaper than the diagonal one

    @property
    def is_metric(self) -> bool:
        return self.c > 0 and self.window is None

    def _query(self, x, w, n, tx=None, *, search=False):
        return Query(recurrence.MSMRecord(float(self.c)), x, w, np.zeros((3, x.shape[1])))


@register
@dataclass(eq=False, repr=False)
class TWED(GapCostMetric):
    """Time warp edit distance with stiffness (Marteau 2009), a metric for nu > 0.

    Parameters
    ----------
    nu : float, default=0.001
        Stiffness: the cost of one unit of time.
    lmbda : float, default=1.0
        The constant cost of a point left unmatched.
    p : float, default=2
        Exponent of the norm over the channels, at least 1.
    window : None, float in (0, 1], "sakoe-chiba" or "itakura", default=None
        Band of the warping path. A float is the radius of a Sakoe-Chiba band as a share of the shorter length.
    factor : int, optional
        Radius in samples of the "sakoe-chiba" window; None: half the shorter length.

    Examples
    --------
    >>> from sktslib.distances import TWED
    >>> TWED(nu=1.0, lmbda=0.0)([0, 1, 2], [0, 1, 2])
    0.0
    """

    nu: float = 0.001
    lmbda: float = 1.0
    p: float = 2

    name, full_name = "twed", "Time Warp Edit Distance"
    uses_times = True
    entry_parameters = {"nu": 0.001, "lmbda": 1.0, "p": 2, "time": "true"}
    _parameter_constraints = {
        "nu": [Interval(Real, 0, None, closed="left")],
        "lmbda": [Interval(Real, 0, None, closed="left")],
        "p": [Interval(Real, 1, None, closed="left")],
        **BAND_CONSTRAINTS,
    }

    @property
    def is_metric(self) -> bool:
        return self.nu > 0 and self.window is None

    @property
    def _depends_on_start(self):
        return self.nu > 0 or self.window is not None

    def _problem(self, x, w, y, tx, ty, *, search=False):
        if (tx is None) != (ty is None):
            got = f"{'ty' if tx is None else 'tx'!r} alone; numpy.arange of the length stands for sample indices"
            raise refused("'tx' and 'ty'", "both be given, or neither: TWED compares the times of the two series", got)
        return super()._problem(x, w, y, tx, ty, search=search)

    def _query(self, x, w, n, tx=None, *, search=False):
        record = recurrence.TWEDRecord(norm_of(x, self.p), float(self.nu), float(self.lmbda))
        points = np.zeros((3, x.shape[1]))
        # Computed exactly like the gap cost of a series point, so that d(x, y) = d(y, x).
        if w is None and isinstance(record.norm, recurrence.Lp):  # compiled powers are not quite numpy's
            points[0, 1:] = scalar.series_gaps(record, x, tx)[1:]
            return Query(record, x, w, points)
        step, p = np.abs(np.diff(x, axis=1)), float(self.p)
        if w is not None:
            step = np.minimum(w[:, 1:], w[:, :-1]) * step
        length = step[0] if len(x) == 1 else sum(step**p) ** (1.0 / p)
        points[0, 1:] = length + record.nu * (1.0 if tx is None else np.diff(tx)) + record.lmbda
        return Query(record, x, w, points)

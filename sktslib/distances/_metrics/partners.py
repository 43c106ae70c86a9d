"""What the points of a series meet in those of a collection, which is what averages along warping paths are made of."""

from operator import is_

import numpy as np

from .._kernels import partner_sums
from .._kernels.compilation import block_size
from .._kernels.dispatch import bounds_of
from .bands import band
from .elastic import ElasticMetric, one_after_another

ROUNDING = 1e-9  # by which limits are raised, which are no more than guesses
FEW = block_size(2**11, 2**3)  # cells of a pair that are computed before a limit for them is found


class Partners:
    """A collection that series are compared with, as kernels take it."""

    def __init__(self, metric, series):
        self.metric, self.series = metric, series
        self.lengths = np.array([y.shape[1] for y in series])
        self.longest = int(self.lengths.max())
        self.features = [metric._features(y) for y in series]
        self.summed = one_after_another(series, self.lengths)
        as_they_are = all(map(is_, self.features, series))
        self.compared = self.summed if as_they_are else one_after_another(self.features, self.lengths)
        # Otherwise not all cells of the path are pairs, or not all pairs are partners.
        self.plain = all(getattr(type(metric), of) is getattr(ElasticMetric, of) for of in ("_partners", "_listed"))
        self.limited = metric._is_monotone and metric._reports_cost and not metric._has_factor

    def sums(self, x, w, members, limits=None):
        """Distances of some series (k,), and of each one how many points each point of `x` meets, and their sums.

        These are (k, m) and (k, channels, m). `limits` (k,) are about what the distances are at most: it is faster
        where they hold.
        """
        limits = np.full(len(members), np.inf) if limits is None or not self.limited else limits * (1.0 + ROUNDING)
        ends = self.lengths[members]
        longest = int(ends.max())
        if not (self.metric._needs_equal_lengths or any(self.metric._free(x.shape[1], longest))):
            return self._sums(x, w, members, longest, limits)
        found = [np.empty((len(members), *of)) for of in ((), x.shape[1:], x.shape)]
        for n in np.unique(ends).tolist():
            some = np.flatnonzero(ends == n)
            for out, of in zip(found, self._sums(x, w, members[some], n, limits[some]), strict=True):
                out[some] = of
        return found

    def _sums(self, x, w, members, n, limits):
        metric, m = self.metric, x.shape[1]
        problem = metric._problem(x, w, self.series[members[self.lengths[members].argmax()]], None, None)
        free = metric._free_points(problem, False)
        if not (self.plain and partner_sums.fits(m, n) and metric._runs_diagonally(problem, free)):
            return self._one_by_one(x, w, members)
        values, begins, lengths = self.compared
        compared = values, begins[members], lengths[members]
        summed = self.summed[0], self.summed[1][members], len(x)
        lo_hi = band(metric.window, metric.factor, n, m)
        pair = problem.record, problem.x, problem.w, problem.points
        cost, *sums = partner_sums.partner_sums(*pair, compared, summed, *lo_hi, *free[2:], limits)
        return metric._reported_costs(cost, problem, [self.features[k] for k in members]), *sums

    def _one_by_one(self, x, w, members):
        k, (channels, m) = len(members), x.shape
        far, met, total = np.empty(k), np.zeros((k, m)), np.zeros((k, channels, m))
        for at, y in enumerate(self.series[k] for k in members):
            found = self.metric._distance(x, w, y, None, None)
            path, counts = self.metric._partners(found)
            (i, j), counts = path[:, ::-1], None if counts is None else counts[::-1]  # as `partner_sums` adds
            far[at], met[at] = found, np.bincount(i, counts, m)
            for row, v in zip(total[at], y[:, j], strict=True):
                row[:] = np.bincount(i, v if counts is None else counts * v, m)
        return far, met, total

    def limits_after(self, x, w, found, after):
        """About what series cost at most with `after` in place of `x`: as much as along the paths of `x`.

        `found` is what `sums` gives of `x`. None where nobody knows, or where it is not worth asking.
        """
        if x.shape[1] * self.longest < FEW or not self.limited or self.compared is not self.summed:
            return None
        record, _, weights, _ = self.metric._query(x, w, x.shape[1])
        facts, (far, counts, totals) = bounds_of(record), found
        if facts is None or not facts.squares:
            return None
        step = after - x if weights is None else weights * (after - x)
        squares = counts @ (step * (after + x)).sum(axis=0)
        return far + squares - 2.0 * (totals.reshape(len(far), -1) @ step.ravel())


def partners_of(metric, series):
    """The series for averages along paths; None where centers are none."""
    return Partners(metric, series) if isinstance(metric, ElasticMetric) and metric._center == "mean" else None

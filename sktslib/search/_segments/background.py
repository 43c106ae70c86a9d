"""The cost of a sample of background."""

from typing import NamedTuple

import numpy as np

from ...utils._names import warn
from .._far_groups import gap_between

# Of repetitions that cover background: the least share of all, what they cost at least as a share of background, and
# how many times as much as the others, from which a clear gap divides them. A few are soon seen among the others.
COVERING, NEARLY, DEARER = 0.6, 0.5, 2.0
LEAST = 7  # repetitions that make a group
ROUND = 2**30  # parts of a point in which the cost of background is counted by metrics that count points


class Background(NamedTuple):
    """Cost of a sample: at most `limit`; with a `slope` it falls to 0 towards the `offset`.

    A constant cost tests how well a stretch fits a query. The distance from the offset also tests whether it fits the
    query better than the background, so that a repetition of twice the query's amplitude still is one, and a ripple is
    none.
    """

    limit: float
    slope: np.ndarray | None = None  # (channels, 1)
    offset: np.ndarray | None = None  # (channels, 1)
    power: float = 2.0

    def exact_for(self, metric):
        """Round a constant cost to a short binary fraction where the metric counts points.

        Sums of both are exact then, so which of equally cheap segmentations is found depends on no chunk or job.
        """
        if self.slope is not None or metric._replaces is None:
            return self
        return self._replace(limit=max(round(self.limit * ROUND), 1) / ROUND if self.limit else self.limit)

    def costs(self, y):
        """Return the costs of the samples (n,) of a series (channels, n); those of missing samples are 0."""
        if self.slope is None:
            return np.full(y.shape[1], self.limit)
        apart = y - self.offset  # from here on in place, for fresh memory takes longer than the numbers
        np.abs(apart, out=apart)
        apart **= self.power
        apart *= self.slope
        cost = apart[0] if len(apart) == 1 else apart.sum(axis=0)
        cost[np.isnan(cost)] = 0.0
        return np.minimum(cost, self.limit, out=cost)


def power_of(metric):
    """Return the power of differences that a metric's costs add up: 2, or 1 where they are absolute."""
    return 1.0 if metric._center == "median" else 2.0


def warn_of_covered_background(cost, length, background):
    """Warn of repetitions that cost nearly as much as the background, and far more than the others.

    Parameters
    ----------
    cost, length : ndarray of shape (n,)
        Costs and lengths of the repetitions.
    background : float
        Cost of a sample of background, which the queries tell.
    """
    each = cost / length
    gap = gap_between(each, LEAST, 1.0)
    if gap is None or gap[1] < DEARER * gap[0]:
        return
    border = float(f"{np.sqrt(max(gap[0], gap[1] / DEARER**2) * gap[1]):.2g}")
    far = each > border
    if far.mean() >= COVERING and np.median(each[far]) >= NEARLY * background:
        warn(
            f"{far.sum()} of {len(far)} repetitions cost nearly as much as background, {each[far].min():.3g} or more a "
            f"sample, and the others at most {each[~far].max():.3g}: they may cover flat noise. If they do, set "
            f"background={border}, which is {background:.3g} by default, to leave them out."
        )

"""What a sample of background costs."""

from typing import NamedTuple

import numpy as np


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

    def costs(self, y):
        """The costs of the samples (n,) of a series (channels, n); those of missing samples are 0."""
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
    """The power of differences that a metric's costs add up: 2, or 1 where they are absolute."""
    return 1.0 if metric._center == "median" else 2.0

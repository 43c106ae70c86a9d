"""Windows that a selection may choose, and what is known of their costs."""

from threading import Lock
from typing import NamedTuple

import numpy as np

from .._selection import select


class Candidates(NamedTuple):
    """Windows that may be within the limit."""

    where: np.ndarray  # (count,): where they start
    low: np.ndarray  # (count,): what they cost at least
    moments: np.ndarray  # (2, channels, count): scale and shift; without channels where windows are compared exactly

    @classmethod
    def joined(cls, parts):
        """Those of all parts."""
        return cls(*(np.concatenate(values, axis=-1) for values in zip(*parts, strict=True)))

    def of(self, which):
        """Those of these numbers."""
        return Candidates(self.where[which], self.low[which], self.moments.take(which, axis=2))

    def within(self, limit):
        """Copies of those whose bounds are not above a limit."""
        return self.of(np.flatnonzero(self.low <= limit))

    def part(self, begin, end):
        """Those of the numbers [begin, end)."""
        return Candidates(*(values[..., begin:end] for values in self))

    def divided(self, count):
        """So many of the most promising ones, and those of which only the others are within a limit."""
        if count >= len(self.low):
            return self, self.part(0, 0)
        best, low = np.sort(np.argpartition(self.low, count)[:count]), self.low.copy()
        low[best] = np.nan
        return self.of(best), self._replace(low=low)


class Known:
    """What is known of the windows so far: the cost that no match is above, and which are within that limit.

    `by_moments` tells whether windows are compared as running moments normalize them, and equal distances may differ by
    `more` in their costs.
    """

    def __init__(self, windows, rule, by_moments, more):
        self.windows, self.rule, self.by_moments, self.more = windows, rule, by_moments, more
        self.limit, self.lock = np.inf, Lock()
        self.forget()

    def forget(self):
        """Leave nothing but the limit."""
        self.where, self.costs = np.empty(0, np.int64), np.empty(0)

    def tighten(self, cost):
        """Take a cost that no match is above, as it may come out here, once from the exact one and once more."""
        self.limit = min(self.limit, self._raised(self._raised(cost)))

    def _raised(self, cost):
        """A cost as it may come out here, at most."""
        points, uncertainty = self.windows.y.shape[0] * self.windows.m, self.windows.uncertainty
        if self.by_moments:
            cost = (np.sqrt(cost) + np.sqrt(2.0 * points) * uncertainty) ** 2
        else:
            cost = cost + 4.0 * points * uncertainty
        return cost * (1.0 + 1e-9) + self.more

    def learn(self, which, costs):
        """Take costs, infinite above the limit, and what they say about it."""
        found = np.flatnonzero(costs < np.inf)
        if not len(found):
            return
        self.where, self.costs = np.append(self.where, which[found]), np.append(self.costs, costs[found])
        k = self.rule.n_matches
        if k == 1:
            self.tighten(costs[found].min())
        elif k is not None:
            rule = {"n_matches": 2 * k - 1, "max_overlap": self.rule.max_overlap}
            chosen = select(self.costs, self.where, self.where + self.windows.m, **rule)
            if len(chosen) == 2 * k - 1:
                self.tighten(self.costs[chosen[-1]])
        near = self.costs <= self.limit
        self.where, self.costs = self.where[near], self.costs[near]

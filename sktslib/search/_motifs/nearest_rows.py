"""The nearest window of each window, found as a search finds it."""

from typing import NamedTuple

import numpy as np

from ...distances._series import SCALINGS
from .._comparison import Comparison
from .._profile import Choice, Search
from .._profiles.compared_windows import Windows
from .._profiles.near_windows import Rule, applies, nearest_window
from .._several import matched

NONE = np.inf, -1


class Rows(NamedTuple):
    """Windows of a sequence, each of which is searched for among those of another one, or of the same."""

    how: Comparison  # its query is replaced by a window
    y: np.ndarray  # (channels, n)
    other: np.ndarray
    m: int
    apart: int  # samples that the starts of windows of one sequence must at least be apart
    is_one: bool  # whether both sequences are one; in another process they may be two copies of it
    windows: Windows | None = None  # those of `other`, where what normalizes them is found once for all queries

    @property
    def counts(self):
        """Windows of either sequence."""
        return self.y.shape[1] - self.m + 1, self.other.shape[1] - self.m + 1

    @property
    def are_symmetric(self):
        """Whether two windows are as far apart whichever of them is the query; weights of a path are the query's."""
        return self.how.metric._is_symmetric_with(self.how.w)

    def of(self, i):
        """The i-th window as it is searched for."""
        return self.how._replace(x=np.ascontiguousarray(self.y[:, i : i + self.m]))

    @property
    def prepared(self):
        """The same with the windows that are searched, where a search leaves out some of them."""
        how = self.how
        if not applies(how.metric, Rule(1), how.tx is not None, np.inf):
            return self
        windows = Windows(how.x, how.w, self.other, how.normalize)
        if how.normalize in SCALINGS:
            windows.prepare(np.ptp(self.y, axis=1).max(), keep=True)  # what a mean is taken off is no larger
        return self._replace(windows=windows)

    def distance(self, i, j):
        """The distance of the i-th window from the j-th one of the other sequence."""
        return float(self.of(i).distances(np.ascontiguousarray(self.other[:, j : j + self.m]), None, exactly=True)[0])

    def nearest(self, i, limit, free, *, after=False):
        """Distance and place of the nearest free window up to a limit; with `after` one that starts later.

        Of several that are as near it is the first.
        """
        how, best = self.of(i), NONE
        for first, last in self._allowed(i, free, after):
            distance, j = self._nearest_in(how, first, last, limit)
            if j >= 0 and (distance, first + j) < best:
                best, limit = (distance, first + j), distance
        return best

    def _nearest_in(self, how, first, last, limit):
        """The same of the windows [first, last), by its number among them."""
        if self.windows is not None:
            return nearest_window(how.metric, how.x, self.windows.part(first, last), limit)
        piece = np.ascontiguousarray(self.other[:, first : last + self.m - 1])
        found = matched(Search(how, piece), Choice(1, None if np.isinf(limit) else limit))
        return (float(found.distance[0]), int(found.start[0])) if len(found.start) else NONE

    def allows(self, i, j):
        """Whether the i-th window may be compared with the j-th one of the other sequence, if there is such a one."""
        return 0 <= j < self.counts[1] and not (self.is_one and abs(i - j) < self.apart)

    def _allowed(self, i, free, after):
        """Half-open ranges of windows that the i-th may be compared with; `free` are some of all."""
        if not self.is_one:
            return free
        sides = [(i + self.apart, np.inf)] if after else [(0, i - self.apart + 1), (i + self.apart, np.inf)]
        ranges = [(max(a, low), min(b, high)) for low, high in sides for a, b in free]
        return [(int(a), int(b)) for a, b in ranges if a < b]


def free_ranges(n, taken, apart):
    """Half-open ranges of n windows that start at least `apart` from all that are taken."""
    edges = [0]
    for start in sorted(taken):
        edges += [min(max(start - apart + 1, edges[-1]), n), min(start + apart, n)]
    edges.append(n)
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]

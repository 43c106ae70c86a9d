"""The nearest window of each window, found as a search finds it."""

from typing import NamedTuple

import numpy as np

from .._comparison import Comparison
from .._profile import Choice
from .._several import matched

NONE = np.inf, -1


class Rows(NamedTuple):
    """Windows of a sequence, each of which is searched for among those of another one, or of the same."""

    how: Comparison  # its query is replaced by a window
    y: np.ndarray  # (channels, n)
    other: np.ndarray
    m: int
    apart: int  # samples that the starts of windows of one sequence must at least be apart

    @property
    def is_one(self):
        """Whether both sequences are one."""
        return self.other is self.y

    @property
    def counts(self):
        """Windows of either sequence."""
        return self.y.shape[1] - self.m + 1, self.other.shape[1] - self.m + 1

    def of(self, i):
        """The i-th window as it is searched for."""
        return self.how._replace(x=np.ascontiguousarray(self.y[:, i : i + self.m]))

    def nearest(self, i, limit, free, *, after=False):
        """Distance and place of the nearest free window up to a limit; with `after` one that starts later.

        Of several that are as near it is the first.
        """
        m, how, best = self.m, self.of(i), NONE
        for first, last in self._allowed(i, free, after):
            piece = np.ascontiguousarray(self.other[:, first : last + m - 1])
            found = matched(how, piece, None, Choice(1, None if np.isinf(limit) else limit))
            if len(found.start) and (one := (float(found.distance[0]), first + int(found.start[0]))) < best:
                best, limit = one, one[0]
        return best

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

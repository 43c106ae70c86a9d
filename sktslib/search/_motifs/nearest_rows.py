"""The nearest window of each window, found as a search finds it."""

from typing import NamedTuple

import numpy as np

from ...distances._series import SCALINGS, full_weight
from .._comparison import Comparison
from .._profile import Choice, Search
from .._profiles.compared_windows import Windows
from .._profiles.missing import observed_query
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
    places: tuple  # of either sequence half-open ranges of the windows that no gap and no missing value breaks
    windows: Windows | None = None  # those of `other`, where what normalizes them is found once for all queries

    @property
    def counts(self):
        """Windows of either sequence."""
        return self.y.shape[1] - self.m + 1, self.other.shape[1] - self.m + 1

    @property
    def are_symmetric(self):
        """Whether two windows are as far apart whichever of them is the query; weights of a path are the query's."""
        return self.how.metric._is_symmetric_with(self.how.w) and not self.how.gaps

    def of(self, i):
        """The i-th window as it is searched for."""
        x, w = np.ascontiguousarray(self.y[:, i : i + self.m]), self.how.w
        x, w = observed_query(x, w) if self.how.gaps else (x, w)
        return self.how._replace(x=x, w=w)

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

    def is_seen(self, i):
        """Whether the i-th window has a value that counts."""
        if not self.how.gaps:
            return True
        x = self.y[:, i : i + self.m]
        return bool((~np.isnan(x) & (full_weight(self.how.w, x) > 0)).any())

    def distance(self, i, j):
        """The distance of the i-th window from the j-th one of the other sequence."""
        piece = np.ascontiguousarray(self.other[:, j : j + self.m])
        if self.how.gaps:
            return float(Search(self.of(i), piece).distances(np.array([0]), np.array([self.m]))[0])
        return float(self.of(i).distances(piece, None, exactly=True)[0])

    def nearest(self, i, limit, free, *, after=False):
        """Distance and place of the nearest free window up to a limit; with `after` one that starts later.

        Of several that are as near it is the first.
        """
        if not self.is_seen(i):
            return NONE
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
        whole = self.is_seen(i) and any(a <= j < b for a, b in self.places[1])
        return whole and not (self.is_one and abs(i - j) < self.apart)

    def _allowed(self, i, free, after):
        """Half-open ranges of windows that the i-th may be compared with; `free` are some of all."""
        if not self.is_one:
            return free
        sides = [(i + self.apart, np.inf)] if after else [(0, i - self.apart + 1), (i + self.apart, np.inf)]
        ranges = [(max(a, low), min(b, high)) for low, high in sides for a, b in free]
        return [(int(a), int(b)) for a, b in ranges if a < b]


def windows_between(n, m, cut, unseen):
    """Half-open ranges of the windows of m of n samples that span no cut before a sample and hold no unseen one."""
    broken = np.zeros(n + m + 1, np.int64)
    for first, last in ((cut, cut), (unseen, np.asarray(unseen, np.int64) + 1)):
        np.add.at(broken, np.maximum(np.asarray(first, np.int64) - m + 1, 0), 1)
        np.add.at(broken, last, -1)
    whole = np.concatenate([[False], np.cumsum(broken)[: n - m + 1] == 0, [False]])
    edges = np.flatnonzero(whole[1:] != whole[:-1])
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def free_ranges(places, taken, apart):
    """Those of some half-open ranges of windows that start at least `apart` from all that are taken."""
    free = _between(max((b for _, b in places), default=0), taken, apart)
    ranges = [(max(a, low), min(b, high)) for a, b in places for low, high in free]
    return [(a, b) for a, b in ranges if a < b]


def _between(n, taken, apart):
    edges = [0]
    for start in sorted(taken):
        edges += [min(max(start - apart + 1, edges[-1]), n), min(start + apart, n)]
    edges.append(n)
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]

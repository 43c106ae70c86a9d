"""Choice of matches from a profile: one pure rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..distances._kernels.compile import pieces
from ..distances._kernels.selection import BLOCK, all_free, apart, greedy

if TYPE_CHECKING:
    from pandas import DataFrame

LEAST_BATCH = 2**13  # candidates sorted at a time, at least
FIRST = 64  # candidates for each match that are sorted before all others
COMPARED = 16  # chosen ranges that a candidate is compared with, about
SAMPLE = 2**12  # distances that tell how many there are below another


@dataclass(frozen=True)
class From:
    """Sequence of the integers from `first` on, indexed like an array without storing any of them."""

    first: int

    def __getitem__(self, index):
        return np.add(index, self.first)


class Candidates(NamedTuple):
    """Distances and ranges of candidates in samples of the whole sequence; an infinite distance is no candidate."""

    distance: np.ndarray
    start: np.ndarray | From
    end: np.ndarray | From
    slack: float = 0.0  # relative error of the distances

    def part(self, some, first):
        """Return the candidates of a slice, in samples of a sequence that begins `first` samples earlier."""
        start, end = (_part(column, some, first) for column in (self.start, self.end))
        return Candidates(self.distance[some], start, end, self.slack)

    @property
    def columns(self):
        """Distances, starts and ends as arrays."""
        every = np.arange(len(self.distance))
        start, end = (column[every] if isinstance(column, From) else column for column in (self.start, self.end))
        return self.distance, start, end


def _part(column, some, first):
    return From(column.first + some.start + first) if isinstance(column, From) else column[some] + first


class Match(NamedTuple):
    """Occurrence of a query: the half-open range ``[start, end)`` in samples and its distance."""

    start: int
    end: int
    distance: float


class Ranges:
    """Base class of objects that have a distance for each of several ranges."""

    def __iter__(self) -> Iterator[Match]:
        for s, e, d in zip(self.start, self.end, self.distance, strict=True):
            yield Match(int(s), int(e), float(d))


@dataclass(frozen=True, eq=False)
class Profile(Ranges):
    """The distance of every candidate of a search.

    Attributes
    ----------
    distance : ndarray of shape (n_candidates,)
        Windows: one per start. Subsequences: one per end. Infinite where there is no candidate. Distances found by
        Fourier transforms are exact to 1e-12 of the sum of squares; those of matches are exact.
    start, end : ndarray of shape (n_candidates,)
        Half-open ranges in samples; start is -1 where there is no candidate.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> profile = QuerySearcher("euclidean").fit([0, 1]).profile([0, 1, 1])
    >>> list(profile)
    [Match(start=0, end=2, distance=0.0), Match(start=1, end=3, distance=1.0)]
    """

    distance: np.ndarray
    _start: np.ndarray | None = field(default=None, repr=False)  # None: windows, one at each sample
    _length: int | np.ndarray | None = field(default=None, repr=False)  # of windows
    _slack: float = field(default=0.0, repr=False)  # relative error of the distances

    # Made when asked for: a profile of a long recording is large enough without them.
    @property
    def start(self) -> NDArray[np.int64]:
        return np.arange(len(self)) if self._start is None else self._start

    @property
    def end(self) -> NDArray[np.int64]:
        return np.arange(1, len(self) + 1) if self._length is None else self.start + self._length

    @property
    def _candidates(self):
        """The candidates as a selection reads them; starts and ends that follow from the numbers are no arrays."""
        if self._length is None:
            return Candidates(self.distance, self._start, From(1), self._slack)
        if self._start is None and np.ndim(self._length) == 0:
            return Candidates(self.distance, From(0), From(self._length), self._slack)
        start = self.start
        return Candidates(self.distance, start, start + self._length, self._slack)

    def __len__(self) -> int:
        return len(self.distance)

    def _or_nearer(self, other):
        """Return the profile of the lesser of two distances of each candidate, with its range (ties: this profile's).

        Both profiles are of all windows, of some of them, or of all ends.
        """
        slack = max(self._slack, other._slack)
        if self._start is not None and self._length is not None:  # of some windows
            start, at = np.unique(np.concatenate([self._start, other._start]), return_inverse=True)
            distance = np.full(len(start), np.inf)
            np.minimum.at(distance, at, np.concatenate([self.distance, other.distance]))
            return Profile(distance, start, self._length, slack)
        nearer = other.distance < self.distance
        # Fields that are numbers or None are the same in both.
        start, length = (
            np.where(nearer, theirs, own) if np.ndim(own) else own
            for own, theirs in ((self._start, other._start), (self._length, other._length))
        )
        return Profile(np.where(nearer, other.distance, self.distance), start, length, slack)

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame, one row per candidate."""
        import pandas as pd

        return pd.DataFrame({"start": self.start, "end": self.end, "distance": self.distance})


class _Chosen:
    """Ranges that are chosen, and a test of what they leave free."""

    def __init__(self, most, max_overlap):
        self.most, self.max_overlap, self.n = most, float(max_overlap), 0
        self.start = self.end = np.empty(0, np.int64)  # of n ranges, ascending; not up to date once there are `most`

    @property
    def full(self):
        return self.n == self.most

    def free(self, start, end):
        """Return whether each of some ranges is free."""
        return all_free(self.start, self.end, start, end, self.max_overlap)

    def could_take(self, start, end):
        """Return which ranges are chosen in the given order as long as they are free."""
        n, count = self.n, 0
        if n:
            start, end = np.concatenate([self.start, start]), np.concatenate([self.end, end])
        heads = np.empty(2 ** min(len(start), self.most).bit_length(), np.int64)
        links = np.empty(len(start), np.int64)
        for first, last in pieces(len(start), COMPARED):
            count += greedy(start, end, n, self.most - count, self.max_overlap, heads, links, first, last)
        return (links[n:] >= -1).nonzero()[0]

    def take(self, start, end):
        """Choose ranges in the given order as long as they are free, and return which ones."""
        taken = self.could_take(start, end)
        self.n += len(taken)
        if not self.full:
            start, end = np.concatenate([self.start, start[taken]]), np.concatenate([self.end, end[taken]])
            order = np.argsort(start, kind="stable")
            self.start, self.end = start[order], end[order]
        return taken


# ------------------------------------------------------------------------------------------------ the order of choice
def _ascending(distance, start, end, limit, slack, chosen):
    """Yield batches of the free candidates that could be within the limit, least first (ties: earliest).

    Each has the numbers, distances, starts and ends of some, and the distance that all further ones are beyond. They
    come all at once only where they are few or equal: they and what sorts them need several times the memory of the
    distances.
    """
    low, size = -np.inf, max(LEAST_BATCH, len(distance) // 32)
    wanted = min(FIRST * chosen.most, size)  # the matches are among these, mostly
    while low < np.inf and low * (1.0 - slack) <= limit:
        bound = np.inf if len(distance) <= 2 * wanted else _guess(distance, start, end, chosen, low, wanted)
        parts = []
        for first in range(0, len(distance) or 1, BLOCK):
            d = distance[first : first + BLOCK]
            near = d < np.inf if bound == np.inf else d <= bound
            if low > -np.inf:
                near &= d > low
            if limit < np.inf:
                near &= d * (1.0 - slack) <= limit
            which = np.flatnonzero(near)
            which += first
            parts.append(which[chosen.free(*_ranges(start, end, which))] if chosen.n else which)
        which = np.concatenate(parts) if len(parts) > 1 else which
        value = distance[which]
        order = np.argsort(value, kind="stable")
        which = which[order]
        yield which, value[order], *_ranges(start, end, which), bound
        low, wanted = bound, size


def _ranges(start, end, which):
    return np.asarray(start[which], np.int64), np.asarray(end[which], np.int64)


def _guess(distance, start, end, chosen, low, size):
    """Return a distance that about `size` free candidates beyond `low` do not exceed, from a sample of them."""
    step = max(len(distance) // SAMPLE, 1)
    some = slice(step // 2, None, step)
    value = distance[some]
    seen = (value > low) & (value < np.inf)
    if chosen.n:
        seen &= chosen.free(*_ranges(start, end, np.arange(*some.indices(len(distance)))))
    value, k = value[seen], max(size // step, 8)
    return np.partition(value, k)[k] if 2 * k < len(value) else np.inf


def select(distance, start, end, *, n_matches=None, threshold=None, max_overlap=0.0):
    """Return the indices of the chosen candidates, lowest distance first (ties: earliest).

    Parameters
    ----------
    distance : ndarray of shape (n,)
        Infinite where there is no candidate.
    start, end : ndarray of shape (n,)
        The candidates' ranges; or anything that is indexed like such arrays.
    n_matches : int, optional
        Largest number of candidates; None: as many as fit.
    threshold : float, optional
        Only candidates of at most this distance.
    max_overlap : float
        Share of the shorter of two ranges that they may have in common.

    Returns
    -------
    ndarray of int
    """
    limit = np.inf if threshold is None else threshold
    if n_matches == 1 and len(distance):
        best = int(np.argmin(distance))
        return np.array([best] if np.isfinite(distance[best]) and distance[best] <= limit else [], dtype=np.int64)
    most = len(distance) if n_matches is None else min(n_matches, len(distance))
    chosen, parts = _Chosen(most, max_overlap), [np.empty(0, np.int64)]
    for which, _, *ranges, _ in _ascending(distance, start, end, limit, 0.0, chosen):
        parts.append(which[chosen.take(*ranges)])
        if chosen.full:
            break
    return np.concatenate(parts)


def select_exactly(distance, start, end, exact, slack, *, n_matches=None, threshold=None, max_overlap=0.0):
    """Select from distances that have a relative error of up to `slack`, as if they were exact.

    Candidates are chosen by their least possible distances. What is chosen and not known exactly is computed, and the
    choice is made again: it is right once all of it is known, for no other candidate can be nearer than it counts. A
    candidate that overlaps a chosen one is computed only where both are about equally near.

    Parameters
    ----------
    exact : callable
        Exact distances of the candidates of these indices.

    Returns
    -------
    chosen : ndarray of int
    distance : ndarray
        Their exact distances.
    """
    limit = np.inf if threshold is None else threshold
    chosen = _Chosen(len(distance) if n_matches is None else min(n_matches, len(distance)), max_overlap)
    found, distances, which, least = [np.empty(0, np.int64)], [np.empty(0)], np.empty(0, np.int64), np.empty(0)
    known = np.empty(0, bool)
    for more, values, _, _, bound in _ascending(distance, start, end, limit, slack, chosen):
        which, least = np.append(which, more), np.append(least, values * (1.0 - slack))
        known, ranges = np.append(known, np.zeros(len(more), bool)), _ranges(start, end, which)
        top = min(bound * (1.0 - slack), limit)  # what is beyond comes after candidates of the next batch, or never
        while True:
            order = np.lexsort((which, least))
            taken = order[chosen.could_take(*(each[order] for each in ranges))]
            taken = taken[least[taken] <= top]
            new = taken[~known[taken]]
            if not len(new):
                break
            least[new], known[new] = exact(which[new]), True
            new = np.flatnonzero(~known & _are_rivals(least, *ranges, taken, max_overlap))
            if len(new):
                least[new], known[new] = exact(which[new]), True
        chosen.take(*(each[taken] for each in ranges))
        found.append(which[taken])
        distances.append(least[taken])
        if chosen.full:
            break
        left = chosen.free(*ranges)
        left[taken] = False  # which is free of itself where all may overlap
        which, least, known = which[left], least[left], known[left]
    return np.concatenate(found), np.concatenate(distances)


def _are_rivals(least, start, end, taken, max_overlap):
    """Return which candidates may be nearer than a chosen one next to them that they overlap."""
    taken, rivals = taken[np.argsort(start[taken], kind="stable")], np.zeros(len(start), bool)
    at = np.searchsorted(start[taken], start)
    for near in (taken[np.maximum(at - 1, 0)], taken[np.minimum(at, len(taken) - 1)]):
        rivals |= (least <= least[near]) & ~apart(start, end, start[near], end[near], max_overlap)
    return rivals

"""Candidates of a stream until they are decided."""

import numpy as np

from ...distances._kernels.overlaps import all_free
from .._buffer import Buffer
from .incremental_profile import ENDLESS


class Groups:
    """Candidates in groups that overlap each other, until nothing that comes can overlap them."""

    def __init__(self, by_end):
        self.by_end = by_end  # whether the profile has a candidate for each end, not for each start
        self.groups = []  # [start, end, first end, candidates], ascending and apart

    def add(self, distance, start, end):
        """Take candidates."""
        if len(distance) == 1:
            self._merge(int(start[0]), int(end[0]), int(end[0]), np.array([distance, start, end]))
        if len(distance) < 2:
            return
        order = np.argsort(start, kind="stable")
        rows = np.array([distance[order], start[order], end[order]])
        cuts = np.flatnonzero(rows[1, 1:] >= np.maximum.accumulate(rows[2])[:-1]) + 1
        for part in np.split(rows, cuts, axis=1):
            self._merge(int(part[1, 0]), int(part[2].max()), int(part[2].min()), part)

    def _merge(self, start, end, first_end, rows):
        after = []
        while self.groups and self.groups[-1][0] >= end:
            after.append(self.groups.pop())
        held = None
        while self.groups and self.groups[-1][1] > start:
            *edges, more = self.groups.pop()
            start, end, first_end = min(start, edges[0]), max(end, edges[1]), min(first_end, edges[2])
            if held is None or len(more) > len(held):
                held, more = more, held
            if more is not None:
                held.append(more.values)
        if held is None:
            held = Buffer((3,))
        held.append(rows)
        self.groups += [[start, end, first_end, held], *after[::-1]]

    def close(self, horizon):
        """Give up the groups that end at or before a sample, each as (distance, start, end)."""
        return self._given_up(1, horizon)

    def late(self, sample):
        """Give up the groups with a candidate that ends at or before a sample, each as (distance, start, end)."""
        return self._given_up(2, sample)

    def _given_up(self, edge, sample):
        count = 0
        while count < len(self.groups) and self.groups[count][edge] <= sample:  # they are apart, so the first ones
            count += 1
        given_up = self.groups[:count]
        del self.groups[:count]
        return [self._candidates(group[3]) for group in given_up]

    def _candidates(self, held):
        """Candidates in the order of a profile: of equal distances its first is chosen."""
        distance, start, end = held.values
        order = np.argsort(end if self.by_end else start, kind="stable")
        return distance[order], start[order].astype(np.int64), end[order].astype(np.int64)

    @property
    def begin(self):
        """The first sample of an open group, None where there is none."""
        return self.groups[0][0] if self.groups else None

    @property
    def first(self):
        """Where the first open group ends and where the first candidate does; ENDLESS where there is none."""
        return self.groups[0][1:3] if self.groups else (ENDLESS, ENDLESS)


class Reported:
    """Ranges of matches that were decided early, and what may still be one beside them."""

    def __init__(self, max_overlap):
        self.max_overlap, self.ranges = float(max_overlap), np.empty((2, 0), np.int64)  # ascending starts

    def free(self, start, end):
        """Whether each of some ranges overlaps none of them too much."""
        if not self.ranges.size:
            return np.ones(len(start), bool)
        longest = int((self.ranges[1] - self.ranges[0]).max())
        return all_free(*self.ranges, longest, start, end, self.max_overlap)

    def add(self, start, end, before):
        """Take further ones, and forget those that end at or before a sample."""
        ranges = np.concatenate([self.ranges[:, self.ranges[1] > before], [start, end]], axis=1)
        self.ranges = np.ascontiguousarray(ranges[:, np.argsort(ranges[0], kind="stable")])

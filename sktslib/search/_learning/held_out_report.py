"""A report of what was found in parts of a marked recording that were held out."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from ...metrics import event_report
from .._selection import select


class HeldOut(NamedTuple):
    """What was found in held-out parts, each by what was learned from the rest."""

    ranges: np.ndarray  # (k, 2)
    code: np.ndarray  # (k,), of their classes
    distance: np.ndarray  # (k,)

    @classmethod
    def together(cls, parts):
        """That of several parts, or classes."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def take(self, which):
        """Some of it."""
        return HeldOut(*(values[which] for values in self))

    @property
    def nearest(self):
        """Of ranges that overlap, which those of several classes may, the nearest."""
        start, end = np.ascontiguousarray(self.ranges.T)
        return self.take(np.sort(select(self.distance, start, end))) if len(self.code) else self

    def report(self, marked):
        """Compared with what is marked."""
        names = marked.labels.classes
        found = SimpleNamespace(start=self.ranges[:, 0], end=self.ranges[:, 1], label=names[self.code - 1])
        return event_report(marked.ranges, found, kinds=names[marked.code - 1])

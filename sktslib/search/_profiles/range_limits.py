"""Limits of scale and offset of ranges that are normalized each by itself, of any length.

The ranges of a box have samples in common, its core, and lie in a stretch, its hull. The sum of the squares about the
mean of a part of a stretch is at most that of the whole, and the difference is what the means are apart: with l of the
h samples of the hull in a range, and sums of squares Q, ``(mean - mean_h)**2 <= (h - l) / (h l) (Q_h - Q)``. So core
and hull bound the moments of all ranges between them; of a single range they are it.
"""

import numpy as np

from ...distances._kernels.running_moments import TINY
from .scale_limits import NEAR, Moments, moments_of_query, points_alike, within_limits

EPS = np.finfo(float).eps


def allowed_ranges(how, windows):
    """Whether ranges (..., channels, length) are within the limits, by their plain moments."""
    found = Moments.of(windows, points_alike(how, windows.shape[-1]))
    return within_limits(how.scale_limits, moments_of_query(how), found)


class LimitedRanges:
    """The ranges of a piece without gaps, by sums of deviations and of their squares up to each sample."""

    def __init__(self, how, y):
        self.limits, self.query, n = how.scale_limits, moments_of_query(how), y.shape[1]
        self.counted = np.flatnonzero(~np.isnan(self.query.mean))
        self.mean = y.mean(axis=1)
        apart = y - self.mean[:, np.newaxis]
        self.sums, self.squares = np.zeros((2, len(y), n + 1))
        with np.errstate(over="ignore", invalid="ignore"):  # what is no number leaves nothing out
            np.cumsum(apart, axis=1, out=self.sums[:, 1:])
            np.cumsum(apart * apart, axis=1, out=self.squares[:, 1:])
            total = self.squares[:, -1]
            self.wrong = EPS * (n + 8.0) * np.sqrt(n * total)  # what a difference of two sums may be wrong by,
            self.wrong_squares = 2.0 * EPS * (n + 8.0) * total  # and of two of squares

    @np.errstate(over="ignore", invalid="ignore")
    def may_lie_in(self, end, ends, length, lengths):
        """Whether boxes, of ranges that end at `ends` samples from `end` on, may hold one within the limits.

        They have so many `lengths` from `length` on.
        """
        n = self.sums.shape[1] - 1
        hull = np.maximum(end - (length + lengths - 1), 0), np.minimum(end + ends - 1, n)
        core = np.clip(end + ends - 1 - length, 0, end), end
        possible = np.ones(len(end), bool)
        for c in self.counted.tolist():
            mean, high, wrong = self._moments(c, *hull)
            low = self._moments(c, *core)[1:]
            low = np.maximum(low[0] * (1.0 - NEAR) - low[1] - TINY, 0.0)
            high = high * (1.0 + NEAR) + wrong + TINY
            if self.limits.scale is not None:
                least, most = ((edge * self.query.deviation[c]) ** 2 for edge in self.limits.scale)
                possible &= ~((high < least * length) | (low > most * (length + lengths - 1)))
            if self.limits.offset is not None:
                size = hull[1] - hull[0]
                apart = np.sqrt(np.maximum(size - length, 0) / (size * length) * np.maximum(high - low, 0.0))
                apart += self.wrong[c] / size + NEAR * (np.abs(self.mean[c]) + np.abs(mean) + abs(self.query.mean[c]))
                possible &= ~(np.abs(mean - self.query.mean[c]) - apart > self.limits.offset[c])
        return possible

    def _moments(self, c, start, end):
        """Mean and sum of squares about it, and what that may be wrong by, of [start, end); 0 where it is empty."""
        size = np.maximum(end - start, 1)
        total = self.sums[c, end] - self.sums[c, start]
        squares = self.squares[c, end] - self.squares[c, start] - total * total / size
        wrong = self.wrong_squares[c] + (2.0 * np.abs(total) + self.wrong[c]) * self.wrong[c] / size
        return self.mean[c] + total / size, squares, wrong

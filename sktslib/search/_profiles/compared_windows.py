"""Windows of a sequence as they are compared: normalized exactly, or by running moments."""

from copy import copy
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ...distances._kernels import lower_bounds, moments, running_moments
from ...distances._kernels.scratch import scratch
from ...distances._series import SCALINGS, deviation, full_weight, normalize_values
from ...utils._jobs import one_by_one

BLOCK = 2**16  # windows whose moments are found at a time
SAMPLE = 128  # samples that tell of an offset
LARGE = 16  # times the spread: offsets that are taken off first
UNCERTAINTY = 1e-8  # of the values' scale: what running moments may be wrong by
EACH = 8  # stretches of windows for each thread


def stretch(n, block, jobs):
    """How many of n windows threads take at a time, in whole blocks."""
    return n if jobs == 1 else block * max(1, n // (block * EACH * jobs))


def less_offset(y):
    """A sequence less its offset where that is large, so that running moments lose no digits by it."""
    some = y[:, :: max(1, y.shape[1] // SAMPLE)]
    offset = some.mean(axis=1, keepdims=True)
    offset[np.abs(offset) < LARGE * deviation(some)] = 0.0
    return y - offset if offset.any() else y


class Windows:
    """The windows of a sequence: normalized as in a profile, or by running moments, as scale and shift of samples.

    By moments values are known up to an `uncertainty`; where they are not, the scale is NaN. Scale and shift that are
    kept for queries in general serve each of them; without entries they are found where they are needed.
    """

    def __init__(self, x, w, y, normalize):
        self.y, self.normalize, self.w, self.weight = y, normalize, w, full_weight(w, x)
        self.m, self.n = x.shape[1], y.shape[1] - x.shape[1] + 1
        self.samples, self.uncertainty = None, 0.0
        self.scale, self.shift = np.empty((2, len(y), 0))

    def part(self, first, last):
        """The windows [first, last), with what is known of them."""
        some, stop = copy(self), last + self.m - 1
        some.y, some.n = np.ascontiguousarray(self.y[:, first:stop]), last - first
        if self.samples is not None:
            some.samples = some.y if self.samples is self.y else np.ascontiguousarray(self.samples[:, first:stop])
        some.scale, some.shift = (np.ascontiguousarray(a[:, first:last]) for a in (self.scale, self.shift))
        return some

    def exact(self, which):
        """The windows that begin at `which`, normalized as in a profile."""
        windows = sliding_window_view(self.y, self.m, axis=1).transpose(1, 0, 2)[which]
        return normalize_values(np.ascontiguousarray(windows), self.weight, self.normalize)

    def prepare(self, largest, jobs=1, for_each=one_by_one, *, keep=False):
        """Find out how far windows are known by moments, for queries of values up to `largest`, as compared.

        What normalizes them is found here if it is to be kept, or takes more than the moments of equal weights.
        """
        self.samples = self.y
        if self.normalize is None:
            return
        self.samples = less_offset(self.y)
        self.uncertainty = UNCERTAINTY * (largest + deviation(self.y).max() if self.normalize == "mean" else 1.0)
        if keep or self.w is not None or self.normalize == "minmax":
            self.scale, self.shift = np.zeros((2, len(self.y), self.n))
            size = stretch(self.n, BLOCK, jobs)
            for_each(partial(self._fill_stretch, size), range(0, self.n, size))

    def _fill_stretch(self, size, begin):
        """Fill scale and shift of so many windows from one on."""
        end, room = min(begin + size, self.n), scratch("moments of windows", (5, min(BLOCK, self.n)))
        for k in np.flatnonzero(self.weight.any(axis=1)):  # the other channels count nothing
            for first in range(begin, end, BLOCK):
                self._fill_moments(k, first, min(first + BLOCK, end), room)

    def _fill_moments(self, k, first, last, room):
        """Fill scale and shift of the windows [first, last) in one channel."""
        y, w, m = self.samples[k], self.weight[k], self.m
        mean, spread, error, low, high = room[:, : last - first]
        if self.w is None and self.normalize != "minmax":
            running_moments.moments(y, m, first, mean, spread, error)
            low = high = most = np.empty(0)
        else:
            below, above = np.empty((2, 1, last + m - 1 - first))
            lower_bounds.slide(y[np.newaxis, first : last + m - 1], m, below, above)
            most = np.maximum(-below, above)[0, : last - first]
            moments.direct_moments(y, w, first, mean, spread, error, low, high)
        about = m, first, w.sum(), most, self.uncertainty, SCALINGS[self.normalize]
        made = self.scale[k, first:last], self.shift[k, first:last]
        with np.errstate(divide="ignore", invalid="ignore"):  # on purpose, and plain Python says so
            moments.standardize(y, *about, mean, spread, error, low, high, *made)

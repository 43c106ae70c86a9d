"""Where new samples of a recording lie between the old ones, and ranges of the ones as ranges of the others."""

from fractions import Fraction

import numpy as np
from scipy import signal

from ..distances._series import fill
from ..utils._sampling import interval
from ..utils.validation import shown
from ._rate import rate_of, steps_are_even

TERMS = 1000  # numerator and denominator of the ratio of two rates, at most
MOST = 2**31  # new samples


class SampleGrid:
    """New samples at a rate, from a recording of n samples.

    Attributes
    ----------
    at : ndarray of shape (n_new,)
        Where each lies, in samples of the recording, fractions included.
    old_rate, rate : float
        Samples a unit of time of the recording, and the new ones: the nearest to what was asked for in a ratio of small
        integers.
    """

    def __init__(self, n, t, given, rate, sampling_rate, owner):
        old = rate_of(sampling_rate, t, given, owner).value
        if not 1 / TERMS <= rate / old <= TERMS:
            raise ValueError(
                f"The 'rate' parameter of {owner} must be within a factor of {TERMS} of the sampling rate, {old:g}. "
                f"Got {shown(rate)}. Resample in two steps, or check 'sampling_rate' or the unit of the times."
            )
        self.n, self.old_rate, ratio = n, old, Fraction(rate / old).limit_denominator(TERMS)
        # A step of uneven times counts as many even ones as it lasts.
        self._even = None
        length = n
        if not steps_are_even(t):
            step = interval(t)
            length = int((t[-1] - t[0]) / step + 1e-9) + 1
            if length > MOST:
                raise ValueError(
                    f"The times of 'X' must not have holes that are so long that {length} samples would fill them. Cut "
                    "the recording there."
                )
            self._even = np.interp(t[0] + step * np.arange(length), t, np.arange(n))
        self._up, self._down = ratio.numerator, ratio.denominator
        self.rate = old * self._up / self._down
        count = (length - 1) * self._up // self._down + 1
        if count > MOST:
            raise ValueError(
                f"The 'rate' parameter of {owner} must give at most {MOST} samples. Got {shown(rate)}, which makes "
                f"{count} of {n}. Lower it, or resample parts of the recording."
            )
        self.at = np.arange(count) * self._down / self._up
        if self._even is not None:
            self.at = np.interp(t[0] + step * self.at, t, np.arange(n))

    def __len__(self):
        return len(self.at)

    def values(self, y):
        """The new samples of a recording (channels, n); NaN where one of the two samples about it is missing."""
        missing = np.isnan(y)
        whole = fill(y)
        if self._even is not None:
            whole = np.array([np.interp(self._even, np.arange(self.n), row) for row in whole])
        # A line through both ends is taken off, for beyond them scipy's filter sees zeros.
        if whole.shape[1] == 1:
            out = np.repeat(whole, len(self), axis=1)
        else:
            out = signal.resample_poly(whole, self._up, self._down, axis=1, padtype="line")[:, : len(self)]
        if missing.any():
            left, right = np.floor(self.at).astype(int), np.ceil(self.at).astype(int)
            out[missing[:, left] | missing[:, right]] = np.nan
        return out

    @property
    def _borders(self):
        """The borders between new samples, halfway, in the recording's own borders: sample k lies from k to k + 1."""
        inner = (self.at[1:] + self.at[:-1]) / 2 + 0.5
        return np.concatenate([[0.0], inner, [float(self.n)]])

    def to_old(self, ranges):
        """Half-open ranges (k, 2) of new samples as such of the recording; none is empty, and order is kept."""
        found = np.rint(self._borders[np.asarray(ranges, np.int64)]).astype(np.int64).reshape(-1, 2)
        start = np.minimum(found[:, 0], self.n - 1)
        return np.column_stack([start, np.maximum(found[:, 1], start + 1)])

    def to_new(self, ranges):
        """The reverse."""
        borders = self._borders
        found = np.interp(np.asarray(ranges, float), borders, np.arange(len(borders)))
        found = np.rint(found).astype(np.int64).reshape(-1, 2)
        start = np.minimum(found[:, 0], len(self) - 1)
        return np.column_stack([start, np.maximum(found[:, 1], start + 1)])

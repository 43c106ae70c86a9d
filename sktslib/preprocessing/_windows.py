"""Statistics of windows that run over samples, of the values that are there.

A window of `width` samples ends at each sample, or lies about it. It is cut off at the ends of a recording. Where none
of its samples is there the statistic is NaN. No number depends on the samples that came before its window, so that
pieces give the same bits as the whole. Each statistic takes the number of the first sample among all of the recording,
modulo the width, as `phase`; only the one that works in blocks reads it.
"""

import numpy as np


def centered(function, y, width):
    """A statistic of the windows about each sample (channels, n), one sample longer towards the past if even."""
    ahead = min((width - 1) // 2, y.shape[1])
    padded = np.concatenate([y, np.full((len(y), ahead), np.nan)], axis=1)
    return function(padded, width)[:, ahead:]


def running_median(y, width, phase=0):
    """The median of the last `width` samples of each (channels, n)."""
    return _rolling(y, width).median().to_numpy().T


def running_range(y, width, phase=0):
    """The difference of the maximum and the minimum of them."""
    rolling = _rolling(y, width)
    return (rolling.max() - rolling.min()).to_numpy().T


def _rolling(y, width):
    import pandas as pd

    return pd.DataFrame(y.T).rolling(min(width, max(y.shape[1], 1)), min_periods=1)


def running_std(y, width, phase=0):
    """The standard deviation of them.

    The recording is cut into blocks of the width. A window is the end of one block and the begin of the next; the two
    are joined by their counts, means and sums of squares about these (Chan, Golub & LeVeque 1983).
    """
    channels, n = y.shape
    width = int(min(width, n + phase))
    after = -(n + phase) % width
    edges = [np.full((channels, k), np.nan) for k in (phase + width, after)]
    blocks = np.concatenate([edges[0], y, edges[1]], axis=1).reshape(channels, -1, width)
    begins = _moments(blocks)
    ends = [np.flip(part, -1) for part in _moments(np.flip(blocks, -1))]
    # The window that ends at k of a block begins at k + 1 of the block before it; that of the last one is its block.
    nothing = [np.zeros((channels, blocks.shape[1] - 1, 1))] * 3
    before = [np.concatenate([part[:, :-1, 1:], none], axis=-1) for part, none in zip(ends, nothing, strict=True)]
    (n1, m1, s1), (n2, m2, s2) = before, [part[:, 1:] for part in begins]
    total = n1 + n2
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = s1 + s2 + (m2 - m1) ** 2 * n1 * n2 / total
        out = np.sqrt(np.maximum(squares, 0.0) / total)
    return np.where(total > 0, out, np.nan).reshape(channels, -1)[:, phase : phase + n]


def _moments(blocks):
    """Count, mean and sum of squares about it of the first k values of each block that are there."""
    there = ~np.isnan(blocks)
    first = np.take_along_axis(blocks, there.argmax(axis=-1)[..., None], axis=-1)
    # Differences from a value of the window itself are no larger than its standard deviation allows.
    d = np.where(there, blocks - first, 0.0)
    count, total, squares = (np.cumsum(part, axis=-1) for part in (there, d, d * d))
    divisor = np.maximum(count, 1)
    mean = total / divisor
    return count, np.where(count > 0, first + mean, 0.0), np.where(count > 0, squares - total * mean, 0.0)


class Trailing:
    """A statistic of the last samples that continues with every piece of a recording."""

    def __init__(self, function, width, channels):
        self._function, self._width = function, width
        self._held = np.empty((channels, 0))  # the samples that the next windows may need
        self._seen = 0

    def update(self, y):
        """The statistic at each of the next samples (channels, n)."""
        if not y.shape[1]:
            return y.copy()
        held, n = np.concatenate([self._held, y], axis=1), y.shape[1]
        first = self._seen - self._held.shape[1]
        out = self._function(held, self._width, first % self._width)[:, -n:]
        self._seen += n
        self._held = held[:, max(0, held.shape[1] - (self._width - 1)) :].copy() if self._width > 1 else held[:, :0]
        return out

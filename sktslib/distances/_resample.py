"""Series at another number of points, by linear interpolation."""

import numpy as np

# Of the largest size of the points: as far apart interpolation may set points that are equal but for its roundings.
ALIKE = 2.0**-50


def places(n, length):
    """Where `length` even places lie in n samples, both ends kept: the samples before, and the share of the next."""
    steps = max(length - 1, 1)
    left, rest = np.divmod(np.arange(length) * (n - 1), steps)  # integers: a place that is a sample is exact
    return left, rest / steps


def between(before, after, share):
    """The points that lie a share of a step behind those before; a constant stays one, to the bit."""
    return before + (after - before) * share


def alike(n, length):
    """How far the points of a constant may lie apart, relative to their size, if there are `length` of n samples."""
    return ALIKE if (n - 1) % max(length - 1, 1) else 0.0


def resample(a, length):
    """Interpolate `(channels, n)` linearly at `length` even places, both ends kept."""
    left, share = places(a.shape[1], length)
    right = np.minimum(left + 1, a.shape[1] - 1)
    return np.ascontiguousarray(between(a[:, left], a[:, right], share))

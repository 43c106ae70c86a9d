"""Series at another number of points, by linear interpolation."""

import numpy as np

# Of the largest size of the points: as far apart interpolation may set points that are equal but for its roundings.
ALIKE = 2.0**-50


def places(n, length):
    """Where `length` even places lie in n samples, both ends kept: the samples before, and the share of the next."""
    steps = max(length - 1, 1)
    left, rest = np.divmod(np.arange(length) * (n - 1), steps)  # integers: a place that is a sample is exact
    return left, rest / steps


def between(before, after, share, base=0.0):
    """The points that lie a share of a step behind those before; a constant stays one, to the bit.

    Less a `base`, which is taken off first, so that an offset costs no digits.
    """
    return (before - base) + (after - before) * share


def alike(n, length):
    """How far the points of a constant may lie apart, relative to their size, if there are `length` of n samples."""
    return ALIKE if (n - 1) % max(length - 1, 1) else 0.0


def base_of(y, start, left, w):
    """A sample of each window (channels, windows, 1), from one at or before the first point of positive weight."""
    at = left[(w > 0).argmax(axis=1)]
    return np.array([row[start + i] for row, i in zip(y, at, strict=True)])


def resample(a, length, base=0.0):
    """Interpolate `(channels, n)` linearly at `length` even places, both ends kept, less a `base`."""
    left, share = places(a.shape[1], length)
    right = np.minimum(left + 1, a.shape[1] - 1)
    return np.ascontiguousarray(between(a[:, left], a[:, right], share, base))

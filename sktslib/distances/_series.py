"""Normalization of series by their weighted moments, as in searches, and interpolation at other numbers of points."""

from typing import NamedTuple

import numpy as np


def spread(w, m):
    """Return weights of m points (channels, m), given as such, as weights of channels (channels, 1), or None."""
    return w if w is None or w.shape[1] == m else np.repeat(w, m, axis=1)


class Normalization(NamedTuple):
    """Statistics of a normalization: the center that is subtracted, and the scale that the rest is divided by."""

    center: str | None
    scale: str | None
    number: int | None  # number in kernels; None: not supported there


NORMALIZATIONS = {
    None: Normalization(None, None, 0),
    "mean": Normalization("mean", None, 1),
    "zscore": Normalization("mean", "deviation", 2),
    "minmax": Normalization("minimum", "range", 3),
    "robust": Normalization("median", "median deviation", None),
}
SCALINGS = {name: one.number for name, one in NORMALIZATIONS.items() if one.number is not None}


def is_enough(seen, full):
    """Return whether at least half of the weight is observed, with a tolerance for rounding."""
    return seen.any() and seen.sum() >= 0.5 * full.sum() * (1.0 - 1e-12)


def full_weight(w, x):
    """Return the weights as an array; ones without weights."""
    return np.ones_like(x) if w is None else w


def normalize_values(a, w, normalize, alike=0.0, base=0.0):
    """Normalize each channel of series `(..., channels, m)` by center and scale; constant channels become zeros.

    `normalize` is one of NORMALIZATIONS; `w` (channels, m). A channel is constant if its points of positive weight
    differ by at most `alike` times their largest absolute value. `base` was subtracted from the series beforehand.
    """
    if normalize is None:
        return a
    weight = None if (w == 1.0).all() else w  # multiplying by weights would double the time
    low, high = _range(a, weight)
    constant = ~(low < high)
    near = alike * np.maximum(np.abs(low + base), np.abs(high + base)) if alike else 0.0
    if alike:
        constant |= high - low <= near
    center, scale, _ = NORMALIZATIONS[normalize]
    if center == "minimum":
        out = a - low
    elif center == "median":
        below, above = _middle(a, weight)
        middle = 0.5 * below + 0.5 * above
        out = a - middle
        out -= 0.5 * (below - middle) + 0.5 * (above - middle)  # with an offset it falls between two floats
    else:
        out = a - mean_of(a, weight)
        out -= mean_of(out, weight)  # with an offset the mean falls between two floats
    spread = None
    if scale == "range":
        spread = high - low
    elif scale == "deviation":
        spread = np.sqrt(mean_of(out * out, weight))
        constant |= spread == 0.0  # squares may underflow
    elif scale == "median deviation":
        below, above = _middle(np.abs(out), weight)
        spread = 0.5 * below + 0.5 * above
        constant |= spread <= near
    some = constant.any()
    if spread is not None:
        out /= np.where(constant, 1.0, spread) if some else spread
    if some:
        np.copyto(out, 0.0, where=constant)
    return out


def standardize(a):
    """Scale each channel to mean 0 and population standard deviation 1; constant channels become zeros."""
    return normalize_values(a, np.ones(a.shape[-2:]), "zscore")


def deviation(a):
    """Return the population standard deviation of each channel (..., channels, 1), accurate with an offset, too."""
    return (a - a[..., :1]).std(axis=-1, keepdims=True)


def _range(a, w):
    """Return minimum and maximum of the points with positive weight in each channel."""
    low = high = a
    if w is not None and not w.all():
        low, high = np.where(w > 0, a, np.inf), np.where(w > 0, a, -np.inf)
    return np.minimum.reduce(low, axis=-1, keepdims=True), np.maximum.reduce(high, axis=-1, keepdims=True)


def mean_of(a, w):
    """Return the weighted mean of each channel; arbitrary if no point has a weight."""
    if w is None:
        return np.add.reduce(a, axis=-1, keepdims=True) / a.shape[-1]
    total = w.sum(axis=-1, keepdims=True)
    return (w * a).sum(axis=-1, keepdims=True) / np.where(total > 0, total, 1.0)


def _middle(a, w):
    """Return the two values of each channel around its weighted median, which are equal in most cases."""
    if w is None:
        below, above = (a.shape[-1] - 1) // 2, a.shape[-1] // 2
        parted = np.partition(a, (below, above), axis=-1)
        return parted[..., below : below + 1], parted[..., above : above + 1]
    seen = w > 0
    order = np.argsort(np.where(seen, a, np.inf), axis=-1)
    values = np.take_along_axis(a, order, axis=-1)
    below = np.cumsum(np.take_along_axis(np.broadcast_to(w, a.shape), order, axis=-1), axis=-1)
    half, most = 0.5 * below[..., -1:], np.maximum(seen.sum(axis=-1) - 1, 0)[..., np.newaxis]
    first = np.argmax(below >= half * (1.0 - 1e-12), axis=-1)[..., np.newaxis]
    after = np.where(np.take_along_axis(below, first, axis=-1) <= half * (1.0 + 1e-12), first + 1, first)
    first, after = (np.minimum(k, most) for k in (first, after))
    return np.take_along_axis(values, first, axis=-1), np.take_along_axis(values, after, axis=-1)


def fill(a):
    """Replace NaN by linear interpolation over time, per channel; a channel without a value becomes 0."""
    gaps = np.isnan(a)
    if not gaps.any():
        return a
    out, at = a.copy(), np.arange(a.shape[1])
    for row, gap in zip(out, gaps, strict=True):
        row[gap] = np.interp(at[gap], at[~gap], row[~gap]) if not gap.all() else 0.0
    return out


# --------------------------------------------------------------------------------- linear interpolation
# Relative error of interpolation: interpolated points of a constant may differ by this.
ALIKE = 2.0**-50


def places(n, length):
    """Return `length` evenly spaced positions in n samples, as preceding samples and shares of the next step."""
    steps = max(length - 1, 1)
    left, rest = np.divmod(np.arange(length) * (n - 1), steps)  # in integers, so that positions of samples are exact
    return left, rest / steps


def between(before, after, share, base=0.0):
    """Return points interpolated at a share of the step from `before` to `after`; a constant stays exactly constant.

    A `base` is subtracted first, so that an offset costs no digits.
    """
    return (before - base) + (after - before) * share


def alike(n, length):
    """Return the relative difference up to which interpolated points count as constant.

    It is 0 if all `length` positions are samples, so that nothing is interpolated.
    """
    return ALIKE if (n - 1) % max(length - 1, 1) else 0.0


def base_of(y, start, left, w):
    """Return a sample of each window (channels, windows, 1), at or before its first point with positive weight."""
    at = left[(w > 0).argmax(axis=1)]
    return np.array([row[start + i] for row, i in zip(y, at, strict=True)])


def resample(a, length, base=0.0):
    """Interpolate `(channels, n)` linearly at `length` evenly spaced positions, ends included; subtract a `base`."""
    left, share = places(a.shape[1], length)
    right = np.minimum(left + 1, a.shape[1] - 1)
    return np.ascontiguousarray(between(a[:, left], a[:, right], share, base))

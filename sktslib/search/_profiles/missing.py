"""Missing values: what a search leaves out, and where it may not cross."""

from math import isfinite

import numpy as np

from ...distances._metrics.lockstep import LockstepMetric
from ...distances._metrics.mixed import Mixed
from ...distances._series import fill, full_weight, is_enough, normalize_values
from ...utils._sizes import sum_of_squares
from ...utils.validation import as_weight
from .scale_limits import is_allowed, limited_distances


def observed_query(x, w):
    """A query and its weights where a missing point counts nothing."""
    if not np.isnan(x).any():
        return x, w
    seen = np.where(np.isnan(x), 0.0, full_weight(w, x))
    if not seen.any():
        raise ValueError("The query must have at least one value that is not NaN and whose weight is above 0.")
    return fill(x), as_weight(seen.T, x.shape[1], len(x))


def runs(y, holes=()):
    """Half-open ranges without a missing value in any channel, none of which holds two sides of a hole: (k, 2).

    A hole is given by the sample behind it.
    """
    if y.size and isfinite(sum_of_squares(y)):
        ranges = np.array([[0, y.shape[1]]])
    else:
        seen = np.concatenate([[False], ~np.isnan(y).any(axis=0), [False]])
        ranges = np.flatnonzero(seen[1:] != seen[:-1]).reshape(-1, 2)
    if not len(holes):
        return ranges
    # Behind a cut that lies in no range nothing new begins.
    within = np.searchsorted(ranges[:, 0], holes) - 1
    inside = holes[(within >= 0) & (holes < ranges[within, 1])] if len(ranges) else holes[:0]
    return np.sort(np.concatenate([ranges.ravel(), inside, inside])).reshape(-1, 2)


def stretches(n, holes):
    """The half-open ranges of n samples between holes (k, 2)."""
    return np.concatenate([[0], np.repeat(holes, 2), [n]]).reshape(-1, 2).astype(np.int64)


def touched(y, m):
    """Whether each window of m samples holds a missing value."""
    out = np.ones(y.shape[1] - m + 1, dtype=bool)
    for a, b in runs(y):
        out[a : max(b - m + 1, a)] = False
    return out


def observed_profile(how, y, ty, exactly=False):
    """Distances of the query to all windows, where `y` may hold NaN, and its times holes.

    Lockstep sums leave missing terms out and are rescaled by the observed weight, maxima and ratios use what is
    observed. A window with less than half its weight observed, and any window with a gap under another metric, is
    infinitely far; and so is a window that spans a hole, and one that is beyond the limits of scale and offset, by
    what is observed.
    """
    metric, x, tx, m = how.metric, how.x, how.tx, how.m
    if isinstance(metric, Mixed):  # a gap in one channel is none in the others
        exactly = exactly or metric._may_be_negative
        return metric._summed(
            x,
            how.w,
            lambda part, a, v: observed_profile(
                how._replace(metric=part.metric, x=a, w=v, tx=tx if part.metric.uses_times else None),
                part.of(y),
                ty,
                exactly,
            ),
        )
    out = np.full(y.shape[1] - m + 1, np.inf)
    for a, b in how.runs(y, ty):
        if b - a >= m:
            times = None if ty is None else ty[a:b]
            out[a : b - m + 1] = limited_distances(how, np.ascontiguousarray(y[:, a:b]), times, exactly)
    if not isinstance(metric, LockstepMetric):
        return out
    full = full_weight(how.w, x)
    starts = [np.arange(a, max(b - m + 1, a)) for a, b in stretches(y.shape[1], how.holes(ty))]
    for s in np.intersect1d(np.flatnonzero(touched(y, m)), np.concatenate(starts)):
        window = y[:, s : s + m]
        seen = np.where(np.isnan(window), 0.0, full)
        if is_enough(seen, full) and is_allowed(how.scale_limits, x, seen, fill(window)):
            a, b = normalize_values(x, seen, how.normalize), normalize_values(fill(window), seen, how.normalize)
            times = (None, None) if tx is None else (tx - tx[0], ty[s : s + m] - ty[s])
            out[s] = metric._observed(a, full, seen, b, *times)
    return out

"""Missing values: what a search leaves out, and where it may not cross."""

from math import isfinite

import numpy as np

from ..distances._metrics.lockstep import LockstepMetric
from ..distances._series import fill, full_weight, is_enough, normalise
from ..utils.validation import as_weight


def observed_query(x, w):
    """A query and its weights where a missing point counts nothing."""
    if not np.isnan(x).any():
        return x, w
    seen = np.where(np.isnan(x), 0.0, full_weight(w, x))
    if not seen.any():
        raise ValueError("The query must have at least one value that is not NaN and whose weight is above 0.")
    return fill(x), as_weight(seen.T, x.shape[1], len(x))


def runs(y):
    """Half-open ranges without a missing value in any channel, as an array (k, 2)."""
    if y.size and isfinite(np.vdot(y, y)):  # which needs no memory
        return np.array([[0, y.shape[1]]])
    seen = np.concatenate([[False], ~np.isnan(y).any(axis=0), [False]])
    return np.flatnonzero(seen[1:] != seen[:-1]).reshape(-1, 2)


def touched(y, m):
    """Whether each window of m samples holds a missing value."""
    out = np.ones(y.shape[1] - m + 1, dtype=bool)
    for a, b in runs(y):
        out[a : max(b - m + 1, a)] = False
    return out


def observed_profile(how, y, ty, exactly=False):
    """Distances of the query to all windows, where `y` may hold NaN.

    Lockstep sums leave missing terms out and are rescaled by the observed weight, maxima and ratios use what is
    observed. A window with less than half its weight observed, and any window with a gap under another metric, is
    infinitely far.
    """
    metric, x, tx, m = how.metric, how.x, how.tx, how.m
    out = np.full(y.shape[1] - m + 1, np.inf)
    for a, b in runs(y):
        if b - a >= m:
            times = None if ty is None else ty[a:b]
            out[a : b - m + 1] = how.distances(np.ascontiguousarray(y[:, a:b]), times, exactly)
    if not isinstance(metric, LockstepMetric):
        return out
    full = full_weight(how.w, x)
    for s in np.flatnonzero(touched(y, m)):
        window = y[:, s : s + m]
        seen = np.where(np.isnan(window), 0.0, full)
        if is_enough(seen, full):
            a, b = normalise(x, seen, how.normalize), normalise(fill(window), seen, how.normalize)
            times = (None, None) if tx is None else (tx - tx[0], ty[s : s + m] - ty[s])
            out[s] = metric._observed(a, full, seen, b, *times)
    return out

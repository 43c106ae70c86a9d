"""The profiles of windows: of the query's length, or of lengths that are resampled to it."""

import numpy as np

from ...distances._series import places
from .._channels.by_channel import channel_profile, shares_of
from .._selection import Profile
from .missing import observed_profile
from .near_windows import applies, near_windows
from .scale_limits import allowed_lengths, limited_distances


def window_profile(how, y, ty, rule=None, *, exactly=False):
    """The profile of all windows; with `lengths` each start at the length that fits best (ties: the shortest).

    With a `rule` windows that it cannot choose may be left out. Only distances computed `exactly` have no slack.
    """
    best = None
    for one in how.versions:
        found = _windows_of(one, y, ty, rule, exactly)
        best = found if best is None else best._or_nearer(found)
        if how.alternatives and best._start is not None:  # what is farther cannot be chosen beside those so far
            rule = rule.below(rule.bound(best.distance, best.start, best.end))
    return best


def _windows_of(how, y, ty, rule, exactly):
    """The same of a query without alternatives."""
    if how.by_channel is not None:
        distance, slack = channel_profile(how, y, ty, _of_channel(exactly), exactly=exactly)
        return Profile(distance, None, how.m, slack)
    # A sum is not finite if one of its terms is not; what overflows is looked at term by term.
    gaps = len(how.holes(ty)) > 0 or (not np.isfinite(y.sum()) and np.isnan(y).any())
    metric, x, w, m, n = how.metric, how.x, how.w, how.m, y.shape[1]
    if how.lengths is None:
        if rule is not None and applies(metric, rule, how.tx is not None, m * (n - m + 1)):
            pieces = how.runs(y, ty) if gaps else np.array([[0, n]])
            return Profile(*near_windows(metric, x, w, y, how.normalize, rule, pieces, how.scale_limits), m)
        distance = (observed_profile if gaps else limited_distances)(how, y, ty, exactly)
        return Profile(distance, None, m, 0.0 if exactly else metric._slack(x, w, len(distance), how.normalize))
    best = np.full(max(n - how.shortest + 1, 0), np.inf)
    length = np.full(len(best), how.shortest)
    for first, last in how.runs(y, ty):
        piece, times = np.ascontiguousarray(y[:, first:last]), None if how.tx is None else ty[first:last]
        for size in how.lengths[how.lengths <= last - first].tolist():
            distance = metric._scaled_profile(x, w, piece, how.tx, times, how.normalize, size)
            distance[~allowed_lengths(how, piece, size)] = np.inf
            here = slice(first, first + len(distance))
            better = distance < best[here]
            best[here][better], length[here][better] = distance[better], size
    return Profile(best, None, length)


def _of_channel(exactly):
    """What gives the profile of one channel by itself; a rule says nothing of the parts of a sum."""
    return lambda how, y, ty: _windows_of(how, y, ty, None, exactly)


def window_shares(how, y, ty, start):
    """What each channel has to do with the windows that begin at some samples, where it is compared by itself."""
    return shares_of(how, y, ty, start, _of_channel(True))


def scaled_path(path, m, start, end):
    """The path of a window that was resampled to m points, in samples of the sequence: the nearest ones."""
    left, share = places(end - start, m)
    nearest = left + (share >= 0.5)
    return np.array([path[0], start + nearest[path[1]]])

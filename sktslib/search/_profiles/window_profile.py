"""The profiles of windows: of the query's length, or of lengths that are resampled to it."""

import numpy as np

from ...distances._metrics.lockstep import LockstepMetric
from ...distances._series import places
from .._channels.by_channel import channel_profile, shares_of
from .._selection import Profile
from .missing import observed_profile
from .near_windows import applies, near_windows
from .scale_limits import allowed_lengths, limited_distances

MANY = 2**62  # windows: so many as no profile has


def window_profile(how, y, ty, rule=None, *, exactly=False, known=None):
    """The profile of all windows; with `lengths` each start at the length that fits best (ties: the shortest).

    With a `rule` windows that it cannot choose may be left out. Only distances computed `exactly` have no slack. Those
    of each version of the query may be `known`.
    """
    best = None
    for k, one in enumerate(how.versions):
        found = _windows_of(one, y, ty, rule, exactly, None if known is None else known[k])
        best = found if best is None else best._or_nearer(found)
        if how.alternatives and best._start is not None:  # what is farther cannot be chosen beside those so far
            rule = rule.below(rule.bound(best.distance, best.start, best.end))
    return best


def window_profiles(hows, y, ty, rules):
    """The profiles of queries of one group of `sharing`: transforms of the samples are made once for all of them."""
    versions = [one for how in hows for one in how.versions]
    first, known = versions[0], None
    n = y.shape[1] - first.m + 1
    if len(versions) > 1 and first.metric._slack(first.x, first.w, n, first.normalize) and not _has_gaps(first, y, ty):
        W = None if first.w is None else np.stack([one.w for one in versions])
        known = iter(first.metric._profiles(np.stack([one.x for one in versions]), W, y, first.normalize))
    profiles = []
    for how, rule in zip(hows, rules, strict=True):
        own = None if known is None else [next(known) for _ in range(how.n_versions)]
        profiles.append(window_profile(how, y, ty, rule, known=own))
    return profiles


def sharing(queries):
    """The numbers of queries in groups whose profiles are found together, in the order of their first ones."""
    groups = {}
    for k, how in enumerate(queries):
        groups.setdefault(_shared_key(how) or k, []).append(k)
    return list(groups.values())


def _shared_key(how):
    """What queries have in common whose profiles are found together; None where they are found each by itself."""
    weighted = {one.w is not None for one in how.versions}
    by_itself = how.by_channel, how.scale_limits, how.lengths, how.tx
    if not isinstance(how.metric, LockstepMetric) or len(weighted) > 1 or any(one is not None for one in by_itself):
        return None
    if not how.metric._slack(how.x, how.w, MANY, how.normalize):  # not even of a long sequence by transforms
        return None
    return id(how.metric), how.x.shape, how.normalize, how.limits, how.gaps, how.max_gap, *weighted


def _has_gaps(how, y, ty):
    # A sum is not finite if one of its terms is not; what overflows is looked at term by term.
    return len(how.holes(ty)) > 0 or (not np.isfinite(y.sum()) and np.isnan(y).any())


def _windows_of(how, y, ty, rule, exactly, known):
    """The same of a query without alternatives."""
    if how.by_channel is not None:
        distance, slack = channel_profile(how, y, ty, _of_channel(exactly), exactly=exactly)
        return Profile(distance, None, how.m, slack)
    gaps = known is None and _has_gaps(how, y, ty)
    metric, x, w, m, n = how.metric, how.x, how.w, how.m, y.shape[1]
    if how.lengths is None:
        if rule is not None and applies(metric, rule, how.tx is not None, m * (n - m + 1)):
            pieces = how.runs(y, ty) if gaps else np.array([[0, n]])
            return Profile(*near_windows(metric, x, w, y, how.normalize, rule, pieces, how.scale_limits), m)
        if known is None:
            known = (observed_profile if gaps else limited_distances)(how, y, ty, exactly)
        return Profile(known, None, m, 0.0 if exactly else metric._slack(x, w, len(known), how.normalize))
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
    return lambda how, y, ty: _windows_of(how, y, ty, None, exactly, None)


def window_shares(how, y, ty, start):
    """What each channel has to do with the windows that begin at some samples, where it is compared by itself."""
    return shares_of(how, y, ty, start, _of_channel(True))


def scaled_path(path, m, start, end):
    """The path of a window that was resampled to m points, in samples of the sequence: the nearest ones."""
    left, share = places(end - start, m)
    nearest = left + (share >= 0.5)
    return np.array([path[0], start + nearest[path[1]]])

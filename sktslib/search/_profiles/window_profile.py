"""The profiles of windows: of the query's length, or of lengths that are resampled to it."""

from functools import partial

import numpy as np

from ...distances._kernels.scratch import scratch
from ...distances._metrics.lockstep import LockstepMetric
from ...distances._series import places
from .._channels.by_channel import channel_profiles, each_alone, shares_of
from .._selection import Profile
from .missing import observed_profile
from .near_windows import applies, near_windows
from .scale_limits import allowed_lengths, limited_distances

MANY = 2**62  # windows: so many as no profile has


def window_profile(how, y, ty, rule=None, *, exactly=False):
    """The profile of all windows; with `lengths` each start at the length that fits best (ties: the shortest).

    With a `rule` windows that it cannot choose may be left out. Only distances computed `exactly` have no slack.
    """
    return window_profiles([how], y, ty, [rule], exactly=exactly)[0]


def window_profiles(hows, y, ty, rules, *, exactly=False, room=None):
    """The profiles of queries of one group of `sharing`: transforms of the samples are made once for all of them.

    Where there is `room` what is found together may lie in it.
    """
    known = iter(_known([one for how in hows for one in how.versions], y, ty, exactly, room))
    return [_nearest(how, y, ty, rule, exactly, known) for how, rule in zip(hows, rules, strict=True)]


def profiles_at_once(hows, y, ty, rules, room=None):
    """The same in memory that the thread uses again, so copy what is to stay, unless there is `room`."""
    if room is None or hows[0].n_versions > 1:
        room = scratch("profiles", (sum(how.n_versions for how in hows) * y.shape[1],))
    return window_profiles(hows, y, ty, rules, room=room)


def is_made_in_place(hows):
    """Whether the profile of one query needs no memory for all windows but the `room` where it is to lie."""
    alone = len(hows) == hows[0].n_versions == 1 and hows[0].by_channel is None
    return alone and not hows[0].gaps and _shared_key(hows[0]) is not None


def _nearest(how, y, ty, rule, exactly, known):
    """The profile of a query and its alternatives."""
    best = None
    for one in how.versions:
        found = _windows_of(one, y, ty, rule, exactly, next(known))
        best = found if best is None else best._or_nearer(found)
        if how.alternatives and best._start is not None:  # what is farther cannot be chosen beside those so far
            rule = rule.below(rule.bound(best.distance, best.start, best.end))
    return best


def sharing(queries):
    """The numbers of queries in groups whose profiles are found together, in the order of their first ones."""
    if len(queries) == 1:
        return [[0]]
    groups = {}
    for k, how in enumerate(queries):
        groups.setdefault(_shared_key(how) or k, []).append(k)
    return list(groups.values())


def _shared_key(how):
    """What queries have in common whose profiles are found together; None where they are found each by itself."""
    if how.mode != "windows" or how.lengths is not None or how.tx is not None:
        return None
    # Not even profiles of long sequences may be found by transforms; of channels each is shared by itself.
    if not any(one.metric._slack(one.x, one.w, MANY, one.normalize) for one in each_alone(how)):
        return None
    common = id(how.metric), how.normalize, how.limits, how.gaps, how.max_gap
    if how.by_channel is not None:
        return *common, how.by_channel.tolerance
    return (*common, how.x.shape, how.w is not None) if _by_the_same_transforms(how.versions) else None


def _by_the_same_transforms(versions):
    """Whether profiles of queries of one length and metric, which have slack, are those of a stack of them."""
    first, weighted = versions[0], {one.w is not None for one in versions}
    return first.scale_limits is None and len(weighted) == 1 and isinstance(first.metric, LockstepMetric)


def _known(versions, y, ty, exactly, room):
    """What is found together of the windows of queries of one group: distances, or None of each that is found alone."""
    first = versions[0]
    if first.by_channel is not None:
        exactly = exactly or first.metric._may_be_negative  # an error of a summand may be any share of the sum
        return channel_profiles(versions, y, ty, partial(_of_channel, exactly=exactly), exactly=exactly)
    none = [None] * len(versions)
    alone = len(versions) == 1 and room is None
    if exactly or alone or first.lengths is not None or not _by_the_same_transforms(versions):
        return none
    if _has_gaps(first, y, ty):
        return none
    if not first.metric._slack(first.x, first.w, y.shape[1] - first.m + 1, first.normalize):
        return none
    W = None if first.w is None else np.stack([one.w for one in versions])
    return first.metric._profiles(np.stack([one.x for one in versions]), W, y, first.normalize, room)


def prunes(how, rule, n):
    """Whether windows that a rule cannot choose are left out, of n samples."""
    if rule is None or how.mode != "windows" or how.by_channel is not None or how.lengths is not None:
        return False
    return applies(how.metric, rule, how.tx is not None, how.m * (n - how.m + 1))


def _has_gaps(how, y, ty):
    # A sum is not finite if one of its terms is not; what overflows is looked at term by term.
    return len(how.holes(ty)) > 0 or (how.gaps and not np.isfinite(y.sum()) and np.isnan(y).any())


def _windows_of(how, y, ty, rule, exactly, known):
    """The same of a query without alternatives, as far as it is not known."""
    if how.by_channel is not None:
        distance, slack = known
        return Profile(distance, None, how.m, slack)
    gaps = known is None and _has_gaps(how, y, ty)
    metric, x, w, m, n = how.metric, how.x, how.w, how.m, y.shape[1]
    if how.lengths is None:
        if prunes(how, rule, n):
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


def _of_channel(hows, y, ty, room=None, *, exactly):
    """Profiles of queries in one channel by itself; a rule says nothing of the parts of a sum."""
    profiles, at = [None] * len(hows), 0
    for group in sharing(hows):
        own, at = None if room is None else room[at:], at + len(group) * y.shape[1]
        found = window_profiles([hows[k] for k in group], y, ty, [None] * len(group), exactly=exactly, room=own)
        for k, profile in zip(group, found, strict=True):
            profiles[k] = profile
    return profiles


def window_shares(how, y, ty, start):
    """What each channel has to do with the windows that begin at some samples, where it is compared by itself."""
    return shares_of(how, y, ty, start, partial(_of_channel, exactly=True))


def scaled_path(path, m, start, end):
    """The path of a window that was resampled to m points, in samples of the sequence: the nearest ones."""
    left, share = places(end - start, m)
    nearest = left + (share >= 0.5)
    return np.array([path[0], start + nearest[path[1]]])

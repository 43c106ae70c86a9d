"""Queries that are compared by channel: each channel is a query of its own, of its own length, lag, sign and weight.

The query is kept as an array over the range of a match (channels, M): each channel's points at its lag, zeros of weight
0 beside them. So what is done to a query as a whole, a sign or a decoy, is done to what each channel is compared with.
"""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import minimum_filter1d

from ...utils.validation import relative

DISTANCES = 2**24  # of channels that vote which are held at a time: 128 MB


class ByChannel(NamedTuple):
    """What each channel of a query has of its own; the points of channel c are x[c, lead[c] : lead[c] + length[c]]."""

    lag: np.ndarray  # samples behind a match's start at which the query, as it was given, begins
    first: np.ndarray  # the first point of it that the channel has
    length: np.ndarray  # points from there on; 0: none
    weight: np.ndarray  # of its distance, times what the metric gives it
    tolerance: int = 0  # samples by which the lag may be less or more
    votes: int | None = None  # so many of the least weighted distances are summed up; None: all
    mirrored: bool = False  # whether each channel has a sign of its own

    @property
    def lead(self):
        """Samples behind a match's start at which the points of each channel begin."""
        return self.lag + self.first

    @property
    def taking_part(self):
        """The channels that have points and count."""
        return np.flatnonzero((self.length > 0) & (self.weight > 0))

    @property
    def is_joint(self):
        """Whether all channels have points over the whole range, at one place."""
        return self.tolerance == 0 and not self.lead.any() and bool((self.length == self.length.max()).all())


class Part(NamedTuple):
    """A channel that takes part."""

    channel: int
    lead: int
    weight: float
    how: tuple  # the Comparison of the channel by itself

    def span(self, tolerance, start, stop):
        """The samples that its windows lie in, a half-open range, where matches begin in [start, stop)."""
        return start + self.lead - tolerance, stop - 1 + self.lead + tolerance + self.how.m


class Shares(NamedTuple):
    """What each channel has to do with some ranges, arrays (n, channels)."""

    distance: np.ndarray  # unweighted; NaN of channels that do not take part
    lag: np.ndarray  # at which its query begins
    sign: np.ndarray
    votes: np.ndarray  # whether its distance is in the sum

    @classmethod
    def empty(cls, n, by):
        """Those of n ranges before anything is known of them."""
        shape = n, len(by.lag)
        return cls(
            np.full(shape, np.nan), np.tile(by.lag, (n, 1)), np.ones(shape, np.int64), np.zeros(shape, dtype=bool)
        )


# ----------------------------------------------------------------------------------------------------------- the query
def placed(how, by):
    """A query (channels, m) compared by channel."""
    return relaid(how._replace(by_channel=by._replace(lag=np.zeros_like(by.lag))), by)


def relaid(how, by):
    """A query, all versions of it, that holds the points of each channel where they lie by other lags."""
    old, channels, total = how.by_channel, len(how.x), int((by.lead + by.length)[by.taking_part].max())
    versions = []
    for x, w in ((how.x, how.w), *how.alternatives):
        new = np.zeros((2, channels, total))
        for c in np.flatnonzero((by.lead + by.length <= total) & (old.length == by.length)):
            own, there = (slice(at, at + by.length[c]) for at in (old.lead[c], by.lead[c]))
            new[0, c, there], new[1, c, there] = x[c, own], 1.0 if w is None else w[c, own]
        versions.append(tuple(new))
    (x, w), *alternatives = versions
    return how._replace(x=x, w=w, alternatives=tuple(alternatives), by_channel=by)


def without_lags(how):
    """A query whose channels begin together, of one length; those that do not take part are zeros."""
    by = how.by_channel
    if by is None or by.is_joint:
        return how
    length = np.where(np.isin(np.arange(len(by.lag)), by.taking_part), by.length, 0)
    none = np.zeros_like(by.lag)
    return relaid(how, by._replace(lag=none, first=none, length=length, tolerance=0))._replace(max_gap=None)


def with_lags(how, like):
    """The same again with the lags of a query."""
    by = like.by_channel
    return how if by is None or by.is_joint else relaid(how, by)._replace(max_gap=like.max_gap)


def have_lags_of(how, like):
    """Whether channels lie in matches as those of a query do, if these have lags."""
    by, own = how.by_channel, like.by_channel
    if own is None or own.is_joint:
        return True
    return by is not None and all(np.array_equal(*pair) for pair in zip(by[:3], own[:3], strict=True))


def at_lags(y, by, start):
    """The samples (channels, m) of each channel that takes part, from its start on; zeros of the others."""
    out = np.zeros((len(y), int(by.length[by.taking_part].max())))
    for c in by.taking_part:
        out[c] = y[c, start[c] : start[c] + out.shape[1]]
    return out


def as_given(how):
    """The query and its weights or None, arrays (m, channels), with NaN where a channel has no points."""
    by = how.by_channel
    if by is None:
        return how.x.T, None if how.w is None else how.w.T
    x, w = np.full((2, int((by.first + by.length).max()), len(how.x)), np.nan)
    for c in by.taking_part:
        own, there = (slice(at, at + by.length[c]) for at in (by.first[c], by.lead[c]))
        x[own, c], w[own, c] = how.x[c, there], how.w[c, there]
    return x, None if np.nanmin(w) == np.nanmax(w) else w


def in_range(how):
    """The query (M, channels) as it lies in a match's range, with NaN where a channel has no points."""
    if how.by_channel is None:
        return how.x.T
    out = np.full_like(how.x, np.nan)
    for c, lead, _, one in parts_of(how):
        out[c, lead : lead + one.m] = one.x[0]
    return out.T


def parts_of(how):
    """The channels that take part, each with how it is compared; a query of one piece has none."""
    by, found, metrics = how.by_channel, [], how.metric._by_channel(len(how.x))
    for c in by.taking_part.tolist():
        metric = metrics[c][0]
        lead, length, first = int(by.lead[c]), int(by.length[c]), int(by.first[c])
        x, w = (np.ascontiguousarray(a[c : c + 1, lead : lead + length]) for a in (how.x, how.w))
        tx = how.tx[first : first + length] if how.tx is not None and metric.uses_times else None
        w = relative(w, "weight", "points")
        limits = None if how.scale_limits is None else how.scale_limits.of_channel(c)
        one = how._replace(metric=metric, x=x, w=w, tx=tx, scale_limits=limits)
        one = one._replace(alternatives=(), signs=None, by_channel=None)
        found.append(Part(c, lead, float(by.weight[c]), one))
    return found


def signed(how, sign):
    """A query times a sign; no zero is -0.0."""
    return how._replace(x=how.x * sign + 0.0)


def each_alone(how):
    """The query as it is compared: itself, or each channel by itself."""
    return [how] if how.by_channel is None else [part.how for part in parts_of(how)]


# --------------------------------------------------------------------------------------------------------- its profile
def channel_profiles(hows, y, ty, profiles, *, exactly=False):
    """Distances of all windows of queries compared by channel, and the largest relative error of those of each.

    Parameters
    ----------
    hows : list of Comparison
    y, ty : ndarray of shape (channels, n) and (n,)
    profiles : callable
        Of queries of one channel by itself: `profiles(hows, y, ty, room)`, a `Profile` of each, perhaps in the room.
    exactly : bool
        Whether the profiles of the channels are exact.

    Returns
    -------
    list of (ndarray, float)
    """
    voting = any(how.by_channel.votes is not None for how in hows)  # distances of all channels must be held
    size = max(DISTANCES // y.size, 1) if voting else len(hows)
    if len(hows) > size:
        some = (hows[at : at + size] for at in range(0, len(hows), size))
        return [one for part in some for one in channel_profiles(part, y, ty, profiles, exactly=exactly)]
    sums = [_Sum(how, y.shape[1] - how.m + 1) for how in hows]
    parts = [{part.channel: part for part in parts_of(how)} for how in hows]
    signs = 2 if any(how.by_channel.mirrored for how in hows) else 1
    room = np.empty(signs * len(hows) * y.shape[1]) if len(hows) > 1 else None  # for one channel after the other
    for c in range(len(y)):
        taking_part = [k for k, of_query in enumerate(parts) if c in of_query]
        some = [(parts[k][c], hows[k].by_channel) for k in taking_part]
        spans = [
            part.span(by.tolerance, 0, len(sums[k].total)) for k, (part, by) in zip(taking_part, some, strict=True)
        ]
        own, found = _in_channel(some, spans, y, ty, profiles, room)
        for k, (part, by), (distance, slack, _) in zip(taking_part, some, found, strict=True):
            least = _least_about(distance, part.lead - own, by.tolerance, len(sums[k].total))
            sums[k].add(part.weight * least, slack)
    return [one.result(ty, exactly) for one in sums]


class _Sum:
    """The sum over the channels of a query, or of the least of them."""

    def __init__(self, how, n):
        self.how, self.total, self.rows, self.slack = how, np.zeros(n), [], 0.0

    def add(self, distance, slack):
        """Take the weighted distances of a channel."""
        self.slack = max(self.slack, slack)
        if self.how.by_channel.votes is None:
            self.total += distance
        else:
            self.rows.append(distance)

    def result(self, ty, exactly):
        """The distances and their relative error."""
        how, by, total = self.how, self.how.by_channel, self.total
        if self.rows:
            for row in np.sort(self.rows, axis=0)[: by.votes]:  # one after the other, whatever the number of windows
                total += row
        self.rows = []
        for hole in how.holes(ty).tolist():
            total[max(hole - how.m + 1, 0) : hole] = np.inf
        return total, 0.0 if exactly or not self.slack else self.slack + len(by.lag) * np.finfo(float).eps


def _in_channel(parts, spans, y, ty, profiles, room=None):
    """The first sample that is looked at for queries in one channel, pairs (part, by), and what is found there.

    That is of each its distances, their error, and where the mirrored one is nearer. Samples beside all of the spans
    in which windows lie are left out: of one match these are most.
    """
    if not parts:
        return 0, ()
    channel, first = parts[0][0].channel, max(min(span[0] for span in spans), 0)
    some = slice(first, max(span[1] for span in spans))
    hows = [one for part, by in parts for one in ((part.how, signed(part.how, -1)) if by.mirrored else (part.how,))]
    y, ty = np.ascontiguousarray(y[channel : channel + 1, some]), None if ty is None else ty[some]
    return first, _nearer_signs(parts, iter(profiles(hows, y, ty, room)))


def _nearer_signs(parts, found):
    """Yield distances of queries, pairs (part, by), their error, and where the mirrored is nearer."""
    for _, by in parts:
        own = next(found)
        if not by.mirrored:
            yield own.distance, own._slack, None
            continue
        other = next(found)
        turned = other.distance < own.distance
        yield np.where(turned, other.distance, own.distance), max(own._slack, other._slack), turned


def _least_about(distance, lead, tolerance, n):
    """Of each of n starts the least distance of the windows at most so far from its lead; there may be none there."""
    if tolerance:
        distance = minimum_filter1d(distance, 2 * tolerance + 1, mode="constant", cval=np.inf)
    return distance[lead : lead + n]


def shares_of(how, y, ty, start, profiles):
    """What each channel has to do with the windows that begin at some samples of a stretch."""
    by, out = how.by_channel, Shares.empty(len(start), how.by_channel)
    near = np.arange(-by.tolerance, by.tolerance + 1)
    near = near[np.argsort(np.abs(near), kind="stable")]  # of equal distances the nearest lag, then the earlier
    weighted = np.full(out.distance.shape, np.inf)
    rows = np.arange(len(start))
    for part in parts_of(how):
        span = part.span(by.tolerance, int(start.min()), int(start.max()) + 1)
        own, found = _in_channel([(part, by)], [span], y, ty, profiles)
        distance, _, turned = next(found)
        at = start[:, np.newaxis] + part.lead - own + near
        inside = (at >= 0) & (at < len(distance))
        at = np.clip(at, 0, len(distance) - 1)
        best = np.argmin(np.where(inside, distance[at], np.inf), axis=1)
        c, at = part.channel, at[rows, best]
        out.distance[:, c] = distance[at]
        out.lag[:, c] += near[best]
        weighted[:, c] = part.weight * distance[at]
        if turned is not None:
            out.sign[:, c] = np.where(turned[at], -1, 1)
    count = len(by.taking_part) if by.votes is None else by.votes
    first = np.argsort(weighted, axis=1, kind="stable")[:, :count]
    np.put_along_axis(out.votes, first, np.isfinite(np.take_along_axis(weighted, first, axis=1)), axis=1)
    return out

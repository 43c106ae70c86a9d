"""Queries compared by channel: each channel is a query of its own, with its own length, lag, sign and weight.

The query is kept as an array over the range of a match (channels, M): each channel has its points at its lag, and zeros
of weight 0 elsewhere. A sign or a decoy that applies to the query as a whole therefore applies to each channel.

The module has two sections: the signs of a query (as given, mirrored as a whole, or mirrored channel by channel), and
the parameters of a comparison by channel.
"""

from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import minimum_filter1d

from ..utils._parameters import Interval, ParameterHolder
from ..utils._sampling import seconds_of
from ..utils.validation import check_names, check_number, plain_count, refused, relative, shown


class ByChannel(NamedTuple):
    """Lag, points and weight of each channel of a query that is compared by channel.

    Channel c has the points x[c, lead[c] : lead[c] + length[c]].
    """

    lag: np.ndarray  # samples from the start of a match to the first point of the query as it was given
    first: np.ndarray  # the first point that the channel has
    length: np.ndarray  # number of points that it has; may be 0
    weight: np.ndarray  # factor of its distance, including the factor that the metric gives it
    tolerance: int = 0  # samples by which the lag may be smaller or larger
    votes: int | None = None  # number of channels, those with the least weighted distances, that are summed; None: all
    mirrored: bool = False  # whether each channel chooses its own sign

    @property
    def lead(self):
        """Number of samples from a match's start to the points of each channel."""
        return self.lag + self.first

    @property
    def taking_part(self):
        """The channels that have points and a weight above 0."""
        return np.flatnonzero((self.length > 0) & (self.weight > 0))

    @property
    def is_joint(self):
        """Whether all channels have points over the whole range, without lags or tolerance."""
        return self.tolerance == 0 and not self.lead.any() and bool((self.length == self.length.max()).all())


class Part(NamedTuple):
    """A channel that takes part in the comparison."""

    channel: int
    lead: int
    weight: float
    plan: object  # the QueryPlan of the channel by itself


class Shares(NamedTuple):
    """Contribution of each channel to the distances of several ranges, as arrays (n, channels)."""

    distance: np.ndarray  # without weight; NaN for channels that do not take part
    lag: np.ndarray  # lag at which the channel fits best
    sign: np.ndarray
    votes: np.ndarray  # whether the channel's distance is in the sum

    @classmethod
    def empty(cls, n, by):
        """Return initial shares of n ranges, before any channel is entered."""
        shape = n, len(by.lag)
        return cls(
            np.full(shape, np.nan), np.tile(by.lag, (n, 1)), np.ones(shape, np.int64), np.zeros(shape, dtype=bool)
        )


# ----------------------------------------------------------------------------------------------------------- the query
def placed(plan, by):
    """Return a query (channels, m) that is compared by channel, each channel at its lag."""
    total = int((by.lead + by.length)[by.taking_part].max())
    x, w = np.zeros((2, len(plan.x), total))
    for c in np.flatnonzero(by.lead + by.length <= total):
        own, there = (slice(at, at + by.length[c]) for at in (by.first[c], by.lead[c]))
        x[c, there], w[c, there] = plan.x[c, own], 1.0 if plan.w is None else plan.w[c, own]
    return plan._replace(x=x, w=w, by_channel=by)


def as_given(plan):
    """Return the query and its weights (or None), arrays (m, channels), with NaN where a channel has no points."""
    by = plan.by_channel
    if by is None:
        return plan.x.T, None if plan.w is None else plan.w.T
    x, w = np.full((2, int((by.first + by.length).max()), len(plan.x)), np.nan)
    for c in by.taking_part:
        own, there = (slice(at, at + by.length[c]) for at in (by.first[c], by.lead[c]))
        x[own, c], w[own, c] = plan.x[c, there], plan.w[c, there]
    return x, None if np.nanmin(w) == np.nanmax(w) else w


def in_range(plan):
    """Return the query (M, channels) over the range of a match, with NaN where a channel has no points."""
    if plan.by_channel is None:
        return plan.x.T
    out = np.full_like(plan.x, np.nan)
    for c, lead, _, one in parts_of(plan):
        out[c, lead : lead + one.m] = one.x[0]
    return out.T


def parts_of(plan):
    """Return the channels that take part, each with a plan that compares it alone."""
    by, found, metrics = plan.by_channel, [], plan.metric._by_channel(len(plan.x))
    for c in by.taking_part.tolist():
        metric = metrics[c][0]
        lead, length, first = int(by.lead[c]), int(by.length[c]), int(by.first[c])
        x, w = (np.ascontiguousarray(a[c : c + 1, lead : lead + length]) for a in (plan.x, plan.w))
        tx = plan.tx[first : first + length] if plan.tx is not None and metric.uses_times else None
        w = relative(w, "weight", "points")
        limits = None if plan.scale_limits is None else plan.scale_limits.of_channel(c)
        one = plan._replace(metric=metric, x=x, w=w, tx=tx, scale_limits=limits)
        one = one._replace(alternatives=(), signs=None, by_channel=None)
        found.append(Part(c, lead, float(by.weight[c]), one))
    return found


def signed(plan, sign):
    """Return a plan whose query is multiplied by a sign; zeros stay positive."""
    return plan._replace(x=plan.x * sign + 0.0)


def each_alone(plan):
    """Return the plans that a query is compared by: its own plan, or one per channel if channels are compared alone."""
    return [plan] if plan.by_channel is None else [part.plan for part in parts_of(plan)]


# --------------------------------------------------------------------------------------------------------- its profile
def channel_profile(plan, y, ty, profile, *, exactly=False):
    """Return the distances of all windows to a query that is compared by channel, and their largest relative error.

    Parameters
    ----------
    plan : QueryPlan
    y, ty : ndarray of shape (channels, n) and (n,)
    profile : callable
        ``profile(plan, y, ty)``, the `Profile` of a query of one channel by itself.
    exactly : bool
        Whether the profiles of the channels are exact.
    """
    by, n, rows, slack = plan.by_channel, y.shape[1] - plan.m + 1, [], 0.0
    total = np.zeros(n)
    for part in parts_of(plan):
        first, distance, error, _ = _in_channel(part, by, 0, n, y, ty, profile)
        if by.tolerance:  # the nearest lag counts
            distance = minimum_filter1d(distance, 2 * by.tolerance + 1, mode="constant", cval=np.inf)
        distance = part.weight * distance[part.lead - first :][:n]
        slack = max(slack, error)
        if by.votes is None:
            total += distance
        else:
            rows.append(distance)
    for row in np.sort(rows, axis=0)[: by.votes]:  # one after the other, whatever the number of windows
        total += row
    for hole in plan.holes(ty).tolist():
        total[max(hole - plan.m + 1, 0) : hole] = np.inf
    return total, 0.0 if exactly or not slack else slack + len(by.lag) * np.finfo(float).eps


def _in_channel(part, by, start, stop, y, ty, profile):
    """Return the profile of one channel where it affects matches that start in [start, stop).

    The result is the first sample of the profile, its distances from there on, their error, and a mask of the windows
    to which the mirrored query is nearer (None without mirroring). Other samples are left out, because for a single
    match they are the larger part.
    """
    c, first = part.channel, max(start + part.lead - by.tolerance, 0)
    high = stop - 1 + part.lead + by.tolerance + part.plan.m
    y, ty = np.ascontiguousarray(y[c : c + 1, first:high]), None if ty is None else ty[first:high]
    own = profile(part.plan, y, ty)
    if not by.mirrored:
        return first, own.distance, own._slack, None
    other = profile(signed(part.plan, -1), y, ty)
    turned = other.distance < own.distance
    return first, np.where(turned, other.distance, own.distance), max(own._slack, other._slack), turned


def shares_of(plan, y, ty, start, profile):
    """Return the contribution of each channel to the distances of the windows with the given starts."""
    by, out = plan.by_channel, Shares.empty(len(start), plan.by_channel)
    near = np.arange(-by.tolerance, by.tolerance + 1)
    near = near[np.argsort(np.abs(near), kind="stable")]  # ties: the smallest shift of the lag, then the earlier one
    weighted = np.full(out.distance.shape, np.inf)
    rows = np.arange(len(start))
    for part in parts_of(plan):
        within = int(start.min()), int(start.max()) + 1
        own, distance, _, turned = _in_channel(part, by, *within, y, ty, profile)
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


POLARITIES = ("same", "any", "channels")
MOST_CHANNELS = 8  # that may have signs of their own: 2^8 combinations, each searched like a query of its own


def signs_of(polarity, channels):
    """Return the signs that a query may have, (k,) or per channel (k, channels); None if only those as given.

    The signs as given come first, then those that mirror fewer channels. Among signs that mirror equally many channels,
    those that mirror later channels come first.
    """
    if polarity == "same":
        return None
    if polarity == "any":
        return np.array([1, -1])
    if channels > MOST_CHANNELS:
        raise ValueError(
            f"polarity='channels' tries all signs of at most {MOST_CHANNELS} channels. Got {channels} channels. "
            "Select channels; or multiply those of the query that are known to be mirrored by -1 and take "
            "polarity='same'; or polarity='any' if all of them turn together."
        )
    signs = np.array(list(product([1, -1], repeat=channels)))
    return signs[np.argsort((signs < 0).sum(axis=1), kind="stable")]


def with_polarity(plan, polarity):
    """Return a plan whose query, and each of its alternatives, may also be mirrored."""
    if plan.by_channel is not None and polarity == "channels":  # each channel chooses its sign by its own distance
        return plan._replace(by_channel=plan.by_channel._replace(mirrored=True))
    return plan if plan.signs is not None or polarity == "same" else with_signs(plan, signs_of(polarity, len(plan.x)))


def with_signs(plan, signs):
    """Return a plan whose query may have each of the given signs; None leaves the plan as it is."""
    if signs is None:
        return plan
    known = [(one.x, one.w) for one in plan.versions]
    mirrored = [(x * np.reshape(sign, (-1, 1)) + 0.0, w) for sign in signs for x, w in known]  # no zero is -0.0
    return plan._replace(alternatives=tuple(mirrored[1:]), signs=signs)


LONGEST = 10**7  # samples of a lag, as of a window
LARGEST = 1e100  # largest weight of a channel, so that its product with a distance stays finite
SHORTEST = 2  # fewest points of a channel that is learned from labels


def counts_of(metric, channels):
    """Return the factor of each channel's distance in a metric's distance; 0 for channels that are not compared."""
    return [share for _, share in metric._by_channel(channels)]


@dataclass(eq=False, repr=False)
class ChannelPlan(ParameterHolder):
    """Comparison of each channel by itself.

    Each channel of a query is a query of its own, with its own normalization, weights, length, lag and sign. The
    distance of a candidate is the weighted sum of the channels' distances. Candidates are windows. If the query starts
    or ends with NaN in a channel, the channel has no points there: ``pandas.DataFrame({"a": pandas.Series(x), "b":
    pandas.Series(y)})`` makes such a table of channels of several lengths. Pass the plan as the parameter `channels` of
    `QuerySearcher`.

    Parameters
    ----------
    lag : int, timedelta, list or dict, optional
        Number of samples, or time, from the start of a match to the start of each channel's query; one for all, a list
        with one for each channel, or a dict by names or numbers (0 for channels left out). With lags, labels mark
        whole occurrences, from the start of the first channel to the end of the last.
    tolerance : int or timedelta, default=0
        How much earlier or later a channel may start; the best lag counts. Less than half of a match's length.
    weight : list or dict of float, optional
        Factor of each channel's distance (1 for channels left out of a dict).
    min_votes : int, optional
        Number of channels that count: the distance is the sum over this many channels, those with the smallest
        distances. See `Matches.votes`. None: all channels.

    Examples
    --------
    >>> import numpy as np
    >>> from sktslib import QuerySearcher
    >>> from sktslib.search import ChannelPlan
    >>> query = np.array([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]])
    >>> sequence = np.zeros((20, 2))
    >>> sequence[5:8, 0], sequence[9:12, 1] = query.T  # the second channel comes 4 samples later
    >>> searcher = QuerySearcher("euclidean", channels=ChannelPlan(lag=[0, 4])).fit(query)
    >>> searcher.search(sequence).start
    array([5])
    """

    _parameter_constraints = {
        "lag": [timedelta, np.timedelta64, Real, "array-like", None],
        "tolerance": [timedelta, np.timedelta64, Real],
        "weight": [Real, "array-like", None],
        "min_votes": [Interval(Integral, 1, None, closed="left"), None],
    }

    lag: Any = None
    tolerance: Any = 0
    weight: Any = None
    min_votes: int | None = None

    def _with_channels(self, plan, first, length, names):
        """Return a plan that compares a query (channels, m) by channel.

        Channel c has `length[c]` points from `first[c]` on.
        """
        lag, tolerance, weight, _ = vars(self._in_samples(plan, names)).values()
        weight = weight * counts_of(plan.metric, len(plan.x))
        by = ByChannel(lag, first, length, weight, tolerance, plain_count(self.min_votes))
        count = len(by.taking_part)
        if not count:
            rule = "be above 0 for a channel that the query has points in and that the metric compares"
            raise refused("The 'weight' parameter of ChannelPlan", rule, shown(self.weight))
        if self.min_votes is not None and self.min_votes > count:
            rule = f"not exceed the number of channels in which a query has points and whose weight is above 0, {count}"
            raise refused("The 'min_votes' parameter of ChannelPlan", rule, self.min_votes)
        total = int((by.lead + by.length)[by.taking_part].max())
        if 2 * tolerance >= total:  # otherwise two matches without overlap could have the same windows at other lags
            raise ValueError(
                f"The 'tolerance' parameter of ChannelPlan must be less than half of a match's length, {total} "
                f"samples here: the same windows would be found as two matches. Got {shown(self.tolerance)}. If "
                "channels may shift that far, search for each of them separately."
            )
        for c in by.taking_part.tolist():
            if plan.w is not None and not plan.w[c, first[c] : first[c] + length[c]].any():
                got, out = f"only zeros for channel {c}", "Set its weight in ChannelPlan to 0 to leave it out."
                raise refused("'weight'", "be above 0 at a point of each channel that is compared by itself", got, out)
        return placed(plan, by)

    def _in_samples(self, plan, names):
        """Return the plan with its lags in samples and its weights as arrays, one entry for each channel of a query."""
        lag, weight = (
            self._of_each(values, name, plan.x.shape, names, default)
            for name, values, default in (("lag", self.lag, 0), ("weight", self.weight, 1.0))
        )
        lag = np.array([self._samples(value, "lag", plan) for value in lag], np.int64)
        tolerance = self._samples(self.tolerance, "tolerance", plan)
        weight = np.array([check_number(v, "weight", low=0.0, high=LARGEST, owner="ChannelPlan") for v in weight])
        return ChannelPlan(lag, tolerance, weight, self.min_votes)

    def _aligned(self, marked, shares):
        """Return a marked recording with channels shifted by their lags, so that an occurrence is at one place in all.

        Lags must be `_in_samples`; `shares` are the factors of the channels. Labels mark whole occurrences, from the
        start of the first channel to the end of the last one.
        """
        lag = self.lag[self.weight * shares > 0].max(initial=0)
        if lag == 0:
            return marked
        short = marked.ranges[marked.ranges[:, 1] - marked.ranges[:, 0] < lag + SHORTEST]
        if len(short):
            start, end = short[0].tolist()
            raise ValueError(
                f"The 'lag' parameter of ChannelPlan must be less than the length of each label, because "
                f"labels mark whole occurrences, from the start of the first channel to the end of the last. Got a lag "
                f"of {lag} samples and an occurrence from {start} to {end}. Label up to the end of the last channel."
            )
        data = [np.roll(row, -min(own, lag)) for row, own in zip(marked.data, self.lag, strict=True)]
        return marked._replace(data=np.array(data), ranges=marked.ranges - [0, lag])

    def _of_each(self, values, name, shape, names, default):
        """Return a list with the value of each channel, for a query of this shape (channels, m)."""
        channels = shape[0]
        if values is None:
            return [default] * channels
        if isinstance(values, dict):
            return of_channels(values, name, channels, names, default)
        if np.ndim(values) == 0:
            return [values] * channels
        values = values.tolist() if isinstance(values, np.ndarray) and values.dtype.kind in "iufb" else list(values)
        if len(values) != channels:
            rule = f"have one entry for each of the {channels} channels, or be a dict by their names or numbers"
            out = ""
            if channels == 1:
                out = "A list holds queries that are searched for one by one: put the channels of one query into an "
                out += "array, numpy.column_stack(arrays), or a table, pandas.DataFrame, in which NaN pads them."
            if shape[1] == len(values):
                out = "The query has as many points: is it transposed? Time runs along the first axis."
            raise refused(f"The {name!r} parameter of ChannelPlan", rule, f"{len(values)} entries", out)
        return values

    def _samples(self, value, name, plan):
        """Return a number of samples, or a duration in steps of the query's times."""
        samples = value
        if isinstance(value, timedelta | np.timedelta64):
            if not plan.datetimes or plan.interval is None:
                rule = "be a number of samples where the query's times are not datetimes"
                got, out = shown(value), "Pass datetimes as 'times' of fit, or a table whose index holds them."
                raise refused(f"The {name!r} parameter of ChannelPlan", rule, got, out)
            samples = float(seconds_of(value)) / plan.interval
            samples = round(samples) if np.isfinite(samples) else samples
        try:
            return check_number(samples, name, low=0, high=LONGEST, integer=True, owner="ChannelPlan")
        except (TypeError, ValueError) as error:
            if isinstance(samples, Real) and samples < 0:
                out = "A match begins with the channel that comes first: subtract the least lag from all."
                out = "Lags may be smaller or larger by this number." if name == "tolerance" else out
            elif name == "tolerance" and np.ndim(value):
                out = "It is one number for all channels."
            else:
                out = (
                    "Round a number of samples, int(round(v)); a duration is a datetime.timedelta or a "
                    "pandas.Timedelta, such as pandas.Timedelta('0.5s')."
                )
            raise type(error)(f"{error} {out}") from None


def of_channels(values, name, channels, names, default):
    """Return a list with one value per channel from a dict by names or numbers; `names` is None without names."""
    known = list(range(channels)) if names is None else [*names, *range(channels)]
    if names is None and any(isinstance(key, str) for key in values):
        raise ValueError(
            f"Unknown channel {next(k for k in values if isinstance(k, str))!r} of {name!r}: the query has no names. "
            f"Pass a table whose columns have these names, or number the channels. Valid: {', '.join(map(str, known))}."
        )
    check_names(values, known, "channel", repr(name))
    named = list(range(channels)) if names is None else names
    return [values.get(key, values.get(c, default)) for c, key in enumerate(named)]


# ------------------------------------------------------------------------------- channels with lengths of their own
def points_of(x, whole):
    """Return the first point and the number of points of each channel of a query (channels, m), padded with NaN.

    With `whole`, a NaN between the points of a channel is an error.
    """
    seen = ~np.isnan(x)
    some = seen.any(axis=1)
    first = np.where(some, seen.argmax(axis=1), 0)
    length = np.where(some, x.shape[1] - seen[:, ::-1].argmax(axis=1) - first, 0)
    if whole and (seen.sum(axis=1) < length).any():
        c = int(np.argmax(seen.sum(axis=1) < length))
        at = first[c] + int(np.argmin(seen[c, first[c] :]))
        raise ValueError(
            f"A query that is compared by channel may have NaN where a channel begins later or ends earlier than "
            f"others, and nowhere else. Got NaN at point {at} of channel {c}. Fill the gap, for example with "
            "numpy.interp; or set nan_policy='omit' to leave it out."
        )
    return first, length

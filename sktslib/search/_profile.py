"""The search for one query in one sequence, the choice of matches, and explanations of a match.

Query and sequence give a profile, and the profile gives matches: windows of the query's length, or subsequences of any
length. Incremental profiles take a sequence in chunks and return candidates as soon as they are known.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from ..distances._kernels.compile import block_size, stop_if_unwanted
from ..distances._kernels.dispatch import closed_boundary
from ..distances._kernels.scalar import oldest_start
from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.lockstep import LockstepMetric, ratios
from ..distances._metrics.mixed import Mixed
from ..distances._series import alike, base_of, full_weight, normalize_values, places, resample
from ._channels import channel_profile, parts_of, shares_of, signed
from ._chunks import Buffer
from ._engines import of_ranges, range_profile
from ._limits import allowed_lengths, limited_distances, observed_profile
from ._plan import check_domain, check_room
from ._pruning import near_windows, prunes
from ._selection import Candidates, From, Profile, select, select_exactly


@dataclass(frozen=True, eq=False)
class Explanation:
    """Cost of a match per query point, and its alignment in time; see `Matches.explain`.

    Attributes
    ----------
    path : ndarray of shape (2, K)
        Alignment: query indices and indices of the whole sequence; point by point with a `ChannelPlan`.
    cost : ndarray of shape (m, channels)
        Cost of each query point in each channel. Elastic distances: the rise of the accumulated cost at the point,
        divided among the channels in proportion to their weighted squared differences; the sum is the accumulated cost.
        Lockstep sums: the terms, whose sum is the distance before its root. Other distances: the weighted squared
        differences. With a `ChannelPlan`: each channel's own costs times its weight, at its lag; 0 without a vote.
        Windows under `Mixed`: each part's own costs times its weight.
    lag : ndarray of shape (m,)
        Average number of samples by which a query point is aligned later than at a uniform pace; NaN if unpaired.
    advance, delay, phase : float
        Shares of the path's steps in which only the query moves, only the sequence moves, and both move, as in the time
        alignment measurement (Folgado et al. 2018).
    """

    path: np.ndarray
    cost: np.ndarray
    lag: np.ndarray
    advance: float
    delay: float
    phase: float


def _costs(search, start, end):
    """Return the costs (m, channels) of a match; see `Explanation`."""
    metric, whole, cost = search.plan.metric, search.whole, np.zeros(search.plan.x.shape)
    if search.plan.by_channel is not None:
        for (c, lead, weight, plan), own, first, _, votes in search.channel_windows(start):
            if votes:
                cost[c, lead : lead + plan.m] = weight * _costs(own, first, first + plan.m)[:, 0]
        return cost.T
    if search.aligns_parts:  # each part along its own alignment
        for part, own in search.parts:
            cost[part.channels] = part.weight * _costs(own, start, end).T
        return cost.T
    w = full_weight(search.plan.w, search.plan.x)
    x, y, *times = search.window(start, end)
    if not isinstance(metric, ElasticMetric):
        has_terms = metric._is_additive and metric.power is not None
        return (metric._term_costs(x, y, w) if has_terms else w * (x - y) ** 2).T
    problem = search.piece(start, end) if whole else metric._problem(x, search.plan.w, y, *times)
    path = metric._path(problem, whole=whole)
    costs = metric._accumulate(problem, keep="costs", whole=whole)[2]
    # A move that the path does not list counts at the next listed pair; moves after the last pair count there.
    total = costs[path[1], path[0]] if path.size else np.empty(0)
    rise = np.diff(total, prepend=0.0)
    if path.size:
        rise[-1] += costs[-1, -1] - total[-1]
    apart = x[:, path[0]] - y[:, path[1]]
    apart = w[:, path[0]] * np.ldexp(apart, -np.frexp(np.abs(apart).max(initial=0.0))[1]) ** 2  # squares stay finite
    summed = apart.sum(axis=0)
    share = np.divide(apart, summed, out=np.full_like(apart, 1.0 / len(x)), where=summed > 0)
    np.add.at(cost, (slice(None), path[0]), share * rise)
    return cost.T


def window_profile(plan, y, ty, rule=None, *, exactly=False, room=None):
    """Return the profile of all windows.

    With `lengths`, each start counts with the length that fits best (ties: the shortest). With a `rule`, windows that
    it cannot choose may be left out. Without `exactly`, distances may have a small relative error, the profile's slack.
    `room` is a buffer that a profile by Fourier transforms may use for its result.
    """
    if plan.alternatives:
        best = None
        for one in plan.versions:
            found = window_profile(one, y, ty, rule, exactly=exactly, room=room if best is None else None)
            best = found if best is None else best._or_nearer(found)
            if best._start is not None:  # candidates beyond the known distances cannot be chosen
                rule = rule.below(rule.bound(best.distance, best.start, best.end))
        return best
    if plan.by_channel is not None:
        exactly = exactly or plan.metric._may_be_negative  # a sum with negative terms has no relative error
        distance, slack = channel_profile(plan, y, ty, partial(window_profile, exactly=exactly), exactly=exactly)
        return Profile(distance, None, plan.m, slack)
    # A sum with a NaN is not finite; as it may also overflow, its terms are checked then.
    gaps = plan.gaps and not np.isfinite(y.sum()) and np.isnan(y).any()
    gaps = gaps or (plan.max_gap is not None and len(plan.holes(ty)) > 0)
    metric, x, w, m, n = plan.metric, plan.x, plan.w, plan.m, y.shape[1]
    if plan.lengths is None:
        if prunes(plan, rule, n):
            return Profile(*near_windows(plan, y, rule, plan.runs(y, ty) if gaps else None), m)
        slack = 0.0 if exactly else metric._relative_error(x, w, n - m + 1, plan.normalize)
        if slack and room is not None and not gaps and plan.scale_limits is None and isinstance(metric, LockstepMetric):
            distance = metric._fast_profile(x, w, y, plan.normalize, room)
        else:
            distance = (observed_profile if gaps else limited_distances)(plan, y, ty, exactly)
        return Profile(distance, None, m, slack)
    best = np.full(max(n - plan.shortest + 1, 0), np.inf)
    length = np.full(len(best), plan.shortest)
    for first, last in plan.runs(y, ty):
        piece, times = np.ascontiguousarray(y[:, first:last]), None if plan.tx is None else ty[first:last]
        for size in plan.lengths[plan.lengths <= last - first].tolist():
            distance = metric._scaled_profile(x, w, piece, plan.tx, times, plan.normalize, size)
            distance[~allowed_lengths(plan, piece, size)] = np.inf
            here = slice(first, first + len(distance))
            better = distance < best[here]
            best[here][better], length[here][better] = distance[better], size
    return Profile(best, None, length)


def scaled_path(path, m, start, end):
    """Return the path of a window that was resampled to m points, in indices of the nearest samples."""
    left, share = places(end - start, m)
    nearest = left + (share >= 0.5)
    return np.array([path[0], start + nearest[path[1]]])


MOST_TERMS = 2**19  # points of windows that are computed at a time


class Search:
    """Search for a query in a sequence, or in a stretch of one from sample `first` on; positions count in the sequence.

    A query with alternatives has only a profile and a nearest candidate; other methods need a single version.
    """

    def __init__(self, plan, y, ty=None, first=0):
        if ty is None and plan.tx is not None:
            plan = plan.untimed
        elif ty is not None and not plan.reads_times:
            ty = None
        self.plan, self.y, self.ty, self.first = plan, y, ty, first
        self.runs = ()  # subsequence searches: the starts of the stretches without a gap, with their prepared pairs
        if plan.mode == "windows":
            check_room(plan.shortest, y.shape[1])
        elif not (plan.alternatives or plan.by_range):
            self.runs = tuple((first + int(a), plan.problem(*self._cut(a, b))) for a, b in plan.runs(y, self.ty))

    @classmethod
    def of(cls, plan, y, ty=None):
        """Return a search after checking that the metric is defined for query and sequence."""
        check_domain(plan.metric, plan.x, "The query", plan.normalize)
        check_domain(plan.metric, y, "The sequence", plan.normalize)
        return cls(plan, y, ty)

    def _cut(self, start, end):
        """Return the samples [start, end) of the stretch and their times."""
        return np.ascontiguousarray(self.y[:, start:end]), None if self.ty is None else self.ty[start:end]

    def profile(self, rule=None):
        """Return distance and range of every candidate; a `rule` may leave out those that it cannot choose."""
        if self.plan.mode == "windows":
            return window_profile(self.plan, self.y, self.ty, rule)
        if self.plan.by_range:
            return range_profile(self.plan, self.y, self.ty, rule)
        if self.plan.alternatives:
            profiles = (Search(one, self.y, self.ty, self.first).profile() for one in self.plan.versions)
            return reduce(Profile._or_nearer, profiles)
        n, (shortest, longest), metric = self.y.shape[1], self.plan.limits, self.plan.metric
        shortest, longest = min(shortest or 1, n + 1), min(longest or n, n)
        if len(self.runs) == 1 and self.runs[0][1].shape[1] == n:
            return Profile(*metric._subsequence_profile(self.runs[0][1], shortest, longest)[:2])
        distance, start = np.full(n, np.inf), np.full(n, -1, np.int64)
        for first, problem in self.runs:
            d, s, _ = metric._subsequence_profile(problem, shortest, longest)
            ends = slice(first, first + len(d))
            distance[ends], start[ends] = d, np.where(s >= 0, s + first, -1)
        return Profile(distance, start)

    def distances(self, start, end):
        """Return the exact distances of candidates; for windows all in the stretch are computed at once."""
        if self.plan.mode == "windows":
            return window_profile(self.plan, self.y, self.ty, exactly=True).distance[start - self.first]
        if self.plan.by_range:
            return of_ranges(self.plan, self.y, self.ty, start - self.first, end - self.first)
        out = np.empty(len(start))
        for k, (s, e) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
            first, problem = self.run(s)
            out[k] = self.plan.metric._piece_distance(problem, s - first, e - first)
        return out

    def nearest(self):
        """Return the distance of the best candidate in the stretch, or infinity.

        If its length is allowed, the whole stretch is a candidate, too: the profile knows only the best candidate for
        each end, and that may be too short or too long.
        """
        if self.plan.alternatives:
            return min(Search(one, self.y, self.ty, self.first).nearest() for one in self.plan.versions)
        values = self.profile().distance
        best = values[np.isfinite(values)].min(initial=np.inf)
        if len(self.runs) == 1:
            best = min(best, *self.distances(np.array([self.first]), np.array([self.first + self.y.shape[1]])))
        return float(best)

    @property
    def whole(self):
        """Whether candidates are compared from end to end even if the metric has free ends."""
        return self.plan.mode == "subsequence" and not self.plan.by_range

    def shares(self, start):
        """Return the `Shares` of channels in candidates, if channels are compared alone."""
        exact = partial(window_profile, exactly=True)
        return shares_of(self.plan, self.y, self.ty, start - self.first, exact)

    def centered(self, start):
        """Return starts moved such that lags are as given, if the distances are equal within the tolerance of lags."""
        by, first = self.plan.by_channel, start - self.first
        some = slice(first, first + by.tolerance + 1)
        distance, at_lags = (
            window_profile(plan, self.y, self.ty, exactly=True).distance[some]
            for plan in (self.plan, self.plan._replace(by_channel=by._replace(tolerance=0)))
        )
        return start + int(np.argmin(np.where(distance == distance[0], at_lags, np.inf)))

    def run(self, start):
        """Return the stretch without gaps that contains a sample."""
        return self.runs[bisect_right(self.runs, start, key=lambda run: run[0]) - 1]

    def piece(self, start, end, shown=None):
        """Return the query and [start, end) of the sequence as kernels read them in a subsequence search.

        With `shown`, only this range of the query's points is compared.
        """
        if self.plan.by_range:
            x, y, *times = self.window(start, end)
            piece = self.plan.metric._problem(x, self.plan.w, y, *times)
        else:
            first, problem = self.run(start)
            piece = problem.piece(start - first, end - first)
        return piece if shown is None or shown[1] - shown[0] == self.plan.m else piece.part(*shown)

    def cost(self, start, end, shown=None):
        """Return the accumulated cost of the query, or its points `shown`, and [start, end) in a subsequence search."""
        return self.plan.metric._cost(self.piece(start, end, shown), whole=self.whole)

    def channel_windows(self, start):
        """Yield the window of each channel in a candidate, if channels are compared alone.

        Each entry has the channel's `Part`, the search of this channel with its sign, the start of the window, its
        distance without weight, and whether the distance is in the sum.
        """
        shares, by = self.shares(np.array([start])), self.plan.by_channel
        for part in parts_of(self.plan):
            c = part.channel
            y = np.ascontiguousarray(self.y[c : c + 1])
            own = Search(signed(part.plan, shares.sign[0, c]), y, self.ty, self.first)
            at = start + part.lead + int(shares.lag[0, c] - by.lag[c])
            yield part, own, at, float(shares.distance[0, c]), bool(shares.votes[0, c])

    @property
    def aligns_parts(self):
        """Whether each part of the metric aligns its own channels."""
        plan = self.plan
        return isinstance(plan.metric, Mixed) and plan.by_channel is None and not plan.metric._has_path

    @property
    def parts(self):
        """The parts of the metric with a weight above 0, each with a search of its channels."""
        for part in self.plan.metric._parts(len(self.plan.x)):
            tx = self.plan.tx if part.metric.uses_times else None
            one = self.plan._replace(metric=part.metric, x=part.of(self.plan.x), w=part.of(self.plan.w), tx=tx)
            if one.w is None or one.w.any():
                yield part, Search(one, part.of(self.y), self.ty, self.first)

    def channel_path(self, start, end, channel):
        """Return the alignment of a channel with its window in [start, end), in indices of the query as given."""
        counted = []
        if self.plan.by_channel is not None:
            for part, own, at, distance, _ in self.channel_windows(start):
                if part.channel == channel:  # if it is infinitely far, it has no pairs
                    path = own.path(at, at + part.plan.m)[:, : None if np.isfinite(distance) else 0]
                    return path + np.array([[self.plan.by_channel.first[channel]], [0]])
                counted.append(part.channel)
        elif self.aligns_parts:
            for part, own in self.parts:
                if channel in part.channels:
                    return own.path(start, end)
                counted += np.asarray(part.channels).tolist()
        else:
            return self.path(start, end)
        raise ValueError(
            "The 'channel' parameter must be a channel that is compared: one in which the query has points and that "
            f"counts. These are {sorted(counted)}. Got {channel}."
        )

    def path(self, start, end, shown=None):
        """Return the alignment of the query, or its points `shown`, with [start, end), in indices of whole series."""
        metric, m = self.plan.metric, self.plan.m
        if not metric._has_path and self.plan.by_channel is None:
            return metric._path(None)  # raises an error that says why
        if self.plan.mode == "subsequence":
            path = metric._path(self.piece(start, end, shown), whole=self.whole)
            return path + np.array([[0 if shown is None else shown[0]], [start]])
        path = np.tile(np.arange(m), (2, 1))
        if isinstance(metric, ElasticMetric) and self.plan.by_channel is None:
            x, y, *times = self.window(start, end)
            path = metric._distance(x, self.plan.w, y, *times).path
        return scaled_path(path, m, start, end)

    def window(self, start, end):
        """Return the query and the window [start, end) in the form that is compared, and the times of both."""
        plan, m, full = self.plan, self.plan.m, full_weight(self.plan.w, self.plan.x)
        y, ty = self._cut(start - self.first, end - self.first)
        ty = plan.compared(ty)
        near = base = 0.0
        if plan.lengths is not None:
            near = 0.0 if plan.normalize is None else alike(end - start, m)
            if near:
                base = base_of(y, np.zeros(1, int), places(end - start, m)[0], full)
            y, ty = resample(y, m, base), None if ty is None else resample(ty[np.newaxis], m)[0]
        times = (None, None) if ty is None else (plan.tx - plan.tx[0], ty - ty[0])
        full = np.ones_like(y) if plan.by_range else full
        x, y = plan.compared_query, normalize_values(y, full, plan.normalize, near, base)
        return x, np.ascontiguousarray(y), *times

    def explain(self, start, end):
        """Return the `Explanation` of the candidate [start, end)."""
        m = self.plan.m
        alone = self.aligns_parts
        path = scaled_path(np.tile(np.arange(m), (2, 1)), m, start, end) if alone else self.path(start, end)
        cost = _costs(self, start, end)
        first = self.first  # with smaller numbers, fewer digits are lost
        pace = start - first + path[0] * ((end - start - 1) / max(m - 1, 1))
        met = np.bincount(path[0], minlength=m)
        late = np.bincount(path[0], path[1] - first - pace, minlength=m)
        lag = np.divide(late, met, out=np.full(m, np.nan), where=met > 0)
        return Explanation(path, cost, lag, *ratios(path, m, end - start))


def neighbors(start, m, apart):
    """Yield groups of windows (as indices) to compute together; neighboring starts differ by at most `apart`."""
    if not len(start):
        return
    order = np.argsort(start, kind="stable")
    for run in np.split(order, np.flatnonzero(np.diff(start[order]) > apart) + 1):
        stop_if_unwanted()  # because there may be tens of thousands of groups
        part = (start[run] - start[run[:1]]) // max(MOST_TERMS // m, 1)
        yield from np.split(run, np.flatnonzero(np.diff(part)) + 1)


def percentile_of(distance, percentile, exact=None, slack=0.0):
    """Return a percentile of the finite distances; infinite if no distance is finite.

    If distances have a relative error of up to `slack`, `exact` recomputes those that may be the percentile, by their
    indices.
    """
    which = np.flatnonzero(np.isfinite(distance))
    if not len(which):
        return np.inf
    values = distance[which]
    if slack:
        # The exact percentile is within the error of the computed one; so is each value that it is interpolated from.
        low, high = (np.percentile(values, percentile, method=side) for side in ("lower", "higher"))
        near = (values >= low * (1.0 - 3.0 * slack)) & (values <= high * (1.0 + 3.0 * slack))
        values[near] = exact(which[near])
    return float(np.percentile(values, percentile))


def choose(reader, candidates, choice):
    """Choose matches from candidates; the `reader` computes exact distances of ranges.

    Return, in the order of choice: starts, ends, the distance that each was chosen by, the distance that is reported,
    and the version of the query that each is nearest to, from 0 (ties: the first).
    """
    distance, start, end, slack = candidates
    exact = lambda which: reader.distances(start[which], end[which])  # noqa: E731
    n_matches, threshold, max_overlap, percentile, _ = choice
    if percentile is not None:
        threshold = percentile_of(distance, percentile, exact, slack)
    rule = {"n_matches": n_matches, "threshold": threshold, "max_overlap": max_overlap}
    if slack:
        chosen, by = select_exactly(distance, start, end, exact, slack, **rule)
        reported = by
    else:
        chosen = select(distance, start, end, **rule)
        by = reported = distance[chosen]
        if reader.plan.mode == "subsequence" and reader.plan.metric._depends_on_start:
            reported = exact(chosen)
    ranges = start[chosen], end[chosen]
    return *ranges, by, reported, reader.versions(*ranges)


# --------------------------------------------------------------------------------------------- incremental profiles
ENDLESS = 2**62


NONE = Candidates(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
FEW = block_size(32, 2)  # with fewer samples, the scalar driver is faster
LEAST_HELD = 1024  # samples that are held before any are forgotten


class State(NamedTuple):
    """State of a profile at a sample: everything that later candidates depend on, except for samples."""

    seen: int  # number of samples seen
    at: int  # known candidates end at or before this sample; for windows: start of the next one
    since: int  # first sample that is still needed
    costs: np.ndarray | None = None  # column of costs; None for windows
    starts: np.ndarray | None = None


class LastSamples:
    """The last samples of a sequence that arrives in chunks, from sample `first` on."""

    def __init__(self, plan, first=0):
        self.plan = plan
        self._y = Buffer((len(plan.x),), first=first)  # (n, channels)
        self._ty = Buffer(first=first) if plan.reads_times else None
        self._full = LEAST_HELD

    @property
    def first(self):
        """First sample that is held."""
        return self._y.first

    @property
    def seen(self):
        """Number of samples that have arrived."""
        return self._y.end

    @property
    def is_full(self):
        """Whether enough samples are held to make it worth forgetting some."""
        return self.seen - self.first >= self._full

    def append(self, y, ty=None):
        """Append the next samples."""
        self._y.append(y.T)
        if self._ty is not None:
            self._ty.append(ty)

    def runs(self, plan, begin):
        """Return the ranges without a missing value and without a time gap among the samples from `begin` on.

        Only the first range may start before `begin`; it then continues the run that ended there.
        """
        if not (plan.gaps or plan.max_gap is not None):
            return [(max(begin - 1, 0), self.seen)]
        back = max(begin - 1, self.first)
        found = plan.runs(*self.cut(back, self.seen)) + back
        return found[found[:, 1] > begin]

    def extent(self, start):
        """Return the half-open range of samples that are held."""
        return self.first, self.seen

    def cut(self, start, end):
        """Return the samples and times of [start, end), in memory that may be reused."""
        y = self._y.cut(start, end).T
        return y if y.flags.c_contiguous else y.copy(), None if self._ty is None else self._ty.cut(start, end)

    def forget(self, before):
        """Drop the samples before `before`, except those that are still needed."""
        self._y.forget(min(before, self.needed))
        if self._ty is not None:
            self._ty.forget(self._y.first)
        self._full = 2 * (self.seen - self.first) + LEAST_HELD

    def shrink(self):
        """Release spare memory."""
        for buffer in (self._y, self._ty):
            if buffer is not None:
                buffer.shrink()

    @property
    def needed(self):
        """First sample that `forget` must keep."""
        return self.seen


class IncrementalProfile(LastSamples):
    """Base class of profiles computed chunk by chunk; a `rule` may leave out candidates that it cannot choose."""

    short = long = 1  # lengths of the shortest and the longest candidate to come

    def __init__(self, plan, rule=None, first=0):
        super().__init__(plan, first)
        self.rule, self.at = rule, first  # at: number of finished samples, or of finished starts of windows

    def state(self):
        """Return the state that later candidates depend on."""
        return State(self.seen, self.at, self.needed)

    def agrees(self, state, limit):
        """Return whether later candidates are the same as from another state."""
        return self.state() == state

    def due(self, end):
        """Return how many samples are needed before no later candidate can start before `end`."""
        return min(end, self.at + self.short) + self.long + self.plan.reach - 1

    def drop(self, before):
        """Discard unfinished candidates that start before a sample."""


class WindowProfile(IncrementalProfile):
    """Incremental profile of windows of the query's length, or of several lengths."""

    def __init__(self, plan, rule=None, first=0):
        super().__init__(plan, rule, first)
        self.short, self.long = plan.shortest, plan.longest

    @property
    def needed(self):
        return max(self.at - self.plan.reach, 0)

    def horizon(self, threshold=None):
        """Return the sample before which no later candidate starts."""
        return self.at

    def candidates(self, last=False):
        """Return the candidates that are complete.

        A start is complete once the samples of its longest window, and those that this window depends on, have arrived.
        """
        begin, reach = self.at, self.plan.reach
        end = self.seen - (self.short if last else self.long + reach) + 1
        if end <= begin:
            return NONE
        first = max(self.needed, self.first)
        samples, self.at = self.cut(first, self.seen), end
        profile = window_profile(self.plan, *samples, self.rule)
        return profile._candidates.part(slice(begin - first, end - first), first)


class RangeProfile(IncrementalProfile):
    """Incremental profile of subsequences that are each normalized by themselves.

    A candidate depends only on the samples before its end, up to the length of the longest one, so there is no other
    state.
    """

    def __init__(self, plan, rule=None, first=0):
        super().__init__(plan, rule, first)
        self.long, self._old = plan.range_lengths[1], first  # old: no further candidate starts before this sample

    @property
    def needed(self):
        return max(self.at + 1 - self.long, self._old)

    def horizon(self, threshold=None):
        """Return the sample before which no later candidate starts."""
        return self.needed

    def candidates(self, last=False):
        """Return the candidates that are complete."""
        back, at = self.needed, self.at
        if at == self.seen:
            return NONE
        self.at = self.seen
        found = range_profile(self.plan, *self.cut(back, self.seen), self.rule, at - back)
        return Candidates(found.distance, np.where(found.start < 0, -1, found.start + back), np.arange(at, self.at) + 1)

    def drop(self, before):
        """Discard candidates that start before a sample."""
        self._old = max(self._old, before)


class SubsequenceProfile(IncrementalProfile):
    """Incremental profile of subsequences: one column of accumulated costs per version advances by samples."""

    def __init__(self, plan, rule=None, first=0):
        super().__init__(plan, rule, first)
        self.limits = plan.limits[0] or 1, plan.limits[1] or ENDLESS
        self.context = max(plan.reach, 1)  # samples before the next one that are read again
        self.noted = first  # samples checked for missing values
        self._versions, self._prepared = plan.versions, None
        self._old = first  # no unfinished path starts before this sample
        self._looks_back = plan.tx is not None or plan.metric._looks_back
        self._begin(first)

    def _begin(self, at):
        """Restart at a sample, as at the start of a sequence."""
        self.at = self.run = at  # number of finished samples; start of the current stretch without a gap
        self.columns = None  # costs and starts of each version

    @property
    def needed(self):
        back = max(self.at - self.context, self.run)
        return min(back, self._oldest(np.inf)) if self.columns is not None and self._looks_back else back

    def state(self):
        """Return the state that later candidates depend on."""
        column = (None, None)
        if self.columns is not None:
            column = [np.array(each if len(each) > 1 else each[0]) for each in zip(*self.columns, strict=True)]
        return State(self.seen, self.at, max(self.at - self.context, self.run), *column)

    def agrees(self, state, limit):
        """Return whether later candidates within the limit are the same, to the bit, as from another state."""
        own = self.state()
        if own[:3] != state[:3] or (own.costs is None) != (state.costs is None):
            return False
        if own.costs is None:
            return True
        # The first cell is the boundary, which is the same at all samples.
        costs, others = own.costs[..., 1:], state.costs[..., 1:]
        same = (costs == others) & ((own.starts[..., 1:] == state.starts[..., 1:]) | (costs == np.inf))
        if limit < np.inf and self.plan.metric._is_monotone:  # costs above the limit lead to no candidate
            same |= (self._reported(costs) > limit) & (self._reported(others) > limit)
        return bool(same.all())

    def _reported(self, costs):
        return self.plan.metric._match_distance_of_cost(costs, self._prepared.problems[0])

    def _oldest(self, limit):
        """Return the earliest start of an unfinished path with a finite cost of at most `limit`."""
        oldest = self.at
        for costs, starts in self.columns:
            reported = costs[1:] if limit == np.inf else self._reported(costs[1:])
            oldest = min(oldest, oldest_start(costs[1:], reported, starts[1:], limit))
        return oldest

    def horizon(self, threshold=np.inf):
        """Return the sample before which no later candidate within the threshold starts.

        Costs never fall along a path if the metric is monotone, so paths above the threshold do not count.
        """
        if self.columns is None:
            return self.at
        return self._oldest(threshold if self.plan.metric._is_monotone else np.inf)

    def due(self, end):
        """Return how many samples are needed before no later candidate can start before `end`.

        The path of a new candidate remains unfinished until one more sample arrives.
        """
        return self.seen + (2 if end == ENDLESS else 1)

    def candidates(self, last=False):
        """Return the candidates that are complete."""
        begin, self.noted = self.noted, self.seen
        found, done = [], begin
        for a, b in [*self.runs(self.plan, begin), (self.seen, self.seen)]:
            if a >= begin and done < b:  # after missing values or a time gap the sequence restarts
                found.append(self._advance(done, True))
                self._begin(int(a))
            if a < b:
                found.append(self._advance(int(b), last or b < self.seen))
                done = int(b)
        if last and begin == self.seen:
            found.append(self._advance(self.seen, True))
        found = [part for part in found if part is not None]
        if len(found) < 2:
            return found[0] if found else NONE
        return Candidates(*(np.concatenate(columns) for columns in zip(*(part.columns for part in found), strict=True)))

    def _advance(self, end, last):
        """Return the candidates that end up to sample `end`.

        Candidates whose features need later samples wait, unless `end` is the `last` sample.
        """
        upto = end if last else end - self.plan.reach
        if upto <= self.at:
            return None
        back = self.needed
        y, ty = self.cut(back, end)
        if self._prepared is None or self._prepared.size < y.shape[1]:
            self._prepared = PreparedQueries(self._versions, y)
            self._kernels = [self.plan.metric._subsequence_kernel(p, FEW - 1) for p in self._prepared.problems]
        prepared, series, metric = self._prepared, self._prepared.series(y), self.plan.metric
        if self.columns is None:
            self.columns = [metric._start_column(problem) for problem in prepared.problems]
            for _, starts in self.columns:
                starts += np.where(starts < 0, -self.at, self.at)  # a start of ~sample is -sample - 1
        ends, profiles = From(self.at + 1), []
        ty, at = self.plan.compared(ty), (self.at - back, self.at)
        for k, (problem, column) in enumerate(zip(prepared.problems, self.columns, strict=True)):
            if self._looks_back:  # cells without a path may hold an outdated start
                column[1][1:][~np.isfinite(column[0][1:])] = self.at if closed_boundary(problem.record) else ~self.at
            count = upto - self.at
            d, s = np.empty(count), np.empty(count, np.int64)
            y = series[k % len(series)]
            self._kernels[k].advance(problem._replace(y=y, ty=ty), at, self.limits, column, (d, s))
            if metric._has_factor:
                d = metric._scaled_candidates(d, problem.x, y, s - back, np.arange(self.at + 1, upto + 1) - back)
            profiles.append(Profile(metric._match_distance_of_cost(d, problem), s))
        self.at = upto
        nearest = reduce(Profile._or_nearer, profiles)
        return Candidates(nearest.distance, nearest.start, ends)

    def drop(self, before):
        """Discard unfinished paths that start before a sample."""
        if self.columns is not None and self._old < before:
            for costs, starts in self.columns:
                costs[1:][np.where(starts[1:] >= 0, starts[1:], ~starts[1:]) < before] = np.inf
            self._old = self._oldest(np.inf)


class PreparedQueries:
    """Queries as kernels read them, prepared once for chunks of up to `size` samples."""

    def __init__(self, queries, y):
        self.queries = queries
        self._local = getattr(queries[0].metric, "dist", None) is not None  # the metric is a caller's local cost
        self.size = ENDLESS if self._local else 2 * y.shape[1]
        y = y if self._local else np.zeros((len(y), self.size))
        ty = None if queries[0].tx is None else np.zeros(y.shape[1])
        problems = [plan.problem(y, ty) for plan in queries]
        self.problems = [p._replace(y=p.y[:1] if p.x is None else p.y[:, :1], ty=None) for p in problems]

    def series(self, y):
        """Return the series that the kernel compares: features of samples, or local costs for each query."""
        if self._local:
            return [plan._replace(tx=None).problem(y).y for plan in self.queries]
        return [self.queries[0].metric._features(y)]

"""The search for one query in one sequence, the choice of matches, and the fit of a match to its query.

Query x sequence -> profile -> matches: windows of the query's length, or subsequences of any length. Profiles chunk by
chunk: a sequence goes in, and candidates come out as soon as they are known.
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
    """Cost of a match, point by point, and its alignment in time; see `Matches.explain`.

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
        How many samples later than at an even pace each query point is aligned, on average; NaN without a partner.
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
    if search.aligns_parts:  # each along its own alignment
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
    # What lies between two listed pairs counts at the second of them, what lies behind the last at the last.
    total = costs[path[1], path[0]] if path.size else np.empty(0)
    rise = np.diff(total, prepend=0.0)
    if path.size:
        rise[-1] += costs[-1, -1] - total[-1]
    apart = x[:, path[0]] - y[:, path[1]]
    apart = w[:, path[0]] * np.ldexp(apart, -np.frexp(np.abs(apart).max(initial=0.0))[1]) ** 2  # no square overflows
    summed = apart.sum(axis=0)
    share = np.divide(apart, summed, out=np.full_like(apart, 1.0 / len(x)), where=summed > 0)
    np.add.at(cost, (slice(None), path[0]), share * rise)
    return cost.T


def window_profile(plan, y, ty, rule=None, *, exactly=False, room=None):
    """Return the profile of all windows.

    With `lengths` each start counts with the length that fits best (ties: the shortest). With a `rule` windows that it
    cannot choose may be left out. Only distances computed `exactly` have no slack. Where there is `room`, a profile by
    Fourier transforms may be in it.
    """
    if plan.alternatives:
        best = None
        for one in plan.versions:
            found = window_profile(one, y, ty, rule, exactly=exactly, room=room if best is None else None)
            best = found if best is None else best._or_nearer(found)
            if best._start is not None:  # what is farther cannot be chosen beside those so far
                rule = rule.below(rule.bound(best.distance, best.start, best.end))
        return best
    if plan.by_channel is not None:
        exactly = exactly or plan.metric._may_be_negative  # an error of a summand may be any share of the sum
        distance, slack = channel_profile(plan, y, ty, partial(window_profile, exactly=exactly), exactly=exactly)
        return Profile(distance, None, plan.m, slack)
    # A sum is not finite if one of its terms is not; what overflows is looked at term by term.
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
    """Return the path of a window that was resampled to m points, in the nearest samples of the sequence."""
    left, share = places(end - start, m)
    nearest = left + (share >= 0.5)
    return np.array([path[0], start + nearest[path[1]]])


MOST_TERMS = 2**19  # of windows that are computed together


class Search:
    """Search of a sequence, or of a stretch of one from sample `first` on, for a query; positions are in the sequence.

    A query with alternatives has a profile and a nearest candidate alone; all else is of one version of it.
    """

    def __init__(self, plan, y, ty=None, first=0):
        if ty is None and plan.tx is not None:
            plan = plan.untimed
        elif ty is not None and not plan.reads_times:
            ty = None
        self.plan, self.y, self.ty, self.first = plan, y, ty, first
        self.runs = ()  # subsequence searches: where the stretches without a gap begin, and these prepared
        if plan.mode == "windows":
            check_room(plan.shortest, y.shape[1])
        elif not (plan.alternatives or plan.by_range):
            self.runs = tuple((first + int(a), plan.problem(*self._cut(a, b))) for a, b in plan.runs(y, self.ty))

    @classmethod
    def of(cls, plan, y, ty=None):
        """Return a search after a check that the metric is defined for query and sequence."""
        check_domain(plan.metric, plan.x, "The query", plan.normalize)
        check_domain(plan.metric, y, "The sequence", plan.normalize)
        return cls(plan, y, ty)

    def _cut(self, start, end):
        """Return the samples [start, end) of the stretch and their times."""
        return np.ascontiguousarray(self.y[:, start:end]), None if self.ty is None else self.ty[start:end]

    def profile(self, rule=None):
        """Return distance and range of every candidate; a `rule` may leave out candidates that it cannot choose."""
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
        """Return the exact distances of candidates; by windows all windows of the stretch are computed together."""
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

        All of the stretch is a candidate, too, if its length is allowed. Of the candidates that end at a sample the
        profile knows only the best, which may be too short or too long.
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
        """Whether candidates are compared from end to end, also by a metric whose ends are free."""
        return self.plan.mode == "subsequence" and not self.plan.by_range

    def shares(self, start):
        """Return the `Shares` of channels in candidates, where channels are compared by themselves."""
        exact = partial(window_profile, exactly=True)
        return shares_of(self.plan, self.y, self.ty, start - self.first, exact)

    def centered(self, start):
        """Return the best start at the given lags, of starts at equal distance up to the tolerance of lags later."""
        by, first = self.plan.by_channel, start - self.first
        some = slice(first, first + by.tolerance + 1)
        distance, at_lags = (
            window_profile(plan, self.y, self.ty, exactly=True).distance[some]
            for plan in (self.plan, self.plan._replace(by_channel=by._replace(tolerance=0)))
        )
        return start + int(np.argmin(np.where(distance == distance[0], at_lags, np.inf)))

    def run(self, start):
        """Return the stretch without gaps that holds a sample."""
        return self.runs[bisect_right(self.runs, start, key=lambda run: run[0]) - 1]

    def piece(self, start, end, shown=None):
        """Return the query and [start, end) of the sequence as kernels read them, in a subsequence search.

        Of the query only the points that are `shown` are returned.
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
        """Yield the windows of the channels that take part in a candidate, if channels are compared by themselves.

        They are the channel's part, the search of the channel alone, with its sign, the start of the window, its
        distance without weight, and whether that is in the sum.
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
        """Whether each part of the metric aligns its channels by itself."""
        plan = self.plan
        return isinstance(plan.metric, Mixed) and plan.by_channel is None and not plan.metric._has_path

    @property
    def parts(self):
        """The parts of the metric that count something, each with a search of its channels."""
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
                if part.channel == channel:  # which has no pairs if it is infinitely far
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
            f"counts something. These are {sorted(counted)}. Got {channel}."
        )

    def path(self, start, end, shown=None):
        """Return the alignment of the query, or its points `shown`, with [start, end), in indices of whole series."""
        metric, m = self.plan.metric, self.plan.m
        if not metric._has_path and self.plan.by_channel is None:
            return metric._path(None)  # an error that says why
        if self.plan.mode == "subsequence":
            path = metric._path(self.piece(start, end, shown), whole=self.whole)
            return path + np.array([[0 if shown is None else shown[0]], [start]])
        path = np.tile(np.arange(m), (2, 1))
        if isinstance(metric, ElasticMetric) and self.plan.by_channel is None:
            x, y, *times = self.window(start, end)
            path = metric._distance(x, self.plan.w, y, *times).path
        return scaled_path(path, m, start, end)

    def window(self, start, end):
        """Return the query and the window [start, end) as they are compared, and the times of both."""
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
        first = self.first  # small numbers have more digits behind the point
        pace = start - first + path[0] * ((end - start - 1) / max(m - 1, 1))
        met = np.bincount(path[0], minlength=m)
        late = np.bincount(path[0], path[1] - first - pace, minlength=m)
        lag = np.divide(late, met, out=np.full(m, np.nan), where=met > 0)
        return Explanation(path, cost, lag, *ratios(path, m, end - start))


def neighbors(start, m, apart):
    """Yield the indices of windows of m samples in groups to compute together; steps in a group are at most `apart`."""
    if not len(start):
        return
    order = np.argsort(start, kind="stable")
    for run in np.split(order, np.flatnonzero(np.diff(start[order]) > apart) + 1):
        stop_if_unwanted()  # there may be tens of thousands
        part = (start[run] - start[run[:1]]) // max(MOST_TERMS // m, 1)
        yield from np.split(run, np.flatnonzero(np.diff(part)) + 1)


def percentile_of(distance, percentile, exact=None, slack=0.0):
    """Return a percentile of the finite distances; infinity if no distance is finite.

    Where distances have a relative error of up to `slack`, those that may be the percentile are computed exactly, by
    their numbers.
    """
    which = np.flatnonzero(np.isfinite(distance))
    if not len(which):
        return np.inf
    values = distance[which]
    if slack:
        # The exact percentile lies within the error of the one found, and so does each value of what it came out as.
        low, high = (np.percentile(values, percentile, method=side) for side in ("lower", "higher"))
        near = (values >= low * (1.0 - 3.0 * slack)) & (values <= high * (1.0 + 3.0 * slack))
        values[near] = exact(which[near])
    return float(np.percentile(values, percentile))


def choose(reader, candidates, choice):
    """Choose matches from candidates; the `reader` knows the exact distance of a range.

    Return, in the order of their choice, their starts, ends, the distance each was chosen by, the one that is reported,
    and the version of the query that each is nearest to (ties: the first), from 0.
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


# ---------------------------------------------------------------------------------------------- profiles chunk by chunk
ENDLESS = 2**62


NONE = Candidates(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
FEW = block_size(32, 2)  # samples: fewer are faster column by column
LEAST_HELD = 1024  # samples that are held before any is forgotten


class State(NamedTuple):
    """State of a profile at a sample: all that later candidates depend on, except samples."""

    seen: int  # samples there were
    at: int  # known candidates end at or before this sample; of windows: the next one starts there
    since: int  # where what is still looked at begins
    costs: np.ndarray | None = None  # of a column, and where its paths start; None: no window needs any
    starts: np.ndarray | None = None


class LastSamples:
    """The last samples of a sequence that comes in chunks; samples before the `first` are as if there were none."""

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
        """The number of samples of the sequence up to now."""
        return self._y.end

    @property
    def is_full(self):
        """Whether enough samples are held to make it worth looking for those that are not needed any more."""
        return self.seen - self.first >= self._full

    def append(self, y, ty=None):
        """Add the next samples."""
        self._y.append(y.T)
        if self._ty is not None:
            self._ty.append(ty)

    def runs(self, plan, begin):
        """Return the ranges of the samples from `begin` on without a missing value and without a gap in time.

        Only the first range may start before `begin`: then it continues the run that ended there. Otherwise all are
        new.
        """
        if not (plan.gaps or plan.max_gap is not None):
            return [(max(begin - 1, 0), self.seen)]
        back = max(begin - 1, self.first)
        found = plan.runs(*self.cut(back, self.seen)) + back
        return found[found[:, 1] > begin]

    def extent(self, start):
        """Return the half-open range of the samples that are held."""
        return self.first, self.seen

    def cut(self, start, end):
        """Return the samples and times of [start, end), in memory that may be used again."""
        y = self._y.cut(start, end).T
        return y if y.flags.c_contiguous else y.copy(), None if self._ty is None else self._ty.cut(start, end)

    def forget(self, before):
        """Drop the samples before `before` that are not needed any more."""
        self._y.forget(min(before, self.needed))
        if self._ty is not None:
            self._ty.forget(self._y.first)
        self._full = 2 * (self.seen - self.first) + LEAST_HELD

    def shrink(self):
        """Hold no more memory than the samples take."""
        for buffer in (self._y, self._ty):
            if buffer is not None:
                buffer.shrink()

    @property
    def needed(self):
        """The first sample that is needed whatever the caller forgets."""
        return self.seen


class IncrementalProfile(LastSamples):
    """Base class of profiles that are computed chunk by chunk; a `rule` may leave out candidates it cannot choose."""

    short = long = 1  # the lengths of the shortest and the longest candidate to come

    def __init__(self, plan, rule=None, first=0):
        super().__init__(plan, first)
        self.rule, self.at = rule, first  # at: samples, or starts of windows, that are done

    def state(self):
        """Return the state that later candidates depend on."""
        return State(self.seen, self.at, self.needed)

    def agrees(self, state, limit):
        """Return whether later candidates are those that follow from another state."""
        return self.state() == state

    def due(self, end):
        """Return the number of samples that bring the horizon to the `end` of a candidate, or of one to come."""
        return min(end, self.at + self.short) + self.long + self.plan.reach - 1

    def drop(self, before):
        """Discard candidates that started before a sample and are not complete."""


class WindowProfile(IncrementalProfile):
    """Profile of windows of the query's length, or of several lengths."""

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
        """Return the candidates that the samples complete.

        Each start waits for its longest window and the samples which that depends on.
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
    """Profile of subsequences that are normalized each by itself.

    A candidate depends on no more samples before its end than the longest candidate has, so no state is carried.
    """

    def __init__(self, plan, rule=None, first=0):
        super().__init__(plan, rule, first)
        self.long, self._old = plan.range_lengths[1], first  # old: no candidate to come begins before this sample

    @property
    def needed(self):
        return max(self.at + 1 - self.long, self._old)

    def horizon(self, threshold=None):
        """Return the sample before which no later candidate starts."""
        return self.needed

    def candidates(self, last=False):
        """Return the candidates that the samples complete."""
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
    """Profile of subsequences: a column of accumulated costs for each version advances along the sequence."""

    def __init__(self, plan, rule=None, first=0):
        super().__init__(plan, rule, first)
        self.limits = plan.limits[0] or 1, plan.limits[1] or ENDLESS
        self.context = max(plan.reach, 1)  # samples before the next one that are looked at again
        self.noted = first  # samples that are known to be missing or not
        self._versions, self._prepared = plan.versions, None
        self._old = first  # no path on its way begins before this sample
        self._looks_back = plan.tx is not None or plan.metric._looks_back
        self._begin(first)

    def _begin(self, at):
        """Start again at a sample, as at the start of the sequence."""
        self.at = self.run = at  # samples done; where the present stretch without a gap begins
        self.columns = None  # costs and starts, of each version

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
        """Return whether later candidates within a distance are those that follow from another state, to the bit."""
        own = self.state()
        if own[:3] != state[:3] or (own.costs is None) != (state.costs is None):
            return False
        if own.costs is None:
            return True
        # The first cell is the boundary, the same at all samples.
        costs, others = own.costs[..., 1:], state.costs[..., 1:]
        same = (costs == others) & ((own.starts[..., 1:] == state.starts[..., 1:]) | (costs == np.inf))
        if limit < np.inf and self.plan.metric._is_monotone:  # what costs more now comes to no candidate
            same |= (self._reported(costs) > limit) & (self._reported(others) > limit)
        return bool(same.all())

    def _reported(self, costs):
        return self.plan.metric._match_distance_of_cost(costs, self._prepared.problems[0])

    def _oldest(self, limit):
        """Return the first start of an unfinished path with a finite cost of at most `limit`."""
        oldest = self.at
        for costs, starts in self.columns:
            reported = costs[1:] if limit == np.inf else self._reported(costs[1:])
            oldest = min(oldest, oldest_start(costs[1:], reported, starts[1:], limit))
        return oldest

    def horizon(self, threshold=np.inf):
        """Return the sample before which no later candidate of at most the threshold starts.

        Costs can only grow, so paths above the threshold do not count.
        """
        if self.columns is None:
            return self.at
        return self._oldest(threshold if self.plan.metric._is_monotone else np.inf)

    def due(self, end):
        """Return the number of samples that bring the horizon to the `end` of a candidate, or of one to come.

        The path of a new candidate is itself unfinished until a sample comes after it.
        """
        return self.seen + (2 if end == ENDLESS else 1)

    def candidates(self, last=False):
        """Return the candidates that the samples complete."""
        begin, self.noted = self.noted, self.seen
        found, done = [], begin
        for a, b in [*self.runs(self.plan, begin), (self.seen, self.seen)]:
            if a >= begin and done < b:  # missing values or a gap in time, behind which the sequence starts again
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
        """Return the candidates with ends up to sample `end`.

        Candidates whose features need later samples wait, unless `end` is the `last`.
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
                starts += np.where(starts < 0, -self.at, self.at)  # ~sample is -sample - 1
        ends, profiles = From(self.at + 1), []
        ty, at = self.plan.compared(ty), (self.at - back, self.at)
        for k, (problem, column) in enumerate(zip(prepared.problems, self.columns, strict=True)):
            if self._looks_back:  # cells without a path may hold a start of long ago
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
        """Discard paths that started before a sample."""
        if self.columns is not None and self._old < before:
            for costs, starts in self.columns:
                costs[1:][np.where(starts[1:] >= 0, starts[1:], ~starts[1:]) < before] = np.inf
            self._old = self._oldest(np.inf)


class PreparedQueries:
    """Queries as kernels read them chunk by chunk, made once for up to `size` samples at a time."""

    def __init__(self, queries, y):
        self.queries = queries
        self._local = getattr(queries[0].metric, "dist", None) is not None  # the kernel takes the caller's local costs
        self.size = ENDLESS if self._local else 2 * y.shape[1]
        y = y if self._local else np.zeros((len(y), self.size))
        ty = None if queries[0].tx is None else np.zeros(y.shape[1])
        problems = [plan.problem(y, ty) for plan in queries]
        self.problems = [p._replace(y=p.y[:1] if p.x is None else p.y[:, :1], ty=None) for p in problems]

    def series(self, y):
        """Return the series that the kernel compares: features of samples, or local costs with each query."""
        if self._local:
            return [plan._replace(tx=None).problem(y).y for plan in self.queries]
        return [self.queries[0].metric._features(y)]

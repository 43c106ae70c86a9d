"""The search for one query in one sequence, the choice of matches, and the fit of a match to its query.

Query x sequence -> profile -> matches: windows of the query's length, or subsequences of any length.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np

from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.lockstep import LockstepMetric, ratios
from ..distances._metrics.mixed import Mixed
from ..distances._series import alike, base_of, full_weight, normalize_values, places, resample
from ._channels import channel_profile, parts_of, shares_of, signed
from ._engines import of_ranges, range_profile
from ._limits import allowed_lengths, limited_distances, observed_profile
from ._plan import check_domain, check_room
from ._pruning import near_windows, prunes
from ._selection import Profile, select, select_exactly


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
            distance = metric._profiles(x[np.newaxis], None if w is None else w[np.newaxis], y, plan.normalize, room)[0]
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
    """Return the matches among candidates in the order of choice; the `reader` knows the exact distance of a range.

    They are starts, ends, the distances that they were chosen by, those that are reported, and the version of the query
    that each is nearest to (ties: the first), from 0.
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

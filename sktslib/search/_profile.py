"""Query x sequence -> profile -> matches: windows of the query's length, or subsequences of any length."""

from bisect import bisect_right
from functools import reduce
from typing import NamedTuple

import numpy as np

from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.mixed import Mixed
from ..distances._series import alike, base_of, full_weight, normalize_values, places, resample
from ..utils._sizes import check_query
from ._channels.by_channel import Part, parts_of, signed
from ._comparison import check_lengths, check_reach, check_room
from ._explain import explain
from ._profiles.near_windows import Rule
from ._profiles.normalized_ranges import of_ranges, range_profile
from ._profiles.window_profile import scaled_path, window_profile, window_shares
from ._selection import Profile, select, select_exactly

MOST_TERMS = 2**19  # of windows that are computed together


class ChannelWindow(NamedTuple):
    """Where a channel that is compared by itself lies in a candidate."""

    part: Part
    search: "Search"  # of the channel alone, with its sign
    start: int
    distance: float  # unweighted
    votes: bool  # whether its distance is in the sum

    def path(self, first):
        """Alignment of the channel, whose query's first point has a number; without a pair if it is infinitely far."""
        path = self.search.path(self.start, self.start + self.part.how.m)
        return path[:, : path.shape[1] if np.isfinite(self.distance) else 0] + np.array([[first], [0]])


class Search:
    """One query and one sequence, or a stretch of one that begins at sample `first`, which positions count with.

    A query with alternatives has a profile and a nearest candidate alone; all else is of one version of it.
    """

    def __init__(self, how, y, ty=None, first=0):
        how = how.untimed if ty is None else how
        self.how, self.y, self.ty, self.first = how, y, ty if how.reads_times else None, first
        self.runs = ()  # subsequence searches: where the stretches without a gap begin, and these prepared
        if how.mode == "windows":
            check_room(how.shortest, y.shape[1])
        elif not (how.alternatives or how.by_range):
            self.runs = tuple((first + int(a), how.problem(*self._cut(a, b))) for a, b in how.runs(y, self.ty))

    @classmethod
    def of(cls, how, y, ty=None):
        """The same of values that are not known to be within reach of the metric."""
        check_reach(how.metric, how.x, "The query", how.normalize, check_query)
        check_reach(how.metric, y, "The sequence", how.normalize)
        return cls(how, y, ty)

    def _cut(self, start, end):
        """Samples [start, end) of the stretch and their times."""
        return np.ascontiguousarray(self.y[:, start:end]), None if self.ty is None else self.ty[start:end]

    def profile(self, rule=None):
        """Distance and range of every candidate; with a `rule` those that it cannot choose may be left out."""
        n, (shortest, longest), metric = self.y.shape[1], self.how.limits, self.how.metric
        if self.how.mode == "windows":
            check_lengths(self.how.m, shortest, longest)
            return window_profile(self.how, self.y, self.ty, rule)
        if self.how.by_range:
            return range_profile(self.how, self.y, self.ty, rule)
        if self.how.alternatives:
            profiles = (Search(one, self.y, self.ty, self.first).profile() for one in self.how.versions)
            return reduce(Profile._or_nearer, profiles)
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
        """Exact distances of candidates; of windows those of all windows of the stretch are computed together."""
        if self.how.mode == "windows":
            return window_profile(self.how, self.y, self.ty, exactly=True).distance[start - self.first]
        if self.how.by_range:
            return of_ranges(self.how, self.y, self.ty, start - self.first, end - self.first)
        out = np.empty(len(start))
        for k, (s, e) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
            first, problem = self.run(s)
            out[k] = self.how.metric._piece_distance(problem, s - first, e - first)
        return out

    def nearest(self):
        """Distance of the best candidate in the stretch, or of all of it, as long as it is allowed to be; or infinite.

        Of the candidates that end at a sample the profile knows the best alone, which may be too short or too long.
        """
        if self.how.alternatives:
            return min(Search(one, self.y, self.ty, self.first).nearest() for one in self.how.versions)
        values = self.profile().distance
        best = values[np.isfinite(values)].min(initial=np.inf)
        if len(self.runs) == 1:
            best = min(best, *self.distances(np.array([self.first]), np.array([self.first + self.y.shape[1]])))
        return float(best)

    @property
    def whole(self):
        """Whether candidates are compared from end to end, also by a metric whose ends are free."""
        return self.how.mode == "subsequence" and not self.how.by_range

    def shares(self, start):
        """What each channel has to do with candidates, where channels are compared by themselves."""
        return window_shares(self.how, self.y, self.ty, start - self.first)

    def centered(self, start):
        """Of the starts at the same distance, up to the tolerance of lags later, the one that is best without it."""
        by, first = self.how.by_channel, start - self.first
        some = slice(first, first + by.tolerance + 1)
        distance, at_lags = (
            window_profile(how, self.y, self.ty, exactly=True).distance[some]
            for how in (self.how, self.how._replace(by_channel=by._replace(tolerance=0)))
        )
        return start + int(np.argmin(np.where(distance == distance[0], at_lags, np.inf)))

    def run(self, start):
        """The gapless stretch that holds a sample."""
        return self.runs[bisect_right(self.runs, start, key=lambda run: run[0]) - 1]

    def piece(self, start, end, shown=None):
        """The query, or its points that are shown, and [start, end) of the sequence, in a subsequence search."""
        if self.how.by_range:
            x, y, *times = self.window(start, end)
            piece = self.how.metric._problem(x, self.how.w, y, *times)
        else:
            first, problem = self.run(start)
            piece = problem.piece(start - first, end - first)
        return piece if shown is None or shown[1] - shown[0] == self.how.m else piece.part(*shown)

    def cost(self, start, end, shown=None):
        """Accumulated cost of the query, or of a part of its points, and [start, end), in a subsequence search."""
        return self.how.metric._cost(self.piece(start, end, shown), whole=self.whole)

    def channel_windows(self, start):
        """The windows of the channels that take part in a candidate, where these are compared by themselves."""
        shares, by = self.shares(np.array([start])), self.how.by_channel
        for part in parts_of(self.how):
            c = part.channel
            y = np.ascontiguousarray(self.y[c : c + 1])
            own = Search(signed(part.how, shares.sign[0, c]), y, self.ty, self.first)
            at = start + part.lead + int(shares.lag[0, c] - by.lag[c])
            yield ChannelWindow(part, own, at, float(shares.distance[0, c]), bool(shares.votes[0, c]))

    @property
    def aligns_parts(self):
        """Whether each part of the metric aligns its channels by itself."""
        how = self.how
        return isinstance(how.metric, Mixed) and how.by_channel is None and not how.metric._has_path

    @property
    def parts(self):
        """These parts, each with a search of its channels; those that count something."""
        for part in self.how.metric._parts(len(self.how.x)):
            tx = self.how.tx if part.metric.uses_times else None
            one = self.how._replace(metric=part.metric, x=part.of(self.how.x), w=part.of(self.how.w), tx=tx)
            if one.w is None or one.w.any():
                yield part, Search(one, part.of(self.y), self.ty, self.first)

    def channel_path(self, start, end, channel):
        """Alignment of a channel with its window in [start, end), the query's points as they were given."""
        counted = []
        if self.how.by_channel is not None:
            for window in self.channel_windows(start):
                c = window.part.channel
                if c == channel:
                    return window.path(self.how.by_channel.first[c])
                counted.append(c)
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
        """Alignment of the query, or of a part of its points, with [start, end); indices into both as a whole."""
        metric, m = self.how.metric, self.how.m
        if not metric._has_path and self.how.by_channel is None:
            return metric._path(None)  # an error that says why
        if self.how.mode == "subsequence":
            path = metric._path(self.piece(start, end, shown), whole=self.whole)
            return path + np.array([[0 if shown is None else shown[0]], [start]])
        path = np.tile(np.arange(m), (2, 1))
        if isinstance(metric, ElasticMetric) and self.how.by_channel is None:
            x, y, *times = self.window(start, end)
            path = metric._distance(x, self.how.w, y, *times).path
        return scaled_path(path, m, start, end)

    def window(self, start, end):
        """The query and the window [start, end) as they are compared, and the times of both."""
        how, m, full = self.how, self.how.m, full_weight(self.how.w, self.how.x)
        y, ty = self._cut(start - self.first, end - self.first)
        ty = how.compared(ty)
        near = base = 0.0
        if how.lengths is not None:
            near = 0.0 if how.normalize is None else alike(end - start, m)
            if near:
                base = base_of(y, np.zeros(1, int), places(end - start, m)[0], full)
            y, ty = resample(y, m, base), None if ty is None else resample(ty[np.newaxis], m)[0]
        times = (None, None) if ty is None else (how.tx - how.tx[0], ty - ty[0])
        full = np.ones_like(y) if how.by_range else full
        x, y = how.compared_query, normalize_values(y, full, how.normalize, near, base)
        return x, np.ascontiguousarray(y), *times

    def explain(self, start, end):
        """What the candidate [start, end) costs at each point."""
        return explain(self, start, end)


def neighbors(start, m, apart):
    """Indices of windows of m samples that are better computed together, in groups: none further than `apart`."""
    if not len(start):
        return
    order = np.argsort(start, kind="stable")
    for run in np.split(order, np.flatnonzero(np.diff(start[order]) > apart) + 1):
        part = (start[run] - start[run[:1]]) // max(MOST_TERMS // m, 1)
        yield from np.split(run, np.flatnonzero(np.diff(part)) + 1)


class Choice(NamedTuple):
    """How matches are chosen from candidates."""

    n_matches: int | None = None
    threshold: float | None = None
    max_overlap: float = 0.0
    percentile: float | None = None  # of the distances, instead of a threshold

    @property
    def needs_all(self):
        """Whether no candidate is known beforehand to be none: a percentile is one of all distances."""
        return self.percentile is not None or (self.n_matches is None and self.threshold is None)

    @property
    def rule(self):
        """What the choice is known to leave out; None where it needs the whole profile."""
        return Rule(*self[:3]) if self.percentile is None else None


def percentile_of(distance, percentile, exact=None, slack=0.0):
    """A percentile of the finite distances; infinite where there are none.

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


class Chosen(NamedTuple):
    """Matches in the order of their choice."""

    start: np.ndarray
    end: np.ndarray
    by: np.ndarray  # the distance each was chosen by
    distance: np.ndarray  # the one that is reported
    version: np.ndarray  # the version of the query that each is nearest to (ties: the first), from 0


def choose(reader, candidates, choice):
    """What is chosen of candidates; the `reader` knows the exact distance of a range."""
    distance, start, end, slack = candidates
    exact = lambda which: reader.distances(start[which], end[which])  # noqa: E731
    n_matches, threshold, max_overlap, percentile = choice
    if percentile is not None:
        threshold = percentile_of(distance, percentile, exact, slack)
    rule = {"n_matches": n_matches, "threshold": threshold, "max_overlap": max_overlap}
    if slack:
        chosen, by = select_exactly(distance, start, end, exact, slack, **rule)
        reported = by
    else:
        chosen = select(distance, start, end, **rule)
        by = reported = distance[chosen]
        if reader.how.mode == "subsequence" and reader.how.metric._depends_on_start:
            reported = exact(chosen)
    ranges = start[chosen], end[chosen]
    return Chosen(*ranges, by, reported, reader.versions(*ranges))

"""Profiles chunk by chunk: a sequence goes in, and candidates come out as soon as they are known.

A pool holds the candidates of a query until they are decided. Candidates that overlap each other, at one remove or
more, are a group. A group that nothing unknown can overlap is decided: its matches are chosen as if it were alone. Of
the best k no more is kept than comes before a limit in the order of choice (distance, then place), which falls. It is
never too low: let G be candidates that fit together, the last of which in that order is g. Of the matches up to g each
one of G is one, or overlaps one. A known candidate overlaps q of them at most, and an unknown one those alone that lie
where it can. So, if there are more than q (k - 1) others, at least k matches come no later than g, and what comes later
is not among the best k.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np

from ..distances._kernels.compile import block_size
from ..distances._kernels.dispatch import closed_boundary
from ..distances._kernels.scalar import oldest_start
from ..distances._kernels.selection import all_free, near
from ..distances._kernels.simd import scratch
from ._chunks import Buffer
from ._engines import range_profile
from ._profile import choose, window_profile
from ._selection import Candidates, From, Profile, select

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
        self._y, self._ty = Buffer((len(plan.x),), first=first), Buffer(first=first) if plan.reads_times else None
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
        self._y.append(y)
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
        y = self._y.cut(start, end)
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
        room = scratch("profile", (self.seen - first,))  # used again, so copy what is to stay
        profile = window_profile(self.plan, *samples, self.rule, room=room)
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
        found, done, runs = [], begin, self.runs(self.plan, begin)
        for a, b in [*runs, (self.seen, self.seen)]:
            if a >= begin and done < b:  # missing values or a gap in time, behind which the sequence starts again
                found.append(self._advance(done, True))
                self._begin(int(a))
            if a < b:
                found.append(self._advance(int(b), last or b < self.seen, alone=len(runs) == 1))
                done = int(b)
        if last and begin == self.seen:
            found.append(self._advance(self.seen, True))
        found = [part for part in found if part is not None]
        if len(found) < 2:
            return found[0] if found else NONE
        return Candidates(*(np.concatenate(columns) for columns in zip(*(part.columns for part in found), strict=True)))

    def _advance(self, end, last, *, alone=False):
        """Return the candidates with ends up to sample `end`.

        Candidates whose features need later samples wait, unless `end` is the `last`. Candidates that are found `alone`
        are in memory that is used again.
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
            if alone:
                d, s = scratch(("distances", k), (count,)), scratch(("starts", k), (count,), np.int64)
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


# ------------------------------------------------------------------------------------------------ pools of candidates
ROOM = 1024  # candidates that wait, at least, before a look at what is decided


class Limit(NamedTuple):
    """The last distance and place, in the order of choice, that a match may have."""

    distance: float = np.inf
    place: int = ENDLESS


def _groups(rows):
    """Return candidates by their starts, where groups that overlap each other are cut apart, and where these end."""
    rows = rows[:, np.argsort(rows[1], kind="stable")]
    last = np.maximum.accumulate(rows[2])
    cuts = np.concatenate([[0], np.flatnonzero(rows[1, 1:] >= last[:-1]) + 1, [rows.shape[1]]])
    return rows, cuts, last[cuts[1:] - 1]


class MatchPool:
    """Candidates of a range that may be matches, and its matches as far as they are decided.

    Candidates are columns (distance, start, end), matches (chosen by, distance, version of the query, start, end).
    """

    def __init__(self, plan, choice):
        self.plan, self.choice = plan, choice
        self._is_best = choice.n_matches is not None
        self.of_one_length = plan.mode == "windows" and plan.lengths is None
        self.first_limit = self.limit = Limit(np.inf if choice.threshold is None else choice.threshold)
        self.edges = []  # samples about which candidates may turn out to be others; before the first nothing is known
        self.slack = 0.0
        self._open, self._new, self._count = np.empty((3, 0)), [], 0
        self._beside = []  # groups that are complete and reach over an edge
        self._decided = []
        self.reports = False  # whether matches are handed over as they are decided, and not joined with others
        self.first_end = ENDLESS  # no undecided group ends before this sample
        self._early = np.empty((2, 0), np.int64)  # ranges of matches that were decided early, with ascending starts

    def _place(self, rows):
        """Return the places of candidates or matches in a profile: of equal distances the first counts."""
        return rows[-1 if self.plan.mode == "subsequence" else -2]

    @property
    def ranges(self):
        """The half-open ranges (start, end) of the matches, and of groups at an edge."""
        return {*zip(*self._matches()[-2:].astype(int).tolist(), strict=True)} | {
            (int(rows[1].min()), int(rows[2].max())) for rows in self._beside
        }

    @property
    def begin(self):
        """The first sample of what is not decided; ENDLESS where there is nothing."""
        return min((int(rows[1].min()) for rows in (self._open, *self._new) if rows.size), default=ENDLESS)

    def mark(self, state):
        """Add a state that may be compared with that of the part before."""
        self.edges.append(state.at if self.plan.mode == "subsequence" else state.seen)

    def take(self, feed, found, reader):
        """Add the candidates that a profile gave last."""
        if self._is_best and self.of_one_length and self.limit == self.first_limit:
            self._begin_limit(found, feed)
        rows = self._near(found)
        if rows.size and self._early.size:
            rows = self._free(rows)
        if rows.size:
            self._new.append(rows)
            self._count += rows.shape[1]
            self.first_end = min(self.first_end, int(rows[2].min()))
        if self._count > max(ROOM, self._open.shape[1]):  # so that each is looked at a few times
            self.decide(feed, reader)

    def _near(self, found):
        """Return the candidates that may be matches, as rows (distance, start, end)."""
        distance, start, end, slack = found
        self.slack = max(self.slack, slack)
        which = near(distance, 1.0 - slack, self.limit.distance)
        return self._within(np.array([distance[which], start[which], end[which]]), self.slack)

    def _within(self, rows, slack=0.0):
        """Return the candidates or matches that come no later than the limit, or may do so within their slack."""
        if not self._is_best:
            return rows
        least, last = rows[0] * (1.0 - slack), self.limit
        no_later = (least < last.distance) | ((least == last.distance) & (self._place(rows) <= last.place))
        return rows[:, no_later & (rows[0] < np.inf)]

    def _free(self, rows):
        """Return the candidates that overlap no match that was decided early too much."""
        return rows[:, all_free(*self._early, *rows[1:].astype(np.int64), float(self.choice.max_overlap))]

    def decide(self, feed, reader, horizon=None):
        """Choose the matches of the groups that end at or before a horizon, by default where nothing unknown begins.

        Behind groups that are decided by default there is a sample, by which the time of their end is known.
        """
        rows = self._take_open()
        if self._is_best:
            rows = self._within(rows[:, np.argsort(self._place(rows), kind="stable")], self.slack)
        if not rows.size:
            return
        if self._is_best:
            self._tighten(rows, feed)
            rows = self._within(rows, self.slack)
        rows, cuts, end = _groups(rows)
        start = rows[1][cuts[:-1]]
        if horizon is None:
            horizon = min(feed.horizon(self.limit.distance), feed.seen - 1)
        done = int(np.searchsorted(end, horizon, "right"))
        self.first_end = int(end[done]) if done < len(end) else ENDLESS
        beside = start[:done] < (self.edges[0] if self.edges else 0)
        for edge in self.edges[1:]:
            beside |= (start[:done] < edge) & (edge < end[:done])
        self._beside += [rows[:, cuts[k] : cuts[k + 1]] for k in np.flatnonzero(beside)]
        beside = np.repeat(beside, np.diff(cuts[: done + 1]))
        self._open, rows = rows[:, cuts[done] :], rows[:, : cuts[done]]
        self._decide(rows[:, ~beside], reader)

    def _take_open(self):
        """Return all candidates that are not decided, which the pool does not hold from then on."""
        rows = np.concatenate([self._open, *self._new], axis=1) if self._new else self._open
        self._open, self._new, self._count, self.first_end = rows[:, :0], [], 0, ENDLESS
        return rows

    def decide_early(self, late, feed, reader):
        """Choose the matches that end at or before the sample `late` by the candidates until now.

        Later candidates that overlap one of them are left out.
        """
        feed.drop(late)
        if self.earliest_end > late:
            return
        rows, cuts, _ = _groups(self._take_open())
        is_late = np.repeat(np.minimum.reduceat(rows[2], cuts[:-1]) <= late, np.diff(cuts))
        some, others = rows[:, is_late], rows[:, ~is_late]
        matches = self._chosen(some, reader)
        matches = matches[:, matches[-1] <= late]
        self._decided.append(matches)
        early = np.append(self._early[:, self._early[1] > feed.first], matches[-2:].astype(np.int64), axis=1)
        self._early = np.ascontiguousarray(early[:, np.argsort(early[0], kind="stable")])
        self._open = np.concatenate([self._free(some[:, some[2] > late]), others], axis=1)
        self.first_end = self.earliest_end

    @property
    def earliest_end(self):
        """The end of the first undecided candidate to end; ENDLESS without any."""
        return min((int(rows[2].min()) for rows in (self._open, *self._new) if rows.size), default=ENDLESS)

    def hand_over(self):
        """Return the matches that were decided since the last call, which the pool does not hold from then on."""
        matches, self._decided = self._matches(), []
        return matches

    def _decide(self, rows, reader):
        if rows.size:
            self._decided.append(self._chosen(rows, reader))
        if self._is_best and self._decided:
            matches = self._matches()
            self._decided = [matches]
            k = self.choice.n_matches
            if matches.shape[1] >= k:
                last = np.lexsort((self._place(matches), matches[0]))[k - 1]
                self.limit = min(self.limit, self._limit_at(matches, last))

    def _limit_at(self, rows, k):
        return Limit(float(rows[0, k]), int(self._place(rows)[k]))

    def _chosen(self, rows, reader):
        """Return the matches of groups of candidates."""
        rows = rows[:, np.argsort(self._place(rows), kind="stable")]
        candidates = Candidates(rows[0], *rows[1:].astype(np.int64), self.slack)
        start, end, by, distance, version = choose(reader, candidates, self.choice._replace(n_matches=None))
        if self.reports:
            start, end = reader.centered(start, end, version)
        return np.array([by, distance, version, start, end])

    def _matches(self):
        """Return the decided matches that come no later than the limit."""
        matches = np.concatenate([np.empty((5, 0)), *self._decided], axis=1)
        return self._within(matches)

    # ------------------------------------------------------------------------------------------ the limit that falls
    def _begin_limit(self, found, feed):
        """Lower the limit by the nearest window of each stretch of its length, for without one all windows wait."""
        stretches = found.distance[: len(found.distance) // self.plan.m * self.plan.m].reshape(-1, self.plan.m)
        if len(stretches) < self.choice.n_matches:
            return
        nearest = np.argmin(stretches, axis=1) + np.arange(0, stretches.size, self.plan.m)
        rows = self._near(Candidates(*(column[nearest] for column in found[:3]), found.slack))
        self._tighten(rows, feed)

    def _tighten(self, rows, feed):
        """Lower the limit to the distance before which there are k matches, whatever is unknown.

        Candidates must be in the order of a profile.
        """
        rows = np.array([rows[0] * (1.0 + 3.0 * self.slack), *rows[1:]])  # no less than the exact distances
        k, overlap = self.choice.n_matches, self.choice.max_overlap
        known, horizon = np.sort(self._matches()[0]), feed.horizon(self.limit.distance)
        begin, most = self.edges[0] if self.edges else 0, 2 * k + 1
        while True:
            chosen = select(*rows, n_matches=most, max_overlap=overlap)
            distance, start, end = rows[:, chosen]
            apart = np.ones(len(chosen), bool) if overlap == 1.0 else (end <= horizon) & (start >= begin)
            certain = -(-np.cumsum(apart) // self._most_overlapped(rows, chosen))
            enough = np.flatnonzero(np.searchsorted(known, distance) + certain >= k)
            if len(enough):
                self.limit = min(self.limit, self._limit_at(rows, chosen[enough[0]]))
            if len(enough) or len(chosen) < most:
                return
            most *= 2

    def _most_overlapped(self, rows, chosen):
        """Return how many chosen candidates a candidate no later than the last chosen one can overlap at most."""
        if self.choice.max_overlap == 1.0 or not len(chosen):
            return 1
        if self.of_one_length:
            return 2  # all are of one length
        first, last = np.sort(rows[1][chosen]), np.sort(rows[2][chosen])
        _, start, end = rows[:, rows[0] <= rows[0][chosen[-1]]]
        return int((np.searchsorted(first, end) - np.searchsorted(last, start, "right")).max())

    # ---------------------------------------------------------------------------------- what ranges give together
    def cut(self, state):
        """Drop the candidates before a state, which turned out to be others."""
        if self.plan.mode == "windows":
            return
        self._open = self._open[:, self._place(self._open) > state.at]
        for groups in (self._beside, self._new):
            groups[:] = [rows[:, self._place(rows) > state.at] for rows in groups]
        self._decided = [rows[:, rows[-2] >= state.at] for rows in self._decided]

    def joined(self, others, reader):
        """Return the matches of a sequence from this range and others, in the order of choice; None if some are lost.

        Too few are known where a limit came out too low, because candidates turned out to be others.
        """
        pools = [self, *others]
        self.limit = min(pool.limit for pool in pools)
        self.slack = max(pool.slack for pool in pools)
        rows = np.concatenate([a for pool in pools for a in (pool._open, *pool._new, *pool._beside)], axis=1)
        self._decided = [a for pool in pools for a in pool._decided]
        self._decided.append(self._chosen(self._within(rows, self.slack), reader))
        matches, k = self._matches(), self.choice.n_matches
        order = np.lexsort((self._place(matches), matches[0]))[:k]
        if self._is_best and len(order) < k and self.limit < self.first_limit:
            return None
        return matches[:, order]


class ProfilePool:
    """Pool of all candidates of a range, none of which is decided before the end."""

    limit, begin, ranges = Limit(), ENDLESS, frozenset()

    def __init__(self, plan):
        self.plan, self._found = plan, []

    def take(self, feed, found, reader):
        """Add the candidates that a profile gave last."""
        self._found.append(found.kept())

    def decide(self, *_):
        """Do nothing: neither a decision nor a state to compare with is needed to keep all candidates."""

    mark = decide

    def cut(self, state):
        """Drop the candidates before a state, which turned out to be others."""
        if self.plan.mode == "subsequence":
            for k, found in enumerate(self._found):
                columns = found.columns
                self._found[k] = Candidates(*(column[columns[2] > state.at] for column in columns), found.slack)

    def joined(self, others, reader):
        """Return the profile of a whole sequence from this range and the others."""
        found = [one for pool in [*others, self] for one in pool._found]
        others, self._found, slack = [], [], max((one.slack for one in found), default=0.0)
        n, plan, subsequence = len(reader.source), self.plan, self.plan.mode == "subsequence"
        distance = np.full(n if subsequence else n - plan.shortest + 1, np.inf)
        start, length = (np.full(n, -1, np.int64), None) if subsequence else (None, plan.m)
        if plan.lengths is not None:
            length = np.full(len(distance), plan.shortest)
        for one in found:
            own, begin, end = one.columns
            at = end - 1 if subsequence else begin
            distance[at] = own
            if subsequence:
                start[at] = begin
            elif np.ndim(length):
                length[at] = end - begin
        return Profile(distance, start, length, slack)

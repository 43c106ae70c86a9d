"""Profiles chunk by chunk: a sequence goes in, and candidates come out as soon as they are known."""

from functools import reduce
from typing import NamedTuple

import numpy as np

from ..distances._kernels.compile import block_size
from ..distances._kernels.dispatch import closed_boundary
from ..distances._kernels.scalar import oldest_start
from ..distances._kernels.simd import scratch
from ._chunks import Buffer
from ._engines import range_profile
from ._profile import window_profile
from ._selection import Candidates, From, Profile

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

    def __init__(self, plan, rule=None, first=0):
        super().__init__(plan, first)
        self.rule = rule

    def agrees(self, state, limit):
        """Return whether later candidates are those that follow from another state."""
        return self.state() == state

    def drop(self, before):
        """Discard candidates that started before a sample and are not complete."""


class WindowProfile(IncrementalProfile):
    """Profile of windows of the query's length, or of several lengths."""

    def __init__(self, plan, rule=None, first=0):
        super().__init__(plan, rule, first)
        self.done = first  # number of starts that are done
        self.short, self.long = plan.shortest, plan.longest

    @property
    def needed(self):
        return max(self.done - self.plan.reach, 0)

    def state(self):
        """Return the state that later candidates depend on."""
        return State(self.seen, self.done, self.needed)

    def horizon(self, threshold=None):
        """Return the sample before which no later candidate starts."""
        return self.done

    def due(self, end):
        """Return the number of samples that bring the horizon to the `end` of a candidate, or of one to come."""
        return min(end, self.done + self.short) + self.long + self.plan.reach - 1

    def candidates(self, last=False):
        """Return the candidates that the samples complete.

        Each start waits for its longest window and the samples which that depends on.
        """
        begin, reach = self.done, self.plan.reach
        end = self.seen - (self.short if last else self.long + reach) + 1
        if end <= begin:
            return NONE
        first = max(self.needed, self.first)
        samples, self.done = self.cut(first, self.seen), end
        room = scratch("profile", (self.seen - first,))  # used again, so copy what is to stay
        profile = window_profile(self.plan, *samples, self.rule, room=room)
        return profile._candidates.part(slice(begin - first, end - first), first)


class RangeProfile(IncrementalProfile):
    """Profile of subsequences that are normalized each by itself.

    A candidate depends on no more samples before its end than the longest candidate has, so no state is carried.
    """

    def __init__(self, plan, rule=None, first=0):
        super().__init__(plan, rule, first)
        self.at, self.longest = first, plan.range_lengths[1]  # at: samples done
        self._old = first  # no candidate to come begins before this sample

    @property
    def needed(self):
        return max(self.at + 1 - self.longest, self._old)

    def state(self):
        """Return the state that later candidates depend on."""
        return State(self.seen, self.at, self.at)

    def horizon(self, threshold=None):
        """Return the sample before which no later candidate starts."""
        return self.needed

    def due(self, end):
        """Return the number of samples that bring the horizon to the `end` of a candidate, or of one to come."""
        return min(end, self.at + 1) + self.longest - 1

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
        for a, b in runs:
            if a >= begin:  # missing values or a gap in time, behind which the sequence starts again
                self._break(found, done, a)
            found.append(self._advance(int(b), last or b < self.seen, alone=len(runs) == 1))
            done = int(b)
        if done < self.seen:
            self._break(found, done, self.seen)
        elif last and begin == self.seen:
            found.append(self._advance(self.seen, True))
        found = [part for part in found if part is not None]
        if len(found) < 2:
            return found[0] if found else NONE
        return Candidates(*(np.concatenate(columns) for columns in zip(*(part.columns for part in found), strict=True)))

    def _break(self, found, gap, after):
        """Finish the stretch that ends at a gap and start again behind it."""
        found.append(self._advance(gap, True))
        self._begin(int(after))

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

"""Segmentations of whole recordings, in memory or by chunks: the recurrence, and rounds of it in jobs.

A round has LANES stretches of a long series side by side, of `step` samples each and at fixed positions. Each one
starts `lead` samples early without knowing what was before. Once the cheapest segmentations that lead to the cells of a
column have a boundary in common, what was before adds the same to all of them. A stretch is therefore right, except for
a constant, if its column equals that of the stretch before it where that one ends. Otherwise the true column goes on
until it meets that of the stretch, if need be to its end. What a round gives depends on its own samples alone unless
its first stretch does not meet the round before. Rounds may therefore be computed in any order, and the numbers are the
same. Costs are counted from the start of the last stretch that was met.
"""

from typing import NamedTuple

import numpy as np
from joblib import delayed

from ...distances._kernels import segmentation as kernel
from ...distances._kernels.scalar import before, likeliest, previous, through
from ...utils._jobs import count_jobs, each_in_jobs, nothing
from ...utils.validation import refused
from .._chunks import Buffer
from .._incremental_profile import PreparedQueries
from .._profile import window_profile
from . import state as open_paths

LEAD = 4  # query lengths after which stretches of a series mostly agree
FULL = 16  # leads that a stretch has in a long series
STEP = 2**13  # samples that it has at least
AT_ONCE = 512  # samples of each lane that are computed before they are put in their places


def in_order(queries, series, begin_at, offset, rules, state):
    """Return rows of costs and starts of the samples from `begin_at` on, computed one by one; changes `state`."""
    k = len(queries.first) - 1
    n = len(rules[0])
    best, begin = np.empty((n, k + 1)), np.empty((n, k))
    kernel.advance(None, queries, series, begin_at, offset, rules, state, best.reshape(-1), begin.reshape(-1))
    return best[begin_at:], begin[begin_at:]


class Round(NamedTuple):
    """Position of the stretches of a round: stretch i is [at + i * step, at + (i + 1) * step + lead)."""

    at: int
    step: int
    lead: int
    fresh: bool  # whether the series begins here

    @property
    def end(self):
        return self.at + kernel.SEGMENT_LANES * self.step + self.lead


def rounds(at, end, m, fresh, ended):
    """Yield the rounds of the samples [at, end) of a series, of which more may come unless it has `ended` there.

    They depend only on where the series starts and ends. All rounds except the last one or two are of full size, and
    the last ones have one size, so that little is left over.
    """
    lead = LEAD * m
    step = max(FULL * lead, STEP)
    while end - at >= lead + 2 * kernel.SEGMENT_LANES * step:
        yield Round(at, step, lead, fresh)
        at, fresh = at + kernel.SEGMENT_LANES * step, False
    if ended and end - at >= 4 * kernel.SEGMENT_LANES * lead:
        count = -(-(end - at - lead) // (kernel.SEGMENT_LANES * step))
        step = (end - at - lead) // (count * kernel.SEGMENT_LANES)
        for _ in range(count):
            yield Round(at, step, lead, fresh)
            at, fresh = at + kernel.SEGMENT_LANES * step, False


class _Lanes(NamedTuple):
    """Rows and states of the stretches of a round, each counting costs from its own start."""

    best: np.ndarray  # (width of the round + 1, k + 1); of stretches but the first from the first mark on
    begin: np.ndarray  # (width of the round, k)
    marks: np.ndarray  # samples after which the states were kept; the last one is the end
    states: np.ndarray


class Joined(NamedTuple):
    """Segments that are decided within a round, and the rows that are not."""

    found: open_paths.Parts | None  # None: nothing is decided
    first: int | None  # the label at the first boundary, see `Undecided.decide`
    listed: int  # segments from this one on have the cost of their range
    rows: open_paths.Undecided
    begin: np.ndarray | None  # the state where the first stretch must meet the one before
    end: np.ndarray  # the last state; samples are counted as in the whole series


def compute(queries, series, rules, shape, listed, known=None, rows=None):
    """Compute a round: the segments that are decided within it, and the rows that are not.

    Parameters
    ----------
    queries : Queries
    series : ndarray of shape (channels, width + 1)
        Features of the round's samples, and of the one before.
    rules : tuple
        Costs of background samples, transitions, bounds of the lengths, and whether an end may cut a repetition off.
    shape : Round
    listed : bool
        Whether segments are to have the costs of their ranges.
    known : ndarray
        The true state of the series where the first stretch must meet it, if it is known not to, and what is not
        decided there, its `rows`.
    """
    *rules, partial = rules
    lanes = _side_by_side(queries, series, rules, shape, partial)
    at, fresh = shape.at, shape.fresh
    begin = _lane(lanes.states[0], 0, at) if known is None else None
    zeros, end = _joined(queries, series, rules, shape, lanes, known)
    skip = 0 if fresh else shape.lead
    if rows is None:
        rows = open_paths.Undecided(
            at + skip, lanes.best[skip:], lanes.begin[skip:], rules[1], fresh=fresh, unknown=not fresh
        )
    else:
        rows.append(lanes.best[skip + 1 :], lanes.begin[skip:])
    rows.count_from(zeros)
    settled = rows.settle(queries.live(end))
    if settled is None:
        return Joined(None, None, 0, rows, begin, end)
    rows.shrink()
    found, label = settled
    known_from = at + (skip if begin is not None else 0)  # what comes from before has no cost yet
    k = int(np.searchsorted(found.start, known_from)) if listed else len(found.start)
    k += int(found.hidden[:1].sum() > 0)  # the first may be a part
    some = slice(k, None)
    if k < len(found.start):
        ranges = found.start[some] - at, found.end[some] - at, found.label[some] - 1
        found.cost[some] = open_paths.costs_of_ranges(queries, series, *ranges)
    return Joined(found, label, k, rows, begin, end)


def _side_by_side(queries, series, rules, shape, partial):
    """Return the rows and states of the stretches of a round."""
    step, lead = shape.step, shape.lead
    k, n, width = len(queries.first) - 1, kernel.SEGMENT_LANES * step + lead, step + lead
    best, begin = np.empty((n + 1, k + 1)), np.empty((n, k))
    best[0], best[0, 0] = np.inf, 0.0
    state = queries.state(kernel.SEGMENT_LANES)
    if shape.fresh and partial:
        first = queries.state()
        open_paths.open_begin(first, queries)
        state.reshape(len(state), -1, kernel.SEGMENT_LANES)[:, : first.shape[1], 0] = first
    marks = [lead]
    while 2 * marks[-1] < width:
        marks.append(2 * marks[-1])
    marks = np.array([*marks, width])
    states = np.empty((len(marks), *state.shape))
    kernel.advance_lanes(queries, series, step, shape.at, tuple(rules), state, marks, states, AT_ONCE, best, begin)
    return _Lanes(best, begin, marks, states)


def _joined(queries, series, rules, shape, lanes, known):
    """Join the stretches of a round: return its zeros, see `Undecided.count_from`, and its last state.

    `known` is the state that the first stretch must meet; None: no such state.
    """
    zeros, apart = [], np.empty(kernel.SEGMENT_LANES)
    kernel.differences_of(lanes.states[0], lanes.states[-1], shape.step, apart)
    for lane in range(known is None, kernel.SEGMENT_LANES):
        at = shape.at + lane * shape.step
        if known is None and not np.isnan(apart[lane]):  # the stretch before it holds, and this one meets it
            zeros.append((at + shape.lead, apart[lane]))
            continue
        if known is None:
            known = _lane(lanes.states[-1], lane - 1, at - shape.step)
        done, zero, known = _meet(queries, series, rules, shape, lanes, lane, known)
        zeros.append((at + done, zero))
    return zeros, _lane(lanes.states[-1], kernel.SEGMENT_LANES - 1, at) if known is None else known


def _meet(queries, series, rules, shape, lanes, lane, known):
    """Let the `known` state of the stretch before go on in place of a stretch until it meets that.

    Return how far it went, how much more it costs from there on, and None; or its last state, if it never meets the
    stretch.
    """
    begin, at, done = lane * shape.step, shape.at + lane * shape.step, shape.lead
    for mark, then in zip(lanes.marks.tolist(), lanes.states, strict=True):
        if mark > done:
            a, b = begin + done, begin + mark
            own = rules[0][a:b], *rules[1:]
            piece = np.ascontiguousarray(series[:, a : b + 1])
            in_place = in_order(queries, (piece, None), 0, at + done, own, known)
            lanes.best[a + 1 : b + 1], lanes.begin[a:b] = in_place
            done = mark
        zero = difference(_lane(then, lane, at), known)
        if zero is not None:
            return done, zero, None
    zero = known[2].min()
    zero, known = zero if np.isfinite(zero) else 0.0, known.copy()
    known[[0, 2, 3]] -= zero
    return done, zero, known


def _lane(state, lane, at):
    """Return the state of one lane, with samples counted as in the whole series."""
    one = state.reshape(len(state), -1, kernel.SEGMENT_LANES)[:, :, lane].copy()
    one[[1, 4]] += at
    return one


def difference(a, b):
    """Return how much more state `b` costs than `a`; None unless it is equal up to rounding and starts agree."""
    offset = kernel.difference_of(a, b, 0.0)
    return None if np.isnan(offset) else offset


class Columns:
    """Costs of paths by an elastic metric, with one column per query."""

    is_elastic = True

    def __init__(self, queries, rules):
        self.queries, self.rules, metric = queries, rules, queries[0].metric
        self.reach, self.bounds = metric._context, rules.bounds()
        self.longest = max(plan.m for plan in queries)
        self._looks_back = metric._looks_back or metric.uses_times
        self._prepared, self._rest = None, (rules.transitions, *self.bounds)
        self.begin(0)

    def begin(self, at):
        """Start again at a sample."""
        self.at = self.run = at
        self.state = None

    def due(self, base):
        """Return the least number of samples that may decide a segment that starts at `base` or later."""
        return 0

    @property
    def needed(self):
        """The first sample that is still needed."""
        back = self.at - max(self.reach, 1)
        if self._looks_back and self.state is not None:
            start, _, cost = self.live()
            back = int(min(back, start[cost < np.inf].min(initial=back)))
        return max(back, self.run)

    def _prepare(self, y):
        if self._prepared is None or self._prepared.size < y.shape[1]:
            self._prepared = PreparedQueries(self.queries, y)
            self._kernel = open_paths.Queries.of(self._prepared.problems)

    def _series(self, y, ty):
        return open_paths.as_series(
            self._prepared.series(y), self.queries[0].compared(ty), self._kernel.rows is not None
        )

    def go_on(self, feed, upto, end):
        """Return rows of `best` and `begin` for the samples up to `upto`; no gap is before sample `end`."""
        back = self.needed
        y, ty = feed.cut(back, min(end, upto + self.reach))
        self._prepare(y)
        if self.state is None:
            self.state = self._kernel.state()
            if self.rules.partial:
                open_paths.open_begin(self.state, self._kernel, self.run)
        if self._looks_back:  # cells without a path may hold an outdated start
            cells = self._kernel.at_start[np.isinf(self.state.take(self._kernel.at_cost))]
            self.state.reshape(-1)[cells] = self.at
        costs = self.rules.background.costs(y[:, : upto - back])
        rows = in_order(self._kernel, self._series(y, ty), self.at - back, back, (costs, *self._rest), self.state)
        self.at = upto
        return rows

    def task(self, feed, shape, upto):
        """Return the samples up to `upto` that the features of a round depend on, the first of them, and the round."""
        back = max(self.run, shape.at - 1 - 2 * self.reach)
        y, _ = feed.cut(back, min(upto, shape.end + self.reach))
        self._prepare(y)
        return y, back, shape

    def compute(self, y, back, shape, listed, *known):
        """Compute a round; see the function `compute`."""
        at, end = shape.at - back, shape.end - back
        series = np.ascontiguousarray(self._series(y, None)[0][:, at : end + 1])
        rules = self.rules.background.costs(y[:, at:end]), *self._rest, self.rules.partial
        return compute(self._kernel, series, rules, shape, listed, *known)

    def take(self, shape, state):
        """Continue behind a round."""
        self.at, self.state = shape.end, state

    def live(self):
        """Return starts, labels and costs of unfinished paths; costs are infinite without a path."""
        if self.state is None:
            return np.empty(0), np.empty(0, np.int64), np.empty(0)
        return self._kernel.live(self.state)

    def open_end(self, rows):
        """Let the end of the series cut repetitions off.

        Return how many points of each query its last repetition covers.
        """
        shown = np.array([plan.m for plan in self.queries])
        if not self.rules.partial or self.state is None:
            return shown
        state, begin = self.state.copy(), rows.given[-1] - self.run
        state[1] -= self.run
        row = rows.best[-1].copy()
        shown = open_paths.open_end(state, self._kernel.first, self.at - self.run, row, begin, *self.bounds)
        rows.change_end(row, begin + self.run)
        return shown

    def keep(self, held, best):
        """Drop all paths but those for whose starts and labels `held` (start, label) is true."""
        if self.state is not None:
            start, label, _ = self.live()
            self.state.reshape(-1)[self._kernel.at_cost[~held(start.astype(np.int64), label)]] = np.inf
            self.state[2, : len(best[-1])] = (best[-1][:, np.newaxis] + self.rules.transitions).min(axis=0)

    def forget(self, base):
        """Drop nothing: no segment that starts at a boundary or later needs more than is held."""


class Windows:
    """Costs of the windows of each query's length."""

    is_elastic, reach = False, 0

    def __init__(self, queries, rules):
        self.queries, self.rules = queries, rules
        self.lengths = np.array([plan.m for plan in self.queries])
        for m, (shortest, longest) in zip(self.lengths, self.rules.limits, strict=True):
            if (shortest or m) > m or (longest or m) < m:
                rule = f"let windows of the query's length through, {m} points"
                got = f"{shortest} and {longest}; a search by windows knows no other length"
                raise refused("'min_length' and 'max_length'", rule, got)
        self.short, self.long = int(self.lengths.min()), int(self.lengths.max())
        self.label = np.repeat(np.arange(1, len(self.lengths) + 1), self.lengths - 1)
        self.ago = np.concatenate([np.arange(m - 1, 0, -1.0) for m in self.lengths])  # when unfinished ones began
        self.begin(0)

    def begin(self, at):
        """Start again at a sample."""
        self.at = self.run = at
        self.edges = Buffer(after=(len(self.lengths) + 1,), first=at)  # minimum cost where each label follows
        self.edges.append(np.zeros((1, len(self.lengths) + 1)))

    def due(self, base):
        """Return the least number of samples that may decide a segment that starts at `base` or later.

        The longest of the unfinished windows starts where nothing is decided yet.
        """
        return base + self.short + self.long - 1

    @property
    def needed(self):
        """The first sample that is still needed."""
        return max(self.at - max(self.long - 1, 1), self.run)  # one sample shows whether a gap is next

    def go_on(self, feed, upto, end):
        """Return rows of `best` and `begin` for the samples up to `upto`; no gap is before sample `end`."""
        first = max(self.needed, self.edges.first)
        old, k = self.at - first, len(self.lengths)
        cost = np.full((k, upto - first), np.inf)
        for plan, row in zip(self.queries, cost, strict=True):
            begin = max(self.at - plan.m + 1, self.run)
            if begin + plan.m <= upto:
                distance = window_profile(plan, *feed.cut(begin, upto)).distance
                row[len(row) - len(distance) :] = plan.metric._segment_cost(distance, plan.m)
        edges, rows = np.empty((upto - first + 1, k + 1)), np.empty((upto - first + 1, k + 1))
        edges[: old + 1] = self.edges.cut(first, self.at + 1)
        background_costs = np.zeros(upto - first)
        background_costs[old:] = self.rules.background.costs(feed.cut(self.at, upto)[0])
        kernel.windows(cost, self.lengths, old, background_costs, self.rules.transitions, edges, rows)
        self.edges.append(edges[old + 1 :])
        starts = np.arange(self.at + 1.0, upto + 1)[:, np.newaxis] - self.lengths
        self.at = upto
        return rows[old + 1 :], starts

    def live(self):
        """Return starts, labels and costs of unfinished windows; costs are infinite for those that cannot be."""
        start = self.at - self.ago
        return start, self.label, np.where(start >= self.run, 0.0, np.inf)

    def open_end(self, rows):
        """Return the number of points of each query that a repetition covers: all."""
        return self.lengths

    def keep(self, held, best):
        """Continue only from what `best` still holds."""
        edges = self.edges.values
        edges[:] = (best[:, :, np.newaxis] + self.rules.transitions).min(axis=1)
        if self.edges.first == self.run:
            edges[0] = 0.0

    def forget(self, base):
        """Drop what no segment that starts at a boundary or later needs."""
        self.edges.forget(base)


BLOCK = 2**13  # samples that are computed one by one before a look at what is decided
WINDOWS = 2**17  # the same where the segments are windows
AHEAD = 16  # rounds that are handed out together, for each job


class SegmentTable(NamedTuple):
    """The segments of a segmentation, in temporal order, with the query and the version of it that each repeats."""

    start: np.ndarray
    end: np.ndarray
    query: np.ndarray  # from 0
    cost: np.ndarray
    shown: np.ndarray  # (.., 2): half-open ranges of the query's points
    version: np.ndarray | None = None  # from 0; None until they are known
    margin: np.ndarray | None = None  # to the next class, NaN without one; None for a single class

    @classmethod
    def together(cls, tables):
        """Return the segments of several tables, or of none, as one table."""
        none = np.empty(0, np.int64)
        empty = cls(none, none, none, np.empty(0), np.empty((0, 2), np.int64), none, np.empty(0))
        tables = [one for one in tables if len(one.start)] or tables[-1:]  # an empty one may not know its columns
        columns = zip(empty, *tables, strict=True)
        return cls(*(None if column[-1] is None else np.concatenate(column) for column in columns))

    def take(self, which):
        """Return some of the segments."""
        return SegmentTable(*(None if column is None else column[which] for column in self))


class Segmentation:
    """The cheapest segmentation of a recording that comes by chunks of any size, each stretch without a gap by itself.

    No result depends on the chunks or on the number of jobs. A stream's segmentation is `prompt`: it decides what each
    chunk lets it decide, and after `max_delay` samples by the cheapest segmentation until then. It then has no rounds.
    """

    def __init__(self, queries, rules, feed, n_jobs=None, count=nothing, readers=None, *, prompt=False, max_delay=None):
        self._plan, self._feed, self._transitions, self._n_jobs = queries[0], feed, rules.transitions, n_jobs
        self._readers, self._rules, self._count = readers, rules, count
        self._lengths = np.array([plan.m for plan in queries])
        self._paths = (Columns if queries[0].mode == "subsequence" else Windows)(queries, rules)
        self._lists = readers is not None and self._paths.is_elastic and open_paths.depends_on_path(queries[0], rules)
        self._prompt, self._max_delay = prompt, max_delay
        self._noted, self._told = 0, []  # samples that were looked at; segments that are decided
        self._begin(0)

    def _begin(self, at):
        self._paths.begin(at)
        k = len(self._transitions) - 1
        first = np.array([[0.0] + [np.inf] * k])
        self._rows = open_paths.Undecided(at, first, np.empty((0, k)), self._transitions, fresh=True)
        self._next = at  # where the next round begins

    @property
    def due(self):
        """The number of samples before which nothing is decided, unless there is a gap."""
        due, base = self._paths.due(self._rows.base), self._rows.base
        return due if self._max_delay is None else min(due, base + self._max_delay + 1)

    def take(self, last=False, timed=False):
        """Return the segments that are decided by the samples that came; all of them with the `last` sample.

        A prompt segmentation that is `timed` waits for the sample behind a segment, whose time is that of its end.
        """
        feed, begin = self._feed, self._noted
        done, self._noted = begin, feed.seen
        for a, b in feed.runs(self._plan, begin):
            if a >= begin and a != self._paths.run:
                self._end_stretch(done)
                self._begin(int(a))
            done = int(b)
        if last or done < feed.seen:
            self._end_stretch(done)
            if not last:
                self._begin(feed.seen)
        else:
            self._advance(done)
            if self._prompt:
                self._settle_promptly(timed)
        found, self._told = self._told, []
        return SegmentTable.together(found)

    @property
    def needed(self):
        """The first sample that is still needed."""
        reach = self._paths.reach
        least = min(self._rows.base - reach, self._paths.needed)
        return least if self._prompt else min(least, self._next - 1 - 2 * reach)

    def _end_stretch(self, gap):
        """Decide everything up to a gap."""
        self._advance(gap, last=True)
        shown = self._paths.open_end(self._rows)
        found = self._rows.finish()
        self._tell(found, np.where(found.end == gap, shown[found.label - 1], self._lengths[found.label - 1]))

    def _tell(self, parts, last=None, listed=None):
        """Add segments to those that `take` returns next.

        `last` are the last points of their queries, by default the last of all. Segments from the number `listed` on
        already have the costs of their ranges; by default none has.
        """
        if not len(parts.start):
            return
        last = self._lengths[parts.label - 1] if last is None else last
        shown = np.column_stack([parts.hidden, last])
        found = SegmentTable(parts.start, parts.end, parts.label - 1, parts.cost, shown)
        if self._readers is not None:
            found.cost[:listed] = open_paths.listed_costs(self._readers, self._rules, found.take(slice(listed)))
            if self._rules.classes is not None:
                found = open_paths.classified(self._readers, self._rules.classes, found)
        self._told.append(found)

    def _advance(self, upto, last=False):
        """Advance to a sample, where the stretch ends if it is the `last`."""
        if upto == self._paths.run:
            return
        if self._prompt:
            known = upto if last else upto - self._paths.reach
            if known > self._paths.at:
                self._rows.append(*self._paths.go_on(self._feed, known, upto))
            return
        block = WINDOWS
        if self._paths.is_elastic:
            block = BLOCK
            # Stretches side by side are possible where neither times nor the caller's costs are compared.
            if self._plan.tx is None and getattr(self._plan.metric, "dist", None) is None:
                self._advance_by_rounds(upto, last)
                if not last:
                    return
        while self._paths.at < upto:
            end = min(self._paths.at + block, upto)
            if not last and (end + self._paths.reach > upto or end - self._paths.at < block):
                return
            self._count(end - self._paths.at)
            self._rows.append(*self._paths.go_on(self._feed, end, upto))
            self._settle()

    def _settle(self):
        settled = self._rows.settle(self._paths.live())
        if settled is not None:
            self._tell(settled[0])
            self._paths.forget(self._rows.base)

    def _settle_promptly(self, timed):
        """Decide what all segmentations that may be the cheapest have in common, and what is late."""
        rows, seen = self._rows, self._feed.seen
        node = rows.agreed(self._paths.live())
        if self._max_delay is not None:
            late = min(seen - self._max_delay - rows.base, len(rows) - 1)
            if node[0] < late:
                node = self._force(late)
        if node[0] and timed and rows.base + node[0] == seen:
            node = previous(*rows.history, *node)  # the time of an end is that of the sample there
        if node[0]:
            self._tell(rows.decide(*node)[0])
            self._paths.forget(rows.base)

    def _force(self, late):
        """Decide by the cheapest segmentation up to a boundary, and drop all paths that disagree."""
        best, _, T, base = history = self._rows.history
        node = likeliest(*history, late)
        agree = through(*history, *node, late)

        def held(start, label):
            some = start - base >= node[0]
            came = [before(best, s, T, q) for s, q in zip(start[some] - base, label[some], strict=True)]
            some[some] = agree[start[some] - base, came]
            return some

        new = np.where(agree, best, np.inf)
        self._paths.keep(held, new)
        self._rows.drop(new)
        return node

    def _advance_by_rounds(self, upto, last):
        """Compute the rounds that are known by now; a few for each job at a time."""
        paths, feed = self._paths, self._feed
        fresh = self._next == paths.run
        shapes = list(rounds(self._next, upto, paths.longest, fresh, last))
        jobs = count_jobs(self._n_jobs)
        together = AHEAD * jobs if jobs > 1 else 1
        for k in range(0, len(shapes) if last else len(shapes) // together * together, together):
            tasks = [paths.task(feed, shape, upto) for shape in shapes[k : k + together]]
            calls = [delayed(paths.compute)(*task, self._lists) for task in tasks]
            found = each_in_jobs(calls, len(calls), jobs, 0, "segmentation", "round")
            for task, one in zip(tasks, found, strict=True):
                self._join(task, one)

    def _join(self, task, one):
        """Add what a round gives, or, if it does not meet the rounds before, what it gives behind them."""
        paths, rows, shape = self._paths, self._rows, task[-1]
        zero = 0.0 if shape.fresh else difference(one.begin, paths.state)
        if zero is None:
            one = paths.compute(*task, self._lists, paths.state, rows)
        parts = [] if one.found is None else [one.found]
        if one.rows is not rows:
            if shape.fresh or parts:
                parts = parts if shape.fresh else rows.follow(shape.at + shape.lead, one.found, one.first, zero)
                self._rows = one.rows
            else:
                rows.extend(one.rows, zero)
        for some in parts:
            self._tell(some, listed=one.listed if some is one.found else None)
        paths.take(shape, one.end)
        self._next = shape.at + kernel.SEGMENT_LANES * shape.step
        self._count(shape.end - shape.at if shape.fresh else shape.end - shape.at - shape.lead)
        if one.rows is not self._rows:
            self._settle()

"""Optimal segmentation of a recording by repetitions of one or several queries and background.

Variants of a query, such as mirrored ones, count as queries of their own in a segmentation.

The start or end of the series may cut repetitions off: paths then start or end within a query, at no cost, if at least
half of the query's points are observed. A path that enters its query at point i has the start -i, as if the missing
points came before the series, so limits of length apply to the whole repetition.

A long series is computed in rounds. A round consists of LANES stretches that are computed at once, each of `step`
samples at a fixed position. Each stretch starts `lead` samples early, without knowing the series before it. As soon as
the cheapest segmentations of all cells in a column have a boundary in common, everything before it adds the same
constant to all of them. So a stretch is correct, except for a constant, if its column equals that of the preceding
stretch where that one ends. Otherwise the true column goes on until it equals the stretch's column, if necessary to the
end of the stretch. A round depends only on its own samples, unless its first stretch does not meet the preceding round,
so rounds may be computed in any order with the same results. Costs count from the start of the last stretch that was
met.

The listed cost of a segment is that of its range, computed by itself.
"""

from typing import NamedTuple

import numpy as np

from ...distances._kernels import segmentation as kernel
from ...distances._kernels.dispatch import closed_boundary
from ...distances._kernels.scalar import agreed, before, likeliest, previous, through, trace
from ...distances._kernels.segmentation import INF, SEGMENT_LANES
from ...distances._kernels.simd import aligned_zeros
from ...distances._series import full_weight
from ...utils._jobs import count_jobs, delayed, each_in_jobs, nothing, progress
from .._chunks import Buffer
from .._plan import check_lengths
from .._profile import LastSamples, PreparedQueries, Search, window_profile
from .._sources import ArraySource, CandidateReader

ROUND = 2**30  # metrics that count points round the cost of background to multiples of one over this
EXACT = 2.0**23  # larger costs of background stay as they are


class Background(NamedTuple):
    """Cost of a background sample: at most `limit`; with a `slope` it falls to 0 towards the `offset`.

    A constant cost tests only how well a stretch fits a query. The distance from the offset also tests whether the
    stretch fits the query better than the background. So a repetition with twice the query's amplitude still counts,
    and a ripple does not.
    """

    limit: float
    slope: np.ndarray | None = None  # (channels, 1)
    offset: np.ndarray | None = None  # (channels, 1)
    power: float = 2.0

    def times(self, factor):
        """Return a background whose cost is multiplied by a factor."""
        return self._replace(limit=factor * self.limit, slope=None if self.slope is None else factor * self.slope)

    def exact_for(self, metric):
        """Return the background with a constant cost rounded to a short binary fraction, if the metric counts points.

        Sums are then exact, so which of several equally cheap segmentations is found does not depend on chunks or jobs.
        """
        if self.slope is not None or metric._replaces is None or not 0 < self.limit < EXACT:
            return self
        return self._replace(limit=max(round(self.limit * ROUND), 1) / ROUND)

    def costs(self, y):
        """Return the costs (n,) of the samples of a series (channels, n); missing samples cost 0."""
        if self.slope is None:
            return np.full(y.shape[1], self.limit)
        apart = y - self.offset  # modified in place from here on, because allocating memory would take longer
        np.abs(apart, out=apart)
        apart **= self.power
        apart *= self.slope
        cost = apart[0] if len(apart) == 1 else apart.sum(axis=0)
        cost[np.isnan(cost)] = 0.0
        return np.minimum(cost, self.limit, out=cost)


def power_of(metric):
    """Return the power of differences in a metric's costs: 2, or 1 if they are absolute."""
    return 1.0 if metric._center == "median" else 2.0


def background_cost(queries):
    """Return the default cost of a background sample: a share of the queries' mean cost against a constant."""
    return queries[0].metric._background_share * float(np.mean([constant_cost(plan) for plan in queries]))


def constant_cost(plan):
    """Return the cost per sample of a query against a constant signal at its weighted mean."""
    x, weight = plan.x, full_weight(plan.w, plan.x)
    total = weight.sum(axis=1, keepdims=True)
    mean = np.where(total > 0, (weight * x).sum(axis=1, keepdims=True), x.mean(axis=1, keepdims=True))
    mean /= np.where(total > 0, total, 1.0)
    constant = np.repeat(mean, x.shape[1], axis=1)
    search, m = Search(plan.version(0)._replace(max_gap=None), constant, plan.tx), plan.m
    if plan.mode == "subsequence":
        return float(search.cost(0, m)) / m
    return float(plan.metric._segment_cost(search.profile().distance[0], m)) / m


class Versions:
    """All versions of several queries, those of one query in a row.

    Attributes
    ----------
    queries : list of QueryPlan
        A plan for each version.
    query, version : ndarray of int
        Indices of the query and of its version, for each plan.
    """

    def __init__(self, queries):
        counts = [plan.n_versions for plan in queries]
        self.queries = [one for plan in queries for one in plan.versions]
        self.query = np.repeat(np.arange(len(queries)), counts)
        self.version = np.concatenate([np.arange(count) for count in counts])

    def readers(self, source):
        """Return a reader for the segments of each version."""
        return [CandidateReader(plan, source) for plan in self.queries]


class Classes(NamedTuple):
    """The classes of the queries, and how much more the costs of rare classes count.

    The ratio of its costs under two classes decides the class of a stretch, because the amount of noise is unknown. The
    rarer a class, the lower its cost must be. This is even stricter if the cost, as a share of the cost as plain
    background, is larger than for typical occurrences, because a stretch that resembles nothing belongs to a frequent
    class.
    """

    of_query: np.ndarray  # (k,), class of each query, from 0
    # (n_classes,), number of occurrences of the most frequent class divided by the class's own; None: all count alike
    rarity: np.ndarray | None = None
    share: np.ndarray | None = None  # (n_classes,), expected cost of an occurrence as a share of plain background
    plain: Background | None = None

    def costs(self, readers, start, end):
        """Return the costs of ranges under each query (n, k), and weighted ones under each class (n, n_classes)."""
        own = np.column_stack([costs_by(reader, start, end) for reader in readers])
        counted = own
        if self.rarity is not None:
            rarity, share = self.rarity[self.of_query], self.share[self.of_query]
            left = own / self.background_costs(readers[0].source, start, end)[:, np.newaxis]
            counted = own * rarity**RARER * np.maximum(left / share, 1.0) ** (1.0 - 1.0 / rarity)
        out = np.full((len(start), self.of_query.max() + 1), np.inf)
        np.minimum.at(out.T, self.of_query, counted.T)
        return own, out

    def background_costs(self, source, start, end):
        """Return the costs of ranges as plain background."""
        ranges = zip(start.tolist(), end.tolist(), strict=True)
        costs = [self.plain.costs(source.cut(s, e)[0]).sum() for s, e in ranges]
        return np.maximum(costs, np.finfo(float).tiny)

    def classified(self, readers, found):
        """Return segments with their margins; with weights of classes, each gets the class of lowest weighted cost.

        The margin is 1 minus the cost under the own class divided by that under the next best class. Segments that an
        end of the series cuts off keep their class and have no margin.
        """
        m, rows = np.array([reader.plan.m for reader in readers]), np.arange(len(found.query))
        whole = (found.shown == np.column_stack([np.zeros_like(rows), m[found.query]])).all(axis=1)
        costs, counted = self.costs(readers, found.start, found.end)
        own = self.of_query[found.query]
        if self.rarity is not None:
            best = counted.argmin(axis=1)
            moved = np.flatnonzero(whole & (counted[rows, best] < counted[rows, own]))
            own[moved] = best[moved]
            query = np.where(self.of_query == own[moved, np.newaxis], costs[moved], np.inf).argmin(axis=1)
            found.query[moved], found.cost[moved] = query, costs[moved, query]
            found.shown[moved, 1] = m[query]
        mine, counted[rows, own] = counted[rows, own], np.inf
        other = counted.min(axis=1)
        with np.errstate(all="ignore"):
            margin = np.where(mine == other, 0.0, 1.0 - mine / other)
        return found._replace(margin=np.where(whole & np.isfinite(other), margin, np.nan))


RARER = 1 / 6  # power of the rarity of a class by which its costs are multiplied


class Rules(NamedTuple):
    """The rules of the cheapest segmentation."""

    background: Background
    transitions: np.ndarray  # (k + 1, k + 1)
    limits: tuple[tuple[int | None, int | None], ...]  # shortest and longest repetition of each query
    partial: bool = False  # whether an end of the series may cut a repetition off
    classes: Classes | None = None  # None if there is only one


class SegmentTable(NamedTuple):
    """The segments of a segmentation in temporal order, with the query and the version of it that each repeats."""

    start: np.ndarray
    end: np.ndarray
    query: np.ndarray  # from 0
    cost: np.ndarray
    shown: np.ndarray  # (.., 2): half-open ranges of the query's points
    version: np.ndarray | None = None  # from 0; None as long as unknown
    margin: np.ndarray | None = None  # margin to the next class, NaN without one; None for a single class

    @property
    def per_point(self):
        """Cost of each segment per query point that it covers."""
        return self.cost / np.diff(self.shown, axis=1)[:, 0]

    @classmethod
    def together(cls, tables):
        """Return the segments of several tables as one table."""
        none = np.empty(0, np.int64)
        empty = cls(none, none, none, np.empty(0), np.empty((0, 2), np.int64), none, np.empty(0))
        tables = [one for one in tables if len(one.start)] or tables[-1:]  # an empty one may lack optional columns
        columns = zip(empty, *tables, strict=True)
        return cls(*(None if column[-1] is None else np.concatenate(column) for column in columns))

    def take(self, which):
        """Return selected segments."""
        return SegmentTable(*(None if column is None else column[which] for column in self))


# ------------------------------------------------------------------------------------------- costs of segments by range
ALONE = np.full((2, 2), INF)  # forbids anything after a repetition
ANY_LENGTH = np.ones(1), np.full(1, 2.0**62)
SLACK_FROM = 2**40  # more windows than any recording has
SPAN = 2**9  # number of samples whose preparation takes as long as starting the search of one range


def depends_on_path(plan, rules):
    """Return whether the cost of a segment's path may differ from the cost of its range computed alone."""
    return plan.metric._depends_on_start or any(longest is not None for _, longest in rules.limits)


def listed_costs(readers, rules, segments):
    """Return the cost of each segment's query against its range.

    The path of a segment is the cheapest one of its range, unless the best move into a cell depends on the path so far:
    on its start, or because longer paths were dropped. Costs are then computed again, by the readers of the queries. So
    are distances of windows that may come from Fourier transforms, so that a stream lists the same costs.
    """
    plan = readers[0].plan
    if plan.mode != "windows" and not depends_on_path(plan, rules):
        return segments.cost
    cost = segments.cost.copy()
    for q in np.unique(segments.query).tolist():
        own, plan = segments.query == q, readers[q].plan
        if plan.mode != "windows" or plan.metric._relative_error(plan.x, plan.w, SLACK_FROM, None):
            cost[own] = costs_by(readers[q], segments.start[own], segments.end[own], segments.shown[own])
    return cost


def costs_by(reader, start, end, shown=None):
    """Return the cost of a query, or of its points `shown`, against each range; infinite for windows of other lengths.

    Ranges are in temporal order.
    """
    cost, plan = np.full(len(start), np.inf), reader.plan
    if plan.mode == "windows":
        own = end - start == plan.m
        if own.any():
            cost[own] = plan.metric._segment_cost(reader.distances(start[own], end[own]), plan.m)
    elif len(start):
        first, last = int(start[0]), int(end[-1])
        # Ranges that depend on no other samples are prepared together if all samples between them are held.
        dense = plan.reach == 0 and last - first <= SPAN * len(start) and last <= reader.source.extent(first)[1]
        search = reader.search(first, last) if dense else None
        points = [None] * len(start) if shown is None else shown.tolist()
        for k, (s, e, some) in enumerate(zip(start.tolist(), end.tolist(), points, strict=True)):
            cost[k] = (search or reader.search(s, e)).cost(s, e, some)
    return cost


def costs_of_ranges(queries, series, start, end, query):
    """Return the costs of ranges [start, end) of one series under an elastic metric, one per lane.

    `series` (channels, n + 1) holds features of samples, with one additional column in front.
    """
    out = np.empty(len(start))
    for q in np.unique(query):
        one, own = queries.one(q), np.flatnonzero(query == q)
        own = own[np.argsort(end[own] - start[own], kind="stable")]
        found, state = np.empty(len(own)), one.state(SEGMENT_LANES)
        kernel.range_costs(one, series, start[own], (end - start)[own], ALONE, ANY_LENGTH, state, found)
        out[own] = found
    return out


# ---------------------------------------------------------------------------------------- queries as kernels read them
class Queries(NamedTuple):
    """Several queries as the kernels read them."""

    p: object  # one record for all, or a tuple with one each
    rows: np.ndarray | None
    points: np.ndarray
    first: np.ndarray
    tx: np.ndarray | None

    @classmethod
    def of(cls, problems):
        """Return queries from prepared pairs that share a series."""
        records = [problem.record for problem in problems]
        same = all(len(r) == 0 or not any(isinstance(v, np.ndarray) for v in r) for r in records)
        one = problems[0]
        return cls(
            records[0] if len(problems) == 1 or same else tuple(records),
            None if one.x is None else np.concatenate([problem.rows for problem in problems], axis=2),
            np.concatenate([problem.points for problem in problems], axis=1),
            np.concatenate([[0], np.cumsum([problem.points.shape[1] for problem in problems])]),
            None if one.tx is None else np.concatenate([problem.tx for problem in problems]),
        )

    def record(self, q):
        """Return the record of query `q`."""
        return self.p if hasattr(self.p, "_fields") else self.p[q]

    def state(self, lanes=1):
        """Return the kernel's state before the first sample."""
        m, k = self.first[-1], len(self.first) - 1
        state = aligned_zeros(5, max(m, k + 1) * lanes)
        state[[0, 2, 3]] = INF
        state[2, : (k + 1) * lanes] = 0.0
        return state

    def one(self, q):
        """Return query `q` alone."""
        own = slice(self.first[q], self.first[q + 1])
        rows, points = np.ascontiguousarray(self.rows[:, :, own]), np.ascontiguousarray(self.points[:, own])
        return Queries(self.record(q), rows, points, np.array([0, own.stop - own.start]), None)

    @property
    def at_cost(self):
        """Positions of the costs of unfinished paths in a state: within the queries, and at their borders.

        Their starts are in the next row of the state.
        """
        m, k = self.first[-1], len(self.first) - 1
        return np.concatenate([np.arange(m), 3 * max(m, k + 1) + np.arange(k)])

    def live(self, state):
        """Return starts, labels and costs of unfinished paths; the cost is infinite where no path is."""
        number, at = np.arange(1, len(self.first)), self.at_cost
        label = np.concatenate([np.repeat(number, np.diff(self.first)), number])
        return state.take(at + state.shape[1]), label, state.take(at)

    def halves(self):
        """Yield for each query its index, first point, number of points, and how many of them may be missing."""
        m = np.diff(self.first)
        return zip(range(len(m)), self.first[:-1].tolist(), m.tolist(), (m // 2).tolist(), strict=True)

    def open_begin(self, state, at=0):
        """Let paths start within the queries before the first sample `at`; changes `state`."""
        for q, a, m, unseen in self.halves():
            state[0, a : a + unseen] = 0.0
            state[1, a : a + unseen] = at - np.arange(1.0, unseen + 1)
            if not closed_boundary(self.record(q)):  # an open boundary lets them skip further points, at their gap cost
                state[0, a + unseen : a + m] = np.cumsum(self.points[0, a + unseen : a + m])
                state[1, a + unseen : a + m] = at - unseen

    def open_end(self, state, n, best, begin, shortest, longest):
        """Let paths end within the queries after the last of n samples, if that is cheaper; changes the last row.

        ``best`` is (k + 1,) and ``begin`` (k,). Return how many points of each query its last segment covers.
        """
        shown = np.diff(self.first)
        for q, a, m, unseen in self.halves():
            cost, start = state[0, a : a + m - 1], state[1, a : a + m - 1]
            missing = np.arange(m - 1, 0, -1)
            length = n + missing - start
            hidden = missing + np.maximum(-start, 0)
            allowed = (hidden <= unseen) & (length >= shortest[q]) & (length <= longest[q]) & (start < n)
            cost = np.where(allowed, cost, np.inf)
            if m > 1 and cost.min() < best[q + 1]:
                i = int(np.argmin(cost))
                best[q + 1], begin[q], shown[q] = cost[i], start[i], i + 1
        return shown


# ------------------------------------------------------------------------------------------------------ undecided rows
class Undecided:
    """Rows after the last decided node; a node is a boundary with the label of what ends there.

    Attributes
    ----------
    base : int
        The boundary of the first row.
    best, starts : Buffer
        Costs of the cheapest segmentations up to each boundary, by their last label (n + 1, k + 1), and starts of the
        last segments (n, k); a repetition that is cut off by the first sample starts before it.
    fresh : bool
        Whether the first row is the start of the series.
    unknown : bool
        Whether the part of the series before the first row is unknown: then that row is not a node yet, and paths may
        come from before it.
    """

    def __init__(self, base, best, starts, transitions, lengths, *, fresh=False, unknown=False):
        self.base, self.fresh, self.unknown, self._transitions = base, fresh, unknown, transitions
        self._lengths = lengths  # numbers of points of the queries
        self.best, self.starts = Buffer.of(best, base), Buffer.of(starts, base)
        self._zeros = []  # see `count_from`
        self._due = 0  # number of rows from which the next check for decided segments pays off

    def __len__(self):
        return len(self.best)

    @property
    def history(self):
        """Costs, starts, transitions and first boundary, as kernels trace paths; no start is before the series."""
        starts = self.starts.values
        if self.fresh and len(starts) and starts.min() < self.base:
            starts = np.maximum(starts, self.base)
        return self.best.values, starts, self._transitions, self.base

    def append(self, best, starts):
        """Append the next rows."""
        self.best.append(best)
        self.starts.append(starts)

    def count_from(self, zeros):
        """Set new zeros of costs from some boundaries on.

        `zeros` are pairs (boundary, cost at the new zero as it was counted before).
        """
        for at, zero in zeros:
            if at == self.best.end - 1:  # the last row is counted like the rows and the state that follow
                self.best.values[-1] -= zero
                at -= 1
            self._zeros.append((at, zero))

    def extend(self, other, zero):
        """Append the rows of another object whose first row is the last one here; costs here are `zero` larger."""
        self.count_from([(other.base, zero), *other._zeros])
        self.append(other.best.values[1:], other.starts.values)

    def _between(self, start, end):
        """Return what to add to differences of costs between boundaries `start` and `end` with different zeros."""
        out = np.zeros(len(start))
        if self._zeros:
            at, zeros = (np.array(column) for column in zip(*self._zeros, strict=True))
            first, last = np.searchsorted(at, start), np.searchsorted(at, end)
            for k in np.flatnonzero(first < last):
                out[k] = zeros[first[k] : last[k]].sum()
        return out

    def agreed(self, live):
        """Return the last node (row, label) that all live paths, given as starts, labels and costs, have in common.

        Row 0 means that they have no node in common.
        """
        start, label, cost = live
        return agreed(*self.history, self.unknown, np.maximum(start, self.base) if self.fresh else start, label, cost)

    def settle(self, live):
        """Return the newly decided segments and the label at the first row (see `decide`); None without such.

        After a check without success, the next one waits for twice as many rows, so that all checks together stay
        cheap.
        """
        if len(self) < self._due:
            return None
        node = self.agreed(live)
        self._due = 0 if node[0] else 2 * len(self)
        return self.decide(*node) if node[0] else None

    def decide(self, j, label):
        """Decide and return the segments that lead to a node, and the label at the first row; move the base there.

        If the first segment starts before the first row, its cost is everything paid up to its end.
        """
        labels, start, end, cost, first = trace(*self.history, self.fresh, j, label)
        query = labels - 1
        shown = np.column_stack([np.zeros_like(query), self._lengths[query]])
        if self.fresh and len(start):
            shown[0, 0] = max(self.base - int(self.starts.values[end[0] - 1, query[0]]), 0)
        start, end = start + self.base, end + self.base
        cost = cost + self._between(start, end) if self._zeros else cost
        found = SegmentTable(start, end, query, cost, shown)
        self.base += j
        self._zeros = [one for one in self._zeros if one[0] >= self.base]
        self.fresh, self.unknown = self.fresh and j == 0, False
        self.best.forget(self.base)
        self.starts.forget(self.base)
        return found, first

    def follow(self, base, found, first, zero):
        """Return the segments up to boundary `base`, where other rows start, and the segments `found` in these.

        Boundary `base` is the last row here. `first` is the label at the first of the other rows; costs here are `zero`
        larger than there.
        """
        if len(found.start) and found.start[0] < base:  # its first segment started before these rows
            s, label, best = int(found.start[0]) - self.base, int(found.query[0]) + 1, self.best.values
            first = before(best, s, self._transitions, label)
            paid = best[s, first] + (0.0 if self.fresh and not s else self._transitions[first, label])
            found.cost[0] += zero + self._between([s + self.base], [self.best.end - 1])[0] - paid
            base = s + self.base
        return [self.decide(base - self.base, first)[0], found]


# ------------------------------------------------------------------------------------------- stretches computed at once
LEAD = 4  # query lengths after which stretches of a series mostly agree
FULL = 16  # leads that a stretch has in a long series
STEP = 2**13  # minimum number of samples of a stretch in a long series
AT_ONCE = 512  # samples of each lane that are computed before they are copied to the results


class Round(NamedTuple):
    """Position of the stretches of a round: stretch i is [at + i * step, at + (i + 1) * step + lead)."""

    at: int
    step: int
    lead: int
    fresh: bool  # whether the series starts here

    @property
    def end(self):
        return self.at + SEGMENT_LANES * self.step + self.lead


def rounds(at, end, m, fresh, ended):
    """Yield the rounds of the samples [at, end) of a series; more may follow unless it `ended` there.

    Rounds depend only on where the series starts and ends. All except the last one or two have full size; the last ones
    share a smaller size, so that few samples are left.
    """
    lead = LEAD * m
    full = SEGMENT_LANES * max(FULL * lead, STEP)
    steps = [full // SEGMENT_LANES] * max((end - at - lead) // full - 1, 0)
    left = end - at - full * len(steps)
    if ended and left >= 4 * SEGMENT_LANES * lead:
        count = -(-(left - lead) // full)
        steps += [(left - lead) // (count * SEGMENT_LANES)] * count
    for step in steps:
        yield Round(at, step, lead, fresh)
        at, fresh = at + SEGMENT_LANES * step, False


class Joined(NamedTuple):
    """Segments that are decided within a round, and the undecided rows."""

    found: SegmentTable | None  # None: no decided segments
    first: int | None  # the label at the first boundary, see `Undecided.decide`
    listed: int  # from this segment on, costs are already those of the ranges
    rows: Undecided
    begin: np.ndarray | None  # the state that the preceding round must reach for the first stretch to hold
    end: np.ndarray  # the last state; samples count in the whole series


class Stretches:
    """The stretches of a round, computed at once; each counts costs from its own start.

    Attributes
    ----------
    best, begin : ndarray of shape (width of the round + 1, k + 1) and (width of the round, k)
        Costs and starts; those of all stretches but the first are filled from the first mark on.
    marks : ndarray
        Numbers of samples after which the states were stored; the last one is the end.
    states : ndarray
        These states.
    """

    def __init__(self, queries, series, rules, shape, partial):
        self.queries, self.series, self.rules, self.shape = queries, series, rules, shape
        step, lead = shape.step, shape.lead
        k, n, width = len(queries.first) - 1, SEGMENT_LANES * step + lead, step + lead
        self.best, self.begin = np.empty((n + 1, k + 1)), np.empty((n, k))
        self.best[0], self.best[0, 0] = np.inf, 0.0
        state = queries.state(SEGMENT_LANES)
        if shape.fresh and partial:
            first = queries.state()
            queries.open_begin(first)
            state.reshape(len(state), -1, SEGMENT_LANES)[:, : first.shape[1], 0] = first
        marks = [lead]
        while 2 * marks[-1] < width:
            marks.append(2 * marks[-1])
        self.marks = np.array([*marks, width])
        self.states = np.empty((len(self.marks), *state.shape))
        found = self.marks, self.states, AT_ONCE, self.best, self.begin
        kernel.advance_lanes(queries, series, step, shape.at, rules, state, *found)

    def state(self, mark, lane):
        """Return the state of one lane at a mark; samples count in the whole series."""
        one = self.states[mark].reshape(len(self.states[mark]), -1, SEGMENT_LANES)[:, :, lane].copy()
        one[[1, 4]] += self.shape.at + lane * self.shape.step
        return one

    def joined(self, known):
        """Join the stretches; return their zeros, see `Undecided.count_from`, and the last state.

        `known` is the true state where the first stretch starts, if this stretch is known to differ; else None.
        """
        first, last = (one.reshape(len(one), -1, SEGMENT_LANES) for one in (self.states[0], self.states[-1]))
        # Difference of costs between each stretch and the preceding one, where that one ends.
        apart = np.append(np.nan, kernel.difference_of(first[:, :, 1:], last[:, :, :-1], self.shape.step))
        zeros = []
        for lane in range(known is None, SEGMENT_LANES):
            at = self.shape.at + lane * self.shape.step
            if known is None and not np.isnan(apart[lane]):  # the preceding stretch holds, and the two agree
                zeros.append((at + self.shape.lead, apart[lane]))
                continue
            done, zero, known = self._meet(lane, at, self.state(-1, lane - 1) if known is None else known)
            zeros.append((at + done, zero))
        return zeros, self.state(-1, SEGMENT_LANES - 1) if known is None else known

    def _meet(self, lane, at, known):
        """Continue from the `known` state of the preceding stretch until it agrees with this one; replace its rows.

        Return how many samples were computed, the difference of costs, and None. If they never agree, the last state
        replaces None.
        """
        begin, done = lane * self.shape.step, self.shape.lead
        for mark, end in enumerate(self.marks.tolist()):
            if end > done:
                a, b = begin + done, begin + end
                own = self.rules[0][a:b], *self.rules[1:]
                piece = np.ascontiguousarray(self.series[:, a : b + 1])
                in_place = in_order(self.queries, (piece, None), 0, at + done, own, known)
                self.best[a + 1 : b + 1], self.begin[a:b] = in_place
                done = end
            zero = kernel.difference_of(self.state(mark, lane), known, 0.0)
            if not np.isnan(zero):
                return done, zero, None
        zero = known[2].min()
        zero, known = zero if np.isfinite(zero) else 0.0, known.copy()
        known[[0, 2, 3]] -= zero
        return done, zero, known


def in_order(queries, series, begin_at, offset, rules, state):
    """Return rows of costs and starts of the samples from `begin_at` on, computed by one lane; changes `state`."""
    n, k = len(rules[0]), len(queries.first) - 1
    best, begin = np.empty((n, k + 1)), np.empty((n, k))
    kernel.advance(None, queries, series, begin_at, offset, rules, state, best.reshape(-1), begin.reshape(-1))
    return best[begin_at:], begin[begin_at:]


# ------------------------------------------------------------------------------------------------------ costs of paths
ENDLESS = 2.0**62


class Columns:
    """Costs of paths by an elastic metric, with one column per query."""

    is_elastic = True

    def __init__(self, queries, rules):
        self.queries, self.rules, metric = queries, rules, queries[0].metric
        self.reach, self.lengths = metric._context, np.array([plan.m for plan in queries])
        shortest = [min(float(low or 1), ENDLESS) for low, _ in rules.limits]
        longest = [min(float(high or ENDLESS), ENDLESS) for _, high in rules.limits]
        self._rest = rules.transitions, np.array(shortest), np.array(longest)
        self._looks_back = metric._looks_back or metric.uses_times
        self._prepared = None

    def begin(self, at):
        """Restart at a sample."""
        self.at = self.run = at
        self.state = None

    def due(self, base):
        """Return the least number of samples that may decide a segment starting at `base` or later."""
        return 0

    @property
    def needed(self):
        """First sample that is still needed."""
        back = self.at - max(self.reach, 1)
        if self._looks_back and self.state is not None:
            start, _, cost = self.live()
            back = int(min(back, start[cost < np.inf].min(initial=back)))
        return max(back, self.run)

    def _prepare(self, y):
        if self._prepared is None or self._prepared.size < y.shape[1]:
            self._prepared = PreparedQueries(self.queries, y)
            self._kernel = Queries.of(self._prepared.problems)

    def _series(self, y, ty):
        """Return the series that the kernel of one lane compares (features, or costs for each query), and its times."""
        parts, ty = self._prepared.series(y), self.queries[0].compared(ty)
        if self._kernel.rows is None:
            return np.concatenate(parts, axis=1), None
        y = np.concatenate([np.zeros((len(parts[0]), 1)), parts[0]], axis=1)
        return y, None if ty is None else np.concatenate([ty[:1] - 1.0, ty])

    def go_on(self, feed, upto, end):
        """Return rows of `best` and `begin` for the samples up to `upto`; there is no gap before sample `end`."""
        back = self.needed
        y, ty = feed.cut(back, min(end, upto + self.reach))
        self._prepare(y)
        if self.state is None:
            self.state = self._kernel.state()
            if self.rules.partial:
                self._kernel.open_begin(self.state, self.run)
        if self._looks_back:  # cells without a path may hold an outdated start
            at = self._kernel.at_cost
            self.state.reshape(-1)[at[np.isinf(self.state.take(at))] + self.state.shape[1]] = self.at
        rules = self.rules.background.costs(y[:, : upto - back]), *self._rest
        rows = in_order(self._kernel, self._series(y, ty), self.at - back, back, rules, self.state)
        self.at = upto
        return rows

    def task(self, feed, shape, upto):
        """Return the arguments of `compute`: the samples of a round, the index of the first one, and the round."""
        back = max(self.run, shape.at - 1 - 2 * self.reach)
        y, _ = feed.cut(back, min(upto, shape.end + self.reach))
        self._prepare(y)
        return y, back, shape

    def compute(self, y, back, shape, listed, known=None, rows=None):
        """Compute a round; return the segments that it decides, and the undecided rows.

        Parameters
        ----------
        y, back, shape
            The results of `task`.
        listed : bool
            Whether segments get the costs of their ranges.
        known : ndarray
            The true state of the series where the first stretch starts, if the round was found not to agree with it.
        rows : Undecided
            The undecided rows up to there.
        """
        at, skip, own = shape.at, 0 if shape.fresh else shape.lead, slice(shape.at - back, shape.end - back)
        series = np.ascontiguousarray(self._series(y, None)[0][:, own.start : own.stop + 1])
        rules, queries = (self.rules.background.costs(y[:, own]), *self._rest), self._kernel
        stretches = Stretches(queries, series, rules, shape, self.rules.partial)
        first = stretches.state(0, 0) if known is None else None
        zeros, end = stretches.joined(known)
        best, begin = stretches.best[skip:], stretches.begin[skip:]
        if rows is None:
            rest = self.rules.transitions, self.lengths
            rows = Undecided(at + skip, best, begin, *rest, fresh=shape.fresh, unknown=not shape.fresh)
        else:
            rows.append(best[1:], begin)
        rows.count_from(zeros)
        settled = rows.settle(queries.live(end))
        if settled is None:
            return Joined(None, None, 0, rows, first, end)
        rows.best.shrink()  # because they may wait for long
        rows.starts.shrink()
        found, label = settled
        known_from = at + (skip if known is None else 0)  # segments that start earlier have no cost yet
        k = int(np.searchsorted(found.start, known_from)) if listed else len(found.start)
        k += int(found.shown[:1, 0].sum() > 0)  # the first segment may be partial
        if k < len(found.start):
            ranges = found.start[k:] - at, found.end[k:] - at, found.query[k:]
            found.cost[k:] = costs_of_ranges(queries, series, *ranges)
        return Joined(found, label, k, rows, first, end)

    def live(self):
        """Return starts, labels and costs of unfinished paths; the cost is infinite where no path is."""
        if self.state is None:
            return np.empty(0), np.empty(0, np.int64), np.empty(0)
        return self._kernel.live(self.state)

    def open_end(self, rows):
        """Let the end of the series cut repetitions off.

        Return how many points of each query its last repetition covers.
        """
        if not self.rules.partial or self.state is None:
            return self.lengths
        state, row, begin = self.state.copy(), rows.best.values[-1].copy(), rows.starts.values[-1] - self.run
        state[1] -= self.run
        shown = self._kernel.open_end(state, self.at - self.run, row, begin, *self._rest[1:])
        rows.best.values[-1], rows.starts.values[-1] = row, begin + self.run
        return shown

    def keep(self, held, best):
        """Drop all paths for which `held(start, label)` is false; `best` are the costs that remain."""
        if self.state is not None:
            start, label, _ = self.live()
            self.state.reshape(-1)[self._kernel.at_cost[~held(start.astype(np.int64), label)]] = np.inf
            self.state[2, : len(best[-1])] = (best[-1][:, np.newaxis] + self.rules.transitions).min(axis=0)

    def forget(self, base):
        """Do nothing: a column needs no samples or costs before the base."""


class Windows:
    """Costs of windows with each query's length."""

    is_elastic, reach = False, 0

    def __init__(self, queries, rules):
        self.queries, self.rules = queries, rules
        self.lengths = np.array([plan.m for plan in queries])
        for m, (shortest, longest) in zip(self.lengths, rules.limits, strict=True):
            check_lengths(m, shortest, longest, "'lengths'")
        self.short, self.long = int(self.lengths.min()), int(self.lengths.max())
        self.label = np.repeat(np.arange(1, len(self.lengths) + 1), self.lengths - 1)
        self.ago = np.concatenate([np.arange(m - 1, 0, -1.0) for m in self.lengths])  # ages of unfinished windows

    def begin(self, at):
        """Restart at a sample."""
        self.at = self.run = at
        self.edges = Buffer((len(self.lengths) + 1,), first=at)  # minimum cost if a label follows
        self.edges.append(np.zeros((1, len(self.lengths) + 1)))

    def due(self, base):
        """Return the least number of samples that may decide a segment starting at `base` or later.

        The longest unfinished window may start at the last undecided boundary.
        """
        return base + self.short + self.long - 1

    @property
    def needed(self):
        """First sample that is still needed."""
        return max(self.at - max(self.long - 1, 1), self.run)  # the last sample shows whether a gap follows

    def go_on(self, feed, upto, end):
        """Return rows of `best` and `begin` for the samples up to `upto`; there is no gap before sample `end`."""
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
        """Return starts, labels and costs of unfinished windows; the cost is infinite where no window is possible."""
        start = self.at - self.ago
        return start, self.label, np.where(start >= self.run, 0.0, np.inf)

    def open_end(self, rows):
        """Return the number of points of each query that a repetition covers: all of them."""
        return self.lengths

    def keep(self, held, best):
        """Keep only continuations of the finite costs in `best`."""
        edges = self.edges.values
        edges[:] = (best[:, :, np.newaxis] + self.rules.transitions).min(axis=1)
        if self.edges.first == self.run:
            edges[0] = 0.0

    def forget(self, base):
        """Drop the costs that no segment starting at boundary `base` or later needs."""
        self.edges.forget(base)


# -------------------------------------------------------------------------------------------------- whole segmentations
BLOCK = 2**13  # samples that are computed before a check for decided segments
WINDOWS = 2**17  # the same for windows
AHEAD = 16  # rounds per job that are distributed together


class Segmentation:
    """The cheapest segmentation of a recording that arrives in chunks; a gap ends one segmentation and starts another.

    Results do not depend on the chunks or on the number of jobs. If the segmentation is `listed`, the costs of segments
    are those of their ranges. A `prompt` segmentation, as in a stream, decides as much as each chunk allows, and after
    `max_delay` samples it follows the cheapest segmentation so far. It has no rounds.
    """

    def __init__(self, queries, rules, feed, n_jobs=None, count=nothing, *, listed=True, prompt=False, max_delay=None):
        self._versions = versions = Versions(queries)
        label, limits = np.append(0, versions.query + 1), tuple(rules.limits[q] for q in versions.query)
        classes = rules.classes and rules.classes._replace(of_query=rules.classes.of_query[versions.query])
        rules = rules._replace(transitions=rules.transitions[np.ix_(label, label)], limits=limits, classes=classes)
        self._plan, self._feed, self._rules = versions.queries[0], feed, rules
        self._n_jobs, self._count, self._prompt, self._max_delay = n_jobs, count, prompt, max_delay
        self._readers = versions.readers(feed) if listed else None
        self._paths = (Columns if self._plan.mode == "subsequence" else Windows)(versions.queries, rules)
        self._lists = listed and self._paths.is_elastic and depends_on_path(self._plan, rules)
        self._noted, self._told = 0, []  # number of samples processed; decided segments to return
        self._begin(0)

    def _begin(self, at):
        self._paths.begin(at)
        transitions, k = self._rules.transitions, len(self._paths.lengths)
        first = np.array([[0.0] + [np.inf] * k])
        self._rows = Undecided(at, first, np.empty((0, k)), transitions, self._paths.lengths, fresh=True)
        self._next = at  # start of the next round

    @property
    def due(self):
        """The number of samples before which nothing is decided, unless there is a gap."""
        due, base = self._paths.due(self._rows.base), self._rows.base
        return due if self._max_delay is None else min(due, base + self._max_delay + 1)

    def take(self, last=False, timed=False):
        """Return the segments that are newly decided; at the `last` sample all remaining ones.

        A prompt segmentation that is `timed` waits for the sample after a segment, because that gives the time of its
        end.
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
        found, self._told = SegmentTable.together(self._told), []
        return found._replace(query=self._versions.query[found.query], version=self._versions.version[found.query])

    @property
    def needed(self):
        """First sample that is still needed."""
        reach = self._paths.reach
        least = min(self._rows.base - reach, self._paths.needed)
        return least if self._prompt else min(least, self._next - 1 - 2 * reach)

    def _end_stretch(self, gap):
        """Decide everything up to a gap."""
        self._advance(gap, last=True)
        shown, last = self._paths.open_end(self._rows), len(self._rows) - 1
        label = before(self._rows.best.values, last, self._rules.transitions, -1)
        found = self._rows.decide(last, label)[0]
        if found.end[-1:].tolist() == [gap]:
            found.shown[-1, 1] = shown[found.query[-1]]
        self._tell(found)

    def _tell(self, found, listed=None):
        """Add segments to those that the current `take` returns.

        From segment number `listed` on, costs are already those of the ranges; by default none has such a cost.
        """
        if not len(found.start):
            return
        if self._readers is not None:
            found.cost[:listed] = listed_costs(self._readers, self._rules, found.take(slice(listed)))
            if self._rules.classes is not None:
                found = self._rules.classes.classified(self._readers, found)
        self._told.append(found)

    def _advance(self, upto, last=False):
        """Advance to sample `upto`; if it is the `last`, the stretch ends there."""
        paths = self._paths
        if upto == paths.run:
            return
        # Several stretches can be computed at once unless times or the caller's own costs are compared.
        alone = self._prompt or self._plan.tx is not None or getattr(self._plan.metric, "dist", None) is not None
        if paths.is_elastic and not alone:
            self._advance_by_rounds(upto, last)
            if not last:
                return
        known, block = upto if last else upto - paths.reach, BLOCK if paths.is_elastic else WINDOWS
        while paths.at < known:
            end = known if self._prompt else min(paths.at + block, known)
            if end - paths.at < block and not (last or self._prompt):
                return
            self._count(end - paths.at)
            self._rows.append(*paths.go_on(self._feed, end, upto))
            if not (self._prompt or (last and end == upto)):  # the end of a stretch decides everything anyway
                self._settle()

    def _settle(self):
        settled = self._rows.settle(self._paths.live())
        if settled is not None:
            self._tell(settled[0])
            self._paths.forget(self._rows.base)

    def _settle_promptly(self, timed):
        """Decide what all segmentations that may be cheapest have in common, and whatever `max_delay` requires."""
        rows, seen = self._rows, self._feed.seen
        node = rows.agreed(self._paths.live())
        if self._max_delay is not None:
            late = min(seen - self._max_delay - rows.base, len(rows) - 1)
            if node[0] < late:
                node = self._force(late)
        if node[0] and timed and rows.base + node[0] == seen:
            node = previous(*rows.history, *node)  # wait for the next sample, which gives the time of the end
        if node[0]:
            self._tell(rows.decide(*node)[0])
            self._paths.forget(rows.base)

    def _force(self, late):
        """Decide by the cheapest segmentation up to a boundary, and drop all paths that disagree with it."""
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
        self._rows.best.values[:] = new
        return node

    def _advance_by_rounds(self, upto, last):
        """Compute the rounds that are known by now, several for each job at a time."""
        paths, feed = self._paths, self._feed
        longest = int(paths.lengths.max())
        shapes = list(rounds(self._next, upto, longest, self._next == paths.run, last))
        jobs = count_jobs(self._n_jobs)
        together = AHEAD * jobs if jobs > 1 else 1
        for k in range(0, len(shapes) if last else len(shapes) // together * together, together):
            tasks = [paths.task(feed, shape, upto) for shape in shapes[k : k + together]]
            calls = [delayed(paths.compute)(*task, self._lists) for task in tasks]
            found = each_in_jobs(calls, len(calls), jobs, 0, "segmentation", "round")
            for task, one in zip(tasks, found, strict=True):
                self._join(task, one)

    def _join(self, task, one):
        """Append the results of a round, recomputed from the preceding state if it does not agree with that."""
        paths, rows, shape = self._paths, self._rows, task[-1]
        zero = 0.0 if shape.fresh else kernel.difference_of(one.begin, paths.state, 0.0)
        if np.isnan(zero):
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
        paths.at, paths.state = shape.end, one.end
        self._next = shape.at + SEGMENT_LANES * shape.step
        self._count(shape.end - shape.at if shape.fresh else shape.end - shape.at - shape.lead)
        if one.rows is not self._rows:
            self._settle()


def segment(queries, rules, source, n_jobs=None, verbose=0, *, listed=False, part=None):
    """Return the segments of the cheapest segmentation of a sequence, which is in memory or read by chunks.

    No segment crosses a missing value or a time gap; a new segmentation starts after it. With `listed`, costs are those
    of the ranges, and margins of classes are computed. A `part` [first, end) is segmented as if it were all.
    """
    whole, found = source.in_memory, []
    first, end = (0, len(source)) if part is None else (int(one) for one in part)
    if whole and part is not None:
        source = ArraySource(*source.cut(first, end))
    samples, total = source if whole else LastSamples(queries[0]), end - first
    if whole and verbose:
        total = int(np.diff(source.runs(queries[0])).sum())
    with progress(total, verbose, "segmentation", "sample") as count:
        segmentation = Segmentation(queries, rules, samples, n_jobs, count if whole else nothing, listed=listed)
        for y, ty, _ in () if whole else source.chunks(first, end):
            samples.append(y, ty)
            found.append(segmentation.take())
            samples.forget(segmentation.needed)
            count(y.shape[1])
        found.append(segmentation.take(last=True))
    found = SegmentTable.together(found)
    return found._replace(start=found.start + first, end=found.end + first)

"""State of a segmentation that is not decided yet: rows of costs and starts, and the paths that lead back through them.

Repetitions may be cut off by an end of the series: paths then start or end within a query, at no cost. At least half of
the query's points must be observed. A path that starts at point i of its query has the start -i, as if the points
before it were before the series, so bounds of the length hold for the whole repetition.

Segments that are listed have the costs of their ranges, each computed by itself.
"""

from typing import NamedTuple

import numpy as np

from ...distances._kernels.dispatch import closed_boundary
from ...distances._kernels.scalar import agreed, before, trace
from ...distances._kernels.segmentation import INF, SEGMENT_LANES, range_costs
from ...distances._kernels.simd import aligned_zeros
from .._chunks import Buffer


class Queries(NamedTuple):
    """Several queries as the kernels read them."""

    p: object  # their record, or a tuple of one each
    rows: np.ndarray | None
    points: np.ndarray
    first: np.ndarray
    tx: np.ndarray | None

    @classmethod
    def of(cls, problems):
        """Return the queries of several prepared pairs with one series."""
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

    def state(self, lanes=1):
        """Return the kernel's state before the first sample."""
        m, k = self.first[-1], len(self.first) - 1
        state = aligned_zeros(5, max(m, k + 1) * lanes)
        state[[0, 2, 3]] = INF
        state[2, : (k + 1) * lanes] = 0.0
        return state

    def one(self, q):
        """Return the query `q` alone."""
        own = slice(self.first[q], self.first[q + 1])
        return Queries(
            self.p if hasattr(self.p, "_fields") else self.p[q],
            np.ascontiguousarray(self.rows[:, :, own]),
            np.ascontiguousarray(self.points[:, own]),
            np.array([0, own.stop - own.start]),
            None,
        )

    @property
    def at_cost(self):
        """Indices of the costs of unfinished paths in a state: in the queries, and at their borders."""
        m, k = self.first[-1], len(self.first) - 1
        return np.concatenate([np.arange(m), 3 * max(m, k + 1) + np.arange(k)])

    @property
    def at_start(self):
        """Indices of the starts of unfinished paths in a state."""
        return self.at_cost + max(self.first[-1], len(self.first))

    def live(self, state):
        """Return starts, labels and costs of unfinished paths; costs are infinite without a path."""
        number = np.arange(1, len(self.first))
        label = np.concatenate([np.repeat(number, np.diff(self.first)), number])
        return state.take(self.at_start), label, state.take(self.at_cost)


def as_series(parts, ty, has_rows):
    """Return the series that the kernel of one lane compares, features or costs with each query, and its times."""
    if not has_rows:
        return np.concatenate(parts, axis=1), None
    (y,) = parts
    y = np.concatenate([np.zeros((len(y), 1)), y], axis=1)
    return y, None if ty is None else np.concatenate([ty[:1] - 1.0, ty])


def halves(first):
    """Yield for each query its first point, its number of points, and how many of them may be missing."""
    m = np.diff(first)
    return zip(first[:-1].tolist(), m.tolist(), (m // 2).tolist(), strict=True)


def open_begin(state, queries, at=0):
    """Let paths start within the queries before the first sample `at`; changes `state`, see `segmentation.advance`."""
    for q, (a, m, unseen) in enumerate(halves(queries.first)):
        state[0, a : a + unseen] = 0.0
        state[1, a : a + unseen] = at - np.arange(1.0, unseen + 1)
        record = queries.p if hasattr(queries.p, "_fields") else queries.p[q]
        if not closed_boundary(record):  # where points may be skipped, more of them for their gap cost
            state[0, a + unseen : a + m] = np.cumsum(queries.points[0, a + unseen : a + m])
            state[1, a + unseen : a + m] = at - unseen


def open_end(state, first, n, best, begin, shortest, longest):
    """Let paths end within the queries after the last of n samples, where that is cheaper; changes the last row.

    ``best`` is (k + 1,) and ``begin`` (k,). Return for each query how many of its points its last segment covers.
    """
    shown = np.diff(first)
    for q, (a, m, unseen) in enumerate(halves(first)):
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


class Parts(NamedTuple):
    """Segments in temporal order."""

    start: np.ndarray
    end: np.ndarray
    label: np.ndarray  # of the query, from 1
    cost: np.ndarray
    hidden: np.ndarray  # how many of the query's first points lie before the series


class Undecided:
    """Rows behind the last node that is decided, a boundary with the label of the part that ends there.

    Attributes
    ----------
    base : int
        The boundary of the first row.
    fresh : bool
        Whether nothing is before it.
    unknown : bool
        Whether what is before it is not known: then it is no node yet, and paths may come from before it.
    """

    def __init__(self, base, best, starts, transitions, *, fresh=False, unknown=False):
        self.base, self.fresh, self.unknown, self._transitions = base, fresh, unknown, transitions
        self._best, self._starts = Buffer.of(best, base), Buffer(after=starts.shape[1:], first=base)
        self._given = None  # starts before the series, where its begin may cut a repetition off
        self._starts = Buffer.of(self._cut(starts), base)
        if self._given is not None:
            self._given.append(starts)
        self._zeros = []  # see `count_from`
        self._due = 0  # rows there must be before it pays to look what is decided

    def __len__(self):
        return len(self._best)

    @property
    def best(self):
        """Costs of the cheapest segmentations up to each boundary, by their last label."""
        return self._best.values

    @property
    def starts(self):
        """Starts of the last segments (n, k)."""
        return self._starts.values

    @property
    def given(self):
        """Starts of the last segments (n, k); a repetition that is cut off by the first sample starts before it."""
        return self.starts if self._given is None else self._given.values

    @property
    def history(self):
        """Costs, starts, transitions and the first boundary, as kernels trace paths."""
        return self.best, self.starts, self._transitions, self.base

    def append(self, best, starts):
        """Add the rows that follow; repetitions that the start of the series cuts off start before it."""
        self._best.append(best)
        self._starts.append(self._cut(starts))
        if self._given is not None:
            self._given.append(starts)

    def _cut(self, starts):
        """Return starts none of which is before the series.

        From the first start before it on, all are also kept as they were given.
        """
        if self.fresh and len(starts) and starts.min() < self.base:
            if self._given is None:
                self._given = Buffer(after=starts.shape[1:], first=self.base)
                self._given.append(self.starts)
            return np.maximum(starts, self.base)
        return starts

    def change_end(self, row, starts):
        """Replace the last row."""
        self.best[-1], self.starts[-1] = row, self._cut(starts)
        if self._given is not None:
            self._given.values[-1] = starts

    def count_from(self, zeros):
        """Count costs behind boundaries from other zeros.

        `zeros` are pairs (boundary, how much larger costs are before it than they would be counted behind it).
        """
        for at, zero in zeros:
            if at == self._best.end - 1:  # the last row goes with what is to come, as the state behind it does
                self.best[-1] -= zero
                at -= 1
            self._zeros.append((at, zero))

    def extend(self, other, zero):
        """Add the rows of another, whose first row is the last one here and costs `zero` more here."""
        self.count_from([(other.base, zero), *other._zeros])
        self.append(other.best[1:], other.starts)

    def shrink(self):
        """Hold no more memory than the rows take."""
        for rows in (self._best, self._starts, self._given):
            if rows is not None:
                rows.shrink()

    def _between(self, start, end):
        """Return the corrections of differences of costs at boundaries [start, end), as these count from zeros."""
        out = np.zeros(len(start))
        if self._zeros:
            at, zeros = (np.array(column) for column in zip(*self._zeros, strict=True))
            first, last = np.searchsorted(at, start), np.searchsorted(at, end)
            for k in np.flatnonzero(first < last):
                out[k] = zeros[first[k] : last[k]].sum()
        return out

    def drop(self, best):
        """Replace all costs, some paths being dropped."""
        self.best[:] = best

    def agreed(self, live):
        """Return the node, row and label, that all live paths (starts, labels, costs) have in common.

        Row 0 means no such node.
        """
        start, label, cost = live
        if self.fresh:
            start = np.maximum(start, self.base)
        return agreed(*self.history, self.unknown, start, label, cost)

    def settle(self, live):
        """Return the segments decided by now and the label at the first row, see `decide`; None for nothing.

        After a vain look the next one is due at twice as many rows, so that all looks take no longer than the last.
        """
        if len(self) < self._due:
            return None
        node = self.agreed(live)
        self._due = 0 if node[0] else 2 * len(self)
        return self.decide(*node) if node[0] else None

    def finish(self):
        """Return the segments of the cheapest segmentation up to the end."""
        last = len(self) - 1
        return self.decide(last, before(self.best, last, self._transitions, -1))[0]

    def decide(self, j, label):
        """Return the segments that lead to a node, and the label at the first row; later segments start from the node.

        If the first segment starts before the first row, its cost is all that was paid up to its end.
        """
        labels, start, end, cost, first = trace(*self.history[:3], self.base, self.fresh, j, label)
        hidden = np.zeros_like(start)
        if self._given is not None and len(start):
            hidden[0] = max(self.base - int(self.given[end[0] - 1, labels[0] - 1]), 0)
        start, end = start + self.base, end + self.base
        found = Parts(start, end, labels, cost + self._between(start, end), hidden)
        self.base += j
        self._zeros = [one for one in self._zeros if one[0] >= self.base]
        self._given, self.fresh, self.unknown = None, self.fresh and j == 0, False
        for rows in (self._best, self._starts):
            rows.forget(self.base)
        return found, first

    def follow(self, base, found, first, zero):
        """Return the segments up to the first row of another state, with those `found` from there on.

        The first row of the other is the last one here. `first` is the other's label at its first row; costs here are
        `zero` more than there.
        """
        if len(found.start) and found.start[0] < base:  # which comes from before it
            s, label = int(found.start[0]) - self.base, int(found.label[0])
            first = before(self.best, s, self._transitions, label)
            paid = self.best[s, first] + (0.0 if self.fresh and not s else self._transitions[first, label])
            found.cost[0] += zero + self._between([s + self.base], [self._best.end - 1])[0] - paid
            base = s + self.base
        return [self.decide(base - self.base, first)[0], found]


ALONE = np.full((2, 2), INF)  # nothing may follow a repetition
ANY_LENGTH = np.ones(1), np.full(1, 2.0**62)
SLACK_FROM = 2**40  # a number of windows that no recording has
SPAN = 2**9  # samples that are prepared in the time that a search of one range takes to begin


def depends_on_path(plan, rules):
    """Return whether the cost that a segment's path carries may differ from that of its range."""
    return plan.metric._depends_on_start or any(longest is not None for _, longest in rules.limits)


def listed_costs(readers, rules, segments):
    """Return the cost of each segment's query against its range, which the reader of that query computes.

    The path behind a segment is the cheapest one of its range, unless the best move into a cell depends on the path up
    to there: on its start, or on others that were longer than allowed and dropped. The distances of many long windows
    may come from Fourier transforms; those listed never do, so that a stream lists the same.
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
        search = reader.search(int(start[0]), int(end[-1])) if _are_dense(reader, start, end) else None
        points = [None] * len(start) if shown is None else shown.tolist()
        for k, (s, e, some) in enumerate(zip(start.tolist(), end.tolist(), points, strict=True)):
            cost[k] = (search or reader.search(s, e)).cost(s, e, some)
    return cost


def _are_dense(reader, start, end):
    """Return whether ranges depend on no other samples, and are prepared together as all between them are held."""
    first, last = int(start[0]), int(end[-1])
    return reader.plan.reach == 0 and last - first <= SPAN * len(start) and last <= reader.source.extent(first)[1]


class Classes(NamedTuple):
    """The classes of the queries, and by how much more the costs of a rare class count.

    Whether a stretch is of a class is told by the ratio of its costs, as the size of its noise is not known. The rarer
    a class, the cheaper it must be beside the others; and much more where it leaves over a larger share of what the
    samples would cost as plain background than its occurrences do: what resembles nothing is of a frequent class.
    """

    of_query: np.ndarray  # (k,), from 0
    # (n_classes,), occurrences of the most frequent class for one; None: all count alike
    rarity: np.ndarray | None = None
    share: np.ndarray | None = None  # (n_classes,), that an occurrence is expected to leave over
    plain: object = None  # Background

    def costs(self, readers, start, end):
        """Return the costs of each range as each query (n, k), and how they count as each class (n, n_classes)."""
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
        """Return what the samples of each range cost as plain background."""
        ranges = zip(start.tolist(), end.tolist(), strict=True)
        costs = [self.plain.costs(source.cut(s, e)[0]).sum() for s, e in ranges]
        return np.maximum(costs, np.finfo(float).tiny)


RARER = 1 / 6  # power of how rare a class is by which its cost counts more


def margins(counted, own):
    """Return how much less ranges cost as their `own` class than as the next, as a share of that; NaN without one."""
    rows, rest = np.arange(len(own)), counted.copy()
    rest[rows, own] = np.inf
    mine, other = counted[rows, own], rest.min(axis=1)
    with np.errstate(all="ignore"):
        margin = np.where(mine == other, 0.0, 1.0 - mine / other)
    return np.where(np.isfinite(other), margin, np.nan)


def classified(readers, classes, found):
    """Return segments with their margins, each as the class as which its range counts least if rare ones count more.

    Segments that an end of the series cuts off stay as they are, without a margin.
    """
    m = np.array([reader.plan.m for reader in readers])
    whole = (found.shown == np.column_stack([np.zeros_like(found.query), m[found.query]])).all(axis=1)
    costs, counted = classes.costs(readers, found.start, found.end)
    own = classes.of_query[found.query]
    rows = np.arange(len(own))
    if classes.rarity is not None:
        best = counted.argmin(axis=1)
        moved = np.flatnonzero(whole & (counted[rows, best] < counted[rows, own]))
        own[moved] = best[moved]
        query = np.where(classes.of_query == own[moved, np.newaxis], costs[moved], np.inf).argmin(axis=1)
        found.query[moved], found.cost[moved] = query, costs[moved, query]
        found.shown[moved, 1] = m[query]
    return found._replace(margin=np.where(whole, margins(counted, own), np.nan))


def costs_of_ranges(queries, series, start, end, query):
    """Return the costs of ranges [start, end) of one series under an elastic metric, a lane for each.

    `series` (channels, n + 1) are features of samples, and in front one that no range holds.
    """
    out = np.empty(len(start))
    for q in np.unique(query):
        one, own = queries.one(q), np.flatnonzero(query == q)
        own = own[np.argsort(end[own] - start[own], kind="stable")]
        found = np.empty(len(own))
        range_costs(one, series, start[own], (end - start)[own], ALONE, ANY_LENGTH, one.state(SEGMENT_LANES), found)
        out[own] = found
    return out

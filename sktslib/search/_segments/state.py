"""State of a segmentation that is not decided yet: rows of costs and starts, and the paths that lead back through them.

Repetitions may be cut off by an end of the series: paths then start or end within a query, at no cost. At least half of
the query's points must be observed. A path that starts at point i of its query has the start -i, as if the points
before it were before the series, so bounds of the length hold for the whole repetition.

Segments that are listed have the costs of their ranges, each computed by itself.
"""

from typing import NamedTuple

import numpy as np

from ...distances._kernels.dispatch import closed_boundary
from ...distances._kernels.scalar import agreed, apart, before, trace
from ...distances._kernels.segmentation import INF, SEGMENT_LANES, range_costs
from .._chunks import Buffer


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
        self._codes, self._coded = Buffer(after=best.shape[1:], dtype=np.int64, first=base), 0  # see `branch`
        self._given = None  # starts before the series, where its begin may cut a repetition off
        self._starts = Buffer.of(self._cut(starts), base)
        if self._given is not None:
            self._given.append(starts)
        self._zeros = []  # see `count_from`
        self._due = 0  # rows there must be before it pays to look what is decided

    @classmethod
    def begun(cls, at, transitions):
        """Return the first row of a series that starts at a sample."""
        k = len(transitions) - 1
        return cls(at, cls.first_row(k)[np.newaxis], np.empty((0, k)), transitions, fresh=True)

    @staticmethod
    def first_row(k):
        """Return the costs of what leads to the start of a series."""
        return np.array([0.0] + [np.inf] * k)

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
        for rows in (self._best, self._starts, self._given, self._codes):
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
        self._coded = 0

    def agreed(self, live):
        """Return the node, row and label, that all live paths (starts, labels, costs) have in common.

        Row 0 means no such node.
        """
        start, label, cost = live
        if self.fresh:
            start = np.maximum(start, self.base)
        return agreed(*self.history, self.unknown, start, label, cost)

    def agreed_by_now(self, live):
        """Return the node of `agreed` at calls every few rows: while nothing is decided, only new rows are read."""
        self._codes.append(np.zeros((self._best.end - self._codes.end, self.best.shape[1]), np.int64))
        known, self._coded = self._coded, len(self) - 1
        return (0, 0) if apart(*self.history, self._codes.values, known, *live) else self.agreed(live)

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
        self._coded, self._given, self.fresh, self.unknown = 0, None, self.fresh and j == 0, False
        for rows in (self._best, self._starts, self._codes):
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
    if plan.mode == "windows":
        return _listed_windows(readers, segments)
    if not depends_on_path(plan, rules):
        return segments.cost
    cost = np.empty(len(segments.cost))
    for q in np.unique(segments.query).tolist():
        own = np.flatnonzero(segments.query == q)
        start, end = segments.start[own], segments.end[own]
        reader, first, last = readers[q], int(start[0]), int(end[-1])
        # Ranges that depend on no other samples are prepared together where all between them are held.
        dense = reader.plan.reach == 0 and last - first <= SPAN * len(own) and last <= reader.source.extent(first)[1]
        search = reader.search(first, last) if dense else None
        rows = (column.tolist() for column in (own, start, end, segments.shown[own]))
        for k, s, e, shown in zip(*rows, strict=True):
            cost[k] = (search or reader.search(s, e)).cost(s, e, shown)
    return cost


def _listed_windows(readers, segments):
    cost = segments.cost.copy()
    for q, reader in enumerate(readers):
        plan, own = reader.plan, segments.query == q
        if own.any() and plan.metric._relative_error(plan.x, plan.w, SLACK_FROM, None):
            cost[own] = plan.metric._segment_cost(reader.distances(segments.start[own], segments.end[own]), plan.m)
    return cost


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

"""The recurrence of segmentations piece by piece: rows of costs and starts for new samples."""

import numpy as np

from ...distances._kernels.one_pass import windows
from .._buffer import Buffer
from .._comparison import check_lengths
from .._profiles.window_profile import window_profile
from .._streaming.incremental_profile import IncrementalProfile, PreparedQueries
from .partial import open_begin, open_end
from .stretches import Queries, as_series, compute, in_order


class Samples(IncrementalProfile):
    """The last samples of a recording; no gap lies between the paths' last sample and `end`."""

    end = 0

    @property
    def needed(self):
        return self.seen


def paths_of(queries, rules):
    """The costs of paths under the metric of the queries."""
    return (Columns if queries[0].mode == "subsequence" else Windows)(queries, rules)


class Columns:
    """The costs of paths under an elastic metric, one column per query."""

    def __init__(self, queries, rules):
        self.queries, self.rules, metric = queries, rules, queries[0].metric
        self.reach, self.bounds = metric._reach, rules.bounds()
        self.longest = max(how.m for how in queries)
        self._looks_back = metric._looks_back or metric.uses_times
        self._prepared = None
        self.begin(0)

    def begin(self, at):
        """Start anew at a sample."""
        self.at = self.run = at
        self.state = None

    def due(self, base):
        """How many samples there must be before a segment that starts at `base` or later can be decided."""
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
            self._kernel = Queries.of(self._prepared.problems)

    def runs_diagonally(self, feed):
        """Whether rounds of stretches side by side are possible."""
        self._prepare(feed.cut(feed.end - 1, feed.end)[0])
        return self._prepared.problems[0].runs_diagonally

    def _series(self, y, ty):
        return as_series(self._prepared.series(y), self.queries[0].compared(ty), self._kernel.rows is not None)

    def _own(self, background):
        return background, self.rules.transitions, *self.bounds

    def go_on(self, feed, upto):
        """Rows of `best` and `begin` for the samples up to `upto`."""
        back = self.needed
        y, ty = feed.cut(back, min(feed.end, upto + self.reach))
        self._prepare(y)
        if self.state is None:
            self.state = self._kernel.state()
            if self.rules.partial:
                open_begin(self.state, self._kernel, self.run)
        if self._looks_back:  # cells without a path may hold an outdated start
            cells = self._kernel.at_start[np.isinf(self.state.take(self._kernel.at_cost))]
            self.state.reshape(-1)[cells] = self.at
        costs = self.rules.background.costs(y[:, : upto - back])
        rows = in_order(self._kernel, self._series(y, ty), self.at - back, back, self._own(costs), self.state)
        self.at = upto
        return rows

    def task(self, feed, shape):
        """What a round needs: samples that its features depend on, and the first of them."""
        back = max(self.run, shape.at - 1 - 2 * self.reach)
        y, _ = feed.cut(back, min(feed.end, shape.end + self.reach))
        self._prepare(y)
        return y, back, shape

    def compute(self, y, back, shape, listed, *known):
        """What a round gives; see `stretches.compute`."""
        at, end = shape.at - back, shape.end - back
        series = np.ascontiguousarray(self._series(y, None)[0][:, at : end + 1])
        rules = self._own(self.rules.background.costs(y[:, at:end]))
        return compute(self._kernel, series, (*rules, self.rules.partial), shape, listed, *known)

    def take(self, shape, state):
        """Go on behind a round."""
        self.at, self.state = shape.end, state

    def live(self):
        """Starts, labels and costs of unfinished paths; infinite where there is none."""
        if self.state is None:
            return np.empty(0), np.empty(0, np.int64), np.empty(0)
        return self._kernel.live(self.state)

    def open_end(self, rows):
        """Let the end of the series cut repetitions off; how many points of each query its last repetition covers."""
        shown = np.array([how.m for how in self.queries])
        if not self.rules.partial or self.state is None:
            return shown
        state, begin = self.state.copy(), rows.given[-1] - self.run
        state[1] -= self.run
        row = rows.best[-1].copy()
        shown = open_end(state, self._kernel.first, self.at - self.run, row, begin, *self.bounds)
        rows.change_end(row, begin + self.run)
        return shown

    def keep(self, held, best):
        """Drop all paths but those for whose starts and labels `held` (start, label) is true."""
        if self.state is not None:
            start, label, _ = self.live()
            self.state.reshape(-1)[self._kernel.at_cost[~held(start.astype(np.int64), label)]] = np.inf
            self.state[2, : len(best[-1])] = (best[-1][:, np.newaxis] + self.rules.transitions).min(axis=0)

    def forget(self, base):
        """Drop what no segment that starts at a boundary or later needs."""


class Windows:
    """The costs of the windows of each query's length."""

    reach = 0

    def __init__(self, queries, rules):
        self.queries, self.rules = queries, rules
        self.lengths = np.array([how.m for how in self.queries])
        for m, limits in zip(self.lengths, self.rules.limits, strict=True):
            check_lengths(m, *limits)
        self.short, self.long = int(self.lengths.min()), int(self.lengths.max())
        self.label = np.repeat(np.arange(1, len(self.lengths) + 1), self.lengths - 1)
        self.ago = np.concatenate([np.arange(m - 1, 0, -1.0) for m in self.lengths])  # when unfinished ones began
        self.begin(0)

    def begin(self, at):
        """Start anew at a sample."""
        self.at = self.run = at
        self.edges = Buffer(after=(len(self.lengths) + 1,), first=at)  # minimum cost where each label follows
        self.edges.append(np.zeros((1, len(self.lengths) + 1)))

    def due(self, base):
        """How many samples there must be before a segment that starts at `base` or later can be decided.

        The longest of the unfinished windows starts where nothing is decided yet.
        """
        return base + self.short + self.long - 1

    @property
    def needed(self):
        """The first sample that is still needed."""
        return max(self.at - max(self.long - 1, 1), self.run)  # whether a hole is next takes one sample

    def go_on(self, feed, upto):
        """Rows of `best` and `begin` for the samples up to `upto`."""
        first = max(self.needed, self.edges.first)
        old, k = self.at - first, len(self.lengths)
        cost = np.full((k, upto - first), np.inf)
        for how, row in zip(self.queries, cost, strict=True):
            begin = max(self.at - how.m + 1, self.run)
            if begin + how.m <= upto:
                distance = window_profile(how, *feed.cut(begin, upto)).distance
                row[len(row) - len(distance) :] = how.metric._segment_cost(distance, how.m)
        edges, rows = np.empty((upto - first + 1, k + 1)), np.empty((upto - first + 1, k + 1))
        edges[: old + 1] = self.edges.cut(first, self.at + 1)
        background_costs = np.zeros(upto - first)
        background_costs[old:] = self.rules.background.costs(feed.cut(self.at, upto)[0])
        windows(cost, self.lengths, old, background_costs, self.rules.transitions, edges, rows)
        self.edges.append(edges[old + 1 :])
        starts = np.arange(self.at + 1.0, upto + 1)[:, np.newaxis] - self.lengths
        self.at = upto
        return rows[old + 1 :], starts

    def live(self):
        """Starts, labels and costs of unfinished windows; infinite where there is none."""
        start = self.at - self.ago
        return start, self.label, np.where(start >= self.run, 0.0, np.inf)

    def open_end(self, rows):
        """How many points of each query a repetition covers: all."""
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

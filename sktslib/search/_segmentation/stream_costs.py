"""The recurrence of segmentations chunk by chunk: rows of costs and starts for new samples."""

import numpy as np

from ...distances._kernels.one_pass import advance, windows
from .._buffer import Buffer
from .._comparison import check_lengths, window_profile
from .._streaming.incremental_profile import PreparedQueries
from .stretches import Queries, as_series


class Columns:
    """The costs of paths under an elastic metric, one column per query."""

    def __init__(self, segmenter):
        self.queries, self.rules, metric = segmenter._queries, segmenter._rules, segmenter.metric_
        self.reach, self.bounds = metric._reach, self.rules.bounds()
        self._looks_back = metric._looks_back or metric.uses_times
        lengths = [how.m for how in self.queries]
        k, m = len(lengths), sum(lengths)
        self.label = np.concatenate([np.repeat(np.arange(1, k + 1), lengths), np.arange(1, k + 1)])
        # Where the state has the costs and starts of unfinished paths: in the queries, and at their borders.
        self.at_cost = np.concatenate([np.arange(m), 3 * max(m, k + 1) + np.arange(k)])
        self.at_start = self.at_cost + max(m, k + 1)
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

    def go_on(self, feed, upto):
        """Rows of `best` and `begin` for the samples up to `upto`."""
        back = self.needed
        y, ty = feed.cut(back, feed.end)
        if self._prepared is None or self._prepared.size < y.shape[1]:
            self._prepared = PreparedQueries(self.queries, y)
            self._kernel = Queries.of(self._prepared.problems)
        if self.state is None:
            self.state = self._kernel.state()
        if self._looks_back:  # cells without a path may hold an outdated start
            self.state.reshape(-1)[self.at_start[np.isinf(self.state.take(self.at_cost))]] = self.at
        k = len(self.queries)
        new, begin = np.empty((upto - back, k + 1)), np.empty((upto - back, k))
        rules = self.rules.background.costs(y), self.rules.transitions, *self.bounds
        ty = self.queries[0].compared(ty)
        series = as_series(self._prepared.series(y), ty, self._kernel.rows is not None)
        advance(None, self._kernel, series, self.at - back, back, rules, self.state, new.reshape(-1), begin.reshape(-1))
        fresh, self.at = slice(self.at - back, None), upto
        return new[fresh], begin[fresh]

    def live(self):
        """Starts, labels and costs of unfinished paths; infinite where there is none."""
        if self.state is None:
            return np.empty(0), np.empty(0, np.int64), np.empty(0)
        return self.state.take(self.at_start), self.label, self.state.take(self.at_cost)

    def keep(self, held, best):
        """Drop all paths but those for whose starts and labels `held` (start, label) is true."""
        if self.state is not None:
            start, label, _ = self.live()
            self.state.reshape(-1)[self.at_cost[~held(start.astype(np.int64), label)]] = np.inf
            self.state[2, : len(best[-1])] = (best[-1][:, np.newaxis] + self.rules.transitions).min(axis=0)

    def forget(self, base):
        """Drop what no segment that starts at a boundary or later needs."""


class Windows:
    """The costs of the windows of each query's length."""

    reach = 0

    def __init__(self, segmenter):
        self.queries, self.rules = segmenter._queries, segmenter._rules
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

    def keep(self, held, best):
        """Continue only from what `best` still holds."""
        edges = self.edges.values
        edges[:] = (best[:, :, np.newaxis] + self.rules.transitions).min(axis=1)
        if self.edges.first == self.run:
            edges[0] = 0.0

    def forget(self, base):
        """Drop what no segment that starts at a boundary or later needs."""
        self.edges.forget(base)

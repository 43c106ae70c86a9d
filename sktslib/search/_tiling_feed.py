"""The recurrence of tilings piece by piece: rows of costs and starts for the samples that come."""

import numpy as np

from ..distances._tiling import advance, windows
from ..distances._tilings import Queries, as_series, window_starts


class Columns:
    """The costs of paths under an elastic metric, one column a query."""

    def __init__(self, segmenter):
        self.metric, self.templates, self.rules = segmenter.metric_, segmenter._templates, segmenter._rules
        self.reach, self.timed = self.metric._reach, self.metric.uses_times
        lengths = [template.x.shape[1] for template in self.templates]
        self.label = np.repeat(np.arange(1, len(lengths) + 1), lengths)
        self.begin(0)

    def begin(self, at):
        """Begin anew at a sample."""
        self.at = self.run = at
        self.state = None

    @property
    def needed(self):
        """The first sample that is looked at again."""
        back = self.at - max(self.reach, 1)
        if self.timed or self.metric._looks_back:
            back = min([back, *self.live()[0]])
        return max(back, self.run)

    def go_on(self, feed, upto, best):
        """Rows of `best` and `begin` for the samples up to `upto`; `best` are the rows so far."""
        back = self.needed
        y, ty = feed.cut(back, feed.end)
        problems = [self.metric._problem(t.x, t.w, y, t.tx, ty, search=True) for t in self.templates]
        queries, (Y, ty) = Queries.of(problems), as_series(problems)
        self.state = queries.state() if self.state is None else self.state
        new, begin = np.empty((upto - back, best.shape[1])), np.empty((upto - back, best.shape[1] - 1))
        p, rows, points, first, tx = queries
        rules = self.rules.background.costs(y), self.rules.transitions, *self.rules.bounds()
        out = new.reshape(-1), begin.reshape(-1)
        advance(None, p, rows, points, first, Y, tx, ty, self.at - back, back, *rules, self.state, *out)
        fresh = slice(self.at - back, None)
        self.at = upto
        return new[fresh], begin[fresh]

    def live(self):
        """Starts and labels of the paths on their way."""
        if self.state is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        k, m = len(self.templates), len(self.label)
        cost = np.concatenate([self.state[0, :m], self.state[3, :k]])
        start = np.concatenate([self.state[1, :m], self.state[4, :k]]).astype(np.int64)
        label = np.concatenate([self.label, np.arange(1, k + 1)])
        some = np.unique(np.column_stack([start, label])[np.isfinite(cost)], axis=0)
        return some[:, 0], some[:, 1]

    def keep(self, held, best):
        """Drop all paths but those for whose starts and labels `held` (start, label) is true."""
        k = len(self.templates)
        for costs, starts, label in ((0, 1, self.label), (3, 4, np.arange(1, k + 1))):
            size = len(label)
            some = held(self.state[starts, :size].astype(np.int64), label)
            self.state[costs, :size][~some] = np.inf
        self.state[2, : k + 1] = (best[-1][:, np.newaxis] + self.rules.transitions).min(axis=0)


class Windows:
    """The costs of the windows of each query's length."""

    reach = 0

    def __init__(self, segmenter):
        self.segmenter, self.rules = segmenter, segmenter._rules
        self.lengths = np.array([template.x.shape[1] for template in segmenter._templates])
        self.begin(0)

    def begin(self, at):
        """Begin anew at a sample."""
        self.at = self.run = at

    @property
    def needed(self):
        """The first sample that is looked at again."""
        return max(self.at - self.lengths.max() + 1, self.run)

    def go_on(self, feed, upto, best):
        """Rows of `best` and `begin` for the samples up to `upto`; `best` are the rows so far."""
        base, count = self.at - len(best) + 1, upto - self.at
        cost = np.full((len(self.lengths), len(best) - 1 + count), np.inf)
        for m, row, template, limits in zip(
            self.lengths, cost, self.segmenter._templates, self.rules.limits, strict=True
        ):
            begin = max(self.at - m + 1, self.run)
            if begin + m <= upto:
                search = self.segmenter._compare(template, *feed.cut(begin, upto))
                distance = search.profile(*limits).distance
                row[len(row) - len(distance) :] = search.metric._tile_cost(distance, m)
        edges = np.zeros((cost.shape[1] + 1, best.shape[1]))
        edges[: len(best)] = (best[:, :, np.newaxis] + self.rules.transitions).min(axis=1)
        if base == self.run:
            edges[0] = 0.0
        rows = np.concatenate([best, np.empty((count, best.shape[1]))])
        idle = np.zeros(cost.shape[1])
        idle[len(best) - 1 :] = self.rules.background.costs(feed.cut(self.at, upto)[0])
        windows(cost, self.lengths, len(best) - 1, idle, self.rules.transitions, edges, rows)
        self.at = upto
        return rows[len(best) :], base + window_starts(self.lengths, cost.shape[1])[len(best) - 1 :]

    def live(self):
        """Starts and labels of the windows on their way."""
        first = np.maximum(self.at - self.lengths + 1, self.run)
        starts = [np.arange(begin, self.at) for begin in first]
        labels = [np.full(len(s), q) for q, s in enumerate(starts, 1)]
        return np.concatenate(starts), np.concatenate(labels)

    def keep(self, held, best):
        """What `best` does not hold any more is not gone on from."""

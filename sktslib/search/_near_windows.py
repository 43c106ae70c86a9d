"""The windows that a selection can choose, found without the distances of the others.

What may be chosen is known beforehand: distances up to a threshold, and, of k matches, up to the distance of the
(2k - 1)-th of windows that may be chosen together. For a chosen window excludes two of them at most, since all are of
one length: so k - 1 matches leave one of them, and the k-th match is no farther than the farthest.

Costs above the limit so found are not computed to the end. The others are found again as the whole profile finds them,
so that the choice is the same, ties and roundings included.
"""

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..distances import _collection_bounds as collection_bounds
from ..distances._kernels import (
    dispatch,
    lanes,
    lower_bounds,
    recurrences,
    running_moments,
)
from ..distances._kernels import (
    moments as moments_kernels,
)
from ..distances._kernels import window_bounds as kernels
from ..distances._metrics.bands import band
from ..distances._metrics.elastic import ElasticMetric, PreparedPair
from ..distances._series import SCALINGS, deviation, full_weight, normalise
from ._missing import runs
from ._selection import select

LEAST = 2**18  # points of all windows together; with fewer the whole profile takes no time
BLOCK = 2**13  # windows whose samples, ranges and bounds stay in the second-level cache
SAMPLE = 128  # windows that tell which points cost most
FIRST = 16  # points entered before the first windows are compared
SEEDS = 512  # windows compared first, at least
FEW = 32  # windows of a block: fewer are compared sooner than bounded a second time
LARGE = 16  # times the spread: offsets that are taken off first
BLUR = 1e-8  # of the values' scale: what running moments may be wrong by
SQUARES = (recurrences.DTWRecord, recurrences.ADTWRecord)


class Rule(NamedTuple):
    """How matches are selected."""

    n_matches: int | None = None
    threshold: float | None = None
    max_overlap: float = 0.0


def applies(metric, rule, timed, cells):
    """Whether only some distances are needed, and less work is known for them."""
    known = isinstance(metric, ElasticMetric) and metric._has_lanes and metric._is_monotone and not timed
    return known and cells >= LEAST and (rule.n_matches is not None or rule.threshold is not None)


def near_windows(metric, x, w, y, normalize, rule, gaps):
    """The windows of `y` that `rule` may choose, as their distances and where they start, ascending."""
    starts, distances = [np.empty(0, np.int64)], [np.empty(0)]
    for first, last in runs(y) if gaps else [(0, y.shape[1])]:
        if last - first >= x.shape[1]:
            piece = np.ascontiguousarray(y[:, first:last])
            start, distance = _Cascade(metric, x, w, piece, normalize, rule).near()
            starts.append(start + first)
            distances.append(distance)
    return np.concatenate(distances), np.concatenate(starts)


def less_offset(y):
    """A sequence less its offset where that is large, so that running moments lose no digits by it."""
    some = y[:, :: max(1, y.shape[1] // SAMPLE)]
    level = some.mean(axis=1, keepdims=True)
    level[np.abs(level) < LARGE * deviation(some)] = 0.0
    return y - level if level.any() else y


class _Cascade:
    """One query and one sequence without gaps, and what is known of its windows so far."""

    def __init__(self, metric, x, w, y, normalize, rule):
        self.metric, self.w, self.y, self.normalize, self.rule = metric, w, y, normalize, rule
        self.full, self.m, self.n = full_weight(w, x), x.shape[1], y.shape[1] - x.shape[1] + 1
        self.x = normalise(x, self.full, normalize)
        record, features, weight, points = metric._query(self.x, w, self.m)
        weight = full_weight(weight, features)
        self.problem = PreparedPair(record, features, weight, features, None, None, points)
        rows, weighted = lanes.padded(record, features[np.newaxis], weight[np.newaxis])
        self.rows = rows[0], weighted
        self.lo, self.hi = band(metric.window, metric.factor, self.m, self.m)
        self.reach = -(-int((self.hi - self.lo).max()) // 2)  # two stretches of so many points hold any range
        self.plain = metric._reach == 0  # what is compared is the samples themselves
        known = normalize in SCALINGS
        self.bounded = self.plain and known and dispatch.bounds_of(record) is not None
        # Compared as running moments normalise them.
        self.moving = self.plain and known and isinstance(record, SQUARES) and not metric._has_factor
        self.scale, self.shift, self.unknown, self.blur = None, None, np.empty(0, np.int64), 0.0
        self.where, self.costs = np.empty(0, np.int64), np.empty(0)  # of the windows within the limit so far
        self.limit = np.inf
        self.z = y if normalize is None else less_offset(y)  # what bounds are made of
        if self.bounded:
            self._moments()
        self._tighten(np.inf if rule.threshold is None else metric._limit(rule.threshold, self.problem))

    def near(self):
        """Starts of the windows that may be chosen, ascending, and their distances."""
        self.low = np.zeros(self.n)  # what a window costs at least; infinite where that is known or of no use
        if self.bounded:
            if self.moving:
                self.low[self.unknown] = np.inf
            self._query_side()
            (kernel, order), second = self._ways()
            self._enter((kernel, order[:FIRST], True))
        self._seed()
        if self.bounded:
            self._enter((kernel, order[FIRST:], True), (*second, False))
        self._rest()
        near = self.where[self.costs <= self.limit]
        if self.moving:
            near = np.concatenate([near, self.unknown])
        near.sort()
        out = np.empty(len(near))
        for part in self._batches(np.arange(len(near))):
            out[part] = self.metric._windows(self.x, self.w, self._windows(near[part]), None, None)
        return near, out

    # --------------------------------------------------------------------------------------------------------- limits
    def _tighten(self, cost):
        """Take the cost that no match is above, as it may come out here, once from the exact one and once more."""
        for _ in range(2):
            if self.moving:
                cost = (np.sqrt(cost) + np.sqrt(2.0 * self.m * len(self.x)) * self.blur) ** 2
            else:
                cost = cost + 4.0 * self.m * len(self.x) * self.blur
            cost = cost * (1.0 + 1e-9) + (0.0 if self.metric._reports_cost else 2e-12 * self.m)
        self.limit = min(self.limit, cost)

    def _learn(self, which, costs):
        """Take costs, infinite above the limit, and what they say about it."""
        self.low[which] = np.inf
        found = np.flatnonzero(costs < np.inf)
        if not len(found):
            return
        self.where, self.costs = np.append(self.where, which[found]), np.append(self.costs, costs[found])
        k = self.rule.n_matches
        if k == 1:
            self._tighten(self.costs.min())
        elif k is not None:
            rule = {"n_matches": 2 * k - 1, "max_overlap": self.rule.max_overlap}
            chosen = select(self.costs, self.where, self.where + self.m, **rule)
            if len(chosen) == 2 * k - 1:
                self._tighten(self.costs[chosen[-1]])
        near = self.costs <= self.limit
        self.where, self.costs = self.where[near], self.costs[near]

    # -------------------------------------------------------------------------------------------------------- windows
    def _windows(self, which):
        """The windows that begin at `which`, normalised as in a profile."""
        windows = sliding_window_view(self.y, self.m, axis=1).transpose(1, 0, 2)[which]
        return normalise(np.ascontiguousarray(windows), self.full, self.normalize)

    def _batches(self, which):
        size = max(1, 2**19 // self.x.size)
        return (which[at : at + size] for at in range(0, len(which), size))

    def _moments(self):
        """What normalises each window, and which windows are beyond running moments."""
        shape = len(self.x), self.n
        if self.normalize is None:
            self.scale, self.shift = np.ones(shape), np.zeros(shape)
            return
        self.scale, self.shift, unknown = np.empty(shape), np.empty(shape), 0
        space = np.empty((5, min(BLOCK, self.n)))
        size = np.abs(self.x).max()
        if self.normalize == "mean":
            size += deviation(self.y).max()
        self.blur = BLUR * (size if self.normalize == "mean" else 1.0)
        how, plain = SCALINGS[self.normalize], self.w is None and self.normalize != "minmax"
        for k, (y, w) in enumerate(zip(self.z, self.full, strict=True)):
            if not w.any():  # counts nothing
                self.scale[k] = self.shift[k] = 0.0
                continue
            for first in range(0, self.n, BLOCK):
                last = min(first + BLOCK, self.n)
                mean, spread, error, low, high = space[:, : last - first]
                if plain:
                    running_moments.moments(y, self.m, first, mean, spread, error)
                    low = high = np.empty(0)
                    most = low
                else:
                    below, above = np.empty((2, 1, last + self.m - 1 - first))
                    lower_bounds.slide(y[np.newaxis, first : last + self.m - 1], self.m, below, above)
                    most = np.maximum(-below, above)[0, : last - first]
                    moments_kernels.direct_moments(y, w, first, mean, spread, error, low, high)
                made = self.scale[k, first:last], self.shift[k, first:last]
                moments = mean, spread, error, low, high
                about = self.m, first, w.sum(), most, self.blur, how
                with np.errstate(divide="ignore", invalid="ignore"):  # on purpose, and plain Python says so
                    unknown += moments_kernels.standardise(y, *about, *moments, *made)
        if unknown:
            self.unknown = np.flatnonzero(np.isnan(self.scale).any(axis=0))
            self.scale[:, self.unknown] = self.shift[:, self.unknown] = 0.0

    # --------------------------------------------------------------------------------------------------------- bounds
    def _query_side(self):
        """What the bounds need of the query, for its points and for those of a window."""
        record, x, w, _, _, _, points = self.problem
        m, channels = self.m, len(x)
        reach = band(self.metric.window, self.metric.factor, m, m)
        low, high = collection_bounds.envelopes_of(x, *reach)
        light = collection_bounds.envelopes_of(w, *reach)[0]
        self.ranges = low.copy(), high.copy(), light
        collection_bounds.pin(record, low, high, x)
        facts = dispatch.bounds_of(record)
        floor = 0.0 if facts.minimum_gap is None else channels * facts.minimum_gap(record)
        gap_cost = points[0] if facts.minimum_gap is None else floor
        up, minimum_gap_cost = collection_bounds.gap_costs_of(record, np.zeros(m) + gap_cost)
        skips, _ = collection_bounds.gap_costs_of(record, np.full(m, floor))
        other = max(float(dispatch.gap(record, 0.0, 1.0)), floor) if facts.skips else 0.0
        lags = [collection_bounds.minimum_lags(*r) for r in ((self.lo, self.hi), reach)]
        least = collection_bounds.envelopes_of(points, *reach)[0]
        pinned = np.zeros(m, np.int64)
        first, last = collection_bounds.pinned(record)
        pinned[0] = first
        pinned[-1] |= last
        begin = np.minimum(self.lo, m - self.reach)
        self.places = np.array([begin, np.maximum(begin, self.hi - self.reach)])
        self.positions = np.array([pinned, *np.where(pinned, np.arange(m), self.places)])
        heavy, light = collection_bounds.weight_rows(w), collection_bounds.weight_rows(light)
        self.of_query = x, heavy, points, lags[0], up + other, self.positions
        self.of_window = light, least, lags[1], skips, float(minimum_gap_cost), low - self.blur, high + self.blur

    @np.errstate(over="ignore")  # of no influence on any result
    def _ways(self):
        """Both kernels of bounds, the better one first, and the order in which each takes the points."""
        at = np.unique(np.linspace(0, self.n - 1, min(SAMPLE, self.n)).astype(np.int64))
        z = self.z[:, at[:, np.newaxis] + np.arange(self.m)] * self.scale[:, at, np.newaxis]
        z += self.shift[:, at, np.newaxis]
        x, w, low, high = self.of_query[0], self.problem.w, *self.of_window[-2:]
        over = np.maximum(z - high[:, np.newaxis], low[:, np.newaxis] - z)
        by_window = (self.ranges[2] * (np.maximum(over, 0.0) ** 2).mean(axis=1)).sum(axis=0)
        rows = z.reshape(-1, self.m)
        below, above = np.empty_like(rows), np.empty_like(rows)
        lower_bounds.slide(rows, self.reach, below, above)
        below, above = (
            f(a[:, self.places[0]], a[:, self.places[1]]) for f, a in ((np.minimum, below), (np.maximum, above))
        )
        below, above = (np.where(self.positions[0], rows, a).reshape(z.shape) for a in (below, above))
        over = np.maximum(below - x[:, np.newaxis], x[:, np.newaxis] - above)
        by_query = (w * (np.maximum(over, 0.0) ** 2).mean(axis=1)).sum(axis=0)
        ways = [(kernels.by_window, by_window), (kernels.by_query, by_query)]
        # The ranges of the sequence must be found first.
        if np.sort(by_query)[-FIRST:].sum() > 1.5 * np.sort(by_window)[-FIRST:].sum():
            ways.reverse()
        return [(kernel, np.argsort(-costs, kind="stable")) for kernel, costs in ways]

    def _enter(self, *ways):
        """Enter points into the bounds that are not above the limit yet, each way on its own."""
        # Fresh memory for each block would cost more than its use.
        space = np.empty(3 * len(self.x) * (min(BLOCK, self.n) + self.m - 1))
        for first in range(0, self.n, BLOCK):
            low, y = self.low[first : first + BLOCK], None
            for kernel, order, goes_on in ways:
                alive = low <= self.limit
                if np.count_nonzero(alive) < (1 if goes_on else FEW):
                    break
                if y is None:
                    last = first + len(low)
                    y = np.ascontiguousarray(self.z[:, first : last + self.m - 1])
                    moments = [np.ascontiguousarray(a[:, first:last]) for a in (self.scale, self.shift)]
                bounds = low if goes_on else np.where(alive, 0.0, np.inf)
                if kernel is kernels.by_query:
                    ranges = space[: 3 * y.size].reshape(3, *y.shape)
                    ranges[1] = y
                    lower_bounds.slide(y, self.reach, ranges[0], ranges[2])
                    query = *self.of_query, ranges, *moments, self.blur
                else:
                    query = *self.of_window, y, *moments
                kernel(self.problem.record, *query, order, self.limit, bounds)
                if not goes_on:
                    np.maximum(low, bounds, out=low)
        if not self.moving:
            self.low[self.unknown[self.low[self.unknown] < np.inf]] = 0.0

    # ---------------------------------------------------------------------------------------------------------- costs
    def _is_open(self, which):
        """Whether windows may be within the limit and are not known yet."""
        return (self.low[which] <= self.limit) & (self.low[which] < np.inf)

    def _seed(self):
        """Compare the most promising window of each stretch, so that a limit is known."""
        k = self.rule.n_matches
        if k is not None:
            size = max(1, self.n // max(SEEDS, 8 * k))
            some = self.n // size * size
            best = np.argmin(self.low[:some].reshape(-1, size), axis=1) + np.arange(0, some, size)
            self._settle(best[self._is_open(best)])

    def _rest(self):
        """Compare what is left, a few of the most promising windows first, then along the sequence."""
        alive = np.flatnonzero(self._is_open(slice(None)))
        size = SEEDS // 2
        if len(alive) > size:
            first = np.sort(alive[np.argpartition(self.low[alive], size)[:size]])
            self._settle(first)
        at = 0
        while at < len(alive):
            batch = alive[at : at + size]
            self._settle(batch[self._is_open(batch)])
            at, size = at + size, min(2 * size, BLOCK)

    def _settle(self, which):
        """Find the costs of windows as far as the limit goes."""
        for part in self._batches(which):
            costs, m = np.empty(len(part)), self.m
            if self.moving:
                values, begins = self.z, part
                scale, shift = (np.ascontiguousarray(a[:, part]) for a in (self.scale, self.shift))
            else:
                features = np.array([self.metric._features(a) for a in self._windows(part)])
                values = np.ascontiguousarray(features.transpose(1, 0, 2)).reshape(features.shape[1], -1)
                begins = np.arange(len(part)) * m
                scale, shift = np.ones((len(values), len(part))), np.zeros((len(values), len(part)))
            low, high, light = self.ranges if self.moving else (self.problem.x,) * 3
            places = self.places if self.moving else np.zeros((2, 0), np.int64)
            reach = self.reach if self.moving else 0
            query = self.problem.record, *self.rows, self.problem.points
            ranges = low, high, light, reach, places, self.lo, self.hi
            kernels.settle(*query, values, begins, scale, shift, *ranges, self.limit, costs)
            if self.metric._has_factor:
                found = np.flatnonzero(costs < np.inf)
                costs[found] = self.metric._scaled(costs[found], self.problem.x, features[found])
            self._learn(part, costs)

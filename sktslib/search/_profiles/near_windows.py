"""The windows that a selection can choose, found without the distances of the others.

What may be chosen is known beforehand: distances up to a threshold, and, of k matches, up to the distance of the
(2k - 1)-th of windows that may be chosen together. For a chosen window excludes two of them at most, since all are of
one length: so k - 1 matches leave one of them, and the k-th match is no farther than the farthest.

Costs above the limit so found are not computed to the end. The others are found again as the whole profile finds them,
so that the choice is the same, ties and roundings included.
"""

from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ...distances._blockwise import collection_bounds
from ...distances._kernels import dispatch, lanes, lower_bounds, moments, running_moments, window_bounds
from ...distances._metrics.bands import band
from ...distances._metrics.elastic import ElasticMetric, PreparedPair
from ...distances._series import SCALINGS, deviation, full_weight, normalise
from .._selection import select

LEAST = 2**18  # points of all windows together; with fewer the whole profile takes no time
BLOCK = 2**13  # windows whose samples, ranges and bounds stay in the second-level cache
SAMPLE = 128  # windows that tell which points cost most
FIRST = 16  # points entered before the first windows are compared
SEEDS = 512  # windows compared first, at least
FEW = 32  # windows of a block: fewer are compared sooner than bounded a second time
LARGE = 16  # times the spread: offsets that are taken off first
UNCERTAINTY = 1e-8  # of the values' scale: what running moments may be wrong by


class Rule(NamedTuple):
    """How matches are selected."""

    n_matches: int | None = None
    threshold: float | None = None
    max_overlap: float = 0.0

    def below(self, distance):
        """The same where no match is farther than a distance."""
        return self._replace(threshold=distance) if distance < np.inf else self

    def bound(self, distance, start, end):
        """A distance that no match is beyond, as some windows tell; infinite where they are too few."""
        if self.n_matches is None:
            return np.inf
        most = 2 * self.n_matches - 1
        chosen = select(distance, start, end, n_matches=most, threshold=self.threshold, max_overlap=self.max_overlap)
        return distance[chosen[-1]] if len(chosen) == most else np.inf


def applies(metric, rule, timed, cells):
    """Whether only some distances are needed, and less work is known for them."""
    known = isinstance(metric, ElasticMetric) and metric._has_lanes and metric._is_monotone and not timed
    return known and cells >= LEAST and (rule.n_matches is not None or rule.threshold is not None)


def near_windows(metric, x, w, y, normalize, rule, pieces):
    """The windows in `pieces` of `y` (k, 2) that `rule` may choose, as distances and where they start, ascending."""
    starts, distances = [np.empty(0, np.int64)], [np.empty(0)]
    for first, last in pieces:
        if last - first >= x.shape[1]:
            piece = np.ascontiguousarray(y[:, first:last])
            start, distance = _Cascade(metric, x, Windows(x, w, piece, normalize), rule).near()
            starts.append(start + first)
            distances.append(distance)
    return np.concatenate(distances), np.concatenate(starts)


def nearest_window(metric, x, windows, limit):
    """Distance and number of the window that is nearest to a query, up to a limit; ties: the first. Or infinite."""
    rule = Rule(1, None if np.isinf(limit) else limit)
    start, distance = _Cascade(metric, x, windows, rule).near()
    near = np.flatnonzero(distance <= limit)
    if not len(near):
        return np.inf, -1
    best = near[np.argmin(distance[near])]
    return float(distance[best]), int(start[best])


def less_offset(y):
    """A sequence less its offset where that is large, so that running moments lose no digits by it."""
    some = y[:, :: max(1, y.shape[1] // SAMPLE)]
    offset = some.mean(axis=1, keepdims=True)
    offset[np.abs(offset) < LARGE * deviation(some)] = 0.0
    return y - offset if offset.any() else y


# ------------------------------------------------------------------------------------------------------------ windows
class Windows:
    """The windows of a sequence: normalised as in a profile, or by running moments, as scale and shift of samples.

    By moments values are known up to an `uncertainty`, but for those of the `unknown` windows. Moments that are found
    for queries in general serve each of them.
    """

    def __init__(self, x, w, y, normalize):
        self.y, self.normalize, self.w, self.weight = y, normalize, w, full_weight(w, x)
        self.m, self.n = x.shape[1], y.shape[1] - x.shape[1] + 1
        self.samples, self.scale, self.shift = y, None, None
        self.unknown, self.uncertainty = np.empty(0, np.int64), 0.0

    def part(self, first, last):
        """The windows [first, last), with what is known of them."""
        some, stop = copy(self), last + self.m - 1
        some.y, some.n = np.ascontiguousarray(self.y[:, first:stop]), last - first
        some.samples = some.y if self.samples is self.y else np.ascontiguousarray(self.samples[:, first:stop])
        if self.scale is not None:
            some.scale, some.shift = self.scale[:, first:last], self.shift[:, first:last]
            some.unknown = self.unknown[(self.unknown >= first) & (self.unknown < last)] - first
        return some

    def exact(self, which):
        """The windows that begin at `which`, normalised as in a profile."""
        windows = sliding_window_view(self.y, self.m, axis=1).transpose(1, 0, 2)[which]
        return normalise(np.ascontiguousarray(windows), self.weight, self.normalize)

    def by_moments(self, which):
        """Scale and shift of these windows."""
        return np.ascontiguousarray(self.scale[:, which]), np.ascontiguousarray(self.shift[:, which])

    def find_moments(self, largest):
        """Find what normalises each window, and which are beyond running moments.

        They are to be compared with queries of values up to `largest`, as compared.
        """
        self.scale, self.shift = np.zeros((2, len(self.y), self.n))
        if self.normalize is None:
            self.scale += 1.0
            return
        self.samples = less_offset(self.y)
        self.uncertainty = UNCERTAINTY * (largest + deviation(self.y).max() if self.normalize == "mean" else 1.0)
        unknown, room = 0, np.empty((5, min(BLOCK, self.n)))
        for k in np.flatnonzero(self.weight.any(axis=1)):  # the other channels count nothing
            for first in range(0, self.n, BLOCK):
                unknown += self._fill_moments(k, first, min(first + BLOCK, self.n), room)
        if unknown:
            self.unknown = np.flatnonzero(np.isnan(self.scale).any(axis=0))
            self.scale[:, self.unknown] = self.shift[:, self.unknown] = 0.0

    def _fill_moments(self, k, first, last, room):
        """Fill scale and shift of the windows [first, last) in one channel; how many are unknown."""
        y, w, m = self.samples[k], self.weight[k], self.m
        mean, spread, error, low, high = room[:, : last - first]
        if self.w is None and self.normalize != "minmax":
            running_moments.moments(y, m, first, mean, spread, error)
            low = high = most = np.empty(0)
        else:
            below, above = np.empty((2, 1, last + m - 1 - first))
            lower_bounds.slide(y[np.newaxis, first : last + m - 1], m, below, above)
            most = np.maximum(-below, above)[0, : last - first]
            moments.direct_moments(y, w, first, mean, spread, error, low, high)
        about = m, first, w.sum(), most, self.uncertainty, SCALINGS[self.normalize]
        made = self.scale[k, first:last], self.shift[k, first:last]
        with np.errstate(divide="ignore", invalid="ignore"):  # on purpose, and plain Python says so
            return moments.standardise(y, *about, mean, spread, error, low, high, *made)


# ------------------------------------------------------------------------------------------------------------- bounds
class _Bounds(NamedTuple):
    """What the bounds of windows need of the query."""

    of_query: window_bounds.QueryPoints
    of_window: window_bounds.WindowPoints
    remaining: window_bounds.Remaining

    @classmethod
    def of(cls, problem, lo, hi, uncertainty):
        """Those of a query that is compared with windows within a band, which are known up to an `uncertainty`."""
        record, x, w, _, _, _, points = problem
        channels, m = x.shape
        low, high = collection_bounds.envelopes_of(x, lo, hi)
        light = collection_bounds.envelopes_of(w, lo, hi)[0]
        reach = -(-int((hi - lo).max()) // 2)  # two stretches of so many points hold any range
        begin = np.minimum(lo, m - reach)
        stretches = np.array([begin, np.maximum(begin, hi - reach)])
        remaining = window_bounds.Remaining(low.copy(), high.copy(), light, reach, stretches)
        collection_bounds.pin(record, low, high, x)
        first, last = collection_bounds.pinned(record)
        pinned = np.zeros(m, np.int64)
        pinned[0] = first
        pinned[-1] |= last
        positions = np.array([pinned, *np.where(pinned, np.arange(m), stretches)])
        facts = dispatch.bounds_of(record)
        floor = 0.0 if facts.minimum_gap is None else channels * facts.minimum_gap(record)
        gap_costs = points[0] if facts.minimum_gap is None else np.full(m, floor)
        up, minimum_gap_cost = collection_bounds.gap_costs_of(record, gap_costs)
        skips, _ = collection_bounds.gap_costs_of(record, np.full(m, floor))
        other = max(float(dispatch.gap(record, 0.0, 1.0)), floor) if facts.skips else 0.0
        lags = collection_bounds.minimum_lags(lo, hi)
        least = collection_bounds.envelopes_of(points, lo, hi)[0]
        heavy, light = collection_bounds.weight_rows(w), collection_bounds.weight_rows(light)
        of_query = window_bounds.QueryPoints(x, heavy, points, lags, up + other, positions)
        ranges = low - uncertainty, high + uncertainty
        of_window = window_bounds.WindowPoints(light, least, lags, skips, float(minimum_gap_cost), *ranges)
        return cls(of_query, of_window, remaining)


def _beyond(values, low, high, w):
    """What each point costs that lies beyond a range, on average of the windows."""
    over = np.maximum(values - high, low - values)
    return (w * (np.maximum(over, 0.0) ** 2).mean(axis=1)).sum(axis=0)


# ------------------------------------------------------------------------------------------------------ what is known
class _Known:
    """What is known of the windows so far: the cost that no match is above, and which are within that limit.

    `low` is what a window costs at least; infinite where its cost is known or of no use. `by_moments` tells whether
    windows are compared as running moments normalise them, and equal distances may differ by `more` in their costs.
    """

    def __init__(self, windows, rule, by_moments, more):
        self.windows, self.rule, self.by_moments, self.more = windows, rule, by_moments, more
        self.low, self.limit = np.zeros(windows.n), np.inf
        self.where, self.costs = np.empty(0, np.int64), np.empty(0)

    def tighten(self, cost):
        """Take a cost that no match is above, as it may come out here, once from the exact one and once more."""
        self.limit = min(self.limit, self._raised(self._raised(cost)))

    def _raised(self, cost):
        """A cost as it may come out here, at most."""
        points, uncertainty = self.windows.y.shape[0] * self.windows.m, self.windows.uncertainty
        if self.by_moments:
            cost = (np.sqrt(cost) + np.sqrt(2.0 * points) * uncertainty) ** 2
        else:
            cost = cost + 4.0 * points * uncertainty
        return cost * (1.0 + 1e-9) + self.more

    def learn(self, which, costs):
        """Take costs, infinite above the limit, and what they say about it."""
        self.low[which] = np.inf
        found = np.flatnonzero(costs < np.inf)
        if not len(found):
            return
        self.where, self.costs = np.append(self.where, which[found]), np.append(self.costs, costs[found])
        k = self.rule.n_matches
        if k == 1:
            self.tighten(self.costs.min())
        elif k is not None:
            rule = {"n_matches": 2 * k - 1, "max_overlap": self.rule.max_overlap}
            chosen = select(self.costs, self.where, self.where + self.windows.m, **rule)
            if len(chosen) == 2 * k - 1:
                self.tighten(self.costs[chosen[-1]])
        near = self.costs <= self.limit
        self.where, self.costs = self.where[near], self.costs[near]

    def is_open(self, which):
        """Whether windows may be within the limit and are not known yet."""
        return (self.low[which] <= self.limit) & (self.low[which] < np.inf)


# ------------------------------------------------------------------------------------------------------------ search
class _Cascade:
    """One query and one sequence without gaps; `near` is the search."""

    def __init__(self, metric, x, windows, rule):
        self.metric, self.windows = metric, windows
        normalize, w, m = windows.normalize, windows.w, windows.m
        self.x = normalise(x, windows.weight, normalize)
        record, features, weight, points = metric._query(self.x, w, m)
        weight = full_weight(weight, features)
        self.problem = PreparedPair(record, features, weight, features, None, None, points)
        rows, weighted = lanes.padded(record, features[np.newaxis], weight[np.newaxis])
        self.query, self.band = (record, rows[0], weighted, points), band(metric.window, metric.factor, m, m)
        plain = metric._reach == 0 and normalize in SCALINGS  # samples themselves are compared, and moments known
        # Windows are compared as moments make them, unless a factor is found from their values.
        facts = dispatch.bounds_of(record)
        self.by_moments = plain and facts is not None and facts.squares and not metric._has_factor
        self.bounds = None
        if plain and facts is not None:
            if windows.scale is None:
                windows.find_moments(np.abs(self.x).max())
            self.bounds = _Bounds.of(self.problem, *self.band, self.windows.uncertainty)
        self.known = _Known(windows, rule, self.by_moments, 0.0 if metric._reports_cost else 2e-12 * m)
        self.known.tighten(np.inf if rule.threshold is None else metric._limit(rule.threshold, self.problem))

    def near(self):
        """Starts of the windows that may be chosen, ascending, and their distances."""
        windows, known = self.windows, self.known
        if self.by_moments:
            known.low[windows.unknown] = np.inf
        if self.bounds is None:
            self._seed()
        else:
            # A few points bound all windows; once a limit is known, the others and then the other way round.
            (kernel, order), second = self._ways()
            self._enter((kernel, order[:FIRST], True))
            self._seed()
            self._enter((kernel, order[FIRST:], True), (*second, False))
        self._rest()
        near = known.where[known.costs <= known.limit]
        if self.by_moments:
            near = np.concatenate([near, windows.unknown])
        near.sort()
        distances = [np.empty(0)]
        for part in self._batches(near):
            distances.append(self.metric._windows(self.x, windows.w, windows.exact(part), None, None))
        return near, np.concatenate(distances)

    def _batches(self, which):
        size = max(1, 2**19 // self.x.size)
        return (which[at : at + size] for at in range(0, len(which), size))

    @np.errstate(over="ignore")  # of no influence on any result
    def _ways(self):
        """Both kernels of bounds, the better one first, and the order in which each takes the points."""
        windows, (of_query, of_window, remaining) = self.windows, self.bounds
        at = np.unique(np.linspace(0, windows.n - 1, min(SAMPLE, windows.n)).astype(np.int64))
        z = windows.samples[:, at[:, np.newaxis] + np.arange(windows.m)] * windows.scale[:, at, np.newaxis]
        z += windows.shift[:, at, np.newaxis]
        low, high = of_window.low[:, np.newaxis], of_window.high[:, np.newaxis]
        by_window = _beyond(z, low, high, remaining.light)
        rows, (one, two) = z.reshape(-1, windows.m), remaining.stretches
        below, above = np.empty_like(rows), np.empty_like(rows)
        lower_bounds.slide(rows, remaining.reach, below, above)
        ranges = np.minimum(below[:, one], below[:, two]), np.maximum(above[:, one], above[:, two])
        low, high = (np.where(of_query.positions[0], rows, a).reshape(z.shape) for a in ranges)
        by_query = _beyond(of_query.x[:, np.newaxis], low, high, self.problem.w)
        ways = [(window_bounds.by_window, by_window), (window_bounds.by_query, by_query)]
        # The ranges of the sequence must be found first.
        if np.sort(by_query)[-FIRST:].sum() > 1.5 * np.sort(by_window)[-FIRST:].sum():
            ways.reverse()
        return [(kernel, np.argsort(-costs, kind="stable")) for kernel, costs in ways]

    def _enter(self, *ways):
        """Enter points into the bounds that are not above the limit yet, each way on its own."""
        windows, known, reach = self.windows, self.known, self.bounds.remaining.reach
        # Fresh memory for each block would cost more than its use.
        room = np.empty(3 * len(self.x) * (min(BLOCK, windows.n) + windows.m - 1))
        for first in range(0, windows.n, BLOCK):
            low, y = known.low[first : first + BLOCK], None
            for kernel, order, goes_on in ways:
                candidates = low <= known.limit
                if np.count_nonzero(candidates) < (1 if goes_on else FEW):
                    break
                if y is None:
                    last = first + len(low)
                    y = np.ascontiguousarray(windows.samples[:, first : last + windows.m - 1])
                    by_moments = windows.by_moments(slice(first, last))
                bounds = low if goes_on else np.where(candidates, 0.0, np.inf)
                if kernel is window_bounds.by_query:
                    ranges = room[: 3 * y.size].reshape(3, *y.shape)
                    ranges[1] = y
                    lower_bounds.slide(y, reach, ranges[0], ranges[2])
                    sides = self.bounds.of_query, (ranges, *by_moments, windows.uncertainty)
                else:
                    sides = self.bounds.of_window, (y, *by_moments)
                kernel(self.problem.record, *sides, order, known.limit, bounds)
                if not goes_on:
                    np.maximum(low, bounds, out=low)
        if not self.by_moments:
            known.low[windows.unknown[known.low[windows.unknown] < np.inf]] = 0.0

    def _seed(self):
        """Compare the most promising window of each stretch, so that a limit is known."""
        low, k = self.known.low, self.known.rule.n_matches
        if k is not None:
            size = max(1, len(low) // max(SEEDS, 8 * k))
            some = len(low) // size * size
            best = np.argmin(low[:some].reshape(-1, size), axis=1) + np.arange(0, some, size)
            self._compare(best[self.known.is_open(best)])

    def _rest(self):
        """Compare what is left, a few of the most promising windows first, then along the sequence."""
        known = self.known
        candidates = np.flatnonzero(known.is_open(slice(None)))
        size = SEEDS // 2
        if len(candidates) > size:
            self._compare(np.sort(candidates[np.argpartition(known.low[candidates], size)[:size]]))
        at = 0
        while at < len(candidates):
            batch = candidates[at : at + size]
            self._compare(batch[known.is_open(batch)])
            at, size = at + size, min(2 * size, BLOCK)

    def _compare(self, which):
        """Find the costs of windows as far as the limit goes."""
        x, m = self.problem.x, self.windows.m
        for part in self._batches(which):
            costs = np.empty(len(part))
            if self.by_moments:
                remaining = self.bounds.remaining
                compared = self.windows.samples, part, *self.windows.by_moments(part)
            else:
                remaining = window_bounds.Remaining(x, x, x, 0, np.zeros((2, 0), np.int64))
                features = np.array([self.metric._features(a) for a in self.windows.exact(part)])
                values = np.ascontiguousarray(features.transpose(1, 0, 2)).reshape(len(x), -1)
                shape = len(x), len(part)
                compared = values, np.arange(len(part)) * m, np.ones(shape), np.zeros(shape)
            window_bounds.compare(self.query, compared, remaining, *self.band, self.known.limit, costs)
            if self.metric._has_factor:
                found = np.flatnonzero(costs < np.inf)
                costs[found] = self.metric._scaled(costs[found], x, features[found])
            self.known.learn(part, costs)

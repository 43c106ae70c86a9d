"""Candidates for nearest neighbors: a collection that is searched, prepared where and when it is needed."""

from functools import cache, cached_property, partial
from threading import Lock
from typing import NamedTuple

import numpy as np

from ...utils._jobs import as_plain
from .._collection import StoredCollection, lengths_of
from .._kernels import lanes
from .._metrics.bands import band
from .._metrics.base import Metric
from .._metrics.elastic import ElasticMetric, PreparedPair, times_factor
from .._metrics.mixed import Mixed
from .._pairwise import counts_alone, distances_between, driver_of, reported
from .._series import spread
from .collection_bounds import Bounds

# Fewer cells than this for a query and all its candidates: bounds and sorting cost as much as computing them, and more
# where bit-parallel words compute them.
FEW_CELLS = 200_000
FEW_BITS = 10
# Points that are averaged to one for a first look at series that may warp without limit.
COARSE = 8
NO_OFFSETS = np.empty((0, 0))
KEPT = 2  # prepared parts, for calls at once that are at the border of two


class Task(NamedTuple):
    """What is searched for, and how much of it at once."""

    metric: Metric
    w: np.ndarray | None
    k: int  # neighbors
    rows: int  # series whose neighbors are searched for at once
    columns: int  # candidates that are prepared at once


class Candidates:
    """A collection that is searched. What is prepared of it is shared by threads, and made anew in other processes.

    It tells its size, since dask sends what is large to each worker once.
    """

    def __init__(self, task, Y):
        self.task, self.Y = task, Y
        self.points = sum(lengths_of(Y))
        self._flat, self._prepared, self._lock = None, {}, Lock()

    def __sizeof__(self):
        return 0 if isinstance(self.Y, StoredCollection) else 8 * self.points * len(self.Y[0])

    def __reduce__(self):
        if isinstance(self.Y, StoredCollection):
            return Candidates, (self.task, self.Y)
        with self._lock:  # one array, which other processes of this machine read from one file
            if self._flat is None:
                self._flat = np.concatenate([y.ravel() for y in self.Y])
        return _unpacked, (self.task, self._flat, [y.shape[1] for y in self.Y], len(self.Y[0]))

    def nearest(self, X, itself):
        """Distances and indices of the nearest ones of series of one length, and what became of the pairs.

        `itself` are the candidates that are no candidate for each series, or -1.
        """
        distances, indices = np.full((len(X), self.task.k), np.nan), np.full((len(X), self.task.k), -1)
        counts = np.zeros(3, int)
        for begin in range(0, len(self.Y), self.task.columns):
            search, size = self._search(begin, X[0])
            for first in range(0, len(X), self.task.rows):
                part = slice(first, first + self.task.rows)
                own = itself[part] - begin
                own[(own < 0) | (own >= size)] = -1
                counts += self._update(search(X[part], own, distances[part]), own, begin, (distances, indices), part)
        return distances, indices, counts

    def _update(self, found, own, begin, nearest, part):
        """Put what is near of some candidates among the nearest so far; NaN are behind everything."""
        found, counts = found
        which = np.flatnonzero(own >= 0)
        found[which, own[which]] = np.nan
        distances, indices = (a[part] for a in nearest)
        numbers = np.broadcast_to(np.arange(begin, begin + found.shape[1]), found.shape)
        if begin:
            found, numbers = np.hstack([distances, found]), np.hstack([indices, numbers])
        order = np.argsort(found, axis=1, kind="stable")[:, : self.task.k]
        size = order.shape[1]
        distances[:, :size] = np.take_along_axis(found, order, axis=1)
        indices[:, :size] = np.take_along_axis(numbers, order, axis=1)
        return counts

    def _search(self, begin, x):
        """What finds distances to the candidates from `begin` on of series like `x`, and how many candidates it has."""
        key = begin, x.shape[1]
        with self._lock:
            if key not in self._prepared:
                while len(self._prepared) >= KEPT:
                    del self._prepared[next(iter(self._prepared))]
                Y = self.Y[begin : begin + self.task.columns]
                self._prepared[key] = self._made(Y, x), len(Y)
            return self._prepared[key]

    def _made(self, Y, x):
        metric, k, w = self.task.metric, self.task.k, spread(self.task.w, x.shape[1])
        few = FEW_CELLS * (FEW_BITS if counts_alone(metric, w) else 1)
        if x.shape[1] * self.points >= few:
            if _is_prunable(metric):
                return Pruned(metric, Y, x, w, k).distances
            if isinstance(metric, Mixed) and any(_adds_up(part.metric) for part, _ in metric._counted(len(x), w)):
                return PrunedSum(metric, Y, x, w, k).distances
        return partial(_all, metric, Y, w)


def _unpacked(task, flat, lengths, channels):
    ends = np.cumsum(lengths[:-1]) * channels
    parts = np.split(as_plain(flat), ends)
    return Candidates(task, [part.reshape(channels, -1) for part in parts])


def _is_prunable(metric):
    """Whether candidates may be left out for their bounds, and the others given up."""
    return isinstance(metric, ElasticMetric) and metric._has_lanes and metric._is_monotone


def _adds_up(metric):
    """The same where the distance is one of several that are added up."""
    return _is_prunable(metric) and not metric._has_factor


def _kinds(lengths, exact):
    """Candidates by their lengths, or by about these, so that little is padded."""
    kind = lengths if exact else np.floor(4 * np.log2(lengths)).astype(int)
    return [np.flatnonzero(kind == value) for value in np.unique(kind)]


def _all(metric, Y, w, X, itself, known=None):
    """All distances of series of one length, and what became of the pairs."""
    out = distances_between(driver_of(metric, X, Y, w), metric, w, X, Y, False)
    return out, (0, 0, out.size - int((itself >= 0).sum()))


class Pruned:
    """Candidates prepared for series of one length under an elastic distance; `x` is one of those."""

    def __init__(self, metric, Y, x, w, k):
        self.metric, self.Y, self.w, self.k, self.m = metric, Y, w, k, x.shape[1]
        self.features = [metric._features(y) for y in Y]
        self.lengths = np.array([f.shape[1] for f in self.features])
        begins = np.cumsum([0, *[f.size for f in self.features[:-1]]])
        self.series = np.concatenate([f.ravel() for f in self.features]), begins, self.lengths
        self.bounds = Bounds(metric, self.features, lambda n: metric._query(x, w, n))
        self.share = 1.0 - 1e-12 - (self.m + self.lengths) * np.finfo(float).eps  # sums of as many terms round
        # Lanes of a block share a band and a way from costs to distances, or are at least of about one length.
        self.exact = metric._needs_equal_lengths or not metric._reports_cost
        self.kinds = _kinds(self.lengths, self.exact)
        self.coarse_w = None if w is None else _coarse(w)
        self.traits = metric._traits(self.features) if metric._has_factor else None

    @cached_property
    def coarse(self):
        """The averaged series. A band makes bounds tight; without one they tell little, and a look at these more."""
        looked_at = self.metric.window is None and (self.w is None or self.coarse_w.any())
        return [_coarse(y) for y in self.Y] if looked_at else None

    def distances(self, X, itself, known):
        """Distances, infinite where they are surely above the k-th best, and what became of the pairs.

        `itself` are the candidates that are no candidate for each series, or -1. Those `known` are the k best ones of
        other candidates, or NaN.
        """
        of_length, bounds = self.prepared(X)
        factors = None
        if self.metric._has_factor:
            of_x = self.metric._traits(map(self.metric._features, X))
            factors = self.metric._factor(of_x[:, np.newaxis], self.traits)
            bounds = times_factor(bounds, factors * self.share)
        look = self.look(X, bounds, itself)
        out, counts, known = np.full(look.shape, np.inf), np.zeros(3, int), np.where(np.isnan(known), np.inf, known)
        for members in sorted(self.kinds, key=lambda members: look[:, members].min(axis=1).sum()):
            order = members[np.argsort(look[:, members], axis=1, kind="stable")]
            best = np.partition(np.hstack([known, out]), self.k - 1, axis=1)
            cutoff = best[:, self.k - 1].copy()  # a strided one is compiled for anew
            n = int(self.lengths[members].max())
            out[:, members] = self._scan(of_length(n), n, order, itself, bounds, factors, cutoff, counts)[:, members]
        return out, counts

    def queries(self, X):
        """What gives the queries as they are compared with series of n points."""
        queries = cache(lambda n: self.metric._queries(X, self.w, n))
        # Only a few metrics' parameters depend on the candidates' length.
        return queries if self.metric._needs_equal_lengths else lambda n: queries(0)

    def prepared(self, X):
        """The same, and the bounds of accumulated costs."""
        of_length = self.queries(X)
        return of_length, self.bounds.of(of_length, len(X)) * self.share

    def look(self, X, bounds, itself):
        """Which candidates to begin with: those that this is small of."""
        if self.coarse is None:
            return bounds
        return COARSE * _all(self.metric, self.coarse, self.coarse_w, [_coarse(x) for x in X], itself)[0]

    def at_least(self, X):
        """What gives the queries, and the bounds of distances."""
        of_length, bounds = self.prepared(X)
        if not self.metric._reports_cost:
            record, x, _, points = of_length(int(self.lengths[0]))
            bounds = (1.0 - 1e-12) * reported(self.metric, x[0], record, points[0], bounds, self.features)
        return of_length, bounds

    def below(self, queries, n, order, itself, bounds, offsets, limits, counts):
        """Distances of candidates of one kind, infinite where with the offsets they are above the limits.

        The bounds are those of such sums. Where the distance is not the cost, what they allow is computed to its end.
        """
        record, x, w, points = queries
        problem = PreparedPair(record, x[0], None, self.features[order[0, 0]], None, None, points[0])
        if not self.metric._reports_cost:
            bounds, offsets = np.where(bounds <= limits[:, np.newaxis], 0.0, np.inf), NO_OFFSETS
            limits = np.full_like(limits, np.finfo(float).max)
        prepared, candidates = (record, *lanes.padded(record, x, w), points), (order, itself, bounds, offsets)
        cells = band(self.metric.window, self.metric.factor, n, self.m)
        costs = np.full(bounds.shape, np.inf)
        # None is left out for the costs of others, which are not the distances that count.
        counts += lanes.scan(prepared, self.series, candidates, None, n, *cells, 1, limits, (0.0, np.inf), costs)
        return costs if self.metric._reports_cost else self.metric._report(costs, problem)

    def _scan(self, queries, n, order, itself, bounds, factors, cutoff, counts):
        """Distances of candidates of one kind, of up to n points, infinite where they are surely above the cutoff."""
        record, x, w, points = queries
        problem = PreparedPair(record, x[0], None, self.features[order[0, 0]], None, None, points[0])
        limits, slack = cutoff, (0.0, 0.0)
        if not self.metric._reports_cost:  # distances may be equal where costs differ by rounding
            slack = 1e-12, 1e-12 * (self.m + n)
            limits = np.where(cutoff < np.inf, self.metric._limit(cutoff, problem), np.inf)
        prepared, candidates = (record, *lanes.padded(record, x, w), points), (order, itself, bounds, NO_OFFSETS)
        cells = band(self.metric.window, self.metric.factor, n, self.m)
        costs = np.full(bounds.shape, np.inf)
        counts += lanes.scan(prepared, self.series, candidates, factors, n, *cells, self.k, limits, slack, costs)
        return costs if self.metric._reports_cost else self.metric._report(costs, problem)


class PrunedSum:
    """The same for a weighted sum of distances, of which some are elastic.

    What is not elastic is computed of all candidates. The others are added to it one after the other, as far as the sum
    with the bounds of those that are missing may be among the nearest.
    """

    def __init__(self, metric, Y, x, w, k):
        self.k, self.terms = k, []
        for part, weights in metric._counted(len(x), w):
            of_y, of_x = [part.of(y) for y in Y], part.of(x)
            pruned = Pruned(part.metric, of_y, of_x, weights, k) if _adds_up(part.metric) else None
            self.terms.append((part, pruned, None if pruned else partial(_all, part.metric, of_y, weights)))
        self.lengths = np.array(lengths_of(Y))
        self.kinds = _kinds(self.lengths, any(pruned and pruned.exact for _, pruned, _ in self.terms))

    def distances(self, X, itself, known):
        """See `Pruned`."""
        rest, look, terms = [np.zeros((len(X), len(self.lengths)))], 0.0, []  # rest: at least, from each term on
        for part, pruned, every in reversed(self.terms):
            some = [part.of(x) for x in X]
            of_length, least = pruned.at_least(some) if pruned else (None, every(some, itself)[0])
            look = look + part.weight * (pruned.look(some, least, itself) if pruned else least)
            rest.append(rest[-1] + part.weight * least)
            terms.append((part.weight, pruned, of_length, least))
        terms, rest = terms[::-1], rest[::-1]
        out, counts, known = np.full(look.shape, np.inf), np.zeros(3, int), np.where(np.isnan(known), np.inf, known)
        for members in sorted(self.kinds, key=lambda members: look[:, members].min(axis=1).sum()):
            order = members[np.argsort(look[:, members], axis=1, kind="stable")]
            begin, size = 0, lanes.LANES
            while begin < len(members):
                some, begin, size = order[:, begin : begin + size], begin + size, 2 * size
                best = np.partition(np.hstack([known, out]), self.k - 1, axis=1)[:, self.k - 1]
                counts += self._add(terms, rest, np.ascontiguousarray(some), itself, best, out)
        return out, counts

    def _add(self, terms, rest, order, itself, best, out):
        """Write distances of some candidates that are not above the best; what became of them."""
        sizes = np.max(np.abs(rest[0]), axis=1, where=np.isfinite(rest[0]), initial=0.0)
        limits = best + 1e-12 * (np.where(best < np.inf, np.abs(best), 0.0) + sizes)  # sums round
        n, total, found = int(self.lengths[order].max()), 0.0, []
        for (weight, pruned, of_length, least), behind in zip(terms, rest[1:], strict=True):
            if pruned:
                offsets, counts = (total + behind) / weight, np.zeros(3, int)
                found.append(counts)
                least = pruned.below(of_length(n), n, order, itself, offsets + least, offsets, limits / weight, counts)
            total = total + weight * least
        np.put_along_axis(out, order, np.take_along_axis(total, order, axis=1), axis=1)
        bounded, computed = found[0][0], found[-1][2]
        return bounded, found[0].sum() - bounded - computed, computed


def _coarse(a):
    """Means of a few neighboring points each."""
    ends = np.arange(0, a.shape[1], COARSE)
    return np.add.reduceat(a, ends, axis=1) / np.minimum(COARSE, a.shape[1] - ends)

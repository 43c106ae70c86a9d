"""Windows that a selection may choose, found without the distances of all others.

A window is normalized exactly, or by running moments as scale and shift of its samples.

Which windows may be chosen is limited beforehand: by the threshold, and for k matches by the distance of the last of 2k
- 1 known windows that do not overlap each other. All windows have one length, so a match excludes at most two of these.
After k - 1 matches at least one of them is left, so the k-th match is no farther than the farthest of them.

Costs above this limit are not computed to the end. All other windows are then computed again as the whole profile
computes them, so that the choice is the same, including ties and rounding.
"""

from copy import copy
from functools import partial
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..distances import _nearest
from ..distances._kernels import batch, bounds, dispatch, moments
from ..distances._kernels.simd import scratch
from ..distances._metrics.base import band
from ..distances._metrics.elastic import ElasticMetric, PreparedPair
from ..distances._series import SCALINGS, deviation, full_weight, normalize_values
from ..utils._jobs import one_by_one, shared
from ._limits import allowed_windows, covered
from ._selection import select


class Candidates(NamedTuple):
    """Windows that may be within the limit."""

    where: np.ndarray  # (count,): starts
    low: np.ndarray  # (count,): lower bounds of the costs
    moments: np.ndarray  # (2, channels, count): scale and shift; without channels if windows are normalized exactly

    @classmethod
    def joined(cls, parts):
        """Return the candidates of all parts together."""
        return cls(*(np.concatenate(values, axis=-1) for values in zip(*parts, strict=True)))

    def of(self, which):
        """Return selected candidates, given their indices or a slice."""
        return Candidates(self.where[which], self.low[which], self.moments[..., which])

    def within(self, limit):
        """Return copies of the candidates whose bounds are at most the limit."""
        return self.of(np.flatnonzero(self.low <= limit))

    def divided(self, count):
        """Return the `count` candidates with the lowest bounds, and all others."""
        if len(self.low) <= count:
            return self, self.of(slice(0))
        best = np.zeros(len(self.low), bool)
        best[np.argpartition(self.low, count)[:count]] = True
        return self.of(best), self.of(~best)


BLOCK_OF_MOMENTS = 2**16  # windows whose moments are computed at a time
OFFSET_SAMPLE = 128  # samples from which an offset is estimated
LARGE = 16  # offsets above this multiple of the deviation are subtracted first
UNCERTAINTY = 1e-8  # error of values normalized by running moments, relative to the scale of the values
EACH = 8  # stretches of windows for each thread


def less_offset(y):
    """Return a sequence with its offset subtracted if that is large, so that running moments lose no digits."""
    some = y[:, :: max(1, y.shape[1] // OFFSET_SAMPLE)]
    offset = some.mean(axis=1, keepdims=True)
    offset[np.abs(offset) < LARGE * deviation(some)] = 0.0
    return y - offset if offset.any() else y


class Windows:
    """The windows of a sequence, normalized exactly as in a profile, or by running moments (scale and shift).

    By moments, values are known up to an `uncertainty`; where the error is larger, the scale is NaN. Scale and shift
    may be stored for all queries; if their arrays are empty, they are computed where they are needed.
    """

    def __init__(self, x, w, y, normalize):
        self.y, self.normalize, self.w, self.weight = y, normalize, w, full_weight(w, x)
        self.m, self.n = x.shape[1], y.shape[1] - x.shape[1] + 1
        self.samples, self.uncertainty = None, 0.0
        self.scale, self.shift = np.empty((2, len(y), 0))

    def part(self, first, last):
        """Return the windows [first, last), with their stored moments."""
        some, stop = copy(self), last + self.m - 1
        some.y, some.n = np.ascontiguousarray(self.y[:, first:stop]), last - first
        if self.samples is not None:
            some.samples = some.y if self.samples is self.y else np.ascontiguousarray(self.samples[:, first:stop])
        some.scale, some.shift = (np.ascontiguousarray(a[:, first:last]) for a in (self.scale, self.shift))
        return some

    def exact(self, which):
        """Return the windows that start at `which`, normalized as in a profile."""
        windows = sliding_window_view(self.y, self.m, axis=1).transpose(1, 0, 2)[which]
        return normalize_values(np.ascontiguousarray(windows), self.weight, self.normalize)

    def prepare(self, largest, jobs=1, for_each=one_by_one, *, keep=False):
        """Set the uncertainty of windows normalized by moments, for normalized queries with values up to `largest`.

        Scale and shift are computed and stored here if they are to be kept, or if weights make them expensive.
        """
        self.samples = self.y
        if self.normalize is None:
            return
        self.samples = less_offset(self.y)
        self.uncertainty = UNCERTAINTY * (largest + deviation(self.y).max() if self.normalize == "mean" else 1.0)
        if keep or self.w is not None or self.normalize == "minmax":
            self.scale, self.shift = np.zeros((2, len(self.y), self.n))
            size = self.n
            if jobs > 1:  # each thread gets whole blocks
                size = BLOCK_OF_MOMENTS * max(1, self.n // (BLOCK_OF_MOMENTS * EACH * jobs))
            for_each(partial(self._fill_moments, size), range(0, self.n, size))

    def _fill_moments(self, size, begin):
        """Fill in scale and shift of `size` windows from `begin` on."""
        m, scaling, end = self.m, SCALINGS[self.normalize], min(begin + size, self.n)
        room = scratch("moments of windows", (3, min(BLOCK_OF_MOMENTS, self.n)))
        for k in np.flatnonzero(self.weight.any(axis=1)):  # channels without weight do not matter
            y = self.samples[k]
            for first in range(begin, end, BLOCK_OF_MOMENTS):
                last = min(first + BLOCK_OF_MOMENTS, end)
                scale, shift = self.scale[k, first:last], self.shift[k, first:last]
                if self.w is None and scaling != 3:
                    known = room[:, : last - first]
                    moments.moments(y, m, 0.0, first, *known)
                    with np.errstate(divide="ignore", invalid="ignore"):  # expected, but plain Python would warn
                        moments.standardize_windows(y, m, first, self.uncertainty, scaling, *known, scale, shift)
                    continue
                mean, scale[:] = moments.weighted_windows(y, self.weight[k], first, scaling, last - first)
                at = np.arange(last - first)
                below, above = bounds.envelopes(y[first : last + m - 1], at, at + m)
                most = np.maximum(-below, above) + np.abs(mean)
                wrong = (2.0**-47 + 2.0**-52 * 4.0 * (m + 4.0)) * most * scale
                shift[:] = -mean * scale
                scale[~(wrong <= self.uncertainty)] = np.nan


LEAST = 2**18  # points of all windows together; with fewer, the whole profile takes no noticeable time
BLOCK = 2**18  # minimum number of windows per stretch, if there are enough: small stretches make threads wait
STRETCHES = 64  # number of stretches; the limit found in one speeds up the next
FEW = 2**12  # with fewer candidates per stretch, those of all stretches are joined, because waiting takes longer
TERMS = 2**19  # points of windows that are compared at a time
FIRST = 16  # query points in the bounds from which the first windows are chosen
SEEDS = 512  # minimum number of windows compared first, each the most promising of several
SAMPLED = 2**12  # minimum number of neighboring windows in a sample from which such seeds are chosen
PARTS, SHARE = 8, 64  # minimum number of such samples, and minimum share (as its inverse) of all windows in them
ROWS = 16  # number of samples in long sequences, each of which is a call
PROMISING = 32  # windows that a thread compares before the rest of its stretch
PIECE = 2**11  # windows that a thread compares before it shares the limit


class Choice(NamedTuple):
    """The rule that chooses matches from candidates, and the number of threads for the search."""

    n_matches: int | None = None
    threshold: float | None = None
    max_overlap: float = 0.0
    percentile: float | None = None  # percentile of the distances that replaces a threshold
    jobs: int = 1

    @property
    def needs_all(self):
        """Whether every candidate may be needed, as for a percentile of all distances."""
        return self.percentile is not None or (self.n_matches is None and self.threshold is None)

    def below(self, distance):
        """Return the rule with `distance` as the threshold, if it is finite."""
        return self._replace(threshold=distance) if distance < np.inf else self

    def bound(self, distance, start, end):
        """Return a distance that all matches are within, given some windows; infinite if they are too few."""
        if self.n_matches is None:
            return np.inf
        most = 2 * self.n_matches - 1
        chosen = select(distance, start, end, n_matches=most, threshold=self.threshold, max_overlap=self.max_overlap)
        return distance[chosen[-1]] if len(chosen) == most else np.inf


def prunes(plan, rule, n):
    """Return whether it pays to leave out windows that a rule cannot choose, in a sequence of n samples."""
    if rule is None or rule.needs_all or plan.mode != "windows" or plan.by_channel is not None:
        return False
    metric, cells = plan.metric, plan.m * (n - plan.m + 1)
    known = isinstance(metric, ElasticMetric) and metric._has_lanes and metric._is_monotone and plan.tx is None
    return known and plan.lengths is None and cells >= LEAST


def near_windows(plan, y, rule, pieces=None):
    """Return distances and ascending starts of the windows in `pieces` (k, 2) of `y` that `rule` may choose.

    Without `pieces`, all of `y` is searched. Windows beyond the limits of scale and offset are left out.
    """
    x, w, limits, among = plan.x, plan.w, plan.scale_limits, None
    if limits is not None or pieces is not None:
        m, found = x.shape[1], np.zeros(max(y.shape[1] - x.shape[1] + 1, 0), bool)
        for first, last in [(0, y.shape[1])] if pieces is None else pieces:
            if last - first >= m:
                piece = np.ascontiguousarray(y[:, first:last])
                found[first : last - m + 1] = True if limits is None else allowed_windows(limits, x, w, piece)
        if not found.any():
            return np.empty(0), np.empty(0, np.int64)
        if not found.all():
            # Cut out the samples that are in no such window. The remaining stretches are joined, and no such window
            # spans a joint, so two of the windows overlap exactly if they did before.
            first, last = covered(found, m)
            y = np.concatenate([y[:, a:b] for a, b in zip(first, last, strict=True)], axis=1)
            among = np.concatenate([found[a:b] for a, b in zip(first, last, strict=True)])[: y.shape[1] - m + 1]
    with shared(rule.jobs) as for_each:
        distance, start = _Cascade(plan.window_query, Windows(x, w, y, plan.normalize), rule, among, for_each).near()
    if among is None:
        return distance, start
    begin = np.cumsum(last - first) - (last - first)
    return distance, start + (first - begin)[np.searchsorted(begin, start, "right") - 1]


def nearest_window(metric, x, windows, limit):
    """Return distance and index of the window nearest to a query; (inf, -1) beyond a limit. Ties: the first."""
    rule = Choice(1, None if np.isinf(limit) else limit)
    distance, start = _Cascade(WindowQuery(metric, x, windows.w, windows.normalize), windows, rule).near()
    near = np.flatnonzero(distance <= limit)
    if not len(near):
        return np.inf, -1
    best = near[np.argmin(distance[near])]
    return float(distance[best]), int(start[best])


# ------------------------------------------------------------------------------------------------------------- search
class WindowQuery:
    """A query prepared for a comparison with windows, and for bounds of their costs, in any sequence."""

    def __init__(self, metric, x, w, normalize):
        m = x.shape[1]
        self.metric, self.x = metric, normalize_values(x, full_weight(w, x), normalize)
        self.largest = np.abs(self.x).max()
        record, features, weight, points = metric._query(self.x, w, m)
        weight = full_weight(weight, features)
        self.problem = PreparedPair(record, features, weight, features, None, None, points)
        rows, weighted = batch.padded(record, features[np.newaxis], weight[np.newaxis])
        self.rows, self.band = (record, rows[0], weighted, points), band(metric.window, metric.factor, m, m)
        plain = metric._context == 0 and normalize in SCALINGS  # the metric compares samples, and moments normalize
        # Windows are compared as moments normalize them, unless the metric has a factor computed from their values.
        facts = dispatch.bounds_of(record)
        self.by_moments = plain and facts is not None and facts.squares and not metric._has_factor
        self.bounds = self.reached = None
        if self.by_moments and metric.window is not None:
            low, high = bounds.envelopes(features, *self.band)
            low[:, [0, -1]] = high[:, [0, -1]] = features[:, [0, -1]]  # paths pair end points with end points
            self.reached = low, high, bounds.envelopes(weight, *self.band)[0]
        if plain and facts is not None:
            self.bounds = self._bounds(*self.band, facts)
        self.more = 0.0 if metric._reports_cost else 2e-12 * m  # costs of equal distances may differ by this

    def _bounds(self, lo, hi, facts):
        """Return the `QueryPoints` for bounds of windows within a band, and a width.

        The width is the number of window points in the range that a query point may be aligned with; it is the same for
        all points, so at the ends of the windows it includes a few more.
        """
        record, x, w, _, _, _, points = self.problem
        channels, m = x.shape
        width = int((hi - lo).max())
        pinned, (first, last) = np.zeros(m, np.int64), _nearest.pinned(record)
        pinned[0] = first
        pinned[-1] |= last
        starts = np.where(pinned, np.arange(m), np.minimum(lo, m - width))
        floor = 0.0 if facts.minimum_gap is None else channels * facts.minimum_gap(record)
        up = _nearest.gap_costs_of(record, points[0], channels)
        up += max(float(dispatch.gap(record, 0.0, 1.0)), floor) if facts.skips else 0.0
        rest = points, _nearest.minimum_lags(lo, hi), up, pinned, starts
        return bounds.QueryPoints(x, _nearest.weight_rows(w), *rest), width


class _Cascade:
    """A search of one sequence for the windows near one query; the mask `among` selects windows, `near` searches.

    Only windows without gaps count. Threads share the limit of cost and the compared windows within it. The moment at
    which a thread learns of a lower limit affects how much it computes, but never the result.
    """

    def __init__(self, query, windows, rule, among=None, for_each=one_by_one):
        self.query, self.windows, self.rule, self.for_each = query, windows, rule, for_each
        self.among = np.empty(0, bool) if among is None else among
        if query.bounds is not None:
            if windows.samples is None:
                windows.prepare(query.largest, rule.jobs, for_each)
            # Points far from the mean cost most in most windows; those paired with one window point come first.
            x, w = query.problem[1:3]
            far = np.abs(x if windows.normalize else x - windows.y.mean(axis=1, keepdims=True))
            self.order = np.lexsort((-(w * far).sum(axis=0), -query.bounds[0].pinned))
        self.limit, self.lock = np.inf, Lock()
        self.where, self.costs = np.empty(0, np.int64), np.empty(0)
        if rule.threshold is not None:
            self._tighten(query.metric._cost_of_distance(rule.threshold, query.problem))

    def near(self):
        """Return exact distances and ascending starts of the windows that may be chosen."""
        windows, jobs = self.windows, self.rule.jobs
        if self.rule.n_matches is not None:
            self._seed()
        rounds = -(-min(STRETCHES, -(-windows.n // BLOCK)) // jobs)  # as many for each thread, so that all end together
        size = -(-windows.n // (rounds * jobs))

        def find(begin):  # the candidates of a stretch, and its windows that running moments cannot normalize
            found, beyond = self._candidates(begin, min(begin + size, windows.n))
            if self.rule.n_matches is not None and len(found.low) > PROMISING:  # lower the limit first
                best, found = found.divided(PROMISING)
                self._compare(best)
            found = found.within(self.limit)
            if self.query.reached is not None:
                low = bounds.bound_windows(self.query.reached, self._compared(found))
                found = found._replace(low=np.maximum(found.low, low)).within(self.limit)
            return found, beyond

        found, beyond = zip(*self.for_each(find, range(0, windows.n, size)), strict=True)
        few = sum(len(some.low) for some in found) < FEW * len(found)
        self._compare_all([Candidates.joined(found)] if few else found)
        near = np.sort(np.concatenate([self.where[self.costs <= self.limit], *beyond]))
        size, points = max(1, TERMS // self.query.x.size), self.query.rows[-1]
        costs = [np.empty(0), *(self._exact_costs(near[at : at + size], np.inf) for at in range(0, len(near), size))]
        return self.query.metric._distance_of_cost(np.concatenate(costs), points, windows.m), near

    def _seed(self):
        """Compare the most promising windows of samples of the sequence, so that a limit is known early."""
        n, k = self.windows.n, self.rule.n_matches
        sampled = max(n // SHARE, SAMPLED * PARTS, 4 * (2 * k - 1) * self.windows.m)
        row = SAMPLED * max(1, sampled // (SAMPLED * ROWS))
        count, begins = -(-sampled // row), range(0, n, row)
        if count < len(begins):
            begins = np.linspace(0, n - row, count).astype(np.int64).tolist()
        size = max(1, min(n, count * row) // max(SEEDS, 8 * k))

        def promising(begin):
            found, _ = self._candidates(begin, min(begin + row, n), FIRST)
            some = len(found.low) // size * size
            return found.of(np.argmin(found.low[:some].reshape(-1, size), axis=1) + np.arange(0, some, size))

        found = Candidates.joined(self.for_each(promising, begins))
        self._compare_all(found.divided(PROMISING * self.rule.jobs))
        self.where, self.costs = self.where[:0], self.costs[:0]  # the main search finds them again

    def _candidates(self, begin, end, most=None):
        """Return the windows [begin, end) whose bounds are within the limit, and those that moments cannot normalize.

        The latter must be compared exactly. With `most`, bounds use only that number of points. The next call may
        overwrite the candidates.
        """
        none, channels = np.empty(0, np.int64), len(self.windows.y) if self.query.by_moments else 0
        if self.query.bounds is None:
            where = np.arange(begin, end)
            where = where[self.among[begin:end]] if len(self.among) else where
            return Candidates(where, np.zeros(len(where)), np.empty((2, 0, len(where)))), none
        windows, (points, width) = self.windows, self.query.bounds
        order = self.order[:most], int(points.pinned.sum())
        compared = windows.samples, SCALINGS[windows.normalize], windows.uncertainty, windows.scale, windows.shift
        given = self.query.problem.record, points, compared, self.among, width, *order
        with np.errstate(divide="ignore", invalid="ignore"):  # expected, but plain Python would warn
            where, low, moments = bounds.candidates(*given, self.limit, begin, end)
        known, found = low != bounds.UNKNOWN, Candidates(where, low, moments[:, :channels])
        if self.query.by_moments:
            return (found, none) if known.all() else (found.of(np.flatnonzero(known)), where[~known])
        return found._replace(low=np.maximum(low, 0.0)).of(np.argsort(where)), none

    def _compare_all(self, found):
        """Compare candidates in pieces; the costs of each piece may lower the limit for the following ones."""
        parts = []
        for some in (one.within(self.limit) for one in found):
            size = max(min(PIECE, TERMS // self.query.x.size, -(-len(some.low) // self.rule.jobs)), 1)
            parts += [some.of(slice(at, at + size)) for at in range(0, len(some.low), size)]
        self.for_each(self._compare, parts)

    def _compare(self, found):
        """Compute the costs of the candidates that are within the limit by now."""
        found = found.within(self.limit)
        if not len(found.low):
            return
        if self.query.by_moments:
            costs = bounds.compare(self.query.rows, self._compared(found), *self.query.band, self.limit)
        else:
            costs = self._exact_costs(found.where, self.limit)
        with self.lock:
            self._learn(found.where, costs)

    def _compared(self, found):
        """Return candidates in the form that `bounds.compare` reads, normalized by moments."""
        return self.windows.samples, found.where, *np.ascontiguousarray(found.moments)

    def _learn(self, which, costs):
        """Add the costs of windows (infinite above the limit), and lower the limit if possible."""
        found = np.flatnonzero(costs < np.inf)
        if not len(found):
            return
        self.where, self.costs = np.append(self.where, which[found]), np.append(self.costs, costs[found])
        k = self.rule.n_matches
        if k == 1:
            self._tighten(costs[found].min())
        elif k is not None:
            self._tighten(self.rule._replace(threshold=None).bound(self.costs, self.where, self.where + self.windows.m))
        near = self.costs <= self.limit
        self.where, self.costs = self.where[near], self.costs[near]

    def _tighten(self, cost):
        """Lower the limit to a cost that no match exceeds; it is raised twice by the rounding error of costs."""
        points, uncertainty = self.windows.y.shape[0] * self.windows.m, self.windows.uncertainty
        for _ in range(2):
            if self.query.by_moments:
                cost = (np.sqrt(cost) + np.sqrt(2.0 * points) * uncertainty) ** 2
            else:
                cost = cost + 4.0 * points * uncertainty
            cost = cost * (1.0 + 1e-9) + self.query.more
        self.limit = min(self.limit, cost)

    def _exact_costs(self, where, cutoff):
        """Return the costs of exactly normalized windows, infinite above the cutoff."""
        metric, x = self.query.metric, self.query.problem.x
        shape = len(x), len(where)
        features = metric._features(self.windows.exact(where))
        values = np.ascontiguousarray(features.transpose(1, 0, 2)).reshape(len(x), -1)
        compared = values, np.arange(len(where)) * self.windows.m, np.ones(shape), np.zeros(shape)
        costs = bounds.compare(self.query.rows, compared, *self.query.band, cutoff)
        if metric._has_factor:
            near = np.flatnonzero(costs < np.inf)
            costs[near] = metric._scaled(costs[near], x, features[near])
        return costs

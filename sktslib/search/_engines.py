"""Profiles of subsequences that are each normalized by themselves: for each sample, the nearest one that ends there.

Subsequences of different lengths have different means and scales. So no column of costs can serve all of them, and each
is compared as a whole series. Where the metric sums squared differences, `bounds` first excludes boxes of subsequences
that cost more than a match may, or more than the nearest known subsequence at each of their ends. The other boxes are
divided until single subsequences are left. Boxes without a subsequence within the limits of scale and offset are
excluded before that, see `LimitedRanges`.

The limit for k matches: choose k ends such that no match overlaps the candidates of two of them. Then the k nearest
matches are no farther than the farthest of these k candidates, because k - 1 matches leave at least one of the k
candidates without overlap. The candidate that ends at `e` overlaps a match [a, b) only if a < e < b + longest, a range
of at most 2 longest - 1 samples.
"""

from functools import reduce
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..distances._kernels import batch, bounds, dispatch
from ..distances._metrics.elastic import ElasticMetric, PreparedPair
from ..distances._series import SCALINGS, full_weight, normalize_values
from ._limits import LimitedRanges, allowed_ranges
from ._pruning import Choice
from ._selection import Profile, select

LEAST = 2**20  # cells of all ranges together; with fewer, comparing all takes no noticeable time
SHARE = 2  # the ends of a first box span at most the shortest length divided by this, so that their moments are similar
PARTS = 4  # number of parts into which a box is divided, by ends and by lengths
BATCH = 2**10  # boxes that are divided at a time
SEEDS = 2**10  # minimum number of boxes of each size that are divided first
EACH = 4  # maximum number of these per stretch of samples
TERMS = 2**19  # points of ranges that are normalized at a time
CLOSE = 1e-9  # relative error of the bounds of single ranges


def range_profile(plan, y, ty, rule=None, first=0):
    """Return the profile of the ends after sample `first`; with a `rule`, without candidates it cannot choose.

    Of equally near ranges the shortest counts. No range crosses a missing value or a gap in time.
    """
    profiles, rule = [], Choice() if rule is None or rule.needs_all else rule
    for one in plan.versions:
        known = _Known(y.shape[1], one.range_lengths[1], rule)
        for a, b in one.runs(y, ty):
            piece, times = np.ascontiguousarray(y[:, a:b]), None if one.compared(ty) is None else ty[a:b]
            _enter(one, piece, times, known, int(a), max(first - int(a), 0))
        profiles.append(Profile(known.distance[first:], known.start[first:]))
        rule = rule.below(known.limit)  # candidates beyond the limit cannot be chosen
    return reduce(Profile._or_nearer, profiles)


def of_ranges(plan, y, ty, start, end):
    """Return the exact distances of ranges of a series without gaps; infinite beyond the limits of scale and offset."""
    out, ty = np.full(len(start), np.inf), plan.compared(ty)
    tx = None if ty is None else plan.tx - plan.tx[0]
    for length in np.unique(end - start).tolist():
        own = np.flatnonzero(end - start == length)
        for which in np.array_split(own, min(len(own), -(-len(own) * length * len(y) // TERMS))):
            at = start[which]
            windows = np.ascontiguousarray(sliding_window_view(y, length, axis=1)[:, at].transpose(1, 0, 2))
            if plan.scale_limits is not None:
                allowed = allowed_ranges(plan, windows)
                which, at, windows = which[allowed], at[allowed], windows[allowed]
                if not len(which):
                    continue
            windows = normalize_values(windows, np.ones((len(y), length)), plan.normalize)
            times = None if ty is None else sliding_window_view(ty, length)[at] - ty[at, np.newaxis]
            out[which] = plan.metric._windows(plan.compared_query, plan.w, windows, tx, times)
    return out


def _enter(plan, y, ty, known, offset, first):
    """Enter the ranges of a piece without gaps that end after its sample `first` into `known`."""
    shortest, longest = plan.range_lengths
    n, longest = y.shape[1], min(longest, y.shape[1])
    first = max(first, shortest - 1)
    if n <= first:
        return
    metric, cells = plan.metric, (n - first) * (longest - shortest + 1) * plan.m * shortest
    plain = isinstance(metric, ElasticMetric) and metric._has_lanes and metric._is_monotone and metric._context == 0
    if plain and ty is None and cells >= LEAST and plan.normalize in SCALINGS:  # bounds take less than comparing all
        facts = dispatch.bounds_of(metric._query(plan.x, plan.w, plan.m).record)
        if facts is not None and facts.squares:
            _Boxes(plan, y, known, offset, first, (shortest, longest)).search()
            return
    for length in range(shortest, longest + 1):
        end = np.arange(max(first, length - 1) + 1, n + 1)
        known.learn(end + offset, length, of_ranges(plan, y, ty, end - length, end))


class _Known:
    """Nearest known range that ends at each sample, and the distance that every match is within."""

    def __init__(self, n, longest, rule):
        self.distance, self.start = np.full(n, np.inf), np.full(n, -1, np.int64)
        self.longest, self.rule = longest, rule
        self.limit = np.inf if rule.threshold is None else rule.threshold

    def learn(self, end, length, distance):
        """Enter ranges, several of which may share an end; of equally near ones the shortest counts."""
        start, at = end - length, end - 1
        order = np.lexsort((-start, distance, at))
        order = order[np.diff(at[order], prepend=-1) > 0]  # keep the best one of each end
        at, start, distance = at[order], start[order], distance[order]
        near = (distance < self.distance[at]) | ((distance == self.distance[at]) & (start > self.start[at]))
        near &= distance < np.inf
        self.distance[at[near]], self.start[at[near]] = distance[near], start[near]

    def tighten(self):
        """Lower the limit to a distance within which there are certainly `n_matches` matches."""
        if self.rule.n_matches is None:
            return
        end = np.flatnonzero(self.distance <= self.limit)
        # If matches may overlap completely, each candidate can be a match.
        apart = 2 * self.longest - 1 if self.rule.max_overlap < 1.0 else 1
        chosen = select(self.distance[end], end - apart, end, n_matches=self.rule.n_matches)
        if len(chosen) == self.rule.n_matches:
            self.limit = min(self.limit, self.distance[end[chosen[-1]]])


class _Boxes:
    """Search of the ranges of a piece without gaps, in boxes of neighboring `ends` and `lengths`.

    A column of a `boxes` array (3, k) holds the end of the first range, the shortest length, and the lower bound of
    cost.
    """

    def __init__(self, plan, y, known, offset, first, limits):
        self.plan, self.y, self.known, self.offset, self.first, self.limits = plan, y, known, offset, first, limits
        self.limited = None if plan.scale_limits is None else LimitedRanges(plan, y)
        self.flat = None  # number of equal samples up to each end, if computed
        metric = plan.metric
        record, x, w, points = metric._query(plan.compared_query, plan.w, plan.m)
        weight = full_weight(w, x)
        rows, weighted = batch.padded(record, x[np.newaxis], weight[np.newaxis])
        self.query = record, rows[0], weighted, points
        self.problem = PreparedPair(record, x, w, y, None, None, points)

    def _cost(self, distance):
        """Return the cost that corresponds to a distance, enlarged by the rounding error of bounds."""
        return self.plan.metric._cost_of_distance(distance, self.problem) * (1.0 + CLOSE)

    def search(self):
        """Enter all ranges that may be chosen as matches into the known ones."""
        (shortest, longest), n = self.limits, self.y.shape[1]
        ends = 1
        while ends * PARTS * SHARE <= shortest:
            ends *= PARTS
        if self.limited is None:
            self._learn_flat()
        count = longest - shortest + 1
        lengths = -(-count // -(-count // (PARTS * ends)))
        at = np.arange(self.first + 1, n + 1, ends)
        boxes = [(at, np.full(len(at), length)) for length in range(shortest, longest + 1, lengths)]
        boxes = self._bounded(np.concatenate(boxes, axis=1), ends, lengths)
        self._seed(boxes, ends, lengths)
        self._refine(boxes, ends, lengths)

    def _learn_flat(self):
        """Enter constant ranges: their distance depends on the length only, so one per length is compared."""
        (shortest, longest), n = self.limits, self.y.shape[1]
        changes = (self.y[:, 1:] != self.y[:, :-1]).any(axis=0)
        at = np.arange(n)
        self.flat = at + 1 - np.maximum.accumulate(np.where(np.append(True, changes), at, 0))
        end = at[self.first :][self.flat[self.first :] >= shortest] + 1
        if not len(end):
            return
        top = np.minimum(self.flat[end - 1], longest) - shortest
        last = int(end[np.argmax(top)])
        lengths = np.arange(shortest, shortest + top.max() + 1)
        distance = of_ranges(self.plan, self.y, None, last - lengths, np.full(len(lengths), last))
        least = np.minimum.accumulate(distance)
        best = np.maximum.accumulate(np.where(least < np.append(np.inf, least[:-1]), np.arange(len(least)), 0))
        self.known.learn(end + self.offset, lengths[best[top]], least[top])
        self.known.tighten()

    def _seed(self, boxes, ends, lengths):
        """Compare the most promising ranges, at most a few from each stretch of samples, to get a limit early.

        They are found in the most promising boxes, and within these in the most promising parts.
        """
        k = self.known.rule.n_matches
        if k is None:
            return
        while True:
            order = np.lexsort((boxes[2], boxes[0] // (2 * self.known.longest)))
            boxes = boxes[:, order]
            stretch = boxes[0] // (2 * self.known.longest)
            rank = np.arange(len(stretch)) - np.searchsorted(stretch, stretch)
            boxes = boxes[:, rank < EACH]
            boxes = boxes[:, np.argsort(boxes[2], kind="stable")[: max(SEEDS, 2 * EACH * k)]]
            if ends == lengths == 1:
                break
            boxes, ends, lengths = self._smaller(boxes, ends, lengths)
        self._learn(*boxes[:2].astype(np.int64))

    def _refine(self, boxes, ends, lengths):
        """Divide boxes down to single ranges, the most promising first, and compare the ranges that remain."""
        boxes = boxes[:, np.argsort(boxes[2], kind="stable")]
        for begin in range(0, boxes.shape[1], BATCH):
            part = self._open(boxes[:, begin : begin + BATCH], ends)
            if ends == lengths == 1:
                self._compare(part)
            elif part.size:
                self._refine(*self._smaller(part, ends, lengths))

    def _smaller(self, boxes, ends, lengths):
        """Return the parts of boxes that may hold a match, and the numbers of ends and lengths of a part."""
        sizes = -(-ends // PARTS), -(-lengths // PARTS)
        steps = [np.arange(0, whole, size) for whole, size in zip((ends, lengths), sizes, strict=True)]
        end, length = boxes[:2].astype(np.int64)[:, :, np.newaxis, np.newaxis]
        parts = np.broadcast_arrays(end + steps[0][:, np.newaxis], length + steps[1])
        end, length = (part.ravel() for part in parts)
        some = (end <= self.y.shape[1]) & (length <= self.limits[1])  # other parts hold no range
        return self._bounded(np.array([end, length])[:, some], *sizes), *sizes

    def _bounded(self, boxes, ends, lengths):
        """Return the boxes that may hold a match, with their bounds."""
        if self.limited is not None:
            boxes = boxes[:, self.limited.may_lie_in(boxes[0], ends, boxes[1], lengths)]
        else:
            last = np.minimum(boxes[0].astype(np.int64) + ends - 1, self.y.shape[1])
            top = np.minimum(boxes[1] + lengths - 1, self.limits[1])
            boxes = boxes[:, self.flat[last - 1] < top + (last - boxes[0])]
        low, cutoff = np.empty(boxes.shape[1]), self._cost(self.known.limit)
        order = np.lexsort((boxes[0], boxes[1]))  # by length; then neighboring boxes are in neighboring lanes
        cuts = np.flatnonzero(np.diff(boxes[1][order], prepend=-1, append=-1))
        for a, b in pairwise(cuts.tolist()):
            own = order[a:b]
            length = int(boxes[1][own[0]])
            box = boxes[0][own], ends, (length, min(length + lengths, self.limits[1] + 1))
            low[own] = bounds.bounds(*self.query, self.y, box, SCALINGS[self.plan.normalize], cutoff)
        return self._open(np.array([*boxes, low]), ends)

    def _open(self, boxes, ends):
        """Return the boxes whose bound is within the limit and below the known distance of one of their ends."""
        boxes = boxes[:, (boxes[2] <= self._cost(self.known.limit)) & (boxes[2] < np.inf)]
        at = boxes[0].astype(np.int64)[:, np.newaxis] - 1 + np.arange(ends)
        known = self.known.distance[np.minimum(at, self.y.shape[1] - 1) + self.offset]
        return boxes[:, boxes[2] <= self._cost(known.max(axis=1, initial=0.0))]

    def _learn(self, end, length):
        distance = of_ranges(self.plan, self.y, None, end - length, end)
        self.known.learn(end + self.offset, length, distance)
        self.known.tighten()

    def _compare(self, boxes):
        """Compare single ranges; first, for each end, the one with the lowest bound."""
        boxes = boxes[:, np.lexsort((boxes[2], boxes[0]))]
        is_first = np.diff(boxes[0], prepend=-1) > 0
        self._learn(*boxes[:2, is_first].astype(np.int64))
        self._learn(*self._open(boxes[:, ~is_first], 1)[:2].astype(np.int64))

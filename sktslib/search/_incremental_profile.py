"""Profiles piece by piece: a sequence goes in by chunks, candidates come out as soon as they are known."""

from typing import NamedTuple

import numpy as np

from ..distances._kernels import columns as kernels
from ..distances._kernels.columns import oldest_start
from ..distances._kernels.dispatch import closed_boundary
from ..distances._metrics.bands import radius_of
from ._buffer import Buffer
from ._missing import runs
from ._windows import window_profile

ENDLESS = 2**62


class Candidates(NamedTuple):
    """Distances and ranges of candidates in samples of the whole sequence; infinite distances are none."""

    distance: np.ndarray
    start: np.ndarray
    end: np.ndarray
    slack: float = 0.0  # relative error of the distances


NONE = Candidates(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))


class IncrementalProfile:
    """The last samples of a sequence, and how many there were."""

    def __init__(self, metric, x, w, tx, missing=False):
        self.metric, self.x, self.w, self.tx = metric, x, w, tx
        self.missing = missing  # whether there may be gaps, at which the sequence begins anew
        self._y, self._ty = Buffer((len(x),)), None if tx is None else Buffer()

    @property
    def first(self):
        """The first sample that is held."""
        return self._y.first

    @property
    def seen(self):
        """How many samples there were."""
        return self._y.end

    def append(self, y, ty=None):
        """Take the next samples."""
        self._y.append(y)
        if ty is not None:
            self._ty.append(ty)

    def cut(self, start, end):
        """Samples and times of [start, end), in memory that may be used again."""
        y = self._y.cut(start, end)
        return y if y.flags.c_contiguous else y.copy(), None if self._ty is None else self._ty.cut(start, end)

    def feed(self, y, ty, last=False):
        """Take the next samples and return the candidates that they complete."""
        self.append(y, ty)
        return self.candidates(last)

    def forget(self, before):
        """Drop the samples before `before` that the feed itself does not need any more."""
        self._y.forget(min(before, self.needed))
        if self._ty is not None:
            self._ty.forget(self._y.first)

    def drop(self, before):
        """Give up what began before a sample and is not complete."""


class WindowProfile(IncrementalProfile):
    """Windows of the query's length, or of several; with a `rule` perhaps those alone that it may choose."""

    def __init__(self, metric, x, w, tx, normalize, lengths=None, rule=None):
        super().__init__(metric, x, w, tx)
        self.normalize, self.lengths, self.done, self.rule = normalize, lengths, 0, rule  # done: starts so far
        self.short, self.long = (x.shape[1],) * 2 if lengths is None else (int(lengths[0]), int(lengths[-1]))

    @property
    def needed(self):
        return self.done

    def horizon(self, threshold=None):
        """No candidate to come starts before this sample."""
        return self.done

    def due(self, end):
        """How many samples there must be before the horizon is at the `end` of a candidate, or of one to come."""
        return min(end, self.done + self.short) + self.long - 1

    def candidates(self, last=False):
        """The candidates that the samples so far complete; a start waits for its longest window."""
        upto = max(self.seen - (self.short if last else self.long) + 1, self.done)
        if upto == self.done:
            return NONE
        y, ty = self.cut(self.done, min(upto - 1 + self.long, self.seen))
        how = self.normalize, self.lengths, self.rule
        found = window_profile(self.metric, self.x, self.w, y, self.tx, ty, *how)
        some, first = slice(0, upto - self.done), self.done
        self.done = upto
        return Candidates(found.distance[some], found.start[some] + first, found.end[some] + first, found._slack)


class SubsequenceProfile(IncrementalProfile):
    """Subsequence candidates: one column of accumulated costs advances along the sequence."""

    def __init__(self, metric, x, w, tx, shortest=None, longest=None, missing=False):
        super().__init__(metric, x, w, tx, missing)
        self.limits = shortest or 1, longest or ENDLESS
        self.context = max(metric._reach, 1)  # samples before the next one that are looked at again
        self.noted = 0  # samples that are known to be missing or not
        self._query = None
        self._old = 0  # no path on its way begins before this sample
        self._begin(0)

    def _begin(self, at):
        """Begin anew at a sample, as the sequence does."""
        self.at = self.run = at  # samples done; where the present stretch without a gap begins
        self.col = None

    @property
    def _looks_back(self):
        return self._ty is not None or self.metric._looks_back

    @property
    def needed(self):
        back = max(self.at - self.context, self.run)
        return min(back, self._oldest(np.inf)) if self.col is not None and self._looks_back else back

    def _oldest(self, limit):
        """Where the first of the paths on their way begins that cost less than infinity and at most `limit`."""
        costs = self.col[1:]
        reported = costs if limit == np.inf else self._query.report(costs)
        return min(oldest_start(costs, reported, self.start[1:], limit), self.at)

    def horizon(self, threshold=np.inf):
        """No candidate to come of at most the threshold starts before this sample: costs can only grow."""
        return self.at if self.col is None else self._oldest(threshold)

    def due(self, end):
        """How many samples there must be before the horizon is at the `end` of a candidate, or of one to come.

        The path of a new candidate is on its way itself, until a sample comes after it.
        """
        return self.seen + (2 if end == ENDLESS else 1)

    def candidates(self, last=False):
        """The candidates that the samples so far complete."""
        begin, self.noted = self.noted, self.seen
        if not self.missing:
            return self._advance(self.seen, last) or NONE
        y, _ = self.cut(begin, self.seen)
        found, done = [], begin
        for a, b in runs(y) + begin:
            if a > done:
                self._break(found, done, a)
            found.append(self._advance(int(b), last or b < self.seen))
            done = int(b)
        if done < self.seen:
            self._break(found, done, self.seen)
        elif last and begin == self.seen:
            found.append(self._advance(self.seen, True))
        found = [part for part in found if part is not None]
        if len(found) < 2:
            return found[0] if found else NONE
        return Candidates(*(np.concatenate([part[k] for part in found]) for k in range(3)))

    def _break(self, found, gap, after):
        """Finish the stretch that ends at a gap and begin anew behind it."""
        found.append(self._advance(gap, True))
        self._begin(int(after))

    def _advance(self, end, last):
        """Compute the ends up to sample `end`; those whose features need samples to come wait, unless it is `last`."""
        upto = end if last else end - self.metric._reach
        if upto <= self.at:
            return None
        back = self.needed
        y, ty = self.cut(back, end)
        query = self._query
        if query is None or query.size < y.shape[1]:
            query = self._query = _Query(self.metric, self.x, self.w, self.tx, y)
        y = query.series(y)
        if self.col is None:
            self.col, self.start, _ = self.metric._start_column(query.problem)
            self.start += np.where(self.start < 0, -self.at, self.at)  # ~sample is -sample - 1
        if self._looks_back:  # cells without a path may hold a start of long ago
            self.start[1:][~np.isfinite(self.col[1:])] = self.at if closed_boundary(query.problem.record) else ~self.at
        state = self.col, self.start
        distance, start = query.go_on(y, ty, self.at - back, self.at, self.limits, state, upto - self.at)
        ends = np.arange(self.at + 1, upto + 1)
        self.at = upto
        return Candidates(distance, start, ends)

    def drop(self, before):
        """Give up paths that began before a sample."""
        if self.col is not None and self._old < before:
            start = self.start[1:]
            self.col[1:][np.where(start >= 0, start, ~start) < before] = np.inf
            self._old = self._oldest(np.inf)


class _Query:
    """A query as the kernel takes it chunk by chunk, made once for up to `size` samples at a time."""

    def __init__(self, metric, x, w, tx, y):
        self._of = metric, x, w
        self._local = getattr(metric, "dist", None) is not None  # the kernel takes local costs of the caller's
        self.size = ENDLESS if self._local else 2 * y.shape[1]
        y = y if self._local else np.zeros((len(x), self.size))
        ty = None if tx is None else np.zeros(y.shape[1])
        problem = metric._problem(x, w, y, tx, ty, search=True)
        self.rows, m = problem.rows, problem.shape[0]
        self.problem = problem._replace(y=problem.y[:1] if problem.x is None else problem.y[:, :1], ty=None)
        self._radius, self._ground = radius_of(metric.window, metric.factor, m, m), np.zeros((3, m))

    def series(self, y):
        """What the kernel compares of samples."""
        metric, x, w = self._of
        return metric._problem(x, w, y, None, None, search=True).y if self._local else metric._features(y)

    def report(self, costs):
        """The distances behind accumulated costs."""
        return self._of[0]._report_search(costs, self.problem)

    def go_on(self, y, ty, first, offset, limits, state, count):
        """Distances and starts of candidates that end at `count` samples from `first` of `y` on; changes the column."""
        pair = self.problem.record, self.rows, self.problem.points, y, self.problem.tx, ty
        distance, begin = np.empty(count), np.empty(count, np.int64)
        limits, state = (self._radius, *limits), (*state, self._ground)
        kernels.subsequence_profile(pair, first, offset, limits, state, distance, begin, kernels.NO_COSTS)
        ends, late = np.arange(first, first + count) + 1, offset - first  # in the samples at hand
        distance = self._of[0]._scaled_candidates(distance, self.problem.x, y, begin - late, ends)
        return self.report(distance), begin

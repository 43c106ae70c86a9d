"""Profiles piece by piece: a sequence goes in by chunks, candidates come out as soon as they are known."""

from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ..distances._recurrence import closed_border
from ..utils.validation import as_dates, as_times
from ._missing import runs
from ._times import followed
from ._windows import window_profile

ENDLESS = 2**62


class Candidates(NamedTuple):
    """Distances and ranges of candidates in samples of the whole sequence; infinite distances are none."""

    distance: np.ndarray
    start: np.ndarray
    end: np.ndarray
    slack: float = 0.0  # relative error of the distances


@contextmanager
def chunk_at(sample):
    """Say of an error in which chunk it is: samples are counted from its begin."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"In the chunk that begins at sample {sample}: {error}") from None


def is_nothing(X):
    """Whether a chunk has no samples, as when nothing came in time."""
    return hasattr(X, "__len__") and len(X) == 0


class Clock:
    """The caller's times as the kernels count them: datetimes in seconds from the first one of the sequence."""

    def __init__(self, metric, tx):
        self.metric, self.timed, self.origin = metric, tx is not None, None

    def __call__(self, times):
        if not self.metric.uses_times or (times is None and not self.timed):
            return None
        if times is None:
            raise ValueError("'times' must be given with the sequence, for 'fit' was given those of the query.")
        if not self.timed:
            raise ValueError(
                f"'times' must be None, for 'fit' was given none of the query, and {self.metric.full_name} compares "
                "times. Pass those of the query to 'fit' too."
            )
        given = as_dates(times)
        if self.origin is None and given.dtype.kind in "MO":
            self.origin = given[0]
        return as_times(times, len(given), "times", self.origin)


class Feed:
    """The last samples of a sequence, and how many there were."""

    def __init__(self, metric, x, w, tx):
        self.metric, self.x, self.w, self.tx = metric, x, w, tx
        self.first = self.seen = 0  # the buffer holds the samples [first, seen)
        self.y, self.ty = np.empty((len(x), 0)), None

    def append(self, y, ty):
        self.y = np.concatenate([self.y, y], axis=1)
        if ty is not None:
            self.ty = followed(self.ty, ty, self.seen)
        self.seen += y.shape[1]

    def cut(self, start, end):
        """Samples and times of [start, end)."""
        part = slice(start - self.first, end - self.first)
        return np.ascontiguousarray(self.y[:, part]), None if self.ty is None else self.ty[part]

    def forget(self, before):
        """Drop the samples before `before` that the feed itself does not need any more."""
        before = min(before, self.needed)
        if before > self.first:
            self.y = self.y[:, before - self.first :].copy()
            self.ty = None if self.ty is None else self.ty[before - self.first :].copy()
            self.first = before


class WindowFeed(Feed):
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

    def feed(self, y, ty, last=False):
        """Take the next samples and return the candidates that they complete; a start waits for its longest window."""
        self.append(y, ty)
        upto = max(self.seen - (self.short if last else self.long) + 1, self.done)
        if upto == self.done:
            return Candidates(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
        y, ty = self.cut(self.done, min(upto - 1 + self.long, self.seen))
        how = self.normalize, self.lengths, self.rule
        found = window_profile(self.metric, self.x, self.w, y, self.tx, ty, *how)
        some, first = slice(0, upto - self.done), self.done
        self.done = upto
        return Candidates(found.distance[some], found.start[some] + first, found.end[some] + first, found._slack)


class WarpedFeed(Feed):
    """Warped candidates: one column of accumulated costs goes along the sequence."""

    def __init__(self, metric, x, w, tx, shortest=None, longest=None):
        super().__init__(metric, x, w, tx)
        self.limits = shortest or 1, longest or ENDLESS
        self.report = None
        self._begin(0)

    def _begin(self, at):
        """Begin anew at a sample, as the sequence does."""
        self.at = self.run = at  # samples done; where the present stretch without a gap begins
        self.col = None

    @property
    def _context(self):
        """Samples before the next one that are looked at again."""
        return max(self.metric._reach, 1)

    @property
    def needed(self):
        back = max(self.at - self._context, self.run)
        if self.col is not None and (self.ty is not None or self.metric._looks_back):
            back = min(back, self._oldest(np.isfinite(self.col[1:])))
        return back

    def _oldest(self, live):
        starts = self.start[1:][live]
        return min(int(np.where(starts >= 0, starts, ~starts).min()), self.at) if starts.size else self.at

    def horizon(self, threshold=None):
        """No candidate to come of at most the threshold starts before this sample: costs can only grow."""
        if self.col is None:
            return self.at
        live = np.isfinite(self.col[1:])
        if threshold is not None:
            live &= self.report(self.col[1:]) <= threshold
        return self._oldest(live)

    def feed(self, y, ty, last=False):
        """Take the next samples and return the candidates that they complete."""
        begin = self.seen
        self.append(y, ty)
        found, done = [], begin
        for a, b in runs(y) + begin:
            if a > done:
                self._break(found, done, a)
            found.append(self._advance(b, last or b < self.seen))
            done = b
        if done < self.seen:
            self._break(found, done, self.seen)
        elif last and not y.shape[1]:
            found.append(self._advance(self.seen, True))
        found = [part for part in found if part is not None]
        if not found:
            return Candidates(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
        return Candidates(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _break(self, found, gap, after):
        """Finish the stretch that ends at a gap and begin anew behind it."""
        found.append(self._advance(gap, True))
        self._begin(after)

    def _advance(self, end, last):
        """Compute the ends up to sample `end`; those whose features need samples to come wait, unless it is `last`."""
        upto = end if last else end - self.metric._reach
        if upto <= self.at:
            return None
        back = self.needed
        y, ty = self.cut(back, end)
        problem = self.metric._problem(self.x, self.w, y, self.tx, ty, search=True)
        if self.col is None:
            self.col, self.start, _ = self.metric._start_column(problem)
            self.start += np.where(self.start < 0, -self.at, self.at)  # ~sample is -sample - 1
        # Cells without a path may hold a start of long ago.
        self.start[1:][~np.isfinite(self.col[1:])] = self.at if closed_border(problem.record) else ~self.at
        one = problem.y[:1] if problem.x is None else problem.y[:, :1]
        self.report = _Report(self.metric, problem._replace(y=one, ty=None))
        distance, start = self.metric._go_on(
            problem, self.at - back, upto - self.at, self.at, *self.limits, self.col, self.start
        )
        ends = np.arange(self.at + 1, upto + 1)
        self.at = upto
        return distance, start, ends


class _Report(NamedTuple):
    """The distances behind accumulated costs."""

    metric: object
    problem: NamedTuple

    def __call__(self, costs):
        return self.metric._report_search(costs, self.problem)

"""Segmentations of whole recordings, in memory or by chunks: rounds in jobs, and what they have in common."""

from typing import NamedTuple

import numpy as np
from joblib import delayed

from ...utils._jobs import count_jobs, each_in_jobs
from .._sources import Whole
from .listing import depends_on_path, listed_costs
from .stream_costs import Columns, paths_of
from .stretches import LANES, difference, rounds
from .undecided import Undecided

BLOCK = 2**13  # samples that are computed one by one before it is looked what is decided
WINDOWS = 2**17  # the same where the segments are windows
AHEAD = 16  # rounds that are handed out together, for each job


class SegmentTable(NamedTuple):
    """The segments of a segmentation, in temporal order."""

    start: np.ndarray
    end: np.ndarray
    query: np.ndarray  # from 0
    cost: np.ndarray
    shown: np.ndarray  # (.., 2): half-open ranges of the query's points


class InMemory(Whole):
    """A sequence in memory as a chunk of its own."""

    end = 0

    def __init__(self, how, y, ty):
        super().__init__(y, ty if how.reads_times else None)
        self.how, self.seen = how, y.shape[1]

    def runs(self, begin):
        """Ranges without a missing value and without a hole."""
        return self.how.runs(self.y, self.ty)


class Segmentation:
    """The cheapest segmentation of a recording that comes by chunks of any size, each stretch without a gap by itself.

    No result depends on the chunks or on the number of jobs.
    """

    def __init__(self, queries, rules, feed, n_jobs=None, count=None, readers=None):
        self._feed, self._transitions, self._n_jobs = feed, rules.transitions, n_jobs
        self._readers, self._rules = readers, rules
        self._count = count or (lambda steps: None)
        self._lengths = np.array([how.m for how in queries])
        self._paths = paths_of(queries, rules)
        elastic = isinstance(self._paths, Columns)
        self._lists = readers is not None and elastic and depends_on_path(queries[0], rules)
        self._noted, self._told = 0, []  # samples that were looked at; segments that are decided
        self._begin(0)

    def _begin(self, at):
        self._paths.begin(at)
        self._rows = Undecided.anew(at, self._transitions)
        self._next = at  # where the next round begins

    def take(self, last=False):
        """The segments that are decided by the samples so far; with the `last` of them all."""
        feed, begin = self._feed, self._noted
        done, self._noted = begin, feed.seen
        for a, b in feed.runs(begin):
            if a >= begin:
                self._break(done, int(a))
            done = int(b)
        if last or done < feed.seen:
            self._break(done, feed.seen)
        else:
            self._advance(done)
        found, self._told = self._told, []
        none = np.empty(0, np.int64)
        empty = SegmentTable(none, none, none, np.empty(0), np.empty((0, 2), np.int64))
        return SegmentTable(*(np.concatenate(each) for each in zip(empty, *found, strict=True)))

    @property
    def needed(self):
        """The first sample that is still needed."""
        reach = self._paths.reach
        return min(self._rows.base - reach, self._paths.needed, self._next - 1 - 2 * reach)

    def _break(self, gap, after):
        """Decide all up to a gap and start anew after it."""
        self._advance(gap, last=True)
        shown = self._paths.open_end(self._rows)
        found = self._rows.finish()
        self._tell(found, np.where(found.end == gap, shown[found.label - 1], self._lengths[found.label - 1]))
        self._begin(after)

    def _tell(self, parts, last=None, listed=None):
        """Add segments to what will be told, and the `last` points of their queries, which are the last of all.

        From the number `listed` on they have the costs of their ranges; by default none has.
        """
        last = self._lengths[parts.label - 1] if last is None else last
        shown = np.column_stack([parts.hidden, last])
        found = SegmentTable(parts.start, parts.end, parts.label - 1, parts.cost, shown)
        if self._readers is not None:
            rest = SegmentTable(*(each[:listed] for each in found))
            found.cost[:listed] = listed_costs(self._readers, self._rules, rest)
        self._told.append(found)

    def _advance(self, upto, last=False):
        """Advance to a sample, where the stretch ends if it is the `last`."""
        self._feed.end = upto
        if upto == self._paths.run:
            return
        block = WINDOWS
        if isinstance(self._paths, Columns):
            block = BLOCK
            if self._paths.runs_diagonally(self._feed):
                self._advance_by_rounds(upto, last)
                if not last:
                    return
        while self._paths.at < upto:
            end = min(self._paths.at + block, upto)
            if not last and (end + self._paths.reach > upto or end - self._paths.at < block):
                return
            self._count(end - self._paths.at)
            self._rows.append(*self._paths.go_on(self._feed, end))
            self._settle()

    def _settle(self):
        settled = self._rows.settle(self._paths.live())
        if settled is not None:
            self._tell(settled[0])
            self._paths.forget(self._rows.base)

    def _advance_by_rounds(self, upto, last):
        """Compute the rounds that are known by now; a few for each job at a time."""
        paths, feed = self._paths, self._feed
        fresh = self._next == paths.run
        shapes = list(rounds(self._next, upto, paths.longest, fresh, last))
        jobs = count_jobs(self._n_jobs)
        together = AHEAD * jobs if jobs > 1 else 1
        for k in range(0, len(shapes) if last else len(shapes) // together * together, together):
            tasks = [paths.task(feed, shape) for shape in shapes[k : k + together]]
            calls = [delayed(paths.compute)(*task, self._lists) for task in tasks]
            found = each_in_jobs(calls, len(calls), jobs, 0, "segmentation", "round")
            for task, one in zip(tasks, found, strict=True):
                self._join(task, one)

    def _join(self, task, one):
        """Take what a round gives, or, if it does not meet the rounds before, what it gives behind them."""
        paths, rows, shape = self._paths, self._rows, task[-1]
        zero = 0.0 if shape.fresh else difference(one.begin, paths.state)
        if zero is None:
            one = paths.compute(*task, self._lists, paths.state, rows)
        parts = [] if one.found is None else [one.found]
        if one.rows is not rows:
            if shape.fresh or parts:
                parts = parts if shape.fresh else rows.follow(shape.at + shape.lead, one.found, one.first, zero)
                self._rows = one.rows
            else:
                rows.extend(one.rows, zero)
        for some in parts:
            self._tell(some, listed=one.listed if some is one.found else None)
        paths.take(shape, one.end)
        self._next = shape.at + LANES * shape.step
        self._count(shape.end - shape.at if shape.fresh else shape.end - shape.at - shape.lead)
        if one.rows is not self._rows:
            self._settle()

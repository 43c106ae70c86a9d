"""Searches of a session, made by a thread that can be stopped: near the query, everywhere, then those of chance."""

import threading
import warnings
from concurrent.futures import CancelledError
from copy import copy
from typing import NamedTuple

import numpy as np

from .._plots.pyramid import rows
from ..io._objects import unwrapped
from ..io._recording import Recording, Stored
from ..metrics._events import pairs_by_iou
from ..search import FalseDiscoveryRate, QuerySearcher, QuerySegmenter
from ..search._learning.labels import SHIFTED
from ..search._results import Found, border_between, matches_of
from ..search._run import search_ranges
from ..search._selection import select
from ..search._sources import CandidateReader
from ..search._thresholds import Calibration, Decoys

NEAR = 2**20  # samples in which a period is looked for; a quarter of them, about the query, is searched first
IN_MEMORY = 2**24  # numbers that are searched at once; longer recordings are read by chunks
FEW, MOST = 500, 100_000  # matches that are looked for near the query, of a decoy or at first; and everywhere
OTHERS = 300  # matches without an answer that tell the threshold of a query
RATE = 0.05  # of false ones, which the first threshold keeps


class Job(threading.Thread):
    """Work that a thread does; kernels hear by its event that nobody waits for it any longer."""

    def __init__(self, kind, key, task, work, publish):
        super().__init__(daemon=True)
        self.kind, self.key, self.task = kind, key, task  # the message that asked for it, and all it depends on
        self.work, self.publish, self.estimator, self.stopped = work, publish, None, threading.Event()
        self.unwanted = (self.stopped,)  # where kernels look
        self.state, self.share, self.error, self.notes = "running", 0.0, None, []

    def run(self):
        try:
            with warnings.catch_warnings(record=True) as noted:
                warnings.simplefilter("always")
                self.work(self)
            self.notes, self.state = [str(one.message) for one in noted], "done"
        except CancelledError:
            self.state = "cancelled"
        except Exception as error:
            self.error, self.state = str(error) or type(error).__name__, "failed"


class Finds(NamedTuple):
    """Ranges that were found, the nearest first; of several queries distances are shares of each one's threshold."""

    start: np.ndarray
    end: np.ndarray
    query: np.ndarray
    distance: np.ndarray
    limit: float  # the distance between those that are proposed and the others
    table: object = None  # Matches or Segments of the rows
    q: np.ndarray | None = None
    chance: tuple = ()  # distances of matches of decoys, ascending, how many decoys there were, and how far is known

    @classmethod
    def of(cls, table, distance, limits=(None,), first=0):
        """Return what a table holds, whose samples count from the `first` one; of finds that overlap the nearest."""
        query = np.zeros(len(table), int) if table.query is None else table.query
        distance = distance / np.array(units(limits))[query] if len(limits) > 1 else distance
        order = select(distance, table.start, table.end)
        table, distance = table[order], distance[order]
        limit = 1.0 if len(limits) > 1 else border_between(distance) if limits[0] is None else limits[0]
        return cls(table.start + first, table.end + first, query[order], distance, limit, None if first else table)


def ranges_of(found):
    """Return half-open ranges (k, 2)."""
    return np.column_stack([found.start, found.end])


def units(limits):
    """Return what distances of each query are shares of: of several queries their thresholds."""
    return [limit or 1.0 for limit in limits] if len(limits) > 1 else [1.0]


def same(ranges, others):
    """Return for each range (n, 2) the number of one of `others` (k, 2) that is of the same event; -1 without one."""
    # Others are few mostly, and sorted in no time.
    out, (other, which) = np.full(len(ranges), -1), pairs_by_iou(others, ranges, SHIFTED)
    out[which] = other
    return out


class Task(NamedTuple):
    """A recording, its channels and queries, half-open ranges, as they are searched."""

    viewed: object
    queries: dict  # by the numbers of classes
    metric: str
    normalize: str | None
    channels: list

    def source(self, job, end):
        """Return the samples to search: an array, or what is read by chunks while the share grows to `end`."""
        n, begin = self.viewed.n, job.share

        def read(first, last):
            job.share = max(job.share, begin + (end - begin) * first / n)
            return self.samples(first, last).values

        values = read(0, n) if n * len(self.channels) <= IN_MEMORY else Stored((n, len(self.channels)), read)
        return Recording(values, self.viewed.gapped_times)

    def samples(self, start, end):
        """Return the samples [start, end) of the chosen channels, with times where the search depends on them."""
        times = self.viewed.gapped_times
        times = None if times is None else times[start:end]
        return Recording(rows(self.viewed.values, start, end)[:, self.channels], times)

    def fitted(self, estimator):
        """Return the estimator, fitted to the queries, or to a piece in which it looks for a period."""
        estimator.set_params(max_gap=self.viewed.max_gap, nan_policy="omit")
        pieces = [self.samples(*query) for query in self.queries.values() or [(0, NEAR)]]
        return estimator.fit(pieces if len(pieces) > 1 else pieces[0])


def limited(searcher, most, limits=None):
    """Return a searcher for the `most` nearest matches, within limits of each query if there are any."""
    new = copy(searcher)
    new.n_matches, new.threshold = most, None
    new._learned_thresholds = [None] * len(searcher._queries) if limits is None else limits
    return new


def search(job, known=None):
    """Search a recording: about the query, all of it, and for what is found by chance.

    What is known by answers, as `learned` takes it, is learned first.
    """
    task = job.task
    searcher = task.fitted(QuerySearcher(task.metric, normalize=task.normalize))
    searcher = searcher if known is None else learned(job, searcher, *known)
    limits, n, size = searcher._thresholds, task.viewed.n, NEAR // 4
    if n > 2 * size:
        begin = min(max(next(iter(task.queries.values()))[0] - size // 2, 0), n - size)
        found = limited(searcher, FEW).search(task.samples(begin, begin + size))
        job.publish(job, Finds.of(found, found.distance, limits, begin), searcher)
    found = limited(searcher, MOST).search(task.source(job, 0.5))
    finds, job.share = Finds.of(found, found.distance, limits), 0.5
    job.publish(job, finds, searcher)
    try:
        job.publish(job, with_chance(job, searcher, finds), searcher)
    except ValueError as error:  # a query that has no decoy
        warnings.warn(str(error), stacklevel=2)


def with_chance(job, searcher, finds):
    """Return finds with q-values, by the nearest matches of decoys of each query."""
    limits, plain = searcher._thresholds, limited(searcher, FEW)
    decoys = Decoys(FalseDiscoveryRate(RATE, random_state=0), len(limits))
    source = plain._source(*unwrapped(job.task.source(job, 1.0), None))
    searches, each = decoys.searches(plain, plain._searches, source), decoys.count + 1  # of each query that, and those
    made = [(one, units(limits)[k // each]) for k, one in enumerate(searches) if k % each]
    every = [search_ranges(source, [one])[0].distance / unit for one, unit in made]
    # Beyond the distance up to which all matches of all decoys are known nothing can be said.
    known = min((one[-1] for one in every if len(one) == FEW), default=np.inf)
    calibration = Calibration.of(finds.distance, every, 1.0)._replace(n_decoys=decoys.count)
    q = np.where(finds.distance <= known, calibration.rates(finds.distance)[0], np.nan)
    # Where no distance keeps the rate, the one that comes nearest to it.
    limit = calibration.threshold(max(RATE, calibration.shares.min(initial=1.0))) if limits == [None] else finds.limit
    return finds._replace(q=q, chance=(calibration.decoys, decoys.count, known), limit=max(limit, 0.0))


def learned(job, searcher, finds, ranges, numbers):
    """Return a searcher that has learned from answers about ranges (k, 2): numbers of their queries, -1 for none."""
    task = job.task
    source = searcher._source(*unwrapped(task.source(job, 0.0), None))
    if finds is None:  # of a session that was opened again
        finds = limited(searcher, FEW).search(task.source(job, 0.0))
    others = ranges_of(finds)[same(ranges_of(finds), ranges) < 0]
    others = others[np.linspace(0, len(others) - 1, min(len(others), OTHERS)).astype(int)]
    ranges = np.concatenate([ranges, others])
    rank, version = np.arange(len(ranges), dtype=float), np.zeros(len(ranges), np.int64)  # learning finds distances
    size, found = np.diff(ranges).ravel(), []
    for plan, _ in searcher._searches:
        # Windows are as long as the query at least, which may be longer than the one that had found a range.
        own = np.maximum(size, plan.m) if plan.mode == "windows" else size
        start = np.clip(ranges[:, 0] - (own - size) // 2, 0, task.viewed.n - own)
        found.append(Found(start, start + own, rank, CandidateReader(plan, source), version))
    about = matches_of(found, len(found), None, None)
    number = np.append(numbers, [-2] * (len(ranges) - len(numbers)))[about.distance.astype(int)]
    good = number == (0 if about.query is None else about.query)
    return searcher.learn_from_answers(about, good=good, bad=(number > -2) & ~good)


def segmented(job):
    """Cut a recording into repetitions; without a query into those of its own period."""
    task = job.task
    estimator = task.fitted(QuerySegmenter(task.metric, query=None if task.queries else "auto"))
    found = estimator.segment(task.source(job, 1.0))
    cost = found.cost / np.array([len(query) for query in estimator.queries_])[found.query]
    # All of them are chosen.
    job.publish(job, Finds.of(found, cost)._replace(limit=float(cost.max(initial=0.0))), estimator)

"""Searches of a session, made by a thread that can be stopped: first some matches, then all, then those of chance."""

import threading
import warnings
from concurrent.futures import CancelledError
from copy import copy
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ..search import FalseDiscoveryRate, QuerySearcher, QuerySegmenter
from ..search._results import HALF, Found, border_between, matches_of
from ..search._run import search_ranges
from ..search._selection import select
from ..search._thresholds import Calibration
from ._pyramid import give_back, rows

NEAR = 2**20  # samples about the query that are searched first
IN_MEMORY = 2**24  # numbers that are searched at once; longer recordings are read by chunks
FEW, MOST = 1000, 100_000  # matches that are looked for at first, and in the end
OTHERS = 300  # matches of a query without an answer that tell its threshold
RATE = 0.05  # of false ones, which the first threshold keeps


class Job(threading.Thread):
    """Work that a thread does; kernels hear by its event that nobody waits for it any longer."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self.work, self.stopped = work, threading.Event()
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


class Chosen:
    """The chosen channels of a recording, read where they are sliced; a job hears how far they were read."""

    ndim = 2

    def __init__(self, values, channels, job, end):
        self._values, self._channels, self._job, self._begin, self._end = values, channels, job, job.share, end
        self.shape, self._all = (values.shape[0], len(channels)), rows(values, 0, 1).shape[1]

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, part):
        if self._job.is_alive():
            if self._job.stopped.is_set():
                raise CancelledError
            here = self._begin + (self._end - self._begin) * (part.start or 0) / max(len(self), 1)
            self._job.share = max(self._job.share, here)
        found = np.asarray(self._values[part]).reshape(-1, self._all)[:, self._channels]
        give_back(self._values)
        return found


class Finds(NamedTuple):
    """What was found, the nearest first; of several queries distances are shares of the threshold of each."""

    start: np.ndarray
    end: np.ndarray
    query: np.ndarray
    distance: np.ndarray
    table: object = None  # Matches of the rows, or None
    q: np.ndarray | None = None
    chance: tuple = ()  # distances of matches of decoys, ascending, and how many decoys there were
    limit: float = 0.0  # the distance between those taken at first and the others
    classes: dict = MappingProxyType({})  # of queries, by their numbers; 0 of one that is not there

    @classmethod
    def of(cls, table, distance, limits, first=0):
        """Return what a table holds, whose samples count from the `first` one; of finds that overlap the nearest."""
        query = np.zeros(len(table), int) if table.query is None else table.query
        if len(limits) > 1:
            distance = distance / np.array(limits)[query]
        order = select(distance, table.start, table.end)
        table, distance = table[order], distance[order]
        limit = 1.0 if len(limits) > 1 else border_between(distance) if limits[0] is None else limits[0]
        return cls(
            table.start + first, table.end + first, query[order], distance, None if first else table, limit=limit
        )


def same(start, end, others):
    """Return for each range the number of a range of `others` (k, 2), ascending, that it has half in common with; -1.

    Half of the shorter one counts.
    """
    out = np.full(len(start), -1)
    at = np.searchsorted(others[:, 0], (start + end) // 2)
    for k in (at, at - 1) if len(others) else ():
        k = np.clip(k, 0, len(others) - 1)
        low, high = others[k].T
        common = np.minimum(end, high) - np.maximum(start, low)
        is_same = common >= HALF * np.minimum(end - start, high - low)
        out[is_same] = k[is_same]
    return out


class Task(NamedTuple):
    """A recording, its channels and queries, half-open ranges, as they are searched."""

    viewed: object
    queries: list
    metric: str
    normalize: str | None
    channels: list

    def source(self, job, end):
        """Return the samples that are searched: an array, or what is read by chunks while the share grows to `end`."""
        if self.viewed.n * len(self.channels) > IN_MEMORY or type(self.viewed.values) is not np.ndarray:
            return Chosen(self.viewed.values, self.channels, job, end)
        return self.samples(0, self.viewed.n)

    def samples(self, start, end):
        """Return the samples [start, end) of the chosen channels as an array."""
        return rows(self.viewed.values, start, end)[:, self.channels]

    def times(self, start=0, end=None):
        """Return times where the search depends on them, or None."""
        return None if self.viewed.max_gap is None else self.viewed.times[start:end]

    @property
    def parameters(self):
        """Parameters of the searcher that are not its defaults."""
        given = {"normalize": self.normalize, "nan_policy": "omit", "max_gap": self.viewed.max_gap}
        return {name: value for name, value in given.items() if value is not None}

    def searcher(self):
        """Return the searcher of the queries, before any answer."""
        fitted = QuerySearcher(self.metric, **self.parameters)
        pieces, times = ([get(s, e) for s, e in self.queries] for get in (self.samples, self.times))
        one, times = len(pieces) == 1, None if self.viewed.max_gap is None else times
        return fitted.fit(pieces[0] if one else pieces, times=times and times[0] if one else times)


def limits_of(searcher):
    """Return the threshold of each query; of several queries 1 for one without."""
    limits = searcher._thresholds
    return [limit or 1.0 for limit in limits] if len(limits) > 1 else limits


def limited(searcher, most, limits=None):
    """Return a searcher for the `most` nearest matches, within limits of each query if there are any."""
    new = copy(searcher)
    new.n_matches, new.threshold = most, None
    new._learned_thresholds = [None] * len(searcher._queries) if limits is None else limits
    return new


def search(job, task, searcher, publish):
    """Search a recording: about the query, for few matches, for all, and for what is found by chance."""
    limits, first = limits_of(searcher), task.queries[0][0]
    if task.viewed.n > 2 * NEAR:
        begin = min(max(first - NEAR // 2, 0), task.viewed.n - NEAR)
        times = task.times(begin, begin + NEAR)
        near = limited(searcher, FEW).search(task.samples(begin, begin + NEAR), times=times)
        publish(Finds.of(near, near.distance, limits, begin))
    for most, end in ((FEW, 0.3), (MOST, 0.7)):
        found = limited(searcher, most).search(task.source(job, end), times=task.times())
        finds = Finds.of(found, found.distance, limits)
        publish(finds)
        job.share = end
        if np.bincount(finds.query, minlength=1).max() < most and len(found) < most:
            break
    try:
        publish(with_chance(job, task, searcher, finds, limits))
    except ValueError as error:  # a query that has no decoy
        warnings.warn(str(error), stacklevel=2)


def with_chance(job, task, searcher, finds, limits):
    """Return finds with q-values, by the nearest matches of decoys of each query."""
    decoys = FalseDiscoveryRate(RATE, random_state=0)._decoys(len(searcher._queries))
    plain = limited(searcher, FEW)
    source = plain._source(task.source(job, 1.0), task.times())
    made = decoys.searches(plain, plain._searches, source)
    every, share = [], job.share
    for k, (plan, choice) in enumerate(made):
        number, own = divmod(k, decoys.count + 1)
        if own:  # the first is the query itself
            (found,) = search_ranges(source, [(plan, choice)])
            every.append(found.distance / (limits[number] if len(limits) > 1 else 1.0))
        job.share = max(job.share, share + (1.0 - share) * (k + 1) / len(made))
    # Beyond the distance up to which all matches of all decoys are known nothing can be said.
    known = min((one[-1] for one in every if len(one) == FEW), default=np.inf)
    calibration = Calibration.of(finds.distance, every, 1.0)._replace(n_decoys=decoys.count)
    chance = calibration.decoys[calibration.decoys <= known]
    q = np.where(finds.distance <= known, calibration.rates(finds.distance)[0], np.nan)
    limit = calibration.threshold(RATE) if limits[0] is None and len(limits) == 1 else -np.inf
    return finds._replace(q=q, chance=(chance, decoys.count, known), limit=limit if limit > -np.inf else finds.limit)


def learned(job, task, finds, ranges, classes):
    """Return a searcher that has learned from answers about ranges (k, 2): numbers of their queries, -1 for none."""
    searcher = task.searcher()
    source, found = searcher._source(task.source(job, 0.0), task.times()), []
    if finds is not None:
        others = np.column_stack([finds.start, finds.end])[same(finds.start, finds.end, ranges) < 0]
        others = others[np.linspace(0, len(others) - 1, min(len(others), OTHERS)).astype(int)]
        ranges = np.concatenate([ranges, others])
    order = np.arange(len(ranges), dtype=float)  # in place of distances, which learning computes
    for plan, _ in searcher._searches:
        found.append(Found(*ranges.T, order, source.reader(plan), np.zeros(len(ranges), np.int64)))
    about = matches_of(found, len(found), None, None)
    k = about.distance.astype(int)
    answered = k < len(classes)
    own = classes[np.where(answered, k, 0)] == (0 if about.query is None else about.query)
    return searcher.learn_from_answers(about, good=answered & own, bad=answered & ~own)


def segmented(job, task, publish):
    """Cut a recording into repetitions; without a query into those of its own period."""
    given = {name: value for name, value in task.parameters.items() if name != "normalize"}
    if task.queries:
        pieces = [task.samples(s, e) for s, e in task.queries]
        fitted = QuerySegmenter(task.metric, **given).fit(pieces[0] if len(pieces) == 1 else pieces)
    else:
        fitted = QuerySegmenter(task.metric, query="auto", **given).fit(
            task.samples(0, NEAR), times=task.times(0, NEAR)
        )
    found = fitted.segment(task.source(job, 1.0), times=task.times())
    cost = found.cost / np.array([len(query) for query in fitted.queries_])[found.query]
    finds = Finds.of(found, cost, [None])
    publish(finds._replace(limit=float(cost.max(initial=0.0))), fitted)  # all of them are chosen

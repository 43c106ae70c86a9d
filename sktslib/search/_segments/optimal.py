"""Optimal segmentation of a recording by repetitions of one or several queries and background.

Variants of a query, such as mirrored ones, count as queries of their own in a segmentation.
"""

from typing import NamedTuple

import numpy as np

from ...distances._series import full_weight
from ...utils._jobs import progress
from .._incremental_profile import LastSamples
from .._profile import Search
from .._sources import ArraySource, CandidateReader
from .parallel import Segmentation, SegmentTable
from .state import Classes

ROUND = 2**30  # parts of a point in which the cost of background is counted by metrics that count points


class Background(NamedTuple):
    """Cost of a sample: at most `limit`; with a `slope` it falls to 0 towards the `offset`.

    A constant cost tests how well a stretch fits a query. The distance from the offset also tests whether it fits the
    query better than the background, so that a repetition of twice the query's amplitude still is one, and a ripple is
    none.
    """

    limit: float
    slope: np.ndarray | None = None  # (channels, 1)
    offset: np.ndarray | None = None  # (channels, 1)
    power: float = 2.0

    def exact_for(self, metric):
        """Round a constant cost to a short binary fraction where the metric counts points.

        Sums of both are exact then, so which of equally cheap segmentations is found depends on no chunk or job.
        """
        if self.slope is not None or metric._replaces is None:
            return self
        return self._replace(limit=max(round(self.limit * ROUND), 1) / ROUND if self.limit else self.limit)

    def costs(self, y):
        """Return the costs of the samples (n,) of a series (channels, n); those of missing samples are 0."""
        if self.slope is None:
            return np.full(y.shape[1], self.limit)
        apart = y - self.offset  # from here on in place, for fresh memory takes longer than the numbers
        np.abs(apart, out=apart)
        apart **= self.power
        apart *= self.slope
        cost = apart[0] if len(apart) == 1 else apart.sum(axis=0)
        cost[np.isnan(cost)] = 0.0
        return np.minimum(cost, self.limit, out=cost)


def power_of(metric):
    """Return the power of differences that a metric's costs add up: 2, or 1 where they are absolute."""
    return 1.0 if metric._center == "median" else 2.0


class Versions:
    """All versions of some queries, those of a query one after the other.

    Attributes
    ----------
    queries : list of QueryPlan
        Each version by itself.
    query, version : ndarray of int
        Which version of which query each of them is.
    """

    def __init__(self, queries):
        self.queries = [one for plan in queries for one in plan.versions]
        counts = [plan.n_versions for plan in queries]
        self.query = np.repeat(np.arange(len(queries)), counts)
        self.version = np.concatenate([np.arange(count) for count in counts])

    def rules(self, rules):
        """Return the rules of the queries as those of their versions."""
        label = np.concatenate([[0], self.query + 1])
        limits = tuple(rules.limits[q] for q in self.query)
        classes = rules.classes and rules.classes._replace(of_query=rules.classes.of_query[self.query])
        return rules._replace(transitions=rules.transitions[np.ix_(label, label)], limits=limits, classes=classes)

    def readers(self, source):
        """Return the reader of the samples of each version's segments."""
        return [CandidateReader(plan, source) for plan in self.queries]

    def of(self, found):
        """Return segments of versions as those of their queries."""
        return found._replace(query=self.query[found.query], version=self.version[found.query])


ENDLESS = 2.0**62


class Rules(NamedTuple):
    """The rules that the cheapest segmentation follows."""

    background: Background
    transitions: np.ndarray  # (k + 1, k + 1)
    limits: tuple[tuple[int | None, int | None], ...]  # shortest and longest repetition of each query
    partial: bool = False  # whether an end of the series may cut a repetition off
    classes: Classes | None = None  # None for a single one

    def source(self, y, ty):
        """Return the source that tells the classes of what is found in a sequence; None for a single class."""
        return None if self.classes is None else ArraySource(y, ty)

    def bounds(self):
        """Return the bounds of the length as two arrays (k,)."""
        shortest = [min(float(low or 1), ENDLESS) for low, _ in self.limits]
        longest = [min(float(high or ENDLESS), ENDLESS) for _, high in self.limits]
        return np.array(shortest), np.array(longest)


def background_cost(queries):
    """Return the default cost of a background sample: that of the queries against a constant signal, on average."""
    return queries[0].metric._background_share * float(np.mean([constant_cost(plan) for plan in queries]))


def constant_cost(plan):
    """Return the cost per sample of a query against a constant signal at its own weighted mean."""
    x, weight = plan.x, full_weight(plan.w, plan.x)
    total = weight.sum(axis=1, keepdims=True)
    mean = np.where(total > 0, (weight * x).sum(axis=1, keepdims=True), x.mean(axis=1, keepdims=True))
    mean /= np.where(total > 0, total, 1.0)
    constant = np.repeat(mean, x.shape[1], axis=1)
    search, m = Search(plan.version(0)._replace(max_gap=None), constant, plan.tx), plan.m
    if plan.mode == "subsequence":
        return float(search.cost(0, m)) / m
    return float(plan.metric._segment_cost(search.profile().distance[0], m)) / m


def segment(queries, rules, y, ty, n_jobs=None, verbose=0, source=None):
    """Return the segments of the cheapest segmentation of a sequence.

    No segment crosses a missing value or a gap in time: a new segmentation starts there. With a `source` of its samples
    the costs are those that are listed.
    """
    samples, versions = source or ArraySource(y, ty), Versions(queries)
    readers = None if source is None else versions.readers(source)
    total = int(np.diff(samples.runs(queries[0])).sum()) if verbose else None
    with progress(total, verbose, "segmentation", "sample") as count:
        segmentation = Segmentation(versions.queries, versions.rules(rules), samples, n_jobs, count, readers)
        return versions.of(segmentation.take(last=True))


def segment_chunks(queries, rules, long, n_jobs=None, verbose=0):
    """Segment a sequence that is read by chunks at the least cost; the costs are those that are listed."""
    samples, versions, found = LastSamples(queries[0]), Versions(queries), []
    readers = versions.readers(samples)
    segmentation = Segmentation(versions.queries, versions.rules(rules), samples, n_jobs, readers=readers)
    with progress(len(long), verbose, "segmentation", "sample") as count:
        for y, ty, _ in long.chunks(0, len(long)):
            samples.append(y, ty)
            found.append(segmentation.take())
            samples.forget(segmentation.needed)
            count(y.shape[1])
    found.append(segmentation.take(last=True))
    return versions.of(SegmentTable.together(found))

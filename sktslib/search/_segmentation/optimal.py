"""Optimal segmentation of a recording by repetitions of one or several queries and background."""

from typing import NamedTuple

import numpy as np

from ...distances._series import full_weight
from ...utils._jobs import progress
from .._profile import Search
from .._sources import CandidateReader
from .background import Background
from .rounds import InMemory, Segmentation, SegmentTable
from .stream_costs import Samples

ENDLESS = 2.0**62
SLACK_FROM = 2**40  # a number of windows that no recording has


class Rules(NamedTuple):
    """The rules that the cheapest segmentation follows."""

    background: Background
    transitions: np.ndarray  # (k + 1, k + 1)
    limits: tuple[tuple[int | None, int | None], ...]  # shortest and longest repetition of each query
    partial: bool = False  # whether an end of the series may cut a repetition off

    def bounds(self):
        """The bounds of the length as two arrays (k,)."""
        shortest = [min(float(low or 1), ENDLESS) for low, _ in self.limits]
        longest = [min(float(high or ENDLESS), ENDLESS) for _, high in self.limits]
        return np.array(shortest), np.array(longest)


def background_cost(queries):
    """Default cost of a background sample: that of the queries against a constant signal, on average."""
    return queries[0].metric._background_share * float(np.mean([constant_cost(how) for how in queries]))


def constant_cost(how):
    """Cost per sample of a query against a constant signal at its own weighted mean."""
    x, weight = how.x, full_weight(how.w, how.x)
    total = weight.sum(axis=1, keepdims=True)
    mean = np.where(total > 0, (weight * x).sum(axis=1, keepdims=True), x.mean(axis=1, keepdims=True))
    mean /= np.where(total > 0, total, 1.0)
    constant = np.repeat(mean, x.shape[1], axis=1)
    search, m = Search.of(how._replace(max_gap=None), constant, how.tx), how.m
    if how.mode == "subsequence":
        return float(search.cost(0, m)) / m
    return float(how.metric._segment_cost(search.profile().distance[0], m)) / m


def segment(queries, rules, y, ty, n_jobs=None, verbose=0):
    """The segments of the cheapest segmentation of a sequence; none crosses a gap or a hole, it starts anew there."""
    samples = InMemory(queries[0], y, ty)
    total = int(np.diff(samples.runs(0)).sum()) if verbose else None
    with progress(total, verbose, "segmentation", "sample") as count:
        return Segmentation(queries, rules, samples, n_jobs, count).take(last=True)


def segment_chunks(queries, rules, long, n_jobs=None, verbose=0):
    """The same of a sequence that is read by chunks, and the costs that are listed."""
    samples, found = Samples(queries[0]), []
    segmentation = Segmentation(queries, rules, samples, n_jobs)
    readers = [CandidateReader(how, samples) for how in queries]

    def take(last=False):
        segments = segmentation.take(last)
        found.append(segments._replace(cost=listed_costs(readers, rules, segments)))
        samples.forget(segmentation.needed)

    with progress(len(long), verbose, "segmentation", "sample") as count:
        for y, ty, _ in long.chunks(0, len(long)):
            samples.append(y, ty)
            take()
            count(y.shape[1])
    take(last=True)
    return SegmentTable(*(np.concatenate(each) for each in zip(*found, strict=True)))


def listed_costs(readers, rules, segments):
    """The cost of each segment's query against its range, which the reader of that query knows.

    The path behind a segment is the cheapest one of its range, unless the best move into a cell depends on the
    path so far: on its start, or on others that were longer than allowed and dropped. The distances of many long
    windows may come from Fourier transforms; those listed never do, so that a stream lists the same.
    """
    how = readers[0].how
    if how.mode == "windows":
        return _listed_windows(readers, segments)
    dropped = any(longest is not None for _, longest in rules.limits)
    if not (dropped or how.metric._depends_on_start):
        return segments.cost
    cost, whole = np.empty(len(segments.cost)), np.diff(segments.shown, axis=1)[:, 0]
    for q, reader in enumerate(readers):
        own = np.flatnonzero((segments.query == q) & (whole == reader.how.m))
        cost[own] = reader.costs(segments.start[own], segments.end[own])
    for k in np.flatnonzero(whole < np.array([reader.how.m for reader in readers])[segments.query]):
        s, e = int(segments.start[k]), int(segments.end[k])
        cost[k] = readers[segments.query[k]].search(s, e).cost(s, e, segments.shown[k])
    return cost


def _listed_windows(readers, segments):
    cost = segments.cost.copy()
    for q, reader in enumerate(readers):
        how, own = reader.how, segments.query == q
        if own.any() and how.metric._slack(how.x, how.w, SLACK_FROM, None):
            cost[own] = how.metric._segment_cost(reader.distances(segments.start[own], segments.end[own]), how.m)
    return cost

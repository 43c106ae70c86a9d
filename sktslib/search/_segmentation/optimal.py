"""Optimal segmentation of a recording by repetitions of one or several queries and background."""

from typing import NamedTuple

import numpy as np

from ...distances._series import full_weight
from ...utils._jobs import progress
from .._comparison import check_lengths
from .._missing import touched
from .._profile import Search
from .background import Background
from .stretches import segment as segment_series
from .stretches import segment_windows

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


class SegmentTable(NamedTuple):
    """The segments of a segmentation, in temporal order."""

    start: np.ndarray
    end: np.ndarray
    query: np.ndarray  # from 0
    cost: np.ndarray
    shown: np.ndarray  # (.., 2): half-open ranges of the query's points


def _stretches(searches, runs, rules, count):
    """Where each stretch without a gap begins, and the labels, starts, ends, costs and shown points of its segments.

    `count` is told how many samples are done.
    """
    y, T = searches[0].y, rules.transitions
    background = rules.background.costs(y)
    if searches[0].how.mode == "subsequence":
        for stretch in zip(*(search.runs for search in searches), strict=True):
            first, problems = stretch[0][0], [problem for _, problem in stretch]
            own = background[first : first + problems[0].shape[1]]
            yield first, segment_series(problems, own, T, *rules.bounds(), rules.partial, count)
    else:
        cost, lengths = window_costs(searches, rules)
        for a, b in runs:
            yield a, segment_windows(np.ascontiguousarray(cost[:, a:b]), lengths, background[a:b], T)
            count(int(b - a))


def segment(searches, rules, verbose=0):
    """The segments of the cheapest segmentation; none crosses a gap or a hole, behind which it starts anew."""
    nothing, runs = np.empty(0, np.int64), searches[0].how.runs(searches[0].y, searches[0].ty)
    parts = [(nothing, nothing, nothing, np.empty(0), np.empty((0, 2), np.int64))]
    with progress(int(np.diff(runs).sum()), verbose, "segmentation", "sample") as count:
        for first, (label, start, end, cost, shown) in _stretches(searches, runs, rules, count):
            parts.append((start + first, end + first, label - 1, cost, shown))
    return SegmentTable(*(np.concatenate(part) for part in zip(*parts, strict=True)))


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


def window_costs(searches, rules):
    """Costs (k, n) of each query's windows by their last sample, and the windows' lengths (k,)."""
    y = searches[0].y
    cost = np.full((len(searches), y.shape[1]), np.inf)
    for search, limits, row in zip(searches, rules.limits, cost, strict=True):
        m = search.how.m
        check_lengths(m, *limits)
        row[m - 1 :] = search.how.metric._segment_cost(search.profile().distance, m)
        row[m - 1 :][touched(y, m)] = np.inf
    return cost, np.array([search.how.m for search in searches])

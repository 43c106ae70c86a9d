"""Optimal segmentation of a recording by repetitions of one or several queries and background."""

from typing import NamedTuple

import numpy as np

from ...distances._series import full_weight
from .._missing import runs, touched
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


def background_cost(metric, mode, templates):
    """Default cost of a background sample: that of the queries against a constant signal, on average."""
    return metric._background_share * float(np.mean([constant_cost(metric, mode, template) for template in templates]))


def constant_cost(metric, mode, template):
    """Cost per sample of a query against a constant signal at its own weighted mean."""
    x, w, tx = template
    weight = full_weight(w, x)
    total = weight.sum(axis=1, keepdims=True)
    mean = np.where(total > 0, (weight * x).sum(axis=1, keepdims=True), x.mean(axis=1, keepdims=True))
    mean /= np.where(total > 0, total, 1.0)
    constant = np.repeat(mean, x.shape[1], axis=1)
    return float(whole_cost(Search.of(metric, x, w, constant, tx, tx, mode))) / x.shape[1]


def whole_cost(search):
    """Segment cost of the whole sequence of a search."""
    metric = search.metric
    if search.mode == "subsequence":
        problem = search.runs[0][1]
        return metric._cost(problem.piece(0, problem.shape[1]), whole=True)
    return metric._segment_cost(search.profile().distance[0], search.x.shape[1])


class SegmentTable(NamedTuple):
    """The segments of a segmentation, in temporal order."""

    start: np.ndarray
    end: np.ndarray
    query: np.ndarray  # from 0
    cost: np.ndarray
    shown: np.ndarray  # (.., 2): half-open ranges of the query's points


def segment(searches, rules):
    """The segments of the cheapest segmentation; none crosses a gap. After a gap the segmentation starts anew."""
    background_costs = rules.background.costs(searches[0].y)
    if searches[0].mode == "subsequence":
        parts = []
        for stretch in zip(*(search.runs for search in searches), strict=True):
            first, problems = stretch[0][0], [problem for _, problem in stretch]
            background = background_costs[first : first + problems[0].shape[1]]
            found = segment_series(problems, background, rules.transitions, *rules.bounds(), rules.partial)
            parts.append((found[1] + first, found[2] + first, found[0] - 1, *found[3:]))
    else:
        cost, lengths = _windows(searches, rules)
        parts = []
        for a, b in runs(searches[0].y):
            run = np.ascontiguousarray(cost[:, a:b])
            label, start, end, own_cost, shown = segment_windows(run, lengths, background_costs[a:b], rules.transitions)
            parts.append((start + a, end + a, label - 1, own_cost, shown))
    if not parts:
        nothing = np.empty(0, np.int64)
        return SegmentTable(nothing, nothing, nothing, np.empty(0), np.empty((0, 2), np.int64))
    return SegmentTable(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def listed_costs(sources, rules, segments):
    """The cost of each segment's query against its range; `sources` compare the queries with ranges of the series.

    The path behind a segment is the cheapest one of its range, unless the best move into a cell depends on the
    path so far: on its start, or on others that were longer than allowed and dropped. The distances of many long
    windows may come from Fourier transforms; those listed never do, so that a stream lists the same.
    """
    one = sources[0]
    if one.mode == "windows":
        return _listed_windows(sources, segments)
    dropped = any(longest is not None for _, longest in rules.limits)
    if not (dropped or one.metric._depends_on_start):
        return segments.cost
    rows = zip(
        *(column.tolist() for column in (segments.query, segments.start, segments.end, segments.shown)), strict=True
    )
    return np.array([sources[q].cost(s, e, shown) for q, s, e, shown in rows])


def _listed_windows(sources, segments):
    cost = segments.cost.copy()
    for q, source in enumerate(sources):
        own = segments.query == q
        metric, m = source.metric, source.x.shape[1]
        if own.any() and metric._slack(source.x, source.w, SLACK_FROM, None):
            cost[own] = metric._segment_cost(source.distances(segments.start[own], segments.end[own]), m)
    return cost


def _windows(searches, rules):
    """Costs (k, n) of each query's windows by their last sample, and the windows' lengths (k,)."""
    n = searches[0].y.shape[1]
    cost = np.full((len(searches), n), np.inf)
    for search, limits, row in zip(searches, rules.limits, cost, strict=True):
        m = search.x.shape[1]
        row[m - 1 :] = search.metric._segment_cost(search.profile(*limits).distance, m)
        row[m - 1 :][touched(search.y, m)] = np.inf
    return cost, np.array([search.x.shape[1] for search in searches])

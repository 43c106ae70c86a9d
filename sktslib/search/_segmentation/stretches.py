"""Segmentations of whole series: the kernels of `one_pass`, on stretches of a long series side by side."""

from typing import NamedTuple

import numpy as np

from ...distances._kernels.compilation import pieces
from ...distances._kernels.one_pass import INF, LANES, advance, windows
from ...distances._kernels.traceback import before, trace
from .partial import open_begin, open_end

LEAD = 4  # query lengths after which stretches of a series mostly agree


class Queries(NamedTuple):
    """Several queries as the kernels take them."""

    p: object  # their record, or a tuple of one each
    rows: np.ndarray | None
    points: np.ndarray
    first: np.ndarray
    tx: np.ndarray | None

    @classmethod
    def of(cls, problems):
        """The queries of several prepared pairs with one series."""
        records = [problem.record for problem in problems]
        same = all(len(r) == 0 or not any(isinstance(v, np.ndarray) for v in r) for r in records)
        one = problems[0]
        return cls(
            records[0] if len(problems) == 1 or same else tuple(records),
            None if one.x is None else np.concatenate([problem.rows for problem in problems], axis=2),
            np.concatenate([problem.points for problem in problems], axis=1),
            np.concatenate([[0], np.cumsum([problem.points.shape[1] for problem in problems])]),
            None if one.tx is None else np.concatenate([problem.tx for problem in problems]),
        )

    def state(self, lanes=1):
        """The kernel's state before the first sample."""
        m, k = self.first[-1], len(self.first) - 1
        state = np.zeros((5, max(m, k + 1) * lanes))
        state[[0, 2, 3]] = INF
        state[2, : (k + 1) * lanes] = 0.0
        return state


def as_series(parts, ty, has_rows):
    """What the kernel of one lane compares of a series, features or local costs with each query, and its times."""
    if not has_rows:
        return np.concatenate(parts, axis=1), None
    (y,) = parts
    y = np.concatenate([np.zeros((len(y), 1)), y], axis=1)
    return y, None if ty is None else np.concatenate([ty[:1] - 1.0, ty])


def segment(problems, background, transitions, shortest, longest, partial, count):
    """Labels, starts, ends and costs of the segments of the cheapest segmentation of one series.

    Costs of background samples are (n,), bounds of the lengths (k,), transitions (k + 1, k + 1); all are floats. With
    them come the ranges (.., 2) of query points in the segments; with `partial` the outer ones may hold a part. `count`
    is told how many samples are done.
    """
    queries, one, k = Queries.of(problems), problems[0], len(problems)
    n, has_rows = one.shape[1], queries.rows is not None
    Y, ty = as_series([one.y] if has_rows else [problem.y for problem in problems], one.ty, has_rows)
    rules = background, transitions, shortest, longest
    best, begin = np.full((n + 1, k + 1), INF), np.empty((n, k))
    best[0, 0] = 0.0
    state, done = queries.state(), 0
    if partial:
        open_begin(state, queries)
    lead = LEAD * max(problem.shape[0] for problem in problems)
    if one.runs_diagonally and n >= 4 * LANES * lead:
        state, done = _by_lanes(queries, Y, rules, lead, state, best, begin, count)
    for a, b in pieces(n - done, queries.first[-1]):
        _go_on(queries, Y, ty, done + a, done + b, rules, state, best, begin)
        count(b - a)
    hidden, shown = np.zeros_like(begin), np.diff(queries.first)
    if partial:
        shown = open_end(state, queries.first, best, begin, shortest, longest)
        hidden, begin = np.maximum(-begin, 0), np.maximum(begin, 0)
    label, start, end, cost = trace(best, begin, transitions, 0, True, n, before(best, n, transitions, -1))
    last = np.where(end == n, shown[label - 1], np.diff(queries.first)[label - 1])
    return label, start, end, cost, np.column_stack([hidden[end - 1, label - 1].astype(np.int64), last])


def _go_on(queries, Y, ty, done, end, rules, state, best, begin):
    """Samples [done, end) of the whole series, one by one."""
    out = best[1 : end + 1].reshape(-1), begin[:end].reshape(-1)
    advance(None, queries, (Y, ty), done, 0, rules, state, *out)


def _by_lanes(queries, Y, rules, lead, first_state, best, begin, count):
    """Stretches of the series side by side, each started `lead` samples early without knowing what was before.

    Once the cheapest segmentations that lead to the cells of a column have a boundary in common, what was before adds
    the same to all of them. So a stretch is right, but for a constant, if its column was that of the stretch before it
    where that one ends; else it is computed once more from there. Returns the last state and the sample that follows.
    """
    k, n = begin.shape[1], len(begin)
    step = (n - lead) // LANES
    width = step + lead
    places = np.arange(width + 1)[:, np.newaxis] + step * np.arange(LANES)
    lanes = np.take(Y, places, axis=1).reshape(len(Y), -1)
    rest = np.take(rules[0], places[:-1]).reshape(-1), *rules[1:]
    state, costs, starts = queries.state(LANES), np.empty((width, k + 1, LANES)), np.empty((width, k, LANES))
    state.reshape(len(state), -1, LANES)[:, : first_state.shape[1], 0] = first_state
    marks = [lead]
    while 2 * marks[-1] < width:
        marks.append(2 * marks[-1])
    seen, done = [], 0
    for mark in [*marks, width]:
        for a, b in pieces(mark - done, LANES * queries.first[-1]):
            out = costs[: done + b].reshape(-1), starts[: done + b].reshape(-1)
            advance(True, queries, (lanes, None), done + a, 0, rest, state, *out)
            count((b - a) * (LANES if done else 1))  # the lead of the other lanes is the end of those before them
        seen.append(state.copy())
        done = mark
    known = _lane(state, 0, 0.0, 0)
    best[1 : width + 1], begin[:width] = costs[:, :, 0], starts[:, :, 0]
    for lane in range(1, LANES):
        at, offset = lane * step, None
        done = at + lead
        for mark, then in zip(marks, seen, strict=False):
            _go_on(queries, Y, None, done, at + mark, rules, known, best, begin)
            done = at + mark
            offset = _apart(_lane(then, lane, 0.0, at), known)
            if offset is not None:
                break
        if offset is None:
            _go_on(queries, Y, None, done, at + width, rules, known, best, begin)
            continue
        best[done + 1 : at + width + 1] = costs[done - at :, :, lane] + offset
        begin[done : at + width] = starts[done - at :, :, lane] + at
        known = _lane(state, lane, offset, at)
    return known, LANES * step + lead


def _lane(state, lane, offset, at):
    """The state of one lane, costs and starts as the whole series counts them."""
    one = state.reshape(len(state), -1, LANES)[:, :, lane].copy()
    one[[0, 2, 3]] += offset
    one[[1, 4]] += at
    return one


def _apart(a, b):
    """How much more state `b` costs than `a`, if that is the same everywhere up to rounding, and starts agree."""
    costs, finite = b[[0, 2, 3]], np.isfinite(b[[0, 2, 3]])
    offset = b[2, 0] - a[2, 0]
    if not (np.isfinite(a[[0, 2, 3]]) == finite).all():
        return None
    slack = 1e-12 * np.abs(costs[finite]).max(initial=abs(offset))
    same = np.abs(a[[0, 2, 3]][finite] + offset - costs[finite]) <= slack
    starts = (a[[1, 4]] == b[[1, 4]]) | ~finite[[0, 2]]
    return offset if same.all() and starts.all() else None


def segment_windows(cost, lengths, background, transitions):
    """The same by windows: ``cost[q, t]`` (k, n) is that of query q's window that ends with sample t."""
    k, n = cost.shape
    best, edges = np.full((n + 1, k + 1), INF), np.zeros((n + 1, k + 1))
    best[0, 0] = 0.0
    windows(cost, lengths, 0, background, transitions, edges, best)
    begin = window_starts(lengths, n)
    label, start, end, cost = trace(best, begin, transitions, 0, True, n, before(best, n, transitions, -1))
    return label, start, end, cost, np.column_stack([np.zeros_like(label), lengths[label - 1]])


def window_starts(lengths, n):
    """The starts of the windows that end with each of n samples (n, k)."""
    return np.arange(1.0, n + 1)[:, np.newaxis] - lengths

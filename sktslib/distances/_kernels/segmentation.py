"""Cheapest segmentation of a series into repetitions of queries and background, in one pass (Ney 1984).

The functions of `recurrence` give the costs. Each query has one column of accumulated costs, which advances sample by
sample. A path may enter a query at any boundary between samples, at the cost of the cheapest segmentation up to there.
Label 0 is background, 1..k are the queries; ``transitions[a, b]`` is the cost of label b after label a.

Layout: the points of all queries are concatenated, those of query q at ``first[q]:first[q + 1]``. The series is
``(channels, (n + 1) * lanes)``, as `channels_of` gives it; its first sample precedes the series, or is 0. Lanes are
ranges of one series that are computed at once; with one lane, floats replace the vectors.
"""

import numpy as np
from numba import types
from numba.extending import overload

from .compile import inner, kernel, pieces, step
from .dispatch import (
    accumulate,
    add_terms,
    closed_boundary,
    equal_moves_in_search,
    gap,
    gap_terms,
    lag_cost,
    moves,
    terms,
)
from .simd import REGISTER, aligned, channels_of, compiled_as, makers, minimum, store, where

INF = np.inf
SEGMENT_LANES = 2 * REGISTER
COST = 4  # time of a cell relative to a cell of two whole series

_load, _splat, _ = makers(SEGMENT_LANES, fused=False)


# `wide`, whether there is one lane (None) or many (True), is an argument: functions in a kernel's closure would change
# its key in the cache on disk from process to process.
def load(wide, values, at):
    return _load(values, at) if wide else values[at]


@overload(load, jit_options={"forceinline": True})
def _overload_load(wide, values, at):
    if wide == types.none:
        return lambda wide, values, at: values[at]
    return lambda wide, values, at: _load(values, at)


def splat(wide, value):
    return _splat(value) if wide else float(value)


@overload(splat, jit_options={"forceinline": True})
def _overload_splat(wide, value):
    return (lambda wide, value: float(value)) if wide == types.none else (lambda wide, value: _splat(value))


def lanes_of(wide):
    return SEGMENT_LANES if wide else 1


@compiled_as(lanes_of, lambda wide: types.intp)
def _build_lanes_of(context, builder, sig, args):
    return context.get_constant(types.intp, 1 if sig.args[0] == types.none else SEGMENT_LANES)


def _of(p, q):
    """Return the record of query q; `p` is one record for all queries, or a tuple with one each."""
    return p if hasattr(p, "_fields") else p[q]


@overload(_of, jit_options={"forceinline": True})
def _overload_of(p, q):
    return (lambda p, q: p[q]) if isinstance(p, types.UniTuple) else (lambda p, q: p)


def _summed(wide, p, rows, Y, t, i):
    """Return the terms of query point i and sample t, summed over the channels."""
    lanes = lanes_of(wide)
    at = (t + 1) * lanes
    r = rows[0]
    a, b, c = terms(p, (r[0, i], r[1, i], r[2, i], r[3, i]), load(wide, Y[0], at), load(wide, Y[0], at - lanes))
    for k in range(1, len(Y)):
        r = rows[k]
        y, y_before = load(wide, Y[k], at), load(wide, Y[k], at - lanes)
        a, b, c = add_terms(p, (a, b, c), (r[0, i], r[1, i], r[2, i], r[3, i]), y, y_before)
    return a, b, c


def _given(wide, p, rows, Y, t, i):
    """Return the local cost Y[t, i] in place of terms; Y is (n, m)."""
    return Y[t, i], 0.0, 0.0


def terms_of(wide, p, rows, Y, t, i):
    return (_given if rows is None else _summed)(wide, p, rows, Y, t, i)


@overload(terms_of)
def _overload_terms_of(wide, p, rows, Y, t, i):
    return _given if rows == types.none else _summed


@step
def gap_cost_of(wide, p, rows, Y, ty, t):
    """Return the gap cost of sample t."""
    total, lanes = splat(wide, 0.0), lanes_of(wide)
    if rows is not None:
        for k in range(len(Y)):
            total = total + gap_terms(p, load(wide, Y[k], (t + 1) * lanes), load(wide, Y[k], t * lanes))
    step = 1.0
    if ty is not None:
        step = ty[t + 1] - ty[t]
    return gap(p, total, step) + splat(wide, 0.0)


@step
def lags(tx, ty, i, point, t, at, begin):
    """Return the time lags of query point i and of the preceding point at sample t, in a segment from `begin` on.

    `point` is the number of the point within its query, `at` is the number that starts use for sample t.
    """
    begin = minimum(begin, at)  # a path that only skips query points starts after the sample; it has no lag
    if tx is None:
        lag = abs((point - at) + begin)
        return lag, where(point > 0.0, lag, 0.0)
    base = ty[t + 1 - np.int64(at - begin)]
    return abs(tx[i] - (ty[t + 1] - base)), (abs(tx[i - 1] - (ty[t] - base)) if point > 0.0 else 0.0)


@inner
def column(wide, p, query, series, t, at, span, oldest, entry, gap_cost, col, start):
    """Advance a query's column to sample t; return cost and start of the best path that ends with its last point.

    The query's points are the `span` [i, end). Paths that start before `oldest` are dropped. `entry` holds the costs
    (fresh, top) at which paths enter, and `since`: from the boundary `top`, whose path starts at `since`; with an open
    boundary also by a segment that starts here at the cost `fresh` and skips query points.
    """
    (rows, points, tx), (Y, ty), (i, end), (fresh, top, since) = query, series, span, entry
    diag, s_diag, point, skipped = top, since, 0.0, fresh
    above, s_above, lanes = splat(wide, INF), since, lanes_of(wide)
    if not closed_boundary(p):
        above = top + gap_cost
    while i < end:
        left, s_left = load(wide, col, i * lanes), load(wide, start, i * lanes)
        left = where(s_left < oldest, INF, left)
        if not closed_boundary(p):
            skipped = skipped + points[0, i]
            nearer = skipped < left
            left, s_left = where(nearer, skipped, left), where(nearer, at, s_left)
        a, b, c = terms_of(wide, p, rows, Y, t, i)
        here = points[0, i], points[1, i], points[2, i]
        # The path of each predecessor has its own start, and so its own lag.
        lag, lag_before = lags(tx, ty, i, point, t, at, s_diag)
        d = moves(p, here, lag_cost(p, lag, lag_before), a, b, c, gap_cost)[0]
        first, other, third = diag, above, left
        if not equal_moves_in_search(p):
            first = accumulate(p, diag, d)
            lag, lag_before = lags(tx, ty, i, point, t, at, s_above)
            other = accumulate(p, above, moves(p, here, lag_cost(p, lag, lag_before), a, b, c, gap_cost)[1])
            lag, lag_before = lags(tx, ty, i, point, t, at, s_left)
            third = accumulate(p, left, moves(p, here, lag_cost(p, lag, lag_before), a, b, c, gap_cost)[2])
        stretched, s_stretched = minimum(third, other), where(third < other, s_left, s_above)
        best, s_best = minimum(stretched, first), where(stretched < first, s_stretched, s_diag)
        if equal_moves_in_search(p):
            best = accumulate(p, best, d)
        store(col, i * lanes, best)
        store(start, i * lanes, s_best)
        diag, s_diag, above, s_above = left, s_left, best, s_best
        i, point = i + 1, point + 1.0
    return above, s_above


@kernel
def _advance(wide, queries, series, begin_at, offset, rules, state, best, begin):
    """Advance a segmentation over the samples from `begin_at` on; see `advance`."""
    (p, rows, points, first, tx), (Y, ty) = queries, series
    background, transitions, shortest, longest = rules
    query = rows, points, tx
    k = first.shape[0] - 1
    lanes = lanes_of(wide)
    n = best.shape[0] // ((k + 1) * lanes)
    col, start, edge, boundary, since = state[0], state[1], state[2], state[3], state[4]
    for t in range(begin_at, n):
        at = float(offset + t)
        row = t * (k + 1) * lanes
        for q in range(k):
            fresh = load(wide, edge, (q + 1) * lanes)
            top, s_top, record = fresh, splat(wide, at), _of(p, q)
            if not closed_boundary(record):
                known = load(wide, since, q * lanes)
                older = where(known < at + 1.0 - longest[q], INF, load(wide, boundary, q * lanes))
                s_top = where(fresh <= older, at, known)
                top = minimum(older, fresh)
            gap_cost = gap_cost_of(wide, record, rows, Y, ty, t)
            span, entry, oldest = (first[q], first[q + 1]), (fresh, top, s_top), at + 1.0 - longest[q]
            cost, s = column(wide, record, query, series, t, at, span, oldest, entry, gap_cost, col, start)
            store(boundary, q * lanes, top + gap_cost)
            store(since, q * lanes, s_top)
            cost = where(at + 1.0 - s < shortest[q], INF, cost)
            cost = where(at + 1.0 - s > longest[q], INF, cost)
            store(best, row + (q + 1) * lanes, cost)
            store(begin, t * k * lanes + q * lanes, s)
        store(best, row, load(wide, edge, 0) + load(wide, background, t * lanes))
        for b in range(k + 1):
            cheapest = load(wide, best, row) + transitions[0, b]
            for a in range(1, k + 1):
                cheapest = minimum(load(wide, best, row + a * lanes) + transitions[a, b], cheapest)
            store(edge, b * lanes, cheapest)


def advance(wide, queries, series, begin_at, offset, rules, state, best, begin):
    """Advance a segmentation from sample `begin_at` to the last one; changes `state`.

    `wide`: None for one lane, True for SEGMENT_LANES. `queries` is (p, rows, points, first, tx), `series` is (Y, ty),
    and `rules` is (background, transitions, shortest, longest). Starts count sample t as t + `offset`.

    For the boundary after each sample, ``best`` (k + 1) receives the cost of the cheapest segmentation up to there that
    ends with each label, and ``begin`` (k) the start of its last segment, for each query.
    """
    (_, rows, _, first, _), (Y, ty) = queries, series
    series = (Y if rows is None else channels_of(Y)), ty
    width = len(first) * (SEGMENT_LANES if wide else 1)  # of a row of `best`
    for a, b in pieces(len(best) // width - begin_at, COST * first[-1] * width // len(first)):
        _advance(wide, queries, series, begin_at + a, offset, rules, state, best[: (begin_at + b) * width], begin)


@kernel
def _advance_lanes(wide, queries, series, step, first, last, offset, rules, state, marks, states, room, best, begin):
    """Advance each lane over its samples [first, last), in blocks that fit into the buffers of `room`."""
    (Y, own, costs, starts), (background, transitions, shortest, longest) = room, rules
    k, mark = transitions.shape[0] - 1, 0
    while first < last:
        while marks[mark] <= first:
            mark += 1
        count = minimum(own.shape[0] // SEGMENT_LANES, minimum(last, marks[mark]) - first)
        for c in range(len(Y)):
            for t in range(count + 1):
                for lane in range(SEGMENT_LANES):
                    Y[c][t * SEGMENT_LANES + lane] = series[c, lane * step + first + t]
        for t in range(count):
            for lane in range(SEGMENT_LANES):
                own[t * SEGMENT_LANES + lane] = background[lane * step + first + t]
        here = own, transitions, shortest, longest
        found = costs[: count * (k + 1) * SEGMENT_LANES]
        _advance(wide, queries, (Y, None), 0, first, here, state, found, starts)
        for lane in range(SEGMENT_LANES if first >= marks[0] else 1):
            at = lane * step + first
            for t in range(count):
                for b in range(k + 1):
                    best[at + t + 1, b] = costs[(t * (k + 1) + b) * SEGMENT_LANES + lane]
                for q in range(k):
                    begin[at + t, q] = starts[(t * k + q) * SEGMENT_LANES + lane] + (offset + lane * step)
        first += count
        if first == marks[mark]:
            for r in range(state.shape[0]):
                for j in range(state.shape[1]):
                    states[mark, r, j] = state[r, j]


def advance_lanes(queries, series, step, offset, rules, state, marks, states, at_once, best, begin):
    """Segment SEGMENT_LANES ranges of a series at once, each of which counts samples from its start; changes `state`.

    Range i starts at sample ``i * step`` and ends after ``marks[-1]`` samples. `series`, and the background costs in
    `rules`, are those of the whole series. Fills ``best[t + 1]`` and ``begin[t]`` for sample t of the series, where
    starts count sample t as t + `offset`. Ranges but the first fill them from the first mark on, where the range before
    them ends. Fills `states` with the state after each mark. `at_once` samples are computed before they are copied to
    the results. This is one kernel call, because between two calls another thread may take the interpreter lock.
    """
    k, m = best.shape[1] - 1, queries[3][-1]
    sizes = (at_once, at_once * (k + 1), at_once * k)
    room = (
        channels_of(aligned(len(series), (at_once + 1) * SEGMENT_LANES)),
        *(aligned(size * SEGMENT_LANES) for size in sizes),
    )
    rest = rules, state, marks, states, room, best, begin
    for a, b in pieces(int(marks[-1]), COST * m * SEGMENT_LANES):
        _advance_lanes(True, queries, series, step, a, b, offset, *rest)


@kernel
def _range_costs(wide, queries, series, start, length, rules, first, last, begin_with, state, room, out):
    """Fill in the costs of the groups [first, last), each of SEGMENT_LANES ranges that are computed at once."""
    (Y, costs, starts), n = room, series.shape[1]
    for group in range(first, last):
        some = slice(group * SEGMENT_LANES, minimum((group + 1) * SEGMENT_LANES, start.shape[0]))
        here, long, to = start[some], length[some], out[some]
        width = long[-1]
        for c in range(len(Y)):
            for t in range(width + 1):
                for lane in range(SEGMENT_LANES):
                    # Samples before and after a range do not matter.
                    inside = t > 0 and lane < here.shape[0]
                    Y[c][t * SEGMENT_LANES + lane] = series[c, minimum(here[lane] + t, n - 1)] if inside else 0.0
        for r in range(state.shape[0]):
            for j in range(state.shape[1]):
                state[r, j] = begin_with[r, j]
        _advance(wide, queries, (Y, None), 0, 0, rules, state, costs[: width * 2 * SEGMENT_LANES], starts)
        for lane in range(here.shape[0]):
            to[lane] = costs[((long[lane] - 1) * 2 + 1) * SEGMENT_LANES + lane]


def range_costs(queries, series, start, length, transitions, bounds, state, out):
    """Fill `out` with the costs of a query and ranges of a series; the ranges are sorted by length.

    `series` (channels, n + 1) has one additional sample in front, which belongs to no range.
    """
    most, groups = int(length[-1]), -(-len(start) // SEGMENT_LANES)
    rules = np.full(most * SEGMENT_LANES, INF), transitions, *bounds
    room = (
        channels_of(aligned(len(series), (most + 1) * SEGMENT_LANES)),
        aligned(2 * most * SEGMENT_LANES),
        aligned(most * SEGMENT_LANES),
    )
    here = aligned(*state.shape)
    for a, b in pieces(groups, COST * most * queries[3][-1] * SEGMENT_LANES):
        _range_costs(True, queries, series, start, length, rules, a, b, state, here, room, out)


@np.errstate(invalid="ignore")
def difference_of(a, b, later):
    """Return the constant by which the costs of state `b` (rows, points, ...) exceed those of state `a`.

    NaN if the difference varies by more than rounding, or if starts differ. Starts of `a` are counted from an origin
    that is `later` samples after that of `b`.
    """
    offset, before, costs = b[2, 0] - a[2, 0], a[[0, 2, 3]], b[[0, 2, 3]]
    known = np.isfinite(costs)
    largest = np.maximum(abs(offset), np.abs(costs, out=np.zeros(costs.shape), where=known).max(axis=(0, 1)))
    near = (np.isfinite(before) == known) & (~known | (abs(before + offset - costs) <= 1e-12 * largest))
    alike = ~known[[0, 2]] | (a[[1, 4]] + later == b[[1, 4]])
    return np.where(near.all(axis=(0, 1)) & alike.all(axis=(0, 1)), offset, np.nan)[()]


@kernel
def _windows(cost, lengths, begin_at, end, background, transitions, edges, best):
    k = cost.shape[0]
    for t in range(begin_at, end):
        best[t + 1, 0] = edges[t, 0] + background[t]
        for q in range(k):
            s = t + 1 - lengths[q]
            best[t + 1, q + 1] = edges[s, q + 1] + cost[q, t] if s >= 0 else INF
        for b in range(k + 1):
            cheapest = INF
            for a in range(k + 1):
                cheapest = minimum(best[t + 1, a] + transitions[a, b], cheapest)
            edges[t + 1, b] = cheapest


def windows(cost, lengths, begin_at, background, transitions, edges, best):
    """Segment by windows of fixed lengths; ``cost[q, t]`` is the cost of the window of query q that ends with sample t.

    Fills ``best[t + 1]`` as `advance` does. ``edges`` (n + 1, k + 1) receives the minimum cost up to each boundary if a
    label follows there; its row `begin_at` must be given.
    """
    for a, b in pieces(cost.shape[1] - begin_at, edges.shape[1] ** 2):
        _windows(cost, lengths, begin_at + a, begin_at + b, background, transitions, edges, best)

"""Windows of a sequence that may be near a query, by lower bounds and a pruned recurrence, many windows at once.

LANES neighboring windows stand side by side: the point i of each is a stretch of the sequence, so that a vector holds
it without any rearrangement, and normalizing it is one product and one sum. Bounds are those of `lower_bounds`,
added up point by point, the costliest first, until a block of windows is above the cutoff. The remaining windows are
put side by side and run through the recurrence under the cutoff, less a lower bound of the remaining path (Lemire 2009,
Faster retrieval with a two-pass dynamic-time-warping lower bound).

Windows are normalized by running moments, see `moments`, so that values are known up to an `uncertainty`; envelopes
are wider by that, and bounds hold.
"""

from typing import NamedTuple

import numpy as np

from . import lanes
from .columns import cells_of
from .compilation import block_size, budgets, inner, kernel, pieces, step
from .dispatch import accumulate, gap, gap_terms, lag_cost, moves, terms
from .lower_bounds import LANES, load, slide_row, splat
from .moments import scale_and_shift
from .scratch import aligned, aligned_zeros, scratch
from .simd import REGISTER, maximum, minimum, rounded
from .simd_memory import channels_of, copy, fill, makers, some, store

INF = np.inf
UNKNOWN = -1.0  # the bound of a window that running moments cannot normalize
STRIDE = block_size(8, 3)  # points added between two comparisons with the cutoff
BLOCK = block_size(2**12, 40)  # windows at a time, so that what is known of them stays in the second-level cache
FEW = block_size(4, 1)  # windows of a block: fewer are compared sooner than bounded a second time
WIDE = 4 * REGISTER  # windows bounded at a time: loading the numbers takes longer than computing with them

load_wide, _, _ = makers(WIDE, fused=True)


class QueryPoints(NamedTuple):
    """What bounds need to know of each point of a query that windows are compared with."""

    x: np.ndarray  # (channels, m)
    w: np.ndarray  # (channels, 2, m): weights of the points and of the points before
    points: np.ndarray  # (3, m): what each point costs
    lags: np.ndarray  # (m,): of the points that it may meet, at least
    skips: np.ndarray  # (m,): the gap cost, with that of another point
    pinned: np.ndarray  # (m,): whether it meets one point
    starts: np.ndarray  # (m,): where the stretch of those it may meet starts
    second: np.ndarray | None  # (m,): the same of a second stretch; None: the first ones hold all


class WindowPoints(NamedTuple):
    """The same of each point of a window: what it may meet of the query."""

    w: np.ndarray  # (channels, 2, m): minimum weights
    points: np.ndarray  # (3, m): minimum costs
    lags: np.ndarray  # (m,)
    skips: np.ndarray  # (m,): the minimum gap cost
    minimum_gap_cost: float  # of another point, which is left out as well
    low: np.ndarray  # (channels, m): the range of the query, wider by the uncertainty
    high: np.ndarray


class Remaining(NamedTuple):
    """What bounds the path that remains: see `_two_passes`."""

    low: np.ndarray  # (channels, m): the range of the query that each point of a window may meet
    high: np.ndarray
    light: np.ndarray  # (channels, m): its minimum weight
    reach: int  # points of a stretch; 0: there is no bound
    stretches: np.ndarray  # (2, m): where the two stretches start that hold what each point of the query may meet


# --------------------------------------------------------------------------------------------------------------- bounds
@step
def _nearest(value, low, high):
    return minimum(maximum(value, low), high)


@step
def _also(second, i):
    """Where the second stretch of query point i starts, if there are two."""
    return None if second is None else second[i]


@step
def _range(least, most, j, at, also, s, c, uncertainty):
    """Minimum and maximum of the samples of one or two stretches, normalized."""
    bottom, top = load_wide(least, j + at), load_wide(most, j + at)
    if also is not None:
        bottom, top = minimum(bottom, load_wide(least, j + also)), maximum(top, load_wide(most, j + also))
    return bottom * s + (c - uncertainty), top * s + (c + uncertainty)


@step
def _of_query(p, k, i, h, known, j, query, ranges, s, c, uncertainty):
    """The terms of query point i, and h before it, with the values of the windows from j on within the band."""
    x, w, _, _, _, pinned, starts, second = query
    # End points meet end points, wherever paths continue; no recurrence for which that holds uses the points before.
    least, most = ranges[pinned[i], k], ranges[2 - pinned[i], k]
    bottom, top = _range(least, most, j, starts[i], _also(second, i), s, c, uncertainty)
    under, over = _range(least, most, j, starts[h], _also(second, h), s, c, uncertainty)
    value, before = x[k, i], known * x[k, h]
    return terms(
        p,
        (value, before, w[k, 0, i], w[k, 1, i]),
        _nearest(value, bottom, top),
        _nearest(before, known * under, known * over),
    )


@step
def _of_window(p, k, i, h, known, j, w, y, low, high, s, c):
    """The terms of the windows' point i, and h before it, with the query's values within the band; its gap cost."""
    value, before = load_wide(y[k], j + i) * s + c, known * (load_wide(y[k], j + h) * s + c)
    row = value, before, w[k, 0, i], w[k, 1, i]
    a, b, _ = terms(
        p, row, _nearest(value, low[k, i], high[k, i]), _nearest(before, known * low[k, h], known * high[k, h])
    )
    return a, b, gap_terms(p, value, before) + 0.0 * value


@inner
def _by_query(p, query, ranges, made, uncertainty, order, cutoff, bounds):
    """Add minimum costs of the query points of `order` to the bounds that are not above the cutoff.

    `ranges` (3, channels, n) are the minima over so many samples from each one on, the samples, and the maxima; `made`
    are scale and shift of the windows, as the bounds are.
    """
    channels, points, lags, skips = query.x.shape[0], query.points, query.lags, query.skips
    scale, shift = made
    for j in range(0, bounds.shape[0] - WIDE + 1, WIDE):
        total = load_wide(bounds, j)
        if not some(total <= cutoff):
            continue
        s, c = load_wide(scale[0], j), load_wide(shift[0], j)
        for t0 in range(0, order.shape[0], STRIDE):
            for t in range(t0, min(t0 + STRIDE, order.shape[0])):
                i = order[t]
                h, known = max(i - 1, 0), 1.0 if i > 0 else 0.0
                a, b, _ = _of_query(p, 0, i, h, known, j, query, ranges, s, c, uncertainty)
                for k in range(1, channels):
                    u, v = load_wide(scale[k], j), load_wide(shift[k], j)
                    e, f, _ = _of_query(p, k, i, h, known, j, query, ranges, u, v, uncertainty)
                    a, b = a + e, b + f
                here = points[0, i], points[1, i], points[2, i]
                cost = rounded(moves(p, here, lag_cost(p, lags[i], lags[i]), a, b, 0.0, 0.0)[0])
                total = accumulate(p, total, minimum(cost, skips[i]))
            if not some(total <= cutoff):
                break
        store(bounds, j, total)


@inner
def _by_window(p, query, y, first, made, order, cutoff, bounds):
    """The same the other way round, of the windows of `y` from the `first` on.

    A point left out costs its own gap cost, at least `skips`, and the `minimum_gap_cost` of another one.
    """
    w, points, lags, skips, minimum_gap_cost, low, high = query
    scale, shift = made
    for j in range(0, bounds.shape[0] - WIDE + 1, WIDE):
        total, at = load_wide(bounds, j), first + j
        if not some(total <= cutoff):
            continue
        s, c = load_wide(scale[0], j), load_wide(shift[0], j)
        for t0 in range(0, order.shape[0], STRIDE):
            for t in range(t0, min(t0 + STRIDE, order.shape[0])):
                i = order[t]
                h, known = max(i - 1, 0), 1.0 if i > 0 else 0.0
                a, b, g = _of_window(p, 0, i, h, known, at, w, y, low, high, s, c)
                for k in range(1, low.shape[0]):
                    u, v = load_wide(scale[k], j), load_wide(shift[k], j)
                    e, f, d = _of_window(p, k, i, h, known, at, w, y, low, high, u, v)
                    a, b, g = a + e, b + f, g + d
                here = points[0, i], points[1, i], points[2, i]
                cost = rounded(moves(p, here, lag_cost(p, lags[i], lags[i]), a, b, 0.0, 0.0)[0])
                total = accumulate(p, total, minimum(cost, maximum(gap(p, g, 1.0), skips[i]) + minimum_gap_cost))
            if not some(total <= cutoff):
                break
        store(bounds, j, total)


@inner
def _count_within(bounds, cutoff):
    count = 0
    for j in range(bounds.shape[0]):
        count += bounds[j] <= cutoff
    return count


@inner
def _enter(p, of_query, of_window, reach, y, uncertainty, query_first, orders, cutoff, first, made, room, bounds):
    """Enter points into the bounds of the windows from the `first` on, see `candidates`."""
    ranges, other = room
    for turn in range(2):
        order, entered = orders[turn], bounds
        if _count_within(bounds, cutoff) < (1 if turn == 0 else FEW):
            break
        if order.shape[0] == 0:
            continue
        if turn == 1:
            entered = other[: bounds.shape[0]]
            for j in range(bounds.shape[0]):
                entered[j] = 0.0 if bounds[j] <= cutoff else INF
        if query_first == (turn == 0):
            span = bounds.shape[0] + of_query.lags.shape[0] - 1
            for k in range(ranges.shape[1]):
                row = ranges[1, k, :span]
                copy(y[k], first, first + span, row, 0)
                slide_row(row, reach, ranges[0, k], ranges[2, k])
            _by_query(p, of_query, ranges, made, uncertainty, order, cutoff, entered)
        else:
            _by_window(p, of_window, y, first, made, order, cutoff, entered)
        if turn == 1:
            for j in range(bounds.shape[0]):
                bounds[j] = max(bounds[j], entered[j])


@inner
def _take(j, low, first, made, out, count):
    """Write down a window of a block, its bound, scale and shift."""
    out[0][count], out[1][count] = first + j, low
    for k in range(made[0].shape[0]):
        out[2][0, k, count], out[2][1, k, count] = made[0][k, j], made[1][k, j]
    return count + 1


@inner
def _take_unknown(first, made, bounds, out, count):
    """Write down the windows whose moments are unknown, and leave them out of what follows."""
    scale, shift = made
    for j in range(bounds.shape[0]):
        known = True
        for k in range(scale.shape[0]):
            known = known and scale[k, j] == scale[k, j]
        if not known:
            for k in range(scale.shape[0]):
                scale[k, j] = shift[k, j] = 0.0
            if bounds[j] < INF:
                count = _take(j, UNKNOWN, first, made, out, count)
            bounds[j] = INF
    return count


@kernel
def _candidates(p, sides, windows, among, query_first, orders, cutoff, begin, end, room, out, count):
    """Windows [begin, end) behind those found so far, see `candidates`; how many there are then."""
    of_query, of_window, reach = sides
    scales, shifts, ranges, other, lows = room
    m, size, made = of_query.lags.shape[0], lows.shape[0], (scales, shifts)
    for first in range(begin, end, size):
        bounds = lows[: min(size, end - first)]
        fill(bounds, 0, bounds.shape[0], 0.0)
        if among.shape[0] > 0:
            for j in range(bounds.shape[0]):
                bounds[j] = 0.0 if among[first + j] else INF
        if scale_and_shift(windows, m, first, bounds.shape[0], ranges, made):
            count = _take_unknown(first, made, bounds, out, count)
        given = windows[0], windows[2], query_first, orders, cutoff, first
        _enter(p, of_query, of_window, reach, *given, made, (ranges, other), bounds)
        if _count_within(bounds, cutoff) == 0:
            continue
        for j in range(bounds.shape[0]):
            if bounds[j] <= cutoff and bounds[j] < INF:
                count = _take(j, bounds[j], first, made, out, count)
    return count


def candidates(p, sides, windows, among, query_first, orders, cutoff, begin, end):
    """The windows [begin, end) whose bounds are not above the cutoff, their bounds, and their scale and shift.

    Bounds are minimum costs of the points of one way, of the query or of the windows, then by themselves those of the
    other; either order may be empty. Where moments are unknown the bound is `UNKNOWN`. All of it block by block, so
    that nothing leaves the second-level cache but what is found. It lies in memory that the thread uses again.

    `sides` are (of_query, of_window, reach); `windows` (samples, scaling, uncertainty, scale, shift) of a whole
    sequence, the last two without entries if they are to be found from the samples; `among` tells which windows count,
    or has no entries: all.
    """
    samples, m, count = windows[0], len(sides[0].lags), 0
    channels, size, most = len(samples), min(max(BLOCK, m), end - begin), end - begin
    room = scratch("scale and shift", (2, channels, size)), scratch("ranges of windows", (3, channels, size + m - 1))
    room = *room[0], room[1], *scratch("bounds", (2, size))
    out = scratch("windows found", (most,), np.int64), scratch("bounds found", (most,))
    out += (scratch("moments found", (2, channels, most)),)
    for a, b in pieces(-(-most // size), size * channels * (m + sum(map(len, orders)))):
        part = begin + a * size, min(begin + b * size, end)
        count = _candidates(p, sides, windows, among, query_first, orders, cutoff, *part, room, out, count)
    return out[0][:count], out[1][:count], out[2][:, :, :count]


@kernel
def _compare(query, windows, remaining, cells, cutoff, first, work, costs):
    """Windows from the `first` on, see `compare`; the one that comes next when no cells are left."""
    p, rows, weighted, points = query
    values, begins, scale, shift = windows
    channels, m = rows.shape[0], points.shape[1]
    room, block, gap_costs, rests, passes = work
    row, goes_on = room[0], room[2][0] > 0.0  # in the middle of a block
    for at in range(first, begins.shape[0], LANES):
        size = min(LANES, begins.shape[0] - at)
        side_by_side = size == LANES and begins[at + size - 1] - begins[at] == LANES - 1
        for k in range(0 if goes_on else channels):
            if side_by_side:
                s, c, v = load(scale[k], at), load(shift[k], at), values[k]
                for i in range(m):
                    store(block[k], (i + 1) * LANES, load(v, begins[at] + i) * s + c)
                continue
            for s in range(LANES):
                b = at + min(s, size - 1)
                v, u, c = values[k, begins[b] : begins[b] + m], scale[k, b], shift[k, b]
                for i in range(m):
                    block[k][(i + 1) * LANES + s] = v[i] * u + c
        if not goes_on:
            bounded = remaining.reach > 0
            if bounded and not _two_passes(p, rows, block, remaining, cells.last, cutoff, passes, rests):
                fill(costs, at, at + size, INF)
                continue
            if not bounded:
                lanes._fill_gap_costs(p, block, gap_costs)
        reached = lanes._accumulate(p, m, rows, weighted, points, block, gap_costs, cells, cutoff, rests, room)
        if reached == lanes.UNFINISHED:
            return at
        goes_on = False
        for s in range(size):
            cost = row[m * LANES + s]
            costs[at + s] = cost if reached == lanes.DONE and cost <= cutoff else INF
    return begins.shape[0]


def compare(query, windows, remaining, lo, hi, cutoff, costs):
    """Accumulated costs of the query with windows, infinite above the cutoff.

    `query` is (p, rows, weighted, points), `windows` (values, begins, scale, shift): those of `values` from `begins`
    on, which ascend. The path that is `Remaining` is bounded by two passes.
    """
    p, rows, _, points = query
    m, size, at = points.shape[1], (points.shape[1] + 1) * LANES, 0
    room, passes = lanes.room_for(m), aligned(5, m * LANES if remaining.reach else 0)
    work = room, channels_of(aligned_zeros(len(rows), size)), aligned_zeros(size), aligned_zeros(m * LANES), passes
    cells = cells_of(p, lo, hi)
    for room[-1][0] in budgets():
        at = _compare(query, windows, remaining, cells, cutoff, at, work, costs)
        if at == len(windows[1]):
            return


@inner
def _two_passes(p, rows, block, remaining, hi, cutoff, work, rests):
    """Lower bounds of the path after each query point, in `rests`; and whether any lane is within the cutoff at all.

    A series point costs at least its distance to the query's range, at the end of which nearest to it a pair's cost is
    cut in two: the query point costs at least its distance to the range of these ends besides.
    """
    low, high, light, reach, stretches = remaining
    m = rests.shape[0] // LANES
    after, within = work[0], work[1]  # what the series points cost, what the query points cost
    fill(after, 0, m * LANES, 0.0)
    fill(within, 0, m * LANES, 0.0)
    for k in range(rows.shape[0]):
        near, below, above = work[2], work[3], work[4]
        for i in range(m):
            value = load(block[k], (i + 1) * LANES)
            end = _nearest(value, low[k, i], high[k, i])
            cost = terms(p, (value, 0.0, light[k, i], 0.0), end, 0.0)[0]
            store(near, i * LANES, end)
            store(after, i * LANES, load(after, i * LANES) + cost)
        # The range of `reach` points is that of the rest of a stretch of so many and of the beginning of the next one
        # (van Herk 1992); it is stored at the position of its last point.
        for begin in range(0, m, reach):
            least = most = load(near, begin * LANES)
            for i in range(begin, min(begin + reach, m)):
                v = load(near, i * LANES)
                least, most = minimum(v, least), maximum(v, most)
                store(below, i * LANES, least)
                store(above, i * LANES, most)
        for begin in range((m - 1) // reach * reach, -1, -reach):
            stop = min(begin + reach, m)
            least = most = load(near, (stop - 1) * LANES)
            for i in range(stop - 1, begin - 1, -1):
                v, to = load(near, i * LANES), (i + reach - 1) * LANES
                least, most = minimum(v, least), maximum(v, most)
                if i + reach <= m:
                    store(below, to, minimum(least, load(below, to)))
                    store(above, to, maximum(most, load(above, to)))
        for i in range(m):
            one, two = (stretches[0, i] + reach - 1) * LANES, (stretches[1, i] + reach - 1) * LANES
            least, most = minimum(load(below, one), load(below, two)), maximum(load(above, one), load(above, two))
            end = _nearest(rows[k, 0, i], least, most)
            cost = terms(p, (rows[k, 0, i], 0.0, rows[k, 2, i], 0.0), end, 0.0)[0]
            store(within, i * LANES, load(within, i * LANES) + cost)
    for i in range(m - 2, -1, -1):
        store(after, i * LANES, load(after, i * LANES) + load(after, (i + 1) * LANES))
    total = splat(0.0)
    for i in range(m - 1, -1, -1):
        store(rests, i * LANES, total + load(after, hi[i] * LANES) if hi[i] < m else total)
        total = total + load(within, i * LANES)
    return some(total + load(after, 0) <= cutoff)

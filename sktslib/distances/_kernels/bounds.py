"""Lower bounds of elastic distances: of pairs of series, of the windows of a sequence, and of its subsequences.

Series (`series_bounds`). A path enters every query point once, by a match or by a gap. A match costs at least the match
with the nearest value of the envelope, which is the range of the series within the band (LB_Keogh, Keogh &
Ratanamahatana 2005). The `terms` and `moves` of the recurrence give this cost, so one kernel serves all distances.
Where a path must contain the first and the last pair, their costs are exact (LB_Kim, Kim et al. 2001). The points of
the series and the envelope of the query give a second bound, on average hardly tighter and at the same cost; it is
computed for the windows that remain.

A path through m query points and n series points that skips u query points skips n - m + u series points. So each
skipped point of the shorter series implies the gap cost of a point of the longer one.

Layout: the points of a channel follow one number of padding, and zeros fill up the last vector.

Windows (`candidates`, then `near_windows` and `compare`). A vector holds point i of BOUND_LANES neighboring windows,
which are neighboring samples, so nothing has to be rearranged, and one product and one sum normalize them. The bounds
are sums of the same costs, added point by point, the largest first, until all windows of a vector are above the cutoff.
The remaining windows are interleaved, and the recurrence computes them under the cutoff.

Windows are normalized by running moments (see `moments`), so their values are known up to an `uncertainty`. The
envelopes are widened by it, so the bounds hold.

Subsequences, each normalized by itself (`bounds`). A box holds the subsequences that end at neighboring samples and
have neighboring lengths. Their centers and their scales are within two intervals, from the smallest to the largest
value, widened by the rounding errors of the sums. So each sample has an interval of normalized values. Consider the
cheapest path of the query through these intervals, from any sample where a subsequence of the box starts to any sample
where one ends: it costs no more than the best path of any subsequence of the box. BATCH boxes are computed at once. In
a box with one subsequence the intervals are as narrow as rounding permits, and the bound is the cost up to rounding.

In these bounds each move costs as much as the diagonal one, which by `BoundFacts` is a lower bound. Terms of preceding
points are left out.
"""

from typing import NamedTuple

import numpy as np

from . import batch
from .batch import BATCH, ROWS, load, splat
from .compile import block_size, budgets, inner, kernel, pieces, step
from .dispatch import accumulate, lag_cost, moves, terms
from .moments import scale_and_shift
from .scalar import cells_of
from .simd import (
    REGISTER,
    aligned,
    aligned_zeros,
    channels_of,
    copy,
    fill,
    makers,
    maximum,
    minimum,
    rounded,
    scratch,
    some,
    store,
    where,
)

INF = np.inf
BOUND_LANES = BATCH  # as in the recurrence that computes the windows that the bounds do not exclude
load_bounds, splat_bounds, _ = makers(BOUND_LANES, fused=True)


# ------------------------------------------------------------------------------------------------- minimum and maximum
@inner
def slide_row(a, width, low, high):
    """Fill `low` and `high` with the minimum and maximum of `width` values of `a` from each position on.

    The last `width` - 1 entries are undefined. Each pass widens the ranges up to fourfold, in place. The passes are
    few and vectorized, which a queue of candidates would not be.
    """
    below, above, done = a, a, 1  # number of values that the minima and maxima include
    if width == 1:
        copy(a, 0, a.shape[0], low, 0)
        copy(a, 0, a.shape[0], high, 0)
    while done < width:
        wider = min(4 * done, width)
        last = wider - done
        one, two, size = min(done, last), min(2 * done, last), a.shape[0] - wider + 1
        whole = size - size % BOUND_LANES
        for j in range(0, whole, BOUND_LANES):
            v = (
                minimum(load_bounds(below, j), load_bounds(below, j + one)),
                minimum(load_bounds(below, j + two), load_bounds(below, j + last)),
            )
            u = (
                maximum(load_bounds(above, j), load_bounds(above, j + one)),
                maximum(load_bounds(above, j + two), load_bounds(above, j + last)),
            )
            store(low, j, minimum(v[0], v[1]))
            store(high, j, maximum(u[0], u[1]))
        for j in range(whole, size):
            low[j] = min(min(below[j], below[j + one]), min(below[j + two], below[j + last]))
            high[j] = max(max(above[j], above[j + one]), max(above[j + two], above[j + last]))
        below, above, done = low, high, wider


def envelopes(a, first, last):
    """Return the minima and maxima (2, ..., size) of the points [first[i], last[i]) of series (..., n).

    Ranges of doubling widths give them.
    """
    if not first.any() and (last == a.shape[-1]).all():  # without a band the ranges are whole series
        found = np.array([a.min(axis=-1, keepdims=True), a.max(axis=-1, keepdims=True)])
        return np.repeat(found, len(first), axis=-1)
    out, level, low, high = np.empty((2, *a.shape[:-1], len(first))), np.frexp(last - first)[1] - 1, a, a
    for k in range(level.max() + 1):
        width = 2**k
        i = np.flatnonzero(level == k)
        one, two = first[i], last[i] - width
        out[0][..., i] = np.minimum(low[..., one], low[..., two])
        out[1][..., i] = np.maximum(high[..., one], high[..., two])
        low, high = np.minimum(low[..., :-width], low[..., width:]), np.maximum(high[..., :-width], high[..., width:])
    return out


# -------------------------------------------------------------------------------------------------------------- bounds
@step
def _pair(p, x, w, lower, upper, i):
    """Return the terms of the query points of a vector from i on with the nearest values of their envelopes.

    The preceding points are compared with their own envelopes.
    """
    value, low, high = load_bounds(x, i + 1), load_bounds(lower, i + 1), load_bounds(upper, i + 1)
    before, low_before, high_before = load_bounds(x, i), load_bounds(lower, i), load_bounds(upper, i)
    row = value, before, load_bounds(w[0], i), load_bounds(w[1], i)
    return terms(p, row, minimum(maximum(value, low), high), minimum(maximum(before, low_before), high_before))


@kernel
def _series_bounds(p, queries, series, lags, begin, end, out):
    """Fill in the bounds of queries [begin, end); see `series_bounds`."""
    (X, W, of_points, skips), (lower, upper, minimum_gap_costs) = queries, series
    lanes = np.empty(BOUND_LANES)
    for q in range(begin, end):
        x, w, points = X[q], W[min(q, W.shape[0] - 1)], of_points[min(q, of_points.shape[0] - 1)]
        for s in range(lower.shape[0]):
            low, high, total = lower[s], upper[s], splat_bounds(0.0)
            for i in range(0, x.shape[1] - 1, BOUND_LANES):
                a, b, _ = _pair(p, x[0], w[0], low[0], high[0], i)
                for k in range(1, x.shape[0]):
                    e, f, _ = _pair(p, x[k], w[k], low[k], high[k], i)
                    a, b = a + e, b + f
                here = load_bounds(points[0], i + 1), load_bounds(points[1], i + 1), load_bounds(points[2], i + 1)
                lag = load_bounds(lags, i + 1)
                cost = rounded(moves(p, here, lag_cost(p, lag, lag), a, b, 0.0, 0.0)[0])
                total = accumulate(p, total, minimum(cost, load_bounds(skips[q], i + 1) + minimum_gap_costs[s]))
            store(lanes, 0, total)
            out[q, s] = 0.0
            for lane in range(BOUND_LANES):
                out[q, s] = accumulate(p, out[q, s], lanes[lane])


def series_bounds(p, queries, series, lags, out):
    """Fill `out` (n_queries, n_series) with lower bounds: minimum costs of all query points, accumulated as `p` does.

    `queries` are the points (n_queries, channels, size), the weights of the points and of the preceding points
    (n_queries, channels, 2, size), point costs, and gap costs. `series` are the lower and upper envelopes over the
    series points that each query point may be aligned with, and the minimum gap cost of each series, which a skipped
    query point implies. Weights and point costs with one entry serve all queries. `lags` are the minimum lags.
    """
    x, lower = queries[0], series[0]
    for begin, end in pieces(len(x), x[0].size * len(lower)):
        _series_bounds(p, queries, series, lags, begin, end, out)


UNKNOWN = -1.0  # the bound of a window that running moments cannot normalize
STRIDE = block_size(8, 3)  # points added between two comparisons with the cutoff
BLOCK = block_size(2**12, 40)  # windows at a time, so that their data stay in the second-level cache
WIDE = 4 * REGISTER  # windows bounded at a time: loading the query's numbers takes longer than computing with them

load_wide, _, _ = makers(WIDE, fused=True)


class QueryPoints(NamedTuple):
    """Data of each query point from which the bounds of windows are computed."""

    x: np.ndarray  # (channels, m): values
    w: np.ndarray  # (channels, 2, m): weights of the points and of the preceding points
    points: np.ndarray  # (3, m): point costs
    lags: np.ndarray  # (m,): minimum lag to a window point that it may be aligned with
    skips: np.ndarray  # (m,): its gap cost plus the gap cost of a window point that skipping it implies
    pinned: np.ndarray  # (m,): whether it can be aligned with one window point only
    starts: np.ndarray  # (m,): first sample, counted from the window's start, of the range it may be aligned with


# --------------------------------------------------------------------------------------------------------------- bounds
@step
def _nearest(value, low, high):
    return minimum(maximum(value, low), high)


@step
def _range(least, most, j, s, c, uncertainty):
    """Return the normalized minimum and maximum of a range of samples, widened by the uncertainty."""
    return load_wide(least, j) * s + (c - uncertainty), load_wide(most, j) * s + (c + uncertainty)


@step
def _terms_of(query, p, k, i, h, known, j, ranges, s, c, uncertainty):
    """Return the terms of query point i, and of its predecessor h, with the nearest values of WIDE windows from j on.

    `ranges` (3, channels, n) are the minima over the reach from each sample on, the samples, and the maxima. `known` is
    1.0, or 0.0 if there is no predecessor.
    """
    # Paths pair end points with end points. No recurrence for which that holds uses the preceding points.
    least, most = ranges[query.pinned[i], k], ranges[2 - query.pinned[i], k]
    bottom, top = _range(least, most, j + query.starts[i], s, c, uncertainty)
    under, over = _range(least, most, j + query.starts[h], s, c, uncertainty)
    value, before = query.x[k, i], known * query.x[k, h]
    row = value, before, query.w[k, 0, i], query.w[k, 1, i]
    a, b, _ = terms(p, row, _nearest(value, bottom, top), _nearest(before, known * under, known * over))
    return a, b


@inner
def _add_points(p, query, ranges, made, uncertainty, order, cutoff, bounds):
    """Add the minimum costs of the query points in `order` to the bounds of a block of windows.

    Vectors of windows above the cutoff are skipped. `made` are the scales and shifts that normalize the windows.
    """
    points, lags, (scale, shift) = query.points, query.lags, made
    for at in range(0, bounds.shape[0] - WIDE + 1, WIDE):
        total = load_wide(bounds, at)
        if not some(total <= cutoff):
            continue
        s, c = load_wide(scale[0], at), load_wide(shift[0], at)
        for t0 in range(0, order.shape[0], STRIDE):
            for t in range(t0, min(t0 + STRIDE, order.shape[0])):
                i = order[t]
                h, known = max(i - 1, 0), 1.0 if i > 0 else 0.0
                a, b = _terms_of(query, p, 0, i, h, known, at, ranges, s, c, uncertainty)
                for k in range(1, scale.shape[0]):
                    u, v = load_wide(scale[k], at), load_wide(shift[k], at)
                    e, f = _terms_of(query, p, k, i, h, known, at, ranges, u, v, uncertainty)
                    a, b = a + e, b + f
                here = points[0, i], points[1, i], points[2, i]
                cost = rounded(moves(p, here, lag_cost(p, lags[i], lags[i]), a, b, 0.0, 0.0)[0])
                total = accumulate(p, total, minimum(cost, query.skips[i]))
            if not some(total <= cutoff):
                break
        store(bounds, at, total)


@inner
def _count_within(bounds, cutoff):
    count = 0
    for j in range(bounds.shape[0]):
        count += bounds[j] <= cutoff
    return count


@inner
def _take(j, low, first, made, out, count):
    """Append window j of a block to `out`: its number, bound, scale and shift; return the new count."""
    out[0][count], out[1][count] = first + j, low
    for k in range(made[0].shape[0]):
        out[2][0, k, count], out[2][1, k, count] = made[0][k, j], made[1][k, j]
    return count + 1


@inner
def _take_unknown(first, made, bounds, out, count):
    """Append the windows whose moments are unknown to `out`, and exclude them from further bounds."""
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
def _candidates(p, query, windows, among, reach, order, ends, cutoff, begin, end, room, out, count):
    """Append the candidates among the windows [begin, end) to `out`; return the new count. See `candidates`."""
    scales, shifts, ranges, lows = room
    y, uncertainty = windows[0], windows[2]
    m, size, made = query.lags.shape[0], lows.shape[0], (scales, shifts)
    for first in range(begin, end, size):
        bounds = lows[: min(size, end - first)]
        span = bounds.shape[0] + m - 1
        fill(bounds, 0, bounds.shape[0], 0.0)
        if among.shape[0] > 0:
            for j in range(bounds.shape[0]):
                bounds[j] = 0.0 if among[first + j] else INF
        if scale_and_shift(windows, m, first, bounds.shape[0], ranges, made):
            count = _take_unknown(first, made, bounds, out, count)
        for k in range(y.shape[0]):
            copy(y[k], first, first + span, ranges[1, k], 0)
        _add_points(p, query, ranges, made, uncertainty, order[:ends], cutoff, bounds)
        if _count_within(bounds, cutoff) == 0:
            continue
        for k in range(y.shape[0]):
            slide_row(ranges[1, k, :span], reach, ranges[0, k], ranges[2, k])
        _add_points(p, query, ranges, made, uncertainty, order[ends:], cutoff, bounds)
        if _count_within(bounds, cutoff) == 0:
            continue
        for j in range(bounds.shape[0]):
            if bounds[j] <= cutoff and bounds[j] < INF:
                count = _take(j, bounds[j], first, made, out, count)
    return count


def candidates(p, query, windows, among, reach, order, ends, cutoff, begin, end):
    """Return the windows among [begin, end) whose bounds are at most the cutoff, their bounds, scales and shifts.

    A bound is the sum of the minimum costs of the query points in `order`. Its first `ends` points can be aligned with
    one window point only; often they suffice, and need no minima and maxima over the `reach`, the number of samples
    that the other points may be aligned with. Windows whose moments are unknown get the bound `UNKNOWN`. The windows
    are processed in blocks that fit into the second-level cache. The arrays returned are overwritten by the next call
    of the same thread.

    `windows` are (samples, scaling, uncertainty, scale, shift) of a whole sequence. If scale and shift have no entries,
    they are computed from the samples. `among` is a mask of the windows to consider; without entries, all are.
    """
    samples, m, count = windows[0], len(query.lags), 0
    channels, size, most = len(samples), min(max(BLOCK, m), end - begin), end - begin
    room = *scratch("scale and shift", (2, channels, size)), scratch("ranges of windows", (3, channels, size + m - 1))
    room = *room, scratch("bounds", (size,))
    out = scratch("windows found", (most,), np.int64), scratch("bounds found", (most,))
    out += (scratch("moments found", (2, channels, most)),)
    for a, b in pieces(-(-most // size), size * channels * (m + len(order))):
        part = begin + a * size, min(begin + b * size, end)
        count = _candidates(p, query, windows, among, reach, order, ends, cutoff, *part, room, out, count)
    return out[0][:count], out[1][:count], out[2][:, :, :count]


@kernel
def _bound_windows(reached, windows, out):
    """Fill in the bounds of windows by their own points."""
    (low, high, w), (values, begins, scale, shift), lanes = reached, windows, np.empty(BOUND_LANES)
    whole = w.shape[1] - w.shape[1] % BOUND_LANES
    for at in range(out.shape[0]):
        out[at], total = 0.0, splat_bounds(0.0)
        for k in range(w.shape[0]):
            y, s, c = values[k, begins[at] :], scale[k, at], shift[k, at]
            for i in range(0, whole, BOUND_LANES):
                value = load_bounds(y, i) * s + c
                apart = value - _nearest(value, load_bounds(low[k], i), load_bounds(high[k], i))
                total = total + apart * apart * load_bounds(w[k], i)
            for i in range(whole, w.shape[1]):
                value = y[i] * s + c
                apart = value - _nearest(value, low[k, i], high[k, i])
                out[at] += apart * apart * w[k, i]
        store(lanes, 0, total)
        for lane in range(BOUND_LANES):
            out[at] += lanes[lane]


def bound_windows(reached, windows):
    """Return lower bounds of costs that are sums of squares, by the windows' own points.

    This bound sums over the points of the window, each compared with the nearest value of the query's envelope.
    `reached` (channels, m) are the lower and upper envelope of the query, and the minimum weight of the query points
    that each window point may be aligned with. `windows` are those of `compare`.
    """
    out = np.empty(len(windows[1]))
    _bound_windows(reached, windows, out)
    return out


@kernel
def _compare(query, windows, cells, cutoff, first, work, costs):
    """Compute the costs of windows from `first` on; return the window to resume from. See `compare`."""
    p, rows, weighted, points = query
    values, begins, scale, shift = windows
    channels, m = rows.shape[0], points.shape[1]
    room, block, gap_costs = work
    row, goes_on = room[0], room[2][0] > 0.0  # in the middle of a block
    for at in range(first, begins.shape[0], BOUND_LANES):
        size = min(BOUND_LANES, begins.shape[0] - at)
        side_by_side = size == BOUND_LANES and begins[at + size - 1] - begins[at] == BOUND_LANES - 1
        for k in range(0 if goes_on else channels):
            if side_by_side:
                s, c, v = load_bounds(scale[k], at), load_bounds(shift[k], at), values[k]
                for i in range(m):
                    store(block[k], (i + 1) * BOUND_LANES, load_bounds(v, begins[at] + i) * s + c)
                continue
            for s in range(BOUND_LANES):
                b = at + min(s, size - 1)
                v, u, c = values[k, begins[b] : begins[b] + m], scale[k, b], shift[k, b]
                for i in range(m):
                    block[k][(i + 1) * BOUND_LANES + s] = v[i] * u + c
        if not goes_on:
            batch.fill_gap_costs(p, block, gap_costs)
        reached = batch._accumulate(p, m, rows, weighted, points, block, gap_costs, cells, cutoff, room)
        if reached == batch.UNFINISHED:
            return at
        goes_on = False
        for s in range(size):
            cost = row[m * BOUND_LANES + s]
            costs[at + s] = cost if reached == batch.DONE and cost <= cutoff else INF
    return begins.shape[0]


def compare(query, windows, lo, hi, cutoff):
    """Return the accumulated costs of the query and windows of a sequence; infinite above the cutoff.

    `query` is (p, rows, weighted, points). `windows` is (values, begins, scale, shift): the sequence (channels, n), the
    starts of the windows in ascending order, and the numbers that normalize each window, (channels, n_windows).
    """
    p, rows, _, points = query
    m, size, at = points.shape[1], (points.shape[1] + 1) * BOUND_LANES, 0
    room, block = batch.room_for(m), channels_of(aligned_zeros(len(rows), size))
    work, costs = (room, block, aligned_zeros(size)), np.empty(len(windows[1]))
    cells = cells_of(p, lo, hi)
    for room[-1][0] in budgets():
        at = _compare(query, windows, cells, cutoff, at, work, costs)
        if at == len(costs):
            break
    return costs


EPS = 2.0**-52
LARGE, TINY = 1e280, 1e-280  # the error bounds of sums of squares hold between these two
FAR = 1e150  # far from all values, with a finite square
STEEP = 1e250  # a factor that makes the smallest difference large
MEAN, DEVIATION = 1, 2  # numbers of `SCALINGS`: by the mean, by mean and deviation; any other: by minimum and range


@inner
def _sums(y, sums):
    """Fill `sums` with running sums of deviations from the mean and of their squares; return the mean.

    ``sums[:2, k]`` are the sums over the first k samples. ``sums[2, k]`` is the number of equal samples that end with
    sample k.
    """
    n, total = y.shape[0], 0.0
    for k in range(n):
        total += y[k]
    mean = total / n
    sums[0, 0] = sums[1, 0] = 0.0
    for k in range(n):
        d = y[k] - mean
        sums[0, k + 1] = sums[0, k] + d
        sums[1, k + 1] = sums[1, k] + d * d
        sums[2, k] = sums[2, k - 1] + 1.0 if k > 0 and y[k] == y[k - 1] else 1.0
    return mean


@inner
def _of_moments(sums, n, ends, lengths, lanes):
    """Return the smallest and largest mean, the smallest and largest variance, and whether any subsequence is constant.

    Constant subsequences of the box do not count; if all are constant, the extremes are infinite. `ends` count from the
    first sample of the sums.
    """
    s, q, equal, constant = sums[0], sums[1], sums[2], False
    low, high, least, most = splat(INF), splat(-INF), splat(INF), splat(-INF)
    bottom, top, fewest, largest = INF, -INF, INF, -INF
    for length in range(lengths[0], lengths[1]):
        first, last, share = max(ends[0], length), min(ends[1], n + 1), 1.0 / length
        if last - first >= BATCH:
            for begin in range(first, last, BATCH):
                end = min(begin, last - BATCH)  # the last vector may overlap the one before it
                center = (load(s, end) - load(s, end - length)) * share
                square = (load(q, end) - load(q, end - length)) * share - center * center
                flat = load(equal, end - 1) >= splat(length)
                low, high = minimum(low, where(flat, INF, center)), maximum(high, where(flat, -INF, center))
                least, most = minimum(least, where(flat, INF, square)), maximum(most, where(flat, -INF, square))
                constant |= some(flat)
        else:
            for end in range(first, last):
                if equal[end - 1] >= length:
                    constant = True
                    continue
                middle = (s[end] - s[end - length]) * share
                spread = (q[end] - q[end - length]) * share - middle * middle
                bottom, top = min(bottom, middle), max(top, middle)
                fewest, largest = min(fewest, spread), max(largest, spread)
    for k, values in enumerate((low, high, least, most)):
        store(lanes, k * BATCH, values)
    for k in range(BATCH):
        bottom, top = min(bottom, lanes[k]), max(top, lanes[BATCH + k])
        fewest, largest = min(fewest, lanes[2 * BATCH + k]), max(largest, lanes[3 * BATCH + k])
    return bottom, top, fewest, largest, constant


@inner
def _of_extremes(y, sums, n, ends, lengths):
    """Return the smallest and largest minimum, the smallest and largest range, and whether any subsequence is constant.

    Constant subsequences of the box do not count; if all are constant, the extremes are infinite.
    """
    low, high, least, most, constant = INF, -INF, INF, -INF, False
    for end in range(ends[0], min(ends[1], n + 1)):
        bottom = top = y[end - 1]
        for length in range(1, min(lengths[1], end + 1)):
            start = end - length
            bottom, top = min(bottom, y[start]), max(top, y[start])
            if length < lengths[0]:
                continue
            if sums[2, end - 1] >= length:
                constant = True
                continue
            low, high = min(low, bottom), max(high, bottom)
            least, most = min(least, top - bottom), max(most, top - bottom)
    return low, high, least, most, constant


@inner
def _intervals(y, end, ends, lengths, scaling, room, low, high):
    """Fill `low` and `high` with the interval of normalized values of each sample of a box, in one channel.

    The subsequences of the box end at `end` and at the samples that follow it. Return whether the box has any.
    """
    first = end - lengths[1] + 1
    a, b = max(first, 0), min(first + low.shape[0], y.shape[0])
    fill(low, 0, low.shape[0], FAR)
    fill(high, 0, low.shape[0], FAR)
    if b - a < lengths[0]:
        return False
    v, (sums, lanes) = y[a:b], room
    n, mean = b - a, _sums(v, sums)
    own = end - a, end - a + ends
    total = sums[1, n]
    if scaling == MEAN or scaling == DEVIATION:
        c0, c1, s0, s1, constant = _of_moments(sums, n, own, lengths, lanes)
    else:
        c0, c1, s0, s1, constant = _of_extremes(v, sums, n, own, lengths)
        c0, c1 = c0 - mean, c1 - mean
    if c0 > c1 and not constant:
        return False
    below, above = low[a - first : b - first], high[a - first : b - first]
    if c0 > c1:  # all subsequences are constant and become zeros
        fill(below, 0, n, 0.0)
        fill(above, 0, n, 0.0)
        return True
    by_range = scaling != MEAN and scaling != DEVIATION
    if not TINY < total < LARGE or (by_range and s0 < TINY):
        fill(below, 0, n, -INF)
        fill(above, 0, n, INF)
        return True
    wrong = 8.0 * EPS * (n + 8.0) * np.sqrt(n * total)  # error bounds: of sums of deviations, then of their squares
    wrong_squares = 8.0 * EPS * (n + 8.0) * total
    c0, c1 = c0 - wrong / lengths[0], c1 + wrong / lengths[0]
    f0 = f1 = 1.0  # the factors
    if scaling == DEVIATION:
        doubt = (wrong_squares + 2.0 * max(abs(c0), abs(c1)) * wrong) / lengths[0]
        f0 = 1.0 / np.sqrt(s1 + doubt)
        f1 = 1.0 / np.sqrt(s0 - doubt) if s0 - doubt > TINY else STEEP
    elif by_range:
        f0, f1 = 1.0 / s1, 1.0 / s0
    more = 2.0**-40 * np.sqrt(total) * f1
    for j in range(n):
        d = v[j] - mean - c1
        below[j] = min(d * f0, d * f1) - more
    for j in range(n):
        d = v[j] - mean - c0
        above[j] = max(d * f0, d * f1) + more
    if constant:
        for j in range(n):
            below[j], above[j] = min(below[j], 0.0), max(above[j], 0.0)
    return True


@step
def _row(rows, weighted, k, i):
    return rows[k, 0, i], 0.0, 1.0 if weighted is None else rows[k, 2, i], 0.0


@step
def _sum(p, rows, weighted, k, i, low, high):
    """Return the term of query point i and the nearest value of its interval, in channel k."""
    row = _row(rows, weighted, k, i)
    return terms(p, row, minimum(maximum(row[0], low), high), 0.0)[0]


@step
def _cell(p, points, i, diagonal, left, up, a):
    cost = moves(p, (points[0, i], points[1, i], points[2, i]), 0.0, a, 0.0, 0.0, 0.0)[0]
    return accumulate(p, minimum(minimum(diagonal, left), up), cost)


@inner
def _sweep(p, i, m, rows, weighted, points, low, high, count, row):
    """Compute query points i to i + 3 over all samples; return the smallest cost of the last one, in each lane."""
    i1, i2, i3 = min(i + 1, m - 1), min(i + 2, m - 1), min(i + 3, m - 1)
    corner = load(row, 0)
    r0 = r1 = r2 = r3 = best = splat(INF)
    for j in range(count):
        at = (j + 1) * BATCH
        above, below, top = load(row, at), load(low[0], at), load(high[0], at)
        a0, a1 = _sum(p, rows, weighted, 0, i, below, top), _sum(p, rows, weighted, 0, i + 1, below, top)
        a2, a3 = _sum(p, rows, weighted, 0, i + 2, below, top), _sum(p, rows, weighted, 0, i + 3, below, top)
        for k in range(1, len(low)):
            below, top = load(low[k], at), load(high[k], at)
            a0 = a0 + _sum(p, rows, weighted, k, i, below, top)
            a1 = a1 + _sum(p, rows, weighted, k, i + 1, below, top)
            a2 = a2 + _sum(p, rows, weighted, k, i + 2, below, top)
            a3 = a3 + _sum(p, rows, weighted, k, i + 3, below, top)
        v0 = _cell(p, points, i, corner, r0, above, a0)
        v1 = _cell(p, points, i1, r0, r1, v0, a1)
        v2 = _cell(p, points, i2, r1, r2, v1, a2)
        v3 = _cell(p, points, i3, r2, r3, v2, a3)
        corner, r0, r1, r2, r3 = above, v0, v1, v2, v3
        if i + 3 < m:
            best = minimum(best, v3)
            store(row, at, v3)
        else:
            store(row, at, v0 if i + 1 == m else (v1 if i + 2 == m else v2))
    return best if i + 3 < m else splat(0.0)


@kernel
def _fill_bounds(p, rows, weighted, points, y, boxes, scaling, cutoff, begin, stop, room, out):
    """Fill in the bounds of the blocks [begin, stop), each of BATCH boxes; see `bounds`."""
    low, high, row, beside, rest = room
    at, ends, lengths = boxes
    m = points.shape[1]
    longest, count = lengths[1] - 1, ends + lengths[1] - 2
    for block in range(begin, stop):
        first, known = block * BATCH, False
        for s in range(BATCH):
            b = min(first + s, at.shape[0] - 1)
            some_range = True
            for k in range(y.shape[0]):
                some_range = _intervals(y[k], at[b], ends, lengths, scaling, rest, beside[0, k, s], beside[1, k, s])
            known |= some_range
            out[b] = 0.0 if some_range else INF
        for k in range(y.shape[0]):
            below, above = low[k], high[k]
            for j in range(count):
                for s in range(BATCH):
                    below[(j + 1) * BATCH + s] = beside[0, k, s, j]
                    above[(j + 1) * BATCH + s] = beside[1, k, s, j]
        starts = ends + lengths[1] - lengths[0] - 1  # number of samples at which a subsequence starts
        fill(row, 0, starts * BATCH, 0.0)
        fill(row, starts * BATCH, (count + 1) * BATCH, INF)
        i = 0
        while i < m and known:
            best = _sweep(p, i, m, rows, weighted, points, low, high, count, row)
            fill(row, 0, BATCH, INF)
            known = some(best <= cutoff)
            i += ROWS
        for s in range(min(BATCH, at.shape[0] - first)):
            least = INF
            for j in range(longest, longest + ends):
                if known and out[first + s] == 0.0:
                    least = min(least, row[j * BATCH + s])
            out[first + s] = least


def bounds(p, rows, weighted, points, y, boxes, scaling, cutoff):
    """Return a lower bound of the costs of the query and the subsequences of each box; infinite above the cutoff.

    Parameters
    ----------
    p, rows, weighted, points : tuple
        The query as `batch.padded` gives it: record, rows (channels, 4, m), whether it has weights, point costs.
    y : ndarray of shape (channels, n)
        The sequence.
    boxes : tuple
        End of the first subsequence of each box, int64 (k,); the number of ends per box; and the half-open range of
        lengths, common to all boxes. Subsequences that exceed the sequence do not count.
    scaling : int
        Normalization of each subsequence, a number of `SCALINGS`.
    cutoff : float
        Bounds above it are returned as infinity.

    Returns
    -------
    ndarray of shape (k,)
    """
    at, ends, lengths = boxes
    out, count = np.empty(len(at)), ends + lengths[1] - 2
    low, high = aligned(2, len(y), (count + 1) * BATCH)
    rest = np.empty((3, count + 1)), aligned(4 * BATCH)
    beside = np.empty((2, len(y), BATCH, count))
    room = channels_of(low), channels_of(high), aligned((count + 1) * BATCH), beside, rest
    for begin, stop in pieces(-(-len(at) // BATCH), BATCH * count * points.shape[1]):
        _fill_bounds(p, rows, weighted, points, y, boxes, scaling, cutoff, begin, stop, room, out)
    return out

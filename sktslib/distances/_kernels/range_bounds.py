"""Ranges of a sequence that may be near a query, each normalized by itself: lower bounds of many ranges at once.

A box holds the ranges that end at neighboring samples and have neighboring lengths. Their centers lie in an interval,
and so do their scales: the least and the largest of all ranges, wider by what the sums may be wrong by. So each sample
has an interval of normalized values, and the cheapest path of the query through these intervals, from any sample at
which a range of the box starts to any at which one ends, costs no more than the path of any range of the box. LANES
boxes stand side by side. The intervals of a box of one range are as narrow as rounding, and its bound is its cost but
for that.

Moves cost what the diagonal one does, which is at least so by `BoundFacts`; of the points before, none matters.
"""

import numpy as np

from .compilation import inner, kernel, pieces, step
from .dispatch import accumulate, minimum_cost, moves, terms
from .lanes import LANES, ROWS, load, splat
from .scratch import aligned
from .simd import maximum, minimum, where
from .simd_memory import channels_of, fill, some, store

INF = np.inf
EPS = 2.0**-52
LARGE, TINY = 1e280, 1e-280  # sums of squares between them have the digits that errors are reckoned with
FAR = 1e150  # a value that nothing is near, and whose square is a number
STEEP = 1e250  # a factor that makes something of every difference
MEAN, DEVIATION = 1, 2  # what the numbers of `SCALINGS` mean; any other: minimum and range


@inner
def _sums(y, sums):
    """Running sums of deviations from the mean and of their squares, and how many samples up to each are equal.

    ``sums[:2, k]`` are those of the first k samples, ``sums[2, k]`` is of the k-th one. Returns the mean.
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
    """Least and largest mean and variance of the ranges of a box that are not constant, and whether any is constant.

    Infinite where there is none. Ends count from the first sample.
    """
    s, q, equal, constant = sums[0], sums[1], sums[2], False
    low, high, least, most = splat(INF), splat(-INF), splat(INF), splat(-INF)
    bottom, top, fewest, largest = INF, -INF, INF, -INF
    for length in range(lengths[0], lengths[1]):
        first, last, share = max(ends[0], length), min(ends[1], n + 1), 1.0 / length
        if last - first >= LANES:
            for begin in range(first, last, LANES):
                end = min(begin, last - LANES)  # some twice
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
        store(lanes, k * LANES, values)
    for k in range(LANES):
        bottom, top = min(bottom, lanes[k]), max(top, lanes[LANES + k])
        fewest, largest = min(fewest, lanes[2 * LANES + k]), max(largest, lanes[3 * LANES + k])
    return bottom, top, fewest, largest, constant


@inner
def _of_extremes(y, sums, n, ends, lengths):
    """The same with minima as centers and ranges as scales."""
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
def _intervals(y, end, ends, lengths, how, room, low, high):
    """The intervals of the samples of a box, the ranges that end from `end` on; whether there is any range."""
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
    if how == MEAN or how == DEVIATION:
        c0, c1, s0, s1, constant = _of_moments(sums, n, own, lengths, lanes)
    else:
        c0, c1, s0, s1, constant = _of_extremes(v, sums, n, own, lengths)
        c0, c1 = c0 - mean, c1 - mean
    if c0 > c1 and not constant:
        return False
    below, above = low[a - first : b - first], high[a - first : b - first]
    if c0 > c1:  # constant ranges become zeros
        fill(below, 0, n, 0.0)
        fill(above, 0, n, 0.0)
        return True
    by_range = how != MEAN and how != DEVIATION
    if not TINY < total < LARGE or (by_range and s0 < TINY):
        fill(below, 0, n, -INF)
        fill(above, 0, n, INF)
        return True
    wrong = 8.0 * EPS * (n + 8.0) * np.sqrt(n * total)  # of sums of deviations; of their squares it is less than
    wrong_squares = 8.0 * EPS * (n + 8.0) * total
    c0, c1 = c0 - wrong / lengths[0], c1 + wrong / lengths[0]
    f0 = f1 = 1.0  # the factors
    if how == DEVIATION:
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
    """What the query point adds with the nearest value of an interval."""
    row = _row(rows, weighted, k, i)
    return terms(p, row, minimum(maximum(row[0], low), high), 0.0)[0]


@step
def _cell(p, points, i, diagonal, left, up, a):
    cost = moves(p, (points[0, i], points[1, i], points[2, i]), 0.0, a, 0.0, 0.0, 0.0)[0]
    return accumulate(p, minimum_cost(p, minimum(diagonal, left), up), cost)


@inner
def _sweep(p, i, m, rows, weighted, points, low, high, count, row):
    """Four query points from i on over all samples; the least cost of the last of them."""
    i1, i2, i3 = min(i + 1, m - 1), min(i + 2, m - 1), min(i + 3, m - 1)
    corner = load(row, 0)
    r0 = r1 = r2 = r3 = best = splat(INF)
    for j in range(count):
        at = (j + 1) * LANES
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
def _fill_bounds(p, rows, weighted, points, y, boxes, how, cutoff, begin, stop, room, out):
    """Blocks of LANES boxes from `begin` to `stop`, see `bounds`."""
    low, high, row, beside, rest = room
    at, ends, lengths = boxes
    m = points.shape[1]
    longest, count = lengths[1] - 1, ends + lengths[1] - 2
    for block in range(begin, stop):
        first, known = block * LANES, False
        for s in range(LANES):
            b = min(first + s, at.shape[0] - 1)
            some_range = True
            for k in range(y.shape[0]):
                some_range = _intervals(y[k], at[b], ends, lengths, how, rest, beside[0, k, s], beside[1, k, s])
            known |= some_range
            out[b] = 0.0 if some_range else INF
        for k in range(y.shape[0]):
            below, above = low[k], high[k]
            for j in range(count):
                for s in range(LANES):
                    below[(j + 1) * LANES + s] = beside[0, k, s, j]
                    above[(j + 1) * LANES + s] = beside[1, k, s, j]
        starts = ends + lengths[1] - lengths[0] - 1  # samples at which a range starts
        fill(row, 0, starts * LANES, 0.0)
        fill(row, starts * LANES, (count + 1) * LANES, INF)
        i = 0
        while i < m and known:
            best = _sweep(p, i, m, rows, weighted, points, low, high, count, row)
            fill(row, 0, LANES, INF)
            known = some(best <= cutoff)
            i += ROWS
        for s in range(min(LANES, at.shape[0] - first)):
            least = INF
            for j in range(longest, longest + ends):
                if known and out[first + s] == 0.0:
                    least = min(least, row[j * LANES + s])
            out[first + s] = least


def bounds(p, rows, weighted, points, y, boxes, how, cutoff):
    """What the ranges of each box cost at least with the query; infinite where all do more than the cutoff.

    Parameters
    ----------
    p, rows, weighted, points : tuple
        The query as `lanes.padded` gives it: record, rows (channels, 4, m), whether it has weights, point costs.
    y : ndarray of shape (channels, n)
    boxes : tuple
        Where the first range of each box ends, int64 (k,); at how many samples ranges end; the half-open range of
        their lengths, the same for all. Ranges that do not lie in the sequence are none.
    how : int
        How ranges are normalized, by `SCALINGS`.
    cutoff : float
    """
    at, ends, lengths = boxes
    out, count = np.empty(len(at)), ends + lengths[1] - 2
    low, high = aligned(2, len(y), (count + 1) * LANES)
    rest = np.empty((3, count + 1)), aligned(4 * LANES)
    beside = np.empty((2, len(y), LANES, count))
    room = channels_of(low), channels_of(high), aligned((count + 1) * LANES), beside, rest
    for begin, stop in pieces(-(-len(at) // LANES), LANES * count * points.shape[1]):
        _fill_bounds(p, rows, weighted, points, y, boxes, how, cutoff, begin, stop, room, out)
    return out

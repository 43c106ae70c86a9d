"""The plain drivers of all recurrences, column by column, and the traceback of segmentations.

They support times, and can record costs and moves; in a search each cell carries the start of its path.

Layout: a series is ``(channels, length)``. The outer loop runs over the series and the inner one over the query, so a
driver keeps one column of ``m + 1`` costs whatever the length of the series.

For dynamic time warping of two series of one channel they compute:

>>> def dtw(x, y):
...     column = [0.0] + [INF] * len(x)  # the boundary before the first point of the series
...     for value in y:
...         diagonal, column[0] = column[0], INF
...         for i in range(len(x)):
...             before = column[i + 1]  # cost of this query point and the previous series point
...             cost = (x[i] - value) ** 2
...             column[i + 1] = min(diagonal, column[i], before) + cost
...             diagonal = before
...     return column[-1]
>>> dtw([0, 1, 2, 3], [3, 2, 1, 0])
20.0

The other recurrences differ in their boundary and in the costs of the three moves. The reference implementation is as
plain: ``fill`` in ``tests/naive/warping.py`` with the costs in ``tests/naive/moves.py``.

The traceback of a segmentation finds the segments of the cheapest segmentation, and how much of it is decided. Rows of
``best`` (n + 1, k + 1) are boundaries between samples, rows of ``begin`` (n, k) are samples, and ``base`` is the number
that `begin` uses for the boundary of row 0. A node is a boundary with the label of the segment, or background sample,
that ends there. Among equal costs a segment is preferred to background, and the first query to the others.
"""

from typing import NamedTuple

import numpy as np

from .compile import budgets, inner, kernel, pieces, step
from .dispatch import (
    accumulate,
    add_terms,
    closed_boundary,
    equal_moves,
    equal_moves_in_search,
    gap,
    gap_terms,
    lag_cost,
    matched_pair,
    moves,
    n_sums,
    terms,
)
from .simd import copy, fill

INF = np.inf
ENDLESS = 2**40  # longer than any series, yet no overflow
# Placeholders if nothing is to be recorded, of the type of a record, so that a driver is compiled once.
NO_MOVES = np.empty((0, 0), np.uint8)
NO_COSTS = np.empty((0, 0))


@inner
def series_gap(p, y, ty, j):
    """Return the gap cost of series point j."""
    total = 0.0
    for k in range(y.shape[0]):
        total += gap_terms(p, y[k, j], y[k, j - 1] if j > 0 else 0.0)
    step = 1.0 if ty is None or j == 0 else ty[j] - ty[j - 1]
    return gap(p, total, step)


@inner
def _ground_column(p, rows, y, j, lo, hi, ground):
    """ground[:, lo:hi] = terms of the query points [lo, hi) and series point j, summed over the channels."""
    a, b, c = ground[0], ground[1], ground[2]
    if rows is None:  # y (n, m) already holds local costs
        for i in range(lo, hi):
            a[i] = y[j, i]
        return
    for k in range(rows.shape[0]):
        v, v_before = y[k, j], (y[k, j - 1] if j > 0 else 0.0)
        r0, r1, r2, r3 = rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3]
        for i in range(lo, hi):
            of_point = r0[i], r1[i], r2[i], r3[i]
            t = terms(p, of_point, v, v_before) if k == 0 else add_terms(p, (a[i], b[i], c[i]), of_point, v, v_before)
            a[i] = t[0]
            if n_sums(p) > 1:
                b[i] = t[1]
            if n_sums(p) > 2:
                c[i] = t[2]


@step
def _begin(start):
    """Return the sample at which a path starts; a carried start of ~sample means that it has no matched pair yet."""
    return start if start >= 0 else ~start


@step
def _lags(tx, ty, i, j, begin):
    """Return the time lag of points i and j in a candidate that starts at `begin`, and that of the preceding points."""
    begin = min(begin, j)  # a path that only skips query points starts after j; it has no lag
    if tx is None:
        lag = float(abs(i - (j - begin)))
        return lag, (lag if i > 0 else 0.0)
    lag = abs(tx[i] - (ty[j] - ty[begin]))
    return lag, (abs(tx[i - 1] - (ty[j - 1] - ty[begin])) if i > 0 else 0.0)


@step
def _lags_fixed(tx, ty, i, j):
    """Return the time lag of points i and j of two whole series, and that of the preceding points.

    The time of the point before the first one is 0.
    """
    if tx is None:
        lag = float(abs(i - j))
        return lag, (lag if i > 0 and j > 0 else 0.0)
    before = abs((tx[i - 1] if i > 0 else 0.0) - (ty[j - 1] if j > 0 else 0.0))
    return abs(tx[i] - ty[j]), before


@inner
def _advance(p, rows, points, y, tx, ty, j, at, lo, hi, radius, top, col, start, ground, taken):
    """Advance the column of accumulated costs from point j - 1 to point j of `y`, which is sample `at` of the sequence.

    `col[0]` is the boundary of the old column and becomes `top`. With `start` (not None) each cell carries the sample
    at which its path starts, and lags count from there. `taken[j, i]` records the move: 0 diagonal, 1 query, 2 series;
    an empty array records nothing.
    """
    _ground_column(p, rows, y, j, lo, hi, ground)
    gap_cost = 0.0 if rows is None else series_gap(p, y, ty, j)
    diag = col[lo]
    above = INF if (lo > 0 or closed_boundary(p)) else top
    col[lo] = top if lo == 0 else INF
    s_diag = s_left = s_above = 0
    if start is not None:
        s_diag = start[lo]
        s_above = at + 1 if closed_boundary(p) else ~(at + 1)
        start[0] = s_above
    for i in range(lo, hi):
        left = col[i + 1]
        a, b, c = ground[0, i], ground[1, i], ground[2, i]
        here = points[0, i], points[1, i], points[2, i]
        by_both, by_query, by_series = diag, above, left
        if start is None:
            lag, lag_before = _lags_fixed(tx, ty, i, j)
            d, u, v = moves(p, here, lag_cost(p, lag, lag_before), a, b, c, gap_cost)
        else:
            # The path of each predecessor has its own start, and so its own lag.
            s_left = start[i + 1]
            b_diag, b_above, b_left = _begin(s_diag), _begin(s_above), _begin(s_left)
            lag, lag_before = _lags(tx, ty, i, j, b_diag - at + j)
            d = moves(p, here, lag_cost(p, lag, lag_before), a, b, c, gap_cost)[0]
            lag, lag_before = _lags(tx, ty, i, j, b_above - at + j)
            u = moves(p, here, lag_cost(p, lag, lag_before), a, b, c, gap_cost)[1]
            lag, lag_before = _lags(tx, ty, i, j, b_left - at + j)
            v = moves(p, here, lag_cost(p, lag, lag_before), a, b, c, gap_cost)[2]
            if radius is not None:  # an infinite cost stays infinite under a sum or a maximum
                if abs(i - (at - b_diag)) > radius:
                    by_both = INF
                if abs(i - (at - b_above)) > radius:
                    by_query = INF
                if abs(i - (at - b_left)) > radius:
                    by_series = INF
            if not closed_boundary(p) and matched_pair(p, a):
                s_diag = b_diag
        alike = equal_moves(p) if start is None else equal_moves_in_search(p)
        if not alike:
            by_both, by_query, by_series = (
                accumulate(p, by_both, d),
                accumulate(p, by_query, u),
                accumulate(p, by_series, v),
            )
        best, move, s = by_both, 0, s_diag
        if by_query < best:
            best, move, s = by_query, 1, s_above
        if by_series < best:
            best, move, s = by_series, 2, s_left
        best = accumulate(p, best, d) if alike else best
        diag, above = left, best
        col[i + 1] = best
        if start is not None:
            s_diag, s_above = s_left, s
            start[i + 1] = s
        if taken.size:
            taken[j, i] = move


# ------------------------------------------------------------------------------------------------------------ drivers
@kernel
def _fill_gaps(p, y, ty, out):
    for j in range(out.shape[0]):
        out[j] = series_gap(p, y, ty, j)


def series_gaps(p, y, ty):
    """Return the gap costs (n,) of the points of a series."""
    out = np.empty(y.shape[1])
    _fill_gaps(p, y, ty, out)
    return out


def boundary(p, points, y, ty, n, begin, start):
    """Return the boundary costs of two whole series: (n + 1,) along the series, (m + 1,) along the query.

    Up to `begin` query points and `start` series points may be skipped at the start, at no cost.
    """
    top, side = np.full(n + 1, INF), np.full(points.shape[1] + 1, INF)
    top[: start + 1], side[: begin + 1] = 0.0, 0.0
    if not closed_boundary(p):
        top[1:], side[1:] = np.cumsum(series_gaps(p, y, ty)), np.cumsum(points[0])
    return top, side


@kernel
def _accumulate(p, rows, points, y, tx, ty, lo, hi, top, begin, end, col, bottom, ground, matrix, taken):
    """Compute the columns [begin, end) of the cost matrix of two whole series; see `accumulated_costs`."""
    n, m = bottom.shape[0], col.shape[0] - 1
    for j in range(begin, end):
        if j > 0:  # cells that enter the band now still hold the boundary of column 0
            fill(col, hi[j - 1] + 1, hi[j] + 1, INF)
        _advance(p, rows, points, y, tx, ty, j, j, lo[j], hi[j], None, top[j + 1], col, None, ground, taken)
        if matrix.size:
            for i in range(lo[j], hi[j]):
                matrix[j, i] = col[i + 1]
        bottom[j] = col[m] if hi[j] == m else INF
    if end == n:
        fill(col, 1, lo[n - 1] + 1, INF)  # cells that left the band still hold older columns


class Cells(NamedTuple):
    """The cells of a band as half-open ranges, and the ends of the boundary along the ranges and across them."""

    first: np.ndarray
    last: np.ndarray
    along_end: int
    across_end: int


def cells_of(record, lo, hi):
    """Return the cells that paths within a band need.

    If points may be skipped anywhere (open boundary), the band restricts diagonal moves only. The cells then include
    those from which a diagonal move leads into the band. A path reaches these by skipping points, never diagonally,
    because their own diagonal predecessors are not among the cells. Therefore the boundary has to end with the band if
    such cells follow; further points are skipped in the cells of the first point.
    """
    if not len(lo) or closed_boundary(record):
        return Cells(lo, hi, ENDLESS, ENDLESS)
    first, last = lo.copy(), hi.copy()
    first[:-1] = np.maximum(np.minimum(lo[:-1], lo[1:] - 1), 0)
    last[:-1] = np.maximum(hi[:-1], hi[1:] - 1)
    inside, within = (int(np.cumprod(a == 0).sum()) for a in (lo, first))
    return Cells(first, last, inside if inside < within else ENDLESS, int(hi[0]) if last[0] > hi[0] else ENDLESS)


def accumulated_costs(p, rows, points, y, tx, ty, lo, hi, top, side, matrix, taken):
    """Return the last row (n,) and last column (m + 1,) of the accumulated costs of two whole series.

    Query point i and series point j may be paired for lo[j] <= i < hi[j]. `top` (n + 1,) and `side` (m + 1,) are the
    boundary. Fills `matrix` (costs) and `taken` (moves), both (n, m), unless they are empty. Memory without them:
    O(m + n).
    """
    n, m = len(top) - 1, len(side) - 1
    lo, hi, along_end, across_end = cells_of(p, lo, hi)
    top, col = top.copy(), side.copy()
    top[along_end:], col[across_end:] = INF, INF
    bottom, ground = np.empty(n), np.zeros((3, m))
    for begin, end in pieces(n, m):
        _accumulate(p, rows, points, y, tx, ty, lo, hi, top, begin, end, col, bottom, ground, matrix, taken)
    return bottom, col


@kernel
def _subsequence_profile(pair, first, offset, limits, state, distance, begin, matrix):
    p, rows, points, y, tx, ty = pair
    (radius, shortest, longest), (col, start, ground) = limits, state
    m = col.shape[0] - 1
    nothing = np.empty((0, 0), np.uint8)
    for k in range(distance.shape[0]):
        at = offset + k
        _advance(p, rows, points, y, tx, ty, first + k, at, 0, m, radius, 0.0, col, start, ground, nothing)
        length = at + 1 - start[m]
        if col[m] < INF and start[m] >= 0 and length >= shortest and length <= longest:
            distance[k], begin[k] = col[m], start[m]
        else:
            distance[k], begin[k] = INF, -1
        if matrix.size:
            copy(col, 1, m + 1, matrix[k], 0)


def subsequence_profile(pair, first, offset, limits, state, distance, begin, matrix):
    """Compute the subsequence profile: cost and start of the best candidate that ends at each sample.

    `pair` is (p, rows, points, y, tx, ty). The `state` (costs and starts of a column, and a buffer (3, m)) is updated
    for the next chunk. Column `first` of `y` is sample `offset` of the sequence. `limits` are the radius of the band,
    and the shortest and longest length of a candidate in samples. Without a candidate, cost and start are inf and -1.
    """
    for a, b in pieces(len(distance), len(state[0])):
        _subsequence_profile(pair, first + a, offset + a, limits, state, distance[a:b], begin[a:b], matrix[a:b])


@kernel
def _backtrack(taken, i, j, path, steps):
    """Fill path (2, K) and moves (K,) from the end; return the index of the first entry."""
    k = steps.shape[0]
    while i >= 0 and j >= 0:
        k -= 1
        path[0, k], path[1, k] = i, j
        move = taken[j, i]
        steps[k] = move
        if move != 2:
            i -= 1
        if move != 1:
            j -= 1
    return k


def backtrack(taken, i, j):
    """Return the path (2, K) that ends with query point i and series point j, and its moves (K,)."""
    path, steps = np.empty((2, i + j + 1), np.intp), np.empty(i + j + 1, np.uint8)
    k = _backtrack(taken, i, j, path, steps)
    return path[:, k:].copy(), steps[k:]


@kernel(keep=False)  # a function of the user is compiled into it
def fill_costs(dist, x, y, begin, end, out):
    """out[j, i] = dist(x[i], y[j]) for begin <= j < end."""
    for j in range(begin, end):
        for i in range(out.shape[1]):
            out[j, i] = dist(x[i], y[j])


@kernel
def oldest_start(costs, reported, start, limit):
    """Return the earliest start of the paths with a finite cost and a reported cost of at most the limit.

    A start of ~sample means that the path has no matched pair yet.
    """
    first = 2**62
    for i in range(len(costs)):
        if costs[i] < np.inf and reported[i] <= limit:
            first = min(first, start[i] if start[i] >= 0 else ~start[i])
    return first


ROOM = 4096  # segments that are traced back at a time


@kernel
def before(best, j, transitions, after):
    """Return the label that ends at boundary j in the cheapest segmentation that continues with label `after`.

    -1: it ends there.
    """
    label, cheapest = 0, INF
    for c in range(best.shape[1] - 1, -1, -1):
        total = best[j, c] + (transitions[c, after] if after >= 0 else 0.0)
        if total < cheapest or (total == cheapest < INF and c > 0):
            label, cheapest = c, total
    return label


@kernel
def boundary_of_node(begin, base, j, label):
    """Return the boundary at which the segment, or background sample, of a node starts.

    It is negative if that is before row 0.
    """
    return j - 1 if label == 0 else np.int64(begin[j - 1, label - 1]) - base


@kernel
def previous(best, begin, transitions, base, j, label):
    """Return the node that precedes a node in the cheapest segmentation."""
    s = boundary_of_node(begin, base, j, label)
    return s, before(best, s, transitions, label)


@kernel
def _trace(best, begin, transitions, base, fresh, j, label, steps, found, cost):
    """Fill in the segments before a node, last one first; return their number and the node reached.

    Stops after `steps` nodes, or when `found` and `cost` are full.
    """
    count = 0
    while j > 0 and steps > 0 and count < cost.shape[0]:
        s, c, paid = boundary_of_node(begin, base, j, label), 0, 0.0
        if s >= 0:
            c = before(best, s, transitions, label)
        if label > 0:
            if s >= 0:
                paid = best[s, c] + (0.0 if fresh and s == 0 else transitions[c, label])
            found[0, count], found[1, count], found[2, count] = label, s, j
            cost[count] = best[j, label] - paid
            count += 1
        j, label = s, c
        steps -= 1
    return count, j, label


def trace(best, begin, transitions, base, fresh, j, label):
    """Return labels, starts, ends and costs of the segments that lead to a node, in order, and the label at row 0.

    Starts and ends count from row 0. `fresh` means that nothing precedes row 0, so the first segment has no transition
    cost. If the first segment starts before row 0, its cost is that of everything up to its end, and the label at row 0
    is 0.
    """
    found, cost, parts = np.empty((3, ROOM), np.int64), np.empty(ROOM), []
    for budget in budgets():
        count, j, label = _trace(best, begin, transitions, base, fresh, j, label, budget, found, cost)
        parts.append((found[:, :count].copy(), cost[:count].copy()))
        if j <= 0:
            break
    found, cost = (np.concatenate(a, axis=-1)[..., ::-1] for a in zip(*parts, strict=True))
    return *found, cost, label


def agreed(best, begin, transitions, base, unknown, start, label, cost):
    """Return the last node that all segmentations that are still possible have in common.

    These are the segmentations that end at the last boundary or continue from there, and those of unfinished paths of
    finite `cost`, in the queries `label`, from the boundaries `start` on. Paths that start before row 0 belong to
    segmentations that were discarded, unless what precedes row 0 is `unknown`.
    """
    return _agreed(best, begin, transitions, base, unknown, start, label, cost, np.zeros(best.shape, bool))


@kernel
def _agreed(best, begin, transitions, base, unknown, start, label, cost, live):
    n, width, count = best.shape[0] - 1, best.shape[1], 0
    for i in range(-1 - width, start.shape[0]):
        if i < 0:  # continuing costs a transition, ending (-1) does not
            s, c = n, before(best, n, transitions, i + width)
        elif not cost[i] < INF:
            continue
        else:
            s = np.int64(start[i]) - base
            if s < 0 and unknown:
                return 0, 0
            if s < 0:
                continue
            c = before(best, s, transitions, label[i])
        if not live[s, c]:
            count += 1
        live[s, c] = True
    for j in range(n, -1, -1):
        for a in range(width):
            if live[j, a]:
                if count == 1 or j == 0:
                    return j, a
                s = boundary_of_node(begin, base, j, a)
                if s < 0:
                    return 0, 0
                c = before(best, s, transitions, a)
                if live[s, c]:
                    count -= 1
                live[s, c] = True
    return 0, 0


@kernel
def likeliest(best, begin, transitions, base, limit):
    """Return the last node, at or before boundary `limit`, of the segmentation that is cheapest if background follows.

    A continuation with background always exists, whatever the transitions forbid.
    """
    j = best.shape[0] - 1
    label = before(best, j, transitions, 0)
    while j > limit:
        j, label = previous(best, begin, transitions, base, j, label)
    return j, label


@kernel
def _through(best, begin, transitions, base, j, first, last, out):
    for t in range(first, last):
        for a in range(best.shape[1]):
            if best[t, a] < INF:
                s = boundary_of_node(begin, base, t, a)
                out[t, a] = s >= j and out[s, before(best, s, transitions, a)]


def through(best, begin, transitions, base, j, label, limit):
    """Return a mask of the nodes whose cheapest segmentation passes the node (j, label) and no later one up to `limit`.

    The mask (n + 1, k + 1) is True for all nodes before boundary j, too.
    """
    out, first = np.zeros(best.shape, np.bool_), max(j, limit) + 1
    out[:j], out[j, label] = True, True
    for a, b in pieces(len(best) - first, best.shape[1]):
        _through(best, begin, transitions, base, j, first + a, first + b, out)
    return out

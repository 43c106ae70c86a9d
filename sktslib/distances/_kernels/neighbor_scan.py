"""Queries against many series by lanes, under the cutoff that the nearest ones so far give."""

import numpy as np

from . import lanes as lanes_kernels
from .columns import cells_of
from .compilation import inner, kernel
from .lanes import DONE, LANES, UNFINISHED
from .pieces import budgets
from .simd_memory import fill

INF = np.inf


@inner
def _beside(values, begins, lengths, block, size, lanes):
    """Put the first `size` series of the block side by side, each behind a pad; the last one fills what is left."""
    at, shortest = np.empty(LANES, np.int64), lanes.shape[1]
    for k in range(lanes.shape[0]):
        for s in range(LANES):
            b = block[min(s, size - 1)]
            at[s], shortest = begins[b] + k * lengths[b], min(shortest, lengths[b])
        for j in range(shortest):
            for s in range(LANES):
                lanes[k, (j + 1) * LANES + s] = values[at[s] + j]
        for s in range(LANES):
            b = block[min(s, size - 1)]
            for j in range(shortest, lengths[b]):
                lanes[k, (j + 1) * LANES + s] = values[at[s] + j]
            for to in range((lengths[b] + 1) * LANES + s, lanes.shape[1], LANES):
                lanes[k, to] = 0.0


@inner
def _insert(best, cost):
    """Put a cost among the least ones, in place of the largest."""
    k = best.shape[0] - 1
    while k > 0 and best[k - 1] > cost:
        best[k] = best[k - 1]
        k -= 1
    best[k] = cost


@kernel
def _go_on(
    p, rows, weighted, points, values, begins, lengths, order, itself, bounds, cells, limits, share, more, work, costs
):
    """Queries from counts[0] on, see `scan`; whether all are done."""
    room, lanes, prices, best, block, counts = work
    row, k = room[0], best.shape[0]
    goes_on = room[2][0] > 0.0  # in the middle of a block
    for q in range(counts[0], order.shape[0]):
        if not goes_on:
            fill(best, 0, k, INF)
            counts[1] = 0
        while goes_on or counts[1] < order.shape[1]:
            cutoff = min(limits[q], best[k - 1] * (1.0 + share) + more)
            if not goes_on:
                size, at = 0, counts[1]
                while at < order.shape[1] and size < LANES:
                    candidate = order[q, at]
                    at += 1
                    if candidate == itself[q]:
                        continue
                    if bounds[q, candidate] <= cutoff:
                        block[size] = candidate
                        size += 1
                    else:
                        counts[3] += 1
                counts[1], counts[2] = at, size
                if size == 0:
                    break
                _beside(values, begins, lengths, block, size, lanes)
                lanes_kernels._price(p, lanes, prices)
            reached = lanes_kernels._accumulate(
                p, rows[q], weighted, points[q], lanes, prices, cells, cutoff, None, room
            )
            if reached == UNFINISHED:
                counts[0] = q
                return False
            goes_on = False
            for s in range(counts[2]):
                cost = row[lengths[block[s]] * LANES + s]
                if reached == DONE and cost <= cutoff:
                    costs[q, block[s]] = cost
                    counts[5] += 1
                    if cost < best[k - 1]:
                        _insert(best, cost)
                else:
                    counts[4] += 1
    return True


def scan(
    p, rows, weighted, points, values, begins, lengths, order, itself, bounds, n, lo, hi, limits, k, share, more, costs
):
    """Accumulated costs of queries with the series order[query], in that order, infinite where they do not matter.

    The series, of up to n points, stand one after the other in `values`; a query's own, if any, is `itself`. What
    matters is at most the query's limit, and at most its k-th least cost, raised by a `share` of it and by `more`,
    for which rounding may ask. Returns how many were passed over for their bounds, begun and given up, and
    computed.
    """
    room, size = lanes_kernels.room_for(n), (n + 1) * LANES
    # The query, its next candidate and the size of its block; then what became of the candidates.
    counts = np.zeros(6, np.int64)
    work = room, np.zeros((rows.shape[1], size)), np.zeros(size), np.empty(k), np.empty(LANES, np.int64), counts
    pair, how = (p, rows, weighted, points, values, begins, lengths, order, itself, bounds), (share, more)
    cells = cells_of(p, lo, hi)
    for room[-1][0] in budgets():
        if _go_on(*pair, cells, limits, *how, work, costs):
            return counts[3:]

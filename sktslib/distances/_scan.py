"""Queries against many series by lanes, under the cutoff that the nearest ones so far give.

Kernels are made by a function that is given the hash of the files they take functions from, because numba's disk cache
looks at this file alone.
"""

import numpy as np
from numba import njit

from . import _lanes
from ._compiled import inner, version_of
from ._lanes import LANES
from ._vector_memory import fill

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


def _make(version):
    """Compile lazily, once per version of the files that functions are taken from."""

    @njit(cache=True, nogil=True)
    def scan(
        p,
        rows,
        weighted,
        points,
        values,
        begins,
        lengths,
        order,
        itself,
        bounds,
        n,
        lo,
        hi,
        limits,
        k,
        share,
        more,
        costs,
    ):
        """Accumulated costs of queries with the series order[query], in that order, infinite where they do not matter.

        The series, of up to n points, stand one after the other in `values`; a query's own, if any, is `itself`. What
        matters is at most the query's limit, and at most its k-th least cost, raised by a `share` of it and by `more`,
        for which rounding may ask. Returns how many were passed over for their bounds, begun and given up, and
        computed.
        """
        lanes, prices = np.zeros((rows.shape[1], (n + 1) * LANES)), np.zeros((n + 1) * LANES)
        row, best, block = np.empty((n + 1) * LANES), np.empty(k), np.empty(LANES, np.int64)
        bounded = abandoned = computed = 0
        for q in range(order.shape[0] if version else 0):  # what the closure holds is a part of the cache's key
            fill(best, 0, k, INF)
            at = 0
            while at < order.shape[1]:
                cutoff = min(limits[q], best[k - 1] * (1.0 + share) + more)
                size = 0
                while at < order.shape[1] and size < LANES:
                    candidate = order[q, at]
                    at += 1
                    if candidate == itself[q]:
                        continue
                    if bounds[q, candidate] <= cutoff:
                        block[size] = candidate
                        size += 1
                    else:
                        bounded += 1
                if size == 0:
                    break
                _beside(values, begins, lengths, block, size, lanes)
                _lanes._price(p, lanes, prices)
                reached = _lanes._accumulate(p, rows[q], weighted, points[q], lanes, prices, lo, hi, cutoff, None, row)
                for s in range(size):
                    cost = row[lengths[block[s]] * LANES + s]
                    if reached and cost <= cutoff:
                        costs[q, block[s]] = cost
                        computed += 1
                        if cost < best[k - 1]:
                            _insert(best, cost)
                    else:
                        abandoned += 1
        return bounded, abandoned, computed

    return scan


scan = _make(version_of(_lanes))

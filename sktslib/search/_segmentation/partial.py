"""Repetitions that an end of the series cuts off: paths that start or end within a query, at no cost.

At least half of the query's points must be observed. A path that starts at point i of its query has the start -i, as if
the points before it lay before the series, so bounds of the length hold for the whole repetition.
"""

import numpy as np

from ...distances._kernels.dispatch import closed_boundary


def halves(first):
    """For each query the number of its points, and how many of them may be missing."""
    m = np.diff(first)
    return zip(first[:-1].tolist(), m.tolist(), (m // 2).tolist(), strict=True)


def open_begin(state, queries, at=0):
    """Let paths start within the queries before the first sample `at`; changes `state`, see `one_pass.advance`."""
    for q, (a, m, unseen) in enumerate(halves(queries.first)):
        state[0, a : a + unseen] = 0.0
        state[1, a : a + unseen] = at - np.arange(1.0, unseen + 1)
        record = queries.p if hasattr(queries.p, "_fields") else queries.p[q]
        if not closed_boundary(record):  # where points may be skipped, more of them for their gap cost
            state[0, a + unseen : a + m] = np.cumsum(queries.points[0, a + unseen : a + m])
            state[1, a + unseen : a + m] = at - unseen


def open_end(state, first, n, best, begin, shortest, longest):
    """Let paths end within the queries after the last of n samples, where that is cheaper; changes the last row.

    ``best`` is (k + 1,) and ``begin`` (k,). Returns for each query how many of its points its last segment covers.
    """
    shown = np.diff(first)
    for q, (a, m, unseen) in enumerate(halves(first)):
        cost, start = state[0, a : a + m - 1], state[1, a : a + m - 1]
        missing = np.arange(m - 1, 0, -1)
        length = n + missing - start
        hidden = missing + np.maximum(-start, 0)
        allowed = (hidden <= unseen) & (length >= shortest[q]) & (length <= longest[q]) & (start < n)
        cost = np.where(allowed, cost, np.inf)
        if m > 1 and cost.min() < best[q + 1]:
            i = int(np.argmin(cost))
            best[q + 1], begin[q], shown[q] = cost[i], start[i], i + 1
    return shown

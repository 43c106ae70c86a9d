"""Cheapest tilings of a series by repetitions of queries and background, in one pass (Ney 1984).

The recurrences are those of `_recurrences`. Along the series goes one column of accumulated costs a query; a path may
enter a query at any boundary between samples, at the cost of the cheapest tiling up to there. Labels: 0 background,
1..k the queries; ``transitions[a, b]`` is what it costs that b follows a.

Layout: the points of all queries stand one behind the other, those of query q at ``first[q]:first[q + 1]``; the series
is ``(channels, (n + 1) * lanes)``, its first sample the one before the series, 0 if there is none. The lanes are
stretches of one series side by side; with one lane vectors are floats. Kernels are made by a function that is given the
hash of the files they take functions from, because numba's disk cache looks at this file alone.
"""

import numpy as np
from numba import njit, types
from numba.extending import overload

from ._compiled import inner, version_of
from ._recurrence import closed_border, gap, gap_terms, join, late, moves, terms
from ._vector import REGISTER, smaller, where
from ._vector_memory import makers, store

INF = np.inf
LANES = 2 * REGISTER


def _of(p, q):
    """The record of a query: one for all, or one each."""
    return p if hasattr(p, "_fields") else p[q]


@overload(_of, jit_options={"forceinline": True})
def _overload_of(p, q):
    return (lambda p, q: p[q]) if isinstance(p, types.UniTuple) else (lambda p, q: p)


def _make(version, lanes):
    """Compile lazily, once per version of the files that functions are taken from."""
    load, splat, _ = makers(lanes, fused=False)

    @inner
    def summed(p, rows, Y, t, i):
        """The terms of query point i and sample t, summed over the channels."""
        at = (t + 1) * lanes
        r = rows[0]
        a, b, c = terms(p, (r[0, i], r[1, i], r[2, i], r[3, i]), load(Y[0], at), load(Y[0], at - lanes))
        for k in range(1, rows.shape[0]):
            r = rows[k]
            e, f, g = terms(p, (r[0, i], r[1, i], r[2, i], r[3, i]), load(Y[k], at), load(Y[k], at - lanes))
            a, b, c = a + e, b + f, c + g
        return a, b, c

    @inner
    def terms_of(p, rows, Y, t, i):
        if rows is None:  # Y holds local costs already, (n, m)
            return Y[t, i], 0.0, 0.0
        return summed(p, rows, Y, t, i)

    if lanes > 1:
        terms_of = summed

    @inner
    def price_of(p, rows, Y, ty, t):
        """The price of leaving sample t unmatched."""
        total = splat(0.0)
        if rows is not None:
            for k in range(rows.shape[0]):
                total = total + gap_terms(p, load(Y[k], (t + 1) * lanes), load(Y[k], t * lanes))
        step = 1.0
        if ty is not None:
            step = ty[t + 1] - ty[t]
        return gap(p, total, step) + splat(0.0)

    @inner
    def lags(tx, ty, i, point, t, at, begin):
        """Lags of query point i, number `point` of its query, and of the one before in a tile that begins at `begin`.

        `at` is sample t as starts are counted.
        """
        begin = smaller(begin, at)  # a path of skipped query points alone begins behind the sample; it has no lag
        if tx is None:
            lag = abs((point - at) + begin)
            return lag, where(point > 0.0, lag, 0.0)
        base = ty[t + 1 - int(at - begin)]
        return abs(tx[i] - (ty[t + 1] - base)), (abs(tx[i - 1] - (ty[t] - base)) if point > 0.0 else 0.0)

    @inner
    def column(p, rows, points, Y, tx, ty, t, at, i, end, oldest, fresh, border, since, price, col, start):
        """Move a query's column to sample t; cost and start of what leaves it. Older starts than `oldest` are dropped.

        Paths come in from the border, whose cost began at `since`; by an open border also from a tile that begins here,
        at the cost `fresh`, and skips query points.
        """
        diag, s_diag, point, skipped = border, since, 0.0, fresh
        above, s_above = splat(INF), since
        if not closed_border(p):
            above = border + price
        while i < end:
            left, s_left = load(col, i * lanes), load(start, i * lanes)
            left = where(s_left < oldest, INF, left)
            if not closed_border(p):
                skipped = skipped + points[0, i]
                nearer = skipped < left
                left, s_left = where(nearer, skipped, left), where(nearer, at, s_left)
            a, b, c = terms_of(p, rows, Y, t, i)
            here = points[0, i], points[1, i], points[2, i]
            # Each predecessor brings the start of its own path, and with it its own lag.
            lag, lag_before = lags(tx, ty, i, point, t, at, s_diag)
            best = join(p, diag, moves(p, here, late(p, lag, lag_before), a, b, c, price)[0])
            lag, lag_before = lags(tx, ty, i, point, t, at, s_left)
            third = join(p, left, moves(p, here, late(p, lag, lag_before), a, b, c, price)[2])
            lag, lag_before = lags(tx, ty, i, point, t, at, s_above)
            other = join(p, above, moves(p, here, late(p, lag, lag_before), a, b, c, price)[1])
            first, s_best = smaller(other, best), where(other < best, s_above, s_diag)
            s_best = where(third < first, s_left, s_best)
            # What the cell above gives comes last, so that the next cell waits for one step only.
            best = smaller(other, smaller(third, best))
            store(col, i * lanes, best)
            store(start, i * lanes, s_best)
            diag, s_diag, above, s_above = left, s_left, best, s_best
            i, point = i + 1, point + 1.0
        return above, s_above

    @njit(cache=True, nogil=True)
    def advance(
        p,
        rows,
        points,
        first,
        Y,
        tx,
        ty,
        begin_at,
        offset,
        background,
        transitions,
        shortest,
        longest,
        state,
        best,
        begin,
    ):
        """Go on from sample `begin_at`, which counts as sample `begin_at` + `offset`, to the last; changes `state`.

        Fills, per boundary t + 1 behind sample t, ``best`` (k + 1): the cheapest tiling up to there whose last part is
        of each label; and ``begin`` (k): where its last tile begins.
        """
        k = first.shape[0] - (1 if version else 0)  # what the closure holds is a part of the cache's key
        n = best.shape[0] // ((k + 1) * lanes)
        col, start, edge, border, since = state[0], state[1], state[2], state[3], state[4]
        for t in range(begin_at, n):
            at = float(offset + t)
            row = t * (k + 1) * lanes
            for q in range(k):
                fresh = load(edge, (q + 1) * lanes)
                top, s_top, record = fresh, splat(at), _of(p, q)
                if not closed_border(record):
                    older = where(load(since, q * lanes) < at + 1.0 - longest[q], INF, load(border, q * lanes))
                    s_top = where(fresh <= older, at, load(since, q * lanes))
                    top = smaller(older, fresh)
                price = price_of(record, rows, Y, ty, t)
                cost, s = column(
                    record,
                    rows,
                    points,
                    Y,
                    tx,
                    ty,
                    t,
                    at,
                    first[q],
                    first[q + 1],
                    at + 1.0 - longest[q],
                    fresh,
                    top,
                    s_top,
                    price,
                    col,
                    start,
                )
                store(border, q * lanes, top + price)
                store(since, q * lanes, s_top)
                cost = where(at + 1.0 - s < shortest[q], INF, cost)
                cost = where(at + 1.0 - s > longest[q], INF, cost)
                store(best, row + (q + 1) * lanes, cost)
                store(begin, t * k * lanes + q * lanes, s)
            store(best, row, load(edge, 0) + load(background, t * lanes))
            for b in range(k + 1):
                cheapest = load(best, row) + transitions[0, b]
                for a in range(1, k + 1):
                    cheapest = smaller(load(best, row + a * lanes) + transitions[a, b], cheapest)
                store(edge, b * lanes, cheapest)

    return advance


_version = version_of()
advance, advance_lanes = _make(_version, 1), _make(_version, LANES)


@njit(cache=True, nogil=True)
def windows(cost, lengths, begin_at, background, transitions, edges, best):
    """The same for windows: ``cost[q, t]`` is that of the window of query q that ends with sample t.

    ``edges`` (n + 1, k + 1) holds what it costs to go on from a boundary by each label; row `begin_at` is known.
    """
    k, n = cost.shape
    for t in range(begin_at, n):
        best[t + 1, 0] = edges[t, 0] + background[t]
        for q in range(k):
            s = t + 1 - lengths[q]
            best[t + 1, q + 1] = edges[s, q + 1] + cost[q, t] if s >= 0 else INF
        for b in range(k + 1):
            cheapest = INF
            for a in range(k + 1):
                cheapest = smaller(best[t + 1, a] + transitions[a, b], cheapest)
            edges[t + 1, b] = cheapest

"""Optimal segmentations."""

import numpy as np

from .lockstep_distances import lockstep
from .moves import steps
from .series import INF, points, relative, weighted_mean
from .table import LOCKSTEP, PATHLESS, SQUARES, SUMS, power
from .warping import elastic, fill


def segment_cost(name, x, y, weight, s, e, *, tq=None, ts=None, r=None, **params):
    """Cost of the segment y[s:e]: the recurrence of the search with its start fixed; lockstep: length m only."""
    m = len(x)
    if name in LOCKSTEP:
        if e - s != m:
            return INF
        d = lockstep(name, x, y[s:e], weight, tx=tq, ty=None if ts is None else ts[s:e], **params)
        return d ** power(name, **params) if name in SUMS else m * d
    if name in PATHLESS:
        return (1 if name == "soft_dtw" else m) * elastic(name, x, y[s:e], weight, **params).distance
    D, _ = fill(steps(name, x, y, weight, tq, ts, search=True, **params), s, e, r=r)
    return m * D[-1, -1] if name == "frechet" else D[-1, -1]


def background(name, x, weight=None, **params):
    """Default cost of a background sample: the query against a constant signal at its own mean; DTW: 1.5 times."""
    X = points(x)
    W = relative(weight, *X.shape)
    mean = [weighted_mean(X[:, c], W[:, c]) for c in range(X.shape[1])]
    flat = np.array([mean for _ in range(len(X))]).reshape(np.shape(x))
    times = 1.5 if name in SQUARES else 1.0
    return times * segment_cost(name, x, flat, weight, 0, len(X), **params) / len(X)


def background_of_samples(queries, weights, y, omega):
    """Default costs of samples under ADTW: twice what they are from the queries' ends, at most as their points.

    None where an end itself would cost as much as a step that stretches.
    """
    x = np.concatenate([points(one) for one in queries])
    both = [points(one)[k] for one in queries for k in (0, -1)]
    ends = np.mean(both, axis=0)
    every = [relative(w, *points(one).shape) for one, w in zip(queries, weights, strict=True)]
    weight = np.concatenate(every).mean(axis=0)

    def costs(z):
        return 2 * (weight * (points(z) - ends) ** 2).sum(axis=1)

    return None if costs(np.array(both)).max() >= omega else np.minimum(costs(y), costs(x).max())


def cost_of_segmentation(segments, n, b, transitions=None):
    """Cost of a cover of range(n) by segments (start, end, label, cost) in order, and background."""
    total, at, before = 0.0, 0, None
    for s, e, label, cost in [*segments, (n, n, None, 0.0)]:
        parts = ([0] if s > at else []) + ([label] if label is not None else [])
        for part in parts:
            if transitions is not None and before is not None:
                total += transitions[before][part]
            before = part
        total += np.broadcast_to(b, n)[at:s].sum() + cost
        at = e
    return total


def segmentations(n, segment_costs, b, transitions=None):
    """The least cost of all covers of range(n) by segments [s, e) of several queries and background samples.

    `segment_costs`: for each query a function (s, e) -> cost, infinite where there is no such segment.
    """

    def covers(s):
        if s == n:
            yield []
            return
        for label, cost in enumerate(costs, 1):
            for e in range(s + 1, n + 1):
                if cost[s, e] < INF:
                    for segments in covers(e):
                        yield [(s, e, label, cost[s, e]), *segments]
        yield from covers(s + 1)

    costs = [{(s, e): f(s, e) for s in range(n) for e in range(s + 1, n + 1)} for f in segment_costs]
    return min(cost_of_segmentation(segments, n, b, transitions) for segments in covers(0))


def costs_of_segments(name, x, y, weight=None, *, tq=None, ts=None, **params):
    """The cost of each segment [s, e) of the series, (n + 1, n + 1), infinite where there is none."""
    n, m = len(y), len(x)
    out = np.full((n + 1, n + 1), INF)
    if name in LOCKSTEP or name in PATHLESS:
        for s in range(n - m + 1):
            out[s, s + m] = segment_cost(name, x, y, weight, s, s + m, tq=tq, ts=ts, **params)
        return out
    f = steps(name, x, y, weight, tq, ts, search=True, **params)
    for s in range(n):
        out[s, s + 1 :] = fill(f, s, n)[0][-1, 1:]
    return out


def cheapest_segmentation(costs, b, transitions=None):
    """The least cost of all segmentations: `costs` holds what `costs_of_segments` gives for each query."""
    n, k = len(costs[0]) - 1, len(costs)
    T = np.zeros((k + 1, k + 1)) if transitions is None else np.asarray(transitions, float)
    last = np.full((n + 1, k + 1), INF)  # up to each sample, by what comes last

    def enter(s, label):
        return 0.0 if s == 0 else min(last[s, a] + T[a, label] for a in range(k + 1) if a or label)

    for e in range(1, n + 1):
        last[e, 0] = np.broadcast_to(b, n)[e - 1] + min(enter(e - 1, 0), last[e - 1, 0])
        for q in range(k):
            last[e, q + 1] = min(
                (enter(s, q + 1) + costs[q][s, e] for s in range(e) if costs[q][s, e] < INF), default=INF
            )
    return last[n].min() if n else 0.0


def carried_segmentation(queries, n, b, transitions=None, bounds=None):
    """The cost that the recurrence finds in which each cell carries the start of its cheapest path.

    `queries`: what `steps` gives for each of them. Cells hold (cost, start); a path longer than the bound is dropped.
    """
    k = len(queries)
    T = np.zeros((k + 1, k + 1)) if transitions is None else transitions
    bounds = [(1, n)] * k if bounds is None else bounds
    nothing = (INF, 0)
    cells = [[nothing] * (f.m + 1) for f in queries]
    last = [0.0] + [INF] * k  # cheapest segmentation up to here that ends in background, or in a segment of each query
    enter = [0.0] * (k + 1)  # what it costs to go on by each; at the beginning nothing
    for j in range(1, n + 1):
        last = [enter[0] + b]
        for q, f in enumerate(queries):
            low, high = bounds[q]
            old = [cell if j - cell[1] <= high else nothing for cell in cells[q]]
            fresh = enter[q + 1]
            if fresh <= old[0][0] or f.closed_boundary:
                old[0] = (fresh, j - 1)
            if not f.closed_boundary:
                for i in range(1, f.m + 1):
                    fresh += f.up(i, j - 1, j - 1)
                    if fresh < old[i][0]:
                        old[i] = (fresh, j - 1)
            new = [nothing if f.closed_boundary else (old[0][0] + f.left(0, j, old[0][1]), old[0][1])]
            for i in range(1, f.m + 1):
                best = nothing
                for (before, s), cost in ((old[i - 1], f.diag), (new[i - 1], f.up), (old[i], f.left)):
                    if before < INF and f.accumulate(before, cost(i, j, s)) < best[0]:
                        best = f.accumulate(before, cost(i, j, s)), s
                new.append(best)
            cells[q] = new
            cost, s = new[-1]
            last.append(cost if low <= j - s <= high else INF)
        enter = [min(last[a] + T[a][c] for a in range(k + 1)) for c in range(k + 1)]
    return min(last)


def counted_cost(cost, plain, frequency, most, share):
    """Return how the cost of a range counts as that of a class, by its labeled occurrences and the `most` of a class.

    `plain` is its cost as plain background, `share` the part of it that an occurrence is expected to leave over.
    """
    return cost * (most / frequency) ** (1 / 6) * max(cost / plain / share, 1.0) ** (1 - frequency / most)


def expected_share(shares):
    """Share that a further occurrence leaves over, by those of the occurrences that a query was learned from."""
    k, middle = len(shares), float(np.median(shares))
    return (k * middle * (k + 1) / max(k - 1, 1) + 3 / 4) / (k + 3)


def class_margin(costs, own):
    """By what share a range costs less as its own class than as the next; `costs` has that of each class."""
    other = min((cost for k, cost in enumerate(costs) if k != own), default=INF)
    if other == INF:
        return np.nan
    if costs[own] == other:
        return 0.0
    return 1 - costs[own] / other if other else -INF


def f1_of_marks(ranges, found, shares):
    """F1 of found ranges, by their shares of the cost of background, were the occurrences marked that nobody marked."""

    def meet(a, b):
        common = max(min(a[1], b[1]) - max(a[0], b[0]), 0)
        return common >= (a[1] - a[0] + b[1] - b[0] - common) / 3

    known = [share for one, share in zip(found, shares, strict=True) if any(meet(true, one) for true in ranges)]
    others = [share for one, share in zip(found, shares, strict=True) if not any(meet(true, one) for true in ranges)]
    h = k = len(known)
    if not h:
        return 0.0
    middle = sorted(known)[(k - 1) // 2] / 2 + sorted(known)[k // 2] / 2
    usual = (k * middle * (k + 1) / max(k - 1, 1) + 3 / 4) / (k + 3)
    u = min(2 * sum(share <= usual for share in others), len(others))
    near = max(sum(share < 1 for share in others) - u, 0)
    false = len(others) - u - near + near * h / (h + u)
    recall, precision = h / len(ranges), (h + u) / (h + u + false)
    return 2 * recall * precision / (recall + precision)

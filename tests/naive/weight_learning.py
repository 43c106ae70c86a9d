"""The objective of learned weights by plain loops: margins between series of the own class and of others."""

from math import inf


def warped_terms(x, y, w):
    """What weights multiply in the DTW of two series of points (lists of channels), along the best path under `w`."""
    m, n, channels = len(x), len(y), range(len(x[0]))
    local = [[[(x[i][c] - y[j][c]) ** 2 for c in channels] for j in range(n)] for i in range(m)]
    cost, origin = {(-1, -1): 0.0}, {}
    for i in range(m):
        for j in range(n):
            before = [(i - 1, j - 1), (i - 1, j), (i, j - 1)]
            origin[i, j] = min(before, key=lambda cell: cost.get(cell, inf))
            cost[i, j] = cost.get(origin[i, j], inf) + sum(w[i][c] * local[i][j][c] for c in channels)
    terms, cell = [[0.0 for _ in channels] for _ in range(m)], (m - 1, n - 1)
    while cell != (-1, -1):
        i, j = cell
        for c in channels:
            terms[i][c] += local[i][j][c]
        cell = origin[cell]
    return terms


def weighted_sum(x, y, w):
    """The distance under the weights."""
    terms = warped_terms(x, y, w)
    return sum(w[i][c] * terms[i][c] for i in range(len(x)) for c in range(len(x[0])))


def nearest_of(distances, allowed, k):
    return sorted((j for j in range(len(distances)) if allowed(j)), key=lambda j: distances[j])[:k]


def margin_loss(series, labels, weights, k):
    """The mean loss of weights, which are given for each series, point by point."""
    n, found, near = len(series), [], []
    equal = [[[1.0] * len(p) for p in x] for x in series]
    before = [[weighted_sum(series[i], series[j], equal[i]) for j in range(n)] for i in range(n)]
    now = [[weighted_sum(series[i], series[j], weights[i]) for j in range(n)] for i in range(n)]
    for i in range(n):
        own = nearest_of(before[i], lambda j, i=i: j != i and labels[j] == labels[i], k)
        others = nearest_of(now[i], lambda j, i=i: labels[j] != labels[i], k)
        if own:
            found.append((i, own, others))
            near.append(sum(before[i][j] for j in own) / len(own))
    unit = sum(near) / len(near)
    loss = 0.0
    for i, own, others in found:
        short = [max(0.0, 1.0 + (now[i][j] - now[i][o]) / unit) ** 2 for j in own for o in others]
        loss += sum(short) / len(short) / len(found)
    return loss


def pull(w, alpha):
    """The penalty of weights that are not equal, `w` being those of all points and channels that have their own."""
    return alpha * sum((v - 1.0) ** 2 for v in w) / len(w)

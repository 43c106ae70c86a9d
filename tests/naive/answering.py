"""Which matches to ask about, and the threshold from answers; see `Answers` in docs/definitions_learning.rst."""

import numpy as np


def border(distances):
    """Where distances divide into two groups of the least squared deviations from their means, midway."""
    values = sorted(distances)
    if len(values) == 1:
        return values[0]
    spread = [
        sum((v - np.mean(part)) ** 2 for part in (values[:k], values[k:]) for v in part) for k in range(1, len(values))
    ]
    k = int(np.argmin(spread)) + 1
    return (values[k - 1] + values[k]) / 2


def uncertain(query, sequence, distance, borders, k):
    """Numbers of the k matches to ask about."""
    entries = []
    for q in set(query):
        for s in set(sequence):
            for above in (False, True):
                group = [
                    (abs(d - borders[q]) / (borders[q] or 1), i)
                    for i, d in enumerate(distance)
                    if query[i] == q and sequence[i] == s and (d > borders[q]) == above
                ]
                entries += [(rank, far, i) for rank, (far, i) in enumerate(sorted(group))]
    return [i for *_, i in sorted(entries)][:k]


def falling(x, y, at):
    """The line through points that never rises and is nearest to them, at other places (isotonic regression)."""
    places = sorted(set(x))
    mean = [np.mean([b for a, b in zip(x, y, strict=True) if a == place]) for place in places]
    count = [sum(a == place for a in x) for place in places]
    n = len(places)
    level = [
        min(max(np.average(mean[i : j + 1], weights=count[i : j + 1]) for j in range(k, n)) for i in range(k + 1))
        for k in range(n)
    ]
    return np.interp(at, places, level)


def threshold(good, bad, others):
    """The threshold of the largest expected F1."""
    distance = sorted([*good, *bad, *others])
    n = len(distance)
    beyond = distance[-1] * (1 + 1 / n)
    share = falling([*good, *bad, 0.0, beyond], [1] * len(good) + [0] * len(bad) + [1, 0], distance)
    best, value = None, -1.0
    for k in range(n):
        if k + 1 < n and distance[k] == distance[k + 1]:
            continue
        f1 = 2 * share[: k + 1].sum() / (k + 1 + share.sum())
        if f1 >= value:
            best, value = k, f1
    return beyond if best == n - 1 else (distance[best] + distance[best + 1]) / 2

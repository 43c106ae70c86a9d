"""Mirrored queries: every version of a query by itself, and of each candidate the nearest one."""

from itertools import product

import numpy as np

from .searching import elastic_search, windows
from .segmenting import cheapest_segmentation, costs_of_segments
from .series import INF, points


def versions(x, polarity):
    """The signs of a query's channels and the query times these: fewest mirrored first, of as many the later ones."""
    channels = points(x).shape[1]
    kinds = {"same": [[1]], "any": [[1], [-1]], "channels": product([1, -1], repeat=channels)}[polarity]
    for signs in sorted(kinds, key=lambda signs: (sum(s < 0 for s in signs), [-s for s in signs])):
        yield list(signs), (points(x) * list(signs)).reshape(np.shape(x))


def nearest_windows(name, x, y, polarity, weight=None, **params):
    """Of each window the least distance from all versions, and the signs of the first that is as near."""
    return _nearest([(s, windows(name, v, y, weight, **params)) for s, v in versions(x, polarity)])


def nearest_subsequences(name, x, y, polarity, weight=None, **params):
    """Of each end the least distance from all versions, and the start of the candidate of the first that is as near."""
    found = [elastic_search(name, v, y, weight, **params)[:2] for _, v in versions(x, polarity)]
    return _nearest([(start, distance) for distance, start in found], each=True)


def _nearest(found, each=False):
    n = len(found[0][1])
    best, of_best = np.full(n, INF), [None] * n
    for k in range(n):
        for what, distance in found:
            if distance[k] < best[k] or of_best[k] is None:
                best[k], of_best[k] = distance[k], what[k] if each else what
    return best, of_best


def mirrored_segmentation(name, queries, y, polarity, b, transitions, **params):
    """The least cost of all segmentations by any version of each query; `transitions` are those of the queries."""
    costs, label = [], [0]
    for q, x in enumerate(queries):
        for _, version in versions(x, polarity):
            costs.append(costs_of_segments(name, version, y, **params))
            label.append(q + 1)
    return cheapest_segmentation(costs, b, np.array(transitions, float)[np.ix_(label, label)])

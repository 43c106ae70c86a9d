"""Learning a query from a recording whose time points are labelled."""

import numpy as np

from ..distances._pairwise import pairwise_distances
from ..metrics._events import change_points


def occurrences(labels):
    """Half-open ranges of the commonest kind's occurrences: runs of one label other than 0, of 2 samples at least.

    Kinds that occur equally often: the one that occurs first.
    """
    edges = change_points(labels)
    first, length = edges[:-1], np.diff(edges)
    kept = (labels[first] != 0) & (length > 1) if len(labels) else np.zeros(0, bool)
    ranges = np.column_stack([first, edges[1:]])[kept]
    kinds = labels[first[kept]].tolist()
    commonest = max(dict.fromkeys(kinds), key=kinds.count, default=None)
    return ranges[[kind == commonest for kind in kinds]]


def medoid(pieces, metric):
    """Index of the series whose distances from the others add up to the least, the first of those."""
    if len(pieces) < 3:  # of two, either is as good
        return 0
    distances = pairwise_distances([piece.T for piece in pieces], metric=metric)
    return int(np.argmin(distances.sum(axis=0) + distances.sum(axis=1)))

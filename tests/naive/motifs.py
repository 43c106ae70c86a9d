"""Motifs and discords from the distances of all pairs of windows."""

import math


def _pairs(first, second, apart):
    """Pairs of window numbers that may be compared; `second` is None where both windows are of one recording."""
    others = range(first if second is None else second)
    return [(i, j) for i in range(first) for j in others if second is not None or abs(i - j) >= apart]


def least_apart(length, max_overlap):
    """Samples between the starts of windows that have at most this share of their length in common."""
    return next(apart for apart in range(1, length + 1) if length - apart <= max_overlap * length)


def motifs(distance, first, second, apart, n):
    """(distance, start, start) of the nearest pairs, none of which has a window less than `apart` from one before."""
    found = []
    for d, i, j in sorted((distance(i, j), i, j) for i, j in _pairs(first, second, apart)):
        own = [start for _, *pair in found for start in (pair if second is None else pair[:1])]
        others = own if second is None else [pair[2] for pair in found]
        if all(abs(i - k) >= apart for k in own) and all(abs(j - k) >= apart for k in others):
            found.append((d, i, j))
        if len(found) == n:
            break
    return found


def discords(distance, first, second, apart, n):
    """(distance, start) of the windows whose nearest one is the farthest, each at least `apart` from those before."""
    nearest = {}
    for i, j in _pairs(first, second, apart):
        nearest[i] = min(nearest.get(i, math.inf), distance(i, j))
    found = []
    for i in sorted(nearest, key=lambda i: (-nearest[i], i)):
        if len(found) < n and all(abs(i - k) >= apart for _, k in found):
            found.append((nearest[i], i))
    return found

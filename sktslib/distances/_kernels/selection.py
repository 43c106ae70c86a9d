"""Selection among overlapping ranges, of which some may be chosen together.

Only `greedy` is compiled.
"""

import numpy as np

from .compile import inner, kernel
from .simd import maximum, minimum

BLOCK = 2**14  # distances at a time
FEW = 8  # chosen ranges that are compared with all others


def near(distance, share, limit):
    """Return the indices of the finite distances that are at most a limit when multiplied by `share`.

    No memory is needed but for these.
    """
    blocks = ((at, distance[at : at + BLOCK]) for at in range(0, max(len(distance), 1), BLOCK))
    found = [np.flatnonzero((d * share <= limit) & (d < np.inf)) + at for at, d in blocks]
    return found[0] if len(found) == 1 else np.concatenate(found)


def apart(start, end, other_start, other_end, max_overlap):
    """Return whether ranges overlap others by no more than a share of the shorter one."""
    common = np.minimum(end, other_end) - np.maximum(start, other_start)
    if max_overlap == 0.0:
        return common <= 0
    return (common <= 0) | (common <= max_overlap * np.minimum(end - start, other_end - other_start))


def all_free(sorted_start, sorted_end, start, end, max_overlap):
    """Return a mask of the ranges that overlap none of the chosen ones too much, which have ascending starts."""
    free = np.ones(len(start), np.bool_)
    if len(sorted_start) <= FEW:
        for s, e in zip(sorted_start, sorted_end, strict=True):
            free &= apart(start, end, s, e, max_overlap)
    elif len(start):
        longest = (sorted_end - sorted_start).max()  # chosen ones that begin earlier cannot reach into a range
        first, last = np.searchsorted(sorted_start, start - longest), np.searchsorted(sorted_start, end)
        for k in range((last - first).max()):
            at = np.minimum(first + k, last - 1)  # where there is no further one, any other
            free &= apart(start, end, sorted_start[at], sorted_end[at], max_overlap)
    return free


@inner
def _position(ascending, n, start):
    """Return the number of the first n values that are below `start`.

    The search of numba takes a third of a second to compile.
    """
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1  # numba divides with checks
        if ascending[middle] < start:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def greedy(start, end, sorted_start, sorted_end, n, longest, max_overlap, taken):
    """Take ranges in the given order, dropping those that overlap one of the n chosen too much; return their count.

    Fills `taken` with which they are; there is room for as many as may be taken. No chosen one exceeds `longest`.
    """
    first, k = n, 0
    while k < start.shape[0] and n < sorted_start.shape[0]:
        s, e, free = start[k], end[k], True
        at = _position(sorted_start, n, s - longest)
        while at < n and sorted_start[at] < e:
            others, other = sorted_start[at], sorted_end[at]
            common = minimum(e, other) - maximum(s, others)
            free = free and (common <= 0 or common <= max_overlap * minimum(e - s, other - others))
            at += 1
        if free:
            at = _position(sorted_start, n, s)
            i = n
            while i > at:
                sorted_start[i], sorted_end[i] = sorted_start[i - 1], sorted_end[i - 1]
                i -= 1
            sorted_start[at], sorted_end[at] = s, e
            taken[n - first] = k
            n += 1
            longest = maximum(longest, e - s)
        k += 1
    return n - first

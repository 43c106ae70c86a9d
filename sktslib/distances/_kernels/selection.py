"""Selection among overlapping ranges, of which some may be chosen together.

What is asked for few ranges compiles nothing.
"""

import numpy as np

from .compile import inner, kernel

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
def _position(sorted_start, start):
    """Return the number of ranges that start before `start`.

    The search of numba takes a third of a second to compile.
    """
    low, high = 0, sorted_start.shape[0]
    while low < high:
        middle = (low + high) // 2
        if sorted_start[middle] < start:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _is_free(sorted_start, sorted_end, longest, s, e, max_overlap):
    """Return whether [s, e) overlaps none of the chosen ranges too much; none of those is longer than `longest`."""
    at = _position(sorted_start, s - longest)
    while at < sorted_start.shape[0] and sorted_start[at] < e:
        common = min(e, sorted_end[at]) - max(s, sorted_start[at])
        if common > max_overlap * min(e - s, sorted_end[at] - sorted_start[at]) and common > 0:
            return False
        at += 1
    return True


@kernel
def greedy(start, end, sorted_start, sorted_end, n, longest, max_overlap, taken):
    """Take ranges in the given order, dropping those that overlap one of the n chosen too much; return their count.

    Fills `taken` with which they are; there is room for as many as may be taken. No chosen one exceeds `longest`.
    """
    first = n
    for k in range(start.shape[0]):
        if n == sorted_start.shape[0]:
            break
        s, e = start[k], end[k]
        if _is_free(sorted_start[:n], sorted_end[:n], longest, s, e, max_overlap):
            at = _position(sorted_start[:n], s)
            for i in range(n, at, -1):
                sorted_start[i], sorted_end[i] = sorted_start[i - 1], sorted_end[i - 1]
            sorted_start[at], sorted_end[at] = s, e
            taken[n - first] = k
            n += 1
            longest = max(longest, e - s)
    return n - first

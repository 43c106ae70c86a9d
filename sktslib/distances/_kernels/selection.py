"""Selection among overlapping ranges, of which some may be chosen together."""

import numpy as np

from .compile import inner, kernel


@kernel
def _count_near(distance, share, limit):
    """Count the finite distances that are at most a limit when multiplied by `share`."""
    count = 0
    for k in range(distance.shape[0]):
        count += (distance[k] * share <= limit) & (distance[k] < np.inf)
    return count


@kernel
def _list_near(distance, share, limit, which):
    """List the indices of the finite distances that are at most a limit when multiplied by `share`."""
    count = 0
    for k in range(distance.shape[0]):
        if distance[k] * share <= limit and distance[k] < np.inf:
            which[count] = k
            count += 1


def near(distance, share, limit):
    """Return the indices of the finite distances that are at most a limit when multiplied by `share`.

    No memory is needed but for these.
    """
    which = np.empty(_count_near(distance, share, limit), np.int64)
    if len(which):
        _list_near(distance, share, limit, which)
    return which


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


@kernel
def is_free(sorted_start, sorted_end, longest, s, e, max_overlap):
    """Return whether [s, e) overlaps none of the chosen ranges too much; none of those is longer than `longest`."""
    at = _position(sorted_start, s - longest)  # ranges that begin earlier cannot reach into this one
    while at < sorted_start.shape[0] and sorted_start[at] < e:
        common = min(e, sorted_end[at]) - max(s, sorted_start[at])
        if common > max_overlap * min(e - s, sorted_end[at] - sorted_start[at]) and common > 0:
            return False
        at += 1
    return True


@kernel
def _fill_free(sorted_start, sorted_end, longest, start, end, max_overlap, out):
    """Fill in whether each of some ranges overlaps none of the chosen ones too much."""
    for k in range(start.shape[0]):
        out[k] = is_free(sorted_start, sorted_end, longest, start[k], end[k], max_overlap)


def all_free(sorted_start, sorted_end, longest, start, end, max_overlap):
    """Return a mask of the ranges that overlap none of the chosen ones too much; no chosen one exceeds `longest`."""
    out = np.empty(len(start), np.bool_)
    _fill_free(sorted_start, sorted_end, longest, start, end, max_overlap, out)
    return out


@kernel
def next_free(sorted_start, sorted_end, longest, start, end, max_overlap, at):
    """Return the first position from `at` on of a range that is free."""
    while at < start.shape[0] and not is_free(sorted_start, sorted_end, longest, start[at], end[at], max_overlap):
        at += 1
    return at


@kernel
def insert(sorted_start, sorted_end, n, s, e):
    at = _position(sorted_start[:n], s)
    for i in range(n, at, -1):
        sorted_start[i], sorted_end[i] = sorted_start[i - 1], sorted_end[i - 1]
    sorted_start[at], sorted_end[at] = s, e


@kernel
def greedy(start, end, sorted_start, sorted_end, n, most, longest, max_overlap, taken):
    """Take ranges in the given order, dropping those that overlap one of the n chosen too much.

    Fills `taken` with which they are; their count, and the length of the longest range chosen.
    """
    first = n
    for k in range(start.shape[0]):
        if n == most:
            break
        if is_free(sorted_start[:n], sorted_end[:n], longest, start[k], end[k], max_overlap):
            insert(sorted_start, sorted_end, n, start[k], end[k])
            taken[n - first] = k
            n += 1
            longest = max(longest, end[k] - start[k])
    return n - first, longest

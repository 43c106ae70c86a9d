"""Selection of ranges that overlap each other by no more than a limit; only `greedy` is compiled."""

import numpy as np

from .compile import inner, kernel
from .simd import maximum, minimum

BLOCK = 2**14  # distances at a time
FEW = 8  # up to this number, each chosen range is compared with all others


def near(distance, share, limit):
    """Return the indices of the finite distances with distance * share <= limit; no array of their length is made."""
    blocks = ((at, distance[at : at + BLOCK]) for at in range(0, max(len(distance), 1), BLOCK))
    found = [np.flatnonzero((d * share <= limit) & (d < np.inf)) + at for at, d in blocks]
    return found[0] if len(found) == 1 else np.concatenate(found)


def apart(start, end, other_start, other_end, max_overlap):
    """Return whether ranges overlap other ranges by at most the share `max_overlap` of the shorter one."""
    common = np.minimum(end, other_end) - np.maximum(start, other_start)
    if max_overlap == 0.0:
        return common <= 0
    return (common <= 0) | (common <= max_overlap * np.minimum(end - start, other_end - other_start))


def all_free(sorted_start, sorted_end, start, end, max_overlap):
    """Return a mask of the ranges that overlap no chosen range by more than the limit.

    The chosen ranges are sorted by start.
    """
    free = np.ones(len(start), np.bool_)
    if len(sorted_start) <= FEW:
        for s, e in zip(sorted_start, sorted_end, strict=True):
            free &= apart(start, end, s, e, max_overlap)
    elif len(start):
        longest = (sorted_end - sorted_start).max()  # chosen ranges that start earlier cannot reach into a range
        first, last = np.searchsorted(sorted_start, start - longest), np.searchsorted(sorted_start, end)
        for k in range((last - first).max()):
            at = np.minimum(first + k, last - 1)  # without a further one, a repetition
            free &= apart(start, end, sorted_start[at], sorted_end[at], max_overlap)
    return free


@inner
def _position(ascending, n, start):
    """Return the number of values below `start` among the first n, which ascend.

    numba's own `searchsorted` takes a third of a second to compile.
    """
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1  # a division would include checks
        if ascending[middle] < start:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def greedy(start, end, sorted_start, sorted_end, n, longest, max_overlap, taken):
    """Choose ranges in the given order unless they overlap a chosen one by more than the limit; return their number.

    Fills `taken` with the indices of the ranges. The first `n` entries of `sorted_start` and `sorted_end` are the
    ranges chosen before; its length limits their total. None of them is longer than `longest`.
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

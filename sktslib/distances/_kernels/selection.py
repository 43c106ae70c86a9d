"""Selection of ranges that overlap each other by no more than a limit; only `greedy` is compiled."""

import numpy as np

from .compile import kernel
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


@kernel
def greedy(start, end, n_chosen, most, max_overlap, heads, links, first, last):
    """Choose ranges [first, last) in the given order unless they overlap a chosen one by more than the limit.

    Chosen ranges are lists, one for each entry of `heads`, whose number is a power of two. A head is the number of the
    last chosen range of those that begin in some stretches of samples, a link that of the one before; -1 ends a list.
    A stretch is at least as long as any range, so those that overlap a range begin in its stretches or the one before.
    The first `n_chosen` ranges are chosen without comparison, and at most `most` in all; the link of a range that is
    not chosen is -2. Heads and links are filled with the first range and kept. Return the number of ranges chosen here.
    """
    shift, longest = 0, 1
    for k in range(start.shape[0]):
        longest = maximum(longest, end[k] - start[k])
    while 1 << shift < longest:
        shift += 1
    if first == 0:
        for k in range(heads.shape[0]):
            heads[k] = -1
        for k in range(links.shape[0]):
            links[k] = -2
    mask, count, k = heads.shape[0] - 1, 0, first
    while k < last and count < most:
        s, e, free = start[k], end[k], True
        at = (s >> shift) - 1
        while k >= n_chosen and free and at <= (e - 1) >> shift:
            i = heads[at & mask]
            while i >= 0:
                common = minimum(e, end[i]) - maximum(s, start[i])
                free = free and (common <= 0 or common <= max_overlap * minimum(e - s, end[i] - start[i]))
                i = links[i]
            at += 1
        if free:
            at = (s >> shift) & mask
            links[k], heads[at] = heads[at], k
            count += 1
        k += 1
    return count

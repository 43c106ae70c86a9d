"""From a profile to matches: one pure rule."""

from heapq import heappop, heappush

import numpy as np
from numba import njit


@njit(cache=True)
def _free(sorted_start, sorted_end, longest, s, e, max_overlap):
    """Whether [s, e) overlaps none of the chosen ranges too much; none of those is longer than `longest`."""
    at = np.searchsorted(sorted_start, s - longest)  # ranges that begin earlier cannot reach into this one
    while at < sorted_start.shape[0] and sorted_start[at] < e:
        common = min(e, sorted_end[at]) - max(s, sorted_start[at])
        if common > max_overlap * min(e - s, sorted_end[at] - sorted_start[at]) and common > 0:
            return False
        at += 1
    return True


@njit(cache=True)
def _insert(sorted_start, sorted_end, n, s, e):
    at = np.searchsorted(sorted_start[:n], s)
    for i in range(n, at, -1):
        sorted_start[i], sorted_end[i] = sorted_start[i - 1], sorted_end[i - 1]
    sorted_start[at], sorted_end[at] = s, e


@njit(cache=True)
def _greedy(order, distance, start, end, n_matches, max_overlap):
    """Take candidates in the given order, dropping those that overlap a chosen one too much."""
    chosen = np.empty(min(n_matches, order.shape[0]), np.int64)
    sorted_start, sorted_end = np.empty_like(chosen), np.empty_like(chosen)
    n, longest = 0, 0
    for k in order:
        if n == chosen.shape[0]:
            break
        s, e = start[k], end[k]
        if not _free(sorted_start[:n], sorted_end[:n], longest, s, e, max_overlap):
            continue
        _insert(sorted_start, sorted_end, n, s, e)
        chosen[n] = k
        n += 1
        longest = max(longest, e - s)
    return chosen[:n].copy()


def select(distance, start, end, *, n_matches=None, threshold=None, max_overlap=0.0):
    """Indices of the chosen candidates, lowest distance first (ties: earliest).

    Parameters
    ----------
    distance : ndarray of shape (n,)
        Infinite where there is no candidate.
    start, end : ndarray of shape (n,)
        The candidates' ranges.
    n_matches : int, optional
        At most so many; None: as many as fit.
    threshold : float, optional
        Only candidates of at most this distance.
    max_overlap : float
        Share of the shorter of two ranges that they may have in common.

    Returns
    -------
    ndarray of int
    """
    limit = np.inf if threshold is None else threshold
    if n_matches == 1 and len(distance):
        best = int(np.argmin(distance))
        return np.array([best] if np.isfinite(distance[best]) and distance[best] <= limit else [], dtype=np.int64)
    candidates = np.flatnonzero(np.isfinite(distance) & (distance <= limit))
    order = candidates[np.argsort(distance[candidates], kind="stable")]
    most = len(order) if n_matches is None else min(n_matches, len(order))
    return _greedy(order, distance, np.asarray(start, np.int64), np.asarray(end, np.int64), most, float(max_overlap))


def select_exactly(distance, start, end, exact, slack, *, n_matches=None, threshold=None, max_overlap=0.0):
    """The same choice from distances that have a relative error of up to `slack`, as if they were exact.

    Candidates come in the order of the least that they can be; one that comes is computed exactly, and chosen as soon
    as no other can be less. What overlaps a chosen one is never computed.

    Parameters
    ----------
    exact : callable
        Exact distance of the k-th candidate.

    Returns
    -------
    chosen : ndarray of int
    distance : ndarray
        Their exact distances.
    """
    limit = np.inf if threshold is None else threshold
    if n_matches is not None and n_matches * 64 < len(distance):
        # The matches are among the least, mostly: the others are for the case that these are not enough.
        bound = np.partition(distance, n_matches * 64)[n_matches * 64]
        if bound < np.inf:
            few = np.flatnonzero(distance <= bound)
            near = min(limit, bound * (1.0 - slack))
            found = _choose(few, distance, start, end, exact, slack, n_matches, near, max_overlap)
            if len(found[0]) == n_matches:
                return found
    candidates = np.flatnonzero(np.isfinite(distance) & (distance * (1.0 - slack) <= limit))
    return _choose(candidates, distance, start, end, exact, slack, n_matches, limit, max_overlap)


@njit(cache=True)
def _next_free(order, at, starts, ends, longest, start, end, max_overlap):
    """The first place from `at` on of a candidate that may still be chosen."""
    while at < order.shape[0]:
        k = order[at]
        if _free(starts, ends, longest, start[k], end[k], max_overlap):
            break
        at += 1
    return at


def _choose(candidates, distance, start, end, exact, slack, n_matches, limit, max_overlap):
    order = candidates[np.argsort(distance[candidates], kind="stable")]
    least = distance[order] * (1.0 - slack)
    most = len(order) if n_matches is None else min(n_matches, len(order))
    starts, ends = np.empty(most, np.int64), np.empty(most, np.int64)
    chosen, distances, waiting, longest = [], [], [], 0  # waiting: computed exactly, perhaps not the least yet
    at = 0
    while len(chosen) < most:
        n = len(chosen)
        at = _next_free(order, at, starts[:n], ends[:n], longest, start, end, max_overlap)
        if at < len(order) and (not waiting or least[at] <= waiting[0][0]):
            k, at = int(order[at]), at + 1
            heappush(waiting, (exact(k), k))
        elif waiting:
            d, k = heappop(waiting)
            if d <= limit and _free(starts[:n], ends[:n], longest, start[k], end[k], max_overlap):
                _insert(starts, ends, n, start[k], end[k])
                longest = max(longest, int(end[k] - start[k]))
                chosen.append(k)
                distances.append(d)
        else:
            break
    return np.array(chosen, dtype=np.int64), np.array(distances)

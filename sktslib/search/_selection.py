"""From a profile to matches: one pure rule."""

import numpy as np
from numba import njit


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
        # Chosen ranges that could reach into this one begin after s - longest.
        at = np.searchsorted(sorted_start[:n], s - longest)
        free = True
        while at < n and sorted_start[at] < e:
            common = min(e, sorted_end[at]) - max(s, sorted_start[at])
            if common > max_overlap * min(e - s, sorted_end[at] - sorted_start[at]) and common > 0:
                free = False
                break
            at += 1
        if not free:
            continue
        at = np.searchsorted(sorted_start[:n], s)
        for i in range(n, at, -1):
            sorted_start[i], sorted_end[i] = sorted_start[i - 1], sorted_end[i - 1]
        sorted_start[at], sorted_end[at] = s, e
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

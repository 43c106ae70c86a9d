"""K-medoids on a matrix of distances: FasterPAM, which swaps a medoid for another series as soon as that pays."""

from __future__ import annotations

import numpy as np


def swapped(D, medoids, max_iter):
    """Medoids that no single swap makes better, and how often all series were tried.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Finite distances from each series, as a medoid, to all.
    medoids : list of int
        To begin with.
    max_iter : int
        Rounds at most.

    Notes
    -----
    What a swap changes is the sum of what the new medoid takes over from all others, the same whichever goes, and of
    what becomes of the series whose medoid goes (Schubert & Rousseeuw 2021, Algorithm 3).
    """
    medoids, n, waited = list(medoids), len(D), 0
    if len(medoids) == 1:
        return [int(D.sum(axis=1).argmin())], 1
    nearest, first, second = _nearest_two(D, medoids)
    for step in range(max_iter * n):
        candidate = step % n
        waited += 1
        if candidate not in medoids:
            d = D[candidate]
            closer, between = d < first, (d >= first) & (d < second)
            change = np.bincount(nearest, second - first, len(medoids))
            change += np.bincount(nearest[closer], (first - second)[closer], len(medoids))
            change += np.bincount(nearest[between], (d - second)[between], len(medoids))
            change += (d - first)[closer].sum()
            worst = int(change.argmin())
            total = first.sum()
            if change[worst] < 0:
                trial = [*medoids[:worst], candidate, *medoids[worst + 1 :]]
                found = _nearest_two(D, trial)
                if found[1].sum() < total:  # not by rounding alone
                    medoids, (nearest, first, second), waited = trial, found, 0
        if waited >= n:
            break
    return medoids, step // n + 1


def _nearest_two(D, medoids):
    """Which medoid is nearest to each series, its distance, and that of the second."""
    to = D[medoids]
    nearest = to.argmin(axis=0)
    first, second = np.partition(to, 1, axis=0)[:2]
    return nearest, first, second

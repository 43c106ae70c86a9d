"""The nearest pairs of windows, and the windows whose nearest one is the farthest: exactly, without all distances."""

from typing import NamedTuple

import numpy as np
from joblib import delayed

from ...distances._metrics.registry import get_metric
from ...utils._jobs import count_jobs, in_jobs, parts_for_jobs, progress
from .nearest_rows import free_ranges
from .pair_bounds import are_known, bounds

EACH = 64  # windows that a job searches for, until all jobs know what was found


def nearest_pairs(rows, count, n_jobs, verbose):
    """Distances and starts of the nearest pairs, at most so many, none of which overlaps one before it."""
    alike = rows._replace(how=rows.how._replace(metric=get_metric("euclidean")))
    least, order = np.full(rows.counts[0], -np.inf), None  # what the nearest window of each is at least away
    if are_known(rows.how):
        least = order = bounds(rows, n_jobs, verbose)
    elif are_known(alike.how):
        order = bounds(alike, n_jobs, verbose)
    rows = rows.prepared
    found, taken = [], ([], [])
    while len(found) < count:
        free, others = (free_ranges(some, of, rows.apart) for some, of in zip(rows.places, taken, strict=True))
        others = free if rows.is_one else others
        best = np.inf, -1, -1
        if order is not None and order is not least:
            # What is near point by point is a limit to begin with for what is near along a path.
            near = _nearest(alike, order, order, free, others, best, n_jobs, 0)
            best = best if near[1] < 0 else (rows.nearest(near[1], np.inf, [(near[2], near[2] + 1)])[0], *near[1:])
        best = _nearest(rows, least, order, free, others, best, n_jobs, verbose)
        if best[1] < 0:
            break
        found.append(best)
        taken[0].append(best[1])
        taken[0 if rows.is_one else 1].append(best[2])
    return found


def _nearest(rows, least, order, free, others, best, n_jobs, verbose):
    """The nearest pair of free windows, (distance, start, other start), if it comes before the best; ties: the first.

    Windows are searched for in an order, and as long as they may be nearer than the best.
    """
    which = _places(free)
    which = which if order is None else which[np.argsort(order[which], kind="stable")]
    with progress(len(which), verbose, "motifs", "window") as count:
        for part in _parts(which, n_jobs):
            some = part[least[part] <= best[0]]
            if not len(some) and order is least:
                break  # all that follow have larger bounds
            for pairs in _shared(_nearest_each, rows, some, (best[0], others), n_jobs):
                best = min([best, *((d, i, j) for i, (d, j) in pairs if j >= 0)])
            count(len(part))
    return best


def farthest_windows(rows, count, n_jobs, verbose):
    """Distances and starts of the windows whose nearest one is the farthest, and its start; at most so many."""
    most = order = np.full(rows.counts[0], np.inf)  # what the nearest window of each is at most away
    alike = rows._replace(how=rows.how._replace(metric=get_metric("euclidean")))
    if are_known(rows.how):
        most = order = bounds(rows, n_jobs, verbose, above=True)
    elif are_known(alike.how):
        order = bounds(alike, n_jobs, verbose, above=True)
    rows, known, found = rows.prepared, Nearest(most, np.full(len(most), -1), np.zeros(len(most), np.int64)), []
    while len(found) < count:
        which = _places(free_ranges(rows.places[0], [i for _, i, _ in found], rows.apart))
        which = which[np.argsort(-order[which], kind="stable")]
        best = np.inf, -1, -1  # (-distance, start, other start)
        with progress(len(which), verbose, "discords", "window") as done:
            for part in _parts(which, n_jobs):
                some = part[known.most[part] >= -best[0]]
                rest = known, -best[0]
                for learned in _shared(_nearest_of_far, rows, some[known.partner[some] < 0], rest, n_jobs):
                    for one in learned:
                        known.learn(*one, rows.apart)
                some = some[known.partner[some] >= 0]
                there = [(-known.most[i], i, known.partner[i]) for i in some.tolist()]
                best = min(there + [best] * (best[1] >= 0), default=best)
                done(len(part))
        if best[1] < 0:
            break
        found.append((-best[0], *best[1:]))
    return found


class Nearest(NamedTuple):
    """What is known of the nearest window of each."""

    most: np.ndarray  # what it is at most away
    partner: np.ndarray  # where it starts; -1: not known
    lag: np.ndarray  # behind a window where one starts that is near: that of the last neighbor that one was found for

    def learn(self, i, distance, j, is_nearest, reach):
        """Take the distance from a window, perhaps the nearest one; neighbors up to so far may be near it as well."""
        self.lag[max(i - reach + 1, 0) : i + reach] = j - i
        self.most[i] = distance if is_nearest else min(distance, self.most[i])
        if is_nearest:
            self.partner[i] = j


def _nearest_of_far(rows, which, known, least):
    """Each window with the distance and the start of its nearest one, or of another that is nearer than `least`.

    The last entry of each tells whether it is the nearest; without any window there is no entry.
    """
    known = Nearest(*map(np.copy, known))
    found, everything = [], rows.places[1]
    for i in which:
        j, distance, is_nearest = i + int(known.lag[i]), np.inf, False
        if rows.allows(i, j):
            distance = rows.distance(i, j)
        if not distance < least:
            is_nearest = True
            nearer = rows.nearest(i, distance, everything)
            if nearer[1] >= 0:
                distance, j = nearer
            elif np.isinf(distance):
                continue
            least = max(least, distance)
        found.append((i, distance, j, is_nearest))
        known.learn(*found[-1], rows.apart)
    return found


def _places(ranges):
    """The windows of half-open ranges."""
    return np.concatenate([np.empty(0, int), *(np.arange(a, b) for a, b in ranges)])


def _parts(which, n_jobs):
    """What all jobs search for until they know what the others found."""
    size = EACH * count_jobs(n_jobs)
    return (which[k : k + size] for k in range(0, len(which), size))


def _shared(search, rows, which, rest, n_jobs):
    """What jobs find of their parts of some windows."""
    calls = [delayed(search)(rows, part.tolist(), *rest) for part in parts_for_jobs(which, n_jobs)]
    return in_jobs(calls, n_jobs, 0, "compare windows", "part")


def _nearest_each(rows, which, limit, free):
    """Each of some windows with the distance and the start of the nearest one, as far as it is within the limit.

    The nearest pair of all is wanted, so the limit falls; where order does not count it is the nearest later one.
    """
    found, after = [], rows.are_symmetric
    for i in which:
        distance, j = rows.nearest(i, limit, free, after=after)
        found.append((i, (distance, j)))
        limit = min(limit, distance)
    return found

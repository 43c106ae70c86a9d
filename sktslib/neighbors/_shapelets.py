"""Shapelets: pieces of labeled series whose distances from the series tell the classes apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import delayed
from scipy.special import entr

from ..search._comparison import Comparison
from ..search._profile import Choice, Search
from ..search._several import matched
from ..utils._jobs import count_jobs, in_jobs, progress

if TYPE_CHECKING:
    from typing import Any

CRITERIA = ["information_gain", "f_statistic"]
BLOCK = 64  # candidates after which it is looked which are the best; it does not depend on the jobs
PARTS = 4  # of the series, after each of which a candidate may be abandoned
ALIKE = 0.95  # correlation of distances: from there on, with nine tenths of the variance in common, two say the same
SHORTEST = 3  # points of a candidate, as in the shapelet transform


class Shapelet(NamedTuple):
    """A piece of a fitted series that was learned as a query.

    Attributes
    ----------
    series : int
        The number of the series in the collection.
    start, length : int
        Where the piece begins, and how long it is, in samples.
    score : float
        What it tells of the classes: bits, or the F-statistic.
    label : object
        The class that it was chosen for, that of its series.

    Examples
    --------
    >>> from sktslib.neighbors import QueryDistances
    >>> series = [[0, 0, 5, 0, 0], [0, 5, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1]]
    >>> learned = QueryDistances("euclidean", n_queries=1, query_lengths=(3, 3)).fit(series, [1, 1, 0, 0])
    >>> learned.shapelets_[0].length
    3
    """

    series: int
    start: int
    length: int
    score: float
    label: Any


class Candidate(NamedTuple):
    """A piece of a series and what it is worth."""

    series: int
    start: int
    length: int
    score: float
    margin: float  # between the mean distances of both sides, to decide between equal scores
    distances: np.ndarray  # from all series


class Task(NamedTuple):
    """What candidates are compared with."""

    how: Comparison  # without a query
    series: list  # (channels, n) each
    labels: np.ndarray  # numbers of the classes
    criterion: str


# ------------------------------------------------------------------------------------------------------------ scores
def information_gain(distances, own):
    """The most bits that one threshold on distances tells of whether a series is of the own class."""
    order = np.argsort(distances, kind="stable")
    values, own = distances[order], own[order]
    n, count = len(own), own.sum()
    ends = np.flatnonzero(values[:-1] < values[1:])  # a threshold divides different values alone
    if not len(ends):
        return 0.0
    near, of_near = ends + 1.0, np.cumsum(own)[ends]
    left = near * entropy(of_near / near) + (n - near) * entropy((count - of_near) / (n - near))
    return float(max(entropy(count / n) - left.min() / n, 0.0))


def entropy(share):
    """Bits of a share of own ones and the rest."""
    share = np.asarray(share, dtype=float)
    return (entr(share) + entr(1.0 - share)) / np.log(2.0)


def highest_gain(distances, own, rest):
    """What the gain comes to at most: `rest` series of the own class, and of the others, are still to be compared.

    At best all of the one kind are nearer and all of the other farther than what is known (Ye & Keogh 2009).
    """
    kinds = np.repeat([True, False], rest)
    ends = np.where(kinds, -np.inf, np.inf)
    both = np.concatenate([own, kinds])
    return max(information_gain(np.concatenate([distances, sign * ends]), both) for sign in (1.0, -1.0))


def f_statistic(distances, labels):
    """Variance of distances between all classes over that within them."""
    sizes = np.bincount(labels)
    means = np.bincount(labels, distances) / sizes
    between = (sizes * (means - distances.mean()) ** 2).sum() / max(len(sizes) - 1, 1)
    within = ((distances - means[labels]) ** 2).sum() / max(len(labels) - len(sizes), 1)
    if within > 0:
        return float(between / within)
    return np.inf if between > 0 else 0.0


# -------------------------------------------------------------------------------------------------------- candidates
def best_match(how, y):
    """Start, end and distance of the best match of a query in a series; without a candidate -1, -1 and infinity."""
    times = getattr(y, "times", None)
    how = how if times is not None else how._replace(tx=None)  # times of one alone mean nothing
    found = matched(Search.of(how, np.asarray(y), times if how.tx is not None else None), Choice(n_matches=1))
    return [column[0] for column in found[:3]] if len(found.start) else (-1, -1, np.inf)


def distances_of(how, series):
    """Distances of the best matches of a query in series that are at least as long."""
    if how.mode != "windows":
        return np.array([best_match(how, y)[2] for y in series], dtype=float)
    lengths = np.array([y.shape[1] for y in series])
    ends = np.cumsum(lengths)
    found = how.distances(np.concatenate(series, axis=1), None, exactly=True)
    inside = np.arange(ends[-1])[: len(found)] + how.m <= np.repeat(ends, lengths)[: len(found)]
    return np.minimum.reduceat(np.where(inside, found, np.inf), ends - lengths)


def scored(task, pieces, limits):
    """The candidates among pieces (series, start, length) that may be worth as much as the limits of their classes."""
    out = []
    order = interleaved(task.labels)
    parts = np.array_split(order, min(PARTS, len(order)))
    for k, start, length in pieces:
        x = np.ascontiguousarray(task.series[k][:, start : start + length])
        how, label = task.how._replace(x=x), task.labels[k]
        own, distances = task.labels == label, np.full(len(order), np.nan)
        for number, part in enumerate(parts):
            distances[part] = distances_of(how, [task.series[i] for i in part])
            if task.criterion == "information_gain" and number < len(parts) - 1:
                known = np.concatenate(parts[: number + 1])
                count = int(own.sum() - own[known].sum())
                rest = [count, len(order) - len(known) - count]
                if highest_gain(distances[known], own[known], rest) < limits[label]:
                    break
        else:
            by_gain = task.criterion == "information_gain"
            score = information_gain(distances, own) if by_gain else f_statistic(distances, task.labels)
            out.append(Candidate(k, start, length, score, margin(distances, own), distances))
    return out


def interleaved(labels):
    """The order of series in which each class is spread evenly, so that each part of it tells something."""
    place = np.empty(len(labels))
    for label in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == label)
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.argsort(place, kind="stable")


def margin(distances, own):
    """How much farther the others are in the mean, in units of the spread."""
    spread = np.std(distances)
    finite = own.any() and not own.all() and 0 < spread < np.inf
    return float((distances[~own].mean() - distances[own].mean()) / spread) if finite else 0.0


def without_similar(candidates, n):
    """The best n candidates of which none overlaps or is like a better one."""
    kept = []
    for new in sorted(candidates, key=lambda c: (-c.score, -c.margin, c.length, c.series, c.start)):
        if len(kept) == n:
            break
        if not any(similar(new, old) for old in kept):
            kept.append(new)
    return kept


def similar(a, b):
    """Whether two candidates share points, or their distances from the series go up and down together."""
    if a.series == b.series and a.start < b.start + b.length and b.start < a.start + a.length:
        return True
    x, y = a.distances - a.distances.mean(), b.distances - b.distances.mean()
    norm = np.sqrt((x * x).sum() * (y * y).sum())
    return bool(norm == 0 or not (x * y).sum() < ALIKE * norm)


def select(task, sizes, lengths, rng, work):
    """The shapelets of the classes by turns, as `Candidate`.

    `sizes` are their number and that of the pieces that are drawn, `work` tells jobs and verbosity.
    """
    (n, n_candidates), (n_jobs, verbose), n_classes = sizes, work, int(task.labels.max()) + 1
    pieces = drawn(task.series, n_candidates, lengths, rng)
    each = min(-(-n // n_classes), len(pieces))
    best, limits = [[] for _ in range(n_classes)], np.zeros(n_classes)
    blocks = [pieces[first : first + BLOCK] for first in range(0, len(pieces), BLOCK)]

    jobs = count_jobs(n_jobs)
    with progress(len(blocks), verbose, "shapelets", "block") as count:
        for block in blocks:
            calls = [delayed(scored)(task, block[job::jobs], limits.copy()) for job in range(min(jobs, len(block)))]
            for found in in_jobs(calls, n_jobs, 0, "shapelets", "part"):
                for candidate in found:
                    best[task.labels[candidate.series]].append(candidate)
            for label, candidates in enumerate(best):
                best[label] = kept = without_similar(candidates, each)
                limits[label] = kept[-1].score if len(kept) == each else 0.0
            count()
    by_turns = [best[label][k] for k in range(each) for label in range(n_classes) if k < len(best[label])]
    return by_turns[:n]


def drawn(series, n_candidates, lengths, rng):
    """Different pieces (series, start, length), the series by turns in random order, or all that there are."""
    shortest, longest = lengths
    total = sum(y.shape[1] - m + 1 for y in series for m in range(shortest, longest + 1))
    if total <= n_candidates:
        return [
            (k, s, m) for k, y in enumerate(series) for m in range(shortest, longest + 1)
            for s in range(y.shape[1] - m + 1)
        ]  # fmt: skip
    found = {}
    while len(found) < n_candidates:
        for k in rng.permutation(len(series)).tolist():
            m = int(rng.randint(shortest, longest + 1))
            found[k, int(rng.randint(series[k].shape[1] - m + 1)), m] = None
    return list(found)[:n_candidates]

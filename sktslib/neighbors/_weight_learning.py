"""Weights under which series are near to those of their class and far from the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from joblib import delayed

from ..distances._metrics.base import Metric
from ..distances._pairwise import pairwise_distances
from ..distances._series import spread
from ..utils._jobs import in_jobs, parts_for_jobs
from ..utils._linear_weights import ALPHAS, Comparisons, by_parameter, equal, learned, weights_of

FOLDS = 5  # that choose alpha, as in scikit-learn's cross-validation


class Task(NamedTuple):
    """What weights are learned from."""

    metric: Metric
    series: list  # (channels, length) each
    labels: np.ndarray
    basis: np.ndarray  # (n_parameters, channels, length or 1): weights are sums of its rows times parameters
    n_neighbors: int
    max_iter: int
    n_jobs: int | None

    def weights(self, v):
        """The weights (channels, length or 1) of parameters."""
        return weights_of(v, self.basis)

    def of(self, which):
        """The task of some of the series."""
        return self._replace(series=[self.series[k] for k in which], labels=self.labels[which])


def sums(task, X, Y, w):
    """The distances of two collections, as the sums that are linear in the weights."""
    distances = pairwise_distances(X, Y, task.metric, weight=w.T, n_jobs=task.n_jobs, channels_first=True)
    return distances**task.metric._weighted_power * w.max()  # weights are relative


def terms(task, pairs, w):
    """What the parameters are multiplied by in the sums of pairs of series, (pairs, n_parameters)."""
    out = np.empty((len(pairs), len(task.basis)))
    for row, (i, j) in zip(out, pairs, strict=True):
        x, y = task.series[i], task.series[j]
        found = task.metric._weighted_terms(x, np.ascontiguousarray(spread(w, x.shape[1])), y)
        row[:] = by_parameter(found, task.basis)
    return out


# ---------------------------------------------------------------------------------------------------------- objective
def nearest(distances, allowed, count):
    """For each row the positions of the nearest that are allowed, at most so many."""
    order = np.argsort(np.where(allowed, distances, np.inf), axis=1, kind="stable")
    return [row[: min(count, n)] for row, n in zip(order, allowed.sum(axis=1), strict=True)]


def triples_of(task, v, targets, unit):
    """The triples of each series, its targets, and the nearest of other classes under these parameters."""
    w = task.weights(v)
    others = nearest(sums(task, task.series, task.series, w), other_class(task.labels), task.n_neighbors)
    pairs = [(i, j) for i, of in enumerate(targets) if len(of) for j in (*of, *others[i])]
    parts = [pairs[part[0] : part[-1] + 1] for part in parts_for_jobs(np.arange(len(pairs)), task.n_jobs)]
    calls = [delayed(terms)(task, part, w) for part in parts]
    found = np.concatenate(in_jobs(calls, task.n_jobs, 0, "weights", "part"))
    rows, share, at = [], [], 0
    for own, other in zip(targets, others, strict=True):
        if not len(own):
            continue
        near, far = found[at : at + len(own)], found[at + len(own) : at + len(own) + len(other)]
        at += len(own) + len(other)
        rows.append((near[:, np.newaxis] - far).reshape(-1, len(v)) / unit)
        share.append(np.full(len(rows[-1]), 1.0 / len(rows[-1])))
    return Comparisons(np.concatenate(rows), np.concatenate(share) / len(share))


def same_class(labels):
    """Whether two different series are of one class."""
    same = labels[:, np.newaxis] == labels
    np.fill_diagonal(same, False)
    return same


def other_class(labels):
    """Whether two series are of different classes."""
    return labels[:, np.newaxis] != labels


# ----------------------------------------------------------------------------------------------------------- learning
def learn(task, alpha, count):
    """Weights for a strength of the pull to equal ones; infinite means equal. `count` counts iterations."""
    v = np.ones(len(task.basis))
    same = same_class(task.labels)
    distances = sums(task, task.series, task.series, task.weights(v))
    targets = nearest(distances, same, task.n_neighbors)
    near = [distances[i, of].mean() for i, of in enumerate(targets) if len(of)]
    unit = float(np.mean(near)) if near else 0.0
    others = other_class(task.labels)
    unit = unit or (float(distances[others].mean()) if others.any() else 0.0)
    if not near or not others.any() or not unit > 0 or alpha == np.inf:  # nothing to learn from
        return equal(task.basis)

    def compare(v):
        return triples_of(task, v, targets, unit)

    return learned(compare(v), compare, task.basis, alpha, task.max_iter, count)


def choose_alpha(task, rng, count):
    """The alpha whose weights classify best by the nearest neighbor in cross-validation, and the shares correct.

    Of equally good ones the largest, which keeps weights the most equal.
    """
    folds, n = np.empty(len(task.labels), int), min(FOLDS, np.bincount(task.labels).max())
    for label in np.unique(task.labels):
        members = rng.permutation(np.flatnonzero(task.labels == label))
        folds[members] = np.arange(len(members)) % n
    correct = np.zeros(len(ALPHAS))
    for fold in range(n):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        part, held = task.of(train), task.of(test)
        for k, alpha in enumerate(ALPHAS):
            w = learn(part, alpha, count).weights
            found = sums(task, held.series, part.series, w).argmin(axis=1)
            correct[k] += (part.labels[found] == held.labels).sum()
    shares = correct / len(task.labels)
    best = max(range(len(ALPHAS)), key=lambda k: (shares[k], ALPHAS[k]))
    return ALPHAS[best], dict(zip(ALPHAS, shares.tolist(), strict=True))

"""Queries learned from labeled occurrences: templates, weights, and bounds of lengths.

Mirrored occurrences are turned to the signs that most of their class have.
"""

from typing import NamedTuple

import numpy as np

from ...distances._barycenters import barycenter
from ...distances._metrics.elastic import ElasticMetric
from ...distances._metrics.soft import SoftDTW
from ...distances._pairwise import pairwise_distances
from ...distances._series import resample
from ...utils._jobs import progress
from .._segments.optimal import power_of


def aligned(pieces, signs, metric):
    """Return pieces (channels, n) times the signs with which the medoid fits them best, turned as most of them were.

    The average of opposite pieces would be none. The medoid is that of the pieces turned like the first.
    """
    if signs is None or len(pieces) < 2:
        return pieces
    signs = signs.reshape(len(signs), -1, 1)
    turned, _ = _turned(pieces, pieces[0], signs, metric)
    far = pairwise_distances(turned, metric=metric, channels_first=True)
    turned, which = _turned(pieces, pieces[int(np.argmin(far.sum(axis=1)))], signs, metric)
    most = signs[np.argmax(np.bincount(which))]
    return [piece * most for piece in turned]


def _turned(pieces, middle, signs, metric):
    """Return the pieces turned so that `middle` fits them, and the number of the signs of each."""
    far = pairwise_distances([middle * sign for sign in signs], pieces, metric=metric, channels_first=True)
    which = np.argmin(far, axis=0)
    return [piece * signs[k] for piece, k in zip(pieces, which, strict=True)], which


EXAMPLES = 50  # occurrences of a class that are averaged, as many as a medoid is searched for among
FEW = 3  # with fewer there is no average and no spread
MERGED = 1.75  # times the usual length of its class: two occurrences that touch
STRETCH = 1.5  # how much longer or shorter than the marked occurrences a repetition may be
LEAST_SPREAD = 0.1  # of a point's variance, as a share of the mean over the points
MOST_TEMPLATES = 4
CLEAR = 0.4  # silhouette from which on groups of occurrences count as such
ITERATIONS = 20


class Learned(NamedTuple):
    """A query that was learned."""

    x: np.ndarray  # (channels, m)
    w: np.ndarray | None
    tx: np.ndarray | None
    number: int  # of its class, from 0
    limits: tuple[int, int]  # shortest and longest repetition
    weights: object = None  # a fitted MetricWeights, where one learned the weights


def single(ranges):
    """Return the ranges of one class without those that are long enough to be two occurrences.

    Such occurrences were marked without a gap between them.
    """
    length = ranges[:, 1] - ranges[:, 0]
    return ranges[length <= MERGED * np.median(length)]


def examples(ranges):
    """Return at most EXAMPLES of the ranges, evenly spread over them."""
    return ranges[np.linspace(0, len(ranges) - 1, min(len(ranges), EXAMPLES)).round().astype(int)]


def learn_queries(data, times, ranges, labels, metric, n_templates, verbose, signs=None):
    """Return the queries of each label of the occurrences in a recording (channels, n).

    Parameters
    ----------
    n_templates : int or "auto"
        Queries of each class.
    signs : ndarray, optional
        Those that occurrences may have (k,), or their channels (k, channels).

    Returns
    -------
    list of Learned
    """
    found, spreads = [], []
    classes = np.unique(labels)
    with progress(len(classes), verbose, "learn queries", "class") as count:
        for label in classes:
            own = examples(single(ranges[labels == label]))
            pieces = as_comparable([np.ascontiguousarray(data[:, s:e]) for s, e in own], metric)
            pieces = aligned(pieces, signs, metric)
            far = distances(pieces, metric, verbose)
            for group in groups(far, n_templates):
                middle = group[np.argmin(far[np.ix_(group, group)].sum(axis=1))]
                x, variance = pieces[middle], None
                if len(group) >= FEW:
                    members = [pieces[k] for k in group]
                    x = average(members, x, metric, verbose=verbose)
                    variance = variances(x, members, metric)
                s, e = own[middle]
                tx = None if times is None or x.shape[1] != e - s else times[s:e] - times[s]
                limits = length_limits(np.diff(own[group], axis=1)[:, 0], x.shape[1])
                found.append(Learned(x, None, tx, int(label) - 1, limits))
                spreads.append((variance, len(group)))
            count()
    if not metric._takes_weights:
        return found
    weights = weigh(spreads, [one.x.shape for one in found], power_of(metric))
    return [one._replace(w=w) for one, w in zip(found, weights, strict=True)]


def length_limits(lengths, m):
    """Return the shortest and the longest repetition to look for.

    Marks that were cut short by the next one are left out.
    """
    shortest = min(max(lengths.min(), np.median(lengths) / MERGED), m)
    return max(int(np.ceil(shortest / STRETCH)), 1), int(max(lengths.max(), m) * STRETCH)


def as_comparable(pieces, metric):
    """Return pieces as the metric compares them.

    Where points meet one by one, they are resampled to their median length.
    """
    if isinstance(metric, ElasticMetric) or len({piece.shape[1] for piece in pieces}) == 1:
        return pieces
    m = int(np.median([piece.shape[1] for piece in pieces]))
    return [resample(piece, m) for piece in pieces]


def distances(pieces, metric, verbose):
    """Return the symmetric distances (k, k) of the pieces from each other."""
    if len(pieces) < FEW:
        return np.zeros((len(pieces), len(pieces)))
    far = pairwise_distances(pieces, metric=metric, verbose=verbose, channels_first=True)
    return (far + far.T) / 2


def groups(far, n_templates):
    """Return the indices of the occurrences that make a template each, by average linkage.

    "auto" takes the number of groups with the largest silhouette, if that is a clear one. Groups of fewer than three
    are left out unless there are no others, for an average of them would show their accidents.
    """
    n = len(far)
    everything = [np.arange(n)]
    if n_templates == 1 or n < 2 * FEW or not np.isfinite(far).all():
        return everything
    from sklearn.cluster import AgglomerativeClustering  # these two take longer to import than the package
    from sklearn.metrics import silhouette_score

    best, cut = CLEAR, None
    for k in range(2, MOST_TEMPLATES + 1) if n_templates == "auto" else [min(n_templates, n // FEW)]:
        which = AgglomerativeClustering(k, metric="precomputed", linkage="average").fit_predict(far)
        if n_templates != "auto":
            cut = which
        elif np.sort(np.bincount(which))[-2] >= FEW:
            value = silhouette_score(far, which, metric="precomputed")
            best, cut = (value, which) if value > best else (best, cut)
    if cut is None:
        return everything
    return [np.flatnonzero(cut == k) for k in range(cut.max() + 1) if (cut == k).sum() >= FEW] or everything


def average(pieces, middle, metric, w=None, verbose=0):
    """Return the barycenter (channels, m) of pieces, starting from `middle`; metrics without one get a plain mean."""
    if isinstance(metric, ElasticMetric | SoftDTW):
        method = "dba" if isinstance(metric, ElasticMetric) else "soft"
        rest = {"init": middle, "weight": None if w is None else w.T, "max_iter": ITERATIONS, "channels_first": True}
        return barycenter(pieces, metric, method=method, verbose=verbose, **rest)
    return np.mean([resample(piece, middle.shape[1]) for piece in pieces], axis=0)


def variances(x, pieces, metric):
    """Return the mean squared difference (channels, m) of each point from the points that it meets."""
    total, count = np.zeros(x.shape), np.zeros(x.shape[1])
    for y in pieces:
        if isinstance(metric, ElasticMetric):
            (i, j), _ = metric._partners(metric._distance(x, None, y, None, None))
        else:
            i, j = np.arange(x.shape[1]), np.linspace(0, y.shape[1] - 1, x.shape[1]).round().astype(int)
        np.add.at(count, i, 1)
        np.add.at(total, (slice(None), i), (x[:, i] - y[:, j]) ** 2)
    mean = total.sum(axis=1, keepdims=True) / max(count.sum(), 1)
    return np.where(count > 0, total / np.maximum(count, 1), mean)


def weigh(spreads, shapes, power):
    """Return the weights of the points of all templates, the inverse of their spread; the largest of all is 1.

    A variance is drawn towards the mean over the points, the more the fewer occurrences it is from; a template of too
    few occurrences has the same weight everywhere. In each channel the (geometric) mean weight of every template is the
    same: else the template with the largest spread would fit everything at the least cost.
    """
    known = [variance.mean(axis=1) for variance, _ in spreads if variance is not None]
    usual = np.mean(known, axis=0) if known else np.zeros(shapes[0][0])
    if not usual.any():
        return [None] * len(shapes)
    usual[usual == 0] = usual[usual > 0].mean()
    weights = []
    for (variance, count), shape in zip(spreads, shapes, strict=True):
        relative = np.ones(shape)
        mean = None if variance is None else variance.mean(axis=1, keepdims=True)
        if variance is not None and mean.all():
            relative = np.maximum((count * variance / mean + FEW) / (count + FEW), LEAST_SPREAD)
            relative /= np.exp(np.log(relative).mean(axis=1, keepdims=True))
        weights.append((relative * usual[:, np.newaxis]) ** (-power / 2))
    top = max(w.max() for w in weights)
    return [np.ascontiguousarray(w / top) for w in weights]

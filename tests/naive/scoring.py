"""Scores of found events."""

from functools import cache

import numpy as np

from .series import INF


def runs(labels):
    """All runs of equal labels, background too: [start, end, label]."""
    found = []
    for i, label in enumerate(labels):
        if found and found[-1][2] == label:
            found[-1][1] = i + 1
        else:
            found.append([i, i + 1, label])
    return found


def events(labels):
    """Events [start, end): the runs of equal non-zero labels, or the rows of a (k, 2) array."""
    labels = np.asarray(labels)
    if labels.ndim == 2:
        return [(int(s), int(e)) for s, e in labels]
    return [(start, end) for start, end, label in runs(labels) if label != 0]


def event_f1(y_true, y_pred, min_iou=0.5, tolerance=None):
    """F1 score of the largest one-to-one matching of events, by trying all matchings."""
    true, pred = events(y_true), events(y_pred)
    if not true and not pred:
        return 1.0

    def agree(a, b):
        if tolerance is not None:
            return abs(a[0] - b[0]) <= tolerance and abs(a[1] - b[1]) <= tolerance
        common = max(0, min(a[1], b[1]) - max(a[0], b[0]))
        union = (a[1] - a[0]) + (b[1] - b[0]) - common
        return common / union >= min_iou

    @cache
    def most(k, free):
        if k == len(true):
            return 0
        best = most(k + 1, free)
        for q in free:
            if agree(true[k], pred[q]):
                best = max(best, 1 + most(k + 1, free - {q}))
        return best

    hits = most(0, frozenset(range(len(pred))))
    return 2 * hits / (len(true) + len(pred))


def intersection_over_union(a, b):
    """Samples in both ranges over samples in either."""
    return len(set(range(*a)) & set(range(*b))) / len(set(range(*a)) | set(range(*b)))


def boundary_error(y_true, y_pred, min_iou=0.5):
    """The least mean border distance of all matchings of events with the most pairs."""
    true, pred = events(y_true), events(y_pred)
    if not true and not pred:
        return 0.0

    def best(k, free):
        """Most pairs and, of these, the least sum of errors."""
        if k == len(true):
            return 0, 0.0
        found = best(k + 1, free)
        for q in free:
            if intersection_over_union(true[k], pred[q]) >= min_iou:
                pairs, error = best(k + 1, free - {q})
                error += abs(true[k][0] - pred[q][0]) + abs(true[k][1] - pred[q][1])
                if pairs + 1 > found[0] or (pairs + 1 == found[0] and error < found[1]):
                    found = pairs + 1, error
        return found

    pairs, error = best(0, frozenset(range(len(pred))))
    return error / (2 * pairs) if pairs else INF


def segmentation_covering(y_true, y_pred):
    """Each true segment's best intersection over union, weighted by its length; runs of labels, background too."""
    true, pred = ([(a, b) for a, b, _ in runs(y)] for y in (y_true, y_pred))
    if not true:
        return 1.0
    return sum((b - a) * max(intersection_over_union((a, b), other) for other in pred) for a, b in true) / len(y_true)

"""The threshold with which a search finds the marked occurrences best."""

import numpy as np

from ...metrics._matching import pairs_by_iou
from .learned_background import SHIFTED


def right_ones(matches, ranges):
    """The order of matches by distance, and which of them in it are occurrences (k, 2), each of which counts once."""
    order = np.argsort(matches.distance, kind="stable")
    found = np.column_stack([matches.start, matches.end])[order]
    right = np.zeros(len(found), bool)
    taken = set()
    pairs = {}
    for event, match in zip(*pairs_by_iou(ranges, found, SHIFTED), strict=True):
        pairs.setdefault(int(match), []).append(int(event))
    for match in sorted(pairs):
        free = next((event for event in pairs[match] if event not in taken), None)
        if free is not None:
            taken.add(free)
            right[match] = True
    return order, right


def learn_threshold(matches, ranges):
    """The distance with which a search finds the marked occurrences (k, 2) best, midway to the next one; or None."""
    order, right = right_ones(matches, ranges)
    if not right.any():
        return None
    distance = matches.distance[order]
    f1 = 2 * np.cumsum(right) / (np.arange(1, len(right) + 1) + len(ranges))
    f1[:-1][distance[:-1] == distance[1:]] = -1.0  # a threshold takes all that are as far
    last = len(f1) - 1 - int(np.argmax(f1[::-1]))
    if last + 1 == len(f1):
        return None
    return float((distance[last] + distance[last + 1]) / 2)

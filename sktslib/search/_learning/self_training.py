"""Self-training: repetitions of the part of a recording that nobody labeled, taken as further occurrences."""

from typing import NamedTuple

import numpy as np

from ...metrics._matching import pairs_by_iou
from .learned_background import SHIFTED, of_another, plain_background, shares_of
from .learned_queries import STRETCH, single

UNLABELED = -1  # as in scikit-learn's semi-supervised estimators
SLACK = np.sqrt(STRETCH)  # midway between the length of the labeled occurrences and the bounds of a repetition


class Taken(NamedTuple):
    """Repetitions that are taken as occurrences, in temporal order, and the median of what is in no repetition."""

    ranges: np.ndarray  # (k, 2)
    code: np.ndarray  # (k,)
    offset: np.ndarray | None  # (channels, 1)

    def are_those_of(self, other):
        """Whether the repetitions are the same."""
        return np.array_equal(self.ranges, other.ranges) and np.array_equal(self.code, other.code)


NOTHING = Taken(np.empty((0, 2), np.int64), np.empty(0, np.int64), None)


def are_unlabeled(y):
    """Which labels of an array say that nobody looked; texts and truth values never do."""
    return np.zeros(len(y), bool) if y.dtype.kind in "USTb" else np.asarray(y == UNLABELED, bool)


def learnable(marked, taken=NOTHING):
    """A marked recording with what is taken as further occurrences; its other unlabeled samples are missing."""
    if marked.unlabeled is None:
        return marked
    hidden, code = marked.unlabeled.copy(), np.where(marked.unlabeled, UNLABELED, marked.labels.code)
    for (s, e), number in zip(taken.ranges.tolist(), taken.code.tolist(), strict=True):
        hidden[s:e], code[s:e] = False, number
    ranges = np.concatenate([marked.ranges, taken.ranges])
    order = np.argsort(ranges[:, 0])
    return marked._replace(
        data=np.where(hidden, np.nan, marked.data),
        labels=marked.labels._replace(code=code),
        ranges=ranges[order],
        code=np.concatenate([marked.code, taken.code])[order],
        offset=taken.offset,
    )


def sure_ones(marked, queries, numbers, found):
    """Repetitions of the unlabeled part that are as sure as those of the labeled occurrences.

    They cost at most the largest share, of what they would as plain background, of an occurrence of their class that
    was found, as `of_another` estimates it, and less than any false repetition of the labeled part. From a share of 1
    on the background is nearer. They are about as long as the labeled ones, too: a metric that stretches without
    charge finds an occurrence, but not its borders, and queries learned from that would grow from round to round.

    Parameters
    ----------
    marked : Annotation
    queries : list of Comparison
    numbers : ndarray of int
        The label of each query.
    found : SegmentTable
        The segmentation of the whole recording.
    """
    inside = np.zeros(marked.data.shape[1], bool)
    for s, e in zip(found.start, found.end, strict=True):
        inside[s:e] = True
    inside |= ~marked.unlabeled & (marked.labels.code != 0)
    rest = marked.data[:, ~inside]
    offset = np.nanmedian(rest if (~np.isnan(rest)).any(axis=1).all() else marked.data, axis=1, keepdims=True)
    share = shares_of(found, plain_background(queries, offset).costs(marked.data))
    events, own = np.column_stack([found.start, found.end]), numbers[found.query]
    foreign = np.append(0, np.cumsum(marked.unlabeled))
    foreign, length = foreign[found.end] - foreign[found.start], found.end - found.start
    i, j = pairs_by_iou(marked.ranges, events, SHIFTED)
    hit = np.zeros(len(events), bool)
    hit[j[marked.code[i] == own[j]]] = True
    sure = np.zeros(len(events), bool)
    for number in np.unique(marked.code):
        of_class = own == number
        known = share[of_class & hit]
        if len(known):
            most = min(of_another(known.max(), len(known)), 1.0)
            false = share[of_class & ~hit & (foreign == 0)].min(initial=np.inf)
            usual = np.diff(single(marked.ranges[marked.code == number]), axis=1)
            as_long = (usual.min() <= length * SLACK) & (length <= usual.max() * SLACK)
            sure |= of_class & (foreign == length) & as_long & (share <= most) & (share < false)
    return Taken(events[sure], own[sure], offset)

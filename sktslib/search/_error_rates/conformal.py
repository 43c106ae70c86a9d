"""A threshold that keeps the share of missed occurrences."""

from __future__ import annotations

from numbers import Real

import numpy as np

from ...metrics._matching import pairs_by_iou
from ...utils._sklearn import Estimator, Interval
from ...utils._warnings import warn
from .._learning.held_out_report import HeldOut
from .._learning.learned_background import SHIFTED

BLOCKS = 5  # as many as cross-validation usually has


class Conformal(Estimator):
    """A threshold with which at least a share of 1 - `alpha` of the occurrences is expected to be found.

    The occurrences of each class that labels mark are cut into blocks, up to five, one after the other in time. Those
    of each block are looked for by a query that is learned from the other blocks, and the threshold of the class is the
    ``ceil((n + 1) (1 - alpha))``-th smallest of the n distances at which they are found (Vovk 2015). Pass it as the
    `threshold` of `QuerySearcher` or `QuerySegmenter`, or the text ``"conformal:0.1"``.

    Parameters
    ----------
    alpha : float in (0, 1), default=0.1
        The expected share of occurrences that are missed. There must be at least ``1 / alpha - 1`` occurrences of each
        class, and two.

    Notes
    -----
    It holds for occurrences to come that are exchangeable with those that are labeled: as a further one of the same
    recording, of which no one could tell that it is not marked. It does not hold for another subject, or for a drift.
    The query is learned from all blocks in the end, from a little more than in each block, which as a rule errs to the
    safe side. Nothing is said of false matches.

    References
    ----------
    Vovk V. Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 74, 2015.

    Examples
    --------
    >>> from sktslib import QuerySearcher, load_ecg_example
    >>> from sktslib.search import Conformal
    >>> ecg = load_ecg_example()
    >>> found = QuerySearcher("dtw", n_matches=12).fit(ecg.query).search(ecg.sequence)
    >>> y = [int(((found.start <= k) & (k < found.end - 1)).any()) for k in range(len(ecg.sequence))]
    >>> searcher = QuerySearcher("dtw", threshold=Conformal(0.2)).fit(ecg.sequence[:, None], y)
    >>> len(searcher.search(ecg.sequence)) >= 10
    True
    """

    _parameter_constraints = {"alpha": [Interval(Real, 0, 1, closed="neither")]}

    def __init__(self, alpha: float = 0.1) -> None:
        self.alpha = alpha

    def _check(self):
        self._validate()

    def _check_counts(self, marked):
        """Refuse classes with too few occurrences."""
        numbers, counts = np.unique(marked.code, return_counts=True)
        least = max(int(np.ceil(1.0 / self.alpha - 1.0 - 1e-9)), 2)
        if counts.min() < least:
            name, count = marked.labels.classes.tolist()[numbers[np.argmin(counts)] - 1], counts.min()
            other = f", or take an 'alpha' of at least {1 / (count + 1):.2g}" if count > 1 else ""
            raise ValueError(
                f"Conformal(alpha={self.alpha:g}) needs at least {least} occurrences of each class: 1 / alpha - 1, and "
                f"not fewer than two. Got {count} of class {name!r}. Mark more{other}."
            )

    def _threshold(self, scores, name):
        """The quantile of the distances at which occurrences are found, which are infinite where they are not."""
        scores, n = np.sort(scores), len(scores)
        found = int(np.isfinite(scores).sum())
        rank = min(int(np.ceil((n + 1) * (1.0 - self.alpha) - 1e-9)), n)
        if found < rank:
            warn(
                f"At most {found} of {n} occurrences of class {name!r} are found at any distance, each by what the "
                f"others tell, so no threshold keeps {self.alpha:g}. The largest distance at which one is found is "
                "the threshold."
            )
        return float(scores[min(rank, found) - 1]) if found else -np.inf


def blocks(marked):
    """Whether each occurrence is held out, for each block in turn; of each class a part that lies together in time."""
    block = np.empty(len(marked.code), int)
    for number in np.unique(marked.code):
        own = np.flatnonzero(marked.code == number)
        for k, some in enumerate(np.array_split(own, min(BLOCKS, len(own)))):
            block[some] = k
    for k in range(block.max() + 1):
        yield block == k


def without(marked, held):
    """What is marked without some occurrences."""
    return marked._replace(ranges=marked.ranges[~held], code=marked.code[~held])


def found_at(ranges, start, end, distance):
    """The distance at which each range is found among some matches; infinite where it is not."""
    out = np.full(len(ranges), np.inf)
    which, match = pairs_by_iou(ranges, np.column_stack([start, end]), SHIFTED)
    np.minimum.at(out, which, distance[match])
    return out


def conformal_thresholds(rule, marked, distances):
    """The threshold of each class that is marked, by its number, and what is found with it.

    `distances` tells for what is marked in the other blocks at what distances some ranges are found, and all that is.
    What is found belongs to the block of the occurrence that is next to it.
    """
    rule._check_counts(marked)
    scores, found = np.empty(len(marked.code)), []
    middle = marked.ranges.sum(axis=1)
    between = (middle[1:] + middle[:-1]) / 2
    for held in blocks(marked):
        scores[held], some = distances(without(marked, held), marked.ranges[held], marked.code[held])
        found.append(some.take(held[np.searchsorted(between, some.ranges.sum(axis=1))]))
    names, found = marked.labels.classes.tolist(), HeldOut.together(found)
    thresholds = {int(k): rule._threshold(scores[marked.code == k], names[k - 1]) for k in np.unique(marked.code)}
    limits = np.array([thresholds.get(k, -np.inf) for k in range(len(names) + 1)])
    return thresholds, found.take(found.distance <= limits[found.code]).nearest

"""What is learned from answers about matches: which are occurrences and which are not."""

from typing import NamedTuple

import numpy as np

from ...distances._series import full_weight, normalise, resample
from .._comparison import Comparison
from .._segmentation.background import power_of
from .learned_queries import FEW, average, distances, groups, variances, weigh


class Answers(NamedTuple):
    """A query as it was before any answer, and the answers about it."""

    how: Comparison
    count: int  # occurrences that the query is the average of
    fixed: bool  # whether its weights were given, or learned from labels
    good: tuple = ()  # samples (channels, n) and times of the occurrences
    bad: tuple = ()


def relearned(answers, limits):
    """How a query is compared in the light of the answers: its shape and its weights.

    `limits` are those of the length of its matches.
    """
    how = answers.how._replace(limits=limits)
    good = [comparable(how, y) for y, _ in answers.good]
    good = [piece for piece in good if np.isfinite(piece).all()]
    if len(good) + 1 < FEW or np.isnan(how.x).any():
        return how
    # Occurrences of another shape would blur the average; a template of their own is theirs only where a query may
    # have alternatives: as a query of the same class each occurrence would be found by both.
    own = max(groups(distances(good, how.metric, 0), "auto"), key=len)
    first = comparable(how, how.x)
    members = [first, *(good[k] for k in own)]
    x = average([first] * (answers.count - 1) + members, first, how.metric, how.w)
    if answers.fixed or not how.metric._takes_weights:
        return how._replace(x=x)
    spread = variances(x, members, how.metric), len(members)
    return how._replace(x=x, w=weigh([spread], [x.shape], power_of(how.metric))[0])


def comparable(how, y):
    """A piece (channels, n) as it is averaged with the query: normalised, and of its length where windows are."""
    if how.mode == "windows" and y.shape[1] != how.m:
        y = resample(y, how.m)
    return y if how.normalize is None else normalise(y, full_weight(how.w, how.x), how.normalize)


def threshold_of_answers(good, bad, others):
    """The largest distance of an occurrence, by the distances of those that are, that are not, and of the rest.

    It is that of the largest expected F1, where the share of occurrences falls with the distance: from 1 at 0, in lines
    between the answers, to 0 as far as one more distance would be expected to lie.
    """
    from sklearn.isotonic import IsotonicRegression  # takes longer to import than the package

    good, bad, others = (some[np.isfinite(some)] for some in (good, bad, others))
    distance = np.sort(np.concatenate([good, bad, others]))
    n = len(distance)
    if not n:
        return 0.0
    beyond = float(distance[-1]) * (1.0 + 1.0 / n)
    answer = np.concatenate([np.ones(len(good)), np.zeros(len(bad)), [1.0, 0.0]])
    regression = IsotonicRegression(increasing=False).fit(np.concatenate([good, bad, [0.0, beyond]]), answer)
    share = regression.predict(distance)
    f1 = 2 * np.cumsum(share) / (np.arange(1, n + 1) + share.sum())
    f1[:-1][distance[:-1] == distance[1:]] = -1.0  # a threshold takes all that are as far
    last = n - 1 - int(np.argmax(f1[::-1]))
    return beyond if last + 1 == n else float((distance[last] + distance[last + 1]) / 2)

"""What is learned from answers about matches: which are occurrences and which are not."""

from typing import NamedTuple

import numpy as np

from ...distances._series import full_weight, normalize_values, resample
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
    """How a query is compared in the light of the answers: its shape, its weights, and its alternatives.

    `limits` are those of the length of its matches.
    """
    how = answers.how._replace(limits=limits)
    good = [comparable(how, y) for y, _ in answers.good]
    good = [piece for piece in good if np.isfinite(piece).all()]
    if len(good) + 1 < FEW or np.isnan(how.x).any():
        return how
    first = comparable(how, how.x)
    far = distances([first, *good], how.metric, 0)
    # Occurrences of another shape would blur the average. They have a template of their own, and as an alternative of
    # the query, not a query beside it, so that no occurrence is found by both.
    shapes = sorted(groups(far[1:, 1:], "auto"), key=lambda group: far[0, 1 + group].mean())
    members = [[first, *(good[k] for k in shapes[0])]]
    queries = [average([first] * (answers.count - 1) + members[0], first, how.metric, how.w)]
    for group in shapes[1:]:
        middle = good[group[np.argmin(far[np.ix_(1 + group, 1 + group)].sum(axis=1))]]
        members.append([good[k] for k in group])
        queries.append(average(members[-1], resample(middle, how.m), how.metric, how.w))
    weights = [how.w] * len(queries)
    if not answers.fixed and how.metric._takes_weights:
        spreads = [(variances(x, some, how.metric), len(some)) for x, some in zip(queries, members, strict=True)]
        weights = weigh(spreads, [x.shape for x in queries], power_of(how.metric))
    (x, w), *others = zip(queries, weights, strict=True)
    return how._replace(x=x, w=w, alternatives=tuple(others))


def comparable(how, y):
    """A piece (channels, n) as it is averaged with the query: normalized, and of its length where windows are."""
    if how.mode == "windows" and y.shape[1] != how.m:
        y = resample(y, how.m)
    return y if how.normalize is None else normalize_values(y, full_weight(how.w, how.x), how.normalize)


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

"""Learning from a user's answers about matches: which ones are occurrences, and which are not.

Answers change the threshold, the shape of the query, and its weights. It is best to ask about the matches near the
border between occurrences and other candidates.
"""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import NamedTuple

import numpy as np

from ...distances._series import full_weight, normalize_values, resample
from ...utils._times import as_positions
from ...utils.validation import refused, shown
from .._channels import as_given
from .._plan import QueryPlan
from .._profile import Search
from .._results import Matches
from .._segments.optimal import power_of
from .._thresholds import Percentile, rule_of
from .labels import FEW, average, best_cut, distances, groups, variances, weigh


class Answers(NamedTuple):
    """A query before any answer, and the answers about it."""

    plan: QueryPlan
    count: int  # number of occurrences that the query is the average of
    fixed: bool  # whether its weights were given or learned from labels, so that answers do not change them
    good: tuple = ()  # samples (channels, n) and times of each confirmed occurrence
    bad: tuple = ()


def plan_of_answers(answers, limits):
    """Return the plan of a query after the answers: with their shape, weights and alternatives.

    `limits` are the limits of the length of its matches.
    """
    plan = answers.plan._replace(limits=limits)
    good = [comparable(plan, y) for y, _ in answers.good]
    good = [piece for piece in good if np.isfinite(piece).all()]
    if len(good) + 1 < FEW or np.isnan(plan.x).any():
        return plan
    first = comparable(plan, plan.x)
    far = distances([first, *good], plan.metric)
    # Occurrences of another shape would blur the average. They get a template of their own, as an alternative of the
    # query and not as a second query, so that no occurrence is found by both.
    shapes = sorted(groups(far[1:, 1:], "auto"), key=lambda group: far[0, 1 + group].mean())
    members = [[first, *(good[k] for k in shapes[0])]]
    queries = [average([first] * (answers.count - 1) + members[0], first, plan.metric, plan.w)]
    for group in shapes[1:]:
        middle = good[group[np.argmin(far[np.ix_(1 + group, 1 + group)].sum(axis=1))]]
        members.append([good[k] for k in group])
        queries.append(average(members[-1], resample(middle, plan.m), plan.metric, plan.w))
    weights = [plan.w] * len(queries)
    if not answers.fixed and plan.metric._takes_weights:
        spreads = [(variances(x, some, plan.metric), len(some)) for x, some in zip(queries, members, strict=True)]
        weights = weigh(spreads, [x.shape for x in queries], power_of(plan.metric))
    (x, w), *others = zip(queries, weights, strict=True)
    return plan._replace(x=x, w=w, alternatives=tuple(others))


def comparable(plan, y):
    """Return the samples (channels, n) of an occurrence in the form that is averaged with the query.

    They are normalized, and for a search by windows resampled to the query's length.
    """
    if plan.mode == "windows" and y.shape[1] != plan.m:
        y = resample(y, plan.m)
    return y if plan.normalize is None else normalize_values(y, full_weight(plan.w, plan.x), plan.normalize)


def threshold_of_answers(good, bad, others):
    """Return the threshold for distances, given the distances of `good` matches, `bad` ones and `others`.

    It has the largest expected F1. The probability that a match is an occurrence falls with its distance: it is 1 at 0,
    is interpolated between the answers, and is 0 at the distance where one further match is expected.
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
    threshold = best_cut(2 * np.cumsum(share) / (np.arange(1, n + 1) + share.sum()), distance)
    return beyond if threshold is None else threshold


MOST_OTHERS = 1000  # matches without an answer whose distances are used


def relearned(searcher, matches, good, bad):
    """Return a searcher that has learned from answers about matches; see `QuerySearcher.learn_from_answers`."""
    if any(plan.by_channel is not None and not plan.by_channel.is_joint for plan in searcher._queries):
        rule = "be called on a searcher whose channels have no lags and equal lengths"
        got, out = repr(searcher.channels), "Cut the good matches out, matches.cut(), and fit a query of them."
        raise refused("'learn_from_answers'", rule, got, out)
    _check_matches(searcher, matches)
    numbers = {name: _numbers(value, matches, name) for name, value in (("good", good), ("bad", bad))}
    both = np.intersect1d(*numbers.values())
    if len(both):
        raise ValueError(f"'good' and 'bad' must have no match in common. Got {shown(both.tolist())} in both.")
    if not any(len(some) for some in numbers.values()):
        raise ValueError("'good' or 'bad' must hold the number of a match. Got none in either.")
    query = np.zeros(len(matches), int) if matches.query is None else matches.query
    new = copy(searcher)
    new._answers, queries, thresholds = [], [], []
    for k, before in enumerate(_answered(searcher)):
        own = {name: some[query[some] == k] for name, some in numbers.items()}
        mine = searcher._queries[k]
        read = {name: tuple(_turned(matches, i) for i in some) for name, some in own.items()}
        answers = before._replace(good=before.good + read["good"], bad=before.bad + read["bad"])
        new._answers.append(answers)
        is_new, known = any(map(len, own.values())), searcher._thresholds[k]
        if known is None and matches.threshold is not None and not np.isnan(matches.threshold[k]):
            known = float(matches.threshold[k])
        plan = plan_of_answers(answers, searcher._searches[k][0].limits) if is_new else mine
        queries.append(plan._replace(limits=mine.limits) if is_new else mine)
        if not is_new and (known is not None or not isinstance(rule_of(searcher.threshold), Percentile)):
            thresholds.append(known)
            continue
        rest = np.setdiff1d(np.flatnonzero(query == k), np.concatenate([*own.values()]))
        rest = rest[np.linspace(0, len(rest) - 1, min(len(rest), MOST_OTHERS)).round().astype(int)]
        pieces = answers.good, answers.bad, (_turned(matches, i) for i in rest)
        far = (np.array([Search(plan, *piece).nearest() for piece in some]) for some in pieces)
        thresholds.append(threshold_of_answers(*far))
    new.threshold = None
    new._fit_queries(queries)
    new._learned_thresholds = thresholds
    return new


def _answered(searcher):
    """Return a list with the `Answers` about each query before this call."""
    if hasattr(searcher, "_answers"):
        return searcher._answers
    counts = getattr(searcher, "_counts", [1] * len(searcher._queries))
    return [
        Answers(plan.unsigned, count, as_given(plan)[1] is not None)
        for plan, count in zip(searcher._queries, counts, strict=True)
    ]


def _check_matches(searcher, matches):
    """Refuse matches that are not from this searcher or from one that it was learned from."""
    if not isinstance(matches, Matches):
        rule, out = "be Matches of a search", "'good' and 'bad' hold their numbers."
        raise refused("The 'matches' parameter of learn_from_answers", rule, shown(matches), out, error=TypeError)
    readers = matches._source.readers
    channels, count = len(readers[0].plan.x), len(readers) // (max(matches._source.sequences) + 1)
    is_lagged = any(reader.plan.by_channel is not None and not reader.plan.by_channel.is_joint for reader in readers)
    if channels != searcher.n_features_in_ or count != len(searcher._queries) or is_lagged:
        raise ValueError(
            "The 'matches' parameter of learn_from_answers must be those of this searcher, or of one learned from it, "
            f"by number of channels ({searcher.n_features_in_}) and of queries ({len(searcher._queries)}). Got matches "
            f"of {channels} and {count}{', with lags of channels' if is_lagged else ''}. Search with this one, "
            "searcher.search_all(X)."
        )


def _turned(matches, i):
    """Return the samples (channels, n) and times of a match; where the query was mirrored, the samples are as well."""
    y, ty = matches._source.piece(matches.start[i], matches.end[i], i)
    return (y, ty) if matches.polarity is None else (y * np.reshape(matches.polarity[i], (-1, 1)), ty)


def _numbers(value, matches, name):
    """Return the given numbers of matches in ascending order; a single number and a tuple are valid, too."""
    if isinstance(value, Integral | tuple) and not isinstance(value, bool):
        value = list(value) if isinstance(value, tuple) else [value]
    try:
        return np.unique(as_positions(value, len(matches), matches._what))
    except (TypeError, IndexError) as error:
        raise type(error)(
            f"In {name!r}: {error} It holds numbers of 'matches', as matches.uncertain gives them, or a mask."
        ) from error

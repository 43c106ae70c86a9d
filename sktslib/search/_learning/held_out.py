"""What estimators that learned from a part of a marked recording find in the block that was held out."""

import numpy as np

from ...distances._series import full_weight
from ...utils._jobs import as_plain
from .._channels.by_channel import parts_of
from .._profile import Search
from .._segmentation.background import Background
from .._segmentation.optimal import background_cost, constant_cost, segment
from .._several import matched
from .chosen_metric import evidence_of, joined
from .held_out_report import HeldOut
from .learned_background import STEPS, learn_background
from .learned_threshold import learn_threshold

LEAST = np.finfo(float).tiny


def evidence_of_segments(trial, marked, block, weight, ty):
    """The evidence of a trial of a segmenter.

    Every background that is tried on the rest segments the whole recording, so that the same segmentations tell what
    is found in the block. A share is the cost of a range by that of its samples as background of factor one.
    """
    marked = marked._replace(data=as_plain(marked.data))
    rest, rest_times = block.without(marked, ty)
    background, trial.background = trial.background, 0.0  # queries alone are learned
    trial._fit_labels(rest, weight, rest_times)
    queries = [how.untimed if ty is None else how for how in trial._queries]
    tried = []

    def found(background):
        segments = segment(queries, trial._rules._replace(background=background), marked.data, ty)
        ranges = np.column_stack([segments.start, segments.end])
        within = block.holds(ranges)
        code = trial._numbers[segments.query] + 1
        tried.append((background, HeldOut(ranges[within], code[within], segments.cost[within])))
        before, outside = block.rest_of(ranges)
        of_rest = type(segments)(*(column[outside] for column in segments))
        return of_rest._replace(start=before[:, 0], end=before[:, 1])

    if background == "auto":
        learned = learn_background(rest, queries, background_cost(queries), found)
    else:
        learned = Background(float(background))
        for step in STEPS.tolist():
            found(Background(step * learned.limit))
    found(learned)
    unit = np.append(0.0, np.cumsum(unit_of([one for one, *_ in tried], queries).costs(marked.data)))
    every = HeldOut.together([one for _, one in tried])
    start, end = every.ranges.T
    share = every.distance / np.maximum(unit[end] - unit[start], LEAST)
    own, accepted = block.holds(marked.ranges), tried[-1][1]
    return evidence_of(marked.ranges[own], every.ranges, share, accepted.ranges)._replace(found=accepted)


def unit_of(tried, queries):
    """The background of factor one: of those that were tried some know the offset, and their factor is taken off.

    Where none does, each sample costs what one of the queries costs against a constant signal.
    """
    known = next((one for one in tried if one.slope is not None), None)
    if known is None:
        return Background(float(np.mean([constant_cost(how) for how in queries])))
    weight = np.concatenate([full_weight(how.w, how.x) for how in queries], axis=1)
    factor = float(known.slope.sum() / weight.mean(axis=1).sum())
    return known._replace(limit=known.limit / factor, slope=known.slope / factor)


def left_over(how, found):
    """Costs of matches as shares of those of their query against a constant; of the channels that vote in each."""
    how = how._replace(scale_limits=None)  # a constant is within none
    if how.by_channel is None:
        cost = found.distance if how.mode == "subsequence" else how.metric._segment_cost(found.distance, how.m)
        return cost / max(constant_cost(how) * how.m, LEAST)
    shares = found.reader.shares(found.start, found.end, found.version)
    cost, whole = np.zeros((2, len(found.start)))
    for c, _, weight, one in parts_of(how):
        votes = shares.votes[:, c]
        cost[votes] += weight * one.metric._segment_cost(shares.distance[votes, c], one.m)
        whole[votes] += weight * constant_cost(one) * one.m
    return cost / np.maximum(whole, LEAST)


def evidence_of_matches(trial, marked, block, weight, ty):
    """The evidence of a trial of a searcher; a share is the cost of a match by that of its query against a constant."""
    marked = marked._replace(data=as_plain(marked.data))
    rest, rest_times = block.without(marked, ty)
    own, parts = block.holds(marked.ranges), []
    for k, one in enumerate(trial._fit_learned(rest, weight, rest_times)):
        how, choice = trial._all_that_fit(k)
        found = matched(Search(how, marked.data, ty), choice)
        ranges = np.column_stack([found.start, found.end])
        within, (before, outside) = block.holds(ranges), block.rest_of(ranges)
        learned = found._replace(start=before[:, 0], end=before[:, 1], distance=found.distance[outside])
        threshold = learn_threshold(learned, rest.ranges[rest.code == one.number + 1])
        ranges, share, distance = ranges[within], left_over(how, found)[within], found.distance[within]
        accepted = HeldOut(ranges, np.full(len(ranges), one.number + 1), distance)
        accepted = accepted if threshold is None else accepted.take(distance <= threshold)
        of_class = own & (marked.code == one.number + 1)
        evidence = evidence_of(marked.ranges[of_class], ranges, share, accepted.ranges)
        parts.append(evidence._replace(found=accepted))
    return joined(parts)

"""Choice of the metric by labels, evaluated on blocks of a recording that are held out.

The parameter `metric` of estimators that are fitted on queries may be a name, an object or "auto". With "auto", metric,
stiffness and normalization are chosen such that they separate the marked occurrences from everything else. For each
block, estimators learn from the rest of the recording; the evidence is what they find in the block. It also makes a
report.
"""

from copy import copy
from itertools import pairwise
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from ...distances._metrics.dtw import ADTW, OMEGA
from ...distances._metrics.registry import get_metric
from ...distances._series import full_weight
from ...metrics import event_report
from ...metrics._events import count_matched, pairs_by_iou
from ...model_selection import BlockedSeriesSplit
from ...utils._jobs import as_plain, delayed, in_jobs
from .._channels import parts_of
from .._profile import Search
from .._results import matched
from .._segments.optimal import Background, background_cost, constant_cost, segment
from .._selection import select
from .._sources import MatchOrigins
from . import labels


class HeldOut(NamedTuple):
    """Ranges found in held-out blocks of a recording, each by an estimator that learned from the rest."""

    ranges: np.ndarray  # (k, 2)
    code: np.ndarray  # (k,), their classes
    distance: np.ndarray  # (k,)

    @classmethod
    def together(cls, parts):
        """Return the ranges of several blocks or classes as one table."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def take(self, which):
        """Return selected ranges."""
        return HeldOut(*(values[which] for values in self))

    @property
    def nearest(self):
        """The ranges without overlaps: of overlapping ranges, possibly of several classes, the nearest is kept."""
        start, end = np.ascontiguousarray(self.ranges.T)
        return self.take(np.sort(select(self.distance, start, end))) if len(self.code) else self

    def report(self, marked):
        """Return a report that compares the ranges, as events, with the marked ones."""
        names = marked.labels.classes
        found = SimpleNamespace(start=self.ranges[:, 0], end=self.ranges[:, 1], label=names[self.code - 1])
        return event_report(marked.ranges, found, kinds=names[marked.code - 1])


BLOCKS = 3  # each query is learned from two thirds of the occurrences; more blocks take longer
# Multiples of the penalty that omega="auto" stands for. Steps of 4, as for the background: doubling changes little. The
# smallest is nearly dynamic time warping; with the largest a repetition stretches by a few samples at most.
STIFFNESS = 1.0, 4.0, 1 / 4, 16.0, 1 / 16
WINDOWS = None, "mean", "zscore"
WRONG = 0.02  # share of marks that may be wrong: this share of the worst hits and the best false matches is ignored
ALIKE = 0.05  # margins that differ by less are equal: a twentieth of what background costs
UNLIKE = 2.0  # |x - y|^2 / |y|^2 of unrelated series of equal size; larger values are not better


class Stiff(ADTW):
    """ADTW with a multiple of the penalty that "auto" stands for; fitting it to series makes it a plain ADTW."""

    times = 1.0

    def _fitted_to(self, series, weights=None):
        return ADTW(omega=self.times * self._omega_of(series, weights))


class Candidate(NamedTuple):
    """A candidate of the choice: a metric, its penalty and a normalization."""

    name: str
    times: float | None = None  # factor of the penalty that "auto" stands for
    normalize: str | None = None

    @property
    def metric(self):
        """The metric object; its penalty is fixed by the queries, as with "auto"."""
        if self.times is None:
            return get_metric(self.name)
        metric = Stiff("auto")
        metric.times = self.times
        return metric

    @property
    def omega(self):
        """The penalty as a multiple of the variance of the queries; NaN without a penalty."""
        return np.nan if self.times is None else OMEGA * self.times


class Evidence(NamedTuple):
    """Hits and false matches in a held-out block, found by queries that were learned from the rest.

    A share is the cost of a range relative to its cost without a query, as background. It is infinite for an occurrence
    that is never found.
    """

    hits: np.ndarray  # (k,), shares of the occurrences
    false: np.ndarray  # (l,), shares of everything else that is found under a loose limit, in any order
    right: int  # number of correct ranges found with the learned threshold or background
    accepted: int  # number of all ranges found with it
    found: HeldOut | None = None  # these ranges

    @property
    def score(self):
        """F1 of the ranges that are found with the learned threshold or background."""
        return 2 * self.right / (len(self.hits) + self.accepted)

    @property
    def margin(self):
        """Share of the best false match minus that of the worst hit.

        Shares of hits below the usual one count as usual, because an elastic metric makes them small without being
        better.
        """
        k = int(WRONG * len(self.hits))
        worst = np.sort(self.hits)[-1 - k]
        best = np.sort(self.false)[k] if k < len(self.false) else UNLIKE
        return float(min(best, UNLIKE) - np.clip(worst, labels.USUAL, UNLIKE))


def elastic_candidates(normalize=None):
    """Return the elastic candidates, from stiff amerced to plain dynamic time warping; the default comes first."""
    return [*(Candidate("adtw", times, normalize) for times in STIFFNESS), Candidate("dtw", None, normalize)]


def rigid_candidates(normalize=None):
    """Return the candidates that compare windows point by point, with each normalization unless one is given."""
    return [Candidate("euclidean", None, one) for one in (WINDOWS if normalize is None else (normalize,))]


class Block(NamedTuple):
    """A held-out block [first, last) of samples."""

    first: int
    last: int

    def without(self, marked):
        """Return the marked recording without the block."""
        keep = np.ones(marked.data.shape[1], bool)
        keep[self.first : self.last] = False
        ranges, outside = self.rest_of(marked.ranges)
        return marked._replace(
            data=np.ascontiguousarray(marked.data[:, keep]),
            labels=marked.labels._replace(code=marked.labels.code[keep]),
            ranges=ranges,
            code=marked.code[outside],
            ty=None if marked.ty is None else marked.ty[keep],
        )

    def holds(self, ranges):
        """Return a mask of the ranges (k, 2) whose middle is in the block."""
        middle = ranges.sum(axis=1)
        return (middle >= 2 * self.first) & (middle < 2 * self.last)

    def rest_of(self, ranges):
        """Return the ranges outside the block, counted as if it had been cut out, and a mask of them."""
        outside = ~self.holds(ranges)
        ranges = ranges[outside]
        # A range that reaches into the block is cut at its border.
        late = ranges >= self.last
        return np.where(late, ranges - (self.last - self.first), np.minimum(ranges, self.first)), outside


def blocks_of(ranges, n):
    """Return contiguous blocks [first, last) of n samples that hold about equally many of the occurrences (k, 2).

    The borders are midway between occurrences. Each block has at least FEW occurrences; if that allows only one block,
    the list is empty.
    """
    count = min(BLOCKS, len(ranges) // labels.FEW)
    if count < 2:
        return []
    firsts = [test[0] for _, test in BlockedSeriesSplit(count).split(ranges)]
    edges = [0, *((int(ranges[k - 1, 1]) + int(ranges[k, 0])) // 2 for k in firsts[1:]), n]
    return [Block(*edge) for edge in pairwise(edges)]


def evidence_of(true, found, share, accepted):
    """Return the evidence that found ranges give about occurrences.

    Parameters
    ----------
    true : ndarray of shape (k, 2)
        The occurrences.
    found, share : ndarray of shape (l, 2) and (l,)
        All ranges found under any limit, in any order, repetitions included, and their shares.
    accepted : ndarray of shape (j, 2)
        The ranges found with the learned threshold or background.
    """
    hits = np.full(len(true), np.inf)
    rows, columns = pairs_by_iou(true, found, labels.SHIFTED)
    np.minimum.at(hits, rows, share[columns])
    other = np.ones(len(found), bool)
    other[columns] = False
    start, end = np.ascontiguousarray(found[other].T)
    false = share[other]
    false = false[select(false, start, end)] if len(false) else false  # count each place once
    right = count_matched(*pairs_by_iou(true, accepted, labels.SHIFTED), len(true), len(accepted))
    return Evidence(hits, false, right, len(accepted))


def compare(candidates, evidence):
    """Return the table of the candidates, arrays by name, and the index of the best one.

    `evidence` is a list per candidate with an entry per block. Candidates whose F1 is within one standard error, or
    within one event, of the best count as equally good. Of these, the largest margin wins; of those with nearly this
    margin the first one, which is nearest to the default.
    """
    scores = np.array([[block.score for block in blocks] for blocks in evidence])
    margins = np.array([[block.margin for block in blocks] for blocks in evidence])
    mean, margin = scores.mean(axis=1), margins.mean(axis=1)
    top = int(np.argmax(mean))
    error = scores[top].std(ddof=1) / np.sqrt(scores.shape[1])
    event = 1 / sum(len(block.hits) for block in evidence[top])
    good = mean >= mean[top] - max(error, event) * (1.0 + 1e-9)
    equal = good & (margin >= margin[good].max() - ALIKE)
    order = np.lexsort((np.where(equal, 0.0, np.where(good, -margin, -mean)), ~equal, ~good))
    rank = np.empty(len(candidates), np.int32)
    rank[order] = np.arange(1, len(candidates) + 1)
    table = {
        "params": [{"metric": one.name, "omega": one.omega, "normalize": one.normalize} for one in candidates],
        "metric": np.array([one.name for one in candidates]),
        "omega": np.array([one.omega for one in candidates]),
        "normalize": np.array([one.normalize for one in candidates], dtype=object),
    }
    for name, values in (("test_score", scores), ("margin", margins)):
        table |= {f"split{k}_{name}": values[:, k] for k in range(values.shape[1])}
        table |= {f"mean_{name}": values.mean(axis=1), f"std_{name}": values.std(axis=1)}
    return table | {"rank_test_score": rank}, int(order[0])


def is_auto(metric):
    """Return whether a metric is "auto", in upper or lower case as for all names of metrics."""
    return isinstance(metric, str) and metric.lower() == "auto"


def choose_metric(estimator, marked, weight, candidates, evidence):
    """Choose the metric that "auto" stands for from a marked recording; with too few occurrences nothing changes.

    Parameters
    ----------
    candidates : list of Candidate
        The candidates to try.
    evidence : callable
        ``evidence(trial, marked, block, weight)`` returns the `Evidence` of a trial in a block.
    """
    estimator.cv_results_ = estimator.best_index_ = None
    blocks = blocks_of(marked.ranges, marked.data.shape[1])
    if not blocks:
        return
    trials = [_tried(estimator, candidate) for candidate in candidates]
    calls = [delayed(evidence)(copy(trial), marked, block, weight) for trial in trials for block in blocks]
    found = in_jobs(calls, estimator.n_jobs, estimator.verbose, "choose the metric", "trial")
    found = [found[k : k + len(blocks)] for k in range(0, len(found), len(blocks))]
    estimator.cv_results_, estimator.best_index_ = compare(candidates, found)
    _take(estimator, candidates[estimator.best_index_])
    estimator.report_ = HeldOut.together([block.found for block in found[estimator.best_index_]]).report(marked)


def _tried(estimator, candidate):
    """Return a copy of the estimator that compares as a candidate does, in one job and without messages."""
    trial = copy(estimator)
    trial.n_jobs, trial.verbose, trial.max_gap = None, 0, None  # times are already numbers, `_max_gap` holds the gap
    trial.threshold = None  # it is learned
    _take(trial, candidate)
    return trial


def _take(estimator, candidate):
    """Make the estimator compare as a candidate does."""
    estimator._candidate, estimator.metric_ = candidate, candidate.metric
    estimator._resolve()


LEAST = np.finfo(float).tiny


def evidence_of_segments(trial, marked, block, weight):
    """Return the evidence of a trial of a segmenter.

    Learning the background segments the whole recording with each background that is tried, so these segmentations also
    show what is found in the block. A share is the cost of a range divided by its cost as background with factor one.
    """
    marked = marked._replace(data=as_plain(marked.data))
    rest, tried, source = block.without(marked), [], marked.source
    background, trial.background = trial.background, 0.0  # learn the queries only
    trial._fit_labels(rest, weight)
    queries = trial._queries

    def found(background, listed=False):
        segments = segment(queries, trial._rules._replace(background=background), source, listed=listed)
        ranges = np.column_stack([segments.start, segments.end])
        within = block.holds(ranges)
        code = trial._numbers[segments.query] + 1
        tried.append((background, HeldOut(ranges[within], code[within], segments.cost[within])))
        before, outside = block.rest_of(ranges)
        return segments.take(outside)._replace(start=before[:, 0], end=before[:, 1])

    if background == "auto":
        learned = labels.learn_background(rest, queries, background_cost(queries), found)
    else:
        learned = Background(float(background))
        for step in labels.STEPS.tolist():
            found(Background(step * learned.limit))
    found(learned, trial._rules.classes is not None)
    every, unit = HeldOut.together([one for _, one in tried]), unit_of([one for one, _ in tried], queries)
    share = labels.shares_of(every.distance, *every.ranges.T, unit.costs(marked.data))
    own, accepted = block.holds(marked.ranges), tried[-1][1]
    return evidence_of(marked.ranges[own], every.ranges, share, accepted.ranges)._replace(found=accepted)


def unit_of(tried, queries):
    """Return the background with factor one.

    If one of the tried backgrounds depends on the distance from an offset, it is divided by its factor. Otherwise each
    sample costs what a query costs against a constant signal, on average.
    """
    known = next((one for one in tried if one.slope is not None), None)
    if known is None:
        return Background(float(np.mean([constant_cost(plan) for plan in queries])))
    weight = np.concatenate([full_weight(plan.w, plan.x) for plan in queries], axis=1)
    factor = float(known.slope.sum() / weight.mean(axis=1).sum())
    return known._replace(limit=known.limit / factor, slope=known.slope / factor)


def left_over(plan, found):
    """Return the costs of matches, each divided by the cost of its query against a constant.

    With channels compared alone, only the channels that vote in a match count.
    """
    plan = plan._replace(scale_limits=None)  # a constant would be outside the limits
    if plan.by_channel is None:
        cost = found.distance if plan.mode == "subsequence" else plan.metric._segment_cost(found.distance, plan.m)
        return cost / max(constant_cost(plan) * plan.m, LEAST)
    origins = MatchOrigins([found.reader], np.zeros(len(found.start), int), version=found.version)
    shares = origins.shares(found.start, found.end)
    cost, whole = np.zeros((2, len(found.start)))
    for c, _, weight, one in parts_of(plan):
        votes = shares.votes[:, c]
        cost[votes] += weight * one.metric._segment_cost(shares.distance[votes, c], one.m)
        whole[votes] += weight * constant_cost(one) * one.m
    return cost / np.maximum(whole, LEAST)


def evidence_of_matches(trial, marked, block, weight):
    """Return the evidence of a trial of a searcher.

    A share is the cost of a match divided by the cost of its query against a constant.
    """
    marked = marked._replace(data=as_plain(marked.data))
    rest, own, parts = block.without(marked), block.holds(marked.ranges), []
    queries, learned = trial._learn(rest, weight)
    trial._fit_queries(queries)
    for k, one in enumerate(learned):
        plan, choice = trial._all_that_fit(k)
        found = matched(Search(plan, marked.data, marked.ty), choice)
        ranges = np.column_stack([found.start, found.end])
        within, (before, outside) = block.holds(ranges), block.rest_of(ranges)
        known = found._replace(start=before[:, 0], end=before[:, 1], distance=found.distance[outside])
        threshold = labels.learn_threshold(known, rest.ranges[rest.code == one.number + 1])
        ranges, share, distance = ranges[within], left_over(plan, found)[within], found.distance[within]
        accepted = HeldOut(ranges, np.full(len(ranges), one.number + 1), distance)
        accepted = accepted if threshold is None else accepted.take(distance <= threshold)
        of_class = own & (marked.code == one.number + 1)
        evidence = evidence_of(marked.ranges[of_class], ranges, share, accepted.ranges)
        parts.append(evidence._replace(found=accepted))
    hits, false, right, accepted, found = zip(*parts, strict=True)
    rest = np.concatenate(hits), np.concatenate(false), sum(right), sum(accepted)
    return Evidence(*rest, HeldOut.together(found).nearest)

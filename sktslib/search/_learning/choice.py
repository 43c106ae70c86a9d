"""Choice of the metric and of the weights of a query by labels, in blocks of a recording that are held out.

The parameter `metric` of estimators that are fitted on queries may be a name, an object or "auto". With "auto" metric,
stiffness and normalization are chosen so that they separate the marked occurrences from all else.

The parameter `weight` may hold weights, or an object that learns them from labels. Learned weights make the labeled
occurrences nearer to their query than what else it finds.

What estimators that learned from a part of a marked recording find in the block that was held out is the evidence for
both, and makes a report.
"""

from copy import copy
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from joblib import delayed

from ...distances._metrics.dtw import ADTW, OMEGA
from ...distances._metrics.registry import get_metric
from ...distances._series import full_weight, spread
from ...metrics import event_report
from ...metrics._events import count_matched, pairs_by_iou
from ...model_selection import BlockedSeriesSplit
from ...utils._jobs import as_plain, in_jobs, nothing
from ...utils._linear_weights import ALPHAS, Comparisons, by_parameter, learned, weights_of
from ...utils.validation import refused, shown
from .._channels import parts_of, with_polarity
from .._chunks import kernel_times
from .._plan import QueryPlan, with_metric
from .._profile import Search, choose
from .._pruning import Choice
from .._results import matched
from .._segments.optimal import Background, background_cost, constant_cost, segment
from .._selection import select
from .._sources import ArraySource, CandidateReader
from . import labels


class HeldOut(NamedTuple):
    """Ranges found in held-out parts of a recording, each by what was learned from the rest."""

    ranges: np.ndarray  # (k, 2)
    code: np.ndarray  # (k,), of their classes
    distance: np.ndarray  # (k,)

    @classmethod
    def together(cls, parts):
        """Return the ranges of several parts, or classes, as one table."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def take(self, which):
        """Return a selection of the ranges."""
        return HeldOut(*(values[which] for values in self))

    @property
    def nearest(self):
        """The ranges without overlap: of overlapping ranges, which several classes may have, the nearest."""
        start, end = np.ascontiguousarray(self.ranges.T)
        return self.take(np.sort(select(self.distance, start, end))) if len(self.code) else self

    def report(self, marked):
        """Return a report of the ranges as events, compared with the marked ones."""
        names = marked.labels.classes
        found = SimpleNamespace(start=self.ranges[:, 0], end=self.ranges[:, 1], label=names[self.code - 1])
        return event_report(marked.ranges, found, kinds=names[marked.code - 1])


AUTO = "auto"
BLOCKS = 3  # each query is learned from two thirds of the occurrences; more blocks take longer
# Multiples of what omega="auto" stands for. Steps of 4, as of the background: half of one changes little. At the
# lower end it is nearly dynamic time warping; at the upper end a repetition stretches by a few samples at most.
STIFFNESS = 1.0, 4.0, 1 / 4, 16.0, 1 / 16
WINDOWS = None, "mean", "zscore"
WRONG = 0.02  # share of the marks that may be wrong: as many of the worst hits and best false ones do not count
ALIKE = 0.05  # margins that differ by less are equal: a twentieth of what background costs
UNLIKE = 2.0  # |x - y|^2 / |y|^2 of series that have nothing in common and one size; further apart is no better


class Stiff(ADTW):
    """ADTW with a multiple of the penalty that "auto" stands for; fixed by series it is a plain ADTW."""

    times = 1.0

    def _fitted_to(self, series, weights=None):
        return ADTW(omega=self.times * self._omega_of(series, weights))


class Candidate(NamedTuple):
    """A way to compare that is tried."""

    name: str
    times: float | None = None  # multiple of the penalty that "auto" stands for
    normalize: str | None = None

    @property
    def metric(self):
        """The metric object; its penalty is fixed by the queries, as that of "auto" is."""
        if self.times is None:
            return get_metric(self.name)
        metric = Stiff(AUTO)
        metric.times = self.times
        return metric

    @property
    def omega(self):
        """The penalty as a multiple of the variance of the queries; NaN without one."""
        return np.nan if self.times is None else OMEGA * self.times


class Evidence(NamedTuple):
    """Hits and false matches in a held-out block, by queries that were learned from the rest.

    Shares are costs of ranges as shares of what they cost without a query; infinite where an occurrence is never found.
    """

    hits: np.ndarray  # (k,) shares of the occurrences
    false: np.ndarray  # (l,) shares of what else is found if much is allowed, in no order
    right: int  # of the ranges that are found with what was learned from the rest
    accepted: int  # number of these ranges
    found: HeldOut | None = None  # these

    @property
    def score(self):
        """F1 of the occurrences with what was learned from the rest."""
        return 2 * self.right / (len(self.hits) + self.accepted)

    @property
    def margin(self):
        """Share of the best false match minus that of the worst hit.

        A hit is no better for leaving less over than is usual: the easier a metric stretches the less it leaves.
        """
        k = int(WRONG * len(self.hits))
        worst = np.sort(self.hits)[-1 - k]
        best = np.sort(self.false)[k] if k < len(self.false) else UNLIKE
        return float(min(best, UNLIKE) - np.clip(worst, labels.USUAL, UNLIKE))


def elastic_candidates(normalize=None):
    """Return the elastic candidates, from rigid dynamic time warping to that without a penalty, the default first."""
    return [*(Candidate("adtw", times, normalize) for times in STIFFNESS), Candidate("dtw", None, normalize)]


def rigid_candidates(normalize=None):
    """Return the candidates that compare windows point by point, with several normalizations unless one is given."""
    return [Candidate("euclidean", None, one) for one in (WINDOWS if normalize is None else (normalize,))]


class Block(NamedTuple):
    """A block [first, last) of samples, which is held out."""

    first: int
    last: int

    def without(self, marked, ty):
        """Return the rest of a marked recording, and of its times."""
        keep = np.ones(marked.data.shape[1], bool)
        keep[self.first : self.last] = False
        ranges, outside = self.rest_of(marked.ranges)
        rest = marked._replace(
            data=np.ascontiguousarray(marked.data[:, keep]),
            labels=marked.labels._replace(code=marked.labels.code[keep]),
            ranges=ranges,
            code=marked.code[outside],
        )
        return rest, None if ty is None else ty[keep]

    def holds(self, ranges):
        """Return a mask of the ranges (k, 2) that have their middle in the block."""
        middle = ranges.sum(axis=1)
        return (middle >= 2 * self.first) & (middle < 2 * self.last)

    def rest_of(self, ranges):
        """Return the other ranges, counted as if the block were not there, and a mask of them."""
        outside = ~self.holds(ranges)
        ranges = ranges[outside]
        # What reaches into the block ends, or starts, at its border.
        late = ranges >= self.last
        return np.where(late, ranges - (self.last - self.first), np.minimum(ranges, self.first)), outside


def blocks_of(ranges, n):
    """Return contiguous blocks [first, last) of n samples with as many of the occurrences (k, 2) each.

    The borders are midway between occurrences. There are fewer blocks where one would have less than FEW occurrences,
    and none where there would be one block.
    """
    count = min(BLOCKS, len(ranges) // labels.FEW)
    if count < 2:
        return []
    firsts = [test[0] for _, test in BlockedSeriesSplit(count).split(ranges)]
    edges = [0, *((int(ranges[k - 1, 1]) + int(ranges[k, 0])) // 2 for k in firsts[1:]), n]
    return [Block(*edge) for edge in pairwise(edges)]


def evidence_of(true, found, share, accepted):
    """Return the evidence of ranges.

    Parameters
    ----------
    true : ndarray of shape (k, 2)
        The occurrences.
    found, share : ndarray of shape (l, 2) and (l,)
        All that was found, in any order and as often as it was.
    accepted : ndarray of shape (j, 2)
        What is found with what was learned from the rest.
    """
    hits = np.full(len(true), np.inf)
    rows, columns = pairs_by_iou(true, found, labels.SHIFTED)
    np.minimum.at(hits, rows, share[columns])
    other = np.ones(len(found), bool)
    other[columns] = False
    start, end = np.ascontiguousarray(found[other].T)
    false = share[other]
    false = false[select(false, start, end)] if len(false) else false  # each stretch once
    right = count_matched(*pairs_by_iou(true, accepted, labels.SHIFTED), len(true), len(accepted))
    return Evidence(hits, false, right, len(accepted))


def compare(candidates, evidence):
    """Return the table of the candidates, arrays by name, and the number of the best one.

    `evidence` has that of each candidate in each block. Candidates whose F1 is within one standard error of the best
    one, or within an event, are as good. Of these the largest margin decides. Of those with nearly that margin the
    first is taken, which is the nearest to the default.
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
    """Return whether a metric is to be chosen; capital letters do not count, as in all names of metrics."""
    return isinstance(metric, str) and metric.lower() == AUTO


def choose_metric(estimator, marked, weight, times, candidates, evidence):
    """Choose what metric="auto" stands for by a marked recording; too few occurrences leave it as it is.

    Parameters
    ----------
    candidates : list of Candidate
        Those that are tried.
    evidence : callable
        ``evidence(trial, marked, block, weight, ty)`` returns what a trial of a candidate finds in a block.
    """
    estimator.cv_results_ = estimator.best_index_ = None
    n = marked.data.shape[1]
    blocks, ty = blocks_of(marked.ranges, n), kernel_times(estimator, times, n)
    if not blocks:
        return
    trials = [_tried(estimator, candidate) for candidate in candidates]
    calls = [delayed(evidence)(copy(trial), marked, block, weight, ty) for trial in trials for block in blocks]
    found = in_jobs(calls, estimator.n_jobs, estimator.verbose, "choose the metric", "trial")
    found = [found[k : k + len(blocks)] for k in range(0, len(found), len(blocks))]
    estimator.cv_results_, best = compare(candidates, found)
    estimator.best_index_ = best
    _take(estimator, candidates[best])
    estimator.report_ = HeldOut.together([block.found for block in found[best]]).report(marked)


def _tried(estimator, candidate):
    """Return an estimator that compares as a candidate does, and works in one job and in silence."""
    trial = copy(estimator)
    trial.n_jobs, trial.verbose, trial.max_gap = None, 0, None  # times are numbers by then, as `_max_gap` is
    trial.threshold = None  # what separates is learned
    _take(trial, candidate)
    return trial


def _take(estimator, candidate):
    """Compare as a candidate does."""
    estimator._candidate, estimator.metric_ = candidate, candidate.metric
    estimator._resolve()


class QueryTask(NamedTuple):
    """Input from which the weights of one query are learned."""

    plan: QueryPlan  # with the weights that they are drawn to, and the signs that were given
    polarity: str  # that of the estimator
    data: np.ndarray  # (channels, n)
    ty: np.ndarray | None
    ranges: np.ndarray  # (k, 2), the occurrences
    choice: Choice  # of matches, where all that fit are searched for
    basis: np.ndarray  # (n_parameters, channels, m or 1): factors of the weights are sums of its rows times parameters
    n_neighbors: int
    max_iter: int

    @property
    def before(self):
        """The weights (channels, m) that they are drawn to."""
        return full_weight(self.plan.w, self.plan.x)

    def weighed(self, factors):
        """Return the query with its weights times factors (channels, m or 1)."""
        w = self.before * spread(factors, self.plan.m)
        return with_polarity(self.plan._replace(w=np.ascontiguousarray(w / w.max())), self.polarity)

    def candidates(self, plan):
        """Return a plan whose candidates are at most STRETCH times as long as query and occurrences.

        Without a bound any number of samples fits where the first or last weight is 0. Windows, and subsequences that
        are normalized each by itself, stay as they are.
        """
        if plan.mode == "windows" or plan.by_range:
            return plan
        longest = int(labels.STRETCH * max(np.diff(self.ranges).max(), plan.m))
        return plan._replace(limits=(plan.limits[0], min(plan.limits[1] or longest, longest)))

    def without(self, block):
        """Return the task of all samples but a block."""
        keep = np.ones(self.data.shape[1], bool)
        keep[block.first : block.last] = False
        return self._part(keep, block.rest_of(self.ranges)[0])

    def within(self, block):
        """Return the task of the samples in a block."""
        return self._part(slice(block.first, block.last), self.ranges[block.holds(self.ranges)] - block.first)

    def _part(self, some, ranges):
        data, ty = np.ascontiguousarray(self.data[:, some]), None if self.ty is None else self.ty[some]
        return self._replace(data=data, ty=ty, ranges=ranges)

    def reader(self, plan):
        """Return the reader that computes exact distances of candidates."""
        return CandidateReader(plan, ArraySource(self.data, self.ty))

    def matches(self, plan):
        """Return the candidates of a plan in the samples of the task, and all matches that fit."""
        found = Search(plan, self.data, self.ty).profile()._candidates
        return found, choose(self.reader(plan), found, self.choice)


def right_and_wrong(task, plan):
    """Return the occurrences with candidates, the nearest candidate of each, and the false matches, best first.

    They are the numbers of the occurrences, and ranges (k, 2) and (l, 2).
    """
    found, got = task.matches(task.candidates(plan))
    distance, start, end = found.columns
    some = np.flatnonzero(np.isfinite(distance))
    distance, ranges = distance[some], np.column_stack([start[some], end[some]])
    event, at = pairs_by_iou(task.ranges, ranges, labels.SHIFTED)
    order = np.lexsort((distance[at], event))
    event, first = np.unique(event[order], return_index=True)
    matches = np.column_stack([got.start, got.end])[np.argsort(got.distance, kind="stable")]
    wrong = np.delete(matches, pairs_by_iou(task.ranges, matches, labels.SHIFTED)[1], axis=0)
    return event, ranges[at[order[first]]], wrong


def terms(task, plan, ranges):
    """Return the terms that the parameters multiply in the distances of ranges, (ranges, n_parameters)."""
    out = np.empty((len(ranges), len(task.basis)))
    searches = [Search(one, task.data, task.ty) for one in plan.versions]
    for row, (s, e), k in zip(out, ranges.tolist(), task.reader(plan).versions(*ranges.T), strict=True):
        search = searches[k]
        if search.whole:
            found = plan.metric._piece_terms(search.plan.x, search.piece(s, e))
        else:
            x, y, *_ = search.window(s, e)
            found = plan.metric._weighted_terms(x, full_weight(plan.w, x), y)
        row[:] = by_parameter(task.before * found, task.basis)
    return out


def near_and_far(task, v):
    """Return the terms of the nearest candidates on the occurrences, the terms of false matches, and a share.

    It is the share of the occurrences without a candidate. Many occurrences are represented by some of them, and there
    are at most `n_neighbors` false matches for each.
    """
    plan = task.weighed(weights_of(v, task.basis))
    event, right, wrong = right_and_wrong(task, plan)
    own = labels.examples(np.arange(len(task.ranges)))
    right, wrong = right[np.isin(event, own)], wrong[: task.n_neighbors * len(own)]
    lost = len(own) - len(right)
    seen = [some[[not np.isnan(task.data[:, s:e]).any() for s, e in some]] for some in (right, wrong)]
    return *(terms(task, plan, some) for some in seen), lost / len(own)


def comparisons(task, v, unit):
    """Return the comparisons of the objective, with the alignments that are the best for the parameters `v`."""
    return compared(*near_and_far(task, v), unit)


def compared(near, far, lost, unit):
    """Compare each occurrence with each false match; one without a candidate is as far as a false match."""
    rows = (near[:, np.newaxis] - far).reshape(-1, near.shape[1]) / unit
    share = np.full(len(rows), (1.0 - lost) / max(len(rows), 1))
    return Comparisons(np.concatenate([rows, np.zeros((1, near.shape[1]))]), np.append(share, lost))


def first_comparisons(task):
    """Return the comparisons with the weights before, and a function of parameters that gives those with others.

    They start learning, whatever the pull; None without anything to learn from.
    """
    if not len(task.ranges):
        return None
    near, far, lost = near_and_far(task, np.ones(len(task.basis)))
    unit = near.sum(axis=1).mean() if len(near) and len(far) else 0.0  # the distance of the occurrences
    return (compared(near, far, lost, unit), partial(comparisons, task, unit=unit)) if unit > 0 else None


def average_precision(task, factors):
    """Return the average precision of all matches that fit, with the query's weights times factors."""
    right = labels.right_ones(task.matches(task.weighed(factors))[1], task.ranges)[1]
    return float((np.cumsum(right) / np.arange(1, len(right) + 1))[right].sum() / len(task.ranges))


def held_out(task, block, alpha, first):
    """Return the average precision in a block by what is learned from the rest, starting from `first` comparisons."""
    factors = learned(first, task.basis, alpha, task.max_iter, nothing, task.before).weights
    return average_precision(task.within(block), factors)


def choose_pull(task, n_jobs, verbose):
    """Return the alpha to use, and the mean average precision of each alpha in blocks that are held out.

    It is the largest alpha within one standard error of the best, or within one occurrence. With too few occurrences
    for blocks it is infinite.
    """
    blocks = blocks_of(task.ranges, task.data.shape[1])
    if not blocks:
        return np.inf, {}
    begin = [delayed(first_comparisons)(task.without(block)) for block in blocks]
    first = in_jobs(begin, n_jobs, 0, "choose alpha", "block")
    calls = [
        delayed(held_out)(task, block, alpha, one) for alpha in ALPHAS for block, one in zip(blocks, first, strict=True)
    ]
    scores = np.reshape(in_jobs(calls, n_jobs, verbose, "choose alpha", "trial"), (len(ALPHAS), len(blocks)))
    mean = scores.mean(axis=1)
    top = int(mean.argmax())
    error = max(scores[top].std(ddof=1) / np.sqrt(len(blocks)), 1 / len(task.ranges))
    alpha = max(alpha for alpha, score in zip(ALPHAS, mean, strict=True) if score >= mean[top] - error)
    return alpha, dict(zip(ALPHAS, mean.tolist(), strict=True))


def share_scale(weights, before):
    """Return learned weights (channels, m) of several queries, scaled so that each query keeps its mean weight.

    The largest of all is 1. None is returned for each where all are equal.
    """
    scaled = [w * (old.mean() / w.mean()) for w, old in zip(weights, before, strict=True)]
    top = max(w.max() for w in scaled)
    if min(w.min() for w in scaled) == top:
        return [None] * len(scaled)
    return [np.ascontiguousarray(w / top) for w in scaled]


def weight_learner(estimator):
    """Return the parameter `weight` if it learns the weights of points and channels from labels, else None.

    A `MetricWeights` is of a layer above: it is known by the method that learns.
    """
    return estimator.weight if hasattr(type(estimator.weight), "_learned_of_query") else None


def has_fixed_queries(estimator):
    """Return whether the parameter `query` holds queries."""
    return estimator.query is not None and not isinstance(estimator.query, str)


def given_weight(estimator, weight):
    """Return the weights that `fit` is given, or those of the parameter."""
    learner = weight_learner(estimator)
    for given in (weight, estimator.weight):
        for value in given if isinstance(given, list) else [given]:
            if hasattr(value, "_learned_of_query") and value is not learner:
                raise TypeError(
                    f"MetricWeights must be the parameter 'weight', {type(estimator).__name__}(weight=MetricWeights()):"
                    f" no class, no entry of a list, and not what 'fit' is given. Got {shown(given)}."
                )
    return estimator.weight if weight is None and learner is None else weight


def read_fixed(estimator, X, weight):
    """Return the plans and the names of the parameter's queries, whose weights are learned from labels; else None.

    What cannot be learned is refused here, before a metric is chosen, which takes long.
    """
    learner = weight_learner(estimator)
    if learner is None:
        return None
    learner._made_within(estimator)._check_query(estimator, estimator.metric_)
    if not has_fixed_queries(estimator):
        return None
    queries, names = estimator._read_queries(X, None, weight, None)
    return queries, None if names is None else names.tolist()


def marked_queries(queries, names, marked):
    """Return given queries as if they were learned, each from the occurrences of its class."""
    classes, learned = marked.labels.classes.tolist(), []
    names = range(1, len(queries) + 1) if names is None and len(queries) > 1 else names
    if names is None:  # whatever the label of its occurrences is
        names = classes if len(classes) == 1 else ["a single label"]
    for plan, name in zip(queries, names, strict=True):
        if name not in classes:
            rule = "have the name of each query as a label, or its number from 1, or a single label for one query"
            got = f"{shown(classes)}, and not {name!r}"
            out = "Give queries in a dict by the labels, or label only what is an occurrence, as in y == 'N'."
            raise refused("'y'", rule, got, out)
        number = classes.index(name)
        lengths = np.diff(labels.single(marked.ranges[marked.code == number + 1]))
        limits = labels.length_limits(lengths if lengths.size else np.array([plan.m]), plan.m)
        learned.append(labels.Learned(plan.x, plan.w, None, number, limits))
    return learned


def keep_weights(estimator, learned):
    """Show what learned the weights, of several queries a list."""
    if weight_learner(estimator) is not None:
        found = [one.weights for one in learned]
        estimator.metric_weights_ = found if len(found) > 1 else found[0]


def weighed(estimator, queries, learned, marked, ty):
    """Return the queries with weights that are learned from labels, drawn to those that they have."""
    compared, weights = with_metric(estimator.metric_, queries), []
    for k, (plan, one) in enumerate(zip(compared, learned, strict=True)):
        plan = plan._replace(limits=estimator._limits_to_learn(plan, one))
        own = marked.ranges[marked.code == one.number + 1]
        found, w = estimator.weight._learned_of_query(estimator, plan, marked.data, ty, own)
        learned[k], weights = one._replace(weights=found), [*weights, w]
    weights = share_scale(weights, [full_weight(plan.w, plan.x) for plan in queries])
    return [plan._replace(w=w) for plan, w in zip(queries, weights, strict=True)]


LEAST = np.finfo(float).tiny


def evidence_of_segments(trial, marked, block, weight, ty):
    """Return the evidence of a trial of a segmenter.

    Every background that is tried on the rest segments the whole recording, so the same segmentations show what is
    found in the block. A share is the cost of a range divided by that of its samples as background of factor one.
    """
    marked = marked._replace(data=as_plain(marked.data))
    rest, rest_times = block.without(marked, ty)
    background, trial.background = trial.background, 0.0  # queries alone are learned
    trial._fit_labels(rest, weight, rest_times)
    queries = [plan.untimed if ty is None else plan for plan in trial._queries]
    tried, source = [], ArraySource(marked.data, ty)

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
    unit = np.append(0.0, np.cumsum(unit_of([one for one, *_ in tried], queries).costs(marked.data)))
    every = HeldOut.together([one for _, one in tried])
    start, end = every.ranges.T
    share = every.distance / np.maximum(unit[end] - unit[start], LEAST)
    own, accepted = block.holds(marked.ranges), tried[-1][1]
    return evidence_of(marked.ranges[own], every.ranges, share, accepted.ranges)._replace(found=accepted)


def unit_of(tried, queries):
    """Return the background of factor one.

    Of the backgrounds that were tried some know the offset, and the factor of such a one is removed. If none does, each
    sample costs what a query costs against a constant signal, on average.
    """
    known = next((one for one in tried if one.slope is not None), None)
    if known is None:
        return Background(float(np.mean([constant_cost(plan) for plan in queries])))
    weight = np.concatenate([full_weight(plan.w, plan.x) for plan in queries], axis=1)
    factor = float(known.slope.sum() / weight.mean(axis=1).sum())
    return known._replace(limit=known.limit / factor, slope=known.slope / factor)


def left_over(plan, found):
    """Return the costs of matches as shares of those of their query against a constant.

    Compared by channel only the channels that vote in a match count.
    """
    plan = plan._replace(scale_limits=None)  # a constant is within none
    if plan.by_channel is None:
        cost = found.distance if plan.mode == "subsequence" else plan.metric._segment_cost(found.distance, plan.m)
        return cost / max(constant_cost(plan) * plan.m, LEAST)
    shares = found.reader.shares(found.start, found.end, found.version)
    cost, whole = np.zeros((2, len(found.start)))
    for c, _, weight, one in parts_of(plan):
        votes = shares.votes[:, c]
        cost[votes] += weight * one.metric._segment_cost(shares.distance[votes, c], one.m)
        whole[votes] += weight * constant_cost(one) * one.m
    return cost / np.maximum(whole, LEAST)


def evidence_of_matches(trial, marked, block, weight, ty):
    """Return the evidence of a trial of a searcher.

    A share is the cost of a match divided by that of its query against a constant.
    """
    marked = marked._replace(data=as_plain(marked.data))
    rest, rest_times = block.without(marked, ty)
    own, parts = block.holds(marked.ranges), []
    for k, one in enumerate(trial._fit_learned(rest, weight, rest_times)):
        plan, choice = trial._all_that_fit(k)
        found = matched(Search(plan, marked.data, ty), choice)
        ranges = np.column_stack([found.start, found.end])
        within, (before, outside) = block.holds(ranges), block.rest_of(ranges)
        learned = found._replace(start=before[:, 0], end=before[:, 1], distance=found.distance[outside])
        threshold = labels.learn_threshold(learned, rest.ranges[rest.code == one.number + 1])
        ranges, share, distance = ranges[within], left_over(plan, found)[within], found.distance[within]
        accepted = HeldOut(ranges, np.full(len(ranges), one.number + 1), distance)
        accepted = accepted if threshold is None else accepted.take(distance <= threshold)
        of_class = own & (marked.code == one.number + 1)
        evidence = evidence_of(marked.ranges[of_class], ranges, share, accepted.ranges)
        parts.append(evidence._replace(found=accepted))
    hits, false, right, accepted, found = zip(*parts, strict=True)
    rest = np.concatenate(hits), np.concatenate(false), sum(right), sum(accepted)
    return Evidence(*rest, HeldOut.together(found).nearest)

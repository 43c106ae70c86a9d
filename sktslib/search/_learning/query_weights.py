"""Weights of a query under which its labeled occurrences are nearer to it than what else it finds."""

from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import delayed

from ...distances._series import full_weight, spread
from ...metrics._matching import pairs_by_iou
from ...utils._jobs import in_jobs
from ...utils._linear_weights import ALPHAS, Comparisons, by_parameter, equal, learned, weights_of
from .._channels.polarity import with_polarity
from .._comparison import Comparison
from .._profile import Choice, Search, choose
from .._sources import CandidateReader, Whole
from .chosen_metric import blocks_of
from .learned_background import SHIFTED
from .learned_queries import STRETCH, examples
from .learned_threshold import right_ones


class QueryTask(NamedTuple):
    """What the weights of a query are learned from."""

    how: Comparison  # with the weights that they are drawn to, and the signs that were given
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
        return full_weight(self.how.w, self.how.x)

    def weighed(self, factors):
        """The query with its weights times factors (channels, m or 1)."""
        w = self.before * spread(factors, self.how.m)
        return with_polarity(self.how._replace(w=np.ascontiguousarray(w / w.max())), self.polarity)

    def candidates(self, how):
        """How candidates are compared that are learned from: none is much longer than the query and occurrences.

        Where the first or last weight is 0, any number of samples fits there.
        """
        if how.mode == "windows" or how.by_range:
            return how
        longest = int(STRETCH * max(np.diff(self.ranges).max(), how.m))
        return how._replace(limits=(how.limits[0], min(how.limits[1] or longest, longest)))

    def without(self, block):
        """The task of all but a block."""
        keep = np.ones(self.data.shape[1], bool)
        keep[block.first : block.last] = False
        return self._part(keep, block.rest_of(self.ranges)[0])

    def within(self, block):
        """That of a block."""
        return self._part(slice(block.first, block.last), self.ranges[block.holds(self.ranges)] - block.first)

    def _part(self, some, ranges):
        data, ty = np.ascontiguousarray(self.data[:, some]), None if self.ty is None else self.ty[some]
        return self._replace(data=data, ty=ty, ranges=ranges)

    def reader(self, how):
        """What knows the exact distances of candidates."""
        return CandidateReader(how, Whole(self.data, self.ty))

    def profile(self, how):
        """The candidates of the query with some weights."""
        return Search(how, self.data, self.ty).profile()._candidates


def right_and_wrong(task, how):
    """Numbers of the occurrences with candidates, the nearest of each (k, 2), and false matches (l, 2), best first."""
    how = task.candidates(how)
    found = task.profile(how)
    distance, start, end = found.columns
    some = np.flatnonzero(np.isfinite(distance))
    distance, ranges = distance[some], np.column_stack([start[some], end[some]])
    event, at = pairs_by_iou(task.ranges, ranges, SHIFTED)
    order = np.lexsort((distance[at], event))
    event, first = np.unique(event[order], return_index=True)
    got = choose(task.reader(how), found, task.choice)
    matches = np.column_stack([got.start, got.end])[np.argsort(got.distance, kind="stable")]
    wrong = np.delete(matches, pairs_by_iou(task.ranges, matches, SHIFTED)[1], axis=0)
    return event, ranges[at[order[first]]], wrong


def terms(task, how, ranges):
    """What the parameters are multiplied by in the distances of ranges, (ranges, n_parameters)."""
    out = np.empty((len(ranges), len(task.basis)))
    searches = [Search(one, task.data, task.ty) for one in how.versions]
    for row, (s, e), k in zip(out, ranges.tolist(), task.reader(how).versions(*ranges.T), strict=True):
        search = searches[k]
        if search.whole:
            found = how.metric._piece_terms(search.how.x, search.piece(s, e))
        else:
            x, y, *_ = search.window(s, e)
            found = how.metric._weighted_terms(x, full_weight(how.w, x), y)
        row[:] = by_parameter(task.before * found, task.basis)
    return out


def near_and_far(task, v):
    """The terms of the nearest candidates on the occurrences and of false matches, and how many occurrences have none.

    That is of some of many occurrences, and of so many false matches for each.
    """
    how = task.weighed(weights_of(v, task.basis))
    event, right, wrong = right_and_wrong(task, how)
    own = examples(np.arange(len(task.ranges)))
    right, wrong = right[np.isin(event, own)], wrong[: task.n_neighbors * len(own)]
    lost = len(own) - len(right)
    seen = [some[[not np.isnan(task.data[:, s:e]).any() for s, e in some]] for some in (right, wrong)]
    return *(terms(task, how, some) for some in seen), lost / len(own)


def comparisons(task, v, unit):
    """What the objective is made of, with the alignments that are the best with some parameters."""
    return compared(*near_and_far(task, v), unit)


def compared(near, far, lost, unit):
    """Each occurrence beside each false match; one without a candidate is as far as what is false."""
    rows = (near[:, np.newaxis] - far).reshape(-1, near.shape[1]) / unit
    share = np.full(len(rows), (1.0 - lost) / max(len(rows), 1))
    return Comparisons(np.concatenate([rows, np.zeros((1, near.shape[1]))]), np.append(share, lost))


class First(NamedTuple):
    """The comparisons with the weights before, in units of the distance of the occurrences there."""

    comparisons: Comparisons
    unit: float


def first_comparisons(task):
    """What learning begins with, whatever the pull; None where there is nothing to learn from."""
    if not len(task.ranges):
        return None
    near, far, lost = near_and_far(task, np.ones(len(task.basis)))
    unit = near.sum(axis=1).mean() if len(near) and len(far) else 0.0
    return First(compared(near, far, lost, unit), unit) if unit > 0 else None


def learn_weights(task, alpha, count):
    """Factors of the weights for a strength of the pull to those before; with nothing to learn from they are 1."""
    return learned_from(first_comparisons(task) if alpha < np.inf else None, task, alpha, count)


def learned_from(first, task, alpha, count):
    """The same with what it begins with."""
    if first is None or alpha == np.inf:
        return equal(task.basis)
    compare = partial(comparisons, task, unit=first.unit)
    return learned(first.comparisons, compare, task.basis, alpha, task.max_iter, count, task.before)


def average_precision(task, factors):
    """That of all matches that fit, in the order of their distances, with weights times factors."""
    how = task.weighed(factors)
    got = choose(task.reader(how), task.profile(how), task.choice)
    right = right_ones(got, task.ranges)[1]
    return float((np.cumsum(right) / np.arange(1, len(right) + 1))[right].sum() / len(task.ranges))


def held_out(task, block, alpha, first):
    """The average precision in a block with what is learned from the rest, from the first comparisons on."""
    factors = learned_from(first, task.without(block), alpha, lambda *_: None).weights
    return average_precision(task.within(block), factors)


def choose_pull(task, n_jobs, verbose):
    """The alpha to take, and the mean average precision of each in blocks that are held out.

    The largest that is within one standard error of the best, or within one occurrence. With too few occurrences for
    blocks it is infinite.
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
    """Learned weights (channels, m) of several queries as they were to each other: each keeps its mean.

    The largest of all is 1. None where all are equal.
    """
    scaled = [w * (old.mean() / w.mean()) for w, old in zip(weights, before, strict=True)]
    top = max(w.max() for w in scaled)
    if min(w.min() for w in scaled) == top:
        return [None] * len(scaled)
    return [np.ascontiguousarray(w / top) for w in scaled]

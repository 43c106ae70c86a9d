"""Optimal tiling of a recording by repetitions of one or several queries and background."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..distances import _tiling as kernels
from ._background import Background
from ._missing import touched
from ._profile import Search

ENDLESS = 2.0**62


class Rules(NamedTuple):
    """What the cheapest tiling is asked for."""

    background: Background
    transitions: np.ndarray  # (k + 1, k + 1)
    limits: tuple[tuple[int | None, int | None], ...]  # shortest and longest repetition of each query

    def bounds(self):
        """The bounds of the length as two arrays (k,)."""
        shortest = [min(float(low or 1), ENDLESS) for low, _ in self.limits]
        longest = [min(float(high or ENDLESS), ENDLESS) for _, high in self.limits]
        return np.array(shortest), np.array(longest)


@dataclass(frozen=True)
class Sources:
    """The searches behind the labels of a segmentation."""

    searches: tuple[Search, ...]

    @property
    def sequence(self):
        return self.searches[0].sequence

    def of(self, label):
        """The search by the query of a label."""
        return self.searches[label - 1]


def background_cost(metric, mode, template):
    """Default cost of a background sample: the query against a flat line at its own weighted mean, per sample.

    A stretch is then background when the query explains it worse than a flat line does.
    """
    x, w, tx = template
    weight = np.ones_like(x) if w is None else w
    total = weight.sum(axis=1, keepdims=True)
    mean = np.where(total > 0, (weight * x).sum(axis=1, keepdims=True), x.mean(axis=1, keepdims=True))
    mean /= np.where(total > 0, total, 1.0)
    flat = np.repeat(mean, x.shape[1], axis=1)
    return float(whole_cost(Search.of(metric, x, w, flat, tx, tx, mode))) / x.shape[1]


def whole_cost(search):
    """Tile cost of the whole sequence of a search."""
    metric = search.metric
    if search.mode == "warped":
        problem = search.runs[0][1]
        bottom, side, _ = metric._accumulate(problem, whole=True)
        return metric._ending(bottom, side, problem, whole=True)[0]
    return metric._tile_cost(search.profile().distance[0], search.x.shape[1])


def tile(searches, rules):
    """Starts, ends, labels and costs of the tiles of the cheapest tiling, in temporal order; no tile crosses a gap.

    Behind a gap the tiling begins anew.
    """
    idle = rules.background.costs(searches[0].y)
    if searches[0].mode == "warped":
        shortest, longest = rules.bounds()
        parts = []
        for runs in zip(*(search.runs for search in searches), strict=True):
            first, problems = runs[0][0], [problem for _, problem in runs]
            background = idle[first : first + problems[0].shape[1]]
            label, start, end, cost = kernels.tile(problems, background, rules.transitions, shortest, longest)
            parts.append((start + first, end + first, label, cost))
    else:
        label, start, end, cost = kernels.tile_windows(*_windows(searches, rules), idle, rules.transitions)
        parts = [(start, end, label, cost)]
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def _windows(searches, rules):
    """Costs (k, n) of each query's windows by their last sample, and the windows' lengths (k,)."""
    n = searches[0].y.shape[1]
    cost = np.full((len(searches), n), np.inf)
    for search, limits, row in zip(searches, rules.limits, cost, strict=True):
        m = search.x.shape[1]
        row[m - 1 :] = search.metric._tile_cost(search.profile(*limits).distance, m)
        row[m - 1 :][touched(search.y, m)] = np.inf
    return cost, np.array([search.x.shape[1] for search in searches])

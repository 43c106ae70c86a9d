"""metric="auto": metric, stiffness and normalization that tell marked occurrences from all else, by blocks."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...distances._metrics.registry import get_metric
from ...distances._metrics.warping_variants import ADTW, OMEGA
from ...metrics._matching import count_matched, pairs_by_iou
from ...model_selection import BlockedSeriesSplit
from .._selection import select
from .held_out_report import HeldOut
from .learned_background import SHIFTED, USUAL
from .learned_queries import FEW

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
        """The penalty as a multiple of the variance of the queries; NaN where there is none."""
        return np.nan if self.times is None else OMEGA * self.times


class Evidence(NamedTuple):
    """What queries that were learned from the rest find in a block.

    Shares are costs of ranges as shares of what they cost without a query; infinite where an occurrence is never found.
    """

    hits: np.ndarray  # (k,) shares of the occurrences
    false: np.ndarray  # (l,) shares of what else is found if much is allowed, in no order
    right: int  # of the ranges that are found with what was learned from the rest
    accepted: int  # of which there are so many
    found: HeldOut | None = None  # these

    @property
    def score(self):
        """F1 of the occurrences with what was learned from the rest."""
        return 2 * self.right / (len(self.hits) + self.accepted)

    @property
    def margin(self):
        """How much more the best false one costs than the worst hit, as a difference of shares.

        A hit is no better for leaving less over than is usual: the easier a metric stretches the less it leaves.
        """
        k = int(WRONG * len(self.hits))
        worst = np.sort(self.hits)[-1 - k]
        best = np.sort(self.false)[k] if k < len(self.false) else UNLIKE
        return float(min(best, UNLIKE) - np.clip(worst, USUAL, UNLIKE))


def elastic_candidates(normalize=None):
    """Dynamic time warping from rigid to without a penalty, the default first."""
    return [*(Candidate("adtw", times, normalize) for times in STIFFNESS), Candidate("dtw", None, normalize)]


def rigid_candidates(normalize=None):
    """Windows, compared point by point; unless it is given, with several normalizations."""
    return [Candidate("euclidean", None, one) for one in (WINDOWS if normalize is None else (normalize,))]


class Block(NamedTuple):
    """A block [first, last) of samples, which is held out."""

    first: int
    last: int

    def without(self, marked, ty):
        """The rest of a marked recording, and of its times."""
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
        """Which ranges (k, 2) have their middle in the block."""
        middle = ranges.sum(axis=1)
        return (middle >= 2 * self.first) & (middle < 2 * self.last)

    def rest_of(self, ranges):
        """The other ranges, counted as if the block were not there, and which they are."""
        outside = ~self.holds(ranges)
        ranges = ranges[outside]
        # What reaches into the block ends, or starts, at its border.
        late = ranges >= self.last
        return np.where(late, ranges - (self.last - self.first), np.minimum(ranges, self.first)), outside


def blocks_of(ranges, n):
    """Contiguous blocks [first, last) of n samples with as many of the occurrences (k, 2) each; borders midway.

    There are fewer where a block would have less than FEW of them, and none where there would be one.
    """
    count = min(BLOCKS, len(ranges) // FEW)
    if count < 2:
        return []
    firsts = [test[0] for _, test in BlockedSeriesSplit(count).split(ranges)]
    edges = [0, *((int(ranges[k - 1, 1]) + int(ranges[k, 0])) // 2 for k in firsts[1:]), n]
    return [Block(*edge) for edge in pairwise(edges)]


def evidence_of(true, found, share, accepted):
    """The evidence of ranges.

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
    rows, columns = pairs_by_iou(true, found, SHIFTED)
    np.minimum.at(hits, rows, share[columns])
    other = np.ones(len(found), bool)
    other[columns] = False
    start, end = np.ascontiguousarray(found[other].T)
    false = share[other]
    false = false[select(false, start, end)] if len(false) else false  # each stretch once
    right = count_matched(*pairs_by_iou(true, accepted, SHIFTED), len(true), len(accepted))
    return Evidence(hits, false, right, len(accepted))


def joined(parts):
    """The evidence of several classes, each of which is searched for by itself."""
    hits, false, right, accepted, found = zip(*parts, strict=True)
    rest = np.concatenate(hits), np.concatenate(false), sum(right), sum(accepted)
    return Evidence(*rest, HeldOut.together(found).nearest)


def compare(candidates, evidence):
    """The table of the candidates, arrays by name, from the evidence of each in each block; and the number of the best.

    Those whose F1 is within one standard error of the best one, or an event, are as good. Of these the largest
    margin decides; of those with nearly that the first is taken, which is the nearest to the default.
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

"""The cost of background with which a segmentation finds the marked occurrences best."""

import numpy as np

from ...distances._series import full_weight
from ...metrics import event_f1_score
from ...utils._jobs import progress
from .._segmentation.background import Background, power_of

SHIFTED = 1 / 3  # intersection over union of two ranges of one length that are half of it apart
STEPS = 4.0 ** np.arange(-3, 4)
CLOSER = 2.0, np.sqrt(2.0)
TRIALS = len(STEPS) + 2 * len(CLOSER)
PERFECT = 0.99


def learn_background(marked, queries, constant, segment, verbose=0):
    """The cost of background with which a segmentation finds the marked occurrences best.

    Tried are a cost that grows with the distance from the offset of the background and, where that does not do, a
    constant one, each times several factors. Of the range of factors that are equally good the middle is taken: then
    the largest change to either side does no harm.

    Parameters
    ----------
    marked : Annotation
    queries : list of Comparison
    constant : float
        A constant cost to begin with.
    segment : function
        Starts and ends of the segmentation with a `Background`.
    verbose : int
        Above 0: a bar counts the segmentations.
    """
    power, data, code = power_of(queries[0].metric), marked.data, marked.labels.code
    rest = data[:, code == 0] if (code == 0).sum() > 1 else data
    offset = np.nanmedian(rest, axis=1, keepdims=True)
    full = np.concatenate([full_weight(how.w, how.x) for how in queries], axis=1)
    slope = full.mean(axis=1, keepdims=True)
    strongest = Background(np.inf, slope, offset, power).costs(data[:, code != 0]).max()

    def tried(make):
        with progress(TRIALS, verbose, "learn background", "segmentation") as count:

            def value(factor):
                found = np.column_stack(segment(make(factor)))
                count()
                return event_f1_score(marked.ranges, found, min_iou=SHIFTED) if len(found) else 0.0

            factor, best = middle_of_the_best(value, 0.5 / len(marked.ranges))
        return best, make(factor)

    # No sample of background costs more than the strongest sample of an occurrence: artefacts are no occurrences.
    relative = -1, None
    if strongest:
        relative = tried(lambda factor: Background(factor * strongest, factor * slope, offset, power))
    if relative[0] >= PERFECT or not 0 < constant < np.inf:
        return relative[1] or Background(constant)
    fixed = tried(lambda factor: Background(factor * constant))
    return fixed[1] if fixed[0] > relative[0] else relative[1]


def middle_of_the_best(value, slack):
    """The middle of the factors that give the best value or as good as that, and that value.

    Tried are powers of 4, then the factors around the best ones, each time at half the distance (in powers).
    """
    values = {factor: value(factor) for factor in STEPS.tolist()}
    for step in CLOSER:
        first, last = _best_range(values, slack)
        for factor in (first / step, last * step):
            values[factor] = value(factor)
    first, last = _best_range(values, slack)
    return float(np.sqrt(first * last)), max(values.values())


def _best_range(values, slack):
    """The least and the largest of the neighbouring factors about the best one whose values are as good."""
    factors = sorted(values)
    best = max(values.values())
    first = last = factors.index(max(values, key=values.get))
    while first > 0 and values[factors[first - 1]] >= best - slack:
        first -= 1
    while last + 1 < len(factors) and values[factors[last + 1]] >= best - slack:
        last += 1
    return factors[first], factors[last]

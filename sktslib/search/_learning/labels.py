"""Learning from labels: queries with weights and limits of length, background, threshold, and self-training.

Queries are templates of labeled occurrences; mirrored occurrences are turned to the signs that most of their class
have. The cost of background and the threshold are those that find the marked occurrences best. Self-training treats
repetitions in the unlabeled part of a recording as further occurrences.
"""

from typing import NamedTuple

import numpy as np

from ...distances._barycenters import Task, dba, soft
from ...distances._metrics.elastic import ElasticMetric
from ...distances._metrics.soft import SoftDTW
from ...distances._pairwise import distances_between, driver_of, pairwise_distances
from ...distances._series import full_weight, resample
from ...metrics._events import count_matched, pairs_by_iou
from ...utils._jobs import one_by_one, progress
from ...utils.validation import as_weight
from .._segments.optimal import Background, background_cost, power_of


def aligned(pieces, signs, metric):
    """Return pieces (channels, n) multiplied by signs that make them fit each other; most keep their signs.

    Without that, opposite pieces would cancel in an average. The signs are those that fit the medoid best; then all are
    multiplied by the signs that most of them got.
    """
    signs = signs.reshape(len(signs), -1, 1)
    turned, _ = _turned(pieces, pieces[0], signs, metric)
    far = pairwise_distances(turned, metric=metric, channels_first=True)
    turned, which = _turned(pieces, pieces[int(np.argmin(far.sum(axis=1)))], signs, metric)
    most = signs[np.argmax(np.bincount(which))]
    return [piece * most for piece in turned]


def _turned(pieces, middle, signs, metric):
    """Return the pieces multiplied by the signs that fit `middle` best, and the index of these signs for each piece."""
    far = pairwise_distances([middle * sign for sign in signs], pieces, metric=metric, channels_first=True)
    which = np.argmin(far, axis=0)
    return [piece * signs[k] for piece, k in zip(pieces, which, strict=True)], which


EXAMPLES = 50  # most occurrences of a class that are compared for the medoid and averaged
FEW = 3  # with fewer occurrences there is no average and no spread
MERGED = 1.75  # an occurrence longer than this multiple of the median length counts as two that touch
STRETCH = 1.5  # factor by which a repetition may be longer or shorter than the marked occurrences
LEAST_SPREAD = 0.1  # smallest variance of a point, as a share of the mean over the points
MOST_TEMPLATES = 4
CLEAR = 0.4  # silhouette from which groups of occurrences are separated
ITERATIONS, TOLERANCE = 20, 1e-6  # of barycenters


class Learned(NamedTuple):
    """A query learned from labels."""

    x: np.ndarray  # (channels, m)
    w: np.ndarray | None
    tx: np.ndarray | None
    number: int  # its class, from 0
    limits: tuple[int, int]  # shortest and longest repetition to look for


def single(ranges):
    """Return the ranges of one class without those that are long enough to be two occurrences marked without a gap."""
    length = ranges[:, 1] - ranges[:, 0]
    return ranges[length <= MERGED * np.median(length)]


def examples(ranges):
    """Return at most EXAMPLES of the ranges, evenly spread over them."""
    return ranges[np.linspace(0, len(ranges) - 1, min(len(ranges), EXAMPLES)).round().astype(int)]


def learn_queries(marked, metric, n_templates, verbose, signs):
    """Return the queries of each class that is marked in a recording.

    Parameters
    ----------
    marked : Annotation
    n_templates : int or "auto"
        Queries of each class.
    signs : ndarray or None
        The signs (k,) that occurrences may have, or (k, channels) of each channel.

    Returns
    -------
    list of Learned
    """
    found, spreads = [], []
    classes, times = np.unique(marked.code), marked.ty
    with progress(len(classes), verbose, "learn queries", "class") as count:
        for label in classes:
            own = examples(single(marked.ranges[marked.code == label]))
            pieces = as_comparable([np.ascontiguousarray(marked.data[:, s:e]) for s, e in own], metric)
            pieces = pieces if signs is None or len(pieces) < 2 else aligned(pieces, signs, metric)
            far = distances(pieces, metric)
            for group in groups(far, n_templates):
                middle = group[np.argmin(far[np.ix_(group, group)].sum(axis=1))]
                x, variance = pieces[middle], None
                if len(group) >= FEW:
                    members = [pieces[k] for k in group]
                    x = average(members, x, metric, verbose=verbose)
                    variance = variances(x, members, metric)
                s, e = own[middle]
                tx = None if times is None or x.shape[1] != e - s else times[s:e] - times[s]
                lengths = np.diff(own[group], axis=1)[:, 0]
                # Marks that the next one may have cut short do not count.
                shortest = min(max(lengths.min(), np.median(lengths) / MERGED), x.shape[1])
                limits = max(int(np.ceil(shortest / STRETCH)), 1), int(max(lengths.max(), x.shape[1]) * STRETCH)
                found.append(Learned(x, None, tx, int(label) - 1, limits))
                spreads.append((variance, len(group)))
            count()
    if not metric._takes_weights:
        return found
    weights = weigh(spreads, [one.x.shape for one in found], power_of(metric))
    return [one._replace(w=w) for one, w in zip(found, weights, strict=True)]


def as_comparable(pieces, metric):
    """Return pieces in the form that the metric compares.

    For metrics that compare point by point, they are resampled to their median length.
    """
    if isinstance(metric, ElasticMetric) or len({piece.shape[1] for piece in pieces}) == 1:
        return pieces
    m = int(np.median([piece.shape[1] for piece in pieces]))
    return [resample(piece, m) for piece in pieces]


def distances(pieces, metric):
    """Return the symmetric matrix (k, k) of the distances between pieces."""
    far = np.zeros((len(pieces), len(pieces)))
    if len(pieces) >= FEW:
        metric._check_collection(pieces, "X")
        metric._warn_of_scale(pieces, pieces)
        order = np.argsort([piece.shape[1] for piece in pieces], kind="stable")  # the order of `pairwise_distances`
        some = [pieces[k] for k in order]
        driver = driver_of(metric, some, some, None)
        far[np.ix_(order, order)] = distances_between(driver, metric, None, some, some, metric.is_symmetric)
    return (far + far.T) / 2


def groups(far, n_templates):
    """Return groups of occurrences, as arrays of indices, by average linkage; each group makes a template.

    "auto" takes the number of groups with the largest silhouette if that is clear, else one group. Groups of fewer than
    three are left out unless there are no larger ones, because their average would show accidents.
    """
    n = len(far)
    everything = [np.arange(n)]
    if n_templates == 1 or n < 2 * FEW or not np.isfinite(far).all():
        return everything
    from sklearn.cluster import AgglomerativeClustering  # both imports take longer than that of the package
    from sklearn.metrics import silhouette_score

    best, cut = CLEAR, None
    for k in range(2, MOST_TEMPLATES + 1) if n_templates == "auto" else [min(n_templates, n // FEW)]:
        which = AgglomerativeClustering(k, metric="precomputed", linkage="average").fit_predict(far)
        if n_templates != "auto":
            cut = which
        elif np.sort(np.bincount(which))[-2] >= FEW:
            value = silhouette_score(far, which, metric="precomputed")
            best, cut = (value, which) if value > best else (best, cut)
    if cut is None:
        return everything
    return [np.flatnonzero(cut == k) for k in range(cut.max() + 1) if (cut == k).sum() >= FEW] or everything


def average(pieces, middle, metric, w=None, verbose=0):
    """Return the barycenter (channels, m) of pieces, starting from `middle`; for other metrics their plain mean."""
    is_elastic = isinstance(metric, ElasticMetric)
    if not (is_elastic or isinstance(metric, SoftDTW)):
        return np.mean([resample(piece, middle.shape[1]) for piece in pieces], axis=0)
    w = None if w is None else as_weight(w.T, *middle.shape[::-1])
    share = np.full(len(pieces), 1.0 / len(pieces))
    with progress(None, verbose, "barycenter", "iteration") as count:
        task = Task(metric, pieces, share, w, 1, one_by_one, ITERATIONS, TOLERANCE, count)
        return (dba if is_elastic else soft)(task, middle.copy())[0]


def variances(x, pieces, metric):
    """Return the mean squared difference (channels, m) between each point and the points aligned with it."""
    total, count = np.zeros(x.shape), np.zeros(x.shape[1])
    for y in pieces:
        if isinstance(metric, ElasticMetric):
            (i, j), _ = metric._partners(metric._problem(x, None, y, None, None))
        else:
            i, j = np.arange(x.shape[1]), np.linspace(0, y.shape[1] - 1, x.shape[1]).round().astype(int)
        np.add.at(count, i, 1)
        np.add.at(total, (slice(None), i), (x[:, i] - y[:, j]) ** 2)
    mean = total.sum(axis=1, keepdims=True) / max(count.sum(), 1)
    return np.where(count > 0, total / np.maximum(count, 1), mean)


def weigh(spreads, shapes, power):
    """Return the weights of the points of all templates, a power of their inverse spread; the largest weight is 1.

    A point's variance is shrunk towards the mean over the points, the more so the fewer occurrences there are;
    templates without a variance get equal weights. In each channel all templates have the same geometric mean weight,
    because otherwise the template with the largest spread would fit everything at the lowest cost.
    """
    known = [variance.mean(axis=1) for variance, _ in spreads if variance is not None]
    usual = np.mean(known, axis=0) if known else np.zeros(shapes[0][0])
    if not usual.any():
        return [None] * len(shapes)
    usual[usual == 0] = usual[usual > 0].mean()
    weights = []
    for (variance, count), shape in zip(spreads, shapes, strict=True):
        relative = np.ones(shape)
        mean = None if variance is None else variance.mean(axis=1, keepdims=True)
        if variance is not None and mean.all():
            relative = np.maximum((count * variance / mean + FEW) / (count + FEW), LEAST_SPREAD)
            relative /= np.exp(np.log(relative).mean(axis=1, keepdims=True))
        weights.append((relative * usual[:, np.newaxis]) ** (-power / 2))
    top = max(w.max() for w in weights)
    return [np.ascontiguousarray(w / top) for w in weights]


# ---------------------------------------------------------------------------------- background, threshold, unlabeled
SHIFTED = 1 / 3  # intersection over union of two ranges of equal length, shifted by half of it
STEPS = 4.0 ** np.arange(-3, 4)
CLOSER = 2.0, np.sqrt(2.0)
TRIALS = len(STEPS) + 2 * len(CLOSER)
PERFECT = 0.99
TWICE = 2.0  # cost, relative to its power, of a stretch of samples as strong as the query and uncorrelated with it
USUAL = 0.25  # prior for the share of an occurrence's power that its query does not explain


def learn_background(marked, queries, constant, segment, verbose=0):
    """Return the cost of background with which a segmentation finds the marked occurrences best.

    Two kinds are tried, each with several factors: a cost that grows with the distance from the offset of the
    background, and, if that does not find all, a constant one. Where a range of factors is equally good, its middle is
    taken, because it tolerates the largest change in either direction. With a factor below 1, a stretch that is nearer
    to the query than to the background counts as background. That is right if false matches are as near: the best of
    all windows of noise, or a neighbor of the occurrences. How small the factor may get depends on the misses; but
    misses of occurrences without a mark are unknown, so the smaller the share of marked occurrences, the closer to 1
    the range starts. The fewer occurrences or stretches of background there are to learn from, the closer the factor
    stays to 1.

    Parameters
    ----------
    marked : Annotation
    queries : list of QueryPlan
    constant : float
        The constant cost to start from.
    segment : function
        Returns the `SegmentTable` of the segmentation with a `Background`.
    verbose : int
        Above 0: a progress bar counts the segmentations.
    """
    data, code = marked.data, marked.labels.code
    unit = plain_background(queries, offset_of(marked))
    plain = unit.costs(data)
    strongest = plain[code != 0].max()
    seen = min((code == 0).sum() / np.median(np.diff(marked.ranges)), len(marked.ranges))
    sure = seen / (seen + FEW)

    def tried(one, nearest):
        with progress(TRIALS, verbose, "learn background", "segmentation") as count:

            def value(factor):
                found = segment(one.times(factor))
                count()
                return f1_of_marks(marked.ranges, found, plain)

            factor, best = middle_of_the_best(value, len(marked.ranges), nearest)
        return best[0], one.times(factor**sure if nearest else factor)

    # Background costs per sample at most the strongest sample of an occurrence, because artifacts are not occurrences.
    relative = tried(unit._replace(limit=strongest), 1.0) if strongest else (-1, None)
    if relative[0] >= PERFECT or not 0 < constant < np.inf:
        return relative[1] or Background(constant)
    fixed = tried(Background(constant), 0.0)
    return fixed[1] if fixed[0] > relative[0] else relative[1]


def offset_of(marked):
    """Return the offset (channels, 1) of the background of a marked recording."""
    if marked.offset is not None:
        return marked.offset
    idle = marked.labels.code == 0
    return np.nanmedian(marked.data[:, idle] if idle.sum() > 1 else marked.data, axis=1, keepdims=True)


def plain_background(queries, offset):
    """Return the background with factor 1: the mean weight of the queries' points, and no maximum."""
    full = np.concatenate([full_weight(plan.w, plan.x) for plan in queries], axis=1)
    return Background(np.inf, full.mean(axis=1, keepdims=True), offset, power_of(queries[0].metric))


def background_of(queries):
    """Return the background that follows from given queries: factor 2 about the mean of their ends, or a constant cost.

    A stretch of samples is a repetition if it costs less than twice its own squared distance from the offset, the mean
    of the first and last points of the queries, where background is expected. For a stretch as strong as the query,
    this means that the two correlate; a weaker copy must have at least .41 of the amplitude, so that neither rest nor
    ripples are repetitions. No sample costs more than the strongest point of the queries. This applies to
    ADTW(omega="auto"). Other metrics get a constant cost, and so do queries whose ends are so far apart that rest at
    one of the ends would cost more than a repetition that is stretched over it.
    """
    if not queries[0].metric._background_by_sample:
        return Background(background_cost(queries))
    x = np.concatenate([plan.x for plan in queries], axis=1)
    ends = np.concatenate([plan.x[:, [0, -1]] for plan in queries], axis=1)
    plain = plain_background(queries, ends.mean(axis=1, keepdims=True))
    if TWICE * plain.costs(ends).max() >= queries[0].metric.omega_:
        return Background(background_cost(queries))
    return plain._replace(limit=float(plain.costs(x).max())).times(TWICE)


def shares_of(cost, start, end, plain):
    """Return the costs of ranges divided by what their samples cost as background, `plain` (n,)."""
    total = np.append(0.0, np.cumsum(plain))
    return cost / np.maximum(total[end] - total[start], np.finfo(float).tiny)


def f1_of_marks(ranges, found, plain):
    """Return the F1 of segments against marked occurrences (k, 2), and the share of occurrences that are marked.

    The F1 estimates that of labels that mark all occurrences. About half of all occurrences have a share (cost divided
    by cost as plain background) below the median of the marked ones. So the number of unmarked occurrences is about
    twice the number of unmarked segments below this median. If the labels are complete there are no such segments, and
    the result is the plain F1. If they are incomplete, a missing mark means less: an unmarked segment that is nearer to
    the query than to the background counts as false only by the share of marked occurrences.

    Parameters
    ----------
    found : SegmentTable
    plain : ndarray of shape (n,)
        Costs of the samples as background.
    """
    events = np.column_stack([found.start, found.end])
    i, j = pairs_by_iou(ranges, events, SHIFTED)
    hits = count_matched(i, j, len(ranges), len(events))
    if not hits:
        return 0.0, 1.0
    share, known = shares_of(found.cost, *events.T, plain), np.unique(j)
    others, most = np.delete(share, known), of_another(np.median(share[known]), len(known))
    right = hits + min(2 * int((others <= most).sum()), len(others))  # including those that are unmarked
    near = max(int((others < 1).sum()) - right + hits, 0)
    wrong = len(others) - right + hits
    recall, precision = hits / len(ranges), right / (right + wrong - near + near * hits / right)
    return 2 * recall * precision / (recall + precision), hits / right


def of_another(share, k):
    """Return the expected share of a further occurrence, given the `share` of the `k` that the query was learned from.

    The query is their average or one of them, so they are nearer to it than others: their mean squared distance is to
    that of others as ``k - 1`` to ``k + 1``. If they are few, the result is shrunk towards USUAL.
    """
    return (k * share * (k + 1) / max(k - 1, 1) + FEW * USUAL) / (k + FEW)


def middle_of_the_best(value, k, nearest=0.0):
    """Return the middle of the factors whose value is best or as good as the best, and the best value.

    `value` returns the F1 of `k` events and the share of all events that are marked; if many are unmarked, F1 means
    less. One error, a miss or a false event, changes F1 by half an event. A value is as good as the best if it has at
    most one more error, plus the root of the number of errors, by which that number varies by chance; this tolerance is
    at most a hundredth of F1 where there are many events.

    First, powers of 4 are tried, then factors around the best ones, twice, each time at half the distance (in powers).
    If the best range contains `nearest`, its part below `nearest` is shrunk (in powers) by the smallest share of marked
    events in the range.
    """
    values = {factor: value(factor) for factor in STEPS.tolist()}
    for step in CLOSER:
        first, last = _best_range(values, k)
        for factor in (first / step, last * step):
            values[factor] = value(factor)
    first, last = _best_range(values, k)
    if first < nearest <= last:
        share = min(marked for factor, (_, marked) in values.items() if first <= factor <= last)
        first = nearest * (first / nearest) ** share
    return float(np.sqrt(first * last)), max(values.values())


def _best_range(values, k):
    """Return the smallest and largest factor of the contiguous range around the best one with values as good."""
    factors = sorted(values)
    first = last = factors.index(max(values, key=values.get))
    best, share = values[factors[first]]
    errors = 2 * k * share * (1 - best)
    slack = max(1, min(1 + np.sqrt(1 + errors), 2 * k * share * (1 - PERFECT))) / (2 * k * share)
    while first > 0 and values[factors[first - 1]][0] >= best - slack:
        first -= 1
    while last + 1 < len(factors) and values[factors[last + 1]][0] >= best - slack:
        last += 1
    return factors[first], factors[last]


def learn_threshold(matches, ranges):
    """Return the threshold with which a search finds the marked occurrences (k, 2) best, or None.

    It is midway between the last match that it accepts and the next one. Each occurrence counts once.
    """
    order = np.argsort(matches.distance, kind="stable")
    found = np.column_stack([matches.start, matches.end])[order]
    right, taken = np.zeros(len(found), bool), np.zeros(len(ranges), bool)
    event, match = pairs_by_iou(ranges, found, SHIFTED)
    for k in np.argsort(match, kind="stable"):
        if not (right[match[k]] or taken[event[k]]):
            right[match[k]] = taken[event[k]] = True
    if not right.any():
        return None
    distance = matches.distance[order]
    return best_cut(2 * np.cumsum(right) / (np.arange(1, len(right) + 1) + len(ranges)), distance)


def best_cut(f1, distance):
    """Return the threshold with the highest F1, given the F1 for each of the ascending distances as the threshold.

    It is midway to the next distance; None if the last distance is best. Of equally good ones it is the largest.
    """
    f1[:-1][distance[:-1] == distance[1:]] = -1.0  # a threshold accepts all equal distances
    last = len(f1) - 1 - int(np.argmax(f1[::-1]))
    return None if last + 1 == len(f1) else float((distance[last] + distance[last + 1]) / 2)


UNLABELED = -1  # as in scikit-learn's semi-supervised estimators
SLACK = np.sqrt(STRETCH)  # tolerance of lengths: half of STRETCH, as a power


class Taken(NamedTuple):
    """Repetitions that self-training treats as occurrences, in temporal order, and the median of all other samples."""

    ranges: np.ndarray  # (k, 2)
    code: np.ndarray  # (k,)
    offset: np.ndarray | None  # (channels, 1)


NOTHING = Taken(np.empty((0, 2), np.int64), np.empty(0, np.int64), None)


def learnable(marked, taken=NOTHING):
    """Return a marked recording that includes the `taken` repetitions as occurrences.

    All other unlabeled samples become missing.
    """
    hidden, code = marked.unlabeled.copy(), np.where(marked.unlabeled, UNLABELED, marked.labels.code)
    for (s, e), number in zip(taken.ranges.tolist(), taken.code.tolist(), strict=True):
        hidden[s:e], code[s:e] = False, number
    ranges = np.concatenate([marked.ranges, taken.ranges])
    order = np.argsort(ranges[:, 0])
    return marked._replace(
        data=np.where(hidden, np.nan, marked.data),
        labels=marked.labels._replace(code=code),
        ranges=ranges[order],
        code=np.concatenate([marked.code, taken.code])[order],
        offset=taken.offset,
    )


def sure_ones(marked, queries, numbers, found):
    """Return the repetitions in the unlabeled part that are as certain as the labeled occurrences.

    A repetition qualifies if its share (cost divided by cost as plain background) is at most the largest share of an
    occurrence of its class, as `of_another` estimates it, below 1, where background would be nearer, and below the
    share of every false repetition in the labeled part. Its length must also be similar to those of the labeled
    occurrences. A metric that stretches at no cost finds an occurrence but not its borders, and queries learned from
    such ranges would grow from round to round.

    Parameters
    ----------
    marked : Annotation
    queries : list of QueryPlan
    numbers : ndarray of int
        The label of each query.
    found : SegmentTable
        The segmentation of the whole recording.
    """
    inside = np.zeros(marked.data.shape[1], bool)
    for s, e in zip(found.start, found.end, strict=True):
        inside[s:e] = True
    inside |= ~marked.unlabeled & (marked.labels.code != 0)
    rest = marked.data[:, ~inside]
    offset = np.nanmedian(rest if (~np.isnan(rest)).any(axis=1).all() else marked.data, axis=1, keepdims=True)
    events, own = np.column_stack([found.start, found.end]), numbers[found.query]
    share = shares_of(found.cost, *events.T, plain_background(queries, offset).costs(marked.data))
    foreign = np.append(0, np.cumsum(marked.unlabeled))
    foreign, length = foreign[found.end] - foreign[found.start], found.end - found.start
    i, j = pairs_by_iou(marked.ranges, events, SHIFTED)
    hit = np.zeros(len(events), bool)
    hit[j[marked.code[i] == own[j]]] = True
    sure = np.zeros(len(events), bool)
    for number in np.unique(marked.code):
        of_class = own == number
        known = share[of_class & hit]
        if len(known):
            most = min(of_another(known.max(), len(known)), 1.0)
            false = share[of_class & ~hit & (foreign == 0)].min(initial=np.inf)
            usual = np.diff(single(marked.ranges[marked.code == number]), axis=1)
            as_long = (usual.min() <= length * SLACK) & (length <= usual.max() * SLACK)
            sure |= of_class & (foreign == length) & as_long & (share <= most) & (share < false)
    return Taken(events[sure], own[sure], offset)

"""Learning from labels: queries with weights and bounds of lengths, background, threshold, and self-training.

Queries are templates of labeled occurrences; mirrored ones are turned to the signs that most of their class have. The
cost of background and the threshold are those with which the marked occurrences are found best. Self-training takes
repetitions of the part of a recording that nobody labeled as further occurrences.
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
    """Return pieces (channels, n) times the signs with which the medoid fits them best, turned as most of them were.

    The average of opposite pieces would be none. The medoid is that of the pieces turned like the first.
    """
    signs = signs.reshape(len(signs), -1, 1)
    turned, _ = _turned(pieces, pieces[0], signs, metric)
    far = pairwise_distances(turned, metric=metric, channels_first=True)
    turned, which = _turned(pieces, pieces[int(np.argmin(far.sum(axis=1)))], signs, metric)
    most = signs[np.argmax(np.bincount(which))]
    return [piece * most for piece in turned]


def _turned(pieces, middle, signs, metric):
    """Return the pieces turned so that `middle` fits them, and the number of the signs of each."""
    far = pairwise_distances([middle * sign for sign in signs], pieces, metric=metric, channels_first=True)
    which = np.argmin(far, axis=0)
    return [piece * signs[k] for piece, k in zip(pieces, which, strict=True)], which


EXAMPLES = 50  # occurrences of a class that are averaged, as many as a medoid is searched for among
FEW = 3  # with fewer there is no average and no spread
MERGED = 1.75  # times the usual length of its class: two occurrences that touch
STRETCH = 1.5  # how much longer or shorter than the marked occurrences a repetition may be
LEAST_SPREAD = 0.1  # of a point's variance, as a share of the mean over the points
MOST_TEMPLATES = 4
CLEAR = 0.4  # silhouette from which on groups of occurrences count as such
ITERATIONS, TOLERANCE = 20, 1e-6  # of averages


class Learned(NamedTuple):
    """A query that was learned."""

    x: np.ndarray  # (channels, m)
    w: np.ndarray | None
    tx: np.ndarray | None
    number: int  # of its class, from 0
    limits: tuple[int, int]  # shortest and longest repetition to look for


def single(ranges):
    """Return the ranges of one class without those that are long enough to be two occurrences.

    Such occurrences were marked without a gap between them.
    """
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
        Those that occurrences may have (k,), or their channels (k, channels).

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
                # Marks that were cut short by the next one are left out.
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
    """Return pieces as the metric compares them.

    Where points meet one by one, they are resampled to their median length.
    """
    if isinstance(metric, ElasticMetric) or len({piece.shape[1] for piece in pieces}) == 1:
        return pieces
    m = int(np.median([piece.shape[1] for piece in pieces]))
    return [resample(piece, m) for piece in pieces]


def distances(pieces, metric):
    """Return the symmetric distances (k, k) of the pieces from each other."""
    far = np.zeros((len(pieces), len(pieces)))
    if len(pieces) >= FEW:
        metric._check_collection(pieces, "X")
        metric._warn_of_scale(pieces, pieces)
        order = np.argsort([piece.shape[1] for piece in pieces], kind="stable")  # as `pairwise_distances` compares them
        some = [pieces[k] for k in order]
        driver = driver_of(metric, some, some, None)
        far[np.ix_(order, order)] = distances_between(driver, metric, None, some, some, metric.is_symmetric)
    return (far + far.T) / 2


def groups(far, n_templates):
    """Return the indices of the occurrences that make a template each, by average linkage.

    "auto" takes the number of groups with the largest silhouette, if that is a clear one. Groups of fewer than three
    are left out unless there are no others, for an average of them would show their accidents.
    """
    n = len(far)
    everything = [np.arange(n)]
    if n_templates == 1 or n < 2 * FEW or not np.isfinite(far).all():
        return everything
    from sklearn.cluster import AgglomerativeClustering  # these two take longer to import than the package
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
    """Return the barycenter (channels, m) of pieces, starting from `middle`; metrics without one get a plain mean."""
    is_elastic = isinstance(metric, ElasticMetric)
    if not (is_elastic or isinstance(metric, SoftDTW)):
        return np.mean([resample(piece, middle.shape[1]) for piece in pieces], axis=0)
    w = None if w is None else as_weight(w.T, *middle.shape[::-1])
    share = np.full(len(pieces), 1.0 / len(pieces))
    with progress(None, verbose, "barycenter", "iteration") as count:
        task = Task(metric, pieces, share, w, 1, one_by_one, ITERATIONS, TOLERANCE, count)
        return (dba if is_elastic else soft)(task, middle.copy())[0]


def variances(x, pieces, metric):
    """Return the mean squared difference (channels, m) of each point from the points that it meets."""
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
    """Return the weights of the points of all templates, the inverse of their spread; the largest of all is 1.

    A variance is drawn towards the mean over the points, the more the fewer occurrences it is from; a template of too
    few occurrences has the same weight everywhere. In each channel the (geometric) mean weight of every template is the
    same: else the template with the largest spread would fit everything at the least cost.
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
SHIFTED = 1 / 3  # intersection over union of two ranges of one length that are half of it apart
STEPS = 4.0 ** np.arange(-3, 4)
CLOSER = 2.0, np.sqrt(2.0)
TRIALS = len(STEPS) + 2 * len(CLOSER)
PERFECT = 0.99
TWICE = 2.0  # what a stretch as strong as the query costs at least that does not correlate with it, over its power
USUAL = 0.25  # of a stretch's power its query leaves over, before anything is known: it explains the larger part by far


def learn_background(marked, queries, constant, segment, verbose=0):
    """Return the cost of background with which a segmentation finds the marked occurrences best.

    Tried are a cost that grows with the distance from the offset of the background and, where that does not do, a
    constant one, each times several factors. Of the range of factors that are equally good the middle is taken: then
    the largest change to either side does no harm. With less than 1 a stretch is background that is nearer to the query
    than to the background. That is right where false ones are as near: the best of all windows of noise, or a neighbor
    of the occurrences. How far down it may go shows in the misses, and those of occurrences without a mark are not
    seen: the smaller the share with a mark, the closer to 1 the range begins. The fewer occurrences or stretches of
    background there are to learn from, the closer the factor stays to 1.

    Parameters
    ----------
    marked : Annotation
    queries : list of QueryPlan
    constant : float
        A constant cost to begin with.
    segment : function
        `SegmentTable` of the segmentation with a `Background`.
    verbose : int
        Above 0: a bar counts the segmentations.
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

    # No sample of background costs more than the strongest sample of an occurrence: artifacts are no occurrences.
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
    """Return the background of the factor 1: the mean weight of the queries' points, and no maximum."""
    full = np.concatenate([full_weight(plan.w, plan.x) for plan in queries], axis=1)
    return Background(np.inf, full.mean(axis=1, keepdims=True), offset, power_of(queries[0].metric))


def background_of(queries):
    """Return the background that given queries tell: that of the factor 2 about their ends, or a constant one.

    A stretch is a repetition if it costs less than twice its own squared distance from the offset, the mean of the
    first and last points of the queries, from which background goes on. If it is as strong as the query, that means
    that it correlates with the query; a weaker copy must have at least .41 of the amplitude, so that neither rest nor
    ripples are repetitions. No sample costs more than the strongest point of the queries. That is so for
    ADTW(omega="auto"); for others it is a constant, and where the ends are so far apart that rest at one of them would
    cost more than stretching a repetition over it.
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
    """Return the costs of ranges as shares of what their samples cost as background, `plain` (n,)."""
    total = np.append(0.0, np.cumsum(plain))
    return cost / np.maximum(total[end] - total[start], np.finfo(float).tiny)


def f1_of_marks(ranges, found, plain):
    """Return the F1 of what was found against marked occurrences (k, 2), and the share of occurrences with a mark.

    The F1 is that of labels that mark all occurrences. Half of all occurrences cost less than the median of the marked
    ones, each as a share of what it costs as plain background. The occurrences without a mark are therefore about twice
    as many as the finds without a mark that cost less than that median. Labels that miss nothing leave no such finds,
    and this is plain F1. Where labels miss some, a missing mark means less: a find that is nearer to the query than to
    the background counts as false by the share that is marked.

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
    right = hits + min(2 * int((others <= most).sum()), len(others))  # with those that nobody marked
    near = max(int((others < 1).sum()) - right + hits, 0)
    wrong = len(others) - right + hits
    recall, precision = hits / len(ranges), right / (right + wrong - near + near * hits / right)
    return 2 * recall * precision / (recall + precision), hits / right


def of_another(share, k):
    """Return the share that a further occurrence leaves over, by that of `k` from which the query was learned.

    The query is their average, or one of them, so they are nearer to it than others are: their mean squared distance
    is to that of others as ``k - 1`` to ``k + 1``. Few of them tell little of how occurrences differ, and their share
    is drawn towards USUAL.
    """
    return (k * share * (k + 1) / max(k - 1, 1) + FEW * USUAL) / (k + FEW)


def middle_of_the_best(value, k, nearest=0.0):
    """Return the middle of the factors whose value is the best one or as good, and the best value.

    The values are F1 of `k` events, of which an error, a miss or a false one, takes half an event, and the share of all
    events that these are: where many have no mark, F1 says less. As good as the best is what has one error more, and of
    many events as many more as their number varies by chance, the root of it, up to a hundredth of F1.

    Tried are powers of 4, then the factors around the best ones, each time at half the distance (in powers). Where
    `nearest` is among the best, the range below it (in powers) is cut to the least share of marks in the range.
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
    """Return the least and the largest of the neighboring factors about the best one whose values are as good."""
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
    """Return the distance with which a search finds the marked occurrences (k, 2) best, or None.

    It is midway between the last match within it and the next one. Each occurrence counts once.
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
    """Return the threshold of the highest F1, by that with each of some distances, which ascend, as the threshold.

    It is midway to the next distance; None behind the last one. Of equally good ones it is the largest.
    """
    f1[:-1][distance[:-1] == distance[1:]] = -1.0  # a threshold takes all that are as far
    last = len(f1) - 1 - int(np.argmax(f1[::-1]))
    return None if last + 1 == len(f1) else float((distance[last] + distance[last + 1]) / 2)


UNLABELED = -1  # as in scikit-learn's semi-supervised estimators
SLACK = np.sqrt(STRETCH)  # midway between the length of the labeled occurrences and the bounds of a repetition


class Taken(NamedTuple):
    """Repetitions that are taken as occurrences, in temporal order, and the median of what is in no repetition."""

    ranges: np.ndarray  # (k, 2)
    code: np.ndarray  # (k,)
    offset: np.ndarray | None  # (channels, 1)


NOTHING = Taken(np.empty((0, 2), np.int64), np.empty(0, np.int64), None)


def learnable(marked, taken=NOTHING):
    """Return a marked recording with what is taken as further occurrences.

    Its other unlabeled samples become missing.
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
    """Return the repetitions of the unlabeled part that are as sure as those of the labeled occurrences.

    They cost at most the largest share, of what they would as plain background, of an occurrence of their class that
    was found, as `of_another` estimates it, and less than any false repetition of the labeled part. From a share of 1
    on the background is nearer. They are about as long as the labeled ones, too: a metric that stretches without
    charge finds an occurrence, but not its borders, and queries learned from that would grow from round to round.

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

"""Fit of a segmenter to queries that are given or learned from labels.

Repetitions may be limited by a threshold of their cost per query point, which segmentations by decoys find.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from numbers import Integral

import numpy as np

from ...utils._jobs import progress
from ...utils._names import warn
from ...utils._parameters import Interval, ParameterHolder, StrOptions
from ...utils._sampling import interval, seconds_of
from ...utils._times import times_of
from ...utils.validation import as_floats, as_times, check_count, refused, shown
from .. import _thresholds
from .._channels import with_polarity, with_signs
from .._chunks import kernel_times, several
from .._learning import choice as metric_choice
from .._learning import labels
from .._learning.labels import as_comparable, average, examples
from .._plan import check_domain, check_room
from .._sources import ArraySource
from .optimal import Classes, Versions, background_cost, segment


def per_point(cost, shown):
    """Return the cost of each repetition per query point that it covers."""
    return cost / np.diff(shown, axis=1)[:, 0]


def fit_conformal(segmenter, marked, weight, times):
    """Find the threshold of each class by what the other blocks of the labels show."""
    rule, ty = _thresholds.rule_of(segmenter.threshold), kernel_times(segmenter, times, marked.data.shape[1])

    def distances(others, ranges, code):
        # Bounds of lengths and the cost of background stay: what they leave out is out in the end, too.
        queries, learned = segmenter._learn(others, weight, times, segmenter._learning.n_templates)
        queries = [with_polarity(plan._replace(metric=segmenter.metric_), segmenter.polarity) for plan in queries]
        queries = queries if segmenter._queries[0].tx is not None else [plan.untimed for plan in queries]
        numbers = [one.number for one in learned]
        rules = _rules_of(segmenter, numbers)
        found = segment(queries, rules, marked.data, ty, segmenter.n_jobs, source=rules.source(marked.data, ty))
        numbers = np.array(numbers)[found.query] + 1
        out, costs = np.empty(len(code)), per_point(found.cost, found.shown)
        for number in np.unique(code):
            own, same = code == number, numbers == number
            out[own] = _thresholds.found_at(ranges[own], found.start[same], found.end[same], costs[same])
        return out, metric_choice.HeldOut(np.column_stack([found.start, found.end]), numbers, costs)

    thresholds, held = _thresholds.conformal_thresholds(rule, marked, distances)
    segmenter.report_ = held.report(marked)
    segmenter._conformal = rule.alpha, [thresholds[int(number) + 1] for number in segmenter._numbers]


def _rules_of(segmenter, numbers):
    """Return the rules of a segmentation by other queries of the fitted classes, whose numbers are given."""
    rules, k = segmenter._rules, len(numbers)
    if rules.classes is not None:
        rules = rules._replace(classes=rules.classes._replace(of_query=np.array(numbers)))
    bounds = dict(zip(segmenter._numbers.tolist(), rules.limits, strict=True))
    rules = rules._replace(limits=tuple(bounds[number] for number in numbers))
    if len(rules.transitions) != k + 1:  # another number of templates
        rules = rules._replace(transitions=np.zeros((k + 1, k + 1)))
    return rules


def rated(found, calibrations, thresholds, rule=None):
    """Return the segments within thresholds and `rule`, their three rates, each None without, and the thresholds."""
    if isinstance(rule, _thresholds.Margin) and found.margin is not None:
        found = found.take(~(found.margin < rule.least))
    if calibrations is None and thresholds[0] is None:
        return found, [None] * 4
    limits = np.array(thresholds, float)  # NaN for None
    found = found.take(~(per_point(found.cost, found.shown) > limits[found.query]))
    if calibrations is None:
        return found, [*[None] * 3, limits]
    rates, costs = np.empty((3, len(found.cost))), per_point(found.cost, found.shown)
    for q, one in enumerate(calibrations):
        rates[:, found.query == q] = one.rates(costs[found.query == q])
    return found, [*rates, limits]


def calibrations_in(segmenter, segmentation):
    """Return the calibration of each query in a recording, by decoys that are segmented, too."""
    source, found, times, queries, ranges_of = segmentation
    rate = _thresholds.rate_of(segmenter)
    _thresholds.check_rate(segmenter, rate)
    made = rate._decoys(len(queries)).of(segmenter, queries, _thresholds.center_of(source))
    others = [ranges_of(list(some)) for some in zip(*made, strict=True)]
    hours = _thresholds.recorded_hours(source.extent(0)[1], times)

    def costs(table, q):
        return per_point(table.cost, table.shown)[table.query == q]

    each = range(len(queries))
    return [_thresholds.Calibration.of(costs(found, q), [costs(other, q) for other in others], hours) for q in each]


# Of repetitions that cover background: the least share of all, what they cost at least as a share of background, and
# how many times as much as the others, from which a clear gap divides them. A few are soon seen among the others.
COVERING, NEARLY, DEARER = 0.6, 0.5, 2.0
GROUP = 7  # repetitions that make a group


def warn_of_covered_background(cost, length, background):
    """Warn of repetitions that cost nearly as much as the background, and far more than the others.

    Parameters
    ----------
    cost, length : ndarray of shape (n,)
        Costs and lengths of the repetitions.
    background : float
        Cost of a sample of background, which the queries tell.
    """
    each = cost / length
    gap = _thresholds.gap_between(each, GROUP, 1.0)
    if gap is None or gap[1] < DEARER * gap[0]:
        return
    border = float(f"{np.sqrt(max(gap[0], gap[1] / DEARER**2) * gap[1]):.2g}")
    far = each > border
    if far.mean() >= COVERING and np.median(each[far]) >= NEARLY * background:
        warn(
            f"{far.sum()} of {len(far)} repetitions cost nearly as much as background, {each[far].min():.3g} or more a "
            f"sample, and the others at most {each[~far].max():.3g}: they may cover flat noise. If they do, set "
            f"background={border}, which is {background:.3g} by default, to leave them out."
        )


def warn_of_found(segmenter, found):
    """Warn of repetitions that may cover flat noise, and of groups that a false discovery rate lets through."""
    if segmenter._background_of_queries and segmenter._rules.background.slope is None:
        warn_of_covered_background(found.cost, found.end - found.start, segmenter.background_)
    rate = _thresholds.rate_of(segmenter)
    for query in [] if rate is None else np.unique(found.query).tolist():
        own = found.query == query
        of = f" of query {query}" if len(segmenter._queries) > 1 else ""
        cost = per_point(found.cost, found.shown)[own]
        _thresholds.warn_of_look_alikes(rate.alpha, cost, None, f"repetitions{of}", "cost per query point")


FEW = 2  # repetitions of which an average is taken


@dataclass(eq=False, repr=False)
class Learning(ParameterHolder):
    """Parameters for learning the queries of a segmenter, from labels and from the repetitions that it finds.

    Pass it as the parameter `learning` of `QuerySegmenter`.

    Parameters
    ----------
    n_templates : int or "auto", default="auto"
        Number of queries per class. "auto": the number of clear groups of at least three occurrences, up to 4.
    refine : int, default=0
        Number of times that `segment` averages the repetitions that it found, and segments again by these averages.
        They belong to the recording and to this call; the fitted queries do not change. Not for streams.
    self_train : int, default=0
        Largest number of times that `fit` learns again from its own certain repetitions. Above 0 the label -1 in `y`
        means unlabeled (with 0 it is a class): repetitions found there that are as near as labeled occurrences count as
        labeled.
    class_weight : {None, "balanced"}, default=None
        None: a repetition gets a rare class only if the difference is clear. Its cost counts more, the rarer the class
        is among the labels, and even more if it exceeds that of labeled occurrences, relative to background.
        "balanced": all classes count alike; each repetition has the class with which the segmentation is the cheapest.
        With `transitions` the segmentation decides, too.

    Examples
    --------
    >>> from sktslib import QuerySegmenter
    >>> from sktslib.search import Learning
    >>> segmenter = QuerySegmenter(learning=Learning(refine=2)).fit([0, 1, 3, 1])
    >>> segmenter.segment([0, 0, 0, 1, 3, 1, 0, 0, 1, 1, 3, 1, 0]).boundaries
    array([ 2,  6,  8, 12])
    """

    _parameter_constraints = {
        "n_templates": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "refine": [Interval(Integral, 0, None, closed="left")],
        "self_train": [Interval(Integral, 0, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), None],
    }

    n_templates: int | str = "auto"
    refine: int = 0
    self_train: int = 0
    class_weight: str | None = None


def check_transitions(transitions, k):
    """Return the costs of the transitions between labels as an array (k + 1, k + 1)."""
    if transitions is None:
        return np.zeros((k + 1, k + 1))
    T = np.array(as_floats(transitions, "transitions"))
    if T.shape != (k + 1, k + 1):
        rule = f"have shape ({k + 1}, {k + 1}): a row and a column for background and each of the {k} queries"
        raise refused("'transitions'", rule, f"shape {T.shape}")
    T[0, 0] = 0.0  # consecutive background samples are one stretch
    if not (T >= 0).all():
        raise ValueError(f"'transitions' must not be negative or NaN. Got {np.min(T):g}.")
    return T


def can_be_partial(metric, mode):
    """Return whether there is a path through a part of a query."""
    return mode == "subsequence" and not metric.uses_times and metric._can_be_cut


def check_partial(metric, mode):
    """Refuse repetitions cut off at an end where there is no path through a part of a query."""
    if not can_be_partial(metric, mode):
        raise ValueError(
            "partial=True needs an elastic metric with a warping path that compares no times and has no move cheaper "
            f"than the diagonal one, such as 'dtw' or 'adtw'. Got {metric.full_name}."
        )


def limits_of(given, learned):
    """Return the bounds of the length of each query's repetitions: those given, else those learned."""
    return tuple(
        tuple(b if a is None else a for a, b in zip(*pair, strict=True)) for pair in zip(given, learned, strict=True)
    )


def check_fit(queries, n):
    """Refuse queries none of which fits into a recording of n samples, where segments have the queries' lengths."""
    way_out = "take an elastic metric such as 'dtw', which cuts segments of any length"
    check_room(min(plan.shortest for plan in queries), n, way_out)


def check_searched(queries, y):
    """Refuse values that the metric is not defined for, and windows that do not fit into the sequence."""
    for plan in queries:
        check_domain(plan.metric, plan.x, "The query", plan.normalize)
    if queries[0].mode == "windows":  # those that fit are found
        check_fit(queries, y.shape[1])
    check_domain(queries[0].metric, y, "The sequence", queries[0].normalize)


def fit_background(marked, queries, rules, ty, n_jobs, verbose):
    """Return the background that separates the marked occurrences of a recording from what is not marked."""
    check_searched(queries, marked.data)
    queries = [plan.untimed if ty is None else plan for plan in queries]

    def found(background):
        return segment(queries, rules._replace(background=background), marked.data, ty, n_jobs)

    return labels.learn_background(marked, queries, background_cost(queries), found, verbose)


def refined(queries, source, segments):
    """Return the queries as averages of their repetitions in a segmentation.

    A query with too few repetitions stays as it is, and so do alternatives of a query.
    """
    out = []
    for k, plan in enumerate(queries):
        own = (segments.query == k) & (segments.version % plan.n_unsigned == 0)
        whole = own & (np.diff(segments.shown, axis=1)[:, 0] == plan.m)
        ranges = np.column_stack([segments.start, segments.end])[whole]
        if len(ranges) >= FEW:
            x = average_of(plan, source, ranges, plan.signs_of(segments.version[whole]))
            plan = with_signs(plan.unsigned._replace(x=x), plan.signs)
        out.append(plan)
    return out


def average_of(plan, source, ranges, signs=None):
    """Return the barycenter (channels, m) of ranges of a sequence, times their signs.

    It has the length of the query.
    """
    some = examples(np.arange(len(ranges)))
    pieces = [source.cut(int(s), int(e))[0] for s, e in ranges[some]]
    if signs is not None:
        pieces = [piece * np.reshape(sign, (-1, 1)) for piece, sign in zip(pieces, signs[some], strict=True)]
    return average(as_comparable(pieces, plan.metric), plan.x, plan.metric, plan.w)


def lengths_in_samples(lengths, X, times):
    """Return bounds of lengths with durations as numbers of samples, by the usual step of the times of `X`."""
    if isinstance(lengths, list | tuple | np.ndarray):
        found = [lengths_in_samples(one, X, times) for one in lengths]
        return tuple(found) if isinstance(lengths, tuple) else found
    if not isinstance(lengths, timedelta | np.timedelta64):
        return lengths
    given = None if several(X) else times_of(X, times)
    step = None if given is None else interval(as_times(given, len(given), "times"))
    if step is None:
        raise ValueError(
            "The 'lengths' parameter of QuerySegmenter may be durations where fit gets a recording with 'times', of "
            f"which they are samples. Got {shown(lengths)} without times. Pass times, or numbers of samples."
        )
    return max(round(seconds_of(lengths) / step), 1)


def check_lengths_of(lengths, k):
    """Return the bounds (shortest, longest) of the length of the repetitions of each of k queries."""
    rule = (
        "The 'lengths' parameter of QuerySegmenter must be None, a pair (shortest, longest) of numbers of samples, "
        "either of which may be None, or a list of such pairs, one for each query."
    )
    if lengths is None:
        return ((None, None),) * k
    lengths = [lengths] if np.ndim(lengths) == 0 else list(lengths)
    is_pair = len(lengths) == 2 and all(value is None or np.ndim(value) == 0 for value in lengths)
    pairs = [lengths] * k if is_pair else [(None, None) if pair is None else pair for pair in lengths]
    if len(pairs) != k or any(np.ndim(pair) != 1 or len(pair) != 2 for pair in pairs):
        raise ValueError(f"{rule} Got {shown(lengths)} for {k} {'query' if k == 1 else 'queries'}.")
    bounds = tuple(tuple(check_count(v, "lengths", none=True, owner="QuerySegmenter") for v in pair) for pair in pairs)
    for shortest, longest in bounds:
        if shortest is not None and longest is not None and shortest > longest:
            raise ValueError(f"{rule} The shortest must not exceed the longest. Got {shortest} and {longest}.")
    return bounds


def fit_marked(segmenter, marked, weight, times):
    """Learn from a marked recording: the metric, queries and background, more by self-training, the threshold."""
    known = labels.learnable(marked)
    segmenter.report_ = None
    if metric_choice.is_auto(segmenter.metric):
        metric_choice.choose_metric(
            segmenter, known, weight, times, metric_choice.elastic_candidates(), metric_choice.evidence_of_segments
        )
    segmenter._fit_labels(known, weight, times)
    if segmenter._self_train:
        train_itself(segmenter, marked, known, weight, times)
    if segmenter._rules.classes is not None and metric_choice.weight_learner(segmenter) is None:
        warn_of_alike_classes(segmenter, known, weight, times)
    if isinstance(_thresholds.rule_of(segmenter.threshold), _thresholds.Conformal):
        fit_conformal(segmenter, known, weight, times)


def classes_of(segmenter, marked, times):
    """Return the classes of the queries that were learned from a marked recording; None for a single one."""
    numbers = segmenter._numbers
    if numbers.max() == numbers.min():
        return None
    source = ArraySource(marked.data, kernel_times(segmenter, times, marked.data.shape[1]))
    queries = [plan.untimed if source.ty is None else plan for plan in segmenter._queries]
    classes = Classes(numbers, plain=labels.plain_background(queries, labels.offset_of(marked)))
    if segmenter._learning.class_weight == "balanced" or segmenter.transitions is not None:
        return classes
    versions = Versions(queries)
    count = np.maximum(np.bincount(marked.code - 1, minlength=numbers.max() + 1), 1)
    share, of_versions = np.full(len(count), labels.USUAL), classes._replace(of_query=numbers[versions.query])
    for k in np.unique(numbers).tolist():
        start, end = examples(marked.ranges[marked.code == k + 1]).T
        cost = of_versions.costs(versions.readers(source), start, end)[1][:, k]
        share[k] = labels.of_another(np.median(cost / classes.background_costs(source, start, end)), len(start))
    return classes._replace(rarity=count.max() / count, share=share)


FOLDS = 3  # in which occurrences are held out to see whether their class can be told


def warn_of_alike_classes(segmenter, marked, weight, times):
    """Warn of classes whose occurrences mostly count less as another class, each held out of what is learned."""
    classes = segmenter._rules.classes
    source = ArraySource(marked.data, kernel_times(segmenter, times, marked.data.shape[1]))
    fold = np.full(len(marked.code), -1)
    for k in np.unique(marked.code):
        own = np.flatnonzero(marked.code == k)
        if len(own) >= FOLDS:
            fold[own] = np.arange(len(own)) * FOLDS // len(own)
    if (fold < 0).all():
        return
    told = np.zeros((len(segmenter.classes_),) * 2, int)
    for k in range(FOLDS):
        rest = marked._replace(ranges=marked.ranges[fold != k], code=marked.code[fold != k])
        queries, learned = segmenter._learn(rest, weight, times, segmenter._learning.n_templates)
        versions = Versions(
            [with_polarity(plan._replace(metric=segmenter.metric_), segmenter.polarity) for plan in queries]
        )
        numbers = np.array([one.number for one in learned])[versions.query]
        for code in np.unique(marked.code[fold == k]):
            start, end = examples(marked.ranges[(fold == k) & (marked.code == code)]).T
            counted = classes._replace(of_query=numbers).costs(versions.readers(source), start, end)[1]
            np.add.at(told[code - 1], counted[np.isfinite(counted[:, code - 1])].argmin(axis=1), 1)
    names = segmenter.classes_.tolist()
    for k, row in enumerate(told):
        if 2 * row[k] < row.sum():
            other = names[int(np.argmax(np.where(np.arange(len(row)) == k, -1, row)))]
            balance = ", or set class_weight='balanced' in Learning, which calls more repetitions so."
            warn(
                f"The class {names[k]!r} cannot be told from {other!r} for sure: of {row.sum()} labeled occurrences "
                f"that were held out {row[k]} would be called {names[k]!r}. Label more of them, or mark more of what "
                f"makes them different{'.' if classes.rarity is None or classes.rarity[k] == 1 else balance}"
            )


def train_itself(segmenter, marked, known, weight, times):
    """Learn again, with what is sure in the unlabeled part as further occurrences, until they recur."""
    rounds, met, k = segmenter._self_train, [labels.NOTHING], len(segmenter.classes_)
    counts, ty = [], kernel_times(segmenter, times, marked.data.shape[1])
    if marked.unlabeled is None:
        warn(
            "'y' should have labels -1 where self_train is above 0, for the samples of which nobody knows. Got none, "
            "so nothing was learned from what is unlabeled. Set self_train to 0 if all is labeled."
        )
        rounds = 0
    with progress(rounds, segmenter.verbose if rounds else 0, "self-train", "round") as count:
        for _ in range(rounds):
            queries = [plan.untimed if ty is None else plan for plan in segmenter._queries]
            source = segmenter._rules.source(marked.data, ty)
            found = segment(queries, segmenter._rules, marked.data, ty, segmenter.n_jobs, source=source)
            taken = labels.sure_ones(marked, queries, segmenter._numbers + 1, found)
            counts.append(np.bincount(taken.code - 1, minlength=k))
            count(word=f"{len(taken.code)} taken")
            if any(map(taken.are_those_of, met)):  # learned again they would give what was there before
                break
            met.append(taken)
            segmenter.metric_ = segmenter._made_metric()
            offset = known._replace(offset=taken.offset)
            segmenter._fit_labels(offset, weight, times, labels.learnable(marked, taken))
    segmenter.self_training_ = np.array(counts, np.int64).reshape(-1, k)


def refined_segments(queries, source, ranges_of, rounds, verbose):
    """Return the queries and the segments of a sequence after averaging the repetitions in some rounds.

    The function `ranges_of` segments the sequence by queries.
    """
    segments = ranges_of(queries)
    with progress(rounds, verbose if rounds else 0, "refine", "round") as count:
        for left in range(rounds, 0, -1):
            before, queries = queries, refined(queries, source, segments)
            if all(np.array_equal(old.x, new.x) for old, new in zip(before, queries, strict=True)):
                count(left)
                break
            segments = ranges_of(queries)
            count()
    return queries, segments

"""Repetitions in a recording without a query: their period, their average as the query, and their number.

The period is the shortest lag at which the recording resembles itself nearly as much as at the best lag. Each stretch
of one period is compared with the next, relative to its own variance, so drift, rest and random walks show no
resemblance. A loud stretch between two repetitions, about as long as one or two, counts as repetitions, too: a stride
in a turn, or a premature beat, looks different.

The start of a repetition is arbitrary. So a recording is segmented with several phases of the query, and the number of
repetitions is the mean over the phases. A repetition that an end cuts off is then counted in part. So is one that a
rest cuts off, because a recording is segmented between rests as if it were several.
"""

from copy import copy

import numpy as np

from ...distances._series import standardize
from ...utils._jobs import progress
from ...utils._sampling import holes
from .._channels import with_signs
from .._chunks import kernel_times
from .._learning.labels import as_comparable, average, examples
from .._limits import runs
from .._sources import ArraySource, CandidateReader
from .optimal import SegmentTable, costs_by, power_of, segment

ROUNDS = 3  # rounds of segmentation and averaging
STRETCH = 1.6  # factor by which a repetition may be longer or shorter than the period
SHORTEST = 4  # minimum samples of a period
STEP = 1.04  # ratio of neighboring lags
FINE = 32  # samples per period that suffice to compare it: longer periods are averaged down to this number
NEARLY = 0.7  # share of the largest gain: the first peak of this height is the period, not a multiple of it
PHASES = 16
LOUD = 0.5  # share of the usual cost of a repetition as background: a stretch that costs more is not rest
MISSED = 2  # most repetitions in a row that may be unlike the query: a longer stretch is a pause, however loud
REST = 0.03  # share of a repetition's usual cost as background: a period that costs less is rest (.02 to .04 agree)
LOST = 0.2  # repetitions that the mean over the phases misses at a border of a loud pause, where only whole ones count
LOOSER = 0.5  # factor of the "auto" penalty for stretching: lengths are limited, and rest is cheap background


def gains(z, shortest, longest):
    """Return lags, and a gain (lags, channels) that says how well each channel (channels, n) repeats at them.

    The gain at a position is 1 minus the difference of two adjacent stretches relative to their variance, at least 0;
    it is 1 for exact repetition. Positions are weighted by their standard deviation, not their variance: loud ones
    count more than rest, but an artifact does not outweigh all others. Lags that leave few positions count less.
    """
    lags, found, lag, pooled, y = [], [], float(shortest), 1, z
    total, squares = _totals(y), _totals(y * y)
    while lag <= longest:
        while lag >= 2 * FINE * pooled:
            even = y.shape[1] // 2 * 2
            y, pooled = (y[:, :even:2] + y[:, 1:even:2]) / 2, 2 * pooled
            total, squares = _totals(y), _totals(y * y)
        p = round(lag / pooled)
        if 2 * p >= y.shape[1]:
            break
        apart = _within(_totals((y[:, p:] - y[:, :-p]) ** 2), p)
        own = np.maximum(_within(squares, 2 * p) - _within(total, 2 * p) ** 2 / (2 * p), 1e-9)
        root = np.sqrt(own)
        gain = (np.maximum(own - apart, 0) / root).sum(axis=1) / root.sum(axis=1)
        lags.append(p * pooled)
        found.append(gain * (1 - 2 * p / y.shape[1]))
        lag = max(lag * STEP, lag + pooled)
    return np.array(lags, int), np.array(found).reshape(-1, len(z))


def _totals(a):
    """Return running sums (channels, n + 1)."""
    total = np.zeros((len(a), a.shape[1] + 1))
    np.cumsum(a, axis=1, out=total[:, 1:])
    return total


def _within(total, p):
    """Return the sums of p adjacent samples (channels, n - p + 1), from running sums."""
    return total[:, p:] - total[:, :-p]


def dominant_period(z, bounds=(None, None)):
    """Return the period of a standardized recording (channels, n) in samples, and the gain of each channel at it.

    Channels are weighted by the square of their largest gain. The third result (k, 2) holds lags and their mean gains.
    """
    n = z.shape[1]
    shortest, longest = max(bounds[0] or SHORTEST, SHORTEST), min(bounds[1] or n // 2, n // 2)
    lags, gain = gains(z, shortest, longest)
    weight = gain.max(axis=0, initial=0.0) ** 2
    mean = np.pad(gain @ weight, 1, constant_values=0.0 if bounds == (None, None) else -1.0)
    peaks = np.flatnonzero((mean[1:-1] >= mean[:-2]) & (mean[1:-1] > mean[2:]) & (mean[1:-1] > 0))
    if bounds == (None, None):  # lags outside the range were not compared
        peaks = peaks[(peaks > 0) & (peaks < len(lags) - 1)]
    if not peaks.size:
        where = "" if bounds == (None, None) else f" with a period in 'lengths', {bounds}"
        raise ValueError(
            f"query='auto' needs a recording that repeats itself{where}. Got {n} time points in which no stretch "
            "resembles the next. Pass a query, or a recording of at least two repetitions."
        )
    high = mean[1:-1][peaks]
    at = int(peaks[high >= NEARLY * high.max()][0])
    evidence = np.column_stack([lags, mean[1:-1] / weight.sum()])
    return int(lags[at]), gain[max(at - 1, 0) : at + 2].max(axis=0), evidence


def most_alike(z, period, weight):
    """Return the start of the stretch of one period that is most similar to its neighbors."""
    apart = _within(_totals(weight @ (z[:, period:] - z[:, :-period]) ** 2), period)[0]
    mean = _within(_totals(z), 2 * period) / (2 * period)
    own = _within(_totals(weight @ (z * z)), 2 * period)[0] - 2 * period * (weight @ mean**2)[0]
    gain = np.where(own < np.median(own) / 4, -1.0, 1 - apart / np.maximum(own, 1e-9))  # excludes rest
    if len(gain) <= period:
        return int(np.argmax(gain))
    return int(np.argmax(gain[period:] + gain[:-period])) + period


def fit_recording(segmenter, data, times, bounds):
    """Fit the average period of a recording (channels, n) as the query, with weights of channels; `bounds` limit it."""
    if segmenter.weight is not None:
        raise ValueError("'weight' must be None where query='auto': the number of points is not known yet.")
    segmenter._check_domain(data, "'X'")
    ty, n_jobs, verbose = kernel_times(segmenter, times, data.shape[1]), segmenter.n_jobs, segmenter.verbose
    gapless = runs(data, holes(ty, segmenter._max_gap))
    if not len(gapless):
        raise ValueError("query='auto' needs a recording with values that are not NaN. Got none.")
    a, b = gapless[np.argmax(np.diff(gapless, axis=1))]
    z = standardize(data[:, a:b])
    period, gain, segmenter.periods_ = dominant_period(z, bounds)
    weight = np.maximum(gain / gain.max(), 1e-2) ** 2
    start = a + most_alike(z, period, weight[np.newaxis])
    end, offset = start + period, np.nanmedian(data, axis=1, keepdims=True)
    spread = np.nanstd(data, axis=1)
    weight /= np.where(spread > 0, spread, 1.0) ** power_of(segmenter.metric_)
    weighed = len(data) > 1 and segmenter.metric_._takes_weights
    weight = np.repeat(weight[np.newaxis] / weight.max(), period, axis=0) if weighed else None
    own = None if times is None else times[start:end]
    plan = segmenter._validated_query(data[:, start:end], weight, own)
    limits = max(int(period / STRETCH), 1), int(np.ceil(period * STRETCH))
    segmenter._fit_queries([plan], limits=[limits], offset=offset)
    source = ArraySource(data, ty)
    with progress(ROUNDS, verbose, "average periods", "round") as count:
        for k in range(ROUNDS):
            segments = segment(segmenter._queries, segmenter._rules, source, n_jobs, verbose)
            queries = refined(segmenter._queries, source, segments)
            if not k:
                queries = [rolled(plan, quietest(plan)) for plan in queries]
            segmenter._fit_queries(queries, limits=[limits], offset=offset)
            count()


def refined(queries, source, segments):
    """Return the queries replaced by averages of their repetitions in a segmentation.

    A query with too few repetitions stays as it is, and so do alternatives.
    """
    out = []
    for k, plan in enumerate(queries):
        own = (segments.query == k) & (segments.version % plan.n_unsigned == 0)
        whole = own & (np.diff(segments.shown, axis=1)[:, 0] == plan.m)
        if whole.sum() >= 2:
            some = segments.take(examples(np.flatnonzero(whole)))
            pieces = [source.cut(int(s), int(e))[0] for s, e in zip(some.start, some.end, strict=True)]
            signs = plan.signs_of(some.version)
            if signs is not None:
                pieces = [piece * np.reshape(sign, (-1, 1)) for piece, sign in zip(pieces, signs, strict=True)]
            x = average(as_comparable(pieces, plan.metric), plan.x, plan.metric, plan.w)
            plan = with_signs(plan.unsigned._replace(x=x), plan.signs)
        out.append(plan)
    return out


def refined_segments(queries, source, ranges_of, rounds, verbose):
    """Return queries and segments of a sequence after several rounds of averaging the repetitions.

    `ranges_of` is a function that segments the sequence by queries.
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


def looser(queries):
    """Return the queries with a lower penalty for stretching, if it is the "auto" one."""
    metric = queries[0].metric
    if getattr(metric, "omega", None) != "auto":
        return queries
    metric = copy(metric)
    metric.omega_ *= LOOSER
    return [plan._replace(metric=metric) for plan in queries]


def quietest(plan):
    """Return the point of a periodic query around which it moves least."""
    move = np.abs(plan.x - np.roll(plan.x, 1, axis=1)) ** power_of(plan.metric)
    move = (move if plan.w is None else move * plan.w).sum(axis=0)
    half = plan.m // 16 + 1
    return int(np.argmin(sum(np.roll(move, k) for k in range(-half, half + 1))))


def rolled(plan, by):
    """Return the plan of a periodic query that starts `by` points later; a query with times stays as it is."""
    if plan.tx is not None:
        return plan
    w = None if plan.w is None else np.roll(plan.w, -by, axis=1)
    return with_signs(plan.unsigned._replace(x=np.roll(plan.x, -by, axis=1), w=w), plan.signs)


def usual_cost(found, source, background):
    """Return the median over segments of the cost per sample as background."""
    return np.median([background.costs(y).mean() for y in source.cuts(examples(found.start), examples(found.end))])


def between_rests(plan, found, source, background):
    """Return the parts (k, 2) of a recording between rests of at least one period.

    Each pause between segments is searched at both borders, from one period outside of it to two periods inside: a
    segment may reach into a rest, and movement that was not found may precede one. Missing samples count as rest.
    """
    m, n, edges = plan.m, len(source), [0]
    pauses = [(a, b) for a, b in zip([0, *found.end], [*found.start, n], strict=True) if b - a > m]
    most = REST * m * usual_cost(found, source, background) if pauses and len(found.start) else 0.0
    for a, b in pauses:
        low, high = max(a - m, 0), min(b + m, n)
        borders = np.array([[low, min(low + 3 * m, high)], [max(high - 3 * m, low), high]])
        costs = (background.costs(y)[np.newaxis] for y in source.cuts(*borders.T))
        first, last = (np.flatnonzero(_within(_totals(cost), m)[0] < most) for cost in costs)
        if first.size and last.size:
            edges += [low + first[0], borders[1, 0] + last[-1] + m]
    parts = np.reshape([*edges, n], (-1, 2))
    return parts[parts[:, 0] < parts[:, 1]]


def with_unlike(plan, found, source, rules):
    """Return the segments of a recording, with further ones for loud stretches between them that are unlike the query.

    With a constant cost of background, rest cannot be recognized, and nothing is added.
    """
    background, (shortest, longest) = rules.background, rules.limits[0]
    between = found.start[1:] - found.end[:-1]
    number = np.maximum(np.round(between / plan.m), 1).astype(int)
    fits = (number <= MISSED) & (shortest * number <= between) & (between <= longest * number)
    if background.slope is None or not fits.any():
        return found
    usual = usual_cost(found, source, background)
    edges = []
    for k in np.flatnonzero(fits):
        a, b = int(found.end[k]), int(found.start[k + 1])
        y, ty = source.cut(a - 1, b + 1)
        whole = np.array_equal(plan.runs(y, ty), [[0, y.shape[1]]])  # no repetition crosses a gap
        if whole and background.costs(y[:, 1:-1]).mean() >= LOUD * usual:
            edges.append(np.linspace(a, b, number[k] + 1).round().astype(np.int64))
    if not edges:
        return found
    start, end = (np.concatenate([one[part] for one in edges]) for part in (slice(-1), slice(1, None)))
    none = np.zeros_like(start)
    costs = np.column_stack([costs_by(CandidateReader(one, source), start, end) for one in plan.versions])
    shown = np.column_stack([none, none + plan.m])
    added = SegmentTable(start, end, none, costs.min(axis=1), shown, costs.argmin(axis=1))
    together = SegmentTable.together([found, added])
    return together.take(np.argsort(together.start, kind="stable"))


def by_phases(plan, found, ranges_of, source, rules):
    """Return plan and segments of the phase with the mean number of repetitions, and an interval of the number.

    Parameters
    ----------
    plan : QueryPlan
        A periodic query.
    found : SegmentTable
        Its segments.
    ranges_of : function
        The segments by a list of queries, in a part of the recording.
    source : Source
        The samples of the recording.
    rules : Rules
        The rules of the segmentations.
    """
    k = min(PHASES, plan.m)
    plans = [plan, *(rolled(plan, j * plan.m // k) for j in range(1, k))]
    parts = between_rests(plan, found, source, rules.background)
    each, sets, known = [], [], np.array_equal(parts, [[0, len(source)]])  # `found` is of the whole recording
    for one in plans:
        tables = [found] if known and one is plan else [ranges_of([one], part) for part in parts]
        tables = [with_unlike(one, some, source, rules) for some in tables]
        each.append(SegmentTable.together(tables))
        sizes = [_run_sizes(some, plan.m, *part) for some, part in zip(tables, parts, strict=True)]
        sets.append(np.concatenate(sizes))
    counts, usual = np.array([len(one.start) for one in each]), int(np.median([len(some) for some in sets]))
    alike = [some for some in sets if len(some) == usual] or [counts.mean(keepdims=True)]
    likely = np.floor(np.mean(alike, axis=0) + 0.5).sum()
    turned = np.minimum(np.arange(k), k - np.arange(k))
    cut = [(np.diff(one.shown[(one.start > 0) & (one.end < len(source))], axis=1) < plan.m).sum() for one in each]
    best = int(np.lexsort([turned, cut, np.abs(counts - likely)])[0])  # whole ones at rests if possible
    listed, least, most = (int(one) for one in (counts[best], counts.min(), counts.max()))
    return plans[best], each[best], (max(min(least, listed - usual), 0), max(most, listed + usual))


def _run_sizes(found, pause, first, end):
    """Return the number of repetitions between pauses, corrected for what the mean over phases misses there."""
    paused = np.append(found.start, end) - np.append(first, found.end) > pause  # before each one, and after the last
    border = np.unique([0, *np.flatnonzero(paused), len(found.start)])
    return np.diff(border) + LOST * (paused[border[:-1]].astype(int) + paused[border[1:]])

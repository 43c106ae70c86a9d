"""Repetitions of a recording that has no query: their period, their average as the query, and their number.

The period is the shortest lag at which the recording resembles itself nearly as much as it does at any. One stretch of
a period is compared with the next by its own variance, so neither drift nor rest nor a random walk resembles itself.
A stretch between two repetitions that is about as long as one or two, and no rest, holds repetitions, too: a stride in
a turn, or a premature beat, is unlike the others.

The start of a repetition is arbitrary. A recording is therefore segmented from several phases of the query, and the
number of repetitions is the mean over the phases: a repetition that an end cuts off is then counted neither always nor
never.
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

ROUNDS = 3  # of segmentation and averaging
STRETCH = 1.6  # how many times longer or shorter than the period a repetition may be
SHORTEST = 4  # samples of a period
STEP = 1.04  # from one lag to the next
FINE = 32  # samples of a period that are enough to compare it: longer ones are averaged down to them
NEARLY = 0.7  # of the largest gain: the first peak as high as that is the period, not a multiple of it
PHASES = 16
LOUD = 0.5  # of the usual cost of repetitions as background: from there on a stretch between two of them is no rest
MISSED = 2  # repetitions in a row that may be unlike the query: a longer stretch is a pause, however loud
LOST = 0.2  # of a repetition: what the mean over the phases misses at a border of rest, where only whole ones count
LOOSER = 0.5  # of the penalty "auto" of a step that stretches: the lengths are bounded, and rest is cheap background


def gains(z, shortest, longest):
    """Return lags, and how well each channel (channels, n) repeats itself at them (lags, channels): 1 exactly, 0 not.

    The gain at a place is the share of the variance of two adjacent stretches that is no difference between them, at
    least 0. Places count by their standard deviation: loud ones more than rest, but an artifact not for all others.
    Lags that leave few places count less.
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
    """Return the sums of the first samples (channels, n + 1)."""
    total = np.zeros((len(a), a.shape[1] + 1))
    np.cumsum(a, axis=1, out=total[:, 1:])
    return total


def _within(total, p):
    """Return the sums of p adjacent samples (channels, n - p + 1)."""
    return total[:, p:] - total[:, :-p]


def dominant_period(z, bounds=(None, None)):
    """Return the period of a standardized recording (channels, n) in samples, and the gain of each channel there.

    A channel counts by the square of its largest gain. Also return the lags and the mean gain at each (k, 2).
    """
    n = z.shape[1]
    shortest, longest = max(bounds[0] or SHORTEST, SHORTEST), min(bounds[1] or n // 2, n // 2)
    lags, gain = gains(z, shortest, longest)
    weight = gain.max(axis=0, initial=0.0) ** 2
    mean = np.pad(gain @ weight, 1, constant_values=0.0 if bounds == (None, None) else -1.0)
    peaks = np.flatnonzero((mean[1:-1] >= mean[:-2]) & (mean[1:-1] > mean[2:]) & (mean[1:-1] > 0))
    if bounds == (None, None):  # before the first lag and behind the last one nothing was compared
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
    """Return the start of the stretch of one period that resembles its neighbors most."""
    apart = _within(_totals(weight @ (z[:, period:] - z[:, :-period]) ** 2), period)[0]
    mean = _within(_totals(z), 2 * period) / (2 * period)
    own = _within(_totals(weight @ (z * z)), 2 * period)[0] - 2 * period * (weight @ mean**2)[0]
    gain = np.where(own < np.median(own) / 4, -1.0, 1 - apart / np.maximum(own, 1e-9))  # rest resembles itself, too
    if len(gain) <= period:
        return int(np.argmax(gain))
    return int(np.argmax(gain[period:] + gain[:-period])) + period


def fit_recording(segmenter, data, times, bounds):
    """Fit the average period of a recording (channels, n), within bounds, as the query, with weights of channels."""
    if segmenter.weight is not None:
        raise ValueError("'weight' must be None where query='auto': how many points there will be is not known yet.")
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
    """Return the queries as averages of their repetitions in a segmentation.

    A query with too few repetitions stays as it is, and so do alternatives of a query.
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


def looser(queries):
    """Return the queries with a lower penalty for stretching, where it is the one that "auto" means."""
    metric = queries[0].metric
    if getattr(metric, "omega", None) != "auto":
        return queries
    metric = copy(metric)
    metric.omega_ *= LOOSER
    return [plan._replace(metric=metric) for plan in queries]


def quietest(plan):
    """Return the point of a periodic query about which it moves least."""
    move = np.abs(plan.x - np.roll(plan.x, 1, axis=1)) ** power_of(plan.metric)
    move = (move if plan.w is None else move * plan.w).sum(axis=0)
    half = plan.m // 16 + 1
    return int(np.argmin(sum(np.roll(move, k) for k in range(-half, half + 1))))


def rolled(plan, by):
    """Return the plan of a periodic query that starts `by` points later; one with times stays."""
    if plan.tx is not None:
        return plan
    w = None if plan.w is None else np.roll(plan.w, -by, axis=1)
    return with_signs(plan.unsigned._replace(x=np.roll(plan.x, -by, axis=1), w=w), plan.signs)


def with_unlike(plan, found, source, rules):
    """Return the segments of a recording with those between two of them that are unlike the query, but no rest.

    A constant cost of background does not say what is rest, so nothing is added then.
    """
    background, (shortest, longest) = rules.background, rules.limits[0]
    between = found.start[1:] - found.end[:-1]
    number = np.maximum(np.round(between / plan.m), 1).astype(int)
    fits = (number <= MISSED) & (shortest * number <= between) & (between <= longest * number)
    if background.slope is None or not fits.any():
        return found
    usual = np.median([background.costs(y).mean() for y in source.cuts(examples(found.start), examples(found.end))])
    edges = []
    for k in np.flatnonzero(fits):
        a, b = int(found.end[k]), int(found.start[k + 1])
        y, ty = source.cut(a - 1, b + 1)
        whole = np.array_equal(plan.runs(y, ty), [[0, y.shape[1]]])  # no repetition crosses a hole
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
    """Return the plan and the segments of the phase whose number is the mean over the phases, and an interval of it.

    Each run of repetitions between pauses longer than a period has a mean of its own, more by `LOST` for each end in a
    pause. The interval holds the numbers of all phases, and one more or less for each run.

    Parameters
    ----------
    plan : QueryPlan
        A periodic query.
    found : SegmentTable
        Its segments.
    ranges_of : function
        The segments by a list of queries.
    source : Source
        The samples of the recording.
    rules : Rules
        The rules of the segmentations.
    """
    k, n = min(PHASES, plan.m), source.extent(0)[1]
    plans = [plan, *(rolled(plan, j * plan.m // k) for j in range(1, k))]
    each = [found, *(ranges_of([other]) for other in plans[1:])]
    each = [with_unlike(*one, source, rules) for one in zip(plans, each, strict=True)]
    sets = [_run_sizes(one, plan.m, n) for one in each]
    counts, usual = np.array([len(one.start) for one in each]), int(np.median([len(some) for some in sets]))
    alike = [some for some in sets if len(some) == usual] or [counts.mean(keepdims=True)]
    likely = np.floor(np.mean(alike, axis=0) + 0.5).sum()
    turned = np.minimum(np.arange(k), k - np.arange(k))
    best = int(np.lexsort([turned, np.abs(counts - likely)])[0])
    listed, least, most = (int(one) for one in (counts[best], counts.min(), counts.max()))
    return plans[best], each[best], (max(min(least, listed - usual), 0), max(most, listed + usual))


def _run_sizes(found, pause, n):
    """Return how many repetitions each run between pauses has, with what the mean over the phases misses there."""
    paused = np.append(found.start, n) - np.append(0, found.end) > pause  # before each, and behind the last one
    border = np.unique([0, *np.flatnonzero(paused), len(found.start)])
    return np.diff(border) + LOST * (paused[border[:-1]].astype(int) + paused[border[1:]])

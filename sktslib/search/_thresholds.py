"""Rules for the `threshold` of both estimators, and what they need: decoys, calibrations and labels.

A rule is a percentile, a false discovery rate, or a conformal bound for the share of missed occurrences. A false
discovery rate compares the matches of a query with those of its decoys, altered copies of the query that show how near
chance comes. Chance does not produce look-alikes, so a warning is given if matches fall into groups far apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from ..metrics._events import pairs_by_iou
from ..utils._names import did_you_mean, warn
from ..utils._parameters import SEED, Interval, ParameterHolder, StrOptions
from ..utils._sampling import interval
from ..utils._times import given_times
from ..utils.validation import as_series, as_times, refused, shown
from ._channels import parts_of, with_signs
from ._learning.choice import HeldOut
from ._learning.labels import SHIFTED
from ._sources import is_long


class Calibration(NamedTuple):
    """Distances of the matches of a query and of its decoys, found in the same recording in the same way."""

    matches: np.ndarray  # ascending
    decoys: np.ndarray  # ascending, of all decoys together
    n_decoys: int
    hours: float  # duration of the recording

    @classmethod
    def of(cls, matches, decoys, hours):
        """Return the calibration from unsorted distances; `decoys` has an entry for each decoy."""
        return cls(np.sort(matches), np.sort(np.concatenate(decoys)), len(decoys), hours)

    @classmethod
    def together(cls, several):
        """Return the joint calibration of several recordings searched with the same query and decoys."""
        matches, decoys = (np.sort(np.concatenate([one[k] for one in several])) for k in range(2))
        return cls(matches, decoys, several[0].n_decoys, sum(one.hours for one in several))

    @property
    def shares(self):
        """Estimated share of false matches among all matches up to the distance of each."""
        false = 1.0 + np.searchsorted(self.decoys, self.matches, "right") / self.n_decoys
        return false / np.searchsorted(self.matches, self.matches, "right")

    def threshold(self, alpha):
        """Return the largest distance up to which the estimated share is at most `alpha`, or -inf."""
        within = np.flatnonzero(self.shares <= alpha)
        return float(self.matches[within[-1]]) if len(within) else -np.inf

    def rates(self, distance):
        """Return q-values, p-values and false matches per hour at given distances, an array (3, n)."""
        least = np.minimum.accumulate(np.append(self.shares, np.inf)[::-1])[::-1]
        q = np.minimum(least[np.searchsorted(self.matches, distance, "left")], 1.0)
        nearer = np.searchsorted(self.decoys, distance, "right")  # matches of decoys at most as far
        return np.array([q, (1.0 + nearer) / (1.0 + len(self.decoys)), nearer / self.n_decoys / self.hours])


SAMPLE = 2**16  # number of times from which the usual step is estimated


def recorded_hours(n, times):
    """Return the duration of n samples in hours: their number times the usual step of valid times.

    Time gaps do not count. Numbers count as seconds, and so do samples without times.
    """
    step = None
    if times is not None:
        some = given_times(times[:SAMPLE], "times") if is_long(times) else times[:SAMPLE]
        step = interval(as_times(some, len(some), "times"))
    return n * (step or 1.0) / 3600.0


SPREAD = np.pi  # phases are shifted by half a turn plus or minus half of this, so that no decoy resembles its query


def phase_shifted(x, center, angle):
    """Return a query (channels, m) mirrored about a center (channels,), with its oscillations shifted by an angle.

    All frequencies of all channels are shifted by the same angle, so amplitude spectra and cross spectra stay, and so
    does where the query moves and where it rests. The values are those of the mirrored query, in the order of the
    shifted wave. Random phases per frequency would be worse: they spread a short event over the whole query, so a
    metric that adds up absolute differences, or counts points, would find the query itself by chance more often than
    its decoys. And decoys of a smooth query would be shifted copies of it.
    """
    mirrored, m = 2.0 * center[:, np.newaxis] - x, x.shape[1]
    spectrum = np.fft.rfft(mirrored) * np.exp(1j * angle)
    order = np.argsort(np.fft.irfft(spectrum, m), axis=1, kind="stable")
    decoy = np.empty_like(x)
    np.put_along_axis(decoy, order, np.sort(mirrored, axis=1), axis=1)
    return decoy


def center_of(source):
    """Return the median of each channel of a sequence; for a long one that of evenly spaced samples."""
    y = source.sample(SAMPLE)
    with np.errstate(all="ignore"):
        return np.array([np.median(values[~np.isnan(values)]) if len(values) else np.nan for values in y])


class Decoys:
    """The decoys of queries, one for each draw; all sequences of a call share the draws.

    Parameters
    ----------
    rule : FalseDiscoveryRate
        Valid.
    n_queries : int
        How many queries there are.
    """

    def __init__(self, rule, n_queries):
        self.rule, self.count = rule, 1 if rule.null == "negated" else int(rule.n_decoys)
        each, random_state = (n_queries, self.count), check_random_state(rule.random_state)
        if rule.null == "phase":  # one angle from each part of the range, so that decoys differ
            self._draws = SPREAD * ((np.arange(self.count) + random_state.uniform(size=each)) / self.count - 0.5)
        else:
            self._draws = random_state.randint(2**31 - 1, size=each)

    def searches(self, estimator, searches, source):
        """Return the search of each query, followed by those of its decoys, in a sequence."""
        made = self.of(estimator, [plan for plan, _ in searches], center_of(source))
        return [(plan, choice) for (own, choice), rest in zip(searches, made, strict=True) for plan in (own, *rest)]

    def of(self, estimator, queries, center):
        """Return the plans of the decoys of each query, for a sequence with a given center."""
        found = []
        for plan, draws in zip(queries, self._draws.tolist(), strict=True):
            found.append([])
            for draw in draws:  # each with decoys of the query's alternatives, and with its signs
                first, *others = [self._of_one(estimator, one, center, draw) for one in plan.unsigned.versions]
                decoy = first._replace(alternatives=tuple((one.x, one.w) for one in others))
                found[-1].append(with_signs(decoy, plan.signs))
        return found

    def _null_of(self, x, center, draw):
        """Return the decoy of a query (channels, m)."""
        null = self.rule.null
        if null == "phase":
            return phase_shifted(x, center, draw)
        if null == "negated":
            return 2.0 * center[:, np.newaxis] - x
        given = null(x.T.copy(), np.random.RandomState(draw))
        out = as_series(given, "null(query, random_state)", channels=len(x), like="the query").copy()
        if out.shape != x.shape:
            raise ValueError(
                "'null' of FalseDiscoveryRate must return an array of the query's shape, "
                f"{x.shape[::-1]}. Got {out.shape[::-1]}."
            )
        return out

    def _of_one(self, estimator, plan, center, draw):
        null = self.rule.null
        if plan.by_channel is None:
            x = self._null_of(plan.x, center, draw)
        else:
            x = plan.x.copy()
            for c, lead, _, one in parts_of(plan):
                x[c, lead : lead + one.m] = self._null_of(one.x, center[c : c + 1], draw)[0]
        if np.array_equal(x, plan.x):
            raise ValueError(
                "'null' of FalseDiscoveryRate must give decoys that differ from the query. Got the query itself, for "
                f"null={null!r}: it is as near as the query is. A constant query at the median of the recording has "
                "no other; set 'threshold' to a number, or pass a function as 'null'."
            )
        try:
            estimator._check_domain(x, "A decoy of the query")
        except ValueError as error:
            raise ValueError(f"{error} Or pass a function as 'null' of FalseDiscoveryRate. Got {null!r}.") from None
        return plan._replace(x=np.ascontiguousarray(x))


BLOCKS = 5  # the usual number of folds in cross-validation


class ThresholdRule(ParameterHolder):
    """Base class of rules that find a threshold; each has a text as its short form."""

    @classmethod
    def _of_short_form(cls, short, **params):
        rule = rule_of(short)
        if rule is None:
            return cls(**params) if short is None else None
        return rule.set_params(**params) if isinstance(rule, cls) else None


@dataclass(eq=False, repr=False)
class Conformal(ThresholdRule):
    """Threshold at which at least a share of 1 - `alpha` of the occurrences is expected to be found.

    The labeled occurrences of each class are divided into up to five contiguous blocks. Those of each block are
    searched for by a query learned from the other blocks, and the threshold of the class is the ``ceil((n + 1) (1 -
    alpha))``-th smallest of their n distances (Vovk 2015). Pass it as the `threshold` of `QuerySearcher` or
    `QuerySegmenter`, or as the text ``"conformal:0.1"``.

    Parameters
    ----------
    alpha : float in (0, 1), default=0.1
        The expected share of missed occurrences. Each class needs at least ``1 / alpha - 1`` occurrences, and two.

    Notes
    -----
    The rate holds for later occurrences that are exchangeable with the labeled ones, such as further ones of the same
    recording. Occurrences of another subject, or after a drift, are not. The final query is learned from all blocks, a
    little more than for each block, so it usually errs on the safe side. The rule says nothing about false matches.

    References
    ----------
    Vovk V. Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 74, 2015.

    Examples
    --------
    >>> from sktslib import QuerySearcher, load_ecg_example
    >>> from sktslib.search import Conformal
    >>> ecg = load_ecg_example()
    >>> found = QuerySearcher("dtw", n_matches=12).fit(ecg.query).search(ecg.sequence)
    >>> y = [int(((found.start <= k) & (k < found.end - 1)).any()) for k in range(len(ecg.sequence))]
    >>> searcher = QuerySearcher("dtw", threshold=Conformal(0.2)).fit(ecg.sequence[:, None], y)
    >>> len(searcher.search(ecg.sequence)) >= 10
    True
    """

    _parameter_constraints = {"alpha": [Interval(Real, 0, 1, closed="neither")]}

    alpha: float = 0.1

    def _check_counts(self, marked):
        """Refuse classes with too few occurrences."""
        numbers, counts = np.unique(marked.code, return_counts=True)
        least = max(int(np.ceil(1.0 / self.alpha - 1.0 - 1e-9)), 2)
        if counts.min() < least:
            name, count = marked.labels.classes.tolist()[numbers[np.argmin(counts)] - 1], counts.min()
            other = f", or set an 'alpha' of at least {1 / (count + 1):.2g}" if count > 1 else ""
            raise ValueError(
                f"Conformal(alpha={self.alpha:g}) needs at least {least} occurrences of each class: 1 / alpha - 1, and "
                f"not fewer than two. Got {count} of class {name!r}. Mark more{other}."
            )

    def _threshold(self, scores, name):
        """Return the quantile of the distances at which occurrences are found; infinite for those not found."""
        scores, n = np.sort(scores), len(scores)
        found = int(np.isfinite(scores).sum())
        rank = min(int(np.ceil((n + 1) * (1.0 - self.alpha) - 1e-9)), n)
        if found < rank:
            warn(
                f"At most {found} of {n} occurrences of class {name!r} are found at any distance by queries of the "
                f"other blocks, so no threshold keeps {self.alpha:g}. The largest distance at which one is found is "
                "the threshold."
            )
        return float(scores[min(rank, found) - 1]) if found else -np.inf


def blocks_of(code, most):
    """Return for each occurrence (k,) the block in which it is held out; in time order, with a part of each class."""
    block = np.empty(len(code), int)
    for number in np.unique(code):
        own = np.flatnonzero(code == number)
        for k, some in enumerate(np.array_split(own, min(most, len(own)))):
            block[some] = k
    return block


def fit_conformal(estimator, marked, numbers, found_by):
    """Find the thresholds of queries from marked occurrences, and report what is found with them.

    `numbers` are the classes of the queries, from 0. `found_by` returns all ranges, as `HeldOut`, found by queries that
    were learned from the other blocks. Each range belongs to the block of the nearest occurrence.
    """
    rule = rule_of(estimator.threshold)
    rule._check_counts(marked)
    block = blocks_of(marked.code, BLOCKS)
    scores, found = np.full(len(marked.code), np.inf), []  # infinite if an occurrence is not found
    middle = marked.ranges.sum(axis=1)
    between = (middle[1:] + middle[:-1]) / 2
    for k in range(block.max() + 1):
        held = block == k
        others = marked._replace(ranges=marked.ranges[~held], code=marked.code[~held])
        some = found_by(others)
        for number in np.unique(marked.code[held]):
            own, same = np.flatnonzero(held & (marked.code == number)), some.take(some.code == number)
            which, match = pairs_by_iou(marked.ranges[own], same.ranges, SHIFTED)
            np.minimum.at(scores, own[which], same.distance[match])
        found.append(some.take(held[np.searchsorted(between, some.ranges.sum(axis=1))]))
    names, found = marked.labels.classes.tolist(), HeldOut.together(found)
    thresholds = {int(k): rule._threshold(scores[marked.code == k], names[k - 1]) for k in np.unique(marked.code)}
    limits = np.array([thresholds.get(k, -np.inf) for k in range(len(names) + 1)])
    estimator.report_ = found.take(found.distance <= limits[found.code]).nearest.report(marked)
    estimator._conformal = rule.alpha, [thresholds[int(number) + 1] for number in numbers]


@dataclass(eq=False, repr=False)
class FalseDiscoveryRate(ThresholdRule):
    """Threshold at which at most a share `alpha` of the matches is expected to be false.

    Decoys resemble the query but occur only by chance. They are searched for in the same way in the same recording. The
    threshold is the largest distance at which ``(1 + decoys / n_decoys) / matches`` is at most `alpha`, where both
    numbers count matches up to that distance: those of all decoys, and those of the query. It is computed for each
    query and recording. Pass it as the `threshold` of `QuerySearcher` or `QuerySegmenter`, or as the text
    ``"fdr:0.05"``.

    Parameters
    ----------
    alpha : float in (0, 1), default=0.05
        The expected share of false matches. At least 1 / `alpha` matches must be nearer than nearly all matches of
        decoys; otherwise there are no matches, and a warning appears.
    null : {"phase", "negated"} or callable, default="phase"
        How decoys are made. "phase": the query mirrored about the recording's median, in the order that it has after
        the phases of all frequencies in all channels are shifted by one random angle of at most a quarter turn.
        "negated": the mirrored query, a single decoy. A function ``f(query, random_state)`` returns a decoy of the
        query's shape, (m, channels), drawn by a ``numpy.random.RandomState``. The query reversed in time is not a
        decoy: a symmetric event is its own reverse.
    n_decoys : int, default=4
        Number of decoys; the time of a search grows with it.
    random_state : int, RandomState instance or None, default=None
        Draws the decoys. With an integer each call draws the same ones.

    Notes
    -----
    Decoys measure what chance finds in noise. They do not protect against look-alikes: an event of another class that
    resembles the query is found by the query and not by its decoys. In a search a warning appears if matches form
    groups far apart in distance or scale. Learn a query of that class too, or count it by labels. Nor do decoys protect
    if the background is asymmetric, such as artifacts to one side; then pass a function as `null` that draws similar
    patterns.

    References
    ----------
    Elias JE, Gygi SP. Target-decoy search strategy for increased confidence in large-scale protein identifications by
    mass spectrometry. Nature Methods 4(3), 2007.

    Storey JD, Tibshirani R. Statistical significance for genomewide studies. PNAS 100(16), 2003.

    Examples
    --------
    >>> from sktslib import QuerySearcher, load_ecg_example
    >>> from sktslib.search import FalseDiscoveryRate
    >>> ecg = load_ecg_example()
    >>> rule = FalseDiscoveryRate(alpha=0.2, random_state=0)
    >>> matches = QuerySearcher("dtw", threshold=rule).fit(ecg.query).search(ecg.sequence, times=ecg.ts)
    >>> len(matches), bool((matches.qvalue <= 0.2).all())
    (13, True)
    """

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "null": [StrOptions({"phase", "negated"}), callable],
        "n_decoys": [Interval(Integral, 1, None, closed="left")],
        "random_state": SEED,
    }

    alpha: float = 0.05
    null: str | Callable[..., Any] = "phase"
    n_decoys: int = 4
    random_state: int | np.random.RandomState | None = None

    def _thresholds(self, calibrations):
        """Return the threshold of each calibration; warn if no distance qualifies."""
        thresholds = [one.threshold(float(self.alpha)) for one in calibrations]
        without = [one for one, t in zip(calibrations, thresholds, strict=True) if t == -np.inf]
        if without:
            least, one = int(np.ceil(1.0 / self.alpha)), max(without, key=lambda one: len(one.matches))
            shares, n = one.shares, len(one.matches)
            if n < least:
                why = f"Got {n} matches, fewer than 1 / alpha, {least}"
            else:
                k = int(np.argmin(shares))
                count = np.searchsorted(one.matches, one.matches[k], "right")
                why = f"Got {n} matches, and the lowest estimated share of false ones is {shares[k]:.2g}, of {count}"
            several = f" in {len(without)} of {len(thresholds)} searches" if len(thresholds) > 1 else ""
            nothing = "which find nothing" if several else "so there are no matches"
            warn(
                f"No distance keeps a false discovery rate of {self.alpha:g}{several}, {nothing}: at "
                f"least {least} matches must be nearer than nearly all those of decoys. {why}. Set a larger 'alpha', "
                "search a longer recording, or set 'threshold' to a number."
            )
        return thresholds


@dataclass(eq=False, repr=False)
class Percentile(ThresholdRule):
    """Threshold at a percentile of the distances of all candidates, for each sequence and query.

    Pass it as the `threshold` of `QuerySearcher`, or as the text ``"percentile:1"``. Not for streams.

    Parameters
    ----------
    q : float in [0, 100]
        The percentile of the finite distances of the profile. 0 keeps ties with the best, 100 keeps every candidate.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> from sktslib.search import Percentile
    >>> searcher = QuerySearcher("euclidean", threshold=Percentile(20)).fit([0, 1, 0])
    >>> searcher.search([5, 5, 0, 1, 0, 5, 0, 2, 0, 5]).start
    array([2, 6])
    """

    _parameter_constraints = {"q": [Interval(Real, 0, 100, closed="both")]}

    q: float


@dataclass(eq=False, repr=False)
class Margin(ThresholdRule):
    """Threshold for the margin between a repetition's class and the next one.

    Repetitions with a lower margin become background; those without a margin are kept. Pass it as the `threshold` of
    `QuerySegmenter`, or as the text ``"margin:0.5"``.

    Parameters
    ----------
    least : float in [0, 1], default=0.5
        The lowest margin, see `Segments.margin`: with 0.5 a repetition costs at most half of its cost as any other
        class.

    Examples
    --------
    >>> from sktslib import QuerySegmenter
    >>> segmenter = QuerySegmenter("dtw", background=1.0).fit({"high": [0, 1, 3, 1], "flat": [0, 1, 2, 2]})
    >>> X = [5, 5, 0, 1, 3, 1, 5, 0, 1, 2.4, 1.5, 5, 5, 0, 1, 2, 2, 5]
    >>> segmenter.segment(X).margin.round(2)
    array([1.  , 0.33, 1.  ])
    >>> segmenter.set_params(threshold="margin:0.5").segment(X).label
    array(['high', 'flat'], dtype='<U4')
    """

    _parameter_constraints = {"least": [Interval(Real, 0, 1, closed="both")]}

    least: float = 0.5


THRESHOLD = [Interval(Real, 0, None, closed="left"), FalseDiscoveryRate, Conformal, Percentile, str, None]
NAMED = {"fdr": FalseDiscoveryRate, "conformal": Conformal, "percentile": Percentile, "margin": Margin}


def rule_of(threshold, owner="QuerySearcher"):
    """Return the rule of a threshold given as an object or by name; None for a number and for None."""
    if not isinstance(threshold, str):
        return threshold if isinstance(threshold, ThresholdRule) else None
    name, _, alpha = threshold.partition(":")
    try:
        return NAMED[name.strip().lower()](float(alpha))
    except (KeyError, ValueError):
        hint = did_you_mean(name, dict.fromkeys(NAMED))
        raise ValueError(
            f"The 'threshold' parameter of {owner} must be a number, or a rule, as an object or as a text such as "
            f"'fdr:0.05' or 'conformal:0.1'. Got {shown(threshold)}.{hint}"
        ) from None


def check_threshold(estimator, marked=True):
    """Refuse an invalid threshold, and a rule that needs labels if none are given."""
    owner, threshold = type(estimator).__name__, estimator.threshold
    rule = rule_of(threshold, owner)
    if isinstance(rule, FalseDiscoveryRate):
        check_rate(estimator, rule)
    elif rule is not None:
        rule._validate()
    if isinstance(rule, Percentile) and not hasattr(estimator, "profile"):
        raise ValueError(
            f"The 'threshold' parameter of {owner} must be a number, a FalseDiscoveryRate or a Conformal: a "
            f"segmentation has no profile of which it could be a percentile. Got {threshold!r}."
        )
    if isinstance(rule, Margin) and hasattr(estimator, "profile"):
        rule = "not be a Margin: each query is searched for by itself, and its matches have no margin to others"
        got, out = repr(threshold), "Use QuerySegmenter, or another rule."
        raise refused(f"The 'threshold' parameter of {owner}", rule, got, out)
    if isinstance(rule, Conformal) and not marked:
        raise ValueError(
            f"The 'threshold' parameter of {owner} can be a Conformal only where 'fit' is given labels 'y', by whose "
            f"occurrences it is found. Got {threshold!r} and a query. Use 'fdr:0.05', which needs no labels, or a "
            "number."
        )


def check_rate(estimator, rate):
    """Refuse an invalid rate, and decoys that would be mirrored queries while the search allows mirrored queries."""
    rate._validate()
    if estimator.polarity != "same" and not callable(rate.null):
        rule = "be a function where 'polarity' is not 'same': other decoys are mirrored, and so are queries then"
        got = f"{rate.null!r} and polarity={estimator.polarity!r}"
        out = "Set 'polarity' to 'same', or 'threshold' to a number."
        raise refused("The 'null' parameter of FalseDiscoveryRate", rule, got, out)


def rate_of(estimator):
    """Return the false discovery rate that is the threshold, or None."""
    rule = rule_of(estimator.threshold)
    return rule if isinstance(rule, FalseDiscoveryRate) else None


def calibrations_of(estimator):
    """Return the calibration that `fit_threshold` found for each query; None before, or if the rule is not a rate."""
    return None if rate_of(estimator) is None else getattr(estimator, "_fitted_calibrations", None)


def is_awaited(estimator):
    """Return whether decoys have to find the threshold in each recording."""
    return rate_of(estimator) is not None and calibrations_of(estimator) is None


def set_thresholds(estimator):
    """Return the threshold of each query that the parameter gives; None if it depends on the recording."""
    rule, count = rule_of(estimator.threshold), len(estimator._queries)
    if isinstance(rule, Conformal):
        alpha, thresholds = getattr(estimator, "_conformal", (None, None))
        if alpha != rule.alpha:
            rule = "be set before 'fit' where it is a Conformal: 'fit' finds it by the labels"
            got, out = f"{estimator.threshold!r} afterwards", "Call fit(X, y) again."
            raise refused(f"The 'threshold' parameter of {type(estimator).__name__}", rule, got, out)
        return thresholds
    calibrations = calibrations_of(estimator)
    if calibrations is not None:
        return [one.threshold(float(rule.alpha)) for one in calibrations]
    return [float(estimator.threshold) if rule is None and estimator.threshold is not None else None] * count


def forget_threshold(estimator):
    """Drop what an earlier fit found for a threshold that is a rule."""
    for name in ("_fitted_calibrations", "_conformal"):
        vars(estimator).pop(name, None)


def check_fixed(estimator, what):
    """Refuse a call that needs the threshold beforehand, if it is found in each recording."""
    if is_awaited(estimator):
        rule = f"be known for {what}, which does not have the whole recording"
        got, out = repr(estimator.threshold), "Call fit_threshold(X) with a recording like it before, or set a number."
        raise refused(f"The 'threshold' parameter of {type(estimator).__name__}", rule, got, out)


# The gap between groups, measured without the outer 5 % of both, must be at least as wide as the wider group; twice as
# wide for distances, which form groups anyway if some occurrences have exactly the query's length.
CLEAR_SCALE, CLEAR_DISTANCE, EDGE = 1.0, 2.0, 0.05
FAR = 1.5  # minimum ratio of the values on both sides of the gap
CHANCE = 4.0  # a group must exceed the expected number of false matches by this many standard deviations
TINY = np.finfo(float).tiny


def gap_between(values, least, clear):
    """Return the two ends of the gap between two groups of values, or None if the gap is not clear.

    Each group has at least `least` values. The groups are those with the smallest variance within. A gap is clear if it
    is more than `clear` times as wide as the wider group.
    """
    values, n = np.sort(values), len(values)
    if n < 2 * least or not np.isfinite(values[[0, -1]]).all():
        return None
    # Without outliers, which would form groups of their own, and whose squares could overflow.
    inner = np.clip(values, *np.quantile(values, [EDGE, 1 - EDGE]))
    count, total = np.arange(least, n - least + 1), np.cumsum(inner / max(np.abs(inner[[0, -1]]).max(), TINY))
    between = (total[count - 1] - total[-1] * (count / n)) ** 2 / (count * (n - count))
    cut = count[np.argmax(between)]
    (first, low), (high, last) = (np.quantile(part, [EDGE, 1 - EDGE]) for part in (values[:cut], values[cut:]))
    return (low, high) if high - low > clear * max(low - first, last - high) else None


def warn_of_look_alikes(alpha, distance, scale=None, found="matches"):
    """Warn of matches within a false discovery rate that are far from the others in scale or distance.

    Parameters
    ----------
    alpha : float
        The rate.
    distance : ndarray of shape (n,)
        Distances of the matches of one query in one recording.
    scale : ndarray of shape (n,) or (n, channels), optional
        Their scales.
    found : str
        The word for the matches.
    """
    n = len(distance)
    false = alpha * n
    least = int(np.ceil(false + CHANCE * np.sqrt(false))) + 1
    table = np.empty((n, 0)) if scale is None else scale.reshape(n, -1)
    for side, most in ((-1, np.fmin), (1, np.fmax)) if table.size else ():
        sizes = np.maximum(most.reduce(table, axis=1), TINY)
        gap = None if np.isnan(sizes).any() else gap_between(np.log(sizes), least, CLEAR_SCALE)
        if gap is None or gap[1] - gap[0] < np.log(FAR):
            continue
        border = float(f"{np.exp(np.mean(gap)):.2g}")
        far = sizes < border if side < 0 else sizes > border
        if np.median(distance[far]) > np.median(distance[~far]):
            ends = float(f"{np.nanmin(table[~far]) / FAR:.2g}"), float(f"{np.nanmax(table[~far]) * FAR:.2g}")
            limits = (border, ends[1]) if side < 0 else (ends[0], border)
            _tell(alpha, far, found, "scale", sizes, f"scale_limits={limits} of Normalization")
            return
    gap = gap_between(distance, least, CLEAR_DISTANCE)
    if gap is not None and gap[1] >= FAR * gap[0]:
        border = float(f"{np.mean(gap):.3g}")
        _tell(alpha, distance > border, found, "distance", distance, f"threshold={border}")


def warn_of_groups(alpha, matches, names):
    """Warn if the matches of a query in a sequence fall into groups; `names` are those of the queries, or None."""
    queries, sequences = (np.zeros(len(matches), int) if k is None else k for k in (matches.query, matches.sequence))
    for query, sequence in sorted(set(zip(queries.tolist(), sequences.tolist(), strict=True))):
        own = (queries == query) & (sequences == sequence)
        of = "" if matches.query is None else f" of query {query if names is None else names.tolist()[query]!r}"
        of += "" if matches.sequence is None else f" in X[{sequence}]"
        scale = matches.scale
        warn_of_look_alikes(alpha, matches.distance[own], None if scale is None else scale[own], f"matches{of}")


def _tell(alpha, far, found, name, values, way):
    ends = [f"{values[which].min():.3g} to {values[which].max():.3g}" for which in (far, ~far)]
    warn(
        f"{far.sum()} of {len(far)} {found} within a false discovery rate of {alpha:g} are far from the others in "
        f"{name} ({ends[0]}, and {ends[1]}): they may be look-alikes, which the rate does not count. If they are, set "
        f"{way} to leave them out."
    )

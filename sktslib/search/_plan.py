"""Query plans: how a query is compared with sequences, and the parameters that say what a candidate is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral

import numpy as np

from ..distances._metrics.base import Metric
from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.lockstep import LockstepMetric
from ..distances._series import NORMALIZATIONS, full_weight, normalize_values
from ..utils._names import did_you_mean, warn
from ..utils._parameters import Interval, ParameterHolder, StrOptions
from ..utils._sampling import holes
from ..utils.validation import plain_count, refused, shown
from ._channels import ByChannel, each_alone, parts_of
from ._limits import ScaleLimits, floats_of, runs
from ._pruning import WindowQuery

MODES = ("auto", "windows", "subsequence")
LONGEST = 10**7  # most samples of a window
LONGER = 2  # default of the longest subsequence that is normalized by itself, in lengths of the query
SEEN = 1000  # about the number of samples of a sequence that are checked first; if they suffice, no others are


@dataclass(eq=False, repr=False)
class Windows(ParameterHolder):
    """Windows of the query's length, or of multiples of it, as the candidates of a search.

    Pass it as the parameter `candidates`; the text ``"windows"`` means ``Windows()``.

    Parameters
    ----------
    scales : tuple (least, largest) or list of float, optional
        Uniform scaling: windows of these multiples of the query's length are resampled to it. A tuple gives a range of
        multiples, a list single ones. Each start has the length that fits best. None: only the query's length.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> from sktslib.search import Windows
    >>> searcher = QuerySearcher("euclidean", candidates=Windows(scales=(0.5, 2))).fit([0, 2, 0])
    >>> searcher.search([0, 0, 0, 1, 2, 1, 0, 0]).to_frame()[["start", "end"]].to_numpy()
    array([[2, 7]])
    """

    _parameter_constraints = {"scales": ["array-like", None]}
    _short_forms = ("auto", "windows")

    scales: Sequence[float] | None = None


@dataclass(eq=False, repr=False)
class Subsequences(ParameterHolder):
    """Subsequences of any length, with open start and end, as the candidates of a search.

    The metric must be elastic, with a warping path. Pass it as the parameter `candidates`; the text ``"subsequence"``
    means ``Subsequences()``.

    Parameters
    ----------
    min_length : int, None or "auto", default="auto"
        The shortest match, in samples; None: no bound. "auto": half of the query's length, rounded down, at least 1
        and at most `max_length`.
    max_length : int, optional
        The longest match, in samples. None: no bound or, with `normalize`, twice the query's length.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> from sktslib.search import Subsequences
    >>> searcher = QuerySearcher("dtw", candidates=Subsequences(max_length=5)).fit([0, 2, 0])
    >>> searcher.search([1, 1, 0, 0, 2, 2, 2, 0, 1]).to_frame()[["start", "end"]].to_numpy()
    array([[3, 8]])
    """

    _parameter_constraints = {
        "min_length": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "max_length": [Interval(Integral, 1, None, closed="left"), None],
    }
    _short_forms = ("auto", "subsequence")

    min_length: int | str | None = "auto"
    max_length: int | None = None

    def _validate(self):
        super()._validate()
        if isinstance(self.min_length, Integral) and self.max_length is not None and self.min_length > self.max_length:
            rule, got = "not exceed 'max_length'", f"{self.min_length} and {self.max_length}"
            raise refused("'min_length' of Subsequences", rule, got)


CANDIDATES = [StrOptions({*MODES}), Windows, Subsequences]


def mode_of(candidates):
    """Return the kind of candidates that a parameter means: "windows", "subsequence", or "auto"."""
    return {Windows: "windows", Subsequences: "subsequence"}.get(type(candidates), candidates)


def with_lengths(plan, candidates):
    """Return the plan of a query with the lengths of matches that `candidates` allow; windows have no limits."""
    if plan.mode == "windows":
        return plan
    shortest, longest = getattr(candidates, "min_length", "auto"), plain_count(getattr(candidates, "max_length", None))
    if shortest == "auto":
        shortest = min(max(1, plan.m // 2), longest or plan.m)
    return plan._replace(limits=(plain_count(shortest), longest))


@dataclass(frozen=True, eq=False)
class QueryPlan:
    """A validated plan of how a query is compared with a sequence or with ranges of it.

    What is prepared of the query for all sequences is kept, but not stored with it.
    """

    metric: Metric
    x: np.ndarray  # (channels, m)
    w: np.ndarray | None = None
    tx: np.ndarray | None = None  # None if the metric compares no times, too
    mode: str = "windows"  # or "subsequence"
    normalize: str | None = None
    lengths: np.ndarray | None = None  # lengths of windows that are resampled to the query's length, ascending
    limits: tuple[int | None, int | None] = (None, None)  # shortest and longest match of a subsequence search
    gaps: bool = True  # whether sequences may have missing values; False if they are known to have no such values
    datetimes: bool | None = None  # whether the query's times were datetimes; None: it came without times
    interval: float | None = None  # usual step of the query's times
    max_gap: float | None = None  # largest time step that does not count as a gap, as kernels count times
    alternatives: tuple = ()  # further versions (x, w) of the query: the nearest version of each candidate counts
    signs: np.ndarray | None = None  # (k,) or (k, channels), the signs that versions may have; None: only as given
    by_channel: ByChannel | None = None  # lag, points and weight of each channel if channels are compared alone
    scale_limits: ScaleLimits | None = None  # limits of a candidate's scale and offset; None: no limits

    def __getstate__(self):
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def _replace(self, **changes):
        return replace(self, **changes)

    @cached_property
    def window_query(self):
        """The query as a search compares windows with it that leaves out those which cannot be chosen."""
        return WindowQuery(self.metric, self.x, self.w, self.normalize)

    @property
    def n_versions(self):
        """The number of versions of the query: the query itself and its alternatives."""
        return 1 + len(self.alternatives)

    @property
    def n_unsigned(self):
        """The number of versions with the signs as given; these come first."""
        return self.n_versions if self.signs is None else self.n_versions // len(self.signs)

    @property
    def unsigned(self):
        """The plan with only those versions that have the signs as given."""
        return self._replace(alternatives=self.alternatives[: self.n_unsigned - 1], signs=None)

    def signs_of(self, versions):
        """Return the signs of versions, by their numbers; None if all have the signs as given."""
        return None if self.signs is None else self.signs[versions // self.n_unsigned]

    def version(self, k):
        """Return the plan of the k-th version of the query alone."""
        x, w = self.alternatives[k - 1] if k else (self.x, self.w)
        return self._replace(x=x, w=w, alternatives=(), signs=None)

    @property
    def versions(self):
        """A list of plans, one for each version of the query."""
        if not self.alternatives and self.signs is None:
            return [self]
        return [self.version(k) for k in range(self.n_versions)]

    @property
    def m(self):
        """Number of points of the query."""
        return self.x.shape[1]

    @property
    def shortest(self):
        """The length of the shortest window."""
        return self.m if self.lengths is None else int(self.lengths[0])

    @property
    def longest(self):
        """The length of the longest window."""
        return self.m if self.lengths is None else int(self.lengths[-1])

    @property
    def by_range(self):
        """Whether candidates are subsequences that are each normalized by themselves."""
        return self.mode == "subsequence" and self.normalize is not None

    @property
    def range_lengths(self):
        """Shortest and longest length of subsequences that are each normalized by themselves."""
        shortest = self.limits[0] or 1
        return shortest, self.limits[1] or max(LONGER * self.m, shortest)

    @property
    def compared_query(self):
        """The query in its normalized form; for ranges of any length its weights do not count."""
        return normalize_values(self.x, full_weight(None if self.by_range else self.w, self.x), self.normalize)

    @property
    def reach(self):
        """Number of samples on each side of a range that its distance depends on."""
        if self.by_channel is not None:
            return 2 * self.by_channel.tolerance  # of the lags, and of the starts that compete with each other
        return self.metric._context if self.mode == "subsequence" and not self.by_range else 0

    @property
    def untimed(self):
        """The plan without the query's times, for a sequence without times."""
        return self if self.tx is None else self._replace(tx=None)

    @property
    def reads_times(self):
        """Whether results depend on the times of a sequence."""
        return self.tx is not None or self.max_gap is not None

    def compared(self, ty):
        """Return the times of a sequence if the metric compares them with the query's, else None."""
        return None if self.tx is None else ty

    def holes(self, ty):
        """Return the samples that follow a gap in the times of a sequence."""
        return holes(ty, self.max_gap)

    def runs(self, y, ty):
        """Return the half-open ranges (k, 2) of a sequence without a missing value and without a gap in its times."""
        return runs(y, () if self.max_gap is None else self.holes(ty))

    def problem(self, y, ty=None):
        """Return the query and a series without gaps in the form that kernels read in a subsequence search."""
        return self.metric._problem(self.x, self.w, y, self.tx, self.compared(ty), search=True)

    def distances(self, y, ty, exactly=False):
        """Return the distances of the query to all windows of its length in a series without gaps."""
        return self.metric._profile(self.x, self.w, y, self.tx, self.compared(ty), self.normalize, exactly)

    def of_windows(self, windows, times):
        """Return the distances of the query to copies (n, channels, m) of windows, whose times (n, m) start at 0.

        For elastic metrics, and for lockstep metrics that compare copies.
        """
        if isinstance(self.metric, LockstepMetric):
            return self.metric._of_copies(self.x, self.w, windows, self.normalize)
        full = full_weight(self.w, self.x)
        x, windows = normalize_values(self.x, full, self.normalize), normalize_values(windows, full, self.normalize)
        tx = None if times is None else self.tx - self.tx[0]
        return self.metric._windows(x, self.w, windows, tx, times)


def with_metric(metric, queries):
    """Return the plans of queries with a metric whose "auto" parameters are fixed by the normalized queries."""
    alone = [one for plan in queries for one in each_alone(plan)]
    series, weights = [plan.compared_query for plan in alone], [full_weight(plan.w, plan.x) for plan in alone]
    if queries[0].by_channel is None:
        metric = metric._fitted_to(series, weights)
    else:
        channels = [part.channel for plan in queries for part in parts_of(plan)]
        metric = metric._fitted_by_channel(channels, series, weights)
    return [plan._replace(metric=metric) for plan in queries]


def resolve_mode(metric, mode, normalize):
    """Return the kind of candidates, "windows" or "subsequence", that metric, mode and normalization imply."""
    if metric.family == "time":
        raise ValueError(
            f"{metric.full_name} has no search: it compares the timing of two aligned series. Compute it on a match."
        )
    if normalize not in NORMALIZATIONS:
        valid = ", ".join(map(repr, NORMALIZATIONS))
        hint = did_you_mean(normalize, [name for name in NORMALIZATIONS if name])
        raise ValueError(f"The 'normalize' parameter must be one of {valid}. Got {shown(normalize)}.{hint}")
    warps = isinstance(metric, ElasticMetric)
    if mode == "subsequence" and not (warps and metric._has_path):
        needed = "an elastic metric" if metric._has_path else "a metric with a warping path"
        raise ValueError(
            f"candidates='subsequence' needs {needed}; {metric.full_name} compares windows of the query's length. Set "
            "candidates='windows' or 'auto'."
        )
    if mode == "auto":
        mode = "subsequence" if warps and normalize is None else "windows"
    metric._check_search(mode)
    return mode


def check_lengths(m, shortest, longest, name="'min_length' and 'max_length'"):
    """Refuse limits of length that exclude windows of the query's length, m."""
    if (shortest or m) > m or (longest or m) < m:
        got = f"{shortest} and {longest}; a search by windows has no other length"
        raise refused(name, f"let windows of the query's length through, {m} points", got)


def check_room(m, n, otherwise="search by an elastic metric with candidates='subsequence'"):
    """Refuse a window of m samples that does not fit into a sequence of n."""
    if m > n:
        got = f"{m} and {n} points; cut the query, or {otherwise}"
        raise refused("The query", "not be longer than the sequence in a search by windows", got)


def check_domain(metric, a, what, normalize):
    """Refuse values for which the metric is not defined, and normalizations that may produce such values."""
    if metric._has_domain:
        if normalize is not None:
            rule = f"be None with the {metric.full_name}, which is not defined for all normalized values"
            raise refused("normalize", rule, repr(normalize))
        metric._check_values(a, what)


def warn_of_query(plan):
    """Warn of a query that normalization turns into zeros."""
    if plan.normalize in (None, "mean") or any(one.compared_query.any() for one in each_alone(plan)):
        return
    spread = NORMALIZATIONS[plan.normalize].scale
    warn(
        f"The query should vary where normalize={plan.normalize!r}. Its {spread} is 0 in every channel, so only zeros "
        "are left of it: constant windows are at distance 0, and the shape of all others does not matter. Set "
        "normalize=None, or normalize='mean' to find where the signal varies least."
    )


def warn_of_sequences(queries, series, *, shorter=False, elsewhere=False):
    """Warn of whole sequences that are probably not meant for these queries.

    They may be `shorter` than the queries, or `elsewhere`, with no value in common with them.
    """
    first = queries[0]
    m, n = max(plan.m for plan in queries), max(y.shape[1] for y in series)
    if first.mode == "subsequence" and m > n and not shorter:
        warn(
            f"The query should not be longer than the sequence. Got {m} and {n} points, so every match squeezes the "
            "whole query into less. Swap the two if they are interchanged, or cut the query, or resample the sequence."
        )
    if m <= n and first.mode == "subsequence":
        warn_of_lengths([plan.limits[0] for plan in queries], n)
    groups = {} if first.by_channel else {None: (queries, None)}  # queries with one metric each
    for plan in queries if first.by_channel else ():
        for part in parts_of(plan):
            some, channels = groups.setdefault(id(part.plan.metric), ([], set()))
            some.append(part.plan)
            channels.add(part.channel)
    for some, channels in groups.values():
        if some[0].metric._warn_of_pair is None:
            continue
        X = [plan.compared_query for plan in some]
        own = series if channels is None else [y[c : c + 1] for y in series for c in sorted(channels)]
        some[0].metric._warn_of_scale(X, own if first.normalize is None else X)
    if first.normalize is None and not first.metric._has_domain and not elsewhere:
        _warn_of_offset(queries, series)


def warn_of_lengths(shortest, n, name="'min_length'"):
    """Warn of sequences of at most n samples that are shorter than the shortest match."""
    least = min((length or 1 for length in shortest), default=1)
    if least > n:
        warn(
            f"Nothing is found: {name} is {least}, and the sequence has {n} samples. Lower it to at most that, or "
            "leave it out."
        )


def _warn_of_offset(queries, series):
    """Warn of a sequence without a value near those of any query, if this offset outweighs the queries' shapes."""
    rows = {}  # channel -> queries, and the index of the channel in each
    for plan in queries:
        for one in plan.versions:
            if plan.by_channel is None:
                parts = [(one, c, c) for c in range(len(one.x))]
            else:
                parts = [(part.plan, part.channel, 0) for part in parts_of(one)]
            for part, channel, row in parts:
                rows.setdefault(channel, []).append((part, row))
    for channel, compared in rows.items():
        low, high = (min(plan.x[row].min() for plan, row in compared), max(plan.x[row].max() for plan, row in compared))
        for y in series:
            gap = _gap(low, high, y[channel])
            if gap and all(_outweighs(gap, *one) for one in compared):
                where = f"In channel {channel} those" if len(y) > 1 else "Those"
                least, most = np.nanmin(y[channel]), np.nanmax(y[channel])
                warn(
                    f"The query should have values in common with the sequence. {where} of the query are between "
                    f"{low:g} and {high:g}, of the sequence between {least:g} and {most:g}, so distances depend more "
                    "on this offset than on shapes. If it means nothing, subtract it from both first, or set "
                    "normalize='mean' in a search, which subtracts the mean of each window."
                )
                return


def _gap(low, high, y):
    """Return how far a channel of a sequence is above (low, high), negative if below; 0 if they overlap."""
    some = y[:: len(y) // SEEN + 1]
    if ((low <= some) & (some <= high)).any():  # then the other samples need no check
        return 0.0
    least, most = np.fmin.reduce(y), np.fmax.reduce(y)
    return least - high if least > high else most - low if most < low else 0.0


def _outweighs(gap, plan, row):
    """Return whether a shift by `gap` in a channel changes a query more than making this channel constant."""
    shifted, flat = plan.x.copy(), plan.x.copy()
    shifted[row] += gap
    flat[row] = flat[row].mean()
    far, near = (plan.metric._distance(plan.x, plan.w, y, plan.tx, plan.tx) for y in (shifted, flat))
    return far > near


def scaled_lengths(scales, m):
    """Return the ascending lengths of windows that `scales` mean for a query of m points; None for m alone."""
    if scales is None:
        return None
    factors = floats_of(scales)
    if not factors or not all(0 < factor * m <= LONGEST for factor in factors):
        raise ValueError(
            "The 'scales' parameter of Windows must be None, a pair (least, largest), or a list of factors above 0, "
            f"for windows of at most {LONGEST:,} samples. Got {shown(scales)}."
        )
    lengths = [max(1, round(factor * m)) for factor in factors]
    if not isinstance(scales, tuple):
        return np.unique(lengths)
    if len(factors) != 2 or factors[0] > factors[1]:
        rule, got = "be (least, largest)", f"{shown(scales)}; give a list of factors to try these alone"
        raise refused("The 'scales' parameter of Windows as a tuple", rule, got)
    return np.arange(lengths[0], lengths[1] + 1)

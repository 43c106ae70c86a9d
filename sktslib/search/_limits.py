"""Limits of scale and offset relative to the query, and missing values.

The limits bound what normalization removes, so that flat noise is not a candidate (Wu et al. 2019, KV-match). Exact
moments, which do not depend on the position of a window, decide whether it is within the limits. Running moments decide
for all windows that are within or beyond the limits by more than their error.

Subsequences of any length that are normalized each by itself have limits, too. The ranges of a box share some samples,
its core, and all are contained in its hull. A part of the hull has a sum of squared deviations from its mean that is at
most that of the hull, and the difference bounds how far the two means are apart: for a range with l of the h samples of
the hull, and sums of squares Q, ``(mean - mean_h)**2 <= (h - l) / (h l) (Q_h - Q)``. So core and hull bound the moments
of all ranges of the box; for a single range the bounds are its moments.

Missing values are left out of a distance, or they limit the ranges that a search may find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..distances._kernels import moments
from ..distances._kernels.moments import TINY
from ..distances._metrics.elastic import ElasticMetric
from ..distances._metrics.lockstep import LockstepMetric
from ..distances._metrics.mixed import Mixed
from ..distances._series import NORMALIZATIONS, fill, full_weight, is_enough, mean_of, normalize_values, resample
from ..utils._parameters import ParameterHolder, StrOptions
from ..utils.validation import as_weight, refused, shown, sum_of_squares
from ._channels import of_channels

METHODS = [StrOptions(set(NORMALIZATIONS) - {None}), None]
BLOCK = 2**13  # windows whose moments stay in the second-level cache
TERMS = 2**19  # points of windows whose exact moments are computed at a time
# Relative error of a moment. Exact moments are rounded, too, by about 2^-52 times the root of the number of points.
# This generous bound needlessly sends one window in 10^11 to the exact check.
NEAR = 2.0**-40


class ScaleLimits(NamedTuple):
    """Inclusive limits that each compared channel must be within."""

    scale: tuple[float, float] | None = None  # of the standard deviation divided by that of the query
    offset: np.ndarray | None = None  # (channels,), of the absolute difference of the means

    def of_channel(self, c):
        """Return the limits of one channel."""
        return self if self.offset is None else self._replace(offset=self.offset[c : c + 1])


class Moments(NamedTuple):
    """Mean and population standard deviation of each channel (..., channels); NaN if no point has a weight."""

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, a, w):
        """Return weighted moments of series (..., channels, m); no bit of one depends on the others."""
        heavy = w.argmax(axis=1)[:, np.newaxis]
        base = np.take_along_axis(a, np.broadcast_to(heavy, (*a.shape[:-1], 1)), axis=-1)
        apart = a - base if w.all() else np.where(w > 0, a - base, 0.0)
        weight = None if (w == 1.0).all() else w  # multiplying by weights would double the time
        mean = mean_of(apart, weight)
        apart -= mean
        rest = mean_of(apart, weight)  # the rounding error of the mean
        apart -= rest
        none = ~w.any(axis=1)
        found = (base + (mean + rest))[..., 0], np.sqrt(mean_of(apart * apart, weight))[..., 0]
        return cls(*(np.where(none, np.nan, each) for each in found)) if none.any() else cls(*found)


def relative(query, others):
    """Return scale and offset (..., channels) of series relative to a query, from the moments of both.

    The scale is NaN where the query is constant. Both are NaN where no point of the query has a weight.
    """
    varies = query.deviation > 0
    with np.errstate(over="ignore"):
        scale = np.where(varies, others.deviation / np.where(varies, query.deviation, 1.0), np.nan)
    return scale, others.mean - query.mean


def within_limits(limits, query, others):
    """Return whether series (...) are within the limits relative to a query, from the moments of both."""
    scale, offset = relative(query, others)
    counts, within = ~np.isnan(query.mean), np.ones(scale.shape, bool)
    if limits.scale is not None:
        within &= (scale >= limits.scale[0]) & (scale <= limits.scale[1])
    if limits.offset is not None:
        within &= np.abs(offset) <= limits.offset
    return (within | ~counts).all(axis=-1)


def moments_of_windows(windows, w):
    """Return the moments of windows (..., channels, length), resampled to the number of weights."""
    m, length = w.shape[1], windows.shape[-1]
    if length == m:
        return Moments.of(windows, w)
    base = windows[..., :1]  # subtracted, so that an offset costs no digits
    apart = resample((windows - base).reshape(-1, length), m).reshape(*windows.shape[:-1], m)
    mean, deviation = Moments.of(apart, w)
    return Moments(base[..., 0] + mean, deviation)


def points_alike(plan, length):
    """Return weights of 1 for `length` points; 0 in channels in which no point of the query has a weight."""
    return np.repeat(full_weight(plan.w, plan.x).any(axis=1)[:, np.newaxis].astype(float), length, axis=1)


def moments_of_query(plan):
    """Return the moments of a query; unweighted if it is compared with ranges of any length."""
    return Moments.of(plan.x, points_alike(plan, plan.m) if plan.by_range else full_weight(plan.w, plan.x))


def beside(plan, windows):
    """Return scale and offset (2, n, channels) of candidates (n, channels, length); missing points have no weight."""
    if plan.by_range:
        return np.array(relative(moments_of_query(plan), Moments.of(windows, points_alike(plan, windows.shape[-1]))))
    full, missing = full_weight(plan.w, plan.x), np.isnan(windows)
    if not missing.any():
        return np.array(relative(Moments.of(plan.x, full), moments_of_windows(windows, full)))
    out = np.empty((2, *windows.shape[:-1]))
    for k, (window, none) in enumerate(zip(windows, missing, strict=True)):
        seen = np.where(none, 0.0, full)
        out[:, k] = relative(Moments.of(plan.x, seen), Moments.of(fill(window), seen))
    return out


def is_allowed(limits, x, w, windows):
    """Return whether windows (..., channels, length) are within the limits, if any, with weights (channels, m)."""
    return limits is None or within_limits(limits, Moments.of(x, w), moments_of_windows(windows, w))


def limited(plan, windows, times):
    """Return the distances of windows (n, channels, m), see `of_windows`; infinite beyond the limits."""
    allowed = is_allowed(plan.scale_limits, plan.x, full_weight(plan.w, plan.x), windows)
    return np.where(allowed, plan.of_windows(windows, times), np.inf)


# ------------------------------------------------------------------------------------------------------------- windows
def allowed_windows(limits, x, w, y):
    """Return whether each window of a sequence without gaps is within the limits for a query of its length."""
    weight, m = full_weight(w, x), x.shape[1]
    query, count = Moments.of(x, weight), y.shape[1] - m + 1
    allowed, beyond = np.ones(count, bool), np.zeros(count, bool)
    room = np.empty((3, min(BLOCK, count)))
    for first in range(0, count, BLOCK):
        part = slice(first, min(first + BLOCK, count))
        known = room[:, : part.stop - first]
        for k in np.flatnonzero(weight.any(axis=1)):
            if w is None:
                moments.moments(y[k], m, 0.0, first, *known)
            else:
                known[:] = _weighted_moments(y[k], weight[k], first, known.shape[1])
            of_query = query.mean[k], query.deviation[k], weight[k].sum()
            limit = None if limits.offset is None else limits.offset[k]
            for value, wrong, low, high in _judged(limits.scale, limit, m, *of_query, *known):
                # NaN is neither within nor beyond the limits.
                allowed[part] &= (value - wrong >= low) & (value + wrong <= high)
                beyond[part] |= (value + wrong < low) | (value - wrong > high)
    windows = sliding_window_view(y, m, axis=1).transpose(1, 0, 2)
    for which in blocks(np.flatnonzero(~(allowed | beyond)), weight.size):  # decide by exact moments
        allowed[which] = within_limits(limits, query, Moments.of(np.ascontiguousarray(windows[which]), weight))
    return allowed


@np.errstate(divide="ignore", over="ignore", invalid="ignore")
def _weighted_moments(y, w, first, count):
    """Return mean, weighted sum of squared deviations, and error of this sum, for `count` windows from `first` on."""
    mean, inverse = moments.weighted_windows(y, w, first, 2, count)
    spread = np.where(inverse > 0.0, w.sum() / inverse**2, 0.0)
    return mean, spread, 2.0**-52 * 8.0 * (len(w) + 4.0) * spread


@np.errstate(over="ignore", invalid="ignore")
def _judged(scale, offset, m, of_query, deviation, total, mean, spread, error):
    """Return for each limited quantity its values from running moments, their error, and the two limits."""
    found = []
    if scale is not None:
        low, high = ((edge * deviation) ** 2 * total for edge in scale)
        wrong = 4.0 * error + NEAR * np.abs(spread) + moments.TINY  # squares may underflow
        wrong[~(spread < moments.HUGE)] = np.nan
        found.append((spread, wrong, low if scale[0] > 0 else -np.inf, high))
    if offset is not None:
        relative = 2.0**-52 * 4.0 * (m + 4.0)  # see `moments.standardize`
        size = np.abs(mean) + abs(of_query) + np.sqrt(np.maximum(spread, 0.0))
        wrong = 2.0 * np.sqrt(relative / total * error) + NEAR * size
        found.append((mean - of_query, wrong, -offset, offset))
    return found


def limited_distances(plan, y, ty, exactly=False):
    """Return the distances of the query to all windows of a sequence without gaps; infinite beyond the limits.

    With an elastic metric, windows beyond the limits are not compared. Other metrics compute profiles, which cost less
    than single windows, so only long stretches without an allowed window are left out.
    """
    if plan.scale_limits is None:
        return plan.distances(y, ty, exactly)
    allowed = allowed_windows(plan.scale_limits, plan.x, plan.w, y)
    out, which = np.full(len(allowed), np.inf), np.flatnonzero(allowed)
    if not isinstance(plan.metric, ElasticMetric):
        for a, b in zip(*covered(allowed, plan.m, max(plan.m, BLOCK)), strict=True):
            times = None if ty is None else ty[a:b]
            out[a : b - plan.m + 1] = plan.distances(np.ascontiguousarray(y[:, a:b]), times, exactly)
        out[~allowed] = np.inf
        return out
    ty = plan.compared(ty)
    windows = sliding_window_view(y, plan.m, axis=1).transpose(1, 0, 2)
    times = None if ty is None else sliding_window_view(ty, plan.m)
    for some in blocks(which, plan.x.size):
        since = None if ty is None else times[some] - times[some][:, :1]
        out[some] = plan.of_windows(np.ascontiguousarray(windows[some]), since)
    return out


def allowed_lengths(plan, y, length):
    """Return whether each window of `length` samples is within the limits when resampled to the query's length."""
    allowed, weight = np.ones(y.shape[1] - length + 1, bool), full_weight(plan.w, plan.x)
    windows = sliding_window_view(y, length, axis=1).transpose(1, 0, 2)
    if plan.scale_limits is not None:
        for some in blocks(np.arange(len(allowed)), length * len(y)):
            allowed[some] = is_allowed(plan.scale_limits, plan.x, weight, windows[some])
    return allowed


def covered(found, m, apart=None):
    """Return starts and ends of the ranges of samples that the windows in the mask `found` cover, ascending.

    Windows have m samples. Those that touch or overlap are in one range, or, with `apart`, those whose starts differ by
    at most that.
    """
    start = np.flatnonzero(found)
    cut = np.flatnonzero(np.diff(start) > (m if apart is None else apart))
    first, last = (np.append(0, cut + 1), np.append(cut, -1)) if len(start) else (cut, cut)
    return start[first], start[last] + m


def blocks(which, size):
    """Yield parts of the indices `which` of windows, each of `size` points, that are processed at a time."""
    count = max(1, TERMS // size)
    return (which[at : at + count] for at in range(0, len(which), count))


# ---------------------------------------------------------------------------------------------------------- parameters
@dataclass(eq=False, repr=False)
class Normalization(ParameterHolder):
    """Normalization of query and candidates, with limits of what it may remove.

    Pass it as the parameter `normalize`; a name alone means the method without limits.

    Parameters
    ----------
    method : {None, "zscore", "mean", "minmax", "robust"}, default=None
        How the query and each candidate are normalized; None: not at all, but within the limits.
    scale_limits : tuple (least, largest), optional
        Constrained normalization: a window, or a range of a subsequence search, is a candidate only if its standard
        deviation over that of the query is between these two, inclusive, in every channel; for example ``(0.7, 1.4)``.
        So flat noise, which normalization makes as large as the query, does not match. With a `ChannelPlan` the limits
        apply to each channel separately. See `Matches.scale`.
    offset_limit : float, list or dict of float, optional
        Largest absolute difference of the means of candidate and query, in the unit of the data: a number, or one for
        each channel in a list, or in a dict by names or numbers (no limit for those left out). See `Matches.offset`.

    References
    ----------
    Wu J, Wang P, Pan N, Wang C, Wang W, Wang J. KV-match: a subsequence matching approach supporting normalization and
    time warping. ICDE 2019.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> from sktslib.search import Normalization
    >>> normalize = Normalization("zscore", scale_limits=(0.5, 2))
    >>> searcher = QuerySearcher("euclidean", normalize=normalize, n_matches=None).fit([0, 1, 0])
    >>> searcher.search([0, 0.1, 0, 0, 2, 0, 0, 5, 0]).start
    array([3])
    """

    _parameter_constraints = {
        "method": METHODS,
        "scale_limits": ["array-like", None],
        "offset_limit": [Real, "array-like", None],
    }

    method: str | None = None
    scale_limits: tuple[float, float] | None = None
    offset_limit: float | Sequence[float] | dict[Any, float] | None = None

    @classmethod
    def _of_short_form(cls, short, **params):
        return cls(**{"method": short, **params})


NORMALIZE = [*METHODS, Normalization]


def normalization_of(normalize):
    """Return the `Normalization` for a parameter that is a name or already an object."""
    return normalize if isinstance(normalize, Normalization) else Normalization(normalize)


def limits_of(normalization, plan, names):
    """Return the `ScaleLimits` of a normalization for a query, or None; `names` are the names of channels."""
    scale_limits, offset_limit, channels = normalization.scale_limits, normalization.offset_limit, len(plan.x)
    scale = offset = None
    if scale_limits is not None:
        scale = tuple(floats_of(scale_limits))
        if len(scale) != 2 or not 0 <= scale[0] <= scale[1] or scale[1] == 0:
            raise ValueError(
                "The 'scale_limits' parameter of Normalization must be None or (least, largest), two numbers of which "
                "the first is at least 0 and at most the second, which is above 0. Got "
                f"{shown(scale_limits)}. They are multiples of the query's standard deviation, such as (0.7, 1.4); "
                "an infinite one does not limit."
            )
    if offset_limit is not None:
        values = [offset_limit] * channels if isinstance(offset_limit, Real) else offset_limit
        if isinstance(values, dict):
            values = of_channels(values, "offset_limit", channels, names, np.inf)
        offset = np.array(floats_of(values))
        if len(offset) != channels or not (offset >= 0).all():
            raise ValueError(
                "The 'offset_limit' parameter of Normalization must be None, a number of at least 0, or one for each "
                f"channel of the query, {channels} here, in a list or a dict by names or numbers. Got "
                f"{shown(offset_limit)}. It is in the unit of the data; an infinite one does not limit."
            )
    if scale is None and offset is None:
        return None
    if plan.mode == "subsequence" and plan.normalize is None:
        name, value = ("scale_limits", scale_limits) if scale else ("offset_limit", offset_limit)
        rule = "be None in a subsequence search without a 'method', which compares the values themselves"
        raise refused(f"The {name!r} parameter of Normalization", rule, shown(value), "Set candidates='windows'.")
    constant = np.flatnonzero(moments_of_query(plan).deviation == 0)
    if plan.by_channel is not None:
        constant = np.intersect1d(constant, plan.by_channel.taking_part)
    if scale is not None and len(constant):
        rule = "be None where the query is constant in a channel, whose standard deviation is 0"
        got = f"{shown(scale_limits)}, and the query does not vary in channel {constant[0]}"
        out = "Set 'offset_limit' instead, or weigh the channel with 0."
        raise refused("The 'scale_limits' parameter of Normalization", rule, got, out)
    return ScaleLimits(scale, offset)


def floats_of(values):
    """Return the numbers of a list, a tuple or an array as floats; an empty list if one is invalid or too large."""
    is_list = isinstance(values, tuple | list) or (isinstance(values, np.ndarray) and values.ndim > 0)
    if not is_list or not all(isinstance(one, Real) and not isinstance(one, bool | np.bool_) for one in values):
        return []
    try:
        return [float(one) for one in values]
    except OverflowError:
        return []


EPS = np.finfo(float).eps


def allowed_ranges(plan, windows):
    """Return whether ranges (..., channels, length) are within the limits, by unweighted moments."""
    found = Moments.of(windows, points_alike(plan, windows.shape[-1]))
    return within_limits(plan.scale_limits, moments_of_query(plan), found)


class LimitedRanges:
    """Check of boxes of ranges against the limits, by running sums of deviations and of their squares."""

    def __init__(self, plan, y):
        self.limits, self.query, n = plan.scale_limits, moments_of_query(plan), y.shape[1]
        self.counted = np.flatnonzero(~np.isnan(self.query.mean))
        self.mean = y.mean(axis=1)
        apart = y - self.mean[:, np.newaxis]
        self.sums, self.squares = np.zeros((2, len(y), n + 1))
        with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite exclude nothing
            np.cumsum(apart, axis=1, out=self.sums[:, 1:])
            np.cumsum(apart * apart, axis=1, out=self.squares[:, 1:])
            total = self.squares[:, -1]
            self.wrong = EPS * (n + 8.0) * np.sqrt(n * total)  # error of a difference of two sums,
            self.wrong_squares = 2.0 * EPS * (n + 8.0) * total  # and of two sums of squares

    @np.errstate(over="ignore", invalid="ignore")
    def may_lie_in(self, end, ends, length, lengths):
        """Return whether boxes may hold a range within the limits.

        The ranges of a box end at `ends` consecutive samples from `end` on and have `lengths` lengths from `length` on.
        """
        n = self.sums.shape[1] - 1
        hull = np.maximum(end - (length + lengths - 1), 0), np.minimum(end + ends - 1, n)
        core = np.clip(end + ends - 1 - length, 0, end), end
        possible = np.ones(len(end), bool)
        for c in self.counted.tolist():
            mean, high, wrong = self._moments(c, *hull)
            low = self._moments(c, *core)[1:]
            low = np.maximum(low[0] * (1.0 - NEAR) - low[1] - TINY, 0.0)
            high = high * (1.0 + NEAR) + wrong + TINY
            if self.limits.scale is not None:
                least, most = ((edge * self.query.deviation[c]) ** 2 for edge in self.limits.scale)
                possible &= ~((high < least * length) | (low > most * (length + lengths - 1)))
            if self.limits.offset is not None:
                size = hull[1] - hull[0]
                apart = np.sqrt(np.maximum(size - length, 0) / (size * length) * np.maximum(high - low, 0.0))
                apart += self.wrong[c] / size + NEAR * (np.abs(self.mean[c]) + np.abs(mean) + abs(self.query.mean[c]))
                possible &= ~(np.abs(mean - self.query.mean[c]) - apart > self.limits.offset[c])
        return possible

    def _moments(self, c, start, end):
        """Return the mean of [start, end), the sum of squared deviations from it, and the error of this sum.

        The sum is 0 if the range is empty.
        """
        size = np.maximum(end - start, 1)
        total = self.sums[c, end] - self.sums[c, start]
        squares = self.squares[c, end] - self.squares[c, start] - total * total / size
        wrong = self.wrong_squares[c] + (2.0 * np.abs(total) + self.wrong[c]) * self.wrong[c] / size
        return self.mean[c] + total / size, squares, wrong


def observed_query(x, w):
    """Return a query with its missing points filled, and weights that are 0 there."""
    if not np.isnan(x).any():
        return x, w
    seen = np.where(np.isnan(x), 0.0, full_weight(w, x))
    if not seen.any():
        raise ValueError("The query must have at least one value that is not NaN and whose weight is above 0.")
    return fill(x), as_weight(seen.T, x.shape[1], len(x))


def runs(y, holes=()):
    """Return the half-open ranges (k, 2) without a missing value in any channel and without a time gap.

    `holes` are the samples that follow a gap.
    """
    if y.size and isfinite(sum_of_squares(y)):
        ranges = np.array([[0, y.shape[1]]])
    else:
        seen = np.concatenate([[False], ~np.isnan(y).any(axis=0), [False]])
        ranges = np.flatnonzero(seen[1:] != seen[:-1]).reshape(-1, 2)
    if not len(holes):
        return ranges
    # A gap outside of all ranges splits nothing.
    within = np.searchsorted(ranges[:, 0], holes) - 1
    inside = holes[(within >= 0) & (holes < ranges[within, 1])] if len(ranges) else holes[:0]
    return np.sort(np.concatenate([ranges.ravel(), inside, inside])).reshape(-1, 2)


def observed_profile(plan, y, ty, exactly=False):
    """Return the distances of the query to all windows of a sequence with missing values or gaps in its times.

    Lockstep sums leave missing terms out and are rescaled by the observed weight; maxima and ratios use the observed
    terms. The distance is infinite if less than half of the weight is observed, if a value is missing under another
    metric, if the window spans a time gap, or if its observed part is beyond the limits of scale and offset.
    """
    metric, x, tx, m = plan.metric, plan.x, plan.tx, plan.m
    if isinstance(metric, Mixed):  # a gap in one channel is not a gap in the others
        exactly = exactly or metric._may_be_negative

        def of_part(part, a, v):
            own = plan._replace(metric=part.metric, x=a, w=v, tx=tx if part.metric.uses_times else None)
            return observed_profile(own, part.of(y), ty, exactly)

        return metric._summed(x, plan.w, of_part)
    out = np.full(y.shape[1] - m + 1, np.inf)
    for a, b in plan.runs(y, ty):
        if b - a >= m:
            times = None if ty is None else ty[a:b]
            out[a : b - m + 1] = limited_distances(plan, np.ascontiguousarray(y[:, a:b]), times, exactly)
    if not isinstance(metric, LockstepMetric):
        return out
    full, missing = full_weight(plan.w, x), np.append(0, np.cumsum(np.isnan(y).any(axis=0)))
    holes = np.append(0, np.cumsum(np.isin(np.arange(y.shape[1]), plan.holes(ty))))
    # Windows with a missing value and without a gap after their first sample.
    for s in np.flatnonzero((missing[m:] > missing[:-m]) & (holes[m:] == holes[1 : len(holes) - m + 1])):
        window = y[:, s : s + m]
        seen = np.where(np.isnan(window), 0.0, full)
        if is_enough(seen, full) and is_allowed(plan.scale_limits, x, seen, fill(window)):
            a, b = normalize_values(x, seen, plan.normalize), normalize_values(fill(window), seen, plan.normalize)
            times = (None, None) if tx is None else (tx - tx[0], ty[s : s + m] - ty[s])
            out[s] = metric._observed(a, full, seen, b, *times)
    return out

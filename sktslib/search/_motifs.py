"""Motifs and discords: what repeats in a recording, and what is unlike everything else in it, without a query.

Motifs are the nearest pairs of windows; discords are the windows whose nearest neighbor is farthest. Both are exact,
without computing all distances: the nearest neighbor of a window is found by a search, and bounds of its distance make
most searches unnecessary.
"""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from math import floor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..distances._kernels import matrix_profile
from ..distances._kernels.matrix_profile import DIAGONALS, ROOM
from ..distances._kernels.moments import moments
from ..distances._metrics.registry import get_metric
from ..distances._series import SCALINGS, fill, normalize_values
from ..io._objects import unwrapped
from ..utils import validation
from ..utils._jobs import check_jobs, count_jobs, delayed, in_jobs, parts_for_jobs, progress
from ..utils._names import names_of, warn
from ..utils._sampling import check_gap, gap_of, holes, notice_sampling
from ..utils._times import is_datetime, notice_column, notice_index, times_of
from ._chunks import one_each
from ._limits import Moments, blocks, runs
from ._plan import QueryPlan, check_domain, resolve_mode
from ._profile import Search
from ._pruning import Choice, Windows, less_offset, nearest_window, prunes
from ._results import Matches, matched
from ._sources import ArraySource, CandidateReader, MatchOrigins, owned

__all__ = ["discords", "motifs"]

NONE = np.inf, -1


class Rows(NamedTuple):
    """Windows of a sequence, and another or the same sequence in which their nearest windows are searched for."""

    plan: QueryPlan  # a window takes the place of its query
    y: np.ndarray  # (channels, n)
    other: np.ndarray
    m: int
    apart: int  # least distance of the starts of two windows of one sequence
    is_one: bool  # whether both sequences are the same; in a worker process they may be two copies
    places: tuple  # for each sequence, a mask of the windows without a gap or a missing value
    windows: Windows | None = None  # those of `other`, with their normalization computed once for all queries

    def of(self, i):
        """Return the plan of a search for the i-th window."""
        return self.plan._replace(x=np.ascontiguousarray(self.y[:, i : i + self.m]))

    @property
    def prepared(self):
        """The rows with the windows of `other` prepared, if searches prune windows."""
        plan = self.plan
        if not prunes(plan, Choice(1), self.other.shape[1]):
            return self
        windows = Windows(plan.x, plan.w, self.other, plan.normalize)
        if plan.normalize in SCALINGS:
            windows.prepare(np.ptp(self.y, axis=1).max(), keep=True)  # at least as large as any value minus its mean
        return self._replace(windows=windows)

    def distance(self, i, j):
        """Return the distance between the i-th window and the j-th one of the other sequence."""
        piece = np.ascontiguousarray(self.other[:, j : j + self.m])
        return float(self.of(i).distances(piece, None, exactly=True)[0])

    def nearest(self, i, limit, free, *, after=False):
        """Return distance and start of the nearest free window within a limit; with `after`, of those that start later.

        Ties: the first.
        """
        if self.is_one:
            free = free.copy()
            free[0 if after else max(i - self.apart + 1, 0) : i + self.apart] = False
        plan, best = self.of(i), NONE
        edges = np.flatnonzero(np.diff(free, prepend=False, append=False))
        for first, last in edges.reshape(-1, 2).tolist():
            distance, j = self._nearest_in(plan, first, last, limit)
            if j >= 0 and (distance, first + j) < best:
                best, limit = (distance, first + j), distance
        return best

    def _nearest_in(self, plan, first, last, limit):
        """Return distance and index (from `first` on) of the nearest window of [first, last) within a limit."""
        if self.windows is not None:
            return nearest_window(plan.metric, plan.x, self.windows.part(first, last), limit)
        piece = np.ascontiguousarray(self.other[:, first : last + self.m - 1])
        found = matched(Search(plan, piece), Choice(1, None if np.isinf(limit) else limit))
        return (float(found.distance[0]), int(found.start[0])) if len(found.start) else NONE

    def allows(self, i, j):
        """Return whether the other sequence has a valid j-th window that the i-th one may be compared with."""
        whole = 0 <= j < len(self.places[1]) and self.places[1][j]
        return whole and not (self.is_one and abs(i - j) < self.apart)


def free_windows(place, taken, apart):
    """Return a mask of the windows in `place` that start at least `apart` samples from all starts in `taken`."""
    free = place.copy()
    for start in taken:
        free[max(start - apart + 1, 0) : start + apart] = False
    return free


CERTAIN = 1e-10  # relative error up to which a running sum of squares is used
MARGIN = 4 * CERTAIN  # error of a correlation that such sums, and the roots of two, cause
EACH = 4  # ranges of diagonals for each job
SQUARES = {"euclidean": 2.0, "sqeuclidean": 1.0}  # the power that turns a distance into a sum of squares


def are_known(plan):
    """Return whether bounds exist: for Euclidean distances of z-normalized windows without weights."""
    return plan.metric.name in SQUARES and plan.normalize == "zscore" and plan.w is None


def bounds(rows, n_jobs, verbose, *, above=False):
    """Return a lower (or with `above` an upper) bound of the distance of each window to its nearest neighbor."""
    plan, y, same = rows.plan, rows.y, rows.is_one
    m = plan.m
    own = _windows(y, m, rows.places[0])
    others = own if same else _windows(rows.other, m, rows.places[1])
    sweeps = [(own, others, rows.apart)] if same else [(own, others, 0), (others, own, 1)]
    calls = []
    for k, (x, z, first) in enumerate(sweeps):
        for part in pairwise(_shares(first, len(z[-1]) - ROOM, EACH * count_jobs(n_jobs))):
            calls.append(delayed(_swept)(x, z, m, -1.0 if above else 1.0, *part, same, k == 1))
    best = np.full(y.shape[1] - m + 1, -np.inf)
    for found in in_jobs(calls, n_jobs, verbose, "compare windows", "part"):
        np.maximum(best, found, out=best)
    margin = len(y) * MARGIN * (-1.0 if above else 1.0)
    squares = np.maximum(2.0 * m * (own[-1][: len(best)] - (best + margin)), 0.0)
    return squares ** (1.0 / SQUARES[plan.metric.name])


def _bounds_and_order(rows, n_jobs, verbose, *, above=False):
    """Return bounds of each window's distance to its nearest neighbor, values to order windows by, and Euclidean rows.

    The bounds are lower ones, or upper ones with `above`. Without bounds for the metric they are infinite; the order is
    then that of the bounds for the Euclidean distance, if these exist. The last result is `rows` with this distance.
    """
    alike = rows._replace(plan=rows.plan._replace(metric=get_metric("euclidean")))
    least = order = np.full(len(rows.places[0]), np.inf if above else -np.inf)
    if are_known(rows.plan):
        least = order = bounds(rows, n_jobs, verbose, above=above)
    elif are_known(alike.plan):
        order = bounds(alike, n_jobs, verbose, above=above)
    return least, order, alike


def _shares(first, last, count):
    """Return the edges of up to `count` ranges of the diagonals [first, last) with about equally many pairs of windows.

    Inner edges are multiples of `DIAGONALS` before `last`.
    """
    if last <= first:
        return []
    left = (last - first) * np.sqrt(1.0 - np.arange(count + 1) / count)  # the number of pairs grows with its square
    edges = last - np.maximum(left // DIAGONALS * DIAGONALS, 0).astype(int)
    return sorted({first, last, *(e for e in edges.tolist() if first < e < last)})


def _swept(x, z, m, sign, first, last, same, turned):
    """Return the largest sum of correlations minus the other window's `lack`, for windows of x, or `turned` of z."""
    best = np.full(len(x[-1]), -np.inf)
    others = best if same else np.full(len(z[-1]), -np.inf)
    matrix_profile.sweep(x, z, m, sign, first, last, best, others)
    return (others if turned else best)[:-ROOM]


def _windows(y, m, place):
    """Return the padded arrays of a sequence for `matrix_profile.sweep`; windows not in `place` match nothing."""
    y = less_offset(y)
    mean, half, whole, inverse = np.zeros((4, len(y), y.shape[1] - m + 1))
    for k, channel in enumerate(y):
        spread, error = np.empty((2, mean.shape[1]))
        moments(channel, m, 0.0, 0, mean[k], spread, error)
        windows = sliding_window_view(channel, m)
        for some in blocks(np.flatnonzero(~(error <= CERTAIN * spread)), m):  # also finds constant windows exactly
            exact = Moments.of(windows[some, np.newaxis], np.ones((1, m)))
            mean[k, some], spread[some] = exact.mean[:, 0], m * exact.deviation[:, 0] ** 2
        varied = spread > 0.0
        inverse[k, varied] = 1.0 / np.sqrt(spread[varied])
    half[:, 1:] = (y[:, m:] - y[:, :-m]) / 2
    whole[:, 1:] = (y[:, m:] - mean[:, 1:]) + (y[:, :-m] - mean[:, :-1])
    lack = (inverse > 0.0).sum(axis=0) / 2.0  # a constant window becomes zeros
    lack[~place] = np.inf
    room = [(0, 0), (0, ROOM)]
    padded = (np.pad(a, room) for a in (y, mean, half, whole, inverse))
    return *padded, np.pad(lack, room[1:], constant_values=np.inf)


WINDOWS_EACH = 64  # windows that a job searches for before the jobs share their results


def nearest_pairs(rows, count, n_jobs, verbose):
    """Return distances and starts of the nearest pairs, at most `count`, without overlaps with earlier pairs."""
    least, order, alike = _bounds_and_order(rows, n_jobs, verbose)
    rows = rows.prepared
    found, taken = [], ([], [])
    while len(found) < count:
        free, others = (free_windows(some, of, rows.apart) for some, of in zip(rows.places, taken, strict=True))
        others = free if rows.is_one else others
        best = np.inf, -1, -1
        if order is not least:
            # The pair that is nearest point by point gives the first limit for distances along paths.
            near = _nearest(alike, order, order, free, others, best, n_jobs, 0)
            best = best if near[1] < 0 else (rows.distance(*near[1:]), *near[1:])
        best = _nearest(rows, least, order, free, others, best, n_jobs, verbose)
        if best[1] < 0:
            break
        found.append(best)
        taken[0].append(best[1])
        taken[0 if rows.is_one else 1].append(best[2])
    return found


def _nearest(rows, least, order, free, others, best, n_jobs, verbose):
    """Return the nearest pair of free windows (distance, start, other start), or `best` if that is nearer.

    Ties: the first. Windows are processed in the given order, as long as their bound allows a nearer pair.
    """
    which = np.flatnonzero(free)
    which = which[np.argsort(order[which], kind="stable")]
    with progress(len(which), verbose, "motifs", "window") as count:
        for part in _parts(which, n_jobs):
            some = part[least[part] <= best[0]]
            if not len(some) and order is least:
                break  # all further windows have larger bounds
            for pairs in _shared(_nearest_each, rows, some, (best[0], others), n_jobs):
                best = min([best, *((d, i, j) for i, (d, j) in pairs if j >= 0)])
            count(len(part))
    return best


def farthest_windows(rows, count, n_jobs, verbose):
    """Return the windows whose nearest neighbor is farthest, at most `count` of them.

    Each entry has the distance to the nearest neighbor, the window's start, and the neighbor's start.
    """
    most, order, _ = _bounds_and_order(rows, n_jobs, verbose, above=True)
    rows, known, found = rows.prepared, Nearest(most, np.full(len(most), -1), np.zeros(len(most), np.int64)), []
    while len(found) < count:
        which = np.flatnonzero(free_windows(rows.places[0], [i for _, i, _ in found], rows.apart))
        which = which[np.argsort(-order[which], kind="stable")]
        best = np.inf, -1, -1  # (-distance, start, other start)
        with progress(len(which), verbose, "discords", "window") as done:
            for part in _parts(which, n_jobs):
                some = part[known.most[part] >= -best[0]]
                rest = known, -best[0]
                for learned in _shared(_nearest_of_far, rows, some[known.partner[some] < 0], rest, n_jobs):
                    for one in learned:
                        known.learn(*one, rows.apart)
                some = some[known.partner[some] >= 0]
                there = [(-known.most[i], i, known.partner[i]) for i in some.tolist()]
                best = min(there + [best] * (best[1] >= 0), default=best)
                done(len(part))
        if best[1] < 0:
            break
        found.append((-best[0], *best[1:]))
    return found


class Nearest(NamedTuple):
    """The nearest neighbor of each window as far as it is known."""

    most: np.ndarray  # upper bound of its distance
    partner: np.ndarray  # its start; -1: unknown
    lag: np.ndarray  # start of a near window minus the own start, as it was for the last neighboring window

    def learn(self, i, distance, j, is_nearest, reach):
        """Enter the distance of window i to window j, perhaps its nearest.

        Windows within `reach` of window i will try the same lag first.
        """
        self.lag[max(i - reach + 1, 0) : i + reach] = j - i
        self.most[i] = distance if is_nearest else min(distance, self.most[i])
        if is_nearest:
            self.partner[i] = j


def _nearest_of_far(rows, which, known, least):
    """Return entries (window, distance, start, is_nearest) of the windows `which`.

    If a window is found nearer than `least`, the search for the nearest one is skipped, because the window cannot be a
    discord; `is_nearest` is then False. A window without any allowed neighbor has no entry.
    """
    known = Nearest(*map(np.copy, known))
    found, everything = [], rows.places[1]
    for i in which:
        j, distance, is_nearest = i + int(known.lag[i]), np.inf, False
        if rows.allows(i, j):
            distance = rows.distance(i, j)
        if not distance < least:
            is_nearest = True
            nearer = rows.nearest(i, distance, everything)
            if nearer[1] >= 0:
                distance, j = nearer
            elif np.isinf(distance):
                continue
            least = max(least, distance)
        found.append((i, distance, j, is_nearest))
        known.learn(*found[-1], rows.apart)
    return found


def _parts(which, n_jobs):
    """Return batches of windows; the jobs share their results after each batch."""
    size = WINDOWS_EACH * count_jobs(n_jobs)
    return (which[k : k + size] for k in range(0, len(which), size))


def _shared(search, rows, which, rest, n_jobs):
    """Return the results of all jobs, each of which searches for a part of the windows `which`."""
    calls = [delayed(search)(rows, part.tolist(), *rest) for part in parts_for_jobs(which, n_jobs)]
    return in_jobs(calls, n_jobs, 0, "compare windows", "part")


def _nearest_each(rows, which, limit, free):
    """Return windows, each with distance and start of its nearest neighbor within the limit, or (inf, -1).

    Only the nearest pair of all is needed, so each result lowers the limit. Where the distance is symmetric, only later
    windows are compared.
    """
    found, after = [], rows.plan.metric._is_symmetric_with(rows.plan.w)  # weights of a path are the query's
    for i in which:
        distance, j = rows.nearest(i, limit, free, after=after)
        found.append((i, (distance, j)))
        limit = min(limit, distance)
    return found


if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ..utils._times import MetricLike, Sequences, Times


def motifs(
    sequence: Sequences,
    length: int,
    n: int = 1,
    metric: MetricLike = "euclidean",
    normalize: str | None = "zscore",
    *,
    other: Sequences | None = None,
    metric_params: dict[str, Any] | None = None,
    weight: ArrayLike | None = None,
    max_overlap: float = 0.0,
    nan_policy: str = "raise",
    max_gap: Any = None,
    times: Times | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Matches:
    """Find the pairs of windows that are nearest to each other, without a query.

    The first motif is the pair of windows with the lowest distance. The next one is the nearest pair whose windows do
    not overlap those before by more than `max_overlap`, and so on. The result is exact: bounds exclude only windows
    that cannot be part of it.

    Parameters
    ----------
    sequence : array-like of shape (n_timepoints,) or (n_timepoints, channels)
        The recording.
    length : int
        Samples of a window.
    n : int, default=1
        Largest number of motifs.
    metric : str, metric object or callable, default="euclidean"
        The distance of two windows.
    normalize : {None, "zscore", "mean", "minmax", "robust"}, default="zscore"
        How each window is normalized, per channel.
    other : array-like of shape (k,) or (k, channels), optional
        Another recording; pairs then have one window in each.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,) or (length, channels), optional
        Relative weights of a window's points.
    max_overlap : float in [0, 1], default=0.0
        Share of their length that two windows of one recording may have in common.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": no window contains one.
    max_gap : float or timedelta, optional
        Largest time step that does not count as a gap, as in `QuerySearcher`. No window spans a gap.
    times : array-like of shape (n_timepoints,), optional
        Sample times of the recording; with `other` a list of two. They define gaps and the times of the result;
        distances that use times count samples here.
    n_jobs : int, optional
        Number of joblib jobs. Results do not depend on it.
    verbose : int, default=0
        Above 0: progress bars on stderr.

    Returns
    -------
    Matches
        Two entries for each motif, the nearest motif first and the earlier window first. `query` is the motif's number,
        from 0, and `distance` that of its two windows, the lower one if it depends on which is the query. With `other`,
        `sequence` is 0 or 1. The `path` of an entry aligns the motif's other window with it.

    See Also
    --------
    discords : Windows that are far from all others.

    Notes
    -----
    Under the z-normalized Euclidean distance without weights, the correlations of all pairs are bounded along the
    diagonals of their matrix [1]_, in O(n^2) for any length; pairs that the bounds do not exclude are computed as in a
    search. Under an elastic distance each window is searched for like a query, up to the distance of the nearest known
    pair, at first that of the Euclidean motif. Other distances are computed for all pairs.

    References
    ----------
    .. [1] Zimmerman Z, et al. Matrix Profile XIV: scaling time series motif discovery with GPUs to break a quintillion
       pairwise comparisons a day and beyond. ACM SoCC 2019.
    .. [2] Mueen A, Keogh E, Zhu Q, Cash S, Westover B. Exact discovery of time series motifs. SIAM SDM 2009.

    Examples
    --------
    >>> from sktslib.search import motifs
    >>> recording = [0, 0, 3, 5, 3, 0, 1, 0, 0, 2, 0, 1, 6, 10, 6, 0, 0]
    >>> motifs(recording, 5).to_frame()[["query", "start", "end"]]
       query  start  end
    0      0      0    5
    1      0     10   15
    """
    rest = metric_params, weight, max_overlap, ("motifs", nan_policy, max_gap), times
    rows, *given = _rows(sequence, length, metric, normalize, other, *rest)
    n, n_jobs, verbose = validation.check_count(n, "n"), check_jobs(n_jobs), validation.check_verbose(verbose)
    found = nearest_pairs(rows, n, n_jobs, verbose)
    pairs = np.array([pair for _, *pair in found], np.int64).reshape(-1, 2)
    if rows.is_one:
        pairs.sort(axis=1)
    numbers = np.repeat(np.arange(len(found)), 2), None if rows.is_one else np.tile([0, 1], len(found))
    distance = np.repeat([d for d, *_ in found], 2)
    return _matches(rows, *numbers, pairs.ravel(), pairs[:, ::-1].ravel(), distance, *given)


def discords(
    sequence: Sequences,
    length: int,
    n: int = 1,
    metric: MetricLike = "euclidean",
    normalize: str | None = "zscore",
    *,
    other: Sequences | None = None,
    metric_params: dict[str, Any] | None = None,
    weight: ArrayLike | None = None,
    max_overlap: float = 0.0,
    nan_policy: str = "raise",
    max_gap: Any = None,
    times: Times | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Matches:
    """Find the windows that are farthest from all others: those whose nearest window is the farthest.

    Parameters
    ----------
    sequence : array-like of shape (n_timepoints,) or (n_timepoints, channels)
        The recording.
    length : int
        Samples of a window.
    n : int, default=1
        Largest number of discords; none overlaps an earlier one by more than `max_overlap`.
    metric, normalize, metric_params, weight, max_overlap, nan_policy, max_gap, n_jobs, verbose
        As in :func:`motifs`.
    other : array-like of shape (k,) or (k, channels), optional
        Another recording, such as a normal one; its windows are then the neighbors.
    times : array-like of shape (n_timepoints,), optional
        Sample times of `sequence`; with `other` and `max_gap` a list of two.

    Returns
    -------
    Matches
        The discords, farthest first. `distance` is that from the nearest window, with which `path` aligns the discord.

    See Also
    --------
    motifs : Pairs of windows that are near.

    Notes
    -----
    A window is excluded as soon as any other window is nearer to it than the best known discord is to its nearest one.
    To find such windows early, each is first compared with the window next to its neighbor's nearest one, and windows
    are tried in the order of their Euclidean discord distances. The result is exact.

    References
    ----------
    Keogh E, Lin J, Fu A. HOT SAX: efficiently finding the most unusual time series subsequence. IEEE ICDM 2005.

    Examples
    --------
    >>> from sktslib.search import discords
    >>> discords([0, 1, 2, 0, 1, 2, 0, 2, 1, 0, 1, 2, 0], 3).start
    array([6])
    """
    rest = metric_params, weight, max_overlap, ("discords", nan_policy, max_gap), times
    rows, *given = _rows(sequence, length, metric, normalize, other, *rest)
    n, n_jobs, verbose = validation.check_count(n, "n"), check_jobs(n_jobs), validation.check_verbose(verbose)
    distance, *starts = np.array(farthest_windows(rows, n, n_jobs, verbose), float).reshape(-1, 3).T
    return _matches(rows, None, None, *np.array(starts, np.int64), distance, *given)


def _rows(sequence, length, metric, normalize, other, metric_params, weight, max_overlap, gaps, times):
    """Return the `Rows` to compare, the sequences, their times, and the names of the channels."""
    owner, nan_policy, max_gap = gaps
    validation.check_names([nan_policy], ["raise", "omit"], "nan_policy", owner)
    omit = nan_policy == "omit"
    if other is None:
        sequence, times = unwrapped(sequence, times, "sequence", whole=True)
    else:
        (sequence, other), times = unwrapped([sequence, other], times, "recordings", whole=True)
    y = validation.as_series(sequence, "sequence", missing=omit)
    notice_column(sequence, y.T, "sequence")
    z = y if other is None else validation.as_series(other, "other", channels=len(y), like="'sequence'", missing=omit)
    m = validation.check_count(length, "length", low=2)
    for series, name in ((y, "sequence"), (z, "other")):
        if m > series.shape[1]:
            rule = f"be at most the number of samples of {name!r}, {series.shape[1]}"
            out = "Time runs along the first axis; a second recording is the parameter 'other'."
            raise validation.refused("length", rule, m, out)
    share = validation.check_number(max_overlap, "max_overlap", low=0.0, high=1.0)
    apart = max(m - floor(share * m), 1)  # windows that start so far apart overlap by at most that share
    if other is None and y.shape[1] - m < apart:
        warn(
            f"Nothing is found: 'sequence' has {y.shape[1]} samples, and two windows of 'length' {m} with "
            f"'max_overlap' {share:g} need {m + apart}. Use shorter windows, or a larger 'max_overlap'."
        )
    metric = copy(get_metric(metric, metric_params))
    metric = metric._named(names_of(sequence), names_of(other))
    resolve_mode(metric, "windows", normalize)
    for series, name in ((y, "'sequence'"), (z, "'other'")):
        check_domain(metric, series, name, normalize)
    whole = [fill(series) if np.isnan(series).any() else series for series in (y, z)]  # no window has a filled value
    metric = metric._fitted_to([normalize_values(series, np.ones_like(series), normalize) for series in whole])
    longest = gap_of(max_gap, owner)
    w = validation.as_weight(weight, m, len(y))
    plan = QueryPlan(metric, whole[0][:, :m], w, normalize=normalize, gaps=False)
    both = [(sequence, times)]
    if other is not None:
        both = zip((sequence, other), one_each(times, 2, "times", "sequences"), strict=True)
    given = [times_of(*one) for one in both]
    places = []
    for one, series, t, name in zip((sequence, other), (y, z), given, ("sequence", "other"), strict=False):
        notice_index(one, t, name)
        check_gap(max_gap, t, is_datetime(t), "times", owner)
        ty = validation.as_times(t, series.shape[1], "times")
        if ty is not None:
            notice_sampling(ty, [], longest)
        places.append(np.zeros(series.shape[1] - m + 1, bool))
        for start, end in runs(series, holes(ty, longest)):
            places[-1][start : max(end - m + 1, start)] = True
    if not all(map(np.any, places)):
        warn(
            f"Nothing is found: no window of 'length' {m} fits between the gaps and missing values of the recording. "
            "Use shorter windows, or a larger 'max_gap'."
        )
    y = owned(y, sequence)
    z = y if other is None else owned(z, other)
    rows = Rows(plan, *whole, m, apart, other is None, (places[0], places[-1]))
    return rows, (y, z), given, names_of(sequence)


def _matches(rows, number, sequence, start, partner, distance, series, times, channels):
    """Return the matches table of windows, each compared with the window that starts at `partner`."""
    listed, readers = sequence is not None, []
    own = np.zeros(len(start), int) if sequence is None else sequence
    for k, j in zip(own, partner, strict=True):
        x = np.ascontiguousarray(series[1 - k][:, j : j + rows.m])
        readers.append(CandidateReader(rows.plan._replace(x=x), ArraySource(series[k])))
    times = None if all(t is None for t in times) else times if listed else times[0]
    sources = MatchOrigins(readers, np.arange(len(readers)), own.tolist())
    rest = {"times": times, "channels": channels, "_source": sources}
    return Matches(start, start + rows.m, distance, number, sequence, **rest)

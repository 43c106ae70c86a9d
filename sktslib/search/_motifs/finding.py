"""Motifs and discords: what repeats in a recording, and what is like nothing else in it, without a query."""

from __future__ import annotations

from copy import copy
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from ...distances._metrics.lockstep import LockstepMetric
from ...distances._metrics.registry import get_metric
from ...distances._series import fill, normalize_values
from ...utils._given_times import is_datetime, notice_column, notice_index, times_of
from ...utils._plot.plot_data import names_of
from ...utils._sampling import check_gap, gap_of, holes, notice_sampling
from ...utils._warnings import warn
from ...utils.validation import (
    as_series,
    as_times,
    as_weight,
    check_count,
    check_jobs,
    check_names,
    check_number,
    check_verbose,
)
from .._comparison import Comparison, check_reach, resolve_mode
from .._query import owned
from .._results import Matches
from .._several import one_each
from .._sources import CandidateReader, Sources, Whole
from .nearest_pairs import farthest_windows, nearest_pairs
from .nearest_rows import Rows, windows_between

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ...utils._types import MetricLike, Sequences, Times

__all__ = ["discords", "motifs"]


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

    The first motif is the pair of windows with the least distance of all; the next one is the pair with the least
    distance of those whose windows do not overlap the ones before too much, and so on. The answer is exact: windows
    are left out where a bound says that they cannot belong to it.

    Parameters
    ----------
    sequence : array-like of shape (n_timepoints,) or (n_timepoints, channels)
        The recording.
    length : int
        Samples of a window.
    n : int, default=1
        How many motifs at most.
    metric : str, metric object or callable, default="euclidean"
        The distance of two windows.
    normalize : {None, "zscore", "mean", "minmax", "robust"}, default="zscore"
        How each window is normalized, per channel.
    other : array-like of shape (k,) or (k, channels), optional
        Another recording: pairs then have a window in each.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,) or (length, channels), optional
        Relative weights of a window's points.
    max_overlap : float in [0, 1], default=0.0
        Share of their length that two windows of one recording may have in common.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": lockstep distances compare the points that both windows have, as a
        search does; for all others no window holds a missing value.
    max_gap : float or timedelta, optional
        Longest step of the times that is not a gap, which no window spans; as of `QuerySearcher`.
    times : array-like of shape (n_timepoints,), optional
        Sample times of the recording; with `other` a list, those of both. They tell gaps and the times of the result:
        distances that use times count samples here.
    n_jobs : int, optional
        Jobs of joblib. No result depends on it.
    verbose : int, default=0
        Above 0: bars on stderr show how far it has come.

    Returns
    -------
    Matches
        Two entries for each motif, the earlier window first, nearest motif first: `query` is the motif's number, from
        0, and `distance` that of its two windows, the lower one where it depends on which is the query. With `other`,
        `sequence` is 0 or 1. The `path` of an entry aligns the motif's other window with it.

    See Also
    --------
    discords : Windows that are far from all others.

    Notes
    -----
    Under the z-normalized Euclidean distance without weights the correlations of all pairs are bounded along the
    diagonals of their matrix [1]_, O(n^2) whatever the length, and the pairs that the bounds leave are computed as a
    search computes them. Under an elastic distance each window is searched for as a query is, up to the distance of the
    nearest pair that is known; the first one is the Euclidean motif. Other distances are computed for all pairs.

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
    gaps = "motifs", nan_policy, max_gap
    rest = metric_params, weight, max_overlap, gaps, times
    rows, series, given, channels = _rows(sequence, length, metric, normalize, other, *rest)
    found = nearest_pairs(rows, check_count(n, "n"), check_jobs(n_jobs), check_verbose(verbose))
    found = [(distance, *sorted(pair)) if rows.is_one else (distance, *pair) for distance, *pair in found]
    starts = [start for _, *pair in found for start in pair]
    partners = [start for _, *pair in found for start in reversed(pair)]
    number = np.repeat(np.arange(len(found)), 2)
    sequence = None if rows.is_one else np.tile([0, 1], len(found))
    distance = np.repeat([d for d, *_ in found], 2)
    return _matches(rows, series, number, sequence, starts, partners, distance, given, channels)


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
        How many discords at most; none overlaps one before it too much.
    metric, normalize, metric_params, weight, max_overlap, nan_policy, max_gap, n_jobs, verbose
        As of :func:`motifs`.
    other : array-like of shape (k,) or (k, channels), optional
        Another recording, such as one that is known to be normal: then its windows are those that count as near.
    times : array-like of shape (n_timepoints,), optional
        Sample times of `sequence`; with `other` and `max_gap` a list, those of both.

    Returns
    -------
    Matches
        Farthest first: `distance` is that from the nearest window, with which `path` aligns the discord.

    See Also
    --------
    motifs : Pairs of windows that are near.

    Notes
    -----
    A window that is nearer to any other one than the farthest so far is from all is no discord, whatever else it is
    near to. So each is first compared with the window next to the one that a neighbor of it is near to, and those that
    are farthest by the Euclidean distance come first. The answer is exact.

    References
    ----------
    Keogh E, Lin J, Fu A. HOT SAX: efficiently finding the most unusual time series subsequence. IEEE ICDM 2005.

    Examples
    --------
    >>> from sktslib.search import discords
    >>> discords([0, 1, 2, 0, 1, 2, 0, 2, 1, 0, 1, 2, 0], 3).start
    array([6])
    """
    gaps = "discords", nan_policy, max_gap
    rest = metric_params, weight, max_overlap, gaps, times
    rows, series, given, channels = _rows(sequence, length, metric, normalize, other, *rest)
    found = farthest_windows(rows, check_count(n, "n"), check_jobs(n_jobs), check_verbose(verbose))
    distance, starts, partners = ([one[k] for one in found] for k in range(3))
    return _matches(rows, series, None, None, starts, partners, np.array(distance), given, channels)


def _rows(sequence, length, metric, normalize, other, metric_params, weight, max_overlap, gaps, times):
    """The windows that are compared, the times of what they lie in, and the names of the channels."""
    owner, nan_policy, max_gap = gaps
    check_names([nan_policy], ["raise", "omit"], "nan_policy", owner)
    omit = nan_policy == "omit"
    y = as_series(sequence, "sequence", missing=omit)
    notice_column(sequence, y.T, "sequence")
    z = y if other is None else as_series(other, "other", channels=len(y), like="'sequence'", missing=omit)
    m = check_count(length, "length", low=2)
    for series, name in ((y, "sequence"), (z, "other")):
        if m > series.shape[1]:
            raise ValueError(
                f"The 'length' parameter must be at most the number of samples of {name!r}, {series.shape[1]}. Got "
                f"{m}. Time runs along the first axis; a second recording is the parameter 'other'."
            )
    share = check_number(max_overlap, "max_overlap", low=0.0, high=1.0)
    apart = max(m - floor(share * m), 1)  # windows whose starts are so far apart have at most that share in common
    if other is None and y.shape[1] - m < apart:
        warn(
            f"Nothing is found: 'sequence' has {y.shape[1]} samples, and two windows of 'length' {m} with "
            f"'max_overlap' {share:g} need {m + apart}. Take shorter windows, or a larger 'max_overlap'."
        )
    metric = copy(get_metric(metric, metric_params))
    metric = metric._named(names_of(sequence), names_of(other))
    resolve_mode(metric, "windows", normalize)
    for series, name in ((y, "'sequence'"), (z, "'other'")):
        check_reach(metric, series, name, normalize)
    missing = omit and bool(np.isnan(y).any() or np.isnan(z).any())
    observed = missing and isinstance(metric, LockstepMetric)  # windows are compared by the points that they have
    whole = [fill(series) for series in (y, z)] if missing else [y, z]
    metric = metric._fitted_to([normalize_values(series, np.ones_like(series), normalize) for series in whole])
    longest = gap_of(max_gap, owner)
    how = Comparison(metric, whole[0][:, :m], as_weight(weight, m, len(y)), normalize=normalize, gaps=observed)
    given = [times_of(sequence, times)] if other is None else _both(sequence, other, times)
    places = []
    for one, series, t, name in zip((sequence, other), (y, z), given, ("sequence", "other"), strict=False):
        notice_index(one, t, name)
        check_gap(max_gap, t, is_datetime(t), "times", owner)
        ty = as_times(t, series.shape[1], "times")
        if ty is not None:
            notice_sampling(ty, [], longest)
        unseen = [] if observed else np.flatnonzero(np.isnan(series).any(axis=0))
        places.append(windows_between(series.shape[1], m, holes(ty, longest), unseen))
    if not all(places):
        warn(
            f"Nothing is found: no window of 'length' {m} fits between the gaps and missing values of the recording. "
            "Take shorter windows, or a larger 'max_gap'."
        )
    y = owned(y, sequence)
    z = y if other is None else owned(z, other)
    compared = (y, z) if observed or not missing else whole
    rows = Rows(how, *compared, m, apart, other is None, (places[0], places[-1]))
    return rows, (y, z), given, names_of(sequence)


def _both(sequence, other, times):
    """The times of two recordings, of a list of both."""
    first, second = one_each(times, 2, "times", "sequences")
    return [times_of(sequence, first), times_of(other, second)]


def _matches(rows, series, number, sequence, starts, partners, distance, times, channels):
    """The table of windows, each of which was compared with the one that starts at its partner."""
    listed = sequence is not None
    own = np.zeros(len(starts), int) if sequence is None else sequence

    def partner(k, start):
        there = series[1 - k] if listed else series[1]
        return np.ascontiguousarray(there[:, start : start + rows.m])

    readers = [
        CandidateReader(rows.how._replace(x=partner(k, j)), Whole(series[k], None))
        for k, j in zip(own, partners, strict=True)
    ]
    times = None if all(t is None for t in times) else times if listed else times[0]
    start = np.array(starts, np.int64)
    sources = Sources(readers, np.arange(len(readers)), own.tolist())
    return Matches(start, start + rows.m, distance, number, sequence, times, sources, None, channels)

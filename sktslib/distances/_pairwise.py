"""All distances between the series of two collections, block by block.

Each block is a separate call that any process can compute.
"""

from __future__ import annotations

from itertools import product
from math import ceil, isqrt
from typing import TYPE_CHECKING

import numpy as np

from ..utils._jobs import check_jobs, count_jobs, delayed, each_in_jobs
from ..utils._names import did_you_mean
from ..utils.validation import as_weight, check_verbose, shown
from ._collection import Timed, as_collection, by_length, channel_names, has_gaps, lengths_of, timed
from ._kernels import batch, lockstep, recurrence
from ._kernels.batch import BATCH
from ._kernels.dispatch import rows_of
from ._metrics.base import band
from ._metrics.elastic import ElasticMetric, Query, times_factor
from ._metrics.lockstep import SBD, LockstepMetric, common_weight, equal_lengths
from ._metrics.mixed import Mixed, of_both
from ._metrics.registry import CallableMetric, get_metric
from ._names import refuse_misplaced
from ._series import fill, full_weight, is_enough, resample, spread

# These numbers affect no result: pairs of points, and of series, per block; and blocks per job, fewer if all take the
# same time, because each has to be prepared.
CELLS = 2**30
ENTRIES = 2**18
SHARE = 8
EVEN = 2


if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from ..utils._times import MetricLike, Sequences

CALL = 2**18  # cells whose computation takes as long as the call for a pair


def pairwise_distances(
    X: Sequences,
    Y: Sequences | None = None,
    metric: MetricLike = "dtw",
    *,
    metric_params: dict[str, Any] | None = None,
    weight: ArrayLike | None = None,
    times: Sequence[Any] | None = None,
    nan_policy: str = "raise",
    n_jobs: int | None = None,
    verbose: int = 0,
    channels_first: bool | None = None,
    **unknown: Any,
) -> NDArray[np.float64]:
    """Compute the distances between all series of two collections.

    Parameters
    ----------
    X : array-like of shape (n_series, length) or (n_series, length, channels), list of series, or DataFrame
        The first collection; a list may hold series of different lengths. A DataFrame has one row per series: its
        points in columns, or whole series in its cells, one column per channel. With an index of levels (case, time) it
        has one series per case, and channels in columns.
    Y : like X, optional
        The second collection; None: `X` with itself.
    metric : str, metric object or callable, default="dtw"
        The distance.
    metric_params : dict, optional
        Parameters of the metric.
    weight : array-like of shape (length,), (length, channels) or (1, channels), optional
        Relative weights of the points of every series of `X`, which must then have one length, or only of their
        channels.
    times : list, optional
        Sample times of each series of `X`, for distances that use them; with `Y` a pair of lists. Default: the index of
        each series of a list; if one of two has no times, samples are counted for both.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit", for lockstep metrics: points missing in either series are ignored,
        and the rest is rescaled; with less than half of the weight observed the distance is infinite.
    n_jobs : int, optional
        Number of threads, as in joblib; results do not depend on it.
    verbose : int, default=0
        Above 0: a progress bar on stderr.
    channels_first : bool, optional
        Whether the channels come before time: arrays (n_series, channels, length), the layout of aeon and of the UCR
        archive, and lists of series (channels, length). None: they do not; an error or a warning appears if the series
        have one point, or all have more channels than points.
    **unknown
        Not accepted: the error says to pass parameters of the metric by `metric_params`.

    Returns
    -------
    ndarray of shape (n_series_X, n_series_Y)

    Raises
    ------
    ValueError
        If a series or a weight is not finite or has the wrong shape, or a parameter is out of its range;
        the message names it.
    TypeError
        If something has the wrong type, such as text instead of numbers.

    Examples
    --------
    >>> from sktslib.distances import pairwise_distances
    >>> pairwise_distances([[0, 1, 2], [0, 1, 4]], [[0, 0, 1, 2]], metric="dtw")
    array([[0.],
           [4.]])
    """
    if unknown or isinstance(Y, str):
        refuse_misplaced(pairwise_distances, Y, unknown)
    metric = get_metric(metric, metric_params)
    options = check_jobs(n_jobs), check_verbose(verbose)
    shape, blocks = pairwise_blocks(X, Y, metric, options, weight, nan_policy, channels_first, times=times)
    try:
        out = np.empty(shape)
    except MemoryError:
        raise MemoryError(
            f"The {shape[0]} by {shape[1]} distances take {8 * shape[0] * shape[1] / 1e9:.3g} GB, more than there is. "
            "Compare parts of 'X', or take nearest_neighbors, or a transformer of sktslib.neighbors that makes a graph "
            "of neighbors: they hold no matrix."
        ) from None
    for rows, columns, found in blocks:
        in_order = (np.diff(rows) == 1).all() and (np.diff(columns) == 1).all()  # writing to a view is faster
        view = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
        out[view if in_order else np.ix_(rows, columns)] = found
    return out


def pairwise_blocks(X, Y, metric, options, weight=None, nan_policy="raise", channels_first=None, times=None):
    """Return the shape of the distance matrix and an iterator of its blocks: row and column indices, and distances.

    `options` are the number of jobs and the verbosity.
    """
    if nan_policy not in ("raise", "omit"):
        hint = did_you_mean(nan_policy, ["raise", "omit"])
        raise ValueError(f"The 'nan_policy' parameter must be 'raise' or 'omit'. Got {shown(nan_policy)}.{hint}")
    omit = nan_policy == "omit"
    metric, X, Y, w = compared(metric, X, Y, weight, times, channels_first, missing=omit)
    mirrored = Y is X and w is None and metric.is_symmetric
    gaps = omit and (has_gaps(X) or has_gaps(Y))
    return (len(X), len(Y)), _distance_blocks(metric, X, Y, w, mirrored, gaps, *options)


def compared(metric, X, Y, weight, times, channels_first, *, missing=None):
    """Return the fitted metric, both validated collections, and the weights in the form that is compared.

    Without a second collection, or with the same object, the first one is used twice. Series get their `times` if the
    metric uses times. `missing` is that of `as_series`.
    """
    alone, same = Y is None, Y is None or Y is X
    tables = (one for one in (X, Y) if one is not None and type(one) is not np.ndarray)
    names = [channel_names(one, channels_first) for one in tables]
    given = X, X if same else Y
    X = as_collection(X, "X", missing=missing, channels_first=channels_first)
    rest = {"missing": missing, "channels_first": bool(channels_first)}
    Y = X if same else as_collection(Y, "Y", len(X[0]), **rest)
    metric = metric._named(*names) if any(names) else metric
    if metric._has_domain:
        metric._check_collection(X, "X")
        metric._check_collection([] if same else Y, "Y")
    if metric._warn_of_pair is not None:
        metric._warn_of_scale(X, Y)
    w = None if weight is None else collection_weight(weight, X)
    if metric._leaves_parameters:
        metric = metric._fitted_to(X, None if w is None else [spread(w, m) for m in lengths_of(X)])
    if times is not None or metric.uses_times:
        X, Y = timed(metric, given, (X, Y), times, same, alone)
    return metric, X, Y, w


def collection_weight(weight, X, *, one_length=False):
    """Return the relative weights for all series of a collection (channels, length), or None.

    For series of different lengths they are weights of channels, (channels, 1), unless `one_length` is required.
    """
    if weight is None:
        return None
    channels, lengths = len(X[0]), {*lengths_of(X)}
    if len(lengths) == 1:
        return as_weight(weight, X[0].shape[1], channels)
    if one_length or np.shape(weight) != (1, channels):
        way_out = "" if one_length else f", or one weight per channel, shape (1, {channels})"
        raise ValueError(
            f"'weight' needs series of one length in 'X'{way_out}. Got lengths {min(lengths)} to {max(lengths)}."
        )
    return as_weight(weight, 1, channels)


def _distance_blocks(metric, X, Y, w, mirrored, gaps, n_jobs, verbose):
    """Yield row and column indices and distances of each block; with `gaps`, missing values are left out.

    With `mirrored` both collections are the same, and half of the pairs are computed.
    """
    driver = driver_of(metric, X, Y, w, gaps)
    order = [np.arange(len(series)) for series in (X, Y)]
    if driver in (_by_lanes, _by_parts) or getattr(metric, "_pairs_by_length", False):  # keeps padding small
        order = [np.argsort(lengths_of(series), kind="stable") for series in (X, Y)]
    places = list(_blocks(metric, X, Y, order, mirrored, count_jobs(n_jobs)))
    calls = (
        delayed(distances_between)(
            driver, metric, w, [X[a] for a in rows], [Y[b] for b in columns], mirrored and bool(rows[0] == columns[0])
        )
        for rows, columns in places
    )
    blocks = each_in_jobs(calls, len(places), n_jobs, verbose, "pairwise distances", "block")
    for (rows, columns), found in zip(places, blocks, strict=True):
        yield rows, columns, found
        if mirrored and rows[0] != columns[0]:
            yield columns, rows, found.T


def _blocks(metric, X, Y, order, mirrored, jobs):
    """Yield row and column indices of each block; blocks are cut from all indices in the order `order`.

    With `mirrored` both collections are the same, and only blocks of the upper triangle are returned.
    """
    (rows, columns), (of_x, of_y) = order, (lengths_of(X), lengths_of(Y))
    m, n = max(of_x), max(of_y)
    cells = max(m, n) if isinstance(metric, LockstepMetric | SBD) else m * n
    share = SHARE if mirrored or m > min(of_x) or n > min(of_y) else EVEN
    pairs = max(1, min(ENTRIES, CELLS // cells, ceil(len(X) * len(Y) / (1 if jobs == 1 else share * jobs))))
    side = isqrt(pairs)
    if mirrored:
        height = width = side + -side % BATCH
    else:
        height = min(len(rows), max(1, side, pairs // len(columns)))
        width = pairs // height + -(pairs // height) % BATCH
    for begin in range(0, len(rows), height):
        for first in range(begin if mirrored else 0, len(columns), width):
            yield rows[begin : begin + height], columns[first : first + width]


def distances_between(driver, metric, w, X, Y, mirrored):
    """Return the matrix of distances (n_series_X, n_series_Y).

    With `mirrored` both are the same, and a driver need not fill in entries below the diagonal.
    """
    # Queries are prepared one by one, and lanes without a series of their own take as long as the others.
    if len(Y) < min(len(X), BATCH) and w is None and metric.is_symmetric and driver in (_by_bits, _by_lanes):
        return np.ascontiguousarray(distances_between(driver, metric, w, Y, X, False).T)
    out = np.zeros((len(X), len(Y)))
    groups = {} if w is None else by_length(X)
    if len(groups) < 2:
        driver(metric, X, Y, w if w is None else spread(w, X[0].shape[1]), mirrored, out)
        if mirrored and driver is not _by_terms:
            at = np.arange(len(out))
            below = at[:, np.newaxis] > at
            out[below] = out.T[below]
        return out
    for m, of in groups.items():
        out[of] = distances_between(driver, metric, spread(w, m), [X[a] for a in of], Y, False)
    return out


def counts_alone(metric, w):
    """Return whether a distance only counts points, so that bit-parallel words can compute it."""
    return metric._replaces is not None and w is None and metric.window is None


def driver_of(metric, X, Y, w, gaps=False):
    """Return the function that fills a matrix (n_series_X, n_series_Y) with the distances of series like X and Y."""
    if gaps or isinstance(X[0], Timed):
        return _by_pairs
    if isinstance(metric, Mixed):
        return _by_parts
    if hasattr(metric, "_pairwise"):
        return type(metric)._pairwise
    if isinstance(metric, ElasticMetric) and metric._has_lanes:
        return _by_bits if counts_alone(metric, w) else _by_lanes
    one_length = len({*lengths_of(X), *lengths_of(Y)}) == 1
    if metric._is_additive and one_length:
        return _by_terms
    if isinstance(metric, CallableMetric) and metric._is_compiled and one_length:
        return _by_windows
    return _by_pairs


def refuse_gaps(metric):
    """Refuse missing values for a metric that is not lockstep."""
    raise ValueError(
        f"nan_policy='omit' needs a lockstep metric. Got missing values and {metric.full_name}, which aligns series in "
        "its own way. Fill them, for example with numpy.interp, cut the series there, or, where NaN pads shorter "
        "series, give a list of arrays of their own lengths."
    )


# -------------------------------------------------------------------------------------------------------- any metric
def observed_distance(metric, x, w, y):
    """Return the distance of two series that may hold NaN, from the points observed in both.

    Lockstep sums are rescaled by the observed weight; if less than half of it is observed, the distance is infinite.
    """
    if isinstance(metric, Mixed) and not isinstance(x, Timed):
        return metric._summed(x, w, lambda part, a, v: observed_distance(part.metric, a, v, part.of(y)))
    gaps = np.isnan(x), np.isnan(y)
    if not (gaps[0].any() or gaps[1].any()):
        times = getattr(x, "times", None), getattr(y, "times", None)
        return metric._distance(x, w, y, *((None, None) if times[0] is None or times[1] is None else times))
    if not isinstance(metric, LockstepMetric):
        refuse_gaps(metric)
    length = min(x.shape[1], y.shape[1])
    missing = [resample(gap.astype(float), length) > 0 for gap in gaps]
    x, y = fill(x), fill(y)
    full = common_weight(x, w, y)
    seen = np.where(missing[0] | missing[1], 0.0, full)
    if not is_enough(seen, full):
        return np.inf
    if not metric.centered:
        x, _, y = equal_lengths(x, None, y)
    return metric._observed(x, full, seen, y, None, None)


def _by_pairs(metric, X, Y, w, mirrored, out):
    for a, x in enumerate(X):
        for b in range(a if mirrored else 0, len(Y)):
            out[a, b] = observed_distance(metric, x, w, Y[b])


def _by_windows(metric, X, Y, w, mirrored, out):
    series = np.array(Y)
    for a, x in enumerate(X):
        first = a if mirrored else 0
        out[a, first:] = metric._windows(x, w, series[first:], None, None)


def _by_parts(metric, X, Y, w, mirrored, out):
    for part, weights in metric._counted(len(X[0]), w):
        of_x, of_y = of_both(part, X, Y)
        driver = driver_of(part.metric, of_x, of_y, weights)
        out += part.weight * distances_between(driver, part.metric, weights, of_x, of_y, mirrored)


# --------------------------------------------------------------------------------------------------- lockstep metrics
def _by_terms(metric, X, Y, w, mirrored, out):
    w = full_weight(w, X[0])
    X = [metric._prepare(x, w) for x in X]
    series = np.ascontiguousarray(np.moveaxis(np.array([metric._prepare(y, w) for y in Y]), 0, -1))
    for x, row in zip(X, out, strict=True):
        lockstep.one_to_many(metric._record(), x, w, series, row)
        metric._finite(row)


# ---------------------------------------------------------------------------------------------------- elastic metrics
def _by_bits(metric, X, Y, w, mirrored, out):
    """Fill in the unweighted counts of unmatched points, by bit-parallel words."""
    series = recurrence.padded(Y)
    for m, of in by_length(X).items():
        record, x, w, points = queries_of(metric, [X[a] for a in of], w, 1)
        costs, from_on = np.zeros((len(of), len(Y))), np.array(of) * mirrored
        recurrence.accumulated_costs(record, rows_of(record, x, w, m), m, series, from_on, metric._replaces, costs)
        out[of] = metric._distance_of_cost(costs, points[0], np.array(lengths_of(Y)))


def _by_lanes(metric, X, Y, w, mirrored, out):
    """Fill in the distances of series computed together in vectors: with a band those of one length, else any."""
    lengths = np.array(lengths_of(Y))
    cells, count = max(lengths_of(X)) * lengths.max(), len(X) * len(Y) // (1 + mirrored)
    if count * (cells + CALL) < len(X) * (len(Y) + -len(Y) % batch.BATCH) * cells // (1 + mirrored):
        _by_pairs(metric, X, Y, w, mirrored, out)
        return
    features, alike = [metric._features(y) for y in Y], metric.window is not None or metric._needs_equal_lengths
    order = np.argsort(lengths, kind="stable")  # so that series in a block have similar lengths and little padding
    groups, parts = [range(len(X))], [order]
    if alike:
        groups, parts = by_length(X).values(), np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1)
    traits = (metric._traits(map(metric._features, X)), metric._traits(features)) if metric._has_factor else None
    for part, of in product(parts, map(np.array, groups)):
        n, sizes = int(lengths[part[-1]]), np.array(lengths_of(X))[of]
        borders = np.append(np.arange(0, len(part), batch.BATCH), len(part))
        # In a mirrored table the series already ascend in length.
        until = np.searchsorted(of, part[borders[1:] - 1] + 1) if mirrored else None
        record, x, weights, points = queries_of(metric, [X[a] for a in of], w, n)
        queries, costs = (record, sizes, *batch.padded(record, x, weights), points), np.zeros((len(of), len(part)))
        cells = (None, None) if metric.window is None else band(metric.window, metric.factor, n, points.shape[2])
        collection = batch.one_after_another([features[b] for b in part], lengths[part])
        batch.table_of_costs(queries, collection, borders, until, *cells, costs)
        if traits is not None:
            costs = times_factor(costs, metric._factor(traits[0][of, np.newaxis], traits[1][part]))
        for m in [] if metric._reports_cost else np.unique(sizes):
            some = np.flatnonzero(sizes == m)
            costs[some] = metric._distance_of_cost(costs[some], points[some[0], :, :m], lengths[part])
        out[of[:, np.newaxis], part] = costs


def queries_of(metric, X, w, n):
    """Return several series as one `Query` whose arrays have a first axis for the series; zeros pad shorter ones."""
    made = [metric._query(x, w, n) for x in X]
    x, points = (_side_by_side([query[k] for query in made]) for k in (1, 3))
    return Query(made[0].record, x, None if made[0].w is None else _side_by_side([q.w for q in made]), points)


def _side_by_side(arrays):
    """Stack arrays (..., length) into (count, ..., longest); zeros pad shorter ones."""
    out = np.zeros((len(arrays), *arrays[0].shape[:-1], max(a.shape[-1] for a in arrays)))
    for row, a in zip(out, arrays, strict=True):
        row[..., : a.shape[-1]] = a
    return out

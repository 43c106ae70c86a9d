"""Barycenters: the series in the middle of a collection under an elastic distance.

A barycenter is improved by averages over warping paths, or along the gradient of a soft minimum. Each method starts
from a series. It returns the best one found, and the objective at the start and after each iteration, which never
rises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import is_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..utils._jobs import check_jobs, count_jobs, parts_for_jobs, progress, shared
from ..utils._names import did_you_mean
from ..utils._parameters import SEED, validate_parameter_constraints
from ..utils.validation import (
    as_floats,
    as_series,
    as_weight,
    check_count,
    check_flag,
    check_names,
    check_number,
    check_verbose,
    refused,
    relative,
    shown,
)
from ._collection import as_collection, by_length, lengths_of
from ._kernels import batch
from ._kernels.compile import block_size
from ._kernels.dispatch import bounds_of
from ._kernels.soft import REGISTER as LANES
from ._metrics.base import Metric, band
from ._metrics.elastic import ElasticMetric
from ._metrics.mixed import Mixed
from ._metrics.registry import get_metric
from ._metrics.soft import SoftDTW
from ._pairwise import pairwise_distances
from ._series import full_weight

NOISE = 1e-12  # rounding error of a difference of sums, relative to the sums
NUMBERS = 2**20  # largest number of values per point that are stored at a time for a block of series


ROUNDING = 1e-9  # relative tolerance that is added to limits; they need not be exact
FEW_CELLS = block_size(2**11, 2**3)  # a limit is estimated for pairs with at least this number of cells


class Partners:
    """A collection that a series is compared with, prepared for kernels."""

    def __init__(self, metric, series):
        self.metric, self.series = metric, series
        self.lengths = np.array([y.shape[1] for y in series])
        self.longest = int(self.lengths.max())
        self.features = [metric._features(y) for y in series]
        self.summed = batch.one_after_another(series, self.lengths)
        as_they_are = all(map(is_, self.features, series))
        self.compared = self.summed if as_they_are else batch.one_after_another(self.features, self.lengths)
        # Otherwise some cells of the path are not pairs, or some pairs are not partners.
        self.plain = all(getattr(type(metric), of) is getattr(ElasticMetric, of) for of in ("_partners", "_listed"))
        self.limited = metric._is_monotone and metric._reports_cost and not metric._has_factor

    def sums(self, x, w, members, limits=None):
        """Return distances (k,), and for each series counts (k, m) and sums (k, channels, m) of the partners of `x`.

        Partners of a point are the points aligned with it. `limits` (k,) are guesses of the largest distances; good
        guesses make it faster.
        """
        limits = np.full(len(members), np.inf) if limits is None or not self.limited else limits * (1.0 + ROUNDING)
        ends = self.lengths[members]
        longest = int(ends.max())
        if self.metric.window is None and not self.metric._needs_equal_lengths:
            return self._sums(x, w, members, longest, limits)
        found = [np.empty((len(members), *of)) for of in ((), x.shape[1:], x.shape)]
        for n in np.unique(ends).tolist():
            some = np.flatnonzero(ends == n)
            for out, of in zip(found, self._sums(x, w, members[some], n, limits[some]), strict=True):
                out[some] = of
        return found

    def _sums(self, x, w, members, n, limits):
        metric, m = self.metric, x.shape[1]
        problem = metric._problem(x, w, self.series[members[self.lengths[members].argmax()]], None, None)
        strips = metric._in_strips(problem)
        if strips is None or any(strips[-2:]) or not self.plain or m * n > batch.MOVES:
            return self._one_by_one(x, w, members)
        values, begins, lengths = self.compared
        compared = values, begins[members], lengths[members]
        summed = self.summed[0], self.summed[1][members], len(x)
        lo_hi = band(metric.window, metric.factor, n, m)
        cost, *sums = batch.partner_sums(*strips[:4], compared, summed, *lo_hi, limits)
        return metric._reported_costs(cost, problem, [self.features[k] for k in members]), *sums

    def _one_by_one(self, x, w, members):
        k, (channels, m) = len(members), x.shape
        far, met, total = np.empty(k), np.zeros((k, m)), np.zeros((k, channels, m))
        for at, y in enumerate(self.series[k] for k in members):
            found = self.metric._distance(x, w, y, None, None)
            path, counts = self.metric._partners(found._problem)
            (i, j), counts = path[:, ::-1], None if counts is None else counts[::-1]  # as `soft` adds
            far[at], met[at] = found, np.bincount(i, counts, m)
            for row, v in zip(total[at], y[:, j], strict=True):
                row[:] = np.bincount(i, v if counts is None else counts * v, m)
        return far, met, total

    def limits_after(self, x, w, found, after):
        """Return guesses for the costs of series when `after` replaces `x`: the costs along the paths of `x`.

        `found` is the result of `sums` for `x`. The result is None if the guess is not possible or not worth the time.
        """
        if x.shape[1] * self.longest < FEW_CELLS or not self.limited or self.compared is not self.summed:
            return None
        record, _, weights, _ = self.metric._query(x, w, x.shape[1])
        facts, (far, counts, totals) = bounds_of(record), found
        if facts is None or not facts.squares:
            return None
        step = after - x if weights is None else weights * (after - x)
        squares = counts @ (step * (after + x)).sum(axis=0)
        return far + squares - 2.0 * (totals.reshape(len(far), -1) @ step.ravel())


def partners_of(metric, series):
    """Return a collection prepared for averages along paths; None if the metric needs other averages."""
    return Partners(metric, series) if isinstance(metric, ElasticMetric) and metric._center == "mean" else None


class Task(NamedTuple):
    """Collection, weights and stopping rules of the search for a barycenter."""

    metric: Metric
    series: Sequence  # (channels, n) each
    share: np.ndarray  # weight of each series in the objective; the weights add up to 1
    w: np.ndarray | None  # weights of the barycenter's points (channels, m)
    jobs: int
    for_each: Callable  # returns a function's results for all items, possibly in several jobs
    max_iter: int
    tol: float
    count: Callable  # counts iterations
    blocks: list | None = None  # used by `dba` if points move to means: slices of the series with their `Partners`

    def aligned(self, z, limits=None):
        """Return the distances of all series, and data for `moved` and `limits_after`; `limits` are guesses."""
        if self.blocks is None:
            return self.for_each(lambda y: self.metric._distance(z, self.w, y, None, None), self.series), None, None
        far, sums, found = np.empty(len(self.series)), [], []
        for of, partners in self.blocks:
            parts = parts_for_jobs(np.arange(of.stop - of.start), self.jobs)
            given = [(part, None if limits is None else limits[of][part]) for part in parts]
            some = self.for_each(lambda one, partners=partners: partners.sums(z, self.w, *one), given)
            some = [np.concatenate(one) for one in zip(*some, strict=True)]
            far[of] = some[0]
            sums.append(added(*some[1:], self.share[of]))
            found.append(some)
        return far, [sum(of) for of in zip(*sums, strict=True)], found

    def moved(self, z, far, sums):
        """Return `z` (channels, m) with each point moved to the best position for its partners in all series."""
        if sums is not None:
            return placed(z, *sums)
        partners = self.for_each(lambda found: self.metric._partners(found._problem), far)
        return among_medians(z, partners, self.series, self.share)

    def limits_after(self, x, found, after):
        """Return guesses for the costs of the series when `after` replaces `x`; None if they are not known."""
        if not found:
            return None
        limits = [p.limits_after(x, self.w, one, after) for (_, p), one in zip(self.blocks, found, strict=True)]
        return None if any(of is None for of in limits) else np.concatenate(limits)

    def tell(self, costs):
        """Count an iteration and show the mean distance; the start does not count."""
        self.count(int(len(costs) > 1), f"mean distance {costs[-1]:.8g}")


# ----------------------------------------------------------------------------------------------- averages along paths
def dba(task, z):
    """Improve a barycenter by DTW barycenter averaging (Petitjean et al. 2011): align, then move each point."""
    costs, best, limits = [], z, None
    if task.metric._center == "mean":
        parts = slices_of(len(task.series), z.size)
        task = task._replace(blocks=[(of, Partners(task.metric, task.series[of])) for of in parts])
    while True:
        far, sums, found = task.aligned(z, limits)
        cost = float(task.share @ far)
        if costs and not cost < costs[-1]:  # averages may not improve a cost that is not a sum of squares
            return best, costs
        best = z
        costs.append(cost)
        task.tell(costs)
        if len(costs) > task.max_iter or cost == 0 or (len(costs) > 1 and costs[-2] - cost <= task.tol * costs[-2]):
            return best, costs
        z = task.moved(z, far, sums)
        limits = task.limits_after(best, found, z)


def slices_of(count, numbers):
    """Return slices of `count` series, small enough to store `numbers` values for each series."""
    size = max(1, NUMBERS // numbers)
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


def added(counts, totals, share):
    """Return the weighted sums over series of the counts (n_series, m) and of the sums (n_series, channels, m)."""
    return share @ counts, (share @ totals.reshape(len(share), -1)).reshape(totals.shape[1:])


def placed(z, total, totals):
    """Return `z` (channels, m) with each point moved to the mean of its partners; points without partners stay.

    `total` (m,) is the weight of each point's partners, `totals` (channels, m) their weighted sum.
    """
    return np.divide(totals, total, out=z.copy(), where=total > 0)


def among_medians(z, partners, series, share):
    """Return `z` (channels, m) with each point moved to the median of its partners; points without partners stay.

    Medians are best if costs are absolute differences. `partners` holds the path of each series, and the weights of its
    pairs.
    """
    m = z.shape[1]
    at, values, weights = [], [], []
    for ((i, j), counts), y, v in zip(partners, series, share, strict=True):
        at.append(i)
        values.append(y[:, j])
        weights.append(np.full(len(i), v) if counts is None else v * counts)
    at, values, weights = np.concatenate(at), np.concatenate(values, axis=1), np.concatenate(weights)
    met = np.bincount(at, weights, m) > 0
    out = z.copy()
    for row, v in zip(out, values, strict=True):
        row[met] = medians(at, v, weights, m)[met]
    return out


def medians(at, values, weights, m):
    """Return weighted (lower) medians (m,) of groups of values, NaN for empty ones; `at` holds group numbers."""
    order = np.lexsort((values, at))
    at, values, weights = at[order], values[order], weights[order]
    out = np.full(m, np.nan)
    first = np.flatnonzero(np.diff(at, prepend=-1))
    for a, b in pairwise(np.append(first, len(at))):
        sums = np.cumsum(weights[a:b])
        half = 0.5 * sums[-1] * (1 - 1e-12)  # of two equal halves the lower value, in spite of rounding
        out[at[a]] = values[a + np.searchsorted(sums, half)]
    return out


# ------------------------------------------------------------------------------------------------------ soft minimum
def soft(task, z):
    """Improve a soft-DTW barycenter (Cuturi & Blondel 2017) by quasi-Newton steps along its gradient."""
    metric, w, shape = task.metric, full_weight(task.w, z), z.shape

    # Series of one length side by side, as long as the probabilities of all their cells take little memory.
    size = max(1, min(LANES, 16 * NUMBERS // (z.shape[1] * max(lengths_of(task.series)))))
    batches = [of[at : at + size] for of in by_length(task.series).values() for at in range(0, len(of), size)]

    def compare(x, some):
        """Return soft-DTW of x and each series of a batch, its gradient by x, and the mean cost of their alignments."""
        y = np.array([task.series[k] for k in some])
        costs, E = metric._expected([x] * len(y), task.w, y)
        center = x.mean(axis=1, keepdims=True)  # subtracted, so that a common offset costs no digits
        x, y = x - center, y - center
        count, partners = E.sum(axis=1, keepdims=True), y @ E
        own = w * (x * x * count + (y * y) @ E)
        cost = (own - 2 * w * x * partners).sum(axis=(1, 2)) - NOISE * own.sum(axis=(1, 2))
        return metric._unit * costs, 2 * w * (x * count - partners), np.maximum(cost, 0.0)

    def objective(flat):
        x, total = flat.reshape(shape), [0, 0, 0]
        for some in slices_of(len(batches), size * x.size):
            for of, found in zip(batches[some], task.for_each(lambda of: compare(x, of), batches[some]), strict=True):
                for v, *parts in zip(task.share[of], *found, strict=True):
                    total = [before + v * part for before, part in zip(total, parts, strict=True)]
        return total

    start, _, scale = objective(z.ravel())
    costs, scale = [float(start)], scale or 1.0
    task.tell(costs)
    if task.max_iter == 0:  # scipy would do one iteration
        return z, costs

    def scaled(flat):  # counted from 0 downwards, so that `tol` is relative for any unit and any gamma
        value, gradient, _ = objective(flat)
        return (value - start) / scale, gradient.ravel() / scale

    def note(intermediate_result):
        costs.append(float(start + intermediate_result.fun * scale))
        task.tell(costs)

    options = {"maxiter": task.max_iter, "ftol": min(task.tol, 1.0), "gtol": 1e-10}
    from scipy.optimize import minimize  # takes longer to import than the distances

    found = minimize(scaled, z.ravel(), jac=True, method="L-BFGS-B", callback=note, options=options)
    return found.x.reshape(shape), costs


if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ..utils._times import MetricLike, Sequences

METHODS = ("dba", "soft")
RULES = {"random_state": SEED}
CANDIDATES = 50  # series among which a medoid is searched for, as in the program of Petitjean et al.


def barycenter(
    X: Sequences,
    metric: MetricLike = "dtw",
    *,
    metric_params: dict[str, Any] | None = None,
    method: str = "dba",
    series_weight: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    init: ArrayLike | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    return_cost: bool = False,
    channels_first: bool | None = None,
) -> Any:
    """Return the series with the lowest mean distance to a collection: an average along warping paths.

    Parameters
    ----------
    X : array-like of shape (n_series, length) or (n_series, length, channels), or list of series
        The collection; a list may hold series of different lengths.
    metric : str or metric object, default="dtw"
        An elastic distance: for "dba" one with a warping path, for "soft" `SoftDTW`.
    metric_params : dict, optional
        Parameters of the metric.
    method : {"dba", "soft"}, default="dba"
        "dba": align the series, move each point to the average of its partners, and repeat until the mean distance no
        longer falls. "soft": quasi-Newton descent on the gradient of soft dynamic time warping.
    series_weight : array-like of shape (n_series,), optional
        Relative weights of the series; a series of weight 0 does not count.
    weight : array-like of shape (m,), (m, channels) or (1, channels), optional
        Relative weights of the barycenter's m points, or only of the channels, as for a query in every distance.
    init : {"medoid", "mean"} or array-like of shape (m,) or (m, channels), optional
        Initial series, which also sets the length. None and "medoid": the series with the lowest mean distance to the
        others (with `weight`, among those of its length; of more than 50, among 50 drawn at random). "mean": the
        weighted pointwise mean, for series of one length.
    max_iter : int, default=100
        Largest number of iterations.
    tol : float, default=1e-6
        Stop when the mean distance falls by less than this share of it.
    random_state : int, RandomState or None
        Draws the 50 candidates for the medoid.
    n_jobs : int, optional
        Number of threads, as in joblib; results do not depend on it.
    verbose : int, default=0
        Above 0: a progress bar on stderr with the iterations and the mean distance.
    return_cost : bool, default=False
        Whether to return the objective too.
    channels_first : bool, optional
        Whether the channels come before time, see :func:`pairwise_distances`, also in `init` and in the result.

    Returns
    -------
    barycenter : ndarray of shape (m,) or (m, channels)
        The barycenter, with as many dimensions as the series; with `channels_first` (channels, m).
    cost : ndarray of shape (n_iterations + 1,)
        Only with `return_cost`: the weighted mean of the distances from the barycenter (for "soft", of the values of
        ``SoftDTW(divergence=False)``) at the start and after each iteration; never rising, since the best is kept.

    Raises
    ------
    ValueError
        If a series or a weight is not finite or has the wrong shape, or a parameter is out of its range;
        the message names it.
    TypeError
        If something has the wrong type, such as text instead of numbers.

    Notes
    -----
    The barycenter is the first argument of the distance, because `weight` belongs to its points. With "dba" a point
    moves to the mean of its partners, which for DTW, ADTW and WDTW is optimal on the given paths; for ERP, MSM and TWED
    to the median of the points that diagonal moves align it with, which ignores the costs of skipped points; for LCSS
    and EDR to the mean of the points within `eps`. A point without partners does not move. A step that does not lower
    the mean distance is rejected.

    "soft" minimizes the mean of s(x, y), as Cuturi & Blondel do, whatever the metric's `divergence`: the divergence
    rewards a rough series. (They divide each term by its series' length; ``series_weight=1 / lengths`` does that.) The
    result is smoother than the series, even if all are equal.

    References
    ----------
    Petitjean F, Ketterlin A, Gancarski P. A global averaging method for dynamic time warping, with applications to
    clustering. Pattern Recognition 44(3), 2011.

    Cuturi M, Blondel M. Soft-DTW: a differentiable loss function for time-series. ICML 2017.

    Examples
    --------
    >>> from sktslib.distances import barycenter
    >>> X = [[0, 0, 2, 5, 0], [0, 1, 2, 0, 0, 0], [0, 1, 4, 5, 0]]
    >>> center, cost = barycenter(X, return_cost=True)
    >>> center.round(2), cost.round(2)
    (array([0.  , 0.  , 1.33, 4.  , 0.  ]), array([4.  , 2.22]))
    >>> barycenter(X, "soft_dtw", method="soft", metric_params={"gamma": 0.1}).shape
    (5,)
    """
    metric = get_metric(metric, metric_params)
    check_method(method, metric)
    n_jobs, verbose, return_cost = check_jobs(n_jobs), check_verbose(verbose), check_flag(return_cost, "return_cost")
    max_iter = check_count(max_iter, "max_iter", low=0)
    tol = check_number(tol, "tol", low=0)
    validate_parameter_constraints(RULES, {"random_state": random_state}, "barycenter")
    given, X = X, as_collection(X, "X", channels_first=channels_first)
    metric._check_collection(X, "X")
    flat = len(X[0]) == 1 and is_flat(given)
    share = shares(series_weight, len(X))
    X, share = [X[k] for k in np.flatnonzero(share > 0)], share[share > 0]
    metric = metric._fitted_to(X)
    z = first_guess(init, X, share, metric, weight, random_state, n_jobs, bool(channels_first), verbose)
    w = as_weight(weight, z.shape[1], z.shape[0])
    jobs = count_jobs(n_jobs)
    with progress(None, verbose, "barycenter", "iteration") as count, shared(jobs) as for_each:
        task = Task(metric, X, share, w, jobs, for_each, max_iter, tol, count)
        z, cost = (dba if method == "dba" else soft)(task, z)
    z = z[0].copy() if flat else (z if channels_first else z.T).copy()
    return (z, np.array(cost)) if return_cost else z


def is_flat(X):
    """Return whether series of one channel are given without a channel axis; data that is not in memory is not read."""
    axes = len(getattr(X, "shape", ()))
    return axes == 2 or (axes != 3 and (len(X[0].shape) if hasattr(X[0], "shape") else np.ndim(X[0])) == 1)


def check_method(method, metric):
    """Refuse a method that does not apply to the metric."""
    check_names([method], METHODS, "method")
    if method == "soft":
        if not isinstance(metric, SoftDTW):
            raise ValueError(
                f"method='soft' needs the metric 'soft_dtw', whose gradient it follows. Got {metric.full_name}; pass "
                "metric='soft_dtw', or use method='dba'."
            )
    elif not isinstance(metric, ElasticMetric):
        way_out = "use method='soft'" if isinstance(metric, SoftDTW) else "use 'dtw', 'msm' or another"
        if isinstance(metric, Mixed):
            way_out = (
                "its parts align their channels by themselves. Average the channels of each part by "
                "its own metric, all with one 'init'"
            )
        raise ValueError(
            f"method={method!r} needs an elastic metric with a warping path. Got {metric.full_name}; {way_out}."
        )
    if getattr(metric, "do_sign_norm", False):
        rule = "be False in a barycenter, whose own scale would be arbitrary"
        raise refused("The 'do_sign_norm' parameter of DTW", rule, "True; normalize the collection beforehand")


def shares(series_weight, n):
    """Return the weights of the series, scaled to a sum of 1 (n,)."""
    v = np.ones(n) if series_weight is None else as_floats(series_weight, "series_weight")
    if v.shape != (n,):
        got = f"shape {v.shape}; weights of points are the parameter 'weight'"
        raise refused("'series_weight'", f"have one value per series of 'X', shape ({n},)", got)
    v = relative(v, "series_weight", "series")
    return np.full(n, 1.0 / n) if v is None else v / v.sum()


def first_guess(init, X, share, metric, weight, random_state, n_jobs, channels_first, verbose):
    """Return the series (channels, m) to start from."""
    if init is None or (isinstance(init, str) and init == "medoid"):
        return X[medoid(X, share, metric, weight, random_state, n_jobs, verbose)].copy()
    if not isinstance(init, str):
        return as_series(init, "init", channels=len(X[0]), like="'X'", channels_first=channels_first).copy()
    if init != "mean":
        hint = did_you_mean(init, ["medoid", "mean"])
        raise ValueError(f"The 'init' parameter must be 'medoid', 'mean' or an array. Got {shown(init)}.{hint}")
    lengths = {*lengths_of(X)}
    if len(lengths) > 1:
        raise ValueError(
            f"init='mean' needs series of one length. Got lengths {min(lengths)} to {max(lengths)}; use init='medoid' "
            "or an array."
        )
    return sum(np.tensordot(share[of], np.array(X[of]), axes=1) for of in slices_of(len(X), X[0].size))


def medoid(X, share, metric, weight, random_state, n_jobs, verbose):
    """Return the index of the series with the least mean distance to the others."""
    among = np.arange(len(X))
    if weight is not None and np.shape(weight) != (1, len(X[0])):  # weights per channel fit any length
        m = len(np.atleast_1d(as_floats(weight, "weight")))
        among = np.flatnonzero(np.array(lengths_of(X)) == m)
        if not among.size:
            rule = "have one value per point of the barycenter, which begins as a series of 'X'"
            raise refused("'weight'", rule, f"{m}, the length of none of them; give 'init' as an array of that length")
    if len(among) > CANDIDATES:
        from sklearn.utils import check_random_state  # takes longer to import than the distances

        among = np.sort(check_random_state(random_state).choice(among, CANDIDATES, replace=False))
    if len(among) == 1:
        return among[0]
    others = None if len(among) == len(X) else X
    options = {"weight": weight, "n_jobs": n_jobs, "verbose": verbose, "channels_first": True}
    far = pairwise_distances([X[k] for k in among], others, metric, **options)
    return among[np.argmin(far @ share)]

"""Barycenters: the series that lies among a collection under an elastic distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state

from ..utils._jobs import count_jobs, progress, shared
from ..utils._names import did_you_mean
from ..utils.validation import (
    as_floats,
    as_weight,
    check_count,
    check_flag,
    check_jobs,
    check_names,
    check_number,
    check_verbose,
    relative,
    shown,
    sized_series,
)
from ._barycenter_methods import Blocks, Task, dba, slices_of, soft, subgradient
from ._collection import as_collection, chosen, lengths_of, part_size
from ._metrics.elastic import ElasticMetric
from ._metrics.mixed import Mixed
from ._metrics.registry import get_metric
from ._metrics.soft import SoftDTW
from ._pairwise import pairwise_distances

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ..utils._types import MetricLike, Sequences

METHODS = ("dba", "soft", "subgradient")
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
    """The series of least mean distance to a collection: an average that follows the series' warping.

    Parameters
    ----------
    X : array-like of shape (n_series, length) or (n_series, length, channels), or list of series
        The collection; a list may hold series of different lengths. What is not in memory (memory map, zarr, h5py,
        dask) is read by parts in each iteration, unless the method is "subgradient" or a point's new place a median.
    metric : str or metric object, default="dtw"
        An elastic distance: for "dba" and "subgradient" one with a warping path, for "soft" `SoftDTW`.
    metric_params : dict, optional
        Parameters of the metric.
    method : {"dba", "subgradient", "soft"}, default="dba"
        "dba": align, move each point among its partners, and again, until the mean distance falls no more.
        "subgradient": small steps towards one series after the other, in random order; slower, and sometimes a little
        better. "soft": quasi-Newton descent on the gradient of soft dynamic time warping.
    series_weight : array-like of shape (n_series,), optional
        Relative weights of the series; a series of weight 0 does not count.
    weight : array-like of shape (m,), (m, channels) or (1, channels), optional
        Relative weights of the barycenter's m points, or of the channels alone, as those of a query in every distance.
    init : {"medoid", "mean"} or array-like of shape (m,) or (m, channels), optional
        Where to begin, which also decides the length. None and "medoid": the series of least mean distance to the
        others (with `weight`, among those of its length; of more than 50, among 50 drawn at random). "mean": the
        weighted mean point by point, for series of one length.
    max_iter : int, default=100
        Iterations at most; epochs for "subgradient".
    tol : float, default=1e-6
        Stop when the mean distance falls by less than this share of it ("subgradient": in ten epochs).
    random_state : int, RandomState or None
        For "subgradient", and for the medoid of more than 50 series.
    n_jobs : int, optional
        Number of threads, as in joblib; no result depends on it.
    verbose : int, default=0
        Above 0: a bar on stderr counts the iterations and tells the mean distance after each.
    return_cost : bool, default=False
        Whether to return the objective too.
    channels_first : bool, optional
        Whether the channels come before time, see :func:`pairwise_distances`; then they do in `init` and in the result,
        too.

    Returns
    -------
    barycenter : ndarray of shape (m,) or (m, channels)
        Of as many dimensions as the series have; with `channels_first` (channels, m).
    cost : ndarray of shape (n_iterations + 1,)
        Only with `return_cost`: the weighted mean of the distances from the barycenter (for "soft", of the values of
        ``SoftDTW(divergence=False)``) at the beginning and after each iteration; the best so far, so it never rises.

    Raises
    ------
    ValueError
        If a series or a weight is not finite or has the wrong shape, or a parameter is out of its range;
        the message names it.
    TypeError
        If something is of the wrong type, such as text where numbers are meant.

    Notes
    -----
    Distances are those of the barycenter as the first argument, for `weight` belongs to its points. For "dba" a
    point's new place is the mean of its partners, which for DTW, ADTW and WDTW of values is the best one on the given
    paths; for ERP, MSM and TWED, whose costs are absolute differences, it is the median of the points it meets by a
    diagonal move, and what they charge for points left out is not part of it; for LCSS and EDR it is the mean of the
    points within `eps`. A point without partners stays. Whatever the metric, a step that does not lower the mean
    distance is not taken.

    "soft" minimizes the mean of s(x, y), as Cuturi & Blondel do, whatever the metric's `divergence`: the divergence
    rewards a rough series. (They divide each term by its series' length; ``series_weight=1 / lengths`` does that.) Its
    result is smooth, and smoother than the series even where all are equal.

    References
    ----------
    Petitjean F, Ketterlin A, Gancarski P. A global averaging method for dynamic time warping, with applications to
    clustering. Pattern Recognition 44(3), 2011.

    Schultz D, Jain B. Nonsmooth analysis and subgradient methods for averaging in dynamic time warping spaces. Pattern
    Recognition 74, 2018.

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
    rng = random_numbers(random_state)
    by_parts = method != "subgradient" and metric._center != "median"
    given, X = X, as_collection(X, "X", channels_first=channels_first, part=part_size(None) if by_parts else None)
    metric._check_sizes(X, X, ("X", "X"))
    flat = len(X[0]) == 1 and is_flat(given)
    share = shares(series_weight, len(X))
    X, share = chosen(X, np.flatnonzero(share > 0)), share[share > 0]
    metric = metric._fitted_to(X)
    z = first_guess(init, X, share, metric, weight, rng, n_jobs, bool(channels_first), verbose)
    w = as_weight(weight, z.shape[1], z.shape[0])
    jobs = count_jobs(n_jobs)
    with progress(None, verbose, "barycenter", "iteration") as count, shared(jobs) as for_each:
        blocks = Blocks(metric, X, z.size) if metric._center == "mean" and method != "soft" else None
        task = Task(metric, X, share, w, jobs, for_each, max_iter, tol, count, blocks)
        if method == "subgradient":
            z, cost = subgradient(task, z, rng)
        else:
            z, cost = (dba if method == "dba" else soft)(task, z)
    z = z[0].copy() if flat else (z if channels_first else z.T).copy()
    return (z, np.array(cost)) if return_cost else z


def is_flat(X):
    """Whether series of one channel are given without an axis for it; what is not in memory is not read."""
    axes = len(getattr(X, "shape", ()))
    return axes == 2 or (axes != 3 and (len(X[0].shape) if hasattr(X[0], "shape") else np.ndim(X[0])) == 1)


def check_method(method, metric):
    """Refuse a method that the metric has no use for."""
    check_names([method], METHODS, "method")
    if method == "soft":
        if not isinstance(metric, SoftDTW):
            raise ValueError(
                f"method='soft' needs the metric 'soft_dtw', whose gradient it follows. Got {metric.full_name}; pass "
                "metric='soft_dtw', or take method='dba'."
            )
    elif not isinstance(metric, ElasticMetric):
        way_out = "take method='soft'" if isinstance(metric, SoftDTW) else "take 'dtw', 'msm' or another"
        if isinstance(metric, Mixed):
            way_out = (
                "its parts align their channels by themselves. Take the barycenter of the channels of each part by "
                "its own metric, all with one 'init'"
            )
        raise ValueError(
            f"method={method!r} needs an elastic metric with a warping path. Got {metric.full_name}; {way_out}."
        )
    if getattr(metric, "do_sign_norm", False):
        raise ValueError(
            "The 'do_sign_norm' parameter of DTW must be False in a barycenter, whose own scale would be arbitrary. "
            "Got True; normalize the collection beforehand."
        )


def random_numbers(random_state):
    """The generator that a seed or a generator stands for."""
    try:
        if isinstance(random_state, bool):
            raise ValueError
        return check_random_state(random_state)
    except (ValueError, OverflowError):
        raise ValueError(
            "The 'random_state' parameter must be None, an integer in the range [0, 2**32) or a RandomState. Got "
            f"{shown(random_state)}."
        ) from None


def shares(series_weight, n):
    """The series' weights as shares of 1 (n,)."""
    v = np.ones(n) if series_weight is None else as_floats(series_weight, "series_weight")
    if v.shape != (n,):
        raise ValueError(
            f"'series_weight' must have one value per series of 'X', shape ({n},). Got shape {v.shape}; weights of "
            "points are the parameter 'weight'."
        )
    v = relative(v, "series_weight", "series")
    return np.full(n, 1.0 / n) if v is None else v / v.sum()


def first_guess(init, X, share, metric, weight, rng, n_jobs, channels_first, verbose):
    """The series (channels, m) to begin with."""
    if init is None or (isinstance(init, str) and init == "medoid"):
        return X[medoid(X, share, metric, weight, rng, n_jobs, verbose)].copy()
    if not isinstance(init, str):
        return sized_series(init, "init", len(X[0]), "'X'", channels_first=channels_first)[0].copy()
    if init != "mean":
        hint = did_you_mean(init, ["medoid", "mean"])
        raise ValueError(f"The 'init' parameter must be 'medoid', 'mean' or an array. Got {shown(init)}.{hint}")
    lengths = {*lengths_of(X)}
    if len(lengths) > 1:
        raise ValueError(
            f"init='mean' needs series of one length. Got lengths {min(lengths)} to {max(lengths)}; take init='medoid' "
            "or an array."
        )
    return sum(np.tensordot(share[of], np.array(X[of]), axes=1) for of in slices_of(len(X), X[0].size))


def medoid(X, share, metric, weight, rng, n_jobs, verbose):
    """Index of the series of least mean distance to the others."""
    among = np.arange(len(X))
    if weight is not None and np.shape(weight) != (1, len(X[0])):  # weights of channels alone fit any length
        m = len(np.atleast_1d(as_floats(weight, "weight")))
        among = np.flatnonzero(np.array(lengths_of(X)) == m)
        if not among.size:
            raise ValueError(
                f"'weight' must have one value per point of the barycenter, which begins as a series of 'X'. Got {m}, "
                "the length of none of them; give 'init' as an array of that length."
            )
    if len(among) > CANDIDATES:
        among = np.sort(rng.choice(among, CANDIDATES, replace=False))
    if len(among) == 1:
        return among[0]
    others = None if len(among) == len(X) else X
    how = {"weight": weight, "n_jobs": n_jobs, "verbose": verbose, "channels_first": True}
    far = pairwise_distances([X[k] for k in among], others, metric, **how)
    return among[np.argmin(far @ share)]

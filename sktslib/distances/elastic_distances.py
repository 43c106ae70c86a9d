"""Elastic distances: functions of two series that may be stretched in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..utils.validation import as_series, as_weight, check_names, check_number
from ._metrics.base import check_pair, checked_metric, pair_times
from ._metrics.dtw import DTW
from ._metrics.edit import LCSS, TWED
from ._metrics.lockstep import Minkowski

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

__all__ = ["dlp", "dtw", "lcss", "twed"]


def dlp(x: ArrayLike, y: ArrayLike, p: float = 2, *, weight: ArrayLike | None = None) -> float:
    """Compute the Minkowski distance of two arrays of equal shape.

    Parameters
    ----------
    x, y : array-like of shape (length,) or (length, channels)
        The two series.
    p : float, default=2
        Exponent, above 0.
    weight : array-like of shape (length,) or (length, channels), optional
        Relative weights.

    Returns
    -------
    float
        ``(sum w |x - y|^p)^(1/p)``.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> from sktslib.distances import dlp
    >>> dlp([0, 0], [3, 4])
    5.0
    """
    p = check_number(p, "p", low=0, open_low=True)
    a, b = as_series(x, "x"), as_series(y, "y")
    if a.shape != b.shape or np.ndim(x) != np.ndim(y):
        shapes = f"{np.shape(x)} and {np.shape(y)}"
        raise ValueError(f"'x' and 'y' must have the same shape. Got {shapes}; resample or reshape one of them.")
    return Minkowski(p)._distance(a, as_weight(weight, a.shape[1], a.shape[0]), b, None, None)


def dtw(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None, **kwargs: Any) -> Any:
    """Compute the dynamic time warping distance (Sakoe & Chiba 1978), divided by the length of `x`.

    Parameters
    ----------
    x : array-like of shape (m,) or (m, channels)
        The first series, the query.
    y : array-like of shape (n,) or (n, channels)
        The second series.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points.
    **kwargs
        ``dtw_type``, ``alpha``, ``dist``, ``do_sign_norm``, ``do_dist_norm`` (True here), ``window``, ``factor`` and
        ``tolerance`` as in :class:`DTW`; ``report``: "distance" (default), "cost_matrix" or "path".

    Returns
    -------
    Alignment, or ndarray
        A float that also unpacks: ``distance, cost_matrix, path = dtw(x, y)``. With `report` the cost matrix (m, n) or
        the path (2, K) alone.

    Raises
    ------
    ValueError
        If a series, a weight or a time is not finite or has the wrong shape, or a parameter is out of its range;
        the message names it.
    TypeError
        If something has the wrong type, such as text instead of numbers.

    References
    ----------
    Sakoe H, Chiba S. Dynamic programming algorithm optimization for spoken word recognition. IEEE Transactions on
    Acoustics, Speech, and Signal Processing 26(1), 1978.

    Examples
    --------
    >>> import numpy as np
    >>> from sktslib.distances import dtw
    >>> t = np.arange(0, 20 * np.pi, 0.1)
    >>> round(float(dtw(np.sin(t), np.sin(2 * t))), 10)
    0.2509773693
    >>> dtw([0, 1, 2], [0, 0, 1, 2], report="path")
    array([[0, 0, 1, 2],
           [0, 1, 2, 3]])
    """
    return _call(DTW, {"do_dist_norm": True, **kwargs}, "dtw", x, y, weight)


def lcss(x: ArrayLike, y: ArrayLike, eps: float = 1, **kwargs: Any) -> Any:
    """Compute the longest common subsequence as a distance (Vlachos et al. 2002).

    Parameters
    ----------
    x : array-like of shape (m,) or (m, channels)
        The first series, the query.
    y : array-like of shape (n,) or (n, channels)
        The second series.
    eps : float, default=1
        Points at most this far apart match.
    **kwargs
        ``weight`` of the query's points, ``window`` and ``factor`` as in :class:`LCSS`; ``report``: "distance"
        (default), "similarity", "cost_matrix" or "path".

    Returns
    -------
    Alignment, float or ndarray
        ``1 - L / min(m, n)``, a float that also unpacks into distance, cost matrix and path (the matched pairs). With
        `report` the similarity ``L / min(m, n)``, the cost matrix (m, n) or the path (2, K) alone.

    Raises
    ------
    ValueError
        If a series, a weight or a time is not finite or has the wrong shape, or a parameter is out of its range;
        the message names it.
    TypeError
        If something has the wrong type, such as text instead of numbers.

    References
    ----------
    Vlachos M, Kollios G, Gunopulos D. Discovering similar multidimensional trajectories. ICDE 2002.

    Examples
    --------
    >>> from sktslib.distances import lcss
    >>> lcss([0, 1, 2, 3], [0, 1, 9, 3], eps=0.1, report="similarity")
    0.75
    """
    weight = kwargs.pop("weight", None)
    return _call(LCSS, {"eps": eps, **kwargs}, "lcss", x, y, weight)


def twed(
    x: ArrayLike,
    y: ArrayLike,
    tx: ArrayLike | None,
    ty: ArrayLike | None,
    nu: float = 0.001,
    lmbda: float = 1.0,
    p: float = 2,
    report: str = "distance",
    *,
    weight: ArrayLike | None = None,
) -> Any:
    """Compute the time warp edit distance with stiffness (Marteau 2009).

    Parameters
    ----------
    x : array-like of shape (m,) or (m, channels)
        The first series, the query.
    y : array-like of shape (n,) or (n, channels)
        The second series.
    tx, ty : array-like of shape (m,) and (n,), or None
        Strictly increasing sample times; None: the sample index. Each series is padded with a point 0 at time 0.
    nu : float, default=0.001
        Stiffness, at least 0.
    lmbda : float, default=1.0
        Cost of a point left unmatched, at least 0.
    p : float, default=2
        Exponent of the norm over the channels.
    report : {"distance", "cost_matrix", "path"}, default="distance"
        The result to return.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points.

    Returns
    -------
    Alignment, or ndarray
        A float that also unpacks into distance, cost matrix and path; or one of the latter alone.

    Raises
    ------
    ValueError
        If a series, a weight or a time is not finite or has the wrong shape, or a parameter is out of its range;
        the message names it.
    TypeError
        If something has the wrong type, such as text instead of numbers.

    References
    ----------
    Marteau P-F. Time warp edit distance with stiffness adjustment for time series matching. IEEE PAMI 31(2), 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from sktslib.distances import twed
    >>> t = np.arange(0, 20 * np.pi, 0.1)
    >>> round(float(twed(np.sin(t), np.sin(2 * t), t, t, nu=1, lmbda=0)), 8)
    223.85651832
    """
    return _call(TWED, {"nu": nu, "lmbda": lmbda, "p": p, "report": report}, "twed", x, y, weight, tx, ty)


def _call(cls, parameters, owner, x, y, weight, tx=None, ty=None):
    """Check, call and wrap: one elastic function on two series."""
    report = parameters.pop("report", "distance")
    if report != "distance":
        reports = ["distance", "cost_matrix", "path"] + ["similarity"] * (cls is LCSS)
        check_names([report], reports, "report", owner)
    metric = checked_metric(cls, parameters, owner, ("report", "weight"))
    given = x, y
    x, y, w = check_pair(x, y, weight, metric=metric)
    if metric.uses_times or tx is not None or ty is not None:
        tx, ty = pair_times(metric, given, (tx, ty), (x, y))
    if report == "distance":
        d = metric._distance(x, w, y, tx, ty)
        if metric._warn_of_pair is not None:
            metric._warn_of_pair(d, x, y)
        return d
    problem = metric._problem(x, w, y, tx, ty)
    if report == "similarity":
        return float(metric._similarity(metric._cost(problem), problem.points, problem.shape[1]))
    return metric._path(problem) if report == "path" else metric._cost_matrix(problem)

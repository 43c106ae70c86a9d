"""Time distances: differences of two series in time, whatever their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..utils.validation import check_names
from ._metrics.base import check_pair
from ._metrics.dtw import DTW
from ._metrics.lockstep import TAM, instants, ratios

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["tam"]


def tam(
    x: ArrayLike, y: ArrayLike, report: str = "distance", *, weight: ArrayLike | None = None
) -> float | tuple[float, ...]:
    """Compute the time alignment measurement on the path of dynamic time warping (Folgado et al. 2018).

    Parameters
    ----------
    x : array-like of shape (m,) or (m, channels)
        The first series, the query.
    y : array-like of shape (n,) or (n, channels)
        The second series.
    report : {"distance", "ratios", "instants"}, default="distance"
        The result to return.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points, for the path.

    Returns
    -------
    float or tuple
        "distance": ``advance + delay + (1 - phase)`` of the ratios, in [0, 3]. "ratios": (advance, delay, phase) as
        shares of the possible steps. "instants": the numbers of steps (advance: only the query moves, delay: only the
        sequence moves, phase: both).

    Raises
    ------
    ValueError
        If a series, a weight or a time is not finite or has the wrong shape, or a parameter is out of its range;
        the message names it.
    TypeError
        If something has the wrong type, such as text instead of numbers.

    References
    ----------
    Folgado D et al. Time alignment measurement for time series. Pattern Recognition 81, 2018.

    Examples
    --------
    >>> from sktslib.distances import tam
    >>> tam([0, 0, 1, 2], [0, 1, 2, 2], report="instants")
    (1, 1, 2)
    """
    check_names([report], ["distance", "ratios", "instants"], "report", "tam")
    x, y, w = check_pair(x, y, weight, metric=TAM())
    if report == "distance":
        return TAM()._distance(x, w, y, None, None)
    path = DTW()._distance(x, w, y, None, None).path
    return instants(path) if report == "instants" else ratios(path, x.shape[1], y.shape[1])

"""Lockstep distances: functions of two series whose i-th points meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._metrics import lockstep

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "braycurtis_distance",
    "canberra_distance",
    "chebyshev_distance",
    "correlation_distance",
    "cosine_distance",
    "euclidean_distance",
    "hamming_distance",
    "kullback_leibler_distance",
    "mahalanobis_distance",
    "manhattan_distance",
    "minkowski_distance",
    "pearson_correlation",
    "short_time_series_distance",
    "sqeuclidean_distance",
]


def braycurtis_distance(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Compute the Bray-Curtis distance, ``sum w |x - y| / sum w |x + y|``; 0/0 is 0, ``x = -y`` is infinitely far.

    Parameters
    ----------
    x : array-like of shape (m,) or (m, channels)
        The first series, the query.
    y : array-like of shape (n,) or (n, channels)
        The second series. The longer of the two is interpolated to the length of the shorter.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points.

    Returns
    -------
    float
        The distance.

    Examples
    --------
    >>> from sktslib.distances import braycurtis_distance
    >>> braycurtis_distance([1, 1], [1, 3])
    0.3333333333333333
    """
    return lockstep.Braycurtis().distance(x, y, weight=weight)


def _documented(function):
    """Add the sections of the docstring above to that of a function (decorator)."""
    if function.__doc__ is not None:  # Python may strip docstrings
        head, examples = function.__doc__.split("    Examples\n")
        sections = braycurtis_distance.__doc__[braycurtis_distance.__doc__.index("    Parameters\n") :]
        function.__doc__ = f"{head}{sections.partition('    Examples')[0]}    Examples\n{examples}"
    return function


@_documented
def canberra_distance(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Compute the Canberra distance, ``sum w |x - y| / (|x| + |y|)``; a term 0/0 counts 0.

    Examples
    --------
    >>> from sktslib.distances import canberra_distance
    >>> canberra_distance([0, 1], [0, 3])
    0.5
    """
    return lockstep.Canberra().distance(x, y, weight=weight)


@_documented
def chebyshev_distance(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Compute the Chebyshev distance, ``max w |x - y|``.

    Examples
    --------
    >>> from sktslib.distances import chebyshev_distance
    >>> chebyshev_distance([0, 0], [3, 4])
    4.0
    """
    return lockstep.Chebyshev().distance(x, y, weight=weight)


@_documented
def correlation_distance(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Compute the correlation distance: one minus the correlation of the series; both constant: 0, one of them: 1.

    Examples
    --------
    >>> from sktslib.distances import correlation_distance
    >>> correlation_distance([1, 2, 3], [1, 1, 1])
    1.0
    """
    return lockstep.Correlation().distance(x, y, weight=weight)


@_documented
def cosine_distance(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Compute the cosine distance, one minus the cosine of the angle; both all zero: 0, one of them: 1.

    Examples
    --------
    >>> from sktslib.distances import cosine_distance
    >>> cosine_distance([1, 0], [0, 1])
    1.0
    """
    return lockstep.Cosine().distance(x, y, weight=weight)


@_documented
def euclidean_distance(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Compute the Euclidean distance, ``sqrt(sum w (x - y)^2)``.

    Examples
    --------
    >>> from sktslib.distances import euclidean_distance
    >>> euclidean_distance([0, 0], [3, 4])
    5.0
    """
    return lockstep.Euclidean().distance(x, y, weight=weight)


@_documented
def hamming_distance(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Compute the Hamming distance: the weighted share of points that differ.

    Examples
    --------
    >>> from sktslib.distances import hamming_distance
    >>> hamming_distance([1, 2, 3, 4], [1, 2, 0, 4])
    0.25
    """
    return lockstep.Hamming().distance(x, y, weight=weight)


@_documented
def kullback_leibler_distance(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Compute the Kullback-Leibler divergence of positive values, ``sum w (x log(x / y) - x + y)``.

    See Kullback & Leibler (1951).

    Values that are not positive are an error. Not symmetric: the query is `x`.

    Examples
    --------
    >>> from sktslib.distances import kullback_leibler_distance
    >>> round(kullback_leibler_distance([0.5, 0.5], [0.25, 0.75]), 6)
    0.143841
    """
    return lockstep.KullbackLeibler().distance(x, y, weight=weight)


def mahalanobis_distance(
    x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None, *, VI: ArrayLike | None = None
) -> float:
    """Compute the Mahalanobis distance, ``sqrt((x - y)' VI (x - y))``.

    Parameters
    ----------
    x : array-like of shape (m,) or (m, channels)
        The first series, the query.
    y : array-like of shape (n,) or (n, channels)
        The second series. The longer of the two is interpolated to the length of the shorter.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points.
    VI : array-like of shape (length * channels, length * channels), optional
        Inverse covariance, time outside and channels inside; None: the identity. Weights scale the differences.

    Returns
    -------
    float
        The distance.

    Examples
    --------
    >>> from sktslib.distances import mahalanobis_distance
    >>> mahalanobis_distance([0, 0], [3, 4], VI=[[4, 0], [0, 1]])
    7.211102550927978
    """
    return lockstep.Mahalanobis(VI).distance(x, y, weight=weight)


@_documented
def manhattan_distance(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Compute the Manhattan distance, ``sum w |x - y|``.

    Examples
    --------
    >>> from sktslib.distances import manhattan_distance
    >>> manhattan_distance([0, 0], [3, 4])
    7.0
    """
    return lockstep.Manhattan().distance(x, y, weight=weight)


def minkowski_distance(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None, p: float = 3) -> float:
    """Compute the Minkowski distance, ``(sum w |x - y|^p)^(1/p)``.

    Parameters
    ----------
    x : array-like of shape (m,) or (m, channels)
        The first series, the query.
    y : array-like of shape (n,) or (n, channels)
        The second series. The longer of the two is interpolated to the length of the shorter.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points.
    p : float, default=3
        Exponent, above 0.

    Returns
    -------
    float
        The distance.

    Examples
    --------
    >>> from sktslib.distances import minkowski_distance
    >>> minkowski_distance([0, 0], [3, 4], p=1)
    7.0
    """
    return lockstep.Minkowski(p).distance(x, y, weight=weight)


def pearson_correlation(
    x: ArrayLike, y: ArrayLike, beta: float | None = None, *, weight: ArrayLike | None = None
) -> float:
    """Compute the distance from Pearson's correlation r: ``2 (1 - r)``, or ``((1 - r) / (1 + r))^beta``.

    See Golay et al. (1998).

    Parameters
    ----------
    x : array-like of shape (m,) or (m, channels)
        The first series, the query.
    y : array-like of shape (n,) or (n, channels)
        The second series. The longer of the two is interpolated to the length of the shorter.
    beta : float, optional
        Exponent of the second form, above 0; None for the first.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points.

    Returns
    -------
    float
        The distance.

    Examples
    --------
    >>> from sktslib.distances import pearson_correlation
    >>> pearson_correlation([1, 2, 3], [1, 1, 1])
    2.0
    """
    return lockstep.PearsonCorrelation(beta).distance(x, y, weight=weight)


def short_time_series_distance(
    x: ArrayLike,
    y: ArrayLike,
    tx: ArrayLike | None = None,
    ty: ArrayLike | None = None,
    *,
    weight: ArrayLike | None = None,
) -> float:
    """Compute the short time series distance: Euclidean distance of the slopes (Moeller-Levet et al. 2003).

    Parameters
    ----------
    x : array-like of shape (m,) or (m, channels)
        The first series, the query.
    y : array-like of shape (m,) or (m, channels)
        The second series, of equal length.
    tx, ty : array-like of shape (m,), optional
        Strictly increasing sample times of each series; sample indices by default.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights; a slope takes the smaller one of its two points.

    Returns
    -------
    float
        The distance.

    Examples
    --------
    >>> from sktslib.distances import short_time_series_distance
    >>> short_time_series_distance([0, 1, 2], [0, 1, 1])
    1.0
    """
    return lockstep.ShortTimeSeries().distance(x, y, weight=weight, tx=tx, ty=ty)


@_documented
def sqeuclidean_distance(x: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Compute the squared Euclidean distance, ``sum w (x - y)^2``.

    Examples
    --------
    >>> from sktslib.distances import sqeuclidean_distance
    >>> sqeuclidean_distance([0, 0], [3, 4])
    25.0
    """
    return lockstep.SquaredEuclidean().distance(x, y, weight=weight)

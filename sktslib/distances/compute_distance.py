"""All distances of a dictionary between two series, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._metrics.base import check_pair, pair_times
from ._names import check_channels, read_entries

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike
    from pandas import DataFrame

__all__ = ["time_series_distance"]


def time_series_distance(
    dict_distances: dict[str, Any], x: ArrayLike, y: ArrayLike, tx: ArrayLike | None = None, ty: ArrayLike | None = None
) -> DataFrame:
    """Compute every distance of a dictionary between two series.

    Parameters
    ----------
    dict_distances : dict
        As made by `get_distance_dict`.
    x : array-like of shape (m,) or (m, channels)
        The first series, the query.
    y : array-like of shape (n,) or (n, channels)
        The second series.
    tx, ty : array-like of shape (m,) and (n,), optional
        Sample times, for entries with the parameter ``time: "true"``; sample indices by default.

    Returns
    -------
    pandas.DataFrame
        One row a distance (index: its name), with the column ``Distance``.

    Raises
    ------
    ValueError
        For an unknown group, function or parameter, with the valid names and the nearest; and where the series, their
        lengths or their times do not fit.
    TypeError
        If the dictionary or an entry has not the form that `get_distance_dict` gives it.

    Examples
    --------
    >>> from sktslib import get_distance_dict
    >>> from sktslib.distances.compute_distance import time_series_distance
    >>> cfg = get_distance_dict(["Euclidean Distance", "Chebyshev Distance"])
    >>> print(time_series_distance(cfg, [0, 0], [3, 4]))
                        Distance
    Euclidean Distance       5.0
    Chebyshev Distance       4.0
    """
    import pandas as pd

    given = x, y
    x, y, _ = check_pair(x, y, None)
    rows = {}
    for entry in read_entries(dict_distances):
        check_channels(entry.key, dict_distances[entry.family][entry.key], x.shape[0])
        entry.metric._check_collection([x], "x")
        entry.metric._check_collection([y], "y")
        times = pair_times(entry.metric, given, (tx, ty), (x, y)) if entry.timed else (None, None)
        rows[entry.key] = float(entry.metric._distance(x, None, y, *times))
    return pd.DataFrame({"Distance": list(rows.values())}, index=list(rows), dtype=float)

"""Cut a sequence at each repetition of a query by several distances at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..utils._jobs import progress
from ..utils._names import warn
from ..utils.validation import check_verbose
from ._segments.segmenter import QuerySegmenter
from .search_utils import each_search

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ..utils._times import Queries, Sequences

__all__ = ["time_series_segmentation"]


def time_series_segmentation(
    dict_distances: dict[str, Any],
    query: Queries,
    sequence: Sequences,
    tq: ArrayLike | None = None,
    ts: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> dict[str, Any]:
    """Cut a sequence at each repetition of a query by every distance of a dictionary.

    The cut is the cheapest of all segmentations by repetitions and background, see :class:`sktslib.QuerySegmenter`.

    Parameters
    ----------
    dict_distances : dict
        As made by `get_distance_dict`.
    query : array-like of shape (m,) or (m, channels)
        The query.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence.
    tq, ts : array-like of shape (m,) and (n,), optional
        Sample times. A fourth argument without `ts` is the weight vector, so that
        ``time_series_segmentation(dict_distances, query, sequence, weight)`` works.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points.
    n_jobs : int, optional
        Number of joblib jobs (threads by default) that share parts of a long sequence. Results do not depend on it.
    verbose : int, default=0
        Above 0: a bar on stderr counts the distances that are done.

    Returns
    -------
    dict
        The distance's name -> sorted sample indices at which repetitions start and end (an end is exclusive and may
        be n).

    Raises
    ------
    ValueError
        For an unknown group, function or parameter, with the valid names and the nearest; for an entry without a
        search; and if the query, the sequence, the times or the weights do not fit.
    TypeError
        If the dictionary or an entry does not have the form that `get_distance_dict` makes.

    Examples
    --------
    >>> from sktslib import get_distance_dict, time_series_segmentation
    >>> cfg = get_distance_dict(["Dynamic Time Warping"])
    >>> time_series_segmentation(cfg, [0, 1, 3, 1], [5, 5, 0, 1, 3, 1, 5, 0, 1, 1, 3, 1, 5])
    {'Dynamic Time Warping': array([ 2,  6,  7, 12])}
    """
    verbose, results = check_verbose(verbose), {}
    searches = each_search(dict_distances, query, sequence, tq, ts, weight)
    with progress(len(searches), verbose, "segmentation", "distance") as count:
        for entry, fitted, y, ty in searches:
            try:
                entry.metric._check_search("segmentation")
            except ValueError as error:  # with several distances, the others go on
                if len(searches) == 1:
                    raise
                warn(f"{entry.key!r} is left out. {error}")
            else:
                segmenter = QuerySegmenter(entry.metric, n_jobs=n_jobs).fit(**fitted)
                results[entry.key] = segmenter.segment(y.T, ty).boundaries
            count()
    return results

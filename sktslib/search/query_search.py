"""Search a sequence for a query by several distances at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..utils._given_times import given_times
from ..utils._jobs import progress
from ..utils.validation import check_verbose
from ._comparison import warn_of_sequences
from ._profile import Search
from ._searcher import QuerySearcher
from ._several import chosen, matches_of
from .search_utils import choice_of, each_search

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ..utils._types import Queries, Sequences

__all__ = ["time_series_search"]


def time_series_search(
    dict_distances: dict[str, Any],
    query: Queries,
    sequence: Sequences,
    tq: ArrayLike | None = None,
    ts: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    output: tuple[str, float] = ("number", 1),
    *,
    verbose: int = 0,
) -> dict[str, Any]:
    """Find the occurrences of a query in a sequence by every distance of a dictionary.

    Elastic distances find subsequences of any length; lockstep distances, and elastic ones without a path, find
    windows of the query's length.

    Parameters
    ----------
    dict_distances : dict
        As made by `get_distance_dict`.
    query : array-like of shape (m,) or (m, channels)
        The query.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence.
    tq, ts : array-like of shape (m,) and (n,), optional
        Sample times, numbers or datetimes. A fourth argument without `ts` is the weight vector, so that
        ``time_series_search(dict_distances, query, sequence, weight)`` works.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points.
    output : tuple, default=("number", 1)
        ("number", k): the k best occurrences (None: as many as fit); ("threshold", t): all of at most this distance;
        ("percentile", p): all of at most the p-th percentile of the profile.
    verbose : int, default=0
        Above 0: a bar on stderr counts the distances that are done. With one distance it goes from 0 to 1.

    Returns
    -------
    dict
        The distance's name -> dict with ``start`` and ``end`` (half-open ranges in samples, best first), ``path`` (a
        list of arrays (2, K): query indices, sequence indices; None for distances without a path), ``path_dist``
        (their distances), ``distance`` (the whole profile: of a subsequence search, one per end; windows, one per
        start) and, with `ts`, ``start_time`` and ``end_time``.

    Raises
    ------
    ValueError
        For an unknown group, function or parameter, with the valid names and the nearest; for an entry that has no
        search; and where the query, the sequence, the times or the weights do not fit.
    TypeError
        If the dictionary or an entry has not the form that `get_distance_dict` gives it.

    Examples
    --------
    >>> from sktslib import get_distance_dict, load_ecg_example, time_series_search
    >>> ecg = load_ecg_example()
    >>> cfg = get_distance_dict(["Dynamic Time Warping"])
    >>> found = time_series_search(cfg, ecg["query"], ecg["sequence"], weight=ecg["weight"], output=("number", 3))
    >>> found["Dynamic Time Warping"]["start"]
    array([ 29, 617, 220])
    """
    choice, verbose, results = choice_of(output), check_verbose(verbose), {}
    searches = each_search(dict_distances, query, sequence, tq, ts, weight)
    with progress(len(searches), verbose, "search", "distance") as count:
        for entry, fitted, y, ty in searches:
            ((how, _),) = QuerySearcher(entry.metric, min_length=None).fit(**fitted)._searches
            search = Search.of(how, y, ty)
            warn_of_sequences([how], [y])
            profile, given = search.profile(), None if ts is None else given_times(ts, "ts")
            matches = matches_of([chosen(search, profile, choice)], 1, None, given)
            results[entry.key] = result = {
                "start": matches.start,
                "end": matches.end,
                "path": [matches.path(k) for k in range(len(matches))] if entry.metric._has_path else None,
                "path_dist": matches.distance,
                "distance": profile.distance,
            }
            if given is not None:
                result |= {"start_time": matches.start_time, "end_time": matches.end_time}
            count()
    return results

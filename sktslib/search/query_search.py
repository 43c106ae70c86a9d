"""Search a sequence for a query by several distances at once."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..utils._jobs import delayed, in_jobs
from ..utils._times import Queries, Sequences, times_of
from ..utils.validation import check_verbose
from ._plan import warn_of_sequences
from ._profile import Search
from ._results import chosen, matches_of
from ._run import jobs_of
from ._searcher import QuerySearcher
from ._sources import ArraySource, CandidateReader
from .search_utils import choice_of, each_search, profile_by

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
    n_jobs: int | None = None,
    verbose: int = 0,
) -> dict[str, Any]:
    """Find the occurrences of a query in a sequence by every distance of a dictionary.

    Elastic distances find subsequences of any length; lockstep distances, and elastic ones without a path, find
    windows of the query's length.

    Parameters
    ----------
    dict_distances : dict
        A dictionary of distances, made by `get_distance_dict`.
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
        ("number", k): the k best matches (None: as many as fit); ("threshold", t): all with a distance of at most t;
        ("percentile", p): all up to the p-th percentile of the profile.
    n_jobs : int, optional
        Number of joblib jobs (threads by default) that share the distances, or parts of a long sequence. Only the last
        digits of profiles by Fourier transforms depend on it.
    verbose : int, default=0
        Above 0: a progress bar on stderr that counts the distances or, with one distance and several jobs, parts of the
        sequence.

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
        For an unknown group, function or parameter, with the valid names and the nearest; for an entry without a
        search; and if the query, the sequence, the times or the weights do not fit.
    TypeError
        If the dictionary or an entry does not have the form that `get_distance_dict` makes.

    Examples
    --------
    >>> from sktslib import get_distance_dict, load_ecg_example, time_series_search
    >>> ecg = load_ecg_example()
    >>> cfg = get_distance_dict(["Dynamic Time Warping"])
    >>> found = time_series_search(cfg, ecg["query"], ecg["sequence"], weight=ecg["weight"], output=("number", 3))
    >>> found["Dynamic Time Warping"]["start"]
    array([ 29, 617, 220])
    """
    choice, verbose = choice_of(output), check_verbose(verbose)
    searches = each_search(dict_distances, query, sequence, tq, ts, weight)
    given, count = None if ts is None else times_of(sequence, ts), len(searches)
    jobs = jobs_of(ArraySource(searches[0][2]), n_jobs, count) if searches else 1
    inner, outer = verbose if jobs > 1 else 0, verbose if jobs == 1 or count > 1 else 0
    calls = [delayed(_found)(*search, given, choice, jobs, inner) for search in searches]
    found = in_jobs(calls, n_jobs if jobs == 1 else 1, outer, "search", "distance")
    return {entry.key: one for (entry, *_), one in zip(searches, found, strict=True)}


def _found(entry, fitted, y, ty, given, choice, jobs, verbose):
    """Search with the distance of one entry, in several jobs; return the results as a dictionary."""
    (plan,) = QuerySearcher(entry.metric).fit(**fitted)._queries  # matches may have any length
    search = Search.of(plan, y, ty)
    warn_of_sequences([plan], [y])
    profile = profile_by(search, jobs, verbose)
    matches = matches_of([chosen(CandidateReader(search.plan, ArraySource(y, ty)), profile, choice)], 1, None, given)
    result = {
        "start": matches.start,
        "end": matches.end,
        "path": [matches.path(k) for k in range(len(matches))] if entry.metric._has_path else None,
        "path_dist": matches.distance,
        "distance": profile.distance,
    }
    return result if given is None else result | {"start_time": matches.start_time, "end_time": matches.end_time}

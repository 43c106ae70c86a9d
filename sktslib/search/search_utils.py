"""The steps of a search: profiles of one distance, and picking indices from a profile."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..distances._metrics.elastic import ElasticMetric
from ..distances._names import ENTRY_KEYS, check_channels, is_active, read_entries, read_entry
from ..utils import validation
from ..utils._jobs import progress
from ..utils._names import warn
from ..utils._times import Queries, Sequences, notice_column
from ..utils.validation import refused
from ._plan import QueryPlan, resolve_mode, warn_of_sequences, with_metric
from ._profile import Search, percentile_of
from ._pruning import Choice
from ._query import one_query
from ._run import jobs_of, profile_ranges
from ._selection import select
from ._sources import ArraySource

__all__ = ["elastic_search", "lockstep_search", "start_sequences_index"]

OUTPUTS = ("number", "threshold", "percentile")


def check_inputs(query, sequence, tq, ts, weight):
    """Return the validated input of a functional search: query, weights, sequence, and times as kernels read them.

    A fourth positional argument without `ts` is the weight vector, because query times alone mean nothing.
    """
    name = "weight"
    if tq is not None and ts is None:
        if weight is not None:
            raise ValueError(
                "'tq' was given without 'ts', and 'weight' as well: query times alone mean nothing. Give 'ts' too, or "
                "leave 'tq' out."
            )
        tq, weight, name = None, tq, "weight (the fourth argument, without ts)"
    x = validation.as_series(one_query(query, "query"), "query")
    y = validation.as_series(sequence, "sequence", channels=x.shape[0], like="'query'")
    notice_column(sequence, y.T, "sequence", "ts")
    w = validation.as_weight(weight, x.shape[1], x.shape[0], name=name)
    return x, w, y, validation.as_times(tq, x.shape[1], "tq"), validation.as_times(ts, y.shape[1], "ts")


def choice_of(output):
    """Return the `Choice` for an `output` argument."""
    if not isinstance(output, tuple | list) or len(output) != 2:
        rule, got = "be a pair such as ('number', 3), ('threshold', 0.5) or ('percentile', 5)", validation.shown(output)
        raise refused("'output'", rule, got, error=TypeError)
    what, value = output
    if what not in OUTPUTS:
        raise validation.unknown_name("kind", what, OUTPUTS, "'output'")
    owner = f"output=({what!r}, value)"
    if what == "number":
        return Choice(n_matches=validation.check_count(value, "value", none=True, owner=owner))
    if what == "threshold":
        return Choice(threshold=validation.check_number(value, "value", owner=owner))
    return Choice(percentile=validation.check_number(value, "value", low=0, high=100, owner=owner))


def check_times(entry, tx, ty):
    """Return the times of query and sequence if the metric compares them, else None for both.

    Times of only one of the two are an error.
    """
    if not entry.timed or not entry.metric.uses_times:
        return None, None
    if (tx is None) != (ty is None):
        alone, missing = ("query", "'ts' or 'times'") if ty is None else ("sequence", "'tq' or 'times' of fit")
        raise ValueError(
            f"{entry.metric.full_name} compares times: give those of both query and sequence, or of neither. Got those "
            f"of the {alone} alone; {missing} is missing."
        )
    return tx, ty


def each_search(dict_distances, query, sequence, tq, ts, weight):
    """Return each active entry of a dictionary, the arguments of `fit`, the sequence and its times.

    The metric of the entry searches the sequence with the query that `fit` gets.
    """
    found, entries = [], read_entries(dict_distances)
    skipped = [entry.key for entry in entries if entry.family == "time"]
    if skipped:
        got = validation.shown(skipped)
        fault = f"Time distances have no search: they compare the timing of two aligned series. Got {got}"
        if len(skipped) == len(entries):
            raise ValueError(f"{fault} alone. Compute them with time_series_distance, or add other distances.")
        warn(f"{fault}, which are left out. Set their 'use' to 'no', and compute them with time_series_distance.")
    entries = [entry for entry in entries if entry.family != "time"]
    x, w, y, tx, ty = check_inputs(query, sequence, tq, ts, weight)
    for entry in entries:
        check_channels(entry.key, dict_distances[entry.family][entry.key], len(x))
        tq, ts = check_times(entry, tx, ty)
        found.append((entry, {"X": x.T, "weight": None if w is None else w.T, "times": tq}, y, ts))
    return found


def one_search(dict_distances, family, mode, query, sequence, tq=None, ts=None, weight=None):
    """Return the search of a validated query and sequence with the only active entry of a family."""
    entry, given = one_entry(dict_distances, family)
    x, w, y, tx, ty = check_inputs(query, sequence, tq, ts, weight)
    check_channels(entry.key, given, x.shape[0])
    if mode == "subsequence" and not (isinstance(entry.metric, ElasticMetric) and entry.metric._has_path):
        raise ValueError(
            f"The function of {entry.key!r} is {entry.metric.full_name}, which has no warping path of accumulated "
            "costs: it compares windows. Search with time_series_search."
        )
    tx, ty = check_times(entry, tx, ty)
    (plan,) = with_metric(entry.metric, [QueryPlan(entry.metric, x, w, tx, resolve_mode(entry.metric, mode, None))])
    search = Search.of(plan, y, ty)
    warn_of_sequences([search.plan], [y])
    return search


def profile_by(search, jobs, verbose):
    """Return the profile of a search, computed by `jobs` jobs.

    A progress bar counts the parts of jobs, or the whole profile as one.
    """
    if jobs > 1:
        return profile_ranges(ArraySource(search.y, search.ty), [search.plan], jobs, verbose)[0]
    with progress(1, verbose, "search", "profile") as count:
        profile = search.profile()
        count()
    return profile


def one_entry(dict_distances, family):
    """Return the only active entry of a family, and its dictionary.

    The argument is that entry or a dictionary of distances.
    """
    if isinstance(dict_distances, dict) and any(key in ENTRY_KEYS for key in dict_distances):
        function = dict_distances.get("function", "dict_distances")
        key = function if isinstance(function, str) else getattr(function, "__name__", type(function).__name__)
        if not is_active(key, dict_distances):
            raise ValueError(f"The entry {key!r} must be in use here. Got 'use' set to 'no'; set it to 'yes'.")
        return read_entry(family, key, dict_distances), dict_distances
    found = [entry for entry in read_entries(dict_distances) if entry.family == family]
    if len(found) != 1:
        rule, got = f"hold exactly one active {family} distance here", f"{len(found)}: {[entry.key for entry in found]}"
        raise refused("'dict_distances'", rule, got, "Pass one entry, or set 'use' of the others to 'no'.")
    return found[0], dict_distances[family][found[0].key]


def elastic_search(
    dict_distances: dict[str, Any],
    query: Queries,
    sequence: Sequences,
    tq: ArrayLike | None = None,
    ts: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    *,
    verbose: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the subsequence profile of one elastic distance, with the accumulated costs.

    One thread fills the matrix of costs, column by column. `time_series_search` gives the profile without the matrix,
    by `n_jobs` jobs.

    Parameters
    ----------
    dict_distances : dict
        One entry, or a dictionary of distances with exactly one active elastic entry.
    query : array-like of shape (m,) or (m, channels)
        The query.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence.
    tq, ts : array-like of shape (m,) and (n,), optional
        Sample times; a fourth argument without `ts` is the weight vector.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points.
    verbose : int, default=0
        Above 0: a progress bar on stderr for the single profile.

    Returns
    -------
    distance : ndarray of shape (n,)
        Distance of the best candidate that ends at each sample.
    ac : ndarray of shape (m, n)
        Accumulated costs with free start and end in the sequence: ``m * n`` floats of memory.

    Raises
    ------
    ValueError
        For an unknown family, function or parameter, with the valid names and the nearest; for an entry without a
        search; and if the query, the sequence, the times or the weights do not fit.
    TypeError
        If the dictionary or an entry does not have the form that `get_distance_dict` makes.

    Examples
    --------
    >>> from sktslib import get_distance_dict
    >>> from sktslib.search.search_utils import elastic_search
    >>> distance, ac = elastic_search(get_distance_dict(["dtw"]), [0, 1], [5, 0, 1, 5])
    >>> int(distance.argmin()), ac.shape
    (2, (2, 4))
    """
    verbose = validation.check_verbose(verbose)
    search = one_search(dict_distances, "elastic", "subsequence", query, sequence, tq, ts, weight)
    problem = search.runs[0][1]
    with progress(1, verbose, "search", "profile") as count:
        distance, _, costs = search.plan.metric._subsequence_profile(problem, 1, problem.shape[1], matrix=True)
        count()
    return distance, np.ascontiguousarray(costs.T)


def lockstep_search(
    dict_distances: dict[str, Any],
    query: Queries,
    sequence: Sequences,
    weight: ArrayLike | None = None,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> NDArray[np.float64]:
    """Return the distance of the query to every window of its length.

    Parameters
    ----------
    dict_distances : dict
        One entry, or a dictionary of distances with exactly one active lockstep entry.
    query : array-like of shape (m,) or (m, channels)
        The query.
    sequence : array-like of shape (n,) or (n, channels)
        The sequence, at least as long as the query.
    weight : array-like of shape (m,) or (m, channels), optional
        Relative weights of the query's points.
    n_jobs : int, optional
        Number of joblib jobs (threads by default) that share parts of a long sequence. Only the last digits of
        distances by Fourier transforms depend on it.
    verbose : int, default=0
        Above 0: a progress bar on stderr that counts the parts of the jobs, or the single profile of one job.

    Returns
    -------
    ndarray of shape (n - m + 1,)
        One distance per start.

    Raises
    ------
    ValueError
        For an unknown family, function or parameter, with the valid names and the nearest; for an entry without a
        search; and if the query, the sequence, the times or the weights do not fit.
    TypeError
        If the dictionary or an entry does not have the form that `get_distance_dict` makes.

    Examples
    --------
    >>> from sktslib import get_distance_dict
    >>> from sktslib.search.search_utils import lockstep_search
    >>> lockstep_search(get_distance_dict(["euclidean"]), [0, 1], [0, 1, 1, 1])
    array([0., 1., 1.])
    """
    verbose = validation.check_verbose(verbose)
    search = one_search(dict_distances, "lockstep", "windows", query, sequence, weight=weight)
    jobs = jobs_of(ArraySource(search.y), n_jobs, 1)
    return profile_by(search, jobs, verbose).distance


def start_sequences_index(distance: Any, output: tuple[str, float] = ("number", 1), overlap: float = 1.0) -> Any:
    """Pick indices from a vector of distances, the lowest first, at least `overlap` samples apart.

    Parameters
    ----------
    distance : array-like of shape (n,)
        Distances; infinite ones are never picked.
    output : tuple, default=("number", 1)
        ("number", k): at most k (None: as many as fit); ("threshold", t): all of at most t; ("percentile", p): all of
        at most the p-th percentile of the finite distances.
    overlap : float, default=1.0
        Least difference of two picked indices, in samples.

    Returns
    -------
    ndarray of int
        Picked indices in the order of their distances.

    Raises
    ------
    ValueError
        If the distances are not one-dimensional, or `output` or `overlap` is not a valid value.
    TypeError
        If they are of the wrong type.

    Examples
    --------
    >>> from sktslib.search.search_utils import start_sequences_index
    >>> start_sequences_index([3.0, 1.0, 2.0, 0.0], ("number", 2), overlap=2)
    array([3, 1])
    """
    a = validation.as_floats(distance, "distance")
    if a.ndim != 1 or not a.size:
        raise ValueError(f"'distance' must be one-dimensional and not empty. Got shape {a.shape}.")
    wrong = np.isnan(a) | (a == -np.inf)
    if wrong.any():
        raise ValueError(
            f"'distance' must not hold NaN or -infinity. Got {int(wrong.sum())} of them, first at index "
            f"{int(wrong.argmax())}; use infinity where there is no distance."
        )
    choice = choice_of(output)
    threshold = choice.threshold if choice.percentile is None else percentile_of(a, choice.percentile)
    apart = int(min(np.ceil(validation.check_number(overlap, "overlap", low=0)), len(a)))
    start = np.arange(len(a))
    return select(a, start, start + max(apart, 1), n_matches=choice.n_matches, threshold=threshold)

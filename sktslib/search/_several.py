"""Several queries and several sequences: one search each, one table of matches."""

from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ..utils._times import Sampling
from ._profile import choose
from ._results import Matches
from ._sources import CandidateReader, Sources, Whole


def several(X):
    """Return the series of a list with an array in it, which is a list of series; None for anything else."""
    if not isinstance(X, list | tuple):
        return None
    arrays = [len(getattr(part, "shape", ())) > 0 for part in X]
    # What is neither array nor list is refused as the series that it should be, by its place.
    mixed = any(arrays) and not any(isinstance(part, tuple) for part in X)
    return list(X) if mixed else None


@contextmanager
def entry(name, k):
    """Add to an error the entry of a list of series that it is about; None if there is no list."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if k is None:
            raise
        own = TypeError if isinstance(error, TypeError) else ValueError
        raise own(f"In {name}[{k}]: {error}") from error


def refuse_several(X):
    """Refuse several sequences, for profiles, labels and segments belong to one."""
    if several(X) is not None:
        raise ValueError(
            f"'X' must be one sequence here. Got a list of {len(X)} arrays, which is a list of sequences: call with "
            "each of them, or pass numpy.asarray of it if its arrays are the time points of one sequence."
        )


def one_each(values, count, name, what):
    """Return a list with an entry for each of several series."""
    if values is None:
        return [None] * count
    if isinstance(values, Sampling):
        return [values] * count
    if not isinstance(values, list | tuple) or len(values) != count:
        got = f"{len(values)} entries" if isinstance(values, list | tuple) else type(values).__name__
        raise ValueError(f"{name!r} must be a list with one entry for each of the {count} {what}. Got {got}.")
    return list(values)


class Found(NamedTuple):
    """The matches of one query in one sequence; without a reader on the way from another process."""

    start: np.ndarray
    end: np.ndarray
    distance: np.ndarray
    reader: CandidateReader | None
    version: np.ndarray  # of the query


def within(found, threshold):
    """Return the matches whose distance is at most the threshold."""
    near = found.distance <= threshold
    return Found(found.start[near], found.end[near], found.distance[near], found.reader, found.version[near])


def chosen(reader, profile, choice):
    """Return the matches chosen from the profile of a search."""
    start, end, _, distance, version = choose(reader, profile._candidates, choice)
    return Found(*reader.centered(start, end, version), distance, reader, version)


def matched(search, choice):
    """Return the matches chosen in a search of a sequence in memory."""
    return chosen(CandidateReader(search.plan, Whole(search.y, search.ty)), search.profile(choice.rule), choice)


def matches_of(
    found,
    n_queries,
    n_matches,
    times,
    classes=None,
    channels=None,
    thresholds=None,
    *,
    calibrations=None,
    listed=False,
    by_time=False,
    name=None,
):
    """Return the matches table of what was found of each query; `found` has all queries of each sequence in turn.

    Parameters
    ----------
    found : list of Found
    n_matches : int or None
        How many of each query count.
    times : array, SparseTimes, list of arrays or None
        Of the sequence, or of each.
    classes : ndarray of shape (n_queries,), optional
        Names of the queries.
    channels : list of str, optional
        Their names.
    thresholds : ndarray of shape (n_queries,), optional
        NaN for a query without.
    calibrations : list of Calibration, optional
        Of each of what was found, or of each query.
    listed : bool
        Whether the sequences came as a list.
    by_time : bool
        Whether they are in order of time, not the best first.
    name : str, optional
        What the times are called.
    """
    which = np.repeat(np.arange(len(found)), [len(one.start) for one in found])
    start, end, distance, version = (np.concatenate([one[k] for one in found]) for k in (0, 1, 2, 4))
    sequence, query = np.divmod(which, n_queries)
    if by_time:
        order = np.lexsort((query, end, start))
    elif n_queries == 1 and not listed:
        order = np.argsort(distance, kind="stable")
    else:
        order = np.lexsort((start, sequence, query, distance))
    if n_matches is not None:
        rank = np.empty(len(order), np.int64)  # of each among those of its query
        for q in np.unique(query):
            own = order[query[order] == q]
            rank[own] = np.arange(len(own))
        order = order[rank[order] < n_matches]
    sequences = [k // n_queries for k in range(len(found))]
    sources = Sources([one.reader for one in found], which[order], sequences, version[order], classes)
    shares = sources.shares(start[order], end[order])
    by = None if shares is None else sources.readers[0].plan.by_channel
    rates = [None] * 3
    if calibrations is not None:
        calibrations = calibrations * (len(found) // len(calibrations))
        known = [one.rates(some.distance) for one, some in zip(calibrations, found, strict=True)]
        rates = np.concatenate(known, axis=1)[:, order]
    return Matches(
        start[order],
        end[order],
        distance[order],
        query[order] if n_queries > 1 else None,
        sequence[order] if listed else None,
        times,
        sources,
        None if classes is None else classes[query[order]],
        channels,
        shares.sign if by is not None and by.mirrored else sources.signs,
        *rates,
        thresholds,
        None if by is None else shares.votes,
        None if by is None else shares.distance,
        shares.lag if by is not None and by.tolerance else None,
        name,
    )

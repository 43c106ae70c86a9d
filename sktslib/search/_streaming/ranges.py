"""Searches of one sequence in ranges of it, each of which may be another thread's or another process's work."""

from itertools import pairwise

import numpy as np
from joblib import delayed

from ...utils._jobs import count_jobs, in_jobs, progress
from .._comparison import check_room
from .._profile import Choice, Search
from .._selection import Profile
from .._several import Found, chosen
from .parts import QueryPart, first_of, joined

LEAST = 2**16  # samples of a range: shorter ones are not worth their own column
EACH = 4  # ranges of each job, so that one that is late is not waited for long


def jobs_within(n_jobs, n, calls):
    """How many jobs one sequence of n samples keeps busy, where there are so many other calls."""
    if n < 2 * LEAST:
        return 1
    jobs = count_jobs(n_jobs)
    return jobs if calls < jobs else 1


def cut(n, jobs, lead, piece=1):
    """Where the ranges of n samples begin and end, at multiples of a piece."""
    least = max(LEAST, 2 * lead)
    count = min(EACH * jobs, n // least)
    count = max(count - count % jobs if count > jobs else count, 1) if jobs > 1 else 1
    inner = {round(k * n / count / piece) * piece for k in range(1, count)}
    return sorted({0, n, *(at for at in inner if 0 < at < n)}) if n else [0, 0]


def search_ranges(source, searches, jobs=1, verbose=0):
    """What each search finds in a sequence, in ranges for so many jobs."""
    searches, found = checked(source, searches), []
    if jobs == 1 and not any(source.goes_by_chunks(*search) for search in searches):
        return [chosen(source.reader(how), _of_whole(source, how, choice.rule), choice) for how, choice in searches]
    for (how, choice), one in zip(searches, _results(source, searches, jobs, verbose, "search"), strict=True):
        if one is None:  # a limit came out too low
            one = joined(run(source, [(how, choice)], 0, len(source)), source)
        found.append(as_found(one, how, choice, source))
    return found


def as_found(result, how, choice, source):
    """What was found: the matches that parts give together, or those of their profile."""
    reader = source.reader(how)
    if isinstance(result, Profile):
        return chosen(reader, result, choice)
    version, start, end = result[2:].astype(np.int64)
    return Found(*reader.centered(start, end, version), result[1], reader, version)


def profile_ranges(source, queries, jobs=1, verbose=0):
    """The profile of each query over a sequence, in ranges for so many jobs."""
    searches = checked(source, [(how, Choice()) for how in queries])
    if jobs == 1 and source.in_memory:
        return [_of_whole(source, how) for how, _ in searches]
    return _results(source, searches, jobs, verbose, "profile", whole=True)


def _of_whole(source, how, rule=None):
    """The profile of one query over a sequence in memory, at once."""
    return Search(how, source.y, source.ty).profile(rule)


def checked(source, searches):
    """The searches as the sequence allows them."""
    for how, _ in searches:
        if how.mode == "windows":
            check_room(how.shortest, len(source))
    return searches if source.timed else [(how.untimed, choice) for how, choice in searches]


def _results(source, searches, jobs, verbose, name, *, whole=False):
    """What all parts of each search give together."""
    if source.has_engine:
        parts = source.parts(searches, verbose, name, whole)
        return [joined([each[k] for each in parts], source) for k in range(len(searches))]
    n = len(source)
    ranges = list(pairwise(cut(n, jobs, n - first_of(searches, n), source.piece)))
    if len(ranges) == 1:
        with progress(-(-n // source.size), verbose, "search", "chunk") as count:
            parts = [run(source, searches, 0, n, whole, count)]
    else:
        calls = [delayed(run)(source, searches, a, b, whole) for a, b in ranges]
        parts = in_jobs(calls, jobs, verbose, name, "part")
    return [joined([each[k] for each in parts], source) for k in range(len(searches))]


def run(source, searches, begin, end, whole=False, count=None):
    """The part of each search that samples [begin, end) give."""
    first = first_of(searches, begin)
    parts = [QueryPart(how, choice, begin, first, whole=whole) for how, choice in searches]
    readers = [source.reader(how) for how, _ in searches]
    for y, ty, _ in source.chunks(first, end):
        for part, reader in zip(parts, readers, strict=True):
            part.take(y, ty, reader)
            part.feed.forget(part.feed.seen)
        if count is not None:
            count()
    return parts

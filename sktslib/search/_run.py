"""Searches of sequences, shared out among jobs.

A call searches one sequence for one query, or for all where it is read by chunks or divided among jobs. Its sequence is
searched as a whole, by chunks, or in ranges of which each is the work of a job.
"""

from itertools import pairwise

import numpy as np
from joblib import delayed

from ..utils._jobs import count_jobs, in_jobs, jobs_are_threads, progress, shared
from . import _partial_search
from ._chunks import entry
from ._partial_search import as_found, first_of, joined, run_part
from ._plan import check_lengths, check_room, warn_of_sequences
from ._profile import Choice, Search, prunes, window_profile
from ._results import matched
from ._selection import Profile

EACH = 4  # ranges of each job, so that one that is late is not waited for long
LEADS = 64  # times its lead that a range takes at least, but for one of each job


def jobs_within(n_jobs, n, calls):
    """Return how many jobs one sequence of n samples keeps busy where it is one of `calls` calls."""
    if n < 2 * _partial_search.LEAST:
        return 1
    jobs = count_jobs(n_jobs)
    return jobs if calls < jobs else 1


def cut(n, jobs, lead, piece=1):
    """Return the edges of the ranges into which n samples are divided, at multiples of `piece`."""
    count = min(EACH * jobs, n // max(_partial_search.LEAST, 2 * lead), max(n // max(LEADS * lead, 1), jobs))
    count = max(count - count % jobs if count > jobs else count, 1) if jobs > 1 else 1
    inner = {round(k * n / count / piece) * piece for k in range(1, count)}
    return sorted({0, n, *(at for at in inner if 0 < at < n)}) if n else [0, 0]


def search_ranges(source, searches, jobs=1, verbose=0):
    """Return what each search finds in a sequence, in ranges for `jobs` jobs."""
    searches = checked(source, searches)
    if _is_cut(source, searches, jobs):
        return _by_parts(source, searches, jobs, verbose)
    found = []
    for plan, choice in searches:
        if source.goes_by_chunks(plan, choice):
            found += _by_parts(source, [(plan, choice)], jobs, verbose)
        else:  # several threads search all of it together where no whole profile is held
            found.append(matched(Search(plan, source.y, source.ty), choice, source, jobs))
    return found


def _is_cut(source, searches, jobs):
    """Return whether a sequence is read by chunks or each job searches a range of it.

    Where windows are left out, threads search all of it together: each knows at once a limit that another one finds.
    """
    if not source.in_memory or jobs == 1:
        return not source.in_memory
    return not (jobs_are_threads() and all(prunes(plan, choice.rule, len(source)) for plan, choice in searches))


def _by_parts(source, searches, jobs, verbose):
    """Return what each search finds in a sequence, by chunks or in ranges."""
    found = []
    for (plan, choice), one in zip(searches, _results(source, searches, jobs, verbose, "search"), strict=True):
        if one is None:  # a limit came out too low
            one = joined(run_part(source, [(plan, choice)], 0, len(source)), source)
        found.append(as_found(one, plan, choice, source))
    return found


def profile_ranges(source, queries, jobs=1, verbose=0):
    """Return the profile of each query over a sequence, in ranges for `jobs` jobs."""
    searches = checked(source, [(plan, Choice()) for plan in queries])
    if jobs == 1 and source.in_memory:
        return [Search(plan, source.y, source.ty).profile() for plan, _ in searches]
    of_windows = all(plan.mode == "windows" and plan.lengths is None for plan, _ in searches)
    if source.in_memory and jobs_are_threads() and of_windows:
        return _filled(source, [plan for plan, _ in searches], jobs, verbose)
    return _results(source, searches, jobs, verbose, "profile", whole=True)


def _filled(source, queries, jobs, verbose):
    """Return the profiles of windows of one length over a sequence in memory, which threads fill in place."""
    out, places = [np.empty(len(source) - plan.m + 1) for plan in queries], []
    for k, plan in enumerate(queries):
        check_lengths(plan.m, *plan.limits)
        places += [(k, begin, end) for begin, end in pairwise([0, *_ends(len(out[k]), jobs, source.size)])]

    def fill(place):
        k, begin, end = place
        slack = _fill(source, queries[k], out[k], begin, end)
        count()
        return slack

    with progress(len(places), verbose, "profile", "part") as count, shared(jobs) as for_each:
        found = for_each(fill, places)
    slack = [max(s for (of, *_), s in zip(places, found, strict=True) if of == k) for k in range(len(queries))]
    return [Profile(distance, None, plan.m, s) for distance, plan, s in zip(out, queries, slack, strict=True)]


def _ends(n, jobs, most):
    """Yield the ends of pieces of n windows, the last ones the smallest: each has its cost, and no wait is long."""
    at = 0
    while at < n:
        at = min(at + min(max(2 * _partial_search.LEAST, 2 * (n - at) // (3 * jobs)), most), n)
        yield at


def _fill(source, plan, out, begin, end):
    """Fill in the windows [begin, end) of a profile, and return their slack."""
    first, last = max(begin - plan.reach, 0), min(end - 1 + plan.m + plan.reach, len(source))
    y, ty = np.ascontiguousarray(source.y[:, first:last]), source.ty[first:last] if plan.reads_times else None
    profile = window_profile(plan, y, ty, room=None if plan.reach else out[begin:end])
    here = profile.distance[begin - first : end - first]
    if not np.may_share_memory(here, out):
        out[begin:end] = here
    return profile._slack


def checked(source, searches):
    """Return the searches that a sequence allows: without times if it has none; refuse windows that do not fit."""
    for plan, _ in searches:
        if plan.mode == "windows":
            check_room(plan.shortest, len(source))
    return searches if source.timed else [(plan.untimed, choice) for plan, choice in searches]


def _results(source, searches, jobs, verbose, name, *, whole=False):
    """Return what all parts of each search give together."""
    if source.has_engine:
        parts = source.parts(searches, verbose, name, whole)
        return [joined([each[k] for each in parts], source) for k in range(len(searches))]
    n = len(source)
    ranges = list(pairwise(cut(n, jobs, n - first_of(searches, n), source.piece)))
    if len(ranges) == 1:
        with progress(-(-n // source.size), verbose, "search", "chunk") as count:
            parts = [run_part(source, searches, 0, n, whole, count)]
    else:
        calls = [delayed(run_part)(source, searches, a, b, whole) for a, b in ranges]
        parts = in_jobs(calls, jobs, verbose, name, "part")
    return [joined([each[k] for each in parts], source) for k in range(len(searches))]


def _in_jobs(works, jobs, has_bar, n_jobs, verbose, name):
    """Return the results of delayed calls, each of which gives several; in jobs unless they have `jobs` of their own.

    A bar counts the calls, unless the only one shows its own.
    """
    if len(works) == 1 and (not verbose or has_bar):
        work, arguments, keywords = works[0]
        return work(*arguments, **keywords)
    found = in_jobs(works, 1 if jobs > 1 else n_jobs, verbose, name, "search")
    return [one for some in found for one in some]


def jobs_of(source, n_jobs, calls):
    """Return the number of jobs of a sequence among a number of calls; infinite where dask has the jobs."""
    return np.inf if source.has_engine else jobs_within(n_jobs, len(source), calls)


def run_searches(sources, searches, n_jobs, verbose, *, listed=False, apart=False):
    """Return what each search finds in each source, a list of `Found` that has the searches of each source in turn.

    Parameters
    ----------
    sources : list
        Sources of the sequences.
    searches : list of lists of (QueryPlan, Choice)
        The searches in each source.
    listed : bool
        Whether the sequences are entries of a list, which errors name.
    apart : bool
        Whether each search is a call of its own: decoys have whole profiles.
    """
    source, own = sources[0], searches[0]
    if not (listed or verbose) and source.in_memory and len(own) == 1 and jobs_within(n_jobs, len(source), 1) == 1:
        if not source.goes_by_chunks(*own[0]):
            (plan, choice), *_ = own  # in short, for most are of this kind
            return [matched(Search(plan, source.y, source.ty), choice, source)]
    works, readers, inner, has_bar = [], [], 1, False
    for k, (source, own) in enumerate(zip(sources, searches, strict=True)):
        place = k if listed else None
        with entry("X", place):
            own = checked(source, own)
        jobs = jobs_of(source, n_jobs, len(sources) * (len(own) if source.in_memory else 1))
        # What is read by chunks is read once for all queries.
        groups = [[one] for one in own] if apart or (jobs == 1 and source.in_memory) else [own]
        works += [delayed(_found)(group, source, place, jobs, verbose) for group in groups]
        inner = max(inner, jobs)
        has_bar = _is_cut(source, groups[0], jobs) or source.goes_by_chunks(*groups[0][0])
        readers += [source.reader(plan) for plan, _ in own]
    found = _in_jobs(works, inner, has_bar, n_jobs, verbose, "search")
    return [one._replace(reader=reader) for one, reader in zip(found, readers, strict=True)]


def _found(searches, source, place, jobs, verbose):
    """Search a sequence in a number of jobs; what is found has no readers, which the caller has."""
    with entry("X", place):
        return [one._replace(reader=None) for one in search_ranges(source, searches, jobs, verbose)]


def run_profiles(source, queries, n_jobs, verbose):
    """Return the profile of each query in a source."""
    jobs = jobs_of(source, n_jobs, len(queries) if source.in_memory else 1)
    by_parts = jobs > 1 or not source.in_memory
    groups = [queries] if by_parts else [[plan] for plan in queries]
    works = [delayed(_profiles_of)(source, group, jobs, verbose) for group in groups]
    return _in_jobs(works, jobs, by_parts, n_jobs, verbose, "profile")


def _profiles_of(source, queries, jobs, verbose):
    """Return the profile of each query, by `jobs` jobs."""
    if source.in_memory:
        warn_of_sequences(queries, [source.y])
    return profile_ranges(source, queries, jobs, verbose)


def run_endings(source, queries, n_jobs, verbose):
    """Return for each query the distance of the best candidate that ends at each time point of a source.

    Time points at which no candidate ends have the largest finite distance, or 0 without any.
    """
    jobs = jobs_of(source, n_jobs, len(queries))
    works = [delayed(_ending)(plan, source, jobs, verbose) for plan in queries]
    return _in_jobs(works, jobs, jobs > 1 or not source.in_memory, n_jobs, verbose, "transform")


def _ending(plan, source, jobs, verbose):
    # Of several windows that end at a sample not each is the best at its start.
    lengths = [None] if plan.lengths is None else [np.array([length]) for length in plan.lengths]
    out = None
    for length in lengths:
        if out is None or length[0] <= len(out):  # the shortest must fit
            profile = _profiles_of(source, [plan._replace(lengths=length)], jobs, verbose)[0]
            if out is None:
                out = np.full(len(profile) + (0 if plan.mode == "subsequence" else plan.shortest - 1), np.inf)
            ending = out[len(out) - len(profile) :]
            np.minimum(ending, profile.distance, out=ending)
    finite = np.isfinite(out)
    out[~finite] = out[finite].max() if finite.any() else 0.0
    return [out]

"""Searches of sequences, shared out among jobs.

A call searches one sequence for a group of queries whose profiles are found together. Its sequence is searched as a
whole, by chunks, or in ranges of which each is the work of a job.
"""

from contextlib import nullcontext
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from joblib import delayed

from ..utils._jobs import beside, count_jobs, in_jobs, jobs_are_threads, parts_for_jobs, progress, shared
from . import _partial_search
from ._chunks import entry
from ._engines import is_made_in_place, profiles_at_once, prunes, sharing, window_profiles
from ._partial_search import as_found, first_of, joined, run_part
from ._plan import check_lengths, check_room, warn_of_sequences
from ._profile import Choice, Search
from ._results import chosen
from ._selection import Profile

WHOLE = 2**22  # distances of whole profiles that are held at a time: 32 MB
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
    found = [None] * len(searches)
    for group in sharing([plan for plan, _ in searches]):
        some = [searches[k] for k in group]
        if _is_by_chunks(source, some):
            several = _by_parts(source, some, jobs, verbose)
        else:
            several = _of_whole_profiles(source, some, jobs)
        for k, one in zip(group, several, strict=True):
            found[k] = one
    return found


def _of_whole_profiles(source, searches, jobs):
    """Return what each search of one group finds in a sequence in memory, by its whole profile."""
    if len(searches) == jobs == 1:
        plan, choice = searches[0]
        profile = Search(plan, source.y, source.ty).profile(choice.rule)
        return [chosen(source.reader(plan), profile, choice)]
    # Several threads search all of it together where no whole profile is held.
    with beside(source.own) if jobs > 1 else nullcontext():
        profiles = _profiles(source, searches, jobs)
        return [chosen(source.reader(plan), profile, choice) for plan, choice, profile in profiles]


def _is_cut(source, searches, jobs):
    """Return whether a sequence is read by chunks or each job searches a range of it.

    Where windows are left out, threads search all of it together: each knows at once a limit that another one finds.
    """
    if not source.in_memory or jobs == 1:
        return not source.in_memory
    return not (jobs_are_threads() and all(prunes(plan, choice.rule, len(source)) for plan, choice in searches))


def goes_by_parts(source, searches, jobs):
    """Return whether searches of one group are made by chunks or in ranges, which a bar counts."""
    return _is_cut(source, searches, jobs) or _is_by_chunks(source, searches)


def _is_by_chunks(source, searches):
    """Return whether one job makes searches of one group by chunks, not by whole profiles, which are many or long."""
    if source.goes_by_chunks(*searches[0]):
        return True
    return len(searches) > _at_once(source) and not any(choice.needs_all for _, choice in searches)


def _at_once(source):
    """Return how many whole profiles of a sequence are held at a time."""
    return max(WHOLE // max(len(source), 1), 1)


def _profiles(source, searches, jobs):
    """Yield the plan, the choice and the profile of each query of one group over a sequence in memory."""
    size = _at_once(source)
    for at in range(0, len(searches), size):
        some = searches[at : at + size]
        rules = [choice.rule and choice.rule._replace(jobs=jobs) for _, choice in some]
        of_queries = _of_whole(source, [plan for plan, _ in some], rules)
        yield from ((*search, profile) for search, profile in zip(some, of_queries, strict=True))


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
        profiles = {}
        for group in sharing([plan for plan, _ in searches]):
            profiles.update(zip(group, _of_whole(source, [searches[k][0] for k in group]), strict=True))
        return [profiles[k] for k in range(len(queries))]
    if source.in_memory and jobs_are_threads() and all(_is_of_windows(plan) for plan, _ in searches):
        return _filled(source, [plan for plan, _ in searches], jobs, verbose)
    return _results(source, searches, jobs, verbose, "profile", whole=True)


def _is_of_windows(plan):
    return plan.mode == "windows" and plan.lengths is None


def _filled(source, queries, jobs, verbose):
    """Return the profiles of windows of one length over a sequence in memory, which threads fill in place."""
    out, places = [np.empty(len(source) - plan.m + 1) for plan in queries], []
    for group in sharing(queries):
        check_lengths(queries[group[0]].m, *queries[group[0]].limits)
        in_place = is_made_in_place([queries[k] for k in group])
        ends = _ends(len(out[group[0]]), jobs, np.inf if in_place else source.size)
        places += [(group, begin, end) for begin, end in pairwise([0, *ends])]

    def fill(place):
        group, *part = place
        found = _fill(source, [queries[k] for k in group], [out[k] for k in group], *part)
        count()
        return found

    slack = [0.0] * len(queries)
    with progress(len(places), verbose, "profile", "part") as count, shared(jobs) as for_each:
        several = for_each(fill, places)
    for (group, *_), found in zip(places, several, strict=True):
        for k, one in zip(group, found, strict=True):
            slack[k] = max(slack[k], one)
    return [Profile(*of) for of in zip(out, [None] * len(out), [plan.m for plan in queries], slack, strict=True)]


def _ends(n, jobs, most):
    """Yield the ends of pieces of n windows, the last ones the smallest: each has its cost, and no wait is long."""
    at = 0
    while at < n:
        at = min(at + min(max(2 * _partial_search.LEAST, 2 * (n - at) // (3 * jobs)), most), n)
        yield at


def _fill(source, plans, out, begin, end):
    """Fill in the windows [begin, end) of profiles that are found together, and return their slack."""
    reach, n = plans[0].reach, len(source)
    first, last = max(begin - reach, 0), min(end - 1 + plans[0].m + reach, n)
    y, ty = np.ascontiguousarray(source.y[:, first:last]), source.ty[first:last] if plans[0].reads_times else None
    alone = len(plans) == 1 and first == begin and last == end - 1 + plans[0].m  # then it is found where it is to be
    found = profiles_at_once(plans, y, ty, [None] * len(plans), out[0][begin:end] if alone else None)
    for profile, distance in zip(found, out, strict=True):
        here = profile.distance[begin - first : end - first]
        if not np.may_share_memory(here, distance):
            distance[begin:end] = here
    return [profile._slack for profile in found]


def _of_whole(source, queries, rules=None):
    """Return the profiles of the queries of one group over a sequence in memory, computed at once."""
    rules = [None] * len(queries) if rules is None else rules
    if len(queries) == 1:
        return [Search(queries[0], source.y, source.ty).profile(rules[0])]
    for plan in queries:
        check_lengths(plan.m, *plan.limits)
    return window_profiles(queries, source.y, source.ty if queries[0].reads_times else None, rules)


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


class Call(NamedTuple):
    """Work on one sequence."""

    work: tuple  # as joblib's delayed makes it
    numbers: list  # of its results among those of all calls
    jobs: int  # of its own
    has_bar: bool  # whether it shows how far it has come


def _in_jobs(calls, n_jobs, verbose, name):
    """Return the results of calls in the order of their numbers, in jobs unless they have jobs of their own.

    A bar counts the calls, unless the only one shows its own.
    """
    if len(calls) == 1 and (not verbose or calls[0].has_bar):
        work, arguments, keywords = calls[0].work
        return work(*arguments, **keywords)
    inner = max(call.jobs for call in calls)
    found = in_jobs([call.work for call in calls], 1 if inner > 1 else n_jobs, verbose, name, "search")
    out = [None] * sum(len(call.numbers) for call in calls)
    for call, some in zip(calls, found, strict=True):
        for number, one in zip(call.numbers, some, strict=True):
            out[number] = one
    return out


def jobs_of(source, n_jobs, calls):
    """Return the number of jobs of a sequence among a number of calls; infinite where dask has the jobs."""
    return np.inf if source.has_engine else jobs_within(n_jobs, len(source), calls)


def grouped(queries, n_jobs):
    """Return groups of the numbers of queries, each searched for in one call.

    Queries whose profiles are found together are in one group, unless they are divided among jobs.
    """
    if len(queries) == 1:
        return [[0]]
    return [part.tolist() for group in sharing(queries) for part in parts_for_jobs(group, n_jobs)]


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
    if not listed and len(searches[0]) == 1 and not verbose:  # in short, for most are of this kind
        own = checked(sources[0], searches[0])
        if jobs_of(sources[0], n_jobs, 1) == 1 and not sources[0].goes_by_chunks(*own[0]):
            return _of_whole_profiles(sources[0], own, 1)
    calls, readers = [], []
    for k, (source, own) in enumerate(zip(sources, searches, strict=True)):
        place = k if listed else None
        with entry("X", place):
            own = checked(source, own)
        groups = [[n] for n in range(len(own))] if apart else grouped([plan for plan, _ in own], n_jobs)
        jobs = jobs_of(source, n_jobs, len(sources) * (len(groups) if source.in_memory else 1))
        if (jobs > 1 or not source.in_memory) and not apart:  # what is read by chunks is read once for all queries
            groups = [list(range(len(own)))]
        for group in groups:
            some = [own[n] for n in group]
            work = delayed(_found)(some, source, place, jobs, verbose)
            numbers = [len(readers) + n for n in group]
            calls.append(Call(work, numbers, jobs, goes_by_parts(source, some, jobs)))
        readers += [source.reader(plan) for plan, _ in own]
    found = _in_jobs(calls, n_jobs, verbose, "search")
    return [one._replace(reader=reader) for one, reader in zip(found, readers, strict=True)]


def _found(searches, source, place, jobs, verbose):
    """Search a sequence in a number of jobs; what is found has no readers, which the caller has."""
    with entry("X", place):
        return [one._replace(reader=None) for one in search_ranges(source, searches, jobs, verbose)]


def run_profiles(source, queries, n_jobs, verbose):
    """Return the profile of each query in a source."""
    groups = grouped(queries, n_jobs)
    jobs = jobs_of(source, n_jobs, len(groups) if source.in_memory else 1)
    by_parts = jobs > 1 or not source.in_memory
    groups = [list(range(len(queries)))] if by_parts else groups
    calls = [
        Call(delayed(_profiles_of)(source, [queries[n] for n in group], jobs, verbose), group, jobs, by_parts)
        for group in groups
    ]
    return _in_jobs(calls, n_jobs, verbose, "profile")


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
    by_parts = jobs > 1 or not source.in_memory
    works = [delayed(_ending)(plan, source, jobs, verbose) for plan in queries]
    calls = [Call(work, [k], jobs, by_parts) for k, work in enumerate(works)]
    return _in_jobs(calls, n_jobs, verbose, "transform")


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

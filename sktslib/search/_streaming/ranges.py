"""Searches of one sequence in ranges of it, each of which may be another thread's or another process's work."""

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
from joblib import delayed

from ...utils._jobs import beside, count_jobs, in_jobs, jobs_are_threads, progress, shared
from .._comparison import check_lengths, check_room
from .._profile import Choice, Search
from .._profiles.window_profile import is_made_in_place, profiles_at_once, prunes, sharing, window_profiles
from .._selection import Profile
from .._several import Found, chosen
from .incremental_profile import share_samples
from .parts import QueryPart, first_of, joined, take_together

LEAST = 2**16  # samples of a range: shorter ones are not worth their own column
WHOLE = 2**22  # distances of whole profiles that are held at a time: 32 MB
EACH = 4  # ranges of each job, so that one that is late is not waited for long
LEADS = 64  # times its lead that a range takes at least, but for one of each job


def jobs_within(n_jobs, n, calls):
    """How many jobs one sequence of n samples keeps busy, where there are so many other calls."""
    if n < 2 * LEAST:
        return 1
    jobs = count_jobs(n_jobs)
    return jobs if calls < jobs else 1


def cut(n, jobs, lead, piece=1):
    """Where the ranges of n samples begin and end, at multiples of a piece."""
    count = min(EACH * jobs, n // max(LEAST, 2 * lead), max(n // max(LEADS * lead, 1), jobs))
    count = max(count - count % jobs if count > jobs else count, 1) if jobs > 1 else 1
    inner = {round(k * n / count / piece) * piece for k in range(1, count)}
    return sorted({0, n, *(at for at in inner if 0 < at < n)}) if n else [0, 0]


def search_ranges(source, searches, jobs=1, verbose=0):
    """What each search finds in a sequence, in ranges for so many jobs."""
    searches = checked(source, searches)
    if _is_cut(source, searches, jobs):
        return _by_parts(source, searches, jobs, verbose)
    found = [None] * len(searches)
    for group in sharing([how for how, _ in searches]):
        some = [searches[k] for k in group]
        if _is_by_chunks(source, some):
            several = _by_parts(source, some, jobs, verbose)
        else:
            # Several threads search all of it together where no whole profile is held.
            with beside(source.own) if jobs > 1 else nullcontext():
                profiles = _profiles(source, some, jobs)
                several = [chosen(source.reader(how), profile, choice) for how, choice, profile in profiles]
        for k, one in zip(group, several, strict=True):
            found[k] = one
    return found


def _is_cut(source, searches, jobs):
    """Whether a sequence is read by chunks or each job searches a range of it.

    Where windows are left out threads search all of it together: each knows at once the limit that another one found.
    """
    if not source.in_memory or jobs == 1:
        return not source.in_memory
    return not (jobs_are_threads() and all(prunes(how, choice.rule, len(source)) for how, choice in searches))


def goes_by_parts(source, searches, jobs):
    """Whether searches of one group are made by chunks or in ranges, which a bar counts."""
    return _is_cut(source, searches, jobs) or _is_by_chunks(source, searches)


def _is_by_chunks(source, searches):
    """Whether one job makes searches of one group by chunks, not by whole profiles, which are many or long."""
    if source.goes_by_chunks(*searches[0]):
        return True
    return len(searches) > _at_once(source) and not any(choice.needs_all for _, choice in searches)


def _at_once(source):
    """How many whole profiles of a sequence are held at a time."""
    return max(WHOLE // max(len(source), 1), 1)


def _profiles(source, searches, jobs):
    """Yield how each query of one group is compared, what is chosen, and its profile over a sequence in memory."""
    size = _at_once(source)
    for at in range(0, len(searches), size):
        some = searches[at : at + size]
        rules = [choice.rule and choice.rule._replace(jobs=jobs) for _, choice in some]
        of_queries = _of_whole(source, [how for how, _ in some], rules)
        yield from ((*search, profile) for search, profile in zip(some, of_queries, strict=True))


def _by_parts(source, searches, jobs, verbose):
    """What each search finds in a sequence, by chunks or in ranges."""
    found = []
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
        profiles = {}
        for group in sharing([how for how, _ in searches]):
            profiles.update(zip(group, _of_whole(source, [searches[k][0] for k in group]), strict=True))
        return [profiles[k] for k in range(len(queries))]
    if source.in_memory and jobs_are_threads() and all(_is_of_windows(how) for how, _ in searches):
        return _filled(source, [how for how, _ in searches], jobs, verbose)
    return _results(source, searches, jobs, verbose, "profile", whole=True)


def _is_of_windows(how):
    return how.mode == "windows" and how.lengths is None


def _filled(source, queries, jobs, verbose):
    """The profiles of windows of one length over a sequence in memory, which threads fill in place."""
    out, places = [np.empty(len(source) - how.m + 1) for how in queries], []
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
    return [Profile(*of) for of in zip(out, [None] * len(out), [how.m for how in queries], slack, strict=True)]


def _ends(n, jobs, most):
    """Where pieces of n windows end, the last ones the smallest: each has its cost, and none is waited for long."""
    at = 0
    while at < n:
        at = min(at + min(max(2 * LEAST, 2 * (n - at) // (3 * jobs)), most), n)
        yield at


def _fill(source, hows, out, begin, end):
    """Fill in the windows [begin, end) of profiles that are found together; their slack."""
    reach, n = hows[0].reach, len(source)
    first, last = max(begin - reach, 0), min(end - 1 + hows[0].m + reach, n)
    y, ty = np.ascontiguousarray(source.y[:, first:last]), source.ty[first:last] if hows[0].reads_times else None
    alone = len(hows) == 1 and first == begin and last == end - 1 + hows[0].m  # then it is found where it is to be
    found = profiles_at_once(hows, y, ty, [None] * len(hows), out[0][begin:end] if alone else None)
    for profile, distance in zip(found, out, strict=True):
        here = profile.distance[begin - first : end - first]
        if not np.may_share_memory(here, distance):
            distance[begin:end] = here
    return [profile._slack for profile in found]


def _of_whole(source, queries, rules=None):
    """The profiles of the queries of one group over a sequence in memory, at once."""
    rules = [None] * len(queries) if rules is None else rules
    if len(queries) == 1:
        return [Search(queries[0], source.y, source.ty).profile(rules[0])]
    for how in queries:
        check_lengths(how.m, *how.limits)
    return window_profiles(queries, source.y, source.ty if queries[0].reads_times else None, rules)


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
    groups = share_samples([part.feed for part in parts])
    for y, ty, _ in source.chunks(first, end):
        for group in groups:
            some = [parts[k] for k in group]
            take_together(some, y, ty, [readers[k] for k in group])
            needed = min(part.feed.needed for part in some)
            for part in some:
                part.feed.forget(needed)
        if count is not None:
            count()
    for part in parts:  # all parts are held until the last one is done
        part.feed.shrink()
    return parts

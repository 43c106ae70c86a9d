"""Searches of sequences, shared out among jobs.

A call searches one sequence for one query, or for all where it is read by chunks or divided among jobs. Its sequence is
searched as a whole, by chunks, or in ranges of which each is the work of a job.

Arrays of dask are searched where their chunks are stored: only the searcher, the overlaps and what is found are sent.
Each range of chunks is a task of dask's current scheduler. The task searches all of the range but its first samples,
which needs nothing of the ranges before. It therefore runs where its chunks are read, in one go with reading them. Each
border is a small task with the last samples before it and the first ones behind it. The client joins these parts. It
reads samples of the array only where the parts do not agree, and for the distances of matches across borders.
"""

import sys
from copy import copy
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from joblib import delayed

from ..utils._jobs import count_jobs, in_jobs, jobs_are_threads, losses_explained, progress, shared
from ..utils._times import as_dates, given_times
from ..utils.validation import as_points, as_series, as_times
from . import _partial_search, _sources
from ._chunks import Clock, SparseTimes, check_table, entry, notice, times_at
from ._partial_search import as_found, first_of, joined, run_part
from ._plan import check_room, warn_of_sequences
from ._profile import Search, window_profile
from ._pruning import Choice, prunes
from ._results import chosen, matched
from ._selection import Profile
from ._sources import CandidateReader, ChunkedSource, n_samples

EACH = 4  # ranges of each job, so that one that is late is not waited for long
LEADS = 64  # times its lead that a range takes at least, but for one of each job


def jobs_of(source, n_jobs, calls):
    """Return how many jobs a sequence keeps busy where it is one of `calls` calls; infinite where dask has the jobs."""
    if source.has_engine:
        return np.inf
    jobs = count_jobs(n_jobs) if len(source) >= 2 * _partial_search.LEAST else 1
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
    return not (jobs_are_threads() and all(prunes(plan, choice, len(source)) for plan, choice in searches))


def _by_parts(source, searches, jobs, verbose):
    """Return what each search finds in a sequence, by chunks or in ranges."""
    found = []
    for (plan, choice), one in zip(searches, _results(source, searches, jobs, verbose, "search"), strict=True):
        if one is None:  # a limit came out too low
            one = joined(run_part(source, [(plan, choice)], 0, len(source)), source)
        found.append(as_found(one, plan, choice, source))
    return found


def profile_ranges(source, queries, jobs=1, verbose=0, *, warned=False):
    """Return the profile of each query over a sequence, in ranges for `jobs` jobs; `warned` of what is unlikely."""
    if warned and source.in_memory:
        warn_of_sequences(queries, [source.y])
    searches = checked(source, [(plan, Choice()) for plan in queries])
    if jobs == 1 and source.in_memory:
        return [Search(plan, source.y, source.ty).profile() for plan, _ in searches]
    of_windows = all(plan.mode == "windows" and plan.lengths is None for plan, _ in searches)
    if source.in_memory and jobs_are_threads() and of_windows:
        return _filled(source, [plan for plan, _ in searches], jobs, verbose)
    return _results(source, searches, jobs, verbose, "profile", whole=True)


def _filled(source, queries, jobs, verbose):
    """Return the profiles of windows of one length over a sequence in memory, which threads fill in place."""
    places, out = [], [np.empty(len(source) - plan.m + 1) for plan in queries]
    for k, one in enumerate(out):
        end = 0
        while (begin := end) < len(one):  # the last pieces are the smallest: each has its cost, and no wait is long
            size = max(2 * _partial_search.LEAST, 2 * (len(one) - begin) // (3 * jobs))
            end = min(begin + min(size, source.size), len(one))
            places.append((k, begin, end))

    def fill(place):
        k, begin, end = place
        plan, here = queries[k], out[k][begin:end]
        first, last = max(begin - plan.reach, 0), min(end - 1 + plan.m + plan.reach, len(source))
        y, ty = np.ascontiguousarray(source.y[:, first:last]), source.ty[first:last] if plan.reads_times else None
        profile = window_profile(plan, y, ty, room=None if plan.reach else here)
        found = profile.distance[begin - first : end - first]
        if not np.may_share_memory(found, here):
            here[:] = found
        count()
        return profile._slack

    with progress(len(places), verbose, "profile", "part") as count, shared(jobs) as for_each:
        found = for_each(fill, places)
    slack = [max(s for (of, *_), s in zip(places, found, strict=True) if of == k) for k in range(len(queries))]
    return [Profile(distance, None, plan.m, s) for distance, plan, s in zip(out, queries, slack, strict=True)]


def checked(source, searches):
    """Return the searches that a sequence allows: without times if it has none; refuse windows that do not fit."""
    for plan, _ in searches:
        if plan.mode == "windows":
            check_room(plan.shortest, len(source))
    return searches if source.timed else [(plan.untimed, choice) for plan, choice in searches]


def _results(source, searches, jobs, verbose, name, *, whole=False):
    """Return what all parts of each search give together."""
    n = len(source)
    ranges = [] if source.has_engine else list(pairwise(cut(n, jobs, n - first_of(searches, n), source.piece)))
    if source.has_engine:
        parts = source.parts(searches, verbose, name, whole)
    elif len(ranges) == 1:
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
    if source.in_memory and len(own) == 1 and len(source) < 2 * _partial_search.LEAST and not (listed or verbose):
        (plan, choice), *_ = own  # in short, for most are of this kind
        search = Search(plan, source.y, source.ty)
        return [chosen(CandidateReader(search.plan, source), search.profile(choice), choice)]
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
        readers += [CandidateReader(plan, source) for plan, _ in own]
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
    works = [delayed(profile_ranges)(source, group, jobs, verbose, warned=True) for group in groups]
    return _in_jobs(works, jobs, by_parts, n_jobs, verbose, "profile")


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
    checked(source, [(plan, None)])  # the shortest must fit
    out = np.full(len(source), np.inf)
    for length in lengths:
        if length is None or length[0] <= len(out):
            (profile,) = profile_ranges(source, [plan._replace(lengths=length)], jobs, verbose, warned=True)
            ending = out[len(out) - len(profile) :]
            np.minimum(ending, profile.distance, out=ending)
    finite = np.isfinite(out)
    out[~finite] = out[finite].max() if finite.any() else 0.0
    return [out]


# ------------------------------------------------------------------------------------------------------ arrays of dask
MOST = 2**22  # samples of a range, unless a chunk has more: enough that the scheduler's time for it does not count
TASKS = 64  # ranges of an array that is not long: enough for many workers


def is_dask(X):
    """Return whether something is an array of dask, without importing dask."""
    array = sys.modules.get("dask.array")
    return array is not None and isinstance(X, array.Array)


def ranges_of_chunks(chunks, lead):
    """Return half-open ranges of chunk numbers, one for each task.

    Each of several ranges holds at least two leads.
    """
    least = max(min(sum(chunks) // TASKS, MOST), _partial_search.LEAST, 2 * lead)
    found, first, held = [], 0, 0
    for k, size in enumerate(chunks):
        held += size
        if held >= least:
            found.append((first, k + 1))
            first, held = k + 1, 0
    if held >= 2 * lead or not found:
        found.append((first, len(chunks)))
    found[-1] = found[-1][0], len(chunks)
    return found


def times_of_ranges(times, found):
    """Return the times of the samples at which the found ranges start and end; a dask array is read there alone."""
    if not is_dask(times):
        return None if times is None else given_times(times, "times")
    start, end = (np.concatenate([one[k] for one in found]) for k in range(2))
    n = n_samples(times)
    samples = np.unique(np.concatenate([start, end, end - 1, end - 2, [n - 2, n - 1]]))
    samples = samples[(samples >= 0) & (samples < n)]
    read = np.asarray(times[samples])
    return SparseTimes([*samples, n], times_at(read, np.arange(len(samples) + 1)))


class Work(NamedTuple):
    """Input that is common to all tasks of a call."""

    searcher: object
    clock: Clock
    searches: list
    whole: bool  # whether the whole profile is asked for
    lead: int  # samples before it that a part takes
    edges: np.ndarray  # where ranges begin, and the end of the recording


class Block(ChunkedSource):
    """Samples of a range and some before it, in the memory of the process that searches them."""

    notices = False

    def __init__(self, work, X, times, first):
        self.searcher, self._clock, self._n = work.searcher, work.clock, int(work.edges[-1])
        self._X, self._times, self.first, self.size = X, times, first, _sources.CHUNK

    def read(self, start, end):
        return super().read(start - self.first, end - self.first)

    def __len__(self):
        return self._n

    def extent(self, start):
        return self.first, self.first + len(self.X)


def search_range(work, first, begin, y, times, known=None):
    """Return the part of each search that the samples from `begin` on give; the samples held start at `first`.

    The limits of parts that are `known` hold for these too.
    """
    source = Block(work, y, times, first)
    parts = run_part(source, work.searches, begin, first + len(y), work.whole)
    for k, part in enumerate(parts):  # what can be decided here needs no samples in the client
        if known is not None:
            part.pool.limit = min(part.pool.limit, known[k].pool.limit)
        part.pool.decide(part.feed, CandidateReader(part.plan, source))
    return parts


def search_alone(y, times=None, *, work, block_id=None):
    """Return the parts of a range, and copies of its first and of its last samples, with their times or None.

    The parts are those of all but its first samples, or of all if it is the first range.
    """
    first, lead = int(work.edges[block_id[0]]), work.lead
    y = as_points(y, "X") if np.ma.isMaskedArray(y) else np.asarray(y)
    times = None if times is None else times.ravel()
    parts = search_range(work, first, first and first + lead, y, times)
    held = [(None, None) if a is None else (a[:lead].copy(), a[len(a) - lead :].copy()) for a in (y, times)]
    return parts, *zip(*held, strict=True)


def search_border(work, at, before, behind):
    """Return the parts of the first samples of a range, and those of the rest of it."""
    parts, head, _ = behind
    y, times = (None if a is None else np.concatenate([a, b]) for a, b in zip(before[-1], head, strict=True))
    return search_range(work, at - work.lead, at, y, times, parts), parts


class DaskSource(ChunkedSource):
    """An array of dask, read by chunks where samples of it are asked for."""

    has_engine, notices = True, False

    def cuts(self, start, end):
        """Return the samples of several ranges, all computed in one go."""
        import dask

        found = dask.compute(*(self.X[s:e] for s, e in zip(start.tolist(), end.tolist(), strict=True)))
        return [as_series(np.asarray(y), "X", missing=True) for y in found]

    def times_of_found(self, found):
        """Return the times of the samples at which the found ranges start and end, or None."""
        return times_of_ranges(self.times, found)

    def parts(self, searches, verbose, name, whole):
        """Return the parts of the searches that the ranges of the array give."""
        import dask

        check_table(self.searcher, self.X)
        tasks = self._tasks(searches, whole)
        with progress(len(tasks), verbose, name, "part") as count, losses_explained(name):
            first, *others = dask.compute(*tasks)
            count(len(tasks))
        if self.timed and len(self) > 1:
            given = as_dates(self.times[: self.size])
            notice(self.searcher, None, given, as_times(given, len(given), "times"))
        return [first[0], *(parts for two in others for parts in two)]

    def _tasks(self, searches, whole):
        import dask.array

        searcher, X = copy(self.searcher), self.X
        vars(searcher).pop("feature_names_in_", None)  # the parts are arrays, not tables; of that is warned once
        lead, edges = len(self) - first_of(searches, len(self)), np.cumsum([0, *X.chunks[0]])
        edges = np.array([0, *(edges[end] for _, end in ranges_of_chunks(X.chunks[0], lead))])
        work = dask.delayed(Work(searcher, self._clock, searches, whole, lead, edges), traverse=False)
        sizes = tuple(np.diff(edges).tolist())
        held = [X.rechunk((sizes, *[-1] * (X.ndim - 1)))]
        if self.timed:
            times = self.times if is_dask(self.times) else dask.array.from_array(as_dates(self.times), name=False)
            times = times.rechunk((sizes,))
            held.append(times[:, np.newaxis] if X.ndim == 2 else times)
        one = (1,) * (X.ndim - 1)
        shape = {"chunks": ((1,) * len(sizes), *((k,) for k in one)), "meta": np.empty((0, *one), object)}
        found = dask.array.map_blocks(search_alone, *held, work=work, dtype=object, **shape).to_delayed().ravel()
        border = dask.delayed(search_border, pure=False)
        borders = zip(edges[1:-1].tolist(), pairwise(found), strict=True)
        return [found[0], *(border(work, at, *two) for at, two in borders)]

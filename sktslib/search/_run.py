"""Searches of sequences: whole, by chunks, or in parts for jobs and for callers that distribute work themselves.

A call searches one sequence for one query, or for all queries if it is read by chunks or divided among jobs. A part of
a sequence is searched without knowing what comes before it. For subsequences, its column of costs starts `LEAD` query
lengths early. Its states at the start of the part, and at doubling distances after it, are stored. The parts are then
joined from left to right: the column of the preceding part goes on until it equals one of these states, in costs and in
starts. From there on everything is the same, and the rest of the part holds. Results before that state come from the
preceding part. Windows, and subsequences that are each normalized by themselves, only need some preceding samples.

A pool holds the candidates of a query until they are decided. Candidates that overlap each other, directly or through
others, form a group. A group is decided once no unknown candidate can overlap it: its matches are chosen as if it were
alone. For the best k matches, the pool keeps only candidates up to a limit in the order of choice (distance, then
position), and the limit falls. Why it is never too low: let G be candidates that do not overlap each other, with g the
last of them in that order. Each candidate in G is a match, or it overlaps a match that comes no later than g. A match
among the known candidates overlaps at most q of them, and a match that is still unknown overlaps only those that end
after the horizon. So if more than q (k - 1) of the others are in G, at least k matches come no later than g.

Arrays of dask are searched where their chunks are stored: only the searcher, the overlaps and the results are sent.
Each range of chunks, with the samples before it that it needs, is a task of dask's current scheduler. The client joins
the parts. It reads samples of the array only where parts do not agree, and for the distances of matches that cross a
border.
"""

from __future__ import annotations

import sys
from copy import copy, deepcopy
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..distances._kernels.selection import all_free, near
from ..distances._metrics.base import equal
from ..utils._jobs import count_jobs, delayed, in_jobs, jobs_are_threads, progress, shared
from ..utils._sampling import edges
from ..utils._times import Sequences, Times, as_dates, given_times, times_of
from ..utils.validation import as_points, as_series, as_times, check_count, refused
from . import _sources
from ._chunks import ChunkStream, Clock, Entrance, SparseTimes, check_delay, check_table, located, notice
from ._plan import check_room, warn_of_sequences
from ._profile import ENDLESS, RangeProfile, Search, State, SubsequenceProfile, WindowProfile, choose, window_profile
from ._pruning import Choice, prunes
from ._results import Found, Matches, chosen, matched, matches_of
from ._selection import Candidates, Profile, select
from ._sources import CandidateReader, ChunkedSource, HeldRanges, n_samples
from ._thresholds import calibrations_of, check_fixed

LEAST = 2**16  # minimum samples of a part: shorter ones are not worth their own column
LEAD = 4  # query lengths by which the column of a part starts early
FIRST = 2**12  # samples of the first chunk; the limit from it keeps the number of candidates small
EACH = 4  # parts for each job, so that a slow one does not delay the end
# A sequence in memory is searched by chunks if its profile would take 64 MB or more (below, the whole profile is as
# fast), and if the best matches cover so small a share of it that few candidates wait.
LONG = 2**22
RARE = 32
ROOM = 1024  # minimum number of waiting candidates before the pool checks which are decided
LEADS = 64  # minimum length of a part in leads, unless there is only one part per job


# -------------------------------------------------------------------------------------------------- pools of candidates
class Limit(NamedTuple):
    """The last distance and position, in the order of choice, that a match may have."""

    distance: float = np.inf
    place: int = ENDLESS


def _groups(rows):
    """Return candidates sorted by start, the indices that separate groups of overlapping ones, and the groups' ends."""
    rows = rows[:, np.argsort(rows[1], kind="stable")]
    last = np.maximum.accumulate(rows[2])
    cuts = np.concatenate([[0], np.flatnonzero(rows[1, 1:] >= last[:-1]) + 1, [rows.shape[1]]])
    return rows, cuts, last[cuts[1:] - 1]


class MatchPool:
    """Candidates of a part that may be matches, and the matches that are decided.

    The rows of candidates are (distance, start, end); those of matches are (distance of choice, distance, version of
    the query, start, end).
    """

    def __init__(self, plan, choice):
        self.plan, self.choice = plan, choice
        self._is_best = choice.n_matches is not None
        self.of_one_length = plan.mode == "windows" and plan.lengths is None
        self.first_limit = self.limit = Limit(np.inf if choice.threshold is None else choice.threshold)
        self.edges = []  # samples near which candidates may change when parts are joined; before the first all may
        self.slack = 0.0
        self._open, self._new, self._count = np.empty((3, 0)), [], 0
        self._beside = []  # groups that are complete but span an edge
        self._decided = []
        self.reports = False  # whether matches are handed over as they are decided (streams), not joined with others
        self.first_end = ENDLESS  # no undecided group ends before this sample
        self._early = np.empty((2, 0), np.int64)  # ranges of matches that `max_delay` decided, with ascending starts

    def _place(self, rows):
        """Return the positions of candidates or matches in a profile: of equal distances the first position wins."""
        return rows[-1 if self.plan.mode == "subsequence" else -2]

    @property
    def ranges(self):
        """The half-open ranges (start, end) of the matches, and of groups that span an edge."""
        return {*zip(*self._matches()[-2:].astype(int).tolist(), strict=True)} | {
            (int(rows[1].min()), int(rows[2].max())) for rows in self._beside
        }

    @property
    def begin(self):
        """The first sample of the undecided candidates; ENDLESS if all are decided."""
        return min((int(rows[1].min()) for rows in (self._open, *self._new) if rows.size), default=ENDLESS)

    def mark(self, state):
        """Add an edge where a state is stored for comparison with the preceding part."""
        self.edges.append(state.at if self.plan.mode == "subsequence" else state.seen)

    def take(self, feed, found, reader):
        """Add the newest candidates of a profile."""
        if self._is_best and self.of_one_length and self.limit == self.first_limit:
            self._begin_limit(found, feed)
        rows = self._near(found)
        if rows.size and self._early.size:
            rows = self._free(rows)
        if rows.size:
            self._new.append(rows)
            self._count += rows.shape[1]
            self.first_end = min(self.first_end, int(rows[2].min()))
        if self._count > max(ROOM, self._open.shape[1]):  # so that each is checked only a few times
            self.decide(feed, reader)

    def _near(self, found):
        """Return the candidates that may be matches, as rows (distance, start, end)."""
        distance, start, end, slack = found
        self.slack = max(self.slack, slack)
        which = near(distance, 1.0 - slack, self.limit.distance)
        return self._within(np.array([distance[which], start[which], end[which]]), self.slack)

    def _within(self, rows, slack=0.0):
        """Return the candidates or matches that come no later than the limit; those within `slack` of it stay, too."""
        if not self._is_best:
            return rows
        least, last = rows[0] * (1.0 - slack), self.limit
        no_later = (least < last.distance) | ((least == last.distance) & (self._place(rows) <= last.place))
        return rows[:, no_later & (rows[0] < np.inf)]

    def _free(self, rows):
        """Return the candidates that do not overlap a match decided early by more than is allowed."""
        return rows[:, all_free(*self._early, *rows[1:].astype(np.int64), float(self.choice.max_overlap))]

    def decide(self, feed, reader, horizon=None):
        """Choose the matches of the groups that end at or before a horizon.

        By default the horizon is the first sample where an unknown candidate may start, and at least one sample must
        follow the groups, because it gives the time of their end.
        """
        rows = self._take_open()
        if self._is_best:
            rows = self._within(rows[:, np.argsort(self._place(rows), kind="stable")], self.slack)
        if not rows.size:
            return
        if self._is_best:
            self._tighten(rows, feed)
            rows = self._within(rows, self.slack)
        rows, cuts, end = _groups(rows)
        start = rows[1][cuts[:-1]]
        if horizon is None:
            horizon = min(feed.horizon(self.limit.distance), feed.seen - 1)
        done = int(np.searchsorted(end, horizon, "right"))
        self.first_end = int(end[done]) if done < len(end) else ENDLESS
        beside = start[:done] < (self.edges[0] if self.edges else 0)
        for edge in self.edges[1:]:
            beside |= (start[:done] < edge) & (edge < end[:done])
        self._beside += [rows[:, cuts[k] : cuts[k + 1]] for k in np.flatnonzero(beside)]
        beside = np.repeat(beside, np.diff(cuts[: done + 1]))
        self._open, rows = rows[:, cuts[done] :], rows[:, : cuts[done]]
        self._decide(rows[:, ~beside], reader)

    def _take_open(self):
        """Remove all undecided candidates from the pool and return them."""
        rows = np.concatenate([self._open, *self._new], axis=1) if self._new else self._open
        self._open, self._new, self._count, self.first_end = rows[:, :0], [], 0, ENDLESS
        return rows

    def decide_early(self, late, feed, reader):
        """Choose the matches that end at or before the sample `late`, from the candidates known by now.

        Later candidates that overlap one of these matches are dropped.
        """
        feed.drop(late)
        if self.earliest_end > late:
            return
        rows, cuts, _ = _groups(self._take_open())
        is_late = np.repeat(np.minimum.reduceat(rows[2], cuts[:-1]) <= late, np.diff(cuts))
        some, others = rows[:, is_late], rows[:, ~is_late]
        matches = self._chosen(some, reader)
        matches = matches[:, matches[-1] <= late]
        self._decided.append(matches)
        early = np.append(self._early[:, self._early[1] > feed.first], matches[-2:].astype(np.int64), axis=1)
        self._early = np.ascontiguousarray(early[:, np.argsort(early[0], kind="stable")])
        self._open = np.concatenate([self._free(some[:, some[2] > late]), others], axis=1)
        self.first_end = self.earliest_end

    @property
    def earliest_end(self):
        """The smallest end of the undecided candidates; ENDLESS without candidates."""
        return min((int(rows[2].min()) for rows in (self._open, *self._new) if rows.size), default=ENDLESS)

    def hand_over(self):
        """Remove the matches decided since the last call from the pool and return them."""
        matches, self._decided = self._matches(), []
        return matches

    def _decide(self, rows, reader):
        if rows.size:
            self._decided.append(self._chosen(rows, reader))
        if self._is_best and self._decided:
            matches = self._matches()
            self._decided = [matches]
            k = self.choice.n_matches
            if matches.shape[1] >= k:
                last = np.lexsort((self._place(matches), matches[0]))[k - 1]
                self.limit = min(self.limit, self._limit_at(matches, last))

    def _limit_at(self, rows, k):
        return Limit(float(rows[0, k]), int(self._place(rows)[k]))

    def _chosen(self, rows, reader):
        """Return the matches among candidates that form whole groups."""
        rows = rows[:, np.argsort(self._place(rows), kind="stable")]
        candidates = Candidates(rows[0], *rows[1:].astype(np.int64), self.slack)
        start, end, by, distance, version = choose(reader, candidates, self.choice._replace(n_matches=None))
        if self.reports:
            start, end = reader.centered(start, end, version)
        return np.array([by, distance, version, start, end])

    def _matches(self):
        """Return the decided matches that come no later than the limit."""
        matches = np.concatenate([np.empty((5, 0)), *self._decided], axis=1)
        return self._within(matches)

    # ------------------------------------------------------------------------------------------ the falling limit
    def _begin_limit(self, found, feed):
        """Set a first limit from the nearest window of each stretch; without a limit all windows would wait."""
        stretches = found.distance[: len(found.distance) // self.plan.m * self.plan.m].reshape(-1, self.plan.m)
        if len(stretches) < self.choice.n_matches:
            return
        nearest = np.argmin(stretches, axis=1) + np.arange(0, stretches.size, self.plan.m)
        rows = self._near(Candidates(*(column[nearest] for column in found[:3]), found.slack))
        self._tighten(rows, feed)

    def _tighten(self, rows, feed):
        """Lower the limit to a position that at least k matches come no later than, whatever is unknown.

        Candidates must be in the order of a profile.
        """
        rows = np.array([rows[0] * (1.0 + 3.0 * self.slack), *rows[1:]])  # at least the exact distances
        k, overlap = self.choice.n_matches, self.choice.max_overlap
        known, horizon = np.sort(self._matches()[0]), feed.horizon(self.limit.distance)
        begin, most = self.edges[0] if self.edges else 0, 2 * k + 1
        while True:
            chosen = select(*rows, n_matches=most, max_overlap=overlap)
            distance, start, end = rows[:, chosen]
            apart = np.ones(len(chosen), bool) if overlap == 1.0 else (end <= horizon) & (start >= begin)
            certain = -(-np.cumsum(apart) // self._most_overlapped(rows, chosen))
            enough = np.flatnonzero(np.searchsorted(known, distance) + certain >= k)
            if len(enough):
                self.limit = min(self.limit, self._limit_at(rows, chosen[enough[0]]))
            if len(enough) or len(chosen) < most:
                return
            most *= 2

    def _most_overlapped(self, rows, chosen):
        """Return how many chosen candidates one candidate up to the last chosen one can overlap at most."""
        if self.choice.max_overlap == 1.0 or not len(chosen):
            return 1
        if self.of_one_length:
            return 2  # because all have one length
        first, last = np.sort(rows[1][chosen]), np.sort(rows[2][chosen])
        _, start, end = rows[:, rows[0] <= rows[0][chosen[-1]]]
        return int((np.searchsorted(first, end) - np.searchsorted(last, start, "right")).max())

    # ---------------------------------------------------------------------------------------------- joining parts
    def cut(self, state):
        """Drop the candidates before a state, because the preceding part supplies the correct ones."""
        if self.plan.mode == "windows":
            return
        self._open = self._open[:, self._place(self._open) > state.at]
        for groups in (self._beside, self._new):
            groups[:] = [rows[:, self._place(rows) > state.at] for rows in groups]
        self._decided = [rows[:, rows[-2] >= state.at] for rows in self._decided]

    def joined(self, others, reader):
        """Return the matches of this and other parts in the order of choice; None if matches may be missing.

        They may be missing if a limit was too low, because it came from candidates that were dropped.
        """
        pools = [self, *others]
        self.limit = min(pool.limit for pool in pools)
        self.slack = max(pool.slack for pool in pools)
        rows = np.concatenate([a for pool in pools for a in (pool._open, *pool._new, *pool._beside)], axis=1)
        self._decided = [a for pool in pools for a in pool._decided]
        self._decided.append(self._chosen(self._within(rows, self.slack), reader))
        matches, k = self._matches(), self.choice.n_matches
        order = np.lexsort((self._place(matches), matches[0]))[:k]
        if self._is_best and len(order) < k and self.limit < self.first_limit:
            return None
        return matches[:, order]


class ProfilePool:
    """Pool that keeps all candidates of a part, and decides nothing before the end."""

    limit, begin, ranges = Limit(), ENDLESS, frozenset()

    def __init__(self, plan):
        self.plan, self._found = plan, []

    def take(self, feed, found, reader):
        """Add the newest candidates of a profile."""
        self._found.append(found)

    def decide(self, *_):
        """Do nothing: all candidates are kept, so there is nothing to decide and no edge to mark."""

    mark = decide

    def cut(self, state):
        """Drop the candidates before a state, because the preceding part supplies the correct ones."""
        if self.plan.mode == "subsequence":
            for k, found in enumerate(self._found):
                columns = found.columns
                self._found[k] = Candidates(*(column[columns[2] > state.at] for column in columns), found.slack)

    def joined(self, others, reader):
        """Return the profile of the whole sequence from this and the other parts."""
        found = [one for pool in [*others, self] for one in pool._found]
        others, self._found, slack = [], [], max((one.slack for one in found), default=0.0)
        n, plan, subsequence = len(reader.source), self.plan, self.plan.mode == "subsequence"
        distance = np.full(n if subsequence else n - plan.shortest + 1, np.inf)
        start, length = (np.full(n, -1, np.int64), None) if subsequence else (None, plan.m)
        if plan.lengths is not None:
            length = np.full(len(distance), plan.shortest)
        for one in found:
            own, begin, end = one.columns
            at = end - 1 if subsequence else begin
            distance[at] = own
            if subsequence:
                start[at] = begin
            elif np.ndim(length):
                length[at] = end - begin
        return Profile(distance, start, length, slack)


# -------------------------------------------------------------------------------------------------- parts of a sequence
def first_of(searches, begin):
    """Return the first sample that a part starting at `begin` has to read."""
    leads = []  # samples before its start that each search reads
    for plan, _ in searches:
        if plan.by_range:
            leads.append(max(plan.range_lengths[1] - 1, 1))
        else:
            windows = max(plan.longest - 1 + 2 * plan.reach, 1)
            leads.append(LEAD * plan.m if plan.mode == "subsequence" else windows)
    return max(begin - max(leads), 0)


class QueryPart:
    """Search for one query in a part of a sequence from sample `begin` on; the part ends with the last sample it gets.

    It reads samples from `first` on, at the latest the sample that `first_of` returns.
    """

    def __init__(self, plan, choice, begin, first, *, whole=False):
        self.plan, self.begin = plan, begin
        whole = whole or choice.needs_all
        self.rule = None if whole else choice
        kind = WindowProfile
        if plan.mode == "subsequence":
            kind = RangeProfile if plan.by_range else SubsequenceProfile
        self.feed = kind(plan, self.rule, first)
        self.pool = ProfilePool(plan) if whole else MatchPool(plan, choice)
        self.states = []  # stored for comparison with the preceding part
        self._next = begin if begin else ENDLESS
        # Windows of one length, and ranges, find a limit from the first chunk whatever its size.
        at_once = whole or choice.n_matches is None or plan.by_range or self.pool.of_one_length
        self._size = ENDLESS if at_once else FIRST

    def take(self, y, ty, reader):
        """Add the next samples (channels, n) and their times."""
        at, first = 0, self.feed.seen
        while at < y.shape[1]:
            end = min(y.shape[1], self._next - first, at + self._size)
            self.feed.append(y[:, at:end], None if ty is None else ty[at:end])
            self._size, at = min(2 * self._size, ENDLESS), end
            found = self.feed.candidates()
            if self.feed.seen > self.begin:
                self.pool.take(self.feed, found, reader)
                if self.rule is not None:  # the pool's limit also excludes windows
                    self.feed.rule = self.rule.below(self.pool.limit.distance)
            if self.feed.seen == self._next:
                self._keep_state()

    def needed(self, further):
        """Return the first sample that an undecided result depends on, minus `further` samples."""
        horizon = self.feed.horizon(self.pool.limit.distance)
        return min(min(self.pool.begin, horizon) - self.plan.reach - further, self.feed.needed)

    def _keep_state(self):
        state = self.feed.state()
        self.states.append(state)
        self.pool.mark(state)
        after = max(2 * (self._next - self.begin), self.plan.m)
        self._next = self.begin + after if self.plan.mode == "subsequence" else ENDLESS

    def goes_on_to(self, end, source):
        """Read the samples of a source up to sample `end`."""
        if end == self.feed.seen:
            return
        for y, ty, _ in source.chunks(self.feed.seen, end):
            self.take(y, ty, CandidateReader(self.plan, source))
            self.feed.forget(self.feed.seen)

    def follows(self, before, source):
        """Continue the search `before` until its state equals one of this part; if none does, to the end of this part.

        Return whether such a state was found, so that the rest of this part holds.
        """
        for state in self.states:
            before.goes_on_to(state.seen, source)
            if before.feed.agrees(state, before.pool.limit.distance):
                self.pool.cut(state)
                self.pool.limit = min(self.pool.limit, before.pool.limit)
                self._next = ENDLESS
                return True
        before.goes_on_to(self.feed.seen, source)
        return False


def joined(parts, source):
    """Return the joint result of adjacent parts of one query that cover a sequence."""
    last, pools = parts[0], []
    for part in parts[1:]:
        if part.follows(last, source):
            pools.append(last.pool)
            last = part
    reader = CandidateReader(last.plan, source)
    last.pool.take(last.feed, last.feed.candidates(last=True), reader)
    return last.pool.joined(pools, reader)


def found_by(parts, plan, choice, source):
    """Return the matches of adjacent parts of one query that cover a sequence."""
    result, reader = joined(parts, source), CandidateReader(plan, source)
    if result is None:  # a limit was too low
        result = joined(run_part(source, [(plan, choice)], 0, parts[-1].feed.seen), source)
    if isinstance(result, Profile):
        return chosen(reader, result, choice)
    version, start, end = result[2:].astype(np.int64)
    return Found(*reader.centered(start, end, version), result[1], reader, version)


def run_part(source, searches, begin, end, whole=False, count=None):
    """Return the parts of all searches for the samples [begin, end)."""
    first = first_of(searches, begin)
    parts = [QueryPart(plan, choice, begin, first, whole=whole) for plan, choice in searches]
    readers = [CandidateReader(plan, source) for plan, _ in searches]
    for y, ty, _ in source.chunks(first, end):
        for part, reader in zip(parts, readers, strict=True):
            part.take(y, ty, reader)
            part.feed.forget(part.feed.seen)
        if count is not None:
            count()
    for part in parts:  # release spare memory, because all parts are kept until the last one is done
        part.feed.shrink()
    return parts


# ------------------------------------------------------------------------------------------------------------ sequences
def jobs_of(source, n_jobs, calls):
    """Return how many jobs a sequence can use if it is one of `calls` calls; infinite if dask runs the jobs."""
    if source.has_engine:
        return np.inf
    jobs = count_jobs(n_jobs) if len(source) >= 2 * LEAST else 1
    return jobs if calls < jobs else 1


def cut(n, jobs, lead, piece=1):
    """Return the edges of the parts into which n samples are divided, at multiples of `piece`."""
    count = min(EACH * jobs, n // max(LEAST, 2 * lead), max(n // max(LEADS * lead, 1), jobs))
    count = max(count - count % jobs if count > jobs else count, 1) if jobs > 1 else 1
    inner = {round(k * n / count / piece) * piece for k in range(1, count)}
    return sorted({0, n, *(at for at in inner if 0 < at < n)}) if n else [0, 0]


def search_ranges(source, searches, jobs=1, verbose=0):
    """Return the matches of each search in a sequence, in parts for `jobs` jobs."""
    searches = checked(source, searches)
    if not _goes_by_parts(source, searches, jobs):  # threads search the whole sequence together
        return [matched(Search(plan, source.y, source.ty), choice, source, jobs) for plan, choice in searches]
    every = _parts_of_each(source, searches, jobs, verbose, "search")
    return [found_by(parts, *search, source) for parts, search in zip(every, searches, strict=True)]


def _goes_by_parts(source, searches, jobs):
    """Return whether a sequence is searched by chunks or in parts for jobs, instead of by its whole profile.

    If windows are pruned, threads search the whole sequence together, so that they share the limit at once. A sequence
    in memory is searched by chunks if only the best few of many subsequences are wanted.
    """
    if not source.in_memory or jobs > 1:
        together = source.in_memory and jobs_are_threads()
        return not (together and all(prunes(plan, choice, len(source)) for plan, choice in searches))
    ((plan, choice),) = searches  # with one job, a sequence in memory has one search
    few = plan.mode == "subsequence" and choice.percentile is None and choice.n_matches is not None
    return few and len(source) >= max(LONG, RARE * choice.n_matches * plan.m)


def profile_ranges(source, queries, jobs=1, verbose=0, *, warned=False):
    """Return the profile of each query over a sequence, in parts for `jobs` jobs; `warned` turns on warnings."""
    if warned and source.in_memory:
        warn_of_sequences(queries, [source.y])
    searches = checked(source, [(plan, Choice()) for plan in queries])
    if jobs == 1 and source.in_memory:
        return [Search(plan, source.y, source.ty).profile() for plan, _ in searches]
    of_windows = all(plan.mode == "windows" and plan.lengths is None for plan, _ in searches)
    if source.in_memory and jobs_are_threads() and of_windows:
        return _filled(source, [plan for plan, _ in searches], jobs, verbose)
    return [joined(parts, source) for parts in _parts_of_each(source, searches, jobs, verbose, "profile", whole=True)]


def _filled(source, queries, jobs, verbose):
    """Return the profiles of windows of one length over a sequence in memory; threads fill them in place."""
    places, out = [], [np.empty(len(source) - plan.m + 1) for plan in queries]
    for k, one in enumerate(out):
        end = 0
        while (begin := end) < len(one):  # pieces get smaller: few at first for less overhead, small ones at the end
            size = max(2 * LEAST, 2 * (len(one) - begin) // (3 * jobs))
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
    """Return the searches as they apply to a sequence: without times if it has none; refuse windows that do not fit."""
    for plan, _ in searches:
        if plan.mode == "windows":
            check_room(plan.shortest, len(source))
    return searches if source.timed else [(plan.untimed, choice) for plan, choice in searches]


def _parts_of_each(source, searches, jobs, verbose, name, *, whole=False):
    """Return, for each search, its parts in all ranges."""
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
    return list(map(list, zip(*parts, strict=True)))


def _in_jobs(works, jobs, has_bar, n_jobs, verbose, name):
    """Return the joint results of delayed calls that return lists; in jobs, unless the calls use `jobs` themselves.

    A progress bar counts the calls, unless the only call shows its own (`has_bar`).
    """
    if len(works) == 1 and (not verbose or has_bar):
        work, arguments, keywords = works[0]
        return work(*arguments, **keywords)
    found = in_jobs(works, 1 if jobs > 1 else n_jobs, verbose, name, "search")
    return [one for some in found for one in some]


def run_searches(sources, searches, n_jobs, verbose, *, listed=False, apart=False):
    """Return a list of `Found`, for all searches in the first source, then in the next.

    Parameters
    ----------
    sources : list
        Sources of the sequences.
    searches : list of lists of (QueryPlan, Choice)
        The searches in each source.
    listed : bool
        Whether the sequences are entries of a list, whose index errors name.
    apart : bool
        Whether each search is a call of its own, as for decoys, which have whole profiles.
    """
    source, own = sources[0], searches[0]
    if source.in_memory and len(own) == 1 and len(source) < 2 * LEAST and not (listed or verbose):
        (plan, choice), *_ = own  # fast path for most calls
        search = Search(plan, source.y, source.ty)
        return [chosen(CandidateReader(search.plan, source), search.profile(choice), choice)]
    works, readers, inner, has_bar = [], [], 1, False
    for k, (source, own) in enumerate(zip(sources, searches, strict=True)):
        place = f"X[{k}]" if listed else None
        with located(place):
            own = checked(source, own)
        jobs = jobs_of(source, n_jobs, len(sources) * (len(own) if source.in_memory else 1))
        # A sequence that is read by chunks is read once for all queries.
        groups = [[one] for one in own] if apart or (jobs == 1 and source.in_memory) else [own]
        works += [delayed(_found)(group, source, place, jobs, verbose) for group in groups]
        inner = max(inner, jobs)
        has_bar = _goes_by_parts(source, groups[0], jobs)
        readers += [CandidateReader(plan, source) for plan, _ in own]
    found = _in_jobs(works, inner, has_bar, n_jobs, verbose, "search")
    return [one._replace(reader=reader) for one, reader in zip(found, readers, strict=True)]


def _found(searches, source, place, jobs, verbose):
    """Search a sequence in `jobs` jobs; the results have no readers, which the caller adds."""
    with located(place):
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

    Time points at which no candidate ends get the largest finite distance, or 0 if there is no finite one.
    """
    jobs = jobs_of(source, n_jobs, len(queries))
    works = [delayed(_ending)(plan, source, jobs, verbose) for plan in queries]
    return _in_jobs(works, jobs, jobs > 1 or not source.in_memory, n_jobs, verbose, "transform")


def _ending(plan, source, jobs, verbose):
    # A window may be best among those with its end but not among those with its start.
    lengths = [None] if plan.lengths is None else [np.array([length]) for length in plan.lengths]
    checked(source, [(plan, None)])  # at least the shortest window must fit
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
MOST = 2**22  # samples per task, unless a chunk has more: large enough to make scheduling time negligible
TASKS = 64  # minimum number of tasks for an array: enough for many workers


def is_dask(X):
    """Return whether an object is a dask array, without importing dask."""
    array = sys.modules.get("dask.array")
    return array is not None and isinstance(X, array.Array)


def edges_of_chunks(chunks, lead):
    """Return the edges of the tasks' ranges, at borders of chunks; each of several spans at least two leads."""
    n, edges = sum(chunks), [0]
    for end in np.cumsum(chunks).tolist():
        if end - edges[-1] >= max(min(n // TASKS, MOST), LEAST, 2 * lead):
            edges.append(end)
    if n - edges[-1] >= 2 * lead or len(edges) == 1:
        edges.append(n)
    edges[-1] = n
    return edges


class Block(ChunkedSource):
    """Samples of a task's range and some before it, in the memory of the process that searches them."""

    notices = False

    def __init__(self, searcher, clock, X, times, first):
        self.searcher, self._clock, self._X, self._times = searcher, clock, X, times
        self.first, self.size = first, _sources.CHUNK

    def read(self, start, end):
        return super().read(start - self.first, end - self.first)

    def extent(self, start):
        return self.first, self.first + len(self.X)


def search_range(work, first, begin, y, times=()):
    """Return the parts of all searches for the samples from `begin` on; the arrays `y` start at sample `first`.

    `work` is the same for all tasks: the searcher, its clock, the searches, and whether whole profiles are wanted.
    """
    searcher, clock, searches, whole = work
    y = np.concatenate([as_points(one, "X") if np.ma.isMaskedArray(one) else np.asarray(one) for one in y])
    source = Block(searcher, clock, y, np.concatenate(times) if times else None, first)
    parts = run_part(source, searches, begin, first + len(y), whole)
    for part in parts:  # decide here what can be decided, so that the client needs no samples
        part.pool.decide(part.feed, CandidateReader(part.plan, source))
    return parts


class DaskSource(ChunkedSource):
    """A dask array, read by chunks where samples are needed."""

    has_engine, notices = True, False

    def cuts(self, start, end):
        """Return the samples of several ranges, all computed at once."""
        import dask

        found = dask.compute(*(self.X[s:e] for s, e in zip(start.tolist(), end.tolist(), strict=True)))
        return [as_series(np.asarray(y), "X", missing=True) for y in found]

    def parts(self, searches, verbose, name, whole):
        """Return the parts of the searches in the ranges of the array."""
        import dask

        check_table(self.searcher, self.X)
        tasks = self._tasks(searches, whole)
        with progress(len(tasks), verbose, name, "part") as count:
            found = dask.compute(*tasks)
            count(len(tasks))
        if self.timed and len(self) > 1:
            given = as_dates(self.times[: self.size])
            notice(self.searcher, None, given, as_times(given, len(given), "times"))
        return found

    def _tasks(self, searches, whole):
        import dask.array

        searcher, X, n = copy(self.searcher), self.X, len(self)
        vars(searcher).pop("feature_names_in_", None)  # workers get arrays without names; the client has warned already
        work = dask.delayed((searcher, self._clock, searches, whole), traverse=False)
        lead = n - first_of(searches, n)
        edges = edges_of_chunks(X.chunks[0], lead)
        sizes, search, tasks = tuple(np.diff(edges).tolist()), dask.delayed(search_range, pure=False), []
        blocks = [X.rechunk((sizes, *[-1] * (X.ndim - 1))).to_delayed().ravel()]
        if self.timed:
            times = self.times if is_dask(self.times) else dask.array.from_array(as_dates(self.times), name=False)
            blocks.append(times.rechunk((sizes,)).to_delayed())
        for k, begin in enumerate(edges[:-1]):
            held = [[one[k - 1][-lead:], one[k]] if k else [one[0]] for one in blocks]
            tasks.append(search(work, max(begin - lead, 0), begin, *held))
        return tasks


# ---------------------------------------------------------------------------------------------------- parts and streams
FORGOTTEN = 2  # samples after a range that are kept, because they give the time of its end


class _Parts(ChunkStream):
    """Base class of searches in chunks for one or several queries, with a part for each query."""

    def _count_samples(self):
        self._searches = [(plan.untimed, choice) for plan, choice in self._searches]
        self._begin()

    def _forget(self):
        return min(part.feed.first for part in self._parts)


class PartialSearch(_Parts):
    """A search of one part of a recording; made by `QuerySearcher.partial_search`. It does not need earlier parts.

    Parts may be fed in any order, on any machine, and pickled at any time, so that a long search can be saved and
    continued. `merge_parts` merges all parts into the matches of one search of the whole recording. A part needs some
    samples before its start, from `first` on: four query lengths in a subsequence search, one window length otherwise.

    Attributes
    ----------
    begin : int
        Sample of the recording at which the part starts; it ends where its samples end.
    first : int
        First sample to feed.
    n_samples_seen : int
        Sample of the recording to feed next.

    Examples
    --------
    >>> from sktslib import QuerySearcher, load_ecg_example
    >>> from sktslib.search import merge_parts
    >>> ecg = load_ecg_example()
    >>> searcher = QuerySearcher("dtw", n_matches=3).fit(ecg["query"])
    >>> parts = [searcher.partial_search(at) for at in (0, 700)]
    >>> for part, end in zip(parts, (700, 1200)):  # each may be another machine's work
    ...     _ = part.feed(ecg["sequence"][part.first : end])
    >>> merge_parts(parts).start.tolist() == searcher.search(ecg["sequence"]).start.tolist()
    True
    """

    def __init__(self, searcher: Any, begin: int = 0, start_time: Any = None) -> None:
        self.begin = check_count(begin, "at", low=0)
        check_fixed(searcher, "a part of a search")
        self._searcher, self._searches = copy(searcher), searcher._searches
        clock, self._dated = Clock(searcher._queries), start_time is not None
        if start_time is not None:
            clock.begin(as_dates(given_times([start_time], "start_time")))
        self._begin()
        super().__init__(self._searcher, Entrance(self._searcher, clock, self.first))

    def _begin(self):
        self.first = first_of(self._searches, self.begin)
        self._parts = [QueryPart(plan, choice, self.begin, self.first) for plan, choice in self._searches]
        self._pieces = [{} for _ in self._parts]  # samples and times, by range
        self._border = []

    def feed(self, X: Sequences, times: Times | None = None) -> PartialSearch:
        """Add the next samples.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The samples of the recording from `n_samples_seen` on.
        times : array-like of shape (n,), optional
            Their times; with every chunk of all parts or with none.

        Returns
        -------
        PartialSearch
            Itself.
        """
        return self._update(X, times)

    def _take(self, y, ty, gaps):
        if self._entrance.clock.origin is not None and self.begin and not self._dated:
            raise ValueError(
                "The 'start_time' parameter of partial_search must be given if a part does not start with the "
                "recording and datetimes are compared, which count from the recording's first one. Got None."
            )
        for part, pieces in zip(self._parts, self._pieces, strict=True):
            reader = CandidateReader(part.plan, part.feed)
            part.take(y, ty, reader)
            if part.feed.is_full:  # decide now, because no candidate may wait for samples that will be forgotten
                part.pool.decide(part.feed, reader)
                needed = part.pool.ranges
                for known in pieces.keys() - needed:  # pieces of former matches
                    del pieces[known]
                pieces |= {known: self._piece(part, *known) for known in needed - pieces.keys()}
                self._border = self._known_border
                part.feed.forget(part.needed(FORGOTTEN))

    def _no_result(self):
        return self

    @property
    def _known_border(self):
        """The first samples of the part, which the preceding part may need; empty before there are any."""
        reach = max(plan.reach for plan, _ in self._searches) + FORGOTTEN
        if self._border and self._border[0][1].shape[1] + self._border[0][0] >= self.begin + reach:
            return self._border
        return [self._piece(self._parts[0], self.begin, self.begin)] if self.begin < self.n_samples_seen else []

    def _piece(self, part, start, end):
        """Return the samples of a range and those it depends on.

        The entries are the index of the first sample, the samples, their times for kernels, and their times as given.
        """
        feed, reach = part.feed, part.plan.reach + FORGOTTEN
        first, last = max(start - reach, feed.first), min(end + reach, feed.seen)
        y, ty = feed.cut(first, last)
        times = self._entrance.times
        given = None if times is None else times.at(np.arange(first, last))
        return first, y.copy(), None if ty is None else ty.copy(), given

    def state(self) -> State | list[State]:
        """Return the state on which later candidates depend; for several queries a list of states.

        If one part is continued to the start of another, and their states are equal there, both agree from there on.

        Returns
        -------
        State
            Samples seen, where the next candidates end at the earliest (of windows: where the next one starts), where
            the needed samples start, and accumulated costs and starts of the column (None for windows).
        """
        return self._searcher._of_each([part.feed.state() for part in self._parts])


def merge_parts(parts: list[PartialSearch], sequence: Any = None, times: Times | None = None) -> Matches:
    """Merge the parts of a search into the matches of one search of the whole recording.

    From left to right each part is continued into the next one until both agree in all costs and starts, to the bit;
    usually they agree at once. Otherwise samples are needed again, for a constant recording all of them.

    Parameters
    ----------
    parts : list of PartialSearch
        All parts of one recording, by one searcher, each of which ends where another one starts. They do not change.
    sequence : array-like of shape (n,) or (n, channels), optional
        The recording, or an object that can be sliced like it, for samples of parts that do not agree. Required if
        `threshold` is a `Percentile`, and if neither `n_matches` nor `threshold` is set.
    times : array-like of shape (n,), optional
        Sample times of the recording, if the parts got any.

    Returns
    -------
    Matches
        The matches of ``searcher.search(sequence)``.

    Raises
    ------
    ValueError
        If parts are missing or are not of one searcher, if times do not increase from part to part, if `sequence` has
        another number of samples than the parts, or if two parts do not agree and `sequence` is None.

    Examples
    --------
    >>> import pickle
    >>> import numpy as np
    >>> from sktslib import QuerySearcher
    >>> from sktslib.search import merge_parts
    >>> searcher = QuerySearcher("euclidean", n_matches=2).fit([0, 2, 0])
    >>> y = np.array([5.0, 0, 2, 0, 5, 5, 0, 1, 0, 5])
    >>> first, second = searcher.partial_search(), searcher.partial_search(5)
    >>> second.first, first.feed(y[:4]).n_samples_seen
    (3, 4)
    >>> saved = pickle.dumps(first)
    >>> list(merge_parts([pickle.loads(saved).feed(y[4:5]), second.feed(y[3:])]))
    [Match(start=1, end=4, distance=0.0), Match(start=6, end=9, distance=1.0)]
    """
    parts = _in_order(parts)
    searcher, searches, n = parts[0]._searcher, parts[0]._searches, parts[-1].n_samples_seen
    known = times_of(sequence, times)
    timed = parts[0]._entrance.times is not None
    if sequence is not None and (known is not None) != timed:
        got = "none" if known is None else "some"
        raise ValueError(
            f"'times' must be given with 'sequence' if the parts were fed times, and only then. Got {got}, and parts "
            f"{'with' if timed else 'without'} times."
        )
    if sequence is not None and n_samples(sequence) != n:
        got = f"{n_samples(sequence)} samples, and parts that end at {n}"
        rule = "hold the samples that the parts were fed"
        raise refused("'sequence'", rule, got, "Feed the last part the rest, or cut the sequence there.")
    if sequence is None and any(choice.needs_all for _, choice in searches):
        raise ValueError(
            "The 'sequence' parameter of merge_parts must be given where 'threshold' of QuerySearcher is a Percentile, "
            "and where neither 'n_matches' nor 'threshold' is set, because only at the end is it known which "
            "samples matches need. Got None."
        )
    pieces = [piece for part in parts for some in part._pieces for piece in some.values()]
    for part in parts:  # the samples at the border, and those of undecided candidates
        pieces += [*part._known_border, *(part._piece(one, one.feed.first, one.feed.seen) for one in part._parts)]
    source = searcher._source(sequence, times) if sequence is not None else HeldRanges([p[:3] for p in pieces])
    found = []
    for k, (plan, choice) in enumerate(searches):
        found.append(found_by([deepcopy(part._parts[k]) for part in parts], plan, choice, source))
    if timed and sequence is None:  # times of the samples at which matches may start and end
        last, samples = parts[-1]._entrance.times, [np.arange(p[0], p[0] + len(p[3])) for p in pieces]
        given = np.concatenate([*(piece[3] for piece in pieces), last.at([n])])
        known = SparseTimes(np.concatenate([*samples, [n]]), last.as_given(given))
    rest = known, getattr(searcher, "classes_", None), None, np.array(searcher._thresholds, float)
    return matches_of(found, len(found), searches[0][1].n_matches, *rest, calibrations=calibrations_of(searcher))


def _in_order(parts):
    """Return the parts from left to right; refuse them if one is missing or does not fit."""
    if not isinstance(parts, list | tuple) or not parts or not all(isinstance(part, PartialSearch) for part in parts):
        got = "an empty list" if isinstance(parts, list | tuple) and not parts else type(parts).__name__
        raise TypeError(f"'parts' must be a list of parts that QuerySearcher.partial_search made. Got {got}.")
    parts = sorted(parts, key=lambda part: part.begin)
    if parts[0].begin:
        raise ValueError(f"'parts' must start at sample 0. Got {parts[0].begin} as the first start.")
    for before, after in pairwise(parts):
        if before.n_samples_seen != after.begin:
            raise ValueError(
                "'parts' must follow each other. Got one that was fed the samples up to "
                f"{before.n_samples_seen} and a next one that starts at {after.begin}. Feed the first one the rest."
            )
    if parts[-1].n_samples_seen <= parts[-1].begin and parts[-1].begin:
        raise ValueError(f"Each part must be fed samples after its start. Got none after {parts[-1].begin}.")
    timed = [part._entrance.times is not None for part in parts if part.n_samples_seen > part.first]
    if len(set(timed)) > 1:
        raise ValueError("'parts' must all be fed times, or none. Got some with times and some without.")
    for before, after in pairwise(parts):
        if not equal(_facts(before), _facts(after)):
            got, out = f"others in the one that starts at {after.begin}", "Make all parts by the same fitted searcher."
            raise refused("'parts'", "be of one searcher, whose query and parameters are the same", got, out)
        if timed[0]:  # times must increase from one part to the next
            first, _, _, given = after._known_border[0]
            before._entrance.times.kind_with(given[after.begin - first :], after._entrance.times.zone)
    return parts


def _facts(part):
    """Return what all parts of a search must have in common, except functions: unpickled ones are never equal."""
    return [
        [metric.name, {k: v for k, v in vars(metric).items() if not callable(v)}, plan, *choice]
        for (metric, *plan), choice in ((plan.__getstate__().values(), choice) for plan, choice in part._searches)
    ]


class Stream(_Parts):
    """A search that continues with every chunk of a sequence; made by `QuerySearcher.stream`.

    A match is reported as soon as no later one can overlap it, and the matches are those of a search of the whole
    sequence (Sakurai, Faloutsos & Yamamuro 2007), unless `max_delay` is set. They are ordered by their starts; with
    several queries one that is decided later may start earlier. Memory: the samples of undecided candidates. A stream
    can be pickled and continued.

    Attributes
    ----------
    n_samples_seen : int
        Number of samples received.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> stream = QuerySearcher("dtw", threshold=0.1).fit([0, 2, 0]).stream()
    >>> len(stream.update([5, 0, 2])), list(stream.update([2, 0, 5, 0])), len(stream.flush())
    (0, [Match(start=1, end=5, distance=0.0)], 0)
    """

    def __init__(self, searcher: Any, max_delay: float | None = None) -> None:
        check_fixed(searcher, "a stream")
        searches = searcher._searches
        percentile = searches[0][1].percentile
        if percentile is not None:
            raise ValueError(
                "The 'threshold' parameter of QuerySearcher must not be a Percentile for a stream: it is one of all "
                f"distances, which are known only at the end of the sequence. Got Percentile({percentile!r}). Set a "
                "number, for example that percentile of the finite profile(X).distance of a recording X like it."
            )
        if any(choice.threshold is None for _, choice in searches):
            rule = "be set for a stream: without it the best places are known only at the end of the sequence"
            raise refused("The 'threshold' parameter of QuerySearcher", rule, "None")
        for plan, _ in searches:
            what = "the length of the query" if plan.lengths is None else "that of the longest window"
            least, (low, high) = plan.longest, plan.limits
            if plan.mode == "subsequence":
                least = max(min(plan.m, high or plan.m), low or 1)
                what += ", or the shortest length that Subsequences allows"
            check_delay(max_delay, least, what, plan.reach, "an occurrence would be given up")
        super().__init__(searcher)
        self.max_delay, self._classes = max_delay, getattr(searcher, "classes_", None)
        self._calibrations = calibrations_of(searcher)
        self._searches = searches
        self._begin()

    def _begin(self):
        self._parts = [QueryPart(plan, choice._replace(n_matches=None), 0, 0) for plan, choice in self._searches]
        for part in self._parts:
            part.pool.reports = True
        self._due = [0] * len(self._parts)  # number of samples before which nothing can be decided
        self._best = [[] for _ in self._parts]  # rows of the best matches, if only these are reported

    def update(self, X: Sequences, times: Times | None = None) -> Matches:
        """Add the next samples, and return what they decide.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            Samples that follow those before; there may be none.
        times : array-like of shape (n,), optional
            Their times; with every chunk or with none.

        Returns
        -------
        Matches
            The occurrences that are decided now, in order of time; ranges count from the stream's first sample. With
            `n_matches` set the best ones are known only at the end, so nothing is reported before `flush`.
        """
        return self._update(X, times)

    def flush(self) -> Matches:
        """End the stream and return the occurrences that were not decided yet.

        Returns
        -------
        Matches
            In order of time; with `n_matches` set, the best ones of the whole stream.
        """
        return self._flush()

    def _take(self, y, ty, gaps):
        for part in self._parts:
            part.feed.append(y, ty)
        found = self._decided(gaps)
        return found if any(found) else None

    def _decided(self, gaps, last=False):
        """Return the rows of each query that are decided by now, see `_rows`; everything before a gap is decided."""
        found, seen = [[] for _ in self._parts], self.n_samples_seen
        for k, part in enumerate(self._parts):
            if gaps or seen >= self._due[k]:
                found[k] = self._decide(k, last)
                if part.feed.is_full:
                    part.feed.forget(part.needed(self._times is not None))
        return found

    def _decide(self, k, last):
        """Return the rows of a query that its newest candidates decide; at the end of the sequence, all others."""
        part, (plan, choice) = self._parts[k], self._searches[k]
        feed, pool, reader = part.feed, part.pool, CandidateReader(plan, part.feed)
        pool.take(feed, feed.candidates(last), reader)
        if pool.first_end < ENDLESS:
            horizon = feed.seen if last else feed.horizon(choice.threshold)
            if self._times is not None and not last:  # the time of an end is that of the next sample
                horizon = min(horizon, feed.seen - 1)
            if horizon >= pool.first_end:
                pool.decide(feed, reader, horizon)
        if self.max_delay is not None and not last:
            pool.decide_early(feed.seen - self.max_delay, feed, reader)
        self._due[k] = feed.due(pool.first_end)
        if self.max_delay is not None:
            self._due[k] = min(self._due[k], pool.earliest_end + self.max_delay)
        rows = self._rows(reader, pool.hand_over())
        if choice.n_matches is None:
            return rows
        # Only the best of the whole stream count. Ties: the earliest, which a stable sort keeps first.
        self._best[k] = sorted([*self._best[k], *rows], key=lambda row: row[0][0])[: choice.n_matches]
        return self._best[k] if last else []

    def _rows(self, reader, matches):
        """Return decided matches as columns of a pool, with the samples and the times that each depends on."""
        rows = []
        for match in matches.T:
            start, end = match[-2:].astype(int).tolist()
            first, y, ty = reader.read(start, end)
            known = None if self._times is None else self._times.at(edges(start, end, reader.plan.max_gap))
            rows.append((match, (first, y.copy(), None if ty is None else ty.copy()), known))
        return rows

    def _result(self, found):
        found, times, listed = found or [[] for _ in self._parts], None, []
        for rows, (plan, _) in zip(found, self._searches, strict=True):
            _, distance, *ranges = np.array([match for match, *_ in rows], float).reshape(-1, 5).T
            version, start, end = np.array(ranges, np.int64)
            reader = CandidateReader(plan, HeldRanges([piece for _, piece, _ in rows]))
            listed.append(Found(start, end, distance.copy(), reader, version))
        if self._times is not None:
            start, end = (np.concatenate([one[k] for one in listed]) for k in range(2))
            given = [known for rows in found for *_, known in rows]
            samples = edges(start, end, self._parts[0].plan.max_gap).T.ravel()
            times = SparseTimes(samples, self._times.as_given(np.concatenate([self._times.at([]), *given])))
        limits = np.array([choice.threshold for _, choice in self._searches], float)
        rest = {"calibrations": self._calibrations, "by_time": True}
        return matches_of(listed, len(listed), None, times, self._classes, None, limits, **rest)

"""Candidates of a stream until they are decided.

Candidates that may be matches, as they come: what is decided of them, and of the best k where the k-th must lie.

Candidates that overlap each other, at one remove or more, are a group. A group that nothing unknown can overlap is
decided: its matches are chosen as if it were alone. Of the best k no more is kept than comes before a limit in the
order of choice (distance, then place), which falls. It is never too low: let G be candidates that fit together, the
last of which in that order is g. Of the matches up to g each one of G is one, or overlaps one. A known candidate
overlaps q of them at most, and an unknown one those alone that lie where it can. So, if there are more than q (k - 1)
others, at least k matches come no later than g, and what comes later is not among the best k.

Searches of sequences that come in chunks: a match is reported when it is decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..distances._kernels.selection import all_free, near
from ..utils._sampling import edges
from ._chunks import Buffer, ChunkStream, SparseTimes, check_delay
from ._incremental_profile import ENDLESS, RangeProfile, SubsequenceProfile, WindowProfile, candidates_of, share_samples
from ._profile import choose
from ._results import Found, matches_of
from ._selection import Candidates, select
from ._sources import CandidateReader, Stretches
from ._thresholds import calibrations_of, check_fixed


class Groups:
    """Candidates in groups that overlap each other, held until no later candidate can overlap them."""

    def __init__(self, by_end):
        self.by_end = by_end  # whether the profile has a candidate for each end, not for each start
        self.groups = []  # [start, end, first end, candidates], ascending and apart

    def add(self, distance, start, end):
        """Add candidates."""
        if len(distance) == 1:
            self._merge(int(start[0]), int(end[0]), int(end[0]), np.array([distance, start, end]))
        if len(distance) < 2:
            return
        order = np.argsort(start, kind="stable")
        rows = np.array([distance[order], start[order], end[order]])
        cuts = np.flatnonzero(rows[1, 1:] >= np.maximum.accumulate(rows[2])[:-1]) + 1
        for part in np.split(rows, cuts, axis=1):
            self._merge(int(part[1, 0]), int(part[2].max()), int(part[2].min()), part)

    def _merge(self, start, end, first_end, rows):
        after = []
        while self.groups and self.groups[-1][0] >= end:
            after.append(self.groups.pop())
        held = None
        while self.groups and self.groups[-1][1] > start:
            *edges, more = self.groups.pop()
            start, end, first_end = min(start, edges[0]), max(end, edges[1]), min(first_end, edges[2])
            if held is None or len(more) > len(held):
                held, more = more, held
            if more is not None:
                held.append(more.values)
        if held is None:
            held = Buffer((3,))
        held.append(rows)
        self.groups += [[start, end, first_end, held], *after[::-1]]

    def close(self, horizon):
        """Remove and return the groups that end at or before a sample, each as (distance, start, end)."""
        return self._given_up(1, horizon)

    def late(self, sample):
        """Remove and return the groups with a candidate that ends at or before a sample.

        Each is returned as (distance, start, end).
        """
        return self._given_up(2, sample)

    def _given_up(self, edge, sample):
        count = 0
        while count < len(self.groups) and self.groups[count][edge] <= sample:  # they are apart, so the first ones
            count += 1
        given_up = self.groups[:count]
        del self.groups[:count]
        return [self._candidates(group[3]) for group in given_up]

    def _candidates(self, held):
        """Return candidates in the order of a profile: of equal distances its first is chosen."""
        distance, start, end = held.values
        order = np.argsort(end if self.by_end else start, kind="stable")
        return distance[order], start[order].astype(np.int64), end[order].astype(np.int64)

    @property
    def begin(self):
        """The first sample of an open group, None where there is none."""
        return self.groups[0][0] if self.groups else None

    @property
    def first(self):
        """The end of the first open group and the end of its first candidate; ENDLESS without an open group."""
        return self.groups[0][1:3] if self.groups else (ENDLESS, ENDLESS)


class Reported:
    """Ranges of matches that were decided early, and a test of what may still be a match next to them."""

    def __init__(self, max_overlap):
        self.max_overlap, self.ranges = float(max_overlap), np.empty((2, 0), np.int64)  # ascending starts

    def free(self, start, end):
        """Return whether each of some ranges overlaps none of the reported ones too much."""
        if not self.ranges.size:
            return np.ones(len(start), bool)
        longest = int((self.ranges[1] - self.ranges[0]).max())
        return all_free(*self.ranges, longest, start, end, self.max_overlap)

    def add(self, start, end, before):
        """Add further ranges, and forget those that end at or before a sample."""
        ranges = np.concatenate([self.ranges[:, self.ranges[1] > before], [start, end]], axis=1)
        self.ranges = np.ascontiguousarray(ranges[:, np.argsort(ranges[0], kind="stable")])


ROOM = 1024  # candidates that wait, at least, before a look at what is decided


class Limit(NamedTuple):
    """The last distance and place, in the order of choice, that a match may have."""

    distance: float = np.inf
    place: int = ENDLESS

    def lets(self, distance, place):
        """Return which candidates come no later than the limit; their distances must be finite."""
        return (distance < self.distance) | ((distance == self.distance) & (place <= self.place))


class MatchPool:
    """Candidates of a range that may be matches, and its matches as far as they are decided.

    Candidates are columns (distance, start, end), matches (chosen by, distance, version of the query, start, end). What
    was before `edge` is unknown, unless it is 0.
    """

    def __init__(self, plan, choice):
        self.plan, self.choice = plan, choice
        self.first_limit = self.limit = Limit(np.inf if choice.threshold is None else choice.threshold)
        self.edges = []  # samples about which candidates may turn out to be others; before the first nothing is known
        self.slack = 0.0
        self._open, self._new, self._count = np.empty((3, 0)), [], 0
        self._beside = []  # groups that are complete and reach over an edge
        self._decided = []
        self.tells, self._news = False, []  # whether anyone asks what is new

    def _place(self, rows):
        """Return the places of candidates or matches in a profile: of equal distances the first counts."""
        return rows[-1 if self.plan.mode == "subsequence" else -2]

    @property
    def _is_best(self):
        return self.choice.n_matches is not None

    def news(self):
        """Return the half-open ranges (start, end) decided since the last call: new matches, and groups at an edge."""
        news, self._news = self._news, []
        return news

    @property
    def most(self):
        """The number of ranges that can still be of use; None where all can."""
        return self._matches().shape[1] + len(self._beside) if self._is_best else None

    def holds(self, start, end):
        """Return whether a range is that of a match, or of a group at an edge."""
        matches = self._matches()
        groups = [(rows[1].min(), rows[2].max()) for rows in self._beside]
        return bool(((matches[-2] == start) & (matches[-1] == end)).any()) or (start, end) in groups

    @property
    def begin(self):
        """The first sample of what is not decided; ENDLESS where there is nothing."""
        return min((int(rows[1].min()) for rows in (self._open, *self._new) if rows.size), default=ENDLESS)

    def mark(self, state):
        """Add a state that may be compared with that of the part before."""
        self.edges.append(state.at if self.plan.mode == "subsequence" else state.seen)

    def take(self, feed, found, reader):
        """Add the candidates that a profile gave last."""
        if self._is_best and self._of_one_length and self.limit == self.first_limit:
            self._begin_limit(found, feed)
        rows = self._near(found)
        if rows.size:
            self._new.append(rows)
            self._count += rows.shape[1]
        if self._count > max(ROOM, self._open.shape[1]):  # so that each is looked at a few times
            self.decide(feed, reader)

    def _near(self, found):
        """Return the candidates that may be matches, as rows (distance, start, end)."""
        distance, start, end, slack = found
        self.slack = max(self.slack, slack)
        which = near(distance, 1.0 - slack, self.limit.distance)
        return self._within(np.array([distance[which], start[which], end[which]]), self.slack)

    def _within(self, rows, slack=0.0):
        """Return the candidates or matches that come no later than the limit, or may do so within their slack."""
        if not self._is_best:
            return rows
        return rows[:, self.limit.lets(rows[0] * (1.0 - slack), self._place(rows)) & (rows[0] < np.inf)]

    def decide(self, feed, reader):
        """Choose the matches of the groups that nothing unknown can overlap, and behind which there is a sample."""
        rows = np.concatenate([self._open, *self._new], axis=1)
        self._new, self._count = [], 0
        if self._is_best:
            rows = self._within(rows[:, np.argsort(self._place(rows), kind="stable")], self.slack)
        if not rows.size:
            self._open = rows
            return
        if self._is_best:
            self._tighten(self._at_most(rows), feed)
            rows = self._within(rows, self.slack)
        rows = rows[:, np.argsort(rows[1], kind="stable")]
        last = np.maximum.accumulate(rows[2])
        cuts = np.concatenate([[0], np.flatnonzero(rows[1, 1:] >= last[:-1]) + 1, [rows.shape[1]]])
        start, end = rows[1][cuts[:-1]], last[cuts[1:] - 1]
        done = int(np.searchsorted(end, min(feed.horizon(self.limit.distance), feed.seen - 1), "right"))
        beside = start[:done] < (self.edges[0] if self.edges else 0)
        for edge in self.edges[1:]:
            beside |= (start[:done] < edge) & (edge < end[:done])
        self._beside += [rows[:, cuts[k] : cuts[k + 1]] for k in np.flatnonzero(beside)]
        self._tell(start[:done][beside], end[:done][beside])
        beside = np.repeat(beside, np.diff(cuts[: done + 1]))
        self._open, rows = rows[:, cuts[done] :], rows[:, : cuts[done]]
        self._decide(rows[:, ~beside], reader)

    def _decide(self, rows, reader):
        if rows.size:
            self._decided.append(self._chosen(rows, reader))
            self._tell(*self._decided[-1][-2:])
        if self._is_best and self._decided:
            matches = self._matches()
            self._decided = [matches]
            k = self.choice.n_matches
            if matches.shape[1] >= k:
                last = np.lexsort((self._place(matches), matches[0]))[k - 1]
                self.limit = min(self.limit, self._limit_at(matches, last))

    def _tell(self, start, end):
        if self.tells:
            self._news += zip(start.astype(int).tolist(), end.astype(int).tolist(), strict=True)

    def _limit_at(self, rows, k):
        return Limit(float(rows[0, k]), int(self._place(rows)[k]))

    def _chosen(self, rows, reader):
        """Return the matches of groups of candidates."""
        rows = rows[:, np.argsort(self._place(rows), kind="stable")]
        candidates = Candidates(rows[0], *rows[1:].astype(np.int64), self.slack)
        start, end, by, distance, version = choose(reader, candidates, self.choice._replace(n_matches=None))
        return np.array([by, distance, version, start, end])

    def _matches(self):
        """Return the decided matches that come no later than the limit."""
        matches = np.concatenate([np.empty((5, 0)), *self._decided], axis=1)
        return self._within(matches)

    # ------------------------------------------------------------------------------------------ the limit that falls
    @property
    def _of_one_length(self):
        return self.plan.mode == "windows" and self.plan.lengths is None

    def _begin_limit(self, found, feed):
        """Lower the limit by the nearest window of each stretch of its length, for without one all windows wait."""
        stretches = found.distance[: len(found.distance) // self.plan.m * self.plan.m].reshape(-1, self.plan.m)
        if len(stretches) < self.choice.n_matches:
            return
        nearest = np.argmin(stretches, axis=1) + np.arange(0, stretches.size, self.plan.m)
        rows = self._near(Candidates(*(column[nearest] for column in found[:3]), found.slack))
        self._tighten(self._at_most(rows), feed)

    def _at_most(self, rows):
        """Return candidates whose distances are no less than exact ones."""
        return np.array([rows[0] * (1.0 + 3.0 * self.slack), *rows[1:]])

    def _tighten(self, rows, feed):
        """Lower the limit to the distance before which there are k matches, whatever is unknown.

        Candidates must be in the order of a profile.
        """
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
        """Return how many chosen candidates a candidate no later than the last chosen one can overlap at most."""
        if self.choice.max_overlap == 1.0 or not len(chosen):
            return 1
        if self._of_one_length:
            return 2  # all are of one length
        first, last = np.sort(rows[1][chosen]), np.sort(rows[2][chosen])
        _, start, end = rows[:, rows[0] <= rows[0][chosen[-1]]]
        return int((np.searchsorted(first, end) - np.searchsorted(last, start, "right")).max())

    # ---------------------------------------------------------------------------------- what ranges give together
    def lower(self, limit):
        """Lower the limit to one that is known elsewhere."""
        self.limit = min(self.limit, limit)

    def cut(self, state):
        """Drop the candidates before a state, which turned out to be others."""
        if self.plan.mode == "windows":
            return
        self._open, self._beside, self._new = (
            self._open[:, self._place(self._open) > state.at],
            [rows[:, self._place(rows) > state.at] for rows in self._beside],
            [rows[:, self._place(rows) > state.at] for rows in self._new],
        )
        self._decided = [rows[:, rows[-2] >= state.at] for rows in self._decided]

    def joined(self, others, reader):
        """Return the matches of a sequence from this range and others, in the order of choice; None if some are lost.

        Too few are known where a limit came out too low, because candidates turned out to be others.
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


if TYPE_CHECKING:
    from typing import Any

    from ..utils._times import Sequences, Times
    from ._results import Matches


def make_profile(plan, rule=None, first=0):
    """Return a profile that is computed chunk by chunk from the `first` sample on.

    It may leave out what a `rule` cannot choose.
    """
    if plan.mode == "subsequence" and not plan.by_range:
        return SubsequenceProfile(plan, first)
    return (RangeProfile if plan.by_range else WindowProfile)(plan, rule, first)


class PendingMatches:
    """Candidates of one query, held until they are decided.

    What is decided are rows (chosen by, distance, start, end, piece, times, version of the query).
    """

    def __init__(self, plan, choice, max_delay=None):
        self.plan, self.choice, self.max_delay = plan, choice, max_delay
        self.feed = make_profile(plan, choice._replace(n_matches=None).rule)
        self._groups, self._reported = Groups(by_end=plan.mode == "subsequence"), Reported(choice.max_overlap)
        self._best, self._slack = None, 0.0
        self._due = 0  # samples before which nothing can be decided

    def is_due(self, gaps):
        """Return whether something may be decided by now; what is before a gap is complete."""
        return gaps or self.feed.seen >= self._due

    def decide(self, found, times=None, last=False):
        """Return the rows that are decided by the next candidates, at the end of the sequence all others.

        The `times` are those of the samples that are held.
        """
        feed, groups = self.feed, self._groups
        self._enter(found)
        rows = []
        if groups.groups:
            horizon = feed.seen if last else feed.horizon(self.choice.threshold)
            if times is not None and not last:  # the time of an end is that of the sample there
                horizon = min(horizon, feed.seen - 1)
            for group in groups.close(horizon):
                rows += self._chosen(group, times)
        if self.max_delay is not None and not last:
            rows += self._decided_early(feed.seen - self.max_delay, times)
        end, first_end = groups.first
        self._due = feed.due(end)
        if self.max_delay is not None:
            self._due = min(self._due, first_end + self.max_delay)
        if self.choice.n_matches is None:
            return rows
        # Only the best of the whole stream count. Ties: the earliest, and a stable order keeps it first.
        self._best = sorted([*(self._best or []), *rows], key=lambda row: row[0])[: self.choice.n_matches]
        return self._best if last else []

    def _enter(self, found):
        """Add candidates that may be matches to groups."""
        distance, start, end, slack = found
        limit = self.choice.threshold
        if slack:
            self._slack = max(self._slack, slack)
            near = np.flatnonzero(distance * (1.0 - slack) <= limit)
        elif len(distance) == 1:  # arrays of one number are slow
            near = [] if distance[0] > limit else [0]
        else:
            near = np.flatnonzero(distance <= limit)
        if len(near):
            self._add_free(distance[near], start[near], end[near])

    def _add_free(self, distance, start, end):
        """Add candidates to groups, unless matches that were decided early overlap them."""
        free = self._reported.free(start, end)
        self._groups.add(distance[free], start[free], end[free])

    def _chosen(self, group, times):
        reader, choice = CandidateReader(self.plan, self.feed), self.choice._replace(n_matches=None)
        start, end, by, distance, version = choose(reader, Candidates(*group, self._slack), choice)
        start, end = reader.centered(start, end, version)
        known = [None] * len(start)
        if times is not None:
            at = edges(start, end, self.plan.max_gap)
            known = list(times.at(at.ravel()).reshape(at.shape).T)
        rows = []
        columns = (column.tolist() for column in (by, distance, start, end, version))
        for b, d, s, e, v, some in zip(*columns, known, strict=True):
            first, y, ty = reader.read(s, e)
            rows.append((b, d, s, e, (first, y.copy(), None if ty is None else ty.copy()), some, v))
        return rows

    def _decided_early(self, late, times):
        """Return rows of the matches that end at or before a sample, by the candidates until now.

        Candidates that overlap one of them are left out.
        """
        rows = []
        for group in self._groups.late(late):
            now = [row for row in self._chosen(group, times) if row[3] <= late]
            rows += now
            if now:
                start, end = np.array([row[2:4] for row in now], np.int64).T
                self._reported.add(start, end, self.feed.first)
            self._add_free(*(column[group[2] > late] for column in group))
        self.feed.drop(late)
        return rows

    def needed(self, timed):
        """Return the first sample that something undecided depends on."""
        feed, begin = self.feed, self._groups.begin
        horizon = feed.horizon(self.choice.threshold)
        kept = self.plan.reach + timed  # the last step of time needs two samples
        return min((horizon if begin is None else min(begin, horizon)) - kept, feed.needed)


def found_in(rows, reader):
    """Return the matches that rows list."""
    columns = ((2, np.int64), (3, np.int64), (1, float), (6, np.int64))
    start, end, distance, version = (np.array([row[k] for row in rows], dtype) for k, dtype in columns)
    return Found(start, end, distance, reader, version)


class Stream(ChunkStream):
    """A search that continues with every chunk of a sequence; made by `QuerySearcher.stream`.

    Matches are reported as soon as no later one can overlap them, and are those that a search of the whole sequence
    would give (Sakurai, Faloutsos & Yamamuro 2007), unless `max_delay` asks for them sooner. They come in order of
    time, by their starts; of several queries one that is decided later may start earlier. Memory: the samples of
    candidates that are not decided yet. A stream can be pickled and goes on where it was.

    Attributes
    ----------
    n_samples_seen : int
        Number of samples that came.

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
                f"distances, which are known at the end of the sequence only. Got Percentile({percentile!r}). Set a "
                "number, for example that percentile of the finite profile(X).distance of a recording X like it."
            )
        if any(choice.threshold is None for _, choice in searches):
            raise ValueError(
                "The 'threshold' parameter of QuerySearcher must be set for a stream: without it the best places are "
                "known at the end of the sequence only. Got None."
            )
        for plan, _ in searches:
            least, what = (
                plan.longest,
                "the length of the query" if plan.lengths is None else "that of the longest window",
            )
            if plan.mode == "subsequence":
                low, high = plan.limits
                least, what = (
                    max(min(plan.m, high or plan.m), low or 1),
                    f"{what}, or the shortest length that Subsequences allows",
                )
            check_delay(max_delay, least, what, plan.reach, "an occurrence would be given up")
        super().__init__(searcher)
        self.max_delay, self._classes = max_delay, searcher._classes
        self._calibrations = calibrations_of(searcher)
        self._searches = searches
        self._begin()

    def _begin(self):
        self._pending = [PendingMatches(plan, choice, self.max_delay) for plan, choice in self._searches]
        self._groups = share_samples([pending.feed for pending in self._pending])

    def _count_samples(self):
        self._searches = [(plan.untimed, choice) for plan, choice in self._searches]
        self._begin()

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
            `n_matches` set the best can be told at the end only: then there are none before `flush`.
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
        for first, *_ in self._groups:
            self._pending[first].feed.append(y, ty)
        found = self._decided(gaps)
        return found if any(found) else None

    def _decided(self, gaps, last=False):
        """Return the rows of each query that are decided by now.

        Profiles of a group are found together.
        """
        found, timed = [[] for _ in self._pending], self._times is not None
        for group in self._groups:
            due = [k for k in group if last or self._pending[k].is_due(gaps)]
            for k, candidates in zip(due, candidates_of([self._pending[k].feed for k in due], last), strict=True):
                found[k] = self._pending[k].decide(candidates, self._times, last)
            if due and self._pending[due[0]].feed.is_full:
                needed = min(self._pending[k].needed(timed) for k in group)
                for k in group:
                    self._pending[k].feed.forget(needed)
        return found

    def _forget(self):
        return min(pending.feed.first for pending in self._pending)

    def _end(self):
        return self._decided(gaps=True, last=True)

    def _result(self, found):
        found, times = found or [[] for _ in self._pending], None
        if self._times is not None:
            rows = [row for rows in found for row in rows]
            start, end = np.array([row[2:4] for row in rows], np.int64).reshape(-1, 2).T
            samples = edges(start, end, self._pending[0].plan.max_gap).T.ravel()
            given = np.concatenate([self._times.at([]), *(row[5] for row in rows)])
            times = SparseTimes(samples, self._times.as_given(given))
        listed = [
            found_in(rows, CandidateReader(pending.plan, Stretches([row[4] for row in rows])))
            for rows, pending in zip(found, self._pending, strict=True)
        ]
        limits = np.array([pending.choice.threshold for pending in self._pending], float)
        rest = {"calibrations": self._calibrations, "by_time": True}
        return matches_of(listed, len(listed), None, times, self._classes, None, limits, **rest)

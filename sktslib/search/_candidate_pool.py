"""Candidates of a query until they are decided.

Candidates that overlap each other, at one remove or more, are a group. A group that nothing unknown can overlap is
decided: its matches are chosen as if it were alone. Of the best k no more is kept than comes before a limit in the
order of choice (distance, then place), which falls. It is never too low: let G be candidates that fit together, the
last of which in that order is g. Of the matches up to g each one of G is one, or overlaps one. A known candidate
overlaps q of them at most, and an unknown one those alone that lie where it can. So, if there are more than q (k - 1)
others, at least k matches come no later than g, and what comes later is not among the best k.
"""

from typing import NamedTuple

import numpy as np

from ..distances._kernels.selection import all_free, near
from ._incremental_profile import ENDLESS
from ._profile import choose
from ._selection import Candidates, Profile, select


class Reported:
    """Ranges of matches that were decided early, and a test of what may still be a match next to them."""

    def __init__(self, max_overlap):
        self.max_overlap, self.ranges = float(max_overlap), np.empty((2, 0), np.int64)  # ascending starts

    def free(self, start, end):
        """Return whether each of some ranges overlaps none of the reported ones too much."""
        return all_free(*self.ranges, start, end, self.max_overlap)

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


def _groups(rows):
    """Return candidates by their starts, where groups that overlap each other are cut apart, and where these end."""
    rows = rows[:, np.argsort(rows[1], kind="stable")]
    last = np.maximum.accumulate(rows[2])
    cuts = np.concatenate([[0], np.flatnonzero(rows[1, 1:] >= last[:-1]) + 1, [rows.shape[1]]])
    return rows, cuts, last[cuts[1:] - 1]


class MatchPool:
    """Candidates of a range that may be matches, and its matches as far as they are decided.

    Candidates are columns (distance, start, end), matches (chosen by, distance, version of the query, start, end).
    """

    def __init__(self, plan, choice):
        self.plan, self.choice = plan, choice
        self._is_best = choice.n_matches is not None
        self._of_one_length = plan.mode == "windows" and plan.lengths is None
        self.first_limit = self.limit = Limit(np.inf if choice.threshold is None else choice.threshold)
        self.edges = []  # samples about which candidates may turn out to be others; before the first nothing is known
        self.slack = 0.0
        self._open, self._new, self._count = np.empty((3, 0)), [], 0
        self._beside = []  # groups that are complete and reach over an edge
        self._decided = []
        self.reports = False  # whether matches are handed over as they are decided, and not joined with others
        self.tells, self._news = False, []  # whether anyone asks what is new
        self.first_end = ENDLESS  # no undecided group ends before this sample
        self._reported = Reported(choice.max_overlap)  # matches that were decided early

    def _place(self, rows):
        """Return the places of candidates or matches in a profile: of equal distances the first counts."""
        return rows[-1 if self.plan.mode == "subsequence" else -2]

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
        if rows.size and self._reported.ranges.size:
            rows = rows[:, self._reported.free(*rows[1:].astype(np.int64))]
        if rows.size:
            self._new.append(rows)
            self._count += rows.shape[1]
            self.first_end = min(self.first_end, int(rows[2].min()))
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

    def decide(self, feed, reader, horizon=None):
        """Choose the matches of the groups that end at or before a horizon, by default where nothing unknown begins.

        Behind groups that are decided by default there is a sample, by which the time of their end is known.
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
        self._tell(start[:done][beside], end[:done][beside])
        beside = np.repeat(beside, np.diff(cuts[: done + 1]))
        self._open, rows = rows[:, cuts[done] :], rows[:, : cuts[done]]
        self._decide(rows[:, ~beside], reader)

    def _take_open(self):
        """Return all candidates that are not decided, which the pool does not hold from then on."""
        rows = np.concatenate([self._open, *self._new], axis=1) if self._new else self._open
        self._open, self._new, self._count, self.first_end = rows[:, :0], [], 0, ENDLESS
        return rows

    def decide_early(self, late, feed, reader):
        """Choose the matches that end at or before the sample `late` by the candidates until now.

        Later candidates that overlap one of them are left out.
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
        self._reported.add(*matches[-2:].astype(np.int64), feed.first)
        some = some[:, some[2] > late]
        some = some[:, self._reported.free(*some[1:].astype(np.int64))]
        self._open = np.concatenate([some, others], axis=1)
        self.first_end = self.earliest_end

    @property
    def earliest_end(self):
        """The end of the first undecided candidate to end; ENDLESS without any."""
        return min((int(rows[2].min()) for rows in (self._open, *self._new) if rows.size), default=ENDLESS)

    def hand_over(self):
        """Return the matches that were decided since the last call, which the pool does not hold from then on."""
        matches, self._decided = self._matches(), []
        return matches

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
        if self.reports:
            start, end = reader.centered(start, end, version)
        return np.array([by, distance, version, start, end])

    def _matches(self):
        """Return the decided matches that come no later than the limit."""
        matches = np.concatenate([np.empty((5, 0)), *self._decided], axis=1)
        return self._within(matches)

    # ------------------------------------------------------------------------------------------ the limit that falls
    def _begin_limit(self, found, feed):
        """Lower the limit by the nearest window of each stretch of its length, for without one all windows wait."""
        stretches = found.distance[: len(found.distance) // self.plan.m * self.plan.m].reshape(-1, self.plan.m)
        if len(stretches) < self.choice.n_matches:
            return
        nearest = np.argmin(stretches, axis=1) + np.arange(0, stretches.size, self.plan.m)
        rows = self._near(Candidates(*(column[nearest] for column in found[:3]), found.slack))
        self._tighten(rows, feed)

    def _tighten(self, rows, feed):
        """Lower the limit to the distance before which there are k matches, whatever is unknown.

        Candidates must be in the order of a profile.
        """
        rows = np.array([rows[0] * (1.0 + 3.0 * self.slack), *rows[1:]])  # no less than the exact distances
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


class ProfilePool:
    """Pool of all candidates of a range."""

    limit, begin, tells = Limit(), ENDLESS, False
    most = None

    def __init__(self, plan):
        self.plan, self._found = plan, []

    def news(self):
        """Return nothing: no match is decided before the end."""
        return []

    def decide(self, feed, reader):
        """Do nothing: no match is decided before the end."""

    def mark(self, state):
        """Add a state that may be compared with that of the part before."""

    def lower(self, limit):
        """Lower the limit to one that is known elsewhere."""

    def take(self, feed, found, reader):
        """Add the candidates that a profile gave last."""
        self._found.append(found.kept())

    def cut(self, state):
        """Drop the candidates before a state, which turned out to be others."""
        if self.plan.mode == "subsequence":
            for k, found in enumerate(self._found):
                columns = found.columns
                kept = columns[2] > state.at
                self._found[k] = Candidates(*(column[kept] for column in columns), found.slack)

    def joined(self, others, reader):
        """Return the profile of a whole sequence from this range and the others."""
        found = [one for pool in [*others, self] for one in pool._found]
        others, self._found, slack = [], [], max((one.slack for one in found), default=0.0)
        n, subsequence = len(reader.source), self.plan.mode == "subsequence"
        distance = np.full(n if subsequence else n - self.plan.shortest + 1, np.inf)
        start = np.full(n, -1, np.int64) if subsequence else None
        length = self.plan.m if subsequence or self.plan.lengths is None else np.full(len(distance), self.plan.shortest)
        for one in found:
            own, begin, end = one.columns
            if subsequence:
                distance[end - 1], start[end - 1] = own, begin
            else:
                distance[begin] = own
                if np.ndim(length):
                    length[begin] = end - begin
        return Profile(distance, start, None if subsequence else length, slack)

"""Candidates that may be matches, as they come: what is decided of them, and of the best k where the k-th must lie.

Candidates that overlap each other, at one remove or more, are a group. A group that nothing unknown can overlap is
decided: its matches are chosen as if it were alone. Of the best k no more is kept than comes before a limit in the
order of choice (distance, then place), which falls. It is never too low: let G be candidates that fit together, the
last of which in that order is g. Of the matches up to g each one of G is one, or overlaps one. A known candidate
overlaps q of them at most, and an unknown one those alone that lie where it can. So, if there are more than q (k - 1)
others, at least k matches come no later than g, and what comes later is none of the best k.
"""

from typing import NamedTuple

import numpy as np

from ...distances._kernels.overlaps import near
from .._profile import choose
from .._selection import Candidates, select
from .incremental_profile import ENDLESS

ROOM = 1024  # candidates that wait until it is looked what is decided, at least


class Limit(NamedTuple):
    """What may be a match comes no later in the order of choice."""

    distance: float = np.inf
    place: int = ENDLESS

    def lets(self, distance, place):
        """Which candidates come no later; their distances are finite."""
        return (distance < self.distance) | ((distance == self.distance) & (place <= self.place))


class MatchPool:
    """The candidates of a range that may be matches, and its matches as far as they are decided.

    Candidates are columns (distance, start, end), matches (chosen by, distance, version of the query, start, end). What
    was before `edge` is unknown, unless it is 0.
    """

    def __init__(self, how, choice):
        self.how, self.choice = how, choice
        self.first_limit = self.limit = Limit(np.inf if choice.threshold is None else choice.threshold)
        self.edges = []  # samples about which candidates may turn out to be others; before the first nothing is known
        self.slack = 0.0
        self._open, self._new, self._count = np.empty((3, 0)), [], 0
        self._beside = []  # groups that are complete and reach over an edge
        self._decided = []
        self.tells, self._news = False, []  # whether anyone asks what is new

    def _place(self, rows):
        """Where candidates or matches stand in a profile: of equal distances the first counts."""
        return rows[-1 if self.how.mode == "subsequence" else -2]

    @property
    def _is_best(self):
        return self.choice.n_matches is not None

    def news(self):
        """Half-open ranges (start, end) that are decided since the last call: new matches, groups beside an edge."""
        news, self._news = self._news, []
        return news

    @property
    def most(self):
        """How many ranges can still be of use; None where all are."""
        return self._matches().shape[1] + len(self._beside) if self._is_best else None

    def holds(self, start, end):
        """Whether a range is that of a match, or of a group beside an edge."""
        matches = self._matches()
        groups = [(rows[1].min(), rows[2].max()) for rows in self._beside]
        return bool(((matches[-2] == start) & (matches[-1] == end)).any()) or (start, end) in groups

    @property
    def begin(self):
        """The first sample of what is not decided; ENDLESS where there is nothing."""
        return min((int(rows[1].min()) for rows in (self._open, *self._new) if rows.size), default=ENDLESS)

    def mark(self, state):
        """Take a state that may be compared with that of what was before."""
        self.edges.append(state.at if self.how.mode == "subsequence" else state.seen)

    def take(self, feed, found, reader):
        """Take the candidates that a profile gave last."""
        if self._is_best and self._of_one_length and self.limit == self.first_limit:
            self._begin_limit(found, feed)
        rows = self._near(found)
        if rows.size:
            self._new.append(rows)
            self._count += rows.shape[1]
        if self._count > max(ROOM, self._open.shape[1]):  # so that each is looked at a few times
            self.decide(feed, reader)

    def _near(self, found):
        """Those that may be matches."""
        distance, start, end, slack = found
        self.slack = max(self.slack, slack)
        which = near(distance, 1.0 - slack, self.limit.distance)
        return self._within(np.array([distance[which], start[which], end[which]]), self.slack)

    def _within(self, rows, slack=0.0):
        """Candidates or matches that come no later than the limit, or may do so within their slack."""
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
        """The matches of groups of candidates."""
        rows = rows[:, np.argsort(self._place(rows), kind="stable")]
        candidates = Candidates(rows[0], *rows[1:].astype(np.int64), self.slack)
        start, end, by, distance, version = choose(reader, candidates, self.choice._replace(n_matches=None))
        return np.array([by, distance, version, start, end])

    def _matches(self):
        """Those that are decided, of the best k within the limit."""
        matches = np.concatenate([np.empty((5, 0)), *self._decided], axis=1)
        return self._within(matches)

    # ------------------------------------------------------------------------------------------ the limit that falls
    @property
    def _of_one_length(self):
        return self.how.mode == "windows" and self.how.lengths is None

    def _begin_limit(self, found, feed):
        """Lower the limit by the nearest window of each stretch of its length, for without one all windows wait."""
        stretches = found.distance[: len(found.distance) // self.how.m * self.how.m].reshape(-1, self.how.m)
        if len(stretches) < self.choice.n_matches:
            return
        nearest = np.argmin(stretches, axis=1) + np.arange(0, stretches.size, self.how.m)
        rows = self._near(Candidates(*(column[nearest] for column in found[:3]), found.slack))
        self._tighten(self._at_most(rows), feed)

    def _at_most(self, rows):
        """Candidates whose distances are no less than exact ones."""
        return np.array([rows[0] * (1.0 + 3.0 * self.slack), *rows[1:]])

    def _tighten(self, rows, feed):
        """Lower the limit to what k matches come before, whatever is unknown; candidates stand in their order."""
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
        """How many of the chosen candidates one can overlap at most that comes no later than the last of them."""
        if self.choice.max_overlap == 1.0 or not len(chosen):
            return 1
        if self._of_one_length:
            return 2  # all are of one length
        first, last = np.sort(rows[1][chosen]), np.sort(rows[2][chosen])
        _, start, end = rows[:, rows[0] <= rows[0][chosen[-1]]]
        return int((np.searchsorted(first, end) - np.searchsorted(last, start, "right")).max())

    # ---------------------------------------------------------------------------------- what ranges give together
    def lower(self, limit):
        """Take a limit that is known elsewhere."""
        self.limit = min(self.limit, limit)

    def cut(self, state):
        """Give up the candidates before a state, which turned out to be others."""
        if self.how.mode == "windows":
            return
        self._open, self._beside, self._new = (
            self._open[:, self._place(self._open) > state.at],
            [rows[:, self._place(rows) > state.at] for rows in self._beside],
            [rows[:, self._place(rows) > state.at] for rows in self._new],
        )
        self._decided = [rows[:, rows[-2] >= state.at] for rows in self._decided]

    def joined(self, others, reader):
        """The matches of this range and others, of a sequence, in the order of choice; None if some are missing.

        Too few are known where a limit came out too low, since candidates turned out to be others.
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

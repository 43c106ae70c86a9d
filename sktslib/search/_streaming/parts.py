"""Parts of a search: what one query finds in one range of a sequence, without knowing what was before.

The column of a subsequence search begins `LEAD` lengths of the query before the range. What it is at the range's begin
and at doubling distances behind it is kept. From left to right the column that comes from before is compared with it:
where both are the same, in costs and in starts, all that follows is the same, too. Until then the search goes on from
before, and what it finds counts in place of what the part found. Windows, and subsequences that are normalized each by
itself, need the samples before that they reach over.
"""

import numpy as np

from .._selection import Candidates, Profile
from .._sources import CandidateReader
from .best import Limit, MatchPool
from .incremental_profile import ENDLESS, candidates_of
from .stream import make_profile

LEAD = 4  # lengths of the query
FIRST = 2**12  # samples that tell a first limit, so that few candidates of all that follow are looked at
ROOM = 8  # times as many windows as tell a limit
DISTANCES = 2**24  # of profiles found together that are held at a time: 128 MB


def first_of(searches, begin):
    """The first sample that the parts of searches take which begin at a sample."""
    return max(begin - max(_lead(how) for how, _ in searches), 0)


def _lead(how):
    """How many samples before its begin a part takes."""
    if how.by_range:
        return max(how.range_lengths[1] - 1, 1)
    return LEAD * how.m if how.mode == "subsequence" else max(how.longest - 1 + 2 * how.reach, 1)


def first_size(how, choice):
    """How many samples tell a first limit: of windows so many that what it leaves is a small share of all.

    Windows that do not overlap, 2 k - 1 of them, tell one; there should be room for many more.
    """
    if how.mode == "subsequence":
        return FIRST
    return max(FIRST, ROOM * (2 * choice.n_matches - 1) * how.longest)


class QueryPart:
    """What one query finds in the range of a sequence that begins at a sample; its end is where samples end.

    The `first` sample that it takes is that of `first_of`, or one before.
    """

    def __init__(self, how, choice, begin, first, *, whole=False):
        self.how, self.begin = how, begin
        whole = whole or choice.needs_all
        self.rule = None if whole else choice.rule
        self.feed = make_profile(how, self.rule, first)
        self.pool = ProfilePool(how) if whole else MatchPool(how, choice)
        self.states = []  # kept for comparison with what comes from before
        self._next = begin if begin else ENDLESS
        self._size = ENDLESS if whole or choice.n_matches is None else first_size(how, choice)

    def take(self, y, ty, reader):
        """Take the samples (channels, n) that follow and their times."""
        take_together([self], y, ty, [reader])

    def _take(self, found, reader):
        """Take the candidates that the samples so far complete."""
        if self.feed.seen > self.begin:
            self.pool.take(self.feed, found, reader)
            if self.rule is not None:  # what is known by now, too, of windows that cannot be chosen
                self.feed.rule = self.rule.below(self.pool.limit.distance)
        if self.feed.seen == self._next:
            self._keep_state()

    def decide(self):
        """Choose what matches are known by now, so that nothing waits for samples that are to be forgotten."""
        self.pool.decide(self.feed, CandidateReader(self.how, self.feed))

    def needed(self, further):
        """The first sample that something undecided depends on, or that lies so much before it."""
        horizon = self.feed.horizon(self.pool.limit.distance)
        return min(min(self.pool.begin, horizon) - self.how.reach - further, self.feed.needed)

    def _keep_state(self):
        state = self.feed.state()
        self.states.append(state)
        self.pool.mark(state)
        after = max(2 * (self._next - self.begin), self.how.m)
        self._next = self.begin + after if self.how.mode == "subsequence" else ENDLESS

    def goes_on_to(self, end, source):
        """Take the samples of a source as far as sample `end`."""
        if end == self.feed.seen:
            return
        for y, ty, _ in source.chunks(self.feed.seen, end):
            self.take(y, ty, source.reader(self.how))
            self.feed.forget(self.feed.seen)

    def follows(self, before, source):
        """Let the search `before` go on until what comes is as it is in this part, or else to its end.

        Whether the rest of this part holds.
        """
        for state in self.states:
            before.goes_on_to(state.seen, source)
            if before.feed.agrees(state, before.pool.limit.distance):
                self.pool.cut(state)
                self.pool.lower(before.pool.limit)
                self._next = ENDLESS
                return True
        before.goes_on_to(self.feed.seen, source)
        return False


def take_together(parts, y, ty, readers):
    """Let parts take the samples that follow: of one query, or of several whose profiles share what they hold."""
    feed = parts[0].feed
    at, first, room = 0, feed.seen, max(DISTANCES // len(parts), 8 * parts[0].how.longest)
    while at < y.shape[1]:
        end = min(y.shape[1], at + room, *(min(part._next - first, at + part._size) for part in parts))
        feed.append(y[:, at:end], None if ty is None else ty[at:end])
        several = candidates_of([part.feed for part in parts])
        for part, found, reader in zip(parts, several, readers, strict=True):
            part._size = min(2 * part._size, ENDLESS)
            part._take(found, reader)
        at = end


def joined(parts, source):
    """What the parts of one query, side by side from the begin of a sequence to its end, found together."""
    last, pools = parts[0], []
    for part in parts[1:]:
        if part.follows(last, source):
            pools.append(last.pool)
            last = part
    reader = source.reader(last.how)
    last.pool.take(last.feed, last.feed.candidates(last=True), reader)
    return last.pool.joined(pools, reader)


class ProfilePool:
    """The candidates of a range, all of them."""

    limit, begin, tells = Limit(), ENDLESS, False
    most = None

    def __init__(self, how):
        self.how, self._found = how, []

    def news(self):
        """Nothing is decided before the end."""
        return []

    def decide(self, feed, reader):
        """Nothing is decided before the end."""

    def mark(self, state):
        """Take a state that may be compared with that of what was before."""

    def lower(self, limit):
        """Take a limit that is known elsewhere."""

    def take(self, feed, found, reader):
        """Take the candidates that a profile gave last."""
        self._found.append(found.kept())

    def cut(self, state):
        """Give up the candidates before a state, which turned out to be others."""
        if self.how.mode == "subsequence":
            for k, found in enumerate(self._found):
                columns = found.columns
                kept = columns[2] > state.at
                self._found[k] = Candidates(*(column[kept] for column in columns), found.slack)

    def joined(self, others, reader):
        """The profile of this range and others, of a whole sequence."""
        found = [one for pool in [*others, self] for one in pool._found]
        others, self._found, slack = [], [], max((one.slack for one in found), default=0.0)
        n, subsequence = len(reader.source), self.how.mode == "subsequence"
        distance = np.full(n if subsequence else n - self.how.shortest + 1, np.inf)
        start = np.full(n, -1, np.int64) if subsequence else None
        length = self.how.m if subsequence or self.how.lengths is None else np.full(len(distance), self.how.shortest)
        for one in found:
            own, begin, end = one.columns
            if subsequence:
                distance[end - 1], start[end - 1] = own, begin
            else:
                distance[begin] = own
                if np.ndim(length):
                    length[begin] = end - begin
        return Profile(distance, start, None if subsequence else length, slack)

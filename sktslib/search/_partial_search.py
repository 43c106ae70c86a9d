"""Search of a sequence in parts, each a range of it that is searched without knowing what was before.

The column of a subsequence search starts `LEAD` lengths of the query before the range. Its states at the start of the
range and at doubling distances behind it are kept. From left to right the column that comes from before is compared
with them. Where both are the same, in costs and in starts, all that follows is the same, too. Until then the search
goes on from before, and what it finds replaces what the part found. Windows, and subsequences that are normalized each
by itself, need the samples before that they reach over.

`run_part` searches the range of a job. `PartialSearch` is for callers with an engine of their own.
"""

from __future__ import annotations

from copy import copy, deepcopy
from itertools import pairwise
from typing import Any

import numpy as np

from ..distances._metrics.base import equal
from ..utils._sampling import edges
from ..utils._times import Sequences, Times, as_dates, given_times, times_of
from ..utils.validation import check_count, refused
from . import _incremental_profile as profiles
from ._chunks import ChunkStream, Clock, Entrance, SparseTimes, check_delay
from ._results import Found, Matches, chosen, matches_of
from ._selection import Profile
from ._sources import CandidateReader, HeldRanges, n_samples
from ._thresholds import calibrations_of, check_fixed

LEAST = 2**16  # samples of a range: shorter ones are not worth their own column
LEAD = 4  # lengths of the query
FIRST = 2**12  # samples that tell a first limit, so that few candidates of all that follow are looked at


def first_of(searches, begin):
    """Return the first sample that the parts of searches read which start at a sample."""
    leads = []  # samples before its first one that a part reads
    for plan, _ in searches:
        if plan.by_range:
            leads.append(max(plan.range_lengths[1] - 1, 1))
        else:
            windows = max(plan.longest - 1 + 2 * plan.reach, 1)
            leads.append(LEAD * plan.m if plan.mode == "subsequence" else windows)
    return max(begin - max(leads), 0)


class QueryPart:
    """Search for one query in a range of a sequence from sample `begin` on; the range ends where the samples end.

    The `first` sample that a part reads is the one that `first_of` returns, or an earlier one.
    """

    def __init__(self, plan, choice, begin, first, *, whole=False):
        self.plan, self.begin = plan, begin
        whole = whole or choice.needs_all
        self.rule = None if whole else choice
        kind = profiles.WindowProfile
        if plan.mode == "subsequence":
            kind = profiles.RangeProfile if plan.by_range else profiles.SubsequenceProfile
        self.feed = kind(plan, self.rule, first)
        self.pool = profiles.ProfilePool(plan) if whole else profiles.MatchPool(plan, choice)
        self.states = []  # kept for comparison with what comes from before
        self._next = begin if begin else profiles.ENDLESS
        # The limit of windows of one length, and of ranges, is found by all of the first samples as fast.
        at_once = whole or choice.n_matches is None or plan.by_range or self.pool.of_one_length
        self._size = profiles.ENDLESS if at_once else FIRST

    def take(self, y, ty, reader):
        """Add the samples (channels, n) that follow and their times."""
        at, first = 0, self.feed.seen
        while at < y.shape[1]:
            end = min(y.shape[1], self._next - first, at + self._size)
            self.feed.append(y[:, at:end], None if ty is None else ty[at:end])
            self._size, at = min(2 * self._size, profiles.ENDLESS), end
            found = self.feed.candidates()
            if self.feed.seen > self.begin:
                self.pool.take(self.feed, found, reader)
                if self.rule is not None:  # what is known by now, too, of windows that cannot be chosen
                    self.feed.rule = self.rule.below(self.pool.limit.distance)
            if self.feed.seen == self._next:
                self._keep_state()

    def needed(self, further):
        """Return the first sample that something undecided depends on, less `further` samples."""
        horizon = self.feed.horizon(self.pool.limit.distance)
        return min(min(self.pool.begin, horizon) - self.plan.reach - further, self.feed.needed)

    def _keep_state(self):
        state = self.feed.state()
        self.states.append(state)
        self.pool.mark(state)
        after = max(2 * (self._next - self.begin), self.plan.m)
        self._next = self.begin + after if self.plan.mode == "subsequence" else profiles.ENDLESS

    def goes_on_to(self, end, source):
        """Add the samples of a source up to sample `end`."""
        if end == self.feed.seen:
            return
        for y, ty, _ in source.chunks(self.feed.seen, end):
            self.take(y, ty, CandidateReader(self.plan, source))
            self.feed.forget(self.feed.seen)

    def follows(self, before, source):
        """Let the search `before` go on until its state is that of this part, or else to its end.

        Return whether the rest of this part holds.
        """
        for state in self.states:
            before.goes_on_to(state.seen, source)
            if before.feed.agrees(state, before.pool.limit.distance):
                self.pool.cut(state)
                self.pool.limit = min(self.pool.limit, before.pool.limit)
                self._next = profiles.ENDLESS
                return True
        before.goes_on_to(self.feed.seen, source)
        return False


def joined(parts, source):
    """Return what the adjacent parts of one query, from the first sample of a sequence to its last, find together."""
    last, pools = parts[0], []
    for part in parts[1:]:
        if part.follows(last, source):
            pools.append(last.pool)
            last = part
    reader = CandidateReader(last.plan, source)
    last.pool.take(last.feed, last.feed.candidates(last=True), reader)
    return last.pool.joined(pools, reader)


def as_found(result, plan, choice, source):
    """Return the matches of a result: the ones that parts give together, or the ones chosen from their profile."""
    reader = CandidateReader(plan, source)
    if isinstance(result, Profile):
        return chosen(reader, result, choice)
    version, start, end = result[2:].astype(np.int64)
    return Found(*reader.centered(start, end, version), result[1], reader, version)


def run_part(source, searches, begin, end, whole=False, count=None):
    """Return the part of each search that samples [begin, end) give."""
    first = first_of(searches, begin)
    parts = [QueryPart(plan, choice, begin, first, whole=whole) for plan, choice in searches]
    readers = [CandidateReader(plan, source) for plan, _ in searches]
    for y, ty, _ in source.chunks(first, end):
        for part, reader in zip(parts, readers, strict=True):
            part.take(y, ty, reader)
            part.feed.forget(part.feed.seen)
        if count is not None:
            count()
    for part in parts:  # all parts are held until the last one is done
        part.feed.shrink()
    return parts


FORGOTTEN = 2  # samples behind a range by which the time of its end is known


class _Parts(ChunkStream):
    """Base class of what searches chunks for one query or several, a part for each."""

    def _count_samples(self):
        self._searches = [(plan.untimed, choice) for plan, choice in self._searches]
        self._begin()

    def _forget(self):
        return min(part.feed.first for part in self._parts)


class PartialSearch(_Parts):
    """A search of one part of a recording; made by `QuerySearcher.partial_search`. It does not need earlier parts.

    Parts may be fed in any order, on any machine, and pickled at any time, so that a long search can be saved and
    continued. `merge_parts` makes of all parts the matches of one search of the whole recording. A part needs some
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
        self._pieces = [{} for _ in self._parts]  # samples and times by ranges
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
                "The 'start_time' parameter of partial_search must be given where a part does not begin with the "
                "recording and datetimes are compared: they are counted from its first one. Got None."
            )
        for part, pieces in zip(self._parts, self._pieces, strict=True):
            reader = CandidateReader(part.plan, part.feed)
            part.take(y, ty, reader)
            if part.feed.is_full:  # nothing may wait for samples that are forgotten
                part.pool.decide(part.feed, reader)
                needed = part.pool.ranges
                for known in pieces.keys() - needed:  # of former matches
                    del pieces[known]
                pieces |= {known: self._piece(part, *known) for known in needed - pieces.keys()}
                self._border = self._known_border
                part.feed.forget(part.needed(FORGOTTEN))

    def _no_result(self):
        return self

    @property
    def _known_border(self):
        """The first samples of the part, which the part before may need; an empty list before there are any."""
        reach = max(plan.reach for plan, _ in self._searches) + FORGOTTEN
        if self._border and self._border[0][1].shape[1] + self._border[0][0] >= self.begin + reach:
            return self._border
        return [self._piece(self._parts[0], self.begin, self.begin)] if self.begin < self.n_samples_seen else []

    def _piece(self, part, start, end):
        """Return the samples of a range and of what it depends on.

        They are the number of the first sample, the samples, their times for kernels, and their times as they were
        given.
        """
        feed, reach = part.feed, part.plan.reach + FORGOTTEN
        first, last = max(start - reach, feed.first), min(end + reach, feed.seen)
        y, ty = feed.cut(first, last)
        times = self._entrance.times
        given = None if times is None else times.at(np.arange(first, last))
        return first, y.copy(), None if ty is None else ty.copy(), given

    def state(self) -> profiles.State | list[profiles.State]:
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
            f"'times' must be given with 'sequence' if the parts were fed any, and else not. Got {got}, and parts "
            f"{'with' if timed else 'without'} times."
        )
    if sequence is not None and n_samples(sequence) != n:
        got = f"{n_samples(sequence)} samples, and parts that end at {n}"
        rule = "hold the samples that the parts were fed"
        raise refused("'sequence'", rule, got, "Feed the last part what is left, or cut the sequence there.")
    if sequence is None and any(choice.needs_all for _, choice in searches):
        raise ValueError(
            "The 'sequence' parameter of merge_parts must be given where 'threshold' of QuerySearcher is a Percentile, "
            "and where neither 'n_matches' nor 'threshold' is set, for it is known at the end only which samples "
            "matches need. Got None."
        )
    pieces = [piece for part in parts for some in part._pieces for piece in some.values()]
    for part in parts:  # the border, and what is not decided
        pieces += [*part._known_border, *(part._piece(one, one.feed.first, one.feed.seen) for one in part._parts)]
    source = searcher._source(sequence, times) if sequence is not None else HeldRanges([p[:3] for p in pieces])
    found = []
    for k, (plan, choice) in enumerate(searches):
        one = joined([deepcopy(part._parts[k]) for part in parts], source)
        if one is None:
            one = joined(run_part(source, [(plan, choice)], 0, n), source)
        found.append(as_found(one, plan, choice, source))
    if timed and sequence is None:  # of the samples at which matches may start and end
        last, samples = parts[-1]._entrance.times, [np.arange(p[0], p[0] + len(p[3])) for p in pieces]
        given = np.concatenate([*(piece[3] for piece in pieces), last.at([n])])
        known = SparseTimes(np.concatenate([*samples, [n]]), last.as_given(given))
    rest = known, searcher._classes, None, np.array(searcher._thresholds, float)
    return matches_of(found, len(found), searches[0][1].n_matches, *rest, calibrations=calibrations_of(searcher))


def _in_order(parts):
    """Return the parts from left to right, or refuse them if one is missing or does not fit."""
    if not isinstance(parts, list | tuple) or not parts or not all(isinstance(part, PartialSearch) for part in parts):
        got = "an empty list" if isinstance(parts, list | tuple) and not parts else type(parts).__name__
        raise TypeError(f"'parts' must be a list of what QuerySearcher.partial_search returns. Got {got}.")
    parts = sorted(parts, key=lambda part: part.begin)
    if parts[0].begin:
        raise ValueError(f"'parts' must begin at sample 0. Got {parts[0].begin} as the first begin.")
    for before, after in pairwise(parts):
        if before.n_samples_seen != after.begin:
            raise ValueError(
                "'parts' must lie side by side. Got one that was fed the samples up to "
                f"{before.n_samples_seen} and one behind it that begins at {after.begin}. Feed the first one the rest."
            )
    if parts[-1].n_samples_seen <= parts[-1].begin and parts[-1].begin:
        raise ValueError(f"Each part must be fed samples behind its begin. Got none behind {parts[-1].begin}.")
    timed = [part._entrance.times is not None for part in parts if part.n_samples_seen > part.first]
    if len(set(timed)) > 1:
        raise ValueError("'parts' must all be fed times, or none. Got some with times and some without.")
    for before, after in pairwise(parts):
        if not equal(_facts(before), _facts(after)):
            got, out = f"others in the one that begins at {after.begin}", "Begin all parts by the same fitted searcher."
            raise refused("'parts'", "be of one searcher, whose query and parameters are the same", got, out)
        if timed[0]:  # times must increase from part to part
            first, _, _, given = after._known_border[0]
            before._entrance.times.kind_with(given[after.begin - first :], after._entrance.times.zone)
    return parts


def _facts(part):
    """Return what all parts of a search have in common; without functions, which unpickling replaces by new ones."""
    return [
        [plan.metric.name, {k: v for k, v in vars(plan.metric).items() if not callable(v)}, *plan[1:], *choice]
        for plan, choice in part._searches
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
                f"distances, which are known at the end of the sequence only. Got Percentile({percentile!r}). Set a "
                "number, for example that percentile of the finite profile(X).distance of a recording X like it."
            )
        if any(choice.threshold is None for _, choice in searches):
            rule = "be set for a stream: without it the best places are known at the end of the sequence only"
            raise refused("The 'threshold' parameter of QuerySearcher", rule, "None")
        for plan, _ in searches:
            what = "the length of the query" if plan.lengths is None else "that of the longest window"
            least, (low, high) = plan.longest, plan.limits
            if plan.mode == "subsequence":
                least = max(min(plan.m, high or plan.m), low or 1)
                what += ", or the shortest length that Subsequences allows"
            check_delay(max_delay, least, what, plan.reach, "an occurrence would be given up")
        super().__init__(searcher)
        self.max_delay, self._classes = max_delay, searcher._classes
        self._calibrations = calibrations_of(searcher)
        self._searches = searches
        self._begin()

    def _begin(self):
        self._parts = [QueryPart(plan, choice._replace(n_matches=None), 0, 0) for plan, choice in self._searches]
        for part in self._parts:
            part.pool.reports = True
        self._due = [0] * len(self._parts)  # samples before which nothing can be decided
        self._best = [[] for _ in self._parts]  # rows of the best matches, where only those count

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
            `n_matches` set the best can be told at the end only: then nothing is reported before `flush`.
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
        """Return the rows of each query that are decided by now, see `_rows`; what is before a gap is complete."""
        found, seen = [[] for _ in self._parts], self.n_samples_seen
        for k, part in enumerate(self._parts):
            if gaps or seen >= self._due[k]:
                found[k] = self._decide(k, part.feed.candidates(last), last)
                if part.feed.is_full:
                    part.feed.forget(part.needed(self._times is not None))
        return found

    def _decide(self, k, candidates, last):
        """Return the rows of a query that are decided by its next candidates, at the end of the sequence all others."""
        part, (plan, choice) = self._parts[k], self._searches[k]
        feed, pool, reader = part.feed, part.pool, CandidateReader(plan, part.feed)
        pool.take(feed, candidates, reader)
        if pool.first_end < profiles.ENDLESS:
            horizon = feed.seen if last else feed.horizon(choice.threshold)
            if self._times is not None and not last:  # the time of an end is that of the sample there
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
        # Only the best of the whole stream count. Ties: the earliest, and a stable order keeps it first.
        self._best[k] = sorted([*self._best[k], *rows], key=lambda row: row[0][0])[: choice.n_matches]
        return self._best[k] if last else []

    def _rows(self, reader, matches):
        """Return decided matches: columns of a pool, the samples that each depends on, and times of its edges."""
        rows = []
        for match in matches.T:
            start, end = match[-2:].astype(int).tolist()
            first, y, ty = reader.read(start, end)
            known = None if self._times is None else self._times.at(edges(start, end, reader.plan.max_gap))
            rows.append((match, (first, y.copy(), None if ty is None else ty.copy()), known))
        return rows

    def _end(self):
        return self._decided(gaps=True, last=True)

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

"""Parts of a search for those who bring their own engine."""

from __future__ import annotations

from copy import copy, deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...distances._metrics.base import equal
from ...utils._given_times import as_dates, given_times, times_of
from ...utils.validation import check_count
from .._buffer import SparseTimes
from .._several import matches_of
from .._sources import CandidateReader, Stretches
from .chunked_sequence import n_samples
from .chunks import Clock, Entrance
from .incremental_profile import share_samples
from .parts import QueryPart, first_of, joined, take_together
from .ranges import as_found, run

if TYPE_CHECKING:
    from typing import Any

    from ...utils._types import Sequences, Times
    from .._results import Matches
    from .incremental_profile import State

FORGOTTEN = 2  # samples behind a range by which the time of its end is known


class SearchPart:
    """A search of one part of a recording, which needs nothing of what comes before; made by `QuerySearcher.begin`.

    Parts side by side may be fed in any order, on any machine, and pickled at any time, so that a long search can be
    saved and goes on where it was. `merge_parts` makes of all of them the matches that one search of the whole finds.
    A part takes some samples before its begin, from `first` on: four lengths of the query in a subsequence search, by
    windows those that a window reaches over.

    Attributes
    ----------
    begin : int
        The sample of the recording at which it begins; it ends where its samples end.
    first : int
        The first sample that it is to be fed.
    n_samples_seen : int
        The sample of the recording that it is to be fed next.

    Examples
    --------
    >>> from sktslib import QuerySearcher, load_ecg_example
    >>> from sktslib.search import merge_parts
    >>> ecg = load_ecg_example()
    >>> searcher = QuerySearcher("dtw", n_matches=3).fit(ecg["query"])
    >>> parts = [searcher.begin(at) for at in (0, 700)]
    >>> for part, end in zip(parts, (700, 1200)):  # each may be another machine's work
    ...     _ = part.feed(ecg["sequence"][part.first : end])
    >>> merge_parts(parts).start.tolist() == searcher.search(ecg["sequence"]).start.tolist()
    True
    """

    def __init__(self, searcher: Any, begin: int = 0, start_time: Any = None) -> None:
        self.begin = check_count(begin, "at", low=0)
        searcher._check_fixed("a part of a search")
        self._searcher = copy(searcher)
        self._clock = Clock(searcher._queries)
        if start_time is not None:
            self._clock.begin(as_dates(given_times([start_time], "start_time")))
        self._dated = start_time is not None
        self._begin(searcher._searches)
        self._entrance = Entrance(self._searcher, self._clock, self.first)

    def _begin(self, searches):
        self._searches, self.first = searches, first_of(searches, self.begin)
        self._parts = [QueryPart(how, choice, self.begin, self.first) for how, choice in searches]
        for part in self._parts:
            part.pool.tells = True
        self._groups = share_samples([part.feed for part in self._parts])
        self._pieces = [{} for _ in searches]  # samples and times by ranges
        self._border = []

    @property
    def n_samples_seen(self) -> int:
        return self._entrance.seen

    def feed(self, X: Sequences, times: Times | None = None) -> SearchPart:
        """Take the next samples.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The samples of the recording from `n_samples_seen` on.
        times : array-like of shape (n,), optional
            Their times; with every chunk of all parts or with none.

        Returns
        -------
        SearchPart
            Itself.
        """
        begun = self.n_samples_seen > self.first
        chunk = self._entrance(X, times)
        if chunk is None:
            return self
        if not begun:
            self._check_times(times)
        y, ty, _ = chunk
        for group in self._groups:
            self._take(group, y, ty)
        if self._entrance.times is not None:
            self._entrance.times.forget(min(part.feed.first for part in self._parts))
        return self

    def _take(self, group, y, ty):
        """Take the next samples in the parts of queries whose profiles are found together, by their numbers."""
        parts = [self._parts[k] for k in group]
        take_together(parts, y, ty, [CandidateReader(part.how, part.feed) for part in parts])
        is_full = parts[0].feed.is_full
        for k, part in zip(group, parts, strict=True):
            if is_full:
                part.decide()
            self._keep(part, self._pieces[k])
        if is_full:
            needed = min(part.needed(FORGOTTEN) for part in parts)
            for part in parts:
                part.feed.forget(needed)

    def _check_times(self, times):
        """Know from what datetimes are counted, as soon as it is known that there are any."""
        if self._clock.reads and times is None:
            self._searches = [(how.untimed, choice) for how, choice in self._searches]
            self._begin(self._searches)
        if self._clock.origin is not None and self.begin and not self._dated:
            raise ValueError(
                "The 'start_time' parameter of begin must be given where a part does not begin with the recording and "
                "datetimes are compared: they are counted from its first one. Got None."
            )

    def _keep(self, part, pieces):
        """Keep the samples of matches that are new, and give up those of matches that are none any more."""
        for start, end in part.pool.news():
            pieces[start, end] = self._piece(part, start, end)
        most = part.pool.most
        if most is not None and len(pieces) > 2 * most:
            for known in [known for known in pieces if not part.pool.holds(*known)]:
                del pieces[known]
        if part is self._parts[0] and self.begin < self.n_samples_seen and not self._border_is_known:
            self._border = [self._piece(part, self.begin, self.begin)]

    @property
    def _border_is_known(self):
        """Whether what the part before may need of this one is held, once and for all."""
        reach = max(how.reach for how, _ in self._searches) + FORGOTTEN
        return bool(self._border) and self._border[0][1].shape[1] + self._border[0][0] >= self.begin + reach

    def _piece(self, part, start, end):
        """First sample, samples, times for kernels and times as they were given of a range and what it depends on."""
        feed, reach = part.feed, part.how.reach + FORGOTTEN
        first, last = max(start - reach, feed.first), min(end + reach, feed.seen)
        y, ty = feed.cut(first, last)
        times = self._entrance.times
        given = None if times is None else times.at(np.arange(first, last))
        return first, y.copy(), None if ty is None else ty.copy(), given

    def _all_pieces(self):
        """Those of all matches, and of what is not decided."""
        found = [piece for pieces in self._pieces for piece in pieces.values()]
        return [*found, *self._border, *(self._piece(part, part.feed.first, part.feed.seen) for part in self._parts)]

    def state(self) -> State | list[State]:
        """What later candidates depend on but the samples: of several queries a list.

        Two parts of which one went on to where the other began agree from there on if their states are equal.

        Returns
        -------
        State
            Samples seen, where the next candidates end at the earliest (of windows: where the next one starts), where
            the samples that matter begin, and accumulated costs and starts of the column, None by windows.
        """
        return self._searcher._of_each([part.feed.state() for part in self._parts])


class _NoSequence:
    """What is read where no recording is given to read from."""

    def chunks(self, first, end):
        raise ValueError(
            "The 'sequence' parameter of merge_parts must be given where parts do not agree: the one that begins at "
            f"or before sample {first} goes on from its state as far as sample {end} at least. Got None. Pass the "
            "recording, or feed this part its samples until the end of the part behind it, and leave that out."
        )


class _Kept(_NoSequence):
    """What is known of a recording by its parts."""

    sequence = None

    def __init__(self, stretches):
        self.stretches = stretches

    def reader(self, how):
        return CandidateReader(how, self.stretches)


def merge_parts(parts: list[SearchPart], sequence: Any = None, times: Times | None = None) -> Matches:
    """Make of the parts of a search the matches that one search of the whole recording finds.

    From left to right each part goes on into the next one until both agree, in all costs and starts to the bit, as a
    rule at once. Where they do not, samples are needed again, of a recording without change all.

    Parameters
    ----------
    parts : list of SearchPart
        All parts of one recording, of one searcher; each ends where another one begins. They are left as they are.
    sequence : array-like of shape (n,) or (n, channels), optional
        The recording, or what can be sliced like it, for samples of parts that do not agree. With `percentile`, and
        without both `n_matches` and `threshold`, it is needed.
    times : array-like of shape (n,), optional
        Its times, if the parts were fed any.

    Returns
    -------
    Matches
        Those of ``searcher.search(sequence)``.

    Raises
    ------
    ValueError
        If parts are missing or are not of one searcher, if times do not increase from part to part, if `sequence` has
        not as many samples as the parts were fed, or if two parts do not agree and there is no `sequence`.

    Examples
    --------
    >>> import pickle
    >>> import numpy as np
    >>> from sktslib import QuerySearcher
    >>> from sktslib.search import merge_parts
    >>> searcher = QuerySearcher("euclidean", n_matches=2).fit([0, 2, 0])
    >>> y = np.array([5.0, 0, 2, 0, 5, 5, 0, 1, 0, 5])
    >>> first, second = searcher.begin(), searcher.begin(5)
    >>> second.first, first.feed(y[:4]).n_samples_seen
    (3, 4)
    >>> saved = pickle.dumps(first)
    >>> list(merge_parts([pickle.loads(saved).feed(y[4:5]), second.feed(y[3:])]))
    [Match(start=1, end=4, distance=0.0), Match(start=6, end=9, distance=1.0)]
    """
    parts = _in_order(parts)
    searcher, searches = parts[0]._searcher, parts[0]._searches
    known = times_of(sequence, times)
    timed = parts[0]._entrance.times is not None
    if sequence is not None:
        _check_sequence(sequence, known, parts[-1].n_samples_seen, timed)
    if sequence is None and any(choice.needs_all for _, choice in searches):
        raise ValueError(
            "The 'sequence' parameter of merge_parts must be given with the 'percentile' parameter of QuerySearcher, "
            "and where neither 'n_matches' nor 'threshold' is set, for it is known at the end only which samples "
            "matches need. Got None."
        )
    pieces = [piece for part in parts for piece in part._all_pieces()]
    source = searcher._source(sequence, times) if sequence is not None else _Kept(Stretches([p[:3] for p in pieces]))
    found = []
    for k, (how, choice) in enumerate(searches):
        one = joined([deepcopy(part._parts[k]) for part in parts], source)
        if one is None:
            if sequence is None:
                _NoSequence().chunks(0, parts[-1].n_samples_seen)
            one = joined(run(source, [(how, choice)], 0, parts[-1].n_samples_seen), source)
        found.append(as_found(one, how, choice, source))
    if timed and sequence is None:
        known = _times_of(parts, pieces)
    rest = known, searcher._classes, None, searcher._limits_of_distance
    return matches_of(found, len(found), searches[0][1].n_matches, *rest, calibrations=searcher._calibrations)


def _in_order(parts):
    """The parts from left to right, of which none may be missing."""
    if not isinstance(parts, list | tuple) or not parts or not all(isinstance(part, SearchPart) for part in parts):
        got = "an empty list" if isinstance(parts, list | tuple) and not parts else type(parts).__name__
        raise TypeError(f"'parts' must be a list of what QuerySearcher.begin returns. Got {got}.")
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
            raise ValueError(
                "'parts' must be of one searcher, whose query and parameters are the same. Got others in the one that "
                f"begins at {after.begin}. Begin all parts by the same fitted searcher."
            )
        if timed[0]:
            _check_order(before, after)
    return parts


def _facts(part):
    """What all parts of a search have in common; functions are made anew where they are unpickled."""
    return [
        [how.metric.name, {k: v for k, v in vars(how.metric).items() if not callable(v)}, *how[1:], *choice]
        for how, choice in part._searches
    ]


def _check_order(before, after):
    """Times go on from part to part."""
    first, _, _, given = after._border[0]
    before._entrance.times.kind_with(given[after.begin - first :], after._entrance.times.zone)


def _check_sequence(sequence, times, n, timed):
    """The recording is that of the parts."""
    if (times is not None) != timed:
        got = "none" if times is None else "some"
        raise ValueError(
            f"'times' must be given with 'sequence' if the parts were fed any, and else not. Got {got}, and parts "
            f"{'with' if timed else 'without'} times."
        )
    if n_samples(sequence) != n:
        raise ValueError(
            f"'sequence' must hold the samples that the parts were fed. Got {n_samples(sequence)} samples, and parts "
            f"that end at {n}. Feed the last part what is left, or cut the sequence there."
        )


def _times_of(parts, pieces):
    """Times of the samples that matches may begin and end at."""
    last = parts[-1]._entrance.times
    samples = [np.arange(first, first + len(given)) for first, _, _, given in pieces]
    end = parts[-1].n_samples_seen
    given = np.concatenate([*(piece[3] for piece in pieces), last.at([end])])
    return SparseTimes(np.concatenate([*samples, [end]]), last.as_given(given))

"""Segmentation by chunks: the part that all segmentations agree on which may still be the cheapest is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...distances._kernels.scalar import before, likeliest, previous, through
from ...utils._sampling import edges
from .._chunks import ChunkStream, SparseTimes, check_delay
from .._sources import CandidateReader, Sources, hold
from .._thresholds import calibrations_of, set_thresholds
from .fitting import rated
from .optimal import Versions
from .parallel import Samples, SegmentTable, paths_of
from .results import Segments
from .state import Undecided, listed_costs

if TYPE_CHECKING:
    from typing import Any

    from ...utils._times import Sequences, Times


def _rows_of(found):
    """Return segments as tuples (start, end, label, cost)."""
    return list(zip(found.start, found.end, found.label, found.cost, strict=True))


class SegmentStream(ChunkStream):
    """A segmentation that continues with every chunk of a recording; made by `QuerySegmenter.stream`.

    A repetition is reported as soon as it belongs to every segmentation that may still be the cheapest, so that
    all of them together are those that `segment` finds in the whole recording. Memory: what is not decided yet. A
    stream can be pickled and resumes where it was.

    Attributes
    ----------
    n_samples_seen : int
        Number of samples that came.

    Examples
    --------
    >>> from sktslib import QuerySegmenter
    >>> stream = QuerySegmenter().fit([0, 1, 3, 1]).stream()
    >>> found = [stream.update(chunk) for chunk in ([5, 5, 0, 1, 3], [1, 5, 5, 5, 0, 1], [1, 3, 1, 5])]
    >>> [segments.boundaries.tolist() for segments in [*found, stream.flush()]]
    [[], [2, 6], [], [9, 14]]
    """

    def __init__(self, segmenter: Any, max_delay: float | None = None) -> None:
        super().__init__(segmenter)
        self._segmenter = segmenter
        self._noted = 0  # samples checked for missing values and gaps in time
        self._prepare()
        what, otherwise = "the length of the longest query", "the start of a repetition would be background"
        longest = max(plan.m for plan in segmenter._queries)
        self.max_delay = check_delay(max_delay, longest, what, self._paths.reach, otherwise)
        self._begin(0)

    def _prepare(self):
        self._versions = versions = Versions(self._segmenter._queries)
        self._rules = versions.rules(self._segmenter._rules)
        self._paths, self._feed = paths_of(versions.queries, self._rules), Samples(versions.queries[0])

    def _count_samples(self):
        self._segmenter._queries, self._segmenter._rules = self._segmenter._counting(None)
        self._prepare()
        self._begin(0)

    def _begin(self, at):
        self._paths.begin(at)
        self._rows = Undecided.anew(at, self._rules.transitions)
        self._wait()

    def _wait(self):
        """Set the number of samples before which nothing is decided."""
        self._due = self._paths.due(self._rows.base)
        if self.max_delay is not None:
            self._due = min(self._due, self._rows.base + self.max_delay + 1)

    def update(self, X: Sequences, times: Times | None = None) -> Segments:
        """Add the next samples, and return what they decide.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            Samples that follow those before; there may be none.
        times : array-like of shape (n,), optional
            Their times: with every chunk, or with none.

        Returns
        -------
        Segments
            The repetitions that are decided now, in temporal order; ranges count from the stream's first sample.
        """
        return self._update(X, times)

    def flush(self) -> Segments:
        """End the stream and return the repetitions that were not decided yet.

        Returns
        -------
        Segments
            In temporal order.
        """
        return self._flush()

    def _take(self, y, ty, gaps):
        feed = self._feed
        feed.append(y, ty)
        return self._decided() if feed.seen >= self._due or gaps else None

    def _end(self):
        found = self._decided()
        return found + self._break(self._feed.seen, self._feed.seen)

    def _decided(self):
        """Return the segments that are decided by now."""
        feed, begin, found = self._feed, self._noted, []
        done, self._noted = begin, feed.seen
        for a, b in feed.runs(begin):
            if a >= begin:
                found += self._break(done, int(a))
            feed.end = done = int(b)
            more = done == feed.seen  # else a gap decides all
            found += self._advance(done - self._paths.reach if more else done, decide=more)
        if done < feed.seen:
            found += self._break(done, feed.seen)
        return found

    def _break(self, gap, after):
        """Decide everything up to a gap and start again after it."""
        self._feed.end = gap
        self._advance(gap, decide=False)
        found = _rows_of(self._rows.finish())
        self._begin(after)
        return found

    def _advance(self, upto, decide=True):
        """Advance to a sample, and return the segments (start, end, label, cost) that are decided then."""
        rows = self._rows
        if upto > self._paths.at:
            rows.append(*self._paths.go_on(self._feed, upto))
        if not decide:
            return []
        node = rows.agreed_by_now(self._paths.live())
        if self.max_delay is not None:
            late = min(self._feed.seen - self.max_delay - rows.base, len(rows) - 1)
            if node[0] < late:
                node = self._force(late)
        if node[0] and self._times is not None and rows.base + node[0] == self._feed.seen:
            node = previous(*rows.history, *node)  # the time of an end is that of the sample there
        found = []
        if node[0]:
            found = _rows_of(rows.decide(*node)[0])
            self._paths.forget(rows.base)
        self._wait()
        return found

    def _force(self, late):
        """Decide by the cheapest segmentation up to a boundary, and drop all paths that disagree."""
        best, _, T, base = history = self._rows.history
        node = likeliest(*history, late)
        agree = through(*history, *node, late)

        def held(start, label):
            some = start - base >= node[0]
            came = [before(best, s, T, q) for s, q in zip(start[some] - base, label[some], strict=True)]
            some[some] = agree[start[some] - base, came]
            return some

        new = np.where(agree, best, np.inf)
        self._paths.keep(held, new)
        self._rows.drop(new)
        return node

    def _forget(self):
        if self._feed.is_full:
            self._feed.forget(min(self._rows.base - self._paths.reach, self._paths.needed))
        return self._feed.first

    def _result(self, found):
        start, end, label, cost = (
            np.array([segment[k] for segment in found or []], dtype) for k, dtype in enumerate((int, int, int, float))
        )
        segmenter, versions, times = self._segmenter, self._versions, None
        readers = hold(versions.readers(self._feed), label - 1, start, end)
        lengths = np.array([plan.m for plan in versions.queries])[label - 1]
        shown = np.column_stack([np.zeros_like(label), lengths])
        found = SegmentTable(start, end, label - 1, cost, shown)
        found = versions.of(found._replace(cost=listed_costs(readers, self._rules, found)))
        found, rates = rated(found, calibrations_of(segmenter), set_thresholds(segmenter))
        if self._times is not None:
            known = edges(found.start, found.end, segmenter._max_gap).ravel()
            times = SparseTimes(known, self._times.as_given(self._times.at(known)))
        names, partial = segmenter.classes_[segmenter._numbers], np.zeros(len(found.query), bool)
        held = [CandidateReader(plan, readers[0].source) for plan in segmenter._queries]
        sources = Sources(held, found.query, version=found.version, names=names)
        rest = times, sources, None, found.shown, sources.signs, *rates
        return Segments(found.start, found.end, names[found.query], found.cost, found.query, partial, *rest)

"""Segmentation by chunks: the part that all segmentations agree on which may still be the cheapest is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...utils._sampling import edges
from .._chunks import ChunkStream, SparseTimes, check_delay
from .._incremental_profile import LastSamples
from .._sources import keep_ranges
from .._thresholds import calibrations_of, rule_of, set_thresholds
from .fitting import rated
from .optimal import Versions
from .parallel import Segmentation, SegmentTable
from .results import Segments

if TYPE_CHECKING:
    from typing import Any

    from ...utils._times import Sequences, Times


class SegmentStream(ChunkStream):
    """A segmentation that continues with every chunk of a recording; made by `QuerySegmenter.stream`.

    A repetition is reported as soon as it belongs to every segmentation that may still be the cheapest. All reported
    ones together are those that `segment` finds in the whole recording. Memory: undecided samples. A stream can be
    pickled and continued.

    Attributes
    ----------
    n_samples_seen : int
        Number of samples received.

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
        self._segmenter, self.max_delay = segmenter, max_delay
        self._begin()
        longest = max(plan.m for plan in segmenter._queries)
        what, otherwise = "the length of the longest query", "the start of a repetition would be background"
        check_delay(max_delay, longest, what, self._segmentation._paths.reach, otherwise)

    def _begin(self):
        versions = self._versions = Versions(self._segmenter._queries)
        feed = self._feed = LastSamples(versions.queries[0])
        rules, readers = versions.rules(self._segmenter._rules), versions.readers(feed)
        rest = {"readers": readers, "prompt": True, "max_delay": self.max_delay}
        self._segmentation = Segmentation(versions.queries, rules, feed, **rest)
        self._due = 0

    def _count_samples(self):
        self._segmenter._queries, self._segmenter._rules = self._segmenter._counting(None)
        self._begin()

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
        self._feed.append(y, ty)
        return self._decided() if gaps or self._feed.seen >= self._due else None

    def _end(self):
        return self._decided(last=True)

    def _decided(self, last=False):
        """Return the segments that are decided by now; None for none."""
        found = self._segmentation.take(last, timed=self._times is not None)
        self._due = self._segmentation.due
        return found if len(found.start) else None

    def _forget(self):
        if self._feed.is_full:
            self._feed.forget(self._segmentation.needed)
        return self._feed.first

    def _result(self, found):
        segmenter, versions, times = self._segmenter, self._versions, None
        found = SegmentTable.together([]) if found is None else found
        readers = keep_ranges(versions.readers(self._feed), found.query, found.start, found.end)
        rule = rule_of(segmenter.threshold)
        found, rates = rated(versions.of(found), calibrations_of(segmenter), set_thresholds(segmenter), rule)
        if self._times is not None:
            known = edges(found.start, found.end, segmenter._max_gap).ravel()
            times = SparseTimes(known, self._times.as_given(self._times.at(known)))
        return segmenter._listed(found, segmenter._queries, readers[0].source, times, rates)

"""Segmentation by chunks: what all segmentations that may still be the cheapest have in common is decided."""

import numpy as np

from ...distances._kernels.traceback import agreed, before, likeliest, previous, through, trace
from ...utils.validation import check_count
from .._buffer import Buffer, SparseTimes
from .._chunks import Entrance, is_nothing
from .._incremental_profile import IncrementalProfile
from .._missing import runs
from .._sources import Comparison, Sources, hold
from .._stream import LEAST_HELD, Buffered
from .optimal import SegmentTable, listed_costs
from .segments import Segments
from .stream_costs import Columns, Windows


class _Buffer(IncrementalProfile):
    """The last samples of the recording; no gap lies between the paths' last sample and `end`."""

    end = 0

    @property
    def needed(self):
        return self.seen


class SegmentStream:
    """A segmentation that continues with every chunk of a recording; made by `QuerySegmenter.stream`.

    A repetition is reported as soon as it belongs to every segmentation that may still be the cheapest, so that
    all of them together are those that `segment` finds in the whole recording. Memory: what is not decided yet. A
    stream can be pickled and resumes where it was.

    Attributes
    ----------
    n_samples_seen : int
        Samples so far.

    Examples
    --------
    >>> from sktslib import QuerySegmenter
    >>> stream = QuerySegmenter().fit([0, 1, 3, 1]).stream()
    >>> found = [stream.update(chunk) for chunk in ([5, 5, 0, 1, 3], [1, 5, 5, 5, 0, 1], [1, 3, 1, 5])]
    >>> [segments.boundaries.tolist() for segments in [*found, stream.flush()]]
    [[], [2, 6], [], [9, 14]]
    """

    def __init__(self, segmenter, max_delay=None):
        self.max_delay = check_count(max_delay, "max_delay", none=True, owner="stream")
        self._segmenter = segmenter
        self._paths = (Columns if segmenter._mode == "subsequence" else Windows)(segmenter)
        longest, reach = max(template.x.shape[1] for template in segmenter._templates), self._paths.reach
        if max_delay is not None and max_delay < longest + reach:
            ahead = f" and the {reach} that the metric looks ahead" if reach else ""
            raise ValueError(
                f"The 'max_delay' parameter of stream must be at least the length of the longest query, {longest} "
                f"samples{ahead}: the start of a repetition would be background before its end has come. Got "
                f"{max_delay}."
            )
        template, metric, templates = segmenter._templates[0], segmenter.metric_, segmenter._templates
        self._entrance = Entrance(segmenter, "chunk of a stream")
        tx = [t.tx if metric.uses_times else None for t in templates]
        self._feed = _Buffer(metric, template.x, template.w, tx[0], missing=segmenter.nan_policy == "omit")
        self._hows = [Comparison(metric, t.x, t.w, tx[k], segmenter._mode) for k, t in enumerate(templates)]
        self._lengths = np.array([t.x.shape[1] for t in templates])
        self._nothing, self._flushed = None, False
        self._noted, self._full = 0, LEAST_HELD  # samples checked for missing values, samples that may be held
        self._begin(0)

    def _begin(self, at):
        self._paths.begin(at)
        k = len(self._segmenter._templates)
        self._base = at
        self._best, self._starts = Buffer(after=(k + 1,), first=at), Buffer(after=(k,), first=at)
        self._best.append(np.array([[0.0] + [np.inf] * k]))
        self._codes, self._coded = Buffer(after=(k + 1,), dtype=np.int64, first=at), 0  # see `branch`; filled rows
        self._codes.append(np.zeros((1, k + 1), np.int64))
        self._wait()

    def _wait(self):
        """Set how many samples there must be before anything is decided."""
        self._due = self._paths.due(self._base)
        if self.max_delay is not None:
            self._due = min(self._due, self._base + self.max_delay + 1)

    @property
    def n_samples_seen(self):
        return self._feed.seen

    @property
    def _times(self):
        """As they were given, of the samples that are held."""
        return self._entrance.times

    def update(self, X, times=None):
        """Take the next samples.

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
        self._check_open()
        y, ty, gap, feed = self._entrance.plain(X) if times is None else None, None, False, self._feed
        if y is None:
            if is_nothing(X):
                return self._no_segments()
            y, ty = self._entrance(X, times, feed.seen)
            gap = feed.missing and bool(np.isnan(y).any())
        feed.append(y, ty)
        if feed.seen < self._due and not gap:
            return self._no_segments()
        found = self._decided()
        segments = self._segments(found) if found else self._no_segments()
        if feed.seen - feed.first >= self._full:
            self._forget()
        return segments

    def flush(self):
        """End the stream and return the repetitions that were not decided yet.

        Returns
        -------
        Segments
            In temporal order.
        """
        self._check_open()
        found = self._decided()
        found += self._break(self._feed.seen, self._feed.seen)
        self._flushed = True
        return self._segments(found)

    def _check_open(self):
        if self._flushed:
            raise ValueError("The stream has been flushed, and its recording has ended. Begin a new one by 'stream()'.")

    def _decided(self):
        """The segments that are decided by the samples so far."""
        feed, begin, found = self._feed, self._noted, []
        done, self._noted = begin, feed.seen
        parts = [(begin, feed.seen)]
        if feed.missing:
            parts = runs(feed.cut(begin, feed.seen)[0]) + begin
        for a, b in parts:
            if a > done:
                found += self._break(done, int(a))
            feed.end = done = int(b)
            more = done == feed.seen  # else a gap decides all
            found += self._advance(done - self._paths.reach if more else done, decide=more)
        if done < feed.seen:
            found += self._break(done, feed.seen)
        return found

    def _break(self, gap, after):
        """Decide all up to a gap and start anew after it."""
        self._feed.end = gap
        found = self._advance(gap, decide=False)
        best = self._best.values
        found += self._decide(len(best) - 1, before(best, len(best) - 1, self._segmenter._rules.transitions, -1))
        self._begin(after)
        return found

    def _advance(self, upto, decide=True):
        """Advance to a sample; the segments (start, end, label, cost) that are decided then."""
        if upto > self._paths.at:
            rows, starts = self._paths.go_on(self._feed, upto)
            self._best.append(rows)
            self._starts.append(starts)
            self._codes.append(np.zeros(rows.shape, np.int64))
        if not decide:
            return []
        history = self._best.values, self._starts.values, self._segmenter._rules.transitions, self._base
        node = agreed(*history, self._codes.values, self._coded, *self._paths.live())
        self._coded = len(history[0]) - 1
        if self.max_delay is not None:
            late = min(self._feed.seen - self.max_delay - self._base, len(history[0]) - 1)
            if node[0] < late:
                node = self._force(history, late)
        if node[0] and self._times is not None and self._base + node[0] == self._feed.seen:
            node = previous(*history, *node)  # the time of an end is that of the sample there
        found = self._decide(*node) if node[0] else []
        self._wait()
        return found

    def _force(self, history, late):
        """Decide by the cheapest segmentation up to a boundary, and drop all that disagree."""
        best, _, T, base = history
        node = likeliest(*history, late)
        agree = through(*history, *node, late)

        def held(start, label):
            some = start - base >= node[0]
            came = [before(best, s, T, q) for s, q in zip(start[some] - base, label[some], strict=True)]
            some[some] = agree[start[some] - base, came]
            return some

        new = np.where(agree, best, np.inf)
        self._paths.keep(held, new)
        best[:] = new
        self._coded = 0
        return node

    def _decide(self, j, label):
        """The segments that lead to a node; later ones start from there."""
        fresh = self._base == self._paths.run
        history = self._best.values, self._starts.values, self._segmenter._rules.transitions, self._base
        labels, start, end, cost = trace(*history, fresh, j, label)
        segments = list(zip(start + self._base, end + self._base, labels, cost, strict=True))
        self._base += j
        self._coded = 0
        for rows in (self._best, self._starts, self._codes, self._paths):
            rows.forget(self._base)
        return segments

    def _forget(self):
        """Drop the samples that nothing undecided depends on."""
        feed = self._feed
        feed.forget(min(self._base - self._paths.reach, self._paths.needed))
        if self._times is not None:
            self._times.forget(feed.first)
        self._full = 2 * (feed.seen - feed.first) + LEAST_HELD

    def _segments(self, found):
        """The result of segments."""
        start, end, label, cost = (
            np.array([segment[k] for segment in found], dtype) for k, dtype in enumerate((int, int, int, float))
        )
        segmenter, query, times = self._segmenter, label - 1, None
        pieces = hold([Buffered(how, self._feed) for how in self._hows], query, start, end)
        shown = np.column_stack([np.zeros_like(label), self._lengths[query]])
        cost = listed_costs(pieces, segmenter._rules, SegmentTable(start, end, query, cost, shown))
        if self._times is not None:
            edges = np.concatenate([start, end])
            times = SparseTimes(edges, self._times.as_given(self._times.at(edges)))
        kinds, whole = segmenter.classes_[segmenter._kinds[query]], np.zeros(len(label), bool)
        return Segments(start, end, kinds, cost, query, whole, times, Sources(pieces, shown))

    def _no_segments(self):
        """Made once, since it is the answer to most chunks."""
        if self._nothing is None or (self._nothing.times is None) != (self._times is None):
            self._nothing = self._segments([])
        return self._nothing

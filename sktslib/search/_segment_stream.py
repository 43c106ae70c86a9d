"""Segmentation of a recording that comes in chunks: what every tiling still in question has in common is decided."""

import numpy as np

from ..distances._tiling_paths import agreed, before, likeliest, through, trace
from ..utils.validation import check_count
from ._feed import Clock, Feed, chunk_at, is_nothing
from ._missing import runs
from ._segments import Segments
from ._sources import Comparison, Sources, hold
from ._stream import Buffered
from ._tiling import Tiles, listed_costs
from ._tiling_feed import Columns, Windows
from ._times import SparseTimes, followed, times_at


class _Buffer(Feed):
    """The last samples of the recording; those before `end` are without a gap up to where the paths are."""

    end = 0

    @property
    def needed(self):
        return self.seen


class SegmentStream:
    """A segmentation that goes on with every chunk of a recording; made by `QuerySegmenter.stream`.

    A repetition is reported as soon as it belongs to every tiling that may still turn out the cheapest, so that all of
    them together are those that `segment` finds in the whole recording. Memory: what is not decided yet. A stream can
    be pickled and goes on where it was.

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
        self._paths = (Columns if segmenter._mode == "warped" else Windows)(segmenter)
        longest, reach = max(template.x.shape[1] for template in segmenter._templates), self._paths.reach
        if max_delay is not None and max_delay < longest + reach:
            ahead = f" and the {reach} that the metric looks ahead" if reach else ""
            raise ValueError(
                f"The 'max_delay' parameter of stream must be at least the length of the longest query, {longest} "
                f"samples{ahead}: the begin of a repetition would be background before its end has come. Got "
                f"{max_delay}."
            )
        template, metric = segmenter._templates[0], segmenter.metric_
        self._clock = Clock(metric, template.tx)
        self._feed = _Buffer(metric, template.x, template.w, template.tx)
        tx = [template.tx if metric.uses_times else None for template in segmenter._templates]
        self._hows = [Comparison(metric, t.x, t.w, tx[k], segmenter._mode) for k, t in enumerate(segmenter._templates)]
        self._lengths = np.array([template.x.shape[1] for template in segmenter._templates])
        self._times, self._flushed = None, False
        self._begin(0)

    def _begin(self, at):
        self._paths.begin(at)
        k = len(self._segmenter._templates)
        self._base, self._best, self._starts = at, np.full((1, k + 1), np.inf), np.empty((0, k))
        self._best[0, 0] = 0.0

    @property
    def n_samples_seen(self):
        return self._feed.seen

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
        if is_nothing(X):
            return self._segments([])
        with chunk_at(self.n_samples_seen):
            y, _, given = self._segmenter._door(X, times)
        ty = self._clock(given)
        self._keep_times(given)
        begin, done, found = self._feed.seen, self._feed.seen, []
        self._feed.append(y, ty)
        for a, b in runs(y) + begin:
            if a > done:
                found += self._break(done, a)
            self._feed.end = b
            more = b == self._feed.seen  # else a gap decides all
            found += self._advance(b - self._paths.reach if more else b, decide=more)
            done = b
        if done < self._feed.seen:
            found += self._break(done, self._feed.seen)
        return self._segments(found)

    def flush(self):
        """End the stream and return the repetitions that were not decided yet.

        Returns
        -------
        Segments
            In temporal order.
        """
        self._check_open()
        self._flushed = True
        return self._segments(self._break(self._feed.seen, self._feed.seen))

    def _check_open(self):
        if self._flushed:
            raise ValueError("The stream has been flushed, and its recording has ended. Begin a new one by 'stream()'.")

    def _keep_times(self, given):
        if self._feed.seen and (given is None) != (self._times is None):
            raise ValueError("'times' must be given with every chunk of a stream or with none of them.")
        self._times = None if given is None else followed(self._times, given, self._feed.seen)

    def _break(self, gap, after):
        """Decide all up to a gap and begin anew behind it."""
        self._feed.end = gap
        found = self._advance(gap, decide=False)
        n = len(self._best) - 1
        found += self._decide(n, before(self._best, n, self._segmenter._rules.transitions, -1))
        self._begin(after)
        return found

    def _advance(self, upto, decide=True):
        """Go on to a sample; the tiles (start, end, label, cost) that are decided then."""
        if upto > self._paths.at:
            rows, starts = self._paths.go_on(self._feed, upto, self._best)
            self._best, self._starts = np.concatenate([self._best, rows]), np.concatenate([self._starts, starts])
        if not decide:
            return []
        best, T = self._best, self._segmenter._rules.transitions
        history = best, self._starts, T, self._base
        start, label = self._paths.live()
        begun = start >= self._base
        node = agreed(*history, start[begun], label[begun])
        if self.max_delay is not None:
            late = min(self._feed.seen - self.max_delay - self._base, len(best) - 1)
            if node[0] < late:
                node = self._force(history, late)
        return self._decide(*node)

    def _force(self, history, late):
        """Decide by the tiling that is the cheapest now, up to a boundary, and drop all tilings that disagree."""
        best, _, T, base = history
        node = likeliest(*history, late)
        agree = through(*history, *node, late)

        def held(start, label):
            some = start - base >= node[0]
            came = [before(best, s, T, q) for s, q in zip(start[some] - base, label[some], strict=True)]
            some[some] = agree[start[some] - base, came]
            return some

        self._best = np.where(agree, best, np.inf)
        self._paths.keep(held, self._best)
        return node

    def _decide(self, j, label):
        """The tiles that lead to a node; what comes after starts from there."""
        fresh = self._base == self._paths.run
        found = trace(self._best, self._starts, self._segmenter._rules.transitions, self._base, fresh, j, label)
        labels, start, end, cost = found
        tiles = list(zip(start + self._base, end + self._base, labels, cost, strict=True))
        self._best, self._starts, self._base = self._best[j:].copy(), self._starts[j:].copy(), self._base + j
        return tiles

    def _segments(self, found):
        """The result of tiles; then what is not needed any more is forgotten."""
        start, end, label, cost = (
            np.array([tile[k] for tile in found], dtype) for k, dtype in enumerate((int, int, int, float))
        )
        feed, segmenter, query = self._feed, self._segmenter, label - 1
        pieces = hold([Buffered(how, feed) for how in self._hows], query, start, end)
        shown = np.column_stack([np.zeros_like(label), self._lengths[query]])
        cost = listed_costs(pieces, segmenter._rules, Tiles(start, end, query, cost, shown))
        times, offset = self._times, feed.seen - (0 if self._times is None else len(self._times))
        if times is not None:
            edges = np.concatenate([start, end])
            times = SparseTimes(edges, times_at(times, edges - offset))
        kinds, whole = segmenter.classes_[segmenter._kinds[query]], np.zeros(len(label), bool)
        segments = Segments(start, end, kinds, cost, query, whole, times, Sources(pieces, shown))
        feed.forget(min(self._base - self._paths.reach, self._paths.needed))
        if self._times is not None:
            self._times = self._times[max(feed.first - offset, 0) :]
        return segments

"""The samples behind results: distances, alignments and explanations of ranges, from no more samples than they need."""

from bisect import bisect_right
from dataclasses import replace
from numbers import Integral
from typing import NamedTuple

import numpy as np

from ..distances._metrics.base import Metric
from ._profile import ALONE, Search, neighbours


class Comparison(NamedTuple):
    """How a query is compared with ranges of a sequence."""

    metric: Metric
    x: np.ndarray  # (channels, m)
    w: np.ndarray | None
    tx: np.ndarray | None
    mode: str
    normalize: str | None = None
    lengths: np.ndarray | None = None

    @classmethod
    def of(cls, one):
        """That of a `Search`, or of anything that has its attributes."""
        return cls(one.metric, one.x, one.w, one.tx, one.mode, one.normalize, one.lengths)

    @property
    def reach(self):
        """Samples to either side of a range that it depends on."""
        return self.metric._reach if self.mode == "subsequence" else 0


class CandidateReader:
    """Exact distances, paths and costs of ranges, each from the samples that it lies on.

    What the samples are read from says `extent`, which samples about one there are, and `cut`, samples and times.
    """

    apart = ALONE  # how far candidates may be from each other to be read together
    sequence = None  # the whole of it, where it is held

    def __init__(self, how):
        self.how, self.metric, self.mode, self.x, self.w = how, how.metric, how.mode, how.x, how.w

    def extent(self, start):
        """The samples about one that there are, as a half-open range."""
        raise NotImplementedError

    def cut(self, start, end):
        """Samples (channels, n) of [start, end) and their times."""
        raise NotImplementedError

    def read(self, start, end):
        """First sample, samples (channels, n) and times of a stretch that holds [start, end) and what it depends on."""
        (low, high), reach = self.extent(start), self.how.reach
        first, last = max(start - reach, low), min(end + reach, high)
        y, ty = self.cut(first, last)
        if reach:  # features do not reach across a gap
            gap = np.isnan(y).any(axis=0)
            before, after = np.flatnonzero(gap[: start - first]), np.flatnonzero(gap[end - first :])
            part = slice(before[-1] + 1 if len(before) else 0, end - first + after[0] if len(after) else None)
            first, y, ty = first + int(part.start), np.ascontiguousarray(y[:, part]), None if ty is None else ty[part]
        return first, y, ty

    def _search(self, start, end):
        first, y, ty = self.read(start, end)
        metric, x, w, tx, mode, normalize, lengths = self.how
        lengths = None if lengths is None else np.array([end - start])
        return first, Search.of(metric, x, w, y, tx, ty, mode, normalize, lengths, checked=True)

    def distances(self, start, end):
        """Exact distances of candidates."""
        out = np.empty(len(start))
        for which in neighbours(start, self.x.shape[1], self.apart):
            first, search = self._search(int(start[which[0]]), int(end[which[-1]]))
            out[which] = search.distances(start[which] - first, end[which] - first)
        return out

    def path(self, start, end, shown=None):
        """Alignment of a range with the query, or with a part of its points, in samples of the whole sequence."""
        first, search = self._search(start, end)
        return search.path(start - first, end - first, shown) + np.array([[0], [first]])

    def cost(self, start, end, shown=None):
        """Accumulated cost of a range and the query, or a part of its points, in a subsequence search."""
        first, search = self._search(start, end)
        return search.cost(start - first, end - first, shown)

    def explain(self, start, end):
        """What a candidate costs at each point; its path in samples of the whole sequence."""
        first, search = self._search(start, end)
        found = search.explain(start - first, end - first)
        return replace(found, path=found.path + np.array([[0], [first]]))

    def kept(self, start, end):
        """The same of the samples alone that some ranges depend on."""
        return hold([self], [0] * len(start), start, end)[0]


class Whole(CandidateReader):
    """Ranges of a sequence in memory."""

    def __init__(self, how, y, ty):
        super().__init__(how)
        self.y, self.ty = y, ty

    @classmethod
    def of(cls, search):
        return cls(Comparison.of(search), search.y, search.ty)

    @property
    def sequence(self):
        return self.y[0] if len(self.y) == 1 else self.y.T

    def extent(self, start):
        return 0, self.y.shape[1]

    def cut(self, start, end):
        part = slice(start, end)
        return np.ascontiguousarray(self.y[:, part]), None if self.ty is None else self.ty[part]


class Held(CandidateReader):
    """Ranges of a sequence of which some stretches are held."""

    def __init__(self, how, stretches):
        super().__init__(how)
        self.stretches = stretches

    def extent(self, start):
        return self.stretches.extent(start)

    def cut(self, start, end):
        return self.stretches.cut(start, end)


class Stretches:
    """Samples of a sequence that is gone; pieces that touch or overlap are one stretch."""

    def __init__(self, pieces):
        """Take (first sample, samples, times) of each piece."""
        together = []
        for first, y, ty in sorted(pieces, key=lambda piece: piece[0]):
            end = first + y.shape[1]
            if together and first <= together[-1][1]:
                new = slice(together[-1][1] - first, None)
                if new.start < y.shape[1]:
                    together[-1][1] = end
                    together[-1][2].append((y[:, new], None if ty is None else ty[new]))
            else:
                together.append([first, end, [(y, ty)]])
        self.first, self.end = [part[0] for part in together], [part[1] for part in together]
        self.y = [np.concatenate([y for y, _ in parts], axis=1) for *_, parts in together]
        self.ty = [None if parts[0][1] is None else np.concatenate([t for _, t in parts]) for *_, parts in together]

    def _of(self, start):
        return bisect_right(self.first, start) - 1

    def extent(self, start):
        k = self._of(start)
        return self.first[k], self.end[k]

    def cut(self, start, end):
        k = self._of(start)
        part = slice(start - self.first[k], end - self.first[k])
        return np.ascontiguousarray(self.y[k][:, part]), None if self.ty[k] is None else self.ty[k][part]


def hold(readers, which, start, end):
    """Readers of one sequence as such that share what ranges need of it; the k-th range is one of readers[which[k]]."""
    ranges = zip(which, start, end, strict=True)
    stretches = Stretches([readers[k].read(int(s), int(e)) for k, s, e in ranges])
    return [Held(one.how, stretches) for one in readers]


class Sources:
    """What the repetitions of a segmentation were found in, and which part of its query each shows."""

    def __init__(self, pieces, shown):
        self.pieces, self.shown = tuple(pieces), shown  # a reader for each query; half-open ranges of query points

    @property
    def queries(self):
        """The queries, (channels, m) each."""
        return [one.x for one in self.pieces]

    @property
    def sequence(self):
        return self.pieces[0].sequence

    def one(self, query):
        """The number of a query, checked."""
        count = len(self.pieces)
        if query is None and count == 1:
            return 0
        if query is None or not isinstance(query, Integral) or not 0 <= query < count:
            raise ValueError(
                f"The 'query' parameter must be the number of a query, from 0 to {count - 1}, as in 'query' of the "
                f"segments, not a label. Got {query!r}. Repetitions of several queries have time bases of their own."
            )
        return query

    def _of(self, segments, k):
        """Reader, start, end, and the query points that are shown, None for all."""
        shown = tuple(self.shown[k].tolist()) if segments.partial[k] else None
        return self.pieces[segments.query[k]], int(segments.start[k]), int(segments.end[k]), shown

    def path(self, segments, k):
        """Alignment of the k-th repetition, indices into the whole query and the whole sequence."""
        pieces, *where = self._of(segments, k)
        return pieces.path(*where)

    def warped(self, segments, k):
        """The k-th repetition on its query's time base (m, channels)."""
        pieces, start, end, _ = self._of(segments, k)
        i, j = self.path(segments, k)
        begin, samples, _ = pieces.read(start, end)
        first, last = self.shown[k]
        met = np.bincount(i, minlength=pieces.x.shape[1])
        points = np.flatnonzero(met)
        out = np.full(pieces.x.shape, np.nan)
        for row, y in zip(out, samples, strict=True):
            mean = np.bincount(i, y[j - begin], minlength=len(row))[points] / met[points]
            row[first:last] = np.interp(np.arange(first, last), points, mean) if len(points) else np.nan
        return out.T

    def kept(self, segments):
        """The same of the samples alone that the repetitions depend on."""
        return Sources(hold(self.pieces, segments.query, segments.start, segments.end), self.shown)

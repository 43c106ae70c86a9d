"""The searches behind a segmentation: alignments of its repetitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from ._profile import Search


@dataclass(frozen=True)
class Sources:
    """A search by each query, and which part of its query each repetition shows."""

    searches: Sequence[Search]
    queries: tuple[np.ndarray, ...]  # (channels, m) each
    shown: np.ndarray  # (n_segments, 2): half-open ranges of query points
    begin: int = 0  # the sample of the recording that is the searches' first

    @property
    def sequence(self):
        return self.searches[0].sequence

    def one(self, query):
        """The number of a query, checked."""
        count = len(self.queries)
        if query is None and count == 1:
            return 0
        if query is None or not isinstance(query, Integral) or not 0 <= query < count:
            raise ValueError(
                f"The 'query' parameter must be the number of a query, from 0 to {count - 1}, as in 'query' of the "
                f"segments, not a label. Got {query!r}. Repetitions of several queries have time bases of their own."
            )
        return query

    def path(self, segments, k):
        """Alignment of the k-th repetition, indices into the whole query and the whole sequence."""
        search, (first, last) = self.searches[segments.query[k]], self.shown[k]
        if segments.partial[k]:
            part = slice(first, last)
            w, tx = (None if search.w is None else np.ascontiguousarray(search.w[:, part])), search.tx
            x, tx = np.ascontiguousarray(search.x[:, part]), None if tx is None else tx[part] - tx[first]
            search = Search.of(search.metric, x, w, search.y, tx, search.ty, search.mode)
        path = search.path(int(segments.start[k]) - self.begin, int(segments.end[k]) - self.begin)
        return path + np.array([[first], [self.begin]])

    def warped(self, segments, k):
        """The k-th repetition on its query's time base (m, channels)."""
        search = self.searches[segments.query[k]]
        i, j = self.path(segments, k)
        first, last = self.shown[k]
        met = np.bincount(i, minlength=search.x.shape[1])
        points = np.flatnonzero(met)
        out = np.full(search.x.shape, np.nan)
        for row, y in zip(out, search.y, strict=True):
            mean = np.bincount(i, y[j - self.begin], minlength=len(row))[points] / met[points]
            row[first:last] = np.interp(np.arange(first, last), points, mean) if len(points) else np.nan
        return out.T

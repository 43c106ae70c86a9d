"""Searches of sequences that come in pieces: what begins them."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from .search_part import SearchPart
from .stream import Stream

if TYPE_CHECKING:
    from typing import Any


class PiecewiseSearcher:
    """What `QuerySearcher` begins: a stream, or a part of a search."""

    def stream(self, max_delay: float | None = None) -> Stream:
        """Begin a search that takes the sequence chunk by chunk; `threshold` must be set.

        Parameters
        ----------
        max_delay : int, optional
            After how many samples at most, counted from its end, an occurrence must be decided, at the end of a chunk,
            although a better one that overlaps it may still come; not less than the query has. Then the best ones by
            then are reported, what overlaps them is none, and no occurrence is longer than `max_delay`: the stream
            holds about twice as many samples at most. Without it an occurrence waits until nothing that comes can
            overlap it, however long that takes, so that the answer is that of `search`.

        Returns
        -------
        Stream
            Its ``update(X)`` returns the occurrences that are decided, ``flush()`` those left at the end.
        """
        check_is_fitted(self)
        return Stream(copy(self), max_delay)

    def begin(self, at: int = 0, start_time: Any = None) -> SearchPart:
        """Begin the search of a part of a recording, for those who spread parts themselves; see `SearchPart`.

        Parameters
        ----------
        at : int, default=0
            The sample of the recording at which the part begins.
        start_time : datetime, optional
            The time of the recording's first sample, where the metric or `max_gap` reads datetimes and `at` is not 0.

        Returns
        -------
        SearchPart
            Its ``feed(X)`` takes samples from its `first` on; `merge_parts` gives the matches of all parts.
        """
        check_is_fitted(self)
        return SearchPart(self, at, start_time)

"""The table that both results are: ranges with times, of which some can be selected, sorted and cut out."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields, replace
from html import escape
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..utils._positions import as_position, as_positions, distinct, order
from ..utils._sampling import edges, end_times
from ..utils.validation import check_count, check_flag, unknown_name
from ._buffer import elapsed, kept_times, times_at

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import NDArray
    from pandas import DataFrame, IntervalIndex

    from ..utils._types import Sequences

ROWS = 12  # of a table in a notebook


class RangeTable:
    """Named arrays of one length with times, as a table; what is selected of it is one, too."""

    _what = "match", "matches"  # one and several

    def __len__(self) -> int:
        return len(self.start)

    # As of a list or an array: an integer gives what iterating gives, all else gives several.
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Integral) and not isinstance(key, bool):
            return next(iter(self._of([as_position(key, len(self), self._what, "The index")])))
        return self._of(as_positions(key, len(self), self._what))

    def _of(self, rows):
        """The entries of some numbers, with all that belongs to them."""
        each = {name: getattr(self, name) for name in self._each}
        each = {name: values[rows] for name, values in each.items() if values is not None}
        return replace(self, **each, _source=None if self._source is None else self._source.of(rows))

    def sorted(self, by: str = "start", *, reverse: bool = False) -> Self:
        """Return the same in another order.

        Parameters
        ----------
        by : str, default="start"
            An attribute with one value for each. "start" is the order of time, of several sequences in one after the
            other.
        reverse : bool, default=False
            Whether the largest come first. Equals stay in the order that they have, reversed or not.

        Returns
        -------
        Matches or Segments
            Of the class of this.
        """
        columns = [name for name in (*self._columns, *self._each, "duration") if not name.startswith("_")]
        if by not in columns or np.ndim(getattr(self, by)) != 1:  # of the others some are computed when asked for
            columns = [name for name in columns if np.ndim(getattr(self, name)) == 1]
            raise unknown_name("column", by, dict.fromkeys(columns), type(self).__name__)
        keys = [getattr(self, by)]
        if by == "label":
            labels = distinct(self.label)
            keys = [np.array([labels.index(label) for label in self.label.tolist()], int)]
        elif by == "start" and getattr(self, "sequence", None) is not None:
            keys.append(self.sequence)
        return self._of(order(keys, check_flag(reverse, "reverse")))

    @property
    def start_time(self) -> Any:
        """Times of the starts, or None where there are none; of sequences in several time zones in UTC."""
        return self._times_at(self.start)

    @property
    def end_time(self) -> Any:
        """Times of the (exclusive) ends, in the form of those of the starts.

        An end is when the sample there was taken; before a hole (see `max_gap`), and at the end of the sequence, it
        lies one last step behind the last sample.
        """
        if self.times is None or self._max_gap is None:
            return self._times_at(self.end)
        return end_times(*(self._times_at(index) for index in self._edges[1:]), self._max_gap)

    @property
    def _max_gap(self):
        return None if self._source is None else self._source.max_gap

    @property
    def _edges(self):
        """The samples whose times are those of the starts and ends."""
        return edges(self.start, self.end, self._max_gap)

    def _times_at(self, index):
        return times_at(self.times, index)

    @property
    def duration(self) -> NDArray[np.float64]:
        """How long each range is: in the unit of the times, that of datetimes in seconds, or in samples."""
        if self.times is None:
            return (self.end - self.start).astype(float)
        return elapsed(self.start_time, self.end_time)

    @property
    def intervals(self) -> IntervalIndex:
        """The ranges as a pandas IntervalIndex, closed on the left: of times where there are some, else of samples."""
        import pandas as pd

        edges = (self.start, self.end) if self.times is None else (self.start_time, self.end_time)
        try:
            return pd.IntervalIndex.from_arrays(*edges, closed="left")
        except TypeError as error:
            raise TypeError(
                f"'intervals' must be of times of one kind. Got times that are none to pandas: {error}. Take those of "
                "one sequence, matches[matches.sequence == 0].intervals."
            ) from error

    def cut(self, sequence: Sequences | None = None, length: int | None = None) -> Any:
        """Cut the samples of each range out of a sequence.

        Parameters
        ----------
        sequence : array-like of shape (n,) or (n, channels), optional
            What to cut, sample by sample beside what was searched: the recording as it was before a scaler, other
            channels of it, or what can be sliced and is not in memory. Of several sequences a list with all of them.
            Default: the samples that were searched.
        length : int, optional
            How many samples each piece is to have: it is interpolated linearly, and both of its ends are kept.

        Returns
        -------
        list of ndarray of shape (end - start,) or (end - start, channels), or ndarray of shape (k, length, channels)
            A copy of each piece, in the order of the ranges; with `length` all of them in one array.

        Examples
        --------
        >>> from sktslib import QuerySearcher
        >>> matches = QuerySearcher("dtw", n_matches=2).fit([0, 2, 0]).search([5, 0, 3, 3, 0, 5, 0, 2, 0])
        >>> matches.cut()
        [array([0., 2., 0.]), array([0., 3., 3., 0.])]
        >>> matches.cut(length=3)[:, :, 0]
        array([[0., 2., 0.],
               [0., 3., 0.]])
        """
        length, ranges = check_count(length, "length", none=True), np.column_stack([self.start, self.end])
        return self._source.cut(ranges, sequence, length, listed=getattr(self, "sequence", None) is not None)

    def _compared(self, ranges):
        """What each query has as its `_measure` in each range, (k, n_queries); reports of events ask for it."""
        return self._source.compared(ranges, costs=self._measure == "cost")

    @property
    def _limits(self):
        """The largest `_measure` that is allowed for each query; None without."""
        return self.threshold

    @property
    def _query_labels(self):
        """The label of each query, also of one that found nothing; None where they have none."""
        return self._source.names

    # A pickle holds the samples and times that the entries depend on. A copy shares the sequence, which never changes.
    def __getstate__(self):
        if self._source is None:
            return vars(self)
        return {**vars(self), "times": self._times_kept(), "_source": self._source.kept(self.start, self.end)}

    def __copy__(self):
        return replace(self)

    def __deepcopy__(self, memo):
        own = [one.name for one in fields(self) if one.name != "_source"]
        return replace(self, **{name: deepcopy(getattr(self, name), memo) for name in own})

    def _times_kept(self):
        return kept_times(self.times, self._edges.ravel())

    def _to_draw(self, sequence):
        """The whole sequence, for a picture."""
        if sequence is None:
            sequence = None if self._source is None else self._source.sequence
            if sequence is None:
                name = self._what[1]
                raise ValueError(
                    f"The {name} of a stream cannot be drawn without the sequence, nor can {name} that were pickled: "
                    "they hold the samples on which they lie, and no others. Pass yours: plot(sequence=...)."
                )
        return sequence

    def _found(self, k):
        """The k-th entry's query and samples, its start and its end."""
        k = as_position(k, len(self), self._what)
        start, end = int(self.start[k]), int(self.end[k])
        return self._source.search(k, start, end), start, end

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame, one row per range, with times where the sequence has them."""
        import pandas as pd

        columns = {}
        for column in self._columns:
            values = getattr(self, column)
            if np.ndim(values) == 2:  # a column for each channel
                names = self.channels or range(values.shape[1])
                columns |= {f"{column}_{name}": own for name, own in zip(names, values.T, strict=True)}
            elif values is not None:
                columns[column] = values
        if self.times is not None:
            columns |= {"start_time": self.start_time, "end_time": self.end_time}
        return pd.DataFrame(columns)

    def __repr__(self):
        counts = [(getattr(self, name), name, several) for name, several in self._counted.items()]
        counts = [(len(distinct(values)), name, several) for values, name, several in counts if values is not None]
        parts = [f"{n} {several}" for n, _, several in counts if n > 1]
        values = getattr(self, self._measure)
        if len(self):
            parts.append(f"{self._measure} {values.min():.4g} to {values.max():.4g}")
        return f"<{type(self).__name__}: {', '.join([str(len(self)), *parts])}>"

    def _repr_html_(self):
        zone = None if self.times is None else getattr(self.start_time, "tz", None)
        head = repr(self)[1:-1] + (f", times in {zone}" if zone is not None else "")
        return f"<p>{escape(head)}</p>{self.to_frame().to_html(max_rows=ROWS)}"

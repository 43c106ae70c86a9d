"""What searches and segmentations return."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, fields, replace
from html import escape
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..utils._positions import as_position, as_positions, distinct, order
from ..utils._sampling import edges, end_times
from ..utils.validation import check_count, check_flag, unknown_name
from ._buffer import elapsed, kept_times, times_at, times_in
from ._selection import Ranges

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray
    from pandas import DataFrame, IntervalIndex

    from ..utils._plot.plot_search import SearchDisplay
    from ..utils._types import Sequences
    from ._explain import Explanation

ROWS = 12  # of a table in a notebook
RATES = "qvalue", "pvalue", "false_per_hour"  # columns of what has a false discovery rate


class _Table:
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
        columns = [name for name in columns if np.ndim(getattr(self, name)) == 1]
        if by not in columns:
            raise unknown_name("column", by, dict.fromkeys(columns), type(self).__name__)
        keys = [getattr(self, by)]
        if by == "label":
            labels = distinct(self.label)
            keys = [np.array([labels.index(label) for label in self.label.tolist()], int)]
        elif by == "start" and "sequence" in columns:
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

        columns = {name: getattr(self, name) for name in self._columns if getattr(self, name) is not None}
        signs = columns.get("polarity")
        if signs is not None and signs.ndim == 2:  # a column for each channel
            names = self.channels or range(signs.shape[1])
            columns |= {f"polarity_{name}": own for name, own in zip(names, signs.T, strict=True)}
            del columns["polarity"]
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


@dataclass(frozen=True, eq=False, repr=False)
class Matches(Ranges, _Table):
    """Occurrences of a query, best first.

    They are indexed as an array is: a number gives a `Match`, as iterating does, and a slice, a mask or a list of
    numbers the `Matches` of those, in their order. A pickle holds the samples of the sequence that the matches depend
    on, and no others.

    Attributes
    ----------
    start, end : ndarray of shape (n_matches,)
        Half-open ranges in samples of the sequence.
    distance : ndarray of shape (n_matches,)
        Their distances, ascending unless they were selected in another order.
    query, sequence : ndarray of int of shape (n_matches,) or None
        Which of several queries, and in which of several sequences, from 0; None where there is one.
    times : ndarray of shape (n_timepoints,), SparseTimes or None
        The sequence's times, as they were given; of several sequences a list, with None for one without. Of a stream,
        and where the matches were pickled, those of the starts and ends alone: ``times.times`` of the samples
        ``times.samples``.
    label : ndarray of shape (n_matches,) or None
        The class that is matched, where the queries were learned from labels, or the name its query was given by.
    channels : list of str or None
        Names of the channels, the columns of the sequence where it was a table or a column of one.
    polarity : ndarray of int of shape (n_matches,) or (n_matches, channels), or None
        The sign (1 or -1) of the query that each match fits, or of each of its channels; None with
        ``polarity="same"``.
    qvalue : ndarray of shape (n_matches,) or None
        Where the threshold is a `FalseDiscoveryRate`: the lowest rate with which each is taken.
    pvalue : ndarray of shape (n_matches,) or None
        There, too: the share of the matches of decoys that are as near, with one added to both counts.
    false_per_hour : ndarray of shape (n_matches,) or None
        There, too: how many matches of a decoy are as near in an hour of recording. Times that are numbers count as
        seconds, and so do samples without times.
    threshold : ndarray of shape (n_queries,) or None
        The largest distance of an occurrence of each query, NaN where the searcher had none; see `uncertain`.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> matches = QuerySearcher("euclidean", n_matches=2).fit([0, 1, 0]).search([0, 0, 1, 0, 0, 2, 0])
    >>> list(matches)
    [Match(start=1, end=4, distance=0.0), Match(start=4, end=7, distance=1.0)]
    >>> matches
    <Matches: 2, distance 0 to 1>
    >>> matches[0], list(matches[matches.distance > 0.5])
    (Match(start=1, end=4, distance=0.0), [Match(start=4, end=7, distance=1.0)])
    >>> matches.path(0)
    array([[0, 1, 2],
           [1, 2, 3]])
    """

    start: np.ndarray
    end: np.ndarray
    distance: np.ndarray
    query: np.ndarray | None = None
    sequence: np.ndarray | None = None
    times: np.ndarray | None = None
    _source: object = None
    label: np.ndarray | None = None
    channels: list[str] | None = None
    polarity: np.ndarray | None = None
    qvalue: np.ndarray | None = None
    pvalue: np.ndarray | None = None
    false_per_hour: np.ndarray | None = None
    threshold: np.ndarray | None = None
    _columns = _each = ("query", "sequence", "start", "end", "distance", "label", "polarity", *RATES)
    _measure, _counted = "distance", {"query": "queries", "sequence": "sequences"}

    def path(self, k: int) -> NDArray[np.intp]:
        """Alignment of the k-th match: query indices and sequence indices, an array (2, K); computed when asked for."""
        search, start, end = self._found(k)
        return search.path(start, end)

    def explain(self, k: int) -> Explanation:
        """Where the k-th match fits and where it does not: costs per query point and channel, advance and delay.

        Parameters
        ----------
        k : int
            The match's place in the list, from 0.

        Returns
        -------
        Explanation

        Examples
        --------
        >>> from sktslib import QuerySearcher
        >>> matches = QuerySearcher("dtw").fit([0, 2, 0]).search([5, 0, 3, 3, 0, 5])
        >>> explained = matches.explain(0)
        >>> explained.cost[:, 0].tolist(), explained.delay
        ([0.0, 2.0, 0.0], 0.3333333333333333)
        """
        search, start, end = self._found(k)
        return search.explain(start, end)

    def uncertain(self, k: int = 5, known: Any = None) -> NDArray[np.intp]:
        """Numbers of the matches to ask about next: those nearest to where occurrences end and others begin.

        Parameters
        ----------
        k : int, default=5
            How many; fewer where there are not as many.
        known : Matches or list of Matches, optional
            What was asked about. Matches that have half of the shorter range in common with one of them are left out.

        Returns
        -------
        ndarray of shape (k,)
            The most uncertain first. See Notes.

        Notes
        -----
        The border is the `threshold` of the matches' query, or, where there is none, the middle of the largest gap
        between the distances of its matches. Those of ``searcher.candidates(X)`` lie on both sides of it, those of
        ``searcher.search(X)`` below alone. First come the nearest on either side, of each query in each sequence; then
        the second nearest, and so on; in each round those whose distance differs from the border by the least share
        of it, then the first.

        Examples
        --------
        >>> from sktslib import QuerySearcher
        >>> matches = QuerySearcher("euclidean").fit([0, 1]).candidates([0, 1, 0, 2, 5, 1, 9, 0])
        >>> matches.distance.round(1).tolist(), matches.uncertain(2).tolist()
        ([0.0, 1.0, 5.0, 9.1], [1, 2])
        """
        from ._learning.uncertainty import uncertain

        return uncertain(self, k, known)

    def _times_kept(self):
        if self.sequence is None or self.times is None:
            return super()._times_kept()
        at = self._edges
        return [kept_times(times, at[:, self.sequence == k].ravel()) for k, times in enumerate(self.times)]

    def _times_at(self, index):
        if self.sequence is None or self.times is None:
            return super()._times_at(index)
        return times_in(self.times, self.sequence, index)

    def plot(
        self, ax: Axes | None = None, *, sequence: Sequences | None = None, ts: ArrayLike | None = None, **style: Any
    ) -> SearchDisplay:
        """Draw the sequence with its occurrences.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            Where to draw. Default: a new figure.
        sequence : array-like of shape (n,) or (n, channels), optional
            The sequence that was searched. It must be given where the matches do not hold it: those of a stream, and
            those that were pickled.
        ts : array-like of shape (n,), optional
            Its times. Default: those of the search, or of a pandas index.
        **style
            Passed on to `SearchDisplay.plot`, such as `title`, `time_range` and `color_by`.

        Returns
        -------
        SearchDisplay
        """
        from ..utils.visualisation import plot_search_distance_result

        own = self if self.sequence is None else self._alone()
        return plot_search_distance_result(own, own._to_draw(sequence), ts, ax=ax, **style)

    def _alone(self):
        """The same as matches in the one of several sequences in which all of them lie."""
        found = distinct(self.sequence)
        if len(found) != 1:
            raise ValueError(
                "Matches in several sequences cannot be drawn in one picture. Got matches in "
                f"{len(found) or 'none'} of them. Select those in one, matches[matches.sequence == 0]."
            )
        times = None if self.times is None else self.times[found[0]]
        return replace(self, sequence=None, times=times, _source=self._source.alone(found[0]))

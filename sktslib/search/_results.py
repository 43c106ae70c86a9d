"""The table of ranges that both estimators return, matches, and how a search collects them.

Ranges have times, and they can be selected, sorted and cut out of a sequence.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from html import escape
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..utils._sampling import edges, end_times
from ..utils._times import Sequences, as_position, as_positions, distinct, order
from ..utils.validation import check_count, check_flag, check_number, refused, shown, unknown_name
from ._chunks import SparseTimes, elapsed, kept_times, times_at, times_in
from ._profile import Explanation, choose
from ._selection import Ranges, select
from ._sources import ArraySource, CandidateReader, MatchOrigins

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame, IntervalIndex

    from .._plots.found import SearchDisplay

ROWS = 12  # most rows of a table in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class RangeTable:
    """Named arrays of one length as a table; a selection of it is a table of the same kind."""

    start: np.ndarray
    end: np.ndarray
    _: KW_ONLY
    times: np.ndarray | None = None
    channels: list[str] | None = None
    polarity: np.ndarray | None = None
    qvalue: np.ndarray | None = None
    pvalue: np.ndarray | None = None
    false_per_hour: np.ndarray | None = None
    threshold: np.ndarray | None = None
    _source: object = None
    _time_name: str | None = None  # label of the time axis in pictures
    _what = "match", "matches"  # singular and plural, for messages

    def __len__(self) -> int:
        return len(self.start)

    # Like a list or an array: an integer returns the item that iterating gives, anything else returns a table.
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Integral) and not isinstance(key, bool):
            return next(iter(self._of([as_position(key, len(self), self._what, "The index")])))
        return self._of(as_positions(key, len(self), self._what))

    def _of(self, rows):
        """Return the entries with these indices, with everything that belongs to them."""
        each = {name: getattr(self, name) for name in self._each}
        each = {name: values[rows] for name, values in each.items() if values is not None}
        return replace(self, **each, _source=None if self._source is None else self._source.of(rows))

    def sorted(self, by: str = "start", *, reverse: bool = False) -> Self:
        """Return the ranges in another order.

        Parameters
        ----------
        by : str, default="start"
            An attribute with one value for each. "start" means the order of time, in one sequence after the other.
        reverse : bool, default=False
            Whether the largest come first. Equal values keep their present order, reversed or not.

        Returns
        -------
        Matches or Segments
            Of the class of this.
        """
        columns = [name for name in (*self._columns, *self._each, "duration") if not name.startswith("_")]
        if by not in columns or np.ndim(getattr(self, by)) != 1:  # some further columns are computed on access
            columns = [name for name in columns if np.ndim(getattr(self, name)) == 1]
            raise unknown_name("column", by, dict.fromkeys(columns), type(self).__name__)
        keys = [getattr(self, by)]
        if by == "label":
            labels = distinct(self.label.tolist())
            keys = [np.array([labels.index(label) for label in self.label.tolist()], int)]
        elif by == "start" and getattr(self, "sequence", None) is not None:
            keys.append(self.sequence)
        return self._of(order(keys, check_flag(reverse, "reverse")))

    @property
    def start_time(self) -> Any:
        """Times of the starts, or None without times; for sequences in several time zones in UTC."""
        return self._times_at(self.start)

    @property
    def end_time(self) -> Any:
        """Times of the (exclusive) ends, in the form of those of the starts.

        An end is the time of the sample there; before a gap (see `max_gap`), and at the end of the sequence, it is
        one last step behind the last sample.
        """
        if self.times is None or self._max_gap is None:
            return self._times_at(self.end)
        return end_times(*(self._times_at(index) for index in self._edges[1:]), self._max_gap)

    @property
    def _max_gap(self):
        return None if self._source is None else self._source.max_gap

    @property
    def _edges(self):
        """The samples whose times are the times of starts and ends."""
        return edges(self.start, self.end, self._max_gap)

    def _times_at(self, index):
        several = isinstance(self.times, list)  # one entry per sequence
        return times_in(self.times, self.sequence, index) if several else times_at(self.times, index)

    @property
    def duration(self) -> NDArray[np.float64]:
        """The duration of each range: in the unit of the times, for datetimes in seconds, without times in samples."""
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
            rule, got = "be of times of one kind", f"times that pandas does not know: {error}"
            out = "Select those of one sequence, matches[matches.sequence == 0].intervals."
            raise refused("'intervals'", rule, got, out, error=TypeError) from error

    def cut(self, sequence: Sequences | None = None, length: int | None = None) -> Any:
        """Cut the samples of each range out of a sequence.

        Parameters
        ----------
        sequence : array-like of shape (n,) or (n, channels), optional
            The sequence to cut, with one sample for each that was searched: the recording before a scaler, other
            channels of it, or an object that can be sliced and is not in memory. For several sequences a list of all of
            them. Default: the sequence that was searched.
        length : int, optional
            Number of samples of each piece, which is interpolated linearly between its ends.

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
        """Return the `_measure` of each query in each range, (k, n_queries), for event reports."""
        return self._source.compared(ranges, costs=self._measure == "cost")

    @property
    def _limits(self):
        """The largest allowed `_measure` of each query; None without thresholds."""
        return self.threshold

    @property
    def _query_labels(self):
        """The label of each query, including those that found nothing; None if queries have no labels."""
        return self._source.names

    # A pickle holds the samples and times that the entries depend on. A copy shares the sequence, which is not changed.
    def __getstate__(self):
        if self._source is None:
            return vars(self)
        at, times = self._edges, self.times
        if isinstance(times, list):
            times = [kept_times(one, at[:, self.sequence == k].ravel()) for k, one in enumerate(times)]
        else:
            times = kept_times(times, at.ravel())
        return {**vars(self), "times": times, "_source": self._source.kept(self.start, self.end)}

    def __copy__(self):
        return replace(self)

    def __deepcopy__(self, memo):
        own = [one.name for one in fields(self) if one.name != "_source"]
        return replace(self, **{name: deepcopy(getattr(self, name), memo) for name in own})

    def _to_draw(self, sequence):
        """Return the whole sequence for a picture."""
        if sequence is None:
            sequence = None if self._source is None else self._source.sequence
            if sequence is None:
                name = self._what[1]
                raise ValueError(
                    f"The {name} of a stream cannot be drawn without the sequence, nor can {name} that were pickled: "
                    "they hold only their own samples. Pass the sequence: plot(sequence=...)."
                )
        return sequence

    def _found(self, k):
        """Return the search of the k-th entry with its query, its start and its end."""
        k = as_position(k, len(self), self._what)
        start, end = int(self.start[k]), int(self.end[k])
        return self._source.search(k, start, end), start, end

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame, one row per range, with times where the sequence has them."""
        import pandas as pd

        columns = {}
        for column in self._columns:
            values = getattr(self, column)
            if np.ndim(values) == 2:  # one column for each channel
                names = self.channels or range(values.shape[1])
                columns |= {f"{column}_{name}": own for name, own in zip(names, values.T, strict=True)}
            elif values is not None:
                columns[column] = values
        if self.times is not None:
            columns |= {"start_time": self.start_time, "end_time": self.end_time}
        return pd.DataFrame(columns)

    def to_annotations(self, format: str, path: Any = None, *, rate: float | None = None) -> Any:
        """Return the ranges as annotations of another program, and write them where a path is given.

        Parameters
        ----------
        format : {"mne", "wfdb", "edf", "audacity", "csv"}
            ``mne.Annotations``, a ``wfdb.Annotation``, a list of ``edfio.EdfAnnotation``, the text of a label track, or
            that of a table with the columns start, end, label and, where times are known, onset and duration.
        path : str or path-like, optional
            The file to write. The suffix of WFDB's is the name of the annotator, as in ``"100.found"``.
        rate : float, optional
            Samples per second. None: seconds come from the times, counted from the first sample on.

        Returns
        -------
        mne.Annotations, wfdb.Annotation, list or str
            Labels are those of the ranges, or "match". In WFDB's format each range has an onset, ``(``, with the label
            as its note, and an end, ``)``.

        Raises
        ------
        ValueError
            If the ranges are of several recordings, or seconds are needed and neither times nor `rate` tell them.

        See Also
        --------
        sktslib.io.read_annotations : The way back.
        """
        from ..io._annotations import annotations_of

        sequence = getattr(self, "sequence", None)
        if sequence is not None and len(np.unique(sequence)) > 1:
            rule, got = "be called on the ranges of one recording", "those of several"
            raise refused("'to_annotations'", rule, got, "Select one, matches[matches.sequence == 0].")
        known = self.times if isinstance(self.times, list) else [self.times]
        seconds = None
        if rate is not None:
            check_number(rate, "rate", low=0.0, open_low=True, owner="to_annotations")
            seconds = self.start / rate, (self.end - self.start) / rate
        elif self.times is not None and not any(isinstance(t, SparseTimes) and 0 not in t.samples for t in known):
            seconds = elapsed(self._times_at(np.zeros(len(self), np.int64)), self.start_time), self.duration
        label = getattr(self, "label", None)
        label = ["match"] * len(self) if label is None else [str(one) for one in label.tolist()]
        return annotations_of(format, path, (self.start, self.end), seconds, label)

    def __repr__(self):
        counts = [(getattr(self, name), name, several) for name, several in self._counted.items()]
        counts = [(len({*values.tolist()}), name, several) for values, name, several in counts if values is not None]
        parts = [f"{n} {several}" for n, _, several in counts if n > 1]
        values = getattr(self, self._measure)
        if len(self):
            parts.append(f"{self._measure} {values.min():.4g} to {values.max():.4g}")
        return f"<{type(self).__name__}: {', '.join([str(len(self)), *parts])}>"

    def _repr_html_(self):
        zone = None if self.times is None else getattr(self.start_time, "tz", None)
        head = repr(self)[1:-1] + (f", times in {zone}" if zone is not None else "")
        return f"<p>{escape(head)}</p>{self.to_frame().to_html(max_rows=ROWS)}"


RATES = "qvalue", "pvalue", "false_per_hour"  # columns that a false discovery rate adds


@dataclass(frozen=True, eq=False, repr=False)
class Matches(Ranges, RangeTable):
    """Occurrences of a query, best first.

    Index them like an array: a number gives a `Match`, as does iteration; a slice, a mask or a list of numbers gives
    `Matches`, in that order. A pickle holds only the samples of the sequence on which the matches depend.

    Attributes
    ----------
    start, end : ndarray of shape (n_matches,)
        Half-open ranges in samples of the sequence.
    distance : ndarray of shape (n_matches,)
        Distances, ascending unless the matches were selected in another order.
    query, sequence : ndarray of int of shape (n_matches,) or None
        The number of the query, and of the sequence, from 0; None if there is only one.
    times : ndarray of shape (n_timepoints,), SparseTimes or None
        The sequence's times, as given; for several sequences a list, with None for one without. For a stream, and after
        unpickling, only those of the starts and ends: ``times.times`` of the samples ``times.samples``.
    label : ndarray of shape (n_matches,) or None
        The class, if the queries were learned from labels, or the name of the given query.
    channels : list of str or None
        Names of the channels: the columns of a sequence that was a table.
    scale, offset : ndarray of shape (n_matches,) or (n_matches, channels), or None
        In a search with normalization or limits: the standard deviation of each match over that of the query, and its
        mean minus that of the query, as bounded by `Normalization`. The query times the scale about its mean, plus the
        offset, fits the match. The scale is NaN if the query is constant. For motifs and discords relative to the
        nearest window; with a `ChannelPlan` for each channel's window at its lag, and NaN for channels left out.
        Computed on access.
    polarity : ndarray of int of shape (n_matches,) or (n_matches, channels), or None
        The sign (1 or -1) of the query that fits each match, or of each of its channels; None with ``polarity="same"``.
    qvalue : ndarray of shape (n_matches,) or None
        With a `FalseDiscoveryRate`: the lowest rate at which the match is kept.
    pvalue : ndarray of shape (n_matches,) or None
        With a `FalseDiscoveryRate`: the share of the matches of decoys that are at least as near, with one added to
        both counts.
    false_per_hour : ndarray of shape (n_matches,) or None
        With a `FalseDiscoveryRate`: how many matches of one decoy are at least as near, per hour of recording. Numeric
        times count as seconds, and so do samples without times.
    votes : ndarray of bool of shape (n_matches, channels) or None
        With a `ChannelPlan`: whether the distance of each channel is in the sum.
    channel_distance : ndarray of shape (n_matches, channels) or None
        With a `ChannelPlan`: the unweighted distance of each channel; NaN if the query has no points in it.
    lag : ndarray of int of shape (n_matches, channels) or None
        With a `tolerance` of `ChannelPlan`: the number of samples from the start of the match to that of each channel's
        query.
    threshold : ndarray of shape (n_queries,) or None
        The threshold of each query, NaN without one; see `uncertain`.

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

    distance: np.ndarray
    query: np.ndarray | None = None
    sequence: np.ndarray | None = None
    label: np.ndarray | None = None
    votes: np.ndarray | None = None
    channel_distance: np.ndarray | None = None
    lag: np.ndarray | None = None
    _by_channel = "votes", "channel_distance", "lag"
    _each = ("query", "sequence", "start", "end", "distance", "label", "polarity", *RATES, *_by_channel)
    _columns = (*_each[:5], "scale", "offset", *_each[5:])
    _measure, _counted = "distance", {"query": "queries", "sequence": "sequences"}

    @property
    def scale(self) -> NDArray[np.float64] | None:
        return self._beside[0]

    @property
    def offset(self) -> NDArray[np.float64] | None:
        return self._beside[1]

    @cached_property
    def _beside(self):
        """Scale and offset, each of shape (n_matches,) or (n_matches, channels), or None for both."""
        found = None if self._source is None else self._source.beside(self.start, self.end)
        return (None, None) if found is None else found[:, :, 0] if found.shape[2] == 1 else found

    def path(self, k: int, channel: int | str | None = None) -> NDArray[np.intp]:
        """Return the alignment of the k-th match with its query, computed on access.

        Parameters
        ----------
        k : int
            Position of the match, from 0.
        channel : int or str, optional
            Number or name of a channel. With a `ChannelPlan` or `Mixed` each channel has its own path; otherwise all
            channels share one.

        Returns
        -------
        ndarray of int of shape (2, K)
            Query indices and sequence indices. For a channel of a `ChannelPlan` they are rows of ``searcher.query_``
            and samples of its window, at its lag and with its sign, or empty, shape (2, 0), if it is infinitely far.
            With a `ChannelPlan` and without `channel` they pair the samples of the match with their numbers in it.

        Raises
        ------
        ValueError
            If the metric has no warping path, or if the channel does not exist or is not compared.

        Examples
        --------
        >>> from sktslib import QuerySearcher
        >>> from sktslib.search import ChannelPlan
        >>> query = [[0, 0], [2, 3], [0, 0], [0, 0]]
        >>> sequence = [[9, 9], [0, 9], [2, 0], [0, 0], [0, 3], [9, 0]]
        >>> matches = QuerySearcher("dtw", channels=ChannelPlan(lag=[0, 1])).fit(query).search(sequence)
        >>> matches.path(0, channel=1)
        array([[0, 0, 1, 2, 3],
               [2, 3, 4, 5, 5]])
        """
        search, start, end = self._found(k)
        return search.path(start, end) if channel is None else search.channel_path(start, end, self._channel(channel))

    def _channel(self, channel):
        """Return the index of a channel that is given by index or name."""
        names, count = self.channels or [], len(self._source.readers[0].plan.x)
        if isinstance(channel, str) and channel in names:
            return names.index(channel)
        if isinstance(channel, Integral) and not isinstance(channel, bool) and 0 <= channel < count:
            return int(channel)
        raise unknown_name("channel", channel, [*names, *range(count)], type(self).__name__)

    def explain(self, k: int) -> Explanation:
        """Return the costs of the k-th match per query point and channel, and its advance and delay.

        Parameters
        ----------
        k : int
            Position of the match, from 0.

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

    def without_overlaps(self, distance: ArrayLike | None = None, *, max_overlap: float = 0.0) -> Self:
        """Return the matches less those that overlap a nearer one, as matches of several queries may.

        Parameters
        ----------
        distance : array-like of shape (n_matches,), optional
            Values to compare matches by, such as ``matches.distance / matches.threshold[matches.query]`` of several
            queries with thresholds. Default: the distance of each.
        max_overlap : float in [0, 1], default=0.0
            Largest share of the shorter of two matches that they may have in common.

        Returns
        -------
        Matches
            In their present order.

        Examples
        --------
        >>> from sktslib import QuerySearcher
        >>> matches = QuerySearcher("euclidean").fit({"a": [0, 2, 0], "b": [2, 0, 0]}).search([5, 0, 2, 0, 1, 5])
        >>> matches.start.tolist(), matches.without_overlaps().label.tolist()
        ([1, 2], ['a'])
        """
        distance = np.asarray(self.distance if distance is None else distance, float)
        if distance.shape != self.start.shape or np.isnan(distance).any():
            rule, got = f"hold one number for each of the {len(self)} matches, not NaN", shown(distance)
            raise refused("The 'distance' parameter of without_overlaps", rule, got)
        max_overlap = check_number(max_overlap, "max_overlap", low=0, high=1, owner="without_overlaps")
        apart = 0 if self.sequence is None else self.sequence * self.end.max(initial=0)
        return self[np.sort(select(distance, self.start + apart, self.end + apart, max_overlap=max_overlap))]

    def uncertain(self, k: int = 5, known: Any = None) -> NDArray[np.intp]:
        """Return the numbers of the matches to ask about next: those nearest to the border of the occurrences.

        Parameters
        ----------
        k : int, default=5
            Number of matches; fewer if there are not as many.
        known : Matches or list of Matches, optional
            Earlier questions. Matches that share half of the shorter range with one of them are left out.

        Returns
        -------
        ndarray of shape (k,)
            The numbers, most uncertain first. See Notes.

        Notes
        -----
        The border is the `threshold` of the matches' query or, without one, the middle of the largest gap between the
        distances of its matches. Matches of ``searcher.search_all(X)`` are on both sides of it, those of
        ``searcher.search(X)`` only below. The nearest on either side, of each query in each sequence, come first, then
        the second nearest, and so on; in each round those whose distance differs from the border by the smallest share
        of it, then the first.

        Examples
        --------
        >>> from sktslib import QuerySearcher
        >>> matches = QuerySearcher("euclidean").fit([0, 1]).search_all([0, 1, 0, 2, 5, 1, 9, 0])
        >>> matches.distance.round(1).tolist(), matches.uncertain(2).tolist()
        ([0.0, 1.0, 5.0, 9.1], [1, 2])
        """
        k = check_count(k, "k")
        open_ = np.flatnonzero(~_are_known(self, known))
        query, sequence = (np.zeros(len(self), int) if a is None else a for a in (self.query, self.sequence))
        rank, far = np.zeros(len(self), int), np.zeros(len(self))
        for q in np.unique(query):
            own = query == q
            limit = np.nan if self.threshold is None else self.threshold[q]
            border = border_between(self.distance[own]) if np.isnan(limit) else limit
            far[own] = np.abs(self.distance[own] - border) / (border or 1.0)
            for s in np.unique(sequence[own]):
                for above in (False, True):
                    group = open_[(own & (sequence == s) & ((self.distance > border) == above))[open_]]
                    rank[group[np.lexsort((group, far[group]))]] = np.arange(len(group))
        return open_[np.lexsort((open_, far[open_], rank[open_]))][:k]

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
        from ..utils.visualisation import SearchDisplay

        own = self if self.sequence is None else self._alone()
        return SearchDisplay.from_predictions(own, own._to_draw(sequence), times=ts, ax=ax, **style)

    def _alone(self):
        """Return matches that are all in one of several sequences as matches in this sequence."""
        found = distinct(self.sequence.tolist())
        if len(found) != 1:
            raise ValueError(
                "Matches in several sequences cannot be drawn in one picture. Got matches in "
                f"{len(found) or 'none'} of them. Select those in one, matches[matches.sequence == 0]."
            )
        times = None if self.times is None else self.times[found[0]]
        return replace(self, sequence=None, times=times, _source=self._source.alone(found[0]))


HALF = 0.5  # share of the shorter range by which two ranges of one event overlap


def border_between(distance):
    """Return the midpoint between two groups of distances, split where the variance within them is least."""
    values = np.sort(distance[np.isfinite(distance)])
    if len(values) < 2:
        return float(values[0]) if len(values) else 0.0
    count, total = np.arange(1, len(values)), np.cumsum(values)
    rest = len(values) - count
    apart = (total[-1] - total[:-1]) / rest - total[:-1] / count
    at = int(np.argmax(count * rest * apart**2))
    return float(values[at] + (values[at + 1] - values[at]) / 2)


def _are_known(matches, known):
    """Return which matches overlap an answered match in their sequence by at least half of the shorter range."""
    out = np.zeros(len(matches), bool)
    for one in [] if known is None else known if isinstance(known, list | tuple) else [known]:
        if not isinstance(one, type(matches)):
            rule, got = "be None, Matches that were answered, or a list of these", shown(one)
            raise refused("known", rule, got, "Select them by their numbers, matches[numbers].", error=TypeError)
        if (one.sequence is None) != (matches.sequence is None):
            rule, got = "hold matches in the same sequences", "matches of a list of sequences on one side only"
            raise refused("known", rule, got, "Search for both in the same way.")
        for number in range(len(one)):
            start, end = one.start[number], one.end[number]
            common = np.minimum(matches.end, end) - np.maximum(matches.start, start)
            same = common >= HALF * np.minimum(matches.end - matches.start, end - start)
            if one.query is not None and matches.query is not None:
                same &= matches.query == one.query[number]
            out |= same if one.sequence is None else same & (matches.sequence == one.sequence[number])
    return out


class Found(NamedTuple):
    """The matches of one query in one sequence; `reader` is None while they are sent between processes."""

    start: np.ndarray
    end: np.ndarray
    distance: np.ndarray
    reader: CandidateReader | None
    version: np.ndarray  # version of the query


def within(found, threshold):
    """Return the matches whose distance is at most the threshold."""
    near = found.distance <= threshold
    return Found(found.start[near], found.end[near], found.distance[near], found.reader, found.version[near])


def chosen(reader, profile, choice):
    """Return the matches chosen from a profile."""
    start, end, _, distance, version = choose(reader, profile._candidates, choice)
    return Found(*reader.centered(start, end, version), distance, reader, version)


def matched(search, choice, source=None, jobs=1):
    """Return the matches chosen in a search of a sequence in memory; `source` avoids making another source of it."""
    source = ArraySource(search.y, search.ty) if source is None else source
    return chosen(CandidateReader(search.plan, source), search.profile(choice._replace(jobs=jobs)), choice)


def matches_of(
    found,
    n_queries,
    n_matches,
    times,
    classes=None,
    channels=None,
    thresholds=None,
    *,
    calibrations=None,
    listed=False,
    by_time=False,
    name=None,
):
    """Return the matches table; `found` has the matches of all queries in the first sequence, then in the next.

    Parameters
    ----------
    found : list of Found
    n_matches : int or None
        Largest number of matches of each query.
    times : array, SparseTimes, list of arrays or None
        Times of the sequence; for several sequences a list.
    classes : ndarray of shape (n_queries,), optional
        Names of the queries.
    channels : list of str, optional
        Their names.
    thresholds : ndarray of shape (n_queries,), optional
        The threshold of each query; NaN without one.
    calibrations : list of Calibration, optional
        One for each entry of `found`, or one for each query.
    listed : bool
        Whether the sequences came as a list.
    by_time : bool
        Whether the matches are in order of time, not the best first.
    name : str, optional
        The name of the times.
    """
    if len(found) == 1:
        start, end, distance, _, version = found[0]
        which = sequence = query = np.zeros(len(start), np.int64)
    else:
        which = np.repeat(np.arange(len(found)), [len(one.start) for one in found])
        start, end, distance, version = (np.concatenate([one[k] for one in found]) for k in (0, 1, 2, 4))
        sequence, query = np.divmod(which, n_queries)
    if by_time:
        order = np.lexsort((query, end, start))
    elif n_queries == 1 and not listed:
        order = np.argsort(distance, kind="stable")
    else:
        order = np.lexsort((start, sequence, query, distance))
    if n_matches is not None:  # per query
        first = [np.flatnonzero(query[order] == q)[:n_matches] for q in range(n_queries)]
        order = order[np.sort(np.concatenate(first))] if n_queries > 1 else order[first[0]]
    sequences = [k // n_queries for k in range(len(found))]
    sources = MatchOrigins([one.reader for one in found], which[order], sequences, version[order], classes)
    plan, by_channel, rates = found[0].reader.plan, {}, [None] * 3
    by, signs = plan.by_channel, None if plan.signs is None else sources.signs
    if by is not None:
        shares = sources.shares(start[order], end[order])
        by_channel = {"votes": shares.votes, "channel_distance": shares.distance}
        by_channel["lag"] = shares.lag if by.tolerance else None
        signs = shares.sign if by.mirrored else signs
    if calibrations is not None:
        calibrations = calibrations * (len(found) // len(calibrations))
        known = [one.rates(some.distance) for one, some in zip(calibrations, found, strict=True)]
        rates = np.concatenate(known, axis=1)[:, order]
    ranges = start[order], end[order], distance[order]
    numbers = query[order] if n_queries > 1 else None, sequence[order] if listed else None
    label = None if classes is None else classes[query[order]]
    rest = {"times": times, "channels": channels, "polarity": signs, "threshold": thresholds, "_source": sources}
    rest |= by_channel | dict(zip(RATES, rates, strict=True))
    return Matches(*ranges, *numbers, label, **rest, _time_name=name)

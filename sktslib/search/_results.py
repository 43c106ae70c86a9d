"""What searches return."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..utils._positions import distinct
from ..utils.validation import unknown_name
from ._buffer import kept_times, times_in
from ._range_table import RangeTable
from ._selection import Ranges

if TYPE_CHECKING:
    from typing import Any

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from ..utils._plot.plot_search import SearchDisplay
    from ..utils._types import Sequences
    from ._explain import Explanation

RATES = "qvalue", "pvalue", "false_per_hour"  # columns of what has a false discovery rate


@dataclass(frozen=True, eq=False, repr=False)
class Matches(Ranges, RangeTable):
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
    scale, offset : ndarray of shape (n_matches,) or (n_matches, channels), or None
        In a search with normalization or limits: the standard deviation of each match over that of the query, and its
        mean less that of the query, as `scale_limits` and `offset_limit` bound them. The query that is multiplied by
        the scale about its mean and shifted by the offset lies on the match. The scale is NaN where the query is
        constant. Of motifs and discords beside the nearest window; compared by channel of each channel's window at its
        lag, and NaN of those that do not take part. Computed when asked for.
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
    votes : ndarray of bool of shape (n_matches, channels) or None
        Compared by channel (see `QuerySearcher`): whether the distance of each channel is in the sum.
    channel_distance : ndarray of shape (n_matches, channels) or None
        There, too: the distance of each channel, not weighted; NaN where the query has no points.
    lag : ndarray of int of shape (n_matches, channels) or None
        With a `lag_tolerance`: how many samples behind the start the query of each channel begins.
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
    votes: np.ndarray | None = None
    channel_distance: np.ndarray | None = None
    lag: np.ndarray | None = None
    _time_name: str | None = None  # of the axis of pictures
    _by_channel = "votes", "channel_distance", "lag"
    _each = ("query", "sequence", "start", "end", "distance", "label", "polarity", *RATES, *_by_channel)
    _columns = (*_each[:5], "scale", "offset", *_each[5:])
    _measure, _counted = "distance", {"query": "queries", "sequence": "sequences"}

    @property
    def scale(self) -> NDArray[np.float64] | None:
        return self._beside(0)

    @property
    def offset(self) -> NDArray[np.float64] | None:
        return self._beside(1)

    def _beside(self, k):
        found = None if self._source is None else self._moments
        return found if found is None else found[k, :, 0] if found.shape[2] == 1 else found[k]

    @cached_property
    def _moments(self):
        """Scale and offset (2, n_matches, channels)."""
        return self._source.beside(self.start, self.end)

    def path(self, k: int, channel: int | str | None = None) -> NDArray[np.intp]:
        """Alignment of the k-th match with its query; computed when asked for.

        Parameters
        ----------
        k : int
            The match's place in the list, from 0.
        channel : int or str, optional
            Number or name of a channel, whose path is given: where channels are compared by themselves, or by
            `Mixed`, each has one of its own. Elsewhere all channels share one.

        Returns
        -------
        ndarray of int of shape (2, K)
            Query indices and sequence indices. Of a channel that is compared by itself these are rows of
            ``searcher.query_`` and samples of its window, at its lag and with its sign; none, shape (2, 0), where it
            is infinitely far. Compared by channel, without `channel`: the samples of the match, one by one, and their
            numbers in it.

        Raises
        ------
        ValueError
            If the metric has no warping path, or there is no such channel, or it is not compared.

        Examples
        --------
        >>> from sktslib import QuerySearcher
        >>> query = [[0, 0], [2, 3], [0, 0], [0, 0]]
        >>> sequence = [[9, 9], [0, 9], [2, 0], [0, 0], [0, 3], [9, 0]]
        >>> matches = QuerySearcher("dtw", channel_lag=[0, 1]).fit(query).search(sequence)
        >>> matches.path(0, channel=1)
        array([[0, 0, 1, 2, 3],
               [2, 3, 4, 5, 5]])
        """
        search, start, end = self._found(k)
        return search.path(start, end) if channel is None else search.channel_path(start, end, self._channel(channel))

    def _channel(self, channel):
        """The number of a channel, which has it or a name."""
        names, count = self.channels or [], len(self._source.readers[0].how.x)
        if isinstance(channel, str) and channel in names:
            return names.index(channel)
        if isinstance(channel, Integral) and not isinstance(channel, bool) and 0 <= channel < count:
            return int(channel)
        raise unknown_name("channel", channel, [*names, *range(count)], type(self).__name__)

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
        from ..utils.visualisation import SearchDisplay

        own = self if self.sequence is None else self._alone()
        return SearchDisplay.from_predictions(own, own._to_draw(sequence), times=ts, ax=ax, **style)

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

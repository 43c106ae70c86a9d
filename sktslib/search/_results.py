"""What searches and segmentations return."""

from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import NamedTuple

import numpy as np

from ..utils.validation import shown
from ._buffer import joined, kept_times, times_at


class _From:
    """The integers from `first` on, as an array is indexed; none of them is stored."""

    def __init__(self, first):
        self.first = first

    def __getitem__(self, index):
        return np.add(index, self.first)


class Candidates(NamedTuple):
    """Distances and ranges of candidates in samples of the whole sequence; infinite distances are none."""

    distance: np.ndarray
    start: np.ndarray | _From
    end: np.ndarray | _From
    slack: float = 0.0  # relative error of the distances


class Match(NamedTuple):
    """One occurrence: the half-open range ``[start, end)`` in samples and its distance."""

    start: int
    end: int
    distance: float


class _Ranges:
    """What has a distance for each of several ranges."""

    def __iter__(self):
        for s, e, d in zip(self.start, self.end, self.distance, strict=True):
            yield Match(int(s), int(e), float(d))


@dataclass(frozen=True, eq=False)
class Profile(_Ranges):
    """The distance of every candidate of a search.

    Attributes
    ----------
    distance : ndarray of shape (n_candidates,)
        Windows: one per start. Subsequences: one per end. Infinite where there is no candidate. Distances found by
        Fourier transforms are exact to 1e-12 of the sum of squares; those of matches are exact.
    start, end : ndarray of shape (n_candidates,)
        Half-open ranges in samples; start is -1 where there is no candidate.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> profile = QuerySearcher("euclidean").fit([0, 1]).profile([0, 1, 1])
    >>> list(profile)
    [Match(start=0, end=2, distance=0.0), Match(start=1, end=3, distance=1.0)]
    """

    distance: np.ndarray
    _start: np.ndarray | None = field(default=None, repr=False)  # None: windows, one at each sample
    _length: int | np.ndarray | None = field(default=None, repr=False)  # of windows
    _slack: float = field(default=0.0, repr=False)  # relative error of the distances

    # Made when asked for: a profile of a long recording is large enough without them.
    @property
    def start(self):
        return np.arange(len(self)) if self._start is None else self._start

    @property
    def end(self):
        return np.arange(1, len(self) + 1) if self._length is None else self.start + self._length

    @property
    def _candidates(self):
        """As a selection reads them; where starts and ends follow from the numbers, no arrays."""
        if self._length is None:
            return Candidates(self.distance, self._start, _From(1), self._slack)
        if self._start is not None or np.ndim(self._length):
            return Candidates(self.distance, self.start, self.end, self._slack)
        return Candidates(self.distance, _From(0), _From(self._length), self._slack)

    def __len__(self):
        return len(self.distance)

    def to_frame(self):
        """Return a pandas DataFrame, one row per candidate."""
        import pandas as pd

        return pd.DataFrame({"start": self.start, "end": self.end, "distance": self.distance})


class _Table:
    """Named arrays of one length with times, as a table."""

    _entry, _entries = "match", "matches"

    def __len__(self):
        return len(self.start)

    @property
    def start_time(self):
        """Times of the starts, or None where the sequence has no times."""
        return self._times_at(self.start)

    @property
    def end_time(self):
        """Times of the (exclusive) ends, or None where the sequence has no times."""
        return self._times_at(self.end)

    def _times_at(self, index):
        return times_at(self.times, index)

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
        return kept_times(self.times, np.concatenate([self.start, self.end]))

    def _to_draw(self, sequence):
        """The whole sequence, for a picture."""
        if sequence is None:
            sequence = None if self._source is None else self._source.sequence
            if sequence is None:
                name = self._entries
                raise ValueError(
                    f"The {name} of a stream cannot be drawn without the sequence, nor can {name} that were pickled: "
                    "they hold the samples on which they lie, and no others. Pass yours: plot(sequence=...)."
                )
        return sequence

    def _place(self, k):
        """The number of an entry, checked; negative ones count from the end."""
        n = len(self)
        if not isinstance(k, Integral) or isinstance(k, bool):
            raise TypeError(f"'k' must be an integer, the number of a {self._entry} from 0. Got {shown(k)}.")
        if not -n <= k < n:
            rule = (
                f"from 0 to {n - 1} (or from -1 to {-n}, counted from the end)"
                if n
                else f"and there are no {self._entries}"
            )
            raise IndexError(
                f"'k' must be the number of a {self._entry}, {rule}. Got {shown(k)}; len() says how many there are."
            )
        return int(k) % n

    def _found(self, k):
        """The k-th entry's query and samples, its start and its end."""
        k = self._place(k)
        start, end = int(self.start[k]), int(self.end[k])
        return self._source.search(k, start, end), start, end

    def to_frame(self):
        """Return a pandas DataFrame, one row per range, with times where the sequence has them."""
        import pandas as pd

        columns = {name: getattr(self, name) for name in self._columns if getattr(self, name) is not None}
        if self.times is not None:
            columns |= {"start_time": self.start_time, "end_time": self.end_time}
        return pd.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class Matches(_Ranges, _Table):
    """Occurrences of a query, best first.

    A pickle holds the samples of the sequence that the matches depend on, and no others.

    Attributes
    ----------
    start, end : ndarray of shape (n_matches,)
        Half-open ranges in samples of the sequence.
    distance : ndarray of shape (n_matches,)
        Their distances, ascending.
    query, sequence : ndarray of int of shape (n_matches,) or None
        Which of several queries, and in which of several sequences, from 0; None where there is one.
    times : ndarray of shape (n_timepoints,), SparseTimes or None
        The sequence's times, as they were given; of several sequences a list. Of a stream, and where the matches were
        pickled, those of the starts and ends alone: ``times.times`` of the samples ``times.samples``.
    label : ndarray of shape (n_matches,) or None
        The class that is matched, where the queries were learned from labels.
    channels : list of str or None
        Names of the channels, the columns of the sequence where it was a table or a column of one.

    Examples
    --------
    >>> from sktslib import QuerySearcher
    >>> matches = QuerySearcher("euclidean", n_matches=2).fit([0, 1, 0]).search([0, 0, 1, 0, 0, 2, 0])
    >>> list(matches)
    [Match(start=1, end=4, distance=0.0), Match(start=4, end=7, distance=1.0)]
    >>> matches.path(0)
    array([[0, 1, 2],
           [1, 2, 3]])
    """

    start: np.ndarray
    end: np.ndarray
    distance: np.ndarray
    query: np.ndarray | None = None
    sequence: np.ndarray | None = None
    times: np.ndarray | None = field(default=None, repr=False)
    _source: object = field(default=None, repr=False)
    label: np.ndarray | None = None
    channels: list[str] | None = field(default=None, repr=False)
    _columns = ("query", "sequence", "start", "end", "distance", "label")

    def path(self, k):
        """Alignment of the k-th match: query indices and sequence indices, an array (2, K); computed when asked for."""
        search, start, end = self._found(k)
        return search.path(start, end)

    def explain(self, k):
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

    def _times_kept(self):
        if self.sequence is None or self.times is None:
            return super()._times_kept()
        edges, own = np.concatenate([self.start, self.end]), np.tile(self.sequence, 2)
        return [kept_times(times, edges[own == k]) for k, times in enumerate(self.times)]

    def _times_at(self, index):
        if self.sequence is None or self.times is None:
            return super()._times_at(index)
        each = [times_at(times, index[self.sequence == k]) for k, times in enumerate(self.times)]
        return joined(*each)[np.argsort(np.argsort(self.sequence, kind="stable"), kind="stable")]

    def plot(self, ax=None, *, sequence=None, ts=None, **style):
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

        if self.sequence is not None:
            raise ValueError("Matches in several sequences cannot be drawn in one picture. Search each on its own.")
        return plot_search_distance_result(self, self._to_draw(sequence), ts, ax=ax, **style)

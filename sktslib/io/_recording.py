"""Recordings: samples with everything else that is known about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..utils._conversion import converted, is_stored, n_samples, opened, stored
from ..utils._times import Sampling, given_times
from ..utils.validation import check_count, check_names, check_one_time_per_point, refused, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

AT_ONCE = 2**18  # samples read at a time if only every k-th is wanted


class Marks(NamedTuple):
    """Ranges of a recording with labels: a table of three columns.

    Attributes
    ----------
    start, end : ndarray of int of shape (n_marks,)
        Half-open ranges ``[start, end)`` in samples; an instant has one sample.
    label : ndarray of str of shape (n_marks,)
        Label of each range.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    label: NDArray[np.str_]

    @classmethod
    def of(cls, marks: Any) -> Marks:
        """Return marks given as three columns, as a `Marks`, or as a list of ``(start, end, label)``."""
        if not isinstance(marks, cls):
            if wrong := [row for row in marks if len(row) != 3]:
                raise ValueError(f"'marks' must be a list of (start, end, label), ranges in samples. Got {wrong[0]}.")
            marks = zip(*marks, strict=True) if len(marks) else ((), (), ())
        start, end, label = marks
        made = cls(np.array(start, np.int64), np.array(end, np.int64), np.array(label, np.str_))
        for k in np.flatnonzero(made.end <= made.start)[:1]:
            wrong = f"[{made.start[k]}, {made.end[k]}) of {str(made.label[k])!r}"
            raise ValueError(f"'marks' must be half-open ranges of one sample at least. Got {wrong}, mark {k}.")
        return made

    @classmethod
    def of_times(cls, onset: ArrayLike, duration: ArrayLike, label: ArrayLike, rate: float) -> Marks:
        """Return marks from onsets and durations in seconds after the first sample; an instant has one sample."""
        onset = np.asarray(onset, float)
        start = np.rint(onset * rate).astype(np.int64)
        end = np.rint((onset + np.nan_to_num(np.asarray(duration, float))) * rate).astype(np.int64)
        return cls(start, np.maximum(end, start + 1), np.array(label, np.str_))

    def __len__(self) -> int:
        return len(self.start)

    def to_frame(self) -> Any:
        """Return the marks as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self._asdict())


class Stored:
    """Samples that are read only when they are sliced.

    Attributes
    ----------
    shape : tuple
        ``(n,)`` or ``(n, channels)``.
    read : callable
        ``read(start, end)`` returns these samples as an array. It is also sent to other processes, so it holds a path
        instead of an open file.
    """

    def __init__(self, shape: tuple[int, ...], read: Callable[[int, int], Any], chunks: Any = None) -> None:
        self.shape, self.read, self.chunks = tuple(shape), read, chunks

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self[:], dtype)

    def __getitem__(self, part: Any) -> Any:
        if not isinstance(part, slice):
            k = range(len(self))[part]
            return np.asarray(self.read(k, k + 1))[0]
        start, stop, step = part.indices(len(self))
        if step == 1:
            return self.read(start, max(start, stop))
        if step < 0:
            return np.asarray(self)[part]
        firsts = range(start, stop, AT_ONCE) or [start]
        pieces = [self.read(k, max(min(k + AT_ONCE, stop), k)) for k in firsts]
        return np.concatenate([piece[(start - k) % step :: step] for k, piece in zip(firsts, pieces, strict=True)])


class NamedChannels(Stored):
    """Stored samples with the names of their channels: slices are tables."""

    def __init__(self, values: Any, names: Sequence[str] | None) -> None:
        shape = values.shape
        super().__init__((shape[0], shape[1] if len(shape) > 1 else 1), self._part, getattr(values, "chunks", None))
        self.values, self.channel_names = values, names

    def __getstate__(self):
        return {**vars(self), "values": stored(self.values)}  # another process opens the file itself

    def _part(self, start: int, end: int) -> Any:
        self.values = opened(self.values)
        return as_table(np.asarray(self.values[start:end]), self.channel_names)

    def select(self, names: Sequence[str], called: Sequence[str] | None = None) -> NamedChannels:
        """Return the channels with these names, renamed to `called` if given."""
        columns = [self.channel_names.index(name) for name in names]
        values = changed(self.values, partial(_columns, columns=columns), len(columns))
        return NamedChannels(values, called or names)

    def changed(self, change: Callable[[Any], Any]) -> NamedChannels:
        """Return the channels as a function changes their arrays when they are read."""
        return NamedChannels(changed(self.values, change), self.channel_names)


def as_table(values: NDArray[Any], names: Sequence[str] | None) -> Any:
    """Return an array as a table of named channels without a copy; without names as (n, channels)."""
    values = values.reshape(len(values), -1)
    if names is None:
        return values
    import pandas as pd

    return pd.DataFrame(values, columns=list(names), copy=False)


def channel_names(recording: Recording) -> list[str]:
    """Return the names of the channels, or their numbers from 1."""
    return recording.names or [str(k + 1) for k in range((*recording.shape, 1)[1])]


def shape_of(values: Any) -> tuple[int, ...]:
    """Return the shape of samples; an object that only has a length is one channel."""
    return tuple(values.shape) if hasattr(values, "shape") else (len(values),)


@dataclass(frozen=True)
class Pieces:
    """Times of a recording with interruptions, for `EvenTimes`: the first sample of each piece and its time.

    Attributes
    ----------
    rate : float
        Samples per second within a piece.
    first : ndarray of int of shape (n_pieces,)
        First sample of each piece, from 0.
    seconds : ndarray of shape (n_pieces,)
        Its time after `start`.
    start : number or numpy.datetime64
    """

    rate: float
    first: NDArray[np.int64]
    seconds: NDArray[np.float64]
    start: Any

    @property
    def gaps(self) -> list[tuple[int, float]]:
        """The first sample after each interruption, and its length in seconds."""
        ends = self.seconds[:-1] + (np.diff(self.first) - 1) / self.rate
        return list(zip(self.first[1:].tolist(), (self.seconds[1:] - ends).tolist(), strict=True))

    def at(self, samples: ArrayLike) -> Any:
        """Return the times of samples, given by their indices."""
        samples = np.atleast_1d(samples)
        piece = np.searchsorted(self.first, samples, "right") - 1
        seconds = self.seconds[piece] + (samples - self.first[piece]) / self.rate
        if isinstance(self.start, np.datetime64):
            return self.start + np.rint(seconds * 1e9).astype("timedelta64[ns]")
        return self.start + seconds


@dataclass(frozen=True, eq=False)
class Recording:
    """A recording with its times, names, units and marks.

    The estimators' methods take it wherever they take a sequence or a query, without `times`. Results have its times
    and the names of its channels.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, channels)
        The samples. Objects that can be sliced and are not in memory (numpy.memmap, zarr, h5py) are not loaded.
    times : array-like of shape (n,) or Sampling, optional
        Strictly increasing sample times, or ``Sampling(rate, start)``. None: samples are counted.
    names : list of str, optional
        Names of the channels.
    units : list of str, optional
        Units of the channels.
    marks : list of (start, end, label), optional
        Annotations: half-open ranges in samples, with their names. They do not count as labels unless `labels` is
        called.

    Raises
    ------
    ValueError
        If times, names, units or marks do not fit the values.

    See Also
    --------
    read : Read a recording from a file.

    Examples
    --------
    >>> from sktslib import QuerySearcher, Sampling
    >>> from sktslib.io import Recording
    >>> recording = Recording([5, 5, 0, 2, 0, 5], Sampling(rate=100), ["lead II"], ["mV"], marks=[(2, 5, "beat")])
    >>> recording
    Recording of 6 samples, 1 channel: lead II (mV); 100 per second; 1 mark
    >>> recording.labels()
    array(['', '', 'beat', 'beat', 'beat', ''], dtype='<U4')
    >>> matches = QuerySearcher("dtw").fit(recording[2:5]).search(recording)
    >>> matches.start_time
    array([0.02])
    """

    values: Any
    times: Any = None
    names: Sequence[str] | None = None
    units: Sequence[str] | None = None
    marks: Any = None

    def __post_init__(self) -> None:
        values = self.values
        if not is_stored(values) and not (isinstance(values, np.ndarray) and values.dtype.kind in "biuf"):
            values = converted(values, "values")
        shape = shape_of(values)
        if len(shape) not in (1, 2):
            raise ValueError(f"'values' must have shape (n,) or (n, channels). Got shape {shape}. Select one series.")
        object.__setattr__(self, "values", values)
        channels = shape[1] if len(shape) == 2 else 1
        for name in ("names", "units"):
            if (given := getattr(self, name)) is not None:
                given = [str("" if one is None else one) for one in ([given] if isinstance(given, str) else given)]
                object.__setattr__(self, name, given)
                if len(given) != channels:
                    raise refused(f"{name!r}", f"have an entry for each of {channels} channels", shown(given))
        if self.times is not None and not isinstance(self.times, Sampling):
            times = self.times if is_stored(self.times) else given_times(self.times, "times")
            check_one_time_per_point((n_samples(times),), shape[0], "times")
            object.__setattr__(self, "times", times)
        object.__setattr__(self, "marks", Marks.of(() if self.marks is None else self.marks))

    @property
    def shape(self) -> tuple[int, ...]:
        """``(n,)`` or ``(n, channels)``."""
        return shape_of(self.values)

    @property
    def rate(self) -> float | None:
        """Samples per second (or unit of the times) where it is constant and known, else None."""
        return float(self.times.rate) if isinstance(self.times, Sampling) else None

    @property
    def _described_channels(self):
        """Names of the channels with their units, for pictures."""
        names = channel_names(self)
        pairs = zip(names, self.units or [""] * len(names), strict=True)
        return [f"{name} ({unit})" if unit else name for name, unit in pairs]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values[:], dtype)

    def __repr__(self) -> str:
        channels, marks = len(names := self._described_channels), len(self.marks)
        listed = f": {', '.join(names[:8])}{', ...' * (channels > 8)}" * bool(self.names)
        times = f"{self.rate:g} per second" if self.rate else "no times" if self.times is None else "own times"
        counts = f"{channels} channel{'s' * (channels != 1)}{listed}; {times}; {marks} mark{'s' * (marks != 1)}"
        return f"Recording of {len(self)} samples, {counts}"

    def __getitem__(self, part: slice) -> Recording:
        """Return a part of the recording, a slice of samples, with its own times and marks."""
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise TypeError(f"A recording is cut by a slice of samples, recording[1000:2000]. Got {shown(part)}.")
        start, end, _ = part.indices(len(self))
        times = self.times
        if times is not None:
            is_even = isinstance(times, Sampling)
            times = Sampling(times.rate, times.at([start])[0]) if is_even else times[start:end]
        inside = (self.marks.end > start) & (self.marks.start < end)
        first, last, label = (column[inside] for column in self.marks)
        marks = Marks(np.maximum(first, start) - start, np.minimum(last, end) - start, label)
        return replace(self, values=self.values[start:end], times=times, marks=marks)

    def select(self, names: str | Sequence[str]) -> Recording:
        """Return the recording with some of its channels, by their names, in the order given.

        Parameters
        ----------
        names : str or list of str
            The names of the channels; of channels without names their numbers, from "1" on.

        Returns
        -------
        Recording
        """
        names = [names] if isinstance(names, str) else list(names)
        check_names(names, known := channel_names(self), "channel")
        columns, units = [known.index(name) for name in names], self.units
        values = changed(self.values, partial(_columns, columns=columns), len(columns))
        return replace(self, values=values, names=names, units=None if units is None else [units[k] for k in columns])

    def labels(self, only: str | Sequence[str] | None = None, *, before: int = 0, after: int = 0) -> NDArray[np.str_]:
        """Return the marks as labels of the samples, which `fit` and `score` take as `y`.

        Parameters
        ----------
        only : str or list of str, optional
            Names of the marks to use. None: all.
        before, after : int, default=0
            Samples by which each mark starts earlier and ends later, since a mark at one instant has no length.

        Returns
        -------
        ndarray of str of shape (n,)
            An empty text for background.

        Raises
        ------
        ValueError
            If marks overlap, or no mark has that name.
        """
        from ..metrics import labels_from_events

        before, after = (check_count(v, k, low=0) for v, k in ((before, "before"), (after, "after")))
        start, end, label = self.marks
        names = sorted(set(label.tolist()))
        only = names if only is None else [only] if isinstance(only, str) else list(only)
        check_names(only, names, "mark", "'only'")
        kept = (end + after > 0) & (start - before < len(self)) & np.isin(label, only)
        events = np.column_stack([np.maximum(start[kept] - before, 0), end[kept] + after])
        return labels_from_events(events, label[kept], n_samples=len(self))


def _changed(values, change, start, end):
    return change(np.asarray(values[start:end]))


def changed(values: Any, change: Callable[[Any], Any], channels: int | None = None) -> Any:
    """Return samples as a function changes their arrays; stored samples are changed when they are read."""
    if not is_stored(values):
        return change(values)
    shape = (n_samples(values), *(shape_of(values)[1:] if channels is None else (channels,)))
    return Stored(shape, partial(_changed, values, change), getattr(values, "chunks", None))


def without(values: Any, codes: Any) -> Any:
    """Return an array with NaN in place of these numbers."""
    return np.where(np.isin(values, codes), np.nan, values) if np.size(codes) else values


def _columns(values, columns):
    return values.reshape(len(values), -1)[:, columns]

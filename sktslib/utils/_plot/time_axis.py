"""The horizontal axis of pictures: times of samples, their places on the axis, and the part that is shown."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import NamedTuple

import numpy as np

from .. import validation
from .._given_times import Sampling, given_times, index_times, time_name
from .._sampling import LONG, edges, end_times, holes

DAY = 86_400_000_000  # microseconds; matplotlib's axes count days
SOME = 10_000  # steps of the times that tell the usual one


class View(NamedTuple):
    """Samples that are shown, [first, end), one more on either side, and the limits of the axis; None: all."""

    first: int
    end: int
    limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Times:
    """Times of a series: numbers, or ``datetime64`` (UTC) when `dates` is set; `label` names the axis.

    Steps of more than `max_gap` (of dates, seconds) are holes, which no range spans.
    Places on the axis are computed for the samples that are asked for: those of ten million dates take a second.
    """

    values: np.ndarray
    label: str
    dates: bool = False
    zone: object = None
    max_gap: float | None = None

    def __len__(self):
        return len(self.values)

    @cached_property
    def holes(self):
        """Samples behind a hole in the times, two samples or more on either side, for one alone is no line."""
        if self.label == "sample" or len(self) < 2:
            return np.empty(0, np.int64)
        step = np.diff(self.values)
        usual = np.median(step[:: max(len(step) // SOME, 1)].astype(np.float64))
        ends = np.concatenate([[0], holes(self.values, (LONG * usual).astype(step.dtype)), [len(self)]])
        lonely = np.diff(ends) < 2
        return ends[1:-1][~(lonely[:-1] | lonely[1:])]

    def between(self, first=0, end=None):
        """Places of the samples [first, end)."""
        return self._positions(self.values[first:end])

    def at(self, index):
        """Places of samples; n, the end of the last one, lies one step behind it."""
        index, last = np.asarray(index, dtype=np.int64), len(self) - 1
        places = self._positions(self.values[np.minimum(index, last)]).astype(np.float64)
        two = self.between(max(last - 1, 0))
        return np.where(index > last, places + (two[-1] - two[0] if last else 1.0), places)

    def edges(self, start, end):
        """Places where ranges of samples start and end; before a hole they end one step behind their last sample."""
        if self.max_gap is None:
            return self.at(start), self.at(end)
        start, end, last, before = map(self.at, edges(start, end, self.max_gap))
        return start, end_times(end, last, before, self.max_gap / 86_400 if self.dates else self.max_gap)

    def find(self, places, side="left"):
        """Numbers of the first samples at places of the axis or behind them (`side` "right": behind them)."""
        places = np.clip(places, *self.at([0, len(self) - 1]))
        if not self.dates:
            return np.searchsorted(self.values, places, side)
        from matplotlib.dates import get_epoch

        exact = np.datetime64(get_epoch(), "us") + np.round(places * DAY).astype("timedelta64[us]")
        values = exact.astype(self.values.dtype)
        if side == "left":  # dates of days, say, are rounded up, so that those before the place stay out
            values = values + (values < exact).astype(np.int64)
        return np.searchsorted(self.values, values, side)

    def shown(self, low, high):
        """The view between two places."""
        first, end = self.find(np.array([low]))[0], self.find(np.array([high]), "right")[0]
        return View(max(int(first) - 1, 0), min(int(end) + 1, len(self)), (low, high))

    def view(self, time_range):
        """What a range of times or samples, None: all, shows."""
        if time_range is None:
            return View(0, len(self))
        rule = "The 'time_range' parameter must be None or two times (start, end), either of which may be None."
        if isinstance(time_range, str) or np.shape(time_range) != (2,):
            raise ValueError(f"{rule} Got {validation.shown(time_range)}.")
        ends = self.at([0, len(self) - 1])
        low, high = (ends[k] if t is None else self._place(t, first=k == 0) for k, t in enumerate(time_range))
        if not (low < high and low <= ends[1] and high >= ends[0]):
            first, last = (str(v) for v in self.values[[0, -1]])
            raise ValueError(
                f"{rule} The start must lie before the end, and the range must hold samples. Got "
                f"{validation.shown(time_range)}; the recording's {self.label} runs from {first} to {last}."
            )
        return self.shown(float(low), float(high))

    def _positions(self, values):
        if not self.dates:
            return values
        from matplotlib.dates import date2num

        return date2num(values)

    def _place(self, time, first):
        """The place of a time as people give it: a datetime without a zone is local; of two the first or the last."""
        if not self.dates:
            if not isinstance(time, Real) and self.label.endswith("(s)"):
                import pandas as pd

                return pd.Timedelta(time).total_seconds()
            return validation.check_number(time, "time_range")
        import pandas as pd

        try:
            stamp = pd.Timestamp(time)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"The 'time_range' parameter must hold datetimes, as the times do. Got {validation.shown(time)}: "
                f"{error}. Pass texts such as '2024-03-31 12:00', or datetimes."
            ) from error
        if self.zone is not None and stamp.tz is None:
            stamp = stamp.tz_localize(self.zone, ambiguous=first, nonexistent="shift_forward")
        stamp = stamp if stamp.tz is None else stamp.tz_convert(None)
        return float(self._positions(np.array([stamp.to_datetime64()]))[0])


def as_times(times, n, name, series=None, max_gap=None, called=None):
    """Return the times of `n` samples; without times, those of the index of `series`, or the sample indices.

    Numbers are `called` so, or by the name of their Series or index, on the axis.
    """
    if times is None or hasattr(times, "samples"):  # those of some samples, which the result of a stream knows
        held = index_times(getattr(series, "index", None))
        if times is not None and held is None:
            raise ValueError(
                f"The '{name}' parameter must be given: the result holds the times of its own starts and ends, and no "
                f"others. Got None. Pass the times of the whole sequence, or numpy.arange({n}) to draw it by samples."
            )
        called, times = time_name(series, None) if called is None else called, held
    if times is None:
        return Times(np.arange(n, dtype=np.float64), "sample")
    times = times.at(np.arange(n)) if isinstance(times, Sampling) else times
    array, zone = _without_zone(given_times(times, name))
    label = "time" if zone is None else f"time ({zone})"
    # Numbers of seconds are not needed: those of ten million dates take a fifth of a second.
    if array.dtype.kind == "M" and array.shape == (n,) and (array[1:] > array[:-1]).all() and not np.isnat(array[0]):
        return Times(array, label, True, zone, max_gap)
    numbers = validation.as_times(array, n, name)
    called = time_name(None, times) if called is None else called
    label = "time (s)" if array.dtype.kind == "m" else label if called in (None, "sample") else called
    return Times(numbers, label, max_gap=max_gap)


def _without_zone(times):
    """Times as an array, which holds UTC where they have a zone, and that zone: numpy's datetimes know none."""
    zone = getattr(times, "tz", None)
    array = np.asarray(times if zone is None else times.tz_convert(None))
    if array.dtype == object and array.size and hasattr(array.flat[0], "isoformat"):
        array = array.astype("datetime64[ns]")
    return array, zone

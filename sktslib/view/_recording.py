"""What a session knows of a recording: samples, names, times as they are written, and a mark by which it is known."""

import hashlib
from math import floor, log10

import numpy as np

from ..search._chunks import times_at
from ..utils._sampling import LONG, interval
from ..utils._times import EvenTimes, Sampling, given_times, is_datetime
from ..utils.validation import as_times, check_one_time_per_point
from ._pyramid import rows

PIECES, PIECE = 64, 256  # of a recording, of which its mark is made
SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)  # steps of clocks
DAY = 86_400


class Viewed:
    """A recording as an object with `values`, `times`, `names`, `units`, or as an array; arguments come first."""

    def __init__(self, recording, times=None, rate=None, names=None, units=None):
        if rate is not None and times is not None:
            raise ValueError(f"Only one of 'times' and 'rate' can be given. Got both, rate={rate!r}. Leave one out.")
        values = getattr(recording, "values", recording)
        columns = getattr(recording, "columns", None)
        if names is None:
            names = getattr(recording, "names", None) if columns is None else map(str, columns)
        if times is None:
            times = getattr(recording, "times", None) if rate is None else Sampling(rate)
        self.values = values if hasattr(values, "shape") else np.asarray(values)
        self.n, self.channels = self.values.shape[0], rows(self.values, 0, 1).shape[1]
        self.names = [str(k + 1) for k in range(self.channels)] if names is None else [str(name) for name in names]
        units = getattr(recording, "units", None) if units is None else units
        self.units = [None] * self.channels if units is None else list(units)
        for name, given in (("names", self.names), ("units", self.units)):
            if len(given) != self.channels:
                raise ValueError(f"{name!r} must have an entry for each of {self.channels} channels. Got {given}.")
        times = EvenTimes(times, self.n) if isinstance(times, Sampling) else times
        self.times = times if times is None else given_times(times, "times")
        self.rate, self._t = None, None  # times as numbers, of datetimes seconds from the first
        self.max_gap, self.gaps = None, np.empty(0, int)  # samples before which there are holes in time
        if isinstance(self.times, EvenTimes):
            self.rate = float(self.times.sampling.rate)
        elif self.times is not None:
            check_one_time_per_point((len(self.times),), self.n, "times")
            self._t = as_times(self.times, self.n, "times")
            step = interval(self._t)
            if step and np.diff(self._t).max() > LONG * step:
                self.max_gap = 2.0 * step
                self.gaps = np.flatnonzero(np.diff(self._t) > self.max_gap) + 1

    @property
    def mark(self):
        """A text that is another one for another recording, by shape, type and some of the samples."""
        found = hashlib.sha256(f"{self.n} {self.channels} {self.values.dtype}".encode())
        for start in np.linspace(0, max(self.n - PIECE, 0), PIECES).astype(int).tolist():
            found.update(np.ascontiguousarray(rows(self.values, start, start + PIECE)))
        return found.hexdigest()

    def label(self, sample, places=3):
        """Return the time of a sample as text: as the file has it, else in seconds or samples."""
        if self.times is None:
            return str(int(sample))
        return self._text(times_at(self.times, [int(sample)]), places)

    def _text(self, time, places):
        if not is_datetime(time):
            return f"{float(time[0]):.{places}f}"
        if time.dtype.kind == "m":
            return f"{np.asarray(time / np.timedelta64(1, 's'))[0]:.{places}f}"
        time = time.tz_localize(None) if getattr(time, "tz", None) is not None else time
        text = str(np.asarray(time, "datetime64[us]")[0]).replace("T", " ")
        return text[:19] + (text[19 : 20 + places] if places else "")

    def ticks(self, first, last, columns):
        """Return samples and labels of some round times, at most one in 90 columns."""
        most, end = max(int(columns) // 90, 2), min(int(last), self.n - 1)
        t = [sample / (self.rate or 1.0) if self._t is None else self._t[int(sample)] for sample in (first, end)]
        dated = self.times is not None and is_datetime(self.times[:1]) and self.times[:1].dtype.kind != "m"
        base, least = 0.0, max((t[1] - t[0]) / most, 1e-12)
        if dated:  # round by the clock on the wall
            hour, minute, second = self.label(0, 6)[11:].split(":")
            base = 3600 * int(hour) + 60 * int(minute) + float(second)
        elif self._t is None and self.times is not None:
            base = float(self.times[0:1][0])
        power = 10.0 ** floor(log10(least))
        step = next(k * power for k in (1, 2, 5, 10) if k * power >= least * (1 - 1e-9))
        if dated and least > 1:
            step = next((s for s in SECONDS if s >= least), np.ceil(least / DAY) * DAY)
        elif self.times is None:
            step = max(step, 1)
        at = np.arange(np.ceil((t[0] + base) / step - 1e-9), np.floor((t[1] + base) / step + 1e-9) + 1) * step - base
        samples = np.rint(at * (self.rate or 1.0)) if self._t is None else np.searchsorted(self._t, at * (1 - 1e-12))
        samples = np.unique(np.clip(samples.astype(int), 0, self.n - 1)).tolist()
        places = max(-floor(log10(step) + 1e-9), 0)
        texts, day = [], None
        for text in (self.label(sample, min(places, 6)) for sample in samples):
            same, day = dated and text[:10] == day, text[:10]
            short = text[11:] if same else text[:10] if dated and step >= DAY else text
            texts.append(short[:-3] if dated and 60 <= step < DAY else short)
        return [list(pair) for pair in zip(samples, texts, strict=True)]

"""A recording as a session knows it: samples, names, times as they are written, and a mark by which it is known."""

import hashlib
import os
from dataclasses import replace
from math import floor, log10

import numpy as np

from .._plots.pyramid import rows
from ..io import read
from ..io._library import is_real
from ..io._objects import converter_of, recording_of
from ..search._chunks import times_at
from ..utils._sampling import LONG, interval
from ..utils._times import EvenTimes, Sampling, is_datetime
from ..utils.validation import as_times, shown

PIECES, PIECE = 64, 256  # of a recording, of which its mark is made
CLOCK = 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200  # steps of a clock, seconds
DAY = 86_400
APART = 90  # columns that a label has, at least


class Viewed:
    """A recording, a file, an object that `read` takes apart, a table or an array; arguments come first."""

    def __init__(self, recording, times=None, rate=None, names=None, units=None):
        if rate is not None and times is not None:
            raise ValueError(f"Only one of 'times' and 'rate' can be given. Got both, rate={rate!r}. Leave one out.")
        is_read = isinstance(recording, str | os.PathLike) or converter_of(recording)
        one = read(recording) if is_read else recording_of(recording)
        given = {"times": times if rate is None else Sampling(rate), "names": names, "units": units}
        one = replace(one, **{name: some for name, some in given.items() if some is not None})
        self.values, self.n, self.channels = one.values, len(one), (*one.shape, 1)[1]
        if 0 in one.shape or not is_real(np.asarray(self.values[:1]).dtype):
            raise ValueError(f"A recording must have numbers, of shape (n,) or (n, channels). Got {shown(recording)}.")
        self.names = one.names or [str(k + 1) for k in range(self.channels)]
        self.units = [unit or None for unit in one.units or [None] * self.channels]
        self.rate = one.rate
        self.times = one.times if self.rate is None else EvenTimes(one.times, self.n)
        self.max_gap, self.gaps = None, np.empty(0, int)  # samples before which there are holes in time
        self.is_dated = self.times is not None and is_datetime(self.times[:1]) and self.times[:1].dtype.kind != "m"
        self._t = None  # times as numbers, of datetimes seconds from the first
        if self.times is not None and self.rate is None:
            self._t = as_times(self.times, self.n, "times")
            steps, step = np.diff(self._t), interval(self._t) or np.inf
            if steps.max(initial=0.0) > LONG * step:
                self.max_gap, self.gaps = 2.0 * step, np.flatnonzero(steps > 2.0 * step) + 1

    @property
    def mark(self):
        """A text that is another one for another recording, by shape, type and some of the samples."""
        found = hashlib.sha256(f"{self.n} {self.channels} {self.values[:1].dtype}".encode())
        for start in np.linspace(0, max(self.n - PIECE, 0), PIECES).astype(int).tolist():
            found.update(np.ascontiguousarray(rows(self.values, start, start + PIECE)))
        return found.hexdigest()[:12]

    def label(self, sample, places=3):
        """Return the time of a sample as text: as the file has it, else in seconds or samples."""
        if self.times is None:
            return str(int(sample))
        time = times_at(self.times, [int(sample)])
        if not self.is_dated:
            return f"{np.asarray(time / np.timedelta64(1, 's') if time.dtype.kind == 'm' else time)[0]:.{places}f}"
        time = time.tz_localize(None) if getattr(time, "tz", None) is not None else time
        text = str(np.asarray(time, "datetime64[us]")[0]).replace("T", " ")
        return text[: 20 + places] if places else text[:19]

    def ticks(self, first, last, columns):
        """Return samples and labels of some round times, far enough apart."""
        ends = [int(first), min(int(last), self.n - 1)]
        low, high = np.divide(ends, self.rate or 1.0) if self._t is None else self._t[ends]
        begin, day = self.label(ends[0], 9), self.label(0)[:10]  # as the clock on the wall has it
        begin = (np.datetime64(begin) - np.datetime64(day)) / np.timedelta64(1, "s") if self.is_dated else float(begin)
        least = max((high - low) / max(int(columns) // APART, 2), 1e-12 if self.times is not None else 1.0)
        power = 10.0 ** floor(log10(least))
        step = next(k * power for k in (1, 2, 5, 10) if k * power >= least * (1 - 1e-9))
        if self.is_dated and least > 1:
            step = next((s for s in CLOCK if s >= least), np.ceil(least / DAY) * DAY)
        at = np.arange(np.ceil(begin / step - 1e-9), (begin + high - low) / step + 1e-9) * step - begin + low
        samples = np.rint(at * (self.rate or 1.0)) if self._t is None else np.searchsorted(self._t, at * (1 - 1e-12))
        samples, day, found = np.unique(np.clip(samples.astype(int), 0, self.n - 1)).tolist(), None, []
        for sample in samples:
            short = text = self.label(sample, max(-floor(log10(step) + 1e-9), 0))
            if self.is_dated:
                short = text[:10] if step >= DAY else text[11 * (text[:10] == day) : -3 if step >= 60 else None]
                day = text[:10]
            found.append([sample, short])
        return found

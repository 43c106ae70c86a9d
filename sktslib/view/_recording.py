"""What a session knows of a recording: samples, names, times as they are written, and a mark by which it is known."""

import hashlib
from math import floor, log10

import numpy as np

from ..search._chunks import times_at
from ..utils._sampling import LONG, interval
from ..utils._times import EvenTimes, Sampling, given_times, index_of, index_times, is_datetime
from ..utils.validation import as_times, check_one_time_per_point, shown
from ._pyramid import rows

PIECES, PIECE = 64, 256  # of a recording, of which its mark is made
CLOCK = 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200  # steps of a clock, seconds
DAY = 86_400
APART = 90  # columns that a label has, at least


class Viewed:
    """A recording as an object with `values`, `times`, `names`, `units`, or as an array; arguments come first."""

    def __init__(self, recording, times=None, rate=None, names=None, units=None):
        if rate is not None and times is not None:
            raise ValueError(f"Only one of 'times' and 'rate' can be given. Got both, rate={rate!r}. Leave one out.")
        own = {name: getattr(recording, name, None) for name in ("times", "names", "units", "columns")}
        values = getattr(recording, "values", recording)
        self.values = values if hasattr(values, "shape") else np.asarray(values)
        if len(self.values.shape) not in (1, 2) or 0 in self.values.shape or self.values[:1].dtype.kind not in "biuf":
            raise ValueError(f"A recording must have numbers, of shape (n,) or (n, channels). Got {shown(recording)}.")
        self.n, self.channels = self.values.shape[0], rows(self.values, 0, 1).shape[1]
        names = next((some for some in (names, own["names"], own["columns"]) if some is not None), None)
        self.names = list(map(str, range(1, self.channels + 1) if names is None else names))
        units = own["units"] if units is None else units
        self.units = [None] * self.channels if units is None else list(units)
        if not len(self.names) == len(self.units) == self.channels:
            text = f"'names' must have an entry for each of {self.channels} channels, and so must 'units'."
            raise ValueError(f"{text} Got {self.names} and {self.units}.")
        times = Sampling(rate) if rate is not None else own["times"] if times is None else times
        times = index_times(index_of(recording)) if times is None else times
        even = EvenTimes(times, self.n) if isinstance(times, Sampling) else times
        self.times, self.rate = None if times is None else given_times(even, "times"), getattr(times, "rate", None)
        self.max_gap, self.gaps = None, np.empty(0, int)  # samples before which there are holes in time
        self.is_dated = self.times is not None and is_datetime(self.times[:1]) and self.times[:1].dtype.kind != "m"
        self._t = None  # times as numbers, of datetimes seconds from the first
        if self.times is not None and self.rate is None:
            check_one_time_per_point((len(self.times),), self.n, "times")
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
        return found.hexdigest()

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
        ends, rate, base = [int(first), min(int(last), self.n - 1)], self.rate or 1.0, 0.0
        low, high = [k / rate for k in ends] if self._t is None else self._t[ends]
        if self.is_dated:  # round by the clock on the wall
            base = np.dot([3600, 60, 1], [float(part) for part in self.label(0, 6)[11:].split(":")])
        elif self.rate is not None:
            base = float(self.times[:1][0])
        least = max((high - low) / max(int(columns) // APART, 2), 1e-12)
        power = 10.0 ** floor(log10(least))
        step = next(k * power for k in (1, 2, 5, 10) if k * power >= least * (1 - 1e-9))
        if self.is_dated and least > 1:
            step = next((s for s in CLOCK if s >= least), np.ceil(least / DAY) * DAY)
        step = max(step, 1.0) if self.times is None else step
        at = np.arange(np.ceil((low + base) / step - 1e-9), (high + base) / step + 1e-9) * step - base
        samples = np.rint(at * rate) if self._t is None else np.searchsorted(self._t, at * (1 - 1e-12))
        samples, day, found = np.unique(np.clip(samples.astype(int), 0, self.n - 1)).tolist(), None, []
        for sample in samples:
            text = self.label(sample, max(-floor(log10(step) + 1e-9), 0))
            short = text[:-3] if self.is_dated and 60 <= step < DAY else text
            if self.is_dated:
                short, day = text[:10] if step >= DAY else short[11:] if text[:10] == day else short, text[:10]
            found.append([sample, short])
        return found

"""Parts of recordings: START-STOP in samples, seconds or timestamps, or a single day, month or minute."""

import os
import re
from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from ..utils._times import EvenTimes
from ..utils.validation import refused
from ._columns import clocks_of, dates_of
from ._layout import CLOCK, KINDS

SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SLACK = 1e-6  # tolerance for rounding, as a share of the median step
NUMBER = r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
UNIT = "|".join(SECONDS)
STAMP = rf"{KINDS['datetime'].pattern}|{KINDS['date'].pattern}".replace("(\\w", "(?:\\w")
YEAR_MONTH = r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])"
FORMS = {
    "month": re.compile(rf"({YEAR_MONTH})()()()"),
    "samples": re.compile(r"(\d+)()(?:-|\.\.)(\d+)()"),
    "seconds": re.compile(rf"({NUMBER})({UNIT})?(?:-|\.\.)({NUMBER})({UNIT})"),
    "clock": re.compile(rf"({CLOCK})()(?:-|\.\.)({CLOCK})()"),
    "stamps": re.compile(rf"({STAMP}|{YEAR_MONTH})()\.\.({STAMP}|{YEAR_MONTH})()"),
    "stamp": re.compile(rf"({STAMP})()()()"),
}
EXAMPLES = "in samples (0-7200), seconds (0s-20s) or timestamps (2024-05-01T12:30:05..2024-05-01T12:30:25)"


class Slice(NamedTuple):
    """A part of a recording as written: `kind` is a key of FORMS, start and stop are numbers or texts."""

    kind: str
    start: object
    stop: object
    text: str


def parse_slice(text):
    """Return the slice that a text describes; None if it describes none."""
    for kind, form in FORMS.items():
        if found := form.fullmatch(text):
            start, of_start, stop, of_stop = found.groups()
            if kind == "samples":
                start, stop = int(start), int(stop)
            elif kind == "seconds":
                start, stop = seconds_of(start + (of_start or of_stop)), seconds_of(stop + of_stop)
            return Slice(kind, start, stop, text)
    return None


def slice_of(text, option):
    """Return the slice that a text describes, or raise an error."""
    if (cut := parse_slice(text)) is None:
        raise ValueError(f"{option} must be written START-STOP {EXAMPLES}. Got {text!r}.")
    return cut


def seconds_of(text):
    """Return the seconds in a duration such as 1.5s; None for any other text."""
    found = re.fullmatch(rf"({NUMBER}) ?({UNIT})", text)
    return None if found is None else float(found[1].replace(",", ".")) * SECONDS[found[2]]


def split_slice(text):
    """Split a text into a path and the slice after it, or None; drive letters and timestamps contain colons, too."""
    for colon in () if os.path.exists(text) else re.finditer(":", text):
        if cut := parse_slice(text[colon.end() :]):
            return text[: colon.start()], cut
    return text, None


def samples_of(cut, times, time_name, n, option, unit=None, day_first=None):
    """Return the half-open range of samples in a slice.

    Parameters
    ----------
    cut : Slice
        The slice.
    times : ndarray, EvenTimes, DatetimeIndex, TimedeltaIndex or None
        Times of the recording.
    time_name : str or None
        Name of their column, which may say their unit.
    n : int
        Number of samples.
    option : str
        The option or argument that holds the slice, for messages.
    unit : str, optional
        The unit of times that are numbers.
    day_first : bool, optional
        Whether the day comes before the month in dates.

    Returns
    -------
    tuple of int
    """
    if cut.kind != "samples" and times is None:
        way_out = "Name it, time_column=..., or the samples per second, rate=..., or write samples, such as 1500-1572."
        got = f"{cut.text!r} of a recording without a column of times"
        raise ValueError(f"{option}: a slice in seconds or timestamps needs times. Got {got}. {way_out}")
    by_times = (times, time_name, option, unit, day_first)
    start, stop = (cut.start, cut.stop) if cut.kind == "samples" else _by_times(cut, *by_times)
    if not 0 <= start < stop <= n:
        span = "" if times is None else ", times {} to {}".format(*(times[k : k + 1][0] for k in (0, n - 1)))
        got = f"{cut.text!r}, which is samples {start} to {stop}; there are {n}{span}"
        raise refused(f"{option}: a slice", "be within the recording, with START before STOP", got)
    return start, stop


def unit_of(name, unit=None):
    """Return the seconds in a unit, or in that of a column's name, such as ``time_ms`` or ``t (s)``; by default 1."""
    found = re.search(r"[\s_(\[/.]([a-zµ]+)[)\]]?$", (name or "").lower())
    word = unit or (found[1] if found else "")
    return SECONDS.get({"seconds": "s", "second": "s", "hours": "h", "minutes": "min"}.get(word, word), 1.0)


def _by_times(cut, times, time_name, option, unit, day_first):
    known, end = as_index(times[:1]), as_index(times[len(times) - 1 :])[0]
    begin, dated = known[0], hasattr(known, "asi8")
    if cut.kind == "seconds":
        wanted = np.array([cut.start, cut.stop]) / (1.0 if dated else unit_of(time_name, unit))
    elif not dated:
        got = f"{cut.text!r}, and times from {begin} to {end}. Write seconds, such as 12.5s-13.1s"
        raise ValueError(f"{option}: a slice in timestamps needs a recording with dates. Got {got}.")
    else:
        try:
            ends = _stamp(cut.start, known, day_first), _stamp(cut.stop or cut.start, known, day_first, not cut.stop)
            wanted = since(ends, begin)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{option}: cannot find {cut.text!r} among times from {begin}: {error}.") from None
    what = f"seconds after {begin}" if dated else "times"
    step, (first, last) = step_of(times), since([begin, end], begin)
    low, high = wanted if cut.stop != "" else wanted[::-1]  # a day or a month may be only partly in the recording
    if low < first - SLACK * step or high > last + 1.5 * step:
        hint = " If they count from 1970: epoch=s, ms, us or ns; slices then count from the first." * bool(first > 1e8)
        got = f"{cut.text!r}, and {what} from {first:.16g} to {last:.16g}{f' in {time_name!r}' if time_name else ''}"
        raise ValueError(f"{option}: a slice must be within the recording. Got {got}.{hint}")
    return first_samples(times, wanted, begin).tolist()


def as_index(times):
    """Return times as numbers, or as an index of dates or durations."""
    import pandas as pd

    found = times[:]
    return pd.Index(found) if not hasattr(found, "dtype") or found.dtype.kind in "OMm" else found


def since(times, begin):
    """Return times as floats: numbers unchanged, dates and durations in seconds from `begin`."""
    times = as_index(times)
    return (times - begin).total_seconds().to_numpy() if hasattr(times, "asi8") else np.asarray(times, np.float64)


def step_of(times):
    """Return the median time step, in the unit of the times or in seconds."""
    if isinstance(times, EvenTimes):
        return 1 / times.sampling.rate
    steps = np.diff(since(times, times[0]))
    return float(np.median(steps[steps > 0])) if (steps > 0).any() else 1.0


def first_samples(times, wanted, begin):
    """Return the first samples at or after given times, with a tolerance for rounding.

    Given times are numbers, or for dates and durations seconds from `begin`.
    """
    wanted = wanted - SLACK * step_of(times)
    if isinstance(times, EvenTimes):  # compute only a few of these times
        n = range(len(times))
        return np.array([bisect_left(n, t, key=lambda k: since(times[k : k + 1], begin)) for t in wanted])
    return np.searchsorted(since(times, begin), wanted)


def _stamp(text, times, day_first, later=False):
    """Return a written time, in the recording's zone unless it has its own; with `later` the end of its period.

    A clock time is on the first day of the recording. The period is a month, a day, a minute or a second.
    """
    import pandas as pd

    durations = times.dtype.kind == "m"
    if re.fullmatch(CLOCK, text):
        time = clocks_of(pd.Series([text]))[0][0]
        return time if durations else times[0].normalize() + time
    month, clock = re.fullmatch(YEAR_MONTH, text), re.search(CLOCK, text)
    stamp = dates_of(pd.Series([f"{text}-01" if month else text]), day_first)[0][0]
    if durations or stamp is pd.NaT:
        raise ValueError("they are clock times without a date" if durations else f"{text!r} is not a date")
    unit = "months" if month else "days" if not clock else "seconds" if clock[0].count(":") == 2 else "minutes"
    stamp = stamp + pd.DateOffset(**{unit: int(later)}) if later else stamp
    return stamp.tz_localize(times.tz) if stamp.tz is None and times.tz is not None else stamp

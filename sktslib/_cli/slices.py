"""A query as a slice of a recording: FILE:START-STOP in samples, seconds or timestamps."""

import os
import re
from typing import NamedTuple

import numpy as np

SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
HOW = (
    "FILE:START-STOP in samples (rec.csv:1500-1572), in seconds (rec.csv:12.5s-13.1s) or in timestamps "
    "(rec.csv:2024-05-01T12:30:05..2024-05-01T12:30:06)"
)
NUMBER = r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
UNIT = "|".join(SECONDS)
CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
DAY_FIRST = r"(\d{1,2})\.(\d{1,2})\.(\d{4})"
STAMP = rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|{DAY_FIRST.replace('(', '(?:')})(?:[T ]{CLOCK}(?: ?Z|[+-]\d{{2}}:?\d{{2}})?)?"
FORMS = {
    "samples": re.compile(r"(\d+)()(?:-|\.\.)(\d+)()"),
    "seconds": re.compile(rf"({NUMBER})({UNIT})?(?:-|\.\.)({NUMBER})({UNIT})"),
    "clock": re.compile(rf"({CLOCK})()(?:-|\.\.)({CLOCK})()"),
    "stamps": re.compile(rf"({STAMP})()\.\.({STAMP})()"),
}


class Slice(NamedTuple):
    """A part of a recording as it was written: `kind` is a key of FORMS, start and stop are numbers or texts."""

    kind: str
    start: object
    stop: object
    text: str


def parse_slice(text):
    """The slice that a text stands for, or None if it is none."""
    for kind, form in FORMS.items():
        found = form.fullmatch(text)
        if found is None:
            continue
        start, of_start, stop, of_stop = found.groups()
        if kind == "samples":
            return Slice(kind, int(start), int(stop), text)
        if kind == "seconds":
            factors = SECONDS[of_start or of_stop], SECONDS[of_stop]
            start, stop = (float(v.replace(",", ".")) * f for v, f in zip((start, stop), factors, strict=True))
        return Slice(kind, start, stop, text)
    return None


def seconds_of(text):
    """The seconds of a duration such as 1.5s, or None if it is none."""
    found = re.fullmatch(rf"({NUMBER}) ?({UNIT})", text)
    return None if found is None else float(found[1].replace(",", ".")) * SECONDS[found[2]]


def split_slice(text):
    """A path and the slice behind it, or None; drive letters and timestamps have colons, too."""
    if os.path.exists(text):
        return text, None
    for colon in re.finditer(":", text):
        cut = parse_slice(text[colon.end() :])
        if cut is not None:
            return text[: colon.start()], cut
    return text, None


def samples_of(cut, times, time_name, n, option):
    """The half-open range of samples that a slice stands for.

    Parameters
    ----------
    cut : Slice
        The slice.
    times : ndarray, DatetimeIndex, TimedeltaIndex or None
        Times of the recording.
    time_name : str or None
        Name of their column, which may say their unit.
    n : int
        Number of samples.
    option : str
        What the slice was given to, for messages.

    Returns
    -------
    tuple of int
    """
    if cut.kind == "samples":
        start, stop = cut.start, cut.stop
    elif times is None:
        raise ValueError(
            f"{option}: a slice in seconds or timestamps needs times. Got {cut.text!r} of a recording without a column "
            "of times. Name it with --time-column, say how many samples a second has with --rate, or write samples, "
            "such as 1500-1572."
        )
    else:
        start, stop = _by_times(cut, times, time_name, option)
    if not 0 <= start < stop <= n:
        span = "" if times is None else f", times {times[0]} to {times[-1]}"
        raise ValueError(
            f"{option}: a slice must lie in the recording, START before STOP. Got {cut.text!r}, which is samples "
            f"{start} to {stop}; there are {n}{span}."
        )
    return start, stop


def unit_of(name):
    """Seconds in a unit of a column of numbers, as its name says: ``time_ms``, ``t (s)``; else 1."""
    found = re.search(r"[\s_(\[/.]([a-zµ]+)[)\]]?$", (name or "").lower())
    word = found[1] if found else ""
    return SECONDS.get({"seconds": "s", "second": "s", "hours": "h", "minutes": "min"}.get(word, word), 1.0)


def _by_times(cut, times, time_name, option):
    import pandas as pd

    if not isinstance(times, pd.Index):  # numbers
        if cut.kind != "seconds":
            raise ValueError(
                f"{option}: a slice in timestamps needs a recording with dates. Got {cut.text!r}, and times from "
                f"{times[0]} to {times[-1]}. Write seconds, such as 12.5s-13.1s."
            )
        wanted, what = np.array([cut.start, cut.stop]) / unit_of(time_name), "times"
    else:
        # Seconds from the first sample.
        try:
            if cut.kind == "seconds":
                wanted = np.array([cut.start, cut.stop])
            else:
                wanted = np.array([(_stamp(v, cut.kind, times) - times[0]).total_seconds() for v in cut[1:3]])
        except (ValueError, TypeError) as error:
            raise ValueError(f"{option}: cannot find {cut.text!r} among times from {times[0]}: {error}.") from None
        what = f"seconds after {times[0]}"
        times = (times - times[0]).total_seconds().to_numpy()
    # A time as it was written may lie a rounding error off the sample's.
    slack = 1e-6 * float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    inside = np.searchsorted(times, wanted - slack)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    if wanted[0] < times[0] - slack or wanted[1] > times[-1] + 1.5 * step:
        since = " If they count from 1970: --epoch s, ms, us or ns; slices then count from the first."
        since = since if times[0] > 1e8 else ""
        raise ValueError(
            f"{option}: a slice must lie in the recording. Got {cut.text!r}, and {what} from {times[0]:.16g} to "
            f"{times[-1]:.16g}{'' if time_name is None else f' in {time_name!r}'}.{since}"
        )
    return int(inside[0]), int(inside[1])


def _stamp(text, kind, times):
    """A timestamp, in the recording's zone where it has none of its own; a clock time, on the recording's first day."""
    import pandas as pd

    text = text.replace(",", ".")
    if kind == "clock":
        time = pd.Timedelta(text if text.count(":") == 2 else f"{text}:00")
        return time if isinstance(times, pd.TimedeltaIndex) else times[0].normalize() + time
    if isinstance(times, pd.TimedeltaIndex):
        raise ValueError("they are clock times without a date")
    stamp = pd.Timestamp(re.sub(rf"^{DAY_FIRST}", r"\3-\2-\1", text))
    return stamp.tz_localize(times.tz) if stamp.tz is None and times.tz is not None else stamp

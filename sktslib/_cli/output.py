"""What commands print: tables of ranges, distances and distances of pairs, as text, CSV or JSON."""

import json
import math
import os
import sys
from pathlib import Path

import numpy as np

FORMATS = ("table", "csv", "json")
SMALL = 1e-6  # of the largest number: what is smaller may be printed as 0
EXACT = 12  # digits that are printed of a number at most


def note(text):
    """Say something that is no result."""
    print(text, file=sys.stderr)


def decimals_of(step):
    """How many decimals tell neighbors apart that lie `step` apart."""
    return next((d for d in range(12) if abs(round(step, d) - step) <= 0.1 * step), 12)


def clock_of(seconds, digits=3):
    """A time of day as text, with so many decimals of the second unless these are zeros."""
    parts = round(seconds * 10**digits)
    whole, rest = divmod(parts, 10**digits)
    text = f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return text if rest == 0 else f"{text}.{rest:0{digits}d}"


def write_times(values, digits):
    """Times as text with so many decimals, as `decimals_between` the recording's times says."""
    if values.dtype.kind == "m":
        return [clock_of(v, digits) for v in values / np.timedelta64(1, "s")]
    if values.dtype.kind == "M":
        unit = {3: "milliseconds", 6: "microseconds", 9: "nanoseconds"}[digits]
        texts = [v.isoformat(sep=" ", timespec=unit) for v in values]
        return [text.replace("." + digits * "0", "") for text in texts]
    return [f"{value:.{digits}f}" for value in values]


def decimals_between(times):
    """How many decimals of a second, or of numbers, tell neighbors among times apart: of dates 3, 6 or 9."""
    import pandas as pd

    steps = pd.Series(times).diff().dropna()
    dated = steps.dtype.kind == "m"
    steps = steps.dt.total_seconds() if dated else steps
    steps = steps[steps > 0]
    digits = decimals_of(float(np.median(steps))) if len(steps) else 3
    return max(3, -(-digits // 3) * 3) if dated else digits


def write_numbers(values, step=0.0):
    """Numbers as text with the same decimals for all.

    They show four digits of the largest number, two of the range of all or of a `step` that counts, if it is smaller,
    and one of the smallest.
    """
    sizes = np.abs([v for v in values if np.isfinite(v)])
    top = sizes.max(initial=0.0)
    if top and not 1e-4 <= top < 1e9:
        return [f"{v:.3e}" for v in values]
    small = sizes[sizes > SMALL * top].min(initial=np.inf)
    shown = (top, 4), (np.ptp(sizes) if len(sizes) else 0.0, 2), (step, 2), (small if top else 0.0, 1)
    digits = max((count - 1 - math.floor(math.log10(size)) for size, count in shown if size > 0), default=3)
    most = EXACT - 1 - math.floor(math.log10(top)) if top else digits
    return [f"{v:.{max(0, min(digits, most))}f}" for v in values]


def align(columns):
    """Lines of a table, right-aligned, from a dict of heading -> texts."""
    widths = [max(map(len, [name, *texts])) for name, texts in columns.items()]
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    return [
        "  " + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def lines_of(frame, times):
    """Lines of a table of ranges or distances; `times` are those of the recording."""
    columns, digits = {}, None if times is None else decimals_between(times)
    for name, column in frame.items():
        if name in ("start_time", "end_time"):
            columns[name] = write_times(column, digits)
        elif column.dtype.kind == "f":
            columns[name] = write_numbers(column.to_numpy())
        else:
            columns[name] = [str(value) for value in column]
    return align(columns)


def ranges_frame(found, titles=None):
    """A table of `Matches` or `Segments`, a row each, counted from 1.

    Parameters
    ----------
    found : Matches or Segments
        Ranges.
    titles : list of str, optional
        Names of several queries.
    """
    frame = found.to_frame()
    if titles is not None and len(titles) > 1 and found.query is not None:
        frame = frame.drop(columns="query", errors="ignore")
        frame.insert(0, "query", [titles[k] for k in found.query])
    frame.insert(0, "rank" if "distance" in frame else "number", np.arange(1, len(frame) + 1))
    order = ("start", "end", "start_time", "end_time")
    first = list(frame)[: list(frame).index("start")]
    ranges = [name for name in order if name in frame]
    return frame[[*first, *ranges, *(name for name in frame if name not in (*first, *ranges))]]


def print_frame(frame, form, about, key, times=None):
    """Print a table.

    Parameters
    ----------
    frame : DataFrame
        The table.
    form : str
        One of FORMATS.
    about : dict
        What else JSON says.
    key : str
        What the rows are called in JSON.
    times : array-like, optional
        Those of the recording.
    """
    if form == "table":
        print("\n".join(lines_of(frame, times)))
    elif form == "csv":
        print(_plain(frame).to_csv(index=False, lineterminator="\n"), end="")
    else:
        rows = [dict(zip(frame, map(_for_json, row), strict=True)) for row in _plain(frame).itertuples(index=False)]
        print_json({**about, key: rows})


def print_json(content):
    """Print what json knows; numbers that are not finite are null."""
    print(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))


def _plain(frame):
    """Clock times as text, which no file knows otherwise, with all their decimals."""
    clocks = {}
    for name, column in frame.items():
        if column.dtype.kind == "m":
            parts = column.dt.components
            digits = 9 if parts["nanoseconds"].any() else 6 if parts["microseconds"].any() else 3
            clocks[name] = [clock_of(v.total_seconds(), digits) for v in column]
    return frame.assign(**clocks)


def _for_json(value):
    if hasattr(value, "isoformat"):
        return value.isoformat()
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_writable(path, option):
    """Refuse at once what could not be written after the work."""
    if path is None:
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir() or Path(path).is_dir():
        raise ValueError(f"{option} must name a file in a folder that exists. Got {path!r}.")
    if not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise ValueError(f"{option} must name a file that may be written. Got {path!r}; name one in another folder.")


def check_picture(path, option):
    """Refuse at once a picture that could not be written."""
    if path is None:
        return
    from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    if Path(path).suffix.lstrip(".").lower() not in formats:
        raise ValueError(f"{option} must end in one of .{', .'.join(sorted(formats))}. Got {path!r}.")
    check_writable(path, option)


def counted(found, noun):
    """Say how many there are of something."""
    return f"{len(found)} {noun}{'' if len(found) == 1 else ('es' if noun.endswith('ch') else 's')}"

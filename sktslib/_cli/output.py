"""Output of the commands: tables of ranges and distances as text, CSV or JSON."""

import json
import math
import os
import sys
from pathlib import Path

import numpy as np

from ..io._parts import as_index, step_of

SMALL = 1e-6  # numbers below this share of the largest one may be printed as 0
EXACT = 12  # most digits printed of a number


def note(text):
    """Print a note to the error output, apart from the results."""
    print(text, file=sys.stderr)


def tell_notes(recordings):
    """Print the notes on files, such as what was guessed, each once."""
    for text in dict.fromkeys(text for one in recordings for text in one.notes):
        note(text)


def decimals_of(step):
    """Return the number of decimals that distinguishes values `step` apart."""
    return next((d for d in range(12) if abs(round(step, d) - step) <= 0.1 * step), 12)


def clock_of(seconds, digits=3):
    """Return a time of day as text, with `digits` decimals of the seconds unless all are zero."""
    parts = round(seconds * 10**digits)
    whole, rest = divmod(parts, 10**digits)
    text = f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return text if rest == 0 else f"{text}.{rest:0{digits}d}"


def write_times(values, digits):
    """Return times as texts with `digits` decimals; see `decimals_between`."""
    if values.dtype.kind == "m":
        return [clock_of(v, digits) for v in values / np.timedelta64(1, "s")]
    if values.dtype.kind == "M":
        unit = {3: "milliseconds", 6: "microseconds", 9: "nanoseconds"}[digits]
        return [v.isoformat(sep=" ", timespec=unit).replace("." + digits * "0", "") for v in values]
    return [f"{value:.{digits}f}" for value in values]


def decimals_between(times):
    """Return the number of decimals that distinguishes neighboring times: 3, 6 or 9 of the second for dates."""
    dated, digits = hasattr(as_index(times[:1]), "asi8"), decimals_of(step_of(times)) if len(times) > 1 else 3
    return max(3, -(-digits // 3) * 3) if dated else digits


def write_numbers(values, step=0.0):
    """Return numbers as texts with the same decimals for all.

    They show four digits of the largest number, two digits of the range (or of `step`, if smaller), and one digit of
    the smallest number.
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


def align(columns, left=()):
    """Return the lines of a table from a dict of heading -> texts, right-aligned except for the columns in `left`."""
    formats = [f"{'<' if name in left else '>'}{max(map(len, [name, *texts]))}" for name, texts in columns.items()]
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    return ["  " + "  ".join(map(format, row, formats)).rstrip() for row in rows]


def lines_of(frame, times):
    """Return the lines of a table of ranges or distances; `times` are those of the recording."""

    def texts(name, column):
        if name in ("start_time", "end_time"):
            return write_times(column, decimals_between(times))
        return write_numbers(column.to_numpy()) if column.dtype.kind == "f" else [str(value) for value in column]

    columns = {name: texts(name, column) for name, column in frame.items()}
    return align(columns, [name for name, column in frame.items() if column.dtype.kind == "O"])


def ranges_frame(found, titles=None):
    """Return a table of `Matches` or `Segments`, one row each, counted from 1.

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
    first = list(frame)[: list(frame).index("start")]
    first += [name for name in ("start", "end", "start_time", "end_time") if name in frame]
    return frame[[*first, *(name for name in frame if name not in first)]]


def print_frame(frame, form, about, key, times=None):
    """Print a table.

    Parameters
    ----------
    frame : DataFrame
        The table.
    form : str
        One of `FORMATS`.
    about : dict
        Further keys of the JSON object.
    key : str
        Key of the rows in the JSON object.
    times : array-like, optional
        Times of the recording.
    """
    if form == "table":
        print("\n".join(lines_of(frame, times)))
    elif form == "csv":
        print(_plain(frame).to_csv(index=False, lineterminator="\n"), end="")
    else:
        rows = [dict(zip(frame, map(_for_json, row), strict=True)) for row in _plain(frame).itertuples(index=False)]
        print(json.dumps({**about, key: rows}, indent=1, ensure_ascii=False, allow_nan=False))


def _plain(frame):
    """Return a table with clock times as texts with all decimals, because file formats have no such type."""
    clocks = {name: column.dt.components for name, column in frame.items() if column.dtype.kind == "m"}
    for name, parts in clocks.items():
        digits = 9 if parts["nanoseconds"].any() else 6 if parts["microseconds"].any() else 3
        frame = frame.assign(**{name: [clock_of(v.total_seconds(), digits) for v in frame[name]]})
    return frame


def _for_json(value):
    if hasattr(value, "isoformat"):
        return value.isoformat()
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_writable(path, option):
    """Refuse a file that cannot be written, before the work is done."""
    if path is None:
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir() or Path(path).is_dir():
        raise ValueError(f"{option} must name a file in a folder that exists. Got {path!r}.")
    if not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise ValueError(f"{option} must name a file that may be written. Got {path!r}; name one in another folder.")


def check_picture(path, option):
    """Refuse a picture that cannot be written, before the work is done."""
    if path is None:
        return
    from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    if Path(path).suffix.lstrip(".").lower() not in formats:
        raise ValueError(f"{option} must end in one of .{', .'.join(sorted(formats))}. Got {path!r}.")
    check_writable(path, option)


def counted(found, noun):
    """Return the number of items with the noun in singular or plural."""
    return f"{len(found)} {noun}{'' if len(found) == 1 else ('es' if noun.endswith('ch') else 's')}"


def shortened(text, most):
    """Return a title shortened to fit, keeping its end, which holds the part of the file."""
    return text if len(text) <= most else f"…{text[1 - most :]}"

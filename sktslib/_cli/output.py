"""What commands print: tables of ranges, distances and distances of pairs, as text, CSV or JSON."""

import json
import math
import sys
from pathlib import Path

import numpy as np

FORMATS = ("table", "csv", "json")


def note(text):
    """Say something that is no result."""
    print(text, file=sys.stderr)


def decimals_of(step):
    """How many decimals tell neighbors apart that lie `step` apart."""
    return next((d for d in range(12) if abs(round(step, d) - step) <= 0.1 * step), 12)


def clock_of(seconds):
    """A time of day as text."""
    milliseconds = round(seconds * 1000)
    text = f"{milliseconds // 3_600_000:02d}:{milliseconds // 60_000 % 60:02d}:{milliseconds // 1000 % 60:02d}"
    return text if milliseconds % 1000 == 0 else f"{text}.{milliseconds % 1000:03d}"


def write_times(values, times):
    """Times as text, with as many decimals as the steps between the recording's `times` need."""
    values = values.to_numpy() if getattr(values.dtype, "tz", 0) is None else values
    if getattr(values.dtype, "tz", None) is not None:
        return [v.isoformat(sep=" ", timespec="milliseconds").replace(".000", "") for v in values]
    if values.dtype.kind == "m":
        return [clock_of(v) for v in values / np.timedelta64(1, "s")]
    if values.dtype.kind == "M":
        texts = np.datetime_as_string(values, unit="ms")
        return [text.removesuffix(".000").replace("T", " ") for text in texts.tolist()]
    digits = decimals_of(float(np.median(np.diff(times)))) if len(times) > 1 else 3
    return [f"{value:.{digits}f}" for value in values]


def write_numbers(values):
    """Numbers as text, four digits of the largest and the same decimals for all."""
    finite = [abs(v) for v in values if np.isfinite(v)]
    top = max(finite, default=0.0)
    if top and not 1e-4 <= top < 1e9:
        return [f"{v:.3e}" for v in values]
    digits = max(0, 3 - math.floor(math.log10(top))) if top else 3
    return [f"{v:.{digits}f}" for v in values]


def align(columns):
    """Lines of a table, right-aligned, from a dict of heading -> texts."""
    widths = [max(map(len, [name, *texts])) for name, texts in columns.items()]
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    return [
        "  " + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def lines_of(frame, times):
    """Lines of a table of ranges or distances; `times` are those of the recording."""
    columns = {}
    for name, column in frame.items():
        if name in ("start_time", "end_time"):
            columns[name] = write_times(column, times)
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
    """Clock times as text, which no file knows otherwise."""
    clocks = [name for name, column in frame.items() if column.dtype.kind == "m"]
    return frame.assign(**{name: [clock_of(v.total_seconds()) for v in frame[name]] for name in clocks})


def _for_json(value):
    if hasattr(value, "isoformat"):
        return value.isoformat()
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_writable(path, option):
    """Refuse at once what could not be written after the work."""
    if path is not None and (not Path(path).absolute().parent.is_dir() or Path(path).is_dir()):
        raise ValueError(f"{option} must name a file in a folder that exists. Got {path!r}.")


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

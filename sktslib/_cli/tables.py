"""Files as tables: text of any layout, Parquet, Feather, Excel, OpenDocument, NPY and WAV.

Packed files are unpacked by their endings, and lines that are too long are refused. Spreadsheets, loggers and
``DataFrame.to_csv`` write text tables in many ways, and few say which. Separator, decimal mark, comments, header and
units are therefore found from the first lines: each combination of separator and decimal mark is tried, and the one
wins under which most cells are numbers, dates or clock times. In a workbook the sheet and the start of its table are
found. Times are read from one column or two, as numbers, dates of any common writing or clock times; zones are kept.
"""

import bz2
import csv
import gzip
import io
import lzma
import os
import re
import sys
import warnings
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..utils._names import did_you_mean
from ..utils._times import NAME

LONGEST_LINE = 2**20  # bytes: tens of thousands of columns
LARGE = 2**25  # bytes from which a bar shows how far the reading has come
PACKED = 2**16  # bytes that are unpacked at a time


class _Watched(io.RawIOBase):
    """A file that refuses long lines while it is read.

    Who reads a table holds a line whole, and a column for each of its fields.
    """

    def __init__(self, file, packed):
        self._file, self._packed, self._line, self._length = file, packed, 1, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        count = self._file.readinto(buffer)
        codes = np.frombuffer(buffer, np.uint8, count)
        ends = np.flatnonzero((codes == ord("\n")) | (codes == ord("\r")))
        lengths = np.diff(ends, prepend=-1 - self._length, append=len(codes)) - 1
        wrong = np.flatnonzero(lengths > LONGEST_LINE)
        if len(wrong):
            self._line += np.count_nonzero(codes[: ends[wrong[0] - 1] + 1] == ord("\n")) if wrong[0] else 0
            raise ValueError(
                f"a file must have lines of at most {LONGEST_LINE} bytes, one for each time point. Got a longer one, "
                f"line {self._line}. Write one time point a line, its channels side by side."
            )
        self._line += np.count_nonzero(codes == ord("\n"))
        self._length = int(lengths[-1])
        return count

    def close(self):
        self._file.close()
        self._packed.close()
        super().close()


def contents(path):
    """Return whether a file is packed, and the ending of what it holds, as its name says."""
    kind = Path(path).suffix.lower()
    packed = kind in OPENERS
    return packed, Path(Path(path).stem).suffix.lower() if packed else kind


def opened(path):
    """Return a file to read bytes from, unpacked where its ending says so."""
    exists = os.path.exists(path)
    if (exists or path == "-") and not os.path.isfile(path) and not os.path.isdir(path):
        what = "a pipe" if exists else "the standard input"
        raise ValueError(
            f"a file must be one that can be read twice, which {what} cannot. Write its contents to a file."
        )
    size = os.path.getsize(path)
    kind = Path(path).suffix.lower()
    if kind == ".zip":
        raw = zipfile.ZipFile(path)
        members = [name for name in raw.namelist() if not name.endswith("/")]
        if len(members) != 1:
            raw.close()
            raise ValueError(f"a ZIP file must hold one file. Got {len(members)}. Unpack it.")
        file = raw.open(members[0])
    elif kind in (".7z", ".rar", ".tar", ".tgz"):
        raise ValueError(
            f"files packed as {kind} cannot be read. Unpack it; .gz, .bz2, .xz, .zst and .zip are read as they are."
        )
    else:
        raw = open(path, "rb")
        if size > LARGE and sys.stderr.isatty():
            from tqdm import tqdm

            bar = tqdm(total=size, unit="B", unit_scale=True, desc=Path(path).name, leave=False)
            raw = io.BufferedReader(_Counted(raw, bar))
        file = OPENERS[kind](raw) if kind in OPENERS else raw
    return io.BufferedReader(_Watched(file, raw), 2**18)


class _Counted(io.RawIOBase):
    """A file that moves a bar as it is read."""

    def __init__(self, file, bar):
        self._file, self._bar = file, bar

    def readable(self):
        return True

    def readinto(self, buffer):
        count = self._file.readinto(buffer)
        self._bar.update(count)
        return count

    def close(self):
        self._bar.close()
        self._file.close()
        super().close()


class _Zstandard(io.RawIOBase):
    """A reader of the contents of a Zstandard file. A truncated file is an error, as with the other formats."""

    def __init__(self, file):
        try:
            import zstandard
        except ImportError:
            file.close()
            raise ValueError(
                "files packed as .zst need the package zstandard, which is not installed. Install it (pip install "
                "zstandard), or unpack the file; .gz, .bz2, .xz and .zip are read as they are."
            ) from None
        self._file, self._wrong, self._unpacker = file, zstandard.ZstdError, zstandard.ZstdDecompressor()
        self._frame, self._left = None, memoryview(b"")

    def readable(self):
        return True

    def readinto(self, buffer):
        while not len(self._left):
            packed = self._file.read(PACKED)
            if not packed:
                if self._frame is not None:
                    raise EOFError("the packed file ends before its contents do; copy or download it again")
                return 0
            self._left = memoryview(self._unpacked(packed))
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count

    def _unpacked(self, packed):
        """Unpack bytes, which may belong to several frames."""
        found = []
        try:
            while packed:
                if self._frame is None:
                    self._frame = self._unpacker.decompressobj()
                found.append(self._frame.decompress(packed))
                packed = b""
                if self._frame.eof:
                    packed, self._frame = self._frame.unused_data, None
        except self._wrong as error:
            raise OSError(f"the packed file cannot be unpacked: {error}") from None
        return b"".join(found)

    def close(self):
        self._file.close()
        super().close()


OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": _Zstandard}


SEPARATORS = ("\t", ";", "|", ",", None)  # None: blanks
NONE = "\0"  # a separator that does not occur: one column
DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))"
CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?"
MINUTES = r"\d{1,3}:\d{2}[.,]\d+"  # and seconds with a fraction: the first hour, as PhysioNet writes it
ZONE = r"(?: ?(?:Z|UTC|[+-]\d{2}(?::?\d{2})?))?"
KINDS = {
    "datetime": re.compile(rf"{DATE}[T ]+{CLOCK}{ZONE}"),
    "date": re.compile(DATE),
    "clock": re.compile(rf"{CLOCK}|{MINUTES}"),
}
SPREADSHEET_ERRORS = {"#n/a", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"}
SPREADSHEET_ERRORS |= {"#nv", "#wert!", "#bezug!", "#zahl!"}  # in German
MISSING = {"", "-", "--", "---", "nan", "na", "n/a", "null", "none", "<na>"} | SPREADSHEET_ERRORS
EMPTY_CELLS = sorted({"-", "--", "---", *(error.upper() for error in SPREADSHEET_ERRORS)})  # besides those of pandas
UNIT = re.compile(
    r"[(\[].*[)\]]|-|%|°\s?[CFc]?|deg.*|[cdfhkmnpuµMGT]?(s|sec|Hz|V|A|W|g|G|m|N|Pa|bar|T|C|F|K|L|l|rad|J|min|h)"
    r"(\s?[/·*^²³]?.{0,5})?|[mM]?[Bb]ar|bpm|rpm|1|counts?|a\.?u\.?|raw|yyyy.*|hh.*|mm:.*"
)
SINGLE_QUOTED = re.compile(r"\s*'[^']*'\s*(?:[\t;|,]|$)")  # the first cell of a line
TIME_WORD = re.compile(r"(?i)(date|time|zeit|uhrzeit|datum|heure|temps|fecha|hora|timestamp|t\b)")


class Layout(NamedTuple):
    """Layout of a text table: separators, header, kinds of columns and lines to skip."""

    separator: str | None
    decimal: str
    thousands: str | None
    comment: str | None
    first: int  # number of the first line of data, from 0
    names: list | None  # of the columns; None: there is no header
    kinds: list  # of each column: number, a key of KINDS, or text
    skipped: list  # lines before the data that are neither header nor comment, with their numbers
    quote: str  # what stands around cells


def number_form(decimal, thousands):
    """Return a regular expression of numbers with this decimal mark.

    Groups of thousands count where they cannot be mistaken: with both marks, with two groups, or if the mark is given.
    """
    d, other = re.escape(decimal), re.escape(thousands or {".": ",", ",": "."}[decimal])
    plain = rf"(?:\d+(?:{d}\d*)?|{d}\d+)(?:[eE][+-]?\d+)?"
    groups = rf"[1-9]\d{{0,2}}(?:{other}\d{{3}})+"
    sure = rf"{groups}(?:{d}\d*)?" if thousands else rf"(?:{groups}{d}\d*|[1-9]\d{{0,2}}(?:{other}\d{{3}}){{2,}})"
    return re.compile(rf"[+-]?(?:{plain}|(?P<grouped>{sure})|inf|Inf|infinity)")


def split(line, separator):
    """Return the cells of a line."""
    if separator is None:
        return [cell.strip('"') for cell in re.findall(r'"[^"]*"|\S+', line)]
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])]


def kind_of(cell, numbers):
    """Return the kind of a cell: "number", a key of `KINDS` or "text"; None if the cell is empty."""
    if cell.lower() in MISSING:
        return None
    if numbers.fullmatch(cell):
        return "number"
    return next((kind for kind, form in KINDS.items() if form.fullmatch(cell)), "text")


class _Trial(NamedTuple):
    """The lines under one separator and decimal mark."""

    score: float
    separator: str | None
    numbers: re.Pattern
    decimal: str
    width: int
    rows: list  # (line number, cells)


def _try(lines, separator, decimal, thousands):
    rows = [(number, split(line, separator)) for number, line in lines]
    width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    if width < 2 and separator != NONE:
        return None
    numbers = number_form(decimal, thousands)
    whole = [cells for _, cells in rows if len(cells) == width]
    if separator == "," and width == 2 and decimal == "." and _is_split(whole):
        return None
    # Names and units, rows without any number, say nothing against a mark.
    kinds = [[kind_of(cell, numbers) for cell in cells] for cells in whole]
    spoiled = separator == NONE and decimal == ","  # texts with a comma are cells of a table with commas
    kinds = [
        row
        for row, cells in zip(kinds, whole, strict=True)
        if any(kind not in (None, "text") for kind in row) or (spoiled and "," in cells[0])
    ]
    known = sum(kind != "text" for row in kinds for kind in row) / max(1, sum(map(len, kinds)))
    return _Trial(known * len(whole) / len(rows), separator, numbers, decimal, width, rows)


def _is_split(rows):
    """Return whether two columns are the digits before and behind a decimal comma.

    Such columns have as many digits in each row, some after a zero.
    """
    second = [cells[1] for cells in rows]
    return (
        len({len(cell) for cell in second}) == 1
        and all(map(str.isdigit, second))
        and any(c[0] == "0" for c in second)
        and len(second[0]) > 1
    )


def layout_of(lines, *, separator=None, decimal=None, thousands=None, header=None):
    """Return the layout of a table whose first lines these are, or None if they hold no row of numbers.

    Parameters
    ----------
    lines : list of str
        The first lines, without line ends.
    separator, decimal, thousands : str, optional
        What is known of it.
    header : int, optional
        The number of the line with the names, from 1; 0: there is none.

    Returns
    -------
    Layout or None
    """
    quote = "'" if any(SINGLE_QUOTED.match(line) for line in lines) and not any('"' in line for line in lines) else '"'
    written, lines = lines, [line.replace(quote, '"') for line in lines]
    content = [(k, line) for k, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
    content = content if header is None else [(k, line) for k, line in content if k >= header]
    if not content:
        return None
    marks = (decimal,) if decimal else (".", ",")
    given = {"tab": "\t", "\\t": "\t", "space": None, " ": None}.get(separator, separator)
    separators = (*SEPARATORS, NONE) if separator is None else (given, NONE)
    trials = [_try(content, s, d, thousands) for s in separators for d in marks if s != d]
    best = max((trial for trial in trials if trial is not None), key=lambda trial: trial.score, default=None)
    if best is None:
        return None
    kinds = _kinds(best)
    first = next((at for at, (_, cells) in enumerate(best.rows) if _is_data(cells, kinds, best)), None)
    if first is None:
        return None
    if header is None:
        first, names, skipped = _head(best, first, kinds, lines)
    else:
        first, skipped = 0, []
        names = split(lines[header - 1].lstrip("# "), best.separator) if 0 < header <= len(lines) else None
    start = best.rows[first][0]
    before = any(line.lstrip().startswith("#") for line in lines)
    within = any("#" in line.lstrip()[1:] for _, line in content)
    found = [best.numbers.fullmatch(cell) for _, row in best.rows[first:] for cell in row]
    if thousands is None and any(match and match["grouped"] for match in found):
        thousands = {".": ",", ",": "."}[best.decimal]
    if names is not None and len(names) == best.width - 1:  # R leaves out the name of the index; others end in a mark
        ends_empty = all(cells[-1] == "" for _, cells in best.rows[first:] if len(cells) == best.width)
        names = [*names, ""] if ends_empty else ["", *names]
    separator = ";" if best.separator == NONE else best.separator
    comment = "#" if before and not within else None
    skipped = [(k, written[k]) for k, _ in skipped]
    return Layout(separator, best.decimal, thousands, comment, start, names, kinds, skipped, quote)


def _kinds(trial):
    """Return the kind of most cells of each column."""
    columns = zip(*(cells for _, cells in trial.rows if len(cells) == trial.width), strict=True)
    kinds = []
    for column in columns:
        counts = Counter(kind for cell in column if (kind := kind_of(cell, trial.numbers)) is not None)
        kinds.append(counts.most_common(1)[0][0] if counts else "number")
    # Names in a header of a few rows must not outvote the numbers below them.
    last = trial.rows[-1][1]
    if len(trial.rows) < 4 and len(last) == trial.width:
        kinds = [kind_of(cell, trial.numbers) or kind for cell, kind in zip(last, kinds, strict=True)]
    return kinds


def _is_data(cells, kinds, trial):
    if len(cells) != trial.width:
        return False
    found = [kind_of(cell, trial.numbers) for cell in cells]
    fits = all(a is None or b == "text" or a == b for a, b in zip(found, kinds, strict=True))
    return fits and any(a not in (None, "text") for a in found)


def _head(trial, first, kinds, lines):
    """Return the first row of data, the names of the columns, and the lines before that are skipped."""
    cells = trial.rows[first][1]
    if _is_numbered(cells, trial, first):  # the header of a DataFrame whose columns are numbers
        return first + 1, cells, [(k, lines[k]) for k, _ in trial.rows[:first]]
    widths = (trial.width, trial.width - 1) if trial.width > 2 else (trial.width,)
    # Rows of names: of about as many cells as the data, and no number among them.
    names = [
        at
        for at, (_, row) in enumerate(trial.rows[:first])
        if len(row) in widths and not any(kind_of(cell, trial.numbers) not in (None, "text") for cell in row)
    ]
    if not names:
        comments = [k for k in range(trial.rows[first][0]) if lines[k].lstrip().startswith("#")]
        inside = [split(lines[k].lstrip("# "), trial.separator) for k in comments[-1:]]
        fits = [row for row in inside if len(row) == trial.width and not any(_has_number(c, trial) for c in row)]
        # numpy.savetxt writes a # before the names.
        return first, fits[0] if fits else None, [(k, lines[k]) for k, _ in trial.rows[:first]]
    chosen = names[-1]
    above = trial.rows[chosen - 1] if chosen else (-2, [])
    if chosen - 1 in names and above[0] == trial.rows[chosen][0] - 1:
        units = all(UNIT.fullmatch(cell) for cell in trial.rows[chosen][1] if cell)
        timed = any(TIME_WORD.match(cell) for cell in above[1])
        if units or (timed and not any(TIME_WORD.match(cell) for cell in trial.rows[chosen][1])):
            chosen -= 1
    # What stands between the names and the first whole row, and holds a number, is data that somebody spoiled.
    spoiled = (at for at in range(chosen + 1, first) if any(_has_number(cell, trial) for cell in trial.rows[at][1]))
    begin = next(spoiled, first)
    skipped = [(k, lines[k]) for at, (k, _) in enumerate(trial.rows[:begin]) if at != chosen]
    return begin, trial.rows[chosen][1], skipped


def _has_number(cell, trial):
    return kind_of(cell, trial.numbers) not in (None, "text")


def _is_numbered(cells, trial, first):
    """Return whether a row counts 0, 1, 2, ... over columns of other numbers, as a nameless DataFrame names them."""
    following = next((row for _, row in trial.rows[first + 1 :] if len(row) == trial.width), None)
    if following is None or trial.width < 2:
        return False
    if cells[0] == "" and cells[1:] == [str(k) for k in range(trial.width - 1)]:
        return following[0] != ""
    return cells == [str(k) for k in range(trial.width)] and all("." in cell for cell in following)


OFFSET = re.compile(rf".*\d{ZONE.removesuffix('?')}")
MONTH_FIRST = "month/day/year (--day-first: day/month/year)"
SEVERAL = "the times have several offsets from UTC"
HOW_DATES = "numbers, clock times, or dates such as 2024-05-01 12:30:05.25 or 01.05.2024 12:30"


def kind_of_column(column):
    """Return whether a column holds numbers, dates, clock times or text, by its first cells."""
    if column.dtype.kind in "biuf":
        return "number"
    if column.dtype.kind in "M" or hasattr(column.dtype, "tz"):
        # Spreadsheets write a date as its midnight, which may have a clock time beside it.
        return "date" if len(column) and (column.dropna() == column.dropna().dt.normalize()).all() else "datetime"
    if column.dtype.kind == "m":
        return "clock"
    cells = [str(cell).strip() for cell in column.dropna().iloc[:20]]
    for kind, form in KINDS.items():
        if cells and all(form.fullmatch(cell) for cell in cells):
            return kind
    if cells and all(hasattr(cell, "isoformat") for cell in column.dropna().iloc[:20]):  # Excel's cells
        return {"date": "date", "time": "clock"}.get(type(column.dropna().iloc[0]).__name__, "datetime")
    return "text"


def time_columns(frame):
    """Return the names of the columns that hold times: none, one, or a date and a clock time."""
    kinds = {name: kind_of_column(frame[name]) for name in frame}
    dates = [name for name, kind in kinds.items() if kind == "date"]
    clocks = [name for name, kind in kinds.items() if kind == "clock"]
    if dates and clocks:
        return [dates[0], clocks[0]]
    named = [name for name in kinds if NAME.fullmatch(name)]
    named = named or [name for name, kind in kinds.items() if name == "" and kind in ("datetime", "date")]
    dated = [name for name in named if kinds[name] not in ("number", "text")]
    numbers = [name for name in named if kinds[name] == "number"]
    alone = [name for name, kind in kinds.items() if kind not in ("number", "text")]
    # A text that is named as a time comes last, and is refused unless it is a date of an unusual writing.
    return (dated or numbers or (alone if len(alone) == 1 else []) or named)[:1]


def times_of_columns(columns, option, reading):
    """Return the times that one or two columns hold, in the zone that is named, and what there is to say about them.

    Parameters
    ----------
    columns : list of Series
        One column, or a date and a clock time.
    option : str
        What they were named by, for messages.
    reading : Reading
        How to read it. `day_first`: whether 02/03/2024 is the second of March, None as far as the column shows.
        `time_zone`: the zone of dates; those that have another are converted. `epoch`: the unit of numbers that count
        from 1970.

    Returns
    -------
    tuple of (ndarray, DatetimeIndex or TimedeltaIndex, list of str)
    """
    import pandas as pd

    time_zone = reading.time_zone
    times, notes = _as_written(columns, option, reading.day_first)
    if reading.epoch is not None and not isinstance(times, pd.Index):
        times = _since_1970(columns[0], option, reading.epoch)
    if time_zone is None:
        return times, notes
    dates = times if isinstance(times, pd.DatetimeIndex) else pd.DatetimeIndex([])  # a zone may be wrong without any
    try:
        zoned = dates.tz_localize(time_zone) if dates.tz is None else dates.tz_convert(time_zone)
    except (ValueError, LookupError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(
            f"--time-zone must name a zone in which the times of {option} exist once, such as Europe/Berlin. Got "
            f"{time_zone!r}: {reason}."
        ) from None
    if dates is not times:
        return times, [*notes, f"the times of {option} are no dates: --time-zone says nothing of them"]
    return zoned, [note for note in notes if SEVERAL not in note]


def _as_written(columns, option, day_first):
    """Return the times of one or two columns, in the zone that they are written in."""
    import pandas as pd

    name = " and ".join(repr(column.name) for column in columns)
    missing = next((k for column in columns for k in np.flatnonzero(column.isna())[:1]), None)
    if missing is not None:
        raise ValueError(
            f"{option}: the column {name} must hold a time in each row. Got none in row {missing + 1}. Take "
            "that row out, or count samples with --time-column none."
        )
    column = columns[0]
    if len(columns) == 2:
        day = column.dt.strftime("%Y-%m-%d") if column.dtype.kind == "M" else column.astype(str)
        column = pd.Series(day.str.strip() + " " + _with_hours(columns[1].astype(str).str.strip()), name=name)
    kind = kind_of_column(column)
    if kind == "number":
        return column.to_numpy(np.float64), []
    try:
        if column.dtype.kind == "m":
            return pd.TimedeltaIndex(column), []
        if column.dtype.kind == "M" or hasattr(column.dtype, "tz"):
            return pd.DatetimeIndex(column), []
        texts = column.astype(str).str.strip().str.replace(",", ".", regex=False)
        if kind == "clock":
            texts = _with_hours(texts)
            short = texts.str.count(":") == 1
            return pd.TimedeltaIndex(pd.to_timedelta(texts.where(~short, texts + ":00"))), []
        return _dates(texts, day_first)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(
            f"{option}: the column {name} must hold {HOW_DATES}. Got {_wrong(column)}. Correct that row, or name "
            "another column with --time-column, or none."
        ) from None


def _since_1970(column, option, unit):
    import pandas as pd

    try:
        return pd.DatetimeIndex(pd.to_datetime(column, unit=unit, utc=True))
    except (ValueError, OverflowError):
        raise ValueError(
            f"{option}: the column {column.name!r} must hold {unit} since 1970, as --epoch says. Got numbers from "
            f"{column.min()} to {column.max()}, beyond all dates. Name another unit, or leave --epoch out."
        ) from None


def _with_hours(clocks):
    """Return clock times that all have hours, 0 where minutes and seconds stand alone."""
    return clocks.mask(clocks.str.fullmatch(MINUTES), "0:" + clocks)


def _wrong(column):
    """Return the first cell that is not like a time."""
    forms = [*KINDS.values()]
    cells = ((row, str(cell).strip()) for row, cell in enumerate(column, 1))
    row, cell = next(((r, c) for r, c in cells if not any(form.fullmatch(c) for form in forms)), (1, column.iloc[0]))
    return f"{str(cell)!r} in row {row}"


def _dates(texts, day_first):
    """Return the dates from texts, in their own zone where all have the same."""
    import pandas as pd

    notes = []
    first = re.fullmatch(r"(\d{1,2})([-/.])(\d{1,2})[-/.].*", texts.iloc[0])
    if first is not None and day_first is None:
        day_first = _day_first(texts, first[2])
    zone = OFFSET.fullmatch(texts.iloc[0])
    offset = zone and re.search(rf"{ZONE}$", texts.iloc[0])[0]
    arguments = {"utc": True} if offset else {}
    index = _parsed(texts, first is None, bool(day_first), arguments)
    if first is not None and day_first is None:
        other = _parsed(texts, False, True, arguments)
        day_first = _unevenness(other) < _unevenness(index)
        index = other if day_first else index
        order = "day/month/year (--no-day-first: month/day/year)" if day_first else MONTH_FIRST
        notes.append(f"dates were read as {order}")
    if offset and texts.str.endswith(offset).all():
        index = index.tz_convert(pd.Timestamp(texts.iloc[0]).tz)
    elif offset:
        notes.append(f"{SEVERAL} and are shown in UTC (--time-zone names a zone)")
    return index, notes


def _parsed(texts, iso, day_first, arguments):
    """Return the texts as dates; those that are not all written alike are read one by one."""
    import pandas as pd

    order = {"format": "ISO8601"} if iso else {"dayfirst": day_first}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # pandas tells that it looks at each cell
        try:
            dates = pd.to_datetime(texts, **order, **arguments)
        except ValueError:
            dates = pd.to_datetime(texts, **{**order, "format": "mixed"}, **arguments)
    return pd.DatetimeIndex(dates)


def _unevenness(index):
    """Return the largest step over the smallest; infinite where the dates do not increase."""
    steps = np.diff(index.asi8)
    return steps.max() / steps.min() if len(steps) and steps.min() > 0 else np.inf


def _day_first(texts, mark):
    """Return whether the day comes before the month; None if it does not show."""
    fields = texts.str.extract(r"^(\d{1,2})[-/.](\d{1,2})").astype(float)
    if (fields[0] > 12).any() or mark == ".":
        return True
    return False if (fields[1] > 12).any() else None


HEAD = 500  # rows by which the table is recognized
CELLS = "\t"  # between the cells of a row that is looked at as a line of text
NUMBERS = number_form(".", None)


def read_sheet(path, sheet, header):
    """Return the table in a sheet.

    Parameters
    ----------
    path : str
        The file.
    sheet : str, optional
        Name of the sheet, or its number from 1. Default: the first. A file that has but one needs none of that name.
    header : int, optional
        The row of the names, from 1; 0: there is none. Default: found as in a text.

    Returns
    -------
    tuple of (DataFrame, int, bool, list of str)
        The table, the row that its data begin with, whether the file names its columns, and what there is to say.
    """
    import pandas as pd

    try:
        file = pd.ExcelFile(path)
    except ValueError as error:
        if "format cannot be determined" not in str(error):
            raise
        raise ValueError(
            "the file must be a spreadsheet, as its ending says. Got something else. Save it anew."
        ) from None
    with file:
        names = file.sheet_names
        name, notes = _chosen(names, sheet)
        frame = pd.read_excel(file, sheet_name=name, header=None, na_values=EMPTY_CELLS)
    lines = [CELLS.join(map(_text, row)) for row in frame.iloc[:HEAD].itertuples(index=False)]
    if header is None:
        notes += _join_groups(lines)
    layout = layout_of(lines, separator=CELLS, decimal=".", header=header)
    if layout is None:
        raise ValueError(
            f"the sheet {name!r} must hold at least one row of numbers. Got none in its first rows. The file has "
            f"{_listed(names)}; --sheet names another one, --header the row of its header."
        )
    for number, line in layout.skipped:
        cells = " ".join(line.split())
        notes.append(f"row {number + 1} is neither names nor numbers and was skipped: {cells[:60]!r}")
    table = frame.iloc[layout.first :].reset_index(drop=True).infer_objects()
    # A column of which no cell holds anything is room between tables.
    filled = [k for k in range(table.shape[1]) if table[k].notna().any() or (layout.names and layout.names[k])]
    named = layout.names or [str(k + 1) for k in range(table.shape[1])]
    table = table[filled].set_axis([named[k] for k in filled], axis=1)
    return table, layout.first + 1, layout.names is not None, notes


def _chosen(names, wanted):
    """Return the name of the sheet to read, and what there is to say about it."""
    listed = _listed(names)
    if wanted is None:
        more = f"the file has the sheets {listed}; the first was read (--sheet names another)"
        return names[0], [more] if len(names) > 1 else []
    if wanted in names:
        return wanted, []
    if wanted.isdigit() and 0 < int(wanted) <= len(names):
        return names[int(wanted) - 1], []
    if len(names) == 1:
        return names[0], [f"the file has no sheet {wanted!r}; its only one, {listed}, was read"]
    raise ValueError(
        f"--sheet must name a sheet, or its number from 1. Got {wanted!r}; the file has {listed}."
        f"{did_you_mean(wanted, names)}"
    )


def _listed(names):
    return ", ".join(map(repr, names[:12]))


def _text(cell):
    """Return a cell as it is written in a text."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool | np.bool_) or (isinstance(cell, float) and cell.is_integer()):
        return str(int(cell))
    if hasattr(cell, "total_seconds"):  # a duration
        seconds = cell.total_seconds()
        return f"{int(seconds // 3600) % 100:02d}:{int(seconds // 60) % 60:02d}:{int(seconds % 60):02d}"
    return re.sub(r'[\s"]+', " ", str(cell)).strip()


def _join_groups(lines):
    """Write names of groups, in merged cells above the names of columns, before these: ``left x``, ``left y``.

    Only the first of merged cells holds anything, so the row of groups is empty where a name stands below. Returns
    what there is to say.
    """
    rows = [line.split(CELLS) for line in lines]
    data = next((k for k, row in enumerate(rows) if any(_is_value(cell) for cell in row)), 0)
    if data < 2:
        return []
    groups, names = rows[data - 2], rows[data - 1]
    beside = [k for k, (group, name) in enumerate(zip(groups, names, strict=True)) if name and not group]
    if sum(map(bool, groups)) < 2 or not beside:
        return []
    above, joined = "", []
    for group, name in zip(groups, names, strict=True):
        above = group or above
        joined.append(f"{above} {name}".strip() if name else group)
        if not name:  # merged with the cell below, or a name of its own
            above = ""
    lines[data - 2], lines[data - 1] = "", CELLS.join(joined)
    return [f"names of groups in row {data - 1} were written before those of columns: {joined[beside[0]]!r}"]


def _is_value(cell):
    return kind_of(cell, NUMBERS) not in (None, "text")


MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"))
MARKS += ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
FORMATS = "CSV and other text, Parquet, Feather, Excel, NPY, NPZ of one array or WAV"


@dataclass(frozen=True)
class Reading:
    """Options for reading files; None is to be found out from the file."""

    time_column: str | None = None
    weight_column: str | None = None
    columns: str | None = None
    rate: float | None = None
    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    header: int | None = None
    encoding: str | None = None
    day_first: bool | None = None
    time_zone: str | None = None
    epoch: str | None = None
    sheet: str | None = None
    transpose: bool = False


@dataclass
class Table:
    """A table that was read from a file, all of its columns named by texts."""

    path: str
    frame: object  # DataFrame, or an array (n, columns) that is not in memory
    names: list
    rate: float | None = None  # samples per second, where the file says so
    first_line: int = 0  # of the data in a text file, from 1
    header: bool = True  # whether the file names its columns
    notes: list = field(default_factory=list)  # what was guessed or left out


def read_table(path, reading, option):
    """Read a file.

    Parameters
    ----------
    path : str
        The file; its ending says what it is, anything unknown being text.
    reading : Reading
        How to read it.
    option : str
        What it was given to, for messages.

    Returns
    -------
    Table
    """
    import pandas as pd

    packed, kind = contents(path)
    readers = {".npy": _read_npy, ".wav": _read_wav, ".xlsx": _read_excel, ".xls": _read_excel, ".ods": _read_excel}
    readers |= {
        ".npz": _read_npz,
        ".json": _refuse_json,
        ".jsonl": _refuse_json,
        ".parquet": _read_parquet,
        ".pq": _read_parquet,
        ".feather": _read_feather,
        ".arrow": _read_feather,
    }
    reader = readers.get(kind, _read_text)
    if packed and os.path.exists(path) and (reader not in (_read_text, _refuse_json) or kind == ".tar"):
        raise ValueError(f"{option} must name a table. Got {path!r}; of packed files only text is read. Unpack it.")
    try:
        return reader(path, reading)
    except ImportError as error:
        raise ValueError(
            f"{option}: {path!r} needs a package that is not installed ({' '.join(str(error).split())[:120]}). Install "
            "it, or save the table as CSV."
        ) from None
    except UnicodeDecodeError as error:
        if error.encoding == "charmap":  # the last that was tried
            raise ValueError(
                f"{option} must name a table. Got {path!r}, which is no text. Files are {FORMATS}. Save another "
                "(EDF, WFDB, MATLAB, ...) as one of these, in Python for example by numpy.save."
            ) from None
        raise ValueError(
            f"{option} must name a readable file. Got {path!r}, which is not {error.encoding}: name its encoding, such "
            "as --encoding cp1252."
        ) from None
    except pd.errors.ParserError as error:
        reason = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
        raise ValueError(
            f"{option} must name a readable file. Got {path!r}: {reason}, counted from the first row of data. Each row "
            "must have as many cells as the first."
        ) from None
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise ValueError(f"{option} must name a readable file. Got {path!r}: {reason}.") from None
    except ValueError as error:
        raise ValueError(f"{option}: {path!r}: {error}") from None


# --------------------------------------------------------------------------------------------------------------- text
def _read_text(path, reading):
    import pandas as pd

    with opened(path) as file:
        encoding, noted = _encoding(file, reading.encoding)
        notes = [noted] if noted else []
        text = io.TextIOWrapper(file, encoding=encoding, newline=None)
        lines = [line.rstrip("\n") for _, line in zip(range(HEAD), text, strict=False)]
        layout = layout_of(
            lines,
            separator=reading.separator,
            decimal=reading.decimal,
            thousands=reading.thousands,
            header=reading.header,
        )
    if layout is None:
        raise ValueError(
            "the file must hold at least one row of numbers. Got none in its first lines. Its separator and decimal "
            "mark may be named with --separator and --decimal, the line of its header with --header."
        )
    names = _unique(layout.names or [str(k + 1) for k in range(len(layout.kinds))], notes)
    for number, line in layout.skipped:
        notes.append(f"line {number + 1} is neither names nor numbers and was skipped: {line.strip()[:60]!r}")
    texts = {k: "str" for k, kind in enumerate(layout.kinds) if kind != "number"}
    with opened(path) as file, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        warnings.simplefilter(
            "ignore", pd.errors.DtypeWarning
        )  # a column of numbers and texts is refused, with the row
        text = io.TextIOWrapper(file, encoding=encoding, newline=None)
        for _ in range(layout.first):
            text.readline()
        frame = pd.read_csv(
            text,
            sep=r"\s+" if layout.separator is None else layout.separator,
            decimal=layout.decimal,
            thousands=layout.thousands,
            quotechar=layout.quote,
            comment=layout.comment,
            header=None,
            names=range(len(names)),
            index_col=False,
            dtype=texts,
            skipinitialspace=True,
            na_values=EMPTY_CELLS,
        )
    for k, kind in enumerate(layout.kinds):
        if kind == "number" and frame[k].dtype.kind not in "biuf":  # there is a text among the numbers
            frame[k] = _numbers_and_texts(frame[k], layout)
    frame.columns = names
    frame = _without_empty_end(frame, notes)
    return Table(path, frame, names, first_line=layout.first + 1, header=layout.names is not None, notes=notes)


def _numbers_and_texts(column, layout):
    """Return a column in which cells like numbers are such; pandas leaves all of them texts for the sake of one."""
    form = number_form(layout.decimal, layout.thousands)

    def converted(cell):
        if not isinstance(cell, str) or not form.fullmatch(cell.strip()):
            return cell
        return float(cell.replace(layout.thousands or "\0", "").replace(layout.decimal, "."))

    return column.astype(object).map(converted)


def _without_empty_end(frame, notes):
    """Return the rows up to the last that holds anything: spreadsheets write those below it, too."""
    full = np.flatnonzero(frame.notna().any(axis=1).to_numpy())
    empty = len(frame) - (full[-1] + 1 if len(full) else 0)
    if not empty or empty == len(frame):
        return frame
    notes.append(f"{empty} empty row{'' if empty == 1 else 's'} at the end left out")
    return frame.iloc[: len(frame) - empty]


def _unique(names, notes):
    """Return names without what numpy.savetxt puts before them, no two alike."""
    found = []
    for name in (str(name).strip().lstrip("#").strip() for name in names):
        count = sum(other == name or other.startswith(f"{name}.") for other in found)
        if name and name in found:
            notes.append(f"another column named {name!r} is called {f'{name}.{count}'!r}")
            name = f"{name}.{count}"
        found.append(name)
    return found


def _encoding(file, given):
    """Return the encoding of a text, and what there is to say about it."""
    if given is not None:
        try:
            "".encode(given)
        except LookupError:
            raise ValueError(f"--encoding must be a known encoding, such as utf-8 or cp1252. Got {given!r}.") from None
        return given, None
    head = file.peek(2**16)[: 2**16]
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding, None
    zeros = [head[k::2].count(0) for k in (0, 1)]
    if sum(zeros) > len(head) / 4 and 10 * min(zeros) < max(zeros):  # letters and digits are zero in every second byte
        return ("utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"), None
    if 0 in head[:512]:  # MATLAB's files, HDF5 and the like, whose bytes may all be letters otherwise
        raise UnicodeDecodeError("charmap", head, head.index(0), head.index(0) + 1, "no letter")
    try:
        head[: head.rfind(b"\n") + 1].decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252", "the text is not UTF-8 and was read as cp1252 (--encoding names another)"
    return "utf-8", None


# ------------------------------------------------------------------------------------------------------ other formats
def _read_parquet(path, reading):
    import pandas as pd

    return _of_frame(path, pd.read_parquet(path))


def _read_feather(path, reading):
    import pandas as pd

    return _of_frame(path, pd.read_feather(path))


def _read_excel(path, reading):
    frame, first, header, notes = read_sheet(path, reading.sheet, reading.header)
    names = _unique(frame.columns, notes)
    frame = _without_empty_end(frame.set_axis(names, axis=1), notes)
    return Table(path, frame, names, first_line=first, header=header, notes=notes)


def _of_frame(path, frame):
    """Return a table of a DataFrame; an index that says something becomes a column."""
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(names=frame.index.name or "")
    notes = []
    frame = frame.set_axis(_unique(frame.columns, notes), axis=1)
    if not len(frame):
        raise ValueError("the file must hold at least one row of numbers. Got none.")
    return Table(path, frame, list(frame.columns), notes=notes)


def _read_npy(path, reading):
    return _of_array(path, np.load(path, mmap_mode="r", allow_pickle=False), reading)


def _read_npz(path, reading):
    with np.load(path, allow_pickle=False) as arrays:
        if len(arrays.files) == 1:
            return _of_array(path, arrays[arrays.files[0]], reading)
        names = ", ".join(arrays.files[:12])
    raise ValueError(
        f"the NPZ file must hold one array. Got {names or 'none'}. Save one with numpy.save as an NPY file."
    )


def _of_array(path, array, reading):
    if array.dtype.names is not None:
        import pandas as pd

        return _of_frame(path, pd.DataFrame.from_records(np.asarray(array)))
    if array.ndim not in (1, 2) or array.dtype.kind not in "biuf" or not array.size:
        raise ValueError(
            f"the array must hold numbers and have shape (n,) or (n, channels). Got {array.dtype}, shape {array.shape}."
        )
    array = array.reshape(len(array), -1)
    notes = []
    if reading.transpose:
        array = array.T
    elif array.shape[0] < array.shape[1]:
        notes.append(
            f"{array.shape[1]} channels of {array.shape[0]} samples; if its rows are the channels: --transpose"
        )
    return Table(path, array, [str(k + 1) for k in range(array.shape[1])], notes=notes)


def _refuse_json(path, reading):
    raise ValueError(
        f"the file must be a table. Got JSON, which may hold anything. Files are {FORMATS}. Save it as one of these, "
        "in Python for example by pandas.read_json and DataFrame.to_csv."
    )


def _read_wav(path, reading):
    from scipy.io import wavfile

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wavfile.WavFileWarning)  # chunks of other things than samples
        rate, array = wavfile.read(path)
    array = array.reshape(len(array), -1)
    return Table(path, array, [str(k + 1) for k in range(array.shape[1])], rate=float(rate))

"""Files as tables: text of any layout and encoding, Parquet, Feather, Excel, OpenDocument and NPY of records.

Compressed texts are unpacked according to their suffix. In a workbook, the sheet and the start of its table are
detected.
"""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import warnings
import zipfile
from collections import deque
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from glob import glob
from itertools import islice, takewhile
from pathlib import Path

import numpy as np

from ..utils._names import did_you_mean, warn
from ..utils._times import Sampling
from ..utils.validation import refused
from ._layout import EMPTY_CELLS, WORDS, kind_of, layout_of, number_form, split
from ._library import MixedRates, on_one_line, unique
from ._read import check_format, read, reader_of

FORMATS = "CSV and other text, Parquet, Feather, Excel, NPY, NPZ or WAV"
LONGEST_LINE = 2**20  # characters, enough for tens of thousands of columns
HEAD = 500  # rows from which the layout is detected
FOOT = 50  # most lines of a footer
HELP = "If there is one, name separator=..., decimal=..., or the line with the names of its columns, header=...."
NO_NUMBERS = f"the file must hold at least one row of numbers. Got none in its first lines. {HELP}"


@dataclass(frozen=True)
class Reading:
    """Options for reading files; None means to detect it from the file."""

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
    time_unit: str | None = None
    epoch: str | None = None
    missing: str | None = None
    sheet: str | None = None
    transpose: bool = False

    @property
    def words(self):
        """The words for missing values."""
        return split_names(self.missing or "")

    @property
    def codes(self):
        """The numbers among these words."""
        return [float(word) for word in self.words if number_form(".", None).fullmatch(word)]


@dataclass
class Table:
    """A table read from a file; its columns are named by texts, blank ones if they have no name."""

    path: str
    frame: object  # DataFrame, or an array (n, columns) that is not in memory
    names: list
    first_line: int = 0  # line number of the first data line in a text file, from 1
    header: bool = True  # whether the file names its columns
    marks: tuple = (".", "")  # marks of decimals and of thousands in cells that are texts
    notes: list = field(default_factory=list)  # what was guessed or left out
    times: object = None  # ndarray, Sampling or EvenTimes, if the file has times outside of its columns


def split_names(text, names=()):
    """Return names separated by commas; a text that is one of `names`, which may hold a comma, is one name."""
    return [text] if text in names else [name.strip() for name in text.split(",") if name.strip()]


def listed(names, count=12):
    """Return names as a text for a message."""
    names = [str(name) for name in names]
    return ", ".join(names[:count]) + (f" and {len(names) - count} more" * (len(names) > count)) if names else "none"


def source_of(path, reading, option):
    """Read a file as a table or a recording.

    Parameters
    ----------
    path : str
        The file; its ending says what it is, anything unknown being text.
    reading : Reading
        How to read it.
    option : str
        The option or argument that names it, for messages.

    Returns
    -------
    Table or Recording
        A recording, for a file that is not a table.
    """
    import pandas as pd

    (packed, kind), (opener, name) = contents(path), reader_of(path)
    of_recording = partial(_read_recording, reader=opener, name=name)
    reader = KINDS.get(kind) or (read_text if name in ("table", None) else of_recording)
    readable = f"{option} must name a readable file. Got {path!r}"
    if packed and os.path.exists(path) and name != "refused" and (reader is not read_text or kind in NOT_TEXT):
        raise ValueError(f"{option} must name a table. Got {path!r}; of packed files only text is read. Unpack it.")
    try:
        return reader(path, reading)
    except ImportError as error:
        needs = f"a package that is not installed: {on_one_line(error)}"
        raise ValueError(f"{option}: {path!r} needs {needs}. Or save the table as CSV.") from None
    except UnicodeDecodeError as error:
        if error.encoding == "charmap":  # the last encoding that was tried
            way_out = f"Give it the ending of its format, or save it as {FORMATS}, in Python for example by numpy.save."
            what = "which is not text and does not begin like any other known file"
            raise ValueError(f"{readable}, {what}. {way_out}") from None
        raise ValueError(f"{readable}, which is not {error.encoding}: name it, such as encoding=cp1252.") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        reason = on_one_line(error).removeprefix("Error tokenizing data. C error: ")
        raise ValueError(f"{readable}: {reason}. Each row must have as many cells as the first.") from None
    except ValueError as error:
        message = str(error).removeprefix("In ").removeprefix(f"{path}: ").replace("channels=", "columns=")
        raise ValueError(f"{option}: {path!r}: {message}") from None
    except Exception as error:  # of any kind, because unpacking a damaged file may raise any
        names = map(os.path.basename, glob(os.path.join(os.path.dirname(path), "*")))
        near = did_you_mean(os.path.basename(path), names) if isinstance(error, FileNotFoundError) else ""
        reason = on_one_line(error).removeprefix(f"In {path}: ")
        raise ValueError(f"{readable}: {reason}.{near}") from None


# ---------------------------------------------------------------------------------------------------------------- bytes
NOT_UNPACKED = (".7z", ".rar", ".tar", ".tgz", ".zst")


def _member(file):
    """Return the only file in a ZIP file."""
    archive = zipfile.ZipFile(file)
    members = [name for name in archive.namelist() if not name.endswith("/")]
    if len(members) != 1:
        raise ValueError(f"a ZIP file must hold one file. Got {len(members)}. Unpack it.")
    return archive.open(members[0])


UNPACKERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zip": _member}


def contents(path):
    """Return whether a file is compressed, and the suffix of its content, judged by its name."""
    packed = Path(path).suffix.lower() in UNPACKERS
    return packed, Path(Path(path).stem if packed else path).suffix.lower()


@contextmanager
def opened(path, encoding=None):
    """Return a file opened for bytes, or with an encoding for text; it is unpacked according to its suffix."""
    kind = Path(path).suffix.lower()
    if not os.path.isfile(path) and not os.path.isdir(path) and (path == "-" or os.path.exists(path)):
        raise ValueError("a pipe or the standard input cannot be read twice. Write its contents to a file.")
    if kind in NOT_UNPACKED and os.path.exists(path):
        raise ValueError(f"files packed as {kind} cannot be read. Unpack it, or pack it as {' '.join(UNPACKERS)}.")
    with open(path, "rb") as file, UNPACKERS.get(kind, nullcontext)(file) as unpacked:
        buffered = io.BufferedReader(unpacked, 2**18)
        yield buffered if encoding is None else io.TextIOWrapper(buffered, encoding=encoding)


MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32"}
MARKS |= {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def encoding_of(file, given):
    """Return the encoding of a text, and notes about it."""
    if given is not None:
        try:
            return codecs.lookup(given).name, []
        except LookupError:
            raise refused("encoding", "be known, such as utf-8 or cp1252", repr(given)) from None
    head = file.peek(2**16)[: 2**16]
    if marked := [encoding for mark, encoding in MARKS.items() if head.startswith(mark)]:
        return marked[0], []
    zeros = [head[k::2].count(0) for k in (0, 1)]
    if sum(zeros) > len(head) / 4 and 10 * min(zeros) < max(zeros):  # UTF-16: every second byte of letters is zero
        return ("utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"), []
    if 0 in head[:512]:  # binary files such as MATLAB's or HDF5, whose other bytes may all be letters
        raise UnicodeDecodeError("charmap", head, head.index(0), head.index(0) + 1, "no letter")
    try:
        head[: head.rfind(b"\n") + 1].decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252", ["the text is not UTF-8 and was read as cp1252 (encoding=... names another)"]
    return "utf-8", []


# ---------------------------------------------------------------------------------------------------------------- texts
def read_text(path, reading):
    """Read a table from a text file; what `reading` leaves open is detected from the first lines."""
    with opened(path) as file:
        encoding, notes = encoding_of(file, reading.encoding)
    return table_of(path, partial(opened, path, encoding), reading, notes)


def table_of(path, source, reading, notes, row="line"):
    """Return the table in a text that `source` opens, without the empty rows that spreadsheets write at the end."""
    import pandas as pd

    with source() as text:
        lines = list(_first_lines(text))
    check_format(path, "\n".join(lines[:50]).encode())
    known = {name: getattr(reading, name) for name in ("separator", "decimal", "thousands", "header")}
    layout = layout_of(lines, missing=reading.words, **known)
    if layout is None:
        raise ValueError(NO_NUMBERS)
    frame, notes = None, [*notes, *layout.notes]
    # Exclude lines that are not data, whatever the first lines suggest.
    with suppress(pd.errors.ParserError, pd.errors.ParserWarning):
        frame = _frame(source, layout, reading)
    names = unique_names(layout.names or [str(k + 1) for k in range(len(layout.kinds))], notes)
    if layout.skipped:
        which = _numbered([number for number, _ in layout.skipped], row)
        notes.append(f"{which} neither names nor numbers and skipped: {layout.skipped[0][1].strip()[:60]!r}")
    if frame is None or _has_others(frame, layout.kinds):
        skip = _between(source, layout, notes, row)
        frame = _frame(source, layout, reading, skip) if skip or frame is None else frame
    if not len(frame):
        raise ValueError(NO_NUMBERS)
    if empty := int(np.argmax(frame.notna().any(axis=1).to_numpy()[::-1])):
        notes.append(f"{empty} empty row{'s' if empty > 1 else ''} at the end left out")
        frame = frame.iloc[: len(frame) - empty]
    marks, header = (layout.decimal, layout.thousands or ""), layout.names is not None
    times = layout.rate and Sampling(layout.rate)
    return Table(path, frame.set_axis(names, axis=1), names, layout.first + 1, header, marks, notes, times)


def _has_others(frame, kinds):
    """Return whether rows may include lines that are not data: texts in number columns, or comments."""
    numbers = frame[[k for k, kind in enumerate(kinds) if kind == "number"]]
    texts = any(dtype.kind not in "biuf" for dtype in numbers.dtypes)
    nothing = numbers.shape[1] and numbers[-1:].isna().all(axis=None)
    return texts or nothing or (kinds[0] != "number" and frame[0].str.startswith("#").any())


def _numbered(lines, row):
    """Return a text that names the lines a note is about."""
    which = f"{lines[0] + 1} to {lines[-1] + 1}" if len(lines) > 3 else ", ".join(str(line + 1) for line in lines)
    return f"{row} {which} is" if len(lines) == 1 else f"{row}s {which} are"


def _first_lines(text):
    pieces = iter(partial(text.readline, LONGEST_LINE + 1), "")  # limited, because a line may be the whole file
    for number, line in enumerate((line.rstrip("\n") for line in islice(pieces, HEAD)), 1):
        if len(line) > LONGEST_LINE:
            rule = f"have lines of at most {LONGEST_LINE} characters, one for a time point, its channels side by side"
            raise refused("a file", rule, f"a longer one, line {number}")
        yield line


def _frame(source, layout, reading, skip=()):
    """Return the data as a DataFrame, without the lines with the numbers in `skip`."""
    import pandas as pd

    words, columns = [*EMPTY_CELLS, *reading.words], dict(enumerate(layout.kinds))
    style = {"decimal": layout.decimal, "thousands": layout.thousands, "quotechar": layout.quote}
    style |= {"skiprows": {*range(layout.first), *skip}, "header": None, "names": range(len(columns))}
    style["dtype"] = {k: "str" for k, kind in columns.items() if kind != "number"}
    style["na_values"] = {k: words + WORDS * (kind == "number") for k, kind in columns.items()}
    # Without low memory, a column that mixes numbers and texts holds texts, and the error names the row.
    style |= {"index_col": False, "skipinitialspace": True, "low_memory": False}
    with source() as text, warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
        try:
            return pd.read_csv(text, sep=layout.separator or r"\s+", **style)
        except pd.errors.EmptyDataError:
            raise ValueError(NO_NUMBERS) from None


def _between(source, layout, notes, row):
    """Return the numbers of lines that are comments, or that follow the data with other cells or without a value."""
    numbers, kinds, skip, last = number_form(layout.decimal, layout.thousands), layout.kinds, set(), deque(maxlen=FOOT)
    with source() as text:
        for number, line in enumerate(map(str.strip, text)):
            if line.startswith("#"):
                skip.add(number)
            elif line.strip("\t ;,|"):
                last.append((number, line))

    def is_foot(line):
        found = [kind_of(cell, numbers) for cell in split(line, layout.separator)]
        values = [own == kind != "text" for own, kind in zip(found, kinds, strict=False)]
        return not (any(values) if len(found) == len(kinds) else values[0])

    foot = dict([*takewhile(lambda one: is_foot(one[1]), reversed(list(last)[1:]))][::-1])
    if 0 < len(foot) < FOOT - 1:
        notes.append(f"{_numbered([*foot], row)} after the data and skipped: {next(iter(foot.values()))[:60]!r}")
        skip.update(foot)
    return skip


def unique_names(names, notes):
    """Return distinct names, without the comment sign of numpy.savetxt; missing ones become blanks."""
    names = [str(name).strip().lstrip("#").strip() for name in names]
    found = [name or " " * names[:k].count("") for k, name in enumerate(names)]
    pairs = zip(found, own := unique(found), strict=True)
    notes += [f"another column named {name!r} is called {new!r}" for name, new in pairs if name != new]
    return own


# ------------------------------------------------------------------------------------------------------- spreadsheets
def _read_excel(path, reading):
    """Read a sheet of a workbook as if it were a text."""
    import pandas as pd

    try:
        file = pd.ExcelFile(path)
    except (ValueError, KeyError):  # of a packed file of something else
        raise ValueError("the file must be a spreadsheet, as its ending says. Got something else.") from None
    with file:
        sheets = listed(map(repr, file.sheet_names))
        name, notes = _chosen(file.sheet_names, reading.sheet, sheets)
        frame = pd.read_excel(file, sheet_name=name, header=None, dtype=object, na_values=EMPTY_CELLS)
    text = "\n".join("\t".join(map(_text, row)) for row in frame.itertuples(index=False))
    try:
        return table_of(path, lambda: io.StringIO(text), replace(reading, separator="\t", decimal="."), notes, "row")
    except ValueError as error:
        raise ValueError(f"sheet {name!r}: {error} The file has {sheets}; sheet=... names another one.") from None


def _chosen(names, wanted, listed):
    """Return the name of the sheet to read, and notes about the choice."""
    numbers = {str(k): name for k, name in enumerate(names, 1)} | {name: name for name in names}
    note = f"the file has no sheet {wanted!r}; its only one, {listed}, was read"
    if wanted is None:
        note = f"the file has the sheets {listed}; the first was read (sheet=... names another)" * (len(names) > 1)
    elif wanted not in numbers and len(names) > 1:
        got = f"{wanted!r}; the file has {listed}.{did_you_mean(wanted, names)}"
        raise ValueError(f"The 'sheet' parameter must name a sheet or its number. Got {got}")
    return numbers.get(wanted, names[0]), [note] * (wanted not in numbers and note != "")


def _text(cell):
    """Return a cell as text; spreadsheets store a date as its midnight."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool | np.bool_) or (isinstance(cell, float) and cell.is_integer()):
        return str(int(cell))
    if hasattr(cell, "total_seconds"):  # then it is a duration
        seconds = cell.total_seconds()
        return f"{seconds // 3600:02.0f}:{seconds // 60 % 60:02.0f}:{seconds % 60:09.6f}"
    return re.sub(r'[\s"]+', " ", str(cell)).strip().removesuffix(" 00:00:00")


# ------------------------------------------------------------------------------------------------------ other formats
def _read_columns(path, reading):
    import pandas as pd

    return _of_frame(path, (pd.read_parquet if contents(path)[1] in PARQUET else pd.read_feather)(path))


def _of_frame(path, frame):
    """Return a DataFrame as a table; a meaningful index becomes a column."""
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(names=[name or " " * k for k, name in enumerate(frame.index.names)])
    if not len(frame):
        raise ValueError("the file must hold at least one row of numbers. Got none.")
    names = unique_names(frame.columns, notes := [])
    return Table(path, frame.set_axis(names, axis=1), names, notes=notes)


def _read_recording(path, reading, reader, name):
    """Read a file that is not a table as a recording; an array of records becomes a table."""
    import pandas as pd

    is_npy = name == "arrays" and path.lower().endswith(".npy")
    if is_npy and (array := np.load(path, mmap_mode="r", allow_pickle=False)).dtype.names:
        return _of_frame(path, pd.DataFrame.from_records(np.asarray(array)))
    options = {"transpose": True} if name == "arrays" and reading.transpose else {}
    options |= {"channels": reading.columns and split_names(reading.columns), "missing": reading.codes or None}
    try:
        return read(path, reader=reader, **options)
    except ValueError as error:
        if reading.rate is None or not isinstance(error.__cause__, MixedRates):
            raise
        warn(f"{path}: the channels, which have several rates, were brought to {reading.rate:g} samples per second")
        return read(path, reader=reader, rate=reading.rate, **options)


PARQUET = (".parquet", ".pq")
NOT_TEXT = (".tar", ".npy", ".npz", ".wav")  # suffixes within a compressed file
KINDS = dict.fromkeys((".xlsx", ".xls", ".ods"), _read_excel)
KINDS |= dict.fromkeys((*PARQUET, ".feather", ".arrow"), _read_columns)

"""Files as tables: text, Parquet, Feather, Excel, OpenDocument and NPY of records.

In a workbook the sheet and the start of its table are found.
"""

import io
import os
import re
from dataclasses import dataclass, replace
from functools import partial
from glob import glob

import numpy as np

from ..utils._names import did_you_mean, warn
from ._layout import EMPTY_CELLS, number_form
from ._library import MixedRates, on_one_line
from ._read import read, reader_of
from ._text import Table, contents, read_text, table_of, unique_names

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
    time_unit: str | None = None
    epoch: str | None = None
    missing: str | None = None
    sheet: str | None = None
    transpose: bool = False

    @property
    def words(self):
        """The words that stand for missing values."""
        return split_names(self.missing or "")

    @property
    def codes(self):
        """The numbers among these."""
        return [float(word) for word in self.words if number_form(".", None).fullmatch(word)]


def split_names(text):
    """Return names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def listed(names, count=12):
    """Return names in a message."""
    names = [str(name) for name in names]
    return ", ".join(names[:count]) + (f" and {len(names) - count} more" * (len(names) > count)) if names else "none"


def source_of(path, reading, option):
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
    Table or Recording
        A recording of what is no table.
    """
    import pandas as pd

    (packed, kind), (opener, name) = contents(path), reader_of(path)
    of_recording = partial(_read_recording, reader=opener, name=name)
    reader = KINDS.get(kind) or (read_text if name in ("table", None) else of_recording)
    readable = f"{option} must name a readable file. Got {path!r}"
    if packed and os.path.exists(path) and (reader not in (read_text, _refuse_json) or kind in NOT_TEXT):
        raise ValueError(f"{option} must name a table. Got {path!r}; of packed files only text is read. Unpack it.")
    try:
        return reader(path, reading)
    except ImportError as error:
        needs = f"a package that is not installed: {on_one_line(error, 120)}"
        way_out = "" if isinstance(reader, partial) else ". Install it, or save the table as CSV."
        raise ValueError(f"{option}: {path!r} needs {needs}{way_out}") from None
    except UnicodeDecodeError as error:
        if error.encoding == "charmap":  # the last that was tried
            way_out = f"Files are {FORMATS}. Save others as one of these, in Python for example by numpy.save."
            raise ValueError(f"{option} must name a table. Got {path!r}, which is no text. {way_out}") from None
        raise ValueError(f"{readable}, which is not {error.encoding}: name it, such as encoding=cp1252.") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        reason = on_one_line(error).removeprefix("Error tokenizing data. C error: ")
        raise ValueError(f"{readable}: {reason}. Each row must have as many cells as the first.") from None
    except ValueError as error:
        message = str(error).removeprefix("In ").removeprefix(f"{path}: ").replace("channels=", "columns=")
        raise ValueError(f"{option}: {path!r}: {message}") from None
    except Exception as error:  # of any kind, from what unpacks a damaged file
        names = map(os.path.basename, glob(os.path.join(os.path.dirname(path), "*")))
        near = did_you_mean(os.path.basename(path), names) if isinstance(error, FileNotFoundError) else ""
        raise ValueError(f"{readable}: {on_one_line(error)}.{near}") from None


# ------------------------------------------------------------------------------------------------------- spreadsheets
def _read_excel(path, reading):
    """Read a sheet of a workbook as the text that it would be."""
    import pandas as pd

    try:
        file = pd.ExcelFile(path)
    except ValueError as error:
        if "format cannot be determined" not in str(error):
            raise
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
    """Return the name of the sheet to read, and what there is to say about it."""
    numbers = {str(k): name for k, name in enumerate(names, 1)} | {name: name for name in names}
    note = f"the file has no sheet {wanted!r}; its only one, {listed}, was read"
    if wanted is None:
        note = f"the file has the sheets {listed}; the first was read (sheet=... names another)" * (len(names) > 1)
    elif wanted not in numbers and len(names) > 1:
        got = f"{wanted!r}; the file has {listed}.{did_you_mean(wanted, names)}"
        raise ValueError(f"The 'sheet' parameter must name a sheet or its number. Got {got}")
    return numbers.get(wanted, names[0]), [note] * (wanted not in numbers and note != "")


def _text(cell):
    """Return a cell as it is written in a text; a date in a spreadsheet is its midnight."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool | np.bool_) or (isinstance(cell, float) and cell.is_integer()):
        return str(int(cell))
    if hasattr(cell, "total_seconds"):  # a duration
        seconds = cell.total_seconds()
        return f"{seconds // 3600:02.0f}:{seconds // 60 % 60:02.0f}:{seconds % 60:09.6f}"
    return re.sub(r'[\s"]+', " ", str(cell)).strip().removesuffix(" 00:00:00")


# ------------------------------------------------------------------------------------------------------ other formats
def _read_columns(path, reading):
    import pandas as pd

    return _of_frame(path, (pd.read_parquet if contents(path)[1] in PARQUET else pd.read_feather)(path))


def _of_frame(path, frame):
    """Return a table of a DataFrame; an index that says something becomes a column."""
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(names=[name or " " * k for k, name in enumerate(frame.index.names)])
    notes = []
    frame = frame.set_axis(unique_names(frame.columns, notes), axis=1)
    if not len(frame):
        raise ValueError("the file must hold at least one row of numbers. Got none.")
    return Table(path, frame, list(frame.columns), notes=notes)


def _read_recording(path, reading, reader, name):
    """Read what is no table; an array of records is one."""
    import pandas as pd

    if path.lower().endswith(".npy") and (array := np.load(path, mmap_mode="r", allow_pickle=False)).dtype.names:
        return _of_frame(path, pd.DataFrame.from_records(np.asarray(array)))
    options = {"transpose": True} if name == "arrays" and reading.transpose else {}
    channels = None if reading.columns is None else split_names(reading.columns)
    options |= {"channels": channels, "missing": reading.codes or None, "reader": reader}
    try:
        return read(path, **options)
    except ValueError as error:
        if reading.rate is None or not isinstance(error.__cause__, MixedRates):
            raise
        warn(f"{path}: the channels, which have several rates, were brought to {reading.rate:g} samples per second")
        return read(path, rate=reading.rate, **options)


def _refuse_json(path, reading):
    way_out = f"Files are {FORMATS}. Save it as one of these, in Python by pandas.read_json and DataFrame.to_csv."
    raise ValueError(f"the file must be a table. Got JSON, which may hold anything. {way_out}")


PARQUET = (".parquet", ".pq")
NOT_TEXT = (".tar", ".npy", ".npz", ".wav")  # in a packed file
KINDS = {
    **dict.fromkeys((".json", ".jsonl"), _refuse_json),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), _read_excel),
    **dict.fromkeys((*PARQUET, ".feather", ".arrow"), _read_columns),
}

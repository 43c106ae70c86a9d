"""Files as tables: text, Parquet, Feather, Excel, OpenDocument, NPY, NPZ and WAV.

In a workbook the sheet and the start of its table are found.
"""

import io
import lzma
import os
import re
import zipfile
from dataclasses import dataclass, replace

import numpy as np

from ..utils._names import did_you_mean
from ..utils._times import Sampling
from ._arrays import array_of
from ._layout import EMPTY_CELLS
from ._packed import contents
from ._read import read, reader_name
from ._recording import NamedChannels
from ._text import Table, read_text, table_of, unique_names

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


def split_names(text):
    """Return names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def listed(names, count=12):
    """Return names in a message."""
    names = [str(name) for name in names]
    return ", ".join(names[:count]) + (f" and {len(names) - count} more" * (len(names) > count)) if names else "none"


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
    reader = READERS.get(kind) or BY_NAME.get(reader_name(path), _read_device)
    readable = f"{option} must name a readable file. Got {path!r}"
    if packed and os.path.exists(path) and (reader not in (read_text, _refuse_json, _read_device) or kind == ".tar"):
        raise ValueError(f"{option} must name a table. Got {path!r}; of packed files only text is read. Unpack it.")
    try:
        return reader(path, reading)
    except ImportError as error:
        if reader is _read_device:
            raise ValueError(f"{option}: {path!r}: {error}") from None
        what = f"{path!r} needs a package that is not installed ({' '.join(str(error).split())[:120]})"
        raise ValueError(f"{option}: {what}. Install it, or save the table as CSV.") from None
    except UnicodeDecodeError as error:
        if error.encoding == "charmap":  # the last that was tried
            way_out = f"Files are {FORMATS}. Save others as one of these, in Python for example by numpy.save."
            raise ValueError(f"{option} must name a table. Got {path!r}, which is no text. {way_out}") from None
        raise ValueError(f"{readable}, which is not {error.encoding}: name it, such as encoding=cp1252.") from None
    except pd.errors.ParserError as error:
        reason = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
        rule = "Each row must have as many cells as the first"
        raise ValueError(f"{readable}: {reason}, counted from the first row of data. {rule}.") from None
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise ValueError(f"{readable}: {reason}.") from None
    except ValueError as error:
        raise ValueError(f"{option}: {path!r}: {error}") from None


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
    if wanted in names:
        return wanted, []
    if wanted is None:
        more = f"the file has the sheets {listed}; the first was read (sheet=... names another)"
        return names[0], [more] if len(names) > 1 else []
    if wanted.isdigit() and 0 < int(wanted) <= len(names):
        return names[int(wanted) - 1], []
    if len(names) == 1:
        return names[0], [f"the file has no sheet {wanted!r}; its only one, {listed}, was read"]
    near = did_you_mean(wanted, names)
    raise ValueError(
        f"The 'sheet' parameter must name a sheet or its number. Got {wanted!r}; the file has {listed}.{near}"
    )


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

    read = pd.read_parquet if contents(path)[1] in PARQUET else pd.read_feather
    return _of_frame(path, read(path))


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


def _read_array(path, reading):
    """Read an array or a sound, whose channels have no names; an array of records is a table."""
    import pandas as pd

    array, rate, notes = array_of(path)
    if array.dtype.names is not None:
        return _of_frame(path, pd.DataFrame.from_records(np.asarray(array)))
    array = array.reshape(len(array), -1)
    if reading.transpose:
        array = array.T
    elif array.shape[0] < array.shape[1]:
        n, channels = array.shape
        notes.append(f"{channels} channels of {n} samples; if its rows are the channels: transpose=True")
    names = [str(k + 1) for k in range(array.shape[1])]
    return Table(path, array, names, notes=notes, times=rate and Sampling(rate))


def _read_device(path, reading):
    """Read a file of a device, whose channels stay where they are."""
    recording = read(path, channels=split_names(reading.columns) if reading.columns else None)
    names = recording.names or [str(k + 1) for k in range((*recording.shape, 1)[1])]
    return Table(path, NamedChannels(recording.values, names), names, times=recording.times)


def _refuse_json(path, reading):
    way_out = f"Files are {FORMATS}. Save it as one of these, in Python by pandas.read_json and DataFrame.to_csv."
    raise ValueError(f"the file must be a table. Got JSON, which may hold anything. {way_out}")


PARQUET = (".parquet", ".pq")
BY_NAME = {"table": read_text, None: read_text, "arrays": _read_array}
READERS = {
    **dict.fromkeys((".npy", ".npz", ".wav"), _read_array),
    **dict.fromkeys((".json", ".jsonl"), _refuse_json),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), _read_excel),
    **dict.fromkeys((*PARQUET, ".feather", ".arrow"), _read_columns),
}

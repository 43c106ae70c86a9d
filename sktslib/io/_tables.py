"""Files as tables: text, Parquet, Feather, Excel, OpenDocument, NPY, NPZ and WAV.

In a workbook the sheet and the start of its table are found.
"""

import io
import lzma
import os
import re
import warnings
import zipfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..utils._names import did_you_mean
from ._layout import EMPTY_CELLS
from ._packed import contents
from ._read import is_of_device, read
from ._recording import NamedChannels
from ._text import Table, read_text, table_of, unique_names

FORMATS = "CSV and other text, Parquet, Feather, Excel, NPY, NPZ of one array or WAV"
LARGEST_SAMPLE = 257  # bytes of all channels of a sound


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
    reader = READERS.get(kind) or (_read_device if is_of_device(path) else read_text)
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
            how = f"Files are {FORMATS}. Save others as one of these, in Python for example by numpy.save."
            raise ValueError(f"{option} must name a table. Got {path!r}, which is no text. {how}") from None
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


def _read_npy(path, reading):
    return _of_array(path, np.load(path, mmap_mode="r", allow_pickle=False), reading)


def _read_npz(path, reading):
    with np.load(path, allow_pickle=False) as arrays:
        if len(arrays.files) == 1:
            return _of_array(path, arrays[arrays.files[0]], reading)
        names = listed(arrays.files)
    raise ValueError(f"the NPZ file must hold one array. Got {names}. Save one with numpy.save as an NPY file.")


def _of_array(path, array, reading, rate=None, notes=()):
    if array.dtype.names is not None:
        import pandas as pd

        return _of_frame(path, pd.DataFrame.from_records(np.asarray(array)))
    if array.ndim not in (1, 2) or array.dtype.kind not in "biuf" or not array.size:
        got = f"{array.dtype}, shape {array.shape}"
        raise ValueError(f"the array must hold numbers and have shape (n,) or (n, channels). Got {got}.")
    array, notes = array.reshape(len(array), -1), list(notes)
    if reading.transpose:
        array = array.T
    elif array.shape[0] < array.shape[1]:
        n, channels = array.shape
        notes.append(f"{channels} channels of {n} samples; if its rows are the channels: transpose=True")
    return Table(path, array, [str(k + 1) for k in range(array.shape[1])], rate, notes=notes)


def _read_device(path, reading):
    """Read a file of a device, whose channels stay where they are."""
    recording = read(path, channels=split_names(reading.columns) if reading.columns else None)
    names = recording.names or [str(k + 1) for k in range((*recording.shape, 1)[1])]
    return Table(path, NamedChannels(recording.values, names), names, times=recording.times)


def _refuse_json(path, reading):
    how = f"Files are {FORMATS}. Save it as one of these, in Python by pandas.read_json and DataFrame.to_csv."
    raise ValueError(f"the file must be a table. Got JSON, which may hold anything. {how}")


def _read_wav(path, reading):
    from scipy.io import wavfile

    with warnings.catch_warnings(record=True) as told:  # also of chunks of other things than samples
        warnings.simplefilter("always", wavfile.WavFileWarning)
        try:
            rate, array = wavfile.read(path)
        except ValueError as error:
            if "reshape" not in str(error):
                raise
            rate, array = _whole_samples(path)
    ends = (re.search(r"EOF prematurely.* (\d+) bytes from header", str(one.message)) for one in told)
    expected = next((found[1] for found in ends if found), None)
    read = f"{len(array)} samples, {len(array) / rate:g} s, were read"
    notes = [f"the file is cut off: {os.path.getsize(path)} of {expected} bytes are there, and {read}"]
    return _of_array(path, array, reading, float(rate), notes if expected else ())


def _whole_samples(path):
    """Read a sound that ends within a sample, up to there."""
    from scipy.io import wavfile

    content = Path(path).read_bytes()
    for cut in range(1, LARGEST_SAMPLE):
        with suppress(ValueError):
            return wavfile.read(io.BytesIO(content[:-cut]))
    raise ValueError("the file is cut off within its header or is damaged")


PARQUET = (".parquet", ".pq")
READERS = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".wav": _read_wav,
    ".json": _refuse_json,
    ".jsonl": _refuse_json,
    **dict.fromkeys((".xlsx", ".xls", ".ods"), _read_excel),
    **dict.fromkeys((*PARQUET, ".feather", ".arrow"), _read_columns),
}

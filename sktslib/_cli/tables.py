"""Files as tables: text of any layout, Parquet, Feather, Excel, NPY and WAV."""

import io
import lzma
import os
import warnings
import zipfile
from dataclasses import dataclass, field

import numpy as np

from .packed import contents, opened
from .spreadsheets import read_sheet
from .text_layout import EMPTY_CELLS, layout_of, number_form

HEAD = 500  # lines by which the layout of a text is recognized
MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"))
MARKS += ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
FORMATS = "CSV and other text, Parquet, Feather, Excel, NPY, NPZ of one array or WAV"


@dataclass(frozen=True)
class Reading:
    """How to read files, as the options say; None is to be found out."""

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
    """What a file holds, all columns named by texts."""

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
    """A column in which cells like numbers are such; pandas leaves all of them texts for the sake of one."""
    form = number_form(layout.decimal, layout.thousands)

    def converted(cell):
        if not isinstance(cell, str) or not form.fullmatch(cell.strip()):
            return cell
        return float(cell.replace(layout.thousands or "\0", "").replace(layout.decimal, "."))

    return column.astype(object).map(converted)


def _without_empty_end(frame, notes):
    """The rows up to the last that holds anything: spreadsheets write those below it, too."""
    full = np.flatnonzero(frame.notna().any(axis=1).to_numpy())
    empty = len(frame) - (full[-1] + 1 if len(full) else 0)
    if not empty or empty == len(frame):
        return frame
    notes.append(f"{empty} empty row{'' if empty == 1 else 's'} at the end left out")
    return frame.iloc[: len(frame) - empty]


def _unique(names, notes):
    """Names without what numpy.savetxt puts before them, no two alike."""
    found = []
    for name in (str(name).strip().lstrip("#").strip() for name in names):
        count = sum(other == name or other.startswith(f"{name}.") for other in found)
        if name and name in found:
            notes.append(f"another column named {name!r} is called {f'{name}.{count}'!r}")
            name = f"{name}.{count}"
        found.append(name)
    return found


def _encoding(file, given):
    """The encoding of a text, and what there is to say about it."""
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
    """A table of a DataFrame; an index that says something becomes a column."""
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

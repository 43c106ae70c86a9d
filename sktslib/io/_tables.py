"""Files as tables: text, Parquet, Feather, Excel, OpenDocument, NPY and WAV; and the times that columns hold.

Times are read from one column or two, as numbers, dates of any common writing or clock times; zones are kept. In a
workbook the sheet and the start of its table are found.
"""

import lzma
import os
import re
import warnings
import zipfile
from dataclasses import dataclass

import numpy as np

from ..utils._names import did_you_mean
from ..utils._times import NAME
from ._text import (
    EMPTY_CELLS,
    HEAD,
    KINDS,
    MINUTES,
    ZONE,
    Table,
    contents,
    has_value,
    layout_of,
    number_form,
    read_text,
    table_of,
    unique_names,
)

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
    named = named or [name for name, kind in kinds.items() if not name.strip() and kind in ("datetime", "date")]
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


CELLS = "\t"  # between the cells of a row that is looked at as a line of text
NUMBERS = number_form(".", None)


def _read_excel(path, reading):
    """Read a sheet of a workbook; its header is found as in a text."""
    import pandas as pd

    try:
        file = pd.ExcelFile(path)
    except ValueError as error:
        if "format cannot be determined" not in str(error):
            raise
        raise ValueError(
            "the file must be a spreadsheet, as its ending says. Got something else. Save it again."
        ) from None
    with file:
        names = file.sheet_names
        name, notes = _chosen(names, reading.sheet)
        frame = pd.read_excel(file, sheet_name=name, header=None, na_values=EMPTY_CELLS)
    lines = [CELLS.join(map(_text, row)) for row in frame.iloc[:HEAD].itertuples(index=False)]
    if reading.header is None:
        notes += _join_groups(lines)
    layout = layout_of(lines, separator=CELLS, decimal=".", header=reading.header)
    if layout is None:
        raise ValueError(
            f"the sheet {name!r} must hold at least one row of numbers. Got none in its first rows. The file has "
            f"{_listed(names)}; --sheet names another one, --header the row of its header."
        )
    table = frame.iloc[layout.first :].reset_index(drop=True).infer_objects()
    # A column of which no cell holds anything is room between tables.
    filled = [k for k in table if table[k].notna().any() or (layout.names and layout.names[k])]
    named = layout.names and [layout.names[k] for k in filled]
    skipped = [(number, " ".join(line.split())) for number, line in layout.skipped]
    return table_of(path, table[filled], layout._replace(names=named, skipped=skipped), notes, "row")


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
    data = next((k for k, row in enumerate(rows) if has_value(row, NUMBERS)), 0)
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
    reader = READERS.get(kind, _read_text)
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


# ------------------------------------------------------------------------------------------------------ other formats
def _read_columns(path, reading):
    import pandas as pd

    read = pd.read_parquet if contents(path)[1] in PARQUET else pd.read_feather
    return _of_frame(path, read(path))


def _of_frame(path, frame):
    """Return a table of a DataFrame; an index that says something becomes a column."""
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(names=frame.index.name or "")
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


def _read_text(path, reading):
    options = ("separator", "decimal", "thousands", "header", "encoding")
    return read_text(path, **{name: getattr(reading, name) for name in options})


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

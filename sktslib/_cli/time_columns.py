"""Times in a table: one column or two, numbers, dates of any common writing, clock times; zones are kept."""

import re
import warnings

import numpy as np

from ..utils._given_times import NAME
from .text_layout import KINDS, MINUTES, ZONE

OFFSET = re.compile(rf".*\d{ZONE.removesuffix('?')}")
MONTH_FIRST = "month/day/year (--day-first: day/month/year)"
SEVERAL = "the times have several offsets from UTC"
HOW_DATES = "numbers, clock times, or dates such as 2024-05-01 12:30:05.25 or 01.05.2024 12:30"


def kind_of_column(column):
    """Whether a column holds numbers, dates, clock times or text, by its first cells."""
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
    """The names of the columns that hold times: none, one, or a date and a clock time."""
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
    """The times that one or two columns hold, in the zone that is named, and what there is to say about them.

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
    """The times of one or two columns, in the zone that they are written in."""
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
    """Clock times that all have hours, 0 where minutes and seconds stand alone."""
    return clocks.mask(clocks.str.fullmatch(MINUTES), "0:" + clocks)


def _wrong(column):
    """The first cell that is not like a time."""
    forms = [*KINDS.values()]
    cells = ((row, str(cell).strip()) for row, cell in enumerate(column, 1))
    row, cell = next(((r, c) for r, c in cells if not any(form.fullmatch(c) for form in forms)), (1, column.iloc[0]))
    return f"{str(cell)!r} in row {row}"


def _dates(texts, day_first):
    """Dates from texts, in their own zone where all have the same."""
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
    """Texts as dates; those that are not all written alike are read one by one."""
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
    """The largest step over the smallest; infinite where the dates do not increase."""
    steps = np.diff(index.asi8)
    return steps.max() / steps.min() if len(steps) and steps.min() > 0 else np.inf


def _day_first(texts, mark):
    """Whether the day stands before the month; None if it does not show."""
    fields = texts.str.extract(r"^(\d{1,2})[-/.](\d{1,2})").astype(float)
    if (fields[0] > 12).any() or mark == ".":
        return True
    return False if (fields[1] > 12).any() else None

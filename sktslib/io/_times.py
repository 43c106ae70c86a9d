"""Times that columns of tables hold: numbers, dates of any common writing or clock times; zones are kept."""

import re
import warnings
from collections import Counter
from functools import partial

import numpy as np

from ..utils._times import NAME
from ..utils.validation import refused
from ._layout import MINUTES, NAMED_ZONE, ZONE, kind_of, number_form
from ._library import on_one_line

SEVERAL = "the times have several offsets from UTC"
HOW_DATES = "numbers, clock times, or dates such as 2024-05-01 12:30:05.25 or 01.05.2024 12:30"
MIDNIGHT = re.compile(r"(?<=[T ])24:00(?!:(?:\d*[1-9]|00\.\d*[1-9]))")  # of the next day
HALF_DAY, DAY = 12 * 3600 * 10**9, 24 * 3600 * 10**9  # nanoseconds
CLOCK_PARTS = r"^(\d+):(\d+)(?::(\d+(?:[.,]\d+)?))? ?(?:([AaPp])\.?[Mm]\.?)?$"
SAMPLE = 20  # cells that tell what a column holds
FORMS = (number_form(*marks).pattern.replace("?P<grouped>", "") for marks in ((".", ","), (",", ".")))
EITHER = re.compile("|".join(FORMS))


def kind_of_column(column):
    """Return what most of the first cells of a column are: numbers, dates, clock times or text."""
    if column.dtype.kind in "biufMm":
        return {"M": "datetime", "m": "clock"}.get(column.dtype.kind, "number")
    kinds = Counter(kind_of(str(cell).strip(), EITHER) for cell in column.dropna().iloc[:SAMPLE])
    return (kinds.most_common(1) or [("text", 0)])[0][0] or "text"


def time_columns(frame):
    """Return the names of the columns that hold times: none, one, or a date and a clock time."""
    kinds = {name: kind_of_column(frame[name]) for name in frame}
    first = {kind: name for name, kind in reversed(kinds.items())}
    if {"date", "clock"} <= first.keys():
        return [first["date"], first["clock"]]
    alone = [name for name, kind in kinds.items() if kind not in ("number", "text")]
    named = [name for name in kinds if NAME.fullmatch(name)]
    named = named or [name for name in alone if not name.strip() and kinds[name] != "clock"]
    # A text that is named as a time comes last, and is refused unless it is a date of an unusual writing.
    rank = dict.fromkeys(alone, 2) if len(alone) == 1 else {}
    rank |= {name: {"number": 1, "text": 3}.get(kinds[name], 0) for name in named}
    return sorted(rank, key=rank.get)[:1]


def times_of_columns(columns, option, reading, table=None):
    """Return the times that one or two columns hold, what there is to say about them, and whether days come first.

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
    table : Table, optional
        Where the columns are from.

    Returns
    -------
    tuple of (ndarray, DatetimeIndex or TimedeltaIndex, list of str, bool or None)
    """
    import pandas as pd

    name, epoch = " and ".join(repr(column.name) for column in columns), reading.epoch

    def bad(wrong, got, rule, way="Correct that row, or name"):
        row = int(np.argmax(wrong))
        got = f"{got or repr(column.iloc[row])} in row {row + 1}{about_line(table, row)}. {way} another column with"
        return ValueError(f"{option}: the column {name} must hold {rule}. Got {got} time_column=..., or none.")

    column, missing = columns[0], np.any([column.isna() for column in columns], axis=0)
    if missing.any():
        raise bad(missing, "none", "a time in each row", "Take that row out, or name")
    if len(columns) == 2:
        column = column.astype(str).str.strip() + " " + _with_hours(columns[1].astype(str).str.strip())
    kind, notes, day_first, rule = kind_of_column(column), [], None, HOW_DATES
    try:
        if kind == "number":
            times, rule = as_numbers(column, table), "numbers, as its other cells do"
        elif column.dtype.kind in "mM":
            times = pd.Index(column)
        else:
            column = column.astype(str).str.strip().reset_index(drop=True)
            times, notes, day_first = (clocks_of if kind == "clock" else partial(dates_of, reading.day_first))(column)
    except (ValueError, TypeError, OverflowError, LookupError) as error:
        raise bad([True], f"{column.iloc[0]!r}, and {on_one_line(error, 80)},", rule) from None
    if pd.isna(times).any():
        raise bad(pd.isna(times), None, rule)
    if kind == "number" and epoch is not None:
        try:
            times = pd.to_datetime(times, unit=epoch, utc=True)
        except (ValueError, OverflowError):
            rule = f"{epoch} since 1970, as epoch=... says"
            raise bad([True], f"{times[0]:g}, beyond all dates,", rule, "Name another unit, or") from None
    if reading.time_zone is None:
        return times, notes, day_first
    if not isinstance(times, pd.DatetimeIndex):
        _zoned(pd.DatetimeIndex([]), reading.time_zone, option)  # which may be wrong without any date
        return times, [*notes, f"{option} are no dates: time_zone=... says nothing of them"], None
    return _zoned(times, reading.time_zone, option), [note for note in notes if SEVERAL not in note], day_first


def _zoned(dates, zone, option):
    """Return dates in a zone."""
    try:
        return dates.tz_localize(zone, ambiguous="infer") if dates.tz is None else dates.tz_convert(zone)
    except Exception as error:  # of the library of zones, which depends on the version of pandas
        rule = f"name a zone in which {option} exist, such as Europe/Berlin, an hour that the clock repeats being there"
        raise refused("time_zone", f"{rule} twice", f"{zone!r}: {on_one_line(error)}") from None


def about_line(table, row):
    """Return where a row stands in a text; comments and empty lines are no rows, so without them it is exact."""
    return f" (about line {row + table.first_line})" if table is not None and table.first_line else ""


def as_numbers(column, table=None):
    """Return a column as floats, NaN where it holds texts."""
    import pandas as pd

    if column.dtype.kind in "biufMm":
        return column.to_numpy(np.float64) if column.dtype.kind in "biuf" else np.full(len(column), np.nan)
    decimal, thousands = (".", "") if table is None else table.marks
    if decimal != "." or thousands:
        column = column.str.replace(thousands or " ", "", regex=False).str.replace(decimal, ".", regex=False)
    return pd.to_numeric(column, errors="coerce").to_numpy(np.float64)


def _with_hours(clocks):
    """Return clock times that all have hours, 0 where minutes and seconds stand alone."""
    return clocks.mask(clocks.str.fullmatch(MINUTES), "0:" + clocks)


def clocks_of(texts):
    """Return clock times as durations, which go on over midnight, what there is to say about them, and None."""
    import pandas as pd

    parts = _with_hours(texts).str.extract(CLOCK_PARTS)
    hours, minutes = parts[0].astype(float), parts[1].astype(float)
    hours = hours.mask(parts[3].notna(), hours % 12) + 12 * parts[3].isin(["p", "P"])
    seconds = (hours * 60 + minutes) * 60 + parts[2].fillna("0").str.replace(",", ".").astype(float)
    times = pd.TimedeltaIndex(pd.to_timedelta(seconds.round(9), unit="s")).as_unit("ns")
    days = np.cumsum(np.diff(times.asi8, prepend=times.asi8[:1]) < -HALF_DAY) * (not times.hasnans)
    note = f"the clock times pass midnight {'once' if days[-1] == 1 else f'{days[-1]} times'} and are counted on"
    return times + pd.TimedeltaIndex(days * DAY), [note] * bool(days[-1]), None


def dates_of(day_first, texts):
    """Return the dates from texts, in their own zone where all have the same, NaT for others; notes; `day_first`."""
    import pandas as pd

    notes, named = [], re.search(rf"{NAMED_ZONE}$", texts[0])
    texts = texts.str.replace(rf"{NAMED_ZONE}$", "", regex=True) if named else texts
    if texts.str.contains(",", regex=False).any():
        texts = texts.str.replace(r"(:\d\d),(?=\d)", r"\1.", regex=True)
    iso = not re.match(r"\d{1,2}[-/.]\d{1,2}[-/.]", texts[0])
    day_first = _day_order(texts) if not iso and day_first is None else day_first
    offset = re.search(rf"\d({ZONE})$", texts[0])[1] if re.search(r"\d:\d\d", texts[0]) and texts[0][-1] != "M" else ""
    index = _parsed(texts, iso, bool(day_first), bool(offset))
    if not iso and day_first is None:
        other = _parsed(texts, False, True, bool(offset))
        day_first = _unevenness(other) < _unevenness(index)
        index = other if day_first else index
        read, other = ("day/month/year", "month/day/year")[:: 1 if day_first else -1]
        notes.append(f"dates were read as {read} (day_first={not day_first}: {other})")
    if named:
        index = index.tz_convert(named[1]) if offset else index.tz_localize(named[1], ambiguous="infer")
    elif offset and texts.str.endswith(offset).all():
        index = index if offset.strip() in ("Z", "UTC", "GMT") else index.tz_convert(pd.Timestamp(texts[0]).tz)
    elif offset:
        notes.append(f"{SEVERAL} and are shown in UTC (time_zone=... names a zone)")
    return index, notes, day_first


def _parsed(texts, iso, day_first, utc):
    """Return the texts as dates; those that are not all written alike are read one by one."""
    import pandas as pd

    order = {"format": "ISO8601"} if iso else {"dayfirst": day_first}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas tells that it looks at each cell, and of zones
        dates = pd.to_datetime(texts, errors="coerce", utc=utc, **order)
        other = dates.isna()
        if other.any():  # 24:00, or written otherwise
            late, rest = texts[other].str.contains(MIDNIGHT), texts[other].str.replace(MIDNIGHT, "00:00", regex=True)
            found = pd.to_datetime(rest, errors="coerce", utc=utc, **order)
            if found.isna().any():
                found = pd.to_datetime(rest, errors="coerce", utc=utc, format="mixed", dayfirst=day_first and not iso)
            dates = pd.concat([dates[~other], found + pd.to_timedelta(late * DAY)]).sort_index()
    return pd.DatetimeIndex(dates)


def _unevenness(index):
    """Return the largest step over the smallest; infinite where the dates do not increase."""
    steps = np.diff(index.asi8)
    return steps.max() / steps.min() if len(steps) and steps.min() > 0 else np.inf


def _day_order(texts):
    """Return whether the day comes before the month; None if it does not show."""
    first, second = texts.str.extract(r"^(\d{1,2})[-/.](\d{1,2})").astype(float).max()
    if first > 12 or re.match(r"\d+\.", texts[0]):
        return True
    return False if second > 12 else None

"""Roles of the columns in a table: channels, times, weights and row counters; and the times that columns hold.

Times are numbers, dates in any common format, or clock times; time zones are kept.
"""

import re
import warnings
from collections import Counter

import numpy as np

from ..utils._names import did_you_mean, warn
from ..utils._times import NAME, EvenTimes, Sampling, column_of_times, is_datetime
from ..utils.validation import as_times, as_weight, refused, shown
from ._layout import MINUTES, NAMED_ZONE, ZONE, kind_of, number_form
from ._library import Reader, on_one_line
from ._recording import Recording, without
from ._tables import FORMATS, KINDS, Reading, contents, listed, source_of, split_names

NO_TIMES = "none"  # name that means no column of times
EVEN = 0.1  # tolerance of even steps, as a share of the median step, for rounding
FEW = 10  # minimum average rows per recording, if a file holds several
FAR = 10  # a value that repeats is suspected to mean missing beyond this many ranges of all other values
COUNTERS = set("index row sample samples nr no number id seq nseq sequence count counter packet frame".split())

# Advice if times do not increase.
CLOCK = "Where the clock was set back, name the zone, such as time_zone=Europe/Berlin; else sort the rows by time."
ONE_OF_SEVERAL = "Where recordings stand one below the other, name one, {}; else sort the rows by time."
SORT = "Sort the rows by time, or count samples: time_column=none."
ROUNDED = "If they are rounded, as spreadsheets round them, count samples: time_column=none, and rate=... per second."


def columns_of(table, reading, option, *, weighted=False, part=None, besides=()):
    """Return the roles and contents of the columns in a table.

    Parameters
    ----------
    table : Table
        A file.
    reading : Reading
        How to read it.
    option : str
        The option or argument that names it, for messages.
    weighted : bool
        Whether a column named weight holds weights.
    part : slice, optional
        The rows that are meant, in which times must increase.
    besides : sequence of str
        Columns that are not channels.

    Returns
    -------
    dict
        `values`, `names`, `times`, `time_name`, `day_first`, `weight` and `notes`.
    """
    notes, chosen = list(table.notes), reading.columns and split_names(reading.columns, table.names)
    for name in (name for name in chosen or () if name not in table.names):
        raise no_column("The 'columns' parameter", name, {option: table.names})
    frame, index = _without_index(table, notes, chosen)
    if index is None and not table.header and reading.time_column is None:
        index = _nameless_times(frame, notes)
    found, of_times = _times(frame, index, reading, option, table, notes, part or slice(0, None))
    found = found or times_besides(table.times, len(frame), reading, notes)
    called = (name for name in frame if part is None and name.lower() == "weight")
    weight_name = (reading.weight_column or next(called, None)) if weighted else None
    if weight_name not in (None, *table.names):
        raise no_column("The 'weight_column' parameter", weight_name, {option: table.names})
    if weight_name is not None:
        found["weight"] = _numbers(table.frame[weight_name], option, table)
        as_weight(found["weight"], len(frame), 1, name="weight_column=...")
    names = [name for name in frame if name not in (*of_times, weight_name, *besides)]
    names = chosen or _with_numbers(frame, names, table, notes)
    if not names:
        got = f"Got none in {option}: {listed(table.names)}. Files are {FORMATS}."
        raise ValueError(f"The 'columns' parameter must name at least one column of values. {got}")
    columns = {name: without(_numbers(table.frame[name], option, table), reading.codes) for name in names}
    if not chosen:
        notes += _noticed(columns, reading)
    values = np.vstack([*columns.values()]).T
    return found | {"values": values, "names": names, "notes": [f"{table.path}: {note}" for note in notes]}


def channels_of(recording, reading, path, notes):
    """Return for a recording what `columns_of` returns for a table, with its units and marks."""
    n, channels = (*recording.shape, 1)[:2]
    said = [f"{channels} channels of {n} samples; if its rows are the channels: transpose=True"] * (n < channels)
    found = times_besides(recording.times, n, reading, said)
    found |= {name: getattr(recording, name) for name in ("values", "names", "units", "marks")}
    return found | {"notes": [*notes, *(f"{path}: {note}" for note in said)]}


def times_besides(times, n, reading, notes):
    """Return times that are in no column of a file, or those by a given rate, which overrides the file's."""
    rate, own = reading.rate, getattr(times, "rate", None)
    if rate is not None and (times is None or own):
        notes += [f"the file says {own:g} samples per second; rate={rate:g} counts"] if own not in (None, rate) else []
        times = Sampling(rate, getattr(times, "start", 0.0))
    times = EvenTimes(times, n) if isinstance(times, Sampling) else times
    return {} if times is None else {"times": times, "time_name": "time" if is_datetime(times[:1]) else "time (s)"}


def _without_index(table, notes, chosen):
    """Return the table without columns that count its rows, and an unnamed column of other increasing numbers."""
    frame, index, drop = table.frame, None, {}  # drop: a note for each column that is left out
    for k, name in enumerate(frame.columns):
        numbers, empty = frame[name].dtype.kind in "iuf", frame[name].isna().all()
        column = frame[name].to_numpy() if numbers else np.empty(0)
        words = re.findall(r"[^\W\d_]+", name.lower())  # for names such as no., sample #, row_id
        counter = COUNTERS.issuperset(words) if words else name == "#"
        counter = (counter or (k == 0 and table.header)) and counts(column, FEW)
        if not name.strip() and (k or numbers):
            drop[name] = "" if empty or counts(column) else f"column {k + 1} has no name and was left out"
            if drop[name] and k == 0 and (np.diff(column) > 0).all():
                index, drop[name] = frame[name], "the first column has no name and increases: it was read as times"
        elif (empty or counter) and not chosen and not time_columns(frame[[name]]):
            what = "is empty" if empty else "counts the rows"
            drop[name] = f"column {name!r} {what} and was left out (columns=... takes it)"
    left = frame.drop(columns=list(drop))
    if not chosen and index is None and not any(kind_of_column(left[name]) == "number" for name in left):
        return frame, None  # keep the counters, because there are no other columns
    notes += filter(None, drop.values())
    return left, index


def counts(column, least=None):
    """Return whether numbers count rows from 0 or 1, once, or repeatedly to the same number.

    With `least` or more rows, the count may start at any number, as in a part of a recording.
    """
    if len(column) < 2:
        return False
    low, steps = column.min(), np.diff(column)
    back = steps[steps != 1]
    from_any = not len(back) and least is not None and len(column) >= least and low == np.floor(low)
    return bool(from_any or (low in (0, 1) and (back == low - column.max()).all()))


def _nameless_times(frame, notes):
    """Return the first column of a file without header, if it increases in even steps and is not the only column."""
    column = frame.iloc[:, 0]
    steps = np.diff(column.to_numpy()) if column.dtype.kind in "iuf" else np.zeros(1)
    rises = len(frame.columns) > 1 and len(frame) > 2 and (steps > 0).all()
    if not rises or np.mean(abs(steps / np.median(steps) - 1) < EVEN) < 0.9:
        return None
    said = "increases in even steps: it was read as times (time_column=none: as a channel)"
    notes.append(f"the file has no header, and column {column.name} {said}")
    return column


def _times(frame, index, reading, option, table, notes, rows):
    """Return the times, facts about them, and the names of their columns; in `rows` they must increase."""
    of_times = time_columns(frame) if reading.time_column is None else split_names(reading.time_column, table.names)
    if not of_times and index is not None:
        name = f"column {index.name}" if index.name.strip() else "index"
        return {"times": index.to_numpy(np.float64), "time_name": name}, [index.name]
    if reading.time_column == NO_TIMES or not set(of_times) <= set(table.names) or len(of_times) not in (1, 2):
        return {}, []  # other files may have the column
    where = f"the times of {option}"
    times, noted, day_first = times_of_columns([table.frame[name] for name in of_times], where, reading, table)
    notes += noted
    _refuse_disorder(times[rows], of_times, option, table.path, rows.start)
    as_times(times[rows], len(times[rows]), where)
    called = " and ".join(name.strip() or "index" for name in of_times)
    return {"times": times, "time_name": called, "day_first": day_first}, of_times


def _refuse_disorder(times, names, option, path, first):
    """Raise an error with advice for times that restart, jump back by an hour, or repeat because they are rounded."""
    steps = np.diff(times.asi8 if hasattr(times, "asi8") else times)
    falls = (steps < 0).any()
    if not (wrong := steps < 0 if falls else steps == 0).any():
        return
    row = int(np.argmax(wrong)) + 1
    before, after, way_out = times[row - 1], times[row], SORT if falls else ROUNDED
    if falls and row >= FEW and after <= times[0]:
        way_out = ONE_OF_SEVERAL.format(f"{path}:{first}-{first + row}")
    elif falls and getattr(times, "tz", times) is None and (before - after).total_seconds() < 3600:
        way_out = CLOCK
    got = f"{before} in row {first + row} and {after} in row {first + row + 1}"
    raise refused(f"{option}: the times in {' and '.join(map(repr, names))}", "be strictly increasing", got, way_out)


def _with_numbers(frame, names, table, notes):
    """Return the columns that hold numbers; columns of dates or text only are left out with a note."""
    texts = (name for name in names if kind_of_column(frame[name]) != "number")
    texts = [name for name in texts if not np.isfinite(as_numbers(frame[name], table)).any()]
    for name in texts:
        starts = np.flatnonzero((frame[name] != frame[name].shift()).to_numpy())
        row, several = starts[:2][-1], 1 < len(starts) == frame[name].nunique() <= len(frame) // FEW
        hint = f". It changes at row {row}: if recordings stand one below the other, name one, {table.path}:0-{row}"
        notes.append(f"column {name!r} holds no numbers and was left out{hint * several}")
    return [name for name in names if name not in texts]


def _noticed(columns, reading):
    """Yield warnings about channels that were not chosen by name: possible times, labels, or missing values."""
    others = {name: ",".join(other for other in columns if other != name) for name in columns}
    k = column_of_times(np.column_stack([*columns.values()]), [*columns])
    if k is not None:
        name = [*columns][k]
        as_times = "" if reading.time_column == NO_TIMES else f"time_column={name} reads it as times, "
        yield f"column {name!r} increases like times and is compared: {as_times}columns={others[name]} leaves it out"
    for name, column in columns.items():
        column = column[np.isfinite(column)]
        low, high = column.min(initial=np.inf), column.max(initial=-np.inf)
        between = column[(column > low) & (column < high)]
        if low < high and not len(between) and others[name] and len(column) > FEW:
            what = f"holds {low:g} and {high:g} alone, like labels, and is compared"
            yield f"column {name!r} {what}: columns={others[name]} leaves it out"
        for code, least, most in ((low, between.min(), high), (high, low, between.max())) if len(between) else ():
            count = (column == code).sum()
            if count > 1 and min(abs(least - code), abs(most - code)) > FAR * (most - least) > 0:
                what = f"holds {code:g} {count} times, far from the others, {least:g} to {most:g}"
                yield f"column {name!r} {what}: if it stands for what is missing, missing={code:g}"


def _numbers(column, option, table):
    """Return a column as floats; a text in it raises an error with its row."""
    numbers = as_numbers(column, table)
    wrong = np.isnan(numbers) & column.notna().to_numpy()
    if not wrong.any():
        return numbers
    row = int(np.argmax(wrong))
    cell = column.iloc[row]
    hint = "Correct the cell, name what stands for a missing value with missing=..., or the columns with columns=...."
    if isinstance(cell, str) and cell[:1].isdigit() and "," in cell:
        hint = "Name the decimal mark with decimal=..., that of thousands with thousands=...."
    got = f"{shown(cell)} in row {row + 1}{about_line(table, row)}"
    raise refused(f"{option}: the column {column.name!r}", "hold numbers", got, hint)


def no_column(option, name, tables, wanted="a column"):
    """Return the error for a column that no table has."""
    there = "; ".join(f"{of} has {listed(table)}" for of, table in tables.items())
    near = did_you_mean(name, [column for table in tables.values() for column in table])
    return ValueError(f"{option} must name {wanted}. Got {name!r}; {there}.{near}")


# ---------------------------------------------------------------------------------------------------------------- times
SEVERAL = "the times have several offsets from UTC"
HOW_DATES = "numbers, clock times, or dates such as 2024-05-01 12:30:05.25 or 01.05.2024 12:30"
MIDNIGHT = re.compile(r"(?<=[T ])24:00(?!:(?:\d*[1-9]|00\.\d*[1-9]))")  # means 0:00 of the next day
HALF_DAY, DAY = 12 * 3600 * 10**9, 24 * 3600 * 10**9  # nanoseconds
CLOCK_PARTS = r"^(\d+):(\d+)(?::(\d+(?:[.,]\d+)?))? ?(?:([AaPp])\.?[Mm]\.?)?$"
SAMPLE = 20  # cells from which the kind of a column is determined
FORMS = (number_form(*marks).pattern.replace("?P<grouped>", "") for marks in ((".", ","), (",", ".")))
EITHER = re.compile("|".join(FORMS))


def kind_of_column(column):
    """Return the kind of most of the first cells in a column: number, datetime, clock time or text."""
    if column.dtype.kind in "biufMm":
        return {"M": "datetime", "m": "clock"}.get(column.dtype.kind, "number")
    kinds = Counter(kind_of(str(cell).strip(), EITHER) for cell in column.dropna().iloc[:SAMPLE])
    return (kinds.most_common(1) or [("text", 0)])[0][0] or "text"


def time_columns(frame):
    """Return the names of the columns that hold times: no column, one, or a date and a clock time."""
    kinds = {name: kind_of_column(frame[name]) for name in frame}
    first = {kind: name for name, kind in reversed(kinds.items())}
    if {"date", "clock"} <= first.keys():
        return [first["date"], first["clock"]]
    alone = [name for name, kind in kinds.items() if kind not in ("number", "text")]
    named = [name for name in kinds if NAME.fullmatch(name)]
    named = named or [name for name in alone if not name.strip() and kinds[name] != "clock"]
    # A text column with the name of a time comes last, and is refused unless it holds dates in an unusual format.
    rank = dict.fromkeys(alone, 2) if len(alone) == 1 else {}
    rank |= {name: {"number": 1, "text": 3}.get(kinds[name], 0) for name in named}
    return sorted(rank, key=rank.get)[:1]


def times_of_columns(columns, option, reading, table=None):
    """Return the times in one or two columns, notes about them, and whether dates start with the day.

    Parameters
    ----------
    columns : list of Series
        One column, or a date and a clock time.
    option : str
        The option or argument that names them, for messages.
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

    name, zone = " and ".join(repr(column.name) for column in columns), reading.time_zone

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
            if reading.epoch is not None and not np.isnan(times).any():
                rule = f"{reading.epoch} since 1970, as epoch=... says"
                times = pd.to_datetime(times, unit=reading.epoch, utc=True)
        elif column.dtype.kind in "mM":
            times = pd.Index(column)
        else:
            column = column.astype(str).str.strip().reset_index(drop=True)
            times, notes, day_first = (clocks_of if kind == "clock" else dates_of)(column, reading.day_first)
    except (ValueError, TypeError, OverflowError, LookupError) as error:
        raise bad([True], f"{column.iloc[0]!r}, and {on_one_line(error, 80)},", rule) from None
    if pd.isna(times).any():
        raise bad(pd.isna(times), None, rule)
    if zone is None:
        return times, notes, day_first
    dates = times if isinstance(times, pd.DatetimeIndex) else pd.DatetimeIndex([])
    try:
        zoned = dates.tz_localize(zone, ambiguous="infer") if dates.tz is None else dates.tz_convert(zone)
    except Exception as error:  # the exception type depends on the version of pandas and its time zone library
        rule = f"name a zone in which {option} exist, such as Europe/Berlin, an hour that the clock repeats being there"
        raise refused("time_zone", f"{rule} twice", f"{zone!r}: {on_one_line(error)}") from None
    if dates is not times:
        return times, [*notes, f"{option} are not dates: time_zone=... does not apply to them"], None
    return zoned, [note for note in notes if SEVERAL not in note], day_first


def about_line(table, row):
    """Return the line of a row in a text file; it is exact unless comments or empty lines precede it."""
    return f" (about line {row + table.first_line})" if table is not None and table.first_line else ""


def as_numbers(column, table=None):
    """Return a column as floats, with NaN for texts."""
    import pandas as pd

    if column.dtype.kind in "biufMm":
        return column.to_numpy(np.float64) if column.dtype.kind in "biuf" else np.full(len(column), np.nan)
    decimal, thousands = (".", "") if table is None else table.marks
    if decimal != "." or thousands:
        column = column.str.replace(thousands or " ", "", regex=False).str.replace(decimal, ".", regex=False)
    return pd.to_numeric(column, errors="coerce").to_numpy(np.float64)


def _with_hours(clocks):
    """Return clock times with hours; 0 is added where there are only minutes and seconds."""
    return clocks.mask(clocks.str.fullmatch(MINUTES), "0:" + clocks)


def clocks_of(texts, day_first=None):
    """Return clock times as durations that continue after midnight, notes about them, and None."""
    import pandas as pd

    parts = _with_hours(texts).str.extract(CLOCK_PARTS)
    hours, minutes = parts[0].astype(float), parts[1].astype(float)
    hours = hours.mask(parts[3].notna(), hours % 12) + 12 * parts[3].isin(["p", "P"])
    seconds = (hours * 60 + minutes) * 60 + parts[2].fillna("0").str.replace(",", ".").astype(float)
    times = pd.TimedeltaIndex(pd.to_timedelta(seconds.round(9), unit="s")).as_unit("ns")
    days = np.cumsum(np.diff(times.asi8, prepend=times.asi8[:1]) < -HALF_DAY) * (not times.hasnans)
    note = f"the clock times pass midnight {'once' if days[-1] == 1 else f'{days[-1]} times'} and are counted on"
    return times + pd.TimedeltaIndex(days * DAY), [note] * bool(days[-1]), None


def dates_of(texts, day_first):
    """Return dates from texts (in their zone if all share one; NaT for others), notes, and `day_first`."""
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
    """Return texts as dates; texts in different formats are read one by one."""
    import pandas as pd

    order = {"format": "ISO8601"} if iso else {"dayfirst": day_first}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas warns that it reads each cell separately, and of time zones
        dates = pd.to_datetime(texts, errors="coerce", utc=utc, **order)
        other = dates.isna()
        if other.any():  # 24:00, or another format
            late, rest = texts[other].str.contains(MIDNIGHT), texts[other].str.replace(MIDNIGHT, "00:00", regex=True)
            found = pd.to_datetime(rest, errors="coerce", utc=utc, **order)
            if found.isna().any():
                found = pd.to_datetime(rest, errors="coerce", utc=utc, format="mixed", dayfirst=day_first and not iso)
            dates = pd.concat([dates[~other], found + pd.to_timedelta(late * DAY)]).sort_index()
    return pd.DatetimeIndex(dates)


def _unevenness(index):
    """Return the ratio of the largest to the smallest step; infinite if dates do not increase."""
    steps = np.diff(index.asi8)
    return steps.max() / steps.min() if len(steps) and steps.min() > 0 else np.inf


def _day_order(texts):
    """Return whether the day comes before the month; None if both are possible."""
    first, second = texts.str.extract(r"^(\d{1,2})[-/.](\d{1,2})").astype(float).max()
    return True if first > 12 or re.match(r"\d+\.", texts[0]) else False if second > 12 else None


# --------------------------------------------------------------------------------------------------------- as a reader
TEXT = bytes(range(32, 256)) + b"\t\n\r\f\x1b"  # bytes that occur in texts of any encoding


def is_table(path, head):
    """Return whether a file is a table by its name, or starts like a text."""
    packed, kind = contents(path)
    wide = head[:2] in (b"\xff\xfe", b"\xfe\xff")  # UTF-16
    return packed or kind in KINDS or wide or (head != b"" and not head.translate(None, TEXT))


def open_table(path, channels=None, missing=None, rows=None, **options):
    """Return the recording in a table, or the part in `rows`; `options` are those of `Reading`."""
    lists = {"columns": channels, "missing": missing}
    options |= {k: ",".join(map(str, np.atleast_1d(given))) for k, given in lists.items() if given is not None}
    reading, part = Reading(**options), slice(*rows or (0, None))
    found = columns_of(source_of(path, reading, "the file"), reading, "the file", part=rows and part)
    for note in found["notes"]:
        warn(note)
    times = found.get("times")
    return Recording(found["values"][part], None if times is None else times[part], found["names"])


READERS = {"table": Reader(is_table, open_table)}

"""Which columns of a table are channels, times, weights and counters of rows."""

import re

import numpy as np

from ..utils._names import did_you_mean, warn
from ..utils._times import EvenTimes, Sampling, column_of_times, is_datetime
from ..utils.validation import as_times, as_weight, refused, shown
from ._library import Reader
from ._recording import Recording, without
from ._tables import FORMATS, KINDS, Reading, listed, source_of, split_names
from ._text import contents
from ._times import about_line, as_numbers, kind_of_column, time_columns, times_of_columns

NO_TIMES = "none"  # as a name of the column of times
EVEN = 0.1  # of the median step: what rounding may add or take
FEW = 10  # rows of a recording among several, at least on average
FAR = 10  # ranges of all other values, beyond which a value that repeats may stand for a missing one
COUNTERS = set("index row sample samples nr no number id seq nseq sequence count counter packet frame".split())

# What helps where times do not increase.
CLOCK = "Where the clock was set back, name the zone, such as time_zone=Europe/Berlin; else sort the rows by time."
ONE_OF_SEVERAL = "Where recordings stand one below the other, name one, {}; else sort the rows by time."
SORT = "Sort the rows by time, or count samples: time_column=none."
ROUNDED = "If they are rounded, as spreadsheets round them, count samples: time_column=none, and rate=... per second."


def columns_of(table, reading, option, *, weighted=False, part=None, besides=()):
    """Return what the columns of a table hold.

    Parameters
    ----------
    table : Table
        A file.
    reading : Reading
        How to read it.
    option : str
        What it was given to, for messages.
    weighted : bool
        Whether a column named weight holds weights.
    part : slice, optional
        The rows that are meant, in which times must increase.
    besides : sequence of str
        Columns that are no channels.

    Returns
    -------
    dict
        `values`, `names`, `times`, `time_name`, `day_first`, `weight` and `notes`.
    """
    notes, chosen = list(table.notes), reading.columns and named(reading.columns, table.names)
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
    """Return of a recording what `columns_of` returns of a table, and its units and marks."""
    n, channels = (*recording.shape, 1)[:2]
    said = [f"{channels} channels of {n} samples; if its rows are the channels: transpose=True"] * (n < channels)
    found = times_besides(recording.times, n, reading, said)
    found |= {name: getattr(recording, name) for name in ("values", "names", "units", "marks")}
    return found | {"notes": [*notes, *(f"{path}: {note}" for note in said)]}


def times_besides(times, n, reading, notes):
    """Return the times that are in no column of a file, or those by a rate, which counts more than the file's."""
    rate, own = reading.rate, getattr(times, "rate", None)
    if rate is not None and (times is None or own):
        notes += [f"the file says {own:g} samples per second; rate={rate:g} counts"] if own not in (None, rate) else []
        times = Sampling(rate, getattr(times, "start", 0.0))
    times = EvenTimes(times, n) if isinstance(times, Sampling) else times
    return {} if times is None else {"times": times, "time_name": "time" if is_datetime(times[:1]) else "time (s)"}


def named(text, names):
    """Return the names that a text lists, or the one that it is, for a name may hold a comma."""
    return [text] if text in names else split_names(text)


def _without_index(table, notes, chosen):
    """Return the table without columns that count its rows, and an unnamed column of other numbers that increase."""
    frame, index, drop = table.frame, None, {}  # what there is to say of each column that is left out
    for k, name in enumerate(frame.columns):
        numbers, empty = frame[name].dtype.kind in "iuf", frame[name].isna().all()
        column = frame[name].to_numpy() if numbers else np.empty(0)
        counter = (_is_counter(name) or (k == 0 and table.header)) and counts(column, FEW)
        if not name.strip() and (k or numbers):
            drop[name] = "" if empty or counts(column) else f"column {k + 1} has no name and was left out"
            if drop[name] and k == 0 and (np.diff(column) > 0).all():
                index, drop[name] = frame[name], "the first column has no name and increases: it was read as times"
        elif (empty or counter) and not chosen and not time_columns(frame[[name]]):
            what = "is empty" if empty else "counts the rows"
            drop[name] = f"column {name!r} {what} and was left out (columns=... takes it)"
    left = frame.drop(columns=list(drop))
    if not chosen and index is None and not any(kind_of_column(left[name]) == "number" for name in left):
        return frame, None  # what counts is all that there is
    notes += filter(None, drop.values())
    return left, index


def _is_counter(name):
    """Return whether a name is one of columns that count the rows: ``no.``, ``sample #``, ``row_id``."""
    words = re.findall(r"[^\W\d_]+", name.lower())
    return COUNTERS.issuperset(words) if words else name == "#"


def counts(column, least=None):
    """Return whether numbers count rows from 0 or 1, once or, to the same number, again and again.

    At `least` as many rows may be counted from any number on, as in a part of a recording.
    """
    if len(column) < 2:
        return False
    low, steps = column.min(), np.diff(column)
    back = steps[steps != 1]
    from_any = not len(back) and least is not None and len(column) >= least and low == np.floor(low)
    return bool(from_any or (low in (0, 1) and (back == low - column.max()).all()))


def _nameless_times(frame, notes):
    """Return the first column of a file without a header, if it increases in even steps and others are next to it."""
    column = frame.iloc[:, 0]
    steps = np.diff(column.to_numpy()) if column.dtype.kind in "iuf" else np.zeros(1)
    rises = len(frame.columns) > 1 and len(frame) > 2 and (steps > 0).all()
    if rises and np.mean(abs(steps / np.median(steps) - 1) < EVEN) >= 0.9:
        said = "increases in even steps: it was read as times (time_column=none: as a channel)"
        notes.append(f"the file has no header, and column {column.name} {said}")
        return column
    return None


def _times(frame, index, reading, option, table, notes, rows):
    """Return times and what belongs to them, and the columns that they are from; in `rows` they must increase."""
    of_times = time_columns(frame) if reading.time_column is None else named(reading.time_column, table.names)
    if not of_times and index is not None:
        name = f"column {index.name}" if index.name.strip() else "index"
        return {"times": index.to_numpy(np.float64), "time_name": name}, [index.name]
    if reading.time_column == NO_TIMES or not set(of_times) <= set(table.names) or len(of_times) not in (1, 2):
        return {}, []  # another file may have it
    where = f"the times of {option}"
    times, noted, day_first = times_of_columns([table.frame[name] for name in of_times], where, reading, table)
    notes += noted
    _refuse_disorder(times[rows], of_times, option, table.path, rows.start)
    as_times(times[rows], len(times[rows]), where)
    called = " and ".join(name.strip() or "index" for name in of_times)
    return {"times": times, "time_name": called, "day_first": day_first}, of_times


def _refuse_disorder(times, names, option, path, first):
    """Say what helps where times start again, are set back by an hour, or never fall but repeat: they are rounded."""
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
    what = f"{option}: the times in {' and '.join(map(repr, names))}"
    raise refused(what, "be strictly increasing", got, way_out)


def _with_numbers(frame, names, table, notes):
    """Return the columns that hold numbers; what holds nothing but dates or text is left out, and said so."""
    texts = (name for name in names if kind_of_column(frame[name]) != "number")
    texts = [name for name in texts if not np.isfinite(as_numbers(frame[name], table)).any()]
    for name in texts:
        column, hint = frame[name], ""
        starts = np.flatnonzero((column != column.shift()).to_numpy())
        if 1 < len(starts) == column.nunique() <= len(column) // FEW:
            one = f"{table.path}:0-{starts[1]}"
            hint = f". It changes at row {starts[1]}: if recordings stand one below the other, name one, {one}"
        notes.append(f"column {name!r} holds no numbers and was left out{hint}")
    return [name for name in names if name not in texts]


def _noticed(columns, reading):
    """Yield what may be wrong with channels that nobody named: times, labels, and numbers for what is missing."""
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
    """Return a column as floats; a text in it is refused with its row."""
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
    """Return the error of a column that no table has."""
    there = "; ".join(f"{of} has {listed(table)}" for of, table in tables.items())
    near = did_you_mean(name, [column for table in tables.values() for column in table])
    return ValueError(f"{option} must name {wanted}. Got {name!r}; {there}.{near}")


# --------------------------------------------------------------------------------------------------------- as a reader
TEXT = bytes(range(32, 256)) + b"\t\n\r\f\x1b"  # bytes of a text, whatever its encoding


def is_table(path, head):
    """Return whether a file is called as a table, or begins as a text."""
    packed, kind = contents(path)
    wide = head[:2] in (b"\xff\xfe", b"\xfe\xff")  # of UTF-16
    return packed or kind in KINDS or wide or (head != b"" and not head.translate(None, TEXT))


def open_table(path, channels=None, missing=None, rows=None, **options):
    """Return the recording in a table, or the part in `rows`; `options` are those of `Reading`."""
    for name, given in (("columns", channels), ("missing", missing)):
        if given is not None:
            options[name] = ",".join(map(str, given)) if isinstance(given, list | tuple) else str(given)
    reading, part = Reading(**options), slice(*rows or (0, None))
    found = columns_of(source_of(path, reading, "the file"), reading, "the file", part=rows and part)
    for note in found["notes"]:
        warn(note)
    times = found.get("times")
    return Recording(found["values"][part], None if times is None else times[part], found["names"])


READERS = {"table": Reader(is_table, open_table)}

"""Which columns of a table are channels, times, weights and counters of rows."""

import re

import numpy as np

from ..utils._times import EvenTimes, Sampling, column_of_times
from ..utils.validation import as_times, as_weight, shown, unknown_name
from ._tables import FORMATS, listed, split_names
from ._times import about_line, as_numbers, kind_of_column, time_columns, times_of_columns

NO_TIMES = "none"  # as a name of the column of times
EVEN = 0.1  # of the median step: what rounding may add or take
FEW = 10  # rows of a recording among several, at least on average
FAR = 10  # ranges of all other values, beyond which a value that repeats may stand for a missing one
HOUR = np.timedelta64(3600, "s")
CLOCK_CHANGES = {(month, hour) for month in (3, 4, 9, 10, 11) for hour in range(4)}
COUNTERS = set("index row sample samples nr no number id seq nseq sequence count counter packet frame".split())


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
        `values` (DataFrame or array), `times`, `time_name`, `day_first`, `weight` and `notes`.
    """
    frame, notes = table.frame, [f"{table.path}: {note}" for note in table.notes]
    chosen = None if reading.columns is None else named(reading.columns, table.names)
    wrong = next((name for name in chosen or () if name not in table.names), None)
    if wrong is not None:
        raise no_column("The 'columns' parameter", wrong, {option: table.names})
    words = [float(word) for word in reading.words if re.fullmatch(r"[+-]?[\d.]+", word)]
    if not hasattr(frame, "columns"):
        times, time_name = _by_rate(table, reading, notes)
        frame = np.where(np.isin(frame, words), np.nan, frame) if words else frame
        if chosen is not None:
            import pandas as pd

            frame = pd.DataFrame({name: np.asarray(frame[:, table.names.index(name)], float) for name in chosen})
        return {"values": frame, "times": times, "time_name": time_name, "notes": notes}
    frame, index = _without_index(table, notes, reading.columns is None)
    if index is None and not table.header and reading.time_column is None:
        index = _nameless_times(frame, table.path, notes)
    times, time_name, of_times, day_first = _times(frame, index, reading, option, table, notes, part or slice(0, None))
    if times is None:
        times, time_name = _by_rate(table, reading, notes)
    weight, weight_name = None, reading.weight_column if weighted else None
    if weight_name is not None and weight_name not in table.names:
        raise no_column("The 'weight_column' parameter", weight_name, {option: frame})
    if weighted and weight_name is None and part is None:
        weight_name = next((name for name in frame if name.lower() == "weight"), None)
    if weight_name is not None:
        weight = _numbers(table.frame[weight_name], option, table)
        as_weight(weight, len(frame), 1, name="weight_column=...")
    names = chosen
    if names is None:
        names = [name for name in frame if name not in (*of_times, weight_name, *besides)]
        names = _with_numbers(frame, names, table, notes)
    if not names:
        raise ValueError(
            f"The 'columns' parameter must name at least one column of values. Got none in {option}: "
            f"{listed(table.names)}. Files are {FORMATS}."
        )
    columns = {name: _numbers(table.frame[name], option, table) for name in names}
    if words:
        columns = {name: np.where(np.isin(column, words), np.nan, column) for name, column in columns.items()}
    values = frame.iloc[:, :0].reset_index(drop=True).assign(**columns)
    if chosen is None:
        notes += [f"{table.path}: {text}" for text in _noticed(columns, reading)]
    of_times = {"times": times, "time_name": time_name, "day_first": day_first}
    return {"values": values, "weight": weight, "notes": notes, **of_times}


def _by_rate(table, reading, notes):
    rate = reading.rate or table.rate
    if rate is None:
        return None, None
    if table.rate not in (None, rate):
        notes.append(f"{table.path}: the file says {table.rate:g} samples per second; rate={rate:g} counts")
    return EvenTimes(Sampling(rate), len(table.frame)), "time (s)"


def named(text, names):
    """Return the names that a text lists, or the one that it is, for a name may hold a comma."""
    return [text] if text in names else split_names(text)


def _without_index(table, notes, leave_out):
    """Return the table without columns that count its rows, and an unnamed column of other numbers that increase."""
    frame, index, drop = table.frame, None, []
    for k, name in enumerate(frame.columns):
        kind = kind_of_column(frame[name])
        column = frame[name].to_numpy() if frame[name].dtype.kind in "iuf" else np.empty(0)
        empty, unnamed = frame[name].isna().all(), not name.strip()
        counter = _is_counter(name) or (k == 0 and table.header and name.lower() not in ("t", "time"))
        if unnamed and (k or kind == "number"):
            drop.append(name)
            if empty or counts(column):
                continue  # nothing is lost
            if k == 0 and len(column) and (np.diff(column) > 0).all():
                index = frame[name]
                notes.append(f"{table.path}: the first column has no name and increases: it was read as times")
            else:
                notes.append(f"{table.path}: column {k + 1} has no name and was left out")
        elif (empty or (counter and counts(column))) and not time_columns(frame[[name]]) and leave_out:
            why = "is empty" if empty else "counts the rows"
            drop.append(name)
            notes.append(f"{table.path}: column {name!r} {why} and was left out (columns=... takes it)")
    if len(drop) == len(frame.columns):  # what counts is all that there is
        return frame, None
    return frame.drop(columns=drop), index


def _is_counter(name):
    """Return whether a name is one of columns that count the rows: ``no.``, ``sample #``, ``row_id``."""
    words = re.findall(r"[^\W\d_]+", name.lower())
    return COUNTERS.issuperset(words) if words else name == "#"


def counts(column):
    """Return whether numbers count rows from 0 or 1, or count to a number again and again."""
    if len(column) < 2 or (not np.isin(column[0], (0, 1)) and not (column == np.floor(column)).all()):
        return False
    steps = np.diff(column)
    back = steps != 1
    if not back.any():
        return column[0] in (0, 1)
    return bool(len({*steps[back]}) == 1 and steps[back][0] == column.min() - column.max() and column.min() in (0, 1))


def _nameless_times(frame, path, notes):
    """Return the first column of a file without a header, if it increases in even steps and others are next to it."""
    column = frame.iloc[:, 0]
    if len(frame.columns) < 2 or len(frame) < 3 or column.dtype.kind not in "iuf":
        return None
    steps = np.diff(column.to_numpy())
    if not (steps > 0).all() or np.mean(abs(steps / np.median(steps) - 1) < EVEN) < 0.9:
        return None
    notes.append(
        f"{path}: the file has no header, and column {column.name} increases in even steps: it was read as times "
        "(time_column=none: as a channel)"
    )
    return column


def _times(frame, index, reading, option, table, notes, rows):
    """Return times, their name, and the columns that they are from; in the rows that are meant they must increase."""
    if reading.time_column == NO_TIMES:
        return None, None, [], None
    if reading.time_column is None:
        of_times = time_columns(frame)
        if not of_times:
            if index is None:
                return None, None, [], None
            name = index.name.strip()
            return index.to_numpy(np.float64), f"column {name}" if name else "index", [index.name], None
    else:
        of_times = named(reading.time_column, table.names)
        if not set(of_times) <= set(table.names) or len(of_times) not in (1, 2):
            return None, None, [], None  # another file may have it
    where = f"the times of {option}"
    times, noted, day_first = times_of_columns([table.frame[name] for name in of_times], where, reading, table)
    notes += [f"{table.path}: {note}" for note in noted]
    _refuse_disorder(times[rows], of_times, option, table.path, rows.start)
    as_times(times[rows], len(times[rows]), where)
    return times, " and ".join(name.strip() or "index" for name in of_times), of_times, day_first


def _refuse_disorder(times, names, option, path, first):
    """Say what helps where times start again, are set back by an hour, or never fall but repeat: they are rounded."""
    steps = np.diff(times.asi8 if hasattr(times, "asi8") else times)
    back = (steps < 0).any()
    row = int(np.argmax(steps < 0 if back else steps == 0)) + 1 if len(steps) else 0
    if not row or steps[row - 1] > 0:
        return
    dated = times.dtype.kind == "M" and getattr(times, "tz", None) is None
    if back and dated and times[row - 1] - times[row] < HOUR and (times[row].month, times[row].hour) in CLOCK_CHANGES:
        way_out = (
            "Where they are local times and the clock was set back, name their zone: time_zone=Europe/Berlin, say, "
            "reads the repeated hour in order; else sort the rows by time."
        )
    elif back and row >= FEW and times[row] <= times[0]:
        one = f"{path}:{first}-{first + row}"
        way_out = f"Where recordings stand one below the other, name one, {one}; else sort the rows by time."
    elif back:
        way_out = "Sort the rows by time, or count samples: time_column=none."
    else:
        way_out = (
            "If they are rounded, as spreadsheets round them to seconds, count samples: time_column=none, and rate=... "
            "says how many there are in a second."
        )
    raise ValueError(
        f"{option}: the times in {' and '.join(map(repr, names))} must be strictly increasing. Got {times[row - 1]} in "
        f"row {first + row} and {times[row]} in row {first + row + 1}. {way_out}"
    )


def _with_numbers(frame, names, table, notes):
    """Return the columns that hold numbers; what holds nothing but dates or text is left out, and said so."""
    kept = []
    for name in names:
        column = frame[name]
        if kind_of_column(column) == "number" or np.isfinite(as_numbers(column, table)).any():
            kept.append(name)
        else:
            notes.append(f"{table.path}: column {name!r} holds no numbers and was left out{_parts(column, table.path)}")
    return kept


def _parts(column, path):
    """Return a hint for a text column that may name recordings one below the other; empty if it does not look so."""
    starts = np.flatnonzero((column != column.shift()).to_numpy())
    if not 1 < len(starts) == column.nunique() <= len(column) // FEW:
        return ""
    return f". It changes at row {starts[1]}: if recordings stand one below the other, name one, {path}:0-{starts[1]}"


def _noticed(columns, reading):
    """Yield what may be wrong with channels that nobody named: times, labels, and numbers for what is missing."""
    names = list(columns)
    k = column_of_times(np.column_stack([*columns.values()]), names)
    if k is not None:
        rest = ",".join(name for name in names if name != names[k])
        as_times = "" if reading.time_column == NO_TIMES else f"time_column={names[k]} reads it as times, "
        yield f"column {names[k]!r} increases like times and is compared: {as_times}columns={rest} leaves it out"
    for name, column in columns.items():
        column = column[np.isfinite(column)]
        low, high = column.min(initial=np.inf), column.max(initial=-np.inf)
        between = column[(column > low) & (column < high)]
        if low < high and not len(between) and len(names) > 1 and len(column) > FEW:
            rest = ",".join(other for other in names if other != name)
            yield (
                f"column {name!r} holds {low:g} and {high:g} alone, like labels, and is compared: columns={rest} "
                "leaves it out"
            )
        if not len(between):
            continue
        for code, least, most in ((low, between.min(), high), (high, low, between.max())):
            count = (column == code).sum()
            if count > 1 and min(abs(least - code), abs(most - code)) > FAR * (most - least) > 0:
                yield (
                    f"column {name!r} holds {code:g} {count} times, far from the others, {least:g} to {most:g}: if it "
                    f"stands for what is missing, missing={code:g}"
                )


def _numbers(column, option, table):
    """Return a column as floats; a text in it is refused with its row."""
    numbers = as_numbers(column, table)
    wrong = np.isnan(numbers) & column.notna().to_numpy()
    if not wrong.any():
        return numbers
    row = int(np.argmax(wrong))
    cell = column.iloc[row]
    hint = (
        "Correct the cell, empty it or name what stands for a missing value with missing={0}, or name the columns to "
    )
    hint = f"{hint.format(str(cell).strip())}compare with columns=..."
    if isinstance(cell, str) and cell[:1].isdigit() and "," in cell:
        hint = "Name the decimal mark with decimal=..., that of thousands with thousands=..."
    raise ValueError(
        f"{option}: the column {column.name!r} must hold numbers. Got {shown(cell)} in row {row + 1}"
        f"{about_line(table, row)}. {hint}."
    )


def no_column(option, name, tables, wanted="a column"):
    """Return the error of a column that no table has."""
    there = "; ".join(f"{of} has {listed(table)}" for of, table in tables.items())
    known = [column for table in tables.values() for column in table]
    near = str(unknown_name("column", name, known)).partition("Did you mean ")[2].partition("?")[0]
    hint = f" Did you mean {near}?" if near else ""
    return ValueError(f"{option} must name {wanted}. Got {name!r}; {there}.{hint}")

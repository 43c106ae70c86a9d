"""Recordings from tables, and queries as slices of them: FILE:START-STOP in samples, seconds or timestamps.

The module decides which columns are channels, times, weights and an index, and which are compared with each other. It
brings channels to one scale before they are compared, by their own means and deviations or by numbers.
"""

import os
import re
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..io._tables import FORMATS, kind_of_column, read_table, time_columns, times_of_columns
from ..utils._times import column_of_times
from ..utils.validation import as_times, as_weight, shown, unknown_name
from . import PART
from .output import note, write_numbers

SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SLACK = 1e-6  # of the median step
NUMBER = r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
UNIT = "|".join(SECONDS)
CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
DAY_FIRST = r"(\d{1,2})\.(\d{1,2})\.(\d{4})"
STAMP = rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|{DAY_FIRST.replace('(', '(?:')})(?:[T ]{CLOCK}(?: ?Z|[+-]\d{{2}}:?\d{{2}})?)?"
FORMS = {
    "samples": re.compile(r"(\d+)()(?:-|\.\.)(\d+)()"),
    "seconds": re.compile(rf"({NUMBER})({UNIT})?(?:-|\.\.)({NUMBER})({UNIT})"),
    "clock": re.compile(rf"({CLOCK})()(?:-|\.\.)({CLOCK})()"),
    "stamps": re.compile(rf"({STAMP})()\.\.({STAMP})()"),
}


class Slice(NamedTuple):
    """A part of a recording as it was written: `kind` is a key of FORMS, start and stop are numbers or texts."""

    kind: str
    start: object
    stop: object
    text: str


def parse_slice(text):
    """Return the slice that a text stands for, or None where it stands for no slice."""
    for kind, form in FORMS.items():
        if found := form.fullmatch(text):
            start, of_start, stop, of_stop = found.groups()
            if kind == "samples":
                start, stop = int(start), int(stop)
            elif kind == "seconds":
                start, stop = _in_seconds(start, of_start or of_stop), _in_seconds(stop, of_stop)
            return Slice(kind, start, stop, text)
    return None


def _in_seconds(number, unit):
    return float(number.replace(",", ".")) * SECONDS[unit]


def seconds_of(text):
    """Return the seconds of a duration such as 1.5s, or None for any other text."""
    found = re.fullmatch(rf"({NUMBER}) ?({UNIT})", text)
    return None if found is None else _in_seconds(*found.groups())


def split_slice(text):
    """Return a path and the slice behind it, or None; drive letters and timestamps have colons, too."""
    if os.path.exists(text):
        return text, None
    for colon in re.finditer(":", text):
        cut = parse_slice(text[colon.end() :])
        if cut is not None:
            return text[: colon.start()], cut
    return text, None


def samples_of(cut, times, time_name, n, option):
    """Return the half-open range of samples that a slice stands for.

    Parameters
    ----------
    cut : Slice
        The slice.
    times : ndarray, DatetimeIndex, TimedeltaIndex or None
        Times of the recording.
    time_name : str or None
        Name of their column, which may say their unit.
    n : int
        Number of samples.
    option : str
        What the slice was given to, for messages.

    Returns
    -------
    tuple of int
    """
    if cut.kind == "samples":
        start, stop = cut.start, cut.stop
    elif times is None:
        raise ValueError(
            f"{option}: a slice in seconds or timestamps needs times. Got {cut.text!r} of a recording without a column "
            "of times. Name it with --time-column, say how many samples a second has with --rate, or write samples, "
            "such as 1500-1572."
        )
    else:
        start, stop = _by_times(cut, times, time_name, option)
    if not 0 <= start < stop <= n:
        span = "" if times is None else f", times {times[0]} to {times[-1]}"
        raise ValueError(
            f"{option}: a slice must lie in the recording, START before STOP. Got {cut.text!r}, which is samples "
            f"{start} to {stop}; there are {n}{span}."
        )
    return start, stop


def unit_of(name):
    """Return the seconds in a unit of a column of numbers, as its name says: ``time_ms``, ``t (s)``; else 1."""
    found = re.search(r"[\s_(\[/.]([a-zµ]+)[)\]]?$", (name or "").lower())
    word = found[1] if found else ""
    return SECONDS.get({"seconds": "s", "second": "s", "hours": "h", "minutes": "min"}.get(word, word), 1.0)


def _by_times(cut, times, time_name, option):
    import pandas as pd

    if not isinstance(times, pd.Index):  # numbers
        if cut.kind != "seconds":
            raise ValueError(
                f"{option}: a slice in timestamps needs a recording with dates. Got {cut.text!r}, and times from "
                f"{times[0]} to {times[-1]}. Write seconds, such as 12.5s-13.1s."
            )
        wanted, what = np.array([cut.start, cut.stop]) / unit_of(time_name), "times"
    else:
        # Seconds from the first sample.
        try:
            if cut.kind == "seconds":
                wanted = np.array([cut.start, cut.stop])
            else:
                wanted = np.array([(_stamp(v, cut.kind, times) - times[0]).total_seconds() for v in cut[1:3]])
        except (ValueError, TypeError) as error:
            raise ValueError(f"{option}: cannot find {cut.text!r} among times from {times[0]}: {error}.") from None
        what = f"seconds after {times[0]}"
        times = (times - times[0]).total_seconds().to_numpy()
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    if wanted[0] < times[0] - SLACK * step or wanted[1] > times[-1] + 1.5 * step:
        since = " If they count from 1970: --epoch s, ms, us or ns; slices then count from the first."
        since = since if times[0] > 1e8 else ""
        raise ValueError(
            f"{option}: a slice must lie in the recording. Got {cut.text!r}, and {what} from {times[0]:.16g} to "
            f"{times[-1]:.16g}{'' if time_name is None else f' in {time_name!r}'}.{since}"
        )
    start, stop = first_samples(times, wanted)
    return int(start), int(stop)


def first_samples(times, wanted):
    """Return the first samples that are not before times; as it was written, one may lie a rounding error off."""
    slack = SLACK * float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return np.searchsorted(times, wanted - slack)


def _stamp(text, kind, times):
    """Read a timestamp, in the recording's zone if it has none of its own; a clock time is on its first day."""
    import pandas as pd

    text = text.replace(",", ".")
    if kind == "clock":
        time = pd.Timedelta(text if text.count(":") == 2 else f"{text}:00")
        return time if isinstance(times, pd.TimedeltaIndex) else times[0].normalize() + time
    if isinstance(times, pd.TimedeltaIndex):
        raise ValueError("they are clock times without a date")
    stamp = pd.Timestamp(re.sub(rf"^{DAY_FIRST}", r"\3-\2-\1", text))
    return stamp.tz_localize(times.tz) if stamp.tz is None and times.tz is not None else stamp


NO_TIMES = "none"  # as a name of the column of times
EVEN = 0.1  # of the median step: what rounding may add or take
FEW = 10  # rows of a recording among several, at least on average
COUNTERS = {"index", "row", "sample", "samples", "nr", "no", "number", "id"}  # words of a column that counts the rows


@dataclass
class Recording:
    """Values, times and weights that were read from a file, or from a slice of it."""

    path: str
    option: str  # what it was given to, for messages
    values: object  # DataFrame (n, channels), or an array that is not in memory
    times: object = None  # ndarray, DatetimeIndex or TimedeltaIndex
    time_name: str | None = None
    weight: np.ndarray | None = None
    others: object = None  # DataFrame of all columns of the file
    part: object = None  # the slice that it is
    first: int = 0  # its first sample in the file
    begin: object = None  # the first time in the file
    notes: list = field(default_factory=list)

    def __len__(self):
        return len(self.values)

    @property
    def names(self):
        """Names of the channels."""
        columns = getattr(self.values, "columns", None)
        return [str(k + 1) for k in range(self.values.shape[1])] if columns is None else list(columns)

    @property
    def title(self):
        """The file and the slice, as they were given."""
        return self.path if self.part is None else f"{self.path}:{self.part.text}"

    @property
    def numbers(self):
        """The values (n, channels) without names."""
        return self.values.to_numpy() if hasattr(self.values, "columns") else self.values

    def take(self, names, called=None):
        """Return the recording with the channels of these names alone, renamed to `called` if it is given."""
        if names == self.names and called is None and not hasattr(self.values, "columns"):
            return self
        import pandas as pd

        frame = self.values
        if not hasattr(frame, "columns"):
            frame = pd.DataFrame(np.asarray(frame, np.float64), columns=self.names)
        return replace(self, values=frame[names].set_axis(called or names, axis=1))

    def cut(self, part):
        """Return a part of the recording."""
        start, stop = samples_of(part, self.times, self.time_name, len(self), self.option)
        frame = hasattr(self.values, "columns")
        rows = slice(start, stop)
        return replace(
            self,
            values=self.values.iloc[rows].reset_index(drop=True) if frame else np.array(self.values[rows]),
            times=None if self.times is None else self.times[rows],
            weight=None if self.weight is None else self.weight[rows],
            others=None if self.others is None else self.others.iloc[rows],
            part=part,
            first=start,
            begin=None if self.times is None else self.times[0],
        )


class Files:
    """Reads recordings; a file that is named twice is read once."""

    def __init__(self, reading):
        self.reading, self._tables = reading, {}

    def read(self, given, option, *, weighted=False, besides=()):
        """Read a recording.

        Parameters
        ----------
        given : str
            A file, or a slice of it.
        option : str
            What it was given to.
        weighted : bool
            Whether a column named weight holds weights. Of a slice only a column that is named by the option does.
        besides : sequence of str
            Columns that are no channels.

        Returns
        -------
        Recording
        """
        path, part = split_slice(given)
        if path not in self._tables:
            try:
                self._tables[path] = read_table(path, self.reading, option)
            except ValueError as error:
                hint = f" A part of a file is written {PART}." if ":" in given[2:] and part is None else ""
                raise ValueError(f"{error}{hint}") from None
        recording = _recording(self._tables[path], self.reading, option, weighted, part, besides)
        if self.reading.columns is None:
            _note_times(recording, self.reading)
        return recording if part is None else recording.cut(part)

    def check(self):
        """Refuse a column of times that no file has; called when all are read."""
        wanted = self.reading.time_column
        known = [name for table in self._tables.values() for name in table.names]
        if wanted not in (None, NO_TIMES, *known) and not {*split_names(wanted)} <= {*known}:
            raise no_column("--time-column", wanted, {path: table.names for path, table in self._tables.items()})


def _recording(table, reading, option, weighted, part, besides):
    frame, notes = table.frame, [f"{table.path}: {note}" for note in table.notes]
    if not hasattr(frame, "columns"):
        times, time_name = _by_rate(len(frame), reading.rate or table.rate)
        recording = Recording(table.path, option, frame, times, time_name, notes=notes)
        chosen = _chosen(table, reading, option)
        return recording.take(chosen) if chosen else recording
    frame, index = _without_index(table, notes)
    if index is None and not table.header and reading.time_column is None:
        index = _nameless_times(frame, table.path, notes)
    rows = slice(part.start, part.stop) if part is not None and part.kind == "samples" else slice(0, None)
    times, time_name, of_times = _times(frame, index, reading, option, table.path, notes, rows)
    if times is None:
        times, time_name = _by_rate(len(frame), reading.rate)
    weight_name = reading.weight_column if weighted else None
    if weight_name is not None and weight_name not in frame:
        raise no_column("--weight-column", weight_name, {option: frame})
    if weighted and weight_name is None and part is None:
        weight_name = next((name for name in frame if name.lower() == "weight"), None)
    names = _chosen(table, reading, option)
    if names is None:
        names = [c for c in frame if c not in (*of_times, weight_name, *besides)]
        names = _without_text(frame, names, table, notes)
    if not names:
        raise ValueError(
            f"--columns must name at least one column of values. Got none in {option}: {listed(table.names)}. "
            f"Files are {FORMATS}."
        )
    for name in names:
        _refuse_text(table.frame[name], option, table)
    weight = None
    if weight_name is not None:
        _refuse_text(frame[weight_name], "--weight-column", table)
        weight = frame[weight_name].to_numpy(np.float64)
        as_weight(weight, len(frame), len(names), name="--weight-column")
    values = table.frame[names].astype(np.float64).reset_index(drop=True)
    return Recording(table.path, option, values, times, time_name, weight, table.frame, notes=notes)


def _by_rate(n, rate):
    return (None, None) if rate is None else (np.arange(n) / rate, "time (s)")


def _chosen(table, reading, option):
    """Return the columns that --columns names; None without."""
    if reading.columns is None:
        return None
    names = _named(reading.columns, table.names)
    for name in names:
        if name not in table.names:
            raise no_column("--columns", name, {option: table.names})
    return names


def _named(text, names):
    """Return the names that a text lists, or the one that it is, for a name may hold a comma."""
    return [text] if text in names else split_names(text)


def split_names(text):
    """Return names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _without_index(table, notes):
    """Return the table without a column that counts the rows, and an unnamed column of other numbers that increase."""
    frame, index = table.frame, None
    drop = []
    for k, name in enumerate(frame.columns):
        if not name.strip() and (k or kind_of_column(frame[name]) == "number"):
            drop.append(name)
            column = frame[name].to_numpy()
            if frame[name].isna().all() or counts(column):
                continue  # nothing is lost
            if k == 0 and column.dtype.kind in "iuf" and (np.diff(column) > 0).all():
                index = frame[name]
                notes.append(f"{table.path}: the first column has no name and increases: it was read as times")
            else:
                notes.append(f"{table.path}: column {k + 1} has no name and was left out")
        elif _is_counter(name) and kind_of_column(frame[name]) == "number" and counts(frame[name].to_numpy()):
            drop.append(name)
            notes.append(f"{table.path}: column {name!r} counts the rows and was left out (--columns takes it)")
    return frame.drop(columns=drop), index


def _is_counter(name):
    """Return whether a name is one of columns that count the rows: ``no.``, ``sample #``, ``row_id``."""
    words = re.findall(r"[^\W\d_]+", name.lower())
    return COUNTERS.issuperset(words) if words else name == "#"


def _nameless_times(frame, path, notes):
    """Return the first column of a file without a header, if it increases in even steps and others are next to it."""
    column = frame.iloc[:, 0]
    if len(frame.columns) < 2 or len(frame) < 3 or kind_of_column(column) != "number":
        return None
    steps = np.diff(column.to_numpy())
    if not (steps > 0).all() or np.mean(abs(steps / np.median(steps) - 1) < EVEN) < 0.9:
        return None
    notes.append(
        f"{path}: the file has no header, and column {column.name} increases in even steps: it was read as times "
        "(--time-column none: as a channel)"
    )
    return column


def counts(column):
    """Return whether numbers count rows, from 0 or 1."""
    return len(column) > 1 and column[0] in (0, 1) and np.array_equal(column, np.arange(len(column)) + column[0])


def _times(frame, index, reading, option, path, notes, rows):
    """Return times, their name, and the columns that they are from; in the rows that are meant they must increase."""
    if reading.time_column == NO_TIMES:
        return None, None, []
    if reading.time_column is None:
        of_times = time_columns(frame)
        if not of_times:
            if index is None:
                return None, None, []
            name = index.name.strip()
            return index.to_numpy(np.float64), f"column {name}" if name else "index", [index.name]
    else:
        of_times = _named(reading.time_column, frame)
        if not set(of_times) <= set(frame) or len(of_times) not in (1, 2):
            return None, None, []  # another file may have it
    where = f"--time-column of {option}"
    times, noted = times_of_columns([frame[name] for name in of_times], where, reading)
    notes += [f"{path}: {note}" for note in noted]
    _refuse_disorder(times[rows], of_times, option, path, rows.start)
    as_times(times[rows], len(times[rows]), where)
    return times, " and ".join(name.strip() or "index" for name in of_times), of_times


def _refuse_disorder(times, names, option, path, first):
    """Say what helps where times of a file start again, or never fall but repeat: they are rounded."""
    steps = np.diff(times.asi8 if hasattr(times, "asi8") else times)
    back = (steps < 0).any()
    row = int(np.argmax(steps < 0 if back else steps == 0)) + 1 if len(steps) else 0
    if back and row >= FEW and times[row] <= times[0]:
        one = f"{path}:{first}-{first + row}"
        way_out = f"Where recordings stand one below the other, name one, {one}; else sort the rows by time."
    elif not back and row and steps[row - 1] == 0:
        way_out = (
            "If they are rounded, as spreadsheets round them to seconds, count samples: --time-column none, and --rate "
            "says how many there are in a second."
        )
    else:
        return
    raise ValueError(
        f"{option}: the times in {' and '.join(map(repr, names))} must be strictly increasing. Got {times[row - 1]} in "
        f"row {first + row} and {times[row]} in row {first + row + 1}. {way_out}"
    )


def _without_text(frame, names, table, notes):
    """Return the columns that hold numbers; what holds nothing but dates or text is left out, and said so."""
    kept = []
    for name in names:
        column = frame[name]
        if kind_of_column(column) == "number" or _numbers(column).notna().any():
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


def _note_times(recording, reading):
    """Say of a column that is compared, and was not named, that it looks like times."""
    names = recording.names
    k = column_of_times(recording.numbers, names)
    if k is not None:
        rest = ",".join(name for name in names if name != names[k])
        as_times = "" if reading.time_column == NO_TIMES else f"--time-column {names[k]} reads it as times, "
        recording.notes.append(
            f"{recording.path}: column {names[k]!r} increases like times and is compared: {as_times}--columns {rest} "
            "leaves it out"
        )


def _numbers(column):
    import pandas as pd

    if column.dtype.kind in "Mm" or hasattr(column.dtype, "tz"):
        return pd.Series(np.nan, column.index)
    return pd.to_numeric(column, errors="coerce")


def _refuse_text(column, option, table):
    """Say which cell of a column is no number."""
    if column.dtype.kind in "biuf":
        return
    wrong = _numbers(column).isna() & column.notna()
    if not wrong.any():
        return
    row = int(np.argmax(wrong.to_numpy()))
    cell = column.iloc[row]
    hint = "Correct the cell, empty it if its value is missing, or name the columns to compare with --columns"
    if isinstance(cell, str) and cell[:1].isdigit() and "," in cell:
        hint = "Name the decimal mark with --decimal, that of thousands with --thousands"
    # Comments and empty lines are no rows, so without them the line is the row's.
    line = f" (about line {row + table.first_line})" if table.first_line else ""
    raise ValueError(
        f"{option}: the column {column.name!r} must hold numbers. Got {shown(cell)} in row {row + 1}{line}. {hint}."
    )


def no_column(option, name, tables, wanted="a column"):
    """Return the error of a column that no table has."""
    there = "; ".join(f"{of} has {listed(table)}" for of, table in tables.items())
    known = [column for table in tables.values() for column in table]
    near = str(unknown_name("column", name, known)).partition("Did you mean ")[2].partition("?")[0]
    hint = f" Did you mean {near}?" if near else ""
    return ValueError(f"{option} must name {wanted}. Got {name!r}; {there}.{hint}")


def listed(names):
    """Return names in a message."""
    names = [str(name) for name in names]
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "") if names else "none"


def compared(queries, sequence):
    """Return the queries and sequence with the same channels by the same names, and a line that says what is compared.

    Parameters
    ----------
    queries : list of Recording
        The queries.
    sequence : Recording
        The sequence; further columns of it are not compared.

    Returns
    -------
    tuple of (list of Recording, Recording, str)
    """
    wanted = queries[0].names
    named = hasattr(queries[0].values, "columns") and hasattr(sequence.values, "columns")
    there = wanted if set(wanted) <= set(sequence.names) else sequence.names
    for query in queries:
        if not set(wanted) <= set(query.names) and len(query.names) != len(wanted):
            raise _other_columns("first query", wanted, f"query {query.title}", query.names)
    if len(wanted) != len(there):
        raise _other_columns("query", wanted, "sequence", there)
    sequence = sequence.take(there)
    found = []
    for query in queries:
        own = wanted if set(wanted) <= set(query.names) else query.names
        found.append(query.take(own, there if named else None))
    text = listed(wanted)
    if wanted != there:
        text = f"{text} of the query with {listed(there)} of the sequence, in this order"
    return found, sequence, f"columns compared: {text}"


def _other_columns(what, names, other, there):
    return ValueError(
        f"--columns must say which columns to compare: the {what} has {len(names)} ({listed(names)}) and the {other} "
        f"{len(there)} ({listed(there)}). Without a header they are numbered from 1."
    )


CHUNK = 2**17  # samples of an array that is not in memory
OWN = "zscore"


def scaler_of(text, recordings):
    """Return a scaler that brings the channels of recordings to one scale; None if no scale was given.

    Parameters
    ----------
    text : str or None
        What --scale was given.
    recordings : list of Recording
        Those whose means and deviations count, of the same channels.

    Returns
    -------
    StandardScaler or None
    """
    if text is None:
        return None
    from sklearn.preprocessing import StandardScaler

    names = recordings[0].names
    own = text.strip().lower() == OWN
    divisors = None if own else _divisors(text, names)
    scaler = StandardScaler(with_mean=own)
    for one in recordings:
        for start in range(0, len(one), CHUNK):
            part = one.values[start : start + CHUNK]
            scaler.partial_fit(part if len(recordings) == 1 else np.asarray(part))
    if own:
        described = [
            f"{name} less {write_numbers([m], s)[0]} over {write_numbers([s])[0]}"
            for name, m, s in _rows(scaler, names)
        ]
    else:
        scaler.scale_, scaler.var_ = divisors, divisors**2
        described = [f"{name} over {s:g}" for name, _, s in _rows(scaler, names)]
    note(f"columns scaled: {listed(described)}")
    return scaler


def scale_of(scaler, names):
    """Return the means and deviations by the names of the channels, for JSON."""
    return {name: {"mean": float(m), "scale": float(s)} for name, m, s in _rows(scaler, names)}


def _rows(scaler, names):
    means = scaler.mean_ if scaler.with_mean else np.zeros(len(names))
    return zip(names, means, scaler.scale_, strict=True)


def _divisors(text, names):
    try:
        found = np.array([float(part) for part in split_names(text)])
    except ValueError:
        found = np.empty(0)
    if len(found) != len(names) or not (np.isfinite(found) & (found > 0)).all():
        raise ValueError(
            f"--scale must be {OWN}, or a number above 0 for each column compared, with commas between them. Got "
            f"{text!r}; the columns are {listed(names)}."
        )
    return found


class ScaledArray:
    """An array (n, channels) that is not in memory, whose slices are scaled."""

    def __init__(self, array, scaler):
        self._array, self._scaler, self.shape, self.ndim = array, scaler, array.shape, 2

    def __len__(self):
        return len(self._array)

    def __getitem__(self, rows):
        return _scaled(np.asarray(self._array[rows], np.float64), self._scaler)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self[:], dtype)


def scaled_values(values, scaler):
    """Return values (n, channels), scaled if there is a scaler: a DataFrame, or an array that is not in memory."""
    if scaler is None:
        return values
    if not hasattr(values, "columns"):
        return _scaled(values, scaler) if type(values) is np.ndarray else ScaledArray(values, scaler)
    import pandas as pd

    return pd.DataFrame(_scaled(values.to_numpy(np.float64), scaler), values.index, values.columns)


def _scaled(array, scaler):
    return ((array - scaler.mean_) if scaler.with_mean else array) / scaler.scale_


def unscaled(array, scaler):
    """Return a learned query (m, channels) in the unit of the recording."""
    if scaler is None:
        return array
    return array * scaler.scale_ + (scaler.mean_ if scaler.with_mean else 0.0)

"""Recordings from files, or from parts of them, FILE:START-STOP; which of their columns are compared."""

import re
from dataclasses import dataclass, field, fields, replace

import numpy as np

from ..io._columns import NO_TIMES, columns_of, no_column
from ..io._parts import samples_of, split_slice
from ..io._recording import NamedChannels
from ..io._tables import Reading, listed, read_table, split_names
from ..utils._times import EvenTimes
from . import PART

FIELDS = "|".join(one.name for one in fields(Reading))


def in_options(message):
    """Return a message about reading files in the words of the command line."""

    def option(found):
        name, value = (found[1] or found[2]).replace("_", "-"), found[3]
        return f"--{'no-' if value == 'False' else ''}{name}{'' if found[1] or value else ' '}"

    form = rf"(?:[Tt]he )?'({FIELDS})' parameter|\b({FIELDS})=(True|False|\.\.\.)?"
    return re.sub(form, option, message)


@dataclass
class Recording:
    """Values, times and weights that were read from a file, or from a slice of it."""

    path: str
    option: str  # what it was given to, for messages
    reading: Reading
    values: object  # DataFrame (n, channels), or an array that is not in memory
    times: object = None  # ndarray, EvenTimes, DatetimeIndex or TimedeltaIndex
    time_name: str | None = None
    day_first: bool | None = None  # in dates
    weight: np.ndarray | None = None
    others: object = None  # DataFrame of all columns of the file
    part: object = None  # the slice that it is
    first: int = 0  # its first sample in the file
    begin: object = None  # the first time in the file
    notes: list = field(default_factory=list)

    def __len__(self):
        return len(self.values)

    @property
    def are_named(self):
        """Whether the channels have names."""
        return hasattr(self.values, "columns") or isinstance(self.values, NamedChannels)

    @property
    def names(self):
        """Names of the channels, or their numbers from 1."""
        if isinstance(self.values, NamedChannels):
            return list(self.values.channel_names)
        columns = getattr(self.values, "columns", None)
        return [str(k + 1) for k in range(self.values.shape[1])] if columns is None else list(columns)

    @property
    def title(self):
        """The file and the slice, as they were given."""
        return self.path if self.part is None else f"{self.path}:{self.part.text}"

    @property
    def numbers(self):
        """The values (n, channels) without names."""
        if isinstance(self.values, NamedChannels):
            return self.values.values
        return self.values.to_numpy() if hasattr(self.values, "columns") else self.values

    def take(self, names, called=None):
        """Return the recording with the channels of these names alone, renamed to `called` if it is given."""
        if names == self.names and called is None and not hasattr(self.values, "columns"):
            return self
        if isinstance(self.values, NamedChannels):
            return replace(self, values=self.values.select(names, called))
        import pandas as pd

        frame = self.values
        if not hasattr(frame, "columns"):
            frame = pd.DataFrame(np.asarray(frame, np.float64), columns=self.names)
        return replace(self, values=frame[names].set_axis(called or names, axis=1))

    def samples(self, part, option=None):
        """Return the half-open range of samples that a slice stands for."""
        options = option or self.option, self.reading.time_unit, self.day_first
        try:
            return samples_of(part, self.times, self.time_name, len(self), *options)
        except ValueError as error:
            raise ValueError(in_options(str(error))) from None

    def cut(self, part):
        """Return a part of the recording."""
        start, stop = self.samples(part)
        rows = slice(start, stop)
        cut = {name: getattr(self, name) for name in ("times", "weight", "others", "values")}
        cut = {name: None if whole is None else whole[rows] for name, whole in cut.items()}
        begin, values = None if self.times is None else self.times[:1][0], cut["values"]
        cut["values"] = values.reset_index(drop=True) if hasattr(values, "columns") else np.array(values)
        return replace(self, **cut, part=part, first=start, begin=begin)


class Files:
    """Reads recordings; a file that is named twice is read once."""

    def __init__(self, reading):
        self.reading, self._tables, self._read = reading, {}, []

    def read(self, given, option, *, weighted=False, besides=(), even=False):
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
        even : bool
            Whether times by a rate are made where they are sliced, as `EvenTimes`.

        Returns
        -------
        Recording
        """
        path, part = split_slice(given)
        asked = {"weighted": weighted and (part is None or self.reading.weight_column is not None), "besides": besides}
        if part is not None and part.kind == "samples":
            asked["part"] = slice(part.start, part.stop)
        try:
            table = self.table(path, option)
            found = columns_of(table, self.reading, option, **asked)
        except ValueError as error:
            hint = f" A part of a file is written {PART}." if ":" in given[2:] and part is None else ""
            raise ValueError(in_options(f"{error}{hint}")) from None
        found["notes"] = list(map(in_options, found["notes"]))
        others = table.frame if hasattr(table.frame, "columns") else None
        recording = Recording(path, option, self.reading, others=others, **found)
        self._read.append(recording)
        if isinstance(recording.times, EvenTimes) and not even:
            recording = replace(recording, times=recording.times[:])
        return recording if part is None else recording.cut(part)

    def table(self, path, option):
        """Return the table in a file."""
        if path not in self._tables:
            self._tables[path] = read_table(path, self.reading, option)
        return self._tables[path]

    def check(self):
        """Refuse a column of times that no file has, and a rate that no file needs; called when all are read."""
        if self.reading.rate is not None and not any(isinstance(one.times, EvenTimes) for one in self._read):
            one = self._read[-1]
            raise ValueError(
                f"--rate is for files without times. Got {self.reading.rate:g}, and {one.path!r} has the times "
                f"{one.time_name!r}. Leave it out, or count samples with --time-column none."
            )
        wanted = self.reading.time_column
        known = [name for table in self._tables.values() for name in table.names]
        if wanted not in (None, NO_TIMES, *known) and not {*split_names(wanted)} <= {*known}:
            raise no_column("--time-column", wanted, {path: table.names for path, table in self._tables.items()})


def renamed(recording, text, wanted):
    """Return a recording whose columns are called as those of a query or a model that they are compared with.

    Parameters
    ----------
    recording : Recording
        The recording.
    text : str or None
        What --map was given, QUERY=RECORDING with commas between several.
    wanted : list of str
        Names in the query.

    Returns
    -------
    tuple of (Recording, dict)
        The recording, and how columns are written that have another name in it.
    """
    names = {}
    for own, equals, there in (pair.partition("=") for pair in split_names(text or "")):
        if not equals:
            raise ValueError(f"--map must be written QUERY=RECORDING,..., such as mV=ecg_mV. Got {text!r}.")
        if there not in recording.names:
            raise no_column("--map", there, {recording.title: recording.names}, "columns of the recording behind =")
        if own not in wanted:
            raise no_column("--map", own, {"the query": wanted}, "columns of the query before =")
        names[there] = own
    if names:
        recording = recording.take(recording.names, [names.get(name, name) for name in recording.names])
    return recording, {own: f"{own} with {there}" for there, own in names.items()}


def compared(queries, sequence, names=False):
    """Return the queries and sequence with the same channels by the same names, and a line that says what is compared.

    Parameters
    ----------
    queries : list of Recording
        The queries.
    sequence : Recording
        The sequence; further columns of it are not compared.
    names : str or None, optional
        What --map was given; False where the command has no such option.

    Returns
    -------
    tuple of (list of Recording, Recording, str)
    """
    wanted = queries[0].names
    sequence, written = renamed(sequence, names, wanted)
    both = queries[0].are_named and sequence.are_named
    there = wanted if set(wanted) <= set(sequence.names) else sequence.names
    for query in queries:
        if not set(wanted) <= set(query.names) and len(query.names) != len(wanted):
            raise _other_columns("first query", wanted, f"query {query.title}", query.names, False)
    if len(wanted) != len(there):
        raise _other_columns("query", wanted, "sequence", there, names is not False)
    sequence = sequence.take(there)
    found = []
    for query in queries:
        own = wanted if set(wanted) <= set(query.names) else query.names
        found.append(query.take(own, there if both else None))
    text = listed(written.get(name, name) for name in wanted)
    if wanted != there:
        text = f"{text} of the query with {listed(there)} of the sequence, in this order"
    return found, sequence, f"columns compared: {text}"


def _other_columns(what, names, other, there, mapped):
    rule = f"which columns to compare{', or --map which belong together' if mapped else ''}"
    return ValueError(
        f"--columns must say {rule}: the {what} has {len(names)} ({listed(names)}) and the {other} {len(there)} "
        f"({listed(there)}). Without a header they are numbered from 1."
    )

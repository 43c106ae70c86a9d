"""Recordings from files, or from parts of them given as FILE:START-STOP; and the choice of columns to compare."""

import os
import warnings
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from functools import partial

import numpy as np

from ..io._columns import NO_TIMES, channels_of, columns_of, no_column
from ..io._library import split
from ..io._parts import as_index, parse_slice, samples_of, split_slice, step_of, unit_of
from ..io._recording import Recording, changed, channel_names
from ..io._tables import Reading, Table, listed, source_of, split_names
from ..utils._times import EvenTimes, Sampling
from . import PART
from .commands import in_options, parameters
from .output import note

# Translates messages about reading files to options of the command line.
said_of_files = partial(in_options, parameters=parameters(dict.fromkeys([one.name for one in fields(Reading)], "")))

CHUNK = 2**17  # samples read at a time from an array that is not in memory


@dataclass(frozen=True, eq=False)
class FileRecording(Recording):
    """A recording, or a part of one, read from a file, with further facts that commands need."""

    path: str = ""
    option: str = ""  # the option or argument that named it, for messages
    reading: Reading = field(default_factory=Reading)
    time_name: str | None = None
    day_first: bool | None = None  # whether dates start with the day
    weight: np.ndarray | None = None
    others: object = None  # DataFrame of all columns of the file
    part: object = None  # the slice of the file that it is
    first: int = 0  # index of its first sample in the file
    begin: object = None  # the first time in the file
    notes: list = field(default_factory=list)

    def __post_init__(self):
        super().__post_init__()
        if isinstance(self.values, np.ndarray):
            object.__setattr__(self, "values", self.values.reshape(len(self), -1))
        if self.times is not None and not isinstance(self.times, EvenTimes):
            object.__setattr__(self, "times", as_index(self.times))

    @property
    def title(self):
        """The file and the slice, as given."""
        return self.path if self.part is None else f"{self.path}:{self.part.text}"

    @property
    def short_title(self):
        """The title without the folder, for pictures."""
        return self.title.removeprefix(os.path.dirname(split(self.path)[0])).lstrip(os.sep)

    @property
    def is_dated(self):
        """Whether its times are dates or clock times."""
        return self.times is not None and hasattr(as_index(self.times[:1]), "asi8")

    @property
    def unit(self):
        """Length of the unit of its times in seconds; 1 for dates."""
        return 1.0 if self.is_dated else unit_of(self.time_name, self.reading.time_unit)

    def count(self, duration, option):
        """Return the number of samples in a duration; a number of samples stays as it is."""
        if not isinstance(duration, timedelta):
            return duration
        if self.times is None:
            raise ValueError(f"{option} may be a duration if the recording has times. Give samples, or name --rate.")
        return round(duration.total_seconds() / (step_of(self.times) * self.unit), 6)

    @property
    def channels(self):
        """Names of the channels, or their numbers from 1."""
        return channel_names(self)

    @property
    def turned(self):
        """A hint for errors about a file whose rows may be the channels."""
        is_wide = self.others is None and len(self) < len(self.channels)
        return f" If the rows of {self.path!r} are its channels: --transpose." * is_wide

    def take(self, names, called=None):
        """Return the recording with these channels only, renamed to `called` if given."""
        if names == self.channels and called is None:
            return self
        one = self.select(names)
        return one if called is None else replace(one, names=called)

    def samples(self, part, option=None):
        """Return the half-open range of samples in a slice."""
        options = option or self.option, self.reading.time_unit, self.day_first
        try:
            return samples_of(part, self.times, self.time_name, len(self), *options)
        except ValueError as error:
            raise ValueError(f"{said_of_files(str(error))}{self.turned}") from None

    def cut(self, part):
        """Return a part of the recording, loaded into memory."""
        start, stop = self.samples(part)
        weight, others = (None if whole is None else whole[start:stop] for whole in (self.weight, self.others))
        one, begin = self[start:stop], None if self.times is None else as_index(self.times[:1])[0]
        cut = {"weight": weight, "others": others, "part": part, "first": start, "begin": begin}
        return replace(one, values=np.array(one.values), **cut)


class Files:
    """Reads recordings; a file that is named twice is read only once."""

    def __init__(self, reading):
        self.reading, self._sources, self._read = reading, {}, []

    def read(self, given, option, *, weighted=False, besides=(), names=None):
        """Read a recording.

        Parameters
        ----------
        given : str
            A file, or a slice of it.
        option : str
            The option or argument that names it.
        weighted : bool
            Whether a column named weight holds weights; in a slice only the column that --weight-column names does.
        besides : sequence of str
            Columns that are not channels.
        names : dict, optional
            Names that columns have in this file, by those of --columns, as --map says.

        Returns
        -------
        FileRecording
        """
        path, part = split_slice(given)
        reading = self.reading
        if names and reading.columns is not None:
            there = [names.get(name, name) for name in split_names(reading.columns)]
            reading = replace(reading, columns=",".join(there))
        asked = {"weighted": weighted and (part is None or self.reading.weight_column is not None), "besides": besides}
        if part is not None and part.kind == "samples":
            asked["part"] = slice(part.start, part.stop)
        try:
            source, notes = self.source(path, option, reading)
            if is_table := isinstance(source, Table):
                found = columns_of(source, reading, option, **asked)
            else:
                found = channels_of(source, reading, path, notes)
        except ValueError as error:
            inside = split(given)[1].strip("/")[:1].isalpha()  # which names an array, and no part of time
            unread = part is None and not inside and (":" in given[2:] or parse_slice(given))
            hint = f" A part of a file is written {PART}." if unread else ""
            hint = f" The unit is missing: {timed.text}." if unread and (timed := split_slice(f"{given}s")[1]) else hint
            raise ValueError(said_of_files(f"{error}{hint}")) from None
        found |= {"notes": list(map(said_of_files, found["notes"])), "others": source.frame if is_table else None}
        recording = FileRecording(path=path, option=option, reading=self.reading, **found)
        self._read.append(recording)
        return recording if part is None else recording.cut(part)

    def source(self, path, option, reading=None):
        """Return the content of a file, a `Table` or a `Recording`, and the warnings of its reader."""
        reading = reading or self.reading
        known = path, reading.columns  # the columns decide what is read of files with named channels
        if known not in self._sources:
            with warnings.catch_warnings(record=True, action="always") as told:
                source = source_of(path, reading, option)
            self._sources[known] = source, [str(one.message) for one in told if issubclass(one.category, UserWarning)]
        return self._sources[known]

    def check(self):
        """Refuse a column of times that no file has, and a rate that no file needs, after all files have been read."""
        rate, wanted, one = self.reading.rate, self.reading.time_column, self._read[-1]
        if rate is not None and not any(isinstance(one.times, EvenTimes) for one in self._read):
            got = f"{rate:g}, and {one.path!r} has the times {one.time_name!r}"
            way_out = "Leave it out, or count samples with --time-column none."
            raise ValueError(f"--rate is for files without times. Got {got}. {way_out}")
        names = {path: source.names or [] for (path, _), (source, _) in self._sources.items()}
        known = {name for own in names.values() for name in own}
        if wanted not in (None, NO_TIMES, *known) and not {*split_names(wanted)} <= known:
            raise no_column("--time-column", wanted, names)


def mapped(text):
    """Return a dict from names in the query to names in the recording, as --map gives them."""
    pairs = [pair.split("=", 1) for pair in split_names(text or "")]
    if any(len(pair) < 2 for pair in pairs):
        raise ValueError(f"--map must be written QUERY=RECORDING,..., such as mV=ecg_mV. Got {text!r}.")
    return dict(pairs)


def compared(queries, sequence, names=False, of=("query", "sequence")):
    """Return queries and sequence with the same channels under the same names, and a line that says what is compared.

    Parameters
    ----------
    queries : list of FileRecording
        The queries.
    sequence : FileRecording
        The sequence; further columns of it are not compared.
    names : str or None, optional
        The value of --map, QUERY=RECORDING with commas between several; False if the command has no such option.
    of : tuple of str
        Names of the queries and of the sequence in messages.

    Returns
    -------
    tuple of (list of FileRecording, FileRecording, str)
    """
    wanted, called, written = queries[0].channels, {}, {}
    for own, there in mapped(names).items():
        if there not in sequence.channels:
            raise no_column("--map", there, {sequence.title: sequence.channels}, "columns of the recording after =")
        if own not in wanted:
            raise no_column("--map", own, {f"the {of[0]}": wanted}, f"columns of the {of[0]} before =")
        called[there], written[own] = own, f"{own} with {there}"
    if called:
        sequence = sequence.take(sequence.channels, [called.get(name, name) for name in sequence.channels])
    both = queries[0].names and sequence.names
    there = wanted if set(wanted) <= set(sequence.channels) else sequence.channels
    for query in queries:
        if not set(wanted) <= set(query.channels) and len(query.channels) != len(wanted):
            raise _other_columns("first query", queries[0], f"query {query.title}", query, False)
    if len(wanted) != len(there):
        raise _other_columns(of[0], queries[0], of[1], sequence, names is not False)
    sequence = sequence.take(there)
    owns = (wanted if set(wanted) <= set(query.channels) else query.channels for query in queries)
    found = [query.take(own, there if both else None) for query, own in zip(queries, owns, strict=True)]
    text = listed(written.get(name, name) for name in wanted)
    if wanted != there:
        text = f"{text} of the {of[0]} with {listed(there)} of the {of[1]}, in this order"
    return found, sequence, f"columns compared: {text}"


def _other_columns(what, one, called, other, mapped):
    rule = f"which columns to compare{', or --map which belong together' if mapped else ''}"
    own, there = (f"{len(each.channels)} ({listed(each.channels)})" for each in (one, other))
    way_out = f"Without a header they are numbered from 1.{one.turned or other.turned}"
    return ValueError(f"--columns must say {rule}: the {what} has {own} and the {called} {there}. {way_out}")


def scaled(recordings, by):
    """Return recordings with each channel minus its mean and divided by its deviation, both those of recording `by`."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    for start in range(0, len(by), CHUNK):
        scaler.partial_fit(np.asarray(by.values[start : start + CHUNK], np.float64))
    rows = zip(by.channels, scaler.mean_, scaler.scale_, strict=True)
    note(f"columns scaled: {listed(f'{name} less {mean:.4g} over {scale:.4g}' for name, mean, scale in rows)}")
    names = by.names and [f"z of {name}" for name in by.names]

    def change(values):  # in float64 whatever the file holds, and without checks, because estimators make them
        return (np.asarray(values, np.float64) - scaler.mean_) / scaler.scale_

    values = (changed(one.values, change) for one in recordings)
    return [replace(one, values=each, names=names, units=None) for one, each in zip(recordings, values, strict=True)]


def searched(recording, timed=True, named=True):
    """Return a recording in the form that estimators take."""
    times = recording.times if timed else None
    if isinstance(times, EvenTimes) and isinstance(times.sampling, Sampling):  # times are computed only when needed
        times = times.sampling
    return Recording(recording.values, times, recording.names if named else None, recording.units)

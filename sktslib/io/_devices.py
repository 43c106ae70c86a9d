"""Files of devices: EDF by edfio, records of PhysioNet by wfdb, miniSEED and SAC by ObsPy, other EEG formats by MNE.

Samples of EDF, WFDB and EEG files are not loaded before they are sliced.
"""

import datetime
import os
import re
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..utils._times import EvenTimes, Sampling
from ._library import CUT_OFF, Reader, check_fits, chosen, library, unique
from ._objects import of_mne, of_obspy, of_wfdb
from ._recording import Marks, Pieces, Recording, Stored

# ---------------------------------------------------------------------------------------------------------- EDF and BDF
ONSET = re.compile(rb"([+-]\d+(?:\.\d*)?)(?:\x15[^\x14]*)?\x14")
WIDTHS = 16, 80, 8, 8, 8, 8, 8, 80, 8, 32  # widths of the fields in a channel's header
SAMPLES = sum(WIDTHS[:8])  # offset of the field with the number of samples per record
BLOCK = 2**26  # bytes of records that are read at a time


def is_edf(path, head):
    """Return whether a file is EDF or BDF, even if only a part of its header is left."""
    is_named = path.lower().endswith((".edf", ".bdf"))
    return head[:8] in (b"0       ", b"\xffBIOSEMI") and (len(head) >= 256 or is_named)


class Layout(NamedTuple):
    """Records of a file: where they start, and the numbers in each of them."""

    path: str
    begin: int  # bytes of the header
    width: int  # bytes per sample
    samples: list  # samples of each channel in a record
    count: int  # number of records

    @property
    def size(self):
        """Bytes of a record."""
        return self.width * sum(self.samples)

    def records(self, first, last):
        """Return the bytes of records (last - first, size)."""
        raw = np.fromfile(self.path, np.uint8, (last - first) * self.size, offset=self.begin + first * self.size)
        if raw.size != (last - first) * self.size:
            raise OSError(f"the file {self.path} has become shorter since it was opened.")
        return raw.reshape(-1, self.size)

    def numbers(self, records, k):
        """Return the samples of channel k in several records as integers, concatenated."""
        start = self.width * sum(self.samples[:k])
        raw = np.ascontiguousarray(records[:, start : start + self.width * self.samples[k]])
        if self.width == 2:
            return raw.view("<i2").ravel()
        wide = np.zeros((raw.size // 3, 4), np.uint8)
        wide[:, 1:] = raw.reshape(-1, 3)
        return wide.view("<i4").ravel() >> 8  # an arithmetic shift keeps the sign

    def texts(self, k):
        """Return the bytes of annotation channel k in each record."""
        start, step, out = self.width * sum(self.samples[:k]), max(BLOCK // self.size, 1), []
        for first in range(0, self.count, step):
            records = self.records(first, min(first + step, self.count))
            out += [row.tobytes() for row in records[:, start : start + self.width * self.samples[k]]]
        return out


def _physical(layout, columns, gain, offset, start, end):
    """Return samples [start, end) of some channels in physical units."""
    one = layout.samples[columns[0]]
    first, last = start // one, max(-(-end // one), start // one)
    records, part = layout.records(first, last), slice(start - first * one, end - first * one)
    return (np.stack([layout.numbers(records, k)[part] for k in columns], axis=1) + offset) * gain


def open_edf(path, channels=None):
    """Return the recording in a file, with its annotations as marks."""
    edfio = library("edfio", "edf")
    layout, header, labels = _layout(path)
    notes = [k for k, label in enumerate(labels) if label in ("EDF Annotations", "BDF Annotations")]
    plain = [k for k in range(len(labels)) if k not in notes]
    if not plain:
        raise ValueError("the file must hold samples. Got annotations alone, which sktslib.io.read_annotations reads.")
    parsed = _parsed(edfio, header, layout, plain, 1)
    duration = parsed.data_record_duration
    if not (layout.count and 0.0 < duration < np.inf):
        raise ValueError(f"the header must give the number of records and their duration. {CUT_OFF}")
    names = unique([labels[k] for k in plain])
    rates = {name: layout.samples[k] / duration for name, k in zip(names, plain, strict=True)}
    take = chosen(names, channels, rates)
    names, columns, signals = ([every[k] for k in take] for every in (names, plain, parsed.signals))
    gain, offset = np.array([_scale(signal) for signal in signals]).T
    samples, rate = layout.samples[columns[0]], rates[names[0]]
    values = Stored((layout.count * samples, len(columns)), partial(_physical, layout, columns, gain, offset))
    onsets, begin, length, texts = _annotations(edfio, header, layout, notes, duration)
    times = _times(_start(edfio, parsed), onsets, duration, rate, samples, len(values))
    first, last = (_samples(at, onsets, duration, samples) for at in (begin, begin + length))
    marks = Marks(first, np.maximum(last, first + 1), np.array(texts, np.str_))
    return Recording(values, times, names, [signal.physical_dimension for signal in signals], marks)


def _layout(path):
    """Return the layout of a file's records, the header, and the channels' labels."""
    with Path(path).open("rb") as file:
        head = file.read(256)
        try:
            begin, count, n = int(head[184:192]), int(head[236:244]), int(head[252:256])
            rest = file.read(256 * n) if 0 < n < 10_000 else b""
            samples = [int(rest[SAMPLES * n + 8 * k : SAMPLES * n + 8 * k + 8]) for k in range(n)]
        except ValueError as error:
            raise ValueError(f"the header must be that of an EDF or BDF file: {error}. {CUT_OFF}") from None
    if begin != 256 * (n + 1) or len(head + rest) != begin or min(samples, default=0) < 1:
        there = f"{n} channels, {begin} bytes by what it says and {len(head + rest)} that are there"
        raise ValueError(f"the header must have 256 bytes and 256 for each channel. Got {there}. {CUT_OFF}")
    width = 3 if head[:1] == b"\xff" else 2
    size, held = width * sum(samples), os.path.getsize(path) - begin
    if count == -1 and held % size == 0:  # the recording is still running
        count = held // size
    if count * size != held:
        there = f"{count} of {size} bytes. Got {held / size:.6g} of them"
        raise ValueError(f"the file must have as many records as its header says, {there}. {CUT_OFF}")
    labels = [rest[16 * k : 16 * k + 16].decode("latin-1").strip() for k in range(n)]
    return Layout(os.path.abspath(path), begin, width, samples, count), head + rest, labels


def _parsed(edfio, header, layout, columns, count, contents=None):
    """Return edfio's object for a header with selected channels, and for the contents of some records."""
    n = len(layout.samples)
    fields, at = b"", 256
    for width in WIDTHS:
        fields += b"".join(header[at + width * k : at + width * (k + 1)] for k in columns)
        at += width * n
    top = header[:184] + b"%-8d" % (256 * (len(columns) + 1)) + header[192:236] + b"%-8d" % count
    top += header[244:252] + b"%-4d" % len(columns)
    if contents is None:  # a dummy record, which is not read
        contents = b"\0" * (layout.width * sum(layout.samples[k] for k in columns))
    with warnings.catch_warnings(action="ignore"):  # edfio warns if dates in the header disagree
        kind = edfio.read_bdf if layout.width == 3 else edfio.read_edf
        return kind(top + fields + contents, header_encoding="latin-1")


def _scale(signal):
    """Return gain and offset of a channel, as edfio computes them."""
    low, high = signal.digital_range
    bottom, top = signal.physical_range
    if low == high or bottom == top:
        raise ValueError(f"the header must give the range of {signal.label!r}. Got {low} to {high}, {bottom} to {top}.")
    gain = (top - bottom) / (high - low)
    return gain, top / gain - high


def _annotations(edfio, header, layout, notes, duration):
    """Return the onset of each record, and onsets, durations and texts of the annotations; times are in seconds."""
    if not notes:
        return np.arange(layout.count) * duration, np.empty(0), np.empty(0), []
    every = [layout.texts(k) for k in notes]
    found = [ONSET.match(text) for text in every[0]]
    if None in found:
        k = found.index(None)
        raise ValueError(f"each record must give its start. Got {every[0][k][:20]!r} in record {k}. {CUT_OFF}")
    onsets = np.array([float(one[1]) for one in found])
    contents = b"".join(b"".join(texts) for texts in zip(*every, strict=True))
    notes = _parsed(edfio, header, layout, notes, layout.count, contents).annotations
    # edfio counts onsets from the first record; durations may be missing
    onset = np.array([one.onset for one in notes], float) + onsets[0]
    return onsets, onset, np.array([one.duration or 0.0 for one in notes]), [one.text for one in notes]


def _start(edfio, parsed):
    """Return the start time of a recording; 0 if its date is left out."""
    try:
        with warnings.catch_warnings(action="ignore"):
            date, clock = parsed.startdate, parsed.starttime
    except edfio.AnonymizedDateError:
        return 0.0
    return np.datetime64(datetime.datetime.combine(date, clock), "us")


def _times(start, onsets, duration, rate, samples, n):
    """Return the times of samples from those of the records, including interruptions."""
    steps = np.diff(onsets)
    if len(steps) and steps.min() < duration - 0.5 / rate:
        k = int(np.argmin(steps))
        wrong = f"record {k} at {onsets[k]:g} s, {duration:g} s long, and the next at {onsets[k + 1]:g} s"
        raise ValueError(f"the records must follow each other. Got {wrong}. {CUT_OFF}")
    first = np.array([0, *np.flatnonzero(steps > duration + 0.5 / rate) + 1])
    pieces = Pieces(rate, first * samples, onsets[first], start)
    return EvenTimes(pieces, n) if len(first) > 1 else Sampling(rate, pieces.at(0)[0])


def _samples(at, onsets, duration, samples):
    """Return the samples at given times of a recording with interruptions; within one, the first sample after it."""
    k = np.clip(np.searchsorted(onsets, at, "right") - 1, 0, len(onsets) - 1)
    inside = np.clip(np.rint((at - onsets[k]) / duration * samples), 0, samples)
    return (k * samples + inside).astype(np.int64)


# ----------------------------------------------------------------------------------------------------------------- WFDB
def is_wfdb(path, head):
    """Return whether a file is the header of a record, or a signal file with its header next to it."""
    stem, suffix = os.path.splitext(path)
    return suffix.lower() == ".hea" or (suffix.lower() == ".dat" and os.path.isfile(f"{stem}.hea"))


def _signals(record, columns, frame, is_sum, start, end):
    """Return samples [start, end) of some channels in physical units, read by whole frames; invalid ones become NaN.

    If samples are stored as differences, reading starts at the first one.
    """
    wfdb = library("wfdb", "wfdb")
    first, last = 0 if is_sum else start // frame, -(-end // frame)
    if end <= start:
        return np.empty((0, len(columns)))
    read = wfdb.rdrecord(record, first, last, channels=columns, smooth_frames=False)
    return np.column_stack([one[start - first * frame : end - first * frame] for one in read.e_p_signal])


def open_wfdb(path, channels=None, annotator=None):
    """Return a record; its marks are those of `annotator`, by default ``atr`` if there is such a file."""
    wfdb = library("wfdb", "wfdb")
    record = os.path.abspath(os.path.splitext(path)[0])
    header = wfdb.rdheader(record)
    if header.n_sig and not header.sig_len:  # the length follows from the file size when the library reads it
        return replace(of_wfdb(wfdb.rdrecord(record), channels), marks=annotations(wfdb, record, annotator, 1))
    # In a record of several segments, the segments define the channels.
    first = wfdb.rdrecord(record, 0, 1, smooth_frames=False)
    names, units, frames = first.sig_name, first.units, first.samps_per_frame
    cut_off = None in names and not Path(f"{record}.hea").read_bytes().endswith(b"\n")
    if cut_off or not len(names) == len(units) == len(frames) == len(first.e_p_signal) == header.n_sig:
        raise ValueError(f"the header must have a line for each of {header.n_sig} signals. Got {names}. {CUT_OFF}")
    parts = wfdb.rdheader(record, rd_segments=True).segments if hasattr(header, "seg_name") else [header]
    is_sum = any("8" in (part.fmt or ()) for part in parts if part is not None)
    names = unique(name or f"signal {k + 1}" for k, name in enumerate(names))
    rates = {name: header.fs * frame for name, frame in zip(names, frames, strict=True)}
    take = chosen(names, channels, rates)
    frame, rate = frames[take[0]], rates[names[take[0]]]
    values = Stored((header.sig_len * frame, len(take)), partial(_signals, record, take, frame, is_sum))
    values.read(0, frame), values.read(len(values) - frame, len(values))  # raises errors of the header now
    start = 0.0 if header.base_datetime is None else np.datetime64(header.base_datetime, "us")
    marks = annotations(wfdb, record, annotator, frame)
    return Recording(values, Sampling(rate, start), [names[k] for k in take], [units[k] for k in take], marks)


def annotations(wfdb, record, annotator, frame):
    """Return the marks in an annotation file: their symbols, or their notes if the symbol only announces a note."""
    if annotator is None and not os.path.isfile(f"{record}.atr"):
        return None
    annotator = annotator or "atr"
    if Path(f"{record}.{annotator}").read_bytes()[-2:] != b"\0\0":
        raise ValueError(f"the annotations {annotator} must end with two bytes of 0. {CUT_OFF}")
    found = wfdb.rdann(record, annotator)
    start, symbols = np.asarray(found.sample, np.int64) * frame, found.symbol
    end, label = start + 1, list(symbols)
    for k, note in enumerate(found.aux_note or []):
        if symbols[k] in ('"', "+", "(") and note.strip("\0 "):  # symbols that announce a note
            label[k] = note.strip("\0 ")
            # An onset with a note lasts until the next end symbol.
            if symbols[k] == "(" and ")" in symbols[k:]:
                last = symbols.index(")", k)
                end[k], label[last] = start[last] + 1, ""
    kept = np.array(label, np.str_) != ""
    return Marks(start[kept], end[kept], np.array(label, np.str_)[kept])


# ----------------------------------------------------------------------------------------------------- miniSEED and SAC
def is_seismic(path, head):
    """Return whether a file is miniSEED (version 2 or 3) or binary SAC.

    Records of a file named as miniSEED may lack a number, or have any code of quality.
    """
    versions = [int.from_bytes(head[304:308], order) for order in ("little", "big")]
    is_sac = (path.lower().endswith(".sac") and 6 in versions) or 7 in versions
    is_named = path.lower().endswith((".mseed", ".miniseed", ".ms"))
    form = rb"[\d \0]{6}[A-Z ]" if is_named else rb"\d{6}[VASTDRQM][ \0]"
    is_seed = re.match(form, head) or head[:3] == b"MS\x03"
    return bool(is_seed) or (len(head) >= 632 and is_sac)


def open_seismic(path, channels=None):
    """Return the traces as channels, with NaN where nothing was recorded."""
    obspy = library("obspy", "seismic")
    with_data = {"format": "SAC"} if path.lower().endswith(".sac") else {"format": "MSEED"}
    heads = obspy.read(path, headonly=True, **with_data)
    lengths = {trace.stats.mseed.record_length for trace in heads if "mseed" in trace.stats}
    if any(os.path.getsize(path) % length for length in lengths):
        raise ValueError(f"the file must hold whole records of {lengths} bytes. Got {os.path.getsize(path)}. {CUT_OFF}")
    n_bytes = 8 * sum(trace.stats.npts for trace in heads)
    check_fits(2 * n_bytes, "Read a part, obspy.read(path, starttime=..., endtime=...), and pass the stream.")
    return of_obspy(obspy.read(path, **with_data), channels)


# ------------------------------------------------------------------------------------------------------------------ EEG
OF_MNE = ".vhdr", ".set", ".fif", ".fif.gz", ".gdf", ".mff", ".nxe", ".cdt", ".snirf"
EGI = re.compile(rb"\0\0\0[\2-\7]")
# Other programs use these suffixes, too, so the files must also start like this.
BEGINS = {".cnt": rb"(?s)Version|(?:RIFF|RF64).{4}CNT", ".lay": rb"\s*\[", ".raw": EGI, ".egi": EGI}


def is_eeg(path, head):
    """Return whether a file has the suffix of a format that MNE reads, and the start that the format requires."""
    path = path.lower().rstrip("/")
    return path.endswith(OF_MNE) or any(path.endswith(k) and re.match(form, head) for k, form in BEGINS.items())


def open_eeg(path, **options):
    """Return a recording; `options` go to :func:`mne.io.read_raw`, or for EGI files to their own function."""
    mne = library("mne", "eeg")
    opener = mne.io.read_raw_egi if path.lower().endswith((".raw", ".egi")) else mne.io.read_raw
    with mne.utils.use_log_level("ERROR"):
        return of_mne(opener(path, **options))


READERS = {"edf": Reader(is_edf, open_edf), "wfdb": Reader(is_wfdb, open_wfdb)}
READERS |= {"seismic": Reader(is_seismic, open_seismic), "eeg": Reader(is_eeg, open_eeg)}

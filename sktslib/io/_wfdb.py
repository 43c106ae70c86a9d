"""Records of PhysioNet, by wfdb: header, signals and an annotation file; samples are read where they are asked for."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ..utils._times import Sampling
from ._library import CUT_OFF, chosen, library, unique
from ._objects import of_wfdb
from ._recording import Marks, Recording, Stored


def can_open(path, head):
    """Return whether a file is the header of a record, or the signals of one whose header lies next to it."""
    stem, suffix = os.path.splitext(path)
    return suffix.lower() == ".hea" or (suffix.lower() == ".dat" and os.path.isfile(f"{stem}.hea"))


def _signals(record, columns, frame, is_sum, start, end):
    """Return samples [start, end) of some channels, in their units, by whole frames; invalid ones are NaN.

    Samples that are sums of differences are read from the first one on.
    """
    wfdb = library("wfdb", "wfdb")
    first, last = 0 if is_sum else start // frame, -(-end // frame)
    if end <= start:
        return np.empty((0, len(columns)))
    read = wfdb.rdrecord(record, first, last, channels=columns, smooth_frames=False)
    return np.column_stack([one[start - first * frame : end - first * frame] for one in read.e_p_signal])


def open(path, channels=None, annotator=None):
    """Return the record; the marks are those of `annotator`, by default of ``atr``, if there is such a file."""
    wfdb = library("wfdb", "wfdb")
    record = os.path.abspath(os.path.splitext(path)[0])
    header = wfdb.rdheader(record)
    if header.n_sig and not header.sig_len:  # the length is that of the file, which the library finds as it reads
        return replace(of_wfdb(wfdb.rdrecord(record), channels), marks=annotations(wfdb, record, annotator, 1))
    # Of a record of several segments the channels stand in these.
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
    values.read(0, frame), values.read(len(values) - frame, len(values))  # what is wrong with the header is seen now
    start = 0.0 if header.base_datetime is None else np.datetime64(header.base_datetime, "us")
    marks = annotations(wfdb, record, annotator, frame)
    return Recording(values, Sampling(rate, start), [names[k] for k in take], [units[k] for k in take], marks)


def annotations(wfdb, record, annotator, frame):
    """Return the marks of an annotation file: symbols, or the notes beside those that stand for a note alone."""
    if annotator is None and not os.path.isfile(f"{record}.atr"):
        return None
    annotator = annotator or "atr"
    if Path(f"{record}.{annotator}").read_bytes()[-2:] != b"\0\0":
        raise ValueError(f"the annotations {annotator} must end with two bytes of 0. {CUT_OFF}")
    found = wfdb.rdann(record, annotator)
    start, symbols = np.asarray(found.sample, np.int64) * frame, found.symbol
    end, label = start + 1, list(symbols)
    for k, note in enumerate(found.aux_note or []):
        if symbols[k] in ('"', "+", "(") and note.strip("\0 "):  # which stand for their note
            label[k] = note.strip("\0 ")
            # An onset with a note lasts until the next end.
            if symbols[k] == "(" and ")" in symbols[k:]:
                last = symbols.index(")", k)
                end[k], label[last] = start[last] + 1, ""
    kept = np.array(label, np.str_) != ""
    return Marks(start[kept], end[kept], np.array(label, np.str_)[kept])

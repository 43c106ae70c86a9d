"""Found ranges as annotations of other programs, and annotations of files as marks."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..utils.validation import check_names, check_number
from ._library import library
from ._recording import Marks

FORMATS = "mne", "wfdb", "edf", "audacity", "csv"


def annotations_of(format: str, path: Any, samples: Any, seconds: Any, label: list[str]) -> Any:
    """Return ranges as annotations, see `RangeTable.to_annotations`; `seconds` are onsets and durations, or None."""
    check_names([format], FORMATS, "format", "to_annotations")
    if seconds is None and format not in ("wfdb", "csv"):
        what = f"given for {format!r}, where no time is known of the first sample: its annotations are in seconds"
        raise ValueError(f"The 'rate' parameter of to_annotations must be {what}. Got None.")
    if format == "wfdb":
        return _of_wfdb(path, *samples, label)
    if format == "mne":
        made = library("mne", "eeg").Annotations(*seconds, label)
        if path is not None:
            made.save(path, overwrite=True, verbose="ERROR")
        return made
    if format == "edf":
        edfio = library("edfio", "edf")
        made = [edfio.EdfAnnotation(*one) for one in zip(*(v.tolist() for v in seconds), label, strict=True)]
        if path is not None:
            edfio.Edf([], annotations=made).write(path)
        return made
    made = io.StringIO()
    if format == "audacity":
        ends = zip(seconds[0], seconds[0] + seconds[1], label, strict=True)
        made.writelines(f"{start:.6f}\t{end:.6f}\t{' '.join(text.split())}\n" for start, end, text in ends)
    else:
        columns = {"start": samples[0], "end": samples[1], "label": label}
        columns |= {} if seconds is None else {"onset": seconds[0], "duration": seconds[1]}
        rows = csv.writer(made, lineterminator="\n")
        rows.writerow(columns)
        rows.writerows(zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))
    if path is not None:
        Path(path).write_text(made.getvalue(), encoding="utf-8")
    return made.getvalue()


def _of_wfdb(path, start, end, label):
    """Return an annotation of WFDB: an onset with the label as its note, and an end, for each range."""
    wfdb = library("wfdb", "wfdb")
    sample = np.concatenate([start, end - 1])
    order = np.argsort(sample, kind="stable")
    notes = [*label, *[""] * len(label)]
    rest = [("(" if k < len(label) else ")") for k in order], [notes[k] for k in order]
    name, extension = (None, None) if path is None else os.path.splitext(os.path.basename(path))
    made = wfdb.Annotation(name, extension and extension[1:], sample[order], rest[0], aux_note=rest[1])
    if path is not None:
        made.wrann(write_dir=os.path.dirname(os.path.abspath(path)))
    return made


def read_annotations(path: str | os.PathLike[str], rate: float | None = None) -> Marks:
    r"""Read annotations from a file of their own.

    Parameters
    ----------
    path : str or path-like
        A file of EDF or BDF, a table ``.csv`` with the columns start, end and label in samples, or onset, duration and
        label (or description) in seconds, a label track of Audacity ``.txt``, or an annotation file of WFDB.
    rate : float, optional
        Samples per second of the recording, which turns seconds into samples.

    Returns
    -------
    Marks
        Start, end and label of each, which a `Recording` takes as `marks`.

    Raises
    ------
    ValueError
        If the file holds no annotations of its format, or seconds without `rate`.

    See Also
    --------
    read : The annotations in a recording's own file are its marks.

    Examples
    --------
    >>> from sktslib.io import read_annotations
    >>> path = getfixture("tmp_path") / "labels.csv"
    >>> _ = path.write_text("onset,duration,label\n1.5,0.5,blink\n")
    >>> read_annotations(path, rate=100).to_frame()
       start  end  label
    0    150  200  blink
    """
    path = os.fspath(path)
    stem, suffix = os.path.splitext(path)
    if suffix.lower() in (".edf", ".bdf"):
        edfio = library("edfio", "edf")
        found = (edfio.read_bdf if suffix.lower() == ".bdf" else edfio.read_edf)(path).annotations
        rows = [(one.onset, one.duration or 0.0, one.text) for one in found]
    elif suffix.lower() in (".txt", ".csv"):
        with open(path, newline="", encoding="utf-8-sig") as file:
            table = list(csv.reader(file, delimiter="," if suffix.lower() == ".csv" else "\t"))
        if suffix.lower() == ".txt":
            rows = [(float(start), float(end) - float(start), text) for start, end, text in table]
        else:
            names, *table = table or [[]]
            columns = {name.strip().lower(): [row[k] for row in table] for k, name in enumerate(names)}
            label = columns.get("label", columns.get("description"))
            wanted = ("start", "end") if {"start", "end"} <= set(columns) else ("onset", "duration")
            if label is None or not set(wanted) <= set(columns):
                rule = "columns start, end and label, or onset, duration and label"
                raise ValueError(f"{path}: the table must have the {rule}. Got {names}.")
            rows = list(zip(*(np.array(columns[name], float).tolist() for name in wanted), label, strict=True))
            if wanted[0] == "start":
                return Marks.of([(int(start), int(end), text) for start, end, text in rows])
    else:
        from ._wfdb import annotations

        return annotations(library("wfdb", "wfdb"), os.path.abspath(stem), suffix[1:], 1)
    if rate is None:
        raise ValueError(f"The 'rate' parameter must be given for {path}, whose annotations are in seconds. Got None.")
    check_number(rate, "rate", low=0.0, open_low=True, owner="read_annotations")
    onset, duration, label = zip(*rows, strict=True) if rows else ((), (), ())
    return Marks.of_times(onset, duration, label, rate)

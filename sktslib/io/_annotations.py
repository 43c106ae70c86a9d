"""Ranges exported as annotations of other programs, and annotations in files read as marks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ..utils.validation import check_names, check_number
from ._devices import annotations
from ._library import library
from ._recording import Marks

FORMATS = "mne", "wfdb", "edf", "audacity", "csv"


def annotations_of(format: str, path: Any, samples: Any, seconds: Any, label: list[str]) -> Any:
    """Return ranges as annotations, see `RangeTable.to_annotations`; `seconds` are onsets and durations, or None."""
    check_names([format], FORMATS, "format", "to_annotations")
    if seconds is None and format not in ("wfdb", "csv"):
        what = f"given for {format!r}, whose annotations are in seconds, where the first sample has no times"
        way_out = "Or start again with the samples per second: Recording(X, Sampling(HZ)), or --rate HZ of a command."
        raise ValueError(f"The 'rate' parameter of to_annotations must be {what}. Got None. {way_out}")
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
    import pandas as pd

    is_csv = format == "csv"
    start, end = samples if is_csv else (seconds[0], seconds[0] + seconds[1])
    columns = {"start": start, "end": end, "label": label}
    columns |= {"onset": seconds[0], "duration": seconds[1]} if is_csv and seconds is not None else {}
    style = {"sep": "," if is_csv else "\t", "header": is_csv, "float_format": "%.9g"}
    made = pd.DataFrame(columns).to_csv(index=False, **style)
    if path is not None:
        Path(path).write_text(made, encoding="utf-8")
    return made


def _of_wfdb(path, start, end, label):
    """Return a WFDB annotation with two entries for each range: an onset with the label as its note, and an end."""
    wfdb = library("wfdb", "wfdb")
    sample, notes = np.concatenate([start, end - 1]), np.array([*label, *[""] * len(label)], object)
    order = np.argsort(sample, kind="stable")
    symbols = np.repeat(["(", ")"], len(label))[order].tolist()
    name, suffix = ("found", ".found") if path is None else os.path.splitext(os.path.basename(path))
    made = wfdb.Annotation(name, suffix[1:], sample[order], symbols, aux_note=notes[order].tolist())
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
    import pandas as pd

    stem, suffix = os.path.splitext(path)
    if suffix.lower() not in (".edf", ".bdf", ".txt", ".csv"):
        return annotations(library("wfdb", "wfdb"), os.path.abspath(stem), suffix[1:], 1)
    if suffix.lower() == ".csv":
        table = pd.read_csv(path, keep_default_na=False).rename(columns=lambda name: name.strip().lower())
        table = table.rename(columns={"description": "label"})
        if {"start", "end", "label"} <= set(table):
            return Marks.of(table[["start", "end", "label"]].to_numpy())
        if not {"onset", "duration", "label"} <= set(table):
            rule = "columns start, end and label, or onset, duration and label"
            raise ValueError(f"{path}: the table must have the {rule}. Got {list(table)}.")
    elif suffix.lower() == ".txt":
        table = pd.read_csv(path, sep="\t", header=None, names=["onset", "end", "label"], keep_default_na=False)
        table["duration"] = table.end - table.onset
    else:
        edfio = library("edfio", "edf")
        found = (edfio.read_bdf if suffix.lower() == ".bdf" else edfio.read_edf)(path).annotations
        table = pd.DataFrame(found, columns=["onset", "duration", "label"])
    if rate is None:
        raise ValueError(f"The 'rate' parameter must be given for {path}, whose annotations are in seconds. Got None.")
    check_number(rate, "rate", low=0.0, open_low=True, owner="read_annotations")
    return Marks.of_times(table.onset, table.duration.fillna(0.0), table.label, rate)

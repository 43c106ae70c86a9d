"""Formats that are known and not read: the line of Python that opens each."""

import os
import re
from pathlib import Path

from ._library import BY_ANOTHER, UnknownFile

# Of each format its name, what its files are known by (suffixes, a pattern of the first bytes), and what opens one.
FORMATS = [
    ("TDMS", (".tdms",), rb"TDSm", "nptdms.TdmsFile.read(path)[group][channel][:]"),
    ("C3D", (".c3d",), None, "ezc3d.c3d(path)['data']['analogs'][0].T"),
    ("XDF", (".xdf", ".xdfz"), rb"XDF:", "pyxdf.load_xdf(path)[0][0]['time_series']"),
    (
        "a collection of series for `sktslib pairwise`",
        (".ts",),
        rb"(?:[#%].*\n|\s*\n)*@(?:problemname|timestamps|relation|data)\b",
        "aeon.datasets.load_from_ts_file(path)",
    ),
    ("SLIST or TSPAIR", (".slist",), rb"TIMESERIES ", "obspy.read(path)"),
    ("Empatica's AVRO", (".avro",), rb"Obj\x01", "avro.datafile.DataFileReader(file, avro.io.DatumReader())"),
    # whose first two lines are the start in seconds from 1970 on, and the rate
    ("Empatica's CSV", (), None, "numpy.loadtxt(path, delimiter=',', skiprows=2)"),
]
EMPATICA = re.compile(r"(acc|bvp|eda|hr|temp)\.csv", re.IGNORECASE)


def _format_of(path, head):
    is_empatica = EMPATICA.fullmatch(os.path.basename(path)) and re.match(rb"1\d{9}(\.\d+)?\s*[,\n\r]", head)
    for entry in FORMATS:
        _, suffixes, first, _ = entry
        if path.lower().endswith(suffixes) or (first and re.match(first, head, re.IGNORECASE)):
            return entry
    return FORMATS[-1] if is_empatica else None


def can_open(path, head):
    """Return whether a file is of one of these formats."""
    return _format_of(path, head) is not None


def open(path, **options):
    """Refuse the file, and say what opens it."""
    with Path(path).open("rb") as file:
        check_format(path, file.read(1024))


def check_format(path, head):
    """Refuse a file that begins as one of these formats."""
    if entry := _format_of(path, head):
        way_out = f"Open it by {entry[3]}, and pass a {BY_ANOTHER}, or save it as CSV, with a column for each channel."
        raise UnknownFile(f"{path}: files of this format, {entry[0]}, are not read. {way_out}")

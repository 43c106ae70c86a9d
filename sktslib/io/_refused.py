"""Formats that are known and not read: the line of Python that opens each."""

import os
import re
from pathlib import Path

from ._library import BY_ANOTHER, UnknownFile

# Of each format its name, what its files are recognized by (suffixes, first bytes), and what opens one.
FORMATS = [
    ("TDMS", (".tdms",), b"TDSm", "nptdms.TdmsFile.read(path)[group][channel][:]"),
    ("C3D", (".c3d",), None, "ezc3d.c3d(path)['data']['analogs'][0].T"),
    ("XDF", (".xdf", ".xdfz"), b"XDF:", "pyxdf.load_xdf(path)[0][0]['time_series']"),
    ("a collection of series", (".ts",), None, "aeon.datasets.load_from_ts_file(path)"),
    ("SLIST", (".slist",), b"TIMESERIES ", "obspy.read(path)"),
    ("Empatica's AVRO", (".avro",), b"Obj\x01", "avro.datafile.DataFileReader(file, avro.io.DatumReader())"),
    # whose first two lines are the start in seconds from 1970 on, and the rate
    ("Empatica's CSV", (), None, "numpy.loadtxt(path, delimiter=',', skiprows=2)"),
]
EMPATICA = re.compile(r"(acc|bvp|eda|hr|temp)\.csv", re.IGNORECASE)


def _format_of(path, head):
    is_empatica = EMPATICA.fullmatch(os.path.basename(path)) and re.match(rb"1\d{9}(\.\d+)?\s*[,\n\r]", head)
    for entry in FORMATS:
        _, suffixes, first, _ = entry
        if path.lower().endswith(suffixes) or (first and head.startswith(first)):
            return entry
    return FORMATS[-1] if is_empatica else None


def can_open(path, head):
    """Return whether a file is of one of these formats."""
    return _format_of(path, head) is not None


def open(path, **options):
    """Refuse the file, and say what opens it."""
    with Path(path).open("rb") as file:
        name, _, _, line = _format_of(path, file.read(64))
    raise UnknownFile(
        f"{path}: files of this format, {name}, are not read. Open it by {line}, and pass a {BY_ANOTHER}."
    )

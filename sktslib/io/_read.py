"""Reading files: selection of the reader, and options that all readers share."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..utils._times import Sampling
from ..utils.validation import check_names, check_number
from . import _objects
from ._library import BY_ANOTHER, CUT_OFF, MixedRates, Reader, UnknownFile, split
from ._recording import Marks, Recording, Stored, changed, without

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..utils._times import Times

GROUP = "sktslib.readers"
OWN = "devices", "arrays", "read", "columns"  # in the order in which they are tried; the last one accepts any text
HEAD = 1024  # bytes of a file that are shown to readers


@cache
def readers() -> dict[str, Any]:
    """Return the readers by name: first those of other installed packages, then those of this package, by module."""
    from importlib.metadata import entry_points  # imported here, because it takes long

    found = {point.name: point.load() for point in entry_points(group=GROUP)}
    for file in OWN:
        found |= {k: one for k, one in import_module(f"._{file}", __package__).READERS.items() if k not in found}
    return found


def read(
    path: Any,
    *,
    channels: str | Sequence[str] | None = None,
    rate: float | None = None,
    times: Times | None = None,
    missing: float | str | Sequence[float | str] | None = None,
    reader: Any = None,
    **options: Any,
) -> Recording:
    """Read a recording from a file, or convert an object of another package.

    Parameters
    ----------
    path : str, path-like or object
        The file, or the folder of a zarr store; ``"rec.h5:/ecg"`` names one of several arrays in a file. Or an object
        that holds a recording: a `Raw` of MNE, a `Trace` or `Stream` of ObsPy, a `Record` of WFDB, a `DataArray` of
        xarray.
    channels : str or list of str, optional
        Names of the channels to read. None: all.
    rate : float, optional
        Samples per second to which all channels are resampled. None: no resampling; all channels must then have one
        rate.
    times : array-like of shape (n,) or Sampling, optional
        Sample times for a file without times.
    missing : float, str or list, optional
        Values, in tables also words, that mean a missing value; they become NaN. Those defined by the format always do.
    reader : str or object, optional
        Name of the reader, or an object with ``can_open(path, head)`` and ``open(path, **options)``. None: the first
        reader that can open the file.
    **options
        Further options of the reader: `annotator` for WFDB records; `transpose` for arrays whose rows are the channels;
        for tables `rows`, the first row and the end of a part, and the options of the command line (`time_column`,
        `time_zone`, `time_unit`, `epoch`, `separator`, `decimal`, `thousands`, `header`, `sheet`, `encoding`,
        `day_first`).

    Returns
    -------
    Recording
        The recording. EDF, BDF, WFDB, HDF5, zarr and NPY files are not loaded: samples are read when they are used.

    Raises
    ------
    ValueError
        If the file is damaged or holds no recording, if no reader knows it, or if it lacks a requested channel or
        array.
    FileNotFoundError
        If there is no such file.
    ImportError
        If the library that reads the format is not installed.
    MemoryError
        If the file must be loaded whole and exceeds the free memory.

    See Also
    --------
    Recording : The class of the result.

    Examples
    --------
    >>> import numpy as np
    >>> from sktslib import Sampling
    >>> from sktslib.io import read
    >>> folder = getfixture("tmp_path")
    >>> np.save(folder / "ecg.npy", np.zeros((1000, 2)))
    >>> read(folder / "ecg.npy", times=Sampling(250))
    Recording of 1000 samples, 2 channels; 250 per second; 0 marks
    """
    if _objects.converter_of(path):
        reader, name = _objects, type(path).__name__
    else:
        path = os.fspath(path)
        reader, name = _reader_of(path, reader)
    if rate is not None:
        check_number(rate, "rate", low=0.0, open_low=True, owner="read")
    own = signature(reader.open).parameters
    chooses = channels is not None and "channels" in own
    if "missing" in own and np.asarray(missing).dtype.kind == "U":  # words, which only texts contain
        options, missing = options | {"missing": missing}, None

    def opened(**more):
        one = reader.open(path, **options, **more)
        return one if missing is None else replace(one, values=changed(one.values, partial(without, codes=missing)))

    try:
        try:
            recording = opened(**({"channels": channels} if chooses else {}))
        except MixedRates as error:
            if rate is None:
                raise
            parts = [_resampled(opened(channels=group), rate) for group in error.groups.values()]
            recording = _side_by_side(parts, error.names)
    except (ImportError, FileNotFoundError, UnknownFile):
        raise
    except Exception as error:  # libraries raise errors of any kind for damaged files
        if isinstance(error, TypeError) and "unexpected keyword argument" in str(error):
            raise TypeError(f"The reader {name} has no such option: {error}.") from None
        raise _named(path, error) from error
    if isinstance(values := recording.values, Stored):
        recording = replace(recording, values=Stored(values.shape, partial(_part, path, values.read), values.chunks))
    if channels is not None and not chooses:
        recording = recording.select(channels)
    if times is not None:
        if recording.times is not None:
            way_out = "For others make a Recording(numpy.asarray(read(path)), times)"
            raise ValueError(f"The 'times' parameter of read must be None for {path}, which has its own. {way_out}.")
        recording = replace(recording, times=times)
    if rate is not None and rate != recording.rate:
        recording = _resampled(recording, rate)
    return recording


def _named(path: Any, error: Exception) -> Exception:
    """Return what a library found in a file as an error that names it, of a kind that `read` tells."""
    kind = next((kind for kind in (OSError, MemoryError) if isinstance(error, kind)), ValueError)
    is_told = kind is not ValueError or isinstance(error, ValueError | TypeError)
    return kind(f"In {path}: {error}" if is_told else f"In {path}: {type(error).__name__}: {error}. {CUT_OFF}")


def _part(path: Any, stored: Any, start: int, end: int) -> Any:
    """Return samples [start, end); of a damaged file these alone may be unreadable."""
    try:
        return stored(start, end)
    except Exception as error:
        raise _named(path, error) from error


def _reader_of(path: str, reader: Any) -> tuple[Any, str]:
    """Return the reader of a file and its name."""
    if isinstance(reader, str):
        check_names([reader], readers(), "reader")
        return readers()[reader], reader
    if reader is not None:
        if not hasattr(reader, "open"):
            raise TypeError(f"'reader' must be a name, or have can_open(path, head) and open(path). Got {reader!r}.")
        return reader, type(reader).__name__
    file, head = split(path)[0], b""
    if os.path.isfile(file) or not os.path.exists(file):  # not a pipe, which could not be read twice
        with open(file, "rb") as opened:
            head = opened.read(HEAD)
    for name, known in readers().items():
        if known.can_open(file, head):
            return known, name
    known = f"Known are the formats of {', '.join(readers())}. Name one, reader='edf', or"
    raise UnknownFile(f"No reader knows the file {path}. {known} read it by another package: {BY_ANOTHER}.")


def reader_of(path: str) -> tuple[Any, str | None]:
    """Return the reader that opens a file and its name, or two None."""
    try:
        return _reader_of(path, None)
    except (OSError, UnknownFile):  # the reader of tables raises an error that explains it
        return None, None


def _resampled(recording: Recording, rate: float) -> Recording:
    """Return a recording, with its marks, at another rate."""
    from ..preprocessing import resample

    if recording.rate is None:
        way_out = "Pass times=Sampling(old rate) if it is known, or cut the recording at its interruptions."
        raise ValueError(f"'rate' must be None where there is no constant sampling rate. Got {rate:g}. {way_out}")
    values, step = np.asarray(recording), rate / recording.rate
    if step != 1:
        values = resample(values, rate=rate, sampling_rate=recording.rate, nan_policy="omit")
    start, end, label = recording.marks
    first = np.floor(start * step).astype(np.int64)
    marks = Marks(first, np.maximum(np.ceil(end * step).astype(np.int64), first + 1), label)
    return replace(recording, values=values, times=Sampling(rate, recording.times.start), marks=marks)


def _side_by_side(parts: list[Recording], names: list[str]) -> Recording:
    """Return recordings with the same rate and start as one recording, with channels in the order of `names`.

    Because they may have been resampled from different rates, lengths may differ by some samples; the shortest one
    counts.
    """
    n, most = min(map(len, parts)), max(map(len, parts))
    if len({part.times.start for part in parts}) > 1 or n < 0.999 * most - 1:
        parts = [(part.times.start, len(part)) for part in parts]
        raise ValueError(f"channels of several rates must begin and end together. Got starts and samples {parts}.")
    values = np.column_stack([np.asarray(part).reshape(len(part), -1)[:n] for part in parts])
    known = [name for part in parts for name in part.names]
    units = [unit for part in parts for unit in part.units or [""] * len(part.names)]
    marks = max((part.marks for part in parts), key=len)
    return Recording(values, parts[0].times, known, units, marks).select(names)


# ------------------------------------------------------------------------------ formats that are recognized and refused
# For each format its name, how files are recognized (suffixes, pattern of the first bytes), and what opens them.
REFUSED = [
    ("TDMS", (".tdms",), rb"TDSm", "nptdms.TdmsFile.read(path)[group][channel][:]"),
    ("C3D", (".c3d",), None, "ezc3d.c3d(path)['data']['analogs'][0].T"),
    ("XDF", (".xdf", ".xdfz"), rb"XDF:", "pyxdf.load_xdf(path)[0][0]['time_series']"),
    (
        "a collection of series",
        (".ts",),
        rb"(?:[#%].*\n|\s*\n)*@(?:problemname|timestamps|relation|data)\b",
        "aeon.datasets.load_from_ts_file(path)",
    ),
    ("JSON, which may hold anything", (".json", ".jsonl"), None, "pandas.read_json(path)"),
    ("SLIST or TSPAIR", (".slist",), rb"TIMESERIES ", "obspy.read(path)"),
    ("Empatica's AVRO", (".avro",), rb"Obj\x01", "avro.datafile.DataFileReader(file, avro.io.DatumReader())"),
    # Its first two lines are the start in seconds since 1970, and the rate.
    ("Empatica's CSV", (), None, "numpy.loadtxt(path, delimiter=',', skiprows=2)"),
]
EMPATICA = re.compile(r"(acc|bvp|eda|hr|temp)\.csv", re.IGNORECASE)


def _format_of(path, head):
    """Return the entry of the format that a file has, or None."""
    unpacked = re.sub(r"\.(gz|bz2|xz|zip)$", "", path.lower())
    for entry in REFUSED:
        if unpacked.endswith(entry[1]) or (entry[2] and re.match(entry[2], head, re.IGNORECASE)):
            return entry
    is_empatica = EMPATICA.fullmatch(os.path.basename(path)) and re.match(rb"1\d{9}(\.\d+)?\s*[,\n\r]", head)
    return REFUSED[-1] if is_empatica else None


def refuse(path, **options):
    """Refuse the file with an error that says what opens it."""
    with Path(path).open("rb") as file:
        check_format(path, file.read(1024))


def check_format(path, head):
    """Refuse a file that starts like one of these formats."""
    if entry := _format_of(path, head):
        way_out = f"Open it by {entry[3]}, and pass a {BY_ANOTHER}, or save it as CSV, with a column for each channel."
        raise UnknownFile(f"{path}: files of this format, {entry[0]}, are not read. {way_out}")


READERS = {"refused": Reader(_format_of, refuse)}

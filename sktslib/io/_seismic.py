"""MiniSEED and SAC, by ObsPy."""

import os
import re

from ._library import CUT_OFF, check_fits, library
from ._objects import of_obspy

SUFFIXES = ".mseed", ".miniseed", ".ms"


def can_open(path, head):
    """Return whether a file is miniSEED of version 2 or 3, or SAC with binary numbers."""
    versions = [int.from_bytes(head[304:308], order) for order in ("little", "big")]
    is_sac = (path.lower().endswith(".sac") and 6 in versions) or 7 in versions
    is_seed = re.match(rb"\d{6}[VASTDRQM][ \0]", head) or head[:3] == b"MS\x03" or path.lower().endswith(SUFFIXES)
    return bool(is_seed) or (len(head) >= 632 and is_sac)


def open(path, channels=None):
    """Return the traces as channels; where nothing was recorded samples are NaN."""
    obspy = library("obspy", "seismic")
    with_data = {"format": "SAC"} if path.lower().endswith(".sac") else {"format": "MSEED"}
    heads = obspy.read(path, headonly=True, **with_data)
    lengths = {trace.stats.mseed.record_length for trace in heads if "mseed" in trace.stats}
    if any(os.path.getsize(path) % length for length in lengths):
        raise ValueError(f"the file must hold whole records of {lengths} bytes. Got {os.path.getsize(path)}. {CUT_OFF}")
    n_bytes = 8 * sum(trace.stats.npts for trace in heads)
    check_fits(2 * n_bytes, "Read a part, obspy.read(path, starttime=..., endtime=...), and pass the stream.")
    return of_obspy(obspy.read(path, **with_data), channels)

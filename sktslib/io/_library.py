"""Helpers of readers: optional libraries, free memory, and the selection of channels and arrays in a file."""

import os
import re
from importlib import import_module
from itertools import count
from math import prod
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..utils.validation import check_names

CUT_OFF = "It may have been cut off or damaged: compare its size with the original's, and copy it again."
BY_ANOTHER = "Recording(values, Sampling(rate), names) of what it holds"


class Reader(NamedTuple):
    """A reader of files; any object with these two attributes is one."""

    can_open: Any  # (path, head) -> bool
    open: Any  # (path, **options) -> Recording


class UnknownFile(ValueError):
    """Error for a file that no reader opens."""


class MixedRates(ValueError):
    """Error for channels with different sampling rates; `groups` holds the names of the channels for each rate."""

    def __init__(self, rates):
        """Set the groups from a dict that gives the rate of each channel by name."""
        self.names = list(rates)
        self.groups = {rate: [k for k, own in rates.items() if own == rate] for rate in rates.values()}
        told = "; ".join(f"{rate:g} per second: {', '.join(names[:8])}" for rate, names in self.groups.items())
        way_out = f"Choose some, channels={self.names[0]!r}, or bring all to one rate, rate={max(self.groups):g}."
        super().__init__(f"the channels must have one sampling rate. Got {told}. {way_out}")


def on_one_line(error, most=200):
    """Return the message of an error as one line of at most `most` characters, without a full stop."""
    text = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
    return text[:most].removesuffix(".")


def library(name, extra):
    """Import another package, or raise an error that says how to install it; an installed but broken one says why."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        line = f'pip install "sktslib[{extra}]"'
        raise ImportError(f"the package {name} is needed, which is not installed. Install it ({line}).") from None


def free_memory():
    """Return the number of free bytes of memory; infinite if the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return float("inf")


def check_fits(n_bytes, way_out):
    """Refuse to load data that needs more memory than is free."""
    free = free_memory()
    if n_bytes > free:
        gigabytes = f"{n_bytes / 1e9:.3g} GB. Got {free / 1e9:.3g} GB of free memory"
        raise MemoryError(f"the file must be loaded whole, which takes {gigabytes}. {way_out}")


def unique(names):
    """Return names of channels with a number added to repeated ones: ``v``, ``v.1``, ``v.2``."""
    out = []
    for name in names:
        out.append(next(new for k in count() if (new := f"{name}.{k}" if k else name) not in out))
    return out


def chosen(names, channels, rates=None):
    """Return the indices of channels chosen by name, or of all; if `rates` are given, they must be equal."""
    channels = names if channels is None else [channels] if isinstance(channels, str) else list(channels)
    if not channels:
        raise ValueError("at least one channel with samples is needed. Got none.")
    check_names(channels, names, "channel")
    if rates is not None and len({rates[name] for name in channels}) > 1:
        raise MixedRates({name: rates[name] for name in channels})
    return [names.index(name) for name in channels]


def one_array(shapes, wanted, path):
    """Return the name of the wanted array, or of the only one.

    `shapes` maps the names of the numeric arrays in the file to their shapes.
    """
    if wanted:
        if (inside := wanted if wanted in shapes else wanted.strip("/")) not in shapes:
            check_names([wanted], list(shapes), "array", f"the file {path}")
        return inside
    usable = {name: shape for name, shape in shapes.items() if len(shape) in (1, 2) and prod(shape) > 1}
    if len(usable) != 1:
        every = ", ".join(f"{name} {tuple(shape)}" for name, shape in list((usable or shapes).items())[:20])
        way = f"Name one after a colon: {path!s}:{next(iter(usable))}." if usable else ""
        raise ValueError(f"the file must hold one array of numbers, or a path names one. Got {every or 'none'}. {way}")
    return next(iter(usable))


def is_real(dtype):
    """Return whether a type holds real numbers."""
    return np.dtype(dtype).kind in "biuf"


RATES = "rate", "samplingrate", "samplerate", "samplingfrequency", "fs", "sfreq"


def is_rate(name):
    """Return whether a name is a common one for a sampling rate."""
    return re.sub(r"[\W_]", "", str(name).lower()) in RATES


def rate_of(facts):
    """Return the sampling rate among facts about a recording, by its common names (the last one counts), or None."""
    known = [value for name, value in facts.items() if is_rate(name) and np.size(value) == 1]
    found = (np.ravel(value)[0] for value in reversed(known))
    numbers = (one for one in found if isinstance(one, Real) and not isinstance(one, bool))
    return next((float(one) for one in numbers if 0 < one < np.inf), None)


def split(path):
    """Split a path into the file and the name after its last colon; the name is empty without a colon."""
    file, colon, inside = path.rpartition(":")
    # A colon may also be part of the file name or follow a drive letter.
    if colon and not os.path.exists(path) and os.path.exists(file):
        return file, inside
    return path, ""

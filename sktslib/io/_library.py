"""Helpers of readers: libraries that may not be installed, memory, and the channels and arrays of a file."""

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
    """A reader of files; whatever has these two may be one."""

    can_open: Any  # (path, head) -> bool
    open: Any  # (path, **options) -> Recording


class UnknownFile(ValueError):
    """Error of a file that no reader opens."""


class MixedRates(ValueError):
    """Error of channels with several sampling rates; `groups` are the names of each rate's."""

    def __init__(self, rates):
        """Take the rate of each channel by its name."""
        self.names = list(rates)
        self.groups = {rate: [k for k, own in rates.items() if own == rate] for rate in rates.values()}
        told = "; ".join(f"{rate:g} per second: {', '.join(names[:8])}" for rate, names in self.groups.items())
        way_out = f"Choose some, channels={self.names[0]!r}, or bring all to one rate, rate={max(self.groups):g}."
        super().__init__(f"the channels must have one sampling rate. Got {told}. {way_out}")


def on_one_line(error, most=200):
    """Return what an error says on one line of at most `most` characters, without a full stop."""
    text = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
    return text[:most].removesuffix(".")


def library(name, extra):
    """Import another package, or say how to install it; one that is installed and broken says what is."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        line = f'pip install "sktslib[{extra}]"'
        raise ImportError(f"the package {name} is needed, which is not installed. Install it ({line}).") from None


def free_memory():
    """Return how many bytes of memory are free, or infinity where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return float("inf")


def check_fits(n_bytes, way_out):
    """Refuse to load what needs more memory than is free."""
    free = free_memory()
    if n_bytes > free:
        gigabytes = f"{n_bytes / 1e9:.3g} GB. Got {free / 1e9:.3g} GB of free memory"
        raise MemoryError(f"the file must be loaded whole, which takes {gigabytes}. {way_out}")


def unique(names):
    """Return names of channels, those that repeat with a number: ``v``, ``v.1``, ``v.2``."""
    out = []
    for name in names:
        out.append(next(new for k in count() if (new := f"{name}.{k}" if k else name) not in out))
    return out


def chosen(names, channels, rates=None):
    """Return the numbers of the channels chosen by their names, or of all; `rates` must then be one."""
    channels = names if channels is None else [channels] if isinstance(channels, str) else list(channels)
    if not channels:
        raise ValueError("a channel with samples is needed at least. Got none.")
    check_names(channels, names, "channel")
    if rates is not None and len({rates[name] for name in channels}) > 1:
        raise MixedRates({name: rates[name] for name in channels})
    return [names.index(name) for name in channels]


def one_array(shapes, wanted, path):
    """Return the name of the array that is wanted, or of the only one.

    `shapes` are those of the arrays of numbers that the file has, by their names.
    """
    if wanted:
        if (inside := wanted if wanted in shapes else wanted.strip("/")) not in shapes:
            check_names([wanted], list(shapes), "array", f"the file {path}")
        return inside
    usable = {name: shape for name, shape in shapes.items() if len(shape) in (1, 2) and prod(shape) > 1}
    if len(usable) != 1:
        every = ", ".join(f"{name} {tuple(shape)}" for name, shape in list((usable or shapes).items())[:20])
        way = f"Name one behind a colon: {path!s}:{next(iter(usable))}." if usable else ""
        raise ValueError(f"the file must hold one array of numbers, or a path names one. Got {every or 'none'}. {way}")
    return next(iter(usable))


def is_real(dtype):
    """Return whether a type of an array is one of real numbers."""
    return np.dtype(dtype).kind in "biuf"


RATES = "rate", "samplingrate", "samplerate", "samplingfrequency", "fs", "sfreq"


def is_rate(name):
    """Return whether a name is a usual one of a sampling rate."""
    return re.sub(r"[\W_]", "", str(name).lower()) in RATES


def rate_of(facts):
    """Return the sampling rate among facts about a recording, the last of them, by its usual names, or None."""
    known = [value for name, value in facts.items() if is_rate(name) and np.size(value) == 1]
    found = (np.ravel(value)[0] for value in reversed(known))
    numbers = (one for one in found if isinstance(one, Real) and not isinstance(one, bool))
    return next((float(one) for one in numbers if 0 < one < np.inf), None)


def split(path):
    """Return the path of a file, and what is named in it behind a colon; an empty text without."""
    file, colon, inside = path.rpartition(":")
    # A colon may also be of the file's name, or of a drive.
    if colon and not os.path.exists(path) and os.path.exists(file):
        return file, inside
    return path, ""

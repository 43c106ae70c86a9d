"""NPY and NPZ files, and WAV, by numpy and scipy."""

import os
import warnings
from pathlib import Path

import numpy as np

from ..utils._names import warn
from ..utils._times import Sampling
from ._hdf5 import of_array
from ._library import check_fits, is_real, one_array, split
from ._recording import Recording


def can_open(path, head):
    """Return whether a file is of numpy, or audio."""
    wav = head[:4] in (b"RIFF", b"RIFX", b"RF64") and head[8:12] == b"WAVE"
    return wav or head[:6] == b"\x93NUMPY" or path.lower().endswith(".npz")


def open(path):
    """Return the array of a file; of several in an NPZ file the one that the path names."""
    file, wanted = split(path)
    if not file.lower().endswith(".npy"):
        check_fits(os.path.getsize(file), "Save the array as an NPY file, which is read in parts.")
    if file.lower().endswith(".npz"):
        with np.load(file, allow_pickle=False) as arrays:
            shapes = {name: arrays[name].shape for name in arrays.files if is_real(arrays[name].dtype)}
            return of_array(arrays[one_array(shapes, wanted, file)])
    with Path(file).open("rb") as opened:
        if opened.read(6) != b"\x93NUMPY":
            return _audio(file)
    array = np.load(file, mmap_mode="r", allow_pickle=False)
    if not is_real(array.dtype):
        raise ValueError(f"the array must hold real numbers. Got {array.dtype}. Save one field or part of it.")
    return of_array(array)


def _audio(file):
    """Return the samples of a WAV file, in the numbers that it holds."""
    from scipy.io import wavfile

    with warnings.catch_warnings(record=True, action="always") as told:
        rate, values = wavfile.read(file)
    if any("prematurely" in str(one.message) for one in told):  # others are of chunks that hold no samples
        warn(f"The file {file} is cut off: {len(values)} samples are read, and its header says that it has more.")
    return Recording(values, Sampling(float(rate)))

"""NPY and NPZ files, and WAV, by numpy and scipy."""

import os
import re
import warnings
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import numpy as np

from ..utils._names import warn
from ..utils._times import Sampling
from ._hdf5 import of_array
from ._library import check_fits, is_real, one_array, split
from ._recording import Recording

LARGEST_SAMPLE = 257  # bytes of all channels of a sound


def can_open(path, head):
    """Return whether a file is of numpy, or audio."""
    wav = head[:4] in (b"RIFF", b"RIFX", b"RF64") and head[8:12] == b"WAVE"
    return wav or head[:6] == b"\x93NUMPY" or path.lower().endswith(".npz")


def open(path, transpose=False):
    """Return the array of a file, whose rows may be the channels; of several in an NPZ file the one that is named."""
    file, wanted = split(path)
    with Path(file).open("rb") as opened:
        is_npy = opened.read(6) == b"\x93NUMPY"
    if not is_npy:
        check_fits(os.path.getsize(file), "Save the array as an NPY file, which is read in parts.")
    rate = None
    if is_npy:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    elif file.lower().endswith(".npz"):
        with np.load(file, allow_pickle=False) as arrays:
            every = {name: arrays[name] for name in arrays.files}
        array = every[one_array({name: a.shape for name, a in every.items() if is_real(a.dtype)}, wanted, file)]
    else:
        rate, array = _audio(file)
    if array.ndim not in (1, 2) or not is_real(array.dtype) or not array.size:
        got = f"{array.dtype}, shape {array.shape}"
        raise ValueError(f"the array must hold numbers and have shape (n,) or (n, channels). Got {got}.")
    array = array.T if transpose else array
    return of_array(array) if rate is None else Recording(array, Sampling(rate))


def _audio(file):
    """Return the rate and the samples of a WAV file, in the numbers that it holds; of one that is cut off it warns."""
    from scipy.io import wavfile

    with warnings.catch_warnings(record=True, action="always") as told:  # also of chunks of other things than samples
        try:
            rate, values = wavfile.read(file)
        except ValueError as error:
            if "reshape" not in str(error):
                raise
            rate, values = _whole_samples(file)
    for expected in (re.search(r"EOF prematurely.* (\d+) bytes from header", str(one.message)) for one in told):
        if expected:
            there = f"{os.path.getsize(file)} of {expected[1]} bytes are there"
            warn(
                f"{file}: the file is cut off: {there}, and {len(values)} samples, {len(values) / rate:g} s, were read"
            )
    return float(rate), values


def _whole_samples(file):
    """Read a sound that ends within a sample, up to there."""
    from scipy.io import wavfile

    content = Path(file).read_bytes()
    for cut in range(1, LARGEST_SAMPLE):
        with suppress(ValueError):
            return wavfile.read(BytesIO(content[:-cut]))
    raise ValueError("the file is cut off within its header or is damaged")

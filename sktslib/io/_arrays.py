"""Files of arrays: NPY, NPZ and WAV by numpy and scipy, HDF5 by h5py, MAT of MATLAB by scipy, zarr stores by zarr.

Arrays of NPY, HDF5 and zarr are not loaded before they are sliced.
"""

import os
import re
import struct
import warnings
from contextlib import suppress
from functools import partial
from io import BytesIO
from math import prod
from pathlib import Path

import numpy as np

from ..utils._names import warn
from ..utils._times import Sampling
from ..utils.validation import shown
from ._library import CUT_OFF, Reader, check_fits, is_rate, is_real, library, one_array, rate_of, split
from ._recording import Recording, Stored, changed, without

LARGEST_SAMPLE = 257  # most bytes per sample, over all channels of a sound
HDF5 = b"\x89HDF\r\n\x1a\n"


def of_array(values, facts, of_matlab=False):
    """Return an array without names as a recording; its rate may be in `facts`, attributes or numbers of the file."""
    if of_matlab and values.shape[0] == 1:
        values = np.ravel(values[:])  # MATLAB also stores vectors as rows
    rate = rate_of(facts)
    return Recording(values, None if rate is None else Sampling(rate))


# ------------------------------------------------------------------------------------------------ NPY, NPZ and sounds
def is_numpy(path, head):
    """Return whether a file is NPY, NPZ or WAV."""
    wav = head[:4] in (b"RIFF", b"RIFX", b"RF64") and head[8:12] == b"WAVE"
    return wav or head[:6] == b"\x93NUMPY" or (path.lower().endswith(".npz") and head[:2] == b"PK")


def open_numpy(path, transpose=False):
    """Return the array of a file, or the named one of several in an NPZ file; its rows may be the channels."""
    file, wanted = split(path)
    with Path(file).open("rb") as opened:
        is_npy = (head := opened.read(6)) == b"\x93NUMPY"
    if not is_npy:
        check_fits(os.path.getsize(file), "Save the array as an NPY file, which is read in parts.")
    facts = {}
    if is_npy:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    elif head[:2] == b"PK":
        with np.load(file, allow_pickle=False) as arrays:
            facts = {name: arrays[name] for name in arrays.files}
        array = facts[one_array({name: a.shape for name, a in facts.items() if is_real(a.dtype)}, wanted, file)]
    else:
        facts["rate"], array = _audio(file)
    if array.ndim not in (1, 2) or not is_real(array.dtype) or not array.size:
        got = f"{array.dtype}, shape {array.shape}"
        raise ValueError(f"the array must hold numbers and have shape (n,) or (n, channels). Got {got}.")
    return of_array(array.T if transpose else array, facts)


def _audio(file):
    """Return rate and samples of a WAV file, in the number type of the file; warn if it is cut off."""
    from scipy.io import wavfile

    with warnings.catch_warnings(record=True, action="always") as told:  # scipy also warns of chunks without samples
        try:
            rate, values = wavfile.read(file)
        except ValueError as error:
            if "reshape" not in str(error):
                raise
            rate, values = _whole_samples(file)
    for match in filter(None, (re.search(r"EOF.* (\d+) bytes from header", str(one.message)) for one in told)):
        there = f"{os.path.getsize(file)} of {match[1]} bytes are there"
        read = f"{len(values)} samples, {len(values) / rate:g} s, were read"
        warn(f"{file}: the file is cut off: {there}, and {read}")
    return float(rate), values


def _whole_samples(file):
    """Read a sound that is cut off within a sample, up to the last whole one."""
    from scipy.io import wavfile

    content = Path(file).read_bytes()
    for cut in range(1, LARGEST_SAMPLE):
        with suppress(ValueError):
            return wavfile.read(BytesIO(content[:-cut]))
    raise ValueError("the file is cut off within its header or is damaged")


# ----------------------------------------------------------------------------------------------------------------- HDF5
def is_hdf5(path, head):
    """Return whether a file is HDF5, possibly after a block of the user's own."""
    return any(head[at : at + 8] == HDF5 for at in (0, 512)) or head[:10] == b"MATLAB 7.3"


def open_hdf5(path):
    """Return the array that the path names, or the only one."""
    h5py = library("h5py", "hdf5")
    file, wanted = split(path)
    with h5py.File(file, "r") as opened:
        shapes = {}

        def note(name, item):
            if isinstance(item, h5py.Dataset) and is_real(item.dtype) and not name.startswith("#refs#"):
                shapes[name] = item.shape

        opened.visititems(note)
        name = one_array(shapes, wanted, file)
        array = opened[name]
        missing = [np.ravel(array.attrs[key])[0] for key in ("_FillValue", "missing_value") if key in array.attrs]
        is_turned = "MATLAB_class" in array.attrs
        shape, chunks = (shapes[name][::-1], None) if is_turned else (shapes[name], array.chunks)
        # Only numbers, because numpy may not support other types of attributes.
        beside = {key: item for key, item in array.parent.items() if is_rate(key) and getattr(item, "size", 0) == 1}
        facts = {key: item[()] for key, item in beside.items()}
        for attributes in (opened.attrs, array.parent.attrs, array.attrs):
            facts |= {key: attributes[key] for key in attributes if is_rate(key)}
        values = Stored(shape, partial(_values, os.path.abspath(file), name, is_turned, missing), chunks)
        return of_array(values, facts, is_turned)


def _values(path, name, is_turned, missing, start, end):
    """Return samples [start, end) of an array in a file; MATLAB stores arrays with their axes reversed."""
    h5py = library("h5py", "hdf5")
    with h5py.File(path, "r") as opened:
        array = opened[name]
        values = array[..., start:end].T if is_turned else array[start:end]
    return without(values, missing)


# ------------------------------------------------------------------------------------------------------------------ MAT
NUMBERS = set("double single int8 int16 int32 int64 uint8 uint16 uint32 uint64 logical".split())
MATRIX, TYPES = 14, {*range(1, 8), 9, 12, 13, 14, 16, 17, 18}  # types of elements in a file


def is_mat(path, head):
    """Return whether a file is MATLAB's by its header, or by its name and a first byte that is a number."""
    return head[:10] == b"MATLAB 5.0" or (path.lower().endswith(".mat") and 0 in head[:4])  # the latter for version 4


def open_mat(path):
    """Return the array that the path names, or the only one; a vector may have either orientation."""
    from scipy.io import loadmat, whosmat

    file, wanted = split(path)
    shapes = {name: shape for name, shape, kind in whosmat(file) if kind in NUMBERS and name[:2] != "__"}
    name = one_array(shapes, wanted, file)
    check_fits(8 * prod(shapes[name]), "Save it by MATLAB's save(..., '-v7.3'), which is read in parts.")
    _check_elements(file)
    found = loadmat(file, variable_names=[name, *(key for key, shape in shapes.items() if prod(shape) == 1)])
    return of_array(found[name], found, of_matlab=True)


def _check_elements(path):
    """Refuse elements of unknown types, which crash scipy; packed elements have checksums."""
    with Path(path).open("rb") as file:
        head = file.read(128)
        order, left = "<" if head[126:] == b"IM" else ">", [(128, Path(path).stat().st_size)]
        while left and head[:10] == b"MATLAB 5.0":
            at, end = left.pop()
            file.seek(at)
            kind, size = struct.unpack(f"{order}II", file.read(8))
            is_small = kind >> 16  # type and content are both in one element of 8 bytes
            kind, length = (kind & 0xFFFF, 8) if is_small else (kind, 8 + size + (-size % 8) * (kind != 15))
            if at + length > end or kind not in TYPES | {15}:
                raise ValueError(f"the file must hold whole elements. Got type {shown(kind)} at byte {at}. {CUT_OFF}")
            left += [(at + length, end)] * (at + length < end) + [(at + 8, at + length)] * (kind == MATRIX and size > 0)


# ----------------------------------------------------------------------------------------------------------------- zarr
def is_zarr(path, head):
    """Return whether a path is a zarr store: a folder with zarr's description, or a packed one."""
    is_named = path.lower().rstrip("/").endswith((".zarr", ".zarr.zip"))
    return is_named or any(os.path.isfile(os.path.join(path, name)) for name in (".zarray", ".zgroup", "zarr.json"))


def open_zarr(path):
    """Return the array that the path names, or the only one."""
    zarr = library("zarr", "zarr")
    file, wanted = split(path)
    array = zarr.open(file, mode="r")
    facts = dict(array.attrs)
    if not isinstance(array, zarr.Array):
        members = array.members(max_depth=None)
        arrays = {name: item for name, item in members if isinstance(item, zarr.Array) and is_real(item.dtype)}
        array = arrays[one_array({name: array.shape for name, array in arrays.items()}, wanted, file)]
        facts |= array.attrs
    return of_array(changed(array, np.asarray), facts)


READERS = {"hdf5": Reader(is_hdf5, open_hdf5), "mat": Reader(is_mat, open_mat)}
READERS |= {"zarr": Reader(is_zarr, open_zarr), "arrays": Reader(is_numpy, open_numpy)}

"""HDF5, and the MAT files of MATLAB 7.3, by h5py; arrays are read where they are asked for."""

import os
from functools import partial

import numpy as np

from ._library import OF_MNE, is_real, library, one_array, split
from ._recording import Recording, Stored, without


def can_open(path, head):
    """Return whether a file is HDF5, which may begin behind a block of its user's."""
    begins = any(head[at : at + 8] == b"\x89HDF\r\n\x1a\n" for at in (0, 512)) or head[:10] == b"MATLAB 7.3"
    return begins and not path.lower().endswith(OF_MNE)


def open(path):
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
        return of_array(Stored(shape, partial(_values, os.path.abspath(file), name, is_turned, missing), chunks))


def _values(path, name, is_turned, missing, start, end):
    """Return samples [start, end) of an array in a file; MATLAB's are stored with their axes turned around."""
    h5py = library("h5py", "hdf5")
    with h5py.File(path, "r") as opened:
        array = opened[name]
        values = array[..., start:end].T if is_turned else array[start:end]
    return without(values, missing)


def of_array(values):
    """Return the recording of an array without names."""
    if len(values.shape) == 2 and values.shape[0] == 1 < values.shape[1]:
        values = np.ravel(values[:])  # a vector, as MATLAB has it
    return Recording(values)

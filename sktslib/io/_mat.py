"""MAT files of MATLAB up to 7, by scipy; those of 7.3 are HDF5."""

import struct
from math import prod
from pathlib import Path

from ..utils._conversion import shown
from ._hdf5 import of_array
from ._library import CUT_OFF, OF_MNE, check_fits, one_array, split

NUMBERS = set("double single int8 int16 int32 int64 uint8 uint16 uint32 uint64 logical".split())
MATRIX, TYPES = 14, {*range(1, 8), 9, 12, 13, 14, 16, 17, 18}  # of elements in a file


def can_open(path, head):
    """Return whether a file says that it is of MATLAB, or is called so."""
    if path.lower().endswith(OF_MNE):
        return False
    return head[:10] == b"MATLAB 5.0" or (path.lower().endswith(".mat") and head[:8] != b"\x89HDF\r\n\x1a\n")


def open(path):
    """Return the array that the path names, or the only one; of a vector the samples, whichever its axis."""
    from scipy.io import loadmat, whosmat

    file, wanted = split(path)
    shapes = {name: shape for name, shape, kind in whosmat(file) if kind in NUMBERS and name[:2] != "__"}
    name = one_array(shapes, wanted, file)
    check_fits(8 * prod(shapes[name]), "Save it by MATLAB's save(..., '-v7.3'), which is read in parts.")
    _check_elements(file)
    return of_array(loadmat(file, variable_names=[name])[name])


def _check_elements(path):
    """Refuse elements of types that there are not, by which scipy crashes; packed ones have checksums."""
    with Path(path).open("rb") as file:
        head = file.read(128)
        order, left = "<" if head[126:] == b"IM" else ">", [(128, Path(path).stat().st_size)]
        while left and head[:10] == b"MATLAB 5.0":
            at, end = left.pop()
            file.seek(at)
            kind, size = struct.unpack(f"{order}II", file.read(8))
            is_small = kind >> 16  # a number with its type in 4 bytes, and what it holds in the next
            kind, length = (kind & 0xFFFF, 8) if is_small else (kind, 8 + size + (-size % 8) * (kind != 15))
            if at + length > end or kind not in TYPES | {15}:
                raise ValueError(f"the file must hold whole elements. Got type {shown(kind)} at byte {at}. {CUT_OFF}")
            left += [(at + length, end)] * (at + length < end) + [(at + 8, at + length)] * (kind == MATRIX and size > 0)

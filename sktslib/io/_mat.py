"""MAT files of MATLAB up to 7, by scipy; those of 7.3 are HDF5."""

from math import prod

from ..utils._conversion import shown
from ._hdf5 import of_array
from ._library import check_fits, one_array, split

NUMBERS = {"double", "single", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "logical"}


def can_open(path, head):
    """Return whether a file says that it is of MATLAB, or is called so."""
    return head[:10] == b"MATLAB 5.0" or (path.lower().endswith(".mat") and head[:8] != b"\x89HDF\r\n\x1a\n")


def open(path, channels=None):
    """Return the array that the path names, or the only one; of a vector the samples, whichever its axis."""
    from scipy.io import loadmat, matlab, whosmat

    file, wanted = split(path)
    try:
        shapes = {name: shape for name, shape, kind in whosmat(file) if kind in NUMBERS}
        name = one_array(shapes, wanted, file)
        check_fits(8 * prod(shapes[name]), "Save it by MATLAB's save(..., '-v7.3'), which is read in parts.")
        values = loadmat(file, variable_names=[name])[name]
    except (TypeError, IndexError, matlab.MatReadError) as error:
        raise ValueError(f"the file must be whole. Got {shown(str(error))} from scipy.io.loadmat.") from None
    return of_array(values, channels)

"""Arrays in files: another process opens them itself, and nothing of what they hold is sent there."""

from mmap import ALLOCATIONGRANULARITY
from os.path import abspath
from typing import NamedTuple

import numpy as np

IN_MEMORY = ("core", "fileobj")  # drivers of h5py whose data nobody else can open


class MemoryMap(NamedTuple):
    """Where a memory map lies in its file."""

    filename: str
    offset: int  # of its first element, in bytes
    dtype: np.dtype
    shape: tuple
    strides: tuple

    def open(self):
        """The array in this process."""
        return np.ndarray(
            self.shape, self.dtype, np.memmap(self.filename, np.uint8, "r"), self.offset, self.strides
        ).view(np.memmap)


class Dataset(NamedTuple):
    """Where an array of h5py lies in its file."""

    filename: str
    name: str

    def open(self):
        """The array in this process."""
        import h5py

        return h5py.File(self.filename, "r")[self.name]


def stored(X):
    """How another process opens an array that lies in a file; anything else as it is."""
    if isinstance(X, np.memmap):
        # Where a copy is written to, the file does not hold what the array does; and results of a sum have no map.
        if X._mmap is None or X.filename is None or X.mode == "c":
            return X
        begin = np.frombuffer(X._mmap, np.uint8).ctypes.data
        offset = X.offset - X.offset % ALLOCATIONGRANULARITY + X.ctypes.data - begin
        return MemoryMap(str(X.filename), offset, X.dtype, X.shape, X.strides)
    if type(X).__module__.partition(".")[0] == "h5py" and X.file.driver not in IN_MEMORY:
        return Dataset(abspath(X.file.filename), X.name)  # another process may work in another folder
    return X


def opened(X):
    """The array in this process."""
    return X.open() if isinstance(X, MemoryMap | Dataset) else X

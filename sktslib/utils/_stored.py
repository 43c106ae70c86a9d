"""Arrays that are not in memory: what is one, and how another process opens those that lie in files by itself."""

from mmap import ALLOCATIONGRANULARITY
from os.path import abspath
from typing import NamedTuple

import numpy as np

IN_MEMORY = (np.ndarray, list, tuple, str, bytes, dict)
OWN_DRIVERS = ("core", "fileobj")  # of h5py, whose data nobody else can open


def is_stored(X):
    """Whether something can be sliced and is not in memory already: memory maps, zarr, h5py, dask."""
    if isinstance(X, np.memmap):
        return True
    if hasattr(X, "collect_schema"):  # a lazy frame of polars, which validation refuses
        return False
    if isinstance(X, IN_MEMORY) or not hasattr(X, "__getitem__") or hasattr(X, "iloc") or hasattr(X, "columns"):
        return False
    if hasattr(X, "tocsr"):  # sparse; validation refuses it
        return False
    return hasattr(X, "__len__") or hasattr(X, "shape")


def n_samples(X, name="X"):
    """How many rows it has, samples of a sequence or series of a collection; arrays of zarr have a shape and no len."""
    if hasattr(X, "compute_chunk_sizes") and np.isnan(X.shape[0]):
        raise ValueError(
            f"{name!r} must have a length that is known. Got an array of dask with chunks of unknown sizes. Call its "
            "compute_chunk_sizes() before."
        )
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def rows_of_chunk(X):
    """How many rows are stored together, or None: of zarr and h5py a number per axis, of dask the sizes of all."""
    chunks = getattr(X, "chunks", None)
    return int(np.max(chunks[0])) if chunks else None


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
    if type(X).__module__.partition(".")[0] == "h5py" and X.file.driver not in OWN_DRIVERS:
        return Dataset(abspath(X.file.filename), X.name)  # another process may work in another folder
    return X


def opened(X):
    """The array in this process."""
    return X.open() if isinstance(X, MemoryMap | Dataset) else X

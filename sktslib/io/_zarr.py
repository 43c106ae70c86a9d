"""Zarr stores, by zarr; arrays are read where they are asked for."""

import os

from ._hdf5 import of_array
from ._library import is_real, library, one_array, split

FILES = ".zarray", ".zgroup", "zarr.json"


def can_open(path, head):
    """Return whether a path is that of a store: a folder with zarr's description in it, or a packed one."""
    return path.lower().rstrip("/").endswith((".zarr", ".zarr.zip")) or any(
        os.path.isfile(os.path.join(path, name)) for name in FILES
    )


def open(path):
    """Return the array that the path names, or the only one."""
    zarr = library("zarr", "zarr")
    file, wanted = split(path)
    store = zarr.open(file, mode="r")
    if isinstance(store, zarr.Array):
        return of_array(store)
    members = store.members(max_depth=None)
    arrays = {name: item for name, item in members if isinstance(item, zarr.Array) and is_real(item.dtype)}
    return of_array(arrays[one_array({name: array.shape for name, array in arrays.items()}, wanted, file)])

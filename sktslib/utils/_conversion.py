"""Conversion of input to arrays of float64, with errors that show what cannot be converted and why.

The module also recognizes arrays that are not in memory, and lets other processes open those stored in files.
"""

from datetime import date, timedelta
from functools import partial
from mmap import ALLOCATIONGRANULARITY
from os.path import abspath
from pathlib import PurePath

import numpy as np

NO_NUMBERS = [((str, bytes), "text"), ((timedelta, np.timedelta64), "durations"), ((date, np.datetime64), "dates")]


def refused(subject, rule, got, way_out="", error=ValueError):
    """Return an error that says what must hold, what was given instead, and a way out.

    `subject` is the name of a parameter, or a phrase.
    """
    subject = subject if " " in subject or "'" in subject else f"The {subject!r} parameter"
    return error(f"{subject} must {rule}. Got {got}.{way_out and ' '}{way_out}")


def shown(value):
    """Return the repr of a value for a message, on one line and shortened if it is long."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python refuses to convert integers with thousands of digits
        text = f"an integer of {value.bit_length()} bits"
    return text if len(text) <= 100 else f"{text[:60]} ... {text[-10:]}"


def place(index):
    """Return an index in the form people write it: a number for one axis, else a tuple."""
    index = tuple(int(i) for i in index)
    return index[0] if len(index) == 1 else index


def converted(values, name):
    """Convert values to an array of float64, or raise an error that says why not."""
    if values is None:
        raise TypeError(f"{name!r} must be an array of real numbers. Got None.")
    if hasattr(values, "tocsr"):
        raise TypeError(f"{name!r} must be dense. Got sparse data; pass {name}.toarray().")
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        count = int(np.ma.getmaskarray(values).sum())
        raise ValueError(
            f"{name!r} must not have masked values. Got {count}; pass {name}.filled(numpy.nan), with "
            "nan_policy='omit' where there is one, or fill them by interpolation, for example with numpy.interp."
        )
    if isinstance(values, PurePath) or (isinstance(values, str) and PurePath(values).suffix[1:2].isalpha()):
        rule, out = "hold real numbers", "Read it first, for example by sktslib.io.read or pandas.read_csv."
        raise refused(repr(name), rule, f"the name of a file, {shown(str(values))}", out, error=TypeError)
    refuse_lazy(values, name)
    try:
        a = refuse_columns(values, name) if hasattr(values, "columns") else np.asarray(values)
    except ValueError:
        raise ragged(name) from None
    kind = a.dtype.kind
    if kind == "O":
        return _unboxed(a, name)
    if kind == "c":
        raise ValueError(
            f"{name!r} must hold real numbers. Complex data not supported: got {a.dtype}. Pass the real part or the "
            f"modulus, numpy.real({name}) or numpy.abs({name})."
        )
    if kind not in "biuf":
        raise TypeError(f"{name!r} must hold real numbers. Got {_refused(a.dtype, name)}")
    with np.errstate(over="ignore"):  # values that are too large become infinite, and a later check names their index
        return a.astype(np.float64)


def refuse_lazy(table, name):
    """Refuse a lazy frame of polars."""
    if hasattr(table, "collect_schema") and hasattr(table, "collect"):
        raise TypeError(f"{name!r} must be in memory. Got a lazy frame, {type(table).__name__}; pass {name}.collect().")


def refuse_columns(table, name):
    """Return the array of a table, or refuse columns with text or dates."""
    names, found = list(table.columns), {}
    try:
        a = np.asarray(table)
    except TypeError:  # polars cannot put dates and numbers into one array, or turns dates into numbers
        a = None
    by_name = a is None or (not hasattr(table, "iloc") and all(isinstance(column, str) for column in names))
    columns = [np.asarray(table[column]) for column in names] if by_name else a.T
    for column, values in zip(names, columns, strict=True):
        kind = next((what for types, what in NO_NUMBERS if any(isinstance(v, types) for v in _scalars(values))), None)
        if kind is not None:
            found.setdefault(kind, []).append(column)
    if found:
        wrong = [column for some in found.values() for column in some]
        plain = [column for column in names if column not in wrong]
        got = " and ".join(f"{what} in the column {', '.join(map(repr, c))}" for what, c in found.items())
        way_out = f"Select the columns of numbers, {name}[{shown(plain)}]" if plain else "Select columns of numbers"
        dates = ". Dates are not compared: pass them as times." if "dates" in found else "."
        raise TypeError(f"{name!r} must hold real numbers. Got {got}. {way_out}{dates}")
    return a


def _scalars(values):
    """Return the entries of a column that need a check of their Python types; none for a numeric array."""
    return values[:1] if values.dtype.kind in "mMSU" else values if values.dtype.kind == "O" else ()


def _refused(dtype, name):
    """Describe the contents of an array without numbers, and a way out, for an error."""
    if dtype.kind in "SU":
        return f"text, dtype {dtype}. If it spells numbers, pass numpy.asarray({name}, dtype=float)."
    if dtype.kind == "M":
        return f"dates, dtype {dtype}. Pass them as times, and the values measured here."
    if dtype.kind == "m":
        return f"durations, dtype {dtype}. Divide them by a unit, for example numpy.timedelta64(1, 's')."
    return f"dtype {dtype}. Pass the values alone, for example one field of a structured array."


def ragged(name):
    return ValueError(
        f"{name!r} must have rows of equal length. Got a ragged list. A series is (length,) or (length, channels); "
        "several series, where they can be taken, are a list of numpy arrays."
    )


def _unboxed(a, name):
    """Return the numbers in an object array; None and pandas.NA become NaN."""
    out = np.empty(a.shape)
    for index, value in np.ndenumerate(a):
        if value is None or type(value).__name__ == "NAType":
            out[index] = np.nan
            continue
        at = f" at index {place(index)}" if index else ""
        if isinstance(value, dict) and not index:
            raise TypeError(
                f"{name!r} must hold real numbers. Got a dictionary of {shown(list(value))}. Of channels make one "
                f"array, numpy.column_stack(list({name}.values())), or a table, pandas.DataFrame({name})."
            )
        if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
            raise ragged(name)
        if isinstance(value, complex | np.complexfloating):
            raise ValueError(
                f"{name!r} must hold real numbers. Complex data not supported: got {shown(value)}{at}. Pass the real "
                "parts or the moduli."
            )
        try:
            if isinstance(value, str | bytes | date | timedelta | np.datetime64 | np.timedelta64):
                raise TypeError(f"a {type(value).__name__} is not a number")
            out[index] = float(value)
        except OverflowError:
            raise ValueError(f"{name!r} must fit into float64, up to 1.8e308. Got {shown(value)}{at}.") from None
        except (TypeError, ValueError) as error:
            rule, got = "hold real numbers", f"{shown(value)}{at}: {error}"
            raise refused(repr(name), rule, got, "Pass the numbers alone.", error=TypeError) from None
    return out


IN_MEMORY = (np.ndarray, list, tuple, str, bytes, dict)
OWN_DRIVERS = ("core", "fileobj")  # drivers of h5py whose data only this process can open


def is_stored(X):
    """Return whether an object can be sliced and is not in memory: memory maps, zarr, h5py, dask."""
    if isinstance(X, np.memmap):
        return True
    # Excludes lazy frames of polars and sparse arrays, which validation refuses, and tables, which are in memory.
    others = ("collect_schema", "tocsr", "iloc", "columns")
    if isinstance(X, IN_MEMORY) or not hasattr(X, "__getitem__") or any(hasattr(X, name) for name in others):
        return False
    return hasattr(X, "__len__") or hasattr(X, "shape")


def n_samples(X, name="X"):
    """Return the number of rows: the samples of a sequence, or the series of a collection.

    Zarr arrays have a shape but no length.
    """
    if hasattr(X, "compute_chunk_sizes") and np.isnan(X.shape[0]):
        rule, got = "have a length that is known", "an array of dask with chunks of unknown sizes"
        raise refused(repr(name), rule, got, "Call its compute_chunk_sizes() first.")
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def rows_of_chunk(X):
    """Return the number of rows that are stored together, or None.

    Zarr and h5py give one chunk size per axis, dask the sizes of all chunks.
    """
    chunks = getattr(X, "chunks", None)
    return int(np.max(chunks[0])) if chunks else None


def _open_map(filename, offset, dtype, shape, strides):
    """Open a memory map whose first element is at a byte `offset` in its file."""
    return np.ndarray(shape, dtype, np.memmap(filename, np.uint8, "r"), offset, strides).view(np.memmap)


def _open_dataset(filename, name):
    import h5py

    return h5py.File(filename, "r")[name]


def stored(X):
    """Return a function that opens an array stored in a file in another process; anything else unchanged."""
    if isinstance(X, np.memmap):
        # Not for copy-on-write maps, which may differ from the file, nor for results of a sum, which have no map.
        if X._mmap is None or X.filename is None or X.mode == "c":
            return X
        begin = np.frombuffer(X._mmap, np.uint8).ctypes.data
        offset = X.offset - X.offset % ALLOCATIONGRANULARITY + X.ctypes.data - begin
        return partial(_open_map, str(X.filename), offset, X.dtype, X.shape, X.strides)
    if type(X).__module__.partition(".")[0] == "h5py" and X.file.driver not in OWN_DRIVERS:
        return partial(_open_dataset, abspath(X.file.filename), X.name)  # another process may have another folder
    return X


def opened(X):
    """Return the array, opened in this process if it is given as a function from `stored`."""
    return X() if isinstance(X, partial) else X

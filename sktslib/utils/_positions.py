"""Entries of a result: those that a number, a slice, a mask or a list of numbers selects, and their order."""

from numbers import Integral

import numpy as np

from ._conversion import shown


def as_position(k, n, what, name="'k'"):
    """The number of one of n entries, from 0; negative ones count from the end.

    `what` is what one entry and several are called, `name` what the caller gave, for messages.
    """
    one, several = what
    if not isinstance(k, Integral) or isinstance(k, bool):
        raise TypeError(f"{name} must be an integer, the number of a {one} from 0. Got {shown(k)}.")
    if not -n <= k < n:
        rule = f"from 0 to {n - 1} (or from -1 to {-n}, counted from the end)" if n else f"and there are no {several}"
        raise IndexError(
            f"{name} must be the number of a {one}, {rule}. Got {shown(k)}; len() says how many there are."
        )
    return int(k) % n


def as_positions(key, n, what):
    """The numbers of those of n entries that a slice, a mask or a list of numbers selects, an array of int."""
    several = what[1]
    if isinstance(key, slice):
        return np.arange(n)[key]
    index = None if isinstance(key, str | bytes | tuple) else np.asarray(key)
    if index is None or index.ndim != 1 or (index.dtype.kind not in "biu" and index.size):
        raise TypeError(
            f"The index of {several} must be an integer, a slice, a mask of {n} truth values or a list of integers. "
            f"Got {shown(key)}. Columns are attributes, such as {several}.start, or those of {several}.to_frame()."
        )
    if index.dtype.kind != "b":
        wrong = (index < -n) | (index >= n)
        if wrong.any():
            as_position(int(index[np.argmax(wrong)]), n, what, "The index")
        return np.where(index < 0, index + n, index).astype(np.int64)
    if len(index) != n:
        raise IndexError(f"A mask of {several} must have one truth value for each of the {n}. Got {len(index)}.")
    if hasattr(key, "iloc") and key.index.tolist() != list(range(n)):
        raise IndexError(
            f"A mask of {several} that is a pandas Series must have the index 0 to {n - 1}, in the order of the "
            f"{several}. Got {shown(key.index[:5].tolist())}. Pass the mask's index, mask.index[mask], if those are "
            "numbers of rows in to_frame(), or mask.to_numpy()."
        )
    return np.flatnonzero(index)


def order(keys, reverse):
    """The numbers of entries in the order of keys, the last one first; reversed, equals keep their order as well."""
    if reverse:
        return len(keys[0]) - 1 - np.lexsort([key[::-1] for key in keys])[::-1]
    return np.lexsort(keys)


def distinct(values):
    """The values of an array, ascending; texts stand behind numbers."""
    return sorted(set(values.tolist()), key=lambda value: (isinstance(value, str), value))

"""Memory of kernels: aligned to cache lines, and what each thread uses again and again.

Large arrays that are made for each piece of a long sequence come from the system and go back there each time, all of
their pages being cleared in between: in workers of dask that took longer than what was computed in them.
"""

import math
import threading

import numpy as np

LINE = 64  # bytes of a cache line
MOST = 2**20  # entries that are kept; larger arrays are made anew


class _Kept(threading.local):
    def __init__(self):
        self.arrays = {}


_kept = _Kept()


def aligned(*shape, dtype=np.float64):
    """An array that is not filled and has cache lines of its own.

    A register as wide as a line is then loaded from one of them, otherwise from two, which takes longer: numpy's large
    arrays begin in the midst of a line. Its small ones lie side by side, whatever thread they are for; threads that
    write to one line wait for each other.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + -size % LINE + LINE - 1, np.uint8)
    first = -room.__array_interface__["data"][0] % LINE
    return room[first : first + size].view(dtype).reshape(shape)


def aligned_zeros(*shape, dtype=np.float64):
    """The same, filled with zeros."""
    out = aligned(*shape, dtype=dtype)
    out.fill(0)
    return out


def scratch(name, shape, dtype=np.float64):
    """An array whose entries hold until the same thread asks for one of this name again."""
    size = math.prod(shape)
    if size > MOST:
        return aligned(*shape, dtype=dtype)
    held = _kept.arrays.get(name)
    if held is None or len(held) < size or held.dtype != dtype:
        held = _kept.arrays[name] = aligned(size, dtype=dtype)
    return held[:size].reshape(shape)

"""Memory that each thread uses again and again.

Large arrays that are made for each piece of a long sequence come from the system and go back there each time, all of
their pages being cleared in between: in workers of dask that took longer than what was computed in them.
"""

import math
import threading

import numpy as np

MOST = 2**20  # entries that are kept; larger arrays are made anew


class _Kept(threading.local):
    def __init__(self):
        self.arrays = {}


_kept = _Kept()


def scratch(name, shape, dtype=np.float64):
    """An array whose entries hold until the same thread asks for one of this name again."""
    size = math.prod(shape)
    if size > MOST:
        return np.empty(shape, dtype)
    held = _kept.arrays.get(name)
    if held is None or len(held) < size or held.dtype != dtype:
        held = _kept.arrays[name] = np.empty(size, dtype)
    return held[:size].reshape(shape)

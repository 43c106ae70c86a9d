"""Minimum and maximum of blocks of a recording, of which a picture of any part of it is drawn at once."""

import mmap
import threading

import numpy as np

BLOCK = 64  # samples of the finest blocks; shorter columns of a picture are read from the samples
TIMES = 8  # blocks of a level in one of the next
LEVELS = 5
CHUNK = 4 * BLOCK * TIMES ** (LEVELS - 1)  # samples read at a time: whole blocks of every level, about a million
STRIPE = 2**18  # numbers that are compared at a time: what the processor's cache holds
PROBES = 4  # samples that stand for a column before its blocks are known
MAPPED = ("r", "r+")  # modes of memory maps whose pages may be given back


def rows(values, start, end):
    """Return the samples [start, end) of a recording as an array (n, channels)."""
    part = np.asarray(values[start:end])
    return part.reshape(len(part), -1)


def give_back(values):
    """Give the pages of a memory map back to the system, which reads them again when they are needed."""
    pages = getattr(values, "_mmap", None)
    if pages is not None and getattr(values, "mode", None) in MAPPED and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


class Pyramid:
    """Minimum and maximum of each channel in blocks of 64 samples, then of eight blocks each, four times over.

    A thread reads the recording once, from left to right. What it has not reached is drawn from single samples if
    these are at hand, and is missing where they are not. Missing values count nothing, and a block of these alone is
    missing.

    Parameters
    ----------
    values : array of shape (n,) or (n, channels)
        An array, a memory map, or what is read where it is sliced.
    threaded : bool, default=True
        Whether a thread builds it; else it is built at once.

    Attributes
    ----------
    ready : float
        The share of the recording that was read.
    """

    def __init__(self, values, *, threaded=True):
        self._values, self.n = values, int(values.shape[0]) if hasattr(values, "shape") else len(values)
        self.channels, self._read, self.error, self._ended = rows(values, 0, 1).shape[1], 0, None, False
        counts = [-(-self.n // (BLOCK * TIMES**k)) for k in range(LEVELS)]
        self._levels = [np.full((2, count, self.channels), np.nan, np.float32) for count in counts]
        self._thread = threading.Thread(target=self._build, daemon=True)
        self._thread.start()
        if not threaded:
            self.wait()

    @property
    def ready(self):
        return self._read / self.n if self.n else 1.0

    def wait(self):
        """Wait until all is read."""
        self._thread.join()
        return self

    def stop(self):
        """Read no further."""
        self._ended = True

    @property
    def ranges(self):
        """The minimum and the maximum of each channel (channels, 2) in what was read."""
        low, high = self._levels[-1]
        return np.stack([np.fmin.reduce(low, axis=0, initial=np.nan), np.fmax.reduce(high, axis=0, initial=np.nan)], 1)

    def _build(self):
        try:
            for start in range(0, self.n, CHUNK):
                part = rows(self._values, start, min(start + CHUNK, self.n))
                with np.errstate(over="ignore"):  # beyond what a float of 32 bits holds is infinite
                    below = [_blocks(part, f, BLOCK) for f in FUNCTIONS]
                for k, level in enumerate(self._levels):
                    below = below if k == 0 else [_grouped(own, f) for own, f in zip(below, FUNCTIONS, strict=True)]
                    at = start // (BLOCK * TIMES**k)
                    level[:, at : at + len(below[0])] = below
                self._read = start + len(part)
                give_back(self._values)
                if self._ended:
                    return
        except Exception as error:  # whoever asks for a view is told
            self.error = error

    def view(self, first, last, columns):
        """Return the minimum and the maximum of each channel in columns of a picture of the samples [first, last).

        Parameters
        ----------
        first, last : float
            The samples at the edges of the picture.
        columns : int
            How many columns there are.

        Returns
        -------
        low, high : ndarray of shape (channels, columns)
            A column shorter than 64 samples has those of its samples, or of the one at its left edge; else of blocks
            that are no longer than it, so that what lies less than a block beside it may count, too.
        """
        if self.error is not None:
            raise self.error
        edges = np.clip(first + (last - first) / columns * np.arange(columns + 1), 0, self.n)
        width, left = (last - first) / columns, int(edges[0])
        if width < BLOCK:
            part = rows(self._values, left, min(int(edges[-1]) + 1, self.n))
            return _columns((part, part), edges.astype(int) - left, columns)
        k = min(int(np.log(width / BLOCK) / np.log(TIMES) + 1e-9), LEVELS - 1)
        found = _columns(self._levels[k], (edges // (BLOCK * TIMES**k)).astype(int), columns)
        late = np.flatnonzero((edges[1:] > self._read) & (edges[:-1] < self.n))
        if len(late) and isinstance(self._values, np.ndarray):
            at = (edges[late, None] + width * np.arange(PROBES) / PROBES).astype(int)
            some = self._values[np.minimum(at, self.n - 1)].reshape(len(late), PROBES, -1)
            for own, f in zip(found, FUNCTIONS, strict=True):
                own[:, late] = f.reduce(some, axis=1).T
        return found


FUNCTIONS = np.fmin, np.fmax


def _blocks(part, f, size):
    """Return f of each block of samples (n, channels), a stripe at a time: halves of blocks lie side by side."""
    whole, channels = len(part) // size * size, part.shape[1]
    out = np.empty((-(-len(part) // size), channels), np.float32)
    stripe = max(STRIPE // (size * channels), 1) * size
    for start in range(0, whole, stripe):
        some = np.ascontiguousarray(part[start : min(start + stripe, whole)])
        some = some.reshape(-1, size * channels)
        if channels == 1:
            some = f.reduce(some, axis=1)[:, None]
        while some.shape[1] > channels:
            some = f(some[:, : some.shape[1] // 2], some[:, some.shape[1] // 2 :])
        out[start // size : start // size + len(some)] = some
    if whole < len(part):
        out[-1] = f.reduce(part[whole:], axis=0)
    return out


def _grouped(blocks, f):
    return f.reduceat(blocks, np.arange(0, len(blocks), TIMES), axis=0)


def _columns(low_high, at, columns):
    """Return minimum and maximum (channels, columns) of the entries from each edge to the next, at least one."""
    n, out = len(low_high[0]), np.full((2, low_high[0].shape[1], columns), np.nan, np.float32)
    inside = at[:-1] < n
    start = at[:-1][inside]
    if not len(start):
        return out
    # reduceat takes the last one to the end of the array
    end = min(max(int(at[inside.sum()]), int(start[-1]) + 1), n)
    for own, values, f in zip(out, low_high, FUNCTIONS, strict=True):
        own[:, inside] = f.reduceat(values[:end], start, axis=0).T
    return out

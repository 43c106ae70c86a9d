"""Minimum and maximum of blocks of a recording, from which any part of it is drawn at once."""

import mmap
import threading

import numpy as np

BLOCK = 64  # samples of the finest blocks; for narrower columns of a picture, samples are read
TIMES = 8  # number of blocks that make a block of the next level
LEVELS = 5
CHUNK = BLOCK * TIMES ** (LEVELS - 1)  # samples read at a time: whole blocks of every level
PROBES = 4  # samples that represent a column until its blocks are known
FUNCTIONS = np.fmin, np.fmax  # ignore missing values


def rows(values, start, end, step=None):
    """Return samples of a recording as an array (n, channels); from a memory map a copy, to release its pages."""
    part = np.asarray(values[start:end:step])
    # Not for maps opened for copy-on-write, whose changes would be lost.
    if getattr(values, "mode", None) in ("r", "r+") and hasattr(mmap, "MADV_DONTNEED"):
        part = part.copy()
        values._mmap.madvise(mmap.MADV_DONTNEED)
    return part.reshape(len(part), -1)


class Pyramid:
    """Minimum and maximum of each channel in blocks of 64 samples, then of eight blocks each, four times over.

    A thread reads the recording once, from left to right. The part that it has not reached is drawn from single samples
    if these are at hand, and is missing where they are not. Missing values count nothing, and a block of these alone is
    missing.

    Parameters
    ----------
    values : array of shape (n,) or (n, channels)
        An array, a memory map, or what is read where it is sliced.
    """

    def __init__(self, values):
        self._values, self.n, self._read, self._error = values, int(values.shape[0]), 0, None
        first = rows(values, 0, 1)
        shapes = [(2, -(-self.n // (BLOCK * TIMES**k)), first.shape[1]) for k in range(LEVELS)]
        self._levels = [np.full(shape, np.nan, np.result_type(first, np.float32)) for shape in shapes]
        self._thread = threading.Thread(target=self._build, daemon=True)
        self._thread.start()

    @property
    def ready(self):
        """The share of the recording that has been read."""
        return self._read / self.n

    def wait(self):
        """Wait until everything is read, and return the pyramid."""
        self._thread.join()
        return self

    @property
    def ranges(self):
        """Minimum and maximum of each channel (channels, 2) in the part that has been read."""
        return np.stack([f.reduce(own, axis=0) for f, own in zip(FUNCTIONS, self._levels[-1], strict=True)], axis=1)

    def _build(self):
        try:
            for start in range(0, self.n, CHUNK):
                # Transposed, because numpy is fast along long rows.
                part = np.ascontiguousarray(rows(self._values, start, min(start + CHUNK, self.n)).T)
                for own, f in enumerate(FUNCTIONS):
                    below = part
                    for k, level in enumerate(self._levels):
                        below = f.reduceat(below, np.arange(0, below.shape[1], TIMES if k else BLOCK), axis=1)
                        level[own, start // (BLOCK * TIMES**k) :][: below.shape[1]] = below.T
                self._read = start + part.shape[1]
        except Exception as error:  # raised again when a view is asked for
            self._error = error

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
        ndarray of shape (2, channels, columns)
            A column shorter than 64 samples has those of its samples, or of the one at its left edge; else of blocks
            that are no longer than it, so that what lies less than a block next to it may count, too.
        """
        return self.between(np.linspace(first, last, columns + 1))

    def between(self, edges):
        """Return what `view` does, for columns between given samples (columns + 1,)."""
        if self._error is not None:
            raise self._error
        first, width = int(edges[0]), round(np.diff(edges).min(), 6)
        if width < BLOCK:
            return extremes([rows(self._values, first, min(int(edges[-1]) + 1, self.n))] * 2, edges.astype(int) - first)
        k = min(int(np.log(width / BLOCK) / np.log(TIMES) + 1e-9), LEVELS - 1)
        found = extremes(self._levels[k], (edges // (BLOCK * TIMES**k)).astype(int))
        late = np.flatnonzero(edges[1:] > self._read)
        if len(late) and isinstance(self._values, np.ndarray):
            at = edges[late, np.newaxis] + width / PROBES * np.arange(PROBES)
            some = self._values[np.minimum(at.astype(int), self.n - 1)].reshape(len(late), PROBES, -1)
            found[:, :, late] = [f.reduce(some, axis=1).T for f in FUNCTIONS]
        return found


def extremes(low_high, at):
    """Return minimum and maximum (2, channels, columns) of the entries between edges, of at least one entry."""
    n, kind = len(low_high[0]), np.result_type(low_high[0], np.float32)
    out = np.full((2, low_high[0].shape[1], len(at) - 1), np.nan, kind)
    start = at[:-1][at[:-1] < n]
    if len(start):
        end = max(int(at[len(start)]), int(start[-1]) + 1)  # reduceat would extend the last one to the end of the array
        for own, values, f in zip(out, low_high, FUNCTIONS, strict=True):
            own[:, : len(start)] = f.reduceat(values[:end], start, axis=0).T
    return out

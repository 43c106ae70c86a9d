"""Times as the caller gave them: of whole sequences, of pieces that follow each other, of some samples alone."""

import numpy as np


class SparseTimes:
    """Times of some samples of a sequence; an array of them where one is asked for.

    Attributes
    ----------
    samples : ndarray of int of shape (n,)
        Sample indices, ascending. The end of a range counts as the sample behind it.
    times : ndarray or pandas.DatetimeIndex of shape (n,)
        Their times.
    """

    def __init__(self, samples, times):
        self.samples, first = np.unique(np.asarray(samples, np.int64), return_index=True)
        self.times = times[first]

    @classmethod
    def of(cls, several):
        """Those of several of them together."""
        return cls(np.concatenate([one.samples for one in several]), joined(*(one.times for one in several)))

    def __len__(self):
        return len(self.times)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.times, dtype)

    def at(self, index):
        """Times of samples that are among those known."""
        return self.times[np.searchsorted(self.samples, index)]


def times_at(times, index):
    """Times of sample indices; the end of the last sample lies one last step behind it."""
    if times is None:
        return None
    index = np.asarray(index)
    if isinstance(times, SparseTimes):
        return times.at(index)
    n = len(times)
    inside = index < n
    if inside.all():
        return times[index]
    after = times[-1:] + (times[-1:] - times[-2:-1]) if n > 1 else times[-1:]
    return joined(times[index[inside]], after)[np.where(inside, np.cumsum(inside) - 1, inside.sum())]


def kept_times(times, index):
    """What is left of times where no more than those of some samples are needed."""
    return None if times is None else SparseTimes(index, times_at(times, index))


def joined(first, *others):
    """Pieces of times, one after the other; only a pandas index knows time zones."""
    return first.append(list(others)) if hasattr(first, "append") else np.concatenate([first, *others])

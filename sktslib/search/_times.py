"""Times as the caller gave them: of whole sequences, of pieces that follow each other, of some samples alone."""

from functools import reduce

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
        return cls(np.concatenate([one.samples for one in several]), reduce(joined, (one.times for one in several)))

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


def joined(times, more):
    """Two pieces of times, one after the other; only a pandas index knows time zones."""
    return times.append(more) if hasattr(times, "append") else np.concatenate([times, more])


def followed(times, more, sample):
    """Times so far, if any, and those from a sample on, which must be later."""
    if times is None or not len(times):
        return more
    if len(more) and not more[0] > times[-1]:
        raise ValueError(f"'times' must be strictly increasing. Got {more[0]} after {times[-1]}, at sample {sample}.")
    return joined(times, more)

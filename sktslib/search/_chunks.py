"""Chunks of a stream: input validation, and times as kernels count them."""

from contextlib import contextmanager

import numpy as np

from ..utils._sizes import largest
from ..utils.validation import FLOAT, as_dates, as_times
from ._buffer import TimeBuffer


@contextmanager
def chunk_at(sample):
    """Say of an error in which chunk it is: samples are counted from its begin."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"In the chunk that begins at sample {sample}: {error}") from None


class Clock:
    """The caller's times as the kernels count them: datetimes in seconds from the first one of the sequence."""

    def __init__(self, metric, tx):
        self.metric, self.timed, self.origin = metric, tx is not None and metric.uses_times, None

    def __call__(self, times):
        if not self.metric.uses_times or (times is None and not self.timed):
            return None
        if times is None:
            raise ValueError("'times' must be given with the sequence, for 'fit' was given those of the query.")
        if not self.timed:
            raise ValueError(
                f"'times' must be None, for 'fit' was given none of the query, and {self.metric.full_name} compares "
                "times. Pass those of the query to 'fit' too."
            )
        given = as_dates(times)
        if self.origin is None and given.dtype.kind in "MO":
            self.origin = given[0]
        return as_times(times, len(given), "times", self.origin)


class Entrance:
    """Input validation of the chunks of one stream, and their times.

    Attributes
    ----------
    times : TimeBuffer or None
        Those of the last samples as they were given.
    """

    def __init__(self, estimator, chunk="chunk"):
        self._estimator, self._channels, self._chunk = estimator, estimator.n_features_in_, chunk
        self.clock = Clock(estimator.metric_, estimator._query_times)
        self.times, self._begun = None, False
        # Above this sum of squares the values of a chunk are looked at, for they may be too large for the metric.
        self._large = largest(max(2.0, estimator.metric_._cost_exponent(self._channels))) ** 2

    def plain(self, X):
        """Samples (channels, n) of an array that is valid as it is; None for what must be looked at closely."""
        if type(X) is not np.ndarray or X.dtype is not FLOAT or not X.size or self.times or self.clock.timed:
            return None
        if self._estimator.metric_._has_domain:
            return None
        if X.ndim == 1 and self._channels == 1:
            y = X[np.newaxis]
        elif X.ndim == 2 and X.shape[1] == self._channels:
            y = X.T
        else:
            return None
        if not np.vdot(X, X) < self._large:  # also where it is NaN
            return None
        self._begun = True
        return y

    def __call__(self, X, times, sample):
        """Samples (channels, n) of the chunk that begins at a sample, and its times for the kernels."""
        with chunk_at(sample):
            y, _, given = self._estimator._validated(X, times, keep=False)
        return y, self.take(given)

    def take(self, given):
        """The times of a chunk for the kernels; they are kept as they were given."""
        if self._begun and (given is None) != (self.times is None):
            got = "without them, those before with" if given is None else "with them, those before without"
            raise ValueError(f"'times' must be given with every {self._chunk} or with none. Got a chunk {got}.")
        ty = self.clock(given)
        if given is not None:
            times = self.times or TimeBuffer()
            times.append(given)
            self.times = times
        self._begun = True
        return ty


def is_nothing(X):
    """Whether a chunk has no samples, as when nothing came in time."""
    return hasattr(X, "__len__") and len(X) == 0

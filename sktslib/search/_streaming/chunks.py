"""Chunks of a stream: input validation, times as kernels count them, and what the streams of both estimators share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import numpy as np

from ...utils._given_times import as_dates, times_of
from ...utils._sampling import holes
from ...utils._sizes import largest, sum_of_squares
from ...utils.validation import FLOAT, are_counted, as_times, check_count
from .._buffer import TimeBuffer


@contextmanager
def chunk_at(sample):
    """Say of an error in which chunk it is: samples are counted from its begin."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"In the chunk that begins at sample {sample}: {error}") from None


def check_delay(max_delay, least, what, ahead, otherwise):
    """The longest delay of a decision: what has to be decided must be seen by then."""
    check_count(max_delay, "max_delay", none=True, owner="stream")
    if max_delay is not None and max_delay < least + ahead:
        more = f" and the {ahead} that the metric looks ahead" if ahead else ""
        raise ValueError(
            f"The 'max_delay' parameter of stream must be at least {what}, {least} samples{more}: {otherwise} before "
            f"its end has come. Got {max_delay}."
        )
    return max_delay


class Clock:
    """The caller's times as the kernels count them: datetimes in seconds from the first one of the sequence."""

    def __init__(self, queries):
        self.origin, self.reads = None, any(how.reads_times for how in queries)

    def __call__(self, times):
        if not self.reads or times is None:
            return None
        given = as_dates(times)
        self.begin(given)
        return as_times(times, len(given), "times", self.origin)

    def begin(self, given):
        """Count datetimes from the first of these, unless it is known from where."""
        if self.reads and self.origin is None and are_counted(given):
            self.origin = given[0]


class Entrance:
    """Input validation of the chunks of one stream, and their times.

    Attributes
    ----------
    seen : int
        Samples so far.
    times : TimeBuffer or None
        Those of the last samples as they were given.
    """

    def __init__(self, estimator, clock=None, first=0, *, notices=True):
        self._estimator, self._channels = estimator, estimator.n_features_in_
        self.clock = clock or Clock(estimator._queries)
        self.times, self.seen, self.first = None, first, first  # first: the sample at which it begins
        self._last = None  # the time of the last sample for the kernels
        self._noticed = first > 0 or not notices  # whether a chunk's times were looked at for uneven steps
        # Above this sum of squares the values of a chunk are looked at, for they may be too large for the metric.
        self._large = largest(max(2.0, estimator.metric_._cost_exponent(self._channels))) ** 2

    def __call__(self, X, times):
        """Samples (channels, n) of the next chunk, its times for the kernels, and whether it has gaps or holes.

        None: nothing. Times are kept as they were given.
        """
        y, ty, gaps = self._plain(X) if times is None else None, None, False
        if y is not None and self.seen == self.first:
            self._estimator._check_columns(X)
        if y is None:
            if hasattr(X, "__len__") and len(X) == 0:  # as when nothing came in time
                return None
            with chunk_at(self.seen):
                times = times if times is None else times_of(X, times, self.seen)
                y, own, given = self._estimator._validated(X, times)
            ty, how = self._take(given), self._estimator._queries[0]
            gaps = (how.gaps and bool(np.isnan(y).any())) or self._has_hole(ty, how.max_gap)
            self._notice(X, given, own)
        self.seen += y.shape[1]
        return y, ty, gaps

    def _plain(self, X):
        """Samples (channels, n) of an array that is valid as it is; None for what must be looked at closely."""
        if type(X) is not np.ndarray or X.dtype is not FLOAT or not X.size or self.times or self.clock.reads:
            return None
        if self._estimator.metric_._has_domain:
            return None
        if X.ndim == 1 and self._channels == 1:
            y = X[np.newaxis]
        elif X.ndim == 2 and X.shape[1] == self._channels:
            y = X.T
        else:
            return None
        if not sum_of_squares(X) < self._large:  # also where it is NaN
            return None
        return y

    def _take(self, given):
        """The times of a chunk for the kernels."""
        if self.seen > self.first and (given is None) != (self.times is None):
            got = "without them, those before with" if given is None else "with them, those before without"
            raise ValueError(f"'times' must be given with every chunk or with none. Got a chunk {got}.")
        ty = self.clock(given)
        if given is not None:
            times = self.times or TimeBuffer(self.first)
            times.append(given)
            self.times = times
        return ty

    def _has_hole(self, ty, max_gap):
        """Whether there is a hole before or in a chunk."""
        if ty is None or max_gap is None:
            return False
        last, self._last = self._last, ty[-1:]
        return len(holes(ty if last is None else np.concatenate([last, ty]), max_gap)) > 0

    def _notice(self, X, given, own):
        """Warn, once, of times that are uneven or other than a query's: those of the first chunk of several."""
        if self._noticed or len(X) < 2:
            return
        self._noticed = True
        self._estimator._notice(X, given, own)


class ChunkStream:
    """Chunks of a sequence go in, and results come out as soon as they are decided.

    A subclass tells what is decided by the next samples (`_take`; nothing is false) and by the end (`_end`), makes a
    table of it, of None an empty one (`_result`), and drops the samples that nothing undecided depends on (`_forget`,
    which returns the first of those that are left). Where no times come to be compared with the queries', it begins
    anew without these (`_count_samples`).
    """

    def __init__(self, estimator: Any) -> None:
        self._entrance = Entrance(estimator)
        self._nothing, self._flushed = None, False

    @property
    def n_samples_seen(self) -> int:
        return self._entrance.seen

    @property
    def _times(self):
        """As they were given, of the samples that are held."""
        return self._entrance.times

    def _update(self, X, times):
        """The result of the next samples."""
        self._check_open()
        first = not self.n_samples_seen
        chunk = self._entrance(X, times)
        if chunk is not None and first and chunk[1] is None and self._entrance.clock.reads:
            self._count_samples()
        found = None if chunk is None else self._take(*chunk)
        result = self._result(found) if found else self._no_result()
        first = self._forget()
        if self._times is not None:
            self._times.forget(first)
        return result

    def _no_result(self):
        """Made once, for it is the answer to most chunks."""
        if self._nothing is None or (self._nothing.times is None) != (self._times is None):
            self._nothing = self._result(None)
        return self._nothing

    def _flush(self):
        """The result of the end."""
        self._check_open()
        found = self._end()
        self._flushed = True
        return self._result(found)

    def _check_open(self):
        if self._flushed:
            raise ValueError("The stream has been flushed, and its end has come. Begin a new one by 'stream()'.")

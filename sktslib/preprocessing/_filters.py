"""Filters and running statistics of recordings, as transformers that also process recordings chunk by chunk.

BandPass keeps the frequencies between two edges, by Butterworth filters in second-order sections that run over a
recording in both directions, or chunk by chunk. RunningBaseline removes slow changes. They share parameters, input
validation, the sampling rate and streams.

The window of a running statistic has `width` samples and ends at each sample, or is centered on it. It is cut off at
the ends of a recording. If all its values are missing, the statistic is NaN. Results depend only on samples in the
window, so chunks give the same bits as the whole.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import signal
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..search._chunks import check_table, located, refuse_channels
from ..search._limits import runs as observed_runs
from ..utils._parameters import Interval, StrOptions
from ..utils._sklearn import Estimator, in_container
from ..utils._times import Times, name_of, notice_column, notice_index, times_of
from ..utils.validation import as_points, as_times, refuse_missing, refused, shown
from ._resample import notice_steps, rate_of

LEAST = 1e-6  # smallest edge relative to the sampling rate; below, poles of high orders would round to the unit circle
MOST = 12  # the highest order
ALL = np.array([[1.0, 0.0, 0.0, 1.0, 0.0, 0.0]])  # the section that passes everything


def sections(low, high, rate, order, owner):
    """Return the filter that passes the frequencies between two edges, either of which may be None."""
    half = rate / 2
    for name, value in (("low", low), ("high", high)):
        if value is not None and not value < half:
            raise ValueError(
                f"The {name!r} parameter of {owner} must be below half the sampling rate, {half:.6g}. Got "
                f"{shown(value)}: faster changes are not in the samples. Lower it, set it to None (nothing is cut off "
                f"at that side), or check 'sampling_rate', {rate:.6g} samples per unit of time."
            )
        if value is not None and value < LEAST * rate:
            rule = f"be at least {LEAST:g} of the sampling rate, {LEAST * rate:g}"
            got = f"{shown(value)}, for which the filter is beyond float64"
            out = "Raise it, check 'sampling_rate', or resample the recording to fewer samples first."
            raise refused(f"The {name!r} parameter of {owner}", rule, got, out)
    if low is None and high is None:
        return ALL
    edges = [float(edge) for edge in (low, high) if edge is not None]
    kind = "bandpass" if len(edges) == 2 else "highpass" if high is None else "lowpass"
    sos = signal.butter(order, edges if len(edges) == 2 else edges[0], kind, fs=rate, output="sos")
    poles = np.concatenate([np.abs(np.roots(section[3:])) for section in sos])
    if not (np.isfinite(sos).all() and poles.max() < 1.0):
        rule = "be further apart, and from 0, or 'order' lower, for the filter to be stable in float64"
        got = f"{shown(low)} and {shown(high)}, order {order}"
        raise refused(f"The 'low' and 'high' parameters of {owner}", rule, got)
    return sos


def both_ways(sos, y):
    """Filter samples (channels, n) in both directions; each run of a channel without missing values by itself."""
    out, sos = np.full(y.shape, np.nan), np.array(sos)  # a copy, because scipy refuses read-only arrays
    for rows, a, b in runs(y):
        # scipy's default padding, limited to the number of samples that can be reflected.
        zeros = min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())
        padding = min(3 * (2 * len(sos) + 1 - int(zeros)), b - a - 1)
        out[rows, a:b] = signal.sosfiltfilt(sos, y[rows, a:b], axis=-1, padlen=padding)
    return out


class CausalFilter:
    """A filter that continues from piece to piece of a recording; it restarts after a missing value in a channel."""

    def __init__(self, sos, channels):
        self._sos = np.array(sos)  # a copy, because scipy refuses read-only arrays
        self._rest = signal.sosfilt_zi(sos)  # the steady state for a constant input of 1
        self._state = np.zeros((len(sos), channels, 2))
        self._inside = np.zeros(channels, bool)  # whether the last sample of each channel was present

    def update(self, y):
        """Return the next samples (channels, n), filtered."""
        out = np.full(y.shape, np.nan)
        for rows, a, b in runs(y):
            new = np.ones(len(rows), bool) if a else ~self._inside[rows]
            first = rows[new]
            self._state[:, first] = self._rest[:, None, :] * y[first, a][None, :, None]
            out[rows, a:b], self._state[:, rows] = signal.sosfilt(self._sos, y[rows, a:b], zi=self._state[:, rows])
        self._inside = ~np.isnan(y[:, -1])
        return out


def runs(y):
    """Yield channels (k,) and the half-open range of each run of samples (channels, n) without a missing value.

    Channels without any missing value share one entry.
    """
    whole = ~np.isnan(y).any(axis=1)
    if whole.any():
        yield np.flatnonzero(whole), 0, y.shape[1]
    for row in np.flatnonzero(~whole):
        for a, b in observed_runs(y[row : row + 1]).tolist():
            yield np.array([row]), a, b


class StepStream:
    """A causal transformer that continues with every chunk of a recording; made by its `stream`.

    The result equals `transform` of the whole recording to the bit, whatever the chunks. A stream can be pickled and
    resumes where it was. Memory: the state of a filter, or the samples of a window.

    Attributes
    ----------
    n_samples_seen : int
        Samples processed up to now.

    Examples
    --------
    >>> from sktslib.preprocessing import RunningBaseline
    >>> stream = RunningBaseline(3, causal=True).fit([[0.0]]).stream()
    >>> [stream.update(chunk).tolist() for chunk in ([1.0, 2.0, 9.0], [], [2.0, 2.0])]
    [[0.0, 0.5, 7.0], [], [0.0, 0.0]]
    """

    def __init__(self, transformer: Any) -> None:
        self._transformer, self._state = transformer, transformer._begin()
        self.n_samples_seen = 0

    def update(self, X: ArrayLike, times: Times | None = None) -> NDArray[np.float64]:
        """Transform the next samples.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            Samples that follow those before; there may be none.
        times : array-like of shape (n,), optional
            Their times, which are checked for uneven steps.

        Returns
        -------
        ndarray of the shape of X
            The transformed samples, in the container that ``set_output`` of the transformer says.

        Raises
        ------
        ValueError
            If the transformer cannot take the samples; the message says in which chunk.
        """
        step = self._transformer
        if hasattr(X, "__len__") and len(X) == 0:  # nothing arrived in time
            shape = (0,) if len(getattr(X, "shape", (0,))) == 1 else (0, step.n_features_in_)
            return in_container(step, np.empty(shape), X)
        with located(f"the chunk that begins at sample {self.n_samples_seen}"):
            times = None if times is None else times_of(X, times, self.n_samples_seen)
            chunk = step._checked(X, times, reset=False)
        if not self.n_samples_seen:
            step._notice(chunk)
        self.n_samples_seen += chunk.y.shape[1]
        return in_container(step, chunk.like(step._transformed(chunk.y, self._state)), X)


class Recording(NamedTuple):
    """A validated recording."""

    y: np.ndarray  # (channels, n)
    t: np.ndarray | None  # its times as floats
    given: object  # its times as given
    flat: bool  # whether it was one-dimensional

    def like(self, y):
        """Return samples (channels, n) in the shape that the recording had."""
        return y[0] if self.flat else np.ascontiguousarray(y.T)


@dataclass(eq=False, repr=False, kw_only=True)
class RecordingTransformer(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Base of the transformers that keep the number of samples: time points are samples, channels are features.

    A subclass learns from a recording (`_learn`) and transforms samples (channels, n) with `_transformed`: a whole
    recording, or if it is `causal` piece by piece. `_begin` makes the state that it keeps between pieces. Missing
    values stay NaN.
    """

    causal: bool = False
    nan_policy: str = "raise"

    _parameter_constraints = {"causal": ["boolean"], "nan_policy": [StrOptions({"raise", "omit"})]}

    # Times given to `pipeline_search`, or to a pipeline with metadata routing, are passed to every step.
    __metadata_request__fit = {"times": True}
    __metadata_request__transform = {"times": True}

    _rate = None  # samples per unit of time, if the transformer depends on it

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, times: Times | None = None) -> Self:
        """Check the parameters, and learn what there is to learn from a recording.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        y : array-like of shape (n,), optional
            Labels of its time points; not used, unless the class says so.
        times : array-like of shape (n,), optional
            Strictly increasing sample times, numbers or datetimes. Default: those of the index of `X`, if it holds any.

        Returns
        -------
        object
            The transformer itself.
        """
        self._validate()
        recording = self._checked(X, times, reset=True)
        if recording.flat and y is not None:
            got, out = "one dimension", "Reshape your data with numpy.reshape(X, (-1, 1)) if it has a single channel."
            raise refused("'X'", "have shape (length, channels) where 'y' is given", got, out)
        self._learn(recording, y)
        notice_column(X, recording.y.T)
        notice_index(X, recording.given)
        self._notice(recording)
        return self

    def transform(self, X: ArrayLike, times: Times | None = None) -> NDArray[np.float64]:
        """Transform a recording.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, channels)
            The recording.
        times : array-like of shape (n,), optional
            Its sample times, as in `fit`. They are only checked for uneven steps.

        Returns
        -------
        ndarray of the shape of X
            The transformed samples; NaN where one is missing. A table with the index of `X` if ``set_output`` asks for
            one.
        """
        check_is_fitted(self)
        recording = self._checked(X, times, reset=False)
        notice_index(X, recording.given)
        self._notice(recording)
        return recording.like(self._transformed(recording.y, self._begin()))

    def stream(self) -> StepStream:
        """Start to transform a recording chunk by chunk; `causal` must be True.

        Returns
        -------
        StepStream
            Its ``update(X)`` returns the transformed samples of each chunk, equal to those of `transform` to the bit.
        """
        check_is_fitted(self)
        if not self.causal:
            rule = "be True in a stream, where later samples are not known"
            got, out = "False", "Set causal=True and fit again, because the filter then delays events."
            raise refused(f"The 'causal' parameter of {type(self).__name__}", rule, got, out)
        return StepStream(copy(self))

    def _checked(self, X, times, *, reset):
        """Return a recording after validation."""
        a = as_points(X, "X")
        refuse_missing(a, "X", missing=self.nan_policy == "omit")
        if reset:
            validate_data(self, X if hasattr(X, "columns") else a.reshape(len(a), -1), skip_check_array=True)
        else:
            check_table(self, X)
            refuse_channels(self, a.shape, "recording that it was fitted to")
        y, given = a.reshape(len(a), -1).T, times_of(X, times)
        return Recording(y, as_times(given, len(a), name_of(times)), given, a.ndim == 1)

    def _notice(self, recording):
        notice_steps(recording.t, recording.given, self._rate, type(self).__name__)

    def _learn(self, recording, y):
        """Do nothing, unless a subclass learns something."""


@dataclass(eq=False, repr=False, kw_only=True)
class Filter(RecordingTransformer):
    """Base of the filters, whose band `fit` sets."""

    order: int = 2

    _parameter_constraints = {
        "sampling_rate": [Interval(Real, 0, None, closed="neither"), None],
        "order": [Interval(Integral, 1, MOST, closed="both")],
    }

    def _design(self, low, high):
        """Compute the filter for a band."""
        self._sos = sections(low, high, self.sampling_rate_, int(self.order), type(self).__name__)

    def _take_rate(self, recording):
        self._rate = rate_of(self.sampling_rate, recording.t, recording.given, type(self).__name__)
        self.sampling_rate_ = self._rate.value

    def _begin(self):
        return CausalFilter(self._sos, self.n_features_in_) if self.causal else None

    def _transformed(self, y, state):
        return both_ways(self._sos, y) if state is None else state.update(y)


@dataclass(eq=False, repr=False)
class BandPass(Filter):
    """Keep the frequencies of a recording between two edges.

    Time points are samples and channels are features; each channel is filtered separately. The filter is a Butterworth
    filter in second-order sections (``scipy.signal.butter``). ``sosfiltfilt`` applies it forward and backward, which
    does not shift events in time; with `causal` ``sosfilt`` uses only past samples.

    Parameters
    ----------
    low, high : float, optional
        Edges of the band, in cycles per unit of time: hertz, if `sampling_rate` is in samples per second. Both must be
        below half the sampling rate. ``low=None`` passes all below `high`, ``high=None`` all above `low`; with both
        None everything passes.
    sampling_rate : float, optional
        Samples per unit of time. Default: from the times given to `fit`; for datetimes the unit is a second.
    order : int, default=2
        Order of the filter, 1 to 12: how steep the edges are. Forward and backward filtering counts twice, so that an
        edge passes half the amplitude; with `causal` it passes 0.71 of it.
    causal : bool, default=False
        Whether a sample depends only on itself and earlier ones, as in a stream. The output is then delayed, the more
        the narrower the band.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": each channel is filtered separately on each side of its missing
        values, as if the recording ended there, and NaN stay NaN.

    Attributes
    ----------
    sampling_rate_ : float
        The sampling rate of the filter.
    n_features_in_ : int
        Number of channels.

    See Also
    --------
    AutoFilter : A band learned from labels.
    resample : Makes time steps even.

    Notes
    -----
    At its ends a recording is extended by its mirror image, rotated about the last sample, by scipy's default length or
    the number of samples, if that is less. A causal filter starts as if the first sample had always been there.

    Examples
    --------
    >>> import numpy as np
    >>> from sktslib.preprocessing import BandPass
    >>> t = np.arange(1000) / 100
    >>> wanted = np.sin(2 * np.pi * 8 * t)
    >>> filtered = BandPass(4, 16, sampling_rate=100).fit_transform(wanted + 5 * t)
    >>> bool(np.abs(filtered - wanted)[100:-100].max() < 0.02)
    True
    """

    low: float | None = None
    high: float | None = None
    sampling_rate: float | None = None

    _parameter_constraints = {
        "low": [Interval(Real, 0, None, closed="neither"), None],
        "high": [Interval(Real, 0, None, closed="neither"), None],
    }

    def _validate(self):
        super()._validate()
        if self.low is not None and self.high is not None and not self.low < self.high:
            ends = "low=None passes all below 'high', high=None all above 'low'"
            got, out = f"{shown(self.low)} and {shown(self.high)}", f"Exchange them, or set one to None: {ends}."
            raise refused(f"The 'low' parameter of {type(self).__name__}", "be below 'high'", got, out)

    def _learn(self, recording, y):
        if self.low is None and self.high is None and self.sampling_rate is None and recording.t is None:
            self._rate, self.sampling_rate_, self._sos = None, np.nan, ALL  # without edges the rate does not matter
            return
        self._take_rate(recording)
        self._design(self.low, self.high)


class RunningMedian:
    """Median of windows that end at each sample or are centered on it; only the former continue from piece to piece."""

    def __init__(self, width, causal):
        self._width, self._causal = int(width), causal
        self._held = np.empty((0, 0))  # samples that the next windows may need

    def update(self, y):
        """Return the medians for the next samples (channels, n); windows of even width reach further into the past."""
        import pandas as pd

        n, held, ahead = y.shape[1], y, 0
        if not self._causal:
            ahead = min((self._width - 1) // 2, n)
            held = np.pad(y, [(0, 0), (0, ahead)], constant_values=np.nan)
        elif self._held.size:
            held = np.concatenate([self._held, y], axis=1)
        self._held = held[:, max(held.shape[1] - self._width + 1, 0) :].copy()
        width = min(self._width, held.shape[1])
        return pd.DataFrame(held.T).rolling(width, min_periods=1).median().to_numpy().T[:, -n:]


@dataclass(eq=False, repr=False)
class RunningBaseline(RecordingTransformer):
    """Subtract the running median from a recording.

    The median of a window that is wider than the pattern, and narrower than the baseline's changes, follows drift and
    steps, and not the pattern itself. Each channel has its own baseline.

    Parameters
    ----------
    width : int, default=101
        Length of the window in samples. It is centered on each sample (with an even width one sample further into the
        past), or ends at it with `causal`. At the ends of a recording it is truncated.
    causal : bool, default=False
        Whether a sample depends only on itself and earlier ones, as in a stream.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": the median of the values present in the window; NaN stay NaN.

    Attributes
    ----------
    n_features_in_ : int
        Number of channels.

    See Also
    --------
    BandPass : Removes frequencies, which rings at steps.

    Examples
    --------
    >>> from sktslib.preprocessing import RunningBaseline
    >>> RunningBaseline(3).fit_transform([5, 5, 9, 5, 5, 8, 8, 8])
    array([0., 0., 4., 0., 0., 0., 0., 0.])
    """

    width: int = 101

    _parameter_constraints = {"width": [Interval(Integral, 1, None, closed="left")]}

    def _begin(self):
        return RunningMedian(self.width, self.causal)

    def _transformed(self, y, median):
        return y - median.update(y)

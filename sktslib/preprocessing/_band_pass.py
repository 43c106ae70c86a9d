"""BandPass: the frequencies of a recording between two edges."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from ..utils._sklearn import Interval, StrOptions
from ._filters import MOST, CausalFilter, Unchanged, both_ways, check_band, sections
from ._rate import rate_of
from ._step import RecordingTransformer


class Filter(RecordingTransformer):
    """Base of the filters, whose band `fit` has set."""

    _parameter_constraints = {
        "sampling_rate": [Interval(Real, 0, None, closed="neither"), None],
        "order": [Interval(Integral, 1, MOST, closed="both")],
        "causal": ["boolean"],
        "nan_policy": [StrOptions({"raise", "omit"})],
    }

    def _design(self, low, high):
        """Make the filter of a band."""
        self._sos = sections(low, high, self.sampling_rate_, int(self.order), type(self).__name__)

    def _take_rate(self, recording):
        self._rate = rate_of(self.sampling_rate, recording.t, recording.given, type(self).__name__)
        self.sampling_rate_ = self._rate.value

    def _whole(self, y):
        return y.copy() if self._sos is None else both_ways(self._sos, y)

    def _causal(self):
        return Unchanged() if self._sos is None else CausalFilter(self._sos, self.n_features_in_)


class BandPass(Filter):
    """Keep the frequencies of a recording that lie between two edges.

    Time points are samples and channels are features; each channel is filtered by itself. The filter is a Butterworth
    filter in second-order sections: ``scipy.signal.butter``, and ``sosfiltfilt`` over the whole recording, forth and
    back, which shifts nothing in time, or with `causal` ``sosfilt``, which looks at no sample before it has come.

    Parameters
    ----------
    low, high : float, optional
        Edges of the band, in cycles a unit of time: hertz, where `sampling_rate` counts samples a second. Both lie
        below half the sampling rate. ``low=None`` passes all below `high`, ``high=None`` all above `low`; with both
        None everything passes as it is.
    sampling_rate : float, optional
        Samples a unit of time. Default: that of the times that `fit` is given; of datetimes a second is the unit.
    order : int, default=2
        Order of the filter, 1 to 12: how steep the edges are. Forth and back counts twice, so that an edge lets
        through half the amplitude, and 0.71 of it with `causal`.
    causal : bool, default=False
        Whether a sample depends on itself and those before alone, as it must in a stream. What is transformed is late
        then, by more the narrower the band.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": a channel is filtered on each side of a gap by itself, as if the
        recording ended and began there, and NaN stay NaN. Channels without a gap there are not touched by it.

    Attributes
    ----------
    sampling_rate_ : float
        The sampling rate that the filter was made for.
    n_features_in_ : int
        Number of channels.

    See Also
    --------
    AutoFilter : A band that is learned from labels.
    resample : Even steps of time, for recordings whose samples are not evenly spaced.

    Notes
    -----
    At its ends a recording is continued by its mirror image, turned about the last sample, by scipy's length of that
    or as many samples as there are; a causal filter begins as if the first sample had been there forever.

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

    _parameter_constraints = {**Filter._parameter_constraints, "low": "no_validation", "high": "no_validation"}

    def __init__(
        self,
        low: float | None = None,
        high: float | None = None,
        sampling_rate: float | None = None,
        *,
        order: int = 2,
        causal: bool = False,
        nan_policy: str = "raise",
    ) -> None:
        self.low = low
        self.high = high
        self.sampling_rate = sampling_rate
        self.order = order
        self.causal = causal
        self.nan_policy = nan_policy

    def _validate(self):
        super()._validate()
        check_band(self.low, self.high, type(self).__name__)

    def _learn(self, recording, y):
        if self.low is None and self.high is None and self.sampling_rate is None and recording.t is None:
            self._rate, self.sampling_rate_, self._sos = None, np.nan, None  # it does not matter
            return
        self._take_rate(recording)
        self._design(self.low, self.high)

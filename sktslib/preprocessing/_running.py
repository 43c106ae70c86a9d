"""RunningBaseline and RunningScale: what is slow in a recording taken off, and what changes its amplitude."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from ..utils._sklearn import Interval, StrOptions
from ._step import RecordingTransformer
from ._windows import Trailing, centered, running_median, running_range, running_std

COMMON = {
    "width": [Interval(Integral, 1, None, closed="left")],
    "causal": ["boolean"],
    "nan_policy": [StrOptions({"raise", "omit"})],
}
STATISTICS = {"std": running_std, "range": running_range, "mad": None}  # the last one is a median of two


class RunningBaseline(RecordingTransformer):
    """Take the running median off a recording.

    The median of a window that is wider than the pattern, and narrower than what is to be removed, follows drift and
    steps, and not the pattern itself. Each channel has a baseline of its own.

    Parameters
    ----------
    width : int, default=101
        Length of the window in samples. It lies about each sample (with an even width one sample further into the
        past), or ends at it with `causal`. At the ends of a recording it is cut off.
    causal : bool, default=False
        Whether a sample depends on itself and those before alone, as it must in a stream.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": the median of the values of the window that are there; windows
        reach across gaps, and NaN stay NaN.

    Attributes
    ----------
    n_features_in_ : int
        Number of channels.

    See Also
    --------
    BandPass : Frequencies taken off, which rings at steps.

    Examples
    --------
    >>> from sktslib.preprocessing import RunningBaseline
    >>> RunningBaseline(3).fit_transform([5, 5, 9, 5, 5, 8, 8, 8])
    array([0., 0., 4., 0., 0., 0., 0., 0.])
    """

    _parameter_constraints = COMMON

    def __init__(self, width: int = 101, *, causal: bool = False, nan_policy: str = "raise") -> None:
        self.width = width
        self.causal = causal
        self.nan_policy = nan_policy

    def _whole(self, y):
        return y - centered(running_median, y, int(self.width))

    def _causal(self):
        return _Baseline(int(self.width), self.n_features_in_)


class _Baseline:
    """Samples less the median of the last ones."""

    def __init__(self, width, channels):
        self._median = Trailing(running_median, width, channels)

    def update(self, y):
        return y - self._median.update(y)


class RunningScale(RecordingTransformer):
    """Divide a recording by its running scale, so that a pattern has the same size wherever it occurs.

    Nothing is subtracted: put `RunningBaseline` or `BandPass` before it where the recording has an offset. Each channel
    has a scale of its own.

    Parameters
    ----------
    width : int, default=1001
        Length of the window in samples, which lies as that of `RunningBaseline`. It should hold several repetitions of
        the pattern: a window of less follows the pattern itself.
    statistic : {"std", "mad", "range"}, default="std"
        The scale of a window: its standard deviation; the running median of the distances of the samples from their own
        running median (not multiplied by 1.48), which single large values do not change; maximum less minimum.
    floor : float, default=0.1
        No scale counts as less than this share of the usual one, the median over the recording that was fitted, so that
        noise is not made as large as the pattern where there is no signal. 0: no such bound.
    causal : bool, default=False
        Whether a sample depends on itself and those before alone, as it must in a stream.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": the scale of the values of the window that are there; windows
        reach across gaps, and NaN stay NaN.

    Attributes
    ----------
    scale_ : ndarray of shape (n_channels,)
        The usual scale of each channel, the median over the recording that was fitted.
    n_features_in_ : int
        Number of channels.

    Notes
    -----
    Where a window is constant and the floor 0 too, the divisor is 1, as in scikit-learn's scalers.

    Examples
    --------
    >>> from sktslib.preprocessing import RunningScale
    >>> RunningScale(3, "range").fit_transform([0, 1, 0, 1, 0, 10, 0, 10, 0])
    array([0., 1., 0., 1., 0., 1., 0., 1., 0.])
    """

    _parameter_constraints = {
        **COMMON,
        "statistic": [StrOptions(set(STATISTICS))],
        "floor": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        width: int = 1001,
        statistic: str = "std",
        *,
        floor: float = 0.1,
        causal: bool = False,
        nan_policy: str = "raise",
    ) -> None:
        self.width = width
        self.statistic = statistic
        self.floor = floor
        self.causal = causal
        self.nan_policy = nan_policy

    def _learn(self, recording, y):
        a = recording.y
        scale = self._spread(len(a)).update(a) if self.causal else self._spread_of(a)
        scale = np.where(np.isnan(a), np.nan, scale)
        there = ~np.isnan(scale).all(axis=1)
        self.scale_ = np.ones(len(a))
        self.scale_[there] = np.nanmedian(scale[there], axis=1)
        self._floor = float(self.floor) * self.scale_

    def _spread_of(self, y):
        """The scale of the window about each sample."""
        if self.statistic == "mad":
            return centered(running_median, np.abs(y - centered(running_median, y, int(self.width))), int(self.width))
        return centered(STATISTICS[self.statistic], y, int(self.width))

    def _spread(self, channels):
        """What gives the scale of the last samples."""
        if self.statistic == "mad":
            return _Deviation(int(self.width), channels)
        return Trailing(STATISTICS[self.statistic], int(self.width), channels)

    def _whole(self, y):
        return divided(y, self._spread_of(y), self._floor)

    def _causal(self):
        return _Scaled(self._spread(self.n_features_in_), self._floor)


class _Deviation:
    """The median of the last distances of samples from the median of the last samples."""

    def __init__(self, width, channels):
        self._baseline, self._median = _Baseline(width, channels), Trailing(running_median, width, channels)

    def update(self, y):
        return self._median.update(np.abs(self._baseline.update(y)))


class _Scaled:
    """Samples over their running scale."""

    def __init__(self, spread, floor):
        self._spread, self._floor = spread, floor

    def update(self, y):
        return divided(y, self._spread.update(y), self._floor)


def divided(y, scale, floor):
    """Samples (channels, n) over their scales, none of which counts as less than that of its channel."""
    scale = np.maximum(scale, floor[:, None])
    return y / np.where(scale > 0, scale, 1.0)

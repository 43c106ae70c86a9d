"""Transformers of recordings: filters, running baselines and scales, sampling rates."""

from ._auto_filter import AutoFilter
from ._band_pass import BandPass
from ._other_rate import Resampled
from ._resample import resample
from ._running import RunningBaseline, RunningScale
from ._step_stream import StepStream

__all__ = ["AutoFilter", "BandPass", "Resampled", "RunningBaseline", "RunningScale", "StepStream", "resample"]

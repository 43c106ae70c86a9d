"""Transformers of recordings: filters, running baselines and scales, sampling rates."""

from ._auto_filter import AutoFilter
from ._filters import BandPass, RunningBaseline, RunningScale
from ._filters import StepStream as StepStream
from ._resample import resample

__all__ = ["AutoFilter", "BandPass", "RunningBaseline", "RunningScale", "resample"]

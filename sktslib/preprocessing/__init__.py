"""Transformers of recordings: filters, running baselines, sampling rates."""

from ._auto_filter import AutoFilter
from ._filters import BandPass, RunningBaseline
from ._filters import StepStream as StepStream
from ._resample import resample

__all__ = ["AutoFilter", "BandPass", "RunningBaseline", "resample"]

"""How long a recording is."""

import numpy as np

from ...utils._given_times import given_times, times_of
from ...utils._sampling import interval
from ...utils.validation import as_times
from .._streaming.chunked_sequence import is_long, n_samples

SAMPLE = 2**16  # times that tell the usual step


def recorded_hours(X, times):
    """Hours that the samples of a valid sequence last: their number times the usual step, which no hole changes.

    Numbers count as seconds, and so do samples without times.
    """
    n = n_samples(X) if hasattr(X, "shape") or hasattr(X, "__len__") else len(np.asarray(X))
    if times is not None and is_long(times):
        times = given_times(np.asarray(times[:SAMPLE]), "times")
    else:
        times = times_of(X, times)
        times = None if times is None else times[:SAMPLE]
    step = None if times is None else interval(as_times(times, len(times), "times"))
    return n * (step or 1.0) / 3600.0

"""One scale for channels before they are compared: by their own means and deviations, or by numbers."""

from functools import partial

import numpy as np

from ..io._recording import Recording, as_table, changed
from ..io._tables import listed, split_names
from ..utils._times import EvenTimes, Sampling
from .output import note, write_numbers

CHUNK = 2**17  # samples of an array that is not in memory
OWN = "zscore"


def scaler_of(text, recordings):
    """Return a scaler that brings the channels of recordings to one scale; None if no scale was given.

    Parameters
    ----------
    text : str or None
        What --scale was given.
    recordings : list of FileRecording
        Those whose means and deviations count, of the same channels.

    Returns
    -------
    StandardScaler or None
    """
    if text is None:
        return None
    from sklearn.preprocessing import StandardScaler

    names = recordings[0].channels
    own = text.strip().lower() == OWN
    divisors = None if own else _divisors(text, names)
    scaler = StandardScaler(with_mean=own)
    for one in recordings:
        for start in range(0, len(one), CHUNK):
            part = np.asarray(one.values[start : start + CHUNK], np.float64)
            scaler.partial_fit(as_table(part, one.names if len(recordings) == 1 else None))
    if own:
        described = [
            f"{name} less {write_numbers([m], s)[0]} over {write_numbers([s])[0]}"
            for name, m, s in _rows(scaler, names)
        ]
    else:
        scaler.scale_, scaler.var_ = divisors, divisors**2
        described = [f"{name} over {s:g}" for name, _, s in _rows(scaler, names)]
    note(f"columns scaled: {listed(described)}")
    return scaler


def scale_of(scaler, names):
    """Return the means and deviations by the names of the channels, for JSON."""
    return {name: {"mean": float(m), "scale": float(s)} for name, m, s in _rows(scaler, names)}


def _rows(scaler, names):
    means = scaler.mean_ if scaler.with_mean else np.zeros(len(names))
    return zip(names, means, scaler.scale_, strict=True)


def _divisors(text, names):
    try:
        found = np.array([float(part) for part in split_names(text)])
    except ValueError:
        found = np.empty(0)
    if len(found) != len(names) or not (np.isfinite(found) & (found > 0)).all():
        rule = f"{OWN}, or a number above 0 for each column compared, with commas between them"
        raise ValueError(f"--scale must be {rule}. Got {text!r}; the columns are {listed(names)}.")
    return found


def searched(recording, scaler=None, timed=True, named=True):
    """Return a recording as estimators take it: scaled if there is a scaler, where it is read if not in memory."""
    values, times = recording.values, recording.times if timed else None
    if scaler is not None:
        values = changed(values, partial(_scaled, scaler=scaler))
    if isinstance(times, EvenTimes) and isinstance(times.sampling, Sampling):  # made where they are needed
        times = times.sampling
    return Recording(values, times, recording.names if named else None)


def _scaled(array, scaler):
    return ((array - scaler.mean_) if scaler.with_mean else array) / scaler.scale_


def unscaled(array, scaler):
    """Return a learned query (m, channels) in the unit of the recording."""
    if scaler is None:
        return array
    return array * scaler.scale_ + (scaler.mean_ if scaler.with_mean else 0.0)

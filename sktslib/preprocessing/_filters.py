"""Butterworth filters in second-order sections: their design, both ways over a recording, and piece by piece."""

import numpy as np
from scipy import signal

from ..search._profiles.missing import runs as observed_runs
from ..utils.validation import check_number, shown

LEAST = 1e-6  # of the sampling rate: below, poles of the higher orders round onto the unit circle
MOST = 12  # the highest order


def check_band(low, high, owner):
    """Refuse the edges of a band, in any unit, unless each is None or a number above 0, and they are in order."""
    for name, value in (("low", low), ("high", high)):
        if value is not None:
            check_number(value, name, low=0.0, open_low=True, owner=owner)
    if low is not None and high is not None and not low < high:
        raise ValueError(
            f"The 'low' parameter of {owner} must be below 'high'. Got {shown(low)} and {shown(high)}. Exchange them, "
            "or set one of them to None: low=None passes all below 'high', high=None all above 'low'."
        )


def sections(low, high, rate, order, owner):
    """The filter that passes the frequencies between two edges, of which either may be None; None where both are."""
    half = rate / 2
    for name, value in (("low", low), ("high", high)):
        if value is not None and not value < half:
            raise ValueError(
                f"The {name!r} parameter of {owner} must be below half the sampling rate, {half:.6g}. Got "
                f"{shown(value)}: faster changes are not in the samples. Lower it, set it to None (nothing is cut off "
                f"at that side), or check 'sampling_rate', {rate:.6g} samples a unit of time."
            )
        if value is not None and value < LEAST * rate:
            raise ValueError(
                f"The {name!r} parameter of {owner} must be at least {LEAST:g} of the sampling rate, {LEAST * rate:g}. "
                f"Got {shown(value)}, for which the filter is beyond float64. Raise it, check "
                "'sampling_rate', or resample the recording to fewer samples first."
            )
    if low is None and high is None:
        return None
    edges = [float(edge) for edge in (low, high) if edge is not None]
    kind = "bandpass" if len(edges) == 2 else "highpass" if high is None else "lowpass"
    sos = signal.butter(order, edges if len(edges) == 2 else edges[0], kind, fs=rate, output="sos")
    poles = np.concatenate([np.abs(np.roots(section[3:])) for section in sos])
    if not (np.isfinite(sos).all() and poles.max() < 1.0):
        raise ValueError(
            f"The 'low' and 'high' parameters of {owner} must be further apart, and from 0, or 'order' lower, for the "
            f"filter to be stable in float64. Got {shown(low)} and {shown(high)}, order {order}."
        )
    return sos


def both_ways(sos, y):
    """Samples (channels, n) filtered forth and back, each run of a channel without a missing value on its own."""
    out, sos = np.full(y.shape, np.nan), np.array(sos)  # scipy takes none that is read-only
    for rows, a, b in runs(y):
        # scipy's own padding, as far as there are samples to reflect.
        zeros = min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())
        padding = min(3 * (2 * len(sos) + 1 - int(zeros)), b - a - 1)
        out[rows, a:b] = signal.sosfiltfilt(sos, y[rows, a:b], axis=-1, padlen=padding)
    return out


class CausalFilter:
    """A filter that continues with every piece of a recording; it starts anew behind a missing value of a channel."""

    def __init__(self, sos, channels):
        self._sos = np.array(sos)  # scipy takes none that is read-only
        self._rest = signal.sosfilt_zi(sos)  # the state after a long time of ones
        self._state = np.zeros((len(sos), channels, 2))
        self._inside = np.zeros(channels, bool)  # whether the last sample of a channel was there

    def update(self, y):
        """The next samples (channels, n), filtered."""
        out = np.full(y.shape, np.nan)
        n = y.shape[1]
        for rows, a, b in runs(y):
            new = np.ones(len(rows), bool) if a else ~self._inside[rows]
            first = rows[new]
            self._state[:, first] = self._rest[:, None, :] * y[first, a][None, :, None]
            out[rows, a:b], self._state[:, rows] = signal.sosfilt(
                self._sos, y[rows, a:b], axis=-1, zi=self._state[:, rows]
            )
        if n:
            self._inside = ~np.isnan(y[:, -1])
        return out


class Unchanged:
    """What passes everything."""

    def update(self, y):
        return y.copy()


def runs(y):
    """Channels (k,) and half-open range of every run of samples (channels, n) without a missing value.

    Channels without any are taken together.
    """
    whole = ~np.isnan(y).any(axis=1)
    if whole.any() and y.shape[1]:
        yield np.flatnonzero(whole), 0, y.shape[1]
    for row in np.flatnonzero(~whole):
        for a, b in observed_runs(y[row : row + 1]).tolist():
            yield np.array([row]), a, b

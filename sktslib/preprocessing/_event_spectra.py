"""Spectra of marked events and of all else in a recording."""

import numpy as np
from scipy import signal

from ..distances._series import resample

SEGMENTS = 4  # event lengths of a piece whose spectrum is taken: what drifts over an event is resolved
WHOLE = 0.8  # of the usual length: an event that is shorter is cut off, and no example of its class
RANGE = 1e-6  # share of the largest density that a smaller one counts as: windows of a spectrum leak as much


def spectra(data, ranges, code, rate):
    """Power spectral densities of what the events have in common, and of all that is left without it.

    Each class has a typical event, the median of its events. It is taken off at each of them, and what remains of the
    recording is noise: the background, and how events differ from each other.

    Parameters
    ----------
    data : ndarray of shape (channels, n)
        Without missing values.
    ranges, code : ndarray of shape (k, 2) and (k,)
        The events and their classes.
    rate : float
        Samples a unit of time.

    Returns
    -------
    frequencies : ndarray of shape (f,)
    events, noise : ndarray of shape (channels, f)
    """
    lengths = ranges[:, 1] - ranges[:, 0]
    usual = int(np.median(lengths))
    piece = min(SEGMENTS * usual, data.shape[1])
    n_fft = 1 << int(max(SEGMENTS * usual, lengths.max()) - 1).bit_length()
    left, events = data.copy(), 0.0
    for label in np.unique(code):
        own = ranges[code == label]
        template, fitted = min((_typical(data, own, fit) for fit in (_cut, resample)), key=lambda one: one[2])[:2]
        for (start, end), part in zip(own, fitted, strict=True):
            left[:, start:end] -= part
        frequencies, density = signal.periodogram(template, rate, window="hann", nfft=n_fft)
        events = events + density * len(own) / len(ranges)
    _, noise = signal.welch(left, rate, window="hann", nperseg=piece, nfft=n_fft, average="median")
    return frequencies, events, _smooth(noise, n_fft / usual)


def _smooth(density, width):
    """Densities (channels, f) averaged over so many frequencies: an event tells no nearer ones apart."""
    half = int(width // 2)
    padded = np.pad(density, [(0, 0), (half, half)], mode="reflect" if half < density.shape[1] else "edge")
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=1).mean(axis=-1)


def _typical(data, ranges, fit):
    """The typical event of a class, what of it lies at each, and the energy of what is left there."""
    lengths = ranges[:, 1] - ranges[:, 0]
    usual = int(np.median(lengths))
    whole = ranges[lengths >= WHOLE * usual]
    pieces = np.array([fit(data[:, s:e], usual) for s, e in whole])
    template = np.median(pieces - pieces.mean(axis=-1, keepdims=True), axis=0)
    fitted = [fit(template, length) for length in lengths]
    rest = [data[:, s:e] - part for (s, e), part in zip(ranges, fitted, strict=True)]
    return template, fitted, sum(((part - part.mean(axis=-1, keepdims=True)) ** 2).sum() for part in rest)


def _cut(piece, length):
    """A piece (channels, n) cut off at a length, or held at its last value up to it."""
    return piece[:, np.minimum(np.arange(length), piece.shape[1] - 1)]


def band_of(frequencies, events, noise, share):
    """The band about the frequency where events exceed noise most, in which they do by a share of that, and the ratios.

    Of several channels the one counts at each frequency whose events exceed its noise most. An edge is None where the
    band reaches the end of the spectrum.
    """
    least = RANGE * np.maximum(events, noise).max(axis=1, keepdims=True)
    ratio = (events / np.maximum(np.maximum(noise, least), np.finfo(float).tiny)).max(axis=0)
    ratio[0] = 0.0  # of the mean
    peak = int(np.argmax(ratio))
    below = np.flatnonzero(ratio < share * ratio[peak])
    first = int(max(below[below < peak], default=-1)) + 1
    last = int(min(below[below > peak], default=len(ratio))) - 1
    step = frequencies[1]
    low = None if first <= 1 else float(frequencies[first] - step / 2)
    high = None if last == len(ratio) - 1 else float(frequencies[last] + step / 2)
    return (low, high), ratio

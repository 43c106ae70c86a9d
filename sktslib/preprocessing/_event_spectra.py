"""Spectra of marked events and of all else in a recording, and the band in which these are told apart best."""

from typing import NamedTuple

import numpy as np
from scipy import signal

from ..distances._series import resample

SEGMENTS = 4  # event lengths of a piece whose spectrum is taken: what drifts over an event is resolved
WHOLE = 0.8  # of the usual length: an event that is shorter is cut off, and no example of its class
RANGE = 1e-6  # share of the largest density that a smaller one counts as: windows of a spectrum leak as much
MEDIAN = np.pi / 2  # times the variance of a mean that of a median has, of more than two normal values
NEAR = 1 / 3  # of its length: an event whose mark is further off than that is another one's
EDGES = 256  # frequencies tried as edges: half of them the lowest, the others evenly spread over octaves


class Spectra(NamedTuple):
    """Power spectral densities (channels, f) of what events have in common, and of all that is left without it."""

    frequencies: np.ndarray  # (f,)
    events: np.ndarray  # without the noise in it: where there is nothing else, about as often below 0 as above
    noise: np.ndarray


def spectra(data, ranges, code, rate, look_alikes=None):
    """Power spectral densities of events and noise.

    Each class has a typical event, the median of its events. It is taken off at each of them, and what remains of the
    recording is noise: the background, and how events differ from each other. Of k events the typical one holds a k-th
    of the noise (a median pi / 2 times that), and they differ less from it than from another one, which is made up for.
    One stretch as long as an event counts as seen before: as powerful as the event, its noise falls with the frequency,
    as that of sensors and as drift do. It settles what there is too little background or too few events to know.

    Parameters
    ----------
    data : ndarray of shape (channels, n)
        Without missing values.
    ranges, code : ndarray of shape (k, 2) and (k,)
        The events and their classes.
    rate : float
        Samples a unit of time.
    look_alikes : list of ndarray of shape (j, 2), optional
        Of each class ranges that look like its events and have no mark: what they have in common with it is no noise.
        None: it is not known which there are, and the noise is what counts as seen before alone.
    """
    lengths = ranges[:, 1] - ranges[:, 0]
    usual = int(np.median(lengths))
    piece = min(SEGMENTS * usual, data.shape[1])
    n_fft = 1 << int(max(SEGMENTS * usual, lengths.max()) - 1).bit_length()
    left, events = data.copy(), 0.0
    classes = np.unique(code)
    for number, label in enumerate(classes):
        own = ranges[code == label]
        template, fitted = typical(data, own)
        differ = np.sqrt(len(own) / max(len(own) - 1, 1))
        for (start, end), part in zip(own, fitted, strict=True):
            rest = left[:, start:end] - part
            mean = rest.mean(axis=1, keepdims=True)
            left[:, start:end] = mean + (rest - mean) * differ
        for start, end in look_alikes[number] if look_alikes else ():
            left[:, start:end] -= resample(template, end - start)
        frequencies, density = signal.periodogram(template, rate, window="hann", nfft=n_fft)
        events = events + density * len(own) / len(ranges)
    _, noise = signal.welch(left, rate, window="hann", nperseg=piece, nfft=n_fft, average="median")
    noise = _smooth(noise, n_fft / usual)
    seen = 0.0
    if look_alikes is not None:
        seen = max(data.shape[1] - lengths.sum(), 0) / usual + len(ranges) - len(classes)
    fall = np.zeros(len(frequencies))
    fall[1:] = 1 / frequencies[1:]
    before = events.sum(axis=1, keepdims=True) * fall / fall.sum()
    share = len(classes) / len(ranges)
    share *= MEDIAN if share < 1 / 2 else 1.0
    return Spectra(frequencies, events - share * noise, (seen * noise + before) / (seen + 1))


def _smooth(density, width):
    """Densities (channels, f) averaged over so many frequencies: an event tells no nearer ones apart."""
    half = int(width // 2)
    padded = np.pad(density, [(0, 0), (half, half)], mode="reflect" if half < density.shape[1] else "edge")
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=1).mean(axis=-1)


def typical(data, ranges):
    """The typical event of a class, and what of it lies at each: cut off at its length or stretched to it."""
    return min((_typical(data, ranges, fit) for fit in (_cut, resample)), key=lambda one: one[2])[:2]


def _typical(data, ranges, fit):
    """The typical event, what of it lies at each, and the energy of what is left there."""
    lengths = ranges[:, 1] - ranges[:, 0]
    usual = int(np.median(lengths))
    pieces = cut(data, ranges, fit)
    template = np.median(pieces - pieces.mean(axis=-1, keepdims=True), axis=0)
    fitted = [template if length == usual else fit(template, length) for length in lengths]
    rest = [data[:, s:e] - part for (s, e), part in zip(ranges, fitted, strict=True)]
    return template, fitted, sum(((part - part.mean(axis=-1, keepdims=True)) ** 2).sum() for part in rest)


def cut(data, ranges, fit=None):
    """The events (k, channels, m) of a class at their usual length, without those that are cut off."""
    lengths = ranges[:, 1] - ranges[:, 0]
    usual, fit = int(np.median(lengths)), fit or _cut
    whole = ranges[lengths >= WHOLE * usual]
    return np.array([data[:, s:e] if e - s == usual else fit(data[:, s:e], usual) for s, e in whole])


def align(data, ranges, code):
    """The ranges moved to where they correlate best with the typical event of their class, by up to NEAR of them.

    Marks that are off by a few samples blur the typical event, and leave none of its fast changes.
    """
    moved = ranges.copy()
    for label in np.unique(code):
        own = np.flatnonzero(code == label)
        for k, part in zip(own, typical(data, ranges[own])[1], strict=True):
            start, end = ranges[k]
            reach = int(NEAR * (end - start))
            first = max(start - reach, 0)
            about = data[:, first : end + reach]
            common = sum(signal.correlate(y, x, "valid") for y, x in zip(about, part, strict=True))
            if common.max() > common[start - first]:  # where nothing correlates better, a mark stays
                moved[k] += first + int(np.argmax(common)) - start
    return moved


def _cut(piece, length):
    """A piece (channels, n) cut off at a length, or held at its last value up to it."""
    return piece[:, np.minimum(np.arange(length), piece.shape[1] - 1)]


def band_of(found):
    """The band (low, high) in which the distance from the typical event tells events from background best.

    The squared distance is less at an event than beside it, in the mean by the power of the event in the band, S. Of
    Gaussian noise N it varies by twice the sum over the frequencies of N^2 + S N. The band is that with the largest
    ratio of the square of the one to the other; of several channels these are added up. An edge is None where the band
    reaches the end of the spectrum.
    """
    frequencies, events, _ = found
    noise, some = _noise(found), np.maximum(events, 0.0)
    scale = np.maximum(noise, np.abs(events)).max(axis=1, keepdims=True)  # of squares that would not be numbers else
    # The first frequency is that of the mean.
    each = min(EDGES // 2, len(frequencies))
    edges = np.concatenate([np.arange(1, each), np.geomspace(each, len(frequencies), EDGES // 2)])
    edges = np.unique(edges.round().astype(int))
    gain, spread = (_sums(part, edges) for part in (events / scale, noise / scale * (noise + some) / scale))
    apart = (np.maximum(gain, 0.0) ** 2 / np.where(spread > 0, spread, np.inf)).sum(axis=0)
    if not apart.any():
        return None, None
    first, last = edges[np.array(np.unravel_index(np.argmax(apart), apart.shape))]
    step = frequencies[1]
    low = None if first <= 1 else float(frequencies[first] - step / 2)
    high = None if last == len(frequencies) else float(frequencies[last] - step / 2)
    return low, high


def ratio_of(found):
    """Ratio (f,) of events to noise, of several channels the largest; 0 at the frequency of the mean."""
    ratio = (np.maximum(found.events, 0.0) / _noise(found)).max(axis=0)
    ratio[0] = 0.0
    return ratio


def _noise(found):
    """The noise, nowhere less than the least share of the largest density."""
    largest = np.maximum(found.events, found.noise).max(axis=1, keepdims=True)
    return np.maximum(np.maximum(found.noise, RANGE * largest), np.finfo(float).tiny)


def _sums(values, edges):
    """Sums of values (channels, f) from each edge up to each that follows (channels, k, k); 0 up to those before."""
    until = np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)[:, edges]
    return np.triu(until[:, None, :] - until[:, :, None])

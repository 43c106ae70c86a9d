"""AutoFilter: a band-pass filter whose band is learned from marked events.

Candidates for the band come from the spectra of the events and of everything else. A band is evaluated on held-out
blocks, by how much of the events, and of everything else, the typical event explains. Unmarked ranges that look like
events are found as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from scipy import signal

from ..distances._series import fill, resample
from ..search._learning.choice import BLOCKS, blocks_of
from ..search._learning.labels import of_another
from ..search._query import check_labels, known_labels, occurrences, read_labels
from ..utils._names import warn
from ..utils.validation import refused
from ._filters import Filter, both_ways

SEGMENTS = 4  # lengths of an event per spectrum, so that drift over an event is resolved
WHOLE = 0.8  # minimum length of an example relative to the usual length; shorter events are probably cut off
RANGE = 1e-6  # smallest density, as a share of the largest one: about the leakage of the windows of a spectrum
MEDIAN = np.pi / 2  # variance of a median relative to that of a mean, for more than two normal values
NEAR = 1 / 3  # largest error of a mark, relative to the event's length; beyond, it belongs to another event
EDGES = 256  # frequencies tried as edges: half of them the lowest ones, the others evenly spaced in octaves


class Spectra(NamedTuple):
    """Power spectral densities (channels, f) of the typical event, and of everything that remains without it."""

    frequencies: np.ndarray  # (f,)
    events: np.ndarray  # corrected for noise, so it may be negative where there is no event power
    noise: np.ndarray


def spectra(data, ranges, code, rate, look_alikes=None):
    """Estimate the power spectral densities of events and noise.

    Parameters
    ----------
    data : ndarray of shape (channels, n)
        Without missing values.
    ranges, code : ndarray of shape (k, 2) and (k,)
        The events and their classes.
    rate : float
        Samples per unit of time.
    look_alikes : list of ndarray of shape (j, 2), optional
        Unlabeled ranges that look like the events of each class: their share of the typical event is not noise. None:
        they are unknown, and the noise is the assumed one, in one over the frequency.
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
    half = n_fft // usual // 2  # an event cannot resolve closer frequencies
    noise = np.pad(noise, [(0, 0), (half, half)], mode="reflect" if half < noise.shape[1] else "edge")
    noise = np.lib.stride_tricks.sliding_window_view(noise, 2 * half + 1, axis=1).mean(axis=-1)
    seen = 0.0
    if look_alikes is not None:
        seen = max(data.shape[1] - lengths.sum(), 0) / usual + len(ranges) - len(classes)
    fall = np.zeros(len(frequencies))
    fall[1:] = 1 / frequencies[1:]
    before = events.sum(axis=1, keepdims=True) * fall / fall.sum()
    share = len(classes) / len(ranges)
    share *= MEDIAN if share < 1 / 2 else 1.0
    return Spectra(frequencies, events - share * noise, (seen * noise + before) / (seen + 1))


def typical(data, ranges):
    """Return the typical event of a class, and its part at each event, cut off or extended to the event's length."""
    tried = []
    for fit in (_cut, resample):
        pieces = cut(data, ranges, fit)
        template = np.median(pieces - pieces.mean(axis=-1, keepdims=True), axis=0)
        usual = template.shape[1]
        fitted = [template if e - s == usual else fit(template, e - s) for s, e in ranges]
        rest = [data[:, s:e] - part for (s, e), part in zip(ranges, fitted, strict=True)]
        energy = sum(((part - part.mean(axis=-1, keepdims=True)) ** 2).sum() for part in rest)
        tried.append((energy, template, fitted))
    return min(tried, key=itemgetter(0))[1:]


def cut(data, ranges, fit):
    """Return the events (k, channels, m) of a class at their usual length, without those that are cut off."""
    lengths = ranges[:, 1] - ranges[:, 0]
    usual = int(np.median(lengths))
    whole = ranges[lengths >= WHOLE * usual]
    return np.array([data[:, s:e] if e - s == usual else fit(data[:, s:e], usual) for s, e in whole])


def align(data, ranges, code):
    """Return the ranges moved by at most NEAR of their length to where they correlate best with the typical event.

    Marks that are off by a few samples would blur the typical event and remove its fast changes.
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
            if common.max() > common[start - first]:  # ties: the mark stays
                moved[k] += first + int(np.argmax(common)) - start
    return moved


def _cut(piece, length):
    """Return a piece (channels, n) cut off at a length, or extended to it with its last value."""
    return piece[:, np.minimum(np.arange(length), piece.shape[1] - 1)]


def band_of(found):
    """Return the band (low, high) in which the distance from the typical event separates events from background best.

    At an event, the squared distance is lower than elsewhere, on average by the event's power S in the band. For
    Gaussian noise N, the variance of the squared distance is twice the sum of N^2 + S N over the frequencies. The band
    maximizes the ratio of the squared difference to the variance; over several channels both are summed. An edge is
    None if the band reaches the end of the spectrum.
    """
    frequencies, events, _ = found
    noise, some = _noise(found), np.maximum(events, 0.0)
    scale = np.maximum(noise, np.abs(events)).max(axis=1, keepdims=True)  # prevents overflow of squares
    # The first frequency belongs to the mean.
    each = min(EDGES // 2, len(frequencies))
    edges = np.concatenate([np.arange(1, each), np.geomspace(each, len(frequencies), EDGES // 2)])
    edges = np.unique(edges.round().astype(int))
    gain, spread = (_sums(part, edges) for part in (events / scale, noise / scale * (noise + some) / scale))
    apart = (np.maximum(gain, 0.0) ** 2 / np.where(spread > 0, spread, np.inf)).sum(axis=0)
    if not apart.any():
        return None, None
    first, last = edges[np.array(np.unravel_index(np.argmax(apart), apart.shape))]
    return _between(frequencies, first, last)


def _between(frequencies, first, last):
    """Return the band that consists of the frequencies with indices [first, last)."""
    half = frequencies[1] / 2
    low = None if first <= 1 else float(frequencies[first] - half)
    return low, None if last == len(frequencies) else float(frequencies[last] - half)


def ratio_of(found):
    """Return the ratio (f,) of event to noise densities, the largest over channels; 0 at frequency 0."""
    ratio = (np.maximum(found.events, 0.0) / _noise(found)).max(axis=0)
    ratio[0] = 0.0
    return ratio


def _noise(found):
    """Return the noise density, at least the share RANGE of the largest density."""
    largest = np.maximum(found.events, found.noise).max(axis=1, keepdims=True)
    return np.maximum(np.maximum(found.noise, RANGE * largest), np.finfo(float).tiny)


def _sums(values, edges):
    """Return the sums of values (channels, f) between all pairs of edges (channels, k, k); 0 for pairs out of order."""
    until = np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)[:, edges]
    return np.triu(until[:, None, :] - until[:, :, None])


SHARES = 2.0 ** -np.arange(1, 8)  # shares of the largest ratio; below a hundredth there is hardly any event power
WRONG = 0.05  # share of the events, and of other places, that is ignored: the worst one of 20


def candidates(found, best):
    """Return the best band by the spectra, and the bands around the largest ratio that end at a share of it."""
    frequencies, ratio = found.frequencies, ratio_of(found)
    peak, bands = int(np.argmax(ratio)), [best]
    for share in SHARES:
        below = np.flatnonzero(ratio < share * ratio[peak])
        first = below[below < peak].max(initial=0) + 1
        last = below[below > peak].min(initial=len(frequencies))
        bands.append(_between(frequencies, first, last))
    return list(dict.fromkeys(bands))


def choose_band(found, best, filtered, ranges, code, look_alikes):
    """Return the narrowest of the candidates that are as good as the best one on held-out blocks.

    Parameters
    ----------
    found : Spectra
    best : tuple (low, high)
        The band that the spectra say is best.
    filtered : callable
        From a band the recording (channels, n) in it.
    ranges, code : ndarray of shape (k, 2) and (k,)
        The events and their classes.
    look_alikes : list of ndarray of shape (j, 2)
        Ranges that may be events without a mark, and do not count.
    """
    ranges, code = (part[np.argsort(ranges[:, 0], kind="stable")] for part in (ranges, code))
    if len(ranges) * WRONG < BLOCKS:
        return best
    bands, trials, unknown = candidates(found, best), [], np.concatenate(look_alikes)
    for band in bands:
        data = filtered(band)
        blocks = blocks_of(ranges, data.shape[1])
        trials.append([gains(data, ranges, code, block, unknown) for block in blocks])
    scores = np.array([detectability(trial) for trial in trials])
    without = np.array([[detectability(trial[:b] + trial[b + 1 :]) for b in range(BLOCKS)] for trial in trials])
    top = int(np.argmax(scores))
    error = np.sqrt(BLOCKS - 1) * (without[top] - without).std(axis=1)
    width = [(high or found.frequencies[-1]) - (low or 0.0) for low, high in bands]
    return bands[int(np.argmin(np.where(scores[top] - scores <= error, width, np.inf)))]


def gains(data, ranges, code, block, unknown):
    """Return the gains of a block's events, each at the best place near its mark, and the largest gains elsewhere.

    The typical event is that of the other blocks. A gain is the power that subtracting this event removes, relative to
    the power of the event. It is 1 for the event itself, 0 for half of it, and -1 for silence.
    """
    within = block.holds(ranges)
    part = data[:, block.first : block.last]
    n = part.shape[1]
    events, lengths, largest = [], [], np.full(n, -np.inf)
    for label in np.unique(code[~within]):
        template = np.median(cut(data, ranges[~within & (code == label)], _cut), axis=0)
        m, power = template.shape[1], (template**2).sum()
        if m > n or not power > 0:
            continue
        common = sum(signal.oaconvolve(y, x[::-1], "valid") for y, x in zip(part, template, strict=True))
        gain = np.full(n, -np.inf)
        gain[: len(common)] = 2 * common / power - 1
        reach = int(NEAR * m)
        for start in ranges[within & (code == label), 0] - block.first:
            events.append(gain[max(start - reach, 0) : max(start + reach + 1, 0)].max(initial=-np.inf))
        largest = np.maximum(largest, gain)
        lengths.append(m)
    if not lengths:
        return np.empty(0), np.empty(0)
    half = min(lengths) // 2
    for start in np.append(ranges[within, 0], unknown[:, 0]) - block.first:
        largest[max(start - half, 0) : max(start + half, 0)] = -np.inf
    places = signal.find_peaks(np.concatenate([[-np.inf], largest, [-np.inf]]), distance=max(half, 1))[0] - 1
    events, others = np.array(events), largest[places]
    return events[np.isfinite(events)], others[np.isfinite(others)]


def detectability(blocks):
    """Return how well gains of events are separated from those elsewhere, between 0 and 1.

    It is the difference of the two medians, divided by this difference plus the tails of both groups towards each
    other. It is 1 if all events have the same gain and all other places another one, 1/2 if the tails meet, and 0 if
    the medians do.
    """
    events, others = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    if not len(events) or not len(others):
        return 0.0
    usual, weak = np.quantile(events, [0.5, WRONG])
    other, strong = np.quantile(others, [0.5, 1 - WRONG])
    apart = usual - other
    return float(apart / (apart + (usual - weak) + (strong - other))) if apart > 0 else 0.0


LARGER = 0.5  # share of the power of a stretch that an event must explain in order to resemble it
CHANCE = 0.05  # the usual false discovery rate


def find_look_alikes(data, ranges, code):
    """Return for each class the unmarked ranges whose power the class's typical event explains by more than half."""
    return [_not_taken(left, m, LARGER, taken) for _, m, left, _, taken in _left_over(data, ranges, code)]


def recurring(filtered, ranges, code):
    """Return unmarked ranges that are certainly events, and their class numbers; empty if that is uncertain.

    Parameters
    ----------
    filtered : iterable of ndarray of shape (channels, n)
        The recording in some bands.
    ranges, code : ndarray of shape (k, 2) and (k,)
        The marked events and the numbers of their classes.
    """
    best, same = np.empty((0, 2), ranges.dtype), np.empty(0, code.dtype)
    for data in filtered:
        found = []
        for own, m, left, mirrored, taken in _left_over(data, ranges, code):
            known = left[own[own[:, 0] < len(left), 0]]
            limit = min(of_another(known.max(initial=0.0), len(known)), LARGER)
            more = _not_taken(np.minimum(left, mirrored), m, limit, taken)
            right = left[more[:, 0]] < mirrored[more[:, 0]]
            found.append(more[right] if (~right).sum() + 1 <= CHANCE * right.sum() else more[:0])
        if sum(map(len, found)) > len(best):
            best, same = np.concatenate(found), np.repeat(np.unique(code), [len(one) for one in found])
    return best, same


def _left_over(data, ranges, code):
    """Yield for each class how much of the recording its typical event leaves over, in standardized channels.

    Each entry has the events, the length of the typical event, the shares of power that it leaves over from each sample
    on, those that its mirror image leaves over, and a mask of the marked samples, which the caller may extend.
    """
    deviation, taken = data.std(axis=1, keepdims=True), np.zeros(data.shape[1], bool)
    data = data / np.where(deviation > 0, deviation, 1.0)
    for start, end in ranges:
        taken[start:end] = True
    for label in np.unique(code):
        events = ranges[code == label]
        template = typical(data, events)[0]
        power = np.convolve((data**2).sum(axis=0), np.ones(template.shape[1]), "valid")
        common = sum(signal.correlate(y, x, "valid") for y, x in zip(data, template, strict=True))
        own = (template**2).sum()
        # Tiny power, as next to events in silence, would overflow; shares above 1 make no difference.
        both, least = power + own, np.maximum(power, max(np.finfo(float).eps * own, np.finfo(float).tiny))
        yield events, template.shape[1], (both - 2 * common) / least, (both + 2 * common) / least, taken


def _not_taken(left, m, limit, taken):
    """Return unmarked ranges of m samples with an unexplained share of at most `limit`, and add them to the mask."""
    starts = signal.find_peaks(-left, height=-limit, distance=m)[0]
    free = np.array([not taken[start : start + m].mean() > LARGER for start in starts], bool)
    found = np.column_stack([starts, starts + m])[free]
    for start, end in found:
        taken[start:end] = True
    return found


ALIGNED = 2  # rounds of alignment: from the first, blurred typical event the band would be too low and too wide


@dataclass(eq=False, repr=False)
class AutoFilter(Filter):
    """Keep the frequencies at which labeled events stand out from everything else.

    `fit` subtracts the typical event of each class, the median of its events, at each event. It then compares two power
    spectral densities: S of the typical event, and N of the rest, which is background and the differences between
    events. The band has the largest ``(sum S)^2 / sum(N^2 + S N)``, summed over its frequencies: in it the squared
    distance from the typical event separates events from background best. `transform` is that of a `BandPass` with this
    band.

    The typical event is also subtracted at unlabeled places that resemble it. They are searched for in the band that
    would be best if the noise were only drift. In that band events are first aligned twice, because labels that are off
    by a few samples blur the typical event: each event moves to where it correlates best with the typical one, by up to
    a third of its length.

    Spectra do not show how rarely the background resembles an event, so other bands are tried: those around the largest
    S / N in which it stays above a half, a quarter, ... of its maximum. If few events are labeled, unlabeled ones are
    added that the typical event explains as well as the labeled ones, provided that hardly any place resembles the
    mirrored event as much; this repeats until no more are found. From 60 events on, they are divided into three
    contiguous blocks, and the typical event of two blocks is correlated with every place of the third. A band is better
    the farther events are from other places, relative to how far the tails of both extend towards each other. Of the
    bands within one standard error of the best, the narrowest is chosen. With fewer events the band is that of the
    spectra.

    Rules: "The band of AutoFilter" in :doc:`/definitions_learning`.

    Parameters
    ----------
    sampling_rate : float, optional
        Samples per unit of time. Default: from the times given to `fit`; for datetimes the unit is a second.
    order : int, default=2
        Order of the filter, as in `BandPass`.
    causal : bool, default=False
        Whether a sample depends only on itself and earlier ones, as in `BandPass`.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": `fit` ignores events with missing values and interpolates for the
        spectra; each channel is filtered separately on each side of missing values, and NaN stay NaN.

    Attributes
    ----------
    band_ : tuple (low, high)
        The edges, in cycles per unit of time. None: the band extends to that end of the spectrum, and nothing is
        removed there.
    frequencies_ : ndarray of shape (n_frequencies,)
        Frequencies of the spectra, in cycles per unit of time.
    event_spectrum_, noise_spectrum_ : ndarray of shape (n_frequencies, n_channels)
        Power spectral densities S of the typical event (for several classes the mean by their counts, without the noise
        left in it) and N of the rest: the periodogram with a Hann window, and Welch's method with the median over
        pieces of four event lengths, smoothed to the resolution of an event. N includes one event length of assumed
        noise with the power of an event and a spectrum of one over the frequency, as one event with hardly any
        background gives no other estimate.
    ratio_ : ndarray of shape (n_frequencies,)
        S / N, for several channels the largest, because all have the same band. N counts as at least 1e-6 of its
        maximum.
    sampling_rate_ : float
        The sampling rate of the filter.
    n_features_in_ : int
        Number of channels.

    Raises
    ------
    ValueError
        From `fit`, if there are no labels, or if they mark no event of two samples.

    See Also
    --------
    BandPass : A filter for a known band.

    Notes
    -----
    Patterns slower than the length of an event cannot be distinguished from drift. For patterns that differ from
    background by an offset the lower edge is about one over their length; `RunningBaseline` with a wide window keeps
    more of them.

    Labels are those of `QuerySegmenter.fit`, so that both may be in one pipeline. The label -1 (unlabeled, with
    ``self_train`` of `Learning`) is treated as background, in which unlabeled events are searched for. Events of one
    class that touch are one long event, with the spectrum of all of them: label their ranges by
    :func:`sktslib.metrics.labels_from_events`, which leaves a sample of background between them.

    Examples
    --------
    >>> import numpy as np
    >>> from sktslib.metrics import labels_from_events
    >>> from sktslib.preprocessing import AutoFilter
    >>> rng = np.random.default_rng(0)
    >>> recording = np.cumsum(rng.normal(size=(4000, 1)), axis=0)
    >>> starts = np.arange(100, 3900, 200)
    >>> for start in starts:
    ...     recording[start : start + 50, 0] += 5 * np.sin(2 * np.pi * 12 * np.arange(50) / 100)
    >>> y = labels_from_events(np.column_stack([starts, starts + 50]), n_samples=4000)
    >>> low, high = AutoFilter(sampling_rate=100).fit(recording, y).band_
    >>> 8 < low < 12 < high < 16
    True
    """

    sampling_rate: float | None = None

    _needs_y = True

    def _learn(self, recording, y):
        if y is None:
            raise ValueError(
                "AutoFilter requires y to be passed, but the target y is None. It learns its band from labels of time "
                "points, 0 for background; for a band that is known use BandPass."
            )
        self._take_rate(recording)
        data = recording.y
        y, _ = known_labels(check_labels(y, data.shape[1]), self_train=True)
        code = read_labels(y).code
        if len(code) > 1 and code.all():
            warn(
                "'y' should leave samples of background, labeled by 0 or an empty text, from which events stand out "
                f"in the band. Got a class for each of the {len(code)} samples. Label the events alone."
            )
        marked = occurrences(np.minimum(code, 1))
        if not len(marked[0]):
            raise ValueError(
                "'y' must mark events from their first sample to their last, by labels other than 0 and the empty "
                f"text, or -1 for what is unlabeled. Got no event of 2 samples or more, in {len(code)} sample(s) with "
                f"{int((code > 0).sum())} labels. Widen marks of points, for example with labels_from_events; without "
                "labels use BandPass."
            )
        ranges, code = occurrences(code) if len(occurrences(code)[0]) else marked  # single samples if there are no runs
        whole = np.array([not np.isnan(data[:, s:e]).any() for s, e in ranges], bool)
        if not whole.any():
            rule, got = "have an event without a missing value, to learn from", f"NaN in each of {len(ranges)}"
            raise refused("'X'", rule, got, "Fill the gaps, for example with numpy.interp, or use BandPass.")
        data, ranges, code = fill(data), ranges[whole], code[whole]
        data = data - np.median(data, axis=1, keepdims=True)  # a low-pass would keep the offset, which is not an event
        while True:
            ranges, found, unmarked = self._spectra(data, ranges, code)
            bands = candidates(found, band_of(found))
            more, same = recurring((self._in(band, data) for band in bands), ranges, code)
            if not len(more):
                break
            order = np.argsort(np.append(ranges[:, 0], more[:, 0]), kind="stable")
            ranges, code = np.concatenate([ranges, more])[order], np.append(code, same)[order]
        self.frequencies_ = found.frequencies
        self.event_spectrum_, self.noise_spectrum_ = np.maximum(found.events, 0.0).T, found.noise.T
        self.ratio_ = ratio_of(found)
        self.band_ = choose_band(found, bands[0], lambda band: self._in(band, data), ranges, code, unmarked)
        self._design(*self.band_)

    def _spectra(self, data, ranges, code):
        """Return the aligned events, the spectra of events and noise, and the unmarked ranges that resemble events."""
        for _ in range(ALIGNED):
            drift_alone = band_of(spectra(data, ranges, code, self.sampling_rate_))
            ranges = align(self._in(drift_alone, data), ranges, code)
        # Unmarked events would count as noise at the very frequencies of events.
        unmarked = find_look_alikes(self._in(drift_alone, data), ranges, code)
        return ranges, spectra(data, ranges, code, self.sampling_rate_, unmarked), unmarked

    def _in(self, band, data):
        """Return the recording filtered by a band."""
        self._design(*band)
        return both_ways(self._sos, data)

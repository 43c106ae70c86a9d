"""AutoFilter: a band that is learned from labels."""

from __future__ import annotations

import numpy as np

from ..distances._series import fill
from ..search._learning.time_labels import occurrences, read_labels
from ..search._query import check_labels, known_labels
from ..utils._warnings import warn
from ._band_evidence import candidates, choose_band
from ._band_pass import Filter
from ._event_spectra import align, band_of, ratio_of, spectra
from ._look_alikes import find_look_alikes, recurring

ALIGNED = 2  # times: of the first, blurred typical event the band is too low, and too wide


class AutoFilter(Filter):
    """Keep the frequencies at which labeled events stand out from everything else.

    `fit` takes off the typical event, the median of its class, at each event, and compares two power spectral
    densities: that of the typical event, S, and that of what is left, N, which is background and how events differ.
    The band is that in which the squared distance from the typical event tells events from background best: the one
    with the largest ``(sum S)^2 / sum(N^2 + S N)``, sums over its frequencies. Then it is a `BandPass`.

    What looks like an event and has no mark is no background, and its typical event is taken off there, too. It is
    looked for in the band that would be best if noise were drift alone. In that band events are aligned before, for
    marks that are off by a few samples blur their typical event: each is moved to where it correlates best with it, by
    up to a third of its length, and this twice.

    Spectra do not tell how rarely the background looks like an event. So other bands are tried, those about the largest
    ratio of S to N in which it stays above a half, a quarter, ... of that. Where few events are marked of many, the
    others are found in one of these bands: what the typical event leaves as little of as of the marked ones counts as
    marked, if hardly anything looks so much like the mirrored event. All of it is done again with them, until there are
    no more. Then the events are parted into three contiguous blocks. In each one, filtered, the typical event of the
    two others is correlated with every place. A band is the better, the further apart events and all else lie by that,
    compared with how far their tails reach towards each other. Of those that are as good as the best one, within the
    standard error of the difference from leaving out one block after the other, the narrowest is taken. The worst
    twentieth does not count, so that fewer than twenty events in a block, 60 in all, are no evidence, and the band is
    that of the spectra.

    Parameters
    ----------
    sampling_rate : float, optional
        Samples a unit of time. Default: that of the times that `fit` is given; of datetimes a second is the unit.
    order : int, default=2
        Order of the filter, as of `BandPass`.
    causal : bool, default=False
        Whether a sample depends on itself and those before alone, as of `BandPass`.
    nan_policy : {"raise", "omit"}, default="raise"
        What to do with missing values (NaN). "omit": `fit` leaves out events with a gap and interpolates over gaps for
        the spectra; a channel is filtered on each side of a gap by itself, and NaN stay NaN.

    Attributes
    ----------
    band_ : tuple (low, high)
        The edges, in cycles a unit of time. None: the band reaches that end of the spectrum, and nothing is cut off.
    frequencies_ : ndarray of shape (n_frequencies,)
        Those of the spectra.
    event_spectrum_, noise_spectrum_ : ndarray of shape (n_frequencies, n_channels)
        Power spectral densities of the typical event (of several classes the mean, by their counts), without the
        noise that is left in it, and of what is left without it: the periodogram with a Hann window, and Welch's method
        with the median over pieces of four event lengths, averaged over frequencies that an event is too short to tell
        apart. One event length of noise as powerful as the event, which falls as one over the frequency, counts as seen
        before: with one event and hardly any background there is nothing else to go by.
    ratio_ : ndarray of shape (n_frequencies,)
        Their ratio, of several channels the largest, for all channels have the same band. No density of noise counts
        as less than 1e-6 of the largest one.
    sampling_rate_ : float
        The sampling rate that the filter was made for.
    n_features_in_ : int
        Number of channels.

    Raises
    ------
    ValueError
        From `fit`, if there are no labels, as of all of scikit-learn's transformers that learn from labels; or if they
        mark no event of two samples.

    See Also
    --------
    BandPass : The same of a band that is known.

    Notes
    -----
    What is slower than an event is long cannot be told from drift: of patterns that differ from background by an offset
    the lower edge is about one over their length, and `RunningBaseline` with a wide window keeps more of them.

    The labels that `fit` takes are those of `QuerySegmenter.fit`, so that both may stand in one pipeline. -1 means, as
    with ``self_train``, that nobody looked: events without a mark are looked for there as everywhere, and the band
    learns from those that it finds. Events of one class that follow each other without background are one long event,
    which has the spectrum of all of them: label their ranges by :func:`sktslib.metrics.labels_from_events`, which
    leaves a sample of background between them.

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

    def __init__(
        self,
        sampling_rate: float | None = None,
        *,
        order: int = 2,
        causal: bool = False,
        nan_policy: str = "raise",
    ) -> None:
        self.sampling_rate = sampling_rate
        self.order = order
        self.causal = causal
        self.nan_policy = nan_policy

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
        ranges, code = occurrences(code) if len(occurrences(code)[0]) else marked  # of no class two samples in a row
        whole = np.array([not np.isnan(data[:, s:e]).any() for s, e in ranges], bool)
        if not whole.any():
            raise ValueError(
                f"'X' must have an event without a missing value, to learn from. Got NaN in each of {len(ranges)}. "
                "Fill the gaps, for example with numpy.interp, or use BandPass."
            )
        data, ranges, code = fill(data), ranges[whole], code[whole]
        data = data - np.median(data, axis=1, keepdims=True)  # what a low-pass keeps of an offset is no event's
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
        """The events aligned, the spectra of events and noise, and what looks like an event of each class."""
        for _ in range(ALIGNED):
            drift_alone = band_of(spectra(data, ranges, code, self.sampling_rate_))
            ranges = align(self._in(drift_alone, data), ranges, code)
        # Events without a mark would be noise of the very frequencies that events have.
        unmarked = find_look_alikes(self._in(drift_alone, data), ranges, code)
        return ranges, spectra(data, ranges, code, self.sampling_rate_, unmarked), unmarked

    def _in(self, band, data):
        """The recording in a band."""
        self._design(*band)
        return self._whole(data)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

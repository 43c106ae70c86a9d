"""A query taken from the recording itself: the period that repeats best."""

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from ...distances._metrics.registry import get_metric
from ...distances._series import standardize
from ...utils._jobs import progress
from .._comparison import Comparison
from .._profile import Search
from .._profiles.missing import runs
from .._selection import select

ROUNDS = 3  # of segmentation and averaging
SHRINK = 2  # how many times longer or shorter than the period a repetition may be
SHORTEST = 4  # samples of a period
PLACES = 8  # stretches tried per period
MOST = 96  # stretches tried in all
LIKE = 12  # how many of the most similar stretches count
BEST = 0.7  # of the highest correlation: the first peak as high as that is the period, not a multiple of it


def dominant_period(data):
    """The lag, in samples, at which a recording (channels, n) is most similar to itself.

    The autocorrelation over all channels, not biased towards short lags, after its first fall below zero and up to
    half of the recording.
    """
    z, n = standardize(data), data.shape[1]
    size = next_fast_len(2 * n)
    correlation = irfft((np.abs(rfft(z, size, axis=1)) ** 2).sum(axis=0), size)[: n // 2 + 1]
    correlation = correlation / np.arange(n, n - len(correlation), -1) * n
    below = np.flatnonzero(correlation <= 0)
    first = max(int(below[0]) if below.size else 1, SHORTEST)
    inner = np.arange(first, len(correlation) - 1)
    peaks = inner[(correlation[inner] >= correlation[inner - 1]) & (correlation[inner] > correlation[inner + 1])]
    peaks = peaks[correlation[peaks] > 0]
    if not peaks.size:
        raise ValueError(
            f"query='auto' needs a recording that repeats itself. Got {n} time points whose autocorrelation has no "
            "peak. Pass a query, or a recording of at least two repetitions."
        )
    return int(peaks[correlation[peaks] >= BEST * correlation[peaks].max()][0])


def most_repeated(data, period, verbose):
    """Start of the stretch of one period whose most similar stretches are nearest, as a share of its variance."""
    z, n = standardize(data), data.shape[1]
    like = min(LIKE, max(n // period - 1, 1))
    starts = range(0, n - period + 1, max(period // PLACES, (n - period) // MOST, 1))
    best, at = np.inf, 0
    with progress(len(starts), verbose, "find the period", "stretch") as count:
        for start in starts:
            apart = _apart(z, np.ascontiguousarray(z[:, start : start + period]), like)
            if apart < best:
                best, at = apart, start
            count()
    return at


def _apart(z, x, like):
    """How far the stretches most similar to `x` are from it, so many of them, as a share of its variance."""
    energy = ((x - x.mean(axis=1, keepdims=True)) ** 2).sum()
    if energy < 0.25 * x.size:  # background repeats itself too
        return np.inf
    profile = Search.of(Comparison(get_metric("euclidean"), x), z).profile()
    chosen = select(*profile._candidates[:3], n_matches=like + 1)
    return (profile.distance[chosen[1:]] ** 2).mean() / energy if len(chosen) > 1 else np.inf


def typical_period(data, holes, verbose):
    """The range of the stretch of one period that repeats best, within the longest stretch without a gap or hole."""
    gapless = runs(data, holes)
    if not len(gapless):
        raise ValueError("query='auto' needs a recording with values that are not NaN. Got none.")
    a, b = gapless[np.argmax(np.diff(gapless, axis=1))]
    period = dominant_period(data[:, a:b])
    start = a + most_repeated(data[:, a:b], period, verbose)
    return start, start + period

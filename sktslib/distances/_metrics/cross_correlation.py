"""The shape-based distance of one series to many: cross-correlations at all shifts by FFT.

At shift s the query's point i meets the series' point i + s. Of two series of m and n points all shifts from -(m - 1)
to n - 1 count. A circular correlation of at least m + n - 1 points holds them without overlap, the negative ones at
its end.
"""

from typing import NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

WEAK = 1e-3  # sums of squares below this share of the whole come out of a difference: too inexact


def transform_length(m, n):
    """Length of the transforms of series of up to m and n points."""
    return next_fast_len(m + n - 1, real=True)


def scaled(a):
    """Divide each series (..., channels, length) by its largest value, so that no square over- or underflows."""
    peak = np.abs(a).max(axis=(-2, -1), keepdims=True)
    return a / np.where(peak > 0, peak, 1.0)


class Prepared(NamedTuple):
    """A query, or series of one length, as `distances` takes them."""

    scaled: np.ndarray  # (channels, m) or (k, channels, n)
    transform: np.ndarray  # (..., channels, frequencies)
    norm: np.ndarray
    length: int
    weighted: bool


def query(x, w, size):
    """The query (channels, m), weighted, for transforms of a size."""
    x, m = scaled(x), x.shape[1]
    if w is None:
        return Prepared(x, rfft(x, size), norms(x[np.newaxis], None, size)[0, 0], m, False)
    return Prepared(x, rfft(w * x, size), np.sqrt((w * x * x).sum()), m, True)


def series(y, w, size):
    """Series (k, channels, n), as the query's weights see them, for transforms of a size."""
    y = scaled(y)
    return Prepared(y, rfft(y, size), norms(y, w, size), y.shape[2], w is not None)


def _shifts(m, n, size):
    """Where in a circular correlation the shifts stand, the positive ones first."""
    return np.concatenate([np.arange(n), np.arange(size - m + 1, size)])


def norms(y, w, size):
    """Norms of the series (k, channels, n): (k, 1), or as the query's weights see them at each shift (k, shifts).

    A point that meets a query point counts as that point's weight, others fully.
    """
    total = (y * y).reshape(len(y), -1).sum(axis=1, keepdims=True)
    if w is None:
        return np.sqrt(total)
    at = _shifts(w.shape[1], y.shape[2], size)
    left_out = irfft((np.conj(rfft(1.0 - w, size)) * rfft(y * y, size)).sum(axis=1), size)[:, at]
    squares = total - left_out
    for k, s in np.argwhere(squares <= WEAK * total):
        squares[k, s] = _seen(y[k], w, at[s] if s < y.shape[2] else at[s] - size)
    return np.sqrt(squares)


def _seen(y, w, shift):
    """Sum of the squares of one series as the query's weights see them at one shift."""
    weight = np.ones_like(y)
    first, last = max(shift, 0), min(y.shape[1], w.shape[1] + shift)
    weight[:, first:last] = w[:, first - shift : last - shift]
    return (weight * y * y).sum()


def _is_later(x, series):
    """Whether a series has the larger value where it first differs from each of the others (k, channels, n)."""
    x, series = x.ravel(), series.reshape(len(series), -1)
    first = np.argmax(series != x, axis=1)
    return x[first] > series[np.arange(len(series)), first]


def distances(query, series, size):
    """Distances (k,) of a query to series, both `Prepared`."""
    both = query.norm * series.norm
    if query.weighted:
        circular = irfft((np.conj(query.transform) * series.transform).sum(axis=1), size)
        cross = circular[:, _shifts(query.length, series.length, size)]
    else:
        cross = _largest(query, series, size)[:, np.newaxis]
    ratio = np.divide(cross, both, out=np.zeros_like(cross), where=both > 0)
    if query.norm == 0.0:
        ratio[np.broadcast_to(series.norm == 0, ratio.shape)] = 1.0  # nothing is like nothing
    distance = 1.0 - np.minimum(ratio.max(axis=1), 1.0)
    if query.length == series.length:  # transforms round
        distance[(series.scaled == query.scaled).all(axis=(1, 2))] = 0.0
    return distance


def _largest(query, series, size):
    """The largest cross-correlation (k,) over all shifts.

    Which of two series is the query must change no digit, for d(x, y) = d(y, x): it is the first one in a fixed order.
    """
    x, first, _, m, _ = query
    others, second, _, n, _ = series
    if m > n:
        product, m, n = np.conj(second) * first, n, m
    else:
        product = np.conj(first) * second
        if m == n:
            later = _is_later(x, others)
            product[later] = np.conj(second[later]) * first
    circular = irfft(product.sum(axis=1) if len(x) > 1 else product[:, 0], size)
    largest = circular[:, :n].max(axis=1)
    return np.maximum(largest, circular[:, size - m + 1 :].max(axis=1)) if m > 1 else largest

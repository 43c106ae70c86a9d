"""Profiles of sums of squares and of products, by running moments and one sliding dot product per channel.

With the weighted mean taken off the query, its dot product with a window does not depend on the window's mean, and

    sum w (x - y)^2 = M2(x) + M2(y) + W (mean(x) - mean(y))^2 - 2 sum w (x - mean(x)) y

where nothing but the last term can cancel. The dot products of all windows come from overlap-save FFT, or from direct
sums where the query is short; means and M2 from running sums that hold the samples of their own window alone, taken
relative to a sample of the window, so that a huge value beside a window leaves no trace in it.

What that scheme cannot compute to 1e-12 of the sum of squares, and what comes out small beside it, is computed again by
the exact kernels of `lockstep_drivers`. So every distance of such a profile is within a relative `SLACK` of the exact
one.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from ..compilation import block_size
from ..lower_bounds import slide
from ..running_moments import (
    EPS,
    ERROR,
    SMALL,
    SMALLEST,
    add_products,
    add_squares,
    find_constants,
    judge_products,
    judge_squares,
    moments_about,
    rounding,
    standardize,
    to_range,
    weighted_moments,
)
from ..scratch import scratch
from . import lockstep_drivers, lockstep_terms, shared_moments
from .shared_moments import as_waves, correlated, dot_rows, finish_products, load_rows
from .transforms import room_of, turns

SLACK = 2 * ERROR / SMALL  # so large is the relative error of a distance at most
LEAST = 2**20  # terms of a profile; with fewer the exact kernels take no millisecond
GROUP = 2**16  # samples at a time: they, their transforms and their sums stay in the second-level cache
HELD = block_size(2**18, 1)  # samples of all channels held for all queries: with what is known of them 10 MB
SPECTRA = block_size(2**23, 1)  # samples of the queries that are transformed at a time: 64 MB
SHORTEST_FFT = 128  # shorter queries are faster by direct sums
SQUARES = (lockstep_terms.SquaredRecord, lockstep_terms.EuclideanRecord)
PRODUCTS = (lockstep_terms.CosineRecord, lockstep_terms.PearsonRecord)


def slack(record, x, w, n_windows, scaling):
    """The relative error of the distances of a profile found here; 0 where the exact kernels are faster."""
    if x.shape[1] * n_windows < LEAST or not isinstance(record, SQUARES + PRODUCTS):
        return 0.0
    if scaling > 2 and w is not None:
        return 0.0
    if x.shape[1] < (24 if scaling else 96) * (1 if w is None else 2):
        return 0.0
    # Pearson's second form has (1 - r) / (1 + r), and a power of it.
    relative = SLACK * (1.0 + 2.0 * max(getattr(record, "beta", 0.0), 0.0))
    return relative if relative < 0.01 and n_windows > 64 else 0.0


# ------------------------------------------------------------------------------------------------------ dot products
def fft_size(m, n, weighted=False):
    """The size of the transforms that costs least per window of m samples in n, by counting operations.

    Moments with weights are found from the transforms, and lose digits to samples far from a window: rows stay short.
    """
    least, most = int(m - 1).bit_length() + 1, int(n - 1).bit_length()
    sizes = [2**k for k in range(least, max(least, min(most, least + 1) if weighted else most) + 1)]
    # A transform that leaves the second-level cache takes about half as long again.
    return min(sizes, key=lambda s: np.log2(s) * s / (s - m + 1) * (1.5 if s > 2**15 else 1.0))


def row_size(m, n, weighted=False):
    """Samples of a row of windows of m samples."""
    return fft_size(m, n, weighted) if m >= SHORTEST_FFT else 4072 + m - 1


class Correlator:
    """Sliding dot products of short series of m points with blocks of a long one's channels: some pairs of rows."""

    def __init__(self, m, size, n, channels=1):
        self.m, self.size, self.step = m, size, size - m + 1
        self.direct = m < SHORTEST_FFT
        both, n_windows = 2 * size, n - m + 1
        self.n_pairs = min(max(1, min(GROUP, HELD // channels) // both), -(-n_windows // (2 * self.step)))
        self._rows, self._roots = scratch("rows", (2, size)), turns(16 if self.direct else size)
        self._columns = scratch("columns", room_of(self._roots))

    @property
    def positions(self):
        """How many windows are computed at a time."""
        return 2 * self.n_pairs * self.step

    def room(self, name):
        """Memory for what is loaded of one channel."""
        return scratch(name, (self.n_pairs, 2, self.size))

    def kernels(self, x):
        """Short series (k, m) as they are correlated with."""
        return correlated(x, self.size, self.direct)

    def load(self, y, first, out, squared=False):
        """Take the samples from `first` on, or their squares, into room for them.

        Returns them as they are correlated, and of each row of windows what errors are relative to, and the mean.
        """
        n_pairs = min(self.n_pairs, -(-(len(y) - self.m + 1 - first) // (2 * self.step)))
        norms, by = np.empty((2 * n_pairs, 2)), np.ones((n_pairs, 2))
        of_all = self._rows, out[:n_pairs], norms, by, self._roots, self._columns
        load_rows(y, first, self.step, squared, self.direct, *of_all)
        return (out[:n_pairs], by), norms

    def dot(self, loaded, kernel, name="dots"):
        """Dot products with the windows of what was loaded, less its mean: the first `step` of each row.

        They lie in memory of that name, which the next ones take.
        """
        spectra, by = loaded
        out = self.room(name)[: len(spectra)].reshape(-1, self.size)
        dot_rows(spectra, kernel, by, self.step, self.direct, out, self._roots, self._columns)
        return out


def dot_error(m, size):
    """Bound of a dot product's error, relative to the norms of the row and of the short series."""
    return EPS * (np.sqrt(m) if m < SHORTEST_FFT else np.log2(size))


# ----------------------------------------------------------------------------------------------------------- queries
class _Part(NamedTuple):
    """A channel of a query, less its mean."""

    channel: int
    kernel: np.ndarray  # it times its weights, and these, as they are correlated with
    averages: np.ndarray | None
    total: float  # of the weights
    origin: float  # what means of windows are taken less
    mean: float  # its own less the origin
    own: float  # its weighted sum of squares
    norms: tuple  # of it times its weights, and of these


def _parts(x, w, squares, scaling, prepared):
    """The channels of a query that count; `prepared` makes of series what they are correlated with."""
    parts, weight = [], np.ones_like(x) if w is None else w
    largest = np.abs(x).max()
    if not (squares or SMALLEST < largest < 1.0 / SMALLEST):  # of products the query's size does not count
        x = np.ldexp(x, -np.frexp(largest)[1])
    totals = weight.sum(axis=1)
    counts = np.flatnonzero(totals > 0.0)
    means, rests = np.zeros((2, len(x)))
    means[counts] = (weight * x).sum(axis=1)[counts] / totals[counts]
    centered = x - means[:, np.newaxis]
    rests[counts] = (weight * centered).sum(axis=1)[counts] / totals[counts]
    if w is not None or scaling or not squares:  # else squares are about the first, whatever is left of the mean
        centered -= rests[:, np.newaxis]
    own = weight * centered
    kernels, averages = prepared(own), [None] * len(x) if w is None else prepared(w)
    squared, norms = (own * centered).sum(axis=1), np.sqrt([(own**2).sum(axis=1), (weight**2).sum(axis=1)]).T
    for k in counts.tolist():
        # Of squares only differences of means count: they are taken less the query's, to keep their digits.
        origin, mean = (means[k], rests[k]) if squares and not scaling else (0.0, means[k] + rests[k])
        of_query = kernels[k], averages[k], totals[k], origin, mean, squared[k]
        parts.append(_Part(k, *of_query, tuple(norms[k])))
    return parts


class _Samples:
    """The samples of a block of windows as queries are correlated with them, and the moments of its windows."""

    def __init__(self, y, scaling, how, weighted, correlator):
        self._y, self._scaling, self._how, self._weighted, self._correlator = y, scaling, how, weighted, correlator
        self._rooms = [correlator.room(("samples", k)) for k in range(len(y))]
        self._squares = [correlator.room(("squares", k)) for k in range(len(y))] if weighted else None
        # Rows a little longer than needed: a distance of a power of two between arrays would put them all in the same
        # places of the first-level cache.
        self._moments = scratch("moments", (4, correlator.positions + 40))
        self._moments[1] = 1.0  # the scale of windows that are not normalized

    def load(self, first, last):
        """Take the windows [first, last)."""
        self._first, self._last, load = first, last, self._correlator.load
        self._loaded = [load(y, first, room) for y, room in zip(self._y, self._rooms, strict=True)]
        if self._weighted:
            self._of_squares = [load(y, first, room, True) for y, room in zip(self._y, self._squares, strict=True)]

    def loaded(self, k):
        """Transforms of a channel, and the norm and mean of each row."""
        return self._loaded[k]

    def moments(self, part):
        """Mean, scale, spread and error of the windows of a query's channel."""
        mean, scale, spread, error = moments = self._moments[:, : self._last - self._first]
        if not self._weighted:
            self._find(part.channel, part.origin, part.mean, *moments)
            return moments
        correlator, k = self._correlator, part.channel
        (loaded, rows), (squares, rows_q) = self._loaded[k], self._of_squares[k]
        s = correlator.dot(loaded, part.averages, "averages")
        q = correlator.dot(squares, part.averages)
        bounds = rows, rows_q, dot_error(correlator.m, correlator.size), part.norms[1]
        about = part.total, part.origin, part.mean, self._how
        weighted_moments(s, q, *bounds, correlator.step, *about, mean, spread, error)
        if self._scaling:
            mean[:] = 0.0
            standardize(scale, spread, error, part.total, self._scaling)
        return moments

    def _find(self, k, origin, mean_x, mean, scale, spread, error):
        y, m, first = self._y[k], self._correlator.m, self._first
        origin = y[first] if self._scaling > 2 else origin
        moments_about(y, m, origin, first, mean, spread, error)
        find_constants(y, m, first, self._how == 2, mean, spread, error)
        if self._scaling > 2:
            low, high = np.empty((2, 1, self._last - first))
            slide(y[np.newaxis, first : self._last + m - 1], m, low, high)
            to_range(low[0], high[0], origin, mean, scale, spread, error, mean_x, m, self._scaling == 4)


# ---------------------------------------------------------------------------------------------------------- profiles
def profiles(record, X, W, y, scaling, out, size=None):
    """Fill out[q] with the distances of X[q] to all windows, as `lockstep_drivers.profile` does.

    The queries (n_queries, channels, m) are normalized already; `W` may be None. A block of samples is transformed once
    for all of them, and moments that do not depend on the query are found once. `size` replaces that of the transforms.
    """
    size = row_size(X.shape[2], y.shape[1], W is not None) if size is None else size
    together = max(1, SPECTRA // (len(y) * size))
    shared = W is None and (scaling in (1, 2) or (scaling == 0 and isinstance(record, SQUARES)))
    find = _by_samples if shared else _profiles
    for at in range(0, len(X), together):
        some = slice(at, at + together)
        find(record, X[some], W if W is None else W[some], y, scaling, size, out[some])


def _by_samples(record, X, _, y, scaling, size, out):
    """The profiles where moments are those of the samples alone."""
    squares, m = isinstance(record, SQUARES), X.shape[2]
    queries = [_parts(x, None, squares, scaling, partial(as_waves, size=size, direct=m < SHORTEST_FFT)) for x in X]
    wrong = [dot_error(m, size) * np.sqrt(sum(part.norms[0] ** 2 for part in parts)) for parts in queries]
    if scaling:
        own = [sum(part.own + part.total * part.mean * part.mean for part in parts) for parts in queries]
    else:
        own = [sum(part.own for part in parts) for parts in queries]
    kernels = np.array([[part.kernel for part in parts] for parts in queries])
    centers = np.array([[part.origin for part in parts] for parts in queries])
    rests = np.array([[part.total * part.mean for part in parts] for parts in queries])
    sizes, ones = (m, size - m + 1, m < SHORTEST_FFT), np.ones_like(X[0])

    def directly(q, which):
        if len(which):
            _directly(record, X[q], ones, y, scaling, which, out[q])

    of_queries = kernels, np.array(own), np.array(wrong), centers, rests
    shared_moments.profiles(record, squares, of_queries, y, sizes, scaling, directly, out)


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is computed again
def _profiles(record, X, W, y, scaling, size, out):
    """The profiles where moments are of each query."""
    squares, m = isinstance(record, SQUARES), X.shape[2]
    correlator = Correlator(m, size, y.shape[1], len(y))
    step, wrong = correlator.step, dot_error(m, size)
    add, judge = (add_squares, judge_squares) if squares else (add_products, judge_products)
    weights = [None] * len(X) if W is None else W
    queries = [_parts(x, w, squares, scaling, correlator.kernels) for x, w in zip(X, weights, strict=True)]
    norms = [sum(part.own + part.total * part.mean * part.mean for part in parts) for parts in queries]
    how = 0 if scaling else (1 if squares else 2)  # means count
    share = rounding(m) / 2 + 4 * EPS if how == 1 else 0.0
    samples = _Samples(y, scaling, how, W is not None, correlator)
    many = correlator.positions
    sums, doubtful = scratch("sums", (3, many + 40)), scratch("doubtful", (many,), np.bool_)
    for first in range(0, out.shape[1], many):
        last = min(first + many, out.shape[1])
        samples.load(first, last)
        a, b, c = sums[:, : last - first]
        for q, (parts, norm) in enumerate(zip(queries, norms, strict=True)):
            here = a, b, c, norm, share, doubtful[: last - first]
            for part in parts:
                more = part is not parts[0]
                loaded, rows = samples.loaded(part.channel)
                moments, of_query = samples.moments(part), (part.own, part.mean, part.total)
                dot = correlator.dot(loaded, part.kernel)
                add(dot, step, wrong * part.norms[0] * rows[:, 0], *moments, *of_query, a, b, c, more)
            count = judge(*here)
            if squares:
                lockstep_drivers.finish_all(record, a, 0.0, b, out[q, first:last])
            else:
                finish_products(record, a, norm, b, out[q, first:last])
            if count:
                which = np.flatnonzero(doubtful[: last - first]) + first
                _directly(record, X[q], np.ones_like(X[q]) if W is None else W[q], y, scaling, which, out[q])


def _directly(record, x, w, y, scaling, which, out):
    """Compute the windows `which` by the exact kernels, neighbors together."""
    m = x.shape[1]
    for run in np.split(which, np.flatnonzero(np.diff(which) > 64) + 1):
        first, last = run[0], run[-1] + 1
        piece = np.ascontiguousarray(y[:, first : last + m - 1])
        lockstep_drivers.profile(record, x, piece, w, scaling, out[first:last])

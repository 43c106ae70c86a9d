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

import numpy as np

from ..compilation import block_size, kernel
from ..lower_bounds import slide
from ..running_moments import (
    EPS,
    ERROR,
    SMALL,
    SMALLEST,
    TINY,
    add_products,
    add_squares,
    find_constants,
    judge_products,
    judge_squares,
    moments_about,
    rounding,
    standardise,
    to_range,
    weighted_moments,
)
from . import lockstep_drivers, lockstep_terms

SLACK = 2 * ERROR / SMALL  # so large is the relative error of a distance at most
LEAST = 2**20  # terms of a profile; with fewer the exact kernels take no millisecond
GROUP = 2**16  # samples at a time: they, their transforms and their sums stay in the second-level cache
SHORTEST_FFT = 128  # shorter queries are faster by direct sums
DOTS = block_size(512, 8)  # direct dot products at a time
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
@kernel(fastmath={"reassoc", "contract"})
def _rows(y, first, step, squared, rows, norm):
    """rows[r] = the samples from `first + r * step` on less their mean (or the squares of that), 0 behind the end."""
    n_rows, size = rows.shape
    for r in range(n_rows):
        begin = first + r * step
        v = y[begin : min(begin + size, y.shape[0])]
        total = 0.0
        for t in range(v.shape[0]):
            total += v[t]
        mean = total / max(v.shape[0], 1)
        row, square = rows[r], 0.0
        if squared:
            for t in range(v.shape[0]):
                d = (v[t] - mean) * (v[t] - mean)
                row[t] = d
                square += d * d
        else:
            for t in range(v.shape[0]):
                d = v[t] - mean
                row[t] = d
                square += d * d
        row[v.shape[0] :] = 0.0
        if not square > TINY:  # the error of what underflowed is not known
            for t in range(v.shape[0]):
                square = np.inf if v[t] != mean else square
        norm[r, 0], norm[r, 1] = np.sqrt(square), mean


@kernel(fastmath={"reassoc", "contract"})
def _dots(v, x, out):
    """out[j] = sum of x[i] v[j + i]; four points at a time, so that sums stay in registers."""
    m = x.shape[0]
    for first in range(0, out.shape[0], DOTS):
        o = out[first : first + DOTS]
        o[:] = 0.0
        for i in range(0, m - 3, 4):
            a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
            t = v[first + i : first + i + o.shape[0] + 3]
            for k in range(o.shape[0]):
                o[k] += a * t[k] + b * t[k + 1] + c * t[k + 2] + d * t[k + 3]
        for i in range(m - m % 4, m):
            t = v[first + i : first + i + o.shape[0]]
            for k in range(o.shape[0]):
                o[k] += x[i] * t[k]


def fft_size(m, n):
    """The size of the transforms that costs least per window of m samples in n, by counting operations."""
    sizes = [
        2**k for k in range(int(m - 1).bit_length() + 1, max(int(n - 1).bit_length(), int(m - 1).bit_length() + 1) + 1)
    ]
    # A transform that leaves the second-level cache takes about half as long again.
    return min(sizes, key=lambda s: np.log2(s) * s / (s - m + 1) * (1.5 if s > 2**15 else 1.0))


class Correlator:
    """Sliding dot products of short series of m points with blocks of a long one."""

    def __init__(self, m, n, size=None):
        self.m = m
        if size is None:
            size = fft_size(m, n) if m >= SHORTEST_FFT else 4072 + m - 1
        self.size, self.step = size, size - m + 1
        self.direct = m < SHORTEST_FFT
        self.n_rows = max(1, GROUP // size)
        self._rows = np.empty((self.n_rows, size))
        self._spectra = None if self.direct else np.empty((self.n_rows, size // 2 + 1), np.complex128)

    @property
    def positions(self):
        """How many windows are computed at a time."""
        return self.n_rows * self.step

    def kernel(self, x):
        """A short series as it is correlated with."""
        return np.ascontiguousarray(x) if self.direct else np.conj(np.fft.rfft(x, self.size))

    def load(self, y, first, squared=False):
        """Take the samples from `first` on, or their squares; returns the norm and the mean of each row of windows.

        Transforms of samples lie in memory that the next ones take, as do the rows of direct sums.
        """
        n_rows = min(self.n_rows, -(-(len(y) - self.m + 1 - first) // self.step))
        rows, norm = self._rows[:n_rows], np.empty((n_rows, 2))
        _rows(y, first, self.step, squared, rows, norm)
        if self.direct:
            return rows, norm
        return np.fft.rfft(rows, axis=1, out=None if squared else self._spectra[:n_rows]), norm

    def dot(self, loaded, kernel, keep=False):
        """Dot products with the windows of what was loaded, less its mean: the first `step` of each row.

        Those by transforms lie in memory that the next ones take, and what was loaded is gone, unless they `keep`.
        """
        if self.direct:
            out = np.empty((len(loaded), self.step))
            for row, dots in zip(loaded, out, strict=True):
                _dots(row, kernel, dots)
            return out
        if keep:
            return np.fft.irfft(loaded * kernel, self.size, axis=1)
        return np.fft.irfft(np.multiply(loaded, kernel, out=loaded), self.size, axis=1, out=self._rows[: len(loaded)])

    @property
    def error(self):
        """Bound of a dot product's error, relative to the norms of the row and of the short series."""
        return EPS * (np.sqrt(self.m) if self.direct else np.log2(self.size))


# ----------------------------------------------------------------------------------------------------------- profile
@np.errstate(over="ignore", invalid="ignore")  # what is not finite is computed again
def profile(record, x, w, y, scaling, out, size=None):
    """Fill `out` with the distances of a query, normalised already, to all windows, as `_lockstep.profile` does.

    `w` may be None; `size` replaces the size of the transforms.
    """
    channels, m = x.shape
    weight = np.ones_like(x) if w is None else w
    squares = isinstance(record, SQUARES)
    add, judge = (add_squares, judge_squares) if squares else (add_products, judge_products)
    given, largest = x, np.abs(x).max()
    if not (squares or SMALLEST < largest < 1.0 / SMALLEST):  # of products the query's size does not count
        x = np.ldexp(x, -np.frexp(largest)[1])
    correlator = Correlator(m, y.shape[1], size)
    step = correlator.step
    parts = []  # of each channel that counts: its kernels and its query's moments
    for k in range(channels):
        total = weight[k].sum()
        if total > 0.0:
            mean_x = (weight[k] * x[k]).sum() / total
            centred = x[k] - mean_x
            rest = (weight[k] * centred).sum() / total
            centred -= rest
            # Of squares only differences of means count: they are taken less the query's, to keep their digits.
            origin, mean_x = (mean_x, rest) if squares and not scaling else (0.0, mean_x + rest)
            kernel = weight[k] * centred
            own = (kernel * centred).sum()
            averages = None if w is None else correlator.kernel(w[k])
            norms = np.sqrt((kernel**2).sum()), np.sqrt((weight[k] ** 2).sum())
            parts.append((k, correlator.kernel(kernel), averages, total, origin, mean_x, own, norms))
    norm = sum(own + total * mean_x * mean_x for _, _, _, total, _, mean_x, own, _ in parts)
    how = 0 if scaling else (1 if squares else 2)  # means count
    share = rounding(m) / 2 + 4 * EPS if how == 1 else 0.0
    many = min(correlator.positions, len(out))
    # Rows a little longer than needed: a distance of a power of two between arrays would put them all in the same
    # places of the first-level cache.
    sums, of_windows, doubtful = np.empty((3, many + 40)), np.empty((4, many + 40)), np.empty(many, np.bool_)
    of_windows[1] = 1.0  # the scale of windows that are not normalised
    for first in range(0, len(out), correlator.positions):
        last = min(first + correlator.positions, len(out))
        a, b, c = sums[:, : last - first]
        mean, scale, spread, error = of_windows[:, : last - first]
        for k, kernel, averages, total, origin, mean_x, own, (norm_x, norm_w) in parts:
            loaded, rows = correlator.load(y[k], first)
            if w is None:
                origin = y[k, first] if scaling > 2 else origin
                moments_about(y[k], m, origin, first, mean, spread, error)
                find_constants(y[k], m, first, how == 2, mean, spread, error)
                if how == 1:
                    error *= 1.5  # of the spread and of the mean
            else:
                s = correlator.dot(loaded, averages, keep=True)
                loaded_squares, rows_q = correlator.load(y[k], first, squared=True)
                q = correlator.dot(loaded_squares, averages)
                bounds = rows, rows_q, correlator.error, norm_w
                weighted_moments(s, q, *bounds, step, total, origin, mean_x, how, mean, spread, error)
                if correlator.direct:  # what was loaded is the correlator's own memory
                    loaded, rows = correlator.load(y[k], first)
            dot = correlator.dot(loaded, kernel)
            wrong = correlator.error * norm_x * rows[:, 0]
            if scaling > 2:
                low, high = np.empty((2, 1, last - first))
                slide(y[k : k + 1, first : last + m - 1], m, low, high)
                low, high = low[0], high[0]
                to_range(low, high, origin, mean, scale, spread, error, mean_x, m, scaling == 4)
            elif scaling:
                standardise(mean, scale, spread, error, total, scaling)
            add(dot, step, wrong, mean, scale, spread, error, own, mean_x, total, a, b, c, k > parts[0][0])
        count = judge(a, b, c, norm, share, doubtful[: last - first])
        lockstep_drivers.finish_all(record, a, norm if not squares else 0.0, b, out[first:last])
        if count:
            _directly(record, given, weight, y, scaling, np.flatnonzero(doubtful[: last - first]) + first, out)


def _directly(record, x, w, y, scaling, which, out):
    """Compute the windows `which` by the exact kernels, neighbours together."""
    m = x.shape[1]
    for run in np.split(which, np.flatnonzero(np.diff(which) > 64) + 1):
        first, last = run[0], run[-1] + 1
        piece = np.ascontiguousarray(y[:, first : last + m - 1])
        lockstep_drivers.profile(record, x, piece, w, scaling, out[first:last])

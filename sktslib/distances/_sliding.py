"""Profiles of sums of squares and of products, by running moments and one sliding dot product per channel.

With the weighted mean taken off the query, its dot product with a window does not depend on the window's level, and

    sum w (x - y)^2 = M2(x) + M2(y) + W (mean(x) - mean(y))^2 - 2 sum w (x - mean(x)) y

where nothing but the last term can cancel. The dot products of all windows come from overlap-save FFT, or from direct
sums where the query is short; means and M2 from running sums that hold the samples of their own window alone, taken
relative to a sample of the window, so that a huge value beside a window leaves no trace in it.

What that scheme cannot compute to 1e-12 of the sum of squares, and what comes out small beside it, is computed again by
the exact kernels of `_lockstep`. So every distance of such a profile is within a relative `SLACK` of the exact one.
"""

import numpy as np
from numba import njit

from . import _lockstep as kernels

EPS = 2.0**-52
ERROR = 1e-12  # of the sum of squares: what the profile may be wrong by
SMALL = 1e-6  # of the sum of squares: what is less is computed directly
SLACK = 2 * ERROR / SMALL  # so large is the relative error of a distance at most
RUN = 1024  # terms added in a row; longer running sums are added up from such parts, for the sake of their error
LEAST = 2**20  # terms of a profile; with fewer the exact kernels take no millisecond
PIECE = 1024  # windows at a time whose sums stay in the first-level cache
GROUP = 2**16  # samples at a time: they, their transforms and their sums stay in the second-level cache
SHORTEST_FFT = 128  # shorter queries are faster by direct sums
SQUARES = (kernels.SquaredRecord, kernels.EuclideanRecord)
PRODUCTS = (kernels.CosineRecord, kernels.PearsonRecord)


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
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _rows(y, first, step, squared, rows, norm):
    """rows[r] = the samples from `first + r * step` on less their mean (or the squares of that), 0 behind the end."""
    n_rows, size = rows.shape
    for r in range(n_rows):
        begin = first + r * step
        v = y[begin : min(begin + size, y.shape[0])]
        total = 0.0
        for t in range(v.shape[0]):
            total += v[t]
        level = total / max(v.shape[0], 1)
        row, square = rows[r], 0.0
        if squared:
            for t in range(v.shape[0]):
                d = (v[t] - level) * (v[t] - level)
                row[t] = d
                square += d * d
        else:
            for t in range(v.shape[0]):
                d = v[t] - level
                row[t] = d
                square += d * d
        row[v.shape[0] :] = 0.0
        norm[r, 0], norm[r, 1] = np.sqrt(square), level


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dots(v, x, out):
    """out[j] = sum of x[i] v[j + i]; four points at a time, so that sums stay in registers."""
    m = x.shape[0]
    for first in range(0, out.shape[0], 512):
        o = out[first : first + 512]
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
        """Take the samples from `first` on, or their squares; returns the norm and the level of each row of windows.

        Transforms of samples lie in memory that the next ones take, as do the rows of direct sums.
        """
        n_rows = min(self.n_rows, -(-(len(y) - self.m + 1 - first) // self.step))
        rows, norm = self._rows[:n_rows], np.empty((n_rows, 2))
        _rows(y, first, self.step, squared, rows, norm)
        if self.direct:
            return rows, norm
        return np.fft.rfft(rows, axis=1, out=None if squared else self._spectra[:n_rows]), norm

    def dot(self, loaded, kernel, keep=False):
        """Dot products with the windows of what was loaded, less its level: the first `step` of each row.

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


# ----------------------------------------------------------------------------------------------------------- moments
@njit(cache=True, nogil=True)
def _run_on(y, b, count, after):
    """after[:, k] = sums of y - y[b] and of its square over the k samples from b on."""
    level = y[b]
    for k0 in range(0, count, RUN):
        s, q, done_s, done_q = 0.0, 0.0, after[0, k0], after[1, k0]
        for k in range(k0, min(k0 + RUN, count)):
            d = y[b + k] - level
            s += d
            q += d * d
            after[0, k + 1], after[1, k + 1] = done_s + s, done_q + q


@njit(cache=True, nogil=True)
def _run_both(y, b, m, before, after):
    """The same, and before[:, m - k] = sums of y - y[b + m] over the k samples before b + m.

    Both runs at once, since either waits for its own sums.
    """
    level, other = y[b], y[b + m]
    for k0 in range(0, m, RUN):
        k1 = min(k0 + RUN, m)
        # Slices, because an index that might be negative to the compiler costs as much as the sums.
        back, on = y[b + m - k1 : b + m - k0][::-1], y[b + k0 : b + k1]
        before_s, before_q = before[0, m - k1 : m - k0][::-1], before[1, m - k1 : m - k0][::-1]
        after_s, after_q = after[0, k0 + 1 : k1 + 1], after[1, k0 + 1 : k1 + 1]
        s = q = s2 = q2 = 0.0
        done_s, done_q, done_s2, done_q2 = before[0, m - k0], before[1, m - k0], after[0, k0], after[1, k0]
        for k in range(on.shape[0]):
            d, e = back[k] - other, on[k] - level
            s += d
            q += d * d
            s2 += e
            q2 += e * e
            before_s[k], before_q[k] = done_s + s, done_q + q
            after_s[k], after_q[k] = done_s2 + s2, done_q2 + q2


@njit(nogil=True)
def _rounding(m):
    """Relative error of a running sum of m terms."""
    return EPS * 2.0 * (min(m, RUN) ** 0.5 + m / RUN + 4.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _moments(y, m, first, mean, spread, error):
    """Mean and sum of squared deviations of the windows of m samples that start at `first` and after.

    All windows that hold the sample `b` are split there into what lies before it and the rest; the sums of either part
    run away from b and are taken relative to y[b]. So no sample outside of a window ever enters its sums, and as y[b]
    is a sample of the window, at most a factor m is lost where the mean's share is taken off.
    """
    end = first + mean.shape[0]  # of the windows' starts
    before, next_before, after = np.zeros((2, m + 1)), np.zeros((2, m + 1)), np.zeros((2, m + 1))
    relative = _rounding(m)
    share = 1.0 / m
    for b in range(first, end + m - 1, m):
        low, high = max(b - m + 1, first), min(b, end - 1)
        level = y[b]
        if high == b and b + m < y.shape[0]:
            _run_both(y, b, m, next_before, after)
        else:
            _run_on(y, b, high + m - b, after)
        last = low + m - b
        s0, q0 = before[0, last : high + m - b + 1], before[1, last : high + m - b + 1]
        s1, q1 = after[0, last : high + m - b + 1], after[1, last : high + m - b + 1]
        part = slice(low - first, high - first + 1)
        middle, deviations, wrong = mean[part], spread[part], error[part]
        for k in range(s1.shape[0]):
            total, squares = s0[k] + s1[k], q0[k] + q1[k]
            middle[k] = level + total * share
            deviations[k] = squares - total * total * share
            wrong[k] = squares * relative
        before, next_before = next_before, before


@njit(cache=True, nogil=True, error_model="numpy")
def _weighted_moments(s, q, norm_s, norm_q, bound, w_norm, step, total, mean, spread, error):
    """The same from the weighted sums s of samples and q of squares, both less the level of their row."""
    for r in range(s.shape[0]):
        level, wrong_s, wrong_q = norm_s[r, 1], bound * w_norm * norm_s[r, 0], bound * w_norm * norm_q[r, 0]
        for t in range(min(step, mean.shape[0] - r * step)):
            at = r * step + t
            mean[at] = level + s[r, t] / total
            spread[at] = q[r, t] - s[r, t] * s[r, t] / total
            error[at] = wrong_q + 2.0 * abs(s[r, t]) / total * wrong_s + 2.0**-50 * abs(q[r, t])


# ------------------------------------------------------------------------------------------------------- accumulation
# One array is written per loop: the compiler gives up on vector code where too many arrays might overlap.
@njit(cache=True, nogil=True, error_model="numpy")
def _standardise(lift, scale, spread, error, total, scaling):
    """What the normalisation of each window makes of its moments: its mean, `lift`, becomes 0; fills `scale`."""
    lift[:] = 0.0
    if scaling == 1:
        scale[:] = 1.0
        return
    for j in range(scale.shape[0]):
        scale[j] = total / spread[j] if spread[j] > 0.0 else 0.0
    for j in range(scale.shape[0]):  # a constant window has no error, one that only seems constant any error
        error[j] = error[j] * scale[j] if spread[j] > 0.0 else (np.inf if error[j] > 0.0 else 0.0)
    for j in range(scale.shape[0]):
        spread[j] = total if spread[j] > 0.0 else 0.0
    for j in range(scale.shape[0]):
        scale[j] = np.sqrt(scale[j])


@njit(cache=True, nogil=True, error_model="numpy")
def _to_range(low, high, lift, scale, spread, error, level, m, centred):
    """The same where the range of each window becomes 1 and its mean the `lift`, or 0 if it is centred."""
    relative = _rounding(m)  # of the mean's share of the range, see `_moments`
    for j in range(scale.shape[0]):
        scale[j] = 1.0 / (high[j] - low[j]) if high[j] > low[j] else 0.0
    for j in range(scale.shape[0]):
        wrong = relative + EPS * abs(lift[j]) * scale[j]
        lift[j] = 0.0 if centred else (lift[j] - low[j]) * scale[j]
        wrong *= 0.0 if centred else 2.0 * abs(level - lift[j]) + abs(level) + 2.0 * lift[j]
        error[j] = error[j] * scale[j] * scale[j] + m * wrong if scale[j] > 0.0 else 0.0
    for j in range(scale.shape[0]):
        spread[j] *= scale[j] * scale[j]


@njit(cache=True, nogil=True)
def _add_squares(dot, step, wrong, lift, scale, spread, error, own, level, total, a, b, c, more):
    """Add a channel's squared differences to a, their sum of squares to b, the error of a to c; or begin anew."""
    for r in range(dot.shape[0]):
        for first in range(r * step, min((r + 1) * step, a.shape[0]), PIECE):
            last = min(first + PIECE, (r + 1) * step, a.shape[0])
            d, w, at = dot[r, first - r * step : last - r * step], 2.0 * wrong[r], lift[first:last]
            v, e, by = spread[first:last], error[first:last], scale[first:last]
            to_a, to_b, to_c = a[first:last], b[first:last], c[first:last]
            if not more:
                to_a[:], to_b[:], to_c[:] = 0.0, 0.0, 0.0
            for j in range(d.shape[0]):
                to_b[j] += own + v[j] + total * (level - at[j]) * (level - at[j])
            for j in range(d.shape[0]):
                to_a[j] += own + v[j] + total * (level - at[j]) * (level - at[j]) - 2.0 * d[j] * by[j]
            for j in range(d.shape[0]):
                to_c[j] += w * by[j] + e[j]


@njit(cache=True, nogil=True)
def _add_products(dot, step, wrong, lift, scale, spread, error, own, level, total, a, b, c, more):
    """Add a channel's products to a, the window's squares to b, the error of a to c; or begin anew."""
    for r in range(dot.shape[0]):
        for first in range(r * step, min((r + 1) * step, a.shape[0]), PIECE):
            last = min(first + PIECE, (r + 1) * step, a.shape[0])
            d, w, at = dot[r, first - r * step : last - r * step], wrong[r], lift[first:last]
            v, e, by = spread[first:last], error[first:last], scale[first:last]
            to_a, to_b, to_c = a[first:last], b[first:last], c[first:last]
            if not more:
                to_a[:], to_b[:], to_c[:] = 0.0, 0.0, 0.0
            for j in range(d.shape[0]):
                to_a[j] += d[j] * by[j] + total * level * at[j]
            for j in range(d.shape[0]):
                to_b[j] += v[j] + total * at[j] * at[j]
            for j in range(d.shape[0]):
                to_c[j] += w * by[j] + e[j]


@njit(cache=True, nogil=True, error_model="numpy")
def _judge_squares(a, b, c, norm, doubtful):
    for j in range(a.shape[0]):
        # Not a comparison the other way round: NaN must be found too.
        doubtful[j] = not (c[j] <= ERROR * b[j] and (a[j] >= SMALL * b[j]))
    count = 0
    for j in range(a.shape[0]):
        count += doubtful[j]
    if count:
        for j in range(a.shape[0]):
            a[j] = 0.0 if doubtful[j] else a[j]  # it could be negative
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _judge_products(a, b, c, norm, doubtful):
    """The error of the window's norm counts as one of the products does; see `_add_products`."""
    count = 0
    for j in range(a.shape[0]):
        both = np.sqrt(norm * b[j]) if b[j] > 0.0 else 0.0
        sure = c[j] * max(1.0, both / b[j]) <= ERROR * both if b[j] > 0.0 else c[j] == 0.0
        doubtful[j] = not (sure and abs(a[j]) <= (1.0 - SMALL) * both)
        count += doubtful[j]
    return count


# ----------------------------------------------------------------------------------------------------------- profile
def _extremes(y, m):
    """The least and the largest sample of each window of m."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d  # takes longer to import than all of this folder

    return (extreme(y, m, origin=-(m // 2))[: len(y) - m + 1] for extreme in (minimum_filter1d, maximum_filter1d))


def profile(record, x, w, y, scaling, out, size=None):
    """Fill `out` with the distances of a query, normalised already, to all windows, as `_lockstep.profile` does.

    `w` may be None; `size` replaces the size of the transforms.
    """
    channels, m = x.shape
    weight = np.ones_like(x) if w is None else w
    squares = isinstance(record, SQUARES)
    add, judge = (_add_squares, _judge_squares) if squares else (_add_products, _judge_products)
    correlator = Correlator(m, y.shape[1], size)
    step = correlator.step
    parts = []  # of each channel that counts: its kernels and its query's moments
    for k in range(channels):
        total = weight[k].sum()
        if total > 0.0:
            level = (weight[k] * x[k]).sum() / total
            centred = x[k] - level
            kernel = weight[k] * centred
            own = (kernel * centred).sum()
            averages = None if w is None else correlator.kernel(w[k])
            norms = np.sqrt((kernel**2).sum()), np.sqrt((weight[k] ** 2).sum())
            parts.append((k, correlator.kernel(kernel), averages, total, level, own, norms))
    norm = sum(own + total * level * level for _, _, _, total, level, own, _ in parts)
    many = min(correlator.positions, len(out))
    # Rows a little longer than needed: a distance of a power of two between arrays would put them all in the same
    # places of the first-level cache.
    sums, moments, doubtful = np.empty((3, many + 40)), np.empty((4, many + 40)), np.empty(many, np.bool_)
    moments[1] = 1.0  # the scale of windows that are not normalised
    for first in range(0, len(out), correlator.positions):
        last = min(first + correlator.positions, len(out))
        a, b, c = sums[:, : last - first]
        mean, scale, spread, error = moments[:, : last - first]
        for k, kernel, averages, total, level, own, (norm_x, norm_w) in parts:
            loaded, rows = correlator.load(y[k], first)
            if w is None:
                _moments(y[k], m, first, mean, spread, error)
            else:
                s = correlator.dot(loaded, averages, keep=True)
                loaded_squares, rows_q = correlator.load(y[k], first, squared=True)
                q = correlator.dot(loaded_squares, averages)
                _weighted_moments(s, q, rows, rows_q, correlator.error, norm_w, step, total, mean, spread, error)
                if correlator.direct:  # what was loaded is the correlator's own memory
                    loaded, rows = correlator.load(y[k], first)
            dot = correlator.dot(loaded, kernel)
            wrong = correlator.error * norm_x * rows[:, 0]
            if scaling > 2:
                low, high = _extremes(y[k, first : last + m - 1], m)
                _to_range(low, high, mean, scale, spread, error, level, m, scaling == 4)
            elif scaling:
                _standardise(mean, scale, spread, error, total, scaling)
            add(dot, step, wrong, mean, scale, spread, error, own, level, total, a, b, c, k > parts[0][0])
        count = judge(a, b, c, norm, doubtful[: last - first])
        kernels.finish_all(record, a, norm if not squares else 0.0, b, out[first:last])
        if count:
            _directly(record, x, weight, y, scaling, np.flatnonzero(doubtful[: last - first]) + first, out)


def _directly(record, x, w, y, scaling, which, out):
    """Compute the windows `which` by the exact kernels, neighbours together."""
    m = x.shape[1]
    for run in np.split(which, np.flatnonzero(np.diff(which) > 64) + 1):
        first, last = run[0], run[-1] + 1
        piece = np.ascontiguousarray(y[:, first : last + m - 1])
        kernels.profile(record, x, piece, w, scaling, out[first:last])

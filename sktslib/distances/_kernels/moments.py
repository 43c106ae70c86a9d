"""Moments of all windows of a sequence, their rounding errors, and the normalization of windows.

Running sums hold the samples of one window only, relative to one of these samples, so a huge value next to a window
does not affect it (see `mass` for their use). `moments` bounds the error of each window, and callers compute windows
whose error is too large in another way. It supports equal weights only; the exact functions below support weights. A
value is then normalized by one product and one sum.
"""

import numpy as np

from .compile import block_size, inner, kernel, step
from .simd import copy, fill, maximum, minimum

EPS = 2.0**-52
TINY, HUGE = 1e-270, 1e300  # sums of squares between them lost nothing to underflow, and did not overflow
SMALLEST = 1e-130  # a value whose square is far from underflow
# Terms summed in a row; longer running sums are sums of partial sums, which reduces their error.
RUN = block_size(1024, 4)


@inner
def _run_both(y, b, m, before, after):
    """Fill in the running sums of a block of m samples, forward from sample b and backward from sample b + m.

    after[:, k] = sums of y - y[b] and of its square over the k samples from b on. before[:, m - k] = sums of
    y - y[b + m] and of its square over the k samples before b + m. One loop computes both runs, because the additions
    within a run have to wait for each other.
    """
    base, other = y[b], y[min(b + m, y.shape[0] - 1)]
    for k0 in range(0, m, RUN):
        k1 = min(k0 + RUN, m)
        # Slices, because checking an index that may be negative costs as much as the sums.
        back, on = y[b + m - k1 : b + m - k0][::-1], y[b + k0 : b + k1]
        before_s, before_q = before[0, m - k1 : m - k0][::-1], before[1, m - k1 : m - k0][::-1]
        after_s, after_q = after[0, k0 + 1 : k1 + 1], after[1, k0 + 1 : k1 + 1]
        s = q = s2 = q2 = 0.0
        done_s, done_q, done_s2, done_q2 = before[0, m - k0], before[1, m - k0], after[0, k0], after[1, k0]
        for k in range(on.shape[0]):
            d, e = back[k] - other, on[k] - base
            s += d
            q += d * d
            s2 += e
            q2 += e * e
            before_s[k], before_q[k] = done_s + s, done_q + q
            after_s[k], after_q[k] = done_s2 + s2, done_q2 + q2


def apart(size):
    """Return `size` plus padding, such that equal indices of neighboring rows fall into different cache sets."""
    return size + (85 - size) % 512


_apart = inner(apart)


@kernel
def rounding(m):
    """Return the relative error of a running sum of m terms."""
    return EPS * 2.0 * (min(m, RUN) ** 0.5 + m / RUN + 4.0)


@kernel(error_model="numpy")
def moments(y, m, origin, first, mean, spread, error):
    """Fill in the moments of the windows of m samples from `first` on: mean, sum of squared deviations, and its error.

    `mean` may be None. The `origin` is subtracted from the means, so that they keep their digits under an offset.

    Each window that contains the sample b is split there into two parts. Their sums run away from b and are relative to
    y[b]. So no sample outside of a window enters its sums. And because y[b] is a sample of the window, subtracting the
    share of the mean loses at most a factor m of accuracy.
    """
    end = first + spread.shape[0]  # of the windows' starts
    room = np.empty((3, 2, _apart(m + 1)))
    before, next_before, after = room[0], room[1], room[2]
    for k in range(m + 1):  # numba's zeros take a quarter of a second to compile
        for r in range(2):
            before[r, k] = next_before[r, k] = after[r, k] = 0.0
    relative = rounding(m)
    share = 1.0 / m
    for b in range(first, end + m - 1, m):
        low, high = max(b - m + 1, first), min(b, end - 1)
        base = y[b] - origin
        _run_both(y, b, high + m - b, next_before, after)
        last = low + m - b
        s0, q0 = before[0, last : high + m - b + 1], before[1, last : high + m - b + 1]
        s1, q1 = after[0, last : high + m - b + 1], after[1, last : high + m - b + 1]
        part = slice(low - first, high - first + 1)
        deviations, wrong = spread[part], error[part]
        for k in range(s1.shape[0]):
            total, squares = s0[k] + s1[k], q0[k] + q1[k]
            deviations[k] = squares - total * total * share
            wrong[k] = squares * relative
        if mean is not None:
            middle = mean[part]
            for k in range(s1.shape[0]):
                middle[k] = base + (s0[k] + s1[k]) * share
        before, next_before = next_before, before


@inner
def _end_of_run(y, at, known, most):
    """Return the end of the run of equal samples from `at` on, at least `known` and at most `most`."""
    end = max(known, at + 1)
    while end < most and y[end] == y[at]:
        end += 1
    return end


@kernel
def find_constants(y, m, first, products, mean, spread, error):
    """Set the spread of constant windows to 0; the error becomes infinite where squares over- or underflow instead.

    With `products` the sum of squares of a window counts, too, which may underflow.
    """
    count = 0
    for j in range(spread.shape[0]):
        count += not spread[j] > TINY
    if count == 0:
        return
    end = first
    for j in range(spread.shape[0]):
        if not spread[j] > TINY:
            end = _end_of_run(y, first + j, end, first + spread.shape[0] + m - 1)
            sure = end >= first + j + m and not (products and 0.0 < abs(mean[j]) < SMALLEST)
            spread[j], error[j] = 0.0, 0.0 if sure else np.inf


INF = np.inf
PIECE_OF_WINDOWS = block_size(512, 8)  # windows at a time


@kernel(error_model="numpy")
def standardize_windows(y, m, first, uncertainty, scaling, mean, spread, error, scale, shift):
    """Fill in scale and shift, which normalize a value to value * scale + shift, for the windows from `first` on.

    `scaling` 1: "mean", 2: "zscore". The scale is NaN where normalized values may be wrong by more than the
    `uncertainty`; return the number of these windows.
    """
    relative, size = 2.0**-52 * 4.0 * (m + 4.0), mean.shape[0]
    doubt, longest, total = np.empty(size), np.sqrt(m), float(m)
    share = 1.0 / total
    if scaling == 2:
        for j in range(size):
            scale[j] = np.sqrt(total / max(spread[j], 0.0))
        for j in range(size):  # the mean's error is a geometric mean, bounded by the arithmetic one
            wrong = error[j] * scale[j] * scale[j] * share
            doubt[j] = (wrong + 2.0**-47) * longest + 0.5 * (wrong + relative) + 2.0**-47 * abs(mean[j]) * scale[j]
        for j in range(size):  # the error is unknown where squares over- or underflow
            doubt[j] = doubt[j] if (spread[j] > TINY) & (spread[j] < HUGE) else INF
    else:
        for j in range(size):
            apart = np.sqrt(max(spread[j], 0.0))
            doubt[j] = np.sqrt(relative / total * error[j]) + 2.0**-47 * (abs(mean[j]) + apart)
        scale[:] = 1.0
    for j in range(size):
        shift[j] = -mean[j] * scale[j]
    unknown = 0
    for j in range(size):  # vectorized, because usually no window is unknown
        unknown += not ((doubt[j] <= uncertainty) & (scale[j] < INF))
    if unknown == 0:
        return 0
    unknown, end = 0, first
    for j in range(size):
        if not (doubt[j] <= uncertainty and scale[j] < INF):
            end = _end_of_run(y, first + j, end, first + size + m - 1)
            constant = end >= first + j + m
            scale[j], shift[j] = (0.0 if constant else np.nan), 0.0
            unknown += not constant
    return unknown


@inner(error_model="numpy")
def scale_and_shift(windows, m, first, size, room, made):
    """Fill in scale and shift (`made`) of `size` windows from `first` on, in all channels.

    `windows` are (samples, scaling, uncertainty, scale, shift). If scale and shift have entries, they are copied,
    otherwise they are computed. Return an upper limit of the number of unknown windows, see `standardize_windows`.
    """
    y, scaling, uncertainty, scale, shift = windows
    unknown = 0
    for k in range(y.shape[0]):
        s, c = made[0][k, :size], made[1][k, :size]
        if scale.shape[1] > 0:
            copy(scale[k], first, first + size, s, 0)
            copy(shift[k], first, first + size, c, 0)
            unknown = size
        elif scaling == 0:
            fill(s, 0, size, 1.0)
            fill(c, 0, size, 0.0)
        else:
            mean, spread, error = room[0, k, :size], room[1, k, :size], room[2, k, :size]
            moments(y[k], m, 0.0, first, mean, spread, error)
            unknown += standardize_windows(y[k], m, first, uncertainty, scaling, mean, spread, error, s, c)
    return unknown


# ----------------------------------------------------- exact moments, relative to one sample of each window
@step
def normalized(v, scale, by_range):
    """Return v * scale, or v / scale if `by_range` is True (else None); v is relative to a mean or a minimum."""
    if by_range is not None:  # divided, because with a product the largest value would not be exactly 1
        return v / scale if scale > 0.0 else 0.0
    return v * scale


@step
def share_of(share, i):
    """Return the interpolation share of point i of a window; None if points are samples without interpolation."""
    return None if share is None else share[i]


@inner
def _above(y, at, share, base, row):
    """Fill `row` with one point of each window minus its `base`.

    The base is subtracted before interpolation, so that an offset costs no digits.
    """
    v = y[at : at + row.shape[0]]
    if share is None or share == 0.0:
        for s in range(row.shape[0]):
            row[s] = v[s] - base[s]
        return
    after = y[at + 1 : at + 1 + row.shape[0]]
    for s in range(row.shape[0]):
        row[s] = (v[s] - base[s]) + (after[s] - v[s]) * share


def weighted_windows(y, w, first, scaling, count):
    """Return the mean and the inverse deviation or range of `count` windows of one channel, from `first` on.

    Their only error is the rounding of sums over points of the window. Constant windows have an inverse of 0.
    """
    moments = np.empty((3, count))
    exact_moments(y, w, first, np.arange(len(w)), None, scaling, 0.0, moments, np.empty((3, PIECE_OF_WINDOWS)))
    scale = moments[2]
    return moments[0] + moments[1], np.divide(1.0, scale, out=scale, where=scale > 0.0) if scaling == 3 else scale


@kernel(error_model="numpy")
def exact_moments(y, w, first, left, share, scaling, alike, moments, room):
    """Fill `moments` with rows shift, rest and scale, which normalize the windows from `first` on, in one channel.

    See `_exact_moments`; `room` is a buffer (3, PIECE_OF_WINDOWS).
    """
    for at in range(0, moments.shape[1], PIECE_OF_WINDOWS):
        to = at + PIECE_OF_WINDOWS  # slices stop at the end
        shift, rest, scale = moments[0, at:to], moments[1, at:to], moments[2, at:to]
        size = shift.shape[0]
        rooms = room[0, :size], room[1, :size], room[2, :size]
        _exact_moments(y, w, first + at, left, share, scaling, alike, shift, rest, scale, *rooms)


@inner
def _exact_moments(y, w, first, left, share, scaling, alike, shift, rest, scale, low, high, row):
    """Fill in shift, rest and scale, which normalize each window of a block, in one channel.

    A point becomes (point - shift - rest) * scale, or with a range its quotient by the scale. One sample of the window
    is subtracted before summing, so that an offset costs no digits. The mean is kept as the sum of two numbers, `shift`
    and `rest`, because one float is not exact enough. A window is constant if its range is at most the share `alike` of
    its largest absolute value. Without a `share` the points are consecutive samples.
    """
    m, size, even = w.shape[0], shift.shape[0], share is None or alike == 0.0
    base, total, heavy = rest, 0.0, 0
    while heavy < m - 1 and w[heavy] == 0.0:
        heavy += 1
    for s in range(size):
        low[s], high[s], shift[s] = INF, -INF, 0.0
        base[s] = y[first + left[heavy] + s]
    for i in range(heavy, m):
        wi = w[i]
        if wi > 0.0:
            total += wi
            v = y[first + left[i] : first + left[i] + size]
            if even:
                for s in range(size):
                    low[s] = minimum(low[s], v[s])
                    high[s] = maximum(high[s], v[s])
                    shift[s] += wi * (v[s] - base[s])
            else:
                _above(y, first + left[i], share_of(share, i), base, row)
                for s in range(size):
                    low[s] = minimum(low[s], row[s])
                    high[s] = maximum(high[s], row[s])
                    shift[s] += wi * row[s]
    total = total if total > 0.0 else 1.0
    for s in range(size):
        width, lift = high[s] - low[s], 0.0 if even else base[s]  # interpolated points are relative to the base
        varies = width > 0.0 and width > alike * maximum(abs(low[s] + lift), abs(high[s] + lift))
        scale[s] = width if varies else 0.0  # a constant window: its points become zeros
    for s in range(size):
        one, mean = base[s], shift[s] / total
        shift[s] = one + mean
        part = shift[s] - one
        rest[s] = (one - (shift[s] - part)) + (mean - part)  # the rounding error of that sum
        if scaling == 3:
            shift[s], rest[s] = (low[s], 0.0) if even else (one, low[s])
        elif scaling == 1:
            scale[s] = 1.0 if scale[s] > 0.0 else 0.0
    if scaling == 2:
        _deviations(y, w, first, left, share, total, shift, rest, scale, low, row)


@inner
def _deviations(y, w, first, left, share, total, shift, rest, scale, spread, row):
    """Fill `rest` with the mean of the windows' points minus their shift, and `scale` with the inverse deviation."""
    m, size = w.shape[0], shift.shape[0]
    for s in range(size):
        rest[s] = spread[s] = 0.0
    for i in range(m):
        wi = w[i]
        _above(y, first + left[i], share_of(share, i), shift, row)
        for s in range(size):
            rest[s] += wi * row[s]
            spread[s] += wi * row[s] * row[s]
    for s in range(size):
        rest[s] /= total
        variance = spread[s] / total - rest[s] * rest[s]
        scale[s] = 1.0 / np.sqrt(variance) if scale[s] > 0.0 and variance > 0.0 else 0.0


@inner
def normalized_row(y, at, share, shift, rest, scale, by_range, out):
    """Fill `out` with one normalized point of each window."""
    _above(y, at, share, shift, out)
    for s in range(out.shape[0]):
        out[s] = normalized(out[s] - rest[s], scale[s], by_range)


def normalize_one(x, w, scaling):
    """Return one series normalized as searches normalize windows: a copy of it in a sequence gets identical values."""
    return normalize_window(x, np.arange(x.shape[1]), None, w, scaling, 0.0)


def normalize_window(y, left, share, w, scaling, alike):
    """Return normalized windows (..., channels, n), bit for bit as `exact_moments` does those of a sequence.

    For the parameters see `lockstep.stretched`.
    """
    out = np.empty((*y.shape[:-1], len(left)))
    for k, weight in enumerate(w):
        out[..., k, :] = _normalize_channel(y[..., k, :], left, share, weight, scaling, alike)
    return out


@np.errstate(all="ignore")  # as in kernels
def _normalize_channel(y, left, share, w, scaling, alike):
    seen = np.flatnonzero(w > 0.0)
    if not len(seen):
        return 0.0
    share = None if alike == 0.0 else share
    weight, places, shares = w[seen], left[seen], None if share is None else share[seen]
    base, total = y[..., places[:1]], total_of(weight)
    v = y[..., places] if share is None else points_at(y, places, shares, base)
    above, lift = (v - base, 0.0) if share is None else (v, base)
    low, high = v.min(axis=-1, keepdims=True), v.max(axis=-1, keepdims=True)
    width, mean = high - low, total_of(weight * above) / total
    varies = width > 0.0
    if alike > 0.0:
        varies &= width > alike * np.maximum(abs(low + lift), abs(high + lift))
    shift, scale = base + mean, np.where(varies, width, 0.0)
    part = shift - base
    rest = (base - (shift - part)) + (mean - part)
    if scaling == 1:
        scale = np.where(varies, 1.0, 0.0)
    elif scaling == 2:
        above = v - shift if share is None else points_at(y, places, shares, shift)
        rest = total_of(weight * above) / total
        variance = total_of(weight * above * above) / total - rest * rest
        scale = np.where(varies & (variance > 0.0), 1.0 / np.sqrt(variance), 0.0)
    elif scaling == 3:
        shift, rest = (low, 0.0) if share is None else (base, low)
    v = (points_at(y, left, share, shift) if scaling != 2 or len(seen) < len(w) else above) - rest
    return v * scale if scaling <= 2 else np.where(scale > 0.0, v / scale, 0.0)


def total_of(values):
    """Return sums along the last axis (kept as length 1), added in the order of the values.

    numpy's `sum` adds pairwise, so its rounding would differ from that of kernels.
    """
    return values.cumsum(axis=-1)[..., -1:]


def points_at(y, left, share, base=0.0):
    """Return the points of a series at a `share` of the step after the samples `left`, minus a `base`."""
    before = y[..., left]
    if share is None:
        return before - base
    after = y[..., np.minimum(left + 1, y.shape[-1] - 1)]
    return np.where(share == 0.0, before - base, (before - base) + (after - before) * share)

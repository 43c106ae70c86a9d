"""Moments of all windows of a sequence, the normalization that they give, and the windows that rounding may spoil.

See `mass` for the scheme. Running sums hold the samples of their own window alone, relative to a sample of the window,
so a huge value next to a window leaves no trace in it. `moments` knows equal weights only; other functions know
weighted points. A value is then normalized by one product and one sum. The moments have errors that follow from their
roundings, and windows whose error is too large for a purpose are named.
"""

import numpy as np

from .compile import block_size, inner, kernel, step
from .simd import copy, fill, maximum, minimum

EPS = 2.0**-52
TINY, HUGE = 1e-270, 1e300  # sums of squares between them lost nothing to underflow, and did not overflow
SMALLEST = 1e-130  # a size whose square is far from underflow
# Terms added in a row; longer running sums are added up from such parts, for the sake of their error.
RUN = block_size(1024, 4)


@inner
def _run_both(y, b, m, before, after):
    """Fill in the running sums of a block of m samples forwards from sample b and backwards from sample b + m, if any.

    after[:, k] = sums of y - y[b] and of its square over the k samples from b on. before[:, m - k] = those of
    y - y[b + m] over the k samples before b + m.

    Both runs at once, since either waits for its own sums.
    """
    base, other = y[b], y[min(b + m, y.shape[0] - 1)]
    for k0 in range(0, m, RUN):
        k1 = min(k0 + RUN, m)
        # Slices, because an index that might be negative to the compiler costs as much as the sums.
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
    """Return the length of rows side by side for sums of a `size`.

    It is such that the same places of two rows are not the same to the cache.
    """
    return size + (85 - size) % 512


_apart = inner(apart)


@kernel
def rounding(m):
    """Return the relative error of a running sum of m terms."""
    return EPS * 2.0 * (min(m, RUN) ** 0.5 + m / RUN + 4.0)


@kernel(error_model="numpy")
def moments(y, m, origin, first, mean, spread, error):
    """Compute the moments of windows of m samples, their means less an `origin`; `mean` may be None.

    The moments are the mean and the sum of squared deviations of the windows that start at `first` and after. Less the
    origin, means keep their digits under an offset.

    All windows that hold the sample `b` are split there into what lies before it and the rest; the sums of either part
    run away from b and are taken relative to y[b]. So no sample outside of a window ever enters its sums, and as y[b]
    is a sample of the window, at most a factor m is lost where the mean's share is subtracted.
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
    """Return the end of the equal samples from `at` on, which are known up to some sample; `most` is far enough."""
    end = max(known, at + 1)
    while end < most and y[end] == y[at]:
        end += 1
    return end


@kernel
def find_constants(y, m, first, products, mean, spread, error):
    """Distinguish constant windows from those whose squares over- or underflow, whose error is infinite.

    With `products` a window's own square counts, which may underflow too.
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
    """Fill in the factor and the summand that normalize each window from the `first` on; count the unknown ones.

    `scaling` 1: "mean", 2: "zscore". No sample is farther from the mean than the root of the spread. Where values would
    be wrong by more than the uncertainty the factor is NaN.
    """
    relative, size = 2.0**-52 * 4.0 * (m + 4.0), mean.shape[0]
    doubt, longest, total = np.empty(size), np.sqrt(m), float(m)
    share = 1.0 / total
    if scaling == 2:
        for j in range(size):
            scale[j] = np.sqrt(total / max(spread[j], 0.0))
        for j in range(size):  # the mean's error is a geometric mean, and less than the arithmetic one
            wrong = error[j] * scale[j] * scale[j] * share
            doubt[j] = (wrong + 2.0**-47) * longest + 0.5 * (wrong + relative) + 2.0**-47 * abs(mean[j]) * scale[j]
        for j in range(size):  # of squares that over- or underflow no error is known
            doubt[j] = doubt[j] if (spread[j] > TINY) & (spread[j] < HUGE) else INF
    else:
        for j in range(size):
            apart = np.sqrt(max(spread[j], 0.0))
            doubt[j] = np.sqrt(relative / total * error[j]) + 2.0**-47 * (abs(mean[j]) + apart)
        scale[:] = 1.0
    for j in range(size):
        shift[j] = -mean[j] * scale[j]
    unknown = 0
    for j in range(size):  # mostly there is no such window, which vectors show
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
    """Fill scale and shift, `made`, of so many windows from the `first` on; how many may be unknown in some channel.

    `windows` are (samples, scaling, uncertainty, scale, shift), the last two without entries if they are not known.
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


# ------------------------------------------------------------------ exact, less one sample of each window
@step
def normalized(v, scale, by_range):
    """Return a value above its mean or its window's minimum, normalized; `by_range` is True or None."""
    if by_range is not None:  # a quotient, because a product with the inverse would not make the largest value 1
        return v / scale if scale > 0.0 else 0.0
    return v * scale


@step
def share_of(share, i):
    """Return the share of the next sample in point i of a window; None where points are samples."""
    return None if share is None else share[i]


@inner
def _above(y, at, share, base, row):
    """Fill in a point of each window less a `base`, which is subtracted first, so that an offset costs no digits."""
    v = y[at : at + row.shape[0]]
    if share is None or share == 0.0:
        for s in range(row.shape[0]):
            row[s] = v[s] - base[s]
        return
    after = y[at + 1 : at + 1 + row.shape[0]]
    for s in range(row.shape[0]):
        row[s] = (v[s] - base[s]) + (after[s] - v[s]) * share


def weighted_windows(y, w, first, scaling, count):
    """Return mean and inverse deviation or range of windows of one channel.

    They are exact but for the rounding of sums of their own points; constant windows have an inverse of 0.
    """
    moments = np.empty((3, count))
    exact_moments(y, w, first, np.arange(len(w)), None, scaling, 0.0, moments, np.empty((3, PIECE_OF_WINDOWS)))
    scale = moments[2]
    return moments[0] + moments[1], np.divide(1.0, scale, out=scale, where=scale > 0.0) if scaling == 3 else scale


@kernel(error_model="numpy")
def exact_moments(y, w, first, left, share, scaling, alike, moments, room):
    """Shift, rest and scale that normalize the windows from `first` on, in one channel; see `_exact_moments`.

    They are the rows of `moments`; there is `room` for three numbers of each window of a piece.
    """
    for at in range(0, moments.shape[1], PIECE_OF_WINDOWS):
        to = at + PIECE_OF_WINDOWS  # or the end, as slices are
        shift, rest, scale = moments[0, at:to], moments[1, at:to], moments[2, at:to]
        size = shift.shape[0]
        rooms = room[0, :size], room[1, :size], room[2, :size]
        _exact_moments(y, w, first + at, left, share, scaling, alike, shift, rest, scale, *rooms)


@inner
def _exact_moments(y, w, first, left, share, scaling, alike, shift, rest, scale, low, high, row):
    """Shift, rest and scale that normalize each window of a block, in one channel.

    Samples are added up less one of the window, so that an offset costs no digits; and as the mean lies between two
    numbers, it is kept as two, `shift` and `rest`. A window is constant if its range is not above the share `alike` of
    its largest size. Without a `share` the points are the samples in a row.
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
        width, lift = high[s] - low[s], 0.0 if even else base[s]  # the range of points between samples is less the base
        varies = width > 0.0 and width > alike * maximum(abs(low[s] + lift), abs(high[s] + lift))
        scale[s] = width if varies else 0.0  # a constant window: its points become zeros
    for s in range(size):
        one, mean = base[s], shift[s] / total
        shift[s] = one + mean
        part = shift[s] - one
        rest[s] = (one - (shift[s] - part)) + (mean - part)  # what that sum lost to rounding
        if scaling == 3:
            shift[s], rest[s] = (low[s], 0.0) if even else (one, low[s])
        elif scaling == 1:
            scale[s] = 1.0 if scale[s] > 0.0 else 0.0
    if scaling == 2:
        _deviations(y, w, first, left, share, total, shift, rest, scale, low, row)


@inner
def _deviations(y, w, first, left, share, total, shift, rest, scale, spread, row):
    """Make `rest` the mean of what the windows' points are above their shift, and `scale` their inverse deviation."""
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
    """Fill in a point of each window, normalized."""
    _above(y, at, share, shift, out)
    for s in range(out.shape[0]):
        out[s] = normalized(out[s] - rest[s], scale[s], by_range)


def normalize_one(x, w, scaling):
    """Return one series normalized as searches do its windows: a copy of it in a sequence is the same to the bit."""
    return normalize_window(x, np.arange(x.shape[1]), None, w, scaling, 0.0)


def normalize_window(y, left, share, w, scaling, alike):
    """Return series (.., channels, n) normalized as the windows that they are, to the bit as `exact_moments` does many.

    See `lockstep.stretched`.
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
    """Return sums along the last axis, kept, in the order of the values: numpy's sum is of pairs of parts."""
    return values.cumsum(axis=-1)[..., -1:]


def points_at(y, left, share, base=0.0):
    """Return the points that are a share of a step behind the samples `left` of a series, less a `base`."""
    before = y[..., left]
    if share is None:
        return before - base
    after = y[..., np.minimum(left + 1, y.shape[-1] - 1)]
    return np.where(share == 0.0, before - base, (before - base) + (after - before) * share)

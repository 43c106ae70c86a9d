"""What normalizes each window of a sequence, so that a value is known by one product and one sum.

Beside `running_moments.moments`, which knows equal weights. Values are as far off as the moments' roundings take them,
and windows that are too far off for a purpose are named.
"""

import numpy as np

from .compilation import block_size, inner, kernel, step
from .running_moments import HUGE, TINY, moments_about
from .simd import maximum, minimum
from .simd_memory import copy, fill

INF = np.inf
NARROW, WIDE = 1e-140, 1e140  # ranges between them can be squared and added up
PIECE = block_size(512, 8)  # windows at a time


@kernel
def direct_moments(y, w, first, mean, spread, error, low, high):
    """Weighted moments of the windows that start at `first` and after, as `running_moments.moments`; and their range.

    `spread` is the weighted sum of squared deviations from the mean, `error` bounds its error.
    """
    m, total, heavy = w.shape[0], w.sum(), int(np.argmax(w))
    relative = 2.0**-52 * 4.0 * (m + 4.0)
    for begin in range(0, mean.shape[0], PIECE):
        end = min(begin + PIECE, mean.shape[0])
        s, q, a, b = mean[begin:end], spread[begin:end], low[begin:end], high[begin:end]
        base = y[first + begin + heavy : first + end + heavy]
        s[:], q[:], a[:], b[:] = 0.0, 0.0, base, base
        for i in range(m):
            if w[i] > 0.0:
                v, weight = y[first + begin + i : first + end + i], w[i]
                for k in range(v.shape[0]):
                    d = v[k] - base[k]
                    s[k] += weight * d
                    q[k] += weight * d * d
                    a[k] = min(a[k], v[k])
                    b[k] = max(b[k], v[k])
        for k in range(end - begin):
            error[begin + k] = q[k] * relative
            q[k] -= s[k] * s[k] / total
            s[k] = base[k] + s[k] / total


@kernel(linked=True, error_model="numpy")
def standardize(y, m, first, total, most, uncertainty, how, mean, spread, error, low, high, scale, shift):
    """The factor and the summand that normalize each window that starts at `first` and after; counts those unknown.

    `how` 1: "mean", 2: "zscore", 3: "minmax"; `low` and `high` are empty for equal weights, which leave no sample
    farther from the mean than the root of the spread. For other weights `most` holds the largest size of a sample.
    Where values would be wrong by more than the uncertainty the factor is NaN.
    """
    relative, size = 2.0**-52 * 4.0 * (m + 4.0), mean.shape[0]
    doubt, longest, plain, share = np.empty(size), np.sqrt(m), not low.shape[0], 1.0 / total
    if how == 2:
        for j in range(size):
            scale[j] = np.sqrt(total / max(spread[j], 0.0))
        for j in range(size):  # the mean's error is a geometric mean, and less than the arithmetic one
            wrong, apart = error[j] * scale[j] * scale[j] * share, longest if plain else 2.0 * most[j] * scale[j]
            doubt[j] = (wrong + 2.0**-47) * apart + 0.5 * (wrong + relative) + 2.0**-47 * abs(mean[j]) * scale[j]
        for j in range(size):  # of squares that over- or underflow no error is known
            doubt[j] = doubt[j] if (spread[j] > TINY) & (spread[j] < HUGE) else INF
    elif how == 3:
        for j in range(size):
            scale[j] = 1.0 / (high[j] - low[j])
        for j in range(size):
            mean[j] = low[j]
            doubt[j] = 2.0**-47 * most[j] * scale[j]
    else:
        for j in range(size):
            apart = np.sqrt(max(spread[j], 0.0)) if plain else most[j]
            doubt[j] = np.sqrt(relative / total * error[j]) + 2.0**-47 * (abs(mean[j]) + apart)
        scale[:] = 1.0
    for j in range(size):
        shift[j] = -mean[j] * scale[j]
    unknown = 0
    for j in range(size):  # most often there are none, and vectors tell
        unknown += not ((doubt[j] <= uncertainty) & (scale[j] < INF))
    if unknown == 0:
        return 0
    unknown = 0
    for j in range(size):
        if not (doubt[j] <= uncertainty and scale[j] < INF):
            constant = True
            if not plain:
                constant = low[j] == high[j]
            else:
                for i in range(first + j + 1, first + j + m):
                    if y[i] != y[first + j]:
                        constant = False
                        break
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
            mean, spread, error, none = room[0, k, :size], room[1, k, :size], room[2, k, :size], room[0, k, :0]
            moments_about(y[k], m, 0.0, first, mean, spread, error)
            about = mean, spread, error, none, none
            unknown += standardize(y[k], m, first, float(m), none, uncertainty, scaling, *about, s, c)
    return unknown


# ------------------------------------------------------------------ exact, less one sample of each window
def power_of_two(size):
    """A factor by which a size above 0 comes near 1, or as near as factors reach; products with it are exact."""
    return np.ldexp(1.0, np.minimum(-np.frexp(size)[1], 1000))


@step
def normalized(v, scale, by_range):
    """A value above its mean or its window's minimum, normalized; `by_range` is True or None."""
    if by_range is not None:  # a quotient, because a product with the inverse would not make the largest value 1
        return v / scale if scale > 0.0 else 0.0
    return v * scale


@step
def share_of(share, i):
    """The share of the next sample in point i of a window; None where points are samples."""
    return None if share is None else share[i]


@inner
def _above(y, at, share, base, row):
    """A point of each window less a `base`, which is taken off first, so that an offset costs no digits."""
    v = y[at : at + row.shape[0]]
    if share is None or share == 0.0:
        for s in range(row.shape[0]):
            row[s] = v[s] - base[s]
        return
    after = y[at + 1 : at + 1 + row.shape[0]]
    for s in range(row.shape[0]):
        row[s] = (v[s] - base[s]) + (after[s] - v[s]) * share


def room_for(channels, count):
    """Room for what `exact_moments` tells of so many windows in each channel, to work in, and for that of all."""
    return np.empty((channels, 5, count)), np.empty(PIECE), np.ones(count, bool), np.zeros(count, bool)


@kernel(error_model="numpy")
def exact_moments(y, w, first, left, share, scaling, alike, moments, row, constant, odd):
    """Shift, rest and scale that normalize the windows from `first` on, in one channel; see `_exact_moments`.

    They are the first rows of `moments`; the last one tells the windows' ranges.
    """
    for at in range(0, constant.shape[0], PIECE):
        to = at + PIECE  # or the end, as slices are
        shift, rest, scale = moments[0, at:to], moments[1, at:to], moments[2, at:to]
        ranges = moments[3, at:to], moments[4, at:to], row[: shift.shape[0]], constant[at:to], odd[at:to]
        _exact_moments(y, w, first + at, left, share, scaling, alike, shift, rest, scale, *ranges)


@inner
def _exact_moments(y, w, first, left, share, scaling, alike, shift, rest, scale, low, high, row, constant, odd):
    """Shift, rest and scale that normalize each window of a block, in one channel.

    Samples are added up less one of the window, so that an offset costs no digits; and as the mean lies between two
    numbers, it is kept as two, `shift` and `rest`. A window is constant if its range is not above the share `alike` of
    its largest size. `odd` marks windows whose squares over- or underflow, `constant` those that were constant in all
    channels so far. Leaves their ranges in `high`. Without a `share` the points are the samples in a row.
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
        constant[s] &= not varies
        odd[s] |= varies & ((width < NARROW) | (width > WIDE)) & (scaling == 2)
        high[s] = width
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
    """A point of each window, normalized."""
    _above(y, at, share, shift, out)
    for s in range(out.shape[0]):
        out[s] = normalized(out[s] - rest[s], scale[s], by_range)


def normalize_one(x, w, scaling, out):
    """Normalize one series as `profile` does its windows: a copy of it in a sequence is the same to the bit."""
    normalize_window(x, np.arange(x.shape[1]), None, w, scaling, 0.0, out)


def normalize_window(y, left, share, w, scaling, alike, out):
    """Normalize a series as the window that it is, see `stretched`; by a power of two where squares leave float64."""
    for row, weight, to in zip(y, w, out, strict=True):
        width = _normalize_channel(row, left, share, weight, scaling, alike, to)
        if width > 0.0:
            _normalize_channel(row * power_of_two(width), left, share, weight, scaling, alike, to)


def _normalize_channel(y, left, share, w, scaling, alike, out):
    """The same for one channel; its range if its squares over- or underflow, else 0."""
    (moments,), *room = room_for(1, 1)
    exact_moments(y, w, int(left[0]), left, share, scaling, alike, moments, *room)
    shift, rest, scale, _, high = moments
    with np.errstate(all="ignore"):  # as in kernels
        v = points_at(y, left, share, shift) - rest
        if scaling <= 2:
            out[:] = v * scale
        else:
            out[:] = v / scale if scale[0] > 0.0 else 0.0
    return high[0] if room[-1][0] else 0.0


def points_at(y, left, share, base=0.0):
    """The points that lie a share of a step behind the samples `left` of a series, less a `base`."""
    before = y[..., left]
    if share is None:
        return before - base
    after = y[..., np.minimum(left + 1, y.shape[-1] - 1)]
    return np.where(share == 0.0, before - base, (before - base) + (after - before) * share)

"""What normalises each window of a sequence, so that a value is known by one product and one sum.

Beside `_running_moments.moments`, which knows equal weights. Values are as far off as the moments' roundings take them,
and windows that are too far off for a purpose are named.
"""

import numpy as np

from .compilation import block_size, kernel
from .running_moments import HUGE, TINY

INF = np.inf
PIECE = block_size(512, 8)  # windows at a time


@kernel
def direct_moments(y, w, first, mean, spread, error, low, high):
    """Weighted moments of the windows that start at `first` and after, as `_running_moments.moments`; and their range.

    `spread` is the weighted sum of squared deviations from the mean, `error` bounds its error.
    """
    m, total, heavy = w.shape[0], w.sum(), int(np.argmax(w))
    relative = 2.0**-52 * 4.0 * (m + 4.0)
    for begin in range(0, mean.shape[0], PIECE):
        end = min(begin + PIECE, mean.shape[0])
        s, q, a, b = mean[begin:end], spread[begin:end], low[begin:end], high[begin:end]
        level = y[first + begin + heavy : first + end + heavy]
        s[:], q[:], a[:], b[:] = 0.0, 0.0, level, level
        for i in range(m):
            if w[i] > 0.0:
                v, weight = y[first + begin + i : first + end + i], w[i]
                for k in range(v.shape[0]):
                    d = v[k] - level[k]
                    s[k] += weight * d
                    q[k] += weight * d * d
                    a[k] = min(a[k], v[k])
                    b[k] = max(b[k], v[k])
        for k in range(end - begin):
            error[begin + k] = q[k] * relative
            q[k] -= s[k] * s[k] / total
            s[k] = level[k] + s[k] / total


@kernel(error_model="numpy")
def standardise(y, m, first, total, most, blur, how, mean, spread, error, low, high, scale, shift):
    """The factor and the summand that normalise each window that starts at `first` and after; counts those unknown.

    `how` 1: "mean", 2: "zscore", 3: "minmax"; `low` and `high` are empty for equal weights, which leave no sample
    farther from the mean than the root of the spread. For other weights `most` holds the largest size of a sample.
    Where values would be wrong by more than the blur the factor is NaN.
    """
    relative, size = 2.0**-52 * 4.0 * (m + 4.0), mean.shape[0]
    doubt, longest, plain = np.empty(size), np.sqrt(m), not low.shape[0]
    if how == 2:
        for j in range(size):
            scale[j] = np.sqrt(total / max(spread[j], 0.0))
        for j in range(size):  # the mean's error is a geometric mean, and less than the arithmetic one
            wrong, apart = error[j] * scale[j] * scale[j] / total, longest if plain else 2.0 * most[j] * scale[j]
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
    for j in range(size):
        if not (doubt[j] <= blur and scale[j] < INF):
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

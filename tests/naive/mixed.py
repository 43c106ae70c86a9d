"""Different distances for different channels: weighted sums."""

import numpy as np

from .lockstep_distances import lockstep
from .searching import observed_windows, windows
from .series import Divided, points, relative
from .table import LOCKSTEP
from .warping import elastic


def of_parts(parts, x, weight):
    """Share, name, channels, weights and parameters of what counts of parts (channels, share, name, parameters)."""
    W = relative(weight, *points(x).shape)
    for channels, share, name, params in parts:
        w = W[:, list(channels)]
        if share > 0 and w.any():
            yield share, name, list(channels), Divided(w), params


def mixed_distance(parts, x, y, weight=None):
    """The weighted sum of the distances of the channels of two series."""
    total = 0.0
    for share, name, channels, w, params in of_parts(parts, x, weight):
        a, b = points(x)[:, channels], points(y)[:, channels]
        far = lockstep(name, a, b, w, **params) if name in LOCKSTEP else elastic(name, a, b, w, **params).distance
        total += share * far
    return total


def mixed_windows(parts, x, y, weight=None, *, normalize=None):
    """The same of all windows, where the series may have missing values (NaN), which concern their channel alone."""
    total = np.zeros(len(y) - len(x) + 1)
    for share, name, channels, w, params in of_parts(parts, x, weight):
        a, b = points(x)[:, channels], points(y)[:, channels]
        search = observed_windows if np.isnan(b).any() else windows
        total += share * search(name, a, b, w, normalize=normalize, **params)
    return total

"""Bounds of the distance of each window from the nearest other one."""

from itertools import pairwise

import numpy as np
from joblib import delayed
from numpy.lib.stride_tricks import sliding_window_view

from ...distances._kernels.lockstep import matrix_profile
from ...distances._kernels.lockstep.matrix_profile import DIAGONALS, ROOM
from ...distances._kernels.running_moments import moments
from ...utils._jobs import count_jobs, in_jobs
from .._profiles.compared_windows import less_offset

CERTAIN = 1e-10  # relative error up to which a running sum of squares is taken
MARGIN = 4 * CERTAIN  # of a correlation: what such sums, and the roots of two, may be wrong by
TOGETHER = 2**20  # samples of windows whose moments are computed anew at a time
EACH = 4  # ranges of diagonals for each job
SQUARES = {"euclidean": 2.0, "sqeuclidean": 1.0}  # the power of a distance that is a sum of squares


def are_known(how):
    """Whether there are bounds: of Euclidean distances of z-normalized windows without weights."""
    return how.metric.name in SQUARES and how.normalize == "zscore" and how.w is None and not how.gaps


def bounds(rows, n_jobs, verbose, *, above=False):
    """What each window is at least, or with `above` at most, away from the nearest other one; infinite without any."""
    how, y, same = rows.how, rows.y, rows.is_one
    m = how.m
    own = _windows(y, m, rows.places[0])
    others = own if same else _windows(rows.other, m, rows.places[1])
    sweeps = [(own, others, rows.apart)] if same else [(own, others, 0), (others, own, 1)]
    calls = []
    for k, (x, z, first) in enumerate(sweeps):
        for part in pairwise(_shares(first, len(z[-1]) - ROOM, EACH * count_jobs(n_jobs))):
            calls.append(delayed(_swept)(x, z, m, -1.0 if above else 1.0, *part, same, k == 1))
    best = np.full(y.shape[1] - m + 1, -np.inf)
    for found in in_jobs(calls, n_jobs, verbose, "compare windows", "part"):
        np.maximum(best, found, out=best)
    margin = len(y) * MARGIN * (-1.0 if above else 1.0)
    squares = np.maximum(2.0 * m * (own[-1][: len(best)] - (best + margin)), 0.0)
    return squares ** (1.0 / SQUARES[how.metric.name])


def _shares(first, last, count):
    """Where ranges of the diagonals from `first` to before `last` begin and end; each has as many pairs of windows.

    They are cut at multiples of what is taken side by side.
    """
    if last <= first:
        return []
    left = (last - first) * np.sqrt(1.0 - np.arange(count + 1) / count)  # the pairs behind grow with its square
    edges = last - np.maximum(left // DIAGONALS * DIAGONALS, 0).astype(int)
    return sorted({first, last, *(e for e in edges.tolist() if first < e < last)})


def _swept(x, z, m, sign, first, last, same, turned):
    """The largest sums of correlations, less what the other window lacks, of the windows of x, or `turned` of z."""
    best = np.full(len(x[-1]), -np.inf)
    others = best if same else np.full(len(z[-1]), -np.inf)
    matrix_profile.sweep(x, z, m, sign, first, last, best, others)
    return (others if turned else best)[:-ROOM]


def _windows(y, m, places):
    """What `matrix_profile.sweep` takes of a sequence, with room behind it; windows in other places are near none."""
    y = less_offset(y)
    mean, half, whole, inverse = np.zeros((4, len(y), y.shape[1] - m + 1))
    for k, channel in enumerate(y):
        spread, error = np.empty((2, mean.shape[1]))
        moments(channel, m, 0, mean[k], spread, error)
        _know(channel, m, mean[k], spread, np.flatnonzero(~(error <= CERTAIN * spread)))
        varied = spread > 0.0
        inverse[k, varied] = 1.0 / np.sqrt(spread[varied])
    half[:, 1:] = (y[:, m:] - y[:, :-m]) / 2
    whole[:, 1:] = (y[:, m:] - mean[:, 1:]) + (y[:, :-m] - mean[:, :-1])
    lack = (inverse > 0.0).sum(axis=0) / 2.0  # a constant window is zeros
    broken = np.ones(len(lack), bool)
    for first, last in places:
        broken[first:last] = False
    lack[broken] = np.inf
    room = [(0, 0), (0, ROOM)]
    padded = (np.pad(a, room) for a in (y, mean, half, whole, inverse))
    return *padded, np.pad(lack, room[1:], constant_values=np.inf)


def _know(channel, m, mean, spread, which):
    """Compute moments of windows anew, those of constant ones to the digit."""
    windows = sliding_window_view(channel, m)
    for part in np.array_split(which, -(-len(which) * m // TOGETHER) or 1):
        some = windows[part]
        mean[part] = some[:, 0] + (some - some[:, :1]).mean(axis=1)
        spread[part] = ((some - mean[part, np.newaxis]) ** 2).sum(axis=1)
        spread[part[(some == some[:, :1]).all(axis=1)]] = 0.0

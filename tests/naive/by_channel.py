"""Queries compared by channel: each channel by itself, at each of its lags and signs, and the sum over channels."""

import numpy as np

from .searching import observed_windows
from .series import INF


def channel_windows(
    name, x, y, lags, *, tolerance=0, weights=None, votes=None, mirrored=False, of_points=None, allowed=None, **params
):
    """At each start the distance, and of each channel its own distance, its lag, its sign and whether it votes.

    x and y are lists of one-dimensional queries (empty: the channel has no points) and channels; `of_points` are the
    weights of the points of each. The range at a start is as long as the last point at its lag asks for. A metric's
    `name` may be a list of (name, parameters) of the channels. Windows that are not `allowed(c, query, window)` are
    infinitely far.
    """
    name = name if isinstance(name, list) else [(name, {})] * len(x)
    count = len(x)
    weights = [1.0] * count if weights is None else weights
    of_points = [None] * count if of_points is None else of_points
    part = [c for c in range(count) if len(x[c]) and weights[c] > 0]
    n = len(y[0]) - max(lags[c] + len(x[c]) for c in part) + 1
    total = np.full(n, INF)
    distance, lag = np.full((n, count), np.nan), np.tile(lags, (n, 1))
    sign, voted = np.ones((n, count), int), np.zeros((n, count), bool)
    order = sorted(range(-tolerance, tolerance + 1), key=lambda shift: (abs(shift), shift))
    for c in part:
        own, kept = {**params, **name[c][1]}, {s: s * np.array(x[c]) for s in (1, -1)}
        of_sign = {s: observed_windows(name[c][0], a, y[c], of_points[c], **own) for s, a in kept.items()}
        for s, a in kept.items() if allowed is not None else ():
            for at in range(len(of_sign[s])):
                if not allowed(c, a, y[c][at : at + len(a)]):
                    of_sign[s][at] = INF
        for start in range(n):
            best = None
            for shift in order:
                at = start + lags[c] + shift
                if not 0 <= at < len(of_sign[1]):
                    continue
                for s in (1, -1) if mirrored else (1,):
                    if best is None or of_sign[s][at] < best[0]:
                        best = of_sign[s][at], lags[c] + shift, s
            distance[start, c], lag[start, c], sign[start, c] = best
    for start in range(n):
        weighted = sorted((weights[c] * distance[start, c], c) for c in part)[:votes]
        total[start] = sum(d for d, _ in weighted)
        for d, c in weighted:
            voted[start, c] = d < INF
    return total, distance, lag, sign, voted


def centered(total, at_given_lags, start, tolerance):
    """Of the starts at the same distance, up to the tolerance later, the first that is best at the given lags."""
    best = start
    for s in range(start, min(start + tolerance + 1, len(total))):
        if total[s] == total[start] and at_given_lags[s] < at_given_lags[best]:
            best = s
    return best

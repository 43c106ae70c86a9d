"""Thresholds by decoys and by labels, from their definitions."""

import math

INF = math.inf


def estimated_share(matches, decoys, n_decoys, t):
    """The estimated share of false ones among the matches with a distance of at most t."""
    kept = sum(d <= t for d in matches)
    false = 1 + sum(d <= t for d in decoys) / n_decoys
    return false / kept if kept else INF


def rate_threshold(matches, decoys, n_decoys, alpha):
    """The largest distance of a match up to which the estimated share is at most alpha; -INF where there is none."""
    return max((t for t in matches if estimated_share(matches, decoys, n_decoys, t) <= alpha), default=-INF)


def q_value(matches, decoys, n_decoys, distance):
    """The lowest share, at most 1, of all thresholds with which a match of that distance is kept."""
    return min([1.0, *(estimated_share(matches, decoys, n_decoys, t) for t in matches if t >= distance)])


def p_value(decoys, distance):
    """The share of the decoys' matches that are as near, one added to both counts."""
    return (1 + sum(d <= distance for d in decoys)) / (1 + len(decoys))


def conformal_threshold(scores, alpha):
    """The least of the scores (or INF) that is at least as large as a share 1 - alpha of them and one more."""
    n = len(scores)
    for t in sorted(scores):
        if sum(s <= t for s in scores) >= (n + 1) * (1 - alpha) - 1e-9:
            return t
    return INF


def shifted_decoy(x, center, angle):
    """One channel mirrored about a center, its values put in the order of the mirror image with all phases shifted."""
    m = len(x)
    mirrored = [2 * center - v for v in x]
    wave = []
    for t in range(m):
        total = 0.0
        for k in range(1, (m - 1) // 2 + 1):
            a = sum(v * math.cos(2 * math.pi * k * s / m) for s, v in enumerate(mirrored))
            b = sum(v * math.sin(2 * math.pi * k * s / m) for s, v in enumerate(mirrored))
            total += (
                2 / m * (a * math.cos(2 * math.pi * k * t / m + angle) + b * math.sin(2 * math.pi * k * t / m + angle))
            )
        if m % 2 == 0:
            last = sum(v * (-1) ** s for s, v in enumerate(mirrored))
            total += last / m * (-1) ** t * math.cos(angle)
        wave.append(total)
    out = [0.0] * m
    for value, t in zip(sorted(mirrored), sorted(range(m), key=wave.__getitem__), strict=True):
        out[t] = value
    return out

"""How metric="auto" chooses, from its definition."""

import math

from .scoring import intersection_over_union


def shares_of(true, found, share):
    """The least share of each occurrence, and those of the other stretches, each once, the best first."""
    hits = [
        min((s for f, s in zip(found, share, strict=True) if intersection_over_union(t, f) >= 1 / 3), default=math.inf)
        for t in true
    ]
    others = [
        (s, f) for f, s in zip(found, share, strict=True) if all(intersection_over_union(t, f) < 1 / 3 for t in true)
    ]
    false, taken = [], []
    for s, f in sorted(others, key=lambda one: one[0]):
        if all(f[1] <= a or b <= f[0] for a, b in taken):
            taken.append(f)
            false.append(s)
    return hits, false


def margin_of(hits, false):
    """The share of the best false one less that of the worst hit, at least 1/4, but for one of fifty; at most 2."""
    left_out = math.floor(0.02 * len(hits))
    worst = sorted(hits, reverse=True)[left_out]
    best = sorted(false)[left_out] if len(false) > left_out else 2.0
    return min(best, 2.0) - min(max(worst, 0.25), 2.0)


def best_of(scores, margins, n_events):
    """The number of the candidate that is taken."""
    means = [sum(row) / len(row) for row in scores]
    top = means.index(max(means))
    blocks = len(scores[top])
    variance = sum((score - means[top]) ** 2 for score in scores[top]) / (blocks - 1)
    enough = means[top] - max(math.sqrt(variance / blocks), 1 / n_events) * (1 + 1e-9)
    good = [k for k, mean in enumerate(means) if mean >= enough]
    largest = max(sum(margins[k]) / blocks for k in good)
    return next(k for k in good if sum(margins[k]) / blocks >= largest - 0.05)

"""What self-training takes as further occurrences, from its definition."""

import math
from statistics import median

from .scoring import intersection_over_union


def sure(y, labels, occurrences, found):
    """Indices of the found (start, end, label, cost) of one channel `y` that are taken; `labels` hold -1.

    Costs are those of a metric of squares without weights.
    """
    covered = {t for s, e, _, _ in found for t in range(s, e)} | {t for t in range(len(y)) if labels[t] > 0}
    rest = [y[t] for t in range(len(y)) if t not in covered] or y
    level = median(rest)
    share = [cost / max(sum((y[t] - level) ** 2 for t in range(s, e)), 1e-300) for s, e, _, cost in found]
    taken = []
    for j, (s, e, label, _) in enumerate(found):
        own = [(a, b) for a, b, c in occurrences if c == label]
        alike = [i for i, one in enumerate(found) if one[2] == label]
        hits = [i for i in alike if any(intersection_over_union(one, found[i][:2]) >= 1 / 3 for one in own)]
        false = [i for i in alike if i not in hits and all(labels[t] != -1 for t in range(*found[i][:2]))]
        if not hits or any(labels[t] != -1 for t in range(s, e)):
            continue
        k = len(hits)
        most = (k * max(share[i] for i in hits) * (k + 1) / max(k - 1, 1) + 3 / 4) / (k + 3)
        lengths = [b - a for a, b in own]
        lengths = [n for n in lengths if n <= 1.75 * median(lengths)]
        near = share[j] <= min(most, 1) and share[j] < min((share[i] for i in false), default=math.inf)
        if near and min(lengths) <= math.sqrt(1.5) * (e - s) and e - s <= math.sqrt(1.5) * max(lengths):
            taken.append(j)
    return taken

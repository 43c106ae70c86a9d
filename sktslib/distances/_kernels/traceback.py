"""Traceback of the one-pass recurrence: the segments of the cheapest segmentation, and how much of it is decided.

Rows of ``best`` (n + 1, k + 1) are boundaries between samples, those of ``begin`` (n, k) samples; ``base`` is the
boundary of row 0 as `begin` counts them. A node is a boundary with the label of the part that ends there. Among
equal costs a segment is preferred to background, and the first query to the others.
"""

import numpy as np

from .compilation import budgets, inner, kernel, pieces

INF = np.inf
ROOM = 4096  # segments that are traced at a time


@kernel
def before(best, j, transitions, after):
    """The label at boundary j from which it is cheapest to continue with the label `after` (-1: to end there)."""
    label, cheapest = 0, INF
    for c in range(best.shape[1] - 1, -1, -1):
        total = best[j, c] + (transitions[c, after] if after >= 0 else 0.0)
        if total < cheapest or (total == cheapest < INF and c > 0):
            label, cheapest = c, total
    return label


@kernel
def boundary(begin, base, j, label):
    """The boundary at which the part that ends at a node starts; before row 0 for segments that are out already."""
    return j - 1 if label == 0 else int(begin[j - 1, label - 1]) - base


@kernel
def previous(best, begin, transitions, base, j, label):
    """The node before a node."""
    s = boundary(begin, base, j, label)
    return s, before(best, s, transitions, label)


@kernel
def _trace(best, begin, transitions, base, fresh, j, label, steps, found, cost):
    """The parts before a node, at most `steps` and as many as there is room for; how many, and the node reached."""
    count = 0
    while j > 0 and steps > 0 and count < cost.shape[0]:
        s, c, paid = boundary(begin, base, j, label), 0, 0.0
        if s >= 0:
            c = before(best, s, transitions, label)
        if label > 0:
            if s >= 0:
                paid = best[s, c] + (0.0 if fresh and s == 0 else transitions[c, label])
            found[0, count], found[1, count], found[2, count] = label, s, j
            cost[count] = best[j, label] - paid
            count += 1
        j, label = s, c
        steps -= 1
    return count, j, label


def trace(best, begin, transitions, base, fresh, j, label):
    """Labels, starts, ends and costs of the segments that lead to a node, in order, and the label at row 0.

    They count from row 0. `fresh`: nothing was before row 0, so that the first part costs no transition. Where the
    first segment starts before row 0, its cost is all that was paid up to its end, and the label at row 0 is nothing.
    """
    found, cost, parts = np.empty((3, ROOM), np.int64), np.empty(ROOM), []
    for budget in budgets():
        count, j, label = _trace(best, begin, transitions, base, fresh, j, label, budget, found, cost)
        parts.append((found[:, :count].copy(), cost[:count].copy()))
        if j <= 0:
            break
    found, cost = (np.concatenate(a, axis=-1)[..., ::-1] for a in zip(*parts, strict=True))
    return *found, cost, label


@inner
def branch(best, begin, transitions, base, codes, known):
    """Fill the rows of `codes` (n + 1, k + 1) behind row `known`: by which node the path to each node leaves row 0."""
    width = best.shape[1]
    for j in range(known + 1, best.shape[0]):
        for label in range(width):
            codes[j, label] = j * width + label
            if label == 0 or best[j, label] < INF:
                s = boundary(begin, base, j, label)
                if s > 0:
                    codes[j, label] = codes[s, before(best, s, transitions, label)]


@kernel
def apart(best, begin, transitions, base, codes, known, start, label, cost):
    """Whether segmentations still in question leave row 0 by several nodes, so that none else need be examined.

    Those are the ones that may end at the last boundary or continue from there, and those of unfinished paths: of
    queries `label`, started at boundaries `start`, at finite costs. Rows up to `known` of `codes` are filled, see
    `branch`, and the others are now.
    """
    n, width = best.shape[0] - 1, best.shape[1]
    branch(best, begin, transitions, base, codes, known)
    one = -1
    for i in range(-1 - width, start.shape[0]):
        if i < 0:  # continuing costs a transition, ending (-1) does not
            s, c = n, before(best, n, transitions, i + width)
        elif cost[i] < INF and start[i] >= base:
            s = int(start[i]) - base
            c = before(best, s, transitions, label[i])
        else:
            continue
        if s == 0 or (one >= 0 and codes[s, c] != one):
            return True
        one = codes[s, c]
    return False


@kernel
def agreed(best, begin, transitions, base, unknown, start, label, cost):
    """The last node that all segmentations still in question, see `apart`, have in common.

    Paths that started before row 0 are of segmentations that were dropped, unless what is before row 0 is `unknown`.
    """
    n, width = best.shape[0] - 1, best.shape[1]
    live = np.zeros(best.shape, np.bool_)
    for b in range(-1, width):
        live[n, before(best, n, transitions, b)] = True
    for i in range(start.shape[0]):
        if cost[i] < INF:
            s = int(start[i]) - base
            if s >= 0:
                live[s, before(best, s, transitions, label[i])] = True
            elif unknown:
                return 0, 0
    count = live.sum()
    for j in range(n, -1, -1):
        for a in range(width):
            if live[j, a]:
                if count == 1 or j == 0:
                    return j, a
                s = boundary(begin, base, j, a)
                if s < 0:
                    return 0, 0
                c = before(best, s, transitions, a)
                if live[s, c]:
                    count -= 1
                live[s, c] = True
    return 0, 0


@kernel
def likeliest(best, begin, transitions, base, limit):
    """The last node at or before a boundary of the segmentation that is cheapest to continue with background.

    Then something may always follow, whatever transitions forbid.
    """
    j = best.shape[0] - 1
    label = before(best, j, transitions, 0)
    while j > limit:
        j, label = previous(best, begin, transitions, base, j, label)
    return j, label


@kernel
def _through(best, begin, transitions, base, j, first, last, out):
    for t in range(first, last):
        for a in range(best.shape[1]):
            if best[t, a] < INF:
                s = boundary(begin, base, t, a)
                out[t, a] = s >= j and out[s, before(best, s, transitions, a)]


def through(best, begin, transitions, base, j, label, limit):
    """Whether the cheapest segmentation that leads to a node passes the given one and then none up to `limit`.

    Nodes at earlier boundaries are left as they are.
    """
    out, first = np.zeros(best.shape, np.bool_), max(j, limit) + 1
    out[:j], out[j, label] = True, True
    for a, b in pieces(len(best) - first, best.shape[1]):
        _through(best, begin, transitions, base, j, first + a, first + b, out)
    return out

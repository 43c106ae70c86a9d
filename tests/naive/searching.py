"""Searches: profiles by subsequences and by windows, and the choice of matches."""

import math

import numpy as np

from .ground_costs import complexity_factor
from .lockstep_distances import lockstep, observed
from .moves import shifted, steps
from .series import INF, filled, interpolate, normalize_values, points, relative
from .table import LOCKSTEP
from .warping import DIAG, LEFT, UP, elastic, fill


def reported(name, f, cost, do_dist_norm, x, candidate):
    """What a subsequence search reports for the accumulated cost of a query and a candidate."""
    if name == "cid_dtw":
        factor = complexity_factor(x, candidate)
        return math.sqrt(cost) * factor if factor < INF else INF
    if name == "lcss":
        return cost / (sum(f.w) + f.m)
    if name == "edr" or do_dist_norm:
        return cost / f.m
    return cost


def elastic_search(
    name,
    x,
    y,
    weight=None,
    *,
    tq=None,
    ts=None,
    r=None,
    min_length=None,
    max_length=None,
    do_dist_norm=False,
    stretch=None,
    **params,
):
    """Subsequence search with carried starts (Sakurai et al. 2007): (distance (n,), start (n,), D (m, n)) for each end.

    With `stretch` (a, b) candidates lie within y[a:b], in whose samples starts and ends then count.
    """
    f = steps(name, x, y, weight, tq, ts, search=True, **params)
    m, n = f.m, f.n
    begun = 0 if stretch is None else stretch[0]
    if stretch is not None:
        f, n = shifted(f, stretch[0]), stretch[1] - stretch[0]
    D = np.full((m + 1, n + 1), INF)
    S = np.zeros((m + 1, n + 1), dtype=int)
    paired = np.zeros((m + 1, n + 1), dtype=bool)
    for j in range(n + 1):
        D[0, j], S[0, j] = 0.0, j
    for i in range(1, m + 1):
        D[i, 0] = INF if f.closed_boundary else D[i - 1, 0] + f.up(i, 0, 0)
    for j in range(1, n + 1):
        for i in range(1, m + 1):
            least = INF
            for k, (a, b), cost in ((DIAG, (i - 1, j - 1), f.diag), (UP, (i - 1, j), f.up), (LEFT, (i, j - 1), f.left)):
                start = S[a, b]
                if D[a, b] == INF or (k == UP and i == 1 and f.closed_boundary):
                    continue
                if r is not None and abs(i - (j - start)) > r:
                    continue
                total = f.accumulate(D[a, b], cost(i, j, start))
                if (D[a, b] if f.equal_moves else total) < least:
                    least = D[a, b] if f.equal_moves else total
                    D[i, j], S[i, j] = total, start
                    paired[i, j] = paired[a, b] or (k == DIAG and f.pairs(i, j))
    distance, start = np.full(n, INF), np.full(n, -1)
    for j in range(1, n + 1):
        length = j - S[m, j]
        if D[m, j] == INF or length < 1 or not paired[m, j]:
            continue
        if (min_length is not None and length < min_length) or (max_length is not None and length > max_length):
            continue
        candidate = y[begun + S[m, j] : begun + j]
        distance[j - 1], start[j - 1] = reported(name, f, D[m, j], do_dist_norm, x, candidate), S[m, j]
    return distance, start, D[1:, 1:]


def brute_search(name, x, y, weight=None, *, tq=None, ts=None, r=None, do_dist_norm=False, **params):
    """For each end the minimum over all starts of the cost of x and y[start:end], each by the recurrence of a pair."""
    f = steps(name, x, y, weight, tq, ts, search=True, **params)
    best = np.full(f.n, INF)
    for end in range(1, f.n + 1):
        for start in range(end):
            D, _ = fill(f, start, end, r=r)
            best[end - 1] = min(best[end - 1], reported(name, f, D[-1, -1], do_dist_norm, x, y[start:end]))
    return best


def windows(name, x, y, weight=None, *, normalize=None, tq=None, ts=None, **params):
    """The distance of the query to each of the n - m + 1 windows of its length; times relative to the first point."""
    m, n = len(x), len(y)
    query = normalize_values(x, weight, normalize)
    out = np.zeros(n - m + 1)
    for s in range(n - m + 1):
        window = normalize_values(y[s : s + m], weight, normalize)
        tx = None if tq is None else [a - tq[0] for a in tq]
        ty = None if ts is None else [a - ts[s] for a in ts[s : s + m]]
        if name in LOCKSTEP:
            out[s] = lockstep(name, query, window, weight, tx=tx, ty=ty, **params)
        else:
            out[s] = elastic(name, query, window, weight, tx=tx, ty=ty, **params).distance
    return out


def observed_windows(name, x, y, weight=None, *, normalize=None, tq=None, ts=None, **params):
    """As `windows`, where the series may have missing values (NaN)."""
    m, Y = len(x), points(y)
    W = relative(weight, *points(x).shape)
    out = np.zeros(len(y) - m + 1)
    for s in range(len(out)):
        seen = ~np.isnan(Y[s : s + m])
        if seen.all():
            times = None if ts is None else ts[s : s + m]
            out[s] = windows(name, x, y[s : s + m], weight, normalize=normalize, tq=tq, ts=times, **params)[0]
            continue
        if name not in LOCKSTEP or 2 * math.fsum(np.where(seen, W, 0.0).flat) < math.fsum(W.flat):
            out[s] = INF
            continue
        w = np.where(seen, W, 0.0)
        a, b = (normalize_values(points(v), w, normalize) for v in (x, filled(y[s : s + m])))
        times = (None, None) if ts is None else ([t - tq[0] for t in tq], [t - ts[s] for t in ts[s : s + m]])
        out[s] = observed(name, a, b, W, seen, *times, **params)
    return out


def scaled_windows(name, x, y, lengths, weight=None, *, normalize=None, tq=None, ts=None, **params):
    """The distance at each start of the window that fits best, of several lengths, and that length (ties: shortest)."""
    m, n = len(x), len(y)
    distance, length = np.full(max(n - min(lengths) + 1, 0), INF), np.zeros(max(n - min(lengths) + 1, 0), dtype=int)
    for s in range(len(distance)):
        for size in sorted(lengths):
            if s + size <= n:
                piece = interpolate(points(y[s : s + size]), m).reshape(np.shape(x))
                t = None if ts is None else interpolate(points(ts[s : s + size]), m)[:, 0]
                value = windows(name, x, piece, weight, normalize=normalize, tq=tq, ts=t, **params)[0]
                if value < distance[s]:
                    distance[s], length[s] = value, size
    return distance, length


def between_holes(ts, max_gap):
    """The ranges of samples in which no time differs by more than `max_gap` from the one before it."""
    out, first = [], 0
    for k in range(1, len(ts)):
        if ts[k] - ts[k - 1] > max_gap:
            out.append((first, k))
            first = k
    return [*out, (first, len(ts))]


def joined_windows(search, n, m, ranges):
    """One profile of the windows in each of several ranges: `search` gives that of the samples [a, b)."""
    distance = np.full(n - m + 1, INF)
    for a, b in ranges:
        if b - a >= m:
            distance[a : b - m + 1] = search(a, b)
    return distance


def joined_subsequences(search, n, ranges):
    """The same of a subsequence search, which gives distances and starts."""
    distance, start = np.full(n, INF), np.full(n, -1)
    for a, b in ranges:
        d, s = search(a, b)
        distance[a:b], start[a:b] = d, [k + a if k >= 0 else -1 for k in s]
    return distance, start


def percentile_of(distance, p):
    """The p-th percentile of the finite distances: what lies p percent of the way through them, in a straight line."""
    finite = sorted(a for a in distance if a < INF)
    if not finite:
        return INF
    place = p / 100 * (len(finite) - 1)
    below = math.floor(place)
    above = min(below + 1, len(finite) - 1)
    return finite[below] + (place - below) * (finite[above] - finite[below])


def select(distance, start, end, n_matches=None, threshold=None, max_overlap=0.0, percentile=None):
    """Greedy choice of matches: lowest first (ties: earliest), none that overlaps a chosen one by too much."""
    chosen = []
    if percentile is not None:
        threshold = percentile_of(distance, percentile)
    for k in sorted(range(len(distance)), key=lambda k: (distance[k], k)):
        if not distance[k] < INF or (threshold is not None and distance[k] > threshold):
            continue
        if n_matches is not None and len(chosen) >= n_matches:
            break
        free = True
        for other in chosen:
            overlap = min(end[k], end[other]) - max(start[k], start[other])
            if overlap > max_overlap * min(end[k] - start[k], end[other] - start[other]):
                free = False
        if free and end[k] > start[k]:
            chosen.append(k)
    return chosen


def start_sequences_index(distance, output=("number", 1), overlap=1):
    """The same greedy rule on plain indices at least `overlap` samples apart, in order of choice."""
    kind, value = output
    index = range(len(distance))
    limit = {"n_matches" if kind == "number" else kind: value}
    return select(distance, index, [k + max(overlap, 1) for k in index], **limit)

"""Reference implementations: every number of the package by plain loops, from definitions and papers."""

import math
from collections import namedtuple
from fractions import Fraction
from functools import cache
from itertools import pairwise
from types import SimpleNamespace

import numpy as np

INF = math.inf
DIAG, UP, LEFT = 0, 1, 2

LOCKSTEP = (
    "braycurtis",
    "canberra",
    "chebyshev",
    "correlation",
    "cosine",
    "euclidean",
    "hamming",
    "kullback_leibler",
    "mahalanobis",
    "manhattan",
    "minkowski",
    "sqeuclidean",
    "pearson_correlation",
    "short_time_series",
)
POSITIVE = ("kullback_leibler",)  # defined for positive values alone
WARPED = ("dtw", "adtw", "wdtw", "ddtw", "wddtw", "shape_dtw", "lcss", "edr", "erp", "msm", "twed", "frechet")
PATHLESS = ("soft_dtw", "gak", "sbd")

Elastic = namedtuple("Elastic", "distance D path")
Divided = namedtuple("Divided", "weights")  # weights (m, C) that are relative already


# ---------------------------------------------------------------------------------------------------- series and
# weights


def domain(name, v):
    """Values for which the distance is defined: the given ones, or their exponentials."""
    return np.exp(v) if name in POSITIVE else v


def points(v):
    """A series as an array of points, shape (length, channels)."""
    v = np.array(v, dtype=float)
    return v.reshape(len(v), 1) if v.ndim == 1 else v


def relative(weight, m, C):
    """Weights of shape (m, C), divided by their largest value; ones for None."""
    if weight is None:
        return np.ones((m, C))
    if isinstance(weight, Divided):
        return weight.weights
    weight = np.array(weight, dtype=float)
    full = np.zeros((m, C))
    for i in range(m):
        for c in range(C):
            full[i, c] = weight[i] if weight.ndim == 1 else weight[i, c]
    if not full.max() > 0:
        raise ValueError("all weights are zero")
    return full / full.max()


def interpolate(v, length):
    """The series v sampled at `length` equidistant places, both ends kept, linear between its points."""
    out = np.zeros((length, v.shape[1]))
    for k in range(length):
        place = Fraction(k * (len(v) - 1), length - 1) if length > 1 else Fraction(0)
        before = math.floor(place)
        part = float(place - before)
        for c in range(v.shape[1]):
            out[k, c] = v[before, c]
            if part > 0:
                out[k, c] = v[before, c] + part * (v[before + 1, c] - v[before, c])
    return out


def resample(x, y, weight=None):
    """Lockstep length rule: the longer series is interpolated to the length of the shorter, with its weights."""
    x, y = points(x), points(y)
    W = relative(weight, *x.shape)
    if len(x) > len(y):
        x = interpolate(x, len(y))
        W = relative(interpolate(W, len(y)), *x.shape)
    elif len(y) > len(x):
        y = interpolate(y, len(x))
    return x, y, W


def positive(v, w):
    """The values of one channel whose weight is positive."""
    return [v[i] for i in range(len(v)) if w[i] > 0]


def is_constant(v, w):
    """Whether all points of positive weight are equal (one channel)."""
    return len(set(positive(v, w))) <= 1


def weighted_mean(v, w):
    """Weighted mean of one channel; the plain mean where no weight is positive."""
    if sum(w) == 0:
        return sum(v) / len(v)
    return sum(w[i] * v[i] for i in range(len(v))) / sum(w)


def weighted_median(v, w):
    """The smallest value with half of the weight at or below it; the middle to the next if it is exactly half."""
    rows = sorted((v[i], w[i]) for i in range(len(v)) if w[i] > 0)
    total, below = sum(b for _, b in rows), 0.0
    for k, (value, share) in enumerate(rows):
        below += share
        if math.isclose(below, total / 2, rel_tol=1e-12):
            return 0.5 * value + 0.5 * rows[k + 1][0]
        if below > total / 2:
            return value


def normalise(v, weight=None, how=None):
    """A window or the query per channel: None, "zscore", "mean", "minmax" or "robust"; constant: zeros."""
    v = np.array(v, dtype=float)
    if how is None:
        return v
    a = points(v)
    W = relative(weight, *a.shape)
    out = np.zeros(a.shape)
    for c in range(a.shape[1]):
        channel, w = a[:, c], W[:, c]
        if is_constant(channel, w):
            continue
        channel = channel - positive(channel, w)[0]  # an offset would cost the mean its digits
        if how == "robust":
            shift = weighted_median(channel, w)
            scale = weighted_median(abs(channel - shift), w)
            if scale == 0:
                continue
        elif how == "minmax":
            shift = min(positive(channel, w))
            scale = max(positive(channel, w)) - shift
        else:
            shift = weighted_mean(channel, w)
            variance = sum(w[i] * (channel[i] - shift) ** 2 for i in range(len(a))) / sum(w)
            scale = {"zscore": math.sqrt(variance), "mean": 1.0}[how]
        for i in range(len(a)):
            out[i, c] = (channel[i] - shift) / scale
    return out.reshape(v.shape)


# ---------------------------------------------------------------------------------------------------- lockstep
# distances


def lockstep(name, x, y, weight=None, *, p=3, VI=None, beta=None, tx=None, ty=None):
    """Lockstep distance by its formula: the i-th point meets the i-th, points and channels summed together."""
    if name == "short_time_series":
        return short_time_series(x, y, weight, tx, ty)
    x, y, W = resample(x, y, weight)
    terms = [(W[i, c], x[i, c], y[i, c]) for i in range(len(x)) for c in range(x.shape[1])]
    if name == "minkowski":
        return sum(w * abs(a - b) ** p for w, a, b in terms) ** (1 / p)
    if name == "manhattan":
        return sum(w * abs(a - b) for w, a, b in terms)
    if name == "euclidean":
        return math.sqrt(sum(w * (a - b) ** 2 for w, a, b in terms))
    if name == "sqeuclidean":
        return sum(w * (a - b) ** 2 for w, a, b in terms)
    if name == "chebyshev":
        return max(w * abs(a - b) for w, a, b in terms)
    if name == "canberra":
        return sum(w * abs(a - b) / (abs(a) + abs(b)) for w, a, b in terms if abs(a) + abs(b) > 0)
    if name == "kullback_leibler":
        return sum(w * (a * math.log(a / b) - a + b) for w, a, b in terms)
    if name == "braycurtis":
        above = sum(w * abs(a - b) for w, a, b in terms)
        below = sum(w * abs(a + b) for w, a, b in terms)
        if below == 0:
            return 0.0 if above == 0 else INF
        return above / below
    if name == "hamming":
        return sum(w for w, a, b in terms if a != b) / sum(w for w, a, b in terms)
    if name == "mahalanobis":
        delta = [math.sqrt(w) * (a - b) for w, a, b in terms]
        VI = np.eye(len(delta)) if VI is None else VI
        return math.sqrt(sum(delta[k] * VI[k][q] * delta[q] for k in range(len(delta)) for q in range(len(delta))))
    if name == "cosine":
        zero_x = all(a == 0 for w, a, b in terms if w > 0)
        zero_y = all(b == 0 for w, a, b in terms if w > 0)
        return cosine_distance(terms, zero_x, zero_y)
    if name in ("correlation", "pearson_correlation"):
        constant_x, constant_y = True, True
        terms = []
        for c in range(x.shape[1]):
            w, a, b = W[:, c], x[:, c], y[:, c]
            flat_a, flat_b = is_constant(a, w), is_constant(b, w)
            constant_x, constant_y = constant_x and flat_a, constant_y and flat_b
            for i in range(len(x)):
                centred_a = 0.0 if flat_a else a[i] - weighted_mean(a, w)
                centred_b = 0.0 if flat_b else b[i] - weighted_mean(b, w)
                terms.append((w[i], centred_a, centred_b))
        if name == "correlation":
            return cosine_distance(terms, constant_x, constant_y)
        if constant_x and constant_y:
            return 0.0
        r = 0.0 if constant_x or constant_y else 1 - cosine_distance(terms, False, False)
        if beta is None:
            return 2 * (1 - r)
        return INF if r == -1 else ((1 - r) / (1 + r)) ** beta
    raise ValueError(name)


def cosine_distance(terms, degenerate_x, degenerate_y):
    """1 - sum w a b / sqrt(sum w a a * sum w b b), the ratio clipped to [-1, 1]; both degenerate: 0, one: 1."""
    if degenerate_x and degenerate_y:
        return 0.0
    if degenerate_x or degenerate_y:
        return 1.0
    above = sum(w * a * b for w, a, b in terms)
    below = math.sqrt(sum(w * a * a for w, a, b in terms)) * math.sqrt(sum(w * b * b for w, a, b in terms))
    return 1 - min(1.0, max(-1.0, above / below))


def short_time_series(x, y, weight=None, tx=None, ty=None):
    """Short time series distance: the difference of the slopes (Moeller-Levet et al. 2003)."""
    x, y = points(x), points(y)
    if len(x) != len(y):
        raise ValueError("unequal lengths")
    W = relative(weight, *x.shape)
    tx = range(len(x)) if tx is None else tx
    ty = range(len(y)) if ty is None else ty
    total = 0.0
    for k in range(len(x) - 1):
        for c in range(x.shape[1]):
            lasts_x, lasts_y = tx[k + 1] - tx[k], ty[k + 1] - ty[k]
            slope_x = (x[k + 1, c] - x[k, c]) / lasts_x
            slope_y = (y[k + 1, c] - y[k, c]) / lasts_y if lasts_y else 0.0  # one sample that was resampled
            total += min(W[k, c], W[k + 1, c]) * (slope_y - slope_x) ** 2
    return math.sqrt(total)


# ---------------------------------------------------------------------------------------------------- bands


def band(m, n, kind=None, r=None):
    """The cells a warping path may use, boolean (m, n): Sakoe & Chiba 1978 (r samples) or Itakura 1975 (slope 2)."""
    if m > n:
        return band(n, m, kind, r).T.copy()
    if kind is None or m == 1:
        return np.ones((m, n), dtype=bool)
    allowed = np.zeros((m, n), dtype=bool)
    s = Fraction(n - 1, m - 1)
    if kind == "sakoe-chiba":
        radius = r if m == n else max(r, math.ceil(s / 2))
        for i in range(m):
            for j in range(n):
                allowed[i, j] = abs(j - i * s) <= radius
    elif kind == "itakura":
        low = [math.ceil(max(i * s / 2, (n - 1) - 2 * s * (m - 1 - i))) for i in range(m)]
        high = [math.floor(min(2 * s * i, (n - 1) - s * (m - 1 - i) / 2)) for i in range(m)]
        high = [max(high[i], low[i]) for i in range(m)]
        for i in range(m - 1):
            low[i + 1] = min(low[i + 1], high[i] + 1)
        for i in range(m):
            for j in range(low[i], high[i] + 1):
                allowed[i, j] = True
    else:
        raise ValueError(kind)
    return allowed


def with_skips(allowed):
    """
    A band and the cells from which a diagonal move leads into it: distances that leave points out anywhere do so there.
    """
    out = allowed.copy()
    for i in range(allowed.shape[0] - 1):
        for j in range(allowed.shape[1] - 1):
            if allowed[i + 1, j + 1]:
                out[i, j] = True
    return out


# ---------------------------------------------------------------------------------------------------- ground costs


def squared(w, a, b):
    """Weighted squared Euclidean cost of two points."""
    return sum(w[c] * (a[c] - b[c]) ** 2 for c in range(len(a)))


def norm(w, a, b, p=2):
    """Lp norm of the weighted difference of two points."""
    if len(a) == 1:
        return w[0] * abs(a[0] - b[0])
    return sum((w[c] * abs(a[c] - b[c])) ** p for c in range(len(a))) ** (1 / p)


def within(w, a, b, eps):
    """Whether two points match (LCSS, EDR): channels weighted relative to the point's largest weight."""
    ratio = [1.0 if max(w) == 0 else w[c] / max(w) for c in range(len(a))]
    return norm(ratio, a, b) <= eps


def spread(v):
    """Population standard deviation of one channel, exactly 0 when all values are equal."""
    if len(set(v)) == 1:
        return 0.0
    mean = sum(v) / len(v)
    return math.sqrt(sum((a - mean) ** 2 for a in v) / len(v))


def standardise(v):
    """Each channel to mean 0 and population standard deviation 1; a constant channel becomes zeros."""
    out = np.zeros(v.shape)
    for c in range(v.shape[1]):
        if spread(v[:, c]) > 0:
            mean = sum(v[:, c]) / len(v)
            for i in range(len(v)):
                out[i, c] = (v[i, c] - mean) / spread(v[:, c])
    return out


def gradient(v):
    """Derivative in samples as numpy.gradient: central differences, one-sided at the ends; length 1: 0."""
    last = len(v) - 1
    out = np.zeros(v.shape)
    for i in range(len(v)):
        if last > 0:
            before, after = max(i - 1, 0), min(i + 1, last)
            out[i] = (v[after] - v[before]) / (after - before)
    return out


def keogh_derivative(v):
    """Derivative estimate of Keogh & Pazzani 2001; the first and the last copy their neighbours."""
    last = len(v) - 1
    out = np.zeros(v.shape)
    if last == 1:
        out[0] = out[1] = v[1] - v[0]
    elif last > 1:
        for i in range(1, last):
            out[i] = ((v[i] - v[i - 1]) + (v[i + 1] - v[i - 1]) / 2) / 2
        out[0], out[last] = out[1], out[last - 1]
    return out


def descriptor(v, reach):
    """Shape descriptor of Zhao & Itti 2018: each point's edge-padded neighbourhood, as channels."""
    last = len(v) - 1
    rows = [[a for k in range(i - reach, i + reach + 1) for a in v[min(max(k, 0), last)]] for i in range(len(v))]
    return np.array(rows)


def scales(x, slope):
    """The factor per channel that gives the derivative the query's scale (a spread that is only rounding is 0)."""
    out = []
    for c in range(x.shape[1]):
        value, derivative = spread(x[:, c]), spread(slope[:, c])
        if derivative <= 2.0**-50 * max(abs(x[:, c])):
            derivative = 0.0
        out.append(value / derivative if value > 0 and derivative > 0 else 1.0)
    return np.array(out)


# ---------------------------------------------------------------------------------------------------- the step costs


def steps(
    name,
    x,
    y,
    weight=None,
    tx=None,
    ty=None,
    search=False,
    *,
    alpha=1.0,
    dist=None,
    y_slope=None,
    eps=1.0,
    nu=0.001,
    lmbda=1.0,
    p=2,
    g=None,
    c=1.0,
    omega=1.0,
    reach=5,
):
    """
    The costs of the three moves into cell (i, j), 1-based, of a candidate that starts at sample b, 0-based.

    A plain distance has b = 0. In a search lags and times are measured from b. `closed_boundary` tells whether
    the boundary is infinite; `pairs(i, j)` whether a diagonal move there is a matched pair; `accumulate` adds a cost
    to what was accumulated.
    `equal_moves` says that the three moves cost the same: a cell then takes the predecessor that costs least.
    """
    flat = np.ndim(x) == 1
    x, y = points(x), points(y)
    m, n = len(x), len(y)
    W = relative(weight, *x.shape)
    w = [max(W[i]) for i in range(m)]
    one = np.ones(x.shape[1])
    out = SimpleNamespace(
        closed_boundary=True, pairs=lambda i, j: True, accumulate=lambda D, cost: D + cost, m=m, n=n, w=w
    )
    out.equal_moves = name in ("dtw", "ddtw", "shape_dtw") or (name in ("wdtw", "wddtw") and not search)

    if name in ("dtw", "adtw", "wdtw", "ddtw", "wddtw", "shape_dtw"):
        if name in ("ddtw", "wddtw"):
            x, y = keogh_derivative(x), keogh_derivative(y)
        if name == "shape_dtw":
            x, y = descriptor(x, reach), descriptor(y, reach)
            W = np.array([list(W[i]) * (2 * reach + 1) for i in range(m)])

        def local(i, a, b):
            if dist is None:
                return squared(W[i], a, b)
            return w[i] * (dist(float(a[0]), float(b[0])) if flat else dist(a, b))

        def d(i, j):
            return local(i - 1, x[i - 1], y[j - 1])

        if name == "dtw" and alpha != 1:
            slope_x, slope_y = gradient(x), gradient(y) if y_slope is None else points(y_slope)
            s = scales(x, slope_x)

            def d(i, j):
                value = local(i - 1, x[i - 1], y[j - 1])
                return alpha * value + (1 - alpha) * local(i - 1, s * slope_x[i - 1], s * slope_y[j - 1])

        def v(lag):
            if name not in ("wdtw", "wddtw"):
                return 1.0
            L = m if search else max(m, n)
            return 1 / (1 + math.exp(-(0.05 if g is None else g) * (lag - L / 2)))

        penalty = omega if name == "adtw" else 0.0
        out.diag = lambda i, j, b: v(abs(i - (j - b))) * d(i, j)
        out.up = out.left = lambda i, j, b: v(abs(i - (j - b))) * d(i, j) + penalty

    elif name == "frechet":
        out.accumulate = max
        out.diag = out.up = out.left = lambda i, j, b: norm(W[i - 1], x[i - 1], y[j - 1])

    elif name == "lcss":
        out.closed_boundary = False
        out.pairs = lambda i, j: within(W[i - 1], x[i - 1], y[j - 1], eps)
        if search:
            out.diag = lambda i, j, b: 0.0 if out.pairs(i, j) else w[i - 1] + 1
            out.up = lambda i, j, b: w[i - 1]
        else:
            out.diag = lambda i, j, b: 2 - 2 * w[i - 1] if out.pairs(i, j) else 2.0
            out.up = lambda i, j, b: 1.0
        out.left = lambda i, j, b: 1.0

    elif name == "edr":
        out.closed_boundary = False
        out.pairs = lambda i, j: within(W[i - 1], x[i - 1], y[j - 1], eps)
        out.diag = lambda i, j, b: 0.0 if out.pairs(i, j) else w[i - 1]
        out.up = lambda i, j, b: w[i - 1]
        out.left = lambda i, j, b: 1.0

    elif name == "erp":
        gap = np.ones(x.shape[1]) * (0.0 if g is None else g)
        out.closed_boundary = False
        out.diag = lambda i, j, b: norm(W[i - 1], x[i - 1], y[j - 1])
        out.up = lambda i, j, b: norm(W[i - 1], x[i - 1], gap)
        out.left = lambda i, j, b: norm(one, y[j - 1], gap)

    elif name == "msm":

        def C(new, old, other, w_old, w_other):
            if old <= new <= other or old >= new >= other:
                return c
            return c + min(w_old * abs(new - old), w_other * abs(new - other))

        def diag(i, j, b):
            return sum(W[i - 1, k] * abs(x[i - 1, k] - y[j - 1, k]) for k in range(x.shape[1]))

        def up(i, j, b):
            return sum(
                C(x[i - 1, k], x[i - 2, k], y[j - 1, k], min(W[i - 1, k], W[i - 2, k]), W[i - 1, k])
                for k in range(x.shape[1])
            )

        def left(i, j, b):
            return sum(C(y[j - 1, k], y[j - 2, k], x[i - 1, k], 1.0, W[i - 1, k]) for k in range(x.shape[1]))

        out.diag, out.up, out.left = diag, up, left

    elif name == "twed":
        t = [float(a) for a in (range(m) if tx is None else tx)]
        s = [float(a) for a in (range(n) if ty is None else ty)]

        def lag(i, j, b):
            if search:
                return abs((t[i - 1] - t[0]) - (s[j - 1] - s[b]))
            return abs(t[i - 1] - s[j - 1])

        def diag(i, j, b):
            cost = norm(W[i - 1], x[i - 1], y[j - 1], p) + nu * lag(i, j, b)
            if i > 1:
                cost += norm(W[i - 2], x[i - 2], y[j - 2], p) + nu * lag(i - 1, j - 1, b)
            return cost

        def up(i, j, b):
            both = [min(W[i - 1, k], W[i - 2, k]) for k in range(x.shape[1])]
            return norm(both, x[i - 1], x[i - 2], p) + nu * (t[i - 1] - t[i - 2]) + lmbda

        def left(i, j, b):
            return norm(one, y[j - 1], y[j - 2], p) + nu * (s[j - 1] - s[j - 2]) + lmbda

        out.diag, out.up, out.left = diag, up, left

    else:
        raise ValueError(name)
    return out


# ---------------------------------------------------------------------------------------------------- plain distances


def fill(f, s, e, free_row=0, free_column=0, allowed=None, r=None):
    """
    The recurrence for y[s:e], borders included: D (m+1, e-s+1) and the move taken into each cell.

    `free_row`, `free_column`: how many cells of a closed boundary after the corner are 0 instead of infinite.
    `allowed`: the cells of a band; `r`: the largest lag |i - p| of a search's band. Where the border is open, the
    band is that of the diagonal moves; points are left out in the cells beside it.
    """
    m, n = f.m, e - s
    exists = allowed if allowed is None or f.closed_boundary else with_skips(allowed)
    D = np.full((m + 1, n + 1), INF)
    move = np.full((m + 1, n + 1), -1)
    D[0, 0] = 0.0
    for i in range(1, m + 1):
        if f.closed_boundary:
            D[i, 0] = 0.0 if i <= free_column else INF
        else:
            D[i, 0] = D[i - 1, 0] + f.up(i, 0, s)
    for p in range(1, n + 1):
        if f.closed_boundary:
            D[0, p] = 0.0 if p <= free_row else INF
        else:
            D[0, p] = D[0, p - 1] + f.left(0, s + p, s)
    if exists is not None:  # cells beside the band at the border: it ends with the band, and no path meets in them
        if exists[0].sum() > allowed[0].sum():
            D[0, allowed[0].sum() :] = INF
        if exists[:, 0].sum() > allowed[:, 0].sum():
            D[allowed[:, 0].sum() :, 0] = INF
    for i in range(1, m + 1):
        for p in range(1, n + 1):
            least = INF
            if exists is not None and not exists[i - 1, p - 1]:
                continue
            if r is not None and abs(i - p) > r:
                continue
            for k, before, cost in (
                (DIAG, D[i - 1, p - 1], f.diag),
                (UP, D[i - 1, p], f.up),
                (LEFT, D[i, p - 1], f.left),
            ):
                if before < INF:
                    total = f.accumulate(before, cost(i, s + p, s))
                    if (before if f.equal_moves else total) < least:
                        least = before if f.equal_moves else total
                        D[i, p], move[i, p] = total, k
    return D, move


def trace(f, move, i, j, matched_only=False):
    """The path that ends in cell (i, j), 1-based, as 0-based index pairs in two rows."""
    path = []
    while i > 0 and j > 0 and move[i, j] >= 0:  # a cost that is too large for a float has no move
        if not matched_only or (move[i, j] == DIAG and f.pairs(i, j)):
            path.append((i - 1, j - 1))
        i, j = {DIAG: (i - 1, j - 1), UP: (i - 1, j), LEFT: (i, j - 1)}[move[i, j]]
    return np.array(path[::-1], dtype=int).reshape(-1, 2).T


def cost_along(f, path, s=0, free_row=0, free_column=0):
    """What the moves along a path cost: cells (0-based, the series counted from its sample s), entered from the border.

    The first cell is entered by the cheapest of the moves that come from the border.
    """
    cells = [(int(i) + 1, int(j) + 1) for i, j in np.transpose(path)]

    def border(i, p):
        if f.closed_boundary:
            return 0.0 if (i == 0 and p <= free_row) or (p == 0 and i <= free_column) else INF
        before = [f.up(a, 0, s) for a in range(1, i + 1)] + [f.left(0, s + a, s) for a in range(1, p + 1)]
        return sum(before)

    i, p = cells[0]
    entries = [(border(i - 1, p - 1), f.diag)] if i == 1 or p == 1 else []
    entries += [(border(0, p), f.up)] if i == 1 else []
    entries += [(border(i, 0), f.left)] if p == 1 else []
    total = min((f.accumulate(before, move(i, s + p, s)) for before, move in entries if before < INF), default=INF)
    for (a, b), (i, p) in pairwise(cells):
        move = {(1, 1): f.diag, (1, 0): f.up, (0, 1): f.left}[i - a, p - b]
        total = f.accumulate(total, move(i, s + p, s))
    return total


def elastic(
    name,
    x,
    y,
    weight=None,
    *,
    tx=None,
    ty=None,
    band_kind=None,
    r=None,
    dtw_type="dtw",
    tolerance=0,
    do_sign_norm=False,
    do_dist_norm=False,
    gamma=1.0,
    divergence=True,
    sigma=1.0,
    triangular=None,
    **params,
):
    """
    Elastic distance of two whole series: (distance, D, path); the path is None for soft_dtw, gak and sbd.

    The radius `r` of a band in samples may be a function of both lengths.
    """
    if do_sign_norm:
        x, y = standardise(points(x)).reshape(np.shape(x)), standardise(points(y)).reshape(np.shape(y))
    m, n = len(x), len(y)
    if name == "sbd":
        return Elastic(sbd(x, y, weight), None, None)
    if name in ("soft_dtw", "gak"):
        Wx = relative(weight, *points(x).shape)
        Wy = interpolate(Wx, n)

        def matrix(a, b, W):
            if band_kind == "sakoe-chiba":  # one radius for all three terms, from the lengths of the pair
                radius = r(m, n) if callable(r) else r
                allowed = np.array([[abs(i - j) <= radius for j in range(len(b))] for i in range(len(a))])
            else:
                allowed = band(len(a), len(b), band_kind)
            if name == "gak":
                return gak_matrix(a, b, W, sigma, allowed, triangular)
            return soft_dtw_matrix(a, b, W, gamma, allowed)

        D = matrix(x, y, Wx)
        xx, yy = matrix(x, x, Wx)[m, m], matrix(y, y, Wy)[n, n]
        if name == "gak":
            return Elastic(1 - D[m, n] / math.sqrt(xx * yy), D[1:, 1:], None)
        return Elastic(D[m, n] - (xx + yy) / 2 if divergence else D[m, n], D[1:, 1:], None)

    allowed = band(m, n, band_kind, r)
    f = steps(name, x, y, weight, tx, ty, **params)
    free_row = {"dtw": 0, "oe-dtw": 0, "obe-dtw": n, "sub-dtw": n, "psi-dtw": tolerance}[dtw_type]
    free_column = tolerance if dtw_type == "psi-dtw" else 0
    D, move = fill(f, 0, n, free_row, free_column, allowed)
    ends = [(m, n)]
    if dtw_type in ("oe-dtw", "obe-dtw", "sub-dtw"):
        ends = [(m, j) for j in range(1, n + 1)]
    if dtw_type == "psi-dtw":
        ends = [(m, j) for j in range(max(1, n - tolerance), n + 1)] + [
            (i, n) for i in range(max(1, m - tolerance), m + 1)
        ]
    end = ends[0]
    for other in ends:
        if D[other] < D[end]:
            end = other
    distance = D[end]
    if do_dist_norm:
        distance = distance / m
    if name == "lcss":
        largest = sorted(f.w, reverse=True)[: min(m, n)]
        distance = 1 - (m + n - D[m, n]) / 2 / sum(largest)
    if name == "edr":
        distance = D[m, n] / max(m, n)
    path = trace(f, move, *end, matched_only=name == "lcss")
    return Elastic(distance, D[1:, 1:], path)


def soft_dtw_matrix(x, y, W, gamma, allowed):
    """Soft-DTW (Cuturi & Blondel 2017): DTW with -gamma log sum exp(-./gamma) for the minimum; D with its border."""
    x, y = points(x), points(y)
    D = np.full((len(x) + 1, len(y) + 1), INF)
    D[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            before = [a for a in (D[i - 1, j - 1], D[i - 1, j], D[i, j - 1]) if a < INF]
            if allowed[i - 1, j - 1] and before:
                least = min(before)
                soft = least - gamma * math.log(sum(math.exp(-(a - least) / gamma) for a in before))
                D[i, j] = squared(W[i - 1], x[i - 1], y[j - 1]) + soft
    return D


def gak_matrix(x, y, W, sigma, allowed, triangular=None):
    """Global alignment kernel (Cuturi 2011): the sum over all alignments of the products of local kernels."""
    x, y = points(x), points(y)
    K = np.zeros((len(x) + 1, len(y) + 1))
    K[0, 0] = 1.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            if allowed[i - 1, j - 1]:
                k = math.exp(-squared(W[i - 1], x[i - 1], y[j - 1]) / (2 * sigma**2))
                if triangular is not None:
                    k *= max(0.0, 1 - abs(i - j) / triangular)
                K[i, j] = k / (2 - k) * (K[i - 1, j - 1] + K[i - 1, j] + K[i, j - 1])
    return K


def alignments(m, n):
    """All alignments of m and n points, as lists of index pairs."""
    if m == n == 1:
        return [[(0, 0)]]
    before = [(a, b) for a, b in ((m - 1, n - 1), (m - 1, n), (m, n - 1)) if a > 0 and b > 0]
    return [[*path, (m - 1, n - 1)] for a, b in before for path in alignments(a, b)]


def expected_alignment(x, y, weight=None, *, gamma=None, sigma=None, triangular=None):
    """The share of each cell in all alignments, each counted by its probability; the cells of `soft_dtw` or `gak`."""
    x, y = points(x), points(y)
    W = relative(weight, *x.shape)
    share, total = np.zeros((len(x), len(y))), 0.0
    found = []
    for path in alignments(len(x), len(y)):
        logarithm = 0.0
        for i, j in path:
            d = squared(W[i], x[i], y[j])
            if gamma is not None:
                logarithm -= d / gamma
            else:
                near = 1.0 if triangular is None else max(0.0, 1 - abs(i - j) / triangular)
                of_g = -d / (2 * sigma**2) + (math.log(near) if near > 0 else -INF)
                logarithm += of_g - math.log(2 - math.exp(of_g))
        found.append((logarithm, path))
    most = max(logarithm for logarithm, _ in found)
    for logarithm, path in found:
        odds = math.exp(logarithm - most)
        total += odds
        for i, j in path:
            share[i, j] += odds
    return share / total


def sbd(x, y, weight=None):
    """
    Shape-based distance (Paparrizos & Gravano 2015): 1 - the largest normalised cross-correlation over all shifts.

    Weighted: products and squares at a query point count w_i, also the squares of the series points it meets at this
    shift; series points that meet no query point count fully. So d(x, x) = 0 and the ratio stays within [-1, 1].
    """
    x, y = points(x), points(y)
    W = relative(weight, *x.shape)
    best = -INF
    for shift in range(-(len(x) - 1), len(y)):
        cross, square_x, square_y = 0.0, 0.0, 0.0
        for c in range(x.shape[1]):
            for i in range(len(x)):
                square_x += W[i, c] * x[i, c] ** 2
                if 0 <= i + shift < len(y):
                    cross += W[i, c] * x[i, c] * y[i + shift, c]
            for j in range(len(y)):
                square_y += (W[j - shift, c] if 0 <= j - shift < len(x) else 1.0) * y[j, c] ** 2
        if square_x == 0 or square_y == 0:
            ratio = 1.0 if square_x == square_y else 0.0
        else:
            ratio = cross / (math.sqrt(square_x) * math.sqrt(square_y))
        best = max(best, ratio)
    return 1 - best


# ---------------------------------------------------------------------------------------------------- search


def reported(name, f, cost, do_dist_norm):
    """What a subsequence search reports for an accumulated cost."""
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
        distance[j - 1], start[j - 1] = reported(name, f, D[m, j], do_dist_norm), S[m, j]
    return distance, start, D[1:, 1:]


def shifted(f, a):
    """The step costs `f` of a series whose sample 0 is the sample a."""
    out = SimpleNamespace(**vars(f))
    out.diag = lambda i, j, b: f.diag(i, j + a, b + a)
    out.up = lambda i, j, b: f.up(i, j + a, b + a)
    out.left = lambda i, j, b: f.left(i, j + a, b + a)
    out.pairs = lambda i, j: f.pairs(i, j + a)
    return out


def brute_search(name, x, y, weight=None, *, tq=None, ts=None, r=None, do_dist_norm=False, **params):
    """For each end the minimum over all starts of the cost of x and y[start:end], each by the recurrence of a pair."""
    f = steps(name, x, y, weight, tq, ts, search=True, **params)
    best = np.full(f.n, INF)
    for end in range(1, f.n + 1):
        for start in range(end):
            D, _ = fill(f, start, end, r=r)
            best[end - 1] = min(best[end - 1], reported(name, f, D[-1, -1], do_dist_norm))
    return best


def windows(name, x, y, weight=None, *, normalize=None, tq=None, ts=None, **params):
    """The distance of the query to each of the n - m + 1 windows of its length; times relative to the first point."""
    m, n = len(x), len(y)
    query = normalise(x, weight, normalize)
    out = np.zeros(n - m + 1)
    for s in range(n - m + 1):
        window = normalise(y[s : s + m], weight, normalize)
        tx = None if tq is None else [a - tq[0] for a in tq]
        ty = None if ts is None else [a - ts[s] for a in ts[s : s + m]]
        if name in LOCKSTEP:
            out[s] = lockstep(name, query, window, weight, tx=tx, ty=ty, **params)
        else:
            out[s] = elastic(name, query, window, weight, tx=tx, ty=ty, **params).distance
    return out


SUMS = {"minkowski": None, "euclidean": 2, "mahalanobis": 2, "short_time_series": 2}
SUMS |= {"sqeuclidean": 1, "manhattan": 1, "canberra": 1, "kullback_leibler": 1}


def filled(v):
    """A series whose missing values are interpolated between their neighbours, per channel."""
    out = points(v).copy()
    for c in range(out.shape[1]):
        seen = [i for i in range(len(out)) if not math.isnan(out[i, c])]
        out[:, c] = np.interp(range(len(out)), seen, out[seen, c]) if seen else 0.0
    return out.reshape(np.shape(v))


def observed(name, x, y, W, seen, tx=None, ty=None, **params):
    """Lockstep distance of two series of one length where only `seen` (m, C) is observed; W are the full weights."""
    w = np.where(seen, W, 0.0)
    whole, part = W, w
    if name == "short_time_series":
        whole, part = np.minimum(W[1:], W[:-1]), np.minimum(w[1:], w[:-1])
    if 2 * math.fsum(w.flat) < math.fsum(W.flat) or w.sum() == 0 or (name in SUMS and part.sum() == 0):
        return INF
    largest = w.max()  # `lockstep` divides by it
    value = lockstep(name, x, y, w, tx=tx, ty=ty, **params)
    if name in SUMS:
        power = params.get("p", 3) if name == "minkowski" else SUMS[name]
        return value * (largest * whole.sum() / part.sum()) ** (1 / power)
    return value * largest if name == "chebyshev" else value


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
        a, b = (normalise(points(v), w, normalize) for v in (x, filled(y[s : s + m])))
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
    number = value if kind == "number" else None
    threshold = INF
    if kind == "threshold":
        threshold = value
    if kind == "percentile":
        threshold = percentile_of(distance, value)
    chosen = []
    for k in sorted(range(len(distance)), key=lambda k: (distance[k], k)):
        if number is not None and len(chosen) >= number:
            break
        if distance[k] < INF and distance[k] <= threshold and all(abs(k - other) >= overlap for other in chosen):
            chosen.append(k)
    return chosen


# ---------------------------------------------------------------------------------------------------- segmentation


def tile_cost(name, x, y, weight, s, e, *, tq=None, ts=None, r=None, **params):
    """Cost of the segment y[s:e]: the recurrence of the search with its start fixed; lockstep: length m only."""
    m = len(x)
    if name in LOCKSTEP:
        if e - s != m:
            return INF
        d = lockstep(name, x, y[s:e], weight, tx=tq, ty=None if ts is None else ts[s:e], **params)
        if name in ("euclidean", "mahalanobis", "short_time_series"):
            return d**2
        if name == "minkowski":
            return d ** params.get("p", 3)
        return d if name in ("manhattan", "sqeuclidean", "canberra", "kullback_leibler") else m * d
    if name in PATHLESS:
        return (1 if name == "soft_dtw" else m) * elastic(name, x, y[s:e], weight, **params).distance
    D, _ = fill(steps(name, x, y, weight, tq, ts, search=True, **params), s, e, r=r)
    return m * D[-1, -1] if name == "frechet" else D[-1, -1]


def background(name, x, weight=None, **params):
    """Default cost of a background sample: the query against a constant signal at its own mean; DTW: 1.5 times."""
    X = points(x)
    W = relative(weight, *X.shape)
    mean = [weighted_mean(X[:, c], W[:, c]) for c in range(X.shape[1])]
    flat = np.array([mean for _ in range(len(X))]).reshape(np.shape(x))
    times = 1.5 if name in ("dtw", "adtw", "wdtw", "ddtw", "wddtw", "shape_dtw") else 1.0
    return times * tile_cost(name, x, flat, weight, 0, len(X), **params) / len(X)


def cost_of_segmentation(segments, n, b, transitions=None):
    """Cost of a cover of range(n) by segments (start, end, label, cost) in order, and background."""
    total, at, before = 0.0, 0, None
    for s, e, label, cost in [*segments, (n, n, None, 0.0)]:
        parts = ([0] if s > at else []) + ([label] if label is not None else [])
        for part in parts:
            if transitions is not None and before is not None:
                total += transitions[before][part]
            before = part
        total += np.broadcast_to(b, n)[at:s].sum() + cost
        at = e
    return total


def segmentations(n, tile_costs, b, transitions=None):
    """The least cost of all covers of range(n) by segments [s, e) of several queries and background samples.

    `tile_costs`: for each query a function (s, e) -> cost, infinite where there is no such segment.
    """

    def covers(s):
        if s == n:
            yield []
            return
        for label, cost in enumerate(costs, 1):
            for e in range(s + 1, n + 1):
                if cost[s, e] < INF:
                    for segments in covers(e):
                        yield [(s, e, label, cost[s, e]), *segments]
        yield from covers(s + 1)

    costs = [{(s, e): f(s, e) for s in range(n) for e in range(s + 1, n + 1)} for f in tile_costs]
    return min(cost_of_segmentation(segments, n, b, transitions) for segments in covers(0))


def costs_of_segments(name, x, y, weight=None, *, tq=None, ts=None, **params):
    """The cost of each segment [s, e) of the series, (n + 1, n + 1), infinite where there is none."""
    n, m = len(y), len(x)
    out = np.full((n + 1, n + 1), INF)
    if name in LOCKSTEP or name in PATHLESS:
        for s in range(n - m + 1):
            out[s, s + m] = tile_cost(name, x, y, weight, s, s + m, tq=tq, ts=ts, **params)
        return out
    f = steps(name, x, y, weight, tq, ts, search=True, **params)
    for s in range(n):
        out[s, s + 1 :] = fill(f, s, n)[0][-1, 1:]
    return out


def cheapest_segmentation(costs, b, transitions=None):
    """The least cost of all segmentations: `costs` holds what `costs_of_segments` gives for each query."""
    n, k = len(costs[0]) - 1, len(costs)
    T = np.zeros((k + 1, k + 1)) if transitions is None else np.asarray(transitions, float)
    last = np.full((n + 1, k + 1), INF)  # up to each sample, by what comes last

    def enter(s, label):
        return 0.0 if s == 0 else min(last[s, a] + T[a, label] for a in range(k + 1) if a or label)

    for e in range(1, n + 1):
        last[e, 0] = b + min(enter(e - 1, 0), last[e - 1, 0])
        for q in range(k):
            last[e, q + 1] = min(
                (enter(s, q + 1) + costs[q][s, e] for s in range(e) if costs[q][s, e] < INF), default=INF
            )
    return last[n].min() if n else 0.0


def carried_segmentation(queries, n, b, transitions=None, bounds=None):
    """The cost that the recurrence finds in which each cell carries the start of its cheapest path.

    `queries`: what `steps` gives for each of them. Cells hold (cost, start); a path longer than the bound is dropped.
    """
    k = len(queries)
    T = np.zeros((k + 1, k + 1)) if transitions is None else transitions
    bounds = [(1, n)] * k if bounds is None else bounds
    nothing = (INF, 0)
    cells = [[nothing] * (f.m + 1) for f in queries]
    last = [0.0] + [INF] * k  # cheapest segmentation up to here that ends in background, or in a segment of each query
    enter = [0.0] * (k + 1)  # what it costs to go on by each; at the beginning nothing
    for j in range(1, n + 1):
        last = [enter[0] + b]
        for q, f in enumerate(queries):
            low, high = bounds[q]
            old = [cell if j - cell[1] <= high else nothing for cell in cells[q]]
            fresh = enter[q + 1]
            if fresh <= old[0][0] or f.closed_boundary:
                old[0] = (fresh, j - 1)
            if not f.closed_boundary:
                for i in range(1, f.m + 1):
                    fresh += f.up(i, j - 1, j - 1)
                    if fresh < old[i][0]:
                        old[i] = (fresh, j - 1)
            new = [nothing if f.closed_boundary else (old[0][0] + f.left(0, j, old[0][1]), old[0][1])]
            for i in range(1, f.m + 1):
                best = nothing
                for (before, s), cost in ((old[i - 1], f.diag), (new[i - 1], f.up), (old[i], f.left)):
                    if before < INF and f.accumulate(before, cost(i, j, s)) < best[0]:
                        best = f.accumulate(before, cost(i, j, s)), s
                new.append(best)
            cells[q] = new
            cost, s = new[-1]
            last.append(cost if low <= j - s <= high else INF)
        enter = [min(last[a] + T[a][c] for a in range(k + 1)) for c in range(k + 1)]
    return min(last)


# ---------------------------------------------------------------------------------------------------- time distance,
# events


def tam(x, y, report="distance", weight=None):
    """Time alignment measurement (Folgado et al. 2018) on the DTW path: advance, delay, phase."""
    path = elastic("dtw", x, y, weight).path
    advance, delay, phase = [], [], []
    for k in range(path.shape[1] - 1):
        query, series = path[0, k + 1] - path[0, k], path[1, k + 1] - path[1, k]
        {(1, 0): advance, (0, 1): delay, (1, 1): phase}[query, series].append(k)
    if report == "instants":
        return advance, delay, phase
    m, n = len(x), len(y)
    ratios = (
        len(advance) / (m - 1) if m > 1 else 0.0,
        len(delay) / (n - 1) if n > 1 else 0.0,
        len(phase) / (min(m, n) - 1) if min(m, n) > 1 else 1.0,
    )
    return ratios if report == "ratios" else ratios[0] + ratios[1] + (1 - ratios[2])


def events(labels):
    """Events [start, end): the runs of equal non-zero labels, or the rows of a (k, 2) array."""
    labels = np.asarray(labels)
    if labels.ndim == 2:
        return [(int(s), int(e)) for s, e in labels]
    out = []
    for k, label in enumerate(labels):
        if label != 0 and k > 0 and labels[k - 1] == label:
            out[-1] = (out[-1][0], k + 1)
        elif label != 0:
            out.append((k, k + 1))
    return out


def event_f1(y_true, y_pred, min_iou=0.5, tolerance=None):
    """F1 score of the largest one-to-one matching of events, by trying all matchings."""
    true, pred = events(y_true), events(y_pred)
    if not true and not pred:
        return 1.0

    def agree(a, b):
        if tolerance is not None:
            return abs(a[0] - b[0]) <= tolerance and abs(a[1] - b[1]) <= tolerance
        common = max(0, min(a[1], b[1]) - max(a[0], b[0]))
        union = (a[1] - a[0]) + (b[1] - b[0]) - common
        return common / union >= min_iou

    @cache
    def most(k, free):
        if k == len(true):
            return 0
        best = most(k + 1, free)
        for q in free:
            if agree(true[k], pred[q]):
                best = max(best, 1 + most(k + 1, free - {q}))
        return best

    hits = most(0, frozenset(range(len(pred))))
    return 2 * hits / (len(true) + len(pred))


def runs(labels):
    """All runs of equal labels, background too: [start, end, label]."""
    found = []
    for i, label in enumerate(labels):
        if found and found[-1][2] == label:
            found[-1][1] = i + 1
        else:
            found.append([i, i + 1, label])
    return found


def intersection_over_union(a, b):
    """Samples in both ranges over samples in either."""
    return len(set(range(*a)) & set(range(*b))) / len(set(range(*a)) | set(range(*b)))


def boundary_error(y_true, y_pred, min_iou=0.5):
    """The least mean border distance of all matchings of events with the most pairs."""
    true, pred = events(y_true), events(y_pred)
    if not true and not pred:
        return 0.0

    def best(k, free):
        """Most pairs and, of these, the least sum of errors."""
        if k == len(true):
            return 0, 0.0
        found = best(k + 1, free)
        for q in free:
            if intersection_over_union(true[k], pred[q]) >= min_iou:
                pairs, error = best(k + 1, free - {q})
                error += abs(true[k][0] - pred[q][0]) + abs(true[k][1] - pred[q][1])
                if pairs + 1 > found[0] or (pairs + 1 == found[0] and error < found[1]):
                    found = pairs + 1, error
        return found

    pairs, error = best(0, frozenset(range(len(pred))))
    return error / (2 * pairs) if pairs else INF


def segmentation_covering(y_true, y_pred):
    """Each true segment's best intersection over union, weighted by its length; runs of labels, background too."""
    true, pred = ([(a, b) for a, b, _ in runs(y)] for y in (y_true, y_pred))
    if not true:
        return 1.0
    return sum((b - a) * max(intersection_over_union((a, b), other) for other in pred) for a, b in true) / len(y_true)

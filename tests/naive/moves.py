"""The costs of the moves of each elastic distance with a warping path."""

import math
from types import SimpleNamespace

import numpy as np

from .ground_costs import descriptor, gradient, keogh_derivative, norm, scales, squared, within
from .series import points, relative
from .table import SQUARES


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
    do_dist_norm=False,
):
    """
    The costs of the three moves into cell (i, j), 1-based, of a candidate that starts at sample b, 0-based.

    A plain distance has b = 0. In a search lags and times are measured from b. `closed_boundary` tells whether
    the boundary is infinite; `pairs(i, j)` whether a diagonal move there is a matched pair; `accumulate` adds a cost
    to what was accumulated.
    `equal_moves` says that the three moves cost the same: a cell then takes the predecessor that costs least.
    `do_dist_norm` changes what is reported, and no cost.
    """
    if name == "cid_dtw":
        name = "dtw"
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

    if name in SQUARES:
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


def shifted(f, a):
    """The step costs `f` of a series whose sample 0 is the sample a."""
    out = SimpleNamespace(**vars(f))
    out.diag = lambda i, j, b: f.diag(i, j + a, b + a)
    out.up = lambda i, j, b: f.up(i, j + a, b + a)
    out.left = lambda i, j, b: f.left(i, j + a, b + a)
    out.pairs = lambda i, j: f.pairs(i, j + a)
    return out

"""Areas of `fuzz.py` about two series: distances, cost matrices, paths, cutoffs, the functions of the same names."""

import numpy as np
from fuzz_cases import COUNTS, LOCKSTEP, again, naive, same, uses_times
from numba import njit

from sktslib import QuerySearcher, get_distance_dict
from sktslib.distances import (
    DTW,
    Mahalanobis,
    get_metric,
    lockstep_distances,
    nearest_neighbors,
    pairwise_distances,
    time_series_distance,
)
from sktslib.distances.elastic_distances import dlp, dtw, lcss, twed
from sktslib.distances.time_distances import tam

WARPED, PATHLESS = naive.WARPED, naive.PATHLESS


@njit
def absolute(a, b):
    return abs(a - b)


def absolute_points(a, b):
    return np.abs(a - b).sum()


def draw_pair(case, high=70, equal=False, **how):
    case.begin(**how)
    x = case.series(case.length(1, high))
    y = case.series(len(x) if equal or case.chance(0.2) else case.length(1, high), like=x)
    w = case.weights(len(x))
    case.show(x=x, y=y, w=w)
    return x, y, w


def pair_forms(case, metric, x, y, w, times, got, want, other, scale=same):
    """Other forms of the same question: cutoffs, a column, scaled weights, no weights, the other way round."""
    value = float(got)
    case.close("call", scale(metric(x, y, weight=w, **times)), want, other)
    if np.isfinite(value):
        for factor in (1.0, 1 + 1e-9, 3.0, 0.999, 0.4):
            cutoff = max(value * factor, 0.0)
            below = value <= cutoff
            result = float(metric.distance(x, y, weight=w, cutoff=cutoff, **times))
            case.equal(f"cutoff of {factor}", result, value if below else np.inf, own=True)
    columns = metric.distance(x.reshape(len(x), -1), y.reshape(len(y), -1), weight=w, **times)
    case.equal("columns", float(columns), value, own=True)
    if w is not None:
        case.equal("weights times 4", float(metric.distance(x, y, weight=4 * w, **times)), value, own=True)
        uniform = float(metric.distance(x, y, weight=np.full(len(x), 3.0), **times))
        case.equal("uniform weights", uniform, float(metric.distance(x, y, **times)), own=True)
    elif metric.is_symmetric:
        swapped = {"tx": times.get("ty"), "ty": times.get("tx")}
        case.close("the other way round", scale(float(metric.distance(y, x, **swapped))), want, other)


def draw_times(case, name, x, y):
    if not uses_times(name) or case.chance(0.5):
        return {}
    times = {"tx": case.times(len(x)), "ty": case.times(len(y))}
    case.show(**times)
    return times


def elastic(case, **how):
    """Elastic distances with a path: distance, cost matrix, path, cutoffs."""
    x, y, w = draw_pair(case, **how)
    metric, name, p = case.elastic(WARPED, len(x), len(y))
    times = draw_times(case, name, x, y)

    def wanted(change=same):
        return naive.elastic(name, change(x), change(y), w, **times, **p)

    want, got = wanted(), metric.distance(x, y, weight=w, **times)
    sure = name in COUNTS
    other = again(name, lambda change: wanted(change).distance, sure=sure)
    case.close("distance", float(got), want.distance, other)
    case.close("cost_matrix", got.cost_matrix, want.D, again(name, lambda change: wanted(change).D, sure=sure))
    if np.isfinite(want.distance):  # else squares are too large for a path
        check_path(case, name, p, got.path, want, x, y, w, times, other)
    pair_forms(case, metric, x, y, w, times, got, want.distance, other)
    functions(case, name, metric, x, y, w, times, want, other)


def check_path(case, name, p, path, want, x, y, w, times, other):
    if case.ties(name, p):
        case.equal("path", path, want.path)
        return
    if p.get("do_sign_norm"):
        x, y = (naive.standardize(naive.points(v)).reshape(np.shape(v)) for v in (x, y))
    own = {key: p[key] for key in naive.TABLE[name].values} | ({"p": p["p"]} if name == "twed" else {})
    f = naive.steps(name, x, y, w, **times, **own)
    m, n = len(x), len(y)
    if name == "lcss":
        i, j = path
        rising = (np.diff(path) > 0).all() and all(f.pairs(a + 1, b + 1) for a, b in zip(i, j, strict=True))
        total = 1 - sum(f.w[k] for k in i) / sum(sorted(f.w, reverse=True)[: min(m, n)])
        case.close("path", total if rising else np.nan, want.distance, other)
        return
    kind = p.get("dtw_type", "dtw")
    free = p.get("tolerance", 0) if kind == "psi-dtw" else 0
    row = n if kind in ("obe-dtw", "sub-dtw") else free
    total = naive.cost_along(f, path, 0, row, free)
    if name == "cid_dtw":
        total = naive.reported(name, f, total, False, naive.points(x), naive.points(y))
    total /= m if p.get("do_dist_norm") else max(m, n) if name == "edr" else 1
    ends = path[0, -1] == m - 1 and (kind == "oe-dtw" or n - 1 - path[1, -1] <= row)
    if kind == "psi-dtw":
        ends = ends or (path[1, -1] == n - 1 and m - 1 - path[0, -1] <= free)
    case.close("path", total if ends or kind == "oe-dtw" else np.nan, want.distance, other)


def functions(case, name, metric, x, y, w, times, want, other):
    """The functions `dtw`, `lcss`, `twed` and `tam`."""
    given = metric.get_params()
    if name == "dtw":
        result = dtw(x, y, w, **given)
    elif name == "lcss":
        result = lcss(x, y, given.pop("eps"), weight=w, **given)
        similarity = lcss(x, y, weight=w, report="similarity", **metric.get_params())
        case.close("lcss similarity", similarity, 1 - want.distance, lambda change: 1 - other(change))
    elif name == "twed" and metric.window is None:
        given = {key: given[key] for key in ("nu", "lmbda", "p")}
        result = twed(x, y, times.get("tx"), times.get("ty"), weight=w, **given)
    else:
        return
    case.close(f"function {name}", float(result), want.distance, other)
    if name == "dtw" and case.exact:
        for report in ("distance", "ratios", "instants"):
            slow = naive.tam(x, y, report, w)
            slow = [len(steps) for steps in slow] if report == "instants" else slow
            case.close(f"tam {report}", tam(x, y, report, weight=w), slow)
        case.close("TAM", get_metric("tam")(x, y, weight=w), naive.tam(x, y, weight=w))


def local_costs(case):
    """dtw with a local cost of the caller's own, compiled and plain."""
    x, y, w = draw_pair(case, high=12)
    p = {"alpha": case.pick([1.0, 1.0, 0.5]), "dtw_type": case.pick(["dtw", "oe-dtw", "sub-dtw"])}
    here, other = case.band()
    dist = absolute if x.ndim == 1 and case.chance(0.7) else absolute_points
    metric = DTW(dist=dist, **p, **here)
    case.show(metric=metric)

    def wanted(change=same):
        return naive.elastic("dtw", change(x), change(y), w, dist=absolute_points, **p, **other)

    want, got = wanted(), metric.distance(x, y, weight=w)
    case.close("distance", float(got), want.distance, lambda change: wanted(change).distance)
    case.close("cost_matrix", got.cost_matrix, want.D, lambda change: wanted(change).D)


def pathless(case, **how):
    """soft_dtw, gak and sbd: distance, cost matrix, expected alignment."""
    x, y, w = draw_pair(case, **{"high": 40, **how})
    metric, name, p = case.elastic(PATHLESS, len(x), len(y))

    def wanted(change=same):
        return naive.elastic(name, change(x), change(y), w, **p)

    want, got = wanted(), metric.distance(x, y, weight=w)

    unit = 0.0  # the three terms are rounded, and their difference may be small
    if name == "soft_dtw":
        unit = metric.gamma * (len(x) + len(y)) + abs(want.D[-1, -1])
        case.close("cost_matrix", got.cost_matrix, want.D, again(name, lambda change: wanted(change).D, unit=unit))
    other = again(name, lambda change: wanted(change).distance, unit=unit)
    case.close("distance", float(got), want.distance, other)
    pair_forms(case, metric, x, y, w, {}, got, want.distance, other)
    if name != "sbd" and metric.window is None and max(len(x), len(y)) <= 4:
        own = {key: p[key] for key in ("gamma", "sigma", "triangular") if key in p}
        if name == "gak" and p["triangular"] is not None and p["triangular"] <= abs(len(x) - len(y)):
            return  # no alignment has any weight

        def share(change):
            return naive.expected_alignment(change(x), change(y), w, **own)

        case.close("expected_alignment", metric.expected_alignment(x, y, weight=w), share(same), share, rtol=1e-8)


def lockstep(case, **how):
    """Lockstep distances, their functions, dlp."""
    name = case.pick(LOCKSTEP)
    x, y, w = draw_pair(case, equal=naive.TABLE[name].same_length, **how)
    p = case.parameters(name)
    if name == "mahalanobis" and case.chance(0.7):
        size = min(len(x), len(y)) * case.channels
        a = case.rng.integers(-3, 4, (size, size)) / 4 if case.exact else case.rng.normal(size=(size, size))
        p = {"VI": a @ a.T + np.eye(size)}
    metric = Mahalanobis(**p) if name == "mahalanobis" else get_metric(name, p)
    times = draw_times(case, name, x, y)
    case.show(metric=metric, p=p)

    def wanted(change=same):
        return naive.bounded(name, p, naive.lockstep(name, change(x), change(y), w, **times, **p))

    try:
        want = wanted()
    except (ValueError, ZeroDivisionError):  # interpolation leaves no positive weight
        case.refused("weights of zeros", lambda: metric.distance(x, y, weight=w, **times))
        return
    got, other = metric.distance(x, y, weight=w, **times), again(name, wanted)
    case.close("distance", naive.bounded(name, p, got), want, other)
    pair_forms(case, metric, x, y, w, times, got, want, other, lambda value: naive.bounded(name, p, value))
    function = getattr(lockstep_distances, name if name == "pearson_correlation" else f"{name}_distance")
    got = function(x, y, weight=w, **p, **times)
    case.close("function", naive.bounded(name, p, got), want, other)
    if len(x) == len(y):
        q = case.pick([0.5, 1, 2, 3.5])
        want = naive.lockstep("minkowski", x, y, w, p=q)
        case.close("dlp", dlp(x, y, q, weight=w), want)


def table(case):
    """time_series_distance: a table of all distances."""
    case.begin()
    x = case.series(case.length(1, 12))
    y = case.series(len(x), like=x)
    tx, ty = (case.times(len(x)), case.times(len(y))) if case.chance(0.5) else (None, None)
    case.show(x=x, y=y, tx=tx, ty=ty)
    cfg = get_distance_dict()
    frame = time_series_distance(cfg, x, y, tx, ty)
    for group, entries in cfg.items():
        for key, entry in entries.items():
            name = entry["function"]
            if entry["use"] == "no":
                continue
            times = {"tx": tx, "ty": ty} if uses_times(name) else {}

            def wanted(change, name=name, group=group, times=times):
                a, b = change(x), change(y)
                if group == "lockstep":
                    return naive.lockstep(name, a, b, **times)
                if group == "time":
                    return naive.tam(x, y)
                return naive.elastic(name, a, b, do_dist_norm=name == "dtw", **times).distance

            if group == "time" and not case.exact:
                continue
            other = again(name, wanted, sure=name in COUNTS, unit=(name == "soft_dtw") * (1 + 2 * len(x)))
            case.close(name, frame.loc[key, "Distance"], wanted(same), other)


def extreme(case):
    """Distances near the limits of float64: those of the same series in another unit, a power of two."""
    name = case.pick([name for name in (*WARPED, *LOCKSTEP) if naive.TABLE[name].degree is not None])
    entry, kinds = naive.TABLE[name], ["quarters", "normal", "rounded", "walk"]
    # Whether interpolated values are equal to others depends on their last digit.
    equal = entry.same_length or (name in LOCKSTEP and entry.is_sharp)
    x, y, w = draw_pair(case, high=20, equal=equal, kinds=kinds)
    p, exponent = case.parameters(name), case.pick([-450, -400, -332, 332, 450, 500])
    unit, degree, units = 2.0**exponent, entry.degree, entry.units
    if name == "dtw":
        p["do_sign_norm"] = case.chance(0.2)
        degree = 0 if p["do_sign_norm"] else 2
    metric = get_metric(name, {key: v * unit ** units[key] if v and key in units else v for key, v in p.items()})
    case.show(metric=metric, unit=unit)

    def wanted(change=same):
        if name in LOCKSTEP:
            value = naive.bounded(name, p, naive.lockstep(name, change(x), change(y), w, **p))
        else:
            value = naive.elastic(name, change(x), change(y), w, **p).distance
        with np.errstate(all="ignore"):
            return np.ldexp(value, degree * exponent)

    try:
        want = wanted()
    except (ValueError, ZeroDivisionError):  # interpolation leaves no positive weight
        return
    other = again(name, lambda change: wanted(change) + 1e-306, sure=name in COUNTS)  # tiny numbers have fewer digits
    try:
        got = metric.distance(x * unit, y * unit, weight=w)
    except ValueError as error:  # what cannot be computed is said
        case.equal(f"{name} refused", "squares of differences are finite" in str(error), True, own=True)
        return
    case.close(f"{name} distance", naive.bounded(name, p, float(got)), want, other)
    back = {"tx": None, "ty": None}
    got = metric(x * unit, y * unit, weight=w, cutoff=1e308, **back)
    case.close(f"{name} cutoff", naive.bounded(name, p, got), want, other)


def positive(case):
    """Distances of positive values: pairs, matrices, neighbors, windows, streams."""
    case.begin(channels=(1, 1, 2))
    name, channels = case.pick(naive.POSITIVE), case.channels
    x, y, *Y = (case.rng.uniform(0.1, 3.0, (case.length(1, 40), channels)) for _ in range(case.between(2, 6)))
    w = case.weights(len(x)) if channels == 1 else None
    case.show(name=name, x=x, y=y, Y=Y, w=w)
    try:
        want = np.array([naive.lockstep(name, x, a, w) for a in (y, *Y)])
    except (ValueError, ZeroDivisionError):  # interpolation leaves no positive weight
        return
    case.close("pairs", [get_metric(name).distance(x, a, weight=w) for a in (y, *Y)], want, lambda change: want + 1e-14)
    how = {"weight": w, "channels_first": False}  # whatever the lengths
    case.close("matrix", pairwise_distances([x], [y, *Y], name, **how)[0], want, lambda change: want + 1e-14)
    order = nearest_neighbors([x], [y, *Y], name, len(want), **how).distances[0]
    case.close("neighbors", order, np.sort(want), lambda change: np.sort(want) + 1e-14)
    sequence = np.concatenate([y, *Y, x])
    profile = QuerySearcher(name).fit(x, weight=w).profile(sequence)
    windows = naive.windows(name, x, sequence, w)
    case.close("profile", profile.distance, windows, lambda change: windows + 1e-14)


AREAS = {
    "positive": positive,
    "elastic": elastic,
    "local_costs": local_costs,
    "pathless": pathless,
    "lockstep": lockstep,
    "table": table,
    "extreme": extreme,
}

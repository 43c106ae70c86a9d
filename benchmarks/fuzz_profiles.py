"""Areas of `fuzz.py` about one query in one sequence: profiles, matches, paths, chunks and streams."""

from contextlib import contextmanager

import numpy as np
from fuzz_cases import COUNTS, LOCKSTEP, again, naive, same, uses_times
from fuzz_matches import Slices, check_matches, check_paths, chunks_of
from inputs import searcher_of

from sktslib.distances import get_metric
from sktslib.distances._kernels import mass as sliding_kernels
from sktslib.search import _pruning

SHARP = naive.names(is_sharp=True)  # the last bit of a normalized value may decide
HOW = [None, "zscore", "mean", "minmax"]
PLAIN = ["quarters", "symbols", "normal", "rounded", "walk"]


@contextmanager
def as_if_large(case):
    """Let short sequences take the ways of long ones: Fourier transforms, lower bounds."""
    before = sliding_kernels.LEAST, _pruning.LEAST
    sliding_kernels.LEAST, _pruning.LEAST = case.pick([before[0], before[0], 1]), case.pick([before[1], 0])
    try:
        yield
    finally:
        sliding_kernels.LEAST, _pruning.LEAST = before


def plant(case, x, n):
    """A sequence with some copies of the query in it."""
    y = case.series(n)
    for _ in range(case.between(0, 2)):
        if n >= len(x):
            at = case.between(0, n - len(x))
            y[at : at + len(x)] = x
    return y


def draw_times(case, name, m, n):
    if not uses_times(name) or case.chance(0.5):
        return None, None
    return case.times(m), case.times(n)


def windows(case, lengths=None, missing=False):
    """Profiles by windows of all metrics, normalized or not, and the matches."""
    with as_if_large(case):
        some_windows(case, lengths, missing)


def some_windows(case, lengths, missing):
    name = case.pick((*LOCKSTEP, *naive.WARPED, *naive.PATHLESS))
    how = case.pick(HOW)
    sharp = how is not None and name in SHARP
    case.begin(kinds=["normal"]) if sharp else case.begin()
    m = case.length(3 if sharp else 1, 10 if name not in LOCKSTEP else 20)
    x = case.series(m)
    size = case.between(m, m + (8 if m < 12 else 4)) + (6 if lengths else 0)
    # Of two points all are -1 and 1, and resampled copies would be equal but for roundings.
    y = case.series(size) if sharp and lengths else plant(case, x, size)
    w = None if sharp else case.weights(m)
    if missing and not sharp:
        y = y.copy()
        y[case.rng.random(y.shape) < case.pick([0.05, 0.2, 0.5])] = np.nan
    if name in LOCKSTEP:
        p = case.parameters(name)
        metric = get_metric(name, p)
    else:
        metric, name, p = case.elastic([name], m, m, plain=True, bands=name not in ("soft_dtw", "gak"))
    tq, ts = draw_times(case, name, m, size)
    case.show(name=name, p=p, how=how, x=x, y=y, w=w, tq=tq, ts=ts, lengths=lengths)
    slow = naive.observed_windows if missing else naive.windows

    def wanted(change=same):
        query, sequence = change(x), change(y)
        if lengths:
            value = naive.scaled_windows(name, query, sequence, sizes, w, normalize=how, tq=tq, ts=ts, **p)[0]
        else:
            value = slow(name, query, sequence, w, normalize=how, tq=tq, ts=ts, **p)
        return naive.bounded(name, p, value)

    scales = None
    if lengths:
        scales = case.pick([(0.7, 1.4), [0.5, 2.0], [1.5], (1.0, 1.0)])
        ends = [max(1, round(s * m)) for s in scales]
        sizes = range(ends[0], ends[-1] + 1) if isinstance(scales, tuple) else sorted(set(ends))
        if size < min(sizes):
            return
        case.show(scales=scales)
    searcher = searcher_of(
        metric, mode="windows", normalize=how, scales=scales, nan_policy="omit" if missing else "raise"
    ).fit(x, weight=w, times=tq)
    profile = searcher.profile(y, times=ts)
    unit = 20 * p.get("gamma", 0.0) + (how in ("zscore", "minmax"))
    other = again(name, wanted, sure=name in COUNTS and how is None and not lengths, unit=unit)
    case.close("profile", naive.bounded(name, p, profile.distance), wanted(), other, rtol=max(1e-10, profile._slack))
    if not lengths:
        case.equal("start", profile.start, np.arange(size - m + 1))
        case.equal("end", profile.end, np.arange(m, size + 1))
    if case.chance(0.5) and not profile._slack:
        check_matches(case, searcher, y, ts, profile)


def sliding(case):
    """Profiles of long windows by running moments and Fourier transforms, at some windows."""
    case.begin(kinds=["normal", "walk", "offset", "scaled", "quarters", "step", "flat"], channels=(1, 1, 2))
    kind, case.kind = case.kind, "normal" if case.kind in ("step", "flat") else case.kind
    m, n = case.between(90, 260), case.between(700, 2500)
    y = case.series(n)
    if kind == "step":
        y[n // 3 : n // 2] += case.offset
    elif kind == "flat":
        y[n // 4 : n // 2] = 0.25 + case.offset
    at = case.between(0, n - m)
    x = y[at : at + m] + case.pick([0.0, 1e-9, 0.1, 1.0]) * case.rng.normal(size=y[:m].shape)
    name = case.pick(["euclidean", "sqeuclidean", "cosine", "correlation", "pearson_correlation", "manhattan"])
    how, w = case.pick(HOW), case.weights(m) if case.chance(0.3) else None
    some = np.unique([0, n - m, at, *case.rng.integers(0, n - m + 1, 5)])
    case.show(name=name, how=how, x=x, y=y, w=w, some=some)
    least, sliding_kernels.LEAST = sliding_kernels.LEAST, 1
    try:
        profile = searcher_of(name, normalize=how).fit(x, weight=w).profile(y)
    finally:
        sliding_kernels.LEAST = least

    def wanted(change=same):
        a, b = change(x), change(y)
        return np.array([naive.windows(name, a, b[s : s + m], w, normalize=how)[0] for s in some])

    other = again(name, wanted, unit=float(how in ("zscore", "minmax")))
    case.close(f"profile {how}", profile.distance[some], wanted(), other, rtol=max(1e-10, profile._slack))


def missing_windows(case):
    """Profiles by windows of a sequence with missing values."""
    windows(case, missing=True)


def scaled(case):
    """Profiles by windows of several lengths."""
    windows(case, lengths=True)


def warped(case, missing=False):
    """Subsequence profiles against the recurrence with carried starts, and the matches."""
    case.begin(kinds=[*PLAIN, "offset", "scaled", "constant"])
    m, n = case.length(1, 35), case.length(1, 60)
    x = case.series(m)
    y, w = plant(case, x, n), case.weights(m)
    metric, name, p = case.elastic(naive.WARPED, m, m, plain=True, bands=False)
    radius = case.pick([None, None, None, 0, 2, m // 2])
    if radius is not None:
        metric.set_params(window="sakoe-chiba", factor=radius)
    tq, ts = draw_times(case, name, m, n)
    limits = case.pick([{}, {}, {"min_length": 2}, {"max_length": 3}, {"min_length": 2, "max_length": m + 2}])
    if missing:
        y = y.copy()
        y[case.rng.random(n) < 0.1] = np.nan
    seen = ~np.isnan(y.reshape(n, -1)).any(axis=1)
    case.show(x=x, y=y, w=w, tq=tq, ts=ts, limits=limits, p=p)

    def wanted(change=same, what=0):
        distance, start = np.full(n, np.inf), np.full(n, -1)
        for a, b, good in naive.runs(seen.tolist()):
            if good:
                times = {"tq": tq, "ts": None if ts is None else ts[a:b]}
                more = {"r": radius, **limits, **times, **p}
                d, s, _ = naive.elastic_search(name, change(x), change(y[a:b]), w, **more)
                distance[a:b], start[a:b] = d, np.where(s < 0, -1, s + a)
        return (distance, start)[what] if what is not None else (distance, start)

    rule = {"min_length": None, **limits, "nan_policy": "omit" if missing else "raise"}
    searcher = searcher_of(metric, mode="subsequence", **rule)
    profile = searcher.fit(x, weight=w, times=tq).profile(y, times=ts)
    want, start = wanted(what=None)
    case.close("profile", profile.distance, want, again(name, wanted, sure=name in COUNTS))
    case.equal("end", profile.end, np.arange(1, n + 1))
    if case.ties(name, p):
        case.equal("start", profile.start, start)
    if missing or not case.chance(0.6):
        return
    f = naive.steps(name, x, y, w, tq, ts, search=True, **p)

    def exact(s, e):
        allowed = None if radius is None else naive.band(m, e - s, "sakoe-chiba", radius)  # that of two whole series
        cost = naive.fill(f, s, e, allowed=allowed)[0][-1, -1]
        return naive.reported(name, f, cost, p.get("do_dist_norm", False), x, y[s:e])

    if np.isfinite(profile.distance).any() and (profile.start >= -1).all():
        looks_back = radius is not None or naive.looks_back(name, p)
        slow_exact = lambda s, e: exact(int(s), int(e))  # noqa: E731
        matches = check_matches(case, searcher, y, ts, profile, slow_exact if looks_back else None)
        if radius is None:
            check_paths(case, matches, name, f, p, x, y)


def missing_warped(case):
    """Subsequence profiles of a sequence with missing values."""
    warped(case, missing=True)


def long(case):
    """Subsequence profiles of thousands of samples: by chunks, and around the borders of blocks by `naive`."""
    case.begin(kinds=["quarters", "normal", "rounded", "walk"], channels=(1, 1, 1, 2))
    m = case.pick([1, 17, 33, 65, 97, case.between(2, 16), case.length(1, 70), case.pick([15, 16, 31, 32, 34, 49, 64])])
    n = case.pick([4095, 4096, 4097, case.between(4098, 5200), case.between(8180, 8300)])
    x = case.series(m)
    y, w = plant(case, x, n), case.weights(m) if case.chance(0.5) else None
    metric, name, p = case.elastic(("dtw", *naive.WARPED), m, m, plain=True, bands=False)
    if name == "dtw":
        p["alpha"] = case.pick([1.0, 1.0, 0.7])
        metric.set_params(alpha=p["alpha"])
    case.show(m=m, n=n, x=x, y=y, w=w, p=p)
    searcher = searcher_of(metric, mode="subsequence", min_length=None).fit(x, weight=w)
    profile = searcher.profile(y)
    with chunks_of(case.pick([1000, 1537, 4096, 700])):
        read = searcher.profile(Slices(y))
    case.close("chunks: profile", profile.distance, read.distance, rtol=1e-12, own=True)
    case.equal("chunks: start", profile.start, read.start, own=True)
    border = 4096 * case.between(1, n // 4096) if n >= 4096 else n
    reach = min(2 * m + 20, 90)
    a, b = max(border - reach, 0), min(border + reach // 2, n)
    want, start, _ = naive.elastic_search(name, x, y, w, stretch=(a, b), **p)
    inside = profile.start[a:b] >= a  # of those the best candidate lies within the stretch

    def near(change):
        return naive.elastic_search(name, change(x), change(y), w, stretch=(a, b), **p)[0][inside]

    once = naive.looks_back(name, p)  # cells keep one start, which may be another
    if inside.any() and not once:
        case.close("border", profile.distance[a:b][inside], want[inside], again(name, near, sure=name in COUNTS))
        if case.ties(name, p):
            case.equal("border: start", profile.start[a:b][inside], start[inside] + a)
    outside = want[~inside] * (1 + 1e-9) + 1e-12
    if not once:
        case.equal("border: bound", bool((profile.distance[a:b][~inside] <= outside).all()), True)


AREAS = {
    "windows": windows,
    "missing_windows": missing_windows,
    "scaled": scaled,
    "sliding": sliding,
    "subsequence": warped,
    "missing_warped": missing_warped,
    "long": long,
}

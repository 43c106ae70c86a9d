"""Areas of `fuzz.py` about one query in one sequence: profiles, matches, paths, chunks and streams."""

from contextlib import contextmanager

import numpy as np
from fuzz_cases import COUNTS, again, naive, same, settled

from sktslib import QuerySearcher
from sktslib.distances import get_metric
from sktslib.search import _long

SHARP = ("canberra", "hamming", "braycurtis", "lcss", "edr", "msm")  # the last bit of a normalised value may decide
HOW = [None, "zscore", "mean", "minmax"]
LONG = ("dtw", "dtw", "ddtw", "shape_dtw", "adtw", "msm", "erp", "lcss", "edr", "frechet", "twed", "wdtw", "wddtw")
PLAIN = ["quarters", "symbols", "normal", "rounded", "walk"]


class Slices:
    """A sequence that is not in memory: it knows its length and gives slices."""

    def __init__(self, y):
        self.y = y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, part):
        return self.y[part]


@contextmanager
def chunks_of(size):
    before, _long.CHUNK = _long.CHUNK, size
    try:
        yield
    finally:
        _long.CHUNK = before


def plant(case, x, n):
    """A sequence with some copies of the query in it."""
    y = case.series(n)
    for _ in range(case.between(0, 2)):
        if n >= len(x):
            at = case.between(0, n - len(x))
            y[at : at + len(x)] = x
    return y


def rules(case, distance):
    """What matches are asked for."""
    rule = {"n_matches": case.pick([1, 2, 3, None, None]), "max_overlap": case.pick([0.0, 0.0, 0.25, 0.5, 1.0])}
    finite = np.sort(distance[np.isfinite(distance)])
    if len(finite) and finite[0] >= 0:
        kind = case.pick(["none", "threshold", "threshold", "percentile"])
        if kind == "threshold":
            rule["threshold"] = float(finite[case.between(0, len(finite) - 1)] * case.pick([1.0, 1.0, 1 + 1e-6]))
        elif kind == "percentile":
            rule["percentile"] = case.pick([0, 10, 33.3, 50, 100])
    case.show(rule=rule)
    return rule


def wanted_matches(profile, rule, exact=None):
    """Ranges and distances by `naive`, in the order in which they are listed; perhaps several right answers."""
    found = []
    for nudge in (0.0, 1e-12, -1e-12) if "percentile" in rule else (0.0,):
        one = dict(rule)
        if "percentile" in rule:
            one["threshold"] = naive.percentile_of(profile.distance, one.pop("percentile")) * (1 + nudge)
        chosen = naive.select(profile.distance, profile.start, profile.end, **one)
        reported = [profile.distance[k] if exact is None else exact(profile.start[k], profile.end[k]) for k in chosen]
        order = sorted(range(len(chosen)), key=lambda k, reported=reported: reported[k])
        found.append([(int(profile.start[chosen[k]]), int(profile.end[chosen[k]]), reported[k]) for k in order])
    return found


def check_matches(case, searcher, y, ts, profile, exact=None):
    """Search, transform, predict, stream and chunks against the profile."""
    rule = rules(case, profile.distance)
    searcher = searcher.set_params(**{"n_matches": 1, "threshold": None, "percentile": None, **rule})
    matches = searcher.search(y, times=ts)
    got = [(m.start, m.end) for m in matches]
    answers = wanted_matches(profile, rule, exact)
    want = next((a for a in answers if [r[:2] for r in a] == got), answers[0])
    if exact is not None:  # what is reported may be equal but for roundings
        got, want = sorted(got), sorted(want)
    ranges_agree = case.equal("ranges", np.array(got).reshape(-1, 2), np.array([r[:2] for r in want]).reshape(-1, 2))
    if ranges_agree:
        distances = np.array([r[2] for r in want])
        by_range = {(m.start, m.end): m.distance for m in matches}
        slack = 1e-14 * np.abs(distances).max(initial=1e-300)
        case.close("match distances", [by_range[r[:2]] for r in want], distances, lambda c: distances + slack)
    labels = np.zeros(len(y), int)
    for k, m in reversed(list(enumerate(matches))):
        labels[m.start : m.end] = k + 1
    case.equal("predict", searcher.predict(y, times=ts), labels)
    ending = np.full(len(y), np.inf)
    for e, d in zip(profile.end, profile.distance, strict=True):
        ending[e - 1] = min(ending[e - 1], d)
    found = np.isfinite(ending)
    ending[~found] = ending[found].max() if found.any() else 0.0
    if searcher.scales is None:
        case.equal("transform", searcher.transform(y, times=ts)[:, 0], ending)
    if case.chance(0.5):
        check_chunks(case, searcher, y, ts, profile, matches, rule)
    return matches


def check_chunks(case, searcher, y, ts, profile, matches, rule):
    """Read by chunks, and as a stream, a sequence gives the same."""
    with chunks_of(case.between(1, 16)):
        long = searcher.profile(Slices(y), times=ts)
        case.close("chunks: profile", long.distance, profile.distance, rtol=1e-12)
        if "percentile" not in rule or rule["percentile"] in (0, 100):
            read = searcher.search(Slices(y), times=ts)
            case.equal("chunks: ranges", ranges(read), ranges(matches))
            case.close("chunks: distances", np.sort(read.distance), np.sort(matches.distance), rtol=1e-11)
    if rule.get("threshold") is None:
        return
    stream, parts, at = searcher.stream(), [], 0
    while at < len(y):
        size = case.pick([0, 1, 2, 5, 11])
        parts.append(stream.update(y[at : at + size], times=None if ts is None else ts[at : at + size]))
        at += size
    parts.append(stream.flush())
    case.equal("stream: ranges", sorted(r for part in parts for r in ranges(part)), ranges(matches))
    distance = np.sort(np.concatenate([part.distance for part in parts]))
    case.close("stream: distances", distance, np.sort(matches.distance), rtol=1e-11)
    case.equal("stream: samples", stream.n_samples_seen, len(y))


def ranges(matches):
    return sorted(zip(matches.start.tolist(), matches.end.tolist(), strict=True))


def check_paths(case, matches, name, f, p):
    """The costs along the paths of warped matches add up to their distances."""
    for k, match in enumerate(matches):
        if k == 3 or name == "lcss":
            return
        path = matches.path(k) - np.array([[0], [match.start]])
        total = naive.cost_along(f, path, match.start) if path.size else np.inf
        total = naive.reported(name, f, total, p.get("do_dist_norm", False))
        skipped = name in ("edr", "erp")  # a path without its border may leave out query points at the end
        if not skipped or path[0, -1] == f.m - 1:
            other = lambda change, d=match.distance: d + 1e-15 * case.scale**2  # noqa: E731
            case.close("path", total, match.distance, other, rtol=1e-9)


def draw_times(case, name, m, n):
    if name not in ("twed", "short_time_series") or case.chance(0.5):
        return None, None
    return case.times(m), case.times(n)


def windows(case, lengths=None, missing=False):
    """Profiles by windows of all metrics, normalised or not, and the matches."""
    name = case.pick((*naive.LOCKSTEP, *naive.WARPED, *naive.PATHLESS))
    how = case.pick(HOW)
    sharp = how is not None and name in SHARP
    case.begin(kinds=["normal"]) if sharp else case.begin()
    m = case.length(3 if sharp else 1, 10 if name not in naive.LOCKSTEP else 20)
    x = case.series(m)
    size = case.between(m, m + (8 if m < 12 else 4)) + (6 if lengths else 0)
    y, w = plant(case, x, size), None if sharp else case.weights(m)  # of two points all are -1 and 1
    if missing and not sharp:
        y = y.copy()
        y[case.rng.random(y.shape) < case.pick([0.05, 0.2, 0.5])] = np.nan
    if name in naive.LOCKSTEP:
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
        return settled(name, p, value)

    scales = None
    if lengths:
        scales = case.pick([(0.7, 1.4), [0.5, 2.0], [1.5], (1.0, 1.0)])
        ends = [max(1, round(s * m)) for s in scales]
        sizes = range(ends[0], ends[-1] + 1) if isinstance(scales, tuple) else sorted(set(ends))
        if size < min(sizes):
            return
        case.show(scales=scales)
    searcher = QuerySearcher(
        metric, mode="windows", normalize=how, scales=scales, nan_policy="omit" if missing else "raise"
    ).fit(x, weight=w, times=tq)
    profile = searcher.profile(y, times=ts)
    unit = 20 * p.get("gamma", 0.0) + (how in ("zscore", "minmax"))
    other = again(name, wanted, sure=name in COUNTS and how is None and not lengths, unit=unit)
    case.close("profile", settled(name, p, profile.distance), wanted(), other)
    if not lengths:
        case.equal("start", profile.start, np.arange(size - m + 1))
        case.equal("end", profile.end, np.arange(m, size + 1))
    if case.chance(0.5) and not profile._slack:
        check_matches(case, searcher, y, ts, profile)


def missing_windows(case):
    """Profiles by windows of a sequence with missing values."""
    windows(case, missing=True)


def scaled(case):
    """Profiles by windows of several lengths."""
    windows(case, lengths=True)


def warped(case, missing=False):
    """Warped profiles against the recurrence with carried starts, and the matches."""
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

    searcher = QuerySearcher(metric, mode="warped", nan_policy="omit" if missing else "raise", **limits)
    profile = searcher.fit(x, weight=w, times=tq).profile(y, times=ts)
    want, start = wanted(what=None)
    case.close("profile", profile.distance, want, again(name, wanted, sure=name in COUNTS))
    case.equal("end", profile.end, np.arange(1, n + 1))
    if case.ties(name, p):
        case.equal("start", profile.start, start)
    if missing or not case.chance(0.6):
        return
    f = naive.steps(name, x, y, w, tq, ts, search=True, **{k: v for k, v in p.items() if k != "do_dist_norm"})

    def exact(s, e):
        allowed = None if radius is None else naive.band(m, e - s, "sakoe-chiba", radius)  # that of two whole series
        cost = naive.fill(f, s, e, allowed=allowed)[0][-1, -1]
        return naive.reported(name, f, cost, p.get("do_dist_norm", False))

    if np.isfinite(profile.distance).any() and (profile.start >= -1).all():
        looks_back = radius is not None or name in ("wdtw", "wddtw") or (name == "twed" and p["nu"] > 0)
        slow_exact = lambda s, e: exact(int(s), int(e))  # noqa: E731
        matches = check_matches(case, searcher, y, ts, profile, slow_exact if looks_back else None)
        if radius is None:
            check_paths(case, matches, name, f, p)


def missing_warped(case):
    """Warped profiles of a sequence with missing values."""
    warped(case, missing=True)


def long(case):
    """Warped profiles of thousands of samples: by chunks, and around the borders of blocks by `naive`."""
    case.begin(kinds=["quarters", "normal", "rounded", "walk"], channels=(1, 1, 1, 2))
    m = case.pick([1, 17, 33, 65, 97, case.between(2, 16), case.length(1, 70), case.pick([15, 16, 31, 32, 34, 49, 64])])
    n = case.pick([4095, 4096, 4097, case.between(4098, 5200), case.between(8180, 8300)])
    x = case.series(m)
    y, w = plant(case, x, n), case.weights(m) if case.chance(0.5) else None
    metric, name, p = case.elastic(LONG, m, m, plain=True, bands=False)
    if name == "dtw":
        p["alpha"] = case.pick([1.0, 1.0, 0.7])
        metric.set_params(alpha=p["alpha"])
    case.show(m=m, n=n, x=x, y=y, w=w, p=p)
    searcher = QuerySearcher(metric, mode="warped").fit(x, weight=w)
    profile = searcher.profile(y)
    with chunks_of(case.pick([1000, 1537, 4096, 700])):
        read = searcher.profile(Slices(y))
    case.close("chunks: profile", profile.distance, read.distance, rtol=1e-12)
    case.equal("chunks: start", profile.start, read.start)
    border = 4096 * case.between(1, n // 4096) if n >= 4096 else n
    reach = min(2 * m + 20, 90)
    a, b = max(border - reach, 0), min(border + reach // 2, n)
    want, start, _ = naive.elastic_search(name, x, y, w, stretch=(a, b), **p)
    inside = profile.start[a:b] >= a  # of those the best candidate lies within the stretch

    def near(change):
        return naive.elastic_search(name, change(x), change(y), w, stretch=(a, b), **p)[0][inside]

    once = name in ("wdtw", "wddtw") or (name == "twed" and p["nu"] > 0)  # cells keep one start, which may be another
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
    "warped": warped,
    "missing_warped": missing_warped,
    "long": long,
}

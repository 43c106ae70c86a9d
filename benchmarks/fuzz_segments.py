"""Areas of `fuzz.py` about segmentations: of a whole recording, with its ends cut off, in chunks."""

import numpy as np
from fuzz_cases import COUNTS, FREE, LOCKSTEP, SUMMED, naive, uses_times
from inputs import segmenter_of

from sktslib import get_distance_dict, time_series_segmentation
from sktslib.distances import get_metric

KINDS = ["quarters", "symbols", "normal", "normal", "rounded", "walk", "offset", "scaled"]
PARTIAL = ("dtw", "erp", "edr", "lcss", "adtw")


class PreparedPair:
    """Queries, a recording, what follows what, the background's cost; the answer by `naive`."""

    def __init__(self, case, names, largest=22):
        case.begin(kinds=KINDS)
        self.case, self.name = case, case.pick(names)
        self.p = case.parameters(self.name)
        if self.name == "dtw":
            self.p["alpha"] = case.pick([1.0, 1.0, 0.6])
        if self.name == "twed" and names is not SUMMED:
            self.p["nu"] = 0.0
        if self.name == "soft_dtw":
            self.p["divergence"] = True
        if self.name == "pearson_correlation":
            self.p["beta"] = None  # its pole and its root magnify roundings
        self.metric = get_metric(self.name, self.p)
        count = case.pick([1, 1, 2, 3])
        self.queries = [case.series(case.between(1, 5)) for _ in range(count)]
        longest = max(map(len, self.queries))
        self.y = case.series(case.between(longest, largest))
        for _ in range(case.between(0, 3)):
            x = case.pick(self.queries)
            at = case.between(0, len(self.y) - len(x))
            self.y[at : at + len(x)] = x
        self.weights = [case.weights(len(x)) for x in self.queries]
        self.tq, self.ts = [None] * count, None
        if uses_times(self.name) and case.chance(0.4):
            self.tq, self.ts = [case.times(len(x)) for x in self.queries], case.times(len(self.y))
        self.transitions = None
        if case.chance(0.5):
            self.transitions = case.rng.choice([0.0, 0.5, 2.0], (count + 1, count + 1)) * case.scale**2
            self.transitions[0, 0] = 0.0
        self.given = case.pick(["auto", 0.25, 1.0])
        if self.given != "auto":
            self.given *= case.scale**2
        self.show()

    def show(self, **more):
        self.case.show(**{k: v for k, v in vars(self).items() if k != "case"}, **more)

    def segmenter(self, **rules):
        made = segmenter_of(self.metric, background=self.given, transitions=self.transitions, **rules)
        one = len(self.queries) == 1
        which = lambda values: values[0] if one else values  # noqa: E731
        times = None if self.ts is None else which(self.tq)
        weights = None if all(w is None for w in self.weights) else which(self.weights)
        return made.fit(which(self.queries), weight=weights, times=times)

    def background(self):
        """The cost of a background sample."""
        if self.given != "auto":
            return self.given
        every = zip(self.queries, self.weights, self.tq, strict=True)
        return float(np.mean([naive.background(self.name, x, w, tq=t, ts=t, **self.p) for x, w, t in every]))

    def costs(self, y=None, ts=None):
        """The costs of all segments by each query."""
        y, ts = (self.y, self.ts) if y is None else (y, ts)
        every = zip(self.queries, self.weights, self.tq, strict=True)
        return [naive.costs_of_segments(self.name, x, y, w, tq=t, ts=ts, **self.p) for x, w, t in every]

    def gap_cost(self, segments, costs, b, n):
        """What the segments that were found cost, each at its exact cost."""
        rows = [(s, e, k, costs[k - 1][s, e]) for s, e, k, _ in segments]
        return naive.cost_of_segmentation(rows, n, b, self.transitions)


def unit_of(of):
    """The size of what costs are made of."""
    return 1.0 if naive.TABLE[of.name].degree == 0 else of.case.scale**2


def roundings(of, *values):
    """Allows an error of what is added up."""
    size = max([unit_of(of), *(abs(v) for v in values if np.isfinite(v))])
    return lambda change: np.asarray(values[0]) + 1e-15 * size


def segmentation(case):
    """The cheapest segmentation, its costs, labels and boundaries, of all metrics."""
    of = PreparedPair(case, (*FREE, *FREE, *LOCKSTEP, *naive.PATHLESS))
    n, missing = len(of.y), case.chance(0.2)
    segmenter = of.segmenter(nan_policy="omit" if missing else "raise")
    b = of.background()
    if not np.isfinite(b):
        return
    if of.name in COUNTS and b > 0:  # a multiple of this, as the definitions say
        b = max(round(b * 2**30), 1) / 2**30
    case.close("background", segmenter.background_, b, lambda change: b * (1 + 1e-12) + 1e-15 * unit_of(of))
    b = segmenter.background_ if of.given == "auto" else b
    y = of.y.copy()
    if missing:
        y[case.rng.random(n) < 0.15] = np.nan
        of.show(missing=np.isnan(y))
    segments = segmenter.segment(y, times=of.ts)
    seen = ~np.isnan(y.reshape(n, -1)).any(axis=1)
    found, least = list(segments), 0.0
    total, reported, costs_found = 0.0, [], []
    for s, e, good in naive.runs(seen.tolist()):
        if not good:
            least, total = least + b * (e - s), total + b * (e - s)
            continue
        costs = of.costs(y[s:e], None if of.ts is None else of.ts[s:e])
        least += naive.cheapest_segmentation(costs, b, of.transitions)
        own = [(a - s, z - s, k, c) for a, z, k, c in found if s <= a and z <= e]
        total += of.gap_cost(own, costs, b, e - s)
        reported += [c for *_, c in own]
        costs_found += [costs[k - 1][a, z] for a, z, k, _ in own]
    case.equal("all lie between gaps", len(reported), len(found), own=True)
    case.close("total", total, least, roundings(of, least, total), rtol=1e-9)
    allowed = 1e-15 * (least + unit_of(of) * n)
    case.close("costs", reported, costs_found, lambda change: np.array(costs_found) + allowed)
    labels = np.zeros(n, int)
    for s, e, k, _ in found:
        labels[s:e] = k
    case.equal("predict", segmenter.predict(y, times=of.ts), labels, own=True)
    case.equal("boundaries", segments.boundaries, np.union1d(segments.start, segments.end), own=True)
    check_stream(case, of, segmenter, y, segments)


def check_stream(case, of, segmenter, y, segments):
    """A stream finds what the whole recording does."""
    stream, parts, at = segmenter.stream(), [], 0
    while at < len(y):
        size = case.pick([0, 1, 2, 5, 11])
        parts.append(stream.update(y[at : at + size], times=None if of.ts is None else of.ts[at : at + size]))
        at += size
    parts.append(stream.flush())
    for name in ("start", "end", "label"):
        got = np.concatenate([getattr(part, name) for part in parts])
        if not case.equal(f"stream: {name}", got, getattr(segments, name), own=True):
            return
    got = np.concatenate([part.cost for part in parts])
    case.close(
        "stream: cost", got, segments.cost, lambda c: segments.cost * (1 + 1e-11) + 1e-13 * unit_of(of), own=True
    )


def carried(case):
    """Segmentations whose costs depend on the start, or with bounds of the length, by carried starts."""
    of = PreparedPair(case, SUMMED, largest=30)
    n, count = len(of.y), len(of.queries)
    low = [case.between(1, 4) for _ in range(count)]
    high = [a + case.between(0, 5) for a in low]
    if case.chance(0.3):
        low, high = [1] * count, [n] * count
    of.show(low=low, high=high)
    segmenter = of.segmenter(min_length=low, max_length=high)
    b = segmenter.background_
    every = zip(of.queries, of.weights, of.tq, strict=True)
    steps = [naive.steps(of.name, x, of.y, w, t, of.ts, search=True, **of.p) for x, w, t in every]
    least = naive.carried_segmentation(steps, n, b, of.transitions, list(zip(low, high, strict=True)))
    segments = segmenter.segment(of.y, times=of.ts)
    total = naive.cost_of_segmentation(list(segments), n, b, of.transitions)
    exact = of.costs()
    bounds = all(low[k - 1] <= e - s <= high[k - 1] for s, e, k, _ in segments)
    case.equal("bounds", bounds, True, own=True)
    slack = 1e-9 * max(abs(least), 1e-300)
    # Ranges are those of the paths that were carried; what they cost is listed, which may be less.
    case.equal("total is an upper bound", bool(total <= least * (1 + 1e-9) + slack), True)
    listed = all(abs(c - exact[k - 1][s, e]) <= exact[k - 1][s, e] * 1e-9 + slack for s, e, k, c in segments)
    case.equal("costs are exact", listed, True)
    check_stream(case, of, segmenter, of.y, segments)


def partial(case):
    """Segmentations of recordings that may cut a repetition off at either end."""
    of = PreparedPair(case, PARTIAL, largest=12)
    of.transitions, of.tq, of.ts = None, [None] * len(of.queries), None
    of.show()
    n, b = len(of.y), None
    segmenter = of.segmenter(partial=True)
    b = segmenter.background_
    segments = segmenter.segment(of.y)

    def costs_of(x, w, both):
        m, out = len(x), naive.costs_of_segments(of.name, x, of.y, w, **of.p)
        W = naive.relative(w, m, case.channels)
        for first in range(m // 2 + 1):
            for last in range(m - m // 2, m + 1):
                if first < last and (first, last) != (0, m) and first + m - last <= m // 2:
                    some = naive.Divided(W[first:last])
                    part = naive.costs_of_segments(of.name, x[first:last], of.y, some, **of.p)
                    if first == 0 and both:
                        out[:, n] = np.minimum(out[:, n], part[:, n])
                    elif last == m:
                        out[0] = np.minimum(out[0], part[0])
                    elif both:
                        out[0, n] = min(out[0, n], part[0, n])
        return out

    # A cell keeps the cheapest begin alone, which may leave too little of the query for the end to cut.
    least, most = None, None
    for both in (True, False):
        costs = [costs_of(x, w, both) for x, w in zip(of.queries, of.weights, strict=True)]
        if of.p.get("alpha", 1) != 1:
            return  # a part has other slopes
        value = naive.cheapest_segmentation(costs, b)
        least, most = (value, most) if both else (least, value)
    total = naive.cost_of_segmentation(list(segments), n, b)
    slack = 1e-9 * max(abs(most), 1e-300)
    case.equal("total within bounds", bool(least - slack <= total <= most + slack), True)


def long_segmentation(case):
    """Segmentations of recordings that are computed in stretches side by side, by carried starts."""
    name = case.pick(SUMMED)
    p, count = case.parameters(name), case.pick([1, 2])
    p |= {"alpha": 1.0} if name == "dtw" else {}
    # Where costs depend on the start, one of equal paths is followed; roundings must not decide which.
    kinds = ["normal", "walk"] if naive.looks_back(name, p) else ["normal", "rounded", "walk"]
    case.begin(kinds=kinds, channels=(1, 1, 2))
    queries = [case.series(case.between(2, 5)) for _ in range(count)]
    longest = max(map(len, queries))
    y = 3 * case.series(case.between(120 * longest, 300 * longest))
    for s in case.rng.integers(0, len(y) - longest, len(y) // (3 * longest)):
        x = case.pick(queries)
        y[s : s + len(x)] = x + 0.1 * case.rng.normal(size=x.shape)
    transitions = case.pick([None, case.rng.uniform(0, 2, (count + 1, count + 1))])
    if transitions is not None:
        transitions[0, 0] = 0.0
    # With a bound, and where costs depend on the start, ranges are those of the paths that were carried; what they cost
    # is listed, which may be less.
    b, most = case.pick([0.2, 1.0, 50.0]), case.pick([None, None, 9]) if name in ("dtw", "wdtw") else None
    case.show(name=name, p=p, queries=queries, y=y, transitions=transitions, b=b, most=most)
    given = queries if count > 1 else queries[0]
    segmenter = segmenter_of(get_metric(name, p), background=b, transitions=transitions, max_length=most).fit(given)
    segments = segmenter.segment(y)
    steps = [naive.steps(name, x, y, search=True, **p) for x in queries]
    least = naive.carried_segmentation(steps, len(y), b, transitions, [(1, most or len(y))] * count)
    total = naive.cost_of_segmentation(list(segments), len(y), b, transitions)
    if most is None and not naive.looks_back(name, p):
        case.close("total", total, least, lambda change: least * (1 + 1e-14), rtol=1e-9)
    else:
        case.equal("total is an upper bound", bool(total <= least * (1 + 1e-9)), True)
    exact = [naive.fill(steps[k - 1], s, e)[0][-1, -1] for s, e, k, _ in segments]
    case.close("costs", segments.cost, exact, lambda change: np.array(exact) + 1e-15 * least, rtol=1e-9)


def segmentation_api(case):
    """time_series_segmentation: the boundaries of several distances."""
    of = PreparedPair(case, ("dtw",))
    x, y, w = of.queries[0], of.y, of.weights[0]
    names = ["dtw", case.pick(FREE), case.pick(LOCKSTEP)]
    cfg = get_distance_dict(sorted(set(names)))
    found = time_series_segmentation(cfg, x, y, weight=w)
    for group in cfg.values():
        for key, entry in group.items():
            name, p = entry["function"], entry["parameters"] or {}
            p = {k: v for k, v in p.items() if k not in ("dtw_type", "time", "report")}
            b = naive.background(name, x, w, **p)
            if not np.isfinite(b):
                continue
            segments = segmenter_of(get_metric(name, p)).fit(x, weight=w).segment(y)
            costs = naive.costs_of_segments(name, x, y, w, **p)
            case.equal(f"boundaries of {name}", found[key], np.union1d(segments.start, segments.end), own=True)
            if not naive.looks_back(name, p):
                least = naive.cheapest_segmentation([costs], b)
                rows = [(s, e, 1, costs[s, e]) for s, e, *_ in segments]
                total = naive.cost_of_segmentation(rows, len(y), b)
                case.close(f"total of {name}", total, least, roundings(of, least, total), rtol=1e-9)


AREAS = {
    "segmentation": segmentation,
    "carried": carried,
    "partial": partial,
    "long_segmentation": long_segmentation,
    "segmentation_api": segmentation_api,
}

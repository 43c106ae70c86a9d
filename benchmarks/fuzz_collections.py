"""Areas of `fuzz.py` about collections of series, and about scores of events."""

import numpy as np
from fuzz_cases import COUNTS, LOCKSTEP, again, naive, same

from sktslib.distances import DTW, SoftDTW, _nearest, barycenter, get_metric, nearest_neighbors, pairwise_distances
from sktslib.metrics import (
    EventScorer,
    boundary_error,
    event_f1_score,
    events_from_labels,
    labels_from_events,
    segmentation_covering,
)
from sktslib.neighbors import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesTransformer,
    PairwiseDistances,
)

NAMES = (*naive.WARPED, *naive.PATHLESS, *LOCKSTEP)


def slow_distance(name, x, y, w, p):
    if name in LOCKSTEP:
        return naive.lockstep(name, x, y, w, **p)
    return naive.elastic(name, x, y, w, **p).distance


class Collections:
    """Two collections made of few different series, the metric, and all distances by `naive`."""

    def __init__(self, case, names=NAMES, largest=12, weighted=True, **how):
        case.begin(**how)
        self.case, self.name = case, case.pick(names)
        one = case.length(1, largest)
        self.ragged = not naive.TABLE[self.name].same_length and case.chance(0.4)
        weighted = weighted and not self.ragged and case.chance(0.5)
        lengths = [case.length(1, largest) if self.ragged else one for _ in range(9)]
        other = one if naive.TABLE[self.name].same_length else case.length(1, largest)  # with weights too
        few = [case.series(n) for n in lengths[:4]]
        more = [case.series(n if self.ragged or k % 2 else other, like=few[0]) for k, n in enumerate(lengths[4:])]
        self.X = [few[case.between(0, 3)] for _ in range(case.pick([1, 4, 9]))]
        self.Y = [more[case.between(0, 4)] for _ in range(case.pick([1, 5, 17, 40]))]
        self.w = case.weights(one) if weighted else None
        self.p = case.parameters(self.name)
        if self.name == "pearson_correlation":
            self.p["beta"] = None  # its pole magnifies roundings
        self.here = {}
        if self.name not in (*LOCKSTEP, "sbd"):
            self.here = case.pick([{}, {}, {"window": 0.29}, {"window": "sakoe-chiba", "factor": 2}])
        self.metric = get_metric(self.name, {**self.p, **self.here})
        if self.here:
            share = self.here["window"]
            radius = lambda a, b: 2 if share == "sakoe-chiba" else int(share * min(a, b) + 1e-9)  # noqa: E731
            self.p |= {"band_kind": "sakoe-chiba", "r": radius}
        case.show(X=self.X, Y=self.Y, w=self.w, metric=self.metric)

    def wanted(self, X, Y, change=same):
        """All distances; the same series are computed once."""
        known, out = {}, np.zeros((len(X), len(Y)))
        for a, x in enumerate(X):
            for b, y in enumerate(Y):
                key = id(x), id(y)
                if key not in known:
                    known[key] = slow_distance(self.name, change(x), change(y), self.w, self.p)
                out[a, b] = known[key]
        return out

    @property
    def how(self):
        """The keywords of functions and estimators; (length, channels) is meant, whatever the lengths."""
        return {"weight": self.w, "channels_first": False}

    def again(self, X, Y):
        unit = 100 * self.p.get("gamma", 0.0)
        return again(self.name, lambda change: self.wanted(X, Y, change), sure=self.name in COUNTS, unit=unit)


def pairwise(case):
    """pairwise_distances: ragged, with itself, weights, jobs; PairwiseDistances."""
    of = Collections(case)
    try:
        want = of.wanted(of.X, of.Y)
    except (ValueError, ZeroDivisionError):
        case.refused("weights of zeros", lambda: pairwise_distances(of.X, of.Y, of.metric, **of.how))
        return
    other = of.again(of.X, of.Y)
    got = pairwise_distances(of.X, of.Y, of.metric, **of.how)
    case.close("matrix", got, want, other)
    if case.chance(0.2):
        case.equal("two jobs", pairwise_distances(of.X, of.Y, of.metric, n_jobs=2, **of.how), got, own=True)
    try:
        own = of.wanted(of.X, of.X)
    except (ValueError, ZeroDivisionError):
        return
    itself = pairwise_distances(of.X, metric=of.metric, **of.how)
    case.close("with itself", itself, own, of.again(of.X, of.X))
    if not of.ragged:
        array = np.array(of.X)
        case.equal("an array", pairwise_distances(array, metric=of.metric, **of.how), itself, own=True)
    estimator = PairwiseDistances(of.metric, **of.how).fit(of.Y)
    case.close("PairwiseDistances", estimator.transform(of.X), want, other)


def gaps(case):
    """pairwise_distances of series with missing values."""
    case.begin(kinds=["quarters", "normal", "symbols"])
    name = case.pick(LOCKSTEP)
    p = case.parameters(name)
    m = case.between(2, 8)
    X, Y = ([case.series(m).reshape(m, -1) for _ in range(4)] for _ in range(2))
    for v in (*X, *Y):
        v[case.rng.random(v.shape) < case.pick([0.0, 0.2, 0.5])] = np.nan
    w = case.weights(m)
    case.show(X=X, Y=Y, w=w, name=name, p=p)
    W = naive.relative(w, m, case.channels)

    def wanted(change=same):
        out = np.zeros((4, 4))
        for a, x in enumerate(X):
            for b, y in enumerate(Y):
                seen = ~np.isnan(x) & ~np.isnan(y)
                x_, y_ = change(naive.filled(x)), change(naive.filled(y))
                if seen.all():
                    out[a, b] = naive.lockstep(name, x_, y_, w, **p)
                else:
                    out[a, b] = naive.observed(name, x_, y_, W, seen, **p)
        return naive.bounded(name, p, out)

    got = pairwise_distances(X, Y, get_metric(name, p), weight=w, nan_policy="omit", channels_first=False)
    case.close("matrix", naive.bounded(name, p, got), wanted(), again(name, wanted, sure=name in COUNTS))


def neighbors(case):
    """nearest_neighbors and its estimators against the sorted matrix of distances."""
    of = Collections(case, weighted=case.chance(0.3))
    itself = of.w is None and case.chance(0.3) and len(of.X) > 1
    Y = of.X if itself else of.Y
    try:
        want = of.wanted(of.X, Y)
    except (ValueError, ZeroDivisionError):
        return
    if itself:
        np.fill_diagonal(want, np.inf)
    most = len(Y) - itself
    k = case.pick([1, 1, min(3, most), most])
    few, _nearest.FEW_CELLS = _nearest.FEW_CELLS, case.pick([0, 0, _nearest.FEW_CELLS])
    try:
        found = nearest_neighbors(of.X, None if itself else Y, of.metric, k, n_jobs=case.pick([None, 2]), **of.how)
    finally:
        _nearest.FEW_CELLS = few
    check_neighbors(case, of, Y, found.distances, found.indices, want, k, "nearest_neighbors")
    report = found.report
    case.equal("report", report.bounded + report.abandoned + report.computed, len(of.X) * most, own=True)
    if itself:
        return
    graph = KNeighborsTimeSeriesTransformer(of.metric, n_neighbors=k, **of.how).fit(Y)
    check_neighbors(case, of, Y, *graph.kneighbors(of.X), want, k, "kneighbors")
    labels = np.arange(len(Y)) % 3
    votes = np.zeros((len(of.X), 3))
    for a, (row, distances) in enumerate(zip(found.indices, found.distances, strict=True)):
        near = row[np.isfinite(distances)]  # what is infinitely far has no vote
        for b in near:
            votes[a, labels[b]] += 1 / len(near)
    model = KNeighborsTimeSeriesClassifier(of.metric, n_neighbors=k, **of.how).fit(Y, labels)
    if not votes.any(axis=1).all():
        try:
            model.predict_proba(of.X)
        except ValueError as error:
            case.equal("nobody votes", "finite distance" in str(error), True, own=True)
            return
    case.close("predict_proba", model.predict_proba(of.X), votes[:, : model.classes_.size], rtol=1e-12, own=True)


def check_neighbors(case, of, Y, distances, indices, want, k, what):
    """The k least distances in their order, each of the series named; ties by the lower index."""
    nearest = lambda a: np.sort(a, axis=1)[:, :k]  # noqa: E731
    other = of.again(of.X, Y)

    def changed(change):
        return np.where(want == np.inf, np.inf, other(change))

    case.close(f"{what} distances", distances, nearest(want), lambda change: nearest(changed(change)))
    named = np.take_along_axis(want, indices, axis=1)
    case.close(f"{what} named", distances, named, lambda change: np.take_along_axis(changed(change), indices, axis=1))
    twice = [len(set(row)) for row in indices.tolist()]
    case.equal(f"{what} each once", twice, [k] * len(indices), own=True)
    # Copies of one series are exactly as far: of them the first ones come first.
    wrong = 0
    for row in indices.tolist():
        for place, b in enumerate(row):
            wrong += sum(Y[c] is Y[b] for c in range(b) if c not in row[:place] and np.isfinite(want[0, c]))
    if not any(want[0] == np.inf):
        case.equal(f"{what} ties", wrong, 0)


def barycenters(case):
    """barycenter: its costs, one step by hand, the methods."""
    case.begin(kinds=["normal", "walk", "rounded", "quarters", "scaled"], channels=(1, 1, 2))
    name = case.pick(("dtw", *naive.WARPED))
    p = case.parameters(name)
    p.pop("alpha", None)
    X = [case.series(case.between(2, 8)) for _ in range(case.between(1, 4))]
    share = case.rng.choice([0.5, 1.0, 3.0], len(X))
    init = case.series(case.between(2, 8))
    w = case.weights(len(init))
    metric = get_metric(name, p)
    case.show(X=X, share=share, init=init, w=w, metric=metric)

    def mean(z, change=same):
        far = [naive.elastic(name, change(z), change(x), w, **p).distance for x in X]
        return sum(v * d for v, d in zip(share, far, strict=True)) / share.sum()

    how = {"init": init, "series_weight": share, "weight": w, "channels_first": False}
    z, cost = barycenter(X, metric, max_iter=case.pick([1, 5]), random_state=0, return_cost=True, **how)
    for what, at, got in (("first", init, cost[0]), ("last", z, cost[-1])):
        sure = name in COUNTS and at is init
        case.close(f"{what} cost", got, mean(at), again(name, lambda change, at=at: mean(at, change), sure=sure))
    case.equal("never rises", bool((cost[1:] <= cost[:-1]).all()), True, own=True)
    if name == "dtw" and not case.exact:
        above, below = np.zeros(init.shape), np.zeros(len(init))
        for x, v in zip(X, share, strict=True):
            for i, j in naive.elastic("dtw", init, x, w).path.T:
                above[i] += v * x[j]
                below[i] += v
        step = above / (below if init.ndim == 1 else below[:, np.newaxis])
        if mean(step) < 0.999 * mean(init) and (w is None or (naive.relative(w, *naive.points(init).shape) > 0).all()):
            got = barycenter(X, DTW(), max_iter=1, **how)
            case.close("one step", got, step, lambda change: change(step) + 1e-15 * case.scale)
    if case.chance(0.2):
        gamma = 0.5 * case.scale**2
        soft, cost = barycenter(X, SoftDTW(gamma), method="soft", max_iter=5, return_cost=True, **how)

        def soft_mean(z, change=same):
            far = [naive.elastic("soft_dtw", change(z), x, w, gamma=gamma, divergence=False).distance for x in X]
            return sum(v * d for v, d in zip(share, far, strict=True)) / share.sum()

        unit = 20 * gamma + abs(cost[0])
        other = again("soft_dtw", lambda change: soft_mean(soft, change), unit=unit)
        case.close("soft last cost", cost[-1], soft_mean(soft), other)


def events(case):
    """Event scores, labels from events and back."""
    n = case.between(0, 16)
    a, b = (case.rng.choice([0, 0, 1, 1, 2], n) for _ in range(2))
    pairs = []
    for _ in range(2):
        count = case.between(0, 4)
        begin = case.rng.integers(0, 13, count)
        pairs.append(np.column_stack([begin, begin + case.rng.integers(1, 9, count)]).reshape(-1, 2))
    iou, tolerance = case.pick([0.1, 0.25, 1 / 3, 0.5, 0.7, 1.0]), case.pick([0, 1, 2.5, 100])
    case.show(a=a, b=b, pairs=pairs, iou=iou, tolerance=tolerance)
    case.equal("events_from_labels", events_from_labels(a), np.array(naive.events(a), int).reshape(-1, 2))
    for what, true, pred in (("labels", a, b), ("ranges", *pairs), ("both", a, pairs[1])):
        case.close(f"f1 of {what}", event_f1_score(true, pred, min_iou=iou), naive.event_f1(true, pred, iou))
        got = event_f1_score(true, pred, tolerance=tolerance)
        case.close(f"f1 of {what} by tolerance", got, naive.event_f1(true, pred, tolerance=tolerance))
        got = boundary_error(true, pred, min_iou=iou)
        case.close(f"boundary_error of {what}", got, naive.boundary_error(true, pred, iou))
    case.close("covering", segmentation_covering(a, b), naive.segmentation_covering(a, b))
    if n:
        scorer, found = EventScorer(event_f1_score, min_iou=iou), np.array(naive.events(b), int).reshape(-1, 2)
        scored = scorer(_Found(found), np.zeros((n, 1)), a)
        case.close("EventScorer", scored, naive.event_f1(a, b, iou))
    apart = np.cumsum(case.rng.integers(2, 6, 6)).reshape(-1, 2)
    labels = labels_from_events(apart[::-1], n_samples=40)
    case.equal("labels_from_events", labels, [int(any(s <= k < e for s, e in apart)) for k in range(40)])
    case.equal("there and back", events_from_labels(labels), apart)


class _Found:
    """An estimator that has found these ranges."""

    def __init__(self, ranges):
        self.ranges = ranges

    def search(self, X, times=None):
        return self

    @property
    def start(self):
        return self.ranges[:, 0]

    @property
    def end(self):
        return self.ranges[:, 1]


AREAS = {
    "pairwise": pairwise,
    "gaps": gaps,
    "neighbors": neighbors,
    "barycenters": barycenters,
    "events": events,
}

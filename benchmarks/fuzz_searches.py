"""Areas of `fuzz.py` about searches in other forms: several queries, functions, transformers."""

from itertools import pairwise

import numpy as np
from fuzz_cases import COUNTS, LOCKSTEP, again, naive, same
from fuzz_matches import wanted_matches
from fuzz_profiles import PLAIN, SHARP, draw_times, plant
from inputs import searcher_of

from sktslib import get_distance_dict, time_series_search
from sktslib.distances import get_metric
from sktslib.neighbors import ShapeletTransform
from sktslib.search import elastic_search, lockstep_search, start_sequences_index


def several(case):
    """Several queries in several sequences against each by itself."""
    case.begin(kinds=["normal", "walk"], channels=(1, 2))
    metric = get_metric(case.pick(["dtw", "twed", "lcss", "euclidean", "correlation", "sbd"]))
    queries = [case.series(case.between(1, 7)) for _ in range(case.between(2, 3))]
    sequences = [case.series(case.between(7, 40)) for _ in range(case.between(1, 3))]
    weights = [case.weights(len(x)) for x in queries]
    case.show(metric=metric, queries=queries, sequences=sequences, weights=weights)
    most = case.pick([1, 2, 4, None])
    searcher = searcher_of(metric, n_matches=most, n_jobs=case.pick([None, 2])).fit(queries, weight=weights)
    got = searcher.search(sequences)
    alone = searcher_of(metric, n_matches=most)
    for q, (x, w) in enumerate(zip(queries, weights, strict=True)):
        found = []
        for s, y in enumerate(sequences):
            found += [(m.distance, s, m.start, m.end) for m in alone.fit(x, weight=w).search(y)]
        found.sort(key=lambda row: row[0])
        mine = got.query == q
        case.equal("distances", np.sort(got.distance[mine]), np.array([row[0] for row in found[:most]]), own=True)
        rows = {(d, s, a, b) for d, s, a, b in found}
        names = zip(*(getattr(got, k)[mine].tolist() for k in ("distance", "sequence", "start", "end")), strict=True)
        case.equal("matches", sum(name not in rows for name in names), 0, own=True)
    columns = searcher.transform(sequences[0])
    for q, (x, w) in enumerate(zip(queries, weights, strict=True)):
        case.equal("transform", columns[:, q], alone.fit(x, weight=w).transform(sequences[0])[:, 0], own=True)


def api(case):
    """time_series_search, elastic_search, lockstep_search, start_sequences_index."""
    case.begin(kinds=PLAIN)
    name = case.pick((*naive.WARPED, *LOCKSTEP))
    m = case.between(1, 8)
    n = case.between(m, m + 20)
    x = case.series(m)
    y, w = plant(case, x, n), case.weights(m)
    p = case.parameters(name)
    p.pop("do_dist_norm", None)  # the entry of the dictionary has its own
    if name == "pearson_correlation":
        p["beta"] = None
    tq, ts = draw_times(case, name, m, n)
    cfg = get_distance_dict([name])
    group, key = next((group, next(iter(entries))) for group, entries in cfg.items())
    cfg[group][key]["parameters"] = p
    kind = case.pick(["number", "threshold", "percentile"])
    value = {"number": case.pick([1, 3, None]), "threshold": case.pick([0.5, 2.0]), "percentile": case.pick([0, 50])}
    case.show(cfg=cfg, x=x, y=y, w=w, tq=tq, ts=ts, kind=kind, value=value[kind])
    found = time_series_search(cfg, x, y, tq, ts, weight=w, output=(kind, value[kind]))[key]
    divided = {"do_dist_norm": True} if name == "dtw" else {}

    def wanted(change=same, what=0):
        if group == "lockstep":
            return naive.windows(name, change(x), change(y), w, tq=tq, ts=ts, **p)
        return naive.elastic_search(name, change(x), change(y), w, tq=tq, ts=ts, **divided, **p)[what]

    sure = name in COUNTS
    other = again(name, wanted, sure=sure)
    case.close("distance", found["distance"], wanted(), other)
    if group == "elastic":
        distance, costs = elastic_search(cfg, x, y, tq, ts, w)
        case.close("elastic_search", distance, wanted(), other)
        case.close("accumulated costs", costs, wanted(what=2), again(name, lambda c: wanted(c, 2), sure=sure))
        start, end = wanted(what=1), np.arange(1, n + 1)
        exact = case.ties(name, p) and not naive.looks_back(name, p)
    else:
        if tq is None:
            case.close("lockstep_search", lockstep_search(cfg, x, y, weight=w), wanted(), other)
        start = np.arange(n - m + 1)
        end, exact = start + m, True
    if exact:
        rule = {"n_matches": value[kind]} if kind == "number" else {kind: value[kind]}
        profile = type("Profile", (), {"distance": found["distance"], "start": start, "end": end})
        got = list(zip(found["start"].tolist(), found["end"].tolist(), strict=True))
        answers = [[r[:2] for r in a] for a in wanted_matches(profile, rule)]
        case.equal("matches", min(got != a for a in answers), False)
    distance = case.rng.integers(0, 5, case.between(1, 14)) / 2
    output, overlap = (kind, value[kind]), case.pick([0.0, 1.0, 2.0, 2.5, 4.0])
    slow = naive.start_sequences_index(distance, output, overlap)
    case.equal("start_sequences_index", start_sequences_index(distance, output, overlap), np.array(slow, int))


def queries(case):
    """ShapeletTransform: the best match of each query in each series."""
    case.begin(kinds=PLAIN)
    name = case.pick((*naive.WARPED, "euclidean", "correlation", "sbd", "manhattan"))
    p = case.parameters(name)
    how = case.pick([None, None, "zscore"]) if name not in SHARP else None
    m = case.between(1, 6)
    some, w = [case.series(m) for _ in range(2)], case.weights(m)
    X = [case.series(case.between(m, m + 8)) for _ in range(3)]
    case.show(name=name, p=p, how=how, queries=some, w=w, X=X)
    made = ShapeletTransform(get_metric(name, p), queries=some, weight=w, normalize=how, channels_first=False).fit(X)
    found = made.locate(X)

    def wanted(change=same):
        out = np.full((len(X), len(some)), np.inf)
        for a, y in enumerate(X):
            for b, x in enumerate(some):
                if how is not None or name not in naive.WARPED:
                    out[a, b] = naive.windows(name, change(x), change(y), w, normalize=how, **p).min()
                else:
                    out[a, b] = naive.elastic_search(name, change(x), change(y), w, **p)[0].min()
        return out

    if naive.looks_back(name, p):
        return  # reported is the exact distance of the best of the profile
    want = wanted()
    other = again(name, wanted, sure=name in COUNTS, unit=float(how is not None))
    case.close("distance", found.distance, want, other)
    finite = np.isfinite(want)
    filled = np.where(finite, want, np.max(want, axis=0, where=finite, initial=0.0))
    case.close("transform", made.transform(X), filled, lambda c: np.where(finite, other(c), filled * (1 + 1e-12)))


def explained(case):
    """What matches explain: their paths, the costs of points, the lags."""
    case.begin(kinds=["normal", "walk", "rounded"], channels=(1, 2))
    facts = {"is_cost": True, "is_ratio": False, "is_positive": False, "same_length": False}
    name = case.pick([name for name in naive.names(**facts) if name in (*naive.WARPED, *naive.SUMS)])
    p, m = case.parameters(name), case.between(1, 8)
    p |= {"alpha": 1.0, "do_dist_norm": False} if name == "dtw" else {}
    x, w = case.series(m), case.weights(m)
    y = plant(case, x, case.between(m, 30)) + 0.01 * case.rng.normal(size=1)
    case.show(name=name, p=p, x=x, y=y, w=w)
    matches = searcher_of(get_metric(name, p), n_matches=2).fit(x, weight=w).search(y)
    power = naive.power(name, **p) if name in naive.SUMS else 1
    for k, match in enumerate(matches):
        found, path = matches.explain(k), matches.path(k)
        case.equal("path", found.path, path, own=True)
        total, slack = match.distance**power, 1e-15 * np.abs(found.cost).sum()
        case.close("cost", found.cost.sum(), total, lambda change, t=total, s=slack: t + s, own=True)
        late, met, steps = np.zeros(m), np.zeros(m), [0, 0, 0]
        for i, j in path.T:
            late[i] += j - (match.start + i * (match.end - match.start - 1) / max(m - 1, 1))
            met[i] += 1
        lag = [late[i] / met[i] if met[i] else -99.0 for i in range(m)]
        got = np.where(np.isnan(found.lag), -99.0, found.lag)
        case.close("lag", got, lag, lambda change, lag=lag: np.array(lag) + 1e-13)
        for (a, b), (i, j) in pairwise(path.T.tolist()):
            steps[{(1, 0): 0, (0, 1): 1, (1, 1): 2}[i - a, j - b]] += 1
        n = match.end - match.start
        share = [s / possible if possible else 0.0 for s, possible in zip(steps, (m - 1, n - 1), strict=False)]
        share.append(steps[2] / (min(m, n) - 1) if min(m, n) > 1 else 1.0)
        case.close("shares", [found.advance, found.delay, found.phase], share)


AREAS = {"several": several, "api": api, "queries": queries, "explained": explained}

"""What `fuzz.py` asks of the matches of a profile: ranges, distances, labels, paths; by chunks and as a stream."""

from contextlib import contextmanager

import numpy as np
from fuzz_cases import naive
from inputs import grouped

from sktslib import QuerySearcher
from sktslib.search import _sources


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
    before, _sources.CHUNK = _sources.CHUNK, size
    try:
        yield
    finally:
        _sources.CHUNK = before


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
    searcher = searcher.set_params(**{"n_matches": 1, "threshold": None, **grouped(QuerySearcher, rule)})
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
    case.equal("predict", searcher.predict(y, times=ts), labels, own=True)
    ending = np.full(len(y), np.inf)
    for e, d in zip(profile.end, profile.distance, strict=True):
        ending[e - 1] = min(ending[e - 1], d)
    found = np.isfinite(ending)
    ending[~found] = ending[found].max() if found.any() else 0.0
    if getattr(searcher.candidates, "scales", None) is None:
        case.equal("transform", searcher.transform(y, times=ts)[:, 0], ending, own=True)
    if case.chance(0.5):
        check_chunks(case, searcher, y, ts, profile, matches, rule)
    return matches


def check_chunks(case, searcher, y, ts, profile, matches, rule):
    """Read by chunks, and as a stream, a sequence gives the same."""
    with chunks_of(case.between(1, 16)):
        long = searcher.profile(Slices(y), times=ts)
        case.close("chunks: profile", long.distance, profile.distance, rtol=1e-12, own=True)
        if "percentile" not in rule or rule["percentile"] in (0, 100):
            read = searcher.search(Slices(y), times=ts)
            case.equal("chunks: ranges", ranges(read), ranges(matches), own=True)
            case.close("chunks: distances", np.sort(read.distance), np.sort(matches.distance), rtol=1e-11, own=True)
    if rule.get("threshold") is None:
        return
    stream, parts, at = searcher.stream(), [], 0
    while at < len(y):
        size = case.pick([0, 1, 2, 5, 11])
        parts.append(stream.update(y[at : at + size], times=None if ts is None else ts[at : at + size]))
        at += size
    parts.append(stream.flush())
    case.equal("stream: ranges", sorted(r for part in parts for r in ranges(part)), ranges(matches), own=True)
    distance = np.sort(np.concatenate([part.distance for part in parts]))
    case.close("stream: distances", distance, np.sort(matches.distance), rtol=1e-11, own=True)
    case.equal("stream: samples", stream.n_samples_seen, len(y), own=True)


def ranges(matches):
    return sorted(zip(matches.start.tolist(), matches.end.tolist(), strict=True))


def check_paths(case, matches, name, f, p, x, y):
    """The costs along the paths of matches of a subsequence search add up to their distances."""
    for k, match in enumerate(matches):
        if k == 3 or name == "lcss":
            return
        path = matches.path(k) - np.array([[0], [match.start]])
        total = naive.cost_along(f, path, match.start) if path.size else np.inf
        total = naive.reported(name, f, total, p.get("do_dist_norm", False), x, y[match.start : match.end])
        skipped = name in ("edr", "erp")  # a path without its border may leave out query points at the end
        if not skipped or path[0, -1] == f.m - 1:
            other = lambda change, d=match.distance: d + 1e-15 * case.scale**2  # noqa: E731
            case.close("path", total, match.distance, other, rtol=1e-9)

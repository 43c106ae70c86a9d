"""Subsequences that are normalized each by itself, with limits of scale and offset, too, against all ranges."""

import pickle

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import identical, searcher_of
from strategies import compiled, pairs, plain, quarters, recording, slow, small_sizes, times, unmeant, weights

from sktslib.distances import get_metric
from sktslib.search import _profile, merge_parts
from sktslib.search._limits import LimitedRanges, allowed_ranges

pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

HOW = ["zscore", "mean", "minmax", "robust"]
METRICS = compiled(
    [
        ("dtw", {}),
        ("dtw", {"do_dist_norm": True}),
        ("dtw", {"window": 0.4}),
        ("dtw", {"alpha": 0.5}),
        ("dtw", {"dtw_type": "oe-dtw"}),
        ("adtw", {"omega": 0.1}),
        ("cid_dtw", {}),
        ("wdtw", {}),
        ("ddtw", {}),
        ("frechet", {}),
        ("msm", {}),
        ("erp", {}),
        ("twed", {}),
        ("lcss", {"eps": 0.6}),
    ]
)
SIZES = "LEAST", "SHARE", "PARTS", "BATCH", "SEEDS", "EACH", "TERMS"
OF_RANGES = [f"search._engines.{name}" for name in SIZES]
OF_RANGES += ["distances._kernels.compile.CELLS"]
OF_STREAMS = ["search._run.LEAST", "search._run.FIRST", "search._run.ROOM"]
OF_STREAMS += ["search._sources.CHUNK", "search._run.LONG", "search._run.RARE"]
KINDS = ["noise", "integers", "flat", "offset", "spike", "vanishing", "huge", "copies"]


@st.composite
def searches(draw, most=40):
    """A fitted searcher of ranges, whose distances have bounds, and a sequence."""
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    m, channels = draw(st.integers(1, 5)), draw(st.sampled_from([1, 1, 2]))
    x = rng.integers(-1, 2, (m, channels)).astype(float) if draw(st.booleans()) else rng.normal(size=(m, channels))
    kind, how = draw(st.sampled_from(KINDS)), draw(st.sampled_from(HOW[:3]))
    how = "zscore" if kind == "huge" and how == "mean" else how  # whose costs would be too large
    n = draw(st.integers(1, most))
    y = recording(kind, rng, n, channels)
    if kind == "copies":
        y = np.tile(np.concatenate([x, 3 * np.repeat(x, 2, axis=0) + 1]), (n, 1))[:n]
    name, p = draw(st.sampled_from([("dtw", {}), ("dtw", {}), *METRICS[1:3], *METRICS[5:7]]))
    rule = {"n_matches": draw(st.sampled_from([None, 1, 2, 3, 8])), "max_overlap": draw(st.sampled_from([0, 0.5, 1.0]))}
    rule |= draw(st.sampled_from([{}, {"min_length": None, "max_length": 4}, {"min_length": 3, "max_length": 9}]))
    if draw(st.booleans()):
        y[rng.integers(0, len(y), 2)] = np.nan
        rule["nan_policy"] = "omit"
    rule |= {"normalize": how, "polarity": draw(st.sampled_from(["same", "same", "any"]))}
    weight = rng.choice([0.25, 0.0, 1.0], size=m) + (np.arange(m) == 0) if draw(st.booleans()) else None
    if weight is None and x.std(axis=0).all():
        limits = {}, {}, {"scale_limits": (0.3, 4.0)}, {"scale_limits": (0, 1)}, {"offset_limit": 1.5 * x.std()}
        rule |= draw(st.sampled_from(limits))
    searcher = searcher_of(name, metric_params=p, mode="subsequence", **rule).fit(x, weight=weight)
    profile = searcher.profile(y)
    finite = profile.distance[np.isfinite(profile.distance)]
    if len(finite) and draw(st.booleans()):
        searcher.set_params(threshold=float(rng.choice(finite)))
    return searcher, y, profile


def columns(matches):
    return np.array([matches.start, matches.end, matches.distance])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "p"), METRICS)
@given(data=st.data())
def test_the_profile_holds_the_nearest_of_all_ranges(name, p, data):
    values = data.draw(st.sampled_from([quarters, plain]))
    x, y, w = data.draw(pairs(low=2, high=4, y_low=1, y_high=9, values=values))
    how = data.draw(st.sampled_from(HOW))
    shortest, longest = data.draw(st.sampled_from([(None, None), (1, 3), (2, 5)]))
    tx = ty = None
    if name == "twed" and data.draw(st.booleans()):
        tx, ty = data.draw(times(len(x))), data.draw(times(len(y)))
    rule = {"min_length": shortest, "max_length": longest, "normalize": how}
    searcher = searcher_of(name, metric_params=p, mode="subsequence", **rule).fit(x, weight=w, times=tx)
    band = {"band_kind": "sakoe-chiba", "r": lambda m, n: int(0.4 * min(m, n) + 1e-9)}
    q = {key: value for key, value in p.items() if key != "window"} | (band if "window" in p else {})
    limits = shortest or 1, longest or 2 * len(x)
    want, _ = naive.normalized_ranges(name, x, y, *limits, w, normalize=how, tq=tx, ts=ty, **q)
    got = searcher.profile(y, times=ty)
    np.testing.assert_allclose(got.distance, want, rtol=1e-9, atol=1e-9)
    found = np.isfinite(got.distance)
    lengths = (got.end - got.start)[found]
    assert ((lengths >= limits[0]) & (lengths <= limits[1])).all() and (got.start[~found] == -1).all()


@pytest.mark.slow
@given(data=st.data())
def test_of_equally_near_ranges_the_shortest_counts(data):
    x, y, _ = data.draw(pairs(low=1, high=4, y_low=1, y_high=12, values=st.integers(-1, 1).map(float)))
    want, start = naive.normalized_ranges("dtw", x, y, 1, 2 * len(x), normalize="minmax")
    searcher = searcher_of(mode="subsequence", normalize="minmax", min_length=None).fit(x)
    got = searcher.profile(y)
    np.testing.assert_array_equal(got.distance, want)  # of halves and wholes no sum is rounded
    np.testing.assert_array_equal(got.start, start)
    with small_sizes(data, *OF_RANGES):
        chosen = naive.select(want, start, np.arange(1, len(want) + 1), n_matches=3)
        matches = searcher.set_params(n_matches=3).search(y)
    assert list(zip(matches.start, matches.end, strict=True)) == [(start[k], k + 1) for k in chosen]


@pytest.mark.slow
@given(search=searches(), data=st.data())
def test_matches_are_those_of_the_whole_profile(search, data):
    searcher, y, profile = search
    rule = {name: getattr(searcher, name) for name in ("n_matches", "threshold", "max_overlap")}
    chosen = naive.select(profile.distance, profile.start, profile.end, **rule)
    with small_sizes(data, *OF_RANGES):
        got, every = searcher.search(y), searcher.profile(y)
    np.testing.assert_array_equal([every.distance, every.start], [profile.distance, profile.start])
    want = np.array([profile.start[chosen], profile.end[chosen], profile.distance[chosen]])
    np.testing.assert_array_equal(columns(got), want)


@pytest.mark.slow
@given(search=searches(most=60), cut=st.floats(0, 1), data=st.data())
def test_parts_jobs_and_streams_give_the_same(search, cut, data):
    searcher, y, profile = search
    want, n = searcher.search(y), len(y)
    with small_sizes(data, *OF_RANGES, *OF_STREAMS):
        searcher.set_params(n_jobs=2)
        np.testing.assert_array_equal(columns(searcher.search(y)), columns(want))
        got = searcher.profile(y)
        np.testing.assert_array_equal([got.distance, got.start], [profile.distance, profile.start])
        searcher.set_params(n_jobs=None)
        if searcher.n_matches is not None or searcher.threshold is not None:
            at = round(cut * (n - 1))
            parts = [searcher.partial_search(), searcher.partial_search(at)] if 0 < at else [searcher.partial_search()]
            for part, end in zip(parts, [at, n] if 0 < at else [n], strict=True):
                part.feed(y[part.first : end])
            merged = merge_parts(pickle.loads(pickle.dumps(parts)))
            np.testing.assert_array_equal(columns(merged), columns(want))
            np.testing.assert_array_equal([merged.scale, merged.offset], [want.scale, want.offset])
        if searcher.threshold is not None:
            stream, found, first = searcher.stream(), [], 0
            while first < n:
                size = data.draw(st.integers(1, n))
                found += stream.update(y[first : first + size])
                first += size
            found += stream.flush()
    if searcher.threshold is not None:
        assert sorted((a, b, c) for a, b, c in found) == sorted((a, b, c) for a, b, c in want)


def test_a_stream_decides_soon_and_forgets(monkeypatch):
    monkeypatch.setattr(_profile, "LEAST_HELD", 16)
    x, y = np.sin(np.linspace(0, 6, 8)), np.random.default_rng(0).normal(size=600)
    y[300:308] = 3 * x + 5
    searcher = searcher_of(mode="subsequence", normalize="zscore", threshold=0.2, max_length=12).fit(x)
    for stream, latest in ((searcher.stream(), 60), (searcher.stream(max_delay=15), 18)):
        found = []
        for k in range(0, 600, 3):
            matches = stream.update(y[k : k + 3])
            assert (k + 3 - matches.end <= latest).all()
            found += matches
        assert (300, 308) in [match[:2] for match in found]
        feed = stream._parts[0].feed
        assert feed.seen - feed.first < 150


@pytest.mark.parametrize("name", ["dtw", *slow("oe-dtw", "twed")])
def test_paths_and_costs_are_those_of_the_normalized_range(name):
    metric = get_metric("dtw", {"dtw_type": name}) if name == "oe-dtw" else get_metric(name)
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(8, 2)), rng.normal(size=(60, 2))
    y[20:32] = 10 + 4 * np.repeat(x, [1, 2] * 4, axis=0)
    matches = searcher_of(metric, mode="subsequence", normalize="zscore").fit(x, weight=np.arange(1, 9)).search(y)
    (match,) = matches
    a, b = (naive.normalize_values(v, None, "zscore") for v in (x, y[match.start : match.end]))
    assert match.distance == pytest.approx(metric(a, b, weight=np.arange(1, 9)))
    explained = matches.explain(0)
    assert explained.cost.sum() == pytest.approx(match.distance)
    path = metric.distance(a, b, weight=np.arange(1, 9)).path
    np.testing.assert_array_equal(explained.path, np.add(path, [[0], [match.start]]))
    np.testing.assert_array_equal(matches.path(0), explained.path)
    if metric.name == "dtw":
        assert min(match.end, 32) - max(match.start, 20) >= 8


@given(data=st.data())
def test_stretches_that_are_much_shorter_than_any_range_hold_none(data):
    rng = np.random.default_rng(3)
    x = rng.normal(size=9)
    y = np.concatenate([rng.normal(size=2), [np.nan], 3 * x + 1, [np.nan], rng.normal(size=1)])
    searcher = searcher_of(mode="subsequence", normalize="zscore", nan_policy="omit", min_length=9).fit(x)
    with small_sizes(data, *OF_RANGES):
        assert [(start, end) for start, end, _ in searcher.search(y)] == [(3, 12)]
        assert not len(searcher.search(y[:2]))


def test_a_stretched_and_scaled_beat_is_found_in_noise():
    """So many ranges that boxes of all levels are divided, with the sizes that are usual."""
    rng = np.random.default_rng(2)
    x = np.cumsum(rng.normal(size=12))
    y = rng.normal(size=300)
    for start, length, scale in ((40, 10, 0.5), (150, 15, 2.0)):
        y[start : start + length] = 7 + scale * np.interp(np.linspace(0, 11, length), np.arange(12), x)
    searcher = searcher_of(mode="subsequence", normalize="zscore", n_matches=2, min_length=9, max_length=16).fit(x)
    matches, profile = searcher.search(y), searcher.profile(y)
    chosen = naive.select(profile.distance, profile.start, profile.end, n_matches=2)
    assert matches.end.tolist() == profile.end[chosen].tolist()
    assert matches.start.tolist() == profile.start[chosen].tolist()
    middle = np.sort((matches.start + matches.end) / 2)
    np.testing.assert_allclose(middle, [45, 157.5], atol=3)


@pytest.mark.parametrize("normalize", ["zscore", "mean"])
@pytest.mark.parametrize("rule", [{"n_matches": 5}, {"n_matches": None, "threshold": 25.0}])
def test_flat_stretches_are_entered_and_not_compared(normalize, rule, monkeypatch):
    """Constant ranges of a length are all as far; of several lengths the nearest counts, and the shortest of those."""
    rng = np.random.default_rng(3)
    query, pieces = rng.normal(size=9), [np.zeros(60)]
    for level in rng.integers(0, 3, 8):
        shape = query * rng.uniform(0.5, 2) + rng.normal(size=9) * 0.2
        pieces += [shape, rng.normal(size=rng.integers(1, 12)), np.full(rng.integers(1, 50), level)]
    y = np.concatenate(pieces)
    lengths = {"min_length": 5, "max_length": 18}
    searcher = searcher_of("dtw", mode="subsequence", normalize=normalize, **lengths, **rule).fit(query)
    found = []
    for least in (0, 2**60):
        monkeypatch.setattr("sktslib.search._engines.LEAST", least)
        found.append([searcher.search(y), searcher.search(np.zeros(300))])
    for got, want in zip(*found, strict=True):
        assert len(got)
        identical(got, want)


# --------------------------------------------------------------------------------------------------------------- limits


OF_STREAMS += ["search._sources.CHUNK", "search._run.LONG", "search._run.RARE"]
LIMITED = ["noise", "walk", "loud and quiet", "flat", "offset", "spike", "tiny"]


@st.composite
def problems(draw, kinds=LIMITED, most=30):
    """A query, its weights, a sequence and the parameters."""
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    channels, m = draw(st.sampled_from([1, 1, 2])), draw(st.integers(2, 5))
    y = recording(draw(st.sampled_from(kinds)), rng, draw(st.integers(m, most)), channels)
    at = int(rng.integers(0, len(y) - m + 1))
    x = y[at : at + m] * draw(st.sampled_from([1.0, 0.5, 1.1])) + 1e-3 * np.ptp(y) * rng.normal(size=(m, channels))
    scale = draw(st.sampled_from([None, (0.8, 1.25), (0, 0.5), (0.9, np.inf), (0.3, 4.0)]))
    offset = draw(st.sampled_from([None, 1.5 * x[:, 0].std(), (0.7 * x.std(axis=0)).tolist(), [np.inf] * channels]))
    if scale is None and offset is None:
        scale = (0.5, 2)
    params = {"scale_limits": scale, "offset_limit": offset, "min_length": None, "max_length": 7}
    return x, draw(weights(m, channels)), y, params


def limits_in(params):
    return {name: params[name] for name in ("scale_limits", "offset_limit")}


def is_near(margin, params, size):
    """Whether a range is so close to a limit that roundings of the reference implementation may decide."""
    finite = [v for v in np.ravel([params["offset_limit"] or 0.0]) if v < np.inf]
    return np.abs(margin) <= 1e-9 * max([size, *finite, 1.0 if params["scale_limits"] else 0.0])


@pytest.mark.parametrize(("name", "p"), [("dtw", {}), ("twed", {}), ("ddtw", {})])
@given(data=st.data())
def test_the_profile_holds_the_nearest_of_the_ranges_within(name, p, data):
    x, w, y, params = data.draw(problems(LIMITED[:-1], most=14))
    normalize = data.draw(st.sampled_from(["zscore", "mean", "minmax", "robust"]))
    searcher = searcher_of(name, metric_params=p, mode="subsequence", normalize=normalize, **params)
    searcher.fit(x, weight=w)
    doubtful = []

    def allowed(piece):
        margin = naive.margin(x, piece, searcher.weight_, **limits_in(params), beside=naive.beside_range)
        doubtful.append(is_near(margin, params, np.abs(y).max()))
        return margin >= 0

    want, _ = naive.normalized_ranges(name, x, y, 1, 7, searcher.weight_, normalize=normalize, allowed=allowed, **p)
    if not any(doubtful):
        got = searcher.profile(y)
        np.testing.assert_allclose(got.distance, want, rtol=1e-7, atol=1e-7)
        assert (got.start[np.isinf(want)] == -1).all()
    matches = searcher.set_params(n_matches=2).search(y)
    each = [naive.beside_range(x, y[s:e], searcher.weight_) for s, e, _ in matches]
    told = [a.reshape(len(each), y.shape[1]) for a in (matches.scale, matches.offset)]
    each = np.array(each).reshape(-1, y.shape[1], 2).transpose(2, 0, 1)
    np.testing.assert_allclose(told[0], each[0], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(told[1], each[1], rtol=1e-9, atol=1e-9 * np.abs(y).max())


@given(problem=problems(), boxes=st.tuples(st.integers(1, 5), st.integers(1, 4)))
def test_boxes_that_are_left_out_have_no_range_within(problem, boxes):
    x, w, y, params = problem
    searcher = searcher_of(mode="subsequence", normalize="zscore", **params).fit(x, weight=w)
    how, n, (ends, lengths) = searcher._searches[0][0], len(y), boxes
    y = np.ascontiguousarray(y.T)
    inside = {}
    for end in range(1, n + 1):
        for length in range(1, min(end, 7) + 1):
            inside[end, length] = bool(allowed_ranges(how, y[np.newaxis, :, end - length : end])[0])
    end, length = (a.ravel() for a in np.meshgrid(np.arange(1, n + 1), np.arange(1, 8)))
    may = LimitedRanges(how, y).may_lie_in(end, ends, length, lengths)
    for e, k, possible in zip(end.tolist(), length.tolist(), may.tolist(), strict=True):
        own = [inside.get((a, b), False) for a in range(e, e + ends) for b in range(k, k + lengths)]
        assert possible or not any(own)


def test_boxes_of_quiet_ranges_are_left_out():
    rng = np.random.default_rng(3)
    x, y = np.sin(np.arange(60) / 8), 0.01 * rng.normal(size=(1, 4000))
    y[0, 2000:2070] += np.sin(np.arange(70) / 9)
    for limits in ({"scale_limits": (0.5, 2)}, {"offset_limit": 0.5}):
        searcher = searcher_of(mode="subsequence", normalize="zscore", **limits).fit(x)
        end = np.arange(100, 3900, 15)
        z = y if "scale_limits" in limits else y + 5.0 * (np.abs(np.arange(4000) - 2000) > 200)
        may = LimitedRanges(searcher._searches[0][0], z).may_lie_in(end, 15, np.full(len(end), 50), 15)
        assert may[np.abs(end - 2060) < 20].all() and not may[np.abs(end - 2000) > 400].any()


def test_copies_and_their_doubles_are_on_the_limits():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=11), 1e3 * rng.normal(size=120)
    for at, factor in ((3, 1.0), (40, 2.0), (61, 0.5), (90, 4.0)):
        y[at : at + 11] = factor * x
    for limits, kept in (((0.5, 2.0), [3, 40, 61]), ((1.0, 1.0), [3]), ((2.0, 4.0), [40, 90])):
        how = {"normalize": "zscore", "min_length": 11, "max_length": 11, "n_matches": None}
        searcher = searcher_of("dtw", mode="subsequence", scale_limits=limits, **how)
        assert sorted(searcher.fit(x).search(y).start) == kept

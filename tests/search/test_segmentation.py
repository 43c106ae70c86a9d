"""Optimal segmentations against brute force over all; rounds, jobs and chunks change no result."""

import gc
import tracemalloc
from functools import partial

import joblib
import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices, identical, refused, segmenter_of
from strategies import compiled, long_without_compiler, pairs, parameters, plain, small_sizes, times, unmeant

from sktslib import QuerySegmenter
from sktslib.distances import ADTW, DDTW, DTW, ERP, LCSS, TWED, WDTW, Euclidean, get_metric, metric_names
from sktslib.distances._kernels.segmentation import SEGMENT_LANES
from sktslib.search import Learning
from sktslib.search._segments import optimal

pytestmark = unmeant

FREE = compiled(naive.names(kind="warped", is_sum=True, has_lags=False))  # the cheapest segmentation is found


def as_carried(segmenter, y, **times):
    """The segmentation with the costs of the paths that the cells carried, which choose it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimal, "listed_costs", lambda searches, rules, segments: segments.cost)
        return segmenter.segment(y, **times)


def total(segments, background, n, transitions=None):
    return naive.cost_of_segmentation(list(segments), n, background, transitions)


@st.composite
def two_queries(draw, y_high=6, several=True):
    """Two queries of their own lengths with weights, a recording, and costs of what follows what."""
    x, y, w = draw(pairs(low=1, high=4, y_low=2, y_high=y_high, values=plain, several=several))
    length = draw(st.integers(1, 4))
    other = np.array(draw(st.lists(plain, min_size=length * x[0].size, max_size=length * x[0].size)), float)
    gap_cost = st.sampled_from([0.0, 0.5, 2.0])
    transitions = draw(st.none() | st.lists(st.lists(gap_cost, min_size=3, max_size=3), min_size=3, max_size=3))
    if transitions is not None:
        transitions[0][0] = 0.0
    return [x, other.reshape(length, *x.shape[1:])], [w, None], y, transitions


@pytest.mark.parametrize("name", [*FREE, "adtw", "euclidean"])
@given(data=st.data())
def test_segmentation_by_two_queries_is_the_cheapest(name, data):
    # Of several channels each is a driver of its own.
    several = numba.config.DISABLE_JIT or name in ("dtw", "adtw", "euclidean")
    queries, weights, y, transitions = data.draw(two_queries(several=several))
    background, n = data.draw(st.sampled_from(["auto", 0.3, 1.0])), len(y)
    if name == "euclidean" and n < max(map(len, queries)):
        return
    p = {"omega": "auto"} if name == "adtw" else data.draw(parameters(name))
    p |= {"nu": 0.0} if name == "twed" else {}  # no lags
    segmenter = segmenter_of(get_metric(name, p), background=background, transitions=transitions, threshold=1e9)
    segments = segmenter.fit(queries, weight=weights).segment(y)
    if name == "adtw":
        p = {"omega": segmenter.metric_.omega_}
    by_sample = None
    if background == "auto" and name == "adtw":
        by_sample, *most = (naive.background_of_samples(queries, weights, z, **p) for z in (y, *queries))
    if by_sample is not None:
        background = by_sample
        assert segmenter.background_ == pytest.approx(np.concatenate(most).max(), rel=1e-9, abs=1e-12)
    elif background == "auto":
        mean = np.mean([naive.background(name, x, w, **p) for x, w in zip(queries, weights, strict=True)])
        background = segmenter.background_  # of counts a short binary fraction
        assert background == pytest.approx(mean, rel=1e-9, abs=2.0**-31)
    costs = [partial(naive.segment_cost, name, x, y, w, **p) for x, w in zip(queries, weights, strict=True)]
    least = naive.segmentations(n, costs, background, transitions)
    assert total(segments, background, n, transitions) == pytest.approx(least, rel=1e-9, abs=1e-11)
    for s, e, label, cost in segments:
        assert 0 <= s < e <= n
        assert cost == pytest.approx(costs[label - 1](s, e), rel=1e-9, abs=1e-11)
    assert (segments.start[1:] >= segments.end[:-1]).all()


CARRIED = [("dtw", {}), ("lcss", {"eps": 0.8}), ("twed", {"nu": 0.2}), ("wdtw", {"g": 0.3})]


@pytest.mark.slow
@given(two_queries(y_high=14), st.sampled_from(CARRIED), st.data())
def test_cells_carry_the_start_of_their_cheapest_path(case, metric, data):
    queries, weights, y, transitions = case
    (name, p), n = metric, len(y)
    low = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=2))
    high = [a + data.draw(st.integers(0, 5)) for a in low] if data.draw(st.booleans()) else [n, n]
    segmenter = segmenter_of(get_metric(name, p), background=0.7, transitions=transitions)
    segmenter.set_params(lengths=[(a, None if b == n else b) for a, b in zip(low, high, strict=True)]).fit(
        queries, weight=weights
    )
    segments, carried = segmenter.segment(y), as_carried(segmenter, y)
    steps = [naive.steps(name, x, y, w, search=True, **p) for x, w in zip(queries, weights, strict=True)]
    bounds = list(zip(low, high, strict=True))
    least = naive.carried_segmentation(steps, n, 0.7, transitions, bounds)
    assert total(carried, 0.7, n, transitions) == pytest.approx(least, rel=1e-9, abs=1e-11)
    assert [one[:3] for one in segments] == [one[:3] for one in carried]
    for (s, e, label, cost), costlier in zip(segments, carried.cost, strict=True):
        assert bounds[label - 1][0] <= e - s <= bounds[label - 1][1]
        exact = naive.segment_cost(name, queries[label - 1], y, weights[label - 1], s, e, **p)
        assert cost == pytest.approx(exact, rel=1e-9, abs=1e-11)
        assert costlier >= exact - 1e-9 * max(1.0, exact)
    stream = segmenter.stream()
    found = [stream.update(y[a : a + 3]) for a in range(0, n, 3)] + [stream.flush()]
    assert [one for part in found for one in part] == list(segments)


COSTLIER = [  # the cheapest path of the last repetition is lost to one that then is longer than allowed
    ("lcss", {"eps": 0.5}, [2.0, 1, 1, 0], [2.0, -2, 0, 2, 2, 0, 2, -2], 5, 5.0, [4.0, 6.0]),
    ("msm", {}, [2.0, 2, -1, -2], [-1.0, -2, -1, 1, -1, -1, -1], 4, 2.0, [6.0, 5.0]),
    ("erp", {}, [-1.0, 2, -2], [-1.0, -2, -2, -1, -2, 1, -2, 1, 0, 2, 2], 3, 2.0, [2.0, 4.0, 5.0, 5.0]),
    ("wdtw", {"g": 0.3}, [2.0, -1, 0, -1], [1.0, 2, -1, 1, 0, 1], 5, 5.0, [0.7086873898, 2.7652610137]),
]


@pytest.mark.parametrize(("name", "p", "x", "y", "longest", "background", "costlier"), compiled(COSTLIER))
def test_costs_are_those_of_the_ranges(name, p, x, y, longest, background, costlier):
    segmenter = segmenter_of(get_metric(name, p), background=background, max_length=longest).fit(x)
    segments, x, y = segmenter.segment(y), np.array(x), np.array(y)
    exact = [naive.segment_cost(name, x, y, None, s, e, **p) for s, e, _, _ in segments]
    np.testing.assert_allclose(as_carried(segmenter, y).cost, costlier, rtol=1e-8)
    np.testing.assert_allclose(segments.cost, exact, rtol=1e-9)
    assert segments.cost.sum() < sum(costlier) - 0.1
    stream = segmenter.stream()
    found = [stream.update(y[t : t + 1]) for t in range(len(y))] + [stream.flush()]
    assert [one for part in found for one in part] == list(segments)


@pytest.mark.parametrize("name", compiled(metric_names("lockstep")))
@given(data=st.data())
def test_lockstep_segmentation_is_the_cheapest(name, data):
    x, y, w = data.draw(pairs(low=1, high=3, y_low=3, y_high=8, values=plain))
    x, y = naive.domain(name, x), naive.domain(name, y)
    n, m = len(y), len(x)
    background = data.draw(st.sampled_from(["auto", 0.3, 1.0]))
    segmenter = segmenter_of(name, background=background).fit(x, weight=w)
    if background == "auto":
        background = naive.background(name, x, w)
        assert segmenter.background_ == pytest.approx(background, rel=1e-9, abs=1e-12)
    if not np.isfinite(background):
        return  # the query's own mirror image about zero is infinitely far by Bray-Curtis
    segments = segmenter.segment(y)
    cost = {s: naive.segment_cost(name, x, y, w, s, s + m) for s in range(n - m + 1)}
    least = naive.segmentations(n, [lambda s, e: cost[s] if e - s == m else np.inf], background)
    assert total(segments, background, n) == pytest.approx(least, rel=1e-9, abs=1e-11)
    assert ((segments.end - segments.start) == m).all()


def test_lengths_are_bounded():
    y = np.array([5, 5, 0, 1, 3, 3, 3, 3, 1, 0, 5, 5, 0, 1, 3, 1, 0, 5], dtype=float)
    query = [0, 1, 3, 1, 0]
    free = segmenter_of("dtw").fit(query).segment(y)
    np.testing.assert_array_equal(free.boundaries, [2, 10, 12, 17])
    np.testing.assert_array_equal(segmenter_of(max_length=6, background=2.0).fit(query).segment(y).boundaries, [12, 17])
    np.testing.assert_array_equal(segmenter_of(min_length=6, background=2.0).fit(query).segment(y).boundaries, [2, 10])


@pytest.mark.parametrize("metric", ["dtw", "lcss", "twed", "euclidean"])
def test_a_constant_recording_is_background_or_the_query(metric):
    segments = segmenter_of(metric).fit([0.0, 1.0, 5.0, 1.0]).segment(np.full(12, 40.0))
    assert len(segments) == 0
    assert segments.boundaries.size == 0


def test_a_cost_of_background_beyond_all_others_counts_like_a_large_one():
    y = np.arange(12.0) % 4
    large, largest = (segmenter_of("lcss", background=b).fit([0.0, 1.0, 2.0, 3.0]).segment(y) for b in (1e6, 1e308))
    np.testing.assert_array_equal(largest.boundaries, large.boundaries)


@given(two_queries(y_high=12, several=False), st.data())
def test_lags_in_time_count_from_the_start_of_the_segment(case, data):
    queries, weights, y, transitions = case
    tqs, ts = [data.draw(times(len(x))) for x in queries], data.draw(times(len(y)))
    segmenter = segmenter_of(TWED(nu=0.2), background=0.7, transitions=transitions)
    segments = segmenter.fit(queries, weight=weights, times=tqs).segment(y, times=ts)
    carried = as_carried(segmenter, y, times=ts)
    steps = [
        naive.steps("twed", x, y, w, tq, ts, search=True, nu=0.2)
        for x, w, tq in zip(queries, weights, tqs, strict=True)
    ]
    least = naive.carried_segmentation(steps, len(y), 0.7, transitions)
    assert total(carried, 0.7, len(y), transitions) == pytest.approx(least, rel=1e-9, abs=1e-11)
    for s, e, label, cost in segments:
        times_of = {"tq": tqs[label - 1], "ts": ts}
        exact = naive.segment_cost("twed", queries[label - 1], y, weights[label - 1], s, e, **times_of, nu=0.2)
        assert cost == pytest.approx(exact, rel=1e-9, abs=1e-11)
    stream = segmenter.stream()
    found = [stream.update(y[a : a + 3], times=ts[a : a + 3]) for a in range(0, len(y), 3)] + [stream.flush()]
    assert [one for part in found for one in part] == list(segments)


def test_few_samples_are_computed_twice(monkeypatch):
    rng = np.random.default_rng(3)
    query, alone = rng.normal(size=5), []
    y = np.tile(np.concatenate([query, np.zeros(9)]), 400) + rng.normal(size=5600) * 0.1
    in_order = optimal.in_order

    def counted(queries, series, begin_at, offset, rules, state):
        alone.append(len(rules[0]) - begin_at)
        return in_order(queries, series, begin_at, offset, rules, state)

    monkeypatch.setattr(optimal, "in_order", counted)
    segments = segmenter_of("dtw").fit(query).segment(y)
    assert len(segments) > 300
    assert sum(alone) < len(y) / 20


@pytest.mark.parametrize("loud", ["plateau", "noise", "sine"])
def test_what_is_as_loud_as_the_query_and_unlike_it_is_background(loud):
    rng, x = np.random.default_rng(0), np.zeros(80)
    x[20:30] = [0, 1, 3, 7, 9, 8, 3, -2, -1, 0]
    beats = [np.concatenate([np.zeros(40), x]) + 0.1 * rng.normal(size=120) for _ in range(5)]
    between = {
        "plateau": np.full(500, 9.0),
        "noise": 9.0 * rng.normal(size=500),
        "sine": 9.0 * np.sin(np.arange(500) / 10),
    }
    segmenter = segmenter_of().fit(x)
    found = segmenter.segment(np.concatenate([*beats, between[loud], *beats]))
    assert len(found) == 10
    want = 120 * np.arange(10) + np.repeat([40, 540], 5)
    assert np.abs(found.start - want).max() <= 20
    assert segmenter.threshold_ == pytest.approx(3 * 1.5 * x.var())
    assert len(segmenter.set_params(threshold=1e9).segment(np.concatenate([*beats, between[loud], *beats]))) > 10


@pytest.mark.parametrize("query", [np.repeat([0.0, 1.0], 6), np.linspace(0, 1, 12)], ids=["step", "ramp"])
def test_a_query_with_ends_far_apart_does_not_stretch_over_rest_at_them(query):
    rest = [np.full(20, query[0]), query, np.full(20, query[-1])]
    found = segmenter_of().fit(query).segment(np.concatenate([*rest, *rest]))
    assert found.start.tolist() == [20, 72]
    assert found.end.tolist() == [32, 84]


# ------------------------------------------------------------------------------------------------- rounds, jobs, chunks


METRICS = [ADTW(omega=0.3), *compiled([DTW(), LCSS(eps=0.5), ERP(), DDTW(), WDTW(g=0.3), TWED(nu=0.1), Euclidean()])]
SIZES = [f"search._segments.optimal.{name}" for name in ("AT_ONCE", "AHEAD")]
SIZES += ["search._sources.CHUNK", "distances._kernels.scalar.ROOM", "search._segments.optimal.SPAN"]


def as_tuple(segments):
    names = ("start", "end", "label", "cost", "query", "partial", "_shown")
    return {name: getattr(segments, name) for name in names}


def assert_same(got, want):
    for name, values in as_tuple(want).items():
        np.testing.assert_array_equal(getattr(got, name), values, err_msg=name)


@st.composite
def recordings(draw):
    """Queries, a recording of several rounds in which they occur, and rules. Rounds of 16 lanes are small here."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    channels = draw(st.sampled_from([1, 2]))
    queries = [rng.normal(size=(length, channels)) for length in draw(st.sampled_from([[3], [2, 4]]))]
    kind = draw(st.sampled_from(["noise", "noise", "constant", "integers"]))
    y = rng.normal(size=(draw(st.integers(400, 900)), channels)) * draw(st.sampled_from([0.3, 1.0]))
    for s in rng.integers(0, len(y) - 4, len(y) // 12):
        query = queries[s % len(queries)]
        y[s : s + len(query)] = query
    if kind == "constant":
        y[rng.integers(0, 200) : rng.integers(250, len(y))] = 0.5
    if kind == "integers":
        y, queries = y.round(), [query.round() for query in queries]
    gaps = draw(st.booleans())
    if gaps:
        y[rng.integers(0, len(y), 2)] = np.nan
    k = len(queries)
    rules = {"background": draw(st.sampled_from([0.2, 1.0, 50.0])), "nan_policy": "omit" if gaps else "raise"}
    rules["transitions"] = rng.uniform(size=(k + 1, k + 1)) if draw(st.booleans()) else None
    return queries, y, rules


def sizes(data, patch):
    for name, some in (("LEAD", [1, 2, 4]), ("FULL", [1, 2, 5]), ("STEP", [1, 20])):
        patch.setattr(optimal, name, data.draw(st.sampled_from(some)))
    patch.setattr(optimal, "BLOCK", data.draw(st.sampled_from([7, 50, 2**13])))


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@given(case=recordings(), data=st.data())
def test_jobs_and_chunks_change_nothing(metric, case, data):
    queries, y, rules = case
    elastic = not isinstance(metric, Euclidean)
    rules["partial"] = elastic and metric._can_be_cut and not metric.uses_times and data.draw(st.booleans())
    rules["max_length"] = data.draw(st.sampled_from([None, 9])) if elastic else None
    rules["polarity"] = data.draw(st.sampled_from(["same", "same", "any"]))
    segmenter = segmenter_of(metric, **rules).fit(queries)
    with pytest.MonkeyPatch.context() as patch:
        sizes(data, patch)
        want = segmenter.segment(y)
        with small_sizes(data, *SIZES):
            segmenter.n_jobs = data.draw(st.integers(1, 3))
            assert_same(segmenter.segment(y), want)
            read = Slices(y, data.draw(st.sampled_from([None, 1, 40, 333])))
            assert_same(segmenter.segment(read), want)
            np.testing.assert_array_equal(segmenter.predict(read), segmenter.predict(y))


def whole(segmenter, y, **times):
    """The segmentation of one stretch in order, and what it costs with its background."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimal, "LEAD", 10**9)
        return segmenter.segment(y, **times)


@pytest.mark.slow
@pytest.mark.parametrize("metric", [DTW(), ADTW(omega=0.3), LCSS(eps=0.5)], ids=lambda metric: metric.name)
@given(case=recordings(), data=st.data())
def test_rounds_find_the_cheapest(metric, case, data):
    queries, y, rules = case
    y = y[~np.isnan(y).any(axis=1)]
    # Counts have ties, which roundings may break otherwise; with a bound the answer depends on them.
    rules["max_length"] = data.draw(st.sampled_from([None, 9])) if metric.name == "dtw" else None
    segmenter = segmenter_of(metric, **rules).fit(queries)
    want = whole(segmenter, y)
    with pytest.MonkeyPatch.context() as patch:
        sizes(data, patch)
        got = segmenter.segment(y)
    total = [
        naive.cost_of_segmentation(list(s), len(y), rules["background"], rules["transitions"]) for s in (got, want)
    ]
    assert total[0] == pytest.approx(total[1], rel=1e-9)
    for s, e, label, cost in got[:: max(len(got) // 5, 1)]:
        alone = segmenter_of(metric, background=1e9).fit(queries[label - 1]).segment(y[s:e])
        if len(alone) == 1:
            assert cost == pytest.approx(alone.cost[0], rel=1e-9, abs=1e-9)
    stream = segmenter.stream()
    found = [stream.update(y[a : a + 100]) for a in range(0, len(y), 100)] + [stream.flush()]
    streamed = [one for part in found for one in part]
    assert streamed == list(want)


@pytest.mark.slow
def test_processes_find_the_same():
    rng = np.random.default_rng(0)
    query = rng.normal(size=3)
    y = np.concatenate([np.concatenate([query, rng.normal(size=5)]) for _ in range(300)])
    segmenter = segmenter_of("dtw").fit(query)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimal, "STEP", 1)
        patch.setattr(optimal, "FULL", 2)
        want = segmenter.segment(y)
        with joblib.parallel_config("loky", n_jobs=2):
            assert_same(segmenter.segment(y), want)
        with joblib.parallel_config("loky"):
            assert_same(segmenter.set_params(n_jobs=2).segment(y), want)


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("level", [0.0, 5.0])
def test_states_of_constant_recordings_that_never_agree(partial, level):
    y = np.full(8 * SEGMENT_LANES, level)
    segmenter = segmenter_of("dtw", background=1.0, partial=partial).fit([0.0, 1.0, 0.5])
    want = whole(segmenter, y)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LEAD", "FULL", "STEP"):
            patch.setattr(optimal, name, 1)
        got = segmenter.segment(y)
        segmenter.n_jobs = 2
        assert_same(segmenter.segment(Slices(y, 50)), got)
    total = [naive.cost_of_segmentation(list(s), len(y), 1.0, None) for s in (got, want)]
    assert total[0] == pytest.approx(total[1], rel=1e-12, abs=1e-12)


def test_times_and_holes_by_chunks():
    rng = np.random.default_rng(5)
    y, times = rng.normal(size=900), np.cumsum(rng.uniform(0.5, 1.5, size=900))
    times[400:] += 50
    for metric in (TWED(nu=0.2), DTW()):
        segmenter = segmenter_of(metric, background=2.0, max_gap=10.0).fit(y[100:106], times=times[100:106])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(optimal, "STEP", 1)
            patch.setattr(optimal, "FULL", 1)
            patch.setattr(optimal, "LEAD", 1)
            want = segmenter.segment(y, times=times)
            patch.setattr("sktslib.search._sources.CHUNK", 64)
            got = segmenter.segment(Slices(y), times=times)
        assert_same(got, want)
        assert len(got) > 10
        identical(got, want, ("start_time", "end_time"))
        np.testing.assert_array_equal(got.path(3), want.path(3))


@long_without_compiler
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_a_memory_map_is_read_by_chunks(dtype, tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    query = np.array([0.0, 20, 60, 20, 0])
    y = np.tile(np.concatenate([query, np.zeros(6)]), 80) + rng.normal(size=880) * 4
    y = y.astype(dtype)
    path = tmp_path / "y.npy"
    np.save(path, y)
    monkeypatch.setattr("sktslib.search._sources.CHUNK", 100)
    segmenter = QuerySegmenter(learning=Learning(refine=2)).fit(query)
    want, got = segmenter.segment(y), segmenter.segment(np.load(path, mmap_mode="r"))
    assert_same(got, want)
    np.testing.assert_array_equal(got.path(2), want.path(2))
    np.testing.assert_array_equal(got.warped(), want.warped())
    assert isinstance(got._source.readers[0].source.X, np.memmap)
    labels = segmenter.predict(np.load(path, mmap_mode="r"))
    np.testing.assert_array_equal(labels, segmenter.predict(y))
    assert segmenter.score(np.load(path, mmap_mode="r"), labels) == segmenter.score(y, labels)


def test_only_chunks_are_read(monkeypatch):
    monkeypatch.setattr("sktslib.search._sources.CHUNK", 128)
    y = Slices(np.tile([0.0, 1, 3, 1, 5, 5, 5], 400))
    segments = segmenter_of("dtw").fit([0, 1, 3, 1]).segment(y)
    assert len(segments) == 400
    assert y.most == 128
    refused(lambda: segmenter_of("euclidean").fit([0, 1, 3]).segment(Slices(np.zeros(2))), "longer than the sequence")


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="plain loops take a sequence too short for memory to show")
@pytest.mark.parametrize("metric", ["dtw", "euclidean", TWED(nu=0.1)])
def test_memory_is_bounded(metric, monkeypatch):
    for name, size in (("LEAD", 1), ("FULL", 2), ("STEP", 20), ("AT_ONCE", 8)):
        monkeypatch.setattr(optimal, name, size)
    monkeypatch.setattr(optimal, "BLOCK", 256)
    monkeypatch.setattr(optimal, "WINDOWS", 512)
    rng = np.random.default_rng(1)
    query = np.array([0.0, 1, 3, 1])
    peaks = []
    for repeats in (200, 500):
        y = np.tile(np.concatenate([query, np.full(16, 5.0)]), repeats) + rng.normal(size=20 * repeats) * 0.01
        segmenter = segmenter_of(metric, background=1.0).fit(query)
        segmenter.segment(y[:500])
        tries = []
        gc.collect()
        for _ in range(2):  # garbage of other tests and kernels that are loaded do not count
            tracemalloc.start()
            segments = segmenter.segment(y)
            tries.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        peaks.append(min(tries))
        assert len(segments) == repeats
    assert peaks[1] - peaks[0] <= 40 * 300 * 20

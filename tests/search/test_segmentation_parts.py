"""Segmentations in rounds, jobs and chunks: none of these changes a result."""

import gc
import tracemalloc

import joblib
import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices, refused, segmenter_of
from strategies import compiled, long_without_compiler, small_sizes, unmeant

from sktslib import QuerySegmenter
from sktslib.distances import ADTW, DDTW, DTW, ERP, LCSS, TWED, WDTW, Euclidean
from sktslib.distances._kernels.segmentation import SEGMENT_LANES
from sktslib.search import Learning
from sktslib.search._segments import optimal

pytestmark = unmeant

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
        np.testing.assert_array_equal(got.start_time, want.start_time)
        np.testing.assert_array_equal(got.end_time, want.end_time)
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


def test_bad_chunks_and_jobs_are_refused():
    segmenter = segmenter_of("dtw").fit([0.0, 1, 3])
    y = np.zeros(50)
    y[40] = np.nan
    refused(lambda: segmenter.segment(Slices(y)), "sample")
    refused(lambda: segmenter_of("dtw", n_jobs=0).fit([0.0, 1, 3]).segment(np.zeros(9)), "n_jobs")
    refused(lambda: segmenter_of("euclidean").fit([0.0, 1, 3]).segment(Slices(np.zeros(2))), "longer than the sequence")

"""Searches chunk by chunk, from a stream or long sequence, against those of the whole; ties, delays, memory, times."""

import itertools
import pickle

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices, identical, refused, searcher_of, segmenter_of
from strategies import banded, compiled, unmeant
from test_parts import searches

from sktslib.distances import DDTW, DTW, ERP, LCSS, WDTW, Euclidean
from sktslib.search import _sources
from sktslib.search._chunks import ROOM, Buffer

pytestmark = unmeant


def found(matches):
    times = [None] * len(matches) if matches.times is None else zip(matches.start_time, matches.end_time, strict=True)
    return sorted(
        (m.start, m.end, round(m.distance, 12), matches.path(k).tolist(), t)
        for k, (m, t) in enumerate(zip(matches, times, strict=True))
    )


@pytest.mark.filterwarnings("ignore:The sequence (is sampled|has holes)", "ignore:The sampling intervals")
@banded
@given(data=st.data(), sizes=st.lists(st.integers(0, 30), min_size=1, max_size=9), through_pickle=st.booleans())
def test_a_stream_finds_what_a_search_of_the_whole_does(banded, sizes, through_pickle, data):
    searcher, y, ty = data.draw(searches(banded))
    timed = data.draw(st.booleans())
    if not isinstance(searcher.threshold, float):
        searcher.set_params(threshold=1.0)
    if timed and searcher.max_gap is None and not searcher.metric_.uses_times:  # times in, times out
        ty = np.datetime64("2026-01-01") + np.cumsum(4 + np.arange(len(y)) % 3).astype("timedelta64[s]")
    want = found(searcher.search(y, times=ty))
    stream, got, at = searcher.stream(), [], 0
    while at < len(y):
        size = max(1, sizes[at % len(sizes)])
        matches = stream.update(y[at : at + size], times=None if ty is None else ty[at : at + size])
        assert searcher.n_matches is None or len(matches) == 0
        assert (np.diff(matches.start) >= 0).all()
        assert (matches.end <= stream.n_samples_seen).all()
        got += found(matches)
        at += size
        if through_pickle:
            stream = pickle.loads(pickle.dumps(stream))
    assert stream.n_samples_seen == len(y)
    assert sorted(got + found(stream.flush())) == want


class Unshaped(Slices):
    """What knows its length alone."""

    def __init__(self, y):
        super().__init__(y)
        del self.shape, self.dtype


class Shaped:
    """What has a shape and no len, as arrays of zarr have, and must not be read whole."""

    def __init__(self, y):
        self.y, self.shape, self.chunks = y, y.shape, (100,)

    def __getitem__(self, part):
        return self.y[part]

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("read whole")


def test_arrays_without_a_len_are_read_by_chunks(monkeypatch):
    monkeypatch.setattr(_sources, "CHUNK", 100)
    y = np.sin(np.arange(900) / 11.0)
    searcher = searcher_of("euclidean", n_matches=3).fit(y[100:150])
    assert found(searcher.search(Shaped(y))) == found(searcher.search(y))
    np.testing.assert_array_equal(searcher.predict(Shaped(y)), searcher.predict(y))
    assert searcher.score(Shaped(y), searcher.predict(y)) == 1.0
    several = searcher.search([Shaped(y), Shaped(y[:300])])
    assert found(several) == found(searcher.search([y, y[:300]]))
    assert set(several.sequence) == {0, 1}


def test_matches_are_reported_as_soon_as_nothing_can_beat_them():
    stream = searcher_of("dtw", threshold=0.1, n_matches=None).fit([0, 2, 0]).stream()
    assert [len(stream.update([value])) for value in (5, 0, 2, 0)] == [0, 0, 0, 0]  # another 0 would still belong to it
    assert list(stream.update([5])) == [(1, 4, 0.0)]


@pytest.mark.parametrize("library", ["zarr", "h5py", "dask.array"])
def test_arrays_of_other_libraries(library, tmp_path):
    module = pytest.importorskip(library)
    y = np.sin(np.arange(3000) / 11.0)
    if library == "zarr":
        array = module.array(y, chunks=500)
    elif library == "h5py":
        array = module.File(tmp_path / "y.h5", "w").create_dataset("y", data=y, chunks=(500,))
    else:
        array = module.from_array(y, chunks=500)
    searcher = searcher_of("dtw", n_matches=4).fit(y[100:150])
    want, got = searcher.search(y), searcher.search(array)
    np.testing.assert_array_equal(got.start, want.start)
    np.testing.assert_allclose(got.distance, want.distance, rtol=1e-12)


@pytest.mark.parametrize("timed", [False, True])
def test_a_chunk_may_be_empty(timed):
    y, times = np.array([5.0, 0, 2, 2, 0, 5, 0, 2, 0, 5]), np.arange(10.0)
    for stream in (
        searcher_of("dtw", threshold=0.1, n_matches=None).fit([0, 2, 0]).stream(),
        segmenter_of("dtw", background=0.5).fit([0, 2, 0]).stream(),
    ):
        found = []
        for begin, end in ((0, 0), (0, 4), (4, 4), (4, 10), (10, 10)):
            found.append(stream.update(y[begin:end], times[begin:end] if timed else None))
        found.append(stream.flush())
        assert sorted(s for part in found for s in part.start) == [1, 6]
        assert len(found[0]) == len(found[2]) == 0


def test_what_is_wrong_with_a_chunk_is_said_of_that_chunk():
    for stream in (searcher_of(threshold=1.0).fit([1, 2]).stream(), segmenter_of().fit([1, 2]).stream()):
        stream.update([1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match=r"chunk that begins at sample 3: 'X' must be finite.*index 1"):
            stream.update([1.0, np.nan])


def test_what_streams_refuse():
    refused(searcher_of().fit([1, 2]).stream, "'threshold' parameter of QuerySearcher must be set for a stream")
    with pytest.raises(
        ValueError, match=r"must not be a Percentile for a stream.*Got Percentile\(5\.0\)\. Set a number"
    ):
        searcher_of(percentile=5).fit([1, 2]).stream()
    stream = searcher_of(threshold=1.0).fit([1, 2]).stream()
    stream.flush()
    refused(lambda: stream.update([1.0]), "flushed", "stream()")
    stream = searcher_of("twed", threshold=1.0).fit([1, 2], times=[0, 1]).stream()
    stream.update([1.0, 2.0], times=[0.0, 1.0])
    refused(lambda: stream.update([1.0]), "'times' must be given with every chunk or with none")
    refused(lambda: stream.update([1.0], times=[1.0]), "strictly increasing. Got 1.0 after 1.0, at sample 2")
    with pytest.raises(ValueError, match="must not be longer than the sequence"):
        searcher_of("euclidean").fit([1, 2, 3]).search(Slices(np.zeros(2)))
    stream = searcher_of("dtw", threshold=1.0).fit([1, 2]).stream()
    stream.update([5.0, 6.0], times=[5.0, 6.0])
    refused(lambda: stream.update([1.0], times=[0.0]), "strictly increasing. Got 0.0 after 6.0, at sample 2")
    for query in ([1, 2], [np.array([1, 2]), np.array([2, 1])]):
        found = searcher_of("euclidean", threshold=9.0).fit(query).stream().update([1, 2, 3])
        refused(found.plot, "matches of a stream cannot be drawn", "Pass the sequence")
    y = np.zeros(40)
    y[30] = np.nan
    size, _sources.CHUNK = _sources.CHUNK, 16
    try:
        with pytest.raises(ValueError, match=r"chunk that begins at sample 16: 'X' must be finite.*index 14"):
            searcher_of("euclidean").fit([1, 2, 3]).search(Slices(y))
    finally:
        _sources.CHUNK = size


@pytest.mark.parametrize(
    "rule", [{"n_matches": 2}, {"threshold": 3.0, "n_matches": None}, {"percentile": 20, "n_matches": None}]
)
def test_several_queries_read_a_long_sequence_once(rule, monkeypatch):
    monkeypatch.setattr(_sources, "CHUNK", 16)
    rng = np.random.default_rng(3)
    y = rng.normal(size=100)
    searcher = searcher_of("dtw", **rule).fit([y[20:30].copy(), y[50:58].copy()])
    long = Unshaped(y)
    got, want = searcher.search(long), searcher.search(y)
    identical(got, want, ("start", "end", "distance", "query"))
    assert len(y) <= long.read < 2 * len(y)
    long = Unshaped(y)
    for a, b in zip(searcher.profile(long), searcher.profile(y), strict=True):
        np.testing.assert_array_equal(a.distance, b.distance)
    assert long.read == len(y)


# -------------------------------------------------------------------------------------------------------------- borders


METRICS = compiled([DTW(), Euclidean(), LCSS(eps=0.5), ERP(), DDTW(), WDTW(g=0.5)])


def streamed(stream, y, cuts, times=None):
    """What a stream gives for the chunks between the cuts, each with the number of samples so far."""
    found = []
    for a, b in itertools.pairwise([0, *cuts, len(y)]):
        matches = stream.update(y[a:b], *([] if times is None else [times[a:b]]))
        found += [(b, one) for one in matches]
    return found + [(len(y) + 1, one) for one in stream.flush()]


@st.composite
def tied(draw):
    """A searcher and a sequence of few integers, so that distances are equal everywhere."""
    value = st.integers(-1, 1) if draw(st.booleans()) else st.just(-1)
    query = np.array(draw(st.lists(value, min_size=1, max_size=5)), float)
    y = np.array(draw(st.lists(value, min_size=6, max_size=30)), float)
    metric = draw(st.sampled_from(METRICS))
    rules = {"threshold": draw(st.sampled_from([0.0, 0.5, 2.0])), "max_overlap": draw(st.sampled_from([0.0, 0.4, 1.0]))}
    if metric.name in ("dtw", "euclidean"):
        rules |= draw(st.sampled_from([{}, {"normalize": "zscore"}, {"normalize": "robust"}, {"scales": (0.5, 1.5)}]))
    if metric.name == "lcss":
        rules["threshold"] /= 4
    if draw(st.booleans()):
        y[draw(st.lists(st.integers(1, len(y) - 1), max_size=2))] = np.nan
    one_by_one = draw(st.booleans())
    cuts = range(1, len(y)) if one_by_one else sorted(draw(st.sets(st.integers(1, len(y) - 1), max_size=4)))
    rules["polarity"] = draw(st.sampled_from(["same", "any"]))
    searcher = searcher_of(metric, n_matches=None, nan_policy="omit", **rules)
    return searcher.fit(query), y, list(cuts)


def scales_of(searcher):
    return getattr(searcher.candidates, "scales", None)


@given(case=tied())
def test_equal_distances_are_chosen_from_as_in_the_whole_sequence(case):
    searcher, y, cuts = case
    longest = (
        1 if searcher._mode == "subsequence" else int(len(searcher.query_) * (1.5 if scales_of(searcher) else 1)) + 1
    )
    if len(y) < longest:
        return
    got = streamed(searcher.stream(), y, cuts)
    assert sorted(one for _, one in got) == sorted(searcher.search(y))
    got = streamed(searcher.stream(max_delay=10_000), y, cuts)
    assert sorted(one for _, one in got) == sorted(searcher.search(y))


@given(case=tied(), delay=st.integers(0, 6))
def test_matches_are_decided_in_time(case, delay):
    searcher, y, cuts = case
    delay += int(len(searcher.query_) * (1.5 if scales_of(searcher) else 1)) + 3
    got = streamed(searcher.stream(max_delay=delay), y, cuts)
    matches = [one for _, one in got]
    if len(cuts) == len(y) - 1:
        assert all(at - one.end <= delay for at, one in got if at <= len(y))
    for a, b in itertools.combinations(matches, 2):
        common, shorter = min(a.end, b.end) - max(a.start, b.start), min(a.end - a.start, b.end - b.start)
        assert common <= searcher.max_overlap * shorter or common <= 0
    known = {(s, e): d for s, e, d in searcher.profile(y)} if scales_of(searcher) is None else {}
    for s, e, distance in matches:
        assert distance <= searcher.threshold or searcher.metric.name == "wdtw"
        if (s, e) in known and searcher.metric.name != "wdtw":
            assert distance == pytest.approx(known[s, e], rel=1e-12, abs=1e-12)
    if searcher.max_overlap == 0 and searcher._mode == "windows":  # nothing that fits is left out
        taken = np.zeros(len(y), bool)
        for s, e, _ in matches:
            taken[s:e] = True
        assert all(taken[s:e].any() for (s, e), d in known.items() if d <= searcher.threshold)


def test_a_better_match_may_come_too_late():
    query, y = [0.0, 5.0, 0.0], [9.0, 0, 3, 0, 4, 0, 5, 0, 9, 9, 9, 9]
    searcher = searcher_of("euclidean", threshold=3.0, n_matches=None).fit(query)
    assert sorted(searcher.search(y)) == [(1, 4, 2.0), (5, 8, 0.0)]
    waiting = streamed(searcher.stream(), y, range(1, 12))
    assert waiting == [(10, (1, 4, 2.0)), (10, (5, 8, 0.0))]  # each overlaps the next, so that all wait for the last
    early = streamed(searcher.stream(max_delay=3), y, range(1, 12))
    assert early == [(10, (5, 8, 0.0))]  # the first gave way to the second, before that gave way itself


def test_a_match_need_not_wait_for_what_may_still_come():
    searcher = searcher_of("dtw", threshold=3.0, n_matches=None).fit([0.0, 5.0, 0.0])
    y = [9.0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 9, 9]
    assert streamed(searcher.stream(), y, range(1, 15)) == [(14, (1, 4, 1.0)), (14, (9, 12, 0.0))]
    assert streamed(searcher.stream(max_delay=3), y, range(1, 15)) == [(6, (1, 4, 1.0)), (14, (9, 12, 0.0))]
    assert streamed(searcher.stream(max_delay=4), y, range(1, 15)) == [(7, (1, 4, 1.0)), (14, (9, 12, 0.0))]


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "rules"), [("dtw", {}), ("euclidean", {}), ("euclidean", {"normalize": "zscore"})])
def test_with_a_delay_memory_is_bounded(metric, rules):
    query = np.r_[1.0, 0, 0, 5] if metric == "dtw" else np.linspace(-2, 0, 20)
    searcher = searcher_of(metric, threshold=30.0, n_matches=None, **rules).fit(query)
    # Begun matches that never end, a constant signal, ever better matches that overlap.
    n = 3_000 if numba.config.DISABLE_JIT else 6_000
    for y in (np.r_[1.0, np.zeros(n)], np.zeros(n), np.linspace(-40, 0, n)):
        stream, sizes = searcher.stream(max_delay=50), []
        for a in range(0, len(y), 10):
            stream.update(y[a : a + 10])
            if a % 200 == 0:
                sizes.append(len(pickle.dumps(stream)))
        assert max(sizes) < 45_000
        assert max(sizes[len(sizes) // 2 :]) <= max(sizes[: len(sizes) // 2]) + 8_000


def test_delays_that_are_refused():
    for make, least in (
        (searcher_of("euclidean", threshold=1.0).fit(np.zeros(5)), 5),
        (searcher_of("dtw", threshold=1.0, min_length=9).fit(np.zeros(5)), 9),
        (searcher_of("ddtw", threshold=1.0).fit(np.zeros(5)), 7),
        (searcher_of("euclidean", threshold=1.0, scales=(1.0, 2.0)).fit(np.zeros(5)), 10),
        (searcher_of("euclidean", threshold=1.0).fit([np.zeros(5), np.zeros(6)]), 6),
    ):
        make.stream(max_delay=least)
        with pytest.raises(ValueError, match=rf"'max_delay' parameter of stream must be at least.*Got {least - 1}\."):
            make.stream(max_delay=least - 1)
    refused(lambda: make.stream(max_delay=2.5), "'max_delay' parameter of stream must be an integer", error=TypeError)


@pytest.mark.parametrize("kind", ["numbers", "zone", "finer", "objects"])
def test_the_end_of_a_repetition_has_the_time_of_the_sample_there(kind):
    y, steps = np.array([0.0, 5, 5, 0, 5, 0, 0, 5]), np.array([1, 2, 4, 8, 16, 32, 64, 128])
    times = {
        "numbers": steps / 2,
        "zone": pd.DatetimeIndex(pd.Timestamp("2026-01-01") + pd.to_timedelta(steps, "s")).tz_localize("Asia/Tokyo"),
        "finer": np.datetime64("2026-01-01", "s") + steps.astype("timedelta64[s]"),
        "objects": np.array([pd.Timestamp("2026-01-01").to_pydatetime() + pd.Timedelta(int(s), "s") for s in steps]),
    }[kind]
    searcher = searcher_of("euclidean", threshold=0.0, n_matches=None).fit([5.0])
    segmenter = segmenter_of("euclidean", background=1.0).fit([5.0])
    for stream, want in (
        (searcher.stream(), searcher.search(y, times=times)),
        (segmenter.stream(), segmenter.segment(y, times=times)),
    ):
        edges = []
        for t in range(len(y)):
            chunk = times[t : t + 1]
            found = stream.update(y[t : t + 1], times=chunk.astype("M8[ms]") if kind == "finer" and t == 4 else chunk)
            edges += zip(found.start_time, found.end_time, strict=True)
        assert len(edges) > 2
        found = stream.flush()
        edges += zip(found.start_time, found.end_time, strict=True)
        assert sorted(edges) == sorted(zip(want.start_time, want.end_time, strict=True))


def test_times_of_another_kind_are_refused():
    stream = searcher_of("euclidean", threshold=0.0).fit([5.0]).stream()
    stream.update([0.0], times=[1.0])
    with pytest.raises(ValueError, match=r"of one kind in all chunks, numbers or dates\. Got datetime64"):
        stream.update([0.0], times=np.array(["2026-01-01"], "M8[s]"))


@given(
    steps=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 400)), max_size=30),
    shape=st.sampled_from([(), (1,), (3,)]),
    pickled=st.booleans(),
)
def test_buffers_hold_what_came_last(steps, shape, pickled):
    buffer, every = Buffer(shape), np.empty((0, *shape))
    for size, forgotten in steps:
        new = np.random.default_rng(size).normal(size=(size, *shape))
        buffer.append(new)
        every = np.concatenate([every, new])
        buffer.forget(len(every) - forgotten)
        if pickled:
            buffer = pickle.loads(pickle.dumps(buffer))
        assert buffer.end == len(every)
        np.testing.assert_array_equal(buffer.values, every[buffer.first : buffer.end])
        assert len(buffer) == buffer.end - buffer.first
        if len(buffer) == 0 and not pickled:
            assert buffer._array.size <= 64 * 6 * (2 * max(s for s, _ in steps) + ROOM)

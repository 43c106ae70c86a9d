"""Searches chunk by chunk, from a stream or from a sequence too long for memory, against searches of the whole."""

import pickle
import tracemalloc

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices, refused, searcher_of, segmenter_of
from strategies import compiled, long_without_compiler, parameters, unmeant

from sktslib.distances import get_metric
from sktslib.search import _sources

pytestmark = unmeant

WINDOWS = [("euclidean", None), ("euclidean", "zscore"), ("correlation", None), ("dtw", "zscore")]
SEARCHES = [(name, None) for name in ("dtw", "dtw", *compiled(naive.WARPED))] + WINDOWS


def absolute(a, b):
    return abs(a - b).sum()


def planted(rng, channels, m, n, omit):
    x, y = rng.normal(size=(m, channels)), rng.normal(size=(n, channels))
    for start in rng.integers(0, n - m, 5):
        y[start : start + m] = x + 0.1 * rng.normal(size=x.shape)
    if omit:
        y[rng.integers(0, n, 3)] = np.nan
    return x, y


def found(matches):
    times = [None] * len(matches) if matches.times is None else zip(matches.start_time, matches.end_time, strict=True)
    return sorted(
        (m.start, m.end, round(m.distance, 12), matches.path(k).tolist(), t)
        for k, (m, t) in enumerate(zip(matches, times, strict=True))
    )


@st.composite
def searches(draw):
    """A fitted searcher with a threshold, a sequence, its times."""
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    omit = draw(st.booleans())
    m, n = draw(st.integers(1, 8)), draw(st.integers(20, 120))
    x, y = planted(rng, draw(st.sampled_from([1, 2])), m, n, omit)
    name, how = draw(st.sampled_from(SEARCHES))
    more = draw(st.sampled_from([{}, {}, {"window": 0.3}, {"dist": absolute}])) if (name, how) == ("dtw", None) else {}
    metric = get_metric(name, {**draw(parameters(name)), **more})
    tx = ty = None
    if metric.uses_times and draw(st.booleans()):
        tx, ty = rng.random(m).cumsum(), rng.random(n).cumsum()
    rule = {
        "normalize": how,
        "nan_policy": "omit" if omit else "raise",
        "max_overlap": draw(st.sampled_from([0.0, 0.5])),
    }
    if metric.family == "elastic" and how is None:
        rule["min_length"] = draw(st.sampled_from(["auto", None]))
    weight = rng.choice([0.25, 0.5, 1.0], size=m)
    distance = searcher_of(metric, **rule).fit(x, weight=weight, times=tx).profile(y, times=ty).distance
    distance = distance[np.isfinite(distance)]
    threshold = np.quantile(distance, draw(st.sampled_from([0.05, 0.2, 0.5]))) if distance.size else 1.0
    searcher = searcher_of(metric, threshold=threshold * (1 + 1e-9), n_matches=draw(st.sampled_from([None, 2])), **rule)
    return searcher.fit(x, weight=weight, times=tx), y, ty


@given(searches(), st.lists(st.integers(0, 30), min_size=1, max_size=9), st.booleans(), st.booleans())
def test_a_stream_finds_what_a_search_of_the_whole_does(search, sizes, through_pickle, timed):
    searcher, y, ty = search
    if timed and not searcher.metric_.uses_times:  # times in, times out
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
        if through_pickle and getattr(searcher.metric_, "dist", None) is None:
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


@long_without_compiler
def test_a_memory_map_is_never_read_whole(tmp_path):
    n, channels = 60_000, 8
    y = np.memmap(tmp_path / "y", dtype=np.float64, mode="w+", shape=(n, channels))
    y[:] = np.sin(np.arange(n)[:, np.newaxis] / (7.0 + np.arange(channels)))
    searcher = searcher_of("euclidean", threshold=1.0, n_matches=None).fit(np.asarray(y[500:540]))
    size, _sources.CHUNK = _sources.CHUNK, 2000
    try:
        searcher.search(y[:4000])
        tracemalloc.start()
        matches = searcher.search(y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    finally:
        _sources.CHUNK = size
    assert 500 in matches.start
    assert peak < y.nbytes / 4


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
        refused(found.plot, "matches of a stream cannot be drawn", "Pass yours")
    y = np.zeros(40)
    y[30] = np.nan
    size, _sources.CHUNK = _sources.CHUNK, 16
    try:
        with pytest.raises(ValueError, match=r"chunk that begins at sample 16: 'X' must be finite.*index 14"):
            searcher_of("euclidean").fit([1, 2, 3]).search(Slices(y))
    finally:
        _sources.CHUNK = size


def test_times_of_streams():
    import pandas as pd

    y = np.array([5.0, 0, 2, 0, 5, 5, 0, 2, 2, 0])
    times = pd.date_range("2026-01-01", periods=10, freq="h", tz="Europe/Berlin")
    one = searcher_of("dtw", threshold=0.1, n_matches=None).fit([0, 2, 0])
    several = searcher_of("dtw", threshold=0.1, n_matches=None).fit([np.array([0.0, 2, 0]), np.array([2.0, 0])])
    for searcher in (one, several):
        want, stream = searcher.search(y, times=times), searcher.stream()
        got = [stream.update(y[k : k + 3], times=times[k : k + 3]) for k in range(0, 10, 3)] + [stream.flush()]
        edges = sorted((m.start_time[k], m.end_time[k]) for m in got for k in range(len(m)))
        assert edges == sorted(zip(want.start_time, want.end_time, strict=True)) and len(edges) == len(want) > 1
        assert set(got[0].to_frame()) >= {"start_time", "end_time"}
    stream = one.stream()
    stream.update(y[:3], times=times[:3])
    refused(lambda: stream.update(y[3:]), "with every chunk or with none")


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
    for name in ("start", "end", "distance", "query"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name))
    assert len(y) <= long.read < 2 * len(y)
    long = Unshaped(y)
    for a, b in zip(searcher.profile(long), searcher.profile(y), strict=True):
        np.testing.assert_array_equal(a.distance, b.distance)
    assert long.read == len(y)

"""Arrays of dask, searched where their chunks lie: the same as in memory, and nothing large travels."""

import os
import pickle
import signal

import numpy as np
import pytest
from inputs import refused, searcher_of
from strategies import unmeant
from test_parts import assert_same, ecg

from sktslib.search import _run, _sources

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

RULES = {
    "dtw": {"n_matches": 4},
    "dtw, threshold": {"threshold": 0.4},
    "dtw, all": {"n_matches": None, "max_overlap": 0.5},
    "dtw, percentile": {"percentile": 3},
    "ddtw": {"metric": "ddtw", "n_matches": 3},
    "cid_dtw": {"metric": "cid_dtw", "n_matches": 3},
    "euclidean": {"metric": "euclidean", "normalize": "zscore", "n_matches": 5},
    "manhattan": {"metric": "manhattan", "threshold": 8.0},
    "scales": {"metric": "euclidean", "scales": [0.5, 1], "normalize": "mean", "n_matches": 3},
    "gaps": {"nan_policy": "omit", "n_matches": 5},
}
CHUNKS = [500, (1, 2, 0, 3, 90, 404, 97, 97, 97, 409)]


@pytest.fixture(autouse=True)
def _short_ranges(monkeypatch, request):
    """Parts of few samples; in threads unless a test asks for the cluster, which another one may have begun."""
    monkeypatch.setattr(_run, "LEAST", 150)
    monkeypatch.setattr(_sources, "CHUNK", 70)
    with dask.config.set(scheduler=None if "dask_client" in request.fixturenames else "threads"):
        yield


def chunked(y, chunks):
    return da.from_array(y, chunks=(chunks, *y.shape[1:]))


def recording(rule):
    y, x = ecg()
    if rule.get("nan_policy") == "omit":
        y = y.copy()
        y[[5, 96, 97, 500, 501, 640]] = np.nan
    return y, x[:30]


@pytest.mark.parametrize("name", RULES)
def test_matches_are_those_of_the_array_in_memory(name):
    y, x = recording(RULES[name])
    searcher = searcher_of(**RULES[name]).fit(x)
    want, profile, rows = searcher.search(y), searcher.profile(y), searcher.transform(y)
    assert len(want)
    for chunks in CHUNKS:
        X = chunked(y, chunks)
        got = searcher.search(X)
        assert_same(got, want)
        np.testing.assert_array_equal(got.path(0), want.path(0))
    found = searcher.profile(X)
    np.testing.assert_array_equal(found.end, profile.end)
    np.testing.assert_allclose(found.distance, profile.distance, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(searcher.transform(X), rows, rtol=1e-9, atol=1e-9)


def test_scales_and_offsets_of_all_matches_are_read_in_one_go(monkeypatch):
    y, x = ecg()
    searcher = searcher_of("euclidean", normalize="zscore", n_matches=6).fit(x[:30])
    matches, want, calls = searcher.search(chunked(y, 100)), searcher.search(y), []
    monkeypatch.setattr(
        dask, "compute", lambda *arrays, found=dask.compute: calls.append(len(arrays)) or found(*arrays)
    )
    np.testing.assert_array_equal([matches.scale, matches.offset], [want.scale, want.offset])
    assert set(calls) == {6}


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.float64])
def test_channels_and_types_of_several_queries_and_arrays(dtype):
    y = ecg()[0]
    y = np.column_stack([100 * y, 50 * y[::-1]]).astype(dtype)
    searcher = searcher_of("dtw", n_matches=3).fit([y[300:330], y[700:740]])
    X = da.from_array(y, chunks=(300, 1))
    assert_same(searcher.search(X), searcher.search(y))
    for n_jobs in (None, 2):
        searcher.set_params(n_jobs=n_jobs)
        got, want = searcher.search([X, X[:500], y]), searcher.search([y, y[:500], y])
        assert_same(got, want)
        np.testing.assert_array_equal(got.sequence, want.sequence)


@pytest.mark.parametrize("kind", ["numbers", "dates", "zone"])
@pytest.mark.parametrize("metric", ["dtw", "twed"])
def test_times(metric, kind):
    y, x = ecg()
    times = np.cumsum(np.where(np.arange(len(y)) == 600, 5.0, 0.5))
    if kind != "numbers":
        times = np.datetime64("2026-03-29T00:59:00") + (1000 * times).astype("timedelta64[ms]")
    if kind == "zone":
        pd = pytest.importorskip("pandas")
        times = pd.DatetimeIndex(times).tz_localize("UTC").tz_convert("Europe/Berlin")
    searcher = searcher_of(metric, n_matches=5, max_gap=2.0).fit(x, times=times[:40])
    want, X = searcher.search(y, times), chunked(y, 250)
    every = [times] if kind == "zone" else [times, da.from_array(times, chunks=97)]
    for given in every:
        got = searcher.search(X, given)
        assert_same(got, want)
        assert list(got.start_time) == list(want.start_time)
        assert list(got.end_time) == list(want.end_time)
        assert got.to_frame().equals(want.to_frame())


def made(samples):
    """Samples of a long recording by their numbers."""
    return ecg()[0][samples % 1200] + samples % 1201 / 1e4


def test_no_samples_travel(monkeypatch):
    n, x = 9_000, ecg()[1]
    held, sizes, read = [], [], []
    search_range, load = _run.search_range, _sources.ChunkedSource.read

    def spy(work, first, begin, y):
        held.append((first, begin, first + sum(map(len, y))))
        found = search_range(work, first, begin, y)
        sizes.extend(len(pickle.dumps(one)) for one in (work, found))
        return found

    def reads(source, start, end):
        if type(source) is _run.DaskSource:
            read.append(end - start)
        return load(source, start, end)

    monkeypatch.setattr(_run, "LEAST", 1000)
    monkeypatch.setattr(_run, "search_range", spy)
    monkeypatch.setattr(_sources.ChunkedSource, "read", reads)
    X = da.arange(n, chunks=750).map_blocks(made, dtype=float)
    for metric in ("dtw", "euclidean"):
        for some in (held, sizes, read):
            some.clear()
        searcher = searcher_of(metric, n_matches=5).fit(x)
        got = searcher.search(X)
        assert_same(got, searcher.search(made(np.arange(n))))
        lead = 4 * len(x) if metric == "dtw" else len(x) - 1
        assert sorted(held) == [(max(at - lead, 0), at, at + 1500) for at in range(0, n, 1500)]
        assert max(sizes) < 20_000
        assert sum(read) < n / 5
        assert len(pickle.dumps(got)) < 30_000


def test_chunks_are_computed_once():
    y, x = ecg()
    calls = []

    def load(block, block_info=None):
        calls.append(block_info[0]["chunk-location"][0])
        return block

    X = da.from_array(y, chunks=200).map_blocks(load, dtype=float, meta=np.empty(0))
    searcher = searcher_of("dtw", n_matches=3).fit(x[:30])
    with dask.config.set(scheduler="synchronous"):
        dask.compute(*_run.DaskSource(searcher, X, None)._tasks(searcher._searches, False))
    assert sorted(calls) == list(range(6))


@pytest.mark.parametrize("chunks", [[7], [10, 20, 5], [200, 200, 3], [200, 0, 0], [200] * 3, [100, 100, 100, 119]])
def test_ranges_hold_two_leads_and_all_chunks(chunks):
    edges = _run.edges_of_chunks(chunks, 60)
    assert edges[0] == 0 and edges[-1] == sum(chunks) and {*edges} <= {0, *np.cumsum(chunks)}
    assert len(edges) == 2 or np.diff(edges).min() >= 120


def test_what_is_refused_and_warned_of():
    y, x = ecg()
    searcher = searcher_of("dtw", n_matches=2).fit(x)
    for value, words in ((np.nan, "NaN"), (np.inf, "infinit")):
        wrong = y.copy()
        wrong[777] = value
        with pytest.raises(ValueError, match=rf"In the chunk that begins at sample \d+: .*{words}"):
            searcher.search(da.from_array(wrong, chunks=300))
    with pytest.raises(ValueError, match="X has 2 features, but QuerySearcher is expecting 1 features"):
        searcher.search(da.from_array(np.column_stack([y, y]), chunks=(300, 1)))
    with pytest.raises(ValueError, match=r"'X' must not have masked values. Got 1"):
        searcher.search(da.from_array(np.ma.masked_array(y, np.arange(1200) == 7), chunks=300))
    X = da.from_array(y, chunks=300)
    refused(lambda: searcher.search(X[X > 0]), "length that is known", "compute_chunk_sizes()")
    with pytest.raises(ValueError, match=r"'times' must have one time per point, shape \(1200,\). Got shape \(1199,\)"):
        searcher.search(X, np.arange(1199.0))
    times = np.arange(1200.0)
    times[300] = 299.0  # as its neighbor across a border
    refused(lambda: searcher.search(X, times), "'times' must be strictly increasing")
    refused(lambda: searcher_of("euclidean").fit(x).search(X[:30]), "The query must not be longer than the sequence")


def test_dask_is_not_imported_for_others(monkeypatch):
    assert _run.is_dask(da.zeros(3)) and not _run.is_dask(np.zeros(3))
    monkeypatch.delitem(_run.sys.modules, "dask.array")
    assert not _run.is_dask(da.zeros(3))


# ------------------------------------------------------------------------------------------------ on worker processes
def killed_once(block, mark, block_info=None):
    """The chunk; the first process that loads the third one is killed."""
    if block_info and block_info[0]["chunk-location"][0] == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such signal")
def test_a_worker_killed_changes_no_match(dask_client, tmp_path):
    y, x = ecg()
    mark = tmp_path / "mark"
    X = da.from_array(y, chunks=200).map_blocks(killed_once, mark, dtype=float, meta=np.empty(0))
    searcher = searcher_of("dtw", n_matches=4).fit(x)
    assert_same(searcher.search(X), searcher.search(y))
    assert mark.exists()
    dask_client.wait_for_workers(2)

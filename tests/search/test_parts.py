"""Searches in parts, of which each begins without knowing what was before, against searches of the whole."""

import itertools
import pickle
from contextlib import contextmanager

import joblib
import naive
import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices, identical, refused, searcher_of, segmenter_of
from strategies import banded, channels_of, compiled, parameters, slow, small_sizes, unmeant

from sktslib import QuerySearcher, load_ecg_example
from sktslib.distances import get_metric
from sktslib.search import _run, merge_parts
from sktslib.utils._conversion import opened, stored

pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

WINDOWS = [
    ("euclidean", {}),
    ("euclidean", {"normalize": "zscore"}),
    ("manhattan", {"normalize": "robust"}),
    ("dtw", {"mode": "windows"}),
    ("dtw", {"normalize": "zscore"}),
    ("dtw", {"scales": (0.5, 1.5)}),
    ("euclidean", {"scales": [0.5, 1, 2], "normalize": "mean"}),
]
SUBSEQUENCES = [(name, {"mode": "subsequence"}) for name in ("dtw", "dtw", *compiled(naive.WARPED))]
STRETCHES = ["noise", "integers", "constant", "ramp", "query"]


@st.composite
def recordings(draw, x):
    """Stretches of several kinds one after the other, so that states agree soon, late or never, and distances tie."""
    rng, pieces = np.random.default_rng(draw(st.integers(0, 2**20))), []
    for kind in draw(st.lists(st.sampled_from(STRETCHES), min_size=3, max_size=5)):
        size = draw(st.sampled_from([5, 20, 60, 120]))
        shape = size, x.shape[1]
        pieces.append(
            {
                "noise": lambda shape=shape: rng.normal(size=shape),
                "integers": lambda shape=shape: rng.integers(-1, 2, shape).astype(float),
                "constant": lambda shape=shape: np.full(shape, rng.integers(-1, 3) / 2),
                "ramp": lambda shape=shape: np.linspace(-2, 2, shape[0])[:, np.newaxis] + np.zeros(shape),
                "query": lambda size=size: np.tile(x, (-(-size // len(x)), 1)),
            }[kind]()
        )
    return np.concatenate(pieces)


def absolute(a, b):
    return abs(a - b).sum()


@st.composite
def searches(draw, banded=True):
    """A fitted searcher, a sequence and its times."""
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    name, rule = draw(st.sampled_from(SUBSEQUENCES + SUBSEQUENCES + WINDOWS))
    m, channels = draw(st.integers(1, 7)), draw(channels_of(name))
    x = rng.integers(-1, 2, (m, channels)).astype(float) if draw(st.booleans()) else rng.normal(size=(m, channels))
    y = draw(recordings(x))
    metric, rule = get_metric(name, draw(parameters(name))), dict(rule)
    if rule.get("mode") == "subsequence":
        if banded and (numba.config.DISABLE_JIT or name == "dtw") and draw(st.booleans()):
            metric.set_params(window="sakoe-chiba", factor=draw(st.integers(0, 4)))
        elif banded and name == "dtw":
            metric.set_params(dist=draw(st.sampled_from([None, None, absolute])))
        rule |= draw(st.sampled_from([{}, {"min_length": None}, {"min_length": 3, "max_length": 9}]))
    if draw(st.booleans()):
        y[rng.integers(0, len(y), 3)] = np.nan
        rule["nan_policy"] = "omit"
    tx = ty = None
    if draw(st.booleans()):
        tx, ty = np.arange(m) + rng.random(m) / 2, np.cumsum(rng.choice([1.0, 1.0, 1.0, 1.5, 4.0], len(y)))
        if draw(st.booleans()):
            rule["max_gap"] = 3.0
    rule["n_matches"] = draw(st.sampled_from([None, 1, 2, 5, 40]))
    rule["max_overlap"] = draw(st.sampled_from([0.0, 0.0, 0.5, 1.0]))
    rule["polarity"] = draw(st.sampled_from(["same", "same", "any", "channels"]))
    limit = draw(st.sampled_from(["none", "threshold", "percentile"]))
    if limit == "percentile":
        rule["percentile"] = draw(st.sampled_from([0, 5, 60]))
    weight = rng.choice([0.25, 0.5, 1.0], size=m) if draw(st.booleans()) else None
    searcher = searcher_of(metric, **rule).fit(x, weight=weight, times=tx)
    if limit == "threshold":
        distance = searcher.profile(y, times=ty).distance
        distance = distance[np.isfinite(distance)]
        if distance.size:
            searcher.set_params(threshold=max(0.0, np.quantile(distance, draw(st.sampled_from([0.02, 0.3, 0.9])))))
    return searcher, y, ty


def columns(matches):
    return [matches.start, matches.end, matches.distance, [] if matches.polarity is None else matches.polarity]


def assert_same(got, want):
    for a, b in zip(columns(got), columns(want), strict=True):
        np.testing.assert_array_equal(a, b)


@contextmanager
def small_parts(data):
    names = [*(f"search._run.{name}" for name in ("LEAST", "LEAD", "FIRST")), "search._run.LEADS"]
    names += ["search._run.ROOM", "search._sources.CHUNK", "search._run.LONG", "search._run.RARE"]
    names += [f"search._pruning.{name}" for name in ("LEAST", "BLOCK", "BLOCK_OF_MOMENTS", "EACH")]
    names += ["distances._kernels.simd.MOST", "utils._jobs.AT_ONCE", "distances._kernels.bounds.BLOCK"]
    with small_sizes(data, *names):
        yield


@pytest.mark.filterwarnings("ignore:The sequence (is sampled|has holes)", "ignore:The sampling intervals")
@banded
@given(n_jobs=st.sampled_from([2, 3]), in_memory=st.booleans(), data=st.data())
def test_parts_give_what_one_search_of_the_whole_does(banded, n_jobs, in_memory, data):
    searcher, y, ty = data.draw(searches(banded))
    want, profile = searcher.search(y, times=ty), searcher.profile(y, times=ty)
    rows = searcher.transform(y, times=ty)
    searcher.set_params(n_jobs=n_jobs)
    with small_parts(data):
        given = y if in_memory else Slices(y)
        assert_same(searcher.search(given, times=ty), want)
        got = searcher.profile(given, times=ty)
        identical(got, profile, ("start", "end"))
        equal = np.testing.assert_array_equal if not profile._slack else np.testing.assert_allclose
        equal(got.distance, profile.distance, **({} if not profile._slack else {"rtol": 1e-9, "atol": 1e-9}))
        equal(searcher.transform(given, times=ty), rows, **({} if not profile._slack else {"rtol": 1e-9, "atol": 1e-9}))
        searcher.set_params(n_jobs=None)
        assert_same(searcher.search(Slices(y), times=ty), want)
        assert_same(searcher.search(y, times=ty), want)


def fed(part, y, ty, end, sizes, through_pickle):
    """The part, fed chunks of several sizes up to a sample."""
    at = part.first
    while at < end:
        to = min(at + sizes[at % len(sizes)], end)
        part.feed(y[at:to], *([] if ty is None else [ty[at:to]]))
        part = pickle.loads(pickle.dumps(part)) if through_pickle else part
        at = to
    return part


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The sequence (is sampled|has holes)", "ignore:The sampling intervals")
@given(
    search=searches(),
    cuts=st.sets(st.integers(1, 200), max_size=4),
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=4),
    dated=st.booleans(),
    data=st.data(),
)
def test_parts_that_are_fed_give_what_one_search_does(search, cuts, sizes, dated, data):
    searcher, y, ty = search
    if dated and ty is not None and searcher.max_gap is None and not searcher.metric_.uses_times:
        ty = np.datetime64("2026-01-01") + (1e3 * ty).astype("timedelta64[ms]")
    want, through_pickle = searcher.search(y, times=ty), data.draw(st.booleans())
    cuts = sorted({0, len(y), *(at for at in cuts if at < len(y))})
    with small_sizes(data, "search._run.LEAD", "search._run.ROOM"):
        fed_parts = [
            fed(searcher.partial_search(a), y, ty, b, sizes, through_pickle) for a, b in itertools.pairwise(cuts)
        ]
        matches = merge_parts(fed_parts[::-1], y, ty)
        assert_same(matches, want)
        try:
            alone = merge_parts(fed_parts)
        except ValueError as error:
            assert "'sequence' parameter of merge_parts must be given" in str(error)
            return
    assert_same(alone, want)
    for k in range(min(len(want), 3)):
        if searcher.metric_._has_path:
            np.testing.assert_array_equal(alone.path(k), want.path(k))
    if ty is not None:
        identical(alone, want, ("start_time", "end_time"))


def ecg():
    """Nine seconds of a heart, and one of its beats."""
    y = load_ecg_example()["sequence"]
    return y, y[300:340]


def spied(monkeypatch):
    """How many samples the search before went on into each part, and whether that sufficed."""
    seen, follows = [], _run.QueryPart.follows

    def spy(part, before, source):
        begin = before.feed.seen
        seen.append((follows(part, before, source), before.feed.seen - begin))
        return seen[-1][0]

    monkeypatch.setattr(_run.QueryPart, "follows", spy)
    monkeypatch.setattr(_run, "LEAST", 150)
    monkeypatch.setattr(_run, "LEADS", 0)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dtw", "twed", "lcss", "wdtw", "ddtw"])
def test_parts_of_a_recording_agree_soon(name, monkeypatch):
    y, x = ecg()
    searcher = searcher_of(name, n_matches=5, n_jobs=2).fit(x[:30])
    seen = spied(monkeypatch)
    got, profile = searcher.search(y), searcher.profile(y)
    assert len(seen) == 2 * 3
    assert all(agreed and further <= 30 for agreed, further in seen)
    searcher.set_params(n_jobs=None)
    assert_same(got, searcher.search(y))
    np.testing.assert_array_equal(profile.start, searcher.profile(y).start)


@pytest.mark.parametrize("max_overlap", [0.0, 1.0])
def test_the_limit_that_a_part_of_windows_begins_with_is_not_too_low(max_overlap):
    # The nearest windows are those of stretches, one in each, so that the limit is the distance of the last match.
    x, k = np.array([0.0, 9.0, -9.0, 0.0]), 6
    y = np.tile(x, 80)
    y[::4] += np.linspace(0.01, 0.8, 80)[np.random.default_rng(0).permutation(80)]
    searcher = searcher_of("euclidean", n_matches=k, max_overlap=max_overlap).fit(x)
    found, want = merge_parts([searcher.partial_search().feed(y)]), searcher.search(y)
    assert len(found) == k
    assert (found.start.tolist(), found.distance.tolist()) == (want.start.tolist(), want.distance.tolist())


def test_where_parts_never_agree_the_search_goes_on_through_them(monkeypatch):
    y, x = np.zeros(900), np.array([1.0, 0.0])
    y[0] = 1.0  # the best of all paths begins there, and goes on for ever
    searcher = searcher_of("dtw", min_length=None, n_matches=3, n_jobs=2).fit(x)
    seen = spied(monkeypatch)
    profile, got = searcher.profile(y), searcher.search(y)
    assert seen[:3] == [(False, 150)] * 3
    searcher.set_params(n_jobs=None)
    np.testing.assert_array_equal(profile.start, searcher.profile(y).start)
    assert_same(got, searcher.search(y))


@pytest.mark.parametrize("n", [99, 100, 101, 139, 140, 141, 600])
@pytest.mark.parametrize("normalize", [None, "mean", "zscore"])
def test_profiles_that_threads_fill_in_place_are_those_of_one(normalize, n, monkeypatch):
    monkeypatch.setattr(_run, "LEAST", 20)
    monkeypatch.setattr("sktslib.distances._kernels.mass.LEAST", 1)  # by transforms, however short
    y, m = ecg()[0], 96  # shorter ones are not found by transforms where they are not normalized
    searcher = searcher_of("euclidean", normalize=normalize, n_jobs=2).fit(y[300 : 300 + m])
    got = searcher.profile(y[: n + m - 1]).distance
    want = searcher.set_params(n_jobs=None).profile(y[: n + m - 1]).distance
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("engine", ["threading", *slow("loky")])
def test_a_memory_map_is_not_sent_to_processes(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(_run, "LEAST", 150)
    whole = np.memmap(tmp_path / "y", dtype=np.float32, mode="w+", shape=(1203, 2))
    values, x = ecg()
    whole[3:, 0], whole[3:, 1] = values, -values
    whole.flush()
    y, x = whole[3:], np.column_stack([x, -x])
    searcher = searcher_of("euclidean", n_matches=3, n_jobs=2).fit(x)
    source = searcher._source(y, None)
    assert len(pickle.dumps(source)) < 5000
    again = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(again.X, y)
    assert pickle.loads(pickle.dumps(again)).X.tobytes() == y.tobytes()
    with joblib.parallel_config(engine):
        assert_same(searcher.search(y), searcher_of("euclidean", n_matches=3).fit(x).search(np.asarray(y)))


def test_what_is_in_memory_or_a_copy_is_sent_as_it_is(tmp_path):
    y = np.memmap(tmp_path / "y", dtype=np.float64, mode="w+", shape=40)
    y[:] = np.arange(40.0)
    y.flush()
    own = np.memmap(tmp_path / "y", dtype=np.float64, mode="c", shape=40)
    own[:] = 7.0
    assert stored(own) is own  # the file does not hold what was written
    assert stored(list(y)) == list(y)
    doubled = y * 2
    assert stored(doubled) is doubled
    np.testing.assert_array_equal(opened(stored(y[30:4:-3])), y[30:4:-3])


@pytest.mark.slow
def test_what_other_processes_cannot_open_is_an_error_that_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(_run, "LEAST", 150)
    values, x = ecg()
    y = np.memmap(tmp_path / "gone", dtype=np.float64, mode="w+", shape=len(values))
    y[:] = values
    y.flush()
    (tmp_path / "gone").unlink()
    with joblib.parallel_config("loky"), pytest.raises(FileNotFoundError, match="gone"):
        searcher_of("euclidean", n_jobs=2).fit(x).search(y)


@pytest.mark.parametrize("found_by", [searcher_of("dtw"), segmenter_of("dtw")])
@pytest.mark.parametrize("count", [59, 61])
def test_each_sample_of_what_is_read_by_chunks_has_a_time(found_by, count):
    found_by.fit([0.0, 1.0, 0.0])
    find = found_by.search if isinstance(found_by, QuerySearcher) else found_by.segment
    message = rf"must have one time per point, shape \(60,\)\. Got shape \({count},\)\. Pass the time of each row"
    with pytest.raises(ValueError, match=message):
        find(Slices(np.zeros(60)), times=np.arange(float(count)))


def test_h5py_files_are_opened_from_any_folder(tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    with h5py.File("y.h5", "w") as file:
        file["a/y"] = np.arange(40.0)
    with h5py.File("y.h5", "r") as file:
        there = stored(file["a/y"])
    monkeypatch.chdir(tmp_path.parent)
    np.testing.assert_array_equal(opened(there)[:], np.arange(40.0))
    with h5py.File("nowhere.h5", "w", driver="core", backing_store=False) as file:
        file["y"] = np.arange(40.0)
        assert stored(file["y"]) == file["y"]  # h5py says that it cannot be sent


def test_what_merge_parts_refuses():
    y = np.r_[1.0, np.zeros(60)]
    searcher = searcher_of("dtw", min_length=None, n_matches=2).fit([1.0, 0.0])
    first, second = searcher.partial_search(), searcher.partial_search(30)
    assert (second.first, second.n_samples_seen) == (22, 22)
    with pytest.raises(
        TypeError, match=r"'parts' must be a list of parts that QuerySearcher.partial_search made. Got PartialSearch"
    ):
        merge_parts(first)
    refused(lambda: merge_parts([second]), "'parts' must start at sample 0. Got 30")
    first.feed(y[:20])
    refused(lambda: merge_parts([first, second]), "fed the samples up to 20 and a next one that starts at 30")
    first.feed(y[20:30])
    refused(lambda: merge_parts([first, second]), "Each part must be fed samples after its start. Got none after 30")
    second.feed(y[22:])
    assert not np.array_equal(first.state().starts, second.state().starts)
    refused(lambda: merge_parts([first, second]), "starts at or before sample 30 must be continued")
    assert_same(merge_parts([first, second], y), searcher.search(y))
    with pytest.raises(ValueError, match="'times' must be given with 'sequence' if the parts were fed times"):
        merge_parts([first, second], y, np.arange(61.0))
    first.feed(y[30:])
    assert_same(merge_parts([first]), searcher.search(y))
    refused(
        lambda: merge_parts([searcher_of("dtw", percentile=5).fit([1.0, 0.0]).partial_search().feed(y)]),
        "'sequence' parameter of merge_parts must be given where 'threshold' of QuerySearcher is a Percentile",
    )
    refused(lambda: searcher.partial_search(-1), "'at' parameter must be")
    refused(lambda: merge_parts([]), "Got an empty list", error=TypeError)


def two_parts(x, y, other=(), times=(None, None), **rule):
    """Parts of one searcher, or the second one of another, that is fitted to another query or has another rule."""
    first = searcher_of("euclidean", n_matches=3).fit(x).partial_search()
    second = (
        searcher_of("euclidean", **{"n_matches": 3, **rule}).fit(x if len(other) == 0 else other).partial_search(30)
    )
    return [first.feed(y[:30], times[0]), second.feed(y[second.first :], times[1])]


def test_parts_of_another_searcher_or_recording_are_refused():
    y, x, times = np.sin(np.arange(60.0)), np.array([0.0, 1.0, 0.0]), np.arange(60.0)
    for other, rule in (([0.0, 2.0, 0.0], {}), ((), {"n_matches": 1}), ((), {"threshold": 2.0}), ((), {"scales": [1]})):
        with pytest.raises(ValueError, match=r"'parts' must be of one searcher.*the one that starts at 30\."):
            merge_parts(two_parts(x, y, other, **rule))
    _parts = two_parts(x, y)
    for wrong in (y[:50], np.r_[y, y]):
        with pytest.raises(ValueError, match=r"must hold the samples that the parts were fed. Got \d+ samples"):
            merge_parts(_parts, wrong)
    with pytest.raises(ValueError, match=r"increasing. Got 20.0 after 29.0, at sample 30"):
        merge_parts(two_parts(x, y, times=(times[:30], times[28:] - 10)))
    dates = pd.date_range("2026-01-01", periods=60, freq="s")
    with pytest.raises(ValueError, match=r"of one kind in all.*Got datetime64\[\ws\] after float64, at sample 30"):
        merge_parts(two_parts(x, y, times=(times[:30], dates[28:])))
    with pytest.raises(ValueError, match="must have a time zone in all chunks or in none"):
        merge_parts(two_parts(x, y, times=(dates[:30].tz_localize("UTC"), dates[28:])))
    refused(lambda: merge_parts(two_parts(x, y, times=(times[:30], None))), "'parts' must all be fed times, or none")
    assert len(merge_parts(two_parts(x, y, times=(times[:30], times[28:])))) == 3


def test_parts_that_read_datetimes_count_from_the_first_of_the_recording():
    y, x = ecg()
    times = np.datetime64("2026-01-01T00:00:00.123") + (np.arange(len(y)) * 8333333).astype("timedelta64[ns]")
    searcher = searcher_of("twed", metric_params={"nu": 0.3}, n_matches=3).fit(x[:20], times=times[:20])
    want = searcher.search(y, times=times)
    first, second = searcher.partial_search(), searcher.partial_search(500, start_time=times[0])
    first.feed(y[:500], times[:500])
    second.feed(y[second.first :], times[second.first :])
    got = merge_parts([first, second])
    assert_same(got, want)
    np.testing.assert_array_equal(got.end_time, want.end_time)
    with pytest.raises(ValueError, match="'start_time' parameter of partial_search must be given"):
        searcher.partial_search(500).feed(y[400:], times[400:])


def test_long_parts_of_a_search_for_all_matches():
    y = np.random.default_rng(0).normal(size=5000)
    searcher = QuerySearcher("euclidean", n_matches=None).fit(y[100:120])
    parts = [searcher.partial_search(at) for at in (0, 2500)]
    for part, end in zip(parts, (2500, 5000), strict=True):
        for at in range(part.first, end, 500):
            part.feed(y[at : min(at + 500, end)])
    got, want = merge_parts(parts, y), searcher.search(y)
    identical(got, want, ("start", "distance"))

"""Searches of subsequences and by windows, selection and matches against the reference implementations."""

import threading
from concurrent.futures import CancelledError

import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import searcher_of
from strategies import (
    DISTANCES,
    banded,
    compiled,
    long_without_compiler,
    pairs,
    parameters,
    plain,
    quarters,
    small_sizes,
    times,
    unmeant,
)

from sktslib import get_distance_dict, load_ecg_example
from sktslib.distances import DTW, LCSS, TWED, get_metric, metric_names
from sktslib.distances._kernels import batch, mass
from sktslib.search import Percentile, elastic_search, start_sequences_index
from sktslib.search._selection import select

CLOSE = {"rtol": 1e-9, "atol": 1e-11}
pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]


@st.composite
def subsequence_metrics(draw, x, banded):
    """A metric object, its name, the reference implementation's parameters and band radius."""
    names = ["dtw", *compiled(naive.WARPED)]
    # Each of them, and each with a band and of several channels, is a driver of its own; DTW is compiled for all.
    some = names if numba.config.DISABLE_JIT else ["dtw"]
    name = draw(st.sampled_from(names if naive.points(x).shape[1] == 1 else some))
    radii = [None, None, 0, 1, 2, "default"] if name in some and banded else [None]
    p, radius, m = draw(parameters(name)), draw(st.sampled_from(radii)), len(x)
    here = {} if radius is None else {"window": "sakoe-chiba", "factor": None if radius == "default" else radius}
    radius = m // 2 if radius == "default" else radius
    return get_metric(name, {**p, **here}), name, p, radius


@banded
@given(data=st.data())
def test_subsequence_profile_equals_the_reference(banded, data):
    x, y, w = data.draw(pairs(values=quarters, high=6, y_high=12))
    metric, name, p, radius = data.draw(subsequence_metrics(x, banded))
    if p.get("alpha", 1) != 1:
        x, y = x + 0.001 * np.arange(len(x)).reshape(-1, *[1] * (x.ndim - 1)), y * 1.001  # no ties between rounded sums
    tq = ts = None
    if metric.uses_times and data.draw(st.booleans()):
        tq, ts = data.draw(times(len(x))), data.draw(times(len(y)))
    limits = data.draw(
        st.sampled_from([{}, {}, {"min_length": 2}, {"max_length": 3}, {"min_length": 2, "max_length": 4}])
    )
    want, start, _ = naive.elastic_search(name, x, y, w, tq=tq, ts=ts, r=radius, **limits, **p)
    searcher = searcher_of(metric, mode="subsequence", **{"min_length": None, **limits}).fit(x, weight=w, times=tq)
    profile = searcher.profile(y, times=ts)
    np.testing.assert_allclose(profile.distance, want, **CLOSE)
    np.testing.assert_array_equal(profile.end, np.arange(1, len(y) + 1))
    if p.get("alpha", 1) != 1 or naive.has_exact_sums(name, p, naive.points(y).shape[1]):
        np.testing.assert_array_equal(profile.start, start)


@pytest.mark.slow
@given(st.data())
def test_subsequence_profile_is_the_minimum_over_all_starts(data):
    x, y, w = data.draw(pairs(values=plain, high=6, y_high=10))
    name, p, metric = data.draw(
        st.sampled_from([("dtw", {}, DTW()), ("lcss", {"eps": 1.0}, LCSS()), ("twed", {"nu": 0.0}, TWED(nu=0.0))])
    )
    want = naive.brute_search(name, x, y, w, **p)
    got = searcher_of(metric, min_length=None).fit(x, weight=w).profile(y).distance
    found = np.isfinite(got)
    np.testing.assert_allclose(got[found], want[found], **CLOSE)
    if name == "lcss":  # where no candidate has a matched pair, skipping all query points would cost no more
        points = naive.relative(w, len(x), 1 if x.ndim == 1 else x.shape[1]).max(axis=1).sum()
        assert (want[~found] >= points / (points + len(x)) - 1e-12).all()
    else:
        assert found.all()


@banded
@given(data=st.data())
def test_matches_report_the_exact_distance_of_their_piece(banded, data):
    x, y, w = data.draw(pairs(values=plain, high=6, y_low=4, y_high=14))
    metric, name, p, radius = data.draw(subsequence_metrics(x, banded))
    if name in ("lcss", "edr", "ddtw", "wddtw", "shape_dtw", "wdtw") or p.get("alpha", 1) != 1:
        return  # their searches have a form of their own
    matches = searcher_of(metric, n_matches=None, min_length=None).fit(x, weight=w).search(y)
    assert (np.diff(matches.distance) >= 0).all()
    if metric.window is not None and metric.factor is None:  # half of the shorter length, here of query and piece

        def radius(m, n):
            return min(m, n) // 2

    band = {} if radius is None else {"band_kind": "sakoe-chiba", "r": radius}
    for k, match in enumerate(matches):
        want = naive.elastic(name, x, y[match.start : match.end], w, **p, **band)
        assert match.distance == pytest.approx(want.distance, rel=1e-9, abs=1e-11)
        path = matches.path(k)
        assert path[1, 0] == match.start
        assert path[1, -1] == match.end - 1
        if name != "erp":  # points that it skips at either end have no cell
            assert path[0, 0] == 0
            assert path[0, -1] == len(x) - 1


# Minima and maxima of windows are another kernel, compiled for sums of three kinds; without the compiler for all.
HOWS = [None, "mean", "zscore", "minmax", "robust"]
LOCKSTEP = compiled(metric_names("lockstep"))
OTHERS = () if numba.config.DISABLE_JIT else {*LOCKSTEP} - {"euclidean", "manhattan", "cosine"}


def ways(name):
    """How windows compared by this distance are normalized here."""
    return [None] if name in naive.POSITIVE else HOWS[:3] if name in OTHERS else HOWS


@pytest.mark.parametrize("name", [name for name in DISTANCES if name != "tam"])
@given(data=st.data())
def test_window_profile_equals_the_reference(name, data):
    several = numba.config.DISABLE_JIT or name == "dtw" or name not in naive.WARPED
    values = data.draw(st.sampled_from([quarters, plain]))
    x, y, w = data.draw(pairs(high=5, y_low=5, y_high=12, values=values, several=several))
    x, y = naive.domain(name, x), naive.domain(name, y)
    how = data.draw(st.sampled_from(ways(name)))
    tq = ts = None
    if get_metric(name).uses_times and data.draw(st.booleans()):
        tq, ts = data.draw(times(len(x))), data.draw(times(len(y)))
    p = data.draw(parameters(name))
    if how is not None and naive.TABLE[name].is_sharp and name != "braycurtis":
        return  # whether normalized points are equal, zero, or just within eps, is a matter of the last bit
    want = naive.windows(name, x, y, w, normalize=how, tq=tq, ts=ts, **p)
    searcher = searcher_of(get_metric(name, p), mode="windows", normalize=how).fit(x, weight=w, times=tq)
    got = searcher.profile(y, times=ts)
    distance, want = (naive.bounded(name, p, d) for d in (got.distance, want))
    np.testing.assert_allclose(distance, want, rtol=1e-8, atol=1e-8 if how == "zscore" else 1e-10)
    np.testing.assert_array_equal(got.start, np.arange(len(y) - len(x) + 1))
    np.testing.assert_array_equal(got.end, got.start + len(x))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_one_window_is_compared_by_the_kernel_that_compares_many():
    y = np.arange(20.0)
    searcher = searcher_of("dtw", mode="windows").fit(y[:9])
    searcher.profile(y)
    before = len(batch._accumulate_table.signatures)
    assert searcher.profile(y[3:12]).distance == [28.0]
    assert len(batch._accumulate_table.signatures) == before


@long_without_compiler
def test_window_profile_beside_a_huge_offset():
    y = np.concatenate([np.full(700, 1e6), 1e-3 * np.sin(np.arange(900) / 5), np.full(500, -1e6)])
    x = np.sin(np.arange(80) / 5)
    for name in ("euclidean", "correlation"):
        profile = searcher_of(name, normalize="zscore").fit(x).profile(y)
        want = naive.windows(name, x, y[600:800], normalize="zscore")
        np.testing.assert_allclose(profile.distance[600:721], want, rtol=1e-9, atol=1e-6)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf]), st.integers(0, 40), st.integers(1, 9)), max_size=16
    ),
    st.sampled_from([None, 1, 2, 3]),
    st.sampled_from([None, 0.0, 1.0]),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.data(),
)
def test_selection_equals_the_reference(rows, n_matches, threshold, max_overlap, data):
    distance = np.array([r[0] for r in rows])
    start = np.array([r[1] for r in rows], dtype=int)
    end = start + np.array([r[2] for r in rows], dtype=int)
    want = naive.select(distance, start, end, n_matches, threshold, max_overlap)
    with small_sizes(data, *(f"search._selection.{size}" for size in ("LEAST_BATCH", "FIRST", "BLOCK", "COMPARED"))):
        got = select(distance, start, end, n_matches=n_matches, threshold=threshold, max_overlap=max_overlap)
    assert list(got) == list(want)


def test_a_choice_whose_thread_is_told_to_end_does_so(monkeypatch):
    event = threading.Event()
    monkeypatch.setattr(threading.current_thread(), "unwanted", (event,), raising=False)
    arguments = np.arange(9.0), np.arange(9), np.arange(9) + 3
    assert list(select(*arguments)) == [0, 3, 6]
    event.set()
    with pytest.raises(CancelledError):
        select(*arguments)


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]), min_size=1, max_size=12),
    st.sampled_from([("number", 1), ("number", 3), ("number", None), ("threshold", 1.0), ("percentile", 30)]),
    st.sampled_from([0.0, 1.0, 2.0, 2.5, 4.0]),
)
def test_start_sequences_index_equals_the_reference(distance, output, overlap):
    got = start_sequences_index(distance, output, overlap)
    assert list(got) == list(naive.start_sequences_index(distance, output, overlap))


@given(st.data())
def test_percentile_of_the_profile_is_the_threshold(data):
    x, y, w = data.draw(pairs(values=quarters, high=4, y_low=4, y_high=12))
    metric, percentile = data.draw(st.sampled_from(["dtw", "euclidean"])), data.draw(st.integers(0, 100))
    rule = {
        "n_matches": data.draw(st.sampled_from([None, 1, 2])),
        "max_overlap": data.draw(st.sampled_from([0.0, 0.5])),
    }
    rule |= {"min_length": data.draw(st.sampled_from(["auto", None]))} if metric == "dtw" else {}
    searcher = searcher_of(metric, percentile=percentile, **rule).fit(x, weight=w)
    profile, got = searcher.profile(y), searcher.search(y)
    distance = profile.distance.round(9)  # a straight line between equal values may be rounded
    got_as_well = searcher_of(metric, threshold=naive.percentile_of(distance, percentile) + 2e-9, **rule)
    assert list(got) == list(got_as_well.fit(x, weight=w).search(y))
    assert searcher.threshold_ is None


@pytest.mark.slow
@long_without_compiler
def test_percentile_of_a_profile_by_running_sums_is_exact(monkeypatch):
    rng = np.random.default_rng(2)
    monkeypatch.setattr(mass, "LEAST", 1)
    x, y = rng.normal(size=300), rng.normal(size=300 + 512)
    searcher = searcher_of("euclidean", n_matches=None, max_overlap=1.0).fit(x)
    assert searcher.profile(y)._slack > 0
    for percentile, count in ((0, 1), (50, 257), (100, 513)):  # an odd number of windows: the middle one is one of them
        assert len(searcher.set_params(threshold=Percentile(percentile)).search(y)) == count


def test_accumulated_costs_of_a_search():
    rng = np.random.default_rng(3)
    x, y, w = rng.normal(size=7), rng.normal(size=40), rng.random(7)
    for name in ("dtw", "lcss", "twed"):
        cfg = get_distance_dict([name])
        distance, ac = elastic_search(cfg, x, y, weight=w)
        _, _, want = naive.elastic_search(name, x, y, w)
        np.testing.assert_allclose(ac, want, **CLOSE)
        scale = {"dtw": 7, "twed": 1, "lcss": 7 + (w / w.max()).sum()}[name]
        finite = np.isfinite(distance)
        np.testing.assert_allclose(distance[finite], ac[-1][finite] / scale, **CLOSE)


def test_derivative_of_a_search_is_the_whole_sequences():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=8), rng.normal(size=60)
    matches = searcher_of(DTW(alpha=0.5), n_matches=3).fit(x).search(y)
    slope = np.gradient(y)
    for match in matches:
        piece = slice(match.start, match.end)
        want = naive.elastic("dtw", x, y[piece], alpha=0.5, y_slope=slope[piece].reshape(-1, 1)).distance
        assert match.distance == pytest.approx(want, rel=1e-9)


def test_twelve_normal_beats_before_any_other_place():
    ecg = load_ecg_example()
    matches = searcher_of("dtw", n_matches=None).fit(ecg["query"], weight=ecg["weight"]).search(ecg["sequence"])
    normal = ecg["beats"][ecg["beat_kinds"] == "N"]
    found = set()
    for k in range(12):
        query, sequence = matches.path(k)
        image = sequence[query == 22]
        near = [int(beat) for beat in normal if np.abs(image - beat).max() <= 0.05 * ecg["sampling_rate"]]
        assert len(near) == 1, f"match {k + 1} is no normal beat"
        found.add(near[0])
    assert found == set(normal)
    assert len(matches) > 12


def test_long_search_needs_no_matrix():
    import tracemalloc

    compiled = not numba.config.DISABLE_JIT  # plain loops take a sequence too short for a matrix to show
    n, m = (60_000, 500) if compiled else (600, 50)
    y = np.sin(np.arange(n) / 9.0)
    searcher = searcher_of("dtw").fit(y[m : 2 * m])
    searcher.search(y[: 3 * m]).path(0)
    tracemalloc.start()
    matches = searcher.search(y)
    path = matches.path(0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert matches.distance[0] == 0.0
    assert path.shape[0] == 2
    if compiled:
        assert peak < 40 * 8 * n < m * n  # some vectors of the sequence's length, never a matrix


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="plain loops take a sequence too short for memory to show")
@pytest.mark.parametrize("how", [None, "zscore"])
@pytest.mark.parametrize("n_matches", [1, 5, None])
@pytest.mark.parametrize("m", [20, 1000])  # by the exact kernels, by running moments and Fourier transforms
def test_window_search_needs_three_times_its_input_at_most(m, n_matches, how):
    import tracemalloc

    rng = np.random.default_rng(m)
    y = rng.normal(size=1_000_000)
    searcher = searcher_of("euclidean", normalize=how, n_matches=n_matches).fit(y[5000 : 5000 + m])
    searcher.search(y[: 20 * m])  # what is imported and compiled once counts for no search
    peaks = []
    for call in (searcher.profile, searcher.search):
        tracemalloc.start()
        found = call(y)
        peaks.append(tracemalloc.get_traced_memory()[1] / y.nbytes)
        tracemalloc.stop()
    assert found.start[0] == 5000
    assert len(found) == n_matches or (n_matches is None and len(found) > 0.5 * len(y) / m)
    profile, search = peaks
    assert profile > 0.99  # the distances themselves were counted
    assert 1 + max(profile, search) <= 3.05

"""Window profiles by running moments and Fourier transforms against the exact kernels, and the choice from them."""

import naive
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import exact_profile, identical
from strategies import long_without_compiler, recording, small_sizes

from sktslib import QuerySearcher
from sktslib.distances import get_metric
from sktslib.distances._kernels import lockstep, mass, moments
from sktslib.search import Percentile
from sktslib.search import _selection as selection
from sktslib.search._plan import QueryPlan
from sktslib.search._profile import Search
from sktslib.search._selection import Profile, select, select_exactly
from sktslib.search._sources import ArraySource, CandidateReader

RECORDS = [lockstep.EuclideanRecord(), lockstep.CosineRecord()]
if numba.config.DISABLE_JIT:  # compiling takes ten seconds for each
    RECORDS += [lockstep.SquaredRecord(), lockstep.PearsonRecord(-1.0), lockstep.PearsonRecord(1.5)]
CUTS = [f"distances._kernels.mass.{name}" for name in ("GROUP", "HELD", "WINDOWS")]
KINDS = ["noise", "walk", "offset", "step", "spike", "flat", "copies"]


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@given(data=st.data())
def test_sliding_profile_equals_the_exact_kernels(weighted, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    kind, channels = data.draw(st.sampled_from(KINDS)), data.draw(st.sampled_from([1, 1, 2]))
    m, n = data.draw(st.sampled_from([1, 5, 40, 130, 200])), data.draw(st.integers(220, 700))
    record, scaling = data.draw(st.sampled_from(RECORDS)), data.draw(st.integers(0, 2 if weighted else 4))
    y = np.ascontiguousarray(recording(kind, rng, n, channels).T) + data.draw(st.sampled_from([0.0, 0.0, 1e8, 1e12]))
    begin = rng.integers(0, n - m + 1)
    x = y[:, begin : begin + m] + rng.choice([0.0, 1e-9, 0.1]) * rng.normal(size=(channels, m))
    w = None
    if weighted:
        w = rng.choice([0.0, 0.25, 0.5, 1.0], size=x.shape)
        w[0, rng.integers(0, m)] = 1.0
    full = np.ones_like(x) if w is None else w
    query = moments.normalize_one(x, full, scaling) if scaling else x
    size = data.draw(st.sampled_from([None, 512])) if m >= 128 else None
    want, got = np.empty((2, n - m + 1))
    with small_sizes(data, *CUTS):
        mass.profile(record, query, w, y, scaling, got, size=size)
    exact_profile(record, query, y, full, scaling, want)
    assert np.array_equal(np.isfinite(want), np.isfinite(got))
    found = np.isfinite(want)
    slack = mass.SLACK * (1 + 2 * max(getattr(record, "beta", 0), 0))
    np.testing.assert_allclose(got[found], want[found], rtol=slack, atol=0)


@pytest.mark.parametrize("m", [50, 300, 2500])
def test_moments_see_their_own_window_alone(m):
    rng = np.random.default_rng(m)
    n = 3 * m + 77
    y = 1e-3 * rng.normal(size=n) + 5.0
    y[m + 20 : m + 25] = 1e9
    first, count = 3, n - m - 2
    mean, spread, error = np.empty((3, count))
    moments.moments(y, m, 0.0, first, mean, spread, error)
    for j in range(0, count, 7):
        window = y[first + j : first + j + m]
        exact = ((window - window.mean()) ** 2).sum()
        assert mean[j] == pytest.approx(window.mean(), rel=1e-12)
        assert abs(spread[j] - exact) <= max(error[j], 1e-12 * exact)
        assert error[j] <= 1e-10 * exact


@pytest.mark.slow
@long_without_compiler
@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("euclidean", None),
        ("euclidean", "zscore"),
        ("euclidean", "minmax"),
        ("cosine", None),
        ("cosine", "minmax"),
        ("mahalanobis", None),  # without a matrix
    ],
)
@pytest.mark.parametrize("rule", [{"n_matches": 3}, {"n_matches": None}, {"n_matches": None, "max_overlap": 0.5}])
def test_matches_are_those_of_the_exact_profile(name, how, rule, monkeypatch):
    rng = np.random.default_rng(5)
    y = np.sin(np.arange(4000) / 9.0) + 0.1 * rng.normal(size=4000)
    x = y[700:900].copy()
    for start in (100, 1500, 3800):
        y[start : start + 200] = x  # ties
    y[2000:2500] = 0.5
    searcher = QuerySearcher(name, normalize=how, **rule).fit(x)
    want = searcher.search(y)
    monkeypatch.setattr(mass, "LEAST", 1)
    assert searcher.profile(y)._slack > 0
    got = searcher.search(y)
    identical(got, want, ("start", "distance"))
    threshold = want.distance[2]  # inclusive, to the bit
    limited = QuerySearcher(name, normalize=how, **{**rule, "n_matches": None}, threshold=threshold).fit(x).search(y)
    assert limited.distance.max() == threshold


@settings(max_examples=100)
@given(st.data())
def test_choice_by_batches_is_that_of_the_whole(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    n, slack = data.draw(st.integers(1, 300)), data.draw(st.sampled_from([0.0, 0.01]))
    exact = rng.choice([0.0, 1.0, 1.001, 2.0, 7.0, np.inf], size=n)
    if data.draw(st.booleans()):
        exact *= np.linspace(data.draw(st.sampled_from([0.1, 1.0])), 2.0, n)
    inexact = exact * (1 + rng.uniform(-0.9, 0.9, n) * slack)
    length = data.draw(st.integers(1, 9))
    start, end = np.arange(n), np.arange(n) + length
    edges = Profile(exact, None, length)._candidates[1:3]
    if data.draw(st.integers(0, 3)) == 3:  # of subsequences
        start = rng.integers(0, n, n)
        edges = start, end = start, start + rng.integers(1, 9, n)
    rule = {
        "n_matches": data.draw(st.sampled_from([None, 2, 5])),
        "threshold": data.draw(st.sampled_from([None, 1.001, 0.5])),
        "max_overlap": data.draw(st.sampled_from([0.0, 0.5, 1.0])),
    }
    want = naive.select(exact, start, end, **rule)
    with pytest.MonkeyPatch.context() as patch:
        for name, sizes in (("BLOCK", [5, 64]), ("LEAST_BATCH", [1, 3, 20]), ("SAMPLE", [4, 64])):
            patch.setattr(selection, name, data.draw(st.sampled_from(sizes)))
        got = select(exact, *edges, **rule)
        exactly, distance = select_exactly(inexact, *edges, lambda k: exact[k], slack, **rule)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(exactly, want)
    np.testing.assert_array_equal(distance, exact[want])


def test_only_sums_of_squares_and_products_slide():
    x = np.zeros((1, 1000))
    assert get_metric("euclidean")._relative_error(x, None, 10**6, None) > 0
    for name in ("manhattan", "chebyshev", "canberra", "hamming", "minkowski", "short_time_series", "dtw"):
        assert get_metric(name)._relative_error(x, None, 10**6, None) == 0
    assert get_metric("euclidean")._relative_error(x, None, 10**6, "minmax") > 0
    assert get_metric("euclidean")._relative_error(x, x + 1, 10**6, "minmax") == 0
    assert get_metric("euclidean")._relative_error(x, None, 1, None) == 0


@pytest.mark.slow
@pytest.mark.parametrize("how", [None, "zscore", "minmax"])
@pytest.mark.parametrize("name", ["euclidean", "cosine", "pearson_correlation", "manhattan"])
def test_windows_computed_together_are_those_computed_alone(name, how):
    rng = np.random.default_rng(3)
    for kind in KINDS:
        y, x = np.ascontiguousarray(recording(kind, rng, 900, 2).T), rng.normal(size=(2, 30))
        reader = CandidateReader(QueryPlan(get_metric(name), x, normalize=how), ArraySource(y, None))
        start = rng.permutation(870)[: 40 if numba.config.DISABLE_JIT else 100]
        want = [reader.distances(start[k : k + 1], start[k : k + 1] + 30)[0] for k in range(len(start))]
        np.testing.assert_array_equal(reader.distances(start, start + 30), want)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [{"threshold": 20.0}, {"threshold": Percentile(30.0)}])
def test_a_flat_stretch_is_computed_together(rule, monkeypatch):
    rng = np.random.default_rng(5)
    y, x = rng.normal(size=2_400), rng.normal(size=200)
    y[400:1_800] = 0.125  # as of a sensor in standby: more than a thousand windows at the same distance
    monkeypatch.setattr(mass, "LEAST", 1)
    calls, alone = [], Search.distances
    monkeypatch.setattr(Search, "distances", lambda self, *ranges: calls.append(ranges) or alone(self, *ranges))
    searcher = QuerySearcher("euclidean", n_matches=None, **rule).fit(x)
    found = searcher.search(y)
    assert searcher.profile(y)._slack > 0
    assert len(calls) < 200
    monkeypatch.setattr(mass, "LEAST", 2**40)
    want = searcher.search(y)
    identical(found, want, ("start", "distance"))

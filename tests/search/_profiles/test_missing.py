"""nan_policy="omit" against the reference implementation on what is observed."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import compiled, plain, unmeant

from sktslib import QuerySearcher
from sktslib.distances import pairwise_distances

pytestmark = unmeant


@pytest.mark.parametrize("name", [n for n in compiled(naive.LOCKSTEP) if not naive.TABLE[n].same_length])
@given(data=st.data())
def test_windows_are_compared_by_what_is_observed(name, data):
    m = data.draw(st.integers(2, 6))
    x = np.array(data.draw(st.lists(plain, min_size=m, max_size=m)))
    y = np.array(data.draw(st.lists(plain, min_size=m, max_size=m + 6)))
    x, y = naive.domain(name, x), naive.domain(name, y)
    w = np.array(data.draw(st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=m, max_size=m)))
    w = w / w.max()
    y[data.draw(st.lists(st.integers(0, len(y) - 1), max_size=4))] = np.nan
    got = QuerySearcher(name, nan_policy="omit").fit(x, weight=w).profile(y).distance
    for s in range(len(y) - m + 1):
        seen = ~np.isnan(y[s : s + m])
        if w[seen].sum() < 0.5 * w.sum():
            assert got[s] == np.inf
            continue
        want = naive.lockstep(name, x[seen], y[s : s + m][seen], w[seen])
        if name in naive.SUMS:  # the reference implementation divides by the largest weight seen
            scale = w[seen].max() * w.sum() / w[seen].sum()
            want *= scale ** (1 / naive.power(name))
        elif name == "chebyshev":
            want *= w[seen].max()
        np.testing.assert_allclose(got[s], want, rtol=1e-9, atol=1e-9)


def test_slopes_beside_a_gap_are_left_out():
    x, y = np.array([0.0, 1.0, 4.0, 9.0, 16.0]), np.array([0.0, 2.0, np.nan, 8.0, 15.0])
    got = QuerySearcher("short_time_series", nan_policy="omit").fit(x).profile(y).distance
    assert got[0] == pytest.approx(np.sqrt(((1 - 2) ** 2 + (7 - 7) ** 2) * 4 / 2))
    assert (
        QuerySearcher("short_time_series", nan_policy="omit").fit(x[:3]).profile([0, np.nan, 1]).distance[0] == np.inf
    )


@pytest.mark.parametrize("metric", ["dtw", "lcss", "twed"])
def test_subsequences_do_not_cross_a_gap(metric):
    rng = np.random.default_rng(0)
    y, x = rng.normal(size=90), rng.normal(size=6)
    y[[20, 21, 50]] = np.nan
    searcher = QuerySearcher(metric, nan_policy="omit", n_matches=None).fit(x)
    profile = searcher.profile(y)
    for a, b in ((0, 20), (22, 50), (51, 90)):
        want = QuerySearcher(metric).fit(x).profile(y[a:b])
        np.testing.assert_array_equal(profile.distance[a:b], want.distance)
        np.testing.assert_array_equal(profile.start[a:b], np.where(want.start < 0, -1, want.start + a))
    assert np.isinf(profile.distance[[20, 21, 50]]).all()
    matches = searcher.search(y)
    for k, match in enumerate(matches):
        assert not np.isnan(y[match.start : match.end]).any()
        assert (matches.path(k)[1] >= match.start).all()
        assert (matches.path(k)[1] < match.end).all()


def test_missing_query_points_count_nothing():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=8), rng.normal(size=50)
    gappy, weight = x.copy(), np.ones(8)
    gappy[3], weight[3] = np.nan, 0.0
    for metric in ("dtw", "euclidean", "correlation"):
        got = QuerySearcher(metric, nan_policy="omit").fit(gappy).profile(y).distance
        want = QuerySearcher(metric).fit(np.nan_to_num(gappy), weight=weight).profile(y).distance
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_elastic_windows_with_a_gap_are_no_candidates():
    y = np.array([0.0, 1.0, 2.0, np.nan, 0.0, 1.0, 2.0])
    got = QuerySearcher("dtw", candidates="windows", nan_policy="omit").fit([0.0, 1.0, 2.0]).profile(y).distance
    np.testing.assert_array_equal(got, [0, np.inf, np.inf, np.inf, 0])


@pytest.mark.parametrize("weight", [[1, 0.1, 0.3, 0.5], [1, 0.7, 0.1, 0.9], [0.3, 0.3, 0.1, 1]])
def test_exactly_half_of_the_weight_is_enough(weight):
    """Whatever the order in which the weights are added up."""
    x = np.array([[1.0, np.nan], [np.nan, 1.0], [1.0, np.nan], [np.nan, 1.0]])
    d = pairwise_distances([x], [np.zeros((4, 2))], "manhattan", weight=weight, nan_policy="omit")[0, 0]
    found = QuerySearcher("manhattan", nan_policy="omit").fit(np.ones((4, 2)), weight=weight).profile(x * 3)
    w = np.array(weight) / max(weight)
    assert d == pytest.approx(2 * w.sum())
    assert found.distance[0] == pytest.approx(4 * w.sum())


def test_signs_of_matches_that_all_have_a_gap():
    x, y = np.array([0.0, 3.0, 1.0, -2.0, 0.0, 1.0]), np.random.default_rng(0).normal(size=300) / 10
    for at, sign in ((50, 1), (200, -1)):
        y[at : at + 6] = sign * x
        y[at + 2] = np.nan
    options = {"nan_policy": "omit", "polarity": "any", "threshold": 0.5, "n_matches": None}
    found = QuerySearcher("euclidean", **options).fit(x).search(y)
    assert (found.start.tolist(), found.polarity.tolist(), found.distance.tolist()) == ([50, 200], [1, -1], [0.0, 0.0])

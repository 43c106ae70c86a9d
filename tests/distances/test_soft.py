"""Soft-DTW, the global alignment kernel and the shape-based distance against papers and references."""

import math
import pickle

import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import invariant, refused
from strategies import has_band, metrics, pairs, plain, unmeant

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict, time_series_search, time_series_segmentation
from sktslib.distances import DTW, GAK, SBD, SoftDTW, barycenter, get_metric, pairwise_distances
from sktslib.distances._kernels.soft import Soft, accumulated_costs
from sktslib.search import elastic_search

pytestmark = unmeant

CLOSE = {"rtol": 1e-9, "atol": 1e-11}
SOFT = [name for name in naive.PATHLESS if has_band(name)]


@given(st.data())
def test_distance_and_matrix_equal_the_reference(data):
    x, y, w = data.draw(pairs())
    metric, name, p = data.draw(metrics(SOFT, min(len(x), len(y))))
    want = naive.elastic(name, x, y, w, **p)
    got = metric.distance(x, y, weight=w)
    np.testing.assert_allclose(float(got), want.distance, **CLOSE)
    if name == "soft_dtw":
        np.testing.assert_allclose(got.cost_matrix, want.D, **CLOSE)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(got)).cost_matrix, got.cost_matrix)


def test_a_band_has_one_radius_for_all_three_terms():
    band = {"window": "sakoe-chiba", "factor": 0}
    assert GAK(sigma=3.0, **band)(np.zeros(3), np.zeros(12)) == 1.0  # no alignment: as far as can be
    assert SoftDTW(**band)(np.zeros(3), np.zeros(12)) == math.inf
    assert SoftDTW(divergence=False, **band)(np.zeros(3), np.zeros(12)) == math.inf
    # Of zeros the kernels count alignments: of 2 and 3 points within one sample 4, of 2 points 3, of 3 points 11.
    band["factor"] = 1
    assert GAK(**band)(np.zeros(2), np.zeros(3)) == pytest.approx(1 - 4 / math.sqrt(3 * 11))
    assert SoftDTW(**band)(np.zeros(2), np.zeros(3)) == pytest.approx(math.log(33) / 2 - math.log(4))
    # A share of the shorter of the two lengths: 1 here as well.
    assert GAK(window=0.5)(np.zeros(2), np.zeros(3)) == pytest.approx(1 - 4 / math.sqrt(3 * 11))


@pytest.mark.parametrize("name", SOFT)
def test_collections_of_many_lengths_and_radii_equal_the_pairs(name):
    rng = np.random.default_rng(4)
    X = [rng.normal(size=n) for n in (3, 9, 5, 12, 9, 1, 9, 9)]  # more pairs of 9 and 9 than lanes
    w = [1.0, 0.5, 0.25]
    for p in ({}, {"window": 0.3}, {"window": "sakoe-chiba"}, {"window": "sakoe-chiba", "factor": 2}):
        metric = get_metric(name, p)
        want = np.array([[metric(x, y) for y in X] for x in X])
        assert not p or (want == (1.0 if name == "gak" else math.inf)).sum() > 5
        np.testing.assert_array_equal(pairwise_distances(X, metric=metric), want)
        np.testing.assert_array_equal(pairwise_distances(X[:2], X, metric, n_jobs=2), want[:2])
        got = pairwise_distances(X[:1], X, metric, weight=w)
        np.testing.assert_array_equal(got, [[metric(X[0], y, weight=w) for y in X]])


def test_without_an_alignment_there_is_no_expected_one():
    x, y = [1.0, 2.0, 3.0], [1.0, 1.0, 2.0, 2.0, 3.0]
    metric = SoftDTW(window="sakoe-chiba", factor=1)
    for one in (metric, GAK(triangular=2)):
        with pytest.raises(ValueError, match=r"alignment within the band of \w+. Got lengths 3 and 5 with"):
            one.expected_alignment(x, y)
    refused(lambda: barycenter([x, y], metric, method="soft"), "alignment within the band of SoftDTW")
    assert metric.distance(x, y).cost_matrix[-1, -1] == math.inf


@given(pairs())
def test_sbd_equals_the_reference(drawn):
    x, y, w = drawn
    np.testing.assert_allclose(SBD().distance(x, y, weight=w), naive.sbd(x, y, w), **CLOSE)


@given(st.data())
def test_properties(data):
    x, y, w = data.draw(pairs(values=plain))
    metric, name, p = data.draw(metrics(naive.PATHLESS, min(len(x), len(y))))
    if p.get("divergence", True):
        assert metric.distance(x, x, weight=w) == pytest.approx(0, abs=1e-12)
    assert invariant(metric, x, y, w) <= 2 or name == "soft_dtw"
    assert metric.is_symmetric
    if name == "sbd" or ("band_kind" not in p and p.get("divergence", True)):
        assert metric(x, y) >= -1e-12


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (3, 2), (4, 4), (5, 3)])
def test_papers_sums_over_all_alignments(m, n):
    rng = np.random.default_rng(m + 10 * n)
    x, y = rng.normal(size=(m, 2)), rng.normal(size=(n, 2))

    def squared(a, b, path):
        return [((a[i] - b[j]) ** 2).sum() for i, j in path]

    def soft(a, b, gamma):
        paths = naive.alignments(len(a), len(b))
        return -gamma * math.log(sum(math.exp(-sum(squared(a, b, path)) / gamma) for path in paths))

    def kernel(a, b, sigma):
        total = 0.0
        for path in naive.alignments(len(a), len(b)):
            g = [math.exp(-d / (2 * sigma**2)) for d in squared(a, b, path)]
            total += math.prod(v / (2 - v) for v in g)
        return total

    assert SoftDTW(0.3, divergence=False)(x, y) == pytest.approx(soft(x, y, 0.3), rel=1e-12)
    want = soft(x, y, 0.3) - (soft(x, x, 0.3) + soft(y, y, 0.3)) / 2
    assert SoftDTW(0.3)(x, y) == pytest.approx(want, rel=1e-10)
    want = 1 - kernel(x, y, 1.3) / math.sqrt(kernel(x, x, 1.3) * kernel(y, y, 1.3))
    assert GAK(1.3)(x, y) == pytest.approx(want, rel=1e-10)
    for metric, p in (
        (SoftDTW(0.3), {"gamma": 0.3}),
        (GAK(1.3), {"sigma": 1.3}),
        (GAK(1.3, triangular=5), {"sigma": 1.3, "triangular": 5}),
    ):
        np.testing.assert_allclose(metric.expected_alignment(x, y), naive.expected_alignment(x, y, **p), **CLOSE)


@given(pairs(low=2, y_low=2, values=plain), st.sampled_from([0.05, 1.0]))
def test_expected_alignment_is_the_gradient(drawn, gamma):
    x, y, w = drawn
    metric = SoftDTW(gamma, divergence=False)
    E = metric.expected_alignment(x, y, weight=w)
    assert E.shape == (len(x), len(y))
    assert E[0, 0] == pytest.approx(1)
    assert E[-1, -1] == pytest.approx(1)
    W = naive.relative(w, len(x), 1 if x.ndim == 1 else x.shape[1]).reshape(x.shape)
    # d/dx of sum w (x - y)^2, every cell counted by its probability
    want = 2 * W * (x * E.sum(1).reshape(-1, *[1] * (x.ndim - 1)) - E @ y)
    step, i = 1e-6, int(np.abs(want).sum(axis=-1).argmax()) if x.ndim > 1 else int(np.abs(want).argmax())
    for at in [(i, c) for c in range(x.shape[1])] if x.ndim > 1 else [(i,)]:
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        slope = (metric.distance(up, y, weight=w) - metric.distance(down, y, weight=w)) / (2 * step)
        assert want[at] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_long_series_neither_underflow_nor_overflow():
    rng = np.random.default_rng(2)
    n = 60 if numba.config.DISABLE_JIT else 900
    x, y = np.cumsum(rng.normal(size=(2, n)), axis=1)
    lo, hi = np.zeros(n, np.int64), np.full(n, n)
    series = x[None, None], np.ones((1, n)), y[None, None]
    far = accumulated_costs(Soft(1 / 0.02, True, np.inf), *series, lo, hi)[0]
    assert 1e3 < far < np.inf  # the kernel itself would be exp(-far), 0 in float64
    assert GAK(0.1)(x, y) == 1.0
    assert GAK(0.1)(x, x) == 0.0
    near = GAK(1e4)(x, x + 1)  # here the kernel would be about 6^900, infinite
    assert 0 < near < 1e-3
    assert np.isfinite(SoftDTW(1e-300)(x, y))
    assert SoftDTW(1e-300)([0.0, 1e20], [0.0, 1e20]) == 0.0  # one alignment has finite local costs
    assert SoftDTW(1e-9)(x, y) == pytest.approx(DTW()(x, y), rel=1e-9)


def test_gak_learns_sigma():
    X = [np.array([0.0, 3.0, 0.0, 3.0]), np.array([0.0, 3.0])]
    metric = GAK().fit(X)
    assert metric.sigma_ == pytest.approx(3 * math.sqrt(3))
    assert metric(X[0], X[1]) == GAK(sigma=metric.sigma_)(X[0], X[1])
    assert GAK()(X[0], X[1]) == GAK(sigma=1)(X[0], X[1])
    refused(lambda: GAK().fit(np.ones((2, 5))), "'X' must have points that differ")


def test_sbd_degenerate_series():
    zero, one = np.zeros(4), np.array([0.0, 1.0, 0.0])
    assert SBD()(zero, zero[:2]) == 0.0
    assert SBD()(zero, one) == SBD()(one, zero) == 1.0
    assert SBD()([1.0], [-1.0]) == 2.0
    assert SBD()([1e-200, 2e-200], [1e139, 2e139]) == pytest.approx(0, abs=1e-14)
    # All that the series has lies where the query does not look, at one of the shifts.
    got = SBD().distance([1.0, 5.0, 1.0], [0.0, 7.0, 0.0], weight=[1, 0, 1])
    assert got == pytest.approx(naive.sbd([1.0, 5.0, 1.0], [0.0, 7.0, 0.0], [1, 0, 1]), abs=1e-12)
    np.testing.assert_allclose(
        SBD().distance([1.0, 5.0], [1e-9, 1e9, 2e-9], weight=[0, 1]),
        naive.sbd([1.0, 5.0], [1e-9, 1e9, 2e-9], [0, 1]),
        **CLOSE,
    )


@pytest.mark.parametrize("name", naive.PATHLESS)
def test_larger_collection_first_or_second(name):
    rng = np.random.default_rng(4)
    few, many = [rng.normal(size=(n, 2)) for n in (7, 5)], [rng.normal(size=(7, 2)) for _ in range(5)]
    want = np.array([[naive.elastic(name, x, y).distance for y in many] for x in few])
    np.testing.assert_allclose(pairwise_distances(few, many, name), want, **CLOSE)
    np.testing.assert_allclose(pairwise_distances(many, few, name), want.T, **CLOSE)
    w = rng.random(7)
    want = np.array([[naive.elastic(name, x, y, w).distance for y in few] for x in many])
    np.testing.assert_allclose(pairwise_distances(many, few, name, weight=w), want, **CLOSE)


# ---------------------------------------------------------------------------------------------------------- searching
@pytest.mark.parametrize("name", naive.PATHLESS)
def test_searches_go_by_windows(name):
    rng = np.random.default_rng(5)
    y, w = rng.normal(size=(60, 2)), rng.random(9)
    searcher = QuerySearcher(name, n_matches=2, normalize="zscore").fit(y[31:40], weight=w)
    assert searcher.search(y).start[0] == 31
    searcher = QuerySearcher(name).fit(y[31:40], weight=w)
    match = searcher.search(y)
    assert (match.start[0], match.end[0]) == (31, 40)
    assert match.distance[0] == pytest.approx(0, abs=1e-12)
    refused(lambda: match.path(0), "has no warping path")
    with pytest.raises(
        ValueError, match=r"candidates='subsequence' needs a metric with a warping path.*Set candidates='windows'"
    ):
        QuerySearcher(name, candidates="subsequence").fit(y[31:40])
    cfg = get_distance_dict([name])
    full_name = get_metric(name).full_name
    found = time_series_search(cfg, y[31:40], y, weight=w)[full_name]
    assert found["start"][0] == 31
    assert found["path"] is None
    assert found["distance"].shape == (52,)
    refused(lambda: elastic_search(cfg, y[31:40], y), "has no warping path", "time_series_search")


@pytest.mark.slow
@pytest.mark.parametrize("name", naive.PATHLESS)
def test_segments_have_the_query_s_length(name):
    shape = np.array([0.0, 1.0, 3.0, 1.0, -1.0])
    y = np.concatenate([[6, -6], shape, [-6], shape, [6, -6, 6]])
    segments = QuerySegmenter(name).fit(shape).segment(y)
    assert [(s, e) for s, e, _, _ in segments][:2] == [(2, 7), (8, 13)]
    cfg = get_distance_dict([name])
    assert set(time_series_segmentation(cfg, shape, y)[get_metric(name).full_name]) >= {2, 7, 8, 13}


def test_raw_values_are_no_costs_of_segments():
    with pytest.raises(ValueError, match="'divergence' parameter of SoftDTW must be True in a segmentation"):
        QuerySegmenter(SoftDTW(divergence=False)).fit([1.0, 2.0])


# ------------------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SoftDTW().distance([1], [2]).path, "Soft Dynamic Time Warping has no warping path: it counts all"),
        (lambda: GAK().distance([1], [2]).path, "Their mean is expected_alignment(x, y)"),
        (lambda: GAK().distance([1], [2]).cost_matrix, "Global Alignment Kernel has no cost matrix"),
        (lambda: SBD().distance([1], [2]).path, "Shape-Based Distance has no warping path: it compares the series at"),
        (lambda: SBD().distance([1], [2]).cost_matrix, "Shape-Based Distance has no cost matrix"),
        (lambda: SoftDTW(gamma=0)([1], [2]), "The 'gamma' parameter of SoftDTW must be a float in the range (0.0, inf"),
        (lambda: GAK(sigma=-1)([1], [2]), "The 'sigma' parameter of GAK must be a float in the range (0.0, inf"),
        (lambda: GAK(triangular=0)([1], [2]), "The 'triangular' parameter of GAK must be an int in the range [1, inf"),
        (lambda: SoftDTW(factor=2)([1], [2]), "The 'factor' parameter of SoftDTW must be None unless window="),
        (lambda: SoftDTW().expected_alignment([1], [[1, 2]]), "'y' must have as many channels as 'x'"),
        (lambda: get_metric("sbd", {"window": 0.1}), "Unknown parameter 'window' of SBD"),
    ],
)
def test_errors(call, message):
    refused(call, message)


def test_sbd_under_weights_keeps_its_digits():
    """What weights leave of the squares is a small difference of large sums."""
    x, w = (
        np.array([0.35107550457699, 0.3394521779508788, 0.9650677494459781]),
        np.array([2.0, 0.0, 0.7456463950496133]),
    )
    y = np.array([2.9841420191881403, 0.35107550457699, 0.3394521779508788])
    got = QuerySearcher("sbd", normalize="minmax").fit(x, weight=w).profile(y).distance[0]
    assert got == pytest.approx(naive.windows("sbd", x, y, w, normalize="minmax")[0], abs=1e-13)

"""Collections: every driver gives what the pair gives."""

import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.base import clone
from strategies import BANDS, DISTANCES, SEVERAL, has_band, parameters, quick, unmeant, weights

from sktslib import QuerySearcher
from sktslib.distances import CallableMetric, _pairwise, get_metric, nearest_neighbors, pairwise_distances

pytestmark = unmeant


def one_by_one(metric, X, Y, w=None):
    return np.array([[float(metric.distance(x, y, weight=w)) for y in Y] for x in X])


@pytest.mark.parametrize("name", quick(DISTANCES, "dtw"))
@given(data=st.data())
def test_equals_the_pairs(name, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    several = [1, 1, 2, 3] if name in SEVERAL else [1]
    m, n, channels = data.draw(st.tuples(st.integers(1, 19), st.integers(1, 19), st.sampled_from(several)))
    n = m if naive.TABLE[name].same_length else n
    p = {**data.draw(parameters(name)), **(data.draw(st.sampled_from(BANDS)) if has_band(name) else {})}
    metric = get_metric(name, p)
    X = rng.normal(size=(data.draw(st.sampled_from([1, 5])), m, channels)).round(2)
    Y = rng.normal(size=(data.draw(st.sampled_from([2, 18])), n, channels)).round(2)
    X, Y = naive.domain(name, X), naive.domain(name, Y)
    w = data.draw(weights(m, channels))
    try:
        want = one_by_one(metric, X, Y, w)
    except ValueError:  # no positive weight is left after interpolation
        return
    np.testing.assert_array_equal(pairwise_distances(X, Y, metric, weight=w, channels_first=False), want)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "channels"), [*((name, 1) for name in DISTANCES), *((name, 3) for name in SEVERAL)])
def test_a_pair_neighbors_and_windows_agree_to_the_bit(name, channels):
    rng = np.random.default_rng(8)
    for m in (5, 17):
        query, sequence = (
            naive.domain(name, a) for a in (rng.normal(size=(m, channels)), rng.normal(size=(40, channels)))
        )
        windows = sliding_window_view(sequence, m, axis=0).transpose(0, 2, 1)
        for weight in (None, rng.random((m, channels)) + 0.1):
            metric = get_metric(name)
            pairs = np.array([metric(query, window, weight=weight) for window in windows])
            near = nearest_neighbors(query[None], windows, metric, 5, weight=weight, channels_first=False)
            np.testing.assert_array_equal(near.distances[0], np.sort(pairs)[:5])
            assert metric(query, query.copy(), weight=weight) == 0.0
            if metric.family == "time":
                continue
            searcher = QuerySearcher(metric, candidates="windows", max_overlap=1.0)
            searcher.fit(query, weight=weight)
            np.testing.assert_array_equal(searcher.profile(sequence).distance, pairs)
            # A threshold that a pair gives includes that window.
            for start in (3, 22):
                found = clone(searcher).set_params(threshold=pairs[start]).fit(query, weight=weight).search(sequence)
                assert start in found.start
                np.testing.assert_array_equal(found.distance, pairs[found.start])


@pytest.mark.parametrize("name", DISTANCES)
def test_a_collection_with_itself_and_ragged_ones(name, monkeypatch):
    rng = np.random.default_rng(1)
    metric = get_metric(name)
    lengths = [9] * 9 if naive.TABLE[name].same_length else [9, 4, 12, 1, 9, 7, 20, 13, 5]
    lengths = lengths[3:] if numba.config.DISABLE_JIT else 2 * lengths  # more than a block of lanes
    X = [naive.domain(name, rng.normal(size=n)) for n in lengths]
    got = pairwise_distances(X, metric=metric)
    want = one_by_one(metric, X, X)
    np.testing.assert_array_equal(got, want)
    if metric.is_symmetric:
        np.testing.assert_array_equal(got, got.T)
        np.testing.assert_array_equal(got, pairwise_distances(X, list(X), metric))  # each pair both ways
        np.testing.assert_array_equal(np.diag(got), 0)
    np.testing.assert_array_equal(pairwise_distances(X, X[:7], metric), want[:, :7])
    np.testing.assert_array_equal(got, pairwise_distances(X, metric=metric, n_jobs=2))
    np.testing.assert_array_equal(got[:7, 3:], pairwise_distances(X[:7], X[3:], metric))
    monkeypatch.setattr(_pairwise, "CALL", -(10**9))  # pair by pair, as few long series are compared
    np.testing.assert_array_equal(got, pairwise_distances(X, metric=metric))
    np.testing.assert_array_equal(got[:7, 3:], pairwise_distances(X[:7], X[3:], metric))


@pytest.mark.parametrize("name", quick([name for name in DISTANCES if has_band(name)]))
def test_symmetric_to_the_last_digit_across_the_edges_of_a_band(name):
    # What lies inside the band and what it cuts is computed by two loops; which of them depends on the query.
    rng = np.random.default_rng(4)
    for channels in (1, 2) if name in SEVERAL else (1,):
        X = [rng.normal(size=(n, channels)) for n in (2, 9, 4, 12, 7, 13, 5, 8, 3, 11)]
        for window in (0.4, 1.0):
            metric = get_metric(name, {"window": window})
            if metric.is_symmetric:
                got = pairwise_distances(X, list(X), metric, channels_first=False)
                np.testing.assert_array_equal(got, got.T)
                np.testing.assert_array_equal(got, pairwise_distances(X, metric=metric, channels_first=False))


def test_special_forms():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4, 10))
    for metric in (
        get_metric("dtw", {"dtw_type": "psi-dtw", "tolerance": 2}),
        get_metric("dtw", {"dist": lambda a, b: abs(a - b)}),
        get_metric("mahalanobis", {"VI": np.diag(np.arange(1.0, 11.0))}),
        CallableMetric(lambda x, y: float(np.abs(x - y).max())),
    ):
        want = pairwise_distances(X, metric=metric)
        np.testing.assert_allclose(want, one_by_one(metric, X, X), atol=1e-12)
        found, order = nearest_neighbors(X, metric=metric, n_neighbors=3), np.argsort(want, axis=1, kind="stable")
        np.testing.assert_array_equal(np.column_stack([np.arange(4), found.indices]), order)
    np.testing.assert_allclose(pairwise_distances(X[:, :, None], X), pairwise_distances(X, X))


def test_far_series_are_as_far_as_the_pair_says():
    X = np.array([[0.0, 1e100], [1e100, 0.0]])
    np.testing.assert_allclose(pairwise_distances(X), one_by_one(get_metric("dtw"), X, X))


@pytest.mark.parametrize(
    ("X", "Y", "more", "message"),
    [
        ([1.0, 2.0], None, {}, "'X' must be a collection"),
        (np.zeros(3), None, {}, "'X' must be a collection"),
        ([], None, {}, "at least one"),
        ([[1, 2], [1, np.nan]], None, {}, r"'X\[1\]' must be finite"),
        ([[1, 2]], [[[1, 2], [3, 4]]], {}, "channels"),
        ([[1, 2], [1, 2, 3]], None, {"weight": [1, 1]}, "one length"),
        ([[1, 2], [3, 4]], None, {"weight": [1, 1, 1]}, "'weight'"),
        ([[1, 2], [3, 4]], None, {"n_jobs": 0}, "'n_jobs'"),
        ([[1, 2], [3, 4]], None, {"metric": "dtv"}, "'dtw'"),
    ],
)
def test_wrong_input(X, Y, more, message):
    for call in (pairwise_distances, nearest_neighbors):
        with pytest.raises((ValueError, TypeError), match=message):
            call(X, Y, **more)

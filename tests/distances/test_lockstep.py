"""Lockstep distances against scipy and the reference implementation."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import invariant
from scipy import special, stats
from scipy.spatial import distance as scipy_distance
from strategies import pairs, parameters, plain, times, unmeant

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import (
    Mahalanobis,
    get_metric,
    lockstep_distances,
    metric_names,
    nearest_neighbors,
    pairwise_distances,
)
from sktslib.neighbors import ShapeletTransform

pytestmark = unmeant

CLOSE = {"rtol": 1e-9, "atol": 1e-11}
NAMES = metric_names("lockstep")


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_equals_the_reference(name, data):
    timed = get_metric(name).uses_times
    x, y, w = data.draw(pairs(equal=naive.TABLE[name].same_length))
    x, y = naive.domain(name, x), naive.domain(name, y)
    p = data.draw(parameters(name))
    t = {"tx": data.draw(times(len(x))), "ty": data.draw(times(len(y)))} if timed and data.draw(st.booleans()) else {}
    try:
        want = naive.lockstep(name, x, y, w, **p, **t)
    except (ValueError, ZeroDivisionError):  # no positive weight is left after interpolation
        with pytest.raises(ValueError, match="weight"):
            get_metric(name, p).distance(x, y, weight=w, **t)
        return
    got = get_metric(name, p).distance(x, y, weight=w, **t)
    np.testing.assert_allclose(*(naive.bounded(name, p, d) for d in (got, want)), **CLOSE)


def test_named_functions_equal_scipy():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20))
    f = lockstep_distances
    w = rng.permutation(np.linspace(0.05, 1.0, 20))
    for name in ("braycurtis", "canberra", "correlation", "cosine", "euclidean", "hamming", "sqeuclidean"):
        a, b = (x.round(), y.round()) if name == "hamming" else (x, y)
        want = getattr(scipy_distance, name)(a, b, w)
        assert getattr(f, f"{name}_distance")(a, b, w) == pytest.approx(want, rel=1e-12)
    assert f.manhattan_distance(x, y) == pytest.approx(scipy_distance.cityblock(x, y))
    assert f.chebyshev_distance(x, y) == pytest.approx(scipy_distance.chebyshev(x, y))
    assert f.minkowski_distance(x, y) == pytest.approx(scipy_distance.minkowski(x, y, 3))
    VI = np.eye(20) + 0.1
    assert f.mahalanobis_distance(x, y, VI=VI) == pytest.approx(scipy_distance.mahalanobis(x, y, VI))
    assert f.mahalanobis_distance(x, y) == pytest.approx(scipy_distance.euclidean(x, y))
    r = np.corrcoef(x, y)[0, 1]
    assert f.pearson_correlation(x, y) == pytest.approx(2 * (1 - r))
    assert f.pearson_correlation(x, y, 2) == pytest.approx(((1 - r) / (1 + r)) ** 2)
    assert f.pearson_correlation([1, 2, 3], [3, 2, 1], 1) == np.inf


def test_kullback_leibler():
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0.1, 2.0, size=(2, 20))
    divergence = lockstep_distances.kullback_leibler_distance
    assert divergence(x, y) == pytest.approx(special.kl_div(x, y).sum(), rel=1e-13)
    p, q = x / x.sum(), y / y.sum()
    assert divergence(p, q) == pytest.approx(stats.entropy(p, q), rel=1e-13)
    assert divergence(x, x * (1 + 1e-9)) == pytest.approx(0.5e-18 * x.sum(), rel=1e-6)
    for bad in (0.0, -1.0):
        y[3] = bad
        for call in (
            lambda: divergence(x, y),
            lambda: pairwise_distances([x], [y, y], "kullback_leibler"),
            lambda: nearest_neighbors([x, x], [y], "kullback_leibler"),
            lambda: QuerySearcher("kullback_leibler").fit(y),
            lambda: QuerySearcher("kullback_leibler").fit(x).search(y),
            lambda: QuerySearcher("kullback_leibler", threshold=1.0).fit(x).stream().update(y),
            lambda: QuerySegmenter("kullback_leibler").fit(x).segment(y),
            lambda: QuerySegmenter("kullback_leibler").fit(x).stream().update(y),
            lambda: ShapeletTransform("kullback_leibler", queries=[x]).fit([x]).transform([y]),
        ):
            with pytest.raises(ValueError, match=f"must hold positive values.* Got {bad:g} as the smallest"):
                call()
    with pytest.raises(ValueError, match="'normalize' parameter must be None with the Kullback-Leibler"):
        QuerySearcher("kullback_leibler", normalize="zscore").fit(x)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_properties(name, data):
    x, y, w = data.draw(pairs(equal=True, values=plain))
    x, y = naive.domain(name, x), naive.domain(name, y)
    metric = get_metric(name)
    assert invariant(metric, x, y, w) >= 0
    assert metric.distance(x, x, weight=w) == pytest.approx(0, abs=1e-12)


@given(pairs(equal=True), st.integers(0, 10**6))
def test_mahalanobis_with_a_matrix(drawn, seed):
    x, y, w = drawn
    A = np.random.default_rng(seed).normal(size=(x.size, x.size))
    VI = A @ A.T + np.eye(x.size)
    got = Mahalanobis(VI).distance(x, y, weight=w)
    np.testing.assert_allclose(got, naive.lockstep("mahalanobis", x, y, w, VI=VI), rtol=1e-9, atol=1e-9)
    assert Mahalanobis(VI).is_metric == np.array_equal(VI, VI.T)


def test_mahalanobis_estimates_its_matrix():
    X = np.random.default_rng(1).normal(size=(30, 4))
    metric = Mahalanobis().fit(X)
    from sklearn.covariance import LedoitWolf

    VI = LedoitWolf().fit(X).precision_
    assert metric(X[0], X[1]) == pytest.approx(scipy_distance.mahalanobis(X[0], X[1], VI))

"""Regression by nearest neighbors: scikit-learn's numbers over our distances."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from sktslib.distances import pairwise_distances
from sktslib.neighbors import KNeighborsTimeSeriesRegressor

RNG = np.random.default_rng(5)
X = RNG.normal(size=(12, 8)).round(2)
NEW = np.concatenate([RNG.normal(size=(3, 8)).round(2), X[:1]])


@pytest.mark.parametrize("y", [RNG.normal(size=12), RNG.integers(0, 9, 12), RNG.normal(size=(12, 2)), np.ones((12, 1))])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_the_regressor_is_scikit_learn_s_over_our_distances(weights, y):
    between, to_new = pairwise_distances(X), pairwise_distances(NEW, X)
    for count in (1, 3):
        ours = KNeighborsTimeSeriesRegressor("dtw", n_neighbors=count, weights=weights).fit(X, y)
        theirs = KNeighborsRegressor(count, weights=weights, metric="precomputed").fit(between, y)
        want = theirs.predict(to_new)
        np.testing.assert_allclose(ours.predict(NEW), want, rtol=1e-12)
        assert ours.predict(NEW).shape == want.shape
        assert ours.score(NEW, want) == 1.0


def test_targets_are_kept_and_errors_say_what_is_wrong():
    y = np.arange(12.0)
    model = KNeighborsTimeSeriesRegressor().fit(X, y)
    y[:] = 0.0
    np.testing.assert_array_equal(model.predict(X), np.arange(12.0))
    for wrong, message in (
        (np.array(["a", "b"] * 6), "For classes take KNeighborsTimeSeriesClassifier"),
        (np.full(12, np.nan), "Input y contains NaN"),
        (y[:3], "inconsistent numbers of samples"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            KNeighborsTimeSeriesRegressor().fit(X, wrong)


def test_a_distance_too_small_for_its_reciprocal_counts_as_none():
    model = KNeighborsTimeSeriesRegressor("manhattan", n_neighbors=2, weights="distance")
    assert model.fit([[0, 1e-310], [0, 5.0]], [1.0, 2.0]).predict([[0, 0.0]]).tolist() == [1.0]

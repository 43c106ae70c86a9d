"""Regression by nearest neighbors: scikit-learn's numbers over our distances."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor

from sktslib.distances import pairwise_distances
from sktslib.neighbors import KNeighborsTimeSeriesRegressor

RNG = np.random.default_rng(5)
X = RNG.normal(size=(12, 8)).round(2)
NEW = np.concatenate([RNG.normal(size=(3, 8)).round(2), X[:1]])
RAGGED = [RNG.normal(size=(n, 2)).round(2) for n in (5, 3, 9, 4, 7)]


@pytest.mark.parametrize("y", [RNG.normal(size=12), RNG.integers(0, 9, 12), RNG.normal(size=(12, 2)), np.ones((12, 1))])
@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: 1 / (1 + d)])
def test_the_regressor_is_scikit_learn_s_over_our_distances(weights, y):
    between, to_new = pairwise_distances(X), pairwise_distances(NEW, X)
    for count in (1, 3):
        ours = KNeighborsTimeSeriesRegressor("dtw", n_neighbors=count, weights=weights).fit(X, y)
        theirs = KNeighborsRegressor(count, weights=weights, metric="precomputed").fit(between, y)
        want = theirs.predict(to_new)
        np.testing.assert_allclose(ours.predict(NEW), want, rtol=1e-12)
        assert ours.predict(NEW).shape == want.shape
        assert ours.score(NEW, want) == 1.0


def test_series_of_any_length_and_a_grid():
    y = np.arange(5.0)
    np.testing.assert_array_equal(KNeighborsTimeSeriesRegressor().fit(RAGGED, y).predict(RAGGED[::-1]), y[::-1])
    grid = GridSearchCV(KNeighborsTimeSeriesRegressor(), {"n_neighbors": [1, 2], "metric__alpha": [0.5, 1.0]}, cv=2)
    assert grid.fit(X, X[:, 0]).best_params_["n_neighbors"] in (1, 2)


def test_targets_are_kept_and_errors_say_what_is_wrong():
    y = np.arange(12.0)
    model = KNeighborsTimeSeriesRegressor().fit(X, y)
    y[:] = 0.0
    np.testing.assert_array_equal(model.predict(X), np.arange(12.0))
    with pytest.raises(TypeError, match="For classes take KNeighborsTimeSeriesClassifier"):
        KNeighborsTimeSeriesRegressor().fit(X, np.array(["a", "b"] * 6))
    with pytest.raises(ValueError, match="Input y contains NaN"):
        KNeighborsTimeSeriesRegressor().fit(X, np.full(12, np.nan))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KNeighborsTimeSeriesRegressor().fit(X, y[:3])
    with pytest.raises(ValueError, match="some weight"):
        KNeighborsTimeSeriesRegressor(weights=np.zeros_like).fit(X, y).predict(X)


def test_a_distance_too_small_for_its_reciprocal_counts_as_none():
    model = KNeighborsTimeSeriesRegressor("manhattan", n_neighbors=2, weights="distance")
    assert model.fit([[0, 1e-310], [0, 5.0]], [1.0, 2.0]).predict([[0, 0.0]]).tolist() == [1.0]

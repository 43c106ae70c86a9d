"""Memory that a search for neighbors may take, set on an estimator."""

import numpy as np
import pytest

from sktslib.neighbors import KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesTransformer


@pytest.mark.parametrize("cls", [KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesTransformer])
def test_memory_may_be_limited(cls):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), np.arange(60) % 3
    want = cls("dtw", n_neighbors=3).fit(X, y).kneighbors(X)
    got = cls("dtw", n_neighbors=3, max_memory="600 kB").fit(X, y).kneighbors(X)
    np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match="'max_memory' parameter must leave room"):
        cls("dtw", n_neighbors=3, max_memory=100).fit(X, y).kneighbors(X)
    with pytest.raises(ValueError, match=r"'max_memory' parameter of \w+ must be None"):
        cls("dtw", nan_policy="omit", max_memory="1 GB").fit(X, y).kneighbors(X)

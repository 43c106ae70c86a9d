"""Memory that the work may take, set on an estimator."""

import numpy as np
import pytest

from sktslib.neighbors import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesTransformer,
    PairwiseDistances,
)


@pytest.mark.parametrize("cls", [KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesTransformer])
def test_memory_may_be_limited(cls):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), np.arange(60) % 3
    want = cls("dtw", n_neighbors=3).fit(X, y).kneighbors(X)
    got = cls("dtw", n_neighbors=3, max_memory="600 kB").fit(X, y).kneighbors(X)
    np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match="'max_memory' parameter must leave room"):
        cls("dtw", n_neighbors=3, max_memory=100).fit(X, y).kneighbors(X)
    X[3, :2] = np.nan
    want = cls("euclidean", n_neighbors=3, nan_policy="omit").fit(X, y).kneighbors(X)
    got = cls("euclidean", n_neighbors=3, nan_policy="omit", max_memory="20 kB").fit(X, y).kneighbors(X)
    np.testing.assert_array_equal(got, want)


def test_distances_within_little_memory():
    cls = PairwiseDistances
    X = np.random.default_rng(0).normal(size=(30, 8))
    want = cls("dtw").fit(X).transform(X)
    got = cls("dtw", max_memory="20 kB").fit(X).transform(X)
    np.testing.assert_array_equal(*(a.toarray() if hasattr(a, "toarray") else a for a in (got, want)))
    with pytest.raises(ValueError, match=r"'max_memory' parameter must leave room for one pair of series and 1 job,"):
        cls("dtw", max_memory=100).fit(X).transform(X)

"""K-medoids of series: against all choices of medoids and all swaps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.clustering import best_medoids, inertia, least_of_swaps, of_medoids

from sktslib.cluster import TimeSeriesKMedoids
from sktslib.cluster._clusters import swapped
from sktslib.distances import SoftDTW, pairwise_distances

RNG = np.random.default_rng(8)
X = RNG.normal(size=(9, 6)).round(2)


@given(seed=st.integers(0, 2**20), n=st.integers(3, 9), k=st.integers(1, 3), whole=st.booleans())
def test_no_swap_is_better(seed, n, k, whole):
    rng = np.random.default_rng(seed)
    D = rng.integers(0, 5, (n, n)).astype(float) if whole else rng.random((n, n))  # symmetric or not
    np.fill_diagonal(D, 0.0)
    begin = rng.choice(n, k, replace=False).tolist()
    medoids, rounds = swapped(D, begin, 100)
    got = of_medoids(D.tolist(), medoids)
    assert sorted(set(medoids)) == sorted(medoids)
    assert rounds < 100
    assert got <= least_of_swaps(D.tolist(), medoids) + 1e-12
    assert got <= of_medoids(D.tolist(), begin)
    if k == 1:
        assert got == pytest.approx(best_medoids(D.tolist(), 1))


@pytest.mark.parametrize("metric", ["dtw", "euclidean", "lcss"])
def test_numbers(metric):
    D = pairwise_distances(X, metric=metric)
    model = TimeSeriesKMedoids(3, metric, n_init=10, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(best_medoids(D.tolist(), 3))
    np.testing.assert_array_equal(model.cluster_centers_, X[model.medoid_indices_])
    want, labels = inertia(D[model.medoid_indices_].T.tolist())
    assert model.inertia_ == pytest.approx(want)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.transform(X), D[:, model.medoid_indices_])
    assert model.score(X) == pytest.approx(-model.inertia_)
    jobs = TimeSeriesKMedoids(3, metric, n_init=10, random_state=0, n_jobs=2).fit(X)
    np.testing.assert_array_equal(jobs.medoid_indices_, model.medoid_indices_)


def test_given_medoids_lengths_weights_and_gaps():
    ragged = [np.arange(n, dtype=float) for n in (3, 9, 4, 8, 5)]
    model = TimeSeriesKMedoids(2, init=[0, 1], max_iter=1).fit(ragged)
    assert model.n_iter_ == 1
    assert [len(z) for z in model.cluster_centers_] == [len(ragged[k]) for k in model.medoid_indices_]
    w = np.arange(1.0, 7)
    D = pairwise_distances(X, X, weight=w)
    found = TimeSeriesKMedoids(2, weight=w, n_init=9, random_state=0).fit(X)
    assert found.inertia_ == pytest.approx(best_medoids(D.tolist(), 2))
    gaps = X.copy()
    gaps[2, 1] = np.nan
    D = pairwise_distances(gaps, metric="euclidean", nan_policy="omit")
    omit = TimeSeriesKMedoids(2, "euclidean", nan_policy="omit", n_init=9, random_state=0).fit(gaps)
    assert omit.inertia_ == pytest.approx(best_medoids(D.tolist(), 2))


def test_series_that_no_path_joins_have_medoids_of_their_own():
    series, metric = [np.ones(20), np.ones(3), np.zeros(20), np.zeros(3)], SoftDTW(window=0.1)
    model = TimeSeriesKMedoids(2, metric, init=[0, 2]).fit(series)
    want = metric(series[0], series[2]) + metric(series[1], series[3])
    assert model.inertia_ == pytest.approx(want)
    assert model.labels_[0] == model.labels_[2] != model.labels_[1] == model.labels_[3]
    with pytest.raises(ValueError, match=r"finite distance from some center. Got none for series \[(1, 3|0, 2)\]"):
        TimeSeriesKMedoids(1, metric).fit(series)


@pytest.mark.parametrize(
    ("init", "message"),
    [
        ([0, 0], r"2 different indices of the 9 series, one a cluster. Got \[0, 0\]"),
        ([0, 9], r"Got \[0, 9\]"),
        ([0], "Got"),
        (X[:2], "take TimeSeriesKMeans"),
        ("randm", "Did you mean 'random'"),
    ],
)
def test_errors_say_what_is_wrong(init, message):
    with pytest.raises(ValueError, match=message):
        TimeSeriesKMedoids(2, init=init).fit(X)


def test_of_equally_near_medoids_each_belongs_to_itself():
    X = [[0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0], [2, 2]]
    model = TimeSeriesKMedoids(3, "dtw", random_state=0).fit(X)  # without a warning of empty clusters
    np.testing.assert_array_equal(model.labels_[model.medoid_indices_], [0, 1, 2])
    assert model.inertia_ == 0

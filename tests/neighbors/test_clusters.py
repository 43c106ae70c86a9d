"""Clusters of series: k-means, also where clusters lose all; k-medoids against all choices of medoids and all swaps."""

import pickle
from itertools import pairwise

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.clustering import best_medoids, inertia, least_of_swaps, of_medoids
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from strategies import SIZES, compiled, quick

from sktslib.cluster import TimeSeriesKMeans, TimeSeriesKMedoids
from sktslib.cluster._clusters import swapped
from sktslib.distances import DTW, ERP, SoftDTW, pairwise_distances

RNG = np.random.default_rng(8)
SHAPES = np.array([[0, 0, 3, 3, 0, 0, 0, 0.0], [0, 2, 0, 2, 0, 2, 0, 2], [4, 4, 4, 4, 4, 4, 4, 4]])
X = (SHAPES[np.arange(15) % 3] + 0.3 * RNG.normal(size=(15, 8))).round(2)
RAGGED = [np.column_stack([np.resize(x, n), np.full(n, x[0])]) for x, n in zip(X, range(5, 11), strict=False)]
METRICS = ["dtw", DTW(window=0.3), "wdtw", "twed", "euclidean", "manhattan", "correlation", "sbd"]
METRICS += ["msm", ERP(g=0.5), "lcss", "adtw"] if numba.config.DISABLE_JIT else []
SOFT = SoftDTW(gamma=0.5)


def squares(metric, table):
    return table**2 if metric == "euclidean" else table


@pytest.mark.parametrize("metric", [*quick(METRICS, "dtw", "twed"), SOFT], ids=str)
def test_series_belong_to_the_nearest_center(metric):
    model = TimeSeriesKMeans(3, metric, random_state=0, max_iter=2 if metric is SOFT else 8).fit(X)
    of = model.metric_ if isinstance(metric, SoftDTW) else metric
    table = pairwise_distances(model.cluster_centers_, X, of).T
    want, labels = inertia(squares(metric, table).tolist())
    assert model.inertia_ == pytest.approx(want, rel=1e-9)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.transform(X), table)
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-12)
    assert model.cluster_centers_.shape == (3, 8)


@pytest.mark.parametrize("metric", [*quick(METRICS, "dtw", "twed"), SOFT], ids=str)
def test_no_iteration_raises_the_inertia(metric):
    start, of = X[[1, 4, 7]], SoftDTW(gamma=0.5, divergence=False) if metric is SOFT else metric
    found = [inertia(squares(metric, pairwise_distances(start, X, of).T).tolist())[0]]  # of one shape all three
    iterations = (1, 2) if metric is SOFT else (1, 2, 4, 9)
    models = [TimeSeriesKMeans(3, metric, init=start, max_iter=n, tol=0.0).fit(X) for n in iterations]
    found += [model.inertia_ for model in models]
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(found))
    assert found[-1] < found[0] or metric == "lcss"
    assert metric is not SOFT or (models[0].metric_ == of and SOFT.divergence)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@given(st.data())
def test_jobs_and_blocks_change_nothing(data):
    """Centers and labels are those of one job, and predictions what the table of all distances says."""
    lengths = st.just(6) if data.draw(st.booleans()) else st.integers(3, 8)
    values = st.integers(0, 2).map(float)  # so that ties are many
    many = st.lists(lengths, min_size=9, max_size=14)
    Z = [np.array(data.draw(st.lists(values, min_size=n, max_size=n))) for n in data.draw(many)]
    metric = data.draw(st.sampled_from(compiled(["dtw", DTW(window=0.9), ERP(g=0.5), "twed"])))
    one_length = len({len(z) for z in Z}) == 1
    weight = np.arange(1.0, len(Z[0]) + 1) if one_length and data.draw(st.booleans()) else None
    k, seed = data.draw(st.integers(1, 6)), data.draw(st.integers(0, 9))
    params = {"n_clusters": k, "metric": metric, "weight": weight, "random_state": seed, "max_iter": 5}
    plain = TimeSeriesKMeans(**params).fit(Z)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sktslib.cluster._clusters.ROWS", min(SIZES["cluster._clusters.ROWS"]))
        model = TimeSeriesKMeans(**params, n_jobs=2).fit(Z)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        for a, b in zip(model.cluster_centers_, plain.cluster_centers_, strict=True):
            np.testing.assert_array_equal(a, b)
        assert (model.inertia_, model.n_iter_) == (plain.inertia_, plain.n_iter_)
        table = model.transform(Z)
        np.testing.assert_array_equal(model.predict(Z), table.argmin(axis=1))
        assert model.score(Z) == -table.min(axis=1).sum()
        medoids = TimeSeriesKMedoids(k, metric, weight=weight, random_state=seed).fit(Z)
        np.testing.assert_array_equal(medoids.predict(Z[::-1]), medoids.labels_[::-1])


@pytest.mark.parametrize("init", [[0, 1, 2], [0, 3, 6], [5, 7, 11]])
def test_of_squared_differences_it_is_scikit_learn_s(init):
    ours = TimeSeriesKMeans(3, "euclidean", init=X[init], tol=0.0).fit(X)
    theirs = KMeans(3, init=X[init], n_init=1, tol=0.0, algorithm="lloyd").fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-12, atol=1e-12)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    assert ours.score(X) == pytest.approx(theirs.score(X))
    medians = TimeSeriesKMeans(1, "manhattan").fit(X).cluster_centers_[0]
    np.testing.assert_array_equal(medians, np.median(X, axis=0))


def test_the_farthest_series_becomes_the_center_of_an_empty_cluster():
    Z = np.array([[0.0, 0], [1, 1], [0, 1], [9, 9], [10, 12]])
    model = TimeSeriesKMeans(3, init=np.array([[0.0, 0], [99, 99], [99, 99]]), max_iter=1).fit(Z)
    np.testing.assert_array_equal(model.cluster_centers_[1], [10, 12])  # then the farthest of the rest
    assert len(set(model.labels_)) == 3
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\) found smaller than n_clusters \(3\)"):
        copies = TimeSeriesKMeans(3, random_state=0).fit([[1.0, 2], [1, 2], [5, 5], [5, 5]])
    assert (copies.inertia_, len(set(copies.labels_))) == (0.0, 2)


def test_a_soft_cluster_stays_empty_where_its_series_costs_less_with_another_center():
    Z, of = np.array([[1.0, -1, 1, -1], [0, 0, 0, 0]]), SoftDTW(gamma=2.0, divergence=False)
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        model = TimeSeriesKMeans(2, SoftDTW(gamma=2.0), init=Z, max_iter=1).fit(Z)
    (own, other), _ = pairwise_distances(Z, Z, of)
    assert other < own
    np.testing.assert_array_equal(model.labels_, [1, 1])
    labels = TimeSeriesKMeans(2, SoftDTW(gamma=1.0), init=Z, max_iter=1).fit(Z).labels_
    np.testing.assert_array_equal(labels, [0, 1])


def test_a_center_is_moved_to_another_cluster():
    """Two centers in one of two groups: no assignment moves either of them to the other group of three."""
    Z = np.repeat([[0.0, 0, 0, 0], [1, 1, 1, 1], [40, 40, 40, 40], [60, 60, 60, 60]], 3, axis=0)
    Z += 0.01 * np.random.default_rng(0).normal(size=Z.shape)
    model = TimeSeriesKMeans(3, init=Z[[0, 3, 6]]).fit(Z)
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], np.arange(12) < 6)
    assert len(set(model.labels_[6:9])) == len(set(model.labels_[9:])) == 1
    assert model.inertia_ == pytest.approx(6, rel=0.02)


def test_series_of_any_lengths_and_channels():
    model = TimeSeriesKMeans(3, random_state=0).fit(RAGGED)
    assert isinstance(model.cluster_centers_, list)
    assert all(z.shape[1] == 2 for z in model.cluster_centers_)
    table = pairwise_distances(model.cluster_centers_, RAGGED, channels_first=False).T
    assert model.inertia_ == pytest.approx(inertia(table.tolist())[0])
    turned = TimeSeriesKMeans(3, random_state=0, channels_first=True).fit([x.T for x in RAGGED])
    for a, b in zip(turned.cluster_centers_, model.cluster_centers_, strict=True):
        np.testing.assert_array_equal(a.T, b)
    block = np.array([x[:5] for x in RAGGED])
    assert TimeSeriesKMeans(2, "euclidean", random_state=0).fit(block).cluster_centers_.shape == (2, 5, 2)
    assert list(model.get_feature_names_out()) == [f"timeserieskmeans{k}" for k in range(3)]


def test_starts_are_compared_and_drawn_and_what_is_given_is_kept():
    kept, start = X.copy(), X[:3].copy()
    model = TimeSeriesKMeans(3, init=start).fit(X)
    np.testing.assert_array_equal(X, kept)
    np.testing.assert_array_equal(start, kept[:3])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    model.cluster_centers_[:] = 0
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    drawn = {"n_clusters": 3, "metric": "euclidean", "init": "random"}
    one = [TimeSeriesKMeans(**drawn, random_state=s).fit(X).inertia_ for s in (*range(6), 0)]
    several = TimeSeriesKMeans(**drawn, n_init=6, random_state=0).fit(X)
    assert one[0] == one[6] and several.inertia_ <= one[0] and several.inertia_ < max(one)


@pytest.mark.parametrize(
    ("params", "series", "message"),
    [
        ({"n_clusters": 4}, X[:3], r"at least 'n_clusters' series. Got n_samples=3 .* Lower 'n_clusters'"),
        ({"init": "kmeans++"}, X, r"'init' parameter of .* or an array-like.* Did you mean 'k-means\+\+'"),
        ({"n_clusters": 2, "init": X[:3]}, X, r"one center per cluster, 2. Got 3; set n_clusters=3"),
        ({"n_clusters": 1, "init": np.zeros((1, 8, 2))}, X, "channel"),
        ({"random_state": -1}, X, "'random_state' parameter of"),
        ({"n_clusters": 1, "metric": SoftDTW(window=0.1)}, [X[0], X[1][:2]], "finite distance from some center"),
        ({"n_clusters": 0}, X, "'n_clusters' parameter"),
        ({"weight": [1.0, 2]}, [[0.0, 1], [1.0, 2, 3]], "'weight' needs series of one length"),
    ],
)
def test_errors_say_what_is_wrong(params, series, message):
    with pytest.raises(ValueError, match=message):
        TimeSeriesKMeans(**params).fit(series)


@pytest.mark.parametrize("metric", ["dtw", "twed", "soft_dtw"])
def test_centers_keep_the_lengths_that_are_given(metric):
    rng = np.random.default_rng(3)
    Z = [k % 3 * 5 + rng.normal(size=n) for k, n in enumerate((6, 9, 4, 12, 7, 10, 5, 8, 11))]
    for lengths in ((6, 9, 4), (20, 3, 7)):
        init = [rng.normal(size=n) for n in lengths]  # all near one group, so that centers are moved elsewhere
        model = TimeSeriesKMeans(3, metric, init=init).fit(Z)
        assert [len(z) for z in model.cluster_centers_] == [*lengths]


# ------------------------------------------------------------------------------------------------------------ k-medoids

NINE = RNG.normal(size=(9, 6)).round(2)


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
    D = pairwise_distances(NINE, metric=metric)
    model = TimeSeriesKMedoids(3, metric, n_init=10, random_state=0).fit(NINE)
    assert model.inertia_ == pytest.approx(best_medoids(D.tolist(), 3))
    np.testing.assert_array_equal(model.cluster_centers_, NINE[model.medoid_indices_])
    want, labels = inertia(D[model.medoid_indices_].T.tolist())
    assert model.inertia_ == pytest.approx(want)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.predict(NINE), labels)
    np.testing.assert_array_equal(model.transform(NINE), D[:, model.medoid_indices_])
    assert model.score(NINE) == pytest.approx(-model.inertia_)
    jobs = TimeSeriesKMedoids(3, metric, n_init=10, random_state=0, n_jobs=2).fit(NINE)
    np.testing.assert_array_equal(jobs.medoid_indices_, model.medoid_indices_)


def test_given_medoids_lengths_weights_and_gaps():
    ragged = [np.arange(n, dtype=float) for n in (3, 9, 4, 8, 5)]
    model = TimeSeriesKMedoids(2, init=[0, 1], max_iter=1).fit(ragged)
    assert model.n_iter_ == 1
    assert [len(z) for z in model.cluster_centers_] == [len(ragged[k]) for k in model.medoid_indices_]
    w = np.arange(1.0, 7)
    D = pairwise_distances(NINE, NINE, weight=w)
    found = TimeSeriesKMedoids(2, weight=w, n_init=9, random_state=0).fit(NINE)
    assert found.inertia_ == pytest.approx(best_medoids(D.tolist(), 2))
    gaps = NINE.copy()
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
        ([0, 0], r"2 different indices of the 9 series, one per cluster. Got \[0, 0\]"),
        ([0, 9], r"Got \[0, 9\]"),
        ([0], "Got"),
        (NINE[:2], "use TimeSeriesKMeans"),
        ("randm", "Did you mean 'random'"),
    ],
)
def test_errors_of_medoids_say_what_is_wrong(init, message):
    with pytest.raises(ValueError, match=message):
        TimeSeriesKMedoids(2, init=init).fit(NINE)


def test_of_equally_near_medoids_each_belongs_to_itself():
    NINE = [[0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0], [2, 2]]
    model = TimeSeriesKMedoids(3, "dtw", random_state=0).fit(NINE)  # without a warning of empty clusters
    np.testing.assert_array_equal(model.labels_[model.medoid_indices_], [0, 1, 2])
    assert model.inertia_ == 0

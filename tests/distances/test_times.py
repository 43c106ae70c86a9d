"""Times of pairs and collections: given, or in the index of pandas and xarray objects."""

import numpy as np
import pandas as pd
import pytest
from inputs import identical, refused

from sktslib import QuerySearcher, Sampling, get_distance_dict
from sktslib.cluster import TimeSeriesKMedoids
from sktslib.distances import DTW, TWED, nearest_neighbors, pairwise_distances, twed
from sktslib.distances.compute_distance import time_series_distance
from sktslib.neighbors import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesTransformer,
    PairwiseDistances,
    ShapeletTransform,
)


def dated(values, *seconds):
    return pd.Series(values, index=pd.to_datetime(list(seconds), unit="s"), dtype=float)


A, B, C = dated([0, 1, 2], 0, 10, 20), dated([0, 1, 2], 0, 1, 2), dated([0, 3, 2, 2], 0, 1, 2, 4)
METRIC = TWED(nu=1.0, lmbda=0.0)


def by_hand(x, y):
    seconds = [(a.index - a.index[0]).total_seconds().to_numpy() for a in (x, y)]
    return METRIC(x.to_numpy(), y.to_numpy(), tx=seconds[0], ty=seconds[1])


def test_pairs():
    assert METRIC(A, B) == by_hand(A, B) == twed(A, B, None, None, nu=1.0, lmbda=0.0) == 22.0
    assert METRIC(A, B, tx=A.index, ty=B.index) == METRIC.distance(A, B) == 22.0
    cfg = get_distance_dict(["twed"])
    cfg["elastic"]["Time Warp Edit Distance"]["parameters"] |= {"nu": 1.0, "lmbda": 0.0}
    assert time_series_distance(cfg, A, B)["Distance"].tolist() == [22.0]
    assert METRIC(A, B.to_numpy()) == METRIC(A.to_numpy(), B) == 0.0  # of one alone they mean nothing
    assert METRIC(A.reset_index(drop=True), B) == 0.0
    assert METRIC(A.set_axis([0.0, 10.0, 20.0]), B.set_axis([0.0, 1.0, 2.0])) == 22.0
    assert DTW()(A, B) == DTW()(A[::-1], B[::-1]) == 0.0  # no index is read
    refused(lambda: METRIC(A[::-1], B), "must be strictly increasing")
    with pytest.warns(UserWarning, match="floats that do not increase"):
        assert METRIC(A.set_axis([0.0, 20.0, 10.0]), B.set_axis([0.0, 1.0, 2.0])) == 0.0
    refused(lambda: METRIC(A, B.set_axis([0.0, 1.0, 2.0])), "of one kind, numbers or dates")


def test_collections():
    X = [A, B, C]
    want = np.array([[by_hand(x, y) for y in X] for x in X])
    arrays, times = [x.to_numpy() for x in X], [x.index for x in X]
    np.testing.assert_array_equal(pairwise_distances(X, metric=METRIC), want)
    np.testing.assert_array_equal(pairwise_distances(X, metric=METRIC, n_jobs=2), want)
    np.testing.assert_array_equal(pairwise_distances(arrays, metric=METRIC, times=times), want)
    np.testing.assert_array_equal(pairwise_distances(X, [C, A], METRIC), want[:, [2, 0]])
    np.testing.assert_array_equal(
        pairwise_distances(arrays, [arrays[2]], METRIC, times=[times, times[2:]]), want[:, 2:]
    )
    even = pairwise_distances(arrays, metric=METRIC, times=Sampling(2.0))
    np.testing.assert_array_equal(
        even, pairwise_distances(arrays, metric=METRIC, times=[np.arange(4)[: len(x)] / 2 for x in X])
    )
    np.testing.assert_array_equal(pairwise_distances(X, metric="dtw"), pairwise_distances(arrays))
    mixed = [A, B.to_numpy(), C]
    table = [[METRIC(x, y) for y in mixed] for x in mixed]
    np.testing.assert_array_equal(pairwise_distances(mixed, metric=METRIC), table)
    np.fill_diagonal(want, np.inf)
    distances, indices = nearest_neighbors(X, metric=METRIC, n_neighbors=2)
    np.testing.assert_array_equal(distances, np.sort(want, axis=1)[:, :2])
    np.testing.assert_array_equal(indices, np.argsort(want, axis=1, kind="stable")[:, :2])
    np.testing.assert_array_equal(nearest_neighbors(arrays, metric=METRIC, n_neighbors=2, times=times).indices, indices)


def test_estimators():
    X = [A, B, C]
    want = pairwise_distances(X, metric=METRIC)
    np.testing.assert_array_equal(PairwiseDistances(METRIC).fit(X).transform([C, A]), want[[2, 0]])
    np.testing.assert_array_equal(KNeighborsTimeSeriesClassifier(METRIC).fit(X, [0, 1, 2]).predict([B, C]), [1, 2])
    graph = KNeighborsTimeSeriesTransformer(METRIC, n_neighbors=2).fit_transform(X).toarray()
    np.testing.assert_array_equal(graph, want)
    assert TimeSeriesKMedoids(1, METRIC).fit(X).inertia_ == want.sum(axis=1).min()
    long = dated(np.sin(np.arange(30.0)), *np.cumsum(1 + np.arange(30) % 3))
    located = ShapeletTransform(METRIC, queries=[A, C]).fit([long]).locate([long])
    for k, query in enumerate((A, C)):
        match = QuerySearcher(METRIC).fit(query).search(long)
        assert (located.start[0, k], located.end[0, k]) == (match.start[0], match.end[0])
        assert located.distance[0, k] == match.distance[0]


def test_wrong_times():
    X = [np.arange(3.0), np.arange(4.0)]
    for times, message in (
        ([[0, 1, 2]], "one entry for each of the 2 series"),
        ([[0, 1, 2], [0, 1, 2]], r"times of X\[1\]"),
        ([[0, 1, 2], A.index], "of one kind"),
    ):
        with pytest.raises(ValueError, match=message):
            pairwise_distances(X, metric=METRIC, times=times)
    with pytest.raises(ValueError, match=r"use a distance that needs them, such as metric='twed'"):
        pairwise_distances(X, times=[[0, 1, 2], [0, 1, 2, 3]])
    assert pairwise_distances(X, metric="twed", times=[[0, 1, 2], [0, 1, 2, 3]]).shape == (2, 2)  # the way out


def test_coordinates_of_xarray():
    xarray = pytest.importorskip("xarray")
    a, b = (xarray.DataArray(x.to_numpy(), coords={"time": x.index}, dims="time") for x in (A, B))
    assert METRIC(a, b) == 22.0
    long = xarray.DataArray(np.sin(np.arange(40.0)), coords={"t": np.cumsum(1.0 + np.arange(40) % 3)}, dims="t")
    match = QuerySearcher(METRIC).fit(np.array([0.0, 1, 2]), times=[0, 1, 2.0]).search(long)
    want = QuerySearcher(METRIC).fit(np.array([0.0, 1, 2]), times=[0, 1, 2.0]).search(long.to_numpy(), times=long.t)
    assert match.to_frame().equals(want.to_frame())


def test_months_large_integers_and_text():
    months = np.arange("2024-01", "2024-04", dtype="datetime64[M]")
    days = months.astype("datetime64[D]")
    x = np.array([0.0, 1, 5])
    assert METRIC(x, A, tx=months, ty=A.index) == METRIC(x, A, tx=days, ty=A.index)
    years = np.arange("2020", "2023", dtype="datetime64[Y]")
    match = QuerySearcher("dtw").fit([1, 5]).search(x, times=years)
    assert match.start_time[0] == np.datetime64("2021")
    steps = np.arange(3).astype("timedelta64[M]")
    with pytest.raises(TypeError, match="must be durations of a fixed length"):
        QuerySearcher("dtw").fit([1, 5]).search(x, times=steps)
    assert len(QuerySearcher("dtw").fit([1, 5]).search(x, times=np.datetime64("2024-01") + steps))  # the way out
    refused(lambda: QuerySearcher("dtw", max_gap=np.timedelta64(1, "M")).fit([1, 5]), "max_gap")
    nanoseconds = 1_700_000_000_000_000_000 + 3 * np.arange(8)
    y = [0, 0, 1, 5, 0, 1, 5, 0]
    found = QuerySearcher("twed", n_matches=2).fit([0, 1, 5], times=[0, 3, 6]).search(y, times=nanoseconds)
    want = QuerySearcher("twed", n_matches=2).fit([0, 1, 5], times=[0, 3, 6]).search(y, times=3 * np.arange(8))
    identical(found, want, ("start", "distance"))
    assert found.start_time[0] == nanoseconds[found.start[0]]
    stream = QuerySearcher("twed", threshold=9.0).fit([0, 1, 5], times=[0, 3, 6]).stream()
    parts = [stream.update(y[k : k + 3], times=nanoseconds[k : k + 3]).start for k in (0, 3, 6)] + [
        stream.flush().start
    ]
    whole = QuerySearcher("twed", threshold=9.0).fit([0, 1, 5], times=[0, 3, 6]).search(y, times=nanoseconds)
    np.testing.assert_array_equal(np.concatenate(parts), np.sort(whole.start))
    texts = ["27.10.2024 01:50:00", "10/27/2024", "00:01:40", "27-Oct-2024", "Oct 27, 2024"]
    for index in ([text] * 3 for text in texts):
        with pytest.raises(TypeError, match=r"pandas\.to_datetime"):
            QuerySearcher("dtw").fit([1, 5]).search(pd.Series(x, index=index))
    index = pd.to_datetime(["27.10.2024 01:50", "27.10.2024 01:51", "27.10.2024 01:52"], format="%d.%m.%Y %H:%M")
    assert QuerySearcher("dtw").fit([1, 5]).search(pd.Series(x, index=index)).start_time[0] == index[1]  # the way out
    QuerySearcher("dtw").fit([1, 5]).search(pd.Series(x, index=["a", "b", "c"]))  # names of rows are no times

"""Tables and arrays whose layout is not the one that is meant, and advice that can be followed."""

import warnings

import numpy as np
import pandas as pd
import pytest
from inputs import refused
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.cluster import TimeSeriesKMeans, TimeSeriesKMedoids
from sktslib.distances import DTW, LCSS, barycenter, nearest_neighbors, pairwise_distances
from sktslib.io import Recording
from sktslib.neighbors import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesRegressor,
    KNeighborsTimeSeriesTransformer,
    MetricWeights,
    PairwiseDistances,
    ShapeletTransform,
)

RNG = np.random.default_rng(5)
LENGTHS = {"b": 5, "a": 4, "c": 6}
LONG = pd.DataFrame(
    {
        "case": np.repeat(list(LENGTHS), list(LENGTHS.values())),
        "time": np.concatenate([np.arange(n) for n in LENGTHS.values()]),
        "value": RNG.normal(size=15),
        "other": RNG.normal(size=15),
    }
)
CASES = LONG.set_index(["case", "time"])
SERIES = [part[["value", "other"]].to_numpy() for _, part in LONG.groupby("case", sort=False)]
NUMBERED = LONG.assign(case=np.repeat([7, 3, 5], list(LENGTHS.values())))
nan = np.nan


# ------------------------------------------------------------------------------------------- tables with time in rows
def test_an_index_of_cases_and_times_is_a_collection():
    want = pairwise_distances(SERIES)
    np.testing.assert_array_equal(pairwise_distances(CASES), want)
    np.testing.assert_array_equal(pairwise_distances(CASES, SERIES[:1]), want[:, :1])
    one = pairwise_distances([x[:, 0] for x in SERIES])
    np.testing.assert_array_equal(pairwise_distances(CASES[["value"]]), one)
    np.testing.assert_array_equal(pairwise_distances(CASES["value"]), one)
    for a, b in zip(nearest_neighbors(CASES), nearest_neighbors(SERIES), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(barycenter(CASES), barycenter(SERIES))
    for model in (TimeSeriesKMeans(2, random_state=0), TimeSeriesKMedoids(2, random_state=0)):
        np.testing.assert_array_equal(model.fit(CASES).labels_, model.fit(SERIES).labels_)
    for model in (KNeighborsTimeSeriesClassifier(), KNeighborsTimeSeriesRegressor()):
        np.testing.assert_array_equal(model.fit(CASES, [1, 2, 3]).predict(CASES), [1, 2, 3])
    graph = KNeighborsTimeSeriesTransformer(n_neighbors=1)
    np.testing.assert_array_equal(graph.fit_transform(CASES).toarray(), graph.fit_transform(SERIES).toarray())
    three = pd.concat({"p": CASES, "q": CASES}, names=["person"])
    np.testing.assert_array_equal(pairwise_distances(three), np.tile(want, (2, 2)))


@pytest.mark.parametrize(
    ("second", "columns"), [([1, 2], range(24)), (pd.date_range("2024", periods=2), [f"{h:02}:00" for h in range(24)])]
)
def test_an_index_of_two_levels_that_is_none_of_times_is_told(second, columns):
    keys = pd.MultiIndex.from_product([["p", "q", "r"], second], names=["who", "trial"])
    X = pd.DataFrame(RNG.normal(size=(6, 24)), keys, columns)
    with pytest.warns(UserWarning, match="each of its 6 rows is taken for a series") as told:
        assert pairwise_distances(X).shape == (6, 6)
    if isinstance(second, list):
        way_out = str(told[0].message).partition("give them names, ")[2].partition("; if not")[0]
        assert pairwise_distances(eval(way_out, {"X": X}), channels_first=False).shape == (3, 3)


def test_times_of_a_case_must_rise_and_no_case_is_left_out():
    refused(lambda: pairwise_distances(CASES[::-1]), "Sort them, X.sort_index()")
    np.testing.assert_array_equal(pairwise_distances(CASES[::-1].sort_index()), pairwise_distances(CASES.sort_index()))
    keys = pd.MultiIndex.from_arrays([["p", "p", np.nan, np.nan], [0, 1, 0, 1]], names=["who", "time"])
    X = pd.DataFrame({"value": [1.0, 2, 3, 5]}, keys)
    np.testing.assert_array_equal(pairwise_distances(X), pairwise_distances([[1.0, 2], [3.0, 5]]))


def test_results_have_the_cases_as_index():
    for transformer in (PairwiseDistances(), TimeSeriesKMeans(2, random_state=0), ShapeletTransform()):
        want = clone(transformer).fit_transform(SERIES)
        np.testing.assert_array_equal(clone(transformer).fit_transform(CASES), want)
        transformer.set_output(transform="pandas")
        for table in (transformer.fit_transform(CASES), transformer.transform(CASES)):
            np.testing.assert_array_equal(table, want)
            assert table.index.tolist() == list(LENGTHS)
            assert table.index.name == "case"


def line_to_type(X, call=pairwise_distances):
    """What the warning about a long table says to pass."""
    with pytest.warns(UserWarning, match="column 'case' of 'X' repeats") as told:
        call(X)
    assert len(told) == 1
    return str(told[0].message).partition("pass ")[2].partition("; if not")[0]


@pytest.mark.parametrize("call", [pairwise_distances, lambda X: TimeSeriesKMeans(2, random_state=0).fit(X)])
def test_a_long_table_is_told_and_the_line_to_type_works(call):
    X, want = NUMBERED, pairwise_distances(SERIES)
    np.testing.assert_array_equal(pairwise_distances(eval(line_to_type(X, call), {"X": X})), want)
    way_out = line_to_type(X.drop(columns="time")).replace("X.", "X.drop(columns='time').")
    np.testing.assert_array_equal(pairwise_distances(eval(way_out, {"X": X})), want)
    X = NUMBERED.sort_values(["time", "case"], kind="stable")  # its cases by turns, as some devices write them
    by_turns = pairwise_distances([SERIES[1], SERIES[2], SERIES[0]])  # 3, 5, 7
    np.testing.assert_array_equal(pairwise_distances(eval(line_to_type(X), {"X": X})), by_turns)
    X = pytest.importorskip("polars").DataFrame(NUMBERED)
    np.testing.assert_array_equal(pairwise_distances(eval(line_to_type(X), {"X": X})), want)


def test_series_in_columns_beside_an_index_of_times():
    X = pd.DataFrame(RNG.normal(size=(20, 3)), index=pd.date_range("2024", periods=20, freq="h"), columns=list("abc"))
    with pytest.warns(UserWarning, match="'X' has times in its index") as told:
        rows = pairwise_distances(X)
    text = str(told[0].message)
    columns = eval(text.partition("pass ")[2].partition("; if its")[0], {"X": X})
    np.testing.assert_array_equal(pairwise_distances(columns), pairwise_distances(X.to_numpy().T))
    np.testing.assert_array_equal(pairwise_distances(eval(text.rpartition("pass ")[2].rstrip("."), {"X": X})), rows)


def test_what_is_one_series_a_row_is_silent():
    days = pd.DataFrame(RNG.normal(size=(6, 24)), index=pd.date_range("2024", periods=6))
    forms = ("h{}", "{}", "hour {}", "{}:00 am", "{:02}:00:00.000", "{:02}:00")
    for columns in (range(24), np.arange(24) / 2, *([form.format(h) for h in range(24)] for form in forms)):
        assert pairwise_distances(days.set_axis(columns, axis=1)).shape == (6, 6)
    plain = pd.DataFrame(RNG.integers(0, 3, size=(8, 5)), columns=list("abcde"))
    assert pairwise_distances(plain).shape == (8, 8)
    steps = plain.assign(a=np.repeat([0, 1], 4))  # a first point that repeats, and no time that starts again
    assert pairwise_distances(steps).shape == (8, 8)


# ------------------------------------------------------------------------------------------------------------- layouts
def test_pairs_of_one_point_and_many_channels():
    x, y = np.ones((1, 9)), np.zeros((1, 9))
    with pytest.warns(UserWarning, match=r"hold one point of 9 channels each, shape \(1, 9\)"):
        assert DTW()(x, y) == 9.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LCSS(eps=0.1)(x[0], y[0]) == 1.0  # the way out
        DTW()(np.ones((2, 9)), np.ones((1, 9)))


@pytest.mark.parametrize(
    ("kind", "estimator"),
    [
        *((kind, QuerySearcher("euclidean")) for kind in ("memmap", "h5py", "dask", "xarray", "array")),
        ("memmap", QuerySearcher("dtw")),
        ("memmap", QuerySegmenter("dtw")),
    ],
)
def test_channels_before_time(kind, estimator, tmp_path):
    X = RNG.normal(size=(3, 200))
    stored = X
    if kind == "memmap":
        np.save(tmp_path / "x.npy", X)
        stored = np.load(tmp_path / "x.npy", mmap_mode="r")
    elif kind == "h5py":
        stored = pytest.importorskip("h5py").File(tmp_path / "x.h5", "w").create_dataset("x", data=X)
    elif kind == "dask":
        stored = pytest.importorskip("dask.array").from_array(X)
    elif kind == "xarray":
        stored = pytest.importorskip("xarray").DataArray(X, dims=("channel", "sample"))
    estimator.fit(X.T[50:70])
    find = estimator.segment if isinstance(estimator, QuerySegmenter) else estimator.search
    refused(lambda: find(stored), "X has 200 features", "so pass X.T.")
    assert len(find(stored.T if kind != "h5py" else stored[:].T))  # the way out


# -------------------------------------------------------------------------------------------------- missing values
def test_advice_on_missing_values():
    padded = np.array([[1.0, 2, nan, nan], [1, 2, 3, 4]])
    for call in (
        lambda: pairwise_distances(padded),
        lambda: pairwise_distances(list(padded)),
        lambda: pairwise_distances(padded[:, :, None]),
        lambda: TimeSeriesKMeans(1).fit(padded),
    ):
        refused(call, "give a list of arrays of their own lengths, x[~numpy.isnan(x)]")
    refused(lambda: DTW()(padded[0], padded[1]), "Cut the series there")  # one series is not told to be of several
    assert pairwise_distances([x[~np.isnan(x)] for x in padded])[0, 1] == DTW()([1, 2], [1, 2, 3, 4])  # the way out
    both = np.stack([padded, padded], axis=2)
    refused(lambda: pairwise_distances(both), "with channels x[~numpy.isnan(x).any(axis=1)]")
    assert pairwise_distances([x[~np.isnan(x).any(axis=1)] for x in both]).shape == (2, 2)
    inside = [[1.0, nan, 2], [1, 2, 3]]
    for call in (lambda: TimeSeriesKMeans(1).fit(inside), lambda: MetricWeights().fit(inside, [0, 1])):
        assert "nan_policy" not in refused(call, "must be finite")
    refused(lambda: TimeSeriesKMedoids(1, "euclidean").fit(inside), "set nan_policy='omit', with a lockstep metric")
    TimeSeriesKMedoids(1, "euclidean", nan_policy="omit").fit(inside)  # the way out
    refused(lambda: KNeighborsTimeSeriesRegressor(nan_policy="omit").fit(inside, [0, 1]), "needs a lockstep metric")
    masked = np.ma.masked_invalid(inside[0])
    refused(lambda: DTW()([1.0, 2], masked), "pass y.filled(numpy.nan)")
    found = QuerySearcher("euclidean", nan_policy="omit").fit([1.0, 2]).search(masked.filled(nan))  # the way out
    assert len(found)


def test_a_series_shorter_than_a_learned_query_is_named():
    X, y = RNG.normal(size=(6, 9)), [0, 1] * 3
    model = ShapeletTransform("euclidean", n_queries=1, query_lengths=(5, 5), random_state=0).fit(X, y)
    refused(lambda: model.transform([X[0], X[1][:3]]), "longest query, 5. Got 3 in 'X[1]'", "query_lengths=(2, 3)")
    assert model.set_params(query_lengths=(2, 3)).fit(X, y).transform([X[0], X[1][:3]]).shape == (2, 1)  # the way out
    refused(lambda: ShapeletTransform("euclidean", queries=[X[0]]).fit(X).transform([X[0][:3]]), "give shorter queries")


# ------------------------------------------------------------------------------------------------------- segmentations
def test_one_of_several_queries_is_longer_than_the_recording(tmp_path):
    short, long = RNG.normal(size=5), RNG.normal(size=50)
    y = np.concatenate([RNG.normal(size=9), short, RNG.normal(size=9)])
    both, alone = QuerySegmenter("euclidean").fit([short, long]), QuerySegmenter("euclidean").fit([short])
    found = both.segment(y)
    np.testing.assert_array_equal(found.start[found.query == 0], found.start)
    assert 9 in found.start
    stream = both.stream()
    parts = [stream.update(y), stream.flush()]
    np.testing.assert_array_equal(found.start, np.concatenate([part.start for part in parts]))
    np.save(tmp_path / "y.npy", y)
    np.testing.assert_array_equal(both.segment(np.load(tmp_path / "y.npy", mmap_mode="r")).start, found.start)
    message = refused(lambda: QuerySegmenter("euclidean").fit(long).segment(y), "use an elastic metric such as 'dtw'")
    assert "mode" not in message
    with pytest.warns(UserWarning, match="should not be longer"):
        QuerySegmenter("dtw").fit(long).segment(y)  # the way out
    assert len(alone.segment(y))


# -------------------------------------------------------------------------------------------------- names of parameters
def test_names_of_other_packages():
    X = RNG.normal(size=(6, 9))
    with pytest.raises(TypeError, match=r"'distance'\. Here it is metric='dtw'"):
        KNeighborsTimeSeriesClassifier(distance="dtw")
    for function in (pairwise_distances, nearest_neighbors):
        with pytest.raises(TypeError, match=r"metric_params=\{'window': 0.1\}"):
            function(X, metric="dtw", window=0.1)
        assert function(X, metric="dtw", metric_params={"window": 0.1}) is not None  # the way out
        with pytest.raises(TypeError, match="Here it is metric='dtw'"):
            function(X, distance="dtw")
        with pytest.raises(TypeError, match="a distance is given by its keyword, metric='dtw'"):
            function(X, "dtw")
    for call in (
        lambda: KNeighborsTimeSeriesClassifier("precomputed").fit(X, [0, 1] * 3),
        lambda: pairwise_distances(X, metric="precomputed"),
    ):
        refused(call, "scikit-learn's own estimators with metric='precomputed': KNeighborsClassifier")
    KNeighborsClassifier(1, metric="precomputed").fit(pairwise_distances(X), [0, 1] * 3)  # the way out
    y = np.repeat([0, 1, 0], 10)
    refused(lambda: QuerySearcher().fit(RNG.normal(size=(30, 1)), y[:, None]), "pass y.ravel()")
    QuerySearcher().fit(RNG.normal(size=(30, 1)), y[:, None].ravel())  # the way out


def test_a_lazy_frame_is_collected():
    polars = pytest.importorskip("polars")
    lazy = polars.DataFrame(RNG.normal(size=(6, 9))).lazy()
    refused(lambda: pairwise_distances(lazy), "Got a lazy frame, LazyFrame; pass X.collect()", error=TypeError)
    assert len(pairwise_distances(lazy.collect()))  # the way out


def test_a_matrix_that_is_too_large():
    X = np.zeros((300_000, 1, 1))
    with pytest.raises(MemoryError, match=r"300000 by 300000 distances take 720 GB.*nearest_neighbors"):
        pairwise_distances(X, metric="euclidean", channels_first=False)


@pytest.mark.parametrize("use", [pairwise_distances, KNeighborsTimeSeriesClassifier().fit, TimeSeriesKMeans().fit])
def test_a_recording_is_no_collection(use):
    X = Recording(np.arange(400.0).reshape(200, 2))
    with pytest.raises(
        ValueError, match=r"rows are 200 samples\. Pass its parts, .*; if each row is a series, X\.values"
    ):
        use(X, np.zeros(200)) if "fit" in str(use) else use(X)
    parts = pairwise_distances([X[:100], X[100:200]])
    assert parts[0, 1] == pairwise_distances([X.values[:100], X.values[100:]])[0, 1] > 0

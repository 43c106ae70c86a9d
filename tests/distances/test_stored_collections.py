"""Collections that are not in memory: results of any parts are those of the same collection in memory."""

from pickle import dumps, loads

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import small_sizes, unmeant

from sktslib.cluster import TimeSeriesKMeans
from sktslib.distances import ADTW, GAK, LCSS, Mixed, SoftDTW, barycenter, nearest_neighbors, pairwise_distances
from sktslib.distances import _barycenters as barycenter_methods
from sktslib.distances import _collection as collections
from sktslib.distances._collection import StoredCollection, as_collection, lengths_of
from sktslib.neighbors import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesRegressor,
    KNeighborsTimeSeriesTransformer,
    PairwiseDistances,
    ShapeletTransform,
)

pytestmark = unmeant
LIMITS = [None, "50 kB", "2 MB"]


class Stored:
    """What can be sliced, and tells how much of it was read at once."""

    def __init__(self, a):
        self.a, self.most = a, 0

    shape = property(lambda self: self.a.shape)

    def __getitem__(self, rows):
        self.most = max(self.most, len(self.a[rows]))
        return self.a[rows]

    def __array__(self, dtype=None, copy=None):
        raise MemoryError("the whole collection must not be read")


def listed(a):
    """The series of an array, each of which is not in memory."""
    return list(map(Stored, a))


@st.composite
def collection(draw, like=None):
    shape = draw(st.integers(1, 9)), draw(st.integers(2, 6)), draw(st.sampled_from([1, 2]))
    if like is not None:
        shape = (shape[0], *like.shape[1:])
    elif draw(st.booleans()):
        shape = shape[:2]
    values = np.random.default_rng(draw(st.integers(0, 99))).normal(size=shape) * 40
    return values.astype(draw(st.sampled_from(["f8", "f4", "i2"])))


@given(data=st.data())
def test_parts_do_not_matter(data):
    with small_sizes(data, "distances._collection.PART", "distances._pairwise.ENTRIES"):
        same_by_parts(data)


def same_by_parts(data):
    X = data.draw(collection())
    Y, metric = data.draw(collection(X)), data.draw(st.sampled_from(["dtw", "lcss", "euclidean", "sbd"]))
    how = {"metric": metric, "n_jobs": data.draw(st.sampled_from([1, 2])), "channels_first": False}
    limit = {"max_memory": data.draw(st.sampled_from(LIMITS))}
    want, k = pairwise_distances(X, Y, **how), min(2, len(Y))
    for one, other in ((Stored(X), Y), (X, Stored(Y)), (Stored(X), Stored(Y)), (listed(X), [*Y]), (X, listed(Y))):
        np.testing.assert_array_equal(pairwise_distances(one, other, **how, **limit), want)
        near = tuple(nearest_neighbors(one, other, n_neighbors=k, **how))
        np.testing.assert_array_equal(near, tuple(nearest_neighbors(X, Y, n_neighbors=k, **how)))
    np.testing.assert_array_equal(pairwise_distances(Stored(X), **how, **limit), pairwise_distances(X, **how))
    if len(X) > 1:
        near = tuple(nearest_neighbors(Stored(X), **how))
        np.testing.assert_array_equal(near, tuple(nearest_neighbors(X, **how)))


@given(data=st.data())
def test_series_of_any_lengths_are_read_one_by_one(data):
    channels, rng = data.draw(st.sampled_from([1, 2])), np.random.default_rng(data.draw(st.integers(0, 99)))
    X = [rng.normal(size=(n, channels)) * 9 for n in data.draw(st.lists(st.integers(1, 7), min_size=2, max_size=9))]
    Y = [rng.normal(size=(n, channels)) * 9 for n in data.draw(st.lists(st.integers(1, 7), min_size=2, max_size=9))]
    if channels == 1 and data.draw(st.booleans()):
        X, Y = [x[:, 0] for x in X], [y[:, 0] for y in Y]
    how = {"metric": data.draw(st.sampled_from(["dtw", "lcss", "euclidean"])), "channels_first": False}
    want, near = pairwise_distances(X, Y, **how), tuple(nearest_neighbors(Y, X, n_neighbors=2, **how))
    with small_sizes(data, "distances._collection.PART", "distances._pairwise.ENTRIES", "distances._nearest.ROWS"):
        stored = listed(X)
        mixed = [*stored[:1], *X[1:]]  # all but one in memory
        for one, other in ((stored, Y), (mixed, Y), (stored, listed(Y))):
            np.testing.assert_array_equal(pairwise_distances(one, other, **how), want)
            np.testing.assert_array_equal(tuple(nearest_neighbors(other, one, n_neighbors=2, **how)), near)
        np.testing.assert_array_equal(pairwise_distances(stored, **how), pairwise_distances(X, **how))


@pytest.fixture
def monkeypatch_of_parts(monkeypatch):
    return lambda size: monkeypatch.setattr(collections, "PART", size)


RNG = np.random.default_rng(0)
X, Y, LABELS = RNG.normal(size=(14, 9, 2)).astype("f4"), RNG.normal(size=(11, 9, 2)), np.arange(14) % 3
ESTIMATORS = {
    "classifier": (KNeighborsTimeSeriesClassifier(n_neighbors=2), "predict"),
    "regressor": (KNeighborsTimeSeriesRegressor(n_neighbors=2), "predict"),
    "graph": (KNeighborsTimeSeriesTransformer(n_neighbors=2), "transform"),
    "distances": (PairwiseDistances(), "transform"),
    "omit": (KNeighborsTimeSeriesTransformer("euclidean", n_neighbors=2, nan_policy="omit"), "transform"),
    "queries": (ShapeletTransform(queries=X[:2, :4]), "transform"),
    "mixed": (KNeighborsTimeSeriesTransformer(Mixed({0: LCSS(0.001), 1: ADTW("auto")})), "transform"),
    "auto": (PairwiseDistances(ADTW(omega="auto")), "transform"),
    "k-means": (TimeSeriesKMeans(2, random_state=0), "transform"),
    "labels": (TimeSeriesKMeans(2, random_state=0), "predict"),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_read_by_parts(name, monkeypatch_of_parts):
    model, method = ESTIMATORS[name]
    given = Y.copy()
    if name == "omit":
        given[4, :3] = np.nan
    want = getattr(model.set_params(channels_first=False).fit(X, LABELS), method)(given)
    monkeypatch_of_parts(4 * 8 * 18)
    one, other = Stored(X), Stored(given)
    got = getattr(model.fit(one, LABELS), method)(other)
    equal = (np.asarray(a.toarray() if hasattr(a, "toarray") else a) for a in (got, want))
    np.testing.assert_array_equal(*equal)
    assert one.most == other.most == 4  # series at once


@pytest.mark.filterwarnings("ignore:The 'eps' parameter")
@pytest.mark.parametrize(
    "metric", [Mixed({0: LCSS(0.001), 1: ADTW("auto")}), Mixed({(1, 0): "euclidean"}), LCSS(0.001)]
)
def test_no_metric_holds_the_collection(metric, monkeypatch_of_parts):
    monkeypatch_of_parts(4 * 8 * 18)
    want, near = pairwise_distances(X, Y, metric), tuple(nearest_neighbors(X, Y, metric))
    one, other = Stored(X), Stored(Y)
    np.testing.assert_array_equal(pairwise_distances(one, other, metric), want)
    np.testing.assert_array_equal(tuple(nearest_neighbors(one, other, metric)), near)
    assert one.most == other.most == 4


def test_eps_out_of_scale_is_found_by_parts(monkeypatch_of_parts):
    monkeypatch_of_parts(4 * 8 * 18)
    said = rf"deviation, {np.hypot(*np.std(X, axis=(0, 1), dtype=float)):.3g}\. Got 0\.001: hardly any"
    for read in (X, Stored(X), listed(X)):
        with pytest.warns(UserWarning, match=said):
            pairwise_distances(read, metric=LCSS(0.001))
    categories = np.random.default_rng(1).choice([1.0, 2.0, 900.0], size=(8, 9, 2))
    categories[3, 4] = np.nan
    LCSS(0.001)._warn_of_scale(*2 * [as_collection(Stored(categories), "X", missing=True, part=300)])


@pytest.mark.parametrize(
    ("metric", "how"),
    [("dtw", {}), ("dtw", {"init": "mean"}), ("wdtw", {"weight": [[1.0, 3.0]]}), (SoftDTW(0.5), {"method": "soft"})],
)
@pytest.mark.parametrize("put", [Stored, listed])
def test_barycenters_read_by_parts(metric, how, put, monkeypatch_of_parts, monkeypatch):
    share = np.arange(14) % 5 + 0.5 * (np.arange(14) > 6)  # one weight is 0
    how = {**how, "series_weight": share, "max_iter": 4, "return_cost": True, "channels_first": False}
    whole, cost = barycenter(X, metric, **how)
    monkeypatch.setattr(barycenter_methods, "NUMBERS", 5 * 18)  # sums of five series
    want = barycenter(X, metric, **how)
    np.testing.assert_allclose(want[0], whole, rtol=1e-7)
    np.testing.assert_allclose(want[1], cost, rtol=1e-9)
    monkeypatch_of_parts(4 * 8 * 18)
    for jobs in (1, 2):
        given = put(X)
        for got, one in zip(barycenter(given, metric, n_jobs=jobs, **how), want, strict=True):
            np.testing.assert_array_equal(got, one)
        assert put is listed or given.most == 4


def test_metrics_are_fitted_by_parts(monkeypatch_of_parts):
    monkeypatch_of_parts(4 * 8 * 18)
    for metric, name in ((ADTW("auto"), "omega_"), (GAK(), "sigma_")):
        for read in (Stored(X), listed(X)):
            assert getattr(clone(metric).fit(read), name) == getattr(clone(metric).fit(X), name)
            assert getattr(read, "most", 4) == 4


@pytest.mark.parametrize(("metric", "method"), [("twed", "dba"), ("dtw", "dba")])
def test_barycenters_of_what_is_held(metric, method, in_files):
    how = {"method": method, "max_iter": 2, "random_state": 0, "channels_first": False}
    np.testing.assert_array_equal(barycenter(in_files(X, 3), metric, **how), barycenter(X, metric, **how))


@pytest.fixture(params=["memmap", "h5py", "zarr", "dask"])
def in_files(request, tmp_path):
    """Puts an array where the name says."""

    def put(a, rows):
        if request.param == "memmap":
            a.tofile(tmp_path / "a.bin")
            return np.memmap(tmp_path / "a.bin", a.dtype, "r", shape=a.shape)
        package = pytest.importorskip("dask.array" if request.param == "dask" else request.param)
        if request.param == "dask":
            return package.from_array(a, chunks=(rows, *a.shape[1:]))
        if request.param == "h5py":
            return package.File(tmp_path / "a.h5", "w").create_dataset("a", data=a, chunks=(rows, *a.shape[1:]))
        made = package.open(
            str(tmp_path / "a.zarr"), mode="w", shape=a.shape, dtype=a.dtype, chunks=(rows, *a.shape[1:])
        )
        made[:] = a
        return made

    return put


def test_arrays_in_files(in_files):
    stored = in_files(X, 3)
    np.testing.assert_array_equal(pairwise_distances(stored, Y, channels_first=False), pairwise_distances(X, Y))
    np.testing.assert_array_equal(tuple(nearest_neighbors(Y, stored)), tuple(nearest_neighbors(Y, X)))
    read = as_collection(stored, "X", part=8 * 18 * 8)
    chunks = getattr(stored, "chunks", None)
    assert isinstance(read, StoredCollection)
    assert read.rows == (8 if chunks is None else 6)  # whole chunks
    if hasattr(stored, "file"):
        stored.file.flush()
    np.testing.assert_array_equal([*loads(dumps(read))], as_collection(X, "X"))


def test_lists_of_arrays_in_files(in_files):
    stored = in_files(X, 3)
    series = [stored[k] for k in range(len(X))]  # of h5py, of zarr these are in memory
    np.testing.assert_array_equal(pairwise_distances(series, Y, channels_first=False), pairwise_distances(X, Y))
    read = as_collection(series, "X", part=1)
    if isinstance(stored, np.memmap) or hasattr(stored, "dask"):
        assert isinstance(read, StoredCollection)
        assert isinstance(as_collection([series[0], *X[1:]], "X", part=1), StoredCollection)
    assert lengths_of(read) == [9] * 14
    np.testing.assert_array_equal([*loads(dumps(read))], as_collection(X, "X"))


def test_errors_tell_which_series(monkeypatch_of_parts):
    monkeypatch_of_parts(4 * 8 * 18)
    bad = X.copy()
    bad[9, 1, 0] = np.inf
    with pytest.raises(ValueError, match=r"In the series 8 to 11.*'X' must be finite.*first at index \(1, 1, 0\)"):
        pairwise_distances(Stored(bad), Y)
    bad[2, 1, 0] = np.inf
    with pytest.raises(ValueError, match=r"^'X' must be finite.*first at index \(2, 1, 0\)"):
        pairwise_distances(Stored(bad), Y)
    with pytest.raises(ValueError, match=r"^'Y\[0\]' must have as many channels as"):
        pairwise_distances(Y, Stored(X[:, :, 0]))
    with pytest.raises(ValueError, match="'X' must hold at least one point"):
        pairwise_distances(X[:0], Y)
    with pytest.raises(ValueError, match="one point and 9 channels"):
        pairwise_distances(Stored(X[:, :1, :].repeat(9, axis=2)[:, :, :9]))
    with pytest.raises(ValueError, match="'max_memory' parameter must leave room for one pair"):
        pairwise_distances(X, max_memory=1000)
    with pytest.raises(IndexError, match="14 series"):
        as_collection(Stored(X), "X", part=1)[14]
    with pytest.raises(ValueError, match=r"^'X\[9\]' must be finite.*first at index \(1, 0\)"):
        pairwise_distances(listed(np.delete(bad, 2, axis=0))[:8] + listed(bad)[8:10])
    with pytest.raises(ValueError, match=r"^'X\[3\]' must have as many channels as X\[0\], 2"):
        pairwise_distances([*listed(X)[:3], Stored(X[0, :, 0])])
    with pytest.raises(ValueError, match="one point and 9 channels"):
        pairwise_distances(listed(X[:, :1, :].repeat(9, axis=2)[:, :, :9]))


def test_dask_arrays_of_unknown_length_are_refused():
    da = pytest.importorskip("dask.array")
    a = da.from_array(X, chunks=(3, 9, 2))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        pairwise_distances(a[a[:, 0, 0] > 0], Y)

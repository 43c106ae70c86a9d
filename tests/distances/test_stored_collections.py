"""Collections that are not in memory are read as those in memory are."""

import numpy as np
import pytest
from strategies import unmeant

from sktslib.distances import barycenter, nearest_neighbors, pairwise_distances
from sktslib.distances._collection import as_collection
from sktslib.neighbors import KNeighborsTimeSeriesClassifier

pytestmark = unmeant
RNG = np.random.default_rng(0)
X, Y, LABELS = RNG.normal(size=(14, 9, 2)).astype("f4"), RNG.normal(size=(11, 9, 2)), np.arange(14) % 3


class Stored:
    """What can be sliced, and is no array."""

    def __init__(self, a):
        self.a = a

    shape = property(lambda self: self.a.shape)

    def __getitem__(self, rows):
        return self.a[rows]


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
    how = {"max_iter": 2, "random_state": 0, "channels_first": False}
    np.testing.assert_array_equal(barycenter(stored, "dtw", **how), barycenter(X, "dtw", **how))
    series = [stored[k] for k in range(len(X))]
    np.testing.assert_array_equal(pairwise_distances(series, Y, channels_first=False), pairwise_distances(X, Y))


def test_what_can_be_sliced():
    model = KNeighborsTimeSeriesClassifier(n_neighbors=2, channels_first=False)
    want, got = (model.fit(one, LABELS).predict(other) for one, other in ((X, Y), (Stored(X), Stored(Y))))
    np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match=r"^'Y\[0\]' must have as many channels as"):
        pairwise_distances(Y, Stored(X[:, :, 0]))
    with pytest.raises(ValueError, match="one point and 9 channels"):
        pairwise_distances(Stored(X[:, :1, :].repeat(9, axis=2)[:, :, :9]))


def test_maps_of_floats_stay_in_their_file(tmp_path):
    Y[:, :, :1].tofile(tmp_path / "a.bin")
    stored = np.memmap(tmp_path / "a.bin", float, "c", shape=(11, 9))
    assert np.shares_memory(as_collection(stored, "X")[3], stored)

"""Pyramids of minima and maxima against the samples themselves."""

import threading
import time
from itertools import pairwise

import numpy as np
import pytest

from sktslib._plots import pyramid as _pyramid
from sktslib._plots.pyramid import BLOCK, CHUNK, Pyramid

RNG = np.random.default_rng(3)
N = CHUNK + 12_345  # a chunk, and blocks of no level are whole at the end


def samples(n=N, channels=2, dtype=np.float32):
    y = RNG.normal(size=(n, channels)).cumsum(axis=0).astype(dtype)
    if y.dtype.kind == "f":
        y[1000:3000, 0] = y[n // 2, -1] = np.nan
    return y


def slow(y, first, last, columns, block=1):
    """Minimum and maximum of each column, from the samples of the blocks that it has a part of."""
    out = np.full((2, y.shape[1], columns), np.nan, np.result_type(y, np.float32))
    edges = first + (last - first) / columns * np.arange(columns + 1)
    for k, (a, b) in enumerate(pairwise(edges)):
        a, b = int(a // block), max(int(b // block), int(a // block) + 1)
        for c, values in enumerate(y[a * block : b * block].T):
            values = values[~np.isnan(values)] if y.dtype.kind == "f" else values
            if len(values):
                out[:, c, k] = values.min(), values.max()
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize(
    ("first", "last", "columns", "block"),
    [
        (0, N, 500, 512),
        (0, N, 4, BLOCK * 512),
        (12_345.6, 12_345.6 + 70.2 * 300, 300, BLOCK),
        (100.3, 100.3 + 63.9 * 700, 700, 1),  # shorter columns: each is exactly its samples
        (900, 1100, 400, 1),  # and of half a sample, too
        (N - 50, N, 100, 1),
    ],
)
def test_views_are_the_minimum_and_maximum_of_their_columns(dtype, first, last, columns, block):
    y = samples(dtype=dtype)
    found = Pyramid(y).wait().view(first, last, columns)
    np.testing.assert_array_equal(found, slow(y, first, last, columns, block))


@pytest.mark.parametrize("n", [1, 63, 64, 65, 64 * 8**3, CHUNK, CHUNK + 1])
def test_borders_of_blocks_and_chunks(n):
    y = RNG.normal(size=(n, 1)).astype(np.float32)
    pyramid = Pyramid(y[:, 0]).wait()
    assert pyramid.ready == 1
    np.testing.assert_array_equal(pyramid.ranges, [[y.min(), y.max()]])
    np.testing.assert_array_equal(pyramid.view(0, n, 1)[0], [[y.min()]])


def test_memory_maps_and_lazy_sources_are_read_once(tmp_path):
    y = samples()
    np.save(tmp_path / "y.npy", y)
    read = []

    class Lazy:
        shape = y.shape

        def __getitem__(self, part):
            read.append((part.start, part.stop))
            return y[part]

    expected = Pyramid(y).wait().view(5, N - 5, 900)
    np.testing.assert_array_equal(
        Pyramid(np.load(tmp_path / "y.npy", mmap_mode="r")).wait().view(5, N - 5, 900), expected
    )
    np.testing.assert_array_equal(Pyramid(Lazy()).wait().view(5, N - 5, 900), expected)
    assert read == [(0, 1), (0, CHUNK), (CHUNK, N)]  # the first says how many channels there are


def test_views_answer_while_it_is_built(monkeypatch):
    y, go, rows = samples(), threading.Event(), _pyramid.rows

    class Lazy:
        shape = y.shape

        def __getitem__(self, part):
            return y[part]

    def waiting(values, start, end, step=None):
        if start:  # the last ones
            go.wait(30)
        return rows(values, start, end, step)

    monkeypatch.setattr(_pyramid, "rows", waiting)
    some, lazy = Pyramid(y), Pyramid(Lazy())
    while min(some.ready, lazy.ready) < CHUNK / N:
        time.sleep(0.001)
    assert some.ready == lazy.ready == CHUNK / N
    low, high = some.view(0, N, 500)
    exact = slow(y, 0, N, 500, 512)
    late = np.arange(500) > 500 * CHUNK / N + 1
    np.testing.assert_array_equal(low[:, ~late][:, :-2], exact[0][:, ~late][:, :-2])
    of_samples = slow(y, 0, N, 500)  # of which some stand for the others
    assert late.sum() > 9 and (low >= of_samples[0])[:, late].all() and (high <= of_samples[1])[:, late].all()
    assert np.isnan(lazy.view(0, N, 500)[0][:, late]).all()
    go.set()
    np.testing.assert_array_equal(some.wait().view(0, N, 500), exact)
    np.testing.assert_array_equal(lazy.wait().view(0, N, 500), exact)


def test_a_source_that_cannot_be_read_says_so():
    class Broken:
        shape = (10_000,)

        def __getitem__(self, part):
            if part.stop > 1:
                raise OSError("the disk is gone")
            return np.zeros(1)

    with pytest.raises(OSError, match="the disk is gone"):
        Pyramid(Broken()).wait().view(0, 10_000, 10)

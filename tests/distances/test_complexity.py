"""The factor of complexity-invariant distances: of any size, and by blocks of sums."""

import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import small_sizes, unmeant

from sktslib import QuerySearcher
from sktslib.distances import CIDDTW, nearest_neighbors, pairwise_distances
from sktslib.distances._metrics.dtw import _sums_of_ranges
from sktslib.search import Subsequences

pytestmark = unmeant

BLOCKS = "distances._metrics.dtw.BLOCK"


@given(data=st.data())
def test_sums_of_ranges(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    values = rng.random(data.draw(st.integers(1, 40))) * 10.0 ** rng.integers(-150, 150)
    values[rng.random(len(values)) < 0.3] *= 1e-12  # what running sums would lose beside the others
    start = rng.integers(0, len(values) + 1, 30)
    end = start + rng.integers(0, len(values) + 1 - start)
    with small_sizes(data, BLOCKS):
        got = _sums_of_ranges(values, start, end)
    want = [values[a:b].sum() for a, b in zip(start, end, strict=True)]
    np.testing.assert_allclose(got, want, rtol=1e-14)


@given(data=st.data())
def test_subsequences_across_blocks(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    channels = data.draw(st.sampled_from([1, 2]))
    x, y = rng.normal(size=(7, channels)), rng.normal(size=(60, channels)).round(1)
    y[20:40] = 0.5  # candidates grow as long as the signal is constant
    with small_sizes(data, BLOCKS):
        profile = QuerySearcher("cid_dtw", candidates=Subsequences(min_length=None)).fit(x).profile(y)
    want, start, _ = naive.elastic_search("cid_dtw", x, y)
    np.testing.assert_array_equal(profile.start, start)
    np.testing.assert_allclose(profile.distance, want, rtol=1e-12)


@pytest.mark.slow
def test_any_cutoff_and_threshold():
    x, y = np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 2.0])
    d = CIDDTW()(x, y)
    for cutoff in (1e155, 1.7e308, np.inf):
        assert CIDDTW()(x, y, cutoff=cutoff) == d
        assert CIDDTW()([1, 1, 1], [1, 2, 3], cutoff=cutoff) == np.inf
    z = np.random.default_rng(0).normal(size=2000 if numba.config.DISABLE_JIT else 40_000)
    matches = QuerySearcher("cid_dtw", candidates="windows", threshold=1e200, n_matches=2).fit(z[:20]).search(z)
    assert matches.start[0] == 0 and matches.distance[0] == 0.0


@pytest.mark.parametrize("size", [1e-120, 1e60])
def test_complexities_of_any_size(size):
    series = np.array([0.0, 1.0, 0.0, 2.0]) * size
    assert CIDDTW()(series, np.ones(4)) == np.inf  # one of them is constant
    assert CIDDTW()(series, 3.0 * series) == pytest.approx(size * CIDDTW()(series / size, 3.0 * series / size))


def test_constant_series():
    X = [np.zeros(5), np.ones(3), np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 2.0, 0.0, 2.0])]
    far = pairwise_distances(X, metric="cid_dtw")
    assert far[0, 1] == pytest.approx(np.sqrt(5.0)) and far[2, 3] == pytest.approx(2.0 * np.sqrt(2.0))
    assert np.isinf(far[:2, 2:]).all() and np.isinf(far[2:, :2]).all()
    distances, indices = nearest_neighbors(X, metric="cid_dtw", n_neighbors=2)
    assert indices[:, 0].tolist() == [1, 0, 3, 2] and np.isinf(distances[:, 1]).all()

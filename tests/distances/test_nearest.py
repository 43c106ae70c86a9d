"""Nearest neighbors: those of the full matrix of distances, whatever was pruned."""

import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import BANDED, BANDS, DISTANCES, SEVERAL, has_band, parameters, slow, small_sizes, unmeant, weights

from sktslib.distances import DTW, Mixed, SoftDTW, _nearest, get_metric, nearest_neighbors, pairwise_distances

pytestmark = unmeant


# Of the elastic distances some are compiled. Without the compiler all are run.
COMPILED = ("dtw", "twed", "edr")
NAMES = [name for name in DISTANCES if numba.config.DISABLE_JIT or name in COMPILED or name not in naive.WARPED]


@pytest.fixture(autouse=True)
def always_prune(monkeypatch):
    monkeypatch.setattr(_nearest, "FEW_CELLS", 0)


def check(got, distances, k, *, itself=False):
    if itself:
        distances = distances.copy()
        np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    np.testing.assert_allclose(got.distances, np.take_along_axis(distances, order, axis=1), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(got.indices, order)
    r = got.report
    assert r.bounded + r.abandoned + r.computed == r.pairs == distances.size - itself * len(distances)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_equal_the_full_matrix(name, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    several = [1, 1, 2] if name in SEVERAL else [1]
    m, n, channels = data.draw(st.tuples(st.integers(1, 19), st.integers(1, 19), st.sampled_from(several)))
    n = m if naive.TABLE[name].same_length else n
    p = {**data.draw(parameters(name)), **data.draw(st.sampled_from(BANDS))} if has_band(name) else {}
    metric = get_metric(name, p)
    size = 13 if numba.config.DISABLE_JIT else 90
    X, Y = rng.normal(size=(3, m, channels)), rng.normal(size=(size, n, channels))
    level = 3 * rng.normal(size=(size, 1, 1)) * data.draw(st.integers(0, 1))  # far apart: much is pruned
    X, Y = naive.domain(name, X), naive.domain(name, Y + level)
    w, k = data.draw(weights(m, channels)), data.draw(st.sampled_from([1, 1, 3, size]))
    try:
        want = pairwise_distances(X, Y, metric, weight=w, channels_first=False)
    except ValueError:  # no positive weight is left after interpolation
        return
    check_up_to_rounding(nearest_neighbors(X, Y, metric, k, weight=w, channels_first=False), want, k)


def check_up_to_rounding(got, distances, k):
    """As `check`, where equal distances may differ by rounding: series of one point, or none within eps."""
    want = np.sort(distances, axis=1)[:, :k]
    np.testing.assert_allclose(got.distances, want, rtol=1e-12, atol=1e-13)
    found = np.take_along_axis(distances, got.indices, axis=1)
    np.testing.assert_allclose(found, got.distances, rtol=1e-12, atol=1e-13)
    assert all(len(set(row)) == k for row in got.indices)


@pytest.mark.slow
@pytest.mark.parametrize("p", [{}, *BANDED])
def test_equal_distances_come_by_position(p):
    rng = np.random.default_rng(4)
    few = rng.normal(size=(10, 30)) + rng.normal(size=(10, 1))
    size = 40 if numba.config.DISABLE_JIT else 200
    Y = few[rng.integers(0, 10, size=size)]  # every series many times, in many blocks
    X = few + 0.1 * rng.normal(size=few.shape)
    metric = DTW(**p)
    check(nearest_neighbors(X, Y, metric, size // 8), pairwise_distances(X, Y, metric), size // 8)
    found, of_jobs = (nearest_neighbors(Y, None, metric, 3, n_jobs=jobs) for jobs in (1, 2))
    check(found, pairwise_distances(Y, Y, metric), 3, itself=True)
    for a, b in zip(found, of_jobs, strict=True):
        np.testing.assert_array_equal(a, b)
    assert found.report == of_jobs.report
    zeros = nearest_neighbors(np.zeros((2, 5)), np.zeros((40, 5)), metric, 4)
    np.testing.assert_array_equal(zeros.indices, [[0, 1, 2, 3]] * 2)


# Sums with one elastic term or several, others before and behind, reported as they are or not, and below zero.
MIXED = [
    Mixed({0: "dtw", (1, 2): "dtw"}),
    Mixed({0: "euclidean", 1: DTW(window=0.2), 2: "dtw"}, [1.0, 0.5, 3.0]),
    Mixed({(2, 0): "dtw", 1: "sbd"}),
    Mixed({1: "lcss", 0: "dtw", 2: SoftDTW(divergence=False)}, [2.0, 1.0, 0.1]),
    Mixed({0: "lcss", 1: "cid_dtw", 2: None}),
    Mixed({0: "euclidean", 1: "hamming", 2: "manhattan"}),
]
if numba.config.DISABLE_JIT:
    MIXED += [Mixed({0: "twed", (1, 2): get_metric("edr", {"window": 0.3})}), Mixed({0: "erp", 1: "wddtw", 2: "adtw"})]


@pytest.mark.slow
@pytest.mark.parametrize("metric", MIXED)
@given(data=st.data())
def test_sums_of_distances(metric, data):
    rng, k = np.random.default_rng(data.draw(st.integers(0, 10**6))), data.draw(st.sampled_from([1, 3]))
    size, m = (19, 6) if numba.config.DISABLE_JIT else (40, 13)
    X, Y = rng.normal(size=(4, m, 3)), rng.normal(size=(size, m, 3)) + 2 * rng.normal(size=(size, 1, 3))
    Y[rng.integers(size, size=5)] = X[0]  # equal distances
    if data.draw(st.booleans()):
        Y = [y[: rng.integers(2, m + 1)] for y in Y]
    w = data.draw(st.sampled_from([None, rng.random((1, 3)), np.array([[1.0, 0.0, 1.0]]), rng.random((m, 3))]))
    want = pairwise_distances(X, Y, metric, weight=w, channels_first=False)
    kept = pairwise_distances(Y, [*Y], metric, channels_first=False)  # both halves, which may differ by rounding
    with small_sizes(data, *(f"distances._nearest.{size}" for size in ("QUERIES", "MANY_QUERIES", "ROWS"))):
        found = nearest_neighbors(X, Y, metric, k, weight=w, channels_first=False)
        exactly(found, want, k)
        exactly(nearest_neighbors(Y, None, metric, k, channels_first=False), kept, k, itself=True)


def exactly(got, distances, k, *, itself=False):
    check(got, distances, k, itself=itself)
    np.testing.assert_array_equal(got.distances, np.take_along_axis(distances, got.indices, axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 10**9])
@pytest.mark.parametrize("name", NAMES)
def test_near_ties_come_in_the_order_of_the_matrix_to_the_last_digit(name, few, monkeypatch):
    monkeypatch.setattr(_nearest, "FEW_CELLS", few)
    rng = np.random.default_rng(8)
    size, n = (4, 11) if numba.config.DISABLE_JIT else (12, 16)
    several = [(3, False)] if name in SEVERAL else []
    for channels, ragged in ((1, False), (1, True), *several):
        base = np.cumsum(rng.normal(size=(n, channels)), axis=0)
        near = [base + 0.3 * rng.permutation(base) for _ in range(size)]
        near += [a + 1e-15 * rng.normal(size=a.shape) for a in near]
        if ragged and not naive.TABLE[name].same_length:
            near = [a[rng.integers(0, 9) :] for a in near]
        X = [base + 0.1 * rng.normal(size=base.shape) for _ in range(3)]
        X, near = ([naive.domain(name, a) for a in some] for some in (X, near))
        for p in [{}, *([{"window": 0.4}, {"p": 3.0, "lmbda": 0.01}] if name == "twed" else [])]:
            for queries, others in ((X, near), (near, None)):
                matrix = pairwise_distances(queries, others, name, metric_params=p)
                k = len(near) - 1
                if others is None:
                    np.fill_diagonal(matrix, np.nan)  # sorted behind everything
                order = np.argsort(matrix, axis=1, kind="stable")[:, :k]
                got = nearest_neighbors(queries, others, name, k, metric_params=p)
                np.testing.assert_array_equal(got.indices, order)
                np.testing.assert_array_equal(got.distances, np.take_along_axis(matrix, order, axis=1))


@pytest.mark.parametrize("metric", ["dtw", *slow(DTW(window=0.1))])
def test_what_is_far_is_pruned(metric):
    rng = np.random.default_rng(5)
    size, n = (100, 20) if numba.config.DISABLE_JIT else (300, 40)
    Y = rng.normal(size=(size, n)) + 5 * np.arange(size)[:, None]
    report = nearest_neighbors(Y[::10] + 0.1, Y, metric).report
    assert report.bounded + report.abandoned * (metric == "dtw") > 0.8 * report.pairs


def test_few_cells_are_computed(monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(20, 8))
    pruned = nearest_neighbors(X, n_neighbors=3)
    monkeypatch.setattr(_nearest, "FEW_CELLS", 10**9)
    whole = nearest_neighbors(X, n_neighbors=3)
    for a, b in zip(pruned, whole, strict=True):
        np.testing.assert_array_equal(a, b)
    assert whole.report.computed == whole.report.pairs == 20 * 19


def test_far_series():
    X = np.array([[0.0, 1e140], [1e140, 0.0], [0.0, 0.0]])
    got = nearest_neighbors(X, n_neighbors=2)
    np.testing.assert_array_equal(np.sort(got.indices, axis=1), [[1, 2], [0, 2], [0, 1]])


@pytest.mark.parametrize("k", [0, 3, 1.0, True, "1"])
def test_wrong_numbers_of_neighbors(k):
    with pytest.raises((ValueError, TypeError), match=r"'n_neighbors' parameter .* an integer in the range \[1, 2\]"):
        nearest_neighbors(np.zeros((3, 4)), n_neighbors=k)


def test_one_series_has_no_neighbor():
    with pytest.raises(ValueError, match="'n_neighbors'"):
        nearest_neighbors([[1, 2]])

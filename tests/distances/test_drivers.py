"""The drivers of one recurrence against each other, across every border that they have.

A driver goes along the query in strips and sweeps of lanes, along the series in blocks, and is called piece by piece.
Here blocks and pieces are small, and the lengths lie about every multiple of the lanes.
"""

from itertools import pairwise

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import BANDS, RECURRENCES, SEVERAL, small_sizes, unmeant

from sktslib.distances import get_metric, pairwise_distances
from sktslib.distances._kernels import scalar, strips
from sktslib.distances._kernels.dispatch import weighting
from sktslib.distances._metrics.base import band, check_pair

pytestmark = unmeant

LANES = strips.STRIP
LONG = 2 * LANES + 1


@st.composite
def lengths(draw, longest=LONG):
    """Lengths from 1 to a little more than two strips, those about a border of lanes more often."""
    borders = sorted({k * LANES // 2 + d for k in range(1, 5) for d in (-1, 0, 1)})
    length = draw(st.sampled_from(borders) | st.integers(1, LONG))
    return min(length, longest)


@st.composite
def long_pairs(draw, m, n, several):
    """What `pairs` are, of these lengths, by a seed: drawing each value takes longer than the test."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    channels = draw(st.sampled_from([1, 1, 2, 3])) if several else 1
    shape, w = draw(st.sampled_from([None, (m,), (m,), (m, channels)])), None
    if shape is not None:
        w = rng.choice([0.0, 0.25, 0.5, 1.0, 1.0, 2.0], shape)
        w.flat[rng.integers(w.size)] = 2.0
    sizes = [(m, channels), (n, channels)]
    if draw(st.booleans()):
        return *(rng.integers(-12, 13, size) / 4 for size in sizes), w  # with ties
    return *(rng.uniform(-5, 5, size).round(3) for size in sizes), w


@pytest.mark.slow
@pytest.mark.parametrize("name", RECURRENCES)
@given(data=st.data())
def test_diagonals_equal_columns_to_the_bit(name, data):
    m, n = data.draw(lengths()), data.draw(lengths())
    x, y, w = check_pair(*data.draw(long_pairs(m, n, name in SEVERAL)))
    metric = get_metric(name, data.draw(st.sampled_from(BANDS)))
    problem = metric._problem(x, w, y, None, None)
    p, x, w, y, _, _, points = problem
    m, n = points.shape[1], y.shape[1]
    free = data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))) if name == "dtw" else (0, 0)
    whole = data.draw(st.booleans()) and metric.window is None
    by_row = (np.empty(0, np.int64),) * 2 if whole else band(metric.window, metric.factor, n, m)
    pair = p, x, w, points, y, *by_row, *free
    with small_sizes(data):
        cost, (path, steps) = strips.cost(*pair), strips.path(*pair)
    taken, costs = np.zeros((n, m), np.uint8), scalar.NO_COSTS
    by_column = *band(metric.window, metric.factor, m, n), *scalar.boundary(p, points, y, None, n, 0, free[0])
    with small_sizes(data):
        bottom, _ = scalar.accumulated_costs(p, problem.rows, points, y, None, None, *by_column, costs, taken)
    j = n - 1 - free[1] + int(np.argmin(bottom[n - 1 - free[1] :]))
    assert cost == bottom[j]
    for a, b in zip((path, steps), scalar.backtrack(taken, m - 1, j), strict=True):
        np.testing.assert_array_equal(a, b)


def searched(name, data, x, y, w):
    """Costs, starts and last column of a subsequence search along columns and along anti-diagonals."""
    metric, radius = get_metric(name), data.draw(st.sampled_from([None, None, 0, 2] if name in SEVERAL else [None]))
    problem = metric._problem(x, w, y, None, None, search=True)
    (p, _, _, y, _, _, points), rows = problem, problem.rows
    m, n = points.shape[1], y.shape[1]
    lengths = data.draw(st.sampled_from([(1, n), (2, n), (1, 3)]))
    query, found = (p, problem.x, problem.w if weighting(p, problem.w) else None, points), []
    for along_diagonals in (False, True):
        (col, start), distance, begin = metric._start_column(problem), np.empty(n), np.empty(n, np.int64)
        # In chunks, so that the state carried between them is seen to be whole, and be that of the other driver.
        cuts = [0, *sorted(data.draw(st.lists(st.integers(0, n), max_size=3))), n]
        with small_sizes(data):
            for a, b in pairwise(cuts):
                if along_diagonals and data.draw(st.sampled_from([True, True, False])):
                    state, limits = (col, start), (radius, *lengths)
                    strips.subsequence_profile(query, y, a, a, limits, state, distance[a:b], begin[a:b])
                    continue
                # Without a band columns are another kernel to compile.
                pair, limits = (p, rows, points, y, None, None), (m + n if radius is None else radius, *lengths)
                state = col, start, np.zeros((3, m))
                scalar.subsequence_profile(pair, a, a, limits, state, distance[a:b], begin[a:b], scalar.NO_COSTS)
        found.append((distance, begin, col, np.where(np.isfinite(col), start, 0)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", RECURRENCES)
@given(data=st.data())
def test_searches_along_diagonals_equal_columns_to_the_bit(name, data):
    m, n = data.draw(lengths()), data.draw(st.integers(1, 3 * LANES))
    x, y, w = check_pair(*data.draw(long_pairs(m, n, name in SEVERAL)))
    for want, got in zip(*searched(name, data, x, y, w), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dtw", "ddtw", "shape_dtw", "adtw", "edr"])
@pytest.mark.parametrize("m", [1, 2, LANES - 1, LANES, LANES + 1, 2 * LANES + 1])
def test_searches_find_a_copy_behind_a_border_of_blocks(name, m, monkeypatch):
    """Compiled with blocks as long as users have them, so that nothing but the lengths decides what is crossed."""
    monkeypatch.setattr(strips, "BLOCK", 200 if numba.config.DISABLE_JIT else 4096)
    rng = np.random.default_rng(m)
    n = 2 * strips.BLOCK + 100
    ends = np.array([1, 2]) * strips.BLOCK - 1  # the last point of a block
    x, y = rng.normal(size=(1, m)), rng.normal(size=(1, n))
    for end in ends:
        y[:, end - m + 1 : end + 1] = x
    metric = get_metric(name)
    problem = metric._problem(x, None, y, None, None, search=True)
    whole, begin, _ = metric._subsequence_profile(problem, 1, n)
    by_column, start, _ = metric._subsequence_profile(problem, 1, n, matrix=True)
    np.testing.assert_array_equal(whole, by_column)
    np.testing.assert_array_equal(begin, start)
    if name in ("dtw", "adtw", "edr"):  # the others also compare what is beside the copy
        np.testing.assert_array_equal(whole[ends], 0.0)


@pytest.mark.parametrize("name", RECURRENCES)
@pytest.mark.parametrize("m", [1, LANES, LANES + 1])
def test_a_subsequence_search_does_not_read_what_was_never_written(name, m, monkeypatch):
    rng = np.random.default_rng(m)
    x, y = rng.normal(size=(1, m)), rng.normal(size=(1, LANES + 3))
    problem = get_metric(name)._problem(x, None, y, None, None, search=True)
    want = get_metric(name)._subsequence_profile(problem, 1, LANES + 3)
    empty = np.empty

    def nothing(shape, dtype=float):
        out = empty(shape, dtype)
        out.fill(np.nan if out.dtype.kind == "f" else -1)
        return out

    monkeypatch.setattr(np, "empty", nothing)
    got = get_metric(name)._subsequence_profile(problem, 1, LANES + 3)
    monkeypatch.undo()
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_array_equal(got[1], want[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lcss", "edr"])
@given(data=st.data())
def test_words_of_bits_equal_columns(name, data):
    seed, channels = data.draw(st.integers(0, 2**32 - 1)), data.draw(st.integers(1, 2))
    rng = np.random.default_rng(seed)
    lengths = data.draw(st.lists(st.sampled_from([1, 2, 63, 64, 65, 127, 128, 130]), min_size=4, max_size=4))
    X = [rng.integers(0, 4, (n, channels)) for n in lengths]
    metric = get_metric(name, {"eps": data.draw(st.sampled_from([0.0, 1.0, 1.5]))})
    expected = np.array([[metric(a, b) for b in X] for a in X])
    with small_sizes(data):
        got = pairwise_distances(X[:2], X, metric, channels_first=False)  # all may have one point
        np.testing.assert_allclose(got, expected[:2], rtol=1e-12)
        got = pairwise_distances(X, metric=metric, channels_first=False)
        np.testing.assert_allclose(got, expected, rtol=1e-12)

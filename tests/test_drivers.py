"""The drivers of one recurrence against each other: along columns, along anti-diagonals, by lanes."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import pairs

from sktslib.distances import _diagonals, _elastic, get_metric
from sktslib.distances._bands import band
from sktslib.distances._metrics import check_pair

BANDS = [{}, {}, {"window": 0.3}, {"window": "sakoe-chiba", "factor": 1}, {"window": "itakura"}]


@pytest.mark.parametrize("name", naive.WARPED)
@given(data=st.data())
def test_diagonals_equal_columns_to_the_bit(name, data):
    x, y, w = check_pair(*data.draw(pairs(high=14, y_high=14)))
    metric = get_metric(name, data.draw(st.sampled_from(BANDS)))
    p, x, w, y, _, _, up = metric._problem(x, w, y, None, None)
    m, n = len(up), y.shape[1]
    lo, hi = band(metric.window, metric.factor, m, n)
    top, side = np.full(n + 1, np.inf), np.full(m + 1, np.inf)
    top[0] = side[0] = 0.0
    free = data.draw(st.integers(0, min(m, n) - 1)) if name == "dtw" else 0
    if _elastic.closed_border(p):
        top[: free + 1] = side[: free + 1] = 0.0
    else:
        side[1:], top[1:] = np.cumsum(up), np.cumsum(_elastic.series_gaps(p, y, None))
    bottom, last = _elastic.accumulate(p, x, w, y, None, None, lo, hi, top, side, _elastic.NO_COSTS, _elastic.NO_MOVES)
    got_bottom, got_last = _diagonals.accumulate(p, *_diagonals.padded(x, w, y), lo, hi, top, side)
    np.testing.assert_array_equal(got_bottom, bottom)
    np.testing.assert_array_equal(got_last[1:], last[1:])


@pytest.mark.parametrize("name", naive.WARPED)
@given(data=st.data())
def test_searches_along_diagonals_equal_columns_to_the_bit(name, data):
    x, y, w = check_pair(*data.draw(pairs(high=8, y_high=20)))
    metric, radius = get_metric(name), data.draw(st.sampled_from([None, None, 0, 2]))
    problem = metric._problem(x, w, y, None, None, search=True)
    p, x, w, y, _, _, up = problem
    m, n = len(up), y.shape[1]
    col, start, side = metric._start_column(problem)
    limits = data.draw(st.sampled_from([(1, n), (2, n), (1, 3)]))
    distance, begin, ground, none = np.empty(n), np.empty(n, np.int64), np.zeros((3, m)), _elastic.NO_COSTS
    # In two chunks, so that the state carried between them is seen to be whole.
    cut = data.draw(st.integers(0, n))
    for a, b in ((0, cut), (cut, n)):
        _elastic.warped(
            p, x, w, y, None, None, a, a, radius, *limits, col, start, ground, distance[a:b], begin[a:b], none
        )
    got, got_begin = np.empty(n), np.empty(n, np.int64)
    _diagonals.warped(p, *_diagonals.padded(x, w, y), radius, *limits, side, got, got_begin)
    np.testing.assert_array_equal(got, distance)
    np.testing.assert_array_equal(got_begin, begin)

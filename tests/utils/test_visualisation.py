"""All pictures: what they import, take, change and refuse."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import refused
from pictures import PATH, QUERY, SEQUENCE, Found

from sktslib import QuerySearcher
from sktslib._plots.base import as_times, reduced
from sktslib.utils import visualisation
from sktslib.utils.visualisation import (
    plot_alignment,
    plot_costmatrix,
    plot_search_distance_result,
    plot_segmentation,
    plot_weight_query,
)

pytestmark = pytest.mark.usefixtures("_closed_figures")


def test_public_names_are_sorted():
    assert visualisation.__all__ == sorted(visualisation.__all__)
    assert all(callable(getattr(visualisation, name)) for name in visualisation.__all__)


@given(
    st.lists(st.floats(-1e6, 1e6) | st.just(np.nan), min_size=2, max_size=200), st.integers(1, 50), st.integers(0, 9)
)
def test_a_reduced_line_keeps_the_extremes_of_every_column(values, n_columns, first):
    y, first = np.array(values), min(first, len(values) - 2)
    times = as_times(None, len(y), "times")
    thin_x, thin_y = reduced(times, y, first, len(y), n_columns)
    both = reduced(times, np.column_stack([-y, y]).T, first, len(y), n_columns)[1]  # channels side by side in memory
    np.testing.assert_array_equal(both[1], thin_y)
    if len(y) - first <= 2 * n_columns:
        np.testing.assert_array_equal(thin_x, np.arange(first, len(y)))
        np.testing.assert_array_equal(thin_y, y[first:])
        return
    starts = thin_x[::2].astype(int)
    assert starts[0] == first
    assert len(starts) <= n_columns
    assert (np.diff(np.append(starts, len(y))) <= np.ceil((len(y) - first) / n_columns) + 1).all()
    np.testing.assert_array_equal(thin_x[1::2], starts)
    for k, part in enumerate(np.split(y[first:], starts[1:] - first)):
        seen = part[~np.isnan(part)]
        expected = [seen.min(), seen.max()] if len(seen) else [np.nan, np.nan]
        np.testing.assert_array_equal(thin_y[2 * k : 2 * k + 2], expected)


# ------------------------------------------------------------------------------------------------- axes, all displays
WEIGHT = np.linspace(0.1, 1, 20)
FOUND = Found(np.array([100]), np.array([120]), np.array([1.0]))
ONE = {"start": [1], "end": [4]}


def two(a):
    return np.column_stack([a, a + 1])


ALL = {
    "alignment": lambda wide, **k: plot_alignment(wide(QUERY), wide(SEQUENCE), PATH, **k),
    "search": lambda wide, **k: plot_search_distance_result(FOUND, wide(SEQUENCE), **k),
    "weight": lambda wide, **k: plot_weight_query(None, wide(QUERY), WEIGHT, **k),
    "segmentation": lambda wide, **k: plot_segmentation(np.array([3, 9]), wide(SEQUENCE), **k),
}


@pytest.mark.slow
@pytest.mark.parametrize("draw", ALL.values(), ids=ALL)
def test_rows_are_the_given_axes_or_up_to_eight_new_ones(draw):
    figure, axes = plt.subplots(3, 2, layout="constrained")
    display = draw(np.asarray, ax=axes[1, 0])
    assert display.ax_ is axes[1, 0]
    assert display.figure_ is figure
    assert not axes[0, 0].lines
    assert list(draw(two, ax=axes[:2, 1]).axes_) == list(axes[:2, 1])
    # One Axes for two channels: the first channel.
    assert len(draw(two, ax=axes[0, 0]).axes_) == 1
    assert plt.get_fignums() == [figure.number]
    refused(lambda: draw(two, ax=axes[:, 0]), "at most one Axes for each of the 2 channels. Got 3. Pass None")
    refused(lambda: draw(np.asarray, ax="here"), "The 'ax' parameter must be None, a matplotlib Axes or a list")
    display = draw(lambda a: np.column_stack([a] * 10))
    assert len(display.axes_) == 8
    assert display.ax_.get_title(loc="left") == "first 8 of 10 channels"
    table = draw(lambda a: pd.DataFrame({"knee": a, "hip": -a}))
    assert [ax.get_ylabel() for ax in table.axes_] == ["knee", "hip"]


def test_distances_have_an_axes_each():
    with pytest.raises(ValueError, match=r"must hold one Axes for each of the 2 distances\. Got 1\. Pass None"):
        plot_segmentation({"a": [1], "b": [2]}, QUERY, ax=plt.subplots()[1])
    table = pd.DataFrame({"knee": SEQUENCE, "hip": -SEQUENCE})
    assert plot_segmentation(np.array([3]), table["hip"]).ax_.get_ylabel() == "hip"
    assert plot_segmentation({"dtw": [3]}, table).ax_.get_ylabel() == "knee"


@pytest.mark.parametrize("y", [SEQUENCE, np.column_stack([SEQUENCE, SEQUENCE]), list(SEQUENCE), np.zeros(10**6)])
def test_a_recording_is_no_axes(y):
    matches = QuerySearcher().fit(QUERY).search(SEQUENCE)
    with pytest.raises(ValueError, match=r"Got (ndarray|list)\. If it is the recording, name it: sequence=\.\.\., as"):
        matches.plot(y)
    refused(lambda: matches.plot("here"), "Got str. Make one with")


def test_displays_draw_again(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *a, **k: pytest.fail("plt.show was called"))
    display = plot_weight_query(None, QUERY, WEIGHT)
    first = display.figure_
    assert display.plot(cmap="cividis") is display
    assert display.figure_ is not first
    assert display.query_lines_[0].cmap.name == "cividis"


def test_inputs_are_not_changed():
    query, sequence, weight = QUERY.copy(), SEQUENCE.copy(), WEIGHT.copy()
    query[3], sequence[5] = np.inf, np.nan
    path, times, cuts = PATH.copy(), np.arange(200.0), np.array([3, 9, 200])
    matrix = np.where(np.eye(5) > 0, np.inf, 1.0)
    res = {"start": np.array([100, 3]), "end": np.array([120, 9]), "path_dist": np.array([np.inf, 1.0])}
    for a in (query, sequence, weight, path, times, cuts, matrix, *res.values()):
        a.flags.writeable = False  # who writes into one of them fails
    plot_alignment(query, sequence, path, ty=times)
    plot_costmatrix(matrix, [[0, 1], [0, 1]])
    plot_weight_query(None, query, weight)
    display = plot_search_distance_result(res, sequence, times)
    assert display.distance.tolist() == [np.inf, 1.0]
    for segments in (cuts, {"dtw": cuts}):
        assert plot_segmentation(segments, sequence, times).boundaries[0].tolist() == [3, 9, 200]


# ----------------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("draw", "given", "message"),
    [
        (plot_alignment, (np.zeros((2, 3, 4)), QUERY, PATH), "'ts1' must be one series, (length,) or"),
        (plot_alignment, ([], QUERY, PATH), "'ts1' must hold at least one point. Got 0 sample(s)"),
        (plot_alignment, (two(QUERY), SEQUENCE, PATH), "must have as many channels as 'ts1'. Got 1 and 2. Select"),
        (plot_alignment, (QUERY, SEQUENCE, PATH.T), "'path' parameter must have shape (2, K): query indices,"),
        (plot_alignment, (QUERY, SEQUENCE, PATH + 0.5), "'path' parameter must hold sample indices, which are"),
        (plot_alignment, (QUERY, SEQUENCE, PATH * np.nan), "'path' parameter must hold sample indices"),
        (plot_alignment, (QUERY, QUERY, PATH), "index the 20 sequence samples in row 1. Got 100 to 119."),
        (partial(plot_alignment, tx=[1, 2]), (QUERY, SEQUENCE, PATH), "'tx' must have one time per point, shape (20,)"),
        (partial(plot_alignment, every=0), (QUERY, SEQUENCE, PATH), "'every' parameter must be an integer in the"),
        (partial(plot_alignment, offset=np.inf), (QUERY, SEQUENCE, PATH), "'offset' parameter must be a real number"),
        (plot_costmatrix, (QUERY,), "The 'matrix' parameter must have shape (m, n). Got shape (20,)."),
        (plot_costmatrix, (np.ones((2, 3)), [[0, 1], [0, 3]]), "Subtract the start from the sequence indices"),
        (plot_search_distance_result, ({"dtw": {}}, QUERY), "Got a dict with the keys ['dtw']. Pass the entry of"),
        (plot_search_distance_result, (3, QUERY), "The 'res' parameter must be the result of one distance, with"),
        (plot_search_distance_result, (FOUND, QUERY), "<= 20, the length of the sequence. Got [100, 120). Pass"),
        (plot_search_distance_result, (Found([0, 1], [3], [1]), QUERY), "'res' parameter must have a start and an"),
        (plot_search_distance_result, (Found([0], [3], [1, 2]), QUERY), "one distance for each of its 1 occurrences"),
        (plot_search_distance_result, (Found([0.5], [3], [1]), QUERY), "'res' parameter must hold sample indices"),
        (plot_search_distance_result, (FOUND, SEQUENCE, np.zeros(200)), "'ts' must be strictly increasing."),
        (plot_weight_query, (None, QUERY, [1, 2]), "The 'weight' parameter must have shape (20,) or (20, 1)"),
        (plot_weight_query, (None, QUERY, -WEIGHT), "range [0, inf). Got -0.1 at index 0. Use 0 for points that do"),
        (plot_weight_query, (None, QUERY, WEIGHT * np.nan), "hold finite numbers in the range [0, inf). Got nan"),
        (plot_weight_query, ([1, 2], QUERY, WEIGHT), "'x' must have one time per point, shape (20,). Got shape (2,)"),
        (plot_segmentation, ([5, 3], QUERY), "'segments' parameter must hold sorted boundaries from 0 to 20, the"),
        (plot_segmentation, ([5, 21], QUERY), "Got [5, 21]. Pass the sequence that was segmented and sample indices"),
        (plot_segmentation, (np.arange(90) + 0.5, QUERY), "Got 0.5 at index 0. Convert"),
        (plot_segmentation, ({}, QUERY), "boundaries of at least one distance. Got an empty dict."),
        (plot_segmentation, (ONE | {"label": [1, 2]}, QUERY), "one label for each of its 1 segments. Got shape (2,)."),
    ],
)
def test_errors_name_parameter_rule_value_and_way_out(draw, given, message):
    refused(lambda: draw(*given), message)

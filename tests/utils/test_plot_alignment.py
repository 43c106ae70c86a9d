"""Pictures of alignments and cost matrices: what is drawn, its data and its labels."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import date2num
from pictures import PATH, QUERY, SEQUENCE

from sktslib import QuerySearcher
from sktslib.distances import DTW, dtw
from sktslib.utils.visualisation import AlignmentDisplay, CostMatrixDisplay, plot_alignment, plot_costmatrix

pytestmark = pytest.mark.usefixtures("_closed_figures")
TWO = np.column_stack([SEQUENCE, -SEQUENCE])
MINUTES = pd.date_range("2024-01-01", periods=200, freq="min")


# -------------------------------------------------------------------------------------------------------- alignment
def test_two_whole_series_share_one_axis():
    y = np.roll(QUERY, 2) + 1
    display = plot_alignment(QUERY, y, np.tile(np.arange(20), (2, 1)))
    query, sequence = display.query_lines_[0], display.sequence_lines_[0]
    assert query.get_xdata().tolist() == sequence.get_xdata().tolist() == list(range(20))
    np.testing.assert_array_equal(sequence.get_ydata(), y)
    np.testing.assert_allclose(query.get_ydata() - display.offsets_[0], QUERY, atol=1e-12)
    assert query.get_ydata().min() > sequence.get_ydata().max()
    assert display.shift_ == 0
    assert display.query_axis_ is None
    assert display.ax_.get_xlabel() == "sample"
    assert {text.get_text() for text in display.ax_.texts} == {"query", "sequence"}
    flat = plot_alignment(np.zeros(5), np.full(6, 3.0), [[0, 4], [0, 5]])
    assert flat.query_lines_[0].get_ydata()[0] > 3


def test_an_occurrence_is_shown_with_what_is_around_it():
    x = np.column_stack([QUERY, 10 * QUERY])
    display = plot_alignment(x, TWO, PATH, every=1)
    assert [(ax.get_ylabel(), ax.get_xlabel()) for ax in display.axes_] == [("channel 0", ""), ("channel 1", "sample")]
    assert display.shift_ == 100
    for k, pairs in enumerate(display.pair_lines_):
        above, line = display.query_lines_[k], display.sequence_lines_[k]
        assert line.get_xdata().tolist() == list(range(80, 140))
        np.testing.assert_array_equal(line.get_ydata(), TWO[80:140, k])
        np.testing.assert_allclose(above.get_xdata(), np.arange(20) + 100)
        np.testing.assert_allclose(above.get_ydata() - display.offsets_[k], x[:, k], atol=1e-12)
        ends = np.moveaxis(np.array(pairs.get_segments()), 1, 0)
        np.testing.assert_allclose(ends[0], np.column_stack([PATH[0] + 100, x[PATH[0], k] + display.offsets_[k]]))
        np.testing.assert_allclose(ends[1], np.column_stack([PATH[1], TWO[PATH[1], k]]))
    axis = display.query_axis_
    assert axis.get_xlabel() == "query sample"
    to_own, back = axis._functions
    assert to_own(np.array([100.0, 119.0])).tolist() == [0, 19]
    assert back(np.array([0.0, 19.0])).tolist() == [100, 119]
    assert 0 <= axis.get_xticks().min() <= axis.get_xticks().max() <= 19


@pytest.mark.parametrize(("moved", "first", "end"), [(-100, 0, 40), (80, 160, 200)])
def test_the_part_around_the_path_ends_with_the_sequence(moved, first, end):
    display = plot_alignment(QUERY, SEQUENCE, PATH + np.array([[0], [moved]]))
    assert display.sequence_lines_[0].get_xdata().tolist() == list(range(first, end))


@pytest.mark.parametrize(("every", "drawn"), [(None, 103), (500, 3), (1, 1234)])
def test_about_a_hundred_pairs_are_drawn(every, drawn):
    x = np.sin(np.arange(1234) / 50)
    assert (
        len(plot_alignment(x, x, np.tile(np.arange(1234), (2, 1)), every=every).pair_lines_[0].get_segments()) == drawn
    )
    none = plot_alignment(QUERY, SEQUENCE, np.empty((2, 0), dtype=int), every=every)
    assert len(none.pair_lines_[0].get_segments()) == 0
    assert len(none.sequence_lines_[0].get_xdata()) == len(SEQUENCE)


def test_the_scale_on_the_left_gives_each_series_its_own_values():
    display = plot_alignment(QUERY, SEQUENCE, PATH, offset=-7)
    np.testing.assert_allclose(display.query_lines_[0].get_ydata(), QUERY - 7)
    for tick, label in zip(display.ax_.get_yticks(), display.ax_.get_yticklabels(), strict=True):
        shown = float(label.get_text().replace("\N{MINUS SIGN}", "-"))
        assert shown == pytest.approx(tick) or shown == pytest.approx(tick + 7)
        assert label.get_text() != "\N{MINUS SIGN}0"


@pytest.mark.parametrize(
    ("tx", "ty", "label", "step"),
    [
        (np.arange(20) / 4, np.arange(200) / 4 + 1000, "query time", 0.25),
        (None, MINUTES, "query sample", 1),
        (np.arange(20) * 60.0, MINUTES, "query time", 60),
        (pd.date_range("2001-01-01", periods=20, freq="min"), MINUTES, "query time (s)", 60),
        (np.arange(20) * 0.5, None, "query time", 0.5),
        (pd.date_range("2001-01-01", periods=20, freq="500ms"), None, "query time (s)", 0.5),
        (pd.date_range("2001-01-01", periods=20, freq="2s"), np.arange(200) * 2.0, "query time (s)", 2),
    ],
)
def test_any_clock_of_the_query_is_put_on_that_of_the_sequence(tx, ty, label, step):
    display = plot_alignment(QUERY, SEQUENCE, PATH, tx=tx, ty=ty)
    places = np.arange(200.0) if ty is None else date2num(ty) if ty is MINUTES else ty
    np.testing.assert_allclose(display.query_lines_[0].get_xdata(), places[100:120], rtol=0, atol=1e-3)
    np.testing.assert_allclose(display.sequence_lines_[0].get_xdata(), places[80:140], rtol=0, atol=1e-9)
    assert display.query_axis_.get_xlabel() == label
    np.testing.assert_allclose(display.query_axis_._functions[0](places[100:102]), [0, step], atol=1e-3)


def test_whole_series_on_far_apart_times_are_brought_together():
    display = plot_alignment(QUERY, QUERY, np.tile(np.arange(20), (2, 1)), tx=np.arange(20), ty=np.arange(20) + 500)
    assert display.shift_ == 500
    assert display.query_axis_ is not None


def test_a_match_is_aligned_with_its_own_query():
    both = QuerySearcher("dtw", n_matches=1).fit([np.ones(4), QUERY])
    matches = both.search(SEQUENCE)
    for k, number in enumerate(matches.query):
        display = AlignmentDisplay.from_estimator(both, SEQUENCE, match=k)
        assert len(display.query_lines_[0].get_xdata()) == (4, 20)[number]
        assert display.path[1].min() == matches.start[k]


# ------------------------------------------------------------------------------------------------------ cost matrix
def test_costs_are_an_image_with_the_path():
    matrix = np.arange(12.0).reshape(3, 4)
    matrix[0, 3] = np.inf
    display = plot_costmatrix(matrix, [[0, 1, 2, 2], [0, 1, 2, 3]])
    image = display.image_.get_array()
    np.testing.assert_array_equal(image.filled(np.inf), matrix)
    assert display.image_.get_extent() == [-0.5, 3.5, -0.5, 2.5]
    assert display.image_.origin == "lower"
    assert display.image_.get_clim() == (0, 11)
    cmap = display.image_.cmap
    assert tuple(cmap.get_bad()) not in {tuple(color) for color in cmap(np.arange(256))}
    assert display.path_line_.get_xydata().tolist() == [[0, 0], [1, 1], [2, 2], [3, 2]]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("sequence sample", "query sample")
    assert display.colorbar_.ax.get_ylabel() == "accumulated cost"


def test_matrices_of_no_cost_of_one_cell_and_of_many():
    assert plot_costmatrix(np.full((2, 3), np.inf)).image_.get_clim() == (0, 1)
    one = plot_costmatrix([[5.0]], [[0], [0]])
    assert one.image_.get_clim()[0] == 5
    assert one.path_line_.get_marker() == "o"
    assert one.colorbar_.get_ticks().tolist() == [5]
    matrix = np.add.outer(np.arange(2500.0), np.arange(5.0))
    display = plot_costmatrix(matrix)
    assert display.path_line_ is None
    np.testing.assert_array_equal(display.image_.get_array(), matrix[::2])
    assert display.image_.get_extent() == [-0.5, 4.5, -0.5, 2499.5]


@pytest.mark.parametrize("normalize", [None, "zscore", "minmax"])
def test_series_stand_beside_their_costs_as_they_are_normalized(normalize):
    x, y = np.column_stack([QUERY, -QUERY]), 3 * TWO[100:120] + 5
    searcher = QuerySearcher("dtw", normalize=normalize, candidates="windows").fit(x)
    display = CostMatrixDisplay.from_estimator(searcher, x, y)
    assert display.matrix[-1, -1] == pytest.approx(searcher.profile(y).distance[0], rel=1e-12)
    shown = np.column_stack([line.get_ydata() for line in display.sequence_lines_])
    assert (shown == y).all() == (normalize is None)
    if normalize == "zscore":
        np.testing.assert_allclose(shown.std(axis=0), 1.0)
    if normalize is None:
        np.testing.assert_array_equal(CostMatrixDisplay.from_estimator(DTW(), x, y).matrix, dtw(x, y).cost_matrix)
        for line, channel in zip(display.query_lines_, x.T, strict=True):
            np.testing.assert_array_equal(line.get_xydata(), np.column_stack([channel, np.arange(20)]))
        np.testing.assert_array_equal(display.sequence_lines_[0].get_xdata(), np.arange(20))
    assert display.query_ax_.get_ylim() == display.ax_.get_ylim()
    assert display.sequence_ax_.get_xlim() == display.ax_.get_xlim()
    with pytest.raises(ValueError, match="'query' parameter must have a point for each of the 2 rows"):
        CostMatrixDisplay(np.ones((2, 3)), query=[1, 2, 3])

"""Pictures of alignments and cost matrices: what is drawn, its data and its labels."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import date2num
from pictures import PATH, QUERY, SEQUENCE

from sktslib.utils.visualisation import plot_alignment, plot_costmatrix

pytestmark = pytest.mark.usefixtures("_closed_figures")


# -------------------------------------------------------------------------------------------------------- alignment
def test_alignment_of_two_whole_series_shares_one_axis():
    y = np.roll(QUERY, 2) + 1
    path = np.array([np.arange(20), np.arange(20)])
    display = plot_alignment(QUERY, y, path)
    query, sequence = display.query_lines_[0], display.sequence_lines_[0]
    assert query.get_xdata().tolist() == sequence.get_xdata().tolist() == list(range(20))
    np.testing.assert_array_equal(sequence.get_ydata(), y)
    np.testing.assert_allclose(query.get_ydata() - display.offsets_[0], QUERY, atol=1e-12)
    assert query.get_ydata().min() > sequence.get_ydata().max()
    assert display.shift_ == 0
    assert display.query_axis_ is None
    assert display.ax_.get_xlabel() == "sample"
    assert display.figure_ is display.ax_.figure
    assert {text.get_text() for text in display.ax_.texts} == {"query", "sequence"}


def test_alignment_lines_join_the_pairs_of_the_path():
    display = plot_alignment(QUERY, SEQUENCE, PATH, every=1)
    segments = np.array(display.pair_lines_[0].get_segments())
    assert segments.shape == (PATH.shape[1], 2, 2)
    np.testing.assert_allclose(segments[:, 0, 0], PATH[0] + display.shift_)
    np.testing.assert_allclose(segments[:, 0, 1], QUERY[PATH[0]] + display.offsets_[0])
    np.testing.assert_allclose(segments[:, 1, 0], PATH[1])
    np.testing.assert_allclose(segments[:, 1, 1], SEQUENCE[PATH[1]])


def test_alignment_of_an_occurrence_shows_the_part_around_it():
    display = plot_alignment(QUERY, SEQUENCE, PATH)
    line = display.sequence_lines_[0]
    assert line.get_xdata().tolist() == list(range(80, 140))
    np.testing.assert_array_equal(line.get_ydata(), SEQUENCE[80:140])
    assert display.shift_ == 100
    np.testing.assert_allclose(display.query_lines_[0].get_xdata(), np.arange(20) + 100)
    assert display.query_axis_.get_xlabel() == "query sample"
    to_own, back = display.query_axis_._functions
    assert to_own(np.array([100.0, 119.0])).tolist() == [0, 19]
    assert back(np.array([0.0, 19.0])).tolist() == [100, 119]
    assert display.query_axis_.get_xticks().min() >= 0
    assert display.query_axis_.get_xticks().max() <= 19


def test_alignment_at_the_borders_of_the_sequence():
    display = plot_alignment(QUERY, SEQUENCE, PATH - np.array([[0], [100]]))
    assert display.sequence_lines_[0].get_xdata().tolist() == list(range(40))
    display = plot_alignment(QUERY, SEQUENCE, PATH + np.array([[0], [80]]))
    assert display.sequence_lines_[0].get_xdata().tolist() == list(range(160, 200))


def test_alignment_draws_about_a_hundred_pairs():
    pair = np.tile(np.arange(1234), (2, 1))
    x = np.sin(np.arange(1234) / 50)
    drawn = len(plot_alignment(x, x, pair).pair_lines_[0].get_segments())
    assert 80 <= drawn <= 120
    assert len(plot_alignment(x, x, pair, every=500).pair_lines_[0].get_segments()) == 3
    assert len(plot_alignment(x, x, pair, every=1).pair_lines_[0].get_segments()) == 1234


def test_alignment_without_a_pair_draws_both_series():
    display = plot_alignment(QUERY, SEQUENCE, np.empty((2, 0), dtype=int))
    assert len(display.pair_lines_[0].get_segments()) == 0
    assert len(display.sequence_lines_[0].get_xdata()) == len(SEQUENCE)


def test_alignment_offset_and_axis_labels():
    display = plot_alignment(QUERY, SEQUENCE, PATH, offset=-7)
    np.testing.assert_allclose(display.query_lines_[0].get_ydata(), QUERY - 7)
    # The scale on the left gives each series its own values.
    for tick, label in zip(display.ax_.get_yticks(), display.ax_.get_yticklabels(), strict=True):
        shown = float(label.get_text().replace("\N{MINUS SIGN}", "-"))
        assert shown == pytest.approx(tick) or shown == pytest.approx(tick + 7)
        assert label.get_text() != "\N{MINUS SIGN}0"


def test_alignment_of_flat_series_keeps_them_apart():
    display = plot_alignment(np.zeros(5), np.full(6, 3.0), [[0, 4], [0, 5]])
    assert display.query_lines_[0].get_ydata()[0] > 3


def test_alignment_of_several_channels_has_a_row_each():
    x, y = np.column_stack([QUERY, 10 * QUERY]), np.column_stack([SEQUENCE, -SEQUENCE])
    display = plot_alignment(x, y, PATH)
    assert len(display.axes_) == len(display.query_lines_) == len(display.pair_lines_) == 2
    assert [ax.get_ylabel() for ax in display.axes_] == ["channel 0", "channel 1"]
    assert [ax.get_xlabel() for ax in display.axes_] == ["", "sample"]
    np.testing.assert_allclose(display.query_lines_[1].get_ydata() - display.offsets_[1], 10 * QUERY, atol=1e-12)
    np.testing.assert_array_equal(display.sequence_lines_[1].get_ydata(), -SEQUENCE[80:140])


def test_alignment_numeric_times():
    tx, ty = np.arange(20) / 4, np.arange(200) / 4 + 1000
    display = plot_alignment(QUERY, SEQUENCE, PATH, tx=tx, ty=ty)
    assert display.ax_.get_xlabel() == "time"
    assert display.query_axis_.get_xlabel() == "query time"
    np.testing.assert_allclose(display.query_lines_[0].get_xdata(), tx + 1025)
    np.testing.assert_allclose(display.sequence_lines_[0].get_xdata(), ty[80:140])


@pytest.mark.parametrize("tx", [None, np.arange(20) * 60.0, pd.date_range("2001-01-01", periods=20, freq="min")])
def test_alignment_puts_any_clock_of_the_query_on_the_dates_of_the_sequence(tx):
    ty = pd.date_range("2024-01-01", periods=200, freq="min")
    display = plot_alignment(QUERY, SEQUENCE, PATH, tx=tx, ty=ty)
    np.testing.assert_allclose(display.query_lines_[0].get_xdata(), date2num(ty[100:120]), rtol=0, atol=1e-6)
    np.testing.assert_allclose(display.sequence_lines_[0].get_xdata(), date2num(ty[80:140]), rtol=0, atol=1e-9)
    label = {type(None): "query sample", np.ndarray: "query time"}.get(type(tx), "query time (s)")
    assert display.query_axis_.get_xlabel() == label
    own = display.query_axis_._functions[0](np.array(date2num(ty[100:102])))
    np.testing.assert_allclose(own, [0, 1 if tx is None else 60], atol=1e-3)


@pytest.mark.parametrize("tx", [np.arange(20) * 0.5, pd.date_range("2001-01-01", periods=20, freq="500ms")])
def test_alignment_puts_times_of_the_query_on_samples_of_the_sequence(tx):
    display = plot_alignment(QUERY, SEQUENCE, PATH, tx=tx)
    np.testing.assert_allclose(display.query_lines_[0].get_xdata(), np.arange(100, 120), atol=1e-3)
    np.testing.assert_allclose(display.query_axis_._functions[0](np.array([100.0, 101.0])), [0, 0.5], atol=1e-3)


def test_alignment_dates_of_the_query_on_numbers_of_the_sequence():
    tx = pd.date_range("2001-01-01", periods=20, freq="2s")
    display = plot_alignment(QUERY, SEQUENCE, PATH, tx=tx, ty=np.arange(200) * 2.0)
    np.testing.assert_allclose(display.query_lines_[0].get_xdata(), np.arange(20) * 2 + 200, atol=1e-4)


def test_alignment_of_whole_series_on_far_apart_times_is_brought_together():
    display = plot_alignment(QUERY, QUERY, np.tile(np.arange(20), (2, 1)), tx=np.arange(20), ty=np.arange(20) + 500)
    assert display.shift_ == 500
    assert display.query_axis_ is not None


# ------------------------------------------------------------------------------------------------------ cost matrix
def test_costmatrix_image_path_and_labels():
    matrix = np.arange(12.0).reshape(3, 4)
    matrix[0, 3] = np.inf
    display = plot_costmatrix(matrix, [[0, 1, 2, 2], [0, 1, 2, 3]])
    image = display.image_.get_array()
    assert image.shape == (3, 4)
    assert np.ma.getmaskarray(image).sum() == 1
    assert np.ma.getmaskarray(image)[0, 3]
    np.testing.assert_array_equal(image.compressed(), matrix[np.isfinite(matrix)])
    assert list(display.image_.get_extent()) == [-0.5, 3.5, -0.5, 2.5]
    assert display.image_.origin == "lower"
    assert display.image_.get_clim() == (0, 11)
    assert display.path_line_.get_xdata().tolist() == [0, 1, 2, 3]
    assert display.path_line_.get_ydata().tolist() == [0, 1, 2, 2]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("sequence sample", "query sample")
    assert display.colorbar_.ax.get_ylabel() == "accumulated cost"


def test_costmatrix_masked_cells_have_no_color_of_the_map():
    display = plot_costmatrix([[0.0, np.inf], [1.0, 2.0]])
    bad = tuple(display.image_.cmap.get_bad())
    assert bad not in {tuple(color) for color in display.image_.cmap(np.arange(256))}
    assert display.path_line_ is None


def test_costmatrix_extreme_cases():
    assert plot_costmatrix(np.full((2, 3), np.inf)).image_.get_clim() == (0, 1)
    one = plot_costmatrix([[5.0]], [[0], [0]])
    assert one.image_.get_clim()[0] == 5
    assert one.path_line_.get_marker() == "o"
    assert one.colorbar_.get_ticks().tolist() == [5]

"""Pictures: what is drawn, its data and its labels."""

import re
import subprocess
import sys
from collections import namedtuple
from datetime import UTC, datetime, timedelta
from itertools import combinations
from types import SimpleNamespace

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.dates import date2num

from sktslib.utils import visualisation
from sktslib.utils._plot.plot_data import LONG, thin
from sktslib.utils.visualisation import (
    plot_alignment,
    plot_costmatrix,
    plot_search_distance_result,
    plot_segmentation,
    plot_weight_query,
)

Found = namedtuple("Found", "start end distance")
QUERY = np.sin(np.arange(20) / 3)
SEQUENCE = np.concatenate([np.zeros(100), 2 * QUERY, np.linspace(0, 1, 80)])
# As of a search: indices into the whole sequence, where the query was found with a lag of 100 samples.
PATH = np.array([[0, 0, *range(1, 19), 19], [100, 101, *range(101, 119), 119]])


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def bboxes(texts, figure):
    renderer = figure.canvas.get_renderer()
    return [text.get_window_extent(renderer) for text in texts]


# ----------------------------------------------------------------------------------------------------------- module
def test_importing_the_module_imports_neither_matplotlib_nor_pandas():
    code = (
        "import sys, importlib.util, types\n"
        "for name in ('sktslib', 'sktslib.utils'):\n"
        "    spec = importlib.util.find_spec(name)\n"
        "    module = types.ModuleType(name)\n"
        "    module.__path__ = list(spec.submodule_search_locations)\n"
        "    sys.modules[name] = module\n"
        "import sktslib.utils.visualisation\n"
        "print(sorted({'matplotlib', 'pandas'} & set(sys.modules)))\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_public_names_are_sorted():
    assert visualisation.__all__ == sorted(visualisation.__all__)
    assert all(callable(getattr(visualisation, name)) for name in visualisation.__all__)


def test_nothing_is_shown(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *a, **k: pytest.fail("plt.show was called"))
    plot_weight_query(None, QUERY, np.ones(20))
    plot_segmentation([3], QUERY)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=200), st.integers(1, 50))
def test_thin_keeps_the_extremes_of_every_column(values, n_columns):
    y = np.array(values)
    x = np.arange(len(y), dtype=float)
    width = (x[-1] - x[0]) / n_columns
    thin_x, thin_y = thin(x, y, width)
    columns = np.floor(x / width)
    assert np.all(np.diff(thin_x) >= 0)
    for k, column in enumerate(np.unique(columns)):
        inside = y[columns == column]
        assert thin_y[2 * k : 2 * k + 2].tolist() == [inside.min(), inside.max()]
        assert set(thin_x[2 * k : 2 * k + 2]) == {x[columns == column][0]}


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


def test_costmatrix_masked_cells_have_no_colour_of_the_map():
    display = plot_costmatrix([[0.0, np.inf], [1.0, 2.0]])
    bad = tuple(display.image_.cmap.get_bad())
    assert bad not in {tuple(colour) for colour in display.image_.cmap(np.arange(256))}
    assert display.path_line_ is None


def test_costmatrix_extreme_cases():
    assert plot_costmatrix(np.full((2, 3), np.inf)).image_.get_clim() == (0, 1)
    one = plot_costmatrix([[5.0]], [[0], [0]])
    assert one.image_.get_clim()[0] == 5
    assert one.path_line_.get_marker() == "o"
    assert one.colorbar_.get_ticks().tolist() == [5]


# ----------------------------------------------------------------------------------------------------------- search
def test_search_draws_each_occurrence_in_its_place_and_colour():
    res = {"start": np.array([100, 10]), "end": np.array([120, 25]), "path_dist": np.array([0.5, 2.0])}
    display = plot_search_distance_result(res | {"distance": np.zeros(200)}, SEQUENCE)
    lines = display.occurrence_lines_[0]
    np.testing.assert_array_equal(lines.get_array(), [0.5, 2.0])
    for segment, (a, b) in zip(lines.get_segments(), [(100, 120), (10, 25)], strict=True):
        np.testing.assert_array_equal(segment, np.column_stack([np.arange(a, b), SEQUENCE[a:b]]))
    np.testing.assert_array_equal(display.sequence_lines_[0].get_ydata(), SEQUENCE)
    red, green, blue = mpl.colors.to_rgb(display.sequence_lines_[0].get_color())
    assert red == green == blue
    assert lines.get_clim() == (0.5, 2.0)
    assert display.colorbar_.ax.get_ylabel() == "distance"
    assert display.ax_.get_xlabel() == "sample"
    assert display.ax_.get_ylabel() == "value"


def test_search_takes_objects_as_well():
    found = Found([100, 10], [120, 25], [0.5, 2.0])
    display = plot_search_distance_result(found, SEQUENCE)
    assert display.occurrence_lines_[0].get_array().tolist() == [0.5, 2.0]


def test_search_colours_get_lighter_evenly():
    display = plot_search_distance_result(Found([0, 10], [5, 15], [0, 1]), SEQUENCE)
    colours = display.occurrence_lines_[0].cmap(np.linspace(0, 1, 50))[:, :3]
    luminance = colours @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance) > 0).all()
    assert luminance[-1] < 0.8


def test_search_ranks_stand_above_their_occurrences():
    starts = np.array([100, 10, 150])
    display = plot_search_distance_result(Found(starts, starts + 20, [0.1, 0.2, 0.3]), SEQUENCE)
    assert [text.get_text() for text in display.rank_texts_] == ["1", "2", "3"]
    display.figure_.canvas.draw()
    for text, box, a in zip(display.rank_texts_, bboxes(display.rank_texts_, display.figure_), starts, strict=True):
        assert a <= text.xy[0] < a + 20
        assert box.y0 > display.ax_.transData.transform((0, SEQUENCE[a : a + 20].max()))[1]
        assert box.y1 <= display.ax_.bbox.y1 + 1


@pytest.mark.parametrize("seed", range(5))
def test_search_ranks_never_cover_each_other(seed):
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, 180, 30)
    display = plot_search_distance_result(Found(starts, starts + 20, np.arange(30.0)), rng.normal(size=200))
    display.figure_.canvas.draw()
    boxes = bboxes(display.rank_texts_, display.figure_)
    assert len(boxes) == 30
    for a, b in combinations(boxes, 2):
        assert not (min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1)
    assert max(box.y1 for box in boxes) <= display.ax_.bbox.y1 + 1


def test_search_writes_no_ranks_above_thirty():
    starts = np.arange(31) * 5
    display = plot_search_distance_result(Found(starts, starts + 5, np.arange(31.0)), SEQUENCE)
    assert display.rank_texts_ == []
    assert len(display.occurrence_lines_[0].get_segments()) == 31


def test_search_with_one_and_without_occurrence():
    display = plot_search_distance_result(Found([3], [9], [0.25]), SEQUENCE)
    assert display.colorbar_.get_ticks().tolist() == [0.25]
    assert display.occurrence_lines_[0].norm(0.25) == 0
    none = plot_search_distance_result(Found([], [], []), SEQUENCE)
    assert none.colorbar_ is None
    assert none.rank_texts_ == []
    assert len(none.occurrence_lines_[0].get_segments()) == 0


def test_search_times():
    ts = np.arange(200) * 0.5 + 7
    display = plot_search_distance_result(Found([10], [12], [1.0]), SEQUENCE, ts)
    assert display.ax_.get_xlabel() == "time"
    assert display.occurrence_lines_[0].get_segments()[0][:, 0].tolist() == [12, 12.5]
    np.testing.assert_array_equal(display.sequence_lines_[0].get_xdata(), ts)
    # The times that a result carries are used when no others are given.
    carried = SimpleNamespace(start=[10], end=[12], distance=[1.0], times=ts)
    display = plot_search_distance_result(carried, SEQUENCE)
    assert display.occurrence_lines_[0].get_segments()[0][:, 0].tolist() == [12, 12.5]


DATES = pd.date_range("2024-03-30", periods=200, freq="h")


@pytest.mark.parametrize(
    ("ts", "label"),
    [
        (DATES, "time"),
        (DATES.to_numpy(), "time"),
        (DATES.to_pydatetime().tolist(), "time"),
        (DATES.tz_localize("UTC").tz_convert("Asia/Tokyo"), "time (UTC)"),
        ([datetime(2024, 3, 30, tzinfo=UTC) + timedelta(hours=k) for k in range(200)], "time (UTC)"),
    ],
)
def test_search_dates(ts, label):
    display = plot_search_distance_result(Found([10], [12], [1.0]), SEQUENCE, ts)
    assert display.ax_.get_xlabel() == label
    np.testing.assert_allclose(display.sequence_lines_[0].get_xdata(), date2num(DATES))
    display.figure_.canvas.draw()
    assert display.ax_.get_xticklabels()[0].get_text().startswith(("Mar", "Apr", "00:00", "12:00", "30", "31"))


def test_search_takes_the_dates_of_a_pandas_index():
    display = plot_search_distance_result(Found([10], [12], [1.0]), pd.Series(SEQUENCE, index=DATES))
    np.testing.assert_allclose(display.sequence_lines_[0].get_xdata(), date2num(DATES))
    assert display.ax_.get_xlabel() == "time"


def test_search_durations_are_seconds():
    display = plot_search_distance_result(Found([10], [12], [1.0]), SEQUENCE, DATES - DATES[0])
    np.testing.assert_allclose(display.sequence_lines_[0].get_xdata(), np.arange(200) * 3600)
    assert display.ax_.get_xlabel() == "time (s)"


def test_search_long_sequence_is_reduced_and_keeps_its_peaks():
    n = 1_000_000
    sequence = np.sin(np.arange(n) / 1e4)
    sequence[[123_456, 654_321]] = 50, -50
    sequence[200_000:200_003] = np.nan
    display = plot_search_distance_result(Found([123_400, 0], [123_500, 400_000], [0.0, 1.0]), sequence)
    line = display.sequence_lines_[0]
    assert len(line.get_xdata()) < LONG
    assert (line.get_ydata().min(), line.get_ydata().max()) == (-50, 50)
    assert np.isfinite(line.get_ydata()).all()
    assert line.get_xdata()[np.argmax(line.get_ydata())] == pytest.approx(123_456, abs=2000)
    short, long = display.occurrence_lines_[0].get_segments()
    assert short[:, 1].max() == 50
    assert len(short) >= 2
    assert len(long) < LONG
    exact = plot_search_distance_result(Found([0], [5], [0.0]), sequence[:LONG])
    np.testing.assert_array_equal(exact.sequence_lines_[0].get_ydata(), sequence[:LONG])


def test_search_channels_in_rows_and_gaps():
    y = np.column_stack([SEQUENCE, 1 - SEQUENCE])
    y[105] = np.nan
    display = plot_search_distance_result(Found([100], [120], [1.0]), y)
    assert len(display.axes_) == 2
    vertices = display.occurrence_lines_[1].get_paths()[0].vertices
    np.testing.assert_array_equal(vertices[:, 1], y[100:120, 1])
    assert [text.axes for text in display.rank_texts_] == [display.ax_]


# ----------------------------------------------------------------------------------------------------------- weight
def test_weight_query_colours_each_point_by_its_weight():
    weight = np.linspace(0.25, 1, 20)
    display = plot_weight_query(None, QUERY, weight)
    lines = display.query_lines_[0]
    np.testing.assert_array_equal(lines.get_array(), weight)
    pieces = np.array(lines.get_segments())
    assert pieces.shape == (20, 3, 2)
    np.testing.assert_allclose(pieces[:, 1], np.column_stack([np.arange(20), QUERY]))
    np.testing.assert_allclose(pieces[1:, 0], pieces[:-1, 2])
    np.testing.assert_allclose(display.query_points_[0].get_offsets(), np.column_stack([np.arange(20), QUERY]))
    assert lines.get_clim() == (0, 1)
    assert display.colorbar_.ax.get_ylabel() == "weight"
    assert display.ax_.get_xlabel() == "sample"
    low, high = display.ax_.get_ylim()
    assert low < QUERY.min() < QUERY.max() < high


def test_weight_query_times_and_channels():
    query, weight = np.column_stack([QUERY, -QUERY]), np.column_stack([np.full(20, 3.0), np.arange(20)])
    display = plot_weight_query(np.arange(20) / 10, query, weight)
    assert display.axes_[-1].get_xlabel() == "time"
    np.testing.assert_array_equal(display.query_lines_[1].get_array(), np.arange(20))
    assert [lines.get_clim() for lines in display.query_lines_] == [(0, 19), (0, 19)]
    both = plot_weight_query(None, query, np.arange(20))
    np.testing.assert_array_equal(both.query_lines_[1].get_array(), np.arange(20))
    dates = plot_weight_query(pd.date_range("2024-01-01", periods=20), QUERY, np.ones(20))
    np.testing.assert_allclose(np.array(dates.query_lines_[0].get_segments())[1, 1, 0], date2num(datetime(2024, 1, 2)))


def test_weight_query_of_one_point():
    display = plot_weight_query(None, [2.0], [1.0])
    np.testing.assert_array_equal(display.query_points_[0].get_offsets(), [[0, 2]])


# ----------------------------------------------------------------------------------------------------- segmentation
def boundary_positions(lines):
    segments = np.array(lines.get_segments())
    assert (segments[:, 0, 1] == 0).all()
    assert (segments[:, 1, 1] == 1).all()
    assert (segments[:, 0, 0] == segments[:, 1, 0]).all()
    return segments[:, 0, 0].tolist()


def areas(collections):
    found = []
    for collection in collections:
        for path in collection.get_paths():
            box = path.get_extents()
            assert (box.y0, box.y1) == (0, 1)
            colour = tuple(np.round(collection.get_facecolor()[0], 3))
            found.append((box.x0, box.x1, colour))
    return sorted(found)


def test_segmentation_boundaries_up_to_the_end():
    display = plot_segmentation(np.array([0, 50, 200]), SEQUENCE)
    assert boundary_positions(display.boundary_lines_[0]) == [0, 50, 200]
    np.testing.assert_array_equal(display.sequence_lines_[0].get_ydata(), SEQUENCE)
    assert display.repetition_areas_ == [[]]
    assert display.legend_ is None
    assert display.ax_.get_xlabel() == "sample"
    low, high = display.ax_.get_ylim()
    assert low < SEQUENCE.min() < SEQUENCE.max() < high < 3
    assert display.ax_.get_xlim()[1] > 200


def test_segmentation_shades_neighbours_in_turn():
    segments = SimpleNamespace(start=[0, 40, 100], end=[40, 80, 200], label=[1, 1, 1])
    display = plot_segmentation(segments, SEQUENCE, np.arange(200) * 2.0)
    assert boundary_positions(display.boundary_lines_[0]) == [0, 80, 160, 200, 400]
    shaded = areas(display.repetition_areas_[0])
    assert [area[:2] for area in shaded] == [(0, 80), (80, 160), (200, 400)]
    assert shaded[0][2] == shaded[2][2] != shaded[1][2]
    assert shaded[0][2][:3] == shaded[1][2][:3]
    assert display.legend_ is None
    assert display.ax_.get_xlabel() == "time"


def test_segmentation_colours_and_names_kinds():
    segments = {"start": [0, 40, 100], "end": [40, 80, 200], "label": [2, 1, 2]}
    display = plot_segmentation(segments, np.column_stack([SEQUENCE, SEQUENCE]))
    shaded = areas(display.repetition_areas_[1])
    assert shaded[0][2] == shaded[2][2]
    assert shaded[0][2][:3] != shaded[1][2][:3]
    assert [text.get_text() for text in display.legend_.get_texts()] == ["class 1", "class 2"]
    assert len(display.axes_) == 2
    assert boundary_positions(display.boundary_lines_[1]) == [0, 40, 80, 100, 200]


def test_segmentation_hatches_partial_repetitions():
    segments = {"start": [0, 40, 100], "end": [40, 80, 200], "label": [2, 1, 2], "partial": [True, False, True]}
    display = plot_segmentation(segments, np.column_stack([SEQUENCE, SEQUENCE]))
    for areas_ in display.partial_areas_:
        boxes = [path.get_extents() for path in areas_.get_paths()]
        assert [(box.x0, box.x1) for box in boxes] == [(0, 40), (100, 200)]
        assert areas_.get_hatch() == "///"
    assert len(display.partial_areas_) == 2
    assert [text.get_text() for text in display.legend_.get_texts()] == ["class 1", "class 2", "partial"]
    display = plot_segmentation(segments | {"label": [1, 1, 1]}, SEQUENCE)
    assert [text.get_text() for text in display.legend_.get_texts()] == ["partial"]
    display = plot_segmentation(segments | {"partial": [False] * 3}, SEQUENCE)
    assert display.partial_areas_ == [] and len(display.legend_.get_texts()) == 2


def test_rows_are_named_after_columns():
    table = pd.DataFrame({"knee": SEQUENCE, "hip": -SEQUENCE})
    query, names = np.column_stack([QUERY, QUERY]), ["knee", "hip"]
    displays = (
        plot_alignment(query, table, PATH),
        plot_search_distance_result(Found([3], [9], [1.0]), table),
        plot_segmentation([3], table),
        plot_weight_query(None, table[:20], np.ones(20)),
    )
    for display in displays:
        assert [ax.get_ylabel() for ax in display.axes_] == names
    assert plot_segmentation([3], table["hip"]).ax_.get_ylabel() == "hip"
    assert plot_segmentation({"dtw": [3]}, table).ax_.get_ylabel() == "knee"


def test_segmentation_without_repetitions():
    display = plot_segmentation(SimpleNamespace(start=[], end=[], label=[]), SEQUENCE)
    assert len(display.boundary_lines_[0].get_segments()) == 0
    assert display.repetition_areas_ == [[]]


def test_segmentation_result_has_a_row_for_each_distance():
    result = {"Dynamic Time Warping": np.array([10, 60]), "Euclidean Distance": np.array([5, 50, 100])}
    display = plot_segmentation(result, np.column_stack([SEQUENCE, -SEQUENCE]))
    assert [ax.get_title(loc="left") for ax in display.axes_] == list(result)
    assert [boundary_positions(lines) for lines in display.boundary_lines_] == [[10, 60], [5, 50, 100]]
    for line in display.sequence_lines_:
        np.testing.assert_array_equal(line.get_ydata(), SEQUENCE)
    assert [ax.get_xlabel() for ax in display.axes_] == ["", "sample"]


def test_segmentation_result_of_many_distances_drops_none():
    display = plot_segmentation({f"distance {k}": [k] for k in range(10)}, QUERY)
    assert len(display.axes_) == 10


def test_segmentation_dates():
    display = plot_segmentation([0, 199, 200], SEQUENCE, DATES)
    expected = date2num([DATES[0], DATES[199], DATES[199] + (DATES[1] - DATES[0])])
    np.testing.assert_allclose(boundary_positions(display.boundary_lines_[0]), expected)


# ------------------------------------------------------------------------------------------------- axes, all displays
WEIGHT = np.linspace(0.1, 1, 20)
FOUND = Found(np.array([100]), np.array([120]), np.array([1.0]))


def two(a):
    return np.column_stack([a, a + 1])


ALL = {
    "alignment": lambda wide, **k: plot_alignment(wide(QUERY), wide(SEQUENCE), PATH, **k),
    "search": lambda wide, **k: plot_search_distance_result(FOUND, wide(SEQUENCE), **k),
    "weight": lambda wide, **k: plot_weight_query(None, wide(QUERY), WEIGHT, **k),
    "segmentation": lambda wide, **k: plot_segmentation(np.array([3, 9]), wide(SEQUENCE), **k),
}


@pytest.mark.parametrize("draw", ALL.values(), ids=ALL)
def test_given_axes_are_used(draw):
    figure, axes = plt.subplots(2, 2, layout="constrained")
    display = draw(np.asarray, ax=axes[1, 0])
    assert display.ax_ is axes[1, 0]
    assert display.figure_ is figure
    assert not axes[0, 0].lines
    display = draw(two, ax=axes[:, 1])
    assert list(display.axes_) == list(axes[:, 1])
    # One Axes for two channels: the first channel.
    assert len(draw(two, ax=axes[0, 0]).axes_) == 1
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("draw", ALL.values(), ids=ALL)
def test_many_channels_are_drawn_up_to_eight_and_said_so(draw):
    display = draw(lambda a: np.column_stack([a] * 10))
    assert len(display.axes_) == 8
    assert display.ax_.get_title(loc="left") == "first 8 of 10 channels"


@pytest.mark.parametrize("draw", ALL.values(), ids=ALL)
def test_wrong_axes(draw):
    with pytest.raises(ValueError, match=re.escape("The 'ax' parameter must be None, a matplotlib Axes or a list")):
        draw(np.asarray, ax="here")
    _, axes = plt.subplots(3)
    with pytest.raises(ValueError, match=re.escape("at most one Axes for each of the 2 channels. Got 3. Pass None")):
        draw(two, ax=axes)


def test_displays_draw_again():
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
    given_arrays = [query, sequence, weight, path, times, cuts, matrix, *res.values()]
    before = [a.copy() for a in given_arrays]
    for a in given_arrays:
        a.flags.writeable = False
    plot_alignment(query, sequence, path, ty=times)
    plot_costmatrix(matrix, [[0, 1], [0, 1]])
    plot_search_distance_result(res, sequence, times)
    plot_weight_query(None, query, weight)
    plot_segmentation(cuts, sequence, times)
    plot_segmentation({"dtw": cuts}, sequence, times)
    for a, b in zip(given_arrays, before, strict=True):
        np.testing.assert_array_equal(a, b)


# ----------------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plot_alignment(np.zeros((2, 3, 4)), QUERY, PATH), "'ts1' must be one series, (length,) or"),
        (lambda: plot_alignment([], QUERY, PATH), "'ts1' must hold at least one point. Got 0 sample(s)"),
        (
            lambda: plot_alignment(two(QUERY), SEQUENCE, PATH),
            "'ts2' parameter must have as many channels as 'ts1'. Got 1",
        ),
        (
            lambda: plot_alignment(QUERY, SEQUENCE, PATH.T),
            "The 'path' parameter must have shape (2, K): query indices,",
        ),
        (
            lambda: plot_alignment(QUERY, SEQUENCE, PATH + 0.5),
            "The 'path' parameter must hold sample indices, which are",
        ),
        (lambda: plot_alignment(QUERY, SEQUENCE, PATH * np.nan), "The 'path' parameter must hold sample indices"),
        (lambda: plot_alignment(QUERY, QUERY, PATH), "must index the 20 sequence samples in row 1. Got 100 to 119."),
        (
            lambda: plot_alignment(QUERY, SEQUENCE, PATH, tx=[1, 2]),
            "'tx' must have one time per point, shape (20,). Got",
        ),
        (lambda: plot_alignment(QUERY, SEQUENCE, PATH, every=0), "'every' parameter must be an integer in the range"),
        (lambda: plot_alignment(QUERY, SEQUENCE, PATH, offset=np.inf), "'offset' parameter must be a real number"),
        (lambda: plot_costmatrix(QUERY), "The 'matrix' parameter must have shape (m, n). Got shape (20,)."),
        (lambda: plot_costmatrix(np.ones((2, 3)), [[0, 1], [0, 3]]), "Subtract the start from the sequence indices"),
        (
            lambda: plot_search_distance_result({"dtw": {}}, QUERY),
            "Got a dict with the keys ['dtw']. Pass the entry of",
        ),
        (lambda: plot_search_distance_result(3, QUERY), "The 'res' parameter must be the result of one distance, with"),
        (
            lambda: plot_search_distance_result(FOUND, QUERY),
            "0 <= start < end <= 20, the length of the sequence. Got [100",
        ),
        (
            lambda: plot_search_distance_result(Found([0, 1], [3], [1]), QUERY),
            "'res' parameter must have a start and an",
        ),
        (
            lambda: plot_search_distance_result(Found([0], [3], [1, 2]), QUERY),
            "one distance for each of its 1 occurrences",
        ),
        (
            lambda: plot_search_distance_result(Found([0.5], [3], [1]), QUERY),
            "'res' parameter must hold sample indices",
        ),
        (lambda: plot_search_distance_result(FOUND, SEQUENCE, np.zeros(200)), "'ts' must be strictly increasing."),
        (lambda: plot_weight_query(None, QUERY, [1, 2]), "The 'weight' parameter must have shape (20,) or (20, 1)"),
        (
            lambda: plot_weight_query(None, QUERY, -WEIGHT),
            "range [0, inf). Got -0.1 at index 0. Use 0 for points that do",
        ),
        (
            lambda: plot_weight_query(None, QUERY, WEIGHT * np.nan),
            "must hold finite numbers in the range [0, inf). Got nan",
        ),
        (
            lambda: plot_weight_query([1, 2], QUERY, WEIGHT),
            "'x' must have one time per point, shape (20,). Got shape (2,)",
        ),
        (
            lambda: plot_segmentation([5, 3], QUERY),
            "'segments' parameter must hold sorted boundaries from 0 to 20, the",
        ),
        (
            lambda: plot_segmentation([5, 21], QUERY),
            "Got [5, 21]. Pass the sequence that was segmented and sample indices",
        ),
        (
            lambda: plot_segmentation(np.arange(90) + 0.5, QUERY),
            "Got 0.5 at index 0. Convert",
        ),
        (lambda: plot_segmentation({}, QUERY), "boundaries of at least one distance. Got an empty dict."),
        (
            lambda: plot_segmentation({"start": [1], "end": [4], "label": [1, 2]}, QUERY),
            "The 'segments' parameter must have one label for each of its 1 segments. Got shape (2,).",
        ),
        (
            lambda: plot_segmentation({"a": [1], "b": [2]}, QUERY, ax=plt.subplots()[1]),
            "The 'ax' parameter must hold one Axes for each of the 2 distances. Got 1. Pass None",
        ),
    ],
)
def test_errors_name_parameter_rule_value_and_way_out(draw, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        draw()


def test_types_that_are_no_numbers():
    for draw in (
        lambda: plot_alignment(["a", "b"], QUERY, PATH),
        lambda: plot_alignment(QUERY, SEQUENCE, PATH, every=1.5),
        lambda: plot_search_distance_result(FOUND, SEQUENCE, ["x"] * 200),
    ):
        with pytest.raises(TypeError, match="Got"):
            draw()

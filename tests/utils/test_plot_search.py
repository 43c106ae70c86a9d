"""Pictures of occurrences and of weighted queries: what is drawn, its data and its labels."""

from datetime import UTC, datetime, timedelta
from itertools import combinations
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import date2num
from pictures import DATES, QUERY, SEQUENCE, Found

from sktslib import QuerySearcher
from sktslib._plots.base import LONG_LINE
from sktslib.utils.visualisation import plot_search_distance_result, plot_weight_query

pytestmark = pytest.mark.usefixtures("_closed_figures")


def bboxes(texts, figure):
    renderer = figure.canvas.get_renderer()
    return [text.get_window_extent(renderer) for text in texts]


# ----------------------------------------------------------------------------------------------------------- search
def test_the_name_of_an_only_query_stands_beside_its_distances():
    for query, name in (({"beat": QUERY}, "distance from beat"), (QUERY, "distance")):
        matches = QuerySearcher(n_matches=2).fit(query).search(SEQUENCE)
        assert matches.plot().colorbar_.ax.get_ylabel() == name
    two = QuerySearcher(n_matches=2).fit({"beat": QUERY, "other": -QUERY}).search(SEQUENCE)
    assert two.plot(color_by="distance").colorbar_.ax.get_ylabel() == "distance"


def test_search_draws_each_occurrence_in_its_place_and_color():
    res = {"start": np.array([100, 10]), "end": np.array([120, 25]), "path_dist": np.array([0.5, 2.0])}
    display = plot_search_distance_result(res | {"distance": np.zeros(200)}, SEQUENCE)
    lines = display.occurrence_lines_[0]
    # The best one is drawn last, so it lies on top.
    np.testing.assert_array_equal(lines.get_array(), [2.0, 0.5])
    for segment, (a, b) in zip(lines.get_segments(), [(10, 25), (100, 120)], strict=True):
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
    assert display.occurrence_lines_[0].get_array().tolist() == [2.0, 0.5]


def test_search_colors_get_lighter_evenly():
    display = plot_search_distance_result(Found([0, 10], [5, 15], [0, 1]), SEQUENCE)
    colors = display.occurrence_lines_[0].cmap(np.linspace(0, 1, 50))[:, :3]
    luminance = colors @ [0.2126, 0.7152, 0.0722]
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


@pytest.mark.parametrize(
    ("ts", "label"),
    [
        (DATES, "time"),
        (DATES.to_numpy(), "time"),
        (DATES.to_pydatetime().tolist(), "time"),
        (DATES.tz_localize("UTC").tz_convert("Asia/Tokyo"), "time (Asia/Tokyo)"),
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
    assert len(line.get_xdata()) < LONG_LINE
    assert (line.get_ydata().min(), line.get_ydata().max()) == (-50, 50)
    assert np.isfinite(line.get_ydata()).all()
    assert line.get_xdata()[np.argmax(line.get_ydata())] == pytest.approx(123_456, abs=2000)
    long, short = display.occurrence_lines_[0].get_segments()
    assert short[:, 1].max() == 50
    assert len(short) >= 2
    assert len(long) < LONG_LINE
    exact = plot_search_distance_result(Found([0], [5], [0.0]), sequence[:LONG_LINE])
    np.testing.assert_array_equal(exact.sequence_lines_[0].get_ydata(), sequence[:LONG_LINE])


def test_search_channels_in_rows_and_gaps():
    y = np.column_stack([SEQUENCE, 1 - SEQUENCE])
    y[105] = np.nan
    display = plot_search_distance_result(Found([100], [120], [1.0]), y)
    assert len(display.axes_) == 2
    vertices = display.occurrence_lines_[1].get_paths()[0].vertices
    np.testing.assert_array_equal(vertices[:, 1], y[100:120, 1])
    assert [text.axes for text in display.rank_texts_] == [display.ax_]


# ----------------------------------------------------------------------------------------------------------- weight
def test_weight_query_colors_each_point_by_its_weight():
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

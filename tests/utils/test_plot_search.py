"""Pictures of occurrences and of weighted queries: what is drawn, its data and its labels."""

from datetime import UTC
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
from sktslib.utils.visualisation import WeightedQueryDisplay, plot_search_distance_result, plot_weight_query

pytestmark = pytest.mark.usefixtures("_closed_figures")
FOUND = Found([10], [12], [1.0])


# ----------------------------------------------------------------------------------------------------------- search
def test_the_name_of_an_only_query_stands_beside_its_distances():
    for query, name in (({"beat": QUERY}, "distance from beat"), (QUERY, "distance")):
        matches = QuerySearcher(n_matches=2).fit(query).search(SEQUENCE)
        assert matches.plot().colorbar_.ax.get_ylabel() == name
    two = QuerySearcher(n_matches=2).fit({"beat": QUERY, "other": -QUERY}).search(SEQUENCE)
    assert two.plot(color_by="distance").colorbar_.ax.get_ylabel() == "distance"


def test_each_occurrence_is_drawn_in_its_place_and_color():
    res = {"start": np.array([100, 10]), "end": np.array([120, 25]), "path_dist": np.array([0.5, 2.0])}
    y = np.column_stack([SEQUENCE, 1 - SEQUENCE])
    y[105] = np.nan
    for found in (res | {"distance": np.zeros(200)}, Found(*res.values())):
        display = plot_search_distance_result(found, y)
        for lines, channel in zip(display.occurrence_lines_, y.T, strict=True):
            # The best one is drawn last, so it lies on top.
            np.testing.assert_array_equal(lines.get_array(), [2.0, 0.5])
            for path, (a, b) in zip(lines.get_paths(), [(10, 25), (100, 120)], strict=True):
                np.testing.assert_array_equal(path.vertices, np.column_stack([np.arange(a, b), channel[a:b]]))
            assert lines.get_clim() == (0.5, 2.0)
    np.testing.assert_array_equal(display.sequence_lines_[1].get_ydata(), y[:, 1])
    assert [text.axes for text in display.rank_texts_] == [display.ax_] * 2
    red, green, blue = mpl.colors.to_rgb(display.sequence_lines_[0].get_color())
    assert red == green == blue
    colors = display.occurrence_lines_[0].cmap(np.linspace(0, 1, 50))[:, :3]
    luminance = colors @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance) > 0).all()
    assert luminance[-1] < 0.8
    display = plot_search_distance_result(res, SEQUENCE)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("sample", "value")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_ranks_stand_above_their_occurrences_and_cover_nothing(seed):
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, 180, 30 if seed else 3)
    y = rng.normal(size=200) if seed else SEQUENCE
    display = plot_search_distance_result(Found(starts, starts + 20, np.arange(len(starts))), y)
    assert [text.get_text() for text in display.rank_texts_] == [str(k + 1) for k in range(len(starts))]
    display.figure_.canvas.draw()
    renderer = display.figure_.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in display.rank_texts_]
    for a, b in combinations(boxes, 2):
        assert not (min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1)
    assert max(box.y1 for box in boxes) <= display.ax_.bbox.y1 + 1
    for text, box, a in zip(display.rank_texts_, boxes, starts, strict=True):
        assert a <= text.xy[0] < a + 20
        assert box.y0 > display.ax_.transData.transform((0, y[a : a + 20].max()))[1]


def test_ranks_of_more_than_thirty_of_one_and_of_none():
    starts = np.arange(31) * 5
    display = plot_search_distance_result(Found(starts, starts + 5, np.arange(31.0)), SEQUENCE)
    assert display.rank_texts_ == []
    assert len(display.occurrence_lines_[0].get_segments()) == 31
    display = plot_search_distance_result(Found([3], [9], [0.25]), SEQUENCE)
    assert display.colorbar_.get_ticks().tolist() == [0.25]
    assert display.occurrence_lines_[0].norm(0.25) == 0
    none = plot_search_distance_result(Found([], [], []), SEQUENCE)
    assert none.colorbar_ is None
    assert none.rank_texts_ == []
    assert len(none.occurrence_lines_[0].get_segments()) == 0
    y = np.where(np.arange(200) < 100, 50.0, 1.0) * np.sin(np.arange(200))
    part = plot_search_distance_result(Found([10, 120], [20, 130], [1, 2]), y, time_range=(110, 150))
    assert [text.get_text() for text in part.rank_texts_] == ["2"]
    assert part.ax_.get_ylim()[1] < 5


HALVES = np.arange(200) * 0.5 + 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("res", "sequence", "ts", "label", "places"),
    [
        (FOUND, SEQUENCE, HALVES, "time", HALVES),
        # The times that a result carries are used when no others are given.
        (SimpleNamespace(**FOUND._asdict(), times=HALVES), SEQUENCE, None, "time", HALVES),
        (FOUND, SEQUENCE, DATES, "time", date2num(DATES)),
        (FOUND, SEQUENCE, DATES.to_numpy(), "time", date2num(DATES)),
        (FOUND, SEQUENCE, DATES.to_pydatetime().tolist(), "time", date2num(DATES)),
        (FOUND, pd.Series(SEQUENCE, index=DATES), None, "time", date2num(DATES)),
        (FOUND, SEQUENCE, DATES - DATES[0], "time (s)", np.arange(200) * 3600),
        (FOUND, SEQUENCE, [t.replace(tzinfo=UTC) for t in DATES.to_pydatetime()], "time (UTC)", date2num(DATES)),
    ],
)
def test_times_of_occurrences(res, sequence, ts, label, places):
    display = plot_search_distance_result(res, sequence, ts)
    assert display.ax_.get_xlabel() == label
    np.testing.assert_allclose(display.sequence_lines_[0].get_xdata(), places)
    np.testing.assert_allclose(display.occurrence_lines_[0].get_segments()[0][:, 0], places[10:12])
    display.figure_.canvas.draw()
    if places[0] == date2num(DATES[0]):
        assert display.ax_.get_xticklabels()[0].get_text().startswith(("Mar", "Apr", "00:00", "12:00", "30", "31"))


def test_a_long_sequence_is_reduced_and_keeps_its_peaks():
    n = 1_000_000
    sequence = np.sin(np.arange(n) / 1e4)
    sequence[[123_456, 654_321]] = 50, -50
    sequence[200_000:200_003] = np.nan
    display = plot_search_distance_result(Found([123_400, 0], [123_500, 400_000], [0.0, 1.0]), sequence)
    x, y = display.sequence_lines_[0].get_data()
    assert len(x) < LONG_LINE
    assert (y.min(), y.max()) == (-50, 50)
    assert np.isfinite(y).all()
    assert x[np.argmax(y)] == pytest.approx(123_456, abs=2000)
    long, short = display.occurrence_lines_[0].get_segments()
    assert short[:, 1].max() == 50
    assert len(short) >= 2
    assert len(long) < LONG_LINE
    exact = plot_search_distance_result(Found([0], [5], [0.0]), sequence[:LONG_LINE])
    np.testing.assert_array_equal(exact.sequence_lines_[0].get_ydata(), sequence[:LONG_LINE])


# ----------------------------------------------------------------------------------------------------------- weight
@pytest.mark.parametrize(
    ("times", "label", "places"),
    [
        (None, "sample", np.arange(20)),
        (np.arange(20) / 10, "time", np.arange(20) / 10),
        (DATES[:20], "time", date2num(DATES[:20])),
    ],
)
@pytest.mark.parametrize("own", [False, True])
def test_each_point_of_a_query_is_colored_by_its_weight(times, label, places, own):
    query, weight = np.column_stack([QUERY, -QUERY]), np.linspace(0.25, 1, 20)
    display = plot_weight_query(times, query, np.column_stack([np.full(20, 3.0), weight]) if own else weight)
    for k, lines in enumerate(display.query_lines_):
        np.testing.assert_array_equal(lines.get_array(), 3.0 if own and k == 0 else weight)
        pieces = np.array(lines.get_segments())
        assert pieces.shape == (20, 3, 2)
        np.testing.assert_allclose(pieces[:, 1], np.column_stack([places, query[:, k]]))
        np.testing.assert_allclose(pieces[1:, 0], pieces[:-1, 2])
        np.testing.assert_allclose(display.query_points_[k].get_offsets(), pieces[:, 1])
        assert lines.get_clim() == (0, 3 if own else 1)
    assert display.colorbar_.ax.get_ylabel() == "weight"
    assert display.axes_[-1].get_xlabel() == label
    low, high = display.ax_.get_ylim()
    assert low < QUERY.min() < QUERY.max() < high


def test_a_query_of_one_point_is_drawn():
    display = WeightedQueryDisplay.from_predictions([2.0])
    np.testing.assert_array_equal(display.query_points_[0].get_offsets(), [[0, 2]])

"""Displays: what is drawn, its data and its labels, and what all of them share."""

from itertools import combinations
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import date2num
from pictures import DATES, PATH, QUERY, SEQUENCE, Found

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import DTW, dtw
from sktslib.metrics import event_f1_score
from sktslib.utils import visualisation as v
from sktslib.utils.visualisation import (
    AlignmentDisplay,
    CostMatrixDisplay,
    plot_alignment,
    plot_costmatrix,
    plot_search_distance_result,
    plot_segmentation,
    plot_weight_query,
)

pytestmark = pytest.mark.usefixtures("_closed_figures")
TWO = np.column_stack([SEQUENCE, -SEQUENCE])
SEARCHER = QuerySearcher("euclidean", n_matches=3).fit(QUERY)
SEGMENTER = QuerySegmenter("dtw", background=0.7).fit(QUERY)


@pytest.mark.parametrize(
    "draw",
    [
        lambda **k: v.AlignmentDisplay.from_estimator(SEARCHER, SEQUENCE, **k),
        lambda **k: v.AlignmentDisplay.from_estimator(SEGMENTER, SEQUENCE, **k),
        lambda **k: v.AlignmentDisplay.from_predictions(QUERY, SEQUENCE, [[0, 19], [100, 119]], **k),
        lambda **k: v.CostMatrixDisplay.from_estimator(QuerySearcher("dtw").fit(QUERY), QUERY, QUERY, **k),
        lambda **k: v.CostMatrixDisplay.from_estimator(SEGMENTER, QUERY, QUERY, **k),
        lambda **k: v.CostMatrixDisplay.from_predictions(dtw(QUERY, QUERY), **k),
        lambda **k: v.ProfileDisplay.from_predictions(SEQUENCE, **k),
        lambda **k: v.SearchDisplay.from_estimator(SEARCHER, SEQUENCE, **k),
        lambda **k: v.SegmentationDisplay.from_estimator(SEGMENTER, SEQUENCE, **k),
        lambda **k: v.EventsDisplay.from_estimator(SEGMENTER, SEQUENCE, [[100, 120]], **k),
        lambda **k: v.RepetitionsDisplay.from_estimator(SEGMENTER, SEQUENCE, **k),
        lambda **k: v.WeightedQueryDisplay.from_estimator(SEARCHER, **k),
        lambda **k: v.WeightedQueryDisplay.from_predictions(QUERY, **k),
    ],
)
def test_all_draw_with_a_title_on_given_axes(draw):
    before, ax = plt.get_fignums(), plt.subplots()[1]
    display = draw(ax=ax, title="what it is")
    assert display.ax_ is ax
    assert plt.get_fignums() == [*before, ax.figure.number]
    titles = [one.get_title(loc="left") for one in (ax, *ax.child_axes) if hasattr(one, "get_title")]
    assert titles.count("what it is") == 1
    ax.figure.canvas.draw()


def test_results_pass_on_title_and_range():
    display = SEARCHER.search(SEQUENCE).plot(title="found", time_range=(90, 130), color_by="distance")
    assert display.ax_.get_title(loc="left") == "found"
    assert display.ax_.get_xlim() == (90, 130)
    segments = SEGMENTER.segment(SEQUENCE)
    assert segments.plot(title="cut").ax_.get_title(loc="left") == "cut"
    assert segments.plot_repetitions(title="one over the other").ax_.get_title(loc="left") == "one over the other"
    ten = v.SegmentationDisplay.from_predictions([3], np.column_stack([SEQUENCE] * 10), title="ten")
    assert ten.ax_.get_title(loc="left") == "ten\nfirst 8 of 10 channels"


def test_what_is_no_estimator_says_so():
    with pytest.raises(TypeError, match=r"must have the method 'search'\. Got DTW\. Pass a fitted estimator"):
        v.SearchDisplay.from_estimator(DTW(), SEQUENCE)
    with pytest.raises(TypeError, match=r"must have a cost matrix and a path\. Got float\. Pass what an elastic"):
        v.CostMatrixDisplay.from_predictions(3.0)


# ----------------------------------------------------------------------------------------------------- colors, search
def test_queries_and_classes_have_colors_and_a_legend():
    res = {"start": [10, 50, 90], "end": [20, 60, 100], "path_dist": [1, 2, 3], "query": [0, 1, 0]}
    labels = {"label": ["walk", "run", "walk"]}
    for result, names in ((res, ["query 0", "query 1"]), (res | labels, ["run", "walk"])):
        display = v.SearchDisplay.from_predictions(result, SEQUENCE)
        assert [text.get_text() for text in display.legend_.get_texts()] == names
        assert display.colorbar_ is None
        colors = display.occurrence_lines_[0].get_colors()
        assert tuple(colors[0]) == tuple(colors[2]) != tuple(colors[1])
    by_distance = v.SearchDisplay(res, SEQUENCE).plot(color_by="distance")
    assert by_distance.legend_ is None
    assert by_distance.occurrence_lines_[0].get_array().tolist() == [3, 2, 1]
    assert v.SearchDisplay.from_predictions(res | {"query": [1, 1, 1]}, SEQUENCE).legend_ is None
    for name in ("label", "rank"):
        with pytest.raises(ValueError, match=rf"must be one of auto, distance, query here\. Got '{name}'"):
            v.SearchDisplay(res, SEQUENCE).plot(color_by=name)
    equal = v.SearchDisplay.from_predictions(Found([1, 2, 3], [9, 9, 9], [5.0, 1.0, 1.0]), SEQUENCE)
    assert [segment[0, 0] for segment in equal.occurrence_lines_[0].get_segments()] == [1, 3, 2]


@pytest.mark.parametrize(
    ("distance", "limits", "extend"),
    [
        ([*np.arange(11.0), 1e6], (0, 10), "max"),
        (np.arange(12.0), (0, 11), "neither"),
        ([*np.ones(11), 3.0], (1, 3), "neither"),
    ],
)
def test_outliers_do_not_stretch_the_scale(distance, limits, extend):
    start = np.arange(12) * 10
    bar = v.SearchDisplay.from_predictions(Found(start, start + 9, distance), SEQUENCE).colorbar_
    assert bar.mappable.get_clim() == limits
    assert bar.extend == extend


def test_many_classes_are_told_apart_and_their_legend_says_what_it_leaves_out():
    start = np.arange(20) * 10
    segments = {"start": start, "end": start + 10, "label": np.arange(20)}
    display = v.SegmentationDisplay.from_predictions(segments, SEQUENCE)
    assert len({tuple(area.get_facecolor()[0][:3]) for area in display.repetition_areas_[0] if area.get_paths()}) == 20
    assert display.legend_.get_title().get_text() == "14 of 20 classes"
    assert len(display.legend_.get_texts()) == 14


# ------------------------------------------------------------------------------------------------------------ profile
@pytest.mark.parametrize(("metric", "place"), [("euclidean", "start"), ("dtw", "end")])
def test_profile_with_threshold_and_matches(metric, place):
    searcher = QuerySearcher(metric, n_matches=None, threshold=9.0).fit(QUERY)
    display = v.ProfileDisplay.from_estimator(searcher, pd.Series(SEQUENCE, name="flow"))
    profile, matches = searcher.profile(SEQUENCE), searcher.search(SEQUENCE)
    shown = display.profile_lines_[0].get_ydata()
    np.testing.assert_array_equal(shown[: len(profile)], np.where(profile.distance < np.inf, profile.distance, np.nan))
    assert np.isnan(shown[len(profile) :]).all()
    assert display.threshold_lines_[0].get_ydata() == [9, 9]
    expected = matches.start if place == "start" else matches.end - 1
    np.testing.assert_allclose(display.match_points_[0].get_xydata(), np.column_stack([expected, matches.distance]))
    assert len(display.match_areas_.get_paths()) == len(matches)
    np.testing.assert_array_equal(display.sequence_line_.get_ydata(), SEQUENCE)
    assert [ax.get_ylabel() for ax in display.axes_] == ["flow", "distance"]
    assert [text.get_text() for text in display.legend_.get_texts()] == ["match", "threshold"]
    last = QuerySearcher(metric).fit(SEQUENCE[-5:])
    display = v.ProfileDisplay.from_predictions(last.profile(SEQUENCE), last.search(SEQUENCE))
    assert display.match_points_[0].get_xdata().tolist() == [len(SEQUENCE) - (5 if place == "start" else 1)]


@pytest.mark.parametrize(
    ("queries", "names"), [([QUERY, QUERY[:7]], None), ({"wave": QUERY, "ramp": QUERY[:7]}, ["wave", "ramp"])]
)
def test_profiles_of_several_queries_have_a_row_each(queries, names):
    searcher = QuerySearcher("dtw").fit(queries)
    display = v.ProfileDisplay.from_estimator(searcher, SEQUENCE)
    assert [ax.get_ylabel() for ax in display.axes_] == ["value", *(names or ["query 0", "query 1"])]
    matches = searcher.search(SEQUENCE)
    for number, points in enumerate(display.match_points_):
        np.testing.assert_array_equal(points.get_xdata(), matches.end[matches.query == number] - 1)
    assert display.threshold_lines_ == []
    alone = v.ProfileDisplay.from_predictions(searcher.profile(SEQUENCE), names=names)
    assert [ax.get_ylabel() for ax in alone.axes_] == (names or ["query 0", "query 1"])
    with pytest.raises(ValueError, match=r"one number, or one for each of the 1 profiles\. Got 2"):
        v.ProfileDisplay(SEQUENCE, threshold=[1.0, 2.0])


# ------------------------------------------------------------------------------------------------------------- events


@pytest.mark.parametrize("dates", [False, True])
def test_what_ends_before_a_hole_is_drawn_until_its_end_time(dates):
    seconds = np.arange(200) * 0.5
    seconds[120:] += 60.0  # QUERY lies at 100 to 120, just before it
    times = pd.Timestamp("2024-03-31 00:59:30", tz="Europe/Berlin") + pd.to_timedelta(seconds, unit="s")
    times = times if dates else seconds
    matches = QuerySearcher("euclidean", normalize="zscore", max_gap=5.0).fit(QUERY).search(SEQUENCE, times=times)
    segments = QuerySegmenter(max_gap=5.0).fit(2 * QUERY).segment(SEQUENCE, times=times)
    segments = segments[segments.end == 120]
    assert matches.end.tolist() == segments.end.tolist() == [120]
    [expected] = pd.DatetimeIndex(matches.end_time) if dates else matches.end_time
    expected = date2num(expected) if dates else expected
    assert expected == pytest.approx(date2num(times[120]) - 60 / 86_400 if dates else 60.0)
    end = {
        "profile": v.ProfileDisplay([1.0], matches, sequence=SEQUENCE).plot().match_areas_,
        "events": v.EventsDisplay([[100, 120]], matches, SEQUENCE).plot().true_areas_[0]["hit"],
        "segments": next(a for a in segments.plot().repetition_areas_[0] if len(a.get_paths())),
        "given": next(a for a in segments.plot(ts=times).repetition_areas_[0] if len(a.get_paths())),
        "boundaries": segments.plot().boundary_lines_[0],
    }
    for name, area in end.items():
        assert max(p.vertices[:, 0].max() for p in area.get_paths()) == pytest.approx(expected, abs=1e-6), name
    by_sample = segments.plot(ts=np.arange(200)).boundary_lines_[0].get_segments()
    assert by_sample[-1][0, 0] == 120


def test_hits_misses_and_false_ones():
    true, found = np.array([[10, 20], [40, 60], [90, 99]]), np.array([[11, 20], [70, 80], [41, 59], [120, 121]])
    display = v.EventsDisplay.from_predictions(true, found, TWO)
    assert (display.n_hit_, display.n_missed_, display.n_false_) == (2, 1, 2)
    assert display.score_ == event_f1_score(true, found)

    def ranges(area):
        return sorted((box.x0, box.x1) for box in (path.get_extents() for path in area.get_paths()))

    for row in range(2):
        assert ranges(display.true_areas_[row]["hit"]) == [(10, 20), (40, 60)]
        assert ranges(display.true_areas_[row]["missed"]) == [(90, 99)]
        assert ranges(display.found_areas_[row]["hit"]) == [(11, 20), (41, 59)]
        assert ranges(display.found_areas_[row]["false"]) == [(70, 80), (120, 121)]
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["hit (2)", "missed (1)", "false (2)", "F1 = 0.57"]
    # The lanes lie below the data.
    bottom, top = display.ax_.get_ylim()
    lane = display.true_areas_[0]["hit"].get_paths()[0].get_extents()
    assert bottom + (top - bottom) * lane.y1 < SEQUENCE.min()


def test_events_as_labels_matches_and_nothing():
    labels = np.zeros(200, int)
    labels[100:120] = 3
    found = QuerySearcher("euclidean", n_matches=2).fit(2 * QUERY).search(SEQUENCE)
    display = v.EventsDisplay.from_predictions(labels, found, tolerance=1)
    assert (display.n_hit_, display.n_missed_, display.n_false_) == (1, 0, 1)
    assert display.sequence_lines_ == []
    assert display.ax_.get_xlim()[1] >= 200
    none = v.EventsDisplay.from_predictions(np.empty((0, 2), int), np.empty((0, 2), int), SEQUENCE)
    assert none.score_ == 1
    with pytest.raises(ValueError, match=r"events within the sequence of 20 samples\. Got one that ends at 30"):
        v.EventsDisplay([[0, 30]], [[0, 10]], QUERY)
    with pytest.raises(ValueError, match="'min_iou' parameter"):
        v.EventsDisplay([[0, 30]], [[0, 10]], min_iou=2)


# -------------------------------------------------------------------------------------------------------- repetitions
@pytest.mark.parametrize("count", [300, 301])
def test_of_many_repetitions_some_are_drawn(count):
    repetitions = np.arange(count)[:, np.newaxis] + np.array([0.0, 1.0, 5.0])
    repetitions[0, 1] = np.nan
    display = v.RepetitionsDisplay.from_predictions(repetitions)
    drawn = [line[0, 1] for line in display.repetition_lines_[0].get_segments()]
    assert len(drawn) == 300 and drawn[0] == 0 and drawn[-1] == count - 1
    assert display.mean_lines_[0].get_ydata()[0] == (count - 1) / 2


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
def test_ranks_stand_above_their_occurrences_and_cover_no_other(seed):
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, 180, 30 if seed else 3)
    y = rng.normal(size=200) if seed else SEQUENCE
    display = plot_search_distance_result(Found(starts, starts + 20, np.arange(len(starts))), y)
    ranks = [int(text.get_text()) for text in display.rank_texts_]
    assert ranks == sorted(ranks) and ranks[0] == 1 and len(ranks) >= (8 if seed else 3)
    display.figure_.canvas.draw()
    renderer = display.figure_.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in display.rank_texts_]
    for a, b in combinations(boxes, 2):
        assert not (min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1)
    assert max(box.y1 for box in boxes) <= display.ax_.bbox.y1 + 1
    for text, box, a in zip(display.rank_texts_, boxes, starts[np.array(ranks) - 1], strict=True):
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


# ----------------------------------------------------------------------------------------------------------- alignments

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


# -------------------------------------------------------------------------------------------------------- segmentations


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
            color = tuple(np.round(np.append(collection.get_facecolor()[:1], []), 3))
            found.append((box.x0, box.x1, color))
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


def test_segmentation_shades_neighbors_in_turn():
    segments = SimpleNamespace(start=[0, 40, 100], end=[40, 80, 200], label=[1, 1, 1])
    display = plot_segmentation(segments, SEQUENCE, np.arange(200) * 2.0)
    assert boundary_positions(display.boundary_lines_[0]) == [0, 80, 160, 200, 400]
    shaded = areas(display.repetition_areas_[0])
    assert [area[:2] for area in shaded] == [(0, 80), (80, 160), (200, 400)]
    assert shaded[0][2] == shaded[2][2] != shaded[1][2]
    assert shaded[0][2][:3] == shaded[1][2][:3]
    assert display.legend_ is None
    assert display.ax_.get_xlabel() == "time"


def test_segmentation_result_has_a_row_for_each_distance():
    result = {"Dynamic Time Warping": np.array([10, 60]), "Euclidean Distance": np.array([5, 50, 100])}
    display = plot_segmentation(result, np.column_stack([SEQUENCE, -SEQUENCE]))
    assert [ax.get_title(loc="left") for ax in display.axes_] == list(result)
    assert [boundary_positions(lines) for lines in display.boundary_lines_] == [[10, 60], [5, 50, 100]]
    for line in display.sequence_lines_:
        np.testing.assert_array_equal(line.get_ydata(), SEQUENCE)
    assert [ax.get_xlabel() for ax in display.axes_] == ["", "sample"]
    assert len(plot_segmentation({f"distance {k}": [k] for k in range(10)}, QUERY).axes_) == 10  # more than channels


def test_segmentation_colors_classes_and_hatches_what_is_partial():
    segments = {"start": [0, 40, 100], "end": [40, 80, 200], "label": [2, 1, 2], "partial": [True, False, True]}
    display = plot_segmentation(segments, np.column_stack([SEQUENCE, SEQUENCE]))
    for row in range(2):
        shaded = areas(display.repetition_areas_[row])
        assert shaded[0][2] == shaded[2][2]
        assert shaded[0][2][:3] != shaded[1][2][:3]
        assert boundary_positions(display.boundary_lines_[row]) == [0, 40, 80, 100, 200]
        assert [area[:2] for area in areas([display.partial_areas_[row]])] == [(0, 40), (100, 200)]
        assert display.partial_areas_[row].get_hatch() == "///"
    names = {"class 1 class 2 partial": segments, "class 1 class 2": segments | {"partial": [False] * 3}}
    for text, given in (names | {"partial": segments | {"label": [1, 1, 1]}}).items():
        display = plot_segmentation(given, SEQUENCE)
        assert " ".join(one.get_text() for one in display.legend_.get_texts()) == text
        assert len(display.partial_areas_) == ("partial" in text)
    none = plot_segmentation(SimpleNamespace(start=[], end=[], label=[]), SEQUENCE)
    assert len(none.boundary_lines_[0].get_segments()) == 0
    assert none.repetition_areas_ == [[]]


@pytest.mark.parametrize("apart", [4, 200])
def test_narrow_repetitions_are_lines_unless_they_would_run_into_blocks(apart):
    start = 1000 + apart * np.arange(40)
    segments = SimpleNamespace(start=start, end=start + 4, label=np.zeros(40, int))
    display = plot_segmentation(segments, np.zeros(10_000))
    assert len(display.strips_) == (apart == 4)
    assert [len(areas.get_paths()) for areas in display.repetition_areas_[0]] == ([20, 20] if apart == 200 else [])
    assert not len(display.boundary_lines_[0].get_segments())

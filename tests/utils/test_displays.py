"""Displays of estimators and results: profile, events, explanation, and what all of them share."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import date2num
from pictures import QUERY, SEQUENCE, Found

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import DTW, dtw
from sktslib.metrics import event_f1_score
from sktslib.utils import visualisation as v

pytestmark = pytest.mark.usefixtures("_closed_figures")
TWO = np.column_stack([SEQUENCE, -SEQUENCE])
SEARCHER = QuerySearcher("euclidean", n_matches=3).fit(QUERY)
SEGMENTER = QuerySegmenter("dtw").fit(QUERY)


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

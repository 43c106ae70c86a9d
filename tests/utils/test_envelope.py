"""Strips that stand for many ranges: shares of columns, colors, what they leave out."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures import Found

from sktslib._plots.base import FAINTEST, as_times, coverage, opacity, reduced
from sktslib.utils.visualisation import EventsDisplay, ProfileDisplay, SearchDisplay, SegmentationDisplay

pytestmark = pytest.mark.usefixtures("_closed_figures")
N = 60_000
Y = np.sin(np.arange(N) / 50)


def boxes(collection):
    return [path.get_extents() for path in collection.get_paths()]


@given(st.lists(st.tuples(st.integers(0, 90), st.integers(1, 30)), max_size=20), st.integers(1, 30))
def test_coverage_counts_what_lies_in_each_column(ranges, columns):
    left = np.array([a for a, _ in ranges], dtype=float)
    right = left + np.array([length for _, length in ranges], dtype=float)
    borders = np.linspace(0, 60, columns + 1)
    fine = (np.arange(60 * 64) + 0.5) / 64
    over = ((fine[:, np.newaxis] >= left) & (fine[:, np.newaxis] < right)).sum(axis=1)
    expected = np.bincount(np.searchsorted(borders, fine) - 1, over, columns) / (len(fine) / columns)
    np.testing.assert_allclose(coverage(borders, left, right), expected, atol=0.35 * max(len(ranges), 1) / columns)
    if columns in (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30):
        np.testing.assert_allclose(coverage(borders, left, right), expected, atol=1e-9)


@pytest.mark.parametrize("first", range(20))
def test_the_first_sample_of_a_long_line_is_drawn(first):
    steps = np.random.default_rng(first).integers(1, 10**6, 500)  # nanoseconds, which places on the axis do not tell
    times = as_times(np.datetime64("2024-03-01", "ns") + np.cumsum(steps).astype("m8[ns]"), 500, "times")
    y = np.zeros(500)
    y[first] = 5.0
    assert reduced(times, y, first, 500, 20)[1].max() == 5.0


def test_what_covers_little_is_seen_and_nothing_is_not():
    assert opacity(np.array([0.0, 1e-6, 0.5, 1.0, 3.0])).tolist() == pytest.approx(
        [0, FAINTEST, 0.5 + FAINTEST / 2, 1, 1], abs=1e-5
    )


def test_boundaries_above_one_for_four_pixels_are_a_strip():
    start = np.arange(0, N - 289, 289)[:207]
    segments = SimpleNamespace(start=start, end=start + 200, label=np.arange(207) % 3)
    display = SegmentationDisplay.from_predictions(segments, Y)
    assert len(display.boundary_lines_[0].get_segments()) == 0
    assert display.repetition_areas_ == [[]]
    columns = [box for strip in display.strips_[0] for box in boxes(strip)]
    assert max(box.y1 for box in columns) < 0.1
    assert display.ax_.get_yticks().min() >= Y.min() - 0.2  # none beside the strip
    assert min(box.x0 for box in columns) == pytest.approx(0, abs=N / 500)
    # A light and a dark strip for each class, in the class's colors.
    assert len(display.strips_[0]) == 6
    keys = [tuple(np.round(patch.get_facecolor()[:3], 3)) for patch in display.legend_.get_patches()]
    assert keys == [tuple(np.round(strip.get_facecolor()[0][:3], 3)) for strip in display.strips_[0][1::2]]
    # What the strips cover is what the repetitions cover.
    area = sum((box.x1 - box.x0) * (box.y1 - box.y0) for box in columns) / max(box.y1 for box in columns)
    assert area >= 207 * 200
    few = SegmentationDisplay.from_predictions(segments, Y, time_range=(1000, 9000))
    assert few.strips_ == []
    assert len(few.repetition_areas_[0]) == 6
    assert few.ax_.get_ylim()[0] > display.ax_.get_ylim()[0]


@pytest.mark.parametrize("count", [190, 200])
def test_the_limit_is_that_of_the_axes(count):
    import matplotlib.pyplot as plt

    ax = plt.figure(figsize=(10, 2), dpi=100).add_axes((0.1, 0.2, 0.78, 0.7))  # 780 pixels wide: 195 boundaries
    cuts = np.arange(count) * 100
    assert bool(SegmentationDisplay.from_predictions(cuts, Y, ax=ax).strips_) == (count == 200)


def test_boundaries_alone_are_darker_where_there_are_more():
    cuts = np.concatenate([np.arange(0, 30_000, 20), np.arange(30_000, N, 400)])
    strip = SegmentationDisplay.from_predictions(cuts, Y).strips_[0][0]
    alpha = strip.get_facecolor()[:, 3]
    middles = np.array([(box.x0 + box.x1) / 2 for box in boxes(strip)])
    assert alpha[middles < 29_000].min() > alpha[middles > 31_000].max()


def test_a_strip_of_occurrences_has_the_color_of_the_best():
    start = np.repeat(np.arange(0, N, 100), 2)
    distance = np.tile([3.0, 1.0], N // 100)
    distance[:2] = 2.0, 1.5
    display = SearchDisplay.from_predictions(Found(start, start + 100, distance), Y)
    assert len(display.occurrence_lines_[0].get_segments()) == 0
    assert display.rank_texts_ == []
    assert display.colorbar_.mappable.norm.vmax == 3
    colors = display.strips_[0].get_facecolor()
    best = display.colorbar_.mappable.to_rgba([1.5, 1.0])
    np.testing.assert_allclose(colors[0], best[0])
    np.testing.assert_allclose(colors[5:], np.tile(best[1], (len(colors) - 5, 1)))


def test_matches_of_a_profile_and_events_are_strips():
    start = np.arange(0, N, 100)
    found = Found(start, start + 50, np.zeros(len(start)))
    profile = ProfileDisplay.from_predictions(Y, found, sequence=Y)
    assert len(profile.match_points_[0].get_xdata()) == 0
    assert profile.match_areas_ is None
    assert len(profile.strips_) == 1
    true = np.column_stack([start, start + 50])
    events = EventsDisplay.from_predictions(true, true[::2], Y)
    assert (events.n_hit_, events.n_missed_, events.n_false_) == (300, 300, 0)
    hit, missed = (np.array([box.y1 - box.y0 for box in boxes(events.true_areas_[0][k])]) for k in ("hit", "missed"))
    # Half of the height of the lane is that of the hits.
    assert hit.sum() == pytest.approx(missed.sum(), rel=0.05)
    assert len(boxes(events.found_areas_[0]["false"])) == 0
    rgb = mpl.colors.to_rgb("#0072B2")
    np.testing.assert_allclose(events.true_areas_[0]["hit"].get_facecolor()[0][:3], rgb)

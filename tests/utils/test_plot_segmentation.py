"""Pictures of segmentations: what is drawn, its data and its labels."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.dates import date2num
from pictures import DATES, QUERY, SEQUENCE

from sktslib.utils.visualisation import plot_segmentation

pytestmark = pytest.mark.usefixtures("_closed_figures")


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


def test_segmentation_dates():
    display = plot_segmentation([0, 199, 200], SEQUENCE, DATES)
    expected = date2num([DATES[0], DATES[199], DATES[199] + (DATES[1] - DATES[0])])
    np.testing.assert_allclose(boundary_positions(display.boundary_lines_[0]), expected)


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

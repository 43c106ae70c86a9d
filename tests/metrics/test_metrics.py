"""Event scores against brute force, and what they promise."""

import math
import re
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import refused
from naive import runs

from sktslib.metrics import (
    boundary_error,
    event_f1_score,
    events_from_labels,
    labels_from_events,
    segmentation_covering,
)


# --------------------------------------------------------------------------------------------------- brute force
def slow_events(labels):
    return [(start, end) for start, end, label in runs(labels) if label != 0]


def iou(a, b):
    inter = len(set(range(*a)) & set(range(*b)))
    return inter / len(set(range(*a)) | set(range(*b)))


def matchings(true, pred, agree):
    """Every one-to-one set of agreeing pairs."""
    for size in range(min(len(true), len(pred)) + 1):
        for chosen in combinations(true, size):
            for partners in permutations(pred, size):
                if all(map(agree, chosen, partners)):
                    yield list(zip(chosen, partners, strict=True))


def slow_f1(true, pred, agree):
    total = len(true) + len(pred)
    return 1.0 if total == 0 else 2 * max(len(pairs) for pairs in matchings(true, pred, agree)) / total


def slow_error(true, pred, agree):
    if not true and not pred:
        return 0.0
    found = list(matchings(true, pred, agree))
    most = max(map(len, found))
    sums = [sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairs) for pairs in found if len(pairs) == most]
    return min(sums) / (2 * most) if most else math.inf


def slow_covering(y_true, y_pred):
    true, pred = ([(a, b) for a, b, _ in runs(y)] for y in (y_true, y_pred))
    return sum((b - a) * max(iou((a, b), other) for other in pred) for a, b in true) / len(y_true)


label_vectors = st.integers(0, 14).flatmap(
    lambda n: st.tuples(*[st.lists(st.sampled_from([0, 0, 1, 2]), min_size=n, max_size=n)] * 2)
)
event_lists = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 8)).map(lambda e: (e[0], e[0] + e[1])), max_size=4)
ious = st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.7, 1.0])


def intervals(events):
    return np.array(events, dtype=int).reshape(-1, 2)


# ----------------------------------------------------------------------------------------------------- properties
@given(label_vectors)
def test_labels_are_their_events(pair):
    y, other = pair
    events, others = events_from_labels(y), events_from_labels(other)
    assert events.dtype == np.intp and events.shape[1:] == (2,)
    assert [tuple(e) for e in events.tolist()] == slow_events(y)
    for score in (event_f1_score, boundary_error):
        assert score(y, other) == score(events, others) == score(y, others) == score(events, other)
    covering = segmentation_covering(y, other)
    assert covering == segmentation_covering(y, others) == segmentation_covering(events, other)
    assert covering == pytest.approx(slow_covering(y, other) if y else 1.0, rel=1e-12)
    assert event_f1_score(y, y) == event_f1_score(y, y, min_iou=1.0) == event_f1_score(y, y, tolerance=0) == 1.0
    assert (boundary_error(y, y), segmentation_covering(y, y)) == (0.0, 1.0)


@given(event_lists, event_lists, ious, st.sampled_from([0, 1, 2.5, 100]), st.integers(0, 99))
def test_scores_equal_brute_force(true, pred, min_iou, tolerance, seed):
    def overlap(a, b):
        return iou(a, b) >= min_iou

    def near(a, b):
        return abs(a[0] - b[0]) <= tolerance and abs(a[1] - b[1]) <= tolerance

    rng, a, b = np.random.default_rng(seed), intervals(true), intervals(pred)
    kept = a.copy(), b.copy()
    # Neither sides nor orders matter.
    for sides in ((a, b), (b, a), (rng.permutation(a), rng.permutation(b))):
        assert event_f1_score(*sides, min_iou=min_iou) == slow_f1(true, pred, overlap)
        assert event_f1_score(*sides, tolerance=tolerance) == slow_f1(true, pred, near)
        error = boundary_error(*sides, min_iou=min_iou)
        assert error == pytest.approx(slow_error(true, pred, overlap), rel=1e-12)
    np.testing.assert_array_equal(a, kept[0])
    np.testing.assert_array_equal(b, kept[1])


# --------------------------------------------------------------------------------------------------------- values


def test_kinds_are_not_compared():
    assert event_f1_score([0, 1, 1, 0, 2, 2], [0, 7, 7, 0, 7, 7]) == 1.0


def test_neighboring_kinds_are_two_events():
    assert event_f1_score([1, 1, 2, 2], [1, 1, 1, 1]) == pytest.approx(2 / 3)
    assert segmentation_covering([1, 1, 2, 2], [1, 1, 1, 1]) == 0.5


def test_thresholds_are_inclusive():
    assert event_f1_score([[0, 2]], [[1, 3]], min_iou=1 / 3) == 1.0
    assert event_f1_score([[0, 2]], [[1, 3]], min_iou=np.nextafter(1 / 3, 1)) == 0.0
    assert event_f1_score([[0, 2]], [[1, 3]], tolerance=1) == 1.0
    assert event_f1_score([[0, 2]], [[1, 3]], tolerance=0.99) == 0.0


def test_one_side_without_events():
    empty = np.empty((0, 2))
    assert event_f1_score([0, 0, 0], [0, 1, 0]) == 0.0
    assert event_f1_score(empty, [[0, 1]]) == event_f1_score([[0, 1]], empty) == 0.0
    assert boundary_error([0, 0, 0], [0, 1, 0]) == boundary_error([[0, 1]], empty) == math.inf
    assert segmentation_covering([0, 0, 0, 0], [0, 1, 0, 0]) == 0.5


def test_no_events_at_all():
    empty, some = np.empty((0, 2)), [[10, 20], [30, 40]]
    for nothing in ([], [0, 0], empty):
        assert event_f1_score(nothing, nothing) == event_f1_score(nothing, nothing, tolerance=1) == 1.0
        assert (boundary_error(nothing, nothing), segmentation_covering(nothing, nothing)) == (0.0, 1.0)
    assert segmentation_covering(some, []) == segmentation_covering(some, empty) == 0.25
    assert segmentation_covering([], [[10, 20]]) == 0.5
    assert event_f1_score([0, 1, 1, 0], []) == event_f1_score([], [0, 1, 1, 0]) == 0.0


def test_covering_of_two_event_arrays_ends_at_the_last_event():
    # Segments of the truth: [0, 4) [4, 8) [8, 10); of the prediction: [0, 4) [4, 10).
    assert segmentation_covering([[4, 8]], [[4, 10]]) == pytest.approx((4 * 1 + 4 * 4 / 6 + 2 * 2 / 6) / 10)


def test_tiny_min_iou_counts_any_overlap():
    assert event_f1_score([[0, 10**6]], [[999_999, 10**6 + 5]], min_iou=1e-300) == 1.0
    assert event_f1_score([[0, 10]], [[10, 20]], min_iou=1e-300) == 0.0


@pytest.mark.parametrize("dtype", [int, float, bool, np.uint8, object])
def test_dtypes_of_labels(dtype):
    y = np.array([0, 1, 1, 0, 1], dtype=dtype)
    assert events_from_labels(y).tolist() == [[1, 3], [4, 5]]
    assert event_f1_score(y, y.astype(int)) == 1.0


def test_many_events_are_compared_with_their_neighbors_only():
    # A table of all pairs would take 80 GB.
    starts = np.arange(100_000) * 20
    true, pred = np.column_stack([starts, starts + 10]), np.column_stack([starts + 1, starts + 11])
    assert event_f1_score(true, pred) == 1.0
    assert event_f1_score(true, pred, tolerance=1) == 1.0
    assert boundary_error(true[:5000], pred[:5000]) == 1.0
    # One event around all the others must not make candidates of them.
    around = np.vstack([true, [[0, 3_000_000]]])
    assert event_f1_score(around, pred) == 2 * 100_000 / 200_001
    labels = np.zeros(2_000_000, dtype=int)
    labels[(true[:, :1] + np.arange(10)).ravel()] = 1
    assert segmentation_covering(labels, labels) == 1.0


# --------------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array(["a", 1.5], dtype=object), "must hold numbers, bools or texts"),
        ([1, None], "Got dtype object. Number the labels"),
        ([1 + 1j], "Got dtype complex128"),
        ([0.0, np.nan, np.nan], "Got 2 NaN, the first at index 1. Use 0 for background."),
        ([[0, 1], [1, 2]], "must be a label for each time point, of shape (n,). Got shape (2, 2)."),
        ([[0, 1], [1]], "Got rows of different lengths."),
    ],
)
def test_errors_of_labels(y, message):
    refused(lambda: events_from_labels(y), message)


@pytest.mark.parametrize("score", [event_f1_score, boundary_error, segmentation_covering])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["N", "V"]], "The '{}' parameter must hold numbers, bools or texts"),
        (np.zeros((4, 1)), "The '{}' parameter must be labels of shape (n,) or events of shape (n_events, 2). Got"),
        ([[0, 2], [3, 3]], "'{}' parameter must hold events [start, end) with 0 <= start < end. Got [3, 3] in row 1."),
        ([[-1, 2]], "Got [-1, 2] in row 0. Drop empty events"),
        ([[0, 2], [0.5, 2]], "'{}' parameter must hold sample indices, which are integers below 2**53. Got 0.5 at"),
        ([[0, np.inf]], "Got inf at index (0, 1). Convert times to indices"),
        ([0, np.nan], "The '{}' parameter must have a label for each time point. Got 1 NaN, the first at index 1."),
    ],
)
def test_errors_name_the_input(score, y, message):
    for arguments, name in (((y, [[0, 1]]), "y_true"), (([[0, 1]], y), "y_pred")):
        with pytest.raises(ValueError, match=re.escape(message.format(name))):
            score(*arguments)


@pytest.mark.parametrize("score", [event_f1_score, boundary_error, segmentation_covering])
def test_labels_of_different_lengths(score):
    refused(lambda: score([0, 1, 1], [0, 1]), "must label the same time points. Got 3 and 2 labels")


@pytest.mark.parametrize("score", [event_f1_score, boundary_error])
@pytest.mark.parametrize(("name", "span"), [("min_iou", "(0, 1]"), ("tolerance", "[0, inf)")])
@pytest.mark.parametrize("value", [-0.1, np.nan, True, "half"])
def test_limits_have_their_range(score, name, span, value):
    if name == "min_iou" or score is event_f1_score:
        message = re.escape(f"The '{name}' parameter must be a real number in the range {span}. Got {value!r}.")
        with pytest.raises((ValueError, TypeError), match=message):
            score([0, 1], [0, 1], **{name: value})
    for wrong in (0, 1.5):
        with pytest.raises(ValueError, match="'min_iou' parameter must be a real number in the range"):
            score([0, 1], [0, 1], min_iou=wrong)


def test_covering_needs_disjoint_events_inside_the_recording():
    refused(lambda: segmentation_covering([[0, 4]], [[3, 6], [0, 4]]), "'y_pred' parameter must hold disjoint events")
    with pytest.raises(ValueError, match="'y_true' parameter must hold events within the recording of 3 time points"):
        segmentation_covering([[0, 4]], [0, 1, 1])


def test_texts_are_labels():
    kinds = np.array(["", "N", "N", "V", "0", "V"])
    for labels in (kinds, kinds.astype(object), kinds.tolist(), pd.Series(kinds)):
        np.testing.assert_array_equal(events_from_labels(labels), [[1, 3], [3, 4], [5, 6]])
        assert event_f1_score(labels, [0, 1, 1, 2, 0, 3]) == 1.0
    events = [[1, 4], [6, 8]]
    np.testing.assert_array_equal(events_from_labels(labels_from_events(events, ["N", "V"], n_samples=9)), events)
    assert boundary_error(kinds, kinds) == 0.0
    assert segmentation_covering(kinds, kinds) == 1.0


def test_labels_of_peaks_and_widened_events():
    peaks = np.array([1, 9, 18])
    y = labels_from_events(peaks, ["a", "b", "a"], n_samples=20, before=2, after=3)
    expected = labels_from_events([[0, 4], [7, 12], [16, 20]], ["a", "b", "a"], n_samples=20)
    np.testing.assert_array_equal(y, expected)
    wide = labels_from_events([[3, 5], [9, 10]], n_samples=20, before=1)
    np.testing.assert_array_equal(wide, labels_from_events([[2, 5], [8, 10]], n_samples=20))
    refused(lambda: labels_from_events([5, -3], n_samples=20, after=1), "must hold samples from 0 on. Got -3")
    refused(lambda: labels_from_events([5], n_samples=20, before=-1), "'before' parameter must be an integer")
    refused(lambda: labels_from_events([5, 6], n_samples=20, before=2, after=2), "overlap")
    assert not labels_from_events([], n_samples=4, before=2).any()
    for events in ([[1, 5, 9]], 5, np.ones((2, 2, 2), int)):
        with pytest.raises(ValueError, match="'events' parameter must be labels of shape"):
            labels_from_events(events, n_samples=20, before=1)
    with pytest.raises(ValueError, match=r"no range that ends before it starts. Got \[9, 3\] in row 1"):
        labels_from_events([[1, 2], [9, 3]], n_samples=20, after=9)

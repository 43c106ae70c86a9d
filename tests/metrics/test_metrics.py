"""Event scores against brute force, and what they promise; events that overlap; reports."""

import pickle
import re

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import refused

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.metrics import (
    boundary_error,
    event_f1_score,
    event_report,
    events_from_labels,
    labels_from_events,
    segmentation_covering,
)
from sktslib.preprocessing import resample

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
    assert [tuple(e) for e in events.tolist()] == naive.events(y)
    for score in (event_f1_score, boundary_error):
        assert score(y, other) == score(events, others) == score(y, others) == score(events, other)
    covering = segmentation_covering(y, other)
    assert covering == segmentation_covering(y, others) == segmentation_covering(events, other)
    assert covering == pytest.approx(naive.segmentation_covering(y, other), rel=1e-12)
    assert event_f1_score(y, y) == event_f1_score(y, y, min_iou=1.0) == event_f1_score(y, y, tolerance=0) == 1.0
    assert (boundary_error(y, y), segmentation_covering(y, y)) == (0.0, 1.0)


@given(event_lists, event_lists, ious, st.sampled_from([0, 1, 2.5, 100]), st.integers(0, 99))
def test_scores_equal_brute_force(true, pred, min_iou, tolerance, seed):
    rng, a, b = np.random.default_rng(seed), intervals(true), intervals(pred)
    kept = a.copy(), b.copy()
    # Neither sides nor orders matter.
    for sides in ((a, b), (b, a), (rng.permutation(a), rng.permutation(b))):
        assert event_f1_score(*sides, min_iou=min_iou) == naive.event_f1(*sides, min_iou)
        assert event_f1_score(*sides, tolerance=tolerance) == naive.event_f1(*sides, tolerance=tolerance)
        error = boundary_error(*sides, min_iou=min_iou)
        assert error == pytest.approx(naive.boundary_error(*sides, min_iou), rel=1e-12)
    np.testing.assert_array_equal(a, kept[0])
    np.testing.assert_array_equal(b, kept[1])


# --------------------------------------------------------------------------------------------------------- values


def test_thresholds_are_inclusive():
    assert event_f1_score([[0, 2]], [[1, 3]], min_iou=1 / 3) == 1.0
    assert event_f1_score([[0, 2]], [[1, 3]], min_iou=np.nextafter(1 / 3, 1)) == 0.0
    assert event_f1_score([[0, 2]], [[1, 3]], tolerance=1) == 1.0
    assert event_f1_score([[0, 2]], [[1, 3]], tolerance=0.99) == 0.0


def test_no_events_at_all():
    empty, some = np.empty((0, 2)), [[10, 20], [30, 40]]
    for nothing in ([], [0, 0], empty):
        assert event_f1_score(nothing, nothing) == event_f1_score(nothing, nothing, tolerance=1) == 1.0
        assert (boundary_error(nothing, nothing), segmentation_covering(nothing, nothing)) == (0.0, 1.0)
    assert segmentation_covering(some, []) == segmentation_covering(some, empty) == 0.25
    assert segmentation_covering([], [[10, 20]]) == 0.5
    assert event_f1_score([0, 1, 1, 0], []) == event_f1_score([], [0, 1, 1, 0]) == 0.0


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


# -------------------------------------------------------------------------------------------------- events that overlap

A, B = [5, 11], [3, 9]


def text_of(events, kinds=None, n=12, **rest):
    return "".join(map(str, labels_from_events(events, kinds, n_samples=n, **rest).tolist()))


def ways_in(message):
    """The values of on_overlap that a message names."""
    return re.findall(r"'(cut|merge|first)' to", message)


def test_events_that_overlap_are_an_error_that_names_ways_out():
    with pytest.raises(
        ValueError, match=r"Got 2 of 3 that do, the first \[3, 9\] of class 1 and \[5, 11\] of"
    ) as error:
        text_of([A, B, [0, 2]])
    assert ways_in(str(error.value)) == ["cut", "merge", "first"]
    with pytest.raises(ValueError, match=r"class 'y' and .* of class 'x'") as error:
        text_of([A, B], ["x", "y"])
    assert ways_in(str(error.value)) == ["cut", "first"]  # two classes cannot be one event
    with pytest.raises(ValueError, match="even with on_overlap='merge'") as error:
        text_of([A, B], ["x", "y"], on_overlap="merge")
    assert ways_in(str(error.value)) == ["cut", "first"]
    with pytest.raises(
        ValueError, match=r"The 'on_overlap' parameter of labels_from_events must be .* Did you mean 'merge'\?"
    ):
        text_of([A, B], on_overlap="merged")
    assert text_of([A, B], ["x", "x"], n=4) == "x"  # the other lies behind the end


def test_what_may_be_done_with_events_that_overlap():
    assert text_of([A, B], on_overlap="first") == "000001111110"
    assert text_of([B, A], on_overlap="first") == "000111111000"
    assert text_of([A, B], on_overlap="merge") == "000111111110"
    assert text_of([A, B, [9, 10], [0, 4]], list("xxyx"), on_overlap="first") == "xxxxxxxxxx"
    assert text_of([B, [0, 3], A], on_overlap="merge") == "111011111110"  # of two that touch each is kept
    assert text_of([A, B], on_overlap="cut") == "000111101110"
    assert text_of([A, B], ["x", "y"], on_overlap="cut") == "yyyyxxxx"


def test_single_samples_that_touch_do_not_vanish():
    assert text_of([[3, 4], [4, 5]]) == "000110000000"
    assert text_of([[3, 9], [9, 10]]) == "000111110100"
    assert text_of([[3, 4], [4, 9]]) == "000101111000"
    assert text_of([[3, 9], [9, 12]], n=10) == "0001111101"  # a single one is left of the last
    assert text_of([[3, 4], [4, 5], [5, 6]], ["x", "y", "y"]) == "xyy"
    assert text_of([[3, 9], [8, 9]], on_overlap="cut") == "000111101000"
    with pytest.raises(ValueError, match="even with on_overlap='cut'") as error:
        text_of([[3, 4], [3, 4]], ["x", "y"], on_overlap="cut")
    assert ways_in(str(error.value)) == ["first"]
    assert text_of([[3, 4], [3, 4]], ["x", "y"], on_overlap="first") == "x"


events = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8), st.sampled_from("xy")), min_size=1, max_size=6)


@given(events)
def test_each_way_out_of_an_error_works(drawn):
    ranges, kinds = [(s, s + length) for s, length, _ in drawn], [kind for *_, kind in drawn]
    samples = [{k for s, length, own in drawn if own == kind for k in range(s, s + length)} for kind in "xy"]
    try:
        labels_from_events(ranges, kinds, n_samples=30)
        shared = False
    except ValueError as error:
        shared, ways = True, ways_in(str(error))
    distinct = {(*r, kind) for r, kind in zip(ranges, kinds, strict=True)}
    assert shared == any(a != b and max(a[0], b[0]) < min(a[1], b[1]) for a in distinct for b in distinct)
    for way in ways if shared else ():
        labels = labels_from_events(ranges, kinds, n_samples=30, on_overlap=way)
        for own, kind in zip(samples, "xy", strict=True):
            assert set(np.flatnonzero(labels == kind)) <= own  # no sample gets a class that it had not
        if way == "first":
            assert (labels[slice(*ranges[0])] == kinds[0]).sum() >= max(ranges[0][1] - ranges[0][0] - 2, 1)
        if way == "cut":
            assert all((labels[s:e] != "").any() for s, e in ranges)


def test_events_that_are_rounded_to_one_sample_stay_two_classes():
    y = np.repeat([0, 1, 2, 0], [10, 1, 10, 9])
    _, new = resample(np.arange(30.0), y, rate=0.5, sampling_rate=1)
    assert events_from_labels(new).shape == (2, 2) and set(new.tolist()) == {0, 1, 2}
    with pytest.raises(ValueError, match="The 'rate' parameter must leave a sample of each event"):
        resample(np.arange(30.0), np.repeat([0, 1, 2, 0], [10, 1, 1, 18]), rate=0.25, sampling_rate=1)


# -------------------------------------------------------------------------------------------------------------- reports

QUERY = np.array([0.0, 2.0, 4.0, 2.0, 0.0])
OTHER = np.array([0.0, -3.0, 3.0, -3.0, 0.0])
SEQUENCE = np.concatenate([np.full(5, 9.0), QUERY, np.full(5, 9.0), OTHER, np.full(5, 9.0), QUERY + 1, np.full(5, 9.0)])
TRUE, KINDS = [[5, 10], [15, 20], [25, 30]], ["a", "b", "a"]


@st.composite
def ranges(draw):
    starts = draw(st.lists(st.integers(0, 25), max_size=5))
    return np.array([(s, s + draw(st.integers(1, 8))) for s in starts], int).reshape(-1, 2)


@given(ranges(), ranges(), st.sampled_from([0.1, 0.5, 1.0]), st.none() | st.integers(0, 3))
def test_rows_add_up_to_the_scores(true, found, min_iou, tolerance):
    report = event_report(true, found, min_iou=min_iou, tolerance=tolerance)
    assert report.f1 == event_f1_score(true, found, min_iou=min_iou, tolerance=tolerance)
    assert sorted(report.true[report.true >= 0]) == [*range(len(true))]
    assert sorted(report.found[report.found >= 0]) == [*range(len(found))]
    assert report.n_hit + report.n_missed == len(true) and report.n_hit + report.n_false == len(found)
    if report.precision + report.recall:
        assert report.f1 == pytest.approx(2 * report.precision * report.recall / (report.precision + report.recall))
    if tolerance is None and report.n_hit:
        hit = report.kind == "hit"
        mean = np.abs([report.start_error[hit], report.end_error[hit]]).mean()
        assert mean == pytest.approx(boundary_error(true, found, min_iou=min_iou))
    ordered = true[np.argsort(true[:, 0], kind="stable")]
    for k in range(len(report)):
        i, j = report.true[k], report.found[k]
        others = found if i >= 0 else ordered
        own = ordered[i] if i >= 0 else found[j]
        overlap = [naive.intersection_over_union(tuple(own), tuple(one)) for one in others]
        if report.kind[k] == "hit":
            assert report.overlaps[k] == j and report.iou[k] == pytest.approx(overlap[j])
            assert report.start_error[k] == found[j, 0] - ordered[i, 0]
            assert report.cause[k] == ""
            continue
        assert report.iou[k] == pytest.approx(max(overlap, default=0.0))
        assert (report.overlaps[k] >= 0) == (report.iou[k] > 0)
        assert np.isnan(report.start_error[k])
        agrees = [
            o >= min_iou if tolerance is None else np.abs(own - one).max() <= tolerance
            for o, one in zip(overlap, others, strict=True)
        ]
        assert report.cause[k] == ("double" if any(agrees) else "borders" if report.iou[k] else "nothing")
    start = np.where(report.true >= 0, report.true_start, report.found_start)
    assert (np.diff(start) >= 0).all()


def test_distances_tell_why():
    searcher = QuerySearcher("euclidean", threshold=1.0).fit({"a": QUERY, "b": OTHER})
    matches = searcher.search(SEQUENCE, times=np.arange(35) * 0.5)
    report = event_report(TRUE, matches, kinds=KINDS)
    assert report.kind.tolist() == ["hit", "hit", "missed"] and report.cause.tolist() == ["", "", "distance"]
    apart = np.linalg.norm(QUERY - OTHER)
    assert report.next_query.tolist() == [1, 0, -1]
    np.testing.assert_allclose(report.next_distance[:2], [apart, apart])
    np.testing.assert_allclose(report.distance, [0, 0, np.sqrt(5)])  # each point is 1 off
    assert report.true_label.tolist() == KINDS and report.label.tolist() == ["a", "b", None]
    assert report.start_error_time.tolist()[:2] == [0, 0]
    wide = event_report([[5, 10], [15, 20], [19, 30]], matches, kinds=KINDS)  # touches a match, but that is not why
    assert wide.cause.tolist() == ["", "", "distance"] and wide.overlaps[2] >= 0
    wrong = event_report(TRUE, matches, kinds=["b", "b", "a"])
    assert wrong.cause.tolist() == ["label", "", "distance"] and wrong.summary()["other_label"] == 1
    again = event_report(TRUE, pickle.loads(pickle.dumps(matches)), kinds=KINDS)
    assert again.cause.tolist() == ["", "", "nothing"] and np.isnan(again.distance[2])  # its samples are gone
    frame = report.to_frame()
    assert frame["found_start"].isna().tolist() == [False, False, True] and frame["true"].tolist() == [0, 1, 2]
    assert "3" in report._repr_html_() and "2 hit, 1 missed, 0 false" in repr(report)
    several = searcher.search([SEQUENCE])
    with pytest.raises(ValueError, match="must hold events of one sequence"):
        event_report(TRUE, several)


def test_costs_of_segments_tell_why():
    sequence = np.concatenate([SEQUENCE[:15], 1.3 * QUERY, np.full(5, 9.0)])
    segmenter = QuerySegmenter("dtw", threshold=0.02, background=9.0).fit({"a": QUERY})
    segments = segmenter.segment(sequence)
    assert segments.threshold.tolist() == [0.02]
    cost = sum((0.3 * QUERY) ** 2)
    for found in (segments, segments[:1]):
        report = event_report([[5, 10], [15, 20]], found)
        assert report.kind.tolist() == ["hit", "missed"] and report.cause.tolist() == ["", "distance"]
        assert 0.02 * len(QUERY) < report.distance[1] <= cost * (1 + 1e-12)
    assert segmenter.set_params(threshold=None).segment(sequence).threshold is None
    lax = segmenter.set_params(threshold=2.0).segment(sequence)
    assert lax.threshold.tolist() == [2.0]
    assert event_report([[5, 10], [15, 20]], lax[:1]).cause.tolist() == ["", "nothing"]  # it was found, and not chosen


def test_doubles_within_a_tolerance_need_not_overlap():
    report = event_report([[100, 101]], [[99, 100], [101, 102]], tolerance=2)
    assert sorted(zip(report.kind.tolist(), report.cause.tolist(), strict=True)) == [("false", "double"), ("hit", "")]


def test_errors_in_time_beside_a_hole():
    times = np.arange(60) * 0.1
    times[25:] += 3600.0
    report = event_report([[5, 10], [20, 25], [40, 45]], [[5, 10], [20, 23], [41, 45]], times=times)
    np.testing.assert_allclose(report.end_error_time, [0.0, -0.2, 0.0], atol=1e-9)
    np.testing.assert_allclose(report.start_error_time, [0.0, 0.0, 0.1], atol=1e-9)


@pytest.mark.parametrize("method", ["search", "segment"])
def test_a_missed_event_is_compared_with_the_queries_of_its_class(method):
    flat = np.full(5, 1.5)  # nearer to the other query
    sequence = np.concatenate([np.full(5, 9.0), QUERY, np.full(5, 9.0), flat, np.full(5, 9.0), QUERY, np.full(5, 9.0)])
    queries = {"a": QUERY, "b": OTHER}
    if method == "search":
        found = QuerySearcher("euclidean", threshold=1.0).fit(queries)
    else:
        found = QuerySegmenter("dtw", background=1.0).fit(queries)
    found = getattr(found, method)(sequence)
    assert set(found.label) == {"a"}
    own, other = (float(np.sum((flat - q) ** 2)) for q in (OTHER, QUERY))
    assert own > other
    report = event_report(TRUE, found, kinds=["a", "b", "a"])
    assert report.kind.tolist() == ["hit", "missed", "hit"]
    power = 0.5 if method == "search" else 1.0
    np.testing.assert_allclose(report.distance[1], own**power)
    # Without its class it may be any query's, and of a class without a query there is no distance.
    np.testing.assert_allclose(event_report(TRUE, found).distance[1], other**power)
    strange = event_report(TRUE, found, kinds=["a", "c", "a"])
    assert np.isnan(strange.distance[1]) and strange.cause[1] == "nothing"
    named = event_report(TRUE, found, kinds=["x", "y", "x"])  # other names than the queries'
    np.testing.assert_allclose(named.distance[1], other**power)


def test_segments_labels_and_times():
    segmenter = QuerySegmenter("dtw").fit({"a": QUERY, "b": OTHER})
    times = pd.date_range("2024-03-31 01:59:50", periods=35, freq="s", tz="Europe/Berlin")  # the clock is set ahead
    segments = segmenter.segment(SEQUENCE, times=times)
    y = labels_from_events(TRUE, KINDS, n_samples=35)
    report = event_report(y, segments)
    assert report.f1 == 1 and report.cause.tolist() == ["", "", ""]
    assert report.distance.tolist() == segments.cost.tolist() and report.next_query.tolist() == [1, 0, 1]
    assert (report.next_distance > report.distance).all()
    shifted = event_report(TRUE, np.add(TRUE, [1, 2]), times=times, min_iou=0.3)
    assert shifted.end_error_time.tolist() == [2, 2, 2] == shifted.end_error.tolist()
    assert shifted.distance is None and shifted.label is None
    at_end = event_report([[0, 3]], [[0, 4]], times=[0.0, 1.0, 4.0, 5.0])
    assert at_end.end_error_time.tolist() == [1.0]  # the end lies one last step behind
    by_labels = event_report(y, y)
    assert by_labels.label.tolist() == KINDS and by_labels.summary()["f1"] == 1


@pytest.mark.parametrize(
    ("true", "found", "rest", "message"),
    [
        (TRUE, TRUE, {"times": [1.0, 2.0]}, "'times' must have a time for each sample"),
        ([[0, 5]], [[0, 4]], {"times": [0.0, 1.0, 4.0, 5.0]}, "Got 4, and an event ends at 5. Clip the events to"),
        (np.mean(TRUE, axis=1), TRUE, {}, "Got 3, and an event ends at"),  # peaks
        (TRUE, "matches", {}, "'found' parameter must hold"),
        (np.ones(35), TRUE, {"kinds": KINDS}, "'kinds' parameter must be None"),
        (TRUE, TRUE, {"kinds": ["a"]}, "one class for each of the 3 events"),
    ],
)
def test_errors_say_what_is_wrong(true, found, rest, message):
    with pytest.raises(ValueError, match=message):
        event_report(true, found, **rest)


def test_nothing_found_and_nothing_true():
    none = np.empty((0, 2), int)
    assert [getattr(event_report(none, none), name) for name in ("precision", "recall", "f1")] == [1, 1, 1]
    missed, false = event_report(TRUE, none), event_report(none, TRUE)
    assert (missed.precision, missed.recall, missed.f1) == (false.precision, false.recall, false.f1) == (0, 0, 0)
    empty = QuerySearcher("euclidean", threshold=0.0).fit(QUERY + 3).search(SEQUENCE)
    report = event_report(TRUE, empty)
    assert report.cause.tolist() == ["distance"] * 3 and (report.distance > 0).all()
    kept = event_report(TRUE, pickle.loads(pickle.dumps(empty)))
    assert kept.cause.tolist() == ["nothing"] * 3

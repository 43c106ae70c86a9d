"""Reports of events: what they list adds up to the score, and each row says what it is."""

import pickle

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.metrics import boundary_error, event_f1_score, event_report, labels_from_events

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

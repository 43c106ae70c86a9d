"""Labels of events that are listed twice, overlap, or touch."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktslib.metrics import events_from_labels, labels_from_events
from sktslib.preprocessing import resample

A, B = [5, 11], [3, 9]


def text_of(events, kinds=None, n=12, **rest):
    return "".join(map(str, labels_from_events(events, kinds, n_samples=n, **rest).tolist()))


def ways_in(message):
    """The values of on_overlap that a message names."""
    return re.findall(r"'(cut|merge|first)' to", message)


def test_an_event_that_is_listed_twice_is_one():
    assert text_of([[3, 9], [3, 9]]) == "000111111000"
    assert text_of([[3, 9], [1, 2], [3, 9], [3, 9]], list("abaa")).replace("a", "") == "b"


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

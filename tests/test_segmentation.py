"""Optimal tilings against brute force over all tilings."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import pairs, plain

from sktslib import QuerySegmenter, get_distance_dict, load_ecg_example, time_series_segmentation
from sktslib.distances import get_metric, metric_names

TILES = [
    ("dtw", {}),
    ("lcss", {"eps": 0.8}),
    ("twed", {"nu": 0.0}),
    ("adtw", {"omega": 0.5}),
    ("edr", {"eps": 0.8}),
    ("erp", {"g": 0.5}),
    ("msm", {"c": 0.5}),
]


def total(segments, background, n):
    return segments.cost.sum() + background * (n - (segments.end - segments.start).sum())


@given(st.data())
def test_elastic_tiling_is_the_cheapest(data):
    x, y, w = data.draw(pairs(low=1, high=4, y_low=2, y_high=7, values=plain))
    name, p = data.draw(st.sampled_from(TILES))
    metric = get_metric(name, p)
    n = len(y)
    background = data.draw(st.sampled_from(["auto", 0.3, 1.0]))
    segmenter = QuerySegmenter(metric, background=background).fit(x, weight=w)
    if background == "auto":
        background = naive.background(name, x, w, **p)
        assert segmenter.background_ == pytest.approx(background, rel=1e-9, abs=1e-12)
    segments = segmenter.segment(y)
    least, _ = naive.tilings(len(x), n, lambda s, e: naive.tile_cost(name, x, y, w, s, e, **p), background)
    assert total(segments, background, n) == pytest.approx(least, rel=1e-9, abs=1e-11)
    for s, e, label, cost in segments:
        assert 0 <= s < e <= n
        assert label == 1
        assert cost == pytest.approx(naive.tile_cost(name, x, y, w, s, e, **p), rel=1e-9, abs=1e-11)
    assert (segments.start[1:] >= segments.end[:-1]).all()


@pytest.mark.parametrize("name", metric_names("lockstep"))
@given(data=st.data())
def test_lockstep_tiling_is_the_cheapest(name, data):
    x, y, w = data.draw(pairs(low=1, high=3, y_low=3, y_high=8, values=plain))
    n, m = len(y), len(x)
    background = data.draw(st.sampled_from(["auto", 0.3, 1.0]))
    segmenter = QuerySegmenter(name, background=background).fit(x, weight=w)
    if background == "auto":
        background = naive.background(name, x, w)
        assert segmenter.background_ == pytest.approx(background, rel=1e-9, abs=1e-12)
    if not np.isfinite(background):
        return  # the query's own mirror image about zero is infinitely far by Bray-Curtis
    segments = segmenter.segment(y)
    cost = {s: naive.tile_cost(name, x, y, w, s, s + m) for s in range(n - m + 1)}
    least, _ = naive.tilings(m, n, lambda s, e: cost[s] if e - s == m else np.inf, background)
    assert total(segments, background, n) == pytest.approx(least, rel=1e-9, abs=1e-11)
    assert ((segments.end - segments.start) == m).all()


def test_lengths_are_bounded():
    y = np.array([5, 5, 0, 1, 3, 3, 3, 3, 1, 0, 5, 5, 0, 1, 3, 1, 0, 5], dtype=float)
    query = [0, 1, 3, 1, 0]
    free = QuerySegmenter().fit(query).segment(y)
    np.testing.assert_array_equal(free.boundaries, [2, 10, 12, 17])
    np.testing.assert_array_equal(QuerySegmenter(max_length=6).fit(query).segment(y).boundaries, [12, 17])
    np.testing.assert_array_equal(QuerySegmenter(min_length=6).fit(query).segment(y).boundaries, [2, 10])


def test_functional_segmentation_is_the_tiling():
    ecg = load_ecg_example()
    cfg = get_distance_dict(["Dynamic Time Warping", "Euclidean Distance", "twed"])
    got = time_series_segmentation(cfg, ecg["query"], ecg["sequence"], ecg["weight"])
    for key, metric in (
        ("Dynamic Time Warping", "dtw"),
        ("Euclidean Distance", "euclidean"),
        ("Time Warp Edit Distance", "twed"),
    ):
        segments = QuerySegmenter(metric).fit(ecg["query"], weight=ecg["weight"]).segment(ecg["sequence"])
        np.testing.assert_array_equal(got[key], segments.boundaries)
        np.testing.assert_array_equal(got[key], np.union1d(segments.start, segments.end))


def test_normal_beats_by_twed_are_segments_of_their_own():
    ecg = load_ecg_example()
    segments = QuerySegmenter("twed").fit(ecg["query"], weight=ecg["weight"]).segment(ecg["sequence"])
    for beat in ecg["beats"][ecg["beat_kinds"] == "N"]:
        inside = (segments.start <= beat) & (beat < segments.end)
        assert inside.sum() <= 1
    assert ((segments.start[:, None] <= ecg["beats"]) & (ecg["beats"] < segments.end[:, None])).sum(axis=1).max() == 1


@pytest.mark.parametrize("metric", ["dtw", "lcss", "twed", "euclidean"])
def test_a_constant_recording_is_background_or_the_query(metric):
    segments = QuerySegmenter(metric).fit([0.0, 1.0, 5.0, 1.0]).segment(np.full(12, 40.0))
    assert len(segments) == 0
    assert segments.boundaries.size == 0


def test_callable_metric_tiles_windows():
    def worst(x, y):
        return np.abs(x - y).max()

    y = [9, 0, 1, 0, 9, 9, 0, 1, 0, 9]
    segments = QuerySegmenter(worst).fit([0, 1, 0]).segment(y)
    want = QuerySegmenter(get_metric("chebyshev")).fit([0, 1, 0]).segment(y)
    np.testing.assert_array_equal(segments.start, [1, 6])
    np.testing.assert_array_equal(want.start, [1, 6])

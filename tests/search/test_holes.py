"""What spans no hole in time: searches and segmentations of each stretch between holes, joined."""

import itertools
import pickle
from datetime import timedelta

import naive
import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices, searcher_of, segmenter_of
from strategies import compiled, pairs, parameters, plain, quarters, series, times, unmeant, weights

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import DDTW, DTW, ERP, LCSS, TWED, Euclidean, get_metric, metric_names
from sktslib.search import _pruning

CLOSE = {"rtol": 1e-8, "atol": 1e-9}
GAP = 2.0
# Holes know nothing of a distance: all are looked at in plain Python, a few of each driver when compiled.
PLAIN = numba.config.DISABLE_JIT
NAMES = [*metric_names("lockstep"), *metric_names("elastic")] if PLAIN else ["cosine", "dtw", "lcss", "sbd", "twed"]
WARPED = ["dtw", *naive.WARPED] if PLAIN else ["dtw", "lcss", "twed"]
pytestmark = [unmeant, pytest.mark.usefixtures("_plain_kernels_may_overflow")]


@st.composite
def broken(draw, n):
    """Times of n samples, with steps of at most GAP but for holes, which may follow one another."""
    few = draw(st.sampled_from([[1.0, GAP], [1.0, 1.0, GAP, 9.0], [1.0, 9.0], [1.0] * 9 + [9.0]]))
    return np.cumsum(draw(st.lists(st.sampled_from(few), min_size=n, max_size=n)))


def ranges_of(ts):
    return naive.between_holes(ts, GAP)


# ----------------------------------------------------------------------------------------------------------- searches
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_windows_between_holes(name, data):
    x, y, w = data.draw(pairs(high=5, y_low=5, y_high=14, values=data.draw(st.sampled_from([quarters, plain]))))
    x, y, ts = naive.domain(name, x), naive.domain(name, y), data.draw(broken(len(y)))
    plainly = naive.TABLE[name].is_sharp or name in naive.POSITIVE
    how = None if plainly else data.draw(st.sampled_from([None, "mean", "zscore"]))
    tq = data.draw(times(len(x))) / 2 if get_metric(name).uses_times and data.draw(st.booleans()) else None
    p = data.draw(parameters(name))

    def search(a, b):
        timed = {} if tq is None else {"tq": tq, "ts": ts[a:b]}
        return naive.windows(name, x, y[a:b], w, normalize=how, **timed, **p)

    want = naive.joined_windows(search, len(y), len(x), ranges_of(ts))
    rules = {"mode": "windows", "normalize": how, "max_gap": GAP, "n_matches": None}
    searcher = searcher_of(get_metric(name, p), **rules).fit(x, weight=w, times=tq)
    got = searcher.profile(y, times=ts)
    distance, want = (naive.bounded(name, p, d) for d in (got.distance, want))
    np.testing.assert_allclose(distance, want, **CLOSE)
    chosen = naive.select(got.distance, got.start, got.end)
    assert sorted(searcher.search(y, times=ts).start) == sorted(got.start[chosen])


@pytest.mark.slow
@given(st.data())
def test_subsequences_between_holes(data):
    x, y, w = data.draw(pairs(values=quarters, high=5, y_low=3, y_high=14))
    name, ts = data.draw(st.sampled_from(WARPED)), data.draw(broken(len(y)))
    p, r = data.draw(parameters(name)), data.draw(st.sampled_from([None, None, 1]))
    band = {} if r is None else {"window": "sakoe-chiba", "factor": r}
    tq = data.draw(times(len(x))) / 2 if name == "twed" and data.draw(st.booleans()) else None
    limits = data.draw(st.sampled_from([{"min_length": None}, {"min_length": 2, "max_length": 4}]))

    def search(a, b):
        timed = {} if tq is None else {"tq": tq, "ts": ts[a:b]}
        return naive.elastic_search(name, x, y[a:b], w, r=r, **timed, **limits, **p)[:2]

    want, start = naive.joined_subsequences(search, len(y), ranges_of(ts))
    rules = {"mode": "subsequence", "max_gap": GAP, "n_matches": None, **limits}
    searcher = searcher_of(get_metric(name, {**p, **band}), **rules).fit(x, weight=w, times=tq)
    got = searcher.profile(y, times=ts)
    np.testing.assert_allclose(got.distance, want, **CLOSE)
    if naive.has_exact_sums(name, p, naive.points(y).shape[1]):
        np.testing.assert_array_equal(got.start, start)
    matches = searcher.search(y, times=ts)
    for k, match in enumerate(matches):
        assert any(a <= match.start < match.end <= b for a, b in ranges_of(ts))
        path = matches.path(k)[1]
        assert not path.size or (path.min() >= match.start and path.max() < match.end)


@given(st.data())
def test_scaled_windows_between_holes(data):
    x, y, w = data.draw(pairs(low=2, high=4, y_low=8, y_high=14, values=plain))
    name, ts = data.draw(st.sampled_from(["euclidean", "dtw", "correlation"])), data.draw(broken(len(y)))
    lengths = sorted({max(1, round(s * len(x))) for s in (0.5, 1.0, 1.6)})

    def search(a, b):
        found = np.full((2, len(y) - lengths[0] + 1), np.inf)
        if b - a >= lengths[0]:
            found[:, a : b - lengths[0] + 1] = naive.scaled_windows(name, x, y[a:b], lengths, w)
        return found

    want = np.min([search(a, b) for a, b in ranges_of(ts)], axis=0)
    got = searcher_of(name, scales=[0.5, 1.0, 1.6], max_gap=GAP).fit(x, weight=w).profile(y, times=ts)
    np.testing.assert_allclose(got.distance, want[0], **CLOSE)
    found = np.isfinite(want[0])
    if name != "correlation":
        assert all(any(a <= s < e <= b for a, b in ranges_of(ts)) for s, e, _ in np.array(list(got))[found])


@pytest.mark.parametrize("rule", [{"n_matches": 1}, {"n_matches": 3}, {"n_matches": None, "threshold": 3.0}])
@given(data=st.data())
def test_pruned_windows_span_no_hole(rule, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    n, m = 80, data.draw(st.sampled_from([1, 2, 9]))
    x, y, ts = rng.normal(size=m), rng.normal(size=n), data.draw(broken(n))
    if data.draw(st.booleans()):
        y[rng.integers(0, n, 3)] = np.nan
    normalize = data.draw(st.sampled_from([None, "zscore"]))
    rules = {"mode": "windows", "normalize": normalize, "max_gap": GAP, "nan_policy": "omit", **rule}
    searcher = searcher_of("dtw", metric_params={"window": 0.3}, **rules).fit(x)
    profile = searcher.profile(y, times=ts)
    want = naive.select(profile.distance, profile.start, profile.end, rule["n_matches"], rule.get("threshold"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pruning, "LEAST", 1)
        got = searcher.search(y, times=ts)
    np.testing.assert_array_equal(got.start, want)
    np.testing.assert_array_equal(got.distance, profile.distance[want])


# --------------------------------------------------------------------------------------------------- streams, chunks
SEARCHED = compiled([DTW(), DDTW(), LCSS(eps=0.5), ERP(), TWED(nu=0.1), Euclidean()])
SEARCHED += [DTW(window="sakoe-chiba", factor=2)]


@st.composite
def recordings(draw):
    """A sequence of few values, with missing ones, its times, and cuts, some of them at holes."""
    n = draw(st.sampled_from([6, 15, 30]))
    y = np.array(draw(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=n, max_size=n)))
    if draw(st.booleans()):
        y[draw(st.lists(st.integers(0, n - 1), max_size=2))] = np.nan
    ts = draw(broken(n))
    at_holes = [b for _, b in ranges_of(ts)[:-1]]
    cuts = draw(st.lists(st.sampled_from([*at_holes, *range(1, n)]), max_size=6))
    cuts = range(1, n) if draw(st.booleans()) else sorted({*cuts})
    return y, ts, [0, *cuts, n]


@pytest.mark.slow
@pytest.mark.parametrize("metric", SEARCHED[:-1], ids=lambda metric: repr(metric))
@given(data=st.data())
def test_streams_of_segments_span_no_hole(metric, data):
    y, ts, cuts = data.draw(recordings())
    x = [np.array([0.0, 1.0, 2.0]), np.array(data.draw(st.sampled_from([[1.0], [2.0, 0.0]])))]
    rules = {"background": data.draw(st.sampled_from([0.2, 1.0])), "nan_policy": "omit"}
    if data.draw(st.booleans()):
        rules["transitions"] = np.array([[0.0, 0.5, 1.0], [0.5, 2.0, 0.0], [0.0, 0.5, 3.0]])
    segmenter = segmenter_of(metric, max_gap=GAP, **rules).fit(x)
    want = segmenter.segment(y, times=ts)
    parts = []
    for a, b in ranges_of(ts):  # each stretch as a recording of its own
        alone = y[a:b] if b - a >= 3 else np.r_[y[a:b], [np.nan] * 3]  # long enough for windows
        part = segmenter.segment(alone, times=np.arange(len(alone)))
        parts += zip(part.start + a, part.end + a, part.label, part.cost.round(9), strict=True)
    assert parts == list(zip(want.start, want.end, want.label, want.cost.round(9), strict=True))
    stream, found = segmenter.stream(), []
    for a, b in itertools.pairwise(cuts):
        found.append(stream.update(y[a:b], times=ts[a:b]))
    found.append(stream.flush())
    for name in ("start", "end", "label", "cost", "start_time", "end_time"):
        np.testing.assert_array_equal(np.concatenate([getattr(one, name) for one in found]), getattr(want, name))


# -------------------------------------------------------------------------------------------------------- segmentation
@given(st.data())
def test_a_segmentation_is_the_cheapest_of_each_stretch(data):
    name = data.draw(
        st.sampled_from([*compiled(naive.names(kind="warped", is_sum=True, has_lags=False)), "euclidean", "sbd"])
    )
    p = data.draw(parameters(name)) | ({"nu": 0.0} if name == "twed" else {})  # no lags
    x, y = data.draw(series(1, 1, 3, plain)), data.draw(series(1, 3, 9, plain))
    x, y, ts = x.ravel(), y.ravel(), data.draw(broken(len(y)))
    w = data.draw(weights(len(x), 1))
    T = np.array([[0.0, 0.25], [0.5, 1.0]]) if data.draw(st.booleans()) else None
    segmenter = segmenter_of(get_metric(name, p), background=0.6, transitions=T, max_gap=GAP).fit(x, weight=w)
    segments = segmenter.segment(y, times=ts)
    own, least = 0.0, 0.0
    for a, b in ranges_of(ts):
        inside = [(s - a, e - a, label, cost) for s, e, label, cost in segments if a <= s and e <= b]
        own += naive.cost_of_segmentation(inside, b - a, 0.6, T)
        costs = naive.costs_of_segments(name, x, y[a:b], w, **p)
        least += naive.cheapest_segmentation([costs], 0.6, T)
    assert sum(any(a <= s and e <= b for a, b in ranges_of(ts)) for s, e, *_ in segments) == len(segments)
    assert own == pytest.approx(least, rel=1e-9, abs=1e-9)


def test_a_hole_may_cut_a_repetition_off():
    x = np.array([0.0, 1.0, 3.0, 1.0])
    y = np.r_[9.0, 0, 1, 3, 1, 0, 1, 3, 1, 9]
    ts = np.r_[0.0:7.0, 60.0:63.0]  # within the second one
    segments = segmenter_of(background=1.0, max_gap=2, partial=True).fit(x).segment(y, times=ts)
    assert list(zip(segments.start.tolist(), segments.end.tolist(), segments.partial.tolist(), strict=True)) == [
        (1, 5, False),
        (5, 7, True),
        (7, 9, True),
    ]


# ------------------------------------------------------------------------------------------------------------ learning
BEAT = np.array([0.0, 2.0, 5.0, 2.0, 0.0])


def marked_recording():
    """Five beats on a noisy line; the third, which differs, spans a hole."""
    y, labels = np.random.default_rng(0).normal(size=(60, 1)) * 0.1, np.zeros(60, int)
    for k, s in enumerate(range(5, 55, 10)):
        y[s : s + 5, 0] += BEAT if k != 2 else -3 * BEAT
        labels[s : s + 5] = 1
    return y, labels, np.arange(60.0) + 100 * (np.arange(60) >= 27)


@pytest.mark.parametrize("cls", [QuerySearcher, QuerySegmenter])
def test_an_occurrence_that_spans_a_hole_is_no_example(cls):
    y, labels, ts = marked_recording()
    got = cls(max_gap=2).fit(y, labels, times=ts)
    some = np.r_[0:24, 31:60]
    want = cls().fit(y[some], labels[some])
    assert got.query_.max() > 4.5
    np.testing.assert_allclose(got.query_, want.query_, atol=1e-12)
    found = (got.search if cls is QuerySearcher else got.segment)(y, times=ts)
    assert not any(s < 27 < e for s, e in zip(found.start, found.end, strict=True))


def test_a_period_is_taken_from_between_holes():
    y = np.tile(np.r_[BEAT, 0.0, 0.0, 0.0], 30) + np.random.default_rng(0).normal(size=240) * 0.05
    ts = np.arange(240.0) + 1000 * (np.arange(240) >= 44)
    segmenter = segmenter_of(query="auto", max_gap=2).fit(y[:, np.newaxis], times=ts)
    assert abs(len(segmenter.query_) - 8) <= 1
    segments = segmenter.segment(y, times=ts)
    assert len(segments) > 20
    assert not any(s < 44 < e for s, e in zip(segments.start, segments.end, strict=True))


# ---------------------------------------------------------------------------------------------------- ends, parameters
@pytest.mark.parametrize("kind", ["numbers", "dates", "zone", "objects"])
def test_an_end_before_a_hole_lies_one_step_behind_its_last_sample(kind):
    y, seconds = np.array([0.0, 5, 6, 5, 6, 0, 5, 6]), np.array([0, 1, 2, 60, 61, 62, 63, 64])
    ts = {
        "numbers": seconds / 2,
        "dates": np.datetime64("2026-01-01", "s") + seconds.astype("timedelta64[s]"),
        "zone": pd.Timestamp("2026-01-01", tz="Asia/Tokyo") + pd.to_timedelta(seconds, "s"),
        "objects": np.array([pd.Timestamp("2026-01-01").to_pydatetime() + timedelta(seconds=int(s)) for s in seconds]),
    }[kind]
    gap = 3.0 if kind == "numbers" else timedelta(seconds=6)
    searcher = searcher_of("euclidean", n_matches=None, threshold=0.0, max_gap=gap).fit([5.0, 6.0])
    for found in (searcher.search(y, times=ts), pickle.loads(pickle.dumps(searcher.search(y, times=ts)))):
        length = found.end_time - found.start_time
        length = length * 2 if kind == "numbers" else np.asarray(length, "timedelta64[us]") / np.timedelta64(1, "s")
        assert list(zip(found.start, length, strict=True)) == [(1, 2.0), (3, 2.0), (6, 2.0)]
        assert found.start_time[1] == ts[3]
    several = searcher_of("euclidean", n_matches=None, threshold=0.0, max_gap=gap).fit([5.0, 6.0])
    found = several.search([y, y[5:]], times=[ts, ts[5:]])
    assert found.end_time[0] - found.start_time[0] == found.end_time[-1] - found.start_time[-1]


@pytest.mark.parametrize("gap", [0, -1.0, np.nan, np.inf, True, "1s", timedelta(0), np.timedelta64("NaT"), [1]])
@pytest.mark.parametrize("cls", [QuerySearcher, QuerySegmenter])
def test_gaps_that_are_none(cls, gap):
    with pytest.raises((TypeError, ValueError), match=rf"The 'max_gap' parameter of {cls.__name__} must be a"):
        cls(max_gap=gap).fit([1.0, 2.0])


@pytest.mark.parametrize("gap", [6, np.float32(6), timedelta(seconds=6), pd.Timedelta("6s"), np.timedelta64(6, "s")])
def test_gaps_of_datetimes_are_durations_or_seconds(gap):
    seconds = np.array([0, 1, 2, 60, 61, 62])
    frame = pd.DataFrame({"v": [0.0, 5, 5, 5, 5, 0]}, index=pd.Timestamp("2026-01-01") + pd.to_timedelta(seconds, "s"))
    query = pd.DataFrame({"v": [5.0, 5, 5, 5]})
    assert np.isinf(searcher_of("euclidean", max_gap=gap).fit(query).profile(frame).distance).all()
    assert len(searcher_of("dtw", max_gap=gap, n_matches=None, min_length=2).fit(query).search(frame)) == 2


def test_gaps_need_times():
    message = r"'times' must be given where the 'max_gap' parameter of Query\w+ is set.*Got None, and max_gap=2\. Pass"
    searcher, segmenter = searcher_of(max_gap=2, threshold=1.0).fit([1.0, 2]), segmenter_of(max_gap=2).fit([1.0, 2])
    y = np.arange(9.0)
    calls = [searcher.search, searcher.profile, searcher.transform, searcher.predict, segmenter.segment]
    for call in [*calls, segmenter.predict, searcher.stream().update, segmenter.stream().update]:
        with pytest.raises(ValueError, match=message):
            call(y)
    for call in (lambda: searcher.search([y, y], times=[y, None]), lambda: searcher.search(Slices(y))):
        with pytest.raises(ValueError, match=message):
            call()
    for cls in (QuerySearcher, QuerySegmenter):
        with pytest.raises(ValueError, match=message):
            cls(max_gap=2).fit(y[:, np.newaxis], y > 4)
    with pytest.raises(ValueError, match=message):
        segmenter_of(max_gap=2, query="auto").fit(y[:, np.newaxis])
    with pytest.raises(ValueError, match=r"must be a number, in the unit of the times, where 'times' are numbers\."):
        searcher_of(max_gap=timedelta(seconds=2)).fit([1.0, 2]).search(y, times=y)
    with pytest.raises(ValueError, match=r"'times' of the query must not step by more than 'max_gap', 2\. Got a step"):
        searcher_of(max_gap=2).fit([1.0, 2, 3], times=[0, 1, 5])


@pytest.mark.parametrize("decimals", [3, 4, 6])
@pytest.mark.parametrize("rate", [360.0, 204.8, 7.0, 128.0])
def test_times_that_are_rounded_have_no_gaps_of_one_step(rate, decimals):
    exact = np.arange(400) / rate
    if 1 / rate < 2 * 10.0**-decimals:
        return
    y, gap = np.sin(np.arange(400.0)), 1 / rate
    times = np.round(exact, decimals)
    if np.unique(np.diff(times).round(9)).max() > np.ceil(gap * 10**decimals) / 10**decimals + 1e-9:
        return
    for estimator in (searcher_of("dtw", max_gap=gap, n_matches=5), segmenter_of("dtw", max_gap=gap)):
        find = estimator.fit(y[:9]).search if isinstance(estimator, QuerySearcher) else estimator.fit(y[:9]).segment
        whole = estimator.set_params(max_gap=None).fit(y[:9])
        want = (whole.search if isinstance(estimator, QuerySearcher) else whole.segment)(y)
        np.testing.assert_array_equal(find(y, times=times).start, want.start)


def test_a_step_above_a_max_gap_of_few_digits_is_a_gap():
    y, times = np.sin(np.arange(60.0)), np.arange(60.0) + (np.arange(60) >= 30)
    for gap in (1.0, 1.5, 1.9):
        found = searcher_of("dtw", max_gap=gap, n_matches=20).fit(y[:9]).search(y, times=times)
        assert not ((found.start < 30) & (found.end > 30)).any()
    assert (searcher_of("dtw", max_gap=2.0).fit(y[24:36]).search(y, times=times).start < 30).all()

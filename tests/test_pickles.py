"""Results in a pickle: as many samples as they need, and the same numbers."""

import copy
import pickle

import matplotlib.pyplot as plt
import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices, identical

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import DDTW, DTW, LCSS, TWED, WDTW, Correlation, Euclidean, ShapeDTW
from sktslib.search import Windows, _sources

pytestmark = pytest.mark.filterwarnings("ignore:The sequence is sampled unevenly:UserWarning")

SEARCHES = [
    (DTW(), {}), (DTW(alpha=0.5), {}), (DDTW(), {}), (ShapeDTW(reach=2), {}), (LCSS(eps=0.3), {}), (WDTW(g=0.5), {}),
    (TWED(nu=0.1), {}), (Euclidean(), {"normalize": "zscore"}), (Correlation(), {}), (DTW(), {"normalize": "mean"}),
    (DTW(), {"candidates": Windows((0.7, 1.3))}),
]  # fmt: skip
SEGMENTERS = [DTW(), DTW(alpha=0.6), LCSS(eps=0.5), TWED(nu=0.1), ShapeDTW(reach=2), Euclidean()]


def again(result):
    return pickle.loads(pickle.dumps(result))


def sequence(rng, queries, n, omit):
    y = rng.normal(size=(n, queries[0].shape[1])) * 0.6
    for s in rng.integers(0, n - 9, n // 9):
        query = queries[s % len(queries)]
        y[s : s + len(query)] = query + 0.1 * rng.normal(size=query.shape)
    if omit:
        y[rng.integers(0, n, 3)] = np.nan
    return y


@st.composite
def recordings(draw):
    """Queries and a sequence they occur in, times of both or None, and whether values are missing."""
    rng, omit = np.random.default_rng(draw(st.integers(0, 2**20))), draw(st.booleans())
    channels, k = draw(st.sampled_from([1, 2])), draw(st.sampled_from([1, 2]))
    queries = [rng.normal(size=(m, channels)) for m in rng.integers(3, 9, k)]
    y = sequence(rng, queries, draw(st.sampled_from([30, 90])), omit)
    kind, steps = draw(st.sampled_from(["none", "numbers", "dates", "zone"])), rng.integers(1, 9, len(y)).cumsum()
    times = {
        "none": None,
        "numbers": steps / 4,
        "dates": np.datetime64("2026-01-01") + steps.astype("timedelta64[s]"),
        "zone": pd.DatetimeIndex(pd.Timestamp("2026-01-01") + pd.to_timedelta(steps, "s")).tz_localize("Asia/Tokyo"),
    }[kind]
    return queries, y, times, "omit" if omit else "raise"


def same(got, want, columns):
    identical(got, want, columns)
    pd.testing.assert_frame_equal(got.to_frame(), want.to_frame())
    for name in ("start_time", "end_time"):
        if want.times is None:
            assert getattr(got, name) is None
        else:
            assert list(getattr(got, name)) == list(getattr(want, name))
    for k in range(len(want)):
        np.testing.assert_array_equal(got.path(k), want.path(k))


def same_matches(got, want):
    same(got, want, ("start", "end", "distance", "query", "sequence"))
    for k in range(len(want)):
        a, b = got.explain(k), want.explain(k)
        identical(a, b, ("path", "cost", "lag"))
        assert (a.advance, a.delay, a.phase) == (b.advance, b.delay, b.phase)


class Unpicklable(Slices):
    """Anything that knows its shape and gives slices, and cannot be pickled."""

    def __reduce__(self):
        raise TypeError("no pickle of this")


@pytest.mark.slow
@pytest.mark.parametrize("way", ["whole", "chunks", "stream"])
@given(recording=recordings(), metric=st.sampled_from(SEARCHES), n_sequences=st.sampled_from([None, 1, 2]))
def test_matches_need_no_more_than_their_samples(way, recording, metric, n_sequences):
    queries, y, times, policy = recording
    metric, rules = metric
    if metric.uses_times and times is not None:
        metric, rules = DTW(), {}
    if rules or metric.name == "correlation":
        way = "whole" if way == "stream" else way  # several thresholds would do; one way is enough
    searcher = QuerySearcher(metric, nan_policy=policy, max_overlap=0.3, **rules)
    searcher.set_params(**({"threshold": 2.0, "n_matches": None} if way == "stream" else {"n_matches": 4}))
    searcher.fit(queries if len(queries) > 1 else queries[0])
    if way == "stream":
        stream = searcher.stream()
        cut = [None if times is None else times[part] for part in (slice(0, 17), slice(17, None))]
        found = [stream.update(y[:17], cut[0]), stream.update(y[17:], cut[1]), stream.flush()]
    else:
        X, t = (Unpicklable(y) if way == "chunks" else y), times
        if n_sequences is not None:
            X, t = [X] + [y[::-1].copy()] * (n_sequences - 1), None if times is None else [times] * n_sequences
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_sources, "CHUNK", 16)
            found = [searcher.search(X, times=t)]
    for want in found:
        for got in (again(want), again(again(want)), copy.deepcopy(want), copy.copy(want)):
            same_matches(got, want)


@pytest.mark.slow
@pytest.mark.parametrize("metric", SEGMENTERS, ids=lambda metric: metric.name)
@given(recording=recordings(), streamed=st.booleans(), partial=st.booleans())
def test_segments_need_no_more_than_their_samples(metric, recording, streamed, partial):
    queries, y, times, policy = recording
    partial = partial and not streamed and metric.name not in ("twed", "euclidean")
    segmenter = QuerySegmenter(metric, nan_policy=policy, background=0.8, partial=partial)
    timed = metric.uses_times and times is not None
    each = [times[: len(query)] if timed else None for query in queries]
    segmenter.fit(*((queries[0], None, None, each[0]) if len(queries) == 1 else (queries, None, None, each)))
    if streamed:
        stream = segmenter.stream()
        cut = [None if times is None else times[part] for part in (slice(0, 17), slice(17, None))]
        found = [stream.update(y[:17], cut[0]), stream.update(y[17:], cut[1]), stream.flush()]
    else:
        found = [segmenter.segment(y, times=times)]
    for want in found:
        for got in (again(want), again(again(want)), copy.deepcopy(want), copy.copy(want)):
            same(got, want, ("start", "end", "label", "cost", "query", "partial", "stretch", "duration", "boundaries"))
            pd.testing.assert_frame_equal(got.summary(), want.summary())
            for q in range(len(queries)):
                np.testing.assert_array_equal(got.warped(q), want.warped(q))


def test_a_few_matches_in_a_long_sequence_are_small():
    n = 20_000 if numba.config.DISABLE_JIT else 1_000_000
    rng = np.random.default_rng(0)
    y, times = rng.normal(size=n), np.arange(n) / 250
    query = y[500:600].copy()
    for metric in ("euclidean", ShapeDTW(reach=2)):
        # In plain Python the elastic one is sought with a short query.
        m = 20 if numba.config.DISABLE_JIT and metric != "euclidean" else len(query)
        matches = QuerySearcher(metric, n_matches=10).fit(query[:m]).search(y[:10_000], times=times[:10_000])
        assert len(matches) == 10
        assert len(pickle.dumps(matches)) < 60_000 < y[:10_000].nbytes
    segments = QuerySegmenter("euclidean").fit(query).segment(y, times=times)
    assert segments.start.tolist() == [500]
    assert len(pickle.dumps(segments)) < 20_000


@pytest.mark.slow
def test_overlapping_matches_share_their_samples():
    y = np.sin(np.arange(5000) / 40)
    matches = QuerySearcher("euclidean", n_matches=500, max_overlap=1.0).fit(y[:400]).search(y)
    under = np.zeros(len(y), bool)
    for s, e, _ in matches:
        under[s:e] = True
    assert len(matches) == 500
    assert len(pickle.dumps(matches)) < 8 * under.sum() + 8 * 3 * 500 + 8 * 400 + 3000 < 100_000
    two = QuerySearcher("euclidean", n_matches=250, max_overlap=1.0).fit([y[:400], y[:400] + 0.1]).search(y)
    under[:] = False
    for s, e, _ in two:
        under[s:e] = True
    assert len(pickle.dumps(two)) < 8 * under.sum() + 8 * 5 * 500 + 2 * 8 * 400 + 4000


def test_pictures_of_what_was_pickled_need_the_sequence():
    y, times = np.array([5.0, 0, 2, 0, 5, 5, 0, 2, 0, 5]), np.datetime64("2026-01-01") + np.arange(10)
    matches = QuerySearcher("dtw", n_matches=2).fit([0, 2, 0]).search(y)
    segments = QuerySegmenter("dtw", background=0.5).fit([0, 2, 0]).segment(y)
    for result, rest in ((matches, "matches"), (segments, "segments")):
        with pytest.raises(ValueError, match=rf"{rest} that were pickled.*plot\(sequence=\.\.\.\)"):
            again(result).plot()
        for display in (result.plot(), again(result).plot(sequence=y), copy.deepcopy(result).plot()):
            np.testing.assert_array_equal(display.sequence_lines_[0].get_ydata(), y)
    segments.plot_repetitions()
    assert len(again(segments).plot_repetitions().repetition_lines_[0].get_segments()) == 2
    timed = again(QuerySearcher("dtw", n_matches=2).fit([0, 2, 0]).search(y, times=times))
    assert timed.times.samples.tolist() == [1, 4, 6, 9]
    np.testing.assert_array_equal(np.asarray(timed.times), times[[1, 4, 6, 9]])
    assert len(timed.times) == 4
    with pytest.raises(ValueError, match="'ts' parameter must be given: the result holds only the times of its own"):
        timed.plot(sequence=y)
    lines = [timed.plot(sequence=y, ts=times), timed.plot(sequence=pd.Series(y, index=pd.DatetimeIndex(times)))]
    for display in lines:
        assert display.ax_.get_xlabel() == "time"
    assert timed.plot(sequence=y, ts=np.arange(10)).sequence_lines_[0].get_xdata()[-1] == 9
    plt.close("all")

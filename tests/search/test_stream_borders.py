"""Streams at their borders: equal costs, samples one by one, decisions that must come in time, memory, times."""

import itertools
import pickle

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import refused, searcher_of, segmenter_of
from strategies import compiled, unmeant

from sktslib.distances import DDTW, DTW, ERP, LCSS, WDTW, Euclidean
from sktslib.search._chunks import ROOM, Buffer

pytestmark = unmeant

METRICS = compiled([DTW(), Euclidean(), LCSS(eps=0.5), ERP(), DDTW(), WDTW(g=0.5)])


def streamed(stream, y, cuts, times=None):
    """What a stream gives for the chunks between the cuts, each with the number of samples so far."""
    found = []
    for a, b in itertools.pairwise([0, *cuts, len(y)]):
        matches = stream.update(y[a:b], *([] if times is None else [times[a:b]]))
        found += [(b, one) for one in matches]
    return found + [(len(y) + 1, one) for one in stream.flush()]


@st.composite
def tied(draw):
    """A searcher and a sequence of few integers, so that distances are equal everywhere."""
    value = st.integers(-1, 1) if draw(st.booleans()) else st.just(-1)
    query = np.array(draw(st.lists(value, min_size=1, max_size=5)), float)
    y = np.array(draw(st.lists(value, min_size=6, max_size=30)), float)
    metric = draw(st.sampled_from(METRICS))
    rules = {"threshold": draw(st.sampled_from([0.0, 0.5, 2.0])), "max_overlap": draw(st.sampled_from([0.0, 0.4, 1.0]))}
    if metric.name in ("dtw", "euclidean"):
        rules |= draw(st.sampled_from([{}, {"normalize": "zscore"}, {"normalize": "robust"}, {"scales": (0.5, 1.5)}]))
    if metric.name == "lcss":
        rules["threshold"] /= 4
    if draw(st.booleans()):
        y[draw(st.lists(st.integers(1, len(y) - 1), max_size=2))] = np.nan
    one_by_one = draw(st.booleans())
    cuts = range(1, len(y)) if one_by_one else sorted(draw(st.sets(st.integers(1, len(y) - 1), max_size=4)))
    rules["polarity"] = draw(st.sampled_from(["same", "any"]))
    searcher = searcher_of(metric, n_matches=None, nan_policy="omit", **rules)
    return searcher.fit(query), y, list(cuts)


def scales_of(searcher):
    return getattr(searcher.candidates, "scales", None)


@given(case=tied())
def test_equal_distances_are_chosen_from_as_in_the_whole_sequence(case):
    searcher, y, cuts = case
    longest = (
        1 if searcher._mode == "subsequence" else int(len(searcher.query_) * (1.5 if scales_of(searcher) else 1)) + 1
    )
    if len(y) < longest:
        return
    got = streamed(searcher.stream(), y, cuts)
    assert sorted(one for _, one in got) == sorted(searcher.search(y))
    got = streamed(searcher.stream(max_delay=10_000), y, cuts)
    assert sorted(one for _, one in got) == sorted(searcher.search(y))


@given(case=tied(), delay=st.integers(0, 6))
def test_matches_are_decided_in_time(case, delay):
    searcher, y, cuts = case
    delay += int(len(searcher.query_) * (1.5 if scales_of(searcher) else 1)) + 3
    got = streamed(searcher.stream(max_delay=delay), y, cuts)
    matches = [one for _, one in got]
    if len(cuts) == len(y) - 1:
        assert all(at - one.end <= delay for at, one in got if at <= len(y))
    for a, b in itertools.combinations(matches, 2):
        common, shorter = min(a.end, b.end) - max(a.start, b.start), min(a.end - a.start, b.end - b.start)
        assert common <= searcher.max_overlap * shorter or common <= 0
    known = {(s, e): d for s, e, d in searcher.profile(y)} if scales_of(searcher) is None else {}
    for s, e, distance in matches:
        assert distance <= searcher.threshold or searcher.metric.name == "wdtw"
        if (s, e) in known and searcher.metric.name != "wdtw":
            assert distance == pytest.approx(known[s, e], rel=1e-12, abs=1e-12)
    if searcher.max_overlap == 0 and searcher._mode == "windows":  # nothing that fits is left out
        taken = np.zeros(len(y), bool)
        for s, e, _ in matches:
            taken[s:e] = True
        assert all(taken[s:e].any() for (s, e), d in known.items() if d <= searcher.threshold)


def test_a_better_match_may_come_too_late():
    query, y = [0.0, 5.0, 0.0], [9.0, 0, 3, 0, 4, 0, 5, 0, 9, 9, 9, 9]
    searcher = searcher_of("euclidean", threshold=3.0, n_matches=None).fit(query)
    assert sorted(searcher.search(y)) == [(1, 4, 2.0), (5, 8, 0.0)]
    waiting = streamed(searcher.stream(), y, range(1, 12))
    assert waiting == [(10, (1, 4, 2.0)), (10, (5, 8, 0.0))]  # each overlaps the next, so that all wait for the last
    early = streamed(searcher.stream(max_delay=3), y, range(1, 12))
    assert early == [(10, (5, 8, 0.0))]  # the first gave way to the second, before that gave way itself


def test_a_match_need_not_wait_for_what_may_still_come():
    searcher = searcher_of("dtw", threshold=3.0, n_matches=None).fit([0.0, 5.0, 0.0])
    y = [9.0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 9, 9]
    assert streamed(searcher.stream(), y, range(1, 15)) == [(14, (1, 4, 1.0)), (14, (9, 12, 0.0))]
    assert streamed(searcher.stream(max_delay=3), y, range(1, 15)) == [(6, (1, 4, 1.0)), (14, (9, 12, 0.0))]
    assert streamed(searcher.stream(max_delay=4), y, range(1, 15)) == [(7, (1, 4, 1.0)), (14, (9, 12, 0.0))]


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "rules"), [("dtw", {}), ("euclidean", {}), ("euclidean", {"normalize": "zscore"})])
def test_with_a_delay_memory_is_bounded(metric, rules):
    query = np.r_[1.0, 0, 0, 5] if metric == "dtw" else np.linspace(-2, 0, 20)
    searcher = searcher_of(metric, threshold=30.0, n_matches=None, **rules).fit(query)
    # Begun matches that never end, a constant signal, ever better matches that overlap.
    n = 3_000 if numba.config.DISABLE_JIT else 6_000
    for y in (np.r_[1.0, np.zeros(n)], np.zeros(n), np.linspace(-40, 0, n)):
        stream, sizes = searcher.stream(max_delay=50), []
        for a in range(0, len(y), 10):
            stream.update(y[a : a + 10])
            if a % 200 == 0:
                sizes.append(len(pickle.dumps(stream)))
        assert max(sizes) < 45_000
        assert max(sizes[len(sizes) // 2 :]) <= max(sizes[: len(sizes) // 2]) + 8_000


def test_delays_that_are_refused():
    for make, least in (
        (searcher_of("euclidean", threshold=1.0).fit(np.zeros(5)), 5),
        (searcher_of("dtw", threshold=1.0, min_length=9).fit(np.zeros(5)), 9),
        (searcher_of("ddtw", threshold=1.0).fit(np.zeros(5)), 7),
        (searcher_of("euclidean", threshold=1.0, scales=(1.0, 2.0)).fit(np.zeros(5)), 10),
        (searcher_of("euclidean", threshold=1.0).fit([np.zeros(5), np.zeros(6)]), 6),
    ):
        make.stream(max_delay=least)
        with pytest.raises(ValueError, match=rf"'max_delay' parameter of stream must be at least.*Got {least - 1}\."):
            make.stream(max_delay=least - 1)
    refused(lambda: make.stream(max_delay=2.5), "'max_delay' parameter of stream must be an integer", error=TypeError)


def test_several_queries_are_decided_in_time():
    y = np.r_[np.zeros(40), 1.0, 2, 1, np.zeros(40)]
    queries = [np.array([0.0, 0, 0]), np.array([1.0, 2, 1])]
    stream = searcher_of("euclidean", threshold=0.1, n_matches=None).fit(queries).stream(max_delay=4)
    late, found = 0, []
    for t in range(len(y)):
        matches = stream.update(y[t : t + 1])
        late = max([late, *(t + 1 - matches.end)])
        found += zip(matches.query.tolist(), matches.start.tolist(), strict=True)
    assert late <= 4
    assert (1, 40) in found
    assert [start for query, start in found if query == 0][:13] == list(range(0, 39, 3))


@pytest.mark.parametrize("kind", ["numbers", "zone", "finer", "objects"])
def test_the_end_of_a_repetition_has_the_time_of_the_sample_there(kind):
    y, steps = np.array([0.0, 5, 5, 0, 5, 0, 0, 5]), np.array([1, 2, 4, 8, 16, 32, 64, 128])
    times = {
        "numbers": steps / 2,
        "zone": pd.DatetimeIndex(pd.Timestamp("2026-01-01") + pd.to_timedelta(steps, "s")).tz_localize("Asia/Tokyo"),
        "finer": np.datetime64("2026-01-01", "s") + steps.astype("timedelta64[s]"),
        "objects": np.array([pd.Timestamp("2026-01-01").to_pydatetime() + pd.Timedelta(int(s), "s") for s in steps]),
    }[kind]
    searcher = searcher_of("euclidean", threshold=0.0, n_matches=None).fit([5.0])
    segmenter = segmenter_of("euclidean", background=1.0).fit([5.0])
    for stream, want in (
        (searcher.stream(), searcher.search(y, times=times)),
        (segmenter.stream(), segmenter.segment(y, times=times)),
    ):
        edges = []
        for t in range(len(y)):
            chunk = times[t : t + 1]
            found = stream.update(y[t : t + 1], times=chunk.astype("M8[ms]") if kind == "finer" and t == 4 else chunk)
            edges += zip(found.start_time, found.end_time, strict=True)
        assert len(edges) > 2
        found = stream.flush()
        edges += zip(found.start_time, found.end_time, strict=True)
        assert sorted(edges) == sorted(zip(want.start_time, want.end_time, strict=True))


def test_times_of_another_kind_are_refused():
    stream = searcher_of("euclidean", threshold=0.0).fit([5.0]).stream()
    stream.update([0.0], times=[1.0])
    with pytest.raises(ValueError, match=r"of one kind in all chunks, numbers or dates\. Got datetime64"):
        stream.update([0.0], times=np.array(["2026-01-01"], "M8[s]"))


@given(
    steps=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 400)), max_size=30),
    shape=st.sampled_from([(), (1,), (3,)]),
    pickled=st.booleans(),
)
def test_buffers_hold_what_came_last(steps, shape, pickled):
    buffer, every = Buffer(shape), np.empty((0, *shape))
    for size, forgotten in steps:
        new = np.random.default_rng(size).normal(size=(size, *shape))
        buffer.append(new)
        every = np.concatenate([every, new])
        buffer.forget(len(every) - forgotten)
        if pickled:
            buffer = pickle.loads(pickle.dumps(buffer))
        assert buffer.end == len(every)
        np.testing.assert_array_equal(buffer.values, every[buffer.first : buffer.end])
        assert len(buffer) == buffer.end - buffer.first
        if len(buffer) == 0 and not pickled:
            assert buffer._array.size <= 64 * 6 * (2 * max(s for s, _ in steps) + ROOM)

"""Queries compared by channel, against every channel searched by itself and summed up."""

import pickle
from datetime import timedelta

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices, searcher_of
from sklearn.base import clone
from strategies import long_without_compiler, quarters, small_sizes, unmeant

from sktslib.search import _run, merge_parts
from sktslib.utils.visualisation import AlignmentDisplay

pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

METRICS = [("correlation", None), ("euclidean", "zscore"), ("euclidean", None), ("dtw", None), ("dtw", "mean")]


def padded(x, leads=None):
    """Channels of several lengths as an array, NaN before and behind them."""
    leads = [0] * len(x) if leads is None else leads
    out = np.full((max(lead + len(a) for lead, a in zip(leads, x, strict=True)), len(x)), np.nan)
    for c, (lead, a) in enumerate(zip(leads, x, strict=True)):
        out[lead : lead + len(a), c] = a
    return out


@st.composite
def problems(draw, gaps=False, low=8, high=14):
    """Channels of a query, their leads, a sequence and the parameters."""
    channels, n = draw(st.integers(1, 3)), draw(st.integers(low, high))
    x = [draw(st.lists(quarters, min_size=c == 0, max_size=4)) for c in range(channels)]
    y = np.array([draw(st.lists(quarters, min_size=n, max_size=n)) for _ in range(channels)])
    leads, lags = [draw(st.integers(0, 1)) if a else 0 for a in x], [draw(st.integers(0, 3)) for _ in x]
    params = {"channel_lag": lags, "lag_tolerance": draw(st.integers(0, 3))}
    if draw(st.booleans()):
        params["channel_weight"] = [draw(st.sampled_from([0.5, 1.0, 2.0, 0.0 if c else 1.0])) for c in range(channels)]
    part = [c for c in range(channels) if x[c] and params.get("channel_weight", [1.0] * channels)[c] > 0]
    params["lag_tolerance"] = min(params["lag_tolerance"], max(leads[c] + lags[c] + len(x[c]) - 1 for c in part) // 2)
    if draw(st.booleans()):
        params["min_channels"] = draw(st.integers(1, len(part)))
    params["polarity"] = draw(st.sampled_from(["same", "channels"]))
    if gaps:
        for c, at in draw(st.lists(st.tuples(st.integers(0, channels - 1), st.integers(0, n - 1)), max_size=3)):
            y[c, at] = np.nan
        params["nan_policy"] = "omit"
    return x, leads, y, params


def reference(name, normalize, x, leads, y, params):
    """What the slow version finds."""
    lags = [lag + lead for lag, lead in zip(params["channel_lag"], leads, strict=True)]
    found = naive.channel_windows(
        name,
        x,
        list(y),
        lags,
        tolerance=params["lag_tolerance"],
        weights=params.get("channel_weight"),
        votes=params.get("min_channels"),
        mirrored=params["polarity"] == "channels",
        normalize=normalize,
    )
    return *found[:2], found[2] - leads, *found[3:]


def equal(a, b):
    """Whether matches are the same in all columns, to the bit."""
    pd.testing.assert_frame_equal(a.to_frame(), b.to_frame(), check_exact=True)


@pytest.mark.parametrize(("name", "normalize"), METRICS)
@pytest.mark.parametrize("gaps", [False, True])
@given(data=st.data())
def test_the_distance_is_the_sum_of_the_channels(name, normalize, gaps, data):
    x, leads, y, params = data.draw(problems(gaps))
    want, distance, lag, sign, votes = reference(name, normalize, x, leads, y, params)
    searcher = searcher_of(name, normalize=normalize, n_matches=None, **params).fit([padded(x, leads)])
    np.testing.assert_allclose(searcher.profile(y.T).distance, want, rtol=1e-9, atol=1e-7)
    matches = searcher.search(y.T)
    for k, (start, end, found) in enumerate(matches):
        part = ~np.isnan(distance[start])
        assert end - start == len(y.T) - len(want) + 1
        np.testing.assert_allclose(matches.channel_distance[k], distance[start], rtol=1e-9, atol=1e-7)
        assert matches.votes[k].sum() == (params.get("min_channels") or part.sum())
        weight = np.array(params.get("channel_weight", [1.0] * len(x)))
        of_voters = (weight * matches.channel_distance[k])[matches.votes[k]]
        assert found == pytest.approx(of_voters.sum(), rel=1e-12)
        left = (weight * matches.channel_distance[k])[part & ~matches.votes[k]]
        assert not left.size or left.min() >= of_voters.max()
        if name == "euclidean" and normalize is None:  # sums of quarters have no roundings, so ties are ties
            np.testing.assert_array_equal(matches.votes[k], votes[start])
            own = sign[start] if params["polarity"] == "channels" else None
            assert own is None or matches.polarity[k].tolist() == own.tolist()
            if params["lag_tolerance"] and params["polarity"] == "same":
                np.testing.assert_array_equal(matches.lag[k], lag[start])
    if not params["lag_tolerance"]:
        assert matches.lag is None
    elif name == "euclidean" and normalize is None and len(matches):
        at_lags = reference(name, normalize, x, leads, y, {**params, "lag_tolerance": 0})[0]
        first = naive.centered(want, at_lags, int(np.argmin(want)), params["lag_tolerance"])
        assert matches.start[0] == first


@pytest.mark.slow
@given(data=st.data())
def test_chunks_parts_and_streams_find_the_same(data):
    name, normalize = data.draw(st.sampled_from(METRICS[1::2]))
    x, leads, y, params = data.draw(problems(data.draw(st.booleans()), low=20, high=40))
    y, few = y.T, data.draw(st.sampled_from([2, 5]))
    query = [padded(x, leads)]
    searcher = searcher_of(name, normalize=normalize, n_matches=data.draw(st.sampled_from([None, 2])), **params)
    profile, whole = searcher.fit(query).profile(y), searcher.search(y)
    near = searcher.set_params(threshold=data.draw(st.sampled_from([0.5, 2.0, 8.0]))).fit(query)
    found, cut = near.search(y), data.draw(st.integers(1, len(y) - 1))
    with small_sizes(data), pytest.MonkeyPatch.context() as patch:
        patch.setattr(_run, "LEAST", few)
        for one, want in ((clone(searcher).set_params(threshold=None).fit(query), whole), (near, found)):
            equal(one.search(Slices(y)), want)
            np.testing.assert_array_equal(one.profile(Slices(y)).distance, profile.distance)
            parallel = clone(one).set_params(n_jobs=2).fit(query)
            equal(parallel.search(y), want)
            np.testing.assert_array_equal(parallel.profile(y).distance, profile.distance)
            parts = [one.partial_search(at) for at in (0, cut)]
            for part, end in zip(parts, (cut, len(y)), strict=True):
                part.feed(y[part.first : end])
            if want is found or one.n_matches:
                equal(merge_parts(pickle.loads(pickle.dumps(parts))), want)
        stream = near.stream()
        tables = [one.to_frame() for one in (stream.update(y[:cut]), stream.update(y[cut:]), stream.flush())]
    got = pd.concat(tables).sort_values("start", ignore_index=True)
    pd.testing.assert_frame_equal(got, found.sorted().to_frame(), check_exact=True)


# ------------------------------------------------------------------------------------------------- template matching
def recording(rng, channels=4, m=30, n=250, lags=(0, 7, 3, 12), signs=(1, -1)):
    """Templates, noise with two events in it, of which the second is upside down, and their starts."""
    x, y, starts = rng.normal(size=(m, channels)), rng.normal(size=(n, channels)), (40, 190)
    for start, sign in zip(starts, signs, strict=True):
        for c, lag in enumerate(lags):
            y[start + lag : start + lag + m, c] += 2 * sign * x[:, c]
    return x, y, list(lags), list(starts)


TOLERANT = {"lag_tolerance": 2, "min_channels": 3, "polarity": "any"}


@pytest.mark.slow
@long_without_compiler
@pytest.mark.parametrize(("name", "params"), [("euclidean", {}), ("correlation", TOLERANT)])
def test_transforms_of_fourier_change_no_match(name, params, monkeypatch):
    x, y, lags, starts = recording(np.random.default_rng(2))
    searcher = searcher_of(name, normalize="zscore", channel_lag=lags, n_matches=3, **params).fit(x)
    exact, profile = searcher.search(y), searcher.profile(y)
    monkeypatch.setattr("sktslib.distances._kernels.mass.LEAST", 1)
    near = searcher.profile(y)
    assert near._slack > 0.0 and profile._slack == 0.0
    np.testing.assert_allclose(near.distance, profile.distance, rtol=1e-9)
    equal(searcher.search(y), exact)
    monkeypatch.setattr("sktslib.search._sources.CHUNK", 128)
    equal(searcher.search(Slices(y)), exact)
    assert sorted(exact.start[: 2 if params else 1]) == starts[: 2 if params else 1]


# ----------------------------------------------------------------------------------------------------- what is given
def test_channels_are_told_by_name_or_number():
    x, y, lags, _ = recording(np.random.default_rng(5))
    names = list("abcd")
    table = pd.DataFrame(y, columns=names)
    want = searcher_of("correlation", channel_lag=lags, channel_weight=[1, 2, 1, 1]).fit(x).search(y)
    by_name = dict(zip(names, lags, strict=True))
    searcher = searcher_of("correlation", channel_lag=by_name, channel_weight={"b": 2})
    query = pd.DataFrame(x, columns=names)
    as_parameter = clone(searcher).set_params(query=query).fit(table)
    given_queries = query, {"one": query}, [query[names[::-1]]]
    for one in (as_parameter, *(clone(searcher).fit(query) for query in given_queries)):
        found = one.search(table[list(one.feature_names_in_)])
        np.testing.assert_array_equal(found.start, want.start)
        np.testing.assert_allclose(found.distance, want.distance, rtol=1e-12)
        assert {"votes_b", "channel_distance_b"} < set(found.to_frame().columns)
    numbered = searcher_of("correlation", channel_lag=dict(enumerate(lags)), channel_weight={1: 2})
    equal(numbered.fit(x).search(y), want)
    short = np.full_like(x, np.nan)
    short[:, 0], short[:20, 3] = x[:, 0], x[:20, 3]
    several = searcher_of("correlation", channel_lag=lags, n_matches=1).fit([short, x])
    matches = several.search(y)
    assert sorted(matches.query) == [0, 1]
    missing = np.isnan(matches.channel_distance[matches.query == 0][0])
    assert missing.tolist() == [False, True, True, False]
    assert np.isnan(several.query_[0][20:, 3]).all() and several.query_[1].shape == x.shape


def test_lags_are_times_where_times_are_datetimes():
    x, y, lags, _ = recording(np.random.default_rng(6))
    times = pd.date_range("2024-01-01", periods=len(y), freq="20ms")
    want = searcher_of("correlation", channel_lag=lags, lag_tolerance=2).fit(x).search(y)
    given_lags = [pd.Timedelta(20 * lag, "ms") for lag in lags]
    searcher = searcher_of("correlation", channel_lag=given_lags, lag_tolerance=timedelta(milliseconds=40))
    found = searcher.fit(x, times=times[:30]).search(y, times=times)
    assert list(found) == list(want) and found.start_time[0] == times[found.start[0]]


def test_nothing_that_is_found_spans_a_hole_and_a_gap_takes_its_own_channel_alone():
    x, y, lags, starts = recording(np.random.default_rng(7))
    times = np.arange(len(y)) + np.where(np.arange(len(y)) >= starts[0] + 40, 50.0, 0.0)
    searcher = searcher_of("correlation", channel_lag=lags, max_gap=5.0)
    distance = searcher.fit(x).profile(y, times=times).distance
    hole = starts[0] + 40
    assert np.isinf(distance[hole - 41 : hole]).all() and np.isfinite(distance[[hole - 42, hole]]).all()
    gap = y.copy()
    gap[starts[0] + 10 : starts[0] + 30, 1] = np.nan
    omit = searcher_of("correlation", channel_lag=lags, nan_policy="omit").fit(x)
    assert np.isinf(omit.profile(gap).distance[starts[0]])
    voting = omit.set_params(channels__min_votes=3).fit(x).search(gap)
    assert voting.start[0] == starts[0] and voting.votes[0].tolist() == [True, False, True, True]
    assert np.isinf(voting.channel_distance[0, 1])


# -------------------------------------------------------------------------------------------- what else a searcher does
@pytest.mark.slow
@long_without_compiler
def test_explanations_add_up_and_matches_are_tables():
    x, y, lags, _ = recording(np.random.default_rng(8))
    x[:3, 1] = np.nan
    params = {"channel_lag": lags, "lag_tolerance": 1, "channel_weight": [1, 2, 1, 1], "min_channels": 3}
    searcher = searcher_of("sqeuclidean", normalize="zscore", polarity="channels", n_matches=3, **params).fit([x])
    matches = searcher.search(y)
    for k, match in enumerate(matches):
        explained = matches.explain(k)
        np.testing.assert_allclose(explained.cost.sum(), match.distance, rtol=1e-9)
        assert explained.cost.shape == (match.end - match.start, 4)
        assert not explained.cost[: lags[1] + 3, 1].any()
        np.testing.assert_array_equal(explained.cost.any(axis=0), matches.votes[k])
        assert matches.path(k)[1, [0, -1]].tolist() == [match.start, match.end - 1]
    elastic = searcher_of("dtw", **params).fit([x]).search(y)
    assert elastic.explain(0).cost.sum() == pytest.approx(elastic.distance[0], rel=1e-9)
    few = pickle.loads(pickle.dumps(matches))[[2, 0]]
    assert few.votes.tolist() == matches.votes[[2, 0]].tolist() and few.lag.tolist() == matches.lag[[2, 0]].tolist()
    np.testing.assert_allclose(few.explain(1).cost, matches.explain(0).cost, rtol=1e-12)
    frame = matches.to_frame()
    assert frame["lag_1"].tolist() == matches.lag[:, 1].tolist() and frame["votes_0"].dtype == bool
    assert len(matches.cut()[0]) == matches.end[0] - matches.start[0]
    ending = searcher.transform(y)[:, 0]
    assert ending[matches.end[0] - 1] == pytest.approx(matches.distance[0], rel=1e-9)


@long_without_compiler
def test_pictures_show_the_query_where_it_lies_in_the_range():
    x, y, lags, _ = recording(np.random.default_rng(11))
    searcher = searcher_of("correlation", channel_lag=lags).fit(x)
    display = AlignmentDisplay.from_estimator(searcher, y)
    np.testing.assert_array_equal(display.query[12:42, 3], x[:, 3])
    assert np.isnan(display.query[:12, 3]).all() and len(display.query) == 42


def test_streams_with_times_tell_the_starts_that_fit_the_given_lags():
    x, y, lags, starts = recording(np.random.default_rng(12), signs=(1, 1))
    times = pd.date_range("2024-01-01", periods=len(y), freq="10ms")
    searcher = searcher_of("correlation", channel_lag=lags, lag_tolerance=4, threshold=1.6).fit(x)
    stream, found = searcher.stream(), []
    for first in range(0, len(y), 50):
        found.append(stream.update(y[first : first + 50], times=times[first : first + 50]))
    found.append(stream.flush())
    got = pd.concat([one.to_frame() for one in found if len(one)], ignore_index=True)
    want = searcher.search(y, times=times).sorted()
    assert want.start.tolist() == starts
    pd.testing.assert_frame_equal(got, want.to_frame(), check_exact=True)


# ------------------------------------------------------------------------------------------------------------- errors
ROW = np.arange(6.0).reshape(-1, 2)
HOLEY = np.column_stack([[1.0, np.nan, 2.0], [1.0, 2.0, 1.0]])


@pytest.mark.parametrize(
    ("params", "query", "words"),
    [
        ({"channel_lag": [1]}, ROW, "'lag' .* one entry for each of the 2 channels.*Got 1 entries.$"),
        ({"channel_lag": [0, 1, 2]}, ROW, "Got 3 entries.*is it transposed"),
        ({"channel_lag": [0, 1]}, list(ROW.T), r"the 1 channels.*numpy.column_stack"),
        ({"channel_lag": [1, -1]}, ROW, "'lag' .* integer in the range.*subtract the least"),
        ({"channel_lag": [1, 0.5]}, ROW, r"'lag' .* integer.*int\(round"),
        ({"channel_lag": {"b": 1}}, ROW, "Unknown channel 'b' of 'lag': the query has no names.*Valid: 0, 1"),
        ({"channel_lag": [0, timedelta(seconds=1)]}, ROW, "'lag' .* not datetimes"),
        ({"lag_tolerance": -1}, ROW, "'tolerance' .* integer in the range"),
        ({"lag_tolerance": [1, 1]}, ROW, "'tolerance' parameter of ChannelPlan"),
        ({"channel_weight": [1, -1]}, ROW, "'weight' .* in the range"),
        ({"channel_weight": [0, 0]}, ROW, "'weight' .* above 0"),
        ({"channel_weight": [1, 0], "min_channels": 2}, ROW, "'min_votes' .* must not exceed .* 1. Got 2"),
        ({"min_channels": 0}, ROW, "'min_votes'"),
        ({"channel_lag": 0, "weight": [[1, 0]] * 3}, ROW, "'weight' must be above 0 at a point of each channel"),
        ({"channel_lag": 0, "mode": "subsequence"}, ROW, "'candidates' .* compared by themselves"),
        ({"channel_lag": 0, "scales": [1.0]}, ROW, "'scales' .* compared by themselves"),
        ({"channel_lag": 0}, HOLEY, "NaN at point 1 of channel 0.*nan_policy='omit'"),
    ],
)
def test_what_cannot_be_compared_by_channel_is_refused(params, query, words):
    with pytest.raises((ValueError, TypeError), match=words):
        searcher_of(**{"metric": "correlation", **params}).fit(query)

"""Queries compared by channel, against every channel searched by itself and summed up."""

import pickle

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import quarters, small_sizes, unmeant

from sktslib import QuerySearcher
from sktslib.search import merge_parts
from sktslib.search._streaming import ranges

pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

METRICS = [("correlation", None), ("euclidean", "zscore"), ("euclidean", None), ("dtw", None), ("dtw", "mean")]


class Sliced:
    """A sequence that is not in memory."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __getitem__(self, part):
        return self.values[part]


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
    leads = [draw(st.integers(0, 1)) if a else 0 for a in x]
    lags = [draw(st.integers(0, 3)) for _ in x]
    params = {"channel_lag": lags, "lag_tolerance": draw(st.integers(0, 3))}
    if draw(st.booleans()):
        params["channel_weight"] = [draw(st.sampled_from([0.5, 1.0, 2.0, 0.0 if c else 1.0])) for c in range(channels)]
    part = [c for c in range(channels) if x[c] and params.get("channel_weight", [1.0] * channels)[c] > 0]
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
    searcher = QuerySearcher(name, normalize=normalize, n_matches=None, **params).fit([padded(x, leads)])
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


@pytest.mark.parametrize(("name", "normalize"), METRICS[:4])
@given(data=st.data())
def test_chunks_parts_and_streams_find_the_same(name, normalize, data):
    x, leads, y, params = data.draw(problems(data.draw(st.booleans()), low=20, high=40))
    y, few = y.T, data.draw(st.sampled_from([2, 5]))
    query = [padded(x, leads)]
    searcher = QuerySearcher(name, normalize=normalize, n_matches=data.draw(st.sampled_from([None, 2])), **params)
    profile, whole = searcher.fit(query).profile(y), searcher.search(y)
    near = searcher.set_params(threshold=data.draw(st.sampled_from([0.5, 2.0, 8.0]))).fit(query)
    found, cut = near.search(y), data.draw(st.integers(1, len(y) - 1))
    with small_sizes(data), pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "LEAST", few)
        for one, want in ((clone(searcher).set_params(threshold=None).fit(query), whole), (near, found)):
            equal(one.search(Sliced(y)), want)
            np.testing.assert_array_equal(one.profile(Sliced(y)).distance, profile.distance)
            parallel = clone(one).set_params(n_jobs=2).fit(query)
            equal(parallel.search(y), want)
            np.testing.assert_array_equal(parallel.profile(y).distance, profile.distance)
            parts = [one.begin(at) for at in (0, cut)]
            for part, end in zip(parts, (cut, len(y)), strict=True):
                part.feed(y[part.first : end])
            if want is found or one.n_matches:
                equal(merge_parts(pickle.loads(pickle.dumps(parts))), want)
        stream = near.stream()
        tables = [one.to_frame() for one in (stream.update(y[:cut]), stream.update(y[cut:]), stream.flush())]
    got = pd.concat(tables).sort_values("start", ignore_index=True)
    pd.testing.assert_frame_equal(got, found.sorted().to_frame(), check_exact=True)

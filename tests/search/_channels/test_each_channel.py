"""Channels that are compared by themselves by metrics and within limits of their own, against each of them alone."""

import pickle

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import refused, searcher_of
from strategies import quarters, unmeant
from test_by_channel import padded

from sktslib.distances import ADTW, DTW, LCSS, TWED, Correlation, Euclidean, Mixed, SoftDTW
from sktslib.distances._kernels import mass
from sktslib.search._channels import parts_of

pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

PARTS = [
    (Euclidean(), ("euclidean", {})),
    (Correlation(), ("correlation", {})),
    (DTW(), ("dtw", {})),
    (LCSS(0.5), ("lcss", {"eps": 0.5})),
]


@st.composite
def problems(draw, low=8, high=14, values=quarters):
    """Channels of a query, a sequence and the parameters."""
    channels, n = draw(st.integers(1, 3)), draw(st.integers(low, high))
    x = [draw(st.lists(values, min_size=2, max_size=4)) for c in range(channels)]
    y = np.array([draw(st.lists(values, min_size=n, max_size=n)) for _ in range(channels)])
    params = {"channel_lag": [draw(st.integers(0, 3)) for _ in x], "lag_tolerance": draw(st.integers(0, 2))}
    if draw(st.booleans()):
        params["channel_weight"] = [draw(st.sampled_from([0.5, 2.0, 0.0 if c else 1.0])) for c in range(channels)]
    counted = [c for c in range(channels) if params.get("channel_weight", [1.0] * channels)[c] > 0]
    ends = [params["channel_lag"][c] + len(x[c]) for c in counted]
    params["lag_tolerance"] = min(params["lag_tolerance"], (max(ends) - 1) // 2)
    params["polarity"] = draw(st.sampled_from(["same", "channels"]))
    if draw(st.booleans()):
        y[draw(st.integers(0, channels - 1)), draw(st.integers(0, n - 1))] = np.nan
        params["nan_policy"] = "omit"
    return x, y, params


def votes_of(data, params, counted):
    """The parameter `min_channels`, or none, of so many channels that take part."""
    votes = data.draw(st.sampled_from([None, *range(1, counted + 1)]))
    return votes, params if votes is None else {**params, "min_channels": votes}


def reference(names, x, y, params, weights, votes, **more):
    tolerance, mirrored = params["lag_tolerance"], params["polarity"] == "channels"
    how = {"tolerance": tolerance, "weights": weights, "votes": votes, "mirrored": mirrored}
    return naive.channel_windows(names, x, list(y), params["channel_lag"], **how, **more)


@given(data=st.data())
def test_each_channel_takes_its_metric_and_weight(data):
    x, y, params = data.draw(problems())
    chosen = [data.draw(st.sampled_from(PARTS)) for _ in x]
    share = [data.draw(st.sampled_from([0.5, 1.0, 3.0, 0.0 if c else 1.0])) for c in range(len(x))]
    left_out = [c > 0 and data.draw(st.booleans()) for c in range(len(x))]
    own = params.get("channel_weight", [1.0] * len(x))
    total = [0.0 if out else v * w for v, w, out in zip(own, share, left_out, strict=True)]
    ends = [lag + len(a) for lag, a, v in zip(params["channel_lag"], x, total, strict=True) if v > 0]
    params["lag_tolerance"] = min(params["lag_tolerance"], (max(ends) - 1) // 2)
    votes, params = votes_of(data, params, sum(v > 0 for v in total))
    normalize = data.draw(st.sampled_from([None, "zscore"]))
    names = [name for _, name in chosen]
    want, distance, *_ = reference(names, x, y, params, total, votes, normalize=normalize)
    metric = Mixed({c: None if left_out[c] else chosen[c][0] for c in range(len(x))}, share)
    searcher = searcher_of(metric, normalize=normalize, n_matches=None, **params).fit([padded(x)])
    np.testing.assert_allclose(searcher.profile(y.T).distance, want, rtol=1e-9, atol=1e-7)
    matches = searcher.search(y.T)
    for k, match in enumerate(matches):
        np.testing.assert_allclose(matches.channel_distance[k], distance[match.start], rtol=1e-9, atol=1e-7)
        assert matches.votes[k].sum() == (votes or sum(v > 0 for v in total))
        voters = np.flatnonzero(matches.votes[k])
        assert match.distance == pytest.approx(sum(total[c] * distance[match.start, c] for c in voters), abs=1e-7)


@given(data=st.data())
def test_the_path_of_a_channel_is_that_of_its_window(data):
    x, y, params = data.draw(problems())
    lead = data.draw(st.integers(0, 2))
    query = np.pad(padded(x), ((lead, 0), (0, 0)), constant_values=np.nan)
    query[:, 0] = np.r_[padded(x)[:, 0], [np.nan] * lead]  # one channel begins before the others
    leads = [0, *[lead] * (len(x) - 1)]
    weights = params.get("channel_weight", [1.0] * len(x))
    _, params = votes_of(data, params, sum(v > 0 for v in weights))
    chosen = [data.draw(st.sampled_from(PARTS)) for _ in x]
    metric = Mixed({c: one for c, (one, _) in enumerate(chosen)})
    matches = searcher_of(metric, n_matches=2, **params).fit([query]).search(y.T)
    loaded = pickle.loads(pickle.dumps(matches))
    for k, c in np.ndindex(len(matches), len(x)):
        if weights[c] == 0:
            with pytest.raises(ValueError, match=r"'channel' .* must be a channel that is compared"):
                matches.path(k, c)
            continue
        lag = params["channel_lag"][c] if matches.lag is None else matches.lag[k, c]
        sign = 1 if matches.polarity is None else np.reshape(matches.polarity[k], -1)[c]
        first = matches.start[k] + lag + leads[c]
        want, name = np.tile(np.arange(len(x[c])), (2, 1)), chosen[c][1]
        if np.isinf(matches.channel_distance[k, c]):
            want = want[:, :0]
        elif name[0] in ("dtw", "lcss"):
            want = naive.elastic(name[0], sign * np.array(x[c]), y[c, first : first + len(x[c])], **name[1]).path
        for one in (matches, loaded):
            np.testing.assert_array_equal(one.path(k, c), want + np.array([[leads[c]], [first]]))


def test_channels_have_paths_by_name_and_share_those_of_one_metric():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(9, 3)), rng.normal(size=(60, 3))
    queries, table = [pd.DataFrame(x, columns=list("abc"))], pd.DataFrame(y, columns=list("abc"))
    matches = searcher_of("dtw", channel_lag={"c": 4}, normalize="zscore").fit(queries).search(table)
    scaled = [(a - a.mean()) / a.std() for a in (x[:, 2], y[matches.start[0] + 4 :][:9, 2])]
    want = naive.elastic("dtw", *scaled).path + np.array([[0], [matches.start[0] + 4]])
    np.testing.assert_array_equal(matches.path(0, "c"), want)
    np.testing.assert_array_equal(matches.path(0, channel=2), want)
    for name in ("d", -1, 3, True, 1.0):
        with pytest.raises(ValueError, match=r"Unknown channel .* of Matches.* Valid: 0, 1, 2, a, b, c"):
            matches.path(0, name)
    refused(lambda: matches.path(0, "2"), "Unknown channel '2'", "Did you mean 2?")
    joint = searcher_of("dtw", mode="windows").fit(x).search(y)
    np.testing.assert_array_equal(joint.path(0, 1), joint.path(0))
    parts = searcher_of(Mixed({(0, 2): "dtw", 1: None}), mode="windows").fit(x).search(y)
    start = parts.start[0]
    own = naive.elastic("dtw", x[:, [0, 2]], y[start : start + 9, [0, 2]]).path + np.array([[0], [start]])
    np.testing.assert_array_equal([parts.path(0, 0), parts.path(0, 2)], [own, own])
    refused(lambda: parts.path(0, 1), "These are [0, 2]. Got 1")
    soft = searcher_of(Mixed({0: "sbd", 1: "dtw", 2: "dtw"}), channel_lag=0).fit(x).search(y)
    refused(lambda: soft.path(0, 0), "has no warping path")
    assert soft.path(0, 1)[1, 0] == soft.start[0]


def test_parts_are_fitted_to_their_own_channels():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 3)) * [1, 10, 1], rng.normal(size=(90, 3)) * [1, 10, 1]
    metric = Mixed({"a": ADTW("auto"), "b": ADTW("auto"), "c": "twed"}, {"a": 1.0, "b": 2.0, "c": 1.0})
    queries = [pd.DataFrame(a, columns=list("abc")) for a in (x, 2 * x)]
    searcher = searcher_of(metric, channel_lag={"b": 3}, min_channels=2, n_matches=2).fit(queries)
    for c, name in enumerate("ab"):
        want = ADTW("auto")._fitted_to([a[np.newaxis, :, c] for a in (x, 2 * x)]).omega_
        assert searcher.metric_.metrics[name].omega_ == pytest.approx(want)
    assert not hasattr(metric.metrics["a"], "omega_")
    times = np.arange(90) + 0.25 * rng.random(90)
    timed = searcher_of(Mixed({0: "manhattan", 1: TWED(nu=0.5), 2: "dtw"}), channel_lag=[0, 3, 1]).fit(
        x, times=times[:20]
    )
    matches = timed.search(y, times=times)
    start = matches.start[0]
    assert [part.plan.tx is None for part in parts_of(timed._queries[0])] == [True, False, True]
    assert matches.explain(0).cost.sum() == pytest.approx(matches.distance[0])
    a = times[start + 3 : start + 23]
    far = TWED(nu=0.5)(x[:, 1], y[start + 3 : start + 23, 1], tx=times[:20] - times[0], ty=a - a[0])
    assert matches.channel_distance[0, 1] == pytest.approx(far)


@pytest.mark.slow
def test_sums_that_may_be_negative_are_exact(monkeypatch):
    monkeypatch.setattr(mass, "LEAST", 1)
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(120, 2))
    for part, exact in ((SoftDTW(divergence=False), True), ("chebyshev", False)):
        metric = Mixed({0: "euclidean", 1: part})
        profile = searcher_of(metric, channel_weight=[1, 0.1], normalize="zscore").fit(x).profile(y)
        assert (profile._slack == 0) == exact


def test_channels_that_are_compared_jointly_are_none_by_themselves():
    x = np.arange(12.0).reshape(4, 3)
    joint = Mixed({(0, 2): "dtw", 1: "lcss"})
    with pytest.raises(ValueError, match=r"one channel each .*ChannelPlan. Got \(0, 2\).* metric of its own"):
        searcher_of(joint, channel_lag=0).fit(x)
    searcher_of(joint.set_params(weight=[0, 1]), channel_lag=0).fit(x)  # what counts nothing is not compared
    with pytest.raises(ValueError, match=r"must name each of the 3 channels .* nothing for"):
        searcher_of(Mixed({0: "dtw"}), channel_lag=0, normalize="zscore").fit(x)
    with pytest.raises(ValueError, match=r"'weight' .* that the metric compares"):
        searcher_of(Mixed({0: "dtw", 1: None, 2: None}), channel_weight=[0, 1, 1]).fit(x)
    refused(lambda: searcher_of(Mixed({0: "dtw", 1: None, 2: None}), min_channels=2).fit(x), "'min_votes' ", "1. Got 2")


# ------------------------------------------------------------------------------------------------------------- limits
@given(data=st.data())
def test_channels_keep_their_limits_each(data):
    values = st.floats(-3, 3, allow_subnormal=False).map(lambda v: round(v, 3))
    x, y, params = data.draw(problems(values=values))
    x = [[*a, a[0] + 1.0] for a in x]  # none is constant
    weights = params.get("channel_weight", [1.0] * len(x))
    votes, params = votes_of(data, params, sum(v > 0 for v in weights))
    scale = data.draw(st.sampled_from([None, (0.5, 2.0), (0.0, 1.0)]))
    each = data.draw(st.sampled_from([[1.5] * len(x), [0.5, 1.0, np.inf][: len(x)], [2.0, 0.25, 1.0][: len(x)]]))
    normalize, margins = data.draw(st.sampled_from(["zscore", None])), []

    def allowed(c, query, window):
        margin = naive.margin(query, window, None, scale_limits=scale, offset_limit=each[c])
        margins.append(margin)
        return margin >= 0

    name = data.draw(st.sampled_from(["euclidean", "dtw"]))
    want, distance, *_ = reference(name, x, y, params, weights, votes, normalize=normalize, allowed=allowed)
    if np.abs(margins).min() < 1e-6:
        return
    how = {"normalize": normalize, "scale_limits": scale, "offset_limit": each, "n_matches": None}
    searcher = searcher_of(name, **how, **params).fit([padded(x)])
    np.testing.assert_allclose(searcher.profile(y.T).distance, want, rtol=1e-9, atol=1e-7)
    matches = searcher.search(y.T)
    told = [np.reshape(a, (len(matches), len(x))) for a in (matches.scale, matches.offset)]
    loaded = pickle.loads(pickle.dumps(matches))
    np.testing.assert_array_equal([loaded.scale, loaded.offset], [matches.scale, matches.offset])
    for k, match in enumerate(matches):
        np.testing.assert_allclose(matches.channel_distance[k], distance[match.start], rtol=1e-9, atol=1e-7)
        assert not matches.votes[k][np.isinf(distance[match.start])].any()
        assert np.isfinite(distance[match.start]).sum() >= (votes or 1)
        lags = params["channel_lag"] if matches.lag is None else matches.lag[k]
        for c, a in enumerate(x):
            if weights[c] == 0:
                assert np.isnan([told[0][k, c], told[1][k, c]]).all()
                continue
            own = 1 if matches.polarity is None else np.reshape(matches.polarity[k], -1)[c]
            window = y[c, match.start + lags[c] :][: len(a)]
            (beside,) = naive.beside(own * np.array(a), window)
            np.testing.assert_allclose([told[0][k, c], told[1][k, c]], beside, rtol=1e-9, atol=1e-9)


def test_a_constant_channel_that_does_not_take_part_has_no_scale():
    x, y = np.column_stack([[0.0, 1, 0], [2.0, 2, 2]]), np.arange(12.0).reshape(6, 2)
    how = {"normalize": "zscore", "scale_limits": (0.1, 9)}
    refused(lambda: searcher_of(channel_lag=0, **how).fit(x), "does not vary in channel 1")
    matches = searcher_of(channel_weight=[1, 0], **how).fit(x).search(y)
    assert np.isnan(matches.scale[:, 1]).all() and np.isfinite(matches.scale[:, 0]).all()


def test_a_tolerance_is_less_than_half_of_a_match():
    x = np.array([[0.0, 1], [2, 0], [0, 1]])
    rest = {"channel_lag": [0, 9], "channel_weight": [1, 0]}  # a channel that counts nothing is none of a match
    with pytest.raises(ValueError, match=r"'tolerance' .* less than half of a match's length, 3 samples here.*Got 2"):
        searcher_of("correlation", lag_tolerance=2, **rest).fit(x)
    assert searcher_of("correlation", lag_tolerance=1, **rest).fit(x).search([[0.0, 0]] * 2 + x.tolist()).start == 2

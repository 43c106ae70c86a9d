"""Limits of scale and offset: a search is that of the whole profile without the windows that are beyond them."""

import pickle

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import Slices, refused, searcher_of
from strategies import recording, small_sizes, unmeant, weights

from sktslib.search import _sources, merge_parts

pytestmark = unmeant

BLOCKS = ["search._limits.BLOCK", "search._limits.TERMS", "search._pruning.LEAST"]
METRICS = [("dtw", {"window": 0.2}), ("dtw", {}), ("euclidean", {}), ("cosine", {}), ("cid_dtw", {})]
NORMALIZATIONS = [None, "mean", "zscore", "minmax", "robust"]


KINDS = ["noise", "walk", "loud and quiet", "flat", "offset", "spike", "steps", "tiny"]


@st.composite
def problems(draw, kinds=KINDS, low=2):
    """A query, its weights, a sequence, and limits."""
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    channels, m = draw(st.sampled_from([1, 1, 2])), draw(st.sampled_from([low, 3, 8, 13]))
    y = recording(draw(st.sampled_from(kinds)), rng, draw(st.integers(m, 70)), channels)
    at = int(rng.integers(0, len(y) - m + 1))
    x = y[at : at + m] * draw(st.sampled_from([1.0, 0.5, 1.1])) + 1e-3 * np.ptp(y) * rng.normal(size=(m, channels))
    scale = draw(st.sampled_from([None, (0.8, 1.25), (0, 0.5), (0.9, np.inf), (0.3, 4.0)]))
    spread = x.std(axis=0)
    offset = draw(st.sampled_from([None, 1.5 * spread[0], (0.7 * spread).tolist(), [np.inf] * channels]))
    return x, draw(weights(m, channels)), y, {"scale_limits": scale, "offset_limit": offset}


def near_the_limit(margin, limits, x):
    """Windows that are so close to a limit that roundings of the reference implementation may decide."""
    size = max(np.abs(x).max(), 1e-300)
    finite = [v for v in np.ravel([limits["offset_limit"] or 0.0]) if v < np.inf]
    return np.abs(margin) <= 1e-9 * max([size, *finite, 1.0 if limits["scale_limits"] else 0.0])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), METRICS)
@given(data=st.data())
def test_the_profile_is_infinite_beyond_the_limits(name, parameters, data):
    x, weight, y, limits = data.draw(problems(KINDS[:-1] if name == "cosine" else KINDS))
    normalize, tell = data.draw(st.sampled_from(NORMALIZATIONS)), data.draw(st.booleans())
    if name == "cosine":
        normalize = None
    elif np.abs(x).max() < 1e-100:  # squares are beyond float64
        normalize = "zscore"
    if tell:
        y[data.draw(st.lists(st.integers(0, len(y) - 1), max_size=3))] = np.nan
    how = {"metric_params": parameters, "normalize": normalize, "nan_policy": "omit", "mode": "windows"}
    whole = searcher_of(name, **how).fit(x, weight=weight)
    weight = whole.weight_
    try:
        searcher = searcher_of(name, **how, **limits).fit(x, weight=weight)
    except ValueError as error:
        assert "constant in a channel" in str(error)
        return
    unit = 2.0**560 if np.nanmax(np.abs(y)) < 1e-100 else 1.0  # the reference implementation squares
    lifted = limits | {"offset_limit": limits["offset_limit"] and (unit * np.array(limits["offset_limit"])).tolist()}
    starts = range(len(y) - len(x) + 1)
    each = np.array([naive.margin(unit * x, unit * y[s : s + len(x)], weight, **lifted) for s in starts])
    with small_sizes(data, *BLOCKS):
        got = searcher.profile(y).distance
    want = whole.profile(y).distance
    sure = ~near_the_limit(each, lifted, unit * x) & ~np.isnan(each)
    np.testing.assert_array_equal(np.isfinite(got[sure]), np.isfinite(want[sure]) & (each[sure] > 0))
    some = np.isfinite(got)
    np.testing.assert_array_equal(got[some], want[some])


@pytest.mark.parametrize("name", ["euclidean", "correlation"])
def test_limits_hold_where_versions_of_a_query_share_transforms(name, monkeypatch):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=40), 0.01 * rng.normal(size=400)
    y[100:140] = -x
    how = {"normalize": "zscore", "n_matches": 3, "polarity": "any", "scale_limits": (0.8, 1.25)}
    for least in (1, 2**20):
        monkeypatch.setattr("sktslib.distances._kernels.mass.LEAST", least)
        searcher = searcher_of(name, **how).fit(x)
        assert searcher.search(y).start.tolist() == [100]
        assert np.isinf(searcher.profile(y).distance[:60]).all()


RULES = [{"n_matches": 1}, {"n_matches": 4}, {"threshold": 9.0}, {"percentile": 30, "n_matches": 3}]


@pytest.mark.parametrize(
    ("name", "parameters"), [*(pytest.param(*one, marks=pytest.mark.slow) for one in METRICS[:2]), METRICS[2]]
)
@given(data=st.data())
def test_matches_are_those_of_the_limited_profile(name, parameters, data):
    x, weight, y, limits = data.draw(problems(["noise", "walk", "loud and quiet", "flat"], low=5))
    limits["scale_limits"] = limits["scale_limits"] or (0.5, 2)
    rule, holes = data.draw(st.sampled_from(RULES)), data.draw(st.booleans())
    if holes:
        y[data.draw(st.integers(0, len(y) - 1))] = np.nan
    how = {"metric_params": parameters, "normalize": "zscore", "nan_policy": "omit", **limits, **rule}
    try:
        searcher = searcher_of(name, **how).fit(x, weight=weight)
    except ValueError as error:
        assert "constant in a channel" in str(error)
        return
    profile = searcher.profile(y)
    most, rest = rule.get("n_matches"), {key: rule[key] for key in ("threshold", "percentile") if key in rule}
    chosen = naive.select(profile.distance, profile.start, profile.end, most, **rest)
    apart = np.diff(np.sort(profile.distance[np.isfinite(profile.distance)]))
    with small_sizes(data, *BLOCKS), pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sources, "CHUNK", 19)
        found = [searcher.search(y), searcher.search(Slices(y))]
        if "percentile" not in rule:
            first, second = searcher.partial_search(), searcher.partial_search(len(y) // 2)
            found.append(merge_parts([first.feed(y[: len(y) // 2]), second.feed(y[second.first :])]))
        if most is None:
            stream = searcher.stream()
            parts = [stream.update(y[:11]), stream.update(y[11:]), stream.flush()]
            start, scale, offset = (
                np.concatenate([getattr(p, c) for p in parts]) for c in ("start", "scale", "offset")
            )
    for matches in found:
        np.testing.assert_allclose(matches.distance, profile.distance[chosen], rtol=1e-9, atol=1e-9)
        if apart.min(initial=1.0) > 1e-9:  # else roundings decide which of equal ones comes first
            np.testing.assert_array_equal(matches.start, profile.start[chosen])
        each = [naive.beside(x, y[s:e], searcher.weight_) for s, e, _ in matches]
        each = np.array(each).reshape(-1, y.shape[1], 2)
        told = [a.reshape(len(each), y.shape[1]) for a in (matches.scale, matches.offset)]
        np.testing.assert_allclose(np.array(told), each.transpose(2, 0, 1), rtol=1e-9, atol=1e-9)
    if most is None:
        order = np.argsort(found[0].start)
        np.testing.assert_array_equal(start, found[0].start[order])
        np.testing.assert_array_equal(scale, found[0].scale[order])
        np.testing.assert_array_equal(offset, found[0].offset[order])


@pytest.mark.parametrize("name", ["dtw", "euclidean"])
def test_limits_are_inclusive_wherever_a_window_lies(name, monkeypatch):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=11), 1e3 * rng.normal(size=400)
    places = [3, 100, 201, 260, 389]
    for at, factor in zip(places, [1.0, 2.0, 0.5, 4.0, 2.0], strict=True):
        y[at : at + 11] = factor * x
    for block in (1, 16, 2**13):
        monkeypatch.setattr("sktslib.search._limits.BLOCK", block)
        for limits, kept in (((0.5, 2.0), [3, 100, 201, 389]), ((1.0, 1.0), [3]), ((2.0, 4.0), [100, 260, 389])):
            searcher = searcher_of(name, normalize="zscore", scale_limits=limits).fit(x)
            assert np.flatnonzero(np.isfinite(searcher.profile(y).distance)).tolist() == kept
    means = [4 * (v - 3) for v in range(6)]  # sums of whole numbers are exact
    y = np.concatenate([[m - 1.0, m, m + 1, m] for m in means])
    searcher = searcher_of(name, normalize="mean", offset_limit=4, scale_limits=(1, 1)).fit([-1.0, 0, 1, 0])
    near = np.flatnonzero(np.isfinite(searcher.profile(y).distance))
    assert near[near % 4 == 0].tolist() == [8, 12, 16]


@given(data=st.data())
def test_scales_and_signs(data):
    x, weight, y, limits = data.draw(problems(["noise", "loud and quiet"], low=3))
    limits["scale_limits"], normalize = limits["scale_limits"] or (0.5, 2), data.draw(st.sampled_from([None, "zscore"]))
    how = {"normalize": normalize, "mode": "windows", "max_overlap": 1.0, "n_matches": None}
    try:
        searcher_of(**how, **limits).fit(x, weight=weight)
    except ValueError as error:
        assert "constant in a channel" in str(error)
        return
    lengths, signs = [max(1, len(x) - 1), len(x), len(x) + 2], data.draw(st.sampled_from(["same", "any"]))
    more = data.draw(st.sampled_from([{"scales": [n / len(x) for n in lengths]}, {}]))
    with small_sizes(data, *BLOCKS):
        searcher = searcher_of(**how, **limits, **more, polarity=signs).fit(x, weight=weight)
        matches = searcher.search(y)
    best = {}
    for size in lengths if more else [len(x)]:
        for sign in (1, -1) if signs == "any" else (1,):
            one = searcher_of(**how, scales=[size / len(x)]).fit(sign * x, weight=weight)
            if size > len(y):
                continue
            for start, end, distance in one.profile(y):
                margin = naive.margin(sign * x, y[start:end], one.weight_, **limits)
                if near_the_limit(margin, limits, x):
                    return
                if margin > 0 and end - start == size and distance < best.get(start, (np.inf,))[0] - 1e-9:
                    best[start] = distance, end, sign
    assert sorted(matches.start) == sorted(best)
    for k, (start, _, distance) in enumerate(matches):
        sign = 1 if matches.polarity is None else matches.polarity[k]
        np.testing.assert_allclose(distance, best[start][0], rtol=1e-9, atol=1e-9)
        told = np.column_stack([np.ravel(matches[[k]].scale), np.ravel(matches[[k]].offset)])
        want = naive.beside(sign * x, y[start : matches.end[k]], searcher.weight_)
        np.testing.assert_allclose(told, want, rtol=1e-9, atol=1e-9)


def test_columns_of_matches():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(9, 2)), 0.1 * rng.normal(size=(80, 2))
    y[20:29] += 2 * x + [1, 0]
    y[50:59] += 0.5 * x
    searcher = searcher_of("euclidean", normalize="zscore", scale_limits=(0.3, 3), n_matches=2).fit(x)
    matches = searcher.search(y)
    assert matches.scale.shape == matches.offset.shape == (2, 2)
    columns = matches.to_frame().columns.tolist()
    assert columns == ["start", "end", "distance", "scale_0", "scale_1", "offset_0", "offset_1"]
    one = searcher_of(normalize="zscore").fit({"a": x[:, 0], "b": -x[:, 0]})
    found = one.search([y[:, 0], y[10:, 0]])
    # A mirrored query has another mean, and the same deviation.
    at = {label: found[(found.label == label) & (found.sequence == 0)] for label in "ab"}
    assert {label: some.scale.shape for label, some in at.items()} == {"a": (1,), "b": (0,)} or len(found) == 2
    assert found.to_frame()["scale"].tolist() == found.scale.tolist()
    assert np.diff(found.sorted("scale").scale).min(initial=0) >= 0
    loaded = pickle.loads(pickle.dumps(matches[1:]))
    np.testing.assert_array_equal(loaded.scale, matches.scale[1:])
    np.testing.assert_array_equal(loaded.offset, matches.offset[1:])
    plain = searcher_of("euclidean").fit(x).search(y)
    assert plain.scale is None and plain.offset is None
    assert searcher_of("euclidean", offset_limit=9.0).fit(x).search(y).scale is not None
    refused(lambda: plain.sorted("scale"), "'scale'")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scale_limits": 2.0}, "'scale_limits' parameter of Normalization must be an array-like or None. Got 2.0"),
        ({"scale_limits": (2, 1)}, r"must be None or \(least, largest\).*Got \(2, 1\)"),
        ({"scale_limits": (0, 0)}, "which is above 0"),
        ({"scale_limits": (np.nan, 1)}, "Got .*nan"),
        ({"scale_limits": (True, 2)}, "Got .*True"),
        (
            {"offset_limit": -1.0},
            r"'offset_limit' parameter of Normalization must be None, a number of at least 0.*Got -1.0",
        ),
        ({"offset_limit": [1.0, 2.0]}, "one for each channel of the query, 1 here"),
        ({"offset_limit": "wide"}, "Got 'wide'"),
        ({"offset_limit": {0: -1.0}}, r"in a list or a dict.*Got \{0: -1.0\}"),
        ({"offset_limit": {"a": 1.0}}, "Unknown channel 'a' of 'offset_limit': the query has no names"),
        ({"offset_limit": {1: 1.0}}, "'offset_limit'"),
        ({"scale_limits": (0.5, 2), "mode": "subsequence", "normalize": None}, "Set candidates='windows'"),
    ],
)
def test_wrong_limits(parameters, message):
    with pytest.raises(ValueError, match=message):
        searcher_of(**{"normalize": "zscore", **parameters}).fit([0, 1, 0])


def test_a_constant_query_has_no_scale():
    x = np.column_stack([[0.0, 1, 0], [2.0, 2, 2]])
    refused(lambda: searcher_of(normalize="zscore", scale_limits=(0.5, 2)).fit(x), "does not vary in channel 1")
    y = np.column_stack([[0, 1, 0, 0, 1, 0], [5, 5, 5, 2, 2, 3.0]])
    named = pd.DataFrame(x, columns=["a", "b"])
    for limit, query in (([9, 1], x), ({1: 1}, x), ({"b": 1, "a": 9}, named), ({"b": 1}, named), ({1: 1}, named)):
        limited = searcher_of(normalize="zscore", offset_limit=limit).fit(query)
        table = y if query is x else pd.DataFrame(y, columns=["a", "b"])
        assert np.flatnonzero(np.isfinite(limited.profile(table).distance)).tolist() == [2, 3]
    limited = searcher_of(normalize="zscore", offset_limit=[9, 1]).fit(x)
    assert np.isnan(limited.search(y).scale[:, 1]).all()
    weighted = searcher_of(normalize="zscore", scale_limits=(0.5, 2)).fit(x, weight=[[1, 0]] * 3)
    assert np.isnan(weighted.search(y).offset[:, 1]).all()

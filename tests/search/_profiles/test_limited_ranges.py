"""Limits of scale and offset of ranges that are normalized each by itself, against all ranges one by one."""

import pickle

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import searcher_of
from strategies import small_sizes, unmeant, weights
from test_scale_limits import recording

from sktslib.search import merge_parts
from sktslib.search._limits import LimitedRanges, allowed_ranges

pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

SIZES = "LEAST", "SHARE", "PARTS", "BATCH", "SEEDS", "EACH", "TERMS"
OF_RANGES = [f"search._engines.{name}" for name in SIZES]
OF_STREAMS = ["search._run.LEAST", "search._run.FIRST", "search._run.ROOM"]
OF_STREAMS += ["search._sources.CHUNK", "search._run.LONG", "search._run.RARE"]
KINDS = ["noise", "walk", "loud and quiet", "flat", "offset", "spike", "tiny"]


@st.composite
def problems(draw, kinds=KINDS, most=30):
    """A query, its weights, a sequence and the parameters."""
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    channels, m = draw(st.sampled_from([1, 1, 2])), draw(st.integers(2, 5))
    y = recording(draw(st.sampled_from(kinds)), rng, draw(st.integers(m, most)), channels)
    at = int(rng.integers(0, len(y) - m + 1))
    x = y[at : at + m] * draw(st.sampled_from([1.0, 0.5, 1.1])) + 1e-3 * np.ptp(y) * rng.normal(size=(m, channels))
    scale = draw(st.sampled_from([None, (0.8, 1.25), (0, 0.5), (0.9, np.inf), (0.3, 4.0)]))
    offset = draw(st.sampled_from([None, 1.5 * x[:, 0].std(), (0.7 * x.std(axis=0)).tolist(), [np.inf] * channels]))
    if scale is None and offset is None:
        scale = (0.5, 2)
    params = {"scale_limits": scale, "offset_limit": offset, "min_length": None, "max_length": 7}
    return x, draw(weights(m, channels)), y, params


def limits_in(params):
    return {name: params[name] for name in ("scale_limits", "offset_limit")}


def is_near(margin, params, size):
    """Whether a range is so close to a limit that roundings of the reference implementation may decide."""
    finite = [v for v in np.ravel([params["offset_limit"] or 0.0]) if v < np.inf]
    return np.abs(margin) <= 1e-9 * max([size, *finite, 1.0 if params["scale_limits"] else 0.0])


def columns(matches):
    return np.array([matches.start, matches.end, matches.distance])


@pytest.mark.parametrize(("name", "p"), [("dtw", {}), ("twed", {}), ("ddtw", {})])
@given(data=st.data())
def test_the_profile_holds_the_nearest_of_the_ranges_within(name, p, data):
    x, w, y, params = data.draw(problems(KINDS[:-1], most=14))
    normalize = data.draw(st.sampled_from(["zscore", "mean", "minmax", "robust"]))
    searcher = searcher_of(name, metric_params=p, mode="subsequence", normalize=normalize, **params)
    searcher.fit(x, weight=w)
    doubtful = []

    def allowed(piece):
        margin = naive.margin(x, piece, searcher.weight_, **limits_in(params), beside=naive.beside_range)
        doubtful.append(is_near(margin, params, np.abs(y).max()))
        return margin >= 0

    want, _ = naive.normalized_ranges(name, x, y, 1, 7, searcher.weight_, normalize=normalize, allowed=allowed, **p)
    if not any(doubtful):
        got = searcher.profile(y)
        np.testing.assert_allclose(got.distance, want, rtol=1e-7, atol=1e-7)
        assert (got.start[np.isinf(want)] == -1).all()
    matches = searcher.set_params(n_matches=2).search(y)
    each = [naive.beside_range(x, y[s:e], searcher.weight_) for s, e, _ in matches]
    told = [a.reshape(len(each), y.shape[1]) for a in (matches.scale, matches.offset)]
    each = np.array(each).reshape(-1, y.shape[1], 2).transpose(2, 0, 1)
    np.testing.assert_allclose(told[0], each[0], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(told[1], each[1], rtol=1e-9, atol=1e-9 * np.abs(y).max())


@given(problem=problems(), boxes=st.tuples(st.integers(1, 5), st.integers(1, 4)))
def test_boxes_that_are_left_out_have_no_range_within(problem, boxes):
    x, w, y, params = problem
    searcher = searcher_of(mode="subsequence", normalize="zscore", **params).fit(x, weight=w)
    how, n, (ends, lengths) = searcher._searches[0][0], len(y), boxes
    y = np.ascontiguousarray(y.T)
    inside = {}
    for end in range(1, n + 1):
        for length in range(1, min(end, 7) + 1):
            inside[end, length] = bool(allowed_ranges(how, y[np.newaxis, :, end - length : end])[0])
    end, length = (a.ravel() for a in np.meshgrid(np.arange(1, n + 1), np.arange(1, 8)))
    may = LimitedRanges(how, y).may_lie_in(end, ends, length, lengths)
    for e, k, possible in zip(end.tolist(), length.tolist(), may.tolist(), strict=True):
        own = [inside.get((a, b), False) for a in range(e, e + ends) for b in range(k, k + lengths)]
        assert possible or not any(own)


def test_boxes_of_quiet_ranges_are_left_out():
    rng = np.random.default_rng(3)
    x, y = np.sin(np.arange(60) / 8), 0.01 * rng.normal(size=(1, 4000))
    y[0, 2000:2070] += np.sin(np.arange(70) / 9)
    for limits in ({"scale_limits": (0.5, 2)}, {"offset_limit": 0.5}):
        searcher = searcher_of(mode="subsequence", normalize="zscore", **limits).fit(x)
        end = np.arange(100, 3900, 15)
        z = y if "scale_limits" in limits else y + 5.0 * (np.abs(np.arange(4000) - 2000) > 200)
        may = LimitedRanges(searcher._searches[0][0], z).may_lie_in(end, 15, np.full(len(end), 50), 15)
        assert may[np.abs(end - 2060) < 20].all() and not may[np.abs(end - 2000) > 400].any()


@pytest.mark.slow
@given(problem=problems(["noise", "walk", "loud and quiet", "flat"], most=24), data=st.data())
def test_searches_parts_and_streams_are_those_of_the_whole_profile(problem, data):
    x, w, y, params = problem
    name, p = data.draw(st.sampled_from([("dtw", {}), ("adtw", {"omega": 0.1})]))
    rule = data.draw(st.sampled_from([{"n_matches": 2}, {"threshold": 0.5}, {"n_matches": 3, "max_overlap": 0.5}]))
    if data.draw(st.booleans()):
        y[data.draw(st.integers(0, len(y) - 1))] = np.nan
    sign = data.draw(st.sampled_from(["same", "any"]))
    how = {"normalize": data.draw(st.sampled_from(["zscore", "mean"])), "nan_policy": "omit", "polarity": sign}
    searcher = searcher_of(name, metric_params=p, mode="subsequence", **how, **params, **rule).fit(x, weight=w)
    profile = searcher.profile(y)
    chosen = naive.select(profile.distance, profile.start, profile.end, **rule)
    want = np.array([profile.start[chosen], profile.end[chosen], profile.distance[chosen]])
    n, at = len(y), data.draw(st.integers(1, len(y) - 1))
    with small_sizes(data, *OF_RANGES, *OF_STREAMS):
        np.testing.assert_array_equal(searcher.profile(y).distance, profile.distance)
        whole = searcher.search(y)
        np.testing.assert_array_equal(columns(whole), want)
        searcher.set_params(n_jobs=2)
        np.testing.assert_array_equal(columns(searcher.search(y)), want)
        searcher.set_params(n_jobs=None)
        parts = [searcher.partial_search(), searcher.partial_search(at)]
        for part, end in zip(parts, [at, n], strict=True):
            part.feed(y[part.first : end])
        merged = merge_parts(pickle.loads(pickle.dumps(parts)))
        found = [merged]
        if "threshold" in rule:
            stream = searcher.stream()
            found += [[*stream.update(y[:at]), *stream.update(y[at:]), *stream.flush()]]
            assert sorted((a, b, c) for a, b, c in found[1]) == sorted((a, b, c) for a, b, c in whole)
    np.testing.assert_array_equal(columns(merged), want)
    np.testing.assert_array_equal([merged.scale, merged.offset], [whole.scale, whole.offset])
    for k, match in enumerate(whole):  # of the version that it is nearest to
        own = (1 if whole.polarity is None else whole.polarity[k]) * x
        margin = naive.margin(
            own, y[match.start : match.end], searcher.weight_, **limits_in(params), beside=naive.beside_range
        )
        assert margin > 0 or is_near(margin, params, np.nanmax(np.abs(y)))


def test_copies_and_their_doubles_are_on_the_limits():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=11), 1e3 * rng.normal(size=120)
    for at, factor in ((3, 1.0), (40, 2.0), (61, 0.5), (90, 4.0)):
        y[at : at + 11] = factor * x
    for limits, kept in (((0.5, 2.0), [3, 40, 61]), ((1.0, 1.0), [3]), ((2.0, 4.0), [40, 90])):
        how = {"normalize": "zscore", "min_length": 11, "max_length": 11, "n_matches": None}
        searcher = searcher_of("dtw", mode="subsequence", scale_limits=limits, **how)
        assert sorted(searcher.fit(x).search(y).start) == kept

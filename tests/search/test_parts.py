"""Searches in parts, of which each begins without knowing what was before, against searches of the whole."""

import itertools
import pickle
from contextlib import contextmanager

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import parameters, small_sizes, unmeant

from sktslib import QuerySearcher, load_ecg_example
from sktslib.distances import get_metric
from sktslib.search import merge_parts
from sktslib.search._streaming import parts, ranges

pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

WINDOWS = [
    ("euclidean", {}),
    ("euclidean", {"normalize": "zscore"}),
    ("manhattan", {"normalize": "robust"}),
    ("dtw", {"mode": "windows"}),
    ("dtw", {"normalize": "zscore"}),
    ("dtw", {"scales": (0.5, 1.5)}),
    ("euclidean", {"scales": [0.5, 1, 2], "normalize": "mean"}),
]
SUBSEQUENCES = [(name, {"mode": "subsequence"}) for name in ("dtw", "dtw", *naive.WARPED)]
STRETCHES = ["noise", "integers", "constant", "ramp", "query"]


class Sliced:
    """A sequence that is not in memory."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __getitem__(self, part):
        return self.values[part]


@st.composite
def recordings(draw, x):
    """Stretches of several kinds one after the other, so that states agree soon, late or never, and distances tie."""
    rng, pieces = np.random.default_rng(draw(st.integers(0, 2**20))), []
    for kind in draw(st.lists(st.sampled_from(STRETCHES), min_size=3, max_size=8)):
        size = draw(st.sampled_from([5, 20, 60, 120]))
        shape = size, x.shape[1]
        pieces.append(
            {
                "noise": lambda shape=shape: rng.normal(size=shape),
                "integers": lambda shape=shape: rng.integers(-1, 2, shape).astype(float),
                "constant": lambda shape=shape: np.full(shape, rng.integers(-1, 3) / 2),
                "ramp": lambda shape=shape: np.linspace(-2, 2, shape[0])[:, np.newaxis] + np.zeros(shape),
                "query": lambda size=size: np.tile(x, (-(-size // len(x)), 1)),
            }[kind]()
        )
    return np.concatenate(pieces)


@st.composite
def searches(draw, kinds=SUBSEQUENCES + SUBSEQUENCES + WINDOWS):
    """A fitted searcher, a sequence and its times."""
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    m, channels = draw(st.integers(1, 7)), draw(st.sampled_from([1, 1, 2]))
    x = rng.integers(-1, 2, (m, channels)).astype(float) if draw(st.booleans()) else rng.normal(size=(m, channels))
    y = draw(recordings(x))
    name, rule = draw(st.sampled_from(kinds))
    metric, rule = get_metric(name, draw(parameters(name))), dict(rule)
    if rule.get("mode") == "subsequence":
        if draw(st.booleans()):
            metric.set_params(window="sakoe-chiba", factor=draw(st.integers(0, 4)))
        rule |= draw(st.sampled_from([{}, {"min_length": None}, {"min_length": 3, "max_length": 9}]))
    if draw(st.booleans()):
        y[rng.integers(0, len(y), 3)] = np.nan
        rule["nan_policy"] = "omit"
    tx = ty = None
    if draw(st.booleans()):
        tx, ty = np.arange(m) + rng.random(m) / 2, np.cumsum(rng.choice([1.0, 1.0, 1.0, 1.5, 4.0], len(y)))
        if draw(st.booleans()):
            rule["max_gap"] = 3.0
    rule["n_matches"] = draw(st.sampled_from([None, 1, 2, 5, 40]))
    rule["max_overlap"] = draw(st.sampled_from([0.0, 0.0, 0.5, 1.0]))
    limit = draw(st.sampled_from(["none", "threshold", "percentile"]))
    if limit == "percentile":
        rule["percentile"] = draw(st.sampled_from([0, 5, 60]))
    weight = rng.choice([0.25, 0.5, 1.0], size=m) if draw(st.booleans()) else None
    searcher = QuerySearcher(metric, **rule).fit(x, weight=weight, times=tx)
    if limit == "threshold":
        distance = searcher.profile(y, times=ty).distance
        distance = distance[np.isfinite(distance)]
        if distance.size:
            searcher.set_params(threshold=max(0.0, np.quantile(distance, draw(st.sampled_from([0.02, 0.3, 0.9])))))
    return searcher, y, ty


def columns(matches):
    return [matches.start, matches.end, matches.distance]


def assert_same(got, want):
    for a, b in zip(columns(got), columns(want), strict=True):
        np.testing.assert_array_equal(a, b)


@contextmanager
def small_parts(data):
    names = ("ranges.LEAST", "parts.LEAD", "best.ROOM", "chunked_sequence.CHUNK")
    with small_sizes(data, *(f"search._streaming.{name}" for name in names), "search._near_windows.LEAST"):
        yield


@pytest.mark.filterwarnings("ignore:The sequence (is sampled|has holes)", "ignore:The sampling intervals")
@given(search=searches(), n_jobs=st.sampled_from([2, 3]), in_memory=st.booleans(), data=st.data())
def test_parts_give_what_one_search_of_the_whole_does(search, n_jobs, in_memory, data):
    searcher, y, ty = search
    want, profile = searcher.search(y, times=ty), searcher.profile(y, times=ty)
    rows = searcher.transform(y, times=ty)
    searcher.set_params(n_jobs=n_jobs)
    with small_parts(data):
        given = y if in_memory else Sliced(y)
        assert_same(searcher.search(given, times=ty), want)
        got = searcher.profile(given, times=ty)
        np.testing.assert_array_equal(got.start, profile.start)
        np.testing.assert_array_equal(got.end, profile.end)
        equal = np.testing.assert_array_equal if not profile._slack else np.testing.assert_allclose
        equal(got.distance, profile.distance, **({} if not profile._slack else {"rtol": 1e-9, "atol": 1e-9}))
        equal(searcher.transform(given, times=ty), rows, **({} if not profile._slack else {"rtol": 1e-9, "atol": 1e-9}))
        searcher.set_params(n_jobs=None)
        assert_same(searcher.search(Sliced(y), times=ty), want)


def fed(part, y, ty, end, sizes, through_pickle):
    """The part, fed chunks of several sizes up to a sample."""
    at = part.first
    while at < end:
        to = min(at + sizes[at % len(sizes)], end)
        part.feed(y[at:to], *([] if ty is None else [ty[at:to]]))
        part = pickle.loads(pickle.dumps(part)) if through_pickle else part
        at = to
    return part


@pytest.mark.filterwarnings("ignore:The sequence (is sampled|has holes)", "ignore:The sampling intervals")
@given(
    search=searches(),
    cuts=st.sets(st.integers(1, 200), max_size=4),
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=4),
    dated=st.booleans(),
    data=st.data(),
)
def test_parts_that_are_fed_give_what_one_search_does(search, cuts, sizes, dated, data):
    searcher, y, ty = search
    if dated and ty is not None and searcher.max_gap is None and not searcher.metric_.uses_times:
        ty = np.datetime64("2026-01-01") + (1e3 * ty).astype("timedelta64[ms]")
    want, through_pickle = searcher.search(y, times=ty), data.draw(st.booleans())
    cuts = sorted({0, len(y), *(at for at in cuts if at < len(y))})
    with small_sizes(data, "search._streaming.parts.LEAD", "search._streaming.best.ROOM"):
        fed_parts = [fed(searcher.begin(a), y, ty, b, sizes, through_pickle) for a, b in itertools.pairwise(cuts)]
        matches = merge_parts(fed_parts[::-1], y, ty)
        assert_same(matches, want)
        try:
            alone = merge_parts(fed_parts)
        except ValueError as error:
            assert "'sequence' parameter of merge_parts must be given" in str(error)
            return
    assert_same(alone, want)
    for k in range(min(len(want), 3)):
        if searcher.metric_._has_path:
            np.testing.assert_array_equal(alone.path(k), want.path(k))
    if ty is not None:
        np.testing.assert_array_equal(alone.start_time, want.start_time)
        np.testing.assert_array_equal(alone.end_time, want.end_time)


def ecg():
    """Nine seconds of a heart, and one of its beats."""
    y = load_ecg_example()["sequence"]
    return y, y[300:340]


def spied(monkeypatch):
    """How many samples the search before went on into each part, and whether that sufficed."""
    seen, follows = [], parts.QueryPart.follows

    def spy(part, before, source):
        begin = before.feed.seen
        seen.append((follows(part, before, source), before.feed.seen - begin))
        return seen[-1][0]

    monkeypatch.setattr(parts.QueryPart, "follows", spy)
    monkeypatch.setattr(ranges, "LEAST", 150)
    return seen


@pytest.mark.parametrize("name", ["dtw", "msm", "twed", "lcss", "wdtw", "ddtw"])
def test_parts_of_a_recording_agree_soon(name, monkeypatch):
    y, x = ecg()
    searcher = QuerySearcher(name, n_matches=5, n_jobs=2).fit(x[:30])
    seen = spied(monkeypatch)
    got, profile = searcher.search(y), searcher.profile(y)
    assert len(seen) == 2 * 3
    assert all(agreed and further <= 30 for agreed, further in seen)
    searcher.set_params(n_jobs=None)
    assert_same(got, searcher.search(y))
    np.testing.assert_array_equal(profile.start, searcher.profile(y).start)


def test_where_parts_never_agree_the_search_goes_on_through_them(monkeypatch):
    y, x = np.zeros(900), np.array([1.0, 0.0])
    y[0] = 1.0  # the best of all paths begins there, and goes on for ever
    searcher = QuerySearcher("dtw", min_length=None, n_matches=3, n_jobs=2).fit(x)
    seen = spied(monkeypatch)
    profile, got = searcher.profile(y), searcher.search(y)
    assert (False, 225) in seen[:3]
    searcher.set_params(n_jobs=None)
    np.testing.assert_array_equal(profile.start, searcher.profile(y).start)
    assert_same(got, searcher.search(y))

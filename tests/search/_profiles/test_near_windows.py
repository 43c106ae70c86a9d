"""Matches of a search by windows are those of the whole profile, though only what may be chosen is computed."""

import pickle

import naive
import numba
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import recording, slow, small_sizes, unmeant, weights

from sktslib import QuerySearcher
from sktslib.distances._kernels import bounds
from sktslib.search import _pruning, _run

pytestmark = unmeant

BLOCKS = [
    "distances._kernels.bounds.BLOCK",
    "search._pruning.BLOCK_OF_MOMENTS",
    "search._pruning.BLOCK",
    "search._pruning.FEW",
    "search._pruning.TERMS",
    "search._pruning.SEEDS",
    "search._pruning.PIECE",
    "search._pruning.SAMPLED",
    "search._pruning.ROWS",
    "search._pruning.PROMISING",
    "search._pruning.STRETCHES",
]
KINDS = ["noise", "walk", "offset", "flat", "copies", "steps", "spike"]
METRICS = [
    ("dtw", {"window": 0.2}),
    ("dtw", {}),
    ("dtw", {"window": "itakura"}),
    ("dtw", {"window": "sakoe-chiba", "factor": 1, "do_dist_norm": True}),
    ("dtw", {"alpha": 0.5}),
    ("lcss", {"eps": 0.3, "window": 0.2}),
    ("cid_dtw", {}),  # of constant windows it is infinite
    ("cid_dtw", {"window": 0.2}),
]


@pytest.fixture
def any_size(monkeypatch):
    monkeypatch.setattr(_pruning, "LEAST", 1)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.booleans()), min_size=1, unique_by=lambda row: row[0]),
    st.integers(1, 3),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.5]),
)
# The best window overlaps both that are known, and leaves only one that is farther.
@example([(3, 0, False), (1, 1, True), (5, 1, True), (20, 3, False)], 2, 3, 0.0)
def test_no_match_is_beyond_the_bound_by_some_of_the_windows(rows, n_matches, m, max_overlap):
    start, distance, known = np.array(rows).T
    known = known.astype(bool)
    chosen = naive.select(distance, start, start + m, n_matches, None, max_overlap)
    rule = _pruning.Choice(n_matches, max_overlap=max_overlap)
    assert distance[chosen].max() <= rule.bound(distance[known], start[known], start[known] + m)


@pytest.mark.slow
@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize(("name", "parameters"), METRICS)
@given(data=st.data())
def test_matches_are_those_of_the_whole_profile(name, parameters, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    several = [1, 1, 2] if numba.config.DISABLE_JIT or name != "lcss" else [1]  # whose norm would be compiled once more
    channels, m = data.draw(st.sampled_from(several)), data.draw(st.sampled_from([1, 2, 7, 16, 23]))
    n = data.draw(st.sampled_from([m, m + 3, 60, 150] if numba.config.DISABLE_JIT else [m, m + 3, 60, 300]))
    y = recording(data.draw(st.sampled_from(KINDS)), rng, max(n, m), channels)
    begin = int(rng.integers(0, len(y) - m + 1))
    x = y[begin : begin + m] * rng.choice([1.0, 2.0]) + rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=(m, channels))
    rule = {
        "n_matches": data.draw(st.sampled_from([1, 1, 2, 5])),
        "max_overlap": data.draw(st.sampled_from([0.0, 0.5, 1.0])),
        "normalize": data.draw(st.sampled_from([None, "zscore", "zscore", "mean", "minmax"])),
    }
    searcher = QuerySearcher(name, metric_params=parameters, candidates="windows", **rule)
    searcher.fit(x, weight=data.draw(weights(m, channels)))
    profile = searcher.profile(y)
    finite = profile.distance[np.isfinite(profile.distance)]
    if len(finite) and data.draw(st.booleans()):
        searcher.threshold = float(rng.choice(finite))
        searcher.n_matches = data.draw(st.sampled_from([None, 3]))
    chosen = naive.select(
        profile.distance, profile.start, profile.end, searcher.n_matches, searcher.threshold, searcher.max_overlap
    )
    with small_sizes(data, *BLOCKS):
        got = searcher.set_params(n_jobs=data.draw(st.sampled_from([1, 1, 2]))).search(y)
    np.testing.assert_array_equal(got.start, profile.start[chosen])
    np.testing.assert_array_equal(got.distance, profile.distance[chosen])


def test_few_distances_are_computed(monkeypatch):
    rng = np.random.default_rng(3)
    n = 600 if numba.config.DISABLE_JIT else 30_000
    y, x = rng.normal(size=n).cumsum(), rng.normal(size=40).cumsum()
    monkeypatch.setattr(_pruning, "LEAST", 1)
    searcher = QuerySearcher("dtw", metric_params={"window": 0.2}, normalize="zscore").fit(x)
    want = searcher.profile(y).distance
    computed, original = [], _pruning._Cascade._exact_costs

    def counted(cascade, where, cutoff):
        computed.append(len(where))
        return original(cascade, where, cutoff)

    monkeypatch.setattr(_pruning._Cascade, "_exact_costs", counted)
    match = searcher.search(y)
    assert (match.start[0], match.distance[0]) == (want.argmin(), want.min())
    assert sum(computed) == 1


@pytest.mark.usefixtures("any_size")
def test_what_is_kept_of_a_query_serves_other_sequences_and_is_not_stored():
    rng = np.random.default_rng(4)
    x, first, second = rng.normal(size=20), rng.normal(5.0, 3.0, 300), rng.normal(size=300)
    searcher = QuerySearcher("dtw", metric_params={"window": 0.2}, candidates="windows").fit(x)
    stored = pickle.dumps(searcher)
    searcher.search(first)
    assert len(pickle.dumps(searcher)) == len(stored)
    searcher.set_params(n_matches=3)
    np.testing.assert_array_equal(searcher.search(second), pickle.loads(stored).set_params(n_matches=3).search(second))


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("channels", [1, *slow(2)])
def test_bounds_of_a_band_of_no_width_are_the_costs_in_each_block(channels, monkeypatch):
    rng = np.random.default_rng(channels)
    y, x, found = rng.normal(size=(230, channels)), rng.normal(size=(20, channels)), []
    rest = _pruning._Cascade._compare_all

    def seen(search, candidates):
        found.append(_pruning.Candidates.joined(candidates))
        rest(search, candidates)

    monkeypatch.setattr(bounds, "BLOCK", 40)
    monkeypatch.setattr(_pruning, "BLOCK", 211)  # all windows: one stretch for each job
    monkeypatch.setattr(_pruning._Cascade, "_compare_all", seen)
    narrow = {"window": "sakoe-chiba", "factor": 0}
    searcher = QuerySearcher("dtw", metric_params=narrow, normalize="zscore", n_matches=None, threshold=1e3, n_jobs=2)
    distance = searcher.fit(x).profile(y).distance
    assert len(searcher.search(y))
    np.testing.assert_array_equal(found[0].where, np.arange(len(distance)))
    bounded = found[0].low > 0  # but for the last ones of a block, which fill no vector
    assert bounded.mean() > 0.5 and bounded[-90:].any()
    np.testing.assert_allclose(found[0].low[bounded], distance[bounded], rtol=1e-5)


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_matches_hold_samples_of_their_own(n_jobs, monkeypatch):
    rng = np.random.default_rng(3)
    y = rng.normal(size=300)
    monkeypatch.setattr(_run, "LEAST", 50)
    searcher = QuerySearcher("dtw", metric_params={"window": 0.2}, normalize="zscore", n_jobs=n_jobs).fit(y[40:60])
    found = searcher.search(y)
    pieces, path = found.cut(), found.path(0).tolist()
    y[:] = 0.0
    np.testing.assert_array_equal(found.cut(), pieces)
    assert found.path(0).tolist() == path


@pytest.mark.slow
@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize(("name", "parameters"), [("cid_dtw", {"window": 0.1}), ("lcss", {"eps": 0.2, "window": 0.1})])
@pytest.mark.parametrize("shift", [0, 1, 2])
def test_windows_beyond_moments_are_not_bounded_by_them(name, parameters, shift, monkeypatch):
    monkeypatch.setattr(_pruning, "SEEDS", 20)  # so that few windows are compared before bounds leave others out
    rng = np.random.default_rng(0)
    y = rng.normal(size=300).cumsum()
    y[100:200] = 1e5 + 1e-4 * rng.normal(size=100)  # too little beside its offset
    begin = 140 + shift
    x = y[begin : begin + 24] + 1e-6 * rng.normal(size=24)
    searcher = QuerySearcher(name, metric_params=parameters, candidates="windows", normalize="zscore").fit(x)
    distance, match = searcher.profile(y).distance, searcher.search(y)
    assert (match.start[0], match.distance[0]) == (distance.argmin(), distance.min())
    assert match.start[0] == begin


@pytest.mark.parametrize("how", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_windows_are_normalized_up_to_their_uncertainty(how, weighted):
    rng = np.random.default_rng(how)
    m, n = 30, 400
    y = rng.normal(size=n).cumsum()
    y[100:150] = 7.25  # constant windows
    y[220] = 1e6  # a window's moments must not see what is beside it
    y[300:350] = 1e5 + 1e-4 * y[300:350]  # too little beside its offset
    w = rng.choice([0.0, 0.5, 1.0], size=m) if weighted else np.ones(m)
    name = {1: "mean", 2: "zscore", 3: "minmax"}[how]
    windows = _pruning.Windows(np.ones((1, m)), w[np.newaxis] if weighted else None, y[np.newaxis], name)
    windows.prepare(1.0, keep=True)
    (scale,), (shift,), (samples,) = windows.scale, windows.shift, windows.samples
    assert np.isnan(scale).sum() < 100
    for j in np.flatnonzero(~np.isnan(scale)):
        want = np.array(naive.normalize_values(y[j : j + m].reshape(-1, 1), w, name))[:, 0]
        got = samples[j : j + m] * scale[j] + shift[j]
        assert np.abs(want - got)[w > 0].max() <= windows.uncertainty
    assert not np.isnan(scale[100:120]).any()

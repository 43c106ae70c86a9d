"""Matches of a search by windows are those of the whole profile, though only what may be chosen is computed."""

import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import weights

from sktslib import QuerySearcher
from sktslib.distances import _cascade as kernels
from sktslib.distances import get_metric
from sktslib.distances._bands import band
from sktslib.search import _cascade
from sktslib.search._cascade import Rule, near_profile

KINDS = ["noise", "walk", "offset", "flat", "copies", "steps", "spike"]
METRICS = [
    ("dtw", {"window": 0.2}),
    ("dtw", {}),
    ("dtw", {"window": "itakura"}),
    ("dtw", {"window": "sakoe-chiba", "factor": 1, "do_dist_norm": True}),
    ("dtw", {"alpha": 0.5}),
    ("lcss", {"eps": 0.3, "window": 0.2}),
]


def recording(kind, rng, channels, n):
    y = rng.normal(size=(n, channels))
    if kind == "walk":
        y = y.cumsum(axis=0)
    elif kind == "offset":
        y = 1e4 + y.cumsum(axis=0)
    elif kind == "flat":
        y[n // 4 : n // 2] = 0.25
        y[3 * n // 4 :, 0] = 1.0
    elif kind == "copies":
        y = np.tile(y[: n // 5 + 1], (6, 1))[:n]
    elif kind == "steps":
        y = y.round()
    elif kind == "spike":
        y[rng.integers(0, n)] = 1e9
    return y


@pytest.fixture
def any_size(monkeypatch):
    monkeypatch.setattr(_cascade, "LEAST", 1)


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize(("name", "parameters"), METRICS)
@given(data=st.data())
def test_matches_are_those_of_the_whole_profile(name, parameters, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    channels, m = data.draw(st.sampled_from([1, 1, 2])), data.draw(st.sampled_from([1, 2, 7, 16, 23]))
    n = data.draw(st.sampled_from([m, m + 3, 60, 150] if numba.config.DISABLE_JIT else [m, m + 3, 60, 300, 900]))
    y = recording(data.draw(st.sampled_from(KINDS)), rng, channels, max(n, m))
    begin = int(rng.integers(0, len(y) - m + 1))
    x = y[begin : begin + m] * rng.choice([1.0, 2.0]) + rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=(m, channels))
    rule = {
        "n_matches": data.draw(st.sampled_from([1, 1, 2, 5])),
        "max_overlap": data.draw(st.sampled_from([0.0, 0.5, 1.0])),
        "normalize": data.draw(st.sampled_from([None, "zscore", "zscore", "mean", "minmax"])),
    }
    searcher = QuerySearcher(name, metric_params=parameters, mode="windows", **rule)
    searcher.fit(x, weight=data.draw(weights(m, channels)))
    profile = searcher.profile(y)
    if data.draw(st.booleans()):
        searcher.threshold = float(rng.choice(profile.distance))
        searcher.n_matches = data.draw(st.sampled_from([None, 3]))
    chosen = naive.select(profile.distance, profile.start, profile.end, searcher.n_matches, searcher.threshold, searcher.max_overlap)
    got = searcher.search(y)
    np.testing.assert_array_equal(got.start, profile.start[chosen])
    np.testing.assert_array_equal(got.distance, profile.distance[chosen])

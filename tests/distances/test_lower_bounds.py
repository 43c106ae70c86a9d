"""Lower bounds never exceed the distance, and are what the papers say.

``HYPOTHESIS_PROFILE=thorough python -m pytest tests -k never_exceed`` looks at a million pairs.
"""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import BANDS, RECURRENCES, parameters, unmeant, weights

from sktslib.distances import get_metric, pairwise_distances
from sktslib.distances._kernels.bounds import envelopes
from sktslib.distances._metrics.base import band
from sktslib.distances._metrics.registry import _REGISTRY
from sktslib.distances._nearest import Bounds
from sktslib.distances._pairwise import queries_of

pytestmark = unmeant

NAMES = [n for n in RECURRENCES if _REGISTRY[n]._is_monotone]
SERIES, QUERIES = (4, 2) if numba.config.DISABLE_JIT else (17, 16)


def series(rng, size, n, channels, kind):
    a = rng.normal(size=(size, n, channels))
    if kind == "walk":
        return a.cumsum(axis=1)
    if kind == "steps":  # many equal values
        return a.round()
    if kind == "apart":  # every series at its own level
        return a + 4 * rng.normal(size=(size, 1, channels))
    return 1e4 + a if kind == "offset" else a


def bounds_of(metric, X, Y, w=None):
    """Bounds of the accumulated costs of series (channels, length) of two collections."""
    X = [np.ascontiguousarray(x) for x in X]
    features = [metric._features(np.ascontiguousarray(y)) for y in Y]
    bounds = Bounds(metric, features, lambda n: metric._query(X[0], w, n))
    return bounds.of(lambda n: queries_of(metric, X, w, n), len(X))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_bounds_never_exceed_the_distance(name, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    m, n, channels = data.draw(st.tuples(st.integers(1, 24), st.integers(1, 24), st.sampled_from([1, 1, 2, 3])))
    n = data.draw(st.sampled_from([m, n]))
    p = {**data.draw(st.sampled_from(BANDS)), **data.draw(parameters(name))}
    metric = get_metric(name, p)
    kind = data.draw(st.sampled_from(["normal", "walk", "steps", "apart", "offset"]))
    X, Y = series(rng, QUERIES, m, channels, kind), series(rng, SERIES, n, channels, kind)
    w = data.draw(weights(m, channels))
    distances = pairwise_distances(X, Y, metric, weight=w, channels_first=False)
    w = None if w is None else np.ascontiguousarray(np.broadcast_to((w / w.max()).reshape(m, -1).T, (channels, m)))
    problem = metric._problem(np.ascontiguousarray(X[0].T), w, np.ascontiguousarray(Y[0].T), None, None)
    bounds = bounds_of(metric, [x.T for x in X], [y.T for y in Y], w)
    assert (bounds >= 0).all()
    assert (bounds <= metric._cost_of_distance(distances, problem) * (1 + 1e-12)).all()


@given(data=st.data())
def test_envelopes(data):
    m, n = data.draw(st.tuples(st.integers(1, 40), st.integers(1, 40)))
    a = np.random.default_rng(data.draw(st.integers(0, 1000))).normal(size=(2, n))
    for p in BANDS:
        first, last = band(p.get("window"), p.get("factor"), n, m)
        lower, upper = envelopes(a, first, last)
        for i in range(m):
            np.testing.assert_array_equal(lower[:, i], a[:, first[i] : last[i]].min(axis=1))
            np.testing.assert_array_equal(upper[:, i], a[:, first[i] : last[i]].max(axis=1))


def outside(v, values):
    return max(min(values) - v, v - max(values), 0.0)


@given(data=st.data())
def test_bounds_of_dtw_are_those_of_the_papers(data):
    n, r = data.draw(st.tuples(st.integers(2, 15), st.integers(0, 4)))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    x, y = rng.normal(size=(2, n)).round(2)
    metric = get_metric("dtw", {"window": "sakoe-chiba", "factor": r})
    near = [slice(max(0, i - r), i + r + 1) for i in range(n)]
    ends = (x[0] - y[0]) ** 2 + (x[-1] - y[-1]) ** 2
    want = ends + sum(outside(x[i], y[near[i]]) ** 2 for i in range(1, n - 1))
    bounds = bounds_of(metric, [x[np.newaxis]], [y[np.newaxis]])
    np.testing.assert_allclose(bounds, want, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_bounds_of_series_far_apart_are_tight(name):
    # Constant series: nothing to gain by warping, so that bounds are at least half of the distance.
    flat = {"ddtw", "wddtw"}  # slopes of constants are all 0
    x, y = np.zeros((1, 12)), np.full((1, 12), 3.0)
    metric = get_metric(name)
    bound = bounds_of(metric, [x], [y])[0, 0]
    problem = metric._problem(x, None, y, None, None)
    assert metric._distance_of_cost(bound, problem.points, 12) >= 0.5 * metric(x[0], y[0])
    assert bound > 0 or name in flat

"""A cutoff changes nothing at or below it, and gives infinity above."""

from typing import NamedTuple

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_recurrences import Unlike, alike, products
from strategies import BANDS, has_band, pairs, parameters, unmeant

from sktslib.distances import GAK, CallableMetric, SoftDTW, get_metric, metric_names, recurrence, register_metric
from sktslib.distances._kernels import batch
from sktslib.distances._metrics.base import band
from sktslib.distances._series import full_weight

pytestmark = unmeant

SHARES = [0.0, 0.3, 0.9, 1.0, 1.0, 1.1, 3.0]


@pytest.mark.parametrize("name", metric_names())
@given(data=st.data())
def test_exact_or_infinite(name, data):
    x, y, w = data.draw(pairs(high=14, y_high=14, equal=naive.TABLE[name].same_length))
    p = data.draw(parameters(name, min(len(x), len(y))))
    if has_band(name):
        p |= data.draw(st.sampled_from(BANDS))
    if name == "dtw":
        p["dist"] = data.draw(st.sampled_from([None, None, None, lambda a, b: np.abs(a - b).sum()]))
    metric = get_metric(name, p)
    x, y = naive.domain(name, x), naive.domain(name, y)
    try:
        want = float(metric.distance(x, y, weight=w))
    except ValueError:  # no positive weight is left after interpolation
        return
    cutoff = want * data.draw(st.sampled_from(SHARES)) if np.isfinite(want) else 1.0
    got = float(metric.distance(x, y, weight=w, cutoff=cutoff))
    assert got == (want if want <= cutoff else np.inf)


@pytest.mark.parametrize("name", naive.WARPED)
@given(data=st.data())
def test_lanes_under_a_cutoff(name, data):
    metric = get_metric(name, data.draw(st.sampled_from(BANDS)))
    if not metric._has_lanes:
        return
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    m, n, channels = data.draw(st.tuples(st.integers(1, 50), st.integers(1, 50), st.sampled_from([1, 2])))
    x, Y = rng.normal(size=(channels, m)), rng.normal(size=(batch.BATCH, channels, n)) * rng.integers(0, 3)
    made = metric._query(x, None, n)
    rows = batch.padded(made.record, made.x[np.newaxis], full_weight(made.w, made.x)[np.newaxis])
    block = batch.packed([metric._features(y) for y in Y], n)
    ends, costs = np.full(len(Y), n), np.empty((2, 1, len(Y)))
    call = made.record, np.array([m]), *rows, made.points[np.newaxis], block, *band(metric.window, metric.factor, n, m)
    batch.accumulated_costs(*call, batch.BIG, ends, costs[0])
    cutoff = np.sort(costs[0, 0])[data.draw(st.integers(0, len(Y) - 1))] * data.draw(st.sampled_from([0.5, 1.0, 1.0]))
    batch.accumulated_costs(*call, cutoff, ends, costs[1])
    whole, cut = costs[:, 0]
    np.testing.assert_array_equal(np.where(cut <= cutoff, cut, np.inf), np.where(whole <= cutoff, whole, np.inf))


def test_twed_with_times():
    metric, x, y = get_metric("twed", {"nu": 0.5}), np.array([0.0, 1.0, 4.0]), np.array([1.0, 1.0, 3.0, 2.0])
    times = {"tx": [0.0, 1.0, 5.0], "ty": [0.0, 0.5, 1.0, 4.0]}
    d = metric.distance(x, y, **times)
    assert metric.distance(x, y, cutoff=d, **times) == d
    assert metric.distance(x, y, cutoff=0.99 * d, **times) == np.inf


@pytest.mark.parametrize("cutoff", [-1.0, np.nan, "1", True, np.array(1.0), -np.inf])
def test_wrong_cutoffs(cutoff):
    for metric in (get_metric("dtw"), get_metric("euclidean"), register_metric("rising", Rises)()):
        with pytest.raises(ValueError, match="'cutoff' parameter must be None or a number of at least 0"):
            metric([1.0], [2.0], cutoff=cutoff)


def test_cutoffs_beyond_float64():
    for metric in (get_metric("dtw"), GAK()):
        with pytest.raises(ValueError, match=r"'cutoff' parameter must be .* does not fit into float64"):
            metric([1.0], [2.0], cutoff=10**400)
    assert get_metric("dtw")([1.0], [2.0], cutoff=np.inf) == 1.0


@recurrence(terms=products, moves=alike, monotone=True)
class Rises(NamedTuple):
    """Costs that are said never to be negative."""


def test_a_cutoff_may_be_negative_where_a_distance_may():
    x = np.array([0.0, -1.0, 3.0, -5.0, 5.0, -3.0, 1.0, 0.0])
    band = {"window": "sakoe-chiba", "factor": 2}
    metrics = [
        SoftDTW(divergence=False),
        SoftDTW(gamma=200.0, **band),
        GAK(sigma=10.0, **band),
        CallableMetric(lambda a, b: float(a @ b)),
        register_metric("falling", Unlike)(),
        register_metric("product", lambda a, b: float(a @ b))(),
    ]
    for metric in metrics:
        y = x if metric == metrics[0] else -x
        d = metric(x, y)
        assert d < 0
        assert metric(x, y, cutoff=d) == d
        assert metric(x, y, cutoff=0) == d
        assert metric(x, y, cutoff=d - 1e-6) == np.inf
        assert metric(x, y, cutoff=-np.inf) == np.inf
        with pytest.raises(ValueError, match="'cutoff' parameter must be None or a number, the largest"):
            metric(x, y, cutoff=np.nan)

"""A cutoff changes nothing at or below it, and gives infinity above."""

from typing import NamedTuple

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_recurrences import Unlike, alike, products
from strategies import BANDS, DISTANCES, SEVERAL, has_band, pairs, parameters, unmeant

from sktslib.distances import GAK, CallableMetric, SoftDTW, get_metric, recurrence, register_metric

pytestmark = unmeant

SHARES = [0.0, 0.3, 0.9, 1.0, 1.0, 1.1, 3.0]


@pytest.mark.slow
@pytest.mark.parametrize("name", DISTANCES)
@given(data=st.data())
def test_exact_or_infinite(name, data):
    equal = naive.TABLE[name].same_length
    x, y, w = data.draw(pairs(high=14, y_high=14, equal=equal, several=name in SEVERAL))
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


def test_twed_with_times():
    metric, x, y = get_metric("twed", {"nu": 0.5}), np.array([0.0, 1.0, 4.0]), np.array([1.0, 1.0, 3.0, 2.0])
    times = {"tx": [0.0, 1.0, 5.0], "ty": [0.0, 0.5, 1.0, 4.0]}
    d = metric.distance(x, y, **times)
    assert metric.distance(x, y, cutoff=d, **times) == d
    assert metric.distance(x, y, cutoff=0.99 * d, **times) == np.inf


@pytest.mark.parametrize("cutoff", [-1.0, np.nan, "1", True, np.array(1.0), -np.inf])
def test_wrong_cutoffs(cutoff):
    for metric in (get_metric("dtw"), get_metric("euclidean"), register_metric("rising", Rises)()):
        with pytest.raises(ValueError, match=r"'cutoff' parameter .* must be a float in the range \[0.0, inf\]"):
            metric([1.0], [2.0], cutoff=cutoff)


@recurrence(terms=products, moves=alike, monotone=True)
class Rises(NamedTuple):
    """Costs that are said never to be negative."""


@pytest.mark.slow
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
        with pytest.raises(ValueError, match=r"'cutoff' parameter .* must be a float in the range \[-inf, inf\]"):
            metric(x, y, cutoff=np.nan)

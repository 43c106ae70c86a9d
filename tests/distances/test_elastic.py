"""Elastic distances against the papers' recurrences, written out slowly in naive; the factor of complexity."""

import pickle

import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import invariant
from strategies import SEVERAL, compiled, metrics, pairs, parameters, plain, quarters, slow, small_sizes, times, unmeant

from sktslib import QuerySearcher
from sktslib.distances import (
    CIDDTW,
    DTW,
    TWED,
    dlp,
    dtw,
    get_metric,
    lcss,
    nearest_neighbors,
    pairwise_distances,
    tam,
    twed,
)
from sktslib.distances._metrics.base import band
from sktslib.distances._metrics.dtw import _sums_of_ranges
from sktslib.search import Subsequences

pytestmark = unmeant

t = np.arange(0, 20 * np.pi, 0.1)
SIN, SIN2 = np.sin(t), np.sin(2 * t)
CLOSE = {"rtol": 1e-9, "atol": 1e-11}
WARPED = ["dtw", *compiled(naive.WARPED)]  # the first more often
each_of_several = pytest.mark.parametrize("several", [["dtw"], *slow([n for n in WARPED if n in SEVERAL])], ids=len)


@each_of_several
@given(data=st.data())
def test_distance_matrix_and_path_equal_the_reference(several, data):
    x, y, w = data.draw(pairs())
    metric, name, p = data.draw(metrics(WARPED if naive.points(x).shape[1] == 1 else several, min(len(x), len(y))))
    tx = ty = None
    if metric.uses_times and data.draw(st.booleans()):
        tx, ty = data.draw(times(len(x))), data.draw(times(len(y)))
    want = naive.elastic(name, x, y, w, tx=tx, ty=ty, **p)
    got = metric.distance(x, y, weight=w, tx=tx, ty=ty)
    np.testing.assert_allclose(float(got), want.distance, **CLOSE)
    np.testing.assert_allclose(got.cost_matrix, want.D, **CLOSE)
    assert got.cost_matrix.shape == (len(x), len(y))


@pytest.mark.slow
@pytest.mark.parametrize("p", [1, 1.5, 3])
def test_norms_of_several_channels(p):
    x, y = np.random.default_rng(0).normal(size=(2, 7, 2))
    want = naive.elastic("twed", x, y, nu=0.5, lmbda=0.25, p=p).distance
    assert TWED(nu=0.5, lmbda=0.25, p=p)(x, y) == pytest.approx(want, rel=1e-12)


@pytest.mark.slow
@given(st.data())
def test_path_equals_the_reference_where_sums_are_exact(data):
    x, y, w = data.draw(pairs(values=quarters))
    metric, name, p = data.draw(metrics(["dtw", "lcss"], min(len(x), len(y))))
    if naive.has_exact_sums(name, p):
        want = naive.elastic(name, x, y, w, **p)
        np.testing.assert_array_equal(metric.distance(x, y, weight=w).path, want.path)


@each_of_several
@given(data=st.data())
def test_properties(several, data):
    x, y, w = data.draw(pairs(values=plain))
    metric = data.draw(metrics(WARPED if naive.points(x).shape[1] == 1 else several, min(len(x), len(y))))[0]
    assert invariant(metric, x, y, w) >= 0
    if metric.get_params().get("tolerance", 0) < len(x):
        assert metric.distance(x, x, weight=w) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("window", "factor"), [("itakura", None), *[("sakoe-chiba", r) for r in range(4)]])
def test_bands_equal_the_reference(window, factor):
    for m, n in np.ndindex(8, 8):
        lo, hi = band(window, factor, m + 1, n + 1)
        got = np.array([[lo[j] <= i < hi[j] for j in range(n + 1)] for i in range(m + 1)])
        np.testing.assert_array_equal(got, naive.band(m + 1, n + 1, window, factor))


@pytest.mark.slow
@given(pairs(high=6, y_high=12, values=quarters), st.data())
def test_a_band_limits_the_matches_of_edit_distances_and_not_what_is_left_out(drawn, data):
    x, y, w = drawn
    m, n = len(x), len(y)
    window, factor = data.draw(st.sampled_from([("itakura", None), *[("sakoe-chiba", r) for r in range(4)]]))
    inside = naive.band(m, n, window, factor)
    for name in compiled(naive.WARPED):
        p = data.draw(parameters(name))
        f = naive.steps(name, x, y, w, **p)
        if f.closed_boundary:
            continue
        # Over all cells, with diagonal moves in the band alone: for lcss as Vlachos et al. (2002) define it.
        D = np.zeros((m + 1, n + 1))
        for i in range(m + 1):
            for j in range(n + 1):
                ways = [D[i - 1, j] + f.up(i, j, 0)] if i else []
                ways += [D[i, j - 1] + f.left(i, j, 0)] if j else []
                ways += [D[i - 1, j - 1] + f.diag(i, j, 0)] if i and j and inside[i - 1, j - 1] else []
                D[i, j] = min(ways, default=0.0)
        metric = get_metric(name, {**p, "window": window, "factor": factor})
        got = metric.distance(x, y, weight=w)
        np.testing.assert_allclose(got.cost_matrix[inside], D[1:, 1:][inside], **CLOSE)
        assert metric(x, y, weight=w) == pytest.approx(
            metric._distance_of_cost(D[m, n], got._problem.points, n), rel=1e-9, abs=1e-11
        )
        np.testing.assert_allclose(
            pairwise_distances([x], [y, y], metric, weight=w, channels_first=False), float(got), **CLOSE
        )
        assert metric(x, y, weight=w, cutoff=float(got)) == float(got)
        if name == "lcss":
            assert inside[tuple(got.path)].all()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="long series, of which plain Python computes no other cells")
def test_published_values():
    assert float(dtw(SIN, SIN2)) == pytest.approx(0.2509773693366783, rel=1e-12)
    assert float(twed(SIN, SIN2, t, t, nu=1, lmbda=0)) == pytest.approx(223.85651832411503, rel=1e-12)
    assert float(twed(SIN, SIN2, t, t, nu=0.001, lmbda=0)) == pytest.approx(78.81687137833383, rel=1e-12)
    assert tam(SIN, SIN2) == pytest.approx(1.490446, abs=1e-6)


def test_dist_of_the_caller_compiled_or_plain():
    from numba import njit

    def absolute(a, b):
        return np.abs(a - b).sum()

    @njit
    def compiled(a, b):
        return abs(a - b)

    x, y, w = SIN[:20], SIN2[:31], np.linspace(0.5, 1, 20)
    for alpha in (1.0, 0.4, 0.0):
        want = naive.elastic("dtw", x, y, w, alpha=alpha, dist=absolute).distance
        assert float(dtw(x, y, w, dist=absolute, alpha=alpha, do_dist_norm=False)) == pytest.approx(want, rel=1e-9)
        assert float(dtw(x, y, w, dist=compiled, alpha=alpha, do_dist_norm=False)) == pytest.approx(want, rel=1e-9)
    X, Y = np.column_stack([x, x**2]), np.column_stack([y, y**2])
    want = naive.elastic("dtw", X, Y, dist=absolute).distance
    assert float(dtw(X, Y, dist=absolute, do_dist_norm=False)) == pytest.approx(want, rel=1e-9)


def test_dist_of_the_caller_sees_the_callers_points_alone():
    seen = set()

    def noted(a, b):
        seen.add((float(a), float(b)))
        return abs(a - b)

    dtw([1.0, 2.0], [3.0, 4.0], dist=noted)
    assert seen == {(a, b) for a in (1.0, 2.0) for b in (3.0, 4.0)}


def test_reports_and_unpacking():
    d, cost_matrix, path = dtw(SIN[:9], SIN2[:12])
    assert type(DTW()(SIN[:9], SIN2[:12])) is float and isinstance(dtw(SIN[:9], SIN2[:12]), float)
    assert d == float(dtw(SIN[:9], SIN2[:12]))
    np.testing.assert_array_equal(cost_matrix, dtw(SIN[:9], SIN2[:12], report="cost_matrix"))
    np.testing.assert_array_equal(path, dtw(SIN[:9], SIN2[:12], report="path"))
    assert cost_matrix[-1, -1] / 9 == d
    found = dtw(SIN[:9], SIN2[:12])
    assert (found[0], type(found[0])) == (d, float)
    np.testing.assert_array_equal(found[2], path)
    np.testing.assert_array_equal(found[-2:][0], cost_matrix)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).path, path)
    with pytest.raises(IndexError):
        found[3]
    similarity = lcss(SIN[:9], SIN2[:12], eps=0.1, report="similarity")
    assert float(lcss(SIN[:9], SIN2[:12], eps=0.1)) == pytest.approx(1 - similarity)
    assert similarity == len(lcss(SIN[:9], SIN2[:12], eps=0.1, report="path")[0]) / 9
    np.testing.assert_array_equal(twed([1, 2], [1, 2], None, None, report="path"), [[0, 1], [0, 1]])


@given(pairs(equal=True), st.sampled_from([0.5, 1, 2, 3.5]))
def test_dlp(drawn, p):
    x, y, w = drawn
    W = naive.relative(w, len(x), 1 if x.ndim == 1 else x.shape[1]).reshape(x.shape)
    np.testing.assert_allclose(dlp(x, y, p, weight=w), (W * np.abs(x - y) ** p).sum() ** (1 / p), **CLOSE)


@given(pairs())
def test_tam_equals_the_reference(drawn):
    x, y, w = drawn
    np.testing.assert_allclose(tam(x, y, weight=w), naive.tam(x, y, weight=w), **CLOSE)
    np.testing.assert_allclose(tam(x, y, "ratios", weight=w), naive.tam(x, y, "ratios", weight=w), **CLOSE)
    assert tam(x, y, "instants", weight=w) == tuple(len(steps) for steps in naive.tam(x, y, "instants", weight=w))
    assert 0 <= tam(x, y) <= 3


# ----------------------------------------------------------------------------------------------------------- complexity


BLOCKS = "distances._metrics.dtw.BLOCK"


@given(data=st.data())
def test_sums_of_ranges(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    values = rng.random(data.draw(st.integers(1, 40))) * 10.0 ** rng.integers(-150, 150)
    values[rng.random(len(values)) < 0.3] *= 1e-12  # what running sums would lose beside the others
    start = rng.integers(0, len(values) + 1, 30)
    end = start + rng.integers(0, len(values) + 1 - start)
    with small_sizes(data, BLOCKS):
        got = _sums_of_ranges(values, start, end)
    want = [values[a:b].sum() for a, b in zip(start, end, strict=True)]
    np.testing.assert_allclose(got, want, rtol=1e-14)


@given(data=st.data())
def test_subsequences_across_blocks(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    channels = data.draw(st.sampled_from([1, 2]))
    x, y = rng.normal(size=(7, channels)), rng.normal(size=(60, channels)).round(1)
    y[20:40] = 0.5  # candidates grow as long as the signal is constant
    with small_sizes(data, BLOCKS):
        profile = QuerySearcher("cid_dtw", candidates=Subsequences(min_length=None)).fit(x).profile(y)
    want, start, _ = naive.elastic_search("cid_dtw", x, y)
    np.testing.assert_array_equal(profile.start, start)
    np.testing.assert_allclose(profile.distance, want, rtol=1e-12)


@pytest.mark.slow
def test_any_cutoff_and_threshold():
    x, y = np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 2.0])
    d = CIDDTW()(x, y)
    for cutoff in (1e155, 1.7e308, np.inf):
        assert CIDDTW()(x, y, cutoff=cutoff) == d
        assert CIDDTW()([1, 1, 1], [1, 2, 3], cutoff=cutoff) == np.inf
    z = np.random.default_rng(0).normal(size=2000 if numba.config.DISABLE_JIT else 40_000)
    matches = QuerySearcher("cid_dtw", candidates="windows", threshold=1e200, n_matches=2).fit(z[:20]).search(z)
    assert matches.start[0] == 0 and matches.distance[0] == 0.0


@pytest.mark.parametrize("size", [1e-120, 1e60])
def test_complexities_of_any_size(size):
    series = np.array([0.0, 1.0, 0.0, 2.0]) * size
    assert CIDDTW()(series, 3.0 * series) == pytest.approx(size * CIDDTW()(series / size, 3.0 * series / size))


def test_constant_series():
    X = [np.zeros(5), np.ones(3), np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 2.0, 0.0, 2.0])]
    far = pairwise_distances(X, metric="cid_dtw")
    assert far[0, 1] == pytest.approx(np.sqrt(5.0)) and far[2, 3] == pytest.approx(2.0 * np.sqrt(2.0))
    assert np.isinf(far[:2, 2:]).all() and np.isinf(far[2:, :2]).all()
    distances, indices = nearest_neighbors(X, metric="cid_dtw", n_neighbors=2)
    assert indices[:, 0].tolist() == [1, 0, 3, 2] and np.isinf(distances[:, 1]).all()

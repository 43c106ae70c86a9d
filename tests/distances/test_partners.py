"""Partners: what each point of a series meets along the paths to those of a collection."""

import naive
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import collections, compiled, metrics, pairs, quarters, small_sizes, unmeant

from sktslib.distances import DTW, WDTW, get_metric, metric_names
from sktslib.distances._barycenters import Partners
from sktslib.distances._kernels.batch import AHEAD, BATCH

pytestmark = unmeant

# With the compiler each of them takes seconds.
SOME = naive.WARPED if numba.config.DISABLE_JIT else ["dtw", "wddtw", "twed"]
MEANS = [name for name in metric_names() if getattr(get_metric(name), "_center", "") == "mean" and name in naive.WARPED]


@pytest.mark.slow
@given(collections(), st.data())
def test_partners_are_counted_and_summed_as_paths_list_them(X, data):
    metric, *_ = data.draw(metrics([name for name in MEANS if name in SOME], min(map(len, X))))
    z, *ys = (np.ascontiguousarray(x.reshape(len(x), -1).T) for x in (X[0], *X[1:], X[0]))
    w = data.draw(st.sampled_from([None, np.linspace(0.5, 1.5, z.size).reshape(z.shape)]))
    metric = metric._fitted_to([z, *ys])
    with small_sizes(data, "distances._kernels.batch.MOVES", "distances._kernels.compile.CELLS"):
        far, counts, totals = Partners(metric, ys).sums(z, w, np.arange(len(ys)))
    np.testing.assert_allclose(far, [metric._distance(z, w, y, None, None) for y in ys], rtol=1e-12)
    for count, total, y in zip(counts, totals, ys, strict=True):
        (i, j), weights = metric._partners(metric._distance(z, w, y, None, None))
        np.testing.assert_allclose(count, np.bincount(i, weights, z.shape[1]), rtol=1e-12)
        for row, values in zip(total, y[:, j], strict=True):
            values = values if weights is None else weights * values
            np.testing.assert_allclose(row, np.bincount(i, values, z.shape[1]), rtol=1e-12, atol=1e-12)


def test_only_matched_points_are_partners_under_lcss():
    rng = np.random.default_rng(5)
    z, y = rng.normal(size=(2, 1, 33))
    metric = get_metric("lcss", {"eps": 0.5})
    _, (count,), (total,) = Partners(metric, [y]).sums(z, None, np.arange(1))
    i, j = metric.distance(z[0], y[0]).path
    np.testing.assert_array_equal(count, np.bincount(i, minlength=33))
    np.testing.assert_array_equal(total[0], np.bincount(i, y[0, j], 33))


def test_sums_are_the_same_to_the_bit_where_moves_are_not_kept(monkeypatch):
    rng = np.random.default_rng(5)
    z, ys = rng.normal(size=(2, 20)), [rng.normal(size=(2, n)) for n in (40, 7, 90)]
    want = Partners(DTW(), ys).sums(z, None, np.arange(3))
    monkeypatch.setattr("sktslib.distances._kernels.batch.MOVES", 1)
    for got, one in zip(Partners(DTW(), ys).sums(z, None, np.arange(3)), want, strict=True):
        np.testing.assert_array_equal(got, one)


@pytest.mark.slow
@given(collections(), st.data())
def test_no_sum_depends_on_what_distances_are_thought_to_be_at_most(X, data):
    """Right guesses leave out cells, wrong ones cost time: too low, of one lane of several, or none at all."""
    metric, *_ = data.draw(metrics([name for name in MEANS if name in SOME], min(map(len, X))))
    z, *ys = (np.ascontiguousarray(x.reshape(len(x), -1).T) for x in (X[0], *X[1:], X[0], *X))
    metric = metric._fitted_to([z, *ys])
    partners, members = Partners(metric, ys), np.arange(len(ys))
    want = partners.sums(z, None, members)
    guesses = st.sampled_from([0.0, 0.5, 1.0, 1.5, np.inf, np.nan])
    with np.errstate(invalid="ignore"):  # 0 times infinity
        limits = want[0] * np.array(data.draw(st.lists(guesses, min_size=len(ys), max_size=len(ys))))
    with small_sizes(data, "distances._kernels.compile.CELLS"):
        for got, of in zip(partners.sums(z, None, members, limits), want, strict=True):
            np.testing.assert_array_equal(got, of)
    some = members[::2]  # and of some of them
    for got, of in zip(partners.sums(z, None, some, limits[some]), want, strict=True):
        np.testing.assert_array_equal(got, of[some])


@pytest.mark.parametrize("how", [{}, {"window": 0.2}])
@pytest.mark.parametrize("n", [1, AHEAD - 1, AHEAD, AHEAD + 1, 2 * AHEAD + 3])
def test_cells_above_what_series_cost_are_left_out(how, n):
    rng = np.random.default_rng(n)
    z, ys = rng.normal(size=(1, n)).cumsum(axis=1), rng.normal(size=(BATCH + 3, 1, n)).cumsum(axis=2)
    metric, members = DTW(**how), np.arange(len(ys))
    far = np.array([metric._distance(z, None, y, None, None) for y in ys])
    for limits in (far, 0.99 * far, np.where(members % 3, far, 0.0)):
        found, counts, totals = Partners(metric, list(ys)).sums(z, None, members, limits)
        np.testing.assert_array_equal(found, far)
        for count, total, y in zip(counts, totals, ys, strict=True):
            i, j = metric._distance(z, None, y, None, None).path
            np.testing.assert_array_equal(count, np.bincount(i, minlength=n))
            np.testing.assert_allclose(total[0], np.bincount(i, y[0, j], n), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["dtw", "adtw"] if numba.config.DISABLE_JIT else ["dtw"])
@pytest.mark.parametrize("weighted", [False, True])
def test_after_a_step_series_cost_at_most_what_they_do_along_their_paths(name, weighted, monkeypatch):
    monkeypatch.setattr("sktslib.distances._barycenters.FEW_CELLS", 1)
    metric, rng = get_metric(name), np.random.default_rng(4)
    z, *ys = (rng.normal(size=(2, n)).cumsum(axis=1) for n in (12, 12, 15, 1, 30))
    w = np.linspace(0.5, 1.5, z.size).reshape(z.shape) if weighted else None
    after = z + 0.3 * rng.normal(size=z.shape)
    metric = metric._fitted_to([z, *ys])
    partners, members = Partners(metric, ys), np.arange(4)
    found = partners.sums(z, w, members)
    limits = partners.limits_after(z, w, found, after)
    for far, limit, y in zip(found[0], limits, ys, strict=True):
        i, j = metric._distance(z, w, y, None, None).path
        terms = (after[:, i] - y[:, j]) ** 2 - (z[:, i] - y[:, j]) ** 2
        assert limit == pytest.approx(far + (terms if w is None else w[:, i] * terms).sum(), rel=1e-12)
    assert (partners.sums(after, w, members)[0] <= limits * (1 + 1e-12)).all()


def test_of_other_costs_and_of_features_no_limits_are_known():
    z, *ys = np.random.default_rng(4).normal(size=(3, 1, 48))
    for metric in (WDTW(), DTW(alpha=0.5), get_metric("ddtw"), get_metric("twed"), DTW(do_dist_norm=True)):
        partners = Partners(metric, ys)
        assert partners.limits_after(z, None, partners.sums(z, None, np.arange(2)), z) is None


@pytest.mark.parametrize("count", [1, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH + 3])
def test_partners_and_distances_across_blocks_of_series(count):
    metric, rng = DTW(), np.random.default_rng(count)
    z, ys = rng.normal(size=(2, 9)), [rng.normal(size=(2, n)) for n in rng.integers(1, 14, count)]
    far, counts, totals = Partners(metric, ys).sums(z, None, np.arange(len(ys)))
    for one, count, total, y in zip(far, counts, totals, ys, strict=True):
        found = metric._distance(z, None, y, None, None)
        i, j = found.path
        assert one == found
        np.testing.assert_array_equal(count, np.bincount(i, minlength=9))
        np.testing.assert_allclose(total, [np.bincount(i, values[j], 9) for values in y], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("how", [{"dtw_type": "sub-dtw"}, {"dtw_type": "oe-dtw", "window": 0.5}, {"window": 0.2}])
def test_partners_where_paths_begin_and_end_elsewhere_and_within_bands(how):
    metric, rng = DTW(**how), np.random.default_rng(3)
    z, ys = rng.integers(-4, 5, (1, 7)) / 4, [rng.integers(-4, 5, (1, n)) / 4 for n in (9, 7, 9, 8, 9)]
    for one, count, y in zip(*Partners(metric, ys).sums(z, None, np.arange(len(ys)))[:2], ys, strict=True):
        found = metric._distance(z, None, y, None, None)
        assert one == found
        np.testing.assert_array_equal(count, np.bincount(found.path[0], minlength=7))


# Those of which a step need not pair the two points that it leads to; a path of lcss lists the pairs alone.
PARTNERED = sorted({*compiled(naive.names(kind="warped", is_sum=True))} - {"lcss", "cid_dtw", *naive.SQUARES})


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTNERED)
@given(data=st.data())
def test_partners_are_the_points_that_meet(name, data):
    x, y, w = data.draw(pairs(values=quarters, y_high=14))
    window, r = data.draw(st.sampled_from([(None, None), ("itakura", None), ("sakoe-chiba", 1)]))
    metric = get_metric(name, {"window": window, "factor": r})
    _, move = naive.fill(naive.steps(name, x, y, w), 0, len(y), allowed=naive.band(len(x), len(y), window, r))
    i, j, want = len(x), len(y), []
    while i > 0 and j > 0:
        step = move[i, j]
        if step == naive.DIAG:
            want.append((i - 1, j - 1))
        i, j = i - (step != naive.LEFT), j - (step != naive.UP)
    got = metric._partners(metric.distance(x, y, weight=w))[0]
    if name == "edr":
        full = naive.relative(w, len(x), naive.points(x).shape[1])
        want = [(i, j) for i, j in want if naive.within(full[i], naive.points(x)[i], naive.points(y)[j], 1.0)]
    np.testing.assert_array_equal(got, np.array(want[::-1], int).reshape(-1, 2).T)

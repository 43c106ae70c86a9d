"""Barycenters: what they minimize and promise, and real series; what each point meets along the paths to others."""

import re

import naive
import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import collections, compiled, long_without_compiler, metrics, pairs, quarters, small_sizes, unmeant

from sktslib.distances import DTW, WDTW, SoftDTW, _barycenters, barycenter, get_metric, metric_names, pairwise_distances
from sktslib.distances._barycenters import Partners
from sktslib.distances._kernels.batch import AHEAD, BATCH

pytestmark = unmeant

RNG = np.random.default_rng(0)
X = [RNG.normal(size=n).cumsum() for n in (9, 12, 7, 10)]
NEAR = [np.sin(np.linspace(0, 6, n)) + 0.3 * RNG.normal(size=n) for n in (20, 23, 18, 21, 19)]
# With the compiler each of them takes seconds.
SOME = naive.WARPED if numba.config.DISABLE_JIT else ["dtw", "wddtw", "twed"]
HOW = [{}, {"metric": "soft_dtw", "method": "soft"}]


def mean_distance(z, X, metric="dtw", share=None, weight=None):
    far = [naive.elastic(metric, z, x, weight).distance for x in X]
    return np.average(far, weights=share)


@pytest.mark.slow
@given(collections(), st.data())
def test_dba_never_rises_and_ends_where_it_says(X, data):
    share = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(X), max_size=len(X))))
    share[data.draw(st.integers(0, len(X) - 1))] = 2.0
    z, cost = barycenter(X, series_weight=share, return_cost=True, channels_first=False)
    assert (np.diff(cost) < 0).all()
    assert z.ndim == X[0].ndim
    assert cost[-1] == pytest.approx(mean_distance(z, X, share=share), rel=1e-9, abs=1e-12)
    candidates = [mean_distance(x, X, share=share) for x, v in zip(X, share, strict=True) if v > 0]
    assert cost[0] == pytest.approx(min(candidates), rel=1e-9, abs=1e-12)


def test_one_step_of_dba_by_hand():
    z = np.array([0.0, 2.0, 1.0])
    X = [np.array([0.0, 3.0, 3.0, 0.0]), np.array([1.0, 2.0, 5.0])]
    v = np.array([1.0, 3.0])
    above, below = np.zeros(3), np.zeros(3)
    for x, share in zip(X, v, strict=True):
        for i, j in naive.elastic("dtw", z, x).path.T:
            above[i] += share * x[j]
            below[i] += share
    got, cost = barycenter(X, init=z, series_weight=v, max_iter=1, return_cost=True)
    np.testing.assert_allclose(got, above / below, rtol=1e-12)
    assert len(cost) == 2


@pytest.mark.slow
def test_one_step_of_wdtw_counts_its_factors():
    z, x = np.array([0.0, 2.0, 1.0, 5.0]), np.array([0.0, 1.0, 3.0, 3.0, 0.0, 6.0])
    path = WDTW(g=0.7).distance(z, x).path
    factor = 1 / (1 + np.exp(-0.7 * (np.abs(path[0] - path[1]) - 3.0)))
    want = [np.average(x[path[1][path[0] == i]], weights=factor[path[0] == i]) for i in range(4)]
    np.testing.assert_allclose(barycenter([x], WDTW(g=0.7), init=z, max_iter=1), want, rtol=1e-12)


@pytest.mark.slow
def test_one_step_of_erp_takes_medians():
    z = np.array([0.0, 2.0, 9.0])
    X = [np.array([0.1, 3.0, 9.5]), np.array([-0.3, 2.5, 9.2]), np.array([0.2, 8.0, 9.1])]
    got = barycenter(X, "erp", init=z, max_iter=1, metric_params={"g": -50.0})  # nothing is left out
    np.testing.assert_allclose(got, np.median(X, axis=0))
    heavy = barycenter(X, "erp", init=z, max_iter=1, metric_params={"g": -50.0}, series_weight=[1, 1, 5])
    np.testing.assert_allclose(heavy, X[2])


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_any_metric_with_a_path(name):
    metric = get_metric(name, {"eps": 0.3} if name in ("lcss", "edr") else {})
    z, cost = barycenter(NEAR, metric, return_cost=True)
    assert (np.diff(cost) < 0).all()
    want = pairwise_distances(NEAR, metric=metric).mean(axis=1).min()
    assert cost[0] == pytest.approx(want, rel=1e-9)
    assert cost[-1] == pytest.approx(np.mean([metric(z, x) for x in NEAR]), rel=1e-9)
    # Means of the values need not lower a distance of slopes, a maximum or a count.
    if name not in ("ddtw", "wddtw", "frechet", "lcss", "edr"):
        assert cost[-1] < cost[0]


# ------------------------------------------------------------------------------------------------------- soft minimum
@long_without_compiler
def test_series_side_by_side_give_the_soft_barycenter_of_single_ones(monkeypatch):
    rng = np.random.default_rng(6)
    series = [rng.normal(size=n).cumsum() for n in (9, 12, 9, *[12] * 16)]  # more than there are lanes
    raw, share, w = SoftDTW(0.5, divergence=False), rng.random(len(series)), rng.random(9)
    how = {"method": "soft", "series_weight": share, "weight": w, "init": series[0], "max_iter": 3, "return_cost": True}
    z, cost = barycenter(series, SoftDTW(0.5), **how)
    for at, c in ((series[0], cost[0]), (z, cost[-1])):
        assert c == pytest.approx(np.average([raw.distance(at, x, weight=w) for x in series], weights=share), rel=1e-9)
    monkeypatch.setattr(_barycenters, "NUMBERS", 1)
    np.testing.assert_array_equal(barycenter(series, SoftDTW(0.5), **how)[0], z)


def test_soft_objective_is_the_mean_of_soft_dtw():
    raw = SoftDTW(0.5, divergence=False)
    share, w = np.array([1.0, 2.0, 0.5, 1.0]), RNG.random(9)
    z, cost = barycenter(X, SoftDTW(0.5), method="soft", series_weight=share, weight=w, init=X[0], return_cost=True)
    for series_, c in ((X[0], cost[0]), (z, cost[-1])):
        assert c == pytest.approx(np.average([raw.distance(series_, x, weight=w) for x in X], weights=share), rel=1e-9)
    assert (np.diff(cost) <= 0).all()
    # Its slope is 0 there: no small change in any direction lowers it by more than rounding.
    z = barycenter(X, SoftDTW(0.5), method="soft", max_iter=1000, tol=0)
    least = np.mean([raw(z, x) for x in X])
    for i in range(len(z)):
        for step in (-1e-3, 1e-3):
            moved = z.copy()
            moved[i] += step
            assert np.mean([raw(moved, x) for x in X]) >= least - 1e-9


@pytest.mark.parametrize("value", [-2.18838598, 0.1, 0.7, 1e8 + 0.1])
@pytest.mark.parametrize("n", [2, 3, 7])
def test_soft_of_constant_series_is_the_series(value, n):
    x = np.full(n, value)  # the cost of their alignments is 0, and less than 0 by rounding for some values
    np.testing.assert_allclose(barycenter([x, x, x], SoftDTW(), method="soft", init=x), x, rtol=1e-12)
    np.testing.assert_allclose(barycenter([x], SoftDTW(1e-3), method="soft", init=x), x, rtol=1e-12)


# ------------------------------------------------------------------------------------------------------------ options
@pytest.mark.parametrize("how", HOW)
def test_weights_of_series(how):
    z = barycenter(X, series_weight=[1, 0, 2, 1], **how)
    np.testing.assert_array_equal(z, barycenter([X[0], X[2], X[3]], series_weight=[2, 0.5 * 8, 2], **how))
    np.testing.assert_array_equal(barycenter(X, **how), barycenter(X, series_weight=np.full(4, 0.3), **how))
    alone = barycenter(X, series_weight=[0, 1, 0, 0], **how)
    np.testing.assert_array_equal(alone, barycenter([X[1]], **how))
    np.testing.assert_array_equal(barycenter(X, **how), barycenter(X, n_jobs=2, **how))


@pytest.mark.slow
def test_weights_of_points():
    w = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.5])
    z, cost = barycenter(X, weight=w, return_cost=True)
    assert len(z) == 7  # begins as the only series of that length
    assert cost[-1] == pytest.approx(mean_distance(z, X, weight=w), rel=1e-9)
    np.testing.assert_array_equal(z, barycenter(X, weight=4 * w, init=X[2]))


def test_shapes_and_beginnings():
    same = np.array([x[:7] for x in X])
    assert barycenter(same).shape == (7,)
    assert barycenter(same[:, :, np.newaxis]).shape == (7, 1)
    np.testing.assert_array_equal(barycenter(same[:, :, np.newaxis])[:, 0], barycenter(same))
    assert barycenter([np.column_stack([x, x]) for x in X], init=np.zeros((5, 2))).shape == (5, 2)
    mean = barycenter(same, init="mean", series_weight=[1, 1, 2, 0], max_iter=0)
    np.testing.assert_allclose(mean, np.average(same, axis=0, weights=[1, 1, 2, 0]))
    np.testing.assert_array_equal(barycenter(X, init="medoid"), barycenter(X))
    np.testing.assert_array_equal(barycenter(pd.DataFrame(same)), barycenter(same))
    start = np.ones(4)
    barycenter(X, init=start)
    np.testing.assert_array_equal(start, np.ones(4))


def test_the_medoid_of_many_is_sought_among_fifty():
    many = RNG.normal(size=(80, 6))
    for method in ("soft", "dba"):
        own = {"metric": "soft_dtw"} if method == "soft" else {}
        begun = barycenter(many, max_iter=0, init=many[1], method=method, **own)
        np.testing.assert_array_equal(begun, many[1])
    z, cost = barycenter(many, max_iter=0, random_state=0, return_cost=True)
    assert (many == z).all(axis=1).any()
    means = np.sort(pairwise_distances(many).mean(axis=1))
    assert means[0] <= cost[0] <= means[30]
    np.testing.assert_array_equal(z, barycenter(many, max_iter=0, random_state=0))


def test_verbose_tells_each_iteration(capsys):
    cost = barycenter(X, verbose=1, return_cost=True)[1]
    err = capsys.readouterr().err
    told = re.findall(r"mean distance ([^\]]*)", err)
    assert list(dict.fromkeys(told)) == [f"{c:.8g}" for c in cost]
    assert f"barycenter: {len(cost) - 1}iteration" in err


# ------------------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "dbb"}, "Unknown method 'dbb'. Did you mean 'dba'?"),
        ({"method": "soft"}, "method='soft' needs the metric 'soft_dtw'"),
        ({"metric": "soft_dtw"}, "with a warping path. Got Soft Dynamic Time Warping; use method="),
        ({"metric": "gak"}, "Got Global Alignment Kernel; use 'dtw', 'msm' or another"),
        ({"metric": "euclidean"}, "method='dba' needs an elastic metric"),
        ({"metric": DTW(do_sign_norm=True)}, "'do_sign_norm' parameter of DTW must be False in a barycenter"),
        ({"series_weight": [1, 2]}, "must have one value per series of 'X', shape (4,). Got shape (2,)"),
        ({"series_weight": [1, 2, 3, -1]}, "Got -1 as the least value, the first below 0 at index 3"),
        ({"series_weight": [0, 0, 0, 0]}, "at least one value above 0"),
        ({"series_weight": [1, 2, 3, np.nan]}, "'series_weight' must be finite"),
        ({"weight": [1, 2]}, "Got 2, the length of none of them; give 'init' as an array of that length"),
        ({"weight": [1, 2], "init": [1, 2, 3]}, "'weight' must have one value per point"),
        ({"init": "mean"}, "init='mean' needs series of one length. Got lengths 7 to 12"),
        ({"init": "median"}, "The 'init' parameter must be 'medoid', 'mean' or an array. Got 'median'."),
        ({"init": np.zeros((4, 2))}, "'init' must have as many channels as 'X', 1"),
        ({"max_iter": -1}, "'max_iter' parameter must be an integer in the range [0, inf)"),
        ({"tol": -1}, "'tol' parameter must be a real number in the range [0, inf)"),
        ({"n_jobs": 0}, "'n_jobs' parameter must be None or an integer other than 0"),
    ],
)
def test_errors(parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        barycenter(X, **parameters)


def test_weights_of_channels_alone_fit_series_of_any_lengths():
    rng = np.random.default_rng(7)
    few = [rng.normal(size=(n, 2)) for n in (3, 5, 4, 5)]
    got = barycenter(few, weight=[[1.0, 0.5]], max_iter=2)
    assert len(got) in (3, 4, 5)
    far = pairwise_distances(few, metric="dtw", weight=[[1.0, 0.5]])
    first = few[np.argmin(far.sum(axis=1))]
    points = np.tile([1.0, 0.5], (len(first), 1))
    np.testing.assert_array_equal(got, barycenter(few, weight=points, init=first, max_iter=2))


# ------------------------------------------------------------------------------------------------------------- partners


# With the compiler each of them takes seconds.
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
        (i, j), weights = metric._partners(metric._problem(z, w, y, None, None))
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


@pytest.mark.parametrize("how", [{}, {"window": 0.2}])
@pytest.mark.parametrize("n", [1, AHEAD - 1, AHEAD, AHEAD + 1, 2 * AHEAD + 3])
def test_cells_above_what_series_cost_are_left_out(how, n):
    rng = np.random.default_rng(n)
    z, ys = rng.normal(size=(1, n)).cumsum(axis=1), rng.normal(size=(BATCH + 3, 1, n)).cumsum(axis=2)
    metric, members = DTW(**how), np.arange(len(ys))
    far = np.array([metric._distance(z, None, y, None, None) for y in ys])
    for limits in (far, 0.99 * far, np.where(members % 3, far, 0.0), np.where(members % 3, np.nan, np.inf)):
        want = found, counts, totals = Partners(metric, list(ys)).sums(z, None, members, limits)
        np.testing.assert_array_equal(found, far)
        for count, total, y in zip(counts, totals, ys, strict=True):
            i, j = metric._distance(z, None, y, None, None).path
            np.testing.assert_array_equal(count, np.bincount(i, minlength=n))
            np.testing.assert_allclose(total[0], np.bincount(i, y[0, j], n), rtol=1e-12, atol=1e-12)
        some = members[::2]  # guesses that are too low for one lane of several
        for got, of in zip(Partners(metric, list(ys)).sums(z, None, some, limits[some]), want, strict=True):
            np.testing.assert_array_equal(got, of[some])


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
    sums = Partners(DTW(), ys).sums(z, None, np.arange(2))
    assert Partners(DTW(), ys).limits_after(z, None, sums, z) is not None
    for metric in (WDTW(), DTW(alpha=0.5), get_metric("ddtw"), get_metric("twed"), DTW(do_dist_norm=True)):
        assert Partners(metric, ys).limits_after(z, None, sums, z) is None


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


@pytest.mark.slow
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
    got = metric._partners(metric.distance(x, y, weight=w)._problem)[0]
    if name == "edr":
        full = naive.relative(w, len(x), naive.points(x).shape[1])
        want = [(i, j) for i, j in want if naive.within(full[i], naive.points(x)[i], naive.points(y)[j], 1.0)]
    np.testing.assert_array_equal(got, np.array(want[::-1], int).reshape(-1, 2).T)

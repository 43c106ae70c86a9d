"""Numbers so large or small that their squares leave float64."""

import math

import naive
import numba
import numpy as np
import pytest
from inputs import exact_profile
from strategies import DISTANCES, compiled, unmeant

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import dlp, get_metric, nearest_neighbors, pairwise_distances, tam
from sktslib.distances._kernels import lockstep, mass, moments
from sktslib.distances._kernels import lockstep as kernels
from sktslib.distances._series import SCALINGS, normalize_values
from sktslib.search import Windows

HOW = {how: number for how, number in SCALINGS.items() if how is not None}
pytestmark = [pytest.mark.usefixtures("_plain_kernels_may_overflow"), unmeant]

# Lockstep distances, and elastic ones of each kind whose parameters have no unit.
NAMES = compiled([*naive.names(kind="lockstep", is_positive=False), "dtw", "frechet", "sbd"])
NAMES = [name for name in NAMES if naive.TABLE[name].degree is not None]


# --------------------------------------------------------------------------------------------------------------- sizes
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("power", [450, 200, -200, -450])
def test_normalized_values_of_any_size(how, power):
    rng = np.random.default_rng(8)
    a = rng.integers(-99, 100, size=(3, 2, 20)).astype(float)
    a[1, 0] = 7.0
    w = rng.choice([0.0, 0.5, 1.0], size=(2, 20))
    want, size = normalize_values(a, w, how), 2.0**power
    back = 1.0 / size if how == "mean" else 1.0
    np.testing.assert_array_equal(normalize_values(a * size, w, how) * back, want)
    for row in a:
        one, other = (moments.normalize_one(series, w, HOW[how]) for series in (row, row * size))
        np.testing.assert_array_equal(other * back, one)


def results(name, x, y, X):
    """What the public functions say of one size."""
    metric, searcher = get_metric(name), QuerySearcher(name, candidates="windows", n_matches=2)
    calls = {
        "pair": lambda: float(metric(X[0], X[1])),
        "channels": lambda: float(metric(X[:2].T, X[2:].T)),
        "weighted": lambda: float(metric.distance(X[0], X[1], weight=np.arange(9.0))),
        "matrix": lambda: pairwise_distances(X, metric=name),
        "neighbors": lambda: nearest_neighbors(X, metric=name).distances,
        "profile": lambda: searcher.fit(x).profile(y).distance,
        "weighted profile": lambda: searcher.fit(x, weight=np.arange(9.0)).profile(y).distance,
        "search": lambda: searcher.fit(x).search(y).distance,
        "mean": lambda: QuerySearcher(name, normalize="mean").fit(x).profile(y).distance,
        "zscore": lambda: QuerySearcher(name, normalize="zscore").fit(x).profile(y).distance,
        "minmax": lambda: QuerySearcher(name, normalize="minmax").fit(x).profile(y).distance,
        "scales": lambda: QuerySearcher(name, candidates=Windows([0.7]), normalize="zscore").fit(x).profile(y).distance,
    }
    return {what: call() for what, call in calls.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_distances_of_any_size(name):
    rng = np.random.default_rng(9)
    x, y, X = rng.normal(size=9), rng.normal(size=60), rng.normal(size=(4, 9))
    y[20:29] = x
    want, degree = results(name, x, y, X), naive.TABLE[name].degree
    for power in (450, -300):
        size = 2.0**power
        for what, found in results(name, x * size, y * size, X * size).items():
            back = 1.0 if what in {"zscore", "minmax", "scales"} or degree == 0 else size**degree
            np.testing.assert_allclose(np.asarray(found) / back, want[what], rtol=1e-13, atol=1e-15, err_msg=what)


@pytest.mark.parametrize("size", [2.0**-300, 2.0**460])
def test_opposite_series_are_opposite(size):
    x = size * np.array([1.0, -2.0, 0.5, 3.0])
    assert get_metric("cosine")(x, -x) == get_metric("correlation")(x, -x) == 2.0
    assert get_metric("pearson_correlation")(x, -x) == 4.0
    assert get_metric("cosine")(x, 0 * x) == 1.0
    assert get_metric("euclidean")(x, -x) == pytest.approx(2 * size * math.sqrt(14.25), rel=1e-15)
    assert get_metric("minkowski")(x, -x) == pytest.approx(2 * size * (1 + 8 + 0.125 + 27) ** (1 / 3), rel=1e-14)
    assert dlp(x, -x, 3) == get_metric("minkowski")(x, -x)


@pytest.mark.parametrize("p", [3, 40, 3000])
def test_high_powers(p):
    for size in (1e-4, 1.0, 1e5):
        x = size * np.array([1.0, -2.0, 0.5, 3.0])
        want = 6 * size * math.fsum((a / 3) ** p for a in (1.0, 2.0, 0.5, 3.0)) ** (1 / p)
        assert get_metric("minkowski", {"p": p})(x, -x) == pytest.approx(want, rel=1e-12)


@pytest.mark.slow
def test_low_powers_that_leave_float64():
    x = np.arange(1.0, 101.0)
    for call in (
        lambda metric: metric(x, -x),
        lambda metric: pairwise_distances([x, -x], metric=metric),
        lambda metric: QuerySearcher(metric).fit(x).profile(np.tile(-x, 2)),
    ):
        with pytest.raises(ValueError, match="The 'p' parameter of Minkowski must not be so small"):
            call(get_metric("minkowski", {"p": 0.005}))


@pytest.mark.slow
def test_constant_stretches_are_constant_at_any_size():
    rng = np.random.default_rng(11)
    y = rng.normal(size=(1, 900))
    y[:, 200:500] = 1e-170
    y[:, 500:800] = 3.0
    y[:, 650] += 1e-170
    x = rng.normal(size=(1, 100))
    for record, scaling in ((lockstep.EuclideanRecord(), 2), *((lockstep.CosineRecord(), k) for k in (1, 0))):
        got, want = np.empty(801), np.empty(801)
        query = moments.normalize_one(x, np.ones_like(x), scaling) if scaling else x
        mass.profile(record, query, None, y, scaling, got)
        exact_profile(record, query, y, np.ones_like(x), scaling, want)
        np.testing.assert_allclose(got, want, rtol=mass.SLACK)
        alone = float(kernels.distance(record, x, np.full_like(x, 1e-170), np.ones_like(x)))
        if not scaling:
            np.testing.assert_array_equal(want[200:401], alone)


def test_distances_up_to_the_largest_numbers_agree():
    X = 3e139 * np.random.default_rng(12).normal(size=(6, 8))
    for name in compiled(["dtw", "msm", "erp", "frechet", "twed"]):
        D, metric = pairwise_distances(X, metric=name), get_metric(name)
        assert D.max() > 1e140 or name == "frechet"
        np.testing.assert_allclose(D, [[float(metric(a, b)) for b in X] for a in X], rtol=1e-12)
        near = nearest_neighbors(X, metric=name, n_neighbors=5)
        np.testing.assert_array_equal(near.distances, np.sort(D, axis=1)[:, 1:])
    for omega in (1.0, 1e300):
        x, y = np.arange(5.0), np.arange(7.0)
        metric = get_metric("adtw", {"omega": omega})
        assert float(metric(x, y)) == pairwise_distances([x], [y], metric)[0, 0] < np.inf


# -------------------------------------------------------------------------------------------------------------- limits
def test_what_squares_cannot_hold_is_refused():
    x, y = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0, 1.0, 0.0, 2.0])
    large, small = 1e141, 1e-141
    calls = [
        (lambda: get_metric("dtw")(x, y * large), "y"),
        (lambda: get_metric("manhattan")(x * large, x), "x"),
        (lambda: pairwise_distances([x, x * large]), r"X\[1\]"),
        (lambda: nearest_neighbors([x, x], [y, y * large]), r"Y\[1\]"),
        (lambda: tam(x * large, y), "x"),
        (lambda: QuerySearcher("dtw").fit(x).search(y * large), "X"),
        (lambda: QuerySearcher("dtw", threshold=1.0).fit(x).stream().update(y * large), "X"),
        (lambda: QuerySegmenter("euclidean").fit(x).segment(y * large), "X"),
        (lambda: QuerySegmenter("dtw").fit(x).stream().update(y * large), "X"),
        (lambda: QuerySearcher("cosine", normalize="zscore").fit(x * 1e302), "X"),
    ]
    for call, name in calls:
        with pytest.raises(ValueError, match=rf"'{name}' must hold values of at most 1e\+140 in size"):
            call()
    with pytest.raises(ValueError, match="The slopes of a series must fit into float64"):
        get_metric("short_time_series").distance(x * 1e139, x, tx=1e-180 * np.arange(3.0), ty=np.arange(3.0))
    # Small series are as good as zero.
    assert get_metric("dtw")(x, y * small) == pytest.approx(get_metric("dtw")(x, 0 * y), rel=1e-15)
    assert get_metric("dtw", {"do_sign_norm": True})(x * 1e139, x) == pytest.approx(0, abs=1e-25)


@pytest.mark.slow
def test_what_is_not_squared_may_be_larger():
    assert get_metric("frechet")([1e139, 2e139, 4e139], np.zeros(3)) == 4e139


@pytest.mark.parametrize("name", DISTANCES)
def test_no_number_comes_with_a_warning(name):
    rng = np.random.default_rng(13)
    X, y = naive.domain(name, rng.normal(size=(4, 9))), naive.domain(name, rng.normal(size=60))
    several = numba.config.DISABLE_JIT or name == "dtw" or name not in naive.WARPED
    for size in (1e90, 1e139, 1e-155, 1e-200, 1e-300):
        if size > 1e93 and name == "minkowski":  # cubes
            continue
        for call in (
            lambda: float(get_metric(name)(size * X[0], size * X[1])),  # noqa: B023
            lambda: pairwise_distances(size * X.reshape(2, 9, 2) if several else size * X, metric=name),  # noqa: B023
            lambda: QuerySearcher(name, candidates="windows").fit(size * X[0]).profile(size * y).distance,  # noqa: B023
            lambda: QuerySegmenter(name).fit(size * X[0]).segment(size * y).cost,  # noqa: B023
        ):
            try:
                assert np.isfinite(call()).all()
            except ValueError as error:
                assert "has no" in str(error) or "must hold values of at most" in str(error), error

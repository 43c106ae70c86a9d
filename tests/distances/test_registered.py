"""Metrics of the user's own: functions and recurrences under a name, everywhere a metric is taken."""

import os
import pickle
import subprocess
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest
from inputs import refused
from own_recurrences import Alike, Unlike, alike, products
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict, time_series_search
from sktslib.distances import (
    ADTW,
    DTW,
    ERP,
    Manhattan,
    _nearest,
    get_metric,
    metric_names,
    nearest_neighbors,
    pairwise_distances,
    recurrence,
    register_metric,
    time_series_distance,
)
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, PairwiseDistances

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 9)).round(2)
RAGGED = [RNG.normal(size=n).round(2) for n in (4, 9, 7, 1)]
SEQUENCE = RNG.normal(size=60).round(2)


def squares(p, row, y, y_before):

    x, _, w, _ = row
    return w * (x - y) * (x - y), 0.0, 0.0


def warped(p, at, late, a, b, c, gap):
    return p.scale * a, p.scale * a, p.scale * a


@recurrence(terms=squares, moves=warped)
class Scaled(NamedTuple):
    """Dynamic time warping times a factor."""

    scale: float = 1.0


def promising(**promises):
    """The same recurrence with some promises."""

    @recurrence(terms=squares, moves=warped, **promises)
    class Promising(NamedTuple):
        scale: float = 1.0

    return Promising


def erp_row(p, x, x_before, w, w_before):
    return x, w * abs(x - p.g), w, 0.0


def erp_terms(p, row, y, y_before):

    x, price, w, _ = row
    return abs(w * (x - y)), price, 0.0


def erp_moves(p, at, late, a, b, c, gap):
    return a, b, gap


def erp_gap_terms(p, y, y_before):
    return abs(y - p.g)


def erp_gap(p, total, step):
    return total


@recurrence(
    terms=erp_terms, moves=erp_moves, row=erp_row, size=2, gap_terms=erp_gap_terms, gap=erp_gap, closed_boundary=False
)
class OwnERP(NamedTuple):
    """Edit distance with a real penalty."""

    g: float = 0.0


def greatest(x, y, power=1.0, weight=None):
    if weight is None:
        return (np.abs(x - y) ** power).max()
    return (weight * np.abs(x - y) ** power).max()


@numba.njit
def summed(x, y, power=1.0):
    total = 0.0
    for i in range(x.shape[0]):
        total += abs(x[i] - y[i]) ** power
    return total


def register_all():
    return (
        register_metric("scaled", Scaled, symmetric=True),
        register_metric("own_erp", OwnERP, symmetric=True, metric=lambda metric: metric.window is None),
        register_metric("greatest", greatest, aliases=("Largest",), symmetric=True, metric=True),
        register_metric("summed", summed, multivariate=False),
    )


def test_registry_and_parameters():
    Own, _, Greatest, Summed = register_all()
    assert {"scaled", "own_erp"} <= set(metric_names("elastic"))
    assert {"greatest", "summed"} <= set(metric_names("lockstep"))
    assert "own_erp" in metric_names(metric=True)
    assert not get_metric("own_erp", {"window": 0.5}).is_metric
    assert metric_names(multivariate=False) == ["summed"]
    assert get_metric("Largest") == Greatest() == clone(Greatest()) != Greatest(power=2)
    assert repr(Own(scale=2)) == "Scaled(scale=2)"
    assert Own(scale=2).get_params() == {"scale": 2, "window": None, "factor": None}
    assert Own().set_params(scale=3.0) == Own(scale=3.0)
    assert Summed(2.0)([0, 0], [1, 3]) == 10.0
    refused(lambda: get_metric("scaled", {"scal": 1}), "Unknown parameter 'scal' of Scaled. Did you mean 'scale'")
    refused(lambda: get_metric("scaled", {"scale": "1"}), "must be an instance of 'float' or an array-like")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "own"),
    [("scaled", DTW()), ("own_erp", ERP()), ("greatest", get_metric("chebyshev")), ("summed", Manhattan())],
)
def test_equals_the_package_s_own_everywhere(name, own):
    register_all()
    weight = RNG.choice([0.25, 0.5, 1.0], 9)
    same = {"rtol": 1e-9, "atol": 1e-12}
    want = np.array([[own(x, y) for y in X] for x in X])
    np.testing.assert_allclose(pairwise_distances(X, metric=name), want, **same)
    np.testing.assert_allclose(pairwise_distances(X, X[:2], name), want[:, :2], **same)
    if name != "summed":
        want = [[own(x, y, weight=weight) for y in X] for x in X]
        np.testing.assert_allclose(pairwise_distances(X, list(X), name, weight=weight), want, **same)
    if own.family == "elastic":
        want = [[own(x, y) for y in X] for x in RAGGED]
        np.testing.assert_allclose(pairwise_distances(RAGGED, X, metric=name), want, **same)
    if name == "own_erp":  # which has all parts of a recurrence
        got, want = get_metric(name).distance(X[0], X[1]), own.distance(X[0], X[1])
        np.testing.assert_array_equal(got.path, want.path)
    if own.family == "elastic" and not numba.config.DISABLE_JIT:
        return  # the rest is compiled for the package's own recurrences, and run below
    for mode in ("windows", "subsequence") if own.family == "elastic" else ("windows",):
        got, want = (QuerySearcher(m, candidates=mode, n_matches=3).fit(X[0]).search(SEQUENCE) for m in (name, own))
        np.testing.assert_array_equal(got.start, want.start)
        np.testing.assert_allclose(got.distance, want.distance, **same)
    # The background's cost is given: a distance that is no sum to the package counts its length times.
    got, want = (QuerySegmenter(m, background=0.5).fit(X[0]).segment(SEQUENCE) for m in (name, own))
    if own.family == "elastic":
        np.testing.assert_array_equal(got.boundaries, want.boundaries)
    classes = ["a", "b", "a", "b", "b"]
    got, want = (KNeighborsTimeSeriesClassifier(m).fit(X, classes).predict(X[::-1] + 0.1) for m in (name, own))
    np.testing.assert_array_equal(got, want)


@pytest.mark.slow
@pytest.mark.parametrize(("record", "steps"), [(Alike, (0.0, 0.0)), (Unlike, (-0.5, 0.25))])
def test_costs_may_be_negative(record, steps):
    def least(x, y):
        cost = np.full((len(x) + 1, len(y) + 1), np.inf)
        cost[0, 0] = 0.0
        for i, j in np.ndindex(len(x), len(y)):
            ways = cost[i, j], cost[i, j + 1] + steps[0], cost[i + 1, j] + steps[1]
            cost[i + 1, j + 1] = min(ways) + x[i] * y[j]
        return cost[-1, -1]

    metric = register_metric("signed", record, symmetric=steps[0] == steps[1])()
    expected = [[least(x, y) for y in RAGGED] for x in X]
    assert np.min(expected) < 0
    if record is Alike:
        np.testing.assert_allclose([[metric(x, y) for y in RAGGED] for x in X], expected, rtol=1e-9, atol=1e-12)
        return
    np.testing.assert_allclose(pairwise_distances(X, RAGGED, metric), expected, rtol=1e-9, atol=1e-12)
    assert nearest_neighbors(X, RAGGED, metric).indices[:, 0].tolist() == np.argmin(expected, axis=1).tolist()
    if not numba.config.DISABLE_JIT:
        return  # pairs in a band and searches are another four kernels
    banded = type(metric)(window=0.4)
    one_by_one = [[banded(x, y) for y in RAGGED] for x in X]
    assert np.min(one_by_one) < 0
    np.testing.assert_allclose(pairwise_distances(X, RAGGED, banded), one_by_one, rtol=1e-9, atol=1e-12)
    match = QuerySearcher(metric).fit(X[0]).search(SEQUENCE)
    every = [least(X[0], SEQUENCE[a:b]) for a in range(60) for b in range(a + 1, 61)]
    assert match.distance[0] == pytest.approx(min(every), rel=1e-9)
    assert match.distance[0] == pytest.approx(least(X[0], SEQUENCE[match.start[0] : match.end[0]]), rel=1e-9)


def test_lags_need_a_closed_border():
    with pytest.raises(ValueError, match=r"'lag_cost' parameter must be None where 'closed_boundary' is False"):
        recurrence(terms=products, moves=alike, lag_cost=lambda p, lag, lag_before: lag, closed_boundary=False)


@pytest.mark.slow
def test_who_says_that_costs_never_fall_is_pruned():
    Falling = register_metric("falling", promising(), symmetric=True)
    Rising = register_metric("rising", promising(monotone=True), symmetric=True)
    Y = np.random.default_rng(0).normal(size=(100, 60)) + 3.0 * np.arange(100)[:, np.newaxis]
    got, want = (nearest_neighbors(Y[:5], Y, metric(), n_neighbors=2) for metric in (Rising, Falling))
    np.testing.assert_array_equal(got.indices, want.indices)
    np.testing.assert_allclose(got.distances, want.distances, rtol=1e-12)
    assert got.report.abandoned > want.report.abandoned == 0


def stretched(p, at, late, a, b, c, gap):
    return a, a + p.omega, a + p.omega


@recurrence(terms=squares, moves=stretched, monotone=True)
class Penalized(NamedTuple):
    """Amerced dynamic time warping once more."""

    omega: float = 0.5


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [0, 2])  # with 0 most choices are between equal costs
def test_which_of_two_equal_moves_is_better_may_be_found_before_their_cost(decimals):
    """As the package's own recurrence promises, and this one does not."""
    metrics = register_metric("penalized", Penalized, symmetric=True)(), ADTW(omega=0.5)
    rng = np.random.default_rng(decimals)
    A, B = (rng.normal(size=(3, n)).round(decimals) for n in (23, 17))
    if numba.config.DISABLE_JIT:  # another kernel
        np.testing.assert_array_equal(*(pairwise_distances(A, B, metric) for metric in metrics))
    y = np.tile(rng.normal(size=40).round(decimals), 50)
    y += rng.normal(size=len(y)).round(decimals) * (rng.uniform(size=len(y)) < 0.2)
    got, want = (QuerySegmenter(metric, background=0.8).fit(y[5:17]).segment(y) for metric in metrics)
    assert len(want) > 20
    np.testing.assert_array_equal(got.boundaries, want.boundaries)
    np.testing.assert_allclose(got.cost, want.cost, rtol=1e-12, atol=1e-11)


def test_bounds_need_costs_that_are_not_negative():
    with pytest.raises(ValueError, match="'bounds' parameter of recurrence must be False where 'monotone' is False"):
        recurrence(terms=squares, moves=warped, bounds=True)


@pytest.mark.slow
def test_a_copy_of_a_built_in_recurrence_has_its_bounds(monkeypatch):
    monkeypatch.setattr(_nearest, "FEW_CELLS", 0)
    metric = register_metric("bounded", promising(equal_moves=True, monotone=True, bounds=True), symmetric=True)()
    size, n, m = (40, 400, 20) if numba.config.DISABLE_JIT else (100, 0, 60)
    Y = np.random.default_rng(1).normal(size=(size, m)) + 0.3 * np.arange(size)[:, np.newaxis]
    got, want = (nearest_neighbors(Y[::20], Y, own, n_neighbors=2) for own in (metric, DTW()))
    np.testing.assert_array_equal(got.indices, want.indices)
    np.testing.assert_allclose(got.distances, want.distances, rtol=1e-12)
    assert got.report.bounded == want.report.bounded > size // 4
    if not numba.config.DISABLE_JIT:
        return  # bounds of windows are another five kernels
    y = np.random.default_rng(2).normal(size=n).cumsum()
    got, want = (
        QuerySearcher(own, candidates="windows", normalize="zscore", n_matches=3).fit(y[300 : 300 + m]).search(y)
        for own in (metric, DTW())
    )
    np.testing.assert_array_equal(got.start, want.start)
    np.testing.assert_allclose(got.distance, want.distance, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_in_dictionaries_and_grids():
    register_all()
    cfg = get_distance_dict(["own_erp", "greatest"])
    assert cfg["elastic"]["Own Erp"]["parameters"] == {"g": 0.0}
    assert cfg["elastic"]["Own Erp"]["description"] == "Edit distance with a real penalty."
    cfg["elastic"]["Own Erp"]["parameters"]["g"] = 0.5
    table = time_series_distance(cfg, X[0], X[1])
    assert table.loc["Own Erp", "Distance"] == pytest.approx(ERP(g=0.5)(X[0], X[1]))
    assert set(time_series_search(cfg, X[0], SEQUENCE, output=("number", 2))) == {"Own Erp", "Greatest"}
    grid = GridSearchCV(KNeighborsTimeSeriesClassifier("own_erp"), {"metric__g": [0.0, 1.0]}, cv=2)
    assert set(grid.fit(X[:4], [0, 1, 0, 1]).best_params_) == {"metric__g"}


def test_channels():
    register_all()
    two = RNG.normal(size=(4, 6, 2)).round(2)
    for name, own in (("greatest", "chebyshev"), *([("scaled", "dtw")] if numba.config.DISABLE_JIT else [])):
        np.testing.assert_allclose(pairwise_distances(two, metric=name), pairwise_distances(two, metric=own), rtol=1e-9)
    for call in (lambda: get_metric("summed")(two[0], two[1]), lambda: pairwise_distances(two, metric="summed")):
        refused(call, "takes one channel")


@pytest.mark.slow
def test_compiled_functions_by_blocks():
    @numba.njit
    def spoils(x, y, weight=None):
        x[:] = x - y
        y[:] = 0.0
        return np.abs(x).sum()

    np.testing.assert_allclose(pairwise_distances(X, metric=spoils), pairwise_distances(X, metric="manhattan"))
    profile = QuerySearcher(spoils).fit(X[0]).profile(SEQUENCE).distance
    np.testing.assert_allclose(profile, QuerySearcher("manhattan").fit(X[0]).profile(SEQUENCE).distance)

    @numba.njit
    def wrong(x, y):
        return np.nan if y[0] > 1.0 else 0.0

    refused(lambda: pairwise_distances([[0.0, 0.0], [2.0, 0.0]], metric=wrong), "must return a number")


def test_times_reach_a_function():
    register_metric("slope", lambda x, y, tx, ty, factor=1.0: factor * abs(np.ptp(tx) - np.ptp(ty)))
    assert get_metric("slope", {"factor": 2.0}).uses_times
    assert get_metric("slope").distance([0, 1], [0, 1], tx=[0, 1], ty=[0, 3]) == 2.0


def test_pickles_and_copies():
    Own, _, Greatest, _ = register_all()
    for metric in (Own(scale=2.0), Greatest(power=2.0)):
        again = pickle.loads(pickle.dumps(metric))
        assert again == metric
        assert type(again) is type(metric)
    model = pickle.loads(pickle.dumps(PairwiseDistances(Greatest(power=2.0)).fit(X)))
    np.testing.assert_allclose(model.transform(X), pairwise_distances(X, metric="chebyshev") ** 2, rtol=1e-9)


@pytest.mark.slow
def test_an_edited_recurrence_is_another_one():
    metrics = []
    for price in (1.0, 3.0):

        @recurrence(terms=squares, moves=lambda p, at, late, a, b, c, gap, price=price: (price * a, a, a))
        class Edited(NamedTuple):
            pass

        metrics.append(register_metric("edited", Edited)())
    assert [float(metric([0.0, 0.0], [1.0, 1.0])) for metric in metrics] == [2.0, 5.0]


def test_a_name_of_one_s_own_is_replaced_and_the_package_s_are_not():
    First = register_metric("mine", lambda x, y: 1.0)
    Second = register_metric("mine", lambda x, y: 2.0)
    assert First()([0], [0]) == 1.0
    assert get_metric("mine")([0], [0]) == Second()([0], [0]) == 2.0
    assert First() != Second()


class Bare(NamedTuple):
    g: float = 0.0


@recurrence(terms=squares, moves=warped)
class NoDefault(NamedTuple):
    g: float


@recurrence(terms=squares, moves=warped)
class Taken(NamedTuple):
    name: float = 0.0


@recurrence(terms=squares, moves=lambda p, a, b, c: (a, a, a))
class TooFew(NamedTuple):
    pass


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "message"),
    [
        (("dtw", greatest), {}, ValueError, "Got 'dtw', which is DTW"),
        (("mine", greatest), {"aliases": ["Euclidean Distance"]}, ValueError, "which is Euclidean"),
        (("my distance", greatest), {}, ValueError, "'name' must be an identifier"),
        (("mine", 3), {}, TypeError, "'made_of' must be a function of two series"),
        (
            ("mine", TooFew),
            {},
            TypeError,
            r"'moves' of 'mine' must take \(p, point_costs, lag_cost, a, b, c, gap\)\. Got \(",
        ),
        (("mine", Bare), {}, TypeError, "decorated with sktslib.distances.recurrence"),
        (("mine", type("Derived", (Alike,), {})), {}, TypeError, "decorated with sktslib.distances.recurrence"),
        (("mine", NoDefault), {}, TypeError, "'g' of 'mine' must have a default"),
        (("mine", Taken), {}, ValueError, "'name' of 'mine' must have another"),
        (("mine", lambda x, y, p: 0.0), {}, TypeError, "The parameter 'p' of 'mine' must have a default"),
    ],
)
def test_what_cannot_be_registered(arguments, keywords, error, message):
    with pytest.raises(error, match=message):
        register_metric(*arguments, **keywords)


# ------------------------------------------------------------------------------------------------------ other processes
MAIN = """
from typing import NamedTuple
from joblib import Parallel, delayed
from sktslib.distances import get_metric, pairwise_distances, recurrence, register_metric
from sktslib.neighbors import PairwiseDistances

@recurrence(
    terms=lambda p, row, y, y_before: (row[2] * abs(row[0] - y), 0.0, 0.0),
    moves=lambda p, at, late, a, b, c, gap: (a, p.price + a, p.price + a),
)
class Priced(NamedTuple):
    price: float = 0.1

if __name__ == "__main__":
    Priced = register_metric("priced", Priced)
    far = register_metric("far", lambda x, y, power=1.0: 7.0 * power)
    metrics = Priced, Priced(price=5.0), far, far(2.0)
    tasks = [delayed(pairwise_distances)([[0.0, 0.0], [0.0, 1.0]], metric=metric) for metric in metrics]
    for table in Parallel(n_jobs=2)(tasks):
        print(table[0, 1])
    register_metric("named", lambda x, y, power=1.0: 3.0 * power)
    by_name = PairwiseDistances("named").set_output(transform="default")
    print(Parallel(n_jobs=2)([delayed(by_name.fit_transform)([[0.0], [1.0]])])[0][0, 1])
    register_metric("left", lambda x, y: 0.0)
    try:
        Parallel(n_jobs=2)([delayed(get_metric)("left")])
    except ValueError as error:
        print("give-the-metric-object" in str(error).replace(" ", "-"))
"""


@pytest.mark.slow
def test_metric_objects_and_classes_take_their_distance_to_other_processes():
    """Where it is defined in a notebook, too: the others cannot import it."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", MAIN], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["1.0", "1.0", "7.0", "14.0", "3.0", "True"]

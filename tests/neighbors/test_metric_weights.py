"""Learned weights: the objective against plain loops, what is planted is found, and estimators that learn within."""

import pickle

import numpy as np
import pytest
from naive.weight_learning import margin_loss, pull, warped_terms
from sklearn.base import clone
from strategies import quick

from sktslib.distances import DTW, get_metric, nearest_neighbors, pairwise_distances
from sktslib.neighbors import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesRegressor,
    MetricWeights,
    _metric_weights,
)

RNG = np.random.default_rng(8)
Y = np.repeat(["a", "b"], 5)
X = RNG.normal(size=(10, 8, 3)) * [0.5, 1.5, 1.5]  # the first channel tells the classes apart, in the middle
X[5:, 3:6, 0] += 1.5
RAGGED = [x[: 6 + k % 3] for k, x in enumerate(X)]
WEIGHTS = MetricWeights(alpha=0.1, n_neighbors=1, max_iter=1)


def task_of(series, kind, n_knots=4, k=2):
    series = [np.ascontiguousarray(x.T) for x in series]
    labels = np.unique(Y, return_inverse=True)[1]
    length = 1 if kind == "channels" else series[0].shape[1]
    basis = _metric_weights.basis_of(kind, 3, length, n_knots)
    return _metric_weights.Task(DTW(), series, labels, basis, k, 10, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric",
    ["canberra", "ddtw", "euclidean", "kullback_leibler", "manhattan", "minkowski", "sqeuclidean", "wddtw", "wdtw",
     DTW(), DTW(0.5, window=0.3), DTW(do_dist_norm=True), DTW(dtw_type="sub-dtw"), DTW(do_sign_norm=True)],
    ids=str,
)  # fmt: skip
def test_terms_add_up_to_the_distance(metric):
    metric = get_metric(metric)
    x, y = np.abs(X[0]).T.copy(), np.abs(X[6]).T.copy()
    w = RNG.uniform(size=x.shape)
    w /= w.max()
    terms = metric._weighted_terms(x, w, y)
    assert (w * terms).sum() == pytest.approx(metric(x.T, y.T, weight=w.T) ** metric._weighted_power)
    if metric == DTW():
        np.testing.assert_allclose(terms.T, warped_terms(x.T.tolist(), y.T.tolist(), w.T.tolist()))


@pytest.mark.parametrize("kind", ["points", "channels", "both"])
def test_objective(kind):
    series = RAGGED if kind == "channels" else list(X)
    task = task_of(series, kind)
    rng = np.random.default_rng(1)
    v = rng.uniform(0.5, 1.5, len(task.basis))
    same = task.same_class & ~np.eye(len(Y), dtype=bool)
    equal = _metric_weights.sums(
        task, task.series, task.series, _metric_weights.weights_of(np.ones(len(v)), task.basis)
    )
    targets = _metric_weights.nearest(equal, same, 2)
    unit = np.mean([equal[i, of].mean() for i, of in enumerate(targets)])

    def wanted(v):
        w = _metric_weights.weights_of(v, task.basis)
        full = [np.broadcast_to(w, x.shape).T.tolist() for x in task.series]
        loss = margin_loss([x.T.tolist() for x in task.series], task.labels.tolist(), full, 2)
        return loss + pull(w.ravel().tolist(), 0.3)

    found, gradient = _metric_weights.objective(v, task.basis, _metric_weights.triples_of(task, v, targets, unit), 0.3)
    assert found == pytest.approx(wanted(v), rel=1e-9)
    step = np.zeros(len(v))
    step[len(v) // 2] = 1e-6  # so near the best alignments stay the best
    assert gradient @ step == pytest.approx((wanted(v + step) - wanted(v - step)) / 2, rel=1e-4)


@pytest.mark.parametrize("series", [X, RAGGED], ids=["matrix", "ragged"])
def test_noise_has_less_weight(series):
    model = MetricWeights(alpha=0.1, n_neighbors=2, max_iter=3).fit(series, Y)
    assert model.weight_.shape == (1, 3)
    assert model.weight_.mean() == pytest.approx(1.0)
    assert model.weight_[0, 0] > 2 * model.weight_[0, 1:].max()
    assert (np.diff(model.objective_) < 0).all()
    assert len(model.objective_) == model.n_iter_ + 1 > 1
    order = [2, 0, 1]
    other = MetricWeights(alpha=0.1, n_neighbors=2, max_iter=3).fit([x[:, order] for x in series], Y)
    np.testing.assert_allclose(other.weight_, model.weight_[:, order], rtol=1e-2)


def test_points_that_differ_have_more_weight():
    model = MetricWeights("euclidean", alpha=0.05, n_knots=8).fit(X[..., 0], Y)
    assert model.weight_.shape == (8,)
    assert model.weight_[3:6].mean() > 2 * model.weight_[[0, 1, 7]].mean()
    both = MetricWeights("euclidean", kind="both", alpha=0.05, n_knots=8).fit(X, Y).weight_
    assert both.shape == (8, 3)
    assert both[3:6, 0].mean() > 2 * both[:, 1:].mean()
    assert both.mean() == pytest.approx(1.0)


def test_labels_without_meaning_keep_weights_equal():
    same = np.tile(X[:5], (2, 1, 1))  # every series stands in both classes
    model = MetricWeights("euclidean", random_state=0).fit(same, Y)
    assert model.alpha_ == np.inf
    assert (model.weight_ == 1.0).all()
    assert model.n_iter_ == 0
    assert MetricWeights(alpha=1.0).fit(np.zeros((4, 5)), [0, 0, 1, 1]).weight_.tolist() == [1.0] * 5


@pytest.mark.slow
def test_alpha_is_chosen():
    model = MetricWeights("euclidean", random_state=0).fit(X, Y)
    best = max(model.scores_.values())
    assert model.scores_[model.alpha_] == best > model.scores_[np.inf]
    assert model.alpha_ == max(alpha for alpha, score in model.scores_.items() if score == best)
    np.testing.assert_array_equal(MetricWeights("euclidean", alpha=model.alpha_).fit(X, Y).weight_, model.weight_)


@pytest.mark.parametrize("series", [X, RAGGED], ids=["matrix", "ragged"])
def test_classifier_learns_within(series):
    model = KNeighborsTimeSeriesClassifier("dtw", weight=WEIGHTS).fit(series, Y)
    learned = model.metric_weights_.weight_
    np.testing.assert_array_equal(learned, clone(WEIGHTS).fit(series, Y).weight_)
    given = KNeighborsTimeSeriesClassifier("dtw", weight=learned).fit(series, Y)
    for found, wanted in zip(model.kneighbors(), given.kneighbors(), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert not hasattr(model.weight, "weight_")  # the parameter itself is not fitted
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(series), model.predict(series))
    jobs = clone(model).set_params(n_jobs=2).fit(series, Y)
    np.testing.assert_array_equal(jobs.metric_weights_.weight_, learned)
    assert not hasattr(model.set_params(weight=None).fit(series, Y), "metric_weights_")


@pytest.mark.parametrize("metric", quick(["dtw", "twed", "euclidean"], "dtw"))
def test_weights_of_channels_for_series_of_any_lengths(metric):
    weight, metric = np.array([[0.5, 1.0, 0.2]]), get_metric(metric)
    wanted = [[metric(x, y, weight=np.repeat(weight, len(x), axis=0)) for y in RAGGED[5:9]] for x in RAGGED[:5]]
    np.testing.assert_allclose(pairwise_distances(RAGGED[:5], RAGGED[5:9], metric, weight=weight), wanted, rtol=1e-12)
    distances, indices = nearest_neighbors(RAGGED[:5], RAGGED[5:9], metric, weight=weight)
    np.testing.assert_allclose(distances[:, 0], np.min(wanted, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(indices[:, 0], np.argmin(wanted, axis=1))


def within(weight):
    return KNeighborsTimeSeriesClassifier("euclidean", nan_policy="omit", weight=weight)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MetricWeights("msm").fit(X, Y), ValueError, "'metric' parameter must be a sum of terms"),
        (lambda: MetricWeights("euclidean").fit(RAGGED, Y), ValueError, "must be an elastic one"),
        (lambda: MetricWeights(kind="points").fit(RAGGED, Y), ValueError, "Got 'points' and lengths 6 to 8"),
        (lambda: MetricWeights(alpha=0.0).fit(X, Y), ValueError, "'alpha' parameter"),
        (lambda: MetricWeights().fit(X, ["a"] * 10), ValueError, "Got one class"),
        (lambda: MetricWeights().fit(X[:2], ["a", "b"]), ValueError, "Got one series per class"),
        (lambda: MetricWeights().fit(X, None), ValueError, "requires y to be passed"),
        (lambda: within("learned").fit(X, Y), TypeError, "instance of MetricWeights, an array-like"),
        (lambda: within(MetricWeights).fit(X, Y), TypeError, "instance of MetricWeights, an array-like"),
        (lambda: KNeighborsTimeSeriesRegressor(weight=MetricWeights()).fit(X, Y), TypeError, "Got MetricWeights"),
        (lambda: within(MetricWeights("dtw")).fit(X, Y), ValueError, "'metric' parameter of MetricWeights must be"),
        (lambda: within(MetricWeights()).fit(np.where(X.max() == X, np.nan, X), Y), ValueError, "without missing val"),
        (lambda: pairwise_distances(RAGGED, weight=np.ones(3)), ValueError, r"shape \(1, 3\). Got lengths 6 to 8"),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()

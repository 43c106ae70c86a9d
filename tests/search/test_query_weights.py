"""Weights of queries that searchers and segmenters learn from labels."""

import pickle

import numpy as np
import pandas as pd
import pytest
from naive.weight_learning import pull, warped_terms, window_loss
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sktslib import QuerySearcher, QuerySegmenter, pipeline_search
from sktslib.distances import DTW
from sktslib.metrics import labels_from_events
from sktslib.model_selection import BlockedSeriesSplit
from sktslib.neighbors import MetricWeights
from sktslib.search import ChannelPlan
from sktslib.search._learning.choice import QueryTask, comparisons, near_and_far, right_and_wrong, terms
from sktslib.search._pruning import Choice
from sktslib.utils._linear_weights import ALPHAS, basis_of, objective, weights_of

LENGTH = 8
SHAPE = np.r_[0.0, 2.0, -2.0, 1.0, np.zeros(4)]  # the second half of an occurrence is anything
DECOY = SHAPE / 2


def recording(events=14, channels=1, seed=0, spread=2.0):
    """Occurrences whose second half varies, between them what looks like the first half, and labels."""
    rng = np.random.default_rng(seed)
    X = 0.1 * rng.standard_normal((24 * events + 4, channels))
    starts = 4 + 24 * np.arange(events)
    for s in starts:
        X[s : s + LENGTH, 0] += SHAPE
        X[s + 4 : s + LENGTH, 0] += rng.uniform(-spread, spread, 4)
        X[s + 12 : s + 12 + LENGTH, 0] += DECOY
    X[:, 1:] += rng.standard_normal((len(X), channels - 1))
    return X, labels_from_events(np.column_stack([starts, starts + LENGTH]), n_samples=len(X))


X, Y = recording()
LEARNED = MetricWeights(alpha=0.3, n_knots=8, max_iter=3)


def task_of(metric, mode="auto", normalize=None, polarity="same", channels=1, n_knots=4):
    x = np.outer(SHAPE, [1.0, 0.5, -1.0][:channels]) + np.random.default_rng(1).normal(size=(LENGTH, channels))
    recorded, _ = recording(5, channels, seed=3)
    searcher = QuerySearcher(metric, candidates=mode, normalize=normalize).fit(x, weight=1.0 + np.arange(LENGTH) % 3)
    events = 4 + 24 * np.arange(5)[:, np.newaxis] + [0, LENGTH]
    basis = basis_of("both", channels, LENGTH, n_knots)
    data = np.ascontiguousarray(recorded.T)
    return QueryTask(searcher._queries[0], polarity, data, None, events, Choice(), basis, 2, 3)


# -------------------------------------------------------------------------------------------------------- the objective
@pytest.mark.parametrize(
    ("metric", "mode", "normalize", "polarity"),
    [
        ("dtw", "subsequence", None, "same"),
        (DTW(0.5), "subsequence", None, "same"),
        (DTW(do_dist_norm=True), "subsequence", None, "any"),
        (DTW(dtw_type="oe-dtw"), "subsequence", None, "same"),
        ("ddtw", "subsequence", None, "same"),
        ("wdtw", "subsequence", None, "same"),
        ("dtw", "subsequence", "mean", "same"),
        ("dtw", "windows", "zscore", "channels"),
        ("euclidean", "windows", None, "any"),
        ("manhattan", "windows", "zscore", "same"),
    ],
    ids=str,
)
def test_distances_are_linear_in_the_parameters(metric, mode, normalize, polarity):
    task = task_of(metric, mode, normalize, polarity, channels=2)
    v = np.random.default_rng(2).uniform(0.2, 2.0, len(task.basis))
    factors = weights_of(v, task.basis)
    how = task.weighed(factors)
    _, right, wrong = right_and_wrong(task, how)
    ranges = np.concatenate([right, wrong])
    assert len(right) >= 3
    found = terms(task, how, ranges) @ v
    wanted = task.reader(how).distances(*ranges.T) ** how.metric._weighted_power * (task.before * factors).max()
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_terms_are_those_of_the_path():
    task = task_of("dtw", "subsequence", channels=2, n_knots=LENGTH)
    how, ranges = task.weighed(np.ones((2, LENGTH))), np.array([[4, 12], [30, 35], [60, 80]])
    for (s, e), row in zip(ranges, terms(task, how, ranges), strict=True):
        of_path = warped_terms(task.plan.x.T.tolist(), task.data[:, s:e].T.tolist(), how.w.T.tolist())
        np.testing.assert_allclose(row, (np.transpose(of_path) * task.before).ravel(), rtol=1e-9)


def test_the_objective_is_that_of_the_definition():
    task = task_of("euclidean", n_knots=5)
    task = task._replace(plan=task.plan._replace(w=None), ranges=np.concatenate([task.ranges, [[110, 112]]]))
    x, y = task.plan.x[0].tolist(), task.data[0].tolist()
    near, far, lost = near_and_far(task, np.ones(5))
    assert lost == 1 / 6  # no window is as short as the last event
    assert len(near) == 5 and len(far)
    unit = near.sum(axis=1).mean()

    def wanted(v):
        w = weights_of(v, task.basis)[0]
        return window_loss(x, y, w.tolist(), task.ranges.tolist(), 2) + pull(w.tolist(), 0.3)

    v = np.random.default_rng(4).uniform(0.5, 1.5, 5)
    found, gradient = objective(v, task.basis, comparisons(task, v, unit), 0.3)
    assert found == pytest.approx(wanted(v), rel=1e-9)
    step = np.array([0, 0, 1e-6, 0, 0])
    assert gradient @ step == pytest.approx((wanted(v + step) - wanted(v - step)) / 2, rel=1e-4)


# ------------------------------------------------------------------------------------------------------------- learning
@pytest.mark.parametrize(
    "estimator", [QuerySearcher("euclidean"), QuerySearcher("dtw"), QuerySegmenter("euclidean")], ids=str
)
def test_what_varies_has_less_weight(estimator):
    query = SHAPE[:, np.newaxis]
    Z, truth = recording(12, seed=5)
    equal = clone(estimator).set_params(query=query, weight=MetricWeights(alpha=1e9)).fit(X, Y)
    learned = clone(estimator).set_params(query=query, weight=LEARNED).fit(X, Y)
    found = learned.metric_weights_
    assert found.weight_.shape == (LENGTH, 1)
    assert found.weight_.mean() == pytest.approx(1.0)
    assert found.weight_[1:4].mean() > 1.5 * found.weight_[4:].mean()
    assert (np.diff(found.objective_) < 0).all()
    assert found.n_iter_ + 1 == len(found.objective_) > 1
    np.testing.assert_allclose(learned.weight_, found.weight_ / found.weight_.max())
    np.testing.assert_array_equal(learned.query_, query)
    assert learned.classes_.tolist() == [1]
    assert learned.score(Z, truth) == 1.0 > equal.score(Z, truth) + 0.05
    assert not hasattr(learned.weight, "weight_")  # the parameter itself is not fitted
    again = pickle.loads(pickle.dumps(learned))
    np.testing.assert_array_equal(again.predict(Z), learned.predict(Z))
    given = clone(estimator).set_params(query=query, weight=None).fit(X, weight=learned.weight_)
    np.testing.assert_allclose(given.weight_, learned.weight_)
    assert not hasattr(learned.set_params(weight=None).fit(X), "metric_weights_")


def test_alpha_is_chosen_on_what_is_held_out():
    model = QuerySearcher("euclidean", query=SHAPE, weight=MetricWeights(n_knots=8)).fit(X, Y)
    found = model.metric_weights_
    assert tuple(found.scores_) == ALPHAS
    assert found.scores_[found.alpha_] > found.scores_[np.inf]
    fixed = MetricWeights(n_knots=8, alpha=found.alpha_)
    np.testing.assert_array_equal(clone(model).set_params(weight=fixed).fit(X, Y).weight_, model.weight_)
    jobs = clone(model).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(jobs.weight_, model.weight_)
    easy = np.where(np.arange(len(X))[:, np.newaxis] % 24 < 8, X, 0.0)
    few = Y * (np.arange(len(Y)) < 24 * 5)
    for recorded, labels in ((easy, Y), (X, few)):  # nothing else is near; too few to hold any out
        equal = clone(model).fit(recorded, labels)
        assert equal.metric_weights_.alpha_ == np.inf
        assert equal.weight_ is None
        assert equal.metric_weights_.n_iter_ == 0


def test_weights_are_drawn_to_those_before():
    before = np.r_[0.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 0.0]
    model = QuerySearcher("euclidean", query=SHAPE, weight=MetricWeights(alpha=1e9))
    np.testing.assert_allclose(model.fit(X, Y, weight=before).weight_[:, 0], before / 2, atol=1e-6)
    drawn = model.set_params(weight=LEARNED).fit(X, Y, weight=before).weight_[:, 0]
    assert drawn[[0, -1]].tolist() == [0.0, 0.0]
    assert drawn[2] > 3 * drawn[5]
    own = QuerySearcher("euclidean").fit(X, Y)  # learned queries: to the inverse of their spread
    same = QuerySearcher("euclidean", weight=MetricWeights(alpha=1e9)).fit(X, Y)
    np.testing.assert_allclose(same.weight_, own.weight_, rtol=1e-6)
    gone = QuerySearcher("euclidean", query=SHAPE, weight=LEARNED).fit(X, np.zeros(len(X)))
    assert gone.weight_ is None and not hasattr(gone, "metric_weights_")  # a part without an occurrence


def test_what_tells_nothing_apart_is_not_left_without_weight():
    rng = np.random.default_rng(0)
    recorded, starts = 0.3 * rng.standard_normal(196), 4 + 24 * np.arange(8)
    for s in starts:  # where the query has weight, decoys are nearer to it than all occurrences
        recorded[s : s + LENGTH] += np.r_[SHAPE[:4], 5.0 * rng.choice([-1.0, 1.0], 4)]
        recorded[s + 16 : s + 16 + 4] = SHAPE[4:]
    y = labels_from_events(np.column_stack([starts, starts + LENGTH]), n_samples=len(recorded))
    before = np.repeat([0.0, 1.0], 4)
    weight = MetricWeights(alpha=1e-4, n_knots=8, max_iter=2)
    model = QuerySearcher("euclidean", query=SHAPE, weight=weight).fit(recorded[:, np.newaxis], y, weight=before)
    assert (model.weight_[:4] == 0).all() and model.weight_.max() == 1.0  # none of them NaN
    assert (np.diff(model.metric_weights_.objective_) < 0).all()


@pytest.mark.parametrize("kind", ["auto", "both"])
def test_a_channel_of_noise_has_less_weight(kind):
    recorded, y = recording(channels=2, seed=2, spread=0.5)
    query = np.column_stack([SHAPE, np.zeros(LENGTH)])
    weight = MetricWeights(kind=kind, alpha=0.1, n_knots=3, max_iter=2)
    model = QuerySearcher("euclidean", query=query, weight=weight).fit(recorded, y)
    assert model.metric_weights_.weight_.shape == (LENGTH, 2)
    assert (np.ptp(model.weight_, axis=0).max() > 0) == (kind == "both")
    assert model.weight_[:, 0].mean() > 1.5 * model.weight_[:, 1].mean()
    turned = QuerySearcher("euclidean", query=query[:, ::-1], weight=weight).fit(recorded[:, ::-1], y)
    np.testing.assert_allclose(turned.weight_, model.weight_[:, ::-1], rtol=1e-2, atol=1e-2)
    scaled = QuerySearcher("euclidean", query=8 * query, weight=weight).fit(8 * recorded, y)
    np.testing.assert_allclose(scaled.weight_, model.weight_, rtol=1e-2, atol=1e-2)  # the unit does not matter


def test_each_of_several_queries_by_its_label():
    recorded, y = X.copy(), np.where(Y > 0, "beat", "").astype("<U5")
    for s in 16 + 24 * np.arange(14):
        y[s : s + LENGTH] = "decoy"
    queries = {"decoy": DECOY, "beat": SHAPE}
    for estimator in (QuerySearcher("euclidean"), QuerySegmenter("euclidean")):
        model = estimator.set_params(query=queries, weight=LEARNED).fit(recorded, y)
        weights = model.weight_ if isinstance(model, QuerySearcher) else model.weights_
        assert len(model.metric_weights_) == 2
        assert sorted(model.classes_) == ["beat", "decoy"]
        assert max(w.max() for w in weights if w is not None) == 1.0
        assert weights[1][1:4].mean() > 2 * weights[1][5:].mean()
        assert set(model.predict(recorded)) == {"", "beat", "decoy"}
    numbers = np.where(y == "beat", 2, np.where(y == "decoy", 1, 0))
    listed = QuerySearcher("euclidean", query=[DECOY, SHAPE], weight=LEARNED).fit(recorded, numbers)
    alone = QuerySearcher("euclidean", query=queries, weight=LEARNED).fit(recorded, y)
    np.testing.assert_array_equal(listed.weight_[1], alone.weight_[1])


def test_times_and_missing_values():
    times = pd.date_range("2024-01-01", periods=len(X), freq="s")
    model = QuerySearcher("euclidean", query=SHAPE, weight=LEARNED)
    plain = model.fit(X, Y).weight_
    np.testing.assert_array_equal(model.fit(X, Y, times=times).weight_, plain)
    broken = X.copy()
    broken[[7, 40]] = np.nan  # within an occurrence and beside one
    gaps = clone(model).set_params(nan_policy="omit").fit(broken, Y)
    assert np.isfinite(gaps.weight_).all()
    assert gaps.weight_[1:4].mean() > 2 * gaps.weight_[5:].mean()
    holed = (
        clone(model)
        .set_params(max_gap=pd.Timedelta("5s"))
        .fit(X, Y, times=times[:100].append(times[100:] + pd.Timedelta("1h")))
    )
    assert holed.weight_[1:4].mean() > 2 * holed.weight_[5:].mean()


def test_within_pipelines_and_grids():
    pipe = make_pipeline(StandardScaler(), QuerySearcher("euclidean", query=SHAPE, weight=LEARNED))
    grid = {"querysearcher__weight__alpha": [1e9, 0.3]}
    found = GridSearchCV(pipe, grid, cv=BlockedSeriesSplit(3), error_score="raise").fit(X, Y)
    assert found.best_params_ == {"querysearcher__weight__alpha": 0.3}
    assert len(pipeline_search(found, X)) == 14


# --------------------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, None, "'y' must be given where 'weight' is MetricWeights"),
        ({"metric": "msm"}, Y, "'metric' parameter must be a sum of terms"),
        ({"metric": "auto"}, Y, "'metric' parameter must be a sum of terms.*Got 'auto', which chooses"),
        ({"weight": MetricWeights("dtw")}, Y, "must be None within QuerySearcher"),
        ({"weight": MetricWeights(metric_params={"window": 0.1})}, Y, "'metric_params'.* must be None within QueryS"),
        ({}, np.array([[4, 12], [28, 36]]), "Of ranges make labels by sktslib.metrics.labels_from_events"),
        ({"weight": MetricWeights(alpha=0.0)}, Y, "'alpha' parameter"),
        ({"channels": ChannelPlan(lag=[0])}, Y, "where queries are compared by channel"),
        ({}, np.arange(len(Y)) // 24 % 3 * Y, r"\[1, 2\]"),
        ({"query": {"a": SHAPE}}, np.where(Y, "b", ""), "not 'a'"),
        ({"query": [SHAPE, DECOY]}, Y, "and not 2"),
    ],
)  # fmt: skip
def test_errors(parameters, y, message):
    model = QuerySearcher(**({"metric": "euclidean", "query": SHAPE, "weight": LEARNED} | parameters))
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_what_learns_is_the_parameter_itself():
    for weight, given in ((MetricWeights, None), ([LEARNED, LEARNED], None), (None, LEARNED)):
        for cls in (QuerySearcher, QuerySegmenter):
            queries = [SHAPE, DECOY] if isinstance(weight, list) else SHAPE
            with pytest.raises(TypeError, match="MetricWeights must be the parameter 'weight', Query"):
                cls("euclidean", query=queries, weight=weight).fit(X, Y, weight=given)


def test_one_recording_is_learned_from():
    for given in ([X, X], {"a": X, "b": X}):
        with pytest.raises(
            ValueError, match=r"'X' must be one recording where 'weight' is MetricWeights\. Got 2 series"
        ):
            QuerySearcher("euclidean", query=SHAPE, weight=LEARNED).fit(given, Y)


def test_an_infinite_alpha_keeps_the_weights():
    before = np.arange(1.0, LENGTH + 1)
    model = QuerySearcher("euclidean", query=SHAPE, weight=MetricWeights(alpha=np.inf)).fit(X, Y, weight=before)
    np.testing.assert_allclose(model.weight_[:, 0], before / LENGTH)
    assert model.metric_weights_.alpha_ == np.inf
    assert (MetricWeights("euclidean", alpha=np.inf).fit(X[:80].reshape(10, 8), np.arange(10) % 2).weight_ == 1.0).all()

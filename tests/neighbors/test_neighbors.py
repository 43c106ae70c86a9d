"""Estimators of collections: numbers against pairwise distances, forms of input, life within scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from inputs import refused
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, KNeighborsTransformer
from sklearn.pipeline import make_pipeline

from sktslib import QuerySearcher
from sktslib.distances import DTW, LCSS, TWED, Euclidean, Mahalanobis, Mixed, pairwise_distances
from sktslib.neighbors import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesRegressor,
    KNeighborsTimeSeriesTransformer,
    PairwiseDistances,
    ShapeletTransform,
)
from sktslib.search import Subsequences

RNG = np.random.default_rng(3)
X = RNG.normal(size=(12, 8)).round(2)
NEW = RNG.normal(size=(3, 8)).round(2)
RAGGED = [RNG.normal(size=(n, 2)).round(2) for n in (5, 3, 9, 4, 7, 6, 3)]
Y = np.array(list("ababababbaab"))
TRANSFORMERS = [PairwiseDistances(), KNeighborsTimeSeriesTransformer(n_neighbors=2), ShapeletTransform()]


def dense(a):
    return a.toarray() if hasattr(a, "toarray") else a


# ------------------------------------------------------------------------------------------------------- the numbers
@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize("count", [1, 4])
def test_graphs_are_scikit_learn_s(mode, count):
    """Against scikit-learn's own transformers, on a metric both know."""
    ours = KNeighborsTimeSeriesTransformer("euclidean", mode=mode, n_neighbors=count).fit(X)
    theirs = KNeighborsTransformer(mode=mode, n_neighbors=count, algorithm="brute").fit(X)
    for call in ("transform", "fit_transform"):
        got, want = getattr(ours, call)(X[::-1] + 0.25), getattr(theirs, call)(X[::-1] + 0.25)
        assert got.format == "csr"
        np.testing.assert_array_equal(got.indptr, want.indptr)
        np.testing.assert_allclose(got.toarray(), want.toarray(), atol=1e-6)
        rows = np.split(got.indices, got.indptr[1:-1])  # which hold the series itself, and the nearest first
        assert call == "transform" or all(k in row for k, row in enumerate(rows))
        assert mode == "connectivity" or all((np.diff(row) >= 0).all() for row in np.split(got.data, got.indptr[1:-1]))
    np.testing.assert_allclose(ours.kneighbors()[0], theirs.kneighbors()[0], atol=1e-6)


TARGETS = [RNG.normal(size=12), RNG.integers(0, 9, 12), RNG.normal(size=(12, 2)), np.ones((12, 1))]


@pytest.mark.parametrize("y", [Y, *TARGETS], ids=str)
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_predictions_are_scikit_learn_s_over_our_distances(weights, y):
    ours, theirs = KNeighborsTimeSeriesClassifier, KNeighborsClassifier
    if y is not Y:
        ours, theirs = KNeighborsTimeSeriesRegressor, KNeighborsRegressor
    new = np.concatenate([NEW, X[:1]])
    between, to_new = pairwise_distances(X), pairwise_distances(new, X)
    for count in (1, 3):
        model = ours("dtw", n_neighbors=count, weights=weights).fit(X, y)
        other = theirs(count, weights=weights, metric="precomputed").fit(between, y)
        want, found = other.predict(to_new), model.predict(new)
        assert found.shape == want.shape
        assert model.score(new, want) == 1.0
        if y is Y:
            np.testing.assert_array_equal(found, want)
            np.testing.assert_allclose(model.predict_proba(new), other.predict_proba(to_new))
        else:
            np.testing.assert_allclose(found, want, rtol=1e-12)


def test_targets_are_kept_and_errors_say_what_is_wrong():
    y = np.arange(12.0)
    model = KNeighborsTimeSeriesRegressor().fit(X, y)
    y[:] = 0.0
    np.testing.assert_array_equal(model.predict(X), np.arange(12.0))
    for wrong, message in (
        (Y, "For classes use KNeighborsTimeSeriesClassifier"),
        (np.full(12, np.nan), "Input y contains NaN"),
        (y[:3], "inconsistent numbers of samples"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            KNeighborsTimeSeriesRegressor().fit(X, wrong)


def test_a_distance_too_small_for_its_reciprocal_counts_as_none():
    model = KNeighborsTimeSeriesRegressor("manhattan", n_neighbors=2, weights="distance")
    assert model.fit([[0, 1e-310], [0, 5.0]], [1.0, 2.0]).predict([[0, 0.0]]).tolist() == [1.0]


GAPPY, GAPPED = X.copy(), X[0, 2:6].copy()
GAPPY[0, 3], GAPPY[1, :6], GAPPED[1] = np.nan, np.nan, np.nan
QUERIES = {
    "plain": ([X[0, 2:6], X[1, :4]], NEW, {"weight": [1.0, 2.0, 2.0, 1.0]}),
    "gaps": ([GAPPED], GAPPY, {"nan_policy": "omit"}),
}


@pytest.mark.parametrize("kind", QUERIES)
@pytest.mark.parametrize(("metric", "normalize"), [("dtw", None), ("euclidean", "zscore"), (TWED(nu=0.5), None)])
def test_distances_to_queries(kind, metric, normalize):
    queries, series, rest = QUERIES[kind]
    transformer = ShapeletTransform(metric, queries=queries, normalize=normalize, **rest).fit(series)
    found, columns = transformer.locate(series), transformer.transform(series)
    assert np.isfinite(columns).all() and [q.shape for q in transformer.queries_] == [(4, 1)] * len(queries)
    for q, query in enumerate(queries):
        any_length = Subsequences(min_length=None) if metric != "euclidean" and normalize is None else "auto"
        searcher = QuerySearcher(metric, query=query, normalize=normalize, candidates=any_length, **rest).fit(query)
        for s, y in enumerate(series):
            best = searcher.search(y)
            want = (best.start[0], best.end[0], best.distance[0]) if len(best) else (-1, -1, np.inf)
            assert (found.start[s, q], found.end[s, q], found.distance[s, q]) == want
            assert columns[s, q] == want[2] or not len(best)


def test_queries_without_a_match_or_a_value():
    none = ShapeletTransform(LCSS(eps=0.1), queries=[[50, 60]]).fit(X)
    assert none.locate(NEW).start.tolist() == [[-1]] * 3
    np.testing.assert_array_equal(none.transform(NEW), np.zeros((3, 1)))
    np.testing.assert_array_equal(np.diag(ShapeletTransform("euclidean").fit(X).transform(X)), np.zeros(12))
    refused(lambda: ShapeletTransform("euclidean", queries=[X[0]]).fit(GAPPY), "'X' must be finite")
    with pytest.raises(ValueError, match="at least one value that is not NaN"):
        ShapeletTransform("euclidean", queries=[[np.nan]], nan_policy="omit").fit(GAPPY)


# ------------------------------------------------------------------------------------------------- forms of the input
@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
def test_all_forms_of_a_collection(transformer):
    want = dense(clone(transformer).fit_transform(X))
    cells = pd.DataFrame({"series": [list(x) for x in X]})
    forms = [X.tolist(), list(X), X[:, :, None], pd.DataFrame(X), cells, cells["series"], X.astype(object), X.copy("F")]
    for form in forms:
        np.testing.assert_array_equal(dense(clone(transformer).fit_transform(form)), want)
    ragged = dense(clone(transformer).set_params(metric="dtw").fit_transform(RAGGED))
    table = pd.DataFrame({"a": [x[:, 0] for x in RAGGED], "b": [pd.Series(x[:, 1]) for x in RAGGED]})
    np.testing.assert_array_equal(dense(clone(transformer).set_params(metric="dtw").fit_transform(table)), ragged)


def test_length_and_channels_must_be_the_fitted_ones():
    distances = PairwiseDistances().fit(X)
    refused(lambda: distances.transform(X[:, :7]), "X has 7 features, but PairwiseDistances is expecting 8 features")
    assert distances.transform([x[:7] for x in X]).shape == (12, 12)
    refused(lambda: distances.transform(RAGGED), "'X' must have as many channels as the fitted collection, 1")
    assert not hasattr(distances.fit(RAGGED), "n_features_in_")
    assert distances.n_channels_ == 2


def test_missing_values():
    gappy = X.copy()
    gappy[0, 2] = gappy[1, 5] = np.nan
    refused(lambda: PairwiseDistances("euclidean").fit(gappy), "'X' must be finite")
    got = PairwiseDistances("euclidean", nan_policy="omit").fit_transform(gappy)
    seen = np.delete(np.arange(8), [2, 5])
    assert got[0, 1] == pytest.approx(np.sqrt(((X[0] - X[1])[seen] ** 2).sum() * 8 / 6))
    assert got[0, 2] == pytest.approx(np.sqrt(((X[0] - X[2])[np.arange(8) != 2] ** 2).sum() * 8 / 7))
    np.testing.assert_array_equal(got, got.T)
    plain = pairwise_distances(X, metric="euclidean")
    np.testing.assert_allclose(got[2:, 2:], plain[2:, 2:])
    gappy[0, :5] = np.nan  # less than half is left
    assert pairwise_distances(gappy[:2], metric="manhattan", nan_policy="omit")[0, 1] == np.inf
    for metric, policy, message in (("dtw", "omit", "needs a lockstep metric"), ("dtw", "drop", "'raise' or 'omit'")):
        with pytest.raises(ValueError, match=message):
            pairwise_distances(gappy, metric=metric, nan_policy=policy)


@pytest.mark.parametrize("listed", [True, False])
def test_channels_of_tables_are_told_by_their_names(listed):
    cells = pd.DataFrame({"a": [x[:, 0] for x in RAGGED], "b": [x[:, 1] for x in RAGGED]})
    tables = [pd.DataFrame(x, columns=["a", "b"]) for x in RAGGED] if listed else cells

    def edited(edit):
        return [edit(table) for table in tables] if listed else edit(tables)

    fitted = PairwiseDistances().fit(tables)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but PairwiseDistances was fitted"):
        found = fitted.transform(RAGGED)
    np.testing.assert_array_equal(found, fitted.transform(tables))
    with pytest.raises(ValueError, match=r"Got \['a', 'bb'\].*Did you mean 'b'\?"):
        fitted.transform(edited(lambda table: table.rename(columns={"b": "bb"})))
    with pytest.raises(ValueError, match=r"must be those of the fitted table, \['a', 'b'\]\. Got \['b', 'a'\]"):
        fitted.transform(edited(lambda table: table[["b", "a"]]))
    alone = PairwiseDistances(Mixed({"b": "dtw", "a": None})).fit_transform(tables)
    np.testing.assert_array_equal(alone, PairwiseDistances("dtw").fit_transform([x[:, 1:] for x in RAGGED]))
    if listed:
        refused(lambda: fitted.fit([tables[0], tables[1][["b", "a"]]]), "in one order", "['b', 'a'] at index 1")
        first = [table.T.rename(columns=str) for table in tables]
        found = PairwiseDistances(channels_first=True).fit(first[::3]).transform(first[1:2])
        np.testing.assert_array_equal(found, pairwise_distances(tables[1:2], tables[::3]))
        others = [table.rename(columns={"a": f"a{k}"}) for k, table in enumerate(tables)]  # names of a table alone
        np.testing.assert_array_equal(pairwise_distances(others), pairwise_distances(tables))


# --------------------------------------------------------------------------------------------- life in scikit-learn
def test_output_in_polars():
    polars = pytest.importorskip("polars")
    out = PairwiseDistances().set_output(transform="polars").fit(X).transform(NEW)
    assert isinstance(out, polars.DataFrame)
    np.testing.assert_array_equal(out.to_numpy(), pairwise_distances(NEW, X))
    for columns in ({"series": [x.tolist() for x in X]}, {f"t{k}": X[:, k] for k in range(8)}):
        frame = polars.DataFrame(columns)
        np.testing.assert_array_equal(PairwiseDistances().fit_transform(frame), pairwise_distances(X))


@pytest.mark.filterwarnings("ignore:The distances are not symmetric")
def test_parameters_of_the_metric_in_a_grid():
    nearest, values = KNeighborsClassifier(1, metric="precomputed"), [0.5, 1.0]
    pipe = make_pipeline(PairwiseDistances("dtw"), nearest)
    found = GridSearchCV(pipe, {"pairwisedistances__metric__alpha": values}, cv=2).fit(X, Y)
    for value, score in zip(values, found.cv_results_["mean_test_score"], strict=True):
        model = make_pipeline(PairwiseDistances(DTW(alpha=value)), nearest)
        assert score == GridSearchCV(model, {}, cv=2).fit(X, Y).best_score_
    model = KNeighborsTimeSeriesClassifier("dtw", metric_params={"window": 0.5}).set_params(metric__alpha=0.5)
    assert (model.metric, model.metric_params) == (DTW(alpha=0.5, window=0.5), None)
    model = KNeighborsTimeSeriesClassifier(DTW(), metric_params={"alpha": 0.1}).set_params(metric__alpha=0.5)
    assert (model.metric, model.metric_params) == (DTW(alpha=0.5), None)
    assert KNeighborsTimeSeriesClassifier(LCSS).set_params(metric__eps=2.0).metric == LCSS(eps=2.0)


def test_what_a_metric_has_learned_survives_a_search():
    loud = np.random.default_rng(0).normal(size=12) * 50.0
    A = np.column_stack([loud, Y == "a", Y == "a"])  # only without its first point it tells the classes
    metric = Mahalanobis().fit(A)
    assert clone(metric) == metric != Mahalanobis()
    assert clone(metric).VI_ is not metric.VI_
    grid = {"metric": [metric, Mahalanobis(metric.VI_), Mahalanobis(), Euclidean()]}
    scores = GridSearchCV(KNeighborsTimeSeriesClassifier(), grid, cv=6).fit(A, Y).cv_results_["mean_test_score"]
    assert scores[0] == scores[1] > scores[2] == scores[3]


def test_threads_and_later_edits_change_nothing():
    want = PairwiseDistances().fit_transform(X)
    np.testing.assert_array_equal(PairwiseDistances(n_jobs=2).fit_transform(X), want)
    kept = X.copy()
    fitted = [clone(t).fit(kept) for t in TRANSFORMERS]
    before = [dense(t.transform(X)) for t in fitted]
    kept[:] = 0.0
    for transformer, was in zip(fitted, before, strict=True):
        np.testing.assert_array_equal(dense(transformer.transform(X)), was)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: KNeighborsTimeSeriesTransformer(mode="both").fit(X), "The 'mode' parameter"),
        (lambda: KNeighborsTimeSeriesTransformer(n_neighbors=12).fit_transform(X), "must not exceed the 12 fitted"),
        (lambda: KNeighborsTimeSeriesTransformer().fit(X).kneighbors(n_neighbors=0), "'n_neighbors'"),
        (lambda: KNeighborsTimeSeriesClassifier(weights="far").fit(X, Y), "The 'weights' parameter"),
        (lambda: ShapeletTransform("euclidean", candidates="subsequence").fit(X), "needs an elastic metric"),
        (lambda: ShapeletTransform(queries=[[1, 2]], weight=[1, 2, 3]).fit(X), "must have one value per point"),
        (lambda: ShapeletTransform(queries=RAGGED).fit(X), r"'queries\[0\]' must have as many channels"),
        (lambda: ShapeletTransform([[0, 1], [2, 3]]).fit(X), r"parameter, the first.*Transform\(queries="),
        (lambda: PairwiseDistances("dtv").fit(X), "Did you mean 'dtw'"),
        (lambda: KNeighborsTimeSeriesClassifier().fit(X, None), "Pass one class per series"),
        (lambda: PairwiseDistances(Euclidean()).fit(X[0]), "Reshape your data"),
        (lambda: PairwiseDistances().fit(pd.DataFrame({"a": [[1, 2]], "b": [[1]]})), "of one length in each row"),
    ],
)
def test_wrong_input(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


# -------------------------------------------------------------------------------------- what is infinitely far, weights
def test_what_is_infinitely_far_has_no_vote():
    nan, rest = np.nan, {"n_neighbors": 3, "nan_policy": "omit"}
    A, new = [[1.0, 2, 3, 4], [10.0, 20, 30, 40], [11.0, nan, 30, 41]], [[nan, 21, 30, nan]]
    model = KNeighborsTimeSeriesClassifier("euclidean", **rest).fit(A, ["low", "high", "high"])
    np.testing.assert_array_equal(model.predict_proba(new), [[0.5, 0.5]])
    alone = [[nan, nan, nan, 41.0], [1, 2, 3, 4]]
    for estimator in (KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesRegressor):
        of = estimator("euclidean", nan_policy="omit").fit(A[:2], [1, 2])
        with pytest.raises(ValueError, match=r"finite distance from some fitted series. Got none for series \[0\]"):
            of.predict(alone)
        np.testing.assert_array_equal(of.predict(alone[1:]), [1])  # the way out
    means = KNeighborsTimeSeriesRegressor("euclidean", **rest).fit(A, [1.0, 2, 30])
    np.testing.assert_array_equal(means.predict(new), [1.5])
    band = KNeighborsTimeSeriesRegressor("soft_dtw", n_neighbors=2, metric_params={"window": 0.5, "divergence": False})
    assert band.fit([[0.0, 1, 0], np.zeros(30)], [1.0, 2]).predict([[0.0, 1, 0]]).tolist() == [1.0]


@pytest.mark.parametrize("metric", ["dtw", DTW(alpha=0.5), "kullback_leibler", lambda x, y: x[0]])
@pytest.mark.parametrize("weight", [None, [1.0, 2, 3]])
def test_symmetrized_distances(metric, weight):
    A, B = (np.random.default_rng(k).uniform(1, 9, size=(5, 3)) for k in (0, 1))
    if callable(metric) and not isinstance(metric, DTW) and weight is not None:
        return
    there, back = (pairwise_distances(*pair, metric, weight=weight) for pair in ((B, A), (A, B)))
    own = pairwise_distances(A, metric=metric, weight=weight)
    for how, combine in {"mean": lambda a, b: a / 2 + b / 2, "min": np.minimum, "max": np.maximum}.items():
        model = PairwiseDistances(metric, symmetrize=how, weight=weight)
        np.testing.assert_array_equal(model.fit_transform(A), combine(own, own.T))
        np.testing.assert_array_equal(model.transform(B), combine(there, back.T))
    if np.array_equal(own, own.T):
        PairwiseDistances(metric, weight=weight).fit_transform(A)  # without a warning
        return
    with pytest.warns(UserWarning, match="not symmetric") as told:
        PairwiseDistances(metric, weight=weight).fit_transform(A)
    assert len(told) == 1
    with pytest.warns(UserWarning, match="not symmetric"):
        PairwiseDistances(metric, weight=weight).fit(A).transform(A.copy())

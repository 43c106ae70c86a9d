"""``ADTW(omega="auto")``: fixed by the queries or the collection when something is fitted, and never by a pair."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from inputs import refused
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from strategies import pairs, plain, unmeant

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict
from sktslib.distances import ADTW, barycenter, get_metric, nearest_neighbors, pairwise_distances
from sktslib.distances._metrics.dtw import OMEGA
from sktslib.metrics import labels_from_events
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, PairwiseDistances, ShapeletTransform
from sktslib.search import Learning, Subsequences, elastic_search

pytestmark = unmeant
AUTO = ADTW(omega="auto")
X = [np.array([0.0, 1.0, 3.0, 1.0]), np.array([2.0, 2.0, 0.0]), np.array([5.0, 1.0])]
COLLECTION = OMEGA * np.mean([x.var() for x in X])


def expected(x, w=None):
    """By loops: the mean of w (x - mean)^2 over a channel's points of positive weight, summed over channels."""
    x = np.asarray(x, float).reshape(len(x), -1)
    w = np.ones(x.shape) if w is None else np.asarray(w, float).reshape(len(x), -1) * np.ones(x.shape) / np.max(w)
    total = 0.0
    for c in range(x.shape[1]):
        seen = [i for i in range(len(x)) if w[i, c] > 0]
        if seen:
            mean = sum(w[i, c] * x[i, c] for i in seen) / sum(w[i, c] for i in seen)
            total += sum(w[i, c] * (x[i, c] - mean) ** 2 for i in seen) / len(seen)
    return OMEGA * total


@pytest.mark.slow
@given(pairs(values=plain))
def test_omega_is_a_share_of_the_weighted_variance_of_the_query(drawn):
    x, _, w = drawn
    for estimator in (QuerySearcher(AUTO), QuerySegmenter(), QuerySegmenter("Amerced Dynamic Time Warping")):
        fitted = estimator.fit(x, weight=w)
        assert fitted.metric_.omega == "auto"
        assert fitted.metric_.omega_ == pytest.approx(expected(x, w), rel=1e-9, abs=1e-12)
    assert AUTO == ADTW(omega="auto")  # what was given stays as it was


def test_of_several_queries_it_is_the_mean_and_constant_ones_have_none():
    two = [np.array([0.0, 2.0]), np.array([0.0, 4.0, 0.0, 4.0])]
    for estimator in (QuerySegmenter(), QuerySearcher(AUTO)):
        assert estimator.fit(two).metric_.omega_ == pytest.approx(OMEGA * 2.5)
    constant = QuerySegmenter().fit(np.full(3, 0.1)).metric_
    assert constant.omega_ == 0.0
    assert constant([0.1, 5], [0.1, 0.1, 5]) == get_metric("dtw")([0.1, 5], [0.1, 0.1, 5]) == 0.0


def test_missing_points_are_left_out():
    gappy, seen = np.array([0.0, np.nan, 4.0, 2.0]), np.array([0.0, 4.0, 2.0])
    for estimator in (QuerySegmenter(nan_policy="omit"), QuerySearcher(AUTO, nan_policy="omit")):
        assert estimator.fit(gappy).metric_.omega_ == pytest.approx(OMEGA * seen.var())
    model = ShapeletTransform(AUTO, nan_policy="omit").fit([gappy, seen, [np.nan, 1.0]])
    assert model.metric_.omega_ == pytest.approx(OMEGA * seen.var() * 2 / 3)


def test_without_fit_it_says_so():
    for call in (lambda: AUTO([0, 1], [1, 2]), lambda: AUTO.distance([0, 1], [1, 2], cutoff=3.0)):
        refused(call, "'omega' parameter of ADTW must be a number, or be fixed by 'fit'", "Got")
    fixed = ADTW(omega="auto").fit([X[0]])
    assert fixed(X[0], X[1]) == ADTW(omega=OMEGA * X[0].var())(X[0], X[1])
    refused(lambda: QuerySegmenter(metric_params={"omega": "often"}).fit(X[0]), "'omega' parameter of ADTW")
    refused(lambda: ADTW(omega="auto").fit([[1e200, 0.0]]), "must hold values of at most 1e+140")


@pytest.mark.slow
def test_collections_fix_it_once_and_by_the_first():
    fixed = ADTW(omega=COLLECTION)
    Z = [np.array([9.0, -9.0, 3.0]), np.array([1.0, 2.0])]
    np.testing.assert_array_equal(pairwise_distances(X, metric=AUTO), pairwise_distances(X, metric=fixed))
    np.testing.assert_array_equal(pairwise_distances(X, Z, AUTO), pairwise_distances(X, Z, fixed))
    for got, want in zip(nearest_neighbors(X, Z, AUTO, 2), nearest_neighbors(X, Z, fixed, 2), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(barycenter(X, AUTO), barycenter(X, fixed))
    w = [1.0, 0.5]
    weighted = ADTW(omega=expected(Z[1], w))
    np.testing.assert_array_equal(
        pairwise_distances([Z[1]], X, AUTO, weight=w), pairwise_distances([Z[1]], X, weighted, weight=w)
    )
    model = PairwiseDistances("adtw", metric_params={"omega": "auto"}).fit(X)
    np.testing.assert_array_equal(model.transform(Z), pairwise_distances(Z, X, fixed))
    classifier = KNeighborsTimeSeriesClassifier(AUTO).fit(X, [0, 1, 1])
    np.testing.assert_array_equal(classifier.kneighbors(Z)[0], nearest_neighbors(Z, X, fixed).distances)
    queries = ShapeletTransform(AUTO, queries=[X[0]]).fit(Z)
    assert queries.metric_.omega_ == pytest.approx(OMEGA * X[0].var())
    want = ShapeletTransform(ADTW(omega=queries.metric_.omega_), queries=[X[0]]).fit(Z)
    np.testing.assert_array_equal(queries.transform(Z), want.transform(Z))


@pytest.mark.slow
def test_the_name_means_auto_in_segmentations_alone():
    assert QuerySegmenter().metric == "adtw"
    assert QuerySegmenter("adtw", metric_params={"omega": 0.25}).fit(X[0]).metric_ == ADTW(omega=0.25)
    assert QuerySegmenter().set_params(metric__omega=0.25).metric == ADTW(omega=0.25)
    assert QuerySegmenter(ADTW()).fit(X[0]).metric_ == QuerySearcher("adtw").fit(X[0]).metric_ == ADTW(omega=1.0)
    assert PairwiseDistances("adtw").fit(X).metric_ == get_metric("adtw") == ADTW() == ADTW(omega=1.0)
    entry = get_distance_dict(["adtw"])
    assert entry["elastic"]["Amerced Dynamic Time Warping"]["parameters"] == {"omega": 1.0}
    entry["elastic"]["Amerced Dynamic Time Warping"]["parameters"] = {"omega": "auto"}
    distance, _ = elastic_search(entry, X[0], np.tile(X[0], 3))
    want = QuerySearcher(AUTO, candidates=Subsequences(min_length=None)).fit(X[0]).profile(np.tile(X[0], 3)).distance
    np.testing.assert_array_equal(distance, want)


def test_results_have_the_metric_that_was_fixed():
    y = np.concatenate([np.zeros(4), X[0], np.zeros(5), 2 * X[0], np.zeros(4)])
    fixed = ADTW(omega=OMEGA * X[0].var())
    cost = QuerySegmenter(fixed).fit(X[0]).background_
    segments, want = (QuerySegmenter(one, background=cost).fit(X[0]).segment(y) for one in ("adtw", fixed))
    matches, same = (QuerySearcher(metric, n_matches=2).fit(X[0]).search(y) for metric in (AUTO, fixed))
    for got, expect in ((segments, want), (matches, same)):
        assert len(got) == 2
        for k in range(2):
            np.testing.assert_array_equal(got.path(k), expect.path(k))
    np.testing.assert_array_equal(segments.cost, want.cost)
    np.testing.assert_array_equal(matches.distance, same.distance)
    refined = QuerySegmenter(learning=Learning(refine=2)).fit(X[0])
    refined.segment(y)
    assert refined.metric_.omega_ == pytest.approx(fixed.omega)  # of the fitted query, not of a recording's average


def test_fitted_again_cloned_pickled_and_searched_over_a_grid():
    segmenter = QuerySegmenter().fit(X[0])
    assert segmenter.fit(10 * X[0]).metric_.omega_ == pytest.approx(100 * OMEGA * X[0].var())
    assert not hasattr(clone(segmenter), "metric_")
    assert pickle.loads(pickle.dumps(segmenter)).metric_ == segmenter.metric_
    fixed = ADTW(omega="auto").fit([X[0]])
    assert clone(fixed).omega_ == fixed.omega_
    assert QuerySegmenter(fixed).fit(10 * X[0]).metric_.omega_ == fixed.omega_  # a fitted one stays as it is
    y = np.tile(np.concatenate([np.zeros(6), X[0]]), 8)
    labels = np.tile(np.repeat([0, 1], [6, 4]), 8)
    search = GridSearchCV(QuerySegmenter(query=X[0]), {"metric__omega": ["auto", 0.0, 0.5]}, cv=2)
    search.fit(y[:, np.newaxis], labels)
    assert search.cv_results_["mean_test_score"].max() == 1.0
    assert search.get_params()["estimator__metric"] == "adtw"


def test_learned_from_labels_and_from_the_recording_it_is_that_of_the_queries():
    rng = np.random.default_rng(0)
    ranges = np.array([[k * 12 + 4, k * 12 + 10] for k in range(5)])
    y = rng.normal(size=(70, 1)) * 0.1
    for s, e in ranges:
        y[s:e, 0] += [0, 1, 3, 2, 1, 0]
    labels = labels_from_events(ranges, n_samples=70)
    for estimator in (QuerySegmenter(), QuerySearcher(AUTO)):
        fitted = estimator.fit(y, labels)
        assert fitted.weight_ is not None
        assert fitted.metric_.omega_ == pytest.approx(expected(fitted.query_, fitted.weight_))
        assert all(how.metric is fitted.metric_ for how in fitted._queries)
    fitted = QuerySegmenter(query="auto").fit(y)
    assert fitted.metric_.omega_ == pytest.approx(expected(fitted.query_) / 2)  # its lengths are bounded

"""Searches over parameters of searchers and segmenters: splits, scorers, metadata."""

import pickle

import numba
import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from inputs import refused
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

from sktslib import QuerySearcher, QuerySegmenter, load_ecg_example
from sktslib.distances import DTW, LCSS, TWED, Euclidean
from sktslib.metrics import EventScorer, boundary_error, event_f1_score, segmentation_covering
from sktslib.model_selection import BlockedSeriesSplit, query_sequence_split

ECG = load_ecg_example()
N = 600 if numba.config.DISABLE_JIT else 1200
QUERY, SEQUENCE, WEIGHT, TS = ECG["query"], ECG["sequence"][:N], ECG["weight"], ECG["ts"][:N]


def beat_labels():
    labels = np.zeros(len(SEQUENCE), int)
    for beat in ECG["beats"][(ECG["beat_kinds"] == "N") & (ECG["beats"] < N)]:
        labels[max(0, beat - 20) : beat + 40] = 1 + (labels[max(0, beat - 21)] == 1)
    return labels


LABELS = beat_labels()
COLUMN = SEQUENCE[:, np.newaxis]


# ------------------------------------------------------------------------------------------------------------ splits
@given(st.integers(4, 40), st.integers(2, 4), st.integers(0, 2))
def test_blocks(n, n_splits, gap):
    split = BlockedSeriesSplit(n_splits, gap=gap)
    assert split.get_n_splits() == n_splits
    try:
        parts = list(split.split(np.zeros((n, 2))))
    except ValueError as error:
        assert "must leave training and test samples" in str(error)
        assert n <= n_splits + 2 * gap + n // n_splits
        return
    assert np.concatenate([test for _, test in parts]).tolist() == list(range(n))
    assert np.ptp([len(test) for _, test in parts]) <= 1
    for train, test in parts:
        far = [t for t in range(n) if t < test[0] - gap or t > test[-1] + gap]
        assert train.tolist() == far


@pytest.mark.parametrize("arguments", [{"n_splits": 1}, {"n_splits": 2.5}, {"gap": -1}])
def test_wrong_splits(arguments):
    with pytest.raises((ValueError, TypeError), match="of BlockedSeriesSplit must be an integer"):
        BlockedSeriesSplit(**arguments)


def test_query_split_fits_on_the_query_and_tests_on_the_sequence():
    X = np.concatenate([QUERY, SEQUENCE])
    y = np.concatenate([np.zeros(65, int), LABELS])
    grid = {"metric": [DTW(), LCSS(eps=0.2), Euclidean()], "n_matches": [6, 12]}
    cv = query_sequence_split(QUERY, SEQUENCE)
    search = GridSearchCV(QuerySearcher(query=QUERY), grid, cv=cv, refit=False)
    search.fit(X[:, np.newaxis], y)
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        matches = QuerySearcher(**params).fit(QUERY).search(SEQUENCE)
        assert score == event_f1_score(LABELS, np.column_stack([matches.start, matches.end]))
    assert search.best_params_["n_matches"] == 12
    # Labels of one value say nothing of where the query lies.
    with pytest.raises(ValueError, match=r"'y' must have at least two distinct labels.* Got 0 for all 65 time points"):
        GridSearchCV(QuerySearcher(), grid, cv=cv, error_score="raise").fit(X[:, np.newaxis], y)


# ----------------------------------------------------------------------------------------------------------- searches
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (QuerySearcher("dtw", n_matches=None), {"metric__alpha": [0.5, 1.0], "threshold": [0.5, 3.0]}),
        (QuerySearcher("lcss", n_matches=12), {"metric__eps": [0.1, 0.3], "weight": [None, WEIGHT]}),
        (QuerySearcher(n_matches=12), {"metric": ["correlation", Euclidean()], "normalize": [None, "zscore"]}),
        (QuerySegmenter("dtw"), {"metric": ["dtw", "twed", "euclidean"], "background": ["auto", 0.01]}),
    ],
)
def test_every_parameter_is_a_key(estimator, grid):
    estimator = estimator.set_params(query=QUERY)
    search = GridSearchCV(estimator, grid, cv=BlockedSeriesSplit(3)).fit(COLUMN, LABELS)
    one = search.cv_results_["params"][-1]
    again = clone(estimator).set_params(**one).fit(COLUMN)
    scores = [again.score(COLUMN[test], LABELS[test]) for _, test in BlockedSeriesSplit(3).split(COLUMN)]
    assert search.cv_results_["mean_test_score"][-1] == pytest.approx(np.mean(scores))


# ------------------------------------------------------------------------------------------------------------ scorers
def test_scorers_compare_ranges():
    searcher = QuerySearcher("dtw", n_matches=12).fit(QUERY)
    matches = searcher.search(SEQUENCE)
    ranges = np.column_stack([matches.start, matches.end])
    assert EventScorer(event_f1_score, tolerance=5)(searcher, SEQUENCE, LABELS) == event_f1_score(
        LABELS, ranges, tolerance=5
    )
    error = EventScorer(boundary_error, greater_is_better=False)
    assert error(searcher, SEQUENCE, LABELS) == -boundary_error(LABELS, ranges)
    pipe = make_pipeline(StandardScaler(), QuerySearcher("dtw", query=QUERY, n_matches=12)).fit(COLUMN)
    inner = pipe[-1].search(pipe[0].transform(COLUMN))
    want = segmentation_covering(LABELS, np.column_stack([inner.start, inner.end]))
    assert EventScorer(segmentation_covering)(pipe, COLUMN, LABELS) == want
    scorers = {"f1": EventScorer(event_f1_score), "labels": make_scorer(event_f1_score)}
    search = GridSearchCV(
        QuerySegmenter(query=QUERY), {"metric": ["dtw", "twed"]}, scoring=scorers, refit="f1", cv=BlockedSeriesSplit(2)
    ).fit(COLUMN, LABELS)
    assert search.cv_results_["mean_test_f1"].max() > 0.8
    again = pickle.loads(pickle.dumps(EventScorer(event_f1_score, tolerance=2)))
    assert repr(again) == "EventScorer(event_f1_score, tolerance=2)"


def test_repetitions_end_to_end_stay_apart():
    recording = np.tile([0.0, 1.0, 2.0, 0.0], 3)
    y = np.repeat([1, 2, 1], 4)
    segmenter = QuerySegmenter("euclidean").fit([0.0, 1.0, 2.0, 0.0])
    assert EventScorer(event_f1_score)(segmenter, recording, y) == 1.0
    assert event_f1_score(y, segmenter.predict(recording)) < 1.0


def test_scorers_refuse_what_finds_nothing():
    with pytest.raises(TypeError, match="EventScorer needs an estimator with 'search' or 'segment'"):
        EventScorer(event_f1_score)(KNeighborsClassifier(), COLUMN, LABELS)
    refused(lambda: EventScorer("f1"), "The 'score' parameter of EventScorer must be callable", error=TypeError)


# -------------------------------------------------------------------------------------------- pipelines and metadata


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_weights_and_times_are_routed(routing):
    scaled, sequence = (StandardScaler().fit(QUERY[:, np.newaxis]).transform(a) for a in (QUERY[:, np.newaxis], COLUMN))
    searcher = QuerySearcher(TWED(nu=0.1)).set_fit_request(weight=True, times=True).set_score_request(times=True)
    pipe = make_pipeline(StandardScaler(), searcher).fit(QUERY[:, np.newaxis], weight=WEIGHT, times=ECG["tq"])
    want = QuerySearcher(TWED(nu=0.1)).fit(scaled, weight=WEIGHT, times=ECG["tq"])
    np.testing.assert_array_equal(pipe[-1].weight_, want.weight_)
    got = pipe[-1].profile(sequence, times=TS).distance
    np.testing.assert_array_equal(got, want.profile(sequence, times=TS).distance)
    pipe = make_pipeline(StandardScaler(), QuerySearcher("dtw").set_fit_request(weight=True))
    pipe.fit(QUERY[:, np.newaxis], weight=WEIGHT)
    want = QuerySearcher("dtw").fit(scaled, weight=WEIGHT).search(sequence)
    score = event_f1_score(LABELS, np.column_stack([want.start, want.end]))
    assert EventScorer(event_f1_score)(pipe, COLUMN, LABELS) == pipe.score(COLUMN, LABELS) == score
    weighed = QuerySearcher(query=QUERY, n_matches=12).set_fit_request(weight=True)
    search = GridSearchCV(weighed, {}, cv=BlockedSeriesSplit(2)).fit(COLUMN, LABELS, weight=WEIGHT)
    np.testing.assert_array_equal(search.best_estimator_.weight_[:, 0], WEIGHT / WEIGHT.max())


def test_searches_route_times_of_queries_and_of_recordings(routing):
    """A fixed query has times of its own, which a split leaves whole; those of the recording are split with it."""
    irregular = np.cumsum(0.01 + 0.005 * np.sin(np.arange(len(SEQUENCE))))
    searcher = QuerySearcher(TWED(nu=10.0), query=QUERY, n_matches=6)
    searcher.set_fit_request(times="query_times").set_score_request(times=True)
    scorers = {
        "f1": EventScorer(event_f1_score).set_score_request(times=True),
        "cover": EventScorer(segmentation_covering).set_score_request(times="times"),
    }
    times = {"query_times": ECG["tq"], "times": irregular}
    split = BlockedSeriesSplit(2)
    by_default = GridSearchCV(searcher, {}, cv=split, error_score="raise").fit(COLUMN, LABELS, **times)
    search = GridSearchCV(searcher, {}, cv=split, scoring=scorers, refit="f1", error_score="raise")
    search.fit(COLUMN, LABELS, **times)
    want = {"f1": [], "cover": []}
    for train, test in split.split(COLUMN):
        found = clone(searcher).fit(COLUMN[train], times=ECG["tq"]).search(COLUMN[test], times=irregular[test])
        ranges = np.column_stack([found.start, found.end])
        want["f1"].append(event_f1_score(LABELS[test], ranges))
        want["cover"].append(segmentation_covering(LABELS[test], ranges))
    for name, scores in want.items():
        assert search.cv_results_[f"mean_test_{name}"][0] == pytest.approx(np.mean(scores))
    assert by_default.best_score_ == pytest.approx(np.mean(want["f1"]))


def test_transformers_are_routed_times(routing):
    index = pd.to_datetime(ECG["tq"], unit="s")
    timed = QuerySearcher(TWED(nu=0.1), query=pd.DataFrame({"ecg": QUERY}, index=index))
    timed.set_fit_request(times=True).set_transform_request(times=True)
    plain = QuerySearcher("euclidean", query=QUERY[:30])
    plain.set_fit_request(times=False).set_transform_request(times=False)
    ts = TS**1.01
    union = FeatureUnion([("timed", timed), ("plain", plain)])
    got = union.fit_transform(COLUMN, times=pd.to_datetime(ts, unit="s"))
    want = QuerySearcher(TWED(nu=0.1)).fit(QUERY, times=ECG["tq"]).transform(COLUMN, times=ts)
    np.testing.assert_allclose(got[:, :1], want, rtol=1e-6)  # dates know nanoseconds
    np.testing.assert_array_equal(got[:, 1:], QuerySearcher("euclidean").fit(QUERY[:30]).transform(COLUMN))
    learned = QuerySearcher(TWED(nu=0.1)).set_fit_request(times=True).set_transform_request(times=True)
    got = make_pipeline(learned, KNeighborsClassifier(1)).fit(COLUMN, LABELS, times=ts)
    want = QuerySearcher(TWED(nu=0.1)).fit(COLUMN, LABELS, times=ts)
    np.testing.assert_array_equal(got[0].transform(COLUMN, times=ts), want.transform(COLUMN, times=ts))
    assert (got.predict(COLUMN, times=ts) == LABELS).mean() > 0.9


@pytest.mark.parametrize("estimator", [QuerySearcher(), QuerySegmenter()])
def test_scores_know_no_weights_of_time_points(estimator):
    with pytest.raises(ValueError, match="The 'sample_weight' parameter must be None"):
        estimator.fit(QUERY).score(SEQUENCE, LABELS, sample_weight=LABELS)

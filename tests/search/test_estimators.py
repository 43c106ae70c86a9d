"""QuerySearcher and QuerySegmenter as scikit-learn estimators."""

import pickle

import numba
import numpy as np
import pytest
from inputs import refused
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from strategies import long_without_compiler

from sktslib import QuerySearcher, QuerySegmenter, load_ecg_example
from sktslib.distances import DTW, LCSS, TWED, Euclidean, dtw, get_metric
from sktslib.metrics import event_f1_score
from sktslib.search import (
    ChannelPlan,
    Conformal,
    FalseDiscoveryRate,
    Learning,
    Normalization,
    Percentile,
    Subsequences,
    Windows,
)

ECG = load_ecg_example()
QUERY, SEQUENCE, WEIGHT = ECG["query"], ECG["sequence"], ECG["weight"]
SOME = 300 if numba.config.DISABLE_JIT else len(SEQUENCE)


def beat_labels():
    """Labels per time point: each normal beat an event of the query's length around its R peak."""
    labels = np.zeros(len(SEQUENCE), int)
    for k, beat in enumerate(ECG["beats"][ECG["beat_kinds"] == "N"]):
        labels[max(0, beat - 20) : beat + 40] = 1 + k % 2
    return labels


@long_without_compiler
@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "dtw", "candidates": Subsequences(min_length=None)},
        {"metric": "euclidean", "candidates": Windows((0.9, 1.1))},
    ],
)
def test_transform_is_causal(parameters):
    searcher = QuerySearcher(**parameters).fit(QUERY)
    whole = searcher.transform(SEQUENCE)
    assert whole.shape == (len(SEQUENCE), 1)
    assert np.isfinite(whole).all()
    part = searcher.transform(SEQUENCE[:700])
    known = slice(len(QUERY) - 1, 700)
    np.testing.assert_array_equal(part[known], whole[known])


def test_transform_fills_rows_without_a_candidate():
    out = QuerySearcher("euclidean").fit([0, 1, 0]).transform([0, 1, 0, 3, 0])
    profile = QuerySearcher("euclidean").fit([0, 1, 0]).profile([0, 1, 0, 3, 0]).distance
    np.testing.assert_array_equal(out[:, 0], [profile.max(), profile.max(), *profile])
    none = QuerySearcher(LCSS(eps=0.1)).fit([0, 1]).transform([5, 6])
    np.testing.assert_array_equal(none, [[0], [0]])


def test_predict_gives_ranks_and_the_better_one_wins():
    searcher = QuerySearcher("euclidean", n_matches=2, max_overlap=0.5).fit([1, 2, 3])
    labels = searcher.predict([0, 1, 2, 3, 3, 5, 0])
    matches = searcher.search([0, 1, 2, 3, 3, 5, 0])
    assert list(matches.start) == [1, 3] or list(matches.start) == [1, 2]
    assert (labels[1:4] == 1).all()
    second = np.arange(matches.start[1], matches.end[1])
    assert (labels[second[second >= 4]] == 2).all()
    assert labels[0] == 0


@long_without_compiler
def test_score_is_the_event_f1():
    searcher = QuerySearcher("dtw", n_matches=12).fit(QUERY, weight=WEIGHT)
    matches = searcher.search(SEQUENCE)
    want = event_f1_score(beat_labels(), np.column_stack([matches.start, matches.end]))
    assert searcher.score(SEQUENCE, beat_labels()) == want > 0.9
    segmenter = QuerySegmenter("twed").fit(QUERY, weight=WEIGHT)
    segments = segmenter.segment(SEQUENCE)
    want = event_f1_score(beat_labels(), np.column_stack([segments.start, segments.end]))
    assert segmenter.score(SEQUENCE, beat_labels()) == want > 0.9
    labels = segmenter.predict(SEQUENCE)
    assert set(labels) == {0, 1}
    assert labels.sum() == (segments.end - segments.start).sum()


# -------------------------------------------------------------------------------------------------- parameter objects
OBJECTS = {
    Windows(scales=(0.5, 2)): "candidates",
    Subsequences(max_length=9): "candidates",
    Normalization("zscore", scale_limits=(0.5, 2)): "normalize",
    Percentile(5): "threshold",
    ChannelPlan(lag=[0, 3]): "channels",
    Learning(refine=2): "learning",
}


@pytest.mark.parametrize(("one", "name"), OBJECTS.items(), ids=lambda one: type(one).__name__)
def test_parameter_objects_are_cloned_pickled_and_shown(one, name):
    estimator = (QuerySegmenter if name == "learning" else QuerySearcher)(**{name: one})
    copies = clone(estimator), pickle.loads(pickle.dumps(estimator))
    for held in (clone(one), pickle.loads(pickle.dumps(one)), *(getattr(copy, name) for copy in copies)):
        assert type(held) is type(one) and held is not one and held.get_params() == one.get_params()
    assert repr(one) in repr(estimator) and eval(repr(one)).get_params() == one.get_params()
    assert {f"{name}__{key}" for key in one.get_params()} < set(estimator.get_params())


@pytest.mark.parametrize(
    ("params", "short"),
    [
        ({"candidates": Windows()}, {"candidates": "windows"}),
        ({"candidates": Subsequences()}, {"candidates": "subsequence"}),
        ({"normalize": Normalization("zscore")}, {"normalize": "zscore"}),
        ({"normalize": Normalization()}, {"normalize": None}),
        ({"threshold": Percentile(5)}, {"threshold": "percentile:5"}),
    ],
    ids=str,
)
def test_short_forms_stand_for_objects(params, short):
    query, sequence = QUERY[::4], SEQUENCE[:SOME:4]
    got, want = (QuerySearcher("dtw", **each).fit(query).search(sequence) for each in (params, short))
    assert list(got) == list(want) and len(got)
    assert list(QuerySegmenter(learning=Learning()).fit(query).segment(sequence)) == list(
        QuerySegmenter().fit(query).segment(sequence)
    )


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ({}, "candidates__scales", [1, 2], Windows([1, 2])),
        ({"candidates": "windows"}, "candidates__scales", [1, 2], Windows([1, 2])),
        ({}, "candidates__max_length", 9, Subsequences(max_length=9)),
        ({"candidates": Subsequences(3)}, "candidates__max_length", 9, Subsequences(3, 9)),
        ({"normalize": "mean"}, "normalize__offset_limit", 1.0, Normalization("mean", offset_limit=1.0)),
        ({}, "normalize__method", "mean", Normalization("mean")),
        ({}, "threshold__q", 5, Percentile(5)),
        ({"threshold": "percentile:3"}, "threshold__q", 5, Percentile(5)),
        ({"threshold": "fdr:0.1"}, "threshold__alpha", 0.2, FalseDiscoveryRate(0.2)),
        ({"threshold": "conformal:0.1"}, "threshold__alpha", 0.2, Conformal(0.2)),
        ({}, "channels__min_votes", 2, ChannelPlan(min_votes=2)),
        ({}, "learning__refine", 2, Learning(refine=2)),
    ],
)
def test_parameters_of_objects_are_set_from_short_forms(before, key, value, after):
    name = key.partition("__")[0]
    estimator = (QuerySegmenter if name == "learning" else QuerySearcher)(**before).set_params(**{key: value})
    assert repr(getattr(estimator, name)) == repr(after)


def test_grids_of_parameters_of_objects():
    y, how = beat_labels(), {"query": QUERY, "weight": WEIGHT, "n_matches": 12}
    searcher, split = QuerySearcher("dtw", **how), [(np.arange(65), np.arange(len(SEQUENCE)))]
    grid = {"candidates__max_length": [40, 90], "threshold__q": [0, 5]}
    found = GridSearchCV(searcher, grid, cv=split).fit(SEQUENCE, y).cv_results_
    for each, score in zip(found["params"], found["mean_test_score"], strict=True):
        candidates = Subsequences(max_length=each["candidates__max_length"])
        alone = QuerySearcher("dtw", candidates=candidates, threshold=Percentile(each["threshold__q"]), **how)
        assert score == alone.fit(SEQUENCE).score(SEQUENCE, y)
    assert len({*found["mean_test_score"]}) > 1
    assert searcher.candidates == "auto"  # what was given stays


@pytest.mark.parametrize(
    ("make", "words"),
    [
        # A key that several classes have, that another class has, that none has.
        (
            lambda: QuerySearcher().set_params(threshold__alpha=0.1),
            r"threshold=None.*Set threshold=FalseDiscoveryRate\(alpha=0.1\) or threshold=Conformal\(alpha=0.1\)\.",
        ),
        (lambda: QuerySearcher(threshold=3.0).set_params(threshold__q=5), r"=3.0 .* Set threshold=Percentile\(q=5\)"),
        (
            lambda: QuerySearcher(candidates="windows").set_params(candidates__min_length=5),
            r"candidates='windows' can mean. Set candidates=Subsequences\(min_length=5\)",
        ),
        (lambda: QuerySearcher(candidates=Windows()).set_params(candidates__min_length=5), "'min_length' .* Windows"),
        (lambda: QuerySearcher().set_params(candidates__most=5), r"Windows has \['scales'\]. Subsequences has \['max_"),
        # A wrong class, and a wrong value in the right one.
        (
            lambda: QuerySearcher(candidates=Learning()).fit(QUERY),
            "'candidates' parameter of QuerySearcher .* Windows or",
        ),
        (lambda: QuerySearcher(normalize=Windows()).fit(QUERY), "'normalize' parameter .* Normalization. Got Windows"),
        (lambda: QuerySearcher(threshold=Windows()).fit(QUERY), "'threshold' parameter .* Percentile.* Got Windows"),
        (
            lambda: QuerySearcher(channels=[0, 3]).fit(QUERY),
            r"'channels' parameter .* ChannelPlan or None. Got \[0, 3\]",
        ),
        (lambda: QuerySegmenter(learning=2).fit(QUERY), "'learning' parameter of QuerySegmenter .* Learning or None"),
        (lambda: QuerySegmenter(lengths=2).fit(QUERY), "'lengths' parameter of QuerySegmenter .* Got 2"),
        (lambda: QuerySegmenter(threshold="percentile:2").fit(QUERY), "a segmentation has no profile"),
        (lambda: QuerySearcher(candidates=Windows(2)).fit(QUERY), "'scales' parameter of Windows .* Got 2"),
        (
            lambda: QuerySearcher(normalize=Normalization("z")).fit(QUERY),
            "'method' parameter of Normalization .* Got 'z'",
        ),
        (lambda: QuerySearcher(threshold="percentile:101").fit(QUERY), "'q' parameter of Percentile .* Got 101"),
        (lambda: QuerySegmenter(learning=Learning(0)).fit(QUERY), "'n_templates' parameter of Learning .* Got 0"),
        (lambda: QuerySearcher("euclidean", candidates=Subsequences()).fit(QUERY), "'subsequence' needs an elastic"),
        # Parameters that are those of an object now.
        (lambda: QuerySearcher(scales=[1, 2]), r"'scales'. Here it is candidates=Windows\(scales=\[1, 2\]\)"),
        (lambda: QuerySearcher(max_length=5), r"Here it is candidates=Subsequences\(max_length=5\)"),
        (lambda: QuerySearcher(scale_limits=(1, 2)), r"Here it is normalize=Normalization\(scale_limits=\(1, 2\)\)"),
        (lambda: QuerySegmenter(refine=2), r"Here it is learning=Learning\(refine=2\)"),
        (lambda: QuerySegmenter(min_length=2), "'min_length'. Did you mean 'lengths'"),
        (lambda: QuerySearcher().set_params(scales=[1, 2]), "'scales' .* Did you mean 'candidates__scales'"),
    ],
)
def test_what_parameter_objects_refuse(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_parameters_of_the_metric_are_parameters_of_the_estimator():
    searcher = QuerySearcher("dtw", metric_params={"window": 0.5}).set_params(metric__alpha=0.25)
    assert searcher.metric == DTW(alpha=0.25, window=0.5)
    assert searcher.metric_params is None
    searcher.set_params(metric=LCSS(), metric__eps=0.5)
    assert searcher.metric == LCSS(eps=0.5)
    refused(lambda: QuerySearcher("dtw").set_params(metric__alfa=0.5), "Invalid parameter 'alfa'")


def test_output_in_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"ecg": SEQUENCE, "slope": np.gradient(SEQUENCE)})
    searcher = QuerySearcher("dtw", query=np.column_stack([QUERY, np.gradient(QUERY)]))
    out = searcher.set_output(transform="polars").fit_transform(frame)
    assert isinstance(out, polars.DataFrame)
    assert out.columns == ["querysearcher0"]
    np.testing.assert_array_equal(out.to_numpy(), clone(searcher).fit(frame.to_numpy()).transform(frame.to_numpy()))
    assert len(QuerySegmenter().fit(frame[:65]).predict(frame)) == 1200


def test_paths_asked_for_later_are_those_of_the_time_of_the_call():
    x, y, sequence = QUERY.copy(), SEQUENCE[20:100].copy(), SEQUENCE.copy()
    alignment, matches = dtw(x, y), QuerySearcher("dtw", n_matches=2).fit(x).search(sequence)
    want = dtw(QUERY, SEQUENCE[20:100]).path, QuerySearcher("dtw", n_matches=2).fit(QUERY).search(SEQUENCE).path(1)
    windows = QuerySearcher("euclidean").fit(x).search(sequence)
    cost = windows.explain(0).cost.copy()
    x[:], y[:], sequence[:] = 0.0, 0.0, 0.0
    np.testing.assert_array_equal(alignment.path, want[0])
    np.testing.assert_array_equal(matches.path(1), want[1])
    np.testing.assert_array_equal(windows.explain(0).cost, cost)


def test_metric_objects_compare_by_their_parameters():
    assert DTW(alpha=0.5) == DTW(alpha=0.5) != DTW(alpha=0.6)
    assert hash(DTW(alpha=0.5)) == hash(DTW(alpha=0.5))
    assert get_metric("Time Warp Edit Distance") == get_metric("twed") == get_metric(TWED) == TWED()
    assert get_metric(LCSS(eps=0.5), {"window": 0.1}) == LCSS(eps=0.5, window=0.1)
    assert get_metric("cityblock").name == "manhattan"
    assert clone(Euclidean()) == Euclidean()


def test_callables_take_weights_where_they_can():
    def weighted(x, y, weight=None):
        return float(((1 if weight is None else weight) * np.abs(x - y)).sum())

    got = QuerySearcher(weighted).fit(QUERY, weight=WEIGHT).profile(SEQUENCE[:100]).distance
    want = QuerySearcher("manhattan").fit(QUERY, weight=WEIGHT).profile(SEQUENCE[:100]).distance
    np.testing.assert_allclose(got, want)
    labels = beat_labels() > 0
    learned = QuerySearcher(lambda x, y: float(np.abs(x - y).sum()), n_matches=None).fit(
        SEQUENCE[:, np.newaxis], labels
    )
    assert learned.weight_ is None
    assert learned.score(SEQUENCE[:, np.newaxis], labels) > 0.9


def test_parameters_of_callables_are_their_arguments():
    def power(x, y, p=1):
        return float((np.abs(x - y) ** p).sum())

    assert get_metric(power, {"p": 2})([0, 1], [0, 3]) == 4.0
    refused(lambda: get_metric(power, {"q": 2})([0, 1], [0, 3]), "unexpected keyword argument 'q'", error=TypeError)
    assert get_metric(lambda x, y, **rest: rest["q"], {"q": 2})([0], [1]) == 2.0
    assert get_metric(max, {"key": len}).parameters == {"key": len}  # nobody can tell what it takes


def test_profiles_are_tables():
    profile = QuerySearcher("dtw").fit([0, 1]).profile([0, 1, 2])
    assert profile.to_frame()["distance"].tolist() == [match.distance for match in profile] == [1.0, 0.0, 1.0]


def test_query_auto_is_the_segmenters():
    with pytest.raises(ValueError, match=r"'query' parameter of QuerySearcher must be an array.*QuerySegmenter\(query"):
        QuerySearcher(query="auto").fit(SEQUENCE)

"""Input that cannot be meant: an error or a warning that points at the caller's line and says the way out."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from inputs import DTW_DICT, Q2, S2, Q, S, refused

from sktslib import QuerySearcher, QuerySegmenter, load_ecg_example, time_series_search, warmup
from sktslib import distances as d
from sktslib.distances import EDR, LCSS
from sktslib.neighbors import PairwiseDistances, ShapeletTransform
from sktslib.search import ChannelPlan, Subsequences
from sktslib.search.search_utils import elastic_search

pytestmark = pytest.mark.usefixtures("_nothing_is_printed")

RNG = np.random.default_rng(5)
ECG = load_ecg_example()
BEAT, RECORDING = np.asarray(ECG["query"])[10:40], np.asarray(ECG["sequence"])[:400]
COUNTS = np.round(200 * RECORDING)  # as a converter of 200 steps per millivolt gives them
WALK = RNG.normal(size=(3, 4, 50)).cumsum(axis=2)  # (n_series, channels, length)
FIRST = "channels_first=True"
equal = np.testing.assert_array_equal


def warned(call, *parts):
    """What a call returns that gives one warning, which holds some words and points at this file."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = call()
    assert len(told) >= 1
    for one in told:
        assert one.filename == __file__
        assert issubclass(one.category, UserWarning)
        assert all(part in str(one.message) for part in parts), str(one.message)
        assert "\n" not in str(one.message)
    return result


# --------------------------------------------------------------------------------------------------------- labels
@pytest.mark.parametrize("cls", [QuerySearcher, QuerySegmenter])
def test_labels_of_one_value(cls):
    for y, got in (
        (np.zeros(8), "Got 0.0 for all 8"),
        (["walk"] * 8, "Got 'walk' for all 8"),
        (np.ones(8, bool), "True"),
    ):
        message = refused(lambda y=y: cls().fit(Q[:, None], y), "'y' must have at least two distinct", got)
        assert "leave out 'y'" in message
    # One time point, no run of two samples, a query that is given: as ever.
    assert cls().fit(Q[:1, None], [3]).query_.shape == (1, 1)
    words = "'y' should mark occurrences from their first sample to their last", "Got none in 4 label(s) of a class"
    alternating = warned(lambda: cls().fit(Q[:, None], np.arange(8) % 2 * 3), *words, "all of X is the query")
    assert alternating.query_.shape == (8, 1)
    assert cls(query=Q[:5]).fit(Q[:, None], np.zeros(8)).query_.shape == (5, 1)


# ---------------------------------------------------------------------------------------------------- collections
@pytest.mark.parametrize("given", [WALK, list(WALK)], ids=["array", "list"])
def test_collections_with_their_channels_first(given):
    last = np.ascontiguousarray(WALK.transpose(0, 2, 1))
    want = d.pairwise_distances(last)
    equal(d.pairwise_distances(given, channels_first=True), want)
    equal(d.pairwise_distances(given, given[:2], channels_first=True), want[:, :2])
    equal(d.nearest_neighbors(given, channels_first=True).distances[0], want[0][want[0] > 0].min())
    center = d.barycenter(last, init=last[1], max_iter=3)
    assert center.shape == (50, 4)
    equal(d.barycenter(given, init=WALK[1], max_iter=3, channels_first=True), center.T)
    assert d.GAK().fit(given, channels_first=True).sigma_ == d.GAK().fit(last).sigma_
    equal(d.Mahalanobis().fit(WALK[:, :, :5], channels_first=True).VI_, d.Mahalanobis().fit(last[:, :5]).VI_)
    # One channel needs no axis.
    equal(d.pairwise_distances(WALK[:, 0], channels_first=True), d.pairwise_distances(WALK[:, 0]))
    frame = pd.DataFrame({"a": list(WALK[:, 0]), "b": list(WALK[:, 1])})
    equal(d.pairwise_distances(frame, channels_first=True), d.pairwise_distances(last[:, :, :2].copy()))


def test_series_of_one_point_are_refused():
    one = WALK[:, :1]
    for given, shape in ((one, "shape (3, 1, 50)"), (list(one), "shape (1, 50) of the first")):
        for call in (
            lambda given=given: d.pairwise_distances(given),
            lambda given=given: d.nearest_neighbors(given),
            lambda given=given: d.barycenter(given),
            lambda given=given: PairwiseDistances().fit(given),
            lambda given=given: ShapeletTransform().fit(given),
        ):
            refused(call, "'X' must hold series of more than one point", "one point and 50", shape, FIRST)
    assert d.pairwise_distances(one, channels_first=False).shape == (3, 3)
    assert d.pairwise_distances(WALK[:, :1, :1]).shape == (3, 3)  # one point of one channel
    ragged = [WALK[0], WALK[1, :, :30], WALK[2, :, :20]]
    refused(lambda: d.pairwise_distances(ragged), "'X' must hold one number of channels. Got 20 to 50", FIRST)
    equal(d.pairwise_distances(ragged, channels_first=True), d.pairwise_distances([x.T for x in ragged]))
    few = [WALK[0], WALK[1, :3]]
    refused(lambda: d.pairwise_distances(few, channels_first=True), "channels as X[0], 4. Got 3, shape (3, 50)")
    refused(lambda: d.pairwise_distances(WALK, WALK[:, :3], channels_first=True), "'Y[0]' must have as many")
    for call in (lambda: d.pairwise_distances(WALK, channels_first="no"), lambda: d.GAK().fit(WALK, channels_first=1)):
        refused(call, "The 'channels_first' parameter must be True or False", error=TypeError)


def test_more_channels_than_points_are_told_once():
    words = "more channels than points: 50 channels of 4 points, shape", FIRST, "channels_first=False"
    for call in (d.pairwise_distances, d.nearest_neighbors, d.barycenter, PairwiseDistances().fit):
        warned(lambda call=call: call(WALK), *words)
        warned(lambda call=call: call(list(WALK)), *words)
    fitted = warned(lambda: PairwiseDistances().fit(WALK), *words)
    last = WALK.transpose(0, 2, 1)
    fitted.transform(WALK)  # as what was fitted
    refused(lambda: fitted.transform(last), "as many channels as the fitted collection, 50. Got 4", "axis 1")
    PairwiseDistances(channels_first=False).fit(WALK)
    d.pairwise_distances(WALK, channels_first=False)
    # One series is long enough: the channels are meant.
    d.pairwise_distances([WALK[0, :, :3].T, WALK[1, :, :9].T])


# ------------------------------------------------------------------------------------------------------- searches
def test_queries_longer_than_the_sequence():
    words = "The query should not be longer than the sequence. Got 30 and 8 points", "Swap the two"
    fitted = QuerySearcher().fit(S)
    for call in (fitted.search, fitted.profile, fitted.transform, fitted.predict):
        warned(lambda call=call: call(Q), *words)
    warned(lambda: QuerySearcher(n_jobs=2).fit([S, S]).search([Q, Q]), *words)
    warned(lambda: QuerySearcher(n_jobs=2).fit([S, S]).transform(Q), *words)  # from threads
    warned(lambda: time_series_search(DTW_DICT, S, Q), *words)
    warned(lambda: elastic_search(DTW_DICT, S, Q), *words)
    warned(lambda: QuerySegmenter().fit(S).segment(Q), *words)
    warned(lambda: ShapeletTransform(queries=[S]).fit([Q, Q]).transform([Q, Q[:3]]), *words)
    # What is as long, what a stream has had so far, and a recording that may cut a repetition off.
    QuerySearcher().fit(Q).search(Q)
    QuerySearcher(threshold=1.0).fit(S).stream().update(Q)
    QuerySegmenter(partial=True).fit(Q).segment(Q[:5])
    ShapeletTransform().fit([Q, Q[:3]]).transform([Q, Q[:3]])


def test_matches_longer_than_the_sequence():
    for estimator, name in (
        (QuerySearcher(candidates=Subsequences(min_length=100)), "search"),
        (QuerySegmenter(lengths=(100, None)), "segment"),
    ):
        call = partial(getattr(estimator.fit(Q), name), S)
        assert len(warned(call, "Nothing is found: ", " is 100, and the sequence has 30 samples. Lower it to at")) == 0


def test_sequences_at_another_level_than_the_query():
    words = "The query should have values in common with the sequence. Those of the query are between"
    ways_out = "subtract it from both first", "normalize='mean' in a search"
    for metric in ("dtw", "euclidean", "twed"):
        for offset in (1e8, -1e8, 30.0):
            fitted = QuerySearcher(metric).fit(Q)
            warned(lambda fitted=fitted, offset=offset: fitted.search(S + offset), words, *ways_out)
    warned(lambda: QuerySegmenter().fit(Q).segment(S + 1e8), words, *ways_out)
    warned(lambda: time_series_search(DTW_DICT, Q, S + 1e8), words, *ways_out)
    both, moved = np.column_stack([S, S]), np.column_stack([S, S + 1e8])
    fitted = QuerySearcher().fit(np.column_stack([Q, Q]))
    fitted.search(both)
    warned(lambda: fitted.search(moved), "In channel 1 those of the query are between", *ways_out)
    lags = {"metric": "euclidean", "channels": ChannelPlan(lag=[0, 1])}
    warned(lambda: QuerySearcher(**lags).fit(np.column_stack([Q, Q])).search(moved), "In channel 1 those")
    # Where the level does not count, the values lie side by side, some are missing, or the distance is a feature.
    QuerySearcher("dtw", normalize="mean").fit(Q).search(S + 1e8)
    QuerySearcher("ddtw").fit(Q).search(S + 1e8)
    QuerySearcher("correlation").fit(Q).search(S + 1e8)
    QuerySearcher().fit(Q).search(S + (Q.max() - S.min()) + 1e-3)
    QuerySearcher(nan_policy="omit").fit(Q).search(np.where(np.arange(len(S)) == 3, np.nan, S))
    ShapeletTransform(queries=[Q]).fit([S]).transform([S + 1e8])


def test_queries_of_which_normalization_leaves_nothing():
    words = "The query should vary where normalize='{}'. Its {} is 0 in every channel", "normalize='mean'"
    spike = np.eye(9)[4]
    for how, spread, x in (
        ("zscore", "deviation", np.ones(5)),
        ("minmax", "range", np.ones((5, 2))),
        ("robust", "median deviation", spike),
    ):
        told = words[0].format(how, spread), words[1]
        warned(lambda x=x, how=how: QuerySearcher("euclidean", normalize=how).fit(x), *told)
        x = x.reshape(len(x), -1)
        warned(lambda x=x, how=how: ShapeletTransform("euclidean", queries=[x], normalize=how).fit([x, x]), *told)
    for how, x in (
        ("mean", np.ones(5)),
        (None, np.ones(5)),
        ("zscore", np.column_stack([np.ones(8), Q])),
        ("minmax", spike),
    ):
        QuerySearcher("euclidean", normalize=how).fit(x)
    weight = np.array([1.0, 1.0, 1.0, 0.0])
    warned(lambda: QuerySearcher(normalize="zscore").fit([2, 2, 2, 5], weight=weight), "Its deviation is 0")


# ------------------------------------------------------------------------------------------------- columns and names
def test_arrays_after_a_table():
    words = "X does not have valid feature names, but {} was fitted with feature names", "['a', 'b']"
    query, table = pd.DataFrame(Q2, columns=["a", "b"]), pd.DataFrame(S2, columns=["a", "b"])
    for cls, method in ((QuerySearcher, "search"), (QuerySearcher, "transform"), (QuerySegmenter, "segment")):
        fitted = cls().fit(query)
        call = getattr(fitted, method)
        warned(lambda call=call: call(S2), words[0].format(cls.__name__), words[1])
        call(table)
        with pytest.raises(ValueError, match=r"- B\n(?s:.*)Did you mean 'b'\?"):
            call(table.rename(columns={"b": "B"}))
        getattr(cls().fit(Q2), method)(table)
    warned(lambda: QuerySegmenter().fit(query).stream().update(S2), words[0].format("QuerySegmenter"))
    one = QuerySearcher().fit(query[["a"]])
    one.search(table["a"])
    warned(lambda: one.search(table["b"]), "['a']")
    matrix = PairwiseDistances().fit(pd.DataFrame(S2.T, columns=[f"t{k}" for k in range(30)]))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        matrix.transform(S2.T)


def test_columns_that_hold_no_numbers_are_named():
    table = pd.DataFrame({"time": pd.date_range("2024", periods=8), "x": Q, "y": Q, "act": list("aabbaabb")})
    message = refused(
        lambda: QuerySearcher().fit(table), "Select the columns of numbers, X[['x', 'y']]", error=TypeError
    )
    assert "Got dates in the column 'time' and text in the column 'act'" in message and "pass them as times" in message
    refused(lambda: QuerySearcher().fit(table[["x", "y"]]).search(table), "'time'", error=TypeError)
    polars = pytest.importorskip("polars")
    refused(lambda: d.dtw(polars.from_pandas(table), Q), "text in the column 'act'", "x[['x', 'y']]", error=TypeError)
    # polars would make numbers of dates beside numbers.
    for name, column in {"date": table["time"], "span": table["time"] - table["time"][0]}.items():
        frame = polars.DataFrame({name: column.to_numpy(), "x": Q, "y": Q})
        refused(lambda f=frame: QuerySearcher().fit(f), f"in the column '{name}'", "X[['x', 'y']]", error=TypeError)
    assert QuerySearcher().fit(frame[["x", "y"]]).n_features_in_ == 2
    labeled = pd.DataFrame(S.reshape(3, 10)).assign(label=list("aba"))
    refused(lambda: d.pairwise_distances(labeled), "text in the column 'label'", error=TypeError)
    cells = pd.DataFrame({"series": [Q, S], "name": ["a", "b"]})
    refused(lambda: PairwiseDistances().fit(cells), "text in the column 'name'", "X[['series']]", error=TypeError)
    assert d.pairwise_distances(cells[["series"]]).shape == (2, 2)


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: QuerySearcher(normalize="z-score").fit(Q), ["Did you mean 'zscore'? None means: values as they are."]),
        (lambda: QuerySearcher(normalize="none").fit(Q), ["Did you mean None? None means: values as they are."]),
        (lambda: QuerySearcher(n_matches="all").fit(Q), ["Got 'all'", "None means: as many as fit."]),
        (lambda: QuerySearcher(candidates="window").fit(Q), ["Did you mean 'windows'?"]),
        (lambda: QuerySearcher("l1").fit(Q), ["Unknown metric 'l1'. Did you mean 'manhattan'?"]),
        (lambda: d.get_metric("L-inf"), ["Did you mean 'chebyshev'?"]),
        (lambda: d.get_metric("Dynamic Time Waping"), ["Did you mean 'dtw'?"]),
        (lambda: d.DTW(window="sakoe")(Q, S), ["Did you mean 'sakoe-chiba'? None means: no band."]),
        (lambda: warmup(tasks="serch"), ["Unknown task 'serch'. Did you mean 'search'?"]),
        (lambda: d.pairwise_distances(S2, nan_policy="raises"), ["Did you mean 'raise'?"]),
        (lambda: QuerySearcher().set_params(metrik="dtw"), ["Invalid parameter 'metrik'", "Did you mean 'metric'?"]),
        (lambda: QuerySearcher(d.ADTW()).set_params(omega=1), ["Invalid parameter 'omega'", "mean 'metric__omega'?"]),
        (lambda: QuerySearcher("adtw").set_params(omega=1), ["A parameter of the metric would be 'metric__omega'."]),
        (lambda: QuerySearcher().set_params(metric__aplha=1), ["Invalid parameter 'aplha'", "Did you mean 'alpha'?"]),
    ],
)
def test_nearest_names(call, parts):
    refused(call, *parts)


# ------------------------------------------------------------------------------------------------------ named queries
def test_queries_by_name():
    named = {"beat": BEAT, "half": BEAT[:15].tolist()}
    plain = QuerySearcher(n_matches=2).fit(list(map(np.asarray, named.values())))
    for searcher in (QuerySearcher(n_matches=2).fit(named), QuerySearcher(n_matches=2, query=named).fit(RECORDING)):
        got, want = searcher.search(RECORDING), plain.search(RECORDING)
        assert got.label.tolist() == [list(named)[q] for q in want.query]
        assert "label" in got.to_frame()
        equal(got.distance, want.distance)
        assert searcher.get_feature_names_out().tolist() == ["querysearcher_beat", "querysearcher_half"]
        frame = searcher.set_output(transform="pandas").transform(RECORDING)
        assert list(frame.columns) == ["querysearcher_beat", "querysearcher_half"]
    assert plain.get_feature_names_out().tolist() == ["querysearcher0", "querysearcher1"]
    one = QuerySearcher(threshold=0.3, n_matches=None).fit({"beat": BEAT})
    assert one.query_.shape == (30, 1)
    assert set(one.search(RECORDING).label) == {"beat"}
    stream = one.stream()
    assert {*stream.update(RECORDING).label, *stream.flush().label} == {"beat"}
    assert not hasattr(one.fit(BEAT), "classes_")
    segmenter = QuerySegmenter("dtw").fit(named)
    segments = segmenter.segment(RECORDING)
    assert set(segments.label) == {"beat", "half"} == set(segmenter.classes_)
    assert set(segmenter.predict(np.append(RECORDING, np.full(20, 5.0)))) == {"", "beat", "half"}
    distances = ShapeletTransform(queries=named).fit([RECORDING, RECORDING])
    assert distances.get_feature_names_out().tolist() == ["shapelettransform_beat", "shapelettransform_half"]
    weighted = QuerySearcher().fit({1: [1, 2], 2: [1, 3]}, weight={2: [1, 2]})
    assert weighted.weight_[0] is None
    equal(weighted.weight_[1], [[0.5], [1.0]])
    refused(lambda: QuerySearcher().fit({"a": Q, "b": [1, np.nan]}), "In X['b']: 'X' must be finite")
    refused(lambda: QuerySearcher().fit({"a": Q, "b": None}), "X['b']", "Got None", error=TypeError)
    refused(lambda: QuerySearcher().fit({"a": Q}, np.zeros(8)), "one recording where 'y' is given. Got 1")
    refused(lambda: QuerySearcher().fit({"aa": Q, "b": Q}, weight={"aaa": Q}), "Did you mean 'aa'?")
    for wrong in ({}, {"": Q}, {"0": Q}, {1: Q, "a": Q}, {(1, 2): Q}):
        refused(lambda wrong=wrong: QuerySearcher().fit(wrong), "'X' as a dictionary must hold queries by")
    refused(lambda: one.search({"a": RECORDING}), "'X' must hold real numbers", error=TypeError)


# ----------------------------------------------------------------------------------------------------------------- eps
LARGE = "should be smaller than the distance of the points furthest apart", "every point matches every other"
SMALL = "should be at least 0.02 of the values' standard deviation", "set eps=0 if equal values alone"


@pytest.mark.parametrize("cls", [LCSS, EDR])
def test_eps_out_of_scale(cls):
    scored = (RECORDING - RECORDING.mean()) / RECORDING.std()
    # Counts: 1 is less than 2 % of their deviation; millivolts: 4 is more than their range.
    for eps, values, words in ((1.0, COUNTS, SMALL), (4.0, RECORDING, LARGE), (0.01, scored, SMALL)):
        metric, query, pieces = cls(eps=eps), values[25:80], list(values.reshape(5, 80))
        searcher, shapelets = QuerySearcher(metric).fit(query), ShapeletTransform(metric, queries=[query])
        for call, *given in (
            (searcher.search, values),
            (searcher.profile, values),
            (QuerySegmenter(metric).fit(query).segment, values),
            (d.pairwise_distances, pieces, None, metric),
            (d.nearest_neighbors, pieces, None, metric),
            (shapelets.fit(pieces[:2]).transform, pieces),
        ):
            warned(partial(call, *given), *words)
    for eps, values in ((20.0, COUNTS), (0.0, COUNTS), (1.0, RECORDING), (1.0, scored), (0.1, scored), (0.25, scored)):
        metric = cls(eps=eps)
        QuerySearcher(metric).fit(values[25:80]).search(values)
        d.pairwise_distances(values.reshape(5, 80), metric=metric)
        metric(values[25:80], values[250:290])
    warned(lambda: cls(eps=9.0)(Q, S), *LARGE)
    warned(lambda: cls(eps=1e-6)(Q, S), *SMALL)
    warned(lambda: QuerySearcher(cls(), normalize="minmax").fit(BEAT).search(RECORDING), *LARGE)
    QuerySearcher(cls(), normalize="zscore").fit(BEAT).search(RECORDING)

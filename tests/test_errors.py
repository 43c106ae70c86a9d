"""Wrong input of every public function: an error that names parameter, rule, value and way out, and nothing else."""

import copy
import datetime as dt
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict, time_series_search, time_series_segmentation
from sktslib import distances as d
from sktslib.distances import lockstep_distances
from sktslib.distances.compute_distance import time_series_distance
from sktslib.search.search_utils import elastic_search, lockstep_search, start_sequences_index

RNG = np.random.default_rng(0)
Q, S = RNG.uniform(0.1, 2.0, size=8), RNG.uniform(0.1, 2.0, size=30)  # positive, which every distance takes
Q2, S2 = RNG.uniform(0.1, 2.0, size=(8, 2)), RNG.uniform(0.1, 2.0, size=(30, 2))
T, TS = np.arange(8.0), np.arange(30.0)
HUGE = 10**400

DTW_DICT = get_distance_dict(["dtw"])
TWED_DICT = get_distance_dict(["twed"])
EUCLIDEAN_DICT = get_distance_dict(["euclidean"])
LOCKSTEP = lockstep_distances.__all__

PAIRS = {
    **{name: getattr(d, name) for name in LOCKSTEP},
    **{name: getattr(d, name) for name in ("dlp", "dtw", "lcss", "tam")},
    "twed": lambda x, y, **kwargs: d.twed(x, y, None, None, **kwargs),
    **{f"metric-{name}": d.get_metric(name).distance for name in d.metric_names()},
    "callable": d.CallableMetric(lambda x, y, weight=None: 0.0).distance,
}
SEARCHES = {
    "time_series_search": partial(time_series_search, DTW_DICT),
    "time_series_segmentation": partial(time_series_segmentation, DTW_DICT),
    "elastic_search": partial(elastic_search, DTW_DICT),
    "lockstep_search": partial(lockstep_search, EUCLIDEAN_DICT),
}
METHODS = [
    *[(QuerySearcher, name) for name in ("profile", "search", "transform", "predict", "score")],
    *[(QuerySegmenter, name) for name in ("segment", "predict", "score")],
]
WRONG = {
    "none": (None, TypeError, "must be an array of real numbers. Got None."),
    "0-D": (5, ValueError, "Got 0 dimensions, shape (). Reshape your data"),
    "3-D": (np.zeros((2, 2, 2)), ValueError, "Got 3 dimensions, shape (2, 2, 2)."),
    "empty": ([], ValueError, "must hold at least one point. Got 0 sample(s)"),
    "ragged": ([[1, 2], [3]], ValueError, "Got a ragged list."),
    "nan": ([1, np.nan], ValueError, "must be finite. Got 1 NaN of 2 values, first at index 1."),
    "infinity": ([1, -np.inf, np.inf], ValueError, "must be finite. Got 2 infinite of 3 values, first at index 1."),
    "complex": ([1j, 2], ValueError, "Complex data not supported"),
    "text": (["1", "2"], TypeError, "must hold real numbers. Got text"),
    "dates": (pd.date_range("2024", periods=2), TypeError, "must hold real numbers. Got dates"),
    "sparse": (sparse.csr_array(np.eye(2)), TypeError, "must be dense. Got sparse data"),
    "masked": (np.ma.array([1.0, 2.0], mask=[0, 1]), ValueError, "must not have masked values. Got 1"),
    "huge": ([1, HUGE], ValueError, "must fit into float64"),
}
WEIGHTS = {
    "length": ([1, 2], ValueError, "Got shape (2,)."),
    "shape": (np.ones((8, 3)), ValueError, "must have one value per point of the query (the first series), shape (8,)"),
    "negative": (-np.ones(8), ValueError, "must not be negative. Got -1"),
    "nan": ([np.nan] * 8, ValueError, "must be finite. Got 8 NaN"),
    "zero": (np.zeros(8), ValueError, "must have at least one value above 0. Got only zeros"),
    "text": (["a"] * 8, TypeError, "must hold real numbers. Got text"),
}


@pytest.fixture(autouse=True)
def _nothing_is_printed(capfd):
    yield
    assert capfd.readouterr() == ("", "")


def refused(call, error, *parts):
    """The message of an error of a kind that holds some words, and reads as a sentence or two on one line."""
    with pytest.raises(error) as raised:
        call()
    message = str(raised.value)
    for part in parts:
        assert part in message
    assert "\n" not in message
    assert len(message) < 1500
    return message


def entry(**keys):
    return {"elastic": {"mine": keys}}


# ---------------------------------------------------------------------------------------------------------- series
@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("name", PAIRS)
def test_series_of_distances(name, kind):
    value, error, message = WRONG[kind]
    refused(lambda: PAIRS[name](value, Q), error, "'x' must", message)
    refused(lambda: PAIRS[name](Q, value), error, "'y' must", message)


@pytest.mark.parametrize("name", PAIRS)
def test_channels_of_distances(name):
    if name != "dlp":
        refused(lambda: PAIRS[name](Q2, Q), ValueError, "'y' must have as many channels as 'x', 2. Got 1, shape (8,).")
    refused(
        lambda: PAIRS[name](Q, Q2), ValueError, "'y'", "shape" if name == "dlp" else "as 'x', 1. Got 2, shape (8, 2)."
    )


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", PAIRS)
def test_weights_of_distances(name, kind):
    weight, error, message = WEIGHTS[kind]
    refused(lambda: PAIRS[name](Q, Q, weight=weight), error, "'weight' must", message)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("name", SEARCHES)
def test_series_of_searches(name, kind):
    value, error, message = WRONG[kind]
    refused(lambda: SEARCHES[name](value, S), error, "'query' must", message)
    refused(lambda: SEARCHES[name](Q, value), error, "'sequence' must", message)


@pytest.mark.parametrize("name", SEARCHES)
def test_channels_and_queries_of_searches(name):
    search = SEARCHES[name]
    refused(lambda: search(Q, S2), ValueError, "'sequence' must have as many channels as 'query', 1. Got 2")
    refused(lambda: search(Q2, S2.T), ValueError, "If its rows are the channels, pass numpy.transpose(sequence).")
    for queries in ([Q, Q], [Q, Q[:3]]):
        refused(
            lambda queries=queries: search(queries, S), ValueError, "'query' must be one query. Got a list of 2 arrays"
        )


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", SEARCHES)
def test_weights_of_searches(name, kind):
    weight, error, message = WEIGHTS[kind]
    refused(lambda: SEARCHES[name](Q, S, weight=weight), error, "'weight' must", message)
    fourth = "'weight" if name == "lockstep_search" else "'weight (the fourth argument, without ts)' "
    refused(lambda: SEARCHES[name](Q, S, weight), error, fourth, message)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize(("cls", "method"), METHODS)
def test_series_of_estimators(cls, method, kind):
    value, error, message = WRONG[kind]
    more = (np.zeros(2),) if method == "score" else ()
    refused(lambda: getattr(cls().fit(Q), method)(value, *more), error, "'X' must", message)
    refused(lambda: cls().fit(value), error, "'X' must", message)
    if value is not None:
        refused(lambda: cls(query=value).fit(Q), error, "'query' must", message)


@pytest.mark.parametrize(("cls", "method"), METHODS)
def test_estimators_know_their_state_and_channels(cls, method):
    more = (np.zeros(30),) if method == "score" else ()
    refused(lambda: getattr(cls(), method)(S, *more), NotFittedError, f"This {cls.__name__} instance is not fitted yet")
    one, two = cls().fit(Q), cls().fit(Q2)
    refused(lambda: getattr(one, method)(S2, *more), ValueError, "X has 2 features", "expecting 1 features", "channels")
    refused(lambda: getattr(two, method)(S, *more), ValueError, "X has 1 features", "Reshape your data")
    refused(lambda: getattr(one, method)(S, *more, times=[1, 2]), ValueError, "'times' must have one time per point")


@pytest.mark.parametrize("cls", [QuerySearcher, QuerySegmenter])
def test_fit_of_estimators(cls):
    for weight, error, message in WEIGHTS.values():
        refused(lambda weight=weight: cls().fit(Q, weight=weight), error, "'weight' must", message)
        refused(lambda weight=weight: cls(weight=weight).fit(Q), error, "'weight' must", message)
    column = Q[:, np.newaxis]
    refused(
        lambda: cls().fit([Q, Q, Q2]),
        ValueError,
        "The queries must have the same number of channels. Got 1 in X[0] and 2 in X[2]. Select the same columns",
    )
    refused(lambda: cls(query=[Q2, Q2, Q]).fit(Q2), ValueError, "In query[2]: 'query' must have as many channels as")
    refused(lambda: cls().fit([Q, S], np.ones(8)), ValueError, "'y' must be None where 'X' is a list of queries")
    refused(lambda: cls().fit([Q, S], weight=np.ones(8)), ValueError, "'weight' must be a list with one entry for each")
    refused(lambda: cls(query=Q2).fit(Q), ValueError, "'query' must have as many channels as", "1. Got 2")
    refused(
        lambda: cls().fit(Q, times=T[::-1]),
        ValueError,
        "'times' must be strictly increasing. Got 7.0 at index 0 and then 6.0",
    )
    refused(
        lambda: cls().fit(column, [1]),
        ValueError,
        "'y' must have one label per time point, shape (8,). Got shape (1,).",
    )
    refused(lambda: cls().fit(Q, np.zeros(8)), ValueError, "Reshape your data")
    frame = pd.DataFrame(S, index=pd.DatetimeIndex(["2024"] * 30))
    refused(lambda: cls().fit(Q).predict(frame), ValueError, "'X.index' must be strictly increasing")


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ([1, np.nan], ValueError, "'X' must be finite. Got 1 NaN of 2 values, first at index 1."),
        (np.array([]), ValueError, "'X' must hold at least one point"),
        (np.array(["a"]), TypeError, "'X' must hold real numbers. Got text"),
    ],
)
def test_entries_of_lists_are_named(wrong, error, message):
    for cls in (QuerySearcher, QuerySegmenter):
        refused(lambda cls=cls: cls().fit([Q, Q, wrong]), error, "In X[2]: " + message)
        given = "In query[1]: " + message.replace("'X'", "'query'")
        refused(lambda cls=cls, given=given: cls(query=[Q, wrong]).fit(Q), error, given)
        refused(lambda cls=cls: cls().fit([Q, None]), TypeError, "'X[1]' must be an array of real numbers. Got None.")
        refused(lambda cls=cls: cls(query=[None, Q]).fit(Q), TypeError, "'query[0]' must be an array")
    refused(lambda: QuerySearcher().fit(Q).search([S, wrong]), error, "In X[1]: " + message)
    refused(lambda: QuerySearcher().fit(Q).search([S, None]), TypeError, "In X[1]: 'X' must be an array of real")
    refused(lambda: QuerySearcher().fit(Q).search([S, S2]), ValueError, "In X[1]: X has 2 features, but QuerySearcher")
    refused(lambda: QuerySearcher().fit([Q, Q], times=[T, T[::-1]]), ValueError, "In X[1]: 'times' must be strictly")
    refused(
        lambda: QuerySearcher("euclidean").fit([Q, Q]).search([S, Q[:3]]), ValueError, "In X[1]: The query must not"
    )


def test_missing_values_and_who_can_leave_them_out():
    gap, way_out = np.array([0.0, np.nan, 1.0]), "To leave out what is NaN, set nan_policy='omit'."
    for cls in (QuerySearcher, QuerySegmenter):
        refused(lambda cls=cls: cls().fit(gap), ValueError, way_out)
        refused(lambda cls=cls: cls(query=gap).fit(Q), ValueError, way_out)
    refused(lambda: QuerySearcher().fit(Q).search(gap), ValueError, way_out)
    refused(lambda: QuerySegmenter().fit(Q).stream().update(gap), ValueError, way_out)
    refused(lambda: d.pairwise_distances([gap, gap], metric="euclidean"), ValueError, "'X[0]' must be finite", way_out)
    refused(lambda: d.pairwise_distances(gap[np.newaxis], metric="euclidean"), ValueError, way_out)
    for call in (
        lambda: QuerySearcher().fit([0, np.inf]),  # not missing
        lambda: QuerySearcher(nan_policy="omit").fit([0, np.nan, np.inf]),
        lambda: d.dtw(gap, Q),  # no such parameter
        lambda: d.barycenter([gap, gap]),
    ):
        assert "nan_policy" not in refused(call, ValueError, "must be finite. Got 1 ")


def test_numbers_of_matches():
    matches, segments = QuerySearcher(n_matches=3).fit(Q).search(S), QuerySegmenter().fit(Q).segment(np.tile(Q, 4))
    assert len(matches) == 3 and len(segments) == 4
    np.testing.assert_array_equal(matches.path(-1), matches.path(np.int64(2)))
    np.testing.assert_array_equal(segments.path(-4), segments.path(0))
    rule = "'k' must be the number of a match, from 0 to 2 (or from -1 to -3, counted from the end). Got "
    for call in (matches.path, matches.explain):
        for k in (3, -4, HUGE):
            refused(lambda call=call, k=k: call(k), IndexError, rule)
        for k in (1.0, "0", None, True, slice(1)):
            refused(lambda call=call, k=k: call(k), TypeError, "'k' must be an integer, the number of a match from 0.")
    refused(lambda: segments.path(4), IndexError, "'k' must be the number of a repetition, from 0 to 3")
    none = QuerySearcher(threshold=0.0).fit(Q).search(S)
    refused(lambda: none.path(0), IndexError, "and there are no matches. Got 0; len() says how many there are.")


@pytest.mark.parametrize("cls", [QuerySearcher, QuerySegmenter])
def test_labels_of_score(cls):
    score = cls().fit(Q).score
    for y in (np.zeros(10), np.zeros((30, 1)), [[1, 3]], 1, None):
        refused(lambda y=y: score(S, y), ValueError, "'y' must have one label per time point, shape (30,). Got shape (")
    refused(lambda: score(S, np.full(30, np.nan)), ValueError, "must have a label for each time point. Got 30 NaN")
    refused(lambda: cls().fit(np.zeros((3, 1)), np.array([0, None, "a"])), ValueError, "Got 1 NaN or None; background")
    assert 0 <= score(S, ["", *["a"] * 29]) <= 1


# ------------------------------------------------------------------------------------------------------------ times
@pytest.mark.parametrize(
    ("times", "error", "message"),
    [
        (T[::-1], ValueError, "must be strictly increasing. Got 7.0 at index 0 and then 6.0. Sort the recording"),
        (T[:3], ValueError, "must have one time per point, shape (8,). Got shape (3,)."),
        (np.array(["NaT"] * 8, "M8[s]"), ValueError, "must be finite. Got 8 NaN"),
        (["noon"] * 8, TypeError, "must hold numbers or datetimes. Got text"),
        ([1, dt.datetime(2024, 1, 1)] * 4, TypeError, "must hold real numbers. Got datetime.datetime(2024"),
    ],
)
def test_times_that_do_not_fit(times, error, message):
    refused(lambda: d.twed(Q, Q, times, T), error, "'tx' " + message)
    refused(lambda: d.twed(Q, Q, T, times), error, "'ty' " + message)
    refused(lambda: d.TWED().distance(Q, Q, tx=T, ty=times), error, "'ty' " + message)
    refused(lambda: d.short_time_series_distance(Q, Q, times), error, "'tx' " + message)
    refused(lambda: time_series_distance(TWED_DICT, Q, Q, T, times), error, "'ty' " + message)
    refused(lambda: elastic_search(TWED_DICT, Q, S, times, TS), error, "'tq' " + message)
    refused(lambda: time_series_search(DTW_DICT, Q, Q, T, times), error, "'ts' " + message)
    refused(lambda: time_series_segmentation(DTW_DICT, Q, Q, T, times), error, "'ts' " + message)
    refused(lambda: QuerySearcher().fit(Q, times=times), error, "'times' " + message)
    refused(lambda: QuerySegmenter().fit(Q).segment(Q, times=times), error, "'times' " + message)


def test_times_on_one_side_only():
    message = "'tx' and 'ty' must both be given, or neither: TWED compares the times of the two series. Got "
    refused(lambda: d.twed(Q, S, T, None), ValueError, message + "'tx' alone")
    refused(lambda: d.TWED().distance(Q, S, ty=TS), ValueError, message + "'ty' alone")
    refused(lambda: time_series_distance(TWED_DICT, Q, S, T), ValueError, message + "'tx' alone")
    message = "Time Warp Edit Distance compares times: give those of both query and sequence, or of neither. "
    message += "Got those of the "
    refused(lambda: time_series_search(TWED_DICT, Q, S, ts=TS), ValueError, message + "sequence alone; 'tq'")
    refused(lambda: time_series_segmentation(TWED_DICT, Q, S, ts=TS), ValueError, message + "sequence alone; 'tq'")
    refused(lambda: elastic_search(TWED_DICT, Q, S, ts=TS), ValueError, message + "sequence alone; 'tq'")
    refused(lambda: QuerySearcher("twed").fit(Q).search(S, times=TS), ValueError, message + "sequence alone")
    refused(
        lambda: QuerySegmenter("twed").fit(Q, times=T).segment(S), ValueError, message + "query alone; 'ts' or 'times'"
    )


def test_query_times_alone_are_the_weights():
    for search in (time_series_search, time_series_segmentation, elastic_search):
        call = partial(search, DTW_DICT, Q, S)
        refused(lambda call=call: call(T, weight=T), ValueError, "'tq' was given without 'ts', and 'weight' besides")
        refused(
            lambda call=call: call(pd.date_range("2024", periods=8)), TypeError, "(the fourth argument, without ts)"
        )
    by_position, by_name = (time_series_search(DTW_DICT, Q, S, *a, **k) for a, k in (([T], {}), ([], {"weight": T})))
    for key, value in by_name["Dynamic Time Warping"].items():
        np.testing.assert_array_equal(by_position["Dynamic Time Warping"][key], value)


# ------------------------------------------------------------------------------------------------------- parameters
NUMBERS = [np.nan, np.inf, -1, "1", HUGE]
ONE, TWO = (lambda a, b: 1.0), (lambda a: 1.0)


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda v: d.dtw(Q, S, alpha=v), "'alpha' parameter of DTW"),
        (lambda v: d.DTW(alpha=v)(Q, S), "'alpha' parameter of DTW"),
        (lambda v: d.dtw(Q, S, window=v), "'window' parameter of DTW"),
        (lambda v: d.dtw(Q, S, window="sakoe-chiba", factor=v), "'factor' parameter of DTW"),
        (lambda v: d.dtw(Q, S, dtw_type="psi-dtw", tolerance=v), "'tolerance' parameter of DTW"),
        (lambda v: d.dtw(Q, S, do_sign_norm=v), "'do_sign_norm' parameter of DTW"),
        (lambda v: d.dtw(Q, S, dist=v), "'dist' parameter of DTW"),
        (lambda v: d.dtw(Q, S, dtw_type=v), "'dtw_type' parameter of DTW"),
        (lambda v: d.lcss(Q, S, v), "'eps' parameter of LCSS"),
        (lambda v: d.twed(Q, S, None, None, v), "'nu' parameter of TWED"),
        (lambda v: d.twed(Q, S, None, None, lmbda=v), "'lmbda' parameter of TWED"),
        (lambda v: d.twed(Q, S, None, None, p=v), "'p' parameter of TWED"),
        (lambda v: d.dlp(Q, Q, v), "'p' parameter"),
        (lambda v: d.minkowski_distance(Q, Q, p=v), "'p' parameter of Minkowski"),
        (lambda v: d.pearson_correlation(Q, Q, v), "'beta' parameter of PearsonCorrelation"),
        (lambda v: QuerySearcher(n_matches=v).fit(Q), "'n_matches' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(threshold=v).fit(Q), "'threshold' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(percentile=v).fit(Q), "'percentile' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(max_overlap=v).fit(Q), "'max_overlap' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(mode=v).fit(Q), "'mode' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(normalize=v).fit(Q), "'normalize' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(metric_params=v).fit(Q), "'metric_params' parameter of QuerySearcher"),
        (lambda v: QuerySegmenter(background=v).fit(Q), "'background' parameter of QuerySegmenter"),
        (
            lambda v: time_series_search(DTW_DICT, Q, S, output=("percentile", v)),
            "'value' parameter of output=('percentile'",
        ),
        (lambda v: start_sequences_index(S, overlap=v), "'overlap' parameter"),
        (lambda v: d.get_metric("dtw", v), "'params' parameter"),
        (lambda v: d.CallableMetric(v)(Q, S), "'function' parameter of CallableMetric"),
        (lambda v: d.CallableMetric(ONE, v)(Q, S), "'parameters' parameter of CallableMetric"),
    ],
)
@pytest.mark.parametrize("value", NUMBERS, ids=["nan", "infinity", "negative", "text", "huge"])
def test_parameters_out_of_range(call, parameter, value):
    message = refused(lambda: call(value), (ValueError, TypeError), f"The {parameter}", "must", "Got ")
    assert value is HUGE or repr(value) in message


@pytest.mark.parametrize("value", [-1, 0, "3", 2.5, np.nan])
def test_lengths_and_counts(value):
    for cls in (QuerySearcher, QuerySegmenter):
        for name in ("min_length", "max_length"):
            rule = f"The {name!r} parameter of {cls.__name__} must be an integer in the range [1, inf). Got {value!r}."
            refused(lambda cls=cls, name=name: cls(**{name: value}).fit(Q), (ValueError, TypeError), rule)
    refused(
        lambda: start_sequences_index(S, ("number", value)), (ValueError, TypeError), "must be an integer", repr(value)
    )


def test_numbers_beyond_64_bits_where_they_do_not_matter():
    want = QuerySearcher(n_matches=None).fit(Q).search(S)
    for searcher in (QuerySearcher(n_matches=2**62), QuerySearcher(n_matches=None, max_length=10**30)):
        np.testing.assert_array_equal(searcher.fit(Q).search(S).start, want.start)
    np.testing.assert_array_equal(
        QuerySegmenter(max_length=10**30).fit(Q).segment(S).start, QuerySegmenter().fit(Q).segment(S).start
    )
    assert len(QuerySegmenter(min_length=10**30).fit(Q).segment(S)) == 0
    assert len(start_sequences_index(S, ("number", HUGE))) == 30
    assert len(start_sequences_index(S, ("number", 5), 1e300)) == 1
    assert d.dtw(Q, S, window="sakoe-chiba", factor=2**62) == d.dtw(Q, S)


CASES = {
    # misspelt and unknown names
    "dtw keyword": (
        lambda: d.dtw(Q, S, aplha=1),
        ValueError,
        "Unknown parameter 'aplha' of dtw. Did you mean 'alpha'?",
    ),
    "dtw weight": (
        lambda: d.dtw(Q, S, weigth=Q),
        ValueError,
        "Did you mean 'weight'? Valid: alpha, dist, do_dist_norm",
    ),
    "lcss keyword": (
        lambda: d.lcss(Q, S, facto=1),
        ValueError,
        "Unknown parameter 'facto' of lcss. Did you mean 'factor'?",
    ),
    "dtw report": (
        lambda: d.dtw(Q, S, report="paths"),
        ValueError,
        "Unknown report 'paths' of dtw. Did you mean 'path'?",
    ),
    "lcss report": (lambda: d.lcss(Q, S, report=1), ValueError, "Valid: cost_matrix, distance, path, similarity."),
    "twed report": (
        lambda: d.twed(Q, S, None, None, report=[]),
        ValueError,
        "Unknown report [] of twed. Valid: cost_matrix",
    ),
    "tam report": (
        lambda: d.tam(Q, S, report=["ratios"]),
        ValueError,
        "Unknown report ['ratios'] of tam. Valid: distance",
    ),
    "dtw type": (lambda: d.dtw(Q, S, dtw_type="subdtw"), ValueError, "'dtw_type' parameter of DTW must be a str among"),
    "metric": (lambda: d.get_metric("dwt"), ValueError, "Unknown metric 'dwt'. Did you mean 'dtw'? Valid: "),
    "metric none": (
        lambda: d.get_metric(None),
        TypeError,
        "must be a name, a metric object or a callable. Got None. Names:",
    ),
    "metric parameter": (lambda: d.get_metric("dtw", {"aplha": 1}), ValueError, "of DTW. Did you mean 'alpha'?"),
    "object parameter": (lambda: d.get_metric(d.LCSS(), {"epps": 1}), ValueError, "of LCSS. Did you mean 'eps'?"),
    "object": (lambda: d.get_metric(d.DTW(alpha=3)), ValueError, "'alpha' parameter of DTW"),
    "group of names": (
        lambda: d.metric_names("elastik"),
        ValueError,
        "Unknown family 'elastik'. Did you mean 'elastic'?",
    ),
    "set_params": (lambda: QuerySearcher().set_params(metric__aplha=1), ValueError, "Invalid parameter 'aplha'"),
    "names": (
        lambda: get_distance_dict("dtw"),
        TypeError,
        "'names' must be a list of names. Got the string 'dtw'; pass",
    ),
    "names int": (
        lambda: get_distance_dict(5),
        TypeError,
        "'names' must be a list of names, or None for all distances. Got 5.",
    ),
    "name": (
        lambda: get_distance_dict(["Euclidean Distanc"]),
        ValueError,
        "Did you mean 'Euclidean Distance'? Valid: ",
    ),
    "name none": (lambda: get_distance_dict([None]), ValueError, "Unknown distance None. Valid: "),
    # parameters that do not go together
    "factor": (
        lambda: d.dtw(Q, S, factor=3),
        ValueError,
        "'factor' parameter of DTW must be None unless window='sakoe-chiba'",
    ),
    **{
        f"window {value}": (
            lambda value=value: d.DTW(window=value)(Q, S),
            ValueError,
            f"a float in the range (0, 1], a share of the shorter length. Got {value}. For a radius in samples set "
            f"window='sakoe-chiba' and factor={int(value)}.",
        )
        for value in (1, 5, 2.5)
    },
    "window soft": (lambda: d.SoftDTW(window=5)(Q, S), ValueError, "Got 5. For a radius in samples set"),
    "factor lcss": (lambda: d.lcss(Q, S, window=0.5, factor=3), ValueError, "Got 3 with window=0.5."),
    "tolerance": (
        lambda: d.dtw(Q, S, tolerance=3),
        ValueError,
        "must be 0 unless dtw_type='psi-dtw', which it belongs to.",
    ),
    "tolerance length": (
        lambda: d.dtw(Q, S, dtw_type="psi-dtw", tolerance=8),
        ValueError,
        "'tolerance' parameter of DTW must be smaller than the shorter length, 8. Got 8.",
    ),
    "dlp shapes": (
        lambda: d.dlp(Q, S),
        ValueError,
        "'x' and 'y' must have the same shape. Got (8,) and (30,); resample",
    ),
    "dlp column": (lambda: d.dlp(Q, Q[:, None]), ValueError, "Got (8,) and (8, 1); resample or reshape one of them."),
    "slopes": (
        lambda: d.short_time_series_distance(Q, S),
        ValueError,
        "of equal length. Got 8 and 30 points; interpolate",
    ),
    "weight lost": (
        lambda: d.euclidean_distance([1, 2, 3, 4], [1, 2], weight=[0, 1, 0, 0]),
        ValueError,
        "'weight' must leave at least one point: the query of 4 points is interpolated to 2",
    ),
    "VI shape": (lambda: d.mahalanobis_distance(Q, Q, VI=np.eye(3)), ValueError, "'VI' parameter", "8 * 1 = 8. Got 3."),
    "VI square": (lambda: d.mahalanobis_distance(Q, Q, VI=Q), ValueError, "must be a square matrix", "Got shape (8,)."),
    "VI nan": (lambda: d.mahalanobis_distance([1], [2], VI=[[np.nan]]), ValueError, "'VI' must be finite. Got 1 NaN"),
    "VI text": (lambda: d.mahalanobis_distance(Q, Q, VI="auto"), TypeError, "'VI' must hold real numbers. Got text"),
    "VI negative": (lambda: d.mahalanobis_distance([1], [3], VI=[[-1]]), ValueError, "positive semi-definite", "-4."),
    "VI fit": (lambda: d.Mahalanobis().fit(Q), ValueError, "'X' must be a collection of at least two series", "(8,)."),
    # functions of the caller's
    "dist nan": (
        lambda: d.dtw(Q, S, dist=lambda a, b: np.nan),
        ValueError,
        "'dist' parameter must return finite costs",
        "nan",
    ),
    "dist negative": (
        lambda: d.dtw(Q, S, dist=lambda a, b: -1.0),
        ValueError,
        "costs of at least 0. Got -1.0 for a pair",
    ),
    "dist none": (lambda: d.dtw(Q, S, dist=lambda a, b: None), TypeError, "must return one real number", "Got None."),
    "dist list": (lambda: d.dtw(Q, S, dist=lambda a, b: [1, 2]), TypeError, "for two points. Got [1, 2]."),
    "callable nan": (lambda: d.CallableMetric(lambda a, b: np.nan)(Q, S), ValueError, "must return a number. Got NaN"),
    "callable none": (lambda: d.CallableMetric(lambda a, b: None)(Q, S), TypeError, "as one real number. Got None."),
    "callable text": (lambda: d.CallableMetric(lambda a, b: "1")(Q, S), TypeError, "as one real number. Got '1'."),
    "callable array": (
        lambda: d.CallableMetric(lambda a, b: a)(Q, S),
        TypeError,
        "as one real number. Got array([",
    ),
    "callable weight": (
        lambda: QuerySearcher(ONE).fit(Q, weight=T).search(S),
        ValueError,
        "takes no argument 'weight'.",
    ),
    "callable nan search": (
        lambda: QuerySearcher(lambda a, b: np.nan).fit(Q).search(S),
        ValueError,
        "Got NaN; return inf",
    ),
    "callable warped": (
        lambda: QuerySearcher(ONE, mode="subsequence").fit(Q),
        ValueError,
        "mode='subsequence' needs an elastic metric",
    ),
    # searches
    "threshold and percentile": (
        lambda: QuerySearcher(threshold=2.0, percentile=5).fit(Q),
        ValueError,
        "Of 'threshold' and 'percentile' at least one must be None",
        "Got 2.0 and 5.",
    ),
    "long query": (
        lambda: QuerySearcher("euclidean").fit(S).search(Q),
        ValueError,
        "Got 30 and 8 points; cut the query, or",
    ),
    "long query dict": (
        lambda: time_series_search(EUCLIDEAN_DICT, S, Q),
        ValueError,
        "must not be longer than the sequence",
    ),
    "long query lockstep": (
        lambda: lockstep_search(EUCLIDEAN_DICT, S, Q),
        ValueError,
        "must not be longer than the sequence",
    ),
    "long query segments": (lambda: QuerySegmenter("cosine").fit(S).segment(Q), ValueError, "must not be longer than"),
    "warped normalize": (
        lambda: QuerySearcher(mode="subsequence", normalize="mean").fit(Q),
        ValueError,
        "mode='subsequence' cannot be combined with normalize='mean'",
    ),
    "warped lockstep": (
        lambda: QuerySearcher("euclidean", mode="subsequence").fit(Q),
        ValueError,
        "mode='subsequence' needs an elastic metric; Euclidean Distance compares windows",
        "Take mode='windows' or 'auto'.",
    ),
    "itakura": (lambda: QuerySearcher(d.LCSS(window="itakura")).fit(Q), ValueError, "Itakura's", "Take mode='windows'"),
    "itakura dict": (
        lambda: time_series_search(entry(function="dtw", parameters={"window": "itakura"}), Q, S),
        ValueError,
        "'window' parameter must be None, a float or 'sakoe-chiba' in a subsequence search",
    ),
    "band of segments": (
        lambda: QuerySegmenter(d.DTW(window=0.1)).fit(Q),
        ValueError,
        "in a segmentation",
        "'max_length'",
    ),
    "transitions' shape": (
        lambda: QuerySegmenter(transitions=np.zeros((2, 2))).fit([Q, S]),
        ValueError,
        "'transitions' must have shape (3, 3): a row and a column for background and each of the 2 queries",
        "Got shape (2, 2)",
    ),
    "negative transitions": (
        lambda: QuerySegmenter(transitions=[[0, -1], [0, 0]]).fit(Q),
        ValueError,
        "'transitions' must not be negative or NaN. Got -1.",
    ),
    "bounds of too many queries": (
        lambda: QuerySegmenter(min_length=[1, 2, 3]).fit([Q, S]),
        ValueError,
        "'min_length' must be one number, or one for each of the 2 queries. Got 3.",
    ),
    "sign norm": (
        lambda: QuerySearcher(d.DTW(do_sign_norm=True), mode="windows").fit(Q),
        ValueError,
        "'do_sign_norm' parameter of DTW must be False in a search",
        "normalize='zscore'",
    ),
    "sign norm elastic_search": (
        lambda: elastic_search({"function": "dtw", "parameters": {"do_sign_norm": True}}, Q, S),
        ValueError,
        "'do_sign_norm' parameter of DTW must be False in a search",
    ),
    "lengths": (
        lambda: QuerySegmenter(min_length=5, max_length=3).fit(Q),
        ValueError,
        "'min_length' must not exceed 'max_length'. Got 5 and 3.",
    ),
    "lengths of windows": (
        lambda: QuerySearcher("euclidean", min_length=20).fit(Q).search(S),
        ValueError,
        "must let windows of the query's length through, 8 points. Got 20 and None",
    ),
    "tam": (lambda: QuerySearcher("tam").fit(Q), ValueError, "Time Alignment Measurement has no search"),
    "tam segments": (lambda: QuerySegmenter("tam").fit(Q), ValueError, "Time Alignment Measurement has no search"),
    "distances": (
        lambda: start_sequences_index([1, np.nan]),
        ValueError,
        "'distance' must not hold NaN or -infinity. Got 1",
    ),
    "distances -inf": (
        lambda: start_sequences_index([-np.inf, 1]),
        ValueError,
        "Got 1 of them, first at index 0; use inf",
    ),
    "distances 2-D": (
        lambda: start_sequences_index(Q2),
        ValueError,
        "'distance' must be one-dimensional and not empty.",
    ),
    "distances none": (lambda: start_sequences_index([]), ValueError, "not empty. Got shape (0,)."),
}


@pytest.mark.parametrize("case", CASES)
def test_error(case):
    call, error, *parts = CASES[case]
    refused(call, error, *parts)


@pytest.mark.parametrize(
    ("output", "error", "message"),
    [
        *[
            (v, TypeError, "'output' must be a pair such as ('number', 3)")
            for v in (None, 3, "number", ("number",), (1, 2, 3))
        ],
        (
            ("nummer", 3),
            ValueError,
            "Unknown kind 'nummer' of 'output'. Did you mean 'number'? Valid: number, percentile",
        ),
        ((["number"], 3), ValueError, "Unknown kind ['number'] of 'output'. Valid: number, percentile, threshold."),
        (
            ("number", 0),
            ValueError,
            "The 'value' parameter of output=('number', value) must be an integer in the range [1, inf)",
        ),
        (("number", True), TypeError, "Got True."),
        (("threshold", None), TypeError, "output=('threshold', value) must be a real number in the range (-inf, inf)."),
        (("threshold", np.nan), ValueError, "Got nan."),
        (("threshold", HUGE), ValueError, "It does not fit into float64."),
        (
            ("percentile", 101),
            ValueError,
            "output=('percentile', value) must be a real number in the range [0, 100]. Got 101.",
        ),
        (("percentile", -1), ValueError, "Got -1."),
    ],
    ids=str,
)
def test_malformed_output(output, error, message):
    refused(lambda: time_series_search(DTW_DICT, Q, S, output=output), error, message)
    refused(lambda: start_sequences_index(S, output), error, message)


# ----------------------------------------------------------------------------------------------------- dictionaries
@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (
            None,
            TypeError,
            "'dict_distances' must be a dictionary of distances, as get_distance_dict makes it. Got None.",
        ),
        (["dtw"], TypeError, "Got ['dtw']."),
        (d.DTW(), TypeError, "Got DTW()."),
        ({"elastik": {}}, ValueError, "Unknown family 'elastik' of 'dict_distances'. Did you mean 'elastic'?"),
        ({"mine": {"function": "dtw"}}, ValueError, "A dictionary of distances holds family -> name -> entry"),
        ({"elastic": ["dtw"]}, TypeError, "The family 'elastic' of 'dict_distances' must be a dictionary of entries."),
        ({"elastic": {"mine": "dtw"}}, TypeError, "The entry 'mine' must be a dictionary with the keys multivariate,"),
        (entry(), ValueError, "The entry 'mine' must have the key 'function', a registered name or a callable."),
        (entry(params={}), ValueError, "Unknown key 'params' of the entry 'mine'. Did you mean 'parameters'?"),
        (entry(function="dwt"), ValueError, "Unknown function 'dwt' of the entry 'mine'. Did you mean 'dtw'?"),
        (entry(function=None), ValueError, "Unknown function None of the entry 'mine'. Valid: "),
        (entry(function=[]), ValueError, "Unknown function [] of the entry 'mine'."),
        (entry(function=str), ValueError, "Unknown function <class 'str'> of the entry 'mine'."),
        (entry(function="euclidean"), ValueError, "must stand in the family 'lockstep'. Got 'elastic'."),
        (entry(function=d.TAM), ValueError, "The function 'tam' of the entry 'mine' must stand in the family 'time'."),
        (
            entry(function="dtw", use="maybe"),
            ValueError,
            "'use' of the entry 'mine' must be 'yes' or 'no'. Got 'maybe'.",
        ),
        (entry(function="dtw", use=True), ValueError, "Got True."),
        (
            entry(function="dtw", multivariate="false"),
            ValueError,
            "'multivariate' of the entry 'mine' must be 'yes' or 'no'.",
        ),
        (
            entry(function="dtw", parameters=5),
            TypeError,
            "'parameters' of the entry 'mine' must be a dictionary, or ''",
        ),
        (entry(function="dtw", parameters=[]), TypeError, "Got []."),
        (entry(function="dtw", parameters={"aplha": 1}), ValueError, "Unknown parameter 'aplha' of the entry 'mine'."),
        (entry(function="dtw", parameters={3: 1}), ValueError, "Unknown parameter 3 of the entry 'mine'."),
        (entry(function="dtw", parameters={"alpha": 2}), ValueError, "'alpha' parameter of DTW"),
        (
            entry(function="dtw", parameters={"report": "path"}),
            ValueError,
            "'report' of the entry 'mine' must be 'distance'",
        ),
        (entry(function="dtw", parameters={"factor": 3}), ValueError, "'factor' parameter of DTW must be None unless"),
        (entry(function=lambda a, b: None), TypeError, "must return the distance as one real number. Got None."),
        (entry(function=lambda a, b: np.nan), ValueError, "must return a number. Got NaN"),
    ],
)
def test_dictionaries(wrong, error, message):
    for call in (time_series_search, time_series_segmentation, time_series_distance):
        refused(lambda call=call: call(wrong, Q, S), error, message)


@pytest.mark.parametrize("call", [time_series_search, time_series_segmentation, time_series_distance])
def test_entries_of_one_channel(call):
    single = entry(function="dtw", multivariate="no")
    call(single, Q, S)
    refused(
        lambda: call(single, Q2, S2),
        ValueError,
        "The entry 'mine' has multivariate 'no', but the series have 2 channels.",
    )


def test_time_distances_have_no_search():
    both = get_distance_dict(["tam", "dtw"])
    for call in (time_series_search, time_series_segmentation):
        refused(
            lambda call=call: call(both, Q, S),
            ValueError,
            "'Time Alignment Measurement' is a 'time' distance, which has",
        )
    both["time"]["Time Alignment Measurement"]["use"] = "no"
    assert list(time_series_search(both, Q, S)) == ["Dynamic Time Warping"]


def test_single_entries():
    two = get_distance_dict(["dtw", "lcss", "euclidean", "cosine"])
    refused(
        lambda: elastic_search(two, Q, S), ValueError, "exactly one active elastic distance here. Got 2: ['Dynamic Time"
    )
    refused(lambda: lockstep_search(two, Q, S), ValueError, "exactly one active lockstep distance here. Got 2:")
    refused(
        lambda: lockstep_search({}, Q, S), ValueError, "Got 0: []. Pass one entry, or set 'use' of the others to 'no'."
    )
    refused(lambda: elastic_search({"function": "dtw", "use": "no"}, Q, S), ValueError, "'dtw' must be in use here.")
    refused(
        lambda: elastic_search({"function": "dtw", "paramters": {}}, Q, S), ValueError, "Did you mean 'parameters'?"
    )
    refused(lambda: elastic_search({"parameters": {}}, Q, S), ValueError, "must have the key 'function'")
    refused(lambda: elastic_search({"function": "cosine"}, Q, S), ValueError, "must stand in the family 'lockstep'.")
    refused(lambda: elastic_search({"function": ONE}, Q, S), ValueError, "is a callable, which compares windows")
    refused(lambda: elastic_search({"function": "dtw", "multivariate": "no"}, Q2, S2), ValueError, "multivariate 'no'")
    refused(lambda: elastic_search(None, Q, S), TypeError, "'dict_distances' must be a dictionary of distances")


def test_the_package_s_functions_stand_for_their_metrics():
    assert d.get_metric(d.dtw) == d.DTW(do_dist_norm=True)
    by_function, by_name = (time_series_search(entry(function=f), Q, S)["mine"] for f in (d.dtw, "dtw"))
    np.testing.assert_array_equal(by_function["distance"], by_name["distance"])
    table = time_series_distance(entry(function=d.dlp, parameters={"p": 1}), Q, Q + 1)
    assert table.loc["mine", "Distance"] == pytest.approx(8.0)


def test_a_fitted_metric_stays_fitted():
    fitted = d.Mahalanobis().fit(RNG.normal(size=(20, 8)))
    want = fitted(Q, S[:8])
    assert want != d.euclidean_distance(Q, S[:8])
    assert lockstep_search({"function": fitted}, Q, S)[0] == pytest.approx(want)
    assert d.get_metric(fitted, {"VI": None})(Q, S[:8]) == pytest.approx(want)
    assert QuerySearcher(fitted).fit(Q).profile(S).distance[0] == pytest.approx(want)


# ------------------------------------------------------------------------------------------- the caller's own data
def state(value):
    """A deep copy that can be compared."""
    if isinstance(value, dict):
        return {key: state(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [state(v) for v in value]
    if isinstance(value, d.Metric):
        return type(value), {key: state(v) for key, v in vars(value).items()}
    if isinstance(value, np.ndarray | pd.DataFrame | pd.Series | pd.Index):
        return type(value), value.dtype if hasattr(value, "dtype") else None, np.array(value).tolist(), value.shape
    return copy.copy(value)


INPUTS = {
    "array": (Q.copy(), S.copy()),
    "channels": (Q2.copy(), S2.copy()),
    "integers": (np.arange(8), np.arange(30)),
    "float32": (Q.astype(np.float32), S.astype(np.float32)),
    "booleans": (Q > 1, S > 1),
    "objects": (Q.astype(object), S.astype(object)),
    "strided": (np.repeat(Q, 2)[::2], S[::-1]),
    "fortran": (np.asfortranarray(Q2), np.asfortranarray(S2)),
    "lists": (Q.tolist(), S2[:, 0].tolist()),
    "series": (pd.Series(Q, index=range(8, 0, -1)), pd.Series(S)),
    "frame": (pd.DataFrame(Q2, columns=["a", "b"]), pd.DataFrame(S2, columns=["a", "b"])),
    "missing": (np.ma.array(Q), np.ma.array(S)),
}


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("kind", INPUTS)
def test_nothing_of_the_caller_s_is_changed(kind, read_only):
    query, sequence = copy.deepcopy(INPUTS[kind])
    weight, times, times_of_sequence = np.linspace(0, 3, 8), T.copy(), TS.copy()
    metrics = [d.DTW(alpha=0.5), d.LCSS(window="sakoe-chiba", factor=4), d.TWED(nu=0.01), d.Minkowski(p=1.5)]
    positive = np.asarray(query).min() > 0 and np.asarray(sequence).min() > 0
    lockstep = [name for name in LOCKSTEP if positive or name != "kullback_leibler_distance"]
    dictionary = get_distance_dict(["dtw", "lcss", "twed", "tam", *lockstep])
    dictionary["lockstep"]["own"] = {"function": lambda x, y, weight=None: float(abs(x - y).sum()), "parameters": ""}
    dictionary["elastic"]["object"] = {"function": metrics[0], "parameters": {"do_dist_norm": True}}
    if read_only:
        for a in (query, sequence, weight, times, times_of_sequence):
            if isinstance(a, np.ndarray):
                a.flags.writeable = False
    mine = [query, sequence, weight, times, times_of_sequence, metrics, dictionary]
    before = state(mine)

    same = np.asarray(sequence)[:8].copy()
    for name in lockstep:
        getattr(d, name)(query, same, weight=weight)
    d.dlp(query, same, weight=weight)
    paths = [d.dtw(query, sequence, weight, alpha=0.5).path]
    d.dtw(query, sequence, weight, dist=lambda a, b: float(np.sum(np.abs(a - b))), do_sign_norm=True)
    paths.append(d.lcss(query, sequence, 0.5, weight=weight).path)
    paths.append(d.twed(query, sequence, times, times_of_sequence, weight=weight).path)
    assert all(path.shape[0] == 2 for path in paths)
    d.tam(query, sequence, weight=weight)
    time_series_distance(dictionary, query, same, times, times)
    searched = {**dictionary, "time": {}}
    found = time_series_search(searched, query, sequence, times, times_of_sequence, weight, ("number", None))
    time_series_segmentation(dictionary | {"time": {}}, query, sequence, weight)
    elastic_search({"elastic": {"object": dictionary["elastic"]["object"]}}, query, sequence, weight)
    lockstep_search(dictionary["lockstep"]["own"], query, sequence, weight)
    for metric in metrics:
        metric.distance(query, sequence, weight=weight)
        searcher = QuerySearcher(metric, n_matches=2).fit(query, weight=weight, times=times)
        matches = searcher.search(sequence, times=times_of_sequence)
        matches.path(0)
        matches.to_frame()
        searcher.transform(sequence, times=times_of_sequence)
        searcher.predict(sequence, times=times_of_sequence)
        QuerySearcher(metric, normalize="zscore").fit(query, weight=weight).profile(sequence)
        if getattr(metric, "window", None) is None:
            segmenter = QuerySegmenter(metric).fit(query, weight=weight, times=times)
            segmenter.score(sequence, np.zeros(30), times=times_of_sequence)
    for result in found.values():  # what is handed out is the caller's to change
        result["distance"][:] = result["start"][:] = result["start_time"][:] = 0
    start_sequences_index(times_of_sequence, ("percentile", 50))
    assert state(mine) == before


def test_estimators_are_not_reached_by_later_changes_of_what_they_were_given():
    query, weight, metric = Q.copy(), np.linspace(0, 1, 8), d.DTW(alpha=0.5)
    searcher = QuerySearcher(metric).fit(query, weight=weight)
    want = searcher.profile(S).distance
    query[:], weight[:] = 0, 1
    metric.set_params(alpha=1.0)
    np.testing.assert_array_equal(searcher.profile(S).distance, want)


# ----------------------------------------------------------------------------------------------------------- pandas
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@pytest.mark.parametrize("kind", ["index", "series index", "argument", "series", "list"])
def test_datetimes_come_back_as_they_were_given(zone, kind):
    index = pd.date_range("2024-03-31 00:59:50", periods=30, freq="s", tz=zone)  # the clocks go forward within
    searcher, segmenter = QuerySearcher(n_matches=2).fit(Q), QuerySegmenter(background=2.0).fit(Q)
    series, times = {
        "index": (pd.DataFrame({"ecg": S}, index=index), None),
        "series index": (pd.Series(S, index=index), None),
        "argument": (S, index),
        "series": (S, pd.Series(index, index=range(30, 0, -1))),
        "list": (S, list(index)),
    }[kind]
    after = index.append(index[-1:] + pd.Timedelta(1, "s"))
    for result in (searcher.search(series, times), segmenter.segment(series, times)):
        assert len(result) > 0
        frame = result.to_frame()
        assert list(frame["start_time"]) == list(after[result.start])
        assert list(frame["end_time"]) == list(after[result.end])
        assert frame["start_time"].dt.tz is None if zone is None else str(frame["start_time"].dt.tz) == zone
    if times is not None:
        found = time_series_search(DTW_DICT, Q, S, None, times)["Dynamic Time Warping"]
        assert list(pd.DatetimeIndex(found["end_time"])) == list(after[found["end"]])


def test_lists_and_tables_of_times():
    for ts in (TS.tolist(), pd.Series(TS, index=range(30, 0, -1)), range(30)):
        found = time_series_search(DTW_DICT, Q, S, None, ts)["Dynamic Time Warping"]
        np.testing.assert_array_equal(found["start_time"], found["start"])
        np.testing.assert_array_equal(found["end_time"], found["end"])


def test_channels_by_name():
    query, sequence = pd.DataFrame(Q2, columns=["a", "b"]), pd.DataFrame(S2, columns=["b", "a"])
    with pytest.raises(
        ValueError, match=re.escape("The feature names should match those that were passed during fit.")
    ):
        QuerySearcher().fit(query).search(sequence)
    want = QuerySearcher().fit(Q2).search(S2).start
    np.testing.assert_array_equal(QuerySearcher().fit(Q2).search(sequence).start, want)
    np.testing.assert_array_equal(QuerySearcher().fit(query).search(S2).start, want)

"""Wrong series, weights, labels and times: an error that names parameter, rule, value and way out, nothing else."""

import datetime as dt
from functools import partial

import numpy as np
import pandas as pd
import pytest
from inputs import DTW_DICT, EUCLIDEAN_DICT, HUGE, LOCKSTEP, Q2, S2, TS, Q, S, T, refused
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict, time_series_search, time_series_segmentation
from sktslib import distances as d
from sktslib.distances.compute_distance import time_series_distance
from sktslib.search.search_utils import elastic_search, lockstep_search

pytestmark = pytest.mark.usefixtures("_nothing_is_printed")

TWED_DICT = get_distance_dict(["twed"])
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


# ---------------------------------------------------------------------------------------------------------- series
@pytest.mark.parametrize("name", PAIRS)
def test_series_of_distances(name):
    for value, error, message in WRONG.values():
        refused(partial(PAIRS[name], value, Q), "'x' must", message, error=error)
        refused(partial(PAIRS[name], Q, value), "'y' must", message, error=error)


@pytest.mark.parametrize("name", PAIRS)
def test_channels_of_distances(name):
    if name != "dlp":
        refused(lambda: PAIRS[name](Q2, Q), "'y' must have as many channels as 'x', 2. Got 1, shape (8,).")
    refused(lambda: PAIRS[name](Q, Q2), "'y'", "shape" if name == "dlp" else "as 'x', 1. Got 2, shape (8, 2).")


@pytest.mark.parametrize("name", PAIRS)
def test_weights_of_distances(name):
    for weight, error, message in WEIGHTS.values():
        refused(partial(PAIRS[name], Q, Q, weight=weight), "'weight' must", message, error=error)


@pytest.mark.parametrize("name", SEARCHES)
def test_series_of_searches(name):
    for value, error, message in WRONG.values():
        refused(partial(SEARCHES[name], value, S), "'query' must", message, error=error)
        refused(partial(SEARCHES[name], Q, value), "'sequence' must", message, error=error)


@pytest.mark.parametrize("name", SEARCHES)
def test_channels_and_queries_of_searches(name):
    search = SEARCHES[name]
    refused(lambda: search(Q, S2), "'sequence' must have as many channels as 'query', 1. Got 2")
    refused(lambda: search(Q2, S2.T), "If its rows are the channels, pass numpy.transpose(sequence).")
    for queries in ([Q, Q], [Q, Q[:3]]):
        refused(lambda queries=queries: search(queries, S), "'query' must be one query. Got a list of 2 arrays")


@pytest.mark.parametrize("name", SEARCHES)
def test_weights_of_searches(name):
    fourth = "'weight" if name == "lockstep_search" else "'weight (the fourth argument, without ts)' "
    for weight, error, message in WEIGHTS.values():
        refused(partial(SEARCHES[name], Q, S, weight=weight), "'weight' must", message, error=error)
        refused(partial(SEARCHES[name], Q, S, weight), fourth, message, error=error)


@pytest.mark.parametrize(("cls", "method"), METHODS)
def test_series_of_estimators(cls, method):
    call, more = getattr(cls().fit(Q), method), (np.zeros(2),) if method == "score" else ()
    for value, error, message in WRONG.values():
        refused(partial(call, value, *more), "'X' must", message, error=error)
        refused(partial(cls().fit, value), "'X' must", message, error=error)
        if value is not None:
            refused(partial(cls(query=value).fit, Q), "'query' must", message, error=error)


@pytest.mark.parametrize(("cls", "method"), METHODS)
def test_estimators_know_their_state_and_channels(cls, method):
    more = (np.zeros(30),) if method == "score" else ()
    refused(lambda: getattr(cls(), method)(S, *more), f"This {cls.__name__} instance is not fit", error=NotFittedError)
    one, two = cls().fit(Q), cls().fit(Q2)
    refused(lambda: getattr(one, method)(S2, *more), "X has 2 features", "expecting 1 features", "channels")
    refused(lambda: getattr(two, method)(S, *more), "X has 1 features", "Reshape your data")
    refused(lambda: getattr(one, method)(S, *more, times=[1, 2]), "'times' must have one time per point")


@pytest.mark.parametrize("cls", [QuerySearcher, QuerySegmenter])
def test_fit_of_estimators(cls):
    for weight, error, message in WEIGHTS.values():
        refused(lambda weight=weight: cls().fit(Q, weight=weight), "'weight' must", message, error=error)
        refused(lambda weight=weight: cls(weight=weight).fit(Q), "'weight' must", message, error=error)
    column = Q[:, np.newaxis]
    refused(lambda: cls().fit([Q, Q, Q2]), "same number of channels. Got 1 in X[0] and 2 in X[2]. Select the same")
    refused(lambda: cls(query=[Q2, Q2, Q]).fit(Q2), "In query[2]: 'query' must have as many channels as")
    refused(lambda: cls().fit([Q, S], np.ones(8)), "labeled recordings, join them")
    refused(lambda: cls().fit([Q, S], weight=np.ones(8)), "'weight' must be a list with one entry for each")
    refused(lambda: cls(query=Q2).fit(Q), "'query' must have as many channels as", "1. Got 2")
    refused(lambda: cls().fit(Q, times=T[::-1]), "'times' must be strictly increasing. Got 7.0 at index 0 and then 6.0")
    refused(lambda: cls().fit(column, [1]), "'y' must have one label per time point, shape (8,). Got shape (1,).")
    refused(lambda: cls().fit(Q, np.zeros(8)), "Reshape your data")
    frame = pd.DataFrame(S, index=pd.DatetimeIndex(["2024"] * 30))
    refused(lambda: cls().fit(Q).predict(frame), "'X.index' must be strictly increasing")


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ([1, np.nan], ValueError, "'X' must be finite. Got 1 NaN of 2 values, first at index 1."),
        (np.array([]), ValueError, "'X' must hold at least one point"),
        (np.array(["a"]), TypeError, "'X' must hold real numbers. Got text"),
        (None, TypeError, "'X' must be an array of real numbers. Got None"),
    ],
)
def test_entries_of_lists_are_named(wrong, error, message):
    for cls in (QuerySearcher, QuerySegmenter):
        refused(partial(cls().fit, [Q, Q, wrong]), "In X[2]: " + message, error=error)
        given = "In query[1]: " + message.replace("'X'", "'query'")
        refused(partial(cls(query=[Q, wrong]).fit, Q), given, error=error)
    refused(partial(QuerySearcher().fit(Q).search, [S, wrong]), "In X[1]: " + message, error=error)


def test_what_does_not_fit_a_list_is_named():
    refused(lambda: QuerySearcher().fit(Q).search([S, S2]), "In X[1]: X has 2 features, but QuerySearcher")
    refused(lambda: QuerySearcher().fit([Q, Q], times=[T, T[::-1]]), "In X[1]: 'times' must be strictly")
    refused(lambda: QuerySearcher("euclidean").fit([Q, Q]).search([S, Q[:3]]), "In X[1]: The query must not")


def test_missing_values_and_who_can_leave_them_out():
    gap, way_out = np.array([0.0, np.nan, 1.0]), "To leave out what is NaN, set nan_policy='omit'"
    for cls in (QuerySearcher, QuerySegmenter):
        refused(lambda cls=cls: cls().fit(gap), way_out)
        refused(lambda cls=cls: cls(query=gap).fit(Q), way_out)
    refused(lambda: QuerySearcher().fit(Q).search(gap), way_out)
    refused(lambda: QuerySegmenter().fit(Q).stream().update(gap), way_out)
    refused(lambda: d.pairwise_distances([gap, gap], metric="euclidean"), "'X[0]' must be finite", way_out)
    refused(lambda: d.pairwise_distances(gap[np.newaxis], metric="euclidean"), way_out)
    for call in (
        lambda: QuerySearcher().fit([0, np.inf]),  # not missing
        lambda: QuerySearcher(nan_policy="omit").fit([0, np.nan, np.inf]),
        lambda: d.dtw(gap, Q),  # no such parameter
        lambda: d.barycenter([gap, gap]),
    ):
        assert "nan_policy" not in refused(call, "must be finite. Got 1 ")


def test_numbers_of_matches():
    matches, segments = QuerySearcher(n_matches=3).fit(Q).search(S), QuerySegmenter().fit(Q).segment(np.tile(Q, 4))
    assert len(matches) == 3 and len(segments) == 4
    np.testing.assert_array_equal(matches.path(-1), matches.path(np.int64(2)))
    np.testing.assert_array_equal(segments.path(-4), segments.path(0))
    rule = "'k' must be the number of a match, from 0 to 2 (or from -1 to -3, counted from the end). Got "
    for call in (matches.path, matches.explain):
        for k in (3, -4, HUGE):
            refused(lambda call=call, k=k: call(k), rule, error=IndexError)
        for k in (1.0, "0", None, True, slice(1)):
            refused(
                lambda call=call, k=k: call(k), "'k' must be an integer, the number of a match from 0.", error=TypeError
            )
    refused(lambda: segments.path(4), "'k' must be the number of a repetition, from 0 to 3", error=IndexError)
    none = QuerySearcher(threshold=0.0).fit(Q).search(S)
    refused(lambda: none.path(0), "and there are no matches. Got 0; len() says how many there are.", error=IndexError)


@pytest.mark.parametrize("cls", [QuerySearcher, QuerySegmenter])
def test_labels_of_score(cls):
    score = cls().fit(Q).score
    for y in (np.zeros(10), np.zeros((30, 1)), [[1, 3]], 1, None):
        refused(lambda y=y: score(S, y), "'y' must have one label per time point, shape (30,). Got shape (")
    refused(lambda: score(S, np.full(30, np.nan)), "must have a label for each time point. Got 30 NaN")
    refused(lambda: cls().fit(np.zeros((3, 1)), np.array([0, None, "a"])), "Got 1 NaN or None; background")
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
    refused(lambda: d.twed(Q, Q, times, T), "'tx' " + message, error=error)
    refused(lambda: d.twed(Q, Q, T, times), "'ty' " + message, error=error)
    refused(lambda: d.TWED().distance(Q, Q, tx=T, ty=times), "'ty' " + message, error=error)
    refused(lambda: d.short_time_series_distance(Q, Q, times), "'tx' " + message, error=error)
    refused(lambda: time_series_distance(TWED_DICT, Q, Q, T, times), "'ty' " + message, error=error)
    refused(lambda: elastic_search(TWED_DICT, Q, S, times, TS), "'tq' " + message, error=error)
    refused(lambda: time_series_search(DTW_DICT, Q, Q, T, times), "'ts' " + message, error=error)
    refused(lambda: time_series_segmentation(DTW_DICT, Q, Q, T, times), "'ts' " + message, error=error)
    refused(lambda: QuerySearcher().fit(Q, times=times), "'times' " + message, error=error)
    refused(lambda: QuerySegmenter().fit(Q).segment(Q, times=times), "'times' " + message, error=error)


def test_times_on_one_side_only():
    message = "'tx' and 'ty' must both be given, or neither: TWED compares the times of the two series. Got "
    refused(lambda: d.twed(Q, S, T, None), message + "'tx' alone")
    refused(lambda: d.TWED().distance(Q, S, ty=TS), message + "'ty' alone")
    refused(lambda: time_series_distance(TWED_DICT, Q, S, T), message + "'tx' alone")
    message = "Time Warp Edit Distance compares times: give those of both query and sequence, or of neither. "
    message += "Got those of the "
    refused(lambda: time_series_search(TWED_DICT, Q, S, ts=TS), message + "sequence alone; 'tq'")
    refused(lambda: time_series_segmentation(TWED_DICT, Q, S, ts=TS), message + "sequence alone; 'tq'")
    refused(lambda: elastic_search(TWED_DICT, Q, S, ts=TS), message + "sequence alone; 'tq'")


def test_query_times_alone_are_the_weights():
    for search in (time_series_search, time_series_segmentation, elastic_search):
        call = partial(search, DTW_DICT, Q, S)
        refused(lambda call=call: call(T, weight=T), "'tq' was given without 'ts', and 'weight' as well")
        refused(partial(call, pd.date_range("2024", periods=8)), "(the fourth argument, without ts)", error=TypeError)
    by_position, by_name = (time_series_search(DTW_DICT, Q, S, *a, **k) for a, k in (([T], {}), ([], {"weight": T})))
    for key, value in by_name["Dynamic Time Warping"].items():
        np.testing.assert_array_equal(by_position["Dynamic Time Warping"][key], value)
    cut = [time_series_segmentation(DTW_DICT, Q, S, *a, **k) for a, k in (([T], {}), ([], {"weight": T}))]
    np.testing.assert_array_equal(*(one["Dynamic Time Warping"] for one in cut))

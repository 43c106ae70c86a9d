"""Dictionaries of distances that are wrong, and what else their entries may hold."""

import numpy as np
import pytest
from inputs import Q2, RNG, S2, Q, S, entry, one, refused

from sktslib import QuerySearcher, get_distance_dict, time_series_search, time_series_segmentation
from sktslib import distances as d
from sktslib.distances.compute_distance import time_series_distance
from sktslib.search.search_utils import elastic_search, lockstep_search

pytestmark = pytest.mark.usefixtures("_nothing_is_printed")


REFUSED = {
    TypeError: [
        (None, "'dict_distances' must be a dictionary of distances, as get_distance_dict makes it. Got None."),
        (["dtw"], "Got ['dtw']."),
        (d.DTW(), "Got DTW()."),
        ({"elastic": ["dtw"]}, "The family 'elastic' of 'dict_distances' must be a dictionary of entries."),
        ({"elastic": {"mine": "dtw"}}, "The entry 'mine' must be a dictionary with the keys multivariate,"),
        (entry(function="dtw", parameters=5), "'parameters' of the entry 'mine' must be a dictionary, or ''"),
        (entry(function="dtw", parameters=[]), "Got []."),
        (entry(function=lambda a, b: None), "must return the distance as one real number. Got None."),
    ],
    ValueError: [
        ({"elastik": {}}, "Unknown family 'elastik' of 'dict_distances'. Did you mean 'elastic'?"),
        ({"mine": {"function": "dtw"}}, "A dictionary of distances holds family -> name -> entry"),
        (entry(), "The entry 'mine' must have the key 'function', a registered name or a callable."),
        (entry(params={}), "Unknown key 'params' of the entry 'mine'. Did you mean 'parameters'?"),
        (entry(function="dwt"), "Unknown function 'dwt' of the entry 'mine'. Did you mean 'dtw'?"),
        (entry(function=None), "Unknown function None of the entry 'mine'. Valid: "),
        (entry(function=[]), "Unknown function [] of the entry 'mine'."),
        (entry(function=str), "Unknown function <class 'str'> of the entry 'mine'."),
        (entry(function="euclidean"), "must stand in the family 'lockstep'. Got 'elastic'."),
        (entry(function=d.TAM), "The function 'tam' of the entry 'mine' must stand in the family 'time'."),
        (entry(function="dtw", use="maybe"), "'use' of the entry 'mine' must be 'yes' or 'no'. Got 'maybe'."),
        (entry(function="dtw", use=True), "Got True."),
        (entry(function="dtw", multivariate="false"), "'multivariate' of the entry 'mine' must be 'yes' or 'no'."),
        (entry(function="dtw", parameters={"aplha": 1}), "Unknown parameter 'aplha' of the entry 'mine'."),
        (entry(function="dtw", parameters={3: 1}), "Unknown parameter 3 of the entry 'mine'."),
        (entry(function="dtw", parameters={"alpha": 2}), "'alpha' parameter of DTW"),
        (entry(function="dtw", parameters={"report": "path"}), "'report' of the entry 'mine' must be 'distance'"),
        (entry(function="dtw", parameters={"factor": 3}), "'factor' parameter of DTW must be None unless"),
        (entry(function=lambda a, b: np.nan), "must return a number. Got NaN"),
    ],
}


@pytest.mark.parametrize(("wrong", "error", "message"), [(w, e, m) for e, rows in REFUSED.items() for w, m in rows])
def test_dictionaries(wrong, error, message):
    for call in (time_series_search, time_series_segmentation, time_series_distance):
        refused(lambda call=call: call(wrong, Q, S), message, error=error)


@pytest.mark.parametrize("call", [time_series_search, time_series_segmentation, time_series_distance])
def test_entries_of_one_channel(call):
    single = entry(function="dtw", multivariate="no")
    call(single, Q, S)
    refused(lambda: call(single, Q2, S2), "The entry 'mine' has multivariate 'no', but the series have 2 channels.")


def test_single_entries():
    two = get_distance_dict(["dtw", "lcss", "euclidean", "cosine"])
    refused(lambda: elastic_search(two, Q, S), "exactly one active elastic distance here. Got 2: ['Dynamic Time")
    refused(lambda: lockstep_search(two, Q, S), "exactly one active lockstep distance here. Got 2:")
    refused(lambda: lockstep_search({}, Q, S), "Got 0: []. Pass one entry, or set 'use' of the others to 'no'.")
    refused(lambda: elastic_search({"function": "dtw", "use": "no"}, Q, S), "'dtw' must be in use here.")
    refused(lambda: elastic_search({"function": "dtw", "paramters": {}}, Q, S), "Did you mean 'parameters'?")
    refused(lambda: elastic_search({"parameters": {}}, Q, S), "must have the key 'function'")
    refused(lambda: elastic_search({"function": "cosine"}, Q, S), "must stand in the family 'lockstep'.")
    refused(lambda: elastic_search({"function": one}, Q, S), "has no warping path of accumulated costs")
    refused(lambda: elastic_search({"function": "dtw", "multivariate": "no"}, Q2, S2), "multivariate 'no'")
    refused(lambda: elastic_search(None, Q, S), "'dict_distances' must be a dictionary of distances", error=TypeError)


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

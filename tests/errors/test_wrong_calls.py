"""Unknown names, parameters out of range or that do not go together, dictionaries: errors that name the way out."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from inputs import DTW_DICT, EUCLIDEAN_DICT, HUGE, Q2, RNG, S2, Q, S, T, entry, one, refused

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict, time_series_search, time_series_segmentation
from sktslib import distances as d
from sktslib.distances.compute_distance import time_series_distance
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesRegressor, ShapeletTransform
from sktslib.search import Percentile, Subsequences
from sktslib.search.search_utils import elastic_search, lockstep_search, start_sequences_index

pytestmark = pytest.mark.usefixtures("_nothing_is_printed")

REFUSED = {
    ValueError: [
        # misspelt and unknown names
        (lambda: d.dtw(Q, S, weigth=Q), "Did you mean 'weight'? Valid: alpha, dist, do_dist_norm"),
        (lambda: d.lcss(Q, S, report=1), "Valid: cost_matrix, distance, path, similarity."),
        (lambda: d.tam(Q, S, report=["ratios"]), "Unknown report ['ratios'] of tam. Valid: distance"),
        (lambda: d.dtw(Q, S, dtw_type="subdtw"), "'dtw_type' parameter of DTW must be a str among"),
        (lambda: d.get_metric("dwt"), "Unknown metric 'dwt'. Did you mean 'dtw'? Valid: "),
        (lambda: d.get_metric(d.LCSS(), {"epps": 1}), "of LCSS. Did you mean 'eps'?"),
        (lambda: d.get_metric(d.DTW(alpha=3)), "'alpha' parameter of DTW"),
        (lambda: d.metric_names("elastik"), "Unknown family 'elastik'. Did you mean 'elastic'?"),
        (lambda: get_distance_dict(["Euclidean Distanc"]), "Did you mean 'euclidean'? Valid: "),
        (lambda: get_distance_dict([None]), "Unknown distance None. Valid: "),
        # parameters that do not go together
        (lambda: d.dtw(Q, S, factor=3), "'factor' parameter of DTW must be None unless window='sakoe-chiba'"),
        *[
            (
                lambda value=value: d.DTW(window=value)(Q, S),
                f"a float in the range (0, 1], a share of the shorter length. Got {value}. For a radius in samples set "
                f"window='sakoe-chiba' and factor={int(value)}.",
            )
            for value in (1, 5, 2.5)
        ],
        (lambda: d.lcss(Q, S, window=0.5, factor=3), "Got 3 with window=0.5."),
        (lambda: d.dtw(Q, S, tolerance=3), "must be 0 unless dtw_type='psi-dtw', which it belongs to."),
        (lambda: d.dtw(Q, S, dtw_type="psi-dtw", tolerance=8), "be smaller than the shorter length, 8. Got 8."),
        (lambda: d.dlp(Q, S), "'x' and 'y' must have the same shape. Got (8,) and (30,); resample"),
        (lambda: d.dlp(Q, Q[:, None]), "Got (8,) and (8, 1); resample or reshape one of them."),
        (lambda: d.short_time_series_distance(Q, S), "of equal length. Got 8 and 30 points; interpolate"),
        (
            lambda: d.euclidean_distance([1, 2, 3, 4], [1, 2], weight=[0, 1, 0, 0]),
            "'weight' must leave at least one point: the query of 4 points is interpolated to 2",
        ),
        (lambda: d.mahalanobis_distance(Q, Q, VI=np.eye(3)), "'VI' parameter", "8 * 1 = 8. Got 3."),
        (lambda: d.mahalanobis_distance(Q, Q, VI=Q), "must be a square matrix", "Got shape (8,)."),
        (lambda: d.mahalanobis_distance([1], [2], VI=[[np.nan]]), "'VI' must be finite. Got 1 NaN"),
        (lambda: d.mahalanobis_distance([1], [3], VI=[[-1]]), "positive semi-definite", "-4."),
        (lambda: d.Mahalanobis().fit(Q), "'X' must be a collection of at least two series", "(8,)."),
        # functions of the caller's
        (lambda: d.dtw(Q, S, dist=lambda a, b: np.nan), "'dist' parameter must return finite costs", "nan"),
        (lambda: d.dtw(Q, S, dist=lambda a, b: -1.0), "costs of at least 0. Got -1.0 for a pair"),
        (lambda: d.CallableMetric(lambda a, b: np.nan)(Q, S), "must return a number. Got NaN"),
        (lambda: QuerySearcher(one).fit(Q, weight=T).search(S), "takes no argument 'weight'."),
        (lambda: QuerySearcher(lambda a, b: np.nan).fit(Q).search(S), "Got NaN; return inf"),
        (lambda: QuerySearcher(one, candidates="subsequence").fit(Q), "='subsequence' needs an elastic metric"),
        # searches
        (lambda: QuerySearcher("euclidean").fit(S).search(Q), "Got 30 and 8 points; cut the query, or"),
        (lambda: time_series_search(EUCLIDEAN_DICT, S, Q), "must not be longer than the sequence"),
        (lambda: QuerySegmenter("cosine").fit(S).segment(Q), "must not be longer than"),
        (
            lambda: QuerySearcher("euclidean", candidates="subsequence").fit(Q),
            "candidates='subsequence' needs an elastic metric; Euclidean Distance compares windows",
            "Set candidates='windows' or 'auto'.",
        ),
        (lambda: QuerySearcher(d.LCSS(window="itakura")).fit(Q), "Itakura's", "Search by windows"),
        (
            lambda: time_series_search(entry(function="dtw", parameters={"window": "itakura"}), Q, S),
            "'window' parameter must be None, a float or 'sakoe-chiba' in a subsequence search",
        ),
        (lambda: QuerySegmenter(d.DTW(window=0.1)).fit(Q), "in a segmentation", "'lengths'"),
        (
            lambda: QuerySegmenter(transitions=np.zeros((2, 2))).fit([Q, S]),
            "'transitions' must have shape (3, 3): a row and a column for background and each of the 2 queries",
            "Got shape (2, 2)",
        ),
        (lambda: QuerySegmenter(transitions=[[0, -1], [0, 0]]).fit(Q), "must not be negative or NaN. Got -1."),
        (
            lambda: QuerySegmenter(lengths=[(1, 2)] * 3).fit([Q, S]),
            "or a list of such pairs, one for each query. Got [(1, 2), (1, 2), (1, 2)] for 2 queries.",
        ),
        (
            lambda: QuerySearcher(d.DTW(do_sign_norm=True), candidates="windows").fit(Q),
            "'do_sign_norm' parameter of DTW must be False in a search",
            "normalize='zscore'",
        ),
        (lambda: QuerySegmenter(lengths=(5, 3)).fit(Q), "The shortest must not exceed the longest. Got 5 and 3."),
        (lambda: QuerySegmenter(lengths=(-1, None)).fit(Q), "must be an integer in the range [1, inf). Got -1."),
        (lambda: QuerySegmenter(lengths=(None, 0)).fit(Q), "must be an integer in the range [1, inf). Got 0."),
        (
            lambda: ShapeletTransform("euclidean", queries=[Q], min_length=20).fit([S]).transform([S]),
            "must let windows of the query's length through, 8 points. Got 20 and None",
        ),
        (lambda: QuerySearcher("tam").fit(Q), "Time Alignment Measurement has no search"),
        (lambda: QuerySegmenter("tam").fit(Q), "Time Alignment Measurement has no search"),
        (lambda: start_sequences_index([1, np.nan]), "'distance' must not hold NaN or -infinity. Got 1"),
        (lambda: start_sequences_index([-np.inf, 1]), "Got 1 of them, first at index 0; use inf"),
        (lambda: start_sequences_index(Q2), "'distance' must be one-dimensional and not empty."),
        (lambda: start_sequences_index([]), "not empty. Got shape (0,)."),
    ],
    TypeError: [
        (lambda: d.get_metric(None), "must be a name, a metric object or a callable. Got None. Names:"),
        (lambda: get_distance_dict("dtw"), "'names' must be a list of names. Got the string 'dtw'; pass"),
        (lambda: get_distance_dict(5), "'names' must be a list of names, or None for all distances. Got 5."),
        (lambda: d.mahalanobis_distance(Q, Q, VI="auto"), "'VI' must hold real numbers. Got text"),
        (lambda: d.dtw(Q, S, dist=lambda a, b: None), "must return one real number", "Got None."),
        (lambda: d.dtw(Q, S, dist=lambda a, b: [1, 2]), "for two points. Got [1, 2]."),
        (lambda: d.CallableMetric(lambda a, b: "1")(Q, S), "as one real number. Got '1'."),
        (lambda: d.CallableMetric(lambda a, b: a)(Q, S), "as one real number. Got array(["),
    ],
}


@pytest.mark.parametrize(("error", "row"), [(error, row) for error, rows in REFUSED.items() for row in rows])
def test_error(error, row):
    refused(*row, error=error)


def test_unknown_parameters_are_refused_by_the_name_of_the_class():
    for cls in (KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesRegressor, QuerySearcher):
        with pytest.raises(TypeError, match=rf"^{cls.__name__}\(\) got .* 'window'.* metric_params={{'window': 0.1}}"):
            cls("dtw", window=0.1)
    refused(lambda: KNeighborsTimeSeriesClassifier(n_neigbors=3), "Did you mean 'n_neighbors'", error=TypeError)

    class Own(KNeighborsTimeSeriesClassifier):
        def __init__(self, own=1, **rest):
            super().__init__(**rest)

    assert Own(own=2, n_neighbors=3).n_neighbors == 3


def test_names_of_files_and_axes_too_many():
    for call in (KNeighborsTimeSeriesClassifier().fit, QuerySearcher().fit):
        for name in ("beat.csv", "beat.mseed", Path("beats", "100")):
            with pytest.raises(TypeError, match=r"Got the name of a file, 'beat.*Read it first"):
                call(name, [0])
    with pytest.raises(ValueError, match=r"shape \(3, 4, 5, 6\)\. Reshape your data: one axis for channels is enough"):
        KNeighborsTimeSeriesClassifier().fit(np.zeros((3, 4, 5, 6)), [0, 1, 0])


# ---------------------------------------------------------------------------------------------- parameters out of range


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda v: d.dtw(Q, S, alpha=v), "'alpha' parameter of DTW"),
        (lambda v: d.dtw(Q, S, do_sign_norm=v), "'do_sign_norm' parameter of DTW"),
        (lambda v: d.dtw(Q, S, dist=v), "'dist' parameter of DTW"),
        (lambda v: d.dtw(Q, S, dtw_type=v), "'dtw_type' parameter of DTW"),
        (lambda v: d.lcss(Q, S, v), "'eps' parameter of LCSS"),
        (lambda v: d.twed(Q, S, None, None, v), "'nu' parameter of TWED"),
        (lambda v: QuerySearcher(threshold=Percentile(v)).fit(Q), "'q' parameter of Percentile"),
        (lambda v: QuerySearcher(candidates=v).fit(Q), "'candidates' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(candidates=Subsequences(v)).fit(Q), "'min_length' parameter of Subsequences"),
        (lambda v: QuerySearcher(candidates=Subsequences(1, v)).fit(Q), "'max_length' parameter of Subsequences"),
        (lambda v: QuerySearcher(normalize=v).fit(Q), "'normalize' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(metric_params=v).fit(Q), "'metric_params' parameter of QuerySearcher"),
        (lambda v: QuerySegmenter(background=v).fit(Q), "'background' parameter of QuerySegmenter"),
        (lambda v: d.get_metric("dtw", v), "'params' parameter"),
        (lambda v: d.CallableMetric(v)(Q, S), "'function' parameter of CallableMetric"),
        (lambda v: d.CallableMetric(one, v)(Q, S), "'parameters' parameter of CallableMetric"),
    ],
)
def test_parameters_out_of_range(call, parameter):
    for value in (np.nan, np.inf, -1, "1", HUGE):
        message = refused(partial(call, value), f"The {parameter}", "must", "Got ", error=(ValueError, TypeError))
        assert value is HUGE or repr(value) in message


OUTPUTS = {
    TypeError: [
        *[(v, "'output' must be a pair such as ('number', 3)") for v in (None, 3, "number", ("number",), (1, 2, 3))],
        (("number", True), "Got True."),
        (("threshold", None), "output=('threshold', value) must be a real number in the range (-inf, inf)."),
    ],
    ValueError: [
        (("nummer", 3), "Unknown kind 'nummer' of 'output'. Did you mean 'number'? Valid: number, percentile"),
        ((["number"], 3), "Unknown kind ['number'] of 'output'. Valid: number, percentile, threshold."),
        (("number", 0), "The 'value' parameter of output=('number', value) must be an integer in the range [1, inf)"),
        (("threshold", np.nan), "Got nan."),
        (("threshold", HUGE), "It does not fit into float64."),
        (("percentile", 101), "output=('percentile', value) must be a real number in the range [0, 100]. Got 101."),
        (("percentile", -1), "Got -1."),
    ],
}


@pytest.mark.parametrize(
    ("output", "error", "message"), [(o, e, m) for e, rows in OUTPUTS.items() for o, m in rows], ids=str
)
def test_malformed_output(output, error, message):
    refused(lambda: time_series_search(DTW_DICT, Q, S, output=output), message, error=error)
    refused(lambda: start_sequences_index(S, output), message, error=error)


# -------------------------------------------------------------------------------------------- dictionaries of distances


ENTRIES = {
    TypeError: [
        (None, "'dict_distances' must be a dictionary of distances, as get_distance_dict makes it. Got None."),
        (d.DTW(), "Got DTW()."),
        ({"elastic": ["dtw"]}, "The family 'elastic' of 'dict_distances' must be a dictionary of entries."),
        ({"elastic": {"mine": "dtw"}}, "The entry 'mine' must be a dictionary with the keys multivariate,"),
        (entry(function="dtw", parameters=5), "'parameters' of the entry 'mine' must be a dictionary, or ''"),
        (entry(function=lambda a, b: None), "must return the distance as one real number. Got None."),
    ],
    ValueError: [
        ({"elastik": {}}, "Unknown family 'elastik' of 'dict_distances'. Did you mean 'elastic'?"),
        ({"mine": {"function": "dtw"}}, "A dictionary of distances holds family -> name -> entry"),
        (entry(), "The entry 'mine' must have the key 'function', a registered name or a callable."),
        (entry(params={}), "Unknown key 'params' of the entry 'mine'. Did you mean 'parameters'?"),
        (entry(function="dwt"), "Unknown function 'dwt' of the entry 'mine'. Did you mean 'dtw'?"),
        (entry(function=None), "Unknown function None of the entry 'mine'. Valid: "),
        (entry(function=str), "Unknown function <class 'str'> of the entry 'mine'."),
        (entry(function="euclidean"), "must be in the family 'lockstep'. Got 'elastic'."),
        (entry(function=d.TAM), "The function 'tam' of the entry 'mine' must be in the family 'time'."),
        (entry(function="dtw", use="maybe"), "'use' of the entry 'mine' must be 'yes' or 'no'. Got 'maybe'."),
        (entry(function="dtw", multivariate="false"), "'multivariate' of the entry 'mine' must be 'yes' or 'no'."),
        (entry(function="dtw", parameters={"aplha": 1}), "Unknown parameter 'aplha' of the entry 'mine'."),
        (entry(function="dtw", parameters={3: 1}), "Unknown parameter 3 of the entry 'mine'."),
        (entry(function="dtw", parameters={"time": "true"}), "Unknown parameter 'time' of the entry 'mine'."),
        (entry(function="dtw", parameters={"alpha": 2}), "'alpha' parameter of DTW"),
        (entry(function="dtw", parameters={"report": "path"}), "'report' of the entry 'mine' must be 'distance'"),
        (entry(function="dtw", parameters={"factor": 3}), "'factor' parameter of DTW must be None unless"),
        (entry(function=lambda a, b: np.nan), "must return a number. Got NaN"),
    ],
}


@pytest.mark.parametrize(("wrong", "error", "message"), [(w, e, m) for e, rows in ENTRIES.items() for w, m in rows])
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
    refused(lambda: elastic_search({"function": "cosine"}, Q, S), "must be in the family 'lockstep'.")
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

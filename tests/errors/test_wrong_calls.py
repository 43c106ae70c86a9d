"""Unknown names, parameters that do not go together, functions of the caller's: errors that name the way out."""

from pathlib import Path

import numpy as np
import pytest
from inputs import EUCLIDEAN_DICT, Q2, Q, S, T, entry, one, refused

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict, time_series_search
from sktslib import distances as d
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesRegressor, ShapeletTransform
from sktslib.search.search_utils import elastic_search, lockstep_search, start_sequences_index

pytestmark = pytest.mark.usefixtures("_nothing_is_printed")

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
        "Did you mean 'euclidean'? Valid: ",
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
        lambda: QuerySearcher(one).fit(Q, weight=T).search(S),
        ValueError,
        "takes no argument 'weight'.",
    ),
    "callable nan search": (
        lambda: QuerySearcher(lambda a, b: np.nan).fit(Q).search(S),
        ValueError,
        "Got NaN; return inf",
    ),
    "callable warped": (
        lambda: QuerySearcher(one, candidates="subsequence").fit(Q),
        ValueError,
        "candidates='subsequence' needs an elastic metric",
    ),
    # searches
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
    "warped lockstep": (
        lambda: QuerySearcher("euclidean", candidates="subsequence").fit(Q),
        ValueError,
        "candidates='subsequence' needs an elastic metric; Euclidean Distance compares windows",
        "Take candidates='windows' or 'auto'.",
    ),
    "itakura": (lambda: QuerySearcher(d.LCSS(window="itakura")).fit(Q), ValueError, "Itakura's", "Search by windows"),
    "itakura dict": (
        lambda: time_series_search(entry(function="dtw", parameters={"window": "itakura"}), Q, S),
        ValueError,
        "'window' parameter must be None, a float or 'sakoe-chiba' in a subsequence search",
    ),
    "band of segments": (
        lambda: QuerySegmenter(d.DTW(window=0.1)).fit(Q),
        ValueError,
        "in a segmentation",
        "'lengths'",
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
        lambda: QuerySegmenter(lengths=[(1, 2)] * 3).fit([Q, S]),
        ValueError,
        "or a list of such pairs, one for each query. Got [(1, 2), (1, 2), (1, 2)] for 2 queries.",
    ),
    "sign norm": (
        lambda: QuerySearcher(d.DTW(do_sign_norm=True), candidates="windows").fit(Q),
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
        lambda: QuerySegmenter(lengths=(5, 3)).fit(Q),
        ValueError,
        "The shortest must not exceed the longest. Got 5 and 3.",
    ),
    "lengths of windows": (
        lambda: ShapeletTransform("euclidean", queries=[Q], min_length=20).fit([S]).transform([S]),
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


def test_unknown_parameters_are_refused_by_the_name_of_the_class():
    for cls in (KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesRegressor, QuerySearcher):
        with pytest.raises(TypeError, match=rf"^{cls.__name__}\(\) got .* 'window'.* metric_params={{'window': 0.1}}"):
            cls("dtw", window=0.1)
    with pytest.raises(TypeError, match="Did you mean 'n_neighbors'"):
        KNeighborsTimeSeriesClassifier(n_neigbors=3)

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

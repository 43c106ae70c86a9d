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

REFUSED = {
    ValueError: [
        # misspelt and unknown names
        (lambda: d.dtw(Q, S, aplha=1), "Unknown parameter 'aplha' of dtw. Did you mean 'alpha'?"),
        (lambda: d.dtw(Q, S, weigth=Q), "Did you mean 'weight'? Valid: alpha, dist, do_dist_norm"),
        (lambda: d.lcss(Q, S, facto=1), "Unknown parameter 'facto' of lcss. Did you mean 'factor'?"),
        (lambda: d.dtw(Q, S, report="paths"), "Unknown report 'paths' of dtw. Did you mean 'path'?"),
        (lambda: d.lcss(Q, S, report=1), "Valid: cost_matrix, distance, path, similarity."),
        (lambda: d.twed(Q, S, None, None, report=[]), "Unknown report [] of twed. Valid: cost_matrix"),
        (lambda: d.tam(Q, S, report=["ratios"]), "Unknown report ['ratios'] of tam. Valid: distance"),
        (lambda: d.dtw(Q, S, dtw_type="subdtw"), "'dtw_type' parameter of DTW must be a str among"),
        (lambda: d.get_metric("dwt"), "Unknown metric 'dwt'. Did you mean 'dtw'? Valid: "),
        (lambda: d.get_metric("dtw", {"aplha": 1}), "of DTW. Did you mean 'alpha'?"),
        (lambda: d.get_metric(d.LCSS(), {"epps": 1}), "of LCSS. Did you mean 'eps'?"),
        (lambda: d.get_metric(d.DTW(alpha=3)), "'alpha' parameter of DTW"),
        (lambda: d.metric_names("elastik"), "Unknown family 'elastik'. Did you mean 'elastic'?"),
        (lambda: QuerySearcher().set_params(metric__aplha=1), "Invalid parameter 'aplha'"),
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
        (lambda: d.SoftDTW(window=5)(Q, S), "Got 5. For a radius in samples set"),
        (lambda: d.lcss(Q, S, window=0.5, factor=3), "Got 3 with window=0.5."),
        (lambda: d.dtw(Q, S, tolerance=3), "must be 0 unless dtw_type='psi-dtw', which it belongs to."),
        (
            lambda: d.dtw(Q, S, dtw_type="psi-dtw", tolerance=8),
            "'tolerance' parameter of DTW must be smaller than the shorter length, 8. Got 8.",
        ),
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
        (
            lambda: QuerySearcher(one, candidates="subsequence").fit(Q),
            "candidates='subsequence' needs an elastic metric",
        ),
        # searches
        (lambda: QuerySearcher("euclidean").fit(S).search(Q), "Got 30 and 8 points; cut the query, or"),
        (lambda: time_series_search(EUCLIDEAN_DICT, S, Q), "must not be longer than the sequence"),
        (lambda: lockstep_search(EUCLIDEAN_DICT, S, Q), "must not be longer than the sequence"),
        (lambda: QuerySegmenter("cosine").fit(S).segment(Q), "must not be longer than"),
        (
            lambda: QuerySearcher("euclidean", candidates="subsequence").fit(Q),
            "candidates='subsequence' needs an elastic metric; Euclidean Distance compares windows",
            "Take candidates='windows' or 'auto'.",
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
        (
            lambda: QuerySegmenter(transitions=[[0, -1], [0, 0]]).fit(Q),
            "'transitions' must not be negative or NaN. Got -1.",
        ),
        (
            lambda: QuerySegmenter(lengths=[(1, 2)] * 3).fit([Q, S]),
            "or a list of such pairs, one for each query. Got [(1, 2), (1, 2), (1, 2)] for 2 queries.",
        ),
        (
            lambda: QuerySearcher(d.DTW(do_sign_norm=True), candidates="windows").fit(Q),
            "'do_sign_norm' parameter of DTW must be False in a search",
            "normalize='zscore'",
        ),
        (
            lambda: elastic_search({"function": "dtw", "parameters": {"do_sign_norm": True}}, Q, S),
            "'do_sign_norm' parameter of DTW must be False in a search",
        ),
        (lambda: QuerySegmenter(lengths=(5, 3)).fit(Q), "The shortest must not exceed the longest. Got 5 and 3."),
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
        (lambda: d.CallableMetric(lambda a, b: None)(Q, S), "as one real number. Got None."),
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

"""The functional API: dictionaries of distances, thin wrappers, and what they promise."""

from copy import deepcopy

import naive
import numpy as np
import pandas as pd
import pytest

import sktslib
from sktslib import QuerySearcher, get_distance_dict, load_ecg_example, time_series_search, time_series_segmentation
from sktslib.distances import TWED, dtw, euclidean_distance, get_metric, lcss, metric_names, tam, twed
from sktslib.distances.compute_distance import time_series_distance
from sktslib.search import Percentile, Subsequences
from sktslib.search.search_utils import elastic_search, lockstep_search

ECG = load_ecg_example()
QUERY, SEQUENCE, WEIGHT = ECG["query"], ECG["sequence"], ECG["weight"]
FULL_NAMES = {
    "time": ["Time Alignment Measurement"],
    "lockstep": [
        "Braycurtis Distance",
        "Canberra Distance",
        "Chebyshev Distance",
        "Correlation Distance",
        "Cosine Distance",
        "Euclidean Distance",
        "Hamming Distance",
        "Kullback-Leibler Divergence",
        "Mahalanobis Distance",
        "Manhattan Distance",
        "Minkowski Distance",
        "Pearson Correlation Distance",
        "Short Time Series Distance",
        "Squared Euclidean Distance",
    ],
}


def test_every_name_makes_its_entry():
    made = get_distance_dict()
    for family, names in made.items():
        assert set(names) == {get_metric(name).full_name for name in metric_names(family)}
        assert set(names) >= set(FULL_NAMES.get(family, ()))  # that programs know, here and below
    for name, parameters in {
        "Amerced Dynamic Time Warping": {"omega": 1.0},
        "Derivative Dynamic Time Warping": "",
        "Dynamic Time Warping": {"dtw_type": "dtw", "alpha": 1},
        "Edit Distance on Real Sequences": {"eps": 1.0},
        "Edit Distance with Real Penalty": {"g": 0.0},
        "Frechet Distance": "",
        "Global Alignment Kernel": {"sigma": 1.0},
        "Longest Common Subsequence": {"eps": 1, "report": "distance"},
        "Move-Split-Merge": {"c": 1.0},
        "Shape Dynamic Time Warping": {"reach": 5},
        "Shape-Based Distance": "",
        "Soft Dynamic Time Warping": {"gamma": 1.0},
        "Time Warp Edit Distance": {"nu": 0.001, "lmbda": 1.0, "p": 2, "time": "true"},
        "Weighted Derivative Dynamic Time Warping": {"g": 0.05},
        "Weighted Dynamic Time Warping": {"g": 0.05},
    }.items():
        assert made["elastic"][name]["parameters"] == parameters
    assert made["lockstep"]["Minkowski Distance"]["parameters"] == {"p": 3}
    assert made["time"]["Time Alignment Measurement"]["parameters"] == ""
    for group in made.values():
        for entry in group.values():
            assert set(entry) == {"multivariate", "description", "function", "parameters", "use"}
            assert entry["use"] == ("no" if entry["function"] == "kullback_leibler" else "yes")
    assert list(get_distance_dict(["Pearson Correlation"])["lockstep"]) == ["Pearson Correlation Distance"]
    assert list(get_distance_dict(["Cross Correlation Distance"])["lockstep"]) == ["Correlation Distance"]
    made["elastic"]["Dynamic Time Warping"]["parameters"]["alpha"] = 0.5
    assert get_distance_dict(["dtw"])["elastic"]["Dynamic Time Warping"]["parameters"]["alpha"] == 1


@pytest.mark.slow
def test_table_of_distances():
    cfg = get_distance_dict()
    before = deepcopy(cfg)
    x, y = SEQUENCE[:65], SEQUENCE[300:365]
    table = time_series_distance(cfg, x, y)
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == ["Distance"]
    defined = set(metric_names()) - set(naive.POSITIVE)  # for any values
    assert set(table.index) == {get_metric(name).full_name for name in defined}
    assert table["Distance"].dtype == np.float64
    assert table.loc["Dynamic Time Warping", "Distance"] == float(dtw(x, y))
    assert table.loc["Longest Common Subsequence", "Distance"] == float(lcss(x, y))
    for name in set(metric_names("elastic")) - {"dtw", "lcss", "twed"}:  # which have functions of their own
        metric = get_metric(name)
        assert table.loc[metric.full_name, "Distance"] == metric(x, y)
    assert table.loc["Time Alignment Measurement", "Distance"] == tam(x, y)
    assert table.loc["Euclidean Distance", "Distance"] == euclidean_distance(x, y)
    assert cfg == before
    t = ECG["ts"]
    timed = time_series_distance(get_distance_dict(["twed"]), x, y, t[:65], t[300:365])
    assert timed.iloc[0, 0] == float(twed(x, y, t[:65], t[300:365]))
    cfg = get_distance_dict(["twed"])
    cfg["elastic"]["Time Warp Edit Distance"]["parameters"]["time"] = "false"
    assert time_series_distance(cfg, x, y, t[:65], t[300:365]).iloc[0, 0] == float(twed(x, y, None, None))


def test_search_results():
    names = ["Dynamic Time Warping", "Euclidean Distance", "Longest Common Subsequence", "Time Warp Edit Distance"]
    cfg = get_distance_dict(names)
    before = deepcopy(cfg)
    found = time_series_search(cfg, QUERY, SEQUENCE, ECG["tq"], ECG["ts"], WEIGHT, ("number", 3))
    assert cfg == before
    assert set(found) == set(names)
    for name, result in found.items():
        assert set(result) == {"start", "end", "path", "path_dist", "distance", "start_time", "end_time"}
        assert len(result["start"]) == len(result["end"]) == len(result["path"]) == len(result["path_dist"]) == 3
        assert (result["end"] > result["start"]).all()
        assert (np.diff(result["path_dist"]) >= 0).all()
        np.testing.assert_array_equal(result["start_time"], ECG["ts"][result["start"]])
        n = len(SEQUENCE) if name != "Euclidean Distance" else len(SEQUENCE) - len(QUERY) + 1
        assert result["distance"].shape == (n,)
        for start, end, path in zip(result["start"], result["end"], result["path"], strict=True):
            assert path.shape[0] == 2
            assert start <= path[1].min() <= path[1].max() < end
    path = found["Euclidean Distance"]["path"][0]
    np.testing.assert_array_equal(path[0], np.arange(65))
    np.testing.assert_array_equal(path[1], found["Euclidean Distance"]["start"][0] + np.arange(65))


def test_use_no_skips_and_sparse_entries_work():
    cfg = {
        "elastic": {"warp": {"function": "dtw", "parameters": ""}, "off": {"function": "lcss", "use": "no"}},
        "lockstep": {"straight": {"function": "euclidean_distance"}, "mine": {"function": euclidean_distance}},
    }
    found = time_series_search(cfg, QUERY, SEQUENCE)
    assert set(found) == {"warp", "straight", "mine"}
    np.testing.assert_array_equal(found["straight"]["distance"], found["mine"]["distance"])


def test_a_callable_of_the_users():
    def worst(x, y, power=1):
        return np.abs(x - y).max() ** power

    cfg = {"lockstep": {"worst": {"function": worst, "parameters": {"power": 2}}}}
    got = time_series_search(cfg, QUERY, SEQUENCE)["worst"]
    want = lockstep_search({"function": "chebyshev"}, QUERY, SEQUENCE)
    np.testing.assert_allclose(got["distance"], want**2)
    assert time_series_distance(cfg, [0, 0], [3, 4]).loc["worst", "Distance"] == 16.0
    assert list(time_series_segmentation(cfg, [0, 5, 0], [9, 0, 5, 0, 9])["worst"]) == [1, 4]

    def timed(x, y, tx, ty):
        return abs((tx[-1] - tx[0]) - (ty[-1] - ty[0])) + np.abs(x - y).sum()

    cfg = {"elastic": {"timed": {"function": timed, "parameters": {"time": "true"}}}}
    assert time_series_distance(cfg, [0, 0], [0, 0], [0, 1], [0, 3]).loc["timed", "Distance"] == 2.0
    found = time_series_search(cfg, [0, 0], [0, 0, 0], [0, 1], [0, 3, 4])["timed"]
    np.testing.assert_array_equal(found["distance"], [2.0, 0.0])


def test_ends_are_free_whatever_the_type():
    a = elastic_search({"function": "dtw", "parameters": {"dtw_type": "dtw"}}, QUERY, SEQUENCE)[0]
    b = elastic_search({"function": "dtw", "parameters": {"dtw_type": "psi-dtw", "tolerance": 3}}, QUERY, SEQUENCE)[0]
    np.testing.assert_array_equal(a, b)


def test_metric_objects_stand_in_entries():
    cfg = {"elastic": {"mine": {"function": TWED(nu=0.5), "parameters": {"lmbda": 0.25}}}}
    got = time_series_distance(cfg, [0, 1], [0, 2])
    assert got.loc["mine", "Distance"] == TWED(nu=0.5, lmbda=0.25)([0, 1], [0, 2])


def test_public_names():
    for name in sktslib.__all__:
        assert getattr(sktslib, name) is not None
    assert set(sktslib.__all__) <= set(dir(sktslib))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sktslib.nothing


# Of the example's first 400 samples: starts, ends and first distances of as many matches as fit, and boundaries.
KNOWN = {
    "Dynamic Time Warping": (
        [29, 220, 292, 160, 361, 93, 27, 12, 5, 4, 3, 2, 1, 0],
        [81, 275, 342, 209, 391, 116, 28, 13, 6, 5, 4, 3, 2, 1],
        [0.0017483368118769232, 0.003689641552307693, 0.005815769590138459],
        [0, 94, 117, 137, 220, 275, 362, 397],
    ),
    "Amerced Dynamic Time Warping": (
        [24, 217, 282, 152, 0],
        [89, 282, 347, 217, 24],
        [0.172141302312, 0.27183971856400013, 0.44844090673399983],
        [24, 89, 152, 217, 282, 347],
    ),
    "Longest Common Subsequence": (
        [23, 151, 216, 282, 348, 0],
        [88, 216, 281, 347, 400, 23],
        [0.0, 0.0, 0.0],
        [24, 89, 152, 217, 282, 283, 348],
    ),
    "Euclidean Distance": (
        [24, 217, 282, 152],
        [89, 282, 347, 217],
        [0.4148991471574749, 0.5213825069601014, 0.6696573054436126],
        [24, 89, 152, 217, 282, 347],
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_defaults_of_the_estimators_do_not_reach_the_functions(name):
    cfg, y = get_distance_dict([name]), SEQUENCE[:400]
    start, end, distance, boundaries = KNOWN[name]
    found = time_series_search(cfg, QUERY, y, weight=WEIGHT, output=("number", None))[name]
    assert (found["start"].tolist(), found["end"].tolist()) == (start, end)
    np.testing.assert_allclose(found["path_dist"][:3], distance, rtol=1e-12, atol=1e-15)
    assert time_series_segmentation(cfg, QUERY, y)[name].tolist() == boundaries
    (entry,) = (one for group in cfg.values() for one in group.values())
    metric = get_metric(entry["function"], {"do_dist_norm": True} if entry["function"] == "dtw" else None)
    for output, rule in (
        (("number", 1), {"n_matches": 1}),
        (("number", None), {"n_matches": None}),
        (("threshold", distance[2]), {"n_matches": None, "threshold": distance[2]}),
        (("percentile", 20), {"n_matches": None, "threshold": Percentile(20)}),
    ):
        got = time_series_search(cfg, QUERY, y, weight=WEIGHT, output=output)[name]
        any_length = Subsequences(min_length=None) if metric.family == "elastic" else "auto"
        searcher = QuerySearcher(metric, candidates=any_length, **rule).fit(QUERY, weight=WEIGHT)
        want = searcher.search(y)
        np.testing.assert_array_equal(got["start"], want.start)
        np.testing.assert_array_equal(got["end"], want.end)
        np.testing.assert_array_equal(got["path_dist"], want.distance)
        np.testing.assert_array_equal(got["distance"], searcher.profile(y).distance)


@pytest.mark.parametrize("call", [time_series_search, time_series_segmentation])
def test_a_time_distance_is_left_out_with_a_warning_that_names_it(call):
    cfg = get_distance_dict(["Dynamic Time Warping", "Time Alignment Measurement"])
    with pytest.warns(UserWarning, match=r"no search.*Got \['Time Alignment Measurement'\], which are left out"):
        found = call(cfg, QUERY, SEQUENCE)
    assert [*found] == ["Dynamic Time Warping"]
    cfg["time"]["Time Alignment Measurement"]["use"] = "no"  # the way out
    assert [*call(cfg, QUERY, SEQUENCE)] == [*found]
    if call is time_series_segmentation:
        cfg = get_distance_dict(["dtw", "frechet", "cid_dtw"])
        with pytest.warns(UserWarning, match="is left out") as told:
            assert [*call(cfg, QUERY, SEQUENCE)] == ["Dynamic Time Warping"]
        assert len(told) == 2
    with pytest.raises(ValueError, match=r"alone\. Compute them with time_series_distance"):
        call(get_distance_dict(["Time Alignment Measurement"]), QUERY, SEQUENCE)

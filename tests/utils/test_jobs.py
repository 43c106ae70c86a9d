"""Bars that show how far long calls have come, and jobs."""

import re

import numpy as np
import pytest
from joblib import delayed, parallel_config

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict, time_series_search, time_series_segmentation
from sktslib.distances import barycenter, nearest_neighbors, pairwise_distances
from sktslib.neighbors import (
    DistanceKernel,
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesTransformer,
    PairwiseDistances,
    QueryDistances,
    RadiusNeighborsTimeSeriesTransformer,
)
from sktslib.search.search_utils import elastic_search, lockstep_search
from sktslib.utils._jobs import in_jobs, progress

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 12))
Q = np.array([0.0, 1.0, 3.0, 1.0])
OTHER_Q = 2 * Q[::-1]
S, LABELS = RNG.normal(scale=0.1, size=300), np.zeros(300, int)
for k, first in enumerate(range(5, 290, 12)):
    S[first : first + 4] += OTHER_Q if k % 2 else Q
    LABELS[first : first + 4] = 1 + k % 2
UP = "\x1b[A"  # what a bar within another one ends with
ENTRIES = get_distance_dict(["dtw", "euclidean"])


class Slices:
    """A recording that is read by chunks."""

    shape = S.shape

    def __getitem__(self, key):
        return S[key]


def ranges(found):
    return [found.start, found.end, getattr(found, "distance", getattr(found, "cost", None))]


def search(query, X, **options):
    return ranges(QuerySearcher(n_matches=3, **options).fit(query).search(X))


def segment(*fit, **options):
    return ranges(QuerySegmenter(**options).fit(*fit).segment(S))


def matrix(made, **options):
    return np.asarray(made(**options).fit_transform(X[:9]) @ np.eye(9))


# Calls that take `n_jobs`, those that do not, and all bars that they show.
IN_JOBS = {
    "pairwise": (lambda **v: pairwise_distances(X, **v), {"pairwise distances"}),
    "nearest": (lambda **v: nearest_neighbors(X, **v).distances, {"nearest neighbors"}),
    "barycenter": (lambda **v: barycenter(X, return_cost=True, **v)[1], {"pairwise distances", "barycenter"}),
    "a query": (lambda **v: search(Q, S, **v), {"search"}),
    "queries": (lambda **v: search([Q, OTHER_Q], S, **v), {"search"}),
    "sequences": (lambda **v: search(Q, [S, S[:150]], **v), {"search"}),
    "by chunks": (lambda **v: search([Q, OTHER_Q], Slices(), **v), {"search"}),
    "several by chunks": (lambda **v: search(Q, [Slices(), Slices()], **v), {"search"}),
    "profile": (lambda **v: QuerySearcher(**v).fit([Q, 2 * Q]).profile(S)[1].distance, {"profile"}),
    "profile by chunks": (lambda **v: QuerySearcher(**v).fit(Q).profile(Slices()).distance, {"search"}),
    "transform": (lambda **v: QuerySearcher(**v).fit([Q, OTHER_Q]).transform(S), {"transform"}),
    "PairwiseDistances": (lambda **v: matrix(PairwiseDistances, **v), {"pairwise distances"}),
    "DistanceKernel": (lambda **v: matrix(DistanceKernel, **v), {"pairwise distances"}),
    "radius": (lambda **v: matrix(RadiusNeighborsTimeSeriesTransformer, radius=9, **v), {"pairwise distances"}),
    "kneighbors": (lambda **v: matrix(KNeighborsTimeSeriesTransformer, **v), {"nearest neighbors"}),
    "kneighbors, omit": (
        lambda **v: matrix(KNeighborsTimeSeriesTransformer, nan_policy="omit", **v),
        {"pairwise distances"},
    ),
    "classifier": (
        lambda **v: KNeighborsTimeSeriesClassifier(**v).fit(X, np.arange(20) % 3).predict_proba(X[::-1] + 0.5),
        {"nearest neighbors"},
    ),
    "QueryDistances": (lambda **v: matrix(QueryDistances, **v), {"query distances"}),
}
AVERAGED = {"pairwise distances", "barycenter", "learn queries"}
ALONE = {
    "subgradient": (
        lambda **v: barycenter(X, method="subgradient", max_iter=3, random_state=0, **v),
        {"pairwise distances", "barycenter"},
    ),
    "soft": (
        lambda **v: barycenter(X, "soft_dtw", method="soft", max_iter=3, **v),
        {"pairwise distances", "barycenter"},
    ),
    "learned queries": (
        lambda **v: ranges(QuerySearcher(**v).fit(S[:, np.newaxis], LABELS).search(S)),
        {*AVERAGED, "learn thresholds", "search"},
    ),
    "segmentation": (lambda **v: segment([Q, OTHER_Q], **v), {"segmentation"}),
    "segmentation of windows": (lambda **v: segment(Q, metric="euclidean", **v), {"segmentation"}),
    "refine": (lambda **v: segment(Q, refine=3, **v), {"segmentation", "refine"}),
    "one's own period": (
        lambda **v: segment(S, query="auto", **v),
        {"find the period", "average periods", "segmentation"},
    ),
    "learned segmentation": (
        lambda **v: segment(S[:, np.newaxis], LABELS, **v),
        {*AVERAGED, "learn background", "segmentation"},
    ),
    "time_series_search": (
        lambda **v: next(iter(time_series_search(ENTRIES, Q, S, **v).values()))["distance"],
        {"search"},
    ),
    "elastic_search": (lambda **v: elastic_search(get_distance_dict(["dtw"]), Q, S, **v)[1], {"search"}),
    "lockstep_search": (lambda **v: lockstep_search(get_distance_dict(["euclidean"]), Q, S, **v), {"search"}),
    "time_series_segmentation": (
        lambda **v: time_series_segmentation(ENTRIES, Q, S, **v)["Dynamic Time Warping"],
        {"segmentation"},
    ),
}
CALLS = IN_JOBS | ALONE


def bars(text):
    """Names of bars, and what each says in the end."""
    found = re.findall(r"([a-z][a-z ]*): +([^\r\n]*)", text)
    return {name: said.strip() for name, said in found if said.strip()}


@pytest.mark.parametrize("name", CALLS)
def test_a_bar_shows_how_far_the_work_has_come(name, capsys):
    call, names = CALLS[name]
    want = call()
    assert capsys.readouterr() == ("", "")
    for options in [{}, {"n_jobs": 2}] if name in IN_JOBS else [{}]:
        np.testing.assert_array_equal(call(verbose=1, **options), want)
        out, err = capsys.readouterr()
        assert out == ""
        assert set(bars(err)) == names
        for bar, said in bars(err).items():
            assert said.startswith("100%") or UP in said or bar == "barycenter", (bar, said)


def test_a_segmentation_counts_each_sample_but_those_missing(capsys):
    y = np.tile(S, 40)
    y[[100, 101, 7000]] = np.nan
    segmenter = QuerySegmenter(nan_policy="omit", verbose=1).fit([0.0, 5.0])
    want = segmenter.set_params(verbose=0).segment(y)
    got = segmenter.set_params(verbose=1).segment(y)
    np.testing.assert_array_equal(ranges(got), ranges(want))
    assert "12.0k/12.0k" in capsys.readouterr().err


def test_bars_within_others_go_again(capsys):
    with progress(2, 1, "outer", "step") as count:
        for _ in range(2):
            with progress(3, 1, "inner", "step") as within:
                within(3)
            count()
    err = capsys.readouterr().err
    assert err.endswith("\n")
    assert "outer: 100%" in err.rpartition("\r")[2]
    assert "inner" in err


def test_a_bar_ends_with_an_error(capsys):
    for _ in range(2):
        with pytest.raises(ValueError, match="'X' must be finite"):
            QuerySearcher(verbose=1).fit(Q).search([S, np.array([1, 2, np.nan, 3, 4.0])])
        assert capsys.readouterr().err.endswith("\n")  # and is not left open, for the next one to be a line below


@pytest.mark.parametrize("verbose", [0, 1])
@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_results_are_in_order_whatever_runs_the_jobs(backend, verbose):
    with parallel_config(backend, n_jobs=1):
        found = in_jobs([delayed(divmod)(k, 3) for k in range(5)], None, verbose, "jobs", "job", shared=False)
    assert found == [divmod(k, 3) for k in range(5)]


@pytest.mark.parametrize("name", CALLS)
def test_verbose_is_a_count(name):
    with pytest.raises(ValueError, match=r"The 'verbose' parameter.*Got -1"):
        CALLS[name][0](verbose=-1)

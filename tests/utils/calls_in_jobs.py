"""Calls that take `n_jobs`, and what they show and find."""

import numpy as np
from inputs import Slices

from sktslib import QuerySearcher, QuerySegmenter, get_distance_dict, time_series_search, time_series_segmentation
from sktslib.cluster import TimeSeriesKMeans, TimeSeriesKMedoids
from sktslib.distances import barycenter, nearest_neighbors, pairwise_distances
from sktslib.neighbors import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesTransformer,
    PairwiseDistances,
    ShapeletTransform,
)
from sktslib.search import Learning
from sktslib.search.search_utils import elastic_search, lockstep_search

LEARNED = {"n_queries": 2, "n_candidates": 6, "query_lengths": (5, 9), "random_state": 0}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 12))
Q = np.array([0.0, 1.0, 3.0, 1.0])
OTHER_Q = 2 * Q[::-1]
S, LABELS = RNG.normal(scale=0.1, size=300), np.zeros(300, int)
for k, first in enumerate(range(5, 290, 12)):
    S[first : first + 4] += OTHER_Q if k % 2 else Q
    LABELS[first : first + 4] = 1 + k % 2
ENTRIES = get_distance_dict(["dtw", "euclidean"])


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
    "by chunks": (lambda **v: search([Q, OTHER_Q], Slices(S), **v), {"search"}),
    "several by chunks": (lambda **v: search(Q, [Slices(S), Slices(S)], **v), {"search"}),
    "profile": (lambda **v: QuerySearcher(**v).fit([Q, 2 * Q]).profile(S)[1].distance, {"profile"}),
    "profile by chunks": (lambda **v: QuerySearcher(**v).fit(Q).profile(Slices(S)).distance, {"search"}),
    "transform": (lambda **v: QuerySearcher(**v).fit([Q, OTHER_Q]).transform(S), {"transform"}),
    "PairwiseDistances": (lambda **v: matrix(PairwiseDistances, **v), {"pairwise distances"}),
    "kneighbors": (lambda **v: matrix(KNeighborsTimeSeriesTransformer, **v), {"nearest neighbors"}),
    "kneighbors, omit": (
        lambda **v: matrix(KNeighborsTimeSeriesTransformer, nan_policy="omit", **v),
        {"pairwise distances"},
    ),
    "classifier": (
        lambda **v: KNeighborsTimeSeriesClassifier(**v).fit(X, np.arange(20) % 3).predict_proba(X[::-1] + 0.5),
        {"nearest neighbors"},
    ),
    "ShapeletTransform": (lambda **v: matrix(ShapeletTransform, **v), {"query distances"}),
    "time_series_search": (
        lambda **v: next(iter(time_series_search(ENTRIES, Q, S, **v).values()))["distance"],
        {"search"},
    ),
    "lockstep_search": (lambda **v: lockstep_search(get_distance_dict(["euclidean"]), Q, S, **v), {"search"}),
    "time_series_segmentation": (
        lambda **v: time_series_segmentation(ENTRIES, Q, S, **v)["Dynamic Time Warping"],
        {"segmentation"},
    ),
    "k-means": (lambda **v: TimeSeriesKMeans(2, init=X[:2], max_iter=3, **v).fit(X[:8]).cluster_centers_, {"clusters"}),
    "k-medoids": (
        lambda **v: TimeSeriesKMedoids(2, random_state=0, **v).fit(X).inertia_,
        {"pairwise distances", "medoids"},
    ),
    "shapelets": (
        lambda **v: np.array(ShapeletTransform(**LEARNED, **v).fit(X, np.arange(20) % 2).shapelets_, dtype=float),
        {"shapelets"},
    ),
}
AVERAGED = {"barycenter", "learn queries"}
ALONE = {
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
    "one's own period": (lambda **v: segment(S, query="auto", **v), {"average periods", "segmentation"}),
    "learned segmentation": (
        lambda **v: segment(S[:, np.newaxis], LABELS, **v),
        {*AVERAGED, "learn background", "segmentation"},
    ),
    "elastic_search": (lambda **v: elastic_search(get_distance_dict(["dtw"]), Q, S, **v)[1], {"search"}),
    "refine": (lambda **v: segment(Q, learning=Learning(refine=3), **v), {"segmentation", "refine"}),
}
CALLS = IN_JOBS | ALONE

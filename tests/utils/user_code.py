"""Code as users write it, for a type checker; no test runs it."""

from typing import assert_type

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sktslib import QuerySearcher, QuerySegmenter, dtw, load_ecg_example, search_in, warmup
from sktslib.distances import ADTW, DTW, LCSS, Metric, Neighbors, get_metric, nearest_neighbors, pairwise_distances
from sktslib.metrics import event_f1_score
from sktslib.neighbors import KNeighborsTimeSeriesClassifier, PairwiseDistances
from sktslib.search import Match, Matches, Profile, Segments
from sktslib.utils.visualisation import SearchDisplay, plot_alignment


def search(recording: pd.DataFrame, ax: Axes) -> Matches:
    ecg = load_ecg_example()
    searcher = QuerySearcher(DTW(alpha=0.7), normalize=None, n_matches="auto", threshold=0.5, max_gap=None)
    assert_type(searcher.fit(ecg.query, weight=ecg.weight), QuerySearcher)
    matches = searcher.search(recording, times=recording.index)
    assert_type(matches, Matches)
    assert_type(searcher.profile(recording), Profile)
    assert_type(matches.to_frame(), pd.DataFrame)
    assert_type(matches.path(0), NDArray[np.intp])
    assert_type(matches.plot(ax), SearchDisplay)
    assert_type(len(matches[matches.distance < 1.0]), int)
    for match in matches:
        assert_type(match, Match)
    several = QuerySearcher("dtw", n_jobs=2).fit({"normal": [0, 1, 0], "ectopic": [0, 2, 0]})
    several.search([recording, recording], times=[None, recording.index])
    for match in searcher.stream(max_delay=10).update(recording.to_numpy()):
        assert_type(match.distance, float)
    return matches


def segment(recording: pd.Series, labels: NDArray[np.int64]) -> Segments:
    segmenter = QuerySegmenter(ADTW(omega="auto"), partial=True).fit(recording, labels)
    return segmenter.segment(recording)


def learn(X: list[NDArray[np.float64]], y: list[str]) -> float:
    metric = get_metric("adtw", {"omega": 0.5})
    assert_type(metric, Metric)
    assert_type(pairwise_distances(X, metric=metric, n_jobs=-1), NDArray[np.float64])
    assert_type(nearest_neighbors(X, metric=LCSS(eps=0.2), n_neighbors=2), Neighbors)
    model = make_pipeline(PairwiseDistances("dtw", channels_first=True), StandardScaler())
    grid = GridSearchCV(KNeighborsTimeSeriesClassifier("dtw"), {"metric__alpha": [0.5, 1.0]}).fit(X, y)
    assert_type(search_in(model, X[0]), Matches)
    warmup(["dtw", "euclidean"], tasks=["search"])
    alignment = dtw(X[0], X[1])
    plot_alignment(X[0], X[1], alignment.path)
    return event_f1_score(grid.predict(X), y)

"""Code as users write it, for a type checker; no test runs it."""

from typing import assert_type

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sktslib import (
    QuerySearcher,
    QuerySegmenter,
    dtw,
    load_ecg_example,
    pipeline_search,
    pipeline_segment,
    pipeline_stream,
    warmup,
)
from sktslib.cluster import TimeSeriesKMeans, TimeSeriesKMedoids
from sktslib.distances import ADTW, DTW, LCSS, Metric, Neighbors, get_metric, nearest_neighbors, pairwise_distances
from sktslib.metrics import EventReport, event_f1_score, event_report
from sktslib.neighbors import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesRegressor,
    PairwiseDistances,
    ShapeletTransform,
)
from sktslib.preprocessing import AutoFilter, BandPass, resample
from sktslib.search import (
    ChannelPlan,
    Conformal,
    FalseDiscoveryRate,
    Match,
    Matches,
    Profile,
    Segments,
    discords,
    motifs,
)
from sktslib.utils.visualisation import EventsDisplay, SearchDisplay, plot_alignment


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
    assert_type(pipeline_search(model, X[0]), Matches)
    warmup(["dtw", "euclidean"], tasks=["search"])
    alignment = dtw(X[0], X[1])
    plot_alignment(X[0], X[1], alignment.path)
    return event_f1_score(grid.predict(X), y)


def defend(recording: pd.DataFrame, labels: NDArray[np.int64]) -> EventReport:
    rate = FalseDiscoveryRate(alpha=0.05, random_state=0)
    searcher = QuerySearcher("auto", threshold=rate, polarity="any").fit([0, 1, 0]).fit_threshold(recording)
    assert_type(searcher.stream().update(recording), Matches)
    QuerySearcher(threshold="fdr:0.05").fit([0, 1, 0])
    QuerySegmenter("auto", threshold=Conformal(0.1), polarity="channels").fit(recording, labels)
    matches = searcher.search_all(recording, times=recording.index)
    asked = matches.uncertain(3)
    assert_type(asked, NDArray[np.intp])
    again = searcher.learn_from_answers(matches, good=asked[:2], bad=[int(asked[2])])
    assert_type(again, QuerySearcher)
    again.search_all(recording).uncertain(3, known=[matches[asked]])
    report = event_report(labels, again.search(recording), tolerance=2.0)
    assert_type(report.precision, float)
    assert_type(report.to_frame(), pd.DataFrame)
    EventsDisplay.from_predictions(labels, matches, title="before").plot(title="after")
    return report


def by_channel(recording: pd.DataFrame, one: pd.DataFrame) -> Matches:
    searcher = QuerySearcher("correlation", channels=ChannelPlan(lag={"x": 0, "y": 3}, tolerance=1, min_votes=1))
    return searcher.fit([one]).search(recording)


def group(recording: pd.DataFrame, X: list[NDArray[np.float64]], y: list[float]) -> NDArray[np.float64]:
    assert_type(motifs(recording, 65, n=3, other=recording, metric="dtw", metric_params={"window": 0.1}), Matches)
    assert_type(discords(recording, 65, times=recording.index), Matches)
    means = TimeSeriesKMeans(2, "dtw", n_init=3, random_state=0).fit(X)
    TimeSeriesKMedoids(2, "msm", init=[0, 1]).fit(X).predict(X)
    ShapeletTransform("euclidean", n_queries=2, n_candidates=100).fit(X, [str(value) for value in y]).transform(X)
    KNeighborsTimeSeriesRegressor("dtw", n_neighbors=2, weights="distance").fit(X, y).predict(X)
    return means.transform(X)


def filtered(recording: pd.DataFrame, labels: NDArray[np.int64]) -> Segments:
    model = make_pipeline(AutoFilter(causal=True), QuerySegmenter()).fit(recording, labels)
    pipeline_stream(model).update(recording)
    QuerySegmenter().fit(BandPass(5, 20).fit_transform(recording), labels).segment(recording)
    slow, coarse, times = resample(recording, labels, rate=60)
    return pipeline_segment(model.fit(slow, coarse), slow, times=times)

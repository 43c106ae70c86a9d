"""Search and segmentation in fitted pipelines and grid searches; times kept through their transformers."""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from inputs import refused
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from sktslib import QuerySearcher, QuerySegmenter, pipeline_search, pipeline_segment
from sktslib.model_selection import BlockedSeriesSplit
from sktslib.search import Subsequences

QUERY = np.array([0.0, 2, 5, 2, 0])
SIGNAL = np.concatenate([[9, 9], QUERY, [9], [0, 2, 4, 2, 0], [9, 9], [0, 2, 2, 5.5, 2, 0], [9], QUERY + 0.25, [9, 9]])
N = len(SIGNAL)
# The clock is put back from 3:00 to 2:00 amid the recording.
TIMES = pd.date_range("2024-10-27 00:59:50", periods=N, freq="s", tz="UTC").tz_convert("Europe/Berlin")
FRAME = pd.DataFrame({"noise": 1.0, "ecg": 3 * SIGNAL + 7}, index=TIMES)
ECG = FRAME[["ecg"]]
SCALED = (ECG.to_numpy() - ECG.to_numpy().mean()) / ECG.to_numpy().std()
UNITS = (3 * QUERY + 7 - ECG.to_numpy().mean()) / ECG.to_numpy().std()
Y = np.zeros(N, int)
Y[2:7] = Y[8:13] = Y[15:21] = Y[22:27] = 1
SEARCHER = QuerySearcher("dtw", query=UNITS, n_matches=4, candidates=Subsequences(min_length=4))
OVERLAPS = {"max_overlap": [0.0, 0.1]}
GRID = {f"querysearcher__{name}": values for name, values in OVERLAPS.items()}
COLUMNS = make_column_transformer((StandardScaler(), ["ecg"]))
CV = BlockedSeriesSplit(2)


def scaled(*, last=SEARCHER):
    return make_pipeline(StandardScaler(), last)


def searched(model, grid):
    return GridSearchCV(model, grid, cv=CV).fit(ECG, Y)


MODELS = {
    "searcher behind a scaler": lambda: scaled().fit(ECG),
    "scaler with a table as output": lambda: scaled().set_output(transform="pandas").fit(ECG),
    "pipeline in a pipeline": lambda: make_pipeline("passthrough", scaled(last=make_pipeline(None, SEARCHER))).fit(ECG),
    "column transformer": lambda: make_pipeline(COLUMNS, SEARCHER).fit(FRAME),
    "union": lambda: make_pipeline(make_union(StandardScaler(), "drop"), SEARCHER).fit(ECG),
    "grid search": lambda: searched(scaled(), GRID),
    "grid search of a step": lambda: scaled(last=GridSearchCV(SEARCHER, OVERLAPS, cv=CV)).fit(ECG, Y),
    "random search": lambda: RandomizedSearchCV(scaled(), GRID, n_iter=1, cv=CV).fit(ECG, Y),
    "frozen": lambda: FrozenEstimator(scaled().fit(ECG)),
}


@cache
def fitted_model(name):
    """One of them; fitted when it is asked for, not when tests are collected."""
    return MODELS[name]()


@pytest.mark.parametrize("name", MODELS)
def test_the_matches_are_those_of_the_searcher_behind_the_steps(name):
    fitted, X = fitted_model(name), (FRAME if name == "column transformer" else ECG)
    before = X.copy()
    found = pipeline_search(fitted, X)
    want = clone(SEARCHER).fit(SCALED).search(SCALED, times=TIMES)
    pd.testing.assert_frame_equal(found.to_frame(), want.to_frame())
    assert found.to_frame().start_time.dtype == TIMES.dtype
    assert [TIMES[s] for s in found.start] == found.start_time.tolist()
    np.testing.assert_array_equal(found.path(0), want.path(0))
    np.testing.assert_array_equal(found.cut(X)[0], X.to_numpy()[found.start[0] : found.end[0]])
    np.testing.assert_array_equal(fitted.predict(X) > 0, covered(want))
    pd.testing.assert_frame_equal(X, before)


def covered(found):
    """Which samples lie in ranges."""
    out = np.zeros(N, bool)
    for start, end, *_ in found:
        out[start:end] = True
    return out


def test_an_estimator_alone_searches_itself():
    searcher = QuerySearcher("dtw", n_matches=2).fit(QUERY)
    pd.testing.assert_frame_equal(pipeline_search(searcher, SIGNAL).to_frame(), searcher.search(SIGNAL).to_frame())
    segmenter = QuerySegmenter("dtw").fit(QUERY)
    pd.testing.assert_frame_equal(pipeline_segment(segmenter, SIGNAL).to_frame(), segmenter.segment(SIGNAL).to_frame())


def test_times_that_are_given_count():
    pipe = fitted_model("searcher behind a scaler")
    given = pipeline_search(pipe, ECG, times=np.arange(N) / 2)
    np.testing.assert_array_equal(given.start_time, given.start / 2)
    assert pipeline_search(pipe, ECG.reset_index(drop=True)).times is None
    assert pipeline_search(pipe, ECG.tz_convert(None)).start_time.dtype.kind == "M"


def test_several_recordings():
    pipe = fitted_model("searcher behind a scaler")
    other = ECG[::-1].set_axis(TIMES.tz_convert("Asia/Tokyo"))
    found = pipeline_search(pipe, [ECG, other])
    want = pipe[-1].search([SCALED, SCALED[::-1]], times=[TIMES, other.index])
    pd.testing.assert_frame_equal(found.to_frame(), want.to_frame())
    assert str(found.start_time.tz) == "UTC"
    assert str(found[found.sequence == 1].start_time.tz) == "Asia/Tokyo"
    given = pipeline_search(pipe, [ECG, ECG], times=[np.arange(N) * 1.0, np.arange(N) * 2.0])
    np.testing.assert_array_equal(given.start_time, given.start * (1.0 + given.sequence))
    with pytest.raises(ValueError, match="'times' must be a list with one entry for each of the 2 sequences"):
        pipeline_search(pipe, [ECG, ECG], times=TIMES)
    with pytest.raises(ValueError, match=r"In X\[1\]: The feature names should match"):
        pipeline_search(pipe, [ECG, FRAME])
    with pytest.raises(ValueError, match=r"'X' must be one sequence here\. Got a list of 2 arrays"):
        pipeline_segment(make_pipeline(StandardScaler(), QuerySegmenter(query=UNITS)).fit(ECG), [ECG, ECG])


def test_segments_behind_steps():
    segmenter = QuerySegmenter("dtw", query=UNITS, background=0.3)
    pipe = make_pipeline(StandardScaler(), segmenter).fit(ECG)
    want = segmenter.fit(SCALED).segment(SCALED, times=TIMES)
    for fitted in (pipe, searched(pipe, {"querysegmenter__background": [0.3]})):
        found = pipeline_segment(fitted, ECG)
        assert len(found) >= 3
        pd.testing.assert_frame_equal(found.to_frame(), want.to_frame())
        assert found.to_frame().end_time.dtype == TIMES.dtype
        np.testing.assert_array_equal(fitted.predict(ECG) > 0, covered(found))


def test_polars_goes_through():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"noise": FRAME["noise"].to_numpy(), "ecg": FRAME["ecg"].to_numpy()})
    found = pipeline_search(fitted_model("column transformer"), frame, times=TIMES)
    pd.testing.assert_frame_equal(
        found.to_frame(), pipeline_search(fitted_model("column transformer"), FRAME).to_frame()
    )
    np.testing.assert_array_equal(found.cut(frame)[0], FRAME.to_numpy()[found.start[0] : found.end[0]])


class AsksForTimes(FunctionTransformer):
    """A step that looks at times."""

    __metadata_request__transform = {"times": True}

    def transform(self, X, times=None):
        self.seen = times
        return X


def test_steps_that_ask_for_times_are_given_them():
    with sklearn.config_context(enable_metadata_routing=True):
        step = AsksForTimes()
        pipe = make_pipeline(step, StandardScaler(), SEARCHER).fit(ECG.to_numpy())
        pipeline_search(pipe, ECG.to_numpy(), times=TIMES)
        assert pipe[0].seen.equals(TIMES)
        twed = QuerySearcher("twed", query=pd.Series(UNITS, index=TIMES[:5]))
        twed.set_fit_request(times=True).set_transform_request(times=True)
        last = QuerySearcher("euclidean", query=[0.0, 1]).set_fit_request(times=False)
        union = make_pipeline(make_union(twed), last).fit(SCALED, times=TIMES)
        found = pipeline_search(union, SCALED, times=TIMES)
        profile = union[0].transform(SCALED, times=TIMES)
        want = union[-1].search(profile, times=TIMES)
        pd.testing.assert_frame_equal(found.to_frame(), want.to_frame())


def halved(X):
    return np.asarray(X)[::2]


def test_what_is_refused():
    short = make_pipeline(StandardScaler(), FunctionTransformer(halved), QuerySearcher(query=UNITS)).fit(ECG)
    grid = GridSearchCV(scaled(), GRID, cv=CV, refit=False).fit(ECG, Y)
    ending = Pipeline([("find", QuerySearcher(query=3 * QUERY + 7)), ("end", "passthrough")]).fit(ECG)
    labels = make_pipeline(StandardScaler(), LogisticRegression()).fit(ECG, Y)
    refusals = {
        (pipeline_search, ValueError): [
            (short, "number of samples", f"Got {(N + 1) // 2} samples of {N} from 'functio"),
            (grid, "needs the best estimator of GridSearchCV, which refit=False"),
        ],
        (pipeline_search, TypeError): [
            (ending, "Got 'passthrough' at the end of Pipeline"),
            (labels, "a fitted QuerySearcher", "Got LogisticRegression at the end of"),
            (QuerySegmenter().fit(QUERY), "Got QuerySegmenter. Call pipeline_segment"),
            (QuerySearcher, "Got <class 'sktslib", "QuerySearcher'>"),
            (None, "Got None"),
        ],
        (pipeline_segment, TypeError): [
            (fitted_model("grid search"), "QuerySegmenter", "Got QuerySearcher at the end ", "Call pipeline_search"),
        ],
        (pipeline_search, NotFittedError): [
            (scaled(last=QuerySearcher()), "QuerySearcher instance is not fitted yet"),
            (GridSearchCV(scaled(), GRID), "GridSearchCV instance is not fitted yet"),
        ],
        (pipeline_segment, NotFittedError): [
            (make_pipeline(MinMaxScaler(), QuerySegmenter().fit([[0.0], [1]])), "MinMaxScaler"),
        ],
    }
    for (function, error), rows in refusals.items():
        for fitted, *words in rows:
            refused(partial(function, fitted, ECG), *words, error=error)

"""Causal transformers by chunks: the numbers of the whole, to the bit."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import refused
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sktslib import QuerySearcher, QuerySegmenter, pipeline_search, pipeline_segment, pipeline_stream
from sktslib.preprocessing import AutoFilter, BandPass, RunningBaseline

RNG = np.random.default_rng(1)
LONG = np.cumsum(RNG.normal(size=(400, 2)), axis=0)
GAPS = LONG.copy()
GAPS[[0, 100, 101], 0] = np.nan
GAPS[200:230, 1] = np.nan
Y = (np.arange(400) % 40 < 12).astype(int)
CAUSAL = {"causal": True, "nan_policy": "omit"}
STEPS = [
    BandPass(4, 20, 100, **CAUSAL),
    BandPass(None, 20, 100, order=5, **CAUSAL),
    BandPass(**CAUSAL),
    AutoFilter(100, **CAUSAL),
    RunningBaseline(1, **CAUSAL),
    RunningBaseline(12, **CAUSAL),
]


def pieces(X, cuts):
    edges = [0, *sorted(cuts), len(X)]
    return [X[a:b] for a, b in pairwise(edges)]


@pytest.mark.parametrize("step", STEPS, ids=repr)
@given(st.lists(st.integers(0, 400), max_size=12) | st.just(range(60)), st.booleans())
def test_chunks_give_the_bits_of_the_whole(step, cuts, gaps):
    X = GAPS if gaps else LONG
    fitted = step.fit(LONG, Y)
    stream, found = fitted.stream(), []
    for k, chunk in enumerate(pieces(X, cuts)):
        found.append(stream.update(chunk))
        if k % 3 == 1:
            stream = pickle.loads(pickle.dumps(stream))
    assert stream.n_samples_seen == 400
    assert_array_equal(np.concatenate(found), fitted.transform(X))


def test_streams_give_the_container_that_is_set():
    times = pd.date_range("2024-01-01", periods=400, freq="10ms")
    frame = pd.DataFrame(LONG, times, ["a", "b"])
    fitted = BandPass(4, 20, causal=True).set_output(transform="pandas").fit(frame)
    stream = fitted.stream()
    got = pd.concat([stream.update(frame[:90]), stream.update(frame[90:90]), stream.update(frame[90:])])
    pd.testing.assert_frame_equal(got, fitted.transform(frame), check_freq=False)


def test_what_cannot_stream_says_so():
    with pytest.raises(ValueError, match=r"'causal' parameter of BandPass must be True in a stream.* Got False"):
        BandPass(4, 20, 100).fit(LONG).stream()
    stream = RunningBaseline(3, causal=True).fit(LONG).stream()
    assert stream.update(np.empty((0, 2))).shape == (0, 2) and stream.update([]).shape == (0,)
    stream.update(LONG[:5])
    refused(lambda: stream.update(GAPS[100:102]), "In the chunk that begins at sample 5: 'X' must be finite")


BUMP = np.sin(np.linspace(0, np.pi, 30)) ** 2
N = 700
EVENTS = np.arange(50, 650, 80)
SIGNAL = 0.01 * np.cumsum(RNG.normal(size=N)) + 0.03 * RNG.normal(size=N)
MARKS = np.zeros(N, int)
for start in EVENTS:
    SIGNAL[start : start + 30] += BUMP
    MARKS[start : start + 40] = 1
PREPARED = make_pipeline(BandPass(1, 20, 100, causal=True), RunningBaseline(500, causal=True))
QUERY = PREPARED.fit_transform(SIGNAL[:, None])[132:162]
STREAMED = {
    "segmenter": make_pipeline(PREPARED, QuerySegmenter("euclidean", query=QUERY)),
    "searcher": make_pipeline(RunningBaseline(101, causal=True), make_pipeline("passthrough", QuerySearcher())),
}


@pytest.mark.parametrize("name", STREAMED)
def test_streams_of_pipelines_find_what_the_pipelines_find(name):
    fitted = STREAMED[name].fit(SIGNAL[:300, None], MARKS[:300])
    times = np.arange(N) / 100
    whole = (pipeline_segment if name == "segmenter" else pipeline_search)(fitted, SIGNAL, times).sorted()
    stream, found = pipeline_stream(fitted), []
    for k, edges in enumerate([(0, 1), (1, 1), (1, 300), (300, 501), (501, N)]):
        found.append(stream.update(SIGNAL[slice(*edges)], times[slice(*edges)]))
        if k == 2:
            stream = pickle.loads(pickle.dumps(stream))
    assert stream.n_samples_seen == N
    found.append(stream.flush())
    assert len(whole) >= 6
    assert_array_equal(np.concatenate([one.start for one in found]), whole.start)
    assert_array_equal(np.concatenate([one.end for one in found]), whole.end)
    assert_array_equal(np.concatenate([one.start_time for one in found]), whole.start_time)


def test_steps_without_a_stream_are_named():
    fitted = make_pipeline(StandardScaler(), QuerySegmenter(query=BUMP)).fit(SIGNAL[:, None])
    with pytest.raises(TypeError, match=r"must have a stream\. Got StandardScaler, 'standardscaler'.* leave it out"):
        pipeline_stream(fitted)
    fitted = make_pipeline(BandPass(1, 20, 100), QuerySegmenter(query=BUMP)).fit(SIGNAL[:, None])
    refused(lambda: pipeline_stream(fitted), "'causal' parameter of BandPass must be True")
    with pytest.raises(TypeError, match="pipeline_stream needs a fitted QuerySearcher or QuerySegmenter, or"):
        pipeline_stream(BandPass(1, 20, 100).fit(SIGNAL))

"""`Sampling` in place of an array of times: the results are those of `start + arange(n) / rate`."""

from datetime import datetime, timedelta

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from sktslib import (
    QuerySearcher,
    QuerySegmenter,
    Sampling,
    load_ecg_example,
    pipeline_search,
    pipeline_segment,
    pipeline_stream,
)
from sktslib.distances import TWED, twed
from sktslib.metrics import event_report
from sktslib.preprocessing import RunningBaseline, resample
from sktslib.search import discords, merge_parts, motifs, time_series_search, time_series_segmentation

ECG = load_ecg_example()
N = len(ECG.sequence)
STARTS = {
    "numbers": 60.0,
    "dates": np.datetime64("2024-03-01T12:00"),
    "zone": pd.Timestamp("2024-10-27 00:59:55", tz="UTC").tz_convert("Europe/Berlin"),  # the clock is set back,
}


def explicit(start, rate=120, n=N):
    if isinstance(start, float):
        return start + np.arange(n) / rate
    steps = pd.to_timedelta(np.rint(np.arange(n) / rate * 1e9).astype("int64"), unit="ns")
    return pd.DatetimeIndex(start + steps) if getattr(start, "tz", None) else np.asarray(pd.Timestamp(start) + steps)


def same(a, b):
    a, b = a.to_frame(), b.to_frame()
    pd.testing.assert_frame_equal(a, b.astype(a.dtypes), check_exact=True)
    assert len(a)


@pytest.fixture(params=STARTS)
def start(request):
    return STARTS[request.param]


def test_searches_and_segmentations(start, tmp_path):
    even, times = Sampling(120, start), explicit(start)
    searcher = QuerySearcher("dtw", n_matches=12).fit(ECG.query)
    same(searcher.search(ECG.sequence, times=times), searcher.search(ECG.sequence, times=even))
    both = [ECG.sequence, ECG.sequence[:900]]
    same(searcher.search(both, times=[times, times[:900]]), searcher.search(both, times=even))
    np.save(tmp_path / "x.npy", ECG.sequence)
    stored = np.load(tmp_path / "x.npy", mmap_mode="r")
    same(searcher.search(ECG.sequence, times=times), searcher.search(stored, times=even))
    segmenter = QuerySegmenter("dtw").fit(ECG.query)
    same(segmenter.segment(ECG.sequence, times=times), segmenter.segment(ECG.sequence, times=even))
    same(pipeline_search(searcher, ECG.sequence, times), pipeline_search(searcher, ECG.sequence, even))
    same(pipeline_segment(segmenter, ECG.sequence, times), pipeline_segment(segmenter, ECG.sequence, even))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 100, 997])
def test_streams_and_parts(start, size):
    even, times, n = Sampling(120, start), explicit(start), 300 if size == 1 else N
    for estimator in (QuerySearcher("dtw", threshold=5.0), QuerySegmenter("dtw"), QuerySearcher("dtw", n_matches=3)):
        estimator.fit(ECG.query)
        if getattr(estimator, "n_matches", None) == 3:
            parts = [estimator.partial_search(at) for at in (0, n // 2)]
            for part, end in zip(parts, (n // 2, n), strict=True):
                for at in range(part.first, end, size):
                    part.feed(ECG.sequence[at : min(at + size, end)], even)
            same(estimator.search(ECG.sequence[:n], times=times[:n]), merge_parts(parts))
            continue
        one, other = estimator.stream(), pipeline_stream(estimator)
        want = estimator.stream()
        for at in range(0, n, size):
            chunk = ECG.sequence[at : at + size]
            given = want.update(chunk, times[at : at + size])
            for stream in (one, other):
                got = stream.update(chunk, even)
                assert len(got) == len(given)
                if len(given) or at < 2 * size:  # tables of nothing are alike
                    pd.testing.assert_frame_equal(got.to_frame(), given.to_frame().astype(got.to_frame().dtypes))


def test_times_that_are_compared(start):
    even, times = Sampling(120, start), explicit(start)
    query = times[:65]
    x, y = ECG.query, ECG.sequence[:200]
    assert TWED()(x, y, tx=even, ty=even) == TWED()(x, y, tx=query, ty=times[:200]) == twed(x, y, even, even)
    searcher = QuerySearcher("twed", n_matches=4).fit(x, times=query)
    same(searcher.search(ECG.sequence, times=times), searcher.search(ECG.sequence, times=even))
    same(searcher.search(ECG.sequence, times=times), searcher.fit(x, times=even).search(ECG.sequence, times=even))


def test_functions_without_a_query(start):
    even, times = Sampling(120, start), explicit(start)
    for find in (motifs, discords):
        same(find(ECG.sequence, 65, times=times), find(ECG.sequence, 65, times=even))
    cfg = {"elastic": {"DTW": {"function": "dtw"}}}
    found, want = (time_series_search(cfg, x_, ECG.sequence, ts=t) for x_, t in ((ECG.query, even), (ECG.query, times)))
    np.testing.assert_array_equal(found["DTW"]["start_time"], want["DTW"]["start_time"])
    cut = time_series_segmentation(cfg, ECG.query, ECG.sequence, ECG.tq, even if isinstance(start, float) else ECG.ts)
    assert len(cut["DTW"])


def test_labels_reports_filters_and_pictures():
    even, times = Sampling(120, 60.0), explicit(60.0)
    y = np.zeros(N, int)
    for peak in ECG.beats[3:9]:
        y[peak - 20 : peak + 30] = 1
    learned = [QuerySearcher("twed").fit(ECG.sequence[:, None], y, times=t) for t in (times, even)]
    same(*(model.search(ECG.sequence, times=times) for model in learned))
    found = learned[0].search(ECG.sequence)
    one, other = (event_report(y, found, times=t).to_frame() for t in (times, even))
    pd.testing.assert_frame_equal(one, other)
    a, b = (resample(ECG.sequence, times=t, rate=60) for t in (times, even))
    np.testing.assert_array_equal(a[0], b[0])
    np.testing.assert_array_equal(a[1], b[1])
    baseline = RunningBaseline(31, causal=True).fit(ECG.sequence)
    stream = baseline.stream()
    got = [stream.update(ECG.sequence[k : k + 400], even) for k in range(0, N, 400)]
    np.testing.assert_array_equal(np.concatenate(got), baseline.transform(ECG.sequence, times=times))
    shown = [learned[0].search(ECG.sequence, times=t).plot() for t in (times, even)]
    assert shown[0].axes_[-1].get_xlim() == shown[1].axes_[-1].get_xlim() if hasattr(shown[0], "axes_") else True
    plt.close("all")


def test_wrong_samplings():
    for rate in (0, -1, np.inf, np.nan, "100", True, None):
        with pytest.raises(ValueError, match="'rate' parameter of Sampling must be a number above 0"):
            Sampling(rate)
    for start in (None, [1, 2], object()):
        with pytest.raises((ValueError, TypeError), match="start"):
            Sampling(1, start)
    assert Sampling(250).at([0, 1]).tolist() == [0.0, 0.004]  # the way out
    with pytest.raises(AttributeError):
        Sampling(1).rate = 2
    assert Sampling(1, datetime(2024, 3, 1)).at([5])[0] == np.datetime64(datetime(2024, 3, 1) + timedelta(seconds=5))

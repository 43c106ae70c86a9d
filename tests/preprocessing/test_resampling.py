"""resample and Resampled: values, labels and times at another rate, and ranges mapped back."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.preprocessing import events_of
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sktslib import QuerySearcher, QuerySegmenter, pipeline_search, pipeline_segment
from sktslib.model_selection import BlockedSeriesSplit
from sktslib.preprocessing import BandPass, Resampled, RunningBaseline, resample
from sktslib.search import ChannelPlan

T = np.arange(600) / 200
SLOW = np.column_stack([np.sin(2 * np.pi * 3 * T), 5 + np.cos(2 * np.pi * 2 * T)])
DATES = pd.date_range("2024-10-27 00:59:58", periods=600, freq="5ms", tz="UTC").tz_convert("Europe/Berlin")


@pytest.mark.parametrize("rate", [50, 90.0, 200, 313, 800])
def test_slow_changes_are_kept_and_fast_ones_are_not_folded_down(rate):
    got, times = resample(SLOW, times=T, rate=rate)
    assert len(got) == len(times) == int(599 * rate / 200 + 1e-9) + 1
    assert_allclose(np.diff(times), 1 / rate, rtol=1e-5)
    want = np.column_stack([np.sin(2 * np.pi * 3 * times), 5 + np.cos(2 * np.pi * 2 * times)])
    inner = slice(len(got) // 10, -len(got) // 10)
    assert_allclose(got[inner], want[inner], atol=0.02)
    folded = resample(np.sin(2 * np.pi * 80 * T), rate=50, sampling_rate=200)
    assert np.abs(folded[20:-20]).max() < 0.02


def test_what_is_returned_is_what_is_given():
    alone = resample(SLOW[:, 0], rate=50, sampling_rate=200)
    assert alone.shape == (150,)
    frame = pd.DataFrame(SLOW, DATES, ["a", "b"])
    table, labels = resample(frame, np.arange(600) // 300, rate=50)
    assert table.columns.tolist() == ["a", "b"]
    assert table.index.equals(DATES[::4]) and str(table.index.tz) == "Europe/Berlin"
    assert labels.tolist() == [0] * 75 + [1] * 75
    assert_array_equal(table["a"], alone)
    one = resample(frame["a"], rate=50)
    assert one.name == "a" and one.index.equals(DATES[::4])
    numpy_dates = resample(SLOW, times=DATES.tz_convert(None).to_numpy(), rate=50)[1]
    assert numpy_dates.dtype.kind == "M" and len(numpy_dates) == 150


def test_uneven_times_become_even_steps():
    rng = np.random.default_rng(0)
    t = np.cumsum(rng.choice([0.002, 0.008], 600))
    got, times = resample(np.sin(2 * np.pi * t), times=t, rate=50)
    assert_allclose(times, t[0] + np.arange(len(times)) * (times[1] - times[0]), atol=1e-9)
    assert_allclose(got[5:-5], np.sin(2 * np.pi * times)[5:-5], atol=0.02)


def test_gaps_stay_gaps():
    gaps = SLOW.copy()
    gaps[100:140, 0] = np.nan
    got = resample(gaps, rate=50, sampling_rate=200, nan_policy="omit")
    assert_array_equal(np.flatnonzero(np.isnan(got[:, 0])), np.arange(25, 35))
    assert not np.isnan(got[:, 1]).any()
    with pytest.raises(ValueError, match=r"'X' must be finite. Got 40 NaN.* nan_policy='omit'"):
        resample(gaps, rate=50, sampling_rate=200)


@given(st.lists(st.tuples(st.integers(1, 40), st.sampled_from(["", "a", "b"])), min_size=1, max_size=20), st.data())
def test_labels_keep_their_events(runs, data):
    y = np.concatenate([np.repeat(np.array([label]), n) for n, label in runs])
    rate = data.draw(st.sampled_from([30, 70, 100, 150, 400]))
    try:
        new = resample(np.arange(float(len(y))), y, rate=rate, sampling_rate=100)[1]
    except ValueError as error:
        assert rate < 100 and ("'rate' parameter must leave a sample" in str(error) or "events" in str(error))
        return
    before, after = events_of(y), events_of(new)
    assert [label for *_, label in after] == [label for *_, label in before]
    for (s, e, _), (a, b, _) in zip(before, after, strict=True):
        assert abs(a - s * rate / 100) <= 2.01 + rate / 100 and abs(b - e * rate / 100) <= 2.01 + rate / 100


@pytest.mark.parametrize(
    ("y", "rates", "message"),
    [
        (None, {"rate": 50}, "'sampling_rate' parameter of resample must be a number"),
        (None, {"rate": 1e9, "sampling_rate": 200}, "'rate' parameter of resample must be within a factor of 1000"),
        (None, {"rate": 0, "sampling_rate": 200}, r"'rate' parameter of resample must be a float in .* \(0.0, inf\)"),
        (np.arange(600) % 4 // 2, {"rate": 20, "sampling_rate": 200}, "'rate' parameter must leave a sample of each"),
    ],
)
def test_wrong_rates_are_refused(y, rates, message):
    with pytest.raises(ValueError, match=message):
        resample(SLOW, y, **rates)


BUMP = np.sin(np.linspace(0, np.pi, 40)) ** 2
RECORDING = np.zeros(600)
for start in (60, 200, 330, 370, 500):
    RECORDING[start : start + 40] += BUMP
Y = np.zeros(600, int)
for start in (60, 200, 330, 371, 500):
    Y[start : start + 39] = 1


def test_matches_are_those_of_the_recording_s_own_samples():
    searcher = Resampled(QuerySearcher("euclidean", n_matches=5), 100, 200).fit(BUMP)
    found = searcher.search(RECORDING, times=DATES).sorted()
    assert_allclose(found.start, [60, 200, 330, 370, 500], atol=2)
    assert_allclose(found.end - found.start, 40, atol=2)
    assert (found.start_time == DATES[found.start]).all()
    assert_array_equal(found.cut()[1], RECORDING[found.start[1] : found.end[1]])
    path = found.path(1)
    assert path[1, 0] == pytest.approx(found.start[1], abs=1) and path[1, -1] == pytest.approx(found.end[1], abs=2)
    late = np.column_stack([RECORDING, np.roll(RECORDING, 20)])
    lagged = Resampled(QuerySearcher("dtw", channels=ChannelPlan(lag=[0, 10]), n_matches=1), 100, 200).fit(
        np.column_stack([BUMP] * 2)
    )
    one = lagged.search(late)
    assert one.path(0, channel=1)[1, 0] == pytest.approx(one.start[0] + 20, abs=1)
    assert pipeline_search(searcher, RECORDING, DATES).to_frame().equals(searcher.search(RECORDING, DATES).to_frame())
    again = pickle.loads(pickle.dumps(found))
    assert again.to_frame().equals(found.to_frame())
    assert_array_equal(again.path(2), found.path(2))
    with pytest.raises(TypeError, match="pipeline_segment needs a fitted QuerySegmenter"):
        pipeline_segment(searcher, RECORDING)


def test_segments_of_pipelines_at_another_rate():
    pipe = make_pipeline(RunningBaseline(151), QuerySegmenter("euclidean", query=BUMP[::2], background=0.05))
    fitted = Resampled(pipe, rate=100).fit(pd.DataFrame(RECORDING[:, None], DATES))
    assert fitted.sampling_rate_ == pytest.approx(200)
    found = fitted.segment(RECORDING)  # which has no times: the rate is that of the fitted recording
    assert_allclose(found.start, [60, 200, 330, 370, 500], atol=2)
    assert (found.start[1:] >= found.end[:-1]).all() and found.start[3] == found.end[2]
    assert fitted.score(RECORDING[:, None], Y) == 1.0
    labels = fitted.predict(RECORDING)
    inside = np.concatenate([np.arange(s, e) for s, e in zip(found.start, found.end, strict=True)])
    assert_array_equal(np.flatnonzero(labels), inside)
    assert found.warped().shape == (5, 20, 1)
    assert_allclose(found[:2].warped()[0, :, 0], BUMP[::2], atol=0.1)
    assert clone(fitted).get_params()["estimator__runningbaseline__width"] == 151


def test_rates_in_a_grid():
    model = Resampled(make_pipeline(BandPass(None, 20, 100), QuerySearcher("euclidean", query=BUMP[::2])), 100, 200)
    grid = GridSearchCV(model, {"estimator__querysearcher__n_matches": [1, 2]}, cv=BlockedSeriesSplit(2))
    grid.fit(RECORDING[:, None], Y)
    assert grid.best_params_ == {"estimator__querysearcher__n_matches": 2}
    assert len(pipeline_search(grid, RECORDING[:, None])) == 2

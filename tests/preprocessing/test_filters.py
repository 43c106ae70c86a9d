"""BandPass and RunningBaseline against plain loops, and against scipy."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import preprocessing as naive
from numpy.testing import assert_allclose, assert_array_equal
from scipy import signal

from sktslib.preprocessing import BandPass, RunningBaseline

RNG = np.random.default_rng(0)
LONG = np.cumsum(RNG.normal(size=(700, 2)), axis=0)
GAPS = LONG.copy()
GAPS[[0, 100, 101, 699], 0] = np.nan
GAPS[300:310, 1] = np.nan
BANDS = {"bandpass": (4.0, 20.0), "highpass": (4.0, None), "lowpass": (None, 20.0)}

recordings = st.integers(0, 10**6).map(np.random.default_rng).map(lambda rng: rng.normal(size=rng.integers(1, 25)))


def with_gaps(y, seed):
    rng = np.random.default_rng(seed)
    out = y.copy()
    out[rng.random(len(y)) < 0.2] = np.nan
    return out


@given(recordings, st.integers(1, 30), st.booleans(), st.integers(0, 99))
def test_running_baselines_are_those_of_plain_loops(y, width, causal, seed):
    gaps = with_gaps(y, seed)
    for values in (y, gaps):
        got = RunningBaseline(width, causal=causal, nan_policy="omit").fit_transform(values)
        assert_allclose(got, values - naive.running(values, width, causal, naive.median), atol=1e-12)


def test_a_window_longer_than_the_recording_is_all_of_it():
    y = LONG[:50, 0]
    assert_allclose(RunningBaseline(2**62).fit_transform(y), y - np.median(y))


@pytest.mark.parametrize("order", [2, 5])
@pytest.mark.parametrize("band", BANDS)
def test_filters_over_the_whole_are_scipy_s(band, order):
    low, high = BANDS[band]
    sos = signal.butter(order, [low, high] if low and high else low or high, band, fs=100, output="sos")
    got = BandPass(low, high, 100, order=order).fit_transform(LONG)
    assert_allclose(got, signal.sosfiltfilt(sos, LONG, axis=0), rtol=1e-7 if order == 5 else 1e-12, atol=1e-12)
    for column in (0, 1):
        assert_array_equal(BandPass(low, high, 100, order=order).fit_transform(LONG[:, column]), got[:, column])


@pytest.mark.parametrize("band", BANDS)
def test_causal_filters_are_those_of_plain_loops(band):
    low, high = BANDS[band]
    sos = signal.butter(2, [low, high] if low and high else low or high, band, fs=100, output="sos")
    got = BandPass(low, high, 100, causal=True, nan_policy="omit").fit_transform(GAPS)
    for column in (0, 1):
        assert_allclose(got[:, column], naive.filtered(sos, GAPS[:, column]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("causal", [False, True])
def test_each_side_of_a_gap_is_filtered_by_itself(causal):
    got = BandPass(4, 20, 100, causal=causal, nan_policy="omit").fit_transform(GAPS)
    plain = BandPass(4, 20, 100, causal=causal)
    assert_array_equal(np.isnan(got), np.isnan(GAPS))
    for column, ranges in ((0, [(1, 100), (102, 699)]), (1, [(0, 300), (310, 700)])):
        for a, b in ranges:
            assert_array_equal(got[a:b, column], plain.fit_transform(GAPS[a:b, column]))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 14, 15, 16])
def test_recordings_shorter_than_a_filter_s_padding_are_filtered(n, causal):
    got = BandPass(None, 20, 100, causal=causal).fit_transform(np.full(n, 3.0))
    assert_allclose(got, np.full(n, 3.0))
    assert np.isfinite(BandPass(4, 20, 100, causal=causal).fit_transform(LONG[:n])).all()


def test_nothing_is_cut_off_without_edges():
    assert_array_equal(out := BandPass().fit_transform(LONG), LONG)
    assert not np.shares_memory(out, LONG)
    assert_array_equal(BandPass(causal=True, nan_policy="omit").fit_transform(GAPS), GAPS)


@pytest.mark.parametrize("kind", [np.float32, np.int16, np.int64, bool])
def test_numbers_of_all_kinds_are_taken(kind):
    values = (10 * LONG).astype(kind)
    kept = values.copy()
    for step in (BandPass(4, 20, 100), RunningBaseline(9)):
        got = step.fit_transform(values)
        assert got.dtype == np.float64
        assert_array_equal(got, step.fit_transform(values.astype(float)))
    assert_array_equal(values, kept)


TIMES = pd.date_range("2024-01-01", periods=700, freq="10ms", tz="Europe/Berlin")
FRAME = pd.DataFrame(LONG, TIMES, ["a", "b"])


def test_the_sampling_rate_is_that_of_the_times():
    want = BandPass(4, 20, 100).fit_transform(LONG)
    by_index = BandPass(4, 20).fit(FRAME)
    assert by_index.sampling_rate_ == pytest.approx(100)
    assert_allclose(by_index.transform(FRAME), want)
    assert_allclose(BandPass(4, 20).fit(LONG, times=TIMES).transform(LONG), want)
    in_ms = BandPass(0.004, 0.02).fit(LONG, times=10 * np.arange(700))
    assert_allclose(in_ms.transform(LONG), want)


def test_tables_give_tables_with_the_same_index():
    for step in (BandPass(4, 20), RunningBaseline(9)):
        got = step.set_output(transform="pandas").fit_transform(FRAME)
        assert got.index.equals(TIMES) and got.columns.tolist() == ["a", "b"]
        assert_array_equal(got, step.set_output(transform="default").fit_transform(FRAME))
    with pytest.raises(ValueError, match="feature names"):
        step.transform(FRAME.rename(columns={"b": "c"}))
    with pytest.warns(UserWarning, match="valid feature names"):
        step.transform(LONG)


def test_times_that_do_not_fit_are_noticed():
    uneven = np.cumsum(np.where(np.arange(700) % 3, 0.5, 2.0)) / 100
    with pytest.warns(UserWarning, match="RunningBaseline takes samples as if they were evenly spaced"):
        RunningBaseline(9).fit(LONG, times=uneven)
    fitted = BandPass(4, 20).fit(FRAME)
    with pytest.warns(UserWarning, match="was fitted for 100 samples .* and the times of 'X' say 50"):
        fitted.transform(FRAME.set_axis(TIMES[0] + 2 * (TIMES - TIMES[0])))
    with pytest.warns(UserWarning, match="has holes"):
        fitted.transform(FRAME.set_axis(TIMES[:350].append(TIMES[350:] + pd.Timedelta("5s"))))
    BandPass(4, 20, 100).fit(LONG, times=np.arange(700) * 10)  # numbers of a unit that nobody knows


WRONG = {
    "high": (BandPass(4, 60, 100), r"'high' parameter of BandPass must be below half the sampling rate, 50\. Got 60"),
    "low": (BandPass(50, None, 100), r"'low' parameter of BandPass must be below half the sampling rate, 50\. Got 50"),
    "order": (BandPass(20, 4, 100), r"'low' parameter of BandPass must be below 'high'\. Got 20 and 4\."),
    "zero": (BandPass(0, 4, 100), r"'low' parameter of BandPass must be a float in the range \(0.0, inf\) or None"),
    "slow": (BandPass(1e-9, 4, 100), r"'low' parameter of BandPass must be at least 1e-06 of the sampling rate"),
    "rate": (BandPass(4, 20), r"'sampling_rate' parameter of BandPass must be a number, .* Got None and no times"),
    "width": (RunningBaseline(2.5), "'width' parameter of RunningBaseline must be an int in the range"),
    "gaps": (RunningBaseline(9), "'X' must be finite. Got 14 NaN .* set nan_policy='omit'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_parameter_rule_and_value(name):
    step, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        step.fit(GAPS if name == "gaps" else LONG)


def test_bands_too_narrow_for_float64_are_refused():
    for order in range(1, 13):
        try:
            got = BandPass(1e-4, 1.0001e-4, 100, order=order).fit_transform(LONG)
        except ValueError as error:
            assert "must be further apart" in str(error)
        else:
            assert np.isfinite(got).all()

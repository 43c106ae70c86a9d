"""Values, labels and times of recordings at another rate."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.preprocessing import events_of
from numpy.testing import assert_allclose, assert_array_equal

from sktslib.preprocessing import resample

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

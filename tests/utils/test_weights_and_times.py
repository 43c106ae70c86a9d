"""Validation of weights and times: what is converted, the caller's data untouched, and what is refused."""

import datetime as dt
import re

import numpy as np
import pandas as pd
import pytest
from inputs import DAYS, HUGE, READ_ONLY

from sktslib.utils.validation import as_times, as_weight


# ---------------------------------------------------------------------------------------------------------- weights
def test_weights_are_relative_to_the_largest():
    np.testing.assert_array_equal(as_weight([1, 2, 4], 3, 1), [[0.25, 0.5, 1]])
    np.testing.assert_array_equal(as_weight([[1], [2]], 2, 1), [[0.5, 1]])
    np.testing.assert_array_equal(as_weight(pd.Series([1, 2], index=[5, 4]), 2, 2), [[0.5, 1], [0.5, 1]])
    np.testing.assert_array_equal(as_weight([[1, 0], [2, 4]], 2, 2), [[0.25, 0.5], [0, 1]])
    assert as_weight([1, 2], 2, 2).flags.carray
    np.testing.assert_array_equal(as_weight([1e308, 5e-324], 2, 1), [[1, 0]])


def test_equal_weights_are_none():
    assert as_weight(None, 3, 1) is None
    for weight in ([7, 7, 7], [[2.5, 2.5]] * 3, [True] * 3):
        assert as_weight(weight, 3, np.ndim(weight)) is None


WEIGHTS = {
    ValueError: [
        ([1, 2], "one value per point of the query (the first series), shape (3,), or one per point and"),
        (np.ones((3, 3)), "channel, shape (3, 2). Got shape (3, 3)."),
        (np.ones((2, 3)), "Got shape (2, 3)."),
        (np.ones((3, 2, 1)), "Got shape (3, 2, 1)."),
        (1.0, "Got shape ()."),
        ([], "Got shape (0,)."),
        ([1, -2, -0.5], "'weight' must not be negative. Got -2 as the least value, the first below 0 at index 1."),
        ([[1, 1], [1, -1], [1, 1]], "the first below 0 at index (1, 1). Points that do not count have weight 0."),
        ([1, np.nan, 1], "'weight' must be finite. Got 1 NaN of 3 values, first at index 1. Points that do"),
        ([-1, np.nan, 1], "'weight' must be finite. Got 1 NaN"),
        ([1, np.inf, 1], "'weight' must be finite. Got 1 infinite"),
        ([0, 0, -0.0], "at least one value above 0. Got only zeros: none of the points would count. Leave it"),
        ([1j, 1, 1], "Complex data not supported"),
        ([[1, 2], [3], [4]], "Got a ragged list."),
    ],
    TypeError: [
        (["a", "b", "c"], "'weight' must hold real numbers. Got text"),
    ],
}


@pytest.mark.parametrize(("weight", "error", "message"), [(v, e, m) for e, rows in WEIGHTS.items() for v, m in rows])
def test_weights_that_do_not_fit(weight, error, message):
    with pytest.raises(error, match=re.escape(message)) as raised:
        as_weight(weight, 3, 2)
    assert str(raised.value).startswith("'weight' must ")


# ------------------------------------------------------------------------------------------------------------ times
SECONDS = [
    [0, 1, 2, 3],
    range(4),
    np.arange(4, dtype=np.float32),
    READ_ONLY,
    pd.Series(range(4), index=[3, 2, 1, 0]),
    DAYS,
    DAYS.to_numpy(),
    list(DAYS),
    pd.Series(DAYS, index=[3, 2, 1, 0]),
    DAYS.tz_localize("Europe/Berlin"),
    pd.Series(DAYS.tz_localize("UTC"), index=[3, 2, 1, 0]),
    list(DAYS.tz_localize("UTC")),
    [dt.datetime(2024, 1, 1, 0, 0, i) for i in range(4)],
    [dt.datetime(3000, 1, 1, 0, 0, i) for i in range(4)],
    [dt.datetime(2024, 1, 1, 0, 0, i, tzinfo=dt.UTC) for i in range(4)],
    np.datetime64("2024-01-01", "ns") + np.arange(4).astype("m8[s]"),
    np.arange(4).astype("m8[s]"),
    (1000 * np.arange(4)).astype("m8[ms]"),
    pd.timedelta_range(0, periods=4, freq="s"),
    [dt.timedelta(seconds=i) for i in range(4)],
    [f"2024-01-01T00:00:0{i}" for i in range(4)],
    np.array([f"2024-01-01 00:00:0{i}.000" for i in range(4)]),
    [f"2024-01-01T0{i % 2}:00:0{i}+0{i % 2}:00" for i in range(4)],
    pd.Series([f"2024-01-01T00:00:0{i}Z" for i in range(4)]),
    np.array([b"2024-01-01 00:00:00", b"2024-01-01 00:00:01", b"2024-01-01 00:00:02", b"2024-01-01 00:00:03"]),
    pd.period_range("2024", periods=4, freq="s"),
    pd.Series(pd.period_range("2024", periods=4, freq="s")),
]


@pytest.mark.parametrize("times", SECONDS, ids=lambda times: f"{type(times).__name__}-{getattr(times, 'dtype', '')}")
def test_times_are_floats_and_datetimes_seconds_from_the_first(times):
    before = list(times)
    t = as_times(times, 4, "tx")
    np.testing.assert_array_equal(t, [0, 1, 2, 3])
    assert t.dtype == np.float64
    assert t.flags.carray
    assert list(times) == before


def test_numbers_keep_their_origin_and_datetimes_their_zone_shift():
    np.testing.assert_array_equal(as_times([-5, 0.5, 7], 3, "tx"), [-5, 0.5, 7])
    assert as_times(None, 3, "tx") is None
    night = pd.date_range("2024-03-31 00:30", periods=3, freq="h", tz="Europe/Berlin")  # 02:30 does not exist
    np.testing.assert_array_equal(as_times(night, 3, "tx"), [0, 3600, 7200])
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 3)]
    np.testing.assert_array_equal(as_times(days, 2, "tx"), [0, 2 * 86400])


TIMES = {
    ValueError: [
        ([0, 1, 1, 2], "'tx' must be strictly increasing. Got 1 at index 1 and then 1. Sort the recording and drop"),
        ([0.0, 2.5, 1.5, 3.0], "Got 2.5 at index 1 and then 1.5."),
        (DAYS[::-1], "Got 2024-01-01T00:00:03"),
        ([0, 1], "'tx' must have one time per point, shape (4,). Got shape (2,)."),
        (np.zeros((4, 2)), "Got shape (4, 2)."),
        (DAYS.to_numpy().reshape(2, 2), "Got shape (2, 2)."),
        (np.array([], "M8[s]"), "Got shape (0,)."),
        (3, "Got shape ()."),
        ([0, np.nan, 2, 3], "'tx' must be finite. Got 1 NaN of 4 values, first at index 1. Every point needs a time."),
        ([0, 1, 2, np.inf], "Got 1 infinite of 4 values, first at index 3."),
        (DAYS.where(DAYS != DAYS[0]), "Got 1 NaN of 4 values, first at index 0."),
        (np.array(["NaT"] * 4, "M8[s]"), "Got 4 NaN of 4 values, first at index 0."),
        ([None, *DAYS[1:]], "Got 1 NaN of 4 values, first at index 0."),
        ([*DAYS[:3], pd.NaT], "Got 1 NaN of 4 values, first at index 3."),
        (["2024-01-01", None, "2024-01-03", "2024-01-04"], "Got 1 NaN of 4 values, first at index 1."),
        (
            pd.to_datetime(["2024-10-27 02:30", "2024-10-27 02:45", "2024-10-27 02:00", "2024-10-27 02:15"]),
            "to split it, do not shuffle it (shuffle=False). Local times repeat where a clock is set back",
        ),
        (
            pd.to_datetime(["2024-05-01 10:00", "2024-05-01 13:00"] * 2),
            "to split it, do not shuffle it (shuffle=False). Where several recordings stand one below the other",
        ),
        ([0, 1, 0, 1], "Where several recordings stand one below the other, cut them apart there."),
        ([0, 1], "Pass the time of each row, or None to count samples."),
        ([1j] * 4, "Complex data not supported"),
        ([[1], [2, 3], [4], [5]], "Got a ragged list."),
        ([0, 1, 2, HUGE], "'tx' must fit into float64"),
    ],
    TypeError: [
        (
            ["a"] * 4,
            "'tx' must hold numbers or datetimes. Got text, dtype <U1, that is not of ISO 8601: 'a' at index 0.",
        ),
        ([1, *DAYS[1:]], "'tx' must hold real numbers. Got Timestamp("),
        ([*DAYS[:3], 1], "'tx' must be of one type: numbers, durations, or datetimes that all have a time zone or"),
        ([DAYS[0], DAYS[1].tz_localize("UTC")] * 2, "'tx' must be of one type"),
        ([dt.timedelta(0), 1, 2, 3], "Got datetime.timedelta(0) and 1, at index 1."),
        (
            [pd.Period("2024"), pd.Period("2024-02")] * 2,
            "'tx' must be of one type: periods of one frequency. Got others, too",
        ),
        (["2024-01-01", "2024-01-02", "noon", "2024-01-04"], "not of ISO 8601: 'noon' at index 2."),
        (["1.5", "2.5", "3.5", "4.5"], "or numbers with numpy.asarray(tx, dtype=float)"),
        (
            ["2024-01-01T00+01:00", "2024-01-02T00", "2024-01-03T00", "2024-01-04T00"],
            "all have a time zone or all have none. Got text of both, such as '2024-01-01T00+01:00'.",
        ),
    ],
}


@pytest.mark.parametrize(("times", "error", "message"), [(v, e, m) for e, rows in TIMES.items() for v, m in rows])
def test_times_that_are_none(times, error, message):
    with pytest.raises(error, match=re.escape(message)) as raised:
        as_times(times, 4, "tx")
    assert str(raised.value).startswith("'tx' must ")

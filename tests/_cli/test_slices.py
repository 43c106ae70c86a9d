"""Slices of recordings: FILE:START-STOP."""

import numpy as np
import pandas as pd
import pytest

from sktslib.io._parts import parse_slice, samples_of, split_slice

DATES = pd.date_range("2024-05-01 12:30:00", periods=400, freq="100ms")


PARTS = {
    "10-20": ("samples", 10, 20),
    "10..20": ("samples", 10, 20),
    "1.5s-2s": ("seconds", 1.5, 2.0),
    "1.5-2s": ("seconds", 1.5, 2.0),
    "1,5s-2s": ("seconds", 1.5, 2.0),
    "-1.5s..0.5s": ("seconds", -1.5, 0.5),
    "900ms-2min": ("seconds", 0.9, 120.0),
    "12:30:05..12:30:06.5": ("clock", "12:30:05", "12:30:06.5"),
    "12:30-12:31": ("clock", "12:30", "12:31"),
    "2024-05-01T12:30:05..2024-05-01 12:30:06+02:00": ("stamps", "2024-05-01T12:30:05", "2024-05-01 12:30:06+02:00"),
    "1.5.2024 12:30..01.05.2024 12:30:06,5": ("stamps", "1.5.2024 12:30", "01.05.2024 12:30:06,5"),
    "2024-05": ("month", "2024-05", ""),
    "2024-05-01": ("stamp", "2024-05-01", ""),
    "24/05/2024 12:30": ("stamp", "24/05/2024 12:30", ""),
    "24/05/2024 12:30 PM..24/05/2024 1:00 PM": ("stamps", "24/05/2024 12:30 PM", "24/05/2024 1:00 PM"),
    "2024-05..2024-07": ("stamps", "2024-05", "2024-07"),
}


@pytest.mark.parametrize("path", ["rec.csv", r"C:\data\rec.csv", "a:b/rec.csv"])
def test_a_slice_is_told_from_the_path(path):
    for text, part in PARTS.items():
        found, cut = split_slice(f"{path}:{text}")
        assert (found, *cut[:3]) == (path, *part)
    for rest in ("", ":1.5-2", ":x"):  # a number with a point and no unit may be anything
        assert split_slice(path + rest) == (path + rest, None)


def test_a_file_of_that_name_is_no_slice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        (tmp_path / "a:1-2").write_text("1\n", encoding="utf-8")
    except OSError:
        pytest.skip("no colons in names here")
    assert split_slice("a:1-2")[0] == ("a:1-2" if (tmp_path / "a:1-2").is_file() else "a")


@pytest.mark.parametrize(
    ("text", "times", "name", "expected"),
    [
        ("3-7", None, None, (3, 7)),
        ("1s-2s", np.arange(400) / 100, "t", (100, 200)),
        ("1s-2s", np.arange(400) * 10.0, "time_ms", (100, 200)),
        ("1000ms-2000ms", np.arange(400) / 100, "time (s)", (100, 200)),
        ("0.1s-0.3s", np.arange(400) * 0.1, "t", (1, 3)),  # 3 * 0.1 > 0.3
        ("1s-2s", DATES, "t", (10, 20)),
        ("12:30:01..12:30:02.5", DATES, "t", (10, 25)),
        ("2024-05-01T12:30:01..2024-05-01T12:30:02", DATES, "t", (10, 20)),
        ("2024-05-01T12:30:01..2024-05-01T12:30:02", DATES.tz_localize("Asia/Tokyo"), "t", (10, 20)),
        ("2024-05-01T03:30:01Z..2024-05-01T03:30:02Z", DATES.tz_localize("Asia/Tokyo"), "t", (10, 20)),
        ("1.5.2024 12:30:01..01.05.2024 12:30:02,5", DATES, "t", (10, 25)),
        ("12:30:01-12:30:02", DATES - pd.Timestamp("2024-05-01"), "t", (10, 20)),
        ("39s-40s", DATES, "t", (390, 400)),
    ],
)
def test_slices_are_half_open_ranges_of_samples(text, times, name, expected):
    assert samples_of(parse_slice(text), times, name, 400, "--query") == expected


@pytest.mark.parametrize(
    ("text", "times", "message"),
    [
        ("1s-2s", None, "needs times.*rate="),
        ("390-401", None, "samples 390 to 401; there are 400"),
        ("7-7", None, "START before STOP"),
        ("2s-1s", np.arange(400) / 100, "START before STOP"),
        ("3s-5s", np.arange(400) / 100, r"must be within the recording. Got '3s-5s', and times from 0 to 3.99 in 'x'"),
        ("12:30-12:31", np.arange(400) / 100, "needs a recording with dates"),
        ("2024-05-01..2024-05-02", DATES - pd.Timestamp("2024-05-01"), "clock times without a date"),
        ("2024-13-01..2024-05-02", DATES, "cannot find"),
    ],
)
def test_slices_outside_are_refused(text, times, message):
    with pytest.raises(ValueError, match=f"--query: .*{message}"):
        samples_of(parse_slice(text), times, "x", 400, "--query")


HOURS = pd.date_range("2024-01-30 12:00", periods=1000, freq="h")


@pytest.mark.parametrize(
    ("text", "day_first", "first", "last"),
    [
        ("2024-02", None, "2024-02-01 00:00", "2024-02-29 23:00"),
        ("2024-01", None, "2024-01-30 12:00", "2024-01-31 23:00"),  # as far as it is there
        ("2024-02-03", None, "2024-02-03 00:00", "2024-02-03 23:00"),
        ("03.02.2024", None, "2024-02-03 00:00", "2024-02-03 23:00"),
        ("03/02/2024", True, "2024-02-03 00:00", "2024-02-03 23:00"),
        ("02/03/2024", False, "2024-02-03 00:00", "2024-02-03 23:00"),
        ("3-Feb-2024", None, "2024-02-03 00:00", "2024-02-03 23:00"),
        ("2024-02-03 05:00", None, "2024-02-03 05:00", "2024-02-03 05:00"),
        ("02/03/2024 1:00 PM..02/03/2024 3:00 PM", False, "2024-02-03 13:00", "2024-02-03 14:00"),
        ("2024-02..2024-03", None, "2024-02-01 00:00", "2024-02-29 23:00"),
    ],
)
def test_days_and_months_as_a_file_spells_them(text, day_first, first, last):
    start, stop = samples_of(parse_slice(text), HOURS, "t", 1000, "--query", day_first=day_first)
    assert [HOURS[start], HOURS[stop - 1]] == [pd.Timestamp(first), pd.Timestamp(last)]
    zoned = HOURS.tz_localize("Europe/Berlin")
    assert samples_of(parse_slice(text), zoned, "t", 1000, "--query", day_first=day_first) == (start, stop)


@pytest.mark.parametrize("text", ["2023-02", "2025-02", "2024-01-29", "2024-06-01"])
def test_days_and_months_that_are_not_there(text):
    with pytest.raises(ValueError, match="must be within the recording"):
        samples_of(parse_slice(text), HOURS, "t", 1000, "--query")

"""How numbers and times are printed, and what is refused before the work."""

import os

import numpy as np
import pandas as pd
import pytest

from sktslib._cli.output import check_writable, decimals_between, print_frame, write_numbers, write_times


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        ([], []),
        ([0.0], ["0.000"]),
        ([1.0, 22.5], ["1.00", "22.50"]),
        ([1234.5, 0.002], ["1234.500", "0.002"]),
        ([1234.5, 1e-9], ["1234", "0"]),  # what rounding leaves
        ([1e8 + 0.125, 1e8 + 0.75], ["100000000.12", "100000000.75"]),
        ([1e8, np.inf, np.nan], ["100000000", "inf", "nan"]),
        ([3e-7, 1.0], ["0.000", "1.000"]),
        ([3e-7], ["3.000e-07"]),
        ([2e9, 1.0], ["2.000e+09", "1.000e+00"]),
    ],
)
def test_numbers_have_the_decimals_that_tell_them_apart(values, printed):
    assert write_numbers(values) == printed


def test_a_mean_has_the_decimals_of_its_deviation():
    assert write_numbers([1e8 + 0.375], 0.05) == ["100000000.375"]
    assert write_numbers([5.0], 2.0) == ["5.000"]


@pytest.mark.parametrize(
    ("step", "printed"), [("1s", ""), ("4ms", ".004"), ("100us", ".000100"), ("20ns", ".000000020")]
)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_dates_and_durations_have_the_decimals_of_their_steps(step, printed, zone):
    times = pd.date_range("2024-05-01 12:00", periods=4, freq=step, tz=zone)
    second, offset = pd.Series(times[:2]), "" if zone is None else "+02:00"
    if step == "1s":
        assert write_times(second, decimals_between(times))[1] == f"2024-05-01 12:00:01{offset}"
        return
    assert write_times(second, decimals_between(times))[1] == f"2024-05-01 12:00:00{printed}{offset}"
    clock = times - times[0]
    assert write_times(pd.Series(clock[:2]), decimals_between(clock)) == ["00:00:00", f"00:00:00{printed}"]


def test_repeated_stamps_are_no_steps():
    times = np.array([0.0, 0.0, 0.0, 0.25, 0.25])
    assert write_times(times[3:4], decimals_between(times)) == ["0.25"]


@pytest.mark.parametrize(
    ("step", "printed"), [("4ms", "00:00:00.004"), ("100us", "00:00:00.000100"), ("7ns", "00:00:00.000000007")]
)
def test_files_hold_all_decimals_of_clock_times(step, printed, capsys):
    print_frame(pd.DataFrame({"start_time": [pd.Timedelta(0), pd.Timedelta(step)]}), "csv", {}, "rows")
    assert capsys.readouterr().out.split() == ["start_time", "00:00:00", printed]


def test_what_may_not_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    check_writable(None, "--output")
    check_writable(str(tmp_path / "new.csv"), "--output")
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(tmp_path))  # root may write anywhere
    (tmp_path / "old.csv").touch()
    check_writable(str(tmp_path / "old.csv"), "--output")
    with pytest.raises(ValueError, match="--output must name a file that may be written"):
        check_writable(str(tmp_path / "new.csv"), "--output")
    with pytest.raises(ValueError, match="--output must name a file in a folder that exists"):
        check_writable(str(tmp_path / "none" / "new.csv"), "--output")

"""The command show: what a file holds, before anything is searched for in it."""

import json

import numpy as np
import pandas as pd
import pytest
from command_runs import ZONED, N, Y, printed, stand_by_files, table


@pytest.fixture
def files(tmp_path, monkeypatch):
    return stand_by_files(tmp_path, monkeypatch)


def test_channels_are_described(files, capsys):
    values = np.column_stack([Y, 2 * Y])
    values[3, 1] = np.nan
    values[5, 1] = np.inf
    pd.DataFrame(values, columns=["a", "b"]).to_csv("a.csv", index=False)
    frame, err = table(capsys, "show a.csv")
    assert frame["channel"].tolist() == ["a", "b"] and frame["missing"].tolist() == [0, 2]
    known = np.where(np.isfinite(values), values, np.nan)
    np.testing.assert_allclose(frame["least"], np.nanmin(known, axis=0))
    np.testing.assert_allclose(frame["mean"], np.nanmean(known, axis=0))
    np.testing.assert_allclose(frame["largest"], np.nanmax(known, axis=0))
    assert f"a.csv: {N} samples of 2 channels" in err and "no times are known" in err


def test_rate_and_gaps(files, capsys):
    times = np.arange(N) / 100 + 7 * (np.arange(N) >= 200) + 9.5 * (np.arange(N) >= 400)
    pd.DataFrame({"time": times, "v": Y}).to_csv("a.csv", index=False)
    pd.DataFrame({"time_ms": times * 1000, "v": Y}).to_csv("b.csv", index=False)
    pd.DataFrame({"when": ZONED[0] + pd.to_timedelta(times, unit="s"), "v": Y}).to_csv("c.csv", index=False)
    for name in ("a.csv", "b.csv", "c.csv"):
        found = json.loads(printed(capsys, f"show {name} --format json").out)
        assert found["rate"] == pytest.approx(100) and found["samples"] == N
        assert [gap["sample"] for gap in found["gaps"]] == [200, 400]
        np.testing.assert_allclose([gap["seconds"] for gap in found["gaps"]], [7.01, 9.51])
    err = printed(capsys, "show a.csv").err
    assert "2 gaps of more than 10 usual steps: the longest 9.51 s, before sample 400; --max-gap" in err
    assert "times 'time' from 0 to 22.49, 100 per second" in err


def test_a_part_and_its_picture(files, capsys):
    frame, err = table(capsys, "show rec.csv 1s-2s --picture p.png")
    assert "picture: p.png" in err and (files / "p.png").read_bytes().startswith(b"\x89PNG")
    whole, _ = table(capsys, "show rec.csv:1s-2s")
    pd.testing.assert_frame_equal(frame, whole)
    assert "PART must be written START-STOP in samples" in printed(capsys, "show rec.csv 1-2-3", code=2).err


@pytest.mark.slow
def test_arrays_in_files_have_a_rate(files, capsys):
    np.save("a.npy", np.column_stack([Y] * 10).astype(np.float32))
    frame, err = table(capsys, "show a.npy --rate 100 --picture p.png")
    assert len(frame) == 10 and "from 0 to 5.99, 100 per second" in err
    assert "the picture shows the first 8 of 10 channels; --columns names others" in err

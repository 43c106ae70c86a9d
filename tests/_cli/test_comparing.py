"""The commands distance and metrics."""

import json

import numpy as np
import pandas as pd
import pytest
from command_runs import printed

from sktslib.distances import get_metric, metric_names

RNG = np.random.default_rng(0)
SERIES = [RNG.normal(size=n) for n in (12, 15)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k, x in enumerate(SERIES):
        pd.DataFrame({"t": np.arange(len(x)) * 0.5, "v": x}).to_csv(f"{k}.csv", index=False)
    return tmp_path


def test_distances_are_those_of_the_metrics(files, capsys):
    argv = ["--metric", "dtw:window=0.5", "--metric", "twed", "--metric", "euclidean", "--picture", "p.png"]
    out, err = printed(capsys, "distance", "0.csv", "1.csv", *argv, "--format", "json")
    rows = json.loads(out)["distances"]
    x, y = SERIES[:2]
    times = {"tx": np.arange(12) * 0.5, "ty": np.arange(15) * 0.5}
    expected = [
        get_metric("dtw", {"window": 0.5})(x, y),
        get_metric("twed")(x, y, **times),
        get_metric("euclidean")(x, y),
    ]
    assert [row["distance"] for row in rows] == expected
    assert [row["metric"] for row in rows] == ["DTW(window=0.5)", "TWED()", "Euclidean()"]
    assert "columns compared: v" in err
    assert (files / "p.png").read_bytes().startswith(b"\x89PNG")
    out, _ = printed(capsys, "distance 0.csv 1.csv --cutoff 1e-6 --format json")
    assert json.loads(out)["distances"][0]["distance"] is None  # infinity
    out, _ = printed(capsys, "distance 0.csv:2-8 0.csv:2-8")
    assert out.split() == ["metric", "distance", "path", "DTW()", "0", "6"]


def test_a_picture_needs_an_alignment(files, capsys):
    err = printed(capsys, "distance 0.csv 1.csv --metric euclidean --picture p.png", code=2).err
    assert "--picture needs a distance that aligns the series, such as dtw" in err


def test_metrics_are_those_of_the_registry(capsys):
    out, _ = printed(capsys, "metrics --format json")
    rows = json.loads(out)["metrics"]
    assert [row["name"] for row in rows] == metric_names()
    assert [row["parameters"] for row in rows if row["name"] == "twed"] == [",".join(get_metric("twed").get_params())]


def test_a_metric_is_explained(capsys):
    out, _ = printed(capsys, "metrics", "twed")
    assert "Parameters\n----------" in out
    assert all(f"\n{name} : " in out for name in get_metric("twed").get_params())
    assert "Did you mean 'twed'?" in printed(capsys, "metrics twe", code=2).err

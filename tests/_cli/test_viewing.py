"""The command view: the session of a file, without a server."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_runs import TS, Y, stand_by_files

from sktslib._cli.commands import parse
from sktslib._cli.looking import session_of


@pytest.fixture
def files(tmp_path, monkeypatch):
    return stand_by_files(tmp_path, monkeypatch)


def session(*argv):
    return session_of(parse(["view", *argv])[1])


def test_a_file_is_shown_with_its_names_and_times(files):
    found = session("two.csv", "--channels", "double").handle({"type": "open"})
    assert found["name"] == "two.csv" and found["n"] == len(Y)
    assert [one["name"] for one in found["channels"]] == ["mV", "double"]
    assert found["settings"]["channels"] == [1]
    assert session("rec.csv").handle({"type": "query", "start": 12, "end": 60})["label"] == f"{TS[12]:.3f}"
    assert (files / "rec.csv.view.json").exists()


def test_a_part_has_a_session_of_its_own(files):
    session("rec.csv:100-300").handle({"type": "query", "start": 12, "end": 60})
    assert (files / "rec.csv.100-300.view.json").exists()


def test_labels_are_answers_of_a_new_session(files):
    pd.DataFrame({"start": [24, 217], "end": [89, 282], "label": ["a", "b"]}).to_csv("labels.csv", index=False)
    for _ in range(2):
        found = session("rec.csv", "--labels", "labels.csv", "--session", "own.json")
        assert [one["name"] for one in found.handle({"type": "open"})["classes"]] == ["a", "b"]
        assert [tuple(one[:3]) for one in found.answers] == [(24, 89, 0), (217, 282, 1)]


def test_an_unknown_channel_is_refused(files):
    with pytest.raises(ValueError, match=r"--channels must name a column. Got 'mv'"):
        session("rec.csv", "--channels", "mv")


def test_the_script_reads_the_file(files, capsys):
    np.save("rec.npy", np.column_stack([Y, Y]))
    pd.DataFrame({"time": np.r_[TS, TS], "mV": np.r_[Y, Y], "class": np.arange(2 * len(Y)) // 30 % 9 == 0}).to_csv(
        "twice.csv", index=False
    )
    np.save("rows.npy", np.vstack([Y, Y]))
    labeled = f"twice.csv:{len(Y)}-{len(Y) + 400} --labels class"
    every = [
        "rec.csv",
        "rec.npy",
        "rec.npy:50-500",
        "rows.npy --transpose --rate 120",
        "rec.csv:100-500",
        "rec.csv:1s-4s",
    ]
    for line in [*every, "two.csv --columns double --missing -9999,x", labeled]:
        found = session(*line.replace("--missing ", "--missing=").split())
        found.handle({"type": "query", "start": 24, "end": 89})
        found.handle({"type": "search", "metric": "euclidean", "normalize": None})
        found.job.join()
        found.handle({"type": "threshold", "value": 9.0})
        rows = found.handle({"type": "matches", "order": "time", "limit": 99})["rows"]
        path = found.handle({"type": "export", "what": "script"})["path"]
        assert "sktslib._cli" not in Path(path).read_text()
        runpy.run_path(path)
        printed = capsys.readouterr().out
        assert [int(line.split(",")[0]) for line in printed.split()[1:]] == [row["start"] for row in rows] != []

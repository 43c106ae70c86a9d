"""The command evaluate: what was found against labels, in samples and in time."""

import json

import numpy as np
import pandas as pd
import pytest
from command_runs import ZONED, N, Y, printed, stand_by_files, table

from sktslib.metrics import event_f1_score

TRUE = np.array([[100, 150], [200, 250], [300, 350], [400, 450]])
FOUND = np.array([[103, 152], [200, 250], [330, 390], [500, 550]])
KINDS, NAMES = ["a", "b", "a", "b"], ["a", "a", "a", "b"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    stand_by_files(tmp_path, monkeypatch)
    pd.DataFrame({"start": TRUE[:, 0], "end": TRUE[:, 1], "label": KINDS}).to_csv("true.csv", index=False)
    pd.DataFrame({"start": FOUND[:, 0], "end": FOUND[:, 1], "label": NAMES}).to_csv("found.csv", index=False)
    return tmp_path


def test_hits_misses_and_confusions(files, capsys):
    out, err = printed(capsys, "evaluate rec.csv found.csv --labels true.csv")
    f1 = event_f1_score(TRUE, FOUND)
    assert f"whatever the class: F1 {f1:.3f}, precision 0.500, recall 0.500: 2 hits, 2 missed, 2 false" in err
    lines = [line.split() for line in out.splitlines()]
    assert ["true", "as", "a", "as", "b", "missed", "F1"] in lines
    assert ["a", "1", "0", "1", "0.400"] in lines and ["b", "1", "0", "1", "0.000"] in lines
    frame, _ = table(capsys, "evaluate rec.csv found.csv --labels true.csv")
    assert frame["kind"].value_counts().to_dict() == {"hit": 2, "missed": 2, "false": 2}
    assert frame["cause"].fillna("").tolist() == ["", "label", "borders", "borders", "nothing", "nothing"]


def test_classes_on_one_side_do_not_count(files, capsys):
    pd.DataFrame({"start": FOUND[:, 0], "end": FOUND[:, 1]}).to_csv("found.csv", index=False)
    found = json.loads(printed(capsys, "evaluate rec.csv found.csv --labels true.csv --format json").out)
    assert found["f1"] == event_f1_score(TRUE, FOUND)
    assert "only the labels have classes" in printed(capsys, "evaluate rec.csv found.csv --labels true.csv").err


@pytest.mark.parametrize("tolerance", ["2", "3", "40", "30ms", "0.4s"])
def test_tolerance_in_samples_and_in_time(files, capsys, tolerance):
    pd.DataFrame({"mV": Y}, index=ZONED).to_csv("rec.csv")  # a hundred samples a second
    for name, ranges in (("true.csv", TRUE), ("found.csv", FOUND)):
        times = {"start_time": ZONED[ranges[:, 0]], "end_time": ZONED[ranges[:, 1]]}
        pd.DataFrame(times).map(pd.Timestamp.isoformat).to_csv(name, index=False)
    line = f"evaluate rec.csv found.csv --labels true.csv --format json --tolerance {tolerance}"
    samples = {"30ms": 3, "0.4s": 40}.get(tolerance) or int(tolerance)
    assert json.loads(printed(capsys, line).out)["f1"] == event_f1_score(TRUE, FOUND, tolerance=samples)


def test_labels_of_a_column(files, capsys):
    labels = np.zeros(N, int)
    for k, (start, end) in enumerate(TRUE):
        labels[start:end] = k % 2 + 1
    pd.DataFrame({"mV": Y, "beat": labels}).to_csv("rec.csv", index=False)
    pd.DataFrame({"start": FOUND[:, 0], "end": FOUND[:, 1], "label": [1, 2, 2, 1]}).to_csv("found.csv", index=False)
    assert "F1 0.500" in printed(capsys, "evaluate rec.csv found.csv --labels beat").err
    err = printed(capsys, "evaluate rec.csv found.csv --labels beat --tolerance 1s", code=2).err
    assert "--tolerance may be a duration if the recording has times" in err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("evaluate rec.csv rec.csv --labels true.csv", "FOUND must name a file with the columns start and end"),
        ("evaluate rec.csv found.csv --labels true.csv --min-iou 2", "--min-iou must be a real number"),
        ("evaluate rec.csv found.csv --labels no.csv", "--labels must name a file of ranges that exists, or a column"),
    ],
)
def test_wrong_use(files, capsys, line, words):
    assert words in printed(capsys, line, code=2).err

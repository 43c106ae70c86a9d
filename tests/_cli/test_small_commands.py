"""The commands evaluate, show, view, distance and metrics."""

import json
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_runs import TS, ZONED, N, Y, printed, table

from sktslib._cli.commands import parse
from sktslib._cli.looking import session_of
from sktslib.distances import get_metric, metric_names
from sktslib.metrics import event_f1_score

TRUE = np.array([[100, 150], [200, 250], [300, 350], [400, 450]])
FOUND = np.array([[103, 152], [200, 250], [330, 390], [500, 550]])
KINDS, NAMES = ["a", "b", "a", "b"], ["a", "a", "a", "b"]


@pytest.fixture
def files(files):
    pd.DataFrame({"start": TRUE[:, 0], "end": TRUE[:, 1], "label": KINDS}).to_csv("true.csv", index=False)
    pd.DataFrame({"start": FOUND[:, 0], "end": FOUND[:, 1], "label": NAMES}).to_csv("found.csv", index=False)
    for k, x in enumerate(SERIES):
        pd.DataFrame({"t": np.arange(len(x)) * 0.5, "v": x}).to_csv(f"{k}.csv", index=False)
    return files


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


# ----------------------------------------------------------------------------------------------------------------- show


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


def test_arrays_with_more_channels_than_samples_may_be_turned(files, capsys):
    np.save("a.npy", np.column_stack([Y] * 2).T)
    err = printed(capsys, "show a.npy").err
    assert f"2 samples of {N} channels. If the rows of 'a.npy' are its channels: --transpose." in err
    assert f"{N} samples of 2 channels\n" in printed(capsys, "show a.npy --transpose").err
    pd.DataFrame([range(9)] * 3).to_csv("b.csv", index=False, header=False)
    assert "3 samples of 9 channels\n" in printed(capsys, "show b.csv").err


# ----------------------------------------------------------------------------------------------------------------- view


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
    every = ["rec.csv", "rec.npy", "rec.npy:50-500", "rows.npy --transpose --rate 120", "rec.csv:100-500"]
    for line in [*every, "rec.csv:1s-4s", "two.csv --columns double --missing=-9999,x", labeled]:
        found = session(*line.split())
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


# ------------------------------------------------------------------------------------------------------------ distances

RNG = np.random.default_rng(0)
SERIES = [RNG.normal(size=n) for n in (12, 15)]


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

"""The command learn: labels as files hold them, and what is done with the estimator that it saves."""

import re

import joblib
import numpy as np
import pandas as pd
import pytest
from command_runs import ECG, TS, ZONED, N, Y, printed, same, table

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.metrics import labels_from_events
from sktslib.search import Learning

EVENTS = np.column_stack([ECG.beats - 12, ECG.beats + 18]).clip(0)[ECG.beats < N - 20] // 4
CLASSES = ECG.beat_kinds[ECG.beats < N - 20]
LABELS = labels_from_events(EVENTS, CLASSES, n_samples=N // 4)
FEW, TIMES = Y[::4], TS[::4]  # enough to learn from


@pytest.mark.parametrize("written", ["column", "samples", "times", "clock"])
def test_labels_make_a_saved_estimator(files, capsys, written):
    recording, labels = pd.DataFrame({"time": TIMES, "mV": FEW}), "labels.csv"
    (start, end), classes = EVENTS.T, {"label": CLASSES}
    if written == "column":
        recording, labels = recording.assign(beat=LABELS), "beat"
    elif written == "times":
        classes = {"start_time": TIMES[start], "end_time": TIMES[end], "kind": CLASSES}
    elif written == "clock":
        clock = ZONED[::4].map(pd.Timestamp.isoformat)
        recording = pd.DataFrame({"when": clock, "mV": FEW})
        start, end = clock[start], clock[end]
    recording.to_csv("rec.csv", index=False)
    pd.DataFrame(classes if written == "times" else {"start": start, "end": end, **classes}).to_csv("labels.csv")
    err = printed(capsys, "learn", "rec.csv", "--labels", labels, "--output", "m.joblib").err
    assert f"labels: {len(EVENTS)} ranges of N, V" in err or f"labels: {len(EVENTS)} ranges of F, N, V" in err
    learned = QuerySegmenter().fit(pd.DataFrame({"mV": FEW}), LABELS)
    saved = joblib.load("m.joblib")
    assert saved.feature_names_in_.tolist() == ["mV"]
    for a, b in zip(saved.queries_, learned.queries_, strict=True):
        np.testing.assert_array_equal(a, b)
    pd.DataFrame({"double": 2 * FEW, "mV": FEW}).to_csv("two.csv", index=False)
    frame, err = table(capsys, "segment two.csv --trust --model m.joblib")  # its column is chosen by name
    found = learned.segment(pd.DataFrame({"mV": FEW}))
    same(frame, found, ("start", "end", "cost", "label"))
    assert len(found) > 3
    assert "columns compared: mV\n" in err


@pytest.mark.parametrize("first", [0, 100])
def test_seconds_of_labels_count_from_the_begin_of_a_dated_recording(files, capsys, first):
    pd.DataFrame({"mV": Y}, index=ZONED).to_csv("rec.csv")
    events = np.array([[140, 205], [330, 395], [501, 566]])
    pd.DataFrame({"start_time": events[:, 0] / 100, "end_time": events[:, 1] / 100}).to_csv("labels.csv", index=False)
    argv = ["learn", f"rec.csv:{first}-600", "--labels", "labels.csv", "--output", "m.joblib", "--metric", "euclidean"]
    err = printed(capsys, *argv).err
    assert "3 ranges of 1, 'start_time' to 'end_time' read as seconds from 2024-03-31 00:59:58+00:00, where" in err
    labels = labels_from_events(events - first, n_samples=N - first)
    want = QuerySegmenter("euclidean").fit(pd.DataFrame({"mV": Y[first:]}), labels)
    np.testing.assert_array_equal(joblib.load("m.joblib").queries_[0], want.queries_[0])


def test_a_searcher_learns_its_threshold(files, capsys):
    pd.DataFrame({"time": TIMES, "mV": FEW, "beat": LABELS}).to_csv("rec.csv", index=False)
    argv = ["--labels", "beat", "--task", "search", "--normalize", "mean", "--output", "m.joblib"]
    printed(capsys, "learn", "rec.csv", *argv)
    frame, _ = table(capsys, "search rec.csv --trust --model m.joblib --columns mV --n-jobs 1")
    learned = QuerySearcher(normalize="mean", n_matches=None).fit(pd.DataFrame({"mV": FEW}), LABELS)
    same(frame, learned.search(pd.DataFrame({"mV": FEW})), ("start", "end", "distance", "label"))
    err = printed(capsys, "segment rec.csv --trust --model m.joblib", code=2).err
    assert "m.joblib', which is for `sktslib search`." in err


def test_the_metric_may_be_chosen_by_the_labels(files, capsys):
    pd.DataFrame({"mV": FEW, "beat": LABELS}).to_csv("rec.csv", index=False)
    line = "learn rec.csv --labels beat --task search --candidates windows --output m.joblib --metric auto"
    err = printed(capsys, line).err
    assert f"metric chosen by the labels: {joblib.load('m.joblib').metric_!r}, normalize=" in err
    err = printed(capsys, "search rec.csv --query :10-20 --metric auto", code=2).err
    assert "--metric: 'auto' is chosen by labels: `sktslib learn` takes it" in err


@pytest.mark.parametrize(
    ("written", "texts"), [("labeled", False), ("range", False), ("range", True), ("column", False), ("column", True)]
)
def test_what_nobody_looked_through_is_learned_from_too(files, capsys, written, texts):
    half = 90
    events, more = EVENTS[EVENTS[:, 1] < half], ()
    names = np.full(len(events), "beat" if texts else 7)
    frame = pd.DataFrame({"start": events[:, 0], "end": events[:, 1], "label": names})
    rec, labels = pd.DataFrame({"time": TIMES, "mV": FEW}), "labels.csv"
    if written == "labeled":
        more = ("--labeled", f"0s-{TIMES[half]}s")
    elif written == "range":
        frame.loc[len(frame)] = [half, len(FEW), "-1" if texts else -1]
    else:
        y, labels = labels_from_events(events, names, n_samples=len(FEW)).astype(object), "beat"
        y[half:] = -1
        rec["beat"] = np.where(y == "", "0", y) if texts else y
    rec.to_csv("rec.csv", index=False)
    frame.to_csv("labels.csv", index=False)
    learn = "learn", "rec.csv", "--labels", labels, "--output", "m.joblib", "--self-train", "2", *more
    err = printed(capsys, *learn).err
    assert f"{len(FEW) - half} of {len(FEW)} samples unlabeled" in err
    numbers = labels_from_events(events, n_samples=len(FEW))
    numbers[half:] = -1
    want = QuerySegmenter(learning=Learning(self_train=2)).fit(FEW[:, None], numbers)
    saved = joblib.load("m.joblib")
    np.testing.assert_array_equal(saved.queries_[0], want.queries_[0])
    np.testing.assert_array_equal(saved.self_training_, want.self_training_)
    assert want.self_training_[0, 0] > 0 and saved.classes_.tolist() == ["beat" if texts else 7]
    assert f"round 1: {want.self_training_[0, 0]} of {saved.classes_[0]} in unlabeled samples" in err
    frame, _ = table(capsys, "segment rec.csv --trust --model m.joblib --columns mV")
    same(frame, want.segment(FEW), ("start", "end", "cost"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--labeled", "0-100"], "--labeled needs --self-train"),
        (["--labeled", "a-b", "--self-train", "1"], "must be written START-STOP"),
        (["--labeled", "0-99999", "--self-train", "1"], "must be within the recording"),
        (["--labeled", "0-100", "--task", "search"], "--labeled needs --self-train"),
        (["--task", "search", "--self-train", "1"], "It is an option of --task segment, the only one that learns"),
        (["--labeled", "0-4", "--self-train", "1"], "Samples outside of --labeled 0-4 do not count."),
    ],
)
def test_wrong_parts_that_are_labeled(files, capsys, given, words):
    pd.DataFrame({"mV": FEW, "beat": LABELS}).to_csv("rec.csv", index=False)
    assert words in printed(capsys, "learn", "rec.csv", "--labels", "beat", "--output", "m.joblib", *given, code=2).err


def test_ranges_of_a_file_that_overlap(files, capsys):
    frame = pd.DataFrame({"start": [140, 140, 180, 330], "end": [205, 205, 240, 395]})
    frame.assign(foot=["left", "right", "right", "left"]).to_csv("labels.csv", index=False)
    argv = "learn", "rec.csv", "--labels", "labels.csv", "--metric", "euclidean", "--output", "m.joblib"
    err = printed(capsys, *argv, code=2).err
    assert "error: --labels must not hold ranges that overlap. Got 2 of 3 that do, the first [140, 205]" in err
    for way in re.findall(r"'?(\w+)'? to (?:divide|join|leave)", err):
        printed(capsys, *argv, "--on-overlap", way)
        y = labels_from_events(frame.to_numpy(), n_samples=N, on_overlap=way)
        want = QuerySegmenter("euclidean").fit(Y[:, None], y)
        np.testing.assert_array_equal(joblib.load("m.joblib").query_, want.query_)
    assert "--on-overlap cut to divide" in err and "--where foot=left" in err
    assert "labels: 2 ranges of 1" in printed(capsys, *argv, "--where", "foot=left").err
    assert "there are left, right" in printed(capsys, *argv, "--where", "foot=both", code=2).err
    pd.DataFrame({"mV": FEW, "beat": LABELS}).to_csv("rec.csv", index=False)
    err = printed(capsys, *argv[:3], "beat", *argv[4:], "--on-overlap", "cut", code=2).err
    assert "--on-overlap needs --labels to name a file of ranges. Got the column 'beat'." in err
    printed(capsys, *argv[:3], "beat", *argv[4:])


@pytest.mark.parametrize("names", [["0", "beat", "-1"], [0, 1, -1]])
def test_a_class_that_may_be_meant_for_unlabeled_is_told_of(files, capsys, names):
    y = np.array(names)[np.where(np.arange(len(FEW)) < 90, LABELS != 0, 2)]
    pd.DataFrame({"mV": FEW, "beat": y}).to_csv("rec.csv", index=False)
    err = printed(capsys, "learn rec.csv --labels beat --output m.joblib").err
    assert "-1 is one of the classes: with --task segment --self-train 3 it means unlabeled" in err


@pytest.mark.parametrize(
    ("around", "column"), [("0.1s,0.15s", "peak"), ("12,18", "time"), ("100ms,18", "onset"), ("12,18", "ts")]
)
def test_instants_become_ranges_about_them(files, capsys, around, column):
    peaks = ECG.beats[(ECG.beats > 20) & (ECG.beats < N - 20)]
    y = labels_from_events(peaks, n_samples=N, before=12, after=18)
    at = peaks if column == "peak" else TS[peaks]
    pd.DataFrame({column: at, **({} if column == "ts" else {"note": "x"})}).to_csv("peaks.csv", index=False)
    options = "learn rec.csv --labels peaks.csv --task search --metric euclidean --output m.joblib"
    err = printed(capsys, options, "--around", around).err
    assert f"labels: {len(peaks)} ranges of 1, {column!r} read as {'samples' if column == 'peak' else 'times'}" in err
    learned = QuerySearcher("euclidean").fit(pd.DataFrame({"mV": Y}), y)
    np.testing.assert_array_equal(joblib.load("m.joblib").query_, learned.query_)


def test_onsets_with_durations_are_ranges(files, capsys):
    pd.DataFrame({"onset": TS[[140, 330]], "duration": TS[[65, 65]]}).to_csv("labels.csv", index=False)
    options = "learn rec.csv --labels labels.csv --metric euclidean --output m.joblib"
    assert "2 ranges of 1, 'onset' to 'duration' read as times" in printed(capsys, options).err


def test_what_is_no_span_about_instants(files, capsys):
    pd.DataFrame({"peak": [100, 200]}).to_csv("peaks.csv", index=False)
    rule = "--around must be BEFORE,AFTER in samples (12,18) or as durations (0.1s,0.15s). Got"
    for around in ("0.1s", "a,b", "-1,2", "1,2,3"):
        line = f"learn rec.csv --labels peaks.csv --output m.joblib --around={around}"
        assert rule in printed(capsys, line, code=2).err
    err = printed(capsys, "learn two.csv --labels double --output m.joblib --around 1,2", code=2).err
    assert "--around needs --labels to name a file of ranges" in err
    err = printed(capsys, "learn rec.csv --labels peaks.csv --output m.joblib", code=2).err
    assert "Got 'peaks.csv' with peak. Instants, such as R peaks, need --around 0.1s,0.15s." in err

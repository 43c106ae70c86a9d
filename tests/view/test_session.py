"""Sessions without a browser: messages in, messages out."""

import base64
import csv
import json
import re
import runpy
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from strategies import slow

from sktslib import QuerySearcher, QuerySegmenter, Sampling, load_model
from sktslib.io import Recording, read_annotations
from sktslib.view import _export, _work
from sktslib.view._session import Session, wilson
from sktslib.view._work import Task

RNG = np.random.default_rng(5)
N, M = 30_000, 60
SHAPE = np.interp(np.linspace(0, 7, M), np.arange(8), [0, 1, 4, -2, 1, 3, 2.5, 0])
STARTS = np.arange(200, N - 400, 500) + RNG.integers(0, 300, len(np.arange(200, N - 400, 500)))
EVENTS = np.column_stack([STARTS, STARTS + M])
GAP = np.arange(N) / 50 + np.where(np.arange(N) >= 500, 1e7, 0.0)


def recording(channels=1):
    y = 0.2 * np.random.default_rng(6).normal(size=(N, channels))
    for k, start in enumerate(STARTS.tolist()):
        y[start : start + M] += (SHAPE * (1 - 0.5 * (k % 3 == 0)))[:, np.newaxis]
    return y


def say(session, kind, **fields):
    """The answer to a message, through JSON, as a page gets it."""
    answer = json.loads(json.dumps(session.handle(json.loads(json.dumps({"type": kind, **fields})))))
    assert answer.get("error") is None, answer["error"]
    return answer


def done(session, kind, **fields):
    """The last progress of a job."""
    job = say(session, kind, **fields)["job"]
    while (found := say(session, "progress", job=job))["state"] == "running":
        time.sleep(0.005)
    return found


def marks_of(session, **view):
    """The marks of a view, as the page reads them."""
    names = "start", "end", "class", "answer"
    return [dict(zip(names, row, strict=True)) for row in say(session, "view", **view)["marks"]]


def floats(packed, *shape):
    return np.frombuffer(base64.b64decode(packed["f32"]), "<f4").reshape(*shape)


def searched(session, metric="euclidean", normalize="zscore", query=EVENTS[1], **fields):
    say(session, "query", start=int(query[0]), end=int(query[1]))
    assert done(session, "search", metric=metric, normalize=normalize, **fields)["state"] == "done"
    return session


def rows_of(session, order="time"):
    return say(session, "matches", order=order, offset=0, limit=10**6)["rows"]


def is_event(row):
    return bool((np.abs(STARTS - row["start"]) < M // 3).any())


def test_opening_says_what_there_is():
    session = Session(Recording(recording(2), Sampling(50.0), ["x", "y"], ["mV", None]), name="rec.csv")
    found = say(session, "open")
    assert found["name"] == "rec.csv" and found["n"] == N
    assert found["channels"] == [{"name": "x", "unit": "mV"}, {"name": "y", "unit": ""}]
    assert found["settings"] == {"metric": "auto", "normalize": None, "channels": [0, 1]}
    assert {"auto", "dtw", "euclidean"} <= set(found["metrics"]) and "zscore" in found["normalizations"]
    assert (found["n_answers"], found["has_results"], found["notice"]) == (0, False, None)
    assert say(session, "query") == {"notice": None}  # none yet
    assert found["times"] == "s" and say(Session(recording()), "open")["times"] == "sample"


def test_views_hold_samples_ticks_and_ranges():
    y = recording(2)
    session = Session(Recording(y, Sampling(50.0)))
    session.pyramid.wait()
    found = say(session, "view", first=-100, last=1000.0, columns=500)  # clipped
    assert (found["first"], found["last"], found["ready"]) == (0, 1000, 1)
    low, high = (floats(found[name], 2, 500) for name in ("low", "high"))
    pairs = y[:1000].astype("f4").reshape(500, 2, 2)
    np.testing.assert_array_equal(low, pairs.min(axis=1).T)
    np.testing.assert_array_equal(high, pairs.max(axis=1).T)
    np.testing.assert_allclose(found["ranges"], np.column_stack([y.min(axis=0), y.max(axis=0)]), rtol=1e-6)
    assert found["ticks"] == [[0, "0"], [250, "5"], [500, "10"], [750, "15"], [1000, "20"]]


@pytest.mark.parametrize(
    ("times", "first", "last", "ticks"),
    [
        (None, 0, 1000, [[0, "0"], [200, "200"]]),
        (GAP, 0, 1000, [[0, "0"], [250, "5"], [500, "10000010"], [750, "10000015"], [1000, "10000020"]]),
        (np.arange(N) * 0.5 + 3, 0, 100, [[14, "10"], [34, "20"]]),
        (Sampling(10, 2.0), 0, 1000, [[180, "20"], [380, "40"]]),
        (
            pd.date_range("2024-03-01 23:59:30", periods=N, freq="s", tz="Europe/Berlin"),
            0,
            120,
            [[0, "2024-03-01 23:59:30"], [30, "2024-03-02 00:00:00"], [60, "00:00:30"]],
        ),
        (Sampling(1, pd.Timestamp("2024-03-01 23:50")), 0, 7200, [[600, "2024-03-02 00:00"], [2400, "00:30"]]),
        (Sampling(1, pd.Timestamp("2024-03-01 23:50")), 1000, 3000, [[1200, "2024-03-02 00:10"], [2400, "00:30"]]),
        (Sampling(1 / 60, pd.Timestamp("2024-03-01 23:50")), 0, 8 * 1440, [[10, "2024-03-02"], [1450, "2024-03-03"]]),
        (pd.timedelta_range("1s", periods=N, freq="100ms"), 0, 100, [[10, "2"], [30, "4"]]),
        (np.datetime64("2024-01-01") + np.arange(N).astype("m8[h]"), 0, 24 * 30, [[0, "2024-01-01"]]),
    ],
)
def test_ticks_are_round_times_as_the_recording_has_them(times, first, last, ticks):
    found = say(Session(Recording(recording(), times)), "view", first=first, last=last, columns=800)["ticks"]
    assert all(pair in found for pair in ticks), found
    assert 2 <= len(found) <= 12


def test_matches_are_those_of_the_searcher():
    y = recording()
    session = searched(Session(y))
    every = QuerySearcher("euclidean", normalize="zscore").fit(y[STARTS[1] : STARTS[1] + M]).search_all(y)
    rows = rows_of(session, "distance")
    assert [(row["start"], row["end"], row["distance"]) for row in rows] == [
        (m.start, m.end, m.distance) for m in every
    ]
    np.testing.assert_allclose([row["scale"][0] for row in rows], every.scale)
    np.testing.assert_allclose([row["offset"][0] for row in rows], every.offset, atol=1e-12)
    assert rows[0]["q"] <= 1 / 20 and all(a["q"] <= b["q"] for a, b in pairwise(rows) if b["q"])
    assert {row["start"] for row in rows if row["within"]} >= set(STARTS.tolist())
    np.testing.assert_allclose(floats(rows[0]["picture"], 1, rows[0]["points"])[0, [0, -1]], y[EVENTS[1] - [0, 1], 0])
    assert say(session, "matches", order="distance", offset=3, limit=2)["rows"] == rows[3:5]
    around = say(session, "matches", order="distance", around=rows[7]["id"], limit=3)
    assert (around["offset"], around["rows"]) == (6, rows[6:9])
    assert say(session, "matches", order="time", around="1-2", limit=3)["offset"] == 0
    late = f"{rows[0]['start'] + 1}-{rows[0]['start'] + 9}"  # where it would be in time
    assert rows[0]["start"] <= say(session, "matches", order="time", around=late, limit=2)["rows"][-1]["start"]
    assert say(session, "matches", order="time", around=f"{N - 9}-{N}", limit=2)["offset"] > 0


def test_the_threshold_counts():
    session = searched(Session(recording()))
    distance = np.array([row["distance"] for row in rows_of(session, "distance")])
    for value in (0.0, 3.0, float(distance[10]), 1e9):
        found = say(session, "threshold", value=value)
        assert (found["value"], found["n"]) == (value, (distance <= value).sum())
        assert len(rows_of(session)) == found["n"]
    edges, counts, beyond, largest = (found["histogram"][name] for name in ("edges", "counts", "beyond", "largest"))
    assert counts == np.histogram(distance, edges)[0].tolist() and sum(counts) + beyond == len(distance)
    assert largest == distance.max()
    assert say(session, "threshold")["value"] == 1e9  # it stays
    assert say(session, "threshold", value=None)["n"] >= len(STARTS) - 2
    few, more = (say(session, "threshold", value=float(distance[k]))["expected_false"] for k in (20, -1))
    assert few < more
    session.finds.distance[-1] = far = 100 * distance.max()  # which must not squeeze the others
    found = say(session, "threshold", value=far)["histogram"]
    assert found["beyond"] == max(beyond, 1) and found["largest"] == far and found["edges"][-1] <= distance.max()


def test_one_in_five_is_random_and_precision_comes_from_these_alone():
    session = searched(Session(recording(), seed=3))
    say(session, "threshold", value=9.0)
    n, asked, right = say(session, "threshold", value=9.0)["n"], [], []
    for _ in range(40):
        found = say(session, "next")
        asked.append(found["why"])
        yes = is_event(found["row"])
        standing = say(session, "answer", id=found["id"], yes=yes)
        if found["why"] == "random":
            right.append(yes)
            assert found["row"]["within"]
            assert standing["precision"]["n"] >= len(right)
    assert [k for k, why in enumerate(asked) if why == "random"] == [4, 9, 14, 19, 24, 29, 34, 39]
    assert n > len(STARTS)
    before = standing["precision"]["n"]
    drawn = [say(session, "next") for _ in range(5)][-1]  # whose answer is awaited, and counts nothing before
    assert drawn["why"] == "random" and say(session, "open")["precision"]["n"] >= before
    assert [say(session, "next")["id"] for _ in range(5)][-1] == drawn["id"]  # it is asked again
    assert standing["n_answers"] == 40 and standing["precision"]["low"] < 1
    low, high = wilson(8, 10)["low"], wilson(8, 10)["high"]
    np.testing.assert_allclose([low, high], [0.4901625, 0.9433178], rtol=1e-6)


def test_every_match_is_drawn_with_the_same_probability():
    """Whether it was asked about before or not."""
    drawn = np.zeros(6)
    for seed in range(100):
        session = Session(np.zeros(700), seed=seed)
        start = np.arange(0, 600, 100)
        session.finds = _work.Finds(start, start + 50, np.zeros(6, int), np.arange(6.0), 9.0)
        session._made = _work.Job("search", "key", _work.Task(None, {0: [0, 50]}, "auto", None, [0]), None, None)
        for k in (0, 1, 2):
            say(session, "answer", id=f"{start[k]}-{start[k] + 50}", yes=True)
        session._turn = 4
        assert say(session, "next")["why"] == "random"
        for name in session.drawn:
            drawn[int(name.partition("-")[0]) // 100] += 1
    assert drawn.sum() > 100 and drawn[3:].sum() == 100  # one new one each time
    first_three = drawn[:3].sum() / 100
    assert abs(first_three - 3 / 4) < 0.2  # of 6 in random order, 3 / 4 of the known come before the first other


def test_answers_are_taken_back_and_the_last_one_counts():
    session = searched(Session(recording()))
    one, other = (row["id"] for row in rows_of(session, "distance")[:2])
    assert say(session, "answer", id=one, yes=True)["n_answers"] == 1
    assert say(session, "answer", id=other, yes=False)["n_answers"] == 2
    assert say(session, "answer", id=one, yes=False)["n_answers"] == 2
    assert [row["answer"] for row in rows_of(session, "distance")[:3]] == [False, False, None]
    assert say(session, "undo")["id"] == one
    assert [row["answer"] for row in rows_of(session, "distance")[:3]] == [True, False, None]
    start, end = map(int, one.split("-"))
    say(session, "answer", id=f"{start + 3}-{end + 4}", yes=False)  # as found by another query
    assert [row["answer"] for row in rows_of(session, "distance")[:2]] == [False, False]


def test_learning_from_answers_is_that_of_the_searcher():
    y = recording()
    session = searched(Session(y), "dtw", None)
    for _ in range(10):
        found = say(session, "next")
        say(session, "answer", id=found["id"], yes=is_event(found["row"]))
    done(session, "relearn")
    starts = np.array([row["start"] for row in rows_of(session)])
    f1 = 2 * sum(np.abs(starts - s).min() < M // 3 for s in STARTS) / (len(starts) + len(STARTS))
    assert f1 > 0.95
    base = QuerySearcher("dtw", nan_policy="omit").fit(y[slice(*EVENTS[1])])
    matches = base.search_all(y)
    answered = {(start, end): yes for start, end, _, yes in session.answers}
    known = [answered.get((m.start, m.end)) for m in matches]
    learned = base.learn_from_answers(
        matches, good=[k for k, one in enumerate(known) if one], bad=[k for k, one in enumerate(known) if one is False]
    )
    np.testing.assert_allclose(session.found_by().estimator.query_, learned.query_)
    np.testing.assert_allclose(session.found_by().estimator.weight_, learned.weight_)


def test_classes_have_queries_of_their_own():
    y = recording()
    session = searched(Session(y), "dtw", None)
    assert len(say(session, "class", name="small", color="#000000", number=None)["classes"]) == 2
    assert say(session, "class", name="large", color=None, number=0)["classes"][0]["name"] == "large"
    is_small = np.arange(len(STARTS)) % 3 == 0
    for k in range(12):
        say(session, "answer", id="{}-{}".format(*EVENTS[k]), yes=True, **{"class": int(is_small[k])})
    say(session, "answer", id="5-65", yes=False)
    done(session, "relearn")
    kinds = {}
    for row in rows_of(session):
        kinds[int(np.argmin(np.abs(STARTS - row["start"])))] = row["class"]
    assert np.mean([kinds.get(k) == is_small[k] for k in range(len(STARTS))]) > 0.9
    found = rows_of(session)
    assert all(a["end"] <= b["start"] for a, b in pairwise(found))
    marks = marks_of(session, first=0, last=N, columns=500)
    assert {mark["class"] if mark["answer"] else None for mark in marks} == {0, 1, None}


def test_each_class_is_searched_for_by_its_query(tmp_path):
    session = searched(Session(recording(), tmp_path / "rec.view.json"))
    say(session, "class", name="other", color=None, number=None)
    say(session, "query", start=400, end=440, **{"class": 1})
    done(session, "search", **{"class": 1})
    assert session.found_by().task.queries == {1: [400, 440]}
    assert (rows_of(session, "distance")[0]["id"], rows_of(session)[0]["class"]) == ("400-440", 1)
    again = Session(recording(), tmp_path / "rec.view.json")
    assert (say(again, "open")["last"], say(again, "open")["class"]) == ("search", 1)
    done(again, "search")  # as the page does it then
    assert rows_of(again) == rows_of(session)
    done(again, "search", **{"class": 0})
    assert rows_of(again, "distance")[0]["start"] == STARTS[1]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["dtw", "euclidean"])
def test_answers_about_ranges_of_another_length_than_the_query(metric):
    """As another query had found them, whose windows may be shorter; also at the ends of the recording."""
    n = 6000
    session, starts = Session(recording()[:n]), STARTS[STARTS < n - M]
    short = EVENTS + np.array([10, -10])
    for k in range(8):
        say(session, "answer", id="{}-{}".format(*short[k]), yes=True)
    for start in (0, n - 30):
        say(session, "answer", id=f"{start}-{start + 30}", yes=False)
    searched(session, metric, "mean")
    assert done(session, "relearn")["error"] is None
    found = np.array([row["start"] for row in rows_of(session)])
    assert np.mean([np.abs(found - s).min() < M // 3 for s in starts]) > 0.9
    say(session, "class", name="long", color=None, number=None)
    say(session, "query", start=int(STARTS[5]) - 20, end=int(STARTS[5]) + M + 20, **{"class": 1})
    assert done(session, "relearn")["error"] is None


def test_many_marks_are_a_density():
    session = searched(Session(recording()))
    rows = rows_of(session)
    marks = marks_of(session, first=0, last=N, columns=1000)
    assert [(mark["start"], mark["end"]) for mark in marks] == [(row["start"], row["end"]) for row in rows]
    columns = len(rows) - 1
    found = say(session, "view", first=0, last=N, columns=columns)
    covered = np.zeros(N)
    for row in rows:
        covered[row["start"] : row["end"]] = 1
    density = floats(found["density"], 1, columns)[0]
    exact = np.diff(np.interp(np.linspace(0, N, columns + 1), np.arange(N + 1), np.r_[0, covered.cumsum()]))
    np.testing.assert_allclose(density, exact / (N / columns), atol=1e-5)
    assert "marks" not in found


def test_segments_and_counts():
    y = np.tile(SHAPE, 100) + 0.1 * np.random.default_rng(0).normal(size=100 * M)
    session = Session(y)
    done(session, "count")
    assert abs(say(session, "threshold", value=None)["n"] - 100) <= 2
    say(session, "query", start=M, end=2 * M)
    done(session, "segment")
    expected = QuerySegmenter("auto").fit(y[M : 2 * M]).segment(y)
    assert [(row["start"], row["end"]) for row in rows_of(session)] == list(
        zip(expected.start.tolist(), expected.end.tolist(), strict=True)
    )
    say(session, "answer", id=rows_of(session)[0]["id"], yes=True)
    assert done(session, "relearn")["state"] == "done"


def test_segments_of_several_classes():
    y = np.tile(np.concatenate([SHAPE, -SHAPE]), 20) + 0.1 * np.random.default_rng(0).normal(size=40 * M)
    session = Session(y)
    say(session, "query", start=0, end=M)
    say(session, "class", name="other")
    say(session, "query", start=M, end=2 * M, **{"class": 1})
    assert done(session, "segment")["state"] == "done"
    assert {row["class"] for row in rows_of(session)} == {0, 1}


def test_missing_values_and_gaps_in_time():
    y = recording()
    y[STARTS[3] + 5 : STARTS[3] + 50] = np.nan
    times = pd.date_range("2024-01-01", periods=N, freq="s")
    late = np.where(np.arange(N) >= STARTS[7] + 30, 3600, 0)
    session = searched(Session(Recording(y, times + pd.to_timedelta(late, "s"))))
    session.pyramid.wait()
    starts = [row["start"] for row in rows_of(session)]
    near = [np.abs(np.array(starts) - s).min() < 10 for s in STARTS]
    assert [k for k, one in enumerate(near) if not one] == [3, 7]
    assert not any(s < STARTS[7] + 30 < s + M for s in starts)
    low = floats(say(session, "view", first=int(STARTS[3]), last=int(STARTS[3]) + 60, columns=60)["low"], 60)
    assert np.isnan(low[5:50]).all() and np.isfinite(low[:5]).all()
    assert say(session, "view", first=0, last=N, columns=9)["gaps"] == [int(STARTS[7]) + 30]


def test_a_job_is_cancelled_and_another_one_takes_its_place(monkeypatch, tmp_path):
    np.save(tmp_path / "y.npy", recording())
    wait, samples = threading.Event(), Task.samples
    monkeypatch.setattr(Task, "samples", lambda *args: wait.wait(5) and samples(*args))
    session = Session(np.load(tmp_path / "y.npy", mmap_mode="r"))
    say(session, "query", start=100, end=200)
    job = say(session, "search", metric="euclidean", normalize=None)["job"]
    found = say(session, "progress", job=job)
    assert found["state"] == "running" and 0 <= found["share"] < 1
    say(session, "cancel", job=job)
    other = say(session, "search", metric="euclidean", normalize="mean")["job"]
    wait.set()
    while "running" in {say(session, "progress", job=k)["state"] for k in (job, other)}:
        time.sleep(0.005)
    assert say(session, "progress", job=job)["state"] == "cancelled"
    assert say(session, "progress", job=job)["n_matches"] == 0 < say(session, "progress", job=other)["n_matches"]
    assert say(session, "progress", job=other)["state"] == "done"
    assert session.found_by().task.normalize == "mean"


def test_long_recordings_show_matches_near_the_query_first(monkeypatch):
    monkeypatch.setattr(_work, "NEAR", 4000)
    monkeypatch.setattr(_work, "IN_MEMORY", 1000)
    session, seen = Session(recording()), []
    make = _work.Job.__init__

    def noting(self, *given):
        make(self, *given[:-1], lambda job, finds, estimator: seen.append(finds) or given[-1](job, finds, estimator))

    monkeypatch.setattr(_work.Job, "__init__", noting)
    searched(session, query=EVENTS[30])
    assert 0 < len(seen[0].start) < len(seen[1].start)
    assert (np.abs(seen[0].start - STARTS[30]) < 4000).all() and seen[0].distance[0] == 0
    assert seen[0].start[0] == STARTS[30] and seen[1].q is None and seen[-1].q is not None


def test_errors_are_answers():
    session = Session(recording())
    for message, text in [
        ({"type": "nonsense"}, "no message"),
        ({}, "no message"),
        ({"type": "view"}, "KeyError: 'first'"),
        ({"type": "query", "start": 5, "end": 5}, "at least two samples"),
        ({"type": "search"}, "no query yet"),
        ({"type": "search", "channels": [4]}, "from 0 to 0"),
        ({"type": "segment"}, "no query yet"),
        ({"type": "relearn"}, "nothing to learn"),
        ({"type": "matches"}, "Nothing has been searched"),
        ({"type": "undo"}, "no answer"),
        ({"type": "answer", "id": "90000-90010", "yes": True}, "must be within the recording"),
        ({"type": "answer", "id": "1-9", "yes": True, "class": 3}, "'class' must be"),
        ({"type": "export", "what": "everything"}, "must be one of"),
    ]:
        assert text in session.handle(message)["error"], (message, session.handle(message))
    say(session, "query", start=5, end=90)
    searched(session)
    for value in ("abc", [1.0]):  # and it is not kept
        assert "error" in session.handle({"type": "threshold", "value": value})
        assert "error" not in session.handle({"type": "threshold"})
    found = say(session, "search", metric="nonsense")["job"]
    while (progress := session.handle({"type": "progress", "job": found}))["state"] == "running":
        time.sleep(0.005)
    assert progress["state"] == "failed" and "nonsense" in progress["error"] and progress["n_matches"] == 0


# --------------------------------------------------------------------------------------------------------- saved files
def test_a_session_is_opened_again(tmp_path):
    path = tmp_path / "rec.view.json"
    session = searched(Session(recording(), path))
    say(session, "answer", id="5-65", yes=False)
    say(session, "class", name="other", color="#123456", number=None)
    say(session, "answer", id="{}-{}".format(*EVENTS[4]), yes=True, **{"class": 1})
    again = Session(recording(), path)
    found = say(again, "open")
    assert (found["n_answers"], found["notice"], found["has_results"]) == (2, None, False)
    assert found["settings"]["normalize"] == "zscore" and say(again, "query")["start"] == STARTS[1]
    assert found["classes"][1] == {"name": "other", "color": "#123456"}
    assert again.answers == session.answers
    assert done(again, "relearn")["state"] == "done"


@pytest.mark.parametrize("text", ["{", "[]\n", "start,end\n1,2\n", '{"recording": 1}\n', "\x00\x01\n"])
def test_another_file_is_no_session(tmp_path, text):
    path = tmp_path / "rec.view.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"'path' must name the file of a session.*rec\.view\.json.*Name another one"):
        Session(recording(), path)
    assert [p.read_text() for p in tmp_path.iterdir()] == [text]


@pytest.mark.parametrize("line", ["{", "[]", "null", '["MARK", "answer", 1]', '["MARK", "no", 1, 2]'])
def test_a_damaged_line_is_said_and_kept(tmp_path, line):
    path = tmp_path / "rec.view.json"
    session = Session(recording(), path)
    say(session, "query", start=0, end=50)
    damaged = path.read_text() + line.replace("MARK", session.viewed.mark) + "\n"
    path.write_text(damaged)
    again = Session(recording(), path)
    assert "rec.view.json is damaged: a line is left out" in say(again, "open")["notice"]
    say(again, "answer", id="5-65", yes=True)
    assert again.queries == {0: [0, 50]} and len(again.answers) == 1
    assert path.read_text().startswith(damaged)


def test_another_recording_keeps_the_old_session(tmp_path):
    path = tmp_path / "rec.view.json"
    say(Session(recording(), path), "query", start=0, end=50)
    for other in [recording() + 1, recording()[:-1], recording().astype("f4")]:
        session = Session(other, path)
        assert "has changed since" in say(session, "answer", id="5-65", yes=True)["notice"]
        assert session.queries == {} and len(session.answers) == 1
    again = Session(recording(), path)  # as it was
    assert again.queries == {0: [0, 50]} and again.answers == []


def test_a_killed_server_loses_the_last_answer_at_most(tmp_path):
    path = tmp_path / "rec.view.json"
    session = Session(recording(), path)
    say(session, "answer", id="5-65", yes=True)
    say(session, "answer", id="100-160", yes=True)
    path.write_text(path.read_text()[:-3])
    again = Session(recording(), path)
    assert again.notice is None and [tuple(one[:2]) for one in again.answers] == [(5, 65)]
    say(again, "answer", id="200-260", yes=True)
    for other in (again, Session(recording(), path)):
        assert [tuple(one[:2]) for one in other.answers] == [(5, 65), (200, 260)]
        assert "is damaged" in other.notice


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path):
    session = Session(recording(), tmp_path / "nowhere" / "rec.view.json")
    say(session, "query", start=0, end=50)
    assert "cannot be saved" in say(session, "open")["notice"]
    assert session.queries == {0: [0, 50]}


def test_two_windows_lose_no_answer(tmp_path):
    path = tmp_path / "rec.view.json"
    session = Session(recording(), path)

    def answer(first):
        for k in range(first, 60, 2):
            say(session, "answer", id="{}-{}".format(*EVENTS[k % len(EVENTS)]), yes=True)

    windows = [threading.Thread(target=answer, args=(k,)) for k in (0, 1)]
    for window in windows:
        window.start()
    for window in windows:
        window.join()
    assert say(Session(recording(), path), "open")["n_answers"] == len(EVENTS[:60])


OTHER_PROCESS = """
import sys
import numpy as np
from sktslib.view._session import Session
session, first = Session(np.arange(30_000.0), sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
input()
for k in range(first, 400, 2):
    session.handle({"type": "answer", "id": f"{50 * k}-{50 * k + 40}", "yes": True})
session.handle({"type": "undo"})
session.handle({"type": "answer", "id": f"{50 * k}-{50 * k + 40}", "yes": False})
"""


@pytest.mark.slow
def test_two_processes_lose_no_answer(tmp_path):
    """Both have opened the session before there was a file, and write at the same time."""
    path = tmp_path / "rec.view.json"
    here = Session(np.arange(30_000.0), path)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    both = [subprocess.Popen([sys.executable, "-c", OTHER_PROCESS, str(path), str(k)], **pipes) for k in (0, 1)]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    for one in both:
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in both:
        one.communicate()
    for session in (here, Session(np.arange(30_000.0), path)):
        n_answers = say(session, "open")["n_answers"]  # what others said is there without a new start
        assert session.notice is None and len(session.answers) == 400
        # An undo takes back the last answer of all, which may be the other one's.
        assert n_answers >= 398


def test_sessions_of_one_file_see_each_others_changes(tmp_path):
    one, other = (Session(recording(), tmp_path / "rec.view.json") for _ in range(2))
    say(one, "query", start=3, end=70)
    say(other, "answer", id="5-65", yes=True)
    say(one, "class", name="other", color=None, number=None)
    assert say(one, "open")["n_answers"] == 1
    query = say(other, "query")
    assert (query["start"], query["end"]) == (3, 70)
    assert [c["name"] for c in say(other, "open")["classes"]] == ["match", "other"]
    assert say(one, "undo")["id"] == "5-65"
    assert say(other, "open")["n_answers"] == 0


def test_classes_that_two_windows_add_at_the_same_moment_are_two(tmp_path, monkeypatch):
    one, other = (Session(recording(), tmp_path / "rec.view.json") for _ in range(2))
    monkeypatch.setattr(one, "_catch_up", lambda: None)  # it has not heard yet of what the other adds
    say(other, "class", name="P")
    say(one, "class", name="Q")
    monkeypatch.undo()
    for session in (one, other):
        assert [c["name"] for c in say(session, "open")["classes"]] == ["match", "P", "Q"]
    assert say(one, "class")["classes"][3] == {"name": "class 4", "color": one.classes[3]["color"]}


@pytest.mark.parametrize("kind", ["search", *slow("relearn"), "segment"])
def test_a_moved_threshold_is_there_again(tmp_path, kind):
    """After a new start, a search of the same with the same answers; another one proposes its own."""
    path, y = tmp_path / "rec.view.json", recording()
    session = searched(Session(y, path))
    for k in range(4):
        say(session, "answer", id="{}-{}".format(*EVENTS[k]), yes=True)
    if kind != "search":
        done(session, kind)
    proposed = say(session, "threshold")["value"]
    distance = sorted(row["distance"] for row in rows_of(session))
    moved = (distance[9] + distance[10]) / 2
    say(session, "threshold", value=moved)
    rows = rows_of(session)
    again = Session(y, path)
    assert say(again, "open")["last"] == kind  # which the page runs
    done(again, kind)
    assert say(again, "threshold")["value"] == moved < proposed
    assert [row["id"] for row in rows_of(again)] == [row["id"] for row in rows]
    assert _export.fitted(again).threshold == moved
    assert f"threshold={moved!r}" in say(again, "export", what="script")["text"] or kind == "relearn"
    path = say(again, "export", what="model")["path"]
    assert load_model(path, trust=path.endswith(".joblib")).threshold == moved
    assert say(again, "threshold", value=None)["value"] == pytest.approx(proposed, rel=0.2)
    say(again, "threshold", value=moved)
    done(again, "search", metric="euclidean", normalize="mean")
    assert say(again, "threshold")["value"] != moved


# ------------------------------------------------------------------------------------------------------------- exports
@pytest.mark.parametrize("kind", ["search", *slow("relearn", "classes"), "segment", "count", "gap"])
def test_a_script_finds_the_same(tmp_path, capsys, kind):
    times = np.arange(N) + np.where(np.arange(N) > STARTS[9], 500.0, 0.0) if kind == "gap" else None
    values = np.tile(SHAPE, 500)[:, np.newaxis] + 0.1 * RNG.normal(size=(N, 2)) if kind == "count" else recording(2)
    session = searched(Session(Recording(values, times), tmp_path / "rec.view.json"), channels=[1])
    if kind in ("relearn", "classes"):
        say(session, "class", name="other", color=None, number=None)
        for k in range(6):
            say(session, "answer", id="{}-{}".format(*EVENTS[k]), yes=True, **{"class": (kind == "classes") * (k % 2)})
        done(session, "relearn")
    if kind in ("segment", "count"):
        done(session, kind)
    say(session, "threshold", value=say(session, "threshold", value=None)["value"] * 0.9)
    found = say(session, "export", what="script")
    assert found["text"] == Path(found["path"]).read_text(encoding="utf-8")
    starts = [row["start"] for row in rows_of(session)]
    assert len(starts) > 10
    assert not re.search(r"import.*\b_|[\w.]\._\w|\w\._", found["text"])  # public names alone
    runpy.run_path(found["path"])
    assert [int(row["start"]) for row in csv.DictReader(capsys.readouterr().out.splitlines())] == starts


def test_labels_are_a_table_with_times(tmp_path):
    times = pd.date_range("2024-01-01", periods=N, freq="s", tz="Europe/Berlin")
    session = searched(Session(Recording(recording(), times), tmp_path / "rec.view.json"))
    rows = rows_of(session)
    say(session, "answer", id=rows[0]["id"], yes=False)
    say(session, "answer", id=f"{N - 5}-{N}", yes=True)
    found = say(session, "export", what="labels")
    table = pd.read_csv(found["path"], parse_dates=["start_time", "end_time"])
    assert table.start.tolist() == [*(row["start"] for row in rows[1:]), N - 5] and set(table.label) == {"match"}
    assert (table.start_time == times[table.start]).all()
    assert table.end_time.iloc[-1] == pd.Timestamp("2024-01-01 08:20:00+01:00")
    np.testing.assert_array_equal(table.distance, [*(row["distance"] for row in rows[1:]), np.nan])
    assert found["text"] == Path(found["path"]).read_text(encoding="utf-8")


LIBRARIES = {"mne": "mne", "edf": "edfio", "wfdb": "wfdb"}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # which wfdb gets from pandas
@pytest.mark.parametrize("form", ["csv", "audacity", "edf", "mne", "wfdb"])
def test_labels_are_written_in_all_forms(tmp_path, form):
    library = pytest.importorskip(LIBRARIES.get(form, "pandas"))
    session = searched(Session(Recording(recording(), Sampling(50.0)), tmp_path / "day.csv.view.json"))
    say(session, "class", name="two words", color=None, number=None)
    say(session, "answer", id=rows_of(session)[1]["id"], yes=True, **{"class": 1})
    assert form in say(session, "open")["formats"]
    rows = rows_of(session)
    found = say(session, "export", what="labels", format=form)
    assert (found["text"] is None) == (form in LIBRARIES)
    if form == "mne":
        marks = library.read_annotations(found["path"])
        start, label = np.rint(marks.onset * 50).astype(int), marks.description
    else:
        marks = read_annotations(found["path"], 50.0)
        start, label = marks.start, marks.label
    assert start.tolist() == [row["start"] for row in rows]
    assert label.tolist() == ["match", "two words", *["match"] * (len(rows) - 2)]


def test_labels_in_seconds_need_times(tmp_path):
    session = searched(Session(recording(), tmp_path / "rec.view.json"))
    error = session.handle({"type": "export", "what": "labels", "format": "audacity"})["error"]
    assert "has no times" in error and "--rate HZ" in error
    assert "must be one of" in session.handle({"type": "export", "what": "labels", "format": "xml"})["error"]


@pytest.mark.parametrize("kind", ["skops", "joblib", "segment"])
def test_the_model_is_what_the_command_line_takes(tmp_path, monkeypatch, kind):
    if kind != "joblib":
        pytest.importorskip("skops")
    else:
        monkeypatch.setitem(sys.modules, "skops", None)
    y = recording()
    session = searched(Session(y, tmp_path / "rec.view.json"))
    say(session, "answer", id="{}-{}".format(*EVENTS[2]), yes=True)
    done(session, "segment" if kind == "segment" else "relearn")
    path = say(session, "export", what="model")["path"]
    assert path.endswith("joblib" if kind == "joblib" else "skops")
    model = load_model(path, trust=kind == "joblib")
    found = (model.segment if kind == "segment" else model.search)(y).sorted()
    assert found.start.tolist() == [row["start"] for row in rows_of(session)]


def test_without_a_file_all_is_written_to_the_working_directory(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    session = searched(Session(recording(), name="my data"))
    found = say(session, "export", what="labels")
    assert found["path"] == "my_data.labels.csv" and found["text"].startswith("start,end,distance,label\n")
    assert say(session, "export", what="model")["path"].startswith("my_data.model.")
    runpy.run_path(say(session, "export", what="script")["path"])
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(rows_of(session))


def test_known_labels_are_answers():
    session = Session(recording())
    session.mark(EVENTS[:4], ["a", "b", "a", "b"])
    assert [one["name"] for one in say(session, "open")["classes"]] == ["a", "b"]
    assert [mark["class"] for mark in marks_of(session, first=0, last=N, columns=100)] == [0, 1, 0, 1]
    assert done(session, "relearn")["state"] == "done"


def test_objects_that_are_recordings(tmp_path):
    frame = pd.DataFrame({"a": recording()[:, 0], "b": 1.0})
    assert [one["name"] for one in say(Session(frame), "open")["channels"]] == ["a", "b"]

    session = Session(Recording(recording(), Sampling(4.0), ["c"], ["V"]))
    assert say(session, "open")["channels"] == [{"name": "c", "unit": "V"}]
    assert say(session, "query", start=2, end=50)["label"] == "0.500"
    frame.index = pd.date_range("2024-01-01", periods=N, freq="min")
    assert say(Session(frame), "query", start=61, end=99)["label"] == "2024-01-01 01:01:00.000"
    frame.to_csv(tmp_path / "day.csv", index_label="time")
    np.save(tmp_path / "day.npy", recording())
    for name, label in [("day.csv", "2024-01-01 01:01:00.000"), ("day.npy", "61")]:
        session = Session(tmp_path / name)
        assert say(session, "query", start=61, end=99)["label"] == label
        np.testing.assert_allclose(session.viewed.values[:, 0], recording()[:, 0])
    for wrong in ([], [[[1.0]]], np.array(["a", "b"])):
        with pytest.raises((TypeError, ValueError), match=r"must have (numbers|shape \(n,\))|must hold real numbers"):
            Session(wrong)


@pytest.mark.slow
def test_exports_without_a_session_file_replace_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "day.labels.csv"
    kept.write_text("mine", encoding="utf-8")
    session = searched(Session(recording(), name="day"))
    for _ in range(2):  # its own is written again
        assert say(session, "export", what="labels")["path"] == "day-1.labels.csv"
    assert say(searched(Session(recording(), name="day")), "export", what="labels")["path"] == "day-2.labels.csv"
    assert kept.read_text(encoding="utf-8") == "mine"

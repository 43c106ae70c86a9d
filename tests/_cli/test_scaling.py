"""Columns brought to one scale, by their own means and deviations or by numbers."""

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from command_runs import table
from sklearn.preprocessing import StandardScaler

from sktslib import QuerySearcher, QuerySegmenter, pipeline_segment
from sktslib.__main__ import main
from sktslib._cli import recordings
from sktslib.distances import get_metric

RNG = np.random.default_rng(0)
X = np.cumsum(RNG.normal(size=(300, 2)), axis=0) * [1.0, 50.0] + [3.0, -200.0]
FRAME = pd.DataFrame(X, columns=["acc", "gyr"])
QUERY = slice(40, 60)
Z = StandardScaler().fit_transform(FRAME.to_numpy())


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("rec.csv", index=False)
    FRAME[QUERY].to_csv("q.csv", index=False)
    np.save("rec.npy", X)
    return tmp_path


def same(frame, found):
    np.testing.assert_array_equal(frame["start"], found.start)
    np.testing.assert_allclose(frame["distance"], found.distance, rtol=1e-9)


@pytest.mark.parametrize("recording", ["rec.csv", "rec.npy"])
def test_columns_are_less_their_means_over_their_deviations(files, capsys, monkeypatch, recording):
    monkeypatch.setattr(recordings, "CHUNK", 128)  # two and a half
    want = QuerySearcher(n_matches=10).fit(Z[QUERY]).search(Z)
    assert want.start.tolist() != QuerySearcher(n_matches=10).fit(X[QUERY]).search(X).start.tolist()
    frame, err = table(capsys, "search", recording, "--query", "q.csv", "--scale", "zscore")
    same(frame, want)
    first = "acc" if recording == "rec.csv" else "1"
    assert f"columns scaled: {first} less {X[:, 0].mean():.2f} over {X[:, 0].std():.3f}, " in err


def test_json_has_the_scale(files, capsys):
    assert main(["search", "rec.csv", "--query", ":40-60", "--scale", "zscore", "--format", "json"]) == 0
    scale = json.loads(capsys.readouterr().out)["scale"]["gyr"]
    assert scale == {"mean": pytest.approx(X[:, 1].mean()), "scale": pytest.approx(X[:, 1].std())}


@pytest.mark.slow
def test_a_model_keeps_the_scale(files, capsys):
    pd.DataFrame({"start": [40, 100], "end": [60, 122]}).to_csv("labels.csv", index=False)
    argv = ["learn", "rec.csv", "--labels", "labels.csv", "--output", "m.joblib", "--scale", "zscore"]
    assert main(argv) == 0
    capsys.readouterr()
    labels = np.zeros(300, int)
    labels[40:60] = labels[100:122] = 1
    want = QuerySegmenter().fit(Z, labels).segment(Z)
    frame, _ = table(capsys, "segment rec.csv --trust --model m.joblib --picture p.png")
    np.testing.assert_array_equal(frame[["start", "end"]], np.column_stack([want.start, want.end]))
    np.testing.assert_allclose(frame["cost"], want.cost, rtol=1e-9)
    found = pipeline_segment(joblib.load("m.joblib"), FRAME)  # in Python the same
    assert found.start.tolist() == want.start.tolist()
    assert main(["segment", "rec.csv", "--model", "m.joblib", "--trust", "--scale", "zscore"]) == 2
    assert "--scale must be left out with --model" in capsys.readouterr().err


def test_templates_are_drawn_in_the_unit_of_the_recording():
    scaler = StandardScaler().fit(X)
    np.testing.assert_allclose(recordings.unscaled(Z, scaler), X, atol=1e-12)
    assert recordings.unscaled(Z, None) is Z


@pytest.mark.slow
def test_distances_and_pairs(files, capsys):
    both = StandardScaler().fit(np.concatenate([X[:100], X[150:280]]))
    a, b = both.transform(X[:100]), both.transform(X[150:280])
    frame, _ = table(capsys, "distance rec.csv:0-100 rec.csv:150-280 --scale zscore")
    np.testing.assert_allclose(frame["distance"], get_metric("dtw")(a, b), rtol=1e-9)

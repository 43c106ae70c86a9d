"""Files of devices on the command line: what their readers open is searched with its names and times."""

import datetime
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_runs import printed, table

from sktslib.io import read

ECG = np.sin(np.arange(3000) / 9) + np.random.default_rng(0).normal(size=3000) / 9
SEARCH = "search --n-matches 1 --query"


@pytest.fixture
def query(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "query.csv").write_text("MLII\n" + "\n".join(map(str, ECG[500:560])) + "\n")
    return "query.csv"


def test_a_record_of_a_heart_keeps_names_times_and_parts(capsys, query):
    edfio = pytest.importorskip("edfio")
    signals = [edfio.EdfSignal(sign * ECG, 100, label=name) for sign, name in ((1, "MLII"), (-1, "V5"))]
    edfio.Edf(signals).write("rec.edf")
    found, err = table(capsys, SEARCH, query, "rec.edf")
    assert "columns compared: MLII\n" in err
    assert found.loc[0, ["start", "end", "start_time", "end_time"]].tolist() == [500, 560, 5.0, 5.6]
    found, _ = table(capsys, SEARCH, "rec.edf:5s-5.6s", "rec.edf", "--columns", "V5")
    assert found.start[0] == 500
    found, err = table(capsys, SEARCH, "rec.edf:5s-5.6s", "rec.edf", "--columns", "V5", "--map", "V5=MLII")
    assert "columns compared: V5 with MLII\n" in err
    assert found.distance[0] > 0  # of the other channel
    _, err = table(capsys, SEARCH, query, "rec.edf", "--map", "MLII=V5")
    assert "columns compared: MLII with V5" in err


def test_one_of_several_arrays_is_named(capsys, query):
    h5py = pytest.importorskip("h5py")
    with h5py.File("rec.h5", "w") as file:
        file["ecg"], file["other"] = ECG, np.arange(9.0)
    found, _ = table(capsys, SEARCH, query, "rec.h5:/ecg", "--rate", "100")
    assert found.loc[0, ["start", "end", "start_time", "end_time"]].tolist() == [500, 560, 5.0, 5.6]
    _, err = printed(capsys, SEARCH, query, "rec.h5", code=2)
    assert "must hold one array" in err
    assert "rec.h5:ecg" in err
    _, err = printed(capsys, SEARCH, query, "rec.h5:/ecg", "--columns", "V5", code=2)
    assert err.endswith("Unknown channel 'V5'. Valid: 1.\n")
    np.save("two.npy", np.column_stack([ECG, -ECG]))
    found, err = table(capsys, SEARCH, "two.npy:500-560", "two.npy", "--normalize", "zscore")
    assert "columns compared: 1, 2\n" in err
    assert {"scale_1", "scale_2"} < {*found}


def test_tables_are_recordings(tmp_path, query):
    assert read(query).names == ["MLII"]
    path = tmp_path / "walk.csv"
    path.write_text("time;acc;gyr\n" + "\n".join(f"{k / 50};{k % 7},5;{k % 5}" for k in range(100)))
    walk = read(path, channels=["gyr"])
    assert walk.names == ["gyr"]
    np.testing.assert_array_equal(np.asarray(walk).ravel(), np.arange(100) % 5)
    np.testing.assert_allclose(walk.times, np.arange(100) / 50)
    part = read(path, channels="gyr", missing=4, rows=(8, 12))
    np.testing.assert_array_equal(np.asarray(part)[:, 0], [3, np.nan, 0, 1])
    np.testing.assert_allclose(part.times, [0.16, 0.18, 0.2, 0.22])
    with pytest.raises(TypeError, match="has no such option"):
        read(path, wrong=1)


def test_dates_and_interruptions_of_a_device_are_in_its_times(capsys, query):
    edfio = pytest.importorskip("edfio")
    start = datetime.datetime(2024, 3, 1, 12, 30, 5)
    about = {"recording": edfio.Recording(startdate=start.date()), "starttime": start.time(), "data_record_duration": 1}
    notes = [edfio.EdfAnnotation(0.5, None, "eyes open")]
    edfio.Edf([edfio.EdfSignal(ECG, 100, label="MLII")], annotations=notes, **about).write("rec.edf")
    out = printed(capsys, SEARCH, query, "rec.edf").out
    assert "500  560  2024-03-01 12:30:10  2024-03-01 12:30:10.600" in out
    raw = Path("rec.edf").read_bytes().replace(b"EDF+C", b"EDF+D")
    for k in range(10, 30):  # seconds at which a record begins
        raw = raw.replace(f"+{k}\x14\x14".encode(), f"+{k + 60}\x14\x14".encode())
    Path("gap.edf").write_bytes(raw)
    found = json.loads(printed(capsys, "show gap.edf --format json").out)
    assert found["gaps"] == [{"sample": 1000, "seconds": pytest.approx(60.01)}] and found["rate"] == 100
    part, _ = table(capsys, SEARCH, "gap.edf:71s-71.6s", "gap.edf", "--max-gap", "1s")
    assert part.loc[0, ["start", "start_time"]].tolist() == [1100, "2024-03-01 12:31:16"]


def test_annotations_of_a_recording_are_labels(capsys, query):
    edfio = pytest.importorskip("edfio")
    onset = np.array([200, 900, 1700, 2400])
    wave, kinds = ECG.copy(), ["a", "b", "a", "b"]
    for k, kind in zip(onset, kinds, strict=True):
        wave[k : k + 60] = np.hanning(60) * {"a": 5, "b": -5}[kind]
    marks = [edfio.EdfAnnotation(k / 100, 0.6, kind) for k, kind in zip(onset, kinds, strict=True)]
    edfio.Edf([edfio.EdfSignal(wave, 100, label="MLII")], annotations=marks).write("rec.edf")
    assert "4 marks, which --labels marks learns from: a (2), b (2)" in printed(capsys, "show rec.edf").err
    _, err = printed(capsys, "learn rec.edf --labels marks --task search --output model.joblib")
    assert "labels: 4 ranges of a, b, 'start' to 'end' read as samples" in err
    true = np.column_stack([onset, onset + 60])
    pd.DataFrame({"start": true[:, 0], "end": true[:, 1], "label": kinds}).to_csv("found.csv", index=False)
    _, err = printed(capsys, "evaluate rec.edf found.csv --labels marks")
    assert "4 hits, 0 missed, 0 false" in err
    _, err = printed(capsys, "evaluate rec.edf found.csv --labels marks --where label=a")
    assert "2 hits, 0 missed, 2 false" in err
    # Of a part the marks count from its first sample, and those that are not whole in it do not count.
    _, err = printed(capsys, "learn rec.edf:230-2000 --labels marks --output model.joblib")
    assert "labels: 2 ranges of a, b" in err and "2 ranges that are not whole in the recording left out" in err
    _, err = printed(capsys, "evaluate rec.edf found.csv --labels marks --around 0s,0.6s")
    assert "4 hits, 0 missed, 0 false" in err
    _, err = printed(capsys, "learn rec.edf --labels mark --output model.joblib", code=2)
    assert "or marks, those of the recording" in err


def test_channels_of_several_rates_are_chosen_or_brought_to_one(capsys, query):
    edfio = pytest.importorskip("edfio")
    signals = [edfio.EdfSignal(ECG, 100, label="MLII"), edfio.EdfSignal(np.sin(np.arange(750) / 9), 25, label="Resp")]
    edfio.Edf(signals).write("rec.edf")
    _, err = printed(capsys, "show rec.edf", code=2)
    assert "Choose some, --columns MLII, or bring all to one rate, --rate 100." in err
    assert "rec.edf:0-100: 100 samples of 1 channel" in printed(capsys, "show rec.edf --columns MLII 0-100").err
    _, err = printed(capsys, "show rec.edf --rate 50")
    assert "brought to 50 samples per second" in err and "1499 samples of 2 channels" in err

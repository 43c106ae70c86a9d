"""Found ranges as annotations of other programs, opened by their own libraries, and annotations read from files."""

import pickle

import made_files
import numpy as np
import pandas as pd
import pytest
from inputs import refused

from sktslib import QuerySearcher, QuerySegmenter, Sampling, load_ecg_example
from sktslib.io import Recording, read, read_annotations

ECG = load_ecg_example()
X = ECG["sequence"].reshape(-1, 1)
RATE = 120
RECORDING = Recording(X, Sampling(RATE, pd.Timestamp("2024-03-01 12:00")), ["II"])
of_wfdb = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # which the library gets from pandas


@pytest.fixture(scope="module")
def found():
    y = np.where(QuerySearcher("dtw", n_matches=4).fit(ECG["query"]).predict(X) > 0, "beat", "")
    return QuerySegmenter("adtw").fit(RECORDING, y).segment(RECORDING)


def expected(found):
    return [(int(s), int(e), "beat") for s, e in zip(found.start, found.end, strict=True)]


def rows(marks):
    return [(int(s), int(e), str(text)) for s, e, text in zip(*marks, strict=True)]


def test_annotations_of_mne(found, tmp_path):
    mne = pytest.importorskip("mne")
    path = tmp_path / "found-annot.csv"
    made = found.to_annotations("mne", path)
    assert isinstance(made, mne.Annotations) and len(made) == len(found) > 2
    np.testing.assert_allclose(made.onset, found.start / RATE)
    np.testing.assert_allclose(made.duration, (found.end - found.start) / RATE)
    raw = mne.io.RawArray(X.T, mne.create_info(["II"], RATE, "eeg"), verbose="error").set_annotations(made)
    assert rows(read(raw).marks) == expected(found)
    other = mne.read_annotations(path)
    assert other.description.tolist() == made.description.tolist()


@of_wfdb
def test_annotations_of_wfdb(found, tmp_path):
    wfdb = pytest.importorskip("wfdb")
    made = found.to_annotations("wfdb", tmp_path / "made.found")
    other = wfdb.rdann(str(tmp_path / "made"), "found")
    assert other.sample.tolist() == made.sample.tolist() == sorted([*found.start, *(found.end - 1)])
    assert other.symbol.count("(") == other.symbol.count(")") == len(found)
    assert rows(read_annotations(tmp_path / "made.found")) == expected(found)
    made_files.wfdb_record(tmp_path)
    assert rows(read(tmp_path / "made.hea", annotator="found").marks) == expected(found)
    assert len(read_annotations(tmp_path / "made.atr")) == 4
    assert isinstance(found.to_annotations("wfdb"), wfdb.Annotation)


def test_annotations_of_edf(found, tmp_path):
    edfio = pytest.importorskip("edfio")
    made = found.to_annotations("edf", tmp_path / "found.edf")
    other = edfio.read_edf(tmp_path / "found.edf").annotations
    assert [one.text for one in other] == ["beat"] * len(found)
    np.testing.assert_allclose([one.onset for one in other], [one.onset for one in made])
    assert rows(read_annotations(tmp_path / "found.edf", rate=RATE)) == expected(found)
    refused(lambda: read_annotations(tmp_path / "found.edf"), "'rate' parameter must be given for")


def test_label_tracks_and_tables(found, tmp_path):
    track = found.to_annotations("audacity", tmp_path / "found.txt")
    first = track.splitlines()[0].split("\t")
    assert [float(first[0]), float(first[1])] == pytest.approx([found.start[0] / RATE, found.end[0] / RATE], abs=1e-6)
    assert rows(read_annotations(tmp_path / "found.txt", rate=RATE)) == expected(found)
    text = found.to_annotations("csv", tmp_path / "found.csv")
    table = pd.read_csv(tmp_path / "found.csv")
    assert table.columns.tolist() == ["start", "end", "label", "onset", "duration"]
    np.testing.assert_array_equal(table[["start", "end"]], np.column_stack([found.start, found.end]))
    np.testing.assert_allclose(table.onset, found.start / RATE)
    assert (tmp_path / "found.csv").read_text() == text
    assert rows(read_annotations(tmp_path / "found.csv")) == expected(found)
    (tmp_path / "other.csv").write_text("Onset,Duration,Description\n1.5,0.25,NA\n2,0,click\n")
    assert rows(read_annotations(tmp_path / "other.csv", rate=100)) == [(150, 175, "NA"), (200, 201, "click")]
    (tmp_path / "wrong.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"must have the columns start, end and label, .* Got \['a', 'b'\]"):
        read_annotations(tmp_path / "wrong.csv")


def test_seconds_are_counted_from_the_first_sample():
    searcher = QuerySearcher("dtw", n_matches=3).fit(ECG["query"])
    plain, timed = searcher.search(X), searcher.search(X, times=Sampling(RATE, 60.0))
    refused(lambda: plain.to_annotations("audacity"), "'rate' parameter of to_annotations must be given for 'audacity'")
    by_rate = plain.to_annotations("audacity", rate=RATE)
    assert by_rate.splitlines()[0].endswith("\tmatch") and len(by_rate.splitlines()) == 3
    first = [[float(v) for v in line.split("\t")[:2]] for line in by_rate.splitlines()]
    other = [[float(v) for v in line.split("\t")[:2]] for line in timed.to_annotations("audacity").splitlines()]
    np.testing.assert_allclose(first, other, atol=1e-6)
    assert "onset" not in plain.to_annotations("csv")
    with pytest.raises(ValueError, match="must be given for 'audacity'"):  # the first sample's time is gone
        pickle.loads(pickle.dumps(timed)).to_annotations("audacity")
    refused(lambda: timed.to_annotations("edff"), "Unknown format 'edff' of to_annotations")


def test_annotations_are_of_one_recording():
    searcher = QuerySearcher("dtw", n_matches=4).fit(ECG["query"])
    both = searcher.search([RECORDING, RECORDING[200:]])
    refused(lambda: both.to_annotations("csv"), "ranges of one recording")
    one = both[both.sequence == 1]
    table = one.to_annotations("csv").splitlines()
    assert len(table) == 1 + len(one) > 1
    onset = [float(line.split(",")[3]) for line in table[1:]]
    np.testing.assert_allclose(onset, one.start / RATE)

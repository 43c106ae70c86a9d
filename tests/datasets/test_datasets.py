import csv
from importlib.resources import files

import numpy as np
import pytest

from sktslib.datasets import load_ecg_example


@pytest.fixture(scope="module")
def ecg():
    return load_ecg_example()


def column(file, name):
    text = files("sktslib.datasets").joinpath("data", file).read_text(encoding="utf-8")
    return [row[name] for row in csv.DictReader(text.splitlines())]


@pytest.mark.parametrize(
    ("key", "file", "name", "length"),
    [
        ("query", "query.csv", "ecg_mV", 65),
        ("weight", "query.csv", "weight", 65),
        ("sequence", "sequence.csv", "ecg_mV", 1200),
    ],
)
def test_arrays_hold_the_columns_of_the_files(ecg, key, file, name, length):
    expected = np.array([float(value) for value in column(file, name)])
    assert ecg[key].shape == (length,)
    assert ecg[key].dtype == np.float64
    assert ecg[key].flags.c_contiguous
    assert ecg[key].flags.writeable
    np.testing.assert_array_equal(ecg[key], expected)


@pytest.mark.parametrize(("key", "file"), [("tq", "query.csv"), ("ts", "sequence.csv")])
def test_times_are_even_and_agree_with_the_files_to_their_rounding(ecg, key, file):
    times = ecg[key]
    written = np.array([float(value) for value in column(file, "time_s")])
    assert times.dtype == np.float64
    assert times[0] == 0.0
    np.testing.assert_allclose(np.diff(times), 1 / 120, rtol=1e-12)
    np.testing.assert_allclose(times, written, rtol=0, atol=0.5e-6)


def test_beats_are_the_rows_of_the_file(ecg):
    assert ecg.beats.dtype == np.intp
    assert ecg.beats.tolist() == [int(value) for value in column("beats.csv", "sample")]
    assert ecg.beat_kinds.tolist() == column("beats.csv", "kind")
    assert {str(kind): int((ecg.beat_kinds == kind).sum()) for kind in "NFV"} == {"N": 12, "F": 1, "V": 4}


def test_the_r_peak_of_the_query_carries_the_largest_weight(ecg):
    assert ecg.query.argmax() == 22
    assert ecg.weight.argmax() == 22
    assert ecg.weight.max() == 1.0
    assert ecg.weight.min() == 0.25


def test_normal_beats_are_local_maxima_of_the_sequence(ecg):
    for beat in ecg.beats[ecg.beat_kinds == "N"]:
        assert beat - 6 + ecg.sequence[beat - 6 : beat + 7].argmax() == beat


def test_the_query_is_not_a_piece_of_the_sequence(ecg):
    windows = np.lib.stride_tricks.sliding_window_view(ecg.sequence, len(ecg.query))
    assert np.sqrt(((windows - ecg.query) ** 2).sum(axis=1)).min() > 0.1


def test_description_names_source_and_license(ecg):
    for words in ("MIT-BIH Arrhythmia Database", "record 208", "ODC-By 1.0", "10.13026/C2F305"):
        assert words in ecg.DESCR
    license_text = files("sktslib.datasets").joinpath("data", "LICENSE.txt").read_text(encoding="utf-8")
    assert "opendatacommons.org/licenses/by/1-0" in license_text


def test_each_call_returns_its_own_arrays(ecg):
    other = load_ecg_example()
    other.query[:] = 0.0
    assert ecg.query.max() > 1.0
    assert load_ecg_example().query.max() > 1.0

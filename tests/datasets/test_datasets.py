"""The packaged electrocardiogram: what its files and its description say."""

import csv
from importlib.resources import files

import numpy as np
import pytest

from sktslib.datasets import load_ecg_example


@pytest.fixture
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
        ("tq", "query.csv", "time_s", 65),
        ("ts", "sequence.csv", "time_s", 1200),
    ],
)
def test_arrays_hold_the_columns_of_the_files(ecg, key, file, name, length):
    assert (ecg[key].shape, ecg[key].dtype) == ((length,), np.float64)
    assert ecg[key].flags.c_contiguous and ecg[key].flags.writeable
    written = [float(value) for value in column(file, name)]
    if key in ("tq", "ts"):  # even, where the files round
        np.testing.assert_allclose(ecg[key], written, rtol=0, atol=0.5e-6)
        np.testing.assert_allclose(np.diff(ecg[key], prepend=-1 / 120), 1 / 120, rtol=1e-12)
    else:
        np.testing.assert_array_equal(ecg[key], written)
    ecg[key][:] = -9.0
    assert load_ecg_example()[key].max() > 0.0  # each call returns its own arrays


def test_beats_and_query_are_what_the_description_says(ecg):
    assert ecg.beats.dtype == np.intp
    assert ecg.beats.tolist() == [int(value) for value in column("beats.csv", "sample")]
    assert ecg.beat_kinds.tolist() == column("beats.csv", "kind")
    assert {str(kind): int((ecg.beat_kinds == kind).sum()) for kind in "NFV"} == {"N": 12, "F": 1, "V": 4}
    for beat in ecg.beats[ecg.beat_kinds == "N"]:
        assert beat - 6 + ecg.sequence[beat - 6 : beat + 7].argmax() == beat
    assert (ecg.query.argmax(), ecg.weight.argmax(), ecg.weight.max(), ecg.weight.min()) == (22, 22, 1.0, 0.25)
    windows = np.lib.stride_tricks.sliding_window_view(ecg.sequence, len(ecg.query))
    assert np.sqrt(((windows - ecg.query) ** 2).sum(axis=1)).min() > 0.1  # the query is not a piece of it
    for words in ("MIT-BIH Arrhythmia Database", "record 208", "ODC-By 1.0", "10.13026/C2F305"):
        assert words in ecg.DESCR
    license_text = files("sktslib.datasets").joinpath("data", "LICENSE.txt").read_text(encoding="utf-8")
    assert "opendatacommons.org/licenses/by/1-0" in license_text

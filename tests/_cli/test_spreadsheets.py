"""Sheets of Excel files: which one, where its table begins, what its columns are called."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from command_runs import read, refused

from sktslib.io._tables import Reading, source_of

X = np.sin(np.arange(20.0))
TIMES = pd.date_range("2024-05-01 12:30:55.125", periods=20, freq="250ms")


@pytest.fixture
def save(tmp_path):
    """Write sheets, dicts of name and rows, as a file."""
    openpyxl = pytest.importorskip("openpyxl")

    def save(sheets, merged=()):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, rows in sheets.items():
            sheet = book.create_sheet(name)
            for row in rows:
                sheet.append(row)
            for cells in merged:
                sheet.merge_cells(cells)
        book.save(tmp_path / "a.xlsx")
        return str(tmp_path / "a.xlsx")

    return save


def test_names_dates_and_numbers_of_a_table(save):
    rows = [
        ["Date", "Time", "v", None, "n"],
        [None, None, "N", None, None],
        *([dt.datetime(t.year, t.month, t.day), t.time(), v, None, True] for t, v in zip(TIMES, X, strict=True)),
        [None] * 5,
    ]
    rows[6][4] = "#DIV/0!"
    found = read(save({"A": rows}))
    assert found.names == ["v", "n"]
    assert list(found.times) == list(TIMES)
    np.testing.assert_allclose(found.values[:, 0], X, rtol=1e-14)  # a file has fifteen digits
    np.testing.assert_array_equal(found.values[:, 1], np.where(np.arange(20) == 4, np.nan, 1.0))
    rows[6][4] = "oops"
    refused(r"'n' must hold numbers. Got 'oops' in row 5 \(about line 7\)", save({"A": rows}))


def test_durations_are_clock_times(save):
    rows = [["t", "v"], *([dt.timedelta(hours=1, milliseconds=250 * k), v] for k, v in enumerate(X))]
    found = read(save({"A": rows}))
    assert found.times[5] == pd.Timedelta("1h 1250ms")


def test_merged_cells_name_groups(save):
    head = [
        ["Walk", None, None, None, None],
        [None] * 5,
        ["t", "left", None, "right", None],
        [None, "x", "y", "x", "y"],
    ]
    rows = [*head, *([k / 10, v, 2 * v, -v, -2 * v] for k, v in enumerate(X))]
    found = read(save({"A": rows}, ["A1:E1", "A3:A4", "B3:C3", "D3:E3"]))
    assert found.names == ["left x", "left y", "right x", "right y"]
    assert found.times[3] == 0.3
    np.testing.assert_allclose(found.values[:, 3], -2 * X, rtol=1e-14)
    assert any("row 1 is neither names nor numbers and skipped: 'Walk'" in note for note in found.notes)
    assert any("two rows of names were joined: 'left x'" in n for n in found.notes)


def test_the_header_may_be_named(save):
    path = save({"A": [["1", "2"], *([v, k**2] for k, v in enumerate(X))]})
    assert read(path, header=1).names == ["1", "2"]
    assert len(read(path, header=1)) == 20
    nameless = save({"A": [[v, k**2] for k, v in enumerate(X)]})
    assert read(nameless).names == ["1", "2"]
    assert source_of(nameless, Reading(), "--query").header is False


SHEETS = {"About": [["made by", "hand"]], "Day": [["v"], *([v] for v in X)], "7": [["w"], *([-v] for v in X)]}


def test_a_sheet_is_named_or_numbered(save):
    path = save(SHEETS)
    np.testing.assert_allclose(read(path, sheet="Day").values[:, 0], X, rtol=1e-14)
    assert read(path, sheet="2").names == ["v"]
    assert read(path, sheet="7").names == ["w"]
    for wrong in ("day", "4", "0"):
        refused(rf"--sheet must name a sheet.*Got '{wrong}'; the file has 'About', 'Day'", path, sheet=wrong)
    refused(r"'About': the file must hold at least one row of numbers.*The file has 'About', 'Day'", path)


def test_the_first_of_several_sheets_is_read_and_said_so(save):
    assert "the first was read" in read(save({"A": SHEETS["7"], "B": SHEETS["Day"]})).notes[0]
    only = read(save({"A": SHEETS["7"]}), sheet="Day")
    assert only.names == ["w"]
    assert "has no sheet 'Day'; its only one, 'A', was read" in only.notes[0]

"""Sheets of Excel files: which one, where its table begins, what its columns are called."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from command_runs import read, refused

from sktslib._cli.recordings import Files
from sktslib.io._tables import Reading, source_of

X = np.sin(np.arange(20.0))
TIMES = pd.date_range("2024-05-01 12:30:55.125", periods=20, freq="250ms")


@pytest.fixture(params=["openpyxl", "cells"])
def save(request, tmp_path, monkeypatch):
    """Write sheets, dicts of name and rows, as a file; without openpyxl pandas is said to have read its cells."""
    path = tmp_path / "a.xlsx"

    def by_openpyxl(sheets, merged=()):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, rows in sheets.items():
            sheet = book.create_sheet(name)
            for row in rows:
                sheet.append(row)
            for cells in merged:
                sheet.merge_cells(cells)
        book.save(path)
        return str(path)

    def by_cells(sheets, merged=()):
        path.write_bytes(b"PK")
        monkeypatch.setattr(pd, "ExcelFile", lambda path: Cells(sheets))
        monkeypatch.setattr(pd, "read_excel", Cells.read)
        return str(path)

    if request.param == "openpyxl":
        openpyxl = pytest.importorskip("openpyxl")
    return by_openpyxl if request.param == "openpyxl" else by_cells


class Cells:
    """What pandas.ExcelFile gives of sheets."""

    def __init__(self, sheets):
        self.sheets, self.sheet_names = sheets, list(sheets)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def read(self, sheet_name, header, dtype, na_values):
        assert header is None and dtype is object
        return pd.DataFrame(self.sheets[sheet_name]).replace(list(na_values), np.nan)


def test_names_dates_and_numbers_of_a_table(save):
    rows = [
        ["when", "v", None, "n"],
        *([t.to_pydatetime(), v, None, k**2] for k, (t, v) in enumerate(zip(TIMES, X, strict=True))),
    ]
    found = read(save({"A": rows}))
    assert found.names == ["v", "n"]
    assert list(found.times) == list(TIMES)
    np.testing.assert_allclose(found.values[:, 0], X, rtol=1e-14)  # a file has fifteen digits
    assert found.notes == []


def test_dates_and_clock_times_stand_in_two_columns(save):
    rows = [
        ["Date", "Time", "v"],
        *([dt.datetime(t.year, t.month, t.day), t.time(), v] for t, v in zip(TIMES, X, strict=True)),
    ]
    found = read(save({"A": rows}))
    assert found.time_name == "Date and Time"
    assert list(found.times) == list(TIMES)


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


def test_a_row_of_units_is_no_row_of_names(save):
    found = read(save({"A": [["t", "force", "speed"], ["s", "N", "m/s"], *([k / 8, v, -v] for k, v in enumerate(X))]}))
    assert found.names == ["force", "speed"]


def test_cells_that_could_not_be_calculated_are_missing(save):
    rows = [["v", "w"], *([v if k != 4 else "#DIV/0!", k**2] for k, v in enumerate(X)), [None, None], [None, None]]
    found = read(save({"A": rows}))
    assert np.flatnonzero(np.isnan(found.values[:, 0])).tolist() == [4]
    assert len(found) == 20


def test_texts_among_numbers_are_refused_with_their_row(save):
    refused(
        r"'v' must hold numbers. Got 'oops' in row 4 \(about line 5\)",
        save({"A": [["v"], *([v if k != 3 else "oops"] for k, v in enumerate(X))]}),
    )


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


def test_something_else_is_no_spreadsheet(tmp_path):
    for name in ("a.xlsx", "a.xls"):
        (tmp_path / name).write_bytes(b"no spreadsheet, but some text")
        with pytest.raises(ValueError, match=r"must be a spreadsheet, as its ending says\."):
            Files(Reading()).read(str(tmp_path / name), "--query")

"""Text tables as spreadsheets, loggers and pandas write them: what is read, and what is said about it."""

import re

import numpy as np
import pandas as pd
import pytest
from command_runs import read, refused

from sktslib.io._layout import layout_of
from sktslib.io._tables import Reading, source_of

T = np.arange(12) * 0.25
X = np.round(np.sin(T * 2) * 1234.5, 2)
Y = np.round(np.cos(T), 2)


def german(value, thousands=False):
    text = f"{value:,.2f}" if thousands else f"{value:.2f}"
    return text.replace(",", "_").replace(".", ",").replace("_", ".")


def lines(form, *columns):
    return "".join(form.format(*row) for row in zip(*columns, strict=True))


G = [german(v) for v in X]
TEXTS = {  # text -> names of channels, name of times
    "excel": ("Zeit;Wert\r\n" + lines("{};{}\r\n", map(german, T), G), ["Wert"], "Zeit"),
    "thousands": ("Zeit;Wert\n" + lines("{};{}\n", map(german, T), [german(v, True) for v in X]), ["Wert"], "Zeit"),
    "american": ("time,value\n" + lines('{},"{:,.2f}"\n', T, X), ["value"], "time"),
    "one column": ("Wert\n" + "\n".join(G), ["Wert"], None),
    "one column, no header": ("\n".join([*G[1:], "0,05"]), ["1"], None),
    "blanks": ("# t  x\n" + lines("  {:8.3f}  {:10.2f}\n", T, X), ["x"], "t"),
    "tabs": ("t\tv\n" + lines("{}\t{}\n", map(german, T), G), ["v"], "t"),
    "preamble": ("Device,ABC\nRate,100\n\nTime (s),Value\n" + lines("{},{}\n", T, X), ["Value"], "Time (s)"),
    "units": ("Device;ABC;\nTime;Temp;Hum\ns;°C;%\n" + lines("{};{};{}\n", T, X, Y), ["Temp", "Hum"], "Time"),
    "ends with marks": ("t;b\n" + lines("{};{};\n", T, X), ["b"], "t"),
    "ends with a mark in the header": ("t;b;\n" + lines("{};{};\n", T, X), ["b"], "t"),
    "R": ('"t" "b"\n' + lines('"{}" {} {}\n', range(1, 13), T, X), ["b"], "t"),
    "index": (",t,b\n" + lines("{},{},{}\n", range(12), T, X), ["b"], "t"),
    "numbered columns": (",0,1\n" + lines("{},{},{}\n", range(12), X, Y), ["0", "1"], None),
    "numbered columns, no index": ("0,1\n" + lines("{},{}\n", X, Y), ["0", "1"], None),
    "series": (",0\n" + lines("{},{}\n", T, X), ["0"], "index"),
    "quotes": ('"Time [s]","My, value"\n' + lines('"{}","{}"\n', T, X), ["My, value"], "Time [s]"),
    "comments": ("# a\nt,v\n" + lines("{},{}\n", T[:6], X[:6]) + "# b\n" + lines("{},{}\n", T[6:], X[6:]), ["v"], "t"),
    "twice": ("t,v,v\n" + lines("{},{},{}\n", T, X, Y), ["v", "v.1"], "t"),
    "columns without names": ("t;b;;\n" + lines("{};{};{};\n", T, X, range(5, 17)), ["b"], "t"),
    "empty columns": ("t,b,,\n" + lines("{},{},,\n", T, X), ["b"], "t"),
    "several marks": ("t;b\n" + lines("{};{};;;\n", T, X), ["b"], "t"),
    "an index of two levels": (",,t,b\n" + lines("{0},{0},{1},{2}\n", T[::-1], T, X), ["b"], "t"),
    "row count": ("no.,t,v\n" + lines("{},{},{}\n", range(1, 13), T, X), ["v"], "t"),
    "sample count of PhysioNet": ("'sample #','MLII'\n" + lines("{},{}\n", range(12), X), ["MLII"], None),
    "an apostrophe": ("time,patient's,it's\n" + lines("{},{},{}\n", T, X, Y), ["patient's", "it's"], "time"),
    "a note": ("t,v,note\n" + lines("{},{},fine\n", T, X), ["v"], "t"),
}


@pytest.mark.parametrize(("text", "names", "time_name"), TEXTS.values(), ids=TEXTS)
def test_tables_are_read_as_they_are_written(tmp_path, text, names, time_name):
    path = tmp_path / "some.csv"
    path.write_text(text, encoding="utf-8")
    found = read(path)
    assert found.names == names
    assert found.time_name == time_name
    wanted = np.append(X[1:], 0.05) if "0,05" in text else X
    np.testing.assert_array_equal(found.values[:, 0], wanted)
    if len(names) > 1:
        np.testing.assert_array_equal(found.values[:, 1], Y)
    if time_name is not None:
        np.testing.assert_array_equal(found.times, T)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_encodings_are_found(tmp_path, encoding):
    path = tmp_path / "some.csv"
    path.write_text("Zeit;Höhe\n" + lines("{};{}\n", map(german, T), G), encoding=encoding)
    found = read(path)
    assert found.names == ["Höhe"]
    assert found.time_name == "Zeit"
    assert [note for note in found.notes if "cp1252" in note] == found.notes[: encoding == "cp1252"]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("a.npy.gz", "Unpack it."),
        ("a.tar.bz2", "Unpack it."),
        ("a.JSON.xz", "may hold anything"),
        ("no.npy.gz", "No such"),
    ],
)
def test_what_is_packed_is_known_by_its_name(name, rule, tmp_path):
    if not name.startswith("no"):
        (tmp_path / name).touch()
    with pytest.raises(ValueError, match=re.escape(rule)):
        source_of(str(tmp_path / name), Reading(), "--query")


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zip"])
def test_packed_files_are_unpacked(tmp_path, ending):
    path = tmp_path / f"some.csv.{ending}"
    pd.DataFrame({"t": T, "v": X}).to_csv(path, index=False)
    np.testing.assert_array_equal(read(path).values[:, 0], X)


def test_what_is_skipped_or_left_out_is_said(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text(TEXTS["units"][0], encoding="utf-8")
    assert [note.partition("some.csv: ")[2] for note in read(path).notes] == [
        "lines 1, 3 are neither names nor numbers and skipped: 'Device;ABC;'",
    ]
    path.write_text("'Device','A 'B'\n'time','v'\n" + lines("'{}','{}'\n", T, X), encoding="utf-8")
    (note,) = read(path).notes
    assert note.endswith("""skipped: "'Device','A 'B'\"""")
    path.write_text(TEXTS["a note"][0], encoding="utf-8")
    assert read(path).notes == [f"{path}: column 'note' holds no numbers and was left out"]
    path.write_text(TEXTS["row count"][0], encoding="utf-8")
    assert read(path).notes == [f"{path}: column 'no.' counts the rows and was left out (--columns takes it)"]


def test_options_say_what_cannot_be_found(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("a;b\n" + "".join(f"{k};{k % 7}\n" for k in range(600)) + "600;1,5\n", encoding="utf-8")
    refused(r"'b' must hold numbers. Got '1,5' in row 601 \(about line 602\).*--decimal", path)
    assert read(path, decimal=",", columns="a,b").values[-1].tolist() == [600, 1.5]
    path.write_text("1.234;5\n2.345;6\n", encoding="utf-8")
    assert read(path).values[:, 0].tolist() == [1.234, 2.345]
    assert read(path, decimal=",", thousands=".").values[:, 0].tolist() == [1234, 2345]
    path.write_text("1 2\n3 4\n5 6\n", encoding="utf-8")
    assert read(path, header=1).names == ["1", "2"]
    assert len(read(path, header=1)) == 2
    assert len(read(path, separator="space", header=0)) == 3
    path.write_text("made by hand\nt v\n0 4\n1 6\n", encoding="utf-8")
    refused(r"--header must be the line of .*, 2. Got line 1 with 3: 'made by hand'", path, header=1)


@pytest.mark.parametrize("remark", ["# remark", "# a, b, c"])
def test_comments_may_come_late(tmp_path, remark):
    path = tmp_path / "some.csv"
    rows = [f"{k},{k % 7}" for k in range(600)]
    path.write_text("\n".join(["t,v", *rows[:550], remark, *rows[550:]]), encoding="utf-8")
    found = read(path)
    assert found.times.tolist() == [*range(600)]
    assert found.values[:, 0].tolist() == [k % 7 for k in range(600)]


def test_a_text_in_a_column_of_numbers_is_no_units_row():
    rows = ["t,v", "0,OVER", "1,2", "2,3", "3,4"]
    layout = layout_of(rows)
    assert layout.first == 1
    assert layout.names == ["t", "v"]
    assert layout.skipped == []
    assert layout_of(["only", "words"]) is None

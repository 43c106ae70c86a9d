"""Forms of text, small and made up: names, values and times as they were meant, or what is said of them."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from command_runs import read
from inputs import refused

from sktslib._cli.recordings import Files
from sktslib.io._layout import layout_of
from sktslib.io._tables import Reading, source_of

V = [1.5, -2.25, 3.125, 0.5, 4.75, 2.0]
LARGE = [1000.5, 2000.25, 3000.5, 4321.5, 5000.75, 6000.5]
ROUNDED = [591.86, 1038.8, 1231.41, 1122.52, 738.81, 174.21, -433.05, -934.29]
W = [10.5, 20.25, 30.5, 40.125, 50.5, 60.75]
T = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
DAYS = pd.date_range("2024-05-01 12:00", periods=6, freq="1min")


class Form(NamedTuple):
    """A text and what is right of it."""

    text: str
    names: list = ["v"]
    times: object = None  # None: no times
    values: list = V  # of the first channel
    how: dict = {}
    notes: list = []  # words, each in a note of its own
    encoding: str = "utf-8"


def rows(form, *columns):
    return "".join(form.format(*row) + "\n" for row in zip(*columns, strict=True))


def comma(values):
    return [str(v).replace(".", ",") for v in values]


def dated(form, times=DAYS):
    return [t.strftime(form) for t in times]


TV = rows("{},{}", T, V)
REPEATED = pd.date_range("2024-10-27 00:00", periods=6, freq="30min", tz="UTC").tz_convert("Europe/Berlin")
NIGHT = pd.date_range("2024-05-01 23:58", periods=6, freq="1min")
QUARTERS = pd.date_range("2024-05-13 12:00:55", periods=6, freq="250ms")
CLOCKS = pd.timedelta_range("23:58:00", periods=6, freq="1min")
FORMS = {
    # separators and decimal marks
    "comma": Form("t,v\n" + TV, times=T),
    "semicolon": Form("t;v\n" + rows("{};{}", T, V), times=T),
    "tab": Form("t\tv\n" + rows("{}\t{}", T, V), times=T),
    "bar": Form("t|v\n" + rows("{}|{}", T, V), times=T),
    "blanks": Form("t v\n" + rows("{:8}  {:8}", T, V), times=T),
    "comma and blank": Form("t, v\n" + rows("{}, {}", T, V), times=T),
    "decimal comma": Form("t;v\n" + rows("{};{}", comma(T), comma(V)), times=T),
    "decimal comma alone": Form("v\n" + rows("{}", comma(V))),
    "thousands": Form(
        "t;v\n" + rows("{};{}", comma(T), [f"{v // 1000:.0f}.{comma([v])[0][1:]}" for v in LARGE]),
        times=T,
        values=LARGE,
    ),
    "thousands by commas": Form("t,v\n" + rows('{},"{:,.2f}"', T, LARGE), times=T, values=LARGE),
    "signs": Form("t,v\n" + rows("{},{:+}", T, V), times=T),
    "exponents": Form("t,v\n" + rows("{},{:.5e}", T, V), times=T),
    "no digit before the point": Form("v\n.5\n-.25\n.125\n", values=[0.5, -0.25, 0.125]),
    # names
    "no names": Form(rows("{},{}", V, W), ["1", "2"]),
    "no names, one column": Form(rows("{:.2f}", ROUNDED).replace(".", ","), ["1"], values=ROUNDED),
    "quoted": Form('"t","v"\n' + rows('"{}","{}"', T, V), times=T),
    "single quotes": Form("'t','v'\n" + rows("{},{}", T, V), times=T),
    "a comma in a name": Form('t,"v, raw"\n' + TV, ["v, raw"], T),
    "numpy's names": Form("# t v\n" + rows("{} {}", T, V), times=T),
    "names twice": Form("t,v,v\n" + rows("{},{},{}", T, V, W), ["v", "v.1"], T, notes=["another column named 'v'"]),
    "R": Form('"t" "v"\n' + rows('"{}" {} {}', range(1, 7), T, V), times=T),
    "numbers as names": Form(",100,200\n" + rows("{},{},{}", T, V, W), ["100", "200"], T, notes=["read as times"]),
    "numbered columns": Form(",0,1\n" + rows("{},{},{}", range(6), V, W), ["0", "1"]),
    "numbered columns without an index": Form("0,1\n" + rows("{},{}", V, W), ["0", "1"]),
    "a series of pandas": Form(",0\n" + rows("{},{}", T, V), ["0"], T, notes=["has no name and increases"]),
    "apostrophes": Form("t,patient's,it's\n" + rows("{},{},{}", T, V, W), ["patient's", "it's"], T),
    "a spectrum": Form("t,400,410,420\n" + rows("{},{},{},{}", T, V, W, W), ["400", "410", "420"], T),
    "bands": Form("400;410;420;430\n" + rows("{0};{1};{1};{1}", V, W), ["400", "410", "420", "430"]),
    "counted from 1": Form("1,2,3\n" + rows("{0},{1},{1}", [9.5, *V[1:]], W), ["1", "2", "3"], values=[9.5, *V[1:]]),
    # rows above and below the names
    "settings": Form("Device: A\nRate;100\n\nt;v\n" + rows("{};{}", T, V), times=T, notes=["lines 1, 2 are neither"]),
    "many settings": Form(
        "".join(f"key{k}: {k}\n" for k in range(9)) + "t;v\n" + rows("{};{}", T, V), times=T, notes=["lines 1 to 9 are"]
    ),
    "settings without names": Form(
        "Mode:,Sum\nAverages:,0\n\n" + rows("{},{}", dated("%Y-%m-%d %H:%M"), V), ["2"], DAYS, notes=["and skipped"]
    ),
    "quotes within": Form(
        "'Device','A 'B'\n't','v'\n" + rows("'{}','{}'", T, V), times=T, notes=["""skipped: "'Device','A 'B'\""""]
    ),
    "units": Form("t,v,w\ns,mV,°C\n" + rows("{},{},{}", T, V, W), ["v", "w"], T, notes=["line 2 is neither"]),
    "units in brackets": Form("t,v\n[s],[mV]\n" + TV, times=T, notes=["line 2 is neither"]),
    "groups": Form(
        "t,left,,right,\n,x,y,x,y\n" + rows("{0},{1},{2},{2},{2}", T, V, W),
        ["left x", "left y", "right x", "right y"],
        T,
        notes=["two rows of names were joined"],
    ),
    "columns of two levels": Form(
        "side,left,right\naxis,x,x\n" + rows("{},{},{}", T, V, W),
        ["left x", "right x"],
        None,
        values=T,
        how={"columns": "axis,left x"},
        notes=["two rows of names were joined: 'left x'"],
    ),
    "two levels and a named index": Form(
        ",left,left\n,x,y\nt,,\n" + rows("{},{},{}", T, V, W), ["left x", "left y"], T, notes=["were joined"]
    ),
    "two levels": Form(
        ",left,left\n,x,y\n" + rows("{},{},{}", T, V, W), ["left x", "left y"], T, notes=["joined", "times"]
    ),
    "a named header": Form("made by hand\nt v\n" + rows("{} {}", T, V), times=T, how={"header": 2}),
    "no header, said": Form("1 2\n" + rows("{} {}", V, W), ["1", "2"], values=[1, *V], how={"header": 0}),
    # comments and footers
    "comments above": Form("# made\n# by hand\nt,v\n" + TV, times=T),
    "comments between": Form("t,v\n" + TV.replace("1.0,", "# pause, 2 s\n1.0,"), times=T),
    **{
        f"{remark} behind line 500": Form(
            "t,v\n" + rows("{},{}", range(600), [k % 7 + 0.5 for k in range(600)]) + f"{remark}\n600,0.5\n",
            times=[*range(601)],
            values=[*(k % 7 + 0.5 for k in range(600)), 0.5],
        )
        for remark in ("# end", "# a, b, c")
    },
    "a footer": Form("t,v\n" + TV + "End of data\n", times=T, notes=["line 8 is after the data and skipped"]),
    "a footer of two lines": Form(
        "t,v\n" + TV + "\nsum of 6\nmean,of,all,1.6\n", times=T, notes=["lines 9, 10 are after"]
    ),
    "a footer with a comma": Form("t;v\n" + rows("{};{}", T, V) + "; end, of file\n", times=T, notes=["after"]),
    "JSON above": Form(
        '# {"rate": 4, "columns": ["v", "w"]}\n# end\n' + rows("{}\t{}\t", V, W), ["v", "w"], np.arange(6) / 4
    ),
    "JSON of a device": Form(
        '# {"00:07": {"sampling rate": 4, "column": ["v", "w"]}}\n' + rows("{}\t{}", V, W), ["v", "w"], np.arange(6) / 4
    ),
    # empty cells, columns and lines
    "empty lines": Form("\n\nt,v\n\n" + TV.replace("\n", "\n\n"), times=T),
    "carriage returns": Form(("t,v\n" + TV).replace("\n", "\r\n"), times=T),
    "old line ends": Form(("t,v\n" + TV).replace("\n", "\r"), times=T),
    "no end of line": Form("t,v\n" + TV.rstrip(), times=T),
    "ends in marks": Form("t;v\n" + rows("{};{};", T, V), times=T),
    "ends in marks, names do, too": Form("t;v;\n" + rows("{};{};", T, V), times=T),
    "ends in several marks": Form("t;v\n" + rows("{};{};;;", T, V), times=T),
    "unnamed columns": Form("time;v;;\n" + rows("{};{};;", T, V), times=T),
    "unnamed columns that hold something": Form(
        "time;v;;\n" + rows("{};{};{};{}", T, V, W, W), times=T, notes=["column 3 has no name", "column 4 has no name"]
    ),
    "an index of two levels": Form(
        ",,v\n" + rows("{},{},{}", [1, 1, 1, 2, 2, 2], [0, 1, 2] * 2, V), notes=["column 1 has no name"]
    ),
    "an empty column": Form("t,v,w\n" + rows("{},{},", T, V), times=T, notes=["column 'w' is empty and was left out"]),
    "an empty column between": Form("t,,v\n" + rows("{},,{}", T, V), times=T),
    "empty rows at the end": Form("t,v\n" + TV + ",\n,\n", times=T, notes=["2 empty rows at the end left out"]),
    "an index": Form(",v\n" + rows("{},{}", range(6), V)),
    "an index and times": Form(",t,v\n" + rows("{},{},{}", range(6), T, V), times=T),
    "an index of times": Form(",v\n" + rows("{},{}", T, V), times=T, notes=["has no name and increases"]),
    "a counter": Form("sample,v\n" + rows("{},{}", range(1, 7), V), notes=["'sample' counts the rows"]),
    "PhysioNet's counter": Form("'sample #','v'\n" + rows("{},{}", range(6), V), notes=["'sample #' counts the rows"]),
    "a first column that counts": Form("nSeq,v\n" + rows("{},{}", range(6), V), notes=["'nSeq' counts the rows"]),
    "a counter of a part": Form(
        "frame,v\n" + rows("{},{}", range(1500, 1510), [*V, *W[:4]]), values=[*V, *W[:4]], notes=["'frame' counts"]
    ),
    "a counter of a few rows": Form(
        "frame,v\n" + rows("{},{}", range(1500, 1509), [*V, *W[:3]]), ["frame", "v"], values=range(1500, 1509)
    ),
    "a counter alone": Form("frame\n" + rows("{}", range(6)), ["frame"], values=range(6)),
    "a counter and times": Form(
        "frame,when\n" + rows("{},{}", range(6), dated("%Y-%m-%d %H:%M")), ["frame"], DAYS, range(6)
    ),
    "a counter that wraps": Form("seq,v\n" + rows("{},{}", [0, 1, 2] * 2, V), notes=["'seq' counts the rows"]),
    "a counter that wraps, later": Form("v,packet\n" + rows("{},{}", V, [1, 2, 0] * 2), notes=["'packet' counts"]),
    "a text": Form("t,v,note\n" + rows("{},{},fine", T, V), times=T, notes=["'note' holds no numbers"]),
    # missing values
    **{
        f"missing as {word}": Form(f"t,v\n{TV}3.0,{word}\n", times=[*T, 3.0], values=[*V, np.nan])
        for word in ("", "NaN", "NAN", "na", "N/A", "null", "None", "M", "-", "#DIV/0!")
    },
    "a column like labels": Form(
        "v,w\n" + rows("{},{}", V * 9, [0, 1] * 27),
        ["v", "w"],
        values=V * 9,
        notes=["'w' holds 0 and 1 alone, like labels, and is compared: --columns v leaves it out"],
    ),
    "missing as a word": Form(f"t,v\n{TV}3.0,x\n", times=[*T, 3.0], values=[*V, np.nan], how={"missing": "x"}),
    "missing as a number": Form(
        f"t,v\n{TV}3.0,-9999.0\n", times=[*T, 3.0], values=[*V, np.nan], how={"missing": "-9999"}
    ),
    "a number that may be missing": Form(
        f"t,v\n{TV}3.0,-9999\n3.5,-9999\n",
        times=[*T, 3.0, 3.5],
        values=[*V, -9999, -9999],
        notes=["holds -9999 2 times, far from the others, -2.25 to 4.75: if it stands for what is missing, --missing"],
    ),
    # encodings
    **{
        f"in {encoding}": Form(f"t;Höhe\n{rows('{};{}', T, V)}", ["Höhe"], T, encoding=encoding)
        for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
    },
    "in cp1252": Form("t;Höhe\n" + rows("{};{}", T, V), ["Höhe"], T, encoding="cp1252", notes=["read as cp1252"]),
    "in a named encoding": Form("t;Ł\n" + rows("{};{}", T, V), ["Ł"], T, encoding="cp1250", how={"encoding": "cp1250"}),
    # times
    **{
        name: Form("when;v\n" + rows("{};{}", dated(form), V), times=DAYS)
        for name, form in {
            "ISO": "%Y-%m-%dT%H:%M:%S",
            "slashes": "%Y/%m/%d %H:%M",
            "German": "%d.%m.%Y %H:%M:%S",
            "month by name": "%d-%b-%Y %H:%M",
            "digits alone": "%Y%m%d %H:%M:%S",
        }.items()
    },
    "American": Form("when,v\n" + rows("{},{}", dated("%m/%d/%Y %I:%M %p"), V), times=DAYS, how={"day_first": False}),
    "days first": Form("when,v\n" + rows("{},{}", dated("%d/%m/%Y %H:%M"), V), times=DAYS, how={"day_first": True}),
    "days by order": Form(
        "day,v\n" + rows("{},{}", dated("%d/%m/%Y", pd.date_range("2024-05-01", periods=6)), V),
        times=pd.date_range("2024-05-01", periods=6),
        notes=["dates were read as day/month/year"],
    ),
    "months first by a day": Form(
        "when;v\n" + rows("{};{}", dated("%m/%d/%Y %I:%M:%S.%f %p", QUARTERS), V), times=QUARTERS
    ),
    "months first by order": Form(
        "when;v\n01/02/2024;1\n01/03/2024;2\n",
        times=pd.DatetimeIndex(["2024-01-02", "2024-01-03"]),
        values=[1, 2],
        notes=["dates were read as month/day/year"],
    ),
    "fractions of several lengths": Form(
        "when;v\n" + rows("{};{}", [t.isoformat(sep=" ") for t in QUARTERS], V), times=QUARTERS
    ),
    "clocks with a decimal comma": Form(
        "clock;v\n" + rows("{},5;{}", dated("%H:%M:%S", NIGHT), comma(V)),
        times=CLOCKS + pd.Timedelta("0.5s"),
        notes=["midnight once"],
    ),
    "date and clock": Form("date,time,v\n" + rows("{},{}", dated("%Y-%m-%d,%H:%M"), V), times=DAYS),
    "a decimal comma in times": Form(
        "when;v\n" + rows("{}:00,5;{}", dated("%Y-%m-%d %H:%M"), comma(V)), times=DAYS + pd.Timedelta("0.5s")
    ),
    "offset": Form("when,v\n" + rows("{}+02:00,{}", dated("%Y-%m-%dT%H:%M"), V), times=DAYS.tz_localize("UTC+02:00")),
    "Z": Form("when,v\n" + rows("{}Z,{}", dated("%Y-%m-%dT%H:%M"), V), times=DAYS.tz_localize("UTC")),
    "GMT": Form("when,v\n" + rows("{} GMT,{}", dated("%Y-%m-%d %H:%M"), V), times=DAYS.tz_localize("UTC")),
    "zone in brackets": Form(
        "when,v\n" + rows("{} [Europe/Berlin],{}", dated("%Y-%m-%d %H:%M:%S%z", REPEATED), V), times=REPEATED
    ),
    "the repeated hour": Form(
        "when,v\n" + rows("{},{}", dated("%Y-%m-%d %H:%M", REPEATED), V),
        times=REPEATED,
        how={"time_zone": "Europe/Berlin"},
    ),
    "hour 24 without seconds": Form(
        "when,v\n"
        + rows("{},{}", [t.replace("2024-05-02 00:00", "2024-05-01 24:00") for t in dated("%Y-%m-%d %H:%M", NIGHT)], V),
        times=NIGHT,
    ),
    "hour 24": Form(
        "when,v\n"
        + rows(
            "{},{}",
            [t.replace("2024-05-02 00:00", "2024-05-01 24:00") for t in dated("%Y-%m-%d %H:%M:%S.000", NIGHT)],
            V,
        ),
        times=NIGHT,
    ),
    "clocks over midnight": Form(
        "clock,v\n" + rows("{},{}", dated("%H:%M:%S", NIGHT), V), times=CLOCKS, notes=["midnight once"]
    ),
    "AM and PM over midnight": Form(
        "clock,v\n" + rows("{},{}", dated("%I:%M %p", NIGHT), V), times=CLOCKS, notes=["midnight"]
    ),
    "minutes and seconds": Form("t,v\n" + rows("0:{:04.1f},{}", T, V), times=pd.to_timedelta(T, unit="s")),
    "a rate": Form("v\n" + rows("{}", V), times=np.arange(6) / 4, how={"rate": 4.0}),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms_of_text(tmp_path, form):
    path = tmp_path / "a.csv"
    path.write_bytes(form.text.encode(form.encoding))
    files = Files(Reading(**form.how))
    found = files.read(str(path), "--query")
    files.check()
    if "columns" not in form.how:
        assert found.names == form.names
        assert found.values.shape == (len(form.values), len(form.names))
    np.testing.assert_array_equal(found.values[:, 0], form.values)
    if form.times is None:
        assert found.times is None
    elif isinstance(form.times, pd.Index):
        assert list(found.times) == list(form.times)
        assert str(getattr(found.times, "tz", None)) == str(getattr(form.times, "tz", None))
    else:
        np.testing.assert_array_equal(np.asarray(found.times), form.times)
    assert len(found.notes) == len(form.notes), found.notes
    for words, note in zip(form.notes, found.notes, strict=True):
        assert words in note


REFUSED = {
    "a bad cell": (
        "t,v\n" + TV.replace("3.125", "lost"),
        {},
        r"'v' must hold numbers. Got 'lost' in row 3 .about line 4",
    ),
    "a bad cell among decimal commas": (
        "t;v\n" + rows("{};{}", comma(T), comma(V)).replace("3,125", "lost"),
        {},
        "'v' must hold numbers. Got 'lost' in row 3 .*Correct the cell",
    ),
    "a bad time": (
        "t,v\n" + TV.replace("1.0,", "lost,"),
        {},
        r"'t' must hold numbers.* Got 'lost' in row 3 .about line 4",
    ),
    "a bad date": ("when;v\n" + rows("{};{}", [*dated("%Y-%m-%d %H:%M")[:5], "soon"], V), {}, "Got 'soon' in row 6"),
    "a bad hour": (
        "when;v\n" + rows("{};{}", [*dated("%Y-%m-%d %H:%M")[:5], "2024-05-01 25:10"], V),
        {},
        "25:10' in row 6",
    ),
    "a bad clock": ("clock;v\n" + rows("{};{}", [*dated("%H:%M")[:5], "soon"], V), {}, "Got 'soon' in row 6"),
    "no time": ("t,v\n" + TV.replace("1.0,", ","), {}, "must hold a time in each row. Got none in row 3 .about line 4"),
    "the repeated hour": (
        "when,v\n" + rows("{},{}", dated("%Y-%m-%d %H:%M", REPEATED), V),
        {},
        "name the zone, such as --time-zone",
    ),
    "half of the repeated hour": (
        "when,v\n2024-10-27 02:10,1\n2024-10-27 02:20,2\n",
        {"time_zone": "Europe/Berlin"},
        "--time-zone must name a zone",
    ),
    "times that fall": ("t,v\n0,1\n2,3\n1,2\n", {}, "must be strictly increasing. Got 2.0 in row 2 and 1.0 in row 3"),
    "a rate and times": ("t,v\n" + TV, {"rate": 4.0}, "--rate is for files without times. Got 4, and .* times 't'"),
    "ragged": ("t,v\n0,1\n1,2\n2,3,4\n3,4\n4,5\n", {}, "Expected 2 fields in line 4, saw 3. Each row must have as"),
    "no such line": ("t,v\n" + TV, {"header": 99}, "--header must be the number of one of the 7 first lines, or 0"),
    "no numbers": ("only,words\nand,more\n", {}, "must hold at least one row of numbers"),
    "no bytes": ("", {}, "must hold at least one row of numbers"),
    "a collection": ("@problemName A\n@timeStamps false\n@data\n1,2,3:a\n", {}, "a collection of series"),
    "ARFF": ("@relation A\n@attribute x numeric\n@data\n1\n2\n", {}, "a collection of series"),
    "SLIST": ("TIMESERIES A_B, 2 samples, 1 sps, 2024-01-01, SLIST, INTEGER, \n1\t2\n3\t4\n", {}, "obspy.read"),
    "no encoding": ("t,v\n" + TV, {"encoding": "utf-99"}, "--encoding must be known, such as utf-8"),
    "another encoding": ("t,Höhe\n" + TV, {"encoding": "ascii"}, "not ascii: name it, such as --encoding cp1252"),
    "no zone": ("when;v\n" + rows("{};{}", dated("%Y-%m-%d %H:%M"), V), {"time_zone": "Mars"}, "--time-zone must name"),
    "no column": ("t,v\n" + TV, {"columns": "w"}, r"--columns must name a column. Got 'w'; --query has t, v"),
}


@pytest.mark.parametrize(("text", "how", "message"), REFUSED.values(), ids=REFUSED)
def test_texts_that_are_refused(tmp_path, text, how, message):
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    files = Files(Reading(**how))
    with pytest.raises(ValueError, match=message):
        files.read(str(path), "--query")
        files.check()


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("a.npy.gz", "Unpack it."),
        ("a.tar.bz2", "Unpack it."),
        ("a.JSON.xz", "may hold anything"),
        ("a.7z", "packed as .7z cannot be read. Unpack it, or pack it as"),
        ("no.npy.gz", "No such"),
    ],
)
def test_what_is_packed_is_known_by_its_name(name, rule, tmp_path):
    if not name.startswith("no"):
        (tmp_path / name).touch()
    refused(lambda: source_of(str(tmp_path / name), Reading(), "--query"), rule)


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zip"])
def test_packed_files_are_unpacked(tmp_path, ending):
    path = tmp_path / f"some.csv.{ending}"
    values = np.random.default_rng(0).normal(size=9000)  # some blocks of bytes that are unpacked at a time
    pd.DataFrame({"v": values}).to_csv(path, index=False)
    np.testing.assert_array_equal(read(path).values[:, 0], values)
    path.write_bytes(path.read_bytes()[:-9])
    refused(lambda: read(path), "--query must name a readable file. Got ")


def test_options_say_what_cannot_be_found(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("a;b\n" + "".join(f"{k};{k % 7}\n" for k in range(600)) + "600;1,5\n", encoding="utf-8")
    refused(lambda: read(path), "'b' must hold numbers. Got '1,5' in row 601 (about line 602)", "--decimal")
    assert read(path, decimal=",", columns="a,b").values[-1].tolist() == [600, 1.5]
    path.write_text("1.234;5\n2.345;6\n", encoding="utf-8")
    assert read(path).values[:, 0].tolist() == [1.234, 2.345]
    assert read(path, decimal=",", thousands=".").values[:, 0].tolist() == [1234, 2345]
    path.write_text("1 2\n3 4\n5 6\n", encoding="utf-8")
    assert read(path, header=1).names == ["1", "2"]
    assert len(read(path, header=1)) == 2
    assert len(read(path, separator="space", header=0)) == 3
    path.write_text("made by hand\nt v\n0 4\n1 6\n", encoding="utf-8")
    refused(lambda: read(path, header=1), "--header must be the line of ", ", 2. Got line 1 with 3: 'made by hand'")


def test_a_text_in_a_column_of_numbers_is_no_units_row():
    rows = ["t,v", "0,OVER", "1,2", "2,3", "3,4"]
    layout = layout_of(rows)
    assert layout.first == 1
    assert layout.names == ["t", "v"]
    assert layout.skipped == []
    assert layout_of(["only", "words"]) is None


def test_parts_as_the_file_spells_its_days_and_counts_its_times(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(FORMS["days by order"].text)
    part = read(f"{path}:02/05/2024")
    assert (part.first, len(part)) == (1, 1)
    path.write_text("t,v\n" + rows("{},{}", 500 * np.arange(6), V))
    part = read(f"{path}:1s-2s", time_unit="ms")
    assert (part.first, len(part)) == (2, 2)


def damaged(content, rng):
    """Bytes of which some were changed, lost or doubled, lines moved, or the end cut off."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at, other = rng.integers(len(content) + 1, size=2)
        kind = rng.integers(5)
        if kind == 0:
            content[at : at + 1] = rng.choice(
                [b",", b";", b"\t", b'"', b"'", b"#", b":", b"-", b"x", b"\0", b"\xff", b"{"]
            )
        elif kind == 1:
            del content[at : at + rng.integers(20)]
        elif kind == 2:
            content[at:at] = content[other : other + 20]
        elif kind == 3:
            lines = bytes(content).split(b"\n")
            content = bytearray(b"\n".join(lines[k] for k in rng.permutation(len(lines))))
        else:
            del content[max(at, 1) :]
    return bytes(content)


@pytest.mark.slow
def test_damaged_files_are_read_or_refused(tmp_path):
    rng = np.random.default_rng(0)
    texts = [(form.text[:2000].encode(form.encoding), form.how) for form in FORMS.values()]
    path, read = tmp_path / "a.csv", 0
    for k in range(200):
        content, how = texts[k % len(texts)]
        path.write_bytes(damaged(content, rng))
        try:
            found = Files(Reading(**how)).read(str(path), "--query")
        except ValueError as error:
            assert str(error).startswith(("--query", "--", "the times of --query")), error
        else:
            assert len(found) and found.values.dtype == float and len(found.names) == found.values.shape[1]
            read += 1
    assert read > 20

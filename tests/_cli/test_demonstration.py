"""The command line, run in-process: tables, pictures, files and errors."""

import errno
import os
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from command_runs import printed

from sktslib import load_ecg_example
from sktslib.__main__ import main
from sktslib.distances import get_metric
from sktslib.io import _text as text_files
from sktslib.io._tables import Reading
from sktslib.io._text import read_text

PNG = b"\x89PNG\r\n\x1a\n"
FOUR = ["dtw", "lcss", "twed", "euclidean"]
QUERY = np.array([0.0, 1.0, 3.0, 1.0, 0.0])
SEQUENCE = np.array([0.0, 0.1, 0.0, 1.0, 3.0, 1.0, 0.0, 0.1, 0.0, 1.1, 2.9, 1.0, 0.0, 0.2])


def rows_of(text, heading):
    """Rows of the table that follows a heading, split at two or more blanks."""
    lines = text[text.index(heading) :].splitlines()[2:]
    return [re.split(r" {2,}", line.strip()) for line in lines[: lines.index("")]]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What the demonstration prints and writes in the current folder."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        said = []
        patch.setattr("builtins.print", lambda *a, **k: said.append((k.get("file"), "\n".join(a) + k.get("end", "\n"))))
        assert main(["--csv", "found.csv"]) == 0
    out = "".join(text for file, text in said if file is None)
    err = "".join(text for file, text in said if file is not None)
    return folder, out, err


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write a small query and a sequence, and stand in their folder."""
    monkeypatch.chdir(tmp_path)
    table = {"time_s": np.arange(5) * 0.5, "level": QUERY, "weight": [1.0, 2.0, 4.0, 2.0, 1.0]}
    pd.DataFrame(table).to_csv("q.csv", index=False)
    pd.DataFrame({"time_s": 10 + np.arange(14) * 0.5, "level": SEQUENCE}).to_csv("s.csv", index=False)
    return tmp_path


OWN = "--query q.csv --sequence s.csv"


# ------------------------------------------------------------------------------------------------------ demonstration
def test_weighted_dtw_lists_the_normal_beats_first(demo):
    _, out, _ = demo
    ecg = load_ecg_example()
    normal = ecg.beats[ecg.beat_kinds == "N"] / ecg.sampling_rate
    rows = rows_of(out, "Dynamic Time Warping, DTW()")
    assert [int(row[0]) for row in rows] == list(range(1, 13))
    assert sorted(row[-1] for row in rows) == sorted(f"{time:.3f} N" for time in normal)
    assert (np.diff([float(row[5]) for row in rows]) >= 0).all()
    for row in rows:
        start, end = map(int, row[1:3])
        assert [f"{start / 120:.3f}", f"{end / 120:.3f}"] == row[3:5]
        path = get_metric("dtw").distance(ecg.query, ecg.sequence[start:end], weight=ecg.weight).path
        peaks = (start + path[1, path[0] == ecg.query.argmax()]) / ecg.sampling_rate
        assert np.abs(peaks - float(row[-1].split()[0])).max() <= 0.05


def test_the_other_distances_find_eleven_normal_beats_and_the_one_in_between(demo):
    for heading in ("Longest Common Subsequence", "Time Warp Edit Distance", "Euclidean Distance"):
        assert [row[-1].split()[-1] for row in rows_of(demo[1], heading)] == ["N"] * 11 + ["F"]
    rows = rows_of(demo[1], "Segmentation by twed")  # which holds every beat
    assert sorted(row[-1].split()[-1] for row in rows) == ["F"] + ["N"] * 12
    starts, ends = (np.array([float(row[k]) for row in rows]) for k in (1, 2))
    assert (starts[1:] >= ends[:-1]).all()


def test_the_demonstration_says_what_is_seen_and_what_it_wrote(demo):
    folder, out, err = demo
    assert "Found: dtw 12 N; lcss 11 N, 1 F; twed 11 N, 1 F; euclidean 11 N, 1 F;" in " ".join(out.split())
    assert out.endswith("\ntable: found.csv\npicture: sktslib.png\n")
    assert "compiles kernels (once)" in err
    assert (folder / "sktslib.png").read_bytes().startswith(PNG)
    table = pd.read_csv(folder / "found.csv")
    assert table.groupby(["kind", "metric"]).size().to_dict() == {
        **{("occurrence", name): 12 for name in FOUR},
        ("repetition", "twed"): 13,
    }
    np.testing.assert_allclose(table["start_time"], table["start"] / 120)


# ---------------------------------------------------------------------------------------------------------- own files
def test_times_and_weights_of_files_count(files, capsys):
    out = printed(capsys, f"{OWN} --n-matches 2 --csv found.csv --output picture.png").out
    assert rows_of(out, "Dynamic Time Warping")[0][:5] == ["1", "2", "7", "11.0", "13.5"]
    assert rows_of(out, "Euclidean Distance") == [
        ["1", "2", "7", "11.0", "13.5", "0.0000"],
        ["2", "8", "13", "14.0", "16.5", "0.1225"],
    ]
    assert (files / "picture.png").read_bytes().startswith(PNG)
    table = pd.read_csv("found.csv").query("metric == 'euclidean'")
    weight = np.array([1, 2, 4, 2, 1]) / 4
    expected = np.sqrt((weight * (QUERY - SEQUENCE[8:13]) ** 2).sum())
    np.testing.assert_allclose(table["distance"], [0.0, expected], atol=1e-12)
    assert table[["start", "end", "start_time", "end_time"]].to_numpy().tolist() == [
        [2, 7, 11, 13.5],
        [8, 13, 14, 16.5],
    ]


def test_files_without_header_and_a_threshold(files, capsys):
    np.savetxt("q.csv", QUERY)
    # With a threshold all occurrences within it are listed; only the exact one lies within 0.1.
    np.savetxt("s.csv", SEQUENCE)
    out = printed(capsys, f"{OWN} --distance 'Euclidean Distance' --threshold 0.1 --no-picture --columns 1").out
    assert "1 occurrence, best first" in out
    assert rows_of(out, "Euclidean Distance") == [["1", "2", "7", "0.000"]]
    assert sorted(os.listdir()) == ["q.csv", "s.csv"]


def test_dates_channels_and_chosen_columns(files, capsys):
    when = pd.date_range("2024-05-01", periods=14, freq="250ms")
    table = {"b": -SEQUENCE, "when": when, "a": SEQUENCE, "note": "x"}
    pd.DataFrame(table).to_csv("s.csv", index=False, sep=";")
    pd.DataFrame({"a": QUERY, "b": -QUERY}).to_csv("q.csv", index=False)
    options = "--time-column when --distance manhattan --distance twed --n-matches all --output p.svg"
    out, err = printed(capsys, f"{OWN} {options}")
    first = ["1", "2", "7", "2024-05-01 00:00:00.500", "2024-05-01 00:00:01.750", "0.0000"]
    assert rows_of(out, "Manhattan Distance")[0] == first
    for said in (
        "has times, so twed counts samples",
        "compared: a, b",
        "s.csv: column 'note' holds no numbers and was",
    ):
        assert said in err
    assert "<svg" in (files / "p.svg").read_text(encoding="utf-8")


def test_parameters_are_set(files, capsys):
    options = "--distance lcss --distance dtw --set dtw.alpha=0.5 --no-picture"
    out = printed(capsys, f"{OWN} {options} --set lcss.eps=0.05 --segment-by lcss").out
    assert all(said in out for said in ("LCSS(eps=0.05)", "DTW(alpha=0.5)", "Segmentation by lcss"))
    assert f"LCSS(eps={0.5 * SEQUENCE.std():.3g})" in printed(capsys, f"{OWN} {options}").out


def test_a_reader_that_stops_early_is_no_error(files, monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", pipe)
        assert main([*OWN.split(), "--distance", "euclidean", "--no-picture"]) == 0


@pytest.mark.parametrize(
    ("windows", "error", "code"),
    [
        (False, BrokenPipeError(errno.EPIPE, "Broken pipe"), 0),
        (False, OSError(errno.EINVAL, "Invalid argument"), 2),
        (True, OSError(errno.EINVAL, "Invalid argument"), 0),
        (True, OSError(errno.EINVAL, "Invalid argument", "a?.csv"), 2),
        (True, OSError(errno.ENOSPC, "No space left on device"), 2),
    ],
)
def test_a_reader_that_stops_early_is_known_by_its_error(tmp_path, monkeypatch, capsys, windows, error, code):
    def fail(argv):
        raise error

    monkeypatch.setattr("sktslib.__main__.WINDOWS", windows)
    monkeypatch.setattr("sktslib.__main__.run", fail)
    with (tmp_path / "out").open("w") as file, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", file)
        assert main([]) == code
    assert ("could not be written: No space" in capsys.readouterr().err) == (error.errno == errno.ENOSPC)


# ------------------------------------------------------------------------------------------------------------- errors
WRONG = {
    "no sequence": ("--query q.csv", "--sequence must be given with --query. Got --query 'q.csv' alone."),
    "empty file": ("--query empty.csv --sequence s.csv", "--query: 'empty.csv': the file must hold at least"),
    "ragged": (
        "--query ragged.csv --sequence s.csv",
        "--query must name a readable file. Got 'ragged.csv': Expected 2 fields in line 3, saw 3",
    ),
    "gap": ("--query gap.csv --sequence s.csv", "'--query' must be finite. Got 1 NaN of 3 values"),
    "times text": (
        "--query q.csv --sequence noon.csv",
        "or dates such as 2024-05-01 12:30:05.25 or 01.05.2024 12:30. Got 'noon' in row 1 (about line 2). Correct that",
    ),
    "weights": ("--query below.csv --sequence s.csv", "'--weight-column' must not be negative. Got"),
    "no channel": ("--query times.csv --sequence s.csv", "--columns must name at least one column of values."),
    "column": (
        "--query q.csv --sequence s.csv --columns low",
        "--columns must name a column. Got 'low'; --query has time_s, level, weight.",
    ),
    "weight column": (
        "--query q.csv --sequence s.csv --weight-column w",
        "--weight-column must name a column. Got 'w'",
    ),
    "column alone": ("--columns a", "--columns needs --query and --sequence. Got 'a' without them."),
    "too long": ("--query s.csv --sequence q.csv --columns level", "for euclidean, which compares pieces"),
    "distance": ("--distance dwt", "--distance: Unknown distance 'dwt'. Did you mean 'dtw'?"),
    "time distance": ("--distance tam", "--distance: Time Alignment Measurement has no search"),
    "set form": ("--set eps=1", "--set must have the form NAME.KEY=VALUE, such as lcss.eps=0.2. Got 'eps=1'."),
    "set name": ("--set lcs.eps=1", "--set: Unknown distance 'lcs'. Did you mean 'lcss'?"),
    "set unused": ("--set canberra.p=1", "--set must name a distance of this search (dtw, lcss, twed, euclidean)."),
    "set key": ("--set lcss.esp=1", "Did you mean 'eps'?"),
    "set value": ("--set lcss.eps=-1", "The 'eps' parameter of LCSS must be a number in the range [0.0, inf)"),
    "set word": ("--set lcss.eps=wide", "The 'eps' parameter of LCSS must be a number in the range [0.0, inf)"),
    "segment by": ("--segment-by canberra", "--segment-by must be a distance of this search"),
    "n matches": ("--n-matches 0", "--n-matches: must be an integer of at least 1, or all. Got '0'."),
    "threshold": ("--threshold -1", "--threshold: must be a number in the range [0, inf). Got '-1'."),
    "picture folder": ("--output no/p.png", "--output must name a file in a folder that exists. Got 'no/p.png'."),
    "set window": ("--set 'dtw.window='\"'\"'itakura'\"'\"''", "--distance: The 'window' parameter must be"),
    "search": (
        "--query q.csv --sequence s.csv --distance mahalanobis --set mahalanobis.VI=[[1.0]]",
        "--distance mahalanobis: The 'VI' parameter",
    ),
}


@pytest.mark.parametrize(("line", "message"), WRONG.values(), ids=WRONG)
def test_wrong_options_are_refused_in_one_line(files, capsys, line, message):
    texts = {
        "empty": "",
        "ragged": "t,level\n0,1\n1,2\n2,3,4\n",
        "gap": "level\n1\nnan\n2\n",
        "noon": "t,level\nnoon,1\nnight,2\n",
        "below": "level,weight\n1,1\n2,-1\n",
        "times": "time\n1\n2\n",
    }
    for name, text in texts.items():
        (files / f"{name}.csv").write_text(text, encoding="utf-8")
    before = sorted(os.listdir())
    out, err = printed(capsys, line, code=2)
    assert out == ""
    assert sorted(os.listdir()) == before
    assert err.splitlines()[-1].startswith("sktslib: error: ")
    assert message in err.splitlines()[-1]
    assert len(err.splitlines()) == 1 or "compiles kernels" in err.splitlines()[1]


@pytest.mark.parametrize(
    ("before", "line", "end"), [("", 1, ""), ("level\n1\n2\n", 4, "\n3\n"), ("level\r\n", 2, "\r\n")]
)
def test_a_line_of_any_length_is_not_read_whole(files, capsys, before, line, end):
    path = files / "long.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(before)
        file.writelines(["0.125," * 2**17] * 30)  # 24 MB
        file.write(end)
    tracemalloc.start()
    assert main(["--query", "q.csv", "--sequence", "long.csv"]) == 2
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    message = capsys.readouterr().err
    assert f"lines of at most {text_files.LONGEST_LINE} characters" in message
    assert f"Got a longer one, line {line}." in message
    assert peak < path.stat().st_size / 2


@pytest.mark.parametrize("longest", [7, 8, 9, 40])
def test_lines_up_to_the_limit_are_read(files, monkeypatch, longest):
    monkeypatch.setattr(text_files, "LONGEST_LINE", longest)
    (files / "some.csv").write_text("t,level\n0,1.5\n1,23.5\n2,345.25\n", encoding="utf-8")  # the last line has 8
    if longest < 8:
        with pytest.raises(ValueError, match=r"at most 7 characters.*a longer one, line 4"):
            read_text("some.csv", Reading())
    else:
        frame = read_text("some.csv", Reading()).frame
        assert frame["level"].tolist() == [1.5, 23.5, 345.25]

"""The command line, run in-process: tables, pictures, files and errors."""

import errno
import os
import re
import tracemalloc

import numpy as np
import pytest

from sktslib import load_ecg_example
from sktslib.__main__ import main
from sktslib.distances import get_metric
from sktslib.io import _tables as text_files
from sktslib.io._tables import Reading, read_text

PNG = b"\x89PNG\r\n\x1a\n"


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
        assert main([]) == 0
    out = "".join(text for file, text in said if file is None)
    err = "".join(text for file, text in said if file is not None)
    return folder, out, err


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
    assert out.endswith("\npicture: sktslib.png\n")
    assert "compiles kernels (once)" in err
    assert (folder / "sktslib.png").read_bytes().startswith(PNG)


# ------------------------------------------------------------------------------------------------- files and outputs
def test_a_reader_that_stops_early_is_no_error(files, monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", pipe)
        assert main(["search", "rec.csv", "--query", "beat.csv", "--metric", "euclidean"]) == 0


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
    assert main(["search", "long.csv", "--query", "beat.csv"]) == 2
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

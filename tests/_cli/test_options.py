"""Wrong use, values and help of the command line."""

import os
import subprocess
import sys

import pytest
from command_runs import printed

from sktslib.__main__ import main
from sktslib._cli import commands
from sktslib._cli.commands import parse_metric

# ------------------------------------------------------------------------------------------------------------- errors
SEARCH = "search rec.csv --query beat.csv"
WRONG = {
    "command": ("serach", "Unknown command 'serach'. Did you mean 'search'?"),
    "option": ("search rec.csv --querry a", "Did you mean --query? (sktslib search --help lists all options)"),
    "other option": ("evaluate rec.csv a.csv --labels a.csv --picture a", "--picture a (sktslib evaluate --help"),
    "two files": ("search rec.csv beat.csv", "arguments: beat.csv. The pattern is named with --query FILE"),
    "channels": ("search rec.csv --query beat.csv --channels mV", "--channels mV. Did you mean --columns?"),
    "model file": ("segment rec.csv m.skops", "arguments: m.skops. The model is named with --model m.skops ("),
    "unit": ("search rec.csv --query :0.5-1.2", "Got 'rec.csv:0.5-1.2': No such file or directory. Did you mean"),
    "no unit": ("search rec.csv --query :0.5-1.2", "The unit is missing: 0.5-1.2s."),
    "two series": ("distance two.csv rec.csv", "the first file has 2 (mV, double) and the second file 1 (mV)."),
    "nothing": ("search", "the following arguments are required: RECORDING"),
    "no query": ("search rec.csv", "one of --query and --model must be given. Got neither."),
    "both": ("search rec.csv --query a --model b", "must be given. Got both."),
    "no file": ("search no.csv --query beat.csv", "the recording must name a readable file. Got 'no.csv'"),
    "slice": ("search rec.csv --query rec.csv:1x-2x", "A part of a file is written FILE:START-STOP in samples"),
    "no colon": ("search rec.csv --query 0.5s-1.2s", "A part of a file is written FILE:START-STOP in samples"),
    "column": ("search rec.csv --query beat.csv --columns mv", "--columns must name a column. Got 'mv'"),
    "metric": ("search rec.csv --query beat.csv --metric dwt", "--metric: Unknown metric 'dwt'. Did you"),
    "key": ("search rec.csv --query beat.csv --metric dtw:windw=1", "Did you mean 'window'?"),
    "form": ("search rec.csv --query beat.csv --metric dtw:1", "must have the form NAME or NAME:KEY=VALUE"),
    "value": ("search rec.csv --query beat.csv --normalize z", "error: --normalize must be one of {"),
    "threshold": (f"{SEARCH} --threshold -1", "fdr:ALPHA, conformal:ALPHA, percentile:Q or None. Got -1 instead."),
    "text": (f"{SEARCH} --threshold abc", "be a number, fdr:ALPHA or conformal:ALPHA, as fdr:0.05. Got 'abc'."),
    "alpha": (f"{SEARCH} --threshold fdr:2", "--threshold: ALPHA must be a number in the range (0.0, 1.0). Got 2.0"),
    "count": (f"{SEARCH} --n-matches x", "{'auto'}, a whole number in the range [1, inf) or None. Got 'x' instead."),
    "gap": ("search gap.csv --query beat.csv", "gap.csv: the recording must be finite. Got 1 NaN of 4 values"),
    "way out": ("search gap.csv --query beat.csv", "To leave out what is NaN, set --nan-policy omit."),
    "picture": ("search rec.csv --query beat.csv --picture a.foo", "--picture must end in one of"),
    "model": ("search rec.csv --model no", "--model must name a file that `sktslib learn` saved. Got 'no'"),
    "trust": ("search rec.csv --query beat.csv --trust", "--trust needs --model"),
    "fixed": ("search rec.csv --model m --threshold 1", "--threshold must be left out with --model"),
    "labels": ("learn rec.csv --labels no --output m.joblib", "that exists, or a column. Got 'no'; the recording has"),
    "no labels": ("learn rec.csv --labels flat.csv --output m.joblib", "none of the 1 ranges is in the recording"),
    "one label": ("learn two.csv --labels double --output no/m.joblib", "--output must name a file in a folder"),
    "empty file": ("search rec.csv --query empty.csv", "--query: 'empty.csv': the file must hold at least"),
    "ragged": ("search rec.csv --query ragged.csv", "file. Got 'ragged.csv': Expected 2 fields in line 4, saw 3"),
    "times": ("search noon.csv --query beat.csv", "12:30. Got 'noon' in row 1 (about line 2). Correct that"),
    "weights": ("search rec.csv --query below.csv", "'--weight-column' must not be negative. Got"),
    "no channel": ("search rec.csv --query times.csv", "--columns must name at least one column of values."),
    "weight column": (f"{SEARCH} --weight-column w", "--weight-column must name a column. Got 'w'"),
    "part": (f"{SEARCH} --time-range 1s-2s", "--time-range needs --picture, of which it is the part that is shown."),
    "form of a part": (f"{SEARCH} --picture p.png --time-range 1to2", "must be written START-STOP in samples (0-7200)"),
    "part elsewhere": (f"{SEARCH} --picture p.png --time-range 1h-2h", "a slice must be within the recording"),
    "picture folder": ("demo --output no/p.png", "--output must name a file in a folder that exists. Got 'no/p.png'."),
    "demo of files": ("--query q.csv", "unrecognized arguments: --query q.csv"),
    "zone": ("search rec.csv --query beat.csv --time-column tmie", "Did you mean 'time'?"),
}


@pytest.mark.parametrize(("line", "message"), WRONG.values(), ids=WRONG)
def test_wrong_use_is_one_line_and_exit_code_2(files, capsys, line, message):
    texts = {
        "gap": "time,mV\n0,1\n1,\n2,3\n3,4\n",
        "flat": "start,end\n9000,9005\n",
        "empty": "",
        "ragged": "t,mV\n0,1\n1,2\n2,3,4\n",
        "noon": "t,mV\nnoon,1\nnight,2\n",
        "below": "mV,weight\n1,1\n2,-1\n",
        "times": "time\n1\n2\n",
    }
    for name, text in texts.items():
        (files / f"{name}.csv").write_text(text, encoding="utf-8")
    before = sorted(os.listdir())
    out, err = printed(capsys, line, code=2)
    assert out == ""
    assert sorted(os.listdir()) == before
    last = err.splitlines()[-1]
    assert last.startswith("sktslib: error: ")
    assert message in last


def test_values_on_the_command_line():
    assert parse_metric("dtw:alpha=0.7,window=0.1") == ("dtw", {"alpha": 0.7, "window": 0.1})
    assert parse_metric("mahalanobis:VI=[[1,0],[0,1]]") == ("mahalanobis", {"VI": [[1, 0], [0, 1]]})
    assert parse_metric("Euclidean Distance") == ("Euclidean Distance", {})
    assert parse_metric("dtw:window=none,do_dist_norm=true") == ("dtw", {"window": None, "do_dist_norm": True})


def test_a_bar_is_for_somebody_who_looks(monkeypatch):
    monkeypatch.setattr(commands.sys, "stderr", None)  # as under pythonw
    assert not commands.is_terminal()


def test_an_interrupt_is_quiet(monkeypatch, capsys):
    def interrupt(argv):
        raise KeyboardInterrupt

    monkeypatch.setattr("sktslib.__main__.run", interrupt)
    assert main([]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "argv",
    ["--help", "--version", "search --help", "learn --task search --help", "search a.csv --querry b.csv", "serach"],
)
def test_help_and_errors_of_options_import_nothing_heavy(argv):
    code = (
        "import sys; from sktslib.__main__ import main\n"
        f"try: main({argv.split()})\n"
        "except SystemExit: pass\n"
        "heavy = {'matplotlib', 'pandas', 'numba', 'sklearn', 'scipy', 'numpy'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    if argv == "--help":
        names = "show search segment count learn view evaluate distance metrics demo".split()
        for name in names:
            assert f"\n  {name} " in done.stdout
    assert ("usage: sktslib" in done.stdout) is ("--help" in argv)
    assert ("came with the package" in done.stdout) is (argv == "--version")
    assert ("Did you mean" in done.stderr) is ("--help" not in argv and argv != "--version")

"""What the README and the page of the command line say to type, typed."""

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from sktslib import load_ecg_example
from sktslib.__main__ import main
from sktslib._cli.commands import COMMANDS, parse

ROOT = Path(__file__).resolve().parents[2]
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/command_line.rst")}
LINES = sorted(
    {
        re.sub(r" {2,}.*", "", line.strip())  # what stands apart behind it explains it
        for text in PAGES.values()
        for line in text.splitlines()
        if re.match(r"(   )?sktslib ", line)
    }
)


def test_every_command_is_shown():
    assert {line.split()[1] for line in LINES if line != "sktslib"} == set(COMMANDS)


@pytest.mark.parametrize("line", LINES)
def test_commands_of_the_pages_are_understood(line):
    command, options = parse(shlex.split(line.partition(" > ")[0])[1:])
    assert callable(command)
    assert vars(options)


def test_the_example_of_the_page_prints_what_the_page_says(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    text = PAGES["docs/command_line.rst"]
    line, shown = re.search(r"(sktslib search sktslib/.*)\n\nprints\n\n.*\n\n((?:   .*\n)+)", text).groups()
    assert main(shlex.split(line)[1:]) == 0
    out, err = capsys.readouterr()
    assert [row.strip() for row in (err + out).splitlines()] == [row.strip() for row in shown.splitlines()]


def test_files_of_a_newcomer(tmp_path, monkeypatch, capsys):
    """The commands of the README on files as a spreadsheet writes them."""
    monkeypatch.chdir(tmp_path)
    ecg = load_ecg_example()
    frame = pd.DataFrame({"Zeit": ecg.ts[:480], "EKG [mV]": ecg.sequence[:480].round(4), "Bemerkung": ""})
    frame.to_csv("day.csv", sep=";", decimal=",", index=False, encoding="utf-8-sig")
    pd.DataFrame({"EKG [mV]": ecg.query.round(4)}).to_csv("beat.csv", sep=";", decimal=",", encoding="utf-8-sig")
    commands = re.findall(r"^sktslib search day.csv.*$", PAGES["README.md"], flags=re.MULTILINE)
    assert len(commands) == 2
    assert main([*shlex.split(commands[0])[1:], "--metric", "euclidean", "--n-matches", "3"]) == 0
    out, err = capsys.readouterr()
    assert "columns compared: EKG [mV]" in err
    assert out.splitlines()[1].split()[1:3] == ["24", "89"]
    assert (tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")
    assert main([*shlex.split(commands[1].replace("12.5s-13.1s", "0,2s-0,74s"))[1:], "--metric", "euclidean"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[1:3] == ["24", "89"]

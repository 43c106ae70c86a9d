"""What tests of commands share: the electrocardiogram in files, and what a command prints."""

import io
import shlex

import numpy as np
import pandas as pd
import pytest

from sktslib import load_ecg_example
from sktslib.__main__ import main
from sktslib._cli.recordings import Files
from sktslib.io._tables import Reading

ECG = load_ecg_example()
N = 600  # five seconds are quick without the compiler
Y, TS = ECG.sequence[:N], ECG.ts[:N]
ZONED = pd.date_range("2024-03-31 01:59:58", periods=N, freq="10ms", tz="Europe/Berlin")


def printed(capsys, line, *argv, code=0):
    """What a command line, or its first words and further ones, prints."""
    assert main([*shlex.split(line), *argv]) == code
    return capsys.readouterr()


def table(capsys, line, *argv, code=0):
    """The table that a command prints, and what it says beside it."""
    out, err = printed(capsys, line, *argv, "--format", "csv", code=code)
    return pd.read_csv(io.StringIO(out)), err


def same(frame, found, names=("start", "end", "distance")):
    """A table is that of matches or segments."""
    expected = found.to_frame()
    for name in names:
        np.testing.assert_array_equal(frame[name], expected[name])


def read(path, **how):
    """A recording in a file."""
    return Files(Reading(**how)).read(str(path), "--query")


def refused(message, path, **how):
    """A file that is not read, and why."""
    with pytest.raises(ValueError, match=message):
        read(path, **how)

"""Packed files: what they hold, and what is said where they are cut off or cannot be unpacked."""

import bz2
import gzip
import lzma
import os

import numpy as np
import pytest
from command_runs import read, refused

VALUES = np.random.default_rng(0).normal(size=9000)  # some blocks of bytes that are unpacked at a time
TEXT = ("v\n" + "\n".join(map(str, VALUES)) + "\n").encode()


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_files_that_are_cut_off_are_refused(tmp_path, kind):
    content = {"gz": gzip, "bz2": bz2, "xz": lzma}[kind].compress(TEXT)
    (tmp_path / f"a.csv.{kind}").write_bytes(content)
    assert read(tmp_path / f"a.csv.{kind}").values[:, 0].tolist() == VALUES.tolist()
    (tmp_path / f"a.csv.{kind}").write_bytes(content[:-9])
    refused(r"--query must name a readable file. Got .*ended before", tmp_path / f"a.csv.{kind}")


def test_packed_otherwise(tmp_path):
    (tmp_path / "a.7z").write_bytes(b"x")
    refused(r"packed as .7z cannot be read. Unpack it, or pack it as .*\.xz .zip", tmp_path / "a.7z")


def test_a_pipe_cannot_be_read_twice(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refused("a pipe or the standard input cannot be read twice", tmp_path / "pipe")

"""Packed files: what they hold, and what is said where they are cut off or cannot be unpacked."""

import builtins
import os

import numpy as np
import pytest
from command_runs import read, refused

VALUES = np.random.default_rng(0).normal(size=9000)  # some blocks of bytes that are unpacked at a time
TEXT = ("v\n" + "\n".join(map(str, VALUES)) + "\n").encode()


@pytest.fixture
def zstandard():
    return pytest.importorskip("zstandard")


def test_zstandard_is_unpacked(tmp_path, zstandard):
    compress = zstandard.ZstdCompressor().compress
    half = len(TEXT) // 2
    for name, content in {"one": compress(TEXT), "two frames": compress(TEXT[:half]) + compress(TEXT[half:])}.items():
        (tmp_path / f"{name}.csv.zst").write_bytes(content)
        assert read(tmp_path / f"{name}.csv.zst").values[:, 0].tolist() == VALUES.tolist()


def test_files_that_are_cut_off_are_refused(tmp_path, zstandard):
    content = zstandard.ZstdCompressor().compress(TEXT)
    (tmp_path / "a.csv.zst").write_bytes(content[:-9])
    refused(r"--query must name a readable file. Got .*the packed file ends before", tmp_path / "a.csv.zst")
    (tmp_path / "a.csv.zst").write_bytes(b"v\n1\n2\n")
    refused("the packed file cannot be unpacked", tmp_path / "a.csv.zst")


def test_the_package_that_unpacks_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.csv.zst").write_bytes(b"x")
    whole = builtins.__import__

    def without(name, *rest):
        if name == "zstandard":
            raise ImportError("No module named 'zstandard'")
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    refused(r"need zstandard, .*: pip install zstandard, or unpack the file", tmp_path / "a.csv.zst")


def test_packed_otherwise(tmp_path):
    (tmp_path / "a.7z").write_bytes(b"x")
    refused(r"packed as .7z cannot be read. Unpack it, or pack it as .*\.zst .zip", tmp_path / "a.7z")


def test_a_pipe_cannot_be_read_twice(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refused("a pipe or the standard input cannot be read twice", tmp_path / "pipe")

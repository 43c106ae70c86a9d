"""Fixtures of the tests of commands."""

import pytest
from command_runs import write_electrocardiogram

from sktslib._cli import output, searching


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Stand in a folder with the electrocardiogram."""
    monkeypatch.chdir(tmp_path)
    write_electrocardiogram()
    return tmp_path


@pytest.fixture
def drawn(monkeypatch):
    """Pictures that the commands draw."""
    pictures, own = [], output.draw
    monkeypatch.setattr(searching, "draw", lambda *args, **rest: pictures.append(own(*args, **rest)) or pictures[-1])
    return pictures

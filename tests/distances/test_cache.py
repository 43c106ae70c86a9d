"""Compiled kernels on disk: whatever happens to the files, the numbers are right."""

import errno
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.extending import overload

from sktslib.distances._kernels import cache as store
from sktslib.distances._kernels.compile import inner, interrupts_held, kernel

needs_compiler = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled, so nothing is kept")


def double(a):
    return 2.0 * a


def triple(a):
    return 3.0 * a


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The only folder for kernels, empty."""
    monkeypatch.setattr(store, "folders", lambda: [tmp_path / "kernels"])
    monkeypatch.setattr(store, "_warned", [])
    return tmp_path / "kernels"


def called(function, value=1.5):
    """What a fresh process would get from a kernel, and whether it was found on disk."""
    made = kernel(function)
    return made(value), sum(made.stats.cache_hits.values()) == 1


def files(folder, name=""):
    return [path for path in folder.rglob("*") if path.is_file() and path.name.startswith(name)]


@needs_compiler
def test_a_kernel_is_found_again(folder):
    assert called(double) == (3.0, False)
    assert called(double) == (3.0, True)
    assert called(double, 2) == (4.0, False)  # of integers it is another
    assert called(double, 2) == (4.0, True)
    assert len(files(folder)) == 2


@inner
def refused(a):
    if a > 2.0:
        raise ValueError("too large", a)
    return a


@needs_compiler
def test_functions_that_kernels_call_work_in_every_process(folder):
    def call(a):
        return refused(a)

    for found in (False, True):  # what an error is made of belongs to the process
        assert called(call) == (1.5, found)
        with pytest.raises(ValueError, match=r"'too large', 3\.5"):
            kernel(call)(3.5)


def inverse(a):
    return 1.0 / a


@overload(inverse)
def _inverse(a):
    return lambda a: 1.0 / a


@needs_compiler
def test_what_is_known_of_a_function_is_not_known_for_other_options(folder):
    """Functions of numba's are compiled with the options of the kernel; what is remembered of them must tell those."""

    def call(a):
        return inverse(a)

    for _ in range(2):
        assert kernel(call, error_model="numpy", keep=False)(0.0) == np.inf
        with pytest.raises(ZeroDivisionError):
            kernel(call, keep=False)(0.0)


@needs_compiler
def test_a_kernel_may_call_one_that_was_found(folder):
    """Files hold nothing of which a compiler could make use."""
    called(double)
    found = kernel(double)
    assert found(1.5) == 3.0

    def call(a):
        return found(a) + 1.0

    assert called(call) == (4.0, False)
    assert called(call) == (4.0, True)
    assert sum(found.stats.cache_hits.values()) == 1
    assert not found.stats.cache_misses


@needs_compiler
@pytest.mark.parametrize("damage", ["cut", "cut to its mark", "empty", "flipped", "flipped early", "noise", "a folder"])
def test_a_damaged_file_is_written_anew(folder, damage):
    called(double)
    (path,) = files(folder)
    whole = path.read_bytes()
    if damage == "a folder":
        path.unlink()
        path.mkdir()
        with pytest.warns(RuntimeWarning, match="cannot be kept on disk"):
            assert called(double) == (3.0, False)
        return
    k = len(whole) // 2 if damage == "flipped" else 30
    path.write_bytes(
        {
            "cut": whole[: len(whole) // 2],
            "cut to its mark": whole[: len(store.MARK)],
            "empty": b"",
            "flipped": whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :],
            "flipped early": whole[:k] + bytes([whole[k] ^ 128]) + whole[k + 1 :],
            "noise": os.urandom(1000),
        }[damage]
    )
    assert called(double) == (3.0, False)
    assert called(double) == (3.0, True)


@needs_compiler
def test_a_file_of_another_kernel_is_not_believed(folder):
    called(double)
    called(triple)
    (one,), (other,) = files(folder, "double"), files(folder, "triple")
    content = one.read_bytes(), other.read_bytes()
    one.write_bytes(content[1])
    other.write_bytes(content[0])
    assert called(double) == (3.0, False)
    assert called(triple) == (4.5, False)
    assert called(triple) == (4.5, True)


@needs_compiler
def test_other_sources_are_other_kernels(folder, monkeypatch):
    called(double)
    monkeypatch.setattr(store, "stamp", lambda: "another")
    assert called(double) == (3.0, False)
    assert len({path.parent for path in files(folder)}) == 2


@needs_compiler
def test_no_folder_takes_them(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(store, "folders", lambda: [tmp_path / "file" / "a", tmp_path / "file" / "b"])
    monkeypatch.setattr(store, "_warned", [])
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR") as caught:
        assert called(double) == (3.0, False)
        assert called(triple) == (4.5, False)
    assert len(caught) == 1


@needs_compiler
def test_the_next_folder_takes_them(tmp_path, monkeypatch):
    """As where the package is installed read-only; what can be read there is."""
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(store, "folders", lambda: [tmp_path / "file" / "a", tmp_path / "b"])
    assert called(double) == (3.0, False)
    assert called(double) == (3.0, True)


@needs_compiler
def test_a_full_disk(folder, monkeypatch):
    class Full(io.FileIO):
        def write(self, data):
            super().write(data[:100])
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="No space left"):
        patch.setattr(store.os, "fdopen", Full)
        assert called(double) == (3.0, False)
    assert files(folder) == []
    assert called(double) == (3.0, False)
    assert called(double) == (3.0, True)


@needs_compiler
def test_kernels_of_sources_long_gone_are_removed(folder):
    old, new = folder / "kernels-old", folder / "kernels-new"
    for other in (old, new):
        other.mkdir(parents=True)
        (other / "double-1").write_bytes(b"")
    os.utime(old, (time.time() - store.AGE - 10,) * 2)
    called(double)
    assert not old.exists()
    assert new.exists()


@pytest.mark.skipif(os.name != "posix", reason="files have no mode")
def test_files_can_be_read_by_whom_the_umask_lets(tmp_path):
    """What an administrator has compiled serves all users."""
    before = os.umask(0o022)
    try:
        store.write(tmp_path / "file", b"data")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


def test_the_folder_that_was_set_comes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert store.folders()[0] == tmp_path / "sktslib"
    assert store.PACKAGE / "__pycache__" in store.folders()
    assert len(store.stamp()) == 16


# ------------------------------------------------------------------------------------------------------- interrupts
@pytest.fixture
def _interrupts():
    """Ctrl-C as in a terminal; test processes beside each other ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interrupts")
def test_an_interrupt_waits_for_the_compiler():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        signal.raise_signal(signal.SIGINT)
        done.append("the rest of the block")
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@needs_compiler
@pytest.mark.usefixtures("_interrupts")
def test_an_interrupted_kernel_is_whole(folder, monkeypatch):
    made = kernel(double)
    save = made._cache.save_overload
    monkeypatch.setattr(made._cache, "save_overload", lambda *args: (signal.raise_signal(signal.SIGINT), save(*args)))
    with pytest.raises(KeyboardInterrupt):
        made(1.5)
    assert made(1.5) == 3.0
    assert called(double) == (3.0, True)


# -------------------------------------------------------------------------------------------------------- processes
TASK = """
import warnings
warnings.simplefilter("error")
import numpy as np
from sktslib.distances._kernels import scalar
values = np.zeros(6)
path, steps = scalar.backtrack(np.array([[0, 1], [2, 0]], np.uint8), 1, 1)
print(path.tolist(), sum(scalar._backtrack.stats.cache_hits.values()))
"""


def start(folder, before=""):
    here = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", before + TASK], env=here, text=True, **pipes)


@pytest.mark.slow
@needs_compiler
def test_several_processes_on_one_empty_folder(tmp_path):
    """One of them is killed on its way."""
    running = [start(tmp_path) for _ in range(3)]
    running[0].kill()
    for process in running[1:]:
        assert process.communicate()[0].startswith("[[0, 1], [0, 1]]")
        assert process.returncode == 0
    running[0].communicate()
    assert start(tmp_path).communicate()[0].split() == ["[[0,", "1],", "[0,", "1]]", "1"]


@pytest.mark.slow
@needs_compiler
def test_an_unknown_numba_compiles_all_in_each_process(tmp_path):
    out, err = start(tmp_path, "import numba.core.runtime as runtime; del runtime.rtsys\n").communicate()
    assert out.split() == ["[[0,", "1],", "[0,", "1]]", "0"]
    assert "numba is unknown" in err
    assert not files(tmp_path)


def test_kernels_lie_in_one_folder():
    """Whose files are the key under which they are kept."""
    words = ("@kernel", "@inner", "compiled_as(", "@overload", "@recurrence(", "@additive(")
    own = {"distances/_metrics/registry.py"}  # the caller's functions, which are not kept
    package = Path(store.PACKAGE)
    made = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(line.lstrip().startswith(words) for line in path.read_text(encoding="utf-8").splitlines())
    }
    assert {name for name in made if not name.startswith("distances/_kernels/")} == own

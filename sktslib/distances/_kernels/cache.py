"""Compiled kernels on disk: one file for each kernel and signature.

The cache of numba decides by the file that holds a kernel whether its compiled form is still good, and trusts the data
it reads. Here the folder is named after all sources that kernels are made of, the versions and the processor. A file
holds a hash of its data, and the kernel that they belong to. A file that cannot be read, or that belongs to another
kernel, is compiled again.
"""

import hashlib
import os
import pickle
import secrets
import stat
import sys
import tempfile
import time
import warnings
from functools import cache
from importlib.resources import files
from pathlib import Path

import llvmlite
import numba
import numpy as np
from numba.core import sigutils
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

PACKAGE = Path(__file__).parents[2]
MARK = b"sktslib kernel 1\n"
NO_SWITCH = ("NUMBA_CACHE_DIR", "NUMBA_DEBUG_CACHE", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER")  # change no code
AGE = 90 * 24 * 3600  # seconds after which a folder of other sources is not missed


class KernelCache:
    """A cache of one compiled kernel, with the interface that numba's dispatcher expects."""

    def __init__(self, function):
        self._name = f"{function.__module__}.{function.__qualname__}"

    @property
    def cache_path(self):
        """The first writable folder, which numba shows in its statistics."""
        return str(folders()[0])

    def flush(self):
        """Forget nothing: numba calls this to compile again, which overwrites the files."""

    def _file(self, args, target_context):
        key = repr((self._name, args, target_context.codegen().magic_tuple()))
        name = f"{self._name.rsplit('.', 1)[-1]}-{hashlib.sha256(key.encode()).hexdigest()[:24]}"
        return f"kernels-{stamp()}", name

    def load_overload(self, signature, target_context):
        """Return the compiled form for a signature, or None."""
        target_context.refresh()
        args = tuple(sigutils.normalize_signature(signature)[0])
        folder, name = self._file(args, target_context)
        for place in folders():
            try:
                data = read(place / folder / name)
                owner, of, reduced = pickle.loads(data)
                if (owner, of) == (self._name, args):
                    return CompileResult._rebuild(target_context, *reduced)
            except Exception:  # whatever a missing or damaged file makes of it: the kernel is compiled
                continue
        return None

    def save_overload(self, signature, result):
        """Keep a compiled form, if its code means the same in other processes and there is a place for it."""
        if result.library.has_dynamic_globals or result.lifted:
            return
        args = tuple(sigutils.normalize_signature(signature)[0])
        folder, name = self._file(args, result.target_context)
        problem = None
        try:
            data = dumps((self._name, args, result._reduce()))
            for place in folders():
                try:
                    return write(place / folder, name, data)
                except OSError as error:
                    problem = problem or error
        except Exception as error:  # a caller's recurrence may refer to what cannot be pickled
            problem = error
        _warn(problem)


def _warn(problem):
    """Say once per process that nothing is kept."""
    if not _warned:
        _warned.append(problem)
        warnings.warn(
            "Compiled kernels cannot be kept on disk, so every process compiles them again. Set the environment "
            f"variable NUMBA_CACHE_DIR to a folder that can be written. The first problem: {problem}",
            RuntimeWarning,
            stacklevel=2,
        )


_warned = []


# ----------------------------------------------------------------------------------------------------- files and places
def read(path):
    """Return the data of a file, checked."""
    content = path.read_bytes()
    mark, digest, data = content[: len(MARK)], content[len(MARK) : len(MARK) + 32], content[len(MARK) + 32 :]
    if mark != MARK or digest != hashlib.sha256(data).digest():
        raise ValueError("not a whole file")
    return data


def write(folder, name, data):
    """Write a file so that it is there as a whole or not at all, whoever else writes it or is killed."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        _forget_old(folder)
    # Unlike the files of tempfile, it may be read by all that the umask lets: an installation has many users.
    temporary = folder / f"tmp{secrets.token_hex(8)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(MARK + hashlib.sha256(data).digest() + data)
        os.replace(temporary, folder / name)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _forget_old(folder):
    """Remove the kernels of sources that are long gone."""
    for other in folder.parent.glob("kernels-*"):
        try:
            if other != folder and time.time() - other.stat().st_mtime > AGE:
                for file in other.iterdir():
                    file.unlink()
                other.rmdir()
        except OSError:
            continue  # another user's, or another process is at it


def folders():
    """Return the folders that kernels are read from, the first that can be written taking new ones."""
    given = [Path(numba.config.CACHE_DIR) / "sktslib"] if numba.config.CACHE_DIR else []
    return [*given, *_own_folders()]


@cache
def _own_folders():
    found = [PACKAGE / "__pycache__"]
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        home = os.path.expanduser("~/Library/Caches")
    else:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if home and os.path.isabs(home):  # nobody's home stays "~"
        found.append(Path(home) / "sktslib")
    private = _private_folder()
    return (*found, private) if private else tuple(found)


def _private_folder():
    """Return a folder among the temporary files that is this user's alone, since who writes there has code run."""
    if not hasattr(os, "getuid"):
        return Path(tempfile.gettempdir()) / "sktslib"  # a user's own on Windows
    folder = Path(tempfile.gettempdir()) / f"sktslib-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    theirs = found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o022 or not stat.S_ISDIR(found.st_mode)
    return None if theirs else folder


def _sources(folder):
    """Yield the sources of kernels, in an order of their own; the package may be in an archive."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.is_dir():
            yield from _sources(path)
        elif path.name.endswith(".py"):
            yield path


@cache
def stamp():
    """Return a hash of all that decides what a kernel compiles to, but for its signature and the processor."""
    digest = hashlib.sha256()
    for path in _sources(files(__package__)):
        digest.update(path.read_bytes())
    versions = sys.version, numba.__version__, llvmlite.__version__, np.__version__
    named = (name for name in sorted(os.environ) if name.startswith(("NUMBA_", "SKTSLIB_")) and name not in NO_SWITCH)
    digest.update(repr((versions, [(name, os.environ[name]) for name in named])).encode())
    return digest.hexdigest()[:16]

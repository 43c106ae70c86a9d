"""Compiled kernels on disk: one file for each kernel and signature, and packs of these files in the wheel.

numba's own cache checks only the source file of a kernel to decide whether its compiled form is up to date, and trusts
the data that it reads. Here the folder is named after a hash of all sources of kernels, the versions and the switches,
and the file after the kernel, its signature and the processor. A file holds a hash of its data and the identity of the
kernel. If a file cannot be read or belongs to another kernel, the kernel is compiled again.

A pack is a whole folder as one file within the package, compiled for a common kind of processor. It is read if no
folder holds the kernel.
"""

import hashlib
import io
import logging
import os
import pickle
import platform
import secrets
import sys
import time
import warnings
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple
from zipfile import ZIP_LZMA, ZipFile, ZipInfo
from zipfile import Path as ZipPath

import llvmlite
import numba
import numpy as np
from llvmlite import binding

logger = logging.getLogger("sktslib")
PACKAGE = Path(__file__).parents[2]
PACKS = files(__package__) / "packs"
MARK = b"sktslib kernel 2\n"
NO_SWITCH = ("NUMBA_CACHE_DIR", "NUMBA_DEBUG_CACHE", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER")  # change no code
NO_SWITCH += ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")  # these are in the names of files
AGE = 90 * 24 * 3600  # seconds after which an unused folder of other sources is removed


def load(owner, processor, rebuild):
    """Load a kernel that was stored; return what `rebuild` makes of its data, or None if there is no valid file.

    Parameters
    ----------
    owner : tuple
        Name of the kernel and types of its arguments.
    processor : tuple of str
        Name and features of the processor that it is compiled for.
    rebuild : callable
        Function of the data that `save` stored.
    """
    places = [(processor, folder) for folder in folders()]
    if pack().files:
        places.append((KINDS[kind()].processor, pack().files))
    for compiled_for, place in places:
        try:
            found, kept = pickle.loads(checked((place / name_of(owner, compiled_for)).read_bytes()))
            if found == owner:
                return rebuild(kept)
        except Exception:  # whatever a missing or damaged file raises: the kernel is compiled
            continue
    return None


def save(owner, processor, dump):
    """Store the bytes that `dump(owner)` returns in the first writable folder; warn if no folder is writable."""
    problem = None
    try:
        data = dump(owner)
        for place in folders():
            try:
                return write(place / name_of(owner, processor), data)
            except OSError as error:
                problem = problem or error
    except Exception as error:  # a caller's recurrence may refer to what cannot be pickled
        problem = error
    _warn(problem)


def name_of(owner, processor):
    """Return the path of a kernel's file within a cache folder: the folder of these sources, and the file."""
    key = hashlib.sha256(repr((*owner, processor)).encode()).hexdigest()[:24]
    return f"kernels-{stamp()}/{owner[0].rsplit('.', 1)[-1]}-{key}"


def _warn(problem):
    """Warn once per process that compiled kernels are not stored."""
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
def checked(content):
    """Return the data within the content of a file; raise ValueError unless its hash matches."""
    mark, digest, data = content[: len(MARK)], content[len(MARK) : len(MARK) + 32], content[len(MARK) + 32 :]
    if mark != MARK or digest != hashlib.sha256(data).digest():
        raise ValueError("not a whole file")
    return data


def write(path, data):
    """Write a file atomically: whole or not at all, even if other processes write it or this one is killed."""
    folder = path.parent
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        _forget_old(folder)
    # Unlike files of tempfile, its permissions follow the umask: users of an installation share the files.
    temporary = folder / f"tmp{secrets.token_hex(8)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(MARK + hashlib.sha256(data).digest() + data)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _forget_old(folder):
    """Remove kernels of other sources that were last written more than `AGE` seconds ago."""
    for other in folder.parent.glob("kernels-*"):
        try:
            if other != folder and time.time() - other.stat().st_mtime > AGE:
                for file in other.iterdir():
                    file.unlink()
                other.rmdir()
        except OSError:
            continue  # the folder is another user's, or another process removes it


def folders():
    """Return the folders that kernels are read from; new kernels are written to the first one that is writable."""
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
    if home and os.path.isabs(home):  # "~" remains where the home folder is unknown
        found.append(Path(home) / "sktslib")
    return found


def _sources(folder):
    """Yield the source files of kernels, sorted by name; the package may be in an archive."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.is_dir():
            yield from _sources(path)
        elif path.name.endswith(".py"):
            yield path


@cache
def stamp():
    """Return a hash of everything that a compiled kernel depends on, except its signature and the processor."""
    digest = hashlib.sha256()
    for path in _sources(files(__package__)):
        digest.update(path.read_bytes())
    named = (name for name in sorted(os.environ) if name.startswith(("NUMBA_", "SKTSLIB_")) and name not in NO_SWITCH)
    digest.update(repr((versions(), [(name, os.environ[name]) for name in named])).encode())
    return digest.hexdigest()[:16]


def versions():
    """Return the versions that compiled kernels depend on; of numpy the major one, which fixes the array layout."""
    python = f"{platform.python_implementation()} {platform.python_version().rpartition('.')[0]}"
    return {
        "Python": f"{python} ({EXTENSION_SUFFIXES[0]}, {platform.machine()})",
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": np.__version__.partition(".")[0],
    }


# --------------------------------------------------------------------------------------------------------------- packs
class Kind(NamedTuple):
    """A kind of processors: names of the machine, LLVM's name, and the features that each of them has."""

    machines: tuple
    name: str
    features: tuple = ()

    @property
    def processor(self):
        """Name and features as numba takes them in NUMBA_CPU_NAME and NUMBA_CPU_FEATURES."""
        return self.name, ",".join(f"+{name}" for name in self.features)


X86 = ("x86_64", "amd64")
V3 = ("cx16", "popcnt", "sahf", "sse3", "ssse3", "sse4.1", "sse4.2")
V3 += ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")
V4 = (*V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
KINDS = {
    "x86-64-v4": Kind(X86, "x86-64-v4", V4),
    "x86-64-v3": Kind(X86, "x86-64-v3", V3),
    "aarch64": Kind(("aarch64", "arm64"), "generic"),
}


def runs_on(kind, machine, features):
    """Return whether a machine with these features runs code that is compiled for a kind."""
    return machine.lower() in kind.machines and all(features.get(name) for name in kind.features)


def kind_of(machine, features):
    """Return the name of the first kind that a machine belongs to, or None.

    The machine must use vectors of the same size as the kind, which depends on AVX-512.
    """
    for name, kind in KINDS.items():
        if runs_on(kind, machine, features) and bool(features.get("avx512f")) == ("avx512f" in kind.features):
            return name
    return None


@cache
def kind():
    """Return the name of this processor's kind; None if it has none or numba is set to compile for another one."""
    if numba.config.CPU_NAME is not None or numba.config.CPU_FEATURES is not None:
        return None
    return kind_of(platform.machine(), binding.get_host_cpu_features())


class Pack(NamedTuple):
    """Compiled kernels within the package: the root of the archive, or None if they are not used; and a message."""

    files: ZipPath | None
    text: str


@cache
def pack():
    """Return the pack for this processor, read into memory, so that forked processes share no open file."""
    try:
        content = (PACKS / f"{kind()}.pack").read_bytes()
    except OSError:
        return Pack(None, "No compiled kernels came with the package for this processor: first calls compile them.")
    try:
        archive = ZipFile(io.BytesIO(checked(content)))
    except Exception as problem:
        found = Pack(None, f"The compiled kernels that came with the package are damaged, and not used: {problem}.")
        logger.warning(found.text)
        return found
    names = archive.namelist()
    if any(name.startswith(f"kernels-{stamp()}/") for name in names):
        found = Pack(
            ZipPath(archive), f"{len(names)} compiled kernels for {kind()} came with the package, and are used."
        )
    else:
        others = f"{archive.comment.decode()}, without variables NUMBA_* and SKTSLIB_*"
        found = Pack(None, f"The compiled kernels that came with the package are not used: they are for {others}.")
    logger.info(found.text)
    return found


def write_pack(folder, path):
    """Write the kernels of these sources that a folder holds as a pack."""
    content = io.BytesIO()
    with ZipFile(content, "w", ZIP_LZMA) as archive:
        archive.comment = ", ".join(f"{name} {version}" for name, version in versions().items()).encode()
        for file in sorted(folder.glob(f"kernels-{stamp()}/*")):
            archive.writestr(ZipInfo(f"{file.parent.name}/{file.name}"), file.read_bytes(), ZIP_LZMA)
    write(path, content.getvalue())

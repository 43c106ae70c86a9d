"""Kernels that come with the package: used where they are for this processor and these versions, and nowhere else."""

import json
import logging
import os
import platform
import subprocess
import sys
from functools import cache
from types import SimpleNamespace

import numba
import pytest
from llvmlite import binding

from sktslib.distances._kernels import cache as store
from sktslib.distances._kernels.cache import KINDS, V3, V4, kind_of, runs_on
from sktslib.distances._kernels.compile import kernel

HERE = [name for name, kind in KINDS.items() if runs_on(kind, platform.machine(), binding.get_host_cpu_features())]
needs_compiler = pytest.mark.skipif(
    numba.config.DISABLE_JIT or not HERE, reason="nothing is compiled, or this processor is of no kind"
)
# A product of four rows and a step of a path, after what a test says of the process; what it prints is compared.
TASK = """
import json, logging, sys, warnings
from pathlib import Path
from llvmlite import binding
warnings.simplefilter("error")
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
features = binding.get_host_cpu_features()
"""
CALLS = """
from sktslib.distances._kernels import cache, scalar
cache.PACKS = Path(sys.argv[1])
import numpy as np
from sktslib.distances import get_metric
x, y = np.random.default_rng(0).normal(size=(2, 70))
path, steps = scalar.backtrack(np.array([[0, 1], [2, 0]], np.uint8), 1, 1)
distance = get_metric("canberra")(x, y)
from sktslib.distances._kernels.lockstep import _distance
stats = [k.stats for k in (scalar._backtrack, _distance)]
print(json.dumps([path.tolist(), distance.hex(), *(sum(sum(getattr(s, n).values()) for s in stats)
    for n in ("cache_misses", "cache_hits"))]))
"""


class Process:
    """A process with a folder for kernels of its own; `said` is what it logs."""

    def __init__(self, folder, packs, before="", **environment):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "SKTSLIB_"))}
        here = {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path), "XDG_CACHE_HOME": str(folder)}
        code, pipes = TASK + before + CALLS, {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(packs)], env=kept | here | environment, **pipes
        )

    def end(self):
        """Return the results, to the bit, and how many kernels were compiled and loaded."""
        out, self.said = self.process.communicate()
        assert self.process.returncode == 0, self.said
        path, distance, compiled, loaded = json.loads(out)
        return (path, distance), compiled, loaded


def told(kind):
    """What numba is told to compile for a kind."""
    return dict(zip(("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"), KINDS[kind].processor, strict=True))


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    """A folder with packs of all kinds that run here, and the results of what was packed."""
    folder = tmp_path_factory.mktemp("packs")
    results, kept = {}, {k: os.environ.pop(k) for k in list(os.environ) if k.startswith(("NUMBA_", "SKTSLIB_"))}
    store.stamp.cache_clear()
    try:
        for kind in HERE:
            results[kind], compiled, loaded = Process(folder / kind, folder, **told(kind)).end()
            assert (compiled, loaded) == (2, 0)
            store.write_pack(folder / kind / "sktslib", folder / f"{kind}.pack")
    finally:
        os.environ.update(kept)
        store.stamp.cache_clear()
    return folder, results


AS_V3 = "".join(f"features[{name!r}] = False\n" for name in V4 if name not in V3)
AS_V3 += "binding.get_host_cpu_features = lambda: features\n"


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("kind", HERE)
def test_a_pack_gives_what_is_compiled_for_its_kind(packs, tmp_path, kind):
    """To the bit, to two processes at once; the installation is one that cannot be written."""
    folder, results = packs
    (tmp_path / "file").write_text("no folder")
    running = [Process(tmp_path / "file", folder, AS_V3 if kind == "x86-64-v3" else "") for _ in range(2)]
    for process in running:
        assert process.end() == (results[kind], 0, 2)
        assert f"INFO 2 compiled kernels for {kind} came with the package, and are used." in process.said


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(HERE == ["aarch64"], reason="all processors of that kind have what it needs")
def test_a_processor_of_no_kind_compiles(packs, tmp_path):
    """With Python that knows none of its features; what runs is compiled for those it has."""
    folder, results = packs
    process = Process(tmp_path, folder, "binding.get_host_cpu_features = lambda: type(features)()\n")
    (path, distance), compiled, loaded = process.end()
    assert (path, compiled, loaded) == (results[HERE[0]][0], 2, 0)
    assert float.fromhex(distance) == pytest.approx(float.fromhex(results[HERE[0]][1]), rel=1e-12)
    assert "came with the package" not in process.said


# --------------------------------------------------------------------------------------------------------- this process
def double(a):
    return 2.0 * a


def called():
    """What a fresh process would get from a kernel, and whether it was found."""
    for function in (store.pack, store.stamp, store.kind):
        function.cache_clear()
    made = kernel(double)
    return made(1.5), sum(made.stats.cache_hits.values()) == 1


@pytest.fixture
def pack(tmp_path, monkeypatch, caplog):
    """A pack for this very processor and the kernel, and no other place that has it."""
    from numba.core.registry import cpu_target

    processor = cpu_target.target_context.codegen().magic_tuple()[1:]
    made = SimpleNamespace(machines=(platform.machine().lower(),), features=(), processor=processor)
    monkeypatch.setattr(store, "KINDS", {"own": made})
    monkeypatch.setattr(store, "kind", cache(lambda: "own"))
    monkeypatch.setattr(store, "PACKS", tmp_path)
    monkeypatch.setattr(store, "folders", lambda: [tmp_path / "kept"])
    assert called() == (3.0, False)
    store.write_pack(tmp_path / "kept", tmp_path / "own.pack")
    (tmp_path / "kept").rename(tmp_path / "away")
    caplog.set_level(logging.INFO, logger="sktslib")
    yield tmp_path / "own.pack"
    monkeypatch.undo()
    for function in (store.pack, store.stamp):
        function.cache_clear()


@needs_compiler
def test_a_pack_is_asked_for_what_no_folder_has(pack, caplog):
    assert called() == (3.0, True)
    assert caplog.messages == ["1 compiled kernels for own came with the package, and are used."]
    assert not (pack.parent / "kept").exists()
    (pack.parent / "away").rename(pack.parent / "kept")
    pack.unlink()
    assert called() == (3.0, True)


@needs_compiler
@pytest.mark.parametrize(
    "other", ["numba", "llvmlite", "Python", "numpy", "sources", "NUMBA_BOUNDSCHECK", "SKTSLIB_BLOCKS"]
)
def test_a_pack_for_others_is_none(pack, monkeypatch, caplog, other):
    if other == "sources":
        monkeypatch.setattr(store, "_sources", lambda folder: [])
    elif other.isupper():
        monkeypatch.setenv(other, "1")
    else:
        others = store.versions() | {other: "0.0"}
        monkeypatch.setattr(store, "versions", lambda: others)
    assert called() == (3.0, False)
    (line,) = [message for message in caplog.messages if "came with" in message]
    assert "not used: they are for Python CPython 3." in line
    assert f"numba {numba.__version__}" in line


@needs_compiler
@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "another file"])
def test_a_damaged_pack_is_none(pack, caplog, damage):
    whole = pack.read_bytes()
    content = {
        "cut": whole[: len(whole) // 2],
        "empty": b"",
        "flipped": whole[:900] + bytes([whole[900] ^ 1]) + whole[901:],
        "another file": os.urandom(5000),
    }
    pack.write_bytes(content[damage])
    assert called() == (3.0, False)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "damaged, and not used" in caplog.text
    assert called() == (3.0, True)  # the one that was compiled instead


@pytest.mark.parametrize(("name", "value"), [("CPU_NAME", "generic"), ("CPU_FEATURES", "")])
def test_no_pack_is_used_where_numba_is_told_a_processor(monkeypatch, name, value):
    store.kind.cache_clear()
    monkeypatch.setattr(numba.config, name, value)
    assert store.kind() is None
    store.kind.cache_clear()


NONE = dict.fromkeys(V4, False)


@pytest.mark.parametrize(
    ("machine", "features", "kind"),
    [
        ("x86_64", dict.fromkeys(V4, True), "x86-64-v4"),
        ("AMD64", NONE | dict.fromkeys(V3, True), "x86-64-v3"),
        ("x86_64", NONE | dict.fromkeys(V3, True) | {"fma": False}, None),
        ("x86_64", NONE | dict.fromkeys(V3, True) | {"avx512f": True}, None),  # its vectors are cut for AVX-512
        ("x86_64", {}, None),
        ("arm64", {}, "aarch64"),
        ("aarch64", {"neon": True}, "aarch64"),
        ("ppc64le", {}, None),
    ],
)
def test_kinds_are_chosen_by_features(machine, features, kind):
    assert kind_of(machine, features) == kind


@pytest.mark.parametrize("name", KINDS)
def test_vectors_of_a_kind_are_cut_as_those_of_its_processors(name):
    from sktslib.distances._kernels.simd import sizes_for

    kind = KINDS[name]
    features = dict.fromkeys(kind.features, True)
    for machine in kind.machines:
        assert sizes_for(machine, kind.name, features) == sizes_for(machine, "an own name", NONE | features)

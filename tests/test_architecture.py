"""The house: what imports what, what an import costs, and that no registry entry is left behind."""

import ast
import doctest
import subprocess
import sys
from pathlib import Path

import naive
import pytest

from sktslib.distances import _registry, metric_names

PACKAGE = Path(__file__).resolve().parents[1] / "sktslib"
LAYERS = {"utils": 0, "metrics": 0, "model_selection": 0, "datasets": 0, "distances": 1, "search": 2, "neighbors": 3}
KERNELS = {
    *("_bits.py", "_cascade.py", "_compiled.py", "_diagonals.py", "_diagonal_search.py", "_elastic.py"),
    *("_lanes.py", "_lockstep.py", "_pruned.py", "_recurrence.py", "_recurrences.py", "_scan.py", "_soft.py"),
    *("_strips.py", "_tiling.py", "_vector.py", "_vector_memory.py"),
}
FILES = sorted(PACKAGE.rglob("*.py"))


def imports(path):
    """Absolute names of the modules that a file imports, and whether each stands at the top of the file."""
    package = ["sktslib", *path.relative_to(PACKAGE).parent.parts]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            names = [".".join([*base, *([node.module] if node.module else [])])]
        else:
            continue
        for name in names:
            yield name, node in tree.body


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_run_one_way(path):
    own = path.relative_to(PACKAGE).parts[0]
    for name, at_top in imports(path):
        parts = name.split(".")
        if at_top and parts[0] in ("matplotlib", "pandas"):
            pytest.fail(f"{path.name} imports {name} at the top")
        if parts[0] == "sklearn" and any(part.startswith("_") for part in parts):
            assert path.name == "_sklearn.py", f"{path.name} imports the private {name}"
        if parts[0] == "sktslib" and at_top and own in LAYERS and len(parts) > 1:
            assert LAYERS[parts[1]] <= LAYERS[own], f"{path.name} imports {name} from a layer above"
        if own == "distances" and path.name in KERNELS:
            kernels = name == "sktslib.distances" or f"{parts[-1]}.py" in (*KERNELS, "_bounds.py")
            assert kernels or parts[0] in ("numpy", "numba", "llvmlite", "typing", *sys.stdlib_module_names), (
                f"{path.name}'s kernels import {name}"
            )


def test_import_is_light():
    code = (
        "import sys, sktslib; "
        "heavy = {'matplotlib', 'pandas', 'numba', 'sklearn', 'scipy', 'numpy'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_everything_compiles_nothing():
    code = (
        "import sktslib.search, sktslib.utils.visualisation, sktslib.metrics, sys; "
        "from numba.core.dispatcher import Dispatcher; "
        "import sktslib.distances._elastic as e, sktslib.distances._lockstep as k, sktslib.distances._soft as s; "
        "compiled = [f for m in (e, k, s) for f in vars(m).values() if isinstance(f, Dispatcher) and f.signatures]; "
        "assert not compiled, compiled; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", metric_names())
def test_registry_entries_are_whole(name):
    cls = _registry._REGISTRY[name]
    assert cls.group in _registry.GROUPS
    assert cls.full_name[0].isupper()
    assert doctest.DocTestFinder(recurse=False).find(cls)[0].examples, f"{cls.__name__} has no doctest"
    twins = {*naive.LOCKSTEP, *naive.WARPED, *naive.PATHLESS, "tam"}
    assert name in twins, f"{name} has no naive twin"

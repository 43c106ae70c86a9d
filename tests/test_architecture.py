"""The house: what imports what, what an import costs, and that no registry entry is left behind."""

import ast
import doctest
import subprocess
import sys
from pathlib import Path

import naive
import numba
import pytest

from sktslib.distances import metric_names
from sktslib.distances._metrics.base import registry

PACKAGE = Path(__file__).resolve().parents[1] / "sktslib"
LAYERS = {"utils": 0, "metrics": 0, "model_selection": 0, "datasets": 0, "distances": 1, "search": 2, "neighbors": 3}
KERNELS = (
    "_bits _cascade _compiled _diagonal_search _diagonals _elastic _kernel_cache _lanes _lockstep _pieces _pruned "
    "_recurrence _recurrences _running_moments _scan _soft _strips _tiling _tiling_paths _vector _vector_memory "
    "_window_moments"
).split()
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
        if own == "distances" and path.stem in KERNELS:
            kernels = name == "sktslib.distances" or parts[-1] in (*KERNELS, "_bounds")
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
        "import sktslib.distances._kernels.columns as e, sktslib.distances._kernels.lockstep_drivers as k, sktslib.distances._kernels.soft_minimum as s; "
        "compiled = [f for m in (e, k, s) for f in vars(m).values() if isinstance(f, Dispatcher) and f.signatures]; "
        "assert not compiled, compiled; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", metric_names())
def test_registry_entries_are_whole(name):
    cls = registry._REGISTRY[name]
    assert cls.group in registry.GROUPS
    assert cls.full_name[0].isupper()
    assert doctest.DocTestFinder(recurse=False).find(cls)[0].examples, f"{cls.__name__} has no doctest"
    twins = {*naive.LOCKSTEP, *naive.WARPED, *naive.PATHLESS, "tam"}
    assert name in twins, f"{name} has no naive twin"


EVERYTHING = """
import sys
import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from sktslib import QuerySearcher, QuerySegmenter
from sktslib.distances import get_metric, nearest_neighbors, pairwise_distances
rng = np.random.default_rng(0)
X, y = rng.normal(size=(4, 20)), rng.normal(size=6000)
for metric in (get_metric("dtw"), get_metric("lcss"), get_metric("euclidean")):
    metric(X[0], X[1]), pairwise_distances(X, metric=metric), nearest_neighbors(X, X[:2], metric)
    for mode in ("windows", "auto"):
        QuerySearcher(metric, mode=mode, n_matches=2).fit(X[0]).search(y)
    QuerySegmenter(metric).fit(X[0]).segment(y)
modules = [module for name, module in list(sys.modules.items()) if name.startswith("sktslib.")]
kernels = {f for module in modules for f in vars(module).values() if isinstance(f, Dispatcher)}
kept = [f for f in kernels if type(f._cache).__name__ != "NullCache"]
def has_arrays(kind):
    return isinstance(kind, types.Array) or any(map(has_arrays, getattr(kind, "types", ())))
# numba makes a returned array in Python code, in which an interrupt ends as a SystemError.
returned = [f.__name__ for f in kept for made in f.overloads.values() if has_arrays(made.signature.return_type)]
assert not returned, returned
print(sum(map(lambda f: sum(f.stats.cache_hits.values()), kept)), [f.__name__ for f in kept if f.stats.cache_misses])
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled, so nothing is kept")
def test_kept_kernels_are_found_again():
    """A key that differs from process to process compiles anew each time, and fills the disk."""
    runs = [
        subprocess.run([sys.executable, "-c", EVERYTHING], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    hits, missed = runs[1].split(maxsplit=1)
    assert int(hits) > 10
    assert missed.strip() == "[]"

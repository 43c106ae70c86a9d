"""Project layout: what imports what, what an import costs, and that no registry entry is left behind."""

import ast
import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import naive
import numba
import pytest

from sktslib import distances
from sktslib.distances import get_metric, metric_names
from sktslib.distances._metrics import registry

TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent / "sktslib"
KERNELS = PACKAGE / "distances" / "_kernels"
LAYERS = {"utils": 0, "metrics": 0, "model_selection": 0, "datasets": 0, "distances": 1, "search": 2, "neighbors": 3}
LAYERS |= {"preprocessing": 3, "cluster": 4, "io": 0, "_plots": 7, "view": 8}
# Within a folder those above import those below: folders and files, the rest being on top.
WITHIN = {
    "distances": [("_kernels",), ("_series", "_collection"), ("_metrics",), ("_names",)],
    "search": [("_chunks", "_selection")],
}
DISTANCES = "sktslib.distances"
FILES = sorted(PACKAGE.rglob("*.py"))


def imports(path):
    """Absolute names of the modules that a file imports when it runs, and whether each import is at the top."""
    package = ["sktslib", *path.relative_to(PACKAGE).parent.parts]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        inner
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            # A module may be imported from its package, or names from a module.
            names = [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        for name in names:
            yield name, node in tree.body


def module(name):
    """The file behind an absolute name of the package or of something in it; None for others."""
    parts = name.split(".")[1:]
    for end in (len(parts), len(parts) - 1):
        for found in (PACKAGE.joinpath(*parts[:end], "__init__.py"), PACKAGE.joinpath(*parts[:end]).with_suffix(".py")):
            if end and found.is_file():
                return found
    return PACKAGE / "__init__.py"


def layer(path):
    """Where a file stands in the package and in its folder."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    order = WITHIN.get(parts[0], [])
    within = next((k for k, names in enumerate(order) if len(parts) > 1 and parts[1] in names), len(order))
    # What users import pictures from is in `utils`, and what draws them above all.
    return 9 if parts[-1] == "visualisation" else LAYERS.get(parts[0], 9), within


def test_imports_run_one_way():
    for path, name, at_top in ((file, *found) for file in FILES for found in imports(file)):
        parts = name.split(".")
        assert not at_top or parts[0] not in ("matplotlib", "pandas"), f"{path} imports {name} at the top"
        if parts[0] == "sklearn" and any(part.startswith("_") for part in parts):
            assert path.name == "_sklearn.py", f"{path.name} imports the private {name}"
        if parts[0] == "sktslib" and at_top:
            assert layer(module(name)) <= layer(path), f"{path} imports {name} from a layer above"
        if KERNELS in path.parents:
            known = ("numpy", "scipy", "numba", "llvmlite", *sys.stdlib_module_names)
            own = parts[0] == "sktslib" and KERNELS in module(name).parents
            assert own or parts[0] in known, f"{path.name}'s kernels import {name}"


def test_no_imports_in_a_circle():
    """Imports within functions count, too."""
    wanted = {path: {module(n) for n, _ in imports(path) if n.startswith("sktslib")} for path in FILES}
    wanted = {path: {p for p in found if p.name != "__init__.py"} for path, found in wanted.items()}
    while free := [path for path, found in wanted.items() if not found & wanted.keys()]:
        for path in free:
            del wanted[path]
    assert not wanted


def test_the_reference_implementation_does_not_know_the_package():
    for path in (TESTS / "naive").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            assert {name.split(".")[0] for name in names} <= {"numpy", *sys.stdlib_module_names}, path


DISTANCES_ALONE = """from sktslib.distances import DTW, dtw, get_metric, pairwise_distances
get_metric('dtw', {'alpha': 0.5}).set_params(window=0.1)"""
COMMANDS = f"""from sktslib.__main__ import main
query = {str(PACKAGE / "datasets" / "data" / "query.csv")!r}
assert main(['distance', query, query]) == main(['show', query]) == 0"""


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import sktslib", "matplotlib pandas numba sklearn scipy numpy"),
        (DISTANCES_ALONE, "joblib matplotlib pandas sklearn scipy.fft scipy.optimize scipy.stats"),
        (COMMANDS, "matplotlib sklearn scipy.stats"),
    ],
)
def test_no_library_is_loaded_that_is_not_needed(code, heavy):
    check = f"import sys\nheavy = {set(heavy.split())} & sys.modules.keys()\nassert not heavy, heavy"
    subprocess.run([sys.executable, "-c", f"{code}\n{check}"], check=True)


@pytest.mark.slow
def test_importing_everything_compiles_nothing():
    code = (
        "import sktslib.search, sktslib.utils.visualisation, sktslib.metrics, sys; "
        "from numba.core.dispatcher import Dispatcher; "
        "from sktslib.distances._kernels import lockstep as k, scalar as e, soft as s; "
        "compiled = [f for m in (e, k, s) for f in vars(m).values() if isinstance(f, Dispatcher) and f.signatures]; "
        "assert not compiled, compiled; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_registry_entries_are_whole():
    for name in metric_names():
        cls = registry._REGISTRY[name]
        assert cls.family in registry.FAMILIES
        assert cls.full_name[0].isupper()
        assert doctest.DocTestFinder(recurse=False).find(cls)[0].examples, f"{cls.__name__} has no doctest"
        assert name in naive.TABLE, f"{name} has no reference implementation"


def test_the_table_of_the_reference_implementation_is_that_of_the_package():
    assert sorted(naive.TABLE) == metric_names()
    families = {"lockstep": "lockstep", "warped": "elastic", "pathless": "elastic", "time": "time"}
    # Bands, matrices and functions are not drawn from lists of values.
    others = {"window", "factor", "dist", "tolerance", "VI"}
    for name, entry in naive.TABLE.items():
        metric = get_metric(name)
        assert metric.family == families[entry.kind]
        assert {*entry.values, *entry.values_of_pairs} == set(metric.get_params()) - others, name
        assert set(entry.units) <= set(entry.values), name


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
    for candidates in ("windows", "auto"):
        QuerySearcher(metric, candidates=candidates, n_matches=2).fit(X[0]).search(y)
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


@pytest.mark.slow
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


RESULTS = {"Alignment", "CallableMetric", "Neighbors", "Pruning"}  # which nobody types
BESIDES = {"Metric", "barycenter", "get_distance_dict"}
BESIDES |= {
    "Mixed",
    "get_metric",
    "metric_names",
    "nearest_neighbors",
    "pairwise_distances",
    "recurrence",
    "register_metric",
}


def test_public_names_are_few():
    """What a user types; classes of results can be imported, too, and are described where they are returned."""
    modules = "search distances neighbors cluster preprocessing metrics model_selection datasets utils.visualisation io"
    modules += " distances.elementwise"
    names = {name for one in modules.split() for name in import_module(f"sktslib.{one}").__all__}
    assert len(names | set(import_module("sktslib").__all__) - {"__version__"}) <= 113


def test_public_names_of_distances():
    """The metric classes and the functions of the public modules, each module itself, and little else."""
    modules = {path.stem for path in (PACKAGE / "distances").glob("[a-z]*.py")} - {"elementwise"}
    functions = {name for stem in modules for name in import_module(f"{DISTANCES}.{stem}").__all__}
    classes = {cls.__name__ for cls in registry._REGISTRY.values() if cls.__module__.startswith(DISTANCES)}
    assert sorted(distances.__all__) == sorted(BESIDES | functions | (classes - distances._BY_NAME))
    shown = {name for name in dir(distances) if not name.startswith("_")}
    assert shown - {"elementwise"} == {
        *distances.__all__,
        *modules,
        *RESULTS,
        *distances._BY_NAME,
    }  # that one is there once it was imported
